"""The ends of a beam as equations: conditions on its waves, and the stiffness that free coordinates meet."""

from __future__ import annotations

from math import sqrt

import numpy as np

from pliant.mechanics.closed_form.beam_waves import Array, ComplexArray, Waves
from pliant.mechanics.closed_form.timoshenko_beam import BeamEnd, Motion, TimoshenkoBeam


class Ends:
    """A beam between two ends, in units of the beam.

    Coordinates of the points of both ends: deflection and rotation at the root, deflection and rotation at the tip.
    """

    def __init__(self, beam: TimoshenkoBeam, root: BeamEnd, tip: BeamEnd) -> None:
        self.beam, self.root, self.tip = beam, root, tip
        self.frequency_unit = sqrt(beam.bending_stiffness / beam.mass_per_length) / beam.length**2
        motions = (root.deflection, root.rotation, tip.deflection, tip.rotation)
        self.free = np.array([motion is Motion.FREE for motion in motions])
        # motions of the beam's ends from the coordinates of their points
        self.from_points = np.eye(4)
        self.from_points[0, 1] = root.offset / beam.length
        self.from_points[2, 3] = -tip.offset / beam.length
        self.to_points = 2.0 * np.eye(4) - self.from_points  # the same with offsets turned around
        force, moment = beam.bending_stiffness / beam.length**2, beam.bending_stiffness / beam.length
        self.state_units = np.array([beam.length, 1.0, force, moment])  # of w, psi, Q, M

    def impedance(self, s: complex) -> ComplexArray:
        """Effort per coordinate, in units of the beam, that moves what sits at the four coordinates of the points."""
        EI, L = self.beam.bending_stiffness, self.beam.length
        along = [
            (end.mass * s * s + end.damper * s + end.spring) * L**3 / EI for end in (self.root, self.tip)
        ]
        about = [
            (end.inertia * s * s + end.torsion_damper * s + end.torsion_spring) * L / EI
            for end in (self.root, self.tip)
        ]
        return np.array([along[0], about[0], along[1], about[1]], complex)

    def coordinates_and_efforts(self, waves: Waves) -> tuple[ComplexArray, ComplexArray]:
        """What each wave does at the points: their coordinates, and the efforts that the surroundings exert on them."""
        root, tip = waves.states(np.array([0.0, 1.0]))
        coordinates = self.to_points @ np.vstack([root[:2], tip[:2]])
        on_the_beam = np.vstack([-root[2:], tip[2:]])
        efforts = self.from_points.T @ on_the_beam + self.impedance(waves.s)[:, None] * coordinates
        return coordinates, efforts

    def conditions(self, waves: Waves) -> ComplexArray:
        """Rows that vanish for a free vibration: held coordinates, and efforts on free ones."""
        coordinates, efforts = self.coordinates_and_efforts(waves)
        return np.where(self.free[:, None], efforts, coordinates)

    def free_stiffness(self, dynamic_stiffness: Array, waves: Waves) -> Array:
        """Effort per free coordinate of the whole, for imaginary s."""
        whole = self.from_points.T @ dynamic_stiffness @ self.from_points + np.diag(
            self.impedance(waves.s).real
        )
        return np.asarray(whole[np.ix_(self.free, self.free)])

    def shares(self, waves: Waves, which: int = 0) -> Array:
        """How much of each wave a free vibration at a root has; ``which`` counts modes of the same frequency."""
        # Waves are compared by their states, not by what is left of them in the conditions: that may be round-off.
        k = max(waves.fastest, 1.0)
        states = waves.states(np.array([0.0, 0.5, 1.0])).real * np.array([k, 1.0, k**-2, 1.0 / k])[:, None]
        sizes = np.max(np.abs(states), axis=(0, 1))
        conditions = self.conditions(waves).real / sizes
        conditions = conditions / np.max(np.abs(conditions), axis=1, keepdims=True)
        return np.asarray(np.linalg.svd(conditions)[2][-1 - which] / sizes)

    def rigid_motions(self) -> Array:
        """Independent pairs of deflection and rotation of the root, in units of the beam, that strain nothing."""
        of_points = self.to_points @ np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
        springs = (self.root.spring, self.root.torsion_spring, self.tip.spring, self.tip.torsion_spring)
        stopped = of_points[~self.free | (np.array(springs) > 0.0)]
        if len(stopped) == 0:
            return np.eye(2)
        stopped = stopped / np.linalg.norm(stopped, axis=1, keepdims=True)
        _, strengths, directions = np.linalg.svd(stopped)
        return np.asarray(directions[np.sum(strengths > 1e-12) :])

    def field(self, waves: Waves, shares: Array | ComplexArray, station: Array | float) -> ComplexArray:
        """w, psi, Q, M at distances from the root in metre, each in its SI unit."""
        where = np.asarray(station, float)
        states = waves.states(where.ravel() / self.beam.length) @ shares
        return np.asarray((states * self.state_units).T.reshape(4, *where.shape))

    def modal_product(self, field: Array, other: Array, weights: Array) -> float:
        """Twice the mixed kinetic energy of two shapes, listed with both ends first and last, per squared frequency."""
        beam = self.beam
        density = (
            beam.mass_per_length * field[0] * other[0] + beam.rotary_inertia_per_length * field[1] * other[1]
        )
        total = float(weights @ density)
        for end, at, arm in ((self.root, 0, -self.root.offset), (self.tip, -1, self.tip.offset)):
            point, other_point = (each[0, at] + arm * each[1, at] for each in (field, other))
            total += float(end.mass * point * other_point + end.inertia * field[1, at] * other[1, at])
        return total
