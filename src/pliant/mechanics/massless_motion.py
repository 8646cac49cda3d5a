"""Joint motions that move nothing that has inertia: they have no equation of motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDED_LEVER = 1e-24  # part of the largest inertia that is the square of a rounded lever
MASSLESS = 1e-12  # eigenvalue of a scaled mass matrix below which a motion has no mass


def mass_matrix(T: Floats, M: Floats) -> Floats:
    """(n, n) of joint rates, from body twists T (nodes, 6, n) of unit rates and body inertias M (nodes, 6, 6)."""
    n = T.shape[-1]
    return np.asarray(T.reshape(6 * len(T), n).T @ (M @ T).reshape(6 * len(T), n))


def unit_masses(M: Floats) -> Floats:
    """Factors (n,) that give every unknown the mass one, but for those without any."""
    own = M.diagonal()
    return np.asarray(1.0 / np.sqrt(np.where(own > ROUNDED_LEVER * own.max(initial=0.0), own, 1.0)))


def accelerated(M: Floats, forces: Floats) -> Floats:
    """M^-1 forces (n, columns), M symmetric; forces on what has no mass accelerate nothing."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = unit_masses(M)
    scaled, right = M * np.outer(scale, scale), scale[:, None] * forces
    try:
        found = cho_solve(cho_factor(scaled), right)
    except LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        heavy = values > MASSLESS
        found = (vectors[:, heavy] / values[heavy]) @ (vectors[:, heavy].T @ right)
    return np.asarray(scale[:, None] * found)
