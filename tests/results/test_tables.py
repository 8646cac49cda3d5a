"""Tables are tidy and every column has a unit."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from pliant.errors import InvalidInput
from pliant.results import Trajectory
from tests.support.fake_arm import fake_trajectory


@pytest.fixture(name="trajectory")
def made_trajectory() -> Trajectory:
    return fake_trajectory(outputs=11)


def test_every_column_has_a_unit(trajectory: Trajectory) -> None:
    for table in (trajectory.table(), trajectory.strain_table(), trajectory.ledger_table()):
        assert set(table.attrs["units"]) == set(table.columns)


def test_one_row_per_time_with_joints_tip_and_energies(trajectory: Trajectory) -> None:
    table = trajectory.table()
    assert len(table) == 11
    assert np.array_equal(table["wrist position"], trajectory.joint_position[:, 1])
    assert np.array_equal(table["tip y"], trajectory.tip_position[:, 1])
    assert np.array_equal(table["tip w_z"], trajectory.tip_twist[:, 5])
    assert np.array_equal(table["strain energy"], trajectory.ledger.strain)
    units = table.attrs["units"]
    assert (units["wrist position"], units["wrist rate"], units["tip x"]) == ("rad", "rad/s", "m")


def test_torque_deflection_and_stress_stand_beside_the_motion(trajectory: Trajectory) -> None:
    table, upper = trajectory.table(), trajectory.link("upper")
    assert np.array_equal(table["shoulder torque"], trajectory.efforts["shoulder"][:, 0])
    assert np.array_equal(table["tip deflection y"], trajectory.tip_deflection[:, 1])
    # E h / 2 times the curvature, of a steel rectangle of 5 mm
    assert np.allclose(table["upper stress"], 210e9 * 0.0025 * np.abs(upper.strain[:, 0, 5]), rtol=1e-14)
    assert "hand stress" not in table
    assert "rigid" in table.attrs["no stress"]["hand"]
    assert table.attrs["tip"] == "hand"


def test_the_tip_of_a_chosen_link(trajectory: Trajectory) -> None:
    table, upper = trajectory.table(tip="upper"), trajectory.link("upper")
    assert table.attrs["tip"] == "upper"
    assert np.array_equal(table[["tip x", "tip y", "tip z"]], upper.position[:, -1])
    straight = np.stack([np.cos(trajectory.joint_position[:, 0]), np.sin(trajectory.joint_position[:, 0])], axis=1)
    assert np.allclose(table[["tip deflection x", "tip deflection y"]], upper.position[:, -1, :2] - straight)
    with pytest.raises(InvalidInput, match="its links are upper, hand"):
        trajectory.table(tip="thumb")


def test_one_row_per_time_link_and_station(trajectory: Trajectory) -> None:
    table = trajectory.strain_table()
    assert len(table) == 11 * (21 + 2)
    upper = trajectory.link("upper")
    one = table[(table["link"] == "upper") & (table["station"] == upper.station[4])]
    assert np.array_equal(one["time"], trajectory.time)
    assert np.array_equal(one["kappa_z"], upper.strain[:, 4, 5])
    assert np.array_equal(one["M_z"], upper.wrench[:, 4, 5])
    assert table.attrs["units"]["kappa_z"] == "1/m"


def test_the_ledger_closes_in_the_table(trajectory: Trajectory) -> None:
    table = trajectory.ledger_table()
    works = table.filter(like="work of").sum(axis=1)
    stored = table["kinetic"] + table["strain"]
    losses = table[["material_loss", "viscous_loss", "joint_loss", "projection_loss"]].sum(axis=1)
    balance = stored[0] + table["gravity"] + works - losses + table["residual"]
    pandas.testing.assert_series_equal(balance, stored, check_names=False, atol=1e-12)


def test_one_row_per_time_port_and_component(trajectory: Trajectory) -> None:
    table = trajectory.port_table()
    assert len(table) == 11 * (1 + 1 + 6)
    shoulder = table[table["port"] == "shoulder"]
    assert np.array_equal(shoulder["effort"], trajectory.efforts["shoulder"][:, 0])
    assert np.array_equal(shoulder["flow"], trajectory.joint_rate[:, 0])
    assert set(shoulder["effort unit"]) == {"N m"}
    assert set(shoulder["flow unit"]) == {"rad/s"}
    hand = table[table["port"] == "hand tip"]
    units = dict(zip(hand["component"], hand["effort unit"], strict=True))
    assert units == {f"{kind}_{axis}": unit for kind, unit in (("linear", "N"), ("angular", "N m")) for axis in "xyz"}
    assert hand["flow"].isna().all(), "the fake arm connects no load, so nobody knows where it would act"
