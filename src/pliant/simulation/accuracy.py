"""Accuracy in, answer out: steps and meshes so fine that no tip is further off than was asked, and the error told.

A motion is computed with few steps on a coarse mesh. Its own differences show what error the steps have, and so how
many are needed (`indicated`). Meshes are compared at equal steps, where errors in time cancel, with the decay that is
seen. Then the run itself is done, with the exact energy ledger, and compared with a trial of fewer steps on the same
mesh. The distance of the two is the error of the trial, whatever order is seen; that of the run is told with a decay
that is slower than any method has,

    e(m) = |x_n - x_m| (n / m)^p / (1 - (n / m)^p) ,     p = 3/2 for m > n steps,

and where that is more than was asked, the run is done again with more steps.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, inf, nan
from typing import Any

import numpy as np

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.contract import Arm, Meshed, Model, Record, Run
from pliant.model.error_estimate import ErrorEstimate, indicated
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause
from pliant.simulation.driver import Progress, advance
from pliant.simulation.grid import corners, divided, step_grid, wanted_times
from pliant.simulation.integrators import Gauss, Radau
from pliant.simulation.law_copies import with_copied_laws
from pliant.simulation.start import consistent_start

BASE_STEPS = 16  # of a run, at least, in its coarsest trial
MOST_COMPARED = 200  # instants
MOST_STEPS = 400_000  # of a run
MOST_TRIES = 5  # to reach what was foretold
TIME_SHARE, SHARE = 0.6, 0.3  # parts of the accuracy that steps and mesh may take
BELIEVED = (0.15, 0.7)  # decays from mesh to mesh
SURE_ORDER = 1.5  # by which errors are told to decay with the steps, whatever the method has
UNKNOWN_DECAY = 0.4
FAR = 2.5  # times the steps of a trial that its error may foretell
TRUSTED = 4.0  # times what a trial shows by itself that others may make of its error
LOOSE = 2e-3  # accuracy that the coarsest mesh may serve
STIFF = 20.0  # times its inertia that a damper of a joint takes from it in a step
RATE_THAT_MATTERS = 0.05  # of the largest rate of a joint
MOST_SHOWN = 4096  # steps at whose ends a trial is looked at
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
    integrator: Gauss | Radau
    error: ErrorEstimate
    trials: int


@dataclass(eq=False)
class Row:
    """Trials of one mesh; each has a number of steps in every base step, and the tips it gave, or none."""

    model: Model
    start: Array
    tips: dict[int, Array | None] = field(default_factory=dict)
    shown: dict[int, float] = field(default_factory=dict)  # errors that trials show by themselves
    cause: Cause = Cause.COMPLETED

    @property
    def done(self) -> list[int]:
        """Numbers of steps of the trials that ended."""
        return sorted(n for n, tips in self.tips.items() if tips is not None)


def apart(a: Array, b: Array) -> float:
    """Largest distance of two motions, part of the reach."""
    return float(np.sqrt(np.max(np.sum((a - b) ** 2, axis=-1), initial=0.0)))


def told_by(distance: float, part: float) -> float:
    """Error of a trial that lies so far from one with ``part`` of its steps."""
    left = float(part**SURE_ORDER)
    return max(distance, ROUNDING) * left / (1.0 - left)


class Stopped(Exception):
    """A trial ended as the run itself would: interrupted, or by what users wrote."""

    def __init__(self, row: Row, count: int, record: Record) -> None:
        super().__init__()
        self.row, self.count, self.record = row, count, record


class Unfit(Exception):
    """A mesh that is coarser than that of the model does not carry it, such as a load between its nodes."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self.level = level


class Search:
    """Trials of a model and of its robot on other meshes."""

    def __init__(
        self, model: Model, until: float, accuracy: float, initial: Array | None, outputs: int | Array
    ) -> None:
        self.model, self.until, self.accuracy, self.initial = model, until, accuracy, initial
        self.base = step_grid(corners(model.inputs, until), until / BASE_STEPS)
        evenly = np.linspace(0.0, until, outputs + 1) if isinstance(outputs, int) else outputs
        # between ends of steps by their polynomials, as users see them
        self.wanted = seen = wanted_times(evenly, until)
        self.compared = seen[
            np.unique(np.linspace(0, len(seen) - 1, min(len(seen), MOST_COMPARED)).round().astype(int))
        ]
        self.order = min(4, model.highest_order)
        self.scale = float(getattr(getattr(model, "arm", model), "reach", 1.0))
        self.meshes, self.own = self._meshes()
        robot = getattr(model, "robot", None)
        parents = [joint.parent for joint in robot.joints] if robot is not None else []
        self.serial = robot is not None and not robot.loops and len(set(parents)) == len(parents)
        self.sizes: Array | None = None  # of the states of a model without links
        self.rings = False  # stiff dampers let Gauss collocation ring: Radau takes over
        self.rows: dict[int, Row] = {}
        self.trials = 0

    def _meshes(self) -> tuple[tuple[Any, ...], int]:
        """Formulations from the coarsest to the finest, and which of them is that of the model."""
        own = getattr(self.model, "formulation", None)
        given = self.initial is not None and not hasattr(getattr(self.model, "arm", self.model), "adopt")
        if given or not (isinstance(own, Meshed) and hasattr(self.model, "by")):
            return (own,), 0
        every = own.meshes()
        at = every.index(own)
        # a given state is one of this mesh, and often balanced on it: it passes to coarser ones, to be compared with
        return (every if self.initial is None else every[: at + 1]), at

    @property
    def automatic(self) -> bool:
        return self.initial is None and bool(getattr(self.meshes[self.own], "automatic", False))

    def leave_out(self, level: int) -> None:
        """A mesh below that of the model."""
        self.meshes, self.own = self.meshes[:level] + self.meshes[level + 1 :], self.own - 1
        self.rows = {each - (each > level): row for each, row in self.rows.items() if each != level}

    def row(self, level: int) -> Row:
        if level not in self.rows:
            own: Any = self.model
            model = own if level == self.own else own.by(self.meshes[level])
            start = self.initial if model is own else None
            if start is None:
                start = consistent_start(model) if self.initial is None else model.adopt(own, self.initial)
            self.rows[level] = Row(model, start)
        return self.rows[level]

    def coarsest(self) -> int:
        """The first mesh to try, of those that can be compiled: some choices need a number of elements."""
        for level in range(1 if self.automatic and self.accuracy < LOOSE else 0, self.own):
            try:
                self.row(level)
            except InvalidInput:
                continue
            return level
        return self.own

    def integrator(self, count: int, loose: bool) -> Gauss | Radau:
        """Steps of which every base step has ``count``; trials need no exact ledger."""
        tolerance = float(np.clip(1e-4 * self.accuracy, 1e-10, 1e-8))
        step = float(np.max(np.diff(self.base))) / count
        kept = tolerance, 1.0 if loose else Gauss().energy_tolerance
        return Radau(5, step, *kept) if self.rings else Gauss(self.order, step, *kept)

    def ringing(self, model: Model, grid: Array, states: Array) -> bool:
        """Whether dampers of joints are so stiff that joint rates at ends of steps are not those of the motion.

        What is damped much faster than a step stays in the rates, with changing sign or the same; positions know
        nothing of it. Radau brings it to rest.
        """
        if self.rings or model.highest_order < 4 or not isinstance(model, Arm) or len(grid) < 9:
            return False
        own = ~np.array(model.inputs.prescribed, np.bool_)
        laws = [model.robot.freedom(name).law for name in model.joint_names]
        damping = np.array(model.inputs.damping, float) + [law.damping for law in laws]
        step, still = float(np.max(np.diff(grid))), model.layout.part(states[0], "joint_position")
        stiff = np.zeros(len(own), np.bool_)
        for joint in np.flatnonzero(own & (damping > 0.0)):
            moved = model.initial_state(still, np.eye(len(own))[joint])
            stiff[joint] = damping[joint] * step > STIFF * 2.0 * float(model.energy(moved[None])[0][0])
        q, rates = (model.layout.part(states, name)[:, stiff] for name in ("joint_position", "joint_rate"))
        missed = np.abs(rates - np.gradient(q, grid, axis=0))[2:-2]
        bad = np.any(missed > RATE_THAT_MATTERS * np.abs(rates).max(axis=0, initial=0.0) + ROUNDING, axis=1)
        return bool(np.any(bad[:-3] & bad[1:-2] & bad[2:-1] & bad[3:]))

    def grid(self, count: int) -> Array:
        return divided(self.base, np.full(len(self.base) - 1, count))

    def indicated(self, grid: Array, tips: Array) -> float:
        """Error that ends of steps show by themselves, part of the reach."""
        step = float(np.max(np.diff(grid)))
        order = self.integrator(1, True).order
        return max(indicated(grid, tips[:, k], order, step) for k in range(tips.shape[1]))

    def tips(self, level: int, count: int) -> Array | None:
        """Of a trial; None if it does not end."""
        try:
            return self._tips(level, count)
        except InvalidInput:
            if level < self.own:
                raise Unfit(level) from None
            raise

    def _tips(self, level: int, count: int) -> Array | None:
        row = self.row(level)
        if count not in row.tips:
            if len(self.base) * count > MOST_STEPS:
                return None
            self.trials += 1
            grid = self.grid(count)
            looked_at = len(grid) <= MOST_SHOWN
            rows = np.union1d(self.compared, grid) if looked_at else self.compared
            record = self.run(row, count, rows, True, with_copied_laws(row.model))
            if record.ending.cause in STOPS:
                raise Stopped(row, count, record)
            row.tips[count], row.cause = None, record.ending.cause
            if record.ending.completed:
                tips, ends = self.seen(row.model, record.states), np.searchsorted(rows, grid)
                if looked_at and self.ringing(row.model, grid, record.states[ends]):
                    self.rings = True
                    for each in self.rows.values():
                        each.tips.clear()
                    return self.tips(level, count)
                row.tips[count] = tips[np.searchsorted(rows, self.compared)]
                row.shown[count] = self.indicated(grid, tips[ends]) if looked_at else nan
        return row.tips[count]

    def run(
        self, row: Row, count: int, outputs: Array, loose: bool, inputs: Inputs, progress: Progress = None
    ) -> Record:
        chosen = self.integrator(count, loose)
        run = Run(row.start, self.grid(count), outputs, inputs, chosen.method, chosen.newton_tolerance, progress)
        return advance(row.model, run)

    def seen(self, model: Model, states: Array) -> Array:
        """Tips (instants, links, 3) of all links over the reach, of links in a row the last; else scaled states."""
        if not isinstance(model, Arm):
            if self.sizes is None:  # one scale for all trials, or errors of amplitudes would not be seen
                self.sizes = np.maximum(np.abs(states).max(axis=0), 1e-300)
            return np.asarray(states[:, None] / self.sizes)
        if self.serial:
            return model.tip(states)[0][:, None] / self.scale
        return np.stack([link.position[:, -1] for link in model.observe(states, 2).links], axis=1) / self.scale

    def in_time(self, level: int) -> tuple[int, int]:
        """How many steps in every base step are needed, and those of the trial that shows it; 0 if none does."""
        count, aim = 1 if len(self.base) > 2 * BASE_STEPS else 2, TIME_SHARE * self.accuracy
        while len(self.base) * count <= MOST_STEPS:
            row, tips = self.row(level), self.tips(level, count)
            if row.cause is Cause.TOO_BENT:
                return 0, 0
            if tips is not None:
                error = row.shown[count]
                before = [n for n in row.done if n < count]
                if before:  # what a trial shows of those before it
                    told = told_by(apart(row.tips[before[-1]], tips), before[-1] / count)  # type: ignore[arg-type]
                    error = told if error != error else max(error, min(told, TRUSTED * error))
                if error == error:
                    needed = ceil(count * max(error / aim, ROUNDING) ** (1.0 / (0.75 * self.order)))
                    if needed <= FAR * count:
                        return max(needed, count + (count + 1) // 2), count
                    count = min(ceil(needed / FAR), 8 * count)
                    continue
            count *= 2
        return 0, 0

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
        return level, nan if last or isinstance(self.meshes[level], Meshed) else 0.0


def find(
    model: Model, until: float, accuracy: float, initial: Array | None, outputs: int | Array, progress: Progress
) -> Found:
    """Steps and mesh for an accuracy, and the run with them."""
    search = Search(model, until, accuracy, initial, outputs)
    try:
        while True:
            try:
                return _found(search, progress)
            except Unfit as unfit:
                search.leave_out(unfit.level)
    except Stopped as stopped:
        record, count = stopped.record, stopped.count
        if record.ending.cause is not Cause.INTERRUPTED:  # what stops the trial stops the run: once more, as it is seen
            count = max(count, ceil(float(np.max(np.diff(search.base))) / Gauss().step))
            record, _ = _run(search, stopped.row, count, stopped.row.model.inputs, progress)
        told = ErrorEstimate(nan, nan, search.scale, accuracy)
        return Found(stopped.row.model, stopped.row.start, record, search.integrator(count, False), told, search.trials)


def _found(search: Search, progress: Progress) -> Found:
    accuracy, level = search.accuracy, search.coarsest()
    needed, count = search.in_time(level)
    while not needed and search.row(level).cause is Cause.TOO_BENT and level + 1 < len(search.meshes):
        level += 1
        needed, count = search.in_time(level)
    if not needed:
        return _as_it_is(search, progress)
    chosen, space = search.in_space(level, count)
    row = search.row(chosen)
    time = TIME_SHARE * accuracy
    own = row.model.inputs
    sampled = bool(own.controllers or own.commands)
    for _ in range(MOST_TRIES):
        record, tips = _run(search, row, needed, with_copied_laws(row.model), progress)
        if record.ending.cause in STOPS:
            break
        if not record.ending.completed:
            needed *= 2
            continue
        known = [n for n in row.done if n < needed]
        if known:  # what the run tells of its finest trial
            time = told_by(apart(tips, row.tips[known[-1]]), known[-1] / needed)  # type: ignore[arg-type]
        if time + (space if space == space else 0.0) <= accuracy or 2 * needed * len(search.base) > MOST_STEPS:
            break
        row.tips[needed] = tips
        if time <= 0.5 * accuracy:
            break  # the mesh is to blame
        needed = ceil(needed * min(max((time / (TIME_SHARE * accuracy)) ** (1.0 / SURE_ORDER), 1.3), 4.0))
    if sampled:  # laws of users are asked in one run only
        record, _ = _run(search, row, needed, own, progress)
    scale = search.scale
    told = ErrorEstimate(time * scale, space * scale, scale, accuracy)
    return Found(row.model, row.start, record, search.integrator(needed, False), told, search.trials)


def _run(search: Search, row: Row, count: int, inputs: Inputs, progress: Progress) -> tuple[Record, Array]:
    """The run itself, and its tips where trials are compared."""
    record = search.run(row, count, search.wanted, False, inputs, progress)
    if not record.ending.completed:
        return record, np.zeros((0, 1, 3))
    return record, search.seen(row.model, record.states[np.searchsorted(search.wanted, search.compared)])


def _as_it_is(search: Search, progress: Progress) -> Found:
    """The finest run that could be done where no number of steps was found to be enough."""
    level = max(search.rows, key=lambda each: (bool(search.row(each).done), each))
    row = search.row(level)
    count = row.done[-1] if row.done else max(row.tips)
    record, _ = _run(search, row, count, row.model.inputs, progress)
    error = inf
    if len(row.done) > 1:
        before, last = row.done[-2:]
        error = told_by(apart(row.tips[before], row.tips[last]), before / last)  # type: ignore[arg-type]
    remark = "trials with more and more steps do not come nearer to each other"
    told = ErrorEstimate(error * search.scale, nan, search.scale, search.accuracy, remark)
    return Found(row.model, row.start, record, search.integrator(count, False), told, search.trials)
