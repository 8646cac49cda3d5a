"""Ways to step in time, one file each."""

from pliant.simulation.integrators.adaptive import Adaptive
from pliant.simulation.integrators.gauss import Gauss
from pliant.simulation.integrators.generalized_alpha import GeneralizedAlpha
from pliant.simulation.integrators.runge_kutta_gill import RungeKuttaGill

__all__ = ["Adaptive", "Gauss", "GeneralizedAlpha", "RungeKuttaGill"]
