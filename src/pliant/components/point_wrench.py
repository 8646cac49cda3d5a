"""A wrench at any frame of a link, known in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pliant.components.kinds import Contribution, Load
from pliant.components.link_wrench import LoadFrame, LoadName, WrenchInTime, frame_conflicts
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.robot import BASE, At
from pliant.robot.axes import IDENTITY
from pliant.robot.declared import Declared, Part


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
