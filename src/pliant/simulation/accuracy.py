"""Accuracy in, answer out: steps and meshes so fine that no tip is further off than was asked, and the error told.

A motion is computed with few steps on a coarse mesh. Its own differences show what error the steps have, and where
(`local_errors`): so many steps are needed, and there. Meshes are compared at equal steps, where errors in time cancel:
the distance of two is the error of the coarser one. Then the run itself is done, with the exact energy ledger, and
compared with a trial of fewer steps on the same mesh. The distance of the two is what the run has gained; what is left
is told with the decay that both show,

    error = distance left / (1 - left) ,    left = error that the run shows / error that the trial shows ,

or with a slower one, where trials approach each other more slowly. Where that is more than was asked, the run is done
again with more steps.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from math import ceil, inf, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.model.continuation import Continuation
from pliant.model.contract import Arm, Meshed, Model, Record, Run
from pliant.model.error_estimate import ErrorEstimate, local_errors
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause
from pliant.simulation.driver import Progress, advance
from pliant.simulation.grid import corners, divided, step_grid, wanted_times
from pliant.simulation.integrators import Gauss, Radau
from pliant.simulation.law_copies import with_copied_laws
from pliant.simulation.start import consistent_start

BASE_STEPS = 16  # of a run, at least: between their ends all steps are of one length
FIRST = 2.0  # steps in a base step of the first trial
MOST_COMPARED = 200  # instants
MOST_STEPS = 400_000  # of a run
MOST_TRIES = 5  # to reach what was foretold
TIME_SHARE, SHARE = 0.55, 0.45  # parts of the accuracy that steps and mesh may take
BELIEVED = (0.1, 0.7)  # decays from mesh to mesh
UNKNOWN_DECAY = 0.4
NEARLY, WITHIN = (
    1.5,
    0.7,
)  # of the accuracy: error of a trial with which a run on the next mesh may be compared, and its own
FAR_MESH = 1.0  # of the accuracy: distance to the next mesh that a mesh which may serve does not have
SURE_MESH = 0.03  # of the accuracy: error of a mesh that need not be looked at again
BEYOND = 1.4  # times the distance to the next mesh that the error of a mesh may be
SURE_ORDER = 1.5  # by which errors decay with the steps, whatever the method has, where nothing is shown
SLOWEST, FASTEST = 0.75, 0.85  # orders that are believed: the least, and the most as a part of that of the method
DOUBTED = 0.5  # the same where trials are further apart than what they show
STIFF_ORDER = 1.0  # the most that is believed of Radau where dampers are stiff
SHOWN, SHOWN_BY_STIFF = 2.0, 5.0  # times what a trial shows by itself that its error is, if nothing else is known
CALIBRATED = 5.0  # times what a trial shows that its error may be, if that of others is to be what they show
CAUTION = 1.5  # times that, where it foretells how many steps are needed
HOPED = (1.5, 0.7)  # orders in what is foretold: the least, and the most as a part of that of the method
FAR, NEAR = 5.0, 3.0  # times the steps of a trial that its error may foretell; how far the next one is from these
MOST_GROWTH = 8.0  # from trial to trial
LEAST = 1.5  # times the steps of a trial that a run compared with it has
UNEVEN = 1.5  # times fewer steps for which they are not all of one length
SPARED = 0.25  # of the mean number of steps that is left where least happens
LOOSE, TIGHT = 2e-3, 2e-5  # accuracies that the coarsest mesh may serve, and that the second one does not
STIFF = 20.0  # times its inertia that a damper of a joint takes from it in a step
RATE_THAT_MATTERS = 0.05  # of the largest rate of a joint
MOST_SHOWN = 8192  # steps at whose ends a trial is looked at
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
    lengths: str = ""  # of steps that are not all of one length


@dataclass(frozen=True, eq=False)
class Trial:
    """A run of so many steps in the mean of the base steps: its tips, and the error that these show by themselves."""

    mean: float
    tips: Array
    shown: float = nan
    spread: Array | None = None  # of that error over the base steps


@dataclass(eq=False)
class Row:
    """Trials of one mesh by their steps; those that did not end are None."""

    model: Model
    start: Array
    tried: dict[float, Trial | None] = field(default_factory=dict)
    cause: Cause = Cause.COMPLETED

    def before(self, mean: float) -> list[Trial]:
        """The trials that ended, with clearly fewer steps."""
        return [each for n, each in sorted(self.tried.items()) if each is not None and n < 0.9 * mean]


def apart(a: Array, b: Array) -> float:
    """Largest distance of two motions, part of the reach."""
    return float(np.sqrt(np.max(np.sum((a - b) ** 2, axis=-1), initial=0.0)))


def told_by(distance: float, left: float) -> float:
    """Error of a run that lies so far from a trial of whose error it has left so much."""
    return max(distance, ROUNDING) * left / (1.0 - left)


def order_seen(first: float, second: float, part: float, next_part: float) -> float:
    """That of three runs which approach each other: their distances, and parts of the steps from one to the next.

    first / second = (1 - a^p) / (a^p (1 - b^p)) for the parts a and b; it grows with p.
    """
    low, high = 0.0, 8.0
    for _ in range(20):
        p = 0.5 * (low + high)
        if first * part**p * (1.0 - next_part**p) > second * (1.0 - part**p):
            low = p
        else:
            high = p
    return low


class Stopped(Exception):
    """A trial ended as the run itself would: interrupted, or by what users wrote."""

    def __init__(self, row: Row, mean: float, record: Record) -> None:
        super().__init__()
        self.row, self.mean, self.record = row, mean, record


class Unfit(Exception):
    """A mesh that is coarser than that of the model does not carry it, such as a load between its nodes."""

    def __init__(self, level: int) -> None:
        super().__init__()
        self.level = level


class Search:
    """Trials of a model and of its robot on other meshes."""

    def __init__(
        self,
        model: Model,
        until: float,
        accuracy: float,
        initial: Array | None,
        outputs: int | Array,
        progress: Progress,
        after: Continuation,
    ) -> None:
        self.progress, self.runs = progress, 0
        self.model, self.until, self.accuracy, self.initial = model, until, accuracy, initial
        self.after, start = after, after.time
        self.base = step_grid(corners(model.inputs, until, after), (until - start) / BASE_STEPS)
        evenly = np.linspace(start, until, outputs + 1) if isinstance(outputs, int) else outputs
        # between ends of steps by their polynomials, as users see them
        self.wanted = seen = wanted_times(evenly, until, start)
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
        self.breaks = np.array([t for t in model.inputs.breaks if start < t < until])
        self.shares = np.ones(len(self.base) - 1)  # of the base steps in the steps, over their mean
        self.even = True
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
                start = (
                    consistent_start(model, self.after.time) if self.initial is None else model.adopt(own, self.initial)
                )
            self.rows[level] = Row(model, start)
        return self.rows[level]

    def coarsest(self) -> int:
        """The first mesh to try, of those that can be compiled: some choices need a number of elements."""
        first = (self.accuracy < LOOSE) + (self.accuracy < TIGHT) if self.automatic else 0
        for level in range(first, self.own):
            try:
                self.row(level)
            except InvalidInput:
                continue
            return level
        return self.own

    def integrator(self, mean: float, loose: bool) -> Gauss | Radau:
        """With the longest of these steps; trials need no exact ledger."""
        tolerance = float(np.clip(1e-4 * self.accuracy, 1e-10, 1e-8))
        step = float(np.max(np.diff(self.base) / self.counts(mean)))
        kept = tolerance, 1.0 if loose else Gauss().energy_tolerance
        return Radau(5, step, *kept) if self.rings else Gauss(self.order, step, *kept)

    @property
    def usual_order(self) -> float:
        """That a method keeps where its steps resolve what moves, with some caution."""
        return FASTEST * self.order

    def ringing(self, model: Model, grid: Array, states: Array) -> bool:
        """Whether dampers of joints are so stiff that joint rates at ends of steps are not those of the motion.

        What is damped much faster than a step stays in the rates, with changing sign or the same; positions know
        nothing of it. Radau brings it to rest.
        """
        if self.rings or model.highest_order < 4 or not isinstance(model, Arm) or len(grid) < 9:
            return False
        laws = [model.robot.freedom(name).law for name in model.joint_names]
        damping = np.array(model.inputs.damping, float) + [law.damping for law in laws]
        damping[np.array(model.inputs.prescribed, np.bool_)] = 0.0
        q, rates = (model.layout.part(states, name) for name in ("joint_position", "joint_rate"))
        missed = np.abs(rates - np.gradient(q, grid, axis=0))[2:-2]
        bad = missed > RATE_THAT_MATTERS * np.abs(rates).max(axis=0, initial=0.0) + ROUNDING
        for joint in np.flatnonzero((damping > 0.0) & bad.any(axis=0)):  # the inertia takes longer to find
            moved = model.initial_state(q[0], np.eye(len(damping))[joint])
            inertia = 2.0 * float(model.energy(moved[None])[0][0])
            damping[joint] *= damping[joint] * float(np.max(np.diff(grid))) > STIFF * inertia
        any_bad = np.any(bad[:, damping > 0.0], axis=1)
        return bool(np.any(any_bad[:-3] & any_bad[1:-2] & any_bad[2:-1] & any_bad[3:]))

    def counts(self, mean: float) -> NDArray[np.int64]:
        """Steps in every base step."""
        return np.asarray(np.maximum(np.ceil(mean * self.shares - 1e-9), 1.0), np.int64)

    def lengths(self, mean: float) -> str:
        """Of steps whose density was chosen; nothing of equal ones."""
        steps = np.diff(self.base) / self.counts(mean)
        return "" if self.even else f"{steps.min():.2g} to {steps.max():.2g} s, short where more happens"

    def many(self, mean: float) -> bool:
        """Whether these are more steps than a run may have."""
        return (len(self.base) - 1) * mean > MOST_STEPS

    def shown_to_users(self) -> Progress:
        """Progress of the next run: one that lasts takes as long as all before, and shows half of what is left."""
        show, left = self.progress, 0.0

        def half(part: float) -> None:
            nonlocal left
            if left == 0.0:
                self.runs += 1
                left = 0.5**self.runs
            assert show is not None
            show(1.0 - left * (2.0 - part))

        return None if show is None else half

    def trial(self, level: int, mean: float) -> Trial | None:
        """None if it does not end."""
        try:
            return self._trial(level, mean)
        except InvalidInput:
            if level < self.own:
                raise Unfit(level) from None
            raise

    def _trial(self, level: int, mean: float) -> Trial | None:
        row = self.row(level)
        if mean not in row.tried:
            if self.many(mean):
                return None
            self.trials += 1
            rang = self.rings
            record, trial = self.run(row, mean, self.compared, True, with_copied_laws(row.model))
            if record.ending.cause in STOPS:
                raise Stopped(row, mean, record)
            if self.rings and not rang:
                for each in self.rows.values():
                    each.tried.clear()
                return self._trial(level, mean)
            row.tried[mean], row.cause = trial, record.ending.cause
        return row.tried[mean]

    def run(self, row: Row, mean: float, outputs: Array, loose: bool, inputs: Inputs) -> tuple[Record, Trial | None]:
        """So many steps, and what they give where trials are compared, if they end."""
        chosen, counts = self.integrator(mean, loose), self.counts(mean)
        grid = divided(self.base, counts)
        looked_at = len(grid) <= MOST_SHOWN
        rows = np.union1d(outputs, grid) if looked_at else outputs
        asked = chosen.method, chosen.newton_tolerance
        run = Run(row.start, grid, rows, inputs, *asked, self.shown_to_users(), loose, after=self.after)
        record = advance(row.model, run)
        if not record.ending.completed:
            return (record if loose else record.at(kept_rows(record, outputs))), None
        tips, seen = self.seen(row.model, record.states), np.searchsorted(rows, self.compared)
        if not looked_at:
            return record, Trial(mean, tips[seen])
        ends = np.searchsorted(rows, grid)
        self.rings = self.rings or (loose and self.ringing(row.model, grid, record.states[ends]))
        local = local_errors(grid, tips[ends], self.order, self.breaks)
        spread = np.add.reduceat(local.max(axis=1), np.cumsum(counts) - counts)
        trial = Trial(mean, tips[seen], float(local.sum(axis=0).max()), spread)
        return (record if loose else record.at(kept_rows(record, outputs))), trial

    def seen(self, model: Model, states: Array) -> Array:
        """Tips (instants, links, 3) of all links over the reach, of links in a row the last; else scaled states."""
        if not isinstance(model, Arm):
            if self.sizes is None:  # one scale for all trials, or errors of amplitudes would not be seen
                self.sizes = np.maximum(np.abs(states).max(axis=0), 1e-300)
            return np.asarray(states[:, None] / self.sizes)
        if self.serial:
            return model.tip(states)[0][:, None] / self.scale
        return np.stack([link.position[:, -1] for link in model.observe(states, 2).links], axis=1) / self.scale

    def judged(self, row: Row, trial: Trial) -> tuple[float, float]:
        """The error of a trial by what it shows and by the one before it, and the order with which more steps help."""
        before, most = row.before(trial.mean), HOPED[1] * self.order
        if not before:
            shown = SHOWN_BY_STIFF if self.rings else SHOWN
            return CAUTION * shown * trial.shown, SURE_ORDER if self.rings else most
        distance = apart(before[-1].tips, trial.tips)
        left = self.left(before[-1], trial, distance)
        order = log(left) / log(before[-1].mean / trial.mean)
        return told_by(distance, left), min(max(order, HOPED[0]), most)

    def left(self, coarse: Trial, fine: Trial, distance: float) -> float:
        """How much of the error of a trial is left with more steps, by what both show and how far apart they are."""
        part = coarse.mean / fine.mean
        left = fine.shown / max(coarse.shown, ROUNDING)
        if left != left:
            left = part**SURE_ORDER
        # where dampers are stiff, or the distance says so, tips show less than the error
        hidden = DOUBTED * self.order if distance > CALIBRATED * coarse.shown else self.usual_order
        return float(min(max(left, part ** (STIFF_ORDER if self.rings else hidden)), part**SLOWEST))

    def told(self, row: Row, run: Trial) -> float:
        """Error of the steps of a run, from its distance to trials on the same mesh; not a number if there is none."""
        before = row.before(run.mean)
        if not before:
            return nan
        last = before[-1]
        distance = apart(run.tips, last.tips)
        left = self.left(last, run, distance)
        earlier = row.before(last.mean)
        if earlier:
            parts = earlier[-1].mean / last.mean, last.mean / run.mean
            order = order_seen(apart(earlier[-1].tips, last.tips), distance, *parts)
            left = max(left, (left * parts[1] ** max(order, SLOWEST)) ** 0.5)
        told = told_by(distance, left)
        if distance <= CALIBRATED * last.shown and not self.rings:  # what runs show is then their error, nearly
            return float(min(told, np.sqrt(told * SHOWN * run.shown)))
        return told

    def grade(self, trial: Trial) -> bool:
        """Whether unequal steps give the same error with clearly fewer of them: then more of them are where the error
        of a trial comes from."""
        if trial.spread is None or not trial.spread.sum() > 0.0:
            return False
        order = SURE_ORDER if self.rings else self.usual_order
        made = trial.spread * self.counts(trial.mean) ** order  # by one step in each base step
        shares = made ** (1.0 / (order + 1.0))
        saved = len(made) * made.sum() ** (1.0 / order) / shares.sum() ** (1.0 + 1.0 / order)
        if saved < UNEVEN:
            return False
        padded = np.pad(shares, 1, "edge")
        shares = np.maximum(shares, 0.5 * (padded[:-2] + padded[2:]))
        shares = np.maximum(shares / shares.mean(), SPARED)
        self.even, self.shares = False, shares / shares.mean()
        for each in self.rows.values():  # trials with other steps cannot be compared with those before
            each.tried.clear()
        return True

    def told_of_both(self, trial: Trial, run: Trial) -> tuple[float, float]:
        """Errors of the steps and of the mesh of a run that has more steps than a trial, on the next mesh.

        Their distance is that of the trial in both; the larger of what may be left of it bounds that of the run.
        """
        distance = apart(trial.tips, run.tips)
        time = told_by(distance, self.left(trial, run, distance))
        return time, max(UNKNOWN_DECAY * distance - time, 0.0)

    def in_time(self, level: int, mean: float) -> tuple[int, float, float] | None:
        """A mesh that may serve, steps that are needed, and those of the trial that shows it; None if none does.

        The first trial has ``mean`` steps in a base step.
        """
        aim, sampled = TIME_SHARE * self.accuracy, len(self.base) > 2 * BASE_STEPS
        while not self.many(mean):
            row, trial = self.row(level), self.trial(level, mean)
            if row.cause is Cause.TOO_BENT:
                return None
            error, order = (nan, nan) if trial is None else self.judged(row, trial)
            if trial is None or error != error:
                mean *= 2.0
                continue
            if (
                sampled and error <= CAUTION * aim
            ):  # so many instants of sampled control that fewer steps cannot be compared
                return level, mean, mean
            needed = mean * max(error / aim, ROUNDING) ** (1.0 / order)
            if self.even and needed > NEAR * mean and self.grade(trial):
                mean = float(ceil(max(mean, needed / NEAR / MOST_GROWTH)))
                continue
            if needed <= FAR * mean:
                return level, float(ceil(max(needed, LEAST * mean))), mean
            following = self.trial(level + 1, mean) if self.automatic and level + 1 < len(self.meshes) else None
            if following is not None and apart(trial.tips, following.tips) > FAR_MESH * self.accuracy:
                level += 1  # is seen now, where it costs little
            mean = float(ceil(min(needed / NEAR, MOST_GROWTH * mean)))
        return None

    def decay(self, changes: list[float]) -> float:
        """That of errors from mesh to mesh: the slower of the last two, as even degrees gain less than odd."""
        if len(changes) < (3 if self.automatic else 2):
            return UNKNOWN_DECAY
        seen = max(b / a for a, b in itertools.pairwise(changes[-3:]))
        return min(max(seen, BELIEVED[0]), BELIEVED[1])

    def in_space(self, level: int, mean: float) -> tuple[int, float]:
        """The coarsest mesh from ``level`` on that serves, and its error; not a number where it is not known."""
        aim, last = SHARE * self.accuracy, len(self.meshes) - 1
        changes: list[float] = []
        first = self.trial(level, mean)
        while level < last:
            second = self.trial(level + 1, mean)
            if first is None or second is None:
                failed = level if first is None else level + 1
                if self.row(failed).cause is not Cause.TOO_BENT:  # steps that are too long for this mesh
                    return self.in_space(level, 2.0 * mean) if not self.many(mean) else (level, nan)
                if not self.automatic:
                    return level, nan
                level, first, changes = level + 1, second, []
                continue
            changes.append(max(apart(first.tips, second.tips), ROUNDING))
            ratio, change = self.decay(changes), changes[-1]
            if self.automatic and BEYOND * change <= aim:
                return level, BEYOND * change
            if level + 1 == last or (self.automatic and change * ratio <= aim):
                return level + 1, change * ratio / (1.0 if self.automatic else 1.0 - ratio)
            level, first = level + 1, second
        return level, nan if last or isinstance(self.meshes[level], Meshed) else 0.0


def kept_rows(record: Record, outputs: Array) -> NDArray[np.int64]:
    """Rows of a record at the times that are wanted, and where it stopped."""
    rows = np.isin(record.time, outputs)
    rows[-1] |= not record.ending.completed
    return np.flatnonzero(rows)


def find(
    model: Model,
    until: float,
    accuracy: float,
    initial: Array | None,
    outputs: int | Array,
    progress: Progress,
    after: Continuation,
) -> Found:
    """Steps and mesh for an accuracy, and the run with them."""
    search = Search(model, until, accuracy, initial, outputs, progress, after)
    try:
        while True:
            try:
                return _found(search)
            except Unfit as unfit:
                search.leave_out(unfit.level)
    except Stopped as stopped:
        record, mean = stopped.record, stopped.mean
        if record.ending.cause is not Cause.INTERRUPTED:  # what stops the trial stops the run: once more, as it is seen
            mean = max(mean, ceil(float(np.max(np.diff(search.base))) / Gauss().step))
            row, search.shares = stopped.row, np.ones_like(search.shares)
            record, _ = search.run(row, mean, search.wanted, False, row.model.inputs)
        told = ErrorEstimate(nan, nan, search.scale, accuracy)
        return Found(stopped.row.model, stopped.row.start, record, search.integrator(mean, False), told, search.trials)


def _found(search: Search) -> Found:
    accuracy, level = search.accuracy, search.coarsest()
    mean = 1.0 if len(search.base) > 2 * BASE_STEPS else FIRST
    time, space, checked = TIME_SHARE * accuracy, nan, 0.0
    for _ in range(MOST_TRIES):
        plan = search.in_time(level, mean)
        while plan is None and search.row(level).cause is Cause.TOO_BENT and level + 1 < len(search.meshes):
            level += 1
            plan = search.in_time(level, mean)
        if plan is None:
            return _as_it_is(search)
        level, needed, mean = plan
        trial = search.trial(level, mean)
        assert trial is not None
        # a run on the next mesh tells of both errors at once, if the trial is so good that it tells enough
        both = search.automatic and not checked and needed > mean and level + 1 < len(search.meshes)
        both = both and search.judged(search.row(level), trial)[0] <= CAUTION * NEARLY * accuracy
        if both:
            level += 1
        # with more steps meshes may differ more
        elif not checked or (needed > FAR * checked and not space < SURE_MESH * accuracy):
            (level, space), checked = search.in_space(level, mean), mean
        row = search.row(level)
        own = row.model.inputs
        if needed == mean:
            record, run = search.run(row, needed, search.wanted, False, own)
            time = SHOWN * run.shown if run is not None else time
            break
        record, run = search.run(row, needed, search.wanted, False, with_copied_laws(row.model))
        if record.ending.cause in STOPS:
            break
        if run is None:
            mean = 2.0 * needed
            continue
        if both:
            time, space = search.told_of_both(trial, run)
            if time + space <= WITHIN * accuracy:
                break
            (better, space), checked = search.in_space(level - 1, mean), mean
            if better > level:
                level = better
                continue
        told = search.told(row, run)
        time = told if told == told else time
        if time + (space if space == space else 0.0) <= accuracy or search.many(2.0 * needed):
            break
        row.tried[needed] = run
        if time <= 0.5 * accuracy:
            break  # the mesh is to blame
        mean = needed
    if needed > mean and (own.controllers or own.commands):  # laws of users are asked in one run only
        record, _ = search.run(row, needed, search.wanted, False, own)
    scale = search.scale
    error = ErrorEstimate(time * scale, space * scale, scale, accuracy)
    integrator = search.integrator(needed, False)
    return Found(row.model, row.start, record, integrator, error, search.trials, search.lengths(needed))


def _as_it_is(search: Search) -> Found:
    """The finest run that could be done where no number of steps was found to be enough."""
    level = max(search.rows, key=lambda each: (bool(search.row(each).before(inf)), each))
    row = search.row(level)
    done = row.before(inf)
    mean = done[-1].mean if done else max(row.tried)
    record, _ = search.run(row, mean, search.wanted, False, row.model.inputs)
    error = inf
    if len(done) > 1:
        before, last = done[-2:]
        error = told_by(apart(before.tips, last.tips), (before.mean / last.mean) ** SURE_ORDER)
    remark = "trials with more and more steps do not come nearer to each other"
    told = ErrorEstimate(error * search.scale, nan, search.scale, search.accuracy, remark)
    return Found(row.model, row.start, record, search.integrator(mean, False), told, search.trials)
