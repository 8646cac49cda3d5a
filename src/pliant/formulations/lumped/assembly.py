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
from enum import Enum
from functools import partial

import numpy as np

from pliant.errors import InvalidInput, refuse_outside
from pliant.formulations.lumped import fields as springs
from pliant.formulations.lumped.fields import ALL_DEFLECTIONS, Beam, Deflection, Field, LumpedStructure, Stretch
from pliant.mechanics.rigid_body import hat, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import BASE, End, FlexibleLink, Freedom, Joint, ReducedLink, RigidLink, Robot
from pliant.robot.declared import BadValue, MatrixLike, Quantity
from pliant.robot.loop import parent_frame
from pliant.structures.places import IDENTITY, ORIGIN, Place, place_on
from pliant.structures.tree import structure as places
from pliant.structures.tree.columns import TRANSLATION_X, TRANSLATION_Y, TRANSLATION_Z, TURN_X, TURN_Y, TURN_Z
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.structure import ON_BASE, LinkPlaces, Part

MOST_FIELDS = 200
FIELD_STIFFNESS = Quantity.matrix(
    "N/m, N/rad, N m/rad", "force and moment per deflection (dx, dy, dz, phx, phy, phz) of the field", definite=True
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
        owner = f"JointField '{self.joint}'"
        object.__setattr__(self, "deflections", _in_order(owner, self.deflections))
        object.__setattr__(self, "stiffness", _balanced(owner, self.stiffness))


def refuse_other_choice(owner: str, field: str, value: object, options: type[Enum]) -> None:
    """A word or a number in place of a choice would be taken for one of them in silence."""
    if not isinstance(value, options):
        names = ", ".join(f"{options.__name__}.{option.name}" for option in options)
        raise InvalidInput(f"{owner}: {field} = {value!r} is not known; write one of {names}")


def _in_order(owner: str, deflections: tuple[Deflection, ...]) -> tuple[Deflection, ...]:
    if isinstance(deflections, (Deflection, str)) or not isinstance(deflections, Iterable):
        raise InvalidInput(f"{owner}: deflections = {deflections!r} is not several; write them as (Deflection.Y, ...)")
    for each in deflections:
        refuse_other_choice(owner, "one of the deflections", each, Deflection)
    if not deflections:
        raise InvalidInput(f"deflections of {owner} are empty; name one, or use a rigid link")
    return tuple(sorted(set(deflections)))


def _balanced(owner: str, stiffness: MatrixLike) -> MatrixLike:
    try:
        balanced: MatrixLike = FIELD_STIFFNESS.checked(stiffness)
    except BadValue as bad:
        raise InvalidInput(f"stiffness of {owner} {bad.text}") from bad
    return balanced


TRANSLATIONS, ROTATIONS = (TRANSLATION_X, TRANSLATION_Y, TRANSLATION_Z), (TURN_X, TURN_Y, TURN_Z)
BASE_MOTIONS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")
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
    builder = _Builder(robot, beam, condensed)
    if moving_base:
        builder.loosen_base()
    yielding = {each.joint: each for each in joint_fields}
    for joint in robot.chain_order:
        root = builder.cross(joint)
        if joint.name in yielding:
            root = builder.yield_at(yielding[joint.name], root)
        link = robot.link(joint.child)
        if isinstance(link, (RigidLink, ReducedLink)):
            builder.add_rigid(link if isinstance(link, RigidLink) else link.undeformed, root)
        else:
            assert isinstance(link, FlexibleLink)
            if link.name in fields:
                builder.add_fields(link, root, fields[link.name])
            else:
                builder.add_rest_shape(link, root)
    for payload in robot.payloads:
        builder.add_payload(payload.link, payload.at, payload.center_of_mass, payload.mass, payload.inertia)
    return builder.structure()


class _Builder:
    def __init__(self, robot: Robot, beam: Beam, condensed: bool) -> None:
        self.robot, self.beam, self.condensed = robot, beam, condensed
        self.names: list[str] = []
        self.parent: list[int] = []
        self.kind: list[int] = []
        self.placement: list[tuple[Floats, Floats]] = []
        self.inertia: list[Floats] = []
        self.behind_field: list[bool] = []
        self.freedoms: list[Freedom] = []
        self.joints: list[int] = []
        self.elastic: list[int] = []
        self.base: list[int] = []
        self.fields: list[Field] = []
        self.stations: list[tuple[str, Place]] = []
        self.masses: dict[str, float] = {}
        self.parts: list[Part] = []
        self.links: dict[str, LinkPlaces] = {}

    def coordinate(self, name: str, kind: int, at: Place) -> Place:
        """One more coordinate and its body; the frame of that body."""
        behind = at.body != ON_BASE and self.behind_field[at.body]
        self.names.append(name)
        self.parent.append(at.body)
        self.kind.append(kind)
        self.placement.append((at.rotation, at.position))
        self.inertia.append(np.zeros((6, 6)))
        self.behind_field.append(behind)
        return Place(len(self.names) - 1, ORIGIN, IDENTITY)

    def loosen_base(self) -> None:
        """Three translations and three rotations before everything else."""
        at = places.base_place(0)
        for kind, word in zip((*TRANSLATIONS, *ROTATIONS), BASE_MOTIONS, strict=True):
            self.base.append(len(self.names))
            at = self.coordinate(f"{BASE}.{word}", kind, at)

    def cross(self, joint: Joint) -> Place:
        """The root of the child of a joint."""
        on_base = places.base_place(len(self.base))
        at = place_on(self.links, on_base, parent_frame(joint), partial(springs.section_at, self.robot))
        for freedom in joint.freedoms:
            axis = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
            frame, letter = _frame_of(axis)
            kinds = TRANSLATIONS if freedom.translates else ROTATIONS
            self.joints.append(len(self.names))
            self.freedoms.append(freedom)
            at = self.coordinate(freedom.name, kinds[letter], at.turned(frame)).turned(frame.T)
        return at

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
                stiffness = _inverse(springs.end_flexibility(stretch, self.beam))
                damping = springs.end_damping(stretch, self.beam, stiffness)
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
            inertia = springs.lumped_inertia(link, *span)
            if self.condensed:
                inertia = spatial_inertia(inertia[0, 0], ORIGIN, ORIGIN)
            self.carry(link.name, name, place, inertia)

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
        self.carry(link.name, name, root, whole.inertia())
        self.links[link.name] = LinkPlaces(link.name, marks, tuple(nodes), shares, (), nodes[-1])

    def add_rigid(self, link: RigidLink, root: Place) -> None:
        tip = root.moved(link.tip_position).turned(matrix_of(link.tip_rotation))
        name = self.station(f"{link.name}.station", root)
        self.carry(link.name, name, root, spatial_inertia(link.mass, link.center_of_mass, link.inertia))
        ends = np.array([0.0, float(np.linalg.norm(link.tip_position))])
        self.links[link.name] = LinkPlaces(link.name, ends, (root, tip), np.zeros(2), (), tip)

    def add_payload(self, link: str, end: End, center: object, mass: float, inertia: object) -> None:
        own = self.links[link]
        place = own.tip if end is End.TIP else own.root
        names = [name for name, _ in self.stations if name.startswith(f"{link}.station")]
        name = names[-1] if end is End.TIP else names[0]
        whole = spatial_inertia(mass, np.asarray(center, float), np.asarray(inertia, float))
        self.carry(link, name, place, whole)

    def carry(self, link: str, station: str, place: Place, inertia: Floats) -> None:
        """A rigid body on a frame; where station inertia is neglected and fields lie before it, its mass alone."""
        self.masses[station] += float(inertia[0, 0])
        if self.condensed and place.body != ON_BASE and self.behind_field[place.body]:
            off = place.position + place.rotation @ _center(inertia)
            if inertia[0, 0] > 0.0 and np.linalg.norm(off) > SAME_POINT:
                raise InvalidInput(
                    f"'{station}' has a mass {np.linalg.norm(off):.3g} m from the station before it, which a rotation"
                    " of the fields would move; keep the inertia of stations, or put the mass on the station"
                )
            inertia = spatial_inertia(inertia[0, 0], ORIGIN, ORIGIN)
        own = transform_inertia(inertia, place.rotation, place.position)
        self.parts.append(Part(link, place.body, own))
        if place.body != ON_BASE:
            self.inertia[place.body] += own

    def structure(self) -> LumpedStructure:
        stations = tuple(springs.Station(name, place, self.masses[name]) for name, place in self.stations)
        whole = np.int64
        return LumpedStructure(
            self.robot, tuple(self.names), self.bodies(), tuple(self.freedoms), np.array(self.joints, whole),
            np.array(self.elastic, whole), np.array(self.base, whole), tuple(self.parts),
            tuple(self.links.values()), self.condensed, self.beam, tuple(self.fields), stations,
        )  # fmt: skip

    def bodies(self) -> places.Bodies:
        n = len(self.names)
        mass, center, tensor = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        for i, matrix in enumerate(self.inertia):
            mass[i] = matrix[0, 0]
            if not np.allclose(matrix[:3, :3], mass[i] * IDENTITY, rtol=0.0, atol=1e-12 * mass[i]):
                raise InvalidInput(
                    f"robot '{self.robot.name}' has a section whose mass differs between directions, which no rigid"
                    " body has; use GeometricallyExact, or give the linear inertia as a multiple of the identity"
                )
            center[i] = _center(matrix)
            cross = hat(center[i])
            tensor[i] = matrix[3:, 3:] + mass[i] * cross @ cross
            tensor[i] = 0.5 * (tensor[i] + tensor[i].T)
            if np.abs(tensor[i]).max() <= 1e-14 * np.abs(matrix[3:, 3:]).max():
                tensor[i] = 0.0  # a point mass, but for rounding
        rotation = np.array([R for R, _ in self.placement]).reshape(n, 3, 3)
        position = np.array([r for _, r in self.placement]).reshape(n, 3)
        parent, kind = np.array(self.parent, np.int64), np.array(self.kind, np.int64)
        return places.Bodies(parent, kind, rotation, position, mass, center, tensor)


def _inverse(matrix: Floats) -> Floats:
    """Of a symmetric matrix, symmetric to the last digit."""
    inverse = np.linalg.inv(matrix)
    return np.asarray(0.5 * (inverse + inverse.T), np.float64)


def _center(inertia: Floats) -> Floats:
    """Centre of mass of a spatial inertia."""
    if inertia[0, 0] == 0.0:
        return np.zeros(3)
    first = inertia[3:, :3] / inertia[0, 0]
    return 0.5 * np.array([first[2, 1] - first[1, 2], first[0, 2] - first[2, 0], first[1, 0] - first[0, 1]])


def _frame_of(axis: Floats) -> tuple[Floats, int]:
    """A rotation and which of its axes lies along ``axis``; none where the axis is x, y or z already."""
    for letter in range(3):
        if axis[letter] == 1.0:
            return IDENTITY, letter
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(helper, axis)
    one /= np.linalg.norm(one)
    return np.column_stack([one, np.cross(axis, one), axis]), 2
