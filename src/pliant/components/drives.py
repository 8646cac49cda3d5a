"""What drives a joint: a motion it follows, a torque known in time, a motor with a rotor and a gear.

The base of an arm moved by the world: a vehicle, a shaker, a turntable.

With the base of the robot at x_0, R_0 and the motions x, y, z and angle in time,

    position = x_0 + (x, y, z) ,     rotation = R_0 exp(angle axis) ,

so that the axis stands still in the base and in the world, and the spin in the axes of the base is  angle' axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated

import numpy as np

from pliant.components.fields import Holds, JointName
from pliant.components.kinds import BaseMove, Contribution, Motor, Prescription, Torque
from pliant.components.motions import Hold, Motion
from pliant.components.signals import Signal
from pliant.components.wrenches import WRITE_SIGNAL
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import BasePath, MotorPlace
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity, Quaternion, Vector3


@dataclass(frozen=True)
class PrescribedMotion(Declared):
    """The joint follows ``motion`` exactly; its drive supplies whatever torque that takes."""

    joint: JointName
    motion: Annotated[Motion, Holds("motion of the joint", Motion, "write a motion, such as Hold(1.0)")]

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (Prescription(self.joint, self.motion),)


@dataclass(frozen=True)
class JointTorque(Declared):
    """A torque (N m; a force in N for a prismatic joint) in time on one joint.

    A ball joint takes three components, a torque in the axes of the child with its opposite on the parent. A free
    joint takes six, a force and a moment in the axes of the child at its root with their opposites on the ground.
    """

    joint: JointName
    signal: Annotated[Signal, Holds("torque in time", Signal, WRITE_SIGNAL)]

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (Torque(self.joint, self.signal),)


@dataclass(frozen=True)
class GearMotor(Declared):
    """A rotor that drives a joint coordinate through a gear, which is rigid unless it has a stiffness.

    The torques of the drives on this joint act on the rotor, and a JointPD reads the rotor; both keep the units
    of the joint: the angle of the rotor divided by the ratio, its torque times the ratio. ``rotor_inertia``
    and ``torque_limit`` are those of the motor itself, ``stiffness`` and ``damping`` those of the gear as felt
    at the joint. For a coordinate that translates, the ratio is in rad/m and the gear in N/m and N s/m.
    """

    joint: JointName
    rotor_inertia: Annotated[float, Quantity("kg m^2", "inertia of the rotor about its axis", above=0)]
    ratio: Annotated[float, Quantity("1", "turns of the rotor for one of the joint", above=0)]
    stiffness: Annotated[float | None, Quantity("N m/rad", "torque at the joint per twist of the gear", above=0)] = None
    damping: Annotated[
        float, Quantity("N m s/rad", "torque at the joint per rate of twist of the gear", at_least=0)
    ] = 0.0
    torque_limit: Annotated[float | None, Quantity("N m", "largest torque of the motor", above=0)] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.stiffness is None and self.damping > 0:
            yield Problem(
                f"= {self.damping:g} N m s/rad has no effect in a rigid gear; write a stiffness in N m/rad as well",
                ("damping",),
            )

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        place = MotorPlace(
            self.joint,
            rotor_inertia=self.rotor_inertia * self.ratio**2,
            stiffness=self.stiffness or 0.0,
            damping=self.damping,
            torque_limit=inf if self.torque_limit is None else self.torque_limit * self.ratio,
        )
        return (Motor(self.joint, place),)


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
