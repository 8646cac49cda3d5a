"""Named ports: what a component may be joined to, and who carries it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from pliant.components.base_motion import BaseMotion
from pliant.components.bushing import Bushing
from pliant.components.connect import Connected, connect, report
from pliant.components.gear_motor import GearMotor
from pliant.components.joint_torque import JointTorque
from pliant.components.link_wrench import TipWrench
from pliant.components.motions import Hold, Quintic
from pliant.components.point_wrench import PointWrench
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.components.sampled_controller import SampledController
from pliant.components.signals import Constant, Sine
from pliant.components.spring_damper import SpringDamper
from pliant.components.wall import Wall
from pliant.control import JointPD
from pliant.errors import InvalidInput
from pliant.model.contract import Arm, Model
from pliant.model.inputs import Inputs, LoadPlace, beyond
from pliant.model.port import Frame
from pliant.model.sampling import Sample
from pliant.robot import At, End
from tests.support.two_link_arm import TwoLinkArm

ARM = TwoLinkArm()
FORCE = Constant((0.0, 0.0, -1.0, 0.0, 0.0, 0.0))
NUMBERS = st.floats(-10.0, 10.0)


def rest(sample: Sample) -> float:
    return 0.0


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.lists(NUMBERS, min_size=6, max_size=6))
def test_a_wrench_in_the_axes_of_its_frame_is_written_in_those_of_the_end_section(
    turn: tuple[float, float, float], wrench: list[float]
) -> None:
    rotation = Rotation.from_rotvec(turn)
    at = At("hand", End.ROOT, (0.1, 0.2, 0.3), rotation.as_quat(scalar_first=True))  # type: ignore[arg-type]
    steady = PointWrench(at, Constant(wrench), Frame.BODY, name="steady")
    waving = PointWrench(at, Sine(wrench, frequency=1.0), Frame.BODY, name="waving")
    inputs = connect(ARM, steady, waving).inputs
    assert inputs.loads == tuple(
        LoadPlace(name, "hand", False, Frame.BODY, End.ROOT, (0.1, 0.2, 0.3)) for name in ("steady", "waving")
    )
    expected = np.concatenate([rotation.apply(wrench[:3]), rotation.apply(wrench[3:])])
    signals = inputs.load_signals(np.array([0.0, 0.25]))
    np.testing.assert_allclose(signals[:, 0], [expected, expected], atol=1e-13)
    np.testing.assert_allclose(signals[:, 1], [0.0 * expected, expected], atol=1e-13)


def test_a_wrench_in_world_axes_does_not_ask_how_its_frame_is_turned() -> None:
    turned = At("hand", rotation=(0.0, 1.0, 0.0, 0.0))
    inputs = connect(ARM, PointWrench(turned, FORCE)).inputs
    np.testing.assert_array_equal(inputs.load_signals(np.zeros(1))[0, 0], FORCE.value)
    assert inputs.loads == (LoadPlace("hand_tip_wrench", "hand", False, Frame.WORLD),)
    assert inputs.loads == connect(ARM, TipWrench("hand", FORCE)).inputs.loads


@pytest.mark.parametrize(
    ("component", "sentence"),
    [
        (
            lambda: JointTorque("upper.tip", Constant(1.0)),
            "JointTorque: it gives a torque (N m) or force (N), but port 'upper.tip' takes a wrench (N, N m);"
            " name a joint, such as 'shoulder'",
        ),
        (
            lambda: JointTorque("upper", Constant(1.0)),
            "JointTorque: it gives a torque (N m) or force (N), but port 'upper.tip' takes a wrench (N, N m);"
            " name a joint, such as 'shoulder'",
        ),
        (
            lambda: JointPD(Hold(1.0), 1.0, 1.0, joints="lower.distributed"),
            "JointPD: it gives a torque (N m) or force (N), but port 'lower.distributed' takes a wrench"
            " (N/m, N); name a joint, such as 'shoulder'",
        ),
        (
            lambda: SampledController(rest, 0.1, joints="base"),
            "SampledController: it gives a torque (N m) or force (N), but port 'base' takes a wrench (N, N m);"
            " name a joint, such as 'shoulder'",
        ),
        (
            lambda: PrescribedMotion("base", Hold(1.0)),
            "PrescribedMotion: it gives a rate (rad/s or m/s), but port 'base' takes a twist (m/s, rad/s);"
            " name a joint, such as 'shoulder'",
        ),
        (
            lambda: TipWrench("shoulder", FORCE),
            "TipWrench: it gives a wrench (N, N m), but port 'shoulder' takes a torque (N m);"
            " name a link, such as 'upper'",
        ),
        (
            lambda: PointWrench(At("slide"), FORCE),
            "PointWrench: it gives a wrench (N, N m), but port 'slide' takes a force (N); name a link, such as 'upper'",
        ),
        (lambda: PointWrench(At("base"), FORCE), "PointWrench: at.link = 'base' is moved by no wrench; write a link"),
        (
            lambda: PointWrench(At("hand"), Constant(1.0), name="push"),
            "PointWrench 'push': the signal must have 6 components (force x, y, z and moment x, y, z), it has 1",
        ),
    ],
)
def test_consistency_errores_name_both_sides(component: Callable[[], JointTorque], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        connect(ARM, component())
    assert str(refused.value) == sentence


def test_report_lists_every_port_once() -> None:
    closed = connect(
        ARM,
        GearMotor("elbow", 1e-4, 100.0, 1e4, torque_limit=0.5),
        JointTorque("elbow", Constant(1.0)),
        SpringDamper("cable", At("upper"), At("base"), 200.0, 1.0, 0.5),
        Bushing("mount", At("upper", End.ROOT), At("base"), (1.0,) * 6),
        Wall("table", At("hand"), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 1e4),
        PointWrench(At("hand", End.ROOT), FORCE, Frame.BODY),
    )
    assert report(closed) == (
        "Connections of robot 'reacher'\n"
        "  elbow: GearMotor (at the joint inertia 1, stiffness 10000, limit 50), JointTorque (torque Constant)\n"
        "  upper.root: Bushing ('mount')\n"
        "  upper.tip: SpringDamper ('cable', stiffness 200, rest length 0.5)\n"
        "  hand.root: PointWrench (Constant 'hand_root_wrench' in body axes)\n"
        "  hand.tip: Wall ('table', stiffness 10000)\n"
        "  base: SpringDamper ('cable', stiffness 200, rest length 0.5), Bushing ('mount')\n"
        "  left unused: shoulder, slide, upper.distributed, lower.root, lower.tip, lower.distributed,"
        " finger.root, finger.tip"
    )


def test_a_wall_stays_in_the_world_while_the_base_moves() -> None:
    moved = connect(ARM, BaseMotion(x=Quintic(0.0, 1.0, 1.0)), TABLE)
    assert "  base: BaseMotion (follows Quintic)\n" in report(moved)
    assert moved.inputs.relations[0].in_world


@dataclass(frozen=True)
class ChoosyArm(TwoLinkArm):
    """Hands everything that is no drive and no load over to an arm with its joints in another order."""

    formulation: object = "choosy"

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        return beyond(inputs)

    def carrying(self, inputs: Inputs) -> Arm:
        return STRONG if self.lacking(inputs) else self


STRONG = TwoLinkArm(formulation="strong", joint_names=("slide", "elbow", "shoulder"))
CHOOSY = ChoosyArm()
SPRING = SpringDamper("cable", At("upper"), At("base"), 200.0, 1.0, 0.5)
TABLE = Wall("table", At("hand"), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 1e4)


def test_an_arm_that_carries_its_components_stays() -> None:
    closed = connect(CHOOSY, JointTorque("slide", Constant(1.0)))
    assert closed.arm is CHOOSY
    assert closed.substitution == ""


def test_an_arm_that_cannot_carry_a_component_is_replaced_and_says_so() -> None:
    closed = connect(CHOOSY, JointTorque("slide", Constant(1.0)), SPRING, TABLE)
    assert closed.arm is STRONG
    assert closed.substitution == (
        "strong computes in place of choosy, which does not carry the spring 'cable' and the wall 'table'"
    )
    assert closed.substitution in report(closed)
    np.testing.assert_array_equal(closed.inputs.joint_signals(np.zeros(1))[0, :, 2], [1.0, 0.0, 0.0])


def test_connecting_again_asks_the_arm_as_it_was_given() -> None:
    in_one, in_two = connect(CHOOSY, SPRING, TABLE), connect(connect(CHOOSY, SPRING), TABLE)
    assert in_one == in_two
    assert in_two.given is CHOOSY


def test_the_substitution_of_an_arm_itself_is_kept() -> None:
    @dataclass(frozen=True)
    class Outspoken(TwoLinkArm):
        substitution: str = "computed otherwise than asked"

    assert connect(Outspoken()).substitution == "computed otherwise than asked"


@pytest.mark.parametrize(
    "name", [name for name in sorted({*vars(Model), *vars(Arm)}) if not name.startswith("_") and name != "inputs"]
)
def test_connected_forwards_every_member_of_the_contract(name: str) -> None:
    arm = MagicMock()
    closed = Connected(arm, (), Inputs.none(0), arm)
    member = inspect.getattr_static(Arm, name)
    if isinstance(member, property):
        assert getattr(closed, name) is getattr(arm, name)
        return
    arguments = [object() for parameter in inspect.signature(member).parameters if parameter != "self"]
    assert getattr(closed, name)(*arguments) is getattr(arm, name).return_value
    getattr(arm, name).assert_called_once_with(*arguments)
