"""Tables of joint laws and of lines while a mechanism is assembled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ALONG,
    BUSHING,
    CLOSED,
    COINCIDENCE_X,
    DIRECTION,
    DISTANCE,
    SPRING,
    WALL,
    Coordinates,
    Floats,
    Lines,
)
from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import BushingPlace, HoldPlace, Inputs, SpringPlace, WallPlace
from pliant.robot import Cone, Freedom, FreeJoint, Joint, LoopJoint, LoopKind, SphericalJoint

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.nodes import Place

NO_LIMIT = 1e300  # N m


@dataclass
class Laws:
    """One entry per joint coordinate."""

    names: list[str] = field(default_factory=list)
    spring: list[tuple[float, float]] = field(default_factory=list)
    viscous: list[float] = field(default_factory=list)
    friction: list[tuple[float, ...]] = field(default_factory=list)
    stops: list[tuple[float, ...]] = field(default_factory=list)
    ball: list[int] = field(default_factory=list)

    def add(self, joint: Joint, freedoms: Sequence[Freedom], restarts: bool) -> int:
        """The coordinates of a joint; returns the number of the first."""
        first = len(self.names)
        ball = first if restarts else -1
        for freedom in freedoms:
            law = freedom.law
            damping, friction, limits = law.damping, law.friction, law.limits
            if isinstance(joint, SphericalJoint) and restarts:
                damping, friction = joint.damping, joint.friction
            self.names.append(freedom.name)
            self.spring.append((law.spring.stiffness, law.spring.rest_position) if law.spring else (0.0, 0.0))
            self.viscous.append(damping)
            self.friction.append(friction.row if friction else NO_FRICTION)
            self.stops.append(limits.row if limits else NO_STOPS)
            self.ball.append(ball)
        return first

    def coordinates(self, inputs: Inputs) -> Coordinates:
        """The laws with the drives and motors of ``inputs``."""
        count = len(self.names)
        motor, has_motor = np.zeros((count, 4)), np.zeros(count, np.bool_)
        for each in inputs.motors:
            c = self.names.index(each.joint)
            stiffness = each.stiffness if np.isfinite(each.stiffness) else 0.0
            motor[c] = each.rotor_inertia, stiffness, each.damping, min(each.torque_limit, NO_LIMIT)
            has_motor[c] = True
        springs = np.array(self.spring).reshape(count, 2)
        return Coordinates(
            springs[:, 0].copy(),
            springs[:, 1].copy(),
            np.array(self.viscous, float),
            np.array(self.friction, float).reshape(count, 4),
            np.array(self.stops, float).reshape(count, 4),
            np.array(self.ball, np.int64),
            np.array(inputs.prescribed, np.bool_),
            np.array([inputs.stiffness, inputs.damping], float).T.reshape(count, 2).copy(),
            motor,
            has_motor,
        )


@dataclass(frozen=True)
class LineRow:
    """One scalar relation and the part it belongs to."""

    owner: str
    measure: int
    law: int
    first: Place
    second: Place
    first_direction: Floats
    second_direction: Floats
    stiffness: Floats
    damping: Floats
    rest: float


def across(axis: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors that are perpendicular to each other and to ``axis``."""
    axis = axis / np.linalg.norm(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper)
    one /= np.linalg.norm(one)
    return one, np.cross(axis, one)


def first_of(value: float) -> Floats:
    """The row of a law that acts on its own line only."""
    row = np.zeros(6)
    row[0] = value
    return row


def feedback_name(hold: HoldPlace) -> str:
    """Of the lines that pull a ball or free joint to its reference."""
    return f"{hold.joint}.feedback"


@dataclass
class LineRows:
    """Lines of loop joints, of springs, boxes and cones of joints, and of connected components."""

    rows: list[LineRow] = field(default_factory=list)

    def copy(self) -> LineRows:
        return LineRows(list(self.rows))

    def add(
        self,
        owner: str,
        measure: int,
        law: int,
        frames: tuple[Place, Place],
        directions: tuple[Floats, Floats] | None = None,
        stiffness: Floats | None = None,
        damping: Floats | None = None,
        rest: float = 0.0,
    ) -> None:
        """A line; directions are given in the two frames."""
        a, b = frames
        zero = np.zeros(6)
        da, db = directions if directions else (np.zeros(3), np.zeros(3))
        self.rows.append(
            LineRow(
                owner,
                measure,
                law,
                a,
                b,
                a.rotation @ da,
                b.rotation @ db,
                zero if stiffness is None else stiffness,
                zero if damping is None else damping,
                rest,
            )
        )

    def close(self, loop: LoopJoint, first: Place, second: Place) -> None:
        """The constraints of a loop joint."""
        kind, frames = loop.kind, (first, second)
        if kind is LoopKind.FIXED:
            self.weld(loop.name, first, second)
            return
        axis = np.asarray(loop.axis, float)
        axis = axis / np.linalg.norm(axis)
        one, two = across(axis)
        if kind in (LoopKind.REVOLUTE, LoopKind.UNIVERSAL, LoopKind.SPHERICAL):
            for k in range(3):
                self.add(loop.name, COINCIDENCE_X + k, CLOSED, frames)
        elif kind in (LoopKind.PRISMATIC, LoopKind.CYLINDRICAL):
            for direction in (one, two):
                self.add(loop.name, ALONG, CLOSED, frames, (direction, direction))
        else:
            self.add(loop.name, ALONG, CLOSED, frames, (axis, axis))
        if kind in (LoopKind.REVOLUTE, LoopKind.CYLINDRICAL, LoopKind.PLANAR):
            for direction in (one, two):
                self.add(loop.name, DIRECTION, CLOSED, frames, (direction, axis))
        elif kind is LoopKind.PRISMATIC:
            e = np.eye(3)
            for k in range(3):
                self.add(loop.name, DIRECTION, CLOSED, frames, (e[k], e[(k + 1) % 3]))
        elif kind is LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            second_axis = np.asarray(loop.second_axis, float)
            self.add(loop.name, DIRECTION, CLOSED, frames, (axis, second_axis / np.linalg.norm(second_axis)))

    def weld(self, owner: str, first: Place, second: Place) -> None:
        """Two frames that stay together in all directions."""
        e = np.eye(3)
        for k in range(3):
            self.add(owner, COINCIDENCE_X + k, CLOSED, (first, second))
        for k in range(3):
            self.add(owner, DIRECTION, CLOSED, (first, second), (e[k], e[(k + 1) % 3]))

    def hold_ball(self, joint: SphericalJoint, first: Place, second: Place) -> None:
        """Spring and cone of a ball joint."""
        if joint.spring:
            six = np.diag([0.0, 0.0, 0.0, *(joint.spring.stiffness,) * 3])
            at_rest = first.turned(matrix_of(joint.spring.rest_rotation))
            self.six(joint.name, at_rest, second, six, np.zeros((6, 6)))
        if joint.limits:
            self._cone(joint.name, joint.limits, first, second)

    def hold_free(self, joint: FreeJoint, first: Place, second: Place) -> None:
        """Spring, box and cone of a free joint."""
        spring, box = joint.spring, joint.limits
        if spring:
            at_rest = first.moved(spring.rest_position).turned(matrix_of(spring.rest_rotation))
            self.six(joint.name, at_rest, second, np.array(spring.stiffness, float), np.zeros((6, 6)))
        if box:
            stiffness, damping = first_of(box.stiffness), first_of(box.damping)
            for k, axis in enumerate(np.eye(3)):
                for side, stop in ((axis, box.lower[k]), (-axis, -box.upper[k])):
                    self.add(joint.name, ALONG, WALL, (first, second), (side, side), stiffness, damping, stop)
        if joint.cone:
            self._cone(joint.name, joint.cone, first, second)

    def _cone(self, owner: str, cone: Cone, first: Place, second: Place) -> None:
        axis = np.asarray(cone.axis, float)
        axis = axis / np.linalg.norm(axis)
        # the line measures the cosine: a turn by d moves it by sin(half_angle) d at the edge of the cone
        steep = np.sin(cone.half_angle) ** 2
        stiffness, damping = first_of(cone.stiffness / steep), first_of(cone.damping / steep)
        rest = float(np.cos(cone.half_angle))
        self.add(owner, DIRECTION, WALL, (first, second), (axis, axis), stiffness, damping, rest)

    def six(self, owner: str, first: Place, second: Place, stiffness: Floats, damping: Floats) -> None:
        """A six-component spring and damper between two frames."""
        for k in range(6):
            self.add(owner, BUSHING + k, SPRING, (first, second), stiffness=stiffness[k], damping=damping[k])

    def spring(self, place: SpringPlace, first: Place, second: Place) -> None:
        stiffness, damping = first_of(place.stiffness), first_of(place.damping)
        frames, rest = (first, second), place.rest_length
        self.add(place.name, DISTANCE, SPRING, frames, stiffness=stiffness, damping=damping, rest=rest)

    def bushing(self, place: BushingPlace, first: Place, second: Place) -> None:
        self.six(place.name, first, second, np.array(place.stiffness, float), np.array(place.damping, float))

    def hold(self, place: HoldPlace, reference: Place, child: Place) -> None:
        """Feedback of a ball joint, on its rotation only, or of a free joint."""
        stiffness, damping = (
            np.diag([*(0.0,) * (6 - len(gains)), *gains]) for gains in (place.stiffness, place.damping)
        )
        self.six(feedback_name(place), reference, child, stiffness, damping)

    def wall(self, place: WallPlace, ground: Place, point: Place) -> None:
        """``ground`` lies on the wall, its x axis the normal."""
        stiffness, damping = first_of(place.stiffness), first_of(place.damping)
        normal = np.array([1.0, 0.0, 0.0])
        self.add(place.name, ALONG, WALL, (ground, point), (normal, normal), stiffness, damping)

    def lines(self) -> Lines:
        """All rows as arrays."""
        rows = self.rows
        count = len(rows)
        return Lines(
            np.array([row.measure for row in rows], np.int64),
            np.array([row.law for row in rows], np.int64),
            np.array([(row.first.node, row.second.node) for row in rows], np.int64).reshape(count, 2),
            np.array([(row.first.position, row.second.position) for row in rows], float).reshape(count, 2, 3),
            np.array([(row.first_direction, row.second_direction) for row in rows], float).reshape(
                count, 2, 3
            ),
            np.array(
                [(row.first.rotation.ravel(), row.second.rotation.ravel()) for row in rows], float
            ).reshape(count, 2, 9),
            np.array([row.stiffness for row in rows], float).reshape(count, 6),
            np.array([row.damping for row in rows], float).reshape(count, 6),
            np.array([row.rest for row in rows], float),
        )
