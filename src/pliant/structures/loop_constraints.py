"""What closes a loop: the scalar constraints of loop joints, the same for all structures that carry loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pliant.robot import LoopJoint, LoopKind

Floats = NDArray[np.float64]
Row = tuple[int, Floats, Floats]

# what a constraint measures; c are points and d directions fixed to the frames a and b
COINCIDENCE_X, COINCIDENCE_Y, COINCIDENCE_Z = 0, 1, 2  # world component of (x_b + R_b c_b) - (x_a + R_a c_a)
DIRECTION = 3  # (R_a d_a) . (R_b d_b)
ALONG = 4  # ((x_b + R_b c_b) - (x_a + R_a c_a)) . (R_a d_a)


def closing_rows(loop: LoopJoint) -> Iterator[Row]:
    """What a loop joint closes: measure, and directions in both frames."""
    axis = np.asarray(loop.axis, float) / np.linalg.norm(loop.axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper) / np.linalg.norm(np.cross(axis, helper))
    across = (one, np.cross(axis, one))
    match loop.kind:
        case LoopKind.FIXED:
            yield from weld_rows()
            return
        case LoopKind.PRISMATIC | LoopKind.CYLINDRICAL:
            yield from ((ALONG, d, d) for d in across)
        case LoopKind.PLANAR:
            yield ALONG, axis, axis
        case _:
            yield from weld_rows()[:3]
    match loop.kind:
        case LoopKind.REVOLUTE | LoopKind.CYLINDRICAL | LoopKind.PLANAR:
            yield from ((DIRECTION, d, axis) for d in across)
        case LoopKind.PRISMATIC:
            yield from weld_rows()[3:]
        case LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            yield DIRECTION, axis, np.asarray(loop.second_axis, float) / np.linalg.norm(loop.second_axis)


def weld_rows() -> list[Row]:
    """Of two frames that stay together in all directions: first their origins, then their axes."""
    e, zero = np.eye(3), np.zeros(3)
    return [
        *((COINCIDENCE_X + k, zero, zero) for k in range(3)),
        *((DIRECTION, e[k], e[(k + 1) % 3]) for k in range(3)),
    ]
