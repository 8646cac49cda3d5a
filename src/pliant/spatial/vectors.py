"""3-vectors and 3x3 matrices as tuples of scalars: they live in registers, nothing is allocated.

A matrix is nine numbers, row by row.
"""

from __future__ import annotations

from pliant.jit import kernel

Vector = tuple[float, float, float]
Matrix = tuple[float, float, float, float, float, float, float, float, float]

UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@kernel
def add(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(factor: float, a: Vector) -> Vector:
    return (factor * a[0], factor * a[1], factor * a[2])


@kernel
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def mean(a: Vector, b: Vector) -> Vector:
    return (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))


@kernel
def skew(a: Vector) -> Matrix:
    """The matrix of ``cross(a, .)``."""
    return (0.0, -a[2], a[1], a[2], 0.0, -a[0], -a[1], a[0], 0.0)


@kernel
def transpose(A: Matrix) -> Matrix:
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@kernel
def column(A: Matrix, j: int) -> Vector:
    return (A[j], A[3 + j], A[6 + j])


@kernel
def apply(A: Matrix, a: Vector) -> Vector:
    """A a."""
    return (dot((A[0], A[1], A[2]), a), dot((A[3], A[4], A[5]), a), dot((A[6], A[7], A[8]), a))


@kernel
def apply_transpose(A: Matrix, a: Vector) -> Vector:
    """A^T a."""
    return (dot((A[0], A[3], A[6]), a), dot((A[1], A[4], A[7]), a), dot((A[2], A[5], A[8]), a))


@kernel
def scale_matrix(f: float, A: Matrix) -> Matrix:
    return (f * A[0], f * A[1], f * A[2], f * A[3], f * A[4], f * A[5], f * A[6], f * A[7], f * A[8])


@kernel
def add_matrices(A: Matrix, B: Matrix) -> Matrix:
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@kernel
def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    x, y, z = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    a, b, c = (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])
    return (dot(a, x), dot(a, y), dot(a, z), dot(b, x), dot(b, y), dot(b, z), dot(c, x), dot(c, y), dot(c, z))
