"""Solve with the factors of `block_elimination`: right sides from the tips to the base, increments back.

Complex right sides and increments are kept as real and imaginary parts apart, so that sums over them vectorise.
"""

from __future__ import annotations

from pliant.jit import inline_kernel
from pliant.mechanics.joint_kinematics import add_to_parent, to_child
from pliant.spatial.rows import dot6, load6, plus6, stage_row, store
from pliant.spatial.small_matrices import times


@inline_kernel
def twist_of(parts, last, a, unit):
    """The six numbers of node a; ``last`` is the index of their last part."""
    return plus6(stage_row(parts, 0, a), unit, stage_row(parts, last, a))


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
    return plus6(x, unit, y)


@inline_kernel
def push_roots(tree, pose, b, b_q, unit):
    """Add root rows of one part of b to parents and joint rows, at the poses of the factorisation."""
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        r = tree.first_node[link]
        x = stage_row(b, 0, r)
        b[0, r] = 0.0
        dof = tree.dof[link]
        if dof >= 0:
            b_q[dof] += unit * dot6(x, load6(tree.S, link))
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, b, tree.parent_node[link], 0)


@inline_kernel
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
        if tree.n_children[link] > 0:
            release_nodes(factors, mesh_start, (tree.first_element[link] + 1, count - 1), k, d)
        b_r = twist_of(b, last, root, unit)
        if count > 0 and tree.n_children[link] > 0:
            x = twist_of(d, last, tree.last_node[link], unit)
            store(x, factors.tip[k], link)
            y = times(factors.Y_T[k, link], times(factors.K[k, link], x))
            b_r = plus6(b_r, 1.0, y)
        dof = tree.dof[link]
        if dof >= 0 and free[max(dof, 0)]:
            beta = inc.b_q[dof] + dot6(b_r, load6(tree.S, link))
            factors.beta[k, link] = beta
            b_r = plus6(b_r, -beta / factors.kappa[k, link], stage_row(factors.CS, k, link))
        if tree.parent[link] >= 0:
            tell_parent(factors.pose, link, b_r, b, last, tree.parent_node[link])
    for link in range(links):
        move_root(tree, factors, free, link, k, d, inc.d_q)
        if tree.n_children[link] == 0:
            release_nodes(factors, mesh_start, (tree.first_element[link], tree.n_elements[link]), k, d)


@inline_kernel
def multiply_parts(A, k, element, values, places, parts, sums):
    """sums (parts, m) = A[k, element]^T x; x are the numbers of ``values`` (parts, nodes, 6) at ``places``.

    places: where they begin, and where each stands behind that.
    """
    m, (first, index) = A.shape[4], places
    x, second = values.flat, values[0].size + first
    for part in range(parts):
        for i in range(m):
            sums[part, i] = 0.0
    # two rows at a time: half the traffic to and from the sums
    for j in range(0, A.shape[2], 2):
        a, b = x[first + index[j]], x[first + index[j + 1]]
        if parts == 1:
            if a != 0.0 or b != 0.0:
                for i in range(m):
                    sums[0, i] += A[k, element, j, 0, i] * a + A[k, element, j + 1, 0, i] * b
            continue
        c, d = x[second + index[j]], x[second + index[j + 1]]
        if a != 0.0 or b != 0.0 or c != 0.0 or d != 0.0:
            for i in range(m):
                p, q = A[k, element, j, 0, i], A[k, element, j, 1, i]
                r, s = A[k, element, j + 1, 0, i], A[k, element, j + 1, 1, i]
                sums[0, i] += p * a - q * c + (r * b - s * d)
                sums[1, i] += p * c + q * a + (r * d + s * b)


@inline_kernel
def hold_root(factors, mesh_start, first, count, k, inc):
    """Increments of nodes with the first node of their element held; the condensed right side of a link is left in
    b[root]."""
    n, c, own, own_first = factors.swaps.shape[0], factors.keep.shape[0], factors.own, factors.first
    parts, sums = factors.parts[k], factors.sums
    b, d, size = inc.b.flat, inc.d.flat, inc.b[0].size
    for element in range(first + count - 1, first - 1, -1):
        root = 6 * mesh_start[element]
        multiply_parts(factors.XY, k, element, inc.b, (root, own), parts, sums)
        for part in range(parts):
            for i in range(n):
                d[part * size + root + own[i]] = sums[part, i]
            for i in range(c):
                b[part * size + root + own_first[i]] -= sums[part, n + i]


@inline_kernel
def release_nodes(factors, mesh_start, elements, k, values):
    """Increments of nodes where the first node of their element moves too; elements: the first, and how many."""
    first, count = elements
    n, own, own_first = factors.swaps.shape[0], factors.own, factors.first
    parts, sums = factors.parts[k], factors.sums
    d, size = values.flat, values[0].size
    for element in range(first, first + count):
        root = 6 * mesh_start[element]
        multiply_parts(factors.W_rows, k, element, values, (root, own_first), parts, sums)
        for part in range(parts):
            for i in range(n):
                d[part * size + root + own[i]] -= sums[part, i]


@inline_kernel
def move_root(tree, factors, free, link, k, d, d_joint):
    """Second sweep: root of one link from its parent and joint, then its nodes if it has children."""
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
                rate -= dot6(x, stage_row(factors.SC, k, link))
            rate = rate / factors.kappa[k, link]
            d_joint[dof] = rate
            x = plus6(x, rate, load6(tree.S, link))
            moved = True
    for i in range(6):
        d[0, root, i] = x[i].real
        if last == 1:
            d[1, root, i] = x[i].imag
    if tree.n_elements[link] == 0 or tree.n_children[link] == 0:
        return
    T = tree.last_node[link]
    z = stage_row(factors.tip, k, link)
    if moved:
        z = plus6(z, -1.0, times(factors.to_root[k, T], x))
    z = times(factors.K[k, link], z)
    for node in range(root + 1, T + 1):
        if moved:
            subtract_from(d, last, node, times(factors.to_root[k, node], x))
        subtract_from(d, last, node, times(factors.to_tip_load[k, node], z))
