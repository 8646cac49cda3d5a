"""6x6 matrices in preallocated arrays, real or complex.

A row of the result is accumulated in registers and stored at the end, so that results may not overlap
with operands. No function allocates.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.rows import add_to, dot6, load6, store
from pliant.spatial.se3 import Twist
from pliant.spatial.vectors import Matrix, Vector

Array = NDArray[Any]


@inline_kernel
def row_of_product(A: Array, i: int, B: Array) -> Twist:
    """Row i of A B."""
    a0, a1, a2, a3, a4, a5 = A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5]
    return (
        a0 * B[0, 0] + a1 * B[1, 0] + a2 * B[2, 0] + a3 * B[3, 0] + a4 * B[4, 0] + a5 * B[5, 0],
        a0 * B[0, 1] + a1 * B[1, 1] + a2 * B[2, 1] + a3 * B[3, 1] + a4 * B[4, 1] + a5 * B[5, 1],
        a0 * B[0, 2] + a1 * B[1, 2] + a2 * B[2, 2] + a3 * B[3, 2] + a4 * B[4, 2] + a5 * B[5, 2],
        a0 * B[0, 3] + a1 * B[1, 3] + a2 * B[2, 3] + a3 * B[3, 3] + a4 * B[4, 3] + a5 * B[5, 3],
        a0 * B[0, 4] + a1 * B[1, 4] + a2 * B[2, 4] + a3 * B[3, 4] + a4 * B[4, 4] + a5 * B[5, 4],
        a0 * B[0, 5] + a1 * B[1, 5] + a2 * B[2, 5] + a3 * B[3, 5] + a4 * B[4, 5] + a5 * B[5, 5],
    )


@kernel
def multiply(A: Array, B: Array, out: Array) -> None:
    """out = A B."""
    for i in range(6):
        store(row_of_product(A, i, B), out, i)


@kernel
def add_product(f: float, A: Array, B: Array, out: Array) -> None:
    """out += f A B."""
    for i in range(6):
        add_to(f, row_of_product(A, i, B), out, i)


@inline_kernel
def times(A: Array, x: Twist) -> Twist:
    """A x for a 6-tuple."""
    return (
        dot6(x, load6(A, 0)), dot6(x, load6(A, 1)), dot6(x, load6(A, 2)),
        dot6(x, load6(A, 3)), dot6(x, load6(A, 4)), dot6(x, load6(A, 5)),
    )  # fmt: skip


@inline_kernel
def applied(A: Array, plain: bool, x: Twist) -> Twist:
    """The same; plain: all but the diagonal of A is zero."""
    if plain:
        return (A[0, 0] * x[0], A[1, 1] * x[1], A[2, 2] * x[2], A[3, 3] * x[3], A[4, 4] * x[4], A[5, 5] * x[5])
    return times(A, x)


@inline_kernel
def add_block(f: complex, B: Array, A: Array) -> None:
    """A += f B."""
    for i in range(6):
        for j in range(6):
            A[i, j] += f * B[i, j]


@inline_kernel
def set_block(B: Array, A: Array) -> None:
    """A = B."""
    for i in range(6):
        for j in range(6):
            A[i, j] = B[i, j]


@kernel
def add_square(f: float, B: Matrix, A: Array, i: int, j: int) -> None:
    """Add f B to the 3 x 3 block of A at (i, j)."""
    for r in range(3):
        for c in range(3):
            A[i + r, j + c] += f * B[3 * r + c]


@kernel
def add_skew(A: Array, i: int, j: int, f: float, a: Vector) -> None:
    """Add f a^ to the 3 x 3 block of A at (i, j)."""
    A[i, j + 1] -= f * a[2]
    A[i, j + 2] += f * a[1]
    A[i + 1, j] += f * a[2]
    A[i + 1, j + 2] -= f * a[0]
    A[i + 2, j] -= f * a[1]
    A[i + 2, j + 1] += f * a[0]


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
