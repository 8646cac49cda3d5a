"""The tip of a link in a run: where it was, how it moved, and how far it was from that of the undeformed arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.model.state import Array, Observation
from pliant.robot import BASE, Robot


@dataclass(frozen=True, eq=False)
class Tip:
    """The tip of ``link`` at n times.

    ``position`` (n, 3) in the world, metre; ``rotation`` (n, 3, 3) from tip frame to world; ``twist`` (n, 6) velocity,
    then angular rate, in the tip's own axes. ``rigid`` gives the rigid position when it is first asked for.
    """

    link: str
    position: Array
    rotation: Array
    twist: Array
    rigid: Callable[[], Array] = field(repr=False)

    @cached_property
    def rigid_position(self) -> Array:
        """(n, 3) where the tip of the undeformed arm would be at the same joint positions, metre."""
        return self.rigid()

    def at(self, rows: NDArray[np.int64]) -> Tip:
        """The same at some of the times."""
        position, rotation, twist = (each[rows] for each in (self.position, self.rotation, self.twist))
        return Tip(self.link, position, rotation, twist, lambda: self.rigid_position[rows])

    @property
    def deflection(self) -> Array:
        """(n, 3) position minus that of the undeformed arm, in world axes, metre."""
        return self.position - self.rigid_position

    @cached_property
    def quaternion(self) -> Array:
        """(n, 4) the rotation as unit quaternions (w, x, y, z), the first with w >= 0, without jumps of sign."""
        from scipy.spatial.transform import Rotation

        turns = Rotation.from_matrix(self.rotation)
        quaternion: Array = turns.as_quat(canonical=True, scalar_first=True)
        turned = np.sum(quaternion[1:] * quaternion[:-1], axis=1) < 0.0
        quaternion[1:] *= np.where(np.cumsum(turned) % 2 == 1, -1.0, 1.0)[:, None]
        return quaternion


def rigid_positions(robot: Robot, seen: Observation, undeformed: Observation) -> dict[str, Array]:
    """Of every link, where its tip (n, 3) would be if no link were deformed and all joints were as ``seen``.

    ``undeformed`` is the arm in any posture: of it the way from root to tip of each link is taken. Joints are taken as
    they lie between two links, since ball and free joints have no coordinates that tell how they are turned. They sit
    at tips of links.
    """
    positions = {}
    lag: dict[str, tuple[Array, Array]] = {}  # from the tip of a link as seen to where it would be: rotation, shift
    for joint in robot.chain_order:
        link, still = seen.link(joint.child), undeformed.link(joint.child)
        x, R = link.position, link.rotation
        if joint.parent != BASE:
            turn, shift = lag[joint.parent]
            x, R = np.einsum("nij,nkj->nki", turn, x) + shift[:, None], turn[:, None] @ R
        along = np.swapaxes(still.rotation[:, 0], 1, 2)
        way, turned = along @ (still.position[:, -1] - still.position[:, 0])[..., None], along @ still.rotation[:, -1]
        tip, rotation = x[:, 0] + (R[:, 0] @ way)[..., 0], R[:, 0] @ turned
        turn = rotation @ np.swapaxes(link.rotation[:, -1], 1, 2)
        lag[joint.child] = turn, tip - np.einsum("nij,nj->ni", turn, link.position[:, -1])
        positions[joint.child] = tip
    return positions
