"""A mechanism at one instant of its motion: velocities, forces and accelerations in relative displacements.

With r the wrenches that the nodes lack, T from unknowns to nodes, Q the efforts of elements and joint laws:

    T^T r + Q + (G T)^T force = 0 ,   r = M V' - bracket(V)^T M V - gravity - loads + drag + lines ,   G V = 0 .
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import spatial_inertia
from pliant.model.inputs import Inputs
from pliant.spatial.arrays import bracket, hat, logarithm_tangent, rotation_from_quaternion, to_frame
from pliant.structures.nodal.derivatives import (
    Columns,
    LineForces,
    Maps,
    Slopes,
    columns_of,
    coordinate_slopes,
    friction_along,
    gradient,
    gradient_changes,
    line_forces,
    maps,
    pair_of,
    to_children,
)
from pliant.structures.nodal.mechanism import CLOSED, ELEMENT, GROUND, Bools, Floats, Ints, Mechanism
from pliant.structures.nodal.motion import restart_ball_joints
from pliant.structures.nodal.relative_pose import U
from pliant.structures.nodal.singularity import refuse_massless_joints, refuse_singular
from pliant.structures.nodal.stepper import base_table

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

DEPENDENT = (
    1e-10  # part of a constraint left when those before it are taken out, below which it follows from them
)
STEEP = (
    0.3,
    0.03,
    1e-3,
    DEPENDENT,
)  # parts of their effect on constraints that followers have for themselves
BALANCED = 1e-9  # m or rad by which an equilibrium may be missed, part of its own size by which a force
ROUND_OFF = 1e-14  # part of the largest stiffness that positions of metres leave as noise in forces
PROBE = 1e-3  # s, of differences of signals; they vary over longer times


@dataclass(frozen=True, eq=False)
class Constraint:
    """How closed loops bind the free unknowns: the dependent ones follow from the independent ones."""

    rows: Floats  # (rank, lines) independent combinations of the closed lines
    dependent: Ints
    independent: Ints


class Instant:
    """Everything at one instant; ``free`` are the unknowns that are neither prescribed nor of the base."""

    def __init__(self, arm: PoseElementArm, state: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.inputs, self.time = arm, inputs, time
        self.mechanism: Mechanism = arm.mechanism(inputs)
        self.pose = arm.pose_of(state)
        self.moment = arm.moment_of(self.mechanism, self.pose)
        restart_ball_joints(self.mechanism.tree, self.moment)
        tree, bodies = self.mechanism.tree, self.mechanism.bodies
        self.x, self.R = self.moment.x + self.moment.x_low, self.moment.R.reshape(-1, 3, 3)
        self.columns: Columns = columns_of(tree)
        self.A = to_children(tree, self.x, self.R)
        self.M = np.array(
            [spatial_inertia(m, c, J.reshape(3, 3)) for m, c, J in zip(bodies.mass, bodies.center, bodies.J)]
        )
        self.elements: Ints = np.flatnonzero(tree.joint_type == ELEMENT)
        self.closed: Ints = np.flatnonzero(self.mechanism.lines.law == CLOSED)
        self.of_coordinate: dict[int, int] = {}
        for i in np.flatnonzero(tree.coordinate >= 0):
            place, last = self.columns.place[i], int(tree.coordinate[i])
            width = place.stop - place.start
            self.of_coordinate.update({last - width + 1 + k: place.start + k for k in range(width)})
        self.free = self._free()
        T = maps(tree, self.columns, self.A).T
        self.gradients = self._gradients()
        refuse_singular(arm.structure, self.mechanism.coordinates.prescribed, self.x, self.R)
        refuse_massless_joints(arm.structure, self.mechanism, self.x, self.R)
        self.constraint = self._constraint(T)
        self.rates = self._rates(T)
        self.moves = bool(np.any(self.rates))
        self.V = T @ self.rates
        self.maps: Maps = maps(tree, self.columns, self.A, self.rates)
        self.slopes: Slopes = self._slopes()

    def _free(self) -> Bools:
        free = np.ones(self.columns.total, np.bool_)
        free[self.columns.place[self.base]] = False
        for c in np.flatnonzero(self.mechanism.coordinates.prescribed):
            free[self.of_coordinate[int(c)]] = False
        return free

    @cached_property
    def coordinate_columns(self) -> Ints:
        """The unknown of each joint coordinate."""
        return np.array([self.of_coordinate[c] for c in range(len(self.pose.q))], np.int64)

    @property
    def base(self) -> int:
        """The node of the base."""
        return int(np.flatnonzero(self.mechanism.tree.joint_type == GROUND)[0])

    def _prescribed(self, derivative: int) -> Floats:
        """Rates (1) or accelerations (2) of the base and of prescribed joints; zero for all free unknowns."""
        given = np.zeros(self.columns.total)
        signals = self.inputs.joint_signals(np.array([self.time]))[0]
        for c in np.flatnonzero(self.mechanism.coordinates.prescribed):
            given[self.of_coordinate[int(c)]] = signals[c, derivative]
        if self.inputs.base_motion is not None:
            place = self.columns.place[self.base]
            if derivative == 1:
                given[place] = self._base_twist(np.array([self.time]))[0]
            else:
                weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12 * PROBE)
                times = self.time + PROBE * np.array([-2.0, -1.0, 1.0, 2.0])
                given[place] = weights @ self._base_twist(times)
        return given

    def _base_twist(self, times: Floats) -> Floats:
        table = base_table(self.arm, self.inputs, times)
        R = rotation_from_quaternion(table[:, 3:7])
        return np.concatenate([np.einsum("nji,nj->ni", R, table[:, 7:10]), table[:, 10:]], axis=1)

    def _gradients(self) -> Floats:
        lines = self.mechanism.lines
        rows = [gradient(lines, k, pair_of(lines, k, self.x, self.R)) for k in range(len(lines.law))]
        return np.array(rows).reshape(len(lines.law), 12)

    def on_nodes(self, rows: Floats, T: Floats) -> Floats:
        """Rows (lines, 12) over the nodes of lines times T, (lines, unknowns)."""
        a, b = self.mechanism.lines.node.T
        on_a, on_b = np.einsum("ki,kij->kj", rows[:, :6], T[a]), np.einsum("ki,kij->kj", rows[:, 6:], T[b])
        return np.asarray(on_a + on_b)

    def _rates(self, T: Floats) -> Floats:
        """Rates of the unknowns nearest to the velocities of the state, in the metric of the masses, that fit all."""
        given = self._prescribed(1)
        pose, bodies = self.pose, self.mechanism.bodies
        if not (np.any(given) or np.any(pose.v) or np.any(pose.w)):
            return given
        V = np.concatenate(
            [np.einsum("nji,nj->ni", self.R, pose.v) - np.cross(pose.w, bodies.center), pose.w], axis=1
        )
        free = self.free
        lack = (self.M @ (V - T @ given)[..., None])[..., 0]
        right = np.einsum("nij,ni->j", T, lack)[free]
        mass = congruence(T, self.M @ T)[np.ix_(free, free)]
        rows = self.constraint.rows @ self.on_nodes(self.gradients, T)
        found, _ = bound_solution(mass, rows[:, free], right, -rows @ given)
        given[free] = found
        return given

    def _slopes(self) -> Slopes:
        laws = self.mechanism.coordinates
        qd = self.rates[self.coordinate_columns] if len(self.pose.q) else np.zeros(0)
        target = self.inputs.joint_signals(np.array([self.time]))[0]
        return coordinate_slopes(laws, target, self.moment.q, qd, self.pose.motor)

    def _constraint(self, T: Floats) -> Constraint:
        """Independent constraints and the unknowns, joints before elements, that follow from the others."""
        free, lines = np.flatnonzero(self.free), len(self.mechanism.lines.law)
        if not len(self.closed):
            return Constraint(np.zeros((0, lines)), free[:0], np.arange(len(free)))
        rows = self.on_nodes(self.gradients, T)[self.closed][:, free]
        left, size, _ = np.linalg.svd(rows, full_matrices=False)
        rank = int(np.sum(size > DEPENDENT * max(size.max(initial=0.0), 1.0)))
        combine = np.zeros((rank, lines))
        combine[:, self.closed] = left[:, :rank].T
        dependent = _followers(rows, np.isin(free, self.coordinate_columns), rank)
        return Constraint(combine, dependent, np.setdiff1d(np.arange(len(free)), dependent))

    @cached_property
    def log(self) -> Floats:
        """(elements, 6) logarithm of the relative pose of every element."""
        return self.moment.strain[self.elements, U : U + 6]

    @cached_property
    def log_tangent(self) -> Floats:
        return np.asarray(logarithm_tangent(self.log))

    @cached_property
    def stress(self) -> Floats:
        """(elements, 6) section force and moment, elastic and viscous."""
        e, data = self.elements, self.mechanism.elements
        length = data.length[e][:, None]
        rho = np.array([self.rates[self.columns.place[i]] for i in e]).reshape(len(e), 6)
        speed = np.einsum("eij,ej->ei", self.log_tangent, rho)
        strain = self.log / length - data.rest[e]
        elastic, viscous = (
            np.einsum("eij,ej->ei", data.K[e], strain),
            np.einsum("eij,ej->ei", data.C[e], speed / length),
        )
        return np.asarray(elastic + viscous)

    @cached_property
    def line_forces(self) -> LineForces:
        lines = self.mechanism.lines
        a, b = lines.node.T
        both = np.concatenate([self.V[a], self.V[b]], axis=1)
        return line_forces(lines, self.moment.phi, np.einsum("ki,ki->k", self.gradients, both))

    @cached_property
    def drag(self) -> tuple[Floats, Floats]:
        """Wrenches (nodes, 6) against the twists of the nodes, and their derivatives (nodes, 6, 6)."""
        bodies = self.mechanism.bodies
        viscous = np.where(bodies.viscous[:, :1] >= 0.0, bodies.viscous, 0.0)
        wrench, slope = viscous * self.V, viscous[:, :, None] * np.eye(6)
        for i, laws in zip(bodies.gripped, bodies.grip):
            for part, law in zip((slice(0, 3), slice(3, 6)), laws):
                force, steepness = friction_along(law, self.V[i, part])
                wrench[i, part] += force
                slope[i, part, part] += steepness
        return wrench, slope

    @cached_property
    def outer(self) -> tuple[Floats, Floats, list[tuple[int, int, Floats]]]:
        """Wrenches (nodes, 6) of gravity and loads on the nodes, and their derivatives (nodes, 6, 6).

        Last come derivatives (node, other, 6 x 6) in the displacement of the other node, with which a load turns.
        """
        bodies, table = self.mechanism.bodies, self.mechanism.wrenches
        g = np.einsum("nji,j->ni", self.R, bodies.gravity)
        wrench = np.einsum("nij,nj->ni", self.M[:, :, :3], g)
        slope = np.zeros_like(self.M)
        slope[:, :, 3:] = self.M[:, :, :3] @ hat(g)
        loads, others = self.inputs.load_signals(np.array([self.time]))[0], []
        for row in range(len(table.load)):
            i, load = table.node[row], table.weight[row] * loads[table.load[row]]
            arm, axes = to_frame(np.eye(3), table.point[row]).T, int(table.axes[row])
            if table.world[row] or axes != i:
                turn = self.R[i].T @ (np.eye(3) if table.world[row] else self.R[axes])
                if not table.world[row]:
                    block = np.zeros((6, 6))
                    block[:3, 3:], block[3:, 3:] = -turn @ hat(load[:3]), -turn @ hat(load[3:])
                    others.append((int(i), axes, arm @ block))
                load = np.concatenate([turn @ load[:3], turn @ load[3:]])
                slope[i, :, 3:] += arm @ np.concatenate([hat(load[:3]), hat(load[3:])])
            wrench[i] += arm @ load
        return wrench, slope, others

    def at_nodes(self, forces: Floats) -> Floats:
        """Wrenches (nodes, 6) of forces along the lines."""
        wrench = np.zeros((len(self.x), 6))
        rows = self.gradients * forces[:, None]
        np.add.at(wrench, self.mechanism.lines.node[:, 0], rows[:, :6])
        np.add.at(wrench, self.mechanism.lines.node[:, 1], rows[:, 6:])
        return wrench

    def lacking(self, V_dot: Floats, forces: Floats) -> Floats:
        """The wrenches r (nodes, 6) for accelerations of the nodes and forces of all lines."""
        V = self.V
        momentum = np.einsum("nij,nj->ni", self.M, V)
        inertial = np.einsum("nij,nj->ni", self.M, V_dot) - np.einsum("nji,nj->ni", bracket(V), momentum)
        return np.asarray(inertial - self.outer[0] + self.drag[0] + self.at_nodes(forces))

    @cached_property
    def law_efforts(self) -> Floats:
        """(unknowns,) what elements and joint laws ask for: minus their efforts."""
        Q = np.zeros(self.columns.total)
        asked = np.einsum("eji,ej->ei", self.log_tangent, self.stress)
        for i, row in zip(self.elements, asked):
            Q[self.columns.place[i]] = row
        count = len(self.pose.q)
        Q[self.coordinate_columns] -= self.slopes.effort[:count]
        return Q

    @cached_property
    def unbalanced(self) -> Floats:
        """(unknowns,) generalised forces without any acceleration of the unknowns; loops not yet closed."""
        prescribed = self._prescribed(2)
        bias = self.maps.T @ prescribed + self.maps.rate @ self.rates
        r = self.lacking(bias, self.line_forces.force)
        return np.asarray(-np.einsum("nij,ni->j", self.maps.T, r) - self.law_efforts)

    @cached_property
    def motion(self) -> tuple[Floats, Floats]:
        """Accelerations of all unknowns, and the forces of all lines."""
        free, T = self.free, self.maps.T
        prescribed = self._prescribed(2)
        mass = congruence(T, self.M @ T)
        own = self.coordinate_columns
        mass[own, own] += np.diagonal(self.slopes.mass)[: len(own)]
        acceleration, forces = prescribed.copy(), self.line_forces.force.copy()
        combine = self.constraint.rows
        rows = combine @ self.on_nodes(self.gradients, T)
        bias = self.on_nodes(self.gradient_rates, T) + self.on_nodes(self.gradients, self.maps.rate)
        right = -rows @ prescribed - combine @ (bias @ self.rates)
        found, pull = bound_solution(mass[np.ix_(free, free)], rows[:, free], self.unbalanced[free], right)
        acceleration[free] = found
        forces += combine.T @ pull
        if not np.any(prescribed) and self._rests(rows, pull, forces):
            acceleration[:] = 0.0
        return acceleration, forces

    def _rests(self, rows: Floats, pull: Floats, forces: Floats) -> bool:
        """Whether the state is an equilibrium at rest, as far as round-off lets it."""
        if self.moves or np.any(self.pose.motor[self.slopes.rotors, 1]):
            return False
        left = (self.unbalanced - rows.T @ pull)[self.free]
        stiffness = np.zeros(self.columns.total)
        data = self.mechanism.elements
        for i in self.elements:
            stiffness[self.columns.place[i]] = np.diagonal(data.K[i]) / data.length[i]
        floor = ROUND_OFF * stiffness.max(initial=0.0)
        parts = np.abs(self.outer[0]).sum(axis=0) + np.abs(self.at_nodes(forces)).sum(axis=0)
        extent = np.linalg.norm(self.x - self.x[0], axis=1) + np.linalg.norm(
            self.mechanism.bodies.center, axis=1
        )
        load = parts[:3].sum() * (1.0 + extent.max()) + parts[3:].sum()  # bounds every generalised force
        size = load + np.abs(self.law_efforts)
        rotors = self.slopes.effort[len(self.pose.q) :]
        gears = np.abs(self.slopes.effort[self.slopes.rotors]) + np.abs(rotors) + 1e-300
        quiet = np.all(np.abs(rotors) <= BALANCED * gears) if len(rotors) else True
        return bool(quiet and np.all(np.abs(left) <= floor + BALANCED * (stiffness + size)[self.free]))

    @cached_property
    def gradient_rates(self) -> Floats:
        """(lines, 12) time derivatives of the gradients."""
        lines = self.mechanism.lines
        rows = np.zeros_like(self.gradients)
        if self.moves:
            for k, (a, b) in enumerate(lines.node):
                along = np.concatenate([self.V[a], self.V[b]])[None]
                rows[k] = gradient_changes(lines, k, pair_of(lines, k, self.x, self.R), along)[0]
        return rows


def _followers(rows: Floats, first: Bools, rank: int) -> Ints:
    """Columns on which ``rows`` have full rank, those of ``first`` before others.

    In a fixed order, so that the choice stays while a mechanism moves, and each with an effect of its own.
    """
    left = rows.copy()
    chosen: list[int] = []
    size = np.linalg.norm(rows, axis=0)
    size = np.maximum(size, 1e-6 * size.max(initial=0.0))
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    for part, k in ((part, int(k)) for part in STEEP for k in order):
        own = float(np.linalg.norm(left[:, k]))
        if len(chosen) < rank and k not in chosen and own > part * size[k]:
            direction = left[:, k] / own
            left -= np.outer(direction, direction @ left)
            chosen.append(k)
    return np.sort(np.array(chosen, np.int64))


def bound_solution(mass: Floats, rows: Floats, right: Floats, bound: Floats) -> tuple[Floats, Floats]:
    """x and f with  mass x + rows^T f = right  and  rows x = bound."""
    n, m = len(mass), len(rows)
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:], whole[n:, :n] = mass, rows.T, rows
    scale = 1.0 / np.sqrt(np.maximum(np.abs(whole).max(axis=1, initial=0.0), 1e-300))
    try:
        answer = scale * np.linalg.solve(
            whole * np.outer(scale, scale), scale * np.concatenate([right, bound])
        )
    except np.linalg.LinAlgError as error:
        raise InvalidInput(
            "the mechanism has a part without inertia here; give every moving part an inertia"
        ) from error
    return answer[:n], answer[n:]


def congruence(T: Floats, X: Floats) -> Floats:
    """Sum over the nodes of T^T X, both (nodes, 6, unknowns)."""
    n = T.shape[-1]
    return np.asarray(T.reshape(-1, n).T @ X.reshape(-1, n))
