"""Joints of several coordinates, balls, free links and loops: what of them can be driven, and by which name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.control import JointPD
from pliant.errors import InvalidInput
from pliant.model.inputs import Sample
from pliant.network import (
    Component,
    Constant,
    GearMotor,
    Hold,
    JointTorque,
    PointWrench,
    PrescribedMotion,
    SampledController,
    connect,
)
from pliant.robot import At
from tests.model.mixture import COORDINATES, ROBOT
from tests.network.two_link_arm import TwoLinkArm

ARM = TwoLinkArm(robot=ROBOT, joint_names=COORDINATES)


def rest(sample: Sample) -> np.ndarray:
    return np.zeros(3)


def test_the_coordinates_of_the_mechanism() -> None:
    assert COORDINATES == ("rail.slide", "rail.turn", "hinge", "ball.x", "ball.y", "ball.z")


def test_one_coordinate_of_several_is_driven_by_its_own_name() -> None:
    closed = connect(
        ARM,
        PrescribedMotion("rail.turn", Hold(0.5)),
        JointTorque("rail.slide", Constant(2.0)),
        GearMotor("rail.slide", 1e-4, 200.0, 1e5),
    )
    assert closed.inputs.prescribed == (False, True, False, False, False, False)
    signals = closed.inputs.joint_signals(np.zeros(1))[0]
    np.testing.assert_array_equal(signals[:2], [[0.0, 0.0, 2.0], [0.5, 0.0, 0.0]])
    assert [motor.joint for motor in closed.inputs.motors] == ["rail.slide"]


def test_a_law_for_all_joints_leaves_balls_alone() -> None:
    law, brain = JointPD(Hold(1.0), [1.0, 2.0, 3.0], 0.5), SampledController(rest, 0.01)
    inputs = connect(ARM, law, brain).inputs
    assert inputs.stiffness == (1.0, 2.0, 3.0, 0.0, 0.0, 0.0)
    assert inputs.damping == (0.5, 0.5, 0.5, 0.0, 0.0, 0.0)
    assert inputs.controllers[0].joints == ("rail.slide", "rail.turn", "hinge")


BALL = (
    "joint 'ball' is spherical, and its coordinates start anew at every step;"
    " drive a universal joint, or give this one a spring"
)


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        (lambda: JointPD(Hold(1.0), 1.0, 1.0, joints=["hinge", "ball.x"]), f"JointPD: {BALL}"),
        (lambda: PrescribedMotion("ball.z", Hold(1.0)), f"PrescribedMotion: {BALL}"),
        (lambda: GearMotor("ball", 1e-4, 100.0, 1e4), f"GearMotor: {BALL}"),
        (
            lambda: JointTorque("rail", Constant(1.0)),
            "JointTorque: 'rail' names no coordinate of joint 'rail'; write rail.slide or rail.turn",
        ),
        (
            lambda: JointTorque("rail.twist", Constant(1.0)),
            "JointTorque: 'rail.twist' names no coordinate of joint 'rail'; write rail.slide or rail.turn",
        ),
        (
            lambda: JointTorque("flight", Constant(1.0)),
            "JointTorque: joint 'flight' is free and has no coordinate;"
            " known are rail.slide, rail.turn, hinge",
        ),
        (
            lambda: JointTorque("tether", Constant(1.0)),
            "JointTorque: joint 'tether' closes a loop and has no coordinate; cut the loop at another joint",
        ),
        (
            lambda: PointWrench(At("rail"), Constant((0.0,) * 6)),
            "PointWrench: it gives a wrench (N, N m), but port 'rail.slide' takes a force (N);"
            " name a link, such as 'sled'",
        ),
    ],
)
def test_refusals(component: Callable[[], Component], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        connect(ARM, component())
    assert str(refused.value) == sentence
