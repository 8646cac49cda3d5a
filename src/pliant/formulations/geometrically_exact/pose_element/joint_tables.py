"""Tables of joint laws and of lines while a mechanism is assembled."""

from __future__ import annotations

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
from pliant.model.inputs import BushingPlace, Inputs, SpringPlace, WallPlace
from pliant.robot import Freedom, Joint, LoopJoint, LoopKind, SphericalJoint

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.assembly import Place

FAR = 1e300  # a stop that is never reached
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

    def add(self, freedom: Freedom, joint: Joint, ball: int) -> None:
        law = freedom.law
        damping, friction = law.damping, law.friction
        if isinstance(joint, SphericalJoint):
            damping, friction = joint.damping, joint.friction
        self.names.append(freedom.name)
        self.spring.append((law.spring.stiffness, law.spring.rest_position) if law.spring else (0.0, 0.0))
        self.viscous.append(damping)
        self.friction.append(
            (friction.coulomb, friction.breakaway, friction.stribeck_rate, friction.smoothing_rate)
            if friction
            else (0.0, 0.0, 1.0, 1.0)
        )
        limits = law.limits
        self.stops.append(
            (limits.lower, limits.upper, limits.stiffness, limits.damping)
            if limits
            else (-FAR, FAR, 0.0, 0.0)
        )
        self.ball.append(ball)

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


@dataclass
class LineRows:
    """Lines of loop joints, ball springs and cones, and of connected components."""

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
        axis = np.asarray(loop.axis, float)
        axis = axis / np.linalg.norm(axis)
        one, two = across(axis)
        frames = (first, second)
        kind = loop.kind
        if kind in (LoopKind.REVOLUTE, LoopKind.UNIVERSAL, LoopKind.SPHERICAL, LoopKind.FIXED):
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
        elif kind in (LoopKind.PRISMATIC, LoopKind.FIXED):
            e = np.eye(3)
            for k in range(3):
                self.add(loop.name, DIRECTION, CLOSED, frames, (e[k], e[(k + 1) % 3]))
        elif kind is LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            second_axis = np.asarray(loop.second_axis, float)
            self.add(loop.name, DIRECTION, CLOSED, frames, (axis, second_axis / np.linalg.norm(second_axis)))

    def hold_ball(self, joint: SphericalJoint, first: Place, second: Place) -> None:
        """Spring and cone of a ball joint."""
        if joint.spring:
            six = np.diag([0.0, 0.0, 0.0, *(joint.spring.stiffness,) * 3])
            self.six(joint.name, first, second, six, np.zeros((6, 6)))
        if joint.limits:
            cone = joint.limits
            axis = np.asarray(cone.axis, float)
            axis = axis / np.linalg.norm(axis)
            # the line measures the cosine: a turn by d moves it by sin(half_angle) d at the edge of the cone
            steep = np.sin(cone.half_angle) ** 2
            stiffness, damping = np.zeros(6), np.zeros(6)
            stiffness[0], damping[0] = cone.stiffness / steep, cone.damping / steep
            rest = float(np.cos(cone.half_angle))
            self.add(joint.name, DIRECTION, WALL, (first, second), (axis, axis), stiffness, damping, rest)

    def six(self, owner: str, first: Place, second: Place, stiffness: Floats, damping: Floats) -> None:
        """A six-component spring and damper between two frames."""
        for k in range(6):
            self.add(owner, BUSHING + k, SPRING, (first, second), stiffness=stiffness[k], damping=damping[k])

    def spring(self, place: SpringPlace, first: Place, second: Place) -> None:
        stiffness, damping = np.zeros(6), np.zeros(6)
        stiffness[0], damping[0] = place.stiffness, place.damping
        frames = (first, second)
        self.add(
            place.name, DISTANCE, SPRING, frames, stiffness=stiffness, damping=damping, rest=place.rest_length
        )

    def bushing(self, place: BushingPlace, first: Place, second: Place) -> None:
        self.six(place.name, first, second, np.array(place.stiffness, float), np.array(place.damping, float))

    def wall(self, place: WallPlace, ground: Place, point: Place) -> None:
        """``ground`` lies on the wall, its x axis the normal."""
        stiffness, damping = np.zeros(6), np.zeros(6)
        stiffness[0], damping[0] = place.stiffness, place.damping
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
