"""Block elimination along a tree of links, linear in elements, real or complex.

Unknown are increments d of the twists of all nodes and of the joint rates. Within a link (its root held)
every element keeps the inverse X of its own nodes, condensed onto its first node; nothing in it knows
how the link stands in the world, so a turning joint never spoils it. Between links only 6 x 6 matrices
are eliminated, anew whenever the joints have moved. With f the free nodes, r the root, T the tip of a
link, D the impedance its children show at the tip:

    C = A_rr - A_rf (A_ff + E_T D E_T^T)^-1 A_fr = C0 + Y_T K W_T ,   K = (1 + D P)^-1 D ,
    C0 = A_rr - A_rf X A_fr ,  P = E_T^T X E_T ,  Y_T = A_rf X E_T ,  W_T = E_T^T X A_fr .

A free joint coordinate is a pivot kappa = S.C S + its own terms, and D_parent += Ad^T (C - C S S^T C/kappa) Ad.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import kernel
from pliant.mechanics.joint_kinematics import add_to_parent, adjoint_to_child, dot6, to_child

Numbers = NDArray[np.generic]


class Factors(NamedTuple):
    """A factorisation; all arrays of one number type but ``pose`` and ``Ad``."""

    X: Numbers  # (elements, 6p, 6p) inverse of an element's own nodes, transposed
    Y: Numbers  # (elements, 6p, 6) A_rf X, transposed
    W: Numbers  # (elements, 6p, 6) X A_fr
    to_tip_load: Numbers  # (nodes, 6, 6) answer of the nodes to a load at the link's tip, root held
    to_root: Numbers  # (nodes, 6, 6) minus the answer of the nodes to a motion of the link's root
    C0: Numbers  # (links, 6, 6)
    C: Numbers  # (links, 6, 6)
    Y_T: Numbers  # (links, 6, 6)
    K: Numbers  # (links, 6, 6)
    D: Numbers  # (links, 6, 6)
    CS: Numbers  # (links, 6) C S
    SC: Numbers  # (links, 6) S^T C
    kappa: Numbers  # (links,)
    beta: Numbers  # (links,) right side of the joint row, kept between the two sweeps of a solve
    tip: Numbers  # (links, 6) tip increments with the root held, kept likewise
    work: Numbers  # (4, n, n) scratch
    pose: NDArray[np.float64]  # (links, 12) child in parent at the factorisation
    Ad: NDArray[np.float64]  # (links, 6, 6)


def new_factors(links: int, elements: int, nodes: int, degree: int, dtype: type) -> Factors:
    """Room for a factorisation."""
    n = 6 * degree
    six = (6, 6)
    shapes = [
        (elements, n, n),
        (elements, n, 6),
        (elements, n, 6),
        (nodes, *six),
        (nodes, *six),
        *[(links, *six)] * 5,
        (links, 6),
        (links, 6),
        (links,),
        (links,),
        (links, 6),
        (4, n + 6, n + 6),
    ]
    return Factors(*[np.zeros(s, dtype) for s in shapes], np.zeros((links, 12)), np.zeros((links, *six)))


@kernel
def invert(A, n, B):
    """B = A^-1 by Gauss-Jordan elimination with row pivoting; A is destroyed; False if singular."""
    for i in range(n):
        for j in range(n):
            B[i, j] = 0.0
        B[i, i] = 1.0
    for k in range(n):
        pivot = k
        best = abs(A[k, k])
        for i in range(k + 1, n):
            size = abs(A[i, k])
            if size > best:
                best = size
                pivot = i
        if not best > 0.0:
            return False
        if pivot != k:
            for j in range(n):
                t = A[k, j]
                A[k, j] = A[pivot, j]
                A[pivot, j] = t
                t = B[k, j]
                B[k, j] = B[pivot, j]
                B[pivot, j] = t
        scale = 1.0 / A[k, k]
        for j in range(k, n):
            A[k, j] *= scale
        for j in range(n):
            B[k, j] *= scale
        for i in range(n):
            f = A[i, k]
            if i != k and f != 0.0:
                for j in range(k, n):
                    A[i, j] -= f * A[k, j]
                for j in range(n):
                    B[i, j] -= f * B[k, j]
    return True


@kernel
def condense_element(A, element, factors, onto_root):
    """Eliminate the own nodes of an element from A (its first six rows and columns belong to its first node).

    onto_root (6 x 6) receives the condensed matrix of the first node; False if singular.
    """
    n = factors.X.shape[1]
    own = factors.work[1]
    inverse = factors.work[2]
    for i in range(n):
        for j in range(n):
            own[i, j] = A[6 + i, 6 + j]
    if not invert(own, n, inverse):
        return False
    for i in range(n):
        for j in range(n):
            factors.X[element, j, i] = inverse[i, j]
    for i in range(6):
        for j in range(n):
            y = 0.0 * A[0, 0]
            w = 0.0 * A[0, 0]
            for k in range(n):
                y += A[i, 6 + k] * inverse[k, j]
                w += inverse[j, k] * A[6 + k, i]
            factors.Y[element, j, i] = y
            factors.W[element, j, i] = w
    for i in range(6):
        for j in range(6):
            c = A[i, j]
            for k in range(n):
                c -= factors.Y[element, k, i] * A[6 + k, j]
            onto_root[i, j] = c
    return True


@kernel
def finish_link(tree, mesh_start, link, factors):
    """Answers of a whole link to its root and, if it has children, to its tip."""
    n = factors.X.shape[1]
    first = tree.first_element[link]
    count = tree.n_elements[link]
    load = factors.work[0]  # wrench passed on to the tip of each element; 6 x 6
    next_load = factors.work[1]
    root = tree.first_node[link]
    for i in range(6):
        for j in range(6):
            factors.to_root[root, i, j] = -1.0 if i == j else 0.0
            factors.to_tip_load[root, i, j] = 0.0
            load[i, j] = 1.0 if i == j else 0.0
    for element in range(first, first + count):
        start = mesh_start[element]
        for i in range(n):
            node = start + 1 + i // 6
            for j in range(6):
                t = 0.0 * factors.C0[0, 0, 0]
                for k in range(6):
                    t -= factors.W[element, i, k] * factors.to_root[start, k, j]
                factors.to_root[node, i % 6, j] = t
    if tree.n_children[link] == 0:
        return
    # loads travel from the tip to the root; each element's own answer is kept in place of the final one
    for element in range(first + count - 1, first - 1, -1):
        start = mesh_start[element]
        for i in range(n):
            node = start + 1 + i // 6
            for j in range(6):
                t = 0.0 * factors.C0[0, 0, 0]
                for k in range(6):
                    t += factors.X[element, n - 6 + k, i] * load[k, j]
                factors.to_tip_load[node, i % 6, j] = t
        for i in range(6):
            for j in range(6):
                t = 0.0 * factors.C0[0, 0, 0]
                for k in range(6):
                    t -= factors.Y[element, n - 6 + k, i] * load[k, j]
                next_load[i, j] = t
        for i in range(6):
            for j in range(6):
                load[i, j] = next_load[i, j]
    for i in range(6):
        for j in range(6):
            factors.Y_T[link, i, j] = -load[i, j]
    for element in range(first + 1, first + count):
        start = mesh_start[element]
        for i in range(n):
            node = start + 1 + i // 6
            for j in range(6):
                t = 0.0 * factors.C0[0, 0, 0]
                for k in range(6):
                    t += factors.W[element, i, k] * factors.to_tip_load[start, k, j]
                factors.to_tip_load[node, i % 6, j] -= t


@kernel
def product6(A, B, out):
    """out = A B, 6 x 6; out differs from A and B."""
    for i in range(6):
        for j in range(6):
            t = A[i, 0] * B[0, j]
            for k in range(1, 6):
                t += A[i, k] * B[k, j]
            out[i, j] = t


@kernel
def eliminate_joints(tree, factors, free, pivot):
    """6 x 6 elimination over the joints for the poses in ``factors``; False if singular.

    free[dof]: the joint rate is unknown; pivot[dof] is its own term beside S.C S.
    """
    links = tree.parent.shape[0]
    a = factors.work[0]
    b = factors.work[1]
    c = factors.work[2]
    for link in range(links):
        for i in range(6):
            for j in range(6):
                factors.D[link, i, j] = 0.0
    for link in range(links - 1, -1, -1):
        C = factors.C[link]
        D = factors.D[link]
        rigid = tree.n_elements[link] == 0
        for i in range(6):
            for j in range(6):
                C[i, j] = factors.C0[link, i, j]
                if rigid:
                    C[i, j] += D[i, j]
        if not rigid and tree.n_children[link] > 0:
            K = factors.K[link]
            tip = tree.last_node[link]
            product6(D, factors.to_tip_load[tip], a)
            for i in range(6):
                a[i, i] += 1.0
            if not invert(a, 6, b):
                return False
            product6(b, D, K)
            product6(K, factors.to_root[tip], a)
            product6(factors.Y_T[link], a, b)
            for i in range(6):
                for j in range(6):
                    C[i, j] += b[i, j]
        dof = tree.dof[link]
        moving = dof >= 0 and free[max(dof, 0)]
        if moving:
            S = tree.S[link]
            kappa = pivot[dof] + 0.0 * C[0, 0]
            for i in range(6):
                t = 0.0 * C[0, 0]
                s = 0.0 * C[0, 0]
                for j in range(6):
                    t += C[i, j] * S[j]
                    s += S[j] * C[j, i]
                factors.CS[link, i] = t
                factors.SC[link, i] = s
                kappa += S[i] * t
            if not abs(kappa) > 0.0:
                return False
            factors.kappa[link] = kappa
        parent = tree.parent[link]
        if parent >= 0:
            adjoint_to_child(factors.pose, link, factors.Ad)
            Ad = factors.Ad[link]
            for i in range(6):
                for j in range(6):
                    a[i, j] = C[i, j]
                    if moving:
                        a[i, j] -= factors.CS[link, i] * factors.SC[link, j] / factors.kappa[link]
            product6(a, Ad, b)
            for i in range(6):
                for j in range(6):
                    t = Ad[0, i] * b[0, j]
                    for k in range(1, 6):
                        t += Ad[k, i] * b[k, j]
                    c[i, j] = t
            for i in range(6):
                for j in range(6):
                    factors.D[parent, i, j] += c[i, j]
    return True


@kernel
def solve_tree(tree, mesh_start, factors, free, b, b_joint, d, d_joint):
    """Increments d (nodes, 6), d_joint (dofs) for the right sides b, b_joint; b is destroyed.

    Root rows of b must be zero: their residuals have been passed to the parent and the joint row.
    """
    links = tree.parent.shape[0]
    n = factors.X.shape[1]
    for link in range(links - 1, -1, -1):
        root = tree.first_node[link]
        first = tree.first_element[link]
        count = tree.n_elements[link]
        hold_root(factors, mesh_start, first, count, n, b, d)
        b_r = (b[root, 0], b[root, 1], b[root, 2], b[root, 3], b[root, 4], b[root, 5])
        if count > 0 and tree.n_children[link] > 0:
            T = tree.last_node[link]
            for i in range(6):
                factors.tip[link, i] = d[T, i]
            y = times(factors.K[link], (d[T, 0], d[T, 1], d[T, 2], d[T, 3], d[T, 4], d[T, 5]))
            y = times(factors.Y_T[link], y)
            b_r = (b_r[0] + y[0], b_r[1] + y[1], b_r[2] + y[2], b_r[3] + y[3], b_r[4] + y[4], b_r[5] + y[5])
        dof = tree.dof[link]
        if dof >= 0 and free[max(dof, 0)]:
            beta = b_joint[dof] + dot6(b_r, tree.S[link])
            factors.beta[link] = beta
            f = beta / factors.kappa[link]
            u = factors.CS[link]
            b_r = (
                b_r[0] - f * u[0],
                b_r[1] - f * u[1],
                b_r[2] - f * u[2],
                b_r[3] - f * u[3],
                b_r[4] - f * u[4],
                b_r[5] - f * u[5],
            )
        if tree.parent[link] >= 0:
            add_to_parent(factors.pose, link, b_r, b, tree.parent_node[link])
    for link in range(links):
        move_root(tree, factors, free, link, n, d, d_joint)


@kernel
def hold_root(factors, mesh_start, first, count, n, b, d):
    """Increments of a link's nodes with its root held; its condensed right side is left in b[root]."""
    for element in range(first + count - 1, first - 1, -1):
        start = mesh_start[element]
        y0 = y1 = y2 = y3 = y4 = y5 = 0.0 * b[start, 0]
        for j in range(n):
            x = b[start + 1 + j // 6, j % 6]
            Y = factors.Y[element, j]
            y0 += Y[0] * x
            y1 += Y[1] * x
            y2 += Y[2] * x
            y3 += Y[3] * x
            y4 += Y[4] * x
            y5 += Y[5] * x
        b[start, 0] -= y0
        b[start, 1] -= y1
        b[start, 2] -= y2
        b[start, 3] -= y3
        b[start, 4] -= y4
        b[start, 5] -= y5
    for element in range(first, first + count):
        start = mesh_start[element]
        out = d[start + 1 : start + 1 + n // 6].reshape(n)
        load = b[start + 1 : start + 1 + n // 6].reshape(n)
        for i in range(n):
            out[i] = 0.0
        for j in range(n):
            x = load[j]
            X = factors.X[element, j]
            for i in range(n):
                out[i] += X[i] * x
        if element > first:
            for i in range(n):
                W = factors.W[element, i]
                t = W[0] * d[start, 0]
                for k in range(1, 6):
                    t += W[k] * d[start, k]
                out[i] -= t


@kernel
def times(A, x):
    """A x for a 6 x 6 array and a 6-tuple."""
    return (dot6(A[0], x), dot6(A[1], x), dot6(A[2], x), dot6(A[3], x), dot6(A[4], x), dot6(A[5], x))


@kernel
def move_root(tree, factors, free, link, n, d, d_joint):
    """Second sweep: root of one link from its parent and joint, then its nodes."""
    root = tree.first_node[link]
    dof = tree.dof[link]
    S = tree.S[link]
    zero = 0.0 * factors.kappa[link]
    x = (zero, zero, zero, zero, zero, zero)
    moved = tree.parent[link] >= 0
    if moved:
        x = to_child(factors.pose, link, d, tree.parent_node[link])
    if dof >= 0:
        d_joint[dof] = 0.0
        if free[dof]:
            rate = factors.beta[link] - dot6(x, factors.SC[link]) if moved else factors.beta[link]
            rate = rate / factors.kappa[link]
            d_joint[dof] = rate
            x = (
                x[0] + S[0] * rate,
                x[1] + S[1] * rate,
                x[2] + S[2] * rate,
                x[3] + S[3] * rate,
                x[4] + S[4] * rate,
                x[5] + S[5] * rate,
            )
            moved = True
    for i in range(6):
        d[root, i] = x[i]
    if tree.n_elements[link] == 0:
        return
    T = tree.last_node[link]
    z = x
    reacts = tree.n_children[link] > 0
    if reacts:
        y = factors.tip[link]
        if moved:
            t = times(factors.to_root[T], x)
            z = (y[0] - t[0], y[1] - t[1], y[2] - t[2], y[3] - t[3], y[4] - t[4], y[5] - t[5])
        else:
            z = (y[0], y[1], y[2], y[3], y[4], y[5])
        z = times(factors.K[link], z)
    for node in range(root + 1, T + 1):
        for i in range(6):
            t = d[node, i]
            if moved:
                t -= dot6(x, factors.to_root[node, i])
            if reacts:
                t -= dot6(z, factors.to_tip_load[node, i])
            d[node, i] = t
