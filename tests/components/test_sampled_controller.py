"""Sampled controllers: their answers are checked, and their failures bear their name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from pliant.components.connect import connect
from pliant.components.sampled_controller import ControllerFailed, SampledCommand, SampledController
from pliant.components.sensors import Encoder, Tachometer
from pliant.control import VelocityServo
from pliant.errors import InvalidInput
from pliant.model.sampling import Sample
from tests.support.two_link_arm import JOINTS, TwoLinkArm

ARM = TwoLinkArm()
POSITIONS, RATES = np.array([1.0, 2.0, 3.0]), np.zeros(3)
SAMPLE = Sample(0.25, POSITIONS, RATES, RATES, ARM, POSITIONS, RATES, lambda stations: ARM.observe(RATES[None]))


def pull_back(sample: Sample) -> np.ndarray:
    return -sample.joint_positions


def divide(sample: Sample) -> float:
    return 1 / 0


def test_acts_on_all_joints_unless_told() -> None:
    (law,) = connect(ARM, SampledController(pull_back, 0.01)).inputs.controllers
    assert (law.name, law.period, law.joints) == ("pull_back", 0.01, JOINTS)
    np.testing.assert_array_equal(law.started()(SAMPLE), [-1.0, -2.0, -3.0])


def test_one_number_will_do_for_one_joint() -> None:
    (law,) = connect(ARM, SampledController(lambda sample: 4, 0.01, joints="elbow")).inputs.controllers
    assert law.joints == ("elbow",)
    np.testing.assert_array_equal(law.started()(SAMPLE), [4.0])


def test_an_object_with_a_memory_is_a_function_too() -> None:
    class Integrator:
        total = 0.0

        def __call__(self, sample: Sample) -> np.ndarray:
            self.total += sample.time
            return np.full(3, self.total)

    (law,) = connect(ARM, SampledController(Integrator(), 0.01)).inputs.controllers
    assert law.name == "Integrator"
    law.started()(SAMPLE)
    np.testing.assert_array_equal(law.started()(SAMPLE), 0.5)


def test_a_memory_may_begin_anew_with_every_run() -> None:
    class Counting:
        def started(self) -> Callable[[Sample], np.ndarray]:
            calls: list[float] = []

            def count(sample: Sample) -> np.ndarray:
                calls.append(sample.time)
                return np.full(3, len(calls))

            return count

    (law,) = connect(ARM, SampledController(Counting(), 0.01)).inputs.controllers
    assert law.name == "Counting"
    first, second = law.started(), law.started()
    first(SAMPLE)
    np.testing.assert_array_equal(first(SAMPLE), 2.0)
    np.testing.assert_array_equal(second(SAMPLE), 1.0)


def test_sensors_stand_between_the_sample_and_the_function() -> None:
    """What the function sees is rounded and cut, and its noise begins anew with every run."""
    seen: list[Sample] = []

    def look(sample: Sample) -> np.ndarray:
        seen.append(sample)
        return np.zeros(3)

    sensors = {"encoder": Encoder(resolution=0.4, noise=1e-9), "tachometer": Tachometer(limit=0.5)}
    (law,) = connect(ARM, SampledController(look, 0.01, **sensors, seed=2)).inputs.controllers
    moving = replace(SAMPLE, joint_rates=np.array([0.2, 3.0, -3.0]))
    law.started()(moving)
    np.testing.assert_allclose(seen[0].joint_positions, [0.8, 2.0, 3.2], atol=1e-12)
    np.testing.assert_array_equal(seen[0].joint_rates, [0.2, 0.5, -0.5])
    noisy = {"encoder": Encoder(noise=0.1), "tachometer": Tachometer(noise=0.1)}
    (law,) = connect(ARM, SampledController(look, 0.01, **noisy, seed=2)).inputs.controllers
    first, second = law.started(), law.started()
    first(SAMPLE), second(SAMPLE), first(SAMPLE)
    np.testing.assert_array_equal(seen[1].joint_positions, seen[2].joint_positions)
    np.testing.assert_array_equal(seen[1].joint_rates, seen[2].joint_rates)
    assert not np.any(seen[1].joint_positions == seen[3].joint_positions)


def test_commands_are_rates_for_servos() -> None:
    command = SampledCommand(lambda sample: [1.0, 2.0], 0.01, joints=["elbow", "slide"], name="brain", delay=0.3)
    (law,) = connect(ARM, VelocityServo(1.0, 0.001), command).inputs.commands
    assert (law.name, law.period, law.delay, law.joints) == ("brain", 0.01, 0.3, ("elbow", "slide"))
    np.testing.assert_array_equal(law.started()(SAMPLE), [1.0, 2.0])
    wrong = SampledCommand(lambda sample: [1.0, np.inf], 0.01, joints=["elbow", "slide"], name="brain")
    (law,) = connect(ARM, VelocityServo(1.0, 0.001), wrong).inputs.commands
    with pytest.raises(ControllerFailed) as failed:
        law.started()(SAMPLE)
    assert str(failed.value) == (
        "controller 'brain' answered at t = 0.25 s with inf rad/s for joint 'slide'; return finite rates"
    )


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (divide, "controller 'brain' failed at t = 0.25 s: ZeroDivisionError: division by zero"),
        (
            lambda sample: [1.0, 2.0],
            "controller 'brain' answered at t = 0.25 s with an array of shape (2,);"
            " return one torque in N m for each of shoulder, elbow, slide",
        ),
        (
            lambda sample: 1.0,
            "controller 'brain' answered at t = 0.25 s with an array of shape ();"
            " return one torque in N m for each of shoulder, elbow, slide",
        ),
        (
            lambda sample: [0.0, np.nan, 0.0],
            "controller 'brain' answered at t = 0.25 s with nan N m for joint 'elbow'; return finite torques",
        ),
    ],
)
def test_failures_name_the_controller(function: Callable[[Sample], object], sentence: str) -> None:
    (law,) = connect(ARM, SampledController(function, 0.01, name="brain")).inputs.controllers
    with pytest.raises(ControllerFailed) as failed:
        law.started()(SAMPLE)
    assert str(failed.value) == sentence


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: SampledController(pull_back, 0.0),
            "SampledController: period = 0 s must be greater than 0; write the time between two calls in seconds",
        ),
        (
            lambda: SampledController(pull_back, 0.01, encoder=0.1),
            "SampledController: encoder = 0.1 does not fit; write an Encoder(...)",
        ),
        (lambda: SampledController(3.0, 0.01), "SampledController: function = 3.0 does not fit; write a function"),
        (
            lambda: SampledController(pull_back, 0.01, joints=[]),
            "SampledController: joints = [] names no joint; write the names of the driven joints, or None for all",
        ),
        (
            lambda: SampledController(pull_back, 0.01, joints=["elbow", "elbow"]),
            "SampledController: joints names 'elbow' twice; write each joint once",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
