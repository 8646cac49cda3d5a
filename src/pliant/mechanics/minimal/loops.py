"""Closed loops: scalar relations between two bodies, their gradients, and velocities that fit them.

A closure phi(q) = 0 has the gradient G_i = J_i . W_b over the way from body b to the base, less J_i . W_a over that
from a, where W is the wrench that a unit multiplier exerts, about the world's origin. A closure that follows from
those before it makes the matrix  S = G A^-1 G^T  singular; its row is left out and its multiplier stays zero.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.minimal.cholesky import solve
from pliant.mechanics.minimal.forces import rotated
from pliant.mechanics.minimal.mechanism import ALONG, DIRECTION, Loops
from pliant.mechanics.minimal.motion import (
    ACCELERATION,
    AXIS,
    POSE_X,
    TWIST,
    Six,
    angular,
    dot_six,
    joined,
    linear,
    moved,
    six,
    three,
)
from pliant.mechanics.minimal.step_data import Step
from pliant.mechanics.minimal.tree import PARENT, Bools, Floats, Tree
from pliant.spatial.vectors import Vector, cross, dot, scale, sub

REDUNDANT = (
    1e-9  # part of a diagonal entry of S that elimination may leave of a closure that says nothing new
)


@inline_kernel
def world_point(loops: Loops, k: int, side: int, motion: Floats) -> Vector:
    body = loops.body[k, side]
    x = three(motion, body + 1, POSE_X)
    return moved(x, 1.0, rotated(motion, body, three(loops.point[k], side, 0)))


@inline_kernel
def world_direction(loops: Loops, k: int, side: int, motion: Floats) -> Vector:
    return rotated(motion, loops.body[k, side], three(loops.direction[k], side, 0))


@inline_kernel
def component(k: int) -> Vector:
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inline_kernel
def closure(loops: Loops, k: int, motion: Floats) -> float:
    """phi of closure k."""
    measure = loops.measure[k]
    if measure == DIRECTION:
        return dot(world_direction(loops, k, 0, motion), world_direction(loops, k, 1, motion))
    gap = sub(world_point(loops, k, 1, motion), world_point(loops, k, 0, motion))
    if measure == ALONG:
        return dot(gap, world_direction(loops, k, 0, motion))
    return dot(gap, component(measure))


@inline_kernel
def closure_wrenches(loops: Loops, k: int, motion: Floats) -> tuple[Six, Six]:
    """What a unit multiplier exerts on a and on b."""
    measure = loops.measure[k]
    none = (0.0, 0.0, 0.0)
    if measure == DIRECTION:
        turn = cross(world_direction(loops, k, 0, motion), world_direction(loops, k, 1, motion))
        return joined(none, turn), joined(none, scale(-1.0, turn))
    x_a, x_b = world_point(loops, k, 0, motion), world_point(loops, k, 1, motion)
    if measure == ALONG:
        d = world_direction(loops, k, 0, motion)
        moment = cross(x_b, d)
        # the direction turns with a: the force on a acts as if it were applied where b is
        return joined(scale(-1.0, d), scale(-1.0, moment)), joined(d, moment)
    e = component(measure)
    return joined(scale(-1.0, e), scale(-1.0, cross(x_a, e))), joined(e, cross(x_b, e))


@inline_kernel
def closure_size(loops: Loops, k: int, step: Step) -> float:
    """Size of what closure k was computed from: where its points lie, and how far the way there has turned."""
    size = 1.0
    if loops.measure[k] != DIRECTION:
        size = 0.0
        for side in range(2):
            x = world_point(loops, k, side, step.motion_end)
            size += abs(x[0]) + abs(x[1]) + abs(x[2])
    for i in range(step.q.shape[0]):
        size += abs(step.G[k, i]) * (1.0 + abs(step.q_end[i]))
    return size


@inner_kernel
def closures(loops: Loops, motion: Floats, gap: Floats) -> None:
    for k in range(gap.shape[0]):
        gap[k] = closure(loops, k, motion)


@inner_kernel
def closure_gradients(tree: Tree, loops: Loops, motion: Floats, G: Floats) -> None:
    for k in range(G.shape[0]):
        for i in range(G.shape[1]):
            G[k, i] = 0.0
        W = closure_wrenches(loops, k, motion)
        for side in range(2):
            i = loops.body[k, side]
            while i >= 0:
                G[k, i] += dot_six(six(motion, i + 1, AXIS), W[side])
                i = tree.joints[i, PARENT]


@inline_kernel
def point_rates(motion: Floats, body: int, x: Vector) -> tuple[Vector, Vector]:
    """Velocity and acceleration of a world point of a body, gravity not counted."""
    V, A, up = (
        six(motion, body + 1, TWIST),
        six(motion, body + 1, ACCELERATION),
        three(motion, 0, ACCELERATION),
    )
    speed = moved(linear(V), 1.0, cross(angular(V), x))
    rate = moved(sub(linear(A), up), 1.0, cross(angular(A), x))
    return speed, moved(rate, 1.0, cross(angular(V), speed))


@inline_kernel
def direction_rates(motion: Floats, body: int, d: Vector) -> tuple[Vector, Vector]:
    """First and second derivative of a direction fixed to a body."""
    w = angular(six(motion, body + 1, TWIST))
    turned = cross(w, d)
    return turned, moved(cross(angular(six(motion, body + 1, ACCELERATION)), d), 1.0, cross(w, turned))


@inner_kernel
def closure_accelerations(loops: Loops, motion: Floats, out: Floats) -> None:
    """Second derivative of every closure, from twists and accelerations of all bodies."""
    for k in range(out.shape[0]):
        measure, a, b = loops.measure[k], loops.body[k, 0], loops.body[k, 1]
        d_a = world_direction(loops, k, 0, motion)
        d1, d2 = direction_rates(motion, a, d_a)
        if measure == DIRECTION:
            d_b = world_direction(loops, k, 1, motion)
            e1, e2 = direction_rates(motion, b, d_b)
            out[k] = dot(d2, d_b) + 2.0 * dot(d1, e1) + dot(d_a, e2)
            continue
        x_a, x_b = world_point(loops, k, 0, motion), world_point(loops, k, 1, motion)
        a1, a2 = point_rates(motion, a, x_a)
        b1, b2 = point_rates(motion, b, x_b)
        if measure == ALONG:
            out[k] = dot(sub(b2, a2), d_a) + 2.0 * dot(sub(b1, a1), d1) + dot(sub(x_b, x_a), d2)
        else:
            out[k] = dot(sub(b2, a2), component(measure))


@inline_kernel
def factorise_row(step: Step, k: int) -> None:
    """Row k of S = L D L^T; a row that has nothing left is taken out."""
    S = step.S
    before = S[k, k]
    for j in range(k):
        if step.kept[j]:
            value = S[k, j]
            for m in range(j):
                if step.kept[m]:
                    value -= S[k, m] * S[j, m] * S[m, m]
            S[k, j] = value / S[j, j]
    for j in range(k):
        if step.kept[j]:
            S[k, k] -= S[k, j] * S[k, j] * S[j, j]
    step.kept[k] = S[k, k] > REDUNDANT * before


@inner_kernel
def factorise_closures(step: Step, prescribed: Bools) -> None:
    """S = G A^-1 G^T and its factors, from the factors of A; prescribed coordinates do not give way."""
    rows, n = step.G.shape
    for k in range(rows):
        for i in range(n):
            step.change[i] = 0.0 if prescribed[i] else step.G[k, i]
        solve(step.factors, step.change, step.AG[k])
    for k in range(rows):
        for j in range(rows):
            total = 0.0
            for i in range(n):
                if not prescribed[i]:
                    total += step.G[k, i] * step.AG[j, i]
            step.S[k, j] = total
    for k in range(rows):
        factorise_row(step, k)


@inner_kernel
def solve_closures(step: Step, x: Floats) -> None:
    """Replace x by S^-1 x; entries of rows that were taken out become zero."""
    S, kept = step.S, step.kept
    rows = x.shape[0]
    for k in range(rows):
        if not kept[k]:
            x[k] = 0.0
        for j in range(k):
            if kept[k] and kept[j]:
                x[k] -= S[k, j] * x[j]
    for k in range(rows):
        if kept[k]:
            x[k] /= S[k, k]
    for k in range(rows - 1, -1, -1):
        for j in range(k + 1, rows):
            if kept[k] and kept[j]:
                x[k] -= S[j, k] * x[j]
