"""Loops: joints that tie two frames of a tree together and thereby close it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pliant.errors import Problem
from pliant.robot.declared import Choice, Declared, Name, Part
from pliant.robot.joint_law import ALONG_Z, DAMPING, JointSpring
from pliant.robot.payload import End
from pliant.robot.quantity import Demand, Quantity, Quaternion, Vector3


@dataclass(frozen=True)
class At(Declared, word="frame"):
    """A frame on an end section of a link, or on the base."""

    link: Annotated[str, Name("link that carries the frame, or base")]
    end: Annotated[End, Choice("end of the link that carries the frame", End)] = End.TIP
    position: Annotated[
        Vector3, Quantity("m", "origin (x, y, z) of the frame in the frame of that end section", shape=(3,))
    ] = (0.0, 0.0, 0.0)
    rotation: Annotated[
        Quaternion,
        Quantity(
            "1",
            "unit quaternion (w, x, y, z) from the frame to the frame of that end section",
            shape=(4,),
            demand=Demand.UNIT_QUATERNION,
        ),
    ] = (1.0, 0.0, 0.0, 0.0)


class LoopKind(StrEnum):
    """How the two frames of a loop joint may move against each other."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    CYLINDRICAL = "cylindrical"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FIXED = "fixed"


@dataclass(frozen=True)
class LoopJoint(Declared, word="loop"):
    """A joint between two frames that the tree already carries; it has no coordinate and no drive.

    Revolute and prismatic ones may have a spring and damping between their frames.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {"type": "write kind"} | dict.fromkeys(
        ("initial_position", "initial_rate", "friction", "limits"),
        "it has no coordinate, so cut the loop at another joint and write this one under joints",
    )
    name: Annotated[str, Name("name of the loop joint")]
    kind: Annotated[LoopKind, Choice("kind of joint", LoopKind)]
    first: Annotated[At, Part("first frame", At)]
    second: Annotated[At, Part("second frame", At)]
    axis: Annotated[
        Vector3,
        Quantity(
            "1",
            "axis, or normal of a planar joint, in the first frame",
            shape=(3,),
            demand=Demand.NONZERO_DIRECTION,
        ),
    ] = ALONG_Z
    second_axis: Annotated[
        Vector3 | None,
        Quantity(
            "1",
            "second axis of a universal joint, in the second frame",
            shape=(3,),
            demand=Demand.NONZERO_DIRECTION,
        ),
    ] = None
    spring: Annotated[
        JointSpring | None, Part("spring of a revolute or prismatic loop joint", JointSpring)
    ] = None
    damping: Annotated[
        float, Quantity(DAMPING, "viscous damping of a revolute or prismatic loop joint", at_least=0)
    ] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        universal = self.kind is LoopKind.UNIVERSAL
        if universal and self.second_axis is None:
            yield Problem(
                "is missing; write the second axis of a universal joint, in the second frame",
                ("second_axis",),
            )
        if not universal and self.second_axis is not None:
            yield Problem(f"is not used by a {self.kind} loop joint; remove it", ("second_axis",))
        if self.kind in (LoopKind.SPHERICAL, LoopKind.FIXED) and self.axis != ALONG_Z:
            yield Problem(f"is not used by a {self.kind} loop joint; remove it", ("axis",))
        if self.kind not in (LoopKind.REVOLUTE, LoopKind.PRISMATIC):
            for field in ("spring", "damping"):
                if getattr(self, field):
                    yield Problem(
                        f"is not carried by a {self.kind} loop joint, which has no single axis to act on; cut the loop"
                        " at another joint and write this one under joints",
                        (field,),
                    )
