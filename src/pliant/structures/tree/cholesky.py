"""Dense symmetric positive definite systems, without allocation.

Small matrices are inverted, because a product with the inverse is several times faster than two sweeps over short
rows. Large ones become A = L D L^T with a unit lower triangle L, which is kept below the diagonal, its transpose above
and 1/D on it: so both sweeps run along rows, adding one multiple of a row after the other, which the compiler
vectorises.
"""

from __future__ import annotations

from pliant.jit import inner_kernel
from pliant.structures.tree.motion import Floats

SMALL = 16


@inner_kernel
def factorise(A: Floats) -> bool:
    """Replace A by what `solve` needs; False if it is not definite."""
    return invert(A) if A.shape[0] <= SMALL else factorise_large(A)


@inner_kernel
def solve(A: Floats, b: Floats, x: Floats) -> None:
    """x = A^-1 b."""
    n = A.shape[0]
    if n > SMALL:
        for i in range(n):
            x[i] = b[i]
        sweep(A, x)
        return
    x[:] = 0.0
    for k in range(n):
        factor = b[k]
        for i in range(n):
            x[i] += factor * A[k, i]


@inner_kernel
def invert(A: Floats) -> bool:
    """Gauss and Jordan, in place; a definite matrix needs no exchange of rows."""
    n = A.shape[0]
    for k in range(n):
        pivot = A[k, k]
        if not pivot > 0.0:  # also true for NaN
            return False
        A[k, k] = 1.0
        inverse = 1.0 / pivot
        for j in range(n):
            A[k, j] *= inverse
        for i in range(n):
            if i != k:
                factor = A[i, k]
                A[i, k] = 0.0
                for j in range(n):
                    A[i, j] -= factor * A[k, j]
    return True


@inner_kernel
def factorise_large(A: Floats) -> bool:
    n = A.shape[0]
    for k in range(n):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        for i in range(k + 1, n):
            factor = A[k, i] * inverse
            if factor != 0.0:
                for j in range(i, n):
                    A[i, j] -= factor * A[k, j]
            A[i, k] = factor
        for i in range(k + 1, n):
            A[k, i] = A[i, k]
        A[k, k] = inverse
    return True


@inner_kernel
def sweep(A: Floats, x: Floats) -> None:
    """Forward and back."""
    n = A.shape[0]
    for k in range(n):
        factor = x[k]
        for j in range(k + 1, n):
            x[j] -= factor * A[k, j]
    for k in range(n):
        x[k] *= A[k, k]
    for k in range(n - 1, 0, -1):
        factor = x[k]
        for j in range(k):
            x[j] -= factor * A[k, j]
