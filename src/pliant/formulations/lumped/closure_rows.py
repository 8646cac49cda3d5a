"""From loop joints to scalar closures between two bodies of the tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pliant.formulations.lumped.structure import Floats, Structure
from pliant.mechanics.minimal.mechanism import ALONG, COINCIDENCE_X, DIRECTION, Loops
from pliant.robot import LoopJoint, LoopKind, Robot

Row = tuple[int, Floats, Floats]


def closure_rows(structure: Structure) -> Loops:
    """The closures of all loop joints."""
    measure, body, point, direction = [], [], [], []
    for loop in structure.robot.loops:
        first, second = structure.place(loop.first), structure.place(loop.second)
        for kind, one, other in _rows(loop):
            measure.append(kind)
            body.append((first.body, second.body))
            point.append((first.position, second.position))
            direction.append((first.rotation @ one, second.rotation @ other))
    rows = len(measure)
    return Loops(
        np.array(measure, np.int64),
        np.array(body, np.int64).reshape(rows, 2),
        np.array(point, float).reshape(rows, 2, 3),
        np.array(direction, float).reshape(rows, 2, 3),
    )


def closed_links(robot: Robot) -> tuple[tuple[str, str], ...]:
    """The two links that each closure ties together, or the base."""
    return tuple((loop.first.link, loop.second.link) for loop in robot.loops for _ in _rows(loop))


def _rows(loop: LoopJoint) -> Iterator[Row]:
    """What a loop joint closes: measure, and directions in both frames."""
    axis = np.asarray(loop.axis, float) / np.linalg.norm(loop.axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper) / np.linalg.norm(np.cross(axis, helper))
    across, zero, e = (one, np.cross(axis, one)), np.zeros(3), np.eye(3)
    match loop.kind:
        case LoopKind.PRISMATIC | LoopKind.CYLINDRICAL:
            yield from ((ALONG, d, d) for d in across)
        case LoopKind.PLANAR:
            yield ALONG, axis, axis
        case _:
            yield from ((COINCIDENCE_X + k, zero, zero) for k in range(3))
    match loop.kind:
        case LoopKind.REVOLUTE | LoopKind.CYLINDRICAL | LoopKind.PLANAR:
            yield from ((DIRECTION, d, axis) for d in across)
        case LoopKind.PRISMATIC | LoopKind.FIXED:
            yield from ((DIRECTION, e[k], e[(k + 1) % 3]) for k in range(3))
        case LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            yield DIRECTION, axis, np.asarray(loop.second_axis, float) / np.linalg.norm(loop.second_axis)
