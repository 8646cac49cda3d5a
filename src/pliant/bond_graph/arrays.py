"""From formulas to the arrays that the compiled loop reads.

A store whose energy H is not quadratic gets the mean of its gradient over the step,

    int_0^1 H'(x0 + s (x1 - x0)) ds ,

whose product with the change of the state is the change of H; Gauss points make it exact for polynomials of degree 16,
and to round-off for all smooth energies in steps that resolve them.
"""

from __future__ import annotations

from collections.abc import Iterable
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
)
from pliant.bond_graph.tape import Equation, Floats, Ints, Point, Tape, Values
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
    _collect(formula, 1.0, found)
    found.linear = {leaf: by for leaf, by in found.linear.items() if by}  # what cancels is not there
    return found


def _collect(formula: Expression, factor: float, into: Separated) -> None:
    if formula.operation == ADD:
        for each in formula.arguments:
            _collect(each, factor, into)
    elif formula.operation == MULTIPLY and formula.arguments[0].is_constant:
        _collect(formula.arguments[1], factor * formula.arguments[0].value, into)
    elif formula.operation == CONSTANT:
        into.constant += factor * formula.value
    elif formula.operation == NAME and formula.name in (UNKNOWN, STATE, INPUT):
        into.linear[formula] = into.linear.get(formula, 0.0) + factor
    else:
        into.rest = add(into.rest, constant(factor) * formula)


def degree(formula: Expression) -> int | None:
    """Of a polynomial; None if it is none."""
    if formula.operation in (CONSTANT, NAME):
        return int(formula.operation == NAME)
    degrees = [degree(each) for each in formula.arguments]
    if any(each is None for each in degrees):
        return None
    known = [each for each in degrees if each is not None]
    if formula.operation in (ADD, MULTIPLY):
        return max(known) if formula.operation == ADD else sum(known)
    exponent = formula.arguments[-1]
    if formula.operation == POWER and exponent.is_constant and exponent.value in range(1, 40):
        return int(exponent.value) * known[0]
    return None


def at_part(formula: Expression, part: float) -> Expression:
    """States of a formula at a part of the step."""

    def change(each: Expression) -> Expression:
        return Expression(NAME, name=PART, index=each.index, value=part) if each.name == STATE else each

    return substituted(formula, change)


def mean_over_step(gradient: Expression) -> Expression:
    known = degree(gradient)
    points = USUAL_POINTS if known is None else min(MOST_POINTS, (known + 2) // 2)
    nodes, weights = gauss_rule(points)
    total = ZERO
    for node, weight in zip(nodes, weights, strict=True):
        total = total + float(weight) * at_part(gradient, float(node))
    return total


def as_unknowns(formula: Expression, first: int) -> Expression:
    """States of a formula as unknowns that follow the others."""

    def change(each: Expression) -> Expression:
        return name(UNKNOWN, first + each.index) if each.name == STATE else each

    return substituted(formula, change)


class TapeWriter:
    """Operations on their way."""

    def __init__(self) -> None:
        self.operations: list[tuple[int, int, int, int]] = []
        self.numbers: dict[float, int] = {}
        self.rows: list[tuple[int, int, int]] = []

    def number(self, value: float) -> int:
        return self.numbers.setdefault(float(value), len(self.numbers))

    def add(self, row: int, formula: Expression, slots: dict[tuple[int, int], int], rates: tuple[int, ...]) -> None:
        """One row: every formula that it holds once."""
        begin = len(self.operations)
        done: dict[Expression, int] = {}

        def put(each: Expression, *entry: int) -> None:
            done[each] = len(self.operations) - begin
            op, first, second, third = (*entry, 0, 0, 0)[:4]
            self.operations.append((op, first, second, third))

        waiting = [formula]
        while waiting:
            each = waiting[-1]
            if each in done:
                waiting.pop()
                continue
            missing = [inner for inner in each.arguments if inner not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            if each.operation == CONSTANT:
                put(each, codes.NUMBER, self.number(each.value))
            elif each.operation != NAME:
                self.put_operation(each, done, put)
            elif each.name == UNKNOWN:
                put(each, codes.UNKNOWN, each.index, slots[row, each.index])
            elif each.name in (STATE, PART):
                part = 0.5 if each.name == STATE else each.value
                slot = slots.get((row, rates[each.index]), -1) if part else -1
                put(each, codes.STATE, each.index, slot, self.number(part))
            else:
                put(each, *((codes.INPUT, each.index) if each.name == INPUT else (codes.TIME,)))
        self.rows.append((row, begin, len(self.operations)))

    @staticmethod
    def put_operation(each: Expression, done: dict[Expression, int], put: object) -> None:
        operands = [done[inner] for inner in each.arguments]
        operation = OPERATIONS[each.operation]
        if each.operation == POWER and each.arguments[1].is_constant and each.arguments[1].value == 2.0:
            operation, operands = codes.MULTIPLY, [operands[0], operands[0]]
        put(each, operation, *operands)  # type: ignore[operator]

    def tape(self) -> Tape:
        table = np.array(self.operations, np.int64).reshape(-1, 4)
        op, first, second, third = (np.ascontiguousarray(column) for column in table.T)
        rows = np.array(self.rows, np.int64).reshape(-1, 3)
        return Tape(op, first, second, third, np.array([*self.numbers, 0.0]), rows, np.array(codes.ROTATION_SERIES))

    @property
    def longest(self) -> int:
        return max((end - begin for _, begin, end in self.rows), default=0) + 1


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
        linear = add(constant(gradient.constant), ZERO)
        for leaf, by in gradient.linear.items():
            linear = linear + by * leaf
        return row.residual - linear - mean_over_step(gradient.rest)

    return _system(equations, [formula(row) for row in equations.rows], len(equations.unknowns))


def instant_system(equations: Equations) -> System:
    """Unknowns of an instant: efforts, flows and signals, and behind them the states."""
    first = len(equations.unknowns)
    formulas = [as_unknowns(row.residual - row.gradient, first) for row in equations.rows]
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
    moving = any(_moves(part.rest) for part in parts)
    rate = np.array(rates, np.int64)
    return System(equation, writer.tape(), begin, columns, rate, size, writer.longest, not moving)


def _triples(entries: list[tuple[int, int, float]]) -> tuple[Ints, Floats]:
    places = np.array([each[:2] for each in entries], np.int64).reshape(-1, 2)
    return places, np.array([each[2] for each in entries], float)


def _columns(part: Separated, rates: tuple[int, ...]) -> Iterable[int]:
    for leaf in (*part.linear, *names_in(part.rest)):
        if leaf.name == UNKNOWN:
            yield leaf.index
        elif leaf.name == STATE or (leaf.name == PART and leaf.value):
            yield rates[leaf.index]


def _moves(rest: Expression) -> bool:
    """Whether a formula depends on what a step looks for."""
    return any(leaf.name in (UNKNOWN, STATE, PART) for leaf in names_in(rest))


@dataclass(frozen=True, eq=False)
class Energies:
    """How stored energy is computed: of all stores at a state, and its change over a step.

    Of those that are quadratic, with linear gradients  g = K x + b ,  the change is the product of g in the middle with
    the change of the state. All others have two rows in ``change``: the energy at the end and at the start.
    """

    tape: Tape  # one row for each store, at the start of the step
    kinetic: Ints  # (stores,) 1 for I, 0 for C
    K_at: Ints  # (k, 2) states
    K_by: Floats
    K_kinetic: Ints  # (k,)
    b_at: Ints  # states
    b_by: Floats
    b_kinetic: Ints
    change: Tape
    change_kinetic: Ints
    longest: int


def energies(equations: Equations) -> Energies:
    writer, change = TapeWriter(), TapeWriter()
    kinetic, change_kinetic = [], []
    K: list[tuple[int, int, float, int]] = []
    b: list[tuple[int, float, int]] = []
    stores = [block for block in equations.blocks if block.kind]
    for k, block in enumerate(stores):
        own = int(block.kind == "I")
        kinetic.append(own)
        writer.add(k, at_part(block.energy, 0.0), {}, equations.rates)
        states = range(block.first, block.first + len(block.starts))
        gradient = [separate(derivative(block.energy, name(STATE, i))) for i in states]
        if all(each.rest is ZERO for each in gradient):
            for i, each in zip(states, gradient, strict=True):
                K += [(i, leaf.index, by, own) for leaf, by in each.linear.items()]
                b += [(i, each.constant, own)] if each.constant else []
        else:
            for part in (1.0, 0.0):
                change.add(0, at_part(block.energy, part), {}, equations.rates)
            change_kinetic.append(own)
    K_table, b_table = np.array(K).reshape(-1, 4), np.array(b).reshape(-1, 3)
    return Energies(
        writer.tape(),
        np.array(kinetic, np.int64),
        np.ascontiguousarray(K_table[:, :2]).astype(np.int64),
        np.ascontiguousarray(K_table[:, 2]),
        K_table[:, 3].astype(np.int64),
        b_table[:, 0].astype(np.int64),
        np.ascontiguousarray(b_table[:, 1]),
        b_table[:, 2].astype(np.int64),
        change.tape(),
        np.array(change_kinetic, np.int64),
        max(writer.longest, change.longest),
    )
