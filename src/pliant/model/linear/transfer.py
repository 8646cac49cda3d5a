"""Transfer matrices at many complex frequencies: a unitary triangular form, then back substitution for all at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model.layout import Array
from pliant.model.linear.matrices import Complex

BLOCK = 32  # rows that are substituted together, so that most of the work is products of matrices
NUMBERS = 4_000_000  # complex numbers of the solution kept at a time: 64 megabytes


@dataclass(frozen=True, eq=False)
class TriangularForm:
    """(s E - A)^-1 with both matrices upper triangular; ``E`` is None where it is the identity.

    A unitary form, not a modal one: it keeps its accuracy where poles meet, as those of a free arm do at zero.
    """

    A: Complex
    E: Complex | None
    B: Complex
    C: Complex
    D: Array

    def at(self, s: Complex) -> Complex:
        """The transfer matrices (len(s), outputs, inputs); not finite at a pole."""
        outputs, inputs = self.D.shape
        result = np.empty((len(s), outputs, inputs), complex)
        chunk = max(1, NUMBERS // max(1, len(self.A) * inputs))
        for first in range(0, len(s), chunk):
            some = s[first : first + chunk]
            with np.errstate(divide="ignore", invalid="ignore"):
                gains = (self.C @ self._substitute(some)).reshape(outputs, len(some), inputs)
            result[first : first + chunk] = gains.transpose(1, 0, 2) + self.D
        return result

    def _substitute(self, s: Complex) -> Complex:
        """The states (n, len(s) * inputs) that unit inputs cause."""
        n, inputs = self.B.shape
        each = np.repeat(s, inputs)
        x = np.empty((n, len(each)), complex)
        for last in range(n, 0, -BLOCK):
            first = max(0, last - BLOCK)
            right = np.tile(self.B[first:last], len(s)) + self.A[first:last, last:] @ x[last:]
            if self.E is not None:
                right -= each * (self.E[first:last, last:] @ x[last:])
            for row in range(last - 1, first - 1, -1):
                inner = slice(row + 1, last)
                value = right[row - first] + self.A[row, inner] @ x[inner]
                if self.E is None:
                    x[row] = value / (each - self.A[row, row])
                else:
                    value -= each * (self.E[row, inner] @ x[inner])
                    x[row] = value / (each * self.E[row, row] - self.A[row, row])
        return x


def of_standard(A: Array, B: Array, C: Array, D: Array) -> TriangularForm:
    """For E = I: a real Schur form of the balanced matrix, made complex afterwards."""
    from scipy.linalg import matrix_balance, rsf2csf, schur

    if not len(A):
        return TriangularForm(A.astype(complex), None, B.astype(complex), C.astype(complex), D)
    with np.errstate(invalid="ignore"):  # scales of states that hardly act are no permutation, and large
        balanced, (scale, _) = matrix_balance(A, permute=False, separate=True)
    T, Z = rsf2csf(*schur(balanced))
    return TriangularForm(T, None, Z.conj().T @ (B / scale[:, None]), (C * scale) @ Z, D)


def of_pencil(E: Array, A: Array, B: Array, C: Array, D: Array) -> TriangularForm:
    """For a singular E, constraints included: generalized Schur form."""
    from scipy.linalg import qz

    S, T, left, right = qz(A, E, output="complex")
    return TriangularForm(S, T, left.conj().T @ B, C @ right, D)
