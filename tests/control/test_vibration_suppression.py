"""Strain and deflection fed back to the commanded rate damp the link, by as much as linear theory says."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.components.sensors import Sensor
from pliant.model.contract import Model
from tests.support.strip_on_a_servo import (
    BENDING_STIFFNESS,
    GAUGE,
    LENGTH,
    LOOP_PERIOD,
    SERVO_PERIOD,
    STRIP_MASS,
    TIP_MASS,
    SampledLinear,
    closed,
    damping_ratio,
    fitted_pole,
    robot,
)

SAMPLES = 150
TIP = pl.sensors.DeflectionSensor("strip")


def clamped_mode(arm: Model) -> float:
    """First frequency with the joint held, rad/s."""
    held = pl.connect(arm, pl.PrescribedMotion("motor", pl.motions.Hold(0.0)))
    return float(2 * np.pi * pl.modes(held, count=1).frequency[0])


def simulated(
    model: Model, sensor: Sensor, step: float = 1e-3, order: int = 4, samples: int = SAMPLES
) -> tuple[np.ndarray, np.ndarray]:
    """Joint position and reading at the samples of the controller."""
    times = LOOP_PERIOD * np.arange(samples)
    run = pl.simulate(model, LOOP_PERIOD * samples, pl.Gauss(order=order, step=step), outputs=times)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    link = model.observe(run.states, 2).link("strip")
    if sensor is GAUGE:
        return run.joint_position[:, 0], link.strain[:, 0, 5]
    across = np.einsum("ni,ni->n", link.position[:, -1] - link.position[:, 0], link.rotation[:, 0, :, 1])
    return run.joint_position[:, 0], across


def test_a_linear_arm_moves_as_linear_theory_says() -> None:
    """The pseudo-spectral arm is linear, so that its sampled loop is known exactly."""
    arm = pl.PseudoSpectral(degree=3).compile(robot())
    theory = SampledLinear.of(arm, GAUGE)
    position, reading = simulated(closed(arm, GAUGE, 1.5, 0.05), GAUGE, step=1e-4, order=8)
    expected_position, expected_reading = theory.march(1.5, 0.05, SAMPLES)
    assert np.ptp(expected_reading) > 1e-2
    np.testing.assert_allclose(position, expected_position, atol=1e-8 * 0.05)
    np.testing.assert_allclose(reading, expected_reading, atol=1e-8 * np.ptp(expected_reading))


@pytest.mark.parametrize(
    "formulation",
    [pl.PseudoSpectral(degree=6), pl.GeometricallyExact(degree=4)],
    ids=["pseudo-spectral", "geometrically exact"],
)
@pytest.mark.parametrize(("sensor", "gain"), [(GAUGE, 1.5), (TIP, 12.0)], ids=["strain", "deflection"])
def test_the_first_mode_is_damped_as_predicted(
    formulation: pl.PseudoSpectral | pl.GeometricallyExact, sensor: Sensor, gain: float
) -> None:
    """The damping ratio of the simulated decay against that of the map over one period of the controller.

    The loop swings in three modes that last, of strip, servo and their second one, beside the slow return: ten terms
    catch them all. What is left is the error of the steps in the second mode.
    """
    arm = formulation.compile(robot())
    mode = 1j * clamped_mode(arm)
    theory = SampledLinear.of(arm, sensor)
    free, damped = theory.pole(0.0, mode), theory.pole(gain, mode)
    assert damping_ratio(damped) > 3 * damping_ratio(free)
    _, reading = simulated(closed(arm, sensor, gain, 0.02), sensor)
    found = fitted_pole(reading[10:], order=10, near=damped)
    assert damping_ratio(found) == pytest.approx(damping_ratio(damped), rel=1e-4)
    assert found.imag == pytest.approx(damped.imag, rel=1e-4)


def test_the_ratio_that_one_mode_and_a_perfect_servo_would_give() -> None:
    """gain participation / (2 omega) for small gains.

    The static shape of a cantilever stands for its mode: the strip takes part with 33/140 of its mass in the motion of
    the tip and with 11/40 in its coupling to the joint. Held commands and the servo lag behind by about 9 ms, a
    quarter of a radian of this mode, which takes about 3 % of the damping.
    """
    arm = pl.PseudoSpectral(degree=6).compile(robot())
    mode = clamped_mode(arm)
    participation = LENGTH * (TIP_MASS + 11 / 40 * STRIP_MASS) / (TIP_MASS + 33 / 140 * STRIP_MASS)
    theory = SampledLinear.of(arm, TIP)
    bare = damping_ratio(theory.pole(0.0, 1j * mode))
    for gain in (0.5, 1.0, 2.0):
        gained = damping_ratio(theory.pole(gain, 1j * mode)) - bare
        assert gained == pytest.approx(gain * participation / (2 * mode), rel=0.1)


def test_too_high_a_gain_drives_the_second_mode_as_predicted() -> None:
    """A gauge at the root sees the second mode, which the held command reaches too late: it grows."""
    arm = pl.PseudoSpectral(degree=6).compile(robot())
    theory = SampledLinear.of(arm, GAUGE)
    fastest = {gain: np.abs(np.linalg.eigvals(theory.period_map(gain))).max() for gain in (6.0, 12.0)}
    assert fastest[6.0] < 1.0 < fastest[12.0]
    # so small a start that the joint does not yet move faster than any does
    _, reading = simulated(closed(arm, GAUGE, 12.0, 2e-8), GAUGE, step=1e-4, samples=101)
    grown = (np.abs(reading[100]) / np.abs(reading[50])) ** (1 / 50)
    assert grown == pytest.approx(fastest[12.0], rel=1e-4)


def test_the_slow_part_is_washed_out() -> None:
    """A lasting push at the tip turns the joint by the sag times both gains, unless that is washed out.

    At rest the servo holds the moment of the push by a commanded rate of moment / gain, for which the position loop
    asks. Every run begins with a new memory.
    """
    arm = pl.PseudoSpectral(degree=4).compile(robot())
    force, servo_gain, loop_gain, gain = 2.0, 60.0, 20.0, 15.0
    push = pl.TipWrench("strip", pl.signals.Constant((0.0, force, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY)
    servo = pl.control.VelocityServo(servo_gain, SERVO_PERIOD)
    loop = pl.control.PositionLoop(pl.motions.Hold(0.0), loop_gain, 5e-3)
    sag = force * LENGTH**3 / (3 * BENDING_STIFFNESS)
    for washout, lasting in ((None, gain * sag), (0.2, 0.0)):
        damper = pl.control.VibrationSuppression("motor", TIP, gain, 5e-3, washout=washout)
        model = pl.connect(arm, servo, loop, damper, push)
        first, again = (pl.simulate(model, until, pl.Gauss(4, 1e-3), outputs=4) for until in (1.5, 0.1))
        shorter = pl.simulate(model, 0.1, pl.Gauss(4, 1e-3), outputs=4)
        np.testing.assert_array_equal(again.states, shorter.states)
        expected = (force * LENGTH / servo_gain + lasting) / loop_gain
        # the arm still swings a little; what is told apart is 3e-3 rad
        assert first.joint_position[-1, 0] == pytest.approx(expected, abs=1e-4)
