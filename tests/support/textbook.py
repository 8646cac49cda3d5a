"""Formulas of textbooks and benchmarks that simulations are measured against.

Frequencies of the simplest uniform beams and bars, and beams that bend, roll up or spin far beyond the linear range.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from pliant.experiments.closed_form import Rod, static_shape

Array = NDArray[np.float64]


def euler_bernoulli_cantilever_roots(count: int) -> Array:
    """Roots beta L of 1 + cos(x) cosh(x) = 0 [rao2007], divided by cosh(x) so that nothing overflows."""

    def characteristic(x: float) -> float:
        return float(np.cos(x) + 1.0 / np.cosh(x))

    return np.array(
        [brentq(characteristic, (k - 1) * np.pi, k * np.pi, xtol=1e-15, rtol=1e-15) for k in range(1, count + 1)]
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


def elastica_tip(load: float) -> tuple[float, float, float]:
    """(shortening / L, deflection / L, tip slope in rad) of an inextensible cantilever.

    ``load`` is P L^2 / EI of a transverse dead force at the tip. Elliptic integrals [bisshopp1945].
    """

    def integrals(slope: float) -> tuple[float, float]:
        m = 0.5 * (1.0 + np.sin(slope))
        start = np.arcsin(1.0 / np.sqrt(2.0 * m))
        return ellipk(m) - ellipkinc(start, m), ellipe(m) - ellipeinc(start, m)

    slope = brentq(lambda angle: integrals(angle)[0] - np.sqrt(load), 0.0, 0.5 * np.pi - 1e-12, xtol=1e-15)
    deflection = 1.0 - 2.0 * integrals(slope)[1] / np.sqrt(load)
    shortening = 1.0 - np.sqrt(2.0 * np.sin(slope) / load)
    return float(shortening), float(deflection), float(slope)


def roll_up_tip(length: float, moment: float, bending_stiffness: float) -> tuple[float, float]:
    """Tip (x, y) of a cantilever along x under a tip moment that turns x towards y: a circular arc."""
    turn = moment * length / bending_stiffness
    half = 0.5 * turn
    chord = length * np.sinc(half / np.pi)
    return float(chord * np.cos(half)), float(chord * np.sin(half))


def spin_up_angle(time: float) -> tuple[float, float, float]:
    """Angle, rate and acceleration of the spin-up manoeuvre of [kane1987], [simo1986]: 6 rad/s after 15 s."""
    if time > 15.0:
        return 6.0 * time - 45.0, 6.0, 0.0
    pace = 2.0 * np.pi / 15.0
    return (
        float(0.4 * (0.5 * time**2 + (np.cos(pace * time) - 1.0) / pace**2)),
        float(0.4 * (time - np.sin(pace * time) / pace)),
        float(0.4 * (1.0 - np.cos(pace * time))),
    )


@dataclass(frozen=True)
class Extension:
    """Steady tip extension of a spinning rod, in metres."""

    linear: float
    exact: float


def spinning_extension(length: float, mass_per_length: float, axial_stiffness: float, speed: float) -> Extension:
    """Extension of a rod that spins steadily about its root, ``speed`` in rad/s.

    ``linear``: the centrifugal force acts at rest positions, rhoA w^2 L^3 / (3 EA). ``exact``: it acts at
    the stretched positions x, EA x'' = -rhoA w^2 x with x(0) = 0 and x'(L) = 1, which gives
    tan(k L) / k - L with k^2 = rhoA w^2 / EA. A geometrically exact model converges to the latter.
    """
    k2 = mass_per_length * speed**2 / axial_stiffness
    k = np.sqrt(k2)
    return Extension(linear=float(k2 * length**3 / 3.0), exact=float(np.tan(k * length) / k - length))


def bend_of_45_degrees(load: float, torsion_constant: float) -> Array:
    """Tip position of the bend of [bathe1979] under an out-of-plane dead force.

    Radius 100, section 1 x 1, E = 1e7, G = 5e6, shear factor 1; x along the start tangent, y towards the
    centre, z along the load.
    """
    E, G, radius = 1e7, 5e6, 100.0
    stiffness = (E, G, G, G * torsion_constant, E / 12.0, E / 12.0)
    rod = Rod(0.25 * np.pi * radius, stiffness, (0.0, 0.0, 1.0 / radius))
    return static_shape(rod, force=(0.0, 0.0, load), load_steps=8).tip


def shear_deformable_cantilever() -> tuple[float, float]:
    """(shortening, deflection) at the tip of the thick cantilever of [nachbagauer2011], in metres."""
    length, height, width, E, nu = 2.0, 0.5, 0.1, 2.07e11, 0.3
    factor = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    area, inertia, G = height * width, width * height**3 / 12.0, E / (2.0 * (1.0 + nu))
    shear = factor * G * area
    rod = Rod(length, (E * area, shear, shear, G * inertia, E * inertia, E * inertia))
    tip = static_shape(rod, force=(0.0, 5e8 * height**3, 0.0)).tip
    return float(length - tip[0]), float(tip[1])
