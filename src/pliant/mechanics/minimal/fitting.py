"""Velocities that fit closed loops, with the least change of kinetic energy."""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.minimal.cholesky import factorise
from pliant.mechanics.minimal.composite import fill_mass_matrix
from pliant.mechanics.minimal.loops import closure_gradients, factorise_closures, solve_closures
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.passes import end_pass
from pliant.mechanics.minimal.step_data import FITTED, LIFTED, STALE, T_END, Account, Step
from pliant.mechanics.minimal.tree import Bools, Floats


@inline_kernel
def leave_out_prescribed(prescribed: Bools, A: Floats) -> None:
    for i in range(prescribed.shape[0]):
        if prescribed[i]:
            for j in range(prescribed.shape[0]):
                A[i, j] = 0.0
                A[j, i] = 0.0
            A[i, i] = 1.0


@inline_kernel
def closed_force(step: Step, i: int) -> float:
    """Of the multipliers on coordinate i."""
    total = 0.0
    for k in range(step.loop.shape[0]):
        total += step.G[k, i] * step.loop[k]
    return total


@inner_kernel
def factorise_mass(mechanism: Mechanism, motion: Floats, step: Step, account: Account) -> bool:
    """Factors of M and of the closures from poses that stand; prescribed coordinates do not give way."""
    n = step.q.shape[0]
    fill_mass_matrix(mechanism.tree, n, motion, step.factors)
    leave_out_prescribed(mechanism.drives.prescribed, step.factors)
    step.number[STALE] = 1.0
    account.counts[1] += 1
    if not factorise(step.factors):
        return False
    closure_gradients(mechanism.tree, mechanism.loops, motion, step.G)
    factorise_closures(step, mechanism.drives.prescribed)
    return True


@inner_kernel
def fit_velocities(mechanism: Mechanism, step: Step, account: Account) -> bool:
    """Fit v_end to the loops with the least change of kinetic energy; the loss is kept."""
    n, rows = step.q.shape[0], step.loop.shape[0]
    step.number[FITTED] = 0.0
    if rows == 0:
        return True
    if not factorise_mass(mechanism, step.motion_end, step, account):
        return False
    for k in range(rows):
        step.gap[k] = 0.0
        for i in range(n):
            step.gap[k] += step.G[k, i] * step.v_end[i]
    solve_closures(step, step.gap)
    for k in range(rows):
        for i in range(n):
            step.v_end[i] -= step.AG[k, i] * step.gap[k]
    before = step.number[T_END]
    lifted = step.number[LIFTED]
    end_pass(mechanism.tree, step)
    step.number[LIFTED] = lifted
    step.number[FITTED] = before - step.number[T_END]
    return True
