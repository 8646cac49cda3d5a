"""Sources that steps do not follow are named, and motions that contradict themselves or the start are refused."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.simulation import sources

STEPS = pl.Gauss(order=2, step=1e-3)


@pytest.fixture(scope="module")
def strip() -> pl.Arm:
    return pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("steel_strip")))


def pulse(times: np.ndarray) -> np.ndarray:
    """Of 0.2 ms, between two midpoints of steps."""
    return np.where((times > 0.0201) & (times < 0.0203), 1.0, 0.0)


def said(arm: pl.Arm, signal: object, integrator: pl.Gauss = STEPS) -> list[str]:
    closed = pl.connect(arm, pl.JointTorque("hub", signal))
    run = pl.simulate(closed, 0.05, integrator, outputs=5)
    return [each for each in run.warnings() if "changes faster than steps" in each]


def test_a_sine_faster_than_the_steps_is_told_with_the_steps_it_needs(strip: pl.Arm) -> None:
    """1002 Hz by midpoints of 1 ms look like 2 Hz; the rule misses (w h)^2 / 24 of a sine that it does follow."""
    (sentence,) = said(strip, pl.signals.Sine(0.01, 1002.0))
    assert sentence.startswith("the torque of joint 'hub' changes faster than steps of 0.001 s follow: they miss ")
    needed = float(sentence.split("at most ")[1].split(" s,")[0])
    assert (2.0 * np.pi * 1002.0 * needed) ** 2 / 24.0 < 0.01
    assert said(strip, pl.signals.Sine(0.01, 1002.0), pl.Gauss(order=2, step=needed)) == []


@pytest.mark.parametrize(
    "signal",
    [
        pl.signals.Sine(0.01, 50.0),
        pl.signals.Step(0.01, 0.0123),
        pl.signals.Constant(0.01),
        pl.signals.FunctionSignal(pulse, breaks=(0.0201, 0.0203)),
    ],
    ids=lambda signal: type(signal).__name__,
)
def test_what_steps_follow_is_not_doubted(strip: pl.Arm, signal: object) -> None:
    assert said(strip, signal) == []


def test_a_pulse_between_the_stages_does_not_vanish_in_silence(strip: pl.Arm) -> None:
    assert said(strip, pl.signals.FunctionSignal(pulse))[0].endswith("or declare its jumps as breaks")


def test_a_run_that_missed_a_pulse_does_not_say_how_accurate_it_is() -> None:
    """No trial saw it, so that all of them agreed: an error of zero was told as reached."""
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path("steel_strip")))
    short = pl.signals.FunctionSignal(lambda t: np.where((t > 0.0203) & (t < 0.02035), 1.0, 0.0))
    run = pl.simulate(pl.connect(arm, pl.JointTorque("hub", short)), 0.05, accuracy=1e-4)
    assert any("changes faster than steps" in each for each in run.warnings())
    assert run.error is not None
    assert not run.error.reached
    assert np.isnan(run.error.total)
    assert str(run.error) in run.warnings()
    assert not any(line.name.startswith("estimated error") for line in run.summary())


def test_loads_are_looked_at_too(strip: pl.Arm) -> None:
    shaken = pl.TipWrench("strip", pl.signals.Sine((0.0, 0.01, 0.0, 0.0, 0.0, 0.0), 990.0))
    run = pl.simulate(pl.connect(strip, shaken, pl.PrescribedMotion("hub", pl.motions.Hold(0.0))), 0.05, STEPS)
    assert any(each.startswith("load ") and "changes faster" in each for each in run.warnings())


@pytest.mark.parametrize(
    ("rate", "acceleration", "words"),
    [(2.0, 1.0, "the rate 2, but its position changes by "), (1.0, -1.0, "let the acceleration be the derivative")],
)
def test_a_motion_whose_rate_is_not_its_derivative_is_refused(
    strip: pl.Arm, rate: float, acceleration: float, words: str
) -> None:
    motion = pl.motions.FunctionMotion(lambda t: (np.sin(t), rate * np.cos(t), -acceleration * np.sin(t)))
    with pytest.raises(InvalidInput) as refusal:
        pl.simulate(pl.connect(strip, pl.PrescribedMotion("hub", motion)), 1.0, STEPS)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("the motion of joint 'hub' has at t = ")


def test_a_start_that_contradicts_a_prescribed_motion_is_refused(strip: pl.Arm) -> None:
    closed = pl.connect(strip, pl.PrescribedMotion("hub", pl.motions.Hold(0.5)))
    for position, rate, word in ((0.3, 0.0, "position 0.3"), (0.5, 1.0, "rate 1")):
        start = strip.initial_state(np.array([position]), np.array([rate]))
        with pytest.raises(InvalidInput, match=rf"initial has the {word} of joint 'hub'"):
            pl.simulate(closed, 0.01, STEPS, initial=start)
    agreeing = strip.initial_state(np.array([0.5]), np.zeros(1))
    assert pl.simulate(closed, 0.01, STEPS, initial=agreeing).ending.completed


def test_a_run_of_some_accuracy_takes_steps_that_follow_the_source(strip: pl.Arm) -> None:
    """Trials that ask the force less than twice in a period of 1 ms would agree with each other, and see nothing of it.

    Steps of order 6 ask it three times; `test_accuracy` compares such a run with a much finer one.
    """
    shaken = pl.TipWrench("strip", pl.signals.Sine((0.0, 0.0, 40.0, 0.0, 0.0, 0.0), 1002.0))
    run = pl.simulate(pl.connect(strip, shaken, pl.PrescribedMotion("hub", pl.motions.Hold(0.0))), 0.05, accuracy=1e-3)
    assert not [each for each in run.warnings() if "changes faster" in each]
    assert 3.0 * run.statistics["steps"] > 2.0 * 2.0 * 50.0


def test_a_base_that_moves_faster_than_the_steps_is_told(strip: pl.Arm) -> None:
    w = 2.0 * np.pi * 1002.0
    shaken = pl.motions.FunctionMotion(
        lambda t: (1e-6 * np.sin(w * t), 1e-6 * w * np.cos(w * t), -1e-6 * w**2 * np.sin(w * t))
    )
    model = pl.connect(strip, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)), pl.BaseMotion(y=shaken))
    said = pl.simulate(model, 0.02, STEPS).warnings()
    assert any(each.startswith("the motion of the base changes faster than steps") for each in said)


KNOWN = (
    pl.motions.Quintic(0.0, 1.0, 0.2),
    pl.motions.Cycloid(0.3, -1.0, 0.2, 0.05),
    pl.motions.BangBang(0.0, 1.0, 0.2),
    pl.motions.SmoothStart(2.0, 0.2),
    pl.motions.MotionSum((pl.motions.Quintic(0.0, 1.0, 0.2), pl.motions.Cycloid(0.0, -1.0, 0.1, 0.2))),
    pl.signals.Sine(2.0, 7.0, 0.3),
    pl.signals.SignalSum((pl.signals.Sine(2.0, 7.0), pl.signals.Step(1.0, 0.1))),
)


@pytest.mark.parametrize("source", KNOWN, ids=lambda source: type(source).__name__)
def test_what_knows_how_fast_it_changes_is_followed_by_sixteen_steps_of_one_stage(source: object) -> None:
    """1 - sinc(pi / 16) = 0.6 % of a sine is missed; moves have parts of twice their frequency, 2.6 % of these."""
    motion = isinstance(source, pl.motions.Motion) and not isinstance(source, pl.signals.Sine | pl.signals.SignalSum)
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path("steel_strip")))
    drive = pl.PrescribedMotion("hub", source) if motion else pl.JointTorque("hub", source)
    inputs, rule = pl.connect(arm, drive).inputs, (np.array([0.5]), np.array([1.0]))
    step = source.changes_within / sources.SURELY_FOLLOWED
    assert sources.missed(inputs, ("hub",), 0.4, step, rule) == ()
    assert 0.0 < max(sources.missed_shares(inputs, ("hub",), 0.4, step, rule).values()) < 0.026


def test_functions_of_users_are_asked_at_many_instants() -> None:
    told = pl.signals.SignalSum((pl.signals.Constant(1.0), pl.signals.FunctionSignal(np.sin)))
    assert told.changes_within == 0.0
