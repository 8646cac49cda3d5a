"""The equations of one step, r(z0, z1, u) = 0, with exact derivatives: for sensitivities and adjoints.

z0 is the state at the start (with quaternions of any length) and, where the method carries them, its rates. z1 holds
for every stage the increments of twists (of nodes that are no roots) and strains, the rates of joints that are not
prescribed and of rotors behind elastic gears. u holds for every stage the three numbers of each joint and the wrench of
each load. The residual is what the kernel of the fast step leaves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import GEAR_STIFFNESS
from pliant.model.contract import NewtonTolerance, Run
from pliant.model.inputs import Inputs
from pliant.model.stage_method import StageMethod
from pliant.spatial.arrays import (
    STEP,
    hat,
    right_tangent,
    right_tangent_inverse,
    rotation_from_quaternion,
    rotation_from_vector,
)
from pliant.spatial.so3 import inverse_tangent_coefficients
from pliant.structures.bundles import complex_of
from pliant.structures.collocation.chain import BALL, FLOATING, Floats, Ints, Plant, State, new_stages, new_state
from pliant.structures.collocation.equations import Instant, LineChanges, Sparse, diagonal
from pliant.structures.collocation.joints import set_one_law
from pliant.structures.collocation.poses import place_joints_at
from pliant.structures.collocation.relation_solver import measure_start
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.collocation.stepper import Stepper, base_twists, kept_lines, method_tables
from pliant.structures.relations import CLOSED
from pliant.structures.step_matrices import StepOfOneMatrix

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


def turn_rate_slope(w: Floats, spin: Floats) -> Floats:
    """(3, 3) derivative of  T^-1(w) spin = spin + w x spin / 2 + e(w^2) w x (w x spin)  in the rotation vector w."""
    e, slope = inverse_tangent_coefficients(float(w @ w))
    u = np.cross(w, spin)
    square = -hat(u) - hat(w) @ hat(spin)
    return np.asarray(-0.5 * hat(spin) + e * square + slope * np.outer(np.cross(w, u), w))


def turn_of_quaternion(q: Floats) -> Floats:
    """(3, 4) turn in the own axes of a frame per change of its unit quaternion q: twice the vector part of q^-1 dq."""
    return np.column_stack([-2.0 * q[1:], 2.0 * (q[0] * np.eye(3) - hat(q[1:]))])


TIGHT = NewtonTolerance(1e-14, 1e-9)  # round-off, for steps that equations are made about


@dataclass(frozen=True, eq=False)
class ChainStep(StepOfOneMatrix):
    """One step of a collocated chain."""

    plant: Plant
    method: StageMethod
    step: float
    base: Floats  # (stages, 13) a moved base

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """Nodes, strain points and joint coordinates, those of free joints included."""
        return len(self.plant.chain.inertia.M), len(self.plant.chain.section.C), len(self.plant.drives.free)

    @property
    def named(self) -> int:
        """Joint coordinates that have names."""
        return len(self.plant.drives.stiffness)

    @cached_property
    def inner(self) -> Ints:
        """Nodes that are no roots."""
        return np.setdiff1d(np.arange(self.counts[0]), self.plant.chain.tree.first_node)

    @cached_property
    def free(self) -> Ints:
        return np.flatnonzero(self.plant.drives.free)

    @cached_property
    def rotors(self) -> Ints:
        """Coordinates with an elastic gear."""
        laws = self.plant.joints.laws
        return np.flatnonzero(laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0))

    @cached_property
    def closed(self) -> Ints:
        """Lines of loops whose forces are unknown."""
        relations = self.plant.relations
        return np.flatnonzero((relations.lines.law == CLOSED) & relations.kept[0])

    def parts(self, values: Floats | Sparse) -> Iterator[Floats | Sparse]:
        """Rows of (z0, z1, u) in their order.

        V, e, q, qd, rotors, frames and their rates; dV, de, qd, rotor rates, forces of loops of each stage; joints,
        loads.
        """
        nodes, points, dofs = self.counts
        named, frames = self.named, self.plant.chain.frames
        rotors = 2 * named if len(self.rotors) else 0
        state = [6 * nodes, 6 * points, named, named, rotors, 4 * frames, 3 * frames]
        if self.method.history:
            state += [6 * nodes, 6 * points, dofs, 2 * named if self.plant.joints.laws.has_motor.any() else 0]
        stage = [6 * len(self.inner), 6 * points, len(self.free), len(self.rotors), len(self.closed)]
        sizes = state + self.method.stages * stage
        sizes += self.method.stages * [3 * named, 6 * len(self.plant.loads.first)]
        ends = np.cumsum(sizes)
        yield from (values[end - size : end] for size, end in zip(sizes, ends))

    @cached_property
    def _evaluated(self) -> tuple[State, Floats, tuple[Instant, ...]]:
        """The start, what drives the joints, and all stages with what is left of their equations."""
        s = self.method.stages
        parts = self.parts(np.concatenate([self.start, self.unknowns, self.inputs]))
        chain, plant = self.plant.chain, self.plant._replace(relations=deepcopy(self.plant.relations))
        stages = new_stages(s, chain)
        state = new_state(chain)
        names = ["V", "e", "q", "qd", "rotor", "turn", "place"]
        if self.method.history:
            names += ["V_rate", "e_rate", "q_rate", "rotor_rate"]
        for name in names:
            part, own = next(parts), getattr(state, name)
            own.ravel()[: part.size] = part
        state.turn[:] /= np.linalg.norm(state.turn, axis=1, keepdims=True)
        for i in range(s):
            stages.dV[i, self.inner] = next(parts).reshape(-1, 6)
            stages.de[i] = next(parts).reshape(-1, 6)
            stages.qd[i, self.free] = next(parts)
            stages.rd[i, self.rotors] = next(parts)
            plant.relations.force[i, self.closed] = next(parts)
        if len(self.closed):
            measure_start(chain.tree, plant.relations, state, np.zeros((1, len(chain.tree.parent), 12)))
        tables = np.zeros((s, self.named, 3)), np.zeros((s, len(self.plant.loads.first), 6))
        for i in range(s):
            for table in tables:
                table[i] = next(parts).reshape(table.shape[1:])
        evaluate_stages(plant, method_tables(self.method)[0], state, stages, (*tables, self.base), self.step)
        return state, tables[0], tuple(Instant(plant, stages, i, tables[1][i]) for i in range(s))

    @property
    def evaluated(self) -> tuple[Instant, ...]:
        """All stages, with what is left of their equations."""
        return self._evaluated[2]

    @cached_property
    def residual(self) -> Floats:
        """For every stage the balance of nodes, joints and rotors, and behind that of nodes the strain rates missed."""
        stages, relations = self.evaluated[0].stages, self.evaluated[0].plant.relations
        opening = relations.rate[:, self.closed] + relations.open[self.closed] / self.step
        of_joints = stages.rho_q[:, self.free], stages.rho_r[:, self.rotors]
        rows = zip(stages.rho[:, self.inner], stages.rho_e, *of_joints, opening)
        return np.concatenate([part.ravel() for row in rows for part in row])

    @cached_property
    def matrix(self) -> Sparse:
        """(r_z0, r_z1, r_u) side by side.

        Every quantity is a matrix that gives its change from those of (z0, z1, u), in the order in which the residual
        is made: joints, twists, rates, stresses, wrenches.
        """
        s, h, method, drives = self.method.stages, self.step, self.method, self.plant.drives
        section, nodes = self.plant.chain.section, self.counts[0]
        size = len(self.start) + len(self.unknowns) + len(self.inputs)
        parts = self.parts(sparse.eye_array(size, format="csr"))
        V0, e0, q0, qd0, rotor0, turn0, place0 = (next(parts) for _ in range(7))
        none = [sparse.csr_array((rows, size)) for rows in (V0.shape[0], e0.shape[0], self.counts[2], 0)]
        V0_rate, e0_rate, q0_rate, rotor0_rate = [next(parts) for _ in range(4)] if method.history else none
        stages = [[next(parts) for _ in range(5)] for _ in range(s)]
        inputs = [[next(parts) for _ in range(2)] for _ in range(s)]
        to_all = sparse.eye_array(6 * nodes + 6, 6 * nodes, format="csr")
        to_free = sparse.eye_array(self.counts[2], format="csc")[:, self.free]
        given = sparse.diags_array(drives.prescribed.astype(float), format="csr")
        free = sparse.diags_array(drives.free.astype(float), format="csr")
        unnamed = sparse.csr_array((self.counts[2] - self.named, size))
        q0, qd0 = (sparse.vstack([x, unnamed], format="csr") for x in (q0, qd0))
        targets = [[sparse.vstack([joints[k::3], unnamed], format="csr") for k in range(3)] for joints, _ in inputs]
        qd = [to_free @ rate + given @ target[1] for (_, _, rate, *_), target in zip(stages, targets)]
        q = [
            free @ (q0 + h * sum(method.A[i, k] * (qd[k] - method.history * q0_rate) for k in range(s)))
            + given @ targets[i][0]
            for i in range(s)
        ]
        q = self._frame_changes(q, qd, (turn0, place0, q0_rate))
        V = []
        for i, now in enumerate(self.evaluated):
            inner = now.E @ (now.E.T @ (to_all @ V0) + stages[i][0])
            V.append(now.L @ (inner + now.S @ qd[i] + now.moved_by_joints(now.V) @ q[i]))
        hardening = self._hardening(e0, [de for _, de, *_ in stages])
        spun = self._rotor_changes(qd0, rotor0, rotor0_rate, qd, [rd for _, _, _, rd, _ in stages])
        laws, turning = self._law_changes((q0, q, qd, *spun), [joints for joints, _ in inputs])
        rows = []
        for i, now in enumerate(self.evaluated):
            joints, loads = inputs[i]
            A = sum(method.S[i, j] / h * (V[j] - to_all @ V0) for j in range(s)) + method.history * (to_all @ V0_rate)
            e = e0 + stages[i][1]
            e_dot = sum(method.S[i, j] / h * stages[j][1] for j in range(s)) + method.history * e0_rate
            rate = now.B @ V[i] - now.turning_at_points(now.V) @ e
            stress = diagonal(section.C) @ e + diagonal(section.Cd) @ rate + hardening[i]
            weight = sparse.diags_array(np.repeat(now.weight, 6))
            f = now.loads @ loads - now.gyroscopic @ V[i] - now.mass @ A
            f = f - now.B.T @ (weight @ stress) - now.carried @ e + now.passed_on @ q[i]
            if now.turned is not None:
                f = f + sparse.csr_array(now.turned[:, :-6]) @ sparse.vstack([e, q[i]])
            opening = sparse.csr_array((0, size))
            if self.plant.relations.taken.size:
                start = sparse.vstack([e0, self._start_place(q0, turn0, place0)])
                wrench, opening = self._line_changes(now, V[i], sparse.vstack([e, q[i]]), stages[i][4], start)
                f = f - wrench
            passed = now.L.T @ f
            pull = sparse.diags_array(drives.stiffness) @ (q[i][: self.named] - joints[0::3])
            brake = sparse.diags_array(drives.damping) @ (qd[i][: self.named] - joints[1::3])
            driven = sparse.vstack([joints[2::3] - pull - brake, unnamed])
            torque = now.S.T @ passed + driven + laws[i] + now.on_balls @ loads
            rows += [now.E.T @ passed, rate - e_dot, torque.tocsr()[self.free], turning[i], opening]
        return sparse.vstack(rows, format="csc")

    def _line_changes(
        self, now: Instant, V: Sparse, place: Sparse, force: Sparse, start: Sparse
    ) -> tuple[Sparse, Sparse]:
        """Changes of J^T f, and of what loops lack, from those of twists, of place and of the forces of loops."""
        lines, csr = now.lines, sparse.csr_array
        J, own = csr(lines.J), slice(None, -6)  # the base stays
        rate = J @ V + csr(lines.turned[:, own]) @ place
        to_lines = sparse.eye_array(len(lines.phi), format="csc")[:, self.closed]
        changed = to_lines @ force + csr(lines.stiffness) @ (csr(lines.G[:, own]) @ place) + csr(lines.damping) @ rate
        wrench = J.T @ changed + csr(lines.carried[:, own]) @ place
        opened = csr(self._opening[self.closed][:, own]) @ start
        return wrench, rate.tocsr()[self.closed] + opened / self.step

    @cached_property
    def _opening(self) -> Floats:
        """Derivative of the measures at the start of the step in its strains and joint positions."""
        now, state = self.evaluated[0], self._evaluated[0]
        pose = np.zeros((1, *now.stages.pose.shape[1:]))
        place_joints_at(now.plant.chain.tree, state.q[None], state.turn, state.place, pose)
        return LineChanges.of(now.plant, (state.e, pose[0]), now.V, 0).G

    def _start_place(self, q0: Sparse, turn0: Sparse, place0: Sparse) -> Sparse:
        """Changes of joint positions at the start, with body displacements of ball and free joints in their place."""
        tree, rows = self.plant.chain.tree, [q0.tocsr()[[c]] for c in range(q0.shape[0])]
        for link in np.flatnonzero((tree.kind == BALL) | (tree.kind == FLOATING)):
            f, d = tree.frame[link], tree.dof[link]
            quaternion = self._evaluated[0].turn[f]
            if tree.kind[link] == FLOATING:
                back = sparse.csr_array(rotation_from_quaternion(quaternion).T)
                moved = (back @ place0[3 * f : 3 * f + 3]).tocsr()
                rows[d : d + 3], d = [moved[[c]] for c in range(3)], d + 3
            length = np.linalg.norm(self.start_quaternion(f))
            turned = (sparse.csr_array(turn_of_quaternion(quaternion) / length) @ turn0[4 * f : 4 * f + 4]).tocsr()
            rows[d : d + 3] = [turned[[c]] for c in range(3)]
        return sparse.vstack(rows, format="csr")

    def _frame_changes(self, q: list[Sparse], qd: list[Sparse], start: tuple[Sparse, Sparse, Sparse]) -> list[Sparse]:
        """The changes q of joint positions with body displacements of ball and free joints in their place.

        From  theta_i = h sum_k A_ik T^-1(theta_k) w_k  and  x_i = h sum_k A_ik R_k v_k , see `place_frames`.
        """
        tree, s, history = self.plant.chain.tree, self.method.stages, self.method.history
        links = np.flatnonzero((tree.kind == BALL) | (tree.kind == FLOATING))
        if not len(links):
            return q
        some = sparse.csr_array
        hA, stages, (turn0, place0, rate0) = self.step * self.method.A, self.evaluated[0].stages, start
        rows: list[list[Sparse]] = [[x.tocsr()[[c]] for c in range(x.shape[0])] for x in q]
        for link in links:
            f, d = tree.frame[link], tree.dof[link] + (3 if tree.kind[link] == FLOATING else 0)
            turns, quaternion = slice(d, d + 3), self._evaluated[0].turn[f]
            theta, w = stages.q[:, turns], stages.qd[:, turns]
            inverse = [right_tangent_inverse(np.append(np.zeros(3), x))[3:, 3:] for x in theta]
            spread_A = np.kron(hA, np.eye(3))
            implicit = np.eye(3 * s) - spread_A @ block_diag(*map(turn_rate_slope, theta, w))
            spun = sparse.vstack([some(M) @ x.tocsr()[turns] - history * rate0[turns] for M, x in zip(inverse, qd)])
            dtheta = (some(np.linalg.solve(implicit, spread_A)) @ spun).tocsr()
            length = np.sqrt(np.sum(np.square(self.start_quaternion(f))))
            at_start = some(turn_of_quaternion(quaternion) / length) @ turn0[4 * f : 4 * f + 4]
            turned = []
            for i in range(s):
                R = rotation_from_vector(theta[i])
                tangent = right_tangent(np.append(np.zeros(3), theta[i]))[3:, 3:]
                turned.append((some(tangent) @ dtheta[3 * i : 3 * i + 3] + some(R.T) @ at_start).tocsr())
                rows[i][d : d + 3] = [turned[i][[c]] for c in range(3)]
            if tree.kind[link] == FLOATING:
                R0, at = rotation_from_quaternion(quaternion), slice(d - 3, d)
                Rs = [R0 @ rotation_from_vector(x) for x in theta]
                moved = [
                    some(Q) @ x.tocsr()[at] - some(Q @ hat(v)) @ turn - history * rate0[at]
                    for Q, x, v, turn in zip(Rs, qd, stages.qd[:, at], turned)
                ]
                for i in range(s):
                    place = place0[3 * f : 3 * f + 3] + sum(hA[i, k] * moved[k] for k in range(s))
                    body = (some(Rs[i].T) @ place).tocsr()
                    rows[i][d - 3 : d] = [body[[c]] for c in range(3)]
        return [sparse.vstack(row, format="csr") for row in rows]

    def start_quaternion(self, frame: int) -> Floats:
        """The quaternion of a frame as the start gives it, before it is made one of unit length."""
        *_, turn, _ = itertools.islice(self.parts(np.concatenate([self.start, self.unknowns, self.inputs])), 7)
        return np.asarray(turn[4 * frame : 4 * frame + 4])

    def _rotor_changes(
        self, qd0: Sparse, rotor0: Sparse, rates: Sparse, qd: list[Sparse], rd: list[Sparse]
    ) -> tuple[list[Sparse], list[Sparse], list[Sparse]]:
        """Changes (dofs, ...) of angles, rates and accelerations of rotors at every stage."""
        s, h, method = self.method.stages, self.step, self.method
        dofs, size = self.counts[2], qd0.shape[1]
        to_dofs = sparse.eye_array(dofs, format="csc")[:, self.rotors]
        elastic = to_dofs @ to_dofs.T
        fill = (sparse.csr_array((2 * dofs - x.shape[0], size)) for x in (rotor0, rates))
        start, rate = (sparse.vstack([x, rest], format="csr") for x, rest in zip((rotor0, rates), fill))
        rd = [to_dofs @ each for each in rd]
        r = [
            elastic @ (start[0::2] + h * sum(method.A[i, k] * (rd[k] - method.history * rate[0::2]) for k in range(s)))
            for i in range(s)
        ]
        before = elastic @ start[1::2] + qd0 - elastic @ qd0
        moves = [a + b - elastic @ b for a, b in zip(rd, qd)]
        spin = [
            sum(method.S[i, j] / h * (moves[j] - before) for j in range(s)) + method.history * rate[1::2]
            for i in range(s)
        ]
        return r, rd, spin

    def _law_changes(self, moves: tuple[Any, ...], inputs: list[Sparse]) -> tuple[list[Sparse], list[Sparse]]:
        """Changes of the laws of joints (dofs, ...) and of the balance of rotors at every stage, by complex steps."""
        s, joints, size = self.method.stages, self.plant.joints, moves[0].shape[1]
        (state, targets, (now, *_)), method = self._evaluated, method_tables(self.method)[0]
        stages, q0 = complex_of(now.stages), state.q
        found = [[sparse.csr_array((1, size)) for _ in range(2 * s)] for _ in self.plant.drives.free]
        for c in joints.active[~joints.laws.prescribed[joints.active]]:
            start, target = np.array([q0[c]], complex), targets.astype(complex)
            places = [(start[0:1], moves[0][[c]])]
            for values, change in zip((stages.q, stages.qd, stages.r, stages.rd, stages.spin_up), moves[1:]):
                places += [(values[j, c : c + 1], change[j].tocsr()[[c]]) for j in range(s)]
            ball = joints.laws.ball[c]
            for other in range(ball, ball + 3) if ball >= 0 else ():  # friction of a ball is against its whole spin
                if other != c:
                    places += [(stages.qd[j, other : other + 1], moves[2][j].tocsr()[[other]]) for j in range(s)]
            places += [(target[j, c, k : k + 1], inputs[j][[3 * c + k]]) for j in range(s) for k in range(3)]
            for number, change in places:
                if change.nnz:
                    number += 1j * STEP
                    set_one_law(joints.laws, int(c), method, start[0], stages, target, self.step)
                    number -= 1j * STEP
                    slopes = np.concatenate([stages.law[:, c].imag, stages.rho_r[:, c].imag]) / STEP
                    found[c] = [old + slope * change for old, slope in zip(found[c], slopes)]
        laws = [sparse.vstack([row[i] for row in found], format="csr") for i in range(s)]
        turning = [sparse.vstack([row[s + i] for row in found], format="csr")[self.rotors] for i in range(s)]
        return laws, turning

    def _hardening(self, e0: Sparse, de: list[Sparse]) -> list[Sparse]:
        """Change of the nonlinear stress of every stage, averaged over the step as `add_hardening` does."""
        now, section = self.evaluated[0], self.plant.chain.section
        changes = [sparse.csr_array(e0.shape) for _ in de]
        if section.hardening:
            start = now.stages.e[0] - now.stages.de[0]
            values, weights = self.method.stress_average
            for value, weight in zip(values, weights.T):
                e = start + np.tensordot(value, now.stages.de, 1)
                tangent = diagonal(now.tangent(e) - section.C)
                change = tangent @ (e0 + sum(v * x for v, x in zip(value, de)))
                changes = [old + w * change for old, w in zip(changes, weight)]
        return changes


def _stepper(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
) -> Stepper:
    """The fast step at ``start``, which may end with the rates of a method that carries some; else they are found."""
    size = arm.layout.size
    grid = np.array([time, time + step])
    stepper = Stepper(arm, Run(start[:size], grid, grid, inputs, method, TIGHT))
    if method.history:
        if len(start) == size:
            stepper.start_rates()
        else:
            rates = _rates(stepper)
            for rate, own in zip(rates, np.split(start[size:], np.cumsum([rate.size for rate in rates[:-1]]))):
                rate.ravel()[:] = own
    return stepper


def _rates(stepper: Stepper) -> tuple[Floats, ...]:
    """Those that the method carries."""
    state = stepper.state
    if not stepper.method.history:
        return ()
    named = len(stepper.plant.drives.stiffness)
    of_rotors = (state.rotor_rate[:named],) if stepper.plant.joints.laws.has_motor.any() else ()
    return state.V_rate, state.e_rate, state.q_rate, *of_rotors


def _vector(stepper: Stepper) -> Floats:
    """The state and the rates that the method carries."""
    return np.concatenate([stepper.state_vector(), *(rate.ravel() for rate in _rates(stepper))])


def step_equations(
    arm: GeometricallyExactArm,
    start: Floats,
    unknowns: Floats,
    inputs: Inputs,
    time: float,
    step: float,
    method: StageMethod,
) -> ChainStep:
    """The equations of the step that begins at ``start``, about these unknowns."""
    times = time + step * method.nodes
    tables = (inputs.joint_signals(times), inputs.load_signals(times))
    u = np.concatenate([table.reshape(len(times), -1) for table in tables], axis=1).ravel()
    plant = arm.plant(inputs, method.stages)
    if arm.robot.loops:
        plant.relations.kept[:] = kept_lines(arm, start[: arm.layout.size], inputs, step)
    if method.history and len(start) == arm.layout.size:
        start = _vector(_stepper(arm, start, inputs, time, step, method))
    return ChainStep(start, unknowns, u, plant, method, step, base_twists(arm, inputs, times))


def step_unknowns(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
) -> tuple[Floats, Floats]:
    """The unknowns of the step that the fast step finds, and its end as the start of the next."""
    stepper = _stepper(arm, start, inputs, time, step, method)
    times = stepper.times(0, 1)[0]
    tables = stepper.tables(0, 1, inputs.joint_signals(times)[None], inputs.load_signals(times)[None])
    done, _ = stepper.steps(tables)
    if not done:
        raise InvalidInput(f"the step of {step:g} s did not converge; take a smaller one")
    stages, tree = stepper.work.solver.stages, arm.chain.tree
    inner = np.setdiff1d(np.arange(stages.V.shape[1]), tree.first_node)
    free = stepper.plant.drives.free
    laws = stepper.plant.joints.laws
    turning = laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0)
    relations = stepper.plant.relations
    forces = relations.force[:, (relations.lines.law == CLOSED) & relations.kept[0]]
    turned = stages.rd[:, : len(turning)][:, turning]
    rows = zip(stages.dV[:, inner], stages.de, stages.qd[:, free], turned, forces)
    return np.concatenate([part.ravel() for row in rows for part in row]), _vector(stepper)
