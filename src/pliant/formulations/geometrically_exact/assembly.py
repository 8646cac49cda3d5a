"""From a robot to the arrays of a chain."""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import element_ends, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import (
    FixedJoint,
    FlexibleLink,
    HardeningLaw,
    Joint,
    Link,
    PrismaticJoint,
    RevoluteJoint,
    RigidLink,
    Robot,
)
from pliant.robot.joint import Role
from pliant.robot.link import End
from pliant.structures.collocation.chain import (
    FIXED,
    PRISMATIC,
    REVOLUTE,
    Chain,
    Floats,
    Inertia,
    Mesh,
    Points,
    Section,
    Stationing,
    Tree,
)


def beyond_spectral_links(robot: Robot) -> str:
    """Why spectral links do not carry the robot, or nothing: they stand on a tree of plain joints."""
    for joint in robot.joints:
        if not isinstance(joint, (RevoluteJoint, PrismaticJoint, FixedJoint)):
            return f"joint '{joint.name}' is {joint.word}"
        if joint.station is not None or joint.role is not Role.ARM:
            return f"joint '{joint.name}' sits at a station or carries a part aside"
        if not all(freedom.law.obeys_nothing for freedom in joint.freedoms):
            return f"joint '{joint.name}' has a spring, damping, friction or limits"
    for loop in robot.loops:
        return f"loop joint '{loop.name}' closes a loop"
    return ""


def _joint_subspace(joint: Joint) -> tuple[int, Floats]:
    subspace = np.zeros(6)
    if isinstance(joint, (RevoluteJoint, PrismaticJoint)):
        axis = np.asarray(joint.axis, dtype=float)
        axis = axis / np.linalg.norm(axis)
        if isinstance(joint, RevoluteJoint):
            subspace[3:] = axis
            return REVOLUTE, subspace
        subspace[:3] = axis
        return PRISMATIC, subspace
    assert isinstance(joint, FixedJoint)
    return FIXED, subspace


def build_chain(robot: Robot, points: Points, elements: dict[str, int]) -> tuple[Chain, Stationing]:
    """Discretise every link of the robot and connect them by its joints."""
    reason = beyond_spectral_links(robot)
    if reason:
        raise InvalidInput(f"{reason}, which this element does not carry; use PoseElement")
    joints = robot.chain_order
    index = {joint.child: k for k, joint in enumerate(joints)}
    links = [robot.link(joint.child) for joint in joints]
    first_node, last_node, first_element, n_elements = [], [], [], []
    start: list[int] = []
    length: list[float] = []
    stationing: list[tuple[Floats, Floats, Floats]] = []
    nodes = 0
    for link in links:
        first_node.append(nodes)
        first_element.append(len(start))
        if isinstance(link, FlexibleLink):
            ends = element_ends(link, elements[link.name])
            widths = np.diff(ends)
            for width in widths:
                start.append(nodes)
                length.append(float(width))
                nodes += len(points.nodes) - 1
            at_nodes = np.concatenate([*(a + w * points.nodes[:-1] for a, w in zip(ends, widths)), ends[-1:]])
            at_points = np.concatenate([a + w * points.strain_points for a, w in zip(ends, widths)])
            stationing.append((ends, at_nodes, at_points))
            n_elements.append(len(widths))
        else:
            stationing.append((np.zeros(0), np.zeros(0), np.zeros(0)))
            n_elements.append(0)
        last_node.append(nodes)
        nodes += 1

    count = len(links)
    kind, dof = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    parent, parent_node = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    S, rotation, position = np.zeros((count, 6)), np.zeros((count, 9)), np.zeros((count, 3))
    moving = 0
    for k, joint in enumerate(joints):
        kind[k], S[k] = _joint_subspace(joint)
        if kind[k] != FIXED:
            dof[k] = moving
            moving += 1
        R, r = matrix_of(joint.rotation), np.asarray(joint.position, dtype=float)
        if joint.parent == "base":
            R0, r0 = matrix_of(robot.base.rotation), np.asarray(robot.base.position, dtype=float)
            R, r = R0 @ R, r0 + R0 @ r
        else:
            parent[k] = index[joint.parent]
            parent_node[k] = last_node[parent[k]]
            carrier = links[parent[k]]
            if isinstance(carrier, RigidLink):
                Rt, rt = matrix_of(carrier.tip_rotation), np.asarray(carrier.tip_position, dtype=float)
                R, r = Rt @ R, rt + Rt @ r
        rotation[k], position[k] = R.ravel(), r
    children = np.array([int(np.sum(parent == k)) for k in range(count)], dtype=np.int64)
    as_ints = [np.array(a, dtype=np.int64) for a in (first_node, last_node, first_element, n_elements)]
    first, last, elements_from, element_counts = as_ints
    tree = Tree(
        first,
        last,
        elements_from,
        element_counts,
        parent,
        parent_node,
        children,
        kind,
        dof,
        S,
        rotation,
        position,
    )
    mesh = points.mesh(start, length)
    placed = Stationing(*(tuple(row) for row in zip(*stationing)))
    section = _section(links, placed, len(start) * points.degree)
    inertia = _inertia(robot, links, tree, mesh, points, placed, nodes)
    return Chain(tree, mesh, section, inertia), placed


def _section(links: list[Link], placed: Stationing, count: int) -> Section:
    rest, C, Cd = np.zeros((count, 6)), np.zeros((count, 6, 6)), np.zeros((count, 6, 6))
    cubic, quintic = np.zeros((count, 6)), np.zeros((count, 6))
    k = 0
    for link, at in zip(links, placed.points):
        rows = slice(k, k + len(at))
        k += len(at)
        if not isinstance(link, FlexibleLink):
            continue
        rest[rows], C[rows], Cd[rows] = link.rest_strain(at), link.stiffness(at), link.material_damping(at)
        if isinstance(link.law, HardeningLaw):
            cubic[rows], quintic[rows] = link.law.cubic, link.law.quintic
    return Section(rest, C, Cd, cubic, quintic, bool(Cd.any()), bool(cubic.any() or quintic.any()))


def _inertia(
    robot: Robot,
    links: list[Link],
    tree: Tree,
    mesh: Mesh,
    points: Points,
    placed: Stationing,
    nodes: int,
) -> Inertia:
    M, viscous = np.zeros((nodes, 6, 6)), np.zeros((nodes, 6, 6))
    M_point = np.zeros((len(mesh.start) if points.mass_at_points else 0, 6, 6))
    for k, link in enumerate(links):
        if isinstance(link, RigidLink):
            M[tree.first_node[k]] += spatial_inertia(link.mass, link.center_of_mass, link.inertia)
            continue
        assert isinstance(link, FlexibleLink)
        ends = placed.ends[k]
        for i in range(tree.n_elements[k]):
            e = tree.first_element[k] + i
            # one-sided values, so that a property that jumps at an element end stays on its side
            inside = ends[i] + mesh.length[e] * np.clip(points.nodes, 1e-9, 1 - 1e-9)
            drag = link.viscous_damping_matrix(inside)
            mass = link.inertia(inside)
            for a, weight in enumerate(points.node_weights * mesh.length[e]):
                viscous[mesh.start[e] + a] += weight * drag[a]
                if not points.mass_at_points:
                    M[mesh.start[e] + a] += weight * mass[a]
            if points.mass_at_points:
                at = ends[i] + mesh.length[e] * points.strain_points
                M_point[e] = mesh.length[e] * link.inertia(at)[0]
    for payload in robot.payloads:
        k = [link.name for link in links].index(payload.link)
        body = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
        carrier = links[k]
        node = tree.first_node[k] if payload.at is End.ROOT else tree.last_node[k]
        if isinstance(carrier, RigidLink) and payload.at is End.TIP:
            body = transform_inertia(
                body, matrix_of(carrier.tip_rotation), np.asarray(carrier.tip_position, dtype=float)
            )
        M[node] += body
    # a flexible link fixed to a moving section shares one material point with it: one mass, one node
    for k in range(len(links)):
        if tree.kind[k] == FIXED and tree.parent[k] >= 0 and tree.n_elements[k] > 0:
            R, r = tree.rotation[k].reshape(3, 3), tree.position[k]
            root, carrier_node = tree.first_node[k], tree.parent_node[k]
            M[carrier_node] += transform_inertia(M[root], R, r)
            viscous[carrier_node] += transform_inertia(viscous[root], R, r)
            M[root] = 0.0
            viscous[root] = 0.0
    gravity = np.asarray(robot.gravity, dtype=float)
    return Inertia(M, viscous, M_point, points.mass_at_points, bool(viscous.any()), gravity)
