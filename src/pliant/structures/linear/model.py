"""Joints of pseudo-spectral arms that carry nothing that has inertia along them.

A compiled arm of pseudo-spectral links.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.dense_algebra import on_one_core
from pliant.mechanics.shape_functions import orthonormal_values
from pliant.model.arm import ArmFacts
from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Beyond, Inputs, LoadPlace, refuse_beyond
from pliant.model.linear import LinearPortHamiltonian
from pliant.model.linear.port import block_diagonal
from pliant.model.port import Frame
from pliant.model.state import Block, Layout, Observation
from pliant.robot import BASE, End, Joint, RevoluteJoint, Robot
from pliant.structures.linear import arrays
from pliant.structures.linear import step_equations as steps
from pliant.structures.linear.arrays import Assembly, Body, Floats, Mechanics, NormalForm, axis_of
from pliant.structures.linear.equations import Equations, equations, load_columns
from pliant.structures.linear.equilibrium import find_equilibrium
from pliant.structures.linear.linearise import linear_system, linearise
from pliant.structures.linear.observe import Kinematics, LinearSection, observe
from pliant.structures.linear.stepper import Stepper, products
from pliant.structures.massless import refuse_massless
from pliant.structures.small_deviations import drawn_tip_velocity, without_centrifugal_stiffness


class CollocationPoints(Protocol):
    """Where the polynomials of a link are sampled, as fractions of its length."""

    def efforts(self, degree: int) -> Floats: ...
    def states(self, degree: int) -> Floats: ...


class PolynomialFormulation(Protocol):
    """A choice that compiles robots into links of one polynomial each."""

    @property
    def degree(self) -> int: ...
    @property
    def points(self) -> CollocationPoints: ...


def refuse_massless_joints(arm: Assembly, own: Mechanics) -> None:
    """Refuse joints whose motion has no equation; links do not bend meanwhile, rotors of elastic gears rest."""
    n, moving = own.coefficients, np.flatnonzero(~own.prescribed)
    T = np.zeros((len(own.M), len(moving)))
    T[n + moving, np.arange(len(moving))] = 1.0
    T[:n] = -np.linalg.solve(own.G[:n, :n], own.G[:n] @ T)
    mass = T.T @ own.M @ T
    translates = np.array([arm.joints[k].freedoms[0].translates for k in moving], np.bool_)
    most = [mass.diagonal()[translates == kind].max(initial=0.0) for kind in (False, True)]
    refuse_massless(mass, np.where(translates, most[1], most[0]), [arm.joints[k].name for k in moving])


CARRIED = (Beyond.MOTOR, Beyond.LOAD_OFF_THE_TIP, Beyond.LOAD_AT_A_STATION)
NOT_SMALL = "the arm bends or turns too far for a linear model; compile the robot with GeometricallyExact()"
LARGE_DEFLECTION = 0.1  # part of the reach; sines and shortening that a linear model lacks are a hundredth of it
REMEDY = "compile the robot with PoseElement()"


@dataclass(frozen=True, eq=False, repr=False)
class PseudoSpectralArm(ArmFacts):
    """States: momenta and strains at the collocation points of all flexible links, joints and rotors."""

    robot: Robot
    formulation: PolynomialFormulation
    assembly: Assembly
    substitution: str
    kept_joints: tuple[str, ...] = ()  # whose positions the equations take as those at the start
    _prepared: dict[tuple[object, ...], tuple[NormalForm, Equations]] = field(default_factory=dict)
    _to_state: dict[int, Floats] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout:
        points, dofs = self.formulation.degree * len(self.flexible), len(self.joint_names)
        return Layout(
            (
                Block("momentum", (points, 6), "kg/s, kg m/s", "momentum per length at every point, body axes"),
                Block("strain", (points, 6), "1, 1/m", "strain at every point, from the rest shape"),
                Block("joint_position", (dofs,), "rad or m", "joint positions"),
                Block("joint_rate", (dofs,), "rad/s or m/s", "joint rates"),
                Block("rotor", (dofs, 2), "rad, rad/s", "rotor angle and rate of gear motors, joint side"),
            )
        )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.assembly.joints)

    @property
    def highest_order(self) -> int:
        """Of the methods in time that this model takes."""
        return 8

    @property
    def tip_body(self) -> Body:
        """The last link of the arm."""
        return self.assembly.body(self.robot.tip_link)

    @cached_property
    def flexible(self) -> tuple[Body, ...]:
        return tuple(body for body in self.assembly.bodies if body.spaces is not None)

    @cached_property
    def kinematics(self) -> Kinematics:
        return Kinematics(self.robot, self.formulation.degree, self.assembly.sag is not None)

    @cached_property
    def _to_points(self) -> Floats:
        """Values at the collocation points from coefficients, of all flexible links one after the other."""
        degree = self.formulation.degree
        at = self.formulation.points.states(degree)
        blocks = [orthonormal_values(degree, at, self.length(body.name)) for body in self.flexible]
        return block_diagonal(*blocks)

    @cached_property
    def _from_points(self) -> Floats:
        return np.asarray(np.linalg.inv(self._to_points))

    def length(self, name: str) -> float:
        return float(self.kinematics.stations(name, 2)[0][-1])

    def _values(self, coefficients: Floats, turned: Floats) -> Floats:
        """Coefficients (n, points x 6) at the collocation points, or back, by ``turned``."""
        n = len(coefficients)
        table = np.einsum("pk,nkc->npc", turned, coefficients.reshape(n, len(turned), 6))
        return np.asarray(table.reshape(n, 6 * len(turned)))

    def strain_coefficients(self, states: Floats) -> Floats:
        """(n, points x 6)"""
        strain = self.layout.part(states, "strain")
        return self._values(strain.reshape(len(states), -1), self._from_points)

    def twist_coefficients(self, states: Floats) -> Floats:
        """Of the projected twists, (n, points x 6)."""
        momentum = self.layout.part(states, "momentum").reshape(len(states), -1)
        coefficients = self._values(momentum, self._from_points)
        for body in self.flexible:
            coefficients[:, body.rows] = coefficients[:, body.rows] @ body.momentum_to_twist
        return coefficients

    def unknowns(self, states: Floats) -> Floats:
        """The velocities u of the assembly, (n, unknowns)."""
        rates = self.layout.part(states, "joint_rate")
        u = rates @ self.assembly.joint_axes.T
        u[:, : len(self.assembly.G)] = self.twist_coefficients(states)
        return u

    def pack(self, twist: Floats, strain: Floats, q: Floats, rate: Floats, rotor: Floats) -> Floats:
        """State vectors (n, size) from coefficients of twists and strains, joints and rotors (n, joints, 2)."""
        momentum = twist.copy()
        for body in self.flexible:
            momentum[:, body.rows] = np.linalg.solve(body.momentum_to_twist, twist[:, body.rows].T).T
        fields = (self._values(coefficients, self._to_points) for coefficients in (momentum, strain))
        return np.concatenate([*fields, q, rate, rotor.reshape(len(q), 2 * rotor.shape[1])], axis=1)

    def initial_state(
        self, position: Floats | None = None, rate: Floats | None = None, held: tuple[bool, ...] | None = None
    ) -> Floats:
        """Undeformed links at the given joint positions and rates; the robot's own initial values by default."""
        laws = [joint.freedoms[0].law for joint in self.assembly.joints]
        q = np.array([law.initial_position for law in laws] if position is None else position, float)
        qd = np.array([law.initial_rate for law in laws] if rate is None else rate, float)
        arm, n = self.assembly, len(self.assembly.G)
        rigid = -np.linalg.solve(arm.G[:, :n], arm.G @ arm.joint_axes @ qd)
        rotor = np.stack([q, qd], axis=1)
        return np.asarray(self.pack(rigid[None], np.zeros((1, n)), q[None], qd[None], rotor[None])[0])

    def undeformed(self, positions: Floats) -> Floats:
        """States (n, size) at rest with undeformed links at exactly these joint positions."""
        straight, still = np.zeros((len(positions), len(self.assembly.G))), np.zeros_like(positions)
        return self.pack(straight, straight, positions, still, np.stack([positions, still], axis=2))

    @on_one_core
    def equations(self, inputs: Inputs) -> tuple[NormalForm, Equations]:
        """The normal form with these inputs; made once for all runs whose inputs differ in time only."""
        refuse_beyond(inputs, CARRIED, REMEDY)
        key = (inputs.prescribed, inputs.stiffness, inputs.damping, inputs.motors, inputs.loads)
        if key not in self._prepared:
            own = arrays.mechanics(self.assembly, inputs)
            refuse_massless_joints(self.assembly, own)
            form = arrays.normal_form(own)
            self._prepared[key] = form, equations(self.assembly, form, inputs.loads)
        return self._prepared[key]

    def normal_state(self, form: NormalForm, state: Floats) -> tuple[Floats, Floats]:
        """x of the equations and the rates of prescribed joints, from a state vector."""
        own = form.mechanics
        q, qd = self.layout.part(state, "joint_position"), self.layout.part(state, "joint_rate")
        rotor = self.layout.part(state, "rotor")[own.geared]
        positions = np.concatenate([q, rotor[:, 0]])
        v = np.concatenate([self.twist_coefficients(state[None])[0], qd, rotor[:, 1]])
        e = np.concatenate([self.strain_coefficients(state[None])[0], own.span @ positions - own.rest])
        x = np.concatenate([(v[None] @ own.M @ form.T)[0], (e[None] @ own.K @ form.X)[0], positions])
        return x, qd[own.prescribed]

    def states_of(self, form: NormalForm, x: Floats, rate: Floats) -> Floats:
        """State vectors (n, size) from rows of x and of the rates of prescribed joints."""
        whole = self.to_state(form)
        used = np.flatnonzero(x.any(axis=0))  # what never moved contributes nothing
        return products(x[:, used], whole[used]) + products(rate, whole[x.shape[1] :])

    def to_state(self, form: NormalForm) -> Floats:
        """(states of x and rates of prescribed joints, size): what each adds to a state vector."""
        key = id(form)
        if key not in self._to_state:
            own = form.mechanics
            x = form.T.shape[1] + len(form.X) + len(self.joint_names) + len(own.geared)
            one = np.eye(x + int(np.sum(own.prescribed)))
            self._to_state[key] = self._states_of(form, one[:, :x], one[:, x:])
        return self._to_state[key]

    @on_one_core
    def _states_of(self, form: NormalForm, x: Floats, rate: Floats) -> Floats:
        own = form.mechanics
        n, joints = own.coefficients, len(self.joint_names)
        z, s = form.T.shape[1], len(form.X)
        v = x[:, :z] @ form.T.T + rate @ form.P.T
        e = x[:, z : z + s] @ form.X.T
        positions, rates = x[:, z + s :], v[:, n:]
        rotor = np.stack([positions[:, :joints], rates[:, :joints]], axis=2)
        rotor[:, own.geared] = np.stack([positions[:, joints:], rates[:, joints:]], axis=2)
        return self.pack(v[:, :n], e[:, :n], positions[:, :joints], rates[:, :joints], rotor)

    def in_body_axes(self, inputs: Inputs, q: Floats, loads: Floats) -> Floats:
        """Loads (n, loads, 6) in the axes of their sections, at joint positions q (n, joints)."""
        if not any(place.frame is Frame.WORLD for place in inputs.loads):
            return loads
        turned = loads.copy()
        for k, axes in self._axes_in_the_world(inputs.loads, q):
            pairs = loads[:, k].reshape(len(q), 2, 3)
            turned[:, k] = np.einsum("nji,npj->npi", axes, pairs).reshape(len(q), 6)
        return turned

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        many = np.atleast_2d(states)
        columns = [load_columns(self.assembly, place) for place in loads]
        flows = np.stack([self.unknowns(many) @ each for each in columns], axis=1)
        for k, axes in self._axes_in_the_world(loads, self.layout.part(many, "joint_position")):
            pairs = flows[:, k].reshape(len(many), 2, 3)
            flows[:, k] = np.einsum("nij,npj->npi", axes, pairs).reshape(len(many), 6)
        return flows

    def _axes_in_the_world(self, loads: tuple[LoadPlace, ...], q: Floats) -> Iterator[tuple[int, Floats]]:
        """Of each load that keeps its direction, which it is and the axes (n, 3, 3) of its section at rest."""
        undeformed = self._at_rest(len(q))
        roots = self.kinematics.roots(q, undeformed)
        for k, place in enumerate(loads):
            if place.frame is Frame.WORLD:
                root = roots[place.link]
                end = self.kinematics.tip(place.link, *root, undeformed) if place.end is End.TIP else root
                yield k, end[1]

    def _at_rest(self, count: int) -> dict[str, Floats]:
        """Strain coefficients (n, N, 6) of the shape about which the equations are linear."""
        sag, shape = self.assembly.sag, (self.formulation.degree, 6)
        still = np.zeros(len(self.assembly.G)) if sag is None else sag.strain
        return {body.name: np.tile(still[body.rows].reshape(shape), (count, 1, 1)) for body in self.flexible}

    def axes_of_rotation(self, loads: tuple[LoadPlace, ...], q: Floats) -> Floats:
        """World axes (n, loads, joints, 3) about which joints rotate loads that keep their direction; else zero."""
        roots = self.kinematics.roots(q, self._at_rest(len(q)))
        axes = np.zeros((len(q), len(loads), len(self.joint_names), 3))
        for k, place in enumerate(loads):
            for joint in self._joints_behind(place):
                if joint.moves:
                    axes[:, k, self.joint_names.index(joint.name)] = roots[joint.child][1] @ axis_of(joint)[3:]
        return axes

    def refuse_turning_loads(self, inputs: Inputs) -> None:
        """A force that keeps its direction in the world is not linear on a link that turns freely."""
        for place in inputs.loads:
            for joint in self._joints_behind(place):
                if isinstance(joint, RevoluteJoint) and not inputs.prescribed[self.joint_names.index(joint.name)]:
                    raise InvalidInput(
                        f"load '{place.name}' keeps its direction in the world, but joint '{joint.name}' turns freely,"
                        " which is not linear; give it in the frame BODY, prescribe the joint, or use"
                        " GeometricallyExact"
                    )

    def _joints_behind(self, place: LoadPlace) -> Iterator[Joint]:
        """From a load that keeps its direction to the base."""
        above = {joint.child: joint for joint in self.robot.chain_order}
        link = place.link if place.frame is Frame.WORLD else BASE
        while link != BASE:
            yield above[link]
            link = above[link].parent

    def strains_of(self, states: Floats) -> dict[str, Floats]:
        """Coefficients (n, N, 6) of the strains of every flexible link."""
        coefficients = self.strain_coefficients(states)
        shape = (len(states), self.formulation.degree, 6)
        return {body.name: coefficients[:, body.rows].reshape(shape) for body in self.flexible}

    def section_at(self, link: str, station: float) -> LinearSection:
        return LinearSection(self, link, station)

    def tip(self, states: Floats) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of the tip of the last link."""
        many = np.atleast_2d(states)
        strains = self.strains_of(many)
        roots = self.kinematics.roots(self.layout.part(many, "joint_position"), strains)
        name = self.robot.tip_link
        return self.kinematics.tip(name, *roots[name], strains)

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def energy(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Kinetic, strain and gravity potential energy of many states, joule; without what is connected.

        The potential energy is quadratic about the equilibrium, zero where the robot starts undeformed.
        """
        many = np.atleast_2d(states)
        u, e, arm = self.unknowns(many), self.strain_coefficients(many), self.assembly
        return (
            0.5 * np.einsum("ni,ij,nj->n", u, arm.M, u, optimize=True),
            0.5 * np.einsum("ni,ij,nj->n", e, arm.K, e, optimize=True),
            self._potential(many, e),
        )

    def _potential(self, states: Floats, strain: Floats) -> Floats:
        sag = self.assembly.sag
        if sag is None:
            return np.zeros(len(states))
        straight = sag.potential(np.zeros((1, len(sag.strain))), sag.position[None])
        return np.asarray(sag.potential(strain, self.layout.part(states, "joint_position")) - straight)

    def stepper(self, run: Run) -> Stepper:
        self.refuse_turning_loads(run.inputs)
        return Stepper(self, run)

    def equilibrium(self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time, by one linear solution."""
        refuse_beyond(inputs, CARRIED, REMEDY)
        return find_equilibrium(self, start, inputs, time)

    def beyond_reach(self, state: Floats, turning: float) -> str:
        """Where an end of a link is displaced so far that a linear model is wrong by some per cent, or a link turns."""
        there, here = (
            self.observe(each, 2).links
            for each in (state, self.undeformed(self.layout.part(state[None], "joint_position")))
        )
        moved = max(float(np.linalg.norm(a.position - b.position, axis=-1).max()) for a, b in zip(there, here))
        if moved > LARGE_DEFLECTION * self.reach:
            return f"deflections reach {moved:.3g} m on an arm of {self.reach:.3g} m: {NOT_SMALL}"
        return without_centrifugal_stiffness(turning)

    step_equations = steps.step_equations
    step_unknowns = steps.step_unknowns

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Mass, damping and stiffness; the same about every state."""
        return linearise(self, state, inputs, time)

    def linear(self, state: Floats, inputs: Inputs) -> LinearPortHamiltonian:
        """The model itself, the same about every state. Prescribed joints are held; ``ports`` without the base."""
        return linear_system(self, inputs)

    def consistency_error(self, record: Record) -> Consistency:
        """What small deflections neglect: velocity of the drawn tip against that of the state, rotated with it.

        Potential energy and the work of gravity agree to round-off, because its force is linear.
        """
        states = record.states
        u = self.unknowns(states)
        twist = u @ self.tip_body.tip.T
        rates = self._values(u @ self.assembly.G.T, self._to_points)
        qd = self.layout.part(states, "joint_rate")
        drawn = drawn_tip_velocity(self, states, rates, qd)
        _, R = self.tip(states)
        potential = self._potential(states, self.strain_coefficients(states))
        missed = np.linalg.norm(drawn - np.einsum("nij,nj->ni", R, twist[:, :3]), axis=1)
        return Consistency(missed, potential - potential[0] + record.ledger.gravity, NOT_SMALL)
