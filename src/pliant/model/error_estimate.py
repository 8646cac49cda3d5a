"""How far a run is from the motion that it approximates."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.state import Array

# An oscillation of angular frequency w is slowed down by c (w h)^order of itself. Of orders 6 and 8 c is five times
# that of the method, because fast waves that steps of practical length do not resolve keep it from its own order; of
# order 5, which damps, it is twice that.
SLOWED = {2: 1.0 / 12.0, 3: 1.0 / 72.0, 4: 1.0 / 720.0, 5: 1.0 / 3600.0, 6: 1.0 / 20160.0, 8: 1.0 / 5080320.0}
# Part of what tips move in steps in which a contact begins or ends, see `missed_at`: the median over the motions of
# benchmarks/accuracy_problems.py.
AT_CONTACTS = 0.03
WINDOWS = 12
MATTERS = 1e-2  # of the reach: what a reader of figures would see
UNSEEN = "something that drives the arm changes faster than the steps follow"
MESH = "the mesh is too coarse; leave the degree or the number of elements to the run, or raise them"
STEPS = "the steps are too long; shorten them, or ask for less accuracy"


BEST, WORST = 1e-9, 0.3  # accuracies that can be asked for


def checked_accuracy(accuracy: float) -> float:
    refuse_other_than_number("accuracy", accuracy, "give the largest error of a tip over the reach, such as 1e-4")
    if not BEST <= accuracy <= WORST:
        raise InvalidInput(
            f"accuracy = {accuracy:g} must lie between {BEST:g} and {WORST:g}; it is the largest error of a tip over"
            " the reach of the arm, such as 1e-4"
        )
    return float(accuracy)


@dataclass(frozen=True)
class ErrorEstimate:
    """Largest error of the tips of all links over the run, in metres, with fixed steps of the tip of the arm; else of
    scaled states.

    ``time`` is that of the steps, ``space`` that of the mesh, not a number where it is not known. ``scale`` is the
    reach of the arm; ``asked`` the accuracy that was asked for, relative to it, or zero. ``remark`` says what stands in
    the way of more. Runs of some accuracy know their errors from trials; of others the motion of the tip tells that of
    the steps, see `indicated`.
    """

    time: float
    space: float
    scale: float
    asked: float = 0.0
    remark: str = ""

    @property
    def total(self) -> float:
        """The sum; of the steps alone where the error of the mesh is not known."""
        return self.time + self.space if self.space == self.space else self.time

    @property
    def relative(self) -> float:
        return self.total / self.scale

    @property
    def reached(self) -> bool:
        """Whether what was asked for is what there is; where nothing was, whether nobody would see the error."""
        return not (self.remark or self.relative > (self.asked or MATTERS))

    def __str__(self) -> str:
        cause = self.remark or (MESH if self.space > self.time else STEPS)
        unit = f", {self.total:.2g} m" if self.scale != 1.0 else ""
        alone = "" if self.space == self.space else " by the steps alone"
        if self.relative != self.relative:
            return f"how far the tips are off is not known{f': {self.remark}' if self.remark else ''}"
        said = f"the tips may be {self.relative:.2g} of the reach{unit} off{alone}"
        if self.reached:
            return said
        return f"{said}, more than the {self.asked:g} asked: {cause}" if self.asked else f"{said}: {cause}"


def reach_of(model: object) -> float:
    """Of the arm in a model, metre; 1 of other models, whose errors are those of scaled states."""
    return float(getattr(getattr(model, "arm", model), "reach", 1.0))


def of_steps(found: float, model: object) -> ErrorEstimate | None:
    """So many metres by fixed steps, if that is a number."""
    return ErrorEstimate(found, float("nan"), reach_of(model)) if found == found else None


def indicated(time: Array, tip: Array, order: int, step: float) -> float:
    """Error of fixed steps that the motion of a tip (n, 3) itself shows, metre; not a number where it cannot.

    The differential equations that a method of order p really solves are off by c h^p times the derivative of order
    p + 1, which adds up: sum_n c (h / t)^p |D x_n| with the differences D of order p + 1 at times t apart. Where these
    change, as at jumps of signals, the sum begins anew; what lies between times further apart than two steps counts by
    the mean of the rest.
    """
    if order not in SLOWED or len(time) < order + 3:
        return float("nan")
    spacing = np.sort(time[1:] - time[:-1])
    median = float(spacing[(len(spacing) - 1) // 2] + spacing[len(spacing) // 2]) / 2.0
    stride = max(1, round(step / median))  # inside a step there is nothing but its polynomial
    at, x = time[::stride], tip[::stride]
    widths = at[1:] - at[:-1]
    changes = np.flatnonzero(np.abs(widths[1:] - widths[:-1]) > 1e-6 * widths[1:]) + 1
    total = seen = 0.0
    for first, end in itertools.pairwise([0, *changes.tolist(), len(widths)]):
        last = end + 1
        if last - first > order + 2 and widths[first] < 2.5 * step:
            differences = x[first:last]
            for _ in range(order + 1):
                differences = differences[1:] - differences[:-1]
            scale = (min(step / widths[first], 1.0)) ** order
            total += scale * float(np.linalg.norm(differences, axis=1).sum())
            seen += float(at[last - 1] - at[first])
    if not seen > 0.0:
        return float("nan")
    return SLOWED[order] * total * float(at[-1] - at[0]) / seen


def missed_at(switches: tuple[float, ...], time: Array, tip: Array, step: float) -> float:
    """What the steps in which contacts begin or end add to the error of a tip (n, 3), metre.

    The force of a damper jumps there, that of a spring bends, and the stages of the step do not know when: the error is
    of an order between one and two. So it is told as a part of the mean of what the tip moves in such a step, v h, and
    of what that changes by, a h^2, whatever the order of the method.
    """
    if not switches or len(time) < 4:
        return 0.0
    after = np.minimum(np.maximum(np.searchsorted(time, np.array(switches)), 2), len(time) - 2)
    widths = time[after[:, None] + np.arange(-1, 2)] - time[after[:, None] + np.arange(-2, 1)]
    ways = (tip[after[:, None] + np.arange(-1, 2)] - tip[after[:, None] + np.arange(-2, 1)]) / widths[..., None]
    shares = step / np.maximum(widths, step)  # of rows further apart, which show no more than a mean
    v = np.sqrt((ways * ways).sum(axis=2))
    turned = np.diff(ways, axis=1)
    change = np.sqrt((turned * turned).sum(axis=2)) * np.minimum(shares[:, 1:], shares[:, :-1])
    return AT_CONTACTS * step * float(np.sqrt(v.max() * change.max()))


def local_errors(grid: Array, tips: Array, order: int, breaks: Array) -> Array:
    """What each step (n) adds to the error of each tip (n + 1, tips, 3), as `indicated` sums it; also of uneven steps.

    c h^(p + 1) times the derivative of order p + 1, from divided differences that do not reach across ``breaks``,
    unless these leave no room for them.
    """
    steps, reach = len(grid) - 1, order + 1
    if order not in SLOWED or steps < reach:
        return np.full((steps, tips.shape[1]), np.nan)
    widths = grid[1:] - grid[:-1]
    even = float(widths.max() - widths.min()) <= 1e-9 * float(grid[-1] - grid[0])
    differences, scale = tips, 1.0
    for k in range(1, reach + 1):
        differences = differences[1:] - differences[:-1]
        if not even:
            differences /= (grid[k:] - grid[:-k])[:, None, None]
            scale *= k
    sizes = scale * np.sqrt((differences * differences).sum(axis=-1))
    first = np.minimum(np.maximum(np.arange(steps) - order // 2, 0), steps - reach)
    ends = [0, *grid.searchsorted(breaks - 1e-9 * grid[-1]).tolist(), steps]
    for a, b in itertools.pairwise(ends):
        if b - a >= reach:
            first[a:b] = np.minimum(np.maximum(first[a:b], a), b - reach)
    added = SLOWED[order] * sizes[first]
    return np.asarray(added if even else added * widths[:, None] ** reach)


def windows(steps: int, order: int, begin: int) -> NDArray[np.int64]:
    """Which ends of steps lie in a few stretches of a run from one of them on, enough for `indicated`."""
    length = order + 10
    if steps - begin <= WINDOWS * length:
        return np.arange(begin, steps + 1)
    first = np.linspace(min(begin, steps - length), steps - length, WINDOWS).round().astype(np.int64)
    return np.unique(first[:, None] + np.arange(length + 1))


def telling_rows(time: Array, order: int, step: float) -> NDArray[np.int64]:
    """Rows of a run at which `indicated` needs the tip: ends of steps, in a few stretches where there are many."""
    spacing = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    ends = np.arange(0, len(time), max(1, round(step / spacing)) if spacing > 0.0 else 1)
    return ends[windows(len(ends) - 1, order, 0)] if spacing < 1.5 * step else ends
