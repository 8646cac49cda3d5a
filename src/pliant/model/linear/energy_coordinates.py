"""Coordinates z = L^T x in which the energy x^T Q x / 2 is |z|^2 / 2, and states without energy are gone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model.layout import Array

NO_ENERGY = 1e-13  # part of the largest eigenvalue of Q, scaled to a unit diagonal, that counts as zero


@dataclass(frozen=True, eq=False)
class EnergyCoordinates:
    """``L`` (states, coordinates) with Q = L L^T, and ``back`` with L^T back = I: states of given coordinates."""

    L: Array
    back: Array


def energy_coordinates(Q: Array) -> EnergyCoordinates | None:
    """Of a semidefinite Q; None where Q is not."""
    size = np.sqrt(np.abs(np.diag(Q)))
    size[size == 0.0] = 1.0
    energies, vectors = np.linalg.eigh(Q / np.outer(size, size))
    least = NO_ENERGY * len(Q) * energies.max(initial=0.0)
    if energies.min(initial=0.0) < -least:
        return None
    some = energies > least
    root = np.sqrt(energies[some])
    return EnergyCoordinates(size[:, None] * vectors[:, some] * root, vectors[:, some] / root / size[:, None])
