"""Frames along an unloaded axis and the inertia of what lies along it.

An axis is a row of pieces of constant strain, each a helix: pose' = pose hat(strain).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.rigid_body import transform_inertia
from pliant.spatial.arrays import pose_from_twist

Array = NDArray[np.float64]

# Gauss points of a piece and their weights
GAUSS = np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
WEIGHT = np.array([5.0, 8.0, 5.0]) / 18.0


def inside_pieces(ends: Array) -> Array:
    """Stations (pieces, 3) of the Gauss points of the pieces between ``ends``."""
    return np.asarray(ends[:-1, None] + np.diff(ends)[:, None] * GAUSS)


def poses_along(strain: Array, width: Array) -> tuple[Array, Array]:
    """Poses (pieces + 1, 4, 4) at the ends of all pieces and (pieces, 3, 4, 4) at their Gauss points.

    In the frame of the first end; ``strain`` (pieces, 6) with its tangent, ``width`` (pieces,).
    """
    steps = pose_from_twist(width[:, None] * strain)
    ends = [np.eye(4)]
    for step in steps:
        ends.append(ends[-1] @ step)
    inside = pose_from_twist(GAUSS[:, None] * (width[:, None] * strain)[:, None])
    return np.array(ends), np.array(ends[:-1])[:, None] @ inside


def inertia_along(inside: Array, width: Array, section: Array) -> Array:
    """Inertia (6, 6) of all pieces; ``inside`` (pieces, 3, 4, 4) and ``section`` (pieces, 3, 6, 6) at Gauss points."""
    total = np.zeros((6, 6))
    for poses, length, sections in zip(inside, width, section):
        for pose, weight, matrix in zip(poses, WEIGHT, sections):
            total += transform_inertia(weight * length * matrix, pose[:3, :3], pose[:3, 3])
    return total
