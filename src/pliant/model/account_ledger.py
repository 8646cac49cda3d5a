"""The account of a compiled loop under the names of the ledger."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics import energy_account as columns
from pliant.model.ledger import Ledger

Floats = NDArray[np.float64]


def ledger_of(sums: Floats, works: dict[str, Floats], worst: Floats, exact: bool) -> Ledger:
    """The account of a run under names; rows of ``sums`` and of the works are output times."""
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
    )
