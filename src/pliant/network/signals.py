"""Signals in time: torques, forces and wrenches, one number or a row of k numbers at each time.

``breaks`` are the times at which the signal or one of its two first derivatives jumps; an integrator whose
steps end there keeps its order. At a break the value from the right is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import tau
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.layout import Array
from pliant.network.checks import (
    Numbers,
    Table,
    break_times,
    called,
    finite,
    finite_numbers,
    finite_table,
    increasing_times,
    merged_breaks,
    positive,
)

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

_EFFORT = "N or N m"


@runtime_checkable
class Signal(Protocol):
    """What drives a joint with torque or loads a link."""

    @property
    def breaks(self) -> tuple[float, ...]: ...
    def evaluate(self, times: Array) -> Array:
        """The values at the n ``times``, of shape (n,) for one number and (n, k) for k."""
        ...


@dataclass(frozen=True)
class Constant:
    """The same ``value`` (N or N m, one number or several) at all times."""

    value: Numbers

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite_numbers("Constant.value", self.value, _EFFORT))

    @property
    def breaks(self) -> tuple[float, ...]:
        return ()

    def evaluate(self, times: Array) -> Array:
        value = np.asarray(self.value)
        return np.broadcast_to(value, (len(times), *value.shape)).copy()


@dataclass(frozen=True)
class Step:
    """Zero before ``at`` s, then ``value`` (N or N m, one number or several)."""

    value: Numbers
    at: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite_numbers("Step.value", self.value, _EFFORT))
        object.__setattr__(self, "at", finite("Step.at", self.at, "s"))

    @property
    def breaks(self) -> tuple[float, ...]:
        return (self.at,)

    def evaluate(self, times: Array) -> Array:
        return np.multiply.outer((times >= self.at).astype(np.float64), np.asarray(self.value))


@dataclass(frozen=True)
class Sine:
    """``amplitude`` (N or N m, one number or several) times sin(2 pi ``frequency`` (Hz) t + ``phase`` (rad))."""

    amplitude: Numbers
    frequency: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "amplitude", finite_numbers("Sine.amplitude", self.amplitude, _EFFORT))
        object.__setattr__(self, "frequency", positive("Sine.frequency", self.frequency, "Hz"))
        object.__setattr__(self, "phase", finite("Sine.phase", self.phase, "rad"))

    @property
    def breaks(self) -> tuple[float, ...]:
        return ()

    def evaluate(self, times: Array) -> Array:
        return np.multiply.outer(
            np.sin(tau * self.frequency * times + self.phase), np.asarray(self.amplitude)
        )


@dataclass(frozen=True)
class PiecewiseLinear:
    """Straight lines between ``values`` (N or N m; a row for each of the increasing ``times`` in s).

    Before the first and after the last time the value there is held. Steps end at every one of the times;
    for dense samples of a smooth signal SignalTable is the better choice.
    """

    times: Sequence[float] | Array
    values: Table

    def __post_init__(self) -> None:
        times = increasing_times("PiecewiseLinear.times", self.times)
        object.__setattr__(self, "times", times)
        values = finite_table("PiecewiseLinear.values", self.values, len(times), _EFFORT)
        object.__setattr__(self, "values", values)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times)

    def evaluate(self, times: Array) -> Array:
        values = np.asarray(self.values)
        if values.ndim == 1:
            return np.interp(times, self.times, values)
        return np.column_stack([np.interp(times, self.times, column) for column in values.T])


@dataclass(frozen=True)
class SignalTable:
    """A sampled smooth signal: ``values`` (N or N m; a row for each of the increasing ``times`` in s).

    A natural cubic spline passes through every sample with two continuous derivatives, so that no step need
    end at an inner sample. Before the first and after the last time the value there is held. A spline
    overshoots where samples jump; PiecewiseLinear does not.
    """

    times: Sequence[float] | Array
    values: Table

    def __post_init__(self) -> None:
        times = increasing_times("SignalTable.times", self.times)
        object.__setattr__(self, "times", times)
        values = finite_table("SignalTable.values", self.values, len(times), _EFFORT)
        object.__setattr__(self, "values", values)

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.times[0], self.times[-1]

    @cached_property
    def _spline(self) -> CubicSpline:
        from scipy.interpolate import CubicSpline

        return CubicSpline(np.asarray(self.times), np.asarray(self.values), bc_type="natural")

    def evaluate(self, times: Array) -> Array:
        values: Array = self._spline(np.clip(times, self.times[0], self.times[-1]))
        return values


@dataclass(frozen=True)
class SignalSum:
    """Several signals of equal size added, for instance two opposite steps that make a pulse."""

    terms: Sequence[Signal]

    def __post_init__(self) -> None:
        terms = tuple(self.terms)
        if not terms:
            raise InvalidInput("SignalSum.terms is empty; give at least one signal.")
        object.__setattr__(self, "terms", terms)
        shapes = [term.evaluate(np.zeros(1)).shape[1:] for term in terms]
        if len(set(shapes)) > 1:
            sizes = ", ".join(str(shape[0] if shape else 1) for shape in shapes)
            raise InvalidInput(f"SignalSum.terms have {sizes} components; give all terms the same number.")

    @property
    def breaks(self) -> tuple[float, ...]:
        return merged_breaks(term.breaks for term in self.terms)

    def evaluate(self, times: Array) -> Array:
        total = self.terms[0].evaluate(times)
        for term in self.terms[1:]:
            total = total + term.evaluate(times)
        return total


@dataclass(frozen=True)
class FunctionSignal:
    """A signal given by a Python function of an array of times.

    ``function(times)`` returns one value, or one row of k values, for each time. ``breaks`` are the times at
    which it or one of its two first derivatives jumps. The function is not saved to file: a saved trajectory
    keeps its values, not its code.
    """

    function: Callable[[Array], Array]
    breaks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "breaks", break_times("FunctionSignal.breaks", self.breaks))

    def evaluate(self, times: Array) -> Array:
        answer = called("FunctionSignal.function", self.function, times)
        if answer.ndim not in (1, 2) or len(answer) != len(times) or not np.isfinite(answer).all():
            raise InvalidInput(
                f"FunctionSignal.function answered {len(times)} times with an array of shape {answer.shape}"
                f"{'' if np.isfinite(answer).all() else ' that is not finite'};"
                " return one finite value, or one row of values, for each time."
            )
        return answer
