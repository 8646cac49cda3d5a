"""What straight fields neglect: a beam that bends grows shorter.

The far end of a field moves across it by its deflection and not along it. A beam whose sections turn by small θ(s)
against its rest tangent t draws its end in by the integral of

    cross(θ, cross(θ, t)) / 2 ,

for a cantilever under a force on its end 3 δ² / 5 L. Summed over the fields between base and tip, the rate of u is by
how much the tip of the arm is too fast or too slow, to leading order.

What can be seen of a lumped arm: its frames, and between stations the shapes of massless beams.

Where station inertia is neglected, frames turn by what the fields before them do, which the coordinates of the tree
leave out; the points of the stations are those of the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.mechanics.shape_functions import gauss_rule
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.state import LinkObservation, Observation
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures.tree.motion import AXIS, POSE_R, POSE_X
from pliant.structures.tree.structure import (
    Field,
    Floats,
    LinkPlaces,
    Place,
    Stretch,
    end_flexibility,
    shape_inside,
)
from pliant.structures.tree.system import load_places
from pliant.structures.tree.transfer import turned_in_order

if TYPE_CHECKING:
    from pliant.structures.tree.model import LumpedArm

PAIRS = (("joint_position", "joint_rate"), ("deflection", "deflection_rate"))
POINTS = 4  # turns are polynomials of second degree in uniform fields, their squares of fourth
SMALL = 1e-4  # rad or m: a displacement that balances truncation and round-off of the difference
TOO_BENT = (
    "because bent links grow shorter and straight fields do not; take more fields for each link, bend it less, or"
    " compile the robot with GeometricallyExact()"
)


def neglected_speed(arm: LumpedArm, states: Floats) -> Floats:
    """Rate (n,) of the shortening that the tip lacks, metre per second."""
    if not arm.structure.fields:
        return np.zeros(len(states))
    part, slices = arm.layout.part, arm.layout.slices
    pairs = [(place, rate) for place, rate in PAIRS if place in slices]
    rates = [part(states, rate) for _, rate in pairs]
    step = SMALL / max(1e-12, *(float(np.abs(rate).max(initial=0.0)) for rate in rates))

    def shifted(by: float) -> Floats:
        moved = states.copy()
        for (place, _), rate in zip(pairs, rates):
            moved[:, slices[place]] += by * rate
        return neglected_displacement(arm, moved)

    return np.asarray(np.linalg.norm(shifted(step) - shifted(-step), axis=1) / (2.0 * step))


def neglected_displacement(arm: LumpedArm, states: Floats) -> Floats:
    """Where the tip ought to be, from where it is, (n, 3) in the world."""
    poses, before = poses_of(arm, states), arm.bare.before[arm.structure.tip.body + 1]
    total = np.zeros((len(states), 3))
    at, weights = gauss_rule(POINTS)
    for k, field in enumerate(arm.structure.fields):
        length = field.end - field.start
        if length <= 0.0 or not len(field.columns) or not before[field.columns[-1]]:
            continue
        drawn_in = np.zeros((len(states), 3))
        for place, weight in zip(at, weights):
            rest, per_end, _, _ = arm.shape_at(k, field.start + float(place) * length)
            turn = poses.deflection[:, k] @ per_end[3:].T
            drawn_in += 0.5 * weight * length * np.cross(turn, np.cross(turn, rest[:3, 0]))
        _, R = poses.at(field.root)
        total += np.einsum("nij,nj->ni", R, drawn_in)
    return total


@dataclass(frozen=True, eq=False)
class Poses:
    """All bodies, the base first, at n times."""

    rotation: Floats  # (n, bodies + 1, 3, 3)
    position: Floats  # (n, bodies + 1, 3)
    turn: Floats  # (n, bodies + 1, 3, 3) by fields whose turns are no coordinates
    deflection: Floats  # (n, fields, 6)
    deflection_rate: Floats

    def at(self, place: Place) -> tuple[Floats, Floats]:
        """Position (n, 3) and rotation (n, 3, 3) of a frame."""
        R = self.turn[:, place.body + 1] @ self.rotation[:, place.body + 1]
        return self.position[:, place.body + 1] + R @ place.position, R @ place.rotation


def poses_of(arm: LumpedArm, states: Floats) -> Poses:
    """Of many states (n, size)."""
    system, structure = arm.bare, arm.structure
    count, bodies, fields = len(states), system.size + 1, len(structure.fields)
    R, x = np.zeros((count, bodies, 3, 3)), np.zeros((count, bodies, 3))
    turn = np.tile(np.eye(3), (count, bodies, 1, 1))
    s, s_rate = np.zeros((count, fields, 6)), np.zeros((count, fields, 6))
    for row, state in enumerate(states):
        q, v = arm.coordinates(system, state)
        motion = system.placed(q)
        R[row] = motion[:, POSE_R : POSE_R + 9].reshape(bodies, 3, 3)
        x[row] = motion[:, POSE_X : POSE_X + 3]
        for k, field in enumerate(structure.fields):
            s[row, k, list(field.kept)], s_rate[row, k, list(field.kept)] = q[field.columns], v[field.columns]
        if structure.condensed:
            for body, map_of in arm.slaved_turns(system, q).items():
                turn[row, body + 1] = rotation_from_vector(map_of @ q)
    poses = Poses(R, x, turn, s, s_rate)
    if structure.condensed:
        for k, field in enumerate(structure.fields):
            s[:, k] = _relative(poses, field)
    return poses


def _relative(poses: Poses, field: Field) -> Floats:
    """Deflection (n, 6) of a field between frames that turn."""
    near, R = poses.at(field.root)
    if not len(field.columns):
        return np.zeros((len(near), 6))
    end = Place(int(field.columns[-1]), np.zeros(3), np.eye(3))
    far, R_far = poses.at(end)
    back = np.swapaxes(R, 1, 2)
    d = np.einsum("nij,nj->ni", back, far - near) - field.far[:3, 3]
    turned = back @ R_far
    # about x, the new y and the newest z
    angles = [
        np.arctan2(-turned[:, 1, 2], turned[:, 2, 2]),
        np.arcsin(turned[:, 0, 2]),
        np.arctan2(-turned[:, 0, 1], turned[:, 0, 0]),
    ]
    return np.concatenate([d, np.stack(angles, axis=1)], axis=1)


def observe(arm: LumpedArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    poses = poses_of(arm, states)
    links = tuple(_observe_link(arm, poses, link, stations) for link in arm.structure.links)
    tip = arm.structure.tip
    position, rotation = poses.at(tip)
    part = arm.layout.part
    motions, _ = place_motions(arm, states, (tip,))
    twist = np.einsum("nji,npj->npi", rotation, motions[:, 0]).reshape(len(states), 6)
    return Observation(
        part(states, "joint_position"), part(states, "joint_rate"), links, position, rotation, twist
    )


def place_motions(arm: LumpedArm, states: Floats, places: tuple[Place, ...]) -> tuple[Floats, Floats]:
    """World velocity and spin (n, places, 2, 3), and the axes (n, places, 3, 3) of the tree there."""
    system, count = arm.bare, len(states)
    at = np.array([place.body + 1 for place in places], np.int64)
    before = system.before[at].astype(float)
    twist, pose, slaved = (np.zeros((count, len(at), size)) for size in (6, 12, 3))
    for row, state in enumerate(states):
        q, v = arm.coordinates(system, state)
        for body, turn in arm.slaved_turns(system, q).items():
            slaved[row, at == body + 1] = turn @ v
        motion = system.placed(q)
        twist[row] = before @ (motion[1:, AXIS : AXIS + 6] * v[:, None])
        pose[row, :, :9], pose[row, :, 9:] = motion[at, POSE_R : POSE_R + 9], motion[at, POSE_X : POSE_X + 3]
    R, origin = pose[..., :9].reshape(count, -1, 3, 3), pose[..., 9:]
    lever = np.einsum("npij,pj->npi", R, np.array([place.position for place in places]).reshape(-1, 3))
    spin = twist[..., 3:]
    velocity = twist[..., :3] + np.cross(spin, origin + lever) + np.cross(slaved, lever)
    rotations = np.array([place.rotation for place in places]).reshape(-1, 3, 3)
    return np.stack([velocity, spin + slaved], axis=2), R @ rotations


def load_flows(arm: LumpedArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """Twists (n, loads, 6) with which the wrenches of loads do their work, in the axes of the wrenches."""
    rows = [
        (k, place, share) for k, load in enumerate(loads) for place, share in load_places(arm.structure, load)
    ]
    motions, axes = place_motions(arm, states, tuple(place for _, place, _ in rows))
    flows = np.zeros((len(states), len(loads), 6))
    for column, (k, _, share) in enumerate(rows):
        pair = motions[:, column]
        if loads[k].frame is Frame.BODY:
            pair = np.einsum("nji,npj->npi", axes[:, column], pair)
        flows[:, k] += share * pair.reshape(len(states), 6)
    return flows


def _observe_link(arm: LumpedArm, poses: Poses, link: LinkPlaces, stations: int) -> LinkObservation:
    if not link.fields:
        # a link of the robot that bends, seen as rigid, is still drawn along its axis
        ends = link.nodes if isinstance(arm.robot.link(link.name), FlexibleLink) else (link.root, link.tip)
        seen = [poses.at(node) for node in ends]
        x, R = np.stack([each[0] for each in seen], axis=1), np.stack([each[1] for each in seen], axis=1)
        zero = np.zeros((*x.shape[:2], 6))
        return LinkObservation(link.name, link.stations, x, R, zero, zero)
    wanted = np.linspace(0.0, link.stations[-1], stations)
    at = np.clip(np.searchsorted(link.stations, wanted, side="right") - 1, 0, len(link.fields) - 1)
    columns = [_inside(arm, poses, link.fields[int(k)], float(station)) for k, station in zip(at, wanted)]
    x, R, strain, wrench = (np.stack([column[i] for column in columns], axis=1) for i in range(4))
    return LinkObservation(link.name, wanted, x, R, strain, wrench)


def _inside(arm: LumpedArm, poses: Poses, k: int, station: float) -> tuple[Floats, ...]:
    """Position, rotation, strain and section wrench at a station of field k."""
    field, (rest, per_end, strain_of, section) = arm.structure.fields[k], arm.shape_at(k, station)
    s, rate = poses.deflection[:, k], poses.deflection_rate[:, k]
    deflection = s @ per_end.T
    x, R = poses.at(field.root)
    inside = rest[:3, 3] + deflection[:, :3]
    turned = turned_in_order(deflection[:, 3:]) @ rest[:3, :3]
    wrench = s @ field.stiffness.T + rate @ field.damping.T
    return x + np.einsum("nij,nj->ni", R, inside), R @ turned, s @ strain_of.T, wrench @ section.T


def shape_table(arm: LumpedArm, k: int, station: float) -> tuple[Floats, ...]:
    """Rest pose, and deflection and strain per deflection of the far end, section wrench per wrench there."""
    field = arm.structure.fields[k]
    link = arm.robot.link(field.link)
    assert isinstance(link, FlexibleLink)
    beam = arm.structure.beam
    rest, deflection, strain, section = shape_inside(link, field.start, field.end, station, beam)
    stiffness = np.linalg.inv(end_flexibility(Stretch.of(link, field.start, field.end), beam))
    return rest, deflection @ stiffness, strain @ stiffness, section
