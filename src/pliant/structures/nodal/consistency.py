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
from pliant.spatial.se3 import Twist
from pliant.spatial.small_matrices import times
from pliant.spatial.vectors import add, apply, apply_transpose, cross, dot, sub
from pliant.structures.nodal.balance import pass_to_parent
from pliant.structures.nodal.joint_laws import along_spin
from pliant.structures.nodal.mechanism import (
    CLOSED,
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    Bools,
    Floats,
    Mechanism,
    Pose,
    Tree,
)
from pliant.structures.nodal.motion import Moment, Signals, Step, new_step
from pliant.structures.nodal.relation_solver import (
    LineFactors,
    along_line,
    dense_factorise,
    dense_solve,
    fill_answers,
    new_line_factors,
    to_frames,
)
from pliant.structures.nodal.relations import line_gradients
from pliant.structures.nodal.rows import add_six, add_to, dot_six, matrix, put, put_six, six, vector
from pliant.structures.nodal.solver import (
    Factors,
    Increment,
    factorise,
    joint_direction,
    lever_of,
    new_factors,
    new_increment,
    put_body,
    put_joint_at_rest,
    solve_tree,
)


class Fit(NamedTuple):
    """Scratch of the projection."""

    tree: Tree  # without the elements: what they join are separate roots
    active: Bools  # (nodes,) nodes with a joint or a loop
    any_active: bool
    any_driven: bool
    factors: Factors
    increment: Increment
    lines: LineFactors
    step: Step
    M: Floats  # (nodes, 6, 6)
    before: Floats  # (nodes, 6) velocities to be projected, node frames
    t: Floats  # (nodes, 6) velocities that fit
    driven_work: Floats  # (coordinates + 1,) impulsive work of the drives and of the base


def new_fit(mechanism: Mechanism, kept: Bools, base_moves: bool) -> Fit:
    """Which nodes take part: those on either side of a joint, and those of closed lines."""
    tree, lines = mechanism.tree, mechanism.lines
    nodes, coordinates = len(tree.parent), len(mechanism.coordinates.spring)
    joint_type, parent = tree.joint_type.copy(), tree.parent.copy()
    parent[joint_type == ELEMENT] = -1
    joint_type[joint_type == ELEMENT] = FREE
    active = joint_type >= FIXED
    active[parent[joint_type >= FIXED]] = True
    closed = lines.law == CLOSED
    active[lines.node[closed].ravel()] = True
    return Fit(
        tree._replace(joint_type=joint_type, parent=parent),
        active,
        bool(np.any(joint_type >= FIXED) or np.any(closed)),
        bool(np.any(mechanism.coordinates.prescribed)) or base_moves,
        new_factors(nodes),
        new_increment(nodes),
        new_line_factors(len(lines.law), nodes, kept & closed),
        new_step(nodes, coordinates, len(lines.law)),
        np.zeros((nodes, 6, 6)),
        np.zeros((nodes, 6)),
        np.zeros((nodes, 6)),
        np.zeros(coordinates + 1),
    )


@kernel
def node_velocity(mechanism: Mechanism, i: int, now: Pose, R: Floats) -> Twist:
    """Velocity of the origin of node i in its own frame, and its spin."""
    w = vector(now.w, i, 0)
    u = sub(apply_transpose(matrix(R, i), vector(now.v, i, 0)), cross(w, vector(mechanism.bodies.center, i, 0)))
    return (u[0], u[1], u[2], w[0], w[1], w[2])


@inner_kernel
def set_velocity(mechanism: Mechanism, i: int, t: Twist, R: Floats, now: Pose) -> None:
    """The opposite of `node_velocity`."""
    w = (t[3], t[4], t[5])
    u = add((t[0], t[1], t[2]), cross(w, vector(mechanism.bodies.center, i, 0)))
    put(now.v, i, 0, apply(matrix(R, i), u))
    put(now.w, i, 0, w)


@inline_kernel
def rotor_of_rigid_gear(mechanism: Mechanism, c: int) -> float:
    """Rotor inertia that moves with the coordinate itself."""
    laws = mechanism.coordinates
    return laws.motor[c, 0] if laws.has_motor[c] and laws.motor[c, 1] <= 0.0 else 0.0


@kernel
def lay_out_velocities(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> None:
    """Velocities that fit the tree for the present roots and rates, and what is left of the given ones as momentum."""
    tree, step = fit.tree, fit.step
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        joint_type = tree.joint_type[i]
        given = node_velocity(mechanism, i, now, at.R)
        put_six(fit.before, i, given)
        put_body(mechanism.bodies, i, 1.0, fit.M[i])
        for k in range(6):
            put_six(fit.factors.D[i], k, six(fit.M[i], k))
        if joint_type == GROUND:
            b = signals.base
            u = apply_transpose(matrix(at.R, i), (b[7], b[8], b[9]))
            put_six(fit.t, i, (u[0], u[1], u[2], b[10], b[11], b[12]))
        elif joint_type == FREE:
            put_six(fit.t, i, given)
        else:
            c, p = tree.coordinate[i], tree.parent[i]
            put_joint_at_rest(tree, i, at, fit.factors)
            put_six(fit.t, i, times(fit.factors.A[i], six(fit.t, p)))
            place = lever_of(tree, i, at.q[c] if joint_type == PRISMATIC else 0.0)
            put(step.lever, i, 0, apply(matrix(at.R, p), place))
            if c >= 0:
                put(step.axis, i, 0, apply(matrix(at.R, i), vector(tree.axis, i, 0)))
                if mechanism.coordinates.prescribed[c]:
                    now.qd[c] = signals.target[c, 1]
                add_six(fit.t, i, now.qd[c], joint_direction(tree, i))
                fit.factors.pivot[i] = rotor_of_rigid_gear(mechanism, c)
        put_momentum(fit, i, at.R, six(fit.t, i))


@inner_kernel
def put_momentum(fit: Fit, i: int, R: Floats, velocity: Twist) -> None:
    """Momentum of the given velocity of node i less that of another one, world, about the node."""
    g = six(fit.before, i)
    P = times(
        fit.M[i],
        (
            g[0] - velocity[0],
            g[1] - velocity[1],
            g[2] - velocity[2],
            g[3] - velocity[3],
            g[4] - velocity[4],
            g[5] - velocity[5],
        ),
    )
    put(fit.step.rho, i, 0, apply(matrix(R, i), (P[0], P[1], P[2])))
    put(fit.step.rho, i, 3, apply(matrix(R, i), (P[3], P[4], P[5])))


@inner_kernel
def pass_momentum(mechanism: Mechanism, now: Pose, fit: Fit, balanced: bool) -> None:
    """Rows of the joints, and what they transmit of the momentum of joint children added to parents.

    A rotor on a rigid gear has a part in the row of its joint. Joints that are balanced transmit all.
    """
    tree, step = fit.tree, fit.step
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        if fit.active[i] and tree.joint_type[i] >= FIXED:
            c, kept_back = tree.coordinate[i], 0.0
            axis, lever = vector(step.axis, i, 0), vector(step.lever, i, 0)
            if c >= 0:
                step.row[i] = dot(axis, vector(step.rho, i, 3 if tree.joint_type[i] == REVOLUTE else 0))
                if not balanced and not mechanism.coordinates.prescribed[c]:
                    step.row[i] += rotor_of_rigid_gear(mechanism, c) * (now.motor[c, 1] - now.qd[c])
                    kept_back = step.row[i]
            pass_to_parent(tree.joint_type[i], kept_back, axis, lever, i, tree.parent[i], step.rho)


@inline_kernel
def close_loops(mechanism: Mechanism, at: Moment, fit: Fit) -> int:
    """Impulses of closed lines that take away the velocity along them; returns -1 or the failing line."""
    lines, own, inc = mechanism.lines, fit.lines, fit.increment
    count = lines.measure.shape[0]
    line_gradients(lines, at, at, at.R, fit.step.gradient)
    for k in range(count):
        own.rhs[k] = 0.0
        if own.kept[k]:
            own.rhs[k] = -along_line(lines, k, fit.step.gradient, at.R, fit.t)
            own.rhs[k] -= along_line(lines, k, fit.step.gradient, at.R, inc.t)
    for i in range(inc.t.shape[0]):
        if fit.active[i]:
            add_six(fit.t, i, 1.0, six(inc.t, i))
            fit.step.s[i] = inc.t_joint[i]
    prescribed = mechanism.coordinates.prescribed
    fill_answers(fit.tree, lines, fit.step, at.R, (prescribed, fit.active, fit.factors), inc, own)
    for k in range(count):
        for j in range(count):
            own.LU[k, j] = own.S[k, j] if own.kept[k] and own.kept[j] else (1.0 if j == k else 0.0)
    failed = dense_factorise(own.LU, own.order)
    if failed >= 0:
        return failed
    dense_solve(own.LU, own.order, own.rhs, fit.step.impulse)
    for k in range(count):
        if own.kept[k]:
            for i in range(inc.t.shape[0]):
                if fit.active[i]:
                    add_six(fit.t, i, fit.step.impulse[k], six(own.t[k], i))
                    fit.step.s[i] += fit.step.impulse[k] * own.t_joint[k, i]
        else:
            fit.step.impulse[k] = 0.0
    return -1


@inner_kernel
def impulsive_works(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> None:
    """Work of drives and base through the impulses of the projection."""
    tree, step, lines = fit.tree, fit.step, mechanism.lines
    n = fit.driven_work.shape[0] - 1
    for i in range(tree.parent.shape[0]):
        if fit.active[i]:
            put_momentum(fit, i, at.R, six(fit.t, i))
            for k in range(6):
                step.rho[i, k] = -step.rho[i, k]
    for k in range(lines.measure.shape[0]):
        if fit.lines.kept[k]:
            for side in range(2):
                j = lines.node[k, side]
                add_to(step.rho, j, 0, step.impulse[k], vector(step.gradient, k, 6 * side))
                add_to(step.rho, j, 3, step.impulse[k], vector(step.gradient, k, 6 * side + 3))
    pass_momentum(mechanism, now, fit, True)
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        c = tree.coordinate[i]
        if tree.joint_type[i] == GROUND:
            t = six(fit.t, i)
            u, w = apply(matrix(at.R, i), (t[0], t[1], t[2])), apply(matrix(at.R, i), (t[3], t[4], t[5]))
            fit.driven_work[n] += dot(vector(step.rho, i, 0), u) + dot(vector(step.rho, i, 3), w)
        elif c >= 0 and mechanism.coordinates.prescribed[c]:
            fit.driven_work[c] = step.row[i] * signals.target[c, 1]


@kernel
def fit_velocities(mechanism: Mechanism, signals: Signals, now: Pose, at: Moment, fit: Fit) -> tuple[float, float]:
    """Replace velocities and joint rates by the nearest that fit; returns the energy lost, or -1 if singular, and the
    kinetic energy gained: what drives and base put in less what was lost."""
    tree, inc, step = fit.tree, fit.increment, fit.step
    prescribed = mechanism.coordinates.prescribed
    for c in range(fit.driven_work.shape[0]):
        fit.driven_work[c] = 0.0
    if not fit.any_active:
        return 0.0, 0.0
    lay_out_velocities(mechanism, signals, now, at, fit)
    pass_momentum(mechanism, now, fit, False)
    if factorise(tree, prescribed, fit.active, fit.factors) >= 0:
        return -1.0, 0.0
    to_frames(tree, fit.active, at.R, step.rho, inc.b)
    for i in range(tree.parent.shape[0]):
        inc.b_joint[i] = 0.0
        if fit.active[i]:
            if tree.coordinate[i] >= 0:
                inc.b_joint[i] = -step.row[i]
            for k in range(6):
                inc.b[i, k] = -inc.b[i, k]
        else:
            put_six(inc.t, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    solve_tree(tree, prescribed, fit.active, fit.factors, inc)
    if mechanism.lines.measure.shape[0] > 0:
        if close_loops(mechanism, at, fit) >= 0:
            return -1.0, 0.0
    else:
        for i in range(tree.parent.shape[0]):
            if fit.active[i]:
                add_six(fit.t, i, 1.0, six(inc.t, i))
                step.s[i] = inc.t_joint[i]
    lost, gained = 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        if not fit.active[i]:
            continue
        t, g = six(fit.t, i), six(fit.before, i)
        d = (g[0] - t[0], g[1] - t[1], g[2] - t[2], g[3] - t[3], g[4] - t[4], g[5] - t[5])
        impulse = times(fit.M[i], d)
        lost += 0.5 * dot_six(d, impulse)
        gained -= 0.5 * (dot_six(g, impulse) + dot_six(t, impulse))
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
    if fit.any_driven:
        impulsive_works(mechanism, signals, now, at, fit)
    return lost, gained


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
