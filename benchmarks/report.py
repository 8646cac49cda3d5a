"""Comparisons as markdown tables and work-precision plots."""

from __future__ import annotations

import csv
import math
import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path
from textwrap import wrap

import pliant as pl
from benchmarks.harness import OURS, Comparison, Point, Verdict, pareto

PACKAGES = ("exudyn", "mujoco", "pyelastica", "numba", "numpy")
WIDEST_TITLE = 48  # characters in a line


def provenance(loads: dict[str, float]) -> str:
    """Date, computer and versions, and how many processes wanted a core at the end of each problem.

    This process alone makes a load of 1; more says that others disturbed the measurement.
    """
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    busy = ", ".join(f"{name} {load:.1f}" for name, load in loads.items())
    return (
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"pliant {pl.__version__}, {versions}. Load average: {busy}."
    )


def write_runs(comparisons: list[Comparison], path: Path) -> None:
    """Every run of the study, so that the rule can be applied again or another one tried."""
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["problem", "solver", "setting", "outputs", "error (m)", "CPU s per simulated s"])
        for comparison in comparisons:
            for p in comparison.points:
                table.writerow([comparison.problem.name, p.solver, p.setting, p.outputs, p.error, p.cost])


def summary_table(comparisons: list[Comparison]) -> str:
    lines = [
        "| problem | tip error (m) | peer | peer cost | pliant cost | ratio | demand | "
        "| plain ratio | ratio with exact ledger |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_summary_row(c, v) for c in comparisons for v in c.verdicts]
    return "\n".join(lines)


def _summary_row(comparison: Comparison, verdict: Verdict) -> str:
    level = verdict.level
    cells = (
        comparison.problem.name,
        f"{verdict.error:.3g}",
        " or ".join(level.peers),
        _cost(verdict.peer),
        _cost(verdict.ours),
        _ratio(verdict),
        f"{level.demand:g}",
        "met" if verdict.met else "not met",
        _number(verdict.plain_ratio),
        _number(verdict.exact_ratio),
    )
    return f"| {' | '.join(cells)} |"


def _cost(point: Point | None) -> str:
    return "-" if point is None else f"{point.cost:.3g}"


def _number(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g}"


def _ratio(verdict: Verdict) -> str:
    if verdict.ratio is not None:
        return f"**{verdict.ratio:.3g}**"
    if not verdict.reference_fine_enough:
        return "refused: reference too coarse"
    return "refused: pliant did not reach it" if verdict.ours is None else "refused: peer did not reach it"


def detail(comparison: Comparison) -> str:
    """The reference check, the runs that decided each level, and the Pareto front of every solver."""
    problem = comparison.problem
    lines = [
        f"## {problem.name}",
        "",
        problem.title,
        "",
        f"Scale {comparison.scale:.4g} m ({problem.scale_meaning}). Our reference and the extrapolated peer "
        f"differ by at most {comparison.reference_distance:.2g} m.",
        "",
    ]
    for verdict in comparison.verdicts:
        deciding = (verdict.peer, verdict.ours, verdict.exact, verdict.plain_peer, verdict.plain)
        for side in dict.fromkeys(deciding):
            if side is not None:
                lines.append(
                    f"- at {verdict.error:.3g} m: {side.solver}, {side.setting}: {side.cost:.3g} s/s, "
                    f"error {side.error:.2g} m, {side.outputs} outputs"
                )
    lines += ["", "| solver | setting | outputs | error (m) | CPU s per simulated s |", "|---|---|---|---|---|"]
    for solver in _solvers(comparison):
        front = pareto(p for p in comparison.points if p.solver == solver)
        lines += [f"| {p.solver} | {p.setting} | {p.outputs} | {p.error:.2e} | {p.cost:.3g} |" for p in front]
    return "\n".join(lines)


def _solvers(comparison: Comparison) -> list[str]:
    return sorted({p.solver for p in comparison.points}, key=lambda name: (name == OURS, name))


def plot(comparison: Comparison, path: Path) -> None:
    """Every run as a dot, the Pareto front of each solver as a line, the demanded errors dashed."""
    from pliant.view.figures import style

    with style.styled(style.COLUMN, 4.4) as figure:
        axes = figure.subplots()
        solvers = _solvers(comparison)
        peers = [solver for solver in solvers if solver != OURS]
        looks = {OURS: style.mark(1)} | {peer: style.mark((0, 2, 4, 6)[k % 4]) for k, peer in enumerate(peers)}
        for solver in solvers:
            points = [p for p in comparison.points if p.solver == solver and math.isfinite(p.error)]
            front = pareto(points)
            dots = {"alpha": 0.35, "color": looks[solver]["color"]}
            axes.loglog([p.error for p in points], [p.cost for p in points], ".", ms=3, **dots)
            axes.loglog(
                [p.error for p in front], [p.cost for p in front], ms=4, label=solver, zorder=3, **looks[solver]
            )
        for k, verdict in enumerate(comparison.verdicts):
            label = "" if k else "error asked for"
            axes.axvline(verdict.error, color=style.INK, linestyle="--", linewidth=0.9, zorder=1, label=label)
        axes.set_xlabel("largest tip error [m]")
        axes.set_ylabel("CPU time per simulated time [s/s]")
        axes.set_title("\n".join(wrap(comparison.problem.title.rstrip("."), WIDEST_TITLE)))
        figure.legend(loc="outside lower center", ncols=2)
        figure.savefig(path, dpi=style.PIXELS_PER_INCH)
