"""Formulas as lists of operations that one compiled loop evaluates with exact derivatives, whatever the graph.

The equations of a step are, with states at a part s of the step  x + s h z[rate] ,

    F = F0 + A z + B (x + c h z[rate]) + G u + what the tape adds ,     c = 1/2 ,

and the entries of their Jacobian lie in rows, each in its slot.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inner_kernel, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# operations: the first five read, the next five have two operands
NUMBER, UNKNOWN, STATE, INPUT, TIME, ADD, MULTIPLY, DIVIDE, POWER, ATAN2 = range(10)
SIN, COS, EXP, LOG, TANH, ABS, SIGN, ROTATION, ROTATION1, ROTATION2 = range(10, 20)
# of the rotation factor: 2^(2n) |B_2n| / (2n)! for n = 1, 2, ...
ROTATION_SERIES = (1 / 3, 1 / 45, 2 / 945, 1 / 4725, 2 / 93555, 1382 / 638512875, 4 / 18243225, 3617 / 162820783125) + (
    87734 / 38979295480125,
    349222 / 1531329465290625,
)
SERIES = 0.06  # below, the rotation factor and its derivatives come from their series


class Tape(NamedTuple):
    """Operations of all rows one after the other; operands are counted from the first operation of their row."""

    operation: Ints  # (n,)
    first: Ints  # (n,) operand; which number, unknown, state or input
    second: Ints  # (n,) operand; slot in the Jacobian
    third: Ints  # (n,) of a state: which number says at what part of the step
    numbers: Floats
    rows: Ints  # (m, 3) row of F, first operation, end
    series: Floats  # of the rotation factor


class Point(NamedTuple):
    """Where equations are evaluated."""

    x: Floats  # (states,) at the start of the step
    z: Floats  # (unknowns,)
    u: Floats  # (inputs,) in the middle of the step
    rate: Ints  # (states,) the unknown that is the rate of a state
    at: Floats  # (2,) time, length of the step


class Equation(NamedTuple):
    """The linear parts of F, as triples, and the places of the Jacobian."""

    constant: Floats  # (rows,)
    z_at: Ints  # (k, 2) row, unknown
    z_by: Floats  # (k,)
    x_at: Ints  # (k, 2) row, state
    x_by: Floats  # (k,)
    u_at: Ints  # (k, 2) row, input
    u_by: Floats  # (k,)
    jacobian: Floats  # (slots,) of A
    jacobian_h: Floats  # (slots,) of c B, times h


class Values(NamedTuple):
    """What is evaluated, and scratch."""

    F: Floats  # (rows,)
    J: Floats  # (slots,)
    value: Floats  # (longest row of the tape,)
    weight: Floats


@inner_kernel
def rotation(order: int, y: float, series: Floats) -> float:
    """A derivative of L(y) = (1 - sqrt(y) cot sqrt(y)) / y, from  2 y L' = 1 - 3 L + y L^2  and its derivatives."""
    if abs(y) < SERIES:
        total = 0.0
        for n in range(series.shape[0] - 1, order - 1, -1):
            factor = 1.0
            for k in range(order):
                factor *= n - k
            total = total * y + series[n] * factor
        return total
    x = math.sqrt(abs(y))
    L = (1.0 - x / (math.tan(x) if y > 0.0 else math.tanh(x))) / y
    if order == 0:
        return L
    d = (1.0 - 3.0 * L + y * L * L) / (2.0 * y)
    if order == 1:
        return d
    dd = (L * L + 2.0 * y * L * d - 5.0 * d) / (2.0 * y)
    if order == 2:
        return dd
    return (4.0 * L * d + 2.0 * y * (d * d + L * dd) - 7.0 * dd) / (2.0 * y)


@inner_kernel
def forward(tape: Tape, row: int, point: Point, value: Floats) -> float:
    """The value of a row; those of all its operations are kept."""
    begin, end = tape.rows[row, 1], tape.rows[row, 2]
    for k in range(begin, end):
        op, i, j = tape.operation[k], tape.first[k], tape.second[k]
        v = 0.0
        if op == NUMBER:
            v = tape.numbers[i]
        elif op == UNKNOWN:
            v = point.z[i]
        elif op == STATE:
            v = point.x[i] + tape.numbers[tape.third[k]] * point.at[1] * point.z[point.rate[i]]
        elif op == INPUT:
            v = point.u[i]
        elif op == TIME:
            v = point.at[0]
        elif op == ADD:
            v = value[i] + value[j]
        elif op == MULTIPLY:
            v = value[i] * value[j]
        elif op == DIVIDE:
            v = value[i] / value[j] if value[j] != 0.0 else math.nan
        elif op == POWER:
            v = value[i] ** value[j]
        elif op == ATAN2:
            v = math.atan2(value[i], value[j])
        elif op == SIN:
            v = math.sin(value[i])
        elif op == COS:
            v = math.cos(value[i])
        elif op == EXP:
            v = math.exp(min(value[i], 709.0))
        elif op == LOG:
            v = math.log(value[i]) if value[i] > 0.0 else math.nan
        elif op == TANH:
            v = math.tanh(value[i])
        elif op == ABS:
            v = abs(value[i])
        elif op == SIGN:
            v = 1.0 if value[i] > 0.0 else (-1.0 if value[i] < 0.0 else 0.0)
        else:
            v = rotation(op - ROTATION, value[i], tape.series)
        value[k - begin] = v
    return float(value[end - 1 - begin])


@inner_kernel
def partials(op: int, a: float, b: float, v: float, series: Floats) -> tuple[float, float]:
    """Derivatives of an operation with the value v by its operands."""
    first, second = 1.0, 0.0
    if op == ADD:
        second = 1.0
    elif op == MULTIPLY:
        first, second = b, a
    elif op == DIVIDE:
        first, second = 1.0 / b, -v / b
    elif op == POWER:
        first = b * a ** (b - 1.0) if a != 0.0 or b >= 1.0 else math.nan
        second = v * math.log(a) if a > 0.0 else 0.0
    elif op == ATAN2:
        square = a * a + b * b
        first, second = b / square, -a / square
    elif op == SIN:
        first = math.cos(a)
    elif op == COS:
        first = -math.sin(a)
    elif op == EXP:
        first = v
    elif op == LOG:
        first = 1.0 / a
    elif op == TANH:
        first = 1.0 - v * v
    elif op == ABS:
        first = 1.0 if a > 0.0 else (-1.0 if a < 0.0 else 0.0)
    elif op == SIGN:
        first = 0.0
    elif op >= ROTATION:
        first = rotation(op - ROTATION + 1, a, series)
    return first, second


@inner_kernel
def backward(tape: Tape, row: int, point: Point, values: Values) -> None:
    """Add the derivatives of a row, whose values are known, to their slots of the Jacobian."""
    begin, end = tape.rows[row, 1], tape.rows[row, 2]
    value, weight = values.value, values.weight
    for k in range(end - begin):
        weight[k] = 0.0
    weight[end - 1 - begin] = 1.0
    for k in range(end - 1, begin - 1, -1):
        op, i, j, w = tape.operation[k], tape.first[k], tape.second[k], weight[k - begin]
        if op == UNKNOWN:
            values.J[j] += w
        elif op == STATE:
            if j >= 0:
                values.J[j] += w * tape.numbers[tape.third[k]] * point.at[1]
        elif op >= ADD and w != 0.0:
            two = op <= ATAN2
            b = value[j] if two else 0.0
            first, second = partials(op, value[i], b, value[k - begin], tape.series)
            weight[i] += w * first
            if two:
                weight[j] += w * second


@inner_kernel
def evaluate(equation: Equation, tape: Tape, point: Point, values: Values, c: float) -> None:
    """F and its Jacobian."""
    F, J, h = values.F, values.J, point.at[1]
    x, z, u = point.x, point.z, point.u
    for r in range(F.shape[0]):
        F[r] = equation.constant[r]
    for s in range(J.shape[0]):
        J[s] = equation.jacobian[s] + h * equation.jacobian_h[s]
    for k in range(equation.z_by.shape[0]):
        F[equation.z_at[k, 0]] += equation.z_by[k] * z[equation.z_at[k, 1]]
    for k in range(equation.x_by.shape[0]):
        i = equation.x_at[k, 1]
        F[equation.x_at[k, 0]] += equation.x_by[k] * (x[i] + c * h * z[point.rate[i]])
    for k in range(equation.u_by.shape[0]):
        F[equation.u_at[k, 0]] += equation.u_by[k] * u[equation.u_at[k, 1]]
    for m in range(tape.rows.shape[0]):
        F[tape.rows[m, 0]] += forward(tape, m, point, values.value)
        backward(tape, m, point, values)


@kernel
def evaluate_once(equation: Equation, tape: Tape, point: Point, values: Values) -> None:
    """F and its Jacobian at an instant."""
    evaluate(equation, tape, point, values, 0.5)


@kernel
def row_values(tape: Tape, point: Point, states: Floats, value: Floats, out: Floats) -> None:
    """The values (n, rows) of all rows at states (n, size)."""
    for n in range(states.shape[0]):
        for i in range(states.shape[1]):
            point.x[i] = states[n, i]
        for m in range(tape.rows.shape[0]):
            out[n, m] = forward(tape, m, point, value)
