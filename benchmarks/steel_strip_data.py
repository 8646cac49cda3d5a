"""The steel strip and its slew, for the peers that take plain numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import Array

LENGTH, WIDTH, THICKNESS = 1.0, 0.03, 0.005
YOUNG, POISSON, DENSITY = 210e9, 0.34, 7850.0
ANGLE, MOVE, DURATION = 1.5, 0.5, 2.0

AREA = WIDTH * THICKNESS
SHEAR = YOUNG / (2 * (1 + POISSON))
INERTIA_SOFT = WIDTH * THICKNESS**3 / 12
INERTIA_STIFF = THICKNESS * WIDTH**3 / 12
# Saint-Venant's torsion constant of a 6 : 1 rectangle; torsion stays at rest in this planar motion.
TORSION = 0.2983 * WIDTH * THICKNESS**3
MASS = DENSITY * AREA


def angle(time: Array) -> Array:
    x = np.minimum(time / MOVE, 1.0)
    return ANGLE * x**3 * (10 - 15 * x + 6 * x * x)


def rate(time: Array) -> Array:
    x = np.minimum(time / MOVE, 1.0)
    return ANGLE / MOVE * 30 * x * x * (1 - x) ** 2


def acceleration(time: Array) -> Array:
    x = np.minimum(time / MOVE, 1.0)
    return ANGLE / MOVE**2 * 60 * x * (1 - x) * (1 - 2 * x)


def largest_deflection(time: Array, tip: Array) -> float:
    """Largest distance of the tip from where a rigid strip would have it, metres."""
    turned = angle(time)
    rigid = LENGTH * np.column_stack([np.cos(turned), np.sin(turned), np.zeros_like(turned)])
    return float(np.linalg.norm(tip - rigid, axis=1).max())
