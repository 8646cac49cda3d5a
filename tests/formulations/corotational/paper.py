"""The element of [damic2006] as printed, equation by equation, in plain NumPy: what ours is compared with.

The two ends of an element are poses (x, R) in the world; unit vectors l, m, n of a section are the columns of R.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.spatial.arrays import hat

Array = NDArray[np.float64]


def rotation_vector(R: Array) -> Array:
    """Of a rotation below half a turn."""
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    sine = float(np.linalg.norm(s))
    return s if sine == 0.0 else np.arctan2(sine, 0.5 * (np.trace(R) - 1.0)) / sine * s


def rates(theta: Array) -> Array:
    """(9) with (10)."""
    half = 0.5 * float(np.linalg.norm(theta))
    factor = 1.0 / 3.0 if half < 1e-6 else (1.0 - half / np.tan(half)) / half**2
    T = hat(theta)
    return np.asarray(np.eye(3) - 0.5 * T + 0.25 * factor * T @ T)


@dataclass(frozen=True)
class Element:
    """A deformed element of undeformed length ``length``; ``stiffness`` is (EA, GIx, EIy, EIz)."""

    first: tuple[Array, Array]
    second: tuple[Array, Array]
    length: float
    stiffness: tuple[float, float, float, float]

    @property
    def chord(self) -> float:
        return float(np.linalg.norm(self.second[0] - self.first[0]))

    @property
    def frame(self) -> Array:
        """(i j k) of Section 2.1: i along the chord, k across m of the first section."""
        i = (self.second[0] - self.first[0]) / self.chord
        k = np.cross(i, self.first[1][:, 1])
        k = k / np.linalg.norm(k)
        return np.column_stack([i, np.cross(k, i), k])

    @property
    def turns(self) -> tuple[Array, Array]:
        """Rotation vectors of both sections in the co-rotated frame."""
        return rotation_vector(self.frame.T @ self.first[1]), rotation_vector(self.frame.T @ self.second[1])

    @property
    def energy(self) -> float:
        """(12)."""
        EA, GI, EIy, EIz = self.stiffness
        (x1, y1, z1), (x2, y2, z2) = self.turns
        bending = EIy * (y1 * y1 + y2 * y2 + y1 * y2) + EIz * (z1 * z1 + z2 * z2 + z1 * z2)
        stretch = self.chord - self.length
        return float((0.5 * EA * stretch**2 + 0.5 * GI * (x2 - x1) ** 2 + 2.0 * bending) / self.length)

    @property
    def efforts(self) -> tuple[Array, Array]:
        """Force and torque on both nodes in the world: (13), then (8) and (4), (5) transposed."""
        EA, GI, EIy, EIz = self.stiffness
        first, second = self.turns
        (x1, y1, z1), (x2, y2, z2) = first, second
        L, l = self.length, self.chord
        twist = GI / L * (x2 - x1)
        T1 = np.array([-twist, 2.0 * EIy / L * (2.0 * y1 + y2), 2.0 * EIz / L * (2.0 * z1 + z2)])
        T2 = np.array([twist, 2.0 * EIy / L * (y1 + 2.0 * y2), 2.0 * EIz / L * (z1 + 2.0 * z2)])
        pull = EA / L * (l - L)
        on_first, on_second = rates(first).T @ T1, np.append(pull, rates(second).T @ T2)
        m = self.frame.T @ self.first[1][:, 1]
        e = m[0] / m[1]
        J11 = np.array([[0, 0, -e / l, 0, e, 0], [0, 0, -1 / l, 0, 1, 0], [0, 1 / l, 0, 0, 0, 1]])
        J12 = np.array([[0, 0, e / l, 0, 0, 0], [0, 0, 1 / l, 0, 0, 0], [0, -1 / l, 0, 0, 0, 0]])
        J21 = np.array([[-1, 0, 0, 0, 0, 0], [0, 0, -e / l, -1, e, 0], [0, 0, -1 / l, 0, 0, 0], [0, 1 / l, 0, 0, 0, 0]])
        J22 = np.array([[1, 0, 0, 0, 0, 0], [0, 0, e / l, 1, 0, 0], [0, 0, 1 / l, 0, 1, 0], [0, -1 / l, 0, 0, 0, 1]])
        to_world = np.kron(np.eye(2), self.frame)
        return to_world @ (J11.T @ on_first + J21.T @ on_second), to_world @ (J12.T @ on_first + J22.T @ on_second)


def kinetic_energy(ends: list[tuple[Array, Array, Array, Array]], length: float, inertia: Array) -> float:
    """(16)-(18) with c = l/3, l/6; an end is (x, R, velocity, spin) in the world, ``inertia`` rho times (A, Iz, Iy)."""
    flows = []
    for _, R, v, omega in ends:
        flows.append(np.concatenate([v, np.cross(omega, R[:, 1]), np.cross(omega, R[:, 2])]))
    M = np.kron(np.diag(inertia), np.eye(3))
    share = length * np.array([[1 / 3, 1 / 6], [1 / 6, 1 / 3]])
    return float(0.5 * sum(share[i, j] * flows[i] @ M @ flows[j] for i in range(2) for j in range(2)))
