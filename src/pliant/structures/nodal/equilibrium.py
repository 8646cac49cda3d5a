"""Equilibrium of a mechanism by load stepping and Newton's method on relative displacements and loop forces.

The residual and its exact derivative are those of the balance at an instant at which nothing moves but prescribed
joints, at their rates, and the base with all that is tied to it; where there are loops, whose parts would move against
each other, joints rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.mechanics.joint_laws import Coordinates
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.spatial.arrays import (
    pose_from_twist,
    quaternion_from_rotation,
    right_tangent_inverse,
    rotation_from_quaternion,
    to_frame,
    twist_from_pose,
)
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
from pliant.structures.loads import acceleration_of_base, base_table, twists_of_base
from pliant.structures.nodal.codes import ELEMENT, FREE, GROUND, POSE
from pliant.structures.nodal.instant_balance import BY_PLACE, Flow, derivatives_at, evaluate_at, new_flow, place_nodes
from pliant.structures.nodal.mechanism import Bools, Floats, Mechanism, Pose, Tree
from pliant.structures.nodal.motion import Moment, restart_ball_joints
from pliant.structures.nodal.posture import columns_of, displacements, poses, relative_twists, unknowns_of
from pliant.structures.nodal.singularity import kept_lines, why_opened
from pliant.structures.relations import CLOSED, WALL

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

LARGEST_CHANGE = 0.3  # rad, or part of the reach, in one iteration
FAST = 0.1  # an iteration that shrinks the change by less wants a new stiffness
LARGEST_VIOLATION = 1e-9  # m or rad, of a constraint that should follow from others


class Drives(NamedTuple):
    """What decides each coordinate at rest."""

    coordinates: Coordinates  # without damping; gears in series with the feedback of their motors
    target: Floats  # (coordinates, 3) reference, rate and feedforward
    yields: Bools  # (coordinates,)
    free: Bools  # (nodes,) nodes without a parent that come to rest


def find_equilibrium(
    arm: PoseElementArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity, loads and feedforward of one time, grown from nothing in steps; loops stay closed.

    A joint comes to rest where something elastic or a loop acts across it: feedback, its own spring, a connected
    spring, bushing or wall, a loop joint. Prescribed joints are at their place of that time; all others, and free links
    that nothing holds, keep their place in ``start``. Stops and friction do not hold a joint.
    """
    search = _Search(arm, _at_references(arm, start, inputs, time), inputs, time)
    remedy = "the mechanism may buckle or fall there; hold its joints, lower the load or take more load steps"
    # a mechanism still on its way down stays on it
    found = raise_load(search, time, load_steps, accuracy, remedy, LOOSE_ITERATIONS)
    found = replace(found, held=search.held())
    loop = search.open_loop() if found.ending.completed else ""
    if loop:
        found = replace(found, ending=Ending(Cause.LOOP_OPENED, time, f"loop '{loop}'", search.why_opened(loop)))
    return found


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
    """Coordinates, and nodes without a parent, between two nodes."""

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
    yields = (laws.gain[:, 0] > 0.0) | (laws.spring > 0.0)
    free = np.zeros(len(tree.parent), np.bool_)
    for a, b in lines.node:
        coordinates, flying = _path_coordinates(tree, int(a), int(b))
        yields[list(coordinates)] = True
        free[list(flying)] = True
    yields &= ~laws.prescribed
    quiet, target = at_rest(laws, inputs.joint_signals(np.array([time]))[0], yields)
    return Drives(quiet, target, yields, free)


def _riding(mechanism: Mechanism) -> list[int]:
    """The node of the base, and those without a parent that springs or loops tie to what it carries."""
    tree, root = mechanism.tree, np.arange(len(mechanism.tree.parent))
    for i, parent in enumerate(tree.parent):
        root[i] = root[parent] if parent >= 0 else i
    world = (tree.joint_type == GROUND) & (root > 0)
    for _ in mechanism.lines.node:  # ties reach over others
        for a, b in root[mechanism.lines.node]:
            if not (world[a] or world[b]):
                root[(root == a) | (root == b)] = min(a, b)
    return np.flatnonzero((tree.parent < 0) & (root == root[0])).tolist()


class _Search:
    """Newton's method for one mechanism."""

    def __init__(self, arm: PoseElementArm, start: Floats, inputs: Inputs, time: float) -> None:
        mechanism = arm.mechanism(inputs)
        tree, lines = mechanism.tree, mechanism.lines
        self.arm, self.inputs = arm, inputs
        self.drives = _drives(mechanism, inputs, time)
        self.motor = mechanism.coordinates.motor
        self.gravity = mechanism.bodies.gravity.copy()
        bodies = mechanism.bodies._replace(gravity=mechanism.bodies.gravity.copy())
        self.mechanism = mechanism._replace(coordinates=self.drives.coordinates, bodies=bodies)
        self.loads = inputs.load_signals(np.array([time]))[0]
        given = np.array(inputs.prescribed, np.bool_) & ~bool(np.any(lines.law == CLOSED))
        signals = inputs.joint_signals(np.array([time]))[0]
        self.rate, self.rate_change = np.where(given, signals[:, 1], 0.0), np.where(given, signals[:, 2], 0.0)
        self.now = self._resting(arm.pose_of(start))
        self.of_base, self.riding = np.zeros((2, 6)), _riding(mechanism)
        if inputs.base_motion is not None:
            self._carry_with_base(base_table(arm.robot, inputs, np.array([time]))[0])
            self.of_base[0] = twists_of_base(arm.robot, inputs, np.array([time]))[0]
            self.of_base[1] = acceleration_of_base(arm.robot, inputs, time)
        self.kept = np.flatnonzero((lines.law == CLOSED) & kept_lines(arm, self.mechanism, self.now)[0])
        self.moment = arm.moment_of(self.mechanism, self.now)
        self.pull = np.zeros(len(lines.law))
        self.columns = columns_of(tree)
        self.unknowns = unknowns_of(self.columns, tree, np.zeros(0, np.int64))
        ids = np.flatnonzero(tree.joint_type == ELEMENT)
        starts = np.array([self.columns.place[i].start for i in ids.tolist()], np.int64)
        self.elements = ids, starts[:, None] + np.arange(6)
        self.loose_nodes = np.flatnonzero(np.isin(tree.joint_type, (FREE, GROUND)) | tree.restarts).tolist()
        node, coordinate = self.unknowns.node, self.unknowns.coordinate
        yields = np.append(self.drives.yields, False)[coordinate]
        self.moving = np.flatnonzero((tree.joint_type[node] == ELEMENT) | self.drives.free[node] | yields)
        shifts = np.any(self.unknowns.direction[self.moving, :3] != 0.0, axis=1)
        self.reach = max(arm.reach, 1e-300)
        self.lengths = np.where(shifts & (coordinate[self.moving] < 0), self.reach, 1.0 / self.reach)
        # where only weight decides, or contact may begin, Newton's method must be led to a stable place
        held = mechanism.coordinates.gain[:, 0] + mechanism.coordinates.spring > 0.0
        loose = bool(np.any(self.drives.yields & ~held)) or bool(self.drives.free.any())
        self.loose = loose or bool(np.any(lines.law >= WALL))

    def _resting(self, pose: Pose) -> Pose:
        for rates in (pose.v, pose.w, pose.qd):
            rates[:] = 0.0
        pose.motor[:] = 0.0
        return pose

    def _carry_with_base(self, base: Floats) -> None:
        """Move all that the base carries with it."""
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

    def held(self) -> tuple[str, ...]:
        """Joints that keep their place, though it is not prescribed, because nothing elastic acts across them."""
        kept = ~self.drives.yields & ~np.array(self.inputs.prescribed, np.bool_)
        loose = [name for name, each in zip(self.arm.joint_names, kept) if each]
        tree, above = self.mechanism.tree, {joint.child: joint.name for joint in self.arm.robot.joints}
        for link in self.arm.structure.links:
            root = link.nodes[0]
            if tree.joint_type[root] == FREE and not self.drives.free[root]:
                loose.append(above[link.name])
        return tuple(loose)

    def iterate(self, fraction: float, accuracy: float, most: int | None = None) -> tuple[bool, int]:
        """Newton's method under a part of the load; whether it converged, and the iterations used."""
        from scipy.linalg.lapack import dgetrf, dgetrs

        self.mechanism.bodies.gravity[:] = fraction * self.gravity
        moves = len(self.moving)
        factors, previous, soft = None, np.inf, SOFT
        for iteration in range(1, (most or (LOOSE_ITERATIONS if self.loose else ITERATIONS)) + 1):
            restart_ball_joints(self.mechanism.tree, self.moment)
            flow = self._flow(fraction)
            lack = evaluate_at(self.mechanism, self.unknowns, flow)[self.moving]
            residual = np.append(lack, flow.at.phi.real[self.kept])
            if len(residual) == 0:
                return True, iteration
            if not np.all(np.isfinite(residual)):
                return False, iteration
            if factors is None:
                tangent = self._tangent(flow)
                if self.loose:
                    weight = float(self.mechanism.bodies.mass.sum() * np.linalg.norm(self.gravity))
                    weight = fraction * (weight + float(np.abs(self.loads).sum()))
                    lead_down(tangent, moves, weight / self.lengths, STIFF if iteration == 1 else soft)
                factors = dgetrf(tangent)[:2]
            change = -dgetrs(*factors, residual)[0]
            if not np.all(np.isfinite(change)):
                return False, iteration
            largest = self._size(change[:moves])
            change *= min(1.0, (LOOSE_CHANGE if self.loose else LARGEST_CHANGE) / max(largest, 1e-300))
            self.pull[self.kept] += change[moves:]
            self._move(change[:moves])
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

    def _flow(self, fraction: float) -> Flow:
        """The present pose under a part of the load; joints that have no equilibrium to find stay where they are."""
        flow = new_flow(self.mechanism, self.moment)
        flow.pull[:], flow.load[:] = self.pull, fraction * self.loads
        flow.target[:] = self.drives.target
        flow.target[:, 2] *= fraction
        for u, c in enumerate(self.unknowns.coordinate):
            if c >= 0 and (self.rate[c] or self.rate_change[c]):
                node, direction = self.unknowns.node[u], self.unknowns.direction[u]
                # of inertia that a rate causes, a part is that of a rate by the root of the part
                flow.rho[node] = np.sqrt(fraction) * self.rate[c] * direction
                flow.rho_dot[node] = fraction * self.rate_change[c] * direction
        if self.of_base.any():
            at = to_frame(self._R, self.moment.x + self.moment.x_low)
            for node in self.riding:
                twist, change = self.of_base @ np.linalg.solve(at[0].T, at[node].T)
                flow.rho[node], flow.rho_dot[node] = np.sqrt(fraction) * twist, fraction * change
        return flow

    def _tangent(self, flow: Flow) -> Floats:
        """Derivatives of what is lacking and of the violations in displacements and forces of closed lines."""
        by_place = derivatives_at(self.mechanism, self.unknowns, BY_PLACE, flow)
        moves, lines = len(self.moving), len(self.kept)
        tangent = np.zeros((moves + lines, moves + lines))
        tangent[:moves, :moves] = by_place.residual[np.ix_(self.moving, self.moving)]
        tangent[moves:, :moves] = by_place.phi[np.ix_(self.kept, self.moving)]
        tangent[:moves, moves:] = tangent[moves:, :moves].T
        return tangent

    def _size(self, change: Floats) -> float:
        """The largest turn, or displacement as a part of the reach, of any node or joint."""
        y = np.zeros(self.columns.total)
        y[self.moving] = change
        moved = np.abs(displacements(self.mechanism.tree, self.columns, self.moment.x, self._R, y))
        turns = float(moved[:, 3:].max(initial=0.0))
        own = np.abs(change[self.unknowns.coordinate[self.moving] >= 0]).max(initial=0.0)
        return max(float(moved[:, :3].max(initial=0.0)) / self.reach, turns, float(own))

    @property
    def _R(self) -> Floats:
        return self.moment.R.reshape(-1, 3, 3)

    def _move(self, change: Floats) -> None:
        """Change strains, joints and free links, and rebuild all poses: so large turns strain nothing."""
        tree, now, at, R = self.mechanism.tree, self.now, self.moment, self._R
        y = np.zeros(self.columns.total)
        y[self.moving] = change
        q = at.q + y[self.columns.of_coordinate(tree)]
        bent, (ids, places) = relative_twists(tree, at.x, R), self.elements
        before, moved = bent[ids], y[places]
        bent[ids] += (right_tangent_inverse(before) @ moved[..., None])[..., 0]
        if self.mechanism.elements.kind != POSE:
            bent[ids] = _with_chord(before, bent[ids], moved)
        free: dict[int, tuple[Floats, Floats]] = {}
        for i in self.loose_nodes:
            if tree.restarts[i]:
                free[i] = np.zeros(3), matrix_of(tree.turn[i]).T @ R[tree.parent[i]].T @ R[i]
            else:
                step = pose_from_twist(y[self.columns.place[i]])
                free[i] = at.x[i] + R[i] @ step[:3, 3], R[i] @ step[:3, :3]
        now.x[:], turned = poses(self.arm.structure, q, free, bent)
        now.quaternion[:], now.q[:] = quaternion_from_rotation(turned), q
        self.moment = self.arm.moment_of(self.mechanism, now)

    def copy(self) -> tuple[Moment, Floats]:
        return self.moment, self.pull.copy()

    def restore(self, saved: tuple[Moment, Floats]) -> None:
        self.moment, self.pull[:] = saved

    def open_loop(self) -> str:
        """The loop joint of a constraint that is open, if there is one."""
        phi, law = self.moment.phi, self.mechanism.lines.law
        for owner, violation, kind in zip(self.arm.line_owners(self.inputs), phi, law):
            if kind == CLOSED and abs(violation) > LARGEST_VIOLATION:
                return owner
        return ""

    def why_opened(self, loop: str) -> str:
        """What made a loop open, and what to change."""
        prescribed = np.array(self.inputs.prescribed, np.bool_)
        at = self.moment
        return why_opened(self.arm.structure, prescribed, at.x, at.R.reshape(-1, 3, 3), loop)

    def state(self) -> Floats:
        """The state vector of the present pose, which moves with prescribed joints and the base alone."""
        at, flow = self.moment, self._flow(1.0)
        place_nodes(self.mechanism.tree, flow)
        V = flow.V.real
        velocity = np.einsum("nij,nj->ni", self._R, V[:, :3] + np.cross(V[:, 3:], self.mechanism.bodies.center))
        rotor = resting_rotors(self.drives.coordinates, self.drives.target, self.motor, at.q)
        rotor[:, 1] = self.rate
        parts = (at.x, at.quaternion, velocity, V[:, 3:], at.q, self.rate, rotor)
        return np.concatenate([part.ravel() for part in parts])


def _with_chord(before: Floats, after: Floats, y: Floats) -> Floats:
    """Relative poses ``after`` (as twists) with the chords that displacements y ask for to first order: an element that
    measures its chord is not stretched where it only bends."""
    here, there = pose_from_twist(before), pose_from_twist(after)
    chord = np.linalg.norm(here[:, :3, 3], axis=1)
    longer = np.einsum("ni,nij,nj->n", here[:, :3, 3], here[:, :3, :3], y[:, :3]) / chord
    there[:, :3, 3] *= ((chord + longer) / np.linalg.norm(there[:, :3, 3], axis=1))[:, None]
    return twist_from_pose(there)
