"""Closed loops of an arm in minimal coordinates: constraints phi(q) = 0 with gradients G, kept by multipliers.

Loop joints become scalar constraints between two bodies of the tree. Deviations y from a motion obey G y = 0. The
independent ones z give y = Z z, and while the arm moves

    y' = Z z' + Z' z ,      y'' = Z z'' + 2 Z' z' + Z'' z ,      G Z = 0 ,   G Z' = -G' Z ,   G Z'' = -G'' Z - 2 G' Z' .
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.robot import Robot
from pliant.structures.loop_constraints import closing_rows
from pliant.structures.tree.arrays import Loops
from pliant.structures.tree.columns import MOTION_COLUMNS
from pliant.structures.tree.instant import constraint_slopes, constraints_at
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.structure import Structure

if TYPE_CHECKING:
    from pliant.structures.tree.system import System

ITERATIONS = 50
CLOSED = 1e-13  # m per metre of the violations of constraints, or rad
RANK = 1e-9  # part of the largest gradient below which a constraint follows from others
STEP = 1e-3  # m or rad, for differences of second derivatives along a motion


def constraint_rows(structure: Structure) -> Loops:
    """The constraints of all loop joints."""
    measure, body, point, direction = [], [], [], []
    for loop in structure.robot.loops:
        first, second = structure.place(loop.first), structure.place(loop.second)
        for kind, one, other in closing_rows(loop):
            measure.append(kind)
            body.append((first.body, second.body))
            point.append((first.position, second.position))
            direction.append((first.rotation @ one, second.rotation @ other))
    rows = len(measure)
    points, directions = (np.array(each, float).reshape(rows, 2, 3) for each in (point, direction))
    return Loops(np.array(measure, np.int64), np.array(body, np.int64).reshape(rows, 2), points, directions)


def closed_links(robot: Robot) -> tuple[tuple[str, str], ...]:
    """The two links that each constraint ties together, or the base."""
    return tuple((loop.first.link, loop.second.link) for loop in robot.loops for _ in closing_rows(loop))


def constraints(system: System, q: Floats, v: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """phi (rows,), G (rows, n) and G' v (rows,), what the accelerations of a moving arm must undo."""
    n, rows, shapes = system.tree.size, len(system.loops.measure), system.shapes
    still = np.zeros(n)
    out = (np.zeros(rows), np.zeros((rows, n)), np.zeros(rows), np.zeros(n))
    motion = np.empty((n + 1, MOTION_COLUMNS))
    moving = still if v is None else system.joint_values(v)
    constraints_at(system.tree, system.loops, (system.joint_values(q), moving, still), motion, out)
    return out[0], out[1] @ shapes.S if len(shapes.S) else out[1], out[2]


def pull_slope(system: System, q: Floats, multipliers: Floats) -> Floats:
    """The derivative (n, n) of G^T multipliers in q."""
    n, at = system.tree.size, system.joint_values(q)
    slope = np.zeros((n, n))
    if multipliers.any():
        constraint_slopes(system.tree, system.loops, at, multipliers, np.empty((n + 1, MOTION_COLUMNS)), slope)
    return system.gathered(slope)


def close(system: System, q: Floats, moving: Ints) -> Floats:
    """Positions near q that close all loops; only the ``moving`` coordinates give way."""
    q = q.copy()
    for _ in range(ITERATIONS):
        phi, G, _ = constraints(system, q)
        if np.abs(phi).max(initial=0.0) <= CLOSED * (1.0 + np.abs(q).max(initial=0.0)):
            return q
        q[moving] -= np.linalg.lstsq(G[:, moving], phi, rcond=RANK)[0]
    names = ", ".join(f"'{loop.name}'" for loop in system.structure.robot.loops)
    raise InvalidInput(
        f"the loops {names} cannot be closed near the given joint positions; change initial positions or lengths"
    )


def fitted(system: System, q: Floats, v: Floats, moving: Ints) -> Floats:
    """Rates near v that keep all loops closed; only the ``moving`` coordinates give way."""
    v, G = v.copy(), constraints(system, q)[1]
    v[moving] -= np.linalg.lstsq(G[:, moving], G @ v, rcond=RANK)[0]
    return v


def in_loops(system: System) -> Ints:
    """The coordinates between the two frames of some loop joint."""
    touched = np.zeros(system.tree.size, np.bool_)
    for a, b in system.loops.body:
        touched |= system.before[a + 1] ^ system.before[b + 1]
    if len(system.shapes.S):
        touched = (system.shapes.S[touched] != 0.0).any(axis=0)
    return np.flatnonzero(touched)


def gradient_rates(system: System, q: Floats, v: Floats, a: Floats) -> tuple[Floats, Floats]:
    """G' and G'' (rows, n) on the motion through q.

    Third derivatives of the constraints are differences of second ones, of fourth order.
    """

    def second(place: Floats) -> Floats:
        return np.array([pull_slope(system, place, one) for one in np.eye(len(system.loops.measure))])

    H, speed = second(q), np.abs(v).max(initial=0.0)
    if speed == 0.0:
        return H @ v, H @ a
    h = STEP / speed
    far, near = (second(q + k * h * v) - second(q - k * h * v) for k in (2.0, 1.0))
    return H @ v, H @ a + (8.0 * near - far) @ v / (12.0 * h)


class Reduction:
    """Independent deviations: of some of the free coordinates of a system, then of the ``given`` prescribed ones.

    ``Z`` has rows for all free and given coordinates, which ``order`` numbers; ``independent`` are free ones.
    """

    def __init__(self, system: System, given: Ints, q: Floats, v: Floats, a: Floats) -> None:
        self.system, self.order = system, np.append(system.free, given)
        self.dependent, self.independent = np.zeros(0, np.int64), system.free
        self.Z = np.eye(len(self.order))
        self.Z_rate = self.Z_acceleration = np.zeros_like(self.Z)
        if not len(system.loops.measure) or not len(system.free):
            return
        from scipy.linalg import qr

        G = constraints(system, q)[1]
        _, R, pivots = qr(G[:, system.free], pivoting=True, mode="economic")
        size = np.abs(np.diagonal(R))
        rank = int(np.sum(size > RANK * size.max(initial=0.0)))
        self.dependent = np.sort(system.free[pivots[:rank]])
        self.independent = np.sort(system.free[pivots[rank:]])
        columns = np.append(self.independent, given)

        def following(rates: Floats) -> Floats:
            """All coordinates whose dependent ones make up for what the others do to the constraints."""
            whole = np.zeros((system.size, len(columns)))
            whole[self.dependent] = -np.linalg.lstsq(G[:, self.dependent], rates, rcond=RANK)[0]
            return whole

        Z = following(G[:, columns])
        Z[columns, np.arange(len(columns))] = 1.0
        first, second = gradient_rates(system, q, v, a)
        Z_rate = following(first @ Z)
        Z_acceleration = following(second @ Z + 2.0 * first @ Z_rate)
        self.Z, self.Z_rate, self.Z_acceleration = (Z[self.order], Z_rate[self.order], Z_acceleration[self.order])

    def moved(self, q: Floats, v: Floats, z: Floats, change: Floats) -> tuple[Floats, Floats]:
        """Positions and rates after finite independent deviations."""
        q, v = q.copy(), v.copy()
        q[self.independent] += z
        v[self.independent] += change
        if len(self.dependent):
            q = close(self.system, q, self.dependent)
            v = fitted(self.system, q, v, self.dependent)
        return q, v
