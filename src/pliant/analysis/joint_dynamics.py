"""Dynamics of the joints of an arm whose links keep their rest shape.

    M(q) q'' + coriolis(q, q') + gravity(q) = torque

Every link is one rigid body with the inertia of its sections along the rest shape. Its Jacobian J and its
acceleration at q'' = 0 are carried from parent to child; then M = sum J^T I J, and the bias of a body of momentum
(p, l) and body twist (u, w) is J^T (I V' + (w x p, w x l + u x p)), the balance of a rigid body in its own axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InvalidInput, clip
from pliant.mechanics import rigid_body
from pliant.mechanics.rigid_body import hat, matrix_of, spatial_inertia
from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.robot import BASE, End, FlexibleLink, FreeJoint, Joint, ReducedLink, RigidLink, Robot, SphericalJoint
from pliant.spatial.arrays import rotation_from_vector

FREE_ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True, eq=False)
class JointDynamics:
    """M q'' + coriolis + gravity = torque at one position and rate, rows in the order of ``names``.

    ``names`` are the joint names of the model, then six rows for each free joint, "<joint>.vx" to ".vz" for the
    velocity of the link's root in the world and ".wx" to ".wz" for its spin in its own axes.
    """

    names: tuple[str, ...]
    mass: Array
    coriolis: Array
    gravity: Array

    @property
    def bias(self) -> Array:
        """What holds the joints at zero acceleration."""
        return self.coriolis + self.gravity

    def forward(self, torque: ArrayLike) -> Array:
        """Accelerations under the given torques."""
        unbalanced = self._row("torque", torque) - self.bias
        return np.asarray(np.linalg.solve(self.mass, unbalanced), np.float64)

    def inverse(self, acceleration: ArrayLike) -> Array:
        """Torques that give the accelerations."""
        return np.asarray(self.mass @ self._row("acceleration", acceleration) + self.bias)

    def _row(self, name: str, values: ArrayLike) -> Array:
        return checked_row(name, values, len(self.names), "numbers, one per name of these dynamics")


@dataclass(frozen=True, eq=False)
class _Frame:
    """A moving frame: pose, velocity, acceleration at q'' = 0 and their Jacobians, all in the world."""

    x: Array
    R: Array
    v: Array
    w: Array
    a: Array
    alpha: Array
    Jv: Array
    Jw: Array

    def shifted(self, r: Array) -> _Frame:
        """Fixed to the same body, its origin displaced by the world vector r."""
        a = self.a + np.cross(self.alpha, r) + np.cross(self.w, np.cross(self.w, r))
        return replace(self, x=self.x + r, v=self.v + np.cross(self.w, r), a=a, Jv=self.Jv - hat(r) @ self.Jw)

    def placed(self, position: ArrayLike, rotation: Array) -> _Frame:
        """Fixed to the same body, at a position and rotation in this frame."""
        return replace(self.shifted(self.R @ np.asarray(position, float)), R=self.R @ rotation)

    def slid(self, axis: Array, q: float, rate: float, row: int) -> _Frame:
        e = self.R @ axis
        moved = self.shifted(q * e)
        Jv = moved.Jv.copy()
        Jv[:, row] += e
        return replace(moved, v=moved.v + rate * e, a=moved.a + 2.0 * rate * np.cross(self.w, e), Jv=Jv)

    def turned(self, axis: Array, q: float, rate: float, row: int) -> _Frame:
        e = self.R @ axis
        Jw = self.Jw.copy()
        Jw[:, row] += e
        R = self.R @ rotation_from_vector(axis * q)
        return replace(self, R=R, w=self.w + rate * e, alpha=self.alpha + rate * np.cross(self.w, e), Jw=Jw)

    def spun(self, R: Array, spin: Array, first: int) -> _Frame:
        """Turned by R about the same point, with a spin in the new axes; three rows from ``first`` on."""
        R = self.R @ R
        Jw = self.Jw.copy()
        Jw[:, first : first + 3] += R
        return replace(self, R=R, w=self.w + R @ spin, alpha=self.alpha + np.cross(self.w, R @ spin), Jw=Jw)


@dataclass
class _Sums:
    """What the bodies add up to."""

    mass: Array
    coriolis: Array
    gravity: Array
    g: Array
    roots: dict[str, _Frame] = field(default_factory=dict)
    frames: dict[str, _Frame] = field(default_factory=dict)

    def add(self, at: _Frame, inertia: Array) -> None:
        """A body with an inertia about the origin and in the axes of a frame."""
        u, w = at.R.T @ at.v, at.R.T @ at.w
        J = np.vstack([at.R.T @ at.Jv, at.R.T @ at.Jw])
        change = np.concatenate([at.R.T @ at.a - np.cross(w, u), at.R.T @ at.alpha])
        p, l = np.split(inertia @ np.concatenate([u, w]), 2)
        self.mass += J.T @ inertia @ J
        turning = np.concatenate([np.cross(w, p), np.cross(w, l) + np.cross(u, p)])
        self.coriolis += J.T @ (inertia @ change + turning)
        self.gravity -= J.T @ (inertia[:, :3] @ (at.R.T @ self.g))


def joint_dynamics(model: Arm, position: ArrayLike | None = None, rate: ArrayLike | None = None) -> JointDynamics:
    """Mass matrix, Coriolis and gravity efforts of the joints of a model, with every link frozen in its rest shape.

    ``position`` and ``rate`` are in the order of ``model.joint_names``, by default those of the start. Free links
    are where their joints put them at the start. The three positions of a ball joint turn the child from its
    initial rotation about its own x, then y, then z; its three rates are the spin in the child's axes. Rigid links
    are exact; springs, damping, friction, motors and what is connected are left out.
    """
    robot = model.robot
    if robot.loops:
        raise InvalidInput(
            f"robot '{robot.name}' has the loop joint '{robot.loops[0].name}', and its joints are not independent;"
            " remove the loop joints to see the dynamics of the tree"
        )
    freedoms = [freedom for joint in robot.chain_order for freedom in joint.freedoms]
    begin = {each.name: (each.law.initial_position, each.law.initial_rate) for each in freedoms}
    names = model.joint_names
    of_model = "numbers, one per joint name of the model"
    at_start = [np.array([begin[name][k] for name in names]) for k in range(2)]
    q = at_start[0] if position is None else checked_row("position", position, len(names), of_model)
    qd = at_start[1] if rate is None else checked_row("rate", rate, len(names), of_model)
    free = [joint for joint in robot.joints if isinstance(joint, FreeJoint)]
    rows = (*names, *(f"{joint.name}.{word}" for joint in free for word in FREE_ROWS))
    n = len(rows)
    sums = _Sums(np.zeros((n, n)), np.zeros(n), np.zeros(n), np.asarray(robot.gravity, float))
    for joint in robot.chain_order:
        root = _root_of(joint, sums, robot, rows, (q, qd))
        link = robot.link(joint.child)
        inertia, tip_position, tip_rotation = rigid_form(robot, joint.child)
        sums.add(root, inertia)
        sums.roots[link.name] = root
        sums.frames[link.name] = root.placed(tip_position, tip_rotation)
    return JointDynamics(rows, sums.mass, sums.coriolis, sums.gravity)


def _root_of(joint: Joint, sums: _Sums, robot: Robot, rows: tuple[str, ...], motion: tuple[Array, Array]) -> _Frame:
    """The frame of the child's root."""
    n = len(rows)
    if joint.parent == BASE:
        zero, none = np.zeros(3), np.zeros((3, n))
        base = np.asarray(robot.base.position, float)
        at = _Frame(base, matrix_of(robot.base.rotation), zero, zero, zero, zero, none, none)
    else:
        at, parent = sums.frames[joint.parent], robot.link(joint.parent)
        if joint.station is not None:
            assert isinstance(parent, FlexibleLink)
            _, pose = rigid_body.along_rest_shape(parent, joint.station)
            at = sums.roots[joint.parent].placed(pose[:3, 3], pose[:3, :3])
    at = at.placed(joint.position, matrix_of(joint.rotation))
    if isinstance(joint, FreeJoint):
        at = at.placed(joint.initial_position, matrix_of(joint.initial_rotation))
        first = rows.index(f"{joint.name}.{FREE_ROWS[0]}")
        Jv, Jw = np.zeros((3, n)), np.zeros((3, n))
        Jv[:, first : first + 3], Jw[:, first + 3 : first + 6] = np.eye(3), at.R
        spin = at.R @ np.asarray(joint.initial_spin, float)
        return replace(at, v=np.asarray(joint.initial_velocity, float), w=spin, Jv=Jv, Jw=Jw)
    if isinstance(joint, SphericalJoint):
        first = rows.index(joint.coordinate_names[0])
        turn = matrix_of(joint.initial_rotation)
        for axis, angle in zip(np.eye(3), motion[0][first : first + 3]):
            turn = turn @ rotation_from_vector(axis * angle)
        return at.spun(turn, motion[1][first : first + 3], first)
    for freedom in joint.freedoms:
        row = rows.index(freedom.name)
        axis = np.asarray(freedom.axis, float) / np.linalg.norm(freedom.axis)
        move = at.slid if freedom.translates else at.turned
        at = move(axis, float(motion[0][row]), float(motion[1][row]), row)
    return at


def rigid_form(robot: Robot, name: str) -> tuple[Array, Array, Array]:
    """Inertia (6, 6) of a link and its payloads about the link's root, and position and rotation of its tip there."""
    link = robot.link(name)
    if isinstance(link, FlexibleLink):
        inertia, tip = rigid_body.along_rest_shape(link, link.length)
    else:
        link = link.undeformed if isinstance(link, ReducedLink) else link
        assert isinstance(link, RigidLink)
        inertia = spatial_inertia(link.mass, link.center_of_mass, link.inertia)
        tip = np.eye(4)
        tip[:3, :3], tip[:3, 3] = matrix_of(link.tip_rotation), link.tip_position
    for payload in robot.payloads:
        if payload.link == name:
            body = spatial_inertia(payload.mass, payload.center_of_mass, payload.inertia)
            pose = tip if payload.at is End.TIP else np.eye(4)
            inertia = inertia + rigid_body.transform_inertia(body, pose[:3, :3], pose[:3, 3])
    return inertia, tip[:3, 3], tip[:3, :3]


def checked_row(name: str, values: ArrayLike, count: int, wanted: str) -> Array:
    """One row of so many finite numbers."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name} = {clip(repr(values))} is no row of numbers; give {count} finite {wanted}"
        ) from None
    if array.shape != (count,) or not np.all(np.isfinite(array)):
        raise InvalidInput(f"{name} has shape {array.shape} or is not finite; give {count} finite {wanted}")
    return array
