"""Force elements between frames: springs, bushings, walls and cables; masses on springs that damp vibrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from pliant.components.drives import rotated
from pliant.components.fields import Holds
from pliant.components.kinds import Contribution, ExtraBody, Related
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import Acts, Matrix, Measure, Relation
from pliant.robot import At, End, JointSpring, PrismaticJoint, RigidLink
from pliant.robot.axes import ALONG_X, ALONG_Y, ALONG_Z, ORIGIN, ZERO6
from pliant.robot.declared import Declared, MatrixLike, Name, Part, Quantity, Vector3
from pliant.robot.joint import BASE, Role, WrenchStiffness, plain

ElementName = Annotated[str, Name("name of the component in results")]
FirstFrame = Annotated[At, Part("frame on one side")]
SecondFrame = Annotated[At, Part("frame on the other side")]


def same_section(first: At, second: At) -> Iterator[Problem]:
    """The problem of two frames that cannot move against each other."""
    if first.link == second.link and (first.section == second.section or first.link == BASE):
        part = "the base" if first.link == BASE else f"the {first.section} of link '{first.link}'"
        yield Problem(f"is fixed to {part} like first; put it on another part", ("second",))


@dataclass(frozen=True)
class SpringDamper(Declared):
    """The origins of two frames pull at each other with  stiffness (length - rest_length) + damping length'."""

    name: ElementName
    first: FirstFrame
    second: SecondFrame
    stiffness: Annotated[float, Quantity("N/m", "force per elongation", at_least=0)]
    damping: Annotated[float, Quantity("N s/m", "force per rate of elongation", at_least=0)]
    rest_length: Annotated[float, Quantity("m", "length without force", at_least=0)]

    def conflicts(self) -> Iterator[Problem]:
        yield from same_section(self.first, self.second)
        if self.stiffness == 0 and self.damping == 0:
            yield Problem("= 0 N/m without damping has no effect; write a stiffness in N/m", ("stiffness",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        frames, rest = (self.first, self.second), self.rest_length
        about = f"stiffness {self.stiffness:g}, rest length {rest:g}"
        laws = ((self.stiffness,),), ((self.damping,),)
        return (Related(Relation(self.name, "spring", Measure.LENGTH, frames, *laws, rest, about=about)),)


@dataclass(frozen=True)
class Bushing(Declared):
    """Two frames pull at each other in all six directions; at rest they coincide.

    With the displacement e = log(first^-1 second), three lengths and then three angles in the axes of the first
    frame, the wrench is  stiffness e + damping e'.
    """

    name: ElementName
    first: FirstFrame
    second: SecondFrame
    stiffness: WrenchStiffness
    damping: Annotated[
        MatrixLike, Quantity.matrix("N s/m, N s/rad, N m s/rad", "wrench (6 values or 6x6) per rate of displacement")
    ] = ZERO6

    def conflicts(self) -> Iterator[Problem]:
        yield from same_section(self.first, self.second)
        if not any(entry for row in (*_rows(self.stiffness), *_rows(self.damping)) for entry in row):
            yield Problem("= 0 without damping has no effect; write a stiffness in N/m and N m/rad", ("stiffness",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        frames, laws = (self.first, self.second), (_rows(self.stiffness), _rows(self.damping))
        return (Related(Relation(self.name, "bushing", Measure.POSE, frames, *laws)),)


def _rows(matrix: MatrixLike) -> Matrix:
    """A checked matrix, which is always given by its rows."""
    return tuple(tuple(row) for row in matrix if isinstance(row, tuple))


@dataclass(frozen=True)
class Wall(Declared):
    """A plane of the world that pushes the origin of a frame back along its normal.

    Behind the plane, at the depth d, the force is  stiffness d + damping d',  but never a pull.
    """

    name: ElementName
    at: Annotated[At, Part("frame whose origin meets the wall")]
    point: Annotated[Vector3, Quantity.vector("m", "point (x, y, z) of the plane in the world")]
    normal: Annotated[Vector3, Quantity.direction("direction (x, y, z) in the world in which the wall pushes")]
    stiffness: Annotated[float, Quantity("N/m", "force per depth", above=0)]
    damping: Annotated[float, Quantity("N s/m", "force per rate of depth", at_least=0)] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        if self.at.link == BASE:
            yield Problem("= 'base' is moved by no wall; write a link", ("at", "link"))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        base = arm.robot.base
        w, x, y, z = base.rotation
        away = [point - origin for point, origin in zip(self.point, base.position)]
        inside, normal = rotated((w, -x, -y, -z), np.array([away, self.normal]))
        frames, laws = (At(BASE, position=plain(inside)), self.at), (((self.stiffness,),), ((self.damping,),))
        wall = Relation(self.name, "wall", Measure.HEIGHT, frames, *laws, acts=Acts.BELOW, axis=plain(normal))
        return (Related(replace(wall, about=f"stiffness {self.stiffness:g}", in_world=True)),)


@dataclass(frozen=True)
class Tendon(Declared):
    """A cable without mass or friction from frame to frame, the ends fixed to the first and the last of them.

    Its length is the sum of the distances between origins that follow each other. While it is longer than
    rest_length - pretension / stiffness, its tension is

        pretension + stiffness (length - rest_length) + damping length' ,

    but never a push; while it is shorter it is slack. Without a ``rest_length`` it is that of the robot's start, where
    the tension then is the pretension.
    """

    name: ElementName
    frames: Annotated[
        Sequence[At], Holds("frames that it is led over", At, "write a list of At(...)", one=False, many=True)
    ]
    stiffness: Annotated[float, Quantity("N/m", "tension per elongation", above=0)]
    damping: Annotated[float, Quantity("N s/m", "tension per rate of elongation", at_least=0)] = 0.0
    pretension: Annotated[float, Quantity("N", "tension at the rest length", at_least=0)] = 0.0
    rest_length: Annotated[float | None, Quantity("m", "length at the pretension", above=0)] = None

    def conflicts(self) -> Iterator[Problem]:
        if len(self.frames) < 2:
            yield Problem("has 1 entry and must have at least 2; write the frames of both ends", ("frames",))
        elif len({(at.link, at.section) for at in self.frames}) == 1:
            yield Problem("are all fixed to one part; put one on another part", ("frames",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        rest, laws = self.rest_length, (((self.stiffness,),), ((self.damping,),))
        slack = self.pretension / self.stiffness
        about = f"stiffness {self.stiffness:g}, pretension {self.pretension:g}"
        about += "" if rest is None else f", rest length {rest:g}"
        cable = Relation(self.name, "tendon", Measure.LENGTH, tuple(self.frames), *laws, acts=Acts.ABOVE, about=about)
        return (Related(replace(cable, rest=(rest or 0.0) - slack, from_start=rest is None)),)


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
