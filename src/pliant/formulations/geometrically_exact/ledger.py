"""The account of the compiled loops under the names of the ledger."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact import energy_account as columns
from pliant.formulations.geometrically_exact.energy_account import Account
from pliant.model.ledger import Ledger

Floats = NDArray[np.float64]


def ledger_of(account: Account, sums: Floats, works: Floats, names: Sequence[str], exact: bool) -> Ledger:
    """The account of a run under names; rows of ``sums`` and ``works`` are output times."""
    return Ledger(
        kinetic=sums[:, columns.KINETIC],
        strain=sums[:, columns.STRAIN],
        gravity=sums[:, columns.GRAVITY],
        works={name: works[:, k] for k, name in enumerate(names)},
        material_loss=sums[:, columns.MATERIAL],
        viscous_loss=sums[:, columns.VISCOUS],
        joint_loss=sums[:, columns.JOINT],
        projection_loss=sums[:, columns.PROJECTION],
        residual=sums[:, columns.RESIDUAL],
        exchanged=sums[:, columns.EXCHANGED],
        worst_ratio=float(account.worst[0]),
        worst_time=float(account.worst[1]),
        exact=exact,
    )
