"""Motions in time: a position with its rate and acceleration, in radians or metres as the joint asks.

``breaks`` are the times at which the acceleration or one of its two first derivatives jumps; an integrator
whose steps end there keeps its order. At a break the value from the right is returned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import tau
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.network.checks import (
    break_times,
    called,
    finite,
    finite_row,
    increasing_times,
    merged_breaks,
    positive,
)

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

Kinematics = tuple[Array, Array, Array]

_POSITION = "rad or m"
_RATE = "rad/s or m/s"


@runtime_checkable
class Motion(Protocol):
    """What a prescribed joint or the reference of a controller follows."""

    @property
    def breaks(self) -> tuple[float, ...]: ...
    def evaluate(self, times: Array) -> Kinematics:
        """Position, rate and acceleration, each of shape (n,), at the n ``times``."""
        ...


@dataclass(frozen=True)
class Hold:
    """Stay at ``position`` (rad or m); as the reference of a controller this is a step."""

    position: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", finite("Hold.position", self.position, _POSITION))

    @property
    def breaks(self) -> tuple[float, ...]:
        return ()

    def evaluate(self, times: Array) -> Kinematics:
        n = len(times)
        return np.full(n, self.position), np.zeros(n), np.zeros(n)


@dataclass(frozen=True)
class RestToRest(ABC):
    """A move from rest at ``start`` to rest at ``end`` (rad or m), in ``duration`` s from ``begin`` s on."""

    start: float
    end: float
    duration: float
    begin: float = 0.0

    def __post_init__(self) -> None:
        own = type(self).__name__
        object.__setattr__(self, "start", finite(f"{own}.start", self.start, _POSITION))
        object.__setattr__(self, "end", finite(f"{own}.end", self.end, _POSITION))
        object.__setattr__(self, "duration", positive(f"{own}.duration", self.duration, "s"))
        object.__setattr__(self, "begin", finite(f"{own}.begin", self.begin, "s"))

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


class Quintic(RestToRest):
    """Fifth-degree polynomial, rate and acceleration zero at both ends ([macchelli2007] manoeuvre PP)."""

    @staticmethod
    def _unit_move(x: Array) -> Kinematics:
        y = 1.0 - x
        return x * x * x * (10.0 - x * (15.0 - 6.0 * x)), 30.0 * (x * y) ** 2, 60.0 * x * y * (y - x)


class Cycloid(RestToRest):
    """Full-period sine acceleration between two positions ([damic2006] first joint)."""

    @staticmethod
    def _unit_move(x: Array) -> Kinematics:
        angle = _turn(x)
        sine = np.sin(angle)
        return x - sine / tau, 1.0 - np.cos(angle), tau * sine


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
class SmoothStart:
    """From rest at ``position`` (rad or m) to a constant ``rate`` (rad/s or m/s) within ``duration`` s.

    The rate follows a cycloid: the second joint of [damic2006], and the usual spin-up of a rotating beam.
    """

    rate: float
    duration: float
    position: float = 0.0
    begin: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", finite("SmoothStart.rate", self.rate, _RATE))
        object.__setattr__(self, "duration", positive("SmoothStart.duration", self.duration, "s"))
        object.__setattr__(self, "position", finite("SmoothStart.position", self.position, _POSITION))
        object.__setattr__(self, "begin", finite("SmoothStart.begin", self.begin, "s"))

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
class MotionTable:
    """A sampled motion: positions (rad or m) at increasing times (s), joined by a quintic spline.

    The spline passes through every sample and has four continuous derivatives, so that no step need end at
    an inner sample. Its rates at the ends are given, zero unless said otherwise; its accelerations there are
    zero. Before the first and after the last sample the motion goes on at the rate of that end.
    """

    times: Sequence[float] | Array
    positions: Sequence[float] | Array
    begin_rate: float = 0.0
    end_rate: float = 0.0

    def __post_init__(self) -> None:
        times = increasing_times("MotionTable.times", self.times)
        object.__setattr__(self, "times", times)
        positions = finite_row("MotionTable.positions", self.positions, len(times), _POSITION)
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "begin_rate", finite("MotionTable.begin_rate", self.begin_rate, _RATE))
        object.__setattr__(self, "end_rate", finite("MotionTable.end_rate", self.end_rate, _RATE))

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.times[0], self.times[-1]

    @cached_property
    def _splines(self) -> tuple[BSpline, BSpline, BSpline]:
        from scipy.interpolate import make_interp_spline

        ends = ([(1, self.begin_rate), (2, 0.0)], [(1, self.end_rate), (2, 0.0)])
        position = make_interp_spline(np.asarray(self.times), np.asarray(self.positions), k=5, bc_type=ends)
        return position, position.derivative(1), position.derivative(2)

    def evaluate(self, times: Array) -> Kinematics:
        first, last = self.times[0], self.times[-1]
        inside = np.clip(times, first, last)
        position, rate, acceleration = (spline(inside) for spline in self._splines)
        outside = self.begin_rate * np.minimum(times - first, 0.0) + self.end_rate * np.maximum(
            times - last, 0.0
        )
        return position + outside, rate, acceleration


@dataclass(frozen=True)
class MotionSum:
    """Several motions added, for instance a move followed by the move back."""

    terms: Sequence[Motion]

    def __post_init__(self) -> None:
        terms = tuple(self.terms)
        if not terms:
            raise InvalidInput("MotionSum.terms is empty; give at least one motion.")
        object.__setattr__(self, "terms", terms)

    @property
    def breaks(self) -> tuple[float, ...]:
        return merged_breaks(term.breaks for term in self.terms)

    def evaluate(self, times: Array) -> Kinematics:
        parts = [term.evaluate(times) for term in self.terms]
        position, rate, acceleration = (sum(each, np.zeros(len(times))) for each in zip(*parts, strict=True))
        return position, rate, acceleration


@dataclass(frozen=True)
class FunctionMotion:
    """A motion given by a Python function of an array of times.

    ``function(times)`` returns position, rate and acceleration, each of the shape of ``times``. ``breaks``
    are the times at which its acceleration or one of its two first derivatives jumps. The function is not
    saved to file: a saved trajectory keeps its values, not its code.
    """

    function: Callable[[Array], Kinematics]
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "breaks", break_times("FunctionMotion.breaks", self.breaks))

    def evaluate(self, times: Array) -> Kinematics:
        answer = called("FunctionMotion.function", self.function, times)
        if answer.shape != (3, len(times)) or not np.isfinite(answer).all():
            raise InvalidInput(
                f"FunctionMotion.function answered {len(times)} times with an array of shape {answer.shape}"
                f"{'' if np.isfinite(answer).all() else ' that is not finite'}; return position, rate and"
                " acceleration, each finite and of the shape of the times."
            )
        return answer[0], answer[1], answer[2]


def _progress(times: Array, begin: float, duration: float) -> Array:
    return np.clip((times - begin) / duration, 0.0, 1.0)


def _turn(x: Array) -> Array:
    """The angle of a full turn over x in [0, 1], its end taken as 0 so that the sine vanishes exactly."""
    return tau * np.where(x < 1.0, x, 0.0)
