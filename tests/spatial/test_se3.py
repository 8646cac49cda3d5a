"""Rigid motions obey the axioms of their group, and wrenches are dual to twists."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.spatial import arrays, se3
from tests.support import high_precision
from tests.support.over import over

component = st.floats(-1.0, 1.0, allow_subnormal=False)
twists = st.tuples(*[component] * 6)
DIRECTION = (0.4, -0.7, 0.2, 0.1 / math.sqrt(0.14), -0.2 / math.sqrt(0.14), 0.3 / math.sqrt(0.14))
ANGLES = [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 1.9999999, 2.0000001, 3.0, math.pi - 1e-9, 4.0, 5.5]


def homogeneous(g: se3.Pose) -> np.ndarray:
    return np.block([[np.reshape(g[0], (3, 3)), np.reshape(g[1], (3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])


def twist_at(angle: float) -> se3.Twist:
    return (*DIRECTION[:3], *(angle * x for x in DIRECTION[3:]))


@given(twists)
def test_log_inverts_exp(x: se3.Twist) -> None:
    np.testing.assert_allclose(se3.log(se3.exp(x)), x, atol=4e-15)


@given(twists, twists)
def test_ad_is_the_derivative_of_the_action_of_poses(x: se3.Twist, z: se3.Twist) -> None:
    """Conjugation with exp(t x) carries exp(z) along."""
    h = 1e-5
    ahead, behind = (conjugate(tuple(s * h * v for v in x), z) for s in (1.0, -1.0))
    np.testing.assert_allclose((ahead - behind) / (2.0 * h), se3.ad(x, z), atol=2e-9)


def conjugate(x: se3.Twist, z: se3.Twist) -> np.ndarray:
    """The twist of exp(x) exp(z) exp(-x)."""
    g, moved = homogeneous(se3.exp(x)), homogeneous(se3.exp(z))
    return np.asarray(arrays.twist_from_pose(g @ moved @ np.linalg.inv(g)))


@given(twists, twists, twists)
def test_ad_obeys_the_jacobi_identity(x: se3.Twist, y: se3.Twist, z: se3.Twist) -> None:
    total = sum(np.array(se3.ad(a, se3.ad(b, c))) for a, b, c in ((x, y, z), (y, z, x), (z, x, y)))
    np.testing.assert_allclose(total, np.zeros(6), atol=4e-15)
    np.testing.assert_allclose(se3.ad(x, y), -np.array(se3.ad(y, x)), atol=1e-15)


@given(twists, twists, twists)
def test_transposes_keep_power(x: se3.Twist, z: se3.Twist, wrench: se3.Wrench) -> None:
    power = np.dot(wrench, se3.ad(x, z))
    assert power == pytest.approx(np.dot(se3.ad_transpose(x, wrench), z), abs=2e-14)
    assert power == pytest.approx(-np.dot(se3.carried_wrench(x, wrench), z), abs=2e-14)


@given(twists, twists)
def test_right_tangent_is_the_derivative_of_exp(x: se3.Twist, d: se3.Twist) -> None:
    h = 1e-5
    back = np.linalg.inv(homogeneous(se3.exp(x)))
    moved = (homogeneous(se3.exp(tuple(a + s * h * b for a, b in zip(x, d)))) for s in (1.0, -1.0))
    ahead, behind = (arrays.twist_from_pose(back @ pose) for pose in moved)
    J, Q = (np.reshape(block, (3, 3)) for block in se3.right_tangent(x))
    np.testing.assert_allclose((ahead - behind) / (2 * h), np.block([[J, Q], [0.0 * J, J]]) @ d, atol=2e-9)


@over(*product(ANGLES))
def test_exp_and_tangents_keep_all_digits(angle: float) -> None:
    x = twist_at(angle)
    np.testing.assert_allclose(homogeneous(se3.exp(x)), high_precision.pose(x), rtol=0, atol=2e-15)
    np.testing.assert_allclose(arrays.right_tangent(x), high_precision.right_tangent(x), rtol=0, atol=1e-15)
    inverse = high_precision.right_tangent_inverse(x)
    np.testing.assert_allclose(arrays.right_tangent_inverse(x), inverse, rtol=0, atol=1e-14 * np.abs(inverse).max())


@over(*product(angle for angle in ANGLES if angle < math.pi))
def test_log_keeps_all_digits(angle: float) -> None:
    x = twist_at(angle)
    H = high_precision.pose(x)
    found = se3.log((tuple(H[:3, :3].ravel().tolist()), tuple(H[:3, 3].tolist())))
    np.testing.assert_allclose(found, x, rtol=0, atol=4e-15)


def test_array_functions_take_any_leading_axes() -> None:
    x = np.linspace(-1.0, 1.0, 36).reshape(2, 3, 6)
    poses = arrays.pose_from_twist(x)
    assert poses.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(arrays.twist_from_pose(poses), x, atol=4e-15)
    rotations = arrays.rotation_from_vector(x[..., 3:])
    np.testing.assert_allclose(poses[..., :3, :3], rotations, atol=1e-15)
    np.testing.assert_allclose(arrays.vector_from_rotation(rotations), x[..., 3:], atol=4e-15)
    quaternions = arrays.quaternion_from_rotation(rotations)
    np.testing.assert_allclose(arrays.rotation_from_quaternion(3.0 * quaternions), rotations, atol=2e-15)
    products = arrays.right_tangent(x) @ arrays.right_tangent_inverse(x)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(6), products.shape), atol=1e-14)
    np.testing.assert_allclose(arrays.bracket(x)[1, 0] @ x[0, 2], se3.ad(tuple(x[1, 0]), tuple(x[0, 2])), atol=1e-15)
    with pytest.raises(ValueError, match=r"shape \(4,\) does not end in \(3,\)"):
        arrays.rotation_from_vector(np.zeros(4))
