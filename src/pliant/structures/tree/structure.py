"""An arm as a tree of scalar joints: what is known before anything is connected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.mechanics.rigid_body import matrix_of
from pliant.robot import At, End, Freedom, Robot
from pliant.robot.joint import BASE
from pliant.robot.link import STATION_SLACK
from pliant.structures.tree.arrays import JointLaws
from pliant.structures.tree.flexibility import Condensed, none_condensed
from pliant.structures.tree.motion import Bools, Floats, Ints

ON_BASE = -1
ORIGIN = np.zeros(3)
IDENTITY = np.eye(3)


@dataclass(frozen=True, eq=False)
class Place:
    """A frame fixed to a body of the tree, or to the base."""

    body: int
    position: Floats
    rotation: Floats

    def moved(self, position: ArrayLike) -> Place:
        """A frame at a position in this one."""
        return Place(self.body, self.position + self.rotation @ np.asarray(position, float), self.rotation)

    def turned(self, rotation: Floats) -> Place:
        """A frame turned against this one."""
        return Place(self.body, self.position, self.rotation @ rotation)

    def at(self, pose: Floats) -> Place:
        """A frame with a pose (4, 4) in this one."""
        return self.moved(pose[:3, 3]).turned(pose[:3, :3])


def base_place(coordinates: int) -> Place:
    """The frame of the base, which moves by so many coordinates, the first of the tree."""
    return Place(coordinates - 1 if coordinates else ON_BASE, ORIGIN, IDENTITY)


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part of a link, or a payload: its spatial inertia (6, 6) in the frame of the body that carries it."""

    link: str
    body: int
    inertia: Floats


@dataclass(frozen=True, eq=False)
class LinkPlaces:
    """Frames along a link from root to tip at ``stations`` in metres, the length that each stands for.

    And fields between.
    """

    name: str
    stations: Floats
    nodes: tuple[Place, ...]
    shares: Floats
    fields: tuple[int, ...]
    tip: Place

    @property
    def root(self) -> Place:
        return self.nodes[0]


def place_on(
    links: Mapping[str, LinkPlaces], base: Place, at: At, at_station: Callable[[LinkPlaces, float], Place]
) -> Place:
    """The frame of a section of one of the links, or of the base."""
    if at.link != BASE:
        link = links[at.link]
        base = link.tip if at.end is End.TIP else link.root
        if at.station is not None:
            base = at_station(link, at.station)
    return base.moved(at.position).turned(matrix_of(at.rotation))


def node_at(link: LinkPlaces, station: float) -> Place:
    """The node of a link at a station in metres; stations between nodes are refused."""
    near = int(np.argmin(np.abs(link.stations - station)))
    if abs(link.stations[near] - station) <= STATION_SLACK * link.stations[-1]:
        return link.nodes[near]
    raise InvalidInput(
        f"station = {station:g} m of link '{link.name}' lies between its masses; write"
        f" {link.stations[near]:.6g} m, choose fields that end there, or cut the link there in two by a fixed"
        " joint"
    )


@dataclass(frozen=True, eq=False)
class Bodies:
    """Columns of the tree."""

    parent: Ints
    kind: Ints
    rotation: Floats  # (n, 3, 3)
    position: Floats  # (n, 3)
    mass: Floats
    center: Floats
    inertia: Floats  # (n, 3, 3) about the centre of mass


@dataclass(frozen=True, eq=False)
class Structure:
    """``names`` are those of all coordinates in the order of the tree.

    ``joints`` are those of joints, ``elastic`` those that deform, ``base`` the three translations and three rotations
    by which the base may move; arms that keep to their base have none of the latter. What bends is left to kinds of
    structures: here nothing does.
    """

    robot: Robot
    names: tuple[str, ...]
    bodies: Bodies
    freedoms: tuple[Freedom, ...]
    joints: Ints
    elastic: Ints
    base: Ints
    parts: tuple[Part, ...]
    links: tuple[LinkPlaces, ...]
    condensed: bool  # some turns are no coordinates but follow statically

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def elastic_names(self) -> tuple[str, ...]:
        return tuple(self.names[k] for k in self.elastic)

    @property
    def turned_statically(self) -> Bools:
        """(n,) bodies with such turns."""
        return np.zeros(self.size, np.bool_)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What else to do about a coordinate that moves no mass."""
        return ()

    def condense(self, size: int) -> Condensed:
        """Tables of condensed stations for a tree of ``size`` coordinates that begins with those of the structure."""
        return none_condensed()

    @cached_property
    def elastic_stiffness(self) -> Floats:
        """(n, n) of what deforms; that of condensed stations is not in it."""
        return np.zeros((self.size, self.size))

    @cached_property
    def elastic_damping(self) -> Floats:
        """(n, n)"""
        return np.zeros((self.size, self.size))

    @property
    def tip(self) -> Place:
        """That of the last link of the arm."""
        return self.link(self.robot.tip_link).tip

    def link(self, name: str) -> LinkPlaces:
        return next(link for link in self.links if link.name == name)

    def place(self, at: At) -> Place:
        """The frame of a section, or of the base."""
        links = {link.name: link for link in self.links}
        return place_on(links, base_place(len(self.base)), at, self.at_station)

    def at_station(self, link: LinkPlaces, station: float) -> Place:
        """The frame at a station in metres, where the link has one."""
        return node_at(link, station)

    @cached_property
    def laws(self) -> JointLaws:
        """Dry friction and stops of joints."""
        ruled = [
            (column, freedom.law)
            for column, freedom in zip(self.joints, self.freedoms)
            if freedom.law.friction or freedom.law.limits
        ]
        friction = [law.friction.row if law.friction else NO_FRICTION for _, law in ruled]
        stops = [law.limits.row if law.limits else NO_STOPS for _, law in ruled]
        columns = np.array([column for column, _ in ruled], np.int64)
        return JointLaws(columns, np.array(friction, float).reshape(-1, 4), np.array(stops, float).reshape(-1, 4))
