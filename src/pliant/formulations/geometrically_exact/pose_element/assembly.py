"""From a robot to the nodes, elements and lines of a mechanism."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.formulations.geometrically_exact.discretise import element_ends
from pliant.formulations.geometrically_exact.pose_element.joint_tables import Laws, LineRows, friction_row
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    Bodies,
    Elements,
    Floats,
    Ints,
    Tree,
)
from pliant.mechanics.rigid_body import hat, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import (
    At,
    End,
    FlexibleLink,
    FreeJoint,
    Joint,
    LinearLaw,
    RigidLink,
    Robot,
    SphericalJoint,
)
from pliant.robot.joint import BASE
from pliant.spatial.arrays import pose_from_twist, quaternion_from_rotation, twist_from_pose

PARTS_OF_REST = 16  # intervals of an element in which its rest shape is taken as a helix
IDENTITY = np.eye(3)
ORIGIN = np.zeros(3)
HUGE = 1e300


@dataclass(frozen=True)
class Place:
    """A frame fixed to a node."""

    node: int
    position: Floats
    rotation: Floats

    def moved(self, position: ArrayLike) -> Place:
        """A frame at a position in this one."""
        return Place(self.node, self.position + self.rotation @ np.asarray(position, float), self.rotation)

    def turned(self, rotation: Floats) -> Place:
        """A frame turned against this one."""
        return Place(self.node, self.position, self.rotation @ rotation)


@dataclass
class Nodes:
    """Rows of the tree while it grows."""

    parent: list[int] = field(default_factory=list)
    hang: list[int] = field(default_factory=list)
    coordinate: list[int] = field(default_factory=list)
    axis: list[Floats] = field(default_factory=list)
    axis_parent: list[Floats] = field(default_factory=list)
    offset: list[Floats] = field(default_factory=list)
    turn: list[Floats] = field(default_factory=list)
    restarts: list[bool] = field(default_factory=list)
    length: list[float] = field(default_factory=list)
    rest: list[Floats] = field(default_factory=list)
    K: list[Floats] = field(default_factory=list)
    C: list[Floats] = field(default_factory=list)
    inertia: list[Floats] = field(default_factory=list)
    viscous: list[Floats] = field(default_factory=list)
    grip: dict[int, Floats] = field(default_factory=dict)

    def add(self, parent: int, hang: int, offset: ArrayLike = ORIGIN, turn: Floats = IDENTITY) -> int:
        """A node that hangs on its parent rigidly or on nothing; what else it is follows."""
        self.parent.append(parent)
        self.hang.append(hang)
        self.coordinate.append(-1)
        self.axis.append(np.zeros(3))
        self.axis_parent.append(np.zeros(3))
        self.offset.append(np.asarray(offset, float))
        self.turn.append(np.asarray(turn, float))
        self.restarts.append(False)
        self.length.append(1.0)
        self.rest.append(np.zeros(6))
        for square in (self.K, self.C, self.inertia):
            square.append(np.zeros((6, 6)))
        self.viscous.append(np.zeros(6))
        return len(self.parent) - 1

    def carrier(self, node: int) -> tuple[int, Floats, Floats]:
        """The node to which ``node`` is rigidly fixed in the end, and its pose there."""
        R, r = IDENTITY, ORIGIN
        while self.hang[node] == FIXED:
            R, r = self.turn[node] @ R, self.offset[node] + self.turn[node] @ r
            node = self.parent[node]
        return node, R, r

    def add_inertia(self, node: int, matrix: Floats) -> None:
        """A rigid body on a node; on a node that is fixed to another the other carries it."""
        at, R, r = self.carrier(node)
        self.inertia[at] = self.inertia[at] + transform_inertia(matrix, R, r)


@dataclass(frozen=True, eq=False)
class LinkNodes:
    """Nodes of a link from root to tip and their stations; of a rigid link its only one."""

    name: str
    nodes: Ints
    station: Floats
    tip: Place


@dataclass(frozen=True, eq=False)
class Structure:
    """A robot as nodes, before anything is connected to it."""

    tree: Tree
    elements: Elements
    bodies: Bodies
    laws: Laws
    lines: LineRows
    links: tuple[LinkNodes, ...]
    coordinate_names: tuple[str, ...]
    robot: Robot

    def link(self, name: str) -> LinkNodes:
        return next(link for link in self.links if link.name == name)

    def place(self, at: At) -> Place:
        """The node, and the pose on it, of a frame of the robot."""
        R, r = matrix_of(at.rotation), np.asarray(at.position, float)
        if at.link == BASE:
            return Place(0, r, R)
        link = self.link(at.link)
        end = link.tip if at.end is End.TIP else Place(int(link.nodes[0]), ORIGIN, IDENTITY)
        return Place(end.node, end.position + end.rotation @ r, end.rotation @ R)


def assemble(robot: Robot, elements: dict[str, int]) -> Structure:
    """All links and joints of the robot as nodes; its loop joints as lines."""
    nodes, laws, lines = Nodes(), Laws(), LineRows()
    nodes.add(-1, GROUND)
    links: dict[str, LinkNodes] = {}
    names: list[str] = []
    for joint in robot.chain_order:
        parent = Place(0, ORIGIN, IDENTITY) if joint.parent == BASE else links[joint.parent].tip
        root = _joint_nodes(nodes, laws, lines, joint, parent)
        names.extend(joint.coordinate_names)
        link = robot.link(joint.child)
        if isinstance(link, FlexibleLink):
            links[link.name] = _flexible_nodes(nodes, link, root, elements[link.name])
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
            nodes.add_inertia(tip.node, transform_inertia(matrix, tip.rotation, tip.position))
        else:
            nodes.add_inertia(int(link_nodes.nodes[0]), matrix)
    structure = Structure(
        _tree(nodes),
        Elements(np.array(nodes.length), np.array(nodes.rest), np.array(nodes.K), np.array(nodes.C)),
        _bodies(nodes, robot),
        laws,
        lines,
        tuple(links.values()),
        tuple(names),
        robot,
    )
    for loop in robot.loops:
        lines.close(loop, structure.place(loop.first), structure.place(loop.second))
    _refuse_dead_ends(structure, joint_of=_joint_of_nodes(robot, structure))
    return structure


def _joint_nodes(nodes: Nodes, laws: Laws, lines: LineRows, joint: Joint, parent: Place) -> int:
    """The nodes of a joint; returns the root of the child."""
    R, r = (
        parent.rotation @ matrix_of(joint.rotation),
        parent.position + parent.rotation @ np.asarray(joint.position, float),
    )
    if isinstance(joint, FreeJoint):
        root = nodes.add(-1, FREE)
        nodes.viscous[root] = np.array(joint.damping, float)
        if joint.slide_friction or joint.turn_friction:
            nodes.grip[root] = np.array(
                [friction_row(joint.slide_friction), friction_row(joint.turn_friction)]
            )
        lines.hold_free(joint, Place(parent.node, r, R), Place(root, ORIGIN, IDENTITY))
        return root
    if not joint.freedoms:
        return nodes.add(parent.node, FIXED, r, R)
    at, first = parent.node, len(laws.names)
    ball = isinstance(joint, SphericalJoint)
    for k, freedom in enumerate(joint.freedoms):
        offset, turn = (r, R) if k == 0 else (ORIGIN, IDENTITY)
        node = nodes.add(at, PRISMATIC if freedom.slides else REVOLUTE, offset, turn)
        axis = np.asarray(freedom.axis, float)
        nodes.axis[node] = axis / np.linalg.norm(axis)
        nodes.axis_parent[node] = turn @ nodes.axis[node]
        nodes.coordinate[node] = len(laws.names)
        nodes.restarts[node] = ball and k == 0
        laws.add(freedom, joint, first if ball else -1)
        at = node
    if isinstance(joint, SphericalJoint):
        lines.hold_ball(joint, Place(parent.node, r, R), Place(at, ORIGIN, IDENTITY))
    return at


def _flexible_nodes(nodes: Nodes, link: FlexibleLink, root: int, count: int) -> LinkNodes:
    if not isinstance(link.law, LinearLaw):
        raise InvalidInput(
            f"link '{link.name}' has a {link.law.word} law, and pose elements carry linear ones;"
            " use GeometricallyExact, or write a linear law"
        )
    ends = element_ends(link, count)
    rows = [root]
    for a, b in itertools.pairwise(ends):
        node = nodes.add(rows[-1], ELEMENT)
        width = b - a
        inside = np.array([a + 1e-9 * width, b - 1e-9 * width])
        nodes.length[node] = width
        nodes.rest[node] = twist_from_pose(rest_pose(link, a, b)) / width
        middle = a + width * np.array([0.5 - np.sqrt(0.15), 0.5, 0.5 + np.sqrt(0.15)])
        weights = np.array([5.0, 8.0, 5.0]) / 18.0
        nodes.K[node] = np.einsum("n,nij->ij", weights, link.stiffness(middle))
        nodes.C[node] = np.einsum("n,nij->ij", weights, link.material_damping(middle))
        mass, drag = link.inertia(inside), link.viscous_damping_matrix(inside)
        for end, at in enumerate((rows[-1], node)):
            nodes.add_inertia(at, 0.5 * width * mass[end])
            nodes.viscous[at] = nodes.viscous[at] + 0.5 * width * np.diag(drag[end])
        rows.append(node)
    return LinkNodes(link.name, np.array(rows), ends, Place(rows[-1], ORIGIN, IDENTITY))


def rest_pose(link: FlexibleLink, a: float, b: float) -> Floats:
    """Pose (4, 4) of the section at b in the frame of that at a, of the unloaded link."""
    marks = np.linspace(a, b, PARTS_OF_REST + 1)
    pose = np.eye(4)
    for left, right in itertools.pairwise(marks):
        pose = pose @ pose_from_twist((right - left) * link.rest_strain([0.5 * (left + right)])[0])
    return pose


def _tree(nodes: Nodes) -> Tree:
    return Tree(
        np.array(nodes.parent, np.int64),
        np.array(nodes.hang, np.int64),
        np.array(nodes.coordinate, np.int64),
        np.array(nodes.axis),
        np.array(nodes.axis_parent),
        np.array(nodes.offset),
        quaternion_from_rotation(np.array(nodes.turn)),
        np.array(nodes.restarts),
    )


def _bodies(nodes: Nodes, robot: Robot) -> Bodies:
    count = len(nodes.parent)
    mass, center, J = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 9))
    for i in range(1, count):
        matrix = nodes.inertia[i]
        mass[i] = matrix[0, 0]
        if not np.allclose(matrix[:3, :3], mass[i] * np.eye(3), rtol=0.0, atol=1e-12 * max(mass[i], 1e-300)):
            raise InvalidInput(
                f"robot '{robot.name}' has a section whose mass differs between directions, which pose elements do"
                " not carry; use GeometricallyExact, or give the linear inertia as a multiple of the identity"
            )
        if mass[i] > 0.0:
            first = matrix[3:, :3] / mass[i]
            center[i] = 0.5 * np.array(
                [first[2, 1] - first[1, 2], first[0, 2] - first[2, 0], first[1, 0] - first[0, 1]]
            )
        cross = hat(center[i])
        J[i] = (matrix[3:, 3:] + mass[i] * cross @ cross).ravel()
    viscous = np.array(nodes.viscous)
    gripped = np.array([*nodes.grip], np.int64)
    drag = viscous[gripped]
    viscous[~viscous.any(axis=1), 0] = -1.0
    viscous[gripped, 0] = drag[:, 0]
    grip = np.array([*nodes.grip.values()], float).reshape(len(gripped), 2, 4)
    return Bodies(mass, center, J, viscous, np.asarray(robot.gravity, float), gripped, grip, drag)


def _joint_of_nodes(robot: Robot, structure: Structure) -> dict[int, str]:
    names: dict[int, str] = {}
    for joint in robot.joints:
        for k, name in enumerate(structure.coordinate_names):
            if name in joint.coordinate_names:
                names[k] = joint.name
    return names


def _refuse_dead_ends(structure: Structure, joint_of: dict[int, str]) -> None:
    """A joint beyond which nothing has inertia along it has no equation of motion."""
    tree, bodies = structure.tree, structure.bodies
    carried = np.array([spatial_mass(bodies, i) for i in range(len(tree.parent))])
    heavy = carried > 0.0
    for i in range(len(tree.parent) - 1, 0, -1):
        if tree.parent[i] >= 0 and heavy[i]:
            heavy[tree.parent[i]] = True
    for i in range(len(tree.parent)):
        if tree.hang[i] in (REVOLUTE, PRISMATIC) and not heavy[i]:
            raise InvalidInput(
                f"joint '{joint_of[int(tree.coordinate[i])]}' carries nothing that has inertia;"
                " give what hangs on it a mass, or make the joint fixed"
            )


def spatial_mass(bodies: Bodies, i: int) -> float:
    return float(bodies.mass[i] + np.trace(bodies.J[i].reshape(3, 3)))
