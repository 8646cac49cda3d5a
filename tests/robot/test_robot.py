"""The robot as a whole: a tree of links on a base."""

from __future__ import annotations

from itertools import pairwise

import pytest

import pliant.robot as r
from pliant.errors import InvalidInput


def body(name: str) -> r.RigidLink:
    return r.RigidLink(name, tip_position=(1, 0, 0), mass=1)


def hinge(name: str, parent: str, child: str) -> r.RevoluteJoint:
    return r.RevoluteJoint(name, parent, child)


def problems_of(links: list[r.Link], joints: list[r.Joint], payloads: list[r.Payload] | None = None) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        r.Robot("arm", links=links, joints=joints, payloads=payloads or [])
    return str(caught.value).splitlines()


def test_defaults() -> None:
    robot = r.Robot("arm", links=[body("a")], joints=[hinge("j", "base", "a")])
    assert robot.gravity == (0, 0, 0)
    assert robot.base == r.Base(position=(0, 0, 0), rotation=(1, 0, 0, 0))
    assert robot.payloads == ()
    assert robot.link("a") is robot.links[0]
    assert robot.joint("j") is robot.joints[0]


def test_it_prints_as_a_few_lines_and_as_a_table() -> None:
    links, joints = [body(name) for name in "abcdefghij"], [hinge("j", "base", "a")]
    joints += [hinge(f"j{k}", one.name, other.name) for k, (one, other) in enumerate(pairwise(links))]
    robot = r.Robot("arm", links=links, joints=joints, payloads=[r.Payload("tool", "j", 0.5)])
    assert (
        str(robot)
        == repr(robot)
        == (
            "Robot 'arm'\n"
            f"  links: {', '.join(f'{name} (rigid)' for name in 'abcdefgh')} and 2 more\n"
            "  joints: j (revolute), j0 (revolute), j1 (revolute), j2 (revolute), j3 (revolute), j4 (revolute),"
            " j5 (revolute), j6 (revolute) and 2 more\n"
            "  payloads: tool (0.5 kg)\n"
            "  gravity: (0, 0, 0) m/s^2"
        )
    )
    table = robot._repr_html_()
    assert table.startswith("<b>Robot &#x27;arm&#x27;</b><table><tr><th>links</th><td>a (rigid), ")
    assert table.count("<tr>") == 4


def test_joints_come_parents_first_whatever_their_order() -> None:
    links = [body(name) for name in "abcd"]
    joints = [hinge("j4", "c", "d"), hinge("j3", "a", "c"), hinge("j2", "a", "b"), hinge("j1", "base", "a")]
    robot = r.Robot("tree", links=links, joints=joints)
    assert [joint.name for joint in robot.chain_order] == ["j1", "j3", "j4", "j2"]


def test_names_that_occur_twice() -> None:
    assert problems_of([body("a"), body("a")], [hinge("j", "base", "a")]) == [
        "Robot 'arm': links[1].name = 'a' is used twice; give each of the links its own name"
    ]


def test_unknown_references_are_all_listed() -> None:
    payload = r.Payload("tool", "hand", 1)
    assert problems_of([body("upper")], [hinge("j", "bas", "uper")], [payload]) == [
        "Robot 'arm': joints.j.parent = 'bas' is not a link; did you mean 'base'?",
        "Robot 'arm': joints.j.child = 'uper' is not a link; did you mean 'upper'?",
        "Robot 'arm': payloads.tool.link = 'hand' is not a link; write one of upper",
    ]


def test_joints_that_close_a_loop_are_refused() -> None:
    links: list[r.Link] = [body("a"), body("b"), body("c")]
    cycle: list[r.Joint] = [hinge("i", "base", "a"), hinge("j", "c", "b"), hinge("k", "b", "c")]
    assert problems_of(links, cycle) == [
        "Robot 'arm': joints.j.parent closes the cycle b -> c -> b, which no joint connects to the base;"
        " join one of its links to the base and make this a loop joint"
    ]
    own: list[r.Joint] = [hinge("i", "base", "a"), hinge("j", "b", "b")]
    assert problems_of(links[:2], own) == [
        "Robot 'arm': joints.j.parent closes the cycle b -> b, which no joint connects to the base;"
        " join one of its links to the base and make this a loop joint"
    ]
    diamond: list[r.Joint] = [hinge("i", "base", "a"), hinge("j", "a", "b"), hinge("k", "base", "b")]
    assert problems_of(links[:2], diamond) == [
        "Robot 'arm': joints.k.child = 'b' is already carried by joint 'j'; make one of the two a loop joint"
    ]


def test_a_link_needs_a_joint() -> None:
    assert problems_of([body("a"), body("b")], [hinge("j", "base", "a")]) == [
        "Robot 'arm': links.b is carried by no joint; write a joint whose child it is"
    ]
    assert problems_of([], []) == ["Robot 'arm': links is empty, and a robot needs at least one link; write one"]


def test_parts_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"links\[0\] = str does not fit; write one of FlexibleLink, RigidLink"):
        r.Robot("arm", links=["a"], joints=[])
    with pytest.raises(InvalidInput, match="section = float does not fit"):
        r.FlexibleLink("a", 1.0, section=3.0)


def test_one_name_for_two_materials_is_refused() -> None:
    links: list[r.Link] = [
        r.FlexibleLink(name, 1, r.Circle(0.1), r.Material("steel", young, 7850, poisson=0.3))
        for name, young in (("a", 210e9), ("b", 200e9))
    ]
    assert problems_of(links, [hinge("i", "base", "a"), hinge("j", "a", "b")]) == [
        "Robot 'arm': links.b.material.name = 'steel' names two different materials; give each its own name"
    ]


def test_unknown_names_are_answered_with_the_nearest() -> None:
    robot = r.Robot("arm", links=[body("upper")], joints=[hinge("elbow", "base", "upper")])
    with pytest.raises(InvalidInput, match=r"'uper' is not a link of this robot; did you mean 'upper'\?"):
        robot.link("uper")
    with pytest.raises(InvalidInput, match="'wrist' is not a joint of this robot; write one of elbow"):
        robot.joint("wrist")


@pytest.mark.parametrize("inertia", [(0, 1, 1), (1, 1, 2), (0, 0, 0), [[2, 1, 0], [1, 2, 0], [0, 0, 3]]])
def test_inertias_that_bodies_can_have(inertia: object) -> None:
    assert r.Payload("p", "a", mass=1, inertia=inertia).mass == 1


@pytest.mark.parametrize("inertia", [(0, 0, 1), (1, 1, -1), [[1, 2, 0], [2, 1, 0], [0, 0, 1]]])
def test_inertias_that_no_body_can_have(inertia: object) -> None:
    with pytest.raises(InvalidInput, match="inertia"):
        r.Payload("p", "a", mass=1, inertia=inertia)


def test_payload_needs_mass_or_inertia() -> None:
    assert r.Payload("p", "a", mass=0, inertia=(1, 1, 1)).at is r.End.TIP
    with pytest.raises(InvalidInput, match="mass = 0 kg without inertia has no effect"):
        r.Payload("p", "a", mass=0)
