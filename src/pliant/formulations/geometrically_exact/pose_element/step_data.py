"""What one step holds while it is solved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Pose
from pliant.formulations.geometrically_exact.pose_element.relative_pose import COLUMNS


class Moment(NamedTuple):
    """Poses and relative-pose data at one end of a step."""

    x: Floats  # (nodes, 3)
    x_low: Floats  # (nodes, 3)
    quaternion: Floats  # (nodes, 4)
    R: Floats  # (nodes, 9)
    strain: Floats  # (nodes, 23) relative pose of every element
    q: Floats  # (coordinates,)
    phi: Floats  # (lines,)
    bushing: Floats  # (lines, 23) relative pose of every bushing, in its first row


class Step(NamedTuple):
    """The unknowns of a step and what follows from them."""

    Y: Floats  # (nodes, 6) mean velocity y of the frame's origin (world) and mean spin eta (body)
    s: Floats  # (nodes,) mean rate of the joint by which the node hangs
    impulse: Floats  # (lines,) impulses of the lines
    omega: Floats  # (nodes, 3) mean spin in the world
    R_mean: Floats  # (nodes, 9) mean of the directors, not orthogonal
    R_mid: Floats  # (nodes, 9) fixed frames of Newton's increments
    axis: Floats  # (nodes, 3) mean axis of the joint, world
    lever: Floats  # (nodes, 3) mean vector from the parent's origin to the node's, world
    share: Floats  # (nodes,) change of the joint coordinate per h s
    rho: Floats  # (nodes, 6) impulse balance of the nodes, world; joint children are added to parents
    row: Floats  # (nodes,) balance of the joint coordinate
    torque: Floats  # (coordinates, 2) effort on the joint and minus its derivative in the coordinate
    gradient: Floats  # (lines, 12) force and torque of a unit impulse on the nodes a and b, world
    way: Floats  # (lines,) change of every line in the step


class Signals(NamedTuple):
    """What drives a step."""

    h: Floats  # (1,)
    target: (
        Floats  # (coordinates, 3) prescribed end position, end rate | mean reference, mean rate, feedforward
    )
    load: Floats  # (loads, 6) mean wrenches
    base: Floats  # (7,) end position and quaternion of the base, then (6,) its end velocity and spin


def new_moment(nodes: int, coordinates: int, lines: int) -> Moment:
    z = np.zeros
    return Moment(
        z((nodes, 3)),
        z((nodes, 3)),
        z((nodes, 4)),
        z((nodes, 9)),
        z((nodes, COLUMNS)),
        z(coordinates),
        z(lines),
        z((lines, COLUMNS)),
    )


def new_step(nodes: int, coordinates: int, lines: int) -> Step:
    z = np.zeros
    return Step(
        z((nodes, 6)),
        z(nodes),
        z(lines),
        z((nodes, 3)),
        z((nodes, 9)),
        z((nodes, 9)),
        z((nodes, 3)),
        z((nodes, 3)),
        z(nodes),
        z((nodes, 6)),
        z(nodes),
        z((coordinates, 2)),
        z((lines, 12)),
        z(lines),
    )


def new_signals(coordinates: int, loads: int) -> Signals:
    z = np.zeros
    return Signals(z(1), z((coordinates, 3)), z((loads, 6)), z(13))


def new_pose(nodes: int, coordinates: int) -> Pose:
    z = np.zeros
    return Pose(
        z((nodes, 3)),
        z((nodes, 3)),
        z((nodes, 4)),
        z((nodes, 3)),
        z((nodes, 3)),
        z(coordinates),
        z(coordinates),
        z((coordinates, 2)),
    )
