"""A structure with what is connected to it: the tree with its rotors, springs, drives and loads.

The rotor of an elastic gear is one more coordinate, which turns against nothing: its kinetic energy is that of a motor
that keeps its place ([konno1996] (18)). A rigid gear adds the rotor to the inertia of its joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.dense_algebra import unit_masses
from pliant.mechanics.joint_laws import NO_STOPS
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Inputs, LoadPlace, MotorPlace
from pliant.model.port import Frame
from pliant.structures.places import IDENTITY, Place
from pliant.structures.tree import arrays
from pliant.structures.tree.clouds import mass_of_shapes, new_cloud
from pliant.structures.tree.columns import BODY, NOTHING, PARENT, TRANSLATION_X, TURN_Z
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.flexibility import Condensed, add_condensed_stiffness, condensed_state, steady_parts
from pliant.structures.tree.forces import spring_energy
from pliant.structures.tree.instant import forces_at
from pliant.structures.tree.loops import constraint_rows
from pliant.structures.tree.motion import Bools, Floats, Ints, Tree, new_tree
from pliant.structures.tree.shapes import Shapes, new_shapes
from pliant.structures.tree.structure import ON_BASE, Structure

SAME_MASS = 1e-13  # part of the largest entry of a constant mass matrix that is rounding
SAME_POINT = 1e-9  # m, of a load and its station
SINGULAR = 1e-13  # smallest eigenvalue of the scaled mass matrix of coordinates that move without mass
TAKES_PART = 0.2  # of the largest share in a motion
LIMP = 1e-12  # part of the largest stiffness below which a motion has none
HESSIAN_STEP = 1e-4  # part of a radian or of the reach, for differences of fourth order
SCRATCH = ("shift", "end", "push", "unit", "F", "f", "deflection")  # of condensed stations


@dataclass(frozen=True, eq=False)
class Loads:
    """Wrenches on points of bodies, and which of the given loads, turned how, each of them is."""

    wrenches: arrays.Wrenches
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


class Forces(NamedTuple):
    """On the coordinates (n,), with derivatives (n, n) in positions and rates."""

    total: Floats
    by_position: Floats
    by_rate: Floats


@dataclass(frozen=True, eq=False)
class System:
    """``drive`` (joints,) is the coordinate on which the drive of each joint acts: the joint, or its rotor."""

    structure: Structure
    tree: Tree
    springs: arrays.Springs
    drives: arrays.Drives
    loads: Loads
    loops: arrays.Loops
    shapes: Shapes
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
        stiffness, damping, limit, prescribed = (np.zeros(n), np.zeros(n), np.full(n, np.inf), np.zeros(n, bool))
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
            arrays.new_drives(n, prescribed, stiffness, damping, limit, motors),
            _loads(structure, inputs),
            constraint_rows(structure),
            _shapes(structure, len(elastic)),
            drive,
            geared,
        )

    @property
    def size(self) -> int:
        return len(self.names)

    def joint_values(self, x: Floats) -> Floats:
        """Of the joints of the tree, from those of the coordinates."""
        return self.shapes.S @ x if len(self.shapes.S) else x

    def gathered(self, slope: Floats) -> Floats:
        """A matrix of the coordinates, from one of the joints of the tree."""
        return self.shapes.S.T @ slope @ self.shapes.S if len(self.shapes.S) else slope

    @cached_property
    def turning(self) -> Bools:
        """(n,) coordinates that are angles."""
        if not len(self.shapes.S):
            return self.tree.kind < TRANSLATION_X
        turned = np.zeros(self.size, np.bool_)
        turned[self.structure.joints] = [not freedom.translates for freedom in self.structure.freedoms]
        return turned

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
        return TreeDynamics(self.tree, self.shapes)

    @cached_property
    def condensed(self) -> Condensed:
        """Tables of condensed stations, which nobody writes into: `new_condensed` has scratch."""
        tables, q = self.structure.condense(self.size), self.at_start.copy()
        steady_parts(tables, self.tree, self.placed(q), q)
        return tables

    def new_condensed(self) -> Condensed:
        """The tables with scratch of their own."""
        return self.condensed._replace(**{name: getattr(self.condensed, name).copy() for name in SCRATCH})

    def mechanism(self, drives: arrays.Drives | None = None, servos: arrays.Servos | None = None) -> arrays.Mechanism:
        """Everything that acts on the tree, with scratch of its own."""
        acting = drives or self.drives, self.loads.wrenches, servos, self.loops
        return arrays.new_mechanism(self.tree, self.springs, *acting, self.new_condensed(), self.shapes)

    def stepping(self, servos: arrays.Servos) -> arrays.Mechanism:
        """The same for steps: mass points as clouds, and no frames of shapes to which nothing is attached."""
        whole = self.mechanism(servos=servos)
        if not len(self.shapes.S):
            return whole
        lean = self._lean
        cloud = lean["shapes"].cloud
        own = cloud._replace(scratch=np.zeros_like(cloud.scratch))
        return whole._replace(**{**lean, "shapes": lean["shapes"]._replace(cloud=own)})

    @cached_property
    def _lean(self) -> dict[str, Any]:
        """Tree, wrenches, loops and shapes for steps."""
        tree, wrenches, loops = self.tree, self.loads.wrenches, self.loops
        needed = tree.joints[:, BODY] != NOTHING
        for link in self.structure.clouds:
            needed[link.bodies] = False
        needed[[body for body in (*wrenches.body, *loops.body.ravel()) if body != ON_BASE]] = True
        elastic = np.isin(np.arange(self.size), self.structure.elastic)
        needed |= (self.shapes.S[:, ~elastic] != 0.0).any(axis=1)
        needed[[link.home for link in self.structure.clouds if link.home != ON_BASE]] = True
        needed = self.before[1:][needed].any(axis=0)
        number = np.append(np.cumsum(needed) - 1, ON_BASE)
        mass = self.shapes.m + mass_of_shapes(self.structure.clouds, self.size)
        mass[np.abs(mass) <= SAME_MASS * np.abs(mass).max(initial=0.0)] = 0.0  # modes are orthogonal, but for rounding
        clouds = [link._replace(home=int(number[link.home])) for link in self.structure.clouds]
        joints = tree.joints[needed]
        joints[:, PARENT] = number[joints[:, PARENT]]
        return {
            "tree": tree._replace(joints=joints, facts=tree.facts[needed]),
            "wrenches": wrenches._replace(body=number[wrenches.body]),
            "loops": loops._replace(body=number[loops.body]),
            "shapes": new_shapes(self.shapes.S[needed], mass, new_cloud(clouds, self.size)),
        }

    @cached_property
    def before(self) -> Bools:
        """(joints + 1, joints) whether a joint of the tree moves body b; row 0 is the base."""
        table = np.zeros((self.tree.size + 1, self.tree.size), np.bool_)
        for i, parent in enumerate(self.tree.parent):
            table[i + 1] = table[parent + 1]
            table[i + 1, i] = True
        return table

    def placed(self, q: Floats) -> Floats:
        """Poses and Jacobian columns of the base and all bodies, `pliant.structures.tree.columns`."""
        return self.dynamics.placed(q)

    @cached_property
    def base_pose(self) -> tuple[Floats, Floats]:
        """Rotation and position of the base in the world."""
        base = self.structure.robot.base
        return matrix_of(base.rotation), np.array(base.position, float)

    @cached_property
    def free(self) -> Ints:
        """The coordinates that are not prescribed."""
        return np.flatnonzero(~self.drives.prescribed)

    def target(self, inputs: Inputs, signals: Floats) -> Floats:
        """(n, 3) what drives the coordinates, from the signals (joints, 3) of the joints."""
        target, prescribed = np.zeros((self.size, 3)), np.array(inputs.prescribed, np.bool_)
        target[self.drive] = signals
        target[self.structure.joints[prescribed]] = signals[prescribed]
        return target

    def forces(self, q: Floats, v: Floats, target: Floats, loads: Floats) -> Forces:
        """Of springs, joint laws, drives towards ``target`` (n, 3) and given loads (k, 6)."""
        n, mechanism = self.size, self.mechanism()
        step = arrays.new_step(mechanism)
        step.q_mid[:], step.w[:] = q, v
        signals = arrays.Signals(target, np.zeros((n, 2)), self.loads.in_body_axes(loads))
        found = Forces(step.residual, np.empty((n, n)), np.empty((n, n)))
        rows = self.tree.size
        by_joint = np.zeros((rows, rows)) if len(self.shapes.S) else found.by_position
        forces_at(mechanism, signals, step, (found.by_position, found.by_rate, by_joint))
        if len(self.shapes.S):
            return found._replace(by_position=found.by_position + self.gathered(by_joint))
        return found._replace(by_position=found.by_position - self.stiffness_between(q))

    @cached_property
    def without_stops(self) -> System:
        """The same, but for stops of joints."""
        laws = self.springs.laws._replace(stops=np.tile(NO_STOPS, (len(self.springs.laws.stops), 1)))
        return replace(self, springs=self.springs._replace(laws=laws))

    def elastic_energy(self, q: Floats) -> float:
        """Of fields, gears and the joints' own springs and stops, joule."""
        return spring_energy(self.springs, q) + self._condensed(q)[0]

    def elastic_stiffness(self, q: Floats) -> Floats:
        """The second derivative of the elastic energy without stops, (n, n)."""
        K = self.springs.K + self.stiffness_between(q)
        if len(self.condensed.coordinate):
            add_condensed_stiffness(self._condensed(q)[2], K)
        return K

    def stiffness_between(self, q: Floats) -> Floats:
        """(n, n) of condensed fields that bend otherwise when a joint between them turns, by differences."""
        K, stations = np.zeros((self.size, self.size)), self.condensed.coordinate
        for i in self.condensed.joint.tolist():
            step = HESSIAN_STEP * np.eye(self.size)[i]
            near, far = (self._condensed(q - k * step)[1] - self._condensed(q + k * step)[1] for k in (1.0, 2.0))
            column = (8.0 * near - far) / (12.0 * HESSIAN_STEP)
            K[:, i] += column
            K[i, stations] += column[stations]
        return K

    def _condensed(self, q: Floats) -> tuple[float, Floats, Condensed]:
        """Energy and forces (n,) of condensed fields, and tables that hold their deflections."""
        force = np.zeros(self.size)
        if not len(self.condensed.coordinate):
            return 0.0, force, self.condensed
        tables = self.new_condensed()
        return condensed_state(tables, self.tree, self.placed(q), q, force), force, tables

    def condensed_force(self, q: Floats) -> Floats:
        """(n,) of condensed fields."""
        return self._condensed(q)[1]

    def deflections(self, q: Floats) -> Floats:
        """(fields, 6) of condensed fields, in their axes."""
        return self._condensed(q)[2].deflection

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
        ways += self.structure.remedies
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
    """With bodies without mass for the rotors of elastic gears; ``rotor`` has a number for each coordinate."""
    bodies, robot, more = structure.bodies, structure.robot, len(rotor) - structure.size
    own = len(bodies.parent)
    if structure.shapes is not None:
        # each of the rotors turns one joint alone
        rotor = np.append((structure.shapes == 1.0) @ rotor[: structure.size], rotor[structure.size :])
    columns = {
        name: np.concatenate([column, np.zeros((more, *column.shape[1:]))])
        for name, column in vars(bodies).items()
        if name not in ("parent", "kind")
    }
    columns["rotation"][own:] = np.eye(3)
    return new_tree(
        np.append(bodies.parent, np.full(more, ON_BASE)),
        np.append(bodies.kind, np.full(more, TURN_Z)),
        **columns,
        rotor=rotor,
        base_rotation=matrix_of(robot.base.rotation),
        base_position=robot.base.position,
        gravity=robot.gravity,
    )


def _shapes(structure: Structure, rotors: int) -> Shapes:
    """How coordinates move the joints of the tree; rotors of elastic gears are joints of their own behind them."""
    if structure.shapes is None:
        return new_shapes()
    S, m = structure.shapes, structure.more_mass
    rows, n = S.shape
    whole, more = np.eye(rows + rotors, n + rotors, n - rows), np.zeros((n + rotors, n + rotors))
    whole[:rows, :n], more[:n, :n] = S, m
    return new_shapes(whole, more)


def _springs(structure: Structure, gears: list[MotorPlace], joints: Ints, n: int) -> arrays.Springs:
    own = structure.size
    K, D_field, D_joint, rest = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    K[:own, :own], D_field[:own, :own] = structure.elastic_stiffness, structure.elastic_damping
    for column, freedom in zip(structure.joints, structure.freedoms):
        D_joint[column, column] = freedom.law.damping
        if freedom.law.spring:
            K[column, column] += freedom.law.spring.stiffness
            rest[column] = freedom.law.spring.rest_position
    for k, (motor, joint) in enumerate(zip(gears, joints)):
        pair = np.ix_([own + k, joint], [own + k, joint])
        twist = np.array([[1.0, -1.0], [-1.0, 1.0]])
        K[pair] += motor.stiffness * twist
        rest[own + k] = rest[joint]
        D_joint[pair] += motor.damping * twist
    return arrays.new_springs(n, K, rest, D_field, D_joint, structure.laws)


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
            known = [i for i, (_, other) in enumerate(loads[own:], own) if np.allclose(turn, other, 0.0, 1e-14)]
            if not known:
                loads.append((k, turn))
            if place_of.body != ON_BASE:
                rows.append((known[0] if known else len(loads) - 1, place_of, share, world))
    load_of, at, part, in_world = list(zip(*rows)) or [()] * 4
    body = np.array([place_of.body for place_of in at], np.int64)
    points = np.array([place_of.position for place_of in at]).reshape(len(rows), 3)
    wrenches = arrays.Wrenches(
        np.array(load_of, np.int64), body, points, np.array(part, float), np.array(in_world, np.bool_)
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
