"""Arms as bond graphs: the word model of [damic2006], Figs. 9 and 12, down to elements.

    Controller, Manipulator, Base, End  /  joints, links, payloads  /  Revolute and Drive (Fig. 7), super elements

The two upper levels are the same for rigid and flexible links. Parts are tied by velocities. What has no element level
yet is a word that says so where it is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.bond_graph import beam
from pliant.bond_graph.beam import TO_SPIN, TO_VELOCITY, Formulas, Parts, Pose, chain, junction, section_axes, variables
from pliant.bond_graph.domain import ROTATION, TRANSLATION, Domain
from pliant.bond_graph.elements import TF, C, OneJunction, Part, R, Se, Sf, Source, ZeroJunction
from pliant.bond_graph.graph import Bond, Component, Integral, Signal
from pliant.components import kinds
from pliant.components.motions import Hold
from pliant.components.signals import Constant
from pliant.errors import InvalidInput, refuse_outside
from pliant.formulas.expression import Expression, exp, larger, name, sign, tanh
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.arm import MOST_ELEMENTS, Counts, counts_of
from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.robot import At, End, FlexibleLink, LinearLaw, LoopKind, ReducedLink, RigidLink, Robot
from pliant.robot.joint import BASE, AxisJoint, FixedJoint, Joint, PrismaticJoint, RevoluteJoint
from pliant.robot.loop import LoopJoint, parent_frame
from pliant.spatial.arrays import rotation_from_vector

if TYPE_CHECKING:
    from pliant.bond_graph.mixed_element import MixedElements

CONTROLLER, MANIPULATOR, GROUND, TIP = "Controller", "Manipulator", "Base", "End"
SIDES = {"left": "left", "right": "right"}
VECTORS = {"m": 3, "n": 3}  # what parts must know of the section that carries them
USUAL = 10  # elements of links that a mapping does not name


@dataclass(frozen=True)
class Beams:
    """Flexible links are rows of co-rotational beams, so many in each ``super_element``.

    ``elements`` for each link, one number or a mapping from names; links without a number have ten.
    """

    elements: Counts = 10
    super_element: int = beam.SUPER

    def __post_init__(self) -> None:
        refuse_outside("super_element", self.super_element, 1, MOST_ELEMENTS, "5 as in the paper")


def of(arm: Arm | Robot, links: Beams | MixedElements | None = None) -> Component:
    """The bond graph of a robot, or of an arm with what is connected to its joints.

    ``links`` says what flexible links are made of, by default of co-rotational beams, as many as the arm has if it is
    `Corotational`.
    """
    from pliant.bond_graph.mixed_element import BodyBuilder, MixedElements

    builder = BodyBuilder if isinstance(links, MixedElements) else Builder
    if isinstance(arm, Robot):
        return builder(arm, {}, links or Beams()).whole()
    chosen: Any = arm.formulation
    usual = Beams(chosen.elements, chosen.super_element) if hasattr(chosen, "super_element") else Beams()
    return builder(arm.robot, _drives(arm), links or usual).whole()


def _drives(arm: Arm) -> dict[str, Source]:
    """Sources of joints for what is connected to an arm."""
    joints = {joint.name: joint for joint in arm.robot.joints}
    drives: dict[str, Source] = {}
    for part in getattr(arm, "components", ()):
        for each in part.attachments(getattr(arm, "given", arm)):
            joint = joints.get(getattr(each, "joint", ""))
            made = _drive(each, joint) if joint else None
            if joint is None or made is None or joint.name in drives:
                raise InvalidInput(
                    f"{type(part).__name__} has no place in the bond graph of an arm, which takes one torque, motion or"
                    " law with a Hold for each joint; connect it to the arm alone"
                )
            drives[joint.name] = made
    return drives


def _drive(contribution: object, joint: Joint) -> Source | None:
    """The source of a joint; motions and torques in time are left open."""
    at, rate = (name(f"{joint.name} {word}") for word in words_of(joint))
    match contribution:
        case kinds.Feedback(reference=Hold(position=target), stiffness=k, damping=d):
            return Se(effort=k * (target - at) - d * rate, domain=domain_of(joint))
        case kinds.Torque(signal=Constant(value=float(value))):
            return Se(effort=value, domain=domain_of(joint))
        case kinds.Torque():
            return Se(domain=domain_of(joint))
        case kinds.Prescription(motion=motion):
            return Sf(flow=0.0 if isinstance(motion, Hold) else None, domain=domain_of(joint))
    return None


class Builder:
    """A graph on its way: what the Manipulator holds, and where its links start."""

    inputs: ClassVar[Mapping[str, int]] = VECTORS  # of the Manipulator, from the Base
    axis_joints: ClassVar[tuple[type[AxisJoint], ...]] = (RevoluteJoint, PrismaticJoint)

    def __init__(self, robot: Robot, drives: Mapping[str, Source], links: Beams | MixedElements) -> None:
        self.robot, self.drives, self.links = robot, drives, links
        self.counts = counts_of(robot, links.elements, USUAL)
        self.gravity = np.array(robot.gravity, float)
        self.parts: Parts = {}
        self.bonds: list[Bond] = []
        self.wires: list[Signal] = []
        ground = Pose(np.array(robot.base.position, float), matrix_of(robot.base.rotation), np.zeros(3), np.zeros(3))
        self.roots, self.tips = {BASE: ground}, {BASE: ground}

    def whole(self) -> Component:
        """Fig. 12a."""
        robot, joints = self.robot, self.robot.chain_order
        for joint in joints:
            self.add_joint(joint)
            self.add_link(joint.child)
        for payload in robot.payloads:
            side, start = ("right", self.tips) if payload.at is End.TIP else ("left", self.roots)
            body = self.body(payload.mass, payload.center_of_mass, payload.inertia, start[payload.link])
            self.parts[payload.name] = body or words_only("a payload without mass, or in body axes", "port")
            self.bonds.append(Bond(f"{payload.link}.{side}", f"{payload.name}.port"))
            self.wire(payload.link, payload.name, side)
        for loop in robot.loops:
            self.add_loop(loop)
        ports = {"base": "ground", "end": f"{robot.tip_link}.right"}
        match [f"{joint.name}.left" for joint in joints if joint.parent == BASE]:
            case [alone]:
                ports["base"] = alone
            case several:
                self.parts["ground"] = junction()
                self.bonds += [Bond("ground", each) for each in several]
        drives = {
            each.name: self.drives.get(each.name, Se(effort=0.0, domain=domain_of(each)))
            for each in joints
            if each.moves
        }
        told = {f"{each.name} {word}": 1 for each in joints if each.moves for word in words_of(each)}
        signals: dict[str, Any] = {each: name(each.replace(" ", ".")) for each in told}
        if "r" in getattr(self.parts[robot.tip_link], "signals", ()):
            signals["position"] = tuple(variables(f"{robot.tip_link}.r"))
        ports |= {joint: f"{joint}.drive" for joint in drives}
        axes = {word: tuple(self.tips[BASE].rotation[:, k]) for k, word in enumerate(self.inputs, 1)}
        parts: Parts = {
            CONTROLLER: Component(dict(drives), ports={each: each for each in drives}, inputs=told),
            GROUND: Component({"Sf": Sf(flow=(0.0,) * 6)}, ports={"ground": "Sf"}, signals=axes),
            MANIPULATOR: Component(self.parts, self.bonds, ports, signals, self.inputs, self.wires),
            TIP: Component({"Se": Se(effort=(0.0,) * 6)}, ports={"tip": "Se"}),
        }
        bonds = [Bond(f"{GROUND}.ground", f"{MANIPULATOR}.base"), Bond(f"{TIP}.tip", f"{MANIPULATOR}.end")]
        bonds += [Bond(f"{CONTROLLER}.{joint}", f"{MANIPULATOR}.{joint}") for joint in drives]
        wires = [Signal(f"{GROUND}.{word}", f"{MANIPULATOR}.{word}") for word in self.inputs]
        wires += [Signal(f"{MANIPULATOR}.{each}", f"{CONTROLLER}.{each}") for each in told]
        if not drives:
            del parts[CONTROLLER]
        return Component(parts, bonds, wires=wires, about=f"the robot {robot.name}")

    def wire(self, carrier: str, part: str, side: str = "right") -> None:
        """The unit vectors of the section that carries a part."""
        at = f"{carrier}." if carrier != BASE else ""
        words = {word: f"root {word}" if side == "left" else word for word in VECTORS}
        self.wires += [Signal(at + words[word], f"{part}.{word}") for word in VECTORS]

    def start_of(self, end: At) -> Pose:
        """A frame at the start."""
        at = (self.tips if end.end is End.TIP else self.roots)[end.link]
        return at.moved(np.array(end.position, float), matrix_of(end.rotation))

    # joints -------------------------------------------------------------------------------------------------------

    def add_joint(self, joint: Joint) -> None:
        at = parent_frame(joint)
        start, plain = self.start_of(at), at.station is None
        if isinstance(joint, FixedJoint) and plain:
            self.parts[joint.name] = self.fixed(at)
        elif isinstance(joint, self.axis_joints) and plain:
            axis = np.array(joint.axis, float) / np.linalg.norm(joint.axis)
            self.parts[joint.name] = self.on_axis(joint, at, axis)
            along, by = start.rotation @ axis * joint.initial_rate, axis * joint.initial_position
            if isinstance(joint, PrismaticJoint):
                start = start.moved(by)
                start = replace(start, velocity=start.velocity + along)
            else:
                start = replace(start, rotation=start.rotation @ rotation_from_vector(by), spin=start.spin + along)
        else:
            where = "at the end of a link" if plain else "at a station along a link"
            ports = ("left", "right", "drive") if joint.moves else ("left", "right")
            self.parts[joint.name] = words_only(f"a {joint.word} joint {where}", *ports)
        self.roots[joint.child] = start
        self.wire(joint.parent, joint.name)
        self.bonds.append(Bond(f"{joint.name}.right", f"{joint.child}.left"))
        if joint.parent != BASE:
            self.bonds.append(Bond(f"{joint.parent}.right", f"{joint.name}.left"))

    def fixed(self, at: At) -> Component:
        parts: Parts = {"1": junction(), "Offset": TF(ratio=self.carried(at)), "2": junction()}
        return Component(parts, chain("1", "Offset", "2"), {"left": "1", "right": "2"}, inputs=self.inputs)

    def carried(self, at: At) -> Formulas:
        """From the flow of a section to that of a frame on it, or of the same body."""
        return _moved(section_axes(), at.position)

    def on_axis(self, joint: AxisJoint, at: At, axis: Array, free: bool = False) -> Component:
        """Fig. 7a to c: velocities are equal (Tr), the rate of the joint adds to the spin (Rot, 19).

        Of a prismatic joint spins are equal and its rate adds to the velocity of the point where its slide is.
        """
        translates = isinstance(joint, PrismaticJoint)
        word, rate, part = ("Prismatic", "Tr", "slide") if translates else ("Revolute", "Rot", "bearing")
        unit = section_axes() @ (matrix_of(at.rotation) @ axis).astype(object)
        offset = section_axes() @ np.array(at.position, dtype=object)
        offset = offset + unit * name("position") if translates else offset
        tied: Parts = {"left": junction(), "right": junction()}
        bonds: list[Bond] = []
        for each, tie, left, right in (("v", "Tr", beam.to_point(offset), TO_VELOCITY), ("w", "Rot", TO_SPIN, TO_SPIN)):
            kind, sign = (ZeroJunction, -1.0) if tie == rate else (OneJunction, 1.0)
            tied |= {tie: kind(size=3), f"{each} left": TF(ratio=left), f"{each} right": TF(ratio=sign * right)}
            bonds += [*chain("left", f"{each} left", tie), *chain("right", f"{each} right", tie)]
        ports, inputs = {**SIDES, "drive": rate}, {**VECTORS, "position": 1} if translates else VECTORS
        bearing = Component(tied, bonds, ports, inputs=inputs, about=f"the {part} of the joint")
        return driven_joint(joint, {word: bearing}, tuple(f"{word}.{port}" for port in ports), unit, self.inputs, free)

    def add_loop(self, loop: LoopJoint) -> None:
        """A joint between two frames of the tree, of no drive."""
        ends = (loop.first, loop.second)
        plain = all(end == At(end.link, end.end) and end.link != BASE for end in ends) and loop.obeys_nothing
        if loop.kind is LoopKind.REVOLUTE and plain:
            assert isinstance(loop.joint, RevoluteJoint)
            self.parts[loop.name] = self.closing(loop, loop.joint, np.array(loop.axis) / np.linalg.norm(loop.axis))
        else:
            self.parts[loop.name] = words_only(
                f"a {loop.kind} loop joint with a law or off the ends of links", "left", "right"
            )
        for end, side in zip(ends, ("left", "right"), strict=True):
            self.bonds.append(Bond(f"{end.link}.{'right' if end.end is End.TIP else 'left'}", f"{loop.name}.{side}"))
        self.wire(loop.first.link, loop.name, "right" if loop.first.end is End.TIP else "left")

    def closing(self, loop: LoopJoint, joint: RevoluteJoint, axis: Array) -> Component:
        return self.on_axis(joint, loop.first, axis, free=True)

    # links --------------------------------------------------------------------------------------------------------

    def add_link(self, each: str) -> None:
        link, start = self.robot.link(each), self.roots[each]
        if isinstance(link, FlexibleLink):
            self.parts[each], self.tips[each] = self.flexible(link, start)
            return
        link = link.undeformed if isinstance(link, ReducedLink) else link
        assert isinstance(link, RigidLink)
        self.tips[each] = start.moved(np.array(link.tip_position, float), matrix_of(link.tip_rotation))
        self.parts[each] = self.rigid(link, start)

    def flexible(self, link: FlexibleLink, start: Pose) -> tuple[Component, Pose]:
        tip, why = start.moved(np.array([link.length, 0.0, 0.0])), _beyond_beams(link)
        count = 1 if link.massless else self.counts[link.name]  # a node without mass would follow from no equation
        ends = np.linspace(0.0, link.length, count + 1)
        poses = [start.moved(np.array([s, 0.0, 0.0])) for s in ends]
        beams = [beam.beam3d(link, *row, self.gravity) for row in zip(pairwise(ends), pairwise(poses), strict=True)]
        made = beam.super_elements(beams, "Beam3D", self.links.super_element)
        return words_only(why, "left", "right") if why else made, tip

    def body(self, mass: float, center: object, inertia: object, start: Pose) -> Component | None:
        J = np.array(inertia, float)
        J = np.diag(J) if J.ndim == 1 else J
        real = mass > 0.0 or J.any()
        return beam.rigid_body(mass, np.array(center, float), J, self.gravity, start) if real else None

    def rigid(self, link: RigidLink, start: Pose) -> Component:
        """A rigid body between two sections."""
        axes, tip = section_axes("root m", "root n"), np.array(link.tip_position, float)
        parts: Parts = {"root": junction(), "Lever": TF(ratio=_moved(axes, tip)), "tip": junction()}
        bonds, wires = chain("root", "Lever", "tip"), []
        if body := self.body(link.mass, link.center_of_mass, link.inertia, start):
            parts["Rigid Body"] = body
            bonds.append(Bond("root", "Rigid Body.port"))
            wires = [Signal(f"root {word}", f"Rigid Body.{word}") for word in VECTORS]
        at_tip = axes @ matrix_of(link.tip_rotation).astype(object)
        signals: dict[str, Any] = {"r": Integral(tuple(variables("tip.f", 6)[:3]), tuple(start.moved(tip).position))}
        for k, word in enumerate(VECTORS, 1):
            signals[f"root {word}"] = beam.turned(f"root {word}", "root", start.rotation[:, k])
            signals[word] = tuple(at_tip[:, k])
        return Component(parts, bonds, {"left": "root", "right": "tip"}, signals, wires=wires, about="a rigid link")


def _moved(axes: Formulas, offset: ArrayLike) -> Formulas:
    """From the flow of a frame to that of another one of the same body, at an offset along these axes."""
    return np.vstack([beam.to_point(axes @ np.array(offset, dtype=object)), TO_SPIN])


def words_only(what: str, *ports: str) -> Component:
    """A component that is a word only."""
    about = f"{what} has no element level yet; compile the robot by a formulation to compute it"
    return Component({}, ports={port: port for port in ports}, about=about)


def _beyond_beams(link: FlexibleLink) -> str:
    """Why a link is no row of co-rotational beams here, or nothing."""
    s = np.linspace(0.0, link.length, 5)
    K, M = link.stiffness(s), link.inertia(s)
    if np.abs(link.rest_strain(s)[:, 1:]).max() > beam.PLAIN or not isinstance(link.law, LinearLaw):
        return "a link that is curved or of another law than the linear one"
    off = [np.abs(each * (1 - np.eye(6))).max() / each.max() for each in (K, M) if each.any()]
    return "a link whose sections are not in principal axes" if max(off) > beam.PLAIN else ""


def domain_of(joint: Joint) -> Domain:
    return TRANSLATION if isinstance(joint, PrismaticJoint) else ROTATION


def words_of(joint: Joint) -> tuple[str, str]:
    """What a joint tells of its coordinate."""
    return ("position" if isinstance(joint, PrismaticJoint) else "angle"), "rate"


def passive_laws(joint: AxisJoint) -> Iterator[tuple[str, Part]]:
    """Spring, damper, dry friction and stops: `mechanics.joint_laws` as elements."""
    domain, start, f = domain_of(joint), joint.initial_position, name("f")
    if joint.spring:
        yield "spring", C(stiffness=joint.spring.stiffness, start=start - joint.spring.rest_position)
    if joint.damping:
        yield "damper", R(resistance=joint.damping, domain=domain)
    if joint.friction:
        coulomb, static, stribeck, smoothing = joint.friction.row
        level = coulomb + (static - coulomb) * exp(-((f / stribeck) ** 2))
        yield "friction", R(effort=level * tanh(f / smoothing), domain=domain)
    if joint.limits:
        lower, upper, k, d = joint.limits.row
        below, above = (larger(each, 0.0) for each in (lower - name("q"), name("q") - upper))
        yield "stops", C(energy=0.5 * k * (below**2 + above**2), start=start, domain=domain)
        below, above = (larger(each, 0.0) for each in (lower - name("stops.q"), name("stops.q") - upper))
        # what damping adds to the push of a spring, which never becomes a pull
        more = [larger(k * x + d * sign(x) * v, 0.0) - k * x for x, v in ((below, -f), (above, f))]
        yield "stop dampers", R(effort=more[1] - more[0], domain=domain)


def driven_joint(
    joint: AxisJoint, parts: Parts, ends: Sequence[str], unit: Formulas, inputs: Mapping[str, int], free: bool
) -> Component:
    """A bearing with its Drive (Fig. 7d): (20) as a transformer, the passive laws of the joint beside its torque."""
    word = words_of(joint)[0]
    inside: Parts = {"theta": OneJunction(size=1, domain=domain_of(joint)), "MTF": TF(ratio=[[each] for each in unit])}
    bonds = chain("theta", "MTF")
    for law, part in passive_laws(joint):
        inside[law] = part
        bonds += chain("theta", law)
    if free:
        inside["Se"] = Se(effort=0.0, domain=ROTATION)
        bonds += chain("Se", "theta")
    drive = Component(inside, bonds, {"torque": "theta", "axis": "MTF.b"}, inputs=inputs, about="axis of the joint")
    rate = name("Drive.theta.f")
    signals: dict[str, Integral | Expression] = {word: Integral(rate, joint.initial_position), "rate": rate}
    inner = {"Drive": drive} | {part: each for part, each in parts.items() if isinstance(each, Component)}
    wires = [Signal(each, f"{part}.{each}") for part, own in inner.items() for each in own.inputs]
    ports = {"left": ends[0], "right": ends[1]} | ({} if free else {"drive": "Drive.torque"})
    return Component({**parts, "Drive": drive}, [Bond("Drive.axis", ends[2])], ports, signals, inputs, wires)
