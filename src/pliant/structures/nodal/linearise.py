"""From all unknowns of a moving tree to those that prescribed motions and closed loops leave independent.

Constraints bind the unknowns, g(t) y = 0, at all times. With y = Z(t) z, Z the identity on the independent unknowns,

    g Z = 0 ,   g Z' = -g' Z ,   g Z'' = -g'' Z - 2 g' Z' .

Behind the independent unknowns z stand, as if they were such, those that are held: prescribed joints and the base.

Small deviations from the motion of a mechanism through a state, closed loops eliminated.

Mass, damping and stiffness are the derivatives of the balance (see `instant_balance`) in relative displacements y of
the moving tree, in their rates and in their accelerations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.contract import LinearisedPort, SecondOrder
from pliant.model.inputs import Inputs
from pliant.model.port import Causality, Frame, Port
from pliant.robot import At, End
from pliant.robot.joint import BASE
from pliant.spatial.arrays import bracket, hat, quaternion_from_rotation
from pliant.structures.loop_constraints import DEPENDENT
from pliant.structures.nodal.codes import ELEMENT, FREE
from pliant.structures.nodal.instant import Instant
from pliant.structures.nodal.instant_balance import BY_PLACE, Derivatives, derivatives_at, displaced, place_nodes
from pliant.structures.nodal.mechanism import Floats, Ints
from pliant.structures.relations import carried_frame
from pliant.structures.small_deviations import Deviations, at_place, drifting, frames, loop_flow, second_order

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm


PROBE = 1e-3  # m or rad, of the only difference there is: the second derivative of constraints in time
JAMMED = 1e-8  # m or rad by which a unit of a held motion may open loops that nothing else can close
PARTS = ("x", "y", "z", "turn_x", "turn_y", "turn_z")


class Reduction:
    """Z (unknowns and rotors, independent ones and held ones) and its time derivatives."""

    def __init__(self, now: Instant, by_place: Derivatives, by_rate: Derivatives) -> None:
        self.now = now
        free, constraint = np.flatnonzero(now.free), now.constraint
        n, rotors = now.columns.total, len(now.rotors)
        own = np.append(free[constraint.independent], n + np.arange(rotors)).astype(np.int64)
        self.ports, held = self._held(by_rate.rate)
        self.independent = np.append(own, held)
        self.own = slice(len(own))
        self.held = slice(len(own), len(self.independent))
        shape = (n + rotors, len(self.independent))
        self.Z, self.Z_rate, self.Z_acceleration = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.Z[self.independent, np.arange(shape[1])] = 1.0
        if len(constraint.rows):
            self._close(by_rate.rate, by_place.rate, free[constraint.dependent])

    def _held(self, rows: Floats) -> tuple[tuple[Port, ...], Ints]:
        """The ports of prescribed joints and of the base that loops let move, and their unknowns."""
        now = self.now
        places = {
            now.arm.joint_names[c]: now.coordinate_columns[c : c + 1]
            for c in np.flatnonzero(now.mechanism.coordinates.prescribed)
        }
        base = now.columns.place[now.base]
        places[BASE] = np.arange(base.start, base.stop)
        if len(now.closed):
            rows = rows[now.closed]
            followed = rows[:, now.free] @ np.linalg.pinv(rows[:, now.free], rcond=DEPENDENT)
            jams = np.abs(rows - followed @ rows).max(axis=0) > JAMMED
            places = {name: at for name, at in places.items() if not jams[at].any()}
        by_name = {port.name: port for port in now.arm.ports}
        return tuple(by_name[name] for name in places), np.concatenate([np.zeros(0, np.int64), *places.values()])

    def _close(self, rows: Floats, first: Floats, dependent: Ints) -> None:
        combine = self.now.constraint.rows
        g, g1, g2 = combine @ rows, combine @ first, combine @ self._second()
        pivot = g[:, dependent]
        self.Z[dependent] = -np.linalg.solve(pivot, g @ self.Z)
        self.Z_rate[dependent] = -np.linalg.solve(pivot, g1 @ self.Z)
        change = g2 @ self.Z + 2.0 * g1 @ self.Z_rate
        self.Z_acceleration[dependent] = -np.linalg.solve(pivot, change)

    def _second(self) -> Floats:
        """(lines, unknowns) second derivatives in time of the constraints: first ones of what is exact on the way."""
        now = self.now
        V, V_dot = np.abs(now.flow.V.real).max(), np.abs(now.flow.V_dot.real).max()
        total = np.zeros((len(now.mechanism.lines.law), len(self.Z)))
        if V_dot == 0.0 and V == 0.0:
            return total
        span = PROBE / max(V, np.sqrt(V_dot))
        for weight, ahead in ((8.0, span), (-8.0, -span), (-1.0, 2.0 * span), (1.0, -2.0 * span)):
            there = displaced(now.flow, ahead * now.flow.rho.real + 0.5 * ahead**2 * now.flow.rho_dot.real)
            there.rho[:] += ahead * now.flow.rho_dot
            moved = derivatives_at(now.mechanism, now.unknowns, BY_PLACE, there)
            total += weight / (12.0 * span) * moved.rate
        return total

    def apply(self, M: Floats, D: Floats, K: Floats) -> tuple[Floats, Floats, Floats]:
        Z, Z1, Z2 = self.Z, self.Z_rate, self.Z_acceleration
        if not len(self.now.constraint.rows):
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
                where = f"element_{k}" if tree.joint_type[i] == ELEMENT else "root"
                if tree.joint_type[i] in (ELEMENT, FREE):
                    names[now.columns.place[i]] = [f"{link.name}.{where}.{part}" for part in PARTS]
        for c, column in enumerate(now.coordinate_columns):
            names[column] = joints[c]
        names += [f"{joints[c]}.rotor" for c in now.rotors]
        return tuple(names[k] for k in self.independent[self.own])

    def state_at(self, y: Floats, v: Floats) -> Floats:
        """The state displaced by y with rates v; loops are closed to first order of y."""
        now, n = self.now, self.now.columns.total
        tree, bodies = now.mechanism.tree, now.mechanism.bodies
        Z = self.Z[:, self.own]
        change, speed = Z @ y, Z @ v + self.Z_rate[:, self.own] @ y
        rates, twists = now.rates + speed, np.zeros((len(now.x), 6))
        for place, S in zip(now.columns.place, now.columns.S):
            rates[place] += S.T @ bracket(S @ now.rates[place]) @ S @ change[place]
        now.set_twists(twists, change)
        there = displaced(now.flow, twists)
        now.set_twists(there.rho, rates)
        place_nodes(tree, there)
        x, R, V = there.at.x.real, there.at.R.real.reshape(-1, 3, 3), there.V.real
        velocity = np.einsum("nij,nj->ni", R, V[:, :3] + np.cross(V[:, 3:], bodies.center))
        q, qd = now.moment.q + change[now.coordinate_columns], rates[now.coordinate_columns]
        for i in np.flatnonzero(tree.restarts).tolist():
            R[i : i + 2], V[i : i + 2], velocity[i : i + 2] = R[i + 2], V[i + 2], velocity[i + 2]
            q[tree.coordinate[i : i + 3]] = 0.0
        motor = now.pose.motor.copy()
        rigid = now.mechanism.coordinates.has_motor
        motor[rigid] = np.column_stack([q, qd])[rigid]
        for k, c in enumerate(now.rotors):
            motor[c] = now.pose.motor[c] + (change[n + k], speed[n + k])
        parts = (x, quaternion_from_rotation(R), velocity, V[:, 3:], q, qd, motor)
        return np.concatenate([part.ravel() for part in parts])


def linearise(arm: PoseElementArm, state: Floats, inputs: Inputs, time: float) -> SecondOrder:
    """M, D and K over the independent relative displacements and rotors; prescribed joints and the base as held."""
    now = Instant(arm, state, inputs, time)
    unbalanced, acceleration = now.unbalanced, now.acceleration
    by_place, by_rate = now.derivatives(BY_PLACE), now.by_rate
    reduction = Reduction(now, by_place, by_rate)
    Z, own = reduction.Z, reduction.own
    T = by_rate.twist
    M, D, K = reduction.apply(now.by_acceleration.residual, by_rate.residual, by_place.residual)
    ports = tuple(_ports(now, T, by_place.twist, reduction))
    joints, tip = Z[now.coordinate_columns], at_place(arm.structure.tip, T) @ Z
    rest = ((Z.T @ unbalanced)[own], not (now.moves or np.any(acceleration)))
    left = unbalanced - by_rate.rate.T @ now.flow.pull.real  # closed lines pull with what balances them
    wide = Deviations(M, D, K, ports, joints, tip, reduction.ports, -left[reduction.independent[reduction.held]])
    found = second_order(wide, own, rest, reduction.names(), T @ Z[:, own], reduction.state_at)
    assert found.held is not None
    twist, acceleration = now.V[now.base], now.flow.V_dot.real[now.base]
    return replace(found, held=drifting(found.held, reduction.held, twist, acceleration))


def _ports(now: Instant, T: Floats, twists: Floats, reduction: Reduction) -> Iterator[LinearisedPort]:
    """All ports that take an effort; flows as rows over all unknowns, then over the independent ones.

    ``T`` and ``twists`` (nodes, 6, unknowns) are what rates and displacements of the unknowns change of body twists.
    """
    wide, rotors = len(reduction.Z), list(now.rotors)
    for port in now.arm.ports:
        if port.causality is not Causality.EFFORT_IN:
            continue
        if port.frame is not Frame.JOINT:
            at_ball = port.size == 3
            rate, shift = (
                _at_ball(now, port, T, twists) if at_ball else (_at_port(now, port, T), _at_port(now, port, twists))
            )
        elif port.name not in now.arm.joint_names:
            rate, shift = _at_loop(now, port, T, twists)
        else:
            c = now.arm.joint_names.index(port.name)
            if now.mechanism.coordinates.prescribed[c]:
                continue
            rate, shift = np.zeros((1, wide)), np.zeros((1, wide))
            driven = now.columns.total + rotors.index(c) if c in rotors else now.coordinate_columns[c]
            rate[0, driven] = 1.0
        yield LinearisedPort(port, rate @ reduction.Z, rate @ reduction.Z_rate + shift @ reduction.Z)


def _at_ball(now: Instant, port: Port, T: Floats, twists: Floats) -> tuple[Floats, Floats]:
    """Spin of the child of a ball joint against its parent, in its own axes: of rates, and of displacements."""
    first, second = now.arm.structure.ends(port.name)
    parent, child, own = first.body, second.body, second.rotation
    turn = now.R[child].T @ now.R[parent]
    carried = now.V[parent, 3:]
    rate = T[child][3:] - turn @ T[parent][3:]
    shift = twists[child][3:] - turn @ twists[parent][3:]
    shift += turn @ hat(carried) @ T[parent][3:] - hat(turn @ carried) @ T[child][3:]
    return own.T @ rate, own.T @ shift


def _at_loop(now: Instant, port: Port, T: Floats, twists: Floats) -> tuple[Floats, Floats]:
    """Rate of a loop joint without coordinates: of rates, and of displacements."""
    loop = next(each for each in now.arm.robot.loops if each.name == port.name.partition(".")[0])
    first, second = now.arm.structure.ends(loop.name)
    names = [freedom.name for freedom in loop.joint.freedoms]
    at = frames((first, carried_frame(loop, second)), (now.x, now.R), now.V, T, twists)
    return loop_flow(loop.joint, names.index(port.name), at)


def _at_port(now: Instant, port: Port, T: Floats) -> Floats:
    """Rows of the body twist of an end of a link, of its integral along the link, or of the child of a free joint."""
    structure = now.arm.structure
    name, _, where = port.name.rpartition(".")
    free = [joint.child for joint in now.arm.robot.joints if joint.name == port.name]
    if free:
        name, where = free[0], End.ROOT
    if where != "distributed":
        return at_place(structure.place(At(name, End(where))), T)
    link = structure.link(name)
    half = 0.5 * np.diff(link.station)
    shares = np.append(half, 0.0) + np.append(0.0, half)
    return np.asarray(np.einsum("n,nij->ij", shares, T[link.nodes]))
