"""State, scratch and output of a run.

The compiled loop over steps: predict, solve, halve where Newton fails, enter in the ledger, fit velocities, keep.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.so3 import from_quaternion
from pliant.spatial.vectors import add, apply, apply_transpose, cross, scale, sub
from pliant.structures.energy_ledger import KINETIC, ROUNDING, STRAIN, RunningLedger, close_projection, close_step
from pliant.structures.nodal.balance import elastic_energy, kinetic_energy, node_flows, port_flows
from pliant.structures.nodal.consistency import Fit, fit_velocities, node_velocity, renew_drag
from pliant.structures.nodal.element import measure, node_distance
from pliant.structures.nodal.joint_laws import JointFlows
from pliant.structures.nodal.mechanism import (
    BUSHING,
    CLOSED,
    ELEMENT,
    Bodies,
    Bools,
    Floats,
    Ints,
    Lines,
    Mechanism,
    Pose,
    Tree,
)
from pliant.structures.nodal.motion import (
    Moment,
    Past,
    Signals,
    Step,
    cayley_turned,
    cayley_vector,
    choose_mid_frames,
    move,
    predict,
    quaternion,
    remember,
    restart_ball_joints,
)
from pliant.structures.nodal.newton import (
    CONVERGED,
    LOOP_OPENED,
    PLACE,
    SINGULAR,
    TOO_BENT,
    TURNED_OVER,
    Control,
    Solver,
    solve_step,
    work_of_closing,
)
from pliant.structures.nodal.relations import measure_lines
from pliant.structures.nodal.relative_pose import K
from pliant.structures.nodal.rows import matrix, put, put_matrix, vector


class Output(NamedTuple):
    """What is kept at the output times."""

    x: Floats  # (rows, states)
    sums: Floats
    joints: Floats
    loads: Floats
    torque: Floats  # (rows, coordinates) mean effort of the step
    impulse: Floats  # (rows, lines) mean force of the lines
    taken: Floats  # (rows, lines) energy that they took since the start
    wrench: Floats  # (rows, links, 6) of the joint on the root of each link, in its axes, mean of the step
    roots: Ints  # (links,) root nodes


class Work(NamedTuple):
    """State and scratch of a run."""

    now: Pose
    moments: tuple[Moment, Moment]
    step: Step
    signals: Signals
    solver: Solver
    fit: Fit
    past: Past
    flows: JointFlows
    ledger: RunningLedger
    halvings: Ints  # (1,)


@inner_kernel
def pack(now: Pose, moment: Moment, out: Floats) -> None:
    """One state vector: positions, quaternions, velocities, spins, joint positions, rates, rotors."""
    n, m = moment.x.shape[0], now.q.shape[0]
    for i in range(n):
        for k in range(3):
            out[3 * i + k] = moment.x[i, k]
            out[7 * n + 3 * i + k] = now.v[i, k]
            out[10 * n + 3 * i + k] = now.w[i, k]
        for k in range(4):
            out[3 * n + 4 * i + k] = moment.quaternion[i, k]
    for c in range(m):
        out[13 * n + c] = moment.q[c]
        out[13 * n + m + c] = now.qd[c]
        out[13 * n + 2 * m + 2 * c] = now.motor[c, 0]
        out[13 * n + 2 * m + 2 * c + 1] = now.motor[c, 1]


@inner_kernel
def keep(row: int, now: Pose, at: Moment, ledger: RunningLedger, step: Step, h: float, output: Output) -> None:
    """The state at the end of the step into a row of the output."""
    pack(now, at, output.x[row])
    for k in range(ledger.sums.shape[0]):
        output.sums[row, k] = ledger.sums[k]
    for k in range(ledger.joints.shape[0]):
        output.joints[row, k] = ledger.joints[k]
    for k in range(ledger.loads.shape[0]):
        output.loads[row, k] = ledger.loads[k]
    f = 1.0 / h if h > 0.0 else 0.0
    for c in range(step.torque.shape[0]):
        output.torque[row, c] = step.torque[c, 0]
    for k in range(step.impulse.shape[0]):
        output.impulse[row, k] = f * step.impulse[k]
        output.taken[row, k] = step.taken[k]
    for k in range(output.roots.shape[0]):
        i = output.roots[k]
        R = matrix(step.R_mid, i)
        put(output.wrench[row], k, 0, scale(f, apply_transpose(R, vector(step.rho, i, 0))))
        put(output.wrench[row], k, 3, scale(f, apply_transpose(R, vector(step.rho, i, 3))))


@inner_kernel
def blend(table: Floats, row: int, before: int, tau: float, span: tuple[int, int]) -> None:
    """Straight line between two rows, for the columns of ``span``."""
    for k in range(span[0], span[1]):
        table[row, k] = (1.0 - tau) * table[before, k] + tau * table[row, k]


@inner_kernel
def keep_inside(row: int, before: int, tau: float, nodes: int, output: Output) -> None:
    """Turn a row that holds the end of a step into one at its part tau; row ``before`` holds its start."""
    x, old = output.x[row], output.x[before]
    for i in range(nodes):
        k = 3 * nodes + 4 * i
        a = (old[k], old[k + 1], old[k + 2], old[k + 3])
        b = (x[k], x[k + 1], x[k + 2], x[k + 3])
        x[k], x[k + 1], x[k + 2], x[k + 3] = cayley_turned(a, scale(tau, cayley_vector(a, b)))
    blend(output.x, row, before, tau, (0, 3 * nodes))
    blend(output.x, row, before, tau, (7 * nodes, x.shape[0]))
    for table in (output.sums, output.joints, output.loads, output.taken):
        blend(table, row, before, tau, (0, table.shape[1]))


DEEPEST = 10  # halvings of a step before the run gives up
LARGEST_BEND = 1.8  # 1 - cos of the angle between the ends of an element or of a bushing, 2.5 rad
LARGEST_VIOLATION = 1e-9  # m or rad, of a constraint that should follow from others


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


@inline_kernel
def copy_rows(source: Floats, target: Floats) -> None:
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[i, k] = source[i, k]


@kernel
def take_up(mechanism: Mechanism, now: Pose, start: Moment) -> None:
    """Poses and relative poses of a state."""
    copy_rows(now.x, start.x)
    copy_rows(now.x_low, start.x_low)
    copy_rows(now.quaternion, start.quaternion)
    for c in range(now.q.shape[0]):
        start.q[c] = now.q[c]
    for i in range(now.x.shape[0]):
        put_matrix(start.R, i, from_quaternion(quaternion(now.quaternion, i)))
    for i in range(now.x.shape[0]):
        if mechanism.tree.joint_type[i] == ELEMENT:
            p = mechanism.tree.parent[i]
            kind, apart = mechanism.elements.kind[i], node_distance(p, i, start)
            measure(kind, apart, matrix(start.R, p), matrix(start.R, i), 0.0, start.strain, i)
    measure_lines(mechanism.lines, start.bushing, start)


@inline_kernel
def between_samples(start: float, middle: float, end: float, tau: float) -> float:
    """Parabola through a value at the start, the middle and the end of a step."""
    return start + tau * ((4.0 * middle - 3.0 * start - end) + tau * 2.0 * (start + end - 2.0 * middle))


@inline_kernel
def set_signals(
    prescribed: Bools, tables: Tables, n: int, span: tuple[float, float], past: Past, signals: Signals
) -> None:
    """What drives the part ``span`` of step n."""
    signals.h[0] = tables.h[n] * (span[1] - span[0])
    tau = span[1]
    for c in range(prescribed.shape[0]):
        middle, end = tables.joint[n, 0, c], tables.joint[n, 1, c]
        if prescribed[c]:
            for k in range(2):
                signals.target[c, k] = between_samples(past.target[c, k], middle[k], end[k], tau)
        else:
            for k in range(3):
                signals.target[c, k] = middle[k]
    for k in range(signals.load.shape[0]):
        for j in range(6):
            signals.load[k, j] = tables.load[n, 0, k, j]
    for k in range(13):
        signals.base[k] = between_samples(past.base[k], tables.base[n, 0, k], tables.base[n, 1, k], tau)


@inline_kernel
def end_velocities(bodies: Bodies, now: Pose, step: Step) -> None:
    """v1 = 2 y - v0 of every centre of mass and w1 = 2 eta - w0."""
    for i in range(now.v.shape[0]):
        center = apply(matrix(step.R_mean, i), vector(bodies.center, i, 0))
        y = add(vector(step.Y, i, 0), cross(vector(step.omega, i, 0), center))
        put(now.v, i, 0, sub(scale(2.0, y), vector(now.v, i, 0)))
        put(now.w, i, 0, sub(scale(2.0, vector(step.Y, i, 3)), vector(now.w, i, 0)))


@inline_kernel
def take_end(end: Moment, start: Moment, now: Pose) -> None:
    """The end of the step becomes the state, bit by bit."""
    copy_rows(end.x, start.x)
    copy_rows(end.x_low, start.x_low)
    copy_rows(end.quaternion, start.quaternion)
    copy_rows(end.R, start.R)
    copy_rows(end.strain, start.strain)
    copy_rows(end.bushing, start.bushing)
    for k in range(end.phi.shape[0]):
        start.phi[k] = end.phi[k]
    for c in range(end.q.shape[0]):
        start.q[c] = end.q[c]
        now.q[c] = end.q[c]


@inline_kernel
def refuse_end(tree: Tree, lines: Lines, end: Moment, kept: Bools, control: Control) -> int:
    """Whether the end of a step is none: an element or a bushing turned beyond what its logarithm tells, a loop opened.

    Constraints left out as redundant must stay closed by themselves; prescribed motions may contradict them.
    """
    for i in range(end.strain.shape[0]):
        if tree.joint_type[i] == ELEMENT and end.strain[i, K] > LARGEST_BEND:
            control.counts[PLACE] = i
            return TOO_BENT
    for k in range(end.phi.shape[0]):
        if lines.law[k] == CLOSED and not kept[k] and abs(end.phi[k]) > LARGEST_VIOLATION:
            control.counts[PLACE] = k
            return LOOP_OPENED
        if lines.measure[k] == BUSHING and end.bushing[k, K] > LARGEST_BEND:
            control.counts[PLACE] = k
            return TURNED_OVER
    return CONVERGED


@inline_kernel
def accept(mechanism: Mechanism, time: float, work: Work, control: Control) -> int:
    """Enter a solved step in the ledger and move the state to its end."""
    now, ledger, step, signals = work.now, work.ledger, work.step, work.signals
    start, end = work.moments
    refused = refuse_end(mechanism.tree, mechanism.lines, end, work.solver.lines.kept, control)
    if refused != CONVERGED:
        return refused
    kinetic, strain, gravity, material, viscous = node_flows(mechanism, signals.h[0], now, work.moments, step)
    spun, stored, lost = port_flows(mechanism, signals, now, work.moments, step, work.flows, ledger)
    end_velocities(mechanism.bodies, now, step)
    take_end(end, start, now)
    ledger.worst[ROUNDING] = work_of_closing(mechanism, signals.h[0], step)
    close_step(ledger, kinetic + spun, strain + stored, (gravity, material, viscous, lost), time)
    remember(step, signals.h[0], work.past)
    lost, gained = fit_velocities(mechanism, signals, now, start, work.fit)
    if lost < 0.0:
        return SINGULAR
    worked = 0.0
    for c in range(work.fit.driven_work.shape[0]):
        ledger.joints[c] += work.fit.driven_work[c]
        worked += work.fit.driven_work[c]
    close_projection(ledger, gained, lost, worked, time)
    restart_ball_joints(mechanism.tree, start)
    for c in range(now.q.shape[0]):
        now.q[c] = start.q[c]
    return CONVERGED


@inner_kernel
def take_energies(mechanism: Mechanism, work: Work) -> None:
    """Stored energies of the present state in place of their running sums."""
    work.ledger.sums[KINETIC] = kinetic_energy(mechanism, work.now)
    work.ledger.sums[STRAIN] = elastic_energy(mechanism, work.now, work.moments[0])


@kernel
def start_run(mechanism: Mechanism, work: Work) -> bool:
    """Take up the state, fit its velocities, and predict that they stay."""
    now, start, past = work.now, work.moments[0], work.past
    take_up(mechanism, now, start)
    for c in range(past.target.shape[0]):
        work.signals.target[c, 1] = past.target[c, 1]
    for k in range(13):
        work.signals.base[k] = past.base[k]
    lost, _ = fit_velocities(mechanism, work.signals, now, start, work.fit)
    if lost < 0.0:
        return False
    restart_ball_joints(mechanism.tree, start)
    for i in range(now.x.shape[0]):
        t = node_velocity(mechanism, i, now, start.R)
        put(past.Y, 0, 6 * i, apply(matrix(start.R, i), (t[0], t[1], t[2])))
        put(past.Y, 0, 6 * i + 3, (t[3], t[4], t[5]))
        if mechanism.tree.coordinate[i] >= 0:
            past.s[0, i] = now.qd[mechanism.tree.coordinate[i]]
    take_energies(mechanism, work)
    return True


@inner_kernel
def keep_now(mechanism: Mechanism, row: int, work: Work, output: Output) -> None:
    """The present state, its energies and the ledger to a row of the output."""
    take_energies(mechanism, work)
    keep(row, work.now, work.moments[0], work.ledger, work.step, work.signals.h[0], output)


@inline_kernel
def one_step(mechanism: Mechanism, control: Control, work: Work, tables: Tables, n: int) -> int:
    """Step n, in halves, quarters and so on where Newton's method does not converge."""
    done, level = 0.0, 0
    while done < 1.0:
        width = 0.5**level
        set_signals(mechanism.coordinates.prescribed, tables, n, (done, done + width), work.past, work.signals)
        renew_drag(mechanism, work.now, work.moments[0].R)
        predict(work.past, work.signals.h[0], work.step)
        move(
            mechanism.tree, mechanism.coordinates.prescribed, work.signals, work.moments[0], work.moments[1], work.step
        )
        choose_mid_frames(work.signals.h[0], work.moments[0], work.step)
        status = solve_step(mechanism, work.signals, work.now, work.moments, work.step, work.solver, control)
        if status == CONVERGED:
            done += width
            time = tables.end[n] - (1.0 - done) * tables.h[n]
            status = accept(mechanism, time, work, control)
            if status != CONVERGED:
                return status
            if level > 0 and (done * 2.0 ** (level - 1)) % 1.0 == 0.0:
                level -= 1
        else:
            level += 1
            work.halvings[0] += 1
            work.past.steps[0] = 0.0
            if level > DEEPEST:
                return status
    for k in range(13):
        work.past.base[k] = tables.base[n, 1, k]
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
            keep_now(mechanism, last, work, output)
        status = one_step(mechanism, control, work, tables, n)
        if status != CONVERGED:
            return n, status
        for row in range(tables.first[n], tables.stop[n]):
            keep_now(mechanism, row, work, output)
            if tables.tau[row] < 1.0:
                keep_inside(row, last, tables.tau[row], work.now.x.shape[0], output)
    return tables.h.shape[0], CONVERGED
