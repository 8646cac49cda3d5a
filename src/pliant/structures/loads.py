"""Loads on the tips of rigid links, whose only node is at their root."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.port import Frame
from pliant.robot import End, RigidLink, Robot
from pliant.spatial.arrays import to_frame
from pliant.structures.collocation.chain import Floats


def _on_rigid_tips(robot: Robot, inputs: Inputs) -> Iterator[tuple[int, LoadPlace, RigidLink]]:
    for row, load in enumerate(inputs.loads):
        link = robot.link(load.link)
        if load.end is End.TIP and isinstance(link, RigidLink):
            yield row, load, link


def with_a_turning_lever(robot: Robot, inputs: Inputs) -> tuple[str, ...]:
    """In words, loads that keep their direction in the world while their lever about the node turns with the link."""
    return tuple(
        f"load '{load.name}' with its fixed direction off the root of the rigid link '{load.link}'"
        for _, load, link in _on_rigid_tips(robot, inputs)
        if load.frame is Frame.WORLD and any(link.tip_position)
    )


def in_axes_of_nodes(robot: Robot, inputs: Inputs, at_roots: bool) -> Inputs:
    """The inputs with loads in the axes of rigid tips written in those of their nodes, ``at_roots`` moved there too."""
    wrenches: dict[int, Floats] = {}
    for row, load, link in _on_rigid_tips(robot, inputs):
        if load.frame is Frame.BODY:
            lever = np.asarray(link.tip_position, float) if at_roots else np.zeros(3)
            wrenches[row] = to_frame(matrix_of(link.tip_rotation), lever)
    if not wrenches:
        return inputs

    def signals(times: Floats) -> Floats:
        table = inputs.load_signals(times).copy()
        for row, of_node in wrenches.items():
            table[:, row] = table[:, row] @ of_node
        return table

    return replace(inputs, load_signals=signals)
