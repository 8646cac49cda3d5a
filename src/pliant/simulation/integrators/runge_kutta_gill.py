"""The explicit method of Runge, Kutta and Gill."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pliant.model.contract import NewtonTolerance
from pliant.model.stage_method import ExplicitMethod, runge_kutta_gill
from pliant.robot.declared import Declared
from pliant.simulation.integrators.gauss import Step


@cache
def _method() -> ExplicitMethod:
    return runge_kutta_gill()


@dataclass(frozen=True)
class RungeKuttaGill(Declared):
    """The explicit method of order four of [konno1996], for lumped and rigid arms, with a fixed step in seconds.

    Its energy ledger does not balance: the residual is its drift. Steps longer than about 2.8 over the highest angular
    frequency of the arm let it explode.
    """

    step: Step = 1e-4

    @property
    def method(self) -> ExplicitMethod:
        return _method()

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(float("inf"), float("inf"))
