"""Laws of free joints: springs, drag, dry friction, boxes and cones against other integrators, and their refusals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.linalg import logm
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.errors import InvalidInput
from tests.formulations.pose_element.test_ball_drive import distance, quaternion_rate
from tests.formulations.pose_element.test_passivity import total_energy
from tests.support.trees import Array, direction, inertia, quaternion

MASS = 1.5
J = np.diag([0.02, 0.03, 0.025])


def free_body(**laws: object) -> pl.Robot:
    link = pl.RigidLink("body", (0.0, 0.0, 0.0), MASS, inertia=tuple(map(tuple, J)))
    return pl.Robot(name="body", links=(link,), joints=(pl.joints.FreeJoint("free", "base", "body", **laws),))


class Motion(NamedTuple):
    """Of the body at the output times."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array
    run: pl.Trajectory


def move(robot: pl.Robot, until: float, step: float, *components: object) -> Motion:
    arm = pl.PoseElement().compile(robot)
    model = pl.connect(arm, *components)
    run = pl.simulate(model, until=until, integrator=pl.Gauss(order=2, step=step), outputs=20)
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
    parts = ("position", "rotation", "velocity", "spin")
    return Motion(*(arm.layout.part(run.states, part)[:, 1] for part in parts), run)


def small_adjoint(twist: Array) -> Array:
    """ad of a twist (linear, angular)."""

    def hat(v: Array) -> Array:
        return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])

    ad = np.zeros((6, 6))
    ad[:3, :3] = ad[3:, 3:] = hat(twist[3:])
    ad[:3, 3:] = hat(twist[:3])
    return ad


def displacement(pose: Array) -> Array:
    X = np.real(logm(pose))
    return np.array([*X[:3, 3], X[2, 1], X[0, 2], X[1, 0]])


def rate_of_displacement(e: Array) -> Array:
    """d log(g) in the body twist: the series of Bernoulli numbers, x / (1 - exp(-x)) of ad."""
    ad = small_adjoint(e)
    total, power = np.eye(6) + 0.5 * ad, ad @ ad
    for number in (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160):
        total = total + number * power
        power = power @ ad @ ad
    return total


def test_spring_drag_and_wrench_move_a_body_as_its_equations_say() -> None:
    rng = np.random.default_rng(4)
    factor = rng.normal(size=(6, 6)) * np.array([4.0, 4.0, 4.0, 0.5, 0.5, 0.5])[:, None]
    K = factor @ factor.T + np.diag([20.0, 20.0, 20.0, 1.0, 1.0, 1.0])
    rest_place, rest_turn = np.array([0.1, -0.2, 0.3]), Rotation.from_rotvec([0.2, 0.1, -0.3])
    drag = np.array([0.5, 1.0, 1.5, 0.02, 0.01, 0.03])
    spin, velocity = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.4])

    def wrench(t: float) -> Array:
        return np.array([2.0, np.sin(9.0 * t), 0.0, 0.05 * np.cos(7.0 * t), 0.0, 0.1])

    rest = np.eye(4)
    rest[:3, :3], rest[:3, 3] = rest_turn.as_matrix(), rest_place

    def rates(t: float, y: Array) -> Array:
        q, x, v, w = y[:4] / np.linalg.norm(y[:4]), y[4:7], y[7:10], y[10:13]
        R = Rotation.from_quat(q, scalar_first=True).as_matrix()
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = R, x
        e = displacement(np.linalg.inv(rest) @ pose)
        twist = np.array([*(R.T @ v), *w])
        on_body = wrench(t) - rate_of_displacement(e).T @ K @ e - drag * twist
        turning = np.linalg.solve(J, on_body[3:] - np.cross(w, J @ w))
        return np.array([*quaternion_rate(q, w), *v, *(R @ on_body[:3] / MASS), *turning, wrench(t) @ twist])

    robot = free_body(
        initial_velocity=tuple(velocity),
        initial_spin=tuple(spin),
        spring=pl.joints.FreeSpring(K, tuple(rest_place), tuple(rest_turn.as_quat(scalar_first=True))),
        damping=tuple(drag),
    )
    drive = pl.JointTorque("free", pl.signals.FunctionSignal(lambda ts: np.array([wrench(float(t)) for t in ts])))
    start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *velocity, *spin, 0.0]
    times = np.linspace(0.0, 0.6, 21)
    exact = solve_ivp(rates, (0.0, 0.6), start, "DOP853", times, rtol=1e-11, atol=1e-11).y.T
    errors, positions = [], []
    for step in (2e-3, 1e-3):
        position, rotation, _, _, run = move(robot, 0.6, step, drive)
        assert run.time == pytest.approx(times, abs=1e-14)
        positions.append(position)
        errors.append(
            (
                np.abs(position - exact[:, 4:7]).max(),
                distance(rotation, exact[:, :4]),
                np.abs(run.ledger.works["free"] - exact[:, 13]).max(),
            )
        )
    assert np.log2(np.array(errors[0]) / np.array(errors[1])) == pytest.approx([2.0] * 3, abs=0.1)
    # the error of 3e-5 m at a millisecond is one of h^2; what extrapolation leaves is h^3
    limit = (4.0 * positions[1] - positions[0]) / 3.0
    assert np.abs(limit - exact[:, 4:7]).max() < 1e-6


@pytest.mark.bounds
def test_dry_friction_acts_against_velocity_and_spin_whatever_their_direction() -> None:
    slide, turn = pl.joints.Friction(3.0, 4.0, 0.3, 0.05), pl.joints.Friction(0.05, smoothing_rate=0.2)
    velocity, spin = np.array([0.6, -0.3, 0.6]), np.array([1.0, 2.0, -2.0])
    ball = 0.02  # kg m^2, the same about all axes, so that the spin keeps its axis

    def law(friction: pl.joints.Friction, rate: float) -> float:
        peak = (friction.breakaway - friction.coulomb) * np.exp(-((rate / friction.stribeck_rate) ** 2))
        return (friction.coulomb + peak) * np.tanh(rate / friction.smoothing_rate)

    link = pl.RigidLink("body", (0.0, 0.0, 0.0), MASS, inertia=(ball, ball, ball))
    joint = pl.joints.FreeJoint(
        "free", "base", "body", initial_velocity=tuple(velocity), initial_spin=tuple(spin),
        slide_friction=slide, turn_friction=turn,
    )  # fmt: skip
    robot = pl.Robot(name="body", links=(link,), joints=(joint,))
    speeds = np.linalg.norm(velocity), np.linalg.norm(spin)
    errors = []
    for step in (1e-3, 5e-4):
        _, _, v, w, run = move(robot, 1.0, step)
        exact = solve_ivp(
            lambda _, y: [-law(slide, y[0]) / MASS, -law(turn, y[1]) / ball],
            (0.0, 1.0), speeds, "DOP853", run.time, rtol=1e-11, atol=1e-13,
        ).y.T  # fmt: skip
        errors.append(
            max(
                np.abs(v - exact[:, :1] * velocity / speeds[0]).max(), np.abs(w - exact[:, 1:] * spin / speeds[1]).max()
            )
        )
    # first order: the size of the friction is that at the start of a step
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)
    assert errors[1] < 2e-2
    assert np.linalg.norm(v[-1]) < 1e-12
    lost = 0.5 * MASS * speeds[0] ** 2 + 0.5 * ball * (speeds[1] ** 2 - w[-1] @ w[-1])
    # the tolerance of every step is 1e-11 of what it exchanges
    assert run.ledger.viscous_loss[-1] == pytest.approx(lost, rel=1e-11)


def test_body_bounces_in_its_box() -> None:
    stiffness, damping, wide = 5e3, 20.0, 0.05
    robot = free_body(
        initial_velocity=(1.0, -0.6, 0.0),
        position=(0.0, 0.0, 1.0),
        initial_position=(0.0, 0.0, 0.1),
        limits=pl.joints.Box((-wide, -wide, -1.0), (wide, wide, 1.0), stiffness, damping),
    )

    def rates(_: float, y: Array) -> Array:
        x, v = y[:2], y[2:]
        depth, inward = np.maximum(np.abs(x) - wide, 0.0), -np.sign(x)
        push = np.where(depth > 0.0, np.maximum(stiffness * depth - damping * v * inward, 0.0), 0.0)
        return np.array([*v, *(push * inward / MASS)])

    position, _, _, _, run = move(robot, 0.5, 1e-4)
    exact = solve_ivp(
        rates, (0.0, 0.5), [0.0, 0.0, 1.0, -0.6], "DOP853", run.time, rtol=1e-10, atol=1e-12, max_step=1e-4
    ).y.T
    assert np.abs(position[:, 2] - 1.1).max() < 1e-14
    # some impacts on stiff walls: their beginnings fall inside steps
    assert np.abs(position[:, :2] - exact[:, :2]).max() < 2e-5
    assert run.ledger.joint_loss[-1] > 0.1 * run.ledger.kinetic[0]


def test_cone_turns_the_body_back() -> None:
    half_angle = 0.4
    robot = free_body(initial_spin=(0.0, 0.0, 3.0), cone=pl.joints.Cone(half_angle, 50.0, 0.0))
    _, rotation, _, spin, _ = move(robot, 0.4, 5e-4)
    turned = Rotation.from_quat(rotation, scalar_first=True).as_rotvec()[:, 2]
    # the line of a cone measures the cosine: energy 50 / 2 (cos(angle) - cos(half))^2 / sin(half)^2
    kinetic = 0.5 * J[2, 2] * 3.0**2
    depth = np.cos(half_angle) - np.sqrt(2.0 * kinetic / 50.0) * np.sin(half_angle)
    assert turned.max() < np.arccos(depth) + 1e-6
    assert turned.max() > half_angle
    assert spin[-1, 2] == pytest.approx(-3.0, abs=1e-8)


def test_free_link_rests_on_its_spring() -> None:
    spring = pl.joints.FreeSpring((100.0, 200.0, 400.0, 5.0, 5.0, 5.0), rest_position=(0.1, 0.0, 0.2))
    link = pl.RigidLink("body", (0.0, 0.0, 0.0), MASS, inertia=tuple(map(tuple, J)))
    joint = pl.joints.FreeJoint("free", "base", "body", spring=spring)
    robot = pl.Robot(name="body", links=(link,), joints=(joint,), gravity=(0.0, 0.0, -9.81))
    arm = pl.PoseElement().compile(robot)
    balanced = pl.equilibrium(arm)
    assert balanced.ending.completed
    place = arm.layout.part(balanced.state, "position")[1]
    assert place == pytest.approx([0.1, 0.0, 0.2 - MASS * 9.81 / 400.0], abs=1e-9)


def test_drag_against_the_world_is_refused_on_a_moving_base() -> None:
    arm = pl.PoseElement().compile(free_body(damping=(1.0,) * 6))
    shaken = pl.connect(arm, pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.3, 1.0)))
    with pytest.raises(InvalidInput, match=r"joint 'free' has damping or friction against the world, but the base"):
        pl.simulate(shaken, until=0.1)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1))
def test_laws_of_free_joints_only_lose_energy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(6, 6))
    center = tuple(float(x) for x in 0.2 * rng.normal(size=3))
    link = pl.RigidLink("body", (0.3, 0.0, 0.0), MASS, center_of_mass=center, inertia=inertia(rng))
    static = float(rng.uniform(0.5, 2.0))
    joint = pl.joints.FreeJoint(
        "free",
        "base",
        "body",
        rotation=quaternion(rng),
        initial_velocity=direction(rng),
        initial_spin=direction(rng),
        spring=pl.joints.FreeSpring(factor @ factor.T * 10.0) if rng.uniform() < 0.5 else None,
        damping=tuple(float(x) for x in rng.uniform(0.0, 0.3, size=6)),
        slide_friction=pl.joints.Friction(0.5, static, 0.2, 0.05),
        turn_friction=pl.joints.Friction(0.1, 0.1 * static + 0.1, 0.2, 0.05),
        limits=pl.joints.Box((-0.05,) * 3, (0.08,) * 3, 500.0, 5.0) if rng.uniform() < 0.5 else None,
        cone=pl.joints.Cone(0.3, 20.0, 0.2) if rng.uniform() < 0.5 else None,
    )
    robot = pl.Robot(name="body", links=(link,), joints=(joint,), gravity=direction(rng))
    arm = pl.PoseElement().compile(robot)
    run = pl.simulate(arm, until=0.2, integrator=pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
    for loss in (run.ledger.viscous_loss, run.ledger.joint_loss):
        assert np.all(np.diff(loss) >= -1e-15 * (1.0 + loss[-1]))
    energy = total_energy(arm, arm.inputs, run.states)
    losses = run.ledger.viscous_loss + run.ledger.joint_loss + run.ledger.projection_loss
    assert np.abs(energy - energy[0] + losses - losses[0]).max() < 1e-11 * (1.0 + np.abs(energy).max())
