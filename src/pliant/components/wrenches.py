"""Wrenches on links, known in time: at the tip, at any frame, and per length."""

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
from pliant.robot import BASE, At
from pliant.robot.axes import IDENTITY
from pliant.robot.declared import Choice, Declared, Name, Part

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


@dataclass(frozen=True)
class PointWrench(Declared):
    """Force (N) and moment (N m) in time, six components, at the origin of a frame on a link.

    In the WORLD frame the wrench keeps its direction (a dead load), in the BODY frame it is given in the axes of
    the frame ``at`` and rotates with it (a follower load).
    """

    at: Annotated[At, Part("frame at whose origin the wrench acts")]
    signal: WrenchInTime
    frame: LoadFrame = Frame.WORLD
    name: LoadName = None

    def conflicts(self) -> Iterator[Problem]:
        yield from frame_conflicts(self.frame)
        if self.at.link == BASE:
            yield Problem("= 'base' is moved by no wrench; write a link", ("at", "link"))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        at = self.at
        where = at.end if at.station is None else "station"
        name = self.name or f"{at.link}_{where}_wrench"
        place = LoadPlace(name, at.link, False, self.frame, at.end, at.position, station=at.station)
        return (Load(place, self.signal, at.rotation if self.frame is Frame.BODY else IDENTITY),)
