"""Small deviations of an arm of collocated links from its motion through a state.

Unknown are the changes y of strains, free joint positions and rotors behind elastic gears. Behind them stand, as if
they were such, the positions of prescribed joints and the displacement of the base in its axes. Strain rates B V = e'
and the joints make twists and accelerations of the nodes functions of y, y' and y'',

    dV = T y' + shift y ,     dA = T y'' + X y' + Y y ,

and the balance f = 0 of the nodes acts on y by T^T. The elastic stiffness is that of the strain points: rigid motions
strain nothing, and slow motions keep their digits beside stiff links.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pliant.mechanics.joint_laws import GEAR_STIFFNESS, ROTOR
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Causality, Frame
from pliant.robot import End
from pliant.robot.joint import BASE
from pliant.spatial.arrays import bracket, to_frame
from pliant.structures.collocation.chain import Floats, new_stages
from pliant.structures.collocation.equations import AT_AN_INSTANT, Instant, Sparse, diagonal, spread
from pliant.structures.collocation.joints import instant_slopes
from pliant.structures.collocation.massless import refuse_massless_joints
from pliant.structures.collocation.observe import acts_on
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.collocation.stepper import state_of
from pliant.structures.small_deviations import Deviations, second_order

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

BALANCED = 1e-9  # strain by which an equilibrium may be missed, part of its own size by which a torque
ROUND_OFF = 1e-14  # part of the largest stiffness that strains leave as noise in torques
MASSLESS = 1e-12  # part of the largest inertia below which a motion has none
PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class Motion:
    """An arm at a state and how its nodes follow y'; columns: strains, free joints, rotors, prescribed joints, base."""

    def __init__(self, arm: GeometricallyExactArm, state: Floats, inputs: Inputs, time: float) -> None:
        V, e, q, qd = (part[0].copy() for part in arm.split(state))
        signals, loads = inputs.joint_signals(np.array([time])), inputs.load_signals(np.array([time]))
        given = np.array(inputs.prescribed, np.bool_)
        qd[given], signals[0, given, 0] = signals[0, given, 1], q[given]
        self.arm, self.given, self.signals, self.loads = arm, given, signals, loads
        self.plant = arm.plant(inputs)
        self.state = state_of(arm, state)
        self.state.qd[:] = qd
        laws = self.plant.joints.laws
        self.rotors = np.flatnonzero(laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0))
        links = len(arm.chain.tree.parent)
        self.stages = new_stages(1, links, len(V), len(e), len(q), arm.chain.inertia.at_points)
        self.stages.qd[0], self.stages.rd[0] = qd, self.state.rotor[:, 1]
        moving, turning = int(np.sum(~given)), len(self.rotors)
        self.strains, self.own, self.n = e.size, e.size + moving + turning, e.size + len(q) + turning + 6
        order = np.argsort(given, kind="stable")  # of the joints
        self.joints, self.turning = np.zeros((len(q), self.n)), np.zeros((turning, self.n))
        places = e.size + np.arange(len(q)) + np.where(np.arange(len(q)) < moving, 0, turning)
        self.joints[order, places] = 1.0
        self.turning[np.arange(turning), e.size + moving + np.arange(turning)] = 1.0
        self.now = self.accelerating(np.zeros(V.size))
        self.T = self._carried()

    def accelerating(self, A: Floats) -> Instant:
        """The equations with accelerations A of the nodes."""
        self.state.V_rate.ravel()[:] = A[: self.state.V.size]
        tables = self.signals, self.loads
        evaluate_stages(self.plant, AT_AN_INSTANT, self.state, self.stages, tables, 1.0)
        return Instant(self.plant, self.stages, 0, self.loads[0])

    def _carried(self) -> Floats:
        """T (6 nodes and base, y'): first over the twists of nodes that are no roots, then over strain rates."""
        now, base = self.now, self.arm.robot.base
        at_base = np.zeros((6 * now.size, 6))
        at_base[-6:] = np.linalg.inv(to_frame(matrix_of(base.rotation), np.asarray(base.position, float)))
        C = now.L @ sparse.hstack([now.E, now.S @ self.joints[:, self.strains : -6], at_base], format="csr").toarray()
        rates = np.eye(self.n)
        rates[: self.strains] = now.B @ C
        return np.asarray(C @ np.linalg.inv(rates))

    def laws(self) -> tuple[Floats, Floats, Floats]:
        """Inertia of rotors, damping and stiffness of drives and laws over all columns."""
        laws, state, rows = self.plant.joints.laws, self.state, np.zeros((2, self.n))
        M, D, K = (np.zeros((self.n, self.n)) for _ in range(3))
        for c in np.flatnonzero(~self.given):
            rows[0], rows[1] = self.joints[c], self.turning[self.rotors == c].sum(axis=0)
            rotor = state.rotor[c, 0], state.rotor[c, 1]
            slopes = instant_slopes(laws, int(c), state.q, state.qd, self.signals[0, c], rotor)
            K -= rows.T @ slopes[:, 0::2] @ rows
            D -= rows.T @ slopes[:, 1::2] @ rows
            if laws.has_motor[c]:
                of_rotor = rows[1] if c in self.rotors else rows[0]
                M += laws.motor[c, ROTOR] * np.outer(of_rotor, of_rotor)
        return M, D, K

    def following(self, added: Floats, of_strains: Floats) -> Floats:
        """Changes of the nodes where joints and parents add some and strain rates change so."""
        added = self.now.L @ added
        return np.asarray(added + self.T[:, : self.strains] @ (of_strains - self.now.B @ added))

    def at_strains(self, values: Sparse) -> Floats:
        """Columns of the strains from a matrix (6 points, 6 points)."""
        out = np.zeros((values.shape[0], self.n))
        out[:, : self.strains] = values.toarray()
        return out


def linearise(arm: GeometricallyExactArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K over strains and free joint positions; prescribed joints and the base as held."""
    refuse_massless_joints(arm, state, inputs)
    motion = Motion(arm, state, inputs, time)
    now, T, tree = motion.now, motion.T, arm.chain.tree
    joints, own = motion.joints, slice(motion.own)
    moving = np.where(tree.dof >= 0, np.append(motion.state.qd, 0.0)[tree.dof], 0.0)
    joint_turning = spread(-bracket(tree.S * moving[:, None]), now.roots, now.roots, (now.size, now.size))
    carried_rate = joint_turning @ now.G  # G'
    of_joints = now.moved_by_joints(now.V)
    turning, stretching = now.turning_at_points(now.V), diagonal(bracket(motion.stages.rate[0]))
    shift = motion.following(of_joints @ joints, motion.at_strains(turning))
    X = motion.following(carried_rate @ T + of_joints @ joints, motion.at_strains(turning) - stretching @ (now.N @ T))
    rotors, damping, stiffness = motion.laws()
    mass = np.asarray(T.T @ (now.mass @ T)) + rotors
    bias = now.L @ (carried_rate @ now.V + now.S @ np.where(motion.given, motion.signals[0, :, 2], 0.0))
    unbalanced, rests, A = _accelerations(motion, mass, bias)
    now = motion.accelerating(A)
    of_joints = now.moved_by_joints(A) + joint_turning @ of_joints
    Y = motion.following(
        carried_rate @ shift + of_joints @ joints,
        motion.at_strains(now.turning_at_points(A)) - stretching @ (now.N @ shift),
    )
    of_place = now.mass @ Y + now.gyroscopic @ shift - now.passed_on @ joints + motion.at_strains(now.carried)
    if now.turned is not None:
        of_place -= now.turned @ np.concatenate([np.eye(motion.strains, motion.n), joints, T[-6:]])
    D = T.T @ (now.mass @ X + now.gyroscopic @ T) + damping
    K = T.T @ of_place + stiffness
    strains, weight = slice(motion.strains), now.weight[:, None, None]
    D[strains, strains] += diagonal(weight * arm.chain.section.Cd)
    K[strains, strains] += diagonal(weight * now.tangent(motion.state.e))

    def state_at(y: Floats, rate: Floats) -> Floats:
        """The state of strains and joint positions changed by y, with rates changed by ``rate``."""
        V = motion.stages.V[0].ravel() + (T[:, own] @ rate + shift[:, own] @ y)[:-6]
        e, q, qd = motion.state.e.ravel(), motion.state.q, motion.state.qd
        q, qd, turned = q + joints[:, own] @ y, qd + joints[:, own] @ rate, ()
        if arm.geared:
            rotor = np.column_stack([q, qd])
            rotor[motion.rotors] = motion.state.rotor[motion.rotors]
            rotor[motion.rotors] += motion.turning[:, own] @ np.column_stack([y, rate])
            turned = (rotor.ravel(),)
        return np.concatenate([V, e + y[: e.size], q, qd, *turned])

    by_node, shift_by_node = (each[:-6].reshape(-1, 6, motion.n) for each in (T, shift))
    ports = tuple(_ports(motion, by_node, shift_by_node))
    tip = _at_port(arm, f"{arm.robot.tip_link}.tip", by_node)
    names = {port.name: port for port in arm.ports}
    held_names = (*(arm.joint_names[dof] for dof in np.flatnonzero(motion.given)), BASE)
    all_of_them = Deviations(mass, D, K, ports, joints, tip, tuple(names[name] for name in held_names))
    rest = (unbalanced[own], rests)
    return second_order(all_of_them, own, rest, tuple(_names(motion)), by_node[:, :, own], state_at)


def _accelerations(motion: Motion, mass: Floats, bias: Floats) -> tuple[Floats, bool, Floats]:
    """Forces on y with accelerations ``bias``, whether this is an equilibrium at rest, and the accelerations.

    Forces on what is held are minus the efforts that hold it.
    """
    own, stages = slice(motion.own), motion.stages
    now = motion.accelerating(bias)
    f = now.residual
    efforts = motion.joints.T @ np.where(motion.given, 0.0, stages.torque[0])
    efforts += motion.turning.T @ stages.rho_r[0, motion.rotors]
    unbalanced = motion.T.T @ f + efforts
    stiffness = np.zeros(motion.n)
    tangent = now.tangent(motion.state.e)
    stiffness[: motion.strains] = (now.weight[:, None] * tangent[:, range(6), range(6)]).ravel()
    # what acts beside the stress bounds the torque on every joint
    outer = np.abs((f + now.B.T @ (now.weight[:, None] * now.stress).ravel()).reshape(-1, 6)).sum(axis=0)
    size = stiffness + np.abs(efforts)
    size[motion.strains :] += outer[:3].sum() * (1.0 + motion.arm.reach) + outer[3:].sum()
    missed = np.abs(unbalanced) > ROUND_OFF * stiffness.max(initial=0.0) + BALANCED * size
    if not (stages.V.any() or stages.rd[0, motion.rotors].any() or bias.any() or missed[own].any()):
        return unbalanced, True, np.zeros_like(bias)
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(mass)[own], 1e-300))
    values, vectors = np.linalg.eigh(mass[own, own] * np.outer(scale, scale))
    heavy = values > MASSLESS
    parts = vectors[:, heavy].T @ (scale * unbalanced[own]) / values[heavy]
    return unbalanced, False, motion.T[:, own] @ (scale * (vectors[:, heavy] @ parts)) + bias


def _names(motion: Motion) -> Iterator[str]:
    tree, p = motion.arm.chain.tree, motion.arm.points.degree
    for link, name in zip(motion.arm.placed.links, motion.arm.link_names):
        for k in range(int(tree.n_elements[link]) * p):
            yield from (f"{name}.strain_{k + 1}.{part}" for part in PARTS)
    yield from (motion.arm.joint_names[dof] for dof in np.flatnonzero(~motion.given))
    yield from (f"{motion.arm.joint_names[dof]}.rotor" for dof in motion.rotors)


def _ports(motion: Motion, T: Floats, shift: Floats) -> Iterator[LinearisedPort]:
    """All ports that take an effort; T and ``shift`` (nodes, 6, y) are the twists of y' and y."""
    arm = motion.arm
    for port in arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is not Frame.JOINT:
            yield LinearisedPort(port, _at_port(arm, port.name, T), _at_port(arm, port.name, shift))
        elif not motion.given[arm.joint_names.index(port.name)]:
            dof = arm.joint_names.index(port.name)
            # drives act on the rotor where an elastic gear lies behind it
            rate = motion.turning[motion.rotors == dof] if dof in motion.rotors else motion.joints[None, dof]
            yield LinearisedPort(port, rate, np.zeros_like(rate))


def _at_port(arm: GeometricallyExactArm, name: str, twists: Floats) -> Floats:
    """Rows (6, y) of the twist of a port of a link, in its own axes."""
    link, _, where = name.rpartition(".")
    end = End.ROOT if where == "root" else End.TIP
    nodes, _, weights = acts_on(arm, LoadPlace(name, link, where == "distributed", Frame.BODY, end))
    return np.asarray(np.einsum("aij,ajn->in", weights, twists[nodes]))
