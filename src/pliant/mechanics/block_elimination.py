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

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_kinematics import add_to_parent, adjoint_to_child, dot_row, to_child
from pliant.spatial.small_matrices import invert, multiply, multiply_transposed


@kernel
def condense_element(A, element, factors, k):
    """Eliminate the own nodes of an element from A (its first six rows and columns belong to its first node).

    The condensed matrix of the first node is left in the last scratch matrix; False if singular.
    """
    n = factors.XY.shape[2]
    own, inverse, onto = factors.work[1], factors.work[2], factors.work[3]
    for i in range(n):
        for j in range(n):
            own[i, j] = A[6 + i, 6 + j]
    if not invert(own, n, inverse):
        return False
    for i in range(6):
        for j in range(6):
            onto[i, j] = A[i, j]
    for j in range(n):
        for i in range(n):
            store_parts(factors.XY, k, element, j, i, inverse[i, j])
            if j >= n - 6:
                factors.X_tip[k, element, i, j - n + 6] = inverse[i, j]
        for i in range(6):
            y = 0.0 * A[0, 0]
            w = 0.0 * A[0, 0]
            for m in range(n):
                y += A[i, 6 + m] * inverse[m, j]
                w += inverse[j, m] * A[6 + m, i]
            store_parts(factors.XY, k, element, j, n + i, y)
            if j >= n - 6:
                factors.Y_tip[k, element, i, j - n + 6] = y
            factors.W[k, element, j, i] = w
            store_parts(factors.W_rows, k, element, i, j, w)
            for m in range(6):
                onto[i, m] -= y * A[6 + j, m]
    return True


@inline_kernel
def store_parts(XY, k, element, j, i, value):
    XY[k, element, j, 0, i] = value.real
    if XY.shape[3] == 2:
        XY[k, element, j, 1, i] = value.imag


@kernel
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


@kernel
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


@inline_kernel
def dot_block(A, k, m, i, x):
    """Row i of A[k, m] times a 6-tuple."""
    return (
        A[k, m, i, 0] * x[0]
        + A[k, m, i, 1] * x[1]
        + A[k, m, i, 2] * x[2]
        + A[k, m, i, 3] * x[3]
        + A[k, m, i, 4] * x[4]
        + A[k, m, i, 5] * x[5]
    )


@inline_kernel
def times_block(A, k, m, x):
    """A[k, m] x for a 6 x 6 block and a 6-tuple."""
    return (
        dot_block(A, k, m, 0, x),
        dot_block(A, k, m, 1, x),
        dot_block(A, k, m, 2, x),
        dot_block(A, k, m, 3, x),
        dot_block(A, k, m, 4, x),
        dot_block(A, k, m, 5, x),
    )


@inline_kernel
def number(parts, last, a, c, unit):
    """Component c of node a as a number; ``last`` is the index of its last part."""
    return parts[0, a, c] + unit * parts[last, a, c]


@inline_kernel
def twist_of(parts, last, a, unit):
    """The six numbers of node a."""
    return (
        number(parts, last, a, 0, unit),
        number(parts, last, a, 1, unit),
        number(parts, last, a, 2, unit),
        number(parts, last, a, 3, unit),
        number(parts, last, a, 4, unit),
        number(parts, last, a, 5, unit),
    )


@inline_kernel
def subtract_from(parts, last, a, x):
    """Subtract six numbers x from those of node a."""
    for c in range(6):
        parts[0, a, c] -= x[c].real
        if last == 1:
            parts[1, a, c] -= x[c].imag


@inline_kernel
def tell_parent(pose, link, x, parts, last, node):
    """Add six numbers x at a child's root to those of the parent node."""
    real = (x[0].real, x[1].real, x[2].real, x[3].real, x[4].real, x[5].real)
    add_to_parent(pose, link, real, parts[0:1], node, 0)
    if last == 1:
        imaginary = (x[0].imag, x[1].imag, x[2].imag, x[3].imag, x[4].imag, x[5].imag)
        add_to_parent(pose, link, imaginary, parts[1:2], node, 0)


@inline_kernel
def ask_parent(pose, link, parts, last, node, unit):
    """The six numbers of a parent node seen at the child's root."""
    x = to_child(pose, link, parts[0:1], node, 0)
    y = to_child(pose, link, parts[last : last + 1], node, 0)
    return (
        x[0] + unit * y[0],
        x[1] + unit * y[1],
        x[2] + unit * y[2],
        x[3] + unit * y[3],
        x[4] + unit * y[4],
        x[5] + unit * y[5],
    )


@kernel
def solve_tree(tree, mesh_start, factors, free, k, inc):
    """Increments inc.d, inc.d_q for the right sides inc.b, inc.b_q; inc.b is destroyed.

    Root rows of b must be zero: their residuals have been passed to the parent and the joint row.
    """
    b, d = inc.b, inc.d
    links = tree.parent.shape[0]
    last, unit = factors.parts[k] - 1, factors.unit[0]
    for link in range(links - 1, -1, -1):
        root = tree.first_node[link]
        count = tree.n_elements[link]
        hold_root(factors, mesh_start, tree.first_element[link], count, k, inc)
        b_r = twist_of(b, last, root, unit)
        if count > 0 and tree.n_children[link] > 0:
            x = twist_of(d, last, tree.last_node[link], unit)
            for i in range(6):
                factors.tip[k, link, i] = x[i]
            y = times_block(factors.Y_T, k, link, times_block(factors.K, k, link, x))
            b_r = (b_r[0] + y[0], b_r[1] + y[1], b_r[2] + y[2], b_r[3] + y[3], b_r[4] + y[4], b_r[5] + y[5])
        dof = tree.dof[link]
        if dof >= 0 and free[max(dof, 0)]:
            beta = inc.b_q[dof] + dot_row(b_r, tree.S, link)
            factors.beta[k, link] = beta
            f = beta / factors.kappa[k, link]
            b_r = (
                b_r[0] - f * factors.CS[k, link, 0],
                b_r[1] - f * factors.CS[k, link, 1],
                b_r[2] - f * factors.CS[k, link, 2],
                b_r[3] - f * factors.CS[k, link, 3],
                b_r[4] - f * factors.CS[k, link, 4],
                b_r[5] - f * factors.CS[k, link, 5],
            )
        if tree.parent[link] >= 0:
            tell_parent(factors.pose, link, b_r, b, last, tree.parent_node[link])
    for link in range(links):
        move_root(tree, factors, free, link, k, d, inc.d_q)


@inline_kernel
def multiply_parts(A, k, element, x, first, parts, sums):
    """sums (parts, m) = A[k, element]^T x for the parts of the numbers x (parts, ..) from ``first`` on."""
    m = A.shape[4]
    for part in range(parts):
        for i in range(m):
            sums[part, i] = 0.0
    # two rows at a time: half the traffic to and from the sums; there are always 6 or 6p rows
    for j in range(0, A.shape[2], 2):
        a, b = x[0, first + j], x[0, first + j + 1]
        if parts == 1:
            for i in range(m):
                sums[0, i] += A[k, element, j, 0, i] * a + A[k, element, j + 1, 0, i] * b
        else:
            c, d = x[1, first + j], x[1, first + j + 1]
            for i in range(m):
                p, q = A[k, element, j, 0, i], A[k, element, j, 1, i]
                r, s = A[k, element, j + 1, 0, i], A[k, element, j + 1, 1, i]
                sums[0, i] += p * a - q * c + (r * b - s * d)
                sums[1, i] += p * c + q * a + (r * d + s * b)


@inline_kernel
def hold_root(factors, mesh_start, first, count, k, inc):
    """Increments of a link's nodes with its root held; its condensed right side is left in b[root]."""
    n = factors.XY.shape[2]
    parts, sums = factors.parts[k], factors.sums
    b = inc.b.reshape((inc.b.shape[0], 6 * inc.b.shape[1]))
    d = inc.d.reshape((inc.d.shape[0], 6 * inc.d.shape[1]))
    for element in range(first + count - 1, first - 1, -1):
        root = 6 * mesh_start[element]
        multiply_parts(factors.XY, k, element, b, root + 6, parts, sums)
        for part in range(parts):
            for i in range(n):
                d[part, root + 6 + i] = sums[part, i]
            for i in range(6):
                b[part, root + i] -= sums[part, n + i]
    # the increments above hold every element's first node; let those nodes move that are not the root
    for element in range(first + 1, first + count):
        root = 6 * mesh_start[element]
        multiply_parts(factors.W_rows, k, element, d, root, parts, sums)
        for part in range(parts):
            for i in range(n):
                d[part, root + 6 + i] -= sums[part, i]


@inline_kernel
def move_root(tree, factors, free, link, k, d, d_joint):
    """Second sweep: root of one link from its parent and joint, then its nodes."""
    root = tree.first_node[link]
    dof = tree.dof[link]
    last, unit = factors.parts[k] - 1, factors.unit[0]
    zero = 0.0 * unit
    x = (zero, zero, zero, zero, zero, zero)
    moved = tree.parent[link] >= 0
    if moved:
        x = ask_parent(factors.pose, link, d, last, tree.parent_node[link], unit)
    if dof >= 0:
        d_joint[dof] = 0.0
        if free[dof]:
            rate = factors.beta[k, link]
            if moved:
                for c in range(6):
                    rate -= x[c] * factors.SC[k, link, c]
            rate = rate / factors.kappa[k, link]
            d_joint[dof] = rate
            x = (
                x[0] + tree.S[link, 0] * rate,
                x[1] + tree.S[link, 1] * rate,
                x[2] + tree.S[link, 2] * rate,
                x[3] + tree.S[link, 3] * rate,
                x[4] + tree.S[link, 4] * rate,
                x[5] + tree.S[link, 5] * rate,
            )
            moved = True
    for i in range(6):
        d[0, root, i] = x[i].real
        if last == 1:
            d[1, root, i] = x[i].imag
    if tree.n_elements[link] == 0:
        return
    T = tree.last_node[link]
    z = x
    reacts = tree.n_children[link] > 0
    if reacts:
        y = factors.tip
        z = (y[k, link, 0], y[k, link, 1], y[k, link, 2], y[k, link, 3], y[k, link, 4], y[k, link, 5])
        if moved:
            t = times_block(factors.to_root, k, T, x)
            z = (z[0] - t[0], z[1] - t[1], z[2] - t[2], z[3] - t[3], z[4] - t[4], z[5] - t[5])
        z = times_block(factors.K, k, link, z)
    for node in range(root + 1, T + 1):
        if moved:
            subtract_from(d, last, node, times_block(factors.to_root, k, node, x))
        if reacts:
            subtract_from(d, last, node, times_block(factors.to_tip_load, k, node, z))
