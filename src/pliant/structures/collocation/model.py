"""A compiled arm of geometrically exact links."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.shape_functions import lagrange_values
from pliant.model.arm import ArmFacts
from pliant.model.contract import Consistency, Equilibrium, Record, Run, SecondOrder
from pliant.model.inputs import Beyond, Inputs, LoadPlace, beyond
from pliant.model.port import Frame, Port, coordinate_port, joint_ports
from pliant.model.stage_method import StageMethod
from pliant.model.state import Block, Layout, Observation
from pliant.robot import End, FreeJoint, RigidLink, Robot, SphericalJoint
from pliant.robot.joint import WholeJoint
from pliant.spatial.arrays import bracket, quaternion_from_rotation, to_frame
from pliant.structures.collocation.bending import adopted_state, bent_too_far, pose_state, turns_of_links, unresolved
from pliant.structures.collocation.chain import (
    MOVED,
    Chain,
    Drives,
    Floats,
    Joints,
    Loads,
    Plant,
    Points,
    State,
    Stationing,
    on_moved_base,
)
from pliant.structures.collocation.equilibrium import find_equilibrium
from pliant.structures.collocation.joints import joints_of
from pliant.structures.collocation.observe import (
    ChainSection,
    Sight,
    at_nodes,
    carried_by_frames,
    flow_of,
    link_ends,
    load_flows,
    observe,
    section_of,
    strain_rates_of,
)
from pliant.structures.collocation.plane import Plane, planes_of
from pliant.structures.collocation.poses import Path, make_path, poses_of, rebuild_poses
from pliant.structures.collocation.relation_solver import measure_start
from pliant.structures.collocation.relations import Bools, Relating
from pliant.structures.collocation.step import stored_energies
from pliant.structures.collocation.stepper import Stepper, state_of
from pliant.structures.joint_tables import Laws
from pliant.structures.loads import beside_stations, refuse_drag_against_moving_base
from pliant.structures.loop_constraints import close_loops, least_change
from pliant.structures.small_deviations import drawn_tip_velocity

if TYPE_CHECKING:
    from pliant.structures.collocation.step_equations import ChainStep
    from pliant.structures.nodal.model import PoseElementArm

REMEDY = "compile the robot with PoseElement()"


class ChainFormulation(Protocol):
    """A choice that compiles robots into collocated chains."""

    def carried_by(self, robot: Robot, turns: Mapping[str, float] | None = None) -> PoseElementArm | None:
        """Nodal chains that carry what collocated ones do not, or bends that turn each link so far; None: nobody."""
        ...

    def guiding(self, robot: Robot, guided: Collection[str]) -> GeometricallyExactArm:
        """The same chains with these ball and free joints by coordinates whose motion is prescribed."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class GeometricallyExactArm(ArmFacts):
    """States: body twists of all nodes, strains of all strain points, joint positions and rates.

    Rotors behind elastic gears are states too where the arm is ``geared``, and so are frames: rotations of ball joints,
    poses of free joints that are not ``guided``, the pose of a ``moved`` base.
    """

    robot: Robot
    formulation: ChainFormulation
    chain: Chain
    points: Points
    placed: Stationing
    laws: Laws
    guided: frozenset[str] = frozenset()
    geared: bool = False
    moved: bool = False
    # what every observation with equally many stations needs, made once: controllers observe at every sample
    sights: dict[int, Sight] = field(default_factory=dict, init=False)
    # the same of relations between frames at equal stations: every run asks for them
    paths: dict[tuple[tuple[int, float], ...], Path] = field(default_factory=dict, init=False)

    @cached_property
    def layout(self) -> Layout:
        nodes, points, dofs = len(self.chain.inertia.M), len(self.chain.section.C), len(self.joint_names)
        rotor = Block("rotor", (dofs, 2), "rad, rad/s", "rotor angle and rate of gear motors, joint side")
        frames, of_frames = self.chain.frames, "of ball and free joints in their joint frame, first of a moved base"
        poses = (
            Block("frame_rotation", (frames, 4), "1", f"quaternions (w, x, y, z) {of_frames}"),
            Block("frame_position", (frames, 3), "m", f"positions {of_frames}"),
        )
        return Layout(
            (
                Block("twist", (nodes, 6), "m/s, rad/s", "body twist of every node"),
                Block("strain", (points, 6), "1, 1/m", "strain at every strain point, from the rest shape"),
                Block("joint_position", (dofs,), "rad or m", "joint positions"),
                Block("joint_rate", (dofs,), "rad/s or m/s", "joint rates"),
                *((rotor,) if self.geared else ()),
                *(poses if frames else ()),
            )
        )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(self.laws.names)

    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """In which the arm stays if nothing pushes it out."""
        return planes_of(self.chain)

    def pack(self, state: State) -> Floats:
        """One state vector."""
        return np.concatenate(self.parts_of(state))

    def parts_of(self, state: State) -> list[Floats]:
        """Views of the arrays of a state, one after the other as they stand in a state vector."""
        named = len(self.joint_names)
        rotor = (state.rotor[:named],) if self.geared else ()
        parts = state.V, state.e, state.q[:named], state.qd[:named], *rotor, state.turn, state.place
        return [part.reshape(-1) for part in parts]

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        """Those of any model of the robot and those of its loop joints; guided joints by their coordinates."""
        names = (name for name in self.joint_names if name.partition(".")[0] in self.guided)
        of_tree = [port for port in super().ports if port.name not in self.guided]
        of_loops = [port for loop in self.robot.loops for port in joint_ports(loop.joint)]
        return (*of_tree, *of_loops, *(coordinate_port(self.robot.freedom(name)) for name in names))

    def plant(self, inputs: Inputs, stages: int = 1, relating: Relating | None = None) -> Plant:
        """The arrays of the arm with what is connected to it; ``relating`` what ties its frames, if that is known."""
        known = _DRIVEN.get(self)
        if known is None or known[0] is not inputs:
            laws = self.laws.coordinates(inputs)
            prescribed = np.append(laws.prescribed, np.zeros(self.chain.dofs - len(laws.prescribed), np.bool_))
            # the drives of motors are in the laws
            stiffness, damping = (np.where(laws.has_motor, 0.0, gain) for gain in laws.gain.T)
            drives = Drives(prescribed, ~prescribed, stiffness, damping)
            known = inputs, self.load_table(inputs.loads), drives, joints_of(self.chain.tree, laws)
            _DRIVEN[self] = known
        relations = (relating or Relating(self, inputs)).relations(stages)
        return Plant(self.chain, *known[1:], relations)

    @property
    def highest_order(self) -> int:
        """Of the methods in time that this model takes."""
        return 8

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """In words, the inputs that it does not carry."""
        carried = Beyond.LOAD_AT_A_STATION, Beyond.LOAD_OFF_THE_TIP, Beyond.MOTOR, Beyond.BASE_MOTION, Beyond.RELATION
        feedback = tuple(f"{each.word} '{each.name}'" for each in inputs.relations if each.joint)
        return (*beyond(inputs, carried), *feedback, *beside_stations(inputs))

    def _at_nodes(self, inputs: Inputs) -> Inputs:
        """The inputs as they act on the nodes; refused where they do not."""
        for words in self.lacking(inputs):
            raise InvalidInput(f"the {words} is not carried by this formulation; {REMEDY}")
        if inputs.base_motion is not None:
            refuse_drag_against_moving_base(self.robot)
        if self.carrying(inputs) is not self:
            raise InvalidInput("a moved base and elastic gears have states of their own; join them by connect")
        return at_nodes(self, inputs)

    def carrying(self, inputs: Inputs) -> GeometricallyExactArm | PoseElementArm:
        """Itself, with rotors where gears are elastic, or pose elements where it lacks something."""
        carrier = self.formulation.carried_by(self.robot) if self.lacking(inputs) else None
        if carrier is not None:
            return carrier
        geared = self.geared or any(0.0 < motor.stiffness < np.inf for motor in inputs.motors)
        arm = self if geared == self.geared else replace(self, geared=geared)
        if inputs.base_motion is None or self.moved:
            return arm
        base = self.robot.base
        chain, placed = on_moved_base(
            self.chain, self.placed, matrix_of(base.rotation), np.asarray(base.position, float)
        )
        return replace(arm, chain=chain, placed=placed, moved=True)

    def driving(
        self, coordinates: Collection[str], followed: Collection[str]
    ) -> GeometricallyExactArm | PoseElementArm:
        """Itself, or with coordinates for the ball and free joints to which some of these belong; pose elements where
        feedback is to hold such joints, or something drives a loop joint."""
        owners = {name.partition(".")[0] for name in coordinates if "." in name}
        guided = {joint.name for joint in self.robot.joints if isinstance(joint, WholeJoint) and joint.name in owners}
        loops = {loop.name for loop in self.robot.loops}
        driven = sorted(loops & {name.partition(".")[0] for name in coordinates})
        carrier = self.formulation.carried_by(self.robot) if followed or driven else None
        if carrier is not None:
            held = sorted({name.partition(".")[0] for name in followed})
            why = f"feedback holds joint '{held[0]}'" if held else f"loop joint '{driven[0]}' is driven"
            reason = f"pose elements were chosen because {why}"
            return carrier.with_substitution(reason).driving(coordinates, followed)
        return self if guided <= self.guided else self.formulation.guiding(self.robot, guided | self.guided)

    def substituting(self, start: Floats, stopped: Floats) -> tuple[PoseElementArm, Floats] | None:
        """Pose elements that carry bends beyond those of the state ``stopped``, and ``start`` as a state of theirs."""
        try:
            arm = self.formulation.carried_by(self.robot, turns_of_links(self, self.shape(stopped)[0][0]))
        except InvalidInput:  # a law that only spectral links carry
            return None
        if arm is None:
            return None
        arm = arm.driving([f"{name}.x" for name in self.guided], ())
        arm = arm.beside_world() if self.moved else arm  # walls may stand there
        return arm, pose_state(self, arm, start)

    def adopt(self, other: GeometricallyExactArm, state: Floats) -> Floats:
        """A state of another mesh of the same robot as one of this."""
        return adopted_state(self, other, state)

    def initial_state(
        self, position: Floats | None = None, rate: Floats | None = None, held: tuple[bool, ...] | None = None
    ) -> Floats:
        """Undeformed arm at the given joint positions and rates; the robot's own initial values by default.

        Where loops are to close, at positions and rates near these that fit them; ``held`` ones stay.
        """
        if position is None and rate is None and held is None:
            return self._own_start.copy()
        return self._started(position, rate, held)

    @cached_property
    def _own_start(self) -> Floats:
        """The initial state of the robot: every run asks for it, and closing loops takes as long as some runs."""
        return self._started(None, None, None)

    def _started(self, position: Floats | None, rate: Floats | None, held: tuple[bool, ...] | None) -> Floats:
        q = np.array(self._initial_values[0] if position is None else position, float)
        qd = np.array(self._initial_values[1] if rate is None else rate, float)
        at_rest = np.zeros((len(self.chain.section.C), 6))
        if self.robot.loops:
            stays = np.zeros(len(q), np.bool_) if held is None else np.array(held, np.bool_)
            q, qd = self._closed(at_rest, q, qd, stays)
        return self.moving_state(at_rest, q, qd, unnamed=self._initial_flight if rate is None else None)

    @cached_property
    def _initial_values(self) -> tuple[list[float], list[float]]:
        """Positions and rates of all joints, as the robot says."""
        laws = [self.robot.freedom(name).law for name in self.joint_names]
        return [law.initial_position for law in laws], [law.initial_rate for law in laws]

    def _closed(self, strain: Floats, q: Floats, qd: Floats, held: Bools) -> tuple[Floats, Floats]:
        """Positions and rates near the given ones that fit all loops; no loop joint has coordinates here."""
        relating = Relating(self, self.inputs)
        relations, none = relating.relations(1), np.zeros(len(q), np.bool_)
        names, (turn, place) = (relating.owners, self.joint_names), self._initial_frames
        frames = turn[0], place[0]
        open_by = lambda q: relating.gradients(relations, strain, q, frames)[0]  # noqa: E731
        q = close_loops(open_by, q, (held, none), names, self.reach)
        J = relating.spread(relations, relating.gradients(relations, strain, q, frames)[1]).reshape(len(names[0]), -1)
        twists = [self.moving_state(strain, q, unit)[: J.shape[1]] for unit in np.eye(len(q))]
        G = J @ np.reshape(twists, (len(q), -1)).T
        return q, qd + least_change(G * ~held, G @ qd, none)

    def undeformed(self, positions: Floats) -> Floats:
        """States (n, size) at rest with undeformed links at exactly these joint positions; loops may be open there."""
        at_rest, still = np.zeros((len(self.chain.section.C), 6)), np.zeros(len(self.joint_names))
        return self.moved_to(self.moving_state(at_rest, still, still), positions)

    def violations(self, states: Floats) -> dict[str, Floats]:
        """By how much loops are open in every state, as the shape rebuilt from strains and joint positions says."""
        if not self.robot.loops:
            return {}
        relating = Relating(self, self.inputs)
        relations = relating.relations(1)
        e, q = self.shape(states)
        turn, place = self.frames(states)
        shapes = zip(e, q, zip(turn, place))
        return {"loops": np.array([np.abs(relating.gradients(relations, *shape)[0]).max() for shape in shapes])}

    @property
    def floating(self) -> list[FreeJoint]:
        """Free joints that move freely, in the order of their coordinates."""
        return [j for j in self.robot.chain_order if isinstance(j, FreeJoint) and j.name not in self.guided]

    @cached_property
    def _initial_flight(self) -> Floats:
        """Rates of the coordinates of free joints at the start: twists of their children in their own axes."""
        twists, base = [np.zeros(0)], matrix_of(self.robot.base.rotation)
        for joint in self.floating:
            R = base @ matrix_of(joint.rotation) @ matrix_of(joint.initial_rotation)
            twists.append(np.concatenate([np.asarray(joint.initial_velocity, float) @ R, joint.initial_spin]))
        return np.concatenate(twists)

    @cached_property
    def _initial_frames(self) -> tuple[Floats, Floats]:
        """Rotations (1, frames, 4) and positions (1, frames, 3) at the start of the robot."""
        base = self.robot.base
        poses = [(base.rotation, base.position)] if self.moved else []
        for joint in self.robot.chain_order:
            if isinstance(joint, WholeJoint) and joint.name not in self.guided:
                assert isinstance(joint, (SphericalJoint, FreeJoint))
                position = joint.initial_position if isinstance(joint, FreeJoint) else (0.0, 0.0, 0.0)
                poses.append((joint.initial_rotation, position))
        turn, place = np.zeros((1, len(poses), 4)), np.zeros((1, len(poses), 3))
        for f, (rotation, position) in enumerate(poses):
            turn[0, f], place[0, f] = quaternion_from_rotation(matrix_of(rotation)), position
        return turn, place

    def frames(self, states: Floats) -> tuple[Floats, Floats]:
        """Rotations (n, frames, 4) and positions (n, frames, 3) of many states."""
        many = np.atleast_2d(states)
        if "frame_rotation" not in self.layout.slices:
            return np.zeros((len(many), 0, 4)), np.zeros((len(many), 0, 3))
        turn, place = (self.layout.part(many, name) for name in ("frame_rotation", "frame_position"))
        return np.ascontiguousarray(turn), np.ascontiguousarray(place)

    def moving_state(
        self,
        strain: Floats,
        position: Floats,
        rate: Floats,
        frames: tuple[Floats, Floats] | None = None,
        unnamed: Floats | None = None,
        of_base: Floats | None = None,
    ) -> Floats:
        """State whose links move as rigid bodies of the given shape at the given joint rates.

        ``unnamed`` are rates of free joints; frames are those at the start of the robot unless they are given.
        ``of_base`` is the twist of a moved base, which rests if it is not given.
        """
        turn, place = self._initial_frames if frames is None else frames
        still = np.zeros(self.chain.dofs - len(self.joint_names))
        rates = np.concatenate([rate, still if unnamed is None else unnamed])
        shape, base = (strain, np.array(position, float), (turn, place)), np.zeros((2, 6))
        base[0] = 0.0 if of_base is None else of_base
        twist, _ = self.rigid_twists(*shape, rates, np.zeros_like(rates), base)
        rotor = (np.column_stack([position, rate]).ravel(),) if self.geared else ()
        return np.concatenate([twist.ravel(), strain.ravel(), position, rate, *rotor, turn.ravel(), place.ravel()])

    def rigid_twists(
        self,
        strain: Floats,
        position: Floats,
        frames: tuple[Floats, Floats],
        rate: Floats,
        acceleration: Floats,
        of_base: Floats,
    ) -> tuple[Floats, Floats]:
        """Body twists of the nodes of links that keep their shape while all joints move so, and their derivatives.

        Rates and accelerations are those of all coordinates; ``of_base`` (2, 6) twist and its derivative. At the
        world's origin a joint adds A = Ad S qd to the twist V of its parent, and Ad S qdd + [V, A] to V'.
        """
        tree = self.chain.tree
        twist, change = np.zeros((2, len(self.chain.inertia.M), 6))
        if np.any(rate) or np.any(acceleration) or np.any(of_base):
            x, R = rebuild_poses(self.chain, self.node_path, strain[None], position[None], frames)
            from_world = to_frame(R[0], x[0])
            world, world_change = np.zeros((2, len(tree.parent) + 1, 6))  # of the links, the base last
            for k, root in enumerate(tree.first_node):
                parent, dof = tree.parent[k], tree.dof[k]
                world[k], world_change[k] = world[parent], world_change[parent]
                if tree.kind[k] == MOVED:
                    world[k], world_change[k] = np.linalg.solve(from_world[root], of_base.T).T
                if dof >= 0:
                    axis = np.linalg.solve(from_world[root], tree.S[k])
                    world[k] += axis * rate[dof]
                    world_change[k] += axis * acceleration[dof] + bracket(world[parent]) @ axis * rate[dof]
                nodes = slice(root, tree.last_node[k] + 1)
                twist[nodes], change[nodes] = from_world[nodes] @ world[k], from_world[nodes] @ world_change[k]
        return twist, change

    def load_table(self, places: tuple[LoadPlace, ...]) -> Loads:
        """Nodes and weights on which each load acts."""
        nodes, tree, mesh = len(self.chain.inertia.M), self.chain.tree, self.chain.mesh
        weight, lever, ball = np.zeros((len(places), nodes)), np.zeros((len(places), 3)), np.full(len(places), -1)
        for n, (row, place) in enumerate(zip(weight, places)):
            k = self.row_of(place.link)
            if place.reacts_on is not None:
                ball[n] = tree.dof[k] - 2
                continue
            begin, of_element = int(tree.first_element[k]), np.arange(len(self.points.nodes))
            if place.station is not None:
                ends = self.placed.ends[k]
                i = int(np.searchsorted(ends[1:-1], place.station))
                at = (place.station - ends[i]) / mesh.length[begin + i]
                row[mesh.start[begin + i] + of_element] = lagrange_values(self.points.nodes, np.array([at]))[0]
            elif place.distributed:
                for e in range(begin, begin + tree.n_elements[k]):
                    row[mesh.start[e] + of_element] += self.points.node_weights * mesh.length[e]
            else:
                row[(tree.last_node if place.end is End.TIP else tree.first_node)[k]] = 1.0
                lever[n] = section_of(self, place)[1]
        acts = weight != 0.0
        first, last = acts.argmax(axis=1), nodes - 1 - acts[:, ::-1].argmax(axis=1)
        world = np.array([place.frame is Frame.WORLD for place in places], dtype=np.bool_)
        return Loads(first, np.where(ball < 0, last, -1), weight, world, lever, ball)

    def row_of(self, link: str) -> int:
        """The link of the chain that a link of the robot is."""
        return self.placed.links[self.link_names.index(link)]

    def along_links(self, stations: Sequence[Floats]) -> Path:
        """To the stations of every link of the robot."""
        wanted = [np.zeros(0)] * len(self.placed.ends)
        for row, at in zip(self.placed.links, stations):
            wanted[row] = at
        return make_path(self.chain, self.points, self.placed, wanted)

    @cached_property
    def start_shape(self) -> tuple[Floats, Floats]:
        """Strains (1, points, 6) and joint positions (1, dofs) of the initial state."""
        return self.shape(self.initial_state())

    @cached_property
    def node_path(self) -> Path:
        stations = [at if len(at) else np.zeros(1) for at in self.placed.nodes]
        return make_path(self.chain, self.points, self.placed, stations)

    @cached_property
    def _tip_path(self) -> Path:
        ends = [np.zeros(0)] * len(self.link_names)
        last = self.placed.nodes[self.row_of(self.robot.tip_link)]
        ends[self.link_names.index(self.robot.tip_link)] = last[-1:] if len(last) else np.zeros(1)
        return self.along_links(ends)

    def shape(self, states: Floats) -> tuple[Floats, Floats]:
        """Strains and joint positions of many states (n, size)."""
        many = np.atleast_2d(states)
        e, q = (np.ascontiguousarray(self.layout.part(many, name)) for name in ("strain", "joint_position"))
        return e, q

    def poses(self, states: Floats, path: Path) -> tuple[Floats, Floats]:
        """Positions (n, rows, 3) and rotations (n, rows, 3, 3) at the stations of a path, for many states (n, size)."""
        many = np.ascontiguousarray(np.atleast_2d(states))
        if not many.flags.writeable:  # kernels are at hand for those that are
            many = many.copy()
        q = np.ascontiguousarray(self.layout.part(many, "joint_position"))
        return poses_of(self.chain, path, (many, self.layout.slices["strain"].start), q, self.frames(many))

    def split(self, states: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Twists, strains, joint positions and joint rates of many states (n, size)."""
        many = np.atleast_2d(states)
        blocks = ("twist", "strain", "joint_position", "joint_rate")
        V, e, q, qd = (np.ascontiguousarray(self.layout.part(many, name)) for name in blocks)
        return V, e, q, qd

    def unresolved(self, states: Floats) -> float:
        """How far what the mesh hardly resolves moves a tip, m."""
        return unresolved(self, states)

    def section_at(self, link: str, station: float) -> ChainSection:
        return ChainSection(self, link, station)

    def tip(self, states: Floats) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of the tip of the last link."""
        x, R = self.poses(states, self._tip_path)
        position, rotation = x[:, 0], R[:, 0]
        if self._rigid_tip is not None:
            position = position + rotation @ self._rigid_tip[0]
            rotation = rotation @ self._rigid_tip[1]
        return position, rotation

    @cached_property
    def _rigid_tip(self) -> tuple[Floats, Floats] | None:
        """Where the tip of the last link is in its root, if it is rigid."""
        link = self.robot.link(self.robot.tip_link)
        return (
            (np.array(link.tip_position, float), matrix_of(link.tip_rotation)) if isinstance(link, RigidLink) else None
        )

    def observe(self, states: Floats, stations: int = 21) -> Observation:
        """Shape, strains and section wrenches at equally spaced stations of every link."""
        return observe(self, np.atleast_2d(states), stations)

    def link_ends(self, states: Floats) -> tuple[Floats, Floats]:
        return link_ends(self, np.atleast_2d(states))

    def load_flows(self, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
        """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
        return load_flows(self, np.atleast_2d(states), loads)

    def energy(self, states: Floats) -> tuple[Floats, Floats, Floats]:
        """Kinetic, elastic and gravity potential energy of many states, joule, without connected components."""
        plant = self.plant(self.inputs)
        stored = np.array([stored_energies(plant, state_of(self, x)) for x in np.atleast_2d(states)]).reshape(-1, 2)
        if plant.relations.taken.size:  # springs and stops of ball and free joints
            pose = np.zeros((1, len(self.chain.tree.parent), 12))
            for row, x in zip(stored, np.atleast_2d(states)):
                row[1] += measure_start(self.chain.tree, plant.relations, state_of(self, x), pose)
        x, R = self.poses(states, self.node_path)
        return stored[:, 0], stored[:, 1], self._potential(x, R)

    def _potential(self, x: Floats, R: Floats) -> Floats:
        inertia, mesh = self.chain.inertia, self.chain.mesh
        if not inertia.gravity.any():
            return np.zeros(len(x))
        lifted = _against_gravity(inertia.M, x, R, inertia.gravity)
        if inertia.at_points:
            f = mesh.N[0]
            between = f[0] * x[:, mesh.start] + f[1] * x[:, mesh.start + 1]
            lifted = lifted + _against_gravity(inertia.M_point, between, R[:, mesh.start], inertia.gravity)
        return lifted

    def stepper(self, run: Run) -> Stepper:
        inputs = self._at_nodes(run.inputs)
        return Stepper(self, run if inputs is run.inputs else replace(run, inputs=inputs))

    def equilibrium(self, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Equilibrium:
        """Static equilibrium under gravity and the loads of one time."""
        return find_equilibrium(self, start, self._at_nodes(inputs), time, load_steps, accuracy)

    def beyond_reach(self, state: Floats, turning: float) -> str:
        """Where a link is bent further than its polynomials follow; such a run would end there."""
        link = bent_too_far(self, self.shape(state)[0][0])
        return f"{link} is bent too far for its mesh; use PoseElement, or more elements" if link else ""

    def linearise(self, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
        """Mass, damping and stiffness of deviations from the motion through a state."""
        # loaded here: sparse matrices would make every start slower
        from pliant.structures.collocation.linearise import linearise

        return linearise(self, state, self._at_nodes(inputs), time)

    def step_unknowns(
        self, start: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
    ) -> tuple[Floats, Floats]:
        """The unknowns of a solved step, and its end; both as `step_equations` reads them."""
        from pliant.structures.collocation.step_equations import step_unknowns

        return step_unknowns(self, start, self._at_nodes(inputs), time, step, method)

    def step_equations(
        self, start: Floats, unknowns: Floats, inputs: Inputs, time: float, step: float, method: StageMethod
    ) -> ChainStep:
        """The equations of one step about given values, with their derivatives.

        ``start`` is a state and, where the method carries them, its rates; without them they are found as in a run.
        """
        from pliant.structures.collocation.step_equations import step_equations

        return step_equations(self, start, unknowns, self._at_nodes(inputs), time, step, method)

    def consistency_error(self, record: Record) -> Consistency:
        """Tip velocity of the rebuilt shape against that of the state; potential energy against the work of gravity."""
        V, e, _, qd = self.split(record.states)
        rates = strain_rates_of(self, V, e)
        drawn = drawn_tip_velocity(self, record.states, rates.reshape(len(V), -1), qd, V)
        if self.chain.frames:
            drawn = drawn + carried_by_frames(self, record.states)
        tip = LoadPlace("tip", self.robot.tip_link, False, Frame.WORLD)
        x, R = self.poses(record.states, self.node_path)
        twist = np.sqrt(((drawn - flow_of(self, tip, V, R)[:, :3]) ** 2).sum(axis=1))
        potential = self._potential(x, R)
        return Consistency(twist, potential - potential[0] + record.ledger.gravity)

    def place_of(self, node: int) -> str:
        """Where a node is, in words."""
        tree = self.chain.tree
        for k, name in zip(self.placed.links, self.link_names):
            if tree.first_node[k] <= node <= tree.last_node[k]:
                at = self.placed.nodes[k]
                where = f" at s = {at[node - tree.first_node[k]]:.3g} m" if len(at) else ""
                return f"link '{name}'{where}"
        return "the arm"


# of each arm, the last inputs and what they do to nodes and joints: trials and runs of one model ask again and again
_DRIVEN: WeakKeyDictionary[GeometricallyExactArm, tuple[Inputs, Loads, Drives, Joints]] = WeakKeyDictionary()


def _against_gravity(M: Floats, x: Floats, R: Floats, gravity: Floats) -> Floats:
    """Potential energy (n,) of bodies with these mass matrices, by the places of their centres of mass."""
    fallen = (x @ gravity) @ M[:, 0, 0]
    offset = np.stack([M[:, 1, 5], M[:, 2, 3], M[:, 0, 4]], axis=1)  # times mass
    if offset.any():
        fallen += ((gravity @ R) * offset).sum(axis=(1, 2))
    return np.asarray(-fallen)
