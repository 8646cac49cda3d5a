"""Live mode: which part of a core real time takes, steps and frames together, for all library arms.

Sliders and pushes keep the arms moving. Times are those of the processor, so that other work on the computer counts
little; the run keeps real time where they are below that of one core.
"""

from __future__ import annotations

import time

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict
from pliant.view.live import Live

DURATION = 2.0  # s of simulated time
MOVE = 0.3  # part of the range of a slider


def _share(run: Live, seconds: float) -> float:
    """Seconds of the processor in a simulated second."""
    for drive in run.drives.values():
        value = drive.target + MOVE * (drive.high - drive.target)
        run.command({"do": "target", "joint": drive.name, "value": value})()
    run.command({"do": "push", "direction": [0, 1, 0], "force": run.push.force})()
    began, start = time.thread_time(), run.time
    while run.time < start + seconds and run.running:
        run.piece()
    return (time.thread_time() - began) / (run.time - start) if run.running else float("nan")


def _cell(run: Live, name: str, seconds: float) -> tuple[str, float]:
    if name not in run.arms:
        return "refused", float("nan")
    if name != run.chosen:
        run.reset()
        run.switch(name)
    share = _share(run, seconds)
    if not run.running:
        return "stops", share
    return f"{100.0 * share:.0f} % ({1e3 * run.step:g} ms)", share


def measure(session: Session) -> OwnMeasure:
    """A row for each arm; the first formulation that carries it is the one that live mode begins with."""
    seconds = 0.2 if session.quick else DURATION
    rows, kept = [], []
    for name in pl.library.names():
        run = Live(pl.load(pl.library.path(name)), time.thread_time)
        first = run.chosen
        cells = {each: _cell(run, each, seconds) for each in (*run.arms, *run.refused)}
        rows.append((name, {each: text for each, (text, _) in cells.items()}))
        kept.append(cells[first][1] < 1.0)
    columns = list(rows[-1][1])
    lines = ["| arm | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [f"| `{name}` | " + " | ".join(cells[each] for each in columns) + " |" for name, cells in rows]
    text = "\n".join(
        [
            "## live",
            "",
            "Part of a core that real time takes, and the step that live mode chose:",
            "",
            *lines,
            "",
            f"Real time on one core by the formulation that live mode begins with: {sum(kept)} of {len(kept)} arms"
            f" ({verdict(all(kept))}).",
        ]
    )
    return OwnMeasure.told(text)
