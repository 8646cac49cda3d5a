"""Expected numbers are met, missed or refused as they should be."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pliant.experiments.comparison import Expected, Finding, compare, read_expected, write_findings

ANGLE = Expected("angle", "rad", "by hand", value=0.5, tolerance=0.01)
LOSS = Expected("loss", "J", "by hand", at_most=1e-3)


@pytest.mark.parametrize(
    ("expected", "measured", "ok"),
    [
        (ANGLE, 0.509, True),
        (ANGLE, 0.491, True),
        (ANGLE, 0.511, False),
        (ANGLE, 0.489, False),
        (ANGLE, float("nan"), False),
        (LOSS, -1.0, True),
        (LOSS, 1e-3, True),
        (LOSS, 1.1e-3, False),
        (LOSS, float("nan"), False),
    ],
)
def test_a_number_is_ok_within_its_tolerance_only(expected: Expected, measured: float, ok: bool) -> None:
    assert Finding(expected, measured).ok is ok


def test_the_verdict_says_how_far_off() -> None:
    assert Finding(ANGLE, 0.5).verdict == "ok"
    assert Finding(ANGLE, 0.53).verdict == "off by 0.02 beyond the tolerance"


@pytest.mark.parametrize("fields", [{}, {"value": 1.0}, {"value": 1.0, "tolerance": 0.1, "at_most": 2.0}])
def test_half_an_expectation_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give value and tolerance, or at_most alone"):
        Expected("angle", "rad", "by hand", **fields)


def test_nothing_expected_goes_unmeasured_and_nothing_measured_unexpected() -> None:
    with pytest.raises(ValueError, match=r"\['loss'\]"):
        compare([ANGLE, LOSS], {"angle": 0.5})
    with pytest.raises(ValueError, match=r"\['other'\]"):
        compare([ANGLE], {"angle": 0.5, "other": 1.0})


def test_findings_are_written_with_their_sources(tmp_path: Path) -> None:
    write_findings([Finding(ANGLE, 0.52)], tmp_path / "numbers.csv")
    with (tmp_path / "numbers.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert float(row["measured"]) == 0.52
    assert row["source"] == "by hand"
    assert row["verdict"].startswith("off by 0.01")


def test_every_expected_number_of_every_paper_has_unit_and_source() -> None:
    files = sorted((Path(__file__).parents[2] / "src" / "pliant" / "experiments").glob("*/expected.yaml"))
    assert files
    for path in files:
        for each in read_expected(path):
            assert each.unit
            assert len(each.source) > 5
