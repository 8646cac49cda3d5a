"""What needs only a `Model` serves one that is no arm: it is run, saved, balanced and linearised."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import Arm, Model
from tests.model.oscillator import Oscillator

MODEL = Oscillator()


def exact(time: np.ndarray) -> np.ndarray:
    """The answer of a damped oscillator to a step of force, any textbook."""
    rest = MODEL.force / MODEL.stiffness
    decay = MODEL.damping / (2 * MODEL.mass)
    rate = np.sqrt(MODEL.stiffness / MODEL.mass - decay**2)
    turned = np.cos(rate * time) + decay / rate * np.sin(rate * time)
    return rest * (1 - np.exp(-decay * time) * turned)


def test_it_is_a_model_and_no_arm() -> None:
    assert isinstance(MODEL, Model)
    assert not isinstance(MODEL, Arm)


def test_it_is_simulated() -> None:
    run = pl.simulate(MODEL, 2.0, pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    # the midpoint rule changes the frequency by (5 rad/s x 1 ms)^2 / 12 = 2e-6, in 2 s the phase by 2e-5
    np.testing.assert_allclose(run.state("x")[:, 0], exact(run.time), atol=4e-5 * MODEL.force / MODEL.stiffness)
    ledger = run.ledger
    balance = ledger.stored - ledger.works["mass"] + ledger.joint_loss
    np.testing.assert_allclose(balance, 0.0, atol=1e-13 * ledger.exchanged[-1])  # round-off of 2000 sums
    assert run.warnings() == []
    names = [line.name for line in run.summary()]
    assert "energy exchanged" in names
    assert not any("tip" in name for name in names)
    assert list(run.table().columns) == ["time", "x", "v", "kinetic energy", "strain energy"]


def test_steps_of_chosen_length_are_driven_the_same_way() -> None:
    run = pl.simulate(MODEL, 0.5, accuracy=1e-7, outputs=np.array([0.25, 0.5]))
    assert run.ending.completed
    # the error of each of some hundred steps is below the accuracy, relative to the largest values so far
    np.testing.assert_allclose(run.state("x")[:, 0], exact(run.time), atol=1e-5 * MODEL.force / MODEL.stiffness)


def test_its_trajectory_is_saved_and_loaded(tmp_path: Path) -> None:
    run = pl.simulate(MODEL, 0.1, pl.Gauss(order=2, step=1e-2))
    for suffix in (".nc", ".csv", ".mat"):
        run.save(tmp_path / f"run{suffix}")
    again = pl.load_trajectory(tmp_path / "run.nc")
    for name in ("time", "states"):
        np.testing.assert_array_equal(getattr(again, name), getattr(run, name))
    np.testing.assert_array_equal(again.efforts["mass"], run.efforts["mass"])
    np.testing.assert_array_equal(again.ledger.works["mass"], run.ledger.works["mass"])
    assert again.provenance == run.provenance
    assert again.ports == run.ports
    for trajectory in (run, again):
        with pytest.raises(InvalidInput, match="joints, links and a tip are those of an arm"):
            _ = trajectory.tip_position


def test_it_is_linearised() -> None:
    at_rest = pl.equilibrium(MODEL).state
    np.testing.assert_allclose(at_rest, [MODEL.force / MODEL.stiffness, 0.0])
    system = pl.linearize(MODEL, at_rest)
    assert (system.inputs, system.outputs) == (("mass.force",), ("mass.velocity",))
    # poles of  m s^2 + d s + k
    expected = np.sort_complex(np.roots([MODEL.mass, MODEL.damping, MODEL.stiffness]))
    np.testing.assert_allclose(np.sort_complex(system.poles), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("ask", "reason"),
    [
        (
            lambda: pl.connect(MODEL, pl.JointPD(pl.motions.Hold(0.0), 1.0, 1.0)),
            "components act on joints, links and frames",
        ),
        (lambda: pl.consistent_state(MODEL), "its joints are what a consistent state places"),
        (lambda: pl.modes(MODEL), "modes show how its links move; linearize gives the poles of any model"),
    ],
)
def test_what_needs_an_arm_says_what_for(ask: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"is a model but no arm; {reason}"):
        ask()  # type: ignore[operator]
