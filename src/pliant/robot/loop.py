"""Loops: joints that tie two frames of a tree together and thereby close it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from pliant.errors import Problem
from pliant.robot import joint as joints
from pliant.robot.axes import ALONG_X, ALONG_Y, ALONG_Z, IDENTITY, ORIGIN
from pliant.robot.declared import Choice, Declared, Name, Part, Quantity, Quaternion, Vector3
from pliant.robot.joint import BASE, Freedom, Joint, parallel, plain
from pliant.robot.joint_law import DAMPING, FREELY, BallSpring, Cone, Coordinate, Friction, JointSpring, Limits
from pliant.robot.link import End


@dataclass(frozen=True)
class At(Declared, word="frame"):
    """A frame on a section of a link, by default that of its tip, or on the base."""

    link: Annotated[str, Name("link that carries the frame, or base")]
    end: Annotated[End, Choice("end of the link that carries the frame")] = End.TIP
    position: Annotated[Vector3, Quantity.vector("m", "origin (x, y, z) of the frame in the frame of that section")] = (
        ORIGIN
    )
    rotation: Annotated[Quaternion, Quantity.quaternion("from the frame to the frame of that section")] = IDENTITY
    station: Annotated[
        float | None,
        Quantity("m", "distance of the section from the root of a flexible link, in place of an end", at_least=0),
    ] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.station is not None and (self.link == BASE or self.end is End.ROOT):
            part = "the base has no stations" if self.link == BASE else "end = root is another section"
            yield Problem(f"= {self.station:g} m has no meaning, {part}; leave one of the two out", ("station",))

    @property
    def section(self) -> str:
        """The section in words."""
        return f"{self.end}" if self.station is None else f"station {self.station:g} m"


def parent_frame(joint: Joint) -> At:
    """The frame in which a joint sits on its parent."""
    return At(joint.parent, End.TIP, joint.position, joint.rotation, joint.station)


class LoopKind(StrEnum):
    """How the two frames of a loop joint may move against each other."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    CYLINDRICAL = "cylindrical"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FIXED = "fixed"


OF_ONE_AXIS = ("spring", "damping", "friction", "limits")
LAWS: Mapping[LoopKind, tuple[str, ...]] = {
    LoopKind.REVOLUTE: OF_ONE_AXIS,
    LoopKind.PRISMATIC: OF_ONE_AXIS,
    LoopKind.CYLINDRICAL: ("slide", "turn"),
    LoopKind.UNIVERSAL: ("first_turn", "second_turn"),
    LoopKind.SPHERICAL: ("ball_spring", "damping", "friction", "cone"),
    LoopKind.PLANAR: ("first_slide", "second_slide", "turn"),
    LoopKind.FIXED: (),
}


@dataclass(frozen=True)
class LoopJoint(Declared, word="loop"):
    """A joint between two frames that the tree already carries, with the coordinates and laws of a joint of its kind.

    Where it starts follows from the joints of the tree.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {"type": "write kind"} | dict.fromkeys(
        ("initial_position", "initial_rate", "initial_rotation"),
        "the start of a loop joint follows from those of the joints",
    )
    name: Annotated[str, Name("name of the loop joint")]
    kind: Annotated[LoopKind, Choice("kind of joint")]
    first: Annotated[At, Part("first frame")]
    second: Annotated[At, Part("second frame")]
    axis: Annotated[Vector3, Quantity.direction("axis, or normal of a planar joint, in the first frame")] = ALONG_Z
    second_axis: Annotated[
        Vector3 | None, Quantity.direction("second axis of a universal joint, in the second frame")
    ] = None
    spring: Annotated[JointSpring | None, Part("spring of a revolute or prismatic loop joint")] = None
    damping: Annotated[
        float, Quantity(DAMPING, "viscous damping of a revolute, prismatic or spherical loop joint", at_least=0)
    ] = 0.0
    friction: Annotated[Friction | None, Part("dry friction of a revolute, prismatic or spherical loop joint")] = None
    limits: Annotated[Limits | None, Part("stops of a revolute or prismatic loop joint")] = None
    slide: Annotated[Coordinate, Part("translation of a cylindrical loop joint", translates=True)] = FREELY
    turn: Annotated[Coordinate, Part("rotation of a cylindrical or planar loop joint", translates=False)] = FREELY
    first_slide: Annotated[
        Coordinate, Part("translation of a planar loop joint along x of the first frame, or y", translates=True)
    ] = FREELY
    second_slide: Annotated[
        Coordinate, Part("translation of a planar loop joint across the first", translates=True)
    ] = FREELY
    first_turn: Annotated[Coordinate, Part("rotation of a universal loop joint about axis", translates=False)] = FREELY
    second_turn: Annotated[
        Coordinate, Part("rotation of a universal loop joint about second_axis", translates=False)
    ] = FREELY
    ball_spring: Annotated[BallSpring | None, Part("spring of a spherical loop joint")] = None
    cone: Annotated[Cone | None, Part("cone that a spherical loop joint stays in")] = None

    def conflicts(self) -> Iterator[Problem]:
        universal = self.kind is LoopKind.UNIVERSAL
        if universal and self.second_axis is None:
            yield Problem(
                "is missing; write the second axis of a universal joint, in the second frame", ("second_axis",)
            )
        if not universal and self.second_axis is not None:
            yield Problem(f"is not used by a {self.kind} loop joint; remove it", ("second_axis",))
        if self.kind in (LoopKind.SPHERICAL, LoopKind.FIXED) and self.axis != ALONG_Z:
            yield Problem(f"is not used by a {self.kind} loop joint; remove it", ("axis",))
        yield from self._laws_of_another_kind()
        for field in ("slide", "turn", "first_slide", "second_slide", "first_turn", "second_turn"):
            coordinate = getattr(self, field)
            for start in ("initial_position", "initial_rate"):
                if getattr(coordinate, start):
                    yield Problem(
                        "is not carried by a loop joint, whose start follows from those of the joints; remove it",
                        (field, start),
                    )

    def _laws_of_another_kind(self) -> Iterator[Problem]:
        own = LAWS[self.kind]
        remedy = f"; write {', '.join(own[:-1])} or {own[-1]}" if own else ", which does not move; remove it"
        for field in dict.fromkeys(field for fields in LAWS.values() for field in fields):
            if field not in own and getattr(self, field) not in (None, 0.0, FREELY):
                yield Problem(f"is not carried by a {self.kind} loop joint{remedy}", (field,))

    @property
    def obeys_nothing(self) -> bool:
        """Whether the frames move against each other freely where the kind lets them."""
        given = (getattr(self, field) for field in LAWS[self.kind])
        return all(part.obeys_nothing if isinstance(part, Coordinate) else not part for part in given)

    @cached_property
    def joint(self) -> Joint:
        """The joint that it would be in the tree, from its first frame to its second."""
        ends = (self.name, self.first.link, self.second.link)
        match self.kind:
            case LoopKind.REVOLUTE | LoopKind.PRISMATIC:
                of_one_axis = joints.RevoluteJoint if self.kind is LoopKind.REVOLUTE else joints.PrismaticJoint
                laws = {field: getattr(self, field) for field in OF_ONE_AXIS}
                return of_one_axis(*ends, axis=self.axis, **laws)
            case LoopKind.CYLINDRICAL:
                return joints.CylindricalJoint(*ends, axis=self.axis, slide=self.slide, turn=self.turn)
            case LoopKind.UNIVERSAL:
                made = joints.UniversalJoint(*ends, first=self.first_turn, second=self.second_turn)
                return replace(made, first_axis=self.axis, second_axis=self._second_axis_across_the_first())
            case LoopKind.SPHERICAL:
                return joints.SphericalJoint(
                    *ends, spring=self.ball_spring, damping=self.damping, friction=self.friction, limits=self.cone
                )
            case LoopKind.PLANAR:
                first_axis = ALONG_Y if parallel(self.axis, ALONG_X) else ALONG_X
                laws = {field: getattr(self, field) for field in LAWS[self.kind]}
                return joints.PlanarJoint(*ends, normal=self.axis, first_axis=first_axis, **laws)
            case LoopKind.FIXED:
                return joints.FixedJoint(*ends)

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """Its coordinates, from the first frame to the second."""
        return self.joint.freedoms

    def _second_axis_across_the_first(self) -> Vector3:
        """The direction perpendicular to the axis that lies nearest to the second axis."""
        assert self.second_axis is not None
        first, second = np.array(self.axis), np.array(self.second_axis)
        if parallel(self.axis, self.second_axis):
            second = np.eye(3)[int(np.argmin(np.abs(first)))]
        across = second - (second @ first) / (first @ first) * first
        return plain(across / np.linalg.norm(across))
