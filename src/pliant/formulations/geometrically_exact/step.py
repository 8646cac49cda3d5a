"""The compiled time loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.account import (
    KINETIC,
    PROJECTION,
    STRAIN,
    Account,
    book_flows,
    close_step,
    stored_energies,
)
from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.newton import CONVERGED, Solver, solve_stages
from pliant.formulations.geometrically_exact.projection import Projection, project
from pliant.formulations.geometrically_exact.stage_data import State
from pliant.formulations.geometrically_exact.stages import set_poses
from pliant.jit import inline_kernel, kernel


class Tables(NamedTuple):
    """What the world does at the stages (rows 0 .. s-1) and at the end (row s) of every step."""

    h: Floats  # (steps,)
    end: Floats  # (steps,) times
    joints: Floats  # (steps, s + 1, dofs, 3)
    loads: Floats  # (steps, s + 1, loads, 6)
    save: NDArray[np.int64]  # (steps,) row of the output, -1: none


class Output(NamedTuple):
    """States and accounts at the saved times."""

    V: Floats
    e: Floats
    q: Floats
    qd: Floats
    sums: Floats
    joints: Floats
    loads: Floats
    torque: Floats
    root: Floats  # (n, links, 6) wrench that the parent exerts on each root, mean over the step


class Work(NamedTuple):
    """What changes during a run."""

    state: State
    solver: Solver
    account: Account
    projection: Projection
    pose: Floats  # (1, links, 12) scratch


@kernel
def advance_values(method, values, rates, start, rate, last):
    """x += sum update E, its rate where the method carries one, and the increments for the predictor."""
    s = method.b.shape[0]
    for a in range(start.shape[0]):
        for c in range(6):
            if method.history != 0.0:
                rate[a, c] += method.rate_gain * (rates[0, a, c] - rate[a, c])
            t = 0.0
            for j in range(s):
                d = values[j, a, c] - start[a, c]
                last[j, a, c] = d
                t += method.update[j] * d
            start[a, c] += t


@inline_kernel
def advance_joints(method, drives, state, stages, end_table, last):
    """Joint positions at the end of the step; rates of prescribed joints."""
    s = method.b.shape[0]
    for j in range(state.q.shape[0]):
        for i in range(s):
            last[i, j] = stages.qd[i, j] - state.qd[j]
        if drives.prescribed[j]:
            state.q[j] = end_table[j, 0]
            state.qd[j] = end_table[j, 1]
        else:
            t = 0.0
            for i in range(s):
                t += method.update[i] * (stages.q[i, j] - state.q[j])
            if method.history != 0.0:
                state.q_rate[j] += method.rate_gain * (stages.qd[0, j] - state.q_rate[j])
            state.q[j] += t


@inline_kernel
def finish_step(plant, method, work, tables, k):
    """From solved stages to the state at the end of step k, with its account."""
    h = tables.h[k]
    s = method.b.shape[0]
    state, account, pose = work.state, work.account, work.pose
    stages, last = work.solver.stages, work.solver.last
    flows = book_flows(plant, method, stages, tables.loads[k], h, account)
    advance_values(method, stages.V, stages.V_dot, state.V, state.V_rate, last.V)
    advance_values(method, stages.e, stages.e_dot, state.e, state.e_rate, last.e)
    advance_joints(method, plant.drives, state, stages, tables.joints[k, s], last.qd)
    kinetic, strain = stored_energies(plant.chain, state.V, state.e)
    close_step(account, kinetic, strain, flows, tables.end[k])
    set_poses(plant.chain.tree, state.q.reshape((1, state.q.shape[0])), 0, pose)
    for j in range(account.step_joints.shape[0]):
        account.step_joints[j] = 0.0
    V = state.V.reshape((1, state.V.shape[0], 6))
    loss = project(plant, pose, V, state.qd, account.step_joints, work.projection)
    account.sums[KINETIC] = kinetic - loss
    for j in range(account.joints.shape[0]):
        account.joints[j] += account.step_joints[j]
        account.sums[KINETIC] += account.step_joints[j]
    account.sums[STRAIN] = strain
    account.sums[PROJECTION] += loss


@inline_kernel
def keep(method, state, stages, account, output, r):
    """Copy the state and the account to row r of the output."""
    for a in range(state.V.shape[0]):
        for c in range(6):
            output.V[r, a, c] = state.V[a, c]
    for a in range(state.e.shape[0]):
        for c in range(6):
            output.e[r, a, c] = state.e[a, c]
    for c in range(account.sums.shape[0]):
        output.sums[r, c] = account.sums[c]
    for j in range(state.q.shape[0]):
        output.q[r, j] = state.q[j]
        output.qd[r, j] = state.qd[j]
        output.joints[r, j] = account.joints[j]
        t = 0.0
        for i in range(method.b.shape[0]):
            t += method.b[i] * stages.torque[i, j]
        output.torque[r, j] = t
    for k in range(account.loads.shape[0]):
        output.loads[r, k] = account.loads[k]
    for k in range(stages.root.shape[1]):
        for c in range(6):
            t = 0.0
            for i in range(method.b.shape[0]):
                t -= method.b[i] * stages.root[i, k, c]
            output.root[r, k, c] = t


@kernel
def run_steps(plant, scheme, work, tables, output):
    """Advance through the tables; returns (steps done, CONVERGED or why it stopped)."""
    for k in range(tables.h.shape[0]):
        status, _ = solve_stages(
            plant, scheme, work.state, work.solver, tables.joints[k], tables.loads[k], tables.h[k]
        )
        if status != CONVERGED:
            return k, status
        finish_step(plant, scheme.method, work, tables, k)
        if tables.save[k] >= 0:
            keep(scheme.method, work.state, work.solver.stages, work.account, output, tables.save[k])
    return tables.h.shape[0], CONVERGED
