"""A stop or wall: a spring and damper that act only while a distance is negative, and never pull.

Dry friction and stops of a joint coordinate: the laws of all formulations, over a step and at an instant.

friction = (coulomb + (static - coulomb) exp(-(v / stribeck)^2)) tanh(v / smoothing)      against the rate v
stops    = k (lower - q) - d v  below the lower one, the same above the upper one; they push and never pull

All laws of a coordinate at an instant: spring, damping, friction, stops, drive and gear motor. These take real or
complex numbers: along an imaginary part a law goes on with its exact derivative.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.vectors import Vector, dot


@kernel
def contact_force(phi0: float, change: float, h: float, stiffness: float, damping: float) -> tuple[float, float, float]:
    """Mean force of a step on phi (at least 0), its elastic part, and minus its derivative in the change of phi.

    The elastic part is the divided difference of k min(phi, 0)^2 / 2 and so stores exactly; the damper sees the
    part of the way that is spent in contact, min(phi1, 0) - min(phi0, 0).
    """
    phi1 = phi0 + change
    if phi0 >= 0.0 and phi1 >= 0.0:
        return 0.0, 0.0, 0.0
    touching = change
    if phi0 < 0.0 and phi1 < 0.0:
        elastic, slope = -stiffness * (phi0 + 0.5 * change), 0.5 * stiffness
    elif phi0 >= 0.0:
        # quotients, because the square of a tiny change underflows
        touching = phi1
        elastic = -0.5 * stiffness * phi1 * (phi1 / change)
        slope = 0.5 * stiffness * (phi1 / change) * ((phi1 - 2.0 * phi0) / change)
    else:
        touching = -phi0
        elastic = 0.5 * stiffness * phi0 * (phi0 / change)
        slope = 0.5 * stiffness * (phi0 / change) * (phi0 / change)
    force = elastic - damping * touching / h
    if phi1 < 0.0:
        slope += damping / h
    if force < 0.0:
        return 0.0, elastic, 0.0
    return force, elastic, slope


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# columns of a row of friction, and of a row of stops
COULOMB, STATIC, STRIBECK, SMOOTHING = 0, 1, 2, 3
LOWER, UPPER, STOP_STIFFNESS, STOP_DAMPING = 0, 1, 2, 3

FAR = 1e300  # a stop that is never reached
NO_FRICTION = (0.0, 0.0, 1.0, 1.0)
NO_STOPS = (-FAR, FAR, 0.0, 0.0)


@kernel
def friction_force(law: Floats, rate: float) -> tuple[float, float]:
    """Smoothed Coulomb and Stribeck friction against ``rate`` and its derivative."""
    coulomb, extra = law[COULOMB], law[STATIC] - law[COULOMB]
    t = math.tanh(rate / law[SMOOTHING])
    bump = math.exp(-((rate / law[STRIBECK]) ** 2)) if extra > 0.0 else 0.0
    level = coulomb + extra * bump
    slope = level * (1.0 - t * t) / law[SMOOTHING]
    if extra > 0.0:
        slope -= extra * bump * 2.0 * rate / law[STRIBECK] ** 2 * t
    return level * t, slope


@inline_kernel
def stops_force(stops: Floats, q0: float, change: float, h: float) -> tuple[float, float, float]:
    """Mean force of both stops on the coordinate over a step, its elastic part and minus its derivative in the change.

    Over a step of no length, with the change ``h rate``, these are the force at an instant and its elastic part.
    """
    up, up_elastic, up_slope = contact_force(q0 - stops[LOWER], change, h, stops[STOP_STIFFNESS], stops[STOP_DAMPING])
    down, down_elastic, down_slope = contact_force(
        stops[UPPER] - q0, -change, h, stops[STOP_STIFFNESS], stops[STOP_DAMPING]
    )
    return up - down, up_elastic - down_elastic, up_slope + down_slope


@kernel
def stops_energy(stops: Floats, q: float) -> float:
    """What both stops store at a position."""
    low, high = min(q - stops[LOWER], 0.0), min(stops[UPPER] - q, 0.0)
    return 0.5 * float(stops[STOP_STIFFNESS] * (low * low + high * high))


NO_TIME = 1e-30  # s; a step so short that it moves nothing is an instant
ROTOR, GEAR_STIFFNESS, GEAR_DAMPING, TORQUE_LIMIT = 0, 1, 2, 3


class Coordinates(NamedTuple):
    """Passive laws of the joint coordinates and how each is driven."""

    spring: Floats  # N m/rad or N/m
    spring_rest: Floats  # rad or m
    viscous: Floats
    friction: Floats  # (coordinates, 4) Coulomb, static, Stribeck rate, smoothing rate
    stops: Floats  # (coordinates, 4) lower, upper, stiffness, damping
    ball: Ints  # first of the three coordinates of a ball joint, -1: none
    prescribed: Bools
    gain: Floats  # (coordinates, 2) position and rate feedback
    motor: Floats  # (coordinates, 4) rotor inertia, gear stiffness, gear damping, torque limit, joint side
    has_motor: Bools


@kernel
def continued_friction(law: Floats, rate: float) -> tuple[float, float]:
    """Friction against ``rate`` and its slope; for a complex rate the slope continues it."""
    force, slope = friction_force(law, rate.real)
    return force + slope * (rate - rate.real), slope + 0.0 * rate


@kernel
def along_spin(law: Floats, spin: Vector, rate: float) -> tuple[float, float]:
    """Friction of the size that a whole spin or velocity has, along one of its components, and its slope there."""
    size = np.sqrt(dot(spin, spin))
    if size.real < 1e-3 * law[SMOOTHING]:
        size = 1e-3 * law[SMOOTHING] + 0.0 * size
    level = continued_friction(law, size)[0] / size
    return level * rate, level


@kernel
def friction(laws: Coordinates, c: int, rates: Floats, rate: float) -> tuple[float, float]:
    """Friction of coordinate c. The three coordinates of a ball joint share the size of the spin at the start of
    the step, so that friction acts against the spin and not along each axis."""
    law = laws.friction[c]
    if law[STATIC] <= 0.0:
        return 0.0 * rate, 0.0 * rate
    first = laws.ball[c]
    if first < 0:
        return continued_friction(law, rate)
    return along_spin(law, (rates[first], rates[first + 1], rates[first + 2]), rate)


@inline_kernel
def drive(gain: Floats, target: Floats, angle: float, rate: float) -> float:
    """feedforward - stiffness (angle - reference) - damping (rate - reference rate)."""
    torque: float = target[2] - gain[0] * (angle - target[0]) - gain[1] * (rate - target[1])
    return torque


@kernel
def contact(phi0: float, change: float, h: float, stiffness: float, damping: float) -> float:
    """Mean force of a contact in a step; for complex distances its derivatives continue it."""
    at, way = phi0.real, change.real
    force, _, slope = contact_force(at, way, h, stiffness, damping)
    if not force > 0.0:
        return force + 0.0 * change
    # minus the derivative in the distance at the start, with the same change
    if at < 0.0 and at + way < 0.0:
        moved = stiffness
    elif at >= 0.0:
        moved = stiffness * ((at + way) / way) + damping / h
    else:
        moved = -stiffness * (at / way) - damping / h
    return force - slope * (change - way) - moved * (phi0 - at)


@inline_kernel
def stops(row: Floats, q0: float, change: float, h: float) -> float:
    """Mean force of both stops, continued likewise."""
    k, d = row[STOP_STIFFNESS], row[STOP_DAMPING]
    return contact(q0 - row[LOWER], change, h, k, d) - contact(row[UPPER] - q0, -change, h, k, d)


@inline_kernel
def motor_torque(laws: Coordinates, c: int, target: Floats, angle: float, rate: float) -> float:
    """Torque of the drive within the limit of its motor."""
    torque, limit = drive(laws.gain[c], target, angle, rate), laws.motor[c, TORQUE_LIMIT]
    if abs(torque.real) > limit:
        return math.copysign(limit, torque.real) + 0.0 * torque
    return torque


@inline_kernel
def passive_effort(laws: Coordinates, c: int, rates: Floats, angle: float, rate: float) -> tuple[float, float]:
    """Spring, viscous damping and friction of coordinate c, and minus the derivative of friction in the rate."""
    effort = -laws.spring[c] * (angle - laws.spring_rest[c]) - laws.viscous[c] * rate
    against, steeper = friction(laws, c, rates, rate)
    return effort - against, steeper


@inline_kernel
def gear_torque(laws: Coordinates, c: int, twist: float, rate: float) -> float:
    """Of an elastic gear, from the angle and rate of the rotor against the joint."""
    torque: float = laws.motor[c, GEAR_STIFFNESS] * twist + laws.motor[c, GEAR_DAMPING] * rate
    return torque


@kernel
def instant_effort(
    laws: Coordinates, c: int, joint: tuple[float, float], rates: Floats, target: Floats, rotor: tuple[float, float]
) -> tuple[float, float]:
    """Efforts at an instant on coordinate c, at position and rate ``joint``, and on the rotor of its elastic gear."""
    q, qd = joint
    effort, _ = passive_effort(laws, c, rates, q, qd)
    turning = 0.0 * effort
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        effort += stops(laws.stops[c], q, NO_TIME * qd, NO_TIME)
    if laws.prescribed[c]:
        return effort, turning
    if not laws.has_motor[c]:
        effort += drive(laws.gain[c], target, q, qd)
    elif laws.motor[c, GEAR_STIFFNESS] <= 0.0:
        effort += motor_torque(laws, c, target, q, qd)
    else:
        gear = gear_torque(laws, c, rotor[0] - q, rotor[1] - qd)
        effort += gear
        turning = motor_torque(laws, c, target, rotor[0], rotor[1]) - gear
    return effort, turning


@kernel
def coordinate_energy(laws: Coordinates, c: int, q: float, rotor: float) -> float:
    """What spring, stops and gear of coordinate c store, its rotor at an angle."""
    total: float = 0.5 * laws.spring[c] * (q - laws.spring_rest[c]) ** 2
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        total += stops_energy(laws.stops[c], q)
    if laws.has_motor[c]:
        total += 0.5 * max(laws.motor[c, GEAR_STIFFNESS], 0.0) * (rotor - q) ** 2
    return total
