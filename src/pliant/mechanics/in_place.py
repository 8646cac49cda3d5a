"""Gauss-Jordan elimination in place, real and imaginary parts of the rows apart so that sums over them vectorise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel

Rows = NDArray[np.float64]  # (n, parts, m)


@kernel
def solve_in_place(rows: Rows, parts: int, swaps: NDArray[np.int64]) -> bool:
    """(A | B) becomes (A^-1 | A^-1 B); False when A is singular.

    rows: row by row the numbers of A (n x n) and of B, with row pivoting; swaps: scratch. Numbers that are exactly
    zero cost next to nothing, so that motions that do not touch each other are solved apart.
    """
    n = rows.shape[0]
    for k in range(n):
        pivot = k
        largest = size(rows, parts, k, k)
        for i in range(k + 1, n):
            if size(rows, parts, i, k) > largest:
                pivot = i
                largest = size(rows, parts, i, k)
        if not largest > 0.0:  # also true for NaN
            return False
        swaps[k] = pivot
        if pivot != k:
            for part in range(parts):
                for j in range(rows.shape[2]):
                    rows[k, part, j], rows[pivot, part, j] = rows[pivot, part, j], rows[k, part, j]
        divide_row(rows, parts, k)
        for i in range(n):
            if i != k:
                subtract_row(rows, parts, i, k)
    for k in range(n - 1, -1, -1):
        pivot = swaps[k]
        if pivot != k:
            for i in range(n):
                for part in range(parts):
                    rows[i, part, k], rows[i, part, pivot] = rows[i, part, pivot], rows[i, part, k]
    return True


@inline_kernel
def size(rows: Rows, parts: int, i: int, k: int) -> float:
    """Sum of the magnitudes of the parts: as good as the absolute value to choose a pivot, without its root."""
    return float(abs(rows[i, 0, k]) + (abs(rows[i, 1, k]) if parts == 2 else 0.0))


@inline_kernel
def divide_row(rows: Rows, parts: int, k: int) -> None:
    """Row k by its pivot, in whose place the column of the inverse grows."""
    a = rows[k, 0, k]
    rows[k, 0, k] = 1.0
    if parts == 1:
        f = 1.0 / a
        for j in range(rows.shape[2]):
            rows[k, 0, j] *= f
        return
    b = rows[k, 1, k]
    rows[k, 1, k] = 0.0
    f = 1.0 / (a * a + b * b)
    a, b = a * f, -b * f
    for j in range(rows.shape[2]):
        x, y = rows[k, 0, j], rows[k, 1, j]
        rows[k, 0, j] = a * x - b * y
        rows[k, 1, j] = a * y + b * x


@inline_kernel
def subtract_row(rows: Rows, parts: int, i: int, k: int) -> None:
    """Row i less the multiple of row k that removes its column k."""
    a = rows[i, 0, k]
    if parts == 1:
        if a != 0.0:
            rows[i, 0, k] = 0.0
            for j in range(rows.shape[2]):
                rows[i, 0, j] -= a * rows[k, 0, j]
        return
    b = rows[i, 1, k]
    if a != 0.0 or b != 0.0:
        rows[i, 0, k] = 0.0
        rows[i, 1, k] = 0.0
        for j in range(rows.shape[2]):
            x, y = rows[k, 0, j], rows[k, 1, j]
            rows[i, 0, j] -= a * x - b * y
            rows[i, 1, j] -= a * y + b * x
