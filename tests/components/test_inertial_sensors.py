"""Accelerometers and inertial units: rest, steady rotation, free fall, and second differences of positions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.components.kinds import Component
from pliant.model.contract import Model
from pliant.model.sampling import Sample
from tests.contract.formulations import KINDS, LENGTH, SWING, Kind, swing

G = 9.81
IMU = pl.sensors.Imu("link")


class Notes:
    """What the sensors read at every sample; no torque."""

    def __init__(self) -> None:
        self.time: list[float] = []
        self.read: list[np.ndarray] = []

    def __call__(self, sample: Sample) -> float:
        self.time.append(sample.time)
        self.read.append(np.concatenate([np.atleast_1d(each) for each in sample.readings]))
        return 0.0


def readings(
    model: Model, *parts: Component, sensors: list[pl.sensors.Sensor], until: float, step: float, period: float
) -> np.ndarray:
    """(samples, numbers)"""
    notes = Notes()
    joint = [model.joint_names[-1]] if model.joint_names else None
    closed = pl.connect(model, *parts, pl.control.SampledController(notes, period, joint, sensors=sensors))
    run = pl.simulate(closed, until, pl.Gauss(2, step), outputs=2)
    assert run.ending.completed, run.ending
    return np.array(notes.read)


def turned(axis: tuple[float, float, float], rate: float = 0.0, gravity: float = G) -> pl.Robot:
    """A stiff bar along x on a hinge, turned out of the horizontal by 0.5 rad about the axis of the hinge."""
    bar = pl.RigidLink("link", (LENGTH, 0.0, 0.0), mass=2.0, center_of_mass=(0.3, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    hinge = pl.RevoluteJoint("hinge", "base", "link", axis=axis, initial_position=0.5, initial_rate=rate)
    return pl.Robot("bar", (bar,), (hinge,), gravity=(0.0, 0.0, -gravity))


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PoseElement(), pl.GeometricallyExact()], ids=str)
def test_at_rest_it_reads_what_is_up(formulation: pl.Rigid) -> None:
    """A turn by 0.5 about -y lifts x: up is (sin, 0, cos) in the axes of the bar."""
    arm = formulation.compile(turned((0.0, -1.0, 0.0)))
    held = pl.JointPD(pl.motions.Hold(0.5), 1e4, 100.0)
    balance = pl.JointTorque("hinge", pl.signals.Constant(2.0 * G * 0.3 * np.cos(0.5)))
    seen = readings(arm, held, balance, sensors=[IMU], until=5e-3, step=1e-3, period=1e-3)
    up = np.array([G * np.sin(0.5), 0.0, G * np.cos(0.5), 0.0, 0.0, 0.0])
    np.testing.assert_allclose(seen, np.tile(up, (len(seen), 1)), atol=1e-9)


@pytest.mark.parametrize("station", [0.5, 1.0])
def test_steady_rotation_reads_the_centripetal_acceleration(station: float) -> None:
    arm = pl.Rigid().compile(turned((0.0, 0.0, 1.0), rate=3.0, gravity=0.0))
    imu = pl.sensors.Imu("link", station)
    seen = readings(arm, sensors=[imu], until=0.02, step=1e-3, period=5e-3)
    wanted = [-(3.0**2) * station * LENGTH, 0.0, 0.0, 0.0, 0.0, 3.0]
    np.testing.assert_allclose(seen, np.tile(wanted, (len(seen), 1)), atol=1e-9)


@pytest.mark.parametrize("formulation", [pl.PoseElement(), pl.Corotational()], ids=str)
def test_free_fall_reads_nothing(formulation: pl.PoseElement) -> None:
    """A body that does not spin; at the first sample nothing has moved yet, and gravity alone is read."""
    body = pl.RigidLink("link", (LENGTH, 0.0, 0.0), mass=2.0, inertia=(0.1, 0.1, 0.1))
    rotor = pl.RigidLink("rotor", (0.1, 0.0, 0.0), mass=0.1, inertia=(0.01, 0.01, 0.01))
    joints = (pl.joints.FreeJoint("free", "base", "link"), pl.RevoluteJoint("axle", "link", "rotor"))
    arm = formulation.compile(pl.Robot("falling", (body, rotor), joints, gravity=(0.0, 0.0, -G)))
    seen = readings(arm, sensors=[IMU], until=0.02, step=1e-3, period=5e-3)
    np.testing.assert_allclose(seen[1:], 0.0, atol=1e-8)


def test_second_differences_of_a_vibrating_link() -> None:
    """Errors fall with the square of the step, as those of the midpoint rule and of the parabola do."""
    arm = pl.PseudoSpectral(degree=4).compile(SWING)
    held = pl.JointPD(pl.motions.Hold(0.4), stiffness=30.0, damping=0.5)
    fine, samples = 2e-4, 0.01 * np.arange(1, 5)
    times = np.sort(np.concatenate([samples - fine, samples, samples + fine]))
    truth = pl.simulate(pl.connect(arm, held), 0.05, pl.Gauss(6, 2.5e-4), outputs=np.append(0.0, times))
    x = truth.tip_position[1:].reshape(-1, 3, 3)
    acceleration = (x[:, 2] - 2.0 * x[:, 1] + x[:, 0]) / fine**2 + [0.0, 0.0, G]
    R = truth.tip_rotation[1:].reshape(-1, 3, 3, 3)[:, 1]
    wanted = np.einsum("nji,nj->ni", R, acceleration)
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        seen = readings(arm, held, sensors=[IMU], until=0.05, step=step, period=0.01)
        errors.append(np.abs(seen[1:, 1] - wanted[:, 1]).max())
    assert errors[0] < 0.2 * np.abs(wanted[:, 1]).max()
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.6).all(), (orders, errors)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_formulation(kind: Kind) -> None:
    """The arm starts as a rigid body with the rate of its hinge, and the two sensors agree."""
    one = pl.sensors.Accelerometer("link", pl.sensors.Axis.Y)
    seen = readings(swing(kind), sensors=[IMU, one], until=4e-3, step=1e-3, period=2e-3)
    assert np.isfinite(seen).all()
    assert np.array_equal(seen[:, 1], seen[:, 6])
    # the tip of a linear arm is turned by the sag about which it is linear
    assert np.linalg.norm(seen[0, 3:6]) == pytest.approx(0.6, rel=1e-6)


def test_bias_range_resolution_noise_and_own_period() -> None:
    arm = pl.Rigid().compile(turned((0.0, 0.0, 1.0), rate=3.0))
    settings = {"force_bias": (0.1, 0.0, 0.0), "force_limit": 8.0, "rate_resolution": 0.4, "rate_bias": (0.0, 0.3, 0.0)}
    run: Callable[..., np.ndarray] = lambda **more: readings(  # noqa: E731
        arm, sensors=[pl.sensors.Imu("link", **more)], until=0.02, step=1e-3, period=2e-3
    )
    seen = run(**settings)
    # 0.3 is nearest to 1 x 0.4; 3.0 lies between 7 and 8 x 0.4, and the even one counts
    wanted = [-(3.0**2) * LENGTH + 0.1, 0.0, 8.0, 0.0, 0.4, 3.2]
    np.testing.assert_allclose(seen, np.tile(wanted, (len(seen), 1)), atol=1e-9)
    noisy = run(force_noise=0.1, rate_noise=0.01)
    assert np.array_equal(noisy, run(force_noise=0.1, rate_noise=0.01))
    spread = noisy - run()
    assert 0.03 < spread[:, :3].std() < 0.3
    assert 0.003 < spread[:, 3:].std() < 0.03
    slow = run(force_noise=0.1, period=6e-3)
    assert [int(np.argmax((slow == row).all(axis=1))) for row in slow] == [0, 0, 0, 3, 3, 3, 6, 6, 6, 9]


def test_a_link_that_is_not_there() -> None:
    arm = pl.Rigid().compile(turned((0.0, 0.0, 1.0)))
    for sensor in (pl.sensors.Imu("lnk"), pl.sensors.Accelerometer("lnk")):
        with pytest.raises(pl.InvalidInput, match="no link 'lnk'; did you mean 'link'"):
            pl.connect(arm, pl.control.SampledController(Notes(), 0.01, sensors=[sensor]))
