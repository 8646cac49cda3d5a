"""Two functions of k = 1 - cos(angle) that turn a rotation matrix into its vector, and their differences.

A(k) = angle / sin(angle) and B(k) = (1 - A (1 - k/2)) / (k (2 - k)). A divided difference formed by subtraction
is noise when its ends are close, and noise stops Newton's method; synthetic division of the power series gives
value and divided difference in one pass to round-off.

The logarithm of a relative pose and its exact finite change.

Of two frames a, b:  p = R_a^T (x_b - x_a),  S = R_a^T R_b,  s = vee(skew S),  k = 1 - cos(angle),

    y = s x p ,  z = s x y ,  u = p - (A/2) y + B z ,  psi = A s ,     (u, psi) = log(g_a^-1 g_b) .

Every factor is bilinear in positions and directors or a function of k alone, so the product rule with means and
the divided differences of A and B give n . (u1 - u0) + m . (psi1 - psi0) as an exact linear function of
(p1 - p0, s1 - s0, k1 - k0), and these of the mean velocities of the step. The change of (u, psi) is formed that way
too and not as a difference of two logarithms: then a stiff section sees rounding of the small change, not of u.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.rows import load3, plus3, store
from pliant.spatial.vectors import Matrix, Vector, add, apply, apply_transpose, column, cross, dot, mean, scale

Floats = NDArray[np.float64]

TERMS = 14
SHORT_TERMS, SHORT_BELOW = 7, 0.008  # angles up to 0.126 rad
SERIES_BELOW = 0.12  # angles up to 0.49 rad
CLOSE = 1e-3  # above the series, ends this close take Gauss quadrature of the derivative
GAUSS_3 = math.sqrt(0.6)


def _series() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Coefficients n! / (2n+1)!! of A, and of B from (2 - k) B = -sum_n (a_n - a_(n-1)/2) k^(n-1)."""
    a = [1.0]
    for n in range(1, TERMS + 2):
        a.append(a[-1] * n / (2 * n + 1))
    b: list[float] = []
    for n in range(TERMS):
        b.append(0.5 * (-(a[n + 1] - 0.5 * a[n]) + (b[-1] if b else 0.0)))
    return tuple(a[:TERMS]), tuple(b)


A_SERIES, B_SERIES = _series()


@kernel
def closed_form(k: float) -> tuple[float, float]:
    """A and B where the angle is not small."""
    sine = np.sqrt(k * (2.0 - k))
    # the derivative of the angle is 1 / sine
    a = (math.atan2(sine.real, 1.0 - k.real) + (k - k.real) / sine) / sine
    return a, (1.0 - a * (1.0 - 0.5 * k)) / (k * (2.0 - k))


@kernel
def values(k: float) -> tuple[float, float]:
    """A(k), B(k)."""
    if k.real >= SERIES_BELOW:
        return closed_form(k)
    a, b = 0.0, 0.0
    for n in range(TERMS - 1, -1, -1):
        a = a * k + A_SERIES[n]
        b = b * k + B_SERIES[n]
    return a, b


@kernel
def slopes(k: float) -> tuple[float, float]:
    """A'(k), B'(k) where the angle is not small, from k (2 - k) A' = 1 - (1 - k) A."""
    a, b = closed_form(k)
    span = k * (2.0 - k)
    da = (1.0 - (1.0 - k) * a) / span
    return da, (-da * (1.0 - 0.5 * k) + 0.5 * a - b * (2.0 - 2.0 * k)) / span


@kernel
def series_and_differences(terms: int, k0: float, k1: float) -> tuple[float, float, float, float]:
    """A(k1), B(k1) and their divided differences from k0, by synthetic division."""
    a, b = A_SERIES[terms - 1], B_SERIES[terms - 1]
    da, db = a, b
    for n in range(terms - 2, 0, -1):
        a = a * k1 + A_SERIES[n]
        b = b * k1 + B_SERIES[n]
        da = da * k0 + a
        db = db * k0 + b
    return a * k1 + A_SERIES[0], b * k1 + B_SERIES[0], da, db


@kernel
def values_and_differences(k0: float, k1: float) -> tuple[float, float, float, float]:
    """A(k1), B(k1), (A(k1) - A(k0)) / (k1 - k0) and the same of B, to round-off for any pair."""
    largest = max(k0.real, k1.real)
    if largest < SHORT_BELOW:
        return series_and_differences(SHORT_TERMS, k0, k1)
    if largest < SERIES_BELOW:
        return series_and_differences(TERMS, k0, k1)
    a1, b1 = values(k1)
    if abs(k1 - k0) > CLOSE:
        a0, b0 = values(k0)
        return a1, b1, (a1 - a0) / (k1 - k0), (b1 - b0) / (k1 - k0)
    middle, half = 0.5 * (k0 + k1), 0.5 * (k1 - k0) * GAUSS_3
    da0, db0 = slopes(middle - half)
    da1, db1 = slopes(middle)
    da2, db2 = slopes(middle + half)
    return a1, b1, (5.0 * da0 + 8.0 * da1 + 5.0 * da2) / 18.0, (5.0 * db0 + 8.0 * db1 + 5.0 * db2) / 18.0


# columns of a row of relative-pose data
P, S, Y, Z, U, PSI, K, A, B, DA, DB, CHANGE = 0, 3, 6, 9, 12, 15, 18, 19, 20, 21, 22, 23
COLUMNS = 29
SMALL_ANGLE = 0.5  # below this k the cosine is taken from the sine, without cancellation


@inline_kernel
def between_directors(Ra: Matrix, Rb: Matrix) -> tuple[Vector, float]:
    """vee(skew(Ra^T Rb)) and the trace of Ra^T Rb."""
    a1, a2, a3 = column(Ra, 0), column(Ra, 1), column(Ra, 2)
    b1, b2, b3 = column(Rb, 0), column(Rb, 1), column(Rb, 2)
    s = (0.5 * (dot(a3, b2) - dot(a2, b3)), 0.5 * (dot(a1, b3) - dot(a3, b1)), 0.5 * (dot(a2, b1) - dot(a1, b2)))
    return s, dot(a1, b1) + dot(a2, b2) + dot(a3, b3)


@inline_kernel
def measure_relative_pose(r: Vector, Ra: Matrix, Rb: Matrix, k0: float, data: Floats, e: int) -> None:
    """Row e of ``data`` from the world vector r = x_b - x_a and the rotations; k0 of the start of the step."""
    p = apply_transpose(Ra, r)
    s, trace = between_directors(Ra, Rb)
    k = 0.5 * (3.0 - trace)
    if k.real < SMALL_ANGLE:
        s2 = dot(s, s)
        k = s2 / (1.0 + np.sqrt(1.0 - s2))
    a, b, da, db = values_and_differences(k0, k)
    y = cross(s, p)
    z = cross(s, y)
    store(p, data, e, P)
    store(s, data, e, S)
    store(y, data, e, Y)
    store(z, data, e, Z)
    store(plus3(plus3(p, -0.5 * a, y), b, z), data, e, U)
    store(scale(a, s), data, e, PSI)
    data[e, K], data[e, A], data[e, B], data[e, DA], data[e, DB] = k, a, b, da, db


@inline_kernel
def measure_change(move: Vector, turn: Vector, Ra: Matrix, Rb: Matrix, start: Floats, end: Floats, e: int) -> None:
    """Change of (u, psi) over a step into row e of ``end``, exactly.

    ``Ra`` and ``Rb`` are the mean directors, ``move`` what b moved relative to frame a and ``turn`` what it turned,
    both in the world: h (y_b - y_a - omega_a x r) and h (omega_b - omega_a).
    """
    dp = apply_transpose(Ra, move)
    b1, b2, b3 = cross(turn, column(Rb, 0)), cross(turn, column(Rb, 1)), cross(turn, column(Rb, 2))
    turned = (b1[0], b2[0], b3[0], b1[1], b2[1], b3[1], b1[2], b2[2], b3[2])
    ds, fall = between_directors(Ra, turned)
    dk = -0.5 * fall
    a, b = 0.5 * (start[e, A] + end[e, A]), 0.5 * (start[e, B] + end[e, B])
    p, s = mean(load3(start, e, P), load3(end, e, P)), mean(load3(start, e, S), load3(end, e, S))
    y, z = mean(load3(start, e, Y), load3(end, e, Y)), mean(load3(start, e, Z), load3(end, e, Z))
    dy = add(cross(ds, p), cross(s, dp))
    dz = add(cross(ds, y), cross(s, dy))
    da, db = end[e, DA] * dk, end[e, DB] * dk
    store(plus3(plus3(plus3(plus3(dp, -0.5 * da, y), -0.5 * a, dy), db, z), b, dz), end, e, CHANGE)
    store(plus3(scale(da, s), a, ds), end, e, CHANGE + 3)


@inline_kernel
def discrete_gradient(start: Floats, end: Floats, e: int, n: Vector, m: Vector) -> tuple[Vector, Vector, float]:
    """(gp, gs, gk) with n . du + m . dpsi = gp . dp + gs . ds + gk dk, exactly."""
    a, b = 0.5 * (start[e, A] + end[e, A]), 0.5 * (start[e, B] + end[e, B])
    p, s = mean(load3(start, e, P), load3(end, e, P)), mean(load3(start, e, S), load3(end, e, S))
    y, z = mean(load3(start, e, Y), load3(end, e, Y)), mean(load3(start, e, Z), load3(end, e, Z))
    gk = end[e, DA] * (dot(m, s) - 0.5 * dot(n, y)) + end[e, DB] * dot(n, z)
    gz = scale(b, n)
    gy = plus3(cross(gz, s), -0.5 * a, n)
    gs = plus3(add(cross(y, gz), cross(p, gy)), a, m)
    return add(n, cross(gy, s)), gs, gk


@inline_kernel
def world_force(Ra: Matrix, Rb: Matrix, gradient: tuple[Vector, Vector, float]) -> tuple[Vector, Vector]:
    """F = Ra gp and T = vee(skew(Rb (gs^ + gk I) Ra^T)), with the mean directors, which are not orthogonal."""
    gp, gs, gk = gradient
    a1, a2, a3 = column(Ra, 0), column(Ra, 1), column(Ra, 2)
    c1 = plus3(plus3(scale(gs[1], a3), -gs[2], a2), gk, a1)
    c2 = plus3(plus3(scale(-gs[0], a3), gs[2], a1), gk, a2)
    c3 = plus3(plus3(scale(gs[0], a2), -gs[1], a1), gk, a3)
    t = add(cross(c1, column(Rb, 0)), add(cross(c2, column(Rb, 1)), cross(c3, column(Rb, 2))))
    return apply(Ra, gp), scale(0.5, t)
