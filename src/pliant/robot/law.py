"""Constitutive laws: how section force and moment follow from strain."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Annotated

from pliant.robot.declared import Declared
from pliant.robot.quantity import Quantity, Vector6

ZERO6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Law(Declared, ABC):
    """The relation between strain and section wrench."""


@dataclass(frozen=True)
class LinearLaw(Law, word="linear"):
    """wrench = C e, with the section stiffness C."""


@dataclass(frozen=True)
class HardeningLaw(Law, word="hardening"):
    """wrench_i = (C e)_i + cubic_i e_i^3 + quintic_i e_i^5; coefficients >= 0 make the energy convex."""

    cubic: Annotated[
        Vector6, Quantity("N, N m^4", "six coefficients of the cubed strains", shape=(6,), at_least=0)
    ]
    quintic: Annotated[
        Vector6,
        Quantity("N, N m^6", "six coefficients of the fifth powers of the strains", shape=(6,), at_least=0),
    ] = ZERO6
