"""Arrays of the block elimination along a tree of links.

Gauss-Jordan elimination in place, real and imaginary parts of the rows apart so that sums over them vectorise.

Block elimination along a tree of links, linear in elements, real or complex.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_kinematics import adjoint_to_child
from pliant.spatial.small_matrices import add_block, add_product, invert, multiply, set_block

Numbers = NDArray[Any]  # real or complex


class Increments(NamedTuple):
    """Right sides and increments of one solve.

    The first index of nodal arrays counts the parts of a number: real, and imaginary where there is one. What is
    linear with real coefficients treats them like stages.
    """

    b: NDArray[np.float64]  # (parts, nodes, 6)
    b_q: Numbers  # (dofs,)
    d: NDArray[np.float64]  # (parts, nodes, 6)
    d_q: Numbers  # (dofs,)
    rho_e: NDArray[np.float64]  # (parts, points, 6) strain residuals, then strain increments
    rate: NDArray[np.float64]  # (parts, points, 6) B d


def new_increments(nodes: int, points: int, dofs: int, dtype: type) -> Increments:
    """Room for one solve."""
    parts = parts_of(dtype)
    b, d, rho_e, rate = (np.zeros((parts, count, 6)) for count in (nodes, nodes, points, points))
    return Increments(b, np.zeros(dofs, dtype), d, np.zeros(dofs, dtype), rho_e, rate)


def parts_of(dtype: type) -> int:
    """Real numbers that make one number of a type."""
    return 2 if np.dtype(dtype).kind == "c" else 1


EVERY = (0, 1, 2, 3, 4, 5)


class Factors(NamedTuple):
    """Factorisations, the first index counts them; all arrays of one number type but ``pose`` and ``Ad``.

    Own nodes of an element have c p numbers: the c components of twists that may move, three in plane motion. Rows of
    XY and W_rows come in pairs; where their number is odd, one of zeros follows.
    """

    keep: NDArray[np.int64]  # (c,) components of twists that may move
    own: NDArray[np.int64]  # (cp or one more,) where the numbers of own nodes stand behind those of the first node
    first: NDArray[np.int64]  # (c or one more,) the same of the first node
    parts: NDArray[np.int64]  # (k,) 1 where a factorisation is real even if the numbers are complex
    unit: Numbers  # (1,) the imaginary unit, zero for real numbers
    XY: NDArray[np.float64]  # (k, elements, cp, parts, cp + c) rows of (X^T, (A_rf X)^T), parts apart
    W: Numbers  # (k, elements, cp, c) X A_fr
    W_rows: NDArray[np.float64]  # (k, elements, c, parts, cp) the rows of its transpose, parts apart like XY
    X_tip: Numbers  # (k, elements, cp, c) columns of X that belong to the element's last node
    Y_tip: Numbers  # (k, elements, 6, 6) the same of A_rf X
    to_tip_load: Numbers  # (k, nodes, 6, 6) answer of the nodes to a load at the link's tip, root held
    to_root: Numbers  # (k, nodes, 6, 6) minus their answer to a motion of the root of a link that has children
    C0: Numbers  # (k, links, 6, 6)
    C: Numbers  # (k, links, 6, 6)
    Y_T: Numbers  # (k, links, 6, 6)
    K: Numbers  # (k, links, 6, 6)
    D: Numbers  # (k, links, 6, 6)
    CS: Numbers  # (k, links, 6) C S
    SC: Numbers  # (k, links, 6) S^T C
    kappa: Numbers  # (k, links)
    beta: Numbers  # (k, links) right side of the joint row, kept between the two sweeps of a solve
    tip: Numbers  # (k, links, 6) tip increments with the root held, kept likewise
    sums: NDArray[np.float64]  # (2, cp + c) scratch
    swaps: NDArray[np.int64]  # (cp,) scratch
    work: Numbers  # (4, 6, 6) scratch
    pose: NDArray[np.float64]  # (1, links, 12) child in parent at the factorisation
    Ad: NDArray[np.float64]  # (1, links, 6, 6)


def whole(numbers: int) -> int:
    """So many or some more, that a processor takes four at a time."""
    return -(-numbers // 4) * 4


def new_factors(count: int, sizes: tuple[int, int, int, int], dtype: type, keep: tuple[int, ...] = EVERY) -> Factors:
    """Room for ``count`` factorisations of so many links, elements, nodes and numbers per own node of an element."""
    (links, elements, nodes, degree), c = sizes, len(keep)
    n, parts, z = c * degree, parts_of(dtype), np.zeros
    own = [6 * node + component for node in range(1, degree + 1) for component in keep]
    of_elements = {"W": (elements, n, c), "X_tip": (elements, n, c), "Y_tip": (elements, 6, 6)}
    of_nodes = dict.fromkeys(("to_tip_load", "to_root"), (nodes, 6, 6))
    of_links = dict.fromkeys(("C0", "C", "Y_T", "K", "D"), (links, 6, 6)) | dict.fromkeys(
        ("CS", "SC", "tip"), (links, 6)
    )
    shapes: dict[str, tuple[int, ...]] = {**of_elements, **of_nodes, **of_links, "kappa": (links,), "beta": (links,)}
    return Factors(
        **{name: z((count, *shape), dtype) for name, shape in shapes.items()},
        parts=np.full(count, parts),
        unit=np.full(1, 1j if parts == 2 else 0.0, dtype),
        keep=np.array(keep),
        own=np.array(own + own[: n % 2]),
        first=np.array(keep + keep[: c % 2]),
        XY=z((count, elements, n + n % 2, parts, whole(n + c))),
        W_rows=z((count, elements, c + c % 2, parts, whole(n))),
        sums=z((2, whole(n + c))),
        swaps=z(n, np.int64),
        work=z((4, 6, 6), dtype),
        pose=z((1, links, 12)),
        Ad=z((1, links, 6, 6)),
    )


Rows = NDArray[np.float64]  # (n, parts, m)


@kernel
def solve_in_place(rows: Rows, parts: int, swaps: NDArray[np.int64]) -> bool:
    """(A | B) becomes (A^-1 | A^-1 B); False when A is singular.

    rows: row by row the numbers of A (n x n) and of B, with row pivoting; swaps: scratch. Numbers that are exactly
    zero cost next to nothing, so that motions that do not touch each other are solved apart.
    """
    n = rows.shape[0]
    for k in range(n):
        pivot = k
        largest = size(rows, parts, k, k)
        for i in range(k + 1, n):
            if size(rows, parts, i, k) > largest:
                pivot = i
                largest = size(rows, parts, i, k)
        if not largest > 0.0:  # also true for NaN
            return False
        swaps[k] = pivot
        if pivot != k:
            for part in range(parts):
                for j in range(rows.shape[2]):
                    rows[k, part, j], rows[pivot, part, j] = rows[pivot, part, j], rows[k, part, j]
        divide_row(rows, parts, k)
        for i in range(n):
            if i != k:
                subtract_row(rows, parts, i, k)
    for k in range(n - 1, -1, -1):
        pivot = swaps[k]
        if pivot != k:
            for i in range(n):
                for part in range(parts):
                    rows[i, part, k], rows[i, part, pivot] = rows[i, part, pivot], rows[i, part, k]
    return True


@inline_kernel
def size(rows: Rows, parts: int, i: int, k: int) -> float:
    """Sum of the magnitudes of the parts: as good as the absolute value to choose a pivot, without its root."""
    return float(abs(rows[i, 0, k]) + (abs(rows[i, 1, k]) if parts == 2 else 0.0))


@inline_kernel
def divide_row(rows: Rows, parts: int, k: int) -> None:
    """Row k by its pivot, in whose place the column of the inverse grows."""
    a = rows[k, 0, k]
    rows[k, 0, k] = 1.0
    if parts == 1:
        f = 1.0 / a
        for j in range(rows.shape[2]):
            rows[k, 0, j] *= f
        return
    b = rows[k, 1, k]
    rows[k, 1, k] = 0.0
    f = 1.0 / (a * a + b * b)
    a, b = a * f, -b * f
    for j in range(rows.shape[2]):
        x, y = rows[k, 0, j], rows[k, 1, j]
        rows[k, 0, j] = a * x - b * y
        rows[k, 1, j] = a * y + b * x


@inline_kernel
def subtract_row(rows: Rows, parts: int, i: int, k: int) -> None:
    """Row i less the multiple of row k that removes its column k."""
    a = rows[i, 0, k]
    if parts == 1:
        if a != 0.0:
            rows[i, 0, k] = 0.0
            for j in range(rows.shape[2]):
                rows[i, 0, j] -= a * rows[k, 0, j]
        return
    b = rows[i, 1, k]
    if a != 0.0 or b != 0.0:
        rows[i, 0, k] = 0.0
        rows[i, 1, k] = 0.0
        for j in range(rows.shape[2]):
            x, y = rows[k, 0, j], rows[k, 1, j]
            rows[i, 0, j] -= a * x - b * y
            rows[i, 1, j] -= a * y + b * x


@inner_kernel
def condense_element(A, element, factors, k):
    """Eliminate the own nodes of an element from A (its first c rows and columns belong to its first node).

    The condensed matrix of the first node is left in the last scratch matrix; False if singular.
    """
    n, c = factors.swaps.shape[0], factors.keep.shape[0]
    parts, XY, W_rows = factors.parts[k], factors.XY[k, element], factors.W_rows[k, element]
    for j in range(n):
        for i in range(n):
            store_parts(XY, parts, j, i, A[c + i, c + j])
        for i in range(c):
            store_parts(XY, parts, j, n + i, A[i, c + j])
    if not solve_in_place(XY[:n], parts, factors.swaps):
        return False
    W_rows[:] = 0.0
    for i in range(c):
        for m in range(n):
            a, b = A[c + m, i].real, A[c + m, i].imag
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
    keep, n, c = factors.keep, factors.swaps.shape[0], factors.keep.shape[0]
    parts, unit, onto = factors.parts[k], factors.unit[0], factors.work[3]
    XY, W_rows, Y_tip = factors.XY[k, element], factors.W_rows[k, element], factors.Y_tip[k, element]
    for i in range(c):
        for m in range(c):
            onto[keep[i], keep[m]] = A[i, m]
        for j in range(n):
            factors.W[k, element, j, i] = number_at(W_rows, parts, i, j, unit)
            y = number_at(XY, parts, j, n + i, unit)
            for m in range(c):
                onto[keep[i], keep[m]] -= y * A[c + j, m]
            factors.X_tip[k, element, j, i] = number_at(XY, parts, n - c + i, j, unit)
        for j in range(c):
            Y_tip[keep[i], keep[j]] = number_at(XY, parts, n - c + j, n + i, unit)


@inline_kernel
def store_parts(rows, parts, j, i, value):
    rows[j, 0, i] = value.real
    if parts == 2:
        rows[j, 1, i] = value.imag


@inline_kernel
def number_at(rows, parts, j, i, unit):
    """Number i of row j whose parts are kept apart."""
    return rows[j, 0, i] + unit * rows[j, parts - 1, i] if parts == 2 else rows[j, 0, i] + 0.0 * unit


@inline_kernel
def answer(f, A, x, keep, start, out):
    """The nodes of an element behind ``start`` in ``out`` (nodes, 6, 6): f A x added."""
    c = keep.shape[0]
    for i in range(A.shape[0]):
        a = out[start + 1 + i // c, keep[i % c]]
        for j in range(c):
            t = f * A[i, 0] * x[keep[0], keep[j]]
            for m in range(1, c):
                t += f * A[i, m] * x[keep[m], keep[j]]
            a[keep[j]] += t


@inner_kernel
def finish_link(tree, mesh_start, link, factors, k):
    """Answers of a whole link that has children to its root and to its tip."""
    if tree.n_children[link] == 0:
        return
    first = tree.first_element[link]
    count = tree.n_elements[link]
    load, next_load = factors.work[0], factors.work[1]  # 6 x 6: wrench passed on to the tip of each element
    root, keep = tree.first_node[link], factors.keep
    to_root, to_tip_load = factors.to_root[k], factors.to_tip_load[k]
    to_root[root : tree.last_node[link] + 1] = 0.0
    to_tip_load[root : tree.last_node[link] + 1] = 0.0
    load[:] = 0.0
    for i in range(6):
        to_root[root, i, i] = -1.0
        load[i, i] = 1.0
    for element in range(first, first + count):
        start = mesh_start[element]
        answer(-1.0, factors.W[k, element], to_root[start], keep, start, to_root)
    # loads travel from the tip to the root; each element's own answer comes first
    for element in range(first + count - 1, first - 1, -1):
        answer(1.0, factors.X_tip[k, element], load, keep, mesh_start[element], to_tip_load)
        multiply(factors.Y_tip[k, element], load, next_load)
        load[:] = 0.0
        add_block(-1.0, next_load, load)
    factors.Y_T[k, link] = 0.0
    add_block(-1.0, load, factors.Y_T[k, link])
    for element in range(first + 1, first + count):
        start = mesh_start[element]
        answer(-1.0, factors.W[k, element], to_tip_load[start], keep, start, to_tip_load)


@inner_kernel
def eliminate_joints(tree, factors, free, pivot, k):
    """6 x 6 elimination over the joints for the poses in ``factors``; False if singular.

    free[dof]: the joint rate is unknown; pivot[k, dof] is its own term beside S.C S.
    """
    links = tree.parent.shape[0]
    a, b = factors.work[0], factors.work[1]
    factors.D[k] = 0.0
    for link in range(links - 1, -1, -1):
        C, D = factors.C[k, link], factors.D[k, link]
        rigid = tree.n_elements[link] == 0
        set_block(factors.C0[k, link], C)
        if rigid:
            add_block(1.0, D, C)
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
            add_block(1.0, b, C)
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
            set_block(C, a)
            if moving:
                for i in range(6):
                    for j in range(6):
                        a[i, j] -= factors.CS[k, link, i] * factors.SC[k, link, j] / factors.kappa[k, link]
            multiply(a, Ad, b)
            add_product(1.0, Ad.T, b, factors.D[k, parent])
    return True
