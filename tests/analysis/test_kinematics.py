"""Kinematics of arms that sag: closed forms, differences, round trips and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.experiments import closed_form
from tests.support import textbook

L1, L2 = 0.7, 0.5
BENDING = (pl.lumped.Deflection.Y, pl.lumped.Deflection.Z, pl.lumped.Deflection.TURN_Y, pl.lumped.Deflection.TURN_Z)
FORMULATIONS = [pl.GeometricallyExact(degree=5), pl.PoseElement(6), pl.Lumped(), pl.EquivalentRigidLink(), pl.Rigid()]


def rigid_arm(**choices):
    links = (
        pl.RigidLink("upper", (L1, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)),
        pl.RigidLink("lower", (L2, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)),
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", **choices),
        pl.RevoluteJoint("elbow", "upper", "lower", initial_position=0.3, **choices),
    )
    return pl.Robot("two_rods", links, joints, gravity=(0.0, -9.81, 0.0))


def sagging_arm(formulation, *components):
    """Two strips that sag by a tenth of their length, under gravity in the plane in which they move."""
    section = pl.GeneralSection(stiffness=(1e5, 4e4, 4e4, 20, 30, 25), inertia=(0.2,) * 3 + (1e-3, 2e-3, 3e-3))
    links = (pl.FlexibleLink("upper", L1, section), pl.FlexibleLink("lower", L2, section))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper"),
        pl.RevoluteJoint("elbow", "upper", "lower", initial_position=0.3),
    )
    body = pl.Payload("hand", "lower", mass=0.3, inertia=(1e-3, 1e-3, 1e-3))
    robot = pl.Robot("strips", links, joints, payloads=(body,), gravity=(0.0, -9.81, 0.0))
    return pl.connect(formulation.compile(robot), *components)


def in_the_plane(q):
    a, b = q[0], q[0] + q[1]
    position = [L1 * np.cos(a) + L2 * np.cos(b), L1 * np.sin(a) + L2 * np.sin(b), 0.0]
    jacobian = np.zeros((6, 2))
    jacobian[0] = [-position[1], -L2 * np.sin(b)]
    jacobian[1] = [position[0], L2 * np.cos(b)]
    jacobian[5] = 1.0
    return position, jacobian


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_two_rigid_rods_have_their_closed_form(formulation):
    arm = formulation.compile(rigid_arm())
    q = (0.4, 1.1)
    position, jacobian = in_the_plane(q)
    for tip in (pl.kinematics.rigid_kinematics(arm, q), pl.forward_kinematics(arm, q)):
        assert tip.position == pytest.approx(position, abs=1e-12)
        assert np.arctan2(tip.rotation[1, 0], tip.rotation[0, 0]) == pytest.approx(sum(q), abs=1e-12)
        assert tip.jacobian == pytest.approx(jacobian, abs=1e-9)
        # Yoshikawa's example: l1 l2 |sin q2|, whatever the shoulder does
        measure = pl.kinematics.manipulability(tip, rows=(0, 1))
        assert measure.measure == pytest.approx(L1 * L2 * np.sin(q[1]), rel=1e-9)
        assert measure.half_axes == pytest.approx(
            np.sqrt(np.linalg.eigvalsh(jacobian[:2] @ jacobian[:2].T))[::-1], rel=1e-9
        )
    assert pl.kinematics.manipulability(pl.kinematics.rigid_kinematics(arm, (0.4, 0.0)), rows=(0, 1)).evenness < 1e-10
    assert pl.kinematics.manipulability(pl.kinematics.rigid_kinematics(arm, q)).measure == pytest.approx(0.0, abs=1e-12)
    elbow = pl.kinematics.rigid_kinematics(arm, q, link="upper")
    assert elbow.position == pytest.approx([L1 * np.cos(q[0]), L1 * np.sin(q[0]), 0.0], abs=1e-12)
    assert elbow.jacobian[1] == pytest.approx([L1 * np.cos(q[0]), 0.0], abs=1e-9)


@pytest.mark.parametrize("angle", [0.0, 0.9])
def test_the_tip_of_a_bent_link_is_that_of_the_elastica(angle):
    """A force that turns with the joint, since it is held against the link where that was straight."""
    section = pl.GeneralSection(stiffness=(1e8,) * 3 + (1.0,) * 3, inertia=(1.0,) * 3 + (1e-3,) * 3)
    robot = pl.Robot("rod", (pl.FlexibleLink("link", 1.0, section),), (pl.RevoluteJoint("hinge", "base", "link"),))
    force = 2.0 * np.array([-np.sin(angle), np.cos(angle), 0.0])
    push = pl.TipWrench("link", pl.signals.Constant((*force, 0, 0, 0)), frame=pl.Frame.WORLD)
    model = pl.connect(pl.GeometricallyExact(degree=8).compile(robot), push)
    short, deep, slope = textbook.elastica_tip(2.0)
    tip = pl.forward_kinematics(model, [angle])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert tip.position[:2] == pytest.approx(turn @ (1.0 - short, deep), abs=1e-7)
    assert tip.deflection[:2] == pytest.approx(turn @ (-short, deep), abs=1e-7)
    assert tip.deflection[5] == pytest.approx(slope, abs=1e-7)
    # and back: the joint that brings the bent tip there
    found = pl.inverse_kinematics(model, tip.position, start=[angle - 0.3])
    assert found.reached, found.reason
    assert found.positions == pytest.approx([angle], abs=1e-8)


def differences(model, q, size=1e-4):
    columns = []
    for step in size * np.eye(len(q)):
        near, far = ([pl.forward_kinematics(model, q + part * step) for part in (scale, -scale)] for scale in (1, 2))
        column = []
        for (ahead, behind), scale in ((near, 1), (far, 2)):
            spin = (ahead.rotation - behind.rotation) @ pl.forward_kinematics(model, q).rotation.T
            turn = (spin[2, 1], spin[0, 2], spin[1, 0])
            column.append(np.append(ahead.position - behind.position, turn) / (2 * size * scale))
        columns.append((4 * column[0] - column[1]) / 3)
    return np.array(columns).T


@pytest.mark.parametrize(
    ("formulation", "tolerance"),
    [
        (pl.PoseElement(4), 1e-7),
        (pl.Lumped(4), 1e-9),
        (pl.EquivalentRigidLink(4), 1e-9),
        (pl.GeometricallyExact(degree=4), 1e-4),  # of the mesh: tips are rebuilt from strains, not carried along
        (pl.GeometricallyExact(degree=8), 1e-7),
    ],
)
def test_the_jacobian_counts_how_the_deflection_changes(formulation, tolerance):
    model = sagging_arm(formulation)
    q = np.array([0.3, 0.8])
    tip = pl.forward_kinematics(model, q)
    expected = differences(model, q)
    assert tip.jacobian == pytest.approx(expected, abs=tolerance)
    # the arm sags so far that the Jacobian of the undeformed one would not do
    assert np.abs(pl.kinematics.rigid_kinematics(model, q).jacobian - expected).max() > 0.02
    stiff, soft = (pl.kinematics.manipulability(each(model, q), rows=(0, 1)).measure for each in KINEMATICS)
    assert soft == pytest.approx(np.sqrt(np.linalg.det(expected[:2] @ expected[:2].T)), rel=10 * tolerance)
    assert abs(soft / stiff - 1.0) > 0.01


KINEMATICS = (pl.kinematics.rigid_kinematics, pl.forward_kinematics)


@pytest.mark.parametrize(
    "formulation", [pl.GeometricallyExact(degree=4), pl.PoseElement(4), pl.Lumped(3), pl.EquivalentRigidLink(3)]
)
def test_postures_found_for_a_sagging_arm_reach_their_target(formulation):
    push = pl.TipWrench("lower", pl.signals.Constant((0.6, -0.4, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.WORLD)
    model = sagging_arm(formulation, push)
    target = pl.forward_kinematics(model, (-0.5, 1.3)).position
    found = pl.inverse_kinematics(model, target)
    assert found.reached, found.reason
    again = pl.forward_kinematics(model, found.positions)
    assert again.position == pytest.approx(target, abs=1e-9)
    # the undeformed arm would miss it by far
    assert np.linalg.norm(pl.kinematics.rigid_kinematics(model, found.positions).position - target) > 0.03
    # with the elbow on the other side
    other = pl.inverse_kinematics(model, target, limits={"elbow": (-3.0, -0.05)})
    assert other.reached, other.reason
    assert other.positions[1] < -0.05
    assert other.tip.position == pytest.approx(target, abs=1e-9)


def test_a_seven_joint_arm_reaches_a_pose_in_space():
    arm = pl.GeometricallyExact(degree=3).compile(pl.load(pl.library.path("seven_joint_two_flexible")))
    q = np.array([0.4, 0.5, -0.3, 1.2, 0.2, -0.7, 0.1])
    wanted = pl.forward_kinematics(arm, q)
    assert np.linalg.norm(wanted.deflection[:3]) > 1e-3
    found = pl.inverse_kinematics(arm, wanted.position, wanted.rotation, start=q + 0.2)
    assert found.reached, found.reason
    again = pl.forward_kinematics(arm, found.positions)
    assert again.position == pytest.approx(wanted.position, abs=1e-9)
    assert again.rotation == pytest.approx(wanted.rotation, abs=1e-9)


def test_limits_of_the_robot_hold_and_what_is_out_of_reach_is_said():
    stops = pl.joints.Limits(lower=-0.5, upper=0.5, stiffness=1e3)
    arm = pl.PoseElement().compile(rigid_arm(limits=stops))
    inside = in_the_plane((0.2, 0.4))[0]
    found = pl.inverse_kinematics(arm, inside)
    assert found.reached
    assert np.all(np.abs(found.positions) <= 0.5)
    behind = pl.inverse_kinematics(arm, (-0.6, 0.1, 0.0))
    assert not behind.reached
    assert np.all(np.abs(behind.positions) <= 0.5)
    assert "at a limit; widen the limits of shoulder" in behind.reason
    far = pl.inverse_kinematics(pl.PoseElement().compile(rigid_arm()), (1.5, 0.0, 0.0))
    # the search stops where a step gains less than a thousandth
    assert far.position_error == pytest.approx(1.5 - L1 - L2, rel=5e-3)
    assert far.reason.startswith("the tip of link 'lower' stays 0.3 m from the target in the best of")
    assert "move the target into reach" in far.reason


def test_a_closed_chain_is_asked_for_the_joints_that_are_driven():
    arm = pl.PoseElement(2).compile(pl.load(pl.library.path("parallelogram")))
    with pytest.raises(pl.InvalidInput, match="name those that are driven with joints"):
        pl.forward_kinematics(arm, (0.1, 0.2))
    drives = ("right_drive", "left_drive")
    start = pl.forward_kinematics(arm, (0.0, 0.0), drives)
    moved = pl.forward_kinematics(arm, (0.05, -0.03), drives)
    middle = pl.forward_kinematics(arm, (0.025, -0.015), drives)
    change = middle.jacobian[:3] @ (0.05, -0.03)
    assert moved.position - start.position == pytest.approx(change, abs=2e-5)  # of third order in 0.05
    found = pl.inverse_kinematics(arm, moved.position, joints=drives)
    assert found.reached, found.reason
    assert found.tip.position == pytest.approx(moved.position, abs=1e-9)


def test_joint_accelerations_drive_the_modes_of_a_link_as_the_exact_beam_says():
    """Gain of a clamped mode: minus the integral of (rhoA x w + rhoI psi), by Gauss points of the exact shape."""
    robot = pl.load(pl.library.path("wang_beam"))
    C, M = robot.links[0].stiffness(0.0)[0], robot.links[0].inertia(0.0)[0]
    beam = closed_form.TimoshenkoBeam(robot.links[0].length, M[0, 0], M[5, 5], C[5, 5], C[1, 1])
    x, weights = np.polynomial.legendre.leggauss(40)
    x, weights = beam.length / 2 * (x + 1), beam.length / 2 * weights
    exact = [
        abs(float(weights @ (M[0, 0] * x * mode.deflection(x) + M[5, 5] * mode.rotation(x))))
        for mode in closed_form.natural_modes(beam, 2)
    ]
    for formulation in (pl.GeometricallyExact(degree=10), pl.PseudoSpectral(12)):
        found = pl.kinematics.vibration_controllability(formulation.compile(robot), [0.0], count=5)
        bending = np.abs(found.frequency - 9.8873) < 1e-3  # wang2017, Table 2
        assert bending.sum() == 1
        assert np.abs(found.gain[bending, 0]) == pytest.approx(exact[:1], rel=1e-6)
        assert np.abs(found.gain[np.abs(found.frequency - 61.9447) < 1e-3, 0]) == pytest.approx(exact[1:], rel=1e-6)
        # the others bend across the plane in which the hub turns: out of reach
        across = found.strength < 1e-9
        assert across.sum() >= 1
        assert found.least < 1e-9


def test_joint_torques_drive_the_modes_of_a_link_with_its_joint_free():
    """Gain of a pinned mode: the turn of its root; the rigid turn about the hinge is no vibration."""
    robot = pl.load(pl.library.path("wang_beam"))
    C, M = robot.links[0].stiffness(0.0)[0], robot.links[0].inertia(0.0)[0]
    beam = closed_form.TimoshenkoBeam(robot.links[0].length, M[0, 0], M[5, 5], C[5, 5], C[1, 1])
    exact = closed_form.natural_modes(beam, 1, root=closed_form.PINNED)[0]
    arm = pl.GeometricallyExact(degree=10).compile(robot)
    found = pl.kinematics.vibration_controllability(arm, [0.0], count=4, drive=pl.kinematics.Drive.TORQUE)
    assert found.frequency.min() > 1.0
    swings = np.abs(found.frequency / exact.frequency - 1.0) < 1e-6
    assert np.abs(found.gain[swings, 0]) == pytest.approx([abs(float(exact.rotation(0.0)))], rel=1e-6)


def test_a_stretched_arm_does_not_reach_its_vibrations_across_the_plane():
    model = sagging_arm(pl.PoseElement(4))
    found = pl.kinematics.vibration_controllability(model, (-np.pi / 2, 0.0), count=4)
    shape = np.abs(found.gain).max(axis=1)
    assert np.sum(shape < 1e-9) == 2  # hanging straight down: two modes in the plane, two across
    assert np.sum(found.strength > 0.01) == 2
    assert found.smallest_singular_value() == 0.0  # four modes, two joints
    plane = pl.kinematics.vibration_controllability(model, (-np.pi / 2, 0.0), count=1)
    assert plane.smallest_singular_value() == pytest.approx(plane.strength[0])


def round_rod(turn: float, formulation: object) -> object:
    """A rod of round section on two crossed hinges through its root, built in turned about its own axis."""
    section = pl.GeneralSection(stiffness=(1e5, 4e4, 4e4, 2e4, 25, 25), inertia=(0.2,) * 3 + (2e-3, 1e-3, 1e-3))
    hub = pl.RigidLink("hub", (0.0, 0.0, 0.0), mass=0.5, inertia=(1e-2,) * 3)
    joints = (
        pl.joints.UniversalJoint("gimbal", "base", "hub", first_axis=(0, 0, 1), second_axis=(0, 1, 0)),
        pl.FixedJoint("flange", "hub", "rod", rotation=(np.cos(turn / 2), np.sin(turn / 2), 0, 0)),
    )
    return formulation.compile(pl.Robot("round", (hub, pl.FlexibleLink("rod", L1, section)), joints))


@pytest.mark.parametrize("formulation", [pl.Lumped(4), pl.EquivalentRigidLink(4), pl.PoseElement(4)])
@pytest.mark.parametrize("drive", list(pl.kinematics.Drive))
def test_modes_of_one_frequency_are_one_space(formulation, drive):
    """However the solver lays its axes: turning the rod in its flange changes nothing that can be measured."""
    both = [
        pl.kinematics.vibration_controllability(round_rod(turn, formulation), (0, 0), count=3, drive=drive)
        for turn in (0.0, 0.4)
    ]
    for found in both:
        assert len(found.frequency) == 4  # asked for three, but bending comes in pairs
        assert found.frequency[0] > 1.0  # no rigid turn
        # the solver shifts by the slowest mode, so that rigid turns cost it no digits of the others
        assert found.frequency[1::2] == pytest.approx(found.frequency[::2], rel=1e-10)
        assert found.least > 0.01
    assert both[0].frequency == pytest.approx(both[1].frequency, rel=1e-10)
    assert both[0].strength == pytest.approx(both[1].strength, rel=1e-6)
    for pair in (slice(0, 2), slice(2, 4)):  # what a space can be driven to does not depend on its axes
        reach = [found.gain[pair].T @ found.gain[pair] for found in both]
        np.testing.assert_allclose(reach[0], reach[1], atol=1e-7 * np.abs(reach[1]).max())
    still = pl.connect(round_rod(0.4, formulation), pl.PrescribedMotion("gimbal.second", pl.motions.Hold(0.0)))
    alone = pl.kinematics.vibration_controllability(still, (0,), count=1, drive=pl.kinematics.Drive.ACCELERATION)
    assert len(alone.frequency) == 2
    assert alone.strength == pytest.approx(0.0, abs=1e-9)  # one joint cannot tell two planes apart


ADAM = {"joints": [0.3, 0.4, -0.2, 0.9], "posture": (0.5, 0.2, -0.4, 1.2)}


def adam(**change) -> object:
    """The arm of the library with point masses, whose hinges and bends no mass tells apart."""
    fields = pl.lumped.Fields(1, (*BENDING, pl.lumped.Deflection.TURN_X))
    choice = pl.Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI, pl.lumped.StationInertia.NEGLECTED)
    return choice.compile(replace(pl.load(pl.library.path("adam")), **change))


def test_point_masses_have_kinematics():
    """Turns without mass follow statically: Jacobians by differences, a way there and back, modes of the held arm."""
    arm, q = adam(), np.array(ADAM["joints"])
    tip = pl.forward_kinematics(arm, q)
    assert np.linalg.norm(tip.deflection[:3]) > 0.02
    assert tip.jacobian == pytest.approx(differences(arm, q), abs=1e-9)
    elbow = pl.forward_kinematics(arm, q, link="upper_arm")
    ahead, behind = (pl.forward_kinematics(arm, q + [0, s, 0, 0], link="upper_arm") for s in (1e-4, -1e-4))
    assert elbow.jacobian[:3, 1] == pytest.approx((ahead.position - behind.position) / 2e-4, abs=1e-7)
    target = pl.forward_kinematics(arm, ADAM["posture"])
    found = pl.inverse_kinematics(arm, target.position, start=q)
    assert found.reached, found.reason
    assert pl.forward_kinematics(arm, found.positions).position == pytest.approx(target.position, abs=1e-9)


def test_vibrations_of_point_masses_are_those_of_the_held_arm():
    """By torques they are those that rotors without weight would leave."""
    arm, q = adam(), np.array(ADAM["joints"])
    holds = [pl.PrescribedMotion(name, pl.motions.Hold(place)) for name, place in zip(arm.joint_names, q)]
    held = pl.connect(arm, *holds)
    slow = pl.modes(held, pl.equilibrium(held).state, count=4).frequency
    found = pl.kinematics.vibration_controllability(arm, q, count=4)
    assert found.frequency == pytest.approx(slow, rel=1e-9)
    assert found.least > 0.1
    # joints without mass take all stiffness from their links, one alone only some: rotors without weight show which
    with pytest.raises(pl.InvalidInput, match="'adam' vibrates with its joints free"):
        pl.kinematics.vibration_controllability(adam(gravity=(0.0, 0.0, 0.0)), q, drive=pl.kinematics.Drive.TORQUE)
    yaw = pl.connect(adam(gravity=(0.0, 0.0, 0.0)), *holds[1:])
    torque = pl.kinematics.vibration_controllability(yaw, q[:1], count=9, drive=pl.kinematics.Drive.TORQUE)
    light = pl.connect(yaw, pl.GearMotor("joint_1", rotor_inertia=1e-9, ratio=1.0))
    every = pl.modes(light, light.initial_state(q, np.zeros(4)), count=4).frequency
    assert torque.frequency == pytest.approx(every[1:], rel=1e-5)
    assert every[0] == 0.0


def test_what_makes_no_sense_is_refused_in_one_sentence():
    arm = pl.GeometricallyExact(degree=2).compile(rigid_arm())
    for message, ask in (
        ("positions has shape (3,) or is not finite; give 2", lambda: pl.kinematics.rigid_kinematics(arm, (0, 0, 0))),
        ("'shulder' is no joint coordinate", lambda: pl.forward_kinematics(arm, (0,), ("shulder",))),
        ("has no link 'hand'", lambda: pl.forward_kinematics(arm, (0, 0), link="hand")),
        (
            "mix metres and radians",
            lambda: pl.kinematics.manipulability(pl.kinematics.rigid_kinematics(arm, (0, 0)), (0, 5)),
        ),
        (
            "must be different numbers from 0 to 5",
            lambda: pl.kinematics.manipulability(pl.kinematics.rigid_kinematics(arm, (0, 0)), (6,)),
        ),
        ("is no rotation matrix", lambda: pl.inverse_kinematics(arm, (1, 0, 0), np.ones((3, 3)))),
        ("position has shape (2,)", lambda: pl.inverse_kinematics(arm, (1, 0))),
        ("starts = 0 must be at least 1", lambda: pl.inverse_kinematics(arm, (1, 0, 0), starts=0)),
        ("lies above", lambda: pl.inverse_kinematics(arm, (1, 0, 0), limits={"elbow": (1.0, 0.0)})),
        (
            "nothing of robot 'two_rods' vibrates with its joints held",
            lambda: pl.kinematics.vibration_controllability(arm, (0, 0)),
        ),
        (
            "nothing of robot 'two_rods' vibrates with its joints free",
            lambda: pl.kinematics.vibration_controllability(arm, (np.pi / 2, 0), drive=pl.kinematics.Drive.TORQUE),
        ),
    ):
        with pytest.raises(pl.InvalidInput) as refused:
            ask()
        assert message in str(refused.value)
