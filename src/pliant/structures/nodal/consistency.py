"""Velocities that fit joints and loops: the nearest ones in the metric of the masses.

End velocities 2 y - v0 fit a joint only up to h^2 where both of its sides carry inertia, as a deviation that changes
sign every step. Opposite impulses at the joints take it away: momentum stays, energy only falls, and what it falls
by is entered.

Dry friction of free links against the world: a viscous drag that is chosen anew for every step.

    force = -f(|v|) v / |v| ,   moment = -f(|w|) w / |w|

As for ball joints, the size of the velocity is that at the start of the step and its direction that of the step, so
that friction loses energy in any step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import along_spin
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, plus6, scale6, store
from pliant.spatial.se3 import Twist, angular, join, linear
from pliant.spatial.small_matrices import set_block, times
from pliant.spatial.vectors import add, apply, apply_transpose, cross, dot, scale, sub
from pliant.structures.change_points import LOOSE, RANK_COLUMNS, near_change_point
from pliant.structures.nodal import relation_solver as beside
from pliant.structures.nodal.balance import along_joint, pass_to_parent
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND, PRISMATIC
from pliant.structures.nodal.coupling import Condensed, condense, follow, new_condensed
from pliant.structures.nodal.mechanism import Bools, Floats, Mechanism, Pose, Tree
from pliant.structures.nodal.motion import (
    Factors,
    Increment,
    Moment,
    Signals,
    Step,
    new_factors,
    new_increment,
    new_step,
)
from pliant.structures.nodal.relation_solver import LineFactors
from pliant.structures.nodal.relations import add_along_line
from pliant.structures.nodal.solver import factorise, joint_direction, lever_of, put_body, put_joint_at_rest, solve_tree
from pliant.structures.relations import CLOSED, Lines, line_gradients


class Fit(NamedTuple):
    """Scratch of the projection."""

    tree: Tree  # without the elements: what they join are separate roots; active nodes that share inertia stay joined
    active: Bools  # (nodes,) nodes with a joint or a loop
    any_active: bool
    any_driven: bool
    factors: Factors
    increment: Increment
    lines: LineFactors
    step: Step
    condensed: Condensed
    M: Floats  # (nodes, 6, 6)
    before: Floats  # (nodes, 6) velocities to be projected, node frames
    t: Floats  # (nodes, 6) velocities that fit
    impulse: Floats  # (nodes, 6) momentum of the one less that of the other, node frames
    driven_work: Floats  # (coordinates + 1,) impulsive work of the drives and of the base
    rank: Floats  # (lines, 4) see `change_points`


def new_fit(mechanism: Mechanism, kept: Bools, base_moves: bool) -> Fit:
    """Which nodes take part: those on either side of a joint, and those of closed lines."""
    tree, lines = mechanism.tree, mechanism.lines
    nodes, coordinates, _ = mechanism.sizes
    joint_type, parent = tree.joint_type.copy(), tree.parent.copy()
    parent[joint_type == ELEMENT] = -1
    joint_type[joint_type == ELEMENT] = FREE
    active = joint_type >= FIXED
    active[parent[joint_type >= FIXED]] = True
    closed = lines.law == CLOSED
    active[lines.node[closed].ravel()] = True
    any_active = bool(np.any(joint_type >= FIXED) or np.any(closed))
    condensed = new_condensed(mechanism, active)
    joined = active & (condensed.above >= 0)
    joint_type[joined], parent[joined] = ELEMENT, condensed.above[joined]
    any_driven = bool(np.any(mechanism.coordinates.prescribed)) or base_moves
    parted = tree._replace(joint_type=joint_type, parent=parent)
    tools = (new_factors(nodes), new_increment(nodes), beside.new_line_factors(mechanism, kept & closed))
    ranks = (len(lines.law), RANK_COLUMNS)
    arrays = (np.zeros(shape) for shape in ((nodes, 6, 6), (nodes, 6), (nodes, 6), (nodes, 6), coordinates + 1, ranks))
    return Fit(parted, active, any_active, any_driven, *tools, new_step(*mechanism.sizes), condensed, *arrays)


@kernel
def node_velocity(mechanism: Mechanism, i: int, now: Pose, R: Floats) -> Twist:
    """Velocity of the origin of node i in its own frame, and its spin."""
    w = load3(now.w, i)
    u = sub(apply_transpose(load9(R, i), load3(now.v, i)), cross(w, load3(mechanism.bodies.center, i)))
    return join(u, w)


@inner_kernel
def set_velocity(mechanism: Mechanism, i: int, t: Twist, R: Floats, now: Pose) -> None:
    """The opposite of `node_velocity`."""
    u = add(linear(t), cross(angular(t), load3(mechanism.bodies.center, i)))
    store(apply(load9(R, i), u), now.v, i)
    store(angular(t), now.w, i)


@inline_kernel
def rotor_of_rigid_gear(mechanism: Mechanism, c: int) -> float:
    """Rotor inertia that moves with the coordinate itself."""
    laws = mechanism.coordinates
    return laws.motor[c, 0] if laws.has_motor[c] and laws.motor[c, 1] <= 0.0 else 0.0


@kernel
def lay_out_velocities(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> None:
    """Velocities that fit the tree for the present roots and rates, and what is left of the given ones as momentum."""
    tree, step = fit.tree, fit.step
    put_inertia(mechanism, at, fit)
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        joint_type = tree.joint_type[i]
        given = node_velocity(mechanism, i, now, at.R)
        store(given, fit.before, i)
        if joint_type == GROUND:
            b = signals.base
            if i > 0:  # in the world
                fit.t[i] = 0.0
                continue
            store(apply_transpose(load9(at.R, i), (b[7], b[8], b[9])), fit.t, i)
            store((b[10], b[11], b[12]), fit.t, i, 3)
        elif joint_type < FIXED:
            store(given, fit.t, i)
        else:
            c, p = tree.coordinate[i], tree.parent[i]
            put_joint_at_rest(tree, i, at, fit.factors)
            store(times(fit.factors.A[i], load6(fit.t, p)), fit.t, i)
            place = lever_of(tree, i, at.q[c] if joint_type == PRISMATIC else 0.0)
            store(apply(load9(at.R, p), place), step.lever, i)
            if c >= 0:
                store(apply(load9(at.R, i), load3(tree.axis, i)), step.axis, i)
                if mechanism.coordinates.prescribed[c]:
                    now.qd[c] = signals.target[c, 1]
                add_to(now.qd[c], joint_direction(tree, i), fit.t, i)
                fit.factors.pivot[i] = rotor_of_rigid_gear(mechanism, c)
    put_momenta(at.R, 1.0, fit)


@inline_kernel
def put_inertia(mechanism: Mechanism, at: Moment, fit: Fit) -> None:
    """Of all active nodes, with what follows them."""
    tree, factors = fit.tree, fit.factors
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            put_body(mechanism.bodies, i, 1.0, fit.M[i])
    if mechanism.elements.couples:
        condense(mechanism, at, fit.M, fit.condensed)
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            set_block(fit.M[i], factors.D[i])
            if tree.joint_type[i] == ELEMENT:
                set_block(fit.condensed.C[i], factors.up[i])
                for k in range(6):
                    store(scale6(-1.0, load6(fit.condensed.C[i].T, k)), factors.low[i], k)


@inner_kernel
def put_momenta(R: Floats, sign: float, fit: Fit) -> None:
    """``impulse`` from the given velocities less those that fit, and sign times it in the world."""
    tree = fit.tree
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            d = plus6(load6(fit.before, i), -1.0, load6(fit.t, i))
            store(times(fit.M[i], d), fit.impulse, i)
            if tree.joint_type[i] == ELEMENT:
                p = tree.parent[i]
                add_to(1.0, times(fit.condensed.C[i], d), fit.impulse, p)
                d = plus6(load6(fit.before, p), -1.0, load6(fit.t, p))
                add_to(1.0, times(fit.condensed.C[i].T, d), fit.impulse, i)
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            turn = load9(R, i)
            store(scale(sign, apply(turn, load3(fit.impulse, i))), fit.step.rho, i)
            store(scale(sign, apply(turn, load3(fit.impulse, i, 3))), fit.step.rho, i, 3)


@inner_kernel
def pass_momentum(mechanism: Mechanism, now: Pose, fit: Fit, balanced: bool) -> None:
    """Rows of the joints, and what they transmit of the momentum of joint children added to parents.

    A rotor on a rigid gear has a part in the row of its joint. Joints that are balanced transmit all.
    """
    tree, step = fit.tree, fit.step
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        if fit.active[i] and tree.joint_type[i] >= FIXED:
            c, kept_back = tree.coordinate[i], 0.0
            if c >= 0:
                step.row[i] = along_joint(tree, i, step, step.rho)
                if not balanced and not mechanism.coordinates.prescribed[c]:
                    step.row[i] += rotor_of_rigid_gear(mechanism, c) * (now.motor[c, 1] - now.qd[c])
                    kept_back = step.row[i]
            pass_to_parent(tree, i, kept_back, step, step.rho)


@inline_kernel
def measure_closing(lines: Lines, at: Moment, fit: Fit) -> None:
    """Velocities along closed lines before these act."""
    own, gradient = fit.lines, fit.step.gradient
    line_gradients(lines, at, at, at.R, gradient)
    for k in range(lines.measure.shape[0]):
        own.rhs[k] = 0.0
        if own.kept[k] and fit.rank[k, LOOSE] == 0.0:
            own.rhs[k] = -beside.along_line(lines, k, gradient, at.R, fit.t)
            own.rhs[k] -= beside.along_line(lines, k, gradient, at.R, fit.increment.t)


@inline_kernel
def close_loops(mechanism: Mechanism, at: Moment, fit: Fit) -> int:
    """Impulses of closed lines that take away the velocity along them; returns -1 or the failing line."""
    lines, own, inc = mechanism.lines, fit.lines, fit.increment
    count = lines.measure.shape[0]
    prescribed = mechanism.coordinates.prescribed
    beside.fill_answers(fit.tree, lines, fit.step, at.R, (prescribed, fit.active, fit.factors), inc, own)
    for k in range(count):
        for j in range(count):
            both = own.kept[k] and own.kept[j] and fit.rank[k, LOOSE] + fit.rank[j, LOOSE] == 0.0
            own.LU[k, j] = own.S[k, j] if both else (1.0 if j == k else 0.0)
    failed = beside.dense_factorise(own.LU, own.order)
    if failed >= 0:
        return failed
    beside.dense_solve(own.LU, own.order, own.rhs, fit.step.impulse)
    for k in range(count):
        if own.kept[k] and fit.rank[k, LOOSE] == 0.0:
            for i in range(inc.t.shape[0]):
                if fit.active[i]:
                    add_to(fit.step.impulse[k], load6(own.t[k], i), fit.t, i)
                    fit.step.s[i] += fit.step.impulse[k] * own.t_joint[k, i]
        else:
            fit.step.impulse[k] = 0.0
    return -1


@inner_kernel
def follow_momentum(fit: Fit, kept: Bools, impulse: Floats) -> bool:
    """Loosen lines across change points, also those that steps have ``kept``; whether any has become loose or tight."""
    own, D, changed = fit.lines, fit.lines.LU, False  # nobody asks for the factors again
    for k in range(own.kept.shape[0]):
        if not own.kept[k]:
            continue
        pivot = own.S[k, k]
        for j in range(k):
            if own.kept[j] and fit.rank[j, LOOSE] == 0.0:
                D[k, j] = own.S[k, j]
                for m in range(j):
                    if own.kept[m] and fit.rank[m, LOOSE] == 0.0:
                        D[k, j] -= D[k, m] * D[j, m] * D[m, m]
                D[k, j] /= D[j, j]
                pivot -= D[k, j] * D[k, j] * D[j, j]
        D[k, k] = pivot
        before = fit.rank[k, LOOSE] > 0.0
        loose = near_change_point(fit.rank[k], abs(pivot))
        if loose:
            impulse[k] = 0.0
        if loose != before:
            kept[k], changed = not loose, True
    return changed


@inner_kernel
def impulsive_works(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> None:
    """Work of drives and base through the impulses of the projection."""
    tree, step, lines = fit.tree, fit.step, mechanism.lines
    n = fit.driven_work.shape[0] - 1
    for k in range(lines.measure.shape[0]):
        if fit.lines.kept[k]:
            add_along_line(lines, k, step.impulse[k], step.gradient, step.rho)
    pass_momentum(mechanism, now, fit, True)
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        c = tree.coordinate[i]
        if tree.joint_type[i] == GROUND:
            t = load6(fit.t, i)
            u, w = apply(load9(at.R, i), linear(t)), apply(load9(at.R, i), angular(t))
            fit.driven_work[n] += dot(load3(step.rho, i), u) + dot(load3(step.rho, i, 3), w)
        elif c >= 0 and mechanism.coordinates.prescribed[c]:
            fit.driven_work[c] = step.row[i] * signals.target[c, 1]


@kernel
def fit_velocities(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> tuple[float, float]:
    """Replace velocities and joint rates by the nearest that fit; returns the energy lost, or -1 if singular, and the
    kinetic energy gained: what drives and base put in less what was lost."""
    tree, inc, step = fit.tree, fit.increment, fit.step
    prescribed = mechanism.coordinates.prescribed
    fit.driven_work[:] = 0.0
    if not fit.any_active:
        return 0.0, 0.0
    lay_out_velocities(mechanism, signals, now, at, fit)
    pass_momentum(mechanism, now, fit, False)
    if factorise(tree, prescribed, fit.active, fit.active, fit.factors) >= 0:
        return -1.0, 0.0
    beside.to_frames(tree, fit.active, at.R, step.rho, inc.b)
    for i in range(tree.parent.shape[0]):
        inc.b_joint[i] = 0.0
        if fit.active[i]:
            if tree.coordinate[i] >= 0:
                inc.b_joint[i] = -step.row[i]
            for k in range(6):
                inc.b[i, k] = -inc.b[i, k]
        else:
            inc.t[i] = 0.0
    solve_tree(tree, prescribed, fit.active, fit.factors, inc)
    if mechanism.lines.measure.shape[0] > 0:
        measure_closing(mechanism.lines, at, fit)
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            add_to(1.0, load6(inc.t, i), fit.t, i)
            step.s[i] = inc.t_joint[i]
    if mechanism.lines.measure.shape[0] > 0 and close_loops(mechanism, at, fit) >= 0:
        return -1.0, 0.0
    lost, gained = 0.0, 0.0
    put_momenta(at.R, -1.0, fit)
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        t, g, impulse = load6(fit.t, i), load6(fit.before, i), load6(fit.impulse, i)
        d = plus6(g, -1.0, t)
        lost += 0.5 * dot6(d, impulse)
        gained -= 0.5 * (dot6(g, impulse) + dot6(t, impulse))
        if mechanism.elements.couples:
            store(scale(-1.0, apply(load9(at.R, i), linear(d))), fit.condensed.moved, i)
            store(scale(-1.0, angular(d)), fit.condensed.moved, i, 3)
        set_velocity(mechanism, i, t, at.R, now)
        c = tree.coordinate[i]
        if c >= 0 and not prescribed[c]:
            now.qd[c] += step.s[i]
            J = rotor_of_rigid_gear(mechanism, c)
            if J > 0.0:
                slip = now.motor[c, 1] - now.qd[c]
                lost += 0.5 * J * slip * slip
                gained -= 0.5 * J * slip * (now.motor[c, 1] + now.qd[c])
                now.motor[c, 1] = now.qd[c]
    if mechanism.elements.couples:
        follow(fit.condensed, now)
    if fit.any_driven:
        impulsive_works(mechanism, signals, now, at, fit)
    return max(lost, 0.0), gained  # a loss of nothing may round to less


@inner_kernel
def renew_drag(mechanism: Mechanism, now: Pose, R: Floats) -> None:
    """Viscous drag of the gripped nodes for a step that starts with the present velocities."""
    bodies = mechanism.bodies
    for k in range(bodies.gripped.shape[0]):
        i = bodies.gripped[k]
        t = node_velocity(mechanism, i, now, R)
        for part in range(2):
            velocity = (t[3 * part], t[3 * part + 1], t[3 * part + 2])
            _, level = along_spin(bodies.grip[k, part], velocity, velocity[0])
            for j in range(3 * part, 3 * part + 3):
                bodies.viscous[i, j] = bodies.drag[k, j] + level
