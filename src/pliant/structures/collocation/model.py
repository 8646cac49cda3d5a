"""A compiled arm of geometrically exact links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import hat, matrix_of
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.arm import ArmFacts
from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Beyond, Inputs, LoadPlace, beyond
from pliant.model.port import Frame
from pliant.model.state import Block, Layout, Observation
from pliant.robot import PrismaticJoint, RevoluteJoint, RigidLink, Robot
from pliant.structures.collocation.bending import pose_state, turns_of_links
from pliant.structures.collocation.chain import Chain, Floats, Loads, Points, State, Stationing
from pliant.structures.collocation.element import strain_energy
from pliant.structures.collocation.equilibrium import find_equilibrium
from pliant.structures.collocation.linearise import linearise
from pliant.structures.collocation.observe import Sight, load_flows, observe, section_stress, strain_rates_of
from pliant.structures.collocation.poses import Path, make_path, rebuild_poses
from pliant.structures.collocation.step import kinetic_energy
from pliant.structures.collocation.stepper import Stepper
from pliant.structures.loads import in_axes_of_nodes, with_a_turning_lever

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm

REMEDY = "compile the robot with PoseElement()"


class ChainFormulation(Protocol):
    """A choice that compiles robots into collocated chains."""

    def carried_by(self, robot: Robot, turns: Mapping[str, float] | None = None) -> PoseElementArm | None:
        """Nodal chains that carry what collocated ones do not, or bends that turn each link so far; None: nobody."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class GeometricallyExactArm(ArmFacts):
    """States: body twists of all nodes, strains of all strain points, joint positions and rates."""

    robot: Robot
    formulation: ChainFormulation
    chain: Chain
    points: Points
    placed: Stationing

    @cached_property
    def layout(self) -> Layout:
        nodes, points, dofs = len(self.chain.inertia.M), len(self.chain.section.C), len(self.joint_names)
        return Layout(
            (
                Block("twist", (nodes, 6), "m/s, rad/s", "body twist of every node"),
                Block("strain", (points, 6), "1, 1/m", "strain at every strain point, from the rest shape"),
                Block("joint_position", (dofs,), "rad or m", "joint positions"),
                Block("joint_rate", (dofs,), "rad/s or m/s", "joint rates"),
            )
        )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        order = self.robot.chain_order
        return tuple(joint.name for joint, dof in zip(order, self.chain.tree.dof) if dof >= 0)

    def pack(self, state: State) -> Floats:
        """One state vector."""
        return np.concatenate([state.V.ravel(), state.e.ravel(), state.q, state.qd])

    @property
    def highest_order(self) -> int:
        """Of the methods in time that this model takes."""
        return 8

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """In words, the inputs that it does not carry."""
        return (*beyond(inputs, (Beyond.LOAD_AT_A_STATION,)), *with_a_turning_lever(self.robot, inputs))

    def _at_nodes(self, inputs: Inputs) -> Inputs:
        """The inputs as they act on the nodes; refused where they do not."""
        for words in self.lacking(inputs):
            raise InvalidInput(f"the {words} is not carried by this formulation; {REMEDY}")
        return in_axes_of_nodes(self.robot, inputs, at_roots=True)

    def carrying(self, inputs: Inputs) -> GeometricallyExactArm | PoseElementArm:
        """Itself, or pose elements where there are springs, walls, motors or a moved base."""
        return (self.lacking(inputs) and self.formulation.carried_by(self.robot)) or self

    def substituting(self, start: Floats, stopped: Floats) -> tuple[PoseElementArm, Floats] | None:
        """Pose elements that carry bends beyond those of the state ``stopped``, and ``start`` as a state of theirs."""
        try:
            arm = self.formulation.carried_by(self.robot, turns_of_links(self, self.split(stopped)[1][0]))
        except InvalidInput:  # a law that only spectral links carry
            return None
        return None if arm is None else (arm, pose_state(self, arm, start))

    def initial_state(
        self, position: Floats | None = None, rate: Floats | None = None, held: tuple[bool, ...] | None = None
    ) -> Floats:
        """Undeformed arm at the given joint positions and rates; the robot's own initial values by default."""
        joints = [j for j in self.robot.chain_order if isinstance(j, (RevoluteJoint, PrismaticJoint))]
        q = [j.initial_position for j in joints] if position is None else position
        qd = [j.initial_rate for j in joints] if rate is None else rate
        return self.moving_state(
            np.zeros((len(self.chain.section.C), 6)), np.array(q, float), np.array(qd, float)
        )

    def moving_state(self, strain: Floats, position: Floats, rate: Floats) -> Floats:
        """State whose links move as rigid bodies of the given shape at the given joint rates."""
        tree = self.chain.tree
        twist = np.zeros((len(self.chain.inertia.M), 6))
        if np.any(rate):
            x, R = rebuild_poses(self.chain, self.node_path, strain[None], np.array(position, float)[None])
            world = np.zeros((len(tree.parent), 6))  # velocity of the world's origin, angular rate
            for k in range(len(tree.parent)):
                if tree.parent[k] >= 0:
                    world[k] = world[tree.parent[k]]
                if tree.dof[k] >= 0:
                    root = tree.first_node[k]
                    turn = R[0, root] @ tree.S[k, 3:] * rate[tree.dof[k]]
                    slide = R[0, root] @ tree.S[k, :3] * rate[tree.dof[k]]
                    world[k, 3:] += turn
                    world[k, :3] += slide + np.cross(x[0, root], turn)
                for a in range(tree.first_node[k], tree.last_node[k] + 1):
                    twist[a, :3] = R[0, a].T @ (world[k, :3] + np.cross(world[k, 3:], x[0, a]))
                    twist[a, 3:] = R[0, a].T @ world[k, 3:]
        return np.concatenate([twist.ravel(), strain.ravel(), position, rate])

    def load_table(self, places: tuple[LoadPlace, ...]) -> Loads:
        """Nodes and weights on which each load acts."""
        nodes, tree, mesh = len(self.chain.inertia.M), self.chain.tree, self.chain.mesh
        first, last = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        weight = np.zeros((len(places), nodes))
        for row, place in enumerate(places):
            k = self.link_names.index(place.link)
            if place.station is not None:
                e = tree.first_element[k] + int(np.searchsorted(self.placed.ends[k][1:-1], place.station))
                first[row], last[row] = mesh.start[e], mesh.start[e] + len(self.points.nodes) - 1
                at = (place.station - self.placed.ends[k][e - tree.first_element[k]]) / mesh.length[e]
                weight[row, first[row] : last[row] + 1] = lagrange_values(self.points.nodes, np.array([at]))[
                    0
                ]
                continue
            first[row] = tree.first_node[k] if place.distributed else tree.last_node[k]
            last[row] = tree.last_node[k]
            if not place.distributed:
                weight[row, last[row]] = 1.0
                continue
            for e in range(tree.first_element[k], tree.first_element[k] + tree.n_elements[k]):
                rows = slice(mesh.start[e], mesh.start[e] + len(self.points.nodes))
                weight[row, rows] += self.points.node_weights * mesh.length[e]
        world = np.array([place.frame is Frame.WORLD for place in places], dtype=np.bool_)
        return Loads(first, last, weight, world)

    @cached_property
    def sights(self) -> dict[int, Sight]:
        """What every observation with equally many stations needs, made once: controllers observe at every sample."""
        return {}

    @cached_property
    def node_path(self) -> Path:
        stations = [at if len(at) else np.zeros(1) for at in self.placed.nodes]
        return make_path(self.chain, self.points, self.placed, stations)

    @cached_property
    def _tip_path(self) -> Path:
        ends = [np.zeros(0)] * len(self.link_names)
        last = self.placed.nodes[-1]
        ends[-1] = last[-1:] if len(last) else np.zeros(1)
        return make_path(self.chain, self.points, self.placed, ends)

    def split(self, states: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Twists, strains, joint positions and joint rates of many states (n, size)."""
        many = np.atleast_2d(states)
        part = self.layout.part
        return (
            np.ascontiguousarray(part(many, "twist")),
            np.ascontiguousarray(part(many, "strain")),
            np.ascontiguousarray(part(many, "joint_position")),
            np.ascontiguousarray(part(many, "joint_rate")),
        )

    def tip(self, states: Floats) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of the tip of the last link."""
        many, part = np.atleast_2d(states), self.layout.part
        e, q = (np.ascontiguousarray(part(many, name)) for name in ("strain", "joint_position"))
        x, R = rebuild_poses(self.chain, self._tip_path, e, q)
        position, rotation = x[:, 0], R[:, 0]
        link = self.robot.link(self.link_names[-1])
        if isinstance(link, RigidLink):
            position = position + rotation @ np.asarray(link.tip_position, float)
            rotation = rotation @ matrix_of(link.tip_rotation)
        return position, rotation

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        return load_flows(self, np.atleast_2d(states), loads)

    def energy(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Kinetic, strain and gravity potential energy of many states, joule."""
        V, e, q, _ = self.split(states)
        chain = self.chain
        kinetic = np.array([kinetic_energy(chain.mesh, chain.inertia, v) for v in V])
        strain = np.array([strain_energy(chain.mesh, chain.section, each) for each in e])
        return kinetic, strain, self._potential(e, q)

    def _potential(self, e: Floats, q: Floats) -> Floats:
        inertia, mesh = self.chain.inertia, self.chain.mesh
        if not inertia.gravity.any():
            return np.zeros(len(e))
        x, R = rebuild_poses(self.chain, self.node_path, e, q)
        moment = _first_moment(inertia.M, x, R)
        if inertia.at_points:
            f = mesh.N[0]
            between = f[0] * x[:, mesh.start] + f[1] * x[:, mesh.start + 1]
            moment = moment + _first_moment(inertia.M_point, between, R[:, mesh.start])
        return -moment @ inertia.gravity

    def stepper(self, run: Run) -> Stepper:
        return Stepper(self, replace(run, inputs=self._at_nodes(run.inputs)))

    def equilibrium(
        self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
    ) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time."""
        return find_equilibrium(self, start, self._at_nodes(inputs), time, load_steps, accuracy)

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Mass, damping and stiffness of deviations from the motion through a state."""
        return linearise(self, state, self._at_nodes(inputs), time)

    def consistency_error(self, record: Record) -> Consistency:
        """Tip velocity of the rebuilt shape against that of the state; potential energy against booked work."""
        V, e, q, qd = self.split(record.states)
        rates = strain_rates_of(self, V, e)
        # a displacement of about 1e-4 of the reach balances truncation and round-off of the difference
        speed = max(
            np.abs(rates).max(initial=0.0), np.abs(qd).max(initial=0.0), np.abs(V).max(initial=0.0), 1e-12
        )
        epsilon = 1e-4 / speed
        ahead, _ = self.tip(self._shifted(record.states, rates, epsilon))
        behind, _ = self.tip(self._shifted(record.states, rates, -epsilon))
        _, R = self.tip(record.states)
        v = V[:, -1, :3]
        link = self.robot.link(self.link_names[-1])
        if isinstance(link, RigidLink):
            v = v - V[:, -1, 3:] @ hat(link.tip_position).T
            R = R @ matrix_of(link.tip_rotation).T
        twist = np.linalg.norm((ahead - behind) / (2 * epsilon) - np.einsum("nij,nj->ni", R, v), axis=1)
        potential = self._potential(e, q)
        return Consistency(twist, potential - potential[0] + record.ledger.gravity)

    def _shifted(self, states: Floats, rates: Floats, epsilon: float) -> Floats:
        shifted = states.copy()
        slices = self.layout.slices
        shifted[:, slices["strain"]] += epsilon * rates.reshape(len(states), -1)
        shifted[:, slices["joint_position"]] += epsilon * states[:, slices["joint_rate"]]
        return shifted

    def place_of(self, node: int) -> str:
        """Where a node is, in words."""
        tree = self.chain.tree
        for k, name in enumerate(self.link_names):
            if tree.first_node[k] <= node <= tree.last_node[k]:
                at = self.placed.nodes[k]
                where = f" at s = {at[node - tree.first_node[k]]:.3g} m" if len(at) else ""
                return f"link '{name}'{where}"
        return "the arm"

    def stress(self, strain: Floats, rate: Floats) -> Floats:
        """Section wrenches (n, points, 6) from strains and strain rates."""
        return section_stress(self, strain, rate)


def _first_moment(M: Floats, x: Floats, R: Floats) -> Floats:
    """Sum of mass times position of the centres of mass, (n, 3)."""
    mass = M[:, 0, 0]
    offset = np.stack([M[:, 1, 5], M[:, 2, 3], M[:, 0, 4]], axis=1)
    moment: Floats = np.einsum("a,nai->ni", mass, x) + np.einsum("naij,aj->ni", R, offset)
    return moment
