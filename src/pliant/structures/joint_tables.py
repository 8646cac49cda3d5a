"""Tables of joint laws: from joints, drives and motors to arrays, and what of them acts at rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.joint_laws import (
    LOWER,
    NO_FRICTION,
    NO_STOPS,
    SMOOTHING,
    STATIC,
    STOP_STIFFNESS,
    UPPER,
    Coordinates,
)
from pliant.model.inputs import Inputs
from pliant.robot import Freedom, Joint, SphericalJoint

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NO_LIMIT = 1e300  # N m
STEEP = 4.0  # smoothing rates from zero, within which friction still changes with the rate


@dataclass
class Laws:
    """One entry per joint coordinate."""

    names: list[str] = field(default_factory=list)
    ball: list[int] = field(default_factory=list)
    rows: list[tuple[float, ...]] = field(default_factory=list)  # spring (2), viscous, friction (4), stops (4)

    def add(self, joint: Joint, freedoms: Sequence[Freedom], restarts: bool) -> int:
        """The coordinates of a joint; returns the number of the first."""
        first = len(self.names)
        ball = first if restarts else -1
        for freedom in freedoms:
            law = freedom.law
            damping, friction, limits = law.damping, law.friction, law.limits
            if isinstance(joint, SphericalJoint) and restarts:
                damping, friction = joint.damping, joint.friction
            self.names.append(freedom.name)
            self.ball.append(ball)
            spring = (law.spring.stiffness, law.spring.rest_position) if law.spring else (0.0, 0.0)
            dry, stops = friction.row if friction else NO_FRICTION, limits.row if limits else NO_STOPS
            self.rows.append((*spring, damping, *dry, *stops))
        return first

    def coordinates(self, inputs: Inputs) -> Coordinates:
        """The laws with the drives and motors of ``inputs``."""
        count = len(self.names)
        motor, has_motor = np.zeros((count, 4)), np.zeros(count, np.bool_)
        for each in inputs.motors:
            c = self.names.index(each.joint)
            stiffness = each.stiffness if np.isfinite(each.stiffness) else 0.0
            motor[c] = each.rotor_inertia, stiffness, each.damping, min(each.torque_limit, NO_LIMIT)
            has_motor[c] = True
        parts = np.split(np.array(self.rows, float).reshape(count, 11), (1, 2, 3, 7), axis=1)
        spring, rest, viscous = (np.ascontiguousarray(part[:, 0]) for part in parts[:3])
        friction, stops = (np.ascontiguousarray(part) for part in parts[3:])
        ball, prescribed = np.array(self.ball, np.int64), np.array(inputs.prescribed, np.bool_)
        gain = np.array([inputs.stiffness, inputs.damping], float).T.reshape(count, 2).copy()
        return Coordinates(spring, rest, viscous, friction, stops, ball, prescribed, gain, motor, has_motor)


def at_rest(laws: Coordinates, target: Floats, yields: Bools) -> tuple[Coordinates, Floats]:
    """The laws without damping, gears in series with the feedback of their motors, for coordinates that yield.

    The second answer is what they are driven with: reference, rate and feedforward.
    """
    count = len(laws.spring)
    target = target.copy()
    gain, motor = np.zeros((count, 2)), np.zeros((count, 4))
    for c in range(count):
        kp, k = laws.gain[c, 0], laws.motor[c, 1]
        share = k / (kp + k) if laws.has_motor[c] and k > 0.0 else 1.0
        gain[c, 0] = share * kp
        target[c, 2] *= share
        motor[c, 3] = laws.motor[c, 3]
    quiet = laws._replace(
        viscous=np.zeros(count),
        friction=np.tile([0.0, 0.0, 1.0, 1.0], (count, 1)),
        stops=laws.stops.copy(),
        prescribed=~yields,
        gain=gain,
        motor=motor,
    )
    quiet.stops[:, 3] = 0.0
    return quiet, target


def resting_rotors(quiet: Coordinates, target: Floats, motor: Floats, q: Floats) -> Floats:
    """Angles and rates (coordinates, 2) of rotors at rest, each ahead of its joint by the twist of its gear."""
    rotor = np.column_stack([q, np.zeros_like(q)])
    for c in np.flatnonzero(quiet.has_motor & (motor[:, 1] > 0.0)):
        drive = target[c, 2] - quiet.gain[c, 0] * (q[c] - target[c, 0])
        limit = quiet.motor[c, 3]
        rotor[c, 0] += np.clip(drive, -limit, limit) / motor[c, 1]
    return rotor


def steep_law(friction: Floats, stops: Floats, q: Floats, rates: Floats) -> tuple[int, float] | None:
    """The coordinate whose law is hardest to follow between the start and the end of a step, the rows of ``q`` and
    ``rates``, and where it is: a stop that is pressed, else the steepest friction near standstill or across it."""
    pressed = (stops[:, STOP_STIFFNESS] > 0.0) & ((q < stops[:, LOWER]) | (q > stops[:, UPPER])).any(axis=0)
    near = (np.abs(rates) < STEEP * friction[:, SMOOTHING]).any(axis=0) | (rates[0] * rates[1] < 0.0)
    slope = np.where(near, friction[:, STATIC] / friction[:, SMOOTHING], 0.0)
    hard = np.where(pressed, stops[:, STOP_STIFFNESS], 0.0) if pressed.any() else slope
    if not hard.any():
        return None
    k = int(np.argmax(hard))
    middle = 0.5 * (stops[k, LOWER] + stops[k, UPPER])
    return k, float(q[np.argmax(np.abs(q[:, k] - middle)), k])
