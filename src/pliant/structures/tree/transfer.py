"""Field transfer matrices [konno1996]: from the frame at the far end of a field to the one at its near end.

The deflection s = (dx, dy, dz, phx, phy, phz) of equation (5) displaces the far end along the axes of the near end and
turns it about x, then about its new y, then about its newest z. In a chain of fields and joints these are scalar
joints, which is how the equations of motion see them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput

Floats = NDArray[np.float64]


def field_transfer(length: float, deflection: ArrayLike) -> Floats:
    """The exact matrix (6), (4, 4)."""
    dx, dy, dz, phx, phy, phz = _six(deflection)
    transfer = np.eye(4)
    transfer[:3, :3] = turned_in_order(np.array([phx, phy, phz]))
    transfer[:3, 3] = length + dx, dy, dz
    return transfer


def small_field_transfer(length: float, deflection: ArrayLike) -> Floats:
    """The matrix (7) for small turns and no stretch, (4, 4): it differs from (6) by terms of second order and by dx."""
    _, dy, dz, phx, phy, phz = _six(deflection)
    return np.array(
        [
            [1.0, -phz, phy, length],
            [phz, 1.0, -phx, dy],
            [-phy, phx, 1.0, dz],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def _six(deflection: ArrayLike) -> Floats:
    values = np.asarray(deflection, float)
    if values.shape != (6,):
        raise InvalidInput(
            f"deflection has {values.size} numbers; give six, (dx, dy, dz) in m and (phx, phy, phz) in rad"
        )
    return values


def turned_in_order(turns: Floats) -> Floats:
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
