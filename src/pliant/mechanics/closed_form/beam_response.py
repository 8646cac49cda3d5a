"""Transfer functions of a uniform Timoshenko beam between any two ends, exact at every complex s.

At the point of each end, deflection and rotation are two ports. Where the end holds a coordinate its rate can be
imposed and the effort is the answer; where it leaves it free the effort can be imposed and the rate is the answer.
Efforts are those that the surroundings exert on the point, rates those of the point, so that effort times rate is the
power that enters there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from pliant.mechanics.closed_form.beam_ends import Ends
from pliant.mechanics.closed_form.beam_waves import Array, ComplexArray, Waves
from pliant.mechanics.closed_form.timoshenko_beam import CLAMPED, FREE, BeamEnd, TimoshenkoBeam


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
        coordinates, efforts = self._ends.coordinates_and_efforts(self._waves)
        k = seen.coordinate
        if seen.is_rate:
            value = complex(coordinates[k] @ self._shares * self._ends.state_units[k % 2])
            return value if self._per_rate else value * self.s
        value = complex(efforts[k] @ self._shares * self._ends.state_units[2 + k % 2])
        return value / self.s if self._per_rate else value

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
