"""Rotations obey the axioms of their group and keep all digits at every angle."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.spatial import so3
from pliant.spatial.vectors import add, apply, apply_transpose, cross, scale
from pliant.spatial.vectors import product as multiplied
from tests.support import high_precision
from tests.support.over import over

component = st.floats(-1.0, 1.0, allow_subnormal=False)
vectors = st.tuples(component, component, component)
angles = st.floats(0.0, math.pi - 1e-6)
axes = vectors.filter(lambda v: math.hypot(*v) > 1e-3).map(lambda v: scale(1.0 / math.hypot(*v), v))
AXIS = scale(1.0 / math.sqrt(0.14), (0.1, -0.2, 0.3))
DELICATE = [0.0, 1e-300, 1e-160, 1e-16, 1e-8, 1e-4, 0.1, 1.0, 1.9999999, 2.0000001, 3.0]
NEAR_PI = [math.pi - distance for distance in (1e-3, 1e-6, 1e-9, 1e-12, 4e-16)]
AXES = (AXIS, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, -0.8, 0.0), (1e-9, -1.0, 1e-9))


def matrix(R: so3.Matrix) -> np.ndarray:
    return np.reshape(R, (3, 3))


@given(vectors.map(lambda v: scale(10.0, v)))
def test_exp_gives_rotations(w: so3.Vector) -> None:
    R = matrix(so3.exp(w))
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=4e-15)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=4e-15)


@given(axes, angles)
def test_log_inverts_exp(axis: so3.Vector, angle: float) -> None:
    w = scale(angle, axis)
    np.testing.assert_allclose(so3.log(so3.exp(w)), w, rtol=0, atol=4e-15)


@given(axes, st.floats(-10.0, 10.0), st.floats(-10.0, 10.0))
def test_exp_is_a_homomorphism_along_an_axis(axis: so3.Vector, s: float, t: float) -> None:
    both = multiplied(so3.exp(scale(s, axis)), so3.exp(scale(t, axis)))
    np.testing.assert_allclose(both, so3.exp(scale(s + t, axis)), atol=2e-14)


@given(vectors, vectors, vectors)
def test_cross_is_a_lie_bracket(a: so3.Vector, b: so3.Vector, c: so3.Vector) -> None:
    jacobi = add(add(cross(a, cross(b, c)), cross(b, cross(c, a))), cross(c, cross(a, b)))
    np.testing.assert_allclose(jacobi, (0.0, 0.0, 0.0), atol=1e-15)
    np.testing.assert_array_equal(cross(a, b), scale(-1.0, cross(b, a)))


@given(vectors, vectors, vectors)
def test_rotation_preserves_the_bracket(w: so3.Vector, a: so3.Vector, b: so3.Vector) -> None:
    R = so3.exp(w)
    np.testing.assert_allclose(apply(R, cross(a, b)), cross(apply(R, a), apply(R, b)), atol=4e-15)
    np.testing.assert_allclose(apply_transpose(R, apply(R, a)), a, atol=2e-15)


@given(vectors, vectors)
def test_turning_back_is_the_transpose_of_the_rotation(w: so3.Vector, v: so3.Vector) -> None:
    expected = apply_transpose(so3.exp(w), v)
    assert so3.turn_back(w, v) == pytest.approx(expected, rel=0, abs=1e-14 * (1 + np.linalg.norm(v)))


@given(vectors.map(lambda v: scale(3.0, v)))
def test_quaternions_agree_with_matrices(w: so3.Vector) -> None:
    R = so3.exp(w)
    np.testing.assert_allclose(so3.from_quaternion(so3.to_quaternion(R)), R, atol=4e-15)
    assert so3.to_quaternion(R)[0] >= 0.0


@over(*product(DELICATE + NEAR_PI + [4.0, 6.0]))
def test_exp_keeps_all_digits(angle: float) -> None:
    w = scale(angle, AXIS)
    reference = high_precision.rotation(w)
    np.testing.assert_allclose(matrix(so3.exp(w)), reference, rtol=0, atol=3e-16 * max(1.0, angle))
    antisymmetric = matrix(so3.exp(w)) - matrix(so3.exp(w)).T
    np.testing.assert_allclose(antisymmetric, reference - reference.T, rtol=1e-14, atol=4e-16 * min(angle, 1.0))


@over(*product(DELICATE))
def test_log_keeps_all_digits_through_zero(angle: float) -> None:
    w = scale(angle, AXIS)
    found = so3.log(tuple(high_precision.rotation(w).ravel().tolist()))
    np.testing.assert_allclose(found, w, rtol=1e-15, atol=1e-15 * angle)


@over(*product(NEAR_PI, AXES))
def test_log_keeps_all_digits_near_pi(angle: float, axis: so3.Vector) -> None:
    w = np.array(scale(angle, axis))
    found = np.array(so3.log(tuple(high_precision.rotation(tuple(w.tolist())).ravel().tolist())))
    if angle > math.pi - 1e-14 and found @ w < 0.0:
        found = -found  # within round-off of pi both signs are right
    np.testing.assert_allclose(found, w, rtol=0, atol=1.5e-15)


@over(*product(DELICATE + NEAR_PI + [4.0, 6.0]))
def test_tangents_keep_all_digits(angle: float) -> None:
    w = scale(angle, AXIS)
    inverse = high_precision.right_tangent_inverse((0.0, 0.0, 0.0, *w))[:3, :3]
    size = np.abs(inverse).max()
    np.testing.assert_allclose(matrix(so3.left_tangent_inverse(w)), inverse.T, rtol=0, atol=4e-15 * size)
