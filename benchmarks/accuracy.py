"""Is the error of a run what was asked for, is it what the run tells, and what does that cost?

Every motion of `accuracy_problems` is asked for with accuracies from 1e-2 to 1e-6. The true error is that against a
much finer run; the cost is compared with that of the cheapest of many settings chosen by hand that reaches the
accuracy, with the same exact energy ledger. ``python -m benchmarks accuracy`` prints the table and draws estimates
against the truth.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import pliant as pl
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, Motion, reference
from benchmarks.harness import OwnMeasure, Session, verdict
from pliant.model.contract import Model

ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
OUTPUTS = 50
MESHES = ((5, 1), (8, 1), (4, 1), (6, 1), (3, 1), (6, 4))
STEPS = (16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384)
REPEATS = 4
PATIENCE = 2.0  # s of CPU beyond which a setting chosen by hand is not waited for
QUICK = ("strip, slewed", "rubber pendulum", "ball joint", "rod falls")
FACTORS, PART = (0.3, 10.0), 0.9  # estimates over true errors, and how many must lie there
MOST_JOINTS, REAL_TIME = ("seven joints, geared", 1e-4), 20.0
MEDIAN, MOST = 2.0, 4.0  # times the cost of the best setting chosen by hand


@dataclass(frozen=True)
class Row:
    """One motion with one accuracy: errors over the reach, CPU seconds, what was chosen."""

    motion: str
    asked: float
    true: float
    told: float
    cost: float
    by_hand: float
    chosen: str
    reference: float


def spent(run: Callable[[], pl.Trajectory]) -> tuple[pl.Trajectory, float]:
    """A run and its CPU time, the best of some."""
    best, kept = math.inf, None
    for _ in range(REPEATS):
        begin = clock.process_time()
        kept = run()
        best = min(best, clock.process_time() - begin)
        if best > 0.1:
            break
    assert kept is not None
    return kept, best


def apart(run: pl.Trajectory, answer: np.ndarray, reach: float) -> float:
    if not run.ending.completed:
        return math.inf
    tips = np.stack([link.position[:, -1] for link in run.links], axis=1)
    return float(np.linalg.norm(tips - answer, axis=-1).max() / reach)


def by_hand(motion: Motion, times: np.ndarray, answer: np.ndarray, reach: float) -> list[tuple[float, float]]:
    """Errors and costs of all settings that are tried; finer steps that cost more than some which reach all are not."""
    found: list[tuple[float, float]] = []
    for degree, elements in MESHES:
        model = motion.build(pl.GeometricallyExact(degree, elements))
        order = min(4, model.highest_order)
        for steps in STEPS:
            integrator = pl.Gauss(order, motion.duration / steps)
            run, cost = spent(lambda m=model, i=integrator: pl.simulate(m, motion.duration, i, outputs=times))  # type: ignore[misc]
            error = apart(run, answer, reach)
            found.append((error, cost))
            enough = min((cost for error, cost in found if error <= ACCURACIES[-1]), default=math.inf)
            if cost > min(PATIENCE, 1.5 * enough) or error < 0.1 * ACCURACIES[-1]:
                break
    return found


def study(name: str, motion: Motion, accuracies: tuple[float, ...], quick: bool) -> list[Row]:
    times = np.linspace(0.0, motion.duration, OUTPUTS + 1)
    fine = reference(motion, times)
    assert fine.ending.completed, f"{name}: {fine.ending}"
    answer = np.stack([link.position[:, -1] for link in fine.links], axis=1)
    model: Model = motion.build(pl.GeometricallyExact())
    reach = getattr(model, "arm", model).reach
    # half the steps on a coarser mesh: more than the error of the reference
    less = motion.build(motion.finest.coarser() or motion.finest)
    order = min(motion.order, less.highest_order)
    twice = pl.Gauss(order, 2.0 * motion.duration / motion.steps, tolerance=1e-11)
    coarser = pl.simulate(less, motion.duration, twice, outputs=times)
    doubt = apart(coarser, answer, reach)
    tried = [] if quick else by_hand(motion, times, answer, reach)
    rows = []
    for asked in accuracies:
        run, cost = spent(lambda a=asked: pl.simulate(model, motion.duration, outputs=times, accuracy=a))  # type: ignore[misc]
        told = math.nan if run.error is None else run.error.relative
        best = min((cost for error, cost in tried if error <= asked), default=math.nan)
        chosen = f"{run.provenance.choices['formulation']}, {run.statistics.get('steps', 0):.0f} steps"
        rows.append(Row(name, asked, apart(run, answer, reach), told, cost, best, chosen, doubt))
        print(rows[-1], flush=True)
    return rows


def table(rows: list[Row]) -> str:
    lines = ["| motion | asked | true | told | told / true | CPU ms | times by hand | chosen |", "|---" * 8 + "|"]
    for row in rows:
        lines.append(
            f"| {row.motion} | {row.asked:g} | {row.true:.1e} | {row.told:.1e} | {row.told / row.true:.2g} |"
            f" {1e3 * row.cost:.0f} | {row.cost / row.by_hand:.1f} | {row.chosen} |"
        )
    return "\n".join(lines)


def judgement(rows: list[Row]) -> str:
    """What is asked of all rows, and what is found; a reference that is not fine enough judges nothing."""
    judged = [row for row in rows if row.reference <= 0.3 * row.asked]
    kept = sum(row.true <= row.asked for row in judged)
    near = [row for row in judged if FACTORS[0] <= row.told / row.true <= FACTORS[1]]
    ratios = [row.cost / row.by_hand for row in judged if math.isfinite(row.by_hand)]
    part = len(near) / max(len(judged), 1)
    lines = [
        f"- error at most what was asked: {kept} of {len(judged)}, {verdict(kept == len(judged))}",
        f"- told within {FACTORS[0]:g} to {FACTORS[1]:g} of the truth: {100 * part:.0f} %, {verdict(part >= PART)}",
    ]
    if ratios:
        median, most = float(np.median(ratios)), max(ratios)
        lines.append(
            f"- cost over the best setting chosen by hand: median {median:.1f} (demand {MEDIAN:g},"
            f" {verdict(median <= MEDIAN)}), most {most:.1f} (demand {MOST:g}, {verdict(most <= MOST)})"
        )
    return "\n".join(lines)


def real_time(rows: list[Row]) -> str:
    """How much faster than the clock the arm with most joints, gears and friction runs, and how much by hand."""
    name, asked = MOST_JOINTS
    for row in rows:
        if row.motion == name and row.asked == asked:
            own, best = (MOTIONS[name].duration / cost for cost in (row.cost, row.by_hand))
            return (
                f"- {name} at {asked:g}: {own:.1f} times real time, {best:.1f} by the best setting by hand (demand"
                f" {REAL_TIME:g}, {verdict(own >= REAL_TIME)})"
            )
    return ""


def draw(rows: list[Row], path: Path) -> None:
    """Estimates against true errors."""
    from pliant.view.figures import style

    with style.styled(style.COLUMN, 4.2) as figure:
        axes = figure.subplots()
        for k, asked in enumerate(ACCURACIES):
            some = [row for row in rows if row.asked == asked]
            if some:
                look = style.mark(k) | {"linestyle": "", "label": f"asked $10^{{{math.log10(asked):.0f}}}$"}
                axes.loglog([r.true for r in some], [r.told for r in some], ms=4, **look)
        ends = np.array([1e-9, 1e-1])
        axes.loglog(ends, ends, color=style.FAINT, linewidth=1.0)
        axes.fill_between(ends, FACTORS[0] * ends, FACTORS[1] * ends, color=style.FAINT, alpha=0.3, linewidth=0.0)
        axes.set_xlabel("true error of the tips, over the reach")
        axes.set_ylabel("error told by the run, over the reach")
        axes.set_title(
            f"Told against true error; the band is told\nfrom {FACTORS[0]:g} to {FACTORS[1]:g} times the truth"
        )
        axes.legend(loc="upper left")
        figure.savefig(path, dpi=style.PIXELS_PER_INCH)


def measure(session: Session) -> OwnMeasure:
    parts = ["## accuracy"]
    every: list[Row] = []
    for motions, heading in ((MOTIONS, "adjusted on these motions"), (HELD_OUT, "never looked at")):
        rows: list[Row] = []
        for name in session.pick(list(motions), [each for each in QUICK if each in motions]):
            rows += study(name, motions[name], tuple(session.pick(ACCURACIES, ACCURACIES[:3])), session.quick)
        parts += [f"### {heading}", f"{judgement(rows)}\n{real_time(rows)}".rstrip(), table(rows)]
        every += rows
    draw(every, session.cache.with_name("accuracy.png"))
    return OwnMeasure.told("\n\n".join(parts))
