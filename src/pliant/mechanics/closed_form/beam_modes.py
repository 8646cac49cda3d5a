"""Natural frequencies and mode shapes of a uniform Timoshenko beam between any two ends.

How many frequencies lie below a given one follows from the dynamic stiffness alone [wittrick1971]: as many as the
beam has with both ends clamped, plus the negative eigenvalues of the stiffness that the free coordinates of the
ends meet. With pinned ends the count is known in closed form, and the same rule turned around gives it for clamped
ends. So every root is first caught between two frequencies, none can be missed, and then found by its change of sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.polynomial import legendre
from scipy.optimize import brentq

from pliant.mechanics.closed_form.beam_ends import Ends
from pliant.mechanics.closed_form.beam_waves import Array, Waves
from pliant.mechanics.closed_form.timoshenko_beam import CLAMPED, FREE, BeamEnd, TimoshenkoBeam

SLOWEST = 3e-6  # lowest frequency sought, in units of the beam: below, round-off would decide the count
ONE_ROOT = 1e-13  # roots closer than this, relatively, are one root of several modes


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


def natural_frequencies(
    beam: TimoshenkoBeam, count: int, root: BeamEnd = CLAMPED, tip: BeamEnd = FREE
) -> Array:
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

    def _collect(
        self, low: float, below: int, high: float, above: int, found: list[float], wanted: int
    ) -> None:
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
    points, weights = legendre.leggauss(8)
    width = length / panels
    inner = (np.arange(panels)[:, None] + 0.5 * (1.0 + points)) * width
    stations = np.concatenate([[0.0], inner.ravel(), [length]])
    return stations, np.concatenate([[0.0], np.tile(0.5 * width * weights, panels), [0.0]])
