"""An arm as a tree of scalar joints with stations and fields: what is known before anything is connected."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput
from pliant.formulations.lumped.beam import Stretch
from pliant.formulations.lumped.choices import Beam, Deflection
from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.mechanics.minimal.mechanism import JointLaws
from pliant.mechanics.rigid_body import matrix_of
from pliant.robot import At, End, FlexibleLink, Freedom, Robot
from pliant.robot.joint import BASE
from pliant.robot.link import STATION_SLACK

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
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
class Field:
    """A massless spring: from the frame ``root`` to a far end whose deflection the ``columns`` of the tree hold.

    ``chosen`` are the deflections that the stiffness (6, 6) lets happen; those in ``kept`` are coordinates. Where
    station inertia is neglected, chosen turns are no coordinates.
    """

    name: str
    link: str
    start: float
    end: float
    root: Place
    far: Floats
    stiffness: Floats
    damping: Floats
    chosen: tuple[Deflection, ...]
    kept: tuple[Deflection, ...]
    columns: Ints

    @cached_property
    def flexibility(self) -> Floats:
        """(6, 6) with zeros where the field does not yield."""
        at = np.ix_(self.chosen, self.chosen)
        matrix = np.zeros((6, 6))
        matrix[at] = np.linalg.inv(self.stiffness[at])
        return matrix


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part of a link, or a payload: its spatial inertia (6, 6) in the frame of the body that carries it."""

    link: str
    body: int
    inertia: Floats


@dataclass(frozen=True, eq=False)
class Station:
    """A mass of the arm: a node of a flexible link, or a rigid link; payloads belong to it."""

    name: str
    place: Place
    mass: float


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

    ``joints`` are those of joints, ``elastic`` those of fields, ``base`` the three slides and three turns by which the
    base may move; arms that keep to their base have none of the latter.
    """

    robot: Robot
    beam: Beam
    condensed: bool
    names: tuple[str, ...]
    bodies: Bodies
    freedoms: tuple[Freedom, ...]
    joints: Ints
    elastic: Ints
    base: Ints
    fields: tuple[Field, ...]
    stations: tuple[Station, ...]
    parts: tuple[Part, ...]
    links: tuple[LinkPlaces, ...]

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def elastic_names(self) -> tuple[str, ...]:
        return tuple(self.names[k] for k in self.elastic)

    def link(self, name: str) -> LinkPlaces:
        return next(link for link in self.links if link.name == name)

    def place(self, at: At) -> Place:
        """The frame of an end section, or of the base."""
        if at.link == BASE:
            end = base_place(len(self.base))
        else:
            link = self.link(at.link)
            end = link.tip if at.end is End.TIP else link.root
            if at.station is not None:
                end = self._at_station(link, at.station)
        return end.moved(at.position).turned(matrix_of(at.rotation))

    def _at_station(self, link: LinkPlaces, station: float) -> Place:
        """The frame at a station in metres: of a link that bends where it has one, of a rigid one anywhere."""
        near = int(np.argmin(np.abs(link.stations - station)))
        own = self.robot.link(link.name)
        if abs(link.stations[near] - station) <= STATION_SLACK * link.stations[-1]:
            return link.nodes[near]
        if link.fields or not isinstance(own, FlexibleLink):
            raise InvalidInput(
                f"station = {station:g} m of link '{link.name}' lies between its masses; write"
                f" {link.stations[near]:.6g} m, choose fields that end there, or cut the link there in two by a fixed"
                " joint"
            )
        return link.root.at(Stretch.of(own, 0.0, station).far)

    @cached_property
    def turned_statically(self) -> Bools:
        """(n,) bodies behind fields whose turns are no coordinates."""
        behind = np.zeros(self.size, np.bool_)
        if not self.condensed:
            return behind
        homes = {int(field.columns[0]) if len(field.columns) else field.root.body for field in self.fields}
        for body, parent in enumerate(self.bodies.parent):
            behind[body] = body in homes or (parent != ON_BASE and behind[parent])
        return behind

    @cached_property
    def stiffness(self) -> Floats:
        """K (n, n) of fields and joint springs; fields of condensed stations are not in it."""
        K = np.zeros((self.size, self.size))
        if not self.condensed:
            for field in self.fields:
                K[np.ix_(field.columns, field.columns)] += field.stiffness[np.ix_(field.kept, field.kept)]
        for column, freedom in zip(self.joints, self.freedoms):
            if freedom.law.spring:
                K[column, column] += freedom.law.spring.stiffness
        return K

    @cached_property
    def rest(self) -> Floats:
        """Positions (n,) without force of springs and fields."""
        rest = np.zeros(self.size)
        for column, freedom in zip(self.joints, self.freedoms):
            if freedom.law.spring:
                rest[column] = freedom.law.spring.rest_position
        return rest

    @cached_property
    def field_damping(self) -> Floats:
        """(n, n)"""
        D = np.zeros((self.size, self.size))
        for field in self.fields:
            D[np.ix_(field.columns, field.columns)] += field.damping[np.ix_(field.kept, field.kept)]
        return D

    @cached_property
    def joint_damping(self) -> Floats:
        """(n, n)"""
        D = np.zeros((self.size, self.size))
        for column, freedom in zip(self.joints, self.freedoms):
            D[column, column] = freedom.law.damping
        return D

    @cached_property
    def laws(self) -> JointLaws:
        """Dry friction and stops of joints."""
        ruled = [
            (column, freedom.law)
            for column, freedom in zip(self.joints, self.freedoms)
            if freedom.law.friction or freedom.law.limits
        ]
        rows = [
            (
                law.friction.row if law.friction else NO_FRICTION,
                law.limits.row if law.limits else NO_STOPS,
            )
            for _, law in ruled
        ]
        both = np.array(rows, float).reshape(len(rows), 2, 4)
        columns = np.array([column for column, _ in ruled], np.int64)
        return JointLaws(columns, both[:, 0].copy(), both[:, 1].copy())
