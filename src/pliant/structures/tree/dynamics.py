"""Forward dynamics by articulated inertias, at a cost linear in the bodies [featherstone2008].

The wrench that makes the part of the tree behind coordinate i accelerate by A is  P_i A + b_i  once the coordinates
behind have found their own accelerations. Passing coordinate i itself with its torque,

    U = P J ,   D = J . U + rotor ,   u = tau - J . b ,
    P_parent += P - U U^T / D ,    b_parent += b + (P - U U^T / D) c + U u / D ,    c = (V_parent x J) v ,

and on the way back  a_i = (u - U . (A_parent + c)) / D .  A coordinate with a given acceleration passes P whole.

Derivatives of inverse dynamics in position and velocity, at a cost of bodies times depth.

Turning coordinate j carries all that is behind it along, but for the motion V and A of its parent, which does
not turn with it. In the frame that is carried along, twists behind j change by  x_j = V x J_j  and accelerations by
A x J_j + x_j x (V_k - V), and the wrench of body k by  I_k dA + B_k x_j  with

    B_k s = s x* h_k + V_k x* (I_k s) - I_k (V_k x s) ,       h_k = I_k V_k .

With composite I_i, B_i and F_i, and y_j = A x J_j - x_j x V  (V, A of the parent of j; A holds minus gravity),

    dtau_i/dq_j = J_i . (I_i y_j + B_i x_j)                   for j on the way from i to the base, i included ,
    dtau_i/dq_j = J_i . (J_j x* F_j + I_j y_j + B_j x_j)      for i on the way from j to the base ,
    dtau_i/dv_j = J_i . (2 I x_j + B J_j)                     with I, B of the outer one of i and j .

h is quadratic in v, so that  C = (dtau/dv) / 2  gives  h = C v;  its entries are Christoffel's symbols times v, and
dM/dt - 2 C  is skew. Our own derivation; the matrix B/2 is the Coriolis matrix of one body as in [echeandia2021].

The equations of motion of a tree, from Python.

    M(q) a + h(q, v) + g(q) = tau

Arrays of coordinates have shape (n,). The answers are fresh arrays; the scratch memory belongs to the object, so
that each thread needs one of its own.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.jit import inline_kernel, kernel
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, plus6, scale6, store
from pliant.spatial.se3 import Twist, ad, angular, carried_wrench, linear
from pliant.spatial.vectors import Vector, add, apply, cross
from pliant.structures.tree import columns as at
from pliant.structures.tree import recursions
from pliant.structures.tree.motion import EMPTY, Bools, Floats, Ints, Tree, move_body, pose_of
from pliant.structures.tree.recursions import Ten
from pliant.structures.tree.shapes import Shapes

TRIANGLE = 21
BIAS = at.MOMENTUM  # the columns of momenta hold the bias accelerations c here


@inline_kernel
def put_triangle(a: Floats, row: int, I: Ten) -> None:
    """The upper triangle of an inertia as a 6 x 6 matrix, row by row."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    upper = (m, 0.0, 0.0, 0.0, z, -y, m, 0.0, -z, 0.0, x, m, y, -x, 0.0)
    store(upper, a, row, at.ARTICULATED)
    store((I[4], I[7], I[8], I[5], I[9], I[6]), a, row, at.ARTICULATED + len(upper))


@inline_kernel
def times_triangle(a: Floats, row: int, x: Twist) -> Twist:
    """A symmetric matrix, kept as its upper triangle, times x."""
    o = at.ARTICULATED
    p01, p02, p03, p04, p05 = a[row, o + 1], a[row, o + 2], a[row, o + 3], a[row, o + 4], a[row, o + 5]
    p12, p13, p14, p15 = a[row, o + 7], a[row, o + 8], a[row, o + 9], a[row, o + 10]
    p23, p24, p25 = a[row, o + 12], a[row, o + 13], a[row, o + 14]
    p34, p35, p45 = a[row, o + 16], a[row, o + 17], a[row, o + 19]
    return (
        a[row, o] * x[0] + p01 * x[1] + p02 * x[2] + p03 * x[3] + p04 * x[4] + p05 * x[5],
        p01 * x[0] + a[row, o + 6] * x[1] + p12 * x[2] + p13 * x[3] + p14 * x[4] + p15 * x[5],
        p02 * x[0] + p12 * x[1] + a[row, o + 11] * x[2] + p23 * x[3] + p24 * x[4] + p25 * x[5],
        p03 * x[0] + p13 * x[1] + p23 * x[2] + a[row, o + 15] * x[3] + p34 * x[4] + p35 * x[5],
        p04 * x[0] + p14 * x[1] + p24 * x[2] + p34 * x[3] + a[row, o + 18] * x[4] + p45 * x[5],
        p05 * x[0] + p15 * x[1] + p25 * x[2] + p35 * x[3] + p45 * x[4] + a[row, o + 20] * x[5],
    )


@inline_kernel
def start_articulated(tree: Tree, i: int, v: float, motion: Floats) -> None:
    """Own inertia and bias of body i, whose twist stands."""
    own, p = i + 1, tree.joints[i, at.PARENT] + 1
    J = load6(motion, own, at.AXIS)
    C = ad(load6(motion, p, at.TWIST), J)
    store(scale6(v, C), motion, own, BIAS)
    put_triangle(motion, own, recursions.inertia_of(tree, i, motion))
    if tree.joints[i, at.BODY] == at.NOTHING:
        store(EMPTY, motion, own, at.WRENCH)
    else:
        pose, V = pose_of(motion, i), load6(motion, own, at.TWIST)
        store(recursions.own_wrench(tree, i, pose, V, EMPTY), motion, own, at.WRENCH)


@inline_kernel
def pass_coordinate(tree: Tree, i: int, tau: float, motion: Floats) -> bool:
    """Add body i with its free coordinate to its parent; False if nothing resists the coordinate."""
    own, p = i + 1, tree.joints[i, at.PARENT] + 1
    J, b = load6(motion, own, at.AXIS), load6(motion, own, at.WRENCH)
    U = times_triangle(motion, own, J)
    D = dot6(J, U) + tree.facts[i, at.ROTOR]
    if not D > 0.0:  # also true for NaN
        return False
    u, inverse = tau - dot6(J, b), 1.0 / D
    store(U, motion, own, at.LEVER)
    motion[own, at.PIVOT] = inverse
    motion[own, at.PIVOT + 1] = u
    if p > 0:
        k = at.ARTICULATED
        for row in range(6):
            factor = U[row] * inverse
            for column in range(row, 6):
                motion[own, k] -= factor * U[column]
                motion[p, k] += motion[own, k]
                k += 1
        c = load6(motion, own, BIAS)
        add_to(1.0, plus6(plus6(b, u * inverse, U), 1.0, times_triangle(motion, own, c)), motion, p, at.WRENCH)
    return True


@inline_kernel
def pass_prescribed(tree: Tree, i: int, a: float, motion: Floats) -> None:
    """Add body i, whose coordinate has the acceleration a, to its parent."""
    own, p = i + 1, tree.joints[i, at.PARENT] + 1
    if p > 0:
        for k in range(at.ARTICULATED, at.ARTICULATED + TRIANGLE):
            motion[p, k] += motion[own, k]
        c = plus6(load6(motion, own, BIAS), a, load6(motion, own, at.AXIS))
        add_to(1.0, plus6(load6(motion, own, at.WRENCH), 1.0, times_triangle(motion, own, c)), motion, p, at.WRENCH)


@inline_kernel
def placed_dynamics(tree: Tree, prescribed: Bools, v: Floats, tau: Floats, motion: Floats, a: Floats) -> bool:
    """`forward_dynamics` from poses that stand."""
    n = v.shape[0]
    for i in range(n):
        move_body(tree, i, v[i], load6(motion, i + 1, at.AXIS), motion)
        start_articulated(tree, i, v[i], motion)
    for i in range(n - 1, -1, -1):
        if prescribed[i]:
            pass_prescribed(tree, i, a[i], motion)
        elif not pass_coordinate(tree, i, tau[i], motion):
            return False
    for i in range(n):
        own, p = i + 1, tree.joints[i, at.PARENT] + 1
        A = plus6(load6(motion, p, at.ACCELERATION), 1.0, load6(motion, own, BIAS))
        if not prescribed[i]:
            u = motion[own, at.PIVOT + 1] - dot6(load6(motion, own, at.LEVER), A)
            a[i] = u * motion[own, at.PIVOT]
        store(plus6(A, a[i], load6(motion, own, at.AXIS)), motion, own, at.ACCELERATION)
    return True


@kernel
def forward_dynamics(
    tree: Tree, prescribed: Bools, q: Floats, v: Floats, tau: Floats, motion: Floats, a: Floats
) -> bool:
    """a = M^-1 (tau - h - g); False where no mass resists.

    The accelerations of prescribed coordinates are taken from ``a``, and their torques are not read.
    """
    recursions.place(tree, q, motion)
    return placed_dynamics(tree, prescribed, v, tau, motion, a)


@inline_kernel
def unit(k: int) -> Twist:
    return (1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2), 1.0 * (k == 3), 1.0 * (k == 4), 1.0 * (k == 5))


@inline_kernel
def times_matrix(B: Floats, i: int, x: Twist) -> Twist:
    """B[i] x of a 6 x 6 matrix kept by columns."""
    y = EMPTY
    for k in range(6):
        y = plus6(y, x[k], load6(B, i, 6 * k))
    return y


@inline_kernel
def times_transposed(B: Floats, i: int, x: Twist) -> Twist:
    a, b, c = dot6(load6(B, i), x), dot6(load6(B, i, 6), x), dot6(load6(B, i, 12), x)
    return (a, b, c, dot6(load6(B, i, 18), x), dot6(load6(B, i, 24), x), dot6(load6(B, i, 30), x))


@inline_kernel
def gather_turning(tree: Tree, n: int, motion: Floats, B: Floats) -> None:
    """Composite B of all bodies, by columns."""
    for i in range(n):
        I, V = recursions.inertia_of(tree, i, motion), load6(motion, i + 1, at.TWIST)
        h = recursions.momentum_at(I, V)
        for k in range(6):
            s = unit(k)
            column = plus6(carried_wrench(s, h), 1.0, carried_wrench(V, recursions.momentum_at(I, s)))
            column = plus6(column, -1.0, recursions.momentum_at(I, ad(V, s)))
            store(column, B, i, 6 * k)
    for i in range(n - 1, -1, -1):
        p = tree.joints[i, at.PARENT]
        if p >= 0:
            for k in range(36):
                B[p, k] += B[i, k]


@kernel
def inverse_dynamics_derivatives(
    tree: Tree,
    state: tuple[Floats, Floats, Floats],
    scratch: tuple[Floats, Floats, Floats],
    slopes: tuple[Floats, Floats],
) -> None:
    """Slopes of tau in q and v at (q, v, a); scratch are motion, (n, 36) and (n,)."""
    motion, B, tau = scratch
    by_position, by_velocity = slopes
    n = tau.shape[0]
    recursions.inverse_dynamics(tree, state[0], state[1], state[2], motion, tau)
    recursions.gather_inertias(tree, n, motion)
    gather_turning(tree, n, motion, B)
    by_position[:] = 0.0
    by_velocity[:] = 0.0
    for j in range(n):
        p = tree.joints[j, at.PARENT] + 1
        J, V, A = load6(motion, j + 1, at.AXIS), load6(motion, p, at.TWIST), load6(motion, p, at.ACCELERATION)
        x = ad(V, J)
        y = plus6(ad(A, J), -1.0, ad(x, V))
        I = recursions.ten(motion, j + 1, at.COMPOSITE)
        Ix, Iy = recursions.momentum_at(I, x), recursions.momentum_at(I, y)
        # this coordinate turns: the torques on the way to the base
        carried = plus6(Iy, 1.0, times_matrix(B, j, x))
        thrown = plus6(times_matrix(B, j, J), 2.0, Ix)
        by_position[j, j] = dot6(J, carried)
        by_velocity[j, j] = dot6(J, thrown)
        carried = plus6(carried, 1.0, carried_wrench(J, load6(motion, j + 1, at.WRENCH)))
        # coordinates on the way to the base turn: the torque of this one
        IJ, BJ = recursions.momentum_at(I, J), times_transposed(B, j, J)
        i = tree.joints[j, at.PARENT]
        while i >= 0:
            Ji, q = load6(motion, i + 1, at.AXIS), tree.joints[i, at.PARENT] + 1
            by_position[i, j] = dot6(Ji, carried)
            by_velocity[i, j] = dot6(Ji, thrown)
            Vi, Ai = load6(motion, q, at.TWIST), load6(motion, q, at.ACCELERATION)
            xi = ad(Vi, Ji)
            yi = plus6(ad(Ai, Ji), -1.0, ad(xi, Vi))
            by_position[j, i] = dot6(IJ, yi) + dot6(BJ, xi)
            by_velocity[j, i] = 2.0 * dot6(IJ, xi) + dot6(BJ, Ji)
            i = tree.joints[i, at.PARENT]


@kernel
def jacobian_at(tree: Tree, motion: Floats, body: int, point: Vector, columns: Floats) -> None:
    """Rows of ``columns`` (n, 6): velocity of a point of the body and spin at unit rate of each coordinate."""
    x = add(load3(motion, body + 1, at.POSE_X), apply(load9(motion, body + 1, at.POSE_R), point))
    i = body
    while i >= 0:
        J = load6(motion, i + 1, at.AXIS)
        store(add(linear(J), cross(angular(J), x)), columns, i)
        store(angular(J), columns, i, 3)
        i = tree.joints[i, at.PARENT]


class TreeDynamics:
    """The equations of motion of a tree, from Python. Every call has memory of its own: threads may share a tree.

    Coordinates that move several joints need their ``shapes``; what is about bodies has one row for each joint.
    """

    def __init__(self, tree: Tree, shapes: Shapes | None = None) -> None:
        self.tree, self.shapes = tree, shapes if shapes is not None and len(shapes.S) else None
        self.size = tree.size if self.shapes is None else self.shapes.S.shape[1]
        self._free: Bools = np.zeros(self.size, np.bool_)

    def placed(self, q: ArrayLike) -> Floats:
        """Poses and Jacobian columns of the base and all bodies, (n + 1, columns)."""
        motion = self._motion()
        recursions.place(self.tree, self._joints(q), motion)
        return motion

    def seen(self, q: Floats, bodies: Ints) -> Floats:
        """Poses and Jacobian columns (states, bodies, 18) at many states (states, n); body -1 is the base."""
        joints = q if self.shapes is None else q @ self.shapes.S.T
        seen = np.empty((len(q), len(bodies), at.TWIST))
        recursions.place_states(self.tree, np.ascontiguousarray(joints), bodies + 1, self._motion(), seen)
        return seen

    def poses(self, q: ArrayLike) -> tuple[Floats, Floats]:
        """Rotations (n, 3, 3) and positions (n, 3) of all bodies in the world."""
        rows = self.placed(q)[1:]
        R = rows[:, at.POSE_R : at.POSE_R + 9].reshape(len(rows), 3, 3)
        return R, rows[:, at.POSE_X : at.POSE_X + 3].copy()

    def jacobian(self, q: ArrayLike, body: int, point: ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
        """(6, n): velocity of a point given in the body's frame, and spin of the body, in world axes."""
        columns = np.zeros((self.tree.size, 6))
        x, y, z = np.asarray(point, float).tolist()
        jacobian_at(self.tree, self.placed(q), body, (x, y, z), columns)
        return self._gathered(columns).T

    def mass_matrix(self, q: ArrayLike) -> Floats:
        M = np.empty((self.tree.size, self.tree.size))
        recursions.mass_matrix(self.tree, self._joints(q), self._motion(), M)
        return M if self.shapes is None else self._square(M) + self.shapes.m

    def moved(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Floats, Floats]:
        """The torques (n,) that give the accelerations a, and the motion of the base and all bodies."""
        tau, motion = np.empty(self.tree.size), self._motion()
        recursions.inverse_dynamics(self.tree, self._joints(q), self._joints(v), self._joints(a), motion, tau)
        return self._gathered(tau) + self._more(a), motion

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """The torques that give the accelerations a."""
        return self.moved(q, v, a)[0]

    def wrenches(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """(n, 6): force and moment about the world's origin, in world axes, that each joint passes on to its body."""
        return self.moved(q, v, a)[1][1:, at.WRENCH : at.WRENCH + 6]

    def bias(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """h + g."""
        return self.inverse_dynamics(q, v, np.zeros(self.size))

    def gravity(self, q: ArrayLike) -> Floats:
        """g, the torques that hold the arm still."""
        return self.bias(q, np.zeros(self.size))

    def forward_dynamics(self, q: Floats, v: Floats, tau: Floats) -> Floats:
        """The accelerations under the torques tau; arguments are arrays of floats."""
        a = np.empty(self.size)
        if self.shapes is not None:
            return np.asarray(np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, v)), float)
        if not forward_dynamics(self.tree, self._free, q, v, tau, self._motion(), a):
            raise ValueError("a coordinate moves without mass; give it a rotor or the bodies behind it a mass")
        return a

    def inverse_dynamics_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Floats, Floats]:
        """Derivatives (n, n) of the torques in the positions and in the velocities."""
        state = (self._joints(q), self._joints(v), self._joints(a))
        n = self.tree.size
        slopes = np.empty((n, n)), np.empty((n, n))
        inverse_dynamics_derivatives(self.tree, state, (self._motion(), np.zeros((n, 36)), np.empty(n)), slopes)
        return self._square(slopes[0]), self._square(slopes[1])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> tuple[Floats, Floats]:
        """p = M v, and the derivative of the kinetic energy in q at constant v."""
        p, push = np.empty(self.tree.size), np.empty(self.tree.size)
        recursions.momentum(self.tree, self._joints(q), self._joints(v), self._motion(), p, push)
        return self._gathered(p) + self._more(v), self._gathered(push)

    def energies(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic energy and potential of gravity, joule; the potential is zero at the world's origin."""
        turn = np.empty((self.tree.size, 2))
        kinetic, potential = recursions.energies(self.tree, self._joints(q), self._joints(v), turn, self._motion())
        return kinetic + float(0.5 * np.dot(v, self._more(v))), potential

    def _motion(self) -> Floats:
        return np.empty((self.tree.size + 1, at.MOTION_COLUMNS))

    def _joints(self, x: ArrayLike) -> Floats:
        """Values of the joints of the tree, from those of the coordinates."""
        values = self._values(x)
        return values if self.shapes is None else self.shapes.S @ values

    def _gathered(self, forces: Floats) -> Floats:
        """On the coordinates, from those on the joints."""
        return forces if self.shapes is None else self.shapes.S.T @ forces

    def _square(self, matrix: Floats) -> Floats:
        return matrix if self.shapes is None else self.shapes.S.T @ matrix @ self.shapes.S

    def _more(self, v: ArrayLike) -> Floats:
        """Momentum that the bodies of the tree lack."""
        return np.zeros(self.size) if self.shapes is None else self.shapes.m @ np.asarray(v, float)

    def _values(self, x: ArrayLike) -> Floats:
        values = np.ascontiguousarray(x, float)
        if values.shape != (self.size,):
            raise ValueError(f"an array of coordinates has shape {values.shape}; this arm has {self.size}")
        return values
