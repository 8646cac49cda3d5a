"""Generalized-alpha: second order with tunable numerical damping."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pliant.model.contract import NewtonTolerance
from pliant.model.stage_method import StageMethod, generalized_alpha
from pliant.robot.declared import Declared, Quantity
from pliant.simulation.integrators.gauss import Step, Tolerance


@cache
def _method(spectral_radius: float) -> StageMethod:
    return generalized_alpha(spectral_radius)


@dataclass(frozen=True)
class GeneralizedAlpha(Declared):
    """Generalized-alpha for first-order systems; modes too fast for the step shrink by ``spectral_radius`` a step.

    Its energy ledger does not balance: the residual is the numerical damping.
    """

    step: Step = 1e-3
    spectral_radius: Annotated[
        float, Quantity("1", "factor per step by which motions too fast for the step decay", at_least=0, at_most=1)
    ] = 0.9
    tolerance: Tolerance = 1e-9

    @property
    def method(self) -> StageMethod:
        return _method(self.spectral_radius)

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(self.tolerance, float("inf"))
