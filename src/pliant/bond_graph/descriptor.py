"""A graph as equations 0 = F(t, y, y') for integrators with error control.

The unknowns of  0 = F(z, x, u, t) ,  x' = z[rate]  are of two kinds. Those that constraints let act as impulses are
rates of unknowns Z, so that the matrix of a step is conditioned alike for steps of any length [gear1988]. All others
follow from these and from the states by as many of the equations, g, and are solved for at every instant:

    0 = g(z, Z', x) ,     0 = F_rest(z, Z', x) ,     0 = x' - (z, Z')[rate] ,     y = (Z, x)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.bond_graph.instant import at_instant, consistent, given, scaled, solved
from pliant.errors import InvalidInput
from pliant.formulas.sparse import solution
from pliant.formulas.tape import Floats, Ints
from pliant.model.inputs import Inputs
from pliant.model.smooth_signals import smooth_inputs
from pliant.model.state import Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import BondGraph, Compiled

SEEN = 1e-9  # part of an impulse by which an unknown takes part in it
ASIDE = 1e-2  # how far from the start impulses are looked for, since some vanish there by chance
MOST_ITERATIONS = 25


class GraphDescriptor:
    """The equations of a graph with its inputs, and the scratch of one run."""

    band = None

    def __init__(self, model: BondGraph, inputs: Inputs) -> None:
        self.model, self.inputs, self.signals, self.own = model, inputs, inputs, model.compiled
        self.rates = np.array(self.own.equations.rates, np.int64)
        self.works = tuple(source.name for source in self.own.equations.sources)
        state = model.initial_state()
        self.z, self.lost = solved(self.own, inputs, state, 0.0), False
        self.impulses, self.plain, self.g, self.rest, self.size = divided(self.own, inputs, self.z, state)
        self.d = len(self.impulses)
        self.controlled: NDArray[np.bool_] = np.arange(self.d + len(self.rates)) >= self.d

    def begin(self, state: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
        self.signals, _ = smooth_inputs(self.inputs, span)
        x = consistent(self.own, self.signals, state, span[0])
        self.z, self.lost = solved(self.own, self.signals, x, span[0], self.z), False
        return np.append(np.zeros(self.d), x), np.append(self.z[self.impulses], self.z[self.rates])

    def _solve(self, t: float, y: Floats, rate: Floats) -> tuple[Floats, Any, Any, Callable[[Floats], Floats]]:
        """The plain unknowns of an instant; F, its Jacobians and what solves with g there."""
        u = given(self.signals, np.array([t]))[0]
        z, x = self.z.copy(), y[self.d :]
        z[self.impulses] = rate[: self.d]
        for _ in range(MOST_ITERATIONS):
            F, F_z, F_x = at_instant(self.own, np.concatenate([z, x]), t, u)
            solve = solution(F_z[self.g][:, self.plain])
            if solve is None:
                break
            change = solve(F[self.g])
            z[self.plain] -= change
            if (np.abs(change) <= 1e-10 * np.abs(z[self.plain] / self.size).max(initial=0.0) * self.size).all():
                self.z = z
                F[self.rest] -= F_z[self.rest][:, self.plain] @ change
                return F, F_z, F_x, solve
        raise InvalidInput("algebraic unknowns were not found")

    def residual(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        try:
            F, *_ = self._solve(t, y, rate)
            out[: self.d], out[self.d :] = F[self.rest], rate[self.d :] - self.z[self.rates]
        except InvalidInput:
            self.lost, out[:] = True, np.nan

    def jacobian(self, t: float, y: Floats, rate: Floats, c: float, out: Floats) -> None:
        _, F_z, F_x, solve = self._solve(t, y, rate)
        blocks = (c * F_z[:, self.impulses], F_x)
        by_y = np.hstack([each if isinstance(each, np.ndarray) else each.toarray() for each in blocks])
        moved = np.zeros((len(self.z), len(y)))
        moved[self.plain] = -solve(by_y[self.g])
        out[: self.d] = by_y[self.rest] + F_z[self.rest][:, self.plain] @ moved[self.plain]
        moved[self.impulses, np.arange(self.d)] = c
        out[self.d :] = np.eye(len(self.rates), len(y), self.d) * c - moved[self.rates]

    def powers(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        self._solve(t, y, rate)
        program = self.own.program
        power = program.signs * self.z[program.pairs[:, 0]] * self.z[program.pairs[:, 1]]
        out[:] = 0.0
        np.add.at(out, 4 + program.pairs[:, 2], power)  # losses are source -1, and stand before the works

    def stored(self, y: Floats) -> tuple[Floats, Floats]:
        return self.model.energy(self.states(y))[:2]

    def problem(self, t: float, y: Floats) -> Ending | None:
        remedy = "take Gauss, or keep to where laws are defined"
        return Ending(Cause.SINGULAR, t, "the algebraic equations", remedy) if self.lost else None

    def states(self, y: Floats) -> Floats:
        return np.ascontiguousarray(y[:, self.d :])

    def efforts(self, times: Floats, y: Floats, rates: Floats) -> dict[str, Floats]:
        rows = np.zeros((len(times), len(self.z)))
        for k, t in enumerate(times):
            self._solve(float(t), y[k], rates[k])
            rows[k] = self.z
        return {source.name: rows[:, list(source.efforts)] for source in self.own.equations.sources}

    def violations(self, y: Floats) -> dict[str, Floats]:
        return {}


def divided(own: Compiled, inputs: Inputs, z: Floats, state: Floats) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """Impulses and plain unknowns, the rows that determine the latter and all others, and sizes of the plain ones."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, y = len(z), np.concatenate([z, state])
    u, found = given(inputs, np.zeros(1))[0], np.zeros(len(z), np.bool_)
    for aside in (0.0, ASIDE):
        moved = y + aside * np.random.default_rng(1).standard_normal(len(y)) * (np.abs(y) + np.abs(y).max(initial=0.0))
        part = scaled(at_instant(own, moved, 0.0, u)[1])
        found |= np.abs(part.V).max(axis=1, initial=0.0) > SEEN
    impulses, plain = np.flatnonzero(found), np.flatnonzero(~found)
    g = np.zeros(0, np.int64)
    if len(plain):  # rows whose largest entries lie apart
        entries = csr_array(part.F_z[:, plain].T)
        entries.data = 40.0 - np.log(np.maximum(np.abs(entries.data), 1e-15))
        g = np.asarray(min_weight_full_bipartite_matching(entries)[1], np.int64)
    return impulses, plain, g, np.setdiff1d(np.arange(n), g), part.size[plain]
