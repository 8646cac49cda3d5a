"""State, scratch and output of a run."""

from __future__ import annotations

from typing import NamedTuple

from pliant.formulations.geometrically_exact.energy_account import Account
from pliant.formulations.geometrically_exact.pose_element.consistency import Fit
from pliant.formulations.geometrically_exact.pose_element.coordinate_law import JointFlows
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Ints, Pose
from pliant.formulations.geometrically_exact.pose_element.motion import (
    cayley_turned,
    cayley_vector,
)
from pliant.formulations.geometrically_exact.pose_element.newton import Solver
from pliant.formulations.geometrically_exact.pose_element.prediction import Past
from pliant.formulations.geometrically_exact.pose_element.relative_pose import matrix, put, vector
from pliant.formulations.geometrically_exact.pose_element.step_data import Moment, Signals, Step
from pliant.jit import inner_kernel
from pliant.spatial.vectors import apply_transpose, scale


class Output(NamedTuple):
    """What is kept at the output times."""

    x: Floats  # (rows, states)
    sums: Floats
    joints: Floats
    loads: Floats
    torque: Floats  # (rows, coordinates) mean effort of the step
    impulse: Floats  # (rows, lines) mean force of the lines
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
    account: Account
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
def keep(row: int, now: Pose, at: Moment, account: Account, step: Step, h: float, output: Output) -> None:
    """The state at the end of the step into a row of the output."""
    pack(now, at, output.x[row])
    for k in range(account.sums.shape[0]):
        output.sums[row, k] = account.sums[k]
    for k in range(account.joints.shape[0]):
        output.joints[row, k] = account.joints[k]
    for k in range(account.loads.shape[0]):
        output.loads[row, k] = account.loads[k]
    f = 1.0 / h if h > 0.0 else 0.0
    for c in range(step.torque.shape[0]):
        output.torque[row, c] = step.torque[c, 0]
    for k in range(step.impulse.shape[0]):
        output.impulse[row, k] = f * step.impulse[k]
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
    for table in (output.sums, output.joints, output.loads):
        blend(table, row, before, tau, (0, table.shape[1]))
