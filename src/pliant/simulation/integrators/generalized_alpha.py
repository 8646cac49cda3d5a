"""Generalized-alpha: second order with tunable numerical damping."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pliant.errors import InvalidInput
from pliant.model.contract import Promise
from pliant.model.stage_method import StageMethod, generalized_alpha
from pliant.simulation.integrators.gauss import check_positive


@cache
def _method(spectral_radius: float) -> StageMethod:
    return generalized_alpha(spectral_radius)


@dataclass(frozen=True)
class GeneralizedAlpha:
    """Generalized-alpha for first-order systems; modes too fast for the step shrink by ``spectral_radius`` a step.

    Its energy account does not close: the residual is the numerical damping.
    """

    step: float = 1e-3
    spectral_radius: float = 0.9
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        check_positive("step", self.step, "s", "GeneralizedAlpha")
        check_positive("tolerance", self.tolerance, "1", "GeneralizedAlpha")
        if not 0.0 <= self.spectral_radius <= 1.0:
            raise InvalidInput(
                f"spectral_radius = {self.spectral_radius:g} must lie in [0, 1]; 1 damps nothing, 0.9 a little"
            )

    @property
    def method(self) -> StageMethod:
        return _method(self.spectral_radius)

    @property
    def promise(self) -> Promise:
        return Promise(self.tolerance, float("inf"))
