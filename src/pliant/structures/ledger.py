"""The sums of a compiled loop under the names of the ledger; apart from the kernels that enter steps in them."""

from __future__ import annotations

from pliant.model.ledger import Ledger
from pliant.model.state import Array
from pliant.structures import energy_ledger as columns


def ledger_of(
    sums: Array, works: dict[str, Array], worst: Array, exact: bool, taken: dict[str, Array] | None = None
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
