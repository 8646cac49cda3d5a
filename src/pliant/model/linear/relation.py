"""A port-Hamiltonian system as one relation between efforts and inputs, and rates and outputs.

    (-E x', y) = (G + W) (e, u),   e = Q x,   G = [[-J, -B], [B^T, skew D]],   W = [[R, P], [P^T, sym D]]

G turns power over, W takes it away. Variables that power-preserving equations tie to others can be replaced,
(e, u) = F z, without touching the structure: W becomes F^T W F, and what is left of G stays skew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.model.layout import Array
from pliant.model.linear.port import LinearPort
from pliant.model.linear.port_hamiltonian import LinearPortHamiltonian

SQUARED_ROUND_OFF = 1e-28  # part of the largest loss that can only be what is left of a zero


@dataclass(frozen=True, eq=False)
class Relation:
    """The skew part ``turning`` and the symmetric part ``losses`` of the map from (e, u) to (-E x', y)."""

    turning: Array
    losses: Array

    @property
    def whole(self) -> Array:
        return self.turning + self.losses

    def losses_through(self, back: Array) -> Array:
        """back^T W back: the losses of variables z with (e, u) = back z.

        Semidefinite to round-off of the result, however large ``back`` is: it is formed from a factor of W.
        """
        lost = np.abs(np.diag(self.losses))
        real = lost > SQUARED_ROUND_OFF * lost.max(initial=0.0)
        size = np.sqrt(np.where(real, lost, 1.0))
        values, vectors = np.linalg.eigh(
            np.where(np.outer(real, real), self.losses, 0.0) / np.outer(size, size)
        )
        # round-off in place of a zero eigenvalue would be magnified, with either sign
        values[np.abs(values) <= len(values) * np.finfo(float).eps * np.abs(values).max(initial=0.0)] = 0.0
        factor = (vectors * np.sqrt(np.abs(values))).T @ (size[:, None] * back)
        return symmetric_part(factor.T @ (np.sign(values)[:, None] * factor))

    def system(
        self, E: Array, Q: Array, ports: tuple[LinearPort, ...], states: tuple[str, ...]
    ) -> LinearPortHamiltonian:
        """The system with this relation; its states come first, its inputs last."""
        n = len(states)
        return LinearPortHamiltonian(
            E=E,
            J=-self.turning[:n, :n],
            R=self.losses[:n, :n],
            Q=Q,
            B=self.turning[n:, :n].T,
            P=self.losses[n:, :n].T,
            D=self.turning[n:, n:] + self.losses[n:, n:],
            ports=ports,
            states=states,
        )


def relation_of(system: LinearPortHamiltonian) -> Relation:
    """Of any system; what is not skew in J is a loss."""
    flow = system.R - system.J
    whole = np.block([[flow, system.P - system.B], [system.P.T + system.B.T, system.D]])
    return Relation(skew_part(whole), symmetric_part(whole))


def skew_part(matrix: Array) -> Array:
    return 0.5 * (matrix - matrix.T)


def symmetric_part(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.T)
