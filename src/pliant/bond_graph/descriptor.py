"""A graph as equations 0 = F(t, y, y') for integrators with error control.

The unknowns of  0 = F(z, x, u, t) ,  x' = z[rate]  are of two kinds. Those that constraints let act as impulses are
rates of unknowns Z, so that the matrix of a step is conditioned alike for steps of any length [gear1988]. All others
follow from these and from the states by as many of the equations, g, and are solved for at every instant:

    0 = g(z, Z', x) ,     0 = F_rest(z, Z', x) ,     0 = x' - (z, Z')[rate] ,     y = (Z, x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.bond_graph.instant import SMALL, at_instant, consistent, given, scaled, solved
from pliant.bond_graph.tape import Floats, Ints, Point, evaluate_once
from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from pliant.model.smooth_signals import smooth_inputs
from pliant.model.state import Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import BondGraph, Compiled

SEEN = 1e-9  # part of an impulse by which an unknown takes part in it
ASIDE = 1e-2  # how far from the start impulses are looked for, since some vanish there by chance
MOST_ITERATIONS = 25


class Factors:
    """Of a matrix, dense or sparse."""

    def __init__(self, matrix: Any) -> None:
        from scipy.linalg import lu_factor
        from scipy.sparse.linalg import splu

        self.dense = lu_factor(matrix, check_finite=False) if isinstance(matrix, np.ndarray) and len(matrix) else None
        self.sparse = None if isinstance(matrix, np.ndarray) else splu(matrix.tocsc())

    def solve(self, right: Floats) -> Floats:
        from scipy.linalg import lu_solve

        if self.dense is not None:
            return np.asarray(lu_solve(self.dense, right, check_finite=False))
        return np.asarray(self.sparse.solve(right)) if self.sparse is not None else right


def entries(J: Any, rows: Any, columns: Any, dense: bool = False) -> Any:
    """Some rows and columns of a matrix, dense or sparse."""
    found = J[rows][:, columns]
    return found.toarray() if dense and not isinstance(J, np.ndarray) else found


class GraphDescriptor:
    """The equations of a graph with its inputs, and the scratch of one run."""

    band = None

    def __init__(self, model: BondGraph, inputs: Inputs) -> None:
        self.model, self.inputs, self.own = model, inputs, model.compiled
        self.rates = np.array(self.own.equations.rates, np.int64)
        self.works = tuple(source.name for source in self.own.equations.sources)
        state = model.initial_state()
        self.z = solved(self.own, inputs, state, 0.0)
        self.impulses, self.plain, self.g, self.rest, self.size = divided(self.own, inputs, self.z, state)
        self.d, self.signals = len(self.impulses), inputs
        self.lost = False
        system, n = self.own.instant, len(self.z)
        self.values, self.rows = system.values(), system.rows_of_slots()
        self.point = Point(
            np.zeros(0), np.zeros(system.size), np.zeros(self.own.equations.inputs), np.zeros(0, np.int64), np.zeros(2)
        )
        self.dense = np.zeros((n, system.size)) if n <= SMALL else None

    @property
    def controlled(self) -> NDArray[np.bool_]:
        return np.append(np.zeros(self.d, np.bool_), np.ones(len(self.rates), np.bool_))

    def begin(self, state: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
        self.signals, _ = smooth_inputs(self.inputs, span)
        x = consistent(self.own, self.signals, state, span[0])
        self.z, self.lost = solved(self.own, self.signals, x, span[0], self.z), False
        return np.append(np.zeros(self.d), x), np.append(self.z[self.impulses], self.z[self.rates])

    def _at(self, t: float, z: Floats, x: Floats) -> tuple[Floats, Any]:
        """F and its Jacobian by (z, x)."""
        self.point.z[:], self.point.at[0] = np.concatenate([z, x]), t
        if len(self.point.u):
            self.point.u[:] = given(self.signals, np.array([t]))[0]
        system = self.own.instant
        evaluate_once(system.equation, system.tape, self.point, self.values)
        if self.dense is not None:
            self.dense[self.rows, system.columns] = self.values.J
            return self.values.F, self.dense
        from scipy.sparse import csr_array

        return self.values.F, csr_array((self.values.J, system.columns, system.begin), shape=(len(z), system.size))

    def _solve(self, t: float, y: Floats, rate: Floats) -> tuple[Floats, Any, Any]:
        """The plain unknowns of an instant; F, its Jacobian and the factors of g there."""
        z, x = self.z.copy(), y[self.d :]
        z[self.impulses] = rate[: self.d]
        for _ in range(MOST_ITERATIONS):
            F, J = self._at(t, z, x)
            factors = Factors(entries(J, self.g, self.plain))
            change = factors.solve(F[self.g])
            z[self.plain] -= change
            if (np.abs(change) <= 1e-10 * np.abs(z[self.plain] / self.size).max(initial=0.0) * self.size).all():
                self.z = z
                F[self.rest] -= entries(J, self.rest, self.plain) @ change
                return F, J, factors
        raise InvalidInput("algebraic unknowns were not found")

    def residual(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        try:
            F, *_ = self._solve(t, y, rate)
        except (InvalidInput, RuntimeError):
            self.lost = True
            out[:] = np.nan
            return
        out[: self.d] = F[self.rest]
        out[self.d :] = rate[self.d :] - self.z[self.rates]

    def jacobian(self, t: float, y: Floats, rate: Floats, c: float, out: Floats) -> None:
        _, J, factors = self._solve(t, y, rate)
        own = np.concatenate([self.impulses, len(self.z) + np.arange(len(self.rates))])
        given_by = np.asarray(entries(J, slice(None), own, dense=True))
        given_by[:, : self.d] *= c
        follow = -factors.solve(given_by[self.g])
        out[: self.d] = given_by[self.rest] + entries(J, self.rest, self.plain) @ follow
        moved = np.zeros((len(self.z), len(y)))
        moved[self.plain] = follow
        moved[self.impulses, np.arange(self.d)] = c
        out[self.d :] = -moved[self.rates]
        states = self.d + np.arange(len(self.rates))
        out[states, states] += c

    def powers(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        self._solve(t, y, rate)
        z, program = self.z, self.own.program
        power = program.signs * z[program.pairs[:, 0]] * z[program.pairs[:, 1]]
        source = program.pairs[:, 2]
        out[:] = 0.0
        out[3] = power[source < 0].sum()
        np.add.at(out, 4 + source[source >= 0], power[source >= 0])

    def stored(self, y: Floats) -> tuple[Floats, Floats]:
        return self.model.energy(self.states(y))[:2]

    def problem(self, t: float, y: Floats) -> Ending | None:
        if not self.lost:
            return None
        return Ending(Cause.SINGULAR, t, "the algebraic equations", "take Gauss, or keep to where laws are defined")

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
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, y = len(z), np.concatenate([z, state])
    u, found = given(inputs, np.zeros(1))[0], np.zeros(len(z), np.bool_)
    for aside in (0.0, ASIDE):
        moved = y + aside * np.random.default_rng(1).standard_normal(len(y)) * (np.abs(y) + np.abs(y).max(initial=0.0))
        part = scaled(at_instant(own, moved, 0.0, u)[1])
        found |= np.abs(part.V).max(axis=1, initial=0.0) > SEEN
    impulses, plain = np.flatnonzero(found), np.flatnonzero(~found)
    if not len(plain):
        return impulses, plain, plain, np.arange(n), np.ones(0)
    # rows whose largest entries lie apart
    entries = part.F_z[:, plain].T.tocsr()
    entries.eliminate_zeros()
    entries.data = 40.0 - np.log(np.maximum(np.abs(entries.data), 1e-15))
    _, rows = min_weight_full_bipartite_matching(entries)
    g = np.asarray(rows, np.int64)
    return impulses, plain, g, np.setdiff1d(np.arange(n), g), part.size[plain]
