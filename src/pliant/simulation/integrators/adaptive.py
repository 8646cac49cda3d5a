"""Adaptive Gauss collocation of high order, for reference solutions."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import InvalidInput
from pliant.model.contract import Promise
from pliant.model.stage_method import StageMethod
from pliant.simulation.integrators.gauss import ORDERS, Gauss, check_positive


@dataclass(frozen=True)
class Adaptive:
    """Gauss collocation whose steps are halved or grown until one step and two halves agree.

    ``accuracy`` bounds their difference relative to the largest value so far of each kind of state.
    """

    accuracy: float = 1e-9
    order: int = 8
    first_step: float = 1e-3
    largest_step: float = 0.1
    smallest_step: float = 1e-9

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InvalidInput(
                f"order = {self.order} of Adaptive must be one of {ORDERS}; 8 suits references"
            )
        for field in ("accuracy", "first_step", "largest_step", "smallest_step"):
            check_positive(field, getattr(self, field), "1" if field == "accuracy" else "s", "Adaptive")

    @property
    def method(self) -> StageMethod:
        return Gauss(self.order).method

    @property
    def promise(self) -> Promise:
        return Promise(min(1e-10, 0.01 * self.accuracy), 1e-11)
