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
    ("name", "area", "moment", "mass"),
    [("inner", 3.84e-4, 1.5e-7, 8.4993), ("outer", 7.3e-5, 8.218e-9, 1.6158)],
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


def test_steel_strip_bends_easily_in_the_plane_of_motion() -> None:
    robot = arm("steel_strip")
    stiffness = np.diag(flexible(robot, "strip").stiffness(0)[0])
    joint = robot.joint("hub")
    assert isinstance(joint, r.RevoluteJoint)
    assert joint.axis == (0, 0, 1)
    # 30 x 5 mm of E = 210e9 Pa: EI = 65.625 N m^2 about z and 36 times that about y.
    assert stiffness[5] == pytest.approx(65.625)
    assert stiffness[4] == pytest.approx(36 * 65.625)
