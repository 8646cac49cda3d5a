"""Gauss collocation: the default, exact in energy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pliant.errors import InvalidInput
from pliant.model.contract import Promise
from pliant.model.stage_method import StageMethod, gauss_collocation

ORDERS = (2, 4, 6, 8)


@cache
def _method(order: int) -> StageMethod:
    return gauss_collocation(order // 2)


@dataclass(frozen=True)
class Gauss:
    """Gauss collocation of order 2 (implicit midpoint rule), 4, 6 or 8 with a fixed step in seconds.

    Newton stops when the next increment would change no displacement by more than ``tolerance`` times the
    reach of the arm, and the energy of the step is accounted for to ``energy_tolerance`` of what it
    exchanges.
    """

    order: int = 4
    step: float = 1e-3
    tolerance: float = 1e-9
    energy_tolerance: float = 1e-11

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InvalidInput(f"order = {self.order} of Gauss must be one of {ORDERS}; 4 serves most arms")
        check_positive("step", self.step, "s", "Gauss")
        check_positive("tolerance", self.tolerance, "1", "Gauss")
        check_positive("energy_tolerance", self.energy_tolerance, "1", "Gauss")

    @property
    def method(self) -> StageMethod:
        return _method(self.order)

    @property
    def promise(self) -> Promise:
        return Promise(self.tolerance, self.energy_tolerance)


def check_positive(field: str, value: float, unit: str, owner: str) -> None:
    """Refuse what is not a positive finite number."""
    if not 0.0 < value < float("inf"):
        raise InvalidInput(
            f"{field} = {value:g} {unit} of {owner} must be positive and finite; choose another value"
        )
