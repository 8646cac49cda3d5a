"""Outputs at ends of steps, or at any times by the polynomial of the step."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from tests.support.arms import ASIDE, SLOW, two_links

UNTIL = 0.32
MOTION = pl.motions.Quintic(0.3, 1.5, UNTIL)


def driven() -> Model:
    arm = pl.GeometricallyExact(degree=3).compile(two_links(ASIDE, section=SLOW))
    return pl.connect(arm, pl.PrescribedMotion("shoulder", MOTION))


def test_wanted_times_are_met_and_change_no_step() -> None:
    wanted = np.array([0.0011, 0.1, 0.12345, 0.2, UNTIL])
    trajectory = pl.simulate(driven(), UNTIL, pl.Gauss(4, 4e-3), outputs=wanted)
    np.testing.assert_allclose(trajectory.time, [0.0, *wanted], atol=1e-15)
    assert trajectory.statistics["steps"] == 80
    every = pl.simulate(driven(), UNTIL, pl.Gauss(4, 4e-3), outputs=10_000)
    for time in (0.1, 0.2, UNTIL):  # ends of steps
        here = trajectory.states[np.argmin(np.abs(trajectory.time - time))]
        there = every.states[np.argmin(np.abs(every.time - time))]
        np.testing.assert_array_equal(here, there)
    position, rate, _ = MOTION.evaluate(trajectory.time)
    np.testing.assert_allclose(trajectory.joint_position[:, 0], position, atol=1e-14)
    np.testing.assert_allclose(trajectory.joint_rate[:, 0], rate, atol=1e-12)


@pytest.mark.parametrize(("order", "inside"), [(2, 2), (4, 3), (6, 4)])
def test_inside_a_step_the_polynomial_keeps_its_own_order(order: int, inside: int) -> None:
    """The polynomial of s stages errs by the power s + 1 of the step, the ends by the power 2 s."""
    wanted = np.array([0.1003, 0.2102, 0.3111])
    answer = pl.simulate(driven(), UNTIL, pl.Gauss(8, 5e-4, tolerance=1e-13), outputs=wanted).tip_position
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = pl.simulate(driven(), UNTIL, pl.Gauss(order, step, tolerance=1e-13), outputs=wanted)
        errors.append(np.abs(run.tip_position - answer).max())
    assert np.log2(errors[0] / errors[2]) / 2 > inside - 0.4, errors


def test_the_ledger_follows_between_the_ends() -> None:
    """Linear in between, so that it closes there too, if not to the same digits as the energies of the state."""
    wanted = np.linspace(0.0, UNTIL, 333)
    trajectory = pl.simulate(driven(), UNTIL, pl.Gauss(4, 2e-3), outputs=wanted)
    ledger = trajectory.ledger
    supplied = ledger.gravity + sum(ledger.works.values()) - ledger.projection_loss + ledger.residual
    np.testing.assert_allclose(ledger.stored, ledger.stored[0] + supplied, atol=1e-11)
    kinetic, strain, _ = trajectory.source.model.energy(trajectory.states)
    np.testing.assert_allclose(ledger.stored, kinetic + strain, atol=1e-3 * ledger.stored.max())


@pytest.mark.parametrize("times", [[-0.1, 0.2], [0.1, 2 * UNTIL], [0.1, float("nan")]])
def test_times_outside_the_run_are_refused(times: list[float]) -> None:
    with pytest.raises(InvalidInput, match="outputs must be times between 0 and until"):
        pl.simulate(driven(), UNTIL, outputs=np.array(times))


@pytest.mark.parametrize("integrator", [pl.Gauss(4, 4e-3), None], ids=["Gauss", "accuracy"])
def test_no_outputs_at_all_are_refused(integrator: object) -> None:
    for outputs in (0, -3):
        with pytest.raises(InvalidInput, match=f"outputs = {outputs} must be at least 1"):
            pl.simulate(driven(), UNTIL, integrator, outputs=outputs)


@pytest.mark.parametrize("until", [1e-12, 1e-9, 1e-4])
def test_runs_shorter_than_any_step_have_one_step(until: float) -> None:
    run = pl.simulate(driven(), until, pl.Gauss(4, 4e-3))
    assert run.ending.completed
    assert run.time.tolist() == [0.0, until]


def test_saved_times_that_are_most_of_all_keep_their_states() -> None:
    """States between ends of steps are saved in the memory of all: those at both kinds of times must be the same."""
    times = np.linspace(0.0, UNTIL, 301)
    many = pl.simulate(driven(), UNTIL, pl.Gauss(4, 4e-3), outputs=times)
    few = pl.simulate(driven(), UNTIL, pl.Gauss(4, 4e-3), outputs=times[::50])
    np.testing.assert_array_equal(many.states[::50], few.states)
    np.testing.assert_allclose(many.ledger.kinetic[::50], few.ledger.kinetic, rtol=1e-14)  # summed in other batches
