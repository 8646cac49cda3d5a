"""Plant, servo and controller each at a period of their own, against the same loop in discrete time."""

from __future__ import annotations

from math import sin

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from pliant.model.sampling import noise_source
from pliant.model.state import Cause
from tests.support.rigid_loop import INERTIA, LOOP_PERIOD, SERVO_PERIOD, DiscreteLoop, rigid_arm

# letters of [konno1996] (47): the servo of the paper with a gain of 20 N m s/rad at the joint
RATIO, SENSOR, VOLTAGE_GAIN = 50.0, 0.1, 0.08
SERVO_GAIN = RATIO**2 * SENSOR * VOLTAGE_GAIN
PER_RATE = RATIO * SENSOR  # volts for one rad/s of the joint
UNTIL, SAMPLES = 0.5, 500
SWING = pl.motions.FunctionMotion(lambda t: (0.5 * np.sin(3.0 * t), 1.5 * np.cos(3.0 * t), -4.5 * np.sin(3.0 * t)))


def swing(time: float) -> float:
    return 0.5 * sin(3.0 * time)


def servo(**more: object) -> pl.control.VelocityServo:
    return pl.control.VelocityServo(VOLTAGE_GAIN, SERVO_PERIOD, sensor_gain=SENSOR, ratio=RATIO, **more)  # type: ignore[arg-type]


def loop(**more: object) -> pl.control.PositionLoop:
    return pl.control.PositionLoop(SWING, gain=4.0, period=LOOP_PERIOD, **more)  # type: ignore[arg-type]


FORMULATIONS = [pl.GeometricallyExact(degree=3), pl.PseudoSpectral(degree=3)]


def arm(rate: float = 0.0, formulation: pl.GeometricallyExact | pl.PseudoSpectral = FORMULATIONS[0]) -> Model:
    return formulation.compile(rigid_arm(rate))


def simulated(*components: object, step: float = 1e-4, rate: float = 0.0, model: Model | None = None) -> pl.Trajectory:
    """With an output at every sample of the servo."""
    closed = pl.connect(model or arm(rate), *components)  # type: ignore[arg-type]
    times = SERVO_PERIOD * np.arange(SAMPLES + 1)
    run = pl.simulate(closed, UNTIL, pl.Gauss(order=4, step=step), outputs=times)
    assert run.ending.completed, run.ending
    return run


def check(run: pl.Trajectory, expected: np.ndarray, demand: float = 1e-11) -> None:
    np.testing.assert_allclose(run.joint_position[:, 0], expected[:, 0], rtol=0.0, atol=demand)
    np.testing.assert_allclose(run.joint_rate[:, 0], expected[:, 1], rtol=0.0, atol=demand)


def rounded_to(step: float) -> object:
    return lambda value: step * round(value / step)


@pytest.mark.parametrize(
    "step", [1e-4, 3e-4, 1e-3, 7e-3], ids=["0.1 ms", "no divisor", "as the servo", "longer than the servo"]
)
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=["geometrically exact", "pseudo-spectral"])
def test_the_loop_of_three_rates(step: float, formulation: pl.GeometricallyExact | pl.PseudoSpectral) -> None:
    """The plant is exact under held torque, so that nothing but round-off is left, whatever the step."""
    expected = DiscreteLoop(4.0, SERVO_GAIN, swing).run(SAMPLES)
    assert np.ptp(expected[:, 0]) > 0.2
    check(simulated(servo(), loop(), step=step, model=arm(formulation=formulation)), expected)


@pytest.mark.parametrize("delay", [1e-3, 3.7e-3, 1e-2, 2.34e-2])
def test_a_delayed_command_is_seen_from_the_next_sample_of_the_servo_on(delay: float) -> None:
    """Shorter and longer than the period of the loop, on samples of the servo and between them."""
    expected = DiscreteLoop(4.0, SERVO_GAIN, swing, delay=delay).run(SAMPLES)
    check(simulated(servo(), loop(delay=delay)), expected)


def test_encoder_and_converter_count_in_steps() -> None:
    counts, volts = 2 * np.pi / 4096, 20.0 / 4096
    expected = DiscreteLoop(
        4.0,
        SERVO_GAIN,
        swing,
        encoder=rounded_to(counts),  # type: ignore[arg-type]
        converter=lambda rate: rounded_to(volts)(rate * PER_RATE) / PER_RATE,  # type: ignore[operator]
        meter=rounded_to(0.01),  # type: ignore[arg-type]
    ).run(SAMPLES)
    fine = DiscreteLoop(4.0, SERVO_GAIN, swing).run(SAMPLES)
    assert np.abs(fine - expected).max() > 1e-4  # counting in steps matters here
    run = simulated(
        servo(command_resolution=volts, tachometer=pl.sensors.Tachometer(resolution=0.01)),
        loop(encoder=pl.sensors.Encoder(resolution=counts)),
    )
    check(run, expected)


def test_command_rate_and_torque_are_cut_to_their_limits() -> None:
    limits = {"converter": 1.0, "meter": 0.6}  # V and rad/s
    expected = DiscreteLoop(
        4.0,
        SERVO_GAIN,
        swing,
        converter=lambda rate: float(np.clip(rate, -0.2, 0.2)),  # 1 V stands for 0.2 rad/s
        meter=lambda rate: float(np.clip(rate, -0.6, 0.6)),
        torque_limit=1.5,
    )
    states = expected.run(SAMPLES, rate=0.9)
    assert max(expected.torques) == 1.5 or min(expected.torques) == -1.5
    run = simulated(
        servo(
            command_limit=limits["converter"],
            torque_limit=1.5 / RATIO,
            tachometer=pl.sensors.Tachometer(limit=limits["meter"]),
        ),
        loop(),
        rate=0.9,
    )
    check(run, states)
    assert np.abs(run.efforts["hinge"]).max() <= 1.5 + 1e-12


def test_noise_comes_from_the_seed_and_the_name_alone() -> None:
    """The same draws in the reference give the same motion, whatever the steps and the outputs are."""
    encoders, meters = noise_source(7, "position_loop"), noise_source(3, "servo of hinge")
    expected = DiscreteLoop(
        4.0,
        SERVO_GAIN,
        swing,
        encoder=lambda angle: angle + 1e-3 * encoders.standard_normal(),
        meter=lambda rate: rate + 1e-2 * meters.standard_normal(),
    ).run(SAMPLES)
    parts = (
        servo(tachometer=pl.sensors.Tachometer(noise=1e-2), seed=3),
        loop(encoder=pl.sensors.Encoder(noise=1e-3), seed=7),
    )
    run = simulated(*parts)
    check(run, expected)
    closed = pl.connect(arm(), *parts)
    again = [pl.simulate(closed, UNTIL, pl.Gauss(4, 1e-4), outputs=count) for count in (3, 1000)]
    np.testing.assert_array_equal(again[0].states[-1], again[1].states[-1])
    np.testing.assert_array_equal(again[0].states[-1], run.states[-1])
    other = simulated(parts[0], loop(encoder=pl.sensors.Encoder(noise=1e-3), seed=8))
    assert np.abs(other.joint_position - run.joint_position).max() > 1e-5


def test_an_exact_servo_damps_as_the_sampled_double_integrator() -> None:
    """Without a command the rate falls by 1 - gain period / inertia in every sample, exactly."""
    run = simulated(servo(), rate=1.0)
    ratio = 1.0 - SERVO_GAIN * SERVO_PERIOD / INERTIA
    np.testing.assert_allclose(run.joint_rate[:40, 0], ratio ** np.arange(40), rtol=1e-10)


def test_the_ledger_shows_what_the_servo_supplies() -> None:
    """Held torque times the turn of the joint between two samples, summed."""
    reference = DiscreteLoop(4.0, SERVO_GAIN, swing)
    expected = reference.run(SAMPLES)
    run = simulated(servo(), loop())
    work = np.cumsum(np.array(reference.torques) * np.diff(expected[:, 0]))
    np.testing.assert_allclose(run.ledger.works["hinge"][1:], work, atol=1e-9)
    np.testing.assert_allclose(run.ledger.kinetic, 0.5 * INERTIA * expected[:, 1] ** 2, atol=1e-9)
    assert run.ledger.worst_ratio < 1e-10


def test_a_failing_command_ends_the_run_as_a_value() -> None:
    def command(sample: pl.control.Sample) -> float:
        return np.nan if sample.time > 0.1 else 0.3

    closed = pl.connect(arm(), servo(), pl.control.SampledCommand(command, LOOP_PERIOD))
    run = pl.simulate(closed, UNTIL, pl.Gauss(4, 1e-3))
    assert run.ending.cause is Cause.CONTROLLER
    assert "controller 'command', which answered at t = 0.11 s with nan rad/s for joint 'hinge'" in run.ending.place
    assert run.time[-1] == pytest.approx(0.11, abs=1e-12)
    assert np.isfinite(run.states).all()
    assert run.ledger.worst_ratio < 1e-10
