"""What can be seen of a mechanism of pose elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.assembly import LinkNodes
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Ints
from pliant.formulations.geometrically_exact.pose_element.port_flows import load_flows
from pliant.model.inputs import LoadPlace
from pliant.model.observation import LinkObservation, Observation
from pliant.model.port import Frame
from pliant.robot import FlexibleLink
from pliant.spatial.arrays import pose_from_twist, rotation_from_quaternion, twist_from_pose

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.pose_element.model import PoseElementArm


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
    return poses_of(arm, states, np.array([link.tip.node]))[:, 0] @ end


def tip_of(arm: PoseElementArm, states: Floats) -> tuple[Floats, Floats]:
    pose = tip_pose(arm, states, arm.structure.links[-1])
    return pose[:, :3, 3], pose[:, :3, :3]


def observe(arm: PoseElementArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    part = arm.layout.part
    links = tuple(_observe_link(arm, states, link, stations) for link in arm.structure.links)
    last = arm.structure.links[-1]
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
    log = twist_from_pose(_inverse(nodes[:, :-1]) @ nodes[:, 1:])
    strain = log / elements.length[ids][:, None] - elements.rest[ids]
    wrench = np.einsum("mij,nmj->nmi", elements.K[ids], strain)
    wanted = np.linspace(0.0, link.station[-1], stations)
    at = np.clip(np.searchsorted(link.station, wanted, side="right") - 1, 0, len(ids) - 1)
    part = (wanted - link.station[at]) / elements.length[ids][at]
    pose = nodes[:, at] @ pose_from_twist(log[:, at] * part[:, None])
    middle = 0.5 * (link.station[1:] + link.station[:-1])
    return LinkObservation(
        link.name,
        wanted,
        pose[..., :3, 3],
        pose[..., :3, :3],
        _between(middle, strain, wanted),
        _between(middle, wrench, wanted),
    )


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
