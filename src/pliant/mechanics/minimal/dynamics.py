"""The equations of motion of a tree, from Python.

    M(q) a + h(q, v) + g(q) = tau

Arrays of coordinates have shape (n,). The answers are fresh arrays; the scratch memory belongs to the object, so
that each thread needs one of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.jit import kernel
from pliant.mechanics.minimal.articulated import forward_dynamics
from pliant.mechanics.minimal.composite import mass_matrix
from pliant.mechanics.minimal.derivatives import inverse_dynamics_derivatives
from pliant.mechanics.minimal.motion import (
    AXIS,
    MOTION_COLUMNS,
    POSE_R,
    POSE_X,
    WRENCH,
    angular,
    linear,
    moved,
    nine,
    put_three,
    six,
    three,
)
from pliant.mechanics.minimal.recursions import energies, inverse_dynamics, momentum, place
from pliant.mechanics.minimal.tree import PARENT, Bools, Floats, Tree
from pliant.spatial.vectors import Vector, apply, cross


def new_motion(n: int) -> Floats:
    """Scratch for the poses and motions of n bodies and the base."""
    return np.zeros((n + 1, MOTION_COLUMNS))


@kernel
def jacobian_at(tree: Tree, motion: Floats, body: int, point: Vector, columns: Floats) -> None:
    """Rows of ``columns`` (n, 6): velocity of a point of the body and spin at unit rate of each coordinate."""
    x = moved(three(motion, body + 1, POSE_X), 1.0, apply(nine(motion, body + 1, POSE_R), point))
    i = body
    while i >= 0:
        J = six(motion, i + 1, AXIS)
        put_three(columns, i, 0, moved(linear(J), 1.0, cross(angular(J), x)))
        put_three(columns, i, 3, angular(J))
        i = tree.joints[i, PARENT]


class TreeDynamics:
    """A tree with the memory to compute its equations of motion."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.size = tree, tree.size
        self._motion = new_motion(self.size)
        self._free: Bools = np.zeros(self.size, np.bool_)
        self._turning = np.zeros((self.size, 36))

    def poses(self, q: ArrayLike) -> tuple[Floats, Floats]:
        """Rotations (n, 3, 3) and positions (n, 3) of all bodies in the world."""
        place(self.tree, self._values(q), self._motion)
        rows = self._motion[1:]
        return rows[:, POSE_R : POSE_R + 9].reshape(self.size, 3, 3).copy(), rows[
            :, POSE_X : POSE_X + 3
        ].copy()

    def jacobian(self, q: ArrayLike, body: int, point: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
        """(6, n): velocity of a point given in the body's frame, and spin of the body, in world axes."""
        place(self.tree, self._values(q), self._motion)
        columns = np.zeros((self.size, 6))
        x, y, z = np.asarray(point, float).tolist()
        jacobian_at(self.tree, self._motion, body, (x, y, z), columns)
        return columns.T

    def mass_matrix(self, q: ArrayLike) -> Floats:
        M = np.empty((self.size, self.size))
        mass_matrix(self.tree, self._values(q), self._motion, M)
        return M

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """The torques that give the accelerations a."""
        tau = np.empty(self.size)
        inverse_dynamics(self.tree, self._values(q), self._values(v), self._values(a), self._motion, tau)
        return tau

    def wrenches(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """(n, 6): force and moment about the world's origin, in world axes, that each joint passes on to its body."""
        self.inverse_dynamics(q, v, a)
        return self._motion[1:, WRENCH : WRENCH + 6].copy()

    def bias(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """h + g."""
        return self.inverse_dynamics(q, v, np.zeros(self.size))

    def gravity(self, q: ArrayLike) -> Floats:
        """g, the torques that hold the arm still."""
        rest = np.zeros(self.size)
        return self.inverse_dynamics(q, rest, rest)

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """The accelerations under the torques tau; arguments are arrays of floats."""
        a = np.empty(self.size)
        if not forward_dynamics(self.tree, self._free, q, v, tau, self._motion, a):
            raise ValueError(
                "a coordinate moves without mass; give it a rotor or the bodies behind it a mass"
            )
        return a

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Floats, Floats]:
        """Derivatives (n, n) of the torques in the positions and in the velocities."""
        state = (self._values(q), self._values(v), self._values(a))
        n = self.size
        by_position, by_velocity = np.empty((n, n)), np.empty((n, n))
        inverse_dynamics_derivatives(
            self.tree, state, self._motion, self._turning, np.empty(n), by_position, by_velocity
        )
        return by_position, by_velocity

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """C with h = C v and dM/dt - 2 C skew."""
        return np.asarray(0.5 * self.inverse_dynamics_derivatives(q, v, np.zeros(self.size))[1])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
        """p = M v, and the derivative of the kinetic energy in q at constant v."""
        p, push = np.empty(self.size), np.empty(self.size)
        momentum(self.tree, self._values(q), self._values(v), self._motion, p, push)
        return p, push

    def energies(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic energy and potential of gravity, joule; the potential is zero at the world's origin."""
        kinetic, potential = energies(self.tree, self._values(q), self._values(v), self._motion)
        return kinetic, potential

    def _values(self, x: ArrayLike) -> Floats:
        values = np.ascontiguousarray(x, float)
        if values.shape != (self.size,):
            raise ValueError(f"an array of coordinates has shape {values.shape}; this arm has {self.size}")
        return values
