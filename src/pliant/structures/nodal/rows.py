"""Rows of arrays as tuples of scalars and back, and products of 6 x 6 blocks: what all kernels of this folder share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.se3 import Twist
from pliant.spatial.small_matrices import times
from pliant.spatial.vectors import Matrix, Vector, product, skew, transpose

Floats = NDArray[np.float64]

UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def vector(rows: Floats, i: int, k: int) -> Vector:
    """Three numbers of a row."""
    return (rows[i, k], rows[i, k + 1], rows[i, k + 2])


@kernel
def matrix(rows: Floats, i: int) -> Matrix:
    """Nine numbers of a row."""
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5], rows[i, 6], rows[i, 7], rows[i, 8])


@kernel
def put(rows: Floats, i: int, k: int, v: Vector) -> None:
    rows[i, k], rows[i, k + 1], rows[i, k + 2] = v[0], v[1], v[2]


@kernel
def put_matrix(rows: Floats, i: int, M: Matrix) -> None:
    put(rows, i, 0, (M[0], M[1], M[2]))
    put(rows, i, 3, (M[3], M[4], M[5]))
    put(rows, i, 6, (M[6], M[7], M[8]))


@kernel
def add_to(rows: Floats, i: int, k: int, factor: float, v: Vector) -> None:
    rows[i, k] += factor * v[0]
    rows[i, k + 1] += factor * v[1]
    rows[i, k + 2] += factor * v[2]


@kernel
def axpy(factor: float, a: Vector, b: Vector) -> Vector:
    """factor a + b."""
    return (factor * a[0] + b[0], factor * a[1] + b[1], factor * a[2] + b[2])


@kernel
def mean(a: Vector, b: Vector) -> Vector:
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


@kernel
def column(M: Matrix, j: int) -> Vector:
    return (M[j], M[3 + j], M[6 + j])


@kernel
def times_transposed(A: Floats, x: Twist) -> Twist:
    """A^T x."""
    return times(A.T, x)


@kernel
def six(rows: Floats, i: int) -> Twist:
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5])


@kernel
def put_six(rows: Floats, i: int, v: Twist) -> None:
    rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5] = v


@kernel
def add_six(rows: Floats, i: int, factor: float, v: Twist) -> None:
    for k in range(6):
        rows[i, k] += factor * v[k]


@kernel
def dot_six(a: Twist, b: Twist) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def plus(A: Matrix, B: Matrix) -> Matrix:
    return (
        A[0] + B[0],
        A[1] + B[1],
        A[2] + B[2],
        A[3] + B[3],
        A[4] + B[4],
        A[5] + B[5],
        A[6] + B[6],
        A[7] + B[7],
        A[8] + B[8],
    )


@kernel
def scale_matrix(f: float, A: Matrix) -> Matrix:
    return (f * A[0], f * A[1], f * A[2], f * A[3], f * A[4], f * A[5], f * A[6], f * A[7], f * A[8])


@kernel
def add_block(M: Floats, i: int, j: int, factor: float, A: Matrix) -> None:
    for r in range(3):
        for k in range(3):
            M[i + r, j + k] += factor * A[3 * r + k]


@inline_kernel
def row_of_product(A: Floats, i: int, B: Floats) -> Twist:
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
def multiply_into(A: Floats, B: Floats, out: Floats) -> None:
    """out = A B."""
    for i in range(6):
        put_six(out, i, row_of_product(A, i, B))


@kernel
def add_product(factor: float, A: Floats, B: Floats, out: Floats) -> None:
    """out += factor A B."""
    for i in range(6):
        add_six(out, i, factor, row_of_product(A, i, B))


@kernel
def add_skew(M: Floats, i: int, j: int, factor: float, a: Vector) -> None:
    """Add factor a^ to the 3 x 3 block of M at (i, j)."""
    M[i, j + 1] -= factor * a[2]
    M[i, j + 2] += factor * a[1]
    M[i + 1, j] += factor * a[2]
    M[i + 1, j + 2] -= factor * a[0]
    M[i + 2, j] -= factor * a[1]
    M[i + 2, j + 1] += factor * a[0]


@kernel
def put_blocks(A: Floats, linear: Matrix, coupling: Matrix, angular: Matrix) -> None:
    """A = [[linear, coupling], [0, angular]]."""
    for i in range(3):
        for j in range(3):
            A[i, j] = linear[3 * i + j]
            A[i, 3 + j] = coupling[3 * i + j]
            A[3 + i, 3 + j] = angular[3 * i + j]
            A[3 + i, j] = 0.0


@kernel
def put_transform(A: Floats, R_parent: Matrix, R_child: Matrix, r: Vector) -> None:
    """A = [[Q, -Q r^], [0, Q]] with Q = R_child^T R_parent and r the lever in the parent's frame."""
    Q = product(transpose(R_child), R_parent)
    put_blocks(A, Q, product(Q, skew((-r[0], -r[1], -r[2]))), Q)
