"""Equilibrium by Newton's method under loads that grow in steps.

Unknown are small body displacements chi of the nodes; the strains follow them, d_e = B(e) chi, and the poses are
rebuilt from the strains. The residual is that of the dynamics at rest, its tangent that of a step without mass, plus
the turning of sections under what keeps its direction in the world: d(R^T f) = R^T f x chi_w. Where prescribed joints
or the base move, links move with them as rigid bodies of their present shape, and twists change by dV = ad_V chi.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.jit import kernel
from pliant.mechanics.block_elimination import eliminate_joints, new_increments
from pliant.mechanics.block_solve import solve_tree
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.structures.collocation.chain import Drives, Floats, Plant, new_stages, new_state
from pliant.structures.collocation.element import freeze, strain_rates
from pliant.structures.collocation.factorise import factorise_links, new_frozen, new_spectral_factors
from pliant.structures.collocation.joints import instant_slopes, joints_of
from pliant.structures.collocation.relations import Bools
from pliant.structures.collocation.stages import evaluate_stages
from pliant.structures.collocation.stepper import base_twists
from pliant.structures.joint_tables import at_rest, resting_rotors
from pliant.structures.load_stepping import (
    ITERATIONS,
    LOOSE_CHANGE,
    LOOSE_ITERATIONS,
    SOFT,
    STIFF,
    lead_down,
    raise_load,
)
from pliant.structures.loads import acceleration_of_base
from pliant.structures.relations import CLOSED, WALL

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


@kernel
def solve_once(plant, stages, frozen, factors, inc):
    """Displacements and strain changes for residuals in ``inc``; False if singular.

    Blocks of the nodes, joint pivots and poses are already in ``frozen`` and ``factors``.
    """
    tree, mesh, section = plant.chain.tree, plant.chain.mesh, plant.chain.section
    freeze(section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    if not factorise_links(plant.chain, frozen, factors, 1.0, 0):
        return False
    if not eliminate_joints(tree, factors, plant.drives.free, frozen.pivot, 0):
        return False
    solve_tree(tree, mesh.start, factors, plant.drives.free, 0, inc)
    strain_rates(mesh, stages.xi, inc.d, 0, inc.rate)
    return True


def find_equilibrium(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time, grown from nothing in steps.

    Joints under feedback stiffness or a spring, and those across which relations or loops act, find theirs; all others
    keep the position they have in ``start``.
    """
    if arm.robot.loops or inputs.relations:
        return _with_relations(arm, start, inputs, time, load_steps, accuracy)
    search = _Search(arm, start, inputs, time)
    remedy = "the arm may buckle there; lower the load or take more load steps"
    found = raise_load(search, time, load_steps, accuracy, remedy)
    kept = ~search.drives.free[: search.named] & ~np.array(inputs.prescribed, np.bool_)
    held = (name for name, each in zip(arm.joint_names, kept) if each)
    return replace(found, held=(*held, *(joint.name for joint in arm.floating)))


class _Search:
    def __init__(self, arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.chain = arm, arm.chain
        chain, dofs = arm.chain, len(arm.joint_names)
        points, nodes = len(chain.section.C), len(chain.inertia.M)
        self.now, self.named = new_state(chain), dofs
        table, given = inputs.joint_signals(np.array([time])), np.array(inputs.prescribed, np.bool_)
        q = np.where(given, table[0, :, 0], arm.layout.part(start, "joint_position"))
        self.restore((arm.layout.part(start, "strain"), q))
        self.rate, self.rate_change = np.where(given, table[0, :, 1], 0.0), np.where(given, table[0, :, 2], 0.0)
        (self.now.turn[:],), (self.now.place[:],) = arm.frames(start)
        self.base, self.of_base = base_twists(arm, inputs, np.array([time])), np.zeros((2, 6))
        if arm.moved:
            self.now.place[0], self.now.turn[0] = self.base[0, :3], self.base[0, 3:7]
            self.of_base[:] = self.base[0, 7:], acceleration_of_base(arm.robot, inputs, time)
        plant, now = arm.plant(inputs), np.array([time])
        laws, signals = plant.joints.laws, table.copy()
        free = ((laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)) & ~laws.prescribed
        self.motor = laws.motor
        quiet, signals[0] = at_rest(laws, signals[0], free)
        stiffness = np.where(laws.has_motor, 0.0, quiet.gain[:, 0])
        moving = np.append(free, np.zeros(chain.dofs - dofs, np.bool_))  # nothing holds a link that floats
        self.drives = Drives(~moving, moving, stiffness, np.zeros(dofs))
        self.plant = plant._replace(drives=self.drives, joints=joints_of(chain.tree, quiet))
        self.table, self.wrenches = signals, inputs.load_signals(now)
        self.stages = new_stages(1, chain)
        self.frozen = new_frozen(chain, 1, np.float64)
        self.factors = new_spectral_factors(chain, 1, np.float64)
        self.inc = new_increments(nodes, points, chain.dofs, np.float64)

    def iterate(self, fraction: float, accuracy: float, most: int | None = None) -> tuple[bool, int]:
        previous = np.inf
        for count in range(1, (most or ITERATIONS) + 1):
            size = self.improve(fraction) * max(self.arm.reach, 1.0)
            if not np.isfinite(size):
                return False, count
            if size <= accuracy or (size < 1e-10 and size >= 0.5 * previous):
                return True, count
            previous = size
        return False, count

    def improve(self, fraction: float) -> float:
        """Improve strains and free joint positions once; returns the largest change, not finite if there is none."""
        from pliant.structures.collocation.equations import AT_AN_INSTANT, carried_twists, turned_wrenches

        now, stages, frozen, inc, turning = self.now, self.stages, self.frozen, self.inc, slice(3, 6)
        free = self.drives.free
        inertia = self.chain.inertia._replace(gravity=fraction * self.chain.inertia.gravity)
        plant = self.plant._replace(chain=self.chain._replace(inertia=inertia))
        signals, wrenches = self.table * [1.0, 0.0, fraction], fraction * self.wrenches
        held, dofs = ~free[: self.named], len(free)
        signals[0, held, 0] = now.q[: self.named][held]
        turns = bool(self.rate.any() or self.rate_change.any() or self.of_base.any())
        if turns:  # the square of a part of the rates is a part of the load
            still = np.zeros(dofs - self.named)
            rate, change = (
                np.append(np.sqrt(fraction) * self.rate, still),
                np.append(fraction * self.rate_change, still),
            )
            now.qd[:], signals[0, :, 1] = rate, rate[: self.named]
            at = now.e, now.q[: self.named], (now.turn[None], now.place[None])
            of_base = self.of_base * [[np.sqrt(fraction)], [fraction]]
            self.base[:, 7:] = of_base[0]
            now.V[:], now.V_rate[:] = self.arm.rigid_twists(*at, rate, change, of_base)
        tables = np.concatenate([signals, np.zeros((1, dofs - self.named, 3))], axis=1), wrenches, self.base
        evaluate_stages(plant, AT_AN_INSTANT, now, stages, tables, 1.0)
        turned = turned_wrenches(plant, stages, 0, wrenches[0])
        carried = carried_twists(plant, stages, 0) if turns else tuple(np.zeros((len(each), 6, 6)) for each in turned)
        for blocks, change, of_twists in zip((frozen.node, frozen.point), turned, carried):
            of_twists[:, :, turning] -= change
            blocks[:] = of_twists
        frozen.pivot[0, : self.named] = self.drives.stiffness + self._law_stiffness(signals[0])
        self.factors.pose[:] = stages.pose
        inc.b[:], inc.b_q[:] = stages.rho, stages.rho_q[0]
        if not solve_once(plant, stages, frozen, self.factors, inc):
            return np.inf
        # no section turns by more than about one radian at once
        limit = min(1.0, 1.0 / max(np.abs(inc.d[0, :, turning]).max(), 1e-300))
        now.e[:] += limit * inc.rate[0]
        now.q[free] += limit * inc.d_q[free]
        return float(limit * max(np.abs(inc.rate).max(initial=0.0), np.abs(inc.d_q[free]).max(initial=0.0)))

    def _law_stiffness(self, target: Floats) -> Floats:
        """(dofs,) of springs, stops and motors where they are."""
        stiffness, q = np.zeros(self.named), self.now.q
        for c in self.plant.joints.active:
            slopes = instant_slopes(self.plant.joints.laws, int(c), q, 0.0 * q, target[c], (0.0, 0.0))
            stiffness[c] = -slopes[0, 0] - self.drives.stiffness[c]
        return stiffness

    def copy(self) -> tuple[Floats, Floats]:
        return self.now.e.copy(), self.now.q[: self.named].copy()

    def restore(self, saved: tuple[Floats, Floats]) -> None:
        self.now.e[:], self.now.q[: self.named] = saved

    def state(self) -> Floats:
        q, frames = self.now.q[: self.named], (self.now.turn[None], self.now.place[None])
        state = self.arm.moving_state(self.now.e, q, self.rate, frames, of_base=self.of_base[0])
        if self.arm.geared:
            rotors = resting_rotors(self.plant.joints.laws, self.table[0], self.motor, q)
            rotors[:, 1] = self.rate
            self.arm.layout.part(state, "rotor")[:] = rotors
        return state


LARGEST_CHANGE = 0.3  # rad, or part of the reach, in one iteration


def _with_relations(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    if arm.chain.frames:
        raise InvalidInput(
            "equilibria of ball and free joints and of moved bases under springs or in loops are not found by spectral"
            " links; compile the robot with PoseElement()"
        )
    q, given = arm.layout.part(start, "joint_position").copy(), np.array(inputs.prescribed, np.bool_)
    wanted = inputs.joint_signals(np.array([time]))[0, :, 0]
    if arm.robot.loops and not np.allclose(q[given], wanted[given], rtol=0.0, atol=1e-12):
        q[given] = wanted[given]
        start = arm.initial_state(q, np.zeros_like(q), inputs.prescribed)
    search = _RelatedSearch(arm, start, inputs, time)
    remedy = "the mechanism may buckle or fall there; hold its joints, lower the load or take more load steps"
    # a mechanism still on its way down stays on it
    found = raise_load(search, time, load_steps, accuracy, remedy, LOOSE_ITERATIONS)
    kept = ~search.plant.drives.free & ~given
    return replace(found, held=tuple(name for name, each in zip(arm.joint_names, kept) if each))


class _RelatedSearch:
    """Newton's method on strains, joint positions and forces of loops: small dense systems with exact derivatives."""

    def __init__(self, arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float) -> None:
        from pliant.structures.collocation.stepper import kept_lines

        self.arm, self.inputs, self.time = arm, inputs, time
        plant, now = arm.plant(inputs), np.array([time])
        laws, signals, lines = plant.joints.laws, inputs.joint_signals(now), plant.relations.lines
        held = (laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)
        yields = (held | _between_frames(arm, plant)) & ~laws.prescribed
        self.motor = laws.motor
        self.quiet, signals[0] = at_rest(laws, signals[0], yields)
        stiffness = np.where(laws.has_motor, 0.0, self.quiet.gain[:, 0])
        drives = Drives(~yields, yields, stiffness, np.zeros(len(yields)))
        self.plant = plant._replace(drives=drives, joints=joints_of(arm.chain.tree, self.quiet))
        self.signals, self.loads = signals, inputs.load_signals(now)
        self.closed = np.flatnonzero(lines.law == CLOSED)
        if len(self.closed):
            kept = kept_lines(arm, start, inputs, PROBE_STEP)[0]
            self.closed = np.flatnonzero((lines.law == CLOSED) & kept)
        # where only weight decides, or contact may begin, Newton's method must be led to a stable place
        self.loose = bool(np.any(yields & ~held)) or bool(np.any(lines.law >= WALL))
        self.restore(
            (arm.layout.part(start, "strain"), arm.layout.part(start, "joint_position"), np.zeros(len(lines.law)))
        )

    def copy(self) -> tuple[Floats, Floats, Floats]:
        return self.e.copy(), self.q.copy(), self.pull.copy()

    def restore(self, saved: tuple[Floats, Floats, Floats]) -> None:
        self.e, self.q, self.pull = (np.array(each, float) for each in saved)

    def state(self) -> Floats:
        state = self.arm.moving_state(self.e, self.q, np.zeros(len(self.q)))
        if self.arm.geared:
            rotors = resting_rotors(self.quiet, self.signals[0], self.motor, self.q)
            self.arm.layout.part(state, "rotor")[:] = rotors
        return state

    def iterate(self, fraction: float, accuracy: float, most: int | None = None) -> tuple[bool, int]:
        previous, soft = np.inf, SOFT
        iterations, step = (LOOSE_ITERATIONS, LOOSE_CHANGE) if self.loose else (ITERATIONS, LARGEST_CHANGE)
        for iteration in range(1, (most or iterations) + 1):
            K, right, scale = self._tangent(fraction)
            moves = len(scale)
            if not np.all(np.isfinite(right)):
                return False, iteration
            if self.loose:
                lead_down(K, moves, scale, STIFF if iteration == 1 else soft)
            size = np.sqrt(np.maximum(np.abs(K).max(axis=1, initial=0.0), 1e-300))
            try:
                change = np.linalg.solve(K / np.outer(size, size), right / size) / size
            except np.linalg.LinAlgError:
                return False, iteration
            largest = self._size(change[:moves])
            change *= min(1.0, step / max(largest, 1e-300))
            strains = self.e.size
            self.e += change[:strains].reshape(self.e.shape)
            self.q[self.plant.drives.free] += change[strains:moves]
            self.pull[self.closed] += change[moves:]
            reached = largest * max(self.arm.reach, 1.0)
            if iteration > 1 and (reached <= accuracy or (reached < 1e-10 and largest >= 0.5 * previous)):
                return True, iteration
            if 0.5 * previous < largest < LOOSE_CHANGE:  # what was added holds back what hardly anything decides
                soft *= 0.5
            previous = largest
        return False, iteration

    def _size(self, change: Floats) -> float:
        """Of a change of strains and joints: the larger of relative displacements and rotations that it makes."""
        bent = np.abs(change[: self.e.size].reshape(-1, 6))
        turned = bent[:, 3:].max(initial=0.0) * self.arm.reach
        own = np.abs(change[self.e.size :]).max(initial=0.0)
        return max(float(bent[:, :3].max(initial=0.0)), float(turned), float(own))

    def _tangent(self, fraction: float) -> tuple[Floats, Floats, Floats]:
        """Over strains, joints that yield and forces of loops: derivatives, what is unbalanced, stiffness of weight."""
        from pliant.structures.collocation.linearise import Motion

        chain, relations = self.arm.chain, self.plant.relations
        inertia = chain.inertia._replace(gravity=fraction * chain.inertia.gravity)
        relations.force[0] = self.pull
        plant = self.plant._replace(chain=chain._replace(inertia=inertia))
        forced = plant, self.signals * [1.0, 0.0, fraction], fraction * self.loads
        motion = Motion(self.arm, self.state(), self.inputs, self.time, forced)
        now, own, closed = motion.now, slice(motion.own - len(motion.rotors)), self.closed
        efforts = motion.joints.T @ np.where(motion.given, 0.0, motion.stages.torque[0])
        moves, count = own.stop, len(closed)
        K = np.zeros((moves + count, moves + count))
        K[:moves, :moves] = (motion.stiffness(now) + motion.laws()[2])[own, own]
        K[:moves, moves:] = (now.lines.J @ motion.T)[closed, own].T
        K[moves:, :moves] = (now.lines.G @ motion.places)[closed, own]
        unbalanced = (motion.T.T @ now.residual + efforts)[own]
        weight = float(np.trace(chain.inertia.M[:, :3, :3].sum(axis=0)) / 3 * np.linalg.norm(chain.inertia.gravity))
        weight = fraction * (weight + float(np.abs(self.loads).sum()))
        scale = np.full(moves, weight * self.arm.reach)
        scale[: self.e.size].reshape(-1, 6)[:, 3:] *= self.arm.reach**2
        return K, np.append(unbalanced, -now.lines.phi[closed]), scale


PROBE_STEP = 1e-3  # s, of the step that is asked which constraints are independent


def _between_frames(arm: GeometricallyExactArm, plant: Plant) -> Bools:
    """Joint coordinates on the way between the two frames of some line."""
    tree, relations = plant.chain.tree, plant.relations
    between = np.zeros(len(arm.joint_names), np.bool_)

    def joints_to_base(frame: int) -> set[int]:
        found: set[int] = set()
        if relations.nodes[frame]:
            link = int(np.searchsorted(tree.first_node, relations.first[frame], side="right")) - 1
            while link >= 0:
                found.add(int(tree.dof[link]))
                link = int(tree.parent[link])
        return found - {-1}

    for a, b in relations.lines.node:
        between[list(joints_to_base(int(a)) ^ joints_to_base(int(b)))] = True
    return between
