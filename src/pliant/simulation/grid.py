"""Where steps end: at jumps of signals and instants of sampled control, and in equal parts between them; of searches
also where contacts begin and end, and densely where the error of a trial arises."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.continuation import Continuation
from pliant.model.inputs import Inputs
from pliant.model.schedule import decimal, instants, merged
from pliant.model.state import Array

ROUNDING = 1e-7  # of a step: less is rounding of its times
BASE_STEPS, GRADED = 8, 32  # of a run, at least: between their ends all steps are of one length; where lengths differ
UNEVEN = 1.5  # times fewer steps for which they are not all of one length
SPARED = 0.25  # of the mean number of steps that is left where least happens
APART = 0.1  # of a step: contacts that switch nearer to each other, or to a jump, end no step of their own


def corners(inputs: Inputs, until: float, after: Continuation) -> Array:
    """Times from the start on at which steps must end: breaks of signals, instants of sampled control, the end."""
    if not (inputs.breaks or inputs.controllers or inputs.commands or inputs.servos):
        return np.array([after.time, until])
    inside = np.concatenate([np.asarray(inputs.breaks, float), instants(inputs, after.origin, until)])
    inside = inside[(inside > after.time) & (inside < until)]
    if not len(inside):
        return np.array([after.time, until])
    ascending = np.sort(np.append(inside, [after.time, until]))
    apart = np.append(True, ascending[1:] - ascending[:-1] > 1e-12 * until)
    kept: Array = ascending[apart]
    kept[-1] = until
    return kept


def step_grid(marks: Array, step: float) -> Array:
    """Equal steps of at most ``step`` between consecutive marks."""
    return divided(marks, np.maximum(1, np.ceil(np.diff(marks) / step - 1e-6)).astype(np.int64))


def fixed_steps(inputs: Inputs, until: float, after: Continuation, step: float) -> tuple[Array, Array]:
    """Steps of at most ``step`` from the start on, and their lengths.

    They end where those of one run from the first start of all would, to the last bit, if one of these ends where this
    one begins. Where steps divide the distance of two corners, each has the length ``step``.
    """
    whole = _spaced(corners(inputs, until, Continuation.at(after.origin)), step, after.time)
    grid, lengths = whole
    if grid[0] == after.time:
        return whole
    first = int(np.argmin(np.abs(grid[:-1] - after.time)))
    if abs(grid[first] - after.time) > ROUNDING * lengths[first]:
        return _spaced(corners(inputs, until, after), step, after.time)
    grid = grid[first:].copy()
    grid[0] = after.time
    return grid, lengths[first:]


def _spaced(marks: Array, step: float, begin: float) -> tuple[Array, Array]:
    """Equal steps between consecutive marks, from the last mark before ``begin`` on, and their lengths."""
    if len(marks) == 2:
        return _stretch(marks, step)
    widths = marks[1:] - marks[:-1]
    counts = np.maximum(1, np.ceil(widths / step - 1e-6)).astype(np.int64)
    lengths = np.where(np.abs(widths - counts * step) <= ROUNDING * step, step, widths / counts)
    first = max(0, int(np.searchsorted(marks[:-1], begin + ROUNDING * step, side="right")) - 1)
    kept, own = counts[first:], lengths[first:]
    last, of = kept.cumsum(), np.arange(len(kept)).repeat(kept)  # the stretch of each step
    within = np.arange(1, last[-1] + 1) - (last - kept)[of]
    grid = np.append(marks[first], decimal(marks[first:-1][of] + within * own[of]))
    grid[last] = marks[first + 1 :]
    return grid, merged(lengths)[first:][of]


def _stretch(marks: Array, step: float) -> tuple[Array, Array]:
    """The same between two marks, without the work of many."""
    begin, end = marks.tolist()
    width = end - begin
    count = max(1, ceil(width / step - 1e-6))
    length = step if abs(width - count * step) <= ROUNDING * step else width / count
    grid = decimal(begin + np.arange(count + 1) * length)
    grid[0], grid[-1] = begin, end
    return grid, np.full(count, length)


def divided(marks: Array, counts: NDArray[np.int64]) -> Array:
    """So many equal steps between consecutive marks."""
    width = int(counts[0])
    if (counts == width).all():
        begins = marks[:-1, None] + np.arange(width) * ((marks[1:] - marks[:-1]) / width)[:, None]
        return np.append(begins, marks[-1])
    last = np.cumsum(counts)
    within = np.arange(1, last[-1] + 1) - np.repeat(last - counts, counts)
    grid = np.empty(last[-1] + 1)
    grid[0] = marks[0]
    grid[1:] = np.repeat(marks[:-1], counts) + within * np.repeat(np.diff(marks) / counts, counts)
    grid[last] = marks[1:]
    return grid


def saved_times(grid: Array, outputs: int | Array) -> Array:
    """Ends of so many steps, first and last included; or the times that are wanted, with the start added."""
    if not isinstance(outputs, int):
        return wanted_times(outputs, float(grid[-1]), float(grid[0]))
    steps = len(grid) - 1
    if steps <= outputs:
        return grid
    return np.asarray(grid[np.linspace(0, steps, outputs + 1).round().astype(np.int64)])


def wanted_times(outputs: Array, until: float, start: float) -> Array:
    """Output times with the start added, refused if they lie outside the run."""
    times = np.asarray(outputs, dtype=float).ravel()
    if not (len(times) and times[0] == start and (times[1:] > times[:-1]).all()):
        times = np.unique(np.append(times, start))
    if not np.all(np.isfinite(times)) or times[0] < start or times[-1] > until + 1e-12 * abs(until):
        raise InvalidInput(
            f"outputs must be times between {start:g} and until = {until:g} s; correct them, or give a number"
        )
    clipped: Array = np.minimum(times, until)
    return clipped


def ascending(*times: Array) -> Array:
    """All of these, once each, in less time than `numpy.unique` takes."""
    every = np.sort(np.concatenate(times))
    return np.asarray(every[np.append(True, every[1:] > every[:-1])])


def rows_at(time: Array, some: Array) -> NDArray[np.int64]:
    """Which of the times are among some others, both ascending."""
    rows = np.minimum(time.searchsorted(some), len(time) - 1)
    return np.asarray(rows[time[rows] == some])


class Steps:
    """Base steps, each with its share of all steps over their mean; a *mean* is how many steps a base step has."""

    def __init__(self, marks: Array) -> None:
        self.marks, self.span = marks, float(marks[-1] - marks[0])  # jumps of signals, samples and both ends
        self.switches = np.zeros(0)  # of contacts, at which steps end too
        self._error: tuple[Array, Array] | None = None  # ends of steps, and how many steps there should be up to them
        self.base = step_grid(marks, self.span / BASE_STEPS)
        self.shares = np.ones(len(self.base) - 1)

    @property
    def even(self) -> bool:
        """Whether all base steps have the same number of steps."""
        return self._error is None and not len(self.switches)

    @property
    def graded(self) -> bool:
        return self._error is not None

    def counts(self, mean: float) -> NDArray[np.int64]:
        """Steps in every base step."""
        return np.asarray(np.maximum(np.ceil(mean * self.shares - 1e-9), 1.0), np.int64)

    def grid(self, mean: float) -> Array:
        """Ends of all steps."""
        return divided(self.base, self.counts(mean))

    def whole(self, mean: float) -> float:
        """A number of steps that all base steps can have, if they are alike."""
        return float(ceil(mean - 1e-9)) if self.even else mean

    def lengths(self, mean: float) -> Array:
        """Of the steps, one of each base step."""
        return np.asarray(np.diff(self.base) / self.counts(mean))

    def make_equal(self) -> None:
        """The same number of steps in every base step."""
        self.shares = np.ones_like(self.shares)

    def told_apart(self, switches: tuple[float, ...], mean: float) -> list[float]:
        """Those at which steps of this number end: none that are next to others."""
        least = APART * self.span / (len(self.shares) * mean)
        kept = list[float]()
        for each in switches:
            if np.abs(self.marks - each).min() > least and (not kept or each - kept[-1] > least):
                kept.append(each)
        return kept

    def end_at(self, switches: list[float]) -> float:
        """Let steps end where contacts begin and end; how many base steps there were for one that is now."""
        self.switches = np.array(switches)
        return self._lay()

    def grade(self, local: Array, mean: float, order: float) -> tuple[float, float] | None:
        """Unequal steps where they give the same error with clearly fewer: then more of them are where the error
        ``local`` of a run of ``mean`` steps comes from. How many base steps there were for one that is now, and how
        many steps fewer will do."""
        if not local.sum() > 0.0:
            return None
        grid = self.grid(mean)
        density = (local / np.diff(grid) ** (order + 1.0)) ** (1.0 / (order + 1.0))  # of the best steps
        padded = np.pad(density, 1, "edge")
        density = np.maximum(density, 0.5 * (padded[:-2] + padded[2:]))
        even = np.sum(local) ** (1.0 / order) * len(local)
        uneven = np.sum(density * np.diff(grid)) ** (1.0 + 1.0 / order)
        if even < UNEVEN * uneven:
            return None
        self._error = grid, np.append(0.0, np.cumsum(density * np.diff(grid)))
        return self._lay(), float(uneven / even)

    def _lay(self) -> float:
        before, marks = len(self.shares), np.union1d(self.marks, self.switches)
        self.base = step_grid(marks, self.span / (GRADED if self.graded else BASE_STEPS))
        steps = np.diff(self.base)
        if self._error is not None:
            steps = np.diff(np.interp(self.base, *self._error))
            # what is left where least happens is a part of the mean, of short base steps in proportion
            steps = np.maximum(steps, SPARED * steps.sum() * np.diff(self.base) / self.span)
        self.shares = steps / steps.mean()
        return before / len(steps)

    def told_lengths(self, mean: float) -> str:
        """In words, of steps that are not all of one length."""
        if self.even:
            return ""
        lengths = self.lengths(mean)
        return f"{lengths.min():.2g} to {lengths.max():.2g} s, short where more happens"
