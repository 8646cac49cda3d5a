"""Vibration modes about an equilibrium."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder
from pliant.model.layout import Array
from pliant.simulation.simulate import checked_state, consistent_start

Complex = NDArray[np.complex128]

MASSLESS = 1e-10  # smallest eigenvalue of the scaled mass matrix below which an unknown carries no mass


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes in the order of rising magnitude of their eigenvalues.

    ``eigenvalue`` (n,) in 1/s, one of each conjugate pair; ``frequency`` |Im| / 2 pi in hertz; ``damping_ratio``
    -Re / |eigenvalue|; ``shape`` (n, nodes, 6) body displacements of the nodes, largest component 1.
    """

    eigenvalue: Complex
    frequency: Array
    damping_ratio: Array
    shape: Complex


def modes(model: Model, state: Array | None = None, count: int = 10) -> Modes:
    """The ``count`` slowest modes of small motions about ``state``, an equilibrium at rest.

    By default the undeformed arm at its initial joint positions. Prescribed joints are held; feedback
    stiffness and damping of joints count. Inputs are those of time 0.
    """
    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes wanted")
    at = consistent_start(model) if state is None else checked_state(model, state)
    small = model.small_motions(at, model.inputs)
    values, vectors = _conservative(small, count) if _is_conservative(small) else _general(small)
    order = np.argsort(np.abs(values))[:count]
    values, vectors = values[order], vectors[:, order]
    shape = np.einsum("acj,jk->kac", small.to_twist, vectors)
    largest = np.abs(shape).reshape(len(values), -1).argmax(axis=1)
    shape = shape / shape.reshape(len(values), -1)[np.arange(len(values)), largest][:, None, None]
    ratio = -values.real / np.maximum(np.abs(values), 1e-300)
    return Modes(values, np.abs(values.imag) / (2 * np.pi), ratio, shape)


def _is_conservative(small: SecondOrder) -> bool:
    """No damping, symmetric stiffness, and mass on every unknown: the symmetric solver serves."""
    if small.D.any() or not np.allclose(small.K, small.K.T, rtol=0.0, atol=1e-12 * np.abs(small.K).max()):
        return False
    scale = np.sqrt(np.maximum(small.M.diagonal(), 1e-300))
    return bool(np.linalg.eigvalsh(small.M / np.outer(scale, scale))[0] > MASSLESS)


def _conservative(small: SecondOrder, count: int) -> tuple[Complex, Complex]:
    from scipy.linalg import eigh

    top = min(count, len(small.M)) - 1
    squares, vectors = eigh(small.K, small.M, subset_by_index=(0, top))
    # a negative square is a motion that grows: its eigenvalue is real and positive
    return 1j * np.sqrt(squares.astype(complex)).conj(), vectors.astype(complex)


def _general(small: SecondOrder) -> tuple[Complex, Complex]:
    from scipy.linalg import eig

    n = len(small.M)
    identity, zero = np.eye(n), np.zeros((n, n))
    right = np.block([[zero, identity], [-small.K, -small.D]])
    left = np.block([[identity, zero], [zero, small.M]])
    (alpha, beta), vectors = eig(right, left, homogeneous_eigvals=True)
    # a massless unknown gives eigenvalues at infinity, whose beta is round-off
    finite = np.abs(beta) > 1e-13 * np.abs(alpha)
    values, vectors = alpha[finite] / beta[finite], vectors[:n, finite]
    upper = values.imag >= -1e-9 * np.maximum(np.abs(values), 1e-12)
    return values[upper], vectors[:, upper]
