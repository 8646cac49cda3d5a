"""Two polynomial spaces that keep the Dirac structure of a beam [wang2017].

Efforts are polynomials of degree N, states and their rates of degree N - 1, so that the derivative of an effort is
a rate exactly. With the bases w^e of efforts and w^f of states,

    D = d w^e / dz  in the basis w^f  (26),     M = int w^e w^f dz ,     S = int w^f w^f dz  (30),

and integration by parts is the matrix identity  M D + D^T M^T = w_L^T w_L - w_0^T w_0. The power-conjugate of the
rate of a state is the reduced effort M^T e (28), one number short of e; the value at one end fills the gap, and
which end that is decides the causality.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

from pliant.formulations.pseudo_spectral.points import Points
from pliant.mechanics.shape_functions import gauss_rule, lagrange_basis

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spaces:
    """The tables of the two spaces on a link of some length; rows of D are states, columns efforts."""

    D: Floats
    M: Floats
    S: Floats
    w_0: Floats
    w_L: Floats

    @property
    def degree(self) -> int:
        return len(self.S)

    def effort_from(self, end: Floats) -> Floats:
        """Coefficients of an effort from (its reduced values, its value at the end whose row is given)."""
        return np.asarray(np.linalg.inv(np.vstack([self.M.T, end])))

    @property
    def partial_integration_error(self) -> float:
        """How far the tables miss integration by parts, relative to their own size."""
        left = self.M @ self.D + self.D.T @ self.M.T
        right = np.outer(self.w_L, self.w_L) - np.outer(self.w_0, self.w_0)
        return float(np.abs(left - right).max() / max(np.abs(right).max(), np.abs(self.M @ self.D).max()))


def nodal_spaces(degree: int, points: Points, length: float) -> Spaces:
    """Lagrange polynomials on collocation points, as the paper writes them."""
    efforts, states = points.efforts(degree), points.states(degree)
    at, weights = gauss_rule(degree + 1)
    value_e, value_f = lagrange_basis(efforts, at)[0], lagrange_basis(states, at)[0]
    ends = lagrange_basis(efforts, np.array([0.0, 1.0]))[0]
    return Spaces(
        D=lagrange_basis(efforts, states)[1] / length,
        M=length * (value_e.T * weights) @ value_f,
        S=length * (value_f.T * weights) @ value_f,
        w_0=ends[0],
        w_L=ends[1],
    )


def orthonormal_spaces(degree: int, length: float) -> Spaces:
    """Legendre polynomials with unit mean square over the length: S = 1, and the best conditioned of all bases."""
    scale = np.sqrt((2 * np.arange(degree + 1) + 1) / length)
    at, weights = gauss_rule(degree + 1)
    slope = np.stack(
        [legendre.legval(2 * at - 1, legendre.legder(unit)) for unit in np.eye(degree + 1)], axis=1
    )
    D = (orthonormal_values(degree, at, length).T * weights) @ (2.0 * slope * scale)
    D[np.add.outer(np.arange(degree), np.arange(degree + 1)) % 2 == 0] = 0.0  # odd against even
    signs = (-1.0) ** np.arange(degree + 1)
    return Spaces(D, np.eye(degree + 1, degree), np.eye(degree), scale * signs, scale)


def orthonormal_values(count: int, at: Floats, length: float) -> Floats:
    """Values of the first ``count`` orthonormal polynomials at fractions of the length, (points, count)."""
    scale = np.sqrt((2 * np.arange(count) + 1) / length)
    return np.asarray(legendre.legvander(2 * np.asarray(at) - 1, count - 1) * scale)
