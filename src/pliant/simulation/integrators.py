"""Ways to step in time: Gauss collocation, exact in energy, by default; others for damping, papers and references."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pliant.errors import clip
from pliant.model import stage_method
from pliant.model.contract import NewtonTolerance
from pliant.model.stage_method import ExplicitMethod, StageMethod
from pliant.robot.declared import BadValue, Declared, Quantity

# coefficients are made once for all runs
gauss_collocation = cache(stage_method.gauss_collocation)
generalized_alpha = cache(stage_method.generalized_alpha)
runge_kutta_gill = cache(stage_method.runge_kutta_gill)
ORDERS = (2, 4, 6, 8)


@dataclass(frozen=True)
class GaussOrder:
    """The declaration of a field that holds an order of Gauss collocation."""

    meaning: str = "order in time"

    def checked(self, value: object) -> int:
        if isinstance(value, int) and value in ORDERS:
            return int(value)
        raise BadValue(f"= {clip(repr(value))} must be 2, 4, 6 or 8; 4 serves most arms, 8 references")


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
        return gauss_collocation(self.order // 2)

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(self.tolerance, self.energy_tolerance)


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
        return generalized_alpha(self.spectral_radius)

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(self.tolerance, float("inf"))


@dataclass(frozen=True)
class RungeKuttaGill(Declared):
    """The explicit method of order four of [konno1996], for lumped and rigid arms, with a fixed step in seconds.

    Its energy ledger does not balance: the residual is its drift. Steps longer than about 2.8 over the highest angular
    frequency of the arm let it explode.
    """

    step: Step = 1e-4

    @property
    def method(self) -> ExplicitMethod:
        return runge_kutta_gill()

    @property
    def newton_tolerance(self) -> NewtonTolerance:
        return NewtonTolerance(float("inf"), float("inf"))


@dataclass(frozen=True)
class Adaptive(Declared):
    """The older name of ``simulate(..., accuracy=...)``; all else that it chose is chosen by the run."""

    accuracy: Annotated[float, Quantity("1", "largest error of a tip over the reach", above=0)] = 1e-9
    order: Annotated[int, GaussOrder()] = 8


@dataclass(frozen=True)
class BackwardOrder:
    """The declaration of a field that holds an order of backward differentiation."""

    meaning: str = "highest order in time"

    def checked(self, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 5:
            return int(value)
        raise BadValue(f"= {clip(repr(value))} must be 1, 2, 3, 4 or 5; leave it out to have the model choose")


@dataclass(frozen=True)
class IDA(Declared):
    """Backward differentiation with control of error and order, by IDA of SUNDIALS [hindmarsh2005].

    For models that offer their equations in descriptor form: constraints hold for velocities, and positions drift by
    the error of the integration, which trajectories report as ``violations``. The error of a step in each unknown is at
    most ``tolerance`` times its size plus ``absolute_tolerance``, in the root mean square over all of them; errors of
    many steps add up. Without a highest ``order`` it is two where something vibrates without loss, which higher orders
    let grow, and five elsewhere. The energy ledger does not balance: the residual is the drift of the method. Needs the
    extra ``sundae``.
    """

    tolerance: Annotated[float, Quantity("1", "error of a step over the size of an unknown", above=0, at_most=0.1)] = (
        1e-8
    )
    absolute_tolerance: Annotated[
        float, Quantity("1", "error of a step of an unknown that is near zero, in its SI unit", above=0)
    ] = 1e-8
    order: Annotated[int | None, BackwardOrder()] = None
    largest_step: Annotated[float, Quantity("s", "longest step", above=0)] = 0.1
