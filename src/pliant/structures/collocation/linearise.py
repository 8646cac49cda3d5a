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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from pliant.mechanics.joint_laws import GEAR_STIFFNESS, ROTOR
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Causality, Frame, Port
from pliant.robot import End, LoopJoint
from pliant.robot.joint import BASE
from pliant.spatial.arrays import (
    bracket,
    hat,
    quaternion_from_rotation,
    rotation_from_quaternion,
    rotation_from_vector,
    to_frame,
)
from pliant.structures.collocation.chain import BALL, FLOATING, Floats, Ints, Plant, State, new_stages
from pliant.structures.collocation.equations import AT_AN_INSTANT, Instant, Sparse, diagonal, spread
from pliant.structures.collocation.joints import instant_slopes, rate_slope
from pliant.structures.collocation.massless import refuse_massless_joints
from pliant.structures.collocation.observe import acts_on
from pliant.structures.collocation.relations import Relating
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.collocation.stepper import base_twists, state_of
from pliant.structures.loads import acceleration_of_base
from pliant.structures.loop_constraints import DEPENDENT, followers
from pliant.structures.relations import CLOSED, carried_frame
from pliant.structures.small_deviations import Deviations, Frames, drifting, frames, loop_flow, second_order

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

BALANCED = 1e-9  # strain by which an equilibrium may be missed, part of its own size by which a torque
ROUND_OFF = 1e-14  # part of the largest stiffness that strains leave as noise in torques
MASSLESS = 1e-12  # part of the largest inertia below which a motion has none
PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class Motion:
    """An arm at a state and how its nodes follow y'; columns: strains, free joints, rotors, prescribed joints, base."""

    def __init__(
        self,
        arm: GeometricallyExactArm,
        state: Floats,
        inputs: Inputs,
        time: float,
        forced: tuple[Plant, Floats, Floats] | None = None,
    ) -> None:
        """``forced``: plant, signals of joints and loads in place of those of the inputs."""
        now = np.array([time])
        plant, signals, loads = forced or (arm.plant(inputs), inputs.joint_signals(now), inputs.load_signals(now))
        self.arm, self.plant, self.state, self.inputs, self.time = arm, plant, state_of(arm, state), inputs, time
        tree, laws, chain = arm.chain.tree, self.plant.joints.laws, arm.chain
        given = self.plant.drives.prescribed
        held = np.flatnonzero(given)
        self.state.qd[held], signals[0, held, 0] = signals[0, held, 1], self.state.q[held]
        self.given, self.signals, self.loads = given, signals, loads
        self.base = base_twists(arm, inputs, now)
        self.base_acceleration = np.zeros(6)
        if arm.moved:
            self.state.place[0], self.state.turn[0] = self.base[0, :3], self.base[0, 3:7]
            self.base_acceleration = acceleration_of_base(arm.robot, inputs, time)
        self.rotors = np.flatnonzero(laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0))
        self.stages = new_stages(1, chain)
        self.stages.qd[0], self.stages.rd[0] = self.state.qd, self.state.rotor[:, 1]
        dofs, size = len(given), self.state.e.size
        moving, turning = int(np.sum(~given)), len(self.rotors)
        self.strains, self.own, self.n = size, size + moving + turning, size + dofs + turning + 6
        order = np.argsort(given, kind="stable")  # of the joints
        self.joints, self.turning = np.zeros((dofs, self.n)), np.zeros((turning, self.n))
        places = size + np.arange(dofs) + np.where(np.arange(dofs) < moving, 0, turning)
        self.joints[order, places] = 1.0
        self.turning[np.arange(turning), size + moving + np.arange(turning)] = 1.0
        self.on_base = np.eye(6, self.n, self.n - 6)
        self.frames = [
            (range(d, d + (6 if kind == FLOATING else 3)), kind)
            for kind, d in zip(tree.kind.tolist(), tree.dof.tolist())
            if kind in (BALL, FLOATING)
        ]
        self.now = self.accelerating(np.zeros(self.state.V.size))
        self.T = self._carried()
        self.closed = np.flatnonzero(self.plant.relations.lines.law == CLOSED)

    def accelerating(self, A: Floats) -> Instant:
        """The equations with accelerations A of the nodes."""
        self.state.V_rate.ravel()[:] = A[: self.state.V.size]
        tables = self.signals, self.loads, self.base
        evaluate_stages(self.plant, AT_AN_INSTANT, self.state, self.stages, tables, 1.0)
        return Instant(self.plant, self.stages, 0, self.loads[0])

    def _carried(self) -> Floats:
        """T (6 nodes and base, y'): first over the twists of nodes that are no roots, then over strain rates."""
        now = self.now
        at_base = self.at_base[:, -6:]
        C = now.L @ sparse.hstack([now.E, now.S @ self.joints[:, self.strains : -6], at_base], format="csr").toarray()
        rates = np.eye(self.n)
        rates[: self.strains] = now.B @ C
        return np.asarray(C @ np.linalg.inv(rates))

    @property
    def places(self) -> Floats:
        """Changes of strains, of all joint positions and of the base."""
        return np.concatenate([np.eye(self.strains, self.n), self.joints, self.T[-6:]])

    @property
    def place_rates(self) -> Floats:
        """What the same quantities change by per time in the motion itself."""
        return np.concatenate([self.stages.rate[0].ravel(), self.stages.qd[0], self.now.V[-6:]])

    @cached_property
    def shift(self) -> Floats:
        """Twists of the nodes change with y by this."""
        return self.following(self.of_joints, self.at_strains(self.now.turning_at_points(self.now.V)))

    @cached_property
    def of_joints(self) -> Floats:
        """What joints and a moved base add to the twists behind them as their places change."""
        now = self.now
        of_joints = now.moved_by_joints(now.V) @ self.joints + now.S @ self.drift(self.stages.qd[0])
        return np.asarray(of_joints + self.of_base(now.V))

    def second_constraints(self, A: Floats) -> Floats:
        """g'': the only differences there are, of g' along the motion with accelerations A of the nodes."""
        now, total = self.now, np.zeros((len(self.closed), self.n))
        speed, sharpness = np.abs(now.V).max(), np.abs(A).max()
        if speed == 0.0 and sharpness == 0.0:
            return total
        span, V_dot = PROBE / max(speed, np.sqrt(sharpness)), A[:-6].reshape(-1, 6)
        rate = self.stages.rate[0].ravel()
        # strains and joints go on with what accelerations make of their rates
        bent = now.B @ A - now.turning_at_points(now.V) @ rate
        tree = self.arm.chain.tree
        ahead = (A - now.G @ A - self.carried_rate @ now.V).reshape(-1, 6)[now.roots]
        qd, turned = self.stages.qd[0], np.zeros_like(self.state.qd)
        turned[tree.dof[now.moving]] = np.einsum("ki,ki->k", ahead, tree.S)[now.moving]
        for weight, t in ((8.0, span), (-8.0, -span), (-1.0, 2.0 * span), (1.0, -2.0 * span)):
            state = self.displaced(t * rate + 0.5 * t * t * bent, t * qd + 0.5 * t * t * turned)
            state.V[:], state.qd[:] = self.stages.V[0] + t * V_dot, qd + t * turned
            there = Motion(self.arm, self.arm.pack(state), self.inputs, self.time + t)
            total += weight / (12.0 * span) * there.constraints(there.shift)[1]
        return total

    def displaced(self, strain: Floats, joints: Floats) -> State:
        """The state with strains and joints moved by this, ball and free joints in the axes of their children."""
        tree, change = self.arm.chain.tree, joints.copy()
        there = State(*(part.copy() for part in self.state))
        there.e.ravel()[:] += strain
        for link in np.flatnonzero((tree.kind == BALL) | (tree.kind == FLOATING)):
            f, d = tree.frame[link], tree.dof[link]
            R = rotation_from_quaternion(there.turn[f])
            if tree.kind[link] == FLOATING:
                there.place[f] += R @ change[d : d + 3]
                change[d : d + 3], d = 0.0, d + 3
            there.turn[f] = quaternion_from_rotation(R @ rotation_from_vector(change[d : d + 3]))
            change[d : d + 3] = 0.0
        there.q[:] += change
        return there

    @cached_property
    def joint_turning(self) -> Sparse:
        """What joint rates make of twists behind the joints."""
        now, tree = self.now, self.arm.chain.tree
        rates = np.append(self.stages.qd[0], 0.0)[tree.dof]  # that of fixed joints is the last
        relative = np.zeros_like(tree.S)  # twists of the poses of links against their parents
        np.add.at(relative, now.placed_by, tree.S * rates[:, None])
        return spread(-bracket(relative), now.roots, now.roots, (now.size, now.size))

    @cached_property
    def carried_rate(self) -> Sparse:
        """G'"""
        return self.joint_turning @ self.now.G

    def constraints(self, shift: Floats) -> tuple[Floats, Floats]:
        """Rows g and g' over y of closed loops:  g y' + g' y = 0 ."""
        lines = self.now.lines
        rates = lines.J @ shift + lines.turned @ self.places
        return (lines.J @ self.T)[self.closed], rates[self.closed]

    def stiffness(self, now: Instant) -> Floats:
        """(y, y) of links, loads, weight and relations: all but what velocities and laws of joints add."""
        of_place = self.at_strains(now.carried) - now.passed_on @ self.joints
        if now.turned is not None:
            of_place -= now.turned @ self.places
        if self.plant.relations.taken.size:
            lines = now.lines
            rates = lines.J @ self.shift + lines.turned @ self.places
            forces = lines.stiffness @ lines.G @ self.places + lines.damping @ rates
            of_place += lines.J.T @ forces + lines.carried @ self.places
        K, strains = np.asarray(self.T.T @ of_place), slice(self.strains)
        K[strains, strains] += diagonal(now.weight[:, None, None] * now.tangent(self.state.e))
        return K

    @cached_property
    def at_base(self) -> Floats:
        """(6 nodes and base, y') twist of the base, as it is seen at the world's origin, from that in its own axes."""
        base, columns = self.arm.robot.base, np.zeros((6 * self.now.size, self.n))
        to_base = to_frame(matrix_of(base.rotation), np.asarray(base.position, float))
        columns[-6:] = np.linalg.inv(self.now.to_base if self.arm.moved else to_base) @ self.on_base
        return columns

    def of_base(self, values: Floats) -> Floats:
        """Changes with the place of a moved base: its twist V, in its own axes, by ad_V of its displacement there."""
        if not self.arm.moved:
            return np.zeros_like(self.at_base)
        return np.asarray(self.at_base[:, -6:] @ (bracket(values[:6]) @ self.on_base))

    def drift(self, rates: Floats) -> Floats:
        """(dofs, y) by which rates of ball and free joints change with their place: w = y' + w x y in axes that turn.

        The same of accelerations gives its rate of change.
        """
        matrix = np.zeros((len(rates), len(rates)))
        for dofs, kind in self.frames:
            at = slice(dofs.start, dofs.stop)
            matrix[at, at] = bracket(rates[at]) if kind == FLOATING else hat(rates[at])
        return np.asarray(matrix @ self.joints)

    def laws(self) -> tuple[Floats, Floats, Floats]:
        """Inertia of rotors, damping and stiffness of drives and laws over all columns."""
        laws, state, rows = self.plant.joints.laws, self.state, np.zeros((2, self.n))
        M, D, K = (np.zeros((self.n, self.n)) for _ in range(3))
        drift = self.drift(state.qd)
        for c in np.flatnonzero(~self.given[: len(self.arm.joint_names)]):
            rows[0], rows[1] = self.joints[c], self.turning[self.rotors == c].sum(axis=0)
            rotor = state.rotor[c, 0], state.rotor[c, 1]
            slopes, ball = instant_slopes(laws, int(c), state.q, state.qd, self.signals[0, c], rotor), laws.ball[c]
            K -= rows.T @ slopes[:, 0::2] @ rows
            D -= rows.T @ slopes[:, 1::2] @ rows
            for other in range(ball, ball + 3) if ball >= 0 else ():  # friction of a ball is against its whole spin
                slope = rate_slope(laws, int(c), state.q, state.qd, self.signals[0, c], other)
                K -= slope * np.outer(rows[0], drift[other])
                if other != c:
                    D -= slope * np.outer(rows[0], self.joints[other])
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
    """M, D and K over strains and free joint positions; prescribed joints and the base as held.

    Where loops are closed, over those of them that are independent.
    """
    refuse_massless_joints(arm, state, inputs)
    motion = Motion(arm, state, inputs, time)
    now, T, joints = motion.now, motion.T, motion.joints
    joint_turning, carried_rate = motion.joint_turning, motion.carried_rate
    turning, stretching = now.turning_at_points(now.V), diagonal(bracket(motion.stages.rate[0]))
    shift = motion.shift
    X = motion.following(carried_rate @ T + motion.of_joints, motion.at_strains(turning) - stretching @ (now.N @ T))
    rotors, damping, stiffness = motion.laws()
    mass = np.asarray(T.T @ (now.mass @ T)) + rotors
    given = np.zeros(len(motion.given))
    given[motion.given] = motion.signals[0, np.flatnonzero(motion.given), 2]
    of_motion = carried_rate @ now.V + now.S @ given + motion.at_base[:, -6:] @ motion.base_acceleration
    bias = motion.following(of_motion, turning @ motion.stages.rate[0].ravel())  # where y'' = 0
    unbalanced, holding, rests, y2, A = _accelerations(motion, mass, bias)
    now = motion.accelerating(A)
    moved = now.moved_by_joints(now.V)
    of_joints = now.moved_by_joints(A) @ joints + joint_turning @ (moved @ joints)
    of_joints += moved @ motion.drift(motion.stages.qd[0]) + now.S @ motion.drift(given + joints @ y2)
    of_joints += motion.of_base(A)
    Y = motion.following(
        carried_rate @ shift + of_joints, motion.at_strains(now.turning_at_points(A)) - stretching @ (now.N @ shift)
    )
    D = T.T @ (now.mass @ X + now.gyroscopic @ T) + damping
    if motion.plant.relations.taken.size:
        D += (now.lines.J @ T).T @ now.lines.damping @ (now.lines.J @ T)
    K = T.T @ (now.mass @ Y + now.gyroscopic @ shift) + motion.stiffness(now) + stiffness
    strains, weight = slice(motion.strains), now.weight[:, None, None]
    D[strains, strains] += diagonal(weight * arm.chain.section.Cd)
    names = {port.name: port for port in arm.ports}
    held_names = [*(arm.joint_names[dof] for dof in np.flatnonzero(motion.given)), *6 * [BASE]]
    bound = Reduction.of(motion, A, [names[name] for name in held_names])
    Z, Z_rate, own = bound.Z, bound.Z_rate, slice(bound.own)

    drift = motion.drift(motion.stages.qd[0])

    def state_at(z: Floats, speed: Floats) -> Floats:
        """The state of strains and joint positions changed by z, with rates changed by ``speed``."""
        y, rate = Z[:, own] @ z, Z[:, own] @ speed + Z_rate[:, own] @ z
        there = motion.displaced(y[: motion.strains], joints @ y)
        there.V.ravel()[:] = motion.stages.V[0].ravel() + (T @ rate + shift @ y)[:-6]
        there.qd[:] = motion.state.qd + joints @ rate + drift @ y
        there.rotor[:] = np.column_stack([there.q, there.qd])
        there.rotor[motion.rotors] = motion.state.rotor[motion.rotors]
        there.rotor[motion.rotors] += motion.turning @ np.column_stack([y, rate])
        return arm.pack(there)

    by_node, shift_by_node = (each[:-6].reshape(-1, 6, motion.n) for each in (T, shift))
    ports = tuple(
        replace(each, rate=each.rate @ Z, shift=each.rate @ Z_rate + each.shift @ Z)
        for each in _ports(motion, by_node, shift_by_node, drift)
    )
    tip = _at_port(arm, f"{arm.robot.tip_link}.tip", by_node)
    named = joints[: len(arm.joint_names)]
    M, D, K = bound.apply(mass, D, K)
    wide = Deviations(M, D, K, ports, named @ Z, tip @ Z, bound.ports, (Z.T @ holding)[bound.own :])
    rest = ((Z.T @ unbalanced)[own], rests)
    all_names = list(_names(motion))
    found = second_order(wide, own, rest, tuple(all_names[k] for k in bound.independent), by_node @ Z[:, own], state_at)
    assert found.held is not None
    return replace(found, held=drifting(found.held, slice(bound.own, None), now.V[:6], A[:6])) if arm.moved else found


PROBE = 1e-3  # part of the reach, rad: by how much the arm moves in the only differences there are
JAMMED = 1e-8  # m or rad by which a unit of a held motion may open loops that nothing else can close


@dataclass(frozen=True, eq=False)
class Reduction:
    """From all unknowns y to those that closed loops leave independent, z, and the held ones behind:  y = Z(t) z .

    g y' + g' y = 0  for all z and z':  g Z = 0 ,  g Z' = -g' Z ,  and so  g Z'' = -g'' Z - 2 g' Z' .
    """

    Z: Floats
    Z_rate: Floats
    Z_acceleration: Floats
    independent: Ints  # of y
    own: int  # number of those
    ports: tuple[Port, ...]  # held ones that loops let move

    @staticmethod
    def of(motion: Motion, A: Floats, held: list[Port]) -> Reduction:
        """``held`` has a port for each of the columns behind those of free unknowns."""
        n, own = motion.n, motion.own
        if not len(motion.closed):
            none = np.zeros((n, n))
            return Reduction(np.eye(n), none, none, np.arange(own), own, tuple(dict.fromkeys(held)))
        g, g1 = motion.constraints(motion.shift)
        free = g[:, :own]
        left, size, _ = np.linalg.svd(free, full_matrices=False)
        rank = int(np.sum(size > DEPENDENT * max(size.max(initial=0.0), 1.0)))
        combine = left[:, :rank].T
        of_joints = np.zeros(own, np.bool_)
        of_joints[motion.strains : own - len(motion.rotors)] = True
        dependent = followers(free, of_joints, rank)
        independent = np.setdiff1d(np.arange(own), dependent)
        followed = free @ np.linalg.pinv(free, rcond=DEPENDENT)
        jams = np.abs(g - followed @ g).max(axis=0)[own:] > JAMMED
        stuck = {port for port, jam in zip(held, jams) if jam}
        kept = own + np.array([k for k, port in enumerate(held) if port not in stuck], np.int64)
        chosen = np.append(independent, kept).astype(np.int64)
        Z, Z1, Z2 = (np.zeros((n, len(chosen))) for _ in range(3))
        Z[chosen, np.arange(len(chosen))] = 1.0
        g, g1, g2 = combine @ g, combine @ g1, combine @ motion.second_constraints(A)
        pivot = g[:, dependent]
        Z[dependent] = -np.linalg.solve(pivot, g @ Z)
        Z1[dependent] = -np.linalg.solve(pivot, g1 @ Z)
        Z2[dependent] = -np.linalg.solve(pivot, g2 @ Z + 2.0 * g1 @ Z1)
        ports = tuple(dict.fromkeys(port for port in held if port not in stuck))
        return Reduction(Z, Z1, Z2, independent, len(independent), ports)

    def apply(self, M: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats, Floats]:
        Z, Z1, Z2 = self.Z, self.Z_rate, self.Z_acceleration
        if len(Z) == Z.shape[1]:
            return M, D, K
        return Z.T @ M @ Z, Z.T @ (D @ Z + 2.0 * M @ Z1), Z.T @ (K @ Z + D @ Z1 + M @ Z2)


def _accelerations(motion: Motion, mass: Floats, bias: Floats) -> tuple[Floats, Floats, bool, Floats, Floats]:
    """Forces on y with accelerations ``bias``, minus them without the reaction of the base, whether this is an
    equilibrium at rest, y'' and all accelerations."""
    own, stages = slice(motion.own), motion.stages
    now = motion.accelerating(bias)
    f = now.residual
    efforts = motion.joints.T @ np.where(motion.given, 0.0, stages.torque[0])
    efforts += motion.turning.T @ stages.rho_r[0, motion.rotors]
    efforts += motion.joints.T @ (now.on_balls @ now.load_values.ravel())
    unbalanced = motion.T.T @ f + efforts
    holding = -(motion.T[:-6].T @ f[:-6] + efforts)  # f has the reaction of the base at its end
    stiffness = np.zeros(motion.n)
    tangent = now.tangent(motion.state.e)
    stiffness[: motion.strains] = (now.weight[:, None] * tangent[:, range(6), range(6)]).ravel()
    # what acts beside the stress bounds the torque on every joint
    outer = np.abs((f + now.B.T @ (now.weight[:, None] * now.stress).ravel()).reshape(-1, 6)).sum(axis=0)
    size = stiffness + np.abs(efforts)
    size[motion.strains :] += outer[:3].sum() * (1.0 + motion.arm.reach) + outer[3:].sum()
    g = np.zeros((0, motion.own))
    left = unbalanced[own]
    if len(motion.closed):
        rows, _ = motion.constraints(motion.shift)
        g = rows[:, own]
        forces = np.linalg.lstsq(g.T, left, rcond=DEPENDENT)[0]
        left = left - g.T @ forces
        size += np.abs(rows).T @ np.abs(forces)
        motion.plant.relations.force[0, motion.closed] = forces
    missed = np.abs(left) > ROUND_OFF * stiffness.max(initial=0.0) + BALANCED * size[own]
    if not (stages.V.any() or stages.rd[0, motion.rotors].any() or bias.any() or missed.any()):
        return unbalanced, holding, True, np.zeros(motion.n), np.zeros_like(bias)
    inertia, right, start = mass[own, own], unbalanced[own], np.zeros(motion.own)
    ways = np.eye(motion.own)
    if len(motion.closed):
        lines = now.lines
        ahead = (lines.J @ bias + lines.turned @ motion.place_rates)[motion.closed]
        start = -np.linalg.pinv(g, rcond=DEPENDENT) @ ahead
        _, sizes, ways = np.linalg.svd(g)
        ways = ways[int(np.sum(sizes > DEPENDENT * sizes.max(initial=1e-300))) :].T
    # in ways that loops leave, and as far as they have inertia
    right = ways.T @ (right - inertia @ start)
    inertia = ways.T @ inertia @ ways
    scale = 1.0 / np.sqrt(np.maximum(np.diagonal(inertia), 1e-300))
    values, vectors = np.linalg.eigh(inertia * np.outer(scale, scale))
    heavy = values > MASSLESS
    parts = vectors[:, heavy].T @ (scale * right) / values[heavy]
    found = start + ways @ (scale * (vectors[:, heavy] @ parts))
    if len(motion.closed):
        lack = unbalanced[own] - mass[own, own] @ found
        motion.plant.relations.force[0, motion.closed] = np.linalg.lstsq(g.T, lack, rcond=DEPENDENT)[0]
    acceleration = np.zeros(motion.n)
    acceleration[own] = found
    return unbalanced, holding, False, acceleration, motion.T @ acceleration + bias


def _names(motion: Motion) -> Iterator[str]:
    tree, p = motion.arm.chain.tree, motion.arm.points.degree
    for link, name in zip(motion.arm.placed.links, motion.arm.link_names):
        for k in range(int(tree.n_elements[link]) * p):
            yield from (f"{name}.strain_{k + 1}.{part}" for part in PARTS)
    named = motion.arm.joint_names
    placed_by, rows = motion.now.placed_by, zip(motion.arm.link_names, motion.arm.placed.links)
    flying = [name for name, row in rows if tree.kind[placed_by[row]] == FLOATING]
    names = [*named, *(f"{name}.root.{part}" for name in flying for part in PARTS)]
    yield from (names[dof] for dof in np.flatnonzero(~motion.given))
    yield from (f"{motion.arm.joint_names[dof]}.rotor" for dof in motion.rotors)


def _ports(motion: Motion, T: Floats, shift: Floats, drift: Floats) -> Iterator[LinearisedPort]:
    """All ports that take an effort; T and ``shift`` (nodes, 6, y): twists of y' and y, ``drift``: joint rates of y."""
    arm, names = motion.arm, motion.arm.joint_names
    for port in arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is not Frame.JOINT:
            if port.size == 3 and port.name in {loop.name for loop in arm.robot.loops}:
                yield LinearisedPort(port, *_at_ball(motion, port))
            elif port.size == 3:  # the spin of a ball joint
                dof = names.index(f"{port.name}.x")
                yield LinearisedPort(port, motion.joints[dof : dof + 3], drift[dof : dof + 3])
            else:
                yield LinearisedPort(port, _at_port(arm, port.name, T), _at_port(arm, port.name, shift))
        elif port.name not in arm.joint_names:
            yield LinearisedPort(port, *_at_loop(motion, port))
        elif not motion.given[names.index(port.name)]:
            dof = names.index(port.name)
            # drives act on the rotor where an elastic gear lies behind it
            rate = motion.turning[motion.rotors == dof] if dof in motion.rotors else motion.joints[None, dof]
            yield LinearisedPort(port, rate, np.zeros_like(rate) if dof in motion.rotors else drift[None, dof])


def _at_port(arm: GeometricallyExactArm, name: str, twists: Floats) -> Floats:
    """Rows (6, y) of the twist of a port of a link, in its own axes."""
    link, _, where = name.rpartition(".")
    flying = [joint.child for joint in arm.robot.joints if joint.name == name]
    if flying:  # the port of a free joint
        link, where = flying[0], "root"
    end = End.ROOT if where == "root" else End.TIP
    nodes, _, weights = acts_on(arm, LoadPlace(name, link, where == "distributed", Frame.BODY, end))
    return np.asarray(np.einsum("aij,ajn->in", weights, twists[nodes]))


def _ends_of_loop(motion: Motion, name: str) -> tuple[LoopJoint, Frames]:
    """A loop joint, and how its two frames move."""
    arm, now = motion.arm, motion.now
    loop = next(each for each in arm.robot.loops if each.name == name)
    relating = Relating(arm, motion.inputs)
    row, at = relating.row, now.lines
    first, second = (
        replace(place, body=int(row[place.body])) for place in map(relating.place, (loop.first, loop.second))
    )
    seen = at.frames_of(now.V[:, None]), at.frames_of(motion.T), at.frames_of(motion.shift)
    return loop, frames((first, carried_frame(loop, second)), (at.x, at.R), seen[0][:, :, 0], seen[1], seen[2])


def _at_loop(motion: Motion, port: Port) -> tuple[Floats, Floats]:
    """Rate of a loop joint, which has no coordinate of its own: of rates, and of displacements."""
    loop, at = _ends_of_loop(motion, port.name.partition(".")[0])
    names = [freedom.name for freedom in loop.joint.freedoms]
    return loop_flow(loop.joint, names.index(port.name), at)


def _at_ball(motion: Motion, port: Port) -> tuple[Floats, Floats]:
    """Spin of the second frame of a spherical loop joint against the first, in its own axes: the same two rows."""
    _, at = _ends_of_loop(motion, port.name)
    back, w = at.Q.T, at.twist[0][3:]
    (_, one), (_, two) = (np.split(each, 2) for each in at.displaced)
    (_, dw_1), (_, dw_2) = (np.split(each, 2) for each in at.changed)
    return two - back @ one, dw_2 - back @ dw_1 - hat(back @ w) @ two + back @ hat(w) @ one
