"""The shape of an unloaded link, as strain along its axis: the pose obeys H' = H hat(rest strain)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import numpy as np

from pliant.errors import Problem
from pliant.robot.declared import Choice, Declared, Quantity, Vector6
from pliant.robot.section import Array, StationPositions, count_conflicts, interpolate

STRAIGHT = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])


class Across(StrEnum):
    """An axis across the link, in the section frame."""

    Y = "y"
    Z = "z"


class RestShape(Declared, ABC):
    """The unloaded shape of a link."""

    @abstractmethod
    def strain(self, s: Array, length: float) -> Array:
        """Strain (tangent, curvature) at the stations s, (n, 6); a straight link has (1, 0, 0, 0, 0, 0)."""


@dataclass(frozen=True)
class Straight(RestShape, word="straight"):
    """A straight link."""

    def strain(self, s: Array, length: float) -> Array:
        return STRAIGHT[None].repeat(len(s), axis=0)


@dataclass(frozen=True)
class Arc(RestShape, word="arc"):
    """A circular arc."""

    angle: Annotated[float, Quantity("rad", "angle between root tangent and tip tangent")]
    normal: Annotated[Across, Choice("section axis that is normal to the plane of the arc")] = Across.Z

    def strain(self, s: Array, length: float) -> Array:
        strains = STRAIGHT[None].repeat(len(s), axis=0)
        strains[:, 4 if self.normal is Across.Y else 5] = self.angle / length
        return strains


@dataclass(frozen=True)
class Helix(RestShape, word="helix"):
    """A helix that begins along local x and bends towards local y (its section frame is the Frenet frame)."""

    radius: Annotated[float, Quantity("m", "radius of the cylinder on which the axis winds", above=0)]
    pitch: Annotated[float, Quantity("m", "advance per turn (negative: left-handed)")]

    def strain(self, s: Array, length: float) -> Array:
        rise = self.pitch / (2 * math.pi)
        scale = self.radius**2 + rise**2
        strains = STRAIGHT[None].repeat(len(s), axis=0)
        strains[:, 3] = rise / scale
        strains[:, 5] = self.radius / scale
        return strains


@dataclass(frozen=True)
class StrainField(RestShape, word="strain_field"):
    """Any shape: strain from straight at given stations, linear between; a repeated position is a jump."""

    positions: StationPositions
    strains: Annotated[
        tuple[Vector6, ...],
        Quantity("1, 1/m", "strain (gamma_x..z, kappa_x..z) from straight at each position", shape=(None, 6)),
    ]

    def conflicts(self) -> Iterator[Problem]:
        yield from count_conflicts(self.positions, len(self.strains), "strains")
        for i, strain in enumerate(self.strains):
            if strain[0] <= -1:
                yield Problem(
                    f"= {strain[0]:g} must be greater than -1; write a stretch that leaves some length",
                    ("strains", i, 0),
                )

    def strain(self, s: Array, length: float) -> Array:
        return STRAIGHT + interpolate(s, self.positions, np.array(self.strains))
