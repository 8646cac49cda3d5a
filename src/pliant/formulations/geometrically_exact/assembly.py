"""From a robot to the arrays of a chain."""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import element_ends, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import FixedJoint, FlexibleLink, HardeningLaw, Joint, PrismaticJoint, RevoluteJoint, RigidLink, Robot
from pliant.robot.joint import Role
from pliant.robot.link import End, Link
from pliant.structures.collocation import chain as arrays
from pliant.structures.collocation.chain import FIXED, Chain, Floats, Inertia, Mesh, Points, Stationing, Tree

ORIGIN = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # where joints sit on the end of a flexible link


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
        if not loop.obeys_nothing:
            return f"loop joint '{loop.name}' has a spring, damping, friction or limits"
    return ""


def _joint_subspace(joint: Joint) -> tuple[int, Floats]:
    if isinstance(joint, FixedJoint):
        return FIXED, np.zeros(6)
    assert isinstance(joint, (RevoluteJoint, PrismaticJoint))
    axis = np.asarray(joint.axis, dtype=float)
    axis, none = axis / np.linalg.norm(axis), np.zeros(3)
    if isinstance(joint, RevoluteJoint):
        return arrays.REVOLUTE, np.append(none, axis)
    return arrays.PRISMATIC, np.append(axis, none)


def build_chain(robot: Robot, points: Points, elements: dict[str, int]) -> tuple[Chain, Stationing]:
    """Discretise every link of the robot and connect them by its joints."""
    reason = beyond_spectral_links(robot)
    if reason:
        raise InvalidInput(f"{reason}, which this element does not carry; use PoseElement")
    if robot.loops and points.mass_at_points:
        raise InvalidInput(
            f"loop joint '{robot.loops[0].name}' closes a loop, but the mixed element carries no mass at its ends; use"
            " GeometricallyExact"
        )
    joints = robot.chain_order
    links = [robot.link(joint.child) for joint in joints]
    names, count = [link.name for link in links], len(links)
    numbers = [np.full(count, -1, np.int64) for _ in range(9)]
    tree = Tree._make([*numbers, *(np.zeros((count, size)) for size in (6, 9, 3))])
    start: list[int] = []
    length: list[float] = []
    stationing: list[tuple[Floats, Floats, Floats]] = []
    nodes = moving = 0
    for k, (joint, link) in enumerate(zip(joints, links)):
        tree.first_node[k], tree.first_element[k] = nodes, len(start)
        stations = (np.zeros(0), np.zeros(0), np.zeros(0))
        if isinstance(link, FlexibleLink):
            ends = element_ends(link, elements[link.name])
            spans = list(zip(ends, np.diff(ends)))
            for _, width in spans:
                start.append(nodes)
                length.append(float(width))
                nodes += len(points.nodes) - 1
            at_nodes = np.concatenate([*(a + width * points.nodes[:-1] for a, width in spans), ends[-1:]])
            stations = (ends, at_nodes, np.concatenate([a + width * points.strain_points for a, width in spans]))
        stationing.append(stations)
        tree.last_node[k], tree.n_elements[k] = nodes, len(start) - tree.first_element[k]
        nodes += 1
        tree.kind[k], tree.S[k] = _joint_subspace(joint)
        if tree.kind[k] != FIXED:
            tree.dof[k] = moving
            moving += 1
        R, r = matrix_of(joint.rotation), np.asarray(joint.position, dtype=float)
        frame = robot.base.rotation, robot.base.position
        if joint.parent != "base":
            tree.parent[k] = names.index(joint.parent)
            tree.parent_node[k] = tree.last_node[tree.parent[k]]
            carrier = links[tree.parent[k]]
            frame = (carrier.tip_rotation, carrier.tip_position) if isinstance(carrier, RigidLink) else ORIGIN
        R0, r0 = matrix_of(frame[0]), np.asarray(frame[1], dtype=float)
        tree.rotation[k], tree.position[k] = (R0 @ R).ravel(), r0 + R0 @ r
    tree.n_children[:] = [np.sum(tree.parent == k) for k in range(count)]
    mesh = points.mesh(start, length)
    placed = Stationing(*(tuple(row) for row in zip(*stationing)))
    section = _section(links, placed, len(start) * points.degree)
    inertia = _inertia(robot, links, tree, mesh, points, placed)
    return Chain(tree, mesh, section, inertia), placed


def _section(links: list[Link], placed: Stationing, count: int) -> arrays.Section:
    rest, C, Cd = np.zeros((count, 6)), np.zeros((count, 6, 6)), np.zeros((count, 6, 6))
    cubic, quintic = np.zeros((count, 6)), np.zeros((count, 6))
    k = 0
    for link, at in zip(links, placed.points):
        if not isinstance(link, FlexibleLink):
            continue
        rows, k = slice(k, k + len(at)), k + len(at)
        rest[rows], C[rows], Cd[rows] = link.rest_strain(at), link.stiffness(at), link.material_damping(at)
        if isinstance(link.law, HardeningLaw):
            cubic[rows], quintic[rows] = link.law.cubic, link.law.quintic
    return arrays.Section(rest, C, Cd, cubic, quintic, bool(Cd.any()), bool(cubic.any() or quintic.any()))


def _inertia(robot: Robot, links: list[Link], tree: Tree, mesh: Mesh, points: Points, placed: Stationing) -> Inertia:
    nodes = int(tree.last_node[-1]) + 1
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
            weight = (points.node_weights * mesh.length[e])[:, None, None]
            nodes_of = slice(mesh.start[e], mesh.start[e] + len(weight))
            viscous[nodes_of] += weight * link.viscous_damping_matrix(inside)
            if points.mass_at_points:
                at = ends[i] + mesh.length[e] * points.strain_points
                M_point[e] = mesh.length[e] * link.inertia(at)[0]
            else:
                M[nodes_of] += weight * link.inertia(inside)
    for payload in robot.payloads:
        k = [link.name for link in links].index(payload.link)
        body = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
        carrier = links[k]
        if isinstance(carrier, RigidLink) and payload.at is End.TIP:
            tip = np.asarray(carrier.tip_position, dtype=float)
            body = transform_inertia(body, matrix_of(carrier.tip_rotation), tip)
        M[tree.first_node[k] if payload.at is End.ROOT else tree.last_node[k]] += body
    # a flexible link fixed to a moving section shares one material point with it: one mass, one node
    for fixed in np.flatnonzero((tree.kind == FIXED) & (tree.parent >= 0) & (tree.n_elements > 0)):
        for of_nodes in (M, viscous):
            root = of_nodes[tree.first_node[fixed]]
            R, r = tree.rotation[fixed].reshape(3, 3), tree.position[fixed]
            of_nodes[tree.parent_node[fixed]] += transform_inertia(root, R, r)
            root[:] = 0.0
    gravity = np.asarray(robot.gravity, dtype=float)
    return Inertia(M, viscous, M_point, points.mass_at_points, bool(viscous.any()), gravity)
