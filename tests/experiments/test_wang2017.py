"""The experiment runs, meets its numbers, and says so when it does not."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.experiments import comparison
from pliant.experiments.closed_form import FREE, hub, natural_frequencies
from pliant.experiments.wang2017 import beam, rig, run
from tests.support.reproduction import Again, check_numbers_and_figures, reproduced

FOLDER = Path(run.__file__).parent


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    return reproduced(run, tmp_path_factory)


def test_all_numbers_are_met_and_all_figures_written(again: Again) -> None:
    check_numbers_and_figures(run, again)


def test_table_2_is_there_with_its_25_printed_numbers(again: Again) -> None:
    folder, findings = again
    printed = [finding for finding in findings if finding.expected.name.startswith("Table 2")]
    assert len(printed) == 25
    for finding in printed:
        assert round(finding.measured, 4) == finding.expected.value
    with (folder / "spectrum.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[4]["Gauss, N = 12"]) == pytest.approx(560.732665, abs=1e-6)
    assert len(rows) == 24
    assert rows[12]["uniform, N = 6"] == ""  # it has twelve


def test_a_number_that_is_off_ends_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = comparison.read_expected(FOLDER / "expected.yaml")
    wrong = [replace(true[0], value=9.9), *true[1:]]
    monkeypatch.setattr(run, "read_expected", lambda path: wrong)
    met = {each.name: each.value if each.value is not None else 0.0 for each in true}
    monkeypatch.setattr(run, "measure", lambda spectra, shapes, responses, rigs: met)
    monkeypatch.setattr(run, "rig_facts", lambda effort: {})
    monkeypatch.setattr(beam, "responses", lambda step: None)
    monkeypatch.setattr("pliant.experiments.wang2017.figures.draw", lambda *arguments: {})
    with pytest.raises(SystemExit) as end:
        run.main(tmp_path)
    assert end.value.code == 1
    shown = capsys.readouterr().out
    assert f"1 of {len(true)} numbers are off" in shown
    assert "off by 0.013" in shown


def test_the_robot_is_table_one_and_the_arm_of_the_library() -> None:
    link = beam.link()
    # [wang2017] Table 1, and what follows from it: K_b, K_s, rho, I_rho
    assert (link.length, link.stiffness(0.0)[0][5, 5]) == (0.65, pytest.approx(65.625))
    assert link.stiffness(0.0)[0][1, 1] == pytest.approx(9.794776e6, rel=1e-7)
    assert link.inertia(0.0)[0][1, 1] == pytest.approx(1.1775)
    assert link.inertia(0.0)[0][5, 5] == pytest.approx(2.453125e-6)
    assert beam.table_one() == pl.load(pl.library.path("wang_beam"))


def test_the_exact_rig_of_a_stiff_gear_is_a_heavier_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its elasticity the gear only adds the rotor to the hub, for which there is a closed form."""
    monkeypatch.setattr(rig, "GEAR", 1e12)
    heavier = hub(rig.HUB + rig.RATIO**2 * rig.ROTOR, rig.RADIUS)
    exact = natural_frequencies(beam.exact_beam(), 5, heavier)
    np.testing.assert_allclose(rig.exact_frequencies(5, FREE), exact, rtol=1e-7)


def test_a_model_with_the_printed_sign_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measures of structure fail when (34) has the minus that the paper prints."""
    points = beam.point_sets(6)[beam.GAUSS]
    right = beam.structure_matrix

    def printed(*arguments: object) -> np.ndarray:
        matrix = right(*arguments).copy()  # type: ignore[arg-type]
        matrix[-2:] *= -1.0
        return matrix

    assert beam.skewness(6, points) < 1e-12
    monkeypatch.setattr(beam, "structure_matrix", printed)
    assert beam.skewness(6, points) > 1e-3
