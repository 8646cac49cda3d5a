"""Measured numbers against those that a paper, a closed form or an independent computation gives."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, isfinite, log10
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Expected:
    """A number to be met: ``value`` within ``tolerance``, or anything not above ``at_most``."""

    name: str
    unit: str
    source: str
    value: float | None = None
    tolerance: float | None = None
    at_most: float | None = None

    def __post_init__(self) -> None:
        two_sided = self.value is not None and self.tolerance is not None and self.at_most is None
        one_sided = self.at_most is not None and self.value is None and self.tolerance is None
        if not (two_sided or one_sided):
            raise ValueError(f"{self.name}: give value and tolerance, or at_most alone")

    def excess(self, measured: float) -> float:
        """By how much a measured number misses: positive is off."""
        if not isfinite(measured):
            return float("inf")
        if self.at_most is not None:
            return measured - self.at_most
        assert self.value is not None
        assert self.tolerance is not None
        return abs(measured - self.value) - self.tolerance

    def __str__(self) -> str:
        if self.at_most is not None:
            return f"at most {self.at_most:.3g}"
        return f"{self.shown(self.value)} ± {self.tolerance:.1g}"

    def shown(self, number: float | None) -> str:
        """A number with the digits that the tolerance tells apart, and at least six."""
        digits = 6
        if self.value and self.tolerance:
            digits = max(digits, ceil(log10(abs(self.value) / self.tolerance)) + 1)
        return f"{number:.{digits}g}"


@dataclass(frozen=True)
class Finding:
    """One expected number with what was measured."""

    expected: Expected
    measured: float

    @property
    def ok(self) -> bool:
        return self.expected.excess(self.measured) <= 0.0

    @property
    def verdict(self) -> str:
        return "ok" if self.ok else f"off by {self.expected.excess(self.measured):.2g} beyond the tolerance"


def read_expected(path: Path) -> list[Expected]:
    """All numbers of an ``expected.yaml``."""
    from ruamel.yaml import YAML

    entries = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    return [Expected(name=name, **fields) for name, fields in entries.items()]


def compare(expected: list[Expected], measured: Mapping[str, float]) -> list[Finding]:
    """Pair every expected number with its measurement; none may be missing on either side."""
    names = {each.name for each in expected}
    if names != set(measured):
        raise ValueError(f"expected and measured differ in {sorted(names ^ set(measured))}")
    return [Finding(each, float(measured[each.name])) for each in expected]


def comparison_table(findings: list[Finding]) -> Table:
    """What was expected, what was measured and whether it fits."""
    from pliant.cli.terminal import table

    made = table("numbers", ("quantity",), ("measured", "expected", "unit", "verdict"))
    for finding in findings:
        each = finding.expected
        unit = "" if each.unit == "1" else each.unit
        made.add_row(each.name, each.shown(finding.measured), str(each), unit, finding.verdict)
    return made


def write_findings(findings: list[Finding], path: Path) -> None:
    """The same as a file of comma-separated values, with the sources."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("quantity", "measured", "expected", "unit", "verdict", "source"))
        for finding in findings:
            each = finding.expected
            rows.writerow((each.name, repr(finding.measured), str(each), each.unit, finding.verdict, each.source))


def conclude(findings: list[Finding], written: list[Path], output: Path, *tables: Table) -> list[Finding]:
    """Keep the numbers, show tables, files and the comparison; leave with status 1 if a number is off."""
    from pliant.cli.terminal import output as screen

    write_findings(findings, output / "numbers.csv")
    show = screen()
    for made in (*tables, comparison_table(findings)):
        show.print(made)
    for path in (*written, output / "numbers.csv"):
        show.print(f"wrote {path}", soft_wrap=True)
    off = sum(not finding.ok for finding in findings)
    if off:
        show.print(f"{off} of {len(findings)} numbers are off")
        raise SystemExit(1)
    show.print(f"all {len(findings)} numbers are met")
    return findings
