"""Lines: scalar relations between two frames that are not on the tree, for loops, springs and walls.

Each measure phi is a product of positions and directors, so that over a step
phi1 - phi0 = h (gradient . velocities) holds exactly with the gradient at mean directors. An impulse on a closed
line does no work, since phi is zero at both ends; that of a spring is what its energy gives.
"""

from __future__ import annotations

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import contact, contact_force
from pliant.spatial.rows import add_to, load3, load6, load9, store
from pliant.spatial.vectors import Vector, add, apply, cross, dot, mean, product, scale, sub
from pliant.structures.loop_constraints import ALONG, DIRECTION
from pliant.structures.nodal.codes import BUSHING, CABLE, CLOSED, DISTANCE, SPRING
from pliant.structures.nodal.mechanism import Floats, Lines
from pliant.structures.nodal.motion import Moment, Motion, Step
from pliant.structures.nodal.relative_pose import PSI, K, U, discrete_gradient, measure_relative_pose, world_force


@inline_kernel
def span(lines: Lines, k: int) -> tuple[int, int]:
    """First line of those that share one law with line k, and their count: six of a bushing, all of a cable."""
    return lines.group[k, 0], lines.group[k, 1]


@inline_kernel
def between(lines: Lines, k: int, at: Moment) -> Vector:
    """World vector from the point on a to the point on b; the rounding errors of the positions included."""
    a, b = lines.node[k, 0], lines.node[k, 1]
    r = add(sub(load3(at.x, b), load3(at.x, a)), sub(load3(at.x_low, b), load3(at.x_low, a)))
    ca = apply(load9(at.R, a), load3(lines.point[k], 0))
    cb = apply(load9(at.R, b), load3(lines.point[k], 1))
    return add(r, sub(cb, ca))


@kernel
def measure_lines(lines: Lines, start_bushing: Floats, at: Moment) -> None:
    """The values phi of all lines."""
    for k in range(lines.measure.shape[0]):
        kind = lines.measure[k]
        a, b = lines.node[k, 0], lines.node[k, 1]
        if kind < DIRECTION:
            at.phi[k] = between(lines, k, at)[kind]
        elif kind == DIRECTION:
            da = apply(load9(at.R, a), load3(lines.direction[k], 0))
            db = apply(load9(at.R, b), load3(lines.direction[k], 1))
            at.phi[k] = dot(da, db)
        elif kind == ALONG:
            at.phi[k] = dot(between(lines, k, at), apply(load9(at.R, a), load3(lines.direction[k], 0)))
        elif kind == DISTANCE:
            r = between(lines, k, at)
            at.phi[k] = np.sqrt(dot(r, r))
        else:
            part = kind - BUSHING
            first, _ = span(lines, k)
            if part == 0:
                Ra, Rb = (
                    product(load9(at.R, a), load9(lines.turn[k], 0)),
                    product(load9(at.R, b), load9(lines.turn[k], 1)),
                )
                measure_relative_pose(between(lines, k, at), Ra, Rb, start_bushing[k, K], at.bushing, k)
            at.phi[k] = at.bushing[first, U + part] if part < 3 else at.bushing[first, PSI + part - 3]


@inline_kernel
def put_gradient(rows: Floats, k: int, on_a: tuple[Vector, Vector], on_b: tuple[Vector, Vector]) -> None:
    store(on_a[0], rows, k)
    store(on_a[1], rows, k, 3)
    store(on_b[0], rows, k, 6)
    store(on_b[1], rows, k, 9)


@inline_kernel
def put_force_pair(rows: Floats, k: int, e: Vector, ca: Vector, cb: Vector) -> None:
    """Gradient of a change along e of the vector between two points with levers ca and cb."""
    put_gradient(rows, k, (scale(-1.0, e), scale(-1.0, cross(ca, e))), (e, cross(cb, e)))


@kernel
def line_gradients(lines: Lines, start: Moment, end: Moment, R_mean: Floats, rows: Floats) -> None:
    """Forces and torques, world, at the origins of both frames for a unit of each line."""
    for k in range(lines.measure.shape[0]):
        kind = lines.measure[k]
        a, b = lines.node[k, 0], lines.node[k, 1]
        Ra, Rb = load9(R_mean, a), load9(R_mean, b)
        ca, cb = apply(Ra, load3(lines.point[k], 0)), apply(Rb, load3(lines.point[k], 1))
        if kind < DIRECTION:
            e = (1.0 if kind == 0 else 0.0, 1.0 if kind == 1 else 0.0, 1.0 if kind == 2 else 0.0)
            put_force_pair(rows, k, e, ca, cb)
        elif kind == DIRECTION:
            da = apply(Ra, load3(lines.direction[k], 0))
            db = apply(Rb, load3(lines.direction[k], 1))
            none = (0.0, 0.0, 0.0)
            put_gradient(rows, k, (none, cross(da, db)), (none, cross(db, da)))
        elif kind == ALONG:
            d = apply(Ra, load3(lines.direction[k], 0))
            put_force_pair(rows, k, d, ca, cb)
            add_to(1.0, cross(d, mean(between(lines, k, start), between(lines, k, end))), rows, k, 3)
        elif kind == DISTANCE:
            r = mean(between(lines, k, start), between(lines, k, end))
            put_force_pair(rows, k, scale(2.0 / (start.phi[k] + end.phi[k]), r), ca, cb)
        else:
            part = kind - BUSHING
            first, _ = span(lines, k)
            n = (1.0 if part == 0 else 0.0, 1.0 if part == 1 else 0.0, 1.0 if part == 2 else 0.0)
            m = (1.0 if part == 3 else 0.0, 1.0 if part == 4 else 0.0, 1.0 if part == 5 else 0.0)
            gradient = discrete_gradient(start.bushing, end.bushing, first, n, m)
            F, T = world_force(product(Ra, load9(lines.turn[k], 0)), product(Rb, load9(lines.turn[k], 1)), gradient)
            r = mean(between(lines, first, start), between(lines, first, end))
            on_a = add(T, cross(add(ca, r), F))
            put_gradient(rows, k, (scale(-1.0, F), scale(-1.0, on_a)), (F, add(T, cross(cb, F))))


@kernel
def line_ways(lines: Lines, h: float, step: Step) -> None:
    """Change of every line in the step, from the velocities: a difference of two values would lose its digits."""
    for k in range(lines.measure.shape[0]):
        a, b = lines.node[k, 0], lines.node[k, 1]
        step.way[k] = h * (
            dot(load3(step.gradient, k), load3(step.Y, a))
            + dot(load3(step.gradient, k, 3), load3(step.omega, a))
            + dot(load3(step.gradient, k, 6), load3(step.Y, b))
            + dot(load3(step.gradient, k, 9), load3(step.omega, b))
        )


@inline_kernel
def one_sided(lines: Lines, k: int, start: Moment, way: Floats) -> tuple[float, float, float]:
    """Of a wall or cable over a step: the sign of its force, the height over it at the start, and its change.

    The slack of a cable, rest less the sum of all its spans, is to it what the height over a wall is to that.
    """
    side = -1.0 if lines.law[k] == CABLE else 1.0
    first, count = span(lines, k)
    height, change = side * (start.phi[first] - lines.rest[first]), side * way[first]
    for j in range(first + 1, first + count):
        height += side * (start.phi[j] - lines.rest[j])
        change += side * way[j]
    return side, height, change


@inline_kernel
def one_sided_force(lines: Lines, k: int, h: float, start: Moment, way: Floats) -> tuple[float, float, float]:
    """Of a wall or cable over a step: force on phi, its elastic part, and minus its derivative in the change of phi."""
    side, height, change = one_sided(lines, k, start, way)
    force, elastic, slope = contact_force(height, change, h, lines.stiffness[k, 0], lines.damping[k, 0])
    return side * force, side * elastic, slope


@kernel
def spring_impulses(lines: Lines, h: float, start: Moment, step: Step) -> None:
    """Impulses of springs, dampers, walls and cables; those of closed lines are unknowns and stay."""
    way = step.way
    for k in range(lines.measure.shape[0]):
        law = lines.law[k]
        if law == CLOSED:
            continue
        if law == SPRING:
            first, count = span(lines, k)
            total = 0.0
            for j in range(count):
                phi = start.phi[first + j] + 0.5 * way[first + j]
                total += h * lines.stiffness[k, j] * (phi - lines.rest[first + j])
                total += lines.damping[k, j] * way[first + j]
            step.impulse[k] = total
        else:
            side, height, change = one_sided(lines, k, start, way)
            force = side * contact(height, change, h, lines.stiffness[k, 0], lines.damping[k, 0])
            step.impulse[k] = -h * force


@inline_kernel
def add_along_line(lines: Lines, k: int, size: float, gradient: Floats, rho: Floats) -> None:
    """An impulse along line k into the balance of its nodes."""
    for side in range(2):
        add_to(size, load6(gradient, k, 6 * side), rho, lines.node[k, side])


@kernel
def line_slope(lines: Lines, k: int, j: int, motion: Motion) -> float:
    """Derivative of the impulse of line k in the mean velocity along line j."""
    h = motion.signals.h[0]
    first, count = span(lines, k)
    part = j - first
    if part < 0 or part >= count:
        return 0.0
    if lines.law[k] == SPRING:
        return float(h * (0.5 * h * lines.stiffness[k, part] + lines.damping[k, part]))
    _, _, slope = one_sided_force(lines, k, h, motion.start, motion.step.way)
    return float(h * h * slope)


@kernel
def enter_lines(lines: Lines, h: float, start: Moment, step: Step) -> tuple[float, float]:
    """Energy stored and lost by springs, dampers, walls and cables in a step."""
    way, stored, lost = step.way, 0.0, 0.0
    for k in range(lines.measure.shape[0]):
        if lines.law[k] == CLOSED:
            continue
        change = way[k]
        step.taken[k] += step.impulse[k] * change / h
        if lines.law[k] == SPRING:
            first, count = span(lines, k)
            for j in range(count):
                phi = start.phi[first + j] + 0.5 * way[first + j]
                stored += lines.stiffness[k, j] * (phi - lines.rest[first + j]) * change
                lost += lines.damping[k, j] * way[first + j] / h * change
        else:
            force, elastic, _ = one_sided_force(lines, k, h, start, way)
            stored -= elastic * change
            lost += (elastic - force) * change
    return stored, lost


@kernel
def energy_of_lines(lines: Lines, at: Moment) -> float:
    """Energy in springs, walls and cables."""
    total = 0.0
    for k in range(lines.measure.shape[0]):
        if lines.law[k] == SPRING:
            first, count = span(lines, k)
            for j in range(count):
                aside = at.phi[first + j] - lines.rest[first + j]
                total += 0.5 * lines.stiffness[k, j] * aside * (at.phi[k] - lines.rest[k])
        elif lines.law[k] != CLOSED and k == lines.group[k, 0]:
            height = 0.0
            for j in range(k, k + lines.group[k, 1]):
                height += at.phi[j] - lines.rest[j]
            depth = min(-height if lines.law[k] == CABLE else height, 0.0)
            total += 0.5 * lines.stiffness[k, 0] * depth * depth
    return total
