"""From a robot to a tree of scalar joints: joints, rigid links, payloads and a base that moves.

What deforms is added by the builders of formulations, which derive from this one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import hat, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import BASE, End, FlexibleLink, Freedom, FreeJoint, Joint, LinearLaw, RigidLink, Robot, SphericalJoint
from pliant.robot.loop import parent_frame
from pliant.structures.places import IDENTITY, ORIGIN, Place, place_on
from pliant.structures.tree.columns import TRANSLATION_X, TRANSLATION_Y, TRANSLATION_Z, TURN_X, TURN_Y, TURN_Z
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.structure import ON_BASE, Bodies, LinkPlaces, Part, base_place

TRANSLATIONS, ROTATIONS = (TRANSLATION_X, TRANSLATION_Y, TRANSLATION_Z), (TURN_X, TURN_Y, TURN_Z)
BASE_MOTIONS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class TreeBuilder(ABC):
    """Grows a tree joint by joint from the base; ``names`` are those of coordinates."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.names: list[str] = []
        self.parent: list[int] = []
        self.kind: list[int] = []
        self.placement: list[tuple[Floats, Floats]] = []
        self.inertia: list[Floats] = []
        self.freedoms: list[Freedom] = []
        self.joints: list[int] = []
        self.elastic: list[int] = []
        self.base: list[int] = []
        self.parts: list[Part] = []
        self.links: dict[str, LinkPlaces] = {}

    def build(self, moving_base: bool) -> None:
        """Everything that the robot has."""
        if moving_base:
            self.loosen_base()
        for joint in self.robot.chain_order:
            root = self.cross(joint)
            link = self.robot.link(joint.child)
            if isinstance(link, RigidLink):
                self.add_rigid(link, root)
            else:
                self.add_flexible(joint.child, root)
        for payload in self.robot.payloads:
            whole = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
            own = self.links[payload.link]
            self.carry(payload.link, own.tip if payload.at is End.TIP else own.root, whole)

    @abstractmethod
    def add_flexible(self, name: str, root: Place) -> None:
        """A link that is not rigid by itself, with its root at a frame."""

    @abstractmethod
    def at_station(self, link: LinkPlaces, station: float) -> Place:
        """The frame of a link at a station in metres."""

    def body(self, kind: int, at: Place) -> Place:
        """One more joint of the tree and its body; the frame of that body."""
        self.parent.append(at.body)
        self.kind.append(kind)
        self.placement.append((at.rotation, at.position))
        self.inertia.append(np.zeros((6, 6)))
        return Place(len(self.parent) - 1, ORIGIN, IDENTITY)

    def coordinate(self, name: str, kind: int, at: Place) -> Place:
        """One more coordinate that is a joint of its own; the frame of its body."""
        self.names.append(name)
        return self.body(kind, at)

    def loosen_base(self) -> None:
        """Three translations and three rotations before everything else."""
        at = base_place(0)
        for kind, word in zip((*TRANSLATIONS, *ROTATIONS), BASE_MOTIONS, strict=True):
            self.base.append(len(self.names))
            at = self.coordinate(f"{BASE}.{word}", kind, at)

    def cross(self, joint: Joint) -> Place:
        """The root of the child of a joint."""
        at = place_on(self.links, base_place(len(self.base)), parent_frame(joint), self.at_station)
        for freedom in joint.freedoms:
            axis = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
            frame, letter = _frame_of(axis)
            kinds = TRANSLATIONS if freedom.translates else ROTATIONS
            self.joints.append(len(self.names))
            self.freedoms.append(freedom)
            at = self.coordinate(freedom.name, kinds[letter], at.turned(frame)).turned(frame.T)
        return at

    def add_rigid(self, link: RigidLink, root: Place) -> None:
        tip = root.moved(link.tip_position).turned(matrix_of(link.tip_rotation))
        ends = np.array([0.0, float(np.linalg.norm(link.tip_position))])
        self.links[link.name] = LinkPlaces(link.name, ends, (root, tip), np.zeros(2), (), tip)
        self.carry(link.name, root, spatial_inertia(link.mass, link.center_of_mass, link.inertia))

    def carry(self, link: str, place: Place, inertia: Floats) -> None:
        """A rigid part of a link, with an inertia (6, 6) in a frame."""
        own = transform_inertia(inertia, place.rotation, place.position)
        self.parts.append(Part(link, place.body, own))
        if place.body != ON_BASE:
            self.inertia[place.body] += own

    def bodies(self) -> Bodies:
        n = len(self.parent)
        mass, center, tensor = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
        for i, matrix in enumerate(self.inertia):
            mass[i] = matrix[0, 0]
            center[i] = center_of_inertia(matrix)
            cross = hat(center[i])
            tensor[i] = matrix[3:, 3:] + mass[i] * cross @ cross
            tensor[i] = 0.5 * (tensor[i] + tensor[i].T)
            if np.abs(tensor[i]).max() <= 1e-14 * np.abs(matrix[3:, 3:]).max():
                tensor[i] = 0.0  # a point mass, but for rounding
        rotation = np.array([R for R, _ in self.placement]).reshape(n, 3, 3)
        position = np.array([r for _, r in self.placement]).reshape(n, 3)
        parent, kind = np.array(self.parent, np.int64), np.array(self.kind, np.int64)
        return Bodies(parent, kind, rotation, position, mass, center, tensor)


def center_of_inertia(inertia: Floats) -> Floats:
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


def refuse_beyond_trees(robot: Robot, formulation: str) -> None:
    """What no formulation in minimal coordinates models."""
    for loop in robot.loops:
        if not loop.obeys_nothing:
            raise InvalidInput(
                f"loop joint '{loop.name}' has a spring, damping, friction or stops, which {formulation} carries at"
                " joints of the tree only; close the loop at another joint, or use PoseElement"
            )
    for joint in robot.chain_order:
        if isinstance(joint, (SphericalJoint, FreeJoint)):
            raise InvalidInput(
                f"joint '{joint.name}' is a {type(joint).__name__}, whose three angles have a singular posture,"
                f" which {formulation} does not carry; use a universal joint, or PoseElement"
            )
    for link in robot.links:
        if isinstance(link, FlexibleLink) and any(link.viscous_damping):
            raise InvalidInput(
                f"link '{link.name}' has viscous_damping, which {formulation} does not carry; remove it, or use"
                " GeometricallyExact"
            )


def refuse_other_laws(robot: Robot, because: str) -> None:
    """Links whose material is not linear."""
    for link in robot.links:
        if isinstance(link, FlexibleLink) and not isinstance(link.law, LinearLaw):
            raise InvalidInput(
                f"link '{link.name}' has a {link.law.word} law, and {because}; use GeometricallyExact, or write a"
                " linear law"
            )
