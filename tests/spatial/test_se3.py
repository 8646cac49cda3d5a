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
def test_poses_form_a_group(x: se3.Twist, y: se3.Twist) -> None:
    g, h = se3.exp(x), se3.exp(y)
    np.testing.assert_allclose(homogeneous(se3.mul(g, h)), homogeneous(g) @ homogeneous(h), atol=4e-15)
    np.testing.assert_allclose(homogeneous(se3.mul(se3.inverse(g), g)), np.eye(4), atol=4e-15)
    np.testing.assert_allclose(se3.act(g, y[:3]), (homogeneous(g) @ [*y[:3], 1.0])[:3], atol=4e-15)


@given(twists, twists, twists)
def test_Ad_is_a_homomorphism(x: se3.Twist, y: se3.Twist, z: se3.Twist) -> None:
    g, h = se3.exp(x), se3.exp(y)
    np.testing.assert_allclose(se3.Ad(se3.mul(g, h), z), se3.Ad(g, se3.Ad(h, z)), atol=2e-14)
    np.testing.assert_allclose(se3.Ad_inverse(g, se3.Ad(g, z)), z, atol=1e-14)
    np.testing.assert_allclose(se3.Ad(se3.inverse(g), z), se3.Ad_inverse(g, z), atol=1e-14)


@given(twists, twists)
def test_Ad_is_conjugation(x: se3.Twist, z: se3.Twist) -> None:
    g, moved = se3.exp(x), se3.exp(z)
    conjugate = se3.mul(se3.mul(g, moved), se3.inverse(g))
    np.testing.assert_allclose(homogeneous(conjugate), homogeneous(se3.exp(se3.Ad(g, z))), atol=1e-14)


@given(twists, twists)
def test_ad_is_the_derivative_of_Ad(x: se3.Twist, z: se3.Twist) -> None:
    h = 1e-5
    ahead, behind = (np.array(se3.Ad(se3.exp(tuple(s * h * v for v in x)), z)) for s in (1.0, -1.0))
    np.testing.assert_allclose((ahead - behind) / (2.0 * h), se3.ad(x, z), atol=2e-9)


@given(twists, twists, twists)
def test_ad_obeys_the_jacobi_identity(x: se3.Twist, y: se3.Twist, z: se3.Twist) -> None:
    total = sum(np.array(se3.ad(a, se3.ad(b, c))) for a, b, c in ((x, y, z), (y, z, x), (z, x, y)))
    np.testing.assert_allclose(total, np.zeros(6), atol=4e-15)
    np.testing.assert_allclose(se3.ad(x, y), -np.array(se3.ad(y, x)), atol=1e-15)


@given(twists, twists, twists)
def test_transposes_keep_power(x: se3.Twist, z: se3.Twist, wrench: se3.Wrench) -> None:
    g = se3.exp(x)
    T = se3.right_tangent(x)
    for forth, back in (
        (se3.Ad(g, z), se3.Ad_transpose(g, wrench)),
        (se3.Ad_inverse(g, z), se3.Ad_inverse_transpose(g, wrench)),
        (se3.ad(x, z), se3.ad_transpose(x, wrench)),
        (se3.apply_blocks(T, z), se3.apply_blocks_transpose(T, wrench)),
    ):
        assert np.dot(wrench, forth) == pytest.approx(np.dot(back, z), abs=2e-14)


@given(twists, twists)
def test_right_tangent_is_the_derivative_of_exp(x: se3.Twist, d: se3.Twist) -> None:
    h = 1e-5
    g = se3.inverse(se3.exp(x))
    ahead, behind = (
        np.array(se3.log(se3.mul(g, se3.exp(tuple(a + s * h * b for a, b in zip(x, d)))))) for s in (1.0, -1.0)
    )
    np.testing.assert_allclose((ahead - behind) / (2 * h), se3.apply_blocks(se3.right_tangent(x), d), atol=2e-9)


@over(*product(ANGLES))
def test_exp_and_tangents_keep_all_digits(angle: float) -> None:
    x = twist_at(angle)
    np.testing.assert_allclose(homogeneous(se3.exp(x)), high_precision.pose(x), rtol=0, atol=2e-15)
    np.testing.assert_allclose(arrays.right_tangent(x), high_precision.right_tangent(x), rtol=0, atol=1e-15)
    inverse = high_precision.right_tangent_inverse(x)
    np.testing.assert_allclose(arrays.right_tangent_inverse(x), inverse, rtol=0, atol=1e-14 * np.abs(inverse).max())


@over(*product(ANGLES))
def test_left_tangents_mirror_right_tangents(angle: float) -> None:
    x = twist_at(angle)
    z = (0.3, 0.1, -0.5, 0.2, 0.9, -0.4)
    carried = se3.Ad(se3.exp(x), se3.apply_blocks(se3.right_tangent(x), z))
    np.testing.assert_allclose(se3.apply_blocks(se3.left_tangent(x), z), carried, atol=4e-15)
    back = se3.apply_blocks(se3.left_tangent_inverse(x), carried)
    np.testing.assert_allclose(back, z, atol=3e-14)


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
    np.testing.assert_allclose(
        arrays.adjoint_of_pose(poses)[1, 2] @ x[0, 0], se3.Ad(se3.exp(tuple(x[1, 2])), tuple(x[0, 0])), atol=1e-15
    )
    np.testing.assert_allclose(arrays.adjoint_of_twist(x)[1, 0] @ x[1, 0], np.zeros(6), atol=1e-15)
    with pytest.raises(ValueError, match=r"shape \(4,\) does not end in \(3,\)"):
        arrays.rotation_from_vector(np.zeros(4))
