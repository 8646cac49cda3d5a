"""Gravity on bent links: the pose that strains make, what its weight does, and how that changes with the strains.

Along a link  R' = R hat(kappa) ,  x' = R (e_x + gamma) , solved by collocation at Gauss points: with the matrix S that
integrates from the root to each point,  R_i = 1 + sum_j S_ij R_j hat(kappa_j) , linear in R. Let F(s) be the weight of
everything beyond a section and m(s) its moment about the section, in its axes. A strain e = phi(s) a there turns and
moves all that is beyond, so that gravity's forces are statics,

    on rates of strain coefficients  Q_k = int phi_k (F, m) ds ,    on motions across joints  (F, m) at the root .

They have the potential U(e, q): with  Q = -dU/dc  and  H = -dQ/dc  at the equilibrium c_0 = (e_0, q_0) of the links,

    Q(c) = Q_0 - H (c - c_0) ,

symmetric because strains and joint positions are coordinates. Everything is analytic, and H comes by complex steps,
exact to round-off. The strain energy e^T K e / 2 has no further term: what initial stresses do is in H.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import matrix_of, spatial_inertia
from pliant.mechanics.shape_functions import gauss_rule, many_values, orthonormal_values
from pliant.robot import BASE, End, FlexibleLink, Joint, RigidLink, Robot
from pliant.spatial.arrays import hat

Floats = NDArray[np.float64]
Numbers = NDArray[Any]  # real, or complex where they are differentiated
AXIS = np.array([1.0, 0.0, 0.0])
EXTRA = 8  # points beyond the degree of the strains: poses are no polynomials
STEP = 1e-30  # imaginary: no digits are subtracted
ROUND_OFF = 1e-13
CONVERGED = 1e-12
MOST_ITERATIONS = 40
MOST_STEPS = 64


@dataclass(frozen=True, eq=False)
class BentLink:
    """Points along a flexible link, between the jumps of its properties and the joints on it.

    ``before`` (points, points) integrates from the root to each, ``weights`` over the link; ``values`` (points, N) are
    those of the orthonormal polynomials of strains.
    """

    edges: Floats
    unit: Floats  # points of one stretch
    at: Floats
    weights: Floats
    values: Floats

    @staticmethod
    def of(link: FlexibleLink, degree: int, stations: tuple[float, ...] = ()) -> BentLink:
        edges = np.unique([0.0, *link.breakpoints, *stations, link.length])
        unit, weights = gauss_rule(degree + EXTRA)
        widths = np.diff(edges)[:, None]
        at = (edges[:-1, None] + widths * unit).ravel()
        values = orthonormal_values(degree, at / link.length, link.length)
        return BentLink(edges, unit, at, (widths * weights).ravel(), values)

    def upto(self, stations: Floats) -> Floats:
        """(stations, points) that integrates from the root to each station."""
        rule, shares = gauss_rule(len(self.unit))
        rows = np.zeros((len(stations), len(self.edges) - 1, len(self.unit)))
        for k, (first, width) in enumerate(zip(self.edges[:-1], np.diff(self.edges))):
            upper = np.clip((stations - first) / width, 0.0, 1.0)[:, None]
            rows[:, k] = width * upper * (shares @ many_values(self.unit, upper * rule))
        return rows.reshape(len(stations), len(self.at))

    @cached_property
    def before(self) -> Floats:
        return self.upto(self.at)

    def slopes(self, strain: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """x' and R' (n, points, ...) in the axes of the root, and R, from coefficients (n, N, 6)."""
        e = np.einsum("pk,nkc->npc", self.values, strain)
        turning, count, points = hat(e[..., 3:]), len(e), len(self.at)
        # rows r of R:  r_i - sum_j S_ij r_j hat_j = r_0
        system = -np.einsum("ij,njba->niajb", self.before, turning).reshape(count, 3 * points, 3 * points)
        system += np.eye(3 * points)
        right = np.tile(np.eye(3), (points, 1))[None].repeat(count, axis=0)
        R = np.swapaxes(np.linalg.solve(system, right).reshape(count, points, 3, 3), 2, 3)
        return np.einsum("npij,npj->npi", R, e[..., :3] + AXIS), R @ turning, R

    def poses(self, strain: Numbers, rows: Floats) -> tuple[Numbers, Numbers]:
        """Positions and rotations (n, stations, ...) from the root, at the stations of `upto`."""
        slope, turning, _ = self.slopes(strain)
        return np.einsum("sp,npi->nsi", rows, slope), np.eye(3) + np.einsum("sp,npij->nsij", rows, turning)


@dataclass(frozen=True, eq=False)
class Sag:
    """The equilibrium about which the equations are linear, and gravity there.

    ``strain`` (coefficients) and ``position`` (joints) are c_0; ``pull`` Q_0 and ``stiffness`` H over c. ``change`` of
    gravity's forces over all strain rates and motions across joints, per change of c.
    """

    strain: Floats
    position: Floats
    pull: Floats
    stiffness: Floats
    change: Floats

    def potential(self, strain: Floats, position: Floats) -> Floats:
        """(n,) of gravity, J, zero at c_0."""
        moved = np.hstack([strain - self.strain, position - self.position])
        return np.asarray(-moved @ self.pull + 0.5 * np.einsum("ni,ij,nj->n", moved, self.stiffness, moved))


class Weights:
    """The statics of a robot whose flexible links are polynomials of one degree."""

    def __init__(self, robot: Robot, degree: int) -> None:
        self.robot, self.degree, self.chain = robot, degree, robot.chain_order
        self.moving = [joint for joint in self.chain if joint.moves]
        self.bent: dict[str, BentLink] = {}
        self.rows: dict[str, slice] = {}
        start = 0
        for joint in self.chain:
            link = robot.link(joint.child)
            if isinstance(link, FlexibleLink):
                on_it = (each.station for each in self.chain if each.parent == link.name)
                stations = tuple(each for each in on_it if each is not None)
                self.bent[link.name] = BentLink.of(link, degree, stations)
                self.rows[link.name] = slice(start, start + 6 * degree)
                start += 6 * degree
        self.strains = start

    @cached_property
    def start(self) -> Floats:
        return np.array([joint.freedoms[0].law.initial_position for joint in self.moving])

    def forces(self, strain: Numbers, position: Numbers, gravity: Floats) -> Numbers:
        """(n, strains + 6 links) on rates of strain coefficients and on motions across joints, child axes."""
        n, kind = len(strain), np.result_type(strain, position)
        roots: dict[str, tuple[Numbers, Numbers]] = {}
        inside: dict[str, tuple[Numbers, Numbers]] = {}
        rates: dict[str, tuple[Numbers, Numbers]] = {}
        base = self.robot.base
        here = (
            np.tile(np.asarray(base.position, kind), (n, 1)),
            np.tile(matrix_of(base.rotation).astype(kind), (n, 1, 1)),
        )
        tips = {BASE: here}
        column = 0
        for joint in self.chain:
            x, R = self._carrier(joint, tips, roots, rates)
            x, R = x + R @ np.asarray(joint.position, float), R @ matrix_of(joint.rotation)
            if joint.moves:
                x, R = _moved(joint, position[:, column], x, R)
                column += 1
            roots[joint.child] = x, R
            link = self.robot.link(joint.child)
            if isinstance(link, FlexibleLink):
                bent = self.bent[link.name]
                # most differ in the strains of other links alone
                own, which = np.unique(strain[:, self.rows[link.name]], axis=0, return_inverse=True)
                slope, turning, turn = (each[which] for each in bent.slopes(own.reshape(-1, self.degree, 6)))
                y = np.einsum("ij,njc->nic", bent.before, slope)
                inside[link.name] = x[:, None] + np.einsum("nij,npj->npi", R, y), R[:, None] @ turn
                tip, turned = (np.einsum("p,np...->n...", bent.weights, each) for each in (slope, turning))
                tips[link.name] = x + np.einsum("nij,nj->ni", R, tip), R @ (np.eye(3) + turned)
                rates[link.name] = slope, turning
            else:
                assert isinstance(link, RigidLink)
                tips[link.name] = x + R @ np.asarray(link.tip_position, float), R @ matrix_of(link.tip_rotation)
        return self._summed(gravity, roots, inside, tips, kind)

    def _carrier(self, joint: Joint, tips: Any, roots: Any, rates: Any) -> tuple[Numbers, Numbers]:
        """Pose of the section of the parent that carries a joint."""
        if joint.station is None or joint.parent == BASE:
            return tips[joint.parent]  # type: ignore[no-any-return]
        row = self.bent[joint.parent].upto(np.array([joint.station]))[0]
        x, R = roots[joint.parent]
        moved, turned = (np.einsum("p,np...->n...", row, each) for each in rates[joint.parent])
        return x + np.einsum("nij,nj->ni", R, moved), R @ (np.eye(3) + turned)

    def _summed(self, gravity: Floats, roots: Any, inside: Any, tips: Any, kind: Any) -> Numbers:
        """From the tips to the base: weight and its moment about the world's origin."""
        n = len(tips[BASE][0])
        out = np.zeros((n, self.strains + 6 * len(self.chain)), kind)
        beyond: dict[str, list[tuple[float | None, Numbers, Numbers]]] = {joint.child: [] for joint in self.chain}
        for number in reversed(range(len(self.chain))):
            joint = self.chain[number]
            link = self.robot.link(joint.child)
            x, R = roots[link.name]
            F, M = np.zeros((n, 3), kind), np.zeros((n, 3), kind)
            for payload in self.robot.payloads:
                if payload.link == link.name:
                    inertia = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
                    place = tips[link.name] if payload.at is End.TIP else (x, R)
                    f, m = _weight(inertia, place[0], place[1], gravity)
                    if payload.at is End.TIP:
                        beyond[link.name].append((None, f, m))
                    else:
                        F, M = F + f, M + m
            if isinstance(link, FlexibleLink):
                bent, (y, turn) = self.bent[link.name], inside[link.name]
                f, m = _weight(link.inertia(bent.at), y, turn, gravity)
                along = np.concatenate([f, m], axis=2)
                whole = np.einsum("p,npc->nc", bent.weights, along)
                carried = whole[:, None] - np.einsum("ij,njc->nic", bent.before, along)
                for station, child_f, child_m in beyond[link.name]:
                    both = np.concatenate([child_f, child_m], axis=1)
                    whole = whole + both
                    upto = np.ones(len(bent.at)) if station is None else (bent.at < station).astype(float)
                    carried = carried + upto[None, :, None] * both[:, None]
                about = carried[..., 3:] - np.cross(y, carried[..., :3])
                local = np.concatenate(
                    [np.einsum("npji,npj->npi", turn, each) for each in (carried[..., :3], about)], axis=2
                )
                table = np.einsum("p,pk,npc->nkc", bent.weights, bent.values, local)
                out[:, self.rows[link.name]] = table.reshape(n, -1)
                F, M = F + whole[:, :3], M + whole[:, 3:]
            else:
                assert isinstance(link, RigidLink)
                f, m = _weight(spatial_inertia(link.mass, link.center_of_mass, link.inertia), x, R, gravity)
                F, M = F + f, M + m
                for _, child_f, child_m in beyond[link.name]:
                    F, M = F + child_f, M + child_m
            cut = self.strains + 6 * number
            out[:, cut : cut + 3] = np.einsum("nji,nj->ni", R, F)
            out[:, cut + 3 : cut + 6] = np.einsum("nji,nj->ni", R, M - np.cross(x, F))
            if joint.parent != BASE:
                beyond[joint.parent].append((joint.station, F, M))
        return out

    def derivative(self, strain: Floats, position: Floats, gravity: Floats) -> Floats:
        """(forces, strains + joints)"""
        size = len(strain) + len(position)
        c = np.tile(np.concatenate([strain, position]).astype(complex), (size, 1))
        c += 1j * STEP * np.eye(size)
        found = self.forces(c[:, : len(strain)], c[:, len(strain) :], gravity)
        return np.asarray(found.imag.T / STEP)

    def equilibrium(self, K: Floats) -> Floats:
        """Strain coefficients of the links under gravity, joints where they start."""
        gravity, q = np.asarray(self.robot.gravity, float), self.start
        e, done, step = np.zeros(self.strains), 0.0, 1.0
        while done < 1.0:
            load = min(done + step, 1.0)
            found = self._balanced(K, e, q, load * gravity)
            if found is not None:
                e, done, step = found, load, 2.0 * step
            elif step * MOST_STEPS < 1.0:
                raise InvalidInput(
                    f"no equilibrium of robot '{self.robot.name}' under gravity = {self.robot.gravity} m/s^2 was found"
                    " about which PseudoSpectral could be linear; use GeometricallyExact, or start elsewhere"
                )
            else:
                step *= 0.5
        return e

    def _balanced(self, K: Floats, e: Floats, q: Floats, gravity: Floats) -> Floats | None:
        """Newton's method from e; None where it does not converge."""
        n = self.strains
        size = np.sqrt(np.diagonal(K))
        last = np.inf
        for _ in range(MOST_ITERATIONS):
            lack = K @ e - self.forces(e[None], q[None], gravity)[0, :n]
            change = np.linalg.solve(K - self.derivative(e, q, gravity)[:n, :n], lack)
            e = e - change
            moved, whole = float(np.linalg.norm(size * change)), float(np.linalg.norm(size * e))
            if not np.isfinite(moved):
                return None
            if moved <= CONVERGED * whole or (moved <= 1e-6 * whole and moved >= last):
                return e
            last = moved
        return None

    def sag(self, strain: Floats, K: Floats) -> Sag:
        """Gravity about an equilibrium of links with the stiffness K."""
        gravity, q = np.asarray(self.robot.gravity, float), self.start
        change = self.derivative(strain, q, gravity)
        force = self.forces(strain[None], q[None], gravity)[0]
        onto = self._onto_coordinates()
        H = -onto @ change
        of_force = self._scales(K)
        of_place = np.abs(onto) @ of_force
        H = np.where(np.abs(H) > ROUND_OFF * np.outer(of_place, of_place), 0.5 * (H + H.T), 0.0)
        change = np.where(np.abs(change) > ROUND_OFF * np.outer(of_force, of_place), change, 0.0)
        return Sag(strain, q, onto @ force, H, change)

    def _scales(self, K: Floats) -> Floats:
        """(forces,) roots of stiffnesses against which those of gravity are large or round-off."""
        reach = sum(link.length for link in self.robot.links) or 1.0
        weight = self.robot.mass * float(np.linalg.norm(self.robot.gravity))
        across = np.sqrt(np.repeat([weight / reach, weight * reach], 3))
        return np.concatenate([np.sqrt(np.diagonal(K)), np.tile(across, len(self.chain))])

    def heavy(self, strain: Floats) -> Floats:
        """(forces, 3) per acceleration of gravity along each axis of the world."""
        columns = [self.forces(strain[None], self.start[None], unit)[0] for unit in np.eye(3)]
        return np.stack(columns, axis=1)

    def _onto_coordinates(self) -> Floats:
        """(strains + joints, forces): motions across joints by their axes."""
        onto = np.zeros((self.strains + len(self.moving), self.strains + 6 * len(self.chain)))
        onto[: self.strains, : self.strains] = np.eye(self.strains)
        for row, joint in enumerate(self.moving):
            freedom, first = joint.freedoms[0], self.strains + 6 * self.chain.index(joint)
            place = first if freedom.translates else first + 3
            onto[self.strains + row, place : place + 3] = np.asarray(freedom.axis) / np.linalg.norm(freedom.axis)
        return onto


def _moved(joint: Joint, q: Numbers, x: Numbers, R: Numbers) -> tuple[Numbers, Numbers]:
    freedom = joint.freedoms[0]
    axis = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
    if freedom.translates:
        return x + q[:, None] * (R @ axis), R
    skew = hat(axis)
    turn = np.eye(3) + np.sin(q)[:, None, None] * skew + (1.0 - np.cos(q))[:, None, None] * (skew @ skew)
    return x, R @ turn


def _weight(inertia: Floats, x: Numbers, R: Numbers, gravity: Floats) -> tuple[Numbers, Numbers]:
    """Force, and moment about the world's origin, of bodies (..., 6, 6) whose frames are at x and R."""
    fall = np.einsum("...ji,j->...i", R, gravity)
    force = np.einsum("...ij,...j->...i", R, np.einsum("...ij,...j->...i", inertia[..., :3, :3], fall))
    own = np.einsum("...ij,...j->...i", R, np.einsum("...ij,...j->...i", inertia[..., 3:, :3], fall))
    return force, own + np.cross(x, force)
