"""An arm as a tree of scalar joints: what is known before anything is connected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.robot import At, Freedom, Robot
from pliant.robot.link import STATION_SLACK
from pliant.structures.places import Place, place_on
from pliant.structures.tree.arrays import JointLaws
from pliant.structures.tree.clouds import LinkCloud
from pliant.structures.tree.flexibility import Condensed, none_condensed
from pliant.structures.tree.motion import Bools, Floats, Ints

ON_BASE = -1


def base_place(coordinates: int) -> Place:
    """The frame of the base, which moves by so many coordinates, the first of the tree."""
    return Place(coordinates - 1 if coordinates else ON_BASE)


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


FIELDS = "masses", "choose fields that end there, or cut the link there in two by a fixed joint"


def node_at(link: LinkPlaces, station: float, words: tuple[str, str] = FIELDS) -> Place:
    """The node of a link at a station in metres; one between nodes is refused: of what, and the remedy are words."""
    near = int(np.argmin(np.abs(link.stations - station)))
    if abs(link.stations[near] - station) <= STATION_SLACK * link.stations[-1]:
        return link.nodes[near]
    raise InvalidInput(
        f"station = {station:g} m of link '{link.name}' lies between its {words[0]}; write"
        f" {link.stations[near]:.6g} m, {words[1]}"
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
    def turned_statically(self) -> Bools:
        """(bodies,) with such turns."""
        return np.zeros(len(self.bodies.parent), np.bool_)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What else to do about a coordinate that moves no mass."""
        return ()

    @property
    def shapes(self) -> Floats | None:
        """(joints, n) by which coordinates move the joints of the tree; none where each is a joint of its own."""
        return None

    @property
    def more_mass(self) -> Floats | None:
        """(n, n) of the coordinates beside that of the bodies of the tree; none without shapes."""
        return None

    @property
    def clouds(self) -> tuple[LinkCloud, ...]:
        """What bodies of shapes may be replaced by in steps."""
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
