"""Linear systems in plain state space: E x' = A x + B u, y = C x + D u.

From E x' = A x + B u with a singular E to an explicit equation, by differentiating constraints.

Transfer matrices at many complex frequencies: a unitary triangular form, then back substitution for all at once.

Transmission zeros of x' = A x + B u, y = C x + D u, square or not.

Two passes of the reduction of [emaminaeini1982] strip off what belongs to infinity: outputs that do not see the
input directly are differentiated until they do. What is left has an invertible D, and its zeros are eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput, lacking
from pliant.model.linear import port as checks
from pliant.model.linear.port import SINGULAR, Complex
from pliant.model.state import Array
from pliant.progress import report


def without_algebraic_states(E: Array, A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """A, B, C, D of the same input-output behaviour with E = I.

    Each pass either solves the algebraic equations for their unknowns or uses those among them that hold no such
    unknown to remove states; the second happens once for constraints on velocities, twice for constraints on
    positions.
    """
    while True:
        left, masses, right = np.linalg.svd(E)
        rank = int(np.sum(masses > SINGULAR * masses.max(initial=0.0)))
        A, B, C = left.T @ A @ right.T, left.T @ B, C @ right.T
        inner, values, _ = np.linalg.svd(A[rank:, rank:])
        known = int(np.sum(values > SINGULAR * np.linalg.norm(A, 2)))
        if known == len(values):
            break
        A[rank:], B[rank:] = inner.T @ A[rank:], inner.T @ B[rank:]
        constraint, driven = A[rank + known :, :rank], B[rank + known :]
        if np.linalg.norm(driven) > SINGULAR * max(np.linalg.norm(B), np.finfo(float).tiny):
            raise InvalidInput(
                "linear system: a constraint moves with an input, so that its explicit form would need the derivative"
                " of that input; keep the descriptor form, or give the input through a state"
            )
        _, lengths, basis = np.linalg.svd(constraint)
        if np.any(lengths <= SINGULAR * np.linalg.norm(A, 2)) or len(constraint) > rank:
            raise InvalidInput(
                "linear system: its equations do not determine all states (s E - A is singular for every s);"
                " remove constraints that repeat others"
            )
        keep = basis[len(constraint) :].T
        columns = np.zeros((len(A), keep.shape[1] + len(A) - rank))
        columns[:rank, : keep.shape[1]] = keep
        columns[rank:, keep.shape[1] :] = np.eye(len(A) - rank)
        rows = slice(0, rank + known)
        E = np.vstack([np.diag(masses[:rank]) @ columns[:rank], np.zeros((known, columns.shape[1]))])
        A, B, C = (A @ columns)[rows], B[rows], C @ columns
    solved = np.linalg.solve(A[rank:, rank:], np.hstack([A[rank:, :rank], B[rank:]]))
    of_states, of_inputs = solved[:, :rank], solved[:, rank:]
    A, B = A[:rank, :rank] - A[:rank, rank:] @ of_states, B[:rank] - A[:rank, rank:] @ of_inputs
    mass = masses[:rank, None]
    return A / mass, B / mass, C[:, :rank] - C[:, rank:] @ of_states, D - C[:, rank:] @ of_inputs


BLOCK = 32  # rows that are substituted together, so that most of the work is products of matrices
NUMBERS = 250_000  # complex numbers of the solution kept at a time: 4 megabytes, and some copies of them
REFINEMENTS = 2  # of the solution, each by as many digits as the triangular form has
POOR = 0.1  # part of the input that may be left over where refinement gains digits
BESIDE = 1e-5  # part of the distance to the next pole by which the limit at a pole is looked for
HERE = 1e-7  # part of the distance to the farthest pole within which round-off may scatter those that meet


@dataclass(frozen=True, eq=False)
class TriangularForm:
    """C (s E - A)^-1 B + D with  left (s E - A) right = s T - S,  S and T upper triangular; None is the identity.

    A unitary form, not a modal one: it keeps its accuracy where poles meet, as those of a free arm do at zero. Its
    round-off is that of the fastest poles, of which slow ones lose the square of their ratio; refined by residuals of
    the system itself, solutions do not.
    """

    S: Complex
    T: Complex | None
    left: Array | Complex
    right: Array | Complex
    A: Array
    E: Array | None
    B: Array
    C: Array
    D: Array

    def at(self, s: Complex) -> Complex:
        """The transfer matrices (len(s), outputs, inputs); infinite at a pole that input and output share."""
        outputs, inputs = self.D.shape
        result = np.empty((len(s), outputs, inputs), complex)
        chunk = max(1, NUMBERS // max(1, len(self.S) * inputs))
        for first in range(0, len(s), chunk):
            report(f"gains at {len(s)} frequencies", first / len(s))
            some = s[first : first + chunk]
            x, poor = self._states(some)
            gains = (self.C @ x).reshape(outputs, len(some), inputs)
            result[first : first + chunk] = gains.transpose(1, 0, 2) + self.D
            for k in np.flatnonzero(poor):
                result[first + k] = self._at_a_pole(some[k])
        report("")
        return result

    def _states(self, s: Complex) -> tuple[Complex, NDArray[np.bool_]]:
        """The states (n, len(s) * inputs) that unit inputs cause, and at which s they are not known."""
        inputs = self.B.shape[1]
        b = np.tile(self.left @ self.B, len(s)).astype(complex)
        each = np.repeat(s, inputs)
        size = np.linalg.norm(b, axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            x = self.right @ self._substitute(each, b)
            for _ in range(REFINEMENTS):
                left_over = self.left @ (
                    np.tile(self.B, len(s)) + self.A @ x - each * (x if self.E is None else self.E @ x)
                )
                known = np.linalg.norm(left_over, axis=0) <= POOR * size
                x = np.where(known, x + self.right @ self._substitute(each, left_over), 0.0)
        return x, ~known.reshape(len(s), inputs).all(axis=1)

    def _at_a_pole(self, s: complex) -> Complex:
        """At a pole, as far as can be told: directly, or by what lies beside it where the equations are singular."""
        try:
            return self._directly(s)
        except np.linalg.LinAlgError:
            step = self._step_beside(s)
            near, far = (self._directly(s + part * step) for part in (1.0, 2.0))
            # what grows when the pole comes nearer has no limit there
            return np.where(np.abs(near) > 1.5 * np.abs(far), np.inf, 2.0 * near - far)

    def _step_beside(self, s: complex) -> float:
        """So small that no other pole is near, so large that this one is not."""
        T = np.ones(len(self.S)) if self.T is None else np.diagonal(self.T)
        finite = np.abs(T) > SINGULAR * np.abs(T).max()
        away = np.abs(s - np.diagonal(self.S)[finite] / T[finite])
        others = away[away > HERE * away.max(initial=0.0)]
        return BESIDE * float(others.min() if len(others) else 1.0)

    def _directly(self, s: complex) -> Complex:
        matrix = s * (np.eye(len(self.A)) if self.E is None else self.E) - self.A
        return np.asarray(self.C @ np.linalg.solve(matrix, self.B.astype(complex)) + self.D)

    def _substitute(self, s: Complex, right: Complex) -> Complex:
        """(s T - S)^-1 applied to columns, each with its s."""
        n = len(self.S)
        x = np.empty((n, len(s)), complex)
        for last in range(n, 0, -BLOCK):
            first = max(0, last - BLOCK)
            block = right[first:last] + self.S[first:last, last:] @ x[last:]
            if self.T is not None:
                block -= s * (self.T[first:last, last:] @ x[last:])
            for row in range(last - 1, first - 1, -1):
                inner = slice(row + 1, last)
                value = block[row - first] + self.S[row, inner] @ x[inner]
                if self.T is None:
                    x[row] = value / (s - self.S[row, row])
                else:
                    value -= s * (self.T[row, inner] @ x[inner])
                    x[row] = value / (s * self.T[row, row] - self.S[row, row])
        return x


def of_standard(A: Array, B: Array, C: Array, D: Array, E: Array | None = None) -> TriangularForm:
    """For a regular E, the identity unless given: a real Schur form of the balanced matrix, made complex afterwards."""
    from scipy.linalg import matrix_balance, rsf2csf, schur

    whole = (A, E, B, C, D)
    if not len(A):
        return TriangularForm(A.astype(complex), None, A, A, *whole)
    rates = A if E is None else np.linalg.solve(E, A)
    with np.errstate(invalid="ignore"):  # scales of states that hardly act are no permutation, and large
        balanced, (scale, _) = matrix_balance(rates, permute=False, separate=True)
    S, Z = rsf2csf(*schur(balanced))
    left = Z.conj().T / scale
    return TriangularForm(S, None, left if E is None else np.linalg.solve(E.T, left.T).T, scale[:, None] * Z, *whole)


NEGLIGIBLE = 1e-11  # singular values below this part of the largest entry of the scaled system count as zero


def transmission_zeros(A: Array, B: Array, C: Array, D: Array) -> Complex:
    """The finite zeros, in the order of rising magnitude."""
    from scipy.linalg import eigvals, matrix_balance

    if not (len(A) and B.shape[1] and len(C)):
        return np.empty(0, complex)
    balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    rate = float(np.linalg.norm(balanced, 2)) or 1.0
    B, C = B / scale[:, None] / rate, C * scale
    columns = np.linalg.norm(np.vstack([B, D]), axis=0)
    B, D = B / _divisor(columns), D / _divisor(columns)
    rows = np.linalg.norm(np.hstack([C, D]), axis=1)
    C, D = C / _divisor(rows)[:, None], D / _divisor(rows)[:, None]
    A, B, C, D = _with_full_rows(balanced / rate, B, C, D)
    A, C, B, D = (each.T for each in _with_full_rows(A.T, C.T, B.T, D.T))
    n, outputs = len(A), len(D)
    if not n:
        return np.empty(0, complex)
    if not outputs:
        values = np.linalg.eigvals(A)
    else:
        # rows [C D] compressed to the last columns: the first n carry the pencil of the zeros
        _, _, right = np.linalg.svd(np.hstack([C, D]))
        free = right[outputs:].T
        values = eigvals(np.hstack([A, B]) @ free, free[:n])
    values = rate * values[np.isfinite(values)]
    return np.asarray(values[np.argsort(np.abs(values))])


def _divisor(lengths: Array) -> Array:
    return np.where(lengths > 0.0, lengths, 1.0)


def _with_full_rows(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """A smaller system with the same zeros whose D has independent rows."""
    while len(C):
        left, values, _ = np.linalg.svd(D)
        rank = int(np.sum(values > NEGLIGIBLE))
        if rank == len(C):
            break
        C, D = left.T @ C, (left.T @ D)[:rank]
        blind, C = C[rank:], C[:rank]
        _, values, right = np.linalg.svd(blind)
        seen = int(np.sum(values > NEGLIGIBLE))
        if not seen:
            break
        V = np.roll(right.T, -seen, axis=1)
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        n = len(A) - seen
        C, D = np.vstack([C[:, :n], A[n:, :n]]), np.vstack([D, B[n:]])
        A, B = A[:n, :n], B[:n]
    return A, B, C, D


KIND = "linear system"


@dataclass(frozen=True, eq=False, kw_only=True)
class LinearSystem:
    """E x' = A x + B u, y = C x + D u, with named inputs, outputs and states.

    ``E`` is the identity and ``D`` zero unless given; a singular ``E`` holds constraints. The arrays are copied and
    read-only.
    """

    A: Array
    B: Array
    C: Array
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    states: tuple[str, ...] = ()
    E: Array = field(default_factory=checks.absent)
    D: Array = field(default_factory=checks.absent)

    def __post_init__(self) -> None:
        n, m, p = checks.count_of(KIND, "A", self.A), len(self.inputs), len(self.outputs)
        shapes = {
            "A": ((n, n), f"{n} states"),
            "B": ((n, m), f"{n} states and {m} inputs"),
            "C": ((p, n), f"{p} outputs and {n} states"),
            "E": ((n, n), f"{n} states"),
            "D": ((p, m), f"{p} outputs and {m} inputs"),
        }
        checks.keep_checked(self, KIND, shapes, {"E": np.eye(n), "D": np.zeros((p, m))})
        object.__setattr__(self, "inputs", checks.checked_names(KIND, "input", self.inputs, m))
        object.__setattr__(self, "outputs", checks.checked_names(KIND, "output", self.outputs, p))

    def matrices(self) -> tuple[Array, Array, Array, Array, Array]:
        """Copies of E, A, B, C, D that may be written to."""
        return self.E.copy(), self.A.copy(), self.B.copy(), self.C.copy(), self.D.copy()

    @cached_property
    def poles(self) -> Complex:
        """The finite poles in 1/s, in the order of rising magnitude."""
        report(f"poles of {len(self.A)} states")
        values = np.linalg.eigvals(self.explicit.A).astype(complex)
        return values[np.argsort(np.abs(values), kind="stable")]

    @cached_property
    def zeros(self) -> Complex:
        """The finite transmission zeros in 1/s, in the order of rising magnitude."""
        report(f"zeros of {len(self.A)} states")
        plain = self.explicit
        return transmission_zeros(plain.A, plain.B, plain.C, plain.D)

    def transfer(self, s: ArrayLike) -> Complex:
        """The transfer matrix C (s E - A)^-1 B + D at complex frequencies: shape of ``s``, then (outputs, inputs).

        ``s`` is in 1/s, 2 pi j times a frequency in hertz. At a pole entries that have no limit there are infinite.
        """
        at = np.asarray(s, complex)
        return self._triangular.at(at.ravel()).reshape(*at.shape, *self.D.shape)

    def between(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> LinearSystem:
        """The same states seen through some of the inputs and outputs, in the given order."""
        columns = [checks.position(KIND, "input", name, self.inputs) for name in inputs]
        rows = [checks.position(KIND, "output", name, self.outputs) for name in outputs]
        B, C, D = self.B[:, columns], self.C[rows], self.D[np.ix_(rows, columns)]
        return replace(self, B=B, C=C, D=D, inputs=tuple(inputs), outputs=tuple(outputs))

    @cached_property
    def explicit(self) -> LinearSystem:
        """The same behaviour with E = I: algebraic states are solved for and constraints eliminated."""
        if checks.is_identity(self.E):
            return self
        if self._has_regular_mass:
            solved = np.asarray(np.linalg.solve(self.E, np.hstack([self.A, self.B])), float)
            A, B, C, D, states = (solved[:, : len(self.A)], solved[:, len(self.A) :], self.C, self.D, self.states)
        else:
            A, B, C, D = without_algebraic_states(self.E, self.A, self.B, self.C, self.D)
            states = checks.numbered("z", len(A))
        return LinearSystem(A=A, B=B, C=C, D=D, inputs=self.inputs, outputs=self.outputs, states=states)

    def to_control(self) -> Any:
        """The system as a ``control.StateSpace`` of python-control, with the same names.

        Points in names, which python-control keeps for itself, become underscores.
        """
        try:
            import control
        except ImportError:
            raise lacking("to_control()", "python-control", "control") from None
        plain = self.explicit
        kinds = ("inputs", "outputs", "states")
        names = {kind: [name.replace(".", "_") for name in getattr(plain, kind)] for kind in kinds}
        return control.StateSpace(plain.A, plain.B, plain.C, plain.D, remove_useless_states=False, **names)

    @cached_property
    def _has_regular_mass(self) -> bool:
        return checks.is_identity(self.E) or checks.reciprocal_condition(self.E) > SINGULAR

    @cached_property
    def _triangular(self) -> TriangularForm:
        report(f"triangular form of {len(self.A)} states")
        if self._has_regular_mass:
            return of_standard(self.A, self.B, self.C, self.D, None if checks.is_identity(self.E) else self.E)
        from scipy.linalg import qz

        # for a singular E, constraints included: generalized Schur form
        S, T, left, right = qz(self.A, self.E, output="complex")
        return TriangularForm(S, T, left.conj().T, right, self.A, self.E, self.B, self.C, self.D)
