"""A compiled arm in minimal coordinates: joint positions and elastic coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from pliant.model.arm import ArmFacts
from pliant.model.contract import COARSE, Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Beyond, Inputs, LoadPlace, refuse_beyond
from pliant.model.state import Block, Layout, LinkObservation, Observation, ends_of
from pliant.robot import Robot
from pliant.structures.tree.equilibrium import find_equilibrium
from pliant.structures.tree.joint_wrenches import joint_wrenches
from pliant.structures.tree.linearise import linearise
from pliant.structures.tree.loops import close, fitted
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.observe import (
    Bent,
    Poses,
    TreeSection,
    load_flows,
    observe,
    observe_rigid_link,
    poses_of,
    rigid_section,
)
from pliant.structures.tree.step_equations import Method, TreeStep, step_equations, step_inputs, step_unknowns
from pliant.structures.tree.stepper import Stepper
from pliant.structures.tree.structure import LinkPlaces, Structure
from pliant.structures.tree.system import System


class TreeFormulation(Protocol):
    """A choice that compiles robots into minimal coordinates."""

    def structure(self, robot: Robot, moving_base: bool = False) -> Structure: ...


CARRIED = (Beyond.MOTOR, Beyond.LOAD_OFF_THE_TIP, Beyond.LOAD_AT_A_STATION)
REMEDY = "compile the robot with PoseElement()"
PAIRS = (("joint_position", "joint_rate"), ("deflection", "deflection_rate"))
VISIBLE = 1e-2  # part of the reach that a displacement may lack
SMALL = 1e-4  # rad or m: a displacement that balances truncation and round-off of a difference


@dataclass(frozen=True, eq=False, repr=False)
class TreeArm(ArmFacts):
    """States: positions and rates of the joints, deflections of the fields and their rates, rotors of gear motors."""

    robot: Robot
    formulation: TreeFormulation
    structure: Structure
    # constants that are found when they are asked for: two threads may both find one, and keep either
    _systems: dict[tuple[object, ...], System] = field(default_factory=dict, init=False)

    elastic_words = ("m or rad", "m/s or rad/s", "deflections of the fields")
    too_bent = COARSE

    @cached_property
    def layout(self) -> Layout:
        dofs, elastic = len(self.joint_names), len(self.structure.elastic)
        unit, rate_unit, word = self.elastic_words
        deflections = (
            Block("deflection", (elastic,), unit, word),
            Block("deflection_rate", (elastic,), rate_unit, f"rates of the {word.split()[0]}"),
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
    def highest_order(self) -> int:
        """Of the methods in time whose energy ledger balances."""
        return 2

    def system(self, inputs: Inputs, moving_base: bool = False) -> System:
        """The arm with what is connected to it; made once for all inputs that differ in time only.

        With a ``moving_base`` its motion is that of six more coordinates, which are prescribed.
        """
        refuse_beyond(inputs, CARRIED, REMEDY)
        key = (moving_base, inputs.prescribed, inputs.stiffness, inputs.damping, inputs.motors, inputs.loads)
        known = self._systems.get(key)
        if known is None:
            known = System.of(self.loose_structure if moving_base else self.structure, inputs)
            self._systems[key] = known
        return known

    @cached_property
    def loose_structure(self) -> Structure:
        """The same arm on a base that moves."""
        return self.formulation.structure(self.robot, moving_base=True)

    @cached_property
    def bare(self) -> System:
        """The arm alone, whose coordinates may lack a mass that a motor would give them."""
        return System.of(self.structure, self.inputs)

    def coordinates(self, system: System, state: Floats) -> tuple[Floats, Floats]:
        """Positions and rates (..., coordinates) of all coordinates of a system, of states (..., size)."""
        part, structure = self.layout.part, system.structure
        q, v = np.zeros((2, *state.shape[:-1], system.size))
        q[..., structure.joints], v[..., structure.joints] = (part(state, "joint_position"), part(state, "joint_rate"))
        if len(structure.elastic):
            q[..., structure.elastic] = part(state, "deflection")
            v[..., structure.elastic] = part(state, "deflection_rate")
        rotors = part(state, "rotor")[..., system.geared, :]
        q[..., structure.size :], v[..., structure.size :] = rotors[..., 0], rotors[..., 1]
        return q, v

    def state_of(self, system: System, q: Floats, v: Floats) -> Floats:
        """States (..., size) of positions and rates (..., coordinates) of all coordinates."""
        return np.concatenate([q, v], axis=-1)[..., system.order_of_state]

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
        return self.state_of(self.bare, q, np.zeros_like(q))

    @cached_property
    def seen_bodies(self) -> Ints:
        """Bodies whose frames are asked for; the base is -1."""
        return np.arange(-1, self.bare.tree.size)

    def static_turns(self, system: System, q: Floats) -> dict[int, Floats]:
        """Of each body behind turns that are no coordinates: its turn (3, n) in the world per coordinate."""
        return {}

    def static_turns_by(self, system: System, q: Floats, displaced: Floats) -> Floats:
        """The same turns (bodies + 1, 3), the base last, by displacements of all coordinates at once."""
        return np.zeros((system.size + 1, 3))

    def observe_links(self, states: Floats, poses: Poses, stations: int) -> tuple[LinkObservation, ...]:
        """Every link, at equally spaced stations where it bends."""
        return tuple(observe_rigid_link(self, poses, link) for link in self.structure.links)

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def link_ends(self, states: Floats) -> tuple[Floats, Floats]:
        return ends_of(self.observe_links(states, poses_of(self, states), 2))

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        return load_flows(self, np.atleast_2d(states), loads)

    def section_at(self, link: str, station: float) -> Any:
        """By the frames of the tree; turns that follow statically are found with all others."""
        if self.structure.condensed:
            return super().section_at(link, station)
        places = self.structure.link(link)
        return TreeSection(self, places.root, self.bent_section(places, station))

    def bent_section(self, link: LinkPlaces, station: float) -> Bent:
        return rigid_section(self, link, station)

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

    def stepper(self, run: Run) -> Stepper:
        return Stepper(self, run)

    def transmitted(self, record: Record, inputs: Inputs) -> dict[str, Floats]:
        """The wrenches of all joints at the saved times."""
        return joint_wrenches(self, record, inputs)

    def consistency_error(self, record: Record) -> Consistency:
        """What deflections neglect; potential energy and the work of gravity follow from the same coordinates."""
        return Consistency(self.neglected_speed(record.states), np.zeros(len(record.time)), self.too_bent)

    def neglected_speed(self, states: Floats) -> Floats:
        """Rate (n,) of the displacement that the tip lacks, metre per second."""
        if not len(self.structure.elastic):
            return np.zeros(len(states))
        part, slices = self.layout.part, self.layout.slices
        rates = [part(states, rate) for _, rate in PAIRS]
        step = SMALL / max(1e-12, *(float(np.abs(rate).max(initial=0.0)) for rate in rates))

        def shifted(by: float) -> Floats:
            moved = states.copy()
            for (place, _), rate in zip(PAIRS, rates):
                moved[:, slices[place]] += by * rate
            return self.neglected_displacement(moved)

        return np.asarray(np.linalg.norm(shifted(step) - shifted(-step), axis=1) / (2.0 * step))

    def neglected_displacement(self, states: Floats) -> Floats:
        """Where the tip ought to be, from where it is, (n, 3) in the world."""
        return np.zeros((len(states), 3))

    def beyond_reach(self, state: Floats, turning: float) -> str:
        """Where the tip lacks more than users would see."""
        lacks = float(np.linalg.norm(self.neglected_displacement(state[None])))
        if not lacks > VISIBLE * self.reach:
            return ""
        return f"the tip ought to lie {lacks:.3g} m elsewhere, {lacks / self.reach:.2g} of the reach: {self.too_bent}"

    def equilibrium(self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time."""
        return find_equilibrium(self, start, inputs, time, load_steps, accuracy)

    def step_equations(
        self, start: Floats, unknowns: Floats, inputs: Inputs, time: float, step: float, method: Method
    ) -> TreeStep:
        """A step from a state as equations with exact derivatives; see `structures.tree.step_equations`."""
        u = step_inputs(inputs, time, step, method)
        return step_equations(self, start, unknowns, u, inputs, step, method)

    def step_unknowns(
        self, start: Floats, inputs: Inputs, time: float, step: float, method: Method
    ) -> tuple[Floats, Floats]:
        """The unknowns of these equations that the compiled step finds, and the state at its end."""
        return step_unknowns(self, start, step_inputs(inputs, time, step, method), inputs, step, method)

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Of deviations from the motion through a state."""
        return linearise(self, state, inputs, time)
