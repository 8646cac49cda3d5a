"""Solve one step: modified Newton with a factorisation kept across steps, tested on its tolerance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import SAME_SLOPE, SMOOTHING, STATIC, STOP_STIFFNESS, Coordinates, friction_force
from pliant.spatial.rows import add_to, copy_to, load3, load9
from pliant.spatial.vectors import apply
from pliant.structures.nodal import relation_solver as beside
from pliant.structures.nodal.balance import (
    EPSILON,
    EXCHANGE,
    FLOOR,
    SCALE,
    SUMS,
    balance_joints,
    balance_nodes,
    unbalanced,
)
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND
from pliant.structures.nodal.joint_laws import effort_size
from pliant.structures.nodal.mechanism import Bools, Floats, Ints, Mechanism, Tree
from pliant.structures.nodal.motion import Factors, Increment, Motion, Step, move, new_factors, new_increment
from pliant.structures.nodal.relation_solver import LineFactors
from pliant.structures.nodal.relations import add_along_line, line_slope, line_ways, spring_impulses
from pliant.structures.nodal.solver import factorise, put_joints, put_tangent, solve_tree
from pliant.structures.relations import CLOSED, WALL, line_gradients, measure_lines
from pliant.structures.stepping import CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR

CLOSED_TO = 1e-12  # metres; a loop that is more open has not converged
CLOSED_FLOOR = 1e-14  # metres; round-off of positions in a loop
FACTORISATION_COST = 1.8  # in iterations, measured
REFRESH_AFTER = 12  # iterations of a step after which every one gets a fresh tangent

BLAMED_AFTER, PATIENCE = 4, 8  # iterations: then a law whose slope still changes is to blame; friction may fall

HAVE_FACTORS, STEPS_SINCE, COST_SINCE, MEAN_EXCHANGE, FACTOR_STEP = 0, 1, 2, 3, 4
ITERATIONS, FACTORISATIONS, PLACE, LAW = 0, 1, 2, 3


class Control(NamedTuple):
    """What a step must reach, and what is remembered from step to step."""

    tolerance: float  # of the unbalanced impulse, relative
    energy_tolerance: float  # of the energy residual, relative to what the step exchanges
    max_iterations: int
    memory: Floats  # (5,) have factors, steps and cost since the last factorisation, mean exchange, its step
    counts: Ints  # (4,) iterations, factorisations, place of the last failure, coordinate whose law is to blame or -1


class Solver(NamedTuple):
    """Scratch of the solution of a step."""

    factors: Factors
    increment: Increment
    lines: LineFactors
    sums: Floats  # (SUMS,)
    active: Bools  # (nodes,) all true
    carriers: Bools  # (nodes,) children of moving joints that are not on the base, and all that carries them
    slope: Floats  # (coordinates,) of the joint laws, in the factors
    contact: Floats  # (lines,) the same of walls and cables


def new_solver(mechanism: Mechanism, kept: Bools) -> Solver:
    nodes, active = len(mechanism.tree.parent), np.ones(len(mechanism.tree.parent), np.bool_)
    lines = beside.new_line_factors(mechanism, kept)
    slope, contact = np.zeros(len(mechanism.coordinates.spring)), np.zeros(len(mechanism.lines.law))
    own = lines, np.zeros(SUMS), active, carriers_of(mechanism.tree), slope, contact
    return Solver(new_factors(nodes), new_increment(nodes), *own)


def carriers_of(tree: Tree) -> Bools:
    """Nodes whose pivots change as joints move."""
    found: Bools = (tree.joint_type > FIXED) & (tree.joint_type[tree.parent] != GROUND)
    for i in range(len(found) - 1, -1, -1):
        if found[i] and tree.parent[i] >= 0:
            found[tree.parent[i]] = True
    return found


@kernel
def evaluate(mechanism: Mechanism, motion: Motion, sums: Floats) -> None:
    """Forces and balance of the present iterate, whose poses `move` has found."""
    lines, h, start, end, step = mechanism.lines, motion.signals.h[0], motion.start, motion.end, motion.step
    balance_nodes(mechanism, motion, sums)
    if lines.measure.shape[0] > 0:
        measure_lines(lines, start.bushing, end)
        line_gradients(lines, start, end, step.R_mean, step.gradient)
        line_ways(lines, h, step)
        spring_impulses(lines, h, start, step)
        for k in range(lines.measure.shape[0]):
            add_along_line(lines, k, step.impulse[k], step.gradient, step.rho)
    balance_joints(mechanism, motion)


@inline_kernel
def openness(mechanism: Mechanism, motion: Motion, kept: Bools) -> tuple[float, float]:
    """Largest violation of the closed lines and the work their impulses would do on it."""
    violation, work, h, end, step = 0.0, 0.0, motion.signals.h[0], motion.end, motion.step
    for k in range(mechanism.lines.measure.shape[0]):
        if mechanism.lines.law[k] == CLOSED and kept[k]:
            violation = max(violation, abs(end.phi[k]))
            work += abs(step.impulse[k] * end.phi[k]) / h
    return violation, work


@inline_kernel
def work_of_closing(mechanism: Mechanism, motion: Motion) -> float:
    """What forces that close loops do on violations that are rounding of positions; no step could do less."""
    total, step, h = 0.0, motion.step, motion.signals.h[0]
    for k in range(mechanism.lines.measure.shape[0]):
        if mechanism.lines.law[k] == CLOSED and abs(step.way[k]) < CLOSED_FLOOR:
            total += abs(step.impulse[k] * step.way[k]) / h
    return total


@inner_kernel
def efforts_floor(mechanism: Mechanism, motion: Motion) -> float:
    """Square of the round-off of efforts where joints have friction or stops: an arm that they hold exchanges so little
    energy, and has so little momentum, that nothing else shows that an iterate is the solution."""
    tree, laws, now, step, h = mechanism.tree, mechanism.coordinates, motion.now, motion.step, motion.signals.h[0]
    total = 0.0
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if c < 0 or laws.prescribed[c] or not (laws.friction[c, STATIC] > 0.0 or laws.stops[c, STOP_STIFFNESS] > 0.0):
            continue
        rate = step.s[i] * step.share[i]
        way = motion.start.q[c] + 0.5 * h * rate, rate
        size = h * step.share[i] * effort_size(laws, c, way, motion.signals.target[c], (now.qd, now.motor))
        total += size * size
    return (8.0 * EPSILON) ** 2 * total


@inner_kernel
def add_falling_friction(mechanism: Mechanism, h: float, step: Step) -> None:
    """Slopes of friction that falls with the rate: they may make a tangent indefinite far from the solution, and leave
    Newton's method slow near it if they lack."""
    tree, laws = mechanism.tree, mechanism.coordinates
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if c >= 0 and laws.ball[c] < 0 and laws.friction[c, STATIC] > 0.0:
            _, slope = friction_force(laws.friction[c], step.s[i] * step.share[i])
            step.torque[c, 1] += min(slope, 0.0) / h


@inner_kernel
def refresh(mechanism: Mechanism, motion: Motion, solver: Solver, late: bool) -> int:
    """A new tangent and its factors; returns -1 or the node at which elimination failed.

    ``late``: after so many iterations that what is slow near the solution counts more than what is safe far from it.
    """
    tree, prescribed, step = mechanism.tree, mechanism.coordinates.prescribed, motion.step
    if late:
        add_falling_friction(mechanism, motion.signals.h[0], step)
    put_tangent(mechanism, motion, solver.active, solver.factors)
    for c in range(solver.slope.shape[0]):
        solver.slope[c] = step.torque[c, 1]
    for k in range(solver.contact.shape[0]):
        if mechanism.lines.law[k] >= WALL:
            solver.contact[k] = line_slope(mechanism.lines, k, k, motion)
    failed = factorise(tree, prescribed, solver.active, solver.active, solver.factors)
    if failed >= 0:
        return failed
    if mechanism.lines.measure.shape[0] > 0:
        tools = (prescribed, solver.active, solver.factors)
        beside.fill_answers(tree, mechanism.lines, step, step.R_mid, tools, solver.increment, solver.lines)
        line = beside.factorise_lines(mechanism.lines, motion, solver.lines)
        if line >= 0:
            return int(mechanism.lines.node[line, 1])
    return -1


@inner_kernel
def rejoin(mechanism: Mechanism, motion: Motion, solver: Solver) -> int:
    """The factors of an old tangent with the joints where they are now; returns as `refresh` does."""
    put_joints(mechanism, motion, solver.carriers, solver.factors)
    tree, prescribed = mechanism.tree, mechanism.coordinates.prescribed
    for i in range(tree.parent.shape[0]):
        if solver.carriers[i] and tree.coordinate[i] >= 0:
            solver.slope[tree.coordinate[i]] = motion.step.torque[tree.coordinate[i], 1]
    return factorise(tree, prescribed, solver.active, solver.carriers, solver.factors)


@inline_kernel
def changed_law(mechanism: Mechanism, motion: Motion, solver: Solver) -> int:
    """The coordinate whose friction or stop has another slope than in the factors, by the largest part of its pivot; or
    -1: the factors know all of them."""
    tree, laws, h, worst, found = mechanism.tree, mechanism.coordinates, motion.signals.h[0], SAME_SLOPE, -1
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if c < 0 or laws.prescribed[c] or not (laws.friction[c, STATIC] > 0.0 or laws.stops[c, STOP_STIFFNESS] > 0.0):
            continue
        now, old = h * h * motion.step.torque[c, 1], h * h * solver.slope[c]
        part = abs(now - old) / (solver.factors.pivot[i] - old + now)
        if not part <= worst:
            worst, found = part, c
    return found


@inner_kernel
def changed_contact(mechanism: Mechanism, motion: Motion, solver: Solver) -> int:
    """A wall or cable whose slope is another than in the factors, or -1."""
    lines = mechanism.lines
    for k in range(lines.law.shape[0]):
        if lines.law[k] >= WALL:
            now = line_slope(lines, k, k, motion)
            if abs(now - solver.contact[k]) > SAME_SLOPE * max(now, solver.contact[k]):
                return k
    return -1


@inline_kernel
def held_at_zero(laws: Coordinates, c: int, rate: float, change: float) -> float:
    """The change of a joint rate; cut where friction changes its sign, unless both rates lie where it is nearly linear.

    From zero on friction bends down, and Newton's method approaches any rate from there without passing it.
    """
    law, ahead = laws.friction[c], rate + change
    if law[STATIC] > 0.0 and laws.ball[c] < 0 and rate * ahead < 0.0 and max(abs(rate), abs(ahead)) > law[SMOOTHING]:
        return -rate
    return change


@inline_kernel
def add_increment(mechanism: Mechanism, inc: Increment, step: Step) -> None:
    tree, laws = mechanism.tree, mechanism.coordinates
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == FREE or tree.joint_type[i] == ELEMENT:
            add_to(1.0, apply(load9(step.R_mid, i), load3(inc.t, i)), step.Y, i)
            add_to(1.0, load3(inc.t, i, 3), step.Y, i, 3)
        elif tree.coordinate[i] >= 0 and not laws.prescribed[tree.coordinate[i]]:
            step.s[i] += held_at_zero(laws, tree.coordinate[i], step.s[i], inc.t_joint[i])


@inline_kernel
def improve(mechanism: Mechanism, motion: Motion, solver: Solver) -> None:
    """One Newton increment with the factors at hand, and the poses it leads to."""
    tree, prescribed, step, inc = mechanism.tree, mechanism.coordinates.prescribed, motion.step, solver.increment
    beside.to_frames(tree, solver.active, step.R_mid, step.rho, inc.b)
    copy_to(step.row, inc.b_joint)
    solve_tree(tree, prescribed, solver.active, solver.factors, inc)
    if mechanism.lines.measure.shape[0] > 0:
        beside.line_increments(mechanism.lines, motion, inc, solver.lines)
    add_increment(mechanism, inc, step)
    move(mechanism, motion)


@inner_kernel
def most_unbalanced(step: Step) -> int:
    """Node with the largest unbalanced impulse."""
    worst, place = -1.0, 0
    for i in range(step.rho.shape[0]):
        size = 0.0
        for k in range(6):
            size += abs(step.rho[i, k])
        if size > worst:
            worst, place = size, i
    return place


@inline_kernel
def solve_step(mechanism: Mechanism, motion: Motion, solver: Solver, control: Control) -> int:
    """Iterate from the predicted motion until the step is balanced and its energy is accounted for.

    The energy residual of any iterate is the sum of velocity times unbalanced impulse, so the tolerance itself is
    tested. Old factors become worse mostly as joints turn, so that these are renewed in every step. Below the
    round-off floor an iteration that no longer gains is the end too.
    """
    memory, counts, sums, h = control.memory, control.counts, solver.sums, motion.signals.h[0]
    if memory[FACTOR_STEP] != h:
        memory[HAVE_FACTORS] = 0.0
    last, last_violation = 1e300, 1e300
    counts[LAW] = -1
    for iteration in range(control.max_iterations):
        evaluate(mechanism, motion, sums)
        counts[ITERATIONS] += 1
        square, energy = unbalanced(mechanism.tree, mechanism.coordinates.prescribed, motion.step)
        if not math.isfinite(square):
            counts[PLACE] = most_unbalanced(motion.step)
            memory[HAVE_FACTORS] = 0.0
            return NOT_FINITE
        size = math.sqrt(square / max(sums[SCALE], 1e-300))
        violation, violation_work = openness(mechanism, motion, solver.lines.kept)
        exchange = max(sums[EXCHANGE], memory[MEAN_EXCHANGE])
        if violation < CLOSED_FLOOR and violation > 0.5 * last_violation:
            violation_work = 0.0  # what is left is rounding of positions, and no iteration will close it
        tolerable = size <= control.tolerance and abs(energy) + violation_work <= control.energy_tolerance * exchange
        if iteration > 2 and square > sums[FLOOR]:
            sums[FLOOR] += efforts_floor(mechanism, motion)
        stalled = (
            square <= sums[FLOOR]
            and size > 0.5 * last
            and violation < CLOSED_FLOOR
            and (violation < 0.4 * CLOSED_FLOOR or violation > 0.5 * last_violation)
        )
        if violation <= CLOSED_TO and (tolerable or stalled):
            memory[MEAN_EXCHANGE] += 0.01 * (sums[EXCHANGE] - memory[MEAN_EXCHANGE])
            memory[STEPS_SINCE] += 1.0
            memory[COST_SINCE] += iteration
            # a step dearer than the mean since the last factorisation: time for a new one
            if memory[STEPS_SINCE] > 1.0 and iteration * memory[STEPS_SINCE] > memory[COST_SINCE]:
                memory[HAVE_FACTORS] = 0.0
            return CONVERGED
        slow = iteration > 2 and size > 0.5 * last and square > sums[FLOOR]
        law = changed_law(mechanism, motion, solver) if memory[HAVE_FACTORS] != 0.0 else -1
        if law >= 0 and iteration >= BLAMED_AFTER:
            counts[LAW] = law
        touched = changed_contact(mechanism, motion, solver) if mechanism.lines.measure.shape[0] > 0 else -1
        failed = -1
        if memory[HAVE_FACTORS] == 0.0 or slow or law >= 0 or touched >= 0 or iteration > REFRESH_AFTER:
            failed = refresh(mechanism, motion, solver, iteration >= PATIENCE)
            counts[FACTORISATIONS] += 1
            memory[HAVE_FACTORS], memory[FACTOR_STEP] = 1.0, h
            memory[STEPS_SINCE], memory[COST_SINCE] = 0.0, FACTORISATION_COST
        elif iteration == 0 and mechanism.lines.measure.shape[0] == 0:
            failed = rejoin(mechanism, motion, solver)
        if failed >= 0:
            counts[PLACE] = failed
            memory[HAVE_FACTORS] = 0.0
            return SINGULAR
        last, last_violation = size, violation
        improve(mechanism, motion, solver)
    counts[PLACE] = most_unbalanced(motion.step)
    memory[HAVE_FACTORS] = 0.0
    return NOT_CONVERGED
