"""Both cases with all their readings, starts and figures; every number compared with ``expected.yaml``."""

from __future__ import annotations

from pathlib import Path

from pliant.experiments.comparison import Finding, compare, conclude, read_expected
from pliant.experiments.damic2006.computed import compute, measure
from pliant.experiments.damic2006.meshes import QUICK, WHOLE
from pliant.experiments.figure_files import write


def main(output: Path, quick: bool = False) -> list[Finding]:
    """Everything, into the folder ``output``; leaves with status 1 if a number is off."""
    from pliant.cli.terminal import progress_after_a_second
    from pliant.experiments.damic2006 import figures, tables

    with progress_after_a_second("simulating the arms of damic2006") as report:
        made = compute(QUICK if quick else WHOLE, report)
        report(1.0)
    output.mkdir(parents=True, exist_ok=True)
    with progress_after_a_second("drawing the figures of damic2006"):
        written = write(output, figures.draw(made))
    findings = compare(read_expected(Path(__file__).with_name("expected.yaml")), measure(made))
    return conclude(findings, written, output, tables.meshes(made), tables.starts(made))
