"""Rotations by unit quaternions (w, x, y, z) for many vectors or angles at once."""

from __future__ import annotations

import numpy as np

from pliant.model.layout import Array
from pliant.robot.quantity import Quaternion, Vector3


def rotated(rotation: Quaternion, vectors: Array) -> Array:
    """The vectors (..., 3) turned by a quaternion."""
    w, v = rotation[0], np.asarray(rotation[1:])
    twice_across = 2.0 * np.cross(v, vectors)
    turned: Array = vectors + w * twice_across + np.cross(v, twice_across)
    return turned


def turned_about(rotation: Quaternion, axis: Vector3, angle: Array) -> Array:
    """The quaternions (n, 4) of turns about an axis by the angles (n,), followed by a fixed rotation.

    They go on smoothly past full turns, where their sign changes.
    """
    w, v, a = rotation[0], np.asarray(rotation[1:]), np.asarray(axis)
    cosine, sine = np.cos(0.5 * angle), np.sin(0.5 * angle)
    vector = np.multiply.outer(cosine, v) + np.multiply.outer(sine, w * a + np.cross(v, a))
    return np.column_stack([w * cosine - (v @ a) * sine, vector])
