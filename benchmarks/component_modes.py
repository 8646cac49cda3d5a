"""The fall of the L frame of [vidoni2018] by component modes: how much faster than real time at a checked error."""

from __future__ import annotations

import tempfile
import time as clock
from pathlib import Path

import numpy as np

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict
from pliant.experiments.vidoni2018 import frame

DURATION, FINE, ERROR = 2.0, 2e-5, 1e-3  # s, s, part of the length of a rod
TOLERANCE = 1e-7  # of Newton's method, as a part of the reach: displacements are asked for 1e-3
STEPS = (2.5e-3, 2e-3, 1.6e-3, 1e-3)
DEMANDS = {14: 500.0, 30: 130.0}  # times real time
PAPER = {14: 224.0, 30: 4989.0}  # s of computation that [vidoni2018] prints


def fall(model: pl.Arm, step: float) -> tuple[pl.Trajectory, float]:
    """Two seconds under gravity, and CPU seconds of the whole of ``simulate``."""
    begin = clock.process_time()
    rule = pl.Gauss(order=2, step=step, tolerance=TOLERANCE)
    run = pl.simulate(model, DURATION, rule, outputs=np.linspace(0.0, DURATION, 101))
    assert run.ledger.worst_ratio < 1e-11  # the ledger stays exact
    return run, clock.process_time() - begin


def measure(session: Session) -> OwnMeasure:
    """The longest step that reaches the error, and its cost."""
    rows = [
        "| modes | step | error | CPU | times real time | demand | | the paper |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        robot = frame.robot_of(frame.write_matrices(Path(folder), 4))
        for modes, demand in DEMANDS.items():
            model = frame.formulation_of(frame.Case(4, 30, modes)).compile(robot)
            exact = fall(model, FINE)[0].tip_position
            for step in STEPS:
                run, _ = fall(model, step)
                error = float(np.linalg.norm(run.tip_position - exact, axis=1).max()) / frame.LENGTH
                if error <= ERROR:
                    break
            spent = min(fall(model, step)[1] for _ in range(10 * session.repeats))
            faster = DURATION / spent
            rows.append(
                f"| {modes} | {1e3 * step:g} ms | {error:.1e} of a rod | {1e3 * spent:.2f} ms | {faster:.0f} |"
                f" {demand:g} | {verdict(faster >= demand and error <= ERROR)} | {PAPER[modes]:g} s |"
            )
    title = "The 2 s fall of the L frame of [vidoni2018] by component modes, energy-exact steps:"
    return OwnMeasure.told("\n".join([title, "", *rows]))
