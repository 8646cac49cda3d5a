"""From a robot to a tree of scalar joints, stations and fields, and what a user may choose about them.

A flexible link is divided into fields of equal length. Every node between them becomes a station: the rigid body of the
material nearest to it, from the middle of the field before to the middle of the one behind. Mass, centre of mass and
inertia of the undeformed link are kept exactly, so that an arm whose fields do not deflect is the rigid arm, equation
(40) [konno1996]. Where station inertia is neglected the same masses are points at the nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from pliant.errors import InvalidInput, clip, refuse_outside
from pliant.formulations.lumped import fields as springs
from pliant.formulations.lumped.fields import ALL_DEFLECTIONS, Deflection, Field, LumpedStructure
from pliant.mechanics.rigid_body import spatial_inertia
from pliant.model.arm import refuse_other_choice
from pliant.robot import FlexibleLink, Joint, ReducedLink, RigidLink, Robot
from pliant.robot.declared import BadValue, Demand, MatrixLike, Quantity
from pliant.structures.beam_stretch import Beam, Stretch, end_damping, end_flexibility, lumped_inertia
from pliant.structures.places import ORIGIN, Place
from pliant.structures.tree.assembly import ROTATIONS, TRANSLATIONS, TreeBuilder, center_of_inertia
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.structure import ON_BASE, LinkPlaces

MOST_FIELDS = 200
FIELD_STIFFNESS = Quantity.matrix(
    "N/m, N/rad, N m/rad",
    "force and moment per deflection (dx, dy, dz, phx, phy, phz) of the field",
    Demand.POSITIVE_DEFINITE,
)


@dataclass(frozen=True)
class Fields:
    """The division of a link: ``count`` fields of equal length, which deflect in the chosen ways and in no other.

    ``stiffness`` (6 values or 6x6) is that of every field, at its far end and in the axes of its near end; without it,
    it follows from section and material.
    """

    count: int = 4
    deflections: tuple[Deflection, ...] = ALL_DEFLECTIONS
    stiffness: MatrixLike | None = None

    def __post_init__(self) -> None:
        refuse_outside("count of Fields", self.count, 1, MOST_FIELDS, "4 to 8 serves most links")
        object.__setattr__(self, "deflections", _in_order("Fields", self.deflections))
        if self.stiffness is not None:
            object.__setattr__(self, "stiffness", _balanced("Fields", self.stiffness))


@dataclass(frozen=True)
class JointField:
    """A field of no length between a joint and its child: the flexibility of a bearing, in the chosen deflections."""

    joint: str
    stiffness: MatrixLike
    deflections: tuple[Deflection, ...] = ALL_DEFLECTIONS

    def __post_init__(self) -> None:
        owner = f"JointField '{clip(self.joint)}'"
        object.__setattr__(self, "deflections", _in_order(owner, self.deflections))
        object.__setattr__(self, "stiffness", _balanced(owner, self.stiffness))


def _in_order(owner: str, deflections: tuple[Deflection, ...]) -> tuple[Deflection, ...]:
    if isinstance(deflections, (Deflection, str)) or not isinstance(deflections, Iterable):
        raise InvalidInput(
            f"{owner}: deflections = {clip(repr(deflections))} is not several; write them as (Deflection.Y, ...)"
        )
    for each in deflections:
        refuse_other_choice(owner, "one of the deflections", each, Deflection)
    if not deflections:
        raise InvalidInput(f"deflections of {owner} are empty; name one, or use a rigid link")
    return tuple(sorted(set(deflections)))


def _balanced(owner: str, stiffness: MatrixLike) -> MatrixLike:
    try:
        return cast(MatrixLike, FIELD_STIFFNESS.checked(stiffness))
    except BadValue as bad:
        raise InvalidInput(f"stiffness of {owner} {bad.text}") from bad


SAME_POINT = 1e-9  # m, of a mass and the station that it belongs to
SPREAD_POINTS = 17  # of a flexible link that is taken as rigid, for loads along it


def assemble(
    robot: Robot,
    fields: Mapping[str, Fields],
    beam: Beam,
    condensed: bool,
    joint_fields: tuple[JointField, ...],
    moving_base: bool,
) -> LumpedStructure:
    """The structure of a robot; flexible links without fields are rigid in their rest shape."""
    builder = _Builder(robot, fields, beam, condensed, {each.joint: each for each in joint_fields})
    builder.build(moving_base)
    return builder.structure()


class _Builder(TreeBuilder):
    def __init__(
        self,
        robot: Robot,
        divisions: Mapping[str, Fields],
        beam: Beam,
        condensed: bool,
        yielding: Mapping[str, JointField],
    ) -> None:
        super().__init__(robot)
        self.divisions, self.beam, self.condensed, self.yielding = divisions, beam, condensed, yielding
        self.behind_field: list[bool] = []
        self.fields: list[Field] = []
        self.stations: list[tuple[str, Place]] = []
        self.masses: dict[str, float] = {}

    def coordinate(self, name: str, kind: int, at: Place) -> Place:
        self.behind_field.append(at.body != ON_BASE and self.behind_field[at.body])
        return super().coordinate(name, kind, at)

    def at_station(self, link: LinkPlaces, station: float) -> Place:
        return springs.section_at(self.robot, link, station)

    def cross(self, joint: Joint) -> Place:
        root = super().cross(joint)
        return self.yield_at(self.yielding[joint.name], root) if joint.name in self.yielding else root

    def add_flexible(self, name: str, root: Place) -> None:
        link = self.robot.link(name)
        if isinstance(link, ReducedLink):
            self.add_rigid(link.undeformed, root)
            return
        assert isinstance(link, FlexibleLink)
        if name in self.divisions:
            self.add_fields(link, root, self.divisions[name])
        else:
            self.add_rest_shape(link, root)

    def deflect(
        self, name: str, root: Place, far: Floats, chosen: tuple[Deflection, ...]
    ) -> tuple[Place, tuple[Deflection, ...], list[int]]:
        """Coordinates of a field; the frame of its far end."""
        kept = tuple(each for each in chosen if not (self.condensed and each.turns))
        at, columns = root.moved(far[:3, 3]), []
        for each in kept:
            columns.append(len(self.names))
            at = self.coordinate(f"{name}.{each.word}", (*TRANSLATIONS, *ROTATIONS)[each], at)
            self.behind_field[-1] = True
        self.elastic += columns
        return at.turned(far[:3, :3]), kept, columns

    def yield_at(self, chosen: JointField, root: Place) -> Place:
        """A field of no length behind a joint."""
        if self.condensed and (root.body == ON_BASE or self.kind[root.body] in TRANSLATIONS):
            raise InvalidInput(
                f"JointField '{chosen.joint}' does not sit behind a revolute joint, as it must where station inertia is"
                " neglected; keep the inertia of stations"
            )
        name = f"{chosen.joint}.field"
        turning = tuple(each for each in chosen.deflections if not self.condensed or each.turns)
        stiffness = np.array(chosen.stiffness, float)
        at, kept, columns = self.deflect(name, root, np.eye(4), turning)
        if self.condensed:
            self.behind_field[root.body] = True
        zero = np.zeros((6, 6))
        own = np.array(columns, np.int64)
        self.fields.append(Field(name, "", 0.0, 0.0, root, np.eye(4), stiffness, zero, turning, kept, own))
        return at

    def add_fields(self, link: FlexibleLink, root: Place, chosen: Fields) -> None:
        """A flexible link as fields and stations."""
        count = 1 if link.massless else chosen.count
        marks = np.linspace(0.0, link.length, count + 1)
        middles = np.concatenate([[0.0], 0.5 * (marks[1:] + marks[:-1]), [link.length]])
        nodes, own = [root], []
        self.add_node(link, 0, root, (middles[0], middles[1], marks[0]))
        for k in range(count):
            start, end = float(marks[k]), float(marks[k + 1])
            stretch, name = Stretch.of(link, start, end), f"{link.name}.field[{k}]"
            if chosen.stiffness is None:
                stiffness = _inverse(end_flexibility(stretch, self.beam))
                damping = end_damping(stretch, self.beam, stiffness)
            else:
                stiffness, damping = np.array(chosen.stiffness, float), np.zeros((6, 6))
            near = nodes[-1]
            at, kept, columns = self.deflect(name, near, stretch.far, chosen.deflections)
            if self.condensed and not kept:
                raise InvalidInput(
                    f"the fields of link '{link.name}' have no displacement among their deflections, without which a"
                    " station of neglected inertia does not move; add Deflection.Y or Deflection.Z"
                )
            own.append(len(self.fields))
            self.fields.append(
                Field(
                    name, link.name, start, end, near, stretch.far, stiffness, damping,
                    chosen.deflections, kept, np.array(columns, np.int64),
                )
            )  # fmt: skip
            nodes.append(at)
            self.add_node(link, k + 1, at, (middles[k + 1], middles[k + 2], end))
        shares = np.diff(middles)
        self.links[link.name] = LinkPlaces(link.name, marks, tuple(nodes), shares, tuple(own), at)

    def station(self, name: str, place: Place) -> str:
        """One more station, which has no mass yet; its name."""
        self.stations.append((name, place))
        self.masses[name] = 0.0
        return name

    def add_node(self, link: FlexibleLink, k: int, place: Place, span: tuple[float, float, float]) -> None:
        name = self.station(f"{link.name}.station[{k}]", place)
        if not link.massless:
            inertia = lumped_inertia(link, *span)
            if self.condensed:
                inertia = spatial_inertia(inertia[0, 0], ORIGIN, ORIGIN)
            self.carry(link.name, place, inertia, name)

    def add_rest_shape(self, link: FlexibleLink, root: Place) -> None:
        """A flexible link as a rigid body in its rest shape."""
        marks = np.linspace(0.0, link.length, SPREAD_POINTS)
        nodes, shares = [root], np.full(SPREAD_POINTS, link.length / (SPREAD_POINTS - 1))
        shares[[0, -1]] *= 0.5
        for start, end in itertools.pairwise(marks):
            nodes.append(nodes[-1].at(Stretch.of(link, float(start), float(end)).far))
        whole = Stretch.of(link, 0.0, link.length)
        nodes[-1] = root.at(whole.far)
        name = self.station(f"{link.name}.station", root)
        self.carry(link.name, root, whole.inertia(), name)
        self.links[link.name] = LinkPlaces(link.name, marks, tuple(nodes), shares, (), nodes[-1])

    def add_rigid(self, link: RigidLink, root: Place) -> None:
        self.station(f"{link.name}.station", root)
        super().add_rigid(link, root)

    def carry(self, link: str, place: Place, inertia: Floats, station: str = "") -> None:
        """On a station, by default the last one of the link for what sits on its tip, else the first.

        Where station inertia is neglected and fields lie before it, its mass alone.
        """
        if not station:
            names = [name for name, _ in self.stations if name.startswith(f"{link}.station")]
            station = names[-1] if place is self.links[link].tip else names[0]
        self.masses[station] += float(inertia[0, 0])
        if self.condensed and place.body != ON_BASE and self.behind_field[place.body]:
            off = place.position + place.rotation @ center_of_inertia(inertia)
            if inertia[0, 0] > 0.0 and np.linalg.norm(off) > SAME_POINT:
                raise InvalidInput(
                    f"'{station}' has a mass {np.linalg.norm(off):.3g} m from the station before it, which a rotation"
                    " of the fields would move; keep the inertia of stations, or put the mass on the station"
                )
            inertia = spatial_inertia(inertia[0, 0], ORIGIN, ORIGIN)
        super().carry(link, place, inertia)

    def structure(self) -> LumpedStructure:
        stations = tuple(springs.Station(name, place, self.masses[name]) for name, place in self.stations)
        whole = np.int64
        return LumpedStructure(
            self.robot, tuple(self.names), self.bodies(), tuple(self.freedoms), np.array(self.joints, whole),
            np.array(self.elastic, whole), np.array(self.base, whole), tuple(self.parts),
            tuple(self.links.values()), self.condensed, self.beam, tuple(self.fields), stations,
        )  # fmt: skip


def _inverse(matrix: Floats) -> Floats:
    """Of a symmetric matrix, symmetric to the last digit."""
    inverse = np.linalg.inv(matrix)
    return np.asarray(0.5 * (inverse + inverse.T), np.float64)
