"""Poles of a uniform Timoshenko beam whose root turns under a spring and a damper.

Located by a Legendre-Galerkin model, then polished on the exact end conditions.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import legendre

from pliant.mechanics.closed_form.beam_ends import Ends
from pliant.mechanics.closed_form.beam_waves import Array, ComplexArray, Waves
from pliant.mechanics.closed_form.timoshenko_beam import FREE, BeamEnd, Motion, TimoshenkoBeam


def joint_pd_poles(beam: TimoshenkoBeam, stiffness: float, damping: float, count: int) -> ComplexArray:
    """The poles nearest to zero, in 1/s, of a pinned beam with root torque -stiffness psi - damping psi'.

    Of a complex pair only the pole with positive imaginary part is listed.
    """
    root = BeamEnd(Motion.HELD, Motion.FREE, torsion_spring=stiffness, torsion_damper=damping)
    ends = Ends(beam, root, FREE)
    return np.array([_polished(ends, guess) for guess in _guesses(beam, stiffness, damping, count)])


def _polished(ends: Ends, guess: complex) -> complex:
    """Secant iteration on the determinant of the end conditions."""
    before, now = guess * (1.0 + 1e-6), guess
    value_before, value_now = _determinant(ends, before), _determinant(ends, now)
    for _ in range(50):
        change = value_now * (now - before) / (value_now - value_before)
        before, value_before = now, value_now
        now = now - change
        value_now = _determinant(ends, now)
        if abs(change) < 1e-11 * abs(now) or value_now == value_before:
            break  # the secant step converges faster than linearly: the next change would be round-off
    if not abs(now - guess) < 1e-3 * abs(guess):
        raise RuntimeError(f"no pole of the beam under joint PD lies near {guess} 1/s")
    return now


def _determinant(ends: Ends, s: complex) -> complex:
    """Divided by that of the states, which does not change along the beam, it depends on s alone."""
    waves = Waves(ends.beam, s)
    states = waves.states(np.array([0.5]))[0]
    return complex(np.linalg.det(ends.conditions(waves)) / np.linalg.det(states))


def _guesses(beam: TimoshenkoBeam, stiffness: float, damping: float, count: int) -> ComplexArray:
    """Curvature and shear strain as Legendre series: good enough to locate the lowest poles.

    With strains as unknowns the stiffness is diagonal, so that a very stiff shear cannot drown the low
    modes in round-off. Strains are scaled by the root of their stiffness; the mass matrix in these
    scaled strains has the squared periods over 2 pi as eigenvalues.
    """
    degree = 24 + 3 * count
    points, weights = legendre.leggauss(degree + 4)
    weights = np.asarray(weights * (0.5 * beam.length), float)
    series = np.eye(degree + 1)
    once = (0.5 * beam.length) * legendre.legint(series, lbnd=-1, axis=0)
    twice = (0.5 * beam.length) * legendre.legint(once, lbnd=-1, axis=0)
    strains, integrals, double_integrals = (
        np.asarray(legendre.legvander(points, len(rows) - 1) @ rows, float) for rows in (series, once, twice)
    )
    norms = 1.0 / np.sqrt(weights @ strains**2)
    by_curvature, by_shear = norms / np.sqrt(beam.bending_stiffness), norms / np.sqrt(beam.shear_stiffness)
    arm = 0.5 * beam.length * (1.0 + np.asarray(points, float))[:, None]
    # one column for the turn of the joint, scaled like a strain, then the strains
    rotation = np.hstack([np.ones_like(arm) / np.sqrt(stiffness), integrals * by_curvature, 0.0 * integrals])
    deflection = np.hstack([arm / np.sqrt(stiffness), double_integrals * by_curvature, integrals * by_shear])
    mass = _inertia(beam.mass_per_length, deflection, weights)
    mass = mass + _inertia(beam.rotary_inertia_per_length, rotation, weights)
    loss = np.zeros_like(mass)
    loss[0, 0] = damping / stiffness
    zero, one = np.zeros_like(mass), np.eye(len(mass))
    # mass s^2 + loss s + 1 = 0, solved for 1/s so that slow poles come out best
    inverses = np.linalg.eigvals(np.block([[zero, one], [-mass, -loss]]))
    upper = inverses[inverses.imag <= 0.0]
    return np.asarray(1.0 / upper[np.argsort(-np.abs(upper))][:count])


def _inertia(per_length: float, motion: Array, weights: Array) -> Array:
    return np.asarray(per_length * (motion.T @ (weights[:, None] * motion)))
