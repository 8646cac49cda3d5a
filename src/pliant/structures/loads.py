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
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion, to_frame

Floats = NDArray[np.float64]
BASE_COLUMNS = 13  # position, quaternion, velocity, spin
PROBE = 1e-3  # s, of differences of signals; they vary over longer times


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


def twists_of_base(robot: Robot, inputs: Inputs, times: Floats) -> Floats:
    """Of the base in its own axes at many times (n, 6)."""
    table = base_table(robot, inputs, times)
    R = rotation_from_quaternion(table[:, 3:7])
    return np.concatenate([np.einsum("nji,nj->ni", R, table[:, 7:10]), table[:, 10:]], axis=1)


def acceleration_of_base(robot: Robot, inputs: Inputs, time: float) -> Floats:
    """Rate of change of that twist, by a difference of fourth order: motions of the base give none."""
    times = time + PROBE * np.array([-2.0, -1.0, 1.0, 2.0])
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12 * PROBE)
    return np.asarray(weights @ twists_of_base(robot, inputs, times))


def refuse_drag_against_moving_base(robot: Robot) -> None:
    """Refuse what resists motion against the world while the base moves."""
    for joint in robot.joints:
        if isinstance(joint, FreeJoint) and joint.drags:
            raise InvalidInput(
                f"joint '{joint.name}' has damping or friction against the world, but the base moves; hold the"
                " base, or let a Bushing to the base damp the link"
            )
