"""The matrices of linearised motion in fixed geometry, and the bodies whose unknowns they act on.

The equations of a run in the coordinates in which the energy is a sum of squares.

Let v be the velocities: coefficients of the links, rates of the joints, rates of the rotors behind elastic gears.
Those of prescribed joints are given as r, and v = T z + P r with T^T M T = 1 and T^T M P = 0, strains e = X s with
X^T K X = 1. A singular value decomposition of X^T K G T then leaves

    z' = -Sigma^T s - T^T (damping v + feedback) + T^T f ,       s' = Sigma z + X^T K G P r ,

energy |z|^2 / 2 + |s|^2 / 2 + r^T (P^T M P) r / 2, with Sigma diagonal: the undamped frequencies in rad/s. Velocities
beyond the number of strains are the rigid motions: their columns of Sigma are zero because there are no rows left,
so that a free joint has its pole at zero exactly and not within round-off. Motions that do not touch each other,
such as the two planes of bending, torsion and extension of a symmetric section, are decomposed apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.mechanics.rigid_body import hat, matrix_of
from pliant.mechanics.shape_functions import Spaces
from pliant.model.inputs import Inputs
from pliant.model.linear.port import block_diagonal
from pliant.robot import Joint
from pliant.structures.linear.gravity import Sag

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Body:
    """One link: where its unknowns stand, and the twists of its ends as matrices over all unknowns.

    The coefficients of a flexible link stand at ``rows`` among the velocities and among the strains;
    ``momentum_to_twist`` takes its momenta to the coefficients of its projected twist. A rigid link has no rows.
    """

    name: str
    rows: slice
    cut: slice
    root: Floats
    tip: Floats
    spaces: Spaces | None
    momentum_to_twist: Floats

    @property
    def length(self) -> float:
        """Of a flexible link, m: the constant among its polynomials is one over the root of it."""
        assert self.spaces is not None
        return float(self.spaces.w_L[0] ** -2)


@dataclass(frozen=True, eq=False)
class Assembly:
    """Kinetic energy u^T M u / 2, strain rates e' = G u, stress K e + C e', viscous forces -V u, gravity's ``weight``.

    The strains are as many as the coefficients of flexible links, which are the first of the unknowns. ``heavy`` are
    the forces per acceleration of gravity in the world. With gravity all of this is linear about the ``sag`` of the
    links, and the forces of gravity change by ``weight_change`` with strains and joint positions from there.
    """

    bodies: tuple[Body, ...]
    M: Floats
    G: Floats
    K: Floats
    C: Floats
    V: Floats
    heavy: Floats  # (unknowns, 3)
    weight: Floats
    joint_axes: Floats  # (unknowns, joints)
    joints: tuple[Joint, ...]
    sag: Sag | None = None
    weight_change: Floats | None = None  # (unknowns, strains + joints)

    @property
    def gravity_change(self) -> Floats:
        """Of forces over all unknowns per change of strains and joint positions, zero without gravity."""
        if self.weight_change is None:
            return np.zeros((len(self.M), len(self.G) + len(self.joints)))
        return self.weight_change

    def body(self, name: str) -> Body:
        return next(body for body in self.bodies if body.name == name)


def axis_of(joint: Joint) -> Floats:
    """The twist of the child per rate of a moving joint, in the axes of the child."""
    freedom = joint.freedoms[0]
    axis = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
    return np.concatenate([axis, np.zeros(3)] if freedom.translates else [np.zeros(3), axis])


def placed(joint: Joint, position: float | None = None) -> tuple[Floats, Floats]:
    """Rotation and origin of the child's root in the tip frame of the parent; by default at the start."""
    R, r = matrix_of(joint.rotation), np.asarray(joint.position, float)
    if not joint.moves:
        return R, r
    q = joint.freedoms[0].law.initial_position if position is None else position
    axis = axis_of(joint)
    half = np.append(np.cos(0.5 * q), np.sin(0.5 * q) * axis[3:])
    turn = matrix_of(half) if axis[3:].any() else np.eye(3)
    return R @ turn, r + R @ (q * axis[:3])


def twist_map(R: Floats, r: Floats) -> Floats:
    """From the twist of a frame to that of another one on the same body, with pose (R, r) in the first."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = R.T
    matrix[:3, 3:] = -R.T @ hat(r)
    return matrix


Ints = NDArray[np.int64]
ROUND_OFF = 1e-13  # of two unknowns' own inertia or stiffness: below, turned frames did not cancel exactly


@dataclass(frozen=True, eq=False)
class Mechanics:
    """Matrices over the velocities v, with what is connected to the joints.

    ``lumped`` strains, of gears and joint springs, follow those of the links: they are ``span`` times the positions
    of joints and rotors, less ``rest``. ``drive`` names the place in these positions on which each joint's drive acts.
    """

    M: Floats
    G: Floats
    K: Floats
    material_loss: Floats  # rows over strain rates; the power lost is the sum of their squares
    gear_loss: Floats  # the same
    viscous_loss: Floats  # rows over v
    joint_loss: Floats
    to_links: Floats  # (unknowns of the assembly, v)
    span: Floats  # (lumped strains, positions)
    rest: Floats
    drive: Ints
    stiffness: Floats  # of the feedback, per joint
    damping: Floats
    prescribed: NDArray[np.bool_]  # per joint
    geared: Ints  # the joints behind elastic gears, in the order of the rotors
    gravity: Floats  # stiffness over displacements of v

    @cached_property
    def resistance(self) -> Floats:
        """Force per velocity of everything that dissipates, but for feedback."""
        strained = np.vstack([self.material_loss, self.gear_loss]) @ self.G
        losses = np.vstack([strained, self.viscous_loss, self.joint_loss])
        return losses.T @ losses

    @cached_property
    def held(self) -> Floats:
        """Stiffness of the feedback on each position."""
        held = np.zeros(self.positions)
        held[self.drive] = np.where(self.prescribed, 0.0, self.stiffness)
        return held

    @property
    def coefficients(self) -> int:
        return len(self.M) - self.positions

    @property
    def positions(self) -> int:
        """How many positions there are: of all joints, then of the rotors."""
        return len(self.drive) + len(self.geared)


def mechanics(arm: Assembly, inputs: Inputs) -> Mechanics:
    """The arm with its motors, joint springs and feedback."""
    joints, n = len(arm.joints), len(arm.G)
    motors = {motor.joint: motor for motor in inputs.motors}
    names = [joint.name for joint in arm.joints]
    elastic = [motor for name in names if (motor := motors.get(name)) and motor.stiffness > 0.0]
    geared = np.array([names.index(motor.joint) for motor in elastic], dtype=np.int64)
    size = n + joints + len(elastic)
    to_links = np.zeros((len(arm.M), size))
    to_links[:n, :n] = np.eye(n)
    to_links[:, n : n + joints] = arm.joint_axes
    M = to_links.T @ arm.M @ to_links
    for motor in inputs.motors:
        if motor.torque_limit < np.inf:
            raise InvalidInput(
                f"the motor of joint '{motor.joint}' has torque_limit = {motor.torque_limit:g} N m at the joint, which"
                " is not linear; remove it, or use PoseElement"
            )
        if motor.stiffness <= 0.0:
            at = n + names.index(motor.joint)
            M[at, at] += motor.rotor_inertia
    positions = joints + len(elastic)
    losses, gear_losses = [], []
    rows, rest, stiffness = [], [], []
    for k, joint in enumerate(arm.joints):
        law = joint.freedoms[0].law
        losses.append(np.sqrt(law.damping) * np.eye(size)[n + k])
        if law.spring is not None:
            rows.append(np.eye(positions)[k])
            rest.append(law.spring.rest_position)
            stiffness.append(law.spring.stiffness)
    for k, motor in enumerate(elastic):
        rotor = joints + k
        M[n + rotor, n + rotor] += motor.rotor_inertia
        rows.append(np.eye(positions)[rotor] - np.eye(positions)[geared[k]])
        rest.append(0.0)
        stiffness.append(motor.stiffness)
        gear_losses.append(np.sqrt(motor.damping) * np.eye(size)[n + len(rows) - 1])
    span = np.array(rows).reshape(len(rows), positions)
    gravity = np.zeros((size, size))
    if arm.sag is not None:
        moved = np.vstack([arm.G @ to_links, np.eye(size)[n : n + joints]])
        gravity = moved.T @ arm.sag.stiffness @ moved
    strains = n + len(rows)
    drive = np.arange(joints)
    drive[geared] = joints + np.arange(len(elastic))
    return Mechanics(
        M=M,
        G=np.vstack([arm.G @ to_links, np.hstack([np.zeros((len(rows), n)), span])]),
        K=block_diagonal(arm.K, np.diag(np.array(stiffness, dtype=float))),
        material_loss=root_of(arm.C) @ np.eye(n, strains),
        gear_loss=_rows([row[:strains] for row in gear_losses], strains),
        viscous_loss=root_of(arm.V) @ to_links,
        joint_loss=_rows(losses, size),
        to_links=to_links,
        span=span,
        rest=np.array(rest, dtype=float),
        drive=drive,
        stiffness=np.array(inputs.stiffness, dtype=float),
        damping=np.array(inputs.damping, dtype=float),
        prescribed=np.array(inputs.prescribed, dtype=np.bool_),
        geared=geared,
        gravity=gravity,
    )


@dataclass(frozen=True, eq=False)
class NormalForm:
    """v = T z + P r, e = X s, and Sigma; ``groups`` number the motions that do not touch each other."""

    mechanics: Mechanics
    T: Floats
    P: Floats
    X: Floats
    Sigma: Floats
    z_group: Ints
    s_group: Ints

    @cached_property
    def prescribed_inertia(self) -> Floats:
        return np.asarray(self.P.T @ self.mechanics.M @ self.P)

    @cached_property
    def strain_rates(self) -> Floats:
        """G T, as X Sigma: without a trace of round-off where motions are rigid."""
        return np.asarray(self.X @ self.Sigma)


def normal_form(own: Mechanics) -> NormalForm:
    """Split v and e so that the energy is a sum of squares and the coupling of the two diagonal."""
    n, size = own.coefficients, len(own.M)
    given = n + np.flatnonzero(own.prescribed)
    free = np.setdiff1d(np.arange(size), given)
    M = _without_round_off(own.M)[np.ix_(free, free)]
    G, K = own.G[:, free], _without_round_off(own.K)
    P = np.zeros((size, len(given)))
    P[given, np.arange(len(given))] = 1.0
    P[free] = -np.linalg.solve(M, own.M[np.ix_(free, given)])
    motion, strain = _groups(M, G, K, own.resistance[np.ix_(free, free)], own.gravity[np.ix_(free, free)])
    T, X = np.zeros((size, len(free))), np.zeros((len(K), len(K)))
    Sigma = np.zeros((len(K), len(free)))
    z_group, s_group = np.zeros(len(free), np.int64), np.zeros(len(K), np.int64)
    z_at = s_at = 0
    for group in range(max(motion.max(initial=-1), strain.max(initial=-1)) + 1):
        moving, strained = np.flatnonzero(motion == group), np.flatnonzero(strain == group)
        T_own, X_own, values = _decompose(
            M[np.ix_(moving, moving)], G[np.ix_(strained, moving)], K[np.ix_(strained, strained)], moving
        )
        z, s = slice(z_at, z_at + len(moving)), slice(s_at, s_at + len(strained))
        T[free[moving], z], X[strained, s] = T_own, X_own
        Sigma[np.arange(len(values)) + s_at, np.arange(len(values)) + z_at] = values
        z_group[z], s_group[s] = group, group
        z_at, s_at = z.stop, s.stop
    return NormalForm(own, T, P, X, Sigma, z_group, s_group)


def _decompose(M: Floats, G: Floats, K: Floats, moving: Ints) -> tuple[Floats, Floats, Floats]:
    from scipy.linalg import solve_triangular

    try:
        root_M, root_K = np.linalg.cholesky(M), np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        raise InvalidInput("a joint moves no inertia; give a mass or an inertia to the part that it carries") from None
    scaled = solve_triangular(root_M, (root_K.T @ G).T, lower=True).T if len(moving) else root_K.T @ G
    left, values, right = np.linalg.svd(scaled)
    X = solve_triangular(root_K, left, lower=True, trans="T") if len(K) else left
    T = solve_triangular(root_M, right.T, lower=True, trans="T") if len(moving) else right.T
    return T, X, values


def _groups(M: Floats, G: Floats, K: Floats, damping: Floats, gravity: Floats) -> tuple[Ints, Ints]:
    """Numbers of the groups of velocities and of strains that act on each other, directly or not."""
    from scipy.sparse.csgraph import connected_components

    inertia, stiffness = np.sqrt(M.diagonal()), np.sqrt(K.diagonal())
    coupling = np.abs(G) * np.outer(stiffness, 1.0 / inertia)
    touching = coupling > ROUND_OFF * coupling.max(initial=0.0)
    losses = np.abs(damping) > ROUND_OFF * np.abs(damping).max(initial=0.0)
    falls = np.abs(gravity) / np.outer(inertia, inertia)
    pulled = falls > ROUND_OFF * np.square(coupling.max(initial=0.0))
    graph = np.block([[(M != 0.0) | losses | pulled, touching.T], [touching, K != 0.0]])
    _, labels = connected_components(graph, directed=False)
    return labels[: len(M)].astype(np.int64), labels[len(M) :].astype(np.int64)


def _without_round_off(matrix: Floats) -> Floats:
    own = np.sqrt(np.abs(matrix.diagonal()))
    return np.where(np.abs(matrix) > ROUND_OFF * np.outer(own, own), matrix, 0.0)


def root_of(matrix: Floats) -> Floats:
    """F with F^T F = matrix, which is positive semidefinite; no row where it is zero."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > ROUND_OFF * values.max(initial=0.0)
    return np.asarray(np.sqrt(values[kept])[:, None] * vectors[:, kept].T)


def _rows(rows: list[Floats], width: int) -> Floats:
    """Those that are not zero, one above the other."""
    kept = [row for row in rows if row.any()]
    return np.array(kept, dtype=float).reshape(len(kept), width)
