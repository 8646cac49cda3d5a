"""Forces of relations within Newton's method, and velocities that fit closed loops at the end of a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.block_elimination import parts_of, solve_in_place
from pliant.mechanics.block_solve import push_roots, solve_tree
from pliant.mechanics.joint_kinematics import add_to_parent, to_child
from pliant.spatial.rows import add_to, copy_to, dot6, load6, plus6, stage_row, store
from pliant.spatial.small_matrices import set_block, solve_symmetric, times
from pliant.structures.change_points import LOOSE, near_change_point
from pliant.structures.collocation.chain import Floats, Ints
from pliant.structures.collocation.poses import set_poses
from pliant.structures.collocation.relations import add_along_line, along_line, gradients_in_frames, measure
from pliant.structures.relations import CLOSED, SPRING, energy_of_lines

LARGEST_VIOLATION = 1e-9  # m or rad, of a constraint that should follow from others
OPEN = 1e-3  # m or rad, of a loose one: more than what momentum leaves


class Beside(NamedTuple):
    """Newton's method for the forces of the lines: a small dense system beside the tree.

    After the lines of relations come joints whose law bends: what its slopes at the stages have over those in the
    pivots, which are the same for all stages, is a law of such a line. (n, bent) of joints are lines n and on.

    The tree answers to a unit of each line with W. Rates of all stages follow the forces by Y = J W, which couples the
    stages only through T and its inverse; laws and loops are rows of one real system in the changes of f at all stages.
    """

    J: Floats  # (relations, 12) mean of the stages
    W: Floats  # (k, lines, parts, nodes, 6)
    W_q: NDArray[np.generic]  # (k, lines, dofs)
    S: NDArray[np.generic]  # (k, lines, lines) J W
    Y: Floats  # (s lines, s lines)
    inverse: Floats  # (s lines, 1, s lines)
    swaps: Ints  # (s lines,)
    rhs: Floats  # (s lines, 1)
    r: Floats  # (s lines, 1) rates that the tree alone asks for
    change: Floats  # (s, lines) of the forces
    d: Floats  # (k, parts, nodes, 6) increments of the tree alone
    d_q: NDArray[np.generic]  # (k, dofs)
    rho_e: Floats  # (k, parts, points, 6)
    turning: NDArray[np.generic]  # (k, dofs) what the balance of rotors leaves
    fresh: Ints  # (1,) whether the inverse is that of W and of what acts


def new_beside(relations: int, bent: int, stages: int, count: int, sizes: tuple[int, int, int], dtype: type) -> Beside:
    """``sizes``: nodes, strain points and joint coordinates; none of them matter without lines."""
    lines = relations + bent
    nodes, points, dofs = sizes if lines else (0, 0, 0)
    n, parts = stages * lines, parts_of(dtype)
    z: Any = np.zeros
    answers = z((count, lines, parts, nodes, 6)), z((count, lines, dofs), dtype), z((count, lines, lines), dtype)
    system = z((n, n)), z((n, 1, n)), z(n, np.int64), z((n, 1)), z((n, 1)), z((stages, lines))
    alone = z((count, parts, nodes, 6)), z((count, dofs), dtype), z((count, parts, points, 6)), z((count, dofs), dtype)
    return Beside(z((relations, 12)), *answers, *system, *alone, z(1, np.int64))


@inline_kernel
def set_answer(own, k, line, inc, parts):
    """Keep the answer of the tree to a unit of a line."""
    for part in range(parts):
        copy_to(inc.d[part], own.W[k, line, part])
    for j in range(inc.d_q.shape[0]):
        own.W_q[k, line, j] = inc.d_q[j]


@inline_kernel
def rate_of_parts(relations, J, line, d, parts, unit):
    """Rate of a line for increments d, whose parts are kept apart."""
    rate = along_line(relations, J, line, d, 0) + 0.0 * unit
    if parts == 2:
        rate += unit * along_line(relations, J, line, d, 1)
    return rate


@inline_kernel
def rate_of_line(plant, J, line, inc, parts, unit):
    """The same of the increments of the tree, or of a joint whose law bends."""
    first = J.shape[0]
    if line >= first:
        return inc.d_q[plant.joints.bent[line - first]] + 0.0 * unit
    return rate_of_parts(plant.relations, J, line, inc.d, parts, unit)


@inline_kernel
def couple_stages(spectrum, own):
    """Y: rates of all stages from forces at all stages."""
    s, m = own.change.shape
    for i in range(s):
        for j in range(s):
            for a in range(m):
                for b in range(m):
                    t = 0.0
                    for k in range(spectrum.lam.shape[0]):
                        f = spectrum.multiplicity[k] * spectrum.T[i, k] * spectrum.T_inverse[k, j]
                        t += (f * own.S[k, a, b]).real
                    own.Y[i * m + a, j * m + b] = t


@inline_kernel
def law_gains(relations, i, a, b):
    """Stiffness and damping of line a in the measure of line b of the same law, at stage i."""
    lines = relations.lines
    if lines.law[a] == SPRING:
        at = b - lines.group[a, 0]
        return lines.stiffness[a, at], lines.damping[a, at]
    return relations.slope[0, i, a], relations.slope[1, i, a]


@inner_kernel
def follow_bent_laws(bent, stages, own, method, h, rates, out):
    """out += what the slopes of bent laws have over those in the pivots, times rates (s lines, n) of all stages."""
    s, m = own.change.shape
    first = own.J.shape[0]
    for i in range(s):
        for a in range(first, m):
            c = bent[a - first]
            for j in range(s):
                gain = h * method.A[i, j] * stages.spring[i, c]
                if i == j:
                    gain += stages.damper[i, c]
                if gain != 0.0:
                    for n in range(rates.shape[1]):
                        out[i * m + a, n] += gain * rates[j * m + a, n]


@inner_kernel
def follow_laws(relations, own, method, h, rates, out):
    """out += what the laws of relations make of rates (s lines, n) of all stages; rows of closed lines stay."""
    s, m = own.change.shape
    lines = relations.lines
    for i in range(s):
        for a in range(own.J.shape[0]):
            if lines.law[a] == CLOSED:
                continue
            first, count = lines.group[a, 0], lines.group[a, 1]
            for b in range(first, first + count):
                stiffness, damping = law_gains(relations, i, a, b)
                for j in range(s):
                    gain = h * method.A[i, j] * stiffness
                    if i == j:
                        gain += damping
                    if gain != 0.0:
                        for n in range(rates.shape[1]):
                            out[i * m + a, n] += gain * rates[j * m + b, n]


@inner_kernel
def set_up_system(plant, stages, own, method, h, bent):
    """The system for the changes of f: Y df = r - wanted for loops, df + laws(Y df) = laws(r) for the others."""
    s, m = own.change.shape
    relations = plant.relations
    A = own.inverse[:, 0]
    A[:] = 0.0
    follow_laws(relations, own, method, h, own.Y, A)
    if bent:
        follow_bent_laws(plant.joints.bent, stages, own, method, h, own.Y, A)
    for i in range(s):
        for a in range(m):
            row = i * m + a
            if a >= own.J.shape[0] or relations.lines.law[a] != CLOSED:
                A[row, row] += 1.0
            elif relations.kept[0, a]:
                for n in range(s * m):
                    A[row, n] = own.Y[row, n]
            else:
                A[row, row] = 1.0
    return solve_in_place(own.inverse, 1, own.swaps)


@inner_kernel
def solve_lines(plant, stages, own, method, h, bent):
    """Changes of the forces of all stages for the rates r of the tree alone; False if they are not determined."""
    s, m = own.change.shape
    relations = plant.relations
    changing = bent
    for k in range(own.J.shape[0]):
        changing = changing or relations.lines.law[k] > SPRING
    if changing or own.fresh[0] == 0:
        if not set_up_system(plant, stages, own, method, h, bent):
            return False
        own.fresh[0] = 0 if bent else 1
    for n in range(s * m):
        own.rhs[n, 0] = 0.0
    follow_laws(relations, own, method, h, own.r, own.rhs)
    if bent:
        follow_bent_laws(plant.joints.bent, stages, own, method, h, own.r, own.rhs)
    for i in range(s):
        for a in range(own.J.shape[0]):
            if relations.lines.law[a] == CLOSED and relations.kept[0, a]:
                own.rhs[i * m + a, 0] = own.r[i * m + a, 0] + relations.rate[i, a] + relations.open[a] / h
    for i in range(s):
        for a in range(m):
            t = 0.0
            for n in range(s * m):
                t += own.inverse[i * m + a, 0, n] * own.rhs[n, 0]
            own.change[i, a] = t
            if a < own.J.shape[0] and relations.lines.law[a] == CLOSED:
                relations.force[i, a] += t
    return True


@inner_kernel
def answer_lines(plant, spectrum, factors, inc, own):
    """Answers to the lines of relations, at the mean of the stages."""
    s, m = own.change.shape[0], own.J.shape[0]
    own.J[:] = 0.0
    for i in range(s):
        for k in range(m):
            for c in range(12):
                own.J[k, c] += plant.relations.J[i, k, c] / s
    answer_some(plant, spectrum, factors, inc, own, 0, m)


@inner_kernel
def answer_some(plant, spectrum, factors, inc, own, first, last):
    """Answers of the tree to a unit of each line from ``first`` to before ``last``, and what all lines see of them."""
    tree, mesh, relations = plant.chain.tree, plant.chain.mesh, plant.relations
    related = own.J.shape[0]
    for k in range(spectrum.lam.shape[0]):
        for line in range(first, last):
            inc.b[:] = 0.0
            inc.b_q[:] = 0.0
            if line < related:
                add_along_line(relations, own.J, line, 1.0, inc.b, 0)
                push_roots(tree, factors.pose, inc.b[0:1], inc.b_q, 1.0)
            else:
                inc.b_q[plant.joints.bent[line - related]] = 1.0
            solve_tree(tree, mesh.start, factors, plant.drives.free, k, inc)
            set_answer(own, k, line, inc, factors.parts[k])
            for j in range(own.change.shape[1]):
                own.S[k, j, line] = rate_of_line(plant, own.J, j, inc, factors.parts[k], factors.unit[0])
    couple_stages(spectrum, own)
    own.fresh[0] = 0


@inline_kernel
def note_alone(plant, spectrum, factors, own, inc, k):
    """Keep the increments of the tree alone for member k, and add what the lines see of them to all stages."""
    s, m = own.change.shape
    copy_to(inc.d, own.d[k])
    copy_to(inc.d_q, own.d_q[k])
    copy_to(inc.rho_e, own.rho_e[k])
    for a in range(m):
        rate = rate_of_line(plant, own.J, a, inc, factors.parts[k], factors.unit[0])
        for i in range(s):
            own.r[i * m + a, 0] += (spectrum.multiplicity[k] * spectrum.T[i, k] * rate).real


@inline_kernel
def take_up_forces(spectrum, factors, own, inc, k):
    """Increments of member k with the changes of the forces."""
    s, m = own.change.shape
    copy_to(own.d[k], inc.d)
    copy_to(own.d_q[k], inc.d_q)
    copy_to(own.rho_e[k], inc.rho_e)
    last = factors.parts[k] - 1
    for a in range(m):
        f = spectrum.T_inverse[k, 0] * own.change[0, a]
        for i in range(1, s):
            f += spectrum.T_inverse[k, i] * own.change[i, a]
        for n in range(inc.d.shape[1]):
            x = stage_row(own.W[k, a], 0, n)
            add_to(-f.real, x, inc.d[0], n)
            if last == 1:
                y = stage_row(own.W[k, a], 1, n)
                add_to(f.imag, y, inc.d[0], n)
                add_to(-f.real, y, inc.d[1], n)
                add_to(-f.imag, x, inc.d[1], n)
        for j in range(inc.d_q.shape[0]):
            inc.d_q[j] -= f * own.W_q[k, a, j]


@inner_kernel
def measure_end(tree, relations, e, pose):
    """How far the lines are from closed at the end of a step, and their gradients there; returns their energy."""
    measure(tree, relations, e, pose, 0)
    gradients_in_frames(relations, relations.fit.J)
    copy_to(relations.now.phi, relations.open)
    stored = energy_of_lines(relations.lines, relations.now)
    relations.booked[1] = max(relations.booked[1], abs(stored - relations.booked[0]))
    return stored


@kernel
def measure_start(tree, relations, state, pose):
    """`measure_end` of the state that a run starts from, for Python; returns the energy of the lines."""
    set_poses(tree, state.q[None], 0, state.turn, state.place, pose)
    stored = measure_end(tree, relations, state.e[None], pose)
    relations.booked[1] = 0.0
    return stored


@inner_kernel
def answer_impulses(plant, pose, scratch, V, qd):
    """Velocities V (1, nodes, 6) and rates after the momenta in ``fit``, which are destroyed; joints hold.

    scratch: masses of roots and tips with what hangs on them, and of joints, as `project` leaves them.
    """
    tree, M, drives, fit = plant.chain.tree, plant.chain.inertia.M, plant.drives, plant.relations.fit
    p = fit.momentum
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        root, dof = tree.first_node[link], tree.dof[link]
        x = stage_row(p, 0, root)
        if dof >= 0 and not drives.prescribed[dof]:
            fit.along[link] = dot6(x, load6(tree.S, link))
            if scratch.joint[link, 0] > 0.0:
                x = plus6(x, -fit.along[link] / scratch.joint[link, 0], load6(scratch.column, link))
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, p, tree.parent_node[link], 0)
    for link in range(tree.parent.shape[0]):
        root, dof = tree.first_node[link], tree.dof[link]
        v = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if tree.parent[link] >= 0:
            v = to_child(pose, link, V, tree.parent_node[link], 0)
        if dof >= 0:
            qd[dof] = 0.0
            if not drives.prescribed[dof] and scratch.joint[link, 0] > 0.0:
                qd[dof] = (fit.along[link] - dot6(load6(scratch.column, link), v)) / scratch.joint[link, 0]
                v = plus6(v, qd[dof], load6(tree.S, link))
        store(v, V[0], root)
        for node in range(root + 1, tree.last_node[link] + 1):
            copy_to(p[0, node], V[0, node])
            carries = node == tree.last_node[link] and tree.n_children[link] > 0
            set_block(scratch.mass[node] if carries else M[node], fit.work)
            solve_symmetric(fit.work, V[0, node])


@inner_kernel
def answer_velocities(plant, pose, V, scratch):
    """Velocities after a unit impulse of each closed line, what the lines see of them and of V."""
    relations = plant.relations
    fit, kept = relations.fit, relations.kept[1]
    m = kept.shape[0]
    for k in range(m):
        fit.rate[k] = 0.0
        fit.S[k] = 0.0
        fit.S[k, 0, k] = 1.0
    for k in range(m):
        if not kept[k]:
            continue
        fit.momentum[:] = 0.0
        add_along_line(relations, fit.J, k, 1.0, fit.momentum, 0)
        answer_impulses(plant, pose, scratch, fit.V[k], fit.qd[k])
        fit.rate[k] = along_line(relations, fit.J, k, V, 0)
        for j in range(m):
            if kept[j]:
                fit.S[j, 0, k] = along_line(relations, fit.J, j, fit.V[k], 0)


@inner_kernel
def leave_loose_out(relations):
    """Pivots of the lines in ``D``; those that are loose across a change point give no impulse."""
    fit, kept = relations.fit, relations.kept[1]
    S, D, m = fit.S, fit.D, kept.shape[0]
    for k in range(m):
        D[k, k] = S[k, 0, k]
        for j in range(k):
            D[k, j] = 0.0
            if kept[k] and kept[j] and fit.rank[j, LOOSE] == 0.0:
                D[k, j] = S[k, 0, j]
                for i in range(j):
                    D[k, j] -= D[k, i] * D[j, i] * D[i, i]
                D[k, j] /= D[j, j]
                D[k, k] -= D[k, j] * D[k, j] * D[j, j]
    for k in range(m):
        if fit.rank[k, LOOSE] > 0.0:
            for j in range(m):
                S[k, 0, j] = S[j, 0, k] = 0.0
            S[k, 0, k], fit.rate[k] = 1.0, 0.0


@inner_kernel
def follow_momentum(relations, beside):
    """Loosen lines across change points, by the pivots of the fitted velocities."""
    fit, kept = relations.fit, relations.kept
    for k in range(kept.shape[1]):
        before = fit.rank[k, LOOSE] > 0.0
        if relations.lines.law[k] != CLOSED or not kept[1, k] or not (before or kept[0, k]):
            continue
        loose = near_change_point(fit.rank[k], abs(fit.D[k, k]))
        if loose != before:
            kept[0, k], beside.fresh[0] = not loose, 0
            relations.force[:, k] = 0.0


@inner_kernel
def close_velocities(plant, pose, V, qd, scratch):
    """Fit V and the free rates, which fit all joints, to the closed lines: least change of kinetic energy.

    Returns the loss, which adds to that of `project`, and leaves in the impulses of the ends those that joints give.
    """
    tree, M, relations = plant.chain.tree, plant.chain.inertia.M, plant.relations
    fit, kept = relations.fit, relations.kept[1]
    m = kept.shape[0]
    answer_velocities(plant, pose, V, scratch)
    leave_loose_out(relations)
    if not solve_in_place(fit.S, 1, fit.swaps):
        return np.nan
    for k in range(m):
        fit.impulse[k] = 0.0
        if kept[k]:
            for j in range(m):
                fit.impulse[k] -= fit.S[k, 0, j] * fit.rate[j]
    loss = 0.0
    for j in range(qd.shape[0]):
        change = 0.0
        for k in range(m):
            change += fit.impulse[k] * fit.qd[k, j]
        qd[j] += change
        loss += 0.5 * plant.joints.inertia[j] * change * change
    for link in range(tree.parent.shape[0]):
        first, last = tree.first_node[link], tree.last_node[link]
        for node in range(first, last + 1):
            d = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for k in range(m):
                d = plus6(d, fit.impulse[k], stage_row(fit.V[k], 0, node))
            add_to(1.0, d, V[0], node)
            x = times(M[node], d)
            loss += 0.5 * dot6(d, x)
            if node in (first, last):
                add_to(1.0, x, scratch.impulse[0], node)
    for k in range(m):
        if kept[k]:
            add_along_line(relations, fit.J, k, -fit.impulse[k], scratch.impulse, 0)
    return loss


@inner_kernel
def loop_opened(relations):
    """Whether a closed line that others imply is not closed by them; prescribed motions may contradict it."""
    allowed = LARGEST_VIOLATION
    for k in range(relations.taken.shape[0]):
        if relations.lines.law[k] == CLOSED and relations.kept[0, k]:
            allowed = max(allowed, 10.0 * abs(relations.open[k]))
    for k in range(relations.taken.shape[0]):
        most = allowed if relations.fit.rank[k, LOOSE] == 0.0 else OPEN
        if relations.lines.law[k] == CLOSED and not relations.kept[0, k] and abs(relations.open[k]) > most:
            return k
    return -1
