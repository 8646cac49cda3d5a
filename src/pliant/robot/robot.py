"""The robot: what an arm is, independent of how it is simulated."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Annotated, TypeVar

import numpy as np

from pliant.errors import InvalidInput, Problem, clip
from pliant.robot.axes import IDENTITY, ORIGIN
from pliant.robot.declared import Declared, Name, Part, Quantity, Quaternion, Vector3
from pliant.robot.joint import BASE, Freedom, FreeJoint, Joint, Role, WholeJoint
from pliant.robot.link import STATION_SLACK, End, FlexibleLink, Link, MadeRigid, Payload, RigidLink
from pliant.robot.loop import At, LoopJoint
from pliant.robot.reduced_link import ReducedLink
from pliant.robot.section import Material
from pliant.robot.shown import Shown, listed

MOST_LISTED = 30  # names in a sentence
Edge = tuple[str, str, str]  # joint, parent, child; or loop joint, link of its first frame, link of its second

Named = TypeVar("Named", Link, Joint, LoopJoint, Payload, Freedom)


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    return next(iter(difflib.get_close_matches(word[:100], sorted(known), n=1)), None)


def nearest(word: str, known: Iterable[str]) -> str:
    """The remedy for an unknown word: "did you mean 'upper'?", or to write one of those that are known."""
    choices = sorted(known)
    close = closest(word, choices)
    if close:
        return f"did you mean '{clip(close)}'?"
    return f"write one of {', '.join(map(clip, choices[:MOST_LISTED]))}" if choices else "define one first"


def reference_problems(
    links: Sequence[str], joints: Sequence[Edge], payloads: Sequence[tuple[str, str]]
) -> Iterator[Problem]:
    """Names that are reserved or lead nowhere; ``payloads`` holds (name, link)."""
    known = set(links)
    if not links:
        yield Problem("is empty, and a robot needs at least one link; write one", ("links",))
    if BASE in known:
        yield Problem("is reserved for the ground; give the link another name", ("links", BASE))
    for name, parent, child in joints:
        if parent not in known and parent != BASE:
            yield _no_link(parent, [*known, BASE], "joints", name, "parent")
        if child == BASE:
            yield Problem("= 'base' cannot be carried by a joint; write a link", ("joints", name, "child"))
        elif child not in known:
            yield _no_link(child, known, "joints", name, "child")
    for name, link in payloads:
        if link not in known:
            yield _no_link(link, known, "payloads", name, "link")


def _no_link(word: str, known: Iterable[str], *path: str) -> Problem:
    return Problem(f"= '{clip(word)}' is not a link; {nearest(word, known)}", path)


def uncarried_problems(links: Sequence[str], joints: Sequence[Edge]) -> Iterator[Problem]:
    """Links that no joint carries; silent while a joint carries something unknown, which may be that link."""
    carried = {child for _, _, child in joints}
    if carried <= set(links):
        for link in links:
            if link not in carried:
                yield Problem("is carried by no joint; write a joint whose child it is", ("links", link))


def tree_problems(links: Sequence[str], joints: Sequence[Edge]) -> Iterator[Problem]:
    """Links that two joints carry, and cycles."""
    carried: dict[str, str] = {}
    for name, _, child in joints:
        if child in carried and child in links:
            yield Problem(
                f"= '{child}' is already carried by joint '{carried[child]}'; make one of the two a loop joint",
                ("joints", name, "child"),
            )
        carried.setdefault(child, name)
    parent_of = {child: parent for _, parent, child in reversed(joints)}
    reported: set[str] = set()
    for link in links:
        path = _cycle_from(link, parent_of)
        if path and not reported & set(path):
            reported |= set(path)
            loop = " -> ".join([*path, path[0]])
            yield Problem(
                f"closes the cycle {loop}, which no joint connects to the base;"
                " join one of its links to the base and make this a loop joint",
                ("joints", carried[path[0]], "parent"),
            )


def loop_problems(links: Sequence[str], joints: Sequence[str], loops: Sequence[Edge]) -> Iterator[Problem]:
    """Loop joints that lead nowhere, tie a link to itself, or bear the name of a joint."""
    known = [*links, BASE]
    for name, first, second in loops:
        if name in joints:
            yield Problem("is the name of a joint too; give the loop joint another name", ("loops", name))
        for word, link in (("first", first), ("second", second)):
            if link not in known:
                yield _no_link(link, known, "loops", name, word, "link")
        if first == second:
            yield Problem(
                f"= '{clip(second)}' carries the first frame too, and nothing can move between them;"
                " write another link",
                ("loops", name, "second", "link"),
            )


def dead_end_problems(joints: Sequence[Edge], moving: Mapping[str, str], weighty: Collection[str]) -> Iterator[Problem]:
    """Moving joints of a tree with nothing but weightless links behind them.

    ``moving`` maps joints to what they need behind them, ``weighty`` names links that have it.
    """
    reported: set[str] = set()
    order = parents_first(joints)
    for name, _, child in order:
        behind = {child}
        for _, parent, carried in order:
            behind |= {carried} if parent in behind else set()
        if name in moving and child not in reported and not behind & set(weighty):
            reported |= behind
            yield Problem(
                f"has no {moving[name]}, nor has anything that it carries, so joint '{name}' has nothing to move;"
                " write its mass in kilograms, or make the joint fixed",
                ("links", child),
            )


def _cycle_from(link: str, parent_of: dict[str, str]) -> list[str]:
    """The links of the cycle that ``link`` lies on, in the order from child to parent; empty if none."""
    path = [link]
    while (parent := parent_of.get(path[-1], BASE)) != BASE and len(path) <= len(parent_of):
        if parent == link:
            return path
        path.append(parent)
    return []


def parents_first(joints: Sequence[Edge]) -> list[Edge]:
    """The joints of a tree, each after the joint that carries its parent, depth first."""
    order: list[Edge] = []
    waiting = [edge for edge in reversed(joints) if edge[1] == BASE]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(edge for edge in reversed(joints) if edge[1] == order[-1][2])
    return order


@dataclass(frozen=True)
class Base(Declared, word="base"):
    """The fixed frame that carries the first joints."""

    position: Annotated[Vector3, Quantity.vector("m", "origin (x, y, z) of the base frame in the world")] = ORIGIN
    rotation: Annotated[Quaternion, Quantity.quaternion("from base frame to world")] = IDENTITY


@dataclass(frozen=True, repr=False)
class Robot(Shown, Declared, word="robot"):
    """Links and joints that form a tree on a base, loops that close it, payloads and gravity."""

    name: Annotated[str, Name("name of the robot")]
    links: Annotated[Sequence[Link], Part("links")]
    joints: Annotated[Sequence[Joint], Part("joints")]
    payloads: Annotated[Sequence[Payload], Part("payloads")] = ()
    gravity: Annotated[
        Vector3, Quantity("m/s^2", "acceleration of gravity in the world", shape=(3,), usual=(-100.0, 100.0))
    ] = ORIGIN
    base: Annotated[Base, Part("fixed base")] = field(default_factory=Base)
    loops: Annotated[Sequence[LoopJoint], Part("loop joints")] = ()

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

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on values that are possible, but hardly meant as they are written."""
        from pliant.robot.field_table import implausible

        return tuple(f"robot '{self.name}': {each}" for each in implausible(self))

    def conflicts(self) -> Iterator[Problem]:
        links = [link.name for link in self.links]
        joints = self._edges
        payloads = [(payload.name, payload.link) for payload in self.payloads]
        loops = [(loop.name, loop.first.link, loop.second.link) for loop in self.loops]
        tables = ("links", "joints", "loops", "payloads")
        names = {table: [part.name for part in getattr(self, table)] for table in tables}
        twice = [(kind, i, name) for kind, own in names.items() for i, name in enumerate(own) if name in own[:i]]
        for kind, i, name in twice:
            yield Problem(f"= '{name}' is used twice; give each of the {kind} its own name", (kind, i, "name"))
        if twice:
            return
        found = [*reference_problems(links, joints, payloads), *uncarried_problems(links, joints)]
        found += [*tree_problems(links, joints), *loop_problems(links, names["joints"], loops)]
        yield from (*found, *material_problems(self.links)) or (*self._stations(), *self._dead_ends())

    def _stations(self) -> Iterator[Problem]:
        for joint in self.joints:
            if joint.station is not None and joint.parent == BASE:
                yield Problem(
                    f"= {joint.station:g} m has no meaning on the base; leave it out", ("joints", joint.name, "station")
                )
            elif wrong := self.wrong_station(At(joint.parent, station=joint.station)):
                yield Problem(wrong, ("joints", joint.name, "station"))
        for loop in self.loops:
            for word, at in (("first", loop.first), ("second", loop.second)):
                if wrong := self.wrong_station(at):
                    yield Problem(wrong, ("loops", loop.name, word, "station"))

    def wrong_station(self, at: At) -> str:
        """What is wrong with the station of a frame, or nothing."""
        if at.station is None:
            return ""
        link = self.link(at.link)
        if isinstance(link, MadeRigid) and link.flexible is not None:
            link = link.flexible
        if not isinstance(link, FlexibleLink):
            kind = f"{link.word} link '{at.link}'"
            return f"= {at.station:g} m has no meaning on the {kind}; leave it out and write a position"
        if at.station > link.length * (1.0 + STATION_SLACK):
            return f"= {at.station:g} m lies beyond the tip of link '{at.link}'; write at most {link.length:g} m"
        return ""

    def _dead_ends(self) -> Iterator[Problem]:
        joints = self._edges
        tied = {at.link for loop in self.loops for at in (loop.first, loop.second)}
        heavy = {p.link for p in self.payloads if p.mass} | tied
        for link in self.links:
            if not link.massless if isinstance(link, FlexibleLink) else link.mass > 0.0:
                heavy.add(link.name)
        inert = {p.link for p in self.payloads} | heavy
        inert |= {link.name for link in self.links if isinstance(link, RigidLink) and np.any(link.inertia)}
        rotating = {j.name: "mass or inertia" for j in self.joints if j.moves and not _needs_mass(j)}
        translating = {j.name: "mass" for j in self.joints if j.moves and _needs_mass(j)}
        yield from dead_end_problems(joints, rotating, inert)
        yield from dead_end_problems(joints, translating, heavy)

    @property
    def materials(self) -> tuple[Material, ...]:
        """The distinct materials of the links, in order of first use."""
        used = (link.material for link in self.links if isinstance(link, (FlexibleLink, ReducedLink)))
        return tuple(dict.fromkeys(material for material in used if material is not None))

    @cached_property
    def chain_order(self) -> tuple[Joint, ...]:
        """The joints, parents before children."""
        return tuple(self.joint(name) for name, _, _ in parents_first(self._edges))

    @property
    def _edges(self) -> list[Edge]:
        return [(joint.name, joint.parent, joint.child) for joint in self.joints]

    @cached_property
    def tip_link(self) -> str:
        """The last link of the chain that is no part aside.

        Of a robot with loops: of the links whose tips nothing else is attached to, or else of those whose tips are not
        tied to the base, the last of those farthest from the base by the count of joints. So it is the coupler of a
        four-bar linkage, not its rocker.
        """
        own = [joint.child for joint in self.chain_order if joint.role is Role.ARM]
        own = own or [self.chain_order[-1].child]
        if not self.loops:
            return own[-1]
        tied: set[str] = set()
        grounded: set[str] = set()
        for loop in self.loops:
            for at, other in ((loop.first, loop.second), (loop.second, loop.first)):
                if at.link != BASE and at.end is End.TIP and at.station in (None, self.link(at.link).length):
                    (grounded if other.link == BASE else tied).add(at.link)
        far: dict[str, int] = {}
        for joint in self.chain_order:
            far[joint.child] = far.get(joint.parent, 0) + 1
        moving = [name for name in own if name not in grounded] or own
        free = [name for name in moving if name not in tied | {joint.parent for joint in self.joints}]
        return max(reversed(free or moving), key=far.__getitem__)

    @cached_property
    def freedoms(self) -> tuple[Freedom, ...]:
        """The coordinates of all joints of the tree, in the order of the chain."""
        return tuple(freedom for joint in self.chain_order for freedom in joint.freedoms)

    def freedom(self, name: str) -> Freedom:
        """The coordinate of that name: of a joint or loop joint, of a free joint whose motion is prescribed, or of the
        reference of a ball or free joint."""
        return _named("joint coordinate", name, self._all_freedoms)

    @cached_property
    def _all_freedoms(self) -> list[Freedom]:
        free = (joint.guided_freedoms for joint in self.joints if isinstance(joint, FreeJoint))
        either = (*self.joints, *(loop.joint for loop in self.loops))
        held = (joint.reference_freedoms for joint in either if isinstance(joint, WholeJoint))
        return [*self.freedoms, *chain.from_iterable((*(loop.freedoms for loop in self.loops), *free, *held))]

    @property
    def mass(self) -> float:
        """Of all links and payloads, in kilograms."""
        return sum(link.mass for link in self.links) + sum(payload.mass for payload in self.payloads)

    def named_link(self, name: str) -> Link | None:
        """The link of that name, if there is one."""
        return next((link for link in self.links if link.name == name), None)

    def link(self, name: str) -> Link:
        """The link of that name."""
        return _named("link", name, self.links)

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        return _named("joint", name, self.joints)

    def loop(self, name: str) -> LoopJoint:
        """The loop joint of that name."""
        return _named("loop joint", name, self.loops)

    def payload(self, name: str) -> Payload:
        """The payload of that name."""
        return _named("payload", name, self.payloads)


def _needs_mass(joint: Joint) -> bool:
    """Whether a rotary inertia alone would leave the joint nothing to move."""
    return isinstance(joint, FreeJoint) or any(freedom.translates for freedom in joint.freedoms)


def _named(kind: str, name: str, parts: Sequence[Named]) -> Named:
    for part in parts:
        if part.name == name:
            return part
    raise InvalidInput(f"'{name}' is not a {kind} of this robot; {nearest(name, [part.name for part in parts])}")


def material_problems(links: Sequence[Link]) -> Iterator[Problem]:
    """Different materials under one name, which no file could tell apart."""
    first: dict[str, Material] = {}
    for link in links:
        material = link.material if isinstance(link, (FlexibleLink, ReducedLink)) else None
        if material is not None and first.setdefault(material.name, material) != material:
            yield Problem(
                f"= '{material.name}' names two different materials; give each its own name",
                ("links", link.name, "material", "name"),
            )
