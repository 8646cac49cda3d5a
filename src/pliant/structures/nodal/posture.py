"""The constraints of a mechanism as functions of where its nodes are, and the joint rates that keep them.

Poses and velocities of a mechanism from its joint coordinates, with links at rest; loops closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mechanics.rigid_body import matrix_of, spatial_inertia
from pliant.robot import FreeJoint, SphericalJoint
from pliant.spatial.arrays import pose_from_twist, rotation_from_vector, to_frame, twist_from_pose
from pliant.structures.loop_constraints import close_loops, least_change
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND, PRISMATIC, REVOLUTE
from pliant.structures.nodal.coupling import add_shared
from pliant.structures.nodal.instant_balance import Unknowns
from pliant.structures.nodal.mechanism import Bodies, Bools, Elements, Floats, Ints, Tree
from pliant.structures.nodal.motion import Moment, new_moment
from pliant.structures.relations import CLOSED, Lines, line_gradients, measure_lines

if TYPE_CHECKING:
    from pliant.structures.nodal.assembly import Structure


class Columns(NamedTuple):
    """The unknowns of each node: where they stand, and the directions in which they move it."""

    place: tuple[slice, ...]
    S: tuple[Floats, ...]  # (6, unknowns of the node)
    total: int

    def of_coordinate(self, tree: Tree) -> Ints:
        """The unknown of each joint coordinate; those of a ball belong to its last node."""
        found = np.zeros(int(tree.coordinate.max(initial=-1)) + 1, np.int64)
        for i in np.flatnonzero(tree.coordinate >= 0):
            place, last = self.place[i], int(tree.coordinate[i])
            for column in range(place.start, place.stop):
                found[last - (place.stop - 1 - column)] = column
        return found


def columns_of(tree: Tree) -> Columns:
    """The three revolutes of a ball joint, freshly restarted, are one joint: the last has all three directions."""
    place, S, count = [], [], 0
    in_ball = set(np.flatnonzero(tree.restarts).tolist())
    for i, joint_type in enumerate(tree.joint_type.tolist()):
        if joint_type in (GROUND, FREE, ELEMENT):
            directions = np.eye(6)
        elif joint_type == FIXED or i in in_ball or i - 1 in in_ball:
            directions = np.zeros((6, 0))
        elif i - 2 in in_ball:
            directions = np.concatenate([np.zeros((3, 3)), tree.axis[i - 2 : i + 1].T])
        else:
            directions = np.zeros((6, 1))
            directions[3 if joint_type == REVOLUTE else 0 :, 0][:3] = tree.axis[i]
        place.append(slice(count, count + directions.shape[1]))
        S.append(directions)
        count += directions.shape[1]
    return Columns(tuple(place), tuple(S), count)


def unknowns_of(columns: Columns, tree: Tree, rotors: Ints) -> Unknowns:
    """The same as arrays, with the rotors of some coordinates behind them."""
    node = [i for i, place in enumerate(columns.place) for _ in range(place.start, place.stop)]
    coordinate = np.full(columns.total, -1, np.int64)
    of_coordinate = columns.of_coordinate(tree)
    coordinate[of_coordinate] = np.arange(len(of_coordinate))
    return Unknowns(
        np.array(node + [-1] * len(rotors), np.int64),
        np.concatenate([*(S.T for S in columns.S), np.zeros((len(rotors), 6))]),
        np.concatenate([coordinate, rotors]),
    )


def body_inertias(bodies: Bodies) -> Floats:
    """(nodes, 6, 6) about the nodes, in their axes."""
    return spatial_inertia(bodies.mass, bodies.center, bodies.J.reshape(-1, 3, 3))


def momenta(elements: Elements, tree: Tree, bodies: Bodies, R: Floats, twists: Floats) -> Floats:
    """Momentum (nodes, 6, ...) of the nodes, about them and in their axes, per twists (nodes, 6, ...)."""
    found = np.asarray(np.einsum("nij,nj...->ni...", body_inertias(bodies), twists))
    for i in np.flatnonzero(tree.joint_type == ELEMENT).tolist() if elements.couples else ():
        p, up, low = int(tree.parent[i]), np.zeros((6, 6)), np.zeros((6, 6))
        add_shared(1.0, elements, p, i, R.reshape(-1, 9), up, low)
        found[p] += up @ twists[i]
        found[i] -= low @ twists[p]
    return found


def motions(tree: Tree, columns: Columns, x: Floats, R: Floats) -> Floats:
    """T (nodes, 6, unknowns): body displacements of the nodes per relative displacements."""
    T, carried = np.zeros((len(x), 6, columns.total)), _carried_by_parents(tree, x, R)
    for i, p in enumerate(tree.parent.tolist()):
        if p >= 0:
            np.matmul(carried[i], T[p], out=T[i])
        T[i][:, columns.place[i]] += columns.S[i]
    return T


def displacements(tree: Tree, columns: Columns, x: Floats, R: Floats, y: Floats) -> Floats:
    """Body displacements (nodes, 6) of the nodes for relative displacements y."""
    moved, carried = np.zeros((len(x), 6)), _carried_by_parents(tree, x, R)
    for i, p in enumerate(tree.parent.tolist()):
        if p >= 0:
            np.matmul(carried[i], moved[p], out=moved[i])
        moved[i] += columns.S[i] @ y[columns.place[i]]
    return moved


def _carried_by_parents(tree: Tree, x: Floats, R: Floats) -> Floats:
    """(nodes, 6, 6) from body displacements of parents to those of nodes that are fixed to them."""
    back = R[tree.parent].swapaxes(1, 2)
    return to_frame(back @ R, (back @ (x - x[tree.parent])[..., None])[..., 0])


class LoopConstraints:
    """The constraints of a mechanism as functions of where its nodes are."""

    def __init__(self, structure: Structure, prescribed: Bools) -> None:
        self.structure, self.tree = structure, structure.tree
        self.columns = columns_of(self.tree)
        self.lines = structure.lines.lines()
        self.closed = np.flatnonzero(self.lines.law == CLOSED)
        self.movable = np.ones(self.columns.total, np.bool_)
        for i in np.flatnonzero(self.tree.joint_type == GROUND):
            self.movable[self.columns.place[i]] = False
        self.of_coordinate = self.columns.of_coordinate(self.tree)
        self.free = self.movable.copy()
        self.free[self.of_coordinate[prescribed]] = False

    def rows(self, x: Floats, R: Floats) -> Floats:
        """G (constraints, unknowns)."""
        moment, gradient = _moment(self.lines, x, R), np.zeros((len(self.lines.law), 12))
        line_gradients(self.lines, moment, moment, moment.R, gradient)
        T = motions(self.tree, self.columns, x, R)
        G = np.zeros((len(self.lines.law), self.columns.total))
        for side in range(2):
            node = self.lines.node[:, side]
            pair = gradient[:, 6 * side : 6 * side + 6].reshape(-1, 2, 3) @ R[node]  # in the axes of the node
            G += np.einsum("ki,kij->kj", pair.reshape(-1, 6), T[node])
        return np.asarray(G[self.closed])

    def moved(self, x: Floats, R: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Poses of the nodes displaced by the unknowns y."""
        tree, there_x, there_R = self.tree, x.copy(), R.copy()
        for i in range(len(x)):
            p, place = tree.parent[i], self.columns.place[i]
            step = pose_from_twist(self.columns.S[i] @ y[place])
            if p < 0:
                there_x[i], there_R[i] = x[i] + R[i] @ step[:3, 3], R[i] @ step[:3, :3]
            else:
                turn, lever = R[p].T @ R[i], R[p].T @ (x[i] - x[p])
                there_x[i] = there_x[p] + there_R[p] @ (lever + turn @ step[:3, 3])
                there_R[i] = there_R[p] @ turn @ step[:3, :3]
        return there_x, there_R

    def owner(self, weights: Floats) -> str:
        """The loop whose constraints weigh most."""
        strongest = int(np.argmax(np.abs(weights)))
        return str(self.structure.lines.rows[self.closed[strongest]].owner)


def fitting_rates(structure: Structure, x: Floats, R: Floats, qd: Floats, held: Bools) -> Floats:
    """Joint rates nearest to qd with which closed loops stay closed, links moving as rigid bodies.

    Rates that are ``held`` stay; those of loop joints follow. What then cannot be followed is left to links that bend.
    """
    if not _closes(structure):
        return qd
    loops = LoopConstraints(structure, held)
    y = np.zeros(loops.columns.total)
    for joint in structure.robot.joints:
        if isinstance(joint, FreeJoint) and joint.name not in structure.guided:
            root = int(structure.link(joint.child).nodes[0])
            y[loops.columns.place[root]] = (
                *(R[root].T @ np.asarray(joint.initial_velocity, float)),
                *joint.initial_spin,
            )
    y[loops.of_coordinate] = qd
    G = loops.rows(x, R)
    slope = G[:, loops.of_coordinate] * ~held
    follows = np.zeros(len(qd), np.bool_)
    for head in structure.heads:
        follows[np.array(head.coordinates)] = True
    return np.asarray(qd + least_change(slope, G @ y, follows & ~held))


def base_pose(structure: Structure) -> tuple[Floats, Floats]:
    """Position and rotation of the base."""
    base = structure.robot.base
    return np.asarray(base.position, float), matrix_of(base.rotation)


def poses(
    structure: Structure, q: Floats, free: dict[int, tuple[Floats, Floats]], bent: Floats | None = None
) -> tuple[Floats, Floats]:
    """Positions (..., nodes, 3) and rotations (..., nodes, 3, 3) with every link at rest, for one q or many.

    Or with the logarithms (nodes, 6) of the relative poses of the elements in ``bent``.

    ``free`` holds position and rotation of the nodes without a parent and of a base that has moved, and the
    rotation that a ball joint starts from under the node of its first coordinate: its three axes are the child's.
    """
    tree = structure.tree
    steps = pose_from_twist(structure.rest_twist if bent is None else bent)
    H = np.zeros((*q.shape[:-1], len(tree.parent), 4, 4))
    H[..., 3, 3] = 1.0
    for i, (joint_type, p) in enumerate(zip(tree.joint_type.tolist(), tree.parent.tolist())):
        here = H[..., i, :, :]
        if joint_type == GROUND:
            here[..., :3, 3], here[..., :3, :3] = free.get(i) or base_pose(structure)
        elif joint_type == FREE:
            here[..., :3, 3], here[..., :3, :3] = free[i]
        elif joint_type == ELEMENT:
            np.matmul(H[..., p, :, :], steps[i], out=here)
        else:
            R, c = H[..., p, :3, :3], tree.coordinate[i]
            here[..., :3, 3] = H[..., p, :3, 3] + R @ tree.offset[i]
            if joint_type == PRISMATIC:
                here[..., :3, 3] += R @ tree.axis_parent[i] * q[..., c : c + 1]
            R = R @ matrix_of(tree.turn[i])
            if joint_type == REVOLUTE:
                R = R @ free[i][1] if i in free else R
                R = R @ rotation_from_vector(tree.axis[i] * q[..., c : c + 1])
            here[..., :3, :3] = R
    return H[..., :3, 3].copy(), H[..., :3, :3].copy()


def relative_twists(tree: Tree, x: Floats, R: Floats) -> Floats:
    """Logarithms (nodes, 6) of the relative poses of all elements; zero for other nodes."""
    twists, ids = np.zeros((len(x), 6)), np.flatnonzero(tree.joint_type == ELEMENT)
    parent, pose = tree.parent[ids], np.zeros((len(ids), 4, 4))
    back = np.swapaxes(R[parent], -1, -2)
    pose[:, :3, :3], pose[:, :3, 3] = back @ R[ids], (back @ (x[ids] - x[parent])[..., None])[..., 0]
    pose[:, 3, 3] = 1.0
    twists[ids] = twist_from_pose(pose)
    return twists


def free_starts(structure: Structure) -> dict[int, tuple[Floats, Floats]]:
    """Where free joints and ball joints start."""
    starts: dict[int, tuple[Floats, Floats]] = {}
    origin, turn = base_pose(structure)
    for joint in structure.robot.chain_order:
        root = int(structure.link(joint.child).nodes[0])
        if joint.name in structure.guided:
            continue
        if isinstance(joint, FreeJoint):
            at, R = origin + turn @ np.asarray(joint.position, float), turn @ matrix_of(joint.rotation)
            starts[root] = (at + R @ np.asarray(joint.initial_position, float), R @ matrix_of(joint.initial_rotation))
        elif isinstance(joint, SphericalJoint):
            starts[root - 2] = (np.zeros(3), matrix_of(joint.initial_rotation))
    return starts


def violations(structure: Structure, x: Floats, R: Floats) -> Floats:
    """Values of the closed lines."""
    lines = structure.lines.lines()
    values: Floats = _moment(lines, x, R).phi[lines.law == CLOSED]
    return values


def _moment(lines: Lines, x: Floats, R: Floats) -> Moment:
    """Poses and the values of lines."""
    moment = new_moment(len(x), 0, len(lines.law))
    moment.x[:], moment.R[:] = x, R.reshape(-1, 9)
    measure_lines(lines, moment.bushing, moment)
    return moment


def close(structure: Structure, q: Floats, held: Bools) -> tuple[Floats, Floats, Floats]:
    """Joint coordinates near q that close all loops with links at rest, and the poses.

    Least changes of the coordinates of the tree that are not ``held`` (Gauss-Newton); those of loop joints follow. A
    search that stalls begins anew from positions beside q.
    """
    free = free_starts(structure)
    q, follows = _with_heads_in_place(structure, q, held, free)
    x, R = poses(structure, q, free)
    if not _closes(structure):
        return q, x, R

    def open_by(q: Floats) -> Floats:
        return violations(structure, *poses(structure, q, free))

    owners = [row.owner for row in structure.lines.rows if row.law == CLOSED]
    found = close_loops(open_by, q, (held, follows), (owners, structure.coordinate_names), _extent(structure))
    return found, *poses(structure, found, free)


def _with_heads_in_place(
    structure: Structure, q: Floats, held: Bools, free: dict[int, tuple[Floats, Floats]]
) -> tuple[Floats, Bools]:
    """q with the coordinates of loop joints as near to closing as they come, and which of them may follow.

    Ball joints among them start from the rotation that they have then, which is added to ``free``.
    """
    q, follows = np.array(q, float), np.zeros(len(q), np.bool_)
    if structure.heads:
        x, R = poses(structure, q, free)
        for head in structure.heads:
            own = np.array(head.coordinates)
            follows[own] = ~held[own]
            q[own] = np.where(held[own], q[own], head.positions(x, R))
            turn = head.ball_turn(R)
            if turn is not None:
                free[head.nodes[0]] = np.zeros(3), turn
    return q, follows


def _closes(structure: Structure) -> bool:
    return any(row.law == CLOSED for row in structure.lines.rows)


def _extent(structure: Structure) -> float:
    """Sum of the lengths of all elements and offsets, the scale of positions."""
    tree = structure.tree
    in_elements = structure.elements.length[tree.joint_type == ELEMENT].sum()
    return float(in_elements + np.linalg.norm(tree.offset, axis=1).sum())


def rest_velocities(structure: Structure, x: Floats, R: Floats, qd: Floats) -> tuple[Floats, Floats, Floats]:
    """Velocity of the bodies' centres of mass (world) and spin (body) for joint rates, links moving as rigid bodies.

    The heads of loop joints move with what they are welded to; last come the rates with theirs.
    """
    tree, bodies = structure.tree, structure.bodies
    starts = {
        int(structure.link(joint.child).nodes[0]): joint
        for joint in structure.robot.chain_order
        if isinstance(joint, FreeJoint) and joint.name not in structure.guided
    }
    # v of the point at the origin of the world that moves with a node: the same for all nodes of a rigid body
    v, omega = np.zeros_like(x), np.zeros_like(x)
    if not (np.any(qd) or starts or structure.heads):
        return v, omega, np.array(qd, float)
    for i in range(len(x)):
        p, c = tree.parent[i], tree.coordinate[i]
        if i in starts:
            omega[i] = R[i] @ np.asarray(starts[i].initial_spin, float)
            v[i] = np.asarray(starts[i].initial_velocity, float) - np.cross(omega[i], x[i])
        elif p >= 0:
            v[i], omega[i] = v[p], omega[p]
            if c >= 0:
                axis = R[i] @ tree.axis[i] * qd[c]
                if tree.joint_type[i] == REVOLUTE:
                    omega[i] += axis
                    v[i] -= np.cross(axis, x[i])
                else:
                    v[i] += axis
    v += np.cross(omega, x)
    rates = np.array(qd, float)
    for head in structure.heads:
        to = head.welded_to.body
        rates[head.coordinates] = head.rates(tree, x, R, v, omega)
        omega[head.node] = omega[to]
        v[head.node] = v[to] + np.cross(omega[to], x[head.node] - x[to])
    center = np.einsum("nij,nj->ni", R, bodies.center)
    return v + np.cross(omega, center), np.einsum("nji,nj->ni", R, omega), rates
