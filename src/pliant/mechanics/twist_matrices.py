"""Matrices of twists and wrenches for derivatives, with any number of leading axes, of real or complex numbers.

Complex numbers serve derivatives: f(x + i h d) / h has the derivative of f along d as its imaginary part, with no
difference of nearly equal numbers, so that h may be as small as numbers go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]

STEP = 1e-30  # of complex derivatives; its square is nothing beside one
FIRST = (
    1 / 12,
    -1 / 720,
    1 / 30240,
    -1 / 1209600,
    1 / 47900160,
    -691 / 1307674368000,
)  # B_2n / (2n)!, n = 1 .. 6
TERMS = (
    26  # of the series in B_2n / (2n)!: up to 2.5 rad what is left out is 2 (2.5 / 2 pi)^54, below round-off
)


def _bernoulli(n: int) -> float:
    """B_2n / (2n)! = 2 (-1)^(n+1) zeta(2n) / (2 pi)^2n for n > 6, where zeta needs few terms."""
    zeta = sum(k ** (-2.0 * n) for k in range(1, 20))
    return float(2.0 * (-1.0) ** (n + 1) * zeta / (2 * np.pi) ** (2 * n))


BERNOULLI = (*FIRST, *(_bernoulli(n) for n in range(len(FIRST) + 1, TERMS + 1)))


def hat(a: Numbers) -> Numbers:
    """Skew matrices (..., 3, 3): hat(a) b = a x b."""
    out = np.zeros((*a.shape[:-1], 3, 3), a.dtype)
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


def bracket(x: Numbers) -> Numbers:
    """Matrices (..., 6, 6) of the bracket with twists (linear, angular)."""
    out = np.zeros((*x.shape[:-1], 6, 6), x.dtype)
    turn = hat(x[..., 3:])
    out[..., :3, :3], out[..., :3, 3:], out[..., 3:, 3:] = turn, hat(x[..., :3]), turn
    return out


def dual_bracket(wrench: Numbers) -> Numbers:
    """Matrices (..., 6, 6) G with  G x = bracket(x)^T wrench  for every twist x."""
    out = np.zeros((*wrench.shape[:-1], 6, 6), wrench.dtype)
    force = hat(wrench[..., :3])
    out[..., :3, 3:], out[..., 3:, :3], out[..., 3:, 3:] = force, force, hat(wrench[..., 3:])
    return out


def to_frame(R: Numbers, r: Numbers) -> Numbers:
    """Matrices (..., 6, 6) that carry body twists of a frame to the frame at the pose (R, r) on the same body."""
    back = np.swapaxes(R, -1, -2)
    out = np.zeros((*r.shape[:-1], 6, 6), np.result_type(R, r))
    out[..., :3, :3], out[..., 3:, 3:] = back, back
    out[..., :3, 3:] = -back @ hat(r)
    return out


def logarithm_tangent(x: Numbers) -> Numbers:
    """Matrices (..., 6, 6) J with  log(exp(x) exp(d)) = x + J d  to first order, for turns below 2.5 rad.

    J = a / (1 - e^-a) with a the bracket with x: one half of a, and its even powers with the numbers of Bernoulli.
    """
    a = bracket(x)
    square = a @ a
    one = np.broadcast_to(np.eye(6), a.shape)
    total = BERNOULLI[-1] * one
    for factor in BERNOULLI[-2::-1]:
        total = factor * one + total @ square
    J: Numbers = one + 0.5 * a + square @ total
    return J


def logarithm_curvature(x: Numbers) -> Numbers:
    """Derivatives (..., 6, 6, 6) of `logarithm_tangent` in the components of x, the first of the last three axes."""
    moved = x[..., None, :] + 1j * STEP * np.eye(6)
    return np.asarray(logarithm_tangent(moved).imag / STEP)
