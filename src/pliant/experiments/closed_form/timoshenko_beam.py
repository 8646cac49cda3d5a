"""A uniform Timoshenko beam, and what holds or loads its two ends.

Every end is described at one *point*, which an offset may place beyond the beam: on the axis of a hub, or in the
centre of mass of a body. With its deflection y and the rotation psi that it shares with the beam, the end of
the beam deflects by w = y + offset psi at the root and w = y - offset psi at the tip.

Every motion exp(s t) of a uniform Timoshenko beam [timoshenko1921], exact and free of overflow.

Deflection w, section rotation psi, shear force Q and bending moment M, after the Laplace transform in time:

    w' = psi + Q / GA      psi' = M / EI      Q' = rhoA s^2 w      M' = -Q + rhoI s^2 psi

In units of the beam (length L, force EI/L^2, moment EI/L) three numbers are left: S = rhoA s^2 L^4 / EI, the shear
flexibility e = EI / (GA L^2) and the rotary inertia n = rhoI / (rhoA L^2). A wave psi ~ exp(k z) has r = k^2 with

    r^2 - (e + n) S r + S (1 + e n S) = 0      p = r - e S      w = psi' / p      Q = S psi / p

What could go wrong is avoided by the choice of the four columns:
* growing waves overflow and drown the rest: waves that change by more than a factor e are written as decaying from
  the end at which they are largest;
* at the cut-off one r passes zero and its two waves fall together: slow waves are written as cosh and sinh / k about
  the middle, which pass through;
* at low frequency all four waves fall together: then the columns are the power series of the state transition;
* differences of nearly equal numbers: the smaller root of each quadratic comes from the product of both.

The ends of a beam as equations: conditions on its waves, and the stiffness that free coordinates meet.
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass
from enum import Enum
from math import inf, isfinite, pi, sqrt

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class TimoshenkoBeam:
    """A uniform beam bending in one plane: metre, kg/m, kg m, N m^2, N.

    Without rotary inertia and with an infinite shear stiffness it is the beam of Euler and Bernoulli.
    """

    length: float
    mass_per_length: float
    rotary_inertia_per_length: float
    bending_stiffness: float
    shear_stiffness: float

    def __post_init__(self) -> None:
        for name in ("length", "mass_per_length", "bending_stiffness"):
            value = getattr(self, name)
            if not (isfinite(value) and value > 0.0):
                raise ValueError(f"{name} of a beam is {value}, must be finite and positive")
        if not (isfinite(self.rotary_inertia_per_length) and self.rotary_inertia_per_length >= 0.0):
            value = self.rotary_inertia_per_length
            raise ValueError(f"rotary_inertia_per_length of a beam is {value} kg m, must be finite and not negative")
        if not self.shear_stiffness > 0.0:
            raise ValueError(f"shear_stiffness of a beam is {self.shear_stiffness} N, must be positive or infinite")

    @property
    def cut_off(self) -> float:
        """The frequency in hertz above which both kinds of waves travel; infinite without shear or rotary inertia."""
        if self.rotary_inertia_per_length == 0.0 or self.shear_stiffness == inf:
            return inf
        return sqrt(self.shear_stiffness / self.rotary_inertia_per_length) / (2.0 * pi)

    @property
    def mass(self) -> float:
        return self.mass_per_length * self.length


class Motion(Enum):
    """Whether the surroundings decide where a point goes, or which effort acts on it."""

    HELD = "held"
    FREE = "free"


@dataclass(frozen=True)
class BeamEnd:
    """What an end meets: each of deflection and rotation held or free, and bodies, springs and dampers to ground.

    Units: metre, kg, kg m^2, N/m, N m/rad, N s/m, N m s/rad. What sits on a held coordinate only adds to its reaction.
    """

    deflection: Motion
    rotation: Motion
    offset: float = 0.0
    mass: float = 0.0
    inertia: float = 0.0
    spring: float = 0.0
    torsion_spring: float = 0.0
    damper: float = 0.0
    torsion_damper: float = 0.0

    def __post_init__(self) -> None:
        if not isfinite(self.offset):
            raise ValueError(f"offset of a beam end is {self.offset} m, must be finite")
        for name in ("mass", "inertia", "spring", "torsion_spring", "damper", "torsion_damper"):
            value = getattr(self, name)
            if not (isfinite(value) and value >= 0.0):
                raise ValueError(f"{name} of a beam end is {value}, must be finite and not negative")

    @property
    def is_damped(self) -> bool:
        loose = (self.damper, self.deflection), (self.torsion_damper, self.rotation)
        return any(damper > 0.0 and motion is Motion.FREE for damper, motion in loose)


CLAMPED = BeamEnd(Motion.HELD, Motion.HELD)
PINNED = BeamEnd(Motion.HELD, Motion.FREE)
GUIDED = BeamEnd(Motion.FREE, Motion.HELD)
FREE = BeamEnd(Motion.FREE, Motion.FREE)


def hub(inertia: float, radius: float = 0.0, torsion_spring: float = 0.0, torsion_damper: float = 0.0) -> BeamEnd:
    """A rigid hub that turns about a fixed axis, the beam clamped to its rim: inertia about the axis."""
    return BeamEnd(
        Motion.HELD, Motion.FREE, radius, inertia=inertia, torsion_spring=torsion_spring, torsion_damper=torsion_damper
    )


def body(mass: float, inertia: float = 0.0, offset: float = 0.0) -> BeamEnd:
    """A rigid body at an otherwise free end: inertia about its centre of mass, which lies offset beyond the end."""
    return BeamEnd(Motion.FREE, Motion.FREE, offset, mass, inertia)


Array = NDArray[np.float64]
ComplexArray = NDArray[np.complex128]

W, PSI, Q, M = range(4)
SLOW = 2.5  # largest |k| L for which the power series serves
TERMS = 40  # 2.5^40 / 40! = 1e-32
STEEP = 1.0  # smallest decay Re(k) L that is written from the ends


class Waves:
    """Four independent motions exp(s t) of a beam, as columns of the state (w, psi, Q, M) in units of the beam.

    On the imaginary axis of s the columns keep one orientation, however they are chosen: the determinant of the states
    is positive, so that determinants of end conditions change sign at their roots only.
    """

    def __init__(self, beam: TimoshenkoBeam, s: complex) -> None:
        self.s = s
        self.S = complex(beam.mass_per_length * s * s * beam.length**4 / beam.bending_stiffness)
        self.flexibility = beam.bending_stiffness / (beam.shear_stiffness * beam.length**2)
        self.inertia = beam.rotary_inertia_per_length / (beam.mass_per_length * beam.length**2)
        self.r, self.p = _wave_numbers(self.S, self.flexibility, self.inertia)
        self.fastest = max(abs(cmath.sqrt(r)) for r in self.r)
        self._series = self._power_series() if self.fastest <= SLOW else None

    def states(self, z: Array) -> ComplexArray:
        """States (n, 4, 4) of the four columns at stations z in [0, 1]."""
        z = np.asarray(z, float)
        if self._series is not None:
            powers = z[:, None] ** np.arange(TERMS)
            return np.asarray(np.tensordot(powers, self._series, axes=1))
        columns, p = np.empty((len(z), 4, 4), complex), np.array([self.p[0], self.p[0], self.p[1], self.p[1]])
        _set_pair(self.r[0], z, columns[:, PSI, :2], columns[:, M, :2])
        _set_pair(self.r[1], z, columns[:, PSI, :1:-1], columns[:, M, :1:-1])
        columns[:, W] = columns[:, M] / p
        columns[:, Q] = (self.S / p) * columns[:, PSI]
        return columns

    def dynamic_stiffness(self) -> Array:
        """Forces on both ends for their motions (w, psi at the root, w, psi at the tip), for imaginary s."""
        root, tip = self.states(np.array([0.0, 1.0])).real
        motions = np.vstack([root[:2], tip[:2]])
        efforts = np.vstack([-root[2:], tip[2:]])
        stiffness = np.linalg.solve(motions.T, efforts.T).T
        return np.asarray(0.5 * (stiffness + stiffness.T))

    def pinned_count(self) -> int:
        """How many frequencies lie below that of s if both ends are pinned: half waves that fit, on both branches.

        The faster branch begins at the cut-off with a rotation that is the same everywhere.
        """
        slow, fast = (r.real for r in self.r)
        count = int(np.sqrt(max(-fast, 0.0)) / pi)
        return count + (int(np.sqrt(-slow) / pi) + 1 if slow < 0.0 else 0)

    def _power_series(self) -> ComplexArray:
        rate = np.zeros((4, 4), complex)
        rate[W, PSI], rate[W, Q] = 1.0, self.flexibility
        rate[PSI, M] = 1.0
        rate[Q, W] = self.S
        rate[M, Q], rate[M, PSI] = -1.0, self.inertia * self.S
        terms = np.empty((TERMS, 4, 4), complex)
        terms[0] = np.eye(4)
        for k in range(1, TERMS):
            terms[k] = rate @ terms[k - 1] / k
        return terms


def _wave_numbers(
    S: complex, flexibility: float, inertia: float
) -> tuple[tuple[complex, complex], tuple[complex, complex]]:
    """Both r = k^2 and both p; the second pair travels at every imaginary s, the first above the cut-off."""
    half = 0.5 * S * (inertia - flexibility)
    root = cmath.sqrt(half * half - S)
    if (half.conjugate() * root).real < 0.0:
        root = -root
    large = half + root
    both = (large, S / large) if large != 0.0 else (0j, 0j)
    ones = [(p + flexibility * S, p) for p in both]
    # The smaller r from the product of both: at the cut-off its own terms cancel.
    larger, smaller = sorted(ones, key=lambda one: -abs(one[0]))
    r_smaller = S * (1.0 + flexibility * inertia * S) / larger[0] if larger[0] != 0.0 else 0j
    slow, fast = sorted((larger, (r_smaller, smaller[1])), key=lambda one: -one[0].real)
    return (slow[0], fast[0]), (slow[1], fast[1])


def _set_pair(r: complex, z: Array, psi: ComplexArray, slope: ComplexArray) -> None:
    """The rotations (n, 2) of the two waves with k^2 = r, and their slopes."""
    k = cmath.sqrt(r)
    if k.real > STEEP:
        psi[:, 0], psi[:, 1] = np.exp(-k * z), np.exp(-k * (1.0 - z))
        slope[:, 0], slope[:, 1] = -k * psi[:, 0], k * psi[:, 1]
        return
    middle = k * (z - 0.5)
    psi[:, 0] = slope[:, 1] = np.cosh(middle)
    psi[:, 1] = np.sinh(middle) / k if k != 0.0 else z - 0.5
    slope[:, 0] = r * psi[:, 1]


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
        along = [(end.mass * s * s + end.damper * s + end.spring) * L**3 / EI for end in (self.root, self.tip)]
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
        whole = self.from_points.T @ dynamic_stiffness @ self.from_points + np.diag(self.impedance(waves.s).real)
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
        density = beam.mass_per_length * field[0] * other[0] + beam.rotary_inertia_per_length * field[1] * other[1]
        total = float(weights @ density)
        for end, at, arm in ((self.root, 0, -self.root.offset), (self.tip, -1, self.tip.offset)):
            point, other_point = (each[0, at] + arm * each[1, at] for each in (field, other))
            total += float(end.mass * point * other_point + end.inertia * field[1, at] * other[1, at])
        return total
