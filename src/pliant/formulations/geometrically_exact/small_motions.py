"""Small deviations of an arm of spectral links from its motion through a state.

    y' = v + drift y ,    drift y = B U y - bracket(N V) delta_e ,      M v' + D v + K y = 0

with the unknowns of `arm_instant` and what is held behind them, and then in y alone. The elastic stiffness is that of
the strain points: rigid motions strain nothing, and slow motions keep their digits beside stiff links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.arm_instant import Instant
from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.idle_joints import refuse_idle_joints
from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.twist_matrices import bracket, dual_bracket, hat, to_frame
from pliant.model.contract import Held, SecondOrder, SmallPort
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import RigidLink
from pliant.robot.joint import BASE

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm

PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


def small_motions(arm: GeometricallyExactArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K over strains and free joint positions; prescribed joints and the base as held."""
    refuse_idle_joints(arm, state, inputs.prescribed)
    now = Instant(arm, state, inputs, time)
    drift = _drift(now)
    D, K = _of_sections(now, drift)
    turn = now.turning() if arm.chain.inertia.gravity.any() or now.loads.world.any() else None
    _add_bodies(now, turn, D, K)
    _add_loads(now, turn, K)
    _turn_with_joints(now, K)
    joints = np.zeros((len(now.q), now.size))
    for dof, column in now.column.items():
        joints[dof, column] = 1.0
        if dof in now.free:
            D[column, column] += inputs.damping[dof]
            K[column, column] += inputs.stiffness[dof]

    if now.moves or now.acceleration.any():
        D, K = _without_drift(now, drift, D, K)
    n, own, held = now.own, slice(now.own), slice(now.own, now.size)
    shift = now.U - now.T @ drift

    def state_at(y: Floats, rate: Floats) -> Floats:
        """The state of strains and joint positions changed by y, with rates changed by ``rate``."""
        e, q, qd = now.e + y[: 6 * now.points].reshape(-1, 6), now.q.copy(), now.qd.copy()
        q[now.free] += y[6 * now.points :]
        qd[now.free] += rate[6 * now.points :]
        V = now.V + now.T[:, :, own] @ rate + shift[:, :, own] @ y
        return np.concatenate([V.ravel(), e.ravel(), q, qd])

    ports = tuple(_ports(now, shift))
    tip = _at_end(now, arm.link_names[-1], "tip", now.T)
    nothing = np.zeros((0, now.size))
    return SecondOrder(
        now.mass[own, own],
        D[own, own],
        K[own, own],
        now.unbalanced[own],
        now.rests,
        tuple(_names(now)),
        tuple(SmallPort(each.port, each.rate[:, own], each.shift[:, own]) for each in ports),
        now.T[:, :, own],
        joints[:, own],
        tip[:, own],
        state_at,
        Held(
            _held_ports(now),
            now.mass,
            D,
            K,
            np.zeros((now.size - n, now.size - n)),
            np.concatenate([nothing, *(each.rate for each in ports)])[:, held],
            np.concatenate([nothing, *(each.shift for each in ports)])[:, held],
            joints[:, held],
            tip[:, held],
        ),
    )


def _held_ports(now: Instant) -> tuple[Port, ...]:
    by_name = {port.name: port for port in now.arm.ports}
    return (*(by_name[now.arm.joint_names[dof]] for dof in now.given), by_name[BASE])


def _without_drift(now: Instant, drift: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats]:
    """D and K over y' and y in place of v and y; from v to y' the unit is one only at this instant."""
    strains, n = 6 * now.points, now.size
    B = now.B
    stretching = bracket((B @ now.V.ravel()).reshape(-1, 6))

    def on_strains(of_points: Floats, of_nodes: Floats) -> Floats:
        rows = np.zeros((n, n))
        rows[:strains] = (stretching @ of_points).reshape(strains, n) + B @ of_nodes.reshape(-1, n)
        return rows

    unit_rate = on_strains(now.at_points(now.T), now.X - now.U)
    drift_rate = on_strains(now.at_points(now.U), now.accelerated(now.acceleration))
    for k, turn in enumerate(bracket(now.at_points(now.acceleration))):
        drift_rate[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] -= turn
    M = now.mass
    return D - M @ (drift + unit_rate), K - D @ drift - M @ (drift_rate - unit_rate @ drift)


def _drift(now: Instant) -> Floats:
    drift = np.zeros((now.size, now.size))
    if now.moves:
        strains = 6 * now.points
        drift[:strains] = now.B @ now.U.reshape(-1, now.size)
        for k, turn in enumerate(bracket(now.at_points(now.V))):
            drift[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] -= turn
    return drift


def _of_sections(now: Instant, drift: Floats) -> tuple[Floats, Floats]:
    """Damping and stiffness of the sections; what they carry turns with them."""
    section = now.arm.chain.section
    D, K = np.zeros((now.size, now.size)), np.zeros((now.size, now.size))
    for k, w in enumerate(now.weight):
        own = slice(6 * k, 6 * k + 6)
        K[own, own] += w * now.tangent[k]
        if section.damped:
            D[own, own] += w * section.Cd[k]
            K[own] += w * section.Cd[k] @ drift[own]
    carried = now.weight[:, None, None] * dual_bracket(now.stress)
    between = now.at_points(now.T)
    for k in range(now.points):
        K[:, 6 * k : 6 * k + 6] += between[k].T @ carried[k]
    return D, K


def _add_bodies(now: Instant, turn: Floats | None, D: Floats, K: Floats) -> None:
    """Gyroscopic terms, drag and gravity."""
    inertia, n = now.arm.chain.inertia, now.size
    carried = (now.T, now.U, now.X, now.accelerated(now.acceleration), now.V)
    start = 0
    for k, (M, R) in enumerate(now.bodies):
        T, U, X, Y, V = (now.of_bodies(each)[k] for each in carried)
        gyroscopic = -dual_bracket(np.einsum("nij,nj->ni", M, V)) - np.swapaxes(bracket(V), 1, 2) @ M
        if k == 0:
            gyroscopic += inertia.viscous
        of_place = M @ Y + gyroscopic @ U
        if turn is not None:
            fall = hat(np.einsum("nji,j->ni", R, inertia.gravity))
            of_place -= M[:, :, :3] @ (fall @ turn[start : start + len(M)])
        rows = T.reshape(-1, n).T
        D += rows @ (M @ X + gyroscopic @ T).reshape(-1, n)
        K += rows @ of_place.reshape(-1, n)
        start += len(M)


def _add_loads(now: Instant, turn: Floats | None, K: Floats) -> None:
    """Loads that keep their direction in the world turn against the sections."""
    for row in np.flatnonzero(now.loads.world):
        assert turn is not None
        for node in np.flatnonzero(now.loads.weight[row]):
            load = now.loads.weight[row, node] * now.load_values[row].reshape(2, 3) @ now.R[node]
            K -= now.T[node].T @ (np.concatenate(hat(load)) @ turn[node])


def _turn_with_joints(now: Instant, K: Floats) -> None:
    """What a joint transmits works on virtual displacements of its parent, which turn as it moves."""
    tree = now.arm.chain.tree
    lack = now.inertial(now.acceleration) - now.weights + _section_wrenches(now)
    for link in range(len(tree.parent) - 1, -1, -1):
        root, dof = tree.first_node[link], int(tree.dof[link])
        if dof >= 0:
            turned = dual_bracket(lack[root]) @ tree.S[link]
            K[:, now.column[dof]] -= now.of_parent(link, now.T).T @ turned
        if tree.parent[link] >= 0:
            lack[tree.parent_node[link]] += now.Ad[link].T @ lack[root]


def _section_wrenches(now: Instant) -> Floats:
    stress = (now.weight[:, None] * now.stress).ravel()
    return np.asarray((stress @ now.B).reshape(-1, 6))


def _names(now: Instant) -> Iterator[str]:
    tree, p = now.arm.chain.tree, now.arm.points.degree
    for link, name in enumerate(now.arm.link_names):
        for k in range(int(tree.n_elements[link]) * p):
            yield from (f"{name}.strain_{k + 1}.{part}" for part in PARTS)
    yield from (now.arm.joint_names[dof] for dof in now.free)


def _ports(now: Instant, shift: Floats) -> Iterator[SmallPort]:
    """All ports that take an effort; ``shift`` (nodes, 6, unknowns) is what y adds to twists."""
    for port in now.arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is Frame.JOINT:
            dof = now.arm.joint_names.index(port.name)
            if dof in now.free:
                rate = np.zeros((1, now.size))
                rate[0, now.column[dof]] = 1.0
                yield SmallPort(port, rate, np.zeros_like(rate))
        else:
            yield SmallPort(port, _at_port(now, port, now.T), _at_port(now, port, shift))


def _at_port(now: Instant, port: Port, T: Floats) -> Floats:
    name, _, where = port.name.rpartition(".")
    if where != "distributed":
        return _at_end(now, name, where, T)
    link, tree, mesh = now.arm.link_names.index(name), now.arm.chain.tree, now.arm.chain.mesh
    rows = np.zeros((6, now.size))
    for e in range(tree.first_element[link], tree.first_element[link] + tree.n_elements[link]):
        nodes = slice(mesh.start[e], mesh.start[e] + mesh.N.shape[1])
        rows += np.einsum("n,nij->ij", now.arm.points.node_weights * mesh.length[e], T[nodes])
    return rows


def _at_end(now: Instant, name: str, where: str, T: Floats) -> Floats:
    """Rows (6, unknowns) of the twist of an end section of a link."""
    index, tree = now.arm.link_names.index(name), now.arm.chain.tree
    link = now.arm.robot.link(name)
    if where == "tip" and isinstance(link, RigidLink):
        frame = to_frame(matrix_of(link.tip_rotation), np.asarray(link.tip_position, float))
        return np.asarray(frame @ T[tree.first_node[index]])
    return np.asarray(T[tree.first_node[index] if where == "root" else tree.last_node[index]])
