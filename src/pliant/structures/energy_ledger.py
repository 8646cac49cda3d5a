"""The sums of an energy ledger, and how a step is entered in them.

The running ledger of a run: what entered by each port, what was lost, what is left over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel

Floats = NDArray[np.float64]

# columns; the first two are present values, the others sums from the start of the run
KINETIC, STRAIN, GRAVITY, MATERIAL, VISCOUS, JOINT, PROJECTION, RESIDUAL, EXCHANGED = range(9)
COLUMNS = 9

# the worst step: largest ratio, its time, number of steps, J of the present step that is rounding of positions
RATIO, TIME, STEPS, ROUNDING = range(4)

REST = 1e-30  # J; less is nothing
# of the energies and works that a step subtracts from each other, and sums over some hundred parts
ROUND_OFF = 128.0 * 2.0**-52


@inline_kernel
def note_residual(ledger: Any, residual: float, exchanged: float, time: float) -> None:
    """Keep the residual beyond rounding if it is the worst, measured by the energy exchanged in the step or in the
    mean step. A change of stored energy is known to rounding of the energy itself."""
    sums, worst = ledger.sums, ledger.worst
    scale = max(exchanged, sums[EXCHANGED] / max(worst[STEPS], 1.0), REST)
    rounding = worst[ROUNDING] + ROUND_OFF * (abs(sums[KINETIC]) + abs(sums[STRAIN]) + exchanged)
    beyond = abs(residual) - rounding
    if beyond > worst[RATIO] * scale:
        worst[RATIO] = beyond / scale
        worst[TIME] = time


@inline_kernel
def enter_step(
    ledger: Any,
    changes: tuple[float, float],
    flows: tuple[float, float, float, float],
    works: tuple[float, float],
    time: float,
) -> None:
    """A step in a ledger.

    changes: of kinetic and strain energy; flows: work of gravity, material, viscous loss, that of joints; works: of
    drives and loads, their sum and the sum of their sizes.
    """
    sums = ledger.sums
    kinetic, strain = changes
    gravity, material, viscous, joint = flows
    lost = material + viscous + joint
    supplied, sizes = works
    residual = kinetic + strain - (gravity + supplied) + lost
    exchanged = abs(kinetic) + abs(strain) + abs(gravity) + lost + sizes
    sums[KINETIC] += kinetic
    sums[STRAIN] += strain
    sums[GRAVITY] += gravity
    sums[MATERIAL] += material
    sums[VISCOUS] += viscous
    sums[JOINT] += joint
    sums[RESIDUAL] += residual
    sums[EXCHANGED] += exchanged
    ledger.worst[STEPS] += 1.0
    note_residual(ledger, residual, exchanged, time)


class RunningLedger(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,)
    joints: Floats  # (dofs,) work of the drives
    loads: Floats  # (loads,)
    step_joints: Floats
    step_loads: Floats
    before: Floats  # sums, joints and loads at the start of the step
    worst: Floats  # (4,)


def new_ledger(dofs: int, loads: int) -> RunningLedger:
    z = np.zeros
    return RunningLedger(z(COLUMNS), z(dofs), z(loads), z(dofs), z(loads), z(COLUMNS + dofs + loads), z(4))


@inline_kernel
def close_step(
    ledger: RunningLedger, kinetic: float, strain: float, flows: tuple[float, float, float, float], time: float
) -> None:
    """Residual of a step from the changes of its energies before the projection; keeps the worst one."""
    supplied = sizes = 0.0
    for j in range(ledger.joints.shape[0]):
        supplied += ledger.step_joints[j]
        sizes += abs(ledger.step_joints[j])
        ledger.joints[j] += ledger.step_joints[j]
    for k in range(ledger.loads.shape[0]):
        supplied += ledger.step_loads[k]
        sizes += abs(ledger.step_loads[k])
        ledger.loads[k] += ledger.step_loads[k]
    enter_step(ledger, (kinetic, strain), flows, (supplied, sizes), time)


@inline_kernel
def close_projection(ledger: RunningLedger, kinetic: float, lost: float, worked: float, time: float) -> None:
    """Check that fitting velocities changed the kinetic energy by the impulsive work of the drives less the loss."""
    sums = ledger.sums
    residual = kinetic + lost - worked
    sums[PROJECTION] += lost
    sums[RESIDUAL] += residual
    sums[KINETIC] += kinetic
    note_residual(ledger, residual, abs(kinetic) + lost + abs(worked), time)
