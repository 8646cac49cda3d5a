"""Joints: how the root of a child link moves against the tip of its parent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pliant.robot.declared import Declared, Name, Part
from pliant.robot.joint_law import ALONG_Z, Coordinate, Friction, JointSpring, Limits
from pliant.robot.quantity import Demand, Quantity, Quaternion, Vector3

BASE = "base"

Direction = Annotated[
    Vector3,
    Quantity("1", "direction of the axis in the joint frame", shape=(3,), demand=Demand.NONZERO_DIRECTION),
]
TurnDamping = Annotated[float, Quantity("N m s/rad", "viscous damping of the joint", at_least=0)]
SlideDamping = Annotated[float, Quantity("N s/m", "viscous damping of the joint", at_least=0)]


@dataclass(frozen=True)
class Freedom:
    """One scalar coordinate of a joint: a turn about an axis of the joint frame, or a slide along it."""

    name: str
    slides: bool
    axis: Vector3
    law: Coordinate

    @property
    def unit(self) -> str:
        """The unit of its position."""
        return "m" if self.slides else "rad"


@dataclass(frozen=True)
class Joint(Declared, ABC):
    """The connection of a child's root frame to its parent's tip frame, or to the base."""

    name: Annotated[str, Name("name of the joint")]
    parent: Annotated[str, Name("link on whose tip the joint sits, or base")]
    child: Annotated[str, Name("link whose root the joint carries")]
    position: Annotated[
        Vector3, Quantity("m", "origin (x, y, z) of the joint frame in the parent's tip frame", shape=(3,))
    ] = (0.0, 0.0, 0.0)
    rotation: Annotated[
        Quaternion,
        Quantity(
            "1",
            "unit quaternion (w, x, y, z) from joint frame to the parent's tip frame",
            shape=(4,),
            demand=Demand.UNIT_QUATERNION,
        ),
    ] = (1.0, 0.0, 0.0, 0.0)

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
    """A joint of one coordinate, a turn about an axis or a slide along it."""

    axis: Direction = ALONG_Z
    initial_position: float = 0.0
    initial_rate: float = 0.0
    spring: Annotated[JointSpring | None, Part("spring of the joint", JointSpring)] = None
    damping: float = 0.0
    friction: Annotated[Friction | None, Part("dry friction of the joint", Friction)] = None
    limits: Annotated[Limits | None, Part("stops of the joint", Limits)] = None

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        law = Coordinate(
            self.initial_position, self.initial_rate, self.spring, self.damping, self.friction, self.limits
        )
        return (Freedom(self.name, bool(self.slides), self.axis, law),)


@dataclass(frozen=True)
class RevoluteJoint(AxisJoint, word="revolute"):
    """The child turns about an axis."""

    slides: ClassVar[bool | None] = False
    initial_position: Annotated[float, Quantity("rad", "angle at the start")] = 0.0
    initial_rate: Annotated[float, Quantity("rad/s", "angular rate at the start")] = 0.0
    damping: TurnDamping = 0.0


@dataclass(frozen=True)
class PrismaticJoint(AxisJoint, word="prismatic"):
    """The child slides along an axis."""

    slides: ClassVar[bool | None] = True
    initial_position: Annotated[float, Quantity("m", "displacement at the start")] = 0.0
    initial_rate: Annotated[float, Quantity("m/s", "velocity at the start")] = 0.0
    damping: SlideDamping = 0.0


@dataclass(frozen=True)
class FixedJoint(Joint, word="fixed"):
    """The child does not move against its parent."""

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        return ()
