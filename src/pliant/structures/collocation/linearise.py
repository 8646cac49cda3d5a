"""An arm of spectral links at one instant: how strains and joints carry over to the twists of its nodes.

Unknown are the changes y of strains and free joint positions. The twists of the nodes follow, delta V = T v + U y, and
their accelerations T v' + X v + Y y. Here v is measured by the rates that it gives strains and joints. Behind the
unknowns stand, as if they were such, the positions of prescribed joints and the displacement of the base in its axes.

Small deviations of an arm of spectral links from its motion through a state.

    y' = v + drift y ,    drift y = B U y - bracket(N V) delta_e ,      M v' + D v + K y = 0

with the unknowns of `arm_instant` and what is held behind them, and then in y alone. The elastic stiffness is that of
the strain points: rigid motions strain nothing, and slow motions keep their digits beside stiff links.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Held, LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import RigidLink
from pliant.robot.joint import BASE
from pliant.spatial.arrays import bracket, dual_bracket, hat, to_frame
from pliant.structures.collocation.chain import Floats, new_stages
from pliant.structures.collocation.element import freeze
from pliant.structures.collocation.factorise import new_frozen
from pliant.structures.collocation.massless import refuse_massless_joints
from pliant.structures.collocation.orientation import rebuild_orientations
from pliant.structures.collocation.stages import place_links

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

BALANCED = 1e-9  # strain by which an equilibrium may be missed, part of its own size by which a torque
ROUND_OFF = 1e-14  # part of the largest stiffness that strains leave as noise in torques
MASSLESS = 1e-12  # part of the largest inertia below which a motion has none
PROBE = 1e-3  # rad, by which sections turn where the change of their orientation is a difference


class Instant:
    """An arm at one instant and everything that is linear there."""

    def __init__(self, arm: GeometricallyExactArm, state: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.inputs, self.state = arm, inputs, state
        chain, part = arm.chain, arm.layout.part
        self.signals = inputs.joint_signals(np.array([time]))[0]
        self.loads, self.load_values = arm.load_table(inputs.loads), inputs.load_signals(np.array([time]))[0]
        self.prescribed = np.array(inputs.prescribed, np.bool_)
        self.e, self.q = part(state, "strain").copy(), part(state, "joint_position").copy()
        self.qd = np.where(self.prescribed, self.signals[:, 1], part(state, "joint_rate"))
        self.V = part(state, "twist").copy()
        self.points, self.nodes = len(self.e), len(self.V)
        self.free, self.given = np.flatnonzero(~self.prescribed), np.flatnonzero(self.prescribed)
        self.own = 6 * self.points + len(self.free)  # unknowns
        self.size = 6 * self.points + len(self.q) + 6  # with what is held
        self.joints = np.append(self.free, self.given)
        self.column = {int(dof): 6 * self.points + k for k, dof in enumerate(self.joints)}
        stages = new_stages(1, len(chain.tree.parent), self.nodes, self.points, len(self.q), False)
        stages.q[0] = self.q
        place_links(chain.tree, stages.q, stages.pose)
        self.Ad = to_frame(stages.pose[0, :, :9].reshape(-1, 3, 3), stages.pose[0, :, 9:])
        base = arm.robot.base
        self.R_base = matrix_of(base.rotation)
        self.from_base = self.Ad @ np.linalg.inv(to_frame(self.R_base, np.asarray(base.position, float)))
        self.R, self.R_point = self._orientations(self.e, self.q)
        shape = (self.nodes, 6, self.size)
        self.T, self.U, self.X = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.bias = np.zeros((self.nodes, 6))  # acceleration of the roots when nothing else accelerates
        self._carry()
        strains, n = 6 * self.points, self.size
        W = np.zeros((n, n))  # from nodal twists and joint rates to rates of strains and joints
        W[:strains] = self.B @ self.T.reshape(6 * self.nodes, n)
        W[strains:, strains:] = np.eye(n - strains)
        back = np.linalg.inv(W)
        self.T, self.X = self.T @ back, self.X @ back
        self.moves = bool(np.any(self.V))
        frozen = new_frozen(chain, 1, np.float64)
        freeze(chain.section, self.e[None], 0, frozen.xi, frozen.stress, frozen.tangent)
        self.tangent = frozen.tangent
        rate = (self.B @ self.V.ravel()).reshape(-1, 6)
        self.stress = frozen.stress + np.einsum("kij,kj->ki", chain.section.Cd, rate)

    def _orientations(self, e: Floats, q: Floats) -> tuple[Floats, Floats]:
        """World rotations of all nodes and, of the mixed element, of its masses."""
        chain = self.arm.chain
        stages = new_stages(
            1, len(chain.tree.parent), self.nodes, self.points, len(q), chain.inertia.at_points
        )
        stages.q[0] = q
        place_links(chain.tree, stages.q, stages.pose)
        xi = (chain.section.rest + e)[None]
        rebuild_orientations(chain.tree, chain.mesh, xi, stages.pose, 0, stages.R, stages.R_point)
        return stages.R[0].reshape(-1, 3, 3), stages.R_point[0].reshape(-1, 3, 3)

    def _carry(self) -> None:
        """Root twists of the motion; T, U and X over joint rates and the twists of nodes that are not roots."""
        tree = self.arm.chain.tree
        position = 0
        for link in range(len(tree.parent)):
            root, dof, S = int(tree.first_node[link]), int(tree.dof[link]), tree.S[link]
            rate = self.qd[dof] if dof >= 0 else 0.0
            self.V[root], turn = S * rate, bracket(S * rate)
            self.T[root] = self.of_parent(link, self.T)
            self.X[root] = -turn @ self.T[root]
            if tree.parent[link] >= 0:
                p, Ad = int(tree.parent_node[link]), self.Ad[link]
                carried = Ad @ self.V[p]
                self.V[root] += carried
                self.U[root] = Ad @ self.U[p]
                self.X[root] += Ad @ self.X[p]
                self.bias[root] = Ad @ self.bias[p] - turn @ carried
                if dof >= 0:
                    self.U[root][:, self.column[dof]] -= bracket(S) @ carried
                    self.X[root][:, self.column[dof]] -= bracket(S) @ carried
            if dof >= 0:
                self.T[root][:, self.column[dof]] += S
            if dof in self.given:
                self.bias[root] += S * self.signals[dof, 2]
            for node in range(root + 1, int(tree.last_node[link]) + 1):
                self.T[node][:, position : position + 6] = np.eye(6)
                position += 6

    def of_parent(self, link: int, T: Floats) -> Floats:
        """Rows (6, unknowns) of the twist with which the parent carries the root of a link."""
        tree = self.arm.chain.tree
        if tree.parent[link] >= 0:
            return np.asarray(self.Ad[link] @ T[tree.parent_node[link]])
        rows = np.zeros((6, self.size))
        rows[:, -6:] = self.from_base[link]
        return rows

    def accelerated(self, V_dot: Floats) -> Floats:
        """The matrices Y (nodes, 6, unknowns) for accelerations of the nodes."""
        tree = self.arm.chain.tree
        Y = np.zeros_like(self.T)
        for link in range(len(tree.parent)):
            if tree.parent[link] < 0:
                continue
            root, dof, S = int(tree.first_node[link]), int(tree.dof[link]), tree.S[link]
            p, Ad = int(tree.parent_node[link]), self.Ad[link]
            turn = bracket(S * (self.qd[dof] if dof >= 0 else 0.0))
            Y[root] = Ad @ Y[p] - turn @ self.U[root]
            if dof >= 0:
                Y[root][:, self.column[dof]] -= bracket(S) @ (Ad @ V_dot[p])
        return Y

    @cached_property
    def B(self) -> Floats:
        """(6 points, 6 nodes) strain rates of nodal twists."""
        mesh = self.arm.chain.mesh
        turn = bracket(self.arm.chain.section.rest + self.e)
        B = np.zeros((self.points, 6, self.nodes, 6))
        p = len(mesh.N)
        for k in range(self.points):
            element, g = divmod(k, p)
            rows = slice(mesh.start[element], mesh.start[element] + mesh.N.shape[1])
            B[k][:, rows] = np.einsum("a,ij->iaj", mesh.D[g] / mesh.length[element], np.eye(6))
            B[k][:, rows] += np.einsum("a,ij->iaj", mesh.N[g], turn[k])
        return B.reshape(6 * self.points, 6 * self.nodes)

    @cached_property
    def weight(self) -> Floats:
        mesh = self.arm.chain.mesh
        return np.asarray(np.outer(mesh.length, mesh.w).ravel())

    def at_points(self, values: Floats) -> Floats:
        """Nodal values (nodes, 6, ...) at the strain points."""
        mesh = self.arm.chain.mesh
        rows = mesh.start[:, None] + np.arange(mesh.N.shape[1])
        return np.asarray(
            np.einsum("ga,ea...->eg...", mesh.N, values[rows]).reshape(self.points, *values.shape[1:])
        )

    @cached_property
    def bodies(self) -> tuple[tuple[Floats, Floats], ...]:
        """Masses and rotations of the nodes and, of the mixed element, of the strain points."""
        inertia = self.arm.chain.inertia
        nodes = (inertia.M, self.R)
        return (nodes, (inertia.M_point, self.R_point)) if inertia.at_points else (nodes,)

    def of_bodies(self, values: Floats) -> tuple[Floats, ...]:
        """Nodal values as `bodies` see them."""
        return (values, self.at_points(values)) if self.arm.chain.inertia.at_points else (values,)

    @cached_property
    def mass(self) -> Floats:
        n = self.size
        parts = zip(self.bodies, self.of_bodies(self.T))
        return np.asarray(sum(T.reshape(-1, n).T @ (M @ T).reshape(-1, n) for (M, _), T in parts))

    def _at_nodes(self, of_bodies: list[Floats]) -> Floats:
        """Wrenches on the bodies as wrenches on the nodes."""
        total = of_bodies[0].copy()
        if len(of_bodies) > 1:
            mesh = self.arm.chain.mesh
            for a in range(mesh.N.shape[1]):
                np.add.at(total, mesh.start + a, mesh.N[0, a] * of_bodies[1])
        return total

    @cached_property
    def weights(self) -> Floats:
        """(nodes, 6) wrenches of gravity and loads."""
        gravity = self.arm.chain.inertia.gravity
        fall = [np.einsum("nij,nkj,k->ni", M[:, :, :3], R, gravity) for M, R in self.bodies]
        total = self._at_nodes(fall)
        for row, load in enumerate(self.load_values):
            both = np.broadcast_to(load.reshape(2, 3), (self.nodes, 2, 3))
            if self.loads.world[row]:
                both = np.einsum("nji,ncj->nci", self.R, both)
            total += self.loads.weight[row][:, None] * both.reshape(-1, 6)
        return total

    def inertial(self, V_dot: Floats) -> Floats:
        """(nodes, 6) wrenches that the masses ask for, and drag."""
        asked = []
        for (M, _), V, A in zip(self.bodies, self.of_bodies(self.V), self.of_bodies(V_dot)):
            momentum = np.einsum("nij,nj->ni", M, V)
            asked.append(np.einsum("nij,nj->ni", M, A) - np.einsum("nji,nj->ni", bracket(V), momentum))
        drag = np.einsum("nij,nj->ni", self.arm.chain.inertia.viscous, self.V)
        return np.asarray(self._at_nodes(asked) + drag)

    @cached_property
    def torque(self) -> Floats:
        """(unknowns,) efforts of the drives."""
        efforts = np.zeros(self.size)
        for dof in self.free:
            column = self.column[int(dof)]
            reference, rate, feedforward = self.signals[dof]
            efforts[column] = feedforward - self.inputs.stiffness[dof] * (self.q[dof] - reference)
            efforts[column] -= self.inputs.damping[dof] * (self.qd[dof] - rate)
        return efforts

    @cached_property
    def internal(self) -> Floats:
        """(unknowns,) what the sections resist with."""
        asked = np.zeros(self.size)
        asked[: 6 * self.points] = (self.weight[:, None] * self.stress).ravel()
        return asked

    @cached_property
    def unbalanced(self) -> Floats:
        """(unknowns,) generalised forces that accelerate the arm; on what is held, minus the effort that holds it."""
        lack = self.inertial(self.bias) - self.weights
        return np.asarray(self.torque - self.internal - np.einsum("nij,ni->j", self.T, lack))

    @cached_property
    def rests(self) -> bool:
        """Whether this is an equilibrium at rest, as far as round-off lets it."""
        if self.moves or self.bias.any():
            return False
        stiffness = np.zeros(self.size)
        stiffness[: 6 * self.points] = (self.weight[:, None] * self.tangent[:, range(6), range(6)]).ravel()
        parts = np.abs(self.weights).sum(axis=0)
        load = parts[:3].sum() * (1.0 + self.arm.reach) + parts[3:].sum()  # bounds the torque on every joint
        size = stiffness + np.abs(self.torque)
        size[6 * self.points :] += load
        floor = ROUND_OFF * stiffness.max(initial=0.0)
        return bool(np.all((np.abs(self.unbalanced) <= floor + BALANCED * size)[: self.own]))

    @cached_property
    def acceleration(self) -> Floats:
        """(nodes, 6) of the nodal twists."""
        if self.rests:
            return np.zeros((self.nodes, 6))
        own = slice(self.own)
        mass = self.mass[own, own]
        scale = 1.0 / np.sqrt(np.maximum(np.diagonal(mass), 1e-300))
        values, vectors = np.linalg.eigh(mass * np.outer(scale, scale))
        heavy = values > MASSLESS
        parts = vectors[:, heavy].T @ (scale * self.unbalanced[own]) / values[heavy]
        return np.asarray(self.T[:, :, own] @ (scale * (vectors[:, heavy] @ parts)) + self.bias)

    def turning(self) -> Floats:
        """(bodies, 3, unknowns) by which sections turn in their own axes, nodes first."""
        steps = np.append(
            np.repeat(PROBE / max(self.arm.reach, 1e-300), 6 * self.points), np.full(len(self.q), PROBE)
        )
        now = np.concatenate([self.R, self.R_point])
        turn = np.zeros((len(now), 3, self.size))
        for column, step in enumerate(steps):
            if column < 6 * self.points and column % 6 < 3:
                continue  # stretch and shear turn nothing
            slope = np.zeros_like(now)
            for weight, ahead in ((8.0, 1.0), (-8.0, -1.0), (-1.0, 2.0), (1.0, -2.0)):
                e, q = self.e.copy(), self.q.copy()
                if column < 6 * self.points:
                    e.ravel()[column] += ahead * step
                else:
                    q[self.joints[column - 6 * self.points]] += ahead * step
                slope += weight / (12.0 * step) * np.concatenate(self._orientations(e, q))
            body = np.swapaxes(now, 1, 2) @ slope
            turn[:, :, column] = np.stack([body[:, 2, 1], body[:, 0, 2], body[:, 1, 0]], axis=1)
        turn[:, :, -3:] = np.swapaxes(now, 1, 2) @ self.R_base
        return turn


PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


def linearise(arm: GeometricallyExactArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K over strains and free joint positions; prescribed joints and the base as held."""
    refuse_massless_joints(arm, state, inputs.prescribed)
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
        tuple(LinearisedPort(each.port, each.rate[:, own], each.shift[:, own]) for each in ports),
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


def _ports(now: Instant, shift: Floats) -> Iterator[LinearisedPort]:
    """All ports that take an effort; ``shift`` (nodes, 6, unknowns) is what y adds to twists."""
    for port in now.arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is Frame.JOINT:
            dof = now.arm.joint_names.index(port.name)
            if dof in now.free:
                rate = np.zeros((1, now.size))
                rate[0, now.column[dof]] = 1.0
                yield LinearisedPort(port, rate, np.zeros_like(rate))
        else:
            yield LinearisedPort(port, _at_port(now, port, now.T), _at_port(now, port, shift))


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
