"""A wall that pushes what comes behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from pliant.components.base_motion import rotated
from pliant.components.kinds import Contribution, Related
from pliant.components.two_frames import ElementName
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import Acts, Measure, Relation
from pliant.robot import At
from pliant.robot.declared import Declared, Part, Quantity, Vector3
from pliant.robot.joint import BASE, plain


@dataclass(frozen=True)
class Wall(Declared):
    """A plane of the world that pushes the origin of a frame back along its normal.

    Behind the plane, at the depth d, the force is  stiffness d + damping d',  but never a pull.
    """

    name: ElementName
    at: Annotated[At, Part("frame whose origin meets the wall")]
    point: Annotated[Vector3, Quantity.vector("m", "point (x, y, z) of the plane in the world")]
    normal: Annotated[Vector3, Quantity.direction("direction (x, y, z) in the world in which the wall pushes")]
    stiffness: Annotated[float, Quantity("N/m", "force per depth", above=0)]
    damping: Annotated[float, Quantity("N s/m", "force per rate of depth", at_least=0)] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        if self.at.link == BASE:
            yield Problem("= 'base' is moved by no wall; write a link", ("at", "link"))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        base = arm.robot.base
        w, x, y, z = base.rotation
        away = [point - origin for point, origin in zip(self.point, base.position)]
        inside, normal = rotated((w, -x, -y, -z), np.array([away, self.normal]))
        frames, laws = (At(BASE, position=plain(inside)), self.at), (((self.stiffness,),), ((self.damping,),))
        wall = Relation(self.name, "wall", Measure.HEIGHT, frames, *laws, acts=Acts.BELOW, axis=plain(normal))
        return (Related(replace(wall, about=f"stiffness {self.stiffness:g}", in_world=True)),)
