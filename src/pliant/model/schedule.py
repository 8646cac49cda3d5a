"""When steps end, where outputs fall, and which stretches of a run are computed at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.contract import Run
from pliant.model.inputs import Inputs
from pliant.model.sampling import slack
from pliant.model.stage_method import StageMethod

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
