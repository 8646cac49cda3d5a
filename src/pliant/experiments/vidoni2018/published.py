"""Numbers that the paper prints, as ``expected.yaml`` holds them."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from pliant.experiments.comparison import Expected, read_expected
from pliant.experiments.vidoni2018.frame import Case

FREE_NAME = re.compile(r"Table II, (\d) el\. \((\d+) m\.\), mode (\d+)")
PEAK_NAME = re.compile(r"Table (IV|VII), (\d) \((\d+) m\.\), (\d+) modes, peak (\d+)")

Peaks = dict[Case, dict[int, float]]  # by the column of the table


@cache
def expected() -> tuple[Expected, ...]:
    return tuple(read_expected(Path(__file__).with_name("expected.yaml")))


def free_name(case: Case, mode: int) -> str:
    return f"Table II, {case.elements} el. ({case.exported} m.), mode {mode}"


def peak_name(table: str, case: Case, peak: int) -> str:
    return f"Table {table}, {case.row}, {case.modes} modes, peak {peak}"


def frequencies() -> dict[Case, dict[int, float]]:
    """Table II: by the number of the mode."""
    found: dict[Case, dict[int, float]] = defaultdict(dict)
    for each in expected():
        if name := FREE_NAME.fullmatch(each.name):
            elements, exported, mode = map(int, name.groups())
            assert each.value is not None
            found[Case(elements, exported, exported)][mode] = each.value
    return dict(found)


@cache
def peaks(table: str) -> Peaks:
    """Table IV or VII."""
    found: Peaks = defaultdict(dict)
    for each in expected():
        name = PEAK_NAME.fullmatch(each.name)
        if name and name.group(1) == table:
            elements, exported, modes, column = map(int, name.groups()[1:])
            assert each.value is not None
            found[Case(elements, exported, modes)][column] = each.value
    return dict(found)
