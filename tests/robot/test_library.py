"""The arms of the library carry the numbers of their sources."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant.library as library
import pliant.robot as r
from pliant.errors import InvalidInput


def arm(name: str) -> r.Robot:
    return r.load(library.path(name))


def flexible(robot: r.Robot, name: str) -> r.FlexibleLink:
    link = robot.link(name)
    assert isinstance(link, r.FlexibleLink)
    return link


def test_names() -> None:
    assert {
        "macchelli_link",
        "damic_two_link",
        "l_frame",
        "steel_strip",
        "rubber_pendulum",
        "wang_beam",
        "two_link_planar",
        "anthropomorphic_three_link",
        "seven_joint_two_flexible",
        "parallelogram",
        "adam",
    } <= set(library.names())
    with pytest.raises(
        InvalidInput, match=r"'steel_stripe' is not an arm of the library; did you mean 'steel_strip'\?"
    ):
        library.path("steel_stripe")


@pytest.mark.parametrize("name", library.names())
def test_arm_loads_round_trips_and_states_its_source(name: str) -> None:
    robot = arm(name)
    assert robot.name == name
    assert r.loads(r.dump(robot)) == robot
    header = library.path(name).read_text().split("pliant: 1")[0]
    assert re.search(r"\[[a-z]+[0-9]{4}\]|our choice", header)


def test_macchelli_link() -> None:
    # Table I of [macchelli2007]: the compliances C_t and C_o are inverted.
    link = flexible(arm("macchelli_link"), "link")
    compliance = np.diag([1e-5, 5e-3, 5e-3, 5e-3, 5e-3, 5e-3])
    assert link.stiffness(0)[0] @ compliance == pytest.approx(np.eye(6), rel=1e-14)
    assert np.diag(link.inertia(0)[0]) == pytest.approx([0.1, 0.1, 0.1, 0.05, 0.005, 0.05])


@pytest.mark.parametrize(
    ("name", "area", "moment", "mass"), [("inner", 3.84e-4, 1.5e-7, 8.4993), ("outer", 7.3e-5, 8.218e-9, 1.6158)]
)
def test_damic_two_link(name: str, area: float, moment: float, mass: float) -> None:
    # Table 1 of [damic2006] gives A, I, E and the density; the masses 8.4993 and 1.6158 kg follow from it.
    young, density = 6.8952e10, 2766.7
    shear = young / 2.6
    link = flexible(arm("damic_two_link"), name)
    sheared = 5 / 6 * shear * area
    bending = young * moment
    expected = [young * area, sheared, sheared, shear * 2 * moment, bending, bending]
    assert np.diag(link.stiffness(0)[0]) == pytest.approx(expected, rel=1e-12)
    expected = [density * area] * 3 + [2 * density * moment, density * moment, density * moment]
    assert np.diag(link.inertia(0)[0]) == pytest.approx(expected, rel=1e-12)
    assert link.inertia(0)[0, 0, 0] * link.length == pytest.approx(mass, abs=5e-5)


def rotation_matrix(quaternion: tuple[float, ...]) -> np.ndarray:
    w, *vector = quaternion
    x, y, z = vector
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * hat + 2 * hat @ hat


def test_l_frame_starts_as_in_vidoni2018() -> None:
    # [vidoni2018]: rod 1 at 135 degrees from the downward vertical, rod 2 parallel to the hinge axis.
    robot = arm("l_frame")
    hinge, corner = robot.chain_order
    assert isinstance(hinge, r.RevoluteJoint)
    half = hinge.initial_position / 2
    turn = rotation_matrix((np.cos(half), *(np.sin(half) * np.array(hinge.axis))))
    root = rotation_matrix(hinge.rotation) @ turn
    assert root[:, 0] == pytest.approx([0, 0.5**0.5, 0.5**0.5])
    assert rotation_matrix(hinge.rotation) @ hinge.axis == pytest.approx([1, 0, 0])
    assert (root @ rotation_matrix(corner.rotation))[:, 0] == pytest.approx([1, 0, 0])
    assert robot.payload("elbow").mass == 0.017
    assert robot.payload("motor").at is r.End.ROOT


def undeformed_tips(robot: r.Robot) -> dict[str, np.ndarray]:
    """Where the tips of the links are at the start, by the kinematics of rigid straight links."""
    frames = {"base": (rotation_matrix(robot.base.rotation), np.array(robot.base.position))}
    for joint in robot.chain_order:
        turn, place = frames[joint.parent]
        place = place + turn @ joint.position
        turn = turn @ rotation_matrix(joint.rotation)
        for freedom in joint.freedoms:
            assert not freedom.translates
            half = freedom.law.initial_position / 2
            turn = turn @ rotation_matrix((np.cos(half), *(np.sin(half) * np.array(freedom.axis))))
        link = robot.link(joint.child)
        along = (link.length, 0, 0) if isinstance(link, r.FlexibleLink) else link.tip_position
        frames[joint.child] = (turn, place + turn @ along)
    return {name: place for name, (_, place) in frames.items()}


def test_arms_of_macchelli2007_have_equal_links() -> None:
    # Sections IV-C and IV-D build both arms from equal links with the properties of Table I.
    single = flexible(arm("macchelli_link"), "link")
    for name, count in (("two_link_planar", 2), ("parallelogram", 4)):
        links = arm(name).links
        assert len(links) == count
        for link in links:
            assert isinstance(link, r.FlexibleLink)
            assert (link.length, link.section) == (single.length, single.section)


def test_parallelogram_is_closed_at_the_start() -> None:
    robot = arm("parallelogram")
    (loop,) = robot.loops
    tips = undeformed_tips(robot)
    assert tips[loop.first.link] == pytest.approx([1, 1, 0], abs=1e-15)
    assert tips[loop.second.link] == pytest.approx([1, 1, 0], abs=1e-15)


@pytest.mark.parametrize(
    ("name", "mass", "inertia"),
    [("upper_arm", 6.60, (6.875e-3, 1.389e-1, 1.430e-1)), ("forearm", 3.25, (3.385e-3, 6.839e-2, 7.042e-2))],
)
def test_anthropomorphic_links_have_the_printed_masses(name: str, mass: float, inertia: tuple[float, ...]) -> None:
    # Table 2 of [damic2006] prints four digits of what follows from section, length and density.
    link = flexible(arm("anthropomorphic_three_link"), name)
    per_length = np.diag(link.inertia(0)[0])
    slender = per_length[0] * link.length**3 / 12
    total = per_length[3:] * link.length + np.array([0, slender, slender])
    assert per_length[0] * link.length == pytest.approx(mass, rel=1e-3)
    assert total == pytest.approx(inertia, rel=1e-3)


def test_anthropomorphic_arm_starts_on_its_path() -> None:
    # Equation (23) of [damic2006] at t = 0.
    tip = undeformed_tips(arm("anthropomorphic_three_link"))["forearm"]
    assert tip == pytest.approx([0.65, 0, 0.05 + 0.25 * 3**0.5], abs=1e-14)


def test_seven_joints_carry_the_dimensions_of_adam() -> None:
    # Table 1 of [konno1996]: l3 = l5 = 0.5 m, E I = 291.6 and 102.1 N m^2, m2 = 6.6 kg, m3 = 3.0 kg.
    robot = arm("seven_joint_two_flexible")
    assert len(robot.freedoms) == 7
    for name, bending in (("upper_arm", 291.6), ("forearm", 102.1)):
        link = flexible(robot, name)
        assert link.length == 0.5
        assert np.diag(link.stiffness(0)[0])[4:] == pytest.approx([bending, bending], rel=1e-12)
    masses = {link.name: link.mass for link in robot.links if isinstance(link, r.RigidLink)}
    assert robot.payload("elbow").mass + masses["elbow_pitch"] == pytest.approx(6.6)
    wrist = robot.payload("wrist").mass + masses["wrist_pitch"] + masses["hand"]
    assert wrist == pytest.approx(3.0)


def test_adam_is_table_one_without_mass_of_its_own() -> None:
    # Table 1 of [konno1996]: l3 = l5 = 0.5 m, E I = 291.6 and 102.1 N m^2, m2 = 6.6 kg, m3 = 3.0 kg; G J = E I / 1.3.
    robot = arm("adam")
    assert [joint.name for joint in robot.chain_order] == ["joint_1", "joint_2", "joint_3", "joint_4"]
    for name, bending in (("upper_arm", 291.6), ("forearm", 102.1)):
        link = flexible(robot, name)
        assert link.length == 0.5
        assert not link.inertia(0).any()
        assert np.diag(link.stiffness(0)[0])[3:] == pytest.approx([bending / 1.3, bending, bending])
    assert [payload.mass for payload in robot.payloads] == [6.6, 3.0]
    # a right angle at the elbow: the wrist stands above it
    assert undeformed_tips(robot)["forearm"] == pytest.approx([0.5, 0, 0.5], abs=1e-15)


def test_steel_strip_bends_easily_in_the_plane_of_motion() -> None:
    robot = arm("steel_strip")
    stiffness = np.diag(flexible(robot, "strip").stiffness(0)[0])
    joint = robot.joint("hub")
    assert isinstance(joint, r.RevoluteJoint)
    assert joint.axis == (0, 0, 1)
    # 30 x 5 mm of E = 210e9 Pa: EI = 65.625 N m^2 about z and 36 times that about y.
    assert stiffness[5] == pytest.approx(65.625)
    assert stiffness[4] == pytest.approx(36 * 65.625)
