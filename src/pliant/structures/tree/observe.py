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
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.structure import LinkPlaces
from pliant.structures.tree.system import load_places

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm


@dataclass(frozen=True, eq=False)
class Poses:
    """Bodies at n times; ``place`` is where in the arrays each of them stands, the base last."""

    place: Ints
    rotation: Floats  # (n, bodies, 3, 3)
    position: Floats  # (n, bodies, 3)

    def at(self, place: Place) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of a frame."""
        body = self.place[place.body]
        R = self.rotation[:, body]
        return self.position[:, body] + R @ place.position, R @ place.rotation


def poses_of(arm: TreeArm, states: Floats) -> Poses:
    """Of many states (n, size), with turns that follow statically."""
    system, bodies = arm.bare, arm.seen_bodies
    q = arm.coordinates(system, states)[0]
    seen = system.dynamics.seen(q, bodies)
    R = seen[..., POSE_R : POSE_R + 9].reshape(len(states), len(bodies), 3, 3)
    place = np.full(system.tree.size + 1, len(bodies))
    place[bodies] = np.arange(len(bodies))
    if arm.structure.condensed:
        for row, one in enumerate(q):
            for body, map_of in arm.static_turns(system, one).items():
                R[row, place[body]] = rotation_from_vector(map_of @ one) @ R[row, place[body]]
    return Poses(place, R, seen[..., POSE_X : POSE_X + 3])


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
    at = np.array([place.body for place in places], np.int64)
    q, v = arm.coordinates(system, states)
    moving = np.flatnonzero(system.before[at + 1].any(axis=0))
    slaved = np.zeros((count, len(at), 3))
    if arm.structure.condensed:
        for row, (one, rate) in enumerate(zip(q, v)):
            for body, turn in arm.static_turns(system, one).items():
                slaved[row, at == body] = turn @ rate
    # columns of all joints before one of the places, each times its rate
    rates = v[:, moving] if not len(system.shapes.S) else v @ system.shapes.S[moving].T
    columns = system.dynamics.seen(q, moving)[..., AXIS : AXIS + 6] * rates[..., None]
    twist = np.einsum("pj,njc->npc", system.before[at + 1][:, moving].astype(float), columns)
    pose = system.dynamics.seen(q, at)
    R = pose[..., POSE_R : POSE_R + 9].reshape(count, -1, 3, 3)
    origin = pose[..., POSE_X : POSE_X + 3]
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
