"""Joints: how the root of a child link moves against the tip of its parent."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Annotated

from pliant.robot.declared import Declared, Name
from pliant.robot.quantity import Demand, Quantity, Quaternion, Vector3

BASE = "base"
ALONG_Z = (0.0, 0.0, 1.0)

ParentName = Annotated[str, Name("link on whose tip the joint sits, or base")]
ChildName = Annotated[str, Name("link whose root the joint carries")]
JointPosition = Annotated[
    Vector3, Quantity("m", "origin (x, y, z) of the joint frame in the parent's tip frame", shape=(3,))
]
JointRotation = Annotated[
    Quaternion,
    Quantity(
        "1",
        "unit quaternion (w, x, y, z) from joint frame to the parent's tip frame",
        shape=(4,),
        demand=Demand.UNIT_QUATERNION,
    ),
]


class Joint(Declared, ABC):
    """The connection of a child's root frame to its parent's tip frame, or to the base."""

    name: str
    parent: str
    child: str
    position: Vector3
    rotation: Quaternion


@dataclass(frozen=True)
class RevoluteJoint(Joint, word="revolute"):
    """The child turns about an axis."""

    name: Annotated[str, Name("name of the joint")]
    parent: ParentName
    child: ChildName
    axis: Annotated[
        Vector3,
        Quantity(
            "1", "direction of the axis in the joint frame", shape=(3,), demand=Demand.NONZERO_DIRECTION
        ),
    ] = ALONG_Z
    position: JointPosition = (0.0, 0.0, 0.0)
    rotation: JointRotation = (1.0, 0.0, 0.0, 0.0)
    initial_position: Annotated[float, Quantity("rad", "angle at the start")] = 0.0
    initial_rate: Annotated[float, Quantity("rad/s", "angular rate at the start")] = 0.0


@dataclass(frozen=True)
class PrismaticJoint(Joint, word="prismatic"):
    """The child slides along an axis."""

    name: Annotated[str, Name("name of the joint")]
    parent: ParentName
    child: ChildName
    axis: Annotated[
        Vector3,
        Quantity(
            "1", "direction of the axis in the joint frame", shape=(3,), demand=Demand.NONZERO_DIRECTION
        ),
    ] = ALONG_Z
    position: JointPosition = (0.0, 0.0, 0.0)
    rotation: JointRotation = (1.0, 0.0, 0.0, 0.0)
    initial_position: Annotated[float, Quantity("m", "displacement at the start")] = 0.0
    initial_rate: Annotated[float, Quantity("m/s", "velocity at the start")] = 0.0


@dataclass(frozen=True)
class FixedJoint(Joint, word="fixed"):
    """The child does not move against its parent."""

    name: Annotated[str, Name("name of the joint")]
    parent: ParentName
    child: ChildName
    position: JointPosition = (0.0, 0.0, 0.0)
    rotation: JointRotation = (1.0, 0.0, 0.0, 0.0)
