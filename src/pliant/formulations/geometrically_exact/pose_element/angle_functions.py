"""Two functions of k = 1 - cos(angle) that turn a rotation matrix into its vector, and their differences.

A(k) = angle / sin(angle) and B(k) = (1 - A (1 - k/2)) / (k (2 - k)). A divided difference formed by subtraction
is noise when its ends are close, and noise stops Newton's method; synthetic division of the power series gives
value and divided difference in one pass to round-off.
"""

from __future__ import annotations

import math

from pliant.jit import kernel

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
    sine = math.sqrt(k * (2.0 - k))
    a = math.atan2(sine, 1.0 - k) / sine
    return a, (1.0 - a * (1.0 - 0.5 * k)) / (k * (2.0 - k))


@kernel
def values(k: float) -> tuple[float, float]:
    """A(k), B(k)."""
    if k >= SERIES_BELOW:
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
    largest = max(k0, k1)
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
