"""Signals in time: torques, forces and wrenches, one number or a row of k numbers at each time.

``breaks`` are the times at which the signal or one of its two first derivatives jumps; an integrator whose
steps end there keeps its order. At a break the value from the right is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, tau
from typing import TYPE_CHECKING, Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.components import fields
from pliant.components.fields import Holds, Numbers, SampleRows, Samples, SampleTimes
from pliant.errors import InvalidInput, Problem
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

__all__ = [
    "Constant",
    "FunctionSignal",
    "HeldTable",
    "PiecewiseLinear",
    "Signal",
    "SignalSum",
    "SignalTable",
    "Sine",
    "Step",
]

EFFORT_UNIT = "N or N m"
Value = Annotated[Numbers, Quantity(EFFORT_UNIT, "value", each="value")]
SampleValues = Annotated[SampleRows, fields.NumbersOrRows(EFFORT_UNIT, "value or row of values at each time")]


@runtime_checkable
class Signal(Protocol):
    """What drives a joint with torque or loads a link; it may have ``changes_within`` as motions may."""

    @property
    def breaks(self) -> tuple[float, ...]: ...
    def evaluate(self, times: Array) -> Array:
        """The values at the n ``times``, of shape (n,) for one number and (n, k) for k."""


@dataclass(frozen=True)
class Constant(Declared):
    """The same ``value``, one number or several, at all times."""

    value: Value

    breaks: ClassVar[tuple[float, ...]] = ()
    changes_within: ClassVar[float] = inf

    def evaluate(self, times: Array) -> Array:
        value = np.asarray(self.value)
        return np.full((len(times), *value.shape), value)


@dataclass(frozen=True)
class Step(Declared):
    """Zero, then ``value``, one number or several."""

    value: Value
    at: Annotated[float, Quantity("s", "time of the step")] = 0.0

    changes_within: ClassVar[float] = inf

    @property
    def breaks(self) -> tuple[float, ...]:
        return (self.at,)

    def evaluate(self, times: Array) -> Array:
        return _scaled(self.value, (times >= self.at).astype(np.float64))


@dataclass(frozen=True)
class Sine(Declared):
    """``amplitude``, one number or several, times sin(2 pi ``frequency`` t + ``phase``)."""

    amplitude: Value
    frequency: Annotated[float, Quantity("Hz", "frequency", above=0)]
    phase: Annotated[float, Quantity("rad", "phase at time 0")] = 0.0

    breaks: ClassVar[tuple[float, ...]] = ()

    @property
    def changes_within(self) -> float:
        return 1.0 / self.frequency

    def evaluate(self, times: Array) -> Array:
        return _scaled(self.amplitude, np.sin(tau * self.frequency * times + self.phase))


@dataclass(frozen=True)
class SampledSignal(Declared):
    """``values``, a number or a row of numbers for each of the increasing ``times``."""

    times: Annotated[Samples, SampleTimes()]
    values: SampleValues

    def conflicts(self) -> Iterator[Problem]:
        yield from fields.count_conflicts(self.times, "values", self.values)


@dataclass(frozen=True)
class PiecewiseLinear(SampledSignal):
    """Straight lines between ``values``, a number or a row of numbers for each of the increasing ``times``.

    Before the first and after the last time the value there is held. Steps end at every one of the times;
    for dense samples of a smooth signal SignalTable is the better choice.
    """

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times)

    @cached_property
    def _knots(self) -> tuple[Array, Array]:
        return np.asarray(self.times), np.asarray(self.values)

    def evaluate(self, times: Array) -> Array:
        knots, values = self._knots
        if values.ndim == 1:
            return np.interp(times, knots, values)
        return np.column_stack([np.interp(times, knots, column) for column in values.T])


@dataclass(frozen=True)
class HeldTable(SampledSignal):
    """``values``, a number or a row of numbers from each of the increasing ``times`` on, held until the next one.

    Before the first time it is zero, and the last value is held for ever. Steps end at every one of the times.
    """

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple(self.times)

    @cached_property
    def _held(self) -> tuple[Array, Array]:
        values = np.asarray(self.values, float)
        return np.asarray(self.times), np.concatenate([np.zeros_like(values[:1]), values])

    def evaluate(self, times: Array) -> Array:
        jumps, values = self._held
        return np.asarray(values[jumps.searchsorted(times, side="right")])


@dataclass(frozen=True)
class SignalTable(SampledSignal):
    """A sampled smooth signal: ``values``, a number or a row of numbers for each of the increasing ``times``.

    A natural cubic spline passes through every sample with two continuous derivatives, so that no step need
    end at an inner sample. Before the first and after the last time the value there is held. A spline
    overshoots where samples jump; PiecewiseLinear does not.
    """

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.times[0], self.times[-1]

    @cached_property
    def _spline(self) -> CubicSpline:
        from scipy.interpolate import CubicSpline

        return CubicSpline(np.asarray(self.times), np.asarray(self.values), bc_type="natural")

    def evaluate(self, times: Array) -> Array:
        return np.asarray(self._spline(np.clip(times, self.times[0], self.times[-1])))


@dataclass(frozen=True)
class SignalSum(Declared):
    """Several signals of equal size added, for instance two opposite steps that make a pulse."""

    terms: Annotated[Sequence[Signal], Holds("signals to add", Signal, "write a list of signals", one=False, many=True)]

    def conflicts(self) -> Iterator[Problem]:
        values: list[object] = [term.evaluate(np.zeros(1)) for term in self.terms]
        for k, value in enumerate(values):
            if not isinstance(value, np.ndarray):  # a motion, which also has evaluate, answers with three arrays
                yield Problem("is no signal; write one such as Constant(2.0)", ("terms", k))
                return
        shapes = [value.shape[1:] for value in values if isinstance(value, np.ndarray)]
        if len(set(shapes)) > 1:
            sizes = ", ".join(str(shape[0] if shape else 1) for shape in shapes)
            yield Problem(f"have {sizes} components; give all terms the same number", ("terms",))

    @property
    def changes_within(self) -> float:
        return fields.soonest_change(self.terms)

    @property
    def breaks(self) -> tuple[float, ...]:
        return fields.merged_breaks(term.breaks for term in self.terms)

    def evaluate(self, times: Array) -> Array:
        total = self.terms[0].evaluate(times)
        for term in self.terms[1:]:
            total = total + term.evaluate(times)
        return total


@dataclass(frozen=True)
class FunctionSignal(fields.HoldsFunction, Declared):
    """A signal given by a Python function of an array of times.

    ``function(times)`` returns one value, or one row of k values, for each time. ``breaks`` are the times at
    which it or one of its two first derivatives jumps. The function is not saved to file: a saved trajectory
    keeps what it caused, not its code.
    """

    function: Annotated[Callable[[Array], Array], Holds("values at an array of times", Callable, "write a function")]
    breaks: Annotated[tuple[float, ...], fields.BreakTimes()] = ()

    def evaluate(self, times: Array) -> Array:
        answer = fields.called("FunctionSignal", self.function, times)
        if answer.ndim not in (1, 2) or len(answer) != len(times):
            raise InvalidInput(
                f"FunctionSignal: the function answered {len(times)} times with shape {answer.shape};"
                " let it return one value, or one row of values, for each time"
            )
        return answer


def _scaled(value: Numbers, factors: Array) -> Array:
    """``value`` times each of the factors: (n,) for one number, (n, k) for k."""
    return np.asarray(np.multiply.outer(factors, np.asarray(value)))
