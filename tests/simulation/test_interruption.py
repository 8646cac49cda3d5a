"""Ctrl-C ends a run as a value: every row that is kept is a state of the run at that time."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import pliant as pl
from pliant.model.state import Cause
from pliant.simulation import driver
from pliant.simulation.driver import interruptions_heard
from tests.support.arms import ASIDE, two_links

ARM = pl.GeometricallyExact(degree=4).compile(two_links(ASIDE, rates=(2.0, -3.0)))
GAUSS = pl.Gauss(order=4, step=1e-3)
UNTIL = 0.2
pytestmark = pytest.mark.usefixtures("ctrl_c_is_heard")


class PressesOnce:
    """Ctrl-C while the inputs of a late stretch are read: it is delivered when the compiled loop has returned."""

    def __init__(self, after: float) -> None:
        self.after, self.pressed = after, False

    def __call__(self, times: np.ndarray) -> np.ndarray:
        if times.max() > self.after and not self.pressed:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)
        return 0.2 + 0.0 * times


def test_ctrl_c_inside_a_block_waits_for_its_end() -> None:
    noted = []

    def pressed_half_way() -> None:
        with interruptions_heard() as undivided:
            with undivided:
                noted.append("a first block goes undisturbed")
            with undivided:
                signal.raise_signal(signal.SIGINT)
                noted.append("all is noted")
            noted.append("too late")

    with pytest.raises(KeyboardInterrupt):
        pressed_half_way()
    assert noted == ["a first block goes undisturbed", "all is noted"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_between_two_blocks_acts_at_once() -> None:
    noted = []

    def pressed_outside() -> None:
        with interruptions_heard() as undivided:
            with undivided:
                noted.append("a block")
            signal.raise_signal(signal.SIGINT)
            noted.append("too late")

    with pytest.raises(KeyboardInterrupt):
        pressed_outside()
    assert noted == ["a block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_during_the_compiled_loop_keeps_the_right_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop is interrupted after its steps are done and before anybody has noted them."""
    from pliant.structures.collocation.stepper import Stepper, Tables

    usual = Stepper.advance

    def interrupted(stepper: Stepper, tables: Tables, part: slice, held: np.ndarray) -> tuple[int, int]:
        answer = usual(stepper, tables, part, held)
        signal.raise_signal(signal.SIGINT)
        return answer

    whole = pl.simulate(ARM, UNTIL, GAUSS, outputs=4)
    monkeypatch.setattr(Stepper, "advance", interrupted)
    monkeypatch.setattr(driver, "WATCHED_STEPS", 0)  # all steps in one loop
    kept = pl.simulate(ARM, UNTIL, GAUSS, outputs=4)
    assert kept.ending.cause is Cause.INTERRUPTED
    assert kept.ending.time == pytest.approx(UNTIL)
    np.testing.assert_array_equal(kept.states, whole.states)
    np.testing.assert_array_equal(kept.time, whole.time)


def test_a_run_of_some_accuracy_keeps_what_it_computed() -> None:
    until = 0.02
    press = PressesOnce(after=0.005)
    closed = pl.connect(ARM, pl.JointTorque("elbow", pl.signals.FunctionSignal(press)))
    kept = pl.simulate(closed, until, accuracy=1e-6, outputs=20)
    assert press.pressed
    assert kept.ending.cause is Cause.INTERRUPTED
    assert "what was computed is kept" in kept.ending.remedy
    assert 0.0 <= kept.ending.time < until  # a trial reads all its inputs at once, before its first step
    assert kept.time[-1] == pytest.approx(kept.ending.time)
    calm = pl.connect(ARM, pl.JointTorque("elbow", pl.signals.Constant(0.2)))
    whole = pl.simulate(calm, until, accuracy=1e-6, outputs=kept.time)
    # what is kept may be that of a trial, with longer steps
    np.testing.assert_allclose(kept.tip_position, whole.tip_position, atol=1e-4)
