"""Rows of the tree of a mechanism while it grows.

Tables of lines while a mechanism is assembled.

Coordinates of joints that close a loop.

A loop joint that obeys a law or is driven is part of the tree like any joint. What it carries there is its *head*: half
of the body on one of its two sides, cut off and welded back by six constraints. The parts move together to round-off,
so mass, energy and all laws are those of one body, and every law, drive and result of a coordinate serves here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import transform_inertia
from pliant.robot import Freedom, Joint, LoopJoint, SphericalJoint, UniversalJoint
from pliant.spatial.arrays import quaternion_from_rotation
from pliant.structures.joint_tables import Laws
from pliant.structures.loop_constraints import weld_rows
from pliant.structures.nodal.codes import FIXED, PRISMATIC, REVOLUTE
from pliant.structures.nodal.mechanism import Floats, Tree
from pliant.structures.places import IDENTITY, ORIGIN, Place
from pliant.structures.relations import LineRows, carried_frame

NOTHING = np.zeros(6)


@dataclass
class Node:
    """A row of the tree; what else a node is than its place follows."""

    parent: int
    joint_type: int
    offset: Floats
    turn: Floats
    coordinate: int = -1
    axis: Floats = field(default_factory=lambda: np.zeros(3))
    axis_parent: Floats = field(default_factory=lambda: np.zeros(3))
    restarts: bool = False
    length: float = 1.0
    rest: Floats = field(default_factory=lambda: np.zeros(6))
    K: Floats = field(default_factory=lambda: np.zeros((6, 6)))
    C: Floats = field(default_factory=lambda: np.zeros((6, 6)))
    rest_twist: Floats = field(default_factory=lambda: np.zeros(6))
    seen: Floats = field(default_factory=lambda: np.zeros((2, 6, 6)))
    shared: Floats = field(default_factory=lambda: np.zeros(4))
    shares: bool = False  # inertia with another node, and then carries no body off its origin
    inertia: Floats = field(default_factory=lambda: np.zeros((6, 6)))
    viscous: Floats = field(default_factory=lambda: np.zeros(6))
    grip: Floats | None = None


@dataclass
class Nodes:
    """Rows of the tree while it grows."""

    rows: list[Node] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, node: int) -> Node:
        return self.rows[node]

    def columns(self, *names: str) -> list[Any]:
        """One array of all rows for each name."""
        return [np.array([getattr(row, name) for row in self.rows]) for name in names]

    def add(self, parent: int, joint_type: int, offset: ArrayLike = ORIGIN, turn: Floats = IDENTITY) -> int:
        """A node fixed to its parent, or without one."""
        self.rows.append(Node(parent, joint_type, np.asarray(offset, float), np.asarray(turn, float)))
        return len(self) - 1

    def carrier(self, node: int) -> tuple[int, Floats, Floats]:
        """The node to which ``node`` is rigidly fixed in the end, and its pose there."""
        R, r = IDENTITY, ORIGIN
        while self[node].joint_type == FIXED:
            R, r = self[node].turn @ R, self[node].offset + self[node].turn @ r
            node = self[node].parent
        return node, R, r

    def add_inertia(self, node: int, matrix: Floats) -> None:
        """A rigid body on a node; on a node that is fixed to another the other carries it.

        Nodes that share inertia carry what is centred on them. Other bodies ride on a node of their own.
        """
        at, R, r = self.carrier(node)
        moved = transform_inertia(matrix, R, r)
        if self[at].shares and _is_off_center(moved):
            at, moved = node, matrix
            if self[node].joint_type != FIXED or (self[node].shares and _is_off_center(matrix)):
                at = self.add(node, FIXED)
        self[at].inertia = self[at].inertia + moved

    def add_joint(
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
        at, place = parent.body, parent
        for k, (coordinate, freedom) in enumerate(steps):
            at = self.add(at, PRISMATIC if freedom.translates else REVOLUTE, place.position, place.rotation)
            node, axis = self[at], np.asarray(freedom.axis, float)
            node.axis = sign * axis / np.linalg.norm(axis)
            node.axis_parent = place.rotation @ node.axis
            node.coordinate, node.restarts = coordinate, ball and k == 0
            place = Place(at)
        return at


def _is_off_center(inertia: Floats) -> bool:
    """Whether the centre of mass lies off the origin of the frame."""
    return bool(np.abs(inertia[:3, 3:]).max() > 1e-12 * inertia[0, 0])


SHARE = 0.5  # of the inertia of a body that its head takes
LEAST = 1e-12  # part of the inertia of a body about its heaviest axis, below which it has none about another


@dataclass(frozen=True, eq=False)
class Head:
    """A loop joint with coordinates: what carries it, and what its head is welded to."""

    name: str
    joint: Joint
    first: Place
    second: Place
    nodes: range  # of its coordinates, the head last
    coordinates: range
    backwards: bool  # carried by the second frame and welded to the first

    @property
    def node(self) -> int:
        """The head."""
        return self.nodes[-1]

    @property
    def carrier(self) -> Place:
        """The frame that its first coordinate moves against."""
        return self.second if self.backwards else self.first

    @property
    def welded_to(self) -> Place:
        return self.first if self.backwards else self.second

    def positions(self, x: Floats, R: Floats) -> Floats:
        """Its coordinates for poses of all nodes at which the loop is closed, or those nearest to it."""
        first, second = self.first, self.second
        (_, R1), (x2, R2) = first.pose(x, R), second.pose(x, R)
        between = R1.T @ (x2 - x[first.body] - R[first.body] @ first.position)
        return _positions(self.joint, between, R1.T @ R2)

    def ball_turn(self, R: Floats) -> Floats | None:
        """Rotation of the head of a ball joint against its carrier for poses of all nodes."""
        if not isinstance(self.joint, SphericalJoint):
            return None
        at, to = self.carrier, self.welded_to
        return np.asarray((R[at.body] @ at.rotation).T @ R[to.body] @ to.rotation)

    def rates(self, tree: Tree, x: Floats, R: Floats, v: Floats, omega: Floats) -> Floats:
        """Of its coordinates for poses, velocities and spins (world) of all nodes, as near as they fit."""
        at, to, here = self.carrier.body, self.welded_to.body, x[self.node]
        columns = np.zeros((6, len(self.nodes)))
        for i in self.nodes:
            axis, column = R[i] @ tree.axis[i], tree.coordinate[i] - self.coordinates[0]
            if tree.joint_type[i] == PRISMATIC:
                columns[:3, column] = axis
            else:
                columns[:3, column], columns[3:, column] = np.cross(axis, here - x[i]), axis
        linear = v[to] + np.cross(omega[to], here - x[to]) - v[at] - np.cross(omega[at], here - x[at])
        wanted = np.concatenate([linear, omega[to] - omega[at]])
        return np.asarray(np.linalg.lstsq(columns, wanted, rcond=None)[0])


def _positions(joint: Joint, between: Floats, turn: Floats) -> Floats:
    """Coordinates of a joint from the position and rotation of the frame that it carries against its own."""
    if isinstance(joint, SphericalJoint):
        return np.zeros(3)  # they start anew from any rotation
    axes = [np.asarray(freedom.axis, float) for freedom in joint.freedoms]
    if isinstance(joint, UniversalJoint):
        one, two = axes
        across = np.cross(one, two)
        first = np.arctan2(across @ turn @ two, two @ turn @ two)
        second = np.arctan2(one @ turn @ across, one @ turn @ one)
        return np.array([first, second])
    w, *imaginary = quaternion_from_rotation(turn[None])[0]
    return np.array(
        [
            axis @ between if freedom.translates else np.angle(np.exp(2j * np.arctan2(axis @ imaginary, w)))
            for axis, freedom in zip(axes, joint.freedoms)
        ]
    )


def lay_head(nodes: Nodes, laws: Laws, lines: LineRows, loop: LoopJoint, first: Place, second: Place) -> Head:
    """The coordinates of a loop joint, with a head that takes a share of the body it is welded to."""
    joint = loop.joint
    second = carried_frame(loop, second)
    backwards, body, share = False, second, _share(nodes, joint, second)
    if share is None:
        backwards, body, share = True, first, _share(nodes, joint, first)
    if share is None:
        raise InvalidInput(
            f"loop joint '{loop.name}' has coordinates, but links '{loop.first.link}' and '{loop.second.link}' have no"
            " inertia along them; give one of the links a mass and inertia, or close the loop at another joint"
        )
    ball = isinstance(joint, SphericalJoint)
    number = laws.add(joint, joint.freedoms, ball)
    begin = len(nodes)
    carrier = second if backwards else first
    node = nodes.add_joint(joint.freedoms, ball, carrier, number, backwards)
    head = Place(node)
    at, _, _ = nodes.carrier(body.body)
    nodes[at].inertia = (1.0 - SHARE) * nodes[at].inertia
    nodes[node].inertia = share
    lines.close(loop.name, weld_rows(), *((first, head) if backwards else (head, second)))
    if isinstance(joint, SphericalJoint):
        lines.hold_ball(joint, first, second)
    coordinates = range(number, number + len(joint.freedoms))
    return Head(loop.name, joint, first, second, range(begin, node + 1), coordinates, backwards)


def _share(nodes: Nodes, joint: Joint, body: Place) -> Floats | None:
    """What the head takes of a body, in its own frame; None where that has no inertia along the coordinates."""
    at, R, r = nodes.carrier(body.body)
    R, r = R @ body.rotation, r + R @ body.position
    share = SHARE * transform_inertia(nodes[at].inertia, R.T, -R.T @ r)
    heaviest = float(np.trace(share[3:, 3:]))
    for freedom in joint.freedoms:
        axis = np.asarray(freedom.axis, float)
        if freedom.translates and not share[0, 0] > 0.0:
            return None
        if not freedom.translates and not axis @ share[3:, 3:] @ axis > LEAST * heaviest:
            return None
    return np.asarray(share)
