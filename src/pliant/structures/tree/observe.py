"""What can be seen of an arm in minimal coordinates: its frames, twists of points, flows of loads.

Where turns follow statically, frames turn by what the coordinates of the tree leave out; points are those of the tree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.state import LinkObservation, Observation
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import rotation_from_vector
from pliant.spatial.rows import load3, load9, plus3, store
from pliant.spatial.vectors import Matrix, add, apply, apply_transpose, column, cross, product
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
            R[row] = rotation_from_vector(arm.static_turns_by(system, one, one)[bodies]) @ R[row]
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
            slaved[row] = arm.static_turns_by(system, one, rate)[at]
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


@kernel
def bent_frames(seen: Floats, fixed: Floats, d: Floats, out: Floats) -> None:
    """Rotations and positions (2, 12) of the root of a link and of a section of it that is displaced and turned by d.

    ``seen`` begins with the bodies of both, ``fixed`` holds the frames on them and the rest pose in the second.
    """
    for k in range(2):
        R = load9(seen, k, POSE_R)
        x = add(load3(seen, k, POSE_X), apply(R, load3(fixed, k, 9)))
        R = product(R, load9(fixed, k))
        if k == 1:
            x = add(x, apply(R, add(load3(fixed, 2, 9), (d[0], d[1], d[2]))))
            R = product(product(R, turned_in_order(d[3], d[4], d[5])), load9(fixed, 2))
        store(R, out, k)
        store(x, out, k, 9)


@kernel
def bent_twist(
    seen: Floats, fixed: Floats, frames: Floats, rates: Floats, d: Floats, moving: Floats, out: Floats
) -> None:
    """Of that section, (6,) in its axes, from rates of the joints before it, behind the first two rows of ``seen``."""
    velocity, spin = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(rates.shape[0]):
        velocity = plus3(velocity, rates[k], load3(seen, k + 2, AXIS))
        spin = plus3(spin, rates[k], load3(seen, k + 2, AXIS + 3))
    velocity = add(velocity, cross(spin, load3(frames, 1, 9)))
    R = product(load9(seen, 1, POSE_R), load9(fixed, 1))
    # spins about x, the new y and the newest z
    about_y = column(turned_in_order(d[3], 0.0, 0.0), 1)
    about_z = column(turned_in_order(d[3], d[4], 0.0), 2)
    local = plus3(plus3((moving[3], 0.0, 0.0), moving[4], about_y), moving[5], about_z)
    velocity = add(velocity, apply(R, (moving[0], moving[1], moving[2])))
    axes = load9(frames, 1)
    store(apply_transpose(axes, velocity), out[None], 0)
    store(apply_transpose(axes, add(spin, apply(R, local))), out[None], 0, 3)


@inline_kernel
def turned_in_order(x: float, y: float, z: float) -> Matrix:
    """About x, then about the new y, then about the newest z."""
    a, b, c, d, e, f = math.cos(x), math.sin(x), math.cos(y), math.sin(y), math.cos(z), math.sin(z)
    return c * e, -c * f, d, b * d * e + a * f, a * e - b * d * f, -b * c, b * f - a * d * e, a * d * f + b * e, a * c


class TreeSection:
    """A section for one who reads it often: what it follows from is found once."""

    rest: Floats

    def __init__(self, arm: TreeArm, root: Place, bent: Bent) -> None:
        system, size = arm.bare, arm.layout.size
        n = system.size
        columns = np.zeros(2 * n, np.int64)
        # joints stand before the rotors, which may turn by themselves
        columns[system.order_of_state[::-1]] = np.arange(size)[::-1]
        self.q, self.v, self.tree = columns[:n], columns[n:], system.tree
        self.S = system.shapes.S if len(system.shapes.S) else None
        self.bent, self.moving = bent, np.flatnonzero(system.before[bent.place.body + 1])
        self.rows = np.concatenate([[root.body + 1, bent.place.body + 1], self.moving + 1]).astype(np.int64)
        self.seen = np.empty((1, len(self.rows), AXIS + 6))
        self.motion = np.empty((system.tree.size + 1, MOTION_COLUMNS))
        of_rest = (bent.rest[:3, :3], bent.rest[:3, 3])
        frames = ((root.rotation, root.position), (bent.place.rotation, bent.place.position), of_rest)
        self.fixed = np.array([np.append(R.ravel(), x) for R, x in frames])

    def _frames(self, state: Floats) -> tuple[Floats, Floats]:
        """Of root and section, and the displacement of the section."""
        q = state[self.q]
        joints, d, frames = q if self.S is None else self.S @ q, self.bent.moved @ q, np.empty((2, 12))
        place_states(self.tree, joints[None], self.rows, self.motion, self.seen)
        bent_frames(self.seen[0], self.fixed, d, frames)
        return frames, d

    def poses(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        (root, own), _ = self._frames(state)
        return root[9:], root[:9].reshape(3, 3), own[9:], own[:9].reshape(3, 3)

    def strain(self, state: Floats) -> Floats:
        return np.asarray(self.bent.strain @ state[self.q])

    def twist(self, state: Floats) -> Floats:
        frames, d = self._frames(state)
        v, twist = state[self.v], np.empty(6)
        rates = (v if self.S is None else self.S @ v)[self.moving]
        bent_twist(self.seen[0], self.fixed, frames, rates, d, self.bent.moved @ v, twist)
        return twist


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
    for row, (k, _, share) in enumerate(rows):
        pair = motions[:, row]
        if loads[k].frame is Frame.BODY:
            pair = np.einsum("nji,npj->npi", axes[:, row], pair)
        flows[:, k] += share * pair.reshape(len(states), 6)
    return flows
