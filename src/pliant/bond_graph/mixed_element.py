"""The mixed finite element of [macchelli2007] (Fig. 3) as a component, and arms of such elements.

Efforts are wrenches w, flows twists t of sections in their own axes. With beta = 1 - alpha and n = q + rest strain h,

    e^q = alpha w_a + beta w_b ,   e^p = beta t_a + alpha t_b ,
    q' = t_b - t_a + ad_n e^p ,    p' = w_b - w_a - ad_n^T e^q + ad_{e^p}^T p ,

e^q and e^p from the energies of a C and an I field. The weights are transformers, ad_n is a modulated one, and
ad_{e^p}^T p = S(p) e^p with S skew is a gyrator of S / 2 between two ports of one junction. No causality is chosen, so
that any alpha in (0, 1) serves, and sections without mass may be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from pliant.bond_graph import beam
from pliant.bond_graph.arm import Builder, driven_joint, words_only
from pliant.bond_graph.beam import IDENTITY, NONE, Formulas, Parts, Pose, chain, junction, variables
from pliant.bond_graph.domain import SPATIAL
from pliant.bond_graph.elements import GY, TF, C, I, ZeroJunction
from pliant.bond_graph.graph import Component
from pliant.errors import InvalidInput, refuse_other_than_number
from pliant.formulas.expression import cos, name, sin
from pliant.mechanics.rigid_body import element_ends, matrix_of
from pliant.model.arm import Counts
from pliant.model.state import Array
from pliant.robot import At, FlexibleLink, LinearLaw, RevoluteJoint, RigidLink
from pliant.robot.joint import AxisJoint
from pliant.robot.loop import LoopJoint
from pliant.spatial.arrays import bracket, dual_bracket, hat, pose_from_twist, to_frame


@dataclass(frozen=True)
class MixedElements:
    """Flexible links are rows of mixed elements with their parameter alpha; 1/2 is of second order.

    ``elements`` for each link, one number or a mapping from names; links without a number have ten.
    """

    elements: Counts = 20
    alpha: float = 0.5
    super_element: ClassVar[int] = beam.SUPER

    def __post_init__(self) -> None:
        refuse_other_than_number("alpha", self.alpha, "choose 0.5 for second order")
        if not 0.0 < self.alpha < 1.0:
            raise InvalidInput(f"alpha = {self.alpha:g} must lie between 0 and 1; choose 0.5 for second order")


def mixed_element(length: float, matrices: tuple[Array, Array], rest: Array, alpha: float, twist: Array) -> Component:
    """An element between its sections a and b: stiffness and inertia (6, 6) per length, rest strain, mean twist."""
    inertia = length * matrices[1]
    parts: Parts = {
        "a": junction(),
        "b": junction(),
        "beta": TF(ratio=1.0 - alpha, size=6),
        "alpha": TF(ratio=alpha, size=6),
        "mean": ZeroJunction(size=6),
        "motion": junction(),
        "I": I(inertia=inertia, start=tuple(inertia @ twist), domain=SPATIAL),
        "turn": GY(ratio=0.5 * dual_bracket(variables("I.p", 6))),
        "minus": TF(ratio=-1.0, size=6),
        "ad n": TF(ratio=bracket(variables("C.q", 6) + (length * rest).astype(object))),
        "strain": ZeroJunction(size=6),
        "C": C(stiffness=matrices[0] / length, domain=SPATIAL),
    }
    bonds = [
        *chain("a", "beta", "mean", "motion", "I"),
        *chain("b", "alpha", "mean"),
        *chain("motion", "turn", "motion"),
    ]
    bonds += [*chain("a", "minus", "strain", "C"), *chain("b", "strain"), *chain("motion", "ad n", "strain")]
    return Component(parts, bonds, {"left": "a", "right": "b"}, about=f"mixed element, alpha = {alpha:g}")


def link_elements(
    link: FlexibleLink, count: int = 20, alpha: float = 0.5, start: Pose | None = None
) -> tuple[Component, Pose]:
    """A link as super elements of mixed ones, and its tip; at rest in its own axes if no start is given."""
    zero = np.zeros(3)
    pose = Pose(zero, np.eye(3), zero, zero) if start is None else start
    ends, made = element_ends(link, count), []
    for a, b in pairwise(ends):
        K, M, rest = (each([0.5 * (a + b)])[0] for each in (link.stiffness, link.inertia, link.rest_strain))
        step = pose_from_twist(rest * (b - a))
        behind = pose.moved(step[:3, 3], step[:3, :3])
        twists = [np.append(each.rotation.T @ each.velocity, each.rotation.T @ each.spin) for each in (pose, behind)]
        mean = (1.0 - alpha) * twists[0] + alpha * twists[1]
        made.append(mixed_element(float(b - a), (K, M), rest, alpha, mean))
        pose = behind
    return beam.super_elements(made, "Element"), pose


class BodyBuilder(Builder):
    """Arms whose parts exchange wrenches and twists in the axes of sections; no pose is needed."""

    inputs: ClassVar[Mapping[str, int]] = {}
    axis_joints: ClassVar[tuple[type[AxisJoint], ...]] = (RevoluteJoint,)
    links: MixedElements

    def wire(self, carrier: str, part: str, side: str = "right") -> None:
        """Nothing is to be known of the section that carries a part."""

    def carried(self, at: At) -> Formulas:
        return to_frame(matrix_of(at.rotation), np.array(at.position, float)).astype(object)

    def on_axis(self, joint: AxisJoint, at: At, axis: Array, free: bool = False) -> Component:
        return body_joint(joint, self.carried(at), axis, free)

    def closing(self, loop: LoopJoint, joint: RevoluteJoint, axis: Array) -> Component:
        turn = self.start_of(loop.first).rotation.T @ self.start_of(loop.second).rotation
        return body_joint(joint, to_frame(turn, np.zeros(3)).astype(object), turn.T @ axis, free=True)

    def flexible(self, link: FlexibleLink, start: Pose) -> tuple[Component, Pose]:
        made, tip = link_elements(link, self.counts[link.name], self.links.alpha, start)
        if isinstance(link.law, LinearLaw) and not link.material_damping([0.0]).any() and not any(link.viscous_damping):
            return made, tip
        return words_only("a mixed element with damping, or of another law than the linear one,", "left", "right"), tip

    def body(self, mass: float, center: object, inertia: object, start: Pose) -> None:
        """None here: twists of sections do not know where gravity points."""

    def rigid(self, link: RigidLink, start: Pose) -> Component:
        return words_only("a rigid link in body axes", "left", "right")

    def whole(self) -> Component:
        if self.gravity.any():
            raise InvalidInput(
                f"robot '{self.robot.name}' has gravity, whose direction elements in body axes do not know; remove it,"
                " or take Beams"
            )
        return super().whole()


def body_joint(joint: AxisJoint, frame: Formulas, axis: Array, free: bool) -> Component:
    """A revolute joint in the axes of sections: the twist behind it is the one before, turned back, and its rate."""
    skew, angle = hat(axis), name("angle")
    turn = IDENTITY - skew.astype(object) * sin(angle) + (skew @ skew).astype(object) * (1.0 - cos(angle))
    back = TF(ratio=np.block([[turn, NONE], [NONE, turn]]) @ frame)
    parts: Parts = {"before": junction(), "Ad": back, "sum": ZeroJunction(size=6), "behind": junction()}
    unit = np.append(np.zeros(3), axis).astype(object)
    made = driven_joint(joint, parts, ("before", "behind", "sum"), unit, {}, free)
    bonds = [*made.bonds, *chain("before", "Ad", "sum", "behind")]
    return Component(made.parts, bonds, made.ports, made.signals, about="revolute joint")
