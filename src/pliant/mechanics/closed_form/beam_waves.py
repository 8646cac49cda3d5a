"""Every motion exp(s t) of a uniform Timoshenko beam [timoshenko1921], exact and free of overflow.

Deflection w, section rotation psi, shear force Q and bending moment M, after the Laplace transform in time:

    w' = psi + Q / GA      psi' = M / EI      Q' = rhoA s^2 w      M' = -Q + rhoI s^2 psi

In units of the beam (length L, force EI/L^2, moment EI/L) three numbers are left: S = rhoA s^2 L^4 / EI, the shear
flexibility e = EI / (GA L^2) and the rotary inertia n = rhoI / (rhoA L^2). A wave psi ~ exp(k z) has r = k^2 with

    r^2 - (e + n) S r + S (1 + e n S) = 0      p = r - e S      w = psi' / p      Q = S psi / p

What could go wrong is avoided by the choice of the four columns:
* growing waves overflow and drown the rest: waves that change by more than a factor e are written as decaying from
  the end at which they are largest;
* at the cut-off one r passes zero and its two waves fall together: slow waves are written as cosh and sinh / k about
  the middle, which pass through;
* at low frequency all four waves fall together: then the columns are the power series of the state transition;
* differences of nearly equal numbers: the smaller root of each quadratic comes from the product of both.
"""

from __future__ import annotations

import cmath
from math import pi

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.closed_form.timoshenko_beam import TimoshenkoBeam

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

W, PSI, Q, M = range(4)
SLOW = 2.5  # largest |k| L for which the power series serves
TERMS = 40  # 2.5^40 / 40! = 1e-32
STEEP = 1.0  # smallest decay Re(k) L that is written from the ends


class Waves:
    """Four independent motions exp(s t) of a beam, as columns of the state (w, psi, Q, M) in units of the beam.

    On the imaginary axis of s the columns keep one orientation, however they are chosen: the determinant of the states
    is positive, so that determinants of end conditions change sign at their roots only.
    """

    def __init__(self, beam: TimoshenkoBeam, s: complex) -> None:
        self.s = s
        self.S = complex(beam.mass_per_length * s * s * beam.length**4 / beam.bending_stiffness)
        self.flexibility = beam.bending_stiffness / (beam.shear_stiffness * beam.length**2)
        self.inertia = beam.rotary_inertia_per_length / (beam.mass_per_length * beam.length**2)
        self.r, self.p = _wave_numbers(self.S, self.flexibility, self.inertia)
        self.fastest = max(abs(cmath.sqrt(r)) for r in self.r)
        self._series = self._power_series() if self.fastest <= SLOW else None

    def states(self, z: Array) -> ComplexArray:
        """States (n, 4, 4) of the four columns at stations z in [0, 1]."""
        z = np.asarray(z, float)
        if self._series is not None:
            powers = z[:, None] ** np.arange(TERMS)
            return np.asarray(np.tensordot(powers, self._series, axes=1))
        columns = np.empty((len(z), 4, 4), complex)
        for first, second, r, p in ((0, 1, self.r[0], self.p[0]), (3, 2, self.r[1], self.p[1])):
            for column, (psi, slope) in zip((first, second), _pair(r, z), strict=True):
                columns[:, W, column] = slope / p
                columns[:, PSI, column] = psi
                columns[:, Q, column] = (self.S / p) * psi
                columns[:, M, column] = slope
        return columns

    def dynamic_stiffness(self) -> Array:
        """Forces on both ends for their motions (w, psi at the root, w, psi at the tip), for imaginary s."""
        root, tip = self.states(np.array([0.0, 1.0])).real
        motions = np.vstack([root[:2], tip[:2]])
        efforts = np.vstack([-root[2:], tip[2:]])
        stiffness = np.linalg.solve(motions.T, efforts.T).T
        return np.asarray(0.5 * (stiffness + stiffness.T))

    def pinned_count(self) -> int:
        """How many frequencies lie below that of s if both ends are pinned: half waves that fit, on both branches.

        The faster branch begins at the cut-off with a rotation that is the same everywhere.
        """
        slow, fast = (r.real for r in self.r)
        count = int(np.sqrt(max(-fast, 0.0)) / pi)
        return count + (int(np.sqrt(-slow) / pi) + 1 if slow < 0.0 else 0)

    def _power_series(self) -> ComplexArray:
        rate = np.zeros((4, 4), complex)
        rate[W, PSI], rate[W, Q] = 1.0, self.flexibility
        rate[PSI, M] = 1.0
        rate[Q, W] = self.S
        rate[M, Q], rate[M, PSI] = -1.0, self.inertia * self.S
        terms = np.empty((TERMS, 4, 4), complex)
        terms[0] = np.eye(4)
        for k in range(1, TERMS):
            terms[k] = rate @ terms[k - 1] / k
        return terms


def _wave_numbers(
    S: complex, flexibility: float, inertia: float
) -> tuple[tuple[complex, complex], tuple[complex, complex]]:
    """Both r = k^2 and both p; the second pair travels at every imaginary s, the first above the cut-off."""
    half = 0.5 * S * (inertia - flexibility)
    root = cmath.sqrt(half * half - S)
    if (half.conjugate() * root).real < 0.0:
        root = -root
    large = half + root
    both = (large, S / large) if large != 0.0 else (0j, 0j)
    ones = [(p + flexibility * S, p) for p in both]
    # The smaller r from the product of both: at the cut-off its own terms cancel.
    larger, smaller = sorted(ones, key=lambda one: -abs(one[0]))
    r_smaller = S * (1.0 + flexibility * inertia * S) / larger[0] if larger[0] != 0.0 else 0j
    slow, fast = sorted((larger, (r_smaller, smaller[1])), key=lambda one: -one[0].real)
    return (slow[0], fast[0]), (slow[1], fast[1])


def _pair(
    r: complex, z: Array
) -> tuple[tuple[ComplexArray, ComplexArray], tuple[ComplexArray, ComplexArray]]:
    """The rotations of the two waves with k^2 = r, each with its slope."""
    k = cmath.sqrt(r)
    if k.real > STEEP:
        from_root, from_tip = np.exp(-k * z), np.exp(-k * (1.0 - z))
        return (from_root, -k * from_root), (from_tip, k * from_tip)
    even = np.cosh(k * (z - 0.5))
    odd = np.sinh(k * (z - 0.5)) / k if k != 0.0 else (z - 0.5).astype(complex)
    return (even, r * odd), (odd, even)
