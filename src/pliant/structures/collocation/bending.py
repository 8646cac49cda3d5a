"""From spectral links that bend too far for their polynomials to pose elements that carry the same arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.shape_functions import highest_parts, lagrange_basis
from pliant.spatial.arrays import quaternion_from_rotation
from pliant.structures.collocation.chain import FLOATING, MOVED
from pliant.structures.collocation.poses import make_path, rebuild_poses, strain_values

if TYPE_CHECKING:
    from pliant.structures.collocation.chain import Floats
    from pliant.structures.collocation.model import GeometricallyExactArm
    from pliant.structures.nodal.model import PoseElementArm

SPECTRAL_TURN = 1.5  # rad between two nodes, beyond which a polynomial does not follow the section


def turns_of_elements(arm: GeometricallyExactArm, strain: Floats) -> Floats:
    """Angle (elements,) by which the section turns along each element, in radians."""
    mesh, degree = arm.chain.mesh, arm.points.degree
    curvature = np.linalg.norm((arm.chain.section.rest + strain)[:, 3:], axis=1)
    return np.asarray(mesh.length * (curvature.reshape(len(mesh.length), degree) @ mesh.w))


def bent_too_far(arm: GeometricallyExactArm, strain: Floats) -> str:
    """The link whose section turns furthest between two nodes, if that is too far, or nothing."""
    turns = turns_of_elements(arm, strain) / arm.points.degree
    if not turns.max(initial=0.0) > SPECTRAL_TURN:
        return ""
    owner = np.searchsorted(arm.chain.tree.first_element, np.argmax(turns), side="right") - 1
    return f"link '{arm.link_names[arm.placed.links.index(owner)]}'"


def turns_of_links(arm: GeometricallyExactArm, strain: Floats) -> dict[str, float]:
    """The same along each flexible link."""
    tree, turns = arm.chain.tree, turns_of_elements(arm, strain)
    rows = list(arm.placed.links)
    spans = zip(arm.link_names, tree.first_element[rows], tree.n_elements[rows])
    return {name: float(turns[first : first + count].sum()) for name, first, count in spans if count}


def unresolved(arm: GeometricallyExactArm, states: Floats) -> float:
    """How far the highest parts of the curvature that the polynomials know move a tip at most in some states, m.

    A part k of the curvature, over an element of length L, makes a deflection of k L^2. What the polynomials do not
    know is smaller still, as parts decay with their degree.
    """
    mesh, degree = arm.chain.mesh, arm.points.degree
    curvature = arm.layout.part(states, "strain")[:, :, 3:].reshape(len(states), len(mesh.length), degree, 3)
    # one product of all, as many small ones take much longer
    parts = highest_parts(arm.points.strain_points) @ curvature.transpose(2, 1, 0, 3).reshape(degree, -1)
    sizes = np.abs(parts).reshape(2, len(mesh.length), -1).max(axis=2, initial=0.0)
    return float((sizes * mesh.length**2).max(initial=0.0))


def pose_state(arm: GeometricallyExactArm, poses: PoseElementArm, state: Floats) -> Floats:
    """The state of pose elements of the same robot: the shape and the twists of the spectral links at their nodes."""
    V, e, q, qd = (part[0] for part in arm.split(state))
    links, bodies = {link.name: link for link in poses.structure.links}, poses.structure.bodies
    stations = [links[name].station[: len(links[name].nodes)] for name in arm.link_names]
    tree, wanted = arm.chain.tree, [np.zeros(0)] * len(arm.placed.ends)
    rows: list[NDArray[np.int64]] = []
    twists: list[Floats] = []
    last = -1
    for row, at, name in zip(arm.placed.links, stations, arm.link_names):
        root = int(links[name].nodes[0])
        for k in range(last + 1, row):  # the base, or nodes between the coordinates of a joint
            if tree.kind[k] == MOVED or tree.kind[row - 5 : row].tolist().count(FLOATING) == 0:
                wanted[k], twists = np.zeros(1), [*twists, V[tree.first_node[k]][None]]
                rows.append(np.array([0 if tree.kind[k] == MOVED else root - (row - k)]))
        wanted[row], twists = at, [*twists, _twists(arm, V, row, at)]
        rows.append(links[name].nodes)
        last = row
    path, frames = make_path(arm.chain, arm.points, arm.placed, wanted), arm.frames(state)
    x, R = rebuild_poses(arm.chain, path, e[None], q[None], frames)
    nodes, twist = np.concatenate(rows), np.concatenate(twists)
    now = poses.pose_of(poses.initial_state(q, qd))
    if arm.geared:
        now.motor[:] = arm.layout.part(state, "rotor")
    center = twist[:, :3] + np.cross(twist[:, 3:], bodies.center[nodes])
    now.x[nodes], now.quaternion[nodes] = x[0], quaternion_from_rotation(R[0])
    now.v[nodes], now.w[nodes] = np.einsum("nij,nj->ni", R[0], center), twist[:, 3:]
    return np.concatenate([part.ravel() for part in (now.x, now.quaternion, now.v, now.w, q, qd, now.motor)])


def adopted_state(arm: GeometricallyExactArm, other: GeometricallyExactArm, state: Floats) -> Floats:
    """A state of another mesh of the same robot: its polynomials at the nodes and strain points of this one."""
    out = arm.initial_state()
    for block in arm.layout.blocks:
        given, mine = other.layout.part(state, block.name), arm.layout.part(out, block.name)
        if block.name not in ("twist", "strain"):
            mine[:] = given
            continue
        for k, (nodes, points) in enumerate(zip(arm.placed.nodes, arm.placed.points)):
            if block.name == "twist":
                first = arm.chain.tree.first_node[k]
                mine[first : arm.chain.tree.last_node[k] + 1] = _twists(other, given, k, nodes)
            elif len(points):
                first = arm.chain.tree.first_element[k] * arm.points.degree
                rows, weights = strain_values(other.chain, other.points, other.placed, k, points)
                mine[first : first + len(points)] = np.einsum("mp,mpc->mc", weights, given[rows])
    return out


def _twists(arm: GeometricallyExactArm, V: Floats, link: int, stations: Floats) -> Floats:
    """Body twists (stations, 6) along a link; of a rigid one that of its root."""
    tree, ends = arm.chain.tree, arm.placed.ends[link]
    if not tree.n_elements[link]:
        return np.asarray(V[tree.first_node[link]][None])
    element = np.clip(np.searchsorted(ends, stations, side="left") - 1, 0, len(ends) - 2)
    unit = (stations - ends[element]) / np.diff(ends)[element]
    values = lagrange_basis(arm.points.nodes, unit)[0]
    first = arm.chain.mesh.start[tree.first_element[link] + element]
    return np.asarray(np.einsum("mp,mpc->mc", values, V[first[:, None] + np.arange(values.shape[1])]))
