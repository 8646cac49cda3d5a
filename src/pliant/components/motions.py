"""Motions in time: a position with its rate and acceleration, in radians or metres as the joint asks.

``breaks`` are the times at which the acceleration or one of its two first derivatives jumps; an integrator
whose steps end there keeps its order. At a break the value from the right is returned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, tau
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.components.fields import (
    BreakTimes,
    Holds,
    HoldsFunction,
    Samples,
    SampleTimes,
    called,
    count_conflicts,
    merged_breaks,
    soonest_change,
)
from pliant.errors import InvalidInput, Problem
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

__all__ = [
    "BangBang",
    "Cycloid",
    "FunctionMotion",
    "Hold",
    "Motion",
    "MotionSum",
    "MotionTable",
    "Quintic",
    "SmoothStart",
]

Kinematics = tuple[Array, Array, Array]

POSITION_UNIT = "rad or m"
FEWEST_SAMPLES = 8  # of which a table can be judged
ROUND_OFF = 1e-12  # part of the largest position that is no noise
NOISE_IN_DIFFERENCES = 6.0**0.5  # of second differences of samples, over that of the samples
ROUGH = 2.0  # second difference of accelerations against their size: 3.4 for noise, 0.4 for ten samples in a period
RATE_UNIT = "rad/s or m/s"
Begin = Annotated[float, Quantity("s", "time at which the motion begins")]


@runtime_checkable
class Motion(Protocol):
    """What a prescribed joint or the reference of a controller follows.

    One that is smooth between its breaks may have ``changes_within``, the time (s) in which it changes: it then is not
    asked at many instants whether the steps of a run follow it, nor whether its rate is that of its position.
    """

    @property
    def breaks(self) -> tuple[float, ...]: ...
    def evaluate(self, times: Array) -> Kinematics:
        """Position, rate and acceleration, each of shape (n,), at the n ``times``."""


Reference = Annotated[
    Motion | Sequence[Motion],
    Holds("motion to follow", Motion, "write a motion, such as Hold(1.0), or a list of them", many=True),
]


@dataclass(frozen=True)
class Hold(Declared):
    """Stay at ``position``; as the reference of a controller this is a step."""

    position: Annotated[float, Quantity(POSITION_UNIT, "position to hold")]

    breaks: ClassVar[tuple[float, ...]] = ()
    changes_within: ClassVar[float] = inf

    def evaluate(self, times: Array) -> Kinematics:
        n = len(times)
        return np.full(n, self.position), np.zeros(n), np.zeros(n)


@dataclass(frozen=True)
class RestToRest(Declared, ABC):
    """A move from rest at ``start`` to rest at ``end``."""

    start: Annotated[float, Quantity(POSITION_UNIT, "position before the move")]
    end: Annotated[float, Quantity(POSITION_UNIT, "position after the move")]
    duration: Annotated[float, Quantity("s", "duration of the move", above=0)]
    begin: Begin = 0.0

    @property
    def changes_within(self) -> float:
        return self.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.begin, self.begin + self.duration

    def evaluate(self, times: Array) -> Kinematics:
        share, rate, acceleration = self._unit_move(_progress(times, self.begin, self.duration))
        travel = self.end - self.start
        mean_rate = travel / self.duration
        return self.start + travel * share, mean_rate * rate, mean_rate / self.duration * acceleration

    @staticmethod
    @abstractmethod
    def _unit_move(x: Array) -> Kinematics:
        """The move from 0 to 1 over x in [0, 1], with its derivatives in x."""


@dataclass(frozen=True)
class Quintic(RestToRest):
    """Fifth-degree polynomial, rate and acceleration zero at both ends ([macchelli2007] manoeuvre PP)."""

    @staticmethod
    def _unit_move(x: Array) -> Kinematics:
        y = 1.0 - x
        return x * x * x * (10.0 - x * (15.0 - 6.0 * x)), 30.0 * (x * y) ** 2, 60.0 * x * y * (y - x)


@dataclass(frozen=True)
class Cycloid(RestToRest):
    """Full-period sine acceleration between two positions ([damic2006] first joint)."""

    @staticmethod
    def _unit_move(x: Array) -> Kinematics:
        angle = _turn(x)
        sine = np.sin(angle)
        return x - sine / tau, 1.0 - np.cos(angle), tau * sine


@dataclass(frozen=True)
class BangBang(RestToRest):
    """Constant acceleration for half the duration, then the opposite ([macchelli2007] manoeuvre ST)."""

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.begin, self.begin + 0.5 * self.duration, self.begin + self.duration

    def evaluate(self, times: Array) -> Kinematics:
        position, rate, acceleration = super().evaluate(times)
        # The clipped progress cannot tell rest from the first and last instant of the move; the clock can.
        begin, _, end = self.breaks
        return position, rate, np.where((times >= begin) & (times < end), acceleration, 0.0)

    @staticmethod
    def _unit_move(x: Array) -> Kinematics:
        y = 1.0 - x
        speeding = x < 0.5
        return (
            np.where(speeding, 2.0 * x * x, 1.0 - 2.0 * y * y),
            4.0 * np.minimum(x, y),
            np.where(speeding, 4.0, -4.0),
        )


@dataclass(frozen=True)
class SmoothStart(Declared):
    """From rest at ``position`` to a constant ``rate`` that is kept for ever.

    The rate follows a cycloid: the second joint of [damic2006], and the usual spin-up of a rotating beam.
    """

    rate: Annotated[float, Quantity(RATE_UNIT, "rate after the start")]
    duration: Annotated[float, Quantity("s", "duration of the start", above=0)]
    position: Annotated[float, Quantity(POSITION_UNIT, "position before the start")] = 0.0
    begin: Begin = 0.0

    @property
    def changes_within(self) -> float:
        return self.duration

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.begin, self.begin + self.duration

    def evaluate(self, times: Array) -> Kinematics:
        x = _progress(times, self.begin, self.duration)
        angle = _turn(x)
        one_less_cosine = 1.0 - np.cos(angle)
        cruise = np.maximum(times - (self.begin + self.duration), 0.0)
        return (
            self.position + self.rate * (self.duration * (0.5 * x * x - one_less_cosine / tau**2) + cruise),
            self.rate * (x - np.sin(angle) / tau),
            self.rate / self.duration * one_less_cosine,
        )


@dataclass(frozen=True)
class MotionTable(Declared):
    """A sampled motion: positions at increasing times, joined by a quintic spline.

    The spline passes through every sample and has four continuous derivatives, so that no step need end at
    an inner sample. Its rates at the ends are given, zero unless said otherwise; its accelerations there are
    zero. Before the first and after the last sample the motion goes on at the rate of that end.
    """

    times: Annotated[Samples, SampleTimes()]
    positions: Annotated[Samples, Quantity(POSITION_UNIT, "positions at the times", shape=(None,))]
    begin_rate: Annotated[float, Quantity(RATE_UNIT, "rate until the first time")] = 0.0
    end_rate: Annotated[float, Quantity(RATE_UNIT, "rate from the last time on")] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        yield from count_conflicts(self.times, "positions", self.positions)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.times[0], self.times[-1]

    @cached_property
    def _splines(self) -> tuple[PPoly, PPoly, PPoly]:
        from scipy.interpolate import PPoly, make_interp_spline

        ends = ([(1, self.begin_rate), (2, 0.0)], [(1, self.end_rate), (2, 0.0)])
        spline = make_interp_spline(np.asarray(self.times), np.asarray(self.positions), k=5, bc_type=ends)
        position = PPoly.from_spline(spline)
        return position, position.derivative(1), position.derivative(2)

    @property
    def doubt(self) -> str:
        """A sentence where accelerations are mostly noise of the samples: they differ more than their own size.

        By medians, so that corners do not count.
        """
        if len(self.times) < FEWEST_SAMPLES:
            return ""
        times = np.asarray(self.times)
        rates = np.diff(self.positions) / np.diff(times)
        acceleration = 2.0 * np.diff(rates) / (times[2:] - times[:-2])
        size = float(np.median(np.abs(acceleration)))
        rough = float(np.median(np.abs(np.diff(acceleration, 2))))
        step = (self.times[-1] - self.times[0]) / (len(self.times) - 1)
        noise = size * step**2 / NOISE_IN_DIFFERENCES
        if not (rough > ROUGH * size and noise > ROUND_OFF * np.abs(self.positions).max()):
            return ""
        return (
            f"the accelerations of a MotionTable of {len(self.times)} samples change from sample to sample by more than"
            f" their size, {size:.2g} {POSITION_UNIT} per s^2: noise of about {noise:.1g} {POSITION_UNIT} in its"
            " positions; smooth the positions, or give fewer of them"
        )

    def evaluate(self, times: Array) -> Kinematics:
        first, last = self.times[0], self.times[-1]
        inside = np.clip(times, first, last)
        position, rate, acceleration = (spline(inside) for spline in self._splines)
        outside = self.begin_rate * np.minimum(times - first, 0.0) + self.end_rate * np.maximum(times - last, 0.0)
        return position + outside, rate, acceleration


@dataclass(frozen=True)
class MotionSum(Declared):
    """Several motions added, for instance a move and, later, the move back."""

    terms: Annotated[Sequence[Motion], Holds("motions to add", Motion, "write a list of motions", one=False, many=True)]

    @property
    def changes_within(self) -> float:
        return soonest_change(self.terms)

    @property
    def breaks(self) -> tuple[float, ...]:
        return merged_breaks(term.breaks for term in self.terms)

    def evaluate(self, times: Array) -> Kinematics:
        parts = [term.evaluate(times) for term in self.terms]
        position, rate, acceleration = (sum(each, np.zeros(len(times))) for each in zip(*parts, strict=True))
        return position, rate, acceleration


@dataclass(frozen=True)
class FunctionMotion(HoldsFunction, Declared):
    """A motion given by a Python function of an array of times.

    ``function(times)`` returns position, rate and acceleration, each of the shape of ``times``. ``breaks``
    are the times at which its acceleration or one of its two first derivatives jumps. The function is not
    saved to file: a saved trajectory keeps what it caused, not its code.
    """

    function: Annotated[
        Callable[[Array], Kinematics],
        Holds("position, rate and acceleration at an array of times", Callable, "write a function"),
    ]
    breaks: Annotated[tuple[float, ...], BreakTimes()] = ()

    def evaluate(self, times: Array) -> Kinematics:
        answer = called("FunctionMotion", self.function, times)
        if answer.shape != (3, len(times)):
            raise InvalidInput(
                f"FunctionMotion: the function answered {len(times)} times with shape {answer.shape};"
                " let it return position, rate and acceleration, each of the shape of the times"
            )
        return answer[0], answer[1], answer[2]


def _progress(times: Array, begin: float, duration: float) -> Array:
    return np.minimum(np.maximum((times - begin) / duration, 0.0), 1.0)


def _turn(x: Array) -> Array:
    """The angle of a full turn over x in [0, 1], its end taken as 0 so that the sine vanishes exactly."""
    return tau * np.where(x < 1.0, x, 0.0)
