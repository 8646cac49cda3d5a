"""How far the tip of a link is from where it would be if the link were straight: its shadow must always be named."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from pliant.model.state import Array, LinkObservation


class Shadow(StrEnum):
    """The straight link from which a deflection is counted."""

    ROOT_SECTION = "from its root section"  # it begins where the link does, along the normal of the first section
    MOVED_ELBOW = "from the moved elbow, with the axes of the rigid arm"
    RIGID_ARM = "from the rigid arm"  # no link of the arm is bent


def from_root_section(link: LinkObservation) -> Array:
    """(n, 3) tip against the straight link along the normal of its first section, in the axes of that section, m."""
    reach: Array = np.einsum("nji,nj->ni", link.rotation[:, 0], link.position[:, -1] - link.position[:, 0])
    reach[:, 0] -= link.station[-1]
    return reach


def largest(values: Array) -> float:
    return float(np.abs(values).max())
