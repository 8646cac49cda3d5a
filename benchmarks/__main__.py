"""``python -m benchmarks [problem ...] [--quick] [--cache FOLDER] [--out FOLDER]``."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

from benchmarks import (
    accuracy,
    accuracy_durations,
    accuracy_lot,
    component_modes,
    corotational,
    cost_per_step,
    live,
    mechanisms,
    mesh_error,
    minimal,
    opening,
    report,
    sampled_control,
    scenarios,
    startup,
)
from benchmarks.harness import Comparison, Problem, Session, compare

PROBLEMS = ("pp_f", "damic_two_link", "damic_corotational", "l_frame", "rubber_pendulum", "steel_strip", "solid_bar")
OWN = {
    "accuracy": accuracy.measure,
    "accuracy_durations": accuracy_durations.measure,
    "accuracy_lot": accuracy_lot.measure,
    "component_modes": component_modes.measure,
    "corotational": corotational.measure,
    "cost_per_step": cost_per_step.measure,
    "live": live.measure,
    "mechanisms": mechanisms.measure,
    "mesh_error": mesh_error.measure,
    "minimal": minimal.measure,
    "sampled_control": sampled_control.measure,
    "opening": opening.measure,
    "scenarios": scenarios.measure,
    "startup": startup.measure,
}


def main() -> int:
    chosen = _arguments()
    session = Session(quick=chosen.quick, cache=chosen.cache, repeats=3 if chosen.quick else 5)
    chosen.out.mkdir(parents=True, exist_ok=True)
    comparisons: list[Comparison] = []
    loads = {"start": os.getloadavg()[0]}
    for name in [n for n in chosen.names if n in PROBLEMS]:
        problem: Problem = importlib.import_module(f"benchmarks.{name}").PROBLEM
        comparisons.append(compare(problem, session))
        report.plot(comparisons[-1], chosen.out / f"{name}.png")
        loads[name] = os.getloadavg()[0]
        print(report.detail(comparisons[-1]), end="\n\n", flush=True)
    own = []
    for name in [n for n in chosen.names if n in OWN]:
        own.append(OWN[name](session))
        loads[name] = os.getloadavg()[0]
    tables = [each.text for each in own]
    if comparisons:
        tables.insert(0, report.summary_table(comparisons))
    text = "\n\n".join([report.provenance(loads), *tables])
    report.write_runs(comparisons, chosen.out / "runs.csv")
    print(text)
    details = "\n\n".join(report.detail(comparison) for comparison in comparisons)
    (chosen.out / "results.md").write_text(f"# Results\n\n{text}\n\n{details}\n", encoding="utf-8")
    missed = any(not v.met for c in comparisons for v in c.verdicts) or any(not each.met for each in own)
    return 1 if missed and not session.quick else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Work against precision, us and the peers."
    )
    names = (*PROBLEMS, *OWN)
    parser.add_argument(
        "names", nargs="*", metavar="problem", help=f"any of {', '.join(names)}; all when none is given"
    )
    parser.add_argument("--quick", action="store_true", help="few settings and repeats: a smoke test, not a figure")
    scratch = Path(tempfile.gettempdir())
    parser.add_argument("--cache", type=Path, default=scratch / "pliant-benchmarks-cache", help="slow peer motions")
    parser.add_argument("--out", type=Path, default=scratch / "pliant-benchmarks", help="table and plots")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.names if name not in names]
    if unknown:
        parser.error(f"unknown problem {unknown[0]!r}; choose from {', '.join(names)}")
    chosen.names = chosen.names or list(names)
    return chosen


if __name__ == "__main__":
    sys.exit(main())
