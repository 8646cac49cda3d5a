"""Inertia of nodes that share it, condensed to the nodes on which joints and loops act.

Impulses at joints move all nodes of a link whose elements share inertia. Nodes without joints are eliminated first,
from the tip to the root, as impulses at the remaining ones move them by

    d_j = A_j d_parent + B_j d_below ,   A_j = -D_j^-1 N_j^T ,   B_j = -D_j^-1 C_j ,

with N_j what node j shares with its parent, C_j with the next remaining node below it, D_j its own inertia less what
the elimination of its child took. In the world masses are numbers that never change; inertia against turning is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel
from pliant.spatial.rows import add_to, load3, load9, store
from pliant.spatial.small_matrices import add_square
from pliant.spatial.vectors import Matrix, add_matrices, apply, product, scale_matrix, transpose
from pliant.structures.nodal.codes import ELEMENT
from pliant.structures.nodal.corotational import TURN
from pliant.structures.nodal.coupling import shared_turning
from pliant.structures.nodal.mechanism import Bools, Floats, Ints, Mechanism, Pose
from pliant.structures.nodal.motion import Moment


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
    parent = np.where((tree.joint_type == ELEMENT) & mechanism.elements.couples, tree.parent, -1)
    inner = ~active & (parent >= 0)
    inner[parent[parent >= 0]] = ~active[parent[parent >= 0]]
    above, below = np.full(count, -1), np.full(count, -1)
    own, shared = mechanism.bodies.mass.copy(), mechanism.elements.shared[:, 0]
    mass, follows, between = np.zeros((count, 2)), np.zeros((count, 2)), np.zeros(count)
    for i in range(count):
        if parent[i] >= 0:
            above[i] = above[parent[i]] if inner[parent[i]] else parent[i]
    for i in range(count - 1, -1, -1):
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
            N = shared_turning(load3(elements.shared, i, 1), load9(at.strain, i, TURN))
        if not own.inner[i]:
            store(N, own.between, i)
            continue
        back = inverse(add_matrices(load9(bodies.J, i), load9(own.turning, i)))
        A = scale_matrix(-1.0, product(back, transpose(N)))
        store(A, own.A, i)
        if p >= 0:
            add_to(1.0, product(N, A), own.turning, p)
        if b >= 0:
            C = load9(own.between, b)
            B = scale_matrix(-1.0, product(back, C))
            store(B, own.B, i)
            add_to(1.0, product(transpose(C), B), own.turning, b)
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
