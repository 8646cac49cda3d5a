"""Forces on a mechanism at rest and their derivatives.

The balance of a step that goes nowhere is that of the forces of the pose: both its ends are the same. Over a step so
long that inertia counts for nothing, its derivative in the displacement of the end is half the stiffness, because
forces are symmetric functions of both ends.

Static equilibrium of a mechanism by load stepping and Newton's method on nodal poses, joints and loop forces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion
from pliant.spatial.vectors import add, cross, dot
from pliant.structures.nodal.balance import Sizes, new_sizes
from pliant.structures.nodal.mechanism import (
    CLOSED,
    ELEMENT,
    FREE,
    GROUND,
    REVOLUTE,
    WALL,
    Bools,
    Coordinates,
    Floats,
    Ints,
    Lines,
    Mechanism,
    Pose,
    Tree,
)
from pliant.structures.nodal.motion import (
    Moment,
    Signals,
    Step,
    move,
    new_moment,
    new_signals,
    new_step,
    restart_ball_joints,
)
from pliant.structures.nodal.newton import evaluate
from pliant.structures.nodal.posture import poses
from pliant.structures.nodal.relative_pose import U, vector
from pliant.structures.nodal.singularity import kept_lines, why_opened
from pliant.structures.nodal.stepper import base_table

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

LONG = 1e6  # s; inertia over its square is below round-off of any stiffness
PROBE = 1e-6  # m or rad; the square of it, and round-off over it, spoil ten digits of a stiffness
JOINT, LINE = 6, 7  # parts of unknowns beside the six of a node


class Unknowns(NamedTuple):
    """What moves: a node's displacement (part 0 .. 2, world) or turn (3 .. 5, body), a joint, or a line's force."""

    row: Ints  # node or line
    part: Ints


class Static(NamedTuple):
    """Scratch of an equilibrium."""

    start: Moment
    end: Moment
    step: Step
    sizes: Sizes
    force: Floats  # (lines,) of the closed lines


@kernel
def displace(unknowns: Unknowns, change: Floats, factor: float, static: Static) -> None:
    """Velocities of a long step that change the unknowns by ``factor change``, and the forces of closed lines."""
    step = static.step
    for i in range(step.Y.shape[0]):
        step.s[i] = 0.0
        for k in range(6):
            step.Y[i, k] = 0.0
    for k in range(static.force.shape[0]):
        step.impulse[k] = LONG * static.force[k]
    for u in range(unknowns.row.shape[0]):
        i, part = unknowns.row[u], unknowns.part[u]
        if part == LINE:
            step.impulse[i] += LONG * factor * change[u]
        elif part == JOINT:
            step.s[i] = factor * change[u] / LONG
        else:
            step.Y[i, part] = factor * change[u] / LONG


@kernel
def residual_at(
    mechanism: Mechanism, signals: Signals, now: Pose, unknowns: Unknowns, static: Static, residual: Floats
) -> None:
    """Unbalanced forces along the unknowns, and the gaps of closed lines, after `displace`."""
    step = static.step
    move(mechanism.tree, mechanism.coordinates.prescribed, signals, static.start, static.end, step)
    evaluate(mechanism, signals, now, static.start, static.end, step, static.sizes)
    for u in range(unknowns.row.shape[0]):
        i, part = unknowns.row[u], unknowns.part[u]
        if part == LINE:
            residual[u] = static.end.phi[i]
        elif part == JOINT:
            residual[u] = step.row[i] / LONG
        else:
            residual[u] = step.rho[i, part] / LONG


@inline_kernel
def velocity_along(tree: Tree, i: int, part: int, step: Step) -> float:
    """What the residual of an unknown does its work on, in the present step.

    A joint keeps its own residual back from its parent, so it works on the motion of the parent along the axis too.
    """
    if part < 3:
        return float(step.Y[i, part])
    if part < JOINT:
        return float(step.omega[i, part - 3])
    axis, p = vector(step.axis, i, 0), tree.parent[i]
    carried = vector(step.omega, p, 0)
    if tree.joint_type[i] != REVOLUTE:
        carried = add(vector(step.Y, p, 0), cross(carried, vector(step.lever, i, 0)))
    return float(step.s[i] + dot(axis, carried) / dot(axis, axis))


@kernel
def stiffness(
    mechanism: Mechanism,
    signals: Signals,
    now: Pose,
    unknowns: Unknowns,
    static: Static,
    work: Floats,
    K: Floats,
) -> None:
    """Derivatives K[0] of the residual and the velocities K[1] that each residual works on, column by column.

    ``work`` (3, unknowns) is scratch. A gap is not a mean over the step: its derivative is whole, and so is that of
    the balance in a line's force.
    """
    count = unknowns.row.shape[0]
    change, plus, minus = work[0], work[1], work[2]
    for u in range(count):
        change[u] = 0.0
    for u in range(count):
        change[u] = 1.0
        displace(unknowns, change, -PROBE, static)
        residual_at(mechanism, signals, now, unknowns, static, minus)
        displace(unknowns, change, PROBE, static)
        residual_at(mechanism, signals, now, unknowns, static, plus)
        change[u] = 0.0
        for v in range(count):
            mean = unknowns.part[v] != LINE and unknowns.part[u] != LINE
            K[0, v, u] = (plus[v] - minus[v]) / (PROBE if mean else 2.0 * PROBE)
            if unknowns.part[v] == LINE:
                K[1, v, u] = 1.0 if u == v else 0.0
            else:
                along = velocity_along(mechanism.tree, unknowns.row[v], unknowns.part[v], static.step)
                K[1, v, u] = along * LONG / PROBE


ITERATIONS = 60
SMALLEST_LOAD_STEP = 1e-4
LARGEST_CHANGE = 0.3  # rad, or part of the reach, in one iteration
FAST = 0.1  # an iteration that shrinks the change by less wants a new stiffness
LARGEST_VIOLATION = 1e-9  # m or rad, of a constraint that should follow from others
LOOSE_ITERATIONS, LOOSE_CHANGE = 300, 0.2  # where weight decides, the way down may be long and bent
STIFF, SOFT = 1e3, 1e-3  # parts of the stiffness that weight would have as a spring of the size of the reach


class Drives(NamedTuple):
    """What decides each coordinate at rest."""

    coordinates: Coordinates  # without damping; gears in series with the feedback of their motors
    target: Floats  # (coordinates, 3) reference, rate and feedforward
    yields: Bools  # (coordinates,)
    free: Bools  # (nodes,) nodes that hang on nothing and settle


def find_equilibrium(
    arm: PoseElementArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity, loads and feedforward of one time, grown from nothing in steps; loops stay closed.

    A joint settles where something elastic or a loop acts across it: feedback, its own spring, a connected spring,
    bushing or wall, a loop joint. Prescribed joints are at their place of that time; all others, and free links
    that nothing holds, keep their place in ``start``. Stops and friction do not hold a joint.
    """
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
        if (
            step < SMALLEST_LOAD_STEP or used == LOOSE_ITERATIONS
        ):  # a mechanism still on its way down stays on it
            ending = Ending(
                Cause.NOT_CONVERGED, time, f"{reached:.3%} of the load",
                "the mechanism may buckle or fall there; hold its joints, lower the load or take more load steps",
            )  # fmt: skip
            return Equilibrium(search.state(), reached, iterations, ending)
    open_loop = search.open_loop()
    if open_loop:
        ending = Ending(Cause.LOOP_OPENED, time, f"loop '{open_loop}'", search.why_opened(open_loop))
        return Equilibrium(search.state(), 1.0, iterations, ending)
    return Equilibrium(search.state(), 1.0, iterations, Ending(Cause.COMPLETED, time))


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
    return coordinates, {i for i in between if tree.joint_type[i] == FREE}


def _drives(mechanism: Mechanism, inputs: Inputs, time: float) -> Drives:
    tree, laws, lines = mechanism.tree, mechanism.coordinates, mechanism.lines
    count = len(laws.spring)
    yields = (laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)
    free = np.zeros(len(tree.parent), np.bool_)
    for a, b in lines.node:
        coordinates, hanging = _path_coordinates(tree, int(a), int(b))
        yields[list(coordinates)] = True
        free[list(hanging)] = True
    yields &= ~laws.prescribed
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
        prescribed=~yields,
        gain=gain,
        motor=motor,
    )
    quiet.stops[:, 3] = 0.0
    return Drives(quiet, target, yields, free)


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
    rows: list[int] = []
    parts: list[int] = []
    for i in range(len(tree.parent)):
        c = tree.coordinate[i]
        if tree.joint_type[i] == ELEMENT or (tree.joint_type[i] == FREE and drives.free[i]):
            rows += [i] * 6
            parts += range(6)
        elif c >= 0 and drives.yields[c]:
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
        # where only weight decides, or contact may begin, Newton's method must be led to a stable place
        held = mechanism.coordinates.gain[:, 0] + mechanism.coordinates.spring > 0.0
        loose = bool(np.any(self.drives.yields & ~held)) or bool(self.drives.free.any())
        self.loose = loose or bool(np.any(mechanism.lines.law >= WALL))

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
        from scipy.linalg import lu_factor, lu_solve

        unknowns, static, signals = self.unknowns, self.static, self.signals
        count = len(unknowns.row)
        self.mechanism.bodies.gravity[:] = fraction * self.gravity
        signals.load[:] = fraction * self.loads
        change, residual = np.zeros(count), np.zeros(count)
        work, K = np.zeros((3, count)), np.zeros((2, count, count))
        factors, previous, soft = None, np.inf, SOFT
        for iteration in range(1, (LOOSE_ITERATIONS if self.loose else ITERATIONS) + 1):
            restart_ball_joints(self.mechanism.tree, static.start)
            self._aim(fraction)
            displace(unknowns, change, 0.0, static)
            residual_at(self.mechanism, signals, self.now, unknowns, static, residual)
            if count == 0:
                return True, iteration
            if not np.all(np.isfinite(residual)):
                return False, iteration
            if factors is None:
                stiffness(self.mechanism, signals, self.now, unknowns, static, work, K)
                tangent = K[1].T @ K[0]
                if self.loose:
                    self._stiffen(tangent, fraction, STIFF if iteration == 1 else soft)
                factors = lu_factor(tangent)
            change = -lu_solve(factors, K[1].T @ residual)
            if not np.all(np.isfinite(change)):
                return False, iteration
            largest = float(np.abs(change * self.size)[self.moves].max(initial=0.0))
            change *= min(1.0, (LOOSE_CHANGE if self.loose else LARGEST_CHANGE) / max(largest, 1e-300))
            self._move(change)
            size = largest * max(self.arm.reach, 1.0)
            if iteration > 1 and (size <= accuracy or (size < 1e-10 and size >= 0.5 * previous)):
                return True, iteration
            if largest > FAST * previous or self.loose:
                factors = None
            if (
                0.5 * previous < largest < LOOSE_CHANGE
            ):  # what was added holds back a place that hardly anything decides
                soft *= 0.5
            previous = largest
        return False, iteration

    def _stiffen(self, K: Floats, fraction: float, soft: float) -> None:
        """Make the stiffness along all motions that keep the loops closed positive, so that the mechanism comes down.

        The first iteration, with ``STIFF``, only finds the forces of the loops, which have a part in the stiffness.
        """
        from scipy.linalg import eigh, null_space

        moves = self.moves
        weight = float(self.mechanism.bodies.mass.sum() * np.linalg.norm(self.gravity))
        weight = fraction * (weight + float(np.abs(self.loads).sum()))
        reach = max(self.arm.reach, 1e-300)
        lengths = np.where(self.unknowns.part < 3, reach, 1.0 / reach)[moves]
        own = K.diagonal()[moves]
        D = np.maximum(weight / lengths, 1e-9 * np.abs(own).max() + 1e-300)
        added = STIFF
        if soft < STIFF:
            Z = null_space(K[np.ix_(~moves, moves)]) if (~moves).any() else np.eye(len(own))
            if Z.shape[1] == 0:
                return
            own = Z.T @ K[np.ix_(moves, moves)] @ Z
            softest = eigh(0.5 * (own + own.T), Z.T @ (D[:, None] * Z), eigvals_only=True)[0]
            added = 0.0 if softest > soft else 2.0 * soft - softest
        K[np.flatnonzero(moves), np.flatnonzero(moves)] += added * D

    def _aim(self, fraction: float) -> None:
        """Joints that do not settle stay where they are; the others see their references."""
        yields = self.drives.yields
        self.signals.target[:] = self.drives.target
        self.signals.target[:, 2] *= fraction
        self.signals.target[~yields, 0] = self.static.start.q[~yields]

    def _move(self, change: Floats) -> None:
        """Change strains, joints and free links, and rebuild all poses: so large turns strain nothing."""
        static, tree, now = self.static, self.mechanism.tree, self.now
        largest = max(float(np.abs(change[self.moves]).max(initial=0.0)), 1e-300)
        bent = static.start.strain[:, U : U + 6].copy()
        if largest > 1e-300:
            for sign in (1.0, -1.0):
                displace(self.unknowns, change, sign * PROBE / largest, static)
                self._evaluate()
                bent += sign * static.end.strain[:, U : U + 6] * (0.5 * largest / PROBE)
        displace(self.unknowns, change, 1.0, static)
        self._evaluate()
        static.force[:] = static.step.impulse / LONG
        q = static.start.q.copy()
        R = static.start.R.reshape(-1, 3, 3)
        free: dict[int, tuple[Floats, Floats]] = {}
        for i in range(len(tree.parent)):
            if tree.joint_type[i] in (FREE, GROUND):
                free[i] = static.end.x[i], static.end.R[i].reshape(3, 3)
            elif tree.restarts[i]:
                free[i] = np.zeros(3), matrix_of(tree.turn[i]).T @ R[tree.parent[i]].T @ R[i]
        for u in np.flatnonzero(self.unknowns.part == JOINT):
            q[tree.coordinate[self.unknowns.row[u]]] += change[u]
        now.x[:], turned = poses(self.arm.structure, q, free, bent)
        now.quaternion[:], now.q[:] = quaternion_from_rotation(turned), q
        for before, after in zip(static.start, self.arm.moment_of(self.mechanism, now)):
            before[:] = after

    def _evaluate(self) -> None:
        nothing = np.zeros(len(self.unknowns.row))
        residual_at(self.mechanism, self.signals, self.now, self.unknowns, self.static, nothing)

    def copy(self) -> tuple[Floats, ...]:
        return (*(part.copy() for part in self.static.start), self.static.force.copy())

    def restore(self, saved: tuple[Floats, ...]) -> None:
        for part, values in zip((*self.static.start, self.static.force), saved):
            part[:] = values

    def open_loop(self) -> str:
        """The loop joint of a constraint that is open, if there is one."""
        phi, law = self.static.start.phi, self.mechanism.lines.law
        for owner, violation, kind in zip(self.arm.line_owners(self.inputs), phi, law):
            if kind == CLOSED and abs(violation) > LARGEST_VIOLATION:
                return owner
        return ""

    def why_opened(self, loop: str) -> str:
        """What made a loop open, and what to change."""
        prescribed = np.array(self.inputs.prescribed, np.bool_)
        at = self.static.start
        return why_opened(self.arm.structure, prescribed, at.x, at.R.reshape(-1, 3, 3), loop)

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
