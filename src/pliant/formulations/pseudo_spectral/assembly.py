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
"""

from __future__ import annotations

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.pseudo_spectral import link as links
from pliant.mechanics.rigid_body import matrix_of, spatial_inertia
from pliant.mechanics.shape_functions import orthonormal_spaces, orthonormal_values
from pliant.robot import BASE, End, FlexibleLink, Joint, RevoluteJoint, RigidLink, Robot
from pliant.structures.linear.arrays import Assembly, Body, Floats, axis_of, placed, twist_map
from pliant.structures.linear.equations import twists_along


def assemble(robot: Robot, degree: int) -> Assembly:
    """The matrices of a robot in its initial posture."""
    builder = _Builder(robot, degree)
    for joint in robot.chain_order:
        builder.add(joint)
    return builder.assembly()


class _Builder:
    def __init__(self, robot: Robot, degree: int) -> None:
        self.robot, self.degree = robot, degree
        children = [robot.link(joint.child) for joint in robot.chain_order]
        self.strains = 6 * degree * sum(isinstance(link, FlexibleLink) for link in children)
        n = self.unknowns = self.strains + 6 * len(children)
        z = np.zeros
        self.M, self.V, self.heavy = z((n, n)), z((n, n)), z((n, 3))
        self.G, self.K, self.C = z((self.strains, n)), z((self.strains,) * 2), z((self.strains,) * 2)
        self.bodies: dict[str, Body] = {}
        self.tip_axes = {BASE: matrix_of(robot.base.rotation)}
        self.next_row = 0

    def add(self, joint: Joint) -> None:
        """The child of a joint, with its payloads."""
        R, r = placed(joint)
        axes = self.tip_axes[joint.parent] @ R
        self._refuse_turning_gravity(joint, axes)
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
            body = self._flexible(link, cut, root, axes, self._carries_nothing(joint))
            tip_axes = axes
        else:
            assert isinstance(link, RigidLink)
            turn = matrix_of(link.tip_rotation)
            tip = twist_map(turn, np.asarray(link.tip_position, float)) @ root
            body = Body(link.name, slice(0, 0), cut, root, tip, None, np.zeros((0, 0)))
            tip_axes = axes @ turn
            self._rigid(root, spatial_inertia(link.mass, link.center_of_mass, link.inertia), axes)
        self.bodies[link.name], self.tip_axes[link.name] = body, tip_axes
        for payload in self.robot.payloads:
            if payload.link == link.name:
                inertia = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
                end = (body.tip, tip_axes) if payload.at is End.TIP else (root, axes)
                self._rigid(end[0], inertia, end[1])

    def _rigid(self, twist: Floats, inertia: Floats, axes: Floats) -> None:
        self.M += twist.T @ inertia @ twist
        self.heavy += twist.T @ inertia @ falling(axes)

    def _flexible(self, link: FlexibleLink, cut: slice, root: Floats, axes: Floats, alone: bool) -> Body:
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
        self.G[rows] = strain_rate @ inside
        self.M[rows, rows] += np.linalg.inv(momentum_to_twist)
        self.K[rows, rows] = links.section_integral(states, weights, link.stiffness(at))
        self.C[rows, rows] = links.section_integral(states, weights, link.material_damping(at))
        self.V[rows, rows] += links.section_integral(states, weights, link.viscous_damping_matrix(at))
        pull = np.einsum("q,qk,qab,bc->kac", weights, states, inertia, falling(axes))
        self.heavy[rows] += pull.reshape(size, 3)
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

    def _refuse_turning_gravity(self, joint: Joint, axes: Floats) -> None:
        """Gravity must look the same from a link in all positions of its joints."""
        if not isinstance(joint, RevoluteJoint):
            return
        gravity = np.asarray(self.robot.gravity, float)
        across = np.cross(axes @ axis_of(joint)[3:], gravity)
        if np.linalg.norm(across) > 1e-9 * np.linalg.norm(gravity):
            raise InvalidInput(
                f"gravity = {self.robot.gravity} m/s^2 is not along the axis of joint '{joint.name}', so that its"
                " force on the links would rotate with the joint, which is not linear; set it to zero or along the"
                " axis, or use GeometricallyExact"
            )

    def assembly(self) -> Assembly:
        moving = tuple(joint for joint in self.robot.chain_order if joint.moves)
        axes = np.zeros((self.unknowns, len(moving)))
        for column, joint in enumerate(moving):
            axes[self.bodies[joint.child].cut, column] = axis_of(joint)
        weight = self.heavy @ np.asarray(self.robot.gravity, float)
        bodies = tuple(self.bodies.values())
        return Assembly(bodies, self.M, self.G, self.K, self.C, self.V, self.heavy, weight, axes, moving)


def falling(axes: Floats) -> Floats:
    """(6, 3) the twist rate, in the given axes, per acceleration in the world."""
    return np.concatenate([axes.T, np.zeros((3, 3))])
