"""Frequencies of the simplest uniform beams and bars, from formulas of textbooks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]


def euler_bernoulli_cantilever_roots(count: int) -> Array:
    """Roots beta L of 1 + cos(x) cosh(x) = 0 [rao2007], divided by cosh(x) so that nothing overflows."""

    def characteristic(x: float) -> float:
        return float(np.cos(x) + 1.0 / np.cosh(x))

    return np.array(
        [
            brentq(characteristic, (k - 1) * np.pi, k * np.pi, xtol=1e-15, rtol=1e-15)
            for k in range(1, count + 1)
        ]
    )


def euler_bernoulli_cantilever_frequencies(
    length: float, mass_per_length: float, bending_stiffness: float, count: int
) -> Array:
    """Frequencies in hertz of a clamped-free Euler-Bernoulli beam."""
    wave_numbers = euler_bernoulli_cantilever_roots(count) / length
    return np.asarray(wave_numbers**2 * np.sqrt(bending_stiffness / mass_per_length) / (2.0 * np.pi))


def wave_frequencies(length: float, stiffness: float, inertia_per_length: float, count: int) -> Array:
    """Frequencies in hertz of a clamped-free bar in extension (EA, rhoA) or torsion (GJ, rhoJ)."""
    speed = np.sqrt(stiffness / inertia_per_length)
    return np.asarray((2.0 * np.arange(1, count + 1) - 1.0) * speed / (4.0 * length))
