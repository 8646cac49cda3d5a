"""Poles of x' = (J - R) Q x that know their structure.

With Q = L L^T the poles are zero once for each direction without energy, and otherwise the eigenvalues of
S = L^T (J - R) L. Since the symmetric part of S is semidefinite, S z = 0 means S^T z = 0: what rests under no force
splits off by an orthogonal projection. So a free arm has its poles at zero exactly, and a lossless one no real parts.
"""

from __future__ import annotations

import numpy as np

from pliant.model.layout import Array
from pliant.model.linear.energy_coordinates import energy_coordinates
from pliant.model.linear.matrices import Complex

AT_REST = 1e-14  # part of the fastest rate, times the number of states, that counts as zero


def structured_poles(flow: Array, Q: Array) -> Complex | None:
    """The poles of x' = flow Q x in the order of rising magnitude; None where the structure does not hold."""
    coordinates = energy_coordinates(Q)
    if coordinates is None:
        return None
    S = coordinates.L.T @ flow @ coordinates.L
    losses, turning = -0.5 * (S + S.T), 0.5 * (S - S.T)
    _, rates, right = np.linalg.svd(S)
    slowest = AT_REST * len(S) * rates.max(initial=0.0)
    lost = np.linalg.eigvalsh(losses)
    if lost.min(initial=0.0) < -slowest:
        return None
    moving = int(np.sum(rates > slowest))
    if lost.max(initial=0.0) <= slowest:
        rates = np.linalg.svd(turning, compute_uv=False)
        moving -= moving % 2  # the rates of a skew matrix come in pairs
        speeds = 0.5 * (rates[:moving:2] + rates[1:moving:2])
        values = np.concatenate([1j * speeds, -1j * speeds])
    else:
        keep = right[:moving]
        values = np.linalg.eigvals(keep @ S @ keep.T).astype(complex)
    values = np.concatenate([np.zeros(len(Q) - len(values), complex), values])
    return np.asarray(values[np.argsort(np.abs(values), kind="stable")])
