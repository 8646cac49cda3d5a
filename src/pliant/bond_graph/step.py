"""One compiled loop over the steps of any graph: the midpoint rule, exact in energy.

A step of length h finds the means z of all efforts, flows and signals,  F(z, x + h z[rate] / 2, u, t) = 0 ,  where
stores give the mean of their gradient, and then  x1 = x0 + h z[rate] .  Junctions, transformers and gyrators hold for
the means, so that the powers of all bonds cancel: what sources give is stored or lost.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.formulas.sparse import Factors, Plan, factorise, solve
from pliant.formulas.tape import Equation, Floats, Ints, Point, Tape, Values, evaluate, forward
from pliant.jit import inner_kernel, kernel
from pliant.spatial.rows import copy_to, lay
from pliant.structures.energy_ledger import ROUNDING, RunningLedger, close_step
from pliant.structures.stepping import CONVERGED, DEEPEST, NOT_CONVERGED, NOT_FINITE, between_samples, next_level

LOST = 7  # a step ended because a pivot was lost
EPSILON = 2.220446049250313e-16


class Stored(NamedTuple):
    """Changes of energy over a step.

    Where gradients are linear, they are products of what the store answers with the change of the state. All other
    stores have two rows of the tape: the energy at the end and at the start.
    """

    quadratic: Ints  # (k, 3) of such states: answer, rate, and 1 for I, 0 for C
    change: Tape
    change_kinetic: Ints
    answers: Ints  # (m, 4) of the states of these stores: which store, state, row, the unknown that it gives


class Program(NamedTuple):
    """A graph as arrays."""

    equation: Equation
    tape: Tape
    stored: Stored
    pairs: Ints  # (k, 3) effort, flow, which source it is or -1 for a loss
    signs: Floats  # (k,)
    efforts: Ints  # (m,) those that are kept
    linear: bool


class Work(NamedTuple):
    """State and scratch of a run."""

    point: Point
    values: Values
    factors: Factors
    change: Floats  # (unknowns,) of Newton's method
    guess: Floats  # (unknowns,) of the last step
    before: Floats  # (states,) at the start of the step
    factorised: Floats  # (1,) length of step of the factors of a linear graph
    counts: Ints  # (2,) iterations, factorisations
    tolerance: Floats  # (2,) change at which Newton's method stops, most iterations


class Tables(NamedTuple):
    """Steps: when they begin, how long they are, and inputs at their start, middle and end."""

    time: Floats
    h: Floats
    first: Ints  # rows of the output that fall into each step
    stop: Ints
    tau: Floats  # (rows,)
    u: Floats  # (steps, 3, inputs)


class Output(NamedTuple):
    """Rows that are kept."""

    states: Floats
    sums: Floats
    works: Floats
    efforts: Floats


@inner_kernel
def keep_energy(stored: Stored, work: Work) -> bool:
    """Add to mean gradients what they lack of the change of energy, along the change of the state; whether they do.

    Beyond round-off that is so in long steps only; its derivatives are left out.
    """
    lacking = False
    F, z, rate, h = work.values.F, work.point.z, work.point.rate, work.point.at[1]
    first = 0
    for k in range(stored.change_kinetic.shape[0]):
        end = forward(stored.change, 2 * k, work.point, work.values.value)
        start = forward(stored.change, 2 * k + 1, work.point, work.values.value)
        lack, square, last = end - start, 0.0, first
        while last < stored.answers.shape[0] and stored.answers[last, 0] == k:
            moved = h * z[rate[stored.answers[last, 1]]]
            lack -= (z[stored.answers[last, 3]] - F[stored.answers[last, 2]]) * moved
            square += moved * moved
            last += 1
        if abs(lack) > 16.0 * EPSILON * (abs(end) + abs(start)) and square > 0.0:
            lacking = True
            for m in range(first, last):
                F[stored.answers[m, 2]] -= lack * h * z[rate[stored.answers[m, 1]]] / square
        first = last
    return lacking


@inner_kernel
def newton(program: Program, plan: Plan, work: Work) -> int:
    """Solve a step; the iteration after the one that changes little is not needed, because convergence is quadratic."""
    z, change, values, point = work.point.z, work.change, work.values, work.point
    for _ in range(int(work.tolerance[1])):
        evaluate(program.equation, program.tape, point, values, 0.5)
        # where derivatives lack something, convergence is not quadratic
        enough = work.tolerance[0] * (1e-3 if keep_energy(program.stored, work) else 1.0)
        if not program.linear or work.factorised[0] != point.at[1]:
            work.factorised[0] = 0.0
            work.counts[1] += 1
            if not factorise(plan, values.J, work.factors):
                return LOST
            work.factorised[0] = point.at[1]
        solve(plan, work.factors, values.F, change)
        work.counts[0] += 1
        largest = size = 0.0
        for i in range(z.shape[0]):
            z[i] -= change[i]
            largest = max(largest, abs(change[i]) / plan.size[i])
            size = max(size, abs(z[i]) / plan.size[i])
        if not size < 1e300:  # also true for NaN
            return NOT_FINITE
        if largest <= enough * size:
            return CONVERGED
    return NOT_CONVERGED


@inner_kernel
def enter_powers(program: Program, work: Work, ledger: RunningLedger) -> None:
    """What a solved step exchanged and stored, into the ledger."""
    stored, point = program.stored, work.point
    z, h = point.z, point.at[1]
    ledger.step_joints[:] = 0.0
    lost = 0.0
    for k in range(program.pairs.shape[0]):
        work_done = h * program.signs[k] * z[program.pairs[k, 0]] * z[program.pairs[k, 1]]
        source = program.pairs[k, 2]
        if source < 0:
            lost += work_done
        else:
            ledger.step_joints[source] += work_done
    kinetic = strain = rounding = 0.0
    for k in range(stored.quadratic.shape[0]):
        moved = h * z[stored.quadratic[k, 0]] * z[stored.quadratic[k, 1]]
        rounding += 4.0 * EPSILON * abs(moved)  # stores with several states exchange energy inside
        kinetic += moved if stored.quadratic[k, 2] else 0.0
        strain += 0.0 if stored.quadratic[k, 2] else moved
    for k in range(stored.change_kinetic.shape[0]):
        end = forward(stored.change, 2 * k, point, work.values.value)
        start = forward(stored.change, 2 * k + 1, point, work.values.value)
        rounding += 4.0 * EPSILON * (abs(end) + abs(start))
        kinetic += end - start if stored.change_kinetic[k] else 0.0
        strain += 0.0 if stored.change_kinetic[k] else end - start
    ledger.worst[ROUNDING] = rounding
    close_step(ledger, kinetic, strain, (0.0, 0.0, 0.0, lost, 0.0), point.at[0])


@inner_kernel
def one_step(program: Program, plan: Plan, work: Work, tables: Tables, ledger: RunningLedger, k: int) -> int:
    """One step, in halves where it does not converge; a step that fails leaves everything as it was."""
    point, length = work.point, tables.h[k]
    x, z = point.x, point.z
    copy_to(x, work.before)
    copy_to(z, work.guess)
    count = lay(ledger.sums, ledger.before, 0)
    lay(ledger.joints, ledger.before, count)
    done, level, status = 0.0, 0, CONVERGED
    while done < 1.0:
        part = 0.5**level
        middle = done + 0.5 * part
        for i in range(point.u.shape[0]):
            start, half, end = tables.u[k, 0, i], tables.u[k, 1, i], tables.u[k, 2, i]
            point.u[i] = half if level == 0 else between_samples(start, half, end, middle)
        point.at[0], point.at[1] = tables.time[k] + middle * length, part * length
        status = newton(program, plan, work)
        if status != CONVERGED:
            if done == 0.0:
                copy_to(work.guess, z)
            if level == DEEPEST or (status == LOST and level == 0):
                break
            level += 1
            continue
        enter_powers(program, work, ledger)
        for i in range(x.shape[0]):
            x[i] += point.at[1] * z[point.rate[i]]
        done += part
        level = next_level(level, done)
    if status != CONVERGED:
        copy_to(work.before, x)
        copy_to(work.guess, z)
        copy_to(ledger.before[:count], ledger.sums)
        copy_to(ledger.before[count:], ledger.joints)
    return status


@inner_kernel
def keep_between(start: Floats, end: Floats, tau: float, out: Floats) -> None:
    """Numbers at the part tau of a step."""
    for i in range(end.shape[0]):
        out[i] = end[i] if tau == 1.0 else start[i] + tau * (end[i] - start[i])


@kernel
def run_steps(
    program: Program,
    plan: Plan,
    work: Work,
    tables: Tables,
    ledger: RunningLedger,
    output: Output,
    span: tuple[int, int],
) -> tuple[int, int]:
    """The steps of a span; how many were done, and how the last one ended."""
    count = ledger.sums.shape[0]
    for k in range(span[0], span[1]):
        status = one_step(program, plan, work, tables, ledger, k)
        if status != CONVERGED:
            return k - span[0], status
        for row in range(tables.first[k], tables.stop[k]):
            tau = tables.tau[row]
            keep_between(work.before, work.point.x, tau, output.states[row])
            keep_between(ledger.before[:count], ledger.sums, tau, output.sums[row])
            keep_between(ledger.before[count:], ledger.joints, tau, output.works[row])
            for i in range(program.efforts.shape[0]):
                output.efforts[row, i] = work.point.z[program.efforts[i]]
    return span[1] - span[0], CONVERGED
