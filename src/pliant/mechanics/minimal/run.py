"""The compiled loops over steps: servos, one step of either method, halves where Newton fails, the account, output."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.energy_account import COLUMNS, KINETIC, PROJECTION, ROUNDING, STEPS, STRAIN, book_step
from pliant.mechanics.minimal.fitting import fit_velocities
from pliant.mechanics.minimal.forces import load_power, sample_servos, spring_energy
from pliant.mechanics.minimal.gill import Stages, gill_step, new_stages
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.midpoint import CONVERGED, SINGULAR, measure_end
from pliant.mechanics.minimal.motion import place_base, six
from pliant.mechanics.minimal.newton import solve_step
from pliant.mechanics.minimal.passes import expect_jump, remember, turn_afresh
from pliant.mechanics.minimal.step_data import (
    CONTRACTION,
    FITTED,
    KNOWN,
    LIFTED,
    ROUNDED,
    STALE,
    STRAIN_END,
    STRAIN_START,
    T_END,
    T_START,
    V_END,
    V_START,
    Account,
    H,
    Signals,
    Step,
    new_account,
    new_signals,
    new_step,
)
from pliant.mechanics.minimal.tree import Bools, Floats, Ints

DEEPEST = 10  # halvings of a step before the run gives up
MIDDLE, END, START = 0, 1, 2
TURNS_KEPT = 16.0  # steps over which sines are carried along, before round-off adds up


class Tables(NamedTuple):
    """Inputs of a stretch of steps, at the middle, the end and the start of each.

    The energy-exact rule reads middles, and ends of prescribed coordinates: its tables have no starts. A signal that
    jumps has its value from within the step at the start and the end.
    """

    h: Floats  # (steps,)
    end: Floats  # (steps,) times
    driven: Ints  # (m,) coordinates that have signals
    joint: (
        Floats  # (steps, 3, m, 3) prescribed: position, rate, acceleration | reference, its rate, feedforward
    )
    load: Floats  # (steps, 3, loads, 6)
    sampled: Bools  # (steps, servos) whether the servo is sampled at the start of the step
    command: Floats  # (servos,) rates that are held
    first: Ints  # (steps,) rows of the output that fall into the step
    stop: Ints
    tau: Floats  # (rows,) where in the step


class Output(NamedTuple):
    """What is kept at the output times; the last row is scratch."""

    x: Floats  # (rows, 2 n) positions, velocities
    sums: Floats  # (rows, 9)
    joints: Floats  # (rows, n) works
    loads: Floats  # (rows, loads)
    effort: Floats  # (rows, n) mean effort of every drive over the step, servos included
    loop: Floats  # (rows, closures) mean multipliers


class Work(NamedTuple):
    """State and scratch of a run."""

    step: Step
    signals: tuple[Signals, Signals, Signals]
    stages: Stages
    account: Account
    before: Floats  # (n, 2) prescribed position and rate at the start of the step


def new_work(mechanism: Mechanism, loads: int, q: Floats, v: Floats) -> Work:
    """Memory for a run from the state (q, v); prescribed coordinates start where they are."""
    n = mechanism.tree.size
    closures, laws = len(mechanism.loops.measure), len(mechanism.springs.laws.coordinate)
    step = new_step(n, len(mechanism.wrenches.load), closures, laws)
    step.q[:], step.v[:] = q, v
    return Work(
        step,
        (new_signals(n, loads), new_signals(n, loads), new_signals(n, loads)),
        new_stages(n, loads),
        new_account(n, loads),
        np.stack([q, v], axis=1).astype(float),
    )


def new_output(mechanism: Mechanism, loads: int, rows: int) -> Output:
    n, closures = mechanism.tree.size, len(mechanism.loops.measure)
    z = np.zeros
    return Output(
        z((rows + 1, 2 * n)),
        z((rows + 1, COLUMNS)),
        z((rows + 1, n)),
        z((rows + 1, loads)),
        z((rows + 1, n)),
        z((rows + 1, closures)),
    )


@inline_kernel
def take_end(mechanism: Mechanism, step: Step, account: Account) -> None:
    """The end of the step becomes the state."""
    number = step.number
    for i in range(step.q.shape[0]):
        step.q[i], step.v[i] = step.q_end[i], step.v_end[i]
        step.turn[0, i, 0], step.turn[0, i, 1] = step.turn[2, i, 0], step.turn[2, i, 1]
    if account.worst[STEPS] % TURNS_KEPT == 0.0:
        turn_afresh(mechanism.tree, step.q, step.turn[0])
    number[T_START], number[V_START], number[STRAIN_START] = number[T_END], number[V_END], number[STRAIN_END]


@kernel
def start_run(mechanism: Mechanism, work: Work) -> bool:
    """Fit the velocities to the loops; energies of the start. False if a part has no inertia."""
    step, tree = work.step, mechanism.tree
    place_base(tree, step.motion)
    place_base(tree, step.motion_end)
    for i in range(step.q.shape[0]):
        step.q_end[i], step.v_end[i] = step.q[i], step.v[i]
    turn_afresh(tree, step.q, step.turn[2])
    measure_end(mechanism, step)
    fits = fit_velocities(mechanism, step, work.account)
    take_end(mechanism, step, work.account)
    step.number[STALE], step.number[KNOWN], step.number[CONTRACTION] = 1.0, 0.0, 1.0
    return fits


@inline_kernel
def book_midpoint(mechanism: Mechanism, step: Step, account: Account, time: float) -> None:
    """The account of a finished step of the energy-exact rule."""
    number = step.number
    field, joint, supplied, works = 0.0, 0.0, 0.0, 0.0
    strain = number[STRAIN_END] - number[STRAIN_START]
    for i in range(step.q.shape[0]):
        way = number[H] * step.w[i]
        heat = way * mechanism.drives.heat[i] * step.w[i]
        work = way * step.drive[i] + step.extra[i] + heat
        step.change[i] = way
        field += way * step.lost_field[i]
        joint += way * step.lost_joint[i] + heat
        strain += way * step.elastic[i]
        supplied += work
        works += abs(work)
        account.joints[i] += work
    for k in range(step.wrench.shape[0]):
        body = mechanism.wrenches.body[k]
        work = load_power(mechanism.tree, body, six(step.wrench, k, 0), step.change, step.motion)
        supplied += work
        works += abs(work)
        account.loads[mechanism.wrenches.load[k]] += work
    kinetic = number[T_END] + number[FITTED] - number[T_START]
    account.worst[ROUNDING] = number[ROUNDED]
    changes, losses = (kinetic, strain), (field, 0.0, joint)
    book_step(account.sums, account.worst, changes, -number[LIFTED], losses, (supplied, works), time)
    account.sums[PROJECTION] += number[FITTED]


@inline_kernel
def book_gill(mechanism: Mechanism, step: Step, stages: Stages, account: Account, time: float) -> None:
    """The account of a finished step of the explicit rule."""
    number = step.number
    supplied, works = 0.0, 0.0
    for i in range(step.q.shape[0]):
        account.joints[i] += stages.joints[i]
        supplied += stages.joints[i]
        works += abs(stages.joints[i])
    for k in range(stages.loads.shape[0]):
        account.loads[k] += stages.loads[k]
        supplied += stages.loads[k]
        works += abs(stages.loads[k])
    kinetic = number[T_END] + number[FITTED] - number[T_START]
    strain = spring_energy(mechanism.springs, step.q_end) - spring_energy(mechanism.springs, step.q)
    strain += number[STRAIN_END] - number[STRAIN_START]
    changes, losses = (kinetic, strain), (stages.lost[0], 0.0, stages.lost[1])
    book_step(account.sums, account.worst, changes, -number[LIFTED], losses, (supplied, works), time)
    account.sums[PROJECTION] += number[FITTED]


@inner_kernel
def keep(mechanism: Mechanism, row: int, work: Work, output: Output) -> None:
    """The present state, its energies and the account to a row of the output."""
    step, account = work.step, work.account
    n = step.q.shape[0]
    account.sums[KINETIC] = step.number[T_START]
    account.sums[STRAIN] = spring_energy(mechanism.springs, step.q) + step.number[STRAIN_START]
    for i in range(n):
        output.x[row, i], output.x[row, n + i] = step.q[i], step.v[i]
        output.joints[row, i] = account.joints[i]
        output.effort[row, i] = step.drive[i]
    for k in range(COLUMNS):
        output.sums[row, k] = account.sums[k]
    for k in range(account.loads.shape[0]):
        output.loads[row, k] = account.loads[k]
    for k in range(step.loop.shape[0]):
        output.loop[row, k] = step.loop[k]


@inner_kernel
def blend(row: int, before: int, tau: float, h: float, output: Output) -> None:
    """Turn a row that holds the end of a step into one at its part tau; row ``before`` holds its start."""
    x, old = output.x[row], output.x[before]
    n = x.shape[0] // 2
    for i in range(n):
        # the cubic with the velocities of both ends
        way, a, b = x[i] - old[i], h * old[n + i], h * x[n + i]
        q = old[i] + tau * (a + tau * (3.0 * way - 2.0 * a - b + tau * (a + b - 2.0 * way)))
        v = (a + tau * (2.0 * (3.0 * way - 2.0 * a - b) + 3.0 * tau * (a + b - 2.0 * way))) / h
        x[i], x[n + i] = q, v
    for table in (output.sums, output.joints, output.loads):
        for k in range(table.shape[1]):
            table[row, k] = (1.0 - tau) * table[before, k] + tau * table[row, k]


@inline_kernel
def between_samples(start: float, middle: float, end: float, tau: float) -> float:
    """Parabola through a value at the start, the middle and the end of a step."""
    return start + tau * ((4.0 * middle - 3.0 * start - end) + tau * 2.0 * (start + end - 2.0 * middle))


@inline_kernel
def set_signals(mechanism: Mechanism, tables: Tables, n: int, span: tuple[float, float], work: Work) -> None:
    """What drives the part ``span`` of step n of the energy-exact rule."""
    signals, joint = work.signals[0], tables.joint
    for m in range(tables.driven.shape[0]):
        i = tables.driven[m]
        if mechanism.drives.prescribed[i]:
            for k in range(2):
                signals.end[i, k] = joint[n, END, m, k]
                if span[1] < 1.0:
                    signals.end[i, k] = between_samples(
                        work.before[i, k], joint[n, MIDDLE, m, k], joint[n, END, m, k], span[1]
                    )
        else:
            for k in range(3):
                signals.target[i, k] = joint[n, MIDDLE, m, k]
    for m in range(signals.load.shape[0]):
        for k in range(6):
            signals.load[m, k] = tables.load[n, MIDDLE, m, k]


@inline_kernel
def sample(mechanism: Mechanism, tables: Tables, n: int, step: Step) -> bool:
    """Servos that are sampled at the start of step n; the jump of their torques stands in the residual."""
    return sample_servos(
        mechanism.servos, tables.sampled[n], tables.command, step.v, step.held, step.residual
    )


@inline_kernel
def midpoint_over(mechanism: Mechanism, tables: Tables, n: int, work: Work) -> int:
    """Step n by the energy-exact rule, in halves, quarters and so on where Newton's method does not converge."""
    step, account = work.step, work.account
    done, level = 0.0, 0
    while done < 1.0:
        width = 0.5**level
        h = tables.h[n] * width
        if h != step.number[H]:
            step.number[H], step.number[STALE], step.number[KNOWN] = h, 1.0, 0.0
        set_signals(mechanism, tables, n, (done, done + width), work)
        status = solve_step(mechanism, work.signals[0], step, account)
        if status == CONVERGED:
            done += width
            step.number[FITTED] = 0.0
            if step.loop.shape[0] > 0 and not fit_velocities(mechanism, step, account):
                return SINGULAR
            book_midpoint(mechanism, step, account, tables.end[n] - (1.0 - done) * tables.h[n])
            remember(step)
            take_end(mechanism, step, account)
            if level > 0 and (done * 2.0 ** (level - 1)) % 1.0 == 0.0:
                level -= 1
        else:
            level += 1
            account.counts[2] += 1
            step.number[KNOWN] = 0.0
            for k in range(step.loop.shape[0]):
                step.loop[k] = 0.0
            if level > DEEPEST:
                return status
    for m in range(tables.driven.shape[0]):
        for k in range(2):
            work.before[tables.driven[m], k] = tables.joint[n, END, m, k]
    return CONVERGED


@inline_kernel
def gill_over(mechanism: Mechanism, tables: Tables, n: int, work: Work) -> int:
    """Step n by the explicit rule."""
    step = work.step
    step.number[H] = tables.h[n]
    for place in range(3):
        signals = work.signals[place]
        for m in range(tables.driven.shape[0]):
            for k in range(3):
                signals.target[tables.driven[m], k] = tables.joint[n, place, m, k]
        for m in range(signals.load.shape[0]):
            for k in range(6):
                signals.load[m, k] = tables.load[n, place, m, k]
    status = gill_step(mechanism, work.signals, step, work.stages, work.account)
    if status == CONVERGED:
        book_gill(mechanism, step, work.stages, work.account, tables.end[n])
        take_end(mechanism, step, work.account)
    return status


@inline_kernel
def begin(mechanism: Mechanism, tables: Tables, n: int, work: Work, output: Output) -> bool:
    """Keep the start of step n if rows of the output fall into the step; sample the servos, and say if any was."""
    if tables.stop[n] > tables.first[n] and tables.tau[tables.first[n]] < 1.0:
        keep(mechanism, output.x.shape[0] - 1, work, output)
    return tables.sampled.shape[1] > 0 and sample(mechanism, tables, n, work.step)


@inline_kernel
def put_rows(mechanism: Mechanism, tables: Tables, n: int, work: Work, output: Output) -> None:
    """The rows of the output that fall into step n."""
    for row in range(tables.first[n], tables.stop[n]):
        keep(mechanism, row, work, output)
        if tables.tau[row] < 1.0:
            blend(row, output.x.shape[0] - 1, tables.tau[row], tables.h[n], output)


@kernel
def run_midpoint(mechanism: Mechanism, work: Work, tables: Tables, output: Output) -> tuple[int, int]:
    """Advance by the energy-exact rule; returns the number of finished steps and how it ended."""
    for n in range(tables.h.shape[0]):
        if begin(mechanism, tables, n, work, output):
            expect_jump(work.step)
        status = midpoint_over(mechanism, tables, n, work)
        if status != CONVERGED:
            return n, status
        put_rows(mechanism, tables, n, work, output)
    return tables.h.shape[0], CONVERGED


@kernel
def run_gill(mechanism: Mechanism, work: Work, tables: Tables, output: Output) -> tuple[int, int]:
    """Advance by the explicit rule; returns the number of finished steps and how it ended."""
    for n in range(tables.h.shape[0]):
        begin(mechanism, tables, n, work, output)
        status = gill_over(mechanism, tables, n, work)
        if status != CONVERGED:
            return n, status
        put_rows(mechanism, tables, n, work, output)
    return tables.h.shape[0], CONVERGED
