"""From formulas to the arrays that the compiled loop reads.

Formulas are written in unknowns z, states x, inputs u and time. In a step a state stands for its mean, or for its value
at a part of the step; it moves with the unknown that is its rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.formulas import tape as codes
from pliant.formulas.expression import (
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
    names_in,
    substituted,
)  # fmt: skip
from pliant.formulas.tape import Equation, Floats, Ints, Point, Tape, Values

# names of variables in resolved formulas, which no user can write; the last one is a state at a part, its value
UNKNOWN, STATE, INPUT, PART = "#z", "#x", "#u", "#part"
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


def system_of(formulas: list[Expression], rates: Sequence[int], size: int) -> System:
    """The arrays of equations whose left sides these formulas are, for ``size`` unknowns."""
    parts = [separate(each) for each in formulas]
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
    z, x, u = (triples(of[kind]) for kind in (UNKNOWN, STATE, INPUT))
    equation = Equation(np.array([part.constant for part in parts]), *z, *x, *u, jacobian, jacobian_h)
    columns = np.array([column for each in used for column in each], np.int64)
    moving = any(leaf.name in (UNKNOWN, STATE, PART) for part in parts for leaf in names_in(part.rest))
    return System(equation, writer.tape(), begin, columns, np.array(rates, np.int64), size, writer.longest, not moving)


def triples(entries: list[tuple[int, int, float]]) -> tuple[Ints, Floats]:
    places = np.array([each[:2] for each in entries], np.int64).reshape(-1, 2)
    return places, np.array([each[2] for each in entries], float)


def _columns(part: Separated, rates: Sequence[int]) -> Iterable[int]:
    for leaf in (*part.linear, *names_in(part.rest)):
        if leaf.name == UNKNOWN:
            yield leaf.index
        elif leaf.name == STATE or (leaf.name == PART and leaf.value):
            yield rates[leaf.index]
