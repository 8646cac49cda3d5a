"""The twists with which the wrenches of loads do their work, from the twists of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.paths import rebuild_poses
from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.twist_matrices import to_frame
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.robot import End, RigidLink

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm


def load_flows(arm: GeometricallyExactArm, states: Floats, loads: tuple[LoadPlace, ...]) -> Floats:
    """(n, loads, 6)"""
    V, e, q, _ = arm.split(states)
    R = None
    if any(load.frame is Frame.WORLD for load in loads):
        R = rebuild_poses(arm.chain, arm.node_path, e, q)[1]
    table = arm.load_table(loads)
    flows = np.zeros((len(V), len(loads), 6))
    for k, load in enumerate(loads):
        if load.distributed or load.station is not None:
            nodes, turn, weight = slice(table.first[k], table.last[k] + 1), np.eye(3), table.weight[k]
            twist, weight = V[:, nodes], weight[nodes]
        else:
            at, turn, lever = _end_of(arm, load)
            nodes, weight = slice(at, at + 1), np.ones(1)
            twist = V[:, nodes] @ to_frame(turn, lever).T
        pairs = twist.reshape(*twist.shape[:2], 2, 3)
        if load.frame is Frame.WORLD:
            assert R is not None
            pairs = np.einsum("naij,napj->napi", R[:, nodes] @ turn, pairs)
        flows[:, k] = np.einsum("a,napi->npi", weight, pairs).reshape(-1, 6)
    return flows


def _end_of(arm: GeometricallyExactArm, load: LoadPlace) -> tuple[int, Floats, Floats]:
    """The node of an end of a link, and in its frame the axes of that end and the point of the load."""
    link, k = arm.robot.link(load.link), arm.link_names.index(load.link)
    turn, lever = np.eye(3), np.asarray(load.position, float)
    if load.end is End.TIP and isinstance(link, RigidLink):
        turn = matrix_of(link.tip_rotation)
        lever = np.asarray(link.tip_position, float) + turn @ lever
    nodes = arm.chain.tree.last_node if load.end is End.TIP else arm.chain.tree.first_node
    return int(nodes[k]), turn, lever
