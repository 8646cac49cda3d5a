"""The base of an arm moved by the world: a vehicle, a shaker, a turntable.

With the base of the robot at x_0, R_0 and the motions x, y, z and angle in time,

    position = x_0 + (x, y, z) ,     rotation = R_0 exp(angle axis) ,

so that the axis stands still in the base and in the world, and the spin in the axes of the base is  angle' axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from pliant.components.fields import Holds
from pliant.components.kinds import BaseMove, Contribution
from pliant.components.motions import Hold, Motion
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import BasePath
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity, Quaternion, Vector3


def rotated(rotation: Quaternion, vectors: Array) -> Array:
    """The vectors (..., 3) turned by a quaternion."""
    w, v = rotation[0], np.asarray(rotation[1:])
    twice_across = 2.0 * np.cross(v, vectors)
    return np.asarray(vectors + w * twice_across + np.cross(v, twice_across))


def turned_about(rotation: Quaternion, axis: Vector3, angle: Array) -> Array:
    """The quaternions (n, 4) of rotations about an axis by the angles (n,), followed by a fixed rotation.

    They go on smoothly past full revolutions, where their sign changes.
    """
    w, v, a = rotation[0], np.asarray(rotation[1:]), np.asarray(axis)
    cosine, sine = np.cos(0.5 * angle), np.sin(0.5 * angle)
    vector = np.multiply.outer(cosine, v) + np.multiply.outer(sine, w * a + np.cross(v, a))
    return np.column_stack([w * cosine - (v @ a) * sine, vector])


AxisMotion = Annotated[
    Motion | None, Holds("motion along or about an axis", Motion, "write a motion, such as Quintic(0, 1, 2)")
]
AT_REST = Hold(0.0)


@dataclass(frozen=True)
class BaseMotion(Declared):
    """The base follows motions (m) along the axes of the world and rotates (rad) about a fixed axis of its own.

    The motions are counted from the position and rotation of the robot's base; a motion left out is rest.
    """

    x: AxisMotion = None
    y: AxisMotion = None
    z: AxisMotion = None
    angle: AxisMotion = None
    axis: Annotated[Vector3, Quantity.direction("axis (x, y, z) of the rotation in the base frame")] = (0.0, 0.0, 1.0)

    def conflicts(self) -> Iterator[Problem]:
        if all(motion is None for motion in (self.x, self.y, self.z, self.angle)):
            yield Problem("moves nothing; write a motion for x, y, z or angle")

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        given = (self.x, self.y, self.z, self.angle)
        x, y, z, angle = (AT_REST if motion is None else motion for motion in given)
        base = arm.robot.base
        signals = MovedBase(base.position, base.rotation, (x, y, z), angle, self.axis)
        return (BaseMove(signals, (x, y, z, angle)),)


@dataclass(frozen=True)
class MovedBase:
    """The pose and velocity of a moved base at many times at once."""

    position: Vector3
    rotation: Quaternion
    translates: tuple[Motion, Motion, Motion]
    angle: Motion
    axis: Vector3

    def __call__(self, times: Array) -> BasePath:
        translates = [motion.evaluate(times) for motion in self.translates]
        angle, rate, _ = self.angle.evaluate(times)
        place, velocity = (np.column_stack([each[k] for each in translates]) for k in range(2))
        quaternion, spin = turned_about(self.rotation, self.axis, angle), np.multiply.outer(rate, np.asarray(self.axis))
        return BasePath(np.asarray(self.position) + place, quaternion, velocity, spin)
