"""Static equilibrium of a mechanism by load stepping and Newton's method on nodal poses, joints and loop forces."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.balance import new_sizes
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    CLOSED,
    ELEMENT,
    FREE,
    WALL,
    Bools,
    Coordinates,
    Floats,
    Lines,
    Mechanism,
    Pose,
    Tree,
)
from pliant.formulations.geometrically_exact.pose_element.motion import restart_ball_joints
from pliant.formulations.geometrically_exact.pose_element.redundancy import kept_lines
from pliant.formulations.geometrically_exact.pose_element.run import base_table
from pliant.formulations.geometrically_exact.pose_element.statics import (
    JOINT,
    LINE,
    LONG,
    Static,
    Unknowns,
    displace,
    residual_at,
    stiffness,
)
from pliant.formulations.geometrically_exact.pose_element.step_data import (
    Signals,
    new_moment,
    new_signals,
    new_step,
)
from pliant.jit import announce_compilation
from pliant.model.contract import Settled
from pliant.model.ending import Cause, Ending
from pliant.model.inputs import Inputs
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.model import PoseElementArm

ITERATIONS = 60
SMALLEST_LOAD_STEP = 1e-4
LARGEST_CHANGE = 0.3  # rad, or part of the reach, in one iteration
FAST = 0.1  # an iteration that shrinks the change by less wants a new stiffness
LARGEST_GAP = 1e-9  # m or rad, of a closure that should follow from others
DROP_OF_DAMPING = 0.3  # per iteration that brings the mechanism closer


class Drives(NamedTuple):
    """What decides each coordinate at rest."""

    coordinates: Coordinates  # without damping; gears in series with the feedback of their motors
    target: Floats  # (coordinates, 3) reference, rate and feedforward
    settles: Bools  # (coordinates,)
    free: Bools  # (nodes,) nodes that hang on nothing and settle


def settle(
    arm: PoseElementArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Settled:
    """Equilibrium under gravity, loads and feedforward of one time, grown from nothing in steps; loops stay closed.

    A joint settles where something elastic or a loop acts across it: feedback, its own spring, a connected spring,
    bushing or wall, a loop joint. Prescribed joints are at their place of that time; all others, and free links
    that nothing holds, keep their place in ``start``. Stops and friction do not hold a joint.
    """
    announce_compilation(stiffness)
    search = _Search(arm, _at_references(arm, start, inputs, time), inputs, time)
    reached, step, iterations = 0.0, 1.0 / load_steps, 0
    good = search.copy()
    while reached < 1.0 - 1e-12:
        fraction = min(1.0, reached + step)
        converged, used = search.iterate(fraction, accuracy)
        iterations += used
        if converged:
            reached, good = fraction, search.copy()
            continue
        search.restore(good)
        step *= 0.5
        if step < SMALLEST_LOAD_STEP:
            ending = Ending(
                Cause.NOT_CONVERGED, reached, f"{reached:.3%} of the load",
                "the mechanism may buckle or fall there; hold its joints, lower the load or take more load steps",
            )  # fmt: skip
            return Settled(search.state(), reached, iterations, ending)
    open_loop = search.open_loop()
    if open_loop:
        remedy = "its joints are rigid or prescribed so that they contradict each other; let one of them move"
        ending = Ending(Cause.LOOP_OPENED, time, f"loop '{open_loop}'", remedy)
        return Settled(search.state(), 1.0, iterations, ending)
    return Settled(search.state(), 1.0, iterations, Ending(Cause.COMPLETED, time))


def _at_references(arm: PoseElementArm, start: Floats, inputs: Inputs, time: float) -> Floats:
    """The start, or undeformed links where prescribed joints are elsewhere at ``time``."""
    q = arm.layout.part(start, "joint_position").copy()
    prescribed = np.array(inputs.prescribed, np.bool_)
    wanted = inputs.joint_signals(np.array([time]))[0, :, 0]
    if np.allclose(q[prescribed], wanted[prescribed], rtol=0.0, atol=1e-12):
        return start
    q[prescribed] = wanted[prescribed]
    return arm.initial_state(q, np.zeros_like(q), inputs.prescribed)


def _path_coordinates(tree: Tree, a: int, b: int) -> tuple[set[int], set[int]]:
    """Coordinates, and nodes that hang on nothing, between two nodes."""

    def up(i: int) -> list[int]:
        chain = [i]
        while tree.parent[chain[-1]] >= 0:
            chain.append(int(tree.parent[chain[-1]]))
        return chain

    between = set(up(a)) ^ set(up(b))
    coordinates = {int(tree.coordinate[i]) for i in between if tree.coordinate[i] >= 0}
    return coordinates, {i for i in between if tree.hang[i] == FREE}


def _drives(mechanism: Mechanism, inputs: Inputs, time: float) -> Drives:
    tree, laws, lines = mechanism.tree, mechanism.coordinates, mechanism.lines
    count = len(laws.spring)
    settles = (laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)
    free = np.zeros(len(tree.parent), np.bool_)
    for a, b in lines.node:
        coordinates, hanging = _path_coordinates(tree, int(a), int(b))
        settles[list(coordinates)] = True
        free[list(hanging)] = True
    settles &= ~laws.prescribed
    target = inputs.joint_signals(np.array([time]))[0].copy()
    gain, motor = np.zeros((count, 2)), np.zeros((count, 4))
    for c in range(count):
        kp, k = laws.gain[c, 0], laws.motor[c, 1]
        share = k / (kp + k) if laws.has_motor[c] and k > 0.0 else 1.0
        gain[c, 0] = share * kp
        target[c, 2] *= share
        motor[c, 3] = laws.motor[c, 3]
    quiet = laws._replace(
        viscous=np.zeros(count),
        friction=np.tile([0.0, 0.0, 1.0, 1.0], (count, 1)),
        stops=laws.stops.copy(),
        prescribed=~settles,
        gain=gain,
        motor=motor,
    )
    quiet.stops[:, 3] = 0.0
    return Drives(quiet, target, settles, free)


def _quiet(mechanism: Mechanism, drives: Drives) -> Mechanism:
    """The mechanism without anything that acts on velocities."""
    bodies, elements, lines = mechanism.bodies, mechanism.elements, mechanism.lines
    viscous = bodies.viscous.copy()
    viscous[:, 0] = -1.0
    return mechanism._replace(
        bodies=bodies._replace(viscous=viscous, gravity=bodies.gravity.copy()),
        elements=elements._replace(C=np.zeros_like(elements.C)),
        coordinates=drives.coordinates,
        lines=lines._replace(damping=np.zeros_like(lines.damping)),
    )


def _unknowns(tree: Tree, lines: Lines, drives: Drives, kept: Bools) -> Unknowns:
    rows, parts = [], []
    for i in range(len(tree.parent)):
        c = tree.coordinate[i]
        if tree.hang[i] == ELEMENT or (tree.hang[i] == FREE and drives.free[i]):
            rows += [i] * 6
            parts += range(6)
        elif c >= 0 and drives.settles[c]:
            rows.append(i)
            parts.append(JOINT)
    for k in np.flatnonzero((lines.law == CLOSED) & kept):
        rows.append(int(k))
        parts.append(LINE)
    return Unknowns(np.array(rows, np.int64), np.array(parts, np.int64))


class _Search:
    """Newton's method for one mechanism."""

    def __init__(self, arm: PoseElementArm, start: Floats, inputs: Inputs, time: float) -> None:
        mechanism = arm.mechanism(inputs)
        self.arm, self.inputs = arm, inputs
        self.drives = _drives(mechanism, inputs, time)
        self.motor = mechanism.coordinates.motor
        self.mechanism = _quiet(mechanism, self.drives)
        self.gravity = mechanism.bodies.gravity.copy()
        self.loads = inputs.load_signals(np.array([time]))[0]
        self.now = self._resting(arm.pose_of(start))
        self.signals = self._signals(time)
        nodes, dofs, lines = len(self.now.x), len(self.now.q), len(mechanism.lines.law)
        kept, _ = kept_lines(arm, self.mechanism, self.now)
        self.unknowns = _unknowns(mechanism.tree, mechanism.lines, self.drives, kept)
        moment = arm.moment_of(self.mechanism, self.now)
        self.static = Static(
            moment, new_moment(nodes, dofs, lines), new_step(nodes, dofs, lines), new_sizes(), np.zeros(lines)
        )
        part = self.unknowns.part
        self.size = np.where(part < 3, 1.0 / max(arm.reach, 1e-300), 1.0)
        self.moves = part != LINE
        # where only weight decides, or contact may begin, Newton's steps are damped at first
        held = mechanism.coordinates.gain[:, 0] + mechanism.coordinates.spring > 0.0
        loose = bool(np.any(self.drives.settles & ~held)) or bool(self.drives.free.any())
        self.damping = 1.0 if loose or bool(np.any(mechanism.lines.law == WALL)) else 0.0

    def _resting(self, pose: Pose) -> Pose:
        for rates in (pose.v, pose.w, pose.qd):
            rates[:] = 0.0
        pose.motor[:] = 0.0
        return pose

    def _signals(self, time: float) -> Signals:
        signals = new_signals(len(self.now.q), len(self.inputs.loads))
        signals.h[0] = LONG
        signals.base[:7] = base_table(self.arm, self.inputs, np.array([time]))[0, :7]
        if self.inputs.base_motion is not None:
            self._carry_with_base(signals.base)
        return signals

    def _carry_with_base(self, base: Floats) -> None:
        """Move all that hangs on the base with it."""
        tree = self.mechanism.tree
        on_base = np.zeros(len(tree.parent), np.bool_)
        on_base[0] = True
        for i in range(1, len(on_base)):
            on_base[i] = tree.parent[i] >= 0 and on_base[tree.parent[i]]
        old = rotation_from_quaternion(self.now.quaternion[:1])[0]
        turn = rotation_from_quaternion(base[None, 3:7])[0] @ old.T
        self.now.x[on_base] = base[:3] + (self.now.x[on_base] - self.now.x[0]) @ turn.T
        R = turn @ rotation_from_quaternion(self.now.quaternion[on_base])
        self.now.quaternion[on_base] = quaternion_from_rotation(R)

    def iterate(self, fraction: float, accuracy: float) -> tuple[bool, int]:
        """Newton's method under a part of the load; whether it converged, and the iterations used."""
        from scipy.linalg import LinAlgError, lu_factor, lu_solve

        unknowns, static, signals = self.unknowns, self.static, self.signals
        count = len(unknowns.row)
        self.mechanism.bodies.gravity[:] = fraction * self.gravity
        signals.load[:] = fraction * self.loads
        change, residual = np.zeros(count), np.zeros(count)
        work, K = np.zeros((3, count)), np.zeros((count, count))
        factors, damping, previous, smallest = None, self.damping, np.inf, np.inf
        for iteration in range(1, ITERATIONS + 1):
            restart_ball_joints(self.mechanism.tree, static.start)
            self._aim(fraction)
            displace(unknowns, change, 0.0, static)
            residual_at(self.mechanism, signals, self.now, unknowns, static, residual)
            if count == 0:
                return True, iteration
            if not np.all(np.isfinite(residual)):
                return False, iteration
            if factors is None or damping > 0.0:
                stiffness(self.mechanism, signals, self.now, unknowns, static, work, K)
                K[np.diag_indices(count)] += damping * self._damping_of(K)
                try:
                    factors = lu_factor(K)
                except (LinAlgError, ValueError):
                    return False, iteration
            change = -lu_solve(factors, residual)
            if not np.all(np.isfinite(change)):
                return False, iteration
            largest = float(np.abs(change * self.size)[self.moves].max())
            change *= min(1.0, LARGEST_CHANGE / max(largest, 1e-300))
            self._move(change)
            size = largest * max(self.arm.reach, 1.0)
            if damping == 0.0 and (size <= accuracy or (size < 1e-10 and size >= 0.5 * previous)):
                return True, iteration
            if largest > FAST * previous:
                factors = None
            norm = float(np.linalg.norm(residual[self.moves]))
            if damping > 0.0:
                damping *= DROP_OF_DAMPING if norm < smallest else 1.0 / DROP_OF_DAMPING**0.5
                damping = 0.0 if damping < 1e-4 else min(damping, 1e6)
            smallest = min(smallest, norm)
            previous = largest
        return False, ITERATIONS

    def _damping_of(self, K: Floats) -> Floats:
        """What each displacement would be held by, were the weight of all a spring of the size of the reach."""
        weight = float(self.mechanism.bodies.mass.sum() * np.linalg.norm(self.gravity))
        weight += float(np.abs(self.loads).sum())
        lengths = np.where(self.unknowns.part < 3, self.arm.reach, 1.0 / max(self.arm.reach, 1e-300))
        own = np.maximum(np.abs(K.diagonal()) * 1e-3, weight / lengths)
        return np.where(self.moves, own, 0.0)

    def _aim(self, fraction: float) -> None:
        """Joints that do not settle stay where they are; the others see their references."""
        settles = self.drives.settles
        self.signals.target[:] = self.drives.target
        self.signals.target[:, 2] *= fraction
        self.signals.target[~settles, 0] = self.static.start.q[~settles]

    def _move(self, change: Floats) -> None:
        static = self.static
        displace(self.unknowns, change, 1.0, static)
        residual_at(
            self.mechanism, self.signals, self.now, self.unknowns, static, np.zeros(len(change))
        )
        static.force[:] = static.step.impulse / LONG
        for before, after in zip(static.start, static.end):
            before[:] = after

    def copy(self) -> tuple[Floats, ...]:
        return (*(part.copy() for part in self.static.start), self.static.force.copy())

    def restore(self, saved: tuple[Floats, ...]) -> None:
        for part, values in zip((*self.static.start, self.static.force), saved):
            part[:] = values

    def open_loop(self) -> str:
        """The loop joint of a closure that is open, if there is one."""
        phi, law = self.static.start.phi, self.mechanism.lines.law
        for owner, gap, kind in zip(self.arm.line_owners(self.inputs), phi, law):
            if kind == CLOSED and abs(gap) > LARGEST_GAP:
                return owner
        return ""

    def state(self) -> Floats:
        """The state vector of the present pose at rest."""
        at = self.static.start
        zero = np.zeros_like(at.x)
        rotor = np.column_stack([at.q, np.zeros_like(at.q)])
        laws, target = self.mechanism.coordinates, self.drives.target
        for c in np.flatnonzero(laws.has_motor & (self.motor[:, 1] > 0.0)):
            drive = target[c, 2] - laws.gain[c, 0] * (at.q[c] - target[c, 0])
            limit = laws.motor[c, 3]
            rotor[c, 0] += np.clip(drive, -limit, limit) / self.motor[c, 1]
        parts = (at.x, at.quaternion, zero, zero, at.q, np.zeros_like(at.q), rotor)
        return np.concatenate([part.ravel() for part in parts])
