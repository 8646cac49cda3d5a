"""Joint PD: its sign, its reference and its sharing of one value among joints."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.components.connect import connect
from pliant.components.motions import Hold, Quintic
from pliant.components.signals import Constant, Sine, Step
from pliant.control import JointPD
from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from tests.support.two_link_arm import JOINTS, TwoLinkArm

ARM = TwoLinkArm()
TIMES = np.linspace(0.0, 2.0, 9)


def torque(inputs: Inputs, time: float, position: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The law as the contract states it."""
    reference, reference_rate, feedforward = inputs.joint_signals(np.array([time]))[0].T
    return feedforward - inputs.stiffness * (position - reference) - inputs.damping * (rate - reference_rate)


def test_torque_pulls_towards_the_reference_and_against_the_rate() -> None:
    inputs = connect(ARM, JointPD(Hold(1.0), 15.0, 3.0)).inputs
    np.testing.assert_array_equal(torque(inputs, 0.0, np.zeros(3), np.zeros(3)), 15.0)
    np.testing.assert_array_equal(torque(inputs, 0.0, np.ones(3), np.ones(3)), -3.0)
    assert inputs.prescribed == (False,) * 3
    assert inputs.breaks == ()


@given(st.floats(0.0, 3.0))
def test_on_the_reference_only_the_feedforward_is_left(time: float) -> None:
    move = Quintic(0.0, 1.0, 2.0)
    inputs = connect(ARM, JointPD(move, 15.0, 3.0, feedforward=Sine(2.0, 1.0))).inputs
    position, rate, _ = (np.repeat(part, 3) for part in move.evaluate(np.array([time])))
    expected = 2.0 * math.sin(2 * math.pi * time)
    np.testing.assert_allclose(torque(inputs, time, position, rate), expected, atol=1e-12)


def test_one_value_serves_all_joints() -> None:
    shared = JointPD(Hold(1.0), 4, 2, feedforward=Constant(0.5))
    spelt_out = JointPD([Hold(1.0)] * 3, np.full(3, 4.0), (2, 2, 2), joints=JOINTS, feedforward=[Constant(0.5)] * 3)
    one, other = connect(ARM, shared).inputs, connect(ARM, spelt_out).inputs
    assert (one.stiffness, one.damping) == (other.stiffness, other.damping) == ((4.0,) * 3, (2.0,) * 3)
    np.testing.assert_array_equal(one.joint_signals(TIMES), other.joint_signals(TIMES))


def test_values_follow_the_order_of_the_named_joints() -> None:
    law = JointPD([Hold(1.0), Hold(2.0)], [10, 20], [1, 2], joints=["slide", "shoulder"])
    inputs = connect(ARM, law).inputs
    assert inputs.stiffness == (20.0, 0.0, 10.0)
    assert inputs.damping == (2.0, 0.0, 1.0)
    np.testing.assert_array_equal(inputs.joint_signals(TIMES)[0, :, 0], [2.0, 0.0, 1.0])


def test_reference_and_feedforward_give_their_breaks() -> None:
    law = JointPD(Quintic(0.0, 1.0, 2.0, begin=0.5), 1.0, 1.0, feedforward=Step(1.0, at=1.0))
    assert connect(ARM, law).inputs.breaks == (0.5, 1.0, 2.5)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: JointPD(Hold(1.0), -1.0, 0.0),
            "JointPD: stiffness = -1 N m/rad must be at least 0; write the position gain in N m/rad",
        ),
        (
            lambda: JointPD(Hold(1.0), 1.0, [1.0, math.nan]),
            "JointPD: damping[1] = nan N m s/rad must be finite; write the rate gains in N m s/rad",
        ),
        (
            lambda: JointPD(1.0, 1.0, 1.0),
            "JointPD: reference = 1.0 does not fit; write a motion, such as Hold(1.0), or a list of them",
        ),
        (
            lambda: connect(ARM, JointPD(Hold(1.0), [1.0, 2.0], 1.0)),
            "JointPD: stiffness has 2 values for 3 joints (shoulder, elbow, slide); give one for all or one for each",
        ),
        (
            lambda: connect(ARM, JointPD([Hold(1.0)], 1.0, 1.0, joints=["elbow", "slide"])),
            "JointPD: reference has 1 values for 2 joints (elbow, slide); give one for all or one for each",
        ),
        (
            lambda: connect(ARM, JointPD(Hold(1.0), 1.0, 1.0, feedforward=Constant([1.0, 2.0, 3.0]))),
            "JointPD of joint 'shoulder': the signal must have 1 component, it has 3",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
