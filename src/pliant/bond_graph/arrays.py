"""The equations of a step and of an instant, and stored energies, as arrays.

A store whose energy H is not quadratic gets the mean of its gradient over the step,

    int_0^1 H'(x0 + s (x1 - x0)) ds ,

whose product with the change of the state is the change of H; Gauss points make it exact for polynomials of degree 16.
What they miss of other energies in long steps is added along the change of the state [gonzalez1996], see `step`.
"""

from __future__ import annotations

import numpy as np

from pliant.bond_graph.equations import Equations, Row
from pliant.bond_graph.step import Stored
from pliant.formulas.expression import ZERO, Expression, constant, derivative, name, substituted
from pliant.formulas.system import STATE, UNKNOWN, System, TapeWriter, at_part, degree, separate, system_of
from pliant.formulas.tape import Ints, Tape
from pliant.mechanics.shape_functions import gauss_rule

MOST_POINTS, USUAL_POINTS = 8, 6  # of Gauss, for polynomials and for other energies


def mean_over_step(gradient: Expression) -> Expression:
    if gradient is ZERO:
        return ZERO
    known = degree(gradient)
    nodes, weights = gauss_rule(USUAL_POINTS if np.isinf(known) else min(MOST_POINTS, (int(known) + 2) // 2))
    return sum((float(w) * at_part(gradient, float(s)) for s, w in zip(nodes, weights, strict=True)), ZERO)


def step_system(equations: Equations) -> System:
    """Unknowns of a step: means of efforts, flows and signals; states move with their rates."""

    def formula(row: Row) -> Expression:
        gradient = separate(row.gradient)
        linear = sum((by * leaf for leaf, by in gradient.linear.items()), constant(gradient.constant))
        return row.residual - linear - mean_over_step(gradient.rest)

    return system_of([formula(row) for row in equations.rows], equations.rates, len(equations.unknowns))


def instant_system(equations: Equations) -> System:
    """Unknowns of an instant: efforts, flows and signals, and behind them the states."""
    first = len(equations.unknowns)

    def as_unknown(each: Expression) -> Expression:
        return name(UNKNOWN, first + each.index) if each.name == STATE else each

    formulas = [substituted(row.residual - row.gradient, as_unknown) for row in equations.rows]
    return system_of(formulas, equations.rates, first + len(equations.rates))


def stored_energies(equations: Equations) -> tuple[Tape, Ints, Stored, int]:
    """The energies of all stores at a state, which of them are kinetic, their changes, and the longest row."""
    writer, change = TapeWriter(), TapeWriter()
    stores = [block for block in equations.blocks if block.kind]
    curved: list[int] = []
    answers: list[tuple[int, ...]] = []
    quadratic: list[tuple[int, ...]] = []
    for k, block in enumerate(stores):
        own, states = int(block.kind == "I"), range(block.first, block.first + len(block.starts))
        writer.add(k, at_part(block.energy, 0.0), {}, equations.rates)
        if all(separate(derivative(block.energy, name(STATE, i))).rest is ZERO for i in states):
            quadratic += [(equations.answers[i][1], equations.rates[i], own) for i in states]
            continue
        for part in (1.0, 0.0):
            change.add(0, at_part(block.energy, part), {}, equations.rates)
        answers += [(len(curved), i, *equations.answers[i]) for i in states]
        curved.append(own)
    pairs, table = (np.array(rows, np.int64).reshape(-1, k) for rows, k in ((quadratic, 3), (answers, 4)))
    stored = Stored(pairs, change.tape(), np.array(curved, np.int64), table)
    kinetic = np.array([block.kind == "I" for block in stores], np.int64)
    return writer.tape(), kinetic, stored, max(writer.longest, change.longest)
