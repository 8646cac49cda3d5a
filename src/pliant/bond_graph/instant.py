"""The equations of a graph at an instant:  0 = F(z, x, u, t) ,  x' = z[rate] .

Where F_z is singular, constraints bind the states: with N^T F_z = 0,  N^T F  does not depend on z, and z is found from
its rate,  N^T (F_x x' + F_t) = 0 . States that do not satisfy N^T F = 0 are brought there by impulses, which are
solutions of F_z z = 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.bond_graph.solver import equilibrated
from pliant.bond_graph.tape import Point, evaluate_once
from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import Compiled

RANK = 1e-11  # part of the largest singular value of the scaled F_z below which one is zero
SMALL = 400  # unknowns up to which null spaces come from a singular value decomposition
MOST_ITERATIONS = 50
TIME_DIFFERENCE = 1e-6  # s
SHORT, TRIES, FITS = 1e-9, 20, 1e-5  # s, iterations, and part of F that may be left
NO_INDEX_2 = (
    "constraints bind no store, or bind it more than once (index above two); give a mass or a compliance to what they"
    " hold, or write them for velocities"
)


class Scaled(NamedTuple):
    """F_z with rows and columns of about size one, and its null spaces  N^T F_z = 0  and  F_z V = 0  in these sizes."""

    F_z: Any
    rows: Array
    size: Array
    N: Array
    V: Array


def at_instant(own: Compiled, y: Array, time: float, u: Array) -> tuple[Array, Any, Any]:
    """F and its sparse Jacobians by unknowns and by states, at y = (z, x)."""
    from scipy.sparse import csr_array

    system, n = own.instant, len(own.equations.unknowns)
    values = system.values()
    point = Point(np.zeros(0), np.ascontiguousarray(y), u, np.zeros(0, np.int64), np.array([time, 0.0]))
    evaluate_once(system.equation, system.tape, point, values)
    if not np.isfinite(values.J).all():
        raise InvalidInput("a formula or its derivative is no number at this state; start elsewhere")
    jacobian = csr_array((values.J, system.columns, system.begin), shape=(len(values.F), system.size)).tocsc()
    return values.F, jacobian[:, :n], jacobian[:, n:]


def given(inputs: Inputs, times: Array) -> Array:
    """Values of all open sources at times, (n, inputs)."""
    return np.ascontiguousarray(inputs.joint_signals(np.atleast_1d(times))[:, :, 2])


def scaled(matrix: Any) -> Scaled:
    entries = matrix.tocoo()
    row_size, size = equilibrated(entries.row, entries.col, entries.data, matrix.shape[0])
    F_z = (matrix * row_size[:, None]) * size[None]
    left, right = _null_spaces(F_z.tocsc())
    return Scaled(F_z.tocsc(), row_size, size, left, right)


def _null_spaces(F_z: Any) -> tuple[Array, Array]:
    n = F_z.shape[0]
    if n <= SMALL:
        left, values, right = np.linalg.svd(F_z.toarray())
        rank = int(np.sum(values > RANK * values.max(initial=0.0)))
        return left[:, rank:], right[rank:].T
    from scipy.sparse.csgraph import structural_rank

    # rows and columns at random make a regular matrix of one that lacks as many
    random = np.random.default_rng(1)
    for lack in range(n - structural_rank(F_z), n):
        found = factorised(bordered(F_z, random.standard_normal((n, lack)), random.standard_normal((lack, n))))
        if found is not None:
            unit = np.vstack([np.zeros((n, lack)), np.eye(lack)])
            left, right = found.solve(unit, "T")[:n], found.solve(unit)[:n]
            return np.linalg.qr(left)[0], np.linalg.qr(right)[0]
    raise InvalidInput(NO_INDEX_2)


def bordered(F_z: Any, columns: Array, rows: Array) -> Any:
    from scipy.sparse import block_array, csc_array

    if not columns.shape[1]:
        return F_z
    return block_array([[F_z, csc_array(columns)], [csc_array(rows), None]], format="csc")


def factorised(matrix: Any) -> Any:
    """Its factors; None where it is singular."""
    from scipy.sparse.linalg import splu

    try:
        found = splu(matrix)
    except RuntimeError:
        return None
    pivots = np.abs(found.U.diagonal())
    return found if pivots.min(initial=1.0) > 1e-13 * pivots.max(initial=0.0) else None


def solved(own: Compiled, inputs: Inputs, state: Array, time: float, guess: Array | None = None) -> Array:
    """All efforts, flows and signals z at a state that satisfies the constraints."""
    n, rates = len(own.equations.unknowns), np.array(own.equations.rates, np.int64)
    u = given(inputs, np.array([time]))[0]
    z = own.guess if guess is None else guess
    move = moving(rates, n)
    for _ in range(MOST_ITERATIONS):
        F, F_z, F_x = at_instant(own, np.concatenate([z, state]), time, u)
        part = scaled(F_z)
        across = (part.N * part.rows[:, None]).T
        hidden = (across @ F_x) @ move
        drift = across @ _by_time(own, inputs, np.concatenate([z, state]), time) if len(across) else np.zeros(0)
        lengths = np.abs(hidden * part.size).max(axis=1, initial=1e-300)
        matrix = bordered(part.F_z, part.N, hidden * part.size / lengths[:, None])
        found = factorised(matrix)
        if found is None:
            raise InvalidInput(NO_INDEX_2)
        change = part.size * found.solve(np.append(part.rows * F, (hidden @ z + drift) / lengths))[:n]
        z = z - change
        if np.abs(change / part.size).max(initial=0.0) <= 1e-12 * np.abs(z / part.size).max(initial=1e-300):
            break
    return np.asarray(z)


def _by_time(own: Compiled, inputs: Inputs, y: Array, time: float) -> Array:
    """The rate of F with time and sources; from one side, so that no signal is read before its start."""
    times = time + TIME_DIFFERENCE * np.arange(3.0)
    u = given(inputs, times)
    F = [at_instant(own, y, float(t), each)[0] for t, each in zip(times, u, strict=True)]
    return np.asarray((-1.5 * F[0] + 2.0 * F[1] - 0.5 * F[2]) / TIME_DIFFERENCE)


def nearly_satisfied(own: Compiled, state: Array, time: float, u: Array) -> bool:
    """Whether some z solves F at a state to five digits, found with the matrix of a very short step, which is regular.

    Where constraints are violated, F keeps what it lacks; where z is very large, null spaces tell nothing.
    """
    n, rates = len(own.equations.unknowns), np.array(own.equations.rates, np.int64)
    z, first = own.guess, 0.0
    for k in range(TRIES):
        F, F_z, F_x = at_instant(own, np.concatenate([z, state]), time, u)
        entries = (F_z + (0.5 * SHORT) * F_x @ moving(rates, n)).tocoo()
        row_size, size = equilibrated(entries.row, entries.col, entries.data, n)
        lack = np.abs(row_size * F).max(initial=0.0)
        first = lack if k == 0 else first
        if lack <= FITS * first:
            return True
        found = factorised(((entries.tocsc() * row_size[:, None]) * size[None]).tocsc())
        if found is None:
            return False
        z = z - size * found.solve(row_size * F)
    return False


def moving(rates: Array, n: int) -> Any:
    """From unknowns to the rates of states."""
    from scipy.sparse import csc_array

    return csc_array((np.ones(len(rates)), (np.arange(len(rates)), rates)), shape=(len(rates), n))


def consistent(own: Compiled, inputs: Inputs, state: Array, time: float) -> Array:
    """The state after impulses that make it satisfy all constraints; itself if there are none."""
    u = given(inputs, np.array([time]))[0]
    try:
        return _after_impulses(own, u, state, time)
    except InvalidInput:
        if nearly_satisfied(own, state, time, u):
            return state
        raise


def _after_impulses(own: Compiled, u: Array, state: Array, time: float) -> Array:
    rates, z, x = list(own.equations.rates), own.guess, state
    for _ in range(MOST_ITERATIONS):
        F, F_z, F_x = at_instant(own, np.concatenate([z, x]), time, u)
        part = scaled(F_z)
        if not part.N.shape[1]:
            return x
        across, jumps = (part.N * part.rows[:, None]).T, (part.V * part.size[:, None])[rates]
        lack = across @ F
        if np.all(np.abs(lack) <= RANK * np.abs(across) @ np.abs(F)):
            return x
        G = (across @ F_x) @ jumps
        if np.linalg.matrix_rank(G, 1e-10 * np.abs(G).max(initial=1e-300)) < len(G):
            raise InvalidInput(NO_INDEX_2)
        change = -jumps @ np.linalg.solve(G, lack)
        x = x + change
        # unknowns in which F is not linear follow
        found = factorised(bordered(part.F_z, part.N, part.V.T))
        z = z - part.size * found.solve(np.append(part.rows * F, np.zeros(len(G))))[: len(z)] if found else z
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
        F, F_z, F_x = at_instant(own, y, time, u)
        jacobian = np.hstack([F_z.toarray(), F_x.toarray()])
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
