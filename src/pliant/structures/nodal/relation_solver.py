"""The impulses of the lines within Newton's method: a small dense system beside the tree.

With tree(b) = -K^-1 b and W = tree(G^T):  dY = tree(rho) + W dI.  A closed line asks G dY = -phi / h; a spring asks
dI = Z G dY. Both give rows of one matrix: S = G W for the first, 1 - Z S for the second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import add_to, load3, load6, load9, store
from pliant.spatial.vectors import apply_transpose, dot
from pliant.structures.bundles import zeros_of
from pliant.structures.nodal.balance import along_joint, pass_to_parent
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE
from pliant.structures.nodal.mechanism import Bools, Floats, Ints, Mechanism, Tree
from pliant.structures.nodal.motion import Factors, Increment, Motion, Step
from pliant.structures.nodal.relations import add_along_line, line_slope
from pliant.structures.nodal.solver import solve_tree
from pliant.structures.relations import CLOSED, Lines, span


class LineFactors(NamedTuple):
    """Answers of the tree to each line, and the factors of the dense system."""

    t: Floats  # (lines, nodes, 6)
    t_joint: Floats  # (lines, nodes)
    S: Floats  # (lines, lines)
    LU: Floats  # (lines, lines)
    order: Ints  # (lines,) rows in the order of the pivots
    rhs: Floats  # (lines,)
    sort: Floats  # (lines,)
    kept: Bools  # (lines,) closed lines that are redundant at the start are left out


def new_line_factors(mechanism: Mechanism, kept: Bools) -> LineFactors:
    n, _, m = mechanism.sizes
    blank = zeros_of(LineFactors, (m, n, 6), (m, n), (m, m), (m, m), m, m, m, 0)
    return blank._replace(order=np.zeros(m, np.int64), kept=kept)


@kernel
def to_frames(tree: Tree, active: Bools, R: Floats, rho: Floats, b: Floats) -> None:
    """World impulses of free and element nodes in their frames; joint children have given theirs to parents."""
    for i in range(tree.parent.shape[0]):
        if not active[i]:
            continue
        if tree.joint_type[i] == FREE or tree.joint_type[i] == ELEMENT:
            Ri = load9(R, i)
            store(apply_transpose(Ri, load3(rho, i)), b, i)
            store(apply_transpose(Ri, load3(rho, i, 3)), b, i, 3)
        else:
            b[i] = 0.0


@kernel
def along_line(lines: Lines, k: int, gradient: Floats, R: Floats, t: Floats) -> float:
    """Velocity along line k of increments t given in the frames R."""
    a, b = lines.node[k, 0], lines.node[k, 1]
    Ra, Rb = load9(R, a), load9(R, b)
    return (
        dot(apply_transpose(Ra, load3(gradient, k)), load3(t, a))
        + dot(apply_transpose(Ra, load3(gradient, k, 3)), load3(t, a, 3))
        + dot(apply_transpose(Rb, load3(gradient, k, 6)), load3(t, b))
        + dot(apply_transpose(Rb, load3(gradient, k, 9)), load3(t, b, 3))
    )


@inner_kernel
def answer_of_tree(
    tree: Tree, lines: Lines, k: int, step: Step, R: Floats, solver: tuple[Bools, Bools, Factors], inc: Increment
) -> None:
    """inc.t = tree(G_k^T): the impulse of joint children goes to their parents as in the balance."""
    prescribed, active, factors = solver
    n = tree.parent.shape[0]
    rho = inc.t  # scratch until the solve overwrites it
    rho[:] = 0.0
    inc.b_joint[:] = 0.0
    add_along_line(lines, k, 1.0, step.gradient, rho)
    for i in range(n - 1, -1, -1):
        if tree.joint_type[i] >= FIXED:
            c = tree.coordinate[i]
            if c >= 0 and not prescribed[c]:
                inc.b_joint[i] = along_joint(tree, i, step, rho)
            pass_to_parent(tree, i, inc.b_joint[i], step, rho)
    to_frames(tree, active, R, rho, inc.b)
    solve_tree(tree, prescribed, active, factors, inc)


@kernel
def dense_factorise(A: Floats, order: Ints) -> int:
    """LU with row pivoting in place; returns -1, or the column whose pivot vanished."""
    n = A.shape[0]
    for k in range(n):
        order[k] = k
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 1e-300:
            return k
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
            order[k], order[best] = order[best], order[k]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return -1


@kernel
def dense_solve(A: Floats, order: Ints, b: Floats, x: Floats) -> None:
    """x = A^-1 b from the factors."""
    n = A.shape[0]
    for i in range(n):
        total = b[order[i]]
        for j in range(i):
            total -= A[i, j] * x[j]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for j in range(i + 1, n):
            total -= A[i, j] * x[j]
        x[i] = total / A[i, i]


@kernel
def fill_answers(
    tree: Tree,
    lines: Lines,
    step: Step,
    R: Floats,
    solver: tuple[Bools, Bools, Factors],
    inc: Increment,
    own: LineFactors,
) -> None:
    """Answers of the tree to all lines that are kept, and S = G W."""
    count, active = lines.measure.shape[0], solver[1]
    for k in range(count):
        if not own.kept[k]:
            continue
        answer_of_tree(tree, lines, k, step, R, solver, inc)
        for i in range(tree.parent.shape[0]):
            if active[i]:
                store(load6(inc.t, i), own.t[k], i)
                own.t_joint[k, i] = inc.t_joint[i]
        for j in range(count):
            own.S[j, k] = along_line(lines, j, step.gradient, R, inc.t)


@inner_kernel
def factorise_lines(lines: Lines, motion: Motion, own: LineFactors) -> int:
    """The dense system of all lines from S; returns -1, or the line whose pivot vanished."""
    count = lines.measure.shape[0]
    for k in range(count):
        closed = lines.law[k] == CLOSED
        for j in range(count):
            if closed:
                own.LU[k, j] = own.S[k, j]
            else:
                total = 1.0 if j == k else 0.0
                first, count_of_law = span(lines, k)
                for m in range(first, first + count_of_law):
                    total -= line_slope(lines, k, m, motion) * own.S[m, j]
                own.LU[k, j] = total
    for k in range(count):
        if not own.kept[k]:
            own.LU[k] = 0.0
            own.LU[:, k] = 0.0
            own.LU[k, k] = 1.0
    return dense_factorise(own.LU, own.order)


@inline_kernel
def line_increments(lines: Lines, motion: Motion, inc: Increment, own: LineFactors) -> None:
    """Add to the increments of the tree what the lines ask for; update the impulses of closed lines."""
    count, step = lines.measure.shape[0], motion.step
    for k in range(count):
        own.sort[k] = along_line(lines, k, step.gradient, step.R_mid, inc.t)
    for k in range(count):
        own.rhs[k] = 0.0
        if own.kept[k] and lines.law[k] == CLOSED:
            own.rhs[k] = -motion.end.phi[k] / motion.signals.h[0] - own.sort[k]
        elif own.kept[k]:
            first, count_of_law = span(lines, k)
            for m in range(first, first + count_of_law):
                own.rhs[k] += line_slope(lines, k, m, motion) * own.sort[m]
    dense_solve(own.LU, own.order, own.rhs, own.sort)
    for k in range(count):
        change = own.sort[k]
        if lines.law[k] == CLOSED:
            step.impulse[k] += change
        for i in range(inc.t.shape[0]):
            add_to(change, load6(own.t[k], i), inc.t, i)
            inc.t_joint[i] += change * own.t_joint[k, i]
