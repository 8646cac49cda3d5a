"""The equations of a graph at an instant:  0 = F(z, x, u, t) ,  x' = z[rate] .

Where F_z is singular, constraints bind the states: with N^T F_z = 0,  N^T F  does not depend on z, and z is found from
its rate,  N^T (F_x x' + F_t) = 0 . States that do not satisfy N^T F = 0 are brought there by impulses, which are
solutions of F_z z = 0. Matrices are sparse where there are many unknowns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulas.sparse import RANK, bordered, null_spaces, sized, solution
from pliant.formulas.tape import Point, evaluate_once
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause, Ending

if TYPE_CHECKING:
    from pliant.bond_graph.model import Compiled

SMALL = 400  # unknowns up to which matrices are dense
MOST_ITERATIONS = 50
USUAL_STEP, TIME_DIFFERENCE = 1e-3, 1e-6  # s
NO_INDEX_2 = (
    "constraints bind no store, or bind it more than once (index above two); give a mass or a compliance to what they"
    " hold, or write them for velocities"
)


def at_instant(own: Compiled, y: Array, time: float, u: Array) -> tuple[Array, Any, Any]:
    """F and its Jacobians by unknowns and by states, at y = (z, x)."""
    from scipy.sparse import csr_array

    system, n = own.instant, len(own.equations.unknowns)
    values = system.values()
    point = Point(np.zeros(0), np.ascontiguousarray(y), u, np.zeros(0, np.int64), np.array([time, 0.0]))
    evaluate_once(system.equation, system.tape, point, values)
    if not np.isfinite(values.J).all():
        raise InvalidInput("a formula or its derivative is no number at this state; start elsewhere")
    J = csr_array((values.J, system.columns, system.begin), shape=(n, system.size)).tocsc()
    J = J if n > SMALL else J.toarray()
    return values.F, J[:, :n], J[:, n:]


def given(inputs: Inputs, times: Array) -> Array:
    """Values of all open sources at times, (n, inputs)."""
    return np.ascontiguousarray(inputs.joint_signals(np.atleast_1d(times))[:, :, 2])


class Scaled(NamedTuple):
    """F_z with rows and columns of about size one in a step, and its null spaces  N^T F_z = 0  and  F_z V = 0 ."""

    F_z: Any
    rows: Array
    size: Array
    N: Array
    V: Array
    across: Array  # N^T for rows that are not scaled


def scaled(own: Compiled, F_z: Any, F_x: Any) -> Scaled:
    """In a step, because single columns of F_z may hold nothing but round-off, which must stay small."""
    from scipy.sparse import diags_array

    _, rows, size = sized(F_z + 0.5 * USUAL_STEP * F_x @ own.to_rates)
    matrix = diags_array(rows) @ F_z @ diags_array(size)
    N, V = null_spaces(matrix)
    return Scaled(matrix, rows, size, N, V, N.T * rows)


def solved(own: Compiled, inputs: Inputs, state: Array, time: float, guess: Array | None = None) -> Array:
    """All efforts, flows and signals z at a state that satisfies the constraints."""
    z, u = own.guess if guess is None else guess, given(inputs, np.array([time]))[0]
    for _ in range(MOST_ITERATIONS):
        y = np.concatenate([z, state])
        F, F_z, F_x = at_instant(own, y, time, u)
        part = scaled(own, F_z, F_x)
        hidden = part.across @ F_x @ own.to_rates
        drift = part.across @ _by_time(own, inputs, y, time) if len(hidden) else np.zeros(0)
        lengths = np.abs(hidden * part.size).max(axis=1, initial=1e-300)
        solve = solution(bordered(part.F_z, part.N, hidden * part.size / lengths[:, None]))
        if solve is None:
            raise InvalidInput(NO_INDEX_2)
        change = solve(np.append(part.rows * F, (hidden @ z + drift) / lengths))[: len(z)]
        z = z - part.size * change
        if np.abs(change).max(initial=0.0) <= 1e-12 * np.abs(z / part.size).max(initial=1e-300):
            break
    return z


def _by_time(own: Compiled, inputs: Inputs, y: Array, time: float) -> Array:
    """The rate of F with time and sources; from one side, so that no signal is read before its start."""
    times = time + TIME_DIFFERENCE * np.arange(3.0)
    F = [at_instant(own, y, float(t), u)[0] for t, u in zip(times, given(inputs, times), strict=True)]
    return np.asarray((-1.5 * F[0] + 2.0 * F[1] - 0.5 * F[2]) / TIME_DIFFERENCE)


def consistent(own: Compiled, inputs: Inputs, state: Array, time: float) -> Array:
    """The state after impulses that make it satisfy all constraints; itself if there are none."""
    z, x, u = own.guess, state, given(inputs, np.array([time]))[0]
    for _ in range(MOST_ITERATIONS):
        F, F_z, F_x = at_instant(own, np.concatenate([z, x]), time, u)
        part = scaled(own, F_z, F_x)
        lack = part.across @ F
        if np.all(np.abs(lack) <= RANK * np.abs(part.across) @ np.abs(F)):
            return x
        jumps = (part.V * part.size[:, None])[own.equations.rates]
        G = (part.across @ F_x) @ jumps
        if np.linalg.matrix_rank(G, 1e-10 * np.abs(G).max(initial=1e-300)) < len(G):
            raise InvalidInput(NO_INDEX_2)
        change = -jumps @ np.linalg.solve(G, lack)
        x = x + change
        # unknowns in which F is not linear follow
        solve = solution(bordered(part.F_z, part.N, part.V.T))
        if solve is not None:
            z = z - part.size * solve(np.append(part.rows * F, np.zeros(len(G))))[: len(z)]
        if np.abs(change).max(initial=0.0) <= 1e-15 * np.abs(x).max(initial=1e-300):
            return x
    raise InvalidInput("no start near the given one satisfies the constraints; give starts that nearly do")


def balanced(own: Compiled, start: Array, u: Array, time: float, accuracy: float) -> tuple[Array, int, Ending]:
    """A state near ``start`` at which nothing changes, the iterations that it took, and how they ended."""
    n, rates = len(own.equations.unknowns), np.unique(np.array(own.equations.rates, np.int64))
    y = np.concatenate([own.guess, start])
    still = np.eye(len(y))[rates]
    for iteration in range(1, MOST_ITERATIONS + 1):
        F, *blocks = at_instant(own, y, time, u)
        jacobian = np.hstack([each if isinstance(each, np.ndarray) else each.toarray() for each in blocks])
        lengths = np.abs(jacobian).max(axis=1, initial=0.0)
        lengths = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
        matrix, right = np.vstack([jacobian * lengths[:, None], still]), np.append(lengths * F, y[rates])
        change = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        y = y - change
        if not np.isfinite(y).all():
            break
        small = np.abs(change[n:]).max(initial=0.0) <= accuracy * np.abs(y[n:]).max(initial=1e-300)
        if small and np.abs(right).max(initial=0.0) <= 1e-9 * np.abs(y).max(initial=1e-300):
            return y[n:].copy(), iteration, Ending(Cause.COMPLETED, time)
    place = own.equations.unknowns[int(rates[np.argmax(np.abs(y[rates]))])] if len(rates) else ""
    remedy = "there is none near the start; start nearer to it, or hold what goes on moving"
    return start, MOST_ITERATIONS, Ending(Cause.NOT_CONVERGED, time, place, remedy)
