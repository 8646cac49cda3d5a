"""From all unknowns of a moving tree to those that prescribed motions and closed loops leave independent.

Closures bind the unknowns, g(t) y = 0, at all times. With y = Z(t) z, Z the identity on the independent unknowns,

    g Z = 0 ,   g Z' = -g' Z ,   g Z'' = -g'' Z - 2 g' Z' .

Behind the independent unknowns z stand, as if they were such, those that are held: prescribed joints and the base.
"""

from __future__ import annotations

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.instant import DEPENDENT, Instant
from pliant.formulations.geometrically_exact.pose_element.line_derivatives import (
    Pair,
    gradient_changes,
    pair_of,
)
from pliant.formulations.geometrically_exact.pose_element.mechanism import ELEMENT, FREE, Floats, Ints
from pliant.formulations.geometrically_exact.pose_element.relative_motion import Maps, maps, to_children
from pliant.mechanics.twist_matrices import bracket
from pliant.model.port import Port
from pliant.robot.joint import BASE
from pliant.spatial.arrays import pose_from_twist, quaternion_from_rotation

PROBE = 1e-3  # m or rad, of the only difference there is: the second derivative of closures in time
JAMMED = 1e-8  # m or rad by which a unit of a held motion may open loops that nothing else can close
PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class Reduction:
    """Z (unknowns and rotors, independent ones and held ones) and its time derivatives."""

    def __init__(self, now: Instant, moved: Maps, V_dot: Floats) -> None:
        self.now = now
        free, closure = np.flatnonzero(now.free), now.closure
        n, rotors = now.columns.total, len(now.slopes.rotors)
        own = np.append(free[closure.independent], n + np.arange(rotors)).astype(np.int64)
        self.ports, held = self._held(moved)
        self.independent = np.append(own, held)
        self.own = slice(len(own))
        self.held = slice(len(own), len(self.independent))
        shape = (n + rotors, len(self.independent))
        self.Z, self.Z_rate, self.Z_acceleration = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.Z[self.independent, np.arange(shape[1])] = 1.0
        if len(closure.rows):
            self._close(moved, V_dot, free[closure.dependent])

    def _held(self, moved: Maps) -> tuple[tuple[Port, ...], Ints]:
        """The ports of prescribed joints and of the base that loops let move, and their unknowns."""
        now = self.now
        places = {
            now.arm.joint_names[c]: now.coordinate_columns[c : c + 1]
            for c in np.flatnonzero(now.mechanism.coordinates.prescribed)
        }
        base = now.columns.place[now.base]
        places[BASE] = np.arange(base.start, base.stop)
        if len(now.closed):
            rows = now.on_nodes(now.gradients, moved.T)[now.closed]
            followed = rows[:, now.free] @ np.linalg.pinv(rows[:, now.free], rcond=DEPENDENT)
            jams = np.abs(rows - followed @ rows).max(axis=0) > JAMMED
            places = {name: at for name, at in places.items() if not jams[at].any()}
        by_name = {port.name: port for port in now.arm.ports}
        return tuple(by_name[name] for name in places), np.concatenate(
            [np.zeros(0, np.int64), *places.values()]
        )

    def _close(self, moved: Maps, V_dot: Floats, dependent: Ints) -> None:
        now, n = self.now, self.now.columns.total
        rows, first, second = now.gradients, now.gradient_rates, self._second(V_dot)
        T, T1, T2 = moved
        on = now.on_nodes
        g = now.closure.rows @ on(rows, T)
        g1 = now.closure.rows @ (on(first, T) + on(rows, T1))
        g2 = now.closure.rows @ (on(second, T) + 2.0 * on(first, T1) + on(rows, T2))
        pivot = g[:, dependent]
        self.Z[dependent] = -np.linalg.solve(pivot, g @ self.Z[:n])
        self.Z_rate[dependent] = -np.linalg.solve(pivot, g1 @ self.Z[:n])
        change = g2 @ self.Z[:n] + 2.0 * g1 @ self.Z_rate[:n]
        self.Z_acceleration[dependent] = -np.linalg.solve(pivot, change)

    def _second(self, V_dot: Floats) -> Floats:
        """(lines, 12) second derivatives in time of the gradients of closed lines."""
        now = self.now
        lines = now.mechanism.lines
        rows = np.zeros_like(now.gradients)
        for k in now.closed:
            a, b = lines.node[k]
            pair = pair_of(lines, k, now.x, now.R)
            both = np.concatenate([V_dot[a], V_dot[b]])[None]
            rows[k] = gradient_changes(lines, k, pair, both)[0]
            if now.moves:
                V = np.concatenate([now.V[a], now.V[b]])
                span = PROBE / np.abs(V).max(initial=1e-300)
                for weight, ahead in ((8.0, 1.0), (-8.0, -1.0), (-1.0, 2.0), (1.0, -2.0)):
                    there = _moved_on(pair, ahead * span * V)
                    rows[k] += weight / (12.0 * span) * gradient_changes(lines, k, there, V[None])[0]
        return rows

    def apply(self, M: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats, Floats]:
        Z, Z1, Z2 = self.Z, self.Z_rate, self.Z_acceleration
        if not len(self.now.closure.rows):
            keep = np.ix_(self.independent, self.independent)
            return M[keep], D[keep], K[keep]
        return Z.T @ M @ Z, Z.T @ (D @ Z + 2.0 * M @ Z1), Z.T @ (K @ Z + D @ Z1 + M @ Z2)

    def names(self) -> tuple[str, ...]:
        """Names of the independent unknowns."""
        now = self.now
        tree, joints = now.mechanism.tree, now.arm.joint_names
        names = [""] * now.columns.total
        for link in now.arm.structure.links:
            for k, i in enumerate(link.nodes):
                where = f"element_{k}" if tree.hang[i] == ELEMENT else "root"
                if tree.hang[i] in (ELEMENT, FREE):
                    names[now.columns.place[i]] = [f"{link.name}.{where}.{part}" for part in PARTS]
        for c, column in enumerate(now.coordinate_columns):
            names[column] = joints[c]
        names += [f"{joints[c]}.rotor" for c in now.slopes.rotors]
        return tuple(names[k] for k in self.independent[self.own])

    def state_at(self, y: Floats, v: Floats) -> Floats:
        """The state displaced by y with rates v; loops are closed to first order of y."""
        now, n = self.now, self.now.columns.total
        tree, columns, bodies = now.mechanism.tree, now.columns, now.mechanism.bodies
        Z = self.Z[:, self.own]
        change, speed = Z @ y, Z @ v + self.Z_rate[:, self.own] @ y
        x, R, rates = now.x.copy(), now.R.copy(), now.rates + speed[:n]
        for i in range(len(x)):
            p, place = tree.parent[i], columns.place[i]
            step = pose_from_twist(columns.S[i] @ change[place])
            if p < 0:
                x[i], R[i] = now.x[i] + now.R[i] @ step[:3, 3], now.R[i] @ step[:3, :3]
            else:
                turn, lever = now.R[p].T @ now.R[i], now.R[p].T @ (now.x[i] - now.x[p])
                x[i] = x[p] + R[p] @ (lever + turn @ step[:3, 3])
                R[i] = R[p] @ turn @ step[:3, :3]
            S = columns.S[i]
            rates[place] += S.T @ bracket(S @ now.rates[place]) @ S @ change[place]
        V = maps(tree, columns, to_children(tree, x, R)).T @ rates
        velocity = np.einsum("nij,nj->ni", R, V[:, :3] + np.cross(V[:, 3:], bodies.center))
        q, qd = now.moment.q + change[now.coordinate_columns], rates[now.coordinate_columns]
        for i in np.flatnonzero(tree.restarts).tolist():
            R[i : i + 2], V[i : i + 2], velocity[i : i + 2] = R[i + 2], V[i + 2], velocity[i + 2]
            q[tree.coordinate[i : i + 3]] = 0.0
        motor = now.pose.motor.copy()
        rigid = now.mechanism.coordinates.has_motor
        motor[rigid] = np.column_stack([q, qd])[rigid]
        for k, c in enumerate(now.slopes.rotors):
            motor[c] = now.pose.motor[c] + (change[n + k], speed[n + k])
        parts = (x, quaternion_from_rotation(R), velocity, V[:, 3:], q, qd, motor)
        return np.concatenate([part.ravel() for part in parts])


def _moved_on(pair: Pair, displacement: Floats) -> Pair:
    """Both nodes moved by body displacements (12,)."""
    a, b = pose_from_twist(displacement.reshape(2, 6))
    return Pair(
        pair.xa + pair.Ra @ a[:3, 3],
        pair.Ra @ a[:3, :3],
        pair.xb + pair.Rb @ b[:3, 3],
        pair.Rb @ b[:3, :3],
    )
