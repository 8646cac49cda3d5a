"""The running account of a run: what entered by each port, what was lost, what is left over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel
from pliant.mechanics.energy_account import (
    COLUMNS,
    KINETIC,
    PROJECTION,
    RESIDUAL,
    Floats,
    book_step,
    note_residual,
)


class Account(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,)
    joints: Floats  # (dofs,) work of the drives
    loads: Floats  # (loads,)
    step_joints: Floats
    step_loads: Floats
    before: Floats  # sums, joints and loads at the start of the step
    worst: Floats  # (4,)


def new_account(dofs: int, loads: int) -> Account:
    z = np.zeros
    return Account(z(COLUMNS), z(dofs), z(loads), z(dofs), z(loads), z(COLUMNS + dofs + loads), z(4))


@inline_kernel
def close_step(
    account: Account, kinetic: float, strain: float, flows: tuple[float, float, float, float], time: float
) -> None:
    """Residual of a step from the changes of its energies before the projection; keeps the worst one."""
    gravity, material, viscous, damping = flows
    supplied = sizes = 0.0
    for j in range(account.joints.shape[0]):
        supplied += account.step_joints[j]
        sizes += abs(account.step_joints[j])
        account.joints[j] += account.step_joints[j]
    for k in range(account.loads.shape[0]):
        supplied += account.step_loads[k]
        sizes += abs(account.step_loads[k])
        account.loads[k] += account.step_loads[k]
    losses = (material, viscous, damping)
    book_step(account.sums, account.worst, (kinetic, strain), gravity, losses, (supplied, sizes), time)


@inline_kernel
def close_projection(account: Account, kinetic: float, lost: float, worked: float, time: float) -> None:
    """Check that fitting velocities changed the kinetic energy by the impulsive work of the drives less the loss."""
    sums = account.sums
    residual = kinetic + lost - worked
    sums[PROJECTION] += lost
    sums[RESIDUAL] += residual
    sums[KINETIC] += kinetic
    note_residual(sums, account.worst, residual, abs(kinetic) + lost + abs(worked), time)
