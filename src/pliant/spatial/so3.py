"""Rotations: the group SO(3), its exponential, logarithm and tangents.

A rotation is its matrix, nine numbers row by row, mapping body to world. Rotation vectors ``w`` have the
angle as length. With t = |w| and W the skew matrix of w [murray1994]:

    exp(w)          = I + a W + b W^2            a = sin t / t,   b = (1 - cos t) / t^2
    right_tangent   = I - b W + c W^2            c = (t - sin t) / t^3
    its inverse     = I + W/2 + e W^2            e = (1 - (t/2) cot(t/2)) / t^2

The right tangent T maps a change of w to the body-frame rotation it causes:
exp(w + dw) = exp(w) exp(T dw) to first order. Its inverse exists for t < 2 pi.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.vectors import Matrix, Vector, cross, dot, scale

Array = NDArray[np.float64]
Quaternion = tuple[float, float, float, float]

# Below this squared angle power series in t^2 are used: there they are exact to round-off, while the
# closed forms lose digits to cancellation.
SERIES_LIMIT = 4.0
_TERMS = 18
EIGHT_TERMS = 0.25  # squared angle below which so many terms are enough


def _bernoulli(count: int) -> list[Fraction]:
    numbers: list[Fraction] = []
    for m in range(count):
        tail = sum((math.comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0))
        numbers.append(Fraction(1) if m == 0 else -tail / (m + 1))
    return numbers


def _series_table() -> list[list[float]]:
    """Coefficients of a, b, c, e and of (d/dt)/t of b, c, e, as series in t^2."""
    bernoulli = _bernoulli(2 * _TERMS + 6)
    powers = range(_TERMS + 1)
    a = [Fraction((-1) ** k, math.factorial(2 * k + 1)) for k in powers]
    b = [Fraction((-1) ** k, math.factorial(2 * k + 2)) for k in powers]
    c = [Fraction((-1) ** k, math.factorial(2 * k + 3)) for k in powers]
    e = [abs(bernoulli[2 * k + 2]) / math.factorial(2 * k + 2) for k in powers]
    slopes = [[2 * k * f[k] for k in powers if k > 0] for f in (b, c, e)]
    return [[float(x) for x in f[:_TERMS]] for f in (a, b, c, e, *slopes)]


_A, _B, _C, _E, _B_SLOPE, _C_SLOPE, _E_SLOPE = (np.array(row) for row in _series_table())


@kernel
def _series(coefficients: Array, x: float) -> float:
    # the terms left out are below a unit in the last place of the first one
    c = coefficients
    if x < 0.01:
        return float(c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4]))))
    # even and odd powers apart: two short chains of operations instead of a long one
    y = x * x
    even = odd = 0.0
    for k in range((8 if x < EIGHT_TERMS else 12 if x < 1.0 else _TERMS) - 2, -1, -2):
        even = even * y + c[k]
        odd = odd * y + c[k + 1]
    return float(even + x * odd)


@kernel
def exp_coefficients(t2: float) -> tuple[float, float]:
    """(a, b) at the squared angle t2."""
    if t2 < SERIES_LIMIT:
        return (_series(_A, t2), _series(_B, t2))
    t = math.sqrt(t2)
    half = math.sin(0.5 * t)
    return (math.sin(t) / t, 2.0 * half * half / t2)


@kernel
def tangent_coefficients(t2: float) -> tuple[float, float]:
    """(b, c) at the squared angle t2."""
    if t2 < SERIES_LIMIT:
        return (_series(_B, t2), _series(_C, t2))
    a, b = exp_coefficients(t2)
    return (b, (1.0 - a) / t2)


@inline_kernel
def many_tangent_coefficients(t2: Array, b: Array, c: Array) -> None:
    """The same for many squared angles; written so that the compiler does several at a time."""
    for k in range(t2.shape[0]):
        x = t2[k]
        y = x * x
        even = _B[0] + y * (_B[2] + y * (_B[4] + y * _B[6]))
        b[k] = even + x * (_B[1] + y * (_B[3] + y * (_B[5] + y * _B[7])))
        even = _C[0] + y * (_C[2] + y * (_C[4] + y * _C[6]))
        c[k] = even + x * (_C[1] + y * (_C[3] + y * (_C[5] + y * _C[7])))
    for k in range(t2.shape[0]):
        if not t2[k] < EIGHT_TERMS:
            b[k], c[k] = tangent_coefficients(t2[k])


@kernel
def tangent_slopes(t2: float) -> tuple[float, float]:
    """(db/dt, dc/dt) / t at the squared angle t2."""
    if t2 < SERIES_LIMIT:
        return (_series(_B_SLOPE, t2), _series(_C_SLOPE, t2))
    a, b = exp_coefficients(t2)
    c = (1.0 - a) / t2
    return ((a - 2.0 * b) / t2, (b - 3.0 * c) / t2)


@kernel
def inverse_tangent_coefficients(t2: float) -> tuple[float, float]:
    """(e, (de/dt) / t) at the squared angle t2."""
    if t2 < SERIES_LIMIT:
        return (_series(_E, t2), _series(_E_SLOPE, t2))
    half = 0.5 * math.sqrt(t2)
    sine = math.sin(half)
    f = half * math.cos(half) / sine
    g = t2 / (4.0 * sine * sine)
    return ((1.0 - f) / t2, (g + f - 2.0) / (t2 * t2))


@kernel
def quadratic_in_skew(linear: float, square: float, w: Vector) -> Matrix:
    """I + linear W + square W^2."""
    xx, yy, zz = square * w[0] * w[0], square * w[1] * w[1], square * w[2] * w[2]
    xy, yz, zx = square * w[0] * w[1], square * w[1] * w[2], square * w[2] * w[0]
    x, y, z = linear * w[0], linear * w[1], linear * w[2]
    return (1.0 - yy - zz, xy - z, zx + y, xy + z, 1.0 - zz - xx, yz - x, zx - y, yz + x, 1.0 - xx - yy)


@kernel
def exp(w: Vector) -> Matrix:
    """The rotation by the angle |w| about w."""
    a, b = exp_coefficients(dot(w, w))
    return quadratic_in_skew(a, b, w)


@kernel
def log(R: Matrix) -> Vector:
    """The rotation vector of R, at most pi long; at pi the sign of the axis is arbitrary."""
    return log_quaternion(to_quaternion(R))


@kernel
def turn_back(w: Vector, v: Vector) -> Vector:
    """exp(w)^T v = v - a w x v + b w x (w x v), without the matrix."""
    a, b = exp_coefficients(dot(w, w))
    u = cross(w, v)
    x = cross(w, u)
    return (v[0] - a * u[0] + b * x[0], v[1] - a * u[1] + b * x[1], v[2] - a * u[2] + b * x[2])


@kernel
def left_tangent_inverse(w: Vector) -> Matrix:
    e, _ = inverse_tangent_coefficients(dot(w, w))
    return quadratic_in_skew(-0.5, e, w)


@kernel
def to_quaternion(R: Matrix) -> Quaternion:
    """The unit quaternion (w, x, y, z) of R with w >= 0.

    The largest component is taken from the diagonal and the others divided by it [shepperd1978], so that
    no digit is lost at any angle.
    """
    trace = R[0] + R[4] + R[8]
    if trace >= R[0] and trace >= R[4] and trace >= R[8]:
        w, x, y, z = 1.0 + trace, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif R[0] >= R[4] and R[0] >= R[8]:
        w, x, y, z = R[7] - R[5], 1.0 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]
    elif R[4] >= R[8]:
        w, x, y, z = R[2] - R[6], R[1] + R[3], 1.0 - R[0] + R[4] - R[8], R[5] + R[7]
    else:
        w, x, y, z = R[3] - R[1], R[2] + R[6], R[5] + R[7], 1.0 - R[0] - R[4] + R[8]
    factor = math.copysign(1.0 / math.sqrt(w * w + x * x + y * y + z * z), w)
    return (factor * w, factor * x, factor * y, factor * z)


@kernel
def from_quaternion(q: Quaternion) -> Matrix:
    """The rotation of the unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (z * x + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (z * z + x * x), 2.0 * (y * z - w * x),
        2.0 * (z * x - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@kernel
def log_quaternion(q: Quaternion) -> Vector:
    """The rotation vector of the unit quaternion q with w >= 0."""
    v = (q[1], q[2], q[3])
    n2 = dot(v, v)
    if n2 < 1e-20:  # atan(n) = n to round-off
        return scale(2.0 / q[0], v)
    n = math.sqrt(n2)
    return scale(2.0 * math.atan2(n, q[0]) / n, v)
