"""The kernels of this folder for NumPy arrays, with any number of leading axes.

Poses are 4x4 matrices that map body to world; twists are ordered (linear, angular).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.spatial import se3, so3

Array = NDArray[np.float64]


def rotation_from_vector(vectors: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of rotation vectors (..., 3)."""
    return _each(so3.exp, vectors, (3,), (3, 3))


def vector_from_rotation(rotations: ArrayLike) -> Array:
    """Rotation vectors (..., 3), at most pi long, of rotation matrices (..., 3, 3)."""
    return _each(so3.log, rotations, (3, 3), (3,))


def quaternion_from_rotation(rotations: ArrayLike) -> Array:
    """Unit quaternions (w, x, y, z) with w >= 0 of rotation matrices (..., 3, 3)."""
    return _each(so3.to_quaternion, rotations, (3, 3), (4,))


def rotation_from_quaternion(quaternions: ArrayLike) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (w, x, y, z), which need not have unit length."""
    given = np.asarray(quaternions, float)
    return _each(so3.from_quaternion, given / np.linalg.norm(given, axis=-1, keepdims=True), (4,), (3, 3))


def pose_from_twist(twists: ArrayLike) -> Array:
    """Poses (..., 4, 4) reached after unit time with the constant body twists (..., 6)."""
    return _each(lambda twist: _homogeneous(se3.exp(twist)), twists, (6,), (4, 4))


def twist_from_pose(poses: ArrayLike) -> Array:
    """Twists (..., 6) of least rotation whose exponentials are the poses (..., 4, 4)."""
    return _each(lambda pose: se3.log(_pair(pose)), poses, (4, 4), (6,))


def adjoint_of_pose(poses: ArrayLike) -> Array:
    """Matrices (..., 6, 6) that carry body twists into the frame that the pose maps to."""
    return _each(lambda pose: _columns(se3.Ad, _pair(pose)), poses, (4, 4), (6, 6))


def adjoint_of_twist(twists: ArrayLike) -> Array:
    """Matrices (..., 6, 6) of the bracket with a twist."""
    return _each(lambda twist: _columns(se3.ad, twist), twists, (6,), (6, 6))


def right_tangent(twists: ArrayLike) -> Array:
    """Matrices (..., 6, 6) T with exp(x + d) = exp(x) exp(T d) to first order."""
    return _each(lambda x: _columns(se3.apply_blocks, se3.right_tangent(x)), twists, (6,), (6, 6))


def right_tangent_inverse(twists: ArrayLike) -> Array:
    """Inverses (..., 6, 6) of the right tangents; the rotation must stay below a full turn."""
    return _each(lambda x: _columns(se3.apply_blocks, se3.right_tangent_inverse(x)), twists, (6,), (6, 6))


def _each(
    function: Callable[[Any], Any], values: ArrayLike, given: tuple[int, ...], wanted: tuple[int, ...]
) -> Array:
    array = np.asarray(values, float)
    leading = array.shape[: array.ndim - len(given)]
    if array.shape[len(leading) :] != given:
        raise ValueError(
            f"shape {array.shape} does not end in {given}; pass arrays whose last axes are {given}"
        )
    rows = array.reshape(-1, int(np.prod(given))).tolist()
    return np.array([function(tuple(row)) for row in rows], float).reshape(leading + wanted)


def _columns(action: Callable[[Any, Any], se3.Twist], actor: object) -> Array:
    return np.array([action(actor, tuple(unit)) for unit in np.eye(6).tolist()]).T


def _pair(H: tuple[float, ...]) -> se3.Pose:
    return ((H[0], H[1], H[2], H[4], H[5], H[6], H[8], H[9], H[10]), (H[3], H[7], H[11]))


def _homogeneous(g: se3.Pose) -> Array:
    H = np.eye(4)
    H[:3, :3] = np.reshape(g[0], (3, 3))
    H[:3, 3] = g[1]
    return H
