"""Natural frequencies and closed-loop poles of uniform linear beams, exact to round-off.

Timoshenko beam [timoshenko1921] in first-order form, after the Laplace transform in time, with deflection
w, section rotation psi, bending moment M and shear force Q:

    w' = psi + Q / GA      psi' = M / EI      M' = -Q + rhoI s^2 psi      Q' = rhoA s^2 w

The state at the end of a short piece follows from its start by a matrix exponential. Chaining pieces in
one large matrix, instead of multiplying them, keeps growing and decaying waves apart, so the determinant
stays well conditioned at every frequency. Its roots are located by a Legendre-Galerkin model, which
cannot miss any, and then polished on the determinant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.linalg import eigvalsh, expm
from scipy.optimize import brentq

Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]
Conditions = Callable[[complex], ComplexArray]

PIECES = 12
CLAMPED = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
PINNED = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
FREE = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


@dataclass(frozen=True)
class TimoshenkoBeam:
    """A uniform beam bending in one plane: metre, kg/m, kg m, N m^2, N."""

    length: float
    mass_per_length: float
    rotary_inertia_per_length: float
    bending_stiffness: float
    shear_stiffness: float


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


def clamped_free_frequencies(beam: TimoshenkoBeam, count: int) -> Array:
    """The lowest frequencies in hertz of a cantilever."""
    return _frequencies(beam, CLAMPED, _Galerkin(beam, count).clamped_roots(), count)


def pinned_free_frequencies(beam: TimoshenkoBeam, count: int) -> Array:
    """The lowest nonzero frequencies in hertz of a beam that turns freely about its root."""
    return _frequencies(beam, PINNED, _Galerkin(beam, count).pinned_roots(), count)


def joint_pd_poles(beam: TimoshenkoBeam, stiffness: float, damping: float, count: int) -> ComplexArray:
    """The poles nearest to zero, in 1/s, of a pinned beam with root torque -stiffness psi - damping psi'.

    Of a complex pair only the pole with positive imaginary part is listed.
    """

    def root_conditions(s: complex) -> ComplexArray:
        return np.array([[1.0, 0.0, 0.0, 0.0], [0.0, -(stiffness + damping * s), 1.0, 0.0]], complex)

    guesses = _Galerkin(beam, count).joint_pd_roots(stiffness, damping)[:count]
    return np.array([_polished_pole(beam, root_conditions, guess) for guess in guesses])


def _frequencies(beam: TimoshenkoBeam, root: Array, guesses: Array, count: int) -> Array:
    return np.array([_polished_root(beam, root, guess) for guess in guesses[:count]]) / (2.0 * np.pi)


def _polished_root(beam: TimoshenkoBeam, root: Array, guess: float) -> float:
    _, scale = _determinant(beam, root, 1j * guess)

    def value(omega: float) -> float:
        sign, logarithm = _determinant(beam, root, 1j * omega)
        return float(sign.real * np.exp(logarithm - scale))

    width = 1e-9
    while value(guess * (1.0 - width)) * value(guess * (1.0 + width)) > 0.0:
        width *= 4.0
        if width > 1e-2:
            raise RuntimeError(f"no root of the Timoshenko determinant lies near {guess} rad/s")
    return float(brentq(value, guess * (1.0 - width), guess * (1.0 + width), xtol=1e-300, rtol=1e-15))


def _polished_pole(beam: TimoshenkoBeam, conditions: Conditions, guess: complex) -> complex:
    """Secant iteration on the determinant, scaled by its size at the guess."""
    _, scale = _determinant(beam, conditions(guess), guess)

    def value(s: complex) -> complex:
        sign, logarithm = _determinant(beam, conditions(s), s)
        return complex(sign * np.exp(logarithm - scale))

    before, now = guess * (1.0 + 1e-6), guess
    value_before, value_now = value(before), value(now)
    for _ in range(50):
        change = value_now * (now - before) / (value_now - value_before)
        before, value_before = now, value_now
        now = now - change
        value_now = value(now)
        if abs(change) < 1e-11 * abs(now) or value_now == value_before:
            break  # the secant step converges faster than linearly: the next change would be round-off
    if not abs(now - guess) < 1e-3 * abs(guess):
        raise RuntimeError(f"no pole of the beam under joint PD lies near {guess} 1/s")
    return now


def _determinant(beam: TimoshenkoBeam, root: Array | ComplexArray, s: complex) -> tuple[complex, float]:
    """Sign (or phase) and logarithm of the determinant of the chained pieces with both end conditions."""
    rate = np.zeros((4, 4), complex)
    rate[0, 1] = 1.0
    rate[0, 3] = 1.0 / beam.shear_stiffness
    rate[1, 2] = 1.0 / beam.bending_stiffness
    rate[2, 3] = -1.0
    rate[2, 1] = beam.rotary_inertia_per_length * s * s
    rate[3, 0] = beam.mass_per_length * s * s
    # Lengths, stiffness and force are scaled to comparable numbers before they meet in one matrix.
    units = np.array([1.0, 1.0 / beam.length, beam.bending_stiffness / beam.length**2, 0.0])
    units[3] = beam.bending_stiffness / beam.length**3
    rate = rate * units[None, :] / units[:, None]
    if abs(s.real) == 0.0:
        rate = rate.real
    step = expm(rate * (beam.length / PIECES))
    chain = np.zeros((4 * PIECES + 4, 4 * PIECES + 4), step.dtype if root.dtype == float else complex)
    chain[:2, :4] = root * units / np.abs(root * units).max(axis=1, keepdims=True)
    for piece in range(PIECES):
        rows = slice(2 + 4 * piece, 6 + 4 * piece)
        chain[rows, 4 * piece : 4 * piece + 4] = step
        chain[rows, 4 * piece + 4 : 4 * piece + 8] = -np.eye(4)
    chain[-2:, -4:] = FREE
    sign, logarithm = np.linalg.slogdet(chain)
    return sign, float(logarithm)


class _Galerkin:
    """Curvature and shear strain as Legendre series: good enough to locate the lowest roots.

    With strains as unknowns the stiffness is diagonal, so that a very stiff shear cannot drown the low
    modes in round-off. Strains are scaled by the root of their stiffness; the mass matrix in these
    scaled strains has the squared periods over 2 pi as eigenvalues.
    """

    def __init__(self, beam: TimoshenkoBeam, count: int) -> None:
        degree = 24 + 3 * count
        points, weights = legendre.leggauss(degree + 4)
        weights = np.asarray(weights * (0.5 * beam.length), float)
        series = np.eye(degree + 1)
        once = (0.5 * beam.length) * legendre.legint(series, lbnd=-1, axis=0)
        twice = (0.5 * beam.length) * legendre.legint(once, lbnd=-1, axis=0)
        strains, integrals, double_integrals = (
            np.asarray(legendre.legvander(points, len(rows) - 1) @ rows, float)
            for rows in (series, once, twice)
        )
        norms = 1.0 / np.sqrt(weights @ strains**2)
        by_curvature, by_shear = (
            norms / np.sqrt(beam.bending_stiffness),
            norms / np.sqrt(beam.shear_stiffness),
        )
        rotation = np.hstack([integrals * by_curvature, np.zeros_like(integrals)])
        deflection = np.hstack([double_integrals * by_curvature, integrals * by_shear])
        arm = 0.5 * beam.length * (1.0 + np.asarray(points, float))

        def inertia(w: Array, psi: Array, other_w: Array, other_psi: Array) -> Array:
            linear = beam.mass_per_length * (w.T @ (weights[:, None] * other_w))
            return np.asarray(
                linear + beam.rotary_inertia_per_length * (psi.T @ (weights[:, None] * other_psi))
            )

        turn, tilt = arm[:, None], np.ones((len(arm), 1))
        self.elastic = inertia(deflection, rotation, deflection, rotation)
        self.coupling = inertia(deflection, rotation, turn, tilt)
        self.rigid = inertia(turn, tilt, turn, tilt)

    def clamped_roots(self) -> Array:
        return _rising(eigvalsh(self.elastic))

    def pinned_roots(self) -> Array:
        return _rising(eigvalsh(self.elastic - self.coupling @ self.coupling.T / self.rigid))

    def joint_pd_roots(self, stiffness: float, damping: float) -> ComplexArray:
        coupling = self.coupling / np.sqrt(stiffness)
        mass = np.block([[self.rigid / stiffness, coupling.T], [coupling, self.elastic]])
        loss = np.zeros_like(mass)
        loss[0, 0] = damping / stiffness
        zero, one = np.zeros_like(mass), np.eye(len(mass))
        # mass s^2 + loss s + 1 = 0, solved for 1/s so that slow poles come out best
        inverses = np.linalg.eigvals(np.block([[zero, one], [-mass, -loss]]))
        upper = inverses[inverses.imag <= 0.0]
        return np.asarray(1.0 / upper[np.argsort(-np.abs(upper))])


def _rising(squared_periods: Array) -> Array:
    """Circular frequencies, lowest first."""
    kept = squared_periods[squared_periods > 1e-12 * squared_periods.max()]
    return np.asarray(1.0 / np.sqrt(np.sort(kept)[::-1]))
