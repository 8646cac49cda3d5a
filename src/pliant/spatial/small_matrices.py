"""6x6 matrices in preallocated arrays, real or complex.

A row of the result is accumulated in registers and stored at the end, so that results may not overlap
with operands. No function allocates.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.se3 import Twist

Array = NDArray[Any]


@kernel
def multiply(A: Array, B: Array, out: Array) -> None:
    """out = A B."""
    for i in range(6):
        a0, a1, a2, a3, a4, a5 = A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5]
        c0 = a0 * B[0, 0] + a1 * B[1, 0] + a2 * B[2, 0] + a3 * B[3, 0] + a4 * B[4, 0] + a5 * B[5, 0]
        c1 = a0 * B[0, 1] + a1 * B[1, 1] + a2 * B[2, 1] + a3 * B[3, 1] + a4 * B[4, 1] + a5 * B[5, 1]
        c2 = a0 * B[0, 2] + a1 * B[1, 2] + a2 * B[2, 2] + a3 * B[3, 2] + a4 * B[4, 2] + a5 * B[5, 2]
        c3 = a0 * B[0, 3] + a1 * B[1, 3] + a2 * B[2, 3] + a3 * B[3, 3] + a4 * B[4, 3] + a5 * B[5, 3]
        c4 = a0 * B[0, 4] + a1 * B[1, 4] + a2 * B[2, 4] + a3 * B[3, 4] + a4 * B[4, 4] + a5 * B[5, 4]
        c5 = a0 * B[0, 5] + a1 * B[1, 5] + a2 * B[2, 5] + a3 * B[3, 5] + a4 * B[4, 5] + a5 * B[5, 5]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4], out[i, 5] = c0, c1, c2, c3, c4, c5


@kernel
def multiply_transposed(A: Array, B: Array, out: Array) -> None:
    """out = A^T B."""
    multiply(A.T, B, out)


@kernel
def multiply_vector(A: Array, x: Array, out: Array) -> None:
    """out = A x."""
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    for i in range(6):
        out[i] = A[i, 0] * x0 + A[i, 1] * x1 + A[i, 2] * x2 + A[i, 3] * x3 + A[i, 4] * x4 + A[i, 5] * x5


@kernel
def multiply_vector_transposed(A: Array, x: Array, out: Array) -> None:
    """out = A^T x."""
    multiply_vector(A.T, x, out)


@kernel
def times(A: Array, x: Twist) -> Twist:
    """A x for a 6-tuple."""
    return (
        A[0, 0] * x[0] + A[0, 1] * x[1] + A[0, 2] * x[2] + A[0, 3] * x[3] + A[0, 4] * x[4] + A[0, 5] * x[5],
        A[1, 0] * x[0] + A[1, 1] * x[1] + A[1, 2] * x[2] + A[1, 3] * x[3] + A[1, 4] * x[4] + A[1, 5] * x[5],
        A[2, 0] * x[0] + A[2, 1] * x[1] + A[2, 2] * x[2] + A[2, 3] * x[3] + A[2, 4] * x[4] + A[2, 5] * x[5],
        A[3, 0] * x[0] + A[3, 1] * x[1] + A[3, 2] * x[2] + A[3, 3] * x[3] + A[3, 4] * x[4] + A[3, 5] * x[5],
        A[4, 0] * x[0] + A[4, 1] * x[1] + A[4, 2] * x[2] + A[4, 3] * x[3] + A[4, 4] * x[4] + A[4, 5] * x[5],
        A[5, 0] * x[0] + A[5, 1] * x[1] + A[5, 2] * x[2] + A[5, 3] * x[3] + A[5, 4] * x[4] + A[5, 5] * x[5],
    )


@inline_kernel
def size(x: complex) -> float:
    """Sum of the magnitudes of the parts: as good as the absolute value to choose a pivot, without its root."""
    return abs(x.real) + abs(x.imag)


@kernel
def invert(A: Array, n: int, out: Array) -> bool:
    """Inverse of the leading n x n block of A, which is destroyed; False when it is singular.

    Gauss-Jordan elimination with row pivoting.
    """
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        out[i, i] = 1.0
    for k in range(n):
        pivot = k
        largest = size(A[k, k])
        for i in range(k + 1, n):
            if size(A[i, k]) > largest:
                pivot = i
                largest = size(A[i, k])
        if not largest > 0.0:  # also true for NaN
            return False
        if pivot != k:
            for j in range(n):
                A[k, j], A[pivot, j] = A[pivot, j], A[k, j]
                out[k, j], out[pivot, j] = out[pivot, j], out[k, j]
        factor = 1.0 / A[k, k]
        for j in range(k, n):
            A[k, j] *= factor
        for j in range(n):
            out[k, j] *= factor
        for i in range(n):
            factor = A[i, k]
            if i != k and factor != 0.0:
                for j in range(k, n):
                    A[i, j] -= factor * A[k, j]
                for j in range(n):
                    out[i, j] -= factor * out[k, j]
    return True


@kernel
def solve_symmetric(A: Array, x: Array) -> None:
    """x = a solution y of A y = x for a positive semidefinite 6x6 A, whose lower half is destroyed.

    A = L D L^T without pivoting: a third of the work of an inverse. Where a pivot is round-off, A has no
    say along that direction and y gets nothing there.
    """
    for k in range(6):
        pivot = A[k, k]
        for j in range(k):
            pivot -= A[k, j] * A[k, j] * A[j, j]
        if pivot <= 1e-14 * A[k, k]:
            pivot = 0.0
        A[k, k] = pivot
        factor = 1.0 / pivot if pivot != 0.0 else 0.0
        for i in range(k + 1, 6):
            t = A[i, k]
            for j in range(k):
                t -= A[i, j] * A[k, j] * A[j, j]
            A[i, k] = t * factor
    for i in range(6):
        for j in range(i):
            x[i] -= A[i, j] * x[j]
    for i in range(6):
        x[i] = x[i] / A[i, i] if A[i, i] != 0.0 else 0.0
    for i in range(5, -1, -1):
        for j in range(i + 1, 6):
            x[i] -= A[j, i] * x[j]
