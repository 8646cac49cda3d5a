"""Arms as bond graphs: the word model of [damic2006], Figs. 9 and 12, down to elements.

    Controller, Manipulator, Base, End  /  joints, links, payloads  /  Revolute and Drive (Fig. 7), super elements (Fig. 5)

The two upper levels are the same for rigid and flexible links. Velocities tie the parts, so that a graph that is
computed keeps its joints together as its steps do; what has no element level yet says so where it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.bond_graph import beam
from pliant.bond_graph.beam import NONE, ONTO_VELOCITY, BeamSection, Formulas, Pose, variables
from pliant.bond_graph.domain import ROTATION, SPATIAL
from pliant.bond_graph.elements import TF, OneJunction, Part, Se, Sf, ZeroJunction
from pliant.bond_graph.expression import ZERO, Expression, constant, name
from pliant.bond_graph.graph import Bond, Component, Integral, Signal
from pliant.components import kinds
from pliant.components.motions import Hold
from pliant.components.signals import Constant
from pliant.errors import InvalidInput, refuse_outside
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.robot import (
    At,
    End,
    FixedJoint,
    FlexibleLink,
    Joint,
    LinearLaw,
    LoopKind,
    ReducedLink,
    RevoluteJoint,
    RigidLink,
    Robot,
)
from pliant.robot.axes import IDENTITY, ORIGIN
from pliant.robot.joint import BASE
from pliant.robot.link import Link, Payload
from pliant.robot.loop import LoopJoint, parent_frame
from pliant.spatial.arrays import rotation_from_vector

if TYPE_CHECKING:
    from pliant.bond_graph.mixed_element import MixedElements

CONTROLLER, MANIPULATOR, GROUND, TIP = "Controller", "Manipulator", "Base", "End"
SLACK = 1e-9


@dataclass(frozen=True)
class Beams:
    """Flexible links are rows of co-rotational beams, in super elements of five.

    ``elements`` for each link, one number or a mapping from names; links without a number have ten.
    """

    elements: int | Mapping[str, int] = 10

    def of(self, link: FlexibleLink) -> int:
        """The elements of a link."""
        count = self.elements.get(link.name, 10) if isinstance(self.elements, Mapping) else self.elements
        refuse_outside(f"elements of link '{link.name}'", count, 1, 10_000, "5 or 10 serves most links")
        return count


def of(arm: Arm | Robot, links: Beams | MixedElements | None = None) -> Component:
    """The bond graph of a robot, or of an arm with what is connected to its joints.

    ``links`` says what flexible links are made of, by default of co-rotational beams.
    """
    from pliant.bond_graph.mixed_element import BodyBuilder, MixedElements

    robot = arm if isinstance(arm, Robot) else arm.robot
    drives = {} if isinstance(arm, Robot) else _drives(arm)
    if isinstance(links, MixedElements):
        return BodyBuilder(robot, drives, links).whole()
    return Builder(robot, drives, Beams() if links is None else links).whole()


@dataclass
class Drive:
    """What acts on a joint: a torque as a formula, or a motion; both may be left open to signals."""

    torque: Expression = ZERO
    more: bool = False  # a torque in time besides
    moves: bool = False
    still: bool = False


def _drives(arm: Arm) -> dict[str, Drive]:
    """What the components of a connected arm do to its joints; loads on links and sampled laws are refused."""
    drives: dict[str, Drive] = {}
    given = getattr(arm, "given", arm)
    for part in getattr(arm, "components", ()):
        for each in part.attachments(given):
            if not isinstance(each, kinds.OnJoint):
                raise InvalidInput(
                    f"{type(part).__name__} has no place in the bond graph of an arm; connect it to the arm alone"
                )
            own = drives.setdefault(each.joint, Drive())
            angle, rate = name(f"{each.joint} angle"), name(f"{each.joint} rate")
            match each:
                case kinds.Feedback(reference=Hold(position=target)):
                    own.torque = own.torque + each.stiffness * (target - angle) - each.damping * rate
                case kinds.Torque(signal=Constant(value=value)) if np.ndim(value) == 0:
                    own.torque = own.torque + float(value)  # type: ignore[arg-type]
                case kinds.Torque():
                    own.more = True
                case kinds.Prescription(motion=Hold()):
                    own.moves = own.still = True
                case kinds.Prescription():
                    own.moves = True
                case _:
                    raise InvalidInput(
                        f"{type(part).__name__} on joint '{each.joint}' changes in time, which has no place in the bond"
                        " graph of an arm; use a Hold, or a torque or motion that is connected to the graph"
                    )
    return drives


@dataclass
class Builder:
    """A graph on its way: what the Manipulator holds, and where its links start."""

    robot: Robot
    drives: Mapping[str, Drive]
    links: Beams | MixedElements
    parts: dict[str, Part | Component] = field(default_factory=dict)
    bonds: list[Bond] = field(default_factory=list)
    wires: list[Signal] = field(default_factory=list)
    ports: dict[str, str] = field(default_factory=dict)
    roots: dict[str, Pose] = field(default_factory=dict)
    tips: dict[str, Pose] = field(default_factory=dict)
    inputs: ClassVar[dict[str, int]] = {"m": 3, "n": 3}  # of the Manipulator, from the Base

    def __post_init__(self) -> None:
        self.gravity = np.array(self.robot.gravity, float)

    def whole(self) -> Component:
        """Fig. 12a."""
        robot = self.robot
        zero = np.zeros(3)
        ground = Pose(np.array(robot.base.position, float), matrix_of(robot.base.rotation), zero, zero)
        self.roots[BASE] = self.tips[BASE] = ground
        for joint in robot.chain_order:
            self.add_joint(joint)
            self.add_link(robot.link(joint.child))
        for payload in robot.payloads:
            self.add_payload(payload)
        for loop in robot.loops:
            self.add_loop(loop)
        moving = [joint.name for joint in robot.chain_order if joint.moves]
        self.ports["end"] = f"{robot.tip_link}.right"
        signals: dict[str, Expression | tuple[Expression, ...]] = {}
        for each in moving:
            self.ports[each] = f"{each}.drive"
            signals |= {f"{each} {word}": name(f"{each}.{word}") for word in ("angle", "rate")}
        tip = self.parts[robot.tip_link]
        if isinstance(tip, Component) and "r" in tip.signals:
            signals["position"] = tuple(variables(f"{robot.tip_link}.r"))
        inputs = self.inputs
        about = f"the links and joints of {robot.name}"
        manipulator = Component(self.parts, self.bonds, self.ports, signals, inputs, self.wires, about)
        columns = {word: tuple(constant(float(x)) for x in ground.rotation[:, k]) for k, word in enumerate(inputs, 1)}
        base = Component(
            {"Sf": Sf(flow=(0.0,) * 6, domain=SPATIAL)}, ports={"ground": "Sf"}, signals=columns, about="fixed ground"
        )
        end = Component({"Se": Se(effort=(0.0,) * 6, domain=SPATIAL)}, ports={"tip": "Se"}, about="free of efforts")
        parts: dict[str, Part | Component] = {GROUND: base, MANIPULATOR: manipulator, TIP: end}
        bonds = [Bond(f"{GROUND}.ground", f"{MANIPULATOR}.base"), Bond(f"{TIP}.tip", f"{MANIPULATOR}.end")]
        wires = [Signal(f"{GROUND}.{word}", f"{MANIPULATOR}.{word}") for word in inputs]
        if moving:
            parts = {CONTROLLER: self.controller(moving), **parts}
            bonds += [Bond(f"{CONTROLLER}.{each}", f"{MANIPULATOR}.{each}") for each in moving]
            wires += [
                Signal(f"{MANIPULATOR}.{each} {word}", f"{CONTROLLER}.{each} {word}")
                for each in moving
                for word in ("angle", "rate")
            ]
        return Component(parts, bonds, wires=wires, about=f"the robot {robot.name}")

    def controller(self, joints: list[str]) -> Component:
        """Torques of all joints by their laws; motions and torques in time are sources left open."""
        parts: dict[str, Part | Component] = {}
        bonds, ports = [], {}
        for joint in joints:
            own = self.drives.get(joint, Drive())
            ports[joint] = joint
            if own.moves:
                parts[joint] = Sf(flow=0.0 if own.still else None, domain=ROTATION)
            elif own.more:
                at = f"{joint} axis"
                parts |= {joint: Se(domain=ROTATION), f"{joint} law": Se(effort=own.torque), at: OneJunction()}
                bonds += [Bond(joint, at), Bond(f"{joint} law", at)]
                ports[joint] = at
            else:
                parts[joint] = Se(effort=own.torque, domain=ROTATION)
        inputs = {f"{joint} {word}": 1 for joint in joints for word in ("angle", "rate")}
        return Component(parts, bonds, ports, inputs=inputs, about="what drives the joints")

    # joints -------------------------------------------------------------------------------------------------------

    def add_joint(self, joint: Joint) -> None:
        at = parent_frame(joint)
        start = self.start_of(at)
        self.parts[joint.name], self.roots[joint.child] = self.joint(joint, at, start)
        if joint.parent == BASE:
            self.ports["base"] = "ground" if "base" in self.ports else f"{joint.name}.left"
            self.wire("", joint.name)
            if self.ports["base"] == "ground":
                self.several_on_ground()
        else:
            self.bonds.append(Bond(f"{joint.parent}.right", f"{joint.name}.left"))
            self.wire(joint.parent, joint.name)
        self.bonds.append(Bond(f"{joint.name}.right", f"{joint.child}.left"))

    def several_on_ground(self) -> None:
        """A junction for all joints on the base."""
        self.parts["ground"] = OneJunction(size=6, domain=SPATIAL)
        joined = {bond.end for bond in self.bonds if bond.start == "ground"}
        for joint in self.robot.joints:
            if joint.parent == BASE and joint.name in self.parts and f"{joint.name}.left" not in joined:
                self.bonds.append(Bond("ground", f"{joint.name}.left"))

    def start_of(self, end: At) -> Pose:
        """A frame at the start."""
        at = (self.tips if end.end is End.TIP else self.roots)[end.link]
        return at.moved(np.array(end.position, float), matrix_of(end.rotation))

    def turned(self, joint: RevoluteJoint, start: Pose) -> Pose:
        """The root of the child of a joint that starts turned."""
        axis = np.array(joint.axis, float) / np.linalg.norm(joint.axis)
        turn = rotation_from_vector(axis * joint.initial_position)
        spin = start.spin + start.rotation @ axis * joint.initial_rate
        return Pose(start.position, start.rotation @ turn, start.velocity, spin)

    def wire(self, carrier: str, part: str) -> None:
        """The unit vectors of the section that carries a part."""
        for word in ("m", "n"):
            self.wires.append(Signal(f"{carrier}.{word}" if carrier else word, f"{part}.{word}"))

    def joint(self, joint: Joint, at: At, start: Pose) -> tuple[Component, Pose]:
        """The component of a joint, and the root of its child at the start."""
        if at.station is not None:
            return words_only(joint, "a joint at a station"), start
        if isinstance(joint, FixedJoint):
            return fixed_joint(np.array(at.position, float)), start
        if not isinstance(joint, RevoluteJoint):
            return words_only(joint, f"a {joint.word} joint"), start
        if joint.friction or joint.limits:
            return words_only(joint, "a joint with friction or stops"), start
        axis = np.array(joint.axis, float) / np.linalg.norm(joint.axis)
        spring = joint.spring
        law = (spring.stiffness, joint.initial_position - spring.rest_position) if spring else (0.0, 0.0)
        made = revolute_joint(
            np.array(at.position, float), matrix_of(at.rotation) @ axis, joint.initial_position, law, joint.damping
        )
        return made, self.turned(joint, start)

    def add_loop(self, loop: LoopJoint) -> None:
        """A joint between two frames of the tree, of no drive."""
        here, there = loop.first, loop.second
        plain = all(
            end.position == ORIGIN and end.rotation == IDENTITY and end.station is None for end in (here, there)
        )
        if loop.kind is LoopKind.REVOLUTE and plain and loop.obeys_nothing and BASE not in (here.link, there.link):
            self.parts[loop.name] = revolute_joint(np.zeros(3), np.array(loop.axis, float), 0.0, (0.0, 0.0), 0.0, True)
        else:
            self.parts[loop.name] = words_only(loop, f"a {loop.kind} loop joint with a law or off the ends of links")
        self.tie(loop)
        self.wire(here.link, loop.name)

    def tie(self, loop: LoopJoint) -> None:
        for end, side in ((loop.first, "left"), (loop.second, "right")):
            where = "right" if end.end is End.TIP else "left"
            self.bonds.append(Bond(f"{end.link}.{where}", f"{loop.name}.{side}"))

    # links --------------------------------------------------------------------------------------------------------

    def add_link(self, link: Link) -> None:
        start = self.roots[link.name]
        if isinstance(link, FlexibleLink):
            self.parts[link.name], self.tips[link.name] = self.flexible(link, start)
            return
        link = link.undeformed if isinstance(link, ReducedLink) else link
        assert isinstance(link, RigidLink)
        tip = np.array(link.tip_position, float)
        self.tips[link.name] = start.moved(tip, matrix_of(link.tip_rotation))
        self.parts[link.name] = rigid_link(link, self.gravity, start)

    def flexible(self, link: FlexibleLink, start: Pose) -> tuple[Component, Pose]:
        tip = start.moved(np.array([link.length, 0.0, 0.0]))
        count = self.links.of(link)
        why = _beyond_beams(link)
        if why:
            return words_only(link, why), tip
        ends = np.linspace(0.0, link.length, count + 1)
        poses = [start.moved(np.array([s, 0.0, 0.0])) for s in ends]
        beams = []
        for k in range(count):
            section = beam_section(link, float(ends[k]), float(ends[k + 1]))
            beams.append(beam.beam3d(section, poses[k : k + 2], self.gravity))
        return beam.super_elements(beams, "Beam3D"), tip

    def add_payload(self, payload: Payload) -> None:
        tip = payload.at is End.TIP
        start = (self.tips if tip else self.roots)[payload.link]
        if payload.mass == 0.0:
            self.parts[payload.name] = words_only(payload, "an inertia without mass")
        else:
            center, J = np.array(payload.center_of_mass, float), np.array(payload.inertia, float)
            self.parts[payload.name] = beam.rigid_body(payload.mass, center, J, self.gravity, start)
        self.bonds.append(Bond(f"{payload.link}.{'right' if tip else 'left'}", f"{payload.name}.port"))
        words = ("m", "n") if tip else ("root m", "root n")
        for word, inner in zip(words, ("m", "n")):
            self.wires.append(Signal(f"{payload.link}.{word}", f"{payload.name}.{inner}"))


def words_only(part: object, what: str) -> Component:
    """A component that is a word only."""
    ports = ("port",) if isinstance(part, Payload) else ("left", "right")
    if isinstance(part, Joint) and part.moves:
        ports = (*ports, "drive")
    about = f"{what} has no element level yet; compile the robot by a formulation to compute it"
    return Component({}, ports={port: port for port in ports}, about=about)


def _beyond_beams(link: FlexibleLink) -> str:
    """Why a link is no row of co-rotational beams here, or nothing."""
    stations = np.linspace(0.0, link.length, 5)
    K, M = link.stiffness(stations), link.inertia(stations)
    off = [np.abs(each - np.einsum("nii->ni", each)[:, :, None] * np.eye(6)).max() for each in (K, M)]
    J = M[:, [3, 4, 5], [3, 4, 5]]
    if np.abs(link.rest_strain(stations)[:, 1:]).max() > SLACK or not isinstance(link.law, LinearLaw):
        return "a curved link, or one of another law than the linear one,"
    if max(off) > SLACK * np.abs(K).max() or np.ptp(M[:, [0, 1, 2], [0, 1, 2]], axis=1).max() > SLACK * M.max():
        return "a section whose deformations are coupled"
    if np.abs(J[:, 0] - J[:, 1] - J[:, 2]).max() > 1e-6 * np.abs(J).max() or any(link.viscous_damping) or link.massless:
        return "a section whose inertia is not that of an area, or a link with viscous damping,"
    return ""


def beam_section(link: FlexibleLink, start: float, end: float) -> BeamSection:
    """The element between two stations, with what the section has in its middle."""
    middle = [0.5 * (start + end)]
    keep = [0, 3, 4, 5]
    K, D, M = (np.diagonal(each(middle)[0]).tolist() for each in (link.stiffness, link.material_damping, link.inertia))
    stiffness, damping = (tuple(each[k] for k in keep) for each in (K, D))
    return BeamSection(end - start, stiffness, M[0], M[4], M[5], damping)


def section_axes() -> Formulas:
    """The unit vectors (l, m, n) of the section that carries a part, as columns."""
    m, n = variables("m"), variables("n")
    return np.column_stack([beam.cross(m, n), m, n])


def lever(offset: Formulas) -> Formulas:
    """From the flow of a frame to that of another one of the same body, at an offset in the world."""
    return np.vstack([beam.onto_point(offset), np.hstack([NONE, beam.IDENTITY])])


def fixed_joint(position: Array) -> Component:
    """Both sections as one, or as one body with an offset."""
    if not position.any():
        return Component({"1": OneJunction(size=6)}, ports={"left": "1", "right": "1"}, inputs={"m": 3, "n": 3})
    offset = TF(ratio=lever(section_axes() @ position.astype(object)))
    return Component(
        {"Offset": offset, "1": OneJunction(size=6), "2": OneJunction(size=6)},
        [Bond("1", "Offset"), Bond("Offset", "2")],
        {"left": "1", "right": "2"},
        inputs={"m": 3, "n": 3},
    )


def revolute_joint(
    position: Array, axis: Array, angle: float, spring: tuple[float, float], damping: float, free: bool = False
) -> Component:
    """Fig. 7a: what the joint ties, and what turns it about an axis given in the frame of the section before it."""
    unit = section_axes() @ axis.astype(object)
    parts: dict[str, Part | Component] = {
        "Revolute": revolute(),
        "Drive": beam.drive(unit, spring, damping, free, {"m": 3, "n": 3}),
    }
    bonds = [Bond("Drive.axis", "Revolute.drive")]
    ports = {"left": "Revolute.left", "right": "Revolute.right"}
    if position.any():
        parts = {"Offset": TF(ratio=lever(section_axes() @ position.astype(object))), **parts, "before": OneJunction()}
        bonds += [Bond("before", "Offset"), Bond("Offset", "Revolute.left")]
        ports["left"] = "before"
    if not free:
        ports["drive"] = "Drive.torque"
    signals = {"angle": Integral(name("Drive.rate"), angle), "rate": name("Drive.rate")}
    return Component(
        parts, bonds, ports, signals, inputs={"m": 3, "n": 3}, wires=_vectors("Drive"), about="revolute joint"
    )


def _vectors(part: str) -> tuple[Signal, ...]:
    return tuple(Signal(word, f"{part}.{word}") for word in ("m", "n"))


def revolute() -> Component:
    """Fig. 7b and c: Tr makes velocities equal, Rot adds the rate of the joint (19)."""
    onto_spin = np.hstack([NONE, beam.IDENTITY])
    parts: dict[str, Part | Component] = {
        "left": OneJunction(size=6, domain=SPATIAL),
        "v left": TF(ratio=ONTO_VELOCITY),
        "w left": TF(ratio=onto_spin),
        "Tr": OneJunction(size=3),
        "Rot": ZeroJunction(size=3),
        "v right": TF(ratio=ONTO_VELOCITY),
        "w right": TF(ratio=-1.0 * onto_spin),
        "right": OneJunction(size=6, domain=SPATIAL),
    }
    bonds = []
    for side in ("left", "right"):
        bonds += [Bond(side, f"v {side}"), Bond(side, f"w {side}"), Bond(f"v {side}", "Tr"), Bond(f"w {side}", "Rot")]
    return Component(parts, bonds, {"left": "left", "right": "right", "drive": "Rot"}, about="the bearing of the joint")


def rigid_link(link: RigidLink, gravity: Array, start: Pose) -> Component:
    """A rigid body between two junctions."""
    center, J, tip = (np.array(each, float) for each in (link.center_of_mass, link.inertia, link.tip_position))
    J = np.diag(J) if J.ndim == 1 else J
    axes = section_axes()
    parts: dict[str, Part | Component] = {"root": OneJunction(size=6, domain=SPATIAL)}
    bonds, ports = [], {"left": "root", "right": "root"}
    wires: tuple[Signal, ...] = ()
    if link.mass > 0.0:
        parts["Rigid Body"] = beam.rigid_body(link.mass, center, J, gravity, start)
        bonds.append(Bond("root", "Rigid Body.port"))
        wires = tuple(Signal(f"root {word}", f"Rigid Body.{word}") for word in ("m", "n"))
    if tip.any():
        parts |= {"Lever": TF(ratio=lever(_renamed(axes) @ tip.astype(object))), "tip": OneJunction(size=6)}
        bonds += [Bond("root", "Lever"), Bond("Lever", "tip")]
        ports["right"] = "tip"
    spin = variables("root.f", 6)[3:]
    signals: dict[str, Integral | tuple[Expression, ...]] = {
        f"root {word}": Integral(tuple(beam.cross(spin, variables(f"root {word}"))), tuple(start.rotation[:, k]))
        for k, word in ((1, "m"), (2, "n"))
    }
    at_tip = _renamed(axes) @ matrix_of(link.tip_rotation).astype(object)
    signals |= {"m": tuple(at_tip[:, 1]), "n": tuple(at_tip[:, 2])}
    velocity = variables(f"{ports['right']}.f", 6)[:3]
    signals["r"] = Integral(tuple(velocity), tuple(start.moved(tip).position))
    return Component(parts, bonds, ports, signals, wires=wires, about="a rigid link")


def _renamed(axes: Formulas) -> Formulas:
    """The unit vectors at the root of a rigid link."""
    m, n = variables("root m"), variables("root n")
    return np.column_stack([beam.cross(m, n), m, n])
