"""The effort on a joint coordinate during a step: spring, friction, stops, drive and gear motor.

All are functions of the coordinate at the start of the step and of its change, so that work, stored and lost energy are
exact; a difference of two positions would have lost the digits of a small change, which a large rotor multiplies.
"""

from __future__ import annotations

import math

from pliant.jit import kernel
from pliant.mechanics.joint_laws import (
    GEAR_DAMPING,
    GEAR_STIFFNESS,
    LOWER,
    ROTOR,
    STOP_DAMPING,
    STOP_STIFFNESS,
    TORQUE_LIMIT,
    UPPER,
    Coordinates,
    drive,
    friction,
    gear_torque,
    motor_torque,
    passive_effort,
    stops,
    stops_force,
)
from pliant.structures.nodal.mechanism import Floats


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
    if abs(torque.real) > limit:
        torque = math.copysign(limit, torque.real) + 0.0 * torque
        rate = (fixed + torque) / stiff
        per_joint = (0.5 * k + d / h) / stiff
    return rate, torque, per_joint


@kernel
def driven(
    laws: Coordinates, c: int, h: float, joint: tuple[float, float], target: Floats, rotor: Floats
) -> tuple[float, float, float, float]:
    """Of the drive of a joint of mean angle and rate in a step.

    Effort on the joint and minus its derivative in the change, motor torque and mean rate of the rotor.
    """
    angle, rate = joint
    J, own = laws.motor[c, ROTOR], 0.5 * laws.gain[c, 0] + laws.gain[c, 1] / h
    if not laws.has_motor[c]:
        torque = drive(laws.gain[c], target, angle, rate)
        return torque, own, torque, rate
    if laws.motor[c, GEAR_STIFFNESS] <= 0.0:
        torque = motor_torque(laws, c, target, angle, rate)
        slope = own if abs(torque.real) < laws.motor[c, TORQUE_LIMIT] else 0.0
        return torque - 2.0 * J * (rate - rotor[1]) / h, slope + 2.0 * J / (h * h), torque, rate
    mean, torque, per_joint = rotor_rate(laws, c, target, rotor, h, joint)
    effort = gear_torque(laws, c, rotor[0] + 0.5 * h * mean - angle, mean - rate)
    return effort, gear_torque(laws, c, 0.5, 1.0 / h) - gear_torque(laws, c, 0.5 * h, 1.0) * per_joint, torque, mean


@kernel
def joint_effort(
    laws: Coordinates, c: int, h: float, way: tuple[float, float], target: Floats, now: tuple[Floats, Floats]
) -> tuple[float, float]:
    """Effort on coordinate c and minus its derivative in the change; ``way`` are position at the start and change,
    ``now`` all rates and motors."""
    q0, change = way
    rates, motors = now
    angle, rate = q0 + 0.5 * change, change / h
    effort, steeper = passive_effort(laws, c, rates, angle, rate)
    slope = 0.5 * laws.spring[c] + laws.viscous[c] / h + max(steeper.real, 0.0) / h
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        _, _, stop_slope = stops_force(laws.stops[c], q0.real, change.real, h)
        effort += stops(laws.stops[c], q0, change, h)
        slope += stop_slope
    if not laws.prescribed[c]:
        torque, stiffer, _, _ = driven(laws, c, h, (angle, rate), target, motors[c])
        effort += torque
        slope += stiffer
    return effort, slope


@kernel
def effort_size(
    laws: Coordinates, c: int, way: tuple[float, float], target: Floats, now: tuple[Floats, Floats]
) -> float:
    """Sum of the sizes of all parts of `joint_effort` but what a rotor exerts: the effort has the round-off of it."""
    angle, rate = way
    rates, motors = now
    against, _ = friction(laws, c, rates, rate)
    size = abs(against) + laws.viscous[c] * abs(rate) + laws.spring[c] * (abs(angle) + abs(laws.spring_rest[c]))
    row = laws.stops[c]
    if row[STOP_STIFFNESS] > 0.0 and not row[LOWER] < angle < row[UPPER]:
        size += 2.0 * row[STOP_STIFFNESS] * abs(angle) + row[STOP_DAMPING] * abs(rate)
    if laws.has_motor[c] and laws.motor[c, GEAR_STIFFNESS] > 0.0:
        size += laws.motor[c, GEAR_STIFFNESS] * (abs(motors[c, 0]) + abs(angle))
        return float(size + laws.motor[c, GEAR_DAMPING] * (abs(motors[c, 1]) + abs(rate)))
    size += laws.gain[c, 0] * (abs(angle) + abs(target[0])) + laws.gain[c, 1] * (abs(rate) + abs(target[1]))
    return float(size + abs(target[2]))


@kernel
def enter_joint(
    laws: Coordinates, c: int, h: float, way: tuple[float, float], target: Floats, now: tuple[Floats, Floats]
) -> tuple[float, float, float, float]:
    """Of coordinate c in a finished step, whose rotor moves to the end of the step.

    Work of the drive, kinetic energy that the rotor gained, energy that springs, stops and gear stored, loss.
    """
    q0, change = way
    q1 = q0 + change
    rates, motors = now
    angle, rate = q0 + 0.5 * change, change / h
    stored = laws.spring[c] * (angle - laws.spring_rest[c]) * change
    against, _ = friction(laws, c, rates, rate)
    lost = laws.viscous[c] * rate * change + against * change
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        stop, elastic, _ = stops_force(laws.stops[c], q0, change, h)
        stored -= elastic * change
        lost += (elastic - stop) * change
    if laws.prescribed[c]:
        return 0.0, 0.0, stored, lost
    rotor = motors[c]
    _, _, torque, mean = driven(laws, c, h, (angle, rate), target, rotor)
    if not laws.has_motor[c]:
        # the damper of the feedback is a loss in the joint; the drive pays for it
        heat = laws.gain[c, 1] * rate * change
        return torque * change + heat, 0.0, stored, lost + heat
    J, k, d = laws.motor[c, ROTOR], laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
    twist0, twist1 = rotor[0] - q0, rotor[0] + h * mean - q1
    spun = 2.0 * J * mean * (mean - rotor[1])
    if k > 0.0:
        stored += 0.5 * k * (twist1 + twist0) * (h * mean - change)
        lost += d * (mean - rate) * (mean - rate) * h
    rotor[0] = rotor[0] + h * mean if k > 0.0 else q1
    rotor[1] = 2.0 * mean - rotor[1]
    return torque * h * mean, spun, stored, lost
