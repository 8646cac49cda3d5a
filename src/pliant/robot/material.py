"""Isotropic linear materials."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pliant.errors import Problem
from pliant.robot.declared import Declared, Name
from pliant.robot.quantity import Quantity


@dataclass(frozen=True)
class Material(Declared, word="material"):
    """What a link is made of; give either Poisson's ratio or the shear modulus."""

    name: Annotated[str, Name("name of the material")]
    young: Annotated[float, Quantity("Pa", "modulus of elasticity (Young's)", above=0)]
    density: Annotated[float, Quantity("kg/m^3", "mass per volume", above=0)]
    poisson: Annotated[
        float | None, Quantity("1", "ratio of contraction to stretch (Poisson's)", above=-1, at_most=0.5)
    ] = None
    shear: Annotated[float | None, Quantity("Pa", "shear modulus", above=0)] = None
    damping: Annotated[
        float, Quantity("s", "Kelvin-Voigt time constant (damping is this times stiffness)", at_least=0)
    ] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        if self.poisson is None and self.shear is None:
            yield Problem("needs poisson or shear; write Poisson's ratio or the shear modulus in pascals")
        if self.poisson is not None and self.shear is not None:
            yield Problem("is given together with poisson; write only one of the two", ("shear",))

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
