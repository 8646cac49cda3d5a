"""Links, the bodies between joints, and payloads that they carry."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput, Problem
from pliant.robot import section as sections
from pliant.robot.axes import IDENTITY, ORIGIN, ZERO6
from pliant.robot.declared import Choice, Declared, MatrixLike, Name, Part, Quantity, Quaternion, Vector3, Vector6
from pliant.robot.rest_shape import RestShape, Straight, StrainField
from pliant.robot.section import Array, Law, LinearLaw, Material, Section, UniformSection


class End(StrEnum):
    """One of the two end sections of a link."""

    ROOT = "root"
    TIP = "tip"


@dataclass(frozen=True)
class Payload(Declared, word="payload"):
    """A rigid body fixed to an end section of a link; the mass may be 0 when an inertia is given."""

    name: Annotated[str, Name("name of the payload")]
    link: Annotated[str, Name("link that carries it")]
    mass: Annotated[float, Quantity("kg", "mass of the body", at_least=0, usual=(0.0, 1e5))]
    center_of_mass: Annotated[
        Vector3, Quantity.vector("m", "centre of mass (x, y, z) in the frame of that end section")
    ] = ORIGIN
    inertia: Annotated[MatrixLike, Quantity.inertia("the end section's")] = ORIGIN
    at: Annotated[End, Choice("end of the link that carries it")] = End.TIP

    def conflicts(self) -> Iterator[Problem]:
        if self.mass == 0 and not any(any(row) for row in self.inertia if isinstance(row, tuple)):
            yield Problem("= 0 kg without inertia has no effect; write a mass in kilograms or an inertia", ("mass",))


POINTS_PER_STRETCH = 8  # enough for sections that taper with the fourth power of a dimension
_gauss_rule = cache(np.polynomial.legendre.leggauss)
STATION_SLACK = 1e-9


class Link(Declared, ABC):
    """A body with a root frame and a tip frame."""

    if TYPE_CHECKING:  # every link has them, as a field or as a property

        @property
        def length(self) -> float: ...
        @property
        def mass(self) -> float: ...

    name: str


@dataclass(frozen=True)
class FlexibleLink(Link, word="flexible"):
    """A slender body whose axis is local x; it stretches, shears, twists and bends."""

    name: Annotated[str, Name("name of the link")]
    length: Annotated[float, Quantity("m", "length of the undeformed axis", above=0, usual=(1e-3, 200.0))]
    section: Annotated[Section, Part("cross-section")]
    material: Annotated[Material | None, Part("material of the section")] = None
    rest_shape: Annotated[RestShape, Part("shape of the unloaded link")] = field(default_factory=Straight)
    law: Annotated[Law, Part("constitutive law")] = field(default_factory=LinearLaw)
    viscous_damping: Annotated[
        Vector6, Quantity.coefficients("N s/m^2, N s", "external viscous wrench per length and per unit twist")
    ] = ZERO6

    def conflicts(self) -> Iterator[Problem]:
        if self.material is None and self.section.needs_material:
            yield Problem("is missing, but the section needs it; write the material of the section", ("material",))
        if self.material is not None and not self.section.needs_material:
            yield Problem("is not used by a general section; remove it", ("material",))
        for name, table in (("section", self.section), ("rest_shape", self.rest_shape)):
            if isinstance(table, (sections.Stations, StrainField)):
                yield from (p.inside(name) for p in sections.span_conflicts(table.positions, self.length))

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Stations strictly inside the link at which a property jumps or kinks."""
        tables = (t for t in (self.section, self.rest_shape) if isinstance(t, (sections.Stations, StrainField)))
        return tuple(sorted({station for table in tables for station in table.positions[1:-1]}))

    @property
    def mass(self) -> float:
        """Of the link without payloads, in kilograms."""
        points, weights = _gauss_rule(POINTS_PER_STRETCH)
        mass = 0.0
        for start, end in pairwise((0.0, *self.breakpoints, self.length)):
            stations = start + (points + 1.0) / 2.0 * (end - start)
            mass += float(weights @ self.inertia(stations)[:, 0, 0]) * (end - start) / 2.0
        return mass

    @property
    def slenderness(self) -> float:
        """Length over the largest radius of gyration sqrt(EI / EA) anywhere along the link."""
        diagonal = np.diagonal(self.stiffness(np.linspace(0.0, self.length, 21)), axis1=1, axis2=2)
        gyration = np.sqrt(diagonal[:, 4:].max(axis=1) / diagonal[:, 0])
        return float(self.length / gyration.max())

    @property
    def massless(self) -> bool:
        """Whether some section of the link has no mass."""
        return bool(np.any(self.inertia([0.0, *self.breakpoints, self.length])[:, 0, 0] == 0.0))

    def stiffness(self, s: ArrayLike) -> Array:
        """Section stiffness at the stations s, (n, 6, 6), order (EA, GAy, GAz, GJ, EIy, EIz)."""
        return self._matrices(s, lambda section: section.stiffness_of(self.material))

    def inertia(self, s: ArrayLike) -> Array:
        """Inertia per length at the stations s, (n, 6, 6)."""
        return self._matrices(s, lambda section: section.inertia_of(self.material))

    def material_damping(self, s: ArrayLike) -> Array:
        """Section wrench per strain rate at the stations s, (n, 6, 6)."""
        return self._matrices(s, lambda section: section.damping_of(self.material))

    def viscous_damping_matrix(self, s: ArrayLike) -> Array:
        """External viscous wrench per length and unit twist at the stations s, (n, 6, 6)."""
        matrix: Array = np.diag(np.array(self.viscous_damping, dtype=float))
        return matrix[None].repeat(len(self._stations(s)), axis=0)

    def rest_strain(self, s: ArrayLike) -> Array:
        """Strain of the unloaded link at the stations s, (n, 6); straight is (1, 0, 0, 0, 0, 0)."""
        return self.rest_shape.strain(self._stations(s), self.length)

    def _stations(self, s: ArrayLike) -> Array:
        stations = np.atleast_1d(np.asarray(s, dtype=float))
        inside: Array = np.minimum(np.maximum(stations, 0.0), self.length)
        beyond = np.count_nonzero(~(np.abs(stations - inside) <= STATION_SLACK * self.length))
        if stations.ndim != 1 or beyond:
            raise InvalidInput(
                f"{self.label}: stations must lie between 0 and length = {self.length:g} m; write them so"
            )
        return inside

    def _matrices(self, s: ArrayLike, matrix_of: Callable[[UniformSection], Array]) -> Array:
        stations = self._stations(s)
        if isinstance(self.section, sections.VaryingSection):
            return self.section.matrices(stations, self.length, matrix_of)
        assert isinstance(self.section, UniformSection)
        return matrix_of(self.section)[None].repeat(len(stations), axis=0)


@dataclass(frozen=True)
class RigidLink(Link, word="rigid"):
    """A body that does not deform; positions and inertia are in its root frame."""

    name: Annotated[str, Name("name of the link")]
    tip_position: Annotated[Vector3, Quantity.vector("m", "position (x, y, z) of the tip in the root frame")]
    mass: Annotated[float, Quantity("kg", "mass of the body", at_least=0, usual=(0.0, 1e5))]
    tip_rotation: Annotated[Quaternion, Quantity.quaternion("from tip frame to root frame")] = IDENTITY
    center_of_mass: Annotated[Vector3, Quantity.vector("m", "centre of mass (x, y, z) in the root frame")] = ORIGIN
    inertia: Annotated[MatrixLike, Quantity.inertia("the root frame's")] = ORIGIN

    @property
    def length(self) -> float:
        """From root to tip, in metres."""
        return float(np.linalg.norm(self.tip_position))


@dataclass(frozen=True)
class MadeRigid(RigidLink):
    """A link that a formulation takes as rigid; it keeps the flexible one, so that stations still have a meaning."""

    flexible: Annotated[FlexibleLink | None, Part("flexible link that it was made of")] = None

    @property
    def written(self) -> Link:
        return RigidLink(
            self.name, self.tip_position, self.mass, self.tip_rotation, self.center_of_mass, self.inertia
        )  # fmt: skip


MadeRigid.word = RigidLink.word  # what it is called; files have no word of its own for it
