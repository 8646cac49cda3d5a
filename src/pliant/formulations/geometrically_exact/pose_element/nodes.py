"""Rows of the tree of a mechanism while it grows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    FIXED,
    PRISMATIC,
    REVOLUTE,
    Floats,
)
from pliant.mechanics.rigid_body import transform_inertia
from pliant.robot import Freedom

IDENTITY = np.eye(3)
ORIGIN = np.zeros(3)


@dataclass(frozen=True)
class Place:
    """A frame fixed to a node."""

    node: int
    position: Floats
    rotation: Floats

    def moved(self, position: ArrayLike) -> Place:
        """A frame at a position in this one."""
        return Place(self.node, self.position + self.rotation @ np.asarray(position, float), self.rotation)

    def turned(self, rotation: Floats) -> Place:
        """A frame turned against this one."""
        return Place(self.node, self.position, self.rotation @ rotation)


@dataclass
class Nodes:
    """Rows of the tree while it grows."""

    parent: list[int] = field(default_factory=list)
    hangs: list[int] = field(default_factory=list)
    coordinate: list[int] = field(default_factory=list)
    axis: list[Floats] = field(default_factory=list)
    axis_parent: list[Floats] = field(default_factory=list)
    offset: list[Floats] = field(default_factory=list)
    turn: list[Floats] = field(default_factory=list)
    restarts: list[bool] = field(default_factory=list)
    length: list[float] = field(default_factory=list)
    rest: list[Floats] = field(default_factory=list)
    K: list[Floats] = field(default_factory=list)
    C: list[Floats] = field(default_factory=list)
    inertia: list[Floats] = field(default_factory=list)
    viscous: list[Floats] = field(default_factory=list)
    grip: dict[int, Floats] = field(default_factory=dict)

    def add(self, parent: int, hang: int, offset: ArrayLike = ORIGIN, turn: Floats = IDENTITY) -> int:
        """A node that hangs on its parent rigidly or on nothing; what else it is follows."""
        self.parent.append(parent)
        self.hangs.append(hang)
        self.coordinate.append(-1)
        self.axis.append(np.zeros(3))
        self.axis_parent.append(np.zeros(3))
        self.offset.append(np.asarray(offset, float))
        self.turn.append(np.asarray(turn, float))
        self.restarts.append(False)
        self.length.append(1.0)
        self.rest.append(np.zeros(6))
        for square in (self.K, self.C, self.inertia):
            square.append(np.zeros((6, 6)))
        self.viscous.append(np.zeros(6))
        return len(self.parent) - 1

    def carrier(self, node: int) -> tuple[int, Floats, Floats]:
        """The node to which ``node`` is rigidly fixed in the end, and its pose there."""
        R, r = IDENTITY, ORIGIN
        while self.hangs[node] == FIXED:
            R, r = self.turn[node] @ R, self.offset[node] + self.turn[node] @ r
            node = self.parent[node]
        return node, R, r

    def add_inertia(self, node: int, matrix: Floats) -> None:
        """A rigid body on a node; on a node that is fixed to another the other carries it."""
        at, R, r = self.carrier(node)
        self.inertia[at] = self.inertia[at] + transform_inertia(matrix, R, r)

    def hang(
        self, freedoms: Sequence[Freedom], ball: bool, parent: Place, first: int, backwards: bool = False
    ) -> int:
        """The nodes of the coordinates of a joint, numbered from ``first``; returns the last, which it carries.

        ``backwards`` they lead from the frame that the joint carries to the one that carries it. Those of a ``ball``
        start anew at every step.
        """
        sign = -1.0 if backwards else 1.0
        steps = list(enumerate(freedoms, first))
        if backwards and not ball:
            steps.reverse()
        at, place = parent.node, parent
        for k, (coordinate, freedom) in enumerate(steps):
            node = self.add(at, PRISMATIC if freedom.slides else REVOLUTE, place.position, place.rotation)
            axis = np.asarray(freedom.axis, float)
            self.axis[node] = sign * axis / np.linalg.norm(axis)
            self.axis_parent[node] = place.rotation @ self.axis[node]
            self.coordinate[node] = coordinate
            self.restarts[node] = ball and k == 0
            at, place = node, Place(node, ORIGIN, IDENTITY)
        return at
