"""Frames fixed to bodies: where joints, loads and components act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.mechanics.rigid_body import matrix_of
from pliant.robot import At, End
from pliant.robot.joint import BASE

Floats = NDArray[np.float64]
ORIGIN = np.zeros(3)
IDENTITY = np.eye(3)


@dataclass(frozen=True, eq=False)
class Place:
    """A frame fixed to a body: to a node of a mechanism, or to a body of a tree."""

    body: int
    position: Floats = field(default_factory=lambda: ORIGIN)
    rotation: Floats = field(default_factory=lambda: IDENTITY)

    def moved(self, position: ArrayLike) -> Place:
        """A frame at a position in this one."""
        return Place(self.body, self.position + self.rotation @ np.asarray(position, float), self.rotation)

    def turned(self, rotation: Floats) -> Place:
        """A frame turned against this one."""
        return Place(self.body, self.position, self.rotation @ rotation)

    def at(self, pose: Floats) -> Place:
        """A frame with a pose (4, 4) in this one."""
        return self.moved(pose[:3, 3]).turned(pose[:3, :3])

    def pose(self, x: Floats, R: Floats) -> tuple[Floats, Floats]:
        """Position and rotation in the world, for positions (bodies, 3) and rotations (bodies, 3, 3) of all bodies."""
        return x[self.body] + R[self.body] @ self.position, R[self.body] @ self.rotation


class Link(Protocol):
    """What is known of a link of a structure."""

    @property
    def root(self) -> Place: ...
    @property
    def tip(self) -> Place: ...


L = TypeVar("L", bound=Link)


def place_on(links: Mapping[str, L], base: Place, at: At, at_station: Callable[[L, float], Place]) -> Place:
    """The frame of a section of one of the links, or of the base."""
    if at.link != BASE:
        link = links[at.link]
        base = link.tip if at.end is End.TIP else link.root
        if at.station is not None:
            base = at_station(link, at.station)
    return base.moved(at.position).turned(matrix_of(at.rotation))
