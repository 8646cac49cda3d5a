"""Connecting: what the model is told, what is refused, what the report says."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.components.base_motion import BaseMotion
from pliant.components.connect import connect, report
from pliant.components.joint_torque import JointTorque
from pliant.components.kinds import Component
from pliant.components.link_wrench import DistributedWrench, TipWrench
from pliant.components.motions import BangBang, Hold, Quintic
from pliant.components.point_wrench import PointWrench
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.components.sampled_controller import SampledController
from pliant.components.signals import Constant, FunctionSignal, SignalTable, Sine, Step
from pliant.components.spring_damper import SpringDamper
from pliant.control import JointPD
from pliant.errors import InvalidInput
from pliant.model.contract import Model, NewtonTolerance, Run
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.sampling import Sample
from pliant.model.stage_method import gauss_collocation
from pliant.robot import At
from tests.support.two_link_arm import TwoLinkArm

ARM = TwoLinkArm()
TIMES = np.linspace(0.0, 3.0, 31)
FORCE = Constant((0.0, 0.0, -1.0, 0.0, 0.0, 0.0))


def rest(sample: Sample) -> list[float]:
    return [0.0] * 3


def test_arm_and_connected_arm_are_models() -> None:
    assert isinstance(ARM, Model)
    assert isinstance(connect(ARM), Model)


@pytest.mark.parametrize(
    "name", ["GeometricallyExact", "Lumped", "MixedElement", "PoseElement", "PseudoSpectral", "Rigid"]
)
def test_models_print_as_what_they_are(name: str) -> None:
    formulation = getattr(pl, name)()
    arm = formulation.compile(pl.load(pl.library.path("steel_strip")))
    first, *lines = repr(arm).splitlines()
    assert first == f"{name} model of robot 'steel_strip'"
    assert lines[0].startswith(f"  formulation: {name}(")
    assert lines[1] == "  joints: hub"
    assert lines[2].startswith(f"  state: {arm.layout.size} numbers (")
    closed = connect(arm, PrescribedMotion("hub", Hold(1.0)), TipWrench("strip", FORCE, name="push"))
    assert repr(closed).splitlines() == [
        f"{first}, connected",
        "  components: PrescribedMotion (hub), TipWrench (push)",
        *lines,
    ]
    assert closed._repr_html_().count("<tr>") == 4


def test_a_model_that_took_the_place_of_another_says_so() -> None:
    robot = pl.load(pl.library.path("parallelogram"))
    damped = replace(robot, loops=(replace(robot.loops[0], damping=0.1),))
    assert repr(pl.GeometricallyExact().compile(damped)).splitlines()[-1] == (
        "  substitution: pose elements were chosen because loop joint 'far_corner' has a spring, damping, friction or"
        " limits"
    )


def test_connected_passes_every_question_on_to_the_arm() -> None:
    closed = connect(ARM, PrescribedMotion("elbow", Hold(1.0)))
    states = np.arange(6.0).reshape(2, 3)
    assert (closed.robot, closed.formulation, closed.layout) == (ARM.robot, ARM.formulation, ARM.layout)
    assert (closed.ports, closed.joint_names) == (ARM.ports, ARM.joint_names)
    assert closed.highest_order == ARM.highest_order
    np.testing.assert_array_equal(closed.initial_state(), 7.0)
    np.testing.assert_array_equal(closed.initial_state(np.ones(3), np.zeros(3)), 1.0)
    np.testing.assert_array_equal(closed.observe(states, stations=5).tip_position, 5.0)
    np.testing.assert_array_equal(closed.energy(states), ARM.energy(states))
    grid = np.array([0.0, 0.5])
    run = Run(states[0], grid, grid[1:], closed.inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    with pytest.raises(AssertionError, match="nobody advances it here"):
        closed.stepper(run)
    record = ARM.record(run)
    np.testing.assert_array_equal(closed.consistency_error(record).twist, 0.5)


def test_nothing_connected_means_nothing_driven() -> None:
    inputs = connect(ARM).inputs
    assert inputs.prescribed == (False,) * 3
    assert inputs.stiffness == inputs.damping == (0.0,) * 3
    assert not inputs.joint_signals(TIMES).any()
    assert inputs.load_signals(TIMES).shape == (31, 0, 6)
    assert (inputs.loads, inputs.breaks, inputs.controllers) == ((), (), ())


def test_prescribed_joint_gets_position_rate_and_acceleration() -> None:
    motion = BangBang(0.0, 2.0, 2.5)
    inputs = connect(ARM, PrescribedMotion("elbow", motion)).inputs
    assert inputs.prescribed == (False, True, False)
    signals = inputs.joint_signals(TIMES)
    np.testing.assert_array_equal(signals[:, 1], np.transpose(motion.evaluate(TIMES)))
    assert not signals[:, [0, 2]].any()
    assert inputs.breaks == (0.0, 1.25, 2.5)


def test_torques_on_one_joint_add() -> None:
    values = Constant(1.5), Constant(0.5), Step(1.0, at=1.0), Step(2.0, at=1.0)
    signals = connect(ARM, *(JointTorque("slide", value) for value in values)).inputs.joint_signals(
        np.array([0.5, 1.5])
    )
    np.testing.assert_array_equal(signals[:, 2], [[0.0, 0.0, 2.0], [0.0, 0.0, 5.0]])


def test_loads_keep_their_order_place_and_frame() -> None:
    moving = Sine((0.0, 1.0, 0.0, 0.0, 0.0, 0.0), frequency=0.1)
    closed = connect(
        ARM,
        TipWrench("hand", moving, frame=Frame.BODY, name="push"),
        DistributedWrench("upper", FORCE),
        TipWrench("upper", FORCE),
    )
    assert closed.inputs.loads == (
        LoadPlace("push", "hand", False, Frame.BODY),
        LoadPlace("upper_distributed_wrench", "upper", True, Frame.WORLD),
        LoadPlace("upper_tip_wrench", "upper", False, Frame.WORLD),
    )
    wrenches = closed.inputs.load_signals(TIMES)
    np.testing.assert_array_equal(wrenches[:, 0], moving.evaluate(TIMES))
    np.testing.assert_array_equal(wrenches[:, 1:], np.broadcast_to(FORCE.value, (31, 2, 6)))


def test_connecting_again_adds() -> None:
    first, second = PrescribedMotion("shoulder", Quintic(0.0, 1.0, 1.0)), TipWrench("hand", FORCE)
    assert connect(connect(ARM, first), second) == connect(ARM, first, second)
    with pytest.raises(InvalidInput, match="prescribed twice"):
        connect(connect(ARM, first), first)


def test_breaks_come_from_all_components() -> None:
    closed = connect(
        ARM,
        PrescribedMotion("shoulder", Quintic(0.0, 1.0, 0.1, begin=0.2)),
        JointTorque("elbow", Step(1.0, at=0.3)),
        TipWrench("hand", SignalTable((0.0, 5.0), np.zeros((2, 6)))),
    )
    np.testing.assert_allclose(closed.inputs.breaks, [0.0, 0.2, 0.3, 5.0])


def test_all_times_are_evaluated_in_one_call() -> None:
    calls: list[int] = []

    def watched(times: np.ndarray) -> np.ndarray:
        calls.append(len(times))
        return np.zeros(len(times))

    inputs = connect(ARM, JointTorque("elbow", FunctionSignal(watched))).inputs
    calls.clear()
    inputs.joint_signals(np.linspace(0.0, 1.0, 20_000))
    assert calls == [20_000]


def test_inputs_can_travel_to_another_process() -> None:
    components = (
        PrescribedMotion("elbow", Quintic(0.0, 1.0, 1.0)),
        TipWrench("hand", FORCE),
        PointWrench(At("upper", rotation=(0.6, 0.8, 0.0, 0.0)), Sine(FORCE.value, 1.0), frame=Frame.BODY),
        SpringDamper("cable", At("base"), At("hand"), 1.0, 0.0, 0.0),
        BaseMotion(x=Quintic(0.0, 1.0, 1.0)),
    )
    inputs = connect(ARM, *components).inputs
    copy = pickle.loads(pickle.dumps(inputs))
    assert copy.relations == inputs.relations
    np.testing.assert_array_equal(copy.base_motion(TIMES).position, inputs.base_motion(TIMES).position)
    np.testing.assert_array_equal(copy.joint_signals(TIMES), inputs.joint_signals(TIMES))
    np.testing.assert_array_equal(copy.load_signals(TIMES), inputs.load_signals(TIMES))


class Shapeless:
    """A user's own source that answers with the wrong shape."""

    breaks = ()

    def evaluate(self, times: np.ndarray) -> np.ndarray:
        return np.zeros((3, 1))


class Drift:
    """A user's own motion."""

    breaks = (1.0,)

    def evaluate(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return times, np.ones_like(times), np.zeros_like(times)


def test_a_users_own_motion_is_welcome() -> None:
    inputs = connect(ARM, PrescribedMotion("slide", Drift())).inputs
    np.testing.assert_array_equal(inputs.joint_signals(TIMES)[:, 2, 0], TIMES)
    assert inputs.breaks == (1.0,)


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (
            lambda: [PrescribedMotion("elbwo", Hold(1.0))],
            "PrescribedMotion: the arm has no joint 'elbwo'; did you mean 'elbow'?",
        ),
        (
            lambda: [JointTorque("knee", Constant(1.0))],
            "JointTorque: the arm has no joint 'knee'; write one of shoulder, elbow, slide",
        ),
        (
            lambda: [JointPD(Hold(1.0), 1.0, 1.0, joints="weld")],
            "JointPD: joint 'weld' is fixed and has no degree of freedom; write one of shoulder, elbow, slide",
        ),
        (
            lambda: [SampledController(rest, 0.01, joints=["shoulder", "elbows"])],
            "SampledController: the arm has no joint 'elbows'; did you mean 'elbow'?",
        ),
        (lambda: [TipWrench("uper", FORCE)], "TipWrench: the arm has no link 'uper'; did you mean 'upper'?"),
        (
            lambda: [DistributedWrench("hand", FORCE)],
            "DistributedWrench: link 'hand' is rigid and has no length to spread a load along; use a TipWrench",
        ),
        (
            lambda: [PrescribedMotion("elbow", Hold(1.0)), JointPD(Hold(1.0), 1.0, 1.0)],
            "joint 'elbow' is prescribed by PrescribedMotion and driven with torque by JointPD; remove one of the two",
        ),
        (
            lambda: [SampledController(rest, 0.01), PrescribedMotion("slide", Hold(1.0))],
            "joint 'slide' is prescribed by PrescribedMotion and driven with torque by SampledController;"
            " remove one of the two",
        ),
        (
            lambda: [PrescribedMotion("elbow", Hold(1.0)), PrescribedMotion("elbow", Hold(2.0))],
            "joint 'elbow' is prescribed twice; add the two motions with MotionSum or remove one",
        ),
        (
            lambda: [JointPD(Hold(1.0), 1.0, 1.0), JointPD(Hold(1.0), 1.0, 1.0, joints="slide")],
            "joint 'slide' has two feedback laws; put their gains into one JointPD",
        ),
        (
            lambda: [TipWrench("hand", FORCE), TipWrench("hand", FORCE)],
            "two loads are named 'hand_tip_wrench'; give one of them another name",
        ),
        (
            lambda: [TipWrench("hand", FORCE, name="elbow")],
            "a load is named 'elbow' like a joint; give the load another name",
        ),
        (
            lambda: [SampledController(rest, 0.01), SampledController(rest, 0.02)],
            "two controllers are named 'rest'; give one of them another name",
        ),
        (
            lambda: [TipWrench("hand", Constant(1.0))],
            "TipWrench 'hand_tip_wrench': the signal must have 6 components (force x, y, z and"
            " moment x, y, z),"
            " it has 1",
        ),
        (
            lambda: [JointTorque("elbow", FORCE)],
            "JointTorque of joint 'elbow': the signal must have 1 component, it has 6",
        ),
        (
            lambda: [PrescribedMotion("elbow", Shapeless())],
            "PrescribedMotion of joint 'elbow': Shapeless is no motion; let its evaluate return position, rate and"
            " acceleration,"
            " each of the shape of the times",
        ),
        (
            lambda: [PrescribedMotion("elbow", Constant(1.0))],
            "PrescribedMotion of joint 'elbow': Constant is no motion; let its evaluate return position, rate and"
            " acceleration,"
            " each of the shape of the times",
        ),
        (
            lambda: [JointTorque("elbow", Quintic(0.0, 1.0, 1.0))],
            "JointTorque of joint 'elbow': Quintic is no signal;"
            " let its evaluate return an array with one value,"
            " or one row of values, for each time",
        ),
        (
            lambda: [PrescribedMotion("elbow", 1.0)],
            "PrescribedMotion: motion = 1.0 does not fit; write a motion, such as Hold(1.0)",
        ),
        (
            lambda: [JointTorque("elbow", 2.0)],
            "JointTorque: signal = 2.0 does not fit; write a signal, such as Constant(2.0)",
        ),
        (
            lambda: [TipWrench("hand", FORCE, frame=Frame.JOINT)],
            "TipWrench: frame = joint has no meaning for a load on a link; write world or body",
        ),
    ],
)
def test_refusals(components: Callable[[], list[Component]], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        connect(ARM, *components())
    assert str(refused.value) == sentence


def test_report_names_users_and_what_is_left() -> None:
    closed = connect(
        ARM,
        PrescribedMotion("shoulder", Quintic(0.0, 1.0, 1.0)),
        JointPD(Hold(1.0), 15.0, 3.0, joints="elbow", feedforward=Constant(0.5)),
        SampledController(rest, 0.01, joints="elbow", name="brain"),
        TipWrench("hand", FORCE, name="push"),
    )
    assert report(closed) == (
        "Connections of robot 'reacher'\n"
        "  shoulder: PrescribedMotion (follows Quintic)\n"
        "  elbow: JointPD (stiffness 15, damping 3, reference Hold), JointPD (torque Constant),"
        " SampledController ('brain' every 0.01 s)\n"
        "  hand.tip: TipWrench (Constant 'push' in world axes)\n"
        "  left unused: slide, upper.root, upper.tip, upper.distributed, lower.root, lower.tip,"
        " lower.distributed, hand.root, finger.root, finger.tip, base"
    )
    assert "no component is connected" in report(connect(ARM))
