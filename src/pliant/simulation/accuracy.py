"""Accuracy in, answer out: steps and meshes so fine that no tip is further off than was asked, and the error told.

A motion is computed with few steps on a coarse mesh, then with more. The steps of all trials are parts of the same base
steps, so that trials are compared where both end a step. The finest trial of a row shows the errors of the others; from
their decay follow the order that is really seen, the error of the finest, and the number of steps that is needed:

    e(n) = c n^-p ,     p from the two trials before the finest, c from the last of them.

Meshes are compared in the same way at equal steps, where errors in time cancel. Then the run itself is done, with the
exact energy ledger, and compared with its trials: what it tells of their errors replaces what was foretold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, inf, isfinite, log, nan
from typing import Any

import numpy as np

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.contract import Arm, Meshed, Model, Record, Run
from pliant.model.error_estimate import ErrorEstimate
from pliant.model.state import Array, Cause
from pliant.simulation.driver import Progress, advance
from pliant.simulation.grid import corners, divided, saved_times, step_grid, wanted_times
from pliant.simulation.integrators import Gauss
from pliant.simulation.start import consistent_start

BASE_STEPS = 16  # of a run, at least, in its coarsest trial
MOST_COMPARED = 200  # instants
MOST_STEPS = 2_000_000  # of a run
MOST_HALVINGS = 14  # of base steps, to find trials that end
MOST_TRIES = 5  # to reach what was foretold
SHARE = 0.3  # part of the accuracy that the steps may take, and the mesh
FAR = 2.5  # times the steps of the finest trial that its errors may foretell
BELIEVED = (0.02, 0.7)  # decays from mesh to mesh
BELIEVED_ORDER = 0.75  # times that of the method: waves that are not resolved keep it from its own
SURE_ORDER = 2.0  # by which errors are told
UNKNOWN_DECAY = 0.4
ROUNDING = 1e-13  # of the reach
USUAL = 1e-3  # accuracy of runs for which none is asked
STOPS = (Cause.CONTROLLER, Cause.INTERRUPTED, Cause.INPUT)
BEST, WORST = 1e-9, 0.3  # accuracies that can be asked for


def checked_accuracy(accuracy: float) -> float:
    refuse_other_than_number("accuracy", accuracy, "give the largest error of a tip over the reach, such as 1e-4")
    if not BEST <= accuracy <= WORST:
        raise InvalidInput(
            f"accuracy = {accuracy:g} must lie between {BEST:g} and {WORST:g}; it is the largest error of a tip over"
            " the reach of the arm, such as 1e-4"
        )
    return float(accuracy)


@dataclass(frozen=True, eq=False)
class Found:
    """A run of the accuracy that was asked for: by which model, from where, with which steps and error."""

    model: Model
    start: Array
    record: Record
    integrator: Gauss
    error: ErrorEstimate
    trials: int


@dataclass(eq=False)
class Row:
    """Trials of one mesh; each has a number of steps in every base step, and the tips it gave, or none."""

    model: Model
    start: Array
    tips: dict[int, Array | None] = field(default_factory=dict)
    cause: Cause = Cause.COMPLETED

    @property
    def done(self) -> list[int]:
        """Numbers of steps of the trials that ended."""
        return sorted(n for n, tips in self.tips.items() if tips is not None)


def apart(a: Array, b: Array) -> float:
    """Largest distance of two motions, part of the reach."""
    return float(np.sqrt(np.max(np.sum((a - b) ** 2, axis=-1), initial=0.0)))


def decay(counts: Sequence[int], tips: Sequence[Array], highest: int) -> tuple[float, float]:
    """Order that three trials show, coarsest first, and the error of the finest."""
    coarse, middle = apart(tips[0], tips[2]), apart(tips[1], tips[2])
    if max(coarse, middle) <= ROUNDING:
        return float(highest), ROUNDING
    first, last = counts[0] / counts[2], counts[1] / counts[2]
    order = 1.0
    for _ in range(8):  # the finest has an error too, by which the others seem nearer than they are
        seen = max(coarse, ROUNDING) / (1.0 - first**order), max(middle, ROUNDING) / (1.0 - last**order)
        order = min(max(log(seen[0] / seen[1]) / log(counts[1] / counts[0]), 0.25), BELIEVED_ORDER * highest)
    return order, max(middle, ROUNDING) / (1.0 - last**order) * last**order


class Stopped(Exception):
    """A trial ended as the run itself would: interrupted, or by what users wrote."""

    def __init__(self, row: Row, count: int, record: Record) -> None:
        super().__init__()
        self.row, self.count, self.record = row, count, record


class Search:
    """Trials of a model and of its robot on other meshes."""

    def __init__(
        self, model: Model, until: float, accuracy: float, initial: Array | None, outputs: int | Array
    ) -> None:
        self.model, self.until, self.accuracy, self.initial = model, until, accuracy, initial
        self.base = step_grid(corners(model.inputs, until), until / BASE_STEPS)
        # where nobody asks for more, ends of base steps; else where states are wanted, which steps interpolate
        seen = self.base if isinstance(outputs, int) else wanted_times(outputs, until)
        self.compared = seen[
            np.unique(np.linspace(0, len(seen) - 1, min(len(seen), MOST_COMPARED)).round().astype(int))
        ]
        self.order = min(4, model.highest_order)
        self.scale = float(getattr(getattr(model, "arm", model), "reach", 1.0))
        self.meshes, self.own = self._meshes()
        self.rows: dict[int, Row] = {}
        self.trials = 0

    def _meshes(self) -> tuple[tuple[Any, ...], int]:
        """Formulations from the coarsest to the finest, and which of them is that of the model."""
        own = getattr(self.model, "formulation", None)
        if not (isinstance(own, Meshed) and hasattr(self.model, "by")):
            return (None,), 0
        every = own.meshes()
        if self.initial is not None:
            every = every if hasattr(getattr(self.model, "arm", self.model), "adopt") else (own,)
        return every, every.index(own) if own in every else len(every) - 1

    @property
    def automatic(self) -> bool:
        return bool(getattr(self.meshes[self.own], "automatic", False))

    def row(self, level: int) -> Row:
        if level not in self.rows:
            own: Any = self.model
            model = own if level == self.own else own.by(self.meshes[level])
            start = self.initial if model is own else None
            if start is None:
                start = consistent_start(model) if self.initial is None else model.adopt(own, self.initial)
            self.rows[level] = Row(model, start)
        return self.rows[level]

    def integrator(self, count: int, loose: bool) -> Gauss:
        """Steps of which every base step has ``count``; trials need no exact ledger."""
        tolerance = float(np.clip(1e-4 * self.accuracy, 1e-10, 1e-8))
        step = float(np.max(np.diff(self.base))) / count
        return Gauss(self.order, step, tolerance, 1.0 if loose else Gauss().energy_tolerance)

    def tips(self, level: int, count: int) -> Array | None:
        """Of a trial; None if it does not end."""
        row = self.row(level)
        if count not in row.tips:
            if len(self.base) * count > MOST_STEPS:
                return None
            self.trials += 1
            record = self.run(row, count, self.compared, True)
            if record.ending.cause in STOPS:
                raise Stopped(row, count, record)
            row.tips[count] = self.seen(row.model, record.states) if record.ending.completed else None
            row.cause = record.ending.cause
        return row.tips[count]

    def run(self, row: Row, count: int, outputs: Array, loose: bool, progress: Progress = None) -> Record:
        grid = divided(self.base, np.full(len(self.base) - 1, count))
        chosen = self.integrator(count, loose)
        run = Run(row.start, grid, outputs, row.model.inputs, chosen.method, chosen.newton_tolerance, progress)
        return advance(row.model, run)

    def seen(self, model: Model, states: Array) -> Array:
        """Tips (instants, links, 3) of all links over the reach; of a model without links its scaled states."""
        if not isinstance(model, Arm):
            return np.asarray(states[:, None] / np.maximum(np.abs(states).max(axis=0), 1e-300))
        return np.stack([link.position[:, -1] for link in model.observe(states, 2).links], axis=1) / self.scale

    def decay(self, level: int) -> tuple[float, float]:
        """Order that is seen and error of the finest trial; infinite as long as nothing is known."""
        row = self.row(level)
        counts = row.done[-3:]
        if len(counts) < 3:
            return 0.0, inf
        return decay(counts, [row.tips[n] for n in counts], self.order)  # type: ignore[misc]

    def needed(self, level: int) -> int:
        """Steps in every base step that the accuracy takes, a little on the safe side; 0: not known yet."""
        order, error = self.decay(level)
        aim = SHARE * self.accuracy
        if not isfinite(error) or (order < 0.8 and error > 0.1 * aim):
            return 0
        more = max(error / aim, 1e-12) ** (1.0 / max(order - 0.25, 0.8))
        return max(1, ceil(self.row(level).done[-1] * float(more)))

    def in_time(self, level: int) -> int:
        """How many steps in every base step are needed, by trials on one mesh; 0 if that is not found."""
        count = 1
        for _ in range(MOST_HALVINGS):
            if self.tips(level, count) is None and self.row(level).cause is Cause.TOO_BENT:
                return 0
            done = self.row(level).done
            needed = self.needed(level)
            if needed and needed <= FAR * done[-1]:
                return needed
            # where more is needed than can be foretold, some of the way is skipped
            count = 2 * count if not needed else done[-1] * max(2, 2 ** int(np.log2(needed / done[-1] / FAR)))
            if len(self.base) * count > MOST_STEPS:
                return done[-1] if len(done) else 0
        return 0

    def in_space(self, level: int, count: int) -> tuple[int, float]:
        """The coarsest mesh from ``level`` on that serves, and its error; not a number where it is not known."""
        aim, before, last = SHARE * self.accuracy, nan, len(self.meshes) - 1
        first = self.tips(level, count)
        while level < last:
            second = self.tips(level + 1, count)
            if first is None or second is None:
                failed = level if first is None else level + 1
                if self.row(failed).cause is not Cause.TOO_BENT:  # steps that are too long for this mesh
                    return self.in_space(level, 2 * count) if len(self.base) * count < MOST_STEPS else (level, nan)
                if not self.automatic:
                    return level, nan
                level, first, before = level + 1, second, nan
                continue
            change = apart(first, second)
            ratio = change / max(before, ROUNDING) if before == before else UNKNOWN_DECAY
            ratio = min(max(ratio, BELIEVED[0]), BELIEVED[1])
            here = change / (1.0 - ratio)
            if self.automatic and here <= aim:
                return level, here
            if level + 1 == last or (self.automatic and here * ratio <= aim):
                return level + 1, here * ratio
            level, first, before = level + 1, second, change
        return level, nan if last else 0.0


def find(
    model: Model, until: float, accuracy: float, initial: Array | None, outputs: int | Array, progress: Progress
) -> Found:
    """Steps and mesh for an accuracy, and the run with them."""
    search = Search(model, until, accuracy, initial, outputs)
    try:
        return _found(search, outputs, progress)
    except Stopped as stopped:
        told = ErrorEstimate(nan, nan, search.scale, accuracy)
        chosen = search.integrator(stopped.count, True)
        return Found(stopped.row.model, stopped.row.start, stopped.record, chosen, told, search.trials)


def _found(search: Search, outputs: int | Array, progress: Progress) -> Found:
    accuracy, level = search.accuracy, 0
    needed = search.in_time(level)
    while not needed and search.row(level).cause is Cause.TOO_BENT and level + 1 < len(search.meshes):
        level += 1
        needed = search.in_time(level)
    if not needed:
        return _as_it_is(search, outputs, progress)
    order, error = search.decay(level)
    finest = search.row(level).done[-1]
    # meshes are compared with steps that are no finer than needed
    small = [n for n in search.row(level).done if error * (finest / n) ** order <= 5.0 * accuracy]
    count = min(small, default=finest)
    chosen, space = search.in_space(level, count)
    row = search.row(chosen)
    time = error * (finest / needed) ** order
    for _ in range(MOST_TRIES):
        record, tips = _run(search, row, needed, outputs, progress)
        if not record.ending.completed:
            if record.ending.cause in STOPS:
                break
            needed *= 2
            continue
        known = [n for n in row.done if n < needed]
        if known:  # what the run tells of its finest trial
            n = known[-1]
            part = (n / needed) ** min(order, SURE_ORDER)
            time = max(apart(tips, row.tips[n]) * part / (1.0 - part), ROUNDING)  # type: ignore[arg-type]
        if time + (space if space == space else 0.0) <= accuracy or 2 * needed * len(search.base) > MOST_STEPS:
            break
        row.tips[needed] = tips
        if time <= 0.5 * accuracy:
            break  # the mesh is to blame
        needed = ceil(needed * min(max(2.0 * time / accuracy, 1.3) ** (1.0 / max(order - 0.25, 0.8)), 8.0))
    scale = search.scale
    told = ErrorEstimate(time * scale, space * scale, scale, accuracy)
    return Found(row.model, row.start, record, search.integrator(needed, False), told, search.trials)


def _run(search: Search, row: Row, count: int, outputs: int | Array, progress: Progress) -> tuple[Record, Array]:
    """The run itself, and its tips where trials are compared."""
    grid = divided(search.base, np.full(len(search.base) - 1, count))
    wanted = saved_times(grid, outputs, search.until)
    every = np.union1d(wanted, search.compared)
    record = search.run(row, count, every, False, progress)
    if not record.ending.completed:
        return record, np.zeros((0, 1, 3))
    at = np.searchsorted(every, search.compared)
    return record.at(np.searchsorted(every, wanted)), search.seen(row.model, record.states[at])


def _as_it_is(search: Search, outputs: int | Array, progress: Progress) -> Found:
    """The finest run that could be done where no number of steps was found to be enough."""
    level = max(search.rows, key=lambda each: (bool(search.row(each).done), each))
    row = search.row(level)
    count = row.done[-1] if row.done else max(row.tips)
    record, _ = _run(search, row, count, outputs, progress)
    error = search.decay(level)[1] * search.scale
    remark = "trials with more and more steps do not come nearer to each other"
    told = ErrorEstimate(error, nan, search.scale, search.accuracy, remark)
    return Found(row.model, row.start, record, search.integrator(count, False), told, search.trials)
