"""Closed loops: a rigid four-bar against its closed form, and flexible loops that stay closed."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.components.connect import Connected
from pliant.spatial.arrays import rotation_from_quaternion
from pliant.structures.nodal.model import PoseElementArm
from pliant.structures.nodal.posture import violations
from tests.support import four_bar

TEN_SECONDS, EVERY_STEP = 10.0, 5000  # of 2 ms


def worst_violation(arm: PoseElementArm, states: np.ndarray) -> float:
    """Largest of all violations, in metres and radians, of many states."""
    worst = 0.0
    for state in states:
        R = rotation_from_quaternion(arm.layout.part(state, "rotation"))
        worst = max(worst, float(np.abs(violations(arm.structure, arm.layout.part(state, "position"), R)).max()))
    return worst


def ledger_closes(run: pl.Trajectory, loop: str) -> bool:
    """To 1e-10 of what every step exchanges, or to what the rounding of positions of about a metre lets a loop know.

    Where a loop is loaded strongly and hardly moves, its forces work on that rounding.
    """
    rounding = 2e-15 * np.abs(run.efforts[f"{loop}.force"]).sum(axis=1)
    steps = np.abs(np.diff(run.ledger.residual))
    return run.ledger.worst_ratio < 1e-10 or bool(np.all(steps <= rounding[1:]))


def crank_angles(robot: pl.Robot, step: float) -> tuple[np.ndarray, np.ndarray, pl.Trajectory]:
    arm = pl.PoseElement().compile(robot)
    run = pl.simulate(arm, until=0.5, integrator=pl.Gauss(order=2, step=step), outputs=10)
    assert run.ending.completed
    assert worst_violation(arm, run.states) < 1e-13
    return run.time, arm.layout.part(run.states, "joint_position"), run


@pytest.mark.parametrize(
    ("kind", "implied"),
    # a rigid planar loop needs two constraints; what else a joint in space closes is implied
    [
        (pl.joints.LoopKind.REVOLUTE, 3),
        (pl.joints.LoopKind.SPHERICAL, 1),
        (pl.joints.LoopKind.UNIVERSAL, 2),
        (pl.joints.LoopKind.CYLINDRICAL, 2),
    ],
)
def test_rigid_four_bar_moves_by_its_reduced_equation(kind: pl.joints.LoopKind, implied: int) -> None:
    answers = []
    for step in (1e-3, 5e-4, 2.5e-4):
        time, q, run = crank_angles(four_bar.robot(kind), step)
        assert run.statistics["redundant constraints"] == implied
        assert run.ledger.worst_ratio < 1e-10
        expected = np.array([four_bar.closed_form(crank) for crank in q[:, 0]])
        found = np.column_stack([q[:, 0] + q[:, 1], q[:, 2]])
        assert np.abs(np.angle(np.exp(1j * (found - expected)))).max() < 1e-12
        answers.append(q[:, 0])
    reference = four_bar.crank_motion(time)
    errors = [np.abs(answer - reference).max() for answer in answers]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02)
    # the error of 5e-7 rad at a quarter of a millisecond is one of h^2; what extrapolation leaves is h^3
    limit = (4.0 * answers[2] - answers[1]) / 3.0
    assert np.abs(limit - reference).max() < 1e-8


def test_laws_of_a_revolute_loop_joint_act_on_its_angle() -> None:
    stiffness, rest, damping, coulomb, smoothing = 15.0, 1.2, 0.4, 0.8, 1.0
    robot = four_bar.robot(
        spring=pl.joints.JointSpring(stiffness, rest),
        damping=damping,
        friction=pl.joints.Friction(coulomb, smoothing_rate=smoothing),
    )

    def law(angle: float, rate: float) -> float:
        return -stiffness * (angle - rest) - damping * rate - coulomb * np.tanh(rate / smoothing)

    answers = []
    for step in (5e-4, 2.5e-4):
        time, q, run = crank_angles(robot, step)
        assert run.ledger.worst_ratio < 1e-10
        answers.append(q[:, 0])
    reference = four_bar.crank_motion(time, law)
    errors = [np.abs(answer - reference).max() for answer in answers]
    assert np.abs(reference - four_bar.crank_motion(time)).max() > 0.1, "the spring hardly acts"
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02)
    assert np.abs((4.0 * answers[1] - answers[0]) / 3.0 - reference).max() < 1e-8
    assert run.ledger.joint_loss[-1] > 0.1


def test_spring_and_damping_of_a_prismatic_loop_joint_act_along_its_axis() -> None:
    """A body on a sleeve that turns with it: a mass on a spring along the rail that the loop leaves."""
    stiffness, rest, damping, mass = 50.0, 0.1, 0.8, 2.0
    rail = pl.joints.LoopJoint(
        "rail",
        pl.joints.LoopKind.PRISMATIC,
        pl.At("base", position=(0.0, 0.2, 0.0)),
        pl.At("puck"),
        axis=(0.0, 1.0, 0.0),
        spring=pl.joints.JointSpring(stiffness, rest),
        damping=damping,
    )
    puck = pl.RigidLink("puck", (0.0, 0.0, 0.0), mass, inertia=(0.1, 0.1, 0.1))
    table = pl.joints.PlanarJoint("table", "base", "puck", second_slide=pl.joints.Coordinate(initial_position=0.4))
    robot = pl.Robot(name="slider", links=(puck,), joints=(table,), loops=(rail,))
    arm = pl.PoseElement().compile(robot)
    run = pl.simulate(arm, until=1.0, integrator=pl.Gauss(order=2, step=1e-3), outputs=10)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    # it starts 0.1 m beyond the rest position of the spring, at rest: a damped oscillation
    decay, omega = damping / (2.0 * mass), np.sqrt(stiffness / mass - (damping / (2.0 * mass)) ** 2)
    t = run.time
    expected = 0.3 + 0.1 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    translates = arm.layout.part(run.states, "joint_position")
    assert np.abs(translates[:, 1] - expected).max() < 2e-6  # a phase error of h^2 omega^3 t / 12
    assert np.abs(translates[:, [0, 2]]).max() < 1e-14


NYLON = pl.Material("nylon", young=3e9, density=1150.0, poisson=0.39, damping=1e-5)
ALUMINIUM = pl.Material("aluminium", young=70e9, density=2700.0, poisson=0.33, damping=1e-5)
STEEL = pl.Material("steel", young=210e9, density=7850.0, poisson=0.3, damping=1e-5)


def flexible_four_bar(material: pl.Material) -> pl.Robot:
    rigid = four_bar.robot()
    strip = pl.Rectangle(height=0.008, width=0.02)
    bending = tuple(
        pl.FlexibleLink(name, length, strip, material)
        for name, length in (("coupler", four_bar.COUPLER), ("rocker", four_bar.ROCKER))
    )
    return pl.Robot(
        name="flexible_four_bar",
        links=(rigid.links[0], *bending),
        joints=rigid.joints,
        loops=rigid.loops,
        gravity=rigid.gravity,
    )


@pytest.mark.parametrize("material", [NYLON, ALUMINIUM, STEEL], ids=lambda material: material.name)
def test_flexible_four_bar_stays_closed_for_ten_seconds(material: pl.Material) -> None:
    arm = pl.PoseElement(elements=4).compile(flexible_four_bar(material))
    turning = pl.motions.SmoothStart(rate=6.0, duration=1.0, position=four_bar.START)
    driven = pl.connect(arm, pl.PrescribedMotion("drive", turning))
    run = pl.simulate(driven, until=TEN_SECONDS, integrator=pl.Gauss(order=2, step=2e-3), outputs=EVERY_STEP)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert worst_violation(arm, run.states) < 1e-11
    assert run.ledger.strain.max() > 1e-3, "the links hardly bend"


def driven_parallelogram(elements: int) -> Connected:
    arm = pl.PoseElement(elements=elements).compile(pl.load(pl.library.path("parallelogram")))
    torques = {"right_drive": pl.signals.Sine(1.5, 0.7), "left_drive": pl.signals.Sine(-1.0, 1.1)}
    return pl.connect(arm, *(pl.JointTorque(*each) for each in torques.items()))


@pytest.mark.bounds
def test_a_few_steps_with_bounds_checked() -> None:
    run = pl.simulate(driven_parallelogram(2), until=0.02, integrator=pl.Gauss(order=2, step=2e-3))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10


def test_driven_parallelogram_stays_closed_for_ten_seconds() -> None:
    driven = driven_parallelogram(4)
    arm = driven.arm
    run = pl.simulate(driven, until=TEN_SECONDS, integrator=pl.Gauss(order=2, step=2e-3), outputs=EVERY_STEP)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert worst_violation(arm, run.states) < 1e-11
    assert np.ptp(arm.layout.part(run.states, "joint_position"), axis=0).min() > 0.5, "it hardly moves"


def test_halved_steps_keep_the_ledger_and_the_loop() -> None:
    arm = pl.PoseElement(elements=4).compile(flexible_four_bar(NYLON))
    run = pl.simulate(arm, until=1.0, integrator=pl.Gauss(order=2, step=0.05))
    assert run.ending.completed
    assert run.statistics["halvings"] > 0, "no step needed it"
    assert run.time[1] == pytest.approx(0.05, abs=1e-15), "halves end where the step was to end"
    assert run.ledger.worst_ratio < 1e-10
    assert worst_violation(arm, run.states) < 1e-11
