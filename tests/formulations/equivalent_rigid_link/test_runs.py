"""Equivalent rigid links in time: the energy ledger under all inputs, both integrators, servos, loops, files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.equivalent_rigid_link import Interface, ModalDamping, Modes, Nodal, Rayleigh
from pliant.model.contract import Model
from tests.formulations.minimal.test_joint_laws import loop
from tests.formulations.minimal.test_joint_wrenches import behind, first
from tests.formulations.minimal.test_loops import driven, far_corner
from tests.support.arms import ASIDE, on_a_hinge, soft_link, two_links
from tests.support.figures import drawn
from tests.support.lumped_arms import clamped, spatial_tree
from tests.support.solids import truss_link, write_truss

PUSH = (0.4, -0.3, 0.5, 0.02, 0.05, -0.04)
NODAL = pl.EquivalentRigidLink(elements=2, basis=Nodal())
MODES = pl.EquivalentRigidLink(elements=4, basis=Modes(count=3))
FREE = Modes(count=4, interface=Interface.FREE, static_correction=True)
DAMPED = pl.GeneralSection(
    stiffness=(1e4, 4e3, 4e3, 4.0, 6.0, 5.0), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4), damping=2e-3
)
GAUSS = pl.Gauss(order=2, step=1e-3)


def swinging(formulation: pl.EquivalentRigidLink = MODES, *components: object) -> Model:
    return pl.connect(formulation.compile(two_links(ASIDE, rates=(2.0, -3.0))), *components)


def servos(noise: float = 0.0) -> list[object]:
    servo = pl.control.VelocityServo(gain=0.005, period=2e-3, tachometer=pl.sensors.Tachometer(noise=noise))
    return [servo, pl.control.PositionLoop(pl.motions.Hold(0.1), gain=4.0, period=1e-2)]


def loaded() -> Model:
    """Payloads at root and tip, a hand at a station, and wrenches wherever they can act."""
    robot = two_links(ASIDE, rates=(2.0, -3.0))
    hand = pl.RigidLink("hand", (0.1, 0.0, 0.0), 0.1, center_of_mass=(0.05, 0.01, 0.0), inertia=(1e-4,) * 3)
    wrist = pl.FixedJoint("wrist", "upper", "hand", station=0.35, role="aside")
    box = {"center_of_mass": (0.02, 0.01, -0.03), "inertia": (1e-3, 2e-3, 2e-3)}
    payloads = (
        pl.Payload("at_root", "lower", mass=0.3, at=pl.End.ROOT, **box),
        pl.Payload("at_tip", "lower", mass=0.2, at=pl.End.TIP, **box),
    )
    whole = replace(robot, links=(*robot.links, hand), joints=(*robot.joints, wrist), payloads=payloads)
    push = pl.signals.Constant(PUSH)
    return pl.connect(
        MODES.compile(whole),
        pl.TipWrench("lower", push, name="dead"),
        pl.TipWrench("hand", push, frame=pl.Frame.BODY, name="follower"),
        pl.PointWrench(pl.At("lower", end=pl.End.ROOT, position=(0.1, 0.2, 0.3)), push, name="root"),
        pl.PointWrench(pl.At("upper", station=0.35), push, frame=pl.Frame.BODY, name="station"),
        pl.DistributedWrench("upper", push, frame=pl.Frame.BODY, name="wind"),
    )


def rubbing() -> Model:
    robot = two_links(ASIDE, rates=(2.0, -3.0))
    law = {
        "friction": pl.joints.Friction(coulomb=0.02),
        "limits": pl.joints.Limits(-0.1, 0.5, 20.0, 0.01),
        "spring": pl.joints.JointSpring(3.0),
        "damping": 0.01,
    }
    return MODES.compile(replace(robot, joints=tuple(replace(joint, **law) for joint in robot.joints)))


def damper() -> Model:
    absorber = pl.TunedMassDamper("absorber", pl.At("lower"), 0.05, 20.0, damping=0.1, axis=(0.0, 1.0, 0.0))
    return swinging(MODES, absorber)


# every kind of input and of loss
CASES: dict[str, Callable[[], Model]] = {
    "all nodes": lambda: swinging(NODAL),
    "fixed interfaces": swinging,
    "free interfaces": lambda: swinging(pl.EquivalentRigidLink(elements=4, basis=FREE)),
    "material": lambda: MODES.compile(on_a_hinge(soft_link(section=DAMPED), ASIDE)),
    "rayleigh": lambda: swinging(replace(MODES, damping=Rayleigh(0.1, 1e-4))),
    "modal damping": lambda: swinging(replace(NODAL, damping=ModalDamping((0.01, 0.02)))),
    "torque": lambda: swinging(MODES, pl.JointTorque("elbow", pl.signals.Sine(0.5, 1.3))),
    "feedback": lambda: swinging(MODES, pl.JointPD(pl.motions.Hold(0.1), stiffness=200.0, damping=5.0)),
    "prescribed": lambda: swinging(MODES, pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.3, 1.0, 0.2))),
    "gears": lambda: swinging(
        MODES,
        pl.GearMotor("shoulder", rotor_inertia=1e-5, ratio=50.0, stiffness=300.0, damping=0.5),
        pl.GearMotor("elbow", rotor_inertia=1e-5, ratio=50.0, torque_limit=0.01),
        pl.JointPD(pl.motions.Hold(0.6), stiffness=40.0, damping=0.1),
    ),
    "sampled": lambda: swinging(
        MODES, pl.control.SampledController(lambda sample: -0.005 * sample.joint_rates, period=2.5e-3)
    ),
    "servo": lambda: swinging(MODES, *servos()),
    "loads and payloads": loaded,
    "joint laws": rubbing,
    "damper": damper,
    "tree": lambda: MODES.compile(spatial_tree()),
    "loop": lambda: loop(MODES),
}


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_closes_to_round_off(name: str) -> None:
    """Demanded are 1e-10 of the energy that each step exchanges."""
    run = pl.simulate(CASES[name](), until=0.1, integrator=GAUSS)
    assert run.ending.completed, run.ending
    assert run.ledger.exact
    assert run.ledger.worst_ratio < 1e-10
    ledger = run.ledger
    supplied = ledger.gravity + sum(ledger.works.values()) - ledger.material_loss - ledger.joint_loss
    np.testing.assert_allclose(ledger.stored - ledger.stored[0], supplied, atol=1e-9 * ledger.exchanged[-1])
    if name in ("material", "rayleigh", "modal damping"):
        assert ledger.material_loss[-1] > 1e-4
    model = run.source.model
    if not model.inputs.motors:
        kinetic, strain, _ = model.energy(run.states)
        # bodies of the tree here, clouds in the steps
        np.testing.assert_allclose(ledger.kinetic, kinetic, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ledger.strain, strain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["all nodes", "fixed interfaces", "loads and payloads"])
def test_both_integrators_meet(name: str) -> None:
    """Runge-Kutta-Gill as the reference: the energy-exact rule comes near it with order two."""
    model, times = CASES[name](), np.linspace(0.0, 0.02, 5)
    exact = pl.simulate(model, 0.02, pl.RungeKuttaGill(step=4e-6), outputs=times)
    assert exact.ending.completed
    assert not exact.ledger.exact
    errors = []
    for step in (1e-4, 5e-5):
        run = pl.simulate(model, 0.02, pl.Gauss(order=2, step=step), outputs=times)
        errors.append(np.linalg.norm(run.tip_position - exact.tip_position))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_servos_inside_the_compiled_loop_are_those_outside() -> None:
    """Noise below all digits makes the loop around the steps compute the servos.

    The runs are the same to the accuracy of Newton's method, which the stiff shapes of a link ask for less of.
    """
    inside, outside = (pl.simulate(swinging(MODES, *servos(noise)), 0.1, GAUSS) for noise in (0.0, 1e-300))
    np.testing.assert_allclose(inside.states, outside.states, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(inside.ledger.works["elbow"], outside.ledger.works["elbow"], atol=1e-9)


def test_results_figures_and_files(tmp_path: Path) -> None:
    run = pl.simulate(CASES["gears"](), until=0.05)
    assert drawn(run)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.tip_position, run.tip_position)
    np.testing.assert_array_equal(again.link("lower").strain, run.link("lower").strain)
    assert len(run.table()) == len(run.time)
    adaptive = pl.simulate(CASES["torque"](), until=0.01, accuracy=1e-6)
    assert adaptive.ending.completed


@pytest.mark.parametrize("formulation", [NODAL, MODES], ids=["nodal", "modes"])
def test_joints_at_rest_hold_the_weight_behind_them(formulation: pl.EquivalentRigidLink) -> None:
    """Levers are those of the bent arm."""
    gravity = (1.0, -9.0, 2.0)
    arm = clamped(formulation.compile(replace(pl.load(pl.library.path("two_link_planar")), gravity=gravity)))
    balanced = pl.equilibrium(arm)
    run = pl.simulate(arm, until=1e-3, initial=balanced.state, integrator=GAUSS, outputs=1)
    structure, robot = arm.arm.structure, arm.robot
    R, x = arm.arm.bare.dynamics.poses(arm.arm.coordinates(arm.arm.bare, balanced.state)[0])
    for joint in robot.joints:
        masses = [part for part in structure.parts if part.link in behind(robot, joint.child)]
        weight = sum(part.inertia[0, 0] for part in masses)
        root = structure.link(joint.child).root
        turn, origin = R[root.body] @ root.rotation, x[root.body] + R[root.body] @ root.position
        moment = sum(
            np.cross(part.inertia[0, 0] * (x[part.body] - origin) + R[part.body] @ first(part), -np.array(gravity))
            for part in masses
        )
        expected = np.append(turn.T @ (-weight * np.array(gravity)), turn.T @ moment)
        assert run.efforts[f"{joint.name}.wrench"][-1] == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def test_along_its_axis_a_servoed_joint_transmits_its_torque() -> None:
    servo = pl.control.VelocityServo(gain=0.5, period=2e-3, joints=["shoulder"])
    loop = pl.control.PositionLoop(pl.motions.Hold(0.2), gain=3.0, period=1e-2, joints=["shoulder"])
    model = pl.connect(MODES.compile(pl.load(pl.library.path("two_link_planar"))), servo, loop)
    run = pl.simulate(model, until=0.05, integrator=GAUSS, outputs=50)
    along = run.efforts["shoulder.wrench"][:, 5]
    assert np.abs(along).max() > 0.1
    assert along == pytest.approx(run.efforts["shoulder"][:, 0], abs=1e-10)


def test_a_parallelogram_is_that_of_pose_elements() -> None:
    """Little bent, where linear deflections hold: its sag under a corner load and its slow modes."""
    push = pl.TipWrench("right_outer", pl.signals.Constant((0.3, 0.1, 0.0, 0.0, 0.0, 0.0)))
    fine, here = driven(pl.PoseElement(16), push), driven(MODES, push)
    expected, found = (pl.equilibrium(model) for model in (fine, here))
    assert found.ending.completed
    assert far_corner(here.arm, found.state[None]) < 1e-11
    tips = [model.tip(each.state)[0][0] for model, each in ((fine, expected), (here, found))]
    sag = np.linalg.norm(tips[0] - [1.0, 1.0, 0.0])
    assert sag > 0.01
    assert np.linalg.norm(tips[1] - tips[0]) < 0.01 * sag
    slow = [pl.modes(model, each.state, count=4).frequency for model, each in ((fine, expected), (here, found))]
    np.testing.assert_allclose(slow[1], slow[0], rtol=0.01)


def test_a_link_of_any_shape_swings_and_rings(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    robot = on_a_hinge(truss_link(tmp_path / "truss.npz", turned=True), ASIDE, rate=2.0)
    run = pl.simulate(pl.EquivalentRigidLink(basis=Modes(count=0)).compile(robot), 0.05, pl.Gauss(2, 2e-4))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert run.ledger.material_loss[-1] > 0.0
