"""A mechanism at one instant of its motion: velocities, forces and accelerations in relative displacements.

With residual(y'') the balance of `instant_balance` and g the constraints of closed lines in these unknowns,

    residual + g^T pull = 0 ,   g y' = 0 .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import GEAR_STIFFNESS
from pliant.model.inputs import Inputs
from pliant.spatial.arrays import STEP, hat
from pliant.structures.loads import acceleration_of_base, twists_of_base
from pliant.structures.loop_constraints import DEPENDENT, followers
from pliant.structures.nodal import instant_balance as balance
from pliant.structures.nodal.codes import ELEMENT, GROUND
from pliant.structures.nodal.instant_balance import Derivatives
from pliant.structures.nodal.mechanism import Bools, Floats, Ints, Mechanism
from pliant.structures.nodal.motion import restart_ball_joints
from pliant.structures.nodal.posture import Columns, columns_of, momenta, unknowns_of
from pliant.structures.nodal.singularity import refuse_massless_joints, refuse_singular
from pliant.structures.relations import CLOSED

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

BALANCED = 1e-9  # m or rad by which an equilibrium may be missed, part of its own size by which a force
ROUND_OFF = 1e-14  # part of the largest stiffness that positions of metres leave as noise in forces


@dataclass(frozen=True, eq=False)
class Constraint:
    """How closed loops bind the free unknowns: the dependent ones follow from the independent ones."""

    rows: Floats  # (rank, lines) independent combinations of the closed lines
    dependent: Ints
    independent: Ints


class Instant:
    """Everything at one instant; ``free`` are the unknowns that are neither prescribed, of the base nor of rotors."""

    def __init__(self, arm: PoseElementArm, state: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.inputs, self.time = arm, inputs, time
        self.mechanism: Mechanism = arm.mechanism(inputs)
        self.pose = arm.pose_of(state)
        self.moment = arm.moment_of(self.mechanism, self.pose)
        tree, laws = self.mechanism.tree, self.mechanism.coordinates
        restart_ball_joints(tree, self.moment)
        self.x, self.R = self.moment.x + self.moment.x_low, self.moment.R.reshape(-1, 3, 3)
        elastic = laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0) & ~laws.prescribed
        self.rotors: Ints = np.flatnonzero(elastic)
        self.columns: Columns = columns_of(tree)
        self.unknowns = unknowns_of(self.columns, tree, self.rotors)
        self.coordinate_columns: Ints = self.columns.of_coordinate(tree)
        self.closed: Ints = np.flatnonzero(self.mechanism.lines.law == CLOSED)
        self.free = self._free()
        self.flow = balance.new_flow(self.mechanism, self.moment)
        self.flow.rotor[:, :2] = self.pose.motor
        self.flow.target[:] = inputs.joint_signals(np.array([time]))[0]
        self.flow.load[:] = inputs.load_signals(np.array([time]))[0]
        refuse_singular(arm.structure, laws.prescribed, self.x, self.R)
        refuse_massless_joints(arm.structure, self.mechanism, self.x, self.R)
        at_rest = self.derivatives(balance.BY_RATE)
        self.constraint = self._constraint(at_rest.rate)
        self.rates = self._rates(at_rest)
        self.moves = bool(np.any(self.rates))
        self.set_twists(self.flow.rho, self.rates)
        balance.place_nodes(tree, self.flow)
        # neither these nor the mass depend on accelerations and forces of closed lines, which are yet to be found
        self.by_rate = self.derivatives(balance.BY_RATE) if self.moves else at_rest
        self.by_acceleration = self.derivatives(balance.BY_ACCELERATION)

    def derivatives(self, order: int) -> Derivatives:
        return balance.derivatives_at(self.mechanism, self.unknowns, order, self.flow)

    def set_twists(self, twists: Floats, rates: Floats) -> None:
        """Relative twists of the nodes, or their derivatives, from those of the unknowns."""
        for i, (place, S) in enumerate(zip(self.columns.place, self.columns.S)):
            twists[i] = S @ rates[place]

    def _free(self) -> Bools:
        free = np.ones(len(self.unknowns.node), np.bool_)
        free[self.columns.total :] = False
        for node in np.flatnonzero(self.mechanism.tree.joint_type == GROUND).tolist():
            free[self.columns.place[node]] = False
        free[self.coordinate_columns[self.mechanism.coordinates.prescribed]] = False
        return free

    @property
    def base(self) -> int:
        """The node of the base."""
        return int(np.flatnonzero(self.mechanism.tree.joint_type == GROUND)[0])

    @property
    def V(self) -> Floats:
        """Twists (nodes, 6)."""
        return np.asarray(self.flow.V.real)

    def _prescribed(self, derivative: int) -> Floats:
        """Rates (1) or accelerations (2) of the base and of prescribed joints; zero for all free unknowns."""
        given = np.zeros(len(self.unknowns.node))
        signals = self.inputs.joint_signals(np.array([self.time]))[0]
        prescribed = self.mechanism.coordinates.prescribed
        given[self.coordinate_columns[prescribed]] = signals[prescribed, derivative]
        if self.inputs.base_motion is not None:
            place = self.columns.place[self.base]
            robot, inputs = self.arm.robot, self.inputs
            if derivative == 1:
                given[place] = twists_of_base(robot, inputs, np.array([self.time]))[0]
            else:
                given[place] = acceleration_of_base(robot, inputs, self.time)
        return given

    def _rates(self, at_rest: Derivatives) -> Floats:
        """Rates of the unknowns nearest to the velocities of the state, in the metric of the masses, that fit all."""
        given = self._prescribed(1)
        pose, bodies = self.pose, self.mechanism.bodies
        if not (np.any(given) or np.any(pose.v) or np.any(pose.w)):
            return given
        V = np.concatenate([np.einsum("nji,nj->ni", self.R, pose.v) - np.cross(pose.w, bodies.center), pose.w], axis=1)
        free, T = self.free, at_rest.twist
        elements, tree, n = self.mechanism.elements, self.mechanism.tree, T.shape[-1]
        lack = momenta(elements, tree, bodies, self.R, V - T @ given)
        right = np.einsum("nij,ni->j", T, lack)[free]
        of_unknowns = momenta(elements, tree, bodies, self.R, T)
        mass = (T.reshape(-1, n).T @ of_unknowns.reshape(-1, n))[np.ix_(free, free)]
        rows = self.constraint.rows @ at_rest.rate
        found, _ = bound_solution(mass, rows[:, free], right, -rows @ given)
        given[free] = found
        return given

    def _constraint(self, g: Floats) -> Constraint:
        """Independent constraints and the unknowns, joints before elements, that follow from the others."""
        free, lines = np.flatnonzero(self.free), len(self.mechanism.lines.law)
        if not len(self.closed):
            return Constraint(np.zeros((0, lines)), free[:0], np.arange(len(free)))
        rows = g[self.closed][:, free]
        left, size, _ = np.linalg.svd(rows, full_matrices=False)
        rank = int(np.sum(size > DEPENDENT * max(size.max(initial=0.0), 1.0)))
        combine = np.zeros((rank, lines))
        combine[:, self.closed] = left[:, :rank].T
        dependent = followers(rows, np.isin(free, self.coordinate_columns), rank)
        return Constraint(combine, dependent, np.setdiff1d(np.arange(len(free)), dependent))

    @cached_property
    def unbalanced(self) -> Floats:
        """(unknowns,) generalised forces without any acceleration of the unknowns; loops not yet closed."""
        self.set_twists(self.flow.rho_dot, self._prescribed(2))
        return -balance.evaluate_at(self.mechanism, self.unknowns, self.flow)

    @cached_property
    def acceleration(self) -> Floats:
        """Of all unknowns; sets it in ``flow``, with the forces of closed lines."""
        free, flow = self.free, self.flow
        unbalanced, prescribed = self.unbalanced, self._prescribed(2)
        mass, combine = self.by_acceleration.residual, self.constraint.rows
        g = combine @ self.by_rate.rate
        right = -g @ prescribed - combine @ self._change_of_line_rates()
        found, pull = bound_solution(mass[np.ix_(free, free)], g[:, free], unbalanced[free], right)
        acceleration = prescribed.copy()
        acceleration[free] = found
        flow.pull[:] = combine.T @ pull
        if not np.any(prescribed) and self._rests(unbalanced - g.T @ pull):
            acceleration[:] = 0.0
        self.set_twists(flow.rho_dot, acceleration)
        balance.place_nodes(self.mechanism.tree, flow)
        return acceleration

    def _change_of_line_rates(self) -> Floats:
        """(lines,) derivatives in time of the rates of the lines while the unknowns move on as they do."""
        moved, ahead = balance.copied(self.flow), 1j * STEP * self.flow.rho
        turn = moved.turn.reshape(-1, 3, 3)
        moved.r[:] += (turn @ ahead[:, :3, None])[..., 0]
        turn += turn @ hat(ahead[:, 3:])
        balance.evaluate_at(self.mechanism, self.unknowns, moved)
        return np.asarray(moved.rate.imag / STEP)

    def _rests(self, left: Floats) -> bool:
        """Whether the state is an equilibrium at rest, as far as round-off lets it."""
        if self.moves or np.any(self.pose.motor[self.rotors, 1]):
            return False
        balance.evaluate_at(self.mechanism, self.unknowns, self.flow)
        flow, bodies, free = self.flow, self.mechanism.bodies, self.free
        data, tree = self.mechanism.elements, self.mechanism.tree
        stiffness, own = np.zeros(len(free)), np.zeros(len(free))
        for i in np.flatnonzero(tree.joint_type == ELEMENT):
            stiffness[self.columns.place[i]] = np.diagonal(data.K[i]) / data.length[i]
            own[self.columns.place[i]] = np.abs(flow.step.rho[i].real)
        own[self.coordinate_columns] = np.abs(flow.effort[:, 0].real)
        extent = np.linalg.norm(self.x - self.x[0], axis=1) + np.linalg.norm(bodies.center, axis=1)
        table = self.mechanism.wrenches
        outer = np.abs(table.weight[:, None] * flow.load.real[table.load]).sum(axis=0)
        lines = np.abs(flow.force.real[:, None] * flow.step.gradient.real).sum(axis=0).reshape(2, 6).sum(axis=0)
        weight = np.linalg.norm(bodies.gravity) * bodies.mass.sum()
        parts = outer + lines
        load = (weight + parts[:3].sum()) * (1.0 + extent.max()) + parts[3:].sum()
        floor = ROUND_OFF * stiffness.max(initial=0.0)
        joint, rotor = np.abs(flow.effort[self.rotors].real).T
        quiet = np.all(rotor <= BALANCED * (joint + rotor + 1e-300))
        return bool(quiet and np.all((np.abs(left) <= floor + BALANCED * (stiffness + load + own))[free]))


def bound_solution(mass: Floats, rows: Floats, right: Floats, bound: Floats) -> tuple[Floats, Floats]:
    """x and f with  mass x + rows^T f = right  and  rows x = bound."""
    n, m = len(mass), len(rows)
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:], whole[n:, :n] = mass, rows.T, rows
    scale = 1.0 / np.sqrt(np.maximum(np.abs(whole).max(axis=1, initial=0.0), 1e-300))
    try:
        answer = scale * np.linalg.solve(whole * np.outer(scale, scale), scale * np.concatenate([right, bound]))
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            "the mechanism has a part without inertia here; give every moving part an inertia"
        ) from error
    return answer[:n], answer[n:]
