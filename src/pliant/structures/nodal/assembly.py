"""From a robot to the nodes, elements and lines of a mechanism."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import NO_FRICTION
from pliant.mechanics.rigid_body import element_ends, hat, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import At, End, FlexibleLink, FreeJoint, Joint, LinearLaw, RigidLink, Robot, SphericalJoint
from pliant.robot.link import STATION_SLACK
from pliant.robot.loop import parent_frame
from pliant.spatial.arrays import pose_from_twist, quaternion_from_rotation, twist_from_pose
from pliant.structures.joint_tables import Laws
from pliant.structures.loop_constraints import closing_rows
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND, POSE, PRISMATIC, REVOLUTE
from pliant.structures.nodal.mechanism import Bodies, Elements, Floats, Ints, Tree
from pliant.structures.nodal.tables import Head, Node, Nodes, lay_head
from pliant.structures.places import Place, place_on
from pliant.structures.relations import LineRows

PARTS_OF_REST = 16  # intervals of an element in which its rest shape is taken as a helix
MOST_TRIED = 100  # elements of a link, in search of a number of which one ends at a station


class ElementKind(Protocol):
    """How the stretches of a flexible link become elements: a choice of the formulation."""

    @property
    def code(self) -> int: ...

    @property
    def formulation(self) -> str:
        """Its name, for messages."""

    @property
    def word(self) -> str:
        """Its elements in words."""

    @property
    def shares(self) -> bool:
        """Whether the nodes of an element share inertia."""

    def lay(self, row: Node, link: FlexibleLink, a: float, b: float) -> tuple[Floats, Floats]:
        """Fill the row of an element between two stations; the inertia (6, 6) on both of its nodes."""


@dataclass(frozen=True)
class PoseElements:
    """Elements of constant strain, whose mass is on the nodes."""

    code: int = POSE
    formulation: str = "PoseElement"
    word: str = "pose elements"
    shares: bool = False

    def lay(self, row: Node, link: FlexibleLink, a: float, b: float) -> tuple[Floats, Floats]:
        """Section properties by Gauss points."""
        width = b - a
        row.rest = row.rest_twist / width
        row.rest_twist = row.rest * width  # to the last digit what its strain says
        middle = a + width * np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
        weights = np.array([5.0, 8.0, 5.0]) / 18.0
        row.K = np.einsum("n,nij->ij", weights, link.stiffness(middle))
        row.C = np.einsum("n,nij->ij", weights, link.material_damping(middle))
        row.seen = np.array([np.eye(6), row.K])
        return lumped_ends(link, a, b)


def lumped_ends(link: FlexibleLink, a: float, b: float) -> tuple[Floats, Floats]:
    """Half of the inertia of an element on each of its ends, by the sections there."""
    width = b - a
    near, far = 0.5 * width * link.inertia(inside(a, b))
    return near, far


def inside(a: float, b: float) -> Floats:
    """The ends of an element from inside, where a property that jumps there has its value."""
    return np.array([a + 1e-9 * (b - a), b - 1e-9 * (b - a)])


POSE_ELEMENTS = PoseElements()


@dataclass(frozen=True, eq=False)
class LinkNodes:
    """Nodes of a link from root to tip and their stations; of a rigid link its only one."""

    name: str
    nodes: Ints
    station: Floats
    tip: Place

    @property
    def root(self) -> Place:
        return Place(int(self.nodes[0]))

    def shares(self, station: float) -> list[tuple[int, float]]:
        """The nodes around a station and the part of each: one alone where it lies, else those of the element."""
        near = int(np.argmin(np.abs(self.station - station)))
        if abs(self.station[near] - station) <= STATION_SLACK * self.station[-1]:
            return [(int(self.nodes[near]), 1.0)]
        k = int(np.searchsorted(self.station, station))
        part = (station - self.station[k - 1]) / (self.station[k] - self.station[k - 1])
        return [(int(self.nodes[k - 1]), float(1.0 - part)), (int(self.nodes[k]), float(part))]


@dataclass(frozen=True, eq=False)
class Structure:
    """A robot as nodes, before anything is connected to it."""

    tree: Tree
    elements: Elements
    bodies: Bodies
    laws: Laws
    lines: LineRows
    links: tuple[LinkNodes, ...]
    heads: tuple[Head, ...]
    robot: Robot
    kind: ElementKind
    counts: dict[str, int]  # elements of each flexible link
    guided: frozenset[str]  # ball and free joints whose motion is prescribed
    references: dict[
        str, tuple[Place, Place]
    ]  # of ball and free joints under feedback: the frame they follow, the child
    world: int  # node that stays where the base was before it moved, -1: none
    rest_twist: Floats  # (nodes, 6) log of the relative pose of each element at rest
    seen: Floats  # (nodes, 2, 6, 6) strain and section wrench in the middle of each element per its deformation

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Of the joints of the tree, then of the loop joints that have coordinates."""
        return tuple(self.laws.names)

    @property
    def reference_names(self) -> frozenset[str]:
        """Coordinates of the frames that ball and free joints follow."""
        return frozenset(
            freedom.name for name in self.references for freedom in whole_joint(self.robot, name).reference_freedoms
        )

    @property
    def tip(self) -> Place:
        """That of the last link of the arm."""
        return self.link(self.robot.tip_link).tip

    def link(self, name: str) -> LinkNodes:
        return next(link for link in self.links if link.name == name)

    def place(self, at: At, in_world: bool = False) -> Place:
        """The node, and the pose on it, of a frame of the robot, or of the world where its base was at first."""
        base = self.world if in_world and self.world >= 0 else 0
        return _place({link.name: link for link in self.links}, at, self.kind, base)

    def ends(self, joint: str) -> tuple[Place, Place]:
        """The frames that a joint or loop joint ties together."""
        for loop in self.robot.loops:
            if loop.name == joint:
                return self.place(loop.first), self.place(loop.second)
        found = self.robot.joint(joint)
        return self.place(At(found.parent)), self.place(At(found.child, End.ROOT))


def whole_joint(robot: Robot, name: str) -> SphericalJoint | FreeJoint:
    """The ball or free joint of that name, of the tree or of a loop."""
    joints = (*robot.joints, *(loop.joint for loop in robot.loops))
    return next(each for each in joints if each.name == name and isinstance(each, (SphericalJoint, FreeJoint)))


def _place(links: Mapping[str, LinkNodes], at: At, kind: ElementKind, base: int = 0) -> Place:
    return place_on(links, Place(base), at, partial(_node_at, kind))


def _node_at(kind: ElementKind, link: LinkNodes, station: float) -> Place:
    (node, _), *others = link.shares(station)
    if others:
        nearest = link.station[np.argmin(np.abs(link.station - station))]
        part, least = station / link.station[-1], len(link.nodes)
        fitting = (n for n in range(least, MOST_TRIED) if abs(n * part - round(n * part)) <= STATION_SLACK * n)
        count = next(fitting, None)
        take = f"give the link {count} elements of {kind.formulation}, " if count else ""
        raise InvalidInput(
            f"a frame at station = {station:g} m of link '{link.name}' lies inside an element; write the border"
            f" {nearest:.6g} m, {take}or cut the link there in two by a fixed joint"
        )
    return Place(node)


def assemble(
    robot: Robot,
    counts: dict[str, int],
    kind: ElementKind = POSE_ELEMENTS,
    driven: Collection[str] = (),
    guided: Collection[str] = (),
    followed: Collection[str] = (),
    in_world: bool = False,
) -> Structure:
    """All links and joints of the robot as nodes; its loop joints as lines.

    Loop joints that obey a law or are ``driven`` have coordinates too. Ball and free joints whose motion is prescribed
    are ``guided``: they go through plain coordinates, which cannot lock because none of them is free. So does a frame
    without mass beside each ball and free joint whose reference is ``followed``. Something ``in_world`` asks for a node
    that stays there if the base is moved.
    """
    nodes, laws, lines = Nodes(), Laws(), LineRows()
    nodes.add(-1, GROUND)
    links: dict[str, LinkNodes] = {}
    for joint in robot.chain_order:
        at = _place(links, parent_frame(joint), kind)
        root = _joint_nodes(nodes, laws, lines, joint, at, joint.name in guided)
        link = robot.link(joint.child)
        if isinstance(link, FlexibleLink):
            links[link.name] = _flexible_nodes(nodes, link, root, kind, counts[link.name])
        else:
            assert isinstance(link, RigidLink)
            nodes.add_inertia(root, spatial_inertia(link.mass, link.center_of_mass, link.inertia))
            tip = Place(root, np.asarray(link.tip_position, float), matrix_of(link.tip_rotation))
            reach = float(np.linalg.norm(tip.position))
            links[link.name] = LinkNodes(link.name, np.array([root]), np.array([0.0, reach]), tip)
    for payload in robot.payloads:
        link_nodes = links[payload.link]
        matrix = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
        if payload.at is End.TIP:
            tip = link_nodes.tip
            nodes.add_inertia(tip.body, transform_inertia(matrix, tip.rotation, tip.position))
        else:
            nodes.add_inertia(int(link_nodes.nodes[0]), matrix)
    heads = []
    for loop in robot.loops:
        first, second = (_place(links, at, kind) for at in (loop.first, loop.second))
        if loop.freedoms and (loop.name in driven or not loop.obeys_nothing):
            heads.append(lay_head(nodes, laws, lines, loop, first, second))
        else:
            lines.close(loop.name, closing_rows(loop), first, second)
    references = {
        name: _reference(nodes, laws, robot, name, lambda at: _place(links, at, kind))
        for name in sorted(set(followed) - set(guided))
    }
    world = nodes.add(-1, GROUND) if in_world else -1
    rest_twist, seen, *rows = nodes.columns("rest_twist", "seen", "length", "rest", "K", "C", "shared")
    structure = Structure(
        _tree(nodes),
        Elements(kind.code, kind.shares, *rows),
        _bodies(nodes, robot),
        laws,
        lines,
        tuple(links.values()),
        tuple(heads),
        robot,
        kind,
        counts,
        frozenset(guided),
        references,
        world,
        rest_twist,
        seen,
    )
    _refuse_dead_ends(structure)
    return structure


def _joint_nodes(nodes: Nodes, laws: Laws, lines: LineRows, joint: Joint, at: Place, guided: bool) -> int:
    """The nodes of a joint; returns the root of the child."""
    if isinstance(joint, FreeJoint):
        root = nodes.add(-1, FREE) if not guided else _guided(nodes, laws, joint, at)
        nodes[root].viscous = np.array(joint.damping, float)
        if joint.slide_friction or joint.turn_friction:
            both = joint.slide_friction, joint.turn_friction
            nodes[root].grip = np.array([each.row if each else NO_FRICTION for each in both])
        lines.hold_free(joint, at, Place(root))
        return root
    if not joint.freedoms:
        return nodes.add(at.body, FIXED, at.position, at.rotation)
    if isinstance(joint, SphericalJoint):
        if guided:
            root = _guided(nodes, laws, joint, at)
        else:
            root = nodes.add_joint(joint.freedoms, True, at, laws.add(joint, joint.freedoms, True))
        lines.hold_ball(joint, at, Place(root))
        return root
    return nodes.add_joint(joint.freedoms, False, at, laws.add(joint, joint.freedoms, False))


def _guided(nodes: Nodes, laws: Laws, joint: SphericalJoint | FreeJoint, at: Place) -> int:
    """A ball or free joint by translations and rotations in a row."""
    if isinstance(joint, SphericalJoint) and (joint.damping or joint.friction):
        raise InvalidInput(
            f"joint '{joint.name}' has damping or friction, which a ball does not carry while its motion is prescribed;"
            " remove them, or take a universal joint"
        )
    return nodes.add_joint(joint.guided_freedoms, False, at, laws.add(joint, joint.guided_freedoms, False))


def _reference(nodes: Nodes, laws: Laws, robot: Robot, name: str, place: Callable[[At], Place]) -> tuple[Place, Place]:
    """A frame beside a ball or free joint, moved by prescribed coordinates, and that of the child."""
    joint = whole_joint(robot, name)
    ends = next(((loop.first, loop.second) for loop in robot.loops if loop.name == name), None)
    if ends is None:
        ends = parent_frame(joint), At(joint.child, End.ROOT)
    at, child = (place(end) for end in ends)
    freedoms = joint.reference_freedoms
    return Place(nodes.add_joint(freedoms, False, at, laws.add(joint, freedoms, False))), child


def _flexible_nodes(nodes: Nodes, link: FlexibleLink, root: int, kind: ElementKind, count: int) -> LinkNodes:
    if not isinstance(link.law, LinearLaw):
        raise InvalidInput(
            f"link '{link.name}' has a {link.law.word} law, and {kind.word} carry linear ones;"
            " use GeometricallyExact, or write a linear law"
        )
    ends = element_ends(link, count)
    rows = [root]
    nodes[root].shares = kind.shares
    for a, b in itertools.pairwise(ends):
        node = nodes.add(rows[-1], ELEMENT)
        row = nodes[node]
        row.length, row.shares = b - a, kind.shares
        row.rest_twist = twist_from_pose(rest_pose(link, a, b))
        masses, drag = kind.lay(row, link, a, b), link.viscous_damping_matrix(inside(a, b))
        for at, mass, viscous in zip((rows[-1], node), masses, drag):
            nodes.add_inertia(at, mass)
            nodes[at].viscous = nodes[at].viscous + 0.5 * row.length * np.diag(viscous)
        rows.append(node)
    return LinkNodes(link.name, np.array(rows), ends, Place(rows[-1]))


def rest_pose(link: FlexibleLink, a: float, b: float) -> Floats:
    """Pose (4, 4) of the section at b in the frame of that at a, of the unloaded link."""
    marks = np.linspace(a, b, PARTS_OF_REST + 1)
    strains = link.rest_strain(0.5 * (marks[:-1] + marks[1:]))
    pose = np.eye(4)
    for step in pose_from_twist(np.diff(marks)[:, None] * strains):
        pose = pose @ step
    return pose


def _tree(nodes: Nodes) -> Tree:
    tree = Tree(*nodes.columns(*Tree._fields))
    return tree._replace(turn=quaternion_from_rotation(tree.turn))


def _bodies(nodes: Nodes, robot: Robot) -> Bodies:
    count = len(nodes)
    mass, center, J = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 9))
    for i in range(count):
        matrix = nodes[i].inertia
        mass[i] = matrix[0, 0]
        if mass[i] > 0.0:
            first = matrix[3:, :3] / mass[i]
            center[i] = 0.5 * np.array(
                [first[2, 1] - first[1, 2], first[0, 2] - first[2, 0], first[1, 0] - first[0, 1]]
            )
        cross = hat(center[i])
        J[i] = (matrix[3:, 3:] + mass[i] * cross @ cross).ravel()
    (viscous,) = nodes.columns("viscous")
    grips = {i: row.grip for i, row in enumerate(nodes.rows) if row.grip is not None}
    gripped = np.array([*grips], np.int64)
    drag = viscous[gripped]
    viscous[~viscous.any(axis=1), 0] = -1.0
    viscous[gripped, 0] = drag[:, 0]
    grip = np.array([*grips.values()], float).reshape(len(gripped), 2, 4)
    return Bodies(mass, center, J, viscous, np.asarray(robot.gravity, float), gripped, grip, drag)


def _refuse_dead_ends(structure: Structure) -> None:
    """A joint beyond which nothing has inertia along it has no equation of motion."""
    tree, bodies = structure.tree, structure.bodies
    heavy = bodies.mass + np.trace(bodies.J.reshape(-1, 3, 3), axis1=1, axis2=2) > 0.0
    for i in range(len(tree.parent) - 1, 0, -1):
        if tree.parent[i] >= 0 and heavy[i]:
            heavy[tree.parent[i]] = True
    of_references = [name in structure.reference_names for name in structure.coordinate_names]
    for i in range(len(tree.parent)):
        if tree.joint_type[i] in (REVOLUTE, PRISMATIC) and not heavy[i] and not of_references[tree.coordinate[i]]:
            own = structure.coordinate_names[tree.coordinate[i]]
            name = next(joint.name for joint in structure.robot.joints if own in joint.coordinate_names)
            raise InvalidInput(
                f"joint '{name}' carries nothing that has inertia; give what it carries a mass, or make the joint fixed"
            )
