"""Kinetic energy that the two nodes of an element share: inertia by directors [damic2006] (14)-(18).

Origins and directors m_e of the sections move along straight lines between the nodes a and b, so that beside the bodies
on the nodes

    T = c (v_a . v_b) + sum_e I_e (w_a x e) . S (w_b x e) = c (v_a . v_b) + w_a . N w_b ,   S = R_a^T R_b ,

with spins w in the axes of the nodes, c and I_e the integrals of mass and of the second moments of mass along the axes
e = x, y, z of the section, weighted by both shape functions. Sections are plane in the paper, and I_x = 0. Weight acts
on the same mass: both nodes carry c too.

Momenta are P_a = c v_b and R_a N w_b about the node, and the same for b with N^T. Over a step with v1 = 2 y - v0 ,
w1 = 2 eta - w0 and omega = R0 eta = R1 eta,

    omega_a . (P_a1 - P_a0) + omega_b . (P_b1 - P_b0) = T1 - T0 + h (omega_b - omega_a) . G ,
    G = 1/2 sum_e I_e [ R_b (w_b0 x e) x R_a (w_a1 x e) + R_b (w_b1 x e) x R_a (w_a0 x e) ]

with mean directors, because N is linear in S. A torque h G on b and -h G on a therefore keeps energy and angular
momentum, both exactly. As dS = S c^ with the mean of S and the Cayley vector c of its turn (`corotational`),

    (omega_b - omega_a) . h G = c . 1/2 sum_e I_e [ (w_b0 x e) x S^T (w_a1 x e) + (w_b1 x e) x S^T (w_a0 x e) ] .

In a step of no time what is left is the moment m_e x I_e m_e'' of the other node's directors.

The equations need nodes whose own bodies have their centres of mass at the origin.

Impulses at joints move all nodes of a link whose elements share inertia. Nodes without joints are eliminated first,
from the tip to the root, as impulses at the remaining ones move them by

    d_j = A_j d_parent + B_j d_below ,   A_j = -D_j^-1 N_j^T ,   B_j = -D_j^-1 C_j ,

with N_j what node j shares with its parent, C_j with the next remaining node below it, D_j its own inertia less what
the elimination of its child took. In the world masses are numbers that never change; inertia against turning is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.spatial.rows import add_to, load3, load9, store
from pliant.spatial.se3 import Twist, angular, join, linear
from pliant.spatial.small_matrices import add_square
from pliant.spatial.vectors import (
    Matrix,
    Vector,
    add,
    add_matrices,
    apply,
    apply_transpose,
    column,
    cross,
    dot,
    product,
    scale,
    scale_matrix,
    sub,
    transpose,
)
from pliant.structures.nodal.codes import ELEMENT
from pliant.structures.nodal.corotational import TURN, mean_turn, skew_part
from pliant.structures.nodal.mechanism import Bools, Elements, Floats, Ints, Mechanism, Pose
from pliant.structures.nodal.motion import Moment, Motion

Spins = tuple[Vector, Vector]


@inline_kernel
def shared_turning(I: Vector, S: Matrix) -> Matrix:
    """N."""
    return (
        I[1] * S[8] + I[2] * S[4], -I[2] * S[3], -I[1] * S[6],
        -I[2] * S[1], I[0] * S[8] + I[2] * S[0], -I[0] * S[7],
        -I[1] * S[2], -I[0] * S[5], I[0] * S[4] + I[1] * S[0],
    )  # fmt: skip


@inline_kernel
def turning_of(elements: Elements, i: int, data: Floats) -> Matrix:
    """N of the element of node i, which has measured S."""
    return shared_turning(load3(elements.shared, i, 1), load9(data, i, TURN))


@inline_kernel
def add_shared_momenta(elements: Elements, a: int, i: int, strain: Floats, spins: Spins, out: Floats, k: int) -> None:
    """Add what parent a and node i have by each other's spin, in their own axes, to columns of ``out`` from k on."""
    N = turning_of(elements, i, strain)
    add_to(1.0, apply(N, spins[1]), out, a, k)
    add_to(1.0, apply_transpose(N, spins[0]), out, i, k)


@inline_kernel
def end_spin(i: int, motion: Motion) -> Vector:
    """w1 of node i."""
    return sub(scale(2.0, load3(motion.step.Y, i, 3)), load3(motion.now.w, i))


@inline_kernel
def shared_torque(elements: Elements, a: int, i: int, motion: Motion) -> Vector:
    """-G, on the Cayley vector of S."""
    I, S = load3(elements.shared, i, 1), mean_turn(motion.start.strain, motion.end.strain, i)
    a0, b0, a1, b1 = load3(motion.now.w, a), load3(motion.now.w, i), end_spin(a, motion), end_spin(i, motion)
    xx, xy, xz = b0[0] * a1[0] + b1[0] * a0[0], b0[0] * a1[1] + b1[0] * a0[1], b0[0] * a1[2] + b1[0] * a0[2]
    yx, yy, yz = b0[1] * a1[0] + b1[1] * a0[0], b0[1] * a1[1] + b1[1] * a0[1], b0[1] * a1[2] + b1[1] * a0[2]
    zx, zy, zz = b0[2] * a1[0] + b1[2] * a0[0], b0[2] * a1[1] + b1[2] * a0[1], b0[2] * a1[2] + b1[2] * a0[2]
    # sum over both orders of I_e (w_b x e) (w_a x e)^T
    M = (
        I[1] * zz + I[2] * yy, -I[2] * yx, -I[1] * zx,
        -I[2] * xy, I[2] * xx + I[0] * zz, -I[0] * zy,
        -I[1] * xz, -I[0] * yz, I[1] * xx + I[0] * yy,
    )  # fmt: skip
    return skew_part(product(M, S))


@inline_kernel
def balance_shared(elements: Elements, gravity: Vector, a: int, i: int, motion: Motion) -> tuple[float, float]:
    """Mass and its weight that node i shares with its parent a; changes of kinetic and potential energy."""
    h, now, step, c = motion.signals.h[0], motion.now, motion.step, elements.shared[i, 0]
    ya, yb = load3(step.Y, a), load3(step.Y, i)
    dva, dvb = scale(2.0 * c, sub(ya, load3(now.v, a))), scale(2.0 * c, sub(yb, load3(now.v, i)))
    weight = scale(-h * c, gravity)
    add_to(1.0, add(dvb, weight), step.rho, a)
    add_to(1.0, add(dva, weight), step.rho, i)
    return dot(ya, dvb) + dot(yb, dva), dot(weight, add(ya, yb))


@inline_kernel
def shared_energy(elements: Elements, a: int, i: int, now: Pose, at: Moment) -> float:
    """Kinetic energy that node i shares with its parent a."""
    N = turning_of(elements, i, at.strain)
    along = elements.shared[i, 0] * dot(load3(now.v, a), load3(now.v, i))
    return float(along + dot(load3(now.w, a), apply(N, load3(now.w, i))))


@kernel
def add_shared(factor: float, elements: Elements, a: int, i: int, R: Floats, up: Floats, low: Floats) -> None:
    """Add factor times the shared inertia to the blocks of an element, in the frames R: up that of (a, i), low minus
    that of (i, a)."""
    S = product(transpose(load9(R, a)), load9(R, i))
    N = shared_turning(load3(elements.shared, i, 1), S)
    c = factor * elements.shared[i, 0]
    add_square(c, S, up, 0, 0)
    add_square(factor, N, up, 3, 3)
    add_square(-c, transpose(S), low, 0, 0)
    add_square(-factor, transpose(N), low, 3, 3)


@inline_kernel
def acceleration_of_frame(V: Twist, V_dot: Twist, I: Vector) -> tuple[Vector, Matrix]:
    """Acceleration of the origin, and the second derivatives of the directors times I as columns, in the own frame."""
    w, alpha = angular(V), angular(V_dot)
    spin = dot(w, w)
    x = (I[0] * (w[0] * w[0] - spin), I[0] * (alpha[2] + w[0] * w[1]), I[0] * (w[0] * w[2] - alpha[1]))
    y = (I[1] * (w[0] * w[1] - alpha[2]), I[1] * (w[1] * w[1] - spin), I[1] * (alpha[0] + w[1] * w[2]))
    z = (I[2] * (alpha[1] + w[0] * w[2]), I[2] * (w[1] * w[2] - alpha[0]), I[2] * (w[2] * w[2] - spin))
    columns = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    return add(linear(V_dot), cross(w, linear(V))), columns


@inline_kernel
def shared_wrench(elements: Elements, i: int, Q: Matrix, V: Twist, V_dot: Twist) -> Twist:
    """What inertia asks of one node of an element for the motion of the other; Q from the other's frame to its own."""
    acceleration, directors = acceleration_of_frame(V, V_dot, load3(elements.shared, i, 1))
    D = product(Q, directors)
    return join(scale(elements.shared[i, 0], apply(Q, acceleration)), (D[7] - D[5], D[2] - D[6], D[3] - D[1]))


class Condensed(NamedTuple):
    """Nodes that are eliminated, and how they follow the others."""

    inner: Bools  # (nodes,) eliminated
    parent: Ints  # (nodes,) of an element, -1: no element
    above: Ints  # (nodes,) next remaining node above an element's node, -1: none
    below: Ints  # (nodes,) next remaining node below, -1: none
    mass: Floats  # (nodes, 2) what remaining nodes lose of their mass; what they share with that above
    follows: Floats  # (nodes, 2) velocity per velocity of the parent and of the node below
    turning: Floats  # (nodes, 9) what nodes lose of their inertia against turning
    between: Floats  # (nodes, 9) C of a remaining node with that above, or on the way to it
    A: Floats  # (nodes, 9)
    B: Floats  # (nodes, 9)
    C: Floats  # (nodes, 6, 6) what a remaining node shares with that above, both in their own frames
    moved: Floats  # (nodes, 6) change of the velocity in the world and of the spin


def new_condensed(mechanism: Mechanism, active: Bools) -> Condensed:
    """Of a mechanism whose ``active`` nodes remain."""
    tree, count = mechanism.tree, len(active)
    sharing = range(count if mechanism.elements.couples else 0)
    parent = np.where((tree.joint_type == ELEMENT) & mechanism.elements.couples, tree.parent, -1)
    inner = ~active & (parent >= 0)
    inner[parent[parent >= 0]] = ~active[parent[parent >= 0]]
    above, below = np.full(count, -1), np.full(count, -1)
    own, shared = mechanism.bodies.mass.copy(), mechanism.elements.shared[:, 0]
    mass, follows, between = np.zeros((count, 2)), np.zeros((count, 2)), np.zeros(count)
    for i in sharing:
        if parent[i] >= 0:
            above[i] = above[parent[i]] if inner[parent[i]] else parent[i]
    for i in reversed(sharing):
        p, b = parent[i], below[i]
        lower = i
        if inner[i]:
            lower = b
            follows[i] = -(shared[i] if p >= 0 else 0.0) / own[i], -(between[b] if b >= 0 else 0.0) / own[i]
            if b >= 0:
                mass[b, 0] -= between[b] ** 2 / own[i]
                between[b] = shared[i] * follows[i, 1]
            if p >= 0:
                own[p] += shared[i] * follows[i, 0]
        elif p >= 0:
            between[i] = shared[i]
        if p >= 0:
            below[p] = lower
    remain = ~inner
    mass[remain, 0] += own[remain] - mechanism.bodies.mass[remain]
    mass[remain, 1] = np.where(above[remain] >= 0, between[remain], 0.0)
    rows = (np.zeros(shape) for shape in ((count, 9), (count, 9), (count, 9), (count, 9), (count, 6, 6), (count, 6)))
    return Condensed(inner, parent, above, below, mass, follows, *rows)


@inline_kernel
def inverse(A: Matrix) -> Matrix:
    """Of a 3 x 3 matrix, by its cofactors."""
    c0, c1, c2 = A[4] * A[8] - A[5] * A[7], A[5] * A[6] - A[3] * A[8], A[3] * A[7] - A[4] * A[6]
    f = 1.0 / (A[0] * c0 + A[1] * c1 + A[2] * c2)
    return (
        f * c0, f * (A[2] * A[7] - A[1] * A[8]), f * (A[1] * A[5] - A[2] * A[4]),
        f * c1, f * (A[0] * A[8] - A[2] * A[6]), f * (A[2] * A[3] - A[0] * A[5]),
        f * c2, f * (A[1] * A[6] - A[0] * A[7]), f * (A[0] * A[4] - A[1] * A[3]),
    )  # fmt: skip


@inline_kernel
def symmetric_inverse(A: Matrix) -> Matrix:
    """Of a symmetric 3 x 3 matrix."""
    c0, c1, c2 = A[4] * A[8] - A[5] * A[5], A[5] * A[2] - A[1] * A[8], A[1] * A[5] - A[4] * A[2]
    f = 1.0 / (A[0] * c0 + A[1] * c1 + A[2] * c2)
    xx, xy, xz = f * c0, f * c1, f * c2
    yy, yz, zz = f * (A[0] * A[8] - A[2] * A[2]), f * (A[2] * A[1] - A[0] * A[5]), f * (A[0] * A[4] - A[1] * A[1])
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@inline_kernel
def symmetric_product(A: Matrix, B: Matrix) -> Matrix:
    """A B where it is known to be symmetric."""
    x, y, z = column(B, 0), column(B, 1), column(B, 2)
    a, b, c = (A[0], A[1], A[2]), (A[3], A[4], A[5]), (A[6], A[7], A[8])
    xy, xz, yz = dot(a, y), dot(a, z), dot(b, z)
    return dot(a, x), xy, xz, xy, dot(b, y), yz, xz, yz, dot(c, z)


@inline_kernel
def condense(mechanism: Mechanism, at: Moment, M: Floats, own: Condensed) -> None:
    """Eliminate inner nodes; the inertias M (nodes, 6, 6) of the others become those with what follows them."""
    elements, bodies, count = mechanism.elements, mechanism.bodies, own.inner.shape[0]
    for i in range(count):
        for k in range(9):
            own.turning[i, k] = 0.0
    for i in range(count - 1, -1, -1):
        p, b = own.parent[i], own.below[i]
        N = scale_matrix(0.0, load9(bodies.J, i))
        if p >= 0:
            N = turning_of(elements, i, at.strain)
        if not own.inner[i]:
            store(N, own.between, i)
            continue
        back = symmetric_inverse(add_matrices(load9(bodies.J, i), load9(own.turning, i)))
        A = scale_matrix(-1.0, product(back, transpose(N)))
        store(A, own.A, i)
        if p >= 0:
            add_to(1.0, symmetric_product(N, A), own.turning, p)
        if b >= 0:
            C = load9(own.between, b)
            B = scale_matrix(-1.0, product(back, C))
            store(B, own.B, i)
            add_to(1.0, symmetric_product(transpose(C), B), own.turning, b)
            store(product(N, B), own.between, b)
    for i in range(count):
        if own.inner[i]:
            continue
        for k in range(3):
            M[i, k, k] += own.mass[i, 0]
        add_square(1.0, load9(own.turning, i), M[i], 3, 3)
        if own.above[i] >= 0:
            own.C[i, :, :] = 0.0
            add_square(own.mass[i, 1], product(transpose(load9(at.R, own.above[i])), load9(at.R, i)), own.C[i], 0, 0)
            add_square(1.0, load9(own.between, i), own.C[i], 3, 3)


@inline_kernel
def follow(own: Condensed, now: Pose) -> None:
    """Velocities of inner nodes, which follow what was ``moved``."""
    for i in range(own.inner.shape[0]):
        if own.inner[i]:
            p, b = own.parent[i], own.below[i]
            for k in range(6):
                own.moved[i, k] = 0.0
            if p >= 0:
                add_to(own.follows[i, 0], load3(own.moved, p), own.moved, i)
                add_to(1.0, apply(load9(own.A, i), load3(own.moved, p, 3)), own.moved, i, 3)
            if b >= 0:
                add_to(own.follows[i, 1], load3(own.moved, b), own.moved, i)
                add_to(1.0, apply(load9(own.B, i), load3(own.moved, b, 3)), own.moved, i, 3)
            add_to(1.0, load3(own.moved, i), now.v, i)
            add_to(1.0, load3(own.moved, i, 3), now.w, i)
