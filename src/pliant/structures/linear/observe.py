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

from pliant.mechanics.rigid_body import matrix_of
from pliant.mechanics.shape_functions import orthonormal_values
from pliant.model.state import LinkObservation, Observation
from pliant.robot import BASE, FlexibleLink, RigidLink, Robot
from pliant.spatial.arrays import rotation_from_vector
from pliant.structures.linear.arrays import Floats, axis_of
from pliant.structures.linear.gravity import AXIS, BentLink

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm

TOGETHER = 128  # states whose shapes are found at once, for memory


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
                R_joint = R_joint @ rotation_from_vector(q[:, column, None] * axis[3:])
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
        turn = rotation_from_vector(deflection.rotation(strain))
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
