"""Natural frequencies and mode shapes of a uniform Timoshenko beam between any two ends.

How many frequencies lie below a given one follows from the dynamic stiffness alone [wittrick1971]: as many as the
beam has with both ends clamped, plus the negative eigenvalues of the stiffness that the free coordinates of the
ends meet. With pinned ends the count is known in closed form, and the same rule turned around gives it for clamped
ends. So every root is first caught between two frequencies, none can be missed, and then found by its change of sign.

Poles of a uniform Timoshenko beam whose root turns under a spring and a damper.

Located by a Legendre-Galerkin model, then polished on the exact end conditions.

Transfer functions of a uniform Timoshenko beam between any two ends, exact at every complex s.

At the point of each end, deflection and rotation are two ports. Where the end holds a coordinate its rate can be
imposed and the effort is the answer; where it leaves it free the effort can be imposed and the rate is the answer.
Efforts are those that the surroundings exert on the point, rates those of the point, so that effort times rate is the
power that enters there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import pi, sqrt

import numpy as np
from numpy.polynomial import legendre
from scipy.optimize import brentq

from pliant.experiments.closed_form.timoshenko_beam import (
    CLAMPED,
    FREE,
    Array,
    BeamEnd,
    ComplexArray,
    Ends,
    Motion,
    TimoshenkoBeam,
    Waves,
)

SLOWEST = 3e-6  # lowest frequency sought, in units of the beam: below, round-off would decide the count
ONE_ROOT = 1e-13  # roots closer than this, relatively, are one root of several modes
PANEL = legendre.leggauss(8)


@dataclass(frozen=True, eq=False)
class BeamMode:
    """A motion cos(2 pi frequency t) times its shape, whose kinetic energy is (2 pi frequency)^2 / 2 at most.

    That is: the integral of rhoA w^2 + rhoI psi^2 plus what bodies at the ends add is one. The first of w(L), psi(L),
    M(L) that does not vanish is positive. Frequency in hertz, zero for a rigid motion.
    """

    frequency: float
    _ends: Ends
    _waves: Waves
    _shares: Array

    @property
    def angular_frequency(self) -> float:
        return 2.0 * pi * self.frequency

    def deflection(self, station: Array | float) -> Array:
        """w at distances from the root in metre."""
        return np.asarray(self._at(station)[0])

    def rotation(self, station: Array | float) -> Array:
        """Rotation psi of the section."""
        return np.asarray(self._at(station)[1])

    def shear_force(self, station: Array | float) -> Array:
        """Q = GA (w' - psi)."""
        return np.asarray(self._at(station)[2])

    def bending_moment(self, station: Array | float) -> Array:
        """M = EI psi'."""
        return np.asarray(self._at(station)[3])

    def _at(self, station: Array | float) -> Array:
        return self._ends.field(self._waves, self._shares, station).real


def natural_frequencies(beam: TimoshenkoBeam, count: int, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE) -> Array:
    """The lowest frequencies in hertz, without the zeros of rigid motions."""
    return _Roots(Ends(beam, root, tip)).lowest(count) / (2.0 * pi)


def natural_modes(
    beam: TimoshenkoBeam, count: int, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE
) -> tuple[BeamMode, ...]:
    """The lowest modes, without rigid motions."""
    ends = Ends(beam, root, tip)
    omegas = _Roots(ends).lowest(count)
    modes: list[BeamMode] = []
    for k, omega in enumerate(omegas):
        first = k
        while first > 0 and omegas[first - 1] >= omega * (1.0 - 2.0 * ONE_ROOT):
            first -= 1
        waves = Waves(beam, 1j * omega)
        modes.append(_normalised(ends, waves, ends.shares(waves, k - first), modes[first:k], omega))
    return tuple(modes)


def rigid_motions(beam: TimoshenkoBeam, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE) -> tuple[BeamMode, ...]:
    """The motions without strain that the ends permit: at most a translation and a turn."""
    ends = Ends(beam, root, tip)
    still = Waves(beam, 0j)
    modes: list[BeamMode] = []
    for motion in ends.rigid_motions():
        # at zero frequency the columns of the waves are the state at the root
        shares = np.concatenate([motion, [0.0, 0.0]])
        modes.append(_normalised(ends, still, shares, modes, 0.0))
    return tuple(modes)


def modes_below(beam: TimoshenkoBeam, frequency: float, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE) -> int:
    """How many modes, rigid motions included, have a frequency below the given one in hertz."""
    return _Roots(Ends(beam, root, tip)).count(2.0 * pi * frequency)


class _Roots:
    """Circular frequencies of undamped vibrations."""

    def __init__(self, ends: Ends) -> None:
        for name, end in (("root", ends.root), ("tip", ends.tip)):
            if end.is_damped:
                raise ValueError(
                    f"the {name} of the beam has a damper; natural frequencies are those without: set it to zero"
                )
        self.ends = ends
        self.rigid = len(ends.rigid_motions())

    def count(self, omega: float) -> int:
        waves = Waves(self.ends.beam, 1j * omega)
        stiffness = waves.dynamic_stiffness()
        clamped = waves.pinned_count() - _negative(stiffness[1::2, 1::2])
        return clamped + _negative(self.ends.free_stiffness(stiffness, waves))

    def lowest(self, count: int) -> Array:
        unit = self.ends.frequency_unit
        low, high = SLOWEST * unit, unit
        if count > 0 and self.count(low) != self.rigid:
            raise ValueError(
                f"bodies at the ends are so heavy, or springs so soft, that the beam vibrates below {low:.3g} rad/s,"
                " where round-off decides; leave the beam out of such a model"
            )
        while (above := self.count(high)) < self.rigid + count:
            low, high = high, 2.0 * high
        found: list[float] = []
        self._collect(SLOWEST * unit, self.rigid, high, above, found, count)
        return np.array(found[:count])

    def _collect(self, low: float, below: int, high: float, above: int, found: list[float], wanted: int) -> None:
        """Append all roots between low and high in rising order, and stop when enough are found."""
        if above <= below or len(found) >= wanted:
            return
        if above == below + 1 and (root := self._between(low, high)) is not None:
            found.append(root)
            return
        if high - low <= ONE_ROOT * high:
            found.extend([0.5 * (low + high)] * (above - below))
            return
        middle = sqrt(low * high) if high > 4.0 * low else 0.5 * (low + high)
        between = min(max(self.count(middle), below), above)
        self._collect(low, below, middle, between, found, wanted)
        self._collect(middle, between, high, above, found, wanted)

    def _between(self, low: float, high: float) -> float | None:
        """The single root between two frequencies; nothing if round-off hides its change of sign."""
        at_low, at_high = self._determinant(low), self._determinant(high)
        if at_low * at_high >= 0.0:
            return None
        return float(brentq(self._determinant, low, high, xtol=1e-300, rtol=4.0 * np.finfo(float).eps))

    def _determinant(self, omega: float) -> float:
        waves = Waves(self.ends.beam, 1j * omega)
        return float(np.linalg.det(self.ends.conditions(waves)).real)


def _negative(symmetric: Array) -> int:
    return int(np.sum(np.linalg.eigvalsh(symmetric) < 0.0)) if len(symmetric) else 0


def _normalised(ends: Ends, waves: Waves, shares: Array, before: list[BeamMode], omega: float) -> BeamMode:
    """Unit modal mass, orthogonal to those of the same frequency that came before, with a positive tip."""
    stations, weights = _quadrature(ends.beam.length, waves.fastest)
    field = ends.field(waves, shares, stations).real
    for mode in before:
        part = ends.modal_product(field, mode._at(stations), weights)
        shares = shares - part * mode._shares
        field = field - part * mode._at(stations)
    shares = shares / sqrt(ends.modal_product(field, field, weights))
    field = ends.field(waves, shares, stations).real
    tip = field[:, -1] / np.max(np.abs(field), axis=1, initial=1e-300)
    leading = next((tip[row] for row in (0, 1, 3) if abs(tip[row]) > 1e-9), 1.0)
    return BeamMode(omega / (2.0 * pi), ends, waves, shares if leading > 0.0 else -shares)


def _quadrature(length: float, fastest: float) -> tuple[Array, Array]:
    """Stations and weights for waves up to a wave number; both ends are listed too, with weight zero."""
    panels = int(np.ceil(fastest)) + 2
    points, weights = PANEL
    width = length / panels
    inner = (np.arange(panels)[:, None] + 0.5 * (1.0 + points)) * width
    stations = np.concatenate([[0.0], inner.ravel(), [length]])
    return stations, np.concatenate([[0.0], np.tile(0.5 * width * weights, panels), [0.0]])


def joint_pd_poles(beam: TimoshenkoBeam, stiffness: float, damping: float, count: int) -> ComplexArray:
    """The poles nearest to zero, in 1/s, of a pinned beam with root torque -stiffness psi - damping psi'.

    Of a complex pair only the pole with positive imaginary part is listed.
    """
    root = BeamEnd(Motion.HELD, Motion.FREE, torsion_spring=stiffness, torsion_damper=damping)
    ends = Ends(beam, root, FREE)
    return np.array([_polished(ends, guess) for guess in _guesses(beam, stiffness, damping, count)])


def _polished(ends: Ends, guess: complex) -> complex:
    """Secant iteration on the determinant of the end conditions."""
    before, now = guess * (1.0 + 1e-6), guess
    value_before, value_now = _determinant(ends, before), _determinant(ends, now)
    for _ in range(50):
        change = value_now * (now - before) / (value_now - value_before)
        before, value_before = now, value_now
        now = now - change
        value_now = _determinant(ends, now)
        if abs(change) < 1e-11 * abs(now) or value_now == value_before:
            break  # the secant step converges faster than linearly: the next change would be round-off
    if not abs(now - guess) < 1e-3 * abs(guess):
        raise RuntimeError(f"no pole of the beam under joint PD lies near {guess} 1/s")
    return now


def _determinant(ends: Ends, s: complex) -> complex:
    """Divided by that of the states, which does not change along the beam, it depends on s alone."""
    waves = Waves(ends.beam, s)
    states = waves.states(np.array([0.5]))[0]
    return complex(np.linalg.det(ends.conditions(waves)) / np.linalg.det(states))


def _guesses(beam: TimoshenkoBeam, stiffness: float, damping: float, count: int) -> ComplexArray:
    """Curvature and shear strain as Legendre series: good enough to locate the lowest poles.

    With strains as unknowns the stiffness is diagonal, so that a very stiff shear cannot drown the low
    modes in round-off. Strains are scaled by the root of their stiffness; the mass matrix in these
    scaled strains has the squared periods over 2 pi as eigenvalues.
    """
    degree = 24 + 3 * count
    points, weights = legendre.leggauss(degree + 4)
    weights = np.asarray(weights * (0.5 * beam.length), float)
    series = np.eye(degree + 1)
    once = (0.5 * beam.length) * legendre.legint(series, lbnd=-1, axis=0)
    twice = (0.5 * beam.length) * legendre.legint(once, lbnd=-1, axis=0)
    strains, integrals, double_integrals = (
        np.asarray(legendre.legvander(points, len(rows) - 1) @ rows, float) for rows in (series, once, twice)
    )
    norms = 1.0 / np.sqrt(weights @ strains**2)
    by_curvature, by_shear = norms / np.sqrt(beam.bending_stiffness), norms / np.sqrt(beam.shear_stiffness)
    arm = 0.5 * beam.length * (1.0 + np.asarray(points, float))[:, None]
    # one column for the turn of the joint, scaled like a strain, then the strains
    rotation = np.hstack([np.ones_like(arm) / np.sqrt(stiffness), integrals * by_curvature, 0.0 * integrals])
    deflection = np.hstack([arm / np.sqrt(stiffness), double_integrals * by_curvature, integrals * by_shear])
    mass = _inertia(beam.mass_per_length, deflection, weights)
    mass = mass + _inertia(beam.rotary_inertia_per_length, rotation, weights)
    loss = np.zeros_like(mass)
    loss[0, 0] = damping / stiffness
    zero, one = np.zeros_like(mass), np.eye(len(mass))
    # mass s^2 + loss s + 1 = 0, solved for 1/s so that slow poles come out best
    inverses = np.linalg.eigvals(np.block([[zero, one], [-mass, -loss]]))
    upper = inverses[inverses.imag <= 0.0]
    return np.asarray(1.0 / upper[np.argsort(-np.abs(upper))][:count])


def _inertia(per_length: float, motion: Array, weights: Array) -> Array:
    return np.asarray(per_length * (motion.T @ (weights[:, None] * motion)))


class EndSignal(Enum):
    """What can be imposed or seen at the points of the ends: m/s, rad/s, N, N m."""

    ROOT_DEFLECTION_RATE = "deflection rate of the root"
    ROOT_ROTATION_RATE = "rotation rate of the root"
    TIP_DEFLECTION_RATE = "deflection rate of the tip"
    TIP_ROTATION_RATE = "rotation rate of the tip"
    ROOT_FORCE = "force on the root"
    ROOT_MOMENT = "moment on the root"
    TIP_FORCE = "force on the tip"
    TIP_MOMENT = "moment on the tip"

    @property
    def coordinate(self) -> int:
        """Which of root deflection, root rotation, tip deflection, tip rotation it belongs to."""
        return list(EndSignal).index(self) % 4

    @property
    def is_rate(self) -> bool:
        return list(EndSignal).index(self) < 4


@dataclass(frozen=True, eq=False)
class ForcedResponse:
    """Amplitudes of the motion exp(s t) along the beam that a unit amplitude at one end causes."""

    s: complex
    _ends: Ends
    _waves: Waves
    _shares: ComplexArray  # per unit of the effort, or of the coordinate whose rate is imposed
    _per_rate: bool

    def deflection_rate(self, station: Array | float) -> ComplexArray:
        return self._rate(0, station)

    def rotation_rate(self, station: Array | float) -> ComplexArray:
        return self._rate(1, station)

    def shear_force(self, station: Array | float) -> ComplexArray:
        """Q = GA (w' - psi)."""
        return self._effort(2, station)

    def bending_moment(self, station: Array | float) -> ComplexArray:
        """M = EI psi'."""
        return self._effort(3, station)

    def at_ends(self, seen: EndSignal) -> complex:
        """A signal at the point of an end."""
        coordinates, efforts = self._at_points
        k = seen.coordinate
        if seen.is_rate:
            value = complex(coordinates[k] @ self._shares * self._ends.state_units[k % 2])
            return value if self._per_rate else value * self.s
        value = complex(efforts[k] @ self._shares * self._ends.state_units[2 + k % 2])
        return value / self.s if self._per_rate else value

    @cached_property
    def _at_points(self) -> tuple[ComplexArray, ComplexArray]:
        return self._ends.coordinates_and_efforts(self._waves)

    def _rate(self, row: int, station: Array | float) -> ComplexArray:
        values = self._ends.field(self._waves, self._shares, station)[row]
        return values if self._per_rate else np.asarray(values * self.s)

    def _effort(self, row: int, station: Array | float) -> ComplexArray:
        values = self._ends.field(self._waves, self._shares, station)[row]
        return np.asarray(values / self.s) if self._per_rate else values


def forced_response(
    beam: TimoshenkoBeam, imposed: EndSignal, s: complex, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE
) -> ForcedResponse:
    """The motion along the beam while one signal is exp(s t) and all others that could be imposed are zero."""
    ends = Ends(beam, root, tip)
    k = imposed.coordinate
    if imposed.is_rate == bool(ends.free[k]):
        remedy = "impose the effort there" if imposed.is_rate else "impose the rate there"
        state = "leaves this coordinate free" if imposed.is_rate else "holds this coordinate"
        raise ValueError(f"the {imposed.value} cannot be imposed on an end that {state}; {remedy}")
    waves = Waves(beam, complex(s))
    wanted = np.zeros(4, complex)
    wanted[k] = 1.0 / ends.state_units[k % 2 if imposed.is_rate else 2 + k % 2]
    conditions = ends.conditions(waves)
    sizes = np.max(np.abs(conditions), axis=1)
    shares = np.linalg.solve(conditions / sizes[:, None], wanted / sizes)
    return ForcedResponse(complex(s), ends, waves, shares, imposed.is_rate)


def transfer_function(
    beam: TimoshenkoBeam,
    imposed: EndSignal,
    seen: EndSignal,
    s: ComplexArray,
    root: BeamEnd = CLAMPED,
    tip: BeamEnd = FREE,
) -> ComplexArray:
    """A signal of an end per imposed signal of an end, at every s in 1/s; s = 2 pi i f for a frequency f in hertz."""
    where = np.asarray(s, complex)
    values = [forced_response(beam, imposed, each, root, tip).at_ends(seen) for each in where.ravel()]
    return np.array(values, complex).reshape(where.shape)
