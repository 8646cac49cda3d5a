"""One step of the explicit method of Runge, Kutta and Gill, of order four [gill1951], as in [konno1996].

Works and losses are integrated along by the same weights, so that what the ledger lacks is the drift of the method.
Loops act by multipliers on the accelerations,  G a + dG/dt v = 0;  after the step positions and velocities are
brought back to the constraints.

The compiled loops over steps: servos, one step of either method, halves where Newton fails, the ledger, output.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.model.stage_method import runge_kutta_gill
from pliant.spatial.rows import copy_to, load3, load6, store
from pliant.structures.bundles import zeros_of
from pliant.structures.energy_ledger import COLUMNS, KINETIC, PROJECTION, ROUNDING, STEPS, STRAIN, enter_step
from pliant.structures.stepping import (
    CONVERGED,
    DEEPEST,
    LOOP_OPENED,
    NOT_FINITE,
    SINGULAR,
    between_samples,
    blend,
    keep_sums,
    next_level,
)
from pliant.structures.tree import columns as at
from pliant.structures.tree import forces as acting
from pliant.structures.tree import midpoint as rule
from pliant.structures.tree.arrays import Mechanism, RunningLedger, Signals, Step, new_ledger, new_signals, new_step
from pliant.structures.tree.cholesky import solve
from pliant.structures.tree.clouds import END_MOVED, MOVED, START_MOVED, accelerate_cloud, stand
from pliant.structures.tree.dynamics import placed_dynamics
from pliant.structures.tree.motion import Bools, Floats, Ints, place_all, place_base, turn_afresh
from pliant.structures.tree.newton import solve_step
from pliant.structures.tree.shapes import expand, is_shaped

# rows: parts of the three rates so far in the state of stages 1, 2, 3
STAGES = runge_kutta_gill().A[1:, :3].copy()
WEIGHTS = runge_kutta_gill().weights


class Stages(NamedTuple):
    """Rates of the stages, and works and losses of the step."""

    rate: Floats  # (4, 2, n) velocities, accelerations
    joints: Floats  # (n,) works of the drives
    effort: Floats  # (n,) their means
    loads: Floats  # (loads,)
    lost: Floats  # (2,) in fields, in joints


@inner_kernel
def closed_accelerations(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> bool:
    """Multipliers, and accelerations that keep the loops closed."""
    n, rows = step.q.shape[0], step.loop.shape[0]
    if not rule.factorise_mass(mechanism, step.q_mid, step.motion, step, ledger):
        return False
    acting.constraint_accelerations(mechanism.loops, step.motion, step.loop)
    for k in range(rows):
        step.loop[k] = -step.loop[k]
    acting.solve_constraints(step, step.loop)
    for k in range(rows):
        for i in range(n):
            step.acceleration[i] += step.AG[k, i] * step.loop[k]
    return True


@inner_kernel
def shaped_accelerations(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> bool:
    """Accelerations of coordinates that move several joints, from the forces in the residual, by the mass matrix."""
    n, prescribed = step.q.shape[0], mechanism.drives.prescribed
    for i in range(n):
        if not prescribed[i]:
            step.acceleration[i] = 0.0
    shaped_dynamics(mechanism, step)
    if not rule.factorise_mass(mechanism, step.q_mid, step.motion, step, ledger):
        return False
    for i in range(n):
        step.change[i] = 0.0 if prescribed[i] else step.residual[i] - step.inertial[i]
    solve(step.factors, step.change, step.momentum)
    for i in range(n):
        step.acceleration[i] += step.momentum[i]
    shaped_dynamics(mechanism, step)
    return True


@inner_kernel
def shaped_dynamics(mechanism: Mechanism, step: Step) -> None:
    """Inverse dynamics at (q_mid, w) and the accelerations of the coordinates; sines stand."""
    stand(mechanism.shapes.cloud, step.q_mid, step.w, MOVED)
    accelerate_cloud(mechanism.shapes.cloud, step.acceleration)
    expand(mechanism.shapes, step.acceleration, step.joints.acceleration)
    rule.middle_pass(mechanism.tree, mechanism.shapes, step)


@inline_kernel
def accelerate(mechanism: Mechanism, signals: Signals, step: Step, ledger: RunningLedger) -> bool:
    """Accelerations at (q_mid, w), and the drives of all coordinates."""
    tree, drives, motion = mechanism.tree, mechanism.drives, step.motion
    n = step.q.shape[0]
    for i in range(n):
        if drives.prescribed[i]:
            step.q_mid[i], step.w[i] = signals.target[i, 0], signals.target[i, 1]
            step.acceleration[i] = signals.target[i, 2]
    shapes, joints = mechanism.shapes, step.joints
    expand(shapes, step.q_mid, joints.q_mid)
    expand(shapes, step.w, joints.w)
    rule.turn_along(tree, joints.q_mid, 1, step)
    place_all(tree, joints.q_mid, step.turn[1], motion)
    acting.instant_forces(mechanism, signals, step)
    if is_shaped(shapes):
        if not shaped_accelerations(mechanism, step, ledger):
            return False
    elif not placed_dynamics(tree, drives.prescribed, step.w, step.residual, motion, step.acceleration):
        return False
    if step.loop.shape[0] > 0 and not closed_accelerations(mechanism, step, ledger):
        return False
    some_prescribed = False
    for i in range(n):
        some_prescribed = some_prescribed or drives.prescribed[i]
    if some_prescribed:
        shaped_dynamics(mechanism, step)
        for i in range(n):
            if drives.prescribed[i]:
                step.drive[i] = step.inertial[i] - step.residual[i] - rule.closed_force(step, i)
    return True


@inline_kernel
def add_works(mechanism: Mechanism, step: Step, stages: Stages, part: float) -> None:
    """Works of drives and loads, and losses, of the present stage, which is a part of the step."""
    weight = part * step.number[at.H]
    for i in range(step.q.shape[0]):
        heat = mechanism.drives.heat[i] * step.w[i]
        stages.effort[i] += part * step.drive[i]
        stages.joints[i] += weight * (step.drive[i] + heat) * step.w[i]
        stages.lost[0] += weight * step.lost_field[i] * step.w[i]
        stages.lost[1] += weight * (step.lost_joint[i] + heat) * step.w[i]
    for k in range(step.wrench.shape[0]):
        body = mechanism.wrenches.body[k]
        power = acting.load_power(mechanism.tree, body, load6(step.wrench, k), step.joints.w, step.motion)
        stages.loads[mechanism.wrenches.load[k]] += weight * power


@inline_kernel
def end_joints(mechanism: Mechanism, step: Step) -> None:
    """Joints of the tree and clouds at the end of the step, whose coordinates stand."""
    stand(mechanism.shapes.cloud, step.q_end, step.v_end, END_MOVED)
    expand(mechanism.shapes, step.q_end, step.joints.q_end)
    rule.turn_along(mechanism.tree, step.joints.q_end, 2, step)


@inner_kernel
def close_positions(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> bool:
    """Bring q_end back to the constraints by one step of Newton's method, with the least motion of mass."""
    rule.measure_end(mechanism, step)
    if not rule.factorise_mass(mechanism, step.q_end, step.motion_end, step, ledger):
        return False
    acting.constraints(mechanism.loops, step.motion_end, step.violation)
    acting.solve_constraints(step, step.violation)
    for k in range(step.loop.shape[0]):
        for i in range(step.q.shape[0]):
            step.q_end[i] -= step.AG[k, i] * step.violation[k]
    end_joints(mechanism, step)
    return True


@inline_kernel
def gill_step(
    mechanism: Mechanism, signals: tuple[Signals, Signals, Signals], step: Step, stages: Stages, ledger: RunningLedger
) -> int:
    """The step from (q, v); signals are those at its middle, end and start."""
    n, h, number = step.q.shape[0], step.number[at.H], step.number
    for i in range(n):
        stages.joints[i], stages.effort[i] = 0.0, 0.0
        step.q_mid[i], step.w[i] = step.q[i], step.v[i]
    stages.loads[:] = 0.0
    stages.lost[:] = 0.0
    for s in range(4):
        if s > 0:
            for i in range(n):
                q, v = 0.0, 0.0
                for r in range(s):
                    q += STAGES[s - 1, r] * stages.rate[r, 0, i]
                    v += STAGES[s - 1, r] * stages.rate[r, 1, i]
                step.q_mid[i], step.w[i] = step.q[i] + h * q, step.v[i] + h * v
        ledger.counts[0] += 1
        if not accelerate(mechanism, signals[2 if s == 0 else (1 if s == 3 else 0)], step, ledger):
            return SINGULAR
        for i in range(n):
            stages.rate[s, 0, i], stages.rate[s, 1, i] = step.w[i], step.acceleration[i]
        add_works(mechanism, step, stages, WEIGHTS[s])
    for i in range(n):
        q, v = 0.0, 0.0
        for s in range(4):
            q += WEIGHTS[s] * stages.rate[s, 0, i]
            v += WEIGHTS[s] * stages.rate[s, 1, i]
        step.q_end[i], step.v_end[i] = step.q[i] + h * q, step.v[i] + h * v
        step.drive[i] = stages.effort[i]
        if mechanism.drives.prescribed[i]:
            step.q_end[i], step.v_end[i] = signals[1].target[i, 0], signals[1].target[i, 1]
    end_joints(mechanism, step)
    if step.loop.shape[0] > 0 and not close_positions(mechanism, step, ledger):
        return SINGULAR
    rule.measure_end(mechanism, step)
    if not number[at.T_END] < math.inf:
        return NOT_FINITE
    number[at.FITTED] = 0.0
    if step.loop.shape[0] > 0 and not rule.fit_velocities(mechanism, step, ledger):
        return SINGULAR
    return CONVERGED


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
    joint: Floats  # (steps, 3, m, 3) prescribed: position, rate, acceleration | reference, its rate, feedforward
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
    loop: Floats  # (rows, constraints) mean multipliers


class Work(NamedTuple):
    """State and scratch of a run."""

    step: Step
    signals: tuple[Signals, Signals, Signals]
    stages: Stages
    ledger: RunningLedger
    before: Floats  # (n, 2) prescribed position and rate at the start of the step


def new_work(mechanism: Mechanism, loads: int, q: Floats, v: Floats) -> Work:
    """Memory for a run from the state (q, v); prescribed coordinates start where they are."""
    n, step = mechanism.size, new_step(mechanism)
    step.q[:], step.v[:] = q, v
    signals = (new_signals(n, loads), new_signals(n, loads), new_signals(n, loads))
    before = np.stack([q, v], axis=1).astype(float)
    return Work(step, signals, zeros_of(Stages, (4, 2, n), n, n, loads, 2), new_ledger(n, loads), before)


def new_output(mechanism: Mechanism, loads: int, rows: int) -> Output:
    n, closed = mechanism.size, len(mechanism.loops.measure)
    return zeros_of(Output, *((rows + 1, count) for count in (2 * n, COLUMNS, n, loads, n, closed)))


@inline_kernel
def take_end(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> None:
    """The end of the step becomes the state."""
    number, joints = step.number, step.joints
    for i in range(step.q.shape[0]):
        step.q[i], step.v[i] = step.q_end[i], step.v_end[i]
    if is_shaped(mechanism.shapes):
        stand(mechanism.shapes.cloud, step.q, step.v, START_MOVED)
        for i in range(joints.q.shape[0]):
            joints.q[i] = joints.q_end[i]
    for i in range(joints.q.shape[0]):
        step.turn[0, i, 0], step.turn[0, i, 1] = step.turn[2, i, 0], step.turn[2, i, 1]
    if ledger.worst[STEPS] % TURNS_KEPT == 0.0:
        expand(mechanism.shapes, step.q, joints.q)
        turn_afresh(mechanism.tree, joints.q, step.turn[0])
    number[at.T_START], number[at.V_START] = number[at.T_END], number[at.V_END]
    number[at.STRAIN_START] = number[at.STRAIN_END]


@kernel
def start_run(mechanism: Mechanism, work: Work) -> bool:
    """Fit the velocities to the loops; energies of the start. False if a part has no inertia."""
    step, tree = work.step, mechanism.tree
    place_base(tree, step.motion)
    place_base(tree, step.motion_end)
    for i in range(step.q.shape[0]):
        step.q_end[i], step.v_end[i] = step.q[i], step.v[i]
    expand(mechanism.shapes, step.q, step.joints.q_end)
    stand(mechanism.shapes.cloud, step.q, step.v, END_MOVED)
    turn_afresh(tree, step.joints.q_end, step.turn[2])
    rule.measure_end(mechanism, step)
    fits = rule.fit_velocities(mechanism, step, work.ledger)
    take_end(mechanism, step, work.ledger)
    step.number[at.STALE], step.number[at.KNOWN], step.number[at.CONTRACTION] = 1.0, 0.0, 1.0
    return fits


@inline_kernel
def enter_midpoint(mechanism: Mechanism, step: Step, ledger: RunningLedger, time: float) -> None:
    """The ledger of a finished step of the energy-exact rule."""
    number = step.number
    field, joint, supplied, works = 0.0, 0.0, 0.0, 0.0
    strain = number[at.STRAIN_END] - number[at.STRAIN_START]
    for i in range(step.q.shape[0]):
        way = number[at.H] * step.w[i]
        heat = way * mechanism.drives.heat[i] * step.w[i]
        work = way * step.drive[i] + step.extra[i] + heat
        step.change[i] = way
        field += way * step.lost_field[i]
        joint += way * step.lost_joint[i] + heat
        strain += way * step.elastic[i]
        supplied += work
        works += abs(work)
        ledger.joints[i] += work
    if step.wrench.shape[0] > 0:
        expand(mechanism.shapes, step.change, step.joints.change)
    for k in range(step.wrench.shape[0]):
        body = mechanism.wrenches.body[k]
        work = acting.load_power(mechanism.tree, body, load6(step.wrench, k), step.joints.change, step.motion)
        supplied += work
        works += abs(work)
        ledger.loads[mechanism.wrenches.load[k]] += work
    kinetic = number[at.T_END] + number[at.FITTED] - number[at.T_START]
    ledger.worst[ROUNDING] = number[at.ROUNDED]
    enter_step(ledger, (kinetic, strain), (-number[at.LIFTED], field, 0.0, joint, 0.0), (supplied, works), time)
    ledger.sums[PROJECTION] += number[at.FITTED]


@inline_kernel
def enter_gill(mechanism: Mechanism, step: Step, stages: Stages, ledger: RunningLedger, time: float) -> None:
    """The ledger of a finished step of the explicit rule."""
    number = step.number
    supplied, works = 0.0, 0.0
    for i in range(step.q.shape[0]):
        ledger.joints[i] += stages.joints[i]
        supplied += stages.joints[i]
        works += abs(stages.joints[i])
    for k in range(stages.loads.shape[0]):
        ledger.loads[k] += stages.loads[k]
        supplied += stages.loads[k]
        works += abs(stages.loads[k])
    kinetic = number[at.T_END] + number[at.FITTED] - number[at.T_START]
    strain = acting.spring_energy(mechanism.springs, step.q_end) - acting.spring_energy(mechanism.springs, step.q)
    strain += number[at.STRAIN_END] - number[at.STRAIN_START]
    flows = (-number[at.LIFTED], stages.lost[0], 0.0, stages.lost[1], 0.0)
    enter_step(ledger, (kinetic, strain), flows, (supplied, works), time)
    ledger.sums[PROJECTION] += number[at.FITTED]


@inner_kernel
def keep(mechanism: Mechanism, row: int, work: Work, output: Output) -> None:
    """The present state, its energies and the ledger to a row of the output."""
    step, ledger = work.step, work.ledger
    n = step.q.shape[0]
    ledger.sums[KINETIC] = step.number[at.T_START]
    ledger.sums[STRAIN] = acting.spring_energy(mechanism.springs, step.q) + step.number[at.STRAIN_START]
    for i in range(n):
        output.x[row, i], output.x[row, n + i] = step.q[i], step.v[i]
    copy_to(step.drive, output.effort[row])
    copy_to(step.loop, output.loop[row])
    keep_sums(ledger, output, row)


@inner_kernel
def keep_inside(row: int, before: int, tau: float, h: float, output: Output) -> None:
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
        blend(table, row, before, tau, (0, table.shape[1]))


@inline_kernel
def set_signals(mechanism: Mechanism, tables: Tables, n: int, span: tuple[float, float], work: Work) -> None:
    """What drives the part ``span`` of step n of the energy-exact rule."""
    signals, joint = work.signals[0], tables.joint
    for m in range(tables.driven.shape[0]):
        i = tables.driven[m]
        if mechanism.drives.prescribed[i]:
            for k in range(2):
                middle, end = joint[n, MIDDLE, m, k], joint[n, END, m, k]
                signals.end[i, k] = end if span[1] >= 1.0 else between_samples(work.before[i, k], middle, end, span[1])
        else:
            store(load3(joint[n, MIDDLE], m), signals.target, i)
    copy_to(tables.load[n, MIDDLE], signals.load)


@inline_kernel
def midpoint_over(mechanism: Mechanism, tables: Tables, n: int, work: Work) -> int:
    """Step n by the energy-exact rule, in halves, quarters and so on where Newton's method does not converge."""
    step, ledger = work.step, work.ledger
    done, level = 0.0, 0
    while done < 1.0:
        width = 0.5**level
        h = tables.h[n] * width
        if h != step.number[at.H]:
            step.number[at.H], step.number[at.STALE], step.number[at.KNOWN] = h, 1.0, 0.0
        set_signals(mechanism, tables, n, (done, done + width), work)
        old = step.number[at.STALE] == 0.0
        status = solve_step(mechanism, work.signals[0], step, ledger)
        if status == CONVERGED:
            done += width
            step.number[at.FITTED] = 0.0
            if step.loop.shape[0] > 0 and not rule.fit_velocities(mechanism, step, ledger):
                return SINGULAR
            if step.loop.shape[0] > 0 and not rule.follow_momentum(mechanism, step):
                return LOOP_OPENED
            enter_midpoint(mechanism, step, ledger, tables.end[n] - (1.0 - done) * tables.h[n])
            rule.remember(step)
            take_end(mechanism, step, ledger)
            level = next_level(level, done)
        elif old:  # with factors of its own posture it may converge as it is
            step.loop[:] = 0.0
        else:
            level += 1
            ledger.counts[2] += 1
            step.number[at.KNOWN] = 0.0
            step.loop[:] = 0.0
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
    step.number[at.H] = tables.h[n]
    for place in range(3):
        signals = work.signals[place]
        for m in range(tables.driven.shape[0]):
            store(load3(tables.joint[n, place], m), signals.target, tables.driven[m])
        copy_to(tables.load[n, place], signals.load)
    status = gill_step(mechanism, work.signals, step, work.stages, work.ledger)
    if status == CONVERGED:
        enter_gill(mechanism, step, work.stages, work.ledger, tables.end[n])
        take_end(mechanism, step, work.ledger)
    return status


@inline_kernel
def begin(mechanism: Mechanism, tables: Tables, n: int, work: Work, output: Output) -> bool:
    """Keep the start of step n if rows of the output fall into the step; sample the servos, and say if any was.

    The jump of their torques stands in the residual.
    """
    step, sampled = work.step, tables.sampled
    if tables.stop[n] > tables.first[n] and tables.tau[tables.first[n]] < 1.0:
        keep(mechanism, output.x.shape[0] - 1, work, output)
    if sampled.shape[1] == 0:
        return False
    return acting.sample_servos(mechanism.servos, sampled[n], tables.command, step.v, step.held, step.residual)


@inline_kernel
def put_rows(mechanism: Mechanism, tables: Tables, n: int, work: Work, output: Output) -> None:
    """The rows of the output that fall into step n."""
    for row in range(tables.first[n], tables.stop[n]):
        keep(mechanism, row, work, output)
        if tables.tau[row] < 1.0:
            keep_inside(row, output.x.shape[0] - 1, tables.tau[row], tables.h[n], output)


@kernel
def run_midpoint(mechanism: Mechanism, work: Work, tables: Tables, output: Output) -> tuple[int, int]:
    """Advance by the energy-exact rule; returns the number of finished steps and how it ended."""
    for n in range(tables.h.shape[0]):
        if begin(mechanism, tables, n, work, output):
            rule.expect_jump(work.step)
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
