"""Runs as files for other programs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.io import loadmat

from pliant.errors import InvalidInput
from pliant.results import Trajectory, load_trajectory
from pliant.results.tables import named
from tests.support.fake_arm import fake_trajectory


@pytest.fixture(name="run", scope="module")
def made() -> Trajectory:
    return fake_trajectory(outputs=11)


def test_csv_has_units_in_its_first_line_and_every_digit(run: Trajectory, tmp_path: Path) -> None:
    run.save(tmp_path / "run.csv")
    table, read = run.table(), pandas.read_csv(tmp_path / "run.csv", float_precision="round_trip")
    assert np.array_equal(read.to_numpy(), table.to_numpy())
    assert {"time [s]", "shoulder torque [N m]", "hand tip x [m]", "hand tip q_w", "upper stress [Pa]"} <= set(read)


def test_csv_of_a_chosen_tip(run: Trajectory, tmp_path: Path) -> None:
    run.save(tmp_path / "run.csv", tip="upper")
    read = pandas.read_csv(tmp_path / "run.csv", float_precision="round_trip")
    assert np.array_equal(read["upper tip y [m]"], run.link("upper").position[:, -1, 1])


def test_mat_has_names_that_matlab_accepts_and_a_unit_for_each(run: Trajectory, tmp_path: Path) -> None:
    run.save(tmp_path / "run.mat")
    read = loadmat(tmp_path / "run.mat", simplify_cells=True)
    motion, units = read["motion"], read["units"]["motion"]
    assert list(motion) == list(units)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,62}", name) for name in motion)
    assert np.array_equal(motion["shoulder_torque"], run.efforts["shoulder"][:, 0])
    assert units["tip_deflection_x"] == "m"
    upper = read["links"]["upper"]
    assert np.array_equal(upper["strain"], run.link("upper").strain)
    assert np.array_equal(upper["stress"], run.stress("upper").largest)
    assert read["about"]["tip"] == "hand"


def test_names_for_matlab_are_never_alike() -> None:
    assert list(named({"a b": 1, "a_b": 2, "1st": 3, "a-b": 4})) == ["a_b", "a_b_2", "x1st", "a_b_3"]
    long = list(named({"q" * 80: 1, "q" * 79: 2}))
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 63


@pytest.mark.parametrize("name", ["run.h5", "run", "run.gif"])
def test_other_suffixes_are_refused_with_the_list(run: Trajectory, tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"write \.nc, \.csv or \.mat"):
        run.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".csv", ".mat"])
def test_tables_are_no_trajectories_and_are_not_written_over(run: Trajectory, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    run.save(path)
    with pytest.raises(InvalidInput, match=r"give the \.nc file"):
        load_trajectory(path)
    with pytest.raises(InvalidInput, match="exists already"):
        run.save(path)
    run.save(path, overwrite=True)
