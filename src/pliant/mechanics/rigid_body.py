"""Spatial inertia of rigid bodies, 6 x 6 in the order (linear, angular)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def matrix_of(quaternion: ArrayLike) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(np.asarray(quaternion, dtype=float))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def hat(vector: ArrayLike) -> Array:
    """Skew matrix: hat(a) b = a x b."""
    x, y, z = np.asarray(vector, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def spatial_inertia(mass: float, center: ArrayLike, inertia: ArrayLike) -> Array:
    """Inertia about the frame's origin; ``inertia`` (3 principal values or 3 x 3) is about the centre of mass."""
    J = np.asarray(inertia, dtype=float)
    J = np.diag(J) if J.ndim == 1 else J
    c = hat(center)
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = mass * np.eye(3)
    matrix[:3, 3:] = -mass * c
    matrix[3:, :3] = mass * c
    matrix[3:, 3:] = J - mass * c @ c
    return matrix


def transform_inertia(matrix: Array, R: Array, r: Array) -> Array:
    """A matrix given in a frame with pose (R, r), seen from the frame in which that pose is written."""
    to_body = np.zeros((6, 6))
    to_body[:3, :3] = R.T
    to_body[:3, 3:] = -R.T @ hat(r)
    to_body[3:, 3:] = R.T
    return to_body.T @ matrix @ to_body
