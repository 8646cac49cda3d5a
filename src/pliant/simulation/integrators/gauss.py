"""Gauss collocation: the default, exact in energy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pliant.errors import clip
from pliant.model.contract import NewtonTolerance
from pliant.model.stage_method import StageMethod, gauss_collocation
from pliant.robot.declared import BadValue, Declared, Quantity

ORDERS = (2, 4, 6, 8)


@dataclass(frozen=True)
class GaussOrder:
    """The declaration of a field that holds an order of Gauss collocation."""

    meaning: str = "order in time"

    def checked(self, value: object) -> int:
        if isinstance(value, int) and value in ORDERS:
            return int(value)
        raise BadValue(f"= {clip(repr(value))} must be 2, 4, 6 or 8; 4 serves most arms, 8 references")


@cache
def gauss_method(order: int) -> StageMethod:
    return gauss_collocation(order // 2)


Step = Annotated[float, Quantity("s", "length of all steps", above=0)]
Tolerance = Annotated[
    float, Quantity("1", "error of displacement, over the reach, at which Newton's method stops", above=0)
]
EnergyTolerance = Annotated[
    float, Quantity("1", "part of the energy exchanged in a step that the ledger may miss", above=0)
]


@dataclass(frozen=True)
class Gauss(Declared):
    """Gauss collocation of order 2 (implicit midpoint rule), 4, 6 or 8 with a fixed step in seconds.

    Newton stops when the next increment would change no displacement by more than ``tolerance`` times the
    reach of the arm, and the energy of the step is accounted for to ``energy_tolerance`` of what it
    exchanges.
    """

    order: Annotated[int, GaussOrder()] = 4
    step: Step = 1e-3
    tolerance: Tolerance = 1e-9
    energy_tolerance: EnergyTolerance = 1e-11

    @property
    def method(self) -> StageMethod:
        return gauss_method(self.order)

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(self.tolerance, self.energy_tolerance)
