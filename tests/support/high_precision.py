"""Exponentials and tangents from their defining power series, with fifty digits."""

from __future__ import annotations

import mpmath
import numpy as np

DIGITS = 50


def hat3(w: list[mpmath.mpf]) -> mpmath.matrix:
    x, y, z = w
    return mpmath.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def hat4(twist: list[mpmath.mpf]) -> mpmath.matrix:
    H = mpmath.zeros(4)
    H[:3, :3] = hat3(twist[3:])
    for i in range(3):
        H[i, 3] = twist[i]
    return H


def ad6(twist: list[mpmath.mpf]) -> mpmath.matrix:
    M = mpmath.zeros(6)
    M[:3, :3] = M[3:, 3:] = hat3(twist[3:])
    M[:3, 3:] = hat3(twist[:3])
    return M


def series(M: mpmath.matrix, shift: int, sign: int = 1) -> mpmath.matrix:
    """Sum of (sign M)^k / (k + shift)!; shift 0 is the exponential, shift 1 its tangent."""
    total, power = mpmath.zeros(M.rows), mpmath.eye(M.rows)
    for k in range(120):  # |M| stays below 10 in the tests: the last term is below 1e-70
        total += power / mpmath.factorial(k + shift)
        power = power * M * sign
    return total


def rounded(M: mpmath.matrix) -> np.ndarray:
    return np.array([[float(M[i, j]) for j in range(M.cols)] for i in range(M.rows)])


def exact(values: tuple[float, ...]) -> list[mpmath.mpf]:
    mpmath.mp.dps = DIGITS
    return [mpmath.mpf(value) for value in values]


def rotation(w: tuple[float, ...]) -> np.ndarray:
    return rounded(series(hat3(exact(w)), 0))


def pose(twist: tuple[float, ...]) -> np.ndarray:
    return rounded(series(hat4(exact(twist)), 0))


def right_tangent(twist: tuple[float, ...]) -> np.ndarray:
    return rounded(series(ad6(exact(twist)), 1, sign=-1))


def right_tangent_inverse(twist: tuple[float, ...]) -> np.ndarray:
    return rounded(mpmath.inverse(series(ad6(exact(twist)), 1, sign=-1)))
