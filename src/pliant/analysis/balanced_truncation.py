"""Balanced truncation: states that are hard to reach or hard to see are left out [moore1981].

With Hankel singular values s_k, the response differs from the full one by no more than 2 (s_{r+1} + s_{r+2} + ...) at
any frequency [glover1984]. Poles on the imaginary axis have no such values: they are split off exactly and kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.band_error import Band, BandError, comparison
from pliant.analysis.reduction import energy_form
from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.model.linear import LinearPortHamiltonian, LinearSystem
from pliant.model.linear.matrices import Complex, numbered

UNDAMPED = 1e-7  # real part, as a part of the magnitude, that counts as zero
AT_REST = (
    1e-11  # magnitude, as a part of the fastest rate, that counts as zero: double poles at zero come out so
)


@dataclass(frozen=True, eq=False)
class BalancedTruncation:
    """A smaller linear system, and how it lies in the full one.

    ``basis`` (states, reduced states) and ``projection`` (reduced states, states): x = basis z, z = projection x, with
    the states of ``system.explicit`` or of the port-Hamiltonian system. ``hankel``: singular values of the decaying
    part, largest first, and ``bound``: on ``error.error`` at any frequency, both of the scaled response that ``error``
    measures. Values below 1e-8 of the largest are round-off. ``kept``: the number of poles on the imaginary axis.
    """

    system: LinearSystem
    basis: Array
    projection: Array
    hankel: Array
    bound: float
    kept: int
    error: BandError


def balanced_truncation(
    system: LinearSystem | LinearPortHamiltonian, order: int, band: Band
) -> BalancedTruncation:
    """A linear system of ``order`` states whose response differs from the full one by no more than a known bound."""
    plain, scale, unscale = _well_scaled(system)
    fastest = float(np.abs(plain.poles).max(initial=0.0))
    growing = plain.poles[(plain.poles.real > 0.0) & ~_on_axis(plain.poles, fastest)]
    if len(growing):
        raise InvalidInput(
            f"the system has a pole that grows with {growing.real.max():.3g} 1/s; give balanced_truncation a stable one"
        )
    places = band.places(plain.poles)
    target = comparison(places, plain.transfer(places))
    left, right, kept = _split(plain.A, fastest)
    n = len(plain.A)
    if not max(kept, 1) <= order <= n:
        raise InvalidInput(
            f"order = {order} must lie between {max(kept, 1)} (poles on the imaginary axis are kept) and {n} (states);"
            " choose another order, or reduce_port_hamiltonian for systems without damping"
        )
    A = left[kept:] @ plain.A @ right[:, kept:]
    B, C = left[kept:] @ plain.B / target.columns, plain.C @ right[:, kept:] / target.rows[:, None]
    V, W, hankel = _balanced(A, B, C, order - kept)
    basis = np.hstack([right[:, :kept], right[:, kept:] @ V])
    projection = np.vstack([left[:kept], W.T @ left[kept:]])
    small = LinearSystem(
        A=projection @ plain.A @ basis,
        B=projection @ plain.B,
        C=plain.C @ basis,
        D=plain.D,
        inputs=plain.inputs,
        outputs=plain.outputs,
        states=numbered("z", order),
    )
    error = target.error(small.transfer(places))
    bound = 2.0 * float(hankel[order - kept :].sum())
    return BalancedTruncation(small, unscale @ basis, projection @ scale, hankel, bound, kept, error)


def _well_scaled(system: LinearSystem | LinearPortHamiltonian) -> tuple[LinearSystem, Array, Array]:
    """The system in coordinates z = scale x, x = unscale z that are comparable with each other."""
    if isinstance(system, LinearPortHamiltonian):
        full = energy_form(system)
        outer = system.state_space()
        plain = LinearSystem(
            A=full.S, B=full.b, C=full.c, D=full.D, inputs=outer.inputs, outputs=outer.outputs
        )
        return plain, full.forward, full.back
    from scipy.linalg import matrix_balance

    given = system.explicit
    A, (size, _) = matrix_balance(given.A, permute=False, separate=True)
    plain = LinearSystem(
        A=A,
        B=given.B / size[:, None],
        C=given.C * size,
        D=given.D,
        inputs=given.inputs,
        outputs=given.outputs,
    )
    return plain, np.diag(1.0 / size), np.diag(size)


def _on_axis(poles: Complex, fastest: float) -> NDArray[np.bool_]:
    return (np.abs(poles.real) <= UNDAMPED * np.abs(poles)) | (np.abs(poles) <= AT_REST * fastest)


def _split(A: Array, fastest: float) -> tuple[Array, Array, int]:
    """left A right block diagonal with left right = I: first what neither grows nor decays, then what decays."""
    from scipy.linalg import schur, solve_sylvester

    T, Z, kept = schur(
        A, sort=lambda real, imaginary: bool(_on_axis(np.array(complex(real, imaginary)), fastest))
    )
    if kept in (0, len(A)):
        return Z.T, Z, int(kept)
    X = solve_sylvester(T[:kept, :kept], -T[kept:, kept:], -T[:kept, kept:])
    right, left = Z.copy(), Z.T.copy()
    right[:, kept:] += Z[:, :kept] @ X
    left[:kept] -= X @ Z[:, kept:].T
    return left, right, int(kept)


def _balanced(A: Array, B: Array, C: Array, order: int) -> tuple[Array, Array, Array]:
    """V, W with W^T V = I of the ``order`` most balanced directions, and all Hankel singular values."""
    from scipy.linalg import solve_continuous_lyapunov

    reach = _factor(solve_continuous_lyapunov(A, -B @ B.T))
    sight = _factor(solve_continuous_lyapunov(A.T, -C.T @ C))
    U, values, V = np.linalg.svd(sight.T @ reach)
    # directions that no input reaches or no output sees have no scale of their own
    root = np.sqrt(np.maximum(values[:order], np.finfo(float).tiny))
    return reach @ V[:order].T / root, sight @ U[:, :order] / root, values


def _factor(gramian: Array) -> Array:
    values, vectors = np.linalg.eigh(0.5 * (gramian + gramian.T))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
