"""The experiment runs and meets its numbers; its linear theory and its way to find poles stand on their own."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.konno1996 import adam, effects, responses, run, sampled_loop
from tests.support.reproduction import Again, check_numbers_and_figures, reproduced


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    return reproduced(run, tmp_path_factory)


def test_all_numbers_are_met_and_all_figures_written(again: Again) -> None:
    check_numbers_and_figures(run, again)


def test_published_frequencies_are_no_verdict(again: Again) -> None:
    """They cannot be had from the printed data, so nothing may pass or fail by them."""
    published = {value for pair in adam.PUBLISHED.values() for value in pair}
    assert not published & {finding.expected.value for finding in again[1]}


def test_fast_samples_make_the_loop_that_of_springs_and_dampers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With periods going to zero, servo and position loop are a PD law, whose poles `modes` gives."""
    arm = adam.condensed(adam.robot_with())
    gains, reference = adam.Drives().servo_gains, np.array([0.0, 0.0, 0.0, adam.ELBOW])
    errors = []
    for period in (1e-4, 5e-5):
        for module in (adam, sampled_loop):
            monkeypatch.setattr(module, "SERVO_PERIOD", period)
            monkeypatch.setattr(module, "CONTROL_PERIOD", 2 * period)
        drives = adam.Drives(servo_share=adam.SERVO_SHARE * period / 1e-3)
        np.testing.assert_allclose(drives.servo_gains, gains)
        state = sampled_loop.at_rest(arm, drives, reference)
        model = pl.connect(arm, *drives.motors(), drives.springs(reference))
        swings = sampled_loop.vibrations(pl.modes(model, state, count=16).eigenvalue)
        found = sampled_loop.vibrations(sampled_loop.poles(arm, drives, reference))
        errors.append(np.abs(found - swings).max())
    assert errors[1] < 0.1
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)  # the lag of a hold is half a period


def test_poles_are_found_in_a_signal_that_has_them() -> None:
    wanted = np.array([-0.4 + 17j, -2.0 + 17.1j, -0.9 + 36j])
    time = np.linspace(0.0, 4.0, 401)
    amplitudes = np.random.default_rng(1).normal(size=(4, 3)) + 0.5
    signals = (np.exp(np.outer(time, wanted)) @ amplitudes.T.astype(complex)).real
    seen = responses.Response(
        type("Run", (), {"time": time})(),  # type: ignore[arg-type]
        {name: signals[:, k] for k, name in enumerate(adam.SIGNALS)},
        np.zeros(3),
    )
    found = responses.nearest(responses.ringing(seen), wanted)
    np.testing.assert_allclose(found, wanted, atol=0.02)


def test_gravity_matters_to_sagging_links_only() -> None:
    """Hanging masses stiffen, masses on top soften; a stretched level arm feels little. Point masses know neither."""
    plain, up, down = (
        effects.under_gravity(np.pi / 2, effects.POSTURES[name])[0]
        for name in ("no gravity", "forearm up", "forearm down")
    )
    assert up < 0.99 * plain < 0.99 * down
    model = [adam.clamped(adam.condensed(adam.robot_with(gravity=g))) for g in ((0.0, 0.0, -9.81), adam.WEIGHTLESS)]
    heavy, light = (pl.modes(each, pl.equilibrium(each).state).frequency for each in model)
    np.testing.assert_allclose(heavy, light, rtol=1e-9)
