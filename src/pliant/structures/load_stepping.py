"""Equilibrium under loads that grow in steps: the same way for all structures that need several.

Where prescribed joints turn, their rates are raised along with the loads: inertia of a turn is a load like others.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from pliant.model.contract import Equilibrium
from pliant.model.state import Array, Cause, Ending

S = TypeVar("S")
ITERATIONS = 60  # of Newton's method under one part of the load
AT_ONCE = 3  # iterations under the whole load in which a start that is balanced already shows it
SMALLEST_LOAD_STEP = 1e-4


class Search(Protocol[S]):
    """Newton's method on the unknowns of a structure."""

    def iterate(self, fraction: float, accuracy: float, most: int | None = None) -> tuple[bool, int]:
        """Under a part of the load; whether it converged, and its iterations, at most ``most``."""

    def copy(self) -> S: ...
    def restore(self, saved: S) -> None: ...
    def state(self) -> Array:
        """The state vector of the unknowns."""


def raise_load(
    search: Search[S], time: float, load_steps: int, accuracy: float, remedy: str, last_iteration: int | None = None
) -> Equilibrium:
    """Raise the load to its whole, unless the start balances the whole already; steps that fail are halved.

    The search gives up below the smallest step, or where it takes ``last_iteration``: smaller steps would not help it.
    """
    good = search.copy()
    converged, iterations = search.iterate(1.0, accuracy, AT_ONCE)
    if converged:
        return Equilibrium(search.state(), 1.0, iterations, Ending(Cause.COMPLETED, time))
    search.restore(good)
    reached, step = 0.0, 1.0 / load_steps
    while reached < 1.0 - 1e-12:
        fraction = min(1.0, reached + step)
        converged, used = search.iterate(fraction, accuracy)
        iterations += used
        if converged:
            reached, good = fraction, search.copy()
            continue
        search.restore(good)
        step *= 0.5
        if step < SMALLEST_LOAD_STEP or used == last_iteration:
            ending = Ending(Cause.NOT_CONVERGED, time, f"{reached:.3%} of the load", remedy)
            return Equilibrium(search.state(), reached, iterations, ending)
    return Equilibrium(search.state(), 1.0, iterations, Ending(Cause.COMPLETED, time))
