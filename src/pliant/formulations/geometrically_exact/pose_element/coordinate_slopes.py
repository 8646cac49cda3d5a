"""Effort of the law of each joint coordinate at one instant, and its derivatives.

The same laws as in `coordinate_law`, where they are means over a step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.coordinate_law import (
    GEAR_DAMPING,
    GEAR_STIFFNESS,
    ROTOR,
    TORQUE_LIMIT,
)
from pliant.formulations.geometrically_exact.pose_element.mechanism import Coordinates, Floats, Ints
from pliant.mechanics.joint_laws import SMOOTHING, STATIC, friction_force, stops_slopes


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
        force, stiffness, damping = stops_slopes(laws.stops[c], float(q[c]), float(qd[c]))
        effort[c] += force
        K[c, c] += stiffness
        D[c, c] += damping
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
            k, d_gear = laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
            gear = k * (angle - q[c]) + d_gear * (rate - qd[c])
            effort[c] += gear
            effort[d] -= gear
            both = np.ix_((c, d), (c, d))
            opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
            K[both] += k * opposite
            D[both] += d_gear * opposite
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
