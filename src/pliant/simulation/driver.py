"""The one driver: it advances the stepper of any model through a run.

Inputs are read for many steps at once, controllers are asked at their instants, Ctrl-C acts at moments at which nothing
is half done, and what was kept becomes a record.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Generic, TypeVar

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.continuation import Continuation, HoldsTorques, Remembers
from pliant.model.contract import DONE, WATCHED_STEPS, Arm, CarriesServos, Model, NotesRates, Record, Run, Stepper
from pliant.model.sampling import servos_inside
from pliant.model.schedule import WITHIN, Ints, instants, steps_at, ticks
from pliant.model.state import Array, Cause, Ending
from pliant.simulation.sampled_control import Sampling, blame_servos

T = TypeVar("T")
Progress = Callable[[float], None] | None
CHUNK = 4096  # steps whose inputs are read at once
WATCHED_CHUNK = 512  # steps done at once when somebody watches the progress
WHOLE = (Cause.COMPLETED, Cause.INTERRUPTED, Cause.INPUT, Cause.CONTROLLER, Cause.DIVERGED)  # no step had begun
MISSED = 0.5  # part of the energy exchanged in a step that none misses which is solved
LEAST_ENERGY = 1e-6  # J; less is made by rounding
INTERRUPTED_REMEDY = "what was computed is kept; take longer steps or fewer elements if it took too long"


class Undivided:
    """A block of lines that Ctrl-C does not divide: inside, it waits for the end; outside, it acts as ever."""

    def __init__(self, usual: dict[int, Callable[[int, FrameType | None], object]]) -> None:
        self.usual, self.inside = usual, False
        self.heard: tuple[int, FrameType | None] | None = None

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.inside:
            self.heard = (number, frame)
        elif number in self.usual:
            self.usual[number](number, frame)

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(self, *_: object) -> None:
        self.inside = False
        if self.heard is not None:
            heard, self.heard = self.heard, None
            self.hear(*heard)


@contextmanager
def interruptions_heard() -> Iterator[Undivided]:
    """A block that may be entered again and again, so that what was done and what was noted of it agree.

    Python delivers Ctrl-C when a compiled loop returns, before its answer is stored. Only the main thread hears it; to
    tell it so takes longer than some of the loops, and is done once for all of them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield Undivided({})
        return
    # the program hears SIGTERM as Ctrl-C; jobs in the background may be deaf to Ctrl-C
    numbers = (signal.SIGINT, signal.SIGTERM)
    usual = {int(each): handler for each in numbers if callable(handler := signal.getsignal(each))}
    block = Undivided(usual)
    for number in usual:
        signal.signal(number, block.hear)
    try:
        yield block
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def advance(model: Model, run: Run) -> Record:
    """Advance a model over the grid of a run; one that cannot go on keeps what it computed."""
    return drive(model.stepper(run))


def drive(stepper: Stepper[T]) -> Record:
    """Run a stepper over the grid of its request."""
    driven, grid = Driven(stepper), stepper.run.grid
    try:
        ending = stepper.start()
        if ending is None:
            driven.go_on()
            with interruptions_heard() as undivided:
                ending = driven.through(undivided)
    except KeyboardInterrupt:
        ending = Ending(Cause.INTERRUPTED, float(grid[driven.done]), remedy=INTERRUPTED_REMEDY)
    return _record(driven, ending)


def not_begun(model: Model, run: Run) -> Record:
    """What is kept of a run that Ctrl-C ends before its first step: the start."""
    driven = Driven(model.stepper(run))
    driven.stepper.start()
    return _record(driven, Ending(Cause.INTERRUPTED, float(run.grid[0]), remedy=INTERRUPTED_REMEDY))


def _record(driven: Driven[T], ending: Ending) -> Record:
    """What the steps kept; where a run stopped between two rows, its last state too."""
    stepper, done = driven.stepper, driven.done
    plan = stepper.run.schedule
    times = plan.times if done == len(plan.h) else plan.times[: int(np.searchsorted(plan.step, done))]
    if not ending.completed and times[-1] < ending.time:
        stepper.keep(len(times))
        times = np.append(times, ending.time)
    kept = stepper.kept(times)
    counts = {"steps": float(done), **kept.statistics}
    rates = driven.last_rates(kept.states)
    record = Record(times, kept.states, kept.efforts, kept.ledger, ending, counts, last_rates=rates)
    sound = rows_from_something(record)
    if sound < len(times):
        where = "a step", "take smaller steps, or check the sizes of loads and drives"
        record = record.at(np.arange(sound))
        ending = driven.sampling.unbounded(float(record.time[-1]), *where)
    after = None if stepper.run.trial and ending.completed else driven.continuation(float(record.time[-1]), ending)
    return replace(record, ending=ending, after=after)


def rows_from_something(record: Record) -> int:
    """How many rows come before a step of an exact method that made more energy of nothing than there ever was.

    Far off, where rounding is larger than the arm, Newton's method may find a balance that is none.
    """
    ledger = record.ledger
    if not (ledger.exact and ledger.worst_ratio > MISSED):
        return len(record.time)
    rows = max(int(np.searchsorted(record.time, ledger.worst_time - WITHIN * abs(ledger.worst_time))), 1)
    there_was = float(np.max(ledger.stored[:rows]) + ledger.exchanged[rows - 1])
    made = abs(float(ledger.residual[-1])) > there_was + LEAST_ENERGY
    return rows if made else len(record.time)


class Driven(Generic[T]):
    """A stepper on its way through a run, and how many steps it has done."""

    def __init__(self, stepper: Stepper[T]) -> None:
        self.stepper, self.run, self.done = stepper, stepper.run, 0
        self.servoing = stepper if isinstance(stepper, CarriesServos) and servos_inside(self.run.inputs) else None
        span = (self.run.origin, float(self.run.grid[-1]))
        self.sampling = Sampling(stepper.model, self.run.inputs, span, self.servoing is not None)
        self.first = self.stop = 0  # steps whose inputs are read
        self.rates: list[Array] = []  # of the joints, after each of the last steps
        watched = not self.run.trial and isinstance(stepper.model, Arm)
        self.watched = watched and not all(self.run.inputs.prescribed)
        self.last_ends = ends_of_last_steps(self.run) if self.watched else np.zeros(0, np.int64)
        alone = self.watched and not len(self.last_ends)
        noted = alone and not sampled(self.run) and len(self.run.grid) - 1 > 2 * WATCHED_STEPS
        self.noting = stepper if noted and isinstance(stepper, NotesRates) else None
        self.alone = WATCHED_STEPS if alone and self.noting is None else 0

    def go_on(self) -> None:
        """Take over what the run before remembered."""
        after, stepper = self.run.after, self.stepper
        if after is None:
            return
        if after.sampling is not None:
            self.sampling.recall(after.sampling)
        if after.memory and isinstance(stepper, Remembers):
            stepper.recall(after.memory)
            stepper.keep(0)
        elif after.held is not None and isinstance(stepper, HoldsTorques):
            stepper.held[:] = after.held

    def continuation(self, time: float, ending: Ending) -> Continuation:
        """What a run that goes on from here needs; after a step that failed, what it had begun is forgotten."""
        stepper, whole = self.stepper, ending.cause in WHOLE and time == float(self.run.grid[self.done])
        memory = stepper.memory() if whole and isinstance(stepper, Remembers) else ()  # it takes no step any more
        held = stepper.held.copy() if isinstance(stepper, HoldsTorques) else None
        return Continuation(time, self.run.origin, memory, held, self.sampling.memory())

    def last_rates(self, states: Array) -> Array:
        """Those of the joints after each of the last steps that were done."""
        done = max(0, self.done - (len(self.run.grid) - 1 - WATCHED_STEPS))
        if self.noting is not None:
            return self.noting.noted_rates[:done]
        if not len(self.last_ends):
            return np.array(self.rates or np.zeros((0, 0)))
        return self.stepper.model.layout.part(states[self.last_ends[:done]], "joint_rate")

    def through(self, undivided: Undivided) -> Ending:
        """All steps, or as many as can be; how it ended."""
        stepper, run, sampling = self.stepper, self.run, self.sampling
        shown = time.monotonic()
        for a, b in chunks(run, self.servoing is not None, self.alone):
            now = float(run.grid[a])
            if sampling.due(now):
                problem = sampling.act(now, stepper.state_vector())
                if problem:
                    return blame_servos(stepper.model, run, problem)
            held = sampling.torques(now)
            if sampling.differences:
                sampling.note(now, stepper.state_vector(), held)
            if self.servoing is not None:
                self.servoing.command(sampling.commands(now))
            end, unreadable = self.readable(a, b)
            if end > a:
                with undivided:
                    part = slice(a - self.first, end - self.first)
                    count, status = stepper.advance(self.read, part, held)
                    self.done += count
                if self.watched and end - a == 1 and len(run.grid) - 1 - end < WATCHED_STEPS:
                    self.rates.append(stepper.model.layout.part(stepper.state_vector(), "joint_rate").copy())
                if status != DONE:
                    return sampling.blame(blame_servos(stepper.model, run, stepper.stopped(status, self.done)))
            if unreadable:
                place, _, remedy = unreadable.rpartition("; ")
                return Ending(Cause.INPUT, float(run.grid[self.done]), place, remedy)
            if run.progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                run.progress(self.done / (len(run.grid) - 1))
        now = float(run.grid[-1])
        problem = sampling.diverged(now, stepper.state_vector()) if sampling.clocks else None
        return blame_servos(stepper.model, run, problem) if problem else Ending(Cause.COMPLETED, now)

    def readable(self, a: int, b: int) -> tuple[int, str]:
        """Read inputs of the steps from a, up to b if they exist; how far they do, and what is wrong after that."""
        if self.first <= a and b <= self.stop:
            return b, ""
        problem, known, unreadable = "", a, b + 1
        # as many as can be read at once, else the most that can be read of those that are wanted
        end = min(max(b, a + CHUNK), len(self.run.grid) - 1)
        while unreadable - known > 1:
            try:
                self.read = self._tables(a, end)
                self.first, self.stop, known = a, end, min(end, b)
            except InvalidInput as error:
                if end <= b:
                    unreadable, problem = end, str(error)
            end = b if end > b else (known + unreadable) // 2
        return known, problem

    def _tables(self, a: int, b: int) -> T:
        times, inputs = self.stepper.times(a, b), self.run.inputs
        flat = times.ravel()
        joints = inputs.joint_signals(flat).reshape(*times.shape, len(inputs.prescribed), 3)
        loads = inputs.load_signals(flat).reshape(*times.shape, len(inputs.loads), 6)
        refuse_not_finite(self.run, joints, loads)
        return self.stepper.tables(a, b, joints, loads)


def sampled(run: Run) -> bool:
    """Whether anything acts at instants."""
    return bool(run.inputs.controllers or run.inputs.commands or run.inputs.servos)


def chunks(run: Run, servos_inside: bool = False, alone: int = 0) -> Iterator[tuple[int, int]]:
    """Ranges of steps between the instants of sampled control; so many last ones ``alone``, to be compared."""
    size, last = WATCHED_CHUNK if run.progress else CHUNK, len(run.grid) - 1
    if sampled(run):
        acts = steps_at(run.grid, instants(run.inputs, run.origin, float(run.grid[-1]), servos_inside))
        edges = np.unique(np.concatenate([[0, last], acts, two_steps_before(run)])).astype(int).tolist()
    else:
        edges = [0, *range(last if last <= 2 * alone else last - alone, last), last]
    for left, right in itertools.pairwise(edges):
        for a in range(left, right, size):
            yield a, min(a + size, right)


def ends_of_last_steps(run: Run) -> Ints:
    """Rows of the output there, if steps need not be taken alone to see them: where each of the last ones has a row."""
    none = np.zeros(0, np.int64)
    if sampled(run) or len(run.grid) - 1 <= 2 * WATCHED_STEPS:
        return none
    plan = run.schedule
    first, stop = plan.first[-WATCHED_STEPS:], plan.stop[-WATCHED_STEPS:]
    kept = (stop > first).all() and (plan.tau[stop - 1] == 1.0).all()
    return stop - 1 if kept else none


def two_steps_before(run: Run) -> Ints:
    """The steps from whose starts accelerations are found at the samples of those who read them."""
    reading = [each for each in (*run.inputs.controllers, *run.inputs.commands) if each.accelerations]
    # also at those of a run that goes on
    grid = np.append(run.grid, float(run.grid[-1]) + float(run.grid[-1] - run.grid[-2]) * np.arange(1, 4))
    samples = [steps_at(grid, ticks(run.origin, float(grid[-1]), each.period)) for each in reading]
    steps = np.concatenate([np.zeros(0, np.int64), *(each - back for each in samples for back in (1, 2))])
    return steps[(steps > 0) & (steps < len(run.grid) - 1)]


def refuse_not_finite(run: Run, joints: Array, loads: Array) -> None:
    """Refuse signals that hold what is no number, naming the first joint or load that has it."""
    if np.isfinite(joints.sum() + loads.sum()):  # much sooner known than which
        return
    for k in np.flatnonzero(~np.isfinite(joints).all(axis=(0, 1, 3)))[:1]:
        raise InvalidInput(f"the drive of joint {k + 1} is not finite; let its motion or torque return numbers")
    for k in np.flatnonzero(~np.isfinite(loads).all(axis=(0, 1, 3)))[:1]:
        name = run.inputs.loads[k].name
        raise InvalidInput(f"load '{name}' is not finite; let its signal return finite numbers")
