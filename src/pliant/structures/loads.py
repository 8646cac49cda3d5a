"""Loads as they act on nodes, and the base as it moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import matrix_of
from pliant.model.inputs import ORIGIN, Inputs
from pliant.model.port import Frame
from pliant.robot import End, FreeJoint, RigidLink, Robot
from pliant.spatial.arrays import quaternion_from_rotation, to_frame

Floats = NDArray[np.float64]
BASE_COLUMNS = 13  # position, quaternion, velocity, spin


def beside_stations(inputs: Inputs) -> tuple[str, ...]:
    """In words, loads beside the axis of a link at a station, whose lever turns with the section there."""
    return tuple(
        f"load '{load.name}' beside the axis at a station of link '{load.link}'"
        for load in inputs.loads
        if load.station is not None and load.position != ORIGIN
    )


def in_axes_of_nodes(robot: Robot, inputs: Inputs) -> Inputs:
    """The inputs with loads in the axes of rigid tips written in those of their nodes, which are at the roots."""
    wrenches: dict[int, Floats] = {}
    for row, load in enumerate(inputs.loads):
        link = robot.link(load.link)
        if load.end is End.TIP and isinstance(link, RigidLink) and load.frame is Frame.BODY:
            wrenches[row] = to_frame(matrix_of(link.tip_rotation), np.zeros(3))
    return with_wrenches(inputs, wrenches)


def with_wrenches(inputs: Inputs, wrenches: Mapping[int, Floats]) -> Inputs:
    """The inputs with the wrenches of some loads seen from other frames; rows multiply the given matrices."""
    if not wrenches:
        return inputs

    def signals(times: Floats) -> Floats:
        table = inputs.load_signals(times).copy()
        for row, of_node in wrenches.items():
            table[:, row] = table[:, row] @ of_node
        return table

    return replace(inputs, load_signals=signals)


def base_table(robot: Robot, inputs: Inputs, times: Floats) -> Floats:
    """Pose and velocity of the base at many times (n, 13)."""
    table = np.zeros((len(times), BASE_COLUMNS))
    if inputs.base_motion is None:
        table[:, :3] = robot.base.position
        table[:, 3:7] = quaternion_from_rotation(matrix_of(robot.base.rotation))
        return table
    path = inputs.base_motion(times)
    table[:, :3], table[:, 3:7] = path.position, path.quaternion
    table[:, 7:10], table[:, 10:] = path.velocity, path.spin
    if not np.isfinite(table).all():
        raise InvalidInput("the motion of the base is not finite; let its motions return finite numbers")
    return table


def refuse_drag_against_moving_base(robot: Robot) -> None:
    """Refuse what resists motion against the world while the base moves."""
    for joint in robot.joints:
        if isinstance(joint, FreeJoint) and joint.drags:
            raise InvalidInput(
                f"joint '{joint.name}' has damping or friction against the world, but the base moves; hold the"
                " base, or let a Bushing to the base damp the link"
            )
