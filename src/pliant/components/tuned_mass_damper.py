"""Tuned mass dampers: masses on springs that take the vibration of a link upon themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from pliant.components.kinds import Contribution, ExtraBody
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.robot import At, End, JointSpring, PrismaticJoint, RigidLink
from pliant.robot.axes import ALONG_X, ALONG_Y, ALONG_Z, ORIGIN
from pliant.robot.declared import Declared, Name, Part, Quantity, Vector3
from pliant.robot.joint import BASE, Role


@dataclass(frozen=True)
class TunedMassDamper(Declared):
    """A point mass that moves along an axis of a frame, held to its origin by a spring and a damper.

    It adds a link and a joint of its ``name`` to the robot: displacement and rate are states, the joint may be driven,
    as in an active damper, and every formulation that carries such joints carries it. Without an ``axis`` the mass
    moves in all directions with equal stiffness and damping, by joints <name>_x, <name>_y and <name>.
    """

    name: Annotated[str, Name("name of the component in results")]
    at: Annotated[At, Part("frame that carries it")]
    mass: Annotated[float, Quantity("kg", "mass that moves", above=0)]
    stiffness: Annotated[float, Quantity("N/m", "force per displacement", above=0)]
    damping: Annotated[float, Quantity("N s/m", "force per rate of displacement", at_least=0)] = 0.0
    axis: Annotated[Vector3 | None, Quantity.direction("direction of the motion in the frame")] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.at.link == BASE:
            yield Problem("= 'base' does not vibrate; write a link", ("at", "link"))
        elif self.at.end is End.ROOT:
            yield Problem("= root carries no damper; write a station, or a position from the tip", ("at", "end"))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        names = [self.name] if self.axis else [f"{self.name}_x", f"{self.name}_y", self.name]
        masses = [0.0] * (len(names) - 1) + [self.mass]
        links = tuple(RigidLink(name, ORIGIN, mass=mass) for name, mass in zip(names, masses))
        axes = [self.axis] if self.axis else [ALONG_X, ALONG_Y, ALONG_Z]
        spring = JointSpring(self.stiffness)
        joints = [
            PrismaticJoint(name, parent, name, axis=axis, spring=spring, damping=self.damping, role=Role.ASIDE)
            for parent, name, axis in zip([self.at.link, *names], names, axes)
        ]
        at = self.at
        joints[0] = replace(joints[0], position=at.position, rotation=at.rotation, station=at.station)
        about = f"mass {self.mass:g}, stiffness {self.stiffness:g}, damping {self.damping:g}"
        return (ExtraBody(at, links, tuple(joints), about),)
