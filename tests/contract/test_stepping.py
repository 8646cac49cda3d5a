"""Stepping: what a run keeps, outputs between steps, endings, and that nothing is left behind in the model."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import pliant as pl
from pliant.model.state import Cause
from tests.contract.formulations import GAUSS, HELD, Kind, every_formulation, held, run_of, swing

UNTIL = 0.03


@every_formulation
def test_a_run_keeps_states_efforts_and_why_it_ended(kind: Kind) -> None:
    run = run_of(kind)
    assert run.ending.completed
    assert str(run.ending) == "completed at t = 0.03 s"
    np.testing.assert_allclose(run.time, np.linspace(0.0, UNTIL, 31), atol=1e-12)
    assert run.states.shape == (31, held(kind).layout.size)
    assert run.statistics["steps"] == 30
    assert run.efforts["hinge"].shape[0] == 31
    # feedback acts on the mean of a step: 30 N m/rad times the error, 0.5 N m s/rad times the rate
    middle = 0.5 * (run.joint_position[1:, 0] + run.joint_position[:-1, 0])
    rate = np.diff(run.joint_position[:, 0]) / 1e-3
    effort = run.efforts["hinge"].reshape(31)[1:]
    np.testing.assert_allclose(effort, -30.0 * (middle - 0.4) - 0.5 * rate, atol=1e-8)
    assert run.ledger.works["hinge"].shape == run.time.shape
    again = pl.simulate(held(kind), UNTIL, GAUSS, initial=run.states[-1])
    np.testing.assert_allclose(again.states[0], run.states[-1], atol=1e-14)


@every_formulation
def test_outputs_change_nothing_but_what_is_kept(kind: Kind) -> None:
    every = run_of(kind)
    few = pl.simulate(held(kind), UNTIL, GAUSS, outputs=3)
    np.testing.assert_allclose(few.time, [0.0, 0.01, 0.02, 0.03], atol=1e-12)
    np.testing.assert_allclose(few.states, every.states[::10], rtol=1e-13, atol=1e-15)
    wanted = np.array([0.0, 0.0042, 0.005, 0.0177, UNTIL])
    between = pl.simulate(held(kind), UNTIL, GAUSS, outputs=wanted)
    np.testing.assert_allclose(between.time, wanted, atol=1e-15)
    ends = every.states[[0, 5, 30]]
    np.testing.assert_allclose(between.states[[0, 2, 4]], ends, rtol=1e-13, atol=1e-15)
    # inside a step the state lies between its ends: at 0.2 of one and at 0.7 of another, for joints nearly linear
    q = every.joint_position[:, 0]
    linear = [q[4] + 0.2 * (q[5] - q[4]), q[17] + 0.7 * (q[18] - q[17])]
    curvature = np.abs(np.diff(q, 2)).max()
    np.testing.assert_allclose(between.joint_position[[1, 3], 0], linear, atol=curvature)


@every_formulation
def test_a_signal_that_breaks_ends_the_run_as_a_value(kind: Kind) -> None:
    def torque(times: np.ndarray) -> np.ndarray:
        return np.where(times < 0.01 + 1e-6, 0.1, np.nan)

    broken = pl.connect(swing(kind), pl.JointTorque("hinge", pl.signals.FunctionSignal(torque)))
    run = pl.simulate(broken, UNTIL, GAUSS)
    assert run.ending.cause is Cause.INPUT
    assert run.ending.place.startswith("the torque of joint 'hinge'")
    assert run.ending.remedy == "let it return finite numbers"
    assert run.time[-1] == run.ending.time == pytest.approx(0.01)
    assert np.isfinite(run.states).all()


@every_formulation
def test_a_model_is_constant(kind: Kind) -> None:
    """A second run and a run of a copy give the same bits, and no array that was given is changed."""
    model, start = held(kind), held(kind).initial_state()
    given = start.copy()
    once = pl.simulate(model, UNTIL, GAUSS, initial=given)
    np.testing.assert_array_equal(given, start)

    def states_of(each: pl.Model) -> np.ndarray:
        return pl.simulate(each, UNTIL, GAUSS, initial=start).states

    np.testing.assert_array_equal(states_of(model), once.states)
    np.testing.assert_array_equal(states_of(copy.deepcopy(model)), once.states)


@every_formulation
def test_models_and_trajectories_can_be_pickled(kind: Kind) -> None:
    """Alone, and connected after a run."""
    run = run_of(kind)
    for model in (pl.connect(pickle.loads(pickle.dumps(swing(kind))), HELD), pickle.loads(pickle.dumps(held(kind)))):
        np.testing.assert_array_equal(pl.simulate(model, UNTIL, GAUSS).states, run.states)
    copied = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(copied.states, run.states)
    np.testing.assert_array_equal(copied.tip_position, run.tip_position)
    assert copied.ending == run.ending


@every_formulation
def test_an_explicit_method_is_taken_or_refused_in_a_sentence(kind: Kind) -> None:
    arm, gill = swing(kind), pl.RungeKuttaGill(step=1e-5)
    if isinstance(kind.formulation, (pl.Lumped, pl.EquivalentRigidLink, pl.Rigid)):
        assert pl.simulate(arm, 1e-4, gill).ending.completed
    else:
        with pytest.raises(pl.InvalidInput, match=r"; use Gauss"):
            pl.simulate(arm, 1e-4, gill)
