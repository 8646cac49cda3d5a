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

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.in_place import solve_in_place
from pliant.mechanics.joint_kinematics import adjoint_to_child
from pliant.spatial.small_matrices import invert, multiply, multiply_transposed


@inner_kernel
def condense_element(A, element, factors, k):
    """Eliminate the own nodes of an element from A (its first six rows and columns belong to its first node).

    The condensed matrix of the first node is left in the last scratch matrix; False if singular.
    """
    n = factors.XY.shape[2]
    parts, XY, W_rows = factors.parts[k], factors.XY[k, element], factors.W_rows[k, element]
    for j in range(n):
        for i in range(n):
            store_parts(XY, parts, j, i, A[6 + i, 6 + j])
        for i in range(6):
            store_parts(XY, parts, j, n + i, A[i, 6 + j])
    if not solve_in_place(XY, parts, factors.swaps):
        return False
    for i in range(6):
        for part in range(parts):
            for j in range(n):
                W_rows[i, part, j] = 0.0
        for m in range(n):
            a, b = A[6 + m, i].real, A[6 + m, i].imag
            if parts == 2 and (a != 0.0 or b != 0.0):
                for j in range(n):
                    W_rows[i, 0, j] += a * XY[m, 0, j] - b * XY[m, 1, j]
                    W_rows[i, 1, j] += a * XY[m, 1, j] + b * XY[m, 0, j]
            elif a != 0.0:
                for j in range(n):
                    W_rows[i, 0, j] += a * XY[m, 0, j]
    copy_condensed(A, element, factors, k)
    return True


@inline_kernel
def copy_condensed(A, element, factors, k):
    """What joins an element to its neighbours, as numbers."""
    n = factors.XY.shape[2]
    parts, unit, onto = factors.parts[k], factors.unit[0], factors.work[3]
    XY, W_rows = factors.XY[k, element], factors.W_rows[k, element]
    for i in range(6):
        for j in range(6):
            onto[i, j] = A[i, j]
    for i in range(6):
        for j in range(n):
            factors.W[k, element, j, i] = number_at(W_rows, parts, i, j, unit)
            y = number_at(XY, parts, j, n + i, unit)
            for m in range(6):
                onto[i, m] -= y * A[6 + j, m]
            factors.X_tip[k, element, j, i] = number_at(XY, parts, n - 6 + i, j, unit)
        for j in range(6):
            factors.Y_tip[k, element, i, j] = number_at(XY, parts, n - 6 + j, n + i, unit)


@inline_kernel
def store_parts(rows, parts, j, i, value):
    rows[j, 0, i] = value.real
    if parts == 2:
        rows[j, 1, i] = value.imag


@inline_kernel
def number_at(rows, parts, j, i, unit):
    """Number i of row j whose parts are kept apart."""
    return rows[j, 0, i] + unit * rows[j, parts - 1, i] if parts == 2 else rows[j, 0, i] + 0.0 * unit


@inner_kernel
def finish_link(tree, mesh_start, link, factors, k):
    """Answers of a whole link to its root and, if it has children, to its tip."""
    n = factors.XY.shape[2]
    first = tree.first_element[link]
    count = tree.n_elements[link]
    load, next_load = factors.work[0], factors.work[1]  # 6 x 6: wrench passed on to the tip of each element
    root = tree.first_node[link]
    to_root, to_tip_load = factors.to_root[k], factors.to_tip_load[k]
    zero = 0.0 * factors.C0[0, 0, 0, 0]
    for i in range(6):
        for j in range(6):
            to_root[root, i, j] = -1.0 if i == j else 0.0
            to_tip_load[root, i, j] = 0.0
            load[i, j] = 1.0 if i == j else 0.0
    for element in range(first, first + count):
        start = mesh_start[element]
        for i in range(n):
            for j in range(6):
                t = zero
                for m in range(6):
                    t -= factors.W[k, element, i, m] * to_root[start, m, j]
                to_root[start + 1 + i // 6, i % 6, j] = t
    if tree.n_children[link] == 0:
        return
    # loads travel from the tip to the root; each element's own answer is kept in place of the final one
    for element in range(first + count - 1, first - 1, -1):
        start = mesh_start[element]
        for i in range(n):
            for j in range(6):
                t = zero
                for m in range(6):
                    t += factors.X_tip[k, element, i, m] * load[m, j]
                to_tip_load[start + 1 + i // 6, i % 6, j] = t
        for i in range(6):
            for j in range(6):
                t = zero
                for m in range(6):
                    t -= factors.Y_tip[k, element, i, m] * load[m, j]
                next_load[i, j] = t
        for i in range(6):
            for j in range(6):
                load[i, j] = next_load[i, j]
    for i in range(6):
        for j in range(6):
            factors.Y_T[k, link, i, j] = -load[i, j]
    for element in range(first + 1, first + count):
        start = mesh_start[element]
        for i in range(n):
            for j in range(6):
                t = zero
                for m in range(6):
                    t += factors.W[k, element, i, m] * to_tip_load[start, m, j]
                to_tip_load[start + 1 + i // 6, i % 6, j] -= t


@inner_kernel
def eliminate_joints(tree, factors, free, pivot, k):
    """6 x 6 elimination over the joints for the poses in ``factors``; False if singular.

    free[dof]: the joint rate is unknown; pivot[k, dof] is its own term beside S.C S.
    """
    links = tree.parent.shape[0]
    a, b, c = factors.work[0], factors.work[1], factors.work[2]
    for link in range(links):
        for i in range(6):
            for j in range(6):
                factors.D[k, link, i, j] = 0.0
    for link in range(links - 1, -1, -1):
        C, D = factors.C[k, link], factors.D[k, link]
        rigid = tree.n_elements[link] == 0
        for i in range(6):
            for j in range(6):
                C[i, j] = factors.C0[k, link, i, j]
                if rigid:
                    C[i, j] += D[i, j]
        if not rigid and tree.n_children[link] > 0:
            K = factors.K[k, link]
            tip = tree.last_node[link]
            multiply(D, factors.to_tip_load[k, tip], a)
            for i in range(6):
                a[i, i] += 1.0
            if not invert(a, 6, b):
                return False
            multiply(b, D, K)
            multiply(K, factors.to_root[k, tip], a)
            multiply(factors.Y_T[k, link], a, b)
            for i in range(6):
                for j in range(6):
                    C[i, j] += b[i, j]
        dof = tree.dof[link]
        moving = dof >= 0 and free[max(dof, 0)]
        if moving:
            kappa = pivot[k, dof] + 0.0 * C[0, 0]
            for i in range(6):
                t = 0.0 * C[0, 0]
                s = 0.0 * C[0, 0]
                for j in range(6):
                    t += C[i, j] * tree.S[link, j]
                    s += tree.S[link, j] * C[j, i]
                factors.CS[k, link, i] = t
                factors.SC[k, link, i] = s
                kappa += tree.S[link, i] * t
            if not abs(kappa) > 0.0:
                return False
            factors.kappa[k, link] = kappa
        parent = tree.parent[link]
        if parent >= 0:
            adjoint_to_child(factors.pose, link, factors.Ad, 0)
            Ad = factors.Ad[0, link]
            for i in range(6):
                for j in range(6):
                    a[i, j] = C[i, j]
                    if moving:
                        a[i, j] -= factors.CS[k, link, i] * factors.SC[k, link, j] / factors.kappa[k, link]
            multiply(a, Ad, b)
            multiply_transposed(Ad, b, c)
            for i in range(6):
                for j in range(6):
                    factors.D[k, parent, i, j] += c[i, j]
    return True
