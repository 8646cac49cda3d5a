"""Flows of loop joints that have no coordinate of their own, in small motions.

A joint between two frames turns at  a . (Q w_2 - w_1)  about an axis a of the first, w the spins of the frames in their
own axes and  Q = R_1^T R_2 ;  the second axis of a universal joint belongs to the second frame. Along an axis it slides
at  a . (Q v_2 - v_1 - w_1 x d) ,  d from the first origin to the second. Displacements chi = (xi, theta) of the frames
change all of this,

    Q by  Q hat(theta_2) - hat(theta_1) Q ,     d by  Q xi_2 - xi_1 - theta_1 x d .

From all unknowns of a moving tree to those that prescribed motions and closed loops leave independent.

Constraints bind the unknowns, g(t) y = 0, at all times. With y = Z(t) z, Z the identity on the independent unknowns,

    g Z = 0 ,   g Z' = -g' Z ,   g Z'' = -g'' Z - 2 g' Z' .

Behind the independent unknowns z stand, as if they were such, those that are held: prescribed joints and the base.

Small deviations from the motion of a mechanism through a state, closed loops eliminated.

Every term of the balance (see `instant`) is varied along relative displacements y of the moving tree. A node is then
displaced by chi = T y in its own frame and its twist by chi' + bracket(V) chi. Elements keep their stiffness in
factored form; forces carried by joints, elements and lines turn with them, which is their geometric stiffness.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.model.contract import Held, LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import At, End, Joint, UniversalJoint
from pliant.robot.joint import BASE
from pliant.spatial.arrays import (
    bracket,
    dual_bracket,
    hat,
    logarithm_curvature,
    pose_from_twist,
    quaternion_from_rotation,
    to_frame,
)
from pliant.structures.nodal.derivatives import (
    Maps,
    Pair,
    gather,
    gradient_changes,
    maps,
    pair_of,
    to_children,
)
from pliant.structures.nodal.instant import DEPENDENT, Instant, congruence
from pliant.structures.nodal.mechanism import ELEMENT, FREE, Floats, Ints
from pliant.structures.nodal.tables import Place, carried_frame

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm


class Frames(NamedTuple):
    """The two frames of a loop joint: pose of the second in the first, twists, and rows over the unknowns."""

    Q: Floats
    d: Floats
    twist: tuple[Floats, Floats]  # (6,) of the motion
    displaced: tuple[Floats, Floats]  # (6, unknowns) body displacement
    changed: tuple[Floats, Floats]  # (6, unknowns) change of the twist with the displacement


def frames(
    ends: tuple[Place, Place], pose: tuple[Floats, Floats], V: Floats, T: Floats, twists: Floats
) -> Frames:
    """Of two places at positions and rotations ``pose`` of all nodes that move at V."""
    x, R = pose
    first, second = ends
    turns = [R[end.node] @ end.rotation for end in ends]
    origins = [x[end.node] + R[end.node] @ end.position for end in ends]

    def seen(rows: Floats) -> tuple[Floats, Floats]:
        return (
            np.asarray(to_frame(first.rotation, first.position) @ rows[first.node]),
            np.asarray(to_frame(second.rotation, second.position) @ rows[second.node]),
        )

    between = turns[0].T @ (origins[1] - origins[0])
    return Frames(turns[0].T @ turns[1], between, seen(V), seen(T), seen(twists))


def loop_flow(joint: Joint, number: int, at: Frames) -> tuple[Floats, Floats]:
    """Rows (1, unknowns) of the rate of a coordinate: of rates, and of displacements."""
    freedom = joint.freedoms[number]
    a = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
    Q, d = at.Q, at.d
    w_1, (v_2, w_2) = at.twist[0][3:], np.split(at.twist[1], 2)
    (xi_1, theta_1), (xi_2, theta_2) = (np.split(each, 2) for each in at.displaced)
    (dv_1, dw_1), (dv_2, dw_2) = (np.split(each, 2) for each in at.changed)

    def turned(vector: Floats) -> Floats:
        """Change of Q times a vector of the second frame."""
        return np.asarray(hat(Q @ vector) @ theta_1 - Q @ hat(vector) @ theta_2)

    if freedom.translates:
        apart = Q @ xi_2 - xi_1 + hat(d) @ theta_1
        shift = Q @ dv_2 + turned(v_2) - dv_1 + hat(d) @ dw_1 - hat(w_1) @ apart
        return (a @ apart)[None], (a @ shift)[None]
    rate, shift = Q @ theta_2 - theta_1, Q @ dw_2 + turned(w_2) - dw_1
    if isinstance(joint, UniversalJoint) and number == 1:
        # its axis belongs to the second frame, which turns against the first
        rate, shift = Q.T @ rate, Q.T @ (shift + hat(Q @ w_2 - w_1) @ rate)
    return (a @ rate)[None], (a @ shift)[None]


PROBE = 1e-3  # m or rad, of the only difference there is: the second derivative of constraints in time
JAMMED = 1e-8  # m or rad by which a unit of a held motion may open loops that nothing else can close
PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class Reduction:
    """Z (unknowns and rotors, independent ones and held ones) and its time derivatives."""

    def __init__(self, now: Instant, moved: Maps, V_dot: Floats) -> None:
        self.now = now
        free, constraint = np.flatnonzero(now.free), now.constraint
        n, rotors = now.columns.total, len(now.slopes.rotors)
        own = np.append(free[constraint.independent], n + np.arange(rotors)).astype(np.int64)
        self.ports, held = self._held(moved)
        self.independent = np.append(own, held)
        self.own = slice(len(own))
        self.held = slice(len(own), len(self.independent))
        shape = (n + rotors, len(self.independent))
        self.Z, self.Z_rate, self.Z_acceleration = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.Z[self.independent, np.arange(shape[1])] = 1.0
        if len(constraint.rows):
            self._close(moved, V_dot, free[constraint.dependent])

    def _held(self, moved: Maps) -> tuple[tuple[Port, ...], Ints]:
        """The ports of prescribed joints and of the base that loops let move, and their unknowns."""
        now = self.now
        places = {
            now.arm.joint_names[c]: now.coordinate_columns[c : c + 1]
            for c in np.flatnonzero(now.mechanism.coordinates.prescribed)
        }
        base = now.columns.place[now.base]
        places[BASE] = np.arange(base.start, base.stop)
        if len(now.closed):
            rows = now.on_nodes(now.gradients, moved.T)[now.closed]
            followed = rows[:, now.free] @ np.linalg.pinv(rows[:, now.free], rcond=DEPENDENT)
            jams = np.abs(rows - followed @ rows).max(axis=0) > JAMMED
            places = {name: at for name, at in places.items() if not jams[at].any()}
        by_name = {port.name: port for port in now.arm.ports}
        return tuple(by_name[name] for name in places), np.concatenate(
            [np.zeros(0, np.int64), *places.values()]
        )

    def _close(self, moved: Maps, V_dot: Floats, dependent: Ints) -> None:
        now, n = self.now, self.now.columns.total
        rows, first, second = now.gradients, now.gradient_rates, self._second(V_dot)
        T, T1, T2 = moved
        on = now.on_nodes
        g = now.constraint.rows @ on(rows, T)
        g1 = now.constraint.rows @ (on(first, T) + on(rows, T1))
        g2 = now.constraint.rows @ (on(second, T) + 2.0 * on(first, T1) + on(rows, T2))
        pivot = g[:, dependent]
        self.Z[dependent] = -np.linalg.solve(pivot, g @ self.Z[:n])
        self.Z_rate[dependent] = -np.linalg.solve(pivot, g1 @ self.Z[:n])
        change = g2 @ self.Z[:n] + 2.0 * g1 @ self.Z_rate[:n]
        self.Z_acceleration[dependent] = -np.linalg.solve(pivot, change)

    def _second(self, V_dot: Floats) -> Floats:
        """(lines, 12) second derivatives in time of the gradients of closed lines."""
        now = self.now
        lines = now.mechanism.lines
        rows = np.zeros_like(now.gradients)
        for k in now.closed:
            a, b = lines.node[k]
            pair = pair_of(lines, k, now.x, now.R)
            both = np.concatenate([V_dot[a], V_dot[b]])[None]
            rows[k] = gradient_changes(lines, k, pair, both)[0]
            if now.moves:
                V = np.concatenate([now.V[a], now.V[b]])
                span = PROBE / np.abs(V).max(initial=1e-300)
                for weight, ahead in ((8.0, 1.0), (-8.0, -1.0), (-1.0, 2.0), (1.0, -2.0)):
                    there = _moved_on(pair, ahead * span * V)
                    rows[k] += weight / (12.0 * span) * gradient_changes(lines, k, there, V[None])[0]
        return rows

    def apply(self, M: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats, Floats]:
        Z, Z1, Z2 = self.Z, self.Z_rate, self.Z_acceleration
        if not len(self.now.constraint.rows):
            keep = np.ix_(self.independent, self.independent)
            return M[keep], D[keep], K[keep]
        return Z.T @ M @ Z, Z.T @ (D @ Z + 2.0 * M @ Z1), Z.T @ (K @ Z + D @ Z1 + M @ Z2)

    def names(self) -> tuple[str, ...]:
        """Names of the independent unknowns."""
        now = self.now
        tree, joints = now.mechanism.tree, now.arm.joint_names
        names = [""] * now.columns.total
        for link in now.arm.structure.links:
            for k, i in enumerate(link.nodes):
                where = f"element_{k}" if tree.joint_type[i] == ELEMENT else "root"
                if tree.joint_type[i] in (ELEMENT, FREE):
                    names[now.columns.place[i]] = [f"{link.name}.{where}.{part}" for part in PARTS]
        for c, column in enumerate(now.coordinate_columns):
            names[column] = joints[c]
        names += [f"{joints[c]}.rotor" for c in now.slopes.rotors]
        return tuple(names[k] for k in self.independent[self.own])

    def state_at(self, y: Floats, v: Floats) -> Floats:
        """The state displaced by y with rates v; loops are closed to first order of y."""
        now, n = self.now, self.now.columns.total
        tree, columns, bodies = now.mechanism.tree, now.columns, now.mechanism.bodies
        Z = self.Z[:, self.own]
        change, speed = Z @ y, Z @ v + self.Z_rate[:, self.own] @ y
        x, R, rates = now.x.copy(), now.R.copy(), now.rates + speed[:n]
        for i in range(len(x)):
            p, place = tree.parent[i], columns.place[i]
            step = pose_from_twist(columns.S[i] @ change[place])
            if p < 0:
                x[i], R[i] = now.x[i] + now.R[i] @ step[:3, 3], now.R[i] @ step[:3, :3]
            else:
                turn, lever = now.R[p].T @ now.R[i], now.R[p].T @ (now.x[i] - now.x[p])
                x[i] = x[p] + R[p] @ (lever + turn @ step[:3, 3])
                R[i] = R[p] @ turn @ step[:3, :3]
            S = columns.S[i]
            rates[place] += S.T @ bracket(S @ now.rates[place]) @ S @ change[place]
        V = maps(tree, columns, to_children(tree, x, R)).T @ rates
        velocity = np.einsum("nij,nj->ni", R, V[:, :3] + np.cross(V[:, 3:], bodies.center))
        q, qd = now.moment.q + change[now.coordinate_columns], rates[now.coordinate_columns]
        for i in np.flatnonzero(tree.restarts).tolist():
            R[i : i + 2], V[i : i + 2], velocity[i : i + 2] = R[i + 2], V[i + 2], velocity[i + 2]
            q[tree.coordinate[i : i + 3]] = 0.0
        motor = now.pose.motor.copy()
        rigid = now.mechanism.coordinates.has_motor
        motor[rigid] = np.column_stack([q, qd])[rigid]
        for k, c in enumerate(now.slopes.rotors):
            motor[c] = now.pose.motor[c] + (change[n + k], speed[n + k])
        parts = (x, quaternion_from_rotation(R), velocity, V[:, 3:], q, qd, motor)
        return np.concatenate([part.ravel() for part in parts])


def _moved_on(pair: Pair, displacement: Floats) -> Pair:
    """Both nodes moved by body displacements (12,)."""
    a, b = pose_from_twist(displacement.reshape(2, 6))
    return Pair(
        pair.xa + pair.Ra @ a[:3, 3],
        pair.Ra @ a[:3, :3],
        pair.xb + pair.Rb @ b[:3, 3],
        pair.Rb @ b[:3, :3],
    )


def linearise(arm: PoseElementArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K over the independent relative displacements and rotors; prescribed joints and the base as held."""
    now = Instant(arm, state, inputs, time)
    acceleration, forces = now.motion
    moved = maps(now.mechanism.tree, now.columns, now.A, now.rates, acceleration)
    V_dot = moved.T @ acceleration + moved.rate @ now.rates
    M, D, K = _of_nodes(now, moved, V_dot)
    _turn_with_joints(now, moved, now.lacking(V_dot, forces), K)
    _add_elements(now, D, K)
    _add_lines(now, moved, forces, D, K)
    M, D, K = _with_laws(now, M, D, K)
    reduction = Reduction(now, moved, V_dot)
    Z, own, held = reduction.Z, reduction.own, reduction.held
    tree_part = Z[: now.columns.total]
    lack = np.append(now.unbalanced, now.slopes.effort[len(now.pose.q) :])
    M, D, K = reduction.apply(M, D, K)
    ports = tuple(_ports(now, moved, reduction))
    joints, tip = (
        tree_part[now.coordinate_columns],
        _at_place(arm.structure.tip, moved.T) @ tree_part,
    )
    return SecondOrder(
        M[own, own],
        D[own, own],
        K[own, own],
        (Z.T @ lack)[own],
        not (now.moves or np.any(acceleration)),
        reduction.names(),
        tuple(LinearisedPort(each.port, each.rate[:, own], each.shift[:, own]) for each in ports),
        moved.T @ tree_part[:, own],
        joints[:, own],
        tip[:, own],
        reduction.state_at,
        _held(now, reduction, V_dot, (M, D, K), ports, joints[:, held], tip[:, held]),
    )


def _held(
    now: Instant,
    reduction: Reduction,
    V_dot: Floats,
    wide: tuple[Floats, Floats, Floats],
    ports: tuple[LinearisedPort, ...],
    joints: Floats,
    tip: Floats,
) -> Held:
    """Held ports by their flows f in place of r': the twist of a base that moves is r' + drift r."""
    held = reduction.held
    nothing = np.zeros((0, held.stop))
    rate = np.concatenate([nothing, *(each.rate for each in ports)])[:, held]
    shift = np.concatenate([nothing, *(each.shift for each in ports)])[:, held]
    # the base comes last, and no loop keeps it from moving with all that hangs on it
    drift, change = np.zeros((rate.shape[1],) * 2), np.zeros((rate.shape[1],) * 2)
    drift[-6:, -6:], change[-6:, -6:] = bracket(now.V[now.base]), bracket(V_dot[now.base])
    M, D, K = wide
    D, K = D.copy(), K.copy()
    # r' = f - drift r ,  r'' = f' - drift f + (drift drift - drift') r
    K[:, held] += M[:, held] @ (drift @ drift - change) - D[:, held] @ drift
    D[:, held] -= M[:, held] @ drift
    return Held(reduction.ports, M, D, K, drift, rate, shift - rate @ drift, joints, tip)


def _of_nodes(now: Instant, moved: Maps, V_dot: Floats) -> tuple[Floats, Floats, Floats]:
    """Inertia, drag, gravity and loads."""
    M, V = now.M, now.V
    T = moved.T
    momentum = np.einsum("nij,nj->ni", M, V)
    gyroscopic = -dual_bracket(momentum) - np.swapaxes(bracket(V), -1, -2) @ M
    gyroscopic += now.drag[1]
    of_rate = M @ bracket(V) + gyroscopic
    of_place = M @ bracket(V_dot) + gyroscopic @ bracket(V) - now.outer[1]
    mass = M @ T
    K = of_place @ T + M @ moved.acceleration
    D = np.zeros((T.shape[-1], T.shape[-1]))
    if now.moves or np.any(gyroscopic):
        D = congruence(T, of_rate @ T + 2.0 * M @ moved.rate)
        K += of_rate @ moved.rate
    stiffness = congruence(T, K)
    for i, other, block in now.outer[2]:
        stiffness -= T[i].T @ block @ T[other]
    return congruence(T, mass), D, stiffness


def _turn_with_joints(now: Instant, moved: Maps, lack: Floats, K: Floats) -> None:
    """What a joint or element transmits works on virtual displacements of its parent, which turn as it moves."""
    tree, columns = now.mechanism.tree, now.columns
    transmitted = dual_bracket(gather(tree, now.A, lack))
    for i in range(len(now.A)):
        p, place = tree.parent[i], columns.place[i]
        if p >= 0 and place.stop > place.start:
            K[:, place] -= (now.A[i] @ moved.T[p]).T @ (transmitted[i] @ columns.S[i])


def _add_elements(now: Instant, D: Floats, K: Floats) -> None:
    data, J = now.mechanism.elements, now.log_tangent
    if not len(now.elements):
        return
    curvature = logarithm_curvature(now.log)
    for e, i in enumerate(now.elements):
        own = (now.columns.place[i],) * 2
        along = data.K[i] / data.length[i] @ J[e]
        if np.any(data.C[i]):
            damping = data.C[i] / data.length[i]
            speed = J[e] @ now.rates[now.columns.place[i]]
            along = along + damping @ np.einsum("k,kij->ij", speed, curvature[e])
            D[own] += J[e].T @ damping @ J[e]
        turned = np.einsum("kij,i->jk", curvature[e], now.stress[e]) @ J[e]
        K[own] += J[e].T @ along + turned


def _add_lines(now: Instant, moved: Maps, forces: Floats, D: Floats, K: Floats) -> None:
    lines = now.mechanism.lines
    if not len(lines.law):
        return
    rows = now.on_nodes(now.gradients, moved.T)
    rates = now.on_nodes(now.gradient_rates, moved.T) + now.on_nodes(now.gradients, moved.rate)
    law = now.line_forces
    D += rows.T @ law.damping @ rows
    K += rows.T @ (law.stiffness @ rows + law.damping @ rates)
    for k in np.flatnonzero(forces).tolist():
        a, b = lines.node[k]
        changes = gradient_changes(lines, k, pair_of(lines, k, now.x, now.R), np.eye(12))
        both = np.concatenate([moved.T[a], moved.T[b]])
        K += forces[k] * both.T @ (changes.T @ both)


def _with_laws(now: Instant, M: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats, Floats]:
    """With the laws of the joint coordinates and with the rotors of elastic gears as further unknowns."""
    n, rotors = len(M), len(now.slopes.rotors)
    at = np.append(now.coordinate_columns, n + np.arange(rotors)).astype(np.int64)
    wider = []
    for square, law in zip((M, D, K), (now.slopes.mass, now.slopes.damping, now.slopes.stiffness)):
        wide = np.zeros((n + rotors, n + rotors))
        wide[:n, :n] = square
        wide[np.ix_(at, at)] += law
        wider.append(wide)
    for i in np.flatnonzero(now.mechanism.tree.restarts) + 2:
        # the spin of a ball joint changes by y' and because its axes turn with y
        place, S = now.columns.place[i], now.columns.S[i]
        c = now.mechanism.tree.coordinate[i]
        law = now.slopes.damping[c - 2 : c + 1, c - 2 : c + 1]
        wider[2][place, place] += law @ S.T @ bracket(S @ now.rates[place]) @ S
    return wider[0], wider[1], wider[2]


def _at_place(place: Place, T: Floats) -> Floats:
    """Rows (6, ...) of body displacements of a frame fixed to a node."""
    return np.asarray(to_frame(place.rotation, place.position) @ T[place.node])


def _ports(now: Instant, moved: Maps, reduction: Reduction) -> Iterator[LinearisedPort]:
    """All ports that take an effort; flows as rows over all unknowns, then over the independent ones."""
    twists = moved.rate + bracket(now.V) @ moved.T
    wide, n = len(reduction.Z), now.columns.total
    for port in now.arm.ports:
        rate, shift = np.zeros((port.size, wide)), np.zeros((port.size, wide))
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is Frame.JOINT:
            if port.name not in now.arm.joint_names:
                rate[:, :n], shift[:, :n] = _at_loop(now, port, moved.T, twists)
                yield LinearisedPort(port, rate @ reduction.Z, rate @ reduction.Z_rate + shift @ reduction.Z)
                continue
            c = now.arm.joint_names.index(port.name)
            if now.mechanism.coordinates.prescribed[c]:
                continue
            driven = now.slopes.driven[c]
            dofs = len(now.pose.q)
            rate[0, now.coordinate_columns[c] if driven < dofs else n + driven - dofs] = 1.0
        elif port.size == 3:
            rate[:, :n], shift[:, :n] = _at_ball(now, port, moved.T, twists)
        else:
            rate[:, :n], shift[:, :n] = _at_port(now, port, moved.T), _at_port(now, port, twists)
        yield LinearisedPort(port, rate @ reduction.Z, rate @ reduction.Z_rate + shift @ reduction.Z)


def _at_ball(now: Instant, port: Port, T: Floats, twists: Floats) -> tuple[Floats, Floats]:
    """Spin of the child of a ball joint against its parent, in its own axes: of rates, and of displacements."""
    first, second = now.arm.structure.ends(port.name)
    parent, child, own = first.node, second.node, second.rotation
    turn = now.R[child].T @ now.R[parent]
    carried = now.V[parent, 3:]
    rate = T[child][3:] - turn @ T[parent][3:]
    shift = twists[child][3:] - turn @ twists[parent][3:]
    shift += turn @ hat(carried) @ T[parent][3:] - hat(turn @ carried) @ T[child][3:]
    return own.T @ rate, own.T @ shift


def _at_loop(now: Instant, port: Port, T: Floats, twists: Floats) -> tuple[Floats, Floats]:
    """Rate of a loop joint without coordinates: of rates, and of displacements."""
    loop = next(each for each in now.arm.robot.loops if each.name == port.name.partition(".")[0])
    first, second = now.arm.structure.ends(loop.name)
    names = [freedom.name for freedom in loop.joint.freedoms]
    at = frames((first, carried_frame(loop, second)), (now.x, now.R), now.V, T, twists)
    return loop_flow(loop.joint, names.index(port.name), at)


def _at_port(now: Instant, port: Port, T: Floats) -> Floats:
    """Rows of the body twist of an end of a link, of its integral along the link, or of the child of a free joint."""
    structure = now.arm.structure
    name, _, where = port.name.rpartition(".")
    free = [joint.child for joint in now.arm.robot.joints if joint.name == port.name]
    if free:
        name, where = free[0], End.ROOT
    if where != "distributed":
        return _at_place(structure.place(At(name, End(where))), T)
    link = structure.link(name)
    half = 0.5 * np.diff(link.station)
    shares = np.append(half, 0.0) + np.append(0.0, half)
    return np.asarray(np.einsum("n,nij->ij", shares, T[link.nodes]))
