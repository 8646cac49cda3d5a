"""What can be seen of an arm in minimal coordinates: its frames, twists of points, flows of loads.

Where turns follow statically, frames turn by what the coordinates of the tree leave out; points are those of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.state import LinkObservation, Observation
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures.places import Place
from pliant.structures.tree.columns import AXIS, POSE_R, POSE_X
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.structure import LinkPlaces
from pliant.structures.tree.system import load_places

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm


@dataclass(frozen=True, eq=False)
class Poses:
    """All bodies, the base first, at n times."""

    rotation: Floats  # (n, bodies + 1, 3, 3)
    position: Floats  # (n, bodies + 1, 3)
    turn: Floats  # (n, bodies + 1, 3, 3) that follow statically

    def at(self, place: Place) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of a frame."""
        R = self.turn[:, place.body + 1] @ self.rotation[:, place.body + 1]
        return self.position[:, place.body + 1] + R @ place.position, R @ place.rotation


def poses_of(arm: TreeArm, states: Floats) -> Poses:
    """Of many states (n, size)."""
    system, count = arm.bare, len(states)
    bodies = system.tree.size + 1
    R, x = np.zeros((count, bodies, 3, 3)), np.zeros((count, bodies, 3))
    turn = np.tile(np.eye(3), (count, bodies, 1, 1))
    for row, q in enumerate(arm.coordinates(system, states)[0]):
        motion = system.placed(q)
        R[row] = motion[:, POSE_R : POSE_R + 9].reshape(bodies, 3, 3)
        x[row] = motion[:, POSE_X : POSE_X + 3]
        for body, map_of in arm.static_turns(system, q).items():
            turn[row, body + 1] = rotation_from_vector(map_of @ q)
    return Poses(R, x, turn)


def observe(arm: TreeArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    poses = poses_of(arm, states)
    tip = arm.structure.tip
    position, rotation = poses.at(tip)
    part = arm.layout.part
    motions, _ = place_motions(arm, states, (tip,))
    twist = np.einsum("nji,npj->npi", rotation, motions[:, 0]).reshape(len(states), 6)
    links = arm.observe_links(states, poses, stations)
    return Observation(part(states, "joint_position"), part(states, "joint_rate"), links, position, rotation, twist)


def observe_rigid_link(arm: TreeArm, poses: Poses, link: LinkPlaces) -> LinkObservation:
    """A link of the robot that bends, seen as rigid, is still drawn along its axis."""
    ends = link.nodes if isinstance(arm.robot.link(link.name), FlexibleLink) else (link.root, link.tip)
    seen = [poses.at(node) for node in ends]
    x, R = np.stack([each[0] for each in seen], axis=1), np.stack([each[1] for each in seen], axis=1)
    zero = np.zeros((*x.shape[:2], 6))
    return LinkObservation(link.name, link.stations, x, R, zero, zero)


def place_motions(arm: TreeArm, states: Floats, places: tuple[Place, ...]) -> tuple[Floats, Floats]:
    """World velocity and spin (n, places, 2, 3), and the axes (n, places, 3, 3) of the tree there."""
    system, count = arm.bare, len(states)
    at = np.array([place.body + 1 for place in places], np.int64)
    before = system.before[at].astype(float)
    twist, pose, slaved = (np.zeros((count, len(at), size)) for size in (6, 12, 3))
    for row, (q, v) in enumerate(zip(*arm.coordinates(system, states))):
        for body, turn in arm.static_turns(system, q).items():
            slaved[row, at == body + 1] = turn @ v
        motion = system.placed(q)
        twist[row] = before @ (motion[1:, AXIS : AXIS + 6] * system.joint_values(v)[:, None])
        pose[row, :, :9], pose[row, :, 9:] = motion[at, POSE_R : POSE_R + 9], motion[at, POSE_X : POSE_X + 3]
    R, origin = pose[..., :9].reshape(count, -1, 3, 3), pose[..., 9:]
    lever = np.einsum("npij,pj->npi", R, np.array([place.position for place in places]).reshape(-1, 3))
    spin = twist[..., 3:]
    velocity = twist[..., :3] + np.cross(spin, origin + lever) + np.cross(slaved, lever)
    rotations = np.array([place.rotation for place in places]).reshape(-1, 3, 3)
    return np.stack([velocity, spin + slaved], axis=2), R @ rotations


def load_flows(arm: TreeArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
    rows = [(k, place, share) for k, load in enumerate(loads) for place, share in load_places(arm.structure, load)]
    motions, axes = place_motions(arm, states, tuple(place for _, place, _ in rows))
    flows = np.zeros((len(states), len(loads), 6))
    for column, (k, _, share) in enumerate(rows):
        pair = motions[:, column]
        if loads[k].frame is Frame.BODY:
            pair = np.einsum("nji,npj->npi", axes[:, column], pair)
        flows[:, k] += share * pair.reshape(len(states), 6)
    return flows
