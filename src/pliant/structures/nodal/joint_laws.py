"""The effort on a joint coordinate during a step: spring, friction, stops, drive and gear motor.

All are functions of the coordinate at the start of the step and of its change, so that work, stored and lost energy are
exact; a difference of two positions would have lost the digits of a small change, which a large rotor multiplies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import SMOOTHING, STATIC, STOP_STIFFNESS, friction_force, stops_force
from pliant.structures.nodal.mechanism import Coordinates, Floats

ROTOR, GEAR_STIFFNESS, GEAR_DAMPING, TORQUE_LIMIT = 0, 1, 2, 3


class JointFlows(NamedTuple):
    """Energies of the joint coordinates in a step, one row each."""

    work: Floats  # of the drive
    spun: Floats  # kinetic energy that the rotor gained
    stored: Floats  # change of energy of springs, stops and gear
    lost: Floats


def new_joint_flows(coordinates: int) -> JointFlows:
    return JointFlows(*(np.zeros(coordinates) for _ in range(4)))


@kernel
def friction(laws: Coordinates, c: int, rates: Floats, rate: float) -> tuple[float, float]:
    """Friction of coordinate c. The three coordinates of a ball joint share the size of the spin at the start of
    the step, so that friction acts against the spin and not along each axis."""
    law = laws.friction[c]
    if law[STATIC] <= 0.0:
        return 0.0, 0.0
    first = laws.ball[c]
    if first < 0:
        return friction_force(law, rate)
    spin = math.sqrt(rates[first] ** 2 + rates[first + 1] ** 2 + rates[first + 2] ** 2)
    spin = max(spin, 1e-3 * law[SMOOTHING])
    force, _ = friction_force(law, spin)
    return force / spin * rate, force / spin


@inline_kernel
def drive(gain: Floats, target: Floats, angle: float, rate: float) -> float:
    """feedforward - stiffness (angle - reference) - damping (rate - reference rate)."""
    return float(target[2] - gain[0] * (angle - target[0]) - gain[1] * (rate - target[1]))


@kernel
def rotor_rate(
    laws: Coordinates, c: int, target: Floats, rotor: Floats, h: float, joint: tuple[float, float]
) -> tuple[float, float, float]:
    """Mean rate of the rotor, its motor torque, and d(rate)/d(change of the joint), for a joint of mean angle and rate.

    J (rate1 - rate0) = h (motor torque - gear torque), all referred to the joint side.
    """
    J, k, d, limit = laws.motor[c, 0], laws.motor[c, 1], laws.motor[c, 2], laws.motor[c, 3]
    kp, kd = laws.gain[c, 0], laws.gain[c, 1]
    gear = 0.5 * h * k + d
    fixed = 2.0 * J * rotor[1] / h - k * (rotor[0] - joint[0]) + d * joint[1]
    stiff = 2.0 * J / h + gear
    rate = (fixed + target[2] - kp * (rotor[0] - target[0]) + kd * target[1]) / (stiff + 0.5 * h * kp + kd)
    torque = drive(laws.gain[c], target, rotor[0] + 0.5 * h * rate, rate)
    per_joint = (0.5 * k + d / h) / (stiff + 0.5 * h * kp + kd)
    if abs(torque) > limit:
        torque = limit if torque > 0.0 else -limit
        rate = (fixed + torque) / stiff
        per_joint = (0.5 * k + d / h) / stiff
    return rate, torque, per_joint


@inline_kernel
def rigid_gear(
    laws: Coordinates, c: int, target: Floats, rotor: Floats, h: float, joint: tuple[float, float]
) -> tuple[float, float, float]:
    """Effort on the joint, motor torque and slope when the rotor turns with the joint."""
    torque = drive(laws.gain[c], target, joint[0], joint[1])
    slope = 0.5 * laws.gain[c, 0] + laws.gain[c, 1] / h
    if abs(torque) > laws.motor[c, TORQUE_LIMIT]:
        torque = math.copysign(laws.motor[c, TORQUE_LIMIT], torque)
        slope = 0.0
    J = laws.motor[c, ROTOR]
    return torque - 2.0 * J * (joint[1] - rotor[1]) / h, torque, slope + 2.0 * J / (h * h)


@kernel
def joint_effort(
    laws: Coordinates, c: int, h: float, way: tuple[float, float], target: Floats, now: tuple[Floats, Floats]
) -> tuple[float, float]:
    """Effort on coordinate c and minus its derivative in the change; ``way`` are position at the start and change,
    ``now`` all rates and motors."""
    q0, change = way
    rates, motors = now
    angle, rate = q0 + 0.5 * change, change / h
    effort = -laws.spring[c] * (angle - laws.spring_rest[c]) - laws.viscous[c] * rate
    slope = 0.5 * laws.spring[c] + laws.viscous[c] / h
    against, steeper = friction(laws, c, rates, rate)
    effort -= against
    slope += max(steeper, 0.0) / h
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        stop, _, stop_slope = stops_force(laws.stops[c], q0, change, h)
        effort += stop
        slope += stop_slope
    if laws.prescribed[c]:
        return effort, slope
    if not laws.has_motor[c]:
        effort += drive(laws.gain[c], target, angle, rate)
        slope += 0.5 * laws.gain[c, 0] + laws.gain[c, 1] / h
    elif laws.motor[c, GEAR_STIFFNESS] <= 0.0:
        tau, _, motor_slope = rigid_gear(laws, c, target, motors[c], h, (angle, rate))
        effort += tau
        slope += motor_slope
    else:
        k, d = laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
        mean, _, per_joint = rotor_rate(laws, c, target, motors[c], h, (angle, rate))
        effort += k * (motors[c, 0] + 0.5 * h * mean - angle) + d * (mean - rate)
        slope += (0.5 * k + d / h) - (0.5 * h * k + d) * per_joint
    return effort, slope


@kernel
def enter_joint(
    laws: Coordinates,
    c: int,
    h: float,
    way: tuple[float, float],
    target: Floats,
    now: tuple[Floats, Floats],
    flows: JointFlows,
) -> None:
    """Work, stored and lost energy of coordinate c in a finished step; moves its rotor to the end of the step."""
    q0, change = way
    q1 = q0 + change
    rates, motors = now
    angle, rate = q0 + 0.5 * change, change / h
    flows.work[c] = 0.0
    flows.spun[c] = 0.0
    flows.stored[c] = laws.spring[c] * (angle - laws.spring_rest[c]) * change
    against, _ = friction(laws, c, rates, rate)
    flows.lost[c] = laws.viscous[c] * rate * change + against * change
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        stop, elastic, _ = stops_force(laws.stops[c], q0, change, h)
        flows.stored[c] -= elastic * change
        flows.lost[c] += (elastic - stop) * change
    if laws.prescribed[c]:
        return
    if not laws.has_motor[c]:
        # the damper of the feedback is a loss in the joint; the drive pays for it
        heat = laws.gain[c, 1] * rate * change
        flows.work[c] = drive(laws.gain[c], target, angle, rate) * change + heat
        flows.lost[c] += heat
        return
    J, k, d = laws.motor[c, ROTOR], laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
    rotor = motors[c]
    if k <= 0.0:
        _, torque, _ = rigid_gear(laws, c, target, rotor, h, (angle, rate))
        mean = rate
    else:
        mean, torque, _ = rotor_rate(laws, c, target, rotor, h, (angle, rate))
    twist0, twist1 = rotor[0] - q0, rotor[0] + h * mean - q1
    last = 2.0 * mean - rotor[1]
    flows.work[c] = torque * h * mean
    flows.spun[c] = 2.0 * J * mean * (mean - rotor[1])
    if k > 0.0:
        flows.stored[c] += 0.5 * k * (twist1 + twist0) * (h * mean - change)
        flows.lost[c] += d * (mean - rate) * (mean - rate) * h
    rotor[0] += h * mean
    rotor[1] = last
    if k <= 0.0:
        rotor[0] = q1
