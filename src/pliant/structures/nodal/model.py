"""A compiled mechanism of nodes with poses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.arm import ArmFacts
from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Port, coordinate_port, joint_ports
from pliant.model.stage_method import StageMethod
from pliant.model.state import Block, Layout, Observation
from pliant.robot import FreeJoint, Robot, SphericalJoint
from pliant.spatial.arrays import hat, quaternion_from_rotation, rotation_from_quaternion, twist_from_pose
from pliant.structures.loads import in_axes_of_nodes, refuse_drag_against_moving_base
from pliant.structures.nodal.assembly import Structure, assemble
from pliant.structures.nodal.balance import elastic_energy, kinetic_energy
from pliant.structures.nodal.equilibrium import find_equilibrium
from pliant.structures.nodal.linearise import linearise
from pliant.structures.nodal.mechanism import Floats, Mechanism, Pose
from pliant.structures.nodal.motion import Moment, new_moment, new_pose
from pliant.structures.nodal.observe import (
    NodalSection,
    line_rates,
    link_ends,
    load_flows,
    observe,
    tip_of,
    wrench_rows,
)
from pliant.structures.nodal.posture import close, fitting_rates, free_starts, poses, rest_velocities
from pliant.structures.nodal.step import take_up
from pliant.structures.nodal.stepper import Stepper
from pliant.structures.places import Place
from pliant.structures.relations import LineRows, length_between

if TYPE_CHECKING:
    from pliant.structures.nodal.descriptor import NodalDescriptor
    from pliant.structures.nodal.step_equations import MechanismStep


def quaternions(rotations: Floats) -> Floats:
    """(..., 4) of rotations (..., 3, 3), many at once."""
    pose = np.zeros((*rotations.shape[:-2], 4, 4))
    pose[..., :3, :3], pose[..., 3, 3] = rotations, 1.0
    half = 0.5 * twist_from_pose(pose)[..., 3:]
    angle = np.linalg.norm(half, axis=-1, keepdims=True)
    return np.concatenate([np.cos(angle), np.sinc(angle / np.pi) * half], axis=-1)


@dataclass(frozen=True, eq=False, repr=False)
class PoseElementArm(ArmFacts):
    """States: poses and velocities of all nodes, joint positions and rates, rotors of gear motors."""

    robot: Robot
    formulation: object
    structure: Structure
    substitution: str = ""

    @cached_property
    def layout(self) -> Layout:
        nodes, dofs = len(self.structure.tree.parent), len(self.joint_names)
        return Layout(
            (
                Block("position", (nodes, 3), "m", "origin of every node in the world"),
                Block("rotation", (nodes, 4), "1", "quaternion (w, x, y, z) of every node"),
                Block("velocity", (nodes, 3), "m/s", "velocity of the centre of mass on every node, world"),
                Block("spin", (nodes, 3), "rad/s", "angular velocity of every node, its own axes"),
                Block("joint_position", (dofs,), "rad or m", "joint positions"),
                Block("joint_rate", (dofs,), "rad/s or m/s", "joint rates"),
                Block("rotor", (dofs, 2), "rad, rad/s", "rotor angle and rate of gear motors, joint side"),
            )
        )

    @property
    def highest_order(self) -> int:
        """Of the methods in time that this model takes."""
        return 2

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.structure.coordinate_names

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Those of any model of the robot and those of its loop joints; guided joints by their coordinates."""
        guided, references = self.structure.guided, self.structure.reference_names
        of_tree = [port for port in super().ports if port.name not in guided]
        of_loops = [port for loop in self.robot.loops for port in joint_ports(loop.joint)]
        names = (name for name in self.joint_names if name.partition(".")[0] in guided or name in references)
        return (*of_tree, *of_loops, *(coordinate_port(self.robot.freedom(name)) for name in names))

    def carrying(self, inputs: Inputs) -> PoseElementArm:
        """Itself, with a node of the world where something stands there beside a base that moves."""
        stands = inputs.base_motion is not None and any(each.in_world for each in inputs.relations)
        return self.beside_world() if stands else self

    def beside_world(self) -> PoseElementArm:
        """Itself, with a node of the world."""
        own = self.structure
        if own.world >= 0:
            return self
        driven = {head.name for head in own.heads}
        structure = assemble(self.robot, own.counts, own.kind, driven, own.guided, own.references, True)
        return replace(self, structure=structure)

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def _at_nodes(self, inputs: Inputs) -> Inputs:
        return in_axes_of_nodes(self.robot, inputs)

    def driving(self, coordinates: Collection[str], followed: Collection[str]) -> PoseElementArm:
        """Itself, or with coordinates for the loop, ball and free joints to which some of these belong, and with
        references for the joints of those that are ``followed``."""
        present = {head.name for head in self.structure.heads}
        wanted = {name.partition(".")[0] for name in coordinates} & {loop.name for loop in self.robot.loops}
        owners = {name.partition(".")[0] for name in coordinates if "." in name}
        whole = (joint for joint in self.robot.joints if isinstance(joint, (SphericalJoint, FreeJoint)))
        guided = self.structure.guided | {joint.name for joint in whole if joint.name in owners}
        references = {name.partition(".")[0] for name in followed} | set(self.structure.references)
        if wanted <= present and guided == self.structure.guided and references == set(self.structure.references):
            return self
        structure = assemble(
            self.robot,
            self.structure.counts,
            self.structure.kind,
            wanted | present,
            guided,
            references,
            self.structure.world >= 0,
        )
        return replace(self, structure=structure)

    def mechanism(self, inputs: Inputs) -> Mechanism:
        """The arrays of the mechanism with what is connected to it; ball joints and friction of free links are
        renewed by every step in their own copy."""
        structure = self.structure
        if inputs.base_motion is not None:
            refuse_drag_against_moving_base(self.robot)
        tree = structure.tree._replace(axis_parent=structure.tree.axis_parent.copy())
        bodies = structure.bodies._replace(viscous=structure.bodies.viscous.copy())
        return Mechanism(
            tree,
            structure.elements,
            bodies,
            structure.laws.coordinates(inputs),
            self._line_rows(inputs).lines(),
            wrench_rows(structure, inputs.loads),
        )

    def _line_rows(self, inputs: Inputs) -> LineRows:
        """Loops and laws of joints, then the relations that components add."""
        structure, lines = self.structure, LineRows(list(self.structure.lines.rows))
        for each in inputs.relations:
            places = structure.references.get(each.joint) or [
                structure.place(at, each.in_world and k == 0) for k, at in enumerate(each.frames)
            ]
            rest = each.rest + self._length_at_start(each.name, places) if each.from_start else each.rest
            lines.relate(replace(each, rest=rest), places)
        return lines

    def _length_at_start(self, name: str, places: Sequence[Place]) -> float:
        part = self.layout.part
        x, R = part(self._start, "position"), rotation_from_quaternion(part(self._start, "rotation"))
        return length_between(name, [at.pose(x, R)[0] for at in places])

    @cached_property
    def _start(self) -> Floats:
        return self._undeformed_near(None, None, None)

    def line_owners(self, inputs: Inputs) -> tuple[str, ...]:
        """The part to which each line belongs, in the order of the arrays."""
        return tuple(row.owner for row in self._line_rows(inputs).rows)

    def initial_state(
        self, position: Floats | None = None, rate: Floats | None = None, held: tuple[bool, ...] | None = None
    ) -> Floats:
        """Undeformed links at joint positions and rates near the given ones that fit all loops; ``held`` ones stay.

        Positions and rates of loop joints that are not held follow from the others.
        """
        if position is None and rate is None and held is None:
            return self._start.copy()
        return self._undeformed_near(position, rate, held)

    def _undeformed_near(self, position: Floats | None, rate: Floats | None, held: tuple[bool, ...] | None) -> Floats:
        stays = np.zeros(len(self.joint_names), np.bool_) if held is None else np.array(held, np.bool_)
        laws = [self.robot.freedom(name).law for name in self.joint_names]
        q = [law.initial_position for law in laws] if position is None else position
        qd = [law.initial_rate for law in laws] if rate is None else rate
        closed, x, R = close(self.structure, np.array(q, float), stays)
        fitting = fitting_rates(self.structure, x, R, np.array(qd, float), stays)
        v, w, rates = rest_velocities(self.structure, x, R, fitting)
        rotor = np.column_stack([closed, rates])
        return np.concatenate([part.ravel() for part in (x, quaternion_from_rotation(R), v, w, closed, rates, rotor)])

    def undeformed(self, positions: Floats) -> Floats:
        """States (n, size) at rest with undeformed links at exactly these joint positions; loops may be open there."""
        x, R = poses(self.structure, positions, free_starts(self.structure))
        states = np.zeros((len(positions), self.layout.size))
        self.layout.part(states, "position")[:] = x
        self.layout.part(states, "rotation")[:] = quaternions(R)
        self.layout.part(states, "joint_position")[:] = positions
        return states

    def pose_of(self, state: Floats) -> Pose:
        """A state with its own arrays."""
        part = self.layout.part
        pose = new_pose(len(self.structure.tree.parent), len(self.joint_names))
        pose.x[:], pose.quaternion[:] = part(state, "position"), part(state, "rotation")
        pose.v[:], pose.w[:] = part(state, "velocity"), part(state, "spin")
        pose.q[:], pose.qd[:] = part(state, "joint_position"), part(state, "joint_rate")
        pose.motor[:] = part(state, "rotor")
        return pose

    def moment_of(self, mechanism: Mechanism, pose: Pose) -> Moment:
        moment = new_moment(*mechanism.sizes)
        take_up(mechanism, pose, moment)
        return moment

    def energy(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Kinetic, elastic and gravity potential energy of many states, joule, without connected components."""
        mechanism = self.mechanism(self.inputs)
        bodies = mechanism.bodies
        rows = []
        for state in np.atleast_2d(states):
            pose = self.pose_of(state)
            moment = self.moment_of(mechanism, pose)
            center = pose.x + np.einsum("nij,nj->ni", moment.R.reshape(-1, 3, 3), bodies.center)
            potential = -float(bodies.mass @ (center @ bodies.gravity))
            potential -= float(self._shared_mass @ ((pose.x + pose.x[self.structure.tree.parent]) @ bodies.gravity))
            rows.append((kinetic_energy(mechanism, pose, moment), elastic_energy(mechanism, pose, moment), potential))
        kinetic, elastic, potential = np.array(rows).T
        return kinetic, elastic, potential

    @property
    def _shared_mass(self) -> Floats:
        """(nodes,) of every node with its parent."""
        return self.structure.elements.shared[:, 0]

    def momentum(self, states: Floats) -> tuple[Floats, Floats]:
        """Linear (n, 3) and angular momentum (n, 3) about the world's origin, in the world."""
        structure, mechanism = self.structure, self.mechanism(self.inputs)
        bodies, parent = structure.bodies, structure.tree.parent
        linear, angular = [], []
        for state in np.atleast_2d(states):
            pose = self.pose_of(state)
            R = self.moment_of(mechanism, pose).R.reshape(-1, 3, 3)
            center = pose.x + np.einsum("nij,nj->ni", R, bodies.center)
            p = bodies.mass[:, None] * pose.v
            spin = np.einsum("nij,njk,nk->ni", R, bodies.J.reshape(-1, 3, 3), pose.w)
            if structure.elements.couples:
                # each node has the shared mass with the velocity of the other, and the directors likewise
                for i in np.flatnonzero(self._shared_mass):
                    a, (c, *I) = parent[i], structure.elements.shared[i]
                    p[a] += c * pose.v[i]
                    p[i] += c * pose.v[a]
                    rate_a, rate_i = R[a] @ hat(pose.w[a]), R[i] @ hat(pose.w[i])
                    spin[a] += np.cross(R[a], I * rate_i, axis=0).sum(axis=1)
                    spin[i] += np.cross(R[i], I * rate_a, axis=0).sum(axis=1)
            linear.append(p.sum(axis=0))
            angular.append((np.cross(center, p) + spin).sum(axis=0))
        return np.array(linear), np.array(angular)

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def link_ends(self, states: Floats) -> tuple[Floats, Floats]:
        return link_ends(self, np.atleast_2d(states))

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        return load_flows(self, np.atleast_2d(states), loads)

    def line_rates(self, states: Floats, inputs: Inputs) -> dict[str, Floats]:
        """Rates (n, k) of the lines of every loop, spring, bushing and wall."""
        return line_rates(self, np.atleast_2d(states), inputs)

    def section_at(self, link: str, station: float) -> NodalSection:
        return NodalSection(self, link, station)

    def tip(self, states: Floats) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of the tip of the last link."""
        return tip_of(self, np.atleast_2d(states))

    def stepper(self, run: Run) -> Stepper:
        return Stepper(self, replace(run, inputs=self._at_nodes(run.inputs)))

    def step_equations(
        self, start: Floats, unknowns: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
    ) -> MechanismStep:
        """The equations of a step that begins at ``start``, about these unknowns; the rule of the step is its own."""
        from pliant.structures.nodal.step_equations import step_equations

        return step_equations(self, start, unknowns, self._at_nodes(inputs), time, step)

    def descriptor(self, inputs: Inputs) -> NodalDescriptor:
        """The equations of the arm with its inputs, for integrators with error control."""
        from pliant.structures.nodal.descriptor import NodalDescriptor

        return NodalDescriptor(self, self._at_nodes(inputs))

    def violations(self, states: Floats) -> dict[str, Floats]:
        """Offsets and misalignments of joints and loops, loss of unit length of the directors, in every state."""
        from pliant.structures.nodal.descriptor import violations

        return violations(self, np.atleast_2d(states))

    def step_unknowns(
        self, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
    ) -> tuple[Floats, Floats]:
        """The unknowns of a solved step, and its end."""
        from pliant.structures.nodal.step_equations import step_unknowns

        return step_unknowns(self, start, self._at_nodes(inputs), time, step, method)

    def consistency_error(self, record: Record) -> Consistency:
        """None: nodal poses are the only truth of this element."""
        zero = np.zeros(len(record.time))
        return Consistency(zero, zero)

    def equilibrium(self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time."""
        return find_equilibrium(self, start, self._at_nodes(inputs), time, load_steps, accuracy)

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Of deviations from the motion through a state; loops are eliminated."""
        return linearise(self, state, self._at_nodes(inputs), time)

    def place_of(self, node: int) -> str:
        """In words, where a node is."""
        for link in self.structure.links:
            if node in link.nodes:
                at = int(np.flatnonzero(link.nodes == node)[0])
                return f"link '{link.name}', {link.station[at]:.3g} m from its root"
        for head in self.structure.heads:
            if node in head.nodes:
                return f"loop joint '{head.name}'"
        return "the base" if node == 0 else "a joint"

    def with_substitution(self, substitution: str) -> PoseElementArm:
        """The same arm with a sentence on why it was chosen."""
        return replace(self, substitution=substitution)
