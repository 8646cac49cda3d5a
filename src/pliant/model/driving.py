"""The loop around a compiled loop: controllers asked, inputs tabulated, endings and records made."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.contract import Model, Record, Run
from pliant.model.ending import Cause, Ending
from pliant.model.interruption import INTERRUPTED_REMEDY, Undivided, interruptions_heard
from pliant.model.sampling import Sampling
from pliant.model.schedule import Schedule, chunks
from pliant.model.servo_stability import blame_servos

Floats = NDArray[np.float64]
T = TypeVar("T")
DONE = 0  # what a compiled loop answers when all its steps converged


class Machine(Protocol, Generic[T]):
    """A compiled loop with its state."""

    @property
    def model(self) -> Model: ...
    def state_vector(self) -> Floats: ...
    def tables(self, held: Floats, a: int, b: int) -> T:
        """Inputs of the steps a .. b-1, with the torques that controllers hold."""
        ...

    def steps(self, tables: T) -> tuple[int, int]:
        """Advance; how many steps were done, and DONE or why not."""
        ...

    def stopped(self, status: int, done: int) -> Ending: ...
    def record(self, done: int, ending: Ending) -> Record: ...


@runtime_checkable
class CarriesServos(Protocol):
    """A machine that computes velocity servos inside its compiled loop."""

    def command(self, rates: Floats) -> None:
        """The commanded rates of all joints, from now until the next call; asked for before ``tables``."""
        ...


def servos_inside(machine: object, run: Run) -> bool:
    """Whether the compiled loop computes the servos; where their sensors are noisy, the loop around it does."""
    return isinstance(machine, CarriesServos) and not any(servo.rate_noise for servo in run.inputs.servos)


def drive(machine: Machine[T], run: Run) -> Record:
    """Run a machine over the grid of a request; a run that cannot go on keeps what it computed."""
    driven = Driven(machine, run)
    try:
        with interruptions_heard() as undivided:
            ending = driven.through(undivided)
    except KeyboardInterrupt:
        ending = Ending(Cause.INTERRUPTED, float(run.grid[driven.done]), remedy=INTERRUPTED_REMEDY)
    return machine.record(driven.done, ending)


class Driven(Generic[T]):
    """A machine on its way through a run, and how many steps it has done."""

    def __init__(self, machine: Machine[T], run: Run) -> None:
        self.machine, self.run, self.done = machine, run, 0
        self.inside = servos_inside(machine, run)
        span = (float(run.grid[0]), float(run.grid[-1]))
        self.sampling = Sampling(machine.model, run.inputs, span, self.inside)

    def through(self, undivided: Undivided) -> Ending:
        """All steps, or as many as can be; how it ended."""
        machine, run, sampling = self.machine, self.run, self.sampling
        servoing = machine if self.inside and isinstance(machine, CarriesServos) else None
        shown = time.monotonic()
        for a, b in chunks(run, self.inside):
            now = float(run.grid[a])
            if sampling.due(now):
                problem = sampling.act(now, machine.state_vector())
                if problem:
                    return problem
            if servoing is not None:
                servoing.command(sampling.commands(now))
            found = readable_tables(machine, sampling.torques(now), a, b)
            tables, unreadable = found
            if tables is not None:
                with undivided:
                    count, status = machine.steps(tables)
                    self.done += count
                if status != DONE:
                    return blame_servos(machine.model, run, machine.stopped(status, self.done))
            if unreadable:
                place, _, remedy = unreadable.rpartition("; ")
                return Ending(Cause.INPUT, float(run.grid[self.done]), place, remedy)
            if run.progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                run.progress(self.done / (len(run.grid) - 1))
        return Ending(Cause.COMPLETED, float(run.grid[-1]))


def readable_tables(machine: Machine[T], held: Floats, a: int, b: int) -> tuple[T | None, str]:
    """Tables for the longest stretch of the steps a .. b-1 whose inputs exist, and what is wrong after it."""
    tables: T | None = None
    problem = ""
    readable, unreadable, end = a, b + 1, b
    while unreadable - readable > 1:
        try:
            tables = machine.tables(held, a, end)
            readable = end
        except InvalidInput as error:
            unreadable, problem = end, str(error)
        end = (readable + unreadable) // 2
    return tables, problem


def input_tables(run: Run, times: Floats, held: Floats) -> tuple[Floats, Floats]:
    """Signals of all joints (steps, m, joints, 3) and loads (steps, m, loads, 6) at the times (steps, m)."""
    flat = times.ravel()
    joints = run.inputs.joint_signals(flat).reshape(*times.shape, len(run.inputs.prescribed), 3)
    if held.any():
        joints = joints.copy()
        joints[..., 2] += held
    loads = run.inputs.load_signals(flat).reshape(*times.shape, len(run.inputs.loads), 6)
    refuse_not_finite(run, joints, loads)
    return joints, loads


def refuse_not_finite(run: Run, joints: Floats, loads: Floats) -> None:
    """Refuse tables that hold what is no number, naming the first joint or load that has it."""
    if np.isfinite(joints.sum() + loads.sum()):  # much sooner known than which
        return
    for k in np.flatnonzero(~np.isfinite(joints).all(axis=(0, 1, 3)))[:1]:
        raise InvalidInput(
            f"the drive of joint {k + 1} is not finite; let its motion or torque return numbers"
        )
    for k in np.flatnonzero(~np.isfinite(loads).all(axis=(0, 1, 3)))[:1]:
        name = run.inputs.loads[k].name
        raise InvalidInput(f"load '{name}' is not finite; let its signal return finite numbers")


def times_reached(plan: Schedule, run: Run, done: int, ending: Ending, keep: Callable[[int], None]) -> Floats:
    """Times of the rows that ``done`` steps filled; where a run stopped between two, the last state is kept too."""
    times = plan.times[: int(np.searchsorted(plan.step, done))]
    if not ending.completed and times[-1] < run.grid[done]:
        keep(len(times))
        times = np.append(times, run.grid[done])
    return times
