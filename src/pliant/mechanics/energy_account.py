"""The sums of an energy account, and how a step is booked in them."""

from __future__ import annotations

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


@inline_kernel
def note_residual(sums: Floats, worst: Floats, residual: float, exchanged: float, time: float) -> None:
    """Keep the residual beyond rounding if it is the worst, measured by the energy exchanged in the step or in the
    mean step."""
    scale = max(exchanged, sums[EXCHANGED] / max(worst[STEPS], 1.0), REST)
    beyond = abs(residual) - worst[ROUNDING]
    if beyond > worst[RATIO] * scale:
        worst[RATIO] = beyond / scale
        worst[TIME] = time


@inline_kernel
def book_step(
    sums: Floats,
    worst: Floats,
    changes: tuple[float, float],
    gravity: float,
    losses: tuple[float, float, float],
    works: tuple[float, float],
    time: float,
) -> None:
    """A step in the account.

    changes: of kinetic and strain energy; losses: material, viscous, of joints; works: of drives and loads, their sum
    and the sum of their sizes.
    """
    kinetic, strain = changes
    material, viscous, joint = losses
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
    worst[STEPS] += 1.0
    note_residual(sums, worst, residual, exchanged, time)
