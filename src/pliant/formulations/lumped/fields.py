"""Fields of lumped arms: deflections, and what a tree needs of them.

A field is a massless stretch of a flexible link (`structures/beam_stretch.py`), linear about its rest shape; large
rotations of an arm add up over its fields.

The deflection s = (dx, dy, dz, phx, phy, phz) of equation (5) [konno1996] displaces the far end along the axes of the
near end and rotates it about x, then about its new y, then about its newest z. In a chain of fields and joints these
are scalar joints, which is how the equations of motion see them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput
from pliant.robot import FlexibleLink, Robot
from pliant.robot.link import STATION_SLACK
from pliant.spatial.arrays import turned_in_order
from pliant.structures.beam_stretch import Beam as Beam
from pliant.structures.beam_stretch import Stretch
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


class StationInertia(Enum):
    """Whether stations are rigid bodies, or point masses behind which the rotations of fields follow statically."""

    KEPT = "rigid bodies"
    NEGLECTED = "point masses"


def section_at(robot: Robot, link: LinkPlaces, station: float) -> Place:
    """The frame at a station in metres: of a link that bends where it has one, of a rigid one anywhere."""
    own = robot.link(link.name)
    near = np.abs(link.stations - station).min() <= STATION_SLACK * link.stations[-1]
    if near or link.fields or not isinstance(own, FlexibleLink):
        return node_at(link, station)
    return link.root.at(Stretch.of(own, 0.0, station).far)


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
        at = Place(self.home) if len(self.columns) else self.root
        parts = tuple(int(each) for each in self.chosen)
        return FieldFacts(self.home, at.rotation, at.position, self.flexibility, parts)


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
        return np.zeros((self.size, self.size)) if self.condensed else self._of_fields("stiffness")

    @cached_property
    def elastic_damping(self) -> Floats:
        return self._of_fields("damping")

    def _of_fields(self, matrix: str) -> Floats:
        """What the fields add up to over all coordinates."""
        whole = np.zeros((self.size, self.size))
        for field in self.fields:
            whole[np.ix_(field.columns, field.columns)] += getattr(field, matrix)[np.ix_(field.kept, field.kept)]
        return whole

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
