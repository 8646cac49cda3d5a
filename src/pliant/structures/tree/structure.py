"""Deflections of fields, and which theory gives their stiffness.

A stretch of a flexible link as a massless beam: stiffness at its end, shape and section forces inside.

With wrench W = (f, n) on the far end, in the axes of the near end, the section at s with pose (R, X) carries

    N = R^T f ,   M = R^T (n + (X_end - X) x f) ,   strain = C (N, M) ,

C the inverse of the section stiffness. The deflection of a point follows by virtual work, F = int A^T C A ds at the
end. Everything is linear about the rest shape, which may be curved; large turns of an arm add up over its fields.

An arm as a tree of scalar joints with stations and fields: what is known before anything is connected.

Which fields bend under a force on which station: the tables of condensed stations.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import NO_FRICTION, NO_STOPS
from pliant.mechanics.rigid_body import (
    WEIGHT,
    hat,
    inertia_along,
    inside_pieces,
    matrix_of,
    poses_along,
    transform_inertia,
)
from pliant.robot import At, End, FlexibleLink, Freedom, Link, Robot, Straight
from pliant.robot.joint import BASE
from pliant.robot.link import STATION_SLACK
from pliant.robot.section import UniformSection
from pliant.structures.tree.arrays import JointLaws
from pliant.structures.tree.flexibility import (
    ASIDE,
    BOTH,
    ONLY_IT,
    Condensed,
    FieldFacts,
    new_condensed,
    none_condensed,
)


class Deflection(IntEnum):
    """The six deflections of a field, in the order of equation (5) [konno1996]: three lengths, three turns."""

    X = 0
    Y = 1
    Z = 2
    TURN_X = 3
    TURN_Y = 4
    TURN_Z = 5

    @property
    def turns(self) -> bool:
        return self >= Deflection.TURN_X

    @property
    def word(self) -> str:
        """How the paper writes it."""
        return ("dx", "dy", "dz", "phx", "phy", "phz")[self]


ALL_DEFLECTIONS = tuple(Deflection)


class Beam(Enum):
    """Which theory gives the stiffness of a field from the section of its link."""

    TIMOSHENKO = "bends and shears"
    EULER_BERNOULLI = "bends without shear"


class StationInertia(Enum):
    """Whether stations are rigid bodies, or point masses behind which the turns of fields follow statically."""

    KEPT = "rigid bodies"
    NEGLECTED = "point masses"


Floats = NDArray[np.float64]
PIECES = 16  # between jumps of a link that is curved or whose section changes; each is a helix
NO_SHEAR = [0, 3, 4, 5]


@dataclass(frozen=True, eq=False)
class Stretch:
    """The material of a link between two stations, with Gauss points in pieces of constant rest strain."""

    link: FlexibleLink
    start: float
    end: float
    width: Floats  # (pieces,)
    station: Floats  # (pieces, 3)
    inside: Floats  # (pieces, 3, 4, 4) in the frame of the start
    far: Floats  # (4, 4)

    @staticmethod
    def of(link: FlexibleLink, start: float, end: float) -> Stretch:
        marks = [start, *(s for s in link.breakpoints if start < s < end), end]
        even = isinstance(link.rest_shape, Straight) and isinstance(link.section, UniformSection)
        pieces = 1 if even else PIECES
        ends = np.unique(
            np.concatenate([np.linspace(a, b, pieces + 1) for a, b in itertools.pairwise(marks)])
        )
        width = np.diff(ends)
        poses, inside = poses_along(link.rest_strain(0.5 * (ends[1:] + ends[:-1])), width)
        return Stretch(link, start, end, width, inside_pieces(ends), inside, poses[-1])

    def inertia(self) -> Floats:
        """(6, 6) about the start, in its axes."""
        shape = (len(self.width), 3, 6, 6)
        return inertia_along(self.inside, self.width, self.link.inertia(self.station.ravel()).reshape(shape))

    def compliance(self, beam: Beam) -> Floats:
        """C at the Gauss points, (pieces x 3, 6, 6)."""
        stiffness = self.link.stiffness(self.station.ravel())
        if beam is Beam.TIMOSHENKO:
            return np.asarray(np.linalg.inv(stiffness))
        without = np.zeros_like(stiffness)
        without[np.ix_(range(len(stiffness)), NO_SHEAR, NO_SHEAR)] = np.linalg.inv(
            stiffness[:, NO_SHEAR][:, :, NO_SHEAR]
        )
        return without

    def carried(self, point: Floats) -> Floats:
        """A at the Gauss points, (pieces x 3, 6, 6), for a wrench on a point in the frame of the start."""
        return carried(self.inside.reshape(-1, 4, 4), point)

    def weights(self) -> Floats:
        return np.asarray((self.width[:, None] * WEIGHT).ravel())


def carried(poses: Floats, point: Floats) -> Floats:
    """Section wrench at poses (n, 4, 4) per wrench on a point, (n, 6, 6)."""
    turned = np.swapaxes(poses[:, :3, :3], 1, 2)
    matrix = np.zeros((len(poses), 6, 6))
    matrix[:, :3, :3] = matrix[:, 3:, 3:] = turned
    levers = np.array([hat(point - pose[:3, 3]) for pose in poses]).reshape(-1, 3, 3)
    matrix[:, 3:, :3] = turned @ levers
    return matrix


def end_flexibility(stretch: Stretch, beam: Beam) -> Floats:
    """Deflection of the far end per wrench on it, (6, 6)."""
    A, C = stretch.carried(stretch.far[:3, 3]), stretch.compliance(beam)
    return np.asarray(np.einsum("n,nij,nik,nkl->jl", stretch.weights(), A, C, A, optimize=True))


def end_damping(stretch: Stretch, beam: Beam, stiffness: Floats) -> Floats:
    """Wrench on the far end per rate of its deflection, by the damping of the section in the static shape."""
    damping = stretch.link.material_damping(stretch.station.ravel())
    if not damping.any():
        return np.zeros((6, 6))
    A, C = stretch.carried(stretch.far[:3, 3]), stretch.compliance(beam)
    strain = C @ A @ stiffness
    return np.asarray(np.einsum("n,nij,nik,nkl->jl", stretch.weights(), strain, damping, strain))


def shape_inside(link: FlexibleLink, start: float, end: float, at: float, beam: Beam) -> tuple[Floats, ...]:
    """At the station ``at`` of a field: its rest pose, and per wrench on the far end its deflection and strain."""
    whole, near = (
        Stretch.of(link, start, end),
        Stretch.of(link, start, max(at, start + 1e-12 * (end - start))),
    )
    point = whole.far[:3, 3]
    A_here, C = near.carried(near.far[:3, 3]), near.compliance(beam)
    deflection = np.einsum("n,nij,nik,nkl->jl", near.weights(), A_here, C, near.carried(point), optimize=True)
    section = carried(near.far[None], point)[0]
    stiffness = link.stiffness([at])[0]
    strain = np.linalg.inv(stiffness)
    if beam is Beam.EULER_BERNOULLI:
        strain = np.zeros((6, 6))
        strain[np.ix_(NO_SHEAR, NO_SHEAR)] = np.linalg.inv(stiffness[np.ix_(NO_SHEAR, NO_SHEAR)])
    return near.far, deflection, strain @ section, section


def lumped_inertia(link: FlexibleLink, start: float, end: float, node: float) -> Floats:
    """Inertia (6, 6) of the material between two stations about the section at ``node``, in its axes."""
    total = np.zeros((6, 6))
    if start < node:
        before = Stretch.of(link, start, node)
        back = np.asarray(np.linalg.inv(before.far), np.float64)
        total += transform_inertia(before.inertia(), back[:3, :3], back[:3, 3])
    if node < end:
        total += Stretch.of(link, node, end).inertia()
    return total


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


def place_on(robot: Robot, links: Mapping[str, LinkPlaces], base: Place, at: At) -> Place:
    """The frame of a section of one of the links, or of the base."""
    if at.link != BASE:
        link = links[at.link]
        base = link.tip if at.end is End.TIP else link.root
        if at.station is not None:
            base = _at_station(robot.link(at.link), link, at.station)
    return base.moved(at.position).turned(matrix_of(at.rotation))


def _at_station(own: Link, link: LinkPlaces, station: float) -> Place:
    """The frame at a station in metres: of a link that bends where it has one, of a rigid one anywhere."""
    near = int(np.argmin(np.abs(link.stations - station)))
    if abs(link.stations[near] - station) <= STATION_SLACK * link.stations[-1]:
        return link.nodes[near]
    if link.fields or not isinstance(own, FlexibleLink):
        raise InvalidInput(
            f"station = {station:g} m of link '{link.name}' lies between its masses; write"
            f" {link.stations[near]:.6g} m, choose fields that end there, or cut the link there in two by a fixed"
            " joint"
        )
    return link.root.at(Stretch.of(own, 0.0, station).far)


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

    @property
    def tip(self) -> Place:
        """That of the last link of the arm."""
        return self.link(self.robot.tip_link).tip

    def link(self, name: str) -> LinkPlaces:
        return next(link for link in self.links if link.name == name)

    def place(self, at: At) -> Place:
        """The frame of a section, or of the base."""
        return place_on(self.robot, {link.name: link for link in self.links}, base_place(len(self.base)), at)

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


def condense(structure: Structure, size: int) -> Condensed:
    """Tables, with scratch of their own, for a tree of ``size`` coordinates that begins with those of the structure."""
    if not structure.condensed:
        return none_condensed()
    parent = structure.bodies.parent

    def way(body: int) -> list[int]:
        """The body and all before it."""
        bodies = []
        while body != ON_BASE:
            bodies.append(body)
            body = int(parent[body])
        return bodies

    fields = structure.fields
    homes = [_home(field) for field in fields]
    coordinate = [int(column) for column in structure.elastic]
    station_of = {int(column): k for k, field in enumerate(fields) for column in field.columns}
    before = []
    for column in coordinate:
        first = int(fields[station_of[column]].columns[0])
        passed = [body for body in way(int(parent[first])) if body in station_of]
        before.append(passed[0] if passed else ON_BASE)

    def seen(body: int, previous: int, home: int) -> int:
        """Whether what is fixed to ``home`` lies before the station, and before the one before it."""
        if home not in way(body):
            return ASIDE
        return BOTH if previous != ON_BASE and home in way(previous) else ONLY_IT

    reach = [[seen(j, b, home) for home in homes] for j, b in zip(coordinate, before)]
    joint, inside, beyond = [], [], []
    for i in structure.joints.tolist():
        fields_before = [home in way(int(parent[i])) for home in homes]
        stations_behind = [seen(j, b, i) for j, b in zip(coordinate, before)]
        if any(fields_before) and any(stations_behind):
            joint.append(i)
            inside.append(fields_before)
            beyond.append(stations_behind)
    facts = [_facts(field, home) for field, home in zip(fields, homes)]
    between = (joint, np.array(inside), np.array(beyond))
    return new_condensed(size, coordinate, before, np.array(reach), facts, between)


def _home(field: Field) -> int:
    """The body that holds a field: the first that it displaces, or that of the joint in which it lies."""
    return int(field.columns[0]) if len(field.columns) else field.root.body


def _facts(field: Field, home: int) -> FieldFacts:
    parts = tuple(int(each) for each in field.chosen)
    if len(field.columns):
        return FieldFacts(home, np.eye(3), np.zeros(3), field.flexibility, parts)
    return FieldFacts(home, field.root.rotation, field.root.position, field.flexibility, parts)
