"""Lines: scalar relations between two frames that are not on the tree, for loops, springs and walls.

Each measure phi is a product of positions and directors, so that over a step
phi1 - phi0 = h (gradient . velocities) holds exactly with the gradient at mean directors. An impulse on a closed
line does no work, since phi is zero at both ends; that of a spring is what its energy gives.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import contact, contact_force
from pliant.spatial.rows import add_to, load3, load6
from pliant.spatial.vectors import dot
from pliant.structures.nodal.mechanism import Floats
from pliant.structures.nodal.motion import Moment, Motion, Step
from pliant.structures.relations import CABLE, CLOSED, SPRING, Lines, span


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
