"""What can be seen of an arm in minimal coordinates: its frames, twists of points, flows of loads.

Where turns follow statically, frames turn by what the coordinates of the tree leave out; points are those of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.sampling import crossed
from pliant.model.section import turned_by
from pliant.model.state import LinkObservation, Observation
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures.places import Place
from pliant.structures.tree.columns import AXIS, MOTION_COLUMNS, POSE_R, POSE_X
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.recursions import place_states
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


@dataclass(frozen=True, eq=False)
class Bent:
    """A section beyond a frame of the tree: by how much of the coordinates it is displaced and turned, its pose at rest
    in that frame and its strain per coordinate."""

    place: Place
    moved: Floats  # (6, n)
    rest: Floats  # (4, 4)
    strain: Floats  # (6, n)


class TreeSection:
    """A section for one who reads it often: what it follows from is found once."""

    rest: Floats

    def __init__(self, arm: TreeArm, root: Place, bent: Bent) -> None:
        system, size = arm.bare, arm.layout.size
        n = system.size
        order = system.order_of_state
        columns = np.zeros(2 * n, np.int64)
        columns[order[::-1]] = np.arange(size)[::-1]  # joints stand before the rotors, which may turn by themselves
        self.q, self.v, self.tree = columns[:n], columns[n:], system.tree
        self.S = system.shapes.S if len(system.shapes.S) else None
        self.root, self.bent = root, bent
        moving = np.flatnonzero(system.before[bent.place.body + 1])
        self.moving = moving
        self.rows = np.concatenate([[root.body + 1, bent.place.body + 1], moving + 1]).astype(np.int64)
        self.seen, self.motion = np.empty((1, len(self.rows), AXIS + 6)), np.empty((system.tree.size + 1, MOTION_COLUMNS))
        self.straight = not np.any(bent.moved)

    def _place(self, state: Floats) -> Floats:
        """(n,) coordinates; poses and columns are seen then."""
        q = state[self.q]
        joints = q if self.S is None else self.S @ q
        place_states(self.tree, joints[None], self.rows, self.motion, self.seen)
        return q

    def _frame(self, row: int, place: Place) -> tuple[Floats, Floats]:
        pose = self.seen[0, row]
        R = pose[POSE_R : POSE_R + 9].reshape(3, 3)
        return pose[POSE_X : POSE_X + 3] + R @ place.position, R @ place.rotation

    def poses(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        q = self._place(state)
        x, R = self._frame(1, self.bent.place)
        rest = self.bent.rest
        if self.straight:
            inside, turned = rest[:3, 3], R @ rest[:3, :3]
        else:
            d = self.bent.moved @ q
            inside, turned = rest[:3, 3] + d[:3], R @ turned_by(*d[3:].tolist()) @ rest[:3, :3]
        return *self._frame(0, self.root), x + R @ inside, turned

    def strain(self, state: Floats) -> Floats:
        return np.asarray(self.bent.strain @ state[self.q])

    def twist(self, state: Floats) -> Floats:
        _, _, x, turned = self.poses(state)
        v = state[self.v]
        rates = v if self.S is None else self.S @ v
        whole = rates[self.moving] @ self.seen[0, 2:, AXIS : AXIS + 6]
        velocity, spin = whole[:3] + crossed(whole[3:], x), whole[3:]
        if not self.straight:
            _, R = self._frame(1, self.bent.place)
            d, rate = (self.bent.moved @ each for each in (state[self.q], v))
            # spins about x, the new y and the newest z
            about_y, about_z = turned_by(d[3], 0.0, 0.0)[:, 1], turned_by(d[3], d[4], 0.0)[:, 2]
            velocity = velocity + R @ rate[:3]
            spin = spin + R @ (rate[3] * np.array([1.0, 0.0, 0.0]) + rate[4] * about_y + rate[5] * about_z)
        return np.concatenate([velocity @ turned, spin @ turned])


def rigid_section(arm: TreeArm, link: LinkPlaces, station: float) -> Bent:
    """On a link that does not bend: between its frames, along straight lines."""
    flat, pose = np.zeros((6, arm.bare.size)), np.eye(4)
    if station == 1.0 or len(link.nodes) < 2:
        pose[:3, 3] = 0.0 if station == 1.0 else station * (link.tip.position - link.root.position) @ link.root.rotation
        return Bent(link.tip if station == 1.0 else link.root, flat, pose, flat)
    at = station * link.stations[-1]
    k = int(np.clip(np.searchsorted(link.stations, at, side="right") - 1, 0, len(link.nodes) - 2))
    near, far = link.nodes[k], link.nodes[k + 1]
    part = (at - link.stations[k]) / (link.stations[k + 1] - link.stations[k])
    pose[:3, 3] = part * (far.position - near.position) @ near.rotation
    return Bent(near, flat, pose, flat)


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
