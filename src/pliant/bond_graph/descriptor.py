"""A graph as equations 0 = F(t, y, y') for integrators with error control.

The unknowns of  0 = F(z, x, u, t) ,  x' = z[rate]  are of two kinds. Those that constraints let act as impulses are
rates of unknowns Z, so that the matrix of a step is conditioned alike for steps of any length [gear1988]; all others
are unknowns themselves:

    0 = F(z, Z', x, u, t) ,     0 = x' - (z, Z')[rate] ,     y = (z, Z, x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.bond_graph.instant import at_instant, consistent, given, scaled, solved
from pliant.errors import InvalidInput
from pliant.formulas.tape import Floats
from pliant.model.inputs import Inputs
from pliant.model.smooth_signals import smooth_inputs
from pliant.model.state import Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import BondGraph

SEEN = 1e-9  # part of an impulse by which an unknown takes part in it
ASIDE = 1e-2  # how far from the start impulses are looked for, since some vanish there by chance


class GraphDescriptor:
    """The equations of a graph with its inputs, and the scratch of one run."""

    band = None

    def __init__(self, model: BondGraph, inputs: Inputs) -> None:
        self.model, self.inputs, self.signals, self.own = model, inputs, inputs, model.compiled
        self.works = tuple(source.name for source in self.own.equations.sources)
        self.n, self.lost = len(self.own.equations.unknowns), False
        self.controlled: NDArray[np.bool_] = np.arange(self.n + model.layout.size) >= self.n
        state, self.impulsive = model.initial_state(), np.zeros(self.n, np.bool_)
        y = np.append(solved(self.own, inputs, state, 0.0), state)
        for aside in (0.0, ASIDE):
            far = aside * np.random.default_rng(1).standard_normal(len(y)) * (np.abs(y) + np.abs(y).max(initial=0.0))
            part = scaled(self.own, *at_instant(self.own, y + far, 0.0, given(inputs, np.zeros(1))[0])[1:])
            self.impulsive |= np.abs(part.V).max(axis=1, initial=0.0) > SEEN

    def begin(self, state: Floats, span: tuple[float, float]) -> tuple[Floats, Floats]:
        self.signals, _ = smooth_inputs(self.inputs, span)
        x = consistent(self.own, self.signals, state, span[0])
        z = solved(self.own, self.signals, x, span[0])
        plain, impulses = np.where(self.impulsive, 0.0, z), np.where(self.impulsive, z, 0.0)
        return np.append(plain, x), np.append(impulses, self.own.to_rates @ z)

    def unknowns(self, y: Floats, rate: Floats) -> Floats:
        """z (..., n)"""
        return np.where(self.impulsive, rate[..., : self.n], y[..., : self.n])

    def equations(self, t: float, y: Floats, z: Floats) -> tuple[Floats, Any, Any]:
        return at_instant(self.own, np.append(z, y[self.n :]), t, given(self.signals, np.array([t]))[0])

    def residual(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        z = self.unknowns(y, rate)
        try:
            out[: self.n], out[self.n :] = self.equations(t, y, z)[0], rate[self.n :] - self.own.to_rates @ z
        except InvalidInput:
            self.lost, out[:] = True, np.nan

    def jacobian(self, t: float, y: Floats, rate: Floats, c: float, out: Floats) -> None:
        _, F_z, F_x = self.equations(t, y, self.unknowns(y, rate))
        by_z, m = np.diag(np.where(self.impulsive, c, 1.0)), F_x.shape[1]
        out[:] = np.block([[F_z @ by_z, F_x @ np.eye(m)], [-(self.own.to_rates @ by_z), c * np.eye(m)]])

    def powers(self, t: float, y: Floats, rate: Floats, out: Floats) -> None:
        z, program = self.unknowns(y, rate), self.own.program
        out[:] = 0.0
        power = program.signs * z[program.pairs[:, 0]] * z[program.pairs[:, 1]]
        np.add.at(out, 4 + program.pairs[:, 2], power)  # losses are source -1, and stand before the works

    def stored(self, y: Floats) -> tuple[Floats, Floats]:
        return self.model.energy(self.states(y))[:2]

    def problem(self, t: float, y: Floats) -> Ending | None:
        remedy = "take Gauss, or keep to where laws are defined"
        return Ending(Cause.SINGULAR, t, "the algebraic equations", remedy) if self.lost else None

    def states(self, y: Floats) -> Floats:
        return np.ascontiguousarray(y[:, self.n :])

    def efforts(self, times: Floats, y: Floats, rates: Floats) -> dict[str, Floats]:
        z = self.unknowns(y, rates)
        return {source.name: z[:, list(source.efforts)] for source in self.own.equations.sources}

    def violations(self, y: Floats) -> dict[str, Floats]:
        return {}
