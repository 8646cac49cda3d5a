"""Lumped and rigid arms in time: the energy ledger, both integrators, sampled control, files and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from tests.support.arms import ASIDE, clamped, on_a_hinge, soft_link, two_links
from tests.support.figures import drawn
from tests.support.lumped_arms import WITH_TORSION, condensed, spatial_tree, two_stations

PUSH = (0.4, -0.3, 0.5, 0.02, 0.05, -0.04)
DAMPED = pl.GeneralSection(
    stiffness=(1e4, 4e3, 4e3, 4.0, 6.0, 5.0), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4), damping=2e-3
)
LUMPED = pl.Lumped(fields=2)
ALL_BUT_THE_TURN = tuple(pl.lumped.Deflection)[:-1]


def swinging(formulation: object = LUMPED) -> Model:
    return formulation.compile(two_links(ASIDE, rates=(2.0, -3.0)))


def adam(*components: object) -> Model:
    """Two point masses on massless beams, with rotors on both joints."""
    arm = condensed(two_stations(0.7, gravity=(0.0, -9.81, 1.0)), WITH_TORSION)
    motors = [pl.GearMotor(name, rotor_inertia=1e-4, ratio=100.0) for name in arm.joint_names]
    return pl.connect(arm, *motors, *components)


def held(arm: Model, *components: object) -> Model:
    joints = [pl.JointPD(pl.motions.Hold(0.1), stiffness=200.0, damping=5.0, joints=[name]) for name in arm.joint_names]
    return pl.connect(arm, *joints, *components)


def servos(noise: float = 0.0) -> list[object]:
    """Plant at 1 ms or less, velocity servos at 2 ms, a position loop at 10 ms."""
    servo = pl.control.VelocityServo(gain=0.005, period=2e-3, tachometer=pl.sensors.Tachometer(noise=noise))
    return [servo, pl.control.PositionLoop(pl.motions.Hold(0.1), gain=4.0, period=1e-2)]


def tree(*components: object) -> Model:
    return pl.connect(LUMPED.compile(spatial_tree()), *components)


# every kind of input and of loss
CASES: dict[str, Callable[[], Model]] = {
    "free": swinging,
    "rigid": lambda: swinging(pl.Rigid()),
    "one plane": lambda: swinging(
        pl.Lumped(pl.lumped.Fields(3, (pl.lumped.Deflection.Y, pl.lumped.Deflection.TURN_Z)))
    ),
    "torque": lambda: pl.connect(swinging(), pl.JointTorque("elbow", pl.signals.Sine(0.5, 1.3))),
    "feedback": lambda: held(swinging()),
    "material": lambda: LUMPED.compile(on_a_hinge(soft_link(section=DAMPED), ASIDE)),
    "prescribed": lambda: pl.connect(swinging(), pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.3, 1.0, 0.2))),
    "gears": lambda: held(
        swinging(),
        pl.GearMotor("shoulder", rotor_inertia=1e-5, ratio=50.0, stiffness=300.0, damping=0.5),
        pl.GearMotor("elbow", rotor_inertia=1e-5, ratio=50.0, torque_limit=0.01),
    ),
    "loads": lambda: tree(
        pl.TipWrench("c", pl.signals.Constant(PUSH), name="dead"),
        pl.TipWrench("d", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="follower"),
        pl.PointWrench(
            pl.At("beam", end=pl.End.ROOT, position=(0.1, 0.2, 0.3)), pl.signals.Constant(PUSH), name="root"
        ),
        pl.DistributedWrench("beam", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="wind"),
    ),
    "bearing": lambda: pl.Lumped(
        1, joint_fields=(pl.lumped.JointField("hinge", (1e4, 1e4, 1e4, 50.0, 50.0, 50.0), ALL_BUT_THE_TURN),)
    ).compile(on_a_hinge(soft_link(), ASIDE)),
    "sampled": lambda: pl.connect(
        swinging(), pl.control.SampledController(lambda sample: -0.005 * sample.joint_rates, period=2.5e-3)
    ),
    "servo": lambda: pl.connect(swinging(), *servos()),
    "point masses": adam,
    "point masses, pushed": lambda: adam(
        pl.TipWrench("lower", pl.signals.Constant((3.0, -2.0, 4.0, 0.0, 0.0, 0.0)), name="push"),
        pl.JointPD(pl.motions.Quintic(0.0, 0.4, 0.2), stiffness=500.0, damping=20.0, joints=["shoulder"]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_ledger_closes_to_round_off(name: str) -> None:
    """Demanded are 1e-10 of the energy that each step exchanges."""
    run = pl.simulate(CASES[name](), until=0.25, integrator=pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed, run.ending
    assert run.ledger.exact
    assert run.ledger.worst_ratio < 1e-10
    ledger = run.ledger
    supplied = ledger.gravity + sum(ledger.works.values()) - ledger.material_loss - ledger.joint_loss
    np.testing.assert_allclose(ledger.stored - ledger.stored[0], supplied, atol=1e-9 * ledger.exchanged[-1])
    kinetic, strain, _ = run.source.model.energy(run.states)
    if not run.source.model.inputs.motors:
        np.testing.assert_allclose(ledger.kinetic, kinetic, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ledger.strain, strain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [1e-3, 1e-4])
def test_a_joint_falls_from_rest_beside_a_prescribed_one(step: float) -> None:
    """Its first ways are so short that the rounding of its position counts in the balance of energy."""
    rods = tuple(pl.RigidLink(name, (0.5, 0, 0), 1.0, center_of_mass=(0.2, 0, 0), inertia=(0.1,) * 3) for name in "ab")
    joints = (pl.RevoluteJoint("s", "base", "a"), pl.RevoluteJoint("e", "a", "b", initial_position=-1.0))
    arm = pl.Rigid().compile(pl.Robot("rods", rods, joints, gravity=(0.0, -9.81, 0.0)))
    led = pl.connect(arm, pl.PrescribedMotion("s", pl.motions.Hold(0.3)))
    run = pl.simulate(led, 20 * step, pl.Gauss(order=2, step=step))
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10


@pytest.mark.parametrize("name", ["free", "torque", "loads", "point masses"])
def test_both_integrators_meet(name: str) -> None:
    """Runge-Kutta-Gill as the reference: the energy-exact rule comes near it with order two.

    And it reports its drift.
    """
    model, times = CASES[name](), np.linspace(0.0, 0.05, 6)
    exact = pl.simulate(model, 0.05, pl.RungeKuttaGill(step=1e-5), outputs=times)
    assert exact.ending.completed
    assert not exact.ledger.exact
    assert 0.0 < exact.ledger.worst_ratio < 1e-6
    errors = []
    for step in (4e-4, 2e-4):
        run = pl.simulate(model, 0.05, pl.Gauss(order=2, step=step), outputs=times)
        errors.append(np.linalg.norm(run.tip_position - exact.tip_position))
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_the_drift_of_runge_kutta_gill_falls_with_the_fourth_power() -> None:
    """Of a smooth motion: one mode, point masses; the residual of the whole run is a sum of fifth-order defects."""
    drift = [
        abs(pl.simulate(adam(), 0.2, pl.RungeKuttaGill(step=step)).ledger.residual[-1]) for step in (2e-3, 1e-3, 5e-4)
    ]
    orders = np.log2(np.array(drift[:-1]) / drift[1:])
    assert np.all(orders > 3.7), (drift, orders)


def test_a_rigid_pendulum_swings_with_its_period() -> None:
    """Small swings of a compound pendulum: 2 pi sqrt(I / m g c)."""
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1,) * 3)
    arm = pl.Rigid().compile(on_a_hinge(body, (9.81, 0.0, 0.0)))
    period = 2.0 * np.pi * np.sqrt((0.1 + 2.0 * 0.25) / (2.0 * 9.81 * 0.5))
    assert pl.modes(arm).frequency[0] == pytest.approx(1.0 / period, rel=1e-12)
    start = arm.initial_state(np.array([1e-4]), np.zeros(1))
    run = pl.simulate(arm, period, pl.Gauss(order=2, step=period / 500), initial=start)
    assert run.joint_position[-1, 0] == pytest.approx(1e-4, rel=1e-4)


def test_an_arm_without_joints_rings_at_its_own_frequency() -> None:
    arm = pl.Lumped(fields=2).compile(clamped(soft_link()))
    lowest = float(pl.modes(arm, count=1).frequency[0])
    push = pl.TipWrench("link", pl.signals.Constant((0.0, 1e-3, 0.0, 0.0, 0.0, 0.0)))
    start = pl.equilibrium(pl.connect(arm, push)).state
    run = pl.simulate(arm, 0.5 / lowest, pl.Gauss(order=2, step=1e-3), initial=start)
    # let go from a small deflection, which is nearly the shape of its lowest mode, it is as far on the other side
    # after half a period; the rest belongs to the other modes
    assert run.tip_position[-1, 1] == pytest.approx(-run.tip_position[0, 1], rel=0.05)


def test_a_run_stops_as_a_value_where_the_explicit_method_explodes() -> None:
    run = pl.simulate(pl.Lumped(4).compile(on_a_hinge(soft_link(), ASIDE)), 1.0, pl.RungeKuttaGill(step=5e-3))
    assert not run.ending.completed
    assert "take smaller steps" in str(run.ending)


def test_results_figures_and_files(tmp_path: Path) -> None:
    """All figures of all cases are drawn; rendering knows no arms, so strains that are nil serve."""
    for case in ("gears", "rigid", "point masses"):
        run = pl.simulate(CASES[case](), 0.05, pl.Gauss(order=2, step=1e-3))
        run.save(tmp_path / f"{case}.nc")
        again = pl.load_trajectory(tmp_path / f"{case}.nc")
        np.testing.assert_array_equal(again.tip_position, run.tip_position)
        assert len(run.table()) == len(run.time)
        _, _, strains, _, _ = drawn(run)
        if case == "rigid":
            strains.savefig(tmp_path / "no_strains.png")
    adaptive = pl.simulate(CASES["torque"](), 0.002, accuracy=1e-4, outputs=10)
    assert adaptive.ending.completed


def test_servos_inside_the_compiled_loop_are_those_outside() -> None:
    """Noise below all digits makes the loop around the steps compute the servos; the runs are the same."""
    inside, outside = (
        pl.simulate(pl.connect(swinging(), *servos(noise)), 0.1, pl.Gauss(order=2, step=1e-3))
        for noise in (0.0, 1e-300)
    )
    np.testing.assert_allclose(inside.states, outside.states, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(inside.ledger.works["elbow"], outside.ledger.works["elbow"], atol=1e-12)


def test_a_looser_tolerance_takes_fewer_iterations_and_keeps_the_ledger() -> None:
    """Displacements may then be wrong by that part of the reach; the energy of every step is still complete."""
    arm = pl.Lumped(fields=2).compile(pl.load(pl.library.path("l_frame")))
    tight, loose = (
        pl.simulate(arm, 0.2, pl.Gauss(order=2, step=2e-3, tolerance=tolerance)) for tolerance in (1e-9, 1e-6)
    )
    assert loose.statistics["iterations"] < 0.9 * tight.statistics["iterations"]
    assert 0.0 < np.abs(loose.tip_position - tight.tip_position).max() < 1e-6 * arm.reach
    assert loose.ledger.worst_ratio < 1e-11
