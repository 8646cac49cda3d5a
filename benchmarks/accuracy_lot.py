"""Does what holds of the motions of `accuracy` hold of arms that nobody chose?

They are drawn by lot, and so are mechanisms, arms with one part more. They are asked for with accuracies from 1e-2 to
1e-5, and the arms stepped with fixed steps of all orders.
"""

from __future__ import annotations

import warnings

import numpy as np

import pliant as pl
from benchmarks import mechanism_lot
from benchmarks.accuracy import FACTORS, PART, apart
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, Motion
from benchmarks.arms_by_lot import Drawn, drawn
from benchmarks.harness import OwnMeasure, Session, verdict

ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5)
ARMS, MECHANISMS, QUICK, FIXED = 200, 140, 4, 60  # of them, and those that are stepped with fixed steps too
FINE, FINER = (pl.GeometricallyExact(7, 2), 3000), (pl.GeometricallyExact(9, 2), 6000)  # references and their steps
METHODS = (pl.Gauss(2), pl.Gauss(4), pl.Gauss(6), pl.Gauss(8), pl.Radau(5))
STEPS, FINEST_STEPS = (32, 64, 128), 4096
NOTHING = 1e-8  # of the reach: errors that are not judged


def by_accuracy(case: Drawn) -> list[tuple[str, float, float]]:
    """Which run, its error over what was asked, and what it told over its error."""
    times = np.linspace(0.0, case.duration, 41)
    runs = []
    for mesh, steps in (FINE, FINER):
        model = case.build(mesh)
        method = pl.Gauss(min(6, model.highest_order), case.duration / steps, tolerance=1e-10)
        runs.append(pl.simulate(model, case.duration, method, outputs=times))
    if not all(run.ending.completed for run in runs):
        return []
    model = case.build(pl.GeometricallyExact())
    reach = getattr(model, "arm", model).reach
    answer = np.stack([link.position[:, -1] for link in runs[1].links], axis=1)
    doubt, found = apart(runs[0], answer, reach), []
    for asked in ACCURACIES:
        if doubt <= 0.3 * asked:
            run = pl.simulate(model, case.duration, outputs=times, accuracy=asked)
            true = apart(run, answer, reach)
            told = np.nan if run.error is None else run.error.relative
            if true > max(NOTHING, 3.0 * doubt) or true > asked:
                found.append((f"{case.robot.name} at {asked:g}", true / asked, told / true))
            else:  # better than the reference knows
                found.append((f"{case.robot.name} at {asked:g}", true / asked, 1.0))
    return found


def by_fixed_steps(motion: Motion | Drawn) -> list[tuple[str, float]]:
    """Methods, and what their runs told of the error of their steps over the true one."""
    model, duration = motion.build(pl.GeometricallyExact(7)), motion.duration
    if model.highest_order < 6:
        return []
    times = np.linspace(0.0, duration, 33)
    answer = pl.simulate(model, duration, pl.Gauss(6, duration / FINEST_STEPS, tolerance=1e-11), outputs=times)
    if not answer.ending.completed:
        return []
    found, reach = [], getattr(model, "arm", model).reach
    for method in METHODS:
        for count in STEPS:
            fixed = type(method)(method.order, duration / count, 1e-10)
            run = pl.simulate(model, duration, fixed, outputs=times)
            true = float(np.linalg.norm(run.tip_position[: len(times)] - answer.tip_position, axis=1).max())
            if run.ending.completed and run.error is not None and true > NOTHING * reach:
                found.append((f"{type(method).__name__} {method.order}", run.error.time / true))
    return found


def near(ratios: list[float]) -> float:
    return float(np.mean([FACTORS[0] <= each <= FACTORS[1] for each in ratios])) if ratios else np.nan


def measure(session: Session) -> OwnMeasure:
    warnings.simplefilter("ignore")  # runs too coarse are what is measured
    arms, mechanisms = (QUICK, QUICK) if session.quick else (ARMS, MECHANISMS)
    lines = ["## accuracy_lot"]
    for what, draw, count in (("arms", drawn, arms), ("mechanisms", mechanism_lot.drawn, mechanisms)):
        rows = [row for number in range(count) for row in by_accuracy(draw(number))]
        missed = [f"{name} {off:.2f} times" for name, off, _ in rows if off > 1.0]
        part = near([told for *_, told in rows])
        lines += [
            f"- {what}, error at most what was asked: {len(rows) - len(missed)} of {len(rows)}, {verdict(not missed)}"
            + (f": {', '.join(missed)}" if missed else ""),
            f"- {what}, told within {FACTORS[0]:g} to {FACTORS[1]:g} of the truth: {100 * part:.1f} %,"
            f" {verdict(part >= PART)}",
        ]
    lines.append("\n| fixed steps | motions of benchmarks | arms drawn by lot |\n|---|---|---|")
    smooth = {name: each for name, each in (MOTIONS | HELD_OUT).items() if "stop" not in name and "wall" not in name}
    some = session.pick(list(smooth), list(smooth)[:2])
    known = [each for name in some for each in by_fixed_steps(smooth[name])]
    lot = [each for number in range(min(arms, FIXED)) for each in by_fixed_steps(drawn(number))]
    for method in METHODS:
        name = f"{type(method).__name__} {method.order}"
        shares = (100 * near([told for which, told in those if which == name]) for those in (known, lot))
        lines.append(f"| {name} | " + " | ".join(f"{share:.0f} %" for share in shares) + " |")
    return OwnMeasure.told("\n".join(lines))
