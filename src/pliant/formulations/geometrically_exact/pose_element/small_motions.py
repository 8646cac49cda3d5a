"""Small deviations from the motion of a mechanism through a state, closed loops eliminated.

Every term of the balance (see `instant`) is varied along relative displacements y of the moving tree. A node is then
displaced by chi = T y in its own frame and its twist by chi' + bracket(V) chi. Elements keep their stiffness in
factored form; forces carried by joints, elements and lines turn with them, which is their geometric stiffness.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.instant import Instant, congruence
from pliant.formulations.geometrically_exact.pose_element.line_derivatives import gradient_changes, pair_of
from pliant.formulations.geometrically_exact.pose_element.loop_joints import carried_frame
from pliant.formulations.geometrically_exact.pose_element.loop_ports import frames, loop_flow
from pliant.formulations.geometrically_exact.pose_element.loop_reduction import Reduction
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats
from pliant.formulations.geometrically_exact.pose_element.relative_motion import Maps, gather, maps
from pliant.mechanics.twist_matrices import bracket, dual_bracket, hat, logarithm_curvature, to_frame
from pliant.model.contract import Held, SecondOrder, SmallPort
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import At, End

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.model import PoseElementArm
    from pliant.formulations.geometrically_exact.pose_element.nodes import Place


def small_motions(arm: PoseElementArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
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
        _at_place(arm.structure.links[-1].tip, moved.T) @ tree_part,
    )
    return SecondOrder(
        M[own, own],
        D[own, own],
        K[own, own],
        (Z.T @ lack)[own],
        not (now.moves or np.any(acceleration)),
        reduction.names(),
        tuple(SmallPort(each.port, each.rate[:, own], each.shift[:, own]) for each in ports),
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
    ports: tuple[SmallPort, ...],
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


def _ports(now: Instant, moved: Maps, reduction: Reduction) -> Iterator[SmallPort]:
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
                yield SmallPort(port, rate @ reduction.Z, rate @ reduction.Z_rate + shift @ reduction.Z)
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
        yield SmallPort(port, rate @ reduction.Z, rate @ reduction.Z_rate + shift @ reduction.Z)


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
