"""Choices that compile a robot into a model: pseudo-spectral links."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pliant.errors import InvalidInput, clip, refuse_outside
from pliant.formulations.pseudo_spectral.assembly import assemble
from pliant.formulations.pseudo_spectral.link import GaussPoints, Points
from pliant.model.arm import LARGE_ROTATION, LINEAR_LAW, Validity, refuse_massless_links, refuse_reduced_links
from pliant.model.rigid_links import SomeRigid
from pliant.robot import BASE, FixedJoint, PrismaticJoint, RevoluteJoint, Robot
from pliant.structures.linear.arrays import Assembly
from pliant.structures.linear.model import PseudoSpectralArm

HIGHEST_DEGREE = 64


@dataclass(frozen=True, repr=False)
class PseudoSpectral(SomeRigid):
    """One polynomial of ``degree`` N along every straight link, small deflections on moving joints [wang2017].

    Linear, so a step costs a product of matrices. ``points`` are where states are written: the motion does not
    depend on them. Links named in ``rigid`` do not deform.
    """

    # what turns by a tenth of a radian is off by half a hundredth of its length where geometry is kept
    validity: ClassVar[Validity] = Validity(
        LINEAR_LAW, LARGE_ROTATION, "the equations are linear in deflections from one posture", posture=0.1
    )
    degree: int = 12
    points: Points = field(default_factory=GaussPoints)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_outside("degree", self.degree, 1, HIGHEST_DEGREE, "8 to 16 serves most links")
        if not isinstance(self.points, Points):
            raise InvalidInput(f"points = {clip(repr(self.points))} is no choice of points; write GaussPoints()")
        self.points.states(self.degree)

    def finer(self) -> PseudoSpectral | None:
        """The next choice to compare with, unless this is the finest; motions do not depend on points."""
        return PseudoSpectral(self.degree + 2, rigid=self.rigid) if self.degree + 2 <= HIGHEST_DEGREE else None

    def coarser(self) -> PseudoSpectral | None:
        """The choice before this one, to compare with."""
        return PseudoSpectral(self.degree - 2, rigid=self.rigid) if self.degree > 2 else None

    def compile(self, robot: Robot) -> PseudoSpectralArm:
        """The equations of the robot for small deflections about its initial posture, in which its links may sag."""
        robot = self.taken(robot)
        _refuse(robot)
        assembly = assemble(robot, self.degree)
        kept = _kept(robot, assembly)
        return PseudoSpectralArm(robot, self, assembly, _substitution(kept), kept)


def _refuse(robot: Robot) -> None:
    """What this formulation does not model."""
    refuse_reduced_links(robot, "PseudoSpectral")
    refuse_massless_links(robot, "PseudoSpectral")
    if robot.loops:
        raise InvalidInput(
            f"loop joint '{robot.loops[0].name}' closes the tree, which PseudoSpectral does not carry; use PoseElement"
        )
    for joint in robot.chain_order:
        if not isinstance(joint, (RevoluteJoint, PrismaticJoint, FixedJoint)):
            raise InvalidInput(
                f"joint '{joint.name}' is a {type(joint).__name__}, but PseudoSpectral carries revolute, prismatic and"
                " fixed joints; use PoseElement"
            )
        for freedom in joint.freedoms:
            for word in ("friction", "limits"):
                if getattr(freedom.law, word) is not None:
                    raise InvalidInput(
                        f"joint '{joint.name}': its {word} is not linear, which PseudoSpectral needs; remove it, or use"
                        " PoseElement"
                    )


def _kept(robot: Robot, assembly: Assembly) -> tuple[str, ...]:
    """Joints whose positions the equations take as those at the start: those that move links which other joints
    carry, and those that turn links against gravity."""
    carried: dict[str, bool] = {BASE: False}  # whether a moving joint lies between the base and the tip of a link
    kept = set()
    for joint in robot.chain_order:
        if joint.moves and carried[joint.parent]:
            kept.add(joint.name)
        carried[joint.child] = carried[joint.parent] or joint.moves
    if assembly.sag is not None:
        felt = np.abs(assembly.sag.stiffness[len(assembly.G) :]).max(axis=1, initial=0.0)
        kept |= {joint.name for joint, each in zip(assembly.joints, felt) if each > 0.0}
    return tuple(joint.name for joint in assembly.joints if joint.name in kept)


def _substitution(kept: tuple[str, ...]) -> str:
    """What to know about them, or nothing."""
    if not kept:
        return ""
    words = f"joint '{kept[0]}' moves" if len(kept) == 1 else f"joints {', '.join(map(repr, kept))} move"
    return f"the equations keep the geometry of the initial posture while {words}: they hold for small displacements"
