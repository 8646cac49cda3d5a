"""The equations of a graph at an instant:  0 = F(z, x, u, t) ,  x' = z[rate] .

Where F_z is singular, constraints bind the states: with N^T F_z = 0,  N^T F  does not depend on z, and z is found from
its rate,  N^T (F_x x' + F_t) = 0 . States that do not satisfy N^T F = 0 are brought there by impulses, which are
solutions of F_z z = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.bond_graph.solver import equilibrated
from pliant.bond_graph.tape import Point, evaluate_once
from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import Compiled

RANK = 1e-11  # part of the largest singular value of the scaled F_z below which one is zero
MOST_ITERATIONS = 50
TIME_DIFFERENCE = 1e-6  # s
NO_INDEX_2 = (
    "constraints bind no store, or bind it more than once (index above two); give a mass or a compliance to what they"
    " hold, or write them for velocities"
)


class Scaled(NamedTuple):
    """F_z with rows and columns of about size one, and its null spaces: N^T F_z = 0, F_z V = 0."""

    F_z: Array
    rows: Array
    size: Array
    N: Array
    V: Array


def at_instant(own: Compiled, y: Array, time: float, u: Array) -> tuple[Array, Array]:
    """F and its dense Jacobian by unknowns and states, at y = (z, x)."""
    system = own.instant
    values = system.values()
    point = Point(np.zeros(0), np.ascontiguousarray(y), u, np.zeros(0, np.int64), np.array([time, 0.0]))
    evaluate_once(system.equation, system.tape, point, values)
    jacobian = np.zeros((len(values.F), system.size))
    jacobian[system.rows_of_slots(), system.columns] = values.J
    return values.F, jacobian


def given(inputs: Inputs, times: Array) -> Array:
    """Values of all open sources at times, (n, inputs)."""
    return np.ascontiguousarray(inputs.joint_signals(np.atleast_1d(times))[:, :, 2])


def scaled(matrix: Array) -> Scaled:
    rows, columns = np.nonzero(matrix)
    row_size, size = equilibrated(rows, columns, matrix[rows, columns], len(matrix))
    F_z = matrix * np.outer(row_size, size)
    if not np.isfinite(F_z).all():
        raise InvalidInput("a formula or its derivative is no number at this state; start elsewhere")
    left, values, right = np.linalg.svd(F_z)
    rank = int(np.sum(values > RANK * values.max(initial=0.0)))
    return Scaled(F_z, row_size, size, left[:, rank:] * row_size[:, None], right[rank:].T * size[:, None])


def solved(own: Compiled, inputs: Inputs, state: Array, time: float, guess: Array | None = None) -> Array:
    """All efforts, flows and signals z at a state that satisfies the constraints."""
    n, rates = len(own.equations.unknowns), list(own.equations.rates)
    u = given(inputs, np.array([time]))[0]
    z = own.guess if guess is None else guess
    for _ in range(MOST_ITERATIONS):
        F, jacobian = at_instant(own, np.concatenate([z, state]), time, u)
        part = scaled(jacobian[:, :n])
        matrix, right = part.F_z, part.rows * F
        if part.N.shape[1]:
            hidden = np.zeros((part.N.shape[1], n))
            np.add.at(hidden.T, rates, (part.N.T @ jacobian[:, n:]).T)
            drift = part.N.T @ _by_time(own, inputs, np.concatenate([z, state]), time)
            matrix, right = np.vstack([matrix, hidden * part.size]), np.append(right, hidden @ z + drift)
        lengths = np.abs(matrix).max(axis=1, initial=0.0)
        lengths = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        change = part.size * np.linalg.lstsq(matrix * lengths[:, None], lengths * right, rcond=1e-13)[0]
        z = z - change
        if np.abs(change / part.size).max(initial=0.0) <= 1e-13 * np.abs(z / part.size).max(initial=1e-300):
            break
    return np.asarray(z)


def _by_time(own: Compiled, inputs: Inputs, y: Array, time: float) -> Array:
    """The rate of F with time and sources; from one side, so that no signal is read before its start."""
    times = time + TIME_DIFFERENCE * np.arange(3.0)
    u = given(inputs, times)
    F = [at_instant(own, y, float(t), each)[0] for t, each in zip(times, u, strict=True)]
    return np.asarray((-1.5 * F[0] + 2.0 * F[1] - 0.5 * F[2]) / TIME_DIFFERENCE)


def consistent(own: Compiled, inputs: Inputs, state: Array, time: float) -> Array:
    """The state after impulses that make it satisfy all constraints; itself if there are none."""
    n, rates = len(own.equations.unknowns), list(own.equations.rates)
    u, z, x = given(inputs, np.array([time]))[0], own.guess, state
    for _ in range(MOST_ITERATIONS):
        F, jacobian = at_instant(own, np.concatenate([z, x]), time, u)
        part = scaled(jacobian[:, :n])
        if not part.N.shape[1]:
            return x
        jumps = part.V[rates]
        G = part.N.T @ jacobian[:, n:] @ jumps
        if np.linalg.matrix_rank(G, 1e-10 * np.abs(G).max(initial=1e-300)) < len(G):
            raise InvalidInput(NO_INDEX_2)
        change = -jumps @ np.linalg.solve(G, part.N.T @ F)
        x = x + change
        z = z - part.size * np.linalg.lstsq(part.F_z, part.rows * F, rcond=RANK)[0]
        if np.abs(change).max(initial=0.0) <= 1e-15 * np.abs(x).max(initial=1e-300):
            return x
    raise InvalidInput("no start near the given one satisfies the constraints; give starts that nearly do")


def balanced(own: Compiled, start: Array, u: Array, time: float, accuracy: float) -> tuple[Array, int, Ending]:
    """A state near ``start`` at which nothing changes, the iterations that it took, and how they ended."""
    n, rates = len(own.equations.unknowns), np.array(sorted(set(own.equations.rates)), np.int64)
    y = np.concatenate([own.guess, start])
    still = np.zeros((len(rates), len(y)))
    still[np.arange(len(rates)), rates] = 1.0
    for iteration in range(1, MOST_ITERATIONS + 1):
        F, jacobian = at_instant(own, y, time, u)
        lengths = np.abs(jacobian).max(axis=1, initial=0.0)
        lengths = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        matrix = np.vstack([jacobian * lengths[:, None], still])
        change = np.linalg.lstsq(matrix, np.append(lengths * F, y[rates]), rcond=1e-12)[0]
        y = y - change
        if not np.isfinite(y).all():
            break
        lack = max(np.abs(lengths * F).max(initial=0.0), np.abs(y[rates]).max(initial=0.0))
        if lack <= 1e-9 * np.abs(y).max(initial=1e-300) and (
            np.abs(change[n:]).max(initial=0.0) <= accuracy * np.abs(y[n:]).max(initial=1e-300)
        ):
            return y[n:].copy(), iteration, Ending(Cause.COMPLETED, time)
    worst = int(rates[np.argmax(np.abs(y[rates]))]) if len(rates) else 0
    remedy = "there is none near the start; start nearer to it, or hold what goes on moving"
    place = own.equations.unknowns[worst] if len(own.equations.unknowns) else ""
    return start, MOST_ITERATIONS, Ending(Cause.NOT_CONVERGED, time, place, remedy)
