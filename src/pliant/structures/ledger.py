"""The sums of a compiled loop under the names of the ledger; apart from the kernels that enter steps in them."""

from __future__ import annotations

from typing import Any

from pliant.model.ledger import SUMS, Ledger
from pliant.model.state import Array
from pliant.structures import energy_ledger as columns


def ledger_of(
    sums: Array, works: dict[str, Array], worst: Array, exact: bool, taken: dict[str, Array] | None = None
) -> Ledger:
    """The ledger of a run under names; rows of ``sums`` and of the works are output times."""
    energies: dict[str, Any] = dict(zip(("kinetic", "strain", *SUMS), sums.T, strict=True))
    ratio, time = float(worst[columns.RATIO]), float(worst[columns.TIME])
    return Ledger(**energies, works=works, worst_ratio=ratio, worst_time=time, exact=exact, taken=taken or {})
