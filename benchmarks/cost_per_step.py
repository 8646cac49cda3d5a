"""How the cost of one time step grows with the number of elements, at fixed degree."""

from __future__ import annotations

import time as clock

import numpy as np

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict
from benchmarks.ours import Arm, closed_loop
from pliant.model.contract import Model

DEGREES = (5, 1)
ELEMENTS = (4, 8, 16, 32, 64, 100, 200, 400)
STEP, FEW, MANY = 1e-3, 100, 400
ARM = Arm("macchelli_link", (pl.motions.Quintic(0.0, 2.0, 2.5),), MANY * STEP)
DEMAND, MARGIN = 1.0, 0.1


def _cpu(model: Model, steps: int) -> float:
    begin = clock.process_time()
    trajectory = pl.simulate(model, until=steps * STEP, integrator=pl.Gauss(order=4, step=STEP), outputs=1)
    spent = clock.process_time() - begin
    if not trajectory.ending.completed:
        raise RuntimeError(f"cost per step: the run {trajectory.ending}")
    return spent


def seconds_per_step(degree: int, elements: int, repeats: int) -> float:
    """From the difference of a longer and a shorter run, so that what is done once a run cancels."""
    model = closed_loop(ARM, pl.GeometricallyExact(degree=degree, elements=elements))
    _cpu(model, FEW)
    pairs = [(_cpu(model, FEW), _cpu(model, MANY)) for _ in range(repeats)]
    short, long = (min(times) for times in zip(*pairs))
    return (long - short) / (MANY - FEW)


def slope(elements: tuple[int, ...], seconds: list[float]) -> float:
    """Least squares in logarithms."""
    return float(np.polyfit(np.log(elements), np.log(seconds), 1)[0])


def measure(session: Session) -> OwnMeasure:
    lines = ["## cost_per_step", "", "Microseconds of CPU per 1 ms step (Gauss 4), by number of elements.", ""]
    lines += ["| degree | " + " | ".join(map(str, ELEMENTS)) + " | slope | demand |"]
    lines += ["|---" * (len(ELEMENTS) + 3) + "|"]
    for degree in session.pick(DEGREES, DEGREES[:1]):
        seconds = [seconds_per_step(degree, n, session.repeats) for n in ELEMENTS]
        found = slope(ELEMENTS, seconds)
        answer = verdict(abs(found - DEMAND) <= MARGIN)
        cells = " | ".join(f"{1e6 * s:.3g}" for s in seconds)
        lines.append(f"| {degree} | {cells} | **{found:.3f}** | {DEMAND:g} +- {MARGIN:g}, {answer} |")
    return OwnMeasure.told("\n".join(lines))
