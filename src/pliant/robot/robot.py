"""The robot: what an arm is, independent of how it is simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from pliant.errors import InvalidInput, Problem
from pliant.robot.declared import Declared, Name, Part
from pliant.robot.joint import Joint
from pliant.robot.link import IDENTITY, ORIGIN, FlexibleLink, Link
from pliant.robot.material import Material
from pliant.robot.payload import Payload
from pliant.robot.quantity import Demand, Quantity, Quaternion, Vector3
from pliant.robot.topology import (
    loop_problems,
    nearest,
    parents_first,
    reference_problems,
    uncarried_problems,
)


@dataclass(frozen=True)
class Base(Declared, word="base"):
    """The fixed frame that carries the first joints."""

    position: Annotated[
        Vector3, Quantity("m", "origin (x, y, z) of the base frame in the world", shape=(3,))
    ] = ORIGIN
    rotation: Annotated[
        Quaternion,
        Quantity(
            "1",
            "unit quaternion (w, x, y, z) from base frame to world",
            shape=(4,),
            demand=Demand.UNIT_QUATERNION,
        ),
    ] = IDENTITY


@dataclass(frozen=True)
class Robot(Declared, word="robot"):
    """Links and joints that form a tree on a base, with payloads and gravity."""

    name: Annotated[str, Name("name of the robot")]
    links: Annotated[tuple[Link, ...], Part("links", Link, many=True)]
    joints: Annotated[tuple[Joint, ...], Part("joints", Joint, many=True)]
    payloads: Annotated[tuple[Payload, ...], Part("payloads", Payload, many=True)] = ()
    gravity: Annotated[Vector3, Quantity("m/s^2", "acceleration of gravity in the world", shape=(3,))] = (
        ORIGIN
    )
    base: Annotated[Base, Part("fixed base", Base)] = field(default_factory=Base)

    def conflicts(self) -> Iterator[Problem]:
        links = [link.name for link in self.links]
        joints = [(joint.name, joint.parent, joint.child) for joint in self.joints]
        payloads = [(payload.name, payload.link) for payload in self.payloads]
        names = {"links": links, "joints": [j[0] for j in joints], "payloads": [p[0] for p in payloads]}
        twice = [p for kind, words in names.items() for p in duplicate_problems(kind, words)]
        if twice:
            yield from twice
            return
        yield from reference_problems(links, joints, payloads)
        yield from uncarried_problems(links, joints)
        yield from loop_problems(links, joints)
        yield from material_problems(self.links)

    @property
    def materials(self) -> tuple[Material, ...]:
        """The distinct materials of the links, in order of first use."""
        used = (link.material for link in self.links if isinstance(link, FlexibleLink))
        return tuple(dict.fromkeys(material for material in used if material is not None))

    @cached_property
    def chain_order(self) -> tuple[Joint, ...]:
        """The joints, parents before children."""
        return tuple(
            self.joint(name) for name in parents_first([(j.name, j.parent, j.child) for j in self.joints])
        )

    def link(self, name: str) -> Link:
        """The link of that name."""
        return self.links[_index("link", name, [link.name for link in self.links])]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joints[_index("joint", name, [joint.name for joint in self.joints])]

    def payload(self, name: str) -> Payload:
        """The payload of that name."""
        return self.payloads[_index("payload", name, [payload.name for payload in self.payloads])]


def _index(kind: str, name: str, names: list[str]) -> int:
    if name not in names:
        raise InvalidInput(f"'{name}' is not a {kind} of this robot; {nearest(name, names)}")
    return names.index(name)


def duplicate_problems(kind: str, names: Sequence[str]) -> Iterator[Problem]:
    """Names that occur more than once."""
    for i, name in enumerate(names):
        if name in names[:i]:
            yield Problem(
                f"= '{name}' is used twice; give each of the {kind} its own name", (kind, i, "name")
            )


def material_problems(links: Sequence[Link]) -> Iterator[Problem]:
    """Different materials under one name, which no file could tell apart."""
    first: dict[str, Material] = {}
    for link in links:
        material = link.material if isinstance(link, FlexibleLink) else None
        if material is not None and first.setdefault(material.name, material) != material:
            yield Problem(
                f"= '{material.name}' names two different materials; give each its own name",
                ("links", link.name, "material", "name"),
            )
