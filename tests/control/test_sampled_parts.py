"""Servos, loops and suppression joined to an arm: what the model is told, what is refused, what the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.components.connect import connect, report
from pliant.errors import InvalidInput
from pliant.model.sampling import ServoPlace
from pliant.robot.declared import Declared, declarations
from tests.support.strip_on_a_servo import robot
from tests.support.two_link_arm import JOINTS, TwoLinkArm

ARM = TwoLinkArm()
SERVO = pl.control.VelocityServo(2.0, 1e-3)
PAGE = Path(__file__).parents[2] / "docs" / "sampled_control.md"
SECTIONS = dict(re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", PAGE.read_text(encoding="utf-8"), re.M))


def test_a_servo_is_counted_at_the_joint() -> None:
    """[konno1996] (47) with motor rate = ratio times joint rate."""
    servo = pl.control.VelocityServo(
        gain=[0.5, 0.25],
        period=1e-3,
        sensor_gain=0.1,
        ratio=[100.0, 50.0],
        joints=["elbow", "shoulder"],
        command_limit=10.0,
        command_resolution=0.01,
        torque_limit=0.3,
        tachometer=pl.sensors.Tachometer(resolution=0.02, noise=0.001, limit=7.0),
        seed=4,
    )
    elbow, shoulder = connect(ARM, servo).inputs.servos
    assert elbow == ServoPlace(
        "elbow",
        gain=pytest.approx(100.0 * 0.5 * 0.1 * 100.0),
        period=1e-3,
        command_limit=pytest.approx(1.0),
        command_resolution=pytest.approx(1e-3),
        rate_limit=7.0,
        rate_resolution=0.02,
        rate_noise=0.001,
        torque_limit=pytest.approx(30.0),
        seed=4,
    )
    assert (shoulder.joint, shoulder.gain) == ("shoulder", pytest.approx(50.0 * 0.25 * 0.1 * 50.0))


def test_without_more_the_gain_is_that_of_the_joint() -> None:
    servos = connect(ARM, SERVO).inputs.servos
    assert [servo.joint for servo in servos] == list(JOINTS)
    assert all((servo.gain, servo.command_limit, servo.torque_limit) == (2.0, inf, inf) for servo in servos)


@pytest.mark.parametrize(
    "formulation", [pl.PseudoSpectral(degree=3), pl.PoseElement(elements=2)], ids=["linear", "pose"]
)
def test_a_servo_behind_an_elastic_gear_reads_the_rotor(formulation: pl.PseudoSpectral | pl.PoseElement) -> None:
    """Inertia times change of rate of the rotor, plus the torque of the gear, is - gain times its rate at the sample.

    The midpoint rule takes the mean of both ends for the twist of the gear.
    """
    inertia, stiffness, gain, step = 0.2, 50.0, 30.0, 1e-3
    motor = pl.GearMotor("motor", rotor_inertia=inertia / 100.0**2, ratio=100.0, stiffness=stiffness)
    closed = pl.connect(formulation.compile(robot()), motor, pl.control.VelocityServo(gain, step))
    start = closed.initial_state(np.zeros(1), np.array([0.5]))
    run = pl.simulate(closed, 0.02, pl.Gauss(order=2, step=step), initial=start)
    angle, rate = run.state("rotor")[:, 0].T
    assert np.abs(rate - run.joint_rate[:, 0]).max() > 0.1
    twist = angle - run.joint_position[:, 0]
    torque = inertia * np.diff(rate) / step + stiffness * 0.5 * (twist[1:] + twist[:-1])
    np.testing.assert_allclose(torque, -gain * rate[:-1], rtol=1e-7)


@pytest.mark.parametrize("name", ["two_link_planar", "anthropomorphic_three_link"])
def test_servos_of_library_arms_obey_their_law_in_every_sample(name: str) -> None:
    """Commands and torques follow from the states at the samples, with a delay of two; the ledger closes."""
    arm = pl.GeometricallyExact(degree=3).compile(pl.load(pl.library.path(name)))
    start = arm.layout.part(arm.initial_state(), "joint_position")
    joints, period, gain = len(start), 5e-4, np.array([5.0, 4.0, 3.0])[: len(start)]
    targets = start + 0.2
    loop = pl.control.PositionLoop([pl.motions.Hold(target) for target in targets], 4.0, 10 * period, delay=2 * period)
    closed = pl.connect(arm, pl.control.VelocityServo(gain, period), loop)
    run = pl.simulate(closed, 0.1, pl.Gauss(order=4, step=period / 2), outputs=period * np.arange(201))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    sent = 4.0 * (targets - run.joint_position[::10])
    commands = np.vstack([np.zeros((2, joints)), np.repeat(sent, 10, axis=0)])[:200]
    torques = np.hstack([run.efforts[joint] for joint in arm.joint_names])[1:]
    np.testing.assert_allclose(torques, gain * (commands - run.joint_rate[:-1]), rtol=1e-9, atol=1e-9)
    assert np.abs(torques).max() > 3.0


def test_a_run_with_servos_is_saved_and_loaded(tmp_path: Path) -> None:
    arm = pl.PseudoSpectral(degree=3).compile(robot())
    damper = pl.control.VibrationSuppression("motor", pl.sensors.StrainGauge("strip"), 1.0, 1e-2)
    closed = pl.connect(arm, SERVO, pl.control.PositionLoop(pl.motions.Hold(0.1), 4.0, 1e-2), damper)
    run = pl.simulate(closed, 0.05)
    run.save(tmp_path / "run.nc")
    np.testing.assert_array_equal(pl.load_trajectory(tmp_path / "run.nc").states, run.states)


def test_report_names_servos_and_commands() -> None:
    loop = pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2, joints="elbow")
    text = report(connect(ARM, SERVO, loop))
    assert "  shoulder: VelocityServo (at the joint gain 2, every 0.001 s)\n" in text
    assert (
        "  elbow: VelocityServo (at the joint gain 2, every 0.001 s),"
        " PositionLoop ('position_loop' commands the rate every 0.01 s)\n" in text
    )


def test_sampled_parts_have_no_linearisation() -> None:
    arm = pl.PseudoSpectral(degree=3).compile(robot())
    with pytest.raises(InvalidInput, match="the velocity servo of joint 'motor' acts at instants"):
        pl.modes(pl.connect(arm, SERVO))
    loop = pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2)
    with pytest.raises(InvalidInput, match="the sampled controller 'position_loop' acts at instants"):
        pl.linearize(pl.connect(arm, SERVO, loop))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: pl.control.VelocityServo(-1.0, 1e-3),
            "VelocityServo: gain = -1 N m/V must be at least 0;"
            " write the torque of the motor per voltage K_sp in N m/V",
        ),
        (
            lambda: pl.control.VelocityServo(1.0, 1e-3, seed=1.5),
            "VelocityServo: seed = 1.5 is no seed; write a whole number that is not negative",
        ),
        (
            lambda: pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2, delay=-1e-3),
            "PositionLoop: delay = -0.001 s must be at least 0;"
            " write the time from a call until its answer takes effect in seconds",
        ),
        (
            lambda: pl.control.VibrationSuppression("elbow", 0.5, 1.0, 1e-2),
            "VibrationSuppression: sensor = 0.5 does not fit; write a StrainGauge(...) or DeflectionSensor(...)",
        ),
        (
            lambda: connect(ARM, pl.control.VelocityServo([1.0, 2.0], 1e-3)),
            "VelocityServo: gain has 2 values for 3 joints (shoulder, elbow, slide); give one for all or one for each",
        ),
        (
            lambda: connect(ARM, pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2, joints="elbow")),
            "PositionLoop 'position_loop' commands the rate of joint 'elbow', which has no servo; connect a"
            " VelocityServo of this joint together with it",
        ),
        (
            lambda: connect(ARM, SERVO, pl.control.VelocityServo(1.0, 1e-2, joints="slide")),
            "joint 'slide' has two velocity servos; remove one VelocityServo",
        ),
        (
            lambda: connect(ARM, SERVO, pl.PrescribedMotion("slide", pl.motions.Hold(1.0))),
            "joint 'slide' is prescribed by PrescribedMotion and driven with torque by VelocityServo;"
            " remove one of the two",
        ),
        (
            lambda: connect(ARM, SERVO, *[pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2)] * 2),
            "two controllers are named 'position_loop'; give one of them another name",
        ),
        (
            lambda: connect(ARM, SERVO, pl.control.PositionLoop(pl.motions.Hold(1.0), 4.0, 1e-2, joints="elbows")),
            "PositionLoop: the arm has no joint 'elbows'; did you mean 'elbow'?",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence


@pytest.mark.parametrize("part", [pl.control.VelocityServo, pl.control.PositionLoop, pl.control.VibrationSuppression])
def test_the_page_names_every_field_with_its_unit(part: type[Declared]) -> None:
    (text,) = (text for title, text in SECTIONS.items() if f"`{part.__name__}`" in title)
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    for declaration in declarations(part):
        (row,) = (cells for cells in rows if f"`{declaration.name}`" in cells[1])
        if declaration.quantities:
            assert row[2].strip() == declaration.quantities[0].unit
