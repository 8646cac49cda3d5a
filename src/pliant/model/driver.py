"""Ctrl-C at a moment at which nothing is half done.

When steps end, where outputs fall, and which stretches of a run are computed at once.

Whether a velocity servo that holds its torque makes an arm unstable from sample to sample.

Deviations x = (y, y') from the motion at the start go from one sample to the next, after ``period``, by

    x  ->  Phi x - gamma gain rate x ,      Phi = exp(A period) ,     gamma = integral of exp(A t) b ,

b the acceleration per torque and ``rate`` what the servo reads. A rigid joint of inertia J is left with
1 - gain period / J  of its rate: more than its whole where  gain period > 2 J .

The loop around a compiled loop: controllers asked, inputs tabulated, endings and records made.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput, PliantError
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.contract import Model, Record, Run
from pliant.model.inputs import Inputs
from pliant.model.sampling import Sampling, ServoPlace, slack
from pliant.model.stage_method import StageMethod
from pliant.model.state import Array, Cause, Ending

if TYPE_CHECKING:
    from pliant.model.contract import LinearisedPort, SecondOrder

INTERRUPTED_REMEDY = "what was computed is kept; take longer steps or fewer elements if it took too long"


class Undivided:
    """A block of lines that Ctrl-C does not divide: inside, it waits for the end; outside, it acts as ever."""

    def __init__(self, usual: Callable[[int, FrameType | None], object] | None) -> None:
        self.usual, self.inside = usual, False
        self.heard: tuple[int, FrameType | None] | None = None

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.inside:
            self.heard = (number, frame)
        elif self.usual is not None:
            self.usual(number, frame)

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
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield Undivided(None)
        return
    block = Undivided(usual)
    signal.signal(signal.SIGINT, block.hear)
    try:
        yield block
    finally:
        signal.signal(signal.SIGINT, usual)


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 4096  # steps whose input tables are made at once
WATCHED_CHUNK = 512  # the same when somebody watches the progress


@dataclass(frozen=True, eq=False)
class Schedule:
    """Step lengths, and where in which step each row of the output falls; row 0 is the start."""

    h: Floats
    times: Floats
    step: Ints
    tau: Floats
    dense: Floats
    first: Ints
    stop: Ints

    @staticmethod
    def of(run: Run) -> Schedule:
        grid = run.grid
        h = grid[1:] - grid[:-1]
        # lengths that differ only by round-off become equal, so that factorisations survive
        order = np.argsort(h, kind="stable")
        ascending = h[order]
        differ = np.append(0, np.cumsum(ascending[1:] - ascending[:-1] > 1e-9 * ascending[1:]))
        h[order] = ascending[np.searchsorted(differ, differ)]
        wanted = run.outputs[run.outputs > grid[0]]
        step = (grid.searchsorted(wanted - 1e-9 * h.min()) - 1).clip(0, len(h) - 1)
        tau = (wanted - grid[step]) / h[step]
        tau[tau > 1 - 1e-9] = 1.0
        dense = np.zeros((len(tau) + 1, run.method.stages))
        if (tau < 1.0).any() and isinstance(run.method, StageMethod):
            dense[1:] = lagrange_values(np.append(0.0, run.method.nodes), tau)[:, 1:]
        stop = 1 + np.bincount(step, minlength=len(h)).cumsum()
        first = np.append(1, stop[:-1])
        times, step, tau = np.append(grid[0], wanted), np.append(-1, step), np.append(1.0, tau)
        return Schedule(h, times, step, tau, dense, first, stop)


def ticks(begin: float, end: float, period: float, delay: float = 0.0) -> Floats:
    """The multiples of a period from ``begin``, each ``delay`` later, before ``end``."""
    count = max(0, int(np.ceil((end - begin - delay) / period)) + 1)
    times = begin + period * np.arange(count, dtype=np.float64) + delay
    return times[times < end - slack(end)]


def instants(inputs: Inputs, begin: float, end: float, servos_inside: bool = False) -> Floats:
    """When sampled control acts or what it holds changes: steps end at all of these.

    Where the servos are computed inside the compiled loop, the instants at which that loop must be left: samples of
    controllers, and the samples of servos at which a delayed command is read first.
    """
    times = [np.zeros(0)]
    for controller in (*inputs.controllers, *inputs.commands):
        times.append(ticks(begin, end, controller.period))
    for controller in inputs.controllers:
        if controller.delay > 0.0:
            times.append(ticks(begin, end, controller.period, controller.delay))
    for period in {servo.period for servo in inputs.servos}:
        samples = ticks(begin, end, period)
        if not servos_inside:
            times.append(samples)
            continue
        for command in inputs.commands:
            arrivals = ticks(begin, end, command.period, command.delay)
            read = samples.searchsorted(arrivals - slack(end))
            times.append(samples[read[read < len(samples)]])
    return np.sort(np.concatenate(times))


def samples_of(run: Run, period: float) -> NDArray[np.bool_]:
    """Whether each step of a run begins at a multiple of a period."""
    begin, end = float(run.grid[0]), float(run.grid[-1])
    sampled = np.zeros(len(run.grid) - 1, np.bool_)
    sampled[_steps_at(run.grid, ticks(begin, end, period))] = True
    return sampled


def _steps_at(grid: Floats, times: Floats) -> Ints:
    """The steps that begin at the times, or first after them."""
    steps = grid.searchsorted(times - slack(float(grid[-1])))
    return steps[steps < len(grid) - 1]


def chunks(run: Run, servos_inside: bool = False) -> Iterator[tuple[int, int]]:
    """Ranges of steps between the instants of sampled control."""
    size = WATCHED_CHUNK if run.progress else CHUNK
    n_steps = len(run.grid) - 1
    acts = _steps_at(run.grid, instants(run.inputs, float(run.grid[0]), float(run.grid[-1]), servos_inside))
    edges = np.unique(np.concatenate([[0, n_steps], acts])).tolist()
    for left, right in itertools.pairwise(edges):
        for a in range(left, right, size):
            yield a, min(a + size, right)


GROWS = 1.05  # in a sample, beside what grows by itself: an arm that falls over does so more slowly


def blame_servos(model: Model, run: Run, ending: Ending) -> Ending:
    """The ending of a run that could not go on; with the servo that shook it, if one did."""
    if ending.cause not in (Cause.NOT_CONVERGED, Cause.NOT_FINITE) or not run.inputs.servos:
        return ending
    start = float(run.grid[0])
    try:
        small = model.linearise(run.start, replace(run.inputs, servos=(), commands=()), start)
        ports = {each.port.name: each for each in small.ports}
        driven = [(servo, ports[servo.joint]) for servo in run.inputs.servos if servo.joint in ports]
        growths = [growth(small, servo, port) for servo, port in driven]
    except (PliantError, np.linalg.LinAlgError):  # what has no small motions is not judged by them
        return ending
    if not growths or max(growths) < GROWS:
        return ending
    servo, port = driven[int(np.argmax(growths))]
    inertia = 1.0 / float(port.rate[0] @ np.linalg.solve(small.M, port.rate[0]))
    unit, mass = ("N m s/rad", "kg m^2") if port.port.effort_unit == "N m" else ("N s/m", "kg")
    remedy = (
        f"its gain {servo.gain:.4g} {unit} times its period {servo.period:.4g} s is"
        f" {servo.gain * servo.period / inertia:.3g} times the inertia {inertia:.4g} {mass} that it moves at once,"
        f" so that deviations grow {max(growths):.3g} times from sample to sample; lower its gain or its period"
    )
    return replace(ending, place=f"the servo of joint '{servo.joint}'", remedy=remedy)


def growth(small: SecondOrder, servo: ServoPlace, port: LinearisedPort) -> float:
    """How many times deviations grow in a sample of one servo, against the arm left alone."""
    from scipy.linalg import expm

    n = len(small.M)
    system = np.zeros((2 * n + 1, 2 * n + 1))
    system[:n, n : 2 * n] = np.eye(n)
    right = np.column_stack([-small.K, -small.D, port.rate[0]])
    system[n : 2 * n] = np.linalg.solve(small.M, right)
    moved = expm(servo.period * system)[: 2 * n]
    reads = np.concatenate([np.zeros(n), port.rate[0]])
    held: Array = moved[:, : 2 * n] - servo.gain * np.outer(moved[:, -1], reads)
    return _radius(held) / max(_radius(moved[:, : 2 * n]), 1.0)


def _radius(matrix: Array) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


T = TypeVar("T")
DONE = 0  # what a compiled loop answers when all its steps converged


class Stepper(Protocol, Generic[T]):
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


def servos_inside(stepper: object, run: Run) -> bool:
    """Whether the compiled loop computes the servos; where their sensors are noisy, the loop around it does."""
    return isinstance(stepper, CarriesServos) and not any(servo.rate_noise for servo in run.inputs.servos)


def drive(stepper: Stepper[T], run: Run) -> Record:
    """Run a machine over the grid of a request; a run that cannot go on keeps what it computed."""
    driven = Driven(stepper, run)
    try:
        with interruptions_heard() as undivided:
            ending = driven.through(undivided)
    except KeyboardInterrupt:
        ending = Ending(Cause.INTERRUPTED, float(run.grid[driven.done]), remedy=INTERRUPTED_REMEDY)
    return stepper.record(driven.done, ending)


class Driven(Generic[T]):
    """A machine on its way through a run, and how many steps it has done."""

    def __init__(self, stepper: Stepper[T], run: Run) -> None:
        self.stepper, self.run, self.done = stepper, run, 0
        self.inside = servos_inside(stepper, run)
        span = (float(run.grid[0]), float(run.grid[-1]))
        self.sampling = Sampling(stepper.model, run.inputs, span, self.inside)

    def through(self, undivided: Undivided) -> Ending:
        """All steps, or as many as can be; how it ended."""
        stepper, run, sampling = self.stepper, self.run, self.sampling
        servoing = stepper if self.inside and isinstance(stepper, CarriesServos) else None
        shown = time.monotonic()
        for a, b in chunks(run, self.inside):
            now = float(run.grid[a])
            if sampling.due(now):
                problem = sampling.act(now, stepper.state_vector())
                if problem:
                    return problem
            if servoing is not None:
                servoing.command(sampling.commands(now))
            found = readable_tables(stepper, sampling.torques(now), a, b)
            tables, unreadable = found
            if tables is not None:
                with undivided:
                    count, status = stepper.steps(tables)
                    self.done += count
                if status != DONE:
                    return blame_servos(stepper.model, run, stepper.stopped(status, self.done))
            if unreadable:
                place, _, remedy = unreadable.rpartition("; ")
                return Ending(Cause.INPUT, float(run.grid[self.done]), place, remedy)
            if run.progress and time.monotonic() - shown > 0.1:
                shown = time.monotonic()
                run.progress(self.done / (len(run.grid) - 1))
        return Ending(Cause.COMPLETED, float(run.grid[-1]))


def readable_tables(stepper: Stepper[T], held: Floats, a: int, b: int) -> tuple[T | None, str]:
    """Tables for the longest stretch of the steps a .. b-1 whose inputs exist, and what is wrong after it."""
    tables: T | None = None
    problem = ""
    readable, unreadable, end = a, b + 1, b
    while unreadable - readable > 1:
        try:
            tables = stepper.tables(held, a, end)
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
