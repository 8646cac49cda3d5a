"""From formulas to the arrays that the compiled loop reads.

A store whose energy H is not quadratic gets the mean of its gradient over the step,

    int_0^1 H'(x0 + s (x1 - x0)) ds ,

whose product with the change of the state is the change of H; Gauss points make it exact for polynomials of degree 16,
and to round-off for all smooth energies in steps that resolve them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.bond_graph import tape as codes
from pliant.bond_graph.equations import INPUT, STATE, UNKNOWN, Equations, Row
from pliant.bond_graph.expression import (
    ADD,
    CONSTANT,
    MULTIPLY,
    NAME,
    PARTIALS,
    POWER,
    ZERO,
    Expression,
    add,
    constant,
    derivative,
    name,
    names_in,
    substituted,
)  # fmt: skip
from pliant.bond_graph.tape import Equation, Floats, Ints, Point, Stored, Tape, Values
from pliant.mechanics.shape_functions import gauss_rule

PART = "#s"  # the name of a state at a part of the step, which is its value
MOST_POINTS, USUAL_POINTS = 8, 6  # of Gauss, for polynomials and for other energies
OPERATIONS = {word: getattr(codes, word.upper()) for word in (*PARTIALS, "rotation2")}


@dataclass
class Separated:
    """A formula as a sum: a number, numbers times variables, and what is not linear."""

    constant: float
    linear: dict[Expression, float]
    rest: Expression


def separate(formula: Expression) -> Separated:
    found = Separated(0.0, {}, ZERO)

    def collect(each: Expression, factor: float) -> None:
        if each.operation == ADD:
            for inner in each.arguments:
                collect(inner, factor)
        elif each.operation == MULTIPLY and each.arguments[0].is_constant:
            collect(each.arguments[1], factor * each.arguments[0].value)
        elif each.operation == CONSTANT:
            found.constant += factor * each.value
        elif each.operation == NAME and each.name in (UNKNOWN, STATE, INPUT):
            found.linear[each] = found.linear.get(each, 0.0) + factor
        else:
            found.rest = add(found.rest, constant(factor) * each)

    collect(formula, 1.0)
    found.linear = {leaf: by for leaf, by in found.linear.items() if by}  # what cancels is not there
    return found


def degree(formula: Expression) -> float:
    """Of a polynomial; infinite if it is none."""
    if formula.operation in (CONSTANT, NAME):
        return float(formula.operation == NAME)
    inner, last = [degree(each) for each in formula.arguments], formula.arguments[-1]
    if formula.operation in (ADD, MULTIPLY):
        return max(inner) if formula.operation == ADD else sum(inner)
    power = last.value if formula.operation == POWER and last.is_constant else 0.5
    return power * inner[0] if power in range(1, 40) else np.inf


def at_part(formula: Expression, part: float) -> Expression:
    """States of a formula at a part of the step."""

    def change(each: Expression) -> Expression:
        return Expression(NAME, name=PART, index=each.index, value=part) if each.name == STATE else each

    return substituted(formula, change)


def mean_over_step(gradient: Expression) -> Expression:
    known = degree(gradient)
    nodes, weights = gauss_rule(USUAL_POINTS if np.isinf(known) else min(MOST_POINTS, (int(known) + 2) // 2))
    return sum((float(w) * at_part(gradient, float(s)) for s, w in zip(nodes, weights, strict=True)), ZERO)


class TapeWriter:
    """Operations on their way."""

    def __init__(self) -> None:
        self.operations: list[tuple[int, ...]] = []
        self.numbers: dict[float, int] = {}
        self.rows: list[tuple[int, int, int]] = []
        self.longest = 1

    def number(self, value: float) -> int:
        return self.numbers.setdefault(float(value), len(self.numbers))

    def add(self, row: int, formula: Expression, slots: dict[tuple[int, int], int], rates: Sequence[int]) -> None:
        """One row: every formula that it holds once."""
        begin = len(self.operations)
        done: dict[Expression, int] = {}
        waiting = [formula]
        while waiting:
            each = waiting[-1]
            missing = [inner for inner in each.arguments if inner not in done]
            if missing and each not in done:
                waiting += missing
                continue
            waiting.pop()
            if each not in done:
                done[each] = len(self.operations) - begin
                self.operations.append((*self.entry(row, each, slots, rates, done), 0, 0)[:4])
        self.rows.append((row, begin, len(self.operations)))
        self.longest = max(self.longest, len(self.operations) - begin)

    def entry(
        self,
        row: int,
        each: Expression,
        slots: dict[tuple[int, int], int],
        rates: Sequence[int],
        done: dict[Expression, int],
    ) -> tuple[int, ...]:
        """Operation, operands, and of a state which part of the step."""
        if each.operation == CONSTANT:
            return codes.NUMBER, self.number(each.value)
        if each.operation != NAME:
            operands = [done[inner] for inner in each.arguments]
            if each.operation == POWER and each.arguments[1].is_constant and each.arguments[1].value == 2.0:
                return codes.MULTIPLY, operands[0], operands[0]
            return OPERATIONS[each.operation], *operands
        if each.name == UNKNOWN:
            return codes.UNKNOWN, each.index, slots[row, each.index]
        if each.name in (STATE, PART):
            part = 0.5 if each.name == STATE else each.value
            slot = slots.get((row, rates[each.index]), -1) if part else -1
            return codes.STATE, each.index, slot, self.number(part)
        return (codes.INPUT, each.index) if each.name == INPUT else (codes.TIME, 0)

    def tape(self) -> Tape:
        op, first, second, third = np.array(self.operations, np.int64).reshape(-1, 4).T.copy()
        rows = np.array(self.rows, np.int64).reshape(-1, 3)
        return Tape(op, first, second, third, np.array([*self.numbers, 0.0]), rows, np.array(codes.ROTATION_SERIES))


@dataclass(frozen=True, eq=False)
class System:
    """Equations as arrays; the Jacobian has the columns ``columns[begin[r] : begin[r + 1]]`` in row r."""

    equation: Equation
    tape: Tape
    begin: Ints
    columns: Ints
    rate: Ints
    size: int  # unknowns
    longest: int
    linear: bool

    def point(self, x: Floats, z: Floats, u: Floats, time: float, h: float) -> Point:
        return Point(x, z, u, self.rate, np.array([time, h]))

    def values(self) -> Values:
        rows, slots = len(self.begin) - 1, len(self.columns)
        return Values(np.zeros(rows), np.zeros(slots), np.zeros(self.longest), np.zeros(self.longest))

    def rows_of_slots(self) -> Ints:
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))


def step_system(equations: Equations) -> System:
    """Unknowns of a step: means of efforts, flows and signals; states move with their rates."""

    def formula(row: Row) -> Expression:
        gradient = separate(row.gradient)
        linear = sum((by * leaf for leaf, by in gradient.linear.items()), constant(gradient.constant))
        return row.residual - linear - mean_over_step(gradient.rest)

    return _system(equations, [formula(row) for row in equations.rows], len(equations.unknowns))


def instant_system(equations: Equations) -> System:
    """Unknowns of an instant: efforts, flows and signals, and behind them the states."""
    first = len(equations.unknowns)

    def as_unknown(each: Expression) -> Expression:
        return name(UNKNOWN, first + each.index) if each.name == STATE else each

    formulas = [substituted(row.residual - row.gradient, as_unknown) for row in equations.rows]
    return _system(equations, formulas, first + len(equations.rates))


def _system(equations: Equations, formulas: list[Expression], size: int) -> System:
    parts, rates = [separate(each) for each in formulas], equations.rates
    used = [sorted(set(_columns(part, rates))) for part in parts]
    begin = np.append(0, np.cumsum([len(each) for each in used])).astype(np.int64)
    slots = {(r, column): int(begin[r]) + k for r, each in enumerate(used) for k, column in enumerate(each)}
    of: dict[str, list[tuple[int, int, float]]] = {UNKNOWN: [], STATE: [], INPUT: []}
    jacobian, jacobian_h = np.zeros(begin[-1]), np.zeros(begin[-1])
    writer = TapeWriter()
    for r, part in enumerate(parts):
        for leaf, by in part.linear.items():
            of[leaf.name].append((r, leaf.index, by))
            if leaf.name == UNKNOWN:
                jacobian[slots[r, leaf.index]] += by
            elif leaf.name == STATE:
                jacobian_h[slots[r, rates[leaf.index]]] += 0.5 * by
        if part.rest is not ZERO:
            writer.add(r, part.rest, slots, rates)
    z, x, u = (_triples(of[kind]) for kind in (UNKNOWN, STATE, INPUT))
    equation = Equation(np.array([part.constant for part in parts]), *z, *x, *u, jacobian, jacobian_h)
    columns = np.array([column for each in used for column in each], np.int64)
    moving = any(leaf.name in (UNKNOWN, STATE, PART) for part in parts for leaf in names_in(part.rest))
    return System(equation, writer.tape(), begin, columns, np.array(rates, np.int64), size, writer.longest, not moving)


def _triples(entries: list[tuple[int, int, float]]) -> tuple[Ints, Floats]:
    places = np.array([each[:2] for each in entries], np.int64).reshape(-1, 2)
    return places, np.array([each[2] for each in entries], float)


def _columns(part: Separated, rates: Sequence[int]) -> Iterable[int]:
    for leaf in (*part.linear, *names_in(part.rest)):
        if leaf.name == UNKNOWN:
            yield leaf.index
        elif leaf.name == STATE or (leaf.name == PART and leaf.value):
            yield rates[leaf.index]


def stored_energies(equations: Equations) -> tuple[Tape, Ints, Stored, int]:
    """The energies of all stores at a state, which of them are kinetic, their changes, and the longest row."""
    writer, change = TapeWriter(), TapeWriter()
    stores = [block for block in equations.blocks if block.kind]
    curved: list[int] = []
    K: list[tuple[int, int, float, int]] = []
    b: list[tuple[int, int, float, int]] = []
    for k, block in enumerate(stores):
        own = int(block.kind == "I")
        writer.add(k, at_part(block.energy, 0.0), {}, equations.rates)
        states = range(block.first, block.first + len(block.starts))
        gradient = [separate(derivative(block.energy, name(STATE, i))) for i in states]
        if all(each.rest is ZERO for each in gradient):
            for i, each in zip(states, gradient, strict=True):
                K += [(i, leaf.index, by, own) for leaf, by in each.linear.items()]
                b += [(i, i, each.constant, own)] if each.constant else []
        else:
            for part in (1.0, 0.0):
                change.add(0, at_part(block.energy, part), {}, equations.rates)
            curved.append(own)
    at, by = _triples([each[:3] for each in (*K, *b)])
    of_kinetic = np.array([each[3] for each in (*K, *b)], np.int64)
    stored = Stored(at, by, of_kinetic, len(K), change.tape(), np.array(curved, np.int64))
    kinetic = np.array([block.kind == "I" for block in stores], np.int64)
    return writer.tape(), kinetic, stored, max(writer.longest, change.longest)
