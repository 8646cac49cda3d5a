"""What co-rotational elements cost: a step against pose elements, and the index-2 solver against real time."""

from __future__ import annotations

import time as clock

import numpy as np

import pliant as pl
from benchmarks import damic_two_link as arm
from benchmarks import ours
from benchmarks.damic_corotational import ELEMENTS
from benchmarks.harness import OwnMeasure, Session, verdict
from pliant.model.contract import Model

DEMAND = 1.3  # times the step of pose elements
STEPS = (1e-3, 5e-3, 1e-2)  # s
TOLERANCE = 1e-8  # of the index-2 solver, as in the paper
REAL_TIME = 1.0  # CPU seconds per simulated second that are the aim
KINDS = {"pose elements": pl.PoseElement(ELEMENTS), "co-rotational": pl.Corotational(elements=ELEMENTS)}


def cpu(model: Model, integrator: pl.Gauss | pl.IDA, until: float) -> tuple[float, pl.Trajectory]:
    begin = clock.process_time()
    run = pl.simulate(model, until, integrator, outputs=np.linspace(0.0, until, 101))
    spent = clock.process_time() - begin
    if not run.ending.completed:
        raise RuntimeError(f"corotational: {integrator!r} {run.ending}")
    return spent, run


def measure(session: Session) -> OwnMeasure:
    models = {word: ours.closed_loop(arm.ARM, kind) for word, kind in KINDS.items()}
    until = 2.0 if session.quick else arm.DURATION
    lines = [
        f"Steps of the two 8 m links of [damic2006], {ELEMENTS} elements each, default tolerances, exact ledger:",
        "",
        "| step | pose elements | co-rotational | ratio | demand | |",
        "|---|---|---|---|---|---|",
    ]
    for step in STEPS:
        rule = pl.Gauss(order=2, step=step)
        # by turns, so that what else the computer does meets both
        pairs = [[cpu(model, rule, until)[0] for model in models.values()] for _ in range(2 * session.repeats + 1)]
        pose, own = (1e6 * min(times) * step / until for times in zip(*pairs[1:], strict=True))
        ratio = own / pose
        lines.append(
            f"| {1e3 * step:g} ms | {pose:.1f} us | {own:.1f} us | {ratio:.2f} | at most {DEMAND:g} |"
            f" {verdict(ratio <= DEMAND)} |"
        )
    return OwnMeasure.told("\n".join([*lines, "", *index_two(models["co-rotational"], until)]))


def index_two(model: Model, until: float) -> list[str]:
    """The solver with error control at the paper's tolerance; real time is an aim and no demand."""
    solver = pl.IDA(tolerance=TOLERANCE, absolute_tolerance=TOLERANCE)
    cpu(model, solver, 0.1)  # loads the kernels
    spent, run = cpu(model, solver, until)
    exact = cpu(model, pl.Gauss(order=2, step=1e-3), until)[1]
    apart = float(np.linalg.norm(run.tip_position - exact.tip_position, axis=1).max())
    cost = spent / until
    reached = "reached" if cost <= REAL_TIME else "not reached"
    return [
        f"Index-2 solver, tolerances {TOLERANCE:g}: {cost:.3g} CPU s per simulated s, {1.0 / cost:.3g} times real time"
        f" (aim: 1, {reached}); {run.statistics['steps']:.0f} steps; its tip is within {apart:.1e} m of that of"
        " energy-exact steps of 1 ms."
    ]
