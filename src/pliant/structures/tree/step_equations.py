"""One step of an arm in minimal coordinates as equations r(z0, z1, u) = 0, with exact derivatives.

z0 is a state, u holds for each joint three numbers (where it is driven the reference, its rate and the feedforward as
the step reads them, where it is prescribed position, rate and acceleration at the end) and then the given loads.

The energy-exact rule (`midpoint`) has the unknowns z1 = (q_1, v_1, w, c, multipliers, impulses) and the equations

    q_1 - q_0 - h w = 0 ,     M(q_1) (v_1 - v_e) + G(q_1)^T impulses = 0 ,   v_e = 2 w - v_0 ,     balance of the step ,
    defect of energy - c h w . M w = 0 ,     phi(q_0 + h w) = 0 ,     G(q_1) v_1 = 0 .

Without loops the second is v_1 - v_e = 0. Where a joint is prescribed, its rows say so. A constraint that follows from
others has no multiplier. The method of Runge, Kutta and Gill has the accelerations of its four stages and the end as
unknowns; it takes no loops here, behind whose steps the arm is brought back to the constraints.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import LOWER, STOP_DAMPING, STOP_STIFFNESS, UPPER, contact_force
from pliant.model.inputs import Inputs
from pliant.model.stage_method import ExplicitMethod, StageMethod
from pliant.structures.step_matrices import StepMatrices
from pliant.structures.tree.arrays import Signals, new_step
from pliant.structures.tree.columns import CORRECTION, H
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.loops import constraints, pull_slope
from pliant.structures.tree.motion import Bools, Floats
from pliant.structures.tree.newton import step_residual
from pliant.structures.tree.step import STAGES, WEIGHTS, Tables, new_output, new_work, run_gill, run_midpoint, start_run

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm
    from pliant.structures.tree.system import System

Method = StageMethod | ExplicitMethod
REDUNDANT = 1e-9  # part of the square of a gradient that those before it leave of one that says nothing new
PARTS = (0.5, 1.0, 0.0)  # of a step at which an explicit method reads inputs: middle, end, start
STAGE_INPUTS = (2, 0, 0, 1)  # which of them each stage reads


def target_of(system: System, inputs: Inputs, u: Floats, joints: int) -> tuple[Floats, Floats]:
    """What drives the coordinates (n, 3), from the first ``joints`` numbers of u, and the given loads (k, 6)."""
    return system.target(inputs, u[:joints].reshape(-1, 3)), u[joints:].reshape(-1, 6)


class TreeStep(StepMatrices):
    """What all steps share."""

    def __init__(self, arm: TreeArm, start: Floats, inputs: Inputs, step: float) -> None:
        self.arm, self.system, self.inputs, self.h = arm, arm.system(inputs), inputs, step
        self.q0, self.v0 = arm.coordinates(self.system, start)
        self.n, self.rows = self.system.size, len(self.system.loops.measure)
        self.prescribed: Bools = self.system.drives.prescribed
        self.free = ~self.prescribed

    @property
    @abstractmethod
    def residual(self) -> Floats:
        """Of the step at the given values."""

    @cached_property
    def from_state(self) -> tuple[Floats, Floats]:
        """Derivatives (n, size) of the positions and rates of all coordinates in the state."""
        q, v = self.arm.coordinates(self.system, np.eye(self.arm.layout.size))
        return q.T, v.T

    @cached_property
    def momentum_only(self) -> TreeDynamics:
        """The tree without gravity, whose inverse dynamics at rest is M a."""
        base = self.system.tree.base.copy()
        base[12:] = 0.0
        return TreeDynamics(self.system.tree._replace(base=base), self.system.shapes)

    def mass_slope(self, q: Floats, a: Floats) -> Floats:
        """d(M(q) a)/dq, (n, n)."""
        return self.momentum_only.inverse_dynamics_derivatives(q, np.zeros(self.n), a)[0]

    def target(self, u: Floats) -> tuple[Floats, Floats]:
        """What drives the coordinates (n, 3), and the given loads (k, 6)."""
        return target_of(self.system, self.inputs, u, 3 * len(self.arm.joint_names))

    @cached_property
    def by_target(self) -> Floats:
        """(n, 3, inputs) derivative of what drives the coordinates."""
        size = 3 * len(self.arm.joint_names) + 6 * len(self.inputs.loads)
        return np.stack([self.target(one)[0] for one in np.eye(size)], axis=-1)

    def input_slope(self, q: Floats, drive: Floats) -> Floats:
        """Derivative (n, inputs) of the forces of drives and loads at q; drives at their limit do not answer."""
        system, joints = self.system, 3 * len(self.arm.joint_names)
        gain = np.column_stack([system.drives.gain, np.ones(self.n)])
        gain[self.prescribed | (np.abs(drive) >= system.drives.limit)] = 0.0
        slope = np.einsum("nk,nku->nu", gain, self.by_target)
        R, _ = system.dynamics.poses(q)
        for row, body, point, weight, world in zip(*system.loads.wrenches):
            J = system.dynamics.jacobian(q, body, point).reshape(2, 3, self.n)
            axes = weight * (np.eye(3) if world else R[body]) @ system.loads.turn[row]
            own = joints + 6 * int(system.loads.given[row])
            slope[:, own : own + 6] += np.einsum("pin,ij->npj", J, axes).reshape(self.n, 6)
        return np.asarray(slope)


class MidpointStep(TreeStep):
    """Of the energy-exact midpoint rule."""

    def __init__(self, arm: TreeArm, start: Floats, unknowns: Floats, u: Floats, inputs: Inputs, step: float) -> None:
        super().__init__(arm, start, inputs, step)
        n, m = self.n, self.rows
        ends = np.cumsum([n, n, n, 1, m])
        self.q1, self.v1, self.w, c, self.multipliers, self.impulses = np.split(unknowns, ends)
        target, loads = self.target(u)
        self.end = target[:, :2]
        self.w = np.where(self.prescribed, (self.end[:, 0] - self.q0) / step, self.w)
        self.given_w = unknowns[2 * n : 3 * n]
        self.v_e = np.where(self.prescribed, self.end[:, 1], 2.0 * self.w - self.v0)
        self.c = float(c[0])
        mechanism = self.system.mechanism()
        work = new_step(mechanism)
        work.q[:], work.v[:], work.w[:], work.loop[:] = self.q0, self.v0, self.w, self.multipliers
        work.number[H], work.number[CORRECTION] = step, self.c
        self.target_now, self.loads_now = target, loads
        signals = Signals(target, np.ascontiguousarray(self.end), self.system.loads.in_body_axes(loads))
        self.lacking = step_residual(mechanism, signals, work)
        self.work = work
        self.kept = _independent(work.G[:, self.free])

    @cached_property
    def residual(self) -> Floats:
        work, h = self.work, self.h
        given = h * self.given_w + self.q0 - self.end[:, 0]
        balance = np.where(self.prescribed, given, work.residual)
        fitted, held = self.v1 - self.v_e, self.v1 - self.end[:, 1]
        phi, rates = work.violation, np.zeros(self.rows)
        if self.rows:
            _, G, _ = constraints(self.system, self.q1)
            fitted = self.momentum_only.inverse_dynamics(self.q1, np.zeros(self.n), fitted) + self.impulses @ G
            phi, rates = (np.where(self.kept, phi, self.multipliers), np.where(self.kept, G @ self.v1, self.impulses))
        moved = self.q1 - self.q0 - h * self.given_w
        return np.concatenate([moved, np.where(self.prescribed, held, fitted), balance, [self.lacking], phi, rates])

    @cached_property
    def matrices(self) -> tuple[Floats, Floats, Floats]:
        n, m, h, one = self.n, self.rows, self.h, np.eye(self.n)
        q_u, v_u = self.by_target[:, 0], self.by_target[:, 1]
        free, held = np.diag(self.free.astype(float)), np.diag(self.prescribed.astype(float))
        by_q0, by_v0 = self.from_state
        inputs = q_u.shape[1]
        # of (q_0, v_0, w, u): the mean velocity that acts, velocities at the end, middle, acceleration, end
        W = np.hstack([-held / h, 0.0 * one, free, held @ q_u / h])
        V = np.hstack([0.0 * one, -free, 2.0 * free, held @ v_u])
        Q0, V0 = np.eye(n, 3 * n + inputs), np.eye(n, 3 * n + inputs, n)
        Q, A, Q1 = Q0 + 0.5 * h * W, (V - V0) / h, Q0 + h * W
        balance, energy, by_c, by_loop = self._slopes((Q, A, W, V, Q0, V0, Q1))
        place = slice(2 * n, 3 * n)
        r = np.zeros((3 * n + 1 + 2 * m, 3 * n + inputs))  # by (q_0, v_0, w, u)
        z = np.zeros((len(r), len(r)))  # by z1
        r[:n] = -Q0 - h * np.eye(n, 3 * n + inputs, 2 * n)
        z[:n, :n] = one
        z[n : 2 * n, n : 2 * n] = one
        r[n : 2 * n] = -V
        r[place] = free @ balance
        r[place, :n] += held
        r[place, place] += h * held
        r[place, 3 * n :] -= held @ q_u
        z[place, 3 * n] = self.free * by_c
        z[place, 3 * n + 1 : 3 * n + 1 + m] = free @ by_loop
        r[3 * n] = energy[0]
        z[3 * n, 3 * n], z[3 * n, 3 * n + 1 : 3 * n + 1 + m] = energy[1], energy[2]
        if m:
            self._loop_slopes(r, z, V, Q1)
        z[:, place] += r[:, place]
        return r[:, :n] @ by_q0 + r[:, n : 2 * n] @ by_v0, z, r[:, 3 * n :]

    def _slopes(self, by: tuple[Floats, ...]) -> tuple[Floats, tuple[Floats, float, Floats], Floats, Floats]:
        """Balance and energy by (q_0, v_0, w, u), and by c and the multipliers."""
        Q, A, W, V, Q0, V0, Q1 = by
        system, dynamics, w, h = self.system, self.system.dynamics, self.w, self.h
        q = self.q0 + 0.5 * h * w
        a = (self.v_e - self.v0) / h
        forces = system.without_stops.forces(q, w, self.target_now, self.loads_now)
        M = dynamics.mass_matrix(q)
        id_q, id_v = dynamics.inverse_dynamics_derivatives(q, w, a)
        pulled, p, p_q = pull_slope(system, q, self.multipliers), M @ w, self.mass_slope(q, w)
        _, G, _ = constraints(system, q)
        inputs = np.hstack([np.zeros((self.n, 3 * self.n)), self.input_slope(q, self.work.drive)])
        balance = (id_q - forces.by_position - pulled - self.c * p_q) @ Q + M @ A - inputs
        balance += (id_v - forces.by_rate - self.c * M) @ W - self._stops(Q0, W)
        # work of what the rule must balance, less changes of energy
        condensed = system.elastic_stiffness(q) - system.springs.K
        inner = self.work.inertial - self.work.condensed - self.multipliers @ G
        energy = h * inner @ W + h * w @ ((id_q + condensed - pulled) @ Q + M @ A + id_v @ W)
        gain = np.where(self.prescribed, 0.5 * (self.v0 + self.v_e) - w, 0.0)
        change = self.v_e - self.v0
        energy += gain @ (self.mass_slope(q, change) @ Q + M @ (V - V0))
        energy += (self.prescribed * (M @ change)) @ (0.5 * (V0 + V) - W)
        q_end = self.q0 + h * w
        for sign, place, rate, at, speed in ((-1.0, q_end, self.v_e, Q1, V), (1.0, self.q0, self.v0, Q0, V0)):
            momentum, push = dynamics.momentum(place, rate)
            lifted = dynamics.gravity(place) - system.condensed_force(place)
            energy += sign * ((push + lifted) @ at + momentum @ speed)
        energy -= self.c * h * (2.0 * p @ W + w @ p_q @ Q)
        return balance, (energy, -h * float(w @ p), -h * G @ w), -p, -G.T

    def _stops(self, Q0: Floats, W: Floats) -> Floats:
        """Force of stops over the step by (q_0, v_0, w, u)."""
        laws, h = self.system.springs.laws, self.h
        slope = np.zeros_like(W)
        for i, stops in zip(laws.coordinate, laws.stops):
            way = h * self.w[i]
            for distance, change in ((self.q0[i] - stops[LOWER], way), (stops[UPPER] - self.q0[i], -way)):
                at_start, over = _contact_slopes(distance, change, h, stops)
                slope[i] += at_start * Q0[i] + over * h * W[i]
        return slope

    def _loop_slopes(self, r: Floats, z: Floats, V: Floats, Q1: Floats) -> None:
        """Velocities fitted to loops at q_1, constraints and their rates."""
        system, n, m = self.system, self.n, self.rows
        change, free = self.v1 - self.v_e, self.free[:, None]
        M = system.dynamics.mass_matrix(self.q1)
        _, G, _ = constraints(system, self.q1)
        second = np.array([pull_slope(system, self.q1, one) for one in np.eye(m)])
        by_place = self.mass_slope(self.q1, change) + np.einsum("k,kij->ij", self.impulses, second)
        rows, loops, rates = slice(n, 2 * n), slice(3 * n + 1, 3 * n + 1 + m), slice(3 * n + 1 + m, None)
        z[rows, :n] = free * by_place
        z[rows, n : 2 * n] = np.where(free, M, np.eye(n))
        z[rows, rates] = free * G.T
        r[rows] = np.where(free, -M @ V, -V)
        kept, apart = self.kept[:, None], np.diag(1.0 - self.kept)
        r[loops] = kept * (constraints(system, self.q0 + self.h * self.w)[1] @ Q1)
        z[loops, loops], z[rates, rates] = apart, apart
        z[rates, :n], z[rates, n : 2 * n] = kept * (second @ self.v1), kept * G


class GillStep(TreeStep):
    """Of the explicit method of Runge, Kutta and Gill."""

    def __init__(self, arm: TreeArm, start: Floats, unknowns: Floats, u: Floats, inputs: Inputs, step: float) -> None:
        super().__init__(arm, start, inputs, step)
        if self.rows:
            raise InvalidInput("steps of RungeKuttaGill have no equations where an arm has loops; take Gauss(order=2)")
        n = self.n
        self.a, (self.q1, self.v1) = unknowns[: 4 * n].reshape(4, n), unknowns[4 * n :].reshape(2, n)
        self.u = u.reshape(len(PARTS), -1)

    @cached_property
    def _rows(self) -> tuple[list[Floats], list[Floats]]:
        """Residuals of the stages and of the end, and their derivatives in (q_0, v_0, accelerations, u)."""
        n, h, size, held, system = self.n, self.h, self.u.shape[1], self.prescribed, self.system
        width = 6 * n + self.u.size
        end = (self.q0, self.v0, np.eye(n, width), np.eye(n, width, n))
        start = end
        rates: list[tuple[Floats, ...]] = []  # of each stage: velocity, acceleration and their derivatives
        rows, slopes = [], []
        for s, part in enumerate(STAGE_INPUTS):
            (target, loads), given, own = self.target(self.u[part]), self._given(part), np.eye(n, width, (2 + s) * n)
            now = start
            for weight, rate in zip(STAGES[s - 1] if s else (), rates):
                now = tuple(x + h * weight * y for x, y in zip(now, rate))
            q, v, a = np.where(held, target.T, (now[0], now[1], self.a[s]))
            Q, V, A = np.where(held[:, None], given, (now[2], now[3], own))
            rates.append((v, a, V, A))
            end = tuple(x + h * WEIGHTS[s] * y for x, y in zip(end, rates[s]))
            forces = system.forces(q, v, target, loads)
            lack = system.dynamics.inverse_dynamics(q, v, a) - forces.total
            rows.append(np.where(held, self.a[s] - target[:, 2], lack))
            id_q, id_v = system.dynamics.inverse_dynamics_derivatives(q, v, a)
            slope = (id_q - forces.by_position) @ Q + (id_v - forces.by_rate) @ V
            slope += system.dynamics.mass_matrix(q) @ A
            gain = system.drives.gain
            drive = target[:, 2] - gain[:, 0] * (q - target[:, 0]) - gain[:, 1] * (v - target[:, 1])
            slope[:, 6 * n + part * size :][:, :size] -= self.input_slope(q, drive)
            slopes.append(np.where(held[:, None], own - A, slope))
        target, given = self.target(self.u[1])[0], self._given(1)
        for k, unknown in enumerate((self.q1, self.v1)):
            rows.append(unknown - np.where(held, target[:, k], end[k]))
            slopes.append(-np.where(held[:, None], given[k], end[2 + k]))
        return rows, slopes

    def _given(self, part: int) -> Floats:
        """(3, n, all) derivative of position, rate and acceleration of prescribed coordinates at a part of the step."""
        n, size = self.n, self.u.shape[1]
        given = np.zeros((3, n, 6 * n + self.u.size))
        given[:, :, 6 * n + part * size :][..., :size] = np.moveaxis(self.by_target, 1, 0)
        return given

    @cached_property
    def residual(self) -> Floats:
        return np.concatenate(self._rows[0])

    @cached_property
    def matrices(self) -> tuple[Floats, Floats, Floats]:
        n, r, (by_q0, by_v0) = self.n, np.concatenate(self._rows[1]), self.from_state
        z = np.hstack([r[:, 2 * n : 6 * n], np.zeros((6 * n, 2 * n))])
        z[4 * n :, 4 * n :] = np.eye(2 * n)
        return r[:, :n] @ by_q0 + r[:, n : 2 * n] @ by_v0, z, r[:, 6 * n :]


def step_inputs(inputs: Inputs, time: float, step: float, method: Method) -> Floats:
    """u of the step that begins at a time."""
    times = time + step * np.array(PARTS)
    joints, loads = inputs.joint_signals(times), inputs.load_signals(times)
    if isinstance(method, ExplicitMethod):
        return np.concatenate([np.append(joints[k], loads[k]) for k in range(len(PARTS))])
    held = np.array(inputs.prescribed, np.bool_)[:, None]
    return np.append(np.where(held, joints[1], joints[0]), loads[0])


def step_equations(
    arm: TreeArm, start: Floats, unknowns: Floats, u: Floats, inputs: Inputs, step: float, method: Method
) -> TreeStep:
    """The equations of a step of the arm with what ``inputs`` connect to it, driven by u."""
    kind = GillStep if isinstance(method, ExplicitMethod) else MidpointStep
    return kind(arm, start, unknowns, u, inputs, step)


def step_unknowns(
    arm: TreeArm, start: Floats, u: Floats, inputs: Inputs, step: float, method: Method
) -> tuple[Floats, Floats]:
    """The unknowns that the compiled step finds, and the state at its end."""
    system, explicit = arm.system(inputs), isinstance(method, ExplicitMethod)
    mechanism, given = system.mechanism(), len(system.loads.given)
    q, v = arm.coordinates(system, start)
    work, output = new_work(mechanism, given, q, v), new_output(mechanism, given, 1)
    joints = 3 * len(arm.joint_names)
    both = [target_of(system, inputs, part, joints) for part in u.reshape(len(PARTS) if explicit else 1, -1)]
    joint = np.stack([both[k % len(both)][0] for k in range(len(PARTS))])[None]
    load = np.stack([system.loads.in_body_axes(both[k % len(both)][1]) for k in range(len(PARTS))])[None]
    tables = Tables(
        np.array([step]), np.array([step]), np.arange(system.size), joint, load,
        np.zeros((1, 0), np.bool_), np.zeros(0), np.zeros(1, np.int64), np.ones(1, np.int64), np.ones(1),
    )  # fmt: skip
    run = run_gill if explicit else run_midpoint
    done = start_run(mechanism, work) and run(mechanism, work, tables, output)[0] == 1
    if not done or work.ledger.counts[2]:
        raise InvalidInput("the step does not converge in one piece; take a shorter one")
    now = work.step
    if explicit:
        unknowns = np.concatenate([work.stages.rate[:, 1].ravel(), now.q, now.v])
    else:
        unknowns = np.concatenate([now.q, now.v, now.w, now.number[[CORRECTION]], now.loop, now.violation])
    return unknowns, arm.state_of(system, now.q, now.v)


def _independent(G: Floats) -> Bools:
    """(rows,) which gradients say more than those before them."""
    basis: list[Floats] = []
    kept = np.zeros(len(G), np.bool_)
    for k, row in enumerate(G):
        rest = row - sum((row @ each * each for each in basis), np.zeros_like(row))
        kept[k] = rest @ rest > REDUNDANT * (row @ row)
        if kept[k]:
            basis.append(rest / np.linalg.norm(rest))
    return kept


def _contact_slopes(distance: float, change: float, h: float, stops: Floats) -> tuple[float, float]:
    """Derivatives of `contact_force` in the distance at the start and in its change."""
    k, d = float(stops[STOP_STIFFNESS]), float(stops[STOP_DAMPING])
    force, _, over = contact_force(distance, change, h, k, d)
    if force == 0.0:
        return 0.0, 0.0
    # the elastic part is symmetric in both ends of the way
    ends = contact_force(distance, change, h, k, 0.0)[2] + contact_force(distance + change, -change, h, k, 0.0)[2]
    return -ends - d / h * (float(distance + change < 0.0) - float(distance < 0.0)), -over
