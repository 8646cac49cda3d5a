"""Run a model in time; refuse in a sentence what would cost too much time or memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from numbers import Integral, Real
from typing import Any, cast
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, clip, refuse_other_than_number, tell
from pliant.model.continuation import Continuation
from pliant.model.contract import Arm, Model, Record, Run, Substitutes, refuse_other_than_model
from pliant.model.error_estimate import (
    BEST,
    UNSEEN,
    WORST,
    ErrorEstimate,
    checked_accuracy,
    missed_at,
    of_steps,
    reach_of,
    windows,
)
from pliant.model.inputs import Inputs
from pliant.model.state import Array, Cause
from pliant.results.summary import doubts
from pliant.results.trajectory import Error, Trajectory, indicated_error
from pliant.simulation import deflection_error, sources
from pliant.simulation.accuracy import USUAL, Search
from pliant.simulation.accurate_run import find
from pliant.simulation.contacts import contacts_of, switches
from pliant.simulation.driver import Progress, advance
from pliant.simulation.grid import ascending, corners, fixed_steps, rows_at, saved_times, wanted_times
from pliant.simulation.ida_run import advance_by_ida
from pliant.simulation.integrators import IDA, Adaptive, Gauss, GeneralizedAlpha, Radau, RungeKuttaGill
from pliant.simulation.mesh_error import of_given_mesh, off_by_mesh, shows
from pliant.simulation.ringing import rung, rung_at_last
from pliant.simulation.start import checked_state, consistent_start
from pliant.simulation.trials import Found, SearchProgress, kept_rows
from pliant.simulation.vibrations import between, looked_inside, told_by_tip

Times = Sequence[float] | NDArray[np.floating[Any]]  # what numpy.linspace gives, too

Integrator = Gauss | Radau | GeneralizedAlpha | RungeKuttaGill | IDA

SHORTEST, LONGEST = 1e-15, 1e15  # of runs, second: beyond, steps are lost in the rounding of times, or are a slip
MOST_STEPS = 20_000_000  # their times, lengths and places in the output take about a gigabyte
MOST_SAVED = 250_000_000  # numbers in saved states: two gigabytes


def check_duration(until: float, start: float = 0.0) -> None:
    """Refuse an end time that is no positive number of seconds, or not after the start."""
    refuse_other_than_number("until", until, "give the end time in seconds")
    refuse_other_than_number("start", start, "give the start time in seconds")
    if not 0.0 <= start < float("inf"):
        raise InvalidInput(f"start = {start:g} s must be finite and not negative; give the start time in seconds")
    if not 0.0 < until < float("inf"):
        raise InvalidInput(f"until = {until:g} s must be positive and finite; give the end time in seconds")
    if not SHORTEST <= until <= LONGEST:
        raise InvalidInput(f"until = {until:g} s must lie between {SHORTEST:g} and {LONGEST:g} s; give the end time")
    if not until - start > 1e-12 * until:
        raise InvalidInput(f"until = {until:g} s must lie after the start at {start:g} s; give a later end time")


def checked_outputs(outputs: int | Times, until: float, size: int) -> int | Array:
    """A count or times; refused if they are neither, or if their states of ``size`` numbers fill the memory."""
    if isinstance(outputs, (bool, str)) or (isinstance(outputs, Real) and not isinstance(outputs, Integral)):
        raise InvalidInput(
            f"outputs = {clip(repr(outputs))} is neither a whole number nor times; give how many states to keep"
            " after the first, or an array of times in seconds"
        )
    if isinstance(outputs, Integral) and outputs < 1:
        raise InvalidInput(f"outputs = {outputs} must be at least 1; give the number of states to keep")
    count = int(outputs) if isinstance(outputs, Integral) else np.size(outputs)
    if count * size > MOST_SAVED:
        raise InvalidInput(
            f"outputs = {count} states of {size} numbers each are {8e-9 * count * size:.3g} GB, more than"
            f" {8e-9 * MOST_SAVED:g} GB; keep fewer, or simulate {until:g} s in pieces, each by resume of the last"
        )
    return int(outputs) if isinstance(outputs, Integral) else np.asarray(outputs)


def check_steps(until: float, step: float) -> None:
    """Refuse a step so short that the times of the steps alone would fill the memory."""
    if until / step > MOST_STEPS:
        raise InvalidInput(
            f"step = {step:g} s makes {until / step:.3g} steps of until = {until:g} s, more than {MOST_STEPS:g};"
            " take a longer step, or simulate in pieces, each by resume of the last"
        )


def check_method(model: Model, integrator: Integrator) -> None:
    """Refuse a method of a higher order than a substitute takes, with what made the substitution."""
    reason = getattr(model, "substitution", "")
    midpoint = isinstance(integrator, Gauss) and integrator.order <= model.highest_order
    if not reason or model.highest_order > 2 or midpoint or isinstance(integrator, (RungeKuttaGill, IDA)):
        return
    order = f"(order={integrator.order})" if isinstance(integrator, (Gauss, Radau)) else ""
    raise InvalidInput(
        f"integrator = {type(integrator).__name__}{order} is not for this model, which steps by its own midpoint"
        f" rule ({reason}); use Gauss(order=2), or remove what made it so"
    )


def check_samples(until: float, inputs: Inputs) -> None:
    """Refuse sampled control so fast that its instants alone would fill the memory."""
    named = [(f"controller '{each.name}'", each.period) for each in (*inputs.controllers, *inputs.commands)]
    named += [(f"servo of joint '{each.joint}'", each.period) for each in inputs.servos]
    for name, period in named:
        if until / period > MOST_STEPS:
            raise InvalidInput(
                f"period = {period:g} s of the {name} makes {until / period:.3g} samples of until = {until:g} s, more"
                f" than {MOST_STEPS:g}; take a longer period, or simulate in pieces"
            )


MOST_REFINED = 2
FINER = 0.03  # of the error of a run: that of a finer one for the sake of the deflection
FINEST = 1e-5  # accuracy that runs take by themselves, where arms are so stiff that deflections are small

GIVEN_START = "a given state, which is the first of the saved ones"
WENT_ON = "the last state of a run, with what its steps and its sampled control remember"
OWN_START = "undeformed at the initial joint values or where motions begin"
WORTH_SAYING = 1e-3  # rad or m that closing a loop moves a joint; figures of a file are rounded to less


def simulate(
    model: Model,
    until: float,
    integrator: Integrator | Adaptive | None = None,
    initial: Array | None = None,
    outputs: int | Times = 1000,
    progress: Progress = None,
    accuracy: float | None = None,
    start: float = 0.0,
) -> Trajectory:
    """Simulate any model from ``start`` to ``until`` seconds; of an arm the trajectory knows joints, links and tip.

    ``accuracy`` is the largest error of a tip over the reach of the arm: steps, and the mesh where the formulation left
    it open, are chosen for it by trials, and ``trajectory.error`` tells what was reached. Without it and without an
    ``integrator`` it is 1e-3. An integrator takes the steps that it is given instead. Trials ask copies of sampled
    laws; the run that is returned asks the laws themselves.

    ``outputs`` is how many states to keep after the first, evenly in time; with an integrator at most so many, at ends
    of steps, the last included. Or it is the times at which states are wanted, between steps by the polynomial of the
    step. ``initial`` is a state vector, for example from `equilibrium`; by default the arm starts undeformed at the
    robot's initial joint values, or where prescribed motions begin. Signals and motions go by absolute time; sampled
    control begins at ``start``; ``trajectory.resume`` goes on where a run ended. A run that cannot go on ends as a
    value: see ``trajectory.ending``. Where links bend too far for the model and another model of the same robot carries
    them, the run is done anew by that one, and says so.
    """
    return simulated(model, until, integrator, initial, outputs, progress, accuracy, start)[0]


def simulated(
    model: Model,
    until: float,
    integrator: Integrator | Adaptive | None = None,
    initial: Array | None = None,
    outputs: int | Times = 1000,
    progress: Progress = None,
    accuracy: float | None = None,
    start: float = 0.0,
) -> tuple[Trajectory, Integrator]:
    """What `simulate` returns, and the integrator that took its steps."""
    refuse_other_than_model(model)
    check_duration(until, start)
    began = Beginning(Continuation.at(float(start)))
    return simulated_from(began, model, until, integrator, initial, outputs, progress, accuracy)


@dataclass(frozen=True, eq=False)
class Beginning:
    """Where a run begins; if it goes on from another one, with the last row of that."""

    after: Continuation
    last: Record | None = None

    def joined(self, record: Record) -> Record:
        """The record of the run with the row before its first step, and with sums from the first start of all."""
        if self.last is None:
            return record
        ledger = record.ledger if self.after.memory else record.ledger.since(self.last.ledger)
        efforts = {name: each.copy() for name, each in record.efforts.items()}
        for name, effort in efforts.items():
            effort[0] = self.last.efforts.get(name, effort)[0]
        return replace(record, ledger=ledger.beginning(self.last.ledger), efforts=efforts)


def simulated_from(
    began: Beginning,
    model: Model,
    until: float,
    integrator: Integrator | Adaptive | None,
    initial: Array | None,
    outputs: int | Times,
    progress: Progress,
    accuracy: float | None,
) -> tuple[Trajectory, Integrator]:
    """The same, for runs that begin and for those that go on."""
    after = began.after
    outputs = checked_outputs(outputs, until, model.layout.size)
    if isinstance(integrator, Adaptive):
        warn("Adaptive is now simulate(..., accuracy=...); the next release drops it", DeprecationWarning, 4)
        accuracy = min(max(integrator.accuracy, BEST), WORST)
        integrator = None
    if integrator is not None and not isinstance(integrator, Integrator):
        raise InvalidInput(
            f"integrator = {clip(repr(integrator))} is no integrator; write one such as Gauss(order=4, step=1e-3)"
        )
    if integrator is not None and accuracy is not None:
        raise InvalidInput(
            f"accuracy = {clip(repr(accuracy))} chooses the steps, but {clip(repr(integrator))} has its own; leave one"
            " of them out"
        )
    if integrator is not None and not isinstance(integrator, IDA):
        check_steps(until - after.time, integrator.step)
        check_method(model, integrator)
    check_samples(until, model.inputs)
    joints = model.joint_names if isinstance(model, Arm) else ()
    if joints:
        sources.refuse_inconsistent_motions(model.inputs, joints, until)
    clock = time.perf_counter()
    start = consistent_start(model, after.time) if initial is None else checked_state(model, initial)
    if joints and initial is not None:
        position, rate = (model.layout.part(start, name) for name in ("joint_position", "joint_rate"))
        sources.refuse_contradicted_start(model.inputs, joints, position, rate, after.time)
    components = getattr(model, "components", ())
    substitution = "; ".join(
        part for part in (getattr(model, "substitution", ""), _moved_to_close(model, start, initial)) if part
    )
    saved, given = (until, outputs, progress, after), integrator
    asked = USUAL if accuracy is None else checked_accuracy(accuracy)
    error: Error = None
    seen: Record | None = None
    ringing: tuple[str, ...] = ()
    followed = 0.0  # length of steps that are known to follow all sources
    searched = integrator is None and getattr(getattr(model, "formulation", None), "automatic", False)
    trials, searching = {}, SearchProgress(progress)
    if integrator is None:
        begin = start, initial is not None
        found = find(Search(model, until, asked, begin, outputs, searching, after))
        if accuracy is None and isinstance(model, Arm) and deflection_error.deflects(model):
            found = _with_its_bend(found, model, (until, begin, outputs, searching), after)
        model, record, integrator, error = found.model, found.record, found.integrator, found.error
        start, followed, ringing = found.start, found.followed, found.ringing
        trials = {"trials": str(found.trials)} | ({"steps": found.lengths} if found.lengths else {})
    else:
        record, error, seen = _advance(model, start, integrator, *saved)
    if record.ending.cause is Cause.TOO_BENT and isinstance(model, Substitutes) and not record.ending.shaken:
        other = model.substituting(start, record.states[-1])
        if other is not None:
            instead, (arm, start) = getattr(model, "formulation", model), other
            model, integrator = arm, of_order(integrator, arm.highest_order)
            given = given and integrator
            began = replace(began, after=replace(after, memory=()))
            saved = (*saved[:3], began.after)
            substitution = (
                f"{arm.formulation} computes in place of {instead}, from the start and by {integrator!r},"
                f" because {record.ending.place} is bent too far for it at t = {record.ending.time:g} s"
            )
            if not trials:
                record, error, seen = _advance(model, start, integrator, *saved)
            else:
                found = find(Search(arm, until, asked, (start, True), outputs, searching, began.after))
                model, record, integrator, error = found.model, found.record, found.integrator, found.error
                ringing = found.ringing
    wall_time = time.perf_counter() - clock
    ended = record.after or Continuation(float(record.time[-1]), after.origin)
    record = replace(began.joined(record), after=replace(ended, integrator=given, accuracy=None if given else asked))
    if progress:
        progress(1.0)
    choices = {
        "components": "\n".join(map(repr, components)) or "none",
        "integrator": repr(integrator),
        **({"start time": f"{after.time!r} s"} if after.time else {}),
        "until": f"{until!r} s",
        "outputs": str(outputs) if isinstance(outputs, int) else f"{np.size(outputs)} given times",
        "start": WENT_ON if began.last else OWN_START if initial is None else GIVEN_START,
        **trials,
    }
    if substitution:
        choices["substitution"] = substitution
    if isinstance(error, tuple) and not began.last:
        error = indicated_error(model, record, error)
    looked_at = record if seen is None else seen
    every = False  # whether the rates after all steps are looked at
    if given is not None and not isinstance(integrator, IDA):
        every = len(looked_at.time) > record.statistics["steps"]
        ringing = rung(model, looked_at.time, looked_at.states, integrator.step)
    if record.ending.shaken:
        ringing = ()  # control is the reason, not the step
    elif not ringing and not every:
        ringing = rung_at_last(model, record)
    if given is not None and record.ending.completed:
        error = _with_contacts(model, looked_at, error, integrator)
        if ringing and not isinstance(integrator, IDA) and integrator.method.order > 2:
            error = None  # what rings is thousands of times more than the tip shows of it
    told = _doubts_of(model)
    remarks: tuple[str, ...] = (*told, *ringing)
    missed: tuple[str, ...] = ()
    if record.ending.completed and isinstance(model, Arm):
        if not isinstance(integrator, IDA) and integrator.step > followed:
            rule = integrator.method.nodes, integrator.method.weights
            missed = sources.missed(model.inputs, joints, until, integrator.step, rule)
        error, doubted = _of_mesh_and_steps(model, looked_at, error, _steps(integrator, record), searched)
        remarks += missed + doubted
        if missed:  # by all trials too, and by the motion of the tip, so that nothing tells the error
            known = given is None and isinstance(error, ErrorEstimate)
            error = replace(cast(ErrorEstimate, error), time=nan, space=nan, remark=UNSEEN) if known else None
    if remarks:
        choices["warnings"] = "\n".join(remarks)
    trajectory = Trajectory.from_record(model, record, choices, wall_time, error)
    tell(each for each in doubts(trajectory) if each not in told)
    return trajectory, integrator


def _doubts_of(model: Model) -> tuple[str, ...]:
    """What was said already about the robot and what is connected to it."""
    return (*(model.robot.doubts if isinstance(model, Arm) else ()), *getattr(model, "doubts", ()))


def _with_contacts(model: Model, seen: Record, error: Error, integrator: Integrator) -> Error:
    """The error of fixed steps, with what they miss where contacts begin and end."""
    contacts = contacts_of(model)
    if not contacts or isinstance(integrator, IDA):
        return error
    model = cast(Arm, model)
    told = indicated_error(model, seen, error) if isinstance(error, tuple) else error
    found = switches(contacts, model, seen.time, seen.states)
    if told is None or not found:
        return error
    return replace(told, time=told.time + missed_at(found, seen.time, model.tip(seen.states)[0], integrator.step))


def _with_its_bend(
    found: Found, model: Model, run: tuple[float, tuple[Array, bool], int | Array, SearchProgress], after: Continuation
) -> Found:
    """The run, or a more accurate one where little of the deflection of a stiff arm is right by the usual accuracy."""
    until, given, outputs, progress = run
    for _ in range(MOST_REFINED):
        error, record = found.error, found.record
        if not record.ending.completed or not isinstance(found.model, Arm) or not error.reached:
            break
        seen = deflection_error.bend(found.model, record.time, record.states, _steps(found.integrator, record))
        if not seen.largest > deflection_error.NEGLIGIBLE * error.scale:
            break
        off = max(error.total, seen.steps.share * seen.largest)
        needed = error.relative * deflection_error.MATTERS * seen.largest / max(off, 1e-300)
        # laws of users are asked in one run only
        if (
            not min(FINEST, FINER * error.relative) <= needed < error.relative
            or model.inputs.controllers
            or model.inputs.commands
        ):
            break
        finer = find(Search(model, until, needed, given, outputs, progress, after))
        told = replace(finer.error, asked=USUAL)
        found = replace(finer, error=told, trials=found.trials + finer.trials)
    return found


def _steps(integrator: Integrator, record: Record) -> tuple[int, float] | None:
    """Order and mean length, where they are known."""
    if isinstance(integrator, IDA) or len(record.time) < 2:
        return None
    return integrator.method.order, float(record.time[-1] - record.time[0]) / max(
        record.statistics.get("steps", 1.0), 1.0
    )


def _of_mesh_and_steps(
    model: Arm, record: Record, error: Error, steps: tuple[int, float] | None, searched: bool
) -> tuple[Error, tuple[str, ...]]:
    """The error with that of a mesh which was not searched; loads that the mesh does not resolve, and errors that are a
    part of the deflection which matters."""
    if not deflection_error.deflects(model):
        return error, ()
    told = indicated_error(model, record, error) if isinstance(error, tuple) else error
    found = deflection_error.bend(model, record.time, record.states, steps)
    compared = told is not None and told.space == told.space
    bent = found.largest > deflection_error.NEGLIGIBLE * reach_of(model)
    asked = not (searched and compared) and (bent or (told is not None and shows(model, found)))
    known = deflection_error.resolution(model) if asked else None
    if known is not None and told is not None:
        told = replace(told, space=of_given_mesh(told.space, off_by_mesh(model, found, known)))
    if not bent:
        return told, ()
    known = None if compared else known  # trials have seen what the mesh makes of the loads
    loads = sources.beyond_mesh(model.inputs, model.joint_names, float(record.time[-1]), known)
    return told, (*loads, *deflection_error.doubts(found, told, known))


def _advance(
    model: Model,
    start: Array,
    integrator: Integrator,
    until: float,
    outputs: int | Array,
    progress: Progress,
    after: Continuation,
) -> tuple[Record, Error, Record | None]:
    """A run with steps that are given, what tells its error, and the run at more times where few are wanted."""
    if isinstance(integrator, IDA):
        evenly = np.linspace(after.time, until, outputs + 1) if isinstance(outputs, int) else outputs
        wanted, marks = wanted_times(evenly, until, after.time), corners(model.inputs, until, after)
        return advance_by_ida(model, start, integrator, wanted, marks, progress), None, None
    order = integrator.method.order
    grid, lengths = fixed_steps(model.inputs, until, after, integrator.step)
    wanted = saved_times(grid, outputs)
    whole = isinstance(outputs, int) and len(wanted) == len(grid)
    looked_at = deflection_error.rows_looked_at(len(grid))
    # from the first saved time on: its efforts stand for those at the start
    begin = int(np.searchsorted(grid, wanted[min(1, len(wanted) - 1)]))
    some = windows(len(grid) - 1, order, 0 if whole else begin)
    telling, shown = grid[some], wanted
    if not whole:
        shown = ascending(wanted, telling)
        if len(wanted) < looked_at and isinstance(model, Arm) and deflection_error.deflects(model):
            shown = ascending(shown, grid[np.linspace(begin, len(grid) - 1, looked_at).round().astype(int)])
    inside = looked_inside(some, begin) if isinstance(model, Arm) and min(order, model.highest_order) > 2 else None
    if inside is not None:
        shown = ascending(shown, telling, between(telling[inside], telling[inside + 1]))
    asked = integrator.method, integrator.newton_tolerance
    run = Run(start, grid, shown, model.inputs, *asked, progress, lengths=lengths, after=after)
    record = advance(model, run)
    steps = order, integrator.step
    error: Error = steps
    if inside is not None and record.ending.completed:
        error = of_steps(told_by_tip(cast(Arm, model), record, telling, inside, steps), model)
    seen = None if whole else _looked_at(record, grid, telling, looked_at)
    if len(shown) > len(wanted):
        record = record.reduced(kept_rows(record, wanted))
    return record, indicated_error(model, seen, steps) if error is steps and seen else error, seen


def _looked_at(record: Record, grid: Array, telling: Array, count: int) -> Record:
    """Times and states of a run at ``telling`` ends of steps and at so many others, which nobody asks for more."""
    rows = rows_at(record.time, grid)
    if len(rows) > count:
        some = rows[np.linspace(0, len(rows) - 1, count).round().astype(int)]
        rows = np.union1d(some, rows_at(record.time, telling))
    return replace(record, time=record.time[rows], states=record.states[rows])


def of_order(integrator: Integrator, highest: int) -> Integrator:
    """The same steps by Gauss collocation of an order that is at most ``highest``."""
    match integrator:
        case Radau() | GeneralizedAlpha():
            return Gauss(min(2, highest), integrator.step, integrator.tolerance)
        case RungeKuttaGill():
            return Gauss(min(2, highest), integrator.step)
        case Gauss():
            return replace(integrator, order=min(integrator.order, highest))
        case IDA():
            return integrator


def _moved_to_close(model: Model, start: Array, initial: Array | None) -> str:
    """Which joints start elsewhere than the robot says because loops close there, or nothing."""
    if initial is not None or not isinstance(model, Arm) or not model.robot.loops:
        return ""
    loops = {loop.name for loop in model.robot.loops}
    found, moved = model.layout.part(start, "joint_position"), []
    for name, place, prescribed in zip(model.joint_names, found, model.inputs.prescribed):
        given = model.robot.freedom(name).law.initial_position
        if not prescribed and name.partition(".")[0] not in loops and abs(place - given) > WORTH_SAYING:
            moved.append(f"joint '{name}' starts at {place:.4g}, not at {given:.4g}")
    return f"{', '.join(moved)}, because the loops close there" if moved else ""
