"""Closed loops of an arm in minimal coordinates: constraints phi(q) = 0 with gradients G, kept by multipliers.

Deviations y from a motion obey G y = 0. The independent ones z give y = Z z, and while the arm moves

    y' = Z z' + Z' z ,      y'' = Z z'' + 2 Z' z' + Z'' z .
"""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.structures.tree.arrays import ALONG, DIRECTION
from pliant.structures.tree.motion import AXIS, POSE_R, POSE_X
from pliant.structures.tree.structure import Floats, Ints
from pliant.structures.tree.system import System

ITERATIONS = 50
CLOSED = 1e-13  # m per metre of the gaps of which constraints are made, or rad
RANK = 1e-9  # part of the largest gradient below which a constraint follows from others
STEP = 1e-3  # m or rad, for differences along the motion and of the pull of multipliers


def constraints(system: System, q: Floats) -> tuple[Floats, Floats]:
    """phi (rows,) and G (rows, n)."""
    loops, motion = system.loops, system.placed(q)
    J = motion[1:, AXIS : AXIS + 6]
    phi, G = np.zeros(len(loops.measure)), np.zeros((len(loops.measure), system.size))
    for k, (measure, bodies) in enumerate(zip(loops.measure, loops.body)):
        R = [motion[b + 1, POSE_R : POSE_R + 9].reshape(3, 3) for b in bodies]
        x = [motion[b + 1, POSE_X : POSE_X + 3] + turn @ c for b, turn, c in zip(bodies, R, loops.point[k])]
        d = [turn @ each for turn, each in zip(R, loops.direction[k])]
        if measure == DIRECTION:
            phi[k] = d[0] @ d[1]
            turned = np.cross(d[0], d[1])
            on = [np.append(np.zeros(3), turned), np.append(np.zeros(3), -turned)]
        elif measure == ALONG:
            phi[k] = (x[1] - x[0]) @ d[0]
            push = np.append(d[0], np.cross(x[1], d[0]))
            on = [-push, push]
        else:
            e = np.eye(3)[measure]
            phi[k] = (x[1] - x[0]) @ e
            on = [-np.append(e, np.cross(x[0], e)), np.append(e, np.cross(x[1], e))]
        for b, wrench in zip(bodies, on):
            G[k] += system.before[b + 1] * (J @ wrench)
    return phi, G


def close(system: System, q: Floats, moving: Ints) -> Floats:
    """Positions near q that close all loops; only the ``moving`` coordinates give way."""
    q = q.copy()
    for _ in range(ITERATIONS):
        phi, G = constraints(system, q)
        if np.abs(phi).max(initial=0.0) <= CLOSED * (1.0 + np.abs(q).max(initial=0.0)):
            return q
        q[moving] -= np.linalg.lstsq(G[:, moving], phi, rcond=RANK)[0]
    names = ", ".join(f"'{loop.name}'" for loop in system.structure.robot.loops)
    raise InvalidInput(
        f"the loops {names} cannot be closed near the given joint positions; change initial positions or lengths"
    )


def fitted(system: System, q: Floats, v: Floats, moving: Ints) -> Floats:
    """Rates near v that keep all loops closed; only the ``moving`` coordinates give way."""
    v = v.copy()
    _, G = constraints(system, q)
    v[moving] -= np.linalg.lstsq(G[:, moving], G @ v, rcond=RANK)[0]
    return v


def in_loops(system: System) -> Ints:
    """The coordinates between the two frames of some loop joint."""
    touched = np.zeros(system.size, np.bool_)
    for a, b in system.loops.body:
        touched |= system.before[a + 1] ^ system.before[b + 1]
    return np.flatnonzero(touched)


def pull(system: System, q: Floats, multipliers: Floats) -> tuple[Floats, Floats]:
    """G^T multipliers and its derivative in q, (n, n), by differences of fourth order."""
    n = system.size
    slope = np.zeros((n, n))
    if not multipliers.any():
        return np.zeros(n), slope

    def at(place: Floats) -> Floats:
        return np.asarray(constraints(system, place)[1].T @ multipliers)

    for i in range(n):
        h = STEP * np.eye(n)[i]
        slope[:, i] = (8.0 * (at(q + h) - at(q - h)) - at(q + 2.0 * h) + at(q - 2.0 * h)) / (12.0 * STEP)
    return at(q), slope


def along(system: System, q: Floats, v: Floats, a: Floats) -> tuple[float, list[Floats]]:
    """A time step, and postures at -2 .. 2 of them on the motion through q."""
    speed = max(np.abs(v).max(initial=0.0), np.sqrt(np.abs(a).max(initial=0.0)))
    if speed == 0.0:
        return 1.0, [q] * 5
    h = STEP / speed
    return h, [q + t * v + 0.5 * t * t * a for t in (-2.0 * h, -h, 0.0, h, 2.0 * h)]


def first_derivative(h: float, values: list[Floats]) -> Floats:
    return np.asarray((values[0] - 8.0 * values[1] + 8.0 * values[3] - values[4]) / (12.0 * h))


def second_derivative(h: float, values: list[Floats]) -> Floats:
    outer, inner = values[0] + values[4], values[1] + values[3]
    return np.asarray((16.0 * inner - outer - 30.0 * values[2]) / (12.0 * h * h))


def turning_rate(system: System, q: Floats, v: Floats) -> Floats:
    """G' v: what the accelerations of a moving arm must undo."""
    h, places = along(system, q, v, np.zeros_like(v))
    return first_derivative(h, [constraints(system, place)[1] @ v for place in places])


class Reduction:
    """Independent deviations: of some of the free coordinates of a system, then of the ``given`` prescribed ones.

    ``Z`` has rows for all free and given coordinates, which ``order`` numbers; ``independent`` are free ones.
    """

    def __init__(self, system: System, given: Ints, q: Floats, v: Floats, a: Floats) -> None:
        self.system, self.order = system, np.append(system.free, given)
        self.dependent, self.independent = np.zeros(0, np.int64), system.free
        if len(system.loops.measure) and len(system.free):
            from scipy.linalg import qr

            _, R, pivots = qr(constraints(system, q)[1][:, system.free], pivoting=True, mode="economic")
            size = np.abs(np.diagonal(R))
            rank = int(np.sum(size > RANK * size.max(initial=0.0)))
            self.dependent = np.sort(system.free[pivots[:rank]])
            self.independent = np.sort(system.free[pivots[rank:]])
        self.columns = np.append(self.independent, given)
        h, places = along(system, q, v, a)
        tables = [self.basis(place) for place in places] if len(self.dependent) else []
        none = np.zeros((len(self.order), len(self.columns)))
        self.Z = tables[2] if tables else np.eye(len(self.order))
        self.Z_rate = first_derivative(h, tables) if tables else none
        self.Z_acceleration = second_derivative(h, tables) if tables else none

    def basis(self, q: Floats) -> Floats:
        """Z, (free and given, independent and given)."""
        _, G = constraints(self.system, q)
        whole = np.zeros((self.system.size, len(self.columns)))
        whole[self.columns, np.arange(len(self.columns))] = 1.0
        whole[self.dependent] = -np.linalg.lstsq(G[:, self.dependent], G[:, self.columns], rcond=RANK)[0]
        return np.asarray(whole[self.order])

    def moved(self, q: Floats, v: Floats, z: Floats, change: Floats) -> tuple[Floats, Floats]:
        """Positions and rates after finite independent deviations."""
        q, v = q.copy(), v.copy()
        q[self.independent] += z
        v[self.independent] += change
        if len(self.dependent):
            q = close(self.system, q, self.dependent)
            v = fitted(self.system, q, v, self.dependent)
        return q, v
