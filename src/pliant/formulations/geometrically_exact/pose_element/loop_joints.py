"""Coordinates of joints that close a loop.

A loop joint that obeys a law or is driven hangs in the tree like any joint. What it carries there is its *head*: half
of the body on one of its two sides, cut off and welded back by six closures. The parts move together to round-off, so
mass, energy and all laws are those of one body, and every law, drive and result of a coordinate serves here too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact.pose_element.joint_tables import Laws, LineRows
from pliant.formulations.geometrically_exact.pose_element.mechanism import PRISMATIC, Floats, Tree
from pliant.formulations.geometrically_exact.pose_element.nodes import IDENTITY, ORIGIN, Nodes, Place
from pliant.mechanics.rigid_body import transform_inertia
from pliant.robot import Joint, LoopJoint, SphericalJoint, UniversalJoint
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_vector

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
    backwards: bool  # hangs on the second frame and is welded to the first

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
        R1, R2 = R[first.node] @ first.rotation, R[second.node] @ second.rotation
        between = x[second.node] + R[second.node] @ second.position
        between = R1.T @ (between - x[first.node] - R[first.node] @ first.position)
        return _positions(self.joint, between, R1.T @ R2)

    def ball_turn(self, R: Floats) -> Floats | None:
        """Rotation of the head of a ball joint against its carrier for poses of all nodes."""
        if not isinstance(self.joint, SphericalJoint):
            return None
        at, to = self.carrier, self.welded_to
        return np.asarray((R[at.node] @ at.rotation).T @ R[to.node] @ to.rotation)

    def rates(self, tree: Tree, x: Floats, R: Floats, v: Floats, omega: Floats) -> Floats:
        """Of its coordinates for poses, velocities and spins (world) of all nodes, as near as they fit."""
        at, to, here = self.carrier.node, self.welded_to.node, x[self.node]
        columns = np.zeros((6, len(self.nodes)))
        for i in self.nodes:
            axis, column = R[i] @ tree.axis[i], tree.coordinate[i] - self.coordinates[0]
            if tree.hang[i] == PRISMATIC:
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
            axis @ between if freedom.slides else np.angle(np.exp(2j * np.arctan2(axis @ imaginary, w)))
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
    begin = len(nodes.parent)
    carrier = second if backwards else first
    node = nodes.hang(joint.freedoms, ball, carrier, number, backwards)
    head = Place(node, ORIGIN, IDENTITY)
    at, _, _ = nodes.carrier(body.node)
    nodes.inertia[at] = (1.0 - SHARE) * nodes.inertia[at]
    nodes.inertia[node] = share
    lines.weld(loop.name, *((first, head) if backwards else (head, second)))
    if isinstance(joint, SphericalJoint):
        lines.hold_ball(joint, first, second)
    coordinates = range(number, number + len(joint.freedoms))
    return Head(loop.name, joint, first, second, range(begin, node + 1), coordinates, backwards)


def carried_frame(loop: LoopJoint, second: Place) -> Place:
    """The second frame of a loop joint, turned so that the axes of a universal joint start across each other."""
    joint = loop.joint
    return second.turned(_shortest_turn(loop, joint).T) if isinstance(joint, UniversalJoint) else second


def _share(nodes: Nodes, joint: Joint, body: Place) -> Floats | None:
    """What the head takes of a body, in its own frame; None where that has no inertia along the coordinates."""
    at, R, r = nodes.carrier(body.node)
    R, r = R @ body.rotation, r + R @ body.position
    share = SHARE * transform_inertia(nodes.inertia[at], R.T, -R.T @ r)
    heaviest = float(np.trace(share[3:, 3:]))
    for freedom in joint.freedoms:
        axis = np.asarray(freedom.axis, float)
        if freedom.slides and not share[0, 0] > 0.0:
            return None
        if not freedom.slides and not axis @ share[3:, 3:] @ axis > LEAST * heaviest:
            return None
    return np.asarray(share)


def _shortest_turn(loop: LoopJoint, joint: UniversalJoint) -> Floats:
    """The rotation of the second axis of a universal joint to its place across the first."""
    given, across = np.asarray(loop.second_axis, float), np.asarray(joint.second_axis, float)
    axis = np.cross(given, across)
    sine = float(np.linalg.norm(axis))
    if sine == 0.0:
        return IDENTITY
    return np.asarray(rotation_from_vector(np.arctan2(sine, given @ across) / sine * axis))
