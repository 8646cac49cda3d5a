"""Motions: derivatives against differences, laws against their published formulas, breaks in place."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.components.motions import (
    BangBang,
    Cycloid,
    FunctionMotion,
    Hold,
    Motion,
    MotionSum,
    MotionTable,
    Quintic,
    SmoothStart,
)
from pliant.errors import InvalidInput

SAMPLE_TIMES = np.linspace(0.5, 2.5, 21)
MOTIONS: dict[str, Motion] = {
    "hold": Hold(0.7),
    "quintic": Quintic(-0.3, 1.7, 2.0, begin=0.5),
    "cycloid": Cycloid(1.2, -0.4, 1.5, begin=0.25),
    "bang-bang": BangBang(0.2, 2.2, 2.0, begin=0.5),
    "smooth start": SmoothStart(1.5, 2.0, position=0.3, begin=0.5),
    "table": MotionTable(
        SAMPLE_TIMES,
        0.4 * SAMPLE_TIMES + SmoothStart(0.9, 2.0, begin=0.5).evaluate(SAMPLE_TIMES)[0],
        begin_rate=0.4,
        end_rate=1.3,
    ),
    "sum": MotionSum([Quintic(0.0, 1.0, 1.0), BangBang(0.0, -2.0, 1.5, begin=1.0)]),
    "function": FunctionMotion(lambda t: (np.sin(t), np.cos(t), -np.sin(t))),
}
WITH_BREAKS = [name for name, motion in MOTIONS.items() if motion.breaks]


def away_from_breaks(motion: Motion, violation: float) -> np.ndarray:
    times = np.linspace(-0.5, 4.0, 997)
    return times[[all(abs(time - each) > violation for each in motion.breaks) for time in times]]


@pytest.mark.parametrize("name", MOTIONS)
def test_rate_and_acceleration_are_derivatives(name: str) -> None:
    motion, h = MOTIONS[name], 1e-5
    times = away_from_breaks(motion, 2 * h)
    before, here, after = motion.evaluate(times - h), motion.evaluate(times), motion.evaluate(times + h)
    # Truncation h^2/6 times the third derivative (below 2e3 for the table) and round-off eps/h.
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), here[1], atol=1e-7)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), here[2], atol=1e-6)


@pytest.mark.parametrize("name", MOTIONS)
def test_position_and_rate_never_jump(name: str) -> None:
    motion, eps = MOTIONS[name], 1e-9
    for time in motion.breaks:
        position, rate, _ = motion.evaluate(np.array([time - eps, time + eps]))
        assert abs(position[1] - position[0]) < 1e-7
        assert abs(rate[1] - rate[0]) < 1e-7


def acceleration_jump(motion: Motion, time: float, order: int) -> float:
    """The jump of a derivative of the acceleration at ``time``, from one-sided differences."""
    weights = {0: [4.0, -6.0, 4.0, -1.0], 1: [-13 / 3, 9.5, -7.0, 11 / 6], 2: [3.0, -8.0, 7.0, -2.0]}[order]
    h = 1e-3
    right, left = (np.dot(weights, motion.evaluate(time + step * np.arange(1, 5))[2]) / step**order for step in (h, -h))
    return float(abs(right - left))


def roughness(motion: Motion, time: float) -> float:
    """The largest jump of the acceleration and its two first derivatives."""
    return max(acceleration_jump(motion, time, order) for order in (0, 1, 2))


@pytest.mark.parametrize("name", WITH_BREAKS)
def test_breaks_are_where_the_acceleration_is_not_smooth(name: str) -> None:
    motion = MOTIONS[name]
    for time in motion.breaks:
        assert roughness(motion, time) > 1.0
    for time in away_from_breaks(motion, 6e-3)[::29]:
        assert roughness(motion, time) < 0.5


def test_breaks_of_each_law() -> None:
    assert MOTIONS["hold"].breaks == ()
    assert MOTIONS["quintic"].breaks == (0.5, 2.5)
    assert MOTIONS["cycloid"].breaks == (0.25, 1.75)
    assert MOTIONS["bang-bang"].breaks == (0.5, 1.5, 2.5)
    assert MOTIONS["smooth start"].breaks == (0.5, 2.5)
    assert MOTIONS["table"].breaks == (0.5, 2.5)
    assert MOTIONS["sum"].breaks == (0.0, 1.0, 1.75, 2.5)
    assert FunctionMotion(lambda t: (t, t, t), breaks=(2.0, 1.0)).breaks == (1.0, 2.0)


def test_breaks_that_differ_by_round_off_are_one() -> None:
    first, second = Quintic(0.0, 1.0, 0.1, begin=0.2), Quintic(0.0, 1.0, 1.0, begin=0.3)
    assert first.breaks[1] != second.begin
    assert len(MotionSum([first, second]).breaks) == 3


finite = st.floats(-10.0, 10.0)


@pytest.mark.parametrize("law", [Quintic, Cycloid, BangBang])
@given(start=finite, end=finite, duration=st.floats(0.01, 100.0), begin=finite)
def test_moves_go_from_rest_to_rest(
    law: type[Quintic], start: float, end: float, duration: float, begin: float
) -> None:
    move = law(start, end, duration, begin)
    outside = np.array([begin - 1.0, begin + duration * (1 + 1e-9) + 1e-9])
    position, rate, acceleration = move.evaluate(outside)
    np.testing.assert_allclose(position, [start, end], atol=1e-13)
    assert not rate.any()
    assert not acceleration.any()
    middle, fastest, _ = move.evaluate(np.array([begin + 0.5 * duration]))
    np.testing.assert_allclose(middle, 0.5 * (start + end), atol=1e-9 / duration + 1e-12)
    # Peak over mean rate: 15/8 for the quintic, 2 for the cycloid and for constant acceleration.
    peak = 1.875 if law is Quintic else 2.0
    np.testing.assert_allclose(fastest, peak * (end - start) / duration, rtol=1e-6, atol=1e-9)


def test_quintic_is_the_point_to_point_law() -> None:
    # PP-f of [macchelli2007]: 2 rad in 2.5 s; at 0.5 s x = 0.2 gives x^3 (10 - 15 x + 6 x^2) = 0.05792.
    position, rate, _ = Quintic(0.0, 2.0, 2.5).evaluate(np.array([0.5]))
    assert position[0] == pytest.approx(2.0 * 0.05792)
    assert rate[0] == pytest.approx(2.0 / 2.5 * 30 * 0.2**2 * 0.8**2)


def test_bang_bang_is_the_constant_acceleration_law() -> None:
    # ST-f of [macchelli2007]: 2 rad in 2.5 s needs 4 * 2 / 2.5^2 = 1.28 rad/s^2; breaks show their right.
    position, rate, acceleration = BangBang(0.0, 2.0, 2.5).evaluate(np.array([-0.1, 0.0, 1.0, 1.25, 2.0, 2.5]))
    np.testing.assert_allclose(acceleration, [0.0, 1.28, 1.28, -1.28, -1.28, 0.0])
    np.testing.assert_allclose(position, [0.0, 0.0, 0.64, 1.0, 2.0 - 0.5 * 1.28 * 0.25, 2.0])
    np.testing.assert_allclose(rate, [0.0, 0.0, 1.28, 1.6, 0.64, 0.0], atol=1e-15)


def test_the_two_laws_of_the_double_link() -> None:
    # Joint motions (21), (22) of [damic2006] with T = 10 s and 1 rad/s, written as printed there.
    times, period = np.linspace(0.0, 20.0, 401), 10.0
    turn = 2 * np.pi * times / period
    first = np.pi / 2 * (1 - (times - period / (2 * np.pi) * np.sin(turn)) / period)
    second = 1.0 / period * (times**2 / 2 + (period / (2 * np.pi)) ** 2 * (np.cos(turn) - 1))
    late = times >= period
    first[late], second[late] = 0.0, times[late] - period / 2
    np.testing.assert_allclose(Cycloid(math.pi / 2, 0.0, period).evaluate(times)[0], first, atol=1e-14)
    np.testing.assert_allclose(SmoothStart(1.0, period).evaluate(times)[0], second, atol=1e-13)


def test_smooth_start_is_the_spin_up_of_a_rotating_beam() -> None:
    # 6 rad/s within 15 s, then 6 t - 45.
    position, rate, acceleration = SmoothStart(6.0, 15.0).evaluate(np.array([15.0, 20.0]))
    np.testing.assert_allclose(position, [45.0, 75.0])
    np.testing.assert_allclose(rate, [6.0, 6.0])
    np.testing.assert_allclose(acceleration, 0.0)


def test_table_of_two_samples_is_the_quintic() -> None:
    times = np.linspace(-1.0, 4.0, 101)
    table, quintic = MotionTable([0.5, 3.0], [1.0, -2.0]), Quintic(1.0, -2.0, 2.5, begin=0.5)
    for ours, exact in zip(table.evaluate(times), quintic.evaluate(times), strict=True):
        np.testing.assert_allclose(ours, exact, atol=1e-12)


def test_table_converges_to_the_sampled_motion() -> None:
    move, times = Cycloid(0.0, 1.0, 1.0), np.linspace(0.0, 1.0, 333)
    errors = []
    for count in (11, 21, 41):
        knots = np.linspace(0.0, 1.0, count)
        table = MotionTable(knots, move.evaluate(knots)[0])
        np.testing.assert_allclose(table.evaluate(knots)[0], table.positions, atol=1e-13)
        errors.append(np.abs(table.evaluate(times)[0] - move.evaluate(times)[0]).max())
    # The cycloid meets the end conditions, so a quintic spline has order 6.
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 5.5).all()


def test_table_goes_on_at_its_end_rates() -> None:
    position, rate, acceleration = MOTIONS["table"].evaluate(np.array([-0.5, 0.5, 2.5, 4.5]))
    assert position[0] == pytest.approx(position[1] - 0.4)
    assert position[3] == pytest.approx(position[2] + 2.6)
    np.testing.assert_allclose(rate, [0.4, 0.4, 1.3, 1.3], atol=1e-12)
    np.testing.assert_allclose(acceleration, 0.0, atol=1e-10)


def test_motions_print_compare_and_hash() -> None:
    table = MotionTable(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    assert table == MotionTable((0, 1), (0, 2))
    assert len({table, MotionTable([0.0, 1.0], [0.0, 2.0]), Quintic(0, 1, 1), Cycloid(0, 1, 1)}) == 3
    assert repr(Quintic(0, 1, 2)) == "Quintic(start=0.0, end=1.0, duration=2.0, begin=0.0)"
    assert Quintic(0, 1, 2) != Cycloid(0, 1, 2)


def scalar_only(time: object) -> tuple[float, float, float]:
    raise TypeError("no arrays")


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: Quintic(0.0, 1.0, -1.0),
            "Quintic: duration = -1 s must be greater than 0; write the duration of the move in seconds",
        ),
        (
            lambda: Hold(math.nan),
            "Hold: position = nan rad or m must be finite; write the position to hold in rad or m",
        ),
        (
            lambda: SmoothStart(1.0, 0.0),
            "SmoothStart: duration = 0 s must be greater than 0; write the duration of the start in seconds",
        ),
        (
            lambda: MotionTable([0.0, 1.0, 1.0], [0.0, 1.0, 2.0]),
            "MotionTable: times[2] = 1 s must be greater than 1 s;"
            " write the increasing times of the samples, each once, in seconds",
        ),
        (
            lambda: MotionTable([0.0], [0.0]),
            "MotionTable: times has 1 entry and must have at least 2;"
            " write the increasing times of the samples, each once, in seconds",
        ),
        (
            lambda: MotionTable([0.0, 1.0], [0.0, 1.0, 2.0]),
            "MotionTable: positions has 3 entries and must have 2; write one for each time",
        ),
        (
            lambda: MotionTable([0.0, 1.0], [0.0, math.inf]),
            "MotionTable: positions[1] = inf rad or m must be finite; write the positions at the times in rad or m",
        ),
        (lambda: MotionSum([]), "MotionSum: terms is empty; write a list of motions"),
        (lambda: MotionSum([Hold(1.0), 2.0]), "MotionSum: terms[1] = 2.0 does not fit; write a list of motions"),
        (lambda: FunctionMotion(3.0), "FunctionMotion: function = 3.0 does not fit; write a function"),
        (
            lambda: FunctionMotion(lambda t: (t, t)).evaluate(np.zeros(4)),
            "FunctionMotion: the function answered 4 times with shape (2, 4);"
            " let it return position, rate and acceleration, each of the shape of the times",
        ),
        (
            lambda: FunctionMotion(lambda t: (t, t, t / 0.0)).evaluate(np.ones(4)),
            "FunctionMotion: the function returned inf; let it return finite numbers",
        ),
        (
            lambda: FunctionMotion(scalar_only).evaluate(np.zeros(2)),
            "FunctionMotion: the function failed for an array of 2 times (TypeError: no arrays);"
            " let it accept an array of times and return numbers",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused, np.errstate(divide="ignore"):
        build()
    assert str(refused.value) == sentence
