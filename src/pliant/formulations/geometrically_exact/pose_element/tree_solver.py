"""Block elimination along the tree, leaves to root and back: cost linear in the nodes, no pivoting needed.

Unknown of a free or element node are the increments of (y, eta) in its mid frame; of a joint child the increment of
s, with t_c = A t_p + d s. An element couples a node to its parent by ``low`` (minus row i, column parent) and ``up``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    REVOLUTE,
    Bools,
    Floats,
    Tree,
)
from pliant.formulations.geometrically_exact.pose_element.relative_pose import vector
from pliant.jit import inline_kernel, kernel
from pliant.spatial.se3 import Twist
from pliant.spatial.small_matrices import times
from pliant.spatial.vectors import Matrix, Vector, product, skew, transpose


class Factors(NamedTuple):
    """The tangent and, after `factorise`, its factors."""

    D: Floats  # (nodes, 6, 6) diagonal blocks; inverse pivots of free and element nodes
    low: Floats  # (nodes, 6, 6)
    up: Floats  # (nodes, 6, 6)
    A: Floats  # (nodes, 6, 6) from the parent's velocities to those of a joint child
    A_row: Floats  # (nodes, 6, 6) transposed it takes impulses of a joint child to the parent
    d: Floats  # (nodes, 6) velocities of a joint child per rate of its joint
    d_row: Floats  # (nodes, 6) the joint's direction for impulses
    column: Floats  # (nodes, 6) D d of a joint
    row: Floats  # (nodes, 6) d^T D of a joint
    pivot: Floats  # (nodes,) on entry what the joint's law adds; then d^T D d with it
    work: Floats  # (2, 6, 6) scratch


class Increment(NamedTuple):
    """Right-hand side and solution of a tree solve."""

    b: Floats  # (nodes, 6)
    b_joint: Floats  # (nodes,)
    t: Floats  # (nodes, 6)
    t_joint: Floats  # (nodes,)


def new_factors(nodes: int) -> Factors:
    def squares() -> Floats:
        return np.zeros((nodes, 6, 6))

    def rows() -> Floats:
        return np.zeros((nodes, 6))

    blocks = (squares(), squares(), squares(), squares(), squares())
    return Factors(*blocks, rows(), rows(), rows(), rows(), np.zeros(nodes), np.zeros((2, 6, 6)))


def new_increment(nodes: int) -> Increment:
    return Increment(np.zeros((nodes, 6)), np.zeros(nodes), np.zeros((nodes, 6)), np.zeros(nodes))


@kernel
def times_transposed(A: Floats, x: Twist) -> Twist:
    """A^T x."""
    return times(A.T, x)


@kernel
def six(rows: Floats, i: int) -> Twist:
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5])


@kernel
def put_six(rows: Floats, i: int, v: Twist) -> None:
    rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5] = v


@kernel
def add_six(rows: Floats, i: int, factor: float, v: Twist) -> None:
    for k in range(6):
        rows[i, k] += factor * v[k]


@kernel
def dot_six(a: Twist, b: Twist) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@kernel
def joint_direction(tree: Tree, i: int) -> Twist:
    """d: velocities of the node per unit rate of its joint, in its own frame."""
    a = vector(tree.axis, i, 0)
    if tree.hang[i] == REVOLUTE:
        return (0.0, 0.0, 0.0, a[0], a[1], a[2])
    return (a[0], a[1], a[2], 0.0, 0.0, 0.0)


@inline_kernel
def row_of_product(A: Floats, i: int, B: Floats) -> Twist:
    a0, a1, a2, a3, a4, a5 = A[i, 0], A[i, 1], A[i, 2], A[i, 3], A[i, 4], A[i, 5]
    return (
        a0 * B[0, 0] + a1 * B[1, 0] + a2 * B[2, 0] + a3 * B[3, 0] + a4 * B[4, 0] + a5 * B[5, 0],
        a0 * B[0, 1] + a1 * B[1, 1] + a2 * B[2, 1] + a3 * B[3, 1] + a4 * B[4, 1] + a5 * B[5, 1],
        a0 * B[0, 2] + a1 * B[1, 2] + a2 * B[2, 2] + a3 * B[3, 2] + a4 * B[4, 2] + a5 * B[5, 2],
        a0 * B[0, 3] + a1 * B[1, 3] + a2 * B[2, 3] + a3 * B[3, 3] + a4 * B[4, 3] + a5 * B[5, 3],
        a0 * B[0, 4] + a1 * B[1, 4] + a2 * B[2, 4] + a3 * B[3, 4] + a4 * B[4, 4] + a5 * B[5, 4],
        a0 * B[0, 5] + a1 * B[1, 5] + a2 * B[2, 5] + a3 * B[3, 5] + a4 * B[4, 5] + a5 * B[5, 5],
    )


@kernel
def multiply_into(A: Floats, B: Floats, out: Floats) -> None:
    """out = A B."""
    for i in range(6):
        put_six(out, i, row_of_product(A, i, B))


@kernel
def add_product(factor: float, A: Floats, B: Floats, out: Floats) -> None:
    """out += factor A B."""
    for i in range(6):
        add_six(out, i, factor, row_of_product(A, i, B))


@kernel
def add_skew(M: Floats, i: int, j: int, factor: float, a: Vector) -> None:
    """Add factor a^ to the 3 x 3 block of M at (i, j)."""
    M[i, j + 1] -= factor * a[2]
    M[i, j + 2] += factor * a[1]
    M[i + 1, j] += factor * a[2]
    M[i + 1, j + 2] -= factor * a[0]
    M[i + 2, j] -= factor * a[1]
    M[i + 2, j + 1] += factor * a[0]


@kernel
def put_blocks(A: Floats, linear: Matrix, coupling: Matrix, angular: Matrix) -> None:
    """A = [[linear, coupling], [0, angular]]."""
    for i in range(3):
        for j in range(3):
            A[i, j] = linear[3 * i + j]
            A[i, 3 + j] = coupling[3 * i + j]
            A[3 + i, 3 + j] = angular[3 * i + j]
            A[3 + i, j] = 0.0


@kernel
def put_transform(A: Floats, R_parent: Matrix, R_child: Matrix, r: Vector) -> None:
    """A = [[Q, -Q r^], [0, Q]] with Q = R_child^T R_parent and r the lever in the parent's frame."""
    Q = product(transpose(R_child), R_parent)
    put_blocks(A, Q, product(Q, skew((-r[0], -r[1], -r[2]))), Q)


@inline_kernel
def invert_in_place(A: Floats) -> bool:
    """Gauss-Jordan without pivoting: the blocks are dominated by a positive definite part."""
    for k in range(6):
        if not abs(A[k, k]) > 1e-300:
            return False
        p = 1.0 / A[k, k]
        A[k, k] = 1.0
        r = six(A, k)
        r = (p * r[0], p * r[1], p * r[2], p * r[3], p * r[4], p * r[5])
        put_six(A, k, r)
        for i in range(6):
            if i != k:
                f = A[i, k]
                A[i, k] = 0.0
                add_six(A, i, -f, r)
    return True


@inline_kernel
def factorise_element(tree: Tree, i: int, factors: Factors) -> bool:
    p = tree.parent[i]
    if not invert_in_place(factors.D[i]):
        return False
    work = factors.work[0]
    multiply_into(factors.up[i], factors.D[i], work)
    if tree.hang[p] != GROUND:
        add_product(1.0, work, factors.low[i], factors.D[p])
    for k in range(6):
        put_six(factors.up[i], k, six(work, k))
    multiply_into(factors.D[i], factors.low[i], work)
    for k in range(6):
        put_six(factors.low[i], k, six(work, k))
    return True


@inline_kernel
def factorise_joint(tree: Tree, i: int, moves: bool, factors: Factors) -> bool:
    p, D = tree.parent[i], factors.D[i]
    if moves:
        put_six(factors.column, i, times(D, six(factors.d, i)))
        put_six(factors.row, i, times_transposed(D, six(factors.d_row, i)))
        factors.pivot[i] += dot_six(six(factors.d_row, i), six(factors.column, i))
        if not abs(factors.pivot[i]) > 1e-300:
            return False
        column, row = six(factors.column, i), six(factors.row, i)
        for k in range(6):
            add_six(D, k, -column[k] / factors.pivot[i], row)
    if tree.hang[p] != GROUND:
        work = factors.work[0]
        multiply_into(D, factors.A[i], work)
        add_product(1.0, factors.A_row[i].T, work, factors.D[p])
    return True


@kernel
def factorise(tree: Tree, prescribed: Bools, active: Bools, factors: Factors) -> int:
    """Eliminate leaves to root; returns -1, or the node whose pivot vanished. Only ``active`` nodes take part."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        hang = tree.hang[i]
        if hang == GROUND or not active[i]:
            continue
        if hang == ELEMENT:
            good = factorise_element(tree, i, factors)
        elif hang >= FIXED:
            c = tree.coordinate[i]
            good = factorise_joint(tree, i, c >= 0 and not prescribed[c], factors)
        else:
            good = invert_in_place(factors.D[i])
        if not good:
            return i
    return -1


@kernel
def solve_tree(tree: Tree, prescribed: Bools, active: Bools, factors: Factors, inc: Increment) -> None:
    """t = -(tangent)^-1 b; the right-hand side is destroyed."""
    n = tree.parent.shape[0]
    for i in range(n - 1, -1, -1):
        p, hang = tree.parent[i], tree.hang[i]
        if p < 0 or not active[i] or tree.hang[p] == GROUND:
            continue
        if hang == ELEMENT:
            add_six(inc.b, p, -1.0, times(factors.up[i], six(inc.b, i)))
        else:
            b = six(inc.b, i)
            c = tree.coordinate[i]
            if c >= 0 and not prescribed[c]:
                d = six(factors.d_row, i)
                f = (inc.b_joint[i] + dot_six(d, b)) / factors.pivot[i]
                add_six(inc.b, i, -f, six(factors.column, i))
                # what the joint does not transmit was kept back from the parent's side
                add_six(inc.b, i, inc.b_joint[i] / dot_six(d, d), d)
                b = six(inc.b, i)
                inc.t_joint[i] = f
            add_six(inc.b, p, 1.0, times_transposed(factors.A_row[i], b))
    for i in range(n):
        p, hang = tree.parent[i], tree.hang[i]
        if not active[i]:
            continue
        if hang == GROUND:
            put_six(inc.t, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        elif hang == FREE:
            t = times(factors.D[i], six(inc.b, i))
            put_six(inc.t, i, (-t[0], -t[1], -t[2], -t[3], -t[4], -t[5]))
        elif hang == ELEMENT:
            t = times(factors.D[i], six(inc.b, i))
            u = times(factors.low[i], six(inc.t, p))
            put_six(inc.t, i, (u[0] - t[0], u[1] - t[1], u[2] - t[2], u[3] - t[3], u[4] - t[4], u[5] - t[5]))
        else:
            put_six(inc.t, i, times(factors.A[i], six(inc.t, p)))
            c = tree.coordinate[i]
            if c >= 0 and not prescribed[c]:
                along = dot_six(six(factors.row, i), six(inc.t, i)) / factors.pivot[i]
                if tree.hang[p] == GROUND:
                    own = inc.b_joint[i] + dot_six(six(factors.d_row, i), six(inc.b, i))
                    inc.t_joint[i] = own / factors.pivot[i]
                inc.t_joint[i] = -(inc.t_joint[i] + along)
                add_six(inc.t, i, inc.t_joint[i], six(factors.d, i))
