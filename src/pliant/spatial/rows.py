"""Rows of arrays as tuples, which live in registers, sums of such tuples, and 6 x 6 blocks; real or complex."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pliant.jit import inline_kernel
from pliant.spatial.se3 import Twist
from pliant.spatial.vectors import Matrix, Vector

Array = NDArray[Any]


@inline_kernel
def row(a: Array, k: int) -> Twist:
    """Row k of an (n, 6) array."""
    return a[k, 0], a[k, 1], a[k, 2], a[k, 3], a[k, 4], a[k, 5]


@inline_kernel
def stage_row(a: Array, i: int, k: int) -> Twist:
    """Row k of stage i of an (s, n, 6) array."""
    return a[i, k, 0], a[i, k, 1], a[i, k, 2], a[i, k, 3], a[i, k, 4], a[i, k, 5]


@inline_kernel
def load3(a: Array, i: int, k: int) -> Vector:
    """The first three numbers of row k of stage i."""
    return a[i, k, 0], a[i, k, 1], a[i, k, 2]


@inline_kernel
def load9(a: Array, i: int, k: int) -> Matrix:
    """The first nine numbers of row k of stage i."""
    return (
        a[i, k, 0], a[i, k, 1], a[i, k, 2], a[i, k, 3], a[i, k, 4], a[i, k, 5], a[i, k, 6], a[i, k, 7], a[i, k, 8],
    )  # fmt: skip


@inline_kernel
def store3(x: Vector, a: Array, i: int, k: int) -> None:
    for c in range(3):
        a[i, k, c] = x[c]


@inline_kernel
def store9(R: Matrix, a: Array, i: int, k: int) -> None:
    for c in range(9):
        a[i, k, c] = R[c]


@inline_kernel
def plus6(x: Twist, f: float, y: Twist) -> Twist:
    """x + f y."""
    return (
        x[0] + f * y[0], x[1] + f * y[1], x[2] + f * y[2], x[3] + f * y[3], x[4] + f * y[4], x[5] + f * y[5],
    )  # fmt: skip


@inline_kernel
def dot6(x: Twist, y: Twist) -> float:
    """Scalar product of two 6-tuples."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@inline_kernel
def dot_row(x: Twist, a: Array, k: int) -> float:
    """Scalar product of a 6-tuple and row k of an array."""
    return dot6(x, row(a, k))


@inline_kernel
def product(A: Array, k: int, x: Twist) -> Twist:
    """Matrix A[k] (6 x 6) times the 6-tuple x."""
    B = A[k]
    return (
        dot_row(x, B, 0), dot_row(x, B, 1), dot_row(x, B, 2), dot_row(x, B, 3), dot_row(x, B, 4), dot_row(x, B, 5),
    )  # fmt: skip


@inline_kernel
def add_block(f: complex, B: Array, A: Array) -> None:
    """A += f B for 6 x 6 matrices."""
    for i in range(6):
        for j in range(6):
            A[i, j] += f * B[i, j]


@inline_kernel
def set_block(B: Array, A: Array) -> None:
    """A = B for 6 x 6 matrices."""
    for i in range(6):
        for j in range(6):
            A[i, j] = B[i, j]
