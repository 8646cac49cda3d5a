"""The running account of a run: what entered by each port, what was lost, what is left over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel

Floats = NDArray[np.float64]

# columns of the account
KINETIC, STRAIN, GRAVITY, MATERIAL, VISCOUS, JOINT, PROJECTION, RESIDUAL, EXCHANGED = range(9)
COLUMNS = 9

REST = 1e-30  # J; less is nothing


class Account(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,) in the order of the columns; the first two are present values
    joints: Floats  # (dofs,) work of the drives
    loads: Floats  # (loads,)
    step_joints: Floats
    step_loads: Floats
    before: Floats  # sums, joints and loads at the start of the step
    worst: Floats  # [largest residual ratio, its time, number of steps]
    rounding: Floats  # (1,) J of the step that forces in closed loops do on rounded positions


def new_account(dofs: int, loads: int) -> Account:
    z = np.zeros
    return Account(z(COLUMNS), z(dofs), z(loads), z(dofs), z(loads), z(COLUMNS + dofs + loads), z(3), z(1))


@inline_kernel
def note_residual(account: Account, residual: float, exchanged: float, time: float) -> None:
    """Keep the residual beyond rounding if it is the worst, measured by the energy exchanged in the step or in the
    mean step."""
    worst = account.worst
    scale = max(exchanged, account.sums[EXCHANGED] / worst[2], REST)
    beyond = abs(residual) - account.rounding[0]
    if beyond > worst[0] * scale:
        worst[0] = beyond / scale
        worst[1] = time


@inline_kernel
def close_step(
    account: Account, kinetic: float, strain: float, flows: tuple[float, float, float, float], time: float
) -> None:
    """Residual of a step from the changes of its energies before the projection; keeps the worst one."""
    gravity, material, viscous, damping = flows
    sums = account.sums
    exchanged = abs(kinetic) + abs(strain) + abs(gravity) + material + viscous + damping
    supplied = gravity
    for j in range(account.joints.shape[0]):
        supplied += account.step_joints[j]
        exchanged += abs(account.step_joints[j])
        account.joints[j] += account.step_joints[j]
    for k in range(account.loads.shape[0]):
        supplied += account.step_loads[k]
        exchanged += abs(account.step_loads[k])
        account.loads[k] += account.step_loads[k]
    residual = kinetic + strain - supplied + material + viscous + damping
    sums[KINETIC] += kinetic
    sums[STRAIN] += strain
    sums[GRAVITY] += gravity
    sums[MATERIAL] += material
    sums[VISCOUS] += viscous
    sums[JOINT] += damping
    sums[RESIDUAL] += residual
    sums[EXCHANGED] += exchanged
    account.worst[2] += 1.0
    note_residual(account, residual, exchanged, time)


@inline_kernel
def close_projection(account: Account, kinetic: float, lost: float, worked: float, time: float) -> None:
    """Check that fitting velocities changed the kinetic energy by the impulsive work of the drives less the loss."""
    sums = account.sums
    residual = kinetic + lost - worked
    sums[PROJECTION] += lost
    sums[RESIDUAL] += residual
    sums[KINETIC] += kinetic
    note_residual(account, residual, abs(kinetic) + lost + abs(worked), time)
