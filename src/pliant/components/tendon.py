"""A cable over frames of several links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from pliant.components.fields import Holds
from pliant.components.kinds import Contribution, Related
from pliant.components.two_frames import ElementName
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import Acts, Measure, Relation
from pliant.robot import At
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class Tendon(Declared):
    """A cable without mass or friction from frame to frame, the ends fixed to the first and the last of them.

    Its length is the sum of the distances between origins that follow each other. While it is longer than
    rest_length - pretension / stiffness, its tension is

        pretension + stiffness (length - rest_length) + damping length' ,

    but never a push; while it is shorter it is slack. Without a ``rest_length`` it is that of the robot's start, where
    the tension then is the pretension.
    """

    name: ElementName
    frames: Annotated[
        Sequence[At], Holds("frames that it is led over", At, "write a list of At(...)", one=False, many=True)
    ]
    stiffness: Annotated[float, Quantity("N/m", "tension per elongation", above=0)]
    damping: Annotated[float, Quantity("N s/m", "tension per rate of elongation", at_least=0)] = 0.0
    pretension: Annotated[float, Quantity("N", "tension at the rest length", at_least=0)] = 0.0
    rest_length: Annotated[float | None, Quantity("m", "length at the pretension", above=0)] = None

    def conflicts(self) -> Iterator[Problem]:
        if len(self.frames) < 2:
            yield Problem("has 1 entry and must have at least 2; write the frames of both ends", ("frames",))
        elif len({(at.link, at.section) for at in self.frames}) == 1:
            yield Problem("are all fixed to one part; put one on another part", ("frames",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        rest, laws = self.rest_length, (((self.stiffness,),), ((self.damping,),))
        slack = self.pretension / self.stiffness
        about = f"stiffness {self.stiffness:g}, pretension {self.pretension:g}"
        about += "" if rest is None else f", rest length {rest:g}"
        cable = Relation(self.name, "tendon", Measure.LENGTH, tuple(self.frames), *laws, acts=Acts.ABOVE, about=about)
        return (Related(replace(cable, rest=(rest or 0.0) - slack, from_start=rest is None)),)
