"""Single links that a formulation takes as rigid: the robot that it compiles then, and frames at stations of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np

from pliant.errors import InvalidInput, clip
from pliant.frozen_mapping import FrozenMapping
from pliant.mechanics.rigid_body import along_rest_shape, matrix_of
from pliant.robot import At, End, FlexibleLink, Link, ReducedLink, Robot
from pliant.robot.declared import Quaternion
from pliant.robot.joint import plain
from pliant.robot.link import MadeRigid
from pliant.robot.loop import parent_frame
from pliant.robot.robot import nearest
from pliant.spatial.arrays import quaternion_from_rotation

ONE_MASS = 1e-12  # relative difference of the masses of a rigid body in its three directions


@dataclass(frozen=True, repr=False)
class SomeRigid:
    """A formulation that takes the links named in ``rigid`` as rigid, in their rest shape.

    The compiled arm has the robot with these links as `RigidLink`; stations on them keep their meaning.
    """

    rigid: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        owner, given = type(self).__name__, self.rigid
        if isinstance(given, str) or not isinstance(given, Iterable) or not all(isinstance(n, str) for n in given):
            raise InvalidInput(f"{owner}: rigid = {clip(repr(given))} is no row of names; write them as ('column',)")
        object.__setattr__(self, "rigid", tuple(dict.fromkeys(given)))
        for each in fields(self):  # what is given for every link stays as it was given
            if isinstance(table := getattr(self, each.name), Mapping):
                object.__setattr__(self, each.name, FrozenMapping(table))

    @property
    def automatic(self) -> bool:
        """Whether runs choose the mesh by the accuracy that they are to have."""
        return False

    def coarser(self) -> Self | None:
        """The choice before this one, to compare with; None where there is none."""
        return None

    def meshes(self) -> tuple[Self, ...]:
        """Up to two coarser choices and this one, the coarsest first."""
        row = [self]
        while len(row) < 3 and (coarser := row[0].coarser()) is not None:
            row.insert(0, coarser)
        return tuple(row)

    def __repr__(self) -> str:
        own = [each.name for each in fields(self) if each.repr and each.name != "rigid"]
        shown = [name for name in own if getattr(self, name) is not None]
        shown += ["rigid"] if self.rigid else []
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def taken(self, robot: Robot) -> Robot:
        """The robot with the links of ``rigid`` made rigid."""
        return with_rigid_links(robot, self.rigid, type(self).__name__)


def with_rigid_links(robot: Robot, names: tuple[str, ...], owner: str) -> Robot:
    """The robot with these links rigid in their rest shape, and with joints and loops at stations of them kept."""
    known = [link.name for link in robot.links]
    made = {}
    for name in names:
        if name not in known:
            can = [link.name for link in robot.links if isinstance(link, (FlexibleLink, ReducedLink))]
            raise InvalidInput(
                f"{owner}: rigid = '{clip(name)}' is not a link of robot '{robot.name}'; {nearest(name, can)}"
            )
        made[name] = _rigid(robot.link(name), owner)
    if not any(isinstance(link, MadeRigid) for link in (*robot.links, *made.values())):
        return robot
    links = tuple(made.get(link.name, link) for link in robot.links)
    robot = replace(robot, links=links)
    joints = []
    for joint in robot.joints:
        own = parent_frame(joint)
        if (at := off_stations(robot, own)) is not own:
            joint = replace(joint, position=at.position, rotation=at.rotation, station=None)
        joints.append(joint)
    loops = tuple(
        replace(each, first=off_stations(robot, each.first), second=off_stations(robot, each.second))
        for each in robot.loops
    )
    return replace(robot, joints=tuple(joints), loops=loops)


def off_stations(robot: Robot, at: At) -> At:
    """The same frame; at a station of a link that was made rigid it is written from the tip."""
    if at.station is None:
        return at
    link = robot.link(at.link)
    if not isinstance(link, MadeRigid) or link.flexible is None:
        return at
    tip = _tip(link)
    pose = np.linalg.solve(tip, along_rest_shape(link.flexible, at.station)[1])
    position = pose[:3, 3] + pose[:3, :3] @ np.asarray(at.position, float)
    rotation = pose[:3, :3] @ matrix_of(at.rotation)
    return replace(at, end=End.TIP, position=plain(position), rotation=_quaternion(rotation), station=None)


def _rigid(link: Link, owner: str) -> Link:
    """The link as a rigid one with the same mass, centre, inertia and tip."""
    if isinstance(link, MadeRigid):
        return link
    if isinstance(link, ReducedLink):
        body = link.undeformed
        return MadeRigid(body.name, body.tip_position, body.mass, body.tip_rotation, body.center_of_mass, body.inertia)
    if not isinstance(link, FlexibleLink):
        raise InvalidInput(f"{owner}: rigid = '{link.name}' is rigid already; leave its name out")
    if any(link.viscous_damping):
        raise InvalidInput(
            f"{owner}: rigid = '{link.name}' has viscous_damping, which no rigid link carries; set it to zero, or leave"
            " the name out"
        )
    inertia, tip = along_rest_shape(link, link.length)
    mass = float(inertia[0, 0])
    if not np.allclose(inertia[:3, :3], mass * np.eye(3), rtol=0.0, atol=ONE_MASS * mass):
        raise InvalidInput(
            f"{owner}: rigid = '{link.name}' has a mass that differs between directions, which no rigid link has; give"
            " its linear inertia as a multiple of the identity, or leave the name out"
        )
    center, J = np.zeros(3), inertia[3:, 3:]
    if mass > 0.0:
        first = inertia[3:, :3] / mass
        center = 0.5 * np.array([first[2, 1] - first[1, 2], first[0, 2] - first[2, 0], first[1, 0] - first[0, 1]])
        # parallel axes: about the centre of mass, whose first moment is gone
        J = J - mass * (center @ center * np.eye(3) - np.outer(center, center))
    J = 0.5 * (J + J.T)
    J[np.abs(J) <= 1e-14 * np.abs(inertia[3:, 3:]).max()] = 0.0
    rows = tuple(plain(row) for row in J)
    return MadeRigid(link.name, plain(tip[:3, 3]), mass, _quaternion(tip[:3, :3]), plain(center), rows, link)


def _tip(link: MadeRigid) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = matrix_of(link.tip_rotation), link.tip_position
    return pose


def _quaternion(rotation: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Quaternion:
    w, x, y, z = (float(value) for value in quaternion_from_rotation(rotation))
    return w, x, y, z
