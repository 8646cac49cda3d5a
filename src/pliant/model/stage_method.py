"""One-step methods written as stages, so that one compiled loop can serve them all.

With stage increments E_i = x(t + c_i h) - x_n the loop solves

    xdot_i = (1/h) sum_j S_ij E_j + history xdot_n ,     x_{n+1} = x_n + sum_j update_j E_j .

Collocation has S = A^-1 and history 0; generalized-alpha has one stage and carries
xdot_{n+1} = xdot_n + rate_gain (xdot_1 - xdot_n). Explicit methods have no S and are a kind of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.shape_functions import gauss_rule, lagrange_basis
from pliant.model.state import Array

LARGEST_EXTRAPOLATED = 3  # stages


@dataclass(frozen=True, eq=False)
class StageMethod:
    """The coefficients of a method; ``exact`` if what a step takes from a quadratic energy is known to round-off."""

    nodes: Array
    weights: Array
    S: Array
    update: Array
    history: float
    rate_gain: float
    order: int
    exact: bool

    @property
    def stages(self) -> int:
        return len(self.nodes)

    @cached_property
    def A(self) -> Array:
        return np.asarray(np.linalg.inv(self.S), dtype=np.float64)

    @cached_property
    def dissipation(self) -> Array:
        """Weights d_j of the increments in what a step takes from an energy <x, Q x> / 2 beside the work of its stages,

            sum_i h b_i <Q x_i, x'_i> - (change of the energy) = (h^2 / 2) sum_ij m_ij <x'_i, Q x'_j> = <y, Q y> / 2 ,

        with y = sum_j d_j E_j and m_ij = b_i a_ij + b_j a_ji - b_i b_j. That matrix is zero for Gauss collocation and
        of rank one for Radau IIA, and never negative: both are algebraically stable ([hairer1996], IV.12 and IV.13).
        """
        if not self.exact:
            return np.zeros(self.stages)
        products = self.weights[:, None] * self.A
        m = products + products.T - np.outer(self.weights, self.weights)
        value, vector = np.linalg.eigh(m)
        if value[-1] < 1e-12:
            return np.zeros(self.stages)
        return np.asarray(np.sqrt(value[-1]) * vector[:, -1] @ self.S)

    @property
    def damped(self) -> bool:
        """Whether its own dissipation is entered in the ledger."""
        return bool(self.dissipation.any())

    @cached_property
    def spectrum(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Array]:
        """S = T diag(lam) T^-1 as (T, T^-1, lam, multiplicity) with one column kept of each conjugate pair."""
        if self.stages == 1:
            one = np.ones((1, 1))
            return one, one, self.S[0].copy(), np.ones(1)
        # of a real matrix: conjugate pairs come exactly as such, and real members without imaginary parts
        lam, T = np.linalg.eig(self.S)
        T_inverse = np.linalg.inv(T)
        T_inverse[lam.imag == 0.0] = T_inverse[lam.imag == 0.0].real
        keep = np.flatnonzero(lam.imag >= 0.0)
        return (
            np.ascontiguousarray(T[:, keep]),
            np.ascontiguousarray(T_inverse[keep]),
            np.ascontiguousarray(lam[keep]),
            np.where(lam[keep].imag > 0.0, 2.0, 1.0),
        )

    @cached_property
    def extrapolation(self) -> Array:
        """Stage increments of the next step from those of this one, by the polynomial through them.

        That of four stages and more exaggerates whatever is not smooth over the step, so much that the chord of the
        step is nearer to where the next one leads.
        """
        if self.stages > LARGEST_EXTRAPOLATED:
            return np.outer(self.nodes, self.update)
        nodes = np.concatenate([[0.0], self.nodes])
        ahead = lagrange_basis(nodes, 1 + self.nodes)[0][:, 1:]
        end = lagrange_basis(nodes, np.array([1.0]))[0][:, 1:]
        return ahead - end

    @cached_property
    def stress_average(self) -> tuple[Array, Array]:
        """Tables (values of the increments, weights) that average a nonlinear stress over the step.

        stress_i = sum_m weight_im stress(x_n + sum_j value_mj E_j) is the mean of the stress along the
        step's polynomial against the stage's Lagrange polynomial; then the work sum_i b_i stress_i xdot_i
        is the exact change of a stored energy that is any polynomial of degree six ([hairer2010]). Damped methods take
        the stress of their stages, whose damping an average would spoil.
        """
        if not self.exact or self.damped:
            return np.eye(self.stages), np.eye(self.stages)
        points, weights = gauss_rule(3 * self.stages)
        values = np.ascontiguousarray(lagrange_basis(np.concatenate([[0.0], self.nodes]), points)[0][:, 1:])
        basis = lagrange_basis(self.nodes, points)[0]
        return values, (weights[:, None] * basis / self.weights).T.copy()


@dataclass(frozen=True, eq=False)
class ExplicitMethod:
    """A method of Runge and Kutta whose stages follow from those before:  x_i = x_n + h sum_{j<i} A_ij xdot_j ."""

    nodes: Array
    weights: Array
    A: Array
    order: int
    exact: bool = False

    @property
    def stages(self) -> int:
        return len(self.nodes)


def runge_kutta_gill() -> ExplicitMethod:
    """The method of order four [gill1951] that [konno1996] takes."""
    root = np.sqrt(2.0)
    A = np.zeros((4, 4))
    A[1, 0] = 0.5
    A[2, :2] = 0.5 * (root - 1.0), 0.5 * (2.0 - root)
    A[3, 1:3] = -0.5 * root, 0.5 * (2.0 + root)
    weights = np.array([1.0, 2.0 - root, 2.0 + root, 1.0]) / 6.0
    return ExplicitMethod(A.sum(axis=1), weights, A, 4)


def gauss_collocation(stages: int) -> StageMethod:
    """Gauss collocation of order 2 stages; one stage is the implicit midpoint rule."""
    c, b = gauss_rule(stages)
    S = np.asarray(np.linalg.inv(_collocation(c)), dtype=np.float64)
    return StageMethod(c, b, S, b @ S, 0.0, 0.0, 2 * stages, True)


def radau_collocation(stages: int) -> StageMethod:
    """Radau IIA of order 2 stages - 1 [hairer1996]: the last stage is the end of the step, so that what is stiff has
    come to rest there instead of ringing on."""
    ends = np.zeros(stages + 1)
    ends[-2:] = -1.0, 1.0  # zeros of the difference of two Legendre polynomials
    c = 0.5 * (1.0 + np.sort(np.polynomial.legendre.legroots(ends).real))
    c[-1] = 1.0
    A = _collocation(c)
    S = np.asarray(np.linalg.inv(A), dtype=np.float64)
    return StageMethod(c, A[-1].copy(), S, np.eye(stages)[-1], 0.0, 0.0, 2 * stages - 1, True)


def _collocation(c: Array) -> Array:
    """Integrals from 0 to each node of the polynomials that are one at a node and zero at the others."""
    powers = np.arange(1, len(c) + 1)
    return np.asarray((c[:, None] ** powers / powers) @ np.linalg.inv(c[:, None] ** (powers - 1)))


def generalized_alpha(spectral_radius: float) -> StageMethod:
    """Generalized-alpha for first-order systems [jansen2000] with the given spectral radius at infinity."""
    r = spectral_radius
    alpha_m, alpha_f = (3 - r) / (2 * (1 + r)), 1 / (1 + r)
    gamma = 0.5 + alpha_m - alpha_f
    nodes, S, update = np.array([alpha_f]), np.array([[alpha_m / (alpha_f * gamma)]]), np.array([1 / alpha_f])
    return StageMethod(nodes, np.ones(1), S, update, 1 - alpha_m / gamma, 1 / alpha_m, 2, False)
