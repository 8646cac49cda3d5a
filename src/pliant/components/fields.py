"""Declarations of fields that hold samples, motions, signals or joint names, beside those a robot needs."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Annotated, Any, cast

import numpy as np

from pliant.errors import InvalidInput, Problem, clip
from pliant.model.state import Array
from pliant.robot.declared import NAME, BadValue, Name, Quantity, Rule
from pliant.robot.robot import closest

Numbers = float | Sequence[float] | Array
Samples = Sequence[float] | Array
SampleRows = Sequence[float] | Sequence[Sequence[float]] | Array

# Two breaks closer than this share of the clock are one event; a step between them would be all round-off.
SAME_TIME = 1e-12


@dataclass(frozen=True)
class NumbersOrRows(Quantity):
    """For each sample one number, or for each sample a row of equally many numbers."""

    shape: tuple[int | None, ...] = (None,)

    def checked(self, value: object) -> Any:
        plain = value.tolist() if isinstance(value, np.ndarray) else value
        if not (isinstance(plain, Sequence) and plain and isinstance(plain[0], (Sequence, np.ndarray))):
            return super().checked(plain)
        lists = [row.tolist() if isinstance(row, np.ndarray) else row for row in plain]
        rows = Quantity(self.unit, self.meaning, shape=(None, None)).checked(lists)
        for index, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise BadValue(f"has {len(row)} entries and must have {len(rows[0])}; {self.remedy}", (index,))
        return rows


@dataclass(frozen=True)
class SampleTimes(Quantity):
    """At least two strictly increasing times."""

    unit: str = "s"
    meaning: str = "increasing times of the samples, each once,"
    shape: tuple[int | None, ...] = (None,)

    def checked(self, value: object) -> Any:
        times = super().checked(value)
        if len(times) < 2:
            raise BadValue(f"has 1 entry and must have at least 2; {self.remedy}")
        for index, (before, time) in enumerate(pairwise(times), start=1):
            if time <= before:
                raise BadValue(f"= {self.show(time)} must be greater than {self.show(before)}; {self.remedy}", (index,))
        return times


@dataclass(frozen=True)
class BreakTimes(Quantity):
    """Any number of times, none included."""

    unit: str = "s"
    meaning: str = "times at which the function or one of its two first derivatives jumps"
    shape: tuple[int | None, ...] = (None,)

    def checked(self, value: object) -> Any:
        none = isinstance(value, Sequence) and not value
        return () if none else merged_breaks((super().checked(value),))


@dataclass(frozen=True)
class Holds:
    """The declaration of a field that holds an object of some kind, ``many`` of them, or either."""

    meaning: str
    kind: type | tuple[type, ...]
    remedy: str
    one: bool = True
    many: bool = False

    def checked(self, value: object) -> Any:
        if self.many and isinstance(value, (tuple, list)):
            if not value:
                raise BadValue(f"is empty; {self.remedy}")
            return tuple(self._fitting(item, (index,)) for index, item in enumerate(value))
        if not self.one:
            raise BadValue(f"= {clip(repr(value))} is not a list; {self.remedy}")
        return self._fitting(value, ())

    def _fitting(self, value: object, index: tuple[int, ...]) -> object:
        if not isinstance(value, self.kind):
            raise BadValue(f"= {clip(repr(value))} does not fit; {self.remedy}", index)
        return value


@dataclass(frozen=True)
class Seed:
    """The declaration of a field that holds the seed of random numbers."""

    meaning: str = "seed of the noise"

    def checked(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise BadValue(f"= {clip(str(value))} is no seed; write a whole number that is not negative")
        return int(value)


class CoordinateName(Name):
    """The declaration of a field that holds the name of a joint of one coordinate, or joint.coordinate."""

    def checked(self, value: object) -> str:
        if not isinstance(value, str) or not all(map(NAME.fullmatch, value.split(".", 1))):
            raise BadValue(f"= '{clip(str(value))}' is not a name; write the {self.meaning}")
        return value


JointName = Annotated[str, CoordinateName("name of the joint or of its coordinate")]


class JointNames(Rule):
    """The declaration of a field that holds one or several joint names, each once."""

    def checked(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, (str, Sequence)) or not value:
            raise BadValue(f"= {clip(repr(value))} names no joint; write the {self.meaning}, or None for all")
        names = tuple(map(CoordinateName(self.meaning).checked, [value] if isinstance(value, str) else value))
        repeated = first_repeated(names)
        if repeated is not None:
            raise BadValue(f"names '{repeated}' twice; write each joint once")
        return names


def merged_breaks(groups: Iterable[Iterable[float]]) -> tuple[float, ...]:
    """All breaks in order, those that differ by round-off only once."""
    merged: list[float] = []
    for time in sorted(time for group in groups for time in group):
        if not merged or time - merged[-1] > SAME_TIME * max(1.0, abs(time)):
            merged.append(time)
    return tuple(merged)


def soonest_change(sources: Iterable[object]) -> float:
    """The time in which the fastest of motions and signals changes; zero if one does not know it."""
    return min((getattr(each, "changes_within", 0.0) for each in sources), default=inf)


def count_conflicts(times: Samples, field: str, values: SampleRows) -> Iterator[Problem]:
    """The problem of a table that has not one value for each time."""
    if len(values) != len(times):
        yield Problem(f"has {len(values)} entries and must have {len(times)}; write one for each time", (field,))


def first_repeated(names: Sequence[str]) -> str | None:
    return next((name for index, name in enumerate(names) if name in names[:index]), None)


def nearest(name: str, known: Sequence[str]) -> str:
    """The remedy for an unknown name: the nearest known one, else all of them in their own order."""
    all_of_them = f"write one of {', '.join(known)}" if known else "leave it out, since there is none"
    close = closest(name, known)
    return f"did you mean '{close}'?" if close else all_of_them


def called(owner: str, function: Callable[[Array], object], times: Array) -> Array:
    """The finite answer of a user's function as an array; its failure as one sentence."""
    try:
        # A copy, because a function that changes its argument must not change the clock of all others.
        answer = np.asarray(function(times.copy()), dtype=np.float64)
    except Exception as error:
        raise InvalidInput(
            f"{owner}: the function failed for an array of {len(times)} times"
            f" ({type(error).__name__}: {error}); let it accept an array of times and return numbers"
        ) from error
    finite = np.isfinite(answer)
    if not finite.all():
        raise InvalidInput(f"{owner}: the function returned {answer[~finite][0]}; let it return finite numbers")
    return answer


class HoldsFunction:
    """What holds a function of the user's: it can be copied, and pickled if the function can."""

    function: Any

    def __getstate__(self) -> dict[str, object]:
        try:
            pickle.dumps(self.function)
        except Exception as error:  # pickle raises errors of many kinds
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise InvalidInput(
                f"{type(self).__name__}: the function {clip(name)} cannot be pickled; define it by def, or its class,"
                " at the top level of a module"
            ) from error
        return dict(vars(self))

    def __copy__(self) -> Any:
        return replace(cast(Any, self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return replace(cast(Any, self), function=deepcopy(self.function, memo))
