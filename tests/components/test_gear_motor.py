"""Gear motors: the rotor as seen at the joint, and what may drive it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.components.connect import connect, report
from pliant.components.gear_motor import GearMotor
from pliant.components.joint_torque import JointTorque
from pliant.components.motions import Hold
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.components.signals import Constant
from pliant.control import JointPD
from pliant.errors import InvalidInput
from tests.support.two_link_arm import TwoLinkArm

ARM = TwoLinkArm()
SIZES = st.floats(1e-6, 1e6)
MOTOR = GearMotor("elbow", rotor_inertia=1e-4, ratio=100.0, stiffness=1e4)


@given(SIZES, st.floats(1e-3, 1e3), SIZES, st.floats(-10.0, 10.0))
def test_rotor_has_the_same_energy_and_power_seen_from_the_joint(
    inertia: float, ratio: float, limit: float, joint_rate: float
) -> None:
    (place,) = connect(ARM, GearMotor("elbow", inertia, ratio, 1e4, torque_limit=limit)).inputs.motors
    rotor_rate = ratio * joint_rate
    assert place.rotor_inertia * joint_rate**2 == pytest.approx(inertia * rotor_rate**2, rel=1e-12)
    assert place.torque_limit * joint_rate == pytest.approx(limit * rotor_rate, rel=1e-12)


@given(SIZES, st.floats(0.0, 1e6))
def test_the_gear_is_given_at_the_joint(stiffness: float, damping: float) -> None:
    (place,) = connect(ARM, GearMotor("slide", 1e-4, 50.0, stiffness, damping)).inputs.motors
    assert (place.joint, place.stiffness, place.damping) == ("slide", stiffness, damping)
    assert math.isinf(place.torque_limit)


def test_without_a_stiffness_the_gear_is_rigid() -> None:
    closed = connect(ARM, GearMotor("elbow", 1e-4, 100.0))
    (place,) = closed.inputs.motors
    assert (place.stiffness, place.damping) == (0.0, 0.0)  # 0 stands for rigid
    assert "  elbow: GearMotor (at the joint inertia 1, rigid gear)\n" in report(closed)


def test_drives_keep_the_units_of_the_joint_beside_a_motor() -> None:
    drives = (JointPD(Hold(1.0), 15.0, 3.0), JointTorque("elbow", Constant(2.0)))
    with_motor, without = connect(ARM, *drives, MOTOR).inputs, connect(ARM, *drives).inputs
    assert (with_motor.stiffness, with_motor.damping) == (without.stiffness, without.damping)
    assert with_motor.prescribed == (False,) * 3


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: connect(ARM, MOTOR, GearMotor("elbow", 1e-3, 50.0, 1e3)),
            "joint 'elbow' has two motors; remove one GearMotor",
        ),
        (
            lambda: connect(ARM, MOTOR, PrescribedMotion("elbow", Hold(1.0))),
            "joint 'elbow' is prescribed by PrescribedMotion and driven by a GearMotor;"
            " remove one of the two, or let a JointPD drive the motor",
        ),
        (
            lambda: connect(ARM, GearMotor("weld", 1e-4, 100.0, 1e4)),
            "GearMotor: joint 'weld' is fixed and has no degree of freedom; write one of shoulder, elbow, slide",
        ),
        (
            lambda: connect(ARM, GearMotor("upper.tip", 1e-4, 100.0, 1e4)),
            "GearMotor: it gives a torque (N m) or force (N), but port 'upper.tip' takes a wrench (N, N m);"
            " name a joint, such as 'shoulder'",
        ),
        (
            lambda: GearMotor("elbow", 0.0, 100.0, 1e4),
            "GearMotor: rotor_inertia = 0 kg m^2 must be greater than 0;"
            " write the inertia of the rotor about its axis in kg m^2",
        ),
        (
            lambda: GearMotor("elbow", 1e-4, -100.0, 1e4),
            "GearMotor: ratio = -100 must be greater than 0; write the turns of the rotor for one of the joint",
        ),
        (
            lambda: GearMotor("elbow", 1e-4, 100.0, 0.0),
            "GearMotor: stiffness = 0 N m/rad must be greater than 0;"
            " write the torque at the joint per twist of the gear in N m/rad",
        ),
        (
            lambda: GearMotor("elbow", 1e-4, 100.0, damping=2.0),
            "GearMotor: damping = 2 N m s/rad has no effect in a rigid gear; write a stiffness in N m/rad as well",
        ),
        (
            lambda: GearMotor("elbow", 1e-4, 100.0, 1e4, torque_limit=0.0),
            "GearMotor: torque_limit = 0 N m must be greater than 0; write the largest torque of the motor in N m",
        ),
        (
            lambda: GearMotor("el bow", 1e-4, 100.0, 1e4),
            "GearMotor: joint = 'el bow' is not a name; write the name of the joint or of its coordinate",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
