"""The mixed finite element of [macchelli2007] (Fig. 3) as a component, and arms of such elements.

Efforts are wrenches w, flows twists t of sections in their own axes. With beta = 1 - alpha and n = q + rest strain h,

    e^q = alpha w_a + beta w_b ,   e^p = beta t_a + alpha t_b ,
    q' = t_b - t_a + ad_n e^p ,    p' = w_b - w_a - ad_n^T e^q + ad_{e^p}^T p ,

e^q and e^p from the energies of a C and an I field. The weights are transformers, ad_n is a modulated one, and
ad_{e^p}^T p = S(p) e^p with S skew is a gyrator between two ports of one junction. No causality is chosen, so that any
alpha in (0, 1) serves, and sections without mass may be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.bond_graph import beam
from pliant.bond_graph.arm import Builder, words_only
from pliant.bond_graph.beam import IDENTITY, NONE, Formulas, Pose, hat, variables
from pliant.bond_graph.domain import SPATIAL
from pliant.bond_graph.elements import GY, TF, C, I, OneJunction, Part, R, ZeroJunction
from pliant.bond_graph.expression import Expression, cos, name, sin
from pliant.bond_graph.graph import Bond, Component, Integral
from pliant.errors import InvalidInput, refuse_other_than_number, refuse_outside
from pliant.mechanics.rigid_body import element_ends, matrix_of, spatial_inertia
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
)
from pliant.robot.link import Link, Payload
from pliant.robot.loop import LoopJoint
from pliant.spatial.arrays import hat as hat_of
from pliant.spatial.arrays import to_frame


@dataclass(frozen=True)
class MixedElements:
    """Flexible links are rows of mixed elements with their parameter alpha; 1/2 is of second order.

    ``elements`` for each link, one number or a mapping from names; links without a number have twenty.
    """

    elements: int | Mapping[str, int] = 20
    alpha: float = 0.5

    def __post_init__(self) -> None:
        refuse_other_than_number("alpha", self.alpha, "choose 0.5 for second order")
        if not 0.0 < self.alpha < 1.0:
            raise InvalidInput(f"alpha = {self.alpha:g} must lie between 0 and 1; choose 0.5 for second order")

    def of(self, link: FlexibleLink) -> int:
        """The elements of a link."""
        count = self.elements.get(link.name, 20) if isinstance(self.elements, Mapping) else self.elements
        refuse_outside(f"elements of link '{link.name}'", count, 1, 10_000, "20 as in the paper")
        return count


def ad(x: Formulas) -> Formulas:
    """The bracket of twists (linear, angular) as a matrix."""
    return np.block([[hat(x[3:]), hat(x[:3])], [NONE, hat(x[3:])]])


def gyration(p: Formulas) -> Formulas:
    """The ratio r of a gyrator with  r - r^T = S(p) ,  S(p) t = ad_t^T p ."""
    return 0.5 * np.block([[NONE, hat(p[:3])], [hat(p[:3]), hat(p[3:])]])


def moving_mass(inertia: Array, start: Array) -> tuple[dict[str, Part | Component], list[Bond]]:
    """A junction "motion" with an I field of momentum in the axes of the body, and the gyrator that these axes need."""
    parts: dict[str, Part | Component] = {
        "motion": OneJunction(size=6, domain=SPATIAL),
        "I": I(inertia=inertia, start=inertia @ start, domain=SPATIAL),
        "turn": GY(ratio=gyration(variables("I.p", 6))),
    }
    return parts, [Bond("motion", "I"), Bond("motion", "turn"), Bond("turn", "motion")]


@dataclass(frozen=True, eq=False)
class MixedSection:
    """What one element is made of: its length, 6x6 matrices per length, its rest strain."""

    length: float
    stiffness: Array
    inertia: Array
    rest: Array
    damping: Array


def mixed_element(section: MixedSection, alpha: float, twist: Array) -> Component:
    """An element between its sections a and b, which moves with a mean twist at the start."""
    h, beta = section.length, 1.0 - alpha
    parts, bonds = moving_mass(h * section.inertia, twist)
    strain = variables("C.q", 6) + (h * section.rest).astype(object)
    parts |= {
        "a": OneJunction(size=6, domain=SPATIAL),
        "b": OneJunction(size=6, domain=SPATIAL),
        "beta": TF(ratio=beta, size=6),
        "alpha": TF(ratio=alpha, size=6),
        "mean": ZeroJunction(size=6),
        "minus": TF(ratio=-1.0, size=6),
        "ad n": TF(ratio=ad(strain)),
        "strain": ZeroJunction(size=6),
        "C": C(stiffness=section.stiffness / h, domain=SPATIAL),
    }
    bonds += [
        Bond("a", "beta"),
        Bond("b", "alpha"),
        Bond("beta", "mean"),
        Bond("alpha", "mean"),
        Bond("mean", "motion"),
    ]
    bonds += [Bond("a", "minus"), Bond("minus", "strain"), Bond("b", "strain")]
    bonds += [Bond("motion", "ad n"), Bond("ad n", "strain")]
    if section.damping.any():
        parts |= {"rate": OneJunction(size=6), "R": R(resistance=section.damping / h)}
        bonds += [Bond("strain", "rate"), Bond("rate", "C"), Bond("rate", "R")]
    else:
        bonds.append(Bond("strain", "C"))
    return Component(parts, bonds, {"left": "a", "right": "b"}, about=f"mixed element, alpha = {alpha:g}")


def turned_back(axis: Array, angle: Expression) -> Formulas:
    """From a twist before a joint to one behind it: the transposed rotation, on both halves."""
    skew = hat_of(axis)
    turn = IDENTITY - skew.astype(object) * sin(angle) + (skew @ skew).astype(object) * (1.0 - cos(angle))
    return np.block([[turn, NONE], [NONE, turn]])


class BodyBuilder(Builder):
    """Arms whose parts exchange wrenches and twists in the axes of sections; no pose is needed."""

    inputs: ClassVar[dict[str, int]] = {}
    links: MixedElements

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gravity.any():
            raise InvalidInput(
                f"robot '{self.robot.name}' has gravity, whose direction elements in body axes do not know; remove it,"
                " or take Beams"
            )

    def wire(self, carrier: str, part: str) -> None:
        """Nothing is to be known of the section that carries a part."""

    def joint(self, joint: Joint, at: At, start: Pose) -> tuple[Component, Pose]:
        if at.station is not None:
            return words_only(joint, "a joint at a station"), start
        fixed = to_frame(matrix_of(at.rotation), np.array(at.position, float))
        if isinstance(joint, FixedJoint):
            parts: dict[str, Part | Component] = {
                "1": OneJunction(size=6),
                "Ad": TF(ratio=fixed),
                "2": OneJunction(size=6),
            }
            return Component(parts, [Bond("1", "Ad"), Bond("Ad", "2")], {"left": "1", "right": "2"}), start
        if not isinstance(joint, RevoluteJoint) or joint.friction or joint.limits:
            return words_only(joint, f"a {joint.word} joint, or one with friction or stops,"), start
        axis = np.array(joint.axis, float) / np.linalg.norm(joint.axis)
        spring = joint.spring
        law = (spring.stiffness, joint.initial_position - spring.rest_position) if spring else (0.0, 0.0)
        made = body_joint(fixed, axis, joint.initial_position, law, joint.damping)
        return made, self.turned(joint, start)

    def add_loop(self, loop: LoopJoint) -> None:
        plain = all(end.station is None and not any(end.position) for end in (loop.first, loop.second))
        if loop.kind is LoopKind.REVOLUTE and plain and loop.obeys_nothing:
            first, second = self.start_of(loop.first), self.start_of(loop.second)
            fixed = to_frame(first.rotation.T @ second.rotation, np.zeros(3))
            axis = np.array(loop.axis, float) / np.linalg.norm(loop.axis)
            behind = second.rotation.T @ first.rotation @ axis
            self.parts[loop.name] = body_joint(fixed, behind, 0.0, (0.0, 0.0), 0.0, free=True)
        else:
            self.parts[loop.name] = words_only(loop, f"a {loop.kind} loop joint with a law or off the ends of links")
        self.tie(loop)

    def add_link(self, link: Link) -> None:
        start = self.roots[link.name]
        if isinstance(link, FlexibleLink):
            self.parts[link.name], self.tips[link.name] = self.flexible(link, start)
            return
        link = link.undeformed if isinstance(link, ReducedLink) else link
        assert isinstance(link, RigidLink)
        tip = np.array(link.tip_position, float)
        self.tips[link.name] = start.moved(tip, matrix_of(link.tip_rotation))
        parts, bonds = self.body(spatial_inertia(link.mass, link.center_of_mass, link.inertia), start)
        parts |= {"Ad": TF(ratio=to_frame(matrix_of(link.tip_rotation), tip)), "tip": OneJunction(size=6)}
        bonds += [Bond("motion", "Ad"), Bond("Ad", "tip")]
        self.parts[link.name] = Component(parts, bonds, {"left": "motion", "right": "tip"}, about="a rigid link")

    def body(self, inertia: Array, start: Pose) -> tuple[dict[str, Part | Component], list[Bond]]:
        if np.linalg.cond(inertia) > 1e12:
            return {"motion": OneJunction(size=6)}, []
        return moving_mass(inertia, body_twist(start))

    def flexible(self, link: FlexibleLink, start: Pose) -> tuple[Component, Pose]:
        if not isinstance(link.law, LinearLaw) or any(link.viscous_damping):
            tip = start.moved(np.array([link.length, 0.0, 0.0]))
            return words_only(link, "a link of another law than the linear one, or with viscous damping,"), tip
        return row_of_elements(link, self.links, start)

    def add_payload(self, payload: Payload) -> None:
        tip = payload.at is End.TIP
        start = (self.tips if tip else self.roots)[payload.link]
        parts, bonds = self.body(spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia), start)
        self.parts[payload.name] = Component(parts, bonds, {"port": "motion"}, about="a payload")
        self.bonds.append(Bond(f"{payload.link}.{'right' if tip else 'left'}", f"{payload.name}.port"))


def row_of_elements(link: FlexibleLink, links: MixedElements, start: Pose) -> tuple[Component, Pose]:
    """A link as super elements of mixed ones, and its tip at the start."""
    ends = element_ends(link, links.of(link))
    made, pose = [], start
    for a, b in zip(ends, ends[1:]):
        middle = [0.5 * (a + b)]
        K, M, D = (each(middle)[0] for each in (link.stiffness, link.inertia, link.material_damping))
        section = MixedSection(float(b - a), K, M, link.rest_strain(middle)[0], D)
        behind = pose.along(section.rest * section.length)
        twist = (1.0 - links.alpha) * body_twist(pose) + links.alpha * body_twist(behind)
        made.append(mixed_element(section, links.alpha, twist))
        pose = behind
    return beam.super_elements(made, "Element"), pose


def link_elements(link: FlexibleLink, elements: int = 20, alpha: float = 0.5) -> Component:
    """A link at rest as a component with ports left and right, of wrenches and twists in section axes."""
    zero = np.zeros(3)
    return row_of_elements(link, MixedElements(elements, alpha), Pose(zero, np.eye(3), zero, zero))[0]


def body_twist(pose: Pose) -> Array:
    """Velocity and angular velocity of a section in its own axes."""
    return np.concatenate([pose.rotation.T @ pose.velocity, pose.rotation.T @ pose.spin])


def body_joint(
    fixed: Array, axis: Array, angle: float, spring: tuple[float, float], damping: float, free: bool = False
) -> Component:
    """A revolute joint in the axes of sections: the twist behind it is the one before, turned back, and that of its rate."""
    column = np.concatenate([np.zeros(3), axis])
    parts: dict[str, Part | Component] = {
        "before": OneJunction(size=6, domain=SPATIAL),
        "Ad": TF(ratio=turned_back(axis, name("angle")) @ fixed.astype(object)),
        "sum": ZeroJunction(size=6),
        "behind": OneJunction(size=6, domain=SPATIAL),
        "Drive": beam.drive(column.astype(object), spring, damping, free, {}),
    }
    bonds = [Bond("before", "Ad"), Bond("Ad", "sum"), Bond("Drive.axis", "sum"), Bond("sum", "behind")]
    ports = {"left": "before", "right": "behind"}
    if not free:
        ports["drive"] = "Drive.torque"
    signals = {"angle": Integral(name("Drive.rate"), angle), "rate": name("Drive.rate")}
    return Component(parts, bonds, ports, signals, about="revolute joint")
