"""Adaptive Gauss collocation of high order, for reference solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pliant.model.contract import NewtonTolerance
from pliant.model.stage_method import StageMethod
from pliant.robot.declared import Declared, Quantity
from pliant.simulation.integrators.gauss import GaussOrder, gauss_method


@dataclass(frozen=True)
class Adaptive(Declared):
    """Gauss collocation whose steps are halved or grown until one step and two halves agree.

    ``accuracy`` bounds their difference relative to the largest value so far of each kind of state.
    """

    accuracy: Annotated[
        float, Quantity("1", "difference between one step and two half steps that is allowed", above=0)
    ] = 1e-9
    order: Annotated[int, GaussOrder()] = 8
    first_step: Annotated[float, Quantity("s", "first step to try", above=0)] = 1e-3
    largest_step: Annotated[float, Quantity("s", "longest step", above=0)] = 0.1
    smallest_step: Annotated[float, Quantity("s", "shortest step, below which the run ends", above=0)] = 1e-9

    @property
    def method(self) -> StageMethod:
        return gauss_method(self.order)

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(min(1e-10, 0.01 * self.accuracy), 1e-11)
