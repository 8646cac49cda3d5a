"""Equilibrium under loads that grow in steps: the same way for all structures that need several.

Where prescribed joints turn, their rates are raised along with the loads: inertia of a turn is a load like others.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from pliant.model.contract import Equilibrium
from pliant.model.state import Array, Cause, Ending
from pliant.progress import report

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
        report("raising the load", reached)
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


LOOSE_ITERATIONS, LOOSE_CHANGE = 300, 0.2  # where weight decides, the way down may be long and bent
STIFF, SOFT = 1e3, 1e-3  # parts of the stiffness that weight would have as a spring of the size of the reach


def lead_down(K: Array, moves: int, scale: Array, soft: float) -> None:
    """Make the stiffness along all motions that keep loops closed positive, so that a mechanism comes down.

    K: over ``moves`` displacements, and behind them the forces of loops; ``scale`` (moves,) stiffness that weight has.
    The first iteration, with ``STIFF``, only finds the forces of the loops, which have a part in the stiffness.
    """
    from scipy.linalg import LinAlgError, cholesky, eigh, null_space

    own = K.diagonal()[:moves]
    D = np.maximum(scale, 1e-9 * np.abs(own).max() + 1e-300)
    added = STIFF
    if soft < STIFF:
        Z = null_space(K[moves:, :moves]) if len(K) > moves else np.eye(moves)
        if Z.shape[1] == 0:
            return
        own = Z.T @ K[:moves, :moves] @ Z
        own, unit = 0.5 * (own + own.T), Z.T @ (D[:, None] * Z)
        try:  # in a fraction of the time of eigenvalues
            cholesky(own - soft * unit, check_finite=False)
            return
        except LinAlgError:
            softest = eigh(own, unit, eigvals_only=True, subset_by_index=(0, 0), check_finite=False)[0]
        added = 2.0 * soft - softest
    K[np.arange(moves), np.arange(moves)] += added * D
