"""From strains to the shape of small deflections on the turning joints.

Along a link  phi' = kappa ,  u' = gamma + phi x e_x , both in the frame of its root; joints turn and slide by their
true positions, which may be large. Strains are polynomials, so phi and u are known exactly. Links that sag under
gravity have the shape of their whole strains, see `gravity.py`.

What can be seen of a compiled arm.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial import legendre

from pliant.jit import kernel
from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.shape_functions import orthonormal_values
from pliant.model.section import place_at
from pliant.model.state import LinkObservation, Observation
from pliant.robot import BASE, FlexibleLink, RigidLink, Robot
from pliant.spatial import se3, so3
from pliant.spatial.arrays import pose_from_twist, vector_from_rotation
from pliant.spatial.rows import load3, load6, load9, plus6, store
from pliant.spatial.vectors import scale
from pliant.structures.linear.arrays import Floats, Ints, axis_of
from pliant.structures.linear.gravity import AXIS, BentLink

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm

TOGETHER = 128  # states whose shapes are found at once, for memory


def turned_by(vectors: Floats) -> Floats:
    """Rotations (..., 3, 3) of rotation vectors, many at once."""
    return pose_from_twist(np.concatenate([np.zeros_like(vectors), vectors], axis=-1))[..., :3, :3]


@dataclass(frozen=True, eq=False)
class Deflection:
    """Values of strain, rotation and displacement at stations of a link from the coefficients of its strain."""

    value: Floats  # (stations, N)
    once: Floats  # integrals from the root
    twice: Floats
    bent: tuple[BentLink, Floats] | None = None  # with what integrates to the stations

    @staticmethod
    def of(link: FlexibleLink, stations: Floats, degree: int, sags: bool) -> Deflection:
        """Of a link, with the shape of large strains where it ``sags``."""
        plain = Deflection.at(stations, link.length, degree)
        if not sags:
            return plain
        bent = BentLink.of(link, degree)
        return replace(plain, bent=(bent, bent.upto(stations)))

    @staticmethod
    def at(stations: Floats, length: float, degree: int) -> Deflection:
        fractions = stations / length
        scale = np.sqrt((2 * np.arange(degree) + 1) / length)
        once, twice = np.zeros((len(stations), degree)), np.zeros((len(stations), degree))
        for k, unit in enumerate(np.eye(degree)):
            first = legendre.legint(unit, lbnd=-1.0)
            once[:, k] = legendre.legval(2 * fractions - 1, first) * length / 2
            twice[:, k] = legendre.legval(2 * fractions - 1, legendre.legint(first, lbnd=-1.0)) * (length / 2) ** 2
        return Deflection(orthonormal_values(degree, fractions, length), once * scale, twice * scale)

    def strain(self, coefficients: Floats) -> Floats:
        """(n, stations, 6) from coefficients (n, N, 6)."""
        return np.asarray(np.einsum("sk,nkc->nsc", self.value, coefficients))

    def rotation(self, coefficients: Floats) -> Floats:
        """Rotation vectors (n, stations, 3) against the root."""
        return np.asarray(np.einsum("sk,nkc->nsc", self.once, coefficients[..., 3:]))

    def displacement(self, coefficients: Floats) -> Floats:
        """(n, stations, 3) in the frame of the root."""
        turned = np.cross(np.einsum("sk,nkc->nsc", self.twice, coefficients[..., 3:]), AXIS)
        return np.asarray(np.einsum("sk,nkc->nsc", self.once, coefficients[..., :3]) + turned)


@dataclass(frozen=True, eq=False)
class Kinematics:
    """Poses of the links of a robot whose flexible ones have strains of N coefficients."""

    robot: Robot
    degree: int
    sags: bool = False
    # made once for equally many stations: controllers observe at every sample
    _seen: dict[tuple[str, int], tuple[Floats, Deflection]] = field(default_factory=dict, init=False)

    def roots(self, q: Floats, strains: dict[str, Floats]) -> dict[str, tuple[Floats, Floats]]:
        """Position (n, 3) and rotation (n, 3, 3) of the root of every link, joint positions q (n, joints)."""
        count = len(q)
        base = self.robot.base
        x, R = np.tile(np.asarray(base.position, float), (count, 1)), np.tile(matrix_of(base.rotation), (count, 1, 1))
        tips = {BASE: (x, R)}
        roots: dict[str, tuple[Floats, Floats]] = {}
        column = 0
        for joint in self.robot.chain_order:
            x, R = tips[joint.parent]
            if joint.station is not None:
                there, parent = np.array([joint.station]), self.robot.link(joint.parent)
                assert isinstance(parent, FlexibleLink)
                shape = Deflection.of(parent, there, self.degree, self.sags)
                root_x, root_R = roots[joint.parent]
                sections = self.along(joint.parent, root_x, root_R, (there, shape), strains[joint.parent])
                x, R = sections[0][:, 0], sections[1][:, 0]
            R_joint = R @ matrix_of(joint.rotation)
            x = x + R @ np.asarray(joint.position, float)
            if joint.moves:
                axis = axis_of(joint)
                x = x + np.einsum("nij,nj->ni", R_joint, q[:, column, None] * axis[:3])
                R_joint = R_joint @ turned_by(q[:, column, None] * axis[3:])
                column += 1
            roots[joint.child] = (x, R_joint)
            tips[joint.child] = self.tip(joint.child, x, R_joint, strains)
        return roots

    def tip(self, name: str, x: Floats, R: Floats, strains: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Pose of the tip of a link from that of its root."""
        link = self.robot.link(name)
        if isinstance(link, RigidLink):
            return x + R @ np.asarray(link.tip_position, float), R @ matrix_of(link.tip_rotation)
        positions, rotations = self.along(name, x, R, self._ends[name], strains[name])
        return positions[:, 0], rotations[:, 0]

    def along(
        self, name: str, x: Floats, R: Floats, at: tuple[Floats, Deflection], strain: Floats
    ) -> tuple[Floats, Floats]:
        """Poses (n, stations, ...) along a flexible link from that of its root."""
        stations, deflection = at
        if deflection.bent is not None:
            link, rows = deflection.bent
            parts = [link.poses(part, rows) for part in np.array_split(strain, len(strain) // TOGETHER + 1)]
            inside, turn = (np.concatenate(each) for each in zip(*parts, strict=True))
            return x[:, None] + np.einsum("nij,nsj->nsi", R, inside), R[:, None] @ turn
        inside = stations[None, :, None] * AXIS + deflection.displacement(strain)
        turn = turned_by(deflection.rotation(strain))
        return x[:, None] + np.einsum("nij,nsj->nsi", R, inside), R[:, None] @ turn

    def stations(self, name: str, count: int) -> tuple[Floats, Deflection]:
        if (name, count) not in self._seen:
            link = self.robot.link(name)
            assert isinstance(link, FlexibleLink)
            stations = np.linspace(0.0, link.length, count)
            self._seen[name, count] = stations, Deflection.of(link, stations, self.degree, self.sags)
        return self._seen[name, count]

    @cached_property
    def _ends(self) -> dict[str, tuple[Floats, Deflection]]:
        links = [link for link in self.robot.links if isinstance(link, FlexibleLink)]
        tips = ((link, np.array([link.length])) for link in links)
        return {link.name: (at, Deflection.of(link, at, self.degree, self.sags)) for link, at in tips}


STEPS = 8  # along a link that sags: its pose is right to about 1e-10
GAUSS = np.sqrt(0.15)  # distance of the outer points of three from the middle of a step


@kernel
def walk(q: Floats, joints: Floats, column: Ints, carried: Floats, steps: Ints, moments: Floats, out: Floats) -> None:
    """Poses (2, 12) of the root of the last of some links and of its section.

    ``joints`` (links + 1, 18): the base, then the frame of each joint and its axis. Each link carries on by a
    displacement, fixed or small, and a rotation vector, ``carried`` (links, 6), or by ``steps`` over which the
    ``moments`` (all, 18) of its strains are known, to sixth order as in [blanes2009].
    """
    g = (load9(joints, 0), load3(joints, 0, 9))
    done, last = 0, column.shape[0] - 1
    for k in range(last + 1):
        g = se3.mul(g, (load9(joints, k + 1), load3(joints, k + 1, 9)))
        if column[k] >= 0:
            angle = q[column[k]]
            turn, way = scale(angle, load3(joints, k + 1, 15)), scale(angle, load3(joints, k + 1, 12))
            g = se3.mul(g, (so3.exp(turn), way))
        if k == last:
            store(g[0], out, 0)
            store(g[1], out, 0, 9)
        g = se3.mul(g, (so3.exp(load3(carried, k, 3)), load3(carried, k)))
        for i in range(done, done + steps[k]):
            a1, a2, a3 = load6(moments, i), load6(moments, i, 6), load6(moments, i, 12)
            c1 = se3.ad(a2, a1)
            c2 = se3.ad(a1, plus6(c1, 2.0, a3))
            u = plus6(plus6(c1, -1.0, a3), -20.0, a1)
            w = se3.ad(plus6(a2, 1.0 / 60.0, c2), u)
            g = se3.mul(g, se3.exp(plus6(plus6(a1, 1.0 / 12.0, a3), 1.0 / 240.0, w)))
        done += steps[k]
    store(g[0], out, 1)
    store(g[1], out, 1, 9)


class LinearSection:
    """A section for one who reads it often: maps from states to all that leads there are found once."""

    rest: Floats

    def __init__(self, arm: PseudoSpectralArm, link: str, station: float) -> None:
        robot, at, size = arm.robot, arm.layout.slices, arm.layout.size
        self.joints, self.strains = at["joint_position"], at["strain"]
        unit = np.zeros((self.strains.stop - self.strains.start, size))
        unit[:, self.strains] = np.eye(len(unit))
        shapes = arm.strains_of(unit)  # coefficients (points x 6, N, 6) of each link per number of the state
        moving = [joint.name for joint in robot.chain_order if joint.moves]
        way = [next(joint for joint in robot.chain_order if joint.child == link)]
        while way[0].parent != BASE:
            way.insert(0, next(joint for joint in robot.chain_order if joint.child == way[0].parent))
        frames = [np.concatenate([matrix_of(robot.base.rotation).ravel(), robot.base.position, np.zeros(6)])]
        columns, small, still, steps, moments = [], [], [], [], []
        for k, joint in enumerate(way):
            axis = axis_of(joint) if joint.moves else np.zeros(6)
            frames.append(np.concatenate([matrix_of(joint.rotation).ravel(), joint.position, axis]))
            columns.append(moving.index(joint.name) if joint.moves else -1)
            own, last = robot.link(joint.child), k == len(way) - 1
            map_of, straight, several = np.zeros((6, len(unit))), np.zeros(6), 0
            if isinstance(own, RigidLink):
                share = station if last else 1.0
                straight[:3] = share * np.asarray(own.tip_position, float)
                straight[3:] = vector_from_rotation(matrix_of(own.tip_rotation)) if share == 1.0 else 0.0
            else:
                assert isinstance(own, FlexibleLink)
                leaves = way[k + 1].station if not last else station * own.length
                leaves = own.length if leaves is None else leaves
                if arm.kinematics.sags:
                    found, several = self._moments(arm, own, leaves, shapes[own.name]), STEPS
                    moments.append(found)
                else:
                    plain = Deflection.at(np.array([leaves]), own.length, arm.kinematics.degree)
                    map_of[:3] = plain.displacement(shapes[own.name])[:, 0].T
                    map_of[3:] = plain.rotation(shapes[own.name])[:, 0].T
                    straight[0] = leaves
            small.append(map_of)
            still.append(straight)
            steps.append(several)
        self.frames, self.still = np.array(frames), np.array(still)
        self.columns, self.steps = np.array(columns, np.int64), np.array(steps, np.int64)
        self.small = np.concatenate(small)
        self.moments = np.concatenate([each for each, _ in moments]) if moments else np.zeros((0, len(unit)))
        self.straight = np.concatenate([each for _, each in moments]) if moments else np.zeros(0)
        own = robot.link(link)
        self.strain_map = np.zeros((6, len(unit)))
        if isinstance(own, FlexibleLink):
            values = orthonormal_values(arm.kinematics.degree, np.array([station]), own.length)
            self.strain_map = np.einsum("k,nkc->cn", values[0], shapes[link])
        self.twist_map = arm.load_flows(np.eye(size), (place_at(arm, link, station),))[:, 0].T.copy()

    @staticmethod
    def _moments(arm: PseudoSpectralArm, link: FlexibleLink, leaves: float, shapes: Floats) -> tuple[Floats, Floats]:
        """Of the strains over equal steps, (steps x 18, points x 6) per number of the state, and of a straight link."""
        h, degree = leaves / STEPS, arm.kinematics.degree
        middles = (np.arange(STEPS) + 0.5) / STEPS * leaves / link.length
        apart = GAUSS * h / link.length
        low, middle, high = (orthonormal_values(degree, middles + side * apart, link.length) for side in (-1, 0, 1))
        a2, a3 = h * np.sqrt(15.0) / 3.0 * (high - low), h * 10.0 / 3.0 * (high - 2.0 * middle + low)
        weights = np.stack([h * middle, a2, a3], axis=1)  # (steps, 3, N)
        straight = np.zeros((STEPS, 18))
        straight[:, 0] = h
        return np.einsum("smk,nkc->smcn", weights, shapes).reshape(18 * STEPS, -1), straight.ravel()

    def poses(self, state: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        strain, out = state[self.strains], np.empty((2, 12))
        carried = self.still + (self.small @ strain).reshape(-1, 6)
        moments = (self.straight + self.moments @ strain).reshape(-1, 18)
        walk(state[self.joints], self.frames, self.columns, carried, self.steps, moments, out)
        root, own = out
        return root[9:], root[:9].reshape(3, 3), own[9:], own[:9].reshape(3, 3)

    def strain(self, state: Floats) -> Floats:
        return np.asarray(self.strain_map @ state[self.strains])

    def twist(self, state: Floats) -> Floats:
        return np.asarray(self.twist_map @ state)


def observe(arm: PseudoSpectralArm, states: Floats, stations: int) -> Observation:
    """All links at equally spaced stations, joints and tip."""
    q, qd = arm.layout.part(states, "joint_position"), arm.layout.part(states, "joint_rate")
    u, strains = arm.unknowns(states), arm.strains_of(states)
    rates = u @ arm.assembly.G.T
    roots = arm.kinematics.roots(q, strains)
    links = []
    for body in arm.assembly.bodies:
        x, R = roots[body.name]
        link = arm.robot.link(body.name)
        if isinstance(link, FlexibleLink):
            at, deflection = arm.kinematics.stations(body.name, stations)
            coefficients = strains[body.name]
            position, rotation = arm.kinematics.along(body.name, x, R, (at, deflection), coefficients)
            strain = deflection.strain(coefficients)
            rate = deflection.strain(rates[:, body.rows].reshape(coefficients.shape))
            wrench = np.einsum("sij,nsj->nsi", link.stiffness(at), strain)
            wrench += np.einsum("sij,nsj->nsi", link.material_damping(at), rate)
            links.append(LinkObservation(body.name, at, position, rotation, strain, wrench))
        else:
            tip, turned = arm.kinematics.tip(body.name, x, R, strains)
            ends = np.array([0.0, float(np.linalg.norm(tip[0] - x[0]))])
            zero = np.zeros((len(x), 2, 6))
            position, rotation = np.stack([x, tip], axis=1), np.stack([R, turned], axis=1)
            links.append(LinkObservation(body.name, ends, position, rotation, zero, zero))
    last = next(link for link in links if link.name == arm.robot.tip_link)
    twist = u @ arm.tip_body.tip.T
    return Observation(q, qd, tuple(links), last.position[:, -1], last.rotation[:, -1], twist)
