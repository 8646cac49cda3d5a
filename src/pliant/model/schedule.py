"""When things happen in a run: ends of steps, rows of the output, instants of sampled control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.shape_functions import Rows, place_rows
from pliant.model.stage_method import ExplicitMethod, StageMethod
from pliant.model.state import Array

if TYPE_CHECKING:
    from pliant.model.inputs import Inputs

Ints = NDArray[np.int64]
WITHIN = 1e-9  # part of a step by which the ends of a step look into it, so that a jump belongs to one side
DECIMALS = 1e12  # in a second
SAME_INSTANT = 2e-12  # part of the clock, or of a second, within which two instants are one


def slack(end: float) -> float:
    """How far apart two instants of a run until ``end`` may lie and yet be one."""
    return SAME_INSTANT * max(1.0, abs(end))


@dataclass(frozen=True, eq=False)
class Schedule:
    """Step lengths, and where in which step each row of the output falls; row 0 is the start."""

    h: Array
    times: Array
    step: Ints
    tau: Array
    dense: Array
    first: Ints
    stop: Ints

    @staticmethod
    def of(grid: Array, outputs: Array, method: StageMethod | ExplicitMethod, lengths: Array | None = None) -> Schedule:
        h = merged(grid[1:] - grid[:-1]) if lengths is None else lengths
        later = outputs > grid[0]
        count = np.count_nonzero(later) + 1
        times = np.empty(count)
        times[0], times[1:] = grid[0], outputs if count > len(outputs) else outputs[later]
        placed = np.empty(count, np.int64), np.empty(count), np.zeros((count, method.stages))
        rows = Rows(times, *placed, np.empty(len(grid), np.int64))
        place_rows(grid, h, method.nodes if isinstance(method, StageMethod) else method.nodes[:0], rows)
        return Schedule(h, *rows[:4], rows.ends[:-1], rows.ends[1:])


def merged(lengths: Array) -> Array:
    """Lengths that differ only by round-off become that of the first of them, so that factorisations survive."""
    if len(lengths) == 1:
        return lengths
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    differs = np.append(True, ascending[1:] - ascending[:-1] > 1e-9 * ascending[1:])
    firsts = np.minimum.reduceat(order, np.flatnonzero(differs))
    equal = np.empty_like(lengths)
    equal[order] = lengths[firsts][np.cumsum(differs) - 1]
    return equal


def decimal(times: Array) -> Array:
    """Times, those that are decimals but for rounding as the nearest numbers to these.

    So 3 periods of 0.1 s end at 0.3 s, which is also the end of a run until 0.3 s.
    """
    nearest = np.rint(times * DECIMALS) / DECIMALS
    return np.asarray(np.where(np.abs(nearest - times) <= 4.0 * np.spacing(np.abs(times)), nearest, times))


def ticks(begin: float, end: float, period: float, delay: float = 0.0) -> Array:
    """The multiples of a period from ``begin``, each ``delay`` later, before ``end``."""
    count = max(0, int(np.ceil((end - begin - delay) / period)) + 1)
    times = decimal(begin + period * np.arange(count, dtype=np.float64) + delay)
    return times[times < end - slack(end)]


def instants(inputs: Inputs, begin: float, end: float, servos_inside: bool = False) -> Array:
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


def steps_at(grid: Array, times: Array) -> Ints:
    """The steps that begin at the times, or first after them."""
    steps = grid.searchsorted(times - slack(float(grid[-1])))
    return steps[steps < len(grid) - 1]


def samples_of(grid: Array, period: float, origin: float) -> NDArray[np.bool_]:
    """Whether each step of a grid begins at a multiple of a period from ``origin`` on."""
    begin, end = float(grid[0]), float(grid[-1])
    times = ticks(origin, end, period)
    sampled = np.zeros(len(grid) - 1, np.bool_)
    sampled[steps_at(grid, times[times >= begin - slack(end)])] = True
    return sampled
