"""The impulses of the lines within Newton's method: a small dense system beside the tree.

With tree(b) = -K^-1 b and W = tree(G^T):  dY = tree(rho) + W dI.  A closed line asks G dY = -phi / h; a spring asks
dI = Z G dY. Both give rows of one matrix: S = G W for the first, 1 - Z S for the second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.vectors import apply_transpose, dot
from pliant.structures.nodal.balance import pass_to_parent
from pliant.structures.nodal.mechanism import CLOSED, ELEMENT, FIXED, FREE, REVOLUTE, Bools, Floats, Ints, Lines, Tree
from pliant.structures.nodal.motion import Moment, Step
from pliant.structures.nodal.relations import line_slope, span
from pliant.structures.nodal.rows import add_six, add_to, matrix, put, put_six, six, vector
from pliant.structures.nodal.solver import Factors, Increment, solve_tree


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


def new_line_factors(lines: int, nodes: int, kept: Bools) -> LineFactors:
    z = np.zeros
    return LineFactors(
        z((lines, nodes, 6)),
        z((lines, nodes)),
        z((lines, lines)),
        z((lines, lines)),
        np.zeros(lines, np.int64),
        z(lines),
        z(lines),
        kept,
    )


@kernel
def to_frames(tree: Tree, active: Bools, R: Floats, rho: Floats, b: Floats) -> None:
    """World impulses of free and element nodes in their frames; joint children have given theirs to parents."""
    for i in range(tree.parent.shape[0]):
        if not active[i]:
            continue
        if tree.joint_type[i] == FREE or tree.joint_type[i] == ELEMENT:
            Ri = matrix(R, i)
            put(b, i, 0, apply_transpose(Ri, vector(rho, i, 0)))
            put(b, i, 3, apply_transpose(Ri, vector(rho, i, 3)))
        else:
            put_six(b, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@kernel
def along_line(lines: Lines, k: int, gradient: Floats, R: Floats, t: Floats) -> float:
    """Velocity along line k of increments t given in the frames R."""
    a, b = lines.node[k, 0], lines.node[k, 1]
    Ra, Rb = matrix(R, a), matrix(R, b)
    return (
        dot(apply_transpose(Ra, vector(gradient, k, 0)), vector(t, a, 0))
        + dot(apply_transpose(Ra, vector(gradient, k, 3)), vector(t, a, 3))
        + dot(apply_transpose(Rb, vector(gradient, k, 6)), vector(t, b, 0))
        + dot(apply_transpose(Rb, vector(gradient, k, 9)), vector(t, b, 3))
    )


@inner_kernel
def answer_of_tree(
    tree: Tree, lines: Lines, k: int, step: Step, R: Floats, solver: tuple[Bools, Bools, Factors], inc: Increment
) -> None:
    """inc.t = tree(G_k^T): the impulse of joint children goes to their parents as in the balance."""
    prescribed, active, factors = solver
    n = tree.parent.shape[0]
    rho = inc.t  # scratch until the solve overwrites it
    for i in range(n):
        put_six(rho, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
        inc.b_joint[i] = 0.0
    a, b = lines.node[k, 0], lines.node[k, 1]
    add_to(rho, a, 0, 1.0, vector(step.gradient, k, 0))
    add_to(rho, a, 3, 1.0, vector(step.gradient, k, 3))
    add_to(rho, b, 0, 1.0, vector(step.gradient, k, 6))
    add_to(rho, b, 3, 1.0, vector(step.gradient, k, 9))
    for i in range(n - 1, -1, -1):
        if tree.joint_type[i] >= FIXED:
            c, axis = tree.coordinate[i], vector(step.axis, i, 0)
            if c >= 0 and not prescribed[c]:
                inc.b_joint[i] = dot(axis, vector(rho, i, 3 if tree.joint_type[i] == REVOLUTE else 0))
            lever = vector(step.lever, i, 0)
            pass_to_parent(tree.joint_type[i], inc.b_joint[i], axis, lever, i, tree.parent[i], rho)
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
                put_six(own.t[k], i, six(inc.t, i))
                own.t_joint[k, i] = inc.t_joint[i]
        for j in range(count):
            own.S[j, k] = along_line(lines, j, step.gradient, R, inc.t)


@inner_kernel
def factorise_lines(lines: Lines, h: float, start: Moment, way: Floats, own: LineFactors) -> int:
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
                    total -= line_slope(lines, k, m, h, start, way) * own.S[m, j]
                own.LU[k, j] = total
    for k in range(count):
        if not own.kept[k]:
            for j in range(count):
                own.LU[k, j] = 0.0
                own.LU[j, k] = 0.0
            own.LU[k, k] = 1.0
    return dense_factorise(own.LU, own.order)


@inline_kernel
def line_increments(
    lines: Lines, h: float, moments: tuple[Moment, Moment], step: Step, inc: Increment, own: LineFactors
) -> None:
    """Add to the increments of the tree what the lines ask for; update the impulses of closed lines."""
    start, end = moments
    count = lines.measure.shape[0]
    for k in range(count):
        own.sort[k] = along_line(lines, k, step.gradient, step.R_mid, inc.t)
    for k in range(count):
        if not own.kept[k]:
            own.rhs[k] = 0.0
        elif lines.law[k] == CLOSED:
            own.rhs[k] = -end.phi[k] / h - own.sort[k]
        else:
            own.rhs[k] = 0.0
            first, count_of_law = span(lines, k)
            for m in range(first, first + count_of_law):
                own.rhs[k] += line_slope(lines, k, m, h, start, step.way) * own.sort[m]
    dense_solve(own.LU, own.order, own.rhs, own.sort)
    for k in range(count):
        change = own.sort[k]
        if lines.law[k] == CLOSED:
            step.impulse[k] += change
        for i in range(inc.t.shape[0]):
            add_six(inc.t, i, change, six(own.t[k], i))
            inc.t_joint[i] += change * own.t_joint[k, i]
