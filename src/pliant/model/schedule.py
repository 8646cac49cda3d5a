"""When steps end, where outputs fall, and which stretches of a run are computed at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.contract import Run
from pliant.model.inputs import SampledController

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
        changes = np.flatnonzero(np.abs(h[1:] - h[:-1]) > 1e-9 * h[1:]) + 1
        for begin, end in itertools.pairwise([0, *changes.tolist(), len(h)]):
            h[begin:end] = h[begin]
        wanted = run.outputs[run.outputs > grid[0]]
        step = (grid.searchsorted(wanted - 1e-9 * h.min()) - 1).clip(0, len(h) - 1)
        tau = (wanted - grid[step]) / h[step]
        tau[tau > 1 - 1e-9] = 1.0
        dense = np.zeros((len(tau) + 1, run.method.stages))
        if (tau < 1.0).any():
            dense[1:] = lagrange_values(np.append(0.0, run.method.nodes), tau)[:, 1:]
        stop = 1 + np.bincount(step, minlength=len(h)).cumsum()
        first = np.append(1, stop[:-1])
        times, step, tau = np.append(grid[0], wanted), np.append(-1, step), np.append(1.0, tau)
        return Schedule(h, times, step, tau, dense, first, stop)


def chunks(run: Run, n_steps: int) -> Iterator[tuple[int, int, list[SampledController]]]:
    """Ranges of steps between samples, each with the controllers that act at its start."""
    size = WATCHED_CHUNK if run.progress else CHUNK
    marks: dict[int, list[SampledController]] = {}
    for controller in run.inputs.controllers:
        times = np.arange(run.grid[0], run.grid[-1] - 1e-9 * controller.period, controller.period)
        for index in np.clip(np.searchsorted(run.grid, times - 1e-6 * controller.period), 0, n_steps - 1):
            marks.setdefault(int(index), []).append(controller)
    edges = sorted({0, n_steps, *marks})
    for left, right in itertools.pairwise(edges):
        for a in range(left, right, size):
            yield a, min(a + size, right), marks.get(a, []) if a == left else []
