"""What wrenches on links have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pliant.components.fields import Holds
from pliant.components.kinds import Contribution, Load
from pliant.components.signals import Signal
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.robot.declared import Choice, Declared, Name

WRITE_SIGNAL = "write a signal, such as Constant(2.0)"
WrenchInTime = Annotated[Signal, Holds("force and moment in time", Signal, WRITE_SIGNAL)]
LinkName = Annotated[str, Name("name of the link")]
LoadName = Annotated[str | None, Name("name of the load in results")]
LoadFrame = Annotated[Frame, Choice("axes of the wrench: world or body")]


@dataclass(frozen=True)
class LinkWrench(Declared):
    """Force and moment on a link as a whole."""

    distributed: ClassVar[bool] = False
    link: LinkName
    signal: WrenchInTime
    frame: LoadFrame = Frame.WORLD
    name: LoadName = None

    def conflicts(self) -> Iterator[Problem]:
        yield from frame_conflicts(self.frame)

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        name = self.name or f"{self.link}_{'distributed' if self.distributed else 'tip'}_wrench"
        return (Load(LoadPlace(name, self.link, self.distributed, self.frame), self.signal),)


def frame_conflicts(frame: Frame) -> Iterator[Problem]:
    if frame is Frame.JOINT:
        yield Problem("= joint has no meaning for a load on a link; write world or body", ("frame",))


@dataclass(frozen=True)
class TipWrench(LinkWrench):
    """Force (N) and moment (N m) in time, six components, on the tip of a link.

    In the WORLD frame the wrench keeps its direction (a dead load), in the BODY frame it rotates with the tip
    section (a follower load).
    """


@dataclass(frozen=True)
class DistributedWrench(LinkWrench):
    """Force (N/m) and moment (N m/m) per length in time, six components, all along a link.

    In the WORLD frame the wrench keeps its direction, in the BODY frame it rotates with each section.
    """

    distributed: ClassVar[bool] = True
    signal: Annotated[Signal, Holds("force and moment per length in time", Signal, WRITE_SIGNAL)]
