"""The path (23) of the end-effector, and the joint angles that follow it.

Position, rate and acceleration go together as three rows. Both links that lift are 0.5 m long. So the tip, at the
distance d and the elevation b as seen from the shoulder, is reached by the angles  b + c  and  -2 c  (elbow up), or
b - c  and  2 c  (elbow down), with  cos c = d / 1 m .
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import sqrt, tau

import numpy as np

import pliant as pl
from pliant.components.motions import Kinematics
from pliant.model.state import Array

HEIGHT, LENGTH = 0.3, 0.5  # m, of the column and of each link that lifts; Table 2


class Elbow(Enum):
    """Which of the two postures is taken; the number is the sign of c."""

    UP = 1.0
    DOWN = -1.0


def end_path(times: Array) -> Array:
    """(23): position, velocity and acceleration (3, n) along X, Y, Z each, m."""
    c, s, one = np.cos(tau * times), np.sin(tau * times), np.ones(len(times))
    x = 0.7 - 0.05 * c, 0.05 * tau * s, 0.05 * tau**2 * c
    y = 0.25 * times**2, 0.5 * times, 0.5 * one
    z = 0.05 + 0.25 * sqrt(3.0) - 0.05 * s, -0.05 * tau * c, 0.05 * tau**2 * s
    return np.array([x, y, z])


def joint_path(times: Array, elbow: Elbow = Elbow.UP) -> Array:
    """Angle, rate and acceleration (3, n) of each of the three joints, rad."""
    x, y, z = end_path(times)
    z[0] -= HEIGHT
    r, turn = _polar(x, y)
    d, elevation = _polar(r, z)
    half = _arccos(d / (2.0 * LENGTH)) * elbow.value
    return np.array([turn, elevation + half, -2.0 * half])


@dataclass(frozen=True)
class JointPath:
    """One joint of the posture with its elbow up, as a function that a motion can hold."""

    joint: int

    def __call__(self, times: Array) -> Kinematics:
        position, rate, acceleration = joint_path(times)[self.joint]
        return position, rate, acceleration


def references() -> list[pl.motions.FunctionMotion]:
    """Motions of the three joints."""
    return [pl.motions.FunctionMotion(JointPath(joint)) for joint in range(3)]


def _polar(x: Array, y: Array) -> tuple[Array, Array]:
    """Radius and angle of a point in a plane, with rates and accelerations."""
    r, turn = np.hypot(x[0], y[0]), np.arctan2(y[0], x[0])
    speed, swing = (x[0] * x[1] + y[0] * y[1]) / r, (x[0] * y[1] - y[0] * x[1]) / r**2
    outward, across = (x[0] * x[2] + y[0] * y[2]) / r, (x[0] * y[2] - y[0] * x[2]) / r
    return np.array([r, speed, outward + r * swing**2]), np.array([turn, swing, (across - 2.0 * speed * swing) / r])


def _arccos(x: Array) -> Array:
    angle = np.arccos(x[0])
    rate = -x[1] / np.sin(angle)
    return np.array([angle, rate, -(x[2] + x[0] * rate**2) / np.sin(angle)])
