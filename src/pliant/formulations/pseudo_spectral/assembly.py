"""From a robot to the matrices of its linearised motion in fixed geometry.

Unknown velocities u: for every flexible link the N x 6 coefficients of its projected twist, and for every link the
twist of its root against the tip of its parent, "across its joint". Everything else follows from them by matrices:
twists of roots and tips, strain rates, kinetic energy and the power of every load. The coefficients belong to
orthonormal Legendre polynomials; collocation points enter only where states are written for users.

A joint leaves free what ``joint_axes`` makes of its rate. The other motions across it are zero, and the wrench that
keeps them so is what the joint transmits.

The kinetic energy of [wang2017] is that of the projected twist, in which the last polynomial of the twist has no
part. On a joint that moves a link without payload at its root that would leave the joint without inertia; there, and
only there, the energy of the last polynomial is kept.

With gravity the equations are those of linearised motion about the equilibrium of bent links, joints as they start.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.formulations.pseudo_spectral import link as links
from pliant.mechanics.rigid_body import matrix_of, spatial_inertia
from pliant.mechanics.shape_functions import orthonormal_spaces, orthonormal_values
from pliant.robot import BASE, End, FlexibleLink, Joint, RigidLink, Robot
from pliant.spatial.arrays import hat
from pliant.structures.linear.arrays import Assembly, Body, Floats, axis_of, placed, twist_map
from pliant.structures.linear.equations import twists_along
from pliant.structures.linear.gravity import Weights


def assemble(robot: Robot, degree: int) -> Assembly:
    """The matrices of a robot in its initial posture, about the equilibrium of its links under gravity."""
    straight = _built(robot, degree, None)
    if not np.any(robot.gravity):
        return straight
    weights = Weights(robot, degree)
    strain = weights.equilibrium(straight.K)
    bent = _built(robot, degree, strain)
    sag = weights.sag(strain, bent.K)
    # the power of gravity by strain rates and by motions across joints, over all unknowns
    across = np.eye(len(bent.M))[weights.strains :]
    rates = np.vstack([bent.G, across])
    heavy = rates.T @ weights.heavy(strain)
    weight = heavy @ np.asarray(robot.gravity, float)
    return replace(bent, heavy=heavy, weight=weight, sag=sag, weight_change=rates.T @ sag.change)


def _built(robot: Robot, degree: int, strain: Floats | None) -> Assembly:
    builder = _Builder(robot, degree, strain)
    for joint in robot.chain_order:
        builder.add(joint)
    return builder.assembly()


class _Builder:
    """About straight links, or about the coefficients of a ``strain``."""

    def __init__(self, robot: Robot, degree: int, strain: Floats | None) -> None:
        self.robot, self.degree, self.strain = robot, degree, strain
        children = [robot.link(joint.child) for joint in robot.chain_order]
        self.strains = 6 * degree * sum(isinstance(link, FlexibleLink) for link in children)
        n = self.unknowns = self.strains + 6 * len(children)
        z = np.zeros
        self.M, self.V = z((n, n)), z((n, n))
        self.G, self.K, self.C = z((self.strains, n)), z((self.strains,) * 2), z((self.strains,) * 2)
        self.bodies: dict[str, Body] = {}
        self.next_row = 0

    def add(self, joint: Joint) -> None:
        """The child of a joint, with its payloads."""
        R, r = placed(joint)
        first = self.strains + 6 * len(self.bodies)
        cut = slice(first, first + 6)
        root = np.zeros((6, self.unknowns))
        if joint.parent != BASE:
            parent = self.bodies[joint.parent]
            section = parent.tip
            if joint.station is not None:
                section = twists_along(parent, np.array([joint.station / parent.length]))[0]
            root = twist_map(R, r) @ section
        root[:, cut] += np.eye(6)
        link = self.robot.link(joint.child)
        if isinstance(link, FlexibleLink):
            links.refuse_what_is_not_linear(link)
            body = self._flexible(link, cut, root, self._carries_nothing(joint))
        else:
            assert isinstance(link, RigidLink)
            turn = matrix_of(link.tip_rotation)
            tip = twist_map(turn, np.asarray(link.tip_position, float)) @ root
            body = Body(link.name, slice(0, 0), cut, root, tip, None, np.zeros((0, 0)))
            self._rigid(root, spatial_inertia(link.mass, link.center_of_mass, link.inertia))
        self.bodies[link.name] = body
        for payload in self.robot.payloads:
            if payload.link == link.name:
                inertia = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
                self._rigid(body.tip if payload.at is End.TIP else root, inertia)

    def _rigid(self, twist: Floats, inertia: Floats) -> None:
        self.M += twist.T @ inertia @ twist

    def _flexible(self, link: FlexibleLink, cut: slice, root: Floats, alone: bool) -> Body:
        size = 6 * self.degree
        rows = slice(self.next_row, self.next_row + size)
        self.next_row += size
        spaces = orthonormal_spaces(self.degree, link.length)
        strain_rate, far_twist = links.flows_of(spaces, links.SPATIAL_COUPLING, links.VelocityAt.ROOT)
        inside = np.vstack([np.eye(self.unknowns)[rows], root])
        at, weights = links.quadrature(link, self.degree)
        values = orthonormal_values(self.degree + 1, at / link.length, link.length)
        states, last_value = values[:, : self.degree], values[:, self.degree]
        inertia = link.inertia(at)
        momentum_to_twist = links.section_integral(states, weights, np.asarray(np.linalg.inv(inertia)))
        if self.strain is not None:
            # e' = V' + ad(xi) V  with the strains xi of bent links: ad(e_x) is in the flows of straight ones
            bent = _coupling(states @ self.strain[rows].reshape(self.degree, 6))
            twists = values @ spaces.effort_from(spaces.w_0)
            more = np.einsum("q,qi,qab,qj->iajb", weights, states, bent, twists, optimize=True)
            strain_rate = strain_rate + more.reshape(strain_rate.shape)
        self.G[rows] = strain_rate @ inside
        self.M[rows, rows] += np.linalg.inv(momentum_to_twist)
        self.K[rows, rows] = links.section_integral(states, weights, link.stiffness(at))
        self.C[rows, rows] = links.section_integral(states, weights, link.material_damping(at))
        self.V[rows, rows] += links.section_integral(states, weights, link.viscous_damping_matrix(at))
        if alone:
            last = np.kron(spaces.effort_from(spaces.w_0)[-1:], np.eye(6)) @ inside
            self.M += last.T @ np.einsum("q,q,qab->ab", weights, last_value**2, inertia) @ last
        return Body(link.name, rows, cut, root, far_twist @ inside, spaces, momentum_to_twist)

    def _carries_nothing(self, joint: Joint) -> bool:
        """Whether a moving joint has no inertia but that of its flexible child."""
        if not joint.moves:
            return False
        axis = axis_of(joint)
        at_root = (p for p in self.robot.payloads if p.link == joint.child and p.at is End.ROOT)
        inertias = (spatial_inertia(p.mass, p.center_of_mass, p.inertia) for p in at_root)
        return not any(axis @ inertia @ axis > 0.0 for inertia in inertias)

    def assembly(self) -> Assembly:
        moving = tuple(joint for joint in self.robot.chain_order if joint.moves)
        axes = np.zeros((self.unknowns, len(moving)))
        for column, joint in enumerate(moving):
            axes[self.bodies[joint.child].cut, column] = axis_of(joint)
        bodies, n = tuple(self.bodies.values()), self.unknowns
        no_weight = np.zeros((n, 3)), np.zeros(n)
        return Assembly(bodies, self.M, self.G, self.K, self.C, self.V, *no_weight, axes, moving)


def _coupling(strain: Floats) -> Floats:
    """(points, 6, 6) what strains (points, 6) make of twists: stretch and bend turn along."""
    table = np.zeros((len(strain), 6, 6))
    table[:, :3, :3] = table[:, 3:, 3:] = hat(strain[:, 3:])
    table[:, :3, 3:] = hat(strain[:, :3])
    return table
