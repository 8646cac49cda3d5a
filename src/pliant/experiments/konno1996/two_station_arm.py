"""Small vibrations of an arm of two massless beams and two point masses, joints clamped [konno1996].

A beam of length ``inner_length`` is clamped at its root; at its tip, the elbow, sits a mass and, turned by the elbow
angle q, a second beam with a mass at its tip. The plane of the arm separates two pairs of unknowns:

    in the plane       elbow displacement across the inner beam, tip displacement across the outer beam,
    across the plane   displacements of elbow and tip along the normal of the plane.

With the flexibility F of statics the stiffness is F^-1. Lengths in m, stiffnesses in N m^2, masses in kg.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TwoStationArm:
    """``inner_torsion`` is G J of the inner beam; infinity makes it rigid in torsion."""

    inner_length: float
    outer_length: float
    inner_bending: float
    outer_bending: float
    elbow_mass: float
    tip_mass: float
    inner_torsion: float = np.inf

    def in_plane(self, elbow: float) -> tuple[Array, Array]:
        """Flexibility F (2, 2) in m/N and mass matrix in kg at an elbow angle in radians."""
        c, s = np.cos(elbow), np.sin(elbow)
        bend, turn, moment = self._inner()
        own = self.outer_length**3 / (3.0 * self.outer_bending)
        F12 = c * bend + self.outer_length * turn
        F22 = c**2 * bend + 2.0 * c * self.outer_length * turn + self.outer_length**2 * moment + own
        # the elbow takes the tip mass along the outer beam, where that does not yield
        M = np.diag([self.elbow_mass + self.tip_mass * s**2, self.tip_mass])
        return np.array([[bend, F12], [F12, F22]]), M

    def out_of_plane(self, elbow: float) -> tuple[Array, Array]:
        """The same for motions along the normal of the plane of the arm."""
        along, aside = self.outer_length * np.cos(elbow), self.outer_length * np.sin(elbow)
        bend, turn, moment = self._inner()
        own = self.outer_length**3 / (3.0 * self.outer_bending)
        F12 = bend + along * turn
        F22 = bend + 2.0 * along * turn + along**2 * moment + own
        F22 += aside**2 * self.inner_length / self.inner_torsion
        return np.array([[bend, F12], [F12, F22]]), np.diag([self.elbow_mass, self.tip_mass])

    def _inner(self) -> tuple[float, float, float]:
        """Of the inner beam's tip: displacement per force, turn per force, turn per moment."""
        length, bending = self.inner_length, self.inner_bending
        return length**3 / (3.0 * bending), length**2 / (2.0 * bending), length / bending


def frequencies(flexibility: Array, mass: Array) -> Array:
    """Natural frequencies in hertz, ascending, of flexibility and diagonal mass matrix."""
    scale = np.sqrt(mass.diagonal())
    squared = 1.0 / np.linalg.eigvalsh(scale[:, None] * flexibility * scale)
    return np.asarray(np.sqrt(squared[::-1]) / (2.0 * np.pi))
