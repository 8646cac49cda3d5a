"""The robot: what an arm is, independent of how it is simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from pliant.errors import InvalidInput, Problem
from pliant.robot.compound_joint import FreeJoint, SphericalJoint
from pliant.robot.declared import Declared, Name, Part, Shown, listed
from pliant.robot.joint import Freedom, Joint
from pliant.robot.link import IDENTITY, ORIGIN, STATION_SLACK, FlexibleLink, Link, RigidLink
from pliant.robot.loop import At, LoopJoint
from pliant.robot.material import Material
from pliant.robot.payload import Payload
from pliant.robot.quantity import Demand, Quantity, Quaternion, Vector3
from pliant.robot.topology import (
    dead_end_problems,
    loop_problems,
    nearest,
    parents_first,
    reference_problems,
    tree_problems,
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


@dataclass(frozen=True, repr=False)
class Robot(Shown, Declared, word="robot"):
    """Links and joints that form a tree on a base, loops that close it, payloads and gravity."""

    name: Annotated[str, Name("name of the robot")]
    links: Annotated[Sequence[Link], Part("links", Link, many=True)]
    joints: Annotated[Sequence[Joint], Part("joints", Joint, many=True)]
    payloads: Annotated[Sequence[Payload], Part("payloads", Payload, many=True)] = ()
    gravity: Annotated[Vector3, Quantity("m/s^2", "acceleration of gravity in the world", shape=(3,))] = (
        ORIGIN
    )
    base: Annotated[Base, Part("fixed base", Base)] = field(default_factory=Base)
    loops: Annotated[Sequence[LoopJoint], Part("loop joints", LoopJoint, many=True)] = ()

    def _shown(self) -> tuple[str, dict[str, str]]:
        lengths = (f", {link.length:g} m" if isinstance(link, FlexibleLink) else "" for link in self.links)
        links = [f"{link.name} ({link.word}{length})" for link, length in zip(self.links, lengths)]
        return f"Robot '{self.name}'", {
            "links": listed(links),
            "joints": listed([f"{joint.name} ({joint.word})" for joint in self.joints]),
            "loops": listed([f"{loop.name} ({loop.kind})" for loop in self.loops]),
            "payloads": listed([f"{each.name} ({each.mass:g} kg)" for each in self.payloads]),
            "gravity": f"({', '.join(f'{component:g}' for component in self.gravity)}) m/s^2",
        }

    def conflicts(self) -> Iterator[Problem]:
        links = [link.name for link in self.links]
        joints = [(joint.name, joint.parent, joint.child) for joint in self.joints]
        payloads = [(payload.name, payload.link) for payload in self.payloads]
        loops = [(loop.name, loop.first.link, loop.second.link) for loop in self.loops]
        names = {
            "links": links,
            "joints": [joint.name for joint in self.joints],
            "loops": [loop.name for loop in self.loops],
            "payloads": [payload.name for payload in self.payloads],
        }
        twice = [p for kind, words in names.items() for p in duplicate_problems(kind, words)]
        if twice:
            yield from twice
            return
        found = [
            *reference_problems(links, joints, payloads),
            *uncarried_problems(links, joints),
            *tree_problems(links, joints),
            *loop_problems(links, names["joints"], loops),
            *material_problems(self.links),
        ]
        yield from found or (*self._stations_of_loops(), *self._dead_ends())

    def _stations_of_loops(self) -> Iterator[Problem]:
        for loop in self.loops:
            for word, at in (("first", loop.first), ("second", loop.second)):
                if wrong := self.wrong_station(at):
                    yield Problem(wrong, ("loops", loop.name, word, "station"))

    def wrong_station(self, at: At) -> str:
        """What is wrong with the station of a frame, or nothing."""
        if at.station is None:
            return ""
        link = self.link(at.link)
        if not isinstance(link, FlexibleLink):
            return f"= {at.station:g} m has no meaning on the rigid link '{at.link}'; leave it out and write a position"
        if at.station > link.length * (1.0 + STATION_SLACK):
            return (
                f"= {at.station:g} m lies beyond the tip of link '{at.link}'; write at most {link.length:g} m"
            )
        return ""

    def _dead_ends(self) -> Iterator[Problem]:
        joints = [(joint.name, joint.parent, joint.child) for joint in self.joints]
        tied = {at.link for loop in self.loops for at in (loop.first, loop.second)}
        heavy = {p.link for p in self.payloads if p.mass} | tied
        heavy |= {link.name for link in self.links if _has_mass(link)}
        inert = {p.link for p in self.payloads} | heavy
        inert |= {link.name for link in self.links if isinstance(link, RigidLink) and np.any(link.inertia)}
        turning = {j.name: "mass or inertia" for j in self.joints if j.moves and not _needs_mass(j)}
        sliding = {j.name: "mass" for j in self.joints if j.moves and _needs_mass(j)}
        yield from dead_end_problems(joints, turning, inert)
        yield from dead_end_problems(joints, sliding, heavy)

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

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The coordinates of all joints of the tree, in the order of the chain."""
        return tuple(freedom for joint in self.chain_order for freedom in joint.freedoms)

    def freedom(self, name: str) -> Freedom:
        """The coordinate of that name: of a joint or loop joint, of a free joint whose motion is prescribed, or of the
        reference of a ball or free joint."""
        free = (joint for joint in self.joints if isinstance(joint, FreeJoint))
        either = (*self.joints, *(loop.joint for loop in self.loops))
        held = (joint for joint in either if isinstance(joint, (SphericalJoint, FreeJoint)))
        freedoms = (
            *self.freedoms,
            *(freedom for loop in self.loops for freedom in loop.freedoms),
            *(freedom for joint in free for freedom in joint.guided_freedoms),
            *(freedom for joint in held for freedom in joint.reference_freedoms),
        )
        return freedoms[_index("joint coordinate", name, [freedom.name for freedom in freedoms])]

    def link(self, name: str) -> Link:
        """The link of that name."""
        return self.links[_index("link", name, [link.name for link in self.links])]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return self.joints[_index("joint", name, [joint.name for joint in self.joints])]

    def loop(self, name: str) -> LoopJoint:
        """The loop joint of that name."""
        return self.loops[_index("loop joint", name, [loop.name for loop in self.loops])]

    def payload(self, name: str) -> Payload:
        """The payload of that name."""
        return self.payloads[_index("payload", name, [payload.name for payload in self.payloads])]


def _has_mass(link: Link) -> bool:
    if isinstance(link, FlexibleLink):
        return not link.massless
    return isinstance(link, RigidLink) and link.mass > 0.0


def _needs_mass(joint: Joint) -> bool:
    """Whether a rotary inertia alone would leave the joint nothing to move."""
    return isinstance(joint, FreeJoint) or any(freedom.slides for freedom in joint.freedoms)


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
