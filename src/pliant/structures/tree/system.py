"""From loop joints to scalar constraints between two bodies of the tree.

What loads do to the coordinates, and how that changes when the arm moves.

With the Jacobian columns J of motion about the world's origin and the wrench W = (F, N + x x F) of a load there,

    Q_i = J_i . W ,    dQ_i/dq_j = J_i . dW_j + [j before i] (J_j x J_i) . W .

A dead load keeps F and N while its point moves; one that turns with its body is carried along whole.

A structure with what is connected to it: the tree with its rotors, springs, drives and loads.

The rotor of an elastic gear is one more coordinate, which turns against nothing: its kinetic energy is that of a motor
that keeps its place ([konno1996] (18)). A rigid gear adds the rotor to the inertia of its joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.joint_laws import friction_force, stops_slopes
from pliant.mechanics.massless_motion import unit_masses
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Inputs, LoadPlace, MotorPlace
from pliant.model.port import Frame
from pliant.robot import LoopJoint, LoopKind, Robot
from pliant.structures.tree.arrays import (
    ALONG,
    COINCIDENCE_X,
    DIRECTION,
    Drives,
    Loops,
    Springs,
    Wrenches,
    new_drives,
    new_springs,
)
from pliant.structures.tree.dynamics import TreeDynamics, new_motion
from pliant.structures.tree.flexibility import (
    Condensed,
    add_condensed_stiffness,
    condensed_state,
    steady_parts,
)
from pliant.structures.tree.forces import spring_energy
from pliant.structures.tree.motion import AXIS, POSE_R, POSE_X, TURN_Z, Tree, new_tree
from pliant.structures.tree.recursions import place
from pliant.structures.tree.structure import IDENTITY, ON_BASE, Floats, Ints, Place, Structure, condense

Row = tuple[int, Floats, Floats]


def constraint_rows(structure: Structure) -> Loops:
    """The constraints of all loop joints."""
    measure, body, point, direction = [], [], [], []
    for loop in structure.robot.loops:
        first, second = structure.place(loop.first), structure.place(loop.second)
        for kind, one, other in _rows(loop):
            measure.append(kind)
            body.append((first.body, second.body))
            point.append((first.position, second.position))
            direction.append((first.rotation @ one, second.rotation @ other))
    rows = len(measure)
    return Loops(
        np.array(measure, np.int64),
        np.array(body, np.int64).reshape(rows, 2),
        np.array(point, float).reshape(rows, 2, 3),
        np.array(direction, float).reshape(rows, 2, 3),
    )


def closed_links(robot: Robot) -> tuple[tuple[str, str], ...]:
    """The two links that each constraint ties together, or the base."""
    return tuple((loop.first.link, loop.second.link) for loop in robot.loops for _ in _rows(loop))


def _rows(loop: LoopJoint) -> Iterator[Row]:
    """What a loop joint closes: measure, and directions in both frames."""
    axis = np.asarray(loop.axis, float) / np.linalg.norm(loop.axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper) / np.linalg.norm(np.cross(axis, helper))
    across, zero, e = (one, np.cross(axis, one)), np.zeros(3), np.eye(3)
    match loop.kind:
        case LoopKind.PRISMATIC | LoopKind.CYLINDRICAL:
            yield from ((ALONG, d, d) for d in across)
        case LoopKind.PLANAR:
            yield ALONG, axis, axis
        case _:
            yield from ((COINCIDENCE_X + k, zero, zero) for k in range(3))
    match loop.kind:
        case LoopKind.REVOLUTE | LoopKind.CYLINDRICAL | LoopKind.PLANAR:
            yield from ((DIRECTION, d, axis) for d in across)
        case LoopKind.PRISMATIC | LoopKind.FIXED:
            yield from ((DIRECTION, e[k], e[(k + 1) % 3]) for k in range(3))
        case LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            yield DIRECTION, axis, np.asarray(loop.second_axis, float) / np.linalg.norm(loop.second_axis)


def load_force(system: System, q: Floats, loads: Floats) -> tuple[Floats, Floats]:
    """Q (n,) and dQ/dq (n, n) of loads (given, 6)."""
    n, wrenches = system.size, system.loads.wrenches
    Q, slope = np.zeros(n), np.zeros((n, n))
    if not loads.any():
        return Q, slope
    motion, table = system.placed(q), system.loads.in_body_axes(loads)
    J = motion[1:, AXIS : AXIS + 6]
    v, w = J[:, :3], J[:, 3:]
    strictly = system.before[1:] & ~np.eye(n, dtype=bool)  # [i, j] whether j moves what carries i
    for k, body, point, weight, world in zip(*wrenches[:5]):
        before = system.before[body + 1]
        R = motion[body + 1, POSE_R : POSE_R + 9].reshape(3, 3)
        x = motion[body + 1, POSE_X : POSE_X + 3] + R @ point
        force, moment = weight * table[k, :3], weight * table[k, 3:]
        if not world:
            force, moment = R @ force, R @ moment
        W = np.concatenate([force, moment + np.cross(x, force)])
        Q[before] += J[before] @ W
        if world:
            change = np.concatenate([np.zeros((n, 3)), np.cross(v + np.cross(w, x), force)], axis=1)
        else:
            turned = np.cross(w, W[3:]) + np.cross(v, W[:3])
            change = np.concatenate([np.cross(w, W[:3]), turned], axis=1)
        # (J_j x J_i) . W = -J_i . (J_j carrying W along)
        carried = np.concatenate([np.cross(w, W[:3]), np.cross(w, W[3:]) + np.cross(v, W[:3])], axis=1)
        slope += np.outer(before, before) * (J @ change.T - strictly * (J @ carried.T))
    return Q, slope


Bools = NDArray[np.bool_]
SAME_POINT = 1e-9  # m, of a load and its station
SINGULAR = 1e-13  # smallest eigenvalue of the scaled mass matrix of coordinates that move without mass
TAKES_PART = 0.2  # of the largest share in a motion
LIMP = 1e-12  # part of the largest stiffness below which a motion has none
HESSIAN_STEP = 1e-4  # part of a radian or of the reach, for differences of fifth order


@dataclass(frozen=True, eq=False)
class Loads:
    """Wrenches on points of bodies, and which of the given loads, turned how, each of them is."""

    wrenches: Wrenches
    given: Ints
    turn: Floats  # (loads, 3, 3)
    forces_only: tuple[str, ...]  # names of given loads, empty where a moment is welcome too

    def in_body_axes(self, table: Floats) -> Floats:
        """Given loads (..., loads, 6) in the axes of the bodies that they turn with."""
        for k, name in enumerate(self.forces_only):
            if name and table[..., k, 3:].any():
                raise InvalidInput(
                    f"load '{name}' has a moment, which turns nothing that has a coordinate where station inertia is"
                    " neglected; give a force alone, or keep the inertia of stations"
                )
        chosen = table[..., self.given, :].reshape(*table.shape[:-2], len(self.given), 2, 3)
        turned = np.einsum("kij,...kpj->...kpi", self.turn, chosen)
        return np.ascontiguousarray(turned.reshape(*table.shape[:-2], len(self.given), 6))


@dataclass(frozen=True, eq=False)
class System:
    """``drive`` (joints,) is the coordinate on which the drive of each joint acts: the joint, or its rotor."""

    structure: Structure
    tree: Tree
    springs: Springs
    drives: Drives
    loads: Loads
    loops: Loops
    drive: Ints
    geared: Ints  # joints with an elastic gear, whose rotors are the last coordinates

    @staticmethod
    def of(structure: Structure, inputs: Inputs) -> System:
        names = [freedom.name for freedom in structure.freedoms]
        elastic = [motor for motor in inputs.motors if motor.stiffness > 0.0]
        geared = np.array([names.index(motor.joint) for motor in elastic], np.int64)
        own, n = structure.size, structure.size + len(elastic)
        rotor = np.zeros(n)
        for motor in inputs.motors:
            if motor.stiffness <= 0.0:
                rotor[structure.joints[names.index(motor.joint)]] = motor.rotor_inertia
        rotor[own:] = [motor.rotor_inertia for motor in elastic]
        drive = structure.joints.copy()
        drive[geared] = own + np.arange(len(elastic))
        stiffness, damping, limit, prescribed = (
            np.zeros(n),
            np.zeros(n),
            np.full(n, np.inf),
            np.zeros(n, bool),
        )
        stiffness[drive], damping[drive] = inputs.stiffness, inputs.damping
        prescribed[structure.joints] = inputs.prescribed
        prescribed[structure.base] = True
        motors = np.zeros(n, np.bool_)
        for motor in inputs.motors:
            place_of = drive[names.index(motor.joint)]
            limit[place_of], motors[place_of] = motor.torque_limit, True
        return System(
            structure,
            _tree(structure, rotor),
            _springs(structure, elastic, structure.joints[geared], n),
            new_drives(n, prescribed, stiffness, damping, limit, motors),
            _loads(structure, inputs),
            constraint_rows(structure),
            drive,
            geared,
        )

    @property
    def size(self) -> int:
        return self.tree.size

    @cached_property
    def names(self) -> tuple[str, ...]:
        joints = [self.structure.freedoms[k].name for k in self.geared]
        return (*self.structure.names, *(f"{name}.rotor" for name in joints))

    @cached_property
    def order_of_state(self) -> Ints:
        """Where the numbers of a state, in the order of `LumpedArm.layout`, stand among positions and then rates."""
        n, joints, elastic = self.size, self.structure.joints, self.structure.elastic
        rotors = np.stack([self.drive, n + self.drive], axis=1).ravel()
        return np.concatenate([joints, n + joints, elastic, n + elastic, rotors]).astype(np.int64)

    @cached_property
    def dynamics(self) -> TreeDynamics:
        return TreeDynamics(self.tree)

    @cached_property
    def condensed(self) -> Condensed:
        return self.new_condensed()

    def new_condensed(self) -> Condensed:
        """Tables of condensed stations with scratch of their own."""
        tables = condense(self.structure, self.size)
        steady_parts(tables, self.tree, self.placed(self.at_start), self.at_start)
        return tables

    @cached_property
    def _motion(self) -> Floats:
        return new_motion(self.size)

    @cached_property
    def before(self) -> Bools:
        """(n + 1, n) whether coordinate i moves body b; row 0 is the base."""
        table = np.zeros((self.size + 1, self.size), np.bool_)
        for i, parent in enumerate(self.tree.parent):
            table[i + 1] = table[parent + 1]
            table[i + 1, i] = True
        return table

    def placed(self, q: Floats) -> Floats:
        """Poses and Jacobian columns of all bodies, `pliant.structures.tree.motion`; good until the next call."""
        place(self.tree, q, self._motion)
        return self._motion

    @cached_property
    def base_pose(self) -> tuple[Floats, Floats]:
        """Rotation and position of the base in the world."""
        base = self.structure.robot.base
        return matrix_of(base.rotation), np.array(base.position, float)

    @cached_property
    def free(self) -> Ints:
        """The coordinates that are not prescribed."""
        return np.flatnonzero(~self.drives.prescribed)

    def elastic_energy(self, q: Floats) -> float:
        """Of fields, gears and the joints' own springs and stops, joule."""
        return spring_energy(self.springs, q) + self._condensed(q)[0]

    def law_slopes(self, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
        """Effort (n,) of dry friction and stops, and minus its derivatives (n,) in positions and rates."""
        effort, stiffness, damping = np.zeros((3, self.size))
        for i, friction, stops in zip(*self.springs.laws):
            against, steepness = friction_force(friction, float(v[i]))
            push, stiffness[i], yielding = stops_slopes(stops, float(q[i]), float(v[i]))
            effort[i], damping[i] = push - against, steepness + yielding
        return effort, stiffness, damping

    def elastic_force(self, q: Floats) -> Floats:
        """Minus the gradient of the elastic energy; stops are left to `law_slopes`."""
        return np.asarray(self._condensed(q)[1] - self.springs.K @ (q - self.springs.rest))

    def elastic_stiffness(self, q: Floats) -> Floats:
        """The second derivative of the elastic energy, (n, n); stops are left to `law_slopes`."""
        if not len(self.condensed.coordinate):
            return self.springs.K
        K = self.springs.K.copy()
        self._condensed(q)
        add_condensed_stiffness(self.condensed, K)
        # the fields bend otherwise when a joint between them turns
        for i in self.condensed.joint.tolist():
            column = self._difference(q, i)
            K[:, i] += column
            K[i, self.condensed.coordinate] += column[self.condensed.coordinate]
        return K

    def _difference(self, q: Floats, i: int) -> Floats:
        """Change of the gradient of condensed stations per coordinate i."""
        step = np.zeros(self.size)
        step[i] = HESSIAN_STEP
        near = self._condensed(q - step)[1] - self._condensed(q + step)[1]
        far = self._condensed(q - 2.0 * step)[1] - self._condensed(q + 2.0 * step)[1]
        return np.asarray((8.0 * near - far) / (12.0 * HESSIAN_STEP))

    def _condensed(self, q: Floats) -> tuple[float, Floats]:
        force = np.zeros(self.size)
        if not len(self.condensed.coordinate):
            return 0.0, force
        return condensed_state(self.condensed, self.tree, self.placed(q), q, force), force

    @cached_property
    def weightless(self) -> Floats:
        """(n, motions) at right angles: free ones that move no mass, in the posture in which the robot starts."""
        free = self.free
        M = self.dynamics.mass_matrix(self.at_start)[np.ix_(free, free)]
        scale = unit_masses(M)
        values, vectors = np.linalg.eigh(M * np.outer(scale, scale))
        motions = np.zeros((self.size, int(np.sum(values <= SINGULAR))))
        motions[free] = scale[:, None] * vectors[:, values <= SINGULAR]
        return np.asarray(np.linalg.qr(motions)[0])

    def refuse_weightless(self) -> None:
        """What moves by itself in time must move a mass."""
        self._refuse(self.weightless)

    def refuse_limp(self) -> None:
        """What moves no mass must have a stiffness, by which it follows the rest without delay."""
        motions = self.weightless
        if not motions.shape[1]:
            return
        K = self.elastic_stiffness(self.at_start) + np.diag(self.drives.gain[:, 0])
        values, vectors = np.linalg.eigh(motions.T @ K @ motions)
        self._refuse(motions @ vectors[:, values <= LIMP * np.abs(K).max(initial=0.0)])

    def _refuse(self, motions: Floats) -> None:
        if not motions.shape[1]:
            return
        # of all these motions, the one that is most of all that of one coordinate
        projector = motions @ motions.T
        share = np.abs(projector[np.argmax(projector.diagonal())])
        names = [self.names[k] for k in np.argsort(-share) if share[k] > TAKES_PART * share.max()][:3]
        ways = ["give what lies behind an inertia in kg m^2", "add a GearMotor", "prescribe the joint"]
        if self.structure.fields and not self.structure.condensed:
            ways.append("neglect station inertia (StationInertia.NEGLECTED, --point-masses)")
        raise InvalidInput(
            f"{' and '.join(repr(name) for name in names)} can move without moving a mass; {', '.join(ways[:-1])}, or"
            f" {ways[-1]}"
        )

    @cached_property
    def at_start(self) -> Floats:
        """Coordinates of the undeformed arm at its initial joint positions."""
        q = np.zeros(self.size)
        q[self.structure.joints] = [freedom.law.initial_position for freedom in self.structure.freedoms]
        q[self.structure.size :] = q[self.structure.joints[self.geared]]
        return q


def _tree(structure: Structure, rotor: Floats) -> Tree:
    bodies, more = structure.bodies, len(rotor) - structure.size
    robot = structure.robot

    def wider(values: Floats) -> Floats:
        return np.concatenate([values, np.zeros((more, *values.shape[1:]))])

    rotation = wider(bodies.rotation)
    rotation[structure.size :] = np.eye(3)
    return new_tree(
        np.append(bodies.parent, np.full(more, ON_BASE)),
        np.append(bodies.kind, np.full(more, TURN_Z)),
        rotation=rotation,
        position=wider(bodies.position),
        mass=wider(bodies.mass),
        center=wider(bodies.center),
        inertia=wider(bodies.inertia),
        rotor=rotor,
        base_rotation=matrix_of(robot.base.rotation),
        base_position=robot.base.position,
        gravity=robot.gravity,
    )


def _springs(structure: Structure, gears: list[MotorPlace], joints: Ints, n: int) -> Springs:
    own = structure.size
    K, D_field, D_joint, rest = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    K[:own, :own], rest[:own] = structure.stiffness, structure.rest
    D_field[:own, :own], D_joint[:own, :own] = structure.field_damping, structure.joint_damping
    for k, (motor, joint) in enumerate(zip(gears, joints)):
        pair = np.ix_([own + k, joint], [own + k, joint])
        twist = np.array([[1.0, -1.0], [-1.0, 1.0]])
        K[pair] += motor.stiffness * twist
        rest[own + k] = rest[joint]
        D_joint[pair] += motor.damping * twist
    return new_springs(n, K, rest, D_field, D_joint, structure.laws)


def load_places(structure: Structure, load: LoadPlace) -> list[tuple[Place, float]]:
    """Where a load acts, and with which part of it."""
    if not load.distributed:
        return [(structure.place(load.at), 1.0)]
    link = structure.link(load.link)
    return list(zip(link.nodes, link.shares.tolist()))


def _loads(structure: Structure, inputs: Inputs) -> Loads:
    """A load that turns with sections of several axes against their bodies becomes several."""
    loads: list[tuple[int, Floats]] = []
    rows: list[tuple[int, Place, float, bool]] = []
    for k, load in enumerate(inputs.loads):
        world = load.frame is Frame.WORLD
        own = len(loads)
        for place_of, share in load_places(structure, load):
            turn = IDENTITY if world else place_of.rotation
            known = [
                i for i, (_, other) in enumerate(loads[own:], own) if np.allclose(turn, other, 0.0, 1e-14)
            ]
            if not known:
                loads.append((k, turn))
            if place_of.body != ON_BASE:
                rows.append((known[0] if known else len(loads) - 1, place_of, share, world))
    body = np.array([place_of.body for _, place_of, _, _ in rows], np.int64)
    wrenches = Wrenches(
        np.array([row for row, _, _, _ in rows], np.int64),
        body,
        np.array([place_of.position for _, place_of, _, _ in rows]).reshape(len(rows), 3),
        np.array([share for _, _, share, _ in rows], float),
        np.array([world for _, _, _, world in rows], np.bool_),
        body,
    )
    forces_only = [""] * len(inputs.loads)
    for row, place_of, _, _ in rows:
        if structure.turned_statically[place_of.body]:
            k = loads[row][0]
            forces_only[k] = inputs.loads[k].name
            if np.linalg.norm(place_of.position) > SAME_POINT:
                raise InvalidInput(
                    f"load '{forces_only[k]}' acts {np.linalg.norm(place_of.position):.3g} m from its station, whose"
                    " turn is no coordinate where station inertia is neglected; move it there, or keep the inertia of"
                    " stations"
                )
    given = np.array([k for k, _ in loads], np.int64)
    turns = np.array([turn for _, turn in loads]).reshape(len(loads), 3, 3)
    return Loads(wrenches, given, turns, tuple(forces_only))
