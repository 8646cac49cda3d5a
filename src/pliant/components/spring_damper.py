"""A spring and damper between the origins of two frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pliant.components.kinds import Contribution, Related
from pliant.components.two_frames import ElementName, FirstFrame, SecondFrame, same_section
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import Measure, Relation
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class SpringDamper(Declared):
    """The origins of two frames pull at each other with  stiffness (length - rest_length) + damping length'."""

    name: ElementName
    first: FirstFrame
    second: SecondFrame
    stiffness: Annotated[float, Quantity("N/m", "force per elongation", at_least=0)]
    damping: Annotated[float, Quantity("N s/m", "force per rate of elongation", at_least=0)]
    rest_length: Annotated[float, Quantity("m", "length without force", at_least=0)]

    def conflicts(self) -> Iterator[Problem]:
        yield from same_section(self.first, self.second)
        if self.stiffness == 0 and self.damping == 0:
            yield Problem("= 0 N/m without damping has no effect; write a stiffness in N/m", ("stiffness",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        frames, rest = (self.first, self.second), self.rest_length
        about = f"stiffness {self.stiffness:g}, rest length {rest:g}"
        laws = ((self.stiffness,),), ((self.damping,),)
        return (Related(Relation(self.name, "spring", Measure.LENGTH, frames, *laws, rest, about=about)),)
