"""Joints that move nothing that has inertia have no equation of motion: they are refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput

Floats = NDArray[np.float64]

NO_INERTIA = 1e-11  # part of the inertia of the same axis with all its mass at reach, or of a scaled mass matrix
TAKES_PART = 0.05  # of the largest share in a motion


def refuse_massless(mass: Floats, largest: Floats, names: Sequence[str]) -> None:
    """Refuse joints that move nothing, by a mass matrix of joint rates; ``largest`` (n,) counts as one."""
    own = mass.diagonal()
    for k in np.flatnonzero(own <= NO_INERTIA * largest).tolist():
        raise InvalidInput(
            f"joint '{names[k]}' moves nothing that has inertia along or about its axis; give what it carries a mass or"
            " inertia, prescribe its motion, or make the joint fixed"
        )
    scale = np.sqrt(own)
    size, shape = np.linalg.eigh(mass / np.outer(scale, scale))
    if not len(size) or size[0] >= NO_INERTIA:
        return
    share = np.abs(shape[:, 0])
    joints = [f"'{name}'" for name, part in zip(names, share) if part > TAKES_PART * share.max()]
    raise InvalidInput(
        f"joints {', '.join(joints)} can move together without moving anything that has inertia; give what they"
        " carry an inertia, prescribe one of their motions, or make one of them fixed"
    )
