"""Where loads act, and with which velocities they and the lines between parts do their work.

What can be seen of a mechanism of nodes with poses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.jit import kernel
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Frame
from pliant.model.state import LinkObservation, Observation
from pliant.robot import FlexibleLink
from pliant.spatial import se3, so3
from pliant.spatial.arrays import pose_from_twist, rotation_from_quaternion, twist_from_pose
from pliant.spatial.rows import load3, load9, plus3, store
from pliant.spatial.vectors import add, apply, apply_transpose, cross, product, sub, transpose
from pliant.structures.nodal.assembly import LinkNodes
from pliant.structures.nodal.codes import COROTATIONAL_MEAN, POSE
from pliant.structures.nodal.corotational import COLUMNS, deformation_at
from pliant.structures.nodal.mechanism import Elements, Floats, Ints, Wrenches
from pliant.structures.relations import line_gradients, measure_lines
from pliant.structures.relative_pose import U

if TYPE_CHECKING:
    from pliant.structures.nodal.assembly import Structure
    from pliant.structures.nodal.model import PoseElementArm


def wrench_rows(structure: Structure, loads: tuple[LoadPlace, ...]) -> Wrenches:
    """The points of nodes on which loads act; a spread one acts on all nodes of its link."""
    found: list[tuple[Any, ...]] = []
    for k, place in enumerate(loads):
        if place.distributed:
            link = structure.link(place.link)
            half = 0.5 * np.diff(link.station)
            shares = np.append(half, 0.0) + np.append(0.0, half)
            rows = [(int(i), np.zeros(3), share, int(i)) for i, share in zip(link.nodes, shares)]
        elif place.station is not None:
            # velocities are taken as straight between two nodes, so that power is force times velocity there
            around = structure.link(place.link).shares(place.station)
            rows = [(i, np.array(place.position, float), share, i) for i, share in around]
        else:
            at = structure.place(place.at)
            rows = [(at.body, at.position, 1.0, at.body)]
            if place.reacts_on:
                parent = structure.place(place.reacts_on)
                rows.append((parent.body, parent.position, -1.0, at.body))
        world = place.frame is Frame.WORLD
        found += [(k, i, position, share, world, turns_with) for i, position, share, turns_with in rows]
    columns, kinds = list(zip(*found)) or [()] * 6, (np.int64, np.int64, float, float, np.bool_, np.int64)
    load, node, point, weight, in_world, axes = (np.array(*each) for each in zip(columns, kinds))
    return Wrenches(load, node, point.reshape(len(load), 3), weight, in_world, axes)


def point_motions(arm: PoseElementArm, states: Floats, nodes: Ints, points: Floats) -> tuple[Floats, Floats]:
    """World velocities and spins (n, m, 3) of points (m, 3) given in the frames of nodes (m,)."""
    part = arm.layout.part
    R = rotation_from_quaternion(part(states, "rotation")[:, nodes])
    spin = np.einsum("naij,naj->nai", R, part(states, "spin")[:, nodes])
    # velocities of the state are those of the centres of mass
    lever = np.einsum("naij,aj->nai", R, points - arm.structure.bodies.center[nodes])
    return part(states, "velocity")[:, nodes] + np.cross(spin, lever), spin


def load_flows(arm: PoseElementArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """(n, loads, 6)"""
    rows = wrench_rows(arm.structure, loads)
    pairs = np.stack(point_motions(arm, states, rows.node, rows.point), axis=2)
    axes = rotation_from_quaternion(arm.layout.part(states, "rotation")[:, rows.axes])
    flows = np.zeros((len(states), len(loads), 6))
    for row, k in enumerate(rows.load):
        pair = pairs[:, row]
        if not rows.world[row]:
            section = np.eye(3)
            if not loads[k].distributed and loads[k].station is None:
                section = arm.structure.place(loads[k].at).rotation
            pair = np.einsum("nji,npj->npi", axes[:, row] @ section, pair)
        flows[:, k] += rows.weight[row] * pair.reshape(-1, 6)
    return flows


def line_rates(arm: PoseElementArm, states: Floats, inputs: Inputs) -> dict[str, Floats]:
    """``<owner>.force`` (n, lines of the owner)"""
    owners = np.array(arm.line_owners(inputs))
    rates = np.zeros((len(states), len(owners)))
    if not len(owners):
        return {}
    mechanism = arm.mechanism(inputs)
    origins = np.zeros((len(owners), 3))
    motions = [part for ends in mechanism.lines.node.T for part in point_motions(arm, states, ends, origins)]
    motion = np.concatenate(motions, axis=2)
    gradient = np.zeros((len(owners), 12))
    for row, state in enumerate(states):
        moment = arm.moment_of(mechanism, arm.pose_of(state))
        # a second time, from the angles found, so that slopes of bushings between two angles become derivatives
        measure_lines(mechanism.lines, moment.bushing, moment)
        line_gradients(mechanism.lines, moment, moment, moment.R, gradient)
        rates[row] = np.einsum("ki,ki->k", gradient, motion[row])
    return {f"{owner}.force": rates[:, owners == owner] for owner in dict.fromkeys(owners.tolist())}


def poses_of(arm: PoseElementArm, states: Floats, nodes: Ints) -> Floats:
    """Poses (n, m, 4, 4) of some nodes."""
    part = arm.layout.part
    pose = np.zeros((len(states), len(nodes), 4, 4))
    pose[..., :3, :3] = rotation_from_quaternion(part(states, "rotation")[:, nodes])
    pose[..., :3, 3] = part(states, "position")[:, nodes]
    pose[..., 3, 3] = 1.0
    return pose


def tip_pose(arm: PoseElementArm, states: Floats, link: LinkNodes) -> Floats:
    """Pose (n, 4, 4) of the tip of a link."""
    end = np.eye(4)
    end[:3, :3], end[:3, 3] = link.tip.rotation, link.tip.position
    return poses_of(arm, states, np.array([link.tip.body]))[:, 0] @ end


def tip_of(arm: PoseElementArm, states: Floats) -> tuple[Floats, Floats]:
    pose = tip_pose(arm, states, arm.structure.link(arm.robot.tip_link))
    return pose[:, :3, 3], pose[:, :3, :3]


def link_ends(arm: PoseElementArm, states: Floats) -> tuple[Floats, Floats]:
    """Positions (n, links, 2, 3) and rotations (n, links, 2, 3, 3) of roots and tips, nodes or fixed to one."""
    links, part = arm.structure.links, arm.layout.part
    nodes = np.array([[link.nodes[0], link.tip.body] for link in links])
    x, R = part(states, "position")[:, nodes], rotation_from_quaternion(part(states, "rotation")[:, nodes])
    x[:, :, 1] += (R[:, :, 1] @ np.array([link.tip.position for link in links])[..., None])[..., 0]
    R[:, :, 1] = R[:, :, 1] @ np.array([link.tip.rotation for link in links])
    return x, R


def observe(arm: PoseElementArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    part = arm.layout.part
    links = tuple(_observe_link(arm, states, link, stations) for link in arm.structure.links)
    last = arm.structure.link(arm.robot.tip_link)
    pose = tip_pose(arm, states, last)
    R, position = pose[:, :3, :3], pose[:, :3, 3]
    twist = load_flows(arm, states, (LoadPlace("tip", last.name, False, Frame.BODY),))[:, 0]
    return Observation(part(states, "joint_position"), part(states, "joint_rate"), links, position, R, twist)


def _observe_link(arm: PoseElementArm, states: Floats, link: LinkNodes, stations: int) -> LinkObservation:
    nodes = poses_of(arm, states, link.nodes)
    if not isinstance(arm.robot.link(link.name), FlexibleLink):
        both = np.stack([nodes[:, 0], tip_pose(arm, states, link)], axis=1)
        zero = np.zeros((len(states), 2, 6))
        return LinkObservation(link.name, link.station, both[..., :3, 3], both[..., :3, :3], zero, zero)
    elements = arm.structure.elements
    ids = link.nodes[1:]
    relative = _inverse(nodes[:, :-1]) @ nodes[:, 1:]
    log = twist_from_pose(relative)
    measured = log if elements.kind == POSE else deformations(elements, ids, relative)
    deformed = measured / elements.length[ids][:, None] - elements.rest[ids]
    strain, wrench = (np.einsum("mij,nmj->nmi", arm.structure.seen[ids, k], deformed) for k in range(2))
    wanted = np.linspace(0.0, link.station[-1], stations)
    at = np.clip(np.searchsorted(link.station, wanted, side="right") - 1, 0, len(ids) - 1)
    part = (wanted - link.station[at]) / elements.length[ids][at]
    pose = nodes[:, at] @ pose_from_twist(log[:, at] * part[:, None])
    middle = 0.5 * (link.station[1:] + link.station[:-1])
    strain, wrench = (_between(middle, values, wanted) for values in (strain, wrench))
    return LinkObservation(link.name, wanted, pose[..., :3, 3], pose[..., :3, :3], strain, wrench)


@kernel
def frames_of(x: Floats, quaternion: Floats, nodes: Ints, out: Floats) -> None:
    """Rotations and positions (m, 12) of some nodes."""
    for k in range(nodes.shape[0]):
        i = nodes[k]
        q = quaternion[i, 0], quaternion[i, 1], quaternion[i, 2], quaternion[i, 3]
        store(so3.from_quaternion(q), out, k)
        store(load3(x, i), out, k, 9)


@kernel
def relative_frames(frames: Floats, log: Floats, out: Floats) -> None:
    """Of pairs of frames, rotations and positions (m, 12) of the second seen from the first, and their logarithms."""
    for k in range(log.shape[0]):
        R, S = load9(frames, 2 * k), load9(frames, 2 * k + 1)
        r = apply_transpose(R, sub(load3(frames, 2 * k + 1, 9), load3(frames, 2 * k, 9)))
        turned = product(transpose(R), S)
        store(turned, out, k)
        store(r, out, k, 9)
        store(se3.log((turned, r)), log, k)


@kernel
def between_frames(frames: Floats, part: float, out: Floats) -> None:
    """The frame (1, 12) at a part of the way from the second to the third frame."""
    R, x = load9(frames, 1), load3(frames, 1, 9)
    r = apply_transpose(R, sub(load3(frames, 2, 9), x))
    a, b, c, d, e, f = se3.log((product(transpose(R), load9(frames, 2)), r))
    turned, way = se3.exp((part * a, part * b, part * c, part * d, part * e, part * f))
    store(product(R, turned), out, 0)
    store(add(x, apply(R, way)), out, 0, 9)


@kernel
def carried_twist(
    frames: Floats, v: Floats, w: Floats, lever: Floats, shares: Floats, axes: Floats, out: Floats
) -> None:
    """Velocity and spin (1, 6) in the axes (3, 3) of a section, from those of nodes with parts of them and levers."""
    velocity, spin = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(frames.shape[0]):
        R = load9(frames, k)
        turning = apply(R, load3(w, k))
        velocity = plus3(velocity, shares[k], add(load3(v, k), cross(turning, apply(R, load3(lever, k)))))
        spin = plus3(spin, shares[k], turning)
    A = (axes[0, 0], axes[0, 1], axes[0, 2], axes[1, 0], axes[1, 1], axes[1, 2], axes[2, 0], axes[2, 1], axes[2, 2])
    store(apply_transpose(A, velocity), out, 0)
    store(apply_transpose(A, spin), out, 0, 3)


class NodalSection:
    """A section for one who reads it often: its nodes are found once."""

    rest: Floats

    def __init__(self, arm: PoseElementArm, link: str, station: float) -> None:
        at, own, self.elements = arm.layout.slices, arm.structure.link(link), arm.structure.elements
        self.x, self.quaternion, self.v, self.w = (at[name] for name in ("position", "rotation", "velocity", "spin"))
        nodes, bends = own.nodes, isinstance(arm.robot.link(link), FlexibleLink)
        ids = nodes[1:]
        self.offset, self.turn, self.part = np.zeros(3), np.eye(3), 0.0
        self.strained, seen, shares = np.zeros(0, np.int64), nodes[:1], [(int(nodes[0]), 1.0)]
        if bends:
            place = station * own.station[-1]
            k = int(np.clip(np.searchsorted(own.station, place, side="right") - 1, 0, len(ids) - 1))
            self.part = float((place - own.station[k]) / self.elements.length[ids[k]])
            seen, shares = nodes[k : k + 2], own.shares(place)
            middle = 0.5 * (own.station[1:] + own.station[:-1])
            row = _between(middle, np.eye(len(ids))[None], np.array([place]))[0, 0]
            self.strained = np.flatnonzero(row)
            self.weights = row[self.strained]
            self.ids = ids[self.strained]
            self.map = arm.structure.seen[self.ids, 0]
            self.rest_strain, self.length = self.elements.rest[self.ids], self.elements.length[self.ids]
            # elements of one length are measured at once
            alike = np.all(self.length == self.length[0])
            self.together = [slice(0, len(self.ids))] if alike else [slice(k, k + 1) for k in range(len(self.ids))]
            self.pairs = np.stack([nodes[self.strained], self.ids], axis=1).ravel()
        elif station == 1.0:
            self.offset, self.turn, seen = own.tip.position, own.tip.rotation, np.array([own.tip.body])
            shares = [(own.tip.body, 1.0)]
        else:
            self.offset = station * own.tip.position
        self.nodes = np.concatenate([nodes[:1], seen])
        self.shares = np.array([share for _, share in shares])
        self.carried = np.array([node for node, _ in shares])
        self.lever = self.offset - arm.structure.bodies.center[self.carried]
        self.data, self.bends = np.zeros((2, COLUMNS), complex), bends

    def _frames(self, state: Floats, nodes: Ints) -> Floats:
        frames = np.empty((len(nodes), 12))
        frames_of(state[self.x].reshape(-1, 3), state[self.quaternion].reshape(-1, 4), nodes, frames)
        return frames

    def poses(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        frames = self._frames(state, self.nodes)
        R, x = frames[:, :9].reshape(-1, 3, 3), frames[:, 9:]
        if not self.bends:
            return x[0], R[0], x[1] + R[1] @ self.offset, R[1] @ self.turn
        inside = np.empty((1, 12))
        between_frames(frames, self.part, inside)
        return x[0], R[0], inside[0, 9:], inside[0, :9].reshape(3, 3)

    def strain(self, state: Floats) -> Floats:
        if not self.bends:
            return np.zeros(6)
        count = len(self.ids)
        measured, relative = np.empty((count, 6)), np.empty((count, 12))
        relative_frames(self._frames(state, self.pairs), measured, relative)
        if self.elements.kind != POSE:
            for rows in self.together:  # complex, as in `deformations`
                r, R, data = relative[rows, 9:].astype(complex), relative[rows, :9].astype(complex), self.data[rows]
                deformation_at(self.length[rows.start], self.elements.kind == COROTATIONAL_MEAN, r, R, data)
            measured = self.data[:count, U : U + 6].real
        deformed = measured / self.length[:, None] - self.rest_strain
        return np.asarray(self.weights @ (self.map @ deformed[..., None])[..., 0])

    def twist(self, state: Floats) -> Floats:
        """Where it lies between nodes, of velocities along straight lines."""
        frames, twist = self._frames(state, self.carried), np.empty((1, 6))
        axes = frames[0, :9].reshape(3, 3) @ self.turn if len(frames) == 1 else self.poses(state)[3]
        v, w = state[self.v].reshape(-1, 3), state[self.w].reshape(-1, 3)
        carried_twist(frames, v[self.carried], w[self.carried], self.lever, self.shares, axes, twist)
        return np.asarray(twist[0])


def deformations(elements: Elements, ids: Ints, relative: Floats) -> Floats:
    """(n, m, 6) of co-rotational elements from the poses (n, m, 4, 4) of their far sections seen from the near ones."""
    measured = np.zeros((*relative.shape[:2], 6))
    for k, own in enumerate(elements.length[ids]):
        # complex, as rest shapes are measured, so that one kernel serves both
        r, R = relative[:, k, :3, 3].astype(complex), relative[:, k, :3, :3].reshape(-1, 9).astype(complex)
        data = np.zeros((len(r), COLUMNS), complex)
        deformation_at(own, elements.kind == COROTATIONAL_MEAN, r, R, data)
        measured[:, k] = data[:, U : U + 6].real
    return measured


def _inverse(pose: Floats) -> Floats:
    inverse = pose.copy()
    turned = np.swapaxes(pose[..., :3, :3], -1, -2)
    inverse[..., :3, :3] = turned
    inverse[..., :3, 3] = -(turned @ pose[..., :3, 3:])[..., 0]
    return inverse


def _between(known: Floats, values: Floats, wanted: Floats) -> Floats:
    """Straight lines between the values (n, k, 6) at the middles of elements, going on to the ends."""
    if len(known) == 1:
        return np.repeat(values, len(wanted), axis=1)
    left = np.clip(np.searchsorted(known, wanted) - 1, 0, len(known) - 2)
    part = ((wanted - known[left]) / (known[left + 1] - known[left]))[:, None]
    between: Floats = (1.0 - part) * values[:, left] + part * values[:, left + 1]
    return between
