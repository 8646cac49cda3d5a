"""Runs of the compiled loops over equal steps, and mechanisms to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.structures.tree.arrays import Mechanism
from pliant.structures.tree.motion import Bools, Floats
from pliant.structures.tree.step import Output, Tables, Work, new_output, new_work, run_gill, run_midpoint, start_run

Signal = Callable[[Floats], Floats]


@dataclass
class March:
    """A run: its states (rows, n), its ledger, and what drives it."""

    mechanism: Mechanism
    work: Work
    output: Output
    done: int
    status: int

    @property
    def q(self) -> Floats:
        return self.output.x[:-1, : self.mechanism.size]

    @property
    def v(self) -> Floats:
        return self.output.x[:-1, self.mechanism.size :]

    @property
    def sums(self) -> Floats:
        return self.output.sums[:-1]

    @property
    def worst(self) -> float:
        return float(self.work.ledger.worst[0])


def march(
    mechanism: Mechanism,
    q: Floats,
    v: Floats,
    step: float,
    steps: int,
    explicit: bool = False,
    joint: Signal | None = None,
    load: Signal | None = None,
    loads: int = 0,
    command: Floats | None = None,
    sampled: Bools | None = None,
    rows_at: Floats | None = None,
) -> March:
    """Equal steps; every step's end is kept, or the parts ``rows_at`` of every step.

    ``joint`` and ``load`` give the tables (times, n, 3) and (times, loads, 6) at many times.
    """
    n, servos = mechanism.size, len(mechanism.servos.coordinate)
    begin = step * np.arange(steps)
    times = np.stack([begin + 0.5 * step, begin + step, begin], axis=1)
    joints = np.zeros((steps, 3, n, 3)) if joint is None else joint(times.ravel()).reshape(steps, 3, n, 3)
    wrenches = np.zeros((steps, 3, loads, 6)) if load is None else load(times.ravel()).reshape(steps, 3, loads, 6)
    parts = np.ones(1) if rows_at is None else rows_at
    rows = len(parts) * steps
    first = 1 + len(parts) * np.arange(steps)
    tables = Tables(
        np.full(steps, step),
        begin + step,
        np.arange(n),
        joints,
        wrenches,
        np.zeros((steps, servos), np.bool_) if sampled is None else sampled,
        np.zeros(servos) if command is None else command,
        first,
        first + len(parts),
        np.concatenate([[1.0], np.tile(parts, steps)]),
    )
    work = new_work(mechanism, loads, np.asarray(q, float), np.asarray(v, float))
    output = new_output(mechanism, loads, rows + 1)
    assert start_run(mechanism, work)
    output.x[0] = np.concatenate([work.step.q, work.step.v])
    run = run_gill if explicit else run_midpoint
    done, status = run(mechanism, work, tables, output)
    return March(mechanism, work, output, done, status)
