"""Joints: how the root of a child link moves against the tip of its parent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.errors import Problem
from pliant.robot.axes import ALONG_X, ALONG_Y, ALONG_Z, IDENTITY, ORIGIN, ZERO6
from pliant.robot.declared import Choice, Declared, Name, Part, Quantity, Quaternion, Vector3, Vector6
from pliant.robot.joint_law import FREELY, BallSpring, Box, Cone, Coordinate, FreeSpring, Friction, JointSpring, Limits

BASE = "base"

Direction = Annotated[Vector3, Quantity.direction("direction of the axis in the joint frame")]
TURN = (-6.2832, 6.2832)  # rad; more than a turn is mostly a number of degrees
TurnDamping = Annotated[float, Quantity("N m s/rad", "viscous damping of the joint", at_least=0)]
SlideDamping = Annotated[float, Quantity("N s/m", "viscous damping of the joint", at_least=0)]


@dataclass(frozen=True)
class Freedom:
    """One scalar coordinate of a joint: a rotation about an axis of the joint frame, or a translation along it."""

    name: str
    translates: bool
    axis: Vector3
    law: Coordinate

    @property
    def unit(self) -> str:
        """The unit of its position."""
        return "m" if self.translates else "rad"


class Role(StrEnum):
    """Whether a joint belongs to the arm, or carries a part aside: no tip of the arm, driven by name only."""

    ARM = "arm"
    ASIDE = "aside"

    def __repr__(self) -> str:
        return repr(self.value)


@dataclass(frozen=True)
class Joint(Declared, ABC):
    """The connection of a child's root frame to its parent's tip frame or section at a station, or to the base."""

    name: Annotated[str, Name("name of the joint")]
    parent: Annotated[str, Name("link on whose tip the joint sits, or base")]
    child: Annotated[str, Name("link whose root the joint carries")]
    position: Annotated[
        Vector3, Quantity.vector("m", "origin (x, y, z) of the joint frame in the parent's tip frame")
    ] = ORIGIN
    rotation: Annotated[Quaternion, Quantity.quaternion("from joint frame to the parent's tip frame")] = IDENTITY
    station: Annotated[
        float | None,
        Quantity("m", "distance of its section from the root of a flexible parent, in place of the tip", at_least=0),
    ] = field(default=None, kw_only=True)
    role: Annotated[Role, Choice("part of the arm, or of what it carries aside, such as a damper")] = field(
        default=Role.ARM, kw_only=True
    )

    @property
    @abstractmethod
    def freedoms(self) -> tuple[Freedom, ...]:
        """The coordinates from parent to child, each in the frame that the one before it leaves behind."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The names of the coordinates; a joint of one coordinate gives it its own name."""
        return tuple(freedom.name for freedom in self.freedoms)

    @property
    def moves(self) -> bool:
        """Whether the child can move against the parent."""
        return bool(self.freedoms)


@dataclass(frozen=True)
class AxisJoint(Joint, ABC):
    """A joint of one coordinate, a rotation about an axis or a translation along it."""

    axis: Direction = ALONG_Z
    initial_position: float = 0.0
    initial_rate: float = 0.0
    spring: Annotated[JointSpring | None, Part("spring of the joint")] = None
    damping: float = 0.0
    friction: Annotated[Friction | None, Part("dry friction of the joint")] = None
    limits: Annotated[Limits | None, Part("stops of the joint")] = None

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        law = Coordinate(
            self.initial_position, self.initial_rate, self.spring, self.damping, self.friction, self.limits
        )
        return (Freedom(self.name, bool(self.translates), self.axis, law),)


@dataclass(frozen=True)
class RevoluteJoint(AxisJoint, word="revolute"):
    """The child rotates about an axis."""

    translates: ClassVar[bool | None] = False
    initial_position: Annotated[float, Quantity("rad", "angle at the start", usual=TURN)] = 0.0
    initial_rate: Annotated[float, Quantity("rad/s", "angular rate at the start")] = 0.0
    damping: TurnDamping = 0.0


@dataclass(frozen=True)
class PrismaticJoint(AxisJoint, word="prismatic"):
    """The child translates along an axis."""

    translates: ClassVar[bool | None] = True
    initial_position: Annotated[float, Quantity("m", "displacement at the start", usual=(-200.0, 200.0))] = 0.0
    initial_rate: Annotated[float, Quantity("m/s", "velocity at the start")] = 0.0
    damping: SlideDamping = 0.0


@dataclass(frozen=True)
class FixedJoint(Joint, word="fixed"):
    """The child does not move against its parent."""

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return ()


# Sine of the angle below which two axes leave the direction between them to rounding.
PARALLEL = 1e-3

InitialRotation = Annotated[
    Quaternion, Quantity.quaternion("from the child's root frame to the joint frame at the start")
]
InitialSpin = Annotated[Vector3, Quantity.vector("rad/s", "spin of the child at the start, in the child's axes")]


def _under(*coordinates: str) -> dict[str, str]:
    remedy = f"write it under {', '.join(coordinates[:-1])} or {coordinates[-1]}"
    return dict.fromkeys([law.name for law in fields(Coordinate)], remedy)


def parallel(first: Vector3, second: Vector3) -> bool:
    """Whether two axes leave the direction between them to rounding."""
    return bool(np.linalg.norm(np.cross(first, second)) < PARALLEL)


def _shown(vector: Vector3) -> str:
    return f"({', '.join(f'{entry:g}' for entry in vector)})"


@dataclass(frozen=True)
class CylindricalJoint(Joint, word="cylindrical"):
    """The child translates along an axis and rotates about it; coordinates ``slide`` and ``turn``."""

    elsewhere: ClassVar[Mapping[str, str]] = _under("slide", "turn")
    axis: Direction = ALONG_Z
    slide: Annotated[Coordinate, Part("translation along the axis", translates=True)] = FREELY
    turn: Annotated[Coordinate, Part("rotation about the axis", translates=False)] = FREELY

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        return (
            Freedom(f"{self.name}.slide", True, self.axis, self.slide),
            Freedom(f"{self.name}.turn", False, self.axis, self.turn),
        )


@dataclass(frozen=True)
class UniversalJoint(Joint, word="universal"):
    """The child rotates about two axes, the second of which rotates with the first; ``first`` and ``second``."""

    elsewhere: ClassVar[Mapping[str, str]] = _under("first", "second")
    first_axis: Direction = ALONG_Z
    second_axis: Direction = ALONG_Y
    first: Annotated[Coordinate, Part("rotation about the first axis", translates=False)] = FREELY
    second: Annotated[Coordinate, Part("rotation about the second axis", translates=False)] = FREELY

    def conflicts(self) -> Iterator[Problem]:
        if parallel(self.first_axis, self.second_axis):
            yield Problem(
                f"= {_shown(self.second_axis)} is parallel to first_axis, which leaves one rotation for two"
                " coordinates; write an axis across the first, or use a revolute joint",
                ("second_axis",),
            )

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        return (
            Freedom(f"{self.name}.first", False, self.first_axis, self.first),
            Freedom(f"{self.name}.second", False, self.second_axis, self.second),
        )


@dataclass(frozen=True)
class PlanarJoint(Joint, word="planar"):
    """The child translates in a plane and rotates about its normal; ``first_slide``, ``second_slide``, ``turn``."""

    elsewhere: ClassVar[Mapping[str, str]] = _under("first_slide", "second_slide", "turn")
    normal: Annotated[Vector3, Quantity.direction("normal of the plane in the joint frame")] = ALONG_Z
    first_axis: Annotated[
        Vector3,
        Quantity.direction("direction of first_slide in the joint frame (its part along the normal is dropped)"),
    ] = ALONG_X
    first_slide: Annotated[Coordinate, Part("translation along first_axis", translates=True)] = FREELY
    second_slide: Annotated[Coordinate, Part("translation along normal x first_axis", translates=True)] = FREELY
    turn: Annotated[Coordinate, Part("rotation about the normal", translates=False)] = FREELY

    def conflicts(self) -> Iterator[Problem]:
        if parallel(self.normal, self.first_axis):
            yield Problem(
                f"= {_shown(self.first_axis)} is parallel to the normal and gives no direction in the plane;"
                " write a direction across it",
                ("first_axis",),
            )

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        normal = np.array(self.normal)
        second = np.cross(normal, self.first_axis)
        second /= np.linalg.norm(second)
        first = np.cross(second, normal)
        return (
            Freedom(f"{self.name}.first_slide", True, plain(first), self.first_slide),
            Freedom(f"{self.name}.second_slide", True, plain(second), self.second_slide),
            Freedom(f"{self.name}.turn", False, self.normal, self.turn),
        )


def plain(vector: NDArray[np.float64]) -> Vector3:
    """A tuple of numbers."""
    x, y, z = (float(entry) + 0.0 for entry in vector)  # no negative zero
    return x, y, z


def reference_name(coordinate: str) -> str:
    """The coordinate of the frame that feedback on a coordinate of a ball or free joint follows."""
    joint, _, word = coordinate.partition(".")
    return f"{joint}.reference_{word}"


class WholeJoint(Joint, ABC):
    """A joint that one torque or wrench drives in all its directions."""

    @property
    @abstractmethod
    def guided_freedoms(self) -> tuple[Freedom, ...]:
        """Its coordinates where its motion is prescribed: translations along axes in a row, then rotations."""

    @cached_property
    def reference_freedoms(self) -> tuple[Freedom, ...]:
        """Of the frame to which feedback holds the child, in the same row of translations and rotations."""
        return tuple(replace(each, name=reference_name(each.name), law=FREELY) for each in self.guided_freedoms)


@dataclass(frozen=True)
class SphericalJoint(WholeJoint, word="spherical"):
    """The child rotates about a point; ``x``, ``y`` and ``z`` are restarted at every step and never lock."""

    translates: ClassVar[bool | None] = False
    elsewhere: ClassVar[Mapping[str, str]] = {"initial_position": "write initial_rotation, a quaternion"}
    initial_rotation: InitialRotation = IDENTITY
    initial_rate: InitialSpin = ORIGIN
    spring: Annotated[BallSpring | None, Part("spring towards its rest rotation")] = None
    damping: TurnDamping = 0.0
    friction: Annotated[Friction | None, Part("dry friction against the spin")] = None
    limits: Annotated[Cone | None, Part("cone that the child's axis stays in")] = None

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        rates = zip("xyz", (ALONG_X, ALONG_Y, ALONG_Z), self.initial_rate)
        return tuple(
            Freedom(f"{self.name}.{word}", False, axis, Coordinate(initial_rate=rate)) for word, axis, rate in rates
        )

    @property
    def guided_freedoms(self) -> tuple[Freedom, ...]:
        """Where its motion is prescribed: rotations about x, then about the new y, then about the new z."""
        return self.freedoms


@dataclass(frozen=True)
class FreeJoint(WholeJoint, word="free"):
    """The child is free in all directions; it starts at a pose and with a velocity, and has no coordinate.

    Spring, box and cone hold it to the base; damping and friction act against the world.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        "initial_rate": "write initial_velocity and initial_spin",
        "friction": "write slide_friction or turn_friction",
    }
    initial_position: Annotated[
        Vector3, Quantity.vector("m", "origin of the child's root frame in the joint frame at the start")
    ] = ORIGIN
    initial_rotation: InitialRotation = IDENTITY
    initial_velocity: Annotated[
        Vector3, Quantity.vector("m/s", "velocity of the child's root at the start, in the world")
    ] = ORIGIN
    initial_spin: InitialSpin = ORIGIN
    spring: Annotated[FreeSpring | None, Part("spring towards its rest pose")] = None
    damping: Annotated[
        Vector6,
        Quantity.coefficients(
            "N s/m, N m s/rad", "viscous drag along each axis of the child (force per velocity, moment per spin)"
        ),
    ] = ZERO6
    slide_friction: Annotated[
        Friction | None, Part("dry friction against the velocity of the child's root", translates=True)
    ] = None
    turn_friction: Annotated[Friction | None, Part("dry friction against the spin", translates=False)] = None
    limits: Annotated[Box | None, Part("box that the child's root stays in")] = None
    cone: Annotated[Cone | None, Part("cone that the child's axis stays in")] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.parent != BASE:
            yield Problem(
                f"= '{self.parent}' must be base, because no other link carries a free link;"
                " write base, or join the two links by another type of joint",
                ("parent",),
            )

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return ()

    @property
    def moves(self) -> bool:
        return True

    @cached_property
    def guided_freedoms(self) -> tuple[Freedom, ...]:
        """Where its motion is prescribed: translations along the axes of the joint frame, then rotations."""
        axes = (ALONG_X, ALONG_Y, ALONG_Z)
        translates = (Freedom(f"{self.name}.{word}", True, axis, FREELY) for word, axis in zip("xyz", axes))
        turns = (Freedom(f"{self.name}.turn_{word}", False, axis, FREELY) for word, axis in zip("xyz", axes))
        return (*translates, *turns)

    @property
    def drags(self) -> bool:
        """Whether something resists the motion of the child against the world."""
        return any(self.damping) or self.slide_friction is not None or self.turn_friction is not None
