"""The energy ledger of a run, and the sums of a compiled loop under its names."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.model.state import Array
from pliant.structures import energy_ledger as columns


@dataclass(frozen=True)
class Ledger:
    """Energies at the saved times, in joules; works and losses are summed from the start of the run.

    kinetic + strain = start value + gravity + sum(works) - material_loss - viscous_loss - joint_loss
                       - projection_loss + residual

    ``projection_loss`` is what the step takes when it returns the two sides of a moving joint to equal
    velocity; ``exchanged`` sums the absolute energy flows of all steps; ``worst_ratio`` is the largest
    residual of a single step divided by the energy exchanged in that step or, if larger, in the mean step so
    far, and ``worst_time`` is when it happened; what forces in closed loops do on rounded positions is
    no residual. ``exact`` says whether the integrator has a residual of round-off. ``taken`` is the part of
    strain and joint_loss that each spring, bushing, wall and tendon took from the arm since the start.
    """

    kinetic: Array
    strain: Array
    gravity: Array
    works: dict[str, Array]
    material_loss: Array
    viscous_loss: Array
    joint_loss: Array
    projection_loss: Array
    residual: Array
    exchanged: Array
    worst_ratio: float
    worst_time: float
    exact: bool
    taken: dict[str, Array] = field(default_factory=dict)

    @property
    def stored(self) -> Array:
        return self.kinetic + self.strain

    @property
    def empty(self) -> bool:
        """Whether no energy was ever stored or exchanged: nothing happened."""
        return not (self.stored.any() or self.exchanged.any())


Floats = NDArray[np.float64]


def ledger_of(
    sums: Floats, works: dict[str, Floats], worst: Floats, exact: bool, taken: dict[str, Floats] | None = None
) -> Ledger:
    """The ledger of a run under names; rows of ``sums`` and of the works are output times."""
    return Ledger(
        kinetic=sums[:, columns.KINETIC],
        strain=sums[:, columns.STRAIN],
        gravity=sums[:, columns.GRAVITY],
        works=works,
        material_loss=sums[:, columns.MATERIAL],
        viscous_loss=sums[:, columns.VISCOUS],
        joint_loss=sums[:, columns.JOINT],
        projection_loss=sums[:, columns.PROJECTION],
        residual=sums[:, columns.RESIDUAL],
        exchanged=sums[:, columns.EXCHANGED],
        worst_ratio=float(worst[columns.RATIO]),
        worst_time=float(worst[columns.TIME]),
        exact=exact,
        taken=taken or {},
    )
