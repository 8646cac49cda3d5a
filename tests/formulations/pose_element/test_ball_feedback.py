"""Feedback on ball and free joints: a frame that follows the reference, and a spring and damper towards it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import pliant as pl
from pliant.errors import InvalidInput
from tests.formulations.pose_element.test_ball_drive import distance, quaternion_rate
from tests.support.trees import Array

J = np.diag([0.05, 0.08, 0.06])  # kg m^2, about the ball
STIFFNESS, DAMPING = 12.0, 0.4  # N m/rad, N m s/rad
BODY = pl.RigidLink("body", (0.3, 0.0, 0.0), 2.0, inertia=tuple(map(tuple, J)))
AXES = ("ball.x", "ball.y", "ball.z")
FREE = ("free.x", "free.y", "free.z", "free.turn_x", "free.turn_y", "free.turn_z")
START = Rotation.from_rotvec([0.5, -0.4, 0.3])


def ball(**fields: object) -> pl.Robot:
    joint = pl.joints.SphericalJoint("ball", "base", "body", **fields)
    return pl.Robot("held", (BODY,), (joint,))


def moved(robot: pl.Robot, step: float, until: float, *parts: object, outputs: int = 20) -> pl.Trajectory:
    model = pl.connect(pl.PoseElement(2).compile(robot), *parts)
    run = pl.simulate(model, until=until, integrator=pl.Gauss(order=2, step=step), outputs=outputs)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    return run


def body_turn(run: pl.Trajectory) -> Array:
    return run.link("body").rotation[:, 0]


def follow(turns: object, stiffness: object = STIFFNESS, damping: object = DAMPING) -> pl.JointPD:
    return pl.JointPD(turns, stiffness, damping, joints=AXES)


def test_child_follows_a_turning_reference_by_eulers_equations_to_second_order() -> None:
    """Torque  -k e - d e'  in the axes of the child, e the rotation vector from the reference; about one axis, where
    the gradient of e^2/2 is e itself, and with the start turned about all of them."""
    rate = 3.0  # rad/s about z

    def rates(t: float, y: Array) -> Array:
        q, spin = y[:4] / np.linalg.norm(y[:4]), y[4:7]
        reference = Rotation.from_rotvec([0.0, 0.0, rate * t])
        error = (reference.inv() * Rotation.from_quat(q, scalar_first=True)).as_rotvec()
        # e' = tangent^-1 (w - R^T w_ref), and the torque of a force on e is the transpose
        angle = np.linalg.norm(error)
        hat = np.cross(np.eye(3), -error)
        half = 0.5 * angle
        inverse = np.eye(3) + 0.5 * hat + (1.0 - half / np.tan(half)) / angle**2 * hat @ hat
        turning = Rotation.from_quat(q, scalar_first=True).inv().apply([0.0, 0.0, rate])
        torque = -inverse.T @ (STIFFNESS * error + DAMPING * inverse @ (spin - turning))
        return np.array([*quaternion_rate(q, spin), *np.linalg.solve(J, torque - np.cross(spin, J @ spin))])

    robot = ball(initial_rotation=tuple(START.as_quat(scalar_first=True)))
    turns = (
        pl.motions.Hold(0.0),
        pl.motions.Hold(0.0),
        pl.motions.FunctionMotion(lambda t: (rate * t, rate + 0 * t, 0 * t)),
    )
    errors = []
    for step in (4e-3, 2e-3):
        run = moved(robot, step, 1.0, follow(turns))
        start = [*START.as_quat(scalar_first=True), 0.0, 0.0, 0.0]
        exact = solve_ivp(rates, (0.0, 1.0), start, "DOP853", run.time, rtol=1e-11, atol=1e-11).y.T
        found = Rotation.from_matrix(body_turn(run)).as_quat(scalar_first=True)
        errors.append(distance(found, exact[:, :4]))
        assert run.ledger.works["ball.reference_z"][-1] > 0.1, "the reference hardly works"
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 2e-4


def test_small_turns_are_those_of_three_hinges_under_feedback() -> None:
    """Hinges in a row without mass between them; what differs is of second order in the turns of a milliradian."""
    size, gains = 1e-3, ((9.0, 12.0, 15.0), (0.2, 0.3, 0.4))
    turns = [pl.motions.Quintic(0.0, each * size, 0.2) for each in (1.0, -0.7, 0.5)]
    found = moved(ball(), 1e-3, 0.4, pl.JointPD(turns, *gains, joints=AXES))
    names = ("one", "two", "three")
    links = (*(pl.RigidLink(name, (0.0, 0.0, 0.0), 0.0) for name in ("l1", "l2")), BODY)
    carried = ("base", "l1", "l2", "body")
    joints = [
        pl.RevoluteJoint(name, carried[k], carried[k + 1], axis=tuple(np.eye(3)[k])) for k, name in enumerate(names)
    ]
    hinges = pl.Robot("row", links, tuple(joints))
    expected = moved(hinges, 1e-3, 0.4, pl.JointPD(turns, *gains, joints=names))
    difference = np.abs(body_turn(found) - body_turn(expected)).max()
    assert np.abs(body_turn(found) - np.eye(3)).max() > size
    assert difference < 3.0 * size**2


def test_a_free_body_is_carried_to_its_reference() -> None:
    robot = pl.Robot("free", (BODY,), (pl.joints.FreeJoint("free", "base", "body", position=(0.1, 0.0, 0.2)),))
    goals = (0.2, -0.1, 0.3, 0.4, -0.5, 0.6)
    path = pl.JointPD([pl.motions.Quintic(0.0, goal, 0.5) for goal in goals], 400.0, 40.0, joints=FREE)
    run = moved(robot, 2e-3, 3.0, path)
    shape = run.link("body")
    assert shape.position[-1, 0] == pytest.approx(np.add((0.1, 0.0, 0.2), goals[:3]), abs=1e-6)
    wanted = Rotation.from_euler("XYZ", goals[3:]).as_matrix()
    assert np.abs(shape.rotation[-1, 0] - wanted).max() < 1e-6
    # at rest the frequencies are those of a rigid body on a spring at its centre of mass
    held = pl.connect(pl.PoseElement(2).compile(robot), pl.JointPD(pl.motions.Hold(0.1), 400.0, 0.0, joints=FREE))
    balanced = pl.equilibrium(held)
    assert balanced.ending.completed
    found = np.sort(pl.modes(held, balanced.state, count=6).eigenvalue.imag)
    expected = np.sqrt([*(400.0 / 2.0,) * 3, *(400.0 / np.diag(J))])
    assert found == pytest.approx(np.sort(expected), rel=1e-9)


def test_feedback_within_a_floating_arm_keeps_its_momentum() -> None:
    robot = pl.Robot(
        "floating",
        (pl.RigidLink("hub", (0.2, 0.0, 0.0), 1.0, inertia=(0.02, 0.03, 0.04)), BODY),
        (pl.joints.FreeJoint("flight", "base", "hub"), pl.joints.SphericalJoint("ball", "hub", "body")),
    )
    arm = pl.PoseElement(2).compile(robot)
    model = pl.connect(arm, follow([pl.motions.Quintic(0.0, turn, 0.3) for turn in (0.8, -0.5, 1.0)]))
    run = pl.simulate(model, until=0.5, integrator=pl.Gauss(order=2, step=1e-3), outputs=10)
    assert run.ending.completed
    linear, angular = model.arm.momentum(run.states)  # type: ignore[attr-defined]
    assert np.abs(run.link("hub").rotation[-1, 0] - np.eye(3)).max() > 0.1, "it hardly moves"
    assert np.abs(linear).max() < 1e-10
    assert np.abs(angular).max() < 1e-10


@settings(max_examples=10, deadline=None)
@given(
    st.lists(st.floats(0.0, 50.0), min_size=3, max_size=3),
    st.lists(st.floats(0.0, 3.0), min_size=3, max_size=3),
    st.lists(st.floats(-0.7, 0.7), min_size=3, max_size=3),
    st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
)
def test_feedback_to_a_resting_reference_is_passive(
    stiffness: list[float], damping: list[float], start: list[float], spin: list[float]
) -> None:
    turn = tuple(Rotation.from_rotvec(start).as_quat(scalar_first=True))
    robot = ball(initial_rotation=turn, initial_rate=tuple(spin))
    run = moved(robot, 4e-3, 0.2, follow(pl.motions.Hold(0.0), stiffness, damping))
    whole = run.ledger.kinetic + run.ledger.strain
    assert np.diff(whole).max() <= 1e-10 * (whole[0] + 1e-12)
    assert all(np.abs(run.ledger.works[f"ball.reference_{axis}"]).max() < 1e-12 for axis in "xyz")


def test_ball_of_a_loop_takes_feedback() -> None:
    """A rod closed onto the base by a ball, hanging on a universal joint of its own: the reference turns it."""
    rod = pl.RigidLink("rod", (0.5, 0.0, 0.0), 1.0, center_of_mass=(0.25, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
    robot = pl.Robot(
        "spindle",
        (rod,),
        (pl.joints.SphericalJoint("root", "base", "rod"),),
        loops=(
            pl.joints.LoopJoint(
                "tip", pl.joints.LoopKind.SPHERICAL, pl.At("base", position=(0.5, 0.0, 0.0)), pl.At("rod")
            ),
        ),
    )
    turn = pl.JointPD(
        [pl.motions.Quintic(0.0, 1.0, 0.5), pl.motions.Hold(0.0), pl.motions.Hold(0.0)],
        20.0,
        1.0,
        joints=("tip.x", "tip.y", "tip.z"),
    )
    run = moved(robot, 2e-3, 2.0, turn)
    wanted = Rotation.from_rotvec([1.0, 0.0, 0.0]).as_matrix()
    assert np.abs(run.link("rod").rotation[-1, 0] - wanted).max() < 1e-4


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        (
            (pl.JointPD(pl.motions.Hold(0.0), 1.0, 0.0, joints=["ball.x", "ball.z"]),),
            "joint 'ball' is held by feedback in part only; name ball.y too, for example with a JointPD of stiffness 0",
        ),
        (
            (follow(pl.motions.Hold(0.0)), follow(pl.motions.Hold(1.0))),
            "joint 'ball.x' has two feedback laws; put their gains into one JointPD",
        ),
        (
            (follow(pl.motions.Hold(0.0)), *(pl.PrescribedMotion(axis, pl.motions.Hold(0.0)) for axis in AXES)),
            "joint 'ball.x' is prescribed by PrescribedMotion and driven with torque by JointPD; remove one of the two",
        ),
    ],
    ids=["in part", "twice", "prescribed too"],
)
def test_what_feedback_on_a_ball_refuses(parts: tuple[object, ...], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        pl.connect(pl.PoseElement(2).compile(ball()), *parts)
    assert str(refused.value) == sentence


def test_an_error_beyond_the_logarithm_ends_the_run_with_a_word() -> None:
    model = pl.connect(pl.PoseElement(2).compile(ball()), follow(pl.motions.Quintic(0.0, 3.0, 0.05), 1e-3, 0.0))
    run = pl.simulate(model, until=0.1, integrator=pl.Gauss(order=2, step=1e-3))
    assert not run.ending.completed
    assert "ball.feedback" in run.ending.place
