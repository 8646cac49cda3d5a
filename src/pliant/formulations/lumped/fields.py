"""Fields of lumped arms: deflections, stiffness of massless beams, and what a tree needs of them.

A stretch of a flexible link as a massless beam: stiffness at its end, shape and section forces inside. With wrench
W = (f, n) on the far end, in the axes of the near end, the section at s with pose (R, X) carries

    N = R^T f ,   M = R^T (n + (X_end - X) x f) ,   strain = C (N, M) ,

C the inverse of the section stiffness. The deflection of a point follows by virtual work, F = int A^T C A ds at the
end. Everything is linear about the rest shape, which may be curved; large rotations of an arm add up over its fields.

The deflection s = (dx, dy, dz, phx, phy, phz) of equation (5) [konno1996] displaces the far end along the axes of the
near end and rotates it about x, then about its new y, then about its newest z. In a chain of fields and joints these
are scalar joints, which is how the equations of motion see them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import WEIGHT, hat, inertia_along, inside_pieces, poses_along, transform_inertia
from pliant.robot import FlexibleLink, Robot, Straight
from pliant.robot.link import STATION_SLACK
from pliant.robot.section import UniformSection
from pliant.structures.places import Place
from pliant.structures.tree.flexibility import ASIDE, BOTH, ONLY_IT, Condensed, FieldFacts, new_condensed
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.structure import ON_BASE, LinkPlaces, Structure, node_at


class Deflection(IntEnum):
    """The six deflections of a field, in the order of equation (5) [konno1996]: three lengths, three angles."""

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
    """Whether stations are rigid bodies, or point masses behind which the rotations of fields follow statically."""

    KEPT = "rigid bodies"
    NEGLECTED = "point masses"


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
        ends = np.unique(np.concatenate([np.linspace(a, b, pieces + 1) for a, b in itertools.pairwise(marks)]))
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


def section_at(robot: Robot, link: LinkPlaces, station: float) -> Place:
    """The frame at a station in metres: of a link that bends where it has one, of a rigid one anywhere."""
    own = robot.link(link.name)
    near = np.abs(link.stations - station).min() <= STATION_SLACK * link.stations[-1]
    if near or link.fields or not isinstance(own, FlexibleLink):
        return node_at(link, station)
    return link.root.at(Stretch.of(own, 0.0, station).far)


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
    whole, near = (Stretch.of(link, start, end), Stretch.of(link, start, max(at, start + 1e-12 * (end - start))))
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


@dataclass(frozen=True, eq=False)
class Field:
    """A massless spring: from the frame ``root`` to a far end whose deflection the ``columns`` of the tree hold.

    ``chosen`` are the deflections that the stiffness (6, 6) lets happen; those in ``kept`` are coordinates. Where
    station inertia is neglected, chosen rotations are no coordinates.
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

    @property
    def home(self) -> int:
        """The body that holds the field: the first that it displaces, or that of the joint in which it lies."""
        return int(self.columns[0]) if len(self.columns) else self.root.body

    @property
    def facts(self) -> FieldFacts:
        parts = tuple(int(each) for each in self.chosen)
        if len(self.columns):
            return FieldFacts(self.home, np.eye(3), np.zeros(3), self.flexibility, parts)
        return FieldFacts(self.home, self.root.rotation, self.root.position, self.flexibility, parts)


@dataclass(frozen=True, eq=False)
class Station:
    """A mass of the arm: a node of a flexible link, or a rigid link; payloads belong to it."""

    name: str
    place: Place
    mass: float


@dataclass(frozen=True, eq=False)
class LumpedStructure(Structure):
    """Stations and fields."""

    beam: Beam
    fields: tuple[Field, ...]
    stations: tuple[Station, ...]

    @property
    def remedies(self) -> tuple[str, ...]:
        way = "neglect station inertia (StationInertia.NEGLECTED, --point-masses)"
        return (way,) if self.fields and not self.condensed else ()

    @cached_property
    def turned_statically(self) -> NDArray[np.bool_]:
        behind = np.zeros(self.size, np.bool_)
        if not self.condensed:
            return behind
        homes = {field.home for field in self.fields}
        for body, parent in enumerate(self.bodies.parent):
            behind[body] = body in homes or (parent != ON_BASE and behind[parent])
        return behind

    @cached_property
    def elastic_stiffness(self) -> Floats:
        K = np.zeros((self.size, self.size))
        if not self.condensed:
            for field in self.fields:
                K[np.ix_(field.columns, field.columns)] += field.stiffness[np.ix_(field.kept, field.kept)]
        return K

    @cached_property
    def elastic_damping(self) -> Floats:
        D = np.zeros((self.size, self.size))
        for field in self.fields:
            D[np.ix_(field.columns, field.columns)] += field.damping[np.ix_(field.kept, field.kept)]
        return D

    def at_station(self, link: LinkPlaces, station: float) -> Place:
        """The frame at a station in metres: of a link that bends where it has one, of a rigid one anywhere."""
        return section_at(self.robot, link, station)

    def condense(self, size: int) -> Condensed:
        """Which fields bend under a force on which station."""
        if not self.condensed:
            return super().condense(size)
        parent = self.bodies.parent

        def way(body: int) -> list[int]:
            """The body and all before it."""
            bodies = []
            while body != ON_BASE:
                bodies.append(body)
                body = int(parent[body])
            return bodies

        fields = self.fields
        homes = [field.home for field in fields]
        coordinate = [int(column) for column in self.elastic]
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
        for i in self.joints.tolist():
            fields_before = [home in way(int(parent[i])) for home in homes]
            stations_behind = [seen(j, b, i) for j, b in zip(coordinate, before)]
            if any(fields_before) and any(stations_behind):
                joint.append(i)
                inside.append(fields_before)
                beyond.append(stations_behind)
        facts = [field.facts for field in fields]
        between = (joint, np.array(inside), np.array(beyond))
        return new_condensed(size, coordinate, before, np.array(reach), facts, between)


def field_transfer(length: float, deflection: ArrayLike) -> Floats:
    """The exact matrix (6), (4, 4)."""
    dx, dy, dz, phx, phy, phz = _six(deflection)
    transfer = np.eye(4)
    transfer[:3, :3] = turned_in_order(np.array([phx, phy, phz]))
    transfer[:3, 3] = length + dx, dy, dz
    return transfer


def small_field_transfer(length: float, deflection: ArrayLike) -> Floats:
    """The matrix (7) for small rotations and no stretch, (4, 4): it differs from (6) by dx and by second order."""
    _, dy, dz, phx, phy, phz = _six(deflection)
    return np.array([[1.0, -phz, phy, length], [phz, 1.0, -phx, dy], [-phy, phx, 1.0, dz], [0.0, 0.0, 0.0, 1.0]])


def _six(deflection: ArrayLike) -> Floats:
    values = np.asarray(deflection, float)
    if values.shape != (6,):
        raise InvalidInput(
            f"deflection has {values.size} numbers; give six, (dx, dy, dz) in m and (phx, phy, phz) in rad"
        )
    return values


def turned_in_order(turns: Floats) -> Floats:
    """Rotations (..., 3, 3) about x, then about the new y, then about the newest z, by angles (..., 3)."""
    c, s = np.cos(turns), np.sin(turns)
    cx, cy, cz = np.moveaxis(c, -1, 0)
    sx, sy, sz = np.moveaxis(s, -1, 0)
    rows = [
        [cy * cz, -cy * sz, sy],
        [sx * sy * cz + cx * sz, -sx * sy * sz + cx * cz, -sx * cy],
        [-cx * sy * cz + sx * sz, cx * sy * sz + sx * cz, cx * cy],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
