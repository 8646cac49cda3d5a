"""Signals: values, shapes, breaks and refusals."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.components.signals import (
    Constant,
    FunctionSignal,
    HeldTable,
    PiecewiseLinear,
    Signal,
    SignalSum,
    SignalTable,
    Sine,
    Step,
)
from pliant.errors import InvalidInput

WRENCH = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
KNOTS = (0.0, 1.0, 2.0)
SCALARS: list[Signal] = [
    Constant(2.0),
    Step(2.0, at=1.0),
    Sine(2.0, frequency=0.5),
    PiecewiseLinear(KNOTS, (0.0, 50.0, 0.0)),
    HeldTable(KNOTS, (0.0, 50.0, 0.0)),
    SignalTable(KNOTS, (0.0, 50.0, 0.0)),
    SignalSum([Constant(1.0), Sine(2.0, 3.0)]),
    FunctionSignal(np.cos),
]
VECTORS: list[Signal] = [
    Constant(WRENCH),
    Step(np.array(WRENCH), at=1.0),
    Sine(WRENCH, frequency=0.5),
    PiecewiseLinear(KNOTS, np.outer(KNOTS, WRENCH)),
    HeldTable(KNOTS, np.outer(KNOTS, WRENCH)),
    SignalTable(KNOTS, np.outer(KNOTS, WRENCH)),
    SignalSum([Constant(WRENCH), Step(WRENCH)]),
    FunctionSignal(lambda t: np.outer(t, WRENCH)),
]


@pytest.mark.parametrize("signal", SCALARS, ids=lambda signal: type(signal).__name__)
def test_one_number_at_each_time(signal: Signal) -> None:
    assert signal.evaluate(np.linspace(-1.0, 3.0, 17)).shape == (17,)


@pytest.mark.parametrize("signal", VECTORS, ids=lambda signal: type(signal).__name__)
def test_a_row_at_each_time(signal: Signal) -> None:
    assert signal.evaluate(np.linspace(-1.0, 3.0, 17)).shape == (17, 6)


def test_step_takes_its_value_from_the_right() -> None:
    step = Step(WRENCH, at=1.0)
    np.testing.assert_array_equal(step.evaluate(np.array([0.0, 1.0 - 1e-12, 1.0, 2.0]))[:, 5], [0.0, 0.0, 6.0, 6.0])
    assert step.breaks == (1.0,)


def test_a_held_table_is_a_sum_of_steps() -> None:
    held = HeldTable((0.5, 1.0, 2.5), (3.0, -1.0, 2.0))
    times = np.array([0.0, 0.5 - 1e-12, 0.5, 0.9, 1.0, 2.4, 2.5, 9.0])
    np.testing.assert_array_equal(held.evaluate(times), [0.0, 0.0, 3.0, 3.0, -1.0, -1.0, 2.0, 2.0])
    steps = SignalSum([Step(3.0, at=0.5), Step(-4.0, at=1.0), Step(3.0, at=2.5)])
    np.testing.assert_array_equal(held.evaluate(times), steps.evaluate(times))
    assert held.breaks == steps.breaks == (0.5, 1.0, 2.5)


def test_opposite_steps_make_a_pulse() -> None:
    pulse = SignalSum([Step(3.0, at=1.0), Step(-3.0, at=2.0)])
    np.testing.assert_array_equal(pulse.evaluate(np.array([0.5, 1.5, 2.5])), [0.0, 3.0, 0.0])
    assert pulse.breaks == (1.0, 2.0)


def test_sine_starts_at_its_phase() -> None:
    times = np.linspace(0.0, 1.0, 11)
    sine = Sine(2.0, frequency=1.5, phase=0.3)
    np.testing.assert_allclose(sine.evaluate(times), 2.0 * np.sin(2 * np.pi * 1.5 * times + 0.3))
    assert sine.breaks == ()


def test_piecewise_linear_is_the_hat_load_of_the_elbow_cantilever() -> None:
    # [simo1988]: 0 to 50 to 0 over 0, 1, 2 s, then nothing.
    hat = PiecewiseLinear(KNOTS, (0.0, 50.0, 0.0))
    np.testing.assert_allclose(hat.evaluate(np.array([-1.0, 0.5, 1.0, 1.8, 30.0])), [0.0, 25.0, 50.0, 10.0, 0.0])
    assert hat.breaks == KNOTS


@given(st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=12))
def test_table_passes_through_its_samples_and_holds_its_ends(values: list[float]) -> None:
    times = np.arange(len(values), dtype=float)
    table = SignalTable(times, values)
    np.testing.assert_allclose(table.evaluate(times), values, atol=1e-12)
    np.testing.assert_allclose(table.evaluate(np.array([-9.0, 99.0])), [values[0], values[-1]], atol=1e-12)
    assert table.breaks == (0.0, len(values) - 1.0)


def test_table_is_the_natural_spline() -> None:
    # Through 0, 50, 0 the inner second derivative is 6 (0 - 100 + 0) / 4 = -150, so that at 0.5 s the spline
    # is 25 - 150 (0.5^3 - 0.5) / 6 = 34.375.
    assert SignalTable(KNOTS, (0.0, 50.0, 0.0)).evaluate(np.array([0.5]))[0] == pytest.approx(34.375)


def test_table_has_two_continuous_derivatives_at_inner_samples() -> None:
    table, h = SignalTable((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, -1.0, 2.0)), 1e-3
    inner = np.array([1.0, 2.0])
    samples = [table.evaluate(inner + k * h) for k in range(-3, 4)]
    for left, right in (
        (samples[3] - samples[2], samples[4] - samples[3]),
        (samples[3] - 2 * samples[2] + samples[1], samples[5] - 2 * samples[4] + samples[3]),
    ):
        # Continuous up to the next order in h: a jump of 1 in slope or curvature would exceed this tenfold.
        np.testing.assert_allclose(left, right, atol=50 * h * max(np.abs(left).max(), h * h))


def test_signals_compare_and_hash() -> None:
    assert Constant([1, 2]) == Constant((1.0, 2.0))
    assert hash(PiecewiseLinear(np.array(KNOTS), np.ones((3, 2)))) == hash(PiecewiseLinear(KNOTS, [(1, 1)] * 3))


def test_values_that_are_handed_out_may_be_changed() -> None:
    constant = Constant(WRENCH)
    constant.evaluate(np.zeros(2))[:] = 0.0
    np.testing.assert_array_equal(constant.evaluate(np.zeros(1))[0], WRENCH)


def test_a_function_that_changes_its_argument_changes_nobody_elses_clock() -> None:
    def late(times: np.ndarray) -> np.ndarray:
        times -= 1.0
        return times

    times = np.ones(3)
    FunctionSignal(late).evaluate(times)
    np.testing.assert_array_equal(times, 1.0)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Constant(math.inf), "Constant: value = inf N or N m must be finite; write the value in N or N m"),
        (lambda: Step((1.0, math.nan)), "Step: value[1] = nan N or N m must be finite; write the value in N or N m"),
        (lambda: Step(1.0, at="5 ms"), "Step: at = '5 ms' carries a unit; write 0.005 (SI, second)"),
        (
            lambda: Sine(1.0, frequency=-2.0),
            "Sine: frequency = -2 Hz must be greater than 0; write the frequency in Hz",
        ),
        (
            lambda: PiecewiseLinear((1.0, 0.0), (0.0, 1.0)),
            "PiecewiseLinear: times[1] = 0 s must be greater than 1 s;"
            " write the increasing times of the samples, each once, in seconds",
        ),
        (
            lambda: PiecewiseLinear(KNOTS, ((1.0, 2.0), (1.0, 2.0), (1.0,))),
            "PiecewiseLinear: values[2] has 1 entries and must have 2;"
            " write the value or row of values at each time in N or N m",
        ),
        (
            lambda: SignalTable(KNOTS, (1.0, 2.0)),
            "SignalTable: values has 2 entries and must have 3; write one for each time",
        ),
        (
            lambda: SignalSum([Constant(1.0), Constant(WRENCH)]),
            "SignalSum: terms have 1, 6 components; give all terms the same number",
        ),
        (
            lambda: FunctionSignal(lambda t: 1.0).evaluate(np.zeros(2)),
            "FunctionSignal: the function answered 2 times with shape ();"
            " let it return one value, or one row of values, for each time",
        ),
        (
            lambda: FunctionSignal(np.cos, breaks=(math.nan,)),
            "FunctionSignal: breaks[0] = nan s must be finite;"
            " write the times at which the function or one of its two first derivatives jumps in seconds",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
