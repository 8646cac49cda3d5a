"""How tips are seen to move where the turns of fields are no coordinates.

The tree carries a frame with the axes A; seen is it turned statically on, as the axes R. Displacements are those of the
tree, in other axes. Turns change with the coordinates in two ways, with the tree and with the deflections, which
themselves depend on the joints between them; so they are found by differences of R.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.lumped.observe import poses_of
from pliant.formulations.lumped.structure import Floats

if TYPE_CHECKING:
    from pliant.formulations.lumped.model import LumpedArm
    from pliant.formulations.lumped.small_motions import Maps

PROBE = 1e-3  # rad, or part of the reach, for differences of fourth order


def seen_tips(arm: LumpedArm, maps: Maps, q: Floats) -> list[Floats]:
    """(6, coordinates) body displacement of the tip of each link, in the axes in which it is seen."""
    system = maps.system
    moving = np.setdiff1d(np.arange(system.size), system.structure.base)
    size = PROBE * np.where(system.tree.kind < 3, 1.0, arm.reach)[moving]
    ways = np.zeros((4, len(moving), system.size))
    ways[:, np.arange(len(moving)), moving] = np.outer([-2.0, -1.0, 1.0, 2.0], size)
    around = np.concatenate([q + ways.reshape(-1, system.size), q[None]])
    poses = poses_of(arm, arm.states_of(system, around, np.zeros_like(around)))
    answer = []
    for link, loose in zip(arm.structure.links, system.structure.links, strict=True):
        _, R = poses.at(link.tip)
        turned = R[-1].T @ R[:-1].reshape(4, len(moving), 3, 3)
        skew = 0.5 * (turned - np.swapaxes(turned, -1, -2))
        sines = np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)
        slope = np.einsum("w,wki->ik", np.array([1.0, -8.0, 8.0, -1.0]) / 12.0, sines) / size
        rows = np.kron(np.eye(2), R[-1].T @ maps.axes(loose.tip)) @ maps.rate(loose.tip)
        own = np.zeros((3, system.size))
        own[:, moving] = slope
        driven = np.isin(maps.order, moving)
        rows[3:, driven] = own[:, maps.order[driven]]
        answer.append(rows)
    return answer
