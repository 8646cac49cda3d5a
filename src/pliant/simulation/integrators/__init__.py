"""Ways to step in time, one file each."""

from pliant.simulation.integrators.adaptive import Adaptive
from pliant.simulation.integrators.gauss import Gauss
from pliant.simulation.integrators.generalized_alpha import GeneralizedAlpha

__all__ = ["Adaptive", "Gauss", "GeneralizedAlpha"]
