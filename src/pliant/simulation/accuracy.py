"""Accuracy in, answer out: steps and meshes so fine that no tip is further off than was asked, and the error told.

A motion is computed with few steps on a coarse mesh: a trial. Its own differences show what error the steps have, and
where (`local_errors`): so many steps are needed, and there. The run itself is then done with them on the next mesh,
with the exact energy ledger. Its distance from the trial is what it has gained; what is left is told with the decay
that both show,

    error = distance left / (1 - left) ,    left = error that the run shows / error that the trial shows ,

or with a slower one, where trials approach each other more slowly or vibrate faster than their steps follow
(`trials.unfollowed`). Where that is more than was asked, or many more steps are needed than the trial has, meshes are
compared at equal steps, where errors in time cancel: the distance of two is the error of the coarser one. A run that is
not good enough is the trial of the next one, and a trial that is good enough is the run. Steps end where contacts do.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import lru_cache
from math import ceil, inf, log, nan
from typing import Any

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.continuation import Continuation
from pliant.model.contract import Arm, Meshed, Model, NewtonTolerance, Record, Run
from pliant.model.error_estimate import local_errors, reach_of, windows
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod
from pliant.model.state import Array, Cause
from pliant.simulation.contacts import contacts_of, switches
from pliant.simulation.driver import advance
from pliant.simulation.grid import BASE_STEPS, Steps, corners, wanted_times
from pliant.simulation.integrators import Gauss, Radau, gauss_collocation, radau_collocation
from pliant.simulation.law_copies import with_copied_laws
from pliant.simulation.ringing import SEARCHED, rung
from pliant.simulation.sources import longest_step
from pliant.simulation.start import consistent_start
from pliant.simulation.trials import (
    BELIEVED,
    ROUNDING,
    UNKNOWN_DECAY,
    Row,
    SearchProgress,
    Stopped,
    Trial,
    apart,
    decay,
    decay_for_more_steps,
    is_rough,
    kept_rows,
    order_seen,
    ringing,
    surely_stiff,
    told_by,
)
from pliant.simulation.vibrations import STENCIL, between, forgotten, seen_inside, tips_of, unfollowed, velocities

FIRST = 2.0  # steps in a base step of the first trial
EASY = 1e-3  # accuracy below which the first trial has more steps
HIGHEST, LOWER = 6, 4  # orders in time; the lower one where little is asked, or control is sampled in short steps
MOST_COMPARED = 200  # instants
MOST_STEPS = 400_000  # of a run
MOST_SHAKEN = 3  # trials that control shakes until they end, or that grow without bound: no mesh or steps will help
MOST_TRIES = 6  # to reach what was foretold
TIME_SHARE, SHARE = 0.55, 0.55  # parts of the accuracy that steps and mesh may take
WITHIN, WITHIN_ROUGH = 0.7, 0.6  # of the accuracy: told error of a run that is good enough; of rough motions
SURE_MESH = 0.3  # of the accuracy: error of a mesh that need not be looked at again with RESEEN[0] times more steps
RESEEN = 6.0, 12.0  # times more steps with which meshes are looked at again; whatever their error seemed to be
BEYOND = 1.4  # times the distance to the next mesh that the error of a mesh may be
NEARLY = 8.0  # times the accuracy: error of a trial with which a run on the next mesh may be compared
SURE_ORDER = 1.5  # by which errors decay with the steps, whatever the method has, where nothing is shown
SLOW, FASTEST = 1.0, 2.5  # orders that are believed: fast waves that are not resolved decay slowly
RESOLVED = 3.6  # the same where it is seen what is not resolved
HIDDEN_TOLD, HIDDEN_MOST = 0.6, 4.0  # times the vibrations that steps do not follow: the error told, and the most
FOLLOWED = 3.5  # power of the steps with which vibrations that they do not follow become smaller
KINKED = 0.5  # power of the steps with which what tips show falls at most, where motions have kinks
KEPT = 0.75  # part of the order of a method that it is hoped to keep
SHOWN = 2.0  # times what a trial shows by itself that its error is, if nothing else is known
RADAU, LEAST_BY_RADAU = 5, 0.5  # its order; times all that its tips show: what is told at least
CAUTION = 1.35  # times that, where it foretells how many steps are needed
FAR = 4.0  # times the steps of a trial that its error may foretell, and that a run compared with it has at most
NEAR = 2.0  # times the steps of a trial that are needed for which it is looked whether they should be unequal
NEXT = 3.0  # times the steps that later trials have
CHEAP = 2  # meshes up to this one cost little more than the coarsest
SMOOTH = 0.7  # part of what is seen of vibrations in few steps that motions without any leave, at most
HARD = 30.0, 14.0  # iterations of Newton's method in a step that is too long, of runs and of trials
LEAST, AGAIN = 1.4, 2.0  # times the steps of a trial that a run compared with it has; of a run that did not suffice
LOOSE = 5e-4  # accuracy for which the lower order will do
SERVED = 5e-4, 5e-6  # accuracies that the coarsest mesh may nearly serve, and the second one
MOST_SHOWN = 8192  # steps at whose ends a trial is looked at
EXACT = Gauss().energy_tolerance
USUAL = 1e-3  # accuracy of runs for which none is asked
STOPS = (Cause.CONTROLLER, Cause.INTERRUPTED, Cause.INPUT)


Plan = tuple[int, float, Trial]  # a mesh, steps in a base step, and the trial that foretells them


@lru_cache(64)
def _meshes_of(formulation: Any) -> tuple[Any, ...]:
    return tuple(formulation.meshes())


class Search:
    """Trials of a model and of its robot on other meshes."""

    def __init__(
        self,
        model: Model,
        until: float,
        accuracy: float,
        start: tuple[Array, bool],
        outputs: int | Array,
        progress: SearchProgress,
        after: Continuation,
    ) -> None:
        self.progress = progress
        self.model, self.until, self.accuracy, self.after = model, until, accuracy, after
        self.start, self.given = start  # of the model; whether it is a user's
        self.steps, begin = Steps(corners(model.inputs, until, after)), after.time
        self.sampled = len(self.steps.shares) >= 4 * BASE_STEPS
        evenly = np.linspace(begin, until, outputs + 1) if isinstance(outputs, int) else outputs
        # between ends of steps by their polynomials, as users see them
        self.wanted = seen = wanted_times(evenly, until, begin)
        if len(seen) > MOST_COMPARED:
            seen = seen[np.linspace(0, len(seen) - 1, MOST_COMPARED).round().astype(int)]
        self.compared = seen
        self.order = min(LOWER if self.sampled or accuracy >= LOOSE else HIGHEST, model.highest_order)
        self.scale = reach_of(model)
        self.meshes, self.own = self._meshes()
        robot = getattr(model, "robot", None)
        self.tips = tips_of(() if robot is None else tuple(joint.child for joint in robot.chain_order))
        self.sizes: Array | None = None  # of the states of a model without links
        self.breaks = np.array([t for t in model.inputs.breaks if begin < t < until])
        self.contacts = contacts_of(model)
        self.rough = is_rough(model, bool(self.contacts))
        self.within = (WITHIN_ROUGH if self.rough else WITHIN) * accuracy
        self.followed = 0.0  # length of steps that are known to follow all sources
        self.shaken = 0  # trials that ended because of what is not stable
        self.rings = False  # stiff dampers let Gauss collocation ring: Radau takes over
        self.rows: dict[int, Row] = {}
        self.trials = 0
        self.space, self.checked = nan, 0.0  # error of the mesh, and the steps with which it was seen
        self.in_time: dict[float, float] = {}  # errors of steps, by their number
        self.decays: dict[int, float] = {}  # of errors from a mesh to the next, as seen with fewer steps

    def _meshes(self) -> tuple[tuple[Any, ...], int]:
        """Formulations from the coarsest to the finest, and which of them is that of the model."""
        own: Hashable = getattr(self.model, "formulation", None)
        alone = self.given and not hasattr(getattr(self.model, "arm", self.model), "adopt")
        if alone or not (isinstance(own, Meshed) and hasattr(self.model, "by")):
            return (own,), 0
        every = _meshes_of(own)
        at = every.index(own)
        # a given state is one of this mesh, and often balanced on it: it passes to coarser ones, to be compared with
        return (every[: at + 1] if self.given else every), at

    @property
    def automatic(self) -> bool:
        return not self.given and bool(getattr(self.meshes[self.own], "automatic", False))

    def begin(self) -> tuple[int, float]:
        """Choose mesh and steps in a base step of the first trial; and Radau where dampers are stiff for these."""
        tight = sum(self.accuracy < each for each in SERVED)
        steps = 1.0 if self.sampled else FIRST * max(1.0, (EASY / self.accuracy) ** 0.2 if self.order > 2 else 2.0)
        step = self.steps.span / BASE_STEPS / steps
        if surely_stiff(self.model, self.start, step):
            self.damp()
        if not self.sampled:  # what changes faster than the steps would be aliased in all trials
            steps *= step / self.followed_step(step)
        return (min(tight, self.own) if self.automatic else 0), float(round(steps))

    def followed_step(self, step: float) -> float:
        """A step or a part of it that follows all sources."""
        method, names = self.method[0], getattr(self.model, "joint_names", ())
        if names:
            rule = method.nodes, method.weights
            step, known = longest_step(self.model.inputs, names, self.until, step, rule)
            self.followed = max(step, self.followed) if known else self.followed
        return step

    def row(self, level: int) -> Row:
        if level not in self.rows:
            own: Any = self.model
            try:
                model = own if level == self.own else own.by(self.meshes[level])
                start = self.start
                if model is not own:
                    begin = self.after.time
                    start = model.adopt(own, self.start) if self.given else consistent_start(model, begin)
                self.rows[level] = Row(model, start)
            except InvalidInput:
                self.rows[level] = Row(own, self.start, unfit=True)
        return self.rows[level]

    @property
    def tolerance(self) -> float:
        """Of the displacements in the run that is returned, which keeps the exact ledger."""
        return min(max(1e-4 * self.accuracy, 1e-10), 1e-8)

    def integrator(self, mean: float) -> Gauss | Radau:
        """With the longest of these steps."""
        step = float(np.max(self.steps.lengths(mean)))
        return Radau(RADAU, step, self.tolerance) if self.rings else Gauss(self.order, step, self.tolerance)

    @property
    def method(self) -> tuple[StageMethod, NewtonTolerance]:
        """Of trials, which need no exact ledger, but one that keeps errors from adding up."""
        part = self.accuracy
        tolerance = NewtonTolerance(min(max(1e-2 * part, 1e-10), 1e-4), min(max(part, 1e-9), 1e-2))
        return radau_collocation(3) if self.rings else gauss_collocation(self.order // 2), tolerance

    @property
    def usual_order(self) -> float:
        """With which errors decay, with some caution."""
        return SURE_ORDER if self.rings else 0.85 * self.order

    def many(self, mean: float) -> bool:
        """Whether these are more steps than a run may have."""
        return len(self.steps.shares) * mean > MOST_STEPS

    def trial(self, level: int, mean: float, exact: bool = False) -> Trial | None:
        """None if it does not end; with the exact ledger it may be the run itself."""
        row = self.row(level)
        if row.unfit or self.many(mean):
            return None
        known = row.tried.get(mean)
        if mean not in row.tried or (exact and known is not None and known.record is None):
            self.trials += 1
            rang = self.rings
            try:
                record, trial = self.run(row, mean, not exact, with_copied_laws(row.model))
            except InvalidInput:
                if level == self.own:
                    raise
                row.unfit = True
                return None
            self.shaken += record.ending.shaken or record.ending.cause is Cause.DIVERGED
            if record.ending.cause in STOPS or self.shaken == MOST_SHAKEN:
                raise Stopped(row, mean, record)
            if self.rings and not rang:
                self.damp()
                self.forget()
                return self.trial(level, mean, exact)
            row.tried[mean], row.unfit = trial, record.ending.cause is Cause.TOO_BENT
        return row.tried[mean]

    def damp(self) -> None:
        """From now on by Radau."""
        self.rings = True
        self.order, self.followed = min(self.order, LOWER), 0.0

    def forget(self) -> None:
        """All trials: those with other steps cannot be compared with them."""
        for each in self.rows.values():
            each.tried.clear()
        self.in_time.clear()
        self.space, self.checked = nan, 0.0

    def run(self, row: Row, mean: float, loose: bool, inputs: Inputs) -> tuple[Record, Trial | None]:
        """So many steps, and what they give where trials are compared, if they end."""
        outputs = self.compared if loose else self.wanted
        grid = self.steps.grid(mean)
        method = self.method if loose else (self.method[0], NewtonTolerance(self.tolerance, EXACT))
        looked_at = len(grid) <= MOST_SHOWN
        times = grid if looked_at else grid[windows(len(grid) - 1, self.order, 0)]
        inner = looked_at and self.tips and self.order >= LOWER
        middle = between(grid[:-1], grid[1:]) if inner else grid[:0]
        rows = np.union1d(np.union1d(outputs, times), middle)
        run = Run(
            row.start, grid, rows, inputs, *method, self.progress.of_run(len(grid) - 1, loose), loose, after=self.after
        )
        record = advance(row.model, run)
        if not record.ending.completed:
            return (record if loose else record.at(kept_rows(record, outputs))), None
        (tips, turns), seen = self.seen(row.model, record.states), np.searchsorted(rows, self.compared)
        ends = np.searchsorted(rows, times)
        told = (
            () if loose else rung(row.model, times, record.states[ends], float(np.max(grid[1:] - grid[:-1])), SEARCHED)
        )
        kept = None if loose else record.at(kept_rows(record, outputs))
        if not looked_at:
            return kept or record, Trial(mean, tips[seen], record=kept, ringing=told)
        first = loose or not row.tried
        self.rings = self.rings or (first and ringing(row.model, grid, record.states[ends]))
        breaks = np.union1d(self.breaks, self.steps.switches) if self.contacts else self.breaks
        local = local_errors(grid, tips[ends], RADAU if self.rings else self.order, breaks)
        hard = record.statistics.get("iterations", 0.0) > HARD[loose] * (len(grid) - 1)
        hidden, inside = nan, 0.0
        if self.tips and isinstance(row.model, Arm):
            v = velocities(row.model, self.tips, record.states[ends], turns[ends]) / self.scale
            if self.order % 4 == 2 and not self.rings:
                hidden = unfollowed(grid, v)
        if len(middle):
            x, v = (np.array([each[:-1], each[1:]]) for each in (tips[ends], v))
            few, off = forgotten(len(middle)), tips[np.searchsorted(rows, middle)]
            inside = seen_inside(grid[1:] - grid[:-1], x, v, off, self.rings, few)
            if self.rings:
                counted = np.sort(local, axis=0)[: len(local) - few]
                inside = LEAST_BY_RADAU * (inside + float(counted.sum(axis=0).max()))
        shown = float(local.sum(axis=0).max()), local.max(axis=1)
        met = switches(self.contacts, row.model, record.time, record.states)
        trial = Trial(mean, tips[seen], *shown, hidden, inside, hard, kept, met, told)
        return kept or record, trial

    def seen(self, model: Model, states: Array) -> tuple[Array, Array]:
        """Tips (instants, links, 3) of all links over the reach and their rotations; else scaled states."""
        if not isinstance(model, Arm):
            if self.sizes is None:  # one scale for all trials, or errors of amplitudes would not be seen
                self.sizes = np.maximum(np.abs(states).max(axis=0), 1e-300)
            return np.asarray(states[:, None] / self.sizes), np.zeros(0)
        x, R = model.link_ends(states)
        return x[:, :, 1] / self.scale, R[:, :, 1]

    def judged(self, row: Row, trial: Trial) -> tuple[float, float, float]:
        """The error of a trial by what it shows and by the one before it, and the orders with which more steps help:
        that hoped for, and that believed."""
        before, hoped = row.before(trial.mean), SURE_ORDER if self.rings else KEPT * self.order
        if not before:
            shown = CAUTION * max(SHOWN * trial.shown, trial.inside)
            return self.in_time.get(trial.mean, shown), hoped, min(FASTEST, self.usual_order)
        error, distance = self.gained(before[-1], trial), apart(before[-1].tips, trial.tips)
        if before[-1].blind(distance):
            order = log(1.0 + max(distance, ROUNDING) / error) / log(trial.mean / before[-1].mean)
            return error, min(max(order, SURE_ORDER), hoped), min(SURE_ORDER, self.usual_order)
        error = min(error, SHOWN * trial.suspected) if trial.suspected == trial.suspected else error
        return error, FOLLOWED if trial.hidden > trial.shown else hoped, min(FASTEST, self.usual_order)

    def gained(self, coarse: Trial, fine: Trial) -> float:
        """Error that is left with more steps, by how far apart two trials are and by what both show.

        Between what a fast decay and a slow one leave, it is that of vibrations which the steps do not follow, where
        these are seen.
        """
        distance, part = apart(coarse.tips, fine.tips), coarse.mean / fine.mean
        ratio = fine.shown / max(coarse.shown, ROUNDING)
        if ratio != ratio:
            ratio = part**SURE_ORDER
        elif ratio > part:  # tips of the coarse trial hardly showed what it did not follow
            ratio = min(ratio, fine.suspected / max(coarse.suspected, ROUNDING))
        # a slow decay where the distance says that tips show less than the error, or a trial is too coarse to tell
        seen, far = fine.hidden == fine.hidden, part < 0.9 / FAR
        usual = SURE_ORDER if far or self.rough or coarse.blind(distance) else RESOLVED if seen else FASTEST
        fast, slow = (
            told_by(distance, float(min(max(ratio, part**order), part**SLOW)))
            for order in (min(usual, self.usual_order), SLOW)
        )
        if not seen:
            return max(fast, fine.inside)
        hidden = fine.hidden - (SMOOTH * part**STENCIL * coarse.hidden if coarse.hidden == coarse.hidden else 0.0)
        return max(fast, min(max(hidden, 0.0), slow), fine.inside)

    def told(self, row: Row, run: Trial) -> float:
        """Error of the steps of a run, from its distance to trials on the same mesh, or as told on another one; not a
        number if there is none."""
        before = row.before(run.mean)
        if not before:
            return self.in_time.get(run.mean, nan)
        last = before[-1]
        told, distance = self.gained(last, run), apart(run.tips, last.tips)
        earlier = row.before(last.mean)
        if earlier and distance > ROUNDING:
            parts = earlier[-1].mean / last.mean, last.mean / run.mean
            order = order_seen(apart(earlier[-1].tips, last.tips), distance, *parts)
            told = max(told, (told * told_by(distance, parts[1] ** max(order, SLOW))) ** 0.5)
        part = last.mean / run.mean
        if not run.shown < part**KINKED * last.shown:  # as at contacts, where two runs may be alike by chance
            told = max(told, part**SURE_ORDER * self.in_time.get(last.mean, 0.0))
        self.in_time[run.mean] = min(told, self.in_time.get(run.mean, inf))  # on whatever mesh
        return self.in_time[run.mean]

    def relay(self, trial: Trial, needed: float) -> tuple[float, float]:
        """Steps for more of them: that end where contacts of a trial switch, and are unequal where that needs clearly
        fewer. How many base steps there were for one that is now, and how many steps fewer will do."""
        steps, part, fewer = self.steps, 1.0, 1.0
        met = steps.told_apart(trial.switches, trial.mean)
        known = len(met) == len(steps.switches)  # else the trial shows errors of contacts that steps can meet
        if known and not steps.graded and needed > NEAR * trial.mean and trial.local is not None:
            order = SURE_ORDER if self.rings else KEPT * self.order
            part, fewer = steps.grade(trial.local, trial.mean, order) or (part, fewer)
        if met != steps.switches.tolist():
            part *= steps.end_at(met)
        elif part == 1.0:
            return part, fewer
        for row in self.rows.values():
            row.change_base(part)
        self.in_time.clear()
        self.checked *= part
        return part, fewer

    def told_of_both(self, trial: Trial, run: Trial) -> tuple[float, float]:
        """Errors of the steps and of the mesh of a run on the next mesh, mostly with more steps than a trial.

        Their distance is that of the trial in both; the larger of what may be left of it bounds that of the run. That
        of a run with fewer steps is its error.
        """
        distance = apart(trial.tips, run.tips)
        if run.mean == trial.mean:
            time = SHOWN * max(run.shown, run.inside)
            time = max(time, HIDDEN_TOLD * run.hidden) if run.hidden == run.hidden else time
            return self.in_time.get(run.mean, time), UNKNOWN_DECAY * distance
        if run.mean < trial.mean:
            return distance / (1.0 - (run.mean / trial.mean) ** RESOLVED), 0.0
        time = self.gained(trial, run)
        return time, max(UNKNOWN_DECAY * distance - time, 0.0)

    def planned(self, level: int, mean: float) -> Plan | None:
        """A mesh that may serve, steps that are needed, and the trial that shows it; None if none does.

        The first trial has ``mean`` steps in a base step.
        """
        aim, steps = TIME_SHARE * self.accuracy, self.steps
        while not self.many(mean):
            row = self.row(level)
            trial = self.trial(level, mean, bool(row.before(mean)))
            if row.unfit:
                if level + 1 == len(self.meshes):
                    return None
                level += 1
                continue
            error, order, sure = (nan, nan, nan) if trial is None else self.judged(row, trial)
            if trial is None or error != error or trial.hard:
                mean *= 2.0
                continue
            if self.sampled and error <= CAUTION * aim:  # so many instants that fewer steps cannot be compared
                return level, mean, trial
            # distances say more than one trial shows, but rather too much
            known = bool(row.before(mean)) or mean in self.in_time
            mesh = self.space if self.space == self.space else SHARE * self.accuracy
            if known and self.told(row, trial) + mesh <= self.within:
                return level, mean, trial
            self.progress.foreseen = mean * len(steps.shares) * (error / aim) ** (1.0 / order)
            hoped, needed = mean * (error / aim) ** (1.0 / order), mean * (1.0 + error / aim) ** (1.0 / sure)
            if trial.hidden > self.accuracy:  # a run is not believed while it hides so much
                followed = mean * (trial.hidden / self.accuracy) ** (1.0 / FOLLOWED)
                hoped, needed = max(hoped, followed), max(needed, followed)
            part, fewer = self.relay(trial, needed)
            trial, mean = replace(trial, mean=part * mean), max(part * mean, 1.0)
            hoped, needed = part * fewer * hoped, part * fewer * needed
            seen = max(error, HIDDEN_MOST * trial.hidden) if trial.hidden == trial.hidden else error
            if (
                seen <= aim and not known and self.automatic and not (self.checked or self.rings)
            ):  # as many steps will do, or fewer
                fewer = steps.whole(max((seen / aim) ** (1.0 / self.order), 1.0 / mean, 0.5) * mean)
                step = steps.span / len(steps.shares) / fewer
                fewer = fewer if fewer == mean or self.followed_step(step) == step else mean
                return level, mean if self.failed(fewer) else fewer, trial
            if needed <= FAR * mean:
                return level, steps.whole(min(max(needed, (AGAIN if known else LEAST) * mean), NEXT * mean)), trial
            if self.automatic and not self.checked:
                level = self.in_space(level, mean)  # is seen now, where it costs little
            mean = steps.whole(min(max(hoped, LEAST * mean), (NEXT if known else FAR) * mean))
        return None

    def failed(self, mean: float) -> bool:
        """Whether some trial with as many steps or more did not end."""
        tried = [each.tried.items() for each in self.rows.values() if not each.unfit]
        return any(trial is None and steps >= mean for each in tried for steps, trial in each)

    def above(self, level: int, ahead: int, mean: float, exact: bool) -> int | None:
        """The mesh by ``ahead`` finer or the next above it that carries the model, if there is one."""
        for each in range(min(level + ahead, max(len(self.meshes) - 1, level + 1)), len(self.meshes)):
            self.trial(each, mean, exact)
            if not self.row(each).unfit:
                return each
        return None

    def ahead(self, change: float) -> int:
        """How much finer a mesh must be than one whose error is a part of this, even if errors decay fast."""
        left = BELIEVED[0] * change / (SHARE * self.accuracy)
        return ceil(log(left) / -log(BELIEVED[0])) if self.automatic and left > 1.0 else 1

    def in_space(self, level: int, mean: float, exact: bool = False) -> int:
        """The coarsest mesh from ``level`` on that serves; its error is kept, not a number where it is not known.

        With ``exact`` a run with these steps is looked for: one on the next mesh that is there already is taken.
        Meshes that cannot serve even where errors decay fast are left out.
        """
        level = level if self.automatic else 0
        aim, changes = SHARE * self.accuracy, list[tuple[float, int]]()
        known, row = self.space, self.row(level)
        ahead = self.ahead(known / UNKNOWN_DECAY)
        while (begun := row.tried.get(mean)) is not None and begun.hard:  # others would be hard too
            mean = min((n for n in row.tried if n > mean), default=2.0 * mean)
        self.checked, self.space = mean, 0.0 if not isinstance(self.meshes[level], Meshed) else nan
        while (finer := self.above(level, ahead, mean, exact)) is not None:
            first, second = self.trial(level, mean), self.trial(finer, mean)
            if first is None or second is None or (second.hard and self.automatic):
                if not self.row(level).unfit:  # steps that are too long for one of the meshes
                    self.space = self.space if changes else known
                    return level if self.many(2.0 * mean) else self.in_space(level, 2.0 * mean)
                level, changes = finer, []
                continue
            change, ahead = max(apart(first.tips, second.tips), ROUNDING), finer - level
            changes.append((change, ahead))
            ratio = decay(changes, 3 if self.automatic else 2)
            if self.automatic and len(changes) == ahead == 1:
                ratio = self.decays.get(finer, ratio)
            elif self.automatic and len(changes) > 1 and ahead == changes[-2][1] == 1:
                self.decays[level] = decay_for_more_steps(changes[-2][0], change)
            if self.automatic and BEYOND * change <= aim and not (exact and first.record is None):
                self.space = BEYOND * change
                break
            level = finer
            self.space = change * ratio**ahead / (1.0 if self.automatic else 1.0 - ratio)
            if self.automatic and self.space <= aim:
                break
            ahead = self.ahead(change * BELIEVED[0] ** (ahead - 1))
        return level
