"""Vibration modes about an equilibrium."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.layout import Array
from pliant.simulation.simulate import checked_state, consistent_start


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes in the order of rising magnitude of their eigenvalues.

    ``eigenvalue`` (n,) in 1/s, one of each conjugate pair; ``frequency`` |Im| / 2 pi in hertz; ``damping_ratio``
    -Re / |eigenvalue|; ``shape`` (n, nodes, 6) body displacements of the nodes, largest component 1.
    """

    eigenvalue: NDArray[np.complex128]
    frequency: Array
    damping_ratio: Array
    shape: NDArray[np.complex128]


def modes(model: Model, state: Array | None = None, count: int = 10) -> Modes:
    """The ``count`` slowest modes of small motions about ``state``, an equilibrium at rest.

    By default the undeformed arm at its initial joint positions. Prescribed joints are held; feedback
    stiffness and damping of joints count. Inputs are those of time 0.
    """
    from scipy.linalg import eig

    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes wanted")
    at = consistent_start(model) if state is None else checked_state(model, state)
    small = model.small_motions(at, model.inputs)
    n = len(small.M)
    identity, zero = np.eye(n), np.zeros((n, n))
    right = np.block([[zero, identity], [-small.K, -small.D]])
    left = np.block([[identity, zero], [zero, small.M]])
    pairs, vectors = eig(right, left, homogeneous_eigvals=True)
    alpha, beta = pairs
    # a massless unknown gives eigenvalues at infinity, whose beta is round-off
    finite = np.abs(beta) > 1e-13 * np.abs(alpha)
    values, vectors = alpha[finite] / beta[finite], vectors[:, finite]
    keep = values.imag >= -1e-9 * np.maximum(np.abs(values), 1e-12)
    values, vectors = values[keep], vectors[:, keep]
    order = np.argsort(np.abs(values))[:count]
    values, vectors = values[order], vectors[:n, order]
    shape = np.einsum("acj,jk->kac", small.to_twist, vectors)
    largest = np.abs(shape).reshape(len(values), -1).argmax(axis=1)
    shape = shape / shape.reshape(len(values), -1)[np.arange(len(values)), largest][:, None, None]
    ratio = -values.real / np.maximum(np.abs(values), 1e-300)
    return Modes(values, np.abs(values.imag) / (2 * np.pi), ratio, shape)
