"""From a robot to the arrays of a chain."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import element_ends, matrix_of, spatial_inertia, transform_inertia
from pliant.robot import FlexibleLink, Freedom, FreeJoint, HardeningLaw, Joint, RigidLink, Robot, SphericalJoint
from pliant.robot.joint import BASE, WholeJoint
from pliant.robot.link import End, Link
from pliant.structures.collocation import chain as arrays
from pliant.structures.collocation.chain import (
    BALL,
    FIXED,
    FLOATING,
    RIDER,
    Chain,
    Floats,
    Inertia,
    Mesh,
    Points,
    Stationing,
    Tree,
)
from pliant.structures.joint_tables import Laws

ORIGIN = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # where joints sit on the end of a flexible link


def beyond_spectral_links(robot: Robot) -> str:
    """Why spectral links do not carry the robot, or nothing: they stand on a tree of coordinates in a row."""
    for joint in robot.joints:
        if joint.station is not None:
            return f"joint '{joint.name}' sits at a station"
        if isinstance(joint, FreeJoint) and (joint.slide_friction or joint.turn_friction):
            return f"joint '{joint.name}' is free with dry friction"
    for loop in robot.loops:
        if not loop.obeys_nothing:
            return f"loop joint '{loop.name}' has a spring, damping, friction or limits"
    return ""


@dataclass(frozen=True)
class Row:
    """A link of the chain: what a joint moves by its last coordinate, or nothing behind one of those before."""

    joint: Joint
    kind: int
    S: Floats
    link: Link | None  # of the robot
    named: bool = True


def _rows(robot: Robot, guided: Collection[str]) -> Iterator[Row]:
    """Links of the chain in the order of the joints; guided balls and free joints go by coordinates in a row."""
    for joint in robot.chain_order:
        child = robot.link(joint.child)
        moves: list[tuple[int, Floats]] = [(FIXED, np.zeros(6))]
        if isinstance(joint, WholeJoint) and joint.name not in guided:
            axes = np.eye(6) if isinstance(joint, FreeJoint) else np.eye(6)[3:]
            first = FLOATING if isinstance(joint, FreeJoint) else BALL
            moves = [(RIDER if k else first, S) for k, S in enumerate(axes)]
        elif freedoms := _freedoms(joint):
            moves = [_subspace(freedom) for freedom in freedoms]
        for k, (kind, S) in enumerate(moves, 1):
            named = not (isinstance(joint, FreeJoint) and kind in (FLOATING, RIDER))
            yield Row(joint, kind, S, child if k == len(moves) else None, named)


def _freedoms(joint: Joint) -> tuple[Freedom, ...]:
    return joint.guided_freedoms if isinstance(joint, WholeJoint) else joint.freedoms


def _subspace(freedom: Freedom) -> tuple[int, Floats]:
    axis = np.asarray(freedom.axis, dtype=float)
    axis, none = axis / np.linalg.norm(axis), np.zeros(3)
    if freedom.translates:
        return arrays.PRISMATIC, np.append(axis, none)
    return arrays.REVOLUTE, np.append(none, axis)


def _laws(robot: Robot, guided: Collection[str]) -> Laws:
    laws = Laws()
    for joint in robot.chain_order:
        whole = isinstance(joint, WholeJoint) and joint.name not in guided
        if isinstance(joint, SphericalJoint) and not whole and (joint.damping or joint.friction):
            raise InvalidInput(
                f"joint '{joint.name}' has damping or friction, which a ball does not carry while its motion is"
                " prescribed; remove them, or take a universal joint"
            )
        laws.add(joint, joint.freedoms if whole else _freedoms(joint), whole and bool(joint.freedoms))
    return laws


def build_chain(
    robot: Robot, points: Points, elements: dict[str, int], guided: Collection[str] = ()
) -> tuple[Chain, Stationing, Laws]:
    """Discretise every link of the robot and connect them by its joints.

    Ball and free joints whose motion is prescribed are ``guided``: they go through plain coordinates, which cannot lock
    because none of them is free.
    """
    reason = beyond_spectral_links(robot)
    if reason:
        raise InvalidInput(f"{reason}, which this element does not carry; use PoseElement")
    if robot.loops and points.mass_at_points:
        raise InvalidInput(
            f"loop joint '{robot.loops[0].name}' closes a loop, but the mixed element carries no mass at its ends; use"
            " GeometricallyExact"
        )
    rows = list(_rows(robot, guided))
    links = [row.link for row in rows]
    of_links = tuple(k for k, link in enumerate(links) if link is not None)
    places, count = {row.joint.child: k for k, row in enumerate(rows)}, len(rows)
    laws = _laws(robot, guided)
    numbers = [np.full(count, -1, np.int64) for _ in range(10)]
    tree = Tree._make([*numbers[:9], *(np.zeros((count, size)) for size in (6, 9, 3)), numbers[9]])
    start: list[int] = []
    length: list[float] = []
    stationing: list[tuple[Floats, Floats, Floats]] = []
    # coordinates that have no names come last
    moving = [k for named in (True, False) for k, row in enumerate(rows) if row.kind != FIXED and row.named is named]
    tree.dof[moving] = np.arange(len(moving))
    nodes = frames = 0
    for k, (joint, link) in enumerate((row.joint, row.link) for row in rows):
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
        tree.kind[k], tree.S[k] = rows[k].kind, rows[k].S
        if tree.kind[k] >= BALL:
            tree.frame[k] = frames
            frames += 1
        if k and rows[k - 1].joint is joint:  # in the frame that the coordinate before leaves behind
            tree.parent[k], tree.parent_node[k], tree.rotation[k] = k - 1, tree.last_node[k - 1], np.eye(3).ravel()
            continue
        R, r = matrix_of(joint.rotation), np.asarray(joint.position, dtype=float)
        frame = robot.base.rotation, robot.base.position
        if joint.parent != BASE:
            tree.parent[k] = places[joint.parent]
            tree.parent_node[k] = tree.last_node[tree.parent[k]]
            carrier = links[tree.parent[k]]
            frame = (carrier.tip_rotation, carrier.tip_position) if isinstance(carrier, RigidLink) else ORIGIN
        R0, r0 = matrix_of(frame[0]), np.asarray(frame[1], dtype=float)
        tree.rotation[k], tree.position[k] = (R0 @ R).ravel(), r0 + R0 @ r
    tree.n_children[:] = [np.sum(tree.parent == k) for k in range(count)]
    mesh = points.mesh(start, length)
    ends_of, nodes_of, points_of = (tuple(row[k] for row in stationing) for k in range(3))
    placed = Stationing(ends_of, nodes_of, points_of, of_links)
    section = _section(links, placed, len(start) * points.degree)
    inertia = _inertia(robot, links, tree, mesh, points, placed)
    return Chain(tree, mesh, section, inertia), placed, laws


def _section(links: list[Link | None], placed: Stationing, count: int) -> arrays.Section:
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
    plain = arrays.diagonal(C) & arrays.diagonal(Cd)
    return arrays.Section(rest, C, Cd, cubic, quintic, bool(Cd.any()), bool(cubic.any() or quintic.any()), plain)


def _inertia(
    robot: Robot, links: list[Link | None], tree: Tree, mesh: Mesh, points: Points, placed: Stationing
) -> Inertia:
    nodes = int(tree.last_node[-1]) + 1
    M, viscous = np.zeros((nodes, 6, 6)), np.zeros((nodes, 6, 6))
    M_point = np.zeros((len(mesh.start) if points.mass_at_points else 0, 6, 6))
    for k, link in enumerate(links):
        if link is None:
            continue
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
    for k, joint in enumerate(robot.chain_order):
        if isinstance(joint, FreeJoint):
            viscous[tree.first_node[placed.links[k]]] += np.diag(joint.damping)
    for payload in robot.payloads:
        k = next(k for k, link in enumerate(links) if link is not None and link.name == payload.link)
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
    return Inertia(M, viscous, M_point, points.mass_at_points, bool(viscous.any()), gravity, arrays.diagonal(M))
