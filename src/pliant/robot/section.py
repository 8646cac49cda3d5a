"""Materials, constitutive laws and cross-sections.

A section matrix acts on (linear, angular) 6-vectors in the section frame: x along the link, y and z across.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pliant.errors import Problem
from pliant.robot.axes import ZERO6
from pliant.robot.declared import Declared, Demand, MatrixLike, Name, Part, Quantity, Vector6, declarations

STIFF = (1e4, 2e12)  # Pa, from foam to diamond
# Gels and silicones of less than 1e6 Pa have 1000 to 1200 kg/m^3; metals, glass and fibres in N/mm^2 have the rest.
SOFTEST, LIGHT = 1e6, 1500.0  # Pa, kg/m^3
WIDE = (1e-6, 10.0)  # m, from a foil to a tower
KELVIN_VOIGT = Quantity("s", "Kelvin-Voigt time constant (damping is this times stiffness)", at_least=0)


@dataclass(frozen=True)
class Material(Declared, word="material"):
    """What a link is made of; give either Poisson's ratio or the shear modulus."""

    name: Annotated[str, Name("name of the material")]
    young: Annotated[float, Quantity("Pa", "modulus of elasticity (Young's)", above=0, usual=STIFF)]
    density: Annotated[float, Quantity("kg/m^3", "mass per volume", above=0, usual=(10.0, 3e4))]
    poisson: Annotated[
        float | None, Quantity("1", "ratio of contraction to stretch (Poisson's)", above=-1, at_most=0.5)
    ] = None
    shear: Annotated[float | None, Quantity("Pa", "shear modulus", above=0, usual=STIFF)] = None
    damping: Annotated[float, KELVIN_VOIGT] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        if self.poisson is None and self.shear is None:
            yield Problem("needs poisson or shear; write Poisson's ratio or the shear modulus in pascals")
        if self.poisson is not None and self.shear is not None:
            yield Problem("is given together with poisson; write only one of the two", ("shear",))

    def unlikely(self) -> Iterator[Problem]:
        if STIFF[0] <= self.young < SOFTEST and self.density > LIGHT:
            yield Problem(
                f"= {self.young:g} Pa is softer than any solid of {self.density:g} kg/m^3; if {self.young:g} N/mm^2 is"
                f" meant, write {1e6 * self.young:.4g}",
                ("young",),
            )

    @property
    def shear_modulus(self) -> float:
        """Shear modulus in pascal, given or from Poisson's ratio."""
        if self.shear is not None:
            return self.shear
        assert self.poisson is not None
        return self.young / (2 * (1 + self.poisson))

    @property
    def poisson_ratio(self) -> float:
        """Poisson's ratio, given or from the shear modulus of an isotropic material."""
        return self.poisson if self.poisson is not None else self.young / (2 * self.shear_modulus) - 1


class Law(Declared, ABC):
    """The relation between strain and section wrench."""


@dataclass(frozen=True)
class LinearLaw(Law, word="linear"):
    """wrench = C e, with the section stiffness C."""


@dataclass(frozen=True)
class HardeningLaw(Law, word="hardening"):
    """wrench_i = (C e)_i + cubic_i e_i^3 + quintic_i e_i^5; coefficients >= 0 make the energy convex."""

    cubic: Annotated[Vector6, Quantity.coefficients("N, N m^4", "six coefficients of the cubed strains")]
    quintic: Annotated[
        Vector6, Quantity.coefficients("N, N m^6", "six coefficients of the fifth powers of the strains")
    ] = ZERO6


Array = NDArray[np.float64]
TORSION_TERMS = 40


class Section(Declared, ABC):
    """Anything that a link accepts as its section."""

    @property
    def needs_material(self) -> bool:
        return True


class UniformSection(Section, ABC):
    """A section that is the same at every station."""

    @abstractmethod
    def stiffness_of(self, material: Material | None) -> Array: ...

    @abstractmethod
    def inertia_of(self, material: Material | None) -> Array: ...

    @abstractmethod
    def damping_of(self, material: Material | None) -> Array: ...


class Shape(UniformSection, ABC):
    """A plane figure with two axes of symmetry, filled with one material."""

    @property
    @abstractmethod
    def area(self) -> float: ...

    @property
    @abstractmethod
    def moment_y(self) -> float: ...

    @property
    @abstractmethod
    def moment_z(self) -> float: ...

    @property
    @abstractmethod
    def torsion_constant(self) -> float: ...

    @abstractmethod
    def shear_correction(self, poisson: float) -> float: ...

    def stiffness_of(self, material: Material | None) -> Array:
        """diag(EA, GAy, GAz, GJ, EIy, EIz) with sheared areas, in N and N m^2."""
        made_of = _required(material)
        young, shear = made_of.young, made_of.shear_modulus
        sheared = self.shear_correction(made_of.poisson_ratio) * shear * self.area
        bending = (young * self.moment_y, young * self.moment_z)
        return np.diag([young * self.area, sheared, sheared, shear * self.torsion_constant, *bending])

    def inertia_of(self, material: Material | None) -> Array:
        """Mass per length (kg/m) three times, then rotary inertia per length (kg m) about x, y, z."""
        density = _required(material).density
        mass = density * self.area
        y, z = density * self.moment_y, density * self.moment_z
        return np.diag([mass, mass, mass, y + z, y, z])

    def damping_of(self, material: Material | None) -> Array:
        return _required(material).damping * self.stiffness_of(material)


def _required(material: Material | None) -> Material:
    assert material is not None, "links refuse shapes without material"
    return material


def rectangle_torsion(short: float, long: float) -> float:
    """Torsion constant of a rectangle with these sides, by Saint-Venant's series."""
    odd = np.arange(1, 2 * TORSION_TERMS, 2)
    tail = float(np.sum(np.tanh(odd * (math.pi * long / (2 * short))) / odd.astype(float) ** 5))
    return long * short**3 / 3 * (1 - 192 * short / (math.pi**5 * long) * tail)


@dataclass(frozen=True)
class Rectangle(Shape, word="rectangle"):
    """A solid rectangle."""

    height: Annotated[float, Quantity("m", "extent of the section along y", above=0, usual=WIDE)]
    width: Annotated[float, Quantity("m", "extent of the section along z", above=0, usual=WIDE)]
    shear_factor: Annotated[float, Quantity("1", "shear correction factor", above=0, at_most=1)] = 5 / 6

    @property
    def area(self) -> float:
        return self.height * self.width

    @property
    def moment_y(self) -> float:
        return self.height * self.width**3 / 12

    @property
    def moment_z(self) -> float:
        return self.width * self.height**3 / 12

    @property
    def torsion_constant(self) -> float:
        """Saint-Venant's series for a rectangle with sides long >= short."""
        short, long = sorted((self.height, self.width))
        return rectangle_torsion(short, long)

    def shear_correction(self, poisson: float) -> float:
        return self.shear_factor


class Round(Shape, ABC):
    """A circle, or the ring between two of them."""

    shear_factor: float | None

    @property
    @abstractmethod
    def radii(self) -> tuple[float, float]:
        """Outer and inner."""

    @property
    def area(self) -> float:
        outer, inner = self.radii
        return math.pi * (outer**2 - inner**2)

    @property
    def moment_y(self) -> float:
        outer, inner = self.radii
        return math.pi / 4 * (outer**4 - inner**4)

    @property
    def moment_z(self) -> float:
        return self.moment_y

    @property
    def torsion_constant(self) -> float:
        return 2 * self.moment_y

    def shear_correction(self, poisson: float) -> float:
        outer, inner = self.radii
        return cowper_tube(inner / outer, poisson) if self.shear_factor is None else self.shear_factor


CowperFactor = Annotated[
    float | None, Quantity("1", "shear correction factor (without it: Cowper's)", above=0, at_most=1)
]


@dataclass(frozen=True)
class Circle(Round, word="circle"):
    """A solid circle."""

    radius: Annotated[float, Quantity("m", "radius of the section", above=0, usual=WIDE)]
    shear_factor: CowperFactor = None

    @property
    def radii(self) -> tuple[float, float]:
        return self.radius, 0.0


@dataclass(frozen=True)
class Tube(Round, word="tube"):
    """A round tube."""

    outer_radius: Annotated[float, Quantity("m", "outer radius of the section", above=0, usual=WIDE)]
    inner_radius: Annotated[float, Quantity("m", "inner radius of the section", at_least=0)]
    shear_factor: CowperFactor = None

    def conflicts(self) -> Iterator[Problem]:
        if self.inner_radius >= self.outer_radius:
            yield Problem(
                f"= {self.inner_radius:g} m must be less than outer_radius = {self.outer_radius:g} m;"
                " write the inner radius of the section in metres",
                ("inner_radius",),
            )

    @property
    def radii(self) -> tuple[float, float]:
        return self.outer_radius, self.inner_radius


def cowper_tube(ratio: float, poisson: float) -> float:
    """Shear factor of a tube with inner over outer radius ``ratio``, 0 for a circle [cowper1966]."""
    ring = (1 + ratio**2) ** 2
    return 6 * (1 + poisson) * ring / ((7 + 6 * poisson) * ring + (20 + 12 * poisson) * ratio**2)


@dataclass(frozen=True)
class GeneralSection(UniformSection, word="general"):
    """A section given by its matrices (or their diagonals), with any coupling; it needs no material.

    Without inertia the link is a massless spring, as the fields of lumped arms are.
    """

    stiffness: Annotated[
        MatrixLike, Quantity.matrix("N, N m, N m^2", "stiffness (EA, GAy, GAz, GJ, EIy, EIz)", Demand.POSITIVE_DEFINITE)
    ]
    inertia: Annotated[
        MatrixLike | None,
        Quantity.matrix(
            "kg/m, kg, kg m",
            "inertia per length (mass three times, then rotary inertia about x, y, z; without it: massless)",
            Demand.SECTION_INERTIA,
        ),
    ] = None
    damping: Annotated[
        float | MatrixLike,
        KELVIN_VOIGT,
        Quantity.matrix("N s, N m s, N m^2 s", "damping matrix (stress per strain rate)"),
    ] = 0.0

    @property
    def needs_material(self) -> bool:
        return False

    def stiffness_of(self, material: Material | None) -> Array:
        return np.array(self.stiffness, dtype=float)

    def inertia_of(self, material: Material | None) -> Array:
        return np.zeros((6, 6)) if self.inertia is None else np.array(self.inertia, dtype=float)

    def damping_of(self, material: Material | None) -> Array:
        if isinstance(self.damping, float):
            return self.damping * self.stiffness_of(material)
        return np.array(self.damping, dtype=float)


LENGTH_SLACK = 1e-9
StationPositions = Annotated[
    tuple[float, ...],
    Quantity("m", "ascending stations from 0 to the length", shape=(None,), at_least=0, demand=Demand.ASCENDING),
]


class VaryingSection(Section, ABC):
    """A section that depends on the station s along the link."""

    @abstractmethod
    def matrices(self, s: Array, length: float, matrix_of: Callable[[UniformSection], Array]) -> Array:
        """The matrix at each station, where ``matrix_of`` gives that of a uniform section; (n, 6, 6)."""


@dataclass(frozen=True)
class Tapered(VaryingSection, word="tapered"):
    """A shape whose dimensions change linearly from root to tip."""

    root: Annotated[Shape, Part("section at the root")]
    tip: Annotated[Shape, Part("section at the tip, of the same type")]

    def conflicts(self) -> Iterator[Problem]:
        if type(self.root) is not type(self.tip):
            yield Problem(
                f"is a {self.tip.word}, but the root is a {self.root.word}; write two of the same type", ("tip",)
            )
            return
        for declaration in declarations(type(self.root)):
            at_root, at_tip = getattr(self.root, declaration.name), getattr(self.tip, declaration.name)
            if (at_root is None) != (at_tip is None):
                yield Problem("is given at one end only; write it at both or at none", ("tip", declaration.name))

    def section_at(self, fraction: float) -> Shape:
        """The shape at a fraction of the length."""
        dimensions = {}
        for declaration in declarations(type(self.root)):
            at_root, at_tip = getattr(self.root, declaration.name), getattr(self.tip, declaration.name)
            dimensions[declaration.name] = None if at_root is None else (1 - fraction) * at_root + fraction * at_tip
        return type(self.root)(**dimensions)

    def matrices(self, s: Array, length: float, matrix_of: Callable[[UniformSection], Array]) -> Array:
        return np.array([matrix_of(self.section_at(float(station / length))) for station in s]).reshape(-1, 6, 6)


@dataclass(frozen=True)
class Stations(VaryingSection, word="stations"):
    """Sections at given stations; the matrices are interpolated linearly, a repeated position is a jump."""

    positions: StationPositions
    sections: Annotated[tuple[UniformSection, ...], Part("one section for each position")]

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
        yield Problem("has one entry and must have at least 2; write the stations 0 and the length", ("positions",))
    if count != len(positions):
        yield Problem(f"has {count} entries and must have {len(positions)}; write one for each position", (what,))
    for i in range(2, len(positions)):
        if positions[i - 2] == positions[i]:
            yield Problem(f"= {positions[i]:g} m is the third in a row; write a jump as two", ("positions", i))


def span_conflicts(positions: tuple[float, ...], length: float) -> Iterator[Problem]:
    """Problems of a table over stations on a link of the given length."""
    for index, end in ((0, 0.0), (-1, length)):
        if abs(positions[index] - end) > LENGTH_SLACK * length:
            where = index % len(positions)
            what = "the first station must be 0 m" if index == 0 else f"the last must be the length, {length:g} m"
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
