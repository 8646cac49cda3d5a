"""State, scratch and output of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.energy_account import Account
from pliant.formulations.geometrically_exact.pose_element.consistency import Fit
from pliant.formulations.geometrically_exact.pose_element.coordinate_law import JointFlows
from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats, Ints, Pose
from pliant.formulations.geometrically_exact.pose_element.motion import (
    cayley_turned,
    cayley_vector,
    quaternion,
)
from pliant.formulations.geometrically_exact.pose_element.newton import Solver
from pliant.formulations.geometrically_exact.pose_element.relative_pose import matrix, put, vector
from pliant.formulations.geometrically_exact.pose_element.step_data import Moment, Signals, Step
from pliant.jit import inline_kernel, kernel
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


class Past(NamedTuple):
    """Velocities of the two last steps, for the predictor."""

    Y: Floats  # (2, nodes, 6)
    s: Floats  # (2, nodes)
    steps: Floats  # (2,) their lengths, 0: none
    base: Floats  # (13,) of the base at the start of the step
    target: Floats  # (coordinates, 2) prescribed position and rate at the start of the step


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


def new_past(nodes: int, coordinates: int) -> Past:
    z = np.zeros
    return Past(z((2, nodes, 6)), z((2, nodes)), z(2), z(13), z((coordinates, 2)))


@inline_kernel
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


@inline_kernel
def keep(row: int, work: Work, output: Output) -> None:
    """The state at the end of the step into a row of the output."""
    account = work.account
    pack(work.now, work.moments[0], output.x[row])
    for k in range(account.sums.shape[0]):
        output.sums[row, k] = account.sums[k]
    for k in range(account.joints.shape[0]):
        output.joints[row, k] = account.joints[k]
    for k in range(account.loads.shape[0]):
        output.loads[row, k] = account.loads[k]
    for c in range(work.step.torque.shape[0]):
        output.torque[row, c] = work.step.torque[c, 0]
    for k in range(work.step.impulse.shape[0]):
        output.impulse[row, k] = work.step.impulse[k] / work.signals.h[0]
    for k in range(output.roots.shape[0]):
        i = output.roots[k]
        R = matrix(work.step.R_mid, i)
        f = 1.0 / work.signals.h[0]
        put(output.wrench[row], k, 0, scale(f, apply_transpose(R, vector(work.step.rho, i, 0))))
        put(output.wrench[row], k, 3, scale(f, apply_transpose(R, vector(work.step.rho, i, 3))))


@kernel
def keep_inside(row: int, before: int, tau: float, work: Work, output: Output) -> None:
    """A row at the part tau of the last step, between the row that holds its start and the present state."""
    keep(row, work, output)
    n = work.now.x.shape[0]
    x, old = output.x[row], output.x[before]
    for k in range(x.shape[0]):
        x[k] = (1.0 - tau) * old[k] + tau * x[k]
    for i in range(n):
        first = 3 * n + 4 * i
        before_q = (old[first], old[first + 1], old[first + 2], old[first + 3])
        q = cayley_turned(
            before_q, scale(tau, cayley_vector(before_q, quaternion(work.moments[0].quaternion, i)))
        )
        for k in range(4):
            x[first + k] = q[k]
    for table, now in (
        (output.sums, work.account.sums),
        (output.joints, work.account.joints),
        (output.loads, work.account.loads),
    ):
        for k in range(now.shape[0]):
            table[row, k] = (1.0 - tau) * table[before, k] + tau * now[k]
