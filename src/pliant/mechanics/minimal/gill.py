"""One step of the explicit method of Runge, Kutta and Gill, of order four [gill1951], as in [konno1996].

Works and losses are integrated along by the same weights, so that what the account lacks is the drift of the method.
Loops act by multipliers on the accelerations,  G a + dG/dt v = 0;  after the step positions and velocities are
brought back to the closures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.minimal.articulated import placed_dynamics
from pliant.mechanics.minimal.condensed import condensed_force
from pliant.mechanics.minimal.fitting import closed_force, factorise_mass, fit_velocities
from pliant.mechanics.minimal.forces import (
    drive_force,
    instant_law_forces,
    load_forces,
    load_power,
    spring_forces,
)
from pliant.mechanics.minimal.loops import closure_accelerations, closures, solve_closures
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.midpoint import CONVERGED, NOT_FINITE, SINGULAR, measure_end
from pliant.mechanics.minimal.motion import place_turned, six
from pliant.mechanics.minimal.passes import turn_along
from pliant.mechanics.minimal.recursions import inverse_dynamics
from pliant.mechanics.minimal.step_data import FITTED, T_END, Account, H, Signals, Step
from pliant.mechanics.minimal.tree import Floats

ROOT = math.sqrt(2.0)
# rows: parts of the three rates so far in the state of stages 1, 2, 3
STAGES = np.array(
    [[0.5, 0.0, 0.0], [0.5 * (ROOT - 1.0), 0.5 * (2.0 - ROOT), 0.0], [0.0, -0.5 * ROOT, 0.5 * (2.0 + ROOT)]]
)
WEIGHTS = np.array([1.0, 2.0 - ROOT, 2.0 + ROOT, 1.0]) / 6.0


class Stages(NamedTuple):
    """Rates of the stages, and works and losses of the step."""

    rate: Floats  # (4, 2, n) velocities, accelerations
    joints: Floats  # (n,) works of the drives
    effort: Floats  # (n,) their means
    loads: Floats  # (loads,)
    lost: Floats  # (2,) in fields, in joints


def new_stages(n: int, loads: int) -> Stages:
    return Stages(np.zeros((4, 2, n)), np.zeros(n), np.zeros(n), np.zeros(loads), np.zeros(2))


@inner_kernel
def closed_accelerations(mechanism: Mechanism, step: Step, account: Account) -> bool:
    """Multipliers, and accelerations that keep the loops closed."""
    n, rows = step.q.shape[0], step.loop.shape[0]
    if not factorise_mass(mechanism, step.motion, step, account):
        return False
    closure_accelerations(mechanism.loops, step.motion, step.loop)
    for k in range(rows):
        step.loop[k] = -step.loop[k]
    solve_closures(step, step.loop)
    for k in range(rows):
        for i in range(n):
            step.acceleration[i] += step.AG[k, i] * step.loop[k]
    return True


@inline_kernel
def accelerate(mechanism: Mechanism, signals: Signals, step: Step, account: Account) -> bool:
    """Accelerations at (q_mid, w), and the drives of all coordinates."""
    tree, drives, motion = mechanism.tree, mechanism.drives, step.motion
    n = step.q.shape[0]
    for i in range(n):
        if drives.prescribed[i]:
            step.q_mid[i], step.w[i] = signals.target[i, 0], signals.target[i, 1]
            step.acceleration[i] = signals.target[i, 2]
    spring_forces(mechanism.springs, step.q_mid, step.w, step)
    instant_law_forces(mechanism.springs.laws, step.q_mid, step.w, step)
    turn_along(tree, step.q_mid, 1, step)
    for i in range(n):
        step.condensed[i] = 0.0
        place_turned(tree, i, step.q_mid[i], (step.turn[1, i, 0], step.turn[1, i, 1]), motion)
    if step.wrench.shape[0] > 0:
        load_forces(tree, mechanism.wrenches, signals.load, motion, step.wrench, step.load)
    condensed_force(mechanism.condensed, tree, motion, step.q_mid, step.turn[1], step.condensed)
    some_prescribed = False
    for i in range(n):
        step.residual[i] = step.condensed[i] + step.load[i] - step.elastic[i]
        step.residual[i] -= step.lost_field[i] + step.lost_joint[i]
        if drives.prescribed[i]:
            some_prescribed = True
        else:
            step.drive[i] = drive_force(drives, signals, step.held[i], i, step.q_mid[i], step.w[i])
            step.residual[i] += step.drive[i]
    if not placed_dynamics(tree, drives.prescribed, step.w, step.residual, motion, step.acceleration):
        return False
    if step.loop.shape[0] > 0 and not closed_accelerations(mechanism, step, account):
        return False
    if some_prescribed:
        inverse_dynamics(tree, step.q_mid, step.w, step.acceleration, motion, step.inertial)
        for i in range(n):
            if drives.prescribed[i]:
                step.drive[i] = step.inertial[i] - step.residual[i] - closed_force(step, i)
    return True


@inline_kernel
def add_works(mechanism: Mechanism, step: Step, stages: Stages, part: float) -> None:
    """Works of drives and loads, and losses, of the present stage, which is a part of the step."""
    weight = part * step.number[H]
    for i in range(step.q.shape[0]):
        heat = mechanism.drives.heat[i] * step.w[i]
        stages.effort[i] += part * step.drive[i]
        stages.joints[i] += weight * (step.drive[i] + heat) * step.w[i]
        stages.lost[0] += weight * step.lost_field[i] * step.w[i]
        stages.lost[1] += weight * (step.lost_joint[i] + heat) * step.w[i]
    for k in range(step.wrench.shape[0]):
        body = mechanism.wrenches.body[k]
        power = load_power(mechanism.tree, body, six(step.wrench, k, 0), step.w, step.motion)
        stages.loads[mechanism.wrenches.load[k]] += weight * power


@inner_kernel
def close_positions(mechanism: Mechanism, step: Step, account: Account) -> bool:
    """Bring q_end back to the closures by one step of Newton's method, with the least motion of mass."""
    measure_end(mechanism, step)
    if not factorise_mass(mechanism, step.motion_end, step, account):
        return False
    closures(mechanism.loops, step.motion_end, step.gap)
    solve_closures(step, step.gap)
    for k in range(step.loop.shape[0]):
        for i in range(step.q.shape[0]):
            step.q_end[i] -= step.AG[k, i] * step.gap[k]
    return True


@inline_kernel
def gill_step(
    mechanism: Mechanism,
    signals: tuple[Signals, Signals, Signals],
    step: Step,
    stages: Stages,
    account: Account,
) -> int:
    """The step from (q, v); signals are those at its middle, end and start."""
    n, h, number = step.q.shape[0], step.number[H], step.number
    for i in range(n):
        stages.joints[i], stages.effort[i] = 0.0, 0.0
        step.q_mid[i], step.w[i] = step.q[i], step.v[i]
    for k in range(stages.loads.shape[0]):
        stages.loads[k] = 0.0
    stages.lost[0], stages.lost[1] = 0.0, 0.0
    for s in range(4):
        if s > 0:
            for i in range(n):
                q, v = 0.0, 0.0
                for r in range(s):
                    q += STAGES[s - 1, r] * stages.rate[r, 0, i]
                    v += STAGES[s - 1, r] * stages.rate[r, 1, i]
                step.q_mid[i], step.w[i] = step.q[i] + h * q, step.v[i] + h * v
        account.counts[0] += 1
        if not accelerate(mechanism, signals[2 if s == 0 else (1 if s == 3 else 0)], step, account):
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
    turn_along(mechanism.tree, step.q_end, 2, step)
    if step.loop.shape[0] > 0:
        if not close_positions(mechanism, step, account):
            return SINGULAR
        turn_along(mechanism.tree, step.q_end, 2, step)
    measure_end(mechanism, step)
    if not number[T_END] < math.inf:
        return NOT_FINITE
    number[FITTED] = 0.0
    if step.loop.shape[0] > 0 and not fit_velocities(mechanism, step, account):
        return SINGULAR
    return CONVERGED
