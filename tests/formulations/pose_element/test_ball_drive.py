"""A torque on a ball joint: Euler's equations by another integrator, the reaction on the parent, and the ledger."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.structures.nodal.model import PoseElementArm
from tests.support.trees import Array

UNTIL = 0.5
J = np.array([[0.05, 0.004, -0.002], [0.004, 0.08, 0.003], [-0.002, 0.003, 0.06]])  # about the centre of mass
MASS, CENTER = 2.0, np.array([0.1, -0.05, 0.2])
GRAVITY = np.array([0.0, 0.0, -9.81])
START_SPIN = np.array([1.0, -2.0, 3.0])
RATE = 12.0  # rad/s of the torques below


def torque(t: float) -> Array:
    return np.array([0.8 * np.sin(RATE * t), 0.5, -0.7 * np.cos(RATE * t)])


SIGNAL = pl.signals.FunctionSignal(lambda times: np.array([torque(float(t)) for t in times]))


def body(center: Array) -> pl.RigidLink:
    return pl.RigidLink("body", (0.3, 0.0, 0.0), MASS, center_of_mass=tuple(center), inertia=tuple(map(tuple, J)))


def driven(robot: pl.Robot, step: float, *components: object) -> tuple[PoseElementArm, pl.Trajectory]:
    arm = pl.PoseElement(elements=2).compile(robot)
    model = pl.connect(arm, pl.JointTorque("ball", SIGNAL), *components)
    run = pl.simulate(model, until=UNTIL, integrator=pl.Gauss(order=2, step=step), outputs=10)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    return arm, run


def turn_of(arm: PoseElementArm, run: pl.Trajectory, link: str) -> Array:
    node = int(arm.structure.link(link).nodes[0])
    return arm.layout.part(run.states, "rotation")[:, node]


def distance(first: Array, second: Array) -> float:
    """Largest angle between rotations given by quaternions (w, x, y, z)."""
    a, b = Rotation.from_quat(first, scalar_first=True), Rotation.from_quat(second, scalar_first=True)
    return float((a.inv() * b).magnitude().max())


def quaternion_rate(q: Array, spin: Array) -> Array:
    w, v = q[0], q[1:]
    return 0.5 * np.array([-v @ spin, *(w * spin + np.cross(v, spin))])


def test_torque_in_the_axes_of_the_child_moves_it_by_eulers_equations() -> None:
    robot = pl.Robot(
        name="pendulum",
        links=(body(CENTER),),
        joints=(pl.joints.SphericalJoint("ball", "base", "body", initial_rate=tuple(START_SPIN)),),
        gravity=tuple(GRAVITY),
    )
    about_the_ball = J + MASS * (CENTER @ CENTER * np.eye(3) - np.outer(CENTER, CENTER))

    def rates(t: float, y: Array) -> Array:
        q, spin = y[:4] / np.linalg.norm(y[:4]), y[4:7]
        down = Rotation.from_quat(q, scalar_first=True).inv().apply(GRAVITY)
        moment = torque(t) + np.cross(CENTER, MASS * down) - np.cross(spin, about_the_ball @ spin)
        return np.array([*quaternion_rate(q, spin), *np.linalg.solve(about_the_ball, moment), torque(t) @ spin])

    start = [1.0, 0.0, 0.0, 0.0, *START_SPIN, 0.0]
    errors, works = [], []
    for step in (2e-3, 1e-3):
        arm, run = driven(robot, step)
        exact = solve_ivp(rates, (0.0, UNTIL), start, "DOP853", run.time, rtol=1e-12, atol=1e-12).y.T
        errors.append(distance(turn_of(arm, run, "body"), exact[:, :4]))
        works.append(np.abs(run.ledger.works["ball"] - exact[:, 7]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert np.log2(works[0] / works[1]) == pytest.approx(2.0, abs=0.05)
    # of a rotation by some radians and a work of some joules, at a millisecond
    assert errors[1] < 2e-5
    assert works[1] < 2e-5


def test_opposite_torque_acts_on_the_parent() -> None:
    """A child whose centre of mass is the ball: its turning is its own, and its torque spins the parent's axle."""
    axle = 0.05
    robot = pl.Robot(
        name="wheel",
        links=(pl.RigidLink("wheel", (0.0, 0.0, 0.2), 1.0, inertia=(axle, axle, axle)), body(np.zeros(3))),
        joints=(
            pl.RevoluteJoint("axle", "base", "wheel"),
            pl.joints.SphericalJoint("ball", "wheel", "body", initial_rate=tuple(START_SPIN)),
        ),
    )

    def rates(t: float, y: Array) -> Array:
        q, spin = y[:4] / np.linalg.norm(y[:4]), y[4:7]
        on_the_axle = -Rotation.from_quat(q, scalar_first=True).apply(torque(t))[2]
        turning = np.linalg.solve(J, torque(t) - np.cross(spin, J @ spin))
        return np.array([*quaternion_rate(q, spin), *turning, y[8], on_the_axle / axle])

    start = [1.0, 0.0, 0.0, 0.0, *START_SPIN, 0.0, 0.0]
    errors = []
    for step in (2e-3, 1e-3):
        arm, run = driven(robot, step)
        exact = solve_ivp(rates, (0.0, UNTIL), start, "DOP853", run.time, rtol=1e-12, atol=1e-12).y.T
        angle = arm.layout.part(run.states, "joint_position")[:, 0]
        errors.append(np.abs(angle - exact[:, 7]).max())
        assert distance(turn_of(arm, run, "body"), exact[:, :4]) < 2e-4
    assert np.ptp(exact[:, 7]) > 0.1
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert errors[1] < 2e-6  # of a turn of some tenths of a radian


@pytest.mark.bounds
def test_torque_within_a_floating_arm_keeps_its_momentum() -> None:
    strip = pl.GeneralSection(stiffness=(1e4, 5e3, 5e3, 10.0, 10.0, 10.0), inertia=(0.5, 0.5, 0.5, 5e-3, 5e-3, 5e-3))
    robot = pl.Robot(
        name="floating",
        links=(pl.FlexibleLink("boom", 0.5, strip), body(CENTER)),
        joints=(pl.joints.FreeJoint("flight", "base", "boom"), pl.joints.SphericalJoint("ball", "boom", "body")),
    )
    arm, run = driven(robot, 1e-3)
    linear, angular = arm.momentum(run.states)
    sizes = np.linalg.norm(arm.layout.part(run.states, "spin"), axis=2).max()
    assert sizes > 1.0, "it hardly moves"
    # the torque would give 0.5 N m s in this time
    assert np.abs(linear).max() < 1e-10
    assert np.abs(angular).max() < 1e-10


@pytest.mark.parametrize("by_a_bushing", [False, True])
def test_torque_balances_a_spring_towards_a_rotation(by_a_bushing: bool) -> None:
    rest = Rotation.from_rotvec([0.3, -0.2, 0.4])
    turn = tuple(rest.as_quat(scalar_first=True))
    spring = None if by_a_bushing else pl.joints.BallSpring(2.0, turn)
    robot = pl.Robot(
        name="held",
        links=(body(np.zeros(3)),),
        joints=(pl.joints.SphericalJoint("ball", "base", "body", spring=spring),),
    )
    arm = pl.PoseElement().compile(robot)
    held = pl.connect(arm, pl.JointTorque("ball", pl.signals.Constant((0.2, 0.1, -0.3))))
    if by_a_bushing:
        at_rest, child = pl.At("base", rotation=turn), pl.At("body", pl.End.ROOT)
        held = pl.connect(held, pl.Bushing("hold", at_rest, child, (0.0, 0.0, 0.0, 2.0, 2.0, 2.0)))
    balanced = pl.equilibrium(held)
    assert balanced.ending.completed
    node = int(arm.structure.link("body").nodes[0])
    found = Rotation.from_quat(arm.layout.part(balanced.state, "rotation")[node], scalar_first=True)
    # the axis of the displacement is the same in both frames: stiffness times the rotation vector is the torque
    expected = rest * Rotation.from_rotvec(np.array([0.2, 0.1, -0.3]) / 2.0)
    assert (found.inv() * expected).magnitude() < 1e-9
