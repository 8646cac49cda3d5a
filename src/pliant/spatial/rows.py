"""Rows of arrays as tuples, which live in registers, and sums of such tuples; real or complex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.se3 import Twist
from pliant.spatial.vectors import Matrix, Vector

Array = NDArray[Any]


@inline_kernel
def load3(a: Array, i: int, k: int = 0) -> Vector:
    """Three numbers of row i, from column k on."""
    return a[i, k], a[i, k + 1], a[i, k + 2]


@inline_kernel
def load6(a: Array, i: int, k: int = 0) -> Twist:
    """Six numbers of row i, from column k on."""
    return a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5]


@inline_kernel
def load9(a: Array, i: int, k: int = 0) -> Matrix:
    """Nine numbers of row i, from column k on."""
    return (
        a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5], a[i, k + 6], a[i, k + 7], a[i, k + 8],
    )  # fmt: skip


@inline_kernel
def stage_row(a: Array, i: int, k: int) -> Twist:
    """Row k of stage i of an (s, n, 6) array."""
    return a[i, k, 0], a[i, k, 1], a[i, k, 2], a[i, k, 3], a[i, k, 4], a[i, k, 5]


@inline_kernel
def store(x: tuple[float, ...], a: Array, i: int, k: int = 0) -> None:
    """The numbers x into row i, from column k on."""
    for c in range(len(x)):
        a[i, k + c] = x[c]


@inline_kernel
def add_to(f: float, x: tuple[float, ...], a: Array, i: int, k: int = 0) -> None:
    """Add f x to row i, from column k on."""
    for c in range(len(x)):
        a[i, k + c] += f * x[c]


@inline_kernel
def copy_to(x: Array, out: Array) -> None:
    """The numbers of an array into one of the same shape."""
    a, b = x.flat, out.flat  # one long loop vectorises
    for n in range(x.size):
        b[n] = a[n]


@kernel
def move_rows(values: Array, rows: NDArray[np.int64]) -> None:
    """Some rows of an array, in ascending order, to its beginning."""
    for i in range(rows.shape[0]):
        k = rows[i]
        if k > i:
            for j in range(values.shape[1]):
                values[i, j] = values[k, j]


@inline_kernel
def lay(x: Array, out: Array, begin: int) -> int:
    """The numbers of an array into a row from a place on; returns the place behind them."""
    copy_to(x, out[begin : begin + x.size])
    return begin + x.size


@inline_kernel
def plus3(x: Vector, f: float, y: Vector) -> Vector:
    """x + f y."""
    return x[0] + f * y[0], x[1] + f * y[1], x[2] + f * y[2]


@inline_kernel
def scale6(f: float, x: Twist) -> Twist:
    """f x."""
    return f * x[0], f * x[1], f * x[2], f * x[3], f * x[4], f * x[5]


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
