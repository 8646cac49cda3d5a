"""Joints of several coordinates, balls, free links and loops: what of them can be driven, and by which name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pliant.components.connect import connect, report
from pliant.components.gear_motor import GearMotor
from pliant.components.joint_torque import JointTorque
from pliant.components.kinds import Component
from pliant.components.link_wrench import TipWrench
from pliant.components.motions import Hold
from pliant.components.point_wrench import PointWrench
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.components.sampled_controller import SampledController
from pliant.components.signals import Constant, Step
from pliant.control import JointPD
from pliant.errors import InvalidInput
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.sampling import Sample
from pliant.robot import At, End
from tests.support.mixture import COORDINATES, ROBOT
from tests.support.two_link_arm import TwoLinkArm

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
    "joint 'ball' is spherical, and its coordinates start anew at every step; drive it by a"
    " JointTorque 'ball' of 3 components, prescribe ball.x, ball.y and ball.z or put a JointPD on them, all together,"
    " give it a spring, or take a universal joint"
)
FLIGHT = (
    "joint 'flight' is free and has no coordinate; drive it by a JointTorque of 6 components, prescribe flight.x to"
    " flight.turn_z or put a JointPD on them, all together, or give it a spring"
)
SIX = (0.0, 0.0, 0.0, 1.0, 2.0, 3.0)


def test_torques_on_a_ball_add_to_one_moment_on_its_child_that_reacts_on_its_parent() -> None:
    closed = connect(
        ARM, JointTorque("ball", Constant((1.0, 2.0, 3.0))), JointTorque("ball", Step((0.0, 0.0, 5.0), at=0.5))
    )
    assert closed.inputs.loads == (LoadPlace("ball", "bob", False, Frame.BODY, End.ROOT, reacts_on=At("plate")),)
    signals = closed.inputs.load_signals(np.array([0.0, 1.0]))
    np.testing.assert_array_equal(signals[:, 0], [SIX, (0.0, 0.0, 0.0, 1.0, 2.0, 8.0)])
    assert closed.inputs.breaks == (0.5,)
    assert "  ball: JointTorque (torque Constant), JointTorque (torque Step)\n" in report(closed)


def test_a_wrench_on_a_free_joint_acts_on_its_child_and_the_ground() -> None:
    closed = connect(ARM, JointTorque("flight", Constant(SIX)), JointTorque("hinge", Constant(4.0)))
    assert closed.inputs.loads == (LoadPlace("flight", "drone", False, Frame.BODY, End.ROOT),)
    np.testing.assert_array_equal(closed.inputs.load_signals(np.zeros(1))[0, 0], SIX)
    assert closed.inputs.joint_signals(np.zeros(1))[0, 2, 2] == 4.0


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        (lambda: JointPD(Hold(1.0), 1.0, 1.0, joints=["hinge", "ball.x"]), f"JointPD: {BALL}"),
        (lambda: PrescribedMotion("ball.z", Hold(1.0)), f"PrescribedMotion: {BALL}"),
        (lambda: GearMotor("ball", 1e-4, 100.0, 1e4), f"GearMotor: {BALL}"),
        (lambda: GearMotor("ball.x", 1e-4, 100.0), f"GearMotor: {BALL}"),
        (lambda: GearMotor("flight", 1e-4, 100.0), f"GearMotor: {FLIGHT}"),
        (lambda: GearMotor("flight.turn_z", 1e-4, 100.0, 1e4), f"GearMotor: {FLIGHT}"),
        (
            lambda: JointTorque("rail", Constant(1.0)),
            "JointTorque: 'rail' names no coordinate of joint 'rail'; write rail.slide or rail.turn",
        ),
        (
            lambda: JointTorque("rail.twist", Constant(1.0)),
            "JointTorque: 'rail.twist' names no coordinate of joint 'rail'; write rail.slide or rail.turn",
        ),
        (lambda: JointTorque("ball.x", Constant(1.0)), f"JointTorque: {BALL}"),
        (lambda: PrescribedMotion("flight", Hold(1.0)), f"PrescribedMotion: {FLIGHT}"),
        (
            lambda: JointTorque("ball", Constant(1.0)),
            "JointTorque of joint 'ball': the signal must have 3 components (torque x, y, z), it has 1",
        ),
        (
            lambda: JointTorque("flight", Constant((1.0, 2.0, 3.0))),
            "JointTorque of joint 'flight': the signal must have 6 components (force x, y, z and moment x, y, z),"
            " it has 3",
        ),
        (
            lambda: JointTorque("hinge", Constant((1.0, 2.0, 3.0))),
            "JointTorque of joint 'hinge': the signal must have 1 component, it has 3",
        ),
        (
            lambda: TipWrench("bob", Constant(SIX), name="ball"),
            "a load is named 'ball' like a joint; give the load another name",
        ),
        (
            lambda: TipWrench("ball", Constant(SIX)),
            "TipWrench: it gives a wrench (N, N m), but port 'ball' takes a torque (N m); name a link, such as 'sled'",
        ),
        (
            lambda: JointTorque("tether", Constant(1.0)),
            "JointTorque: joint 'tether' closes a loop, and this formulation gives it no coordinate;"
            " use PoseElement, or close the loop at another joint",
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
