"""The run with the accuracy that was asked for: at once where it shows by itself that it is good enough, else after
the trials of a search (`accuracy.Search`).

What the tips of a run tell of its error at the ends of steps (`local_errors`) and inside them (`seen_inside`) was at
least a fifth of it in 99 of 100 runs of benchmarks/accuracy_problems.py and of arms drawn by lot, without stiff
dampers, contacts and joints that stick. The error of a mesh was at most a hundredth of what its polynomials hardly
resolve. So a first run for which both are clearly less than was asked needs none to be compared with, and one for which
they are not is the first trial.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, inf, nan
from typing import Any

import numpy as np

from pliant.model.contract import Run
from pliant.model.error_estimate import ErrorEstimate
from pliant.model.state import Cause
from pliant.simulation.accuracy import (
    CHEAP,
    FAR,
    LEAST,
    LOWER,
    MOST_TRIES,
    NEARLY,
    RESEEN,
    SHARE,
    SHOWN,
    SURE_MESH,
    SURE_ORDER,
    TIME_SHARE,
    Search,
)
from pliant.simulation.driver import not_begun
from pliant.simulation.integrators import Gauss
from pliant.simulation.law_copies import with_copied_laws
from pliant.simulation.trials import UNKNOWN_DECAY, Found, Row, Stopped, Trial, apart, told_by

AT_ONCE, BY_LOWER = 5e-6, 5e-5  # accuracies down to which the first run may do, and by the lower order
STEPS = {4: (4.5, 1e-2, 0.15), 6: (8.0, 1e-5, 0.167)}  # in a base step for an accuracy, and how they grow with others
MESHES = 5e-3, 5e-4  # accuracies below which its mesh is finer
SURELY = 4.5  # times what the tips of a run show that its error is at most
UNRESOLVED = {4: 5e-3, 6: 1e-2}  # times what a mesh hardly resolves that its error is at most; half of it is told
HALF = 0.5  # times the steps of order 4 with which order 6 is as good


def find(search: Search) -> Found:
    """Steps and mesh for an accuracy, and the run with them."""
    row, mean = search.row(search.own), 1.0
    try:
        return _found(search)
    except KeyboardInterrupt:  # between trials, such as while it is looked at what steps follow users' signals
        chosen = search.integrator(mean)
        asked = row.model.inputs, chosen.method, chosen.newton_tolerance
        record = not_begun(row.model, Run(row.start, search.steps.base, search.wanted, *asked, after=search.after))
    except Stopped as stopped:
        row, record, mean = stopped.row, stopped.record, stopped.mean
        if record.ending.cause is not Cause.INTERRUPTED:  # what stops the trial stops the run: once more, as it is seen
            mean = max(mean, ceil(float(np.max(np.diff(search.steps.base))) / Gauss().step))
            search.steps.make_equal()
            record, _ = search.run(row, mean, False, row.model.inputs)
            ending, trial = record.ending, stopped.record.ending
            if trial.shaken and not (ending.completed or ending.shaken):  # what several trials showed holds of the run
                record = replace(record, ending=replace(ending, remedy=trial.remedy, shaken=True))
    told = ErrorEstimate(nan, nan, search.scale, search.accuracy)
    return Found(row.model, row.start, record, search.integrator(mean), told, search.trials)


def _first(search: Search) -> tuple[int, float, bool]:
    """Mesh and steps in a base step of the first trial, and whether it is a run that is good enough already."""
    begun, highest = search.begin(), search.order
    if not _shows_its_error(search):
        return *begun, False
    level = 1 + sum(search.accuracy < each for each in MESHES)
    order = search.order = LOWER if search.accuracy >= BY_LOWER else highest
    row, mean = search.row(level), _followed_steps(search, highest > order)
    run = search.trial(level, mean, True)
    if run is not None and run.record is not None and not search.rings:
        arm: Any = getattr(row.model, "arm", row.model)
        space = UNRESOLVED[order] * arm.unresolved(run.record.states) / search.scale
        if space <= SHARE * search.accuracy:
            search.space, search.checked = space, mean
            if not run.hard and SURELY * (run.shown + run.inside) + space <= search.within:
                search.space *= HALF
                return level, mean, True
            if highest > order:
                search.order, mean = highest, HALF * mean
                search.checked, local = mean, None if run.local is None else run.local.reshape(-1, 2).sum(axis=1)
                row.tried = {mean: replace(run, mean=mean, local=local, record=None)}
            return level, mean, False
        if order > LOWER:
            begun = min(level + search.ahead(space), len(search.meshes) - 1), begun[1]
    if not search.rings:
        search.order = highest
        if highest > order:
            row.tried.clear()  # of another order than the trials
    return *begun, False


def _shows_its_error(search: Search) -> bool:
    """Whether a run may do that nothing is compared with."""
    plain = not (search.rings or search.rough or search.contacts) and search.order >= LOWER
    telling = hasattr(getattr(search.model, "arm", search.model), "unresolved")
    least = BY_LOWER if search.sampled else AT_ONCE  # steps from sample to sample do not suffice for less
    return plain and telling and search.automatic and search.accuracy >= least


def _followed_steps(search: Search, halved: bool) -> float:
    """Steps in a base step of a first run, which follow all sources; an even number where they are to be halved."""
    usual, easy, growth = STEPS[search.order]
    mean = 1.0 if search.sampled else max(1.0, round(usual * (easy / search.accuracy) ** growth))
    step = search.steps.span / len(search.steps.shares) / mean
    mean = search.steps.whole(mean * step / search.followed_step(step))
    return mean + mean % 2.0 if halved else mean


def _found(search: Search) -> Found:
    accuracy, (level, needed, good) = search.accuracy, _first(search)
    if good:
        row = search.row(level)
        run = row.tried[needed]
        assert run is not None
        return _finished(search, row, needed, run, run.shown + run.inside)
    plan = search.planned(level, needed)
    for _ in range(MOST_TRIES):
        if plan is None:
            return _as_it_is(search)
        level, needed, trial = plan
        mean = max(trial.mean, 1.0)
        # a run on the next mesh tells of both errors at once
        both = search.automatic and not search.checked and level + 1 < len(search.meshes)
        both = both and (needed <= mean or search.judged(search.row(level), trial)[0] <= NEARLY * accuracy)
        if both:
            level += -1 if needed < mean and level > 0 else 1
        # with more steps meshes may differ more
        elif not search.checked or needed > RESEEN[search.space < SURE_MESH * accuracy] * search.checked:
            level = search.in_space(level - (search.automatic and level > 0), mean, needed == mean)
        row = search.row(level)
        rang, time = search.rings, nan
        run = search.trial(level, needed, True)
        if search.rings and not rang:  # by another method there is nothing to compare it with
            plan = search.planned(level, mean)
            continue
        if run is None or run.hard:
            plan = search.planned(level, 2.0 * needed)
            continue
        if both:
            time, search.space = search.told_of_both(trial, run)
            if time + search.space <= search.within:
                break
            if time > search.within and level <= CHEAP:  # whatever the mesh: more steps, on the next one
                search.in_time[run.mean] = time
                plan = search.planned(level, needed)
                continue
            same, other = search.trial(level, mean), search.trial(level - 1, mean)
            if same is not None and other is not None:
                search.space, search.checked = UNKNOWN_DECAY * apart(other.tips, same.tips), mean
        told = search.told(row, run)
        time = told if told == told else SHOWN * run.shown if needed == mean else time
        space = search.space if search.space == search.space else 0.0
        if time + space <= search.within or search.many(2.0 * needed):
            break
        if search.automatic and space > SHARE * accuracy:
            level = search.in_space(level, mean)
        if search.row(level) is row:
            if time <= TIME_SHARE * accuracy and space > SHARE * accuracy:
                break  # the mesh is to blame
            plan = search.planned(level, needed)
        else:  # as many steps more as the coarser mesh lacked
            more = max(time / (TIME_SHARE * accuracy), 1.0) ** (1.0 / SURE_ORDER)
            mean = max(mean, search.checked)
            same = search.trial(level, mean)
            more = min(max(needed * more, LEAST * mean), FAR * mean)
            plan = None if same is None else (level, search.steps.whole(more), same)
    return _as_it_is(search) if run is None else _finished(search, row, needed, run, time)


def _finished(search: Search, row: Row, mean: float, run: Trial | None, time: float) -> Found:
    """The run, with errors of its steps and of its mesh."""
    own, record = row.model.inputs, None if run is None else run.record
    if record is None or with_copied_laws(row.model) is not own:  # laws of users are asked in one run only
        record, run = search.run(row, mean, False, own)
    scale = search.scale
    error = ErrorEstimate(time * scale, search.space * scale, scale, search.accuracy)
    chosen = search.integrator(mean), error, search.trials - 1, search.steps.told_lengths(mean), search.followed
    return Found(row.model, row.start, record, *chosen, () if run is None else run.ringing)


def _as_it_is(search: Search) -> Found:
    """The finest run that could be done where no number of steps was found to be enough."""
    level = max(search.rows, key=lambda each: (bool(search.row(each).before(inf)), bool(search.row(each).tried), each))
    row = search.row(level)
    done = row.before(inf)
    # none at all where steps were graded and then too many
    mean = done[-1].mean if done else max(row.tried, default=search.begin()[1])
    record, run = search.run(row, mean, False, row.model.inputs)
    error = inf
    if len(done) > 1:
        before, last = done[-2:]
        error = told_by(apart(before.tips, last.tips), (before.mean / last.mean) ** SURE_ORDER)
    remark = "trials with more and more steps do not come nearer to each other"
    told = ErrorEstimate(error * search.scale, nan, search.scale, search.accuracy, remark)
    found = Found(row.model, row.start, record, search.integrator(mean), told, search.trials)
    return found if run is None else replace(found, ringing=run.ringing)
