"""All tables and figures of the L frame, ours beside theirs; every number compared with ``expected.yaml``."""

from __future__ import annotations

from pathlib import Path

from pliant.experiments.comparison import Finding, compare, conclude
from pliant.experiments.figure_files import write
from pliant.experiments.vidoni2018 import published
from pliant.experiments.vidoni2018.computed import compute, measure


def main(output: Path, quick: bool = False) -> list[Finding]:
    """Everything, into the folder ``output``; leaves with status 1 if a number is off."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.experiments.vidoni2018 import figures, tables

    output.mkdir(parents=True, exist_ok=True)
    with progress_after_a_second("computing the frame of vidoni2018") as report:
        made = compute(output, quick, report)
        report(1.0)
    with progress_after_a_second("drawing the figures of vidoni2018"):
        written = write(output, figures.draw(made))
    shown = output / "tables.md"
    shown.write_text(tables.text(made), encoding="utf-8")
    findings = compare(list(published.expected()), measure(made))
    return conclude(findings, [*written, shown], output, tables.mean_times(made))
