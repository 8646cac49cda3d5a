"""The experiment runs, meets its numbers, and says so when it does not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.experiments import comparison
from pliant.experiments.macchelli2007 import mechanisms, run, runs
from tests.support.reproduction import Again, check_numbers_and_figures, reproduced

FOLDER = Path(run.__file__).parent


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    return reproduced(run, tmp_path_factory)


def test_all_numbers_are_met_and_all_figures_written(again: Again) -> None:
    check_numbers_and_figures(run, again)


def test_a_number_that_is_off_ends_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true = comparison.read_expected(FOLDER / "expected.yaml")
    wrong = [replace(true[0], value=0.4), *true[1:]]
    monkeypatch.setattr(run, "read_expected", lambda path: wrong)
    # one simulation is enough to get a table: the measurement itself is replaced
    met = {each.name: each.value if each.value is not None else 0.0 for each in true}
    monkeypatch.setattr(run, "measure", lambda steps, manoeuvres: met)
    monkeypatch.setattr(run, "measure_mechanisms", lambda serial, chain: {})
    for name in ("step_responses", "prescribed", "smooth_errors"):
        monkeypatch.setattr(run, name, lambda effort, report: None)
    for name in ("serial_runs", "chain_runs"):
        monkeypatch.setattr(f"pliant.experiments.macchelli2007.mechanisms.{name}", lambda care, report: None)
    monkeypatch.setattr("pliant.experiments.macchelli2007.figures.write_all", lambda *arguments: [])
    monkeypatch.setattr("pliant.experiments.macchelli2007.mechanism_figures.draw_mechanisms", lambda serial, chain: {})
    monkeypatch.setattr("pliant.experiments.macchelli2007.figures.convergence_table", lambda *arguments: "")
    with pytest.raises(SystemExit) as end:
        run.main(tmp_path)
    assert end.value.code == 1
    shown = capsys.readouterr().out
    assert f"1 of {len(true)} numbers are off" in shown
    assert "off by 0.075" in shown


def test_the_robot_is_table_one_and_the_arm_of_the_library() -> None:
    robot = runs.table_one()
    link = runs.flexible(robot)
    compliance = np.linalg.inv(link.stiffness(0.5)[0])
    assert np.allclose(np.diag(compliance), [1e-5, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3])  # C_t, C_o
    assert np.allclose(np.diag(link.inertia(0.5)[0]), [0.1, 0.1, 0.1, 0.05, 0.005, 0.05])  # rho, J
    assert link.length == 1.0
    assert robot == pl.load(pl.library.path("macchelli_link"))


def test_the_mechanisms_are_made_of_links_of_table_one() -> None:
    link = runs.flexible(runs.table_one())
    for robot, count in ((mechanisms.serial_arm(), 2), (mechanisms.closed_chain(), 4)):
        assert len(robot.links) == count
        for each in robot.links:
            assert isinstance(each, pl.FlexibleLink)
            assert (each.length, each.section) == (link.length, link.section)


def test_quasi_static_lag_of_the_whole_link() -> None:
    # at the root: moment (rho L^3/3 + J L) and force rho L^2/2 per acceleration, over EI = GA = 200
    lag = runs.lag_per_acceleration(0)
    assert lag[runs.KAPPA_Z] == pytest.approx(-(0.1 / 3 + 0.05) / 200)
    assert lag[runs.GAMMA_Y] == pytest.approx(-0.05 / 200)
