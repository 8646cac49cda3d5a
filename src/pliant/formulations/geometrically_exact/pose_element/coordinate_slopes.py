"""Effort of the law of each joint coordinate at one instant, and its derivatives.

The same laws as in `coordinate_law`, where they are means over a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.coordinate_law import (
    GEAR_DAMPING,
    GEAR_STIFFNESS,
    LOWER,
    ROTOR,
    SMOOTHING,
    STATIC,
    STOP_DAMPING,
    STOP_STIFFNESS,
    TORQUE_LIMIT,
    UPPER,
    friction_force,
)
from pliant.formulations.geometrically_exact.pose_element.mechanism import Coordinates, Floats, Ints


class Slopes(NamedTuple):
    """Efforts on the coordinates and then on the rotors of elastic gears, with derivatives; mass is that of rotors."""

    effort: Floats
    stiffness: Floats  # minus the derivative in positions
    damping: Floats  # minus the derivative in rates
    mass: Floats
    rotors: Ints  # coordinates whose gear is elastic
    driven: Ints  # (coordinates,) the unknown on which the drive of each coordinate acts


def coordinate_slopes(laws: Coordinates, target: Floats, q: Floats, qd: Floats, motor: Floats) -> Slopes:
    """``target`` (coordinates, 3): reference position, reference rate, feedforward."""
    count = len(q)
    elastic = laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0) & ~laws.prescribed
    rotors = np.flatnonzero(elastic)
    size = count + len(rotors)
    effort, mass = np.zeros(size), np.zeros((size, size))
    K, D = np.zeros((size, size)), np.zeros((size, size))
    effort[:count] = -laws.spring * (q - laws.spring_rest) - laws.viscous * qd
    own = np.arange(count)
    K[own, own], D[own, own] = laws.spring, laws.viscous
    _add_friction(laws, qd, effort, D)
    driven = own.copy()
    driven[rotors] = count + np.arange(len(rotors))
    for c in range(count):
        _add_stops(laws.stops[c], q[c], qd[c], c, (effort, K, D))
        if laws.prescribed[c]:
            continue
        d = driven[c]
        angle, rate = (motor[c, 0], motor[c, 1]) if elastic[c] else (q[c], qd[c])
        torque = target[c, 2] - laws.gain[c] @ (angle - target[c, 0], rate - target[c, 1])
        limit = laws.motor[c, TORQUE_LIMIT] if laws.has_motor[c] else np.inf
        if abs(torque) <= limit:
            K[d, d] += laws.gain[c, 0]
            D[d, d] += laws.gain[c, 1]
        effort[d] += np.clip(torque, -limit, limit)
        if laws.has_motor[c]:
            mass[d, d] = laws.motor[c, ROTOR]
        if elastic[c]:
            k, damping = laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
            gear = k * (angle - q[c]) + damping * (rate - qd[c])
            effort[c] += gear
            effort[d] -= gear
            both = np.ix_((c, d), (c, d))
            opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
            K[both] += k * opposite
            D[both] += damping * opposite
    return Slopes(effort, K, D, mass, rotors, driven)


def _add_friction(laws: Coordinates, qd: Floats, effort: Floats, D: Floats) -> None:
    """A ball joint feels friction against the size of its spin, along the spin."""
    for c in range(len(qd)):
        law, first = laws.friction[c], laws.ball[c]
        if law[STATIC] <= 0.0 or (first >= 0 and c != first):
            continue
        if first < 0:
            force, slope = friction_force(law, float(qd[c]))
            effort[c] -= force
            D[c, c] += slope
            continue
        three = slice(first, first + 3)
        moment, steepness = friction_along(law, qd[three])
        effort[three] -= moment
        D[three, three] += steepness


def friction_along(law: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Friction (3,) against the size of a velocity, along it, and its derivative (3, 3)."""
    size, least = float(np.linalg.norm(rate)), 1e-3 * float(law[SMOOTHING])
    force, slope = friction_force(law, max(size, least))
    level = force / max(size, least)
    along = np.outer(rate, rate) / size**2 if size > least else np.zeros((3, 3))
    return level * rate, level * (np.eye(3) - along) + slope * along


def _add_stops(stops: Floats, q: float, qd: float, c: int, into: tuple[Floats, Floats, Floats]) -> None:
    effort, K, D = into
    k, d = stops[STOP_STIFFNESS], stops[STOP_DAMPING]
    for sign, depth in ((1.0, stops[LOWER] - q), (-1.0, q - stops[UPPER])):
        push = k * depth - sign * d * qd
        if k > 0.0 and depth > 0.0 and push > 0.0:
            effort[c] += sign * push
            K[c, c] += k
            D[c, c] += d
