"""A bushing: all six stiffnesses between two frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pliant.components.kinds import Contribution, Related
from pliant.components.two_frames import ElementName, FirstFrame, SecondFrame, same_section
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import Matrix, Measure, Relation
from pliant.robot.axes import ZERO6
from pliant.robot.declared import Declared, MatrixLike, Quantity
from pliant.robot.joint_law import WrenchStiffness


@dataclass(frozen=True)
class Bushing(Declared):
    """Two frames pull at each other in all six directions; at rest they coincide.

    With the displacement e = log(first^-1 second), three lengths and then three angles in the axes of the first
    frame, the wrench is  stiffness e + damping e'.
    """

    name: ElementName
    first: FirstFrame
    second: SecondFrame
    stiffness: WrenchStiffness
    damping: Annotated[
        MatrixLike, Quantity.matrix("N s/m, N s/rad, N m s/rad", "wrench (6 values or 6x6) per rate of displacement")
    ] = ZERO6

    def conflicts(self) -> Iterator[Problem]:
        yield from same_section(self.first, self.second)
        if not any(entry for row in (*_rows(self.stiffness), *_rows(self.damping)) for entry in row):
            yield Problem("= 0 without damping has no effect; write a stiffness in N/m and N m/rad", ("stiffness",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        frames, laws = (self.first, self.second), (_rows(self.stiffness), _rows(self.damping))
        return (Related(Relation(self.name, "bushing", Measure.POSE, frames, *laws)),)


def _rows(matrix: MatrixLike) -> Matrix:
    """A checked matrix, which is always given by its rows."""
    return tuple(tuple(row) for row in matrix if isinstance(row, tuple))
