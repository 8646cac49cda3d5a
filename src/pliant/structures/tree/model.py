"""The equations of motion in the blocks of [konno1996].

    tau = M11 theta'' + M12 e'' + h1 + g1 ,      0 = M21 theta'' + M22 e'' + h2 + g2 + K e          (32), (39)

theta are the joint coordinates, e the deflections of all fields. Equations (38) and (41) of the paper print J_e^T R J_e
where M21 = sum J_e^T R J_theta must stand.

A compiled arm in minimal coordinates: joint positions and deflections of fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput
from pliant.model.arm import ArmFacts
from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Beyond, Inputs, LoadPlace, refuse_beyond
from pliant.model.state import Block, Layout, Observation
from pliant.robot import Robot
from pliant.robot.robot import nearest
from pliant.structures.tree.equilibrium import find_equilibrium
from pliant.structures.tree.flexibility import condensed_state
from pliant.structures.tree.joint_wrenches import joint_wrenches
from pliant.structures.tree.linearise import linearise
from pliant.structures.tree.loops import close, fitted
from pliant.structures.tree.observe import (
    TOO_BENT,
    load_flows,
    neglected_speed,
    observe,
    poses_of,
    shape_table,
)
from pliant.structures.tree.stepper import Stepper
from pliant.structures.tree.structure import ON_BASE, Floats, Structure
from pliant.structures.tree.system import System


class TreeFormulation(Protocol):
    """A choice that compiles robots into minimal coordinates."""

    def structure(self, robot: Robot, moving_base: bool = False) -> Structure: ...


@dataclass(frozen=True, eq=False)
class StationJacobian:
    """Velocity and spin (12) of a station in world axes: J_theta (6, joints) and J_e (6, deflections)."""

    name: str
    mass: float
    J_theta: Floats
    J_e: Floats


@dataclass(frozen=True, eq=False)
class Blocks:
    """At one state; ``K`` e are the forces of the fields, K constant unless station inertia is neglected.

    ``theta`` and ``e`` name rows and columns.
    """

    M11: Floats
    M12: Floats
    M21: Floats
    M22: Floats
    h1: Floats
    h2: Floats
    g1: Floats
    g2: Floats
    K: Floats
    theta: tuple[str, ...]
    e: tuple[str, ...]
    stations: tuple[StationJacobian, ...]

    def station(self, name: str) -> StationJacobian:
        for each in self.stations:
            if each.name == name:
                return each
        raise InvalidInput(
            f"stations: the arm has no station '{name}'; {nearest(name, [each.name for each in self.stations])}"
        )


def blocks(system: System, q: Floats, v: Floats) -> Blocks:
    """The blocks at positions q and rates v of all coordinates."""
    structure, dynamics = system.structure, system.dynamics
    theta, e = structure.joints, structure.elastic
    M = dynamics.mass_matrix(q)
    gravity = dynamics.gravity(q)
    h = dynamics.bias(q, v) - gravity
    K = system.elastic_stiffness(q)
    stations = []
    for station in structure.stations:
        J = np.zeros((6, system.size))
        if station.place.body >= 0:
            J = dynamics.jacobian(q, station.place.body, station.place.position)
        stations.append(StationJacobian(station.name, station.mass, J[:, theta], J[:, e]))
    return Blocks(
        M[np.ix_(theta, theta)], M[np.ix_(theta, e)], M[np.ix_(e, theta)], M[np.ix_(e, e)],
        h[theta], h[e], gravity[theta], gravity[e], K[np.ix_(e, e)],
        tuple(structure.names[k] for k in theta), tuple(structure.names[k] for k in e), tuple(stations),
    )  # fmt: skip


def internal_forces(
    system: System, position: ArrayLike, rate: ArrayLike, acceleration: ArrayLike
) -> dict[str, Floats]:
    """Forces and moments (6,) of every field of an arm that moves without deflection, equation (41).

    In the axes of the near end of the field, on its far end, from inside: what the field would carry by K e where it
    deflects, and what holds it straight where it does not.
    """
    structure = system.structure
    motion = np.zeros((3, system.size))
    for row, (word, given) in enumerate(
        (("position", position), ("rate", rate), ("acceleration", acceleration))
    ):
        values = np.asarray(given, float)
        if values.shape != (len(structure.joints),):
            names = ", ".join(freedom.name for freedom in structure.freedoms)
            raise InvalidInput(f"{word} has shape {values.shape}; give a number for each of {names}")
        motion[row, structure.joints] = values
    wrenches, (R, x) = system.dynamics.wrenches(*motion), system.dynamics.poses(motion[0])
    forces = {}
    for each in structure.fields:
        near = each.root
        behind = int(each.columns[0]) if len(each.columns) else near.body
        turn, origin = (R[near.body], x[near.body]) if near.body != ON_BASE else system.base_pose
        far = origin + turn @ (near.position + near.rotation @ each.far[:3, 3])
        force, moment = wrenches[behind, :3], wrenches[behind, 3:] - np.cross(far, wrenches[behind, :3])
        axes = (turn @ near.rotation).T
        forces[each.name] = -np.concatenate([axes @ force, axes @ moment])
    return forces


CARRIED = (Beyond.MOTOR, Beyond.LOAD_OFF_THE_TIP, Beyond.LOAD_AT_A_STATION)
REMEDY = "compile the robot with PoseElement()"


@dataclass(frozen=True, eq=False, repr=False)
class LumpedArm(ArmFacts):
    """States: positions and rates of the joints, deflections of the fields and their rates, rotors of gear motors."""

    robot: Robot
    formulation: TreeFormulation
    structure: Structure
    _systems: dict[tuple[object, ...], System] = field(default_factory=dict)
    _shapes: dict[tuple[int, float], tuple[Floats, ...]] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout:
        dofs, elastic = len(self.joint_names), len(self.structure.elastic)
        deflections = (
            Block("deflection", (elastic,), "m or rad", "deflections of the fields"),
            Block("deflection_rate", (elastic,), "m/s or rad/s", "rates of the deflections"),
        )
        return Layout(
            (
                Block("joint_position", (dofs,), "rad or m", "joint positions"),
                Block("joint_rate", (dofs,), "rad/s or m/s", "joint rates"),
                *(deflections if elastic else ()),
                Block("rotor", (dofs, 2), "rad, rad/s", "rotor angle and rate of gear motors, joint side"),
            )
        )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(freedom.name for freedom in self.structure.freedoms)

    @property
    def deflection_names(self) -> tuple[str, ...]:
        """Of the block ``deflection``: ``<link>.field[<k>].dy`` and so on."""
        return self.structure.elastic_names

    @property
    def highest_order(self) -> int:
        """Of the methods in time that close the energy account."""
        return 2

    def system(self, inputs: Inputs, moving_base: bool = False) -> System:
        """The arm with what is connected to it; made once for all inputs that differ in time only.

        With a ``moving_base`` its motion is that of six more coordinates, which are prescribed.
        """
        refuse_beyond(inputs, CARRIED, REMEDY)
        key = (moving_base, inputs.prescribed, inputs.stiffness, inputs.damping, inputs.motors, inputs.loads)
        if key not in self._systems:
            self._systems[key] = System.of(self.loose_structure if moving_base else self.structure, inputs)
        return self._systems[key]

    @cached_property
    def loose_structure(self) -> Structure:
        """The same arm on a base that moves."""
        return self.formulation.structure(self.robot, moving_base=True)

    @cached_property
    def bare(self) -> System:
        """The arm alone, whose coordinates may lack a mass that a motor would give them."""
        return System.of(self.structure, self.inputs)

    def coordinates(self, system: System, state: Floats) -> tuple[Floats, Floats]:
        """Positions and rates of all coordinates of a system."""
        part, structure = self.layout.part, system.structure
        q, v = np.zeros(system.size), np.zeros(system.size)
        q[structure.joints], v[structure.joints] = part(state, "joint_position"), part(state, "joint_rate")
        if len(structure.elastic):
            q[structure.elastic] = part(state, "deflection")
            v[structure.elastic] = part(state, "deflection_rate")
        q[structure.size :], v[structure.size :] = part(state, "rotor")[system.geared].T
        return q, v

    def state_of(self, system: System, q: Floats, v: Floats) -> Floats:
        """The state of positions and rates of all coordinates."""
        state: Floats = np.concatenate([q, v])[system.order_of_state]
        return state

    def states_of(self, system: System, q: Floats, v: Floats) -> Floats:
        """States (n, size) of positions and rates (n, coordinates)."""
        states: Floats = np.concatenate([q, v], axis=1)[:, system.order_of_state]
        return states

    def initial_state(
        self, position: Floats | None = None, rate: Floats | None = None, held: tuple[bool, ...] | None = None
    ) -> Floats:
        """Undeformed links at joint positions and rates near the given ones that close all loops."""
        laws = [freedom.law for freedom in self.structure.freedoms]
        q, v = np.zeros(self.bare.size), np.zeros(self.bare.size)
        q[self.structure.joints] = [law.initial_position for law in laws] if position is None else position
        v[self.structure.joints] = [law.initial_rate for law in laws] if rate is None else rate
        if len(self.bare.loops.measure):
            stays = np.zeros(len(laws), np.bool_) if held is None else np.array(held, np.bool_)
            moving = self.structure.joints[~stays]
            q = close(self.bare, q, moving)
            v = fitted(self.bare, q, v, moving)
        return self.state_of(self.bare, q, v)

    def undeformed(self, positions: Floats) -> Floats:
        """States (n, size) at rest with undeformed links at exactly these joint positions; loops may be open there."""
        q = np.zeros((len(positions), self.bare.size))
        q[:, self.structure.joints] = positions
        return self.states_of(self.bare, q, np.zeros_like(q))

    def slaved_turns(self, system: System, q: Floats) -> dict[int, Floats]:
        """Of each body behind fields whose turns are no coordinates: its turn (3, n) in the world per coordinate."""
        if not self.structure.condensed:
            return {}
        tables, motion = system.condensed, system.placed(q).copy()
        own, ends = (
            np.zeros((len(tables.home), 3, system.size)),
            motion[tables.home + 1, :9].reshape(-1, 3, 3),
        )
        frames = ends @ tables.frame[:, :9].reshape(-1, 3, 3)
        for column in tables.coordinate.tolist():
            one = q.copy()
            one[tables.coordinate] = 0.0
            one[column] = 1.0
            place_of = system.placed(one)
            condensed_state(tables, system.tree, place_of, one, np.zeros(system.size))
            own[:, :, column] = np.einsum("kij,kj->ki", frames, tables.deflection[:, 3:])
        turns = {}
        for body in range(system.size):
            before = np.array([bool(system.before[body + 1, home]) for home in tables.home])
            if before.any():
                turns[body] = own[before].sum(axis=0)
        return turns

    def shape_at(self, k: int, station: float) -> tuple[Floats, ...]:
        """How field k looks at a station; see `observe.shape_table`."""
        if (k, station) not in self._shapes:
            self._shapes[k, station] = shape_table(self, k, station)
        return self._shapes[k, station]

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        return load_flows(self, np.atleast_2d(states), loads)

    def tip(self, states: Floats) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of the tip of the last link."""
        return poses_of(self, np.atleast_2d(states)).at(self.structure.tip)

    def energy(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Kinetic, elastic and gravity potential energy of many states, joule; without what is connected."""
        rows = []
        for state in np.atleast_2d(states):
            q, v = self.coordinates(self.bare, state)
            kinetic, potential = self.bare.dynamics.energies(q, v)
            rows.append((kinetic, self.bare.elastic_energy(q), potential))
        kinetic, elastic, potential = np.array(rows).T
        return kinetic, elastic, potential

    def blocks(self, state: Floats | None = None, inputs: Inputs | None = None) -> Blocks:
        """M11 to K and the Jacobians of all stations, equations (12) to (39) [konno1996], by default at the start."""
        system = self.bare if inputs is None else self.system(inputs)
        return blocks(system, *self.coordinates(system, self.initial_state() if state is None else state))

    def internal_forces(
        self, position: ArrayLike, rate: ArrayLike, acceleration: ArrayLike
    ) -> dict[str, Floats]:
        """What every field carries while the arm moves without deflection, equation (41) [konno1996]."""
        return internal_forces(self.bare, position, rate, acceleration)

    def stepper(self, run: Run) -> Stepper:
        return Stepper(self, run)

    def transmitted(self, record: Record, inputs: Inputs) -> dict[str, Floats]:
        """The wrenches of all joints at the saved times."""
        return joint_wrenches(self, record, inputs)

    def consistency_error(self, record: Record) -> Consistency:
        """What straight fields neglect; potential energy and the work of gravity follow from the same coordinates."""
        return Consistency(neglected_speed(self, record.states), np.zeros(len(record.time)), TOO_BENT)

    def equilibrium(
        self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
    ) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time."""
        return find_equilibrium(self, start, inputs, time, load_steps, accuracy)

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Of deviations from the motion through a state."""
        return linearise(self, state, inputs, time)
