"""Cross-sections that are the same all along: shapes of a material, or given 6x6 matrices.

A section matrix acts on (linear, angular) 6-vectors in the section frame: x along the link, y and z across.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pliant.errors import Problem
from pliant.robot.declared import Declared
from pliant.robot.material import Material
from pliant.robot.quantity import Demand, MatrixLike, Quantity

Array = NDArray[np.float64]
TORSION_TERMS = 40


class Section(Declared, ABC):
    """Anything that a link accepts as its section."""

    @property
    @abstractmethod
    def needs_material(self) -> bool: ...


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

    @property
    def needs_material(self) -> bool:
        return True

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


@dataclass(frozen=True)
class Rectangle(Shape, word="rectangle"):
    """A solid rectangle."""

    height: Annotated[float, Quantity("m", "extent of the section along y", above=0)]
    width: Annotated[float, Quantity("m", "extent of the section along z", above=0)]
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
        odd = np.arange(1, 2 * TORSION_TERMS, 2)
        tail = float(np.sum(np.tanh(odd * (math.pi * long / (2 * short))) / odd.astype(float) ** 5))
        return long * short**3 / 3 * (1 - 192 * short / (math.pi**5 * long) * tail)

    def shear_correction(self, poisson: float) -> float:
        return self.shear_factor


@dataclass(frozen=True)
class Circle(Shape, word="circle"):
    """A solid circle."""

    radius: Annotated[float, Quantity("m", "radius of the section", above=0)]
    shear_factor: Annotated[
        float | None, Quantity("1", "shear correction factor (without it: Cowper's)", above=0, at_most=1)
    ] = None

    @property
    def area(self) -> float:
        return math.pi * self.radius**2

    @property
    def moment_y(self) -> float:
        return math.pi * self.radius**4 / 4

    @property
    def moment_z(self) -> float:
        return self.moment_y

    @property
    def torsion_constant(self) -> float:
        return 2 * self.moment_y

    def shear_correction(self, poisson: float) -> float:
        return self.shear_factor if self.shear_factor is not None else cowper_tube(0.0, poisson)


@dataclass(frozen=True)
class Tube(Shape, word="tube"):
    """A round tube."""

    outer_radius: Annotated[float, Quantity("m", "outer radius of the section", above=0)]
    inner_radius: Annotated[float, Quantity("m", "inner radius of the section", at_least=0)]
    shear_factor: Annotated[
        float | None, Quantity("1", "shear correction factor (without it: Cowper's)", above=0, at_most=1)
    ] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.inner_radius >= self.outer_radius:
            yield Problem(
                f"= {self.inner_radius:g} m must be less than outer_radius = {self.outer_radius:g} m;"
                " write the inner radius of the section in metres",
                ("inner_radius",),
            )

    @property
    def area(self) -> float:
        return math.pi * (self.outer_radius**2 - self.inner_radius**2)

    @property
    def moment_y(self) -> float:
        return math.pi / 4 * (self.outer_radius**4 - self.inner_radius**4)

    @property
    def moment_z(self) -> float:
        return self.moment_y

    @property
    def torsion_constant(self) -> float:
        return 2 * self.moment_y

    def shear_correction(self, poisson: float) -> float:
        ratio = self.inner_radius / self.outer_radius
        return self.shear_factor if self.shear_factor is not None else cowper_tube(ratio, poisson)


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
        MatrixLike,
        Quantity(
            "N, N m, N m^2",
            "stiffness (EA, GAy, GAz, GJ, EIy, EIz)",
            shape=(6, 6),
            demand=Demand.POSITIVE_DEFINITE,
        ),
    ]
    inertia: Annotated[
        MatrixLike | None,
        Quantity(
            "kg/m, kg, kg m",
            "inertia per length (mass three times, then rotary inertia about x, y, z; without it: massless)",
            shape=(6, 6),
            demand=Demand.POSITIVE_DEFINITE,
        ),
    ] = None
    damping: Annotated[
        float | MatrixLike,
        Quantity("s", "Kelvin-Voigt time constant (damping is this times stiffness)", at_least=0),
        Quantity(
            "N s, N m s, N m^2 s",
            "damping matrix (stress per strain rate)",
            shape=(6, 6),
            demand=Demand.POSITIVE_SEMIDEFINITE,
        ),
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
