"""Derivatives of inverse dynamics in position and velocity, at a cost of bodies times depth.

Turning coordinate j carries all that hangs behind it along, but for the motion V and A of its parent, which does
not turn with it. In the frame that is carried along, twists behind j change by  x_j = V x J_j  and accelerations by
A x J_j + x_j x (V_k - V), and the wrench of body k by  I_k dA + B_k x_j  with

    B_k s = s x* h_k + V_k x* (I_k s) - I_k (V_k x s) ,       h_k = I_k V_k .

With composite I_i, B_i and F_i, and y_j = A x J_j - x_j x V  (V, A of the parent of j; A holds minus gravity),

    dtau_i/dq_j = J_i . (I_i y_j + B_i x_j)                   for j on the way from i to the base, i included ,
    dtau_i/dq_j = J_i . (J_j x* F_j + I_j y_j + B_j x_j)      for i on the way from j to the base ,
    dtau_i/dv_j = J_i . (2 I x_j + B J_j)                     with I, B of the outer one of i and j .

h is quadratic in v, so that  C = (dtau/dv) / 2  gives  h = C v;  its entries are Christoffel's symbols times v, and
dM/dt - 2 C  is skew. Our own derivation; the matrix B/2 is the Coriolis matrix of one body as in [echeandia2021].
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.minimal.articulated import plus
from pliant.mechanics.minimal.composite import gather_inertias, inertia_of, momentum_at, ten
from pliant.mechanics.minimal.motion import (
    ACCELERATION,
    AXIS,
    COMPOSITE,
    TWIST,
    WRENCH,
    Six,
    cross_twists,
    cross_wrench,
    dot_six,
    six,
)
from pliant.mechanics.minimal.recursions import inverse_dynamics
from pliant.mechanics.minimal.tree import PARENT, Floats, Tree


@inline_kernel
def unit(k: int) -> Six:
    return (
        1.0 if k == 0 else 0.0,
        1.0 if k == 1 else 0.0,
        1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0,
        1.0 if k == 4 else 0.0,
        1.0 if k == 5 else 0.0,
    )


@inline_kernel
def times_matrix(B: Floats, i: int, x: Six) -> Six:
    """B[i] x of a 6 x 6 matrix kept by columns."""
    y = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for k in range(6):
        y = plus(y, x[k], six(B, i, 6 * k))
    return y


@inline_kernel
def times_transposed(B: Floats, i: int, x: Six) -> Six:
    return (
        dot_six(six(B, i, 0), x),
        dot_six(six(B, i, 6), x),
        dot_six(six(B, i, 12), x),
        dot_six(six(B, i, 18), x),
        dot_six(six(B, i, 24), x),
        dot_six(six(B, i, 30), x),
    )


@inline_kernel
def gather_turning(tree: Tree, n: int, motion: Floats, B: Floats) -> None:
    """Composite B of all bodies, by columns."""
    for i in range(n):
        I, V = inertia_of(tree, i, motion), six(motion, i + 1, TWIST)
        h = momentum_at(I, V)
        for k in range(6):
            s = unit(k)
            column = plus(cross_wrench(s, h), 1.0, cross_wrench(V, momentum_at(I, s)))
            column = plus(column, -1.0, momentum_at(I, cross_twists(V, s)))
            for c in range(6):
                B[i, 6 * k + c] = column[c]
    for i in range(n - 1, -1, -1):
        p = tree.joints[i, PARENT]
        if p >= 0:
            for k in range(36):
                B[p, k] += B[i, k]


@kernel
def inverse_dynamics_derivatives(
    tree: Tree,
    state: tuple[Floats, Floats, Floats],
    motion: Floats,
    B: Floats,
    tau: Floats,
    by_position: Floats,
    by_velocity: Floats,
) -> None:
    """tau and its derivatives in q and v at (q, v, a); B (n, 36) is scratch."""
    n = tau.shape[0]
    inverse_dynamics(tree, state[0], state[1], state[2], motion, tau)
    gather_inertias(tree, n, motion)
    gather_turning(tree, n, motion, B)
    for i in range(n):
        for j in range(n):
            by_position[i, j] = 0.0
            by_velocity[i, j] = 0.0
    for j in range(n):
        p = tree.joints[j, PARENT] + 1
        J, V, A = six(motion, j + 1, AXIS), six(motion, p, TWIST), six(motion, p, ACCELERATION)
        x = cross_twists(V, J)
        y = plus(cross_twists(A, J), -1.0, cross_twists(x, V))
        I = ten(motion, j + 1, COMPOSITE)
        Ix, Iy = momentum_at(I, x), momentum_at(I, y)
        # this coordinate turns: the torques on the way to the base
        carried = plus(Iy, 1.0, times_matrix(B, j, x))
        thrown = plus(times_matrix(B, j, J), 2.0, Ix)
        by_position[j, j] = dot_six(J, carried)
        by_velocity[j, j] = dot_six(J, thrown)
        carried = plus(carried, 1.0, cross_wrench(J, six(motion, j + 1, WRENCH)))
        # coordinates on the way to the base turn: the torque of this one
        IJ, BJ = momentum_at(I, J), times_transposed(B, j, J)
        i = tree.joints[j, PARENT]
        while i >= 0:
            Ji, q = six(motion, i + 1, AXIS), tree.joints[i, PARENT] + 1
            by_position[i, j] = dot_six(Ji, carried)
            by_velocity[i, j] = dot_six(Ji, thrown)
            Vi, Ai = six(motion, q, TWIST), six(motion, q, ACCELERATION)
            xi = cross_twists(Vi, Ji)
            yi = plus(cross_twists(Ai, Ji), -1.0, cross_twists(xi, Vi))
            by_position[j, i] = dot_six(IJ, yi) + dot_six(BJ, xi)
            by_velocity[j, i] = 2.0 * dot_six(IJ, xi) + dot_six(BJ, Ji)
            i = tree.joints[i, PARENT]
