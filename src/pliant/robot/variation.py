"""Sections that change along a link."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pliant.errors import Problem
from pliant.robot.declared import Part, declarations
from pliant.robot.quantity import Demand, Quantity
from pliant.robot.section import Section, Shape, UniformSection

Array = NDArray[np.float64]
LENGTH_SLACK = 1e-9


class VaryingSection(Section, ABC):
    """A section that depends on the station s along the link."""

    @abstractmethod
    def matrices(self, s: Array, length: float, matrix_of: Callable[[UniformSection], Array]) -> Array:
        """The matrix at each station, where ``matrix_of`` gives that of a uniform section; (n, 6, 6)."""


@dataclass(frozen=True)
class Tapered(VaryingSection, word="tapered"):
    """A shape whose dimensions change linearly from root to tip."""

    root: Annotated[Shape, Part("section at the root", Shape)]
    tip: Annotated[Shape, Part("section at the tip, of the same type", Shape)]

    def conflicts(self) -> Iterator[Problem]:
        if type(self.root) is not type(self.tip):
            yield Problem(
                f"is a {self.tip.word}, but the root is a {self.root.word}; write two of the same type",
                ("tip",),
            )
            return
        for declaration in declarations(type(self.root)):
            at_root, at_tip = getattr(self.root, declaration.name), getattr(self.tip, declaration.name)
            if (at_root is None) != (at_tip is None):
                yield Problem(
                    "is given at one end only; write it at both or at none", ("tip", declaration.name)
                )

    @property
    def needs_material(self) -> bool:
        return True

    def section_at(self, fraction: float) -> Shape:
        """The shape at a fraction of the length."""
        dimensions = {}
        for declaration in declarations(type(self.root)):
            at_root, at_tip = getattr(self.root, declaration.name), getattr(self.tip, declaration.name)
            dimensions[declaration.name] = (
                None if at_root is None else (1 - fraction) * at_root + fraction * at_tip
            )
        return type(self.root)(**dimensions)

    def matrices(self, s: Array, length: float, matrix_of: Callable[[UniformSection], Array]) -> Array:
        return np.array([matrix_of(self.section_at(float(station / length))) for station in s]).reshape(
            -1, 6, 6
        )


@dataclass(frozen=True)
class Stations(VaryingSection, word="stations"):
    """Sections at given stations; the matrices are interpolated linearly, a repeated position is a jump."""

    positions: Annotated[
        tuple[float, ...],
        Quantity(
            "m", "ascending stations from 0 to the length", shape=(None,), at_least=0, demand=Demand.ASCENDING
        ),
    ]
    sections: Annotated[
        tuple[UniformSection, ...], Part("one section for each position", UniformSection, many=True)
    ]

    def conflicts(self) -> Iterator[Problem]:
        yield from count_conflicts(self.positions, len(self.sections), "sections")

    @property
    def needs_material(self) -> bool:
        return any(section.needs_material for section in self.sections)

    def matrices(self, s: Array, length: float, matrix_of: Callable[[UniformSection], Array]) -> Array:
        return interpolate(s, self.positions, np.array([matrix_of(section) for section in self.sections]))


def count_conflicts(positions: tuple[float, ...], count: int, what: str) -> Iterator[Problem]:
    """Problems of a table over stations that do not depend on the link."""
    if len(positions) < 2:
        yield Problem(
            "has one entry and must have at least 2; write the stations 0 and the length", ("positions",)
        )
    if count != len(positions):
        yield Problem(
            f"has {count} entries and must have {len(positions)}; write one for each position", (what,)
        )
    for i in range(2, len(positions)):
        if positions[i - 2] == positions[i]:
            yield Problem(
                f"= {positions[i]:g} m is the third in a row; write a jump as two", ("positions", i)
            )


def span_conflicts(positions: tuple[float, ...], length: float) -> Iterator[Problem]:
    """Problems of a table over stations on a link of the given length."""
    for index, end in ((0, 0.0), (-1, length)):
        if abs(positions[index] - end) > LENGTH_SLACK * length:
            where = index % len(positions)
            what = (
                "the first station must be 0 m"
                if index == 0
                else f"the last must be the length, {length:g} m"
            )
            yield Problem(
                f"= {positions[index]:g} m, but {what}; write stations from root to tip", ("positions", where)
            )
    if len(positions) > 1 and (positions[0] == positions[1] or positions[-1] == positions[-2]):
        yield Problem("jumps at an end of the link; write each end once", ("positions",))


def interpolate(s: Array, positions: tuple[float, ...], values: Array) -> Array:
    """Piecewise linear in s; at a jump the value is that of the side towards the tip."""
    grid = np.asarray(positions)
    left = np.clip(np.searchsorted(grid, s, side="right") - 1, 0, len(grid) - 2)
    width = grid[left + 1] - grid[left]
    weight = np.clip((s - grid[left]) / width, 0.0, 1.0).reshape((-1,) + (1,) * (values.ndim - 1))
    return np.asarray((1 - weight) * values[left] + weight * values[left + 1])
