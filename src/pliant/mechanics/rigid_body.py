"""Spatial inertia of rigid bodies, 6 x 6 in the order (linear, angular).

Frames along an unloaded axis and the inertia of what lies along it.

An axis is a row of pieces of constant strain, each a helix: pose' = pose hat(strain).
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.spatial.arrays import hat as hat
from pliant.spatial.arrays import pose_from_twist, to_frame

if TYPE_CHECKING:
    from pliant.robot import FlexibleLink

Array = NDArray[np.float64]


def matrix_of(quaternion: ArrayLike) -> Array:
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    given = np.asarray(quaternion, float)
    w, x, y, z = (given / math.sqrt(given.dot(given))).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def spatial_inertia(mass: ArrayLike, center: ArrayLike, inertia: ArrayLike) -> Array:
    """Inertia about the frame's origin; ``inertia`` (3 principal values or 3 x 3) is about the centre of mass.

    Of one body, or of many with leading axes.
    """
    J = np.asarray(inertia, dtype=float)
    J = np.diag(J) if J.ndim == 1 else J
    c, m = hat(center), np.asarray(mass, float)[..., None, None]
    matrix = np.zeros((*c.shape[:-2], 6, 6))
    matrix[..., :3, :3], matrix[..., 3:, 3:] = m * np.eye(3), J - m * c @ c
    matrix[..., :3, 3:], matrix[..., 3:, :3] = -m * c, m * c
    return matrix


def transform_inertia(matrix: Array, R: Array, r: Array) -> Array:
    """A matrix given in a frame with pose (R, r), seen from the frame in which that pose is written."""
    to_body = to_frame(R, r)
    return to_body.T @ matrix @ to_body


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
    to_body = to_frame(inside[..., :3, :3], inside[..., :3, 3])
    weighted = (width[:, None] * WEIGHT)[..., None, None] * section
    return np.asarray((to_body.swapaxes(-1, -2) @ weighted @ to_body).sum(axis=(0, 1)))


PIECES = 64  # of a flexible link between jumps of its properties; each is a helix, exact for straight links and arcs


def along_rest_shape(link: FlexibleLink, end: float) -> tuple[Array, Array]:
    """Inertia of a flexible link up to a station about its root, and the pose (4, 4) of the section there."""
    marks = [0.0, *(mark for mark in link.breakpoints if mark < end), end]
    ends = np.unique(np.concatenate([np.linspace(a, b, PIECES + 1) for a, b in itertools.pairwise(marks)]))
    width = np.diff(ends)
    poses, inside = poses_along(link.rest_strain(0.5 * (ends[1:] + ends[:-1])), width)
    sections = link.inertia(inside_pieces(ends).ravel()).reshape(len(width), 3, 6, 6)
    return inertia_along(inside, width, sections), poses[-1]


def element_ends(link: FlexibleLink, count: int) -> Array:
    """Ends of about ``count`` elements; every breakpoint of the link's properties is one of them."""
    marks = np.array([0.0, *link.breakpoints, link.length])
    ends = [np.zeros(1)]
    for a, b in itertools.pairwise(marks):
        pieces = max(1, round(count * (b - a) / link.length))
        ends.append(np.linspace(a, b, pieces + 1)[1:])
    return np.concatenate(ends)
