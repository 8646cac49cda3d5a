"""Effort times flow of a port is the power that the energy account books under its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray

import pliant as pl
from tests.laws.arms import ASIDE, two_links

STEP = 5e-4
UNTIL = 0.1


def pulled(frame: pl.Frame, at: pl.At | None = None) -> pl.Trajectory:
    """Two soft links that swing, with a torque at the elbow and a wrench at the tip or beside it."""
    arm = pl.GeometricallyExact(degree=3).compile(two_links(ASIDE, rates=(2.0, -3.0)))
    wrench = pl.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 2.0, phase=0.5)
    pull = (
        pl.TipWrench("lower", wrench, frame, name="pull")
        if at is None
        else pl.PointWrench(at, wrench, frame, name="pull")
    )
    closed = pl.connect(arm, pl.JointTorque("elbow", pl.Sine(0.1, 3.0)), pull)
    return pl.simulate(closed, UNTIL, pl.Gauss(order=4, step=STEP), outputs=1000)


@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
def test_power_of_joints_and_loads_adds_up_to_their_work(frame: pl.Frame) -> None:
    run = pulled(frame)
    for name in ("elbow", "pull"):
        signal = run.port_signals[name]
        power = (signal.effort * signal.flow).sum(axis=1)
        work = np.trapezoid(power, run.time)
        # the trapezoidal rule over steps of 0.5 ms, whose efforts at joints are means of the step: first order
        assert work == pytest.approx(run.ledger.works[name][-1], rel=2e-2)
        assert abs(work) > 1e-4


def test_signals_survive_a_file_and_carry_names_and_units(tmp_path: Path) -> None:
    run = pulled(pl.Frame.WORLD)
    run.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    assert list(again.port_signals) == list(run.port_signals)
    for name, signal in run.port_signals.items():
        read = again.port_signals[name]
        assert read.port == signal.port
        np.testing.assert_array_equal(read.effort, signal.effort)
        np.testing.assert_array_equal(read.flow, signal.flow)
    with xarray.open_dataset(tmp_path / "run.nc") as dataset:
        pull = dataset.sel(signal="pull.angular_z")
        assert (pull["effort_unit"].item(), pull["flow_unit"].item()) == ("N m", "rad/s")
        np.testing.assert_array_equal(pull["effort"], run.efforts["pull"][:, 5])
        assert dataset.sel(signal="elbow")["effort_unit"].item() == "N m"


def test_what_made_the_run_is_in_its_provenance() -> None:
    run = pulled(pl.Frame.BODY)
    choices = run.provenance.choices
    assert "JointTorque(joint='elbow'" in choices["components"]
    assert "name='pull'" in choices["components"]
    assert choices["outputs"] == "1000"
    assert choices["start"].startswith("undeformed at the initial joint values")
    on = pl.simulate(run.source.model, 0.01, initial=run.states[-1])  # type: ignore[attr-defined]
    assert on.provenance.choices["start"] == "a given state, which is the first of the saved ones"
