"""A stop or wall: a spring and damper that act only while a distance is negative, and never pull.

Dry friction and stops of a joint coordinate: the laws of all formulations, over a step and at an instant.

friction = (coulomb + (static - coulomb) exp(-(v / stribeck)^2)) tanh(v / smoothing)      against the rate v
stops    = k (lower - q) - d v  below the lower one, the same above the upper one; they push and never pull
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel


@kernel
def contact_force(phi0: float, change: float, h: float, stiffness: float, damping: float) -> tuple[float, float, float]:
    """Mean force of a step on phi (at least 0), its elastic part, and minus its derivative in the change of phi.

    The elastic part is the divided difference of k min(phi, 0)^2 / 2 and so stores exactly; the damper sees the
    part of the way that is spent in contact, min(phi1, 0) - min(phi0, 0).
    """
    phi1 = phi0 + change
    if phi0 >= 0.0 and phi1 >= 0.0:
        return 0.0, 0.0, 0.0
    touching = change
    if phi0 < 0.0 and phi1 < 0.0:
        elastic, slope = -stiffness * (phi0 + 0.5 * change), 0.5 * stiffness
    elif phi0 >= 0.0:
        # quotients, because the square of a tiny change underflows
        touching = phi1
        elastic = -0.5 * stiffness * phi1 * (phi1 / change)
        slope = 0.5 * stiffness * (phi1 / change) * ((phi1 - 2.0 * phi0) / change)
    else:
        touching = -phi0
        elastic = 0.5 * stiffness * phi0 * (phi0 / change)
        slope = 0.5 * stiffness * (phi0 / change) * (phi0 / change)
    force = elastic - damping * touching / h
    if phi1 < 0.0:
        slope += damping / h
    if force < 0.0:
        return 0.0, elastic, 0.0
    return force, elastic, slope


Floats = NDArray[np.float64]

# columns of a row of friction, and of a row of stops
COULOMB, STATIC, STRIBECK, SMOOTHING = 0, 1, 2, 3
LOWER, UPPER, STOP_STIFFNESS, STOP_DAMPING = 0, 1, 2, 3

SAME_SLOPE = 0.1  # part of a diagonal entry by which the slopes of friction and stops may have changed
FAR = 1e300  # a stop that is never reached
NO_FRICTION = (0.0, 0.0, 1.0, 1.0)
NO_STOPS = (-FAR, FAR, 0.0, 0.0)


@kernel
def friction_force(law: Floats, rate: float) -> tuple[float, float]:
    """Smoothed Coulomb and Stribeck friction against ``rate`` and its derivative."""
    coulomb, extra = law[COULOMB], law[STATIC] - law[COULOMB]
    t = math.tanh(rate / law[SMOOTHING])
    bump = math.exp(-((rate / law[STRIBECK]) ** 2)) if extra > 0.0 else 0.0
    level = coulomb + extra * bump
    slope = level * (1.0 - t * t) / law[SMOOTHING]
    if extra > 0.0:
        slope -= extra * bump * 2.0 * rate / law[STRIBECK] ** 2 * t
    return level * t, slope


@inline_kernel
def stops_force(stops: Floats, q0: float, change: float, h: float) -> tuple[float, float, float]:
    """Mean force of both stops on the coordinate over a step, its elastic part and minus its derivative in the change.

    Over a step of no length, with the change ``h rate``, these are the force at an instant and its elastic part.
    """
    up, up_elastic, up_slope = contact_force(q0 - stops[LOWER], change, h, stops[STOP_STIFFNESS], stops[STOP_DAMPING])
    down, down_elastic, down_slope = contact_force(
        stops[UPPER] - q0, -change, h, stops[STOP_STIFFNESS], stops[STOP_DAMPING]
    )
    return up - down, up_elastic - down_elastic, up_slope + down_slope


@kernel
def stops_energy(stops: Floats, q: float) -> float:
    """What both stops store at a position."""
    low, high = min(q - stops[LOWER], 0.0), min(stops[UPPER] - q, 0.0)
    return 0.5 * float(stops[STOP_STIFFNESS] * (low * low + high * high))
