"""State, scratch and output of a run.

The compiled loop over steps: predict, solve, halve where Newton fails, enter in the ledger, fit velocities, keep.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import copy_to, lay, load3, load9, store
from pliant.spatial.se3 import angular, linear
from pliant.spatial.so3 import from_quaternion
from pliant.spatial.vectors import add, apply, apply_transpose, cross, scale, sub
from pliant.structures.change_points import LOOSE
from pliant.structures.energy_ledger import KINETIC, ROUNDING, STRAIN, RunningLedger, close_projection, close_step
from pliant.structures.nodal import motion as moving
from pliant.structures.nodal.balance import (
    KINETIC_CHANGE,
    LIFT,
    begin_step,
    elastic_energy,
    kinetic_energy,
    node_losses,
    port_flows,
)
from pliant.structures.nodal.codes import ELEMENT
from pliant.structures.nodal.consistency import Fit, fit_velocities, follow_momentum, node_velocity, renew_drag
from pliant.structures.nodal.element import LARGEST_BEND, measure_element, node_distance, too_bent
from pliant.structures.nodal.mechanism import Bodies, Bools, Floats, Ints, Mechanism, Pose
from pliant.structures.nodal.motion import Moment, Motion, Past, Step
from pliant.structures.nodal.newton import HAVE_FACTORS, PLACE, Control, Solver, solve_step, work_of_closing
from pliant.structures.relations import BUSHING, CLOSED, measure_lines
from pliant.structures.relative_pose import K
from pliant.structures.stepping import (
    CONVERGED,
    DEEPEST,
    LOOP_OPENED,
    SINGULAR,
    TOO_BENT,
    TURNED_OVER,
    between_samples,
    blend,
    keep_sums,
    next_level,
)


class Output(NamedTuple):
    """What is kept at the output times."""

    roots: Ints  # (links,) root nodes
    wrench: Floats  # (rows, links, 6) of the joint on the root of each link, in its axes, mean of the step
    x: Floats  # (rows, states)
    sums: Floats
    joints: Floats
    loads: Floats
    torque: Floats  # (rows, coordinates) mean effort of the step
    impulse: Floats  # (rows, lines) mean force of the lines
    taken: Floats  # (rows, lines) energy that they took since the start


class Work(NamedTuple):
    """State and scratch of a run."""

    motion: Motion
    solver: Solver
    fit: Fit
    past: Past
    ledger: RunningLedger
    halvings: Ints  # (1,)
    inside: Floats  # (1,) seconds from the start of the step that failed to where its parts led


@inner_kernel
def keep(row: int, work: Work, output: Output) -> None:
    """The state at the end of the step into a row of the output."""
    now, at, step, place = work.motion.now, work.motion.start, work.motion.step, 0
    for part in (at.x, at.quaternion, now.v, now.w):
        place = lay(part, output.x[row], place)
    place = lay(at.q, output.x[row], place)
    place = lay(now.qd, output.x[row], place)
    lay(now.motor, output.x[row], place)
    keep_sums(work.ledger, output, row)
    h = work.motion.signals.h[0]
    f = 1.0 / h if h > 0.0 else 0.0
    for c in range(step.torque.shape[0]):
        output.torque[row, c] = step.torque[c, 0]
    for k in range(step.impulse.shape[0]):
        output.impulse[row, k] = f * step.impulse[k]
        output.taken[row, k] = step.taken[k]
    for k in range(output.roots.shape[0]):
        i = output.roots[k]
        R = load9(step.R_mid, i)
        store(scale(f, apply_transpose(R, load3(step.rho, i))), output.wrench[row], k)
        store(scale(f, apply_transpose(R, load3(step.rho, i, 3))), output.wrench[row], k, 3)


@inner_kernel
def keep_inside(row: int, before: int, tau: float, nodes: int, output: Output) -> None:
    """Turn a row that holds the end of a step into one at its part tau; row ``before`` holds its start."""
    for k in range(3 * nodes, 7 * nodes, 4):
        a, b = moving.quaternion(output.x, before, k), moving.quaternion(output.x, row, k)
        store(moving.cayley_turned(a, scale(tau, moving.cayley_vector(a, b))), output.x, row, k)
    blend(output.x, row, before, tau, (0, 3 * nodes))
    blend(output.x, row, before, tau, (7 * nodes, output.x.shape[1]))
    for table in (output.sums, output.joints, output.loads, output.taken):
        blend(table, row, before, tau, (0, table.shape[1]))


LARGEST_VIOLATION = 1e-9  # m or rad, of a constraint that should follow from others
OPEN = 1e-3  # m or rad, of a loose one: more than what momentum leaves


class Tables(NamedTuple):
    """Inputs of a stretch of steps, at the middle and the end of each."""

    h: Floats  # (steps,)
    end: Floats  # (steps,) times
    joint: Floats  # (steps, 2, coordinates, 3)
    load: Floats  # (steps, 2, loads, 6)
    base: Floats  # (steps, 2, 13)
    first: Ints  # (steps,) rows of the output that fall into the step
    stop: Ints
    tau: Floats  # (rows,) where in the step


@kernel
def take_up(mechanism: Mechanism, now: Pose, start: Moment) -> None:
    """Poses and relative poses of a state."""
    copy_to(now.x, start.x)
    copy_to(now.x_low, start.x_low)
    copy_to(now.quaternion, start.quaternion)
    copy_to(now.q, start.q)
    for i in range(now.x.shape[0]):
        store(from_quaternion(moving.quaternion(now.quaternion, i)), start.R, i)
    for i in range(now.x.shape[0]):
        if mechanism.tree.joint_type[i] == ELEMENT:
            p = mechanism.tree.parent[i]
            apart = node_distance(p, i, start)
            turns = load9(start.R, p), load9(start.R, i)
            measure_element(mechanism.elements, apart, turns[0], turns[1], (0.0, 0.0), start.strain, i)
    measure_lines(mechanism.lines, start.bushing, start)


@inline_kernel
def set_signals(prescribed: Bools, tables: Tables, n: int, span: tuple[float, float], work: Work) -> None:
    """What drives the part ``span`` of step n."""
    past, signals, tau = work.past, work.motion.signals, span[1]
    signals.h[0] = tables.h[n] * (span[1] - span[0])
    for c in range(prescribed.shape[0]):
        middle, end = tables.joint[n, 0, c], tables.joint[n, 1, c]
        if prescribed[c]:
            for k in range(2):
                signals.target[c, k] = between_samples(past.target[c, k], middle[k], end[k], tau)
        else:
            copy_to(middle, signals.target[c])
    copy_to(tables.load[n, 0], signals.load)
    for k in range(13):
        signals.base[k] = between_samples(past.base[k], tables.base[n, 0, k], tables.base[n, 1, k], tau)


@inline_kernel
def end_velocities(bodies: Bodies, now: Pose, step: Step) -> None:
    """v1 = 2 y - v0 of every centre of mass and w1 = 2 eta - w0."""
    for i in range(now.v.shape[0]):
        center = apply(load9(step.R_mean, i), load3(bodies.center, i))
        y = add(load3(step.Y, i), cross(load3(step.omega, i), center))
        store(sub(scale(2.0, y), load3(now.v, i)), now.v, i)
        store(sub(scale(2.0, load3(step.Y, i, 3)), load3(now.w, i)), now.w, i)


@inline_kernel
def take_end(end: Moment, start: Moment) -> None:
    """The end of the step becomes the state, bit by bit."""
    copy_to(end.x, start.x)
    copy_to(end.x_low, start.x_low)
    copy_to(end.quaternion, start.quaternion)
    copy_to(end.R, start.R)
    copy_to(end.strain, start.strain)
    copy_to(end.bushing, start.bushing)
    copy_to(end.phi, start.phi)
    copy_to(end.q, start.q)


@inline_kernel
def refuse_end(mechanism: Mechanism, end: Moment, kept: Bools, rank: Floats, control: Control) -> int:
    """Whether the end of a step is none: an element or a bushing turned beyond what it can measure, a loop opened.

    Constraints left out as redundant must stay closed by themselves; prescribed motions may contradict them.
    """
    tree, lines = mechanism.tree, mechanism.lines
    for i in range(end.strain.shape[0]):
        if tree.joint_type[i] == ELEMENT and too_bent(mechanism.elements, i, end):
            control.counts[PLACE] = i
            return TOO_BENT
    for k in range(end.phi.shape[0]):
        most = LARGEST_VIOLATION if rank[k, LOOSE] == 0.0 else OPEN
        if lines.law[k] == CLOSED and not kept[k] and abs(end.phi[k]) > most:
            control.counts[PLACE] = k
            return LOOP_OPENED
        if lines.measure[k] == BUSHING and end.bushing[k, K] > LARGEST_BEND:
            control.counts[PLACE] = k
            return TURNED_OVER
    return CONVERGED


@inline_kernel
def accept(mechanism: Mechanism, time: float, work: Work) -> int:
    """Enter a solved step in the ledger and move the state to its end."""
    motion, ledger, sums = work.motion, work.ledger, work.solver.sums
    now, start, end, step = motion.now, motion.start, motion.end, motion.step
    strain, material, viscous = node_losses(mechanism, motion)
    spun, stored, lost = port_flows(mechanism, motion, ledger)
    end_velocities(mechanism.bodies, now, step)
    take_end(end, start)
    ledger.worst[ROUNDING] = work_of_closing(mechanism, motion)
    flows = (-sums[LIFT], material, viscous, lost, 0.0)
    close_step(ledger, sums[KINETIC_CHANGE] + spun, strain + stored, flows, time)
    moving.remember(step, motion.signals.h[0], work.past)
    lost, gained = fit_velocities(mechanism, motion.signals, now, start, work.fit)
    if lost < 0.0:
        return SINGULAR
    worked = 0.0
    for c in range(work.fit.driven_work.shape[0]):
        ledger.joints[c] += work.fit.driven_work[c]
        worked += work.fit.driven_work[c]
    close_projection(ledger, gained, lost, worked, time)
    moving.restart_ball_joints(mechanism.tree, start)
    copy_to(start.q, now.q)
    return CONVERGED


@inner_kernel
def take_energies(mechanism: Mechanism, work: Work) -> None:
    """Stored energies of the present state in place of their running sums."""
    work.ledger.sums[KINETIC] = kinetic_energy(mechanism, work.motion.now, work.motion.start)
    work.ledger.sums[STRAIN] = elastic_energy(mechanism, work.motion.now, work.motion.start)


@kernel
def start_run(mechanism: Mechanism, work: Work) -> bool:
    """Take up the state, fit its velocities, and predict that they stay."""
    now, start, signals, past = work.motion.now, work.motion.start, work.motion.signals, work.past
    take_up(mechanism, now, start)
    for c in range(past.target.shape[0]):
        signals.target[c, 1] = past.target[c, 1]
    copy_to(past.base, signals.base)
    lost, _ = fit_velocities(mechanism, signals, now, start, work.fit)
    if lost < 0.0:
        return False
    moving.restart_ball_joints(mechanism.tree, start)
    for i in range(now.x.shape[0]):
        t = node_velocity(mechanism, i, now, start.R)
        store(apply(load9(start.R, i), linear(t)), past.Y, 0, 6 * i)
        store(angular(t), past.Y, 0, 6 * i + 3)
        if mechanism.tree.coordinate[i] >= 0:
            past.s[0, i] = now.qd[mechanism.tree.coordinate[i]]
    take_energies(mechanism, work)
    return True


@inner_kernel
def keep_now(mechanism: Mechanism, row: int, work: Work, output: Output) -> None:
    """The present state, its energies and the ledger to a row of the output."""
    take_energies(mechanism, work)
    keep(row, work, output)


@inline_kernel
def one_step(mechanism: Mechanism, control: Control, work: Work, tables: Tables, n: int) -> int:
    """Step n, in halves, quarters and so on where Newton's method does not converge, or leads where no step may end."""
    motion, done, level = work.motion, 0.0, 0
    while done < 1.0:
        width = 0.5**level
        set_signals(mechanism.coordinates.prescribed, tables, n, (done, done + width), work)
        renew_drag(mechanism, motion.now, motion.start.R)
        moving.predict(work.past, motion.signals.h[0], motion.step)
        moving.move(mechanism, motion)
        moving.choose_mid_frames(motion)
        begin_step(mechanism, motion)
        status = solve_step(mechanism, motion, work.solver, control)
        if status == CONVERGED:
            status = refuse_end(mechanism, motion.end, work.solver.lines.kept, work.fit.rank, control)
        work.inside[0] = done * tables.h[n]
        if status == CONVERGED:
            done += width
            time = tables.end[n] - (1.0 - done) * tables.h[n]
            status = accept(mechanism, time, work)
            if status != CONVERGED:
                return status
            if work.fit.rank.shape[0] > 0 and follow_momentum(work.fit, work.solver.lines.kept, motion.step.impulse):
                control.memory[HAVE_FACTORS] = 0.0
            level = next_level(level, done)
        else:
            level += 1
            work.halvings[0] += 1
            work.past.steps[0] = 0.0
            # what opened or turned over did so, in short steps too
            if level > DEEPEST or status in (LOOP_OPENED, TURNED_OVER):
                return status
    copy_to(tables.base[n, 1], work.past.base)
    for c in range(work.past.target.shape[0]):
        for k in range(2):
            work.past.target[c, k] = tables.joint[n, 1, c, k]
    return CONVERGED


@kernel
def run_steps(mechanism: Mechanism, control: Control, work: Work, tables: Tables, output: Output) -> tuple[int, int]:
    """Advance over the tables; returns the number of finished steps and how it ended. Row 0 is scratch for starts."""
    last = output.x.shape[0] - 1
    for n in range(tables.h.shape[0]):
        inside = tables.stop[n] > tables.first[n] and tables.tau[tables.first[n]] < 1.0
        if inside:
            keep(last, work, output)
        status = one_step(mechanism, control, work, tables, n)
        if status != CONVERGED:
            return n, status
        for row in range(tables.first[n], tables.stop[n]):
            keep_now(mechanism, row, work, output)
            if tables.tau[row] < 1.0:
                keep_inside(row, last, tables.tau[row], work.motion.now.x.shape[0], output)
    return tables.h.shape[0], CONVERGED
