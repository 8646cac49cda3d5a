"""The kernels of this folder for NumPy arrays, with any number of leading axes.

Poses are 4x4 matrices that map body to world; twists are ordered (linear, angular).

Matrices of twists and wrenches for derivatives, with any number of leading axes, of real or complex numbers.

Complex numbers serve derivatives: f(x + i h d) / h has the derivative of f along d as its imaginary part, with no
difference of nearly equal numbers, so that h may be as small as numbers go.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.jit import kernel
from pliant.spatial import se3, so3

Array = NDArray[np.float64]


def rotation_from_vector(vectors: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    return _all(_turns, vectors, (3,), (3, 3))


def vector_from_rotation(rotations: ArrayLike) -> Array:
    """Rotation vectors (..., 3), at most pi long, of rotation matrices (..., 3, 3)."""
    return _each(so3.log, rotations, (3, 3), (3,))


def quaternion_from_rotation(rotations: ArrayLike) -> Array:
    """Unit quaternions (w, x, y, z) with w >= 0 of rotation matrices (..., 3, 3)."""
    return _all(_quaternions, rotations, (3, 3), (4,))


def rotation_from_quaternion(quaternions: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (w, x, y, z), which need not have unit length."""
    given = np.asarray(quaternions, float)
    return _all(_rotations, given / np.linalg.norm(given, axis=-1, keepdims=True), (4,), (3, 3))


def pose_from_twist(twists: ArrayLike) -> Array:
    """Poses (..., 4, 4) reached after unit time with the constant body twists (..., 6)."""
    return _all(_exponentials, twists, (6,), (4, 4))


def twist_from_pose(poses: ArrayLike) -> Array:
    """Twists (..., 6) of least rotation whose exponentials are the poses (..., 4, 4)."""
    return _all(_logarithms, poses, (4, 4), (6,))


def right_tangent(twists: ArrayLike) -> Array:
    """Matrices (..., 6, 6) T with exp(x + d) = exp(x) exp(T d) to first order."""
    blocks = _each(se3.right_tangent, twists, (6,), (2, 3, 3))
    out = np.zeros((*blocks.shape[:-3], 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = blocks[..., 0, :, :]
    out[..., :3, 3:] = blocks[..., 1, :, :]
    return out


def right_tangent_inverse(twists: ArrayLike) -> Array:
    """Their inverses J (..., 6, 6): log(exp(x) exp(d)) = x + J d to first order; for turns below a full one."""
    return _all(_inverse_tangents, twists, (6,), (6, 6))


def _rows(values: ArrayLike, given: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
    """The values with the axes ``given`` in one row each, and the leading axes."""
    array = np.ascontiguousarray(values, float)
    leading = array.shape[: -len(given)]
    if array.shape[len(leading) :] != given:
        raise ValueError(f"shape {array.shape} does not end in {given}; pass arrays whose last axes are {given}")
    return array.reshape(-1, prod(given)), leading


def _each(function: Callable[[Any], Any], values: ArrayLike, given: tuple[int, ...], wanted: tuple[int, ...]) -> Array:
    rows, leading = _rows(values, given)
    return np.array([function(tuple(row)) for row in rows.tolist()], float).reshape(leading + wanted)


def _all(
    fill: Callable[[Array, Array], None], values: ArrayLike, given: tuple[int, ...], wanted: tuple[int, ...]
) -> Array:
    """For the functions that results ask for by the thousand: the loop over rows is compiled."""
    rows, leading = _rows(values, given)
    out = np.zeros((len(rows), prod(wanted)))
    fill(rows, out)
    return out.reshape(leading + wanted)


@kernel
def _rotations(q: Array, out: Array) -> None:
    for i in range(q.shape[0]):
        R = so3.from_quaternion((q[i, 0], q[i, 1], q[i, 2], q[i, 3]))
        for k in range(9):
            out[i, k] = R[k]


@kernel
def _exponentials(x: Array, out: Array) -> None:
    for i in range(x.shape[0]):
        R, r = se3.exp((x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5]))
        for k in range(3):
            for j in range(3):
                out[i, 4 * k + j] = R[3 * k + j]
            out[i, 4 * k + 3] = r[k]
        out[i, 15] = 1.0


@kernel
def _logarithms(H: Array, out: Array) -> None:
    for i in range(H.shape[0]):
        R = (H[i, 0], H[i, 1], H[i, 2], H[i, 4], H[i, 5], H[i, 6], H[i, 8], H[i, 9], H[i, 10])
        x = se3.log((R, (H[i, 3], H[i, 7], H[i, 11])))
        for k in range(6):
            out[i, k] = x[k]


@kernel
def _turns(w: Array, out: Array) -> None:
    for i in range(w.shape[0]):
        R = so3.exp((w[i, 0], w[i, 1], w[i, 2]))
        for k in range(9):
            out[i, k] = R[k]


@kernel
def _quaternions(R: Array, out: Array) -> None:
    for i in range(R.shape[0]):
        turn = (R[i, 0], R[i, 1], R[i, 2], R[i, 3], R[i, 4], R[i, 5], R[i, 6], R[i, 7], R[i, 8])
        q = so3.to_quaternion(turn)
        for k in range(4):
            out[i, k] = q[k]


@kernel
def _inverse_tangents(x: Array, out: Array) -> None:
    """Matrices [[J, Q], [0, J]]."""
    for i in range(x.shape[0]):
        J, Q = se3.right_tangent_inverse((x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5]))
        for k in range(3):
            for j in range(3):
                out[i, 6 * k + j] = out[i, 6 * k + j + 21] = J[3 * k + j]
                out[i, 6 * k + j + 3] = Q[3 * k + j]


Numbers = NDArray[Any]

STEP = 1e-30  # of complex derivatives; its square is nothing beside one

# of a skew matrix: which component stands where, and its sign
PLACES = np.array([[0, 2, 1], [2, 1, 0], [1, 0, 2]])
SIGNS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def hat(vectors: ArrayLike) -> Numbers:
    """Skew matrices (..., 3, 3): hat(a) b = a x b."""
    found: Numbers = np.asarray(vectors).take(PLACES, axis=-1) * SIGNS
    return found


def bracket(x: Numbers) -> Numbers:
    """Matrices (..., 6, 6) of the bracket with twists (linear, angular)."""
    out = np.zeros((*x.shape[:-1], 6, 6), x.dtype)
    turn = hat(x[..., 3:])
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, 3:] = turn, hat(x[..., :3]), turn
    return out


def dual_bracket(wrench: Numbers) -> Numbers:
    """Matrices (..., 6, 6) G with  G x = bracket(x)^T wrench  for every twist x."""
    out = np.zeros((*wrench.shape[:-1], 6, 6), wrench.dtype)
    force = hat(wrench[..., :3])
    out[..., :3, 3:], out[..., 3:, :3], out[..., 3:, 3:] = force, force, hat(wrench[..., 3:])
    return out


def to_frame(R: Numbers, r: Numbers) -> Numbers:
    """Matrices (..., 6, 6) that carry body twists of a frame to the frame at the pose (R, r) on the same body."""
    back = R.swapaxes(-1, -2)
    out = np.zeros((*r.shape[:-1], 6, 6), np.result_type(R, r))
    out[..., :3, :3] = out[..., 3:, 3:] = back
    out[..., :3, 3:] = back @ hat(-r)
    return out


def turned_in_order(turns: Numbers) -> Numbers:
    """Rotations (..., 3, 3) about x, then about the new y, then about the newest z, by angles (..., 3)."""
    c, s = np.cos(turns), np.sin(turns)
    cx, cy, cz = np.moveaxis(c, -1, 0)
    sx, sy, sz = np.moveaxis(s, -1, 0)
    rows = [
        [cy * cz, -cy * sz, sy],
        [sx * sy * cz + cx * sz, -sx * sy * sz + cx * cz, -sx * cy],
        [-cx * sy * cz + sx * sz, cx * sy * sz + sx * cz, cx * cy],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
