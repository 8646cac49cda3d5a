"""Joints list their coordinates; mechanisms are closed by loop joints and have something to move everywhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant.robot as r
from pliant.errors import InvalidInput

ENDS = ("j", "base", "a")


def rod(name: str, mass: float = 1.0, inertia: float = 0.0) -> r.RigidLink:
    return r.RigidLink(name, (1, 0, 0), mass, inertia=(inertia,) * 3)


@pytest.mark.parametrize(
    ("joint", "names", "translates"),
    [
        (r.RevoluteJoint(*ENDS), ["j"], [False]),
        (r.PrismaticJoint(*ENDS), ["j"], [True]),
        (r.CylindricalJoint(*ENDS), ["j.slide", "j.turn"], [True, False]),
        (r.UniversalJoint(*ENDS), ["j.first", "j.second"], [False, False]),
        (r.PlanarJoint(*ENDS), ["j.first_slide", "j.second_slide", "j.turn"], [True, True, False]),
        (r.SphericalJoint(*ENDS), ["j.x", "j.y", "j.z"], [False, False, False]),
        (r.FixedJoint(*ENDS), [], []),
        (r.FreeJoint(*ENDS), [], []),
    ],
    ids=lambda value: value.word if isinstance(value, r.Joint) else "",
)
def test_coordinates_of_each_joint(joint: r.Joint, names: list[str], translates: list[bool]) -> None:
    assert joint.coordinate_names == tuple(names)
    assert [freedom.translates for freedom in joint.freedoms] == translates
    assert [freedom.unit for freedom in joint.freedoms] == ["m" if slide else "rad" for slide in translates]
    assert joint.moves is (joint.word != "fixed")


def test_a_joint_of_one_coordinate_hands_its_own_fields_on() -> None:
    spring, friction = r.JointSpring(2, 0.1), r.Friction(0.5)
    limits = r.Limits(-1, 1, 100)
    joint = r.RevoluteJoint(
        *ENDS, axis=(0, 2, 0), initial_position=0.3, initial_rate=4, spring=spring, friction=friction,
        damping=7, limits=limits,
    )  # fmt: skip
    (freedom,) = joint.freedoms
    assert freedom.axis == (0, 1, 0)
    assert freedom.law == r.Coordinate(0.3, 4, spring, 7, friction, limits)
    assert not freedom.law.obeys_nothing
    assert r.Coordinate(0.3, 4).obeys_nothing


def test_coordinates_of_a_compound_joint_keep_their_laws_apart() -> None:
    slide, turn = r.Coordinate(damping=2), r.Coordinate(initial_rate=3)
    first, second = r.CylindricalJoint(*ENDS, axis=(1, 0, 0), slide=slide, turn=turn).freedoms
    assert (first.law, second.law) == (slide, turn)
    assert first.axis == second.axis == (1, 0, 0)


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 3, 4), (1, 2, 3)])
def test_axes_of_a_planar_joint_are_right_handed_and_orthonormal(normal: r.Quantity) -> None:
    axes = np.array([freedom.axis for freedom in r.PlanarJoint(*ENDS, normal=normal).freedoms])
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-14)
    assert np.linalg.det(axes) == pytest.approx(1)
    assert axes[0] @ (1, 0, 0) > 0


def test_axes_of_a_planar_joint_in_the_plane_of_x_and_y() -> None:
    axes = [freedom.axis for freedom in r.PlanarJoint(*ENDS).freedoms]
    assert axes == [(1, 0, 0), (0, 1, 0), (0, 0, 1)]


def test_friction_without_a_peak_breaks_away_at_the_coulomb_effort() -> None:
    assert r.Friction(0.4).breakaway == 0.4
    assert r.Friction(0.4, static=0.6).breakaway == 0.6


def test_axes_that_are_almost_parallel_are_refused_and_others_not() -> None:
    tilted = (0, math.sin(0.01), math.cos(0.01))
    assert r.UniversalJoint(*ENDS, second_axis=tilted).freedoms[1].axis == pytest.approx(tilted)
    with pytest.raises(InvalidInput, match=r"UniversalJoint 'j': second_axis = .* is parallel to first_axis"):
        r.UniversalJoint(*ENDS, second_axis=(0, 1e-4, 1))


def test_a_robot_lists_the_coordinates_in_the_order_of_the_chain() -> None:
    robot = r.Robot(
        "arm",
        [rod("a"), rod("b"), rod("c")],
        [r.PrismaticJoint("k", "b", "c"), r.UniversalJoint("j", "a", "b"), r.SphericalJoint("i", "base", "a")],
    )
    names = [freedom.name for freedom in robot.freedoms]
    assert names == ["i.x", "i.y", "i.z", "j.first", "j.second", "k"]
    assert robot.freedom("k").unit == "m"
    with pytest.raises(InvalidInput, match=r"'j.frist' is not a joint coordinate of .* mean 'j.first'\?"):
        robot.freedom("j.frist")


def closed(kind: r.LoopKind = r.LoopKind.REVOLUTE, second: str = "base", name: str = "loop") -> r.LoopJoint:
    return r.LoopJoint(name, kind, r.At("a"), r.At(second, position=(1, 0, 0)))


def test_loops_are_found_by_name_and_checked() -> None:
    joints = [r.RevoluteJoint("i", "base", "a")]
    robot = r.Robot("ring", [rod("a")], joints, loops=[closed()])
    assert robot.loop("loop").first.end is r.End.TIP
    assert robot.chain_order == tuple(joints)
    with pytest.raises(InvalidInput, match=r"loops.loop.second.link = 'a' carries the first frame too"):
        r.Robot("ring", [rod("a")], joints, loops=[closed(second="a")])
    with pytest.raises(InvalidInput, match=r"loops.i is the name of a joint too"):
        r.Robot("ring", [rod("a")], joints, loops=[closed(name="i")])
    with pytest.raises(InvalidInput, match=r"loops\[1\].name = 'loop' is used twice"):
        r.Robot("ring", [rod("a")], joints, loops=[closed(), closed()])


def dead_ends(robot_parts: dict[str, object]) -> list[str]:
    try:
        r.Robot("arm", **robot_parts)
    except InvalidInput as invalid:
        return [str(problem.path[1]) for problem in invalid.problems]
    return []


@pytest.mark.parametrize(
    ("kind", "mass", "inertia", "refused"),
    [
        (r.RevoluteJoint, 0, 0, True),
        (r.RevoluteJoint, 0, 1, False),
        (r.RevoluteJoint, 1, 0, False),
        (r.PrismaticJoint, 0, 1, True),
        (r.PrismaticJoint, 1, 0, False),
        (r.CylindricalJoint, 0, 1, True),
        (r.SphericalJoint, 0, 0, True),
        (r.FreeJoint, 0, 1, True),
        (r.FixedJoint, 0, 0, False),
    ],
)
def test_dead_ends_are_refused(kind: type[r.Joint], mass: float, inertia: float, refused: bool) -> None:
    parts = {"links": [rod("a", mass, inertia)], "joints": [kind("j", "base", "a")]}
    assert dead_ends(parts) == (["a"] if refused else [])


def test_links_without_mass_may_carry_something_or_close_a_loop() -> None:
    light = [rod("a", 0), rod("b", 0)]
    joints = [r.RevoluteJoint("i", "base", "a"), r.RevoluteJoint("j", "a", "b")]
    assert dead_ends({"links": light, "joints": joints}) == ["a"]
    assert dead_ends({"links": [rod("a", 0), rod("b")], "joints": joints}) == []
    assert dead_ends({"links": [rod("a"), rod("b", 0)], "joints": joints}) == ["b"]
    assert dead_ends({"links": light, "joints": joints, "payloads": [r.Payload("p", "b", 1)]}) == []
    tied = r.LoopJoint("loop", r.LoopKind.REVOLUTE, r.At("b"), r.At("base", position=(1, 0, 0)))
    assert dead_ends({"links": [rod("a"), rod("b", 0)], "joints": joints, "loops": [tied]}) == []
