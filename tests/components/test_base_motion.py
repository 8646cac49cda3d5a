"""A moved base: pose, velocity and spin agree with each other and with the robot's own base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pliant.components.base_motion import BaseMotion
from pliant.components.connect import connect
from pliant.components.motions import Hold, MotionSum, Quintic, SmoothStart
from pliant.components.signals import Constant
from pliant.errors import InvalidInput
from pliant.model.inputs import BasePath
from pliant.robot import Base
from pliant.robot.declared import Quaternion, Vector3
from tests.support.two_link_arm import ROBOT, TwoLinkArm

ARM = TwoLinkArm()
NUMBERS = st.floats(-3.0, 3.0)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
DIRECTIONS = VECTORS.filter(lambda v: np.linalg.norm(v) > 0.1)
QUATERNIONS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS).filter(lambda q: np.linalg.norm(q) > 0.1)
MOVES = st.builds(Quintic, NUMBERS, NUMBERS, st.floats(0.5, 2.0))
TIMES = np.linspace(0.1, 2.1, 9)


def unit(quaternion: Quaternion) -> np.ndarray:
    return np.asarray(quaternion) / np.linalg.norm(quaternion)


def path_of(motion: BaseMotion, base: Base, times: np.ndarray) -> BasePath:
    moved = connect(TwoLinkArm(robot=replace(ROBOT, base=base)), motion).inputs.base_motion
    assert moved is not None
    return moved(times)


@given(VECTORS, QUATERNIONS, MOVES, MOVES, DIRECTIONS)
def test_pose_is_that_of_the_robots_base_moved_along_the_world_and_turned_about_its_own_axis(
    origin: Vector3, quaternion: Quaternion, slide: Quintic, turn: Quintic, axis: Vector3
) -> None:
    base = Base(position=origin, rotation=unit(quaternion))  # type: ignore[arg-type]
    path = path_of(BaseMotion(y=slide, angle=turn, axis=axis), base, TIMES)
    expected = np.tile(origin, (len(TIMES), 1))
    expected[:, 1] += slide.evaluate(TIMES)[0]
    np.testing.assert_array_equal(path.position, expected)
    at_rest = Rotation.from_quat(unit(quaternion), scalar_first=True)
    vectors = np.outer(turn.evaluate(TIMES)[0], axis / np.linalg.norm(axis))
    expected_turn = (at_rest * Rotation.from_rotvec(vectors)).as_matrix()
    turned = Rotation.from_quat(path.quaternion, scalar_first=True).as_matrix()
    np.testing.assert_allclose(turned, expected_turn, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(path.quaternion, axis=1), 1.0, rtol=1e-14)


@given(VECTORS, QUATERNIONS, MOVES, MOVES, MOVES, MOVES, DIRECTIONS)
def test_velocity_and_spin_are_the_rates_of_the_pose(
    origin: Vector3, quaternion: Quaternion, x: Quintic, y: Quintic, z: Quintic, turn: Quintic, axis: Vector3
) -> None:
    base = Base(position=origin, rotation=unit(quaternion))  # type: ignore[arg-type]
    motion = BaseMotion(x=x, y=y, z=z, angle=turn, axis=axis)
    # Central differences over 1e-5 s of motions whose third derivatives stay below 60 * 6 / 0.5^3 = 3e3:
    # truncation 3e3 / 6 * 1e-10 = 5e-8, round-off 6 * 1e-16 / 1e-5 = 1e-10; products with spins below 23
    # rad/s enter the third derivative of the quaternion, (23/2)^3 = 1.5e3, of the same size.
    epsilon = 1e-5
    ahead, behind = (path_of(motion, base, TIMES + sign * epsilon) for sign in (1, -1))
    path = path_of(motion, base, TIMES)
    velocity = (ahead.position - behind.position) / (2 * epsilon)
    np.testing.assert_allclose(path.velocity, velocity, atol=2e-7)
    rate = (ahead.quaternion - behind.quaternion) / (2 * epsilon)
    w, v = path.quaternion[:, :1], path.quaternion[:, 1:]
    expected = np.column_stack([-np.sum(v * path.spin, axis=1), w * path.spin + np.cross(v, path.spin)])
    np.testing.assert_allclose(rate, 0.5 * expected, atol=2e-7)


def test_the_quaternion_goes_on_smoothly_past_full_turns() -> None:
    times = np.linspace(0.0, 10.0, 1001)
    path = path_of(BaseMotion(angle=SmoothStart(5.0, 1.0)), Base(), times)
    assert np.abs(np.diff(path.quaternion, axis=0)).max() < 0.5 * 5.0 * 0.0101


def test_what_is_left_out_rests() -> None:
    path = path_of(BaseMotion(z=Hold(0.5)), Base(position=(1.0, 2.0, 3.0)), TIMES)
    np.testing.assert_array_equal(path.position, np.tile([1.0, 2.0, 3.5], (9, 1)))
    np.testing.assert_array_equal(path.quaternion, np.tile([1.0, 0.0, 0.0, 0.0], (9, 1)))
    assert not path.velocity.any()
    assert not path.spin.any()


def test_steps_end_where_the_motions_of_the_base_break() -> None:
    move = BaseMotion(x=Quintic(0.0, 1.0, 0.5, begin=0.25), angle=SmoothStart(1.0, 2.0))
    assert connect(ARM, move).inputs.breaks == (0.0, 0.25, 0.75, 2.0)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: BaseMotion(), "BaseMotion: moves nothing; write a motion for x, y, z or angle"),
        (
            lambda: BaseMotion(x=1.0),  # type: ignore[arg-type]
            "BaseMotion: x = 1.0 does not fit; write a motion, such as Quintic(0, 1, 2)",
        ),
        (
            lambda: BaseMotion(angle=Hold(1.0), axis=(0.0, 0.0, 0.0)),
            "BaseMotion: axis = (0, 0, 0) must not be zero; write the axis (x, y, z) of the rotation in the base frame",
        ),
        (
            lambda: connect(ARM, BaseMotion(x=Hold(1.0)), BaseMotion(y=MotionSum([Hold(1.0)]))),
            "the base is moved twice; put all its motions into one BaseMotion",
        ),
        (
            lambda: connect(ARM, BaseMotion(x=Constant(1.0))),  # type: ignore[arg-type]
            "BaseMotion: Constant is no motion; let its evaluate return position, rate and acceleration,"
            " each of the shape of the times",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
