"""Energy, momentum and the energy ledger of moving co-rotational links, with every choice of mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

import pliant as pl
from pliant.formulations.corotational import Axes, Mass
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_vector
from pliant.structures.nodal.model import PoseElementArm
from tests.formulations.pose_element.test_free_floating import floating_arm, motors
from tests.support.arms import ASIDE, INERTIA, STIFFNESS, soft_link, two_links

Array = NDArray[np.float64]

every_mass = pytest.mark.parametrize("mass", Mass, ids=lambda mass: mass.name.lower())
PLANE = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA)
# a section that is not plane: I_x of the directors does not vanish
SOLID = pl.GeneralSection(stiffness=STIFFNESS, inertia=(0.3, 0.3, 0.3, 3e-3, 4e-3, 5e-3))
DAMPED = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=2e-3)
DEMAND = 1e-10


def bent_and_spinning(arm: PoseElementArm) -> Array:
    """A helix of a turn of one radian, whose nodes move each in its own way."""
    state, part, random = arm.initial_state(), arm.layout.part, np.random.default_rng(3)
    nodes, turn = arm.structure.links[0].nodes, np.array([0.4, -0.6, 0.7])
    count = len(nodes) - 1
    width = 1.0 / count
    x, R = np.zeros(3), np.eye(3)
    for k, node in enumerate(nodes):
        part(state, "position")[node], part(state, "rotation")[node] = x, quaternion_from_rotation(R)
        R_next = R @ rotation_from_vector(turn / count)
        x, R = x + width * 0.5 * (R[:, 0] + R_next[:, 0]), R_next
        part(state, "velocity")[node] = np.array([0.3, -0.2, 0.1]) + 0.2 * random.normal(size=3) + 0.2 * k * width
        part(state, "spin")[node] = np.array([4.0, -6.0, 8.0]) + random.normal(size=3)
    return state


@every_mass
@pytest.mark.parametrize("axes", Axes, ids=lambda axes: axes.name.lower())
@pytest.mark.parametrize("section", [PLANE, SOLID], ids=["plane", "solid"])
def test_a_free_flying_spinning_bent_link_keeps_energy_and_momentum(
    mass: Mass, axes: Axes, section: pl.GeneralSection
) -> None:
    """Linear and angular momentum and the sum of both energies stay to 1e-10 of what they are. Newton's method is asked
    for more than by default, where it leaves as much open: 1e-11 of the momentum of all nodes in each of 250 steps."""
    robot = pl.Robot("rod", (soft_link(section=section),), (pl.joints.FreeJoint("free", "base", "link"),))
    arm = pl.Corotational(5, mass=mass, axes=axes).compile(replace(robot, gravity=(0.0, 0.0, 0.0)))
    rule = pl.Gauss(order=2, step=1e-3, tolerance=1e-11)
    run = pl.simulate(arm, 0.25, rule, initial=bent_and_spinning(arm), outputs=25)
    assert run.ending.completed
    kinetic, elastic, _ = arm.energy(run.states)
    assert np.ptp(elastic) > 0.05 * kinetic[0], "little energy goes to and fro"
    total = kinetic + elastic
    assert np.abs(total - total[0]).max() < DEMAND * total[0]
    for momentum in arm.momentum(run.states):
        assert np.abs(momentum - momentum[0]).max() < DEMAND * np.linalg.norm(momentum[0])
    assert run.ledger.worst_ratio < DEMAND


@every_mass
def test_momentum_stays_while_motors_move_an_arm_in_flight(mass: Mass) -> None:
    """Joints between links that share inertia, a fixed payload off its node, impulses that fit velocities."""
    arm = pl.Corotational(4, mass=mass).compile(floating_arm())
    run = pl.simulate(pl.connect(arm, *motors()), 1.0, pl.Gauss(order=2, step=1e-3), outputs=100)
    assert run.ending.completed
    assert run.ledger.worst_ratio < DEMAND
    for momentum in arm.momentum(run.states):
        assert np.abs(momentum - momentum[0]).max() < 1e-9 * np.linalg.norm(momentum[0])


@every_mass
def test_the_ledger_closes_with_gravity_damping_and_joints(mass: Mass) -> None:
    robot = two_links(ASIDE, rates=(1.0, -2.0), section=DAMPED)
    payload = pl.Payload("tool", robot.links[-1].name, 0.1, center_of_mass=(0.03, 0.02, -0.01), inertia=(1e-4,) * 3)
    arm = pl.Corotational(4, mass=mass).compile(replace(robot, payloads=(payload,)))
    run = pl.simulate(arm, 0.5, pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    assert run.ledger.worst_ratio < DEMAND
    # what the sums of the ledger say is what states say, entered over 500 steps
    for entered, found in zip((run.ledger.kinetic, run.ledger.strain), arm.energy(run.states)):
        assert entered == pytest.approx(found, abs=1e-9 * np.abs(found).max())


@every_mass
def test_the_ledger_closes_with_loops_and_a_moved_joint(mass: Mass) -> None:
    arm = pl.Corotational(3, mass=mass).compile(pl.load(pl.library.path("parallelogram")))
    start = dict(zip(arm.joint_names, arm.layout.part(arm.initial_state(), "joint_position")))["right_drive"]
    drive = pl.PrescribedMotion("right_drive", pl.motions.Quintic(float(start), float(start) + 0.3, 0.3))
    run = pl.simulate(pl.connect(arm, drive), 0.3, pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    assert run.ledger.worst_ratio < DEMAND


def test_weight_of_shared_mass_is_all_of_the_weight() -> None:
    """A straight link in free fall: its momentum grows by its mass times g; mass is 0.3 kg/m over 1 m."""
    robot = pl.Robot("stone", (soft_link(),), (pl.joints.FreeJoint("free", "base", "link"),), gravity=(1.0, -2.0, 3.0))
    arm = pl.Corotational(3).compile(robot)
    run = pl.simulate(arm, 0.1, pl.Gauss(order=2, step=1e-3), outputs=1)
    linear, _ = arm.momentum(run.states)
    assert linear[-1] == pytest.approx(0.3 * 0.1 * np.array([1.0, -2.0, 3.0]), rel=1e-12)
    fall = arm.layout.part(run.states, "position")[-1, 1:] - arm.layout.part(run.states, "position")[0, 1:]
    assert fall == pytest.approx(np.tile(0.005 * np.array([1.0, -2.0, 3.0]), (4, 1)), rel=1e-12)


def test_a_frame_that_starts_from_rest_is_not_taken_for_singular() -> None:
    """What fitting velocities to its free joint loses is nothing, and may round to less."""
    arm = pl.Corotational(6).compile(pl.load(pl.library.path("l_frame")))
    for step in (1e-3, 2e-3):
        run = pl.simulate(arm, 0.04, pl.Gauss(order=2, step=step))
        assert run.ending.completed
        assert run.ledger.worst_ratio < DEMAND


def test_a_stiff_link_turns_with_the_inertia_of_a_rod() -> None:
    """Directors interpolate a rigid rotation exactly: m l^2 / 3 + Jz l about one end, here 0.1002 kg m^2; lumped
    masses have m l^2 / (6 n^2) more."""
    for mass, more in ((Mass.DIRECTOR, 0.0), (Mass.LUMPED, 0.3 / (6 * 16)), (Mass.MEAN, 0.3 / (12 * 16))):
        hinge = pl.RevoluteJoint("hinge", "base", "link", initial_rate=2.0)
        arm = pl.Corotational(4, mass=mass).compile(pl.Robot("rod", (soft_link(),), (hinge,)))
        kinetic = arm.energy(arm.initial_state())[0][0]
        assert kinetic == pytest.approx(0.5 * 4.0 * (0.1 + 2e-4 + more), rel=1e-12)


@pytest.mark.parametrize("formulation", [pl.Corotational(4), pl.Corotational(4, axes=Axes.MEAN)], ids=str)
def test_newton_needs_no_more_iterations_than_for_pose_elements(formulation: pl.Corotational) -> None:
    """The tangent is that of a straight element under stress: a tenth more on a violently bent arm is allowed."""
    counts = []
    for each in (pl.PoseElement(4), formulation):
        arm = each.compile(two_links(ASIDE, rates=(3.0, -4.0)))
        run = pl.simulate(arm, 0.3, pl.Gauss(order=2, step=1e-3))
        assert run.ending.completed
        counts.append(run.statistics["iterations"])
    assert counts[1] < 1.1 * counts[0]
