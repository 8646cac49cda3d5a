"""The energy ledger of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.model.state import Array

# in the order of the columns of a run
SUMS = (
    "gravity",
    "material_loss",
    "viscous_loss",
    "joint_loss",
    "projection_loss",
    "numerical_loss",
    "residual",
    "exchanged",
)


@dataclass(frozen=True)
class Ledger:
    """Energies at the saved times, in joules; works and losses are summed from the start of the run.

    kinetic + strain = start value + gravity + sum(works) - material_loss - viscous_loss - joint_loss
                       - projection_loss - numerical_loss + residual

    ``projection_loss`` is what the step takes when it returns the two sides of a moving joint to equal
    velocity; ``numerical_loss`` is what the method itself dissipates, the price of its damping, and zero for Gauss
    collocation; ``exchanged`` sums the absolute energy flows of all steps; ``worst_ratio`` is the largest
    residual of a single step divided by the energy exchanged in that step or, if larger, in the mean step so
    far, and ``worst_time`` is when it happened; what forces in closed loops do on rounded positions, and what
    rounding leaves of the energies that are subtracted, is no residual. ``exact`` says whether the integrator
    has a residual of round-off. ``taken`` is the part of strain and joint_loss that each spring, bushing, wall
    and tendon took from the arm since the start.
    """

    kinetic: Array
    strain: Array
    gravity: Array
    works: dict[str, Array]
    material_loss: Array
    viscous_loss: Array
    joint_loss: Array
    projection_loss: Array
    numerical_loss: Array
    residual: Array
    exchanged: Array
    worst_ratio: float
    worst_time: float
    exact: bool
    taken: dict[str, Array] = field(default_factory=dict)

    @property
    def stored(self) -> Array:
        return self.kinetic + self.strain

    def at(self, rows: Any) -> Ledger:
        """The ledger at some of the saved times."""
        kept = {name: getattr(self, name)[rows] for name in ("kinetic", "strain", *SUMS)}
        works, taken = ({name: values[rows] for name, values in each.items()} for each in (self.works, self.taken))
        return replace(self, works=works, taken=taken, **kept)

    def beginning(self, last: Ledger) -> Ledger:
        """The same with the last row of the run before as its first, and with the worst step of both."""
        whole = self.at(np.arange(len(self.kinetic)))
        for name in ("kinetic", "strain", *SUMS):
            getattr(whole, name)[0] = getattr(last, name)[-1]
        for mine, others in ((whole.works, last.works), (whole.taken, last.taken)):
            for name in mine.keys() & others.keys():  # another model may have taken over
                mine[name][0] = others[name][-1]
        worst = last if last.worst_ratio > self.worst_ratio else self
        return replace(whole, worst_ratio=worst.worst_ratio, worst_time=worst.worst_time)

    def since(self, last: Ledger) -> Ledger:
        """Sums that go on from those of a run before."""
        sums: dict[str, Any] = {name: getattr(last, name)[-1] + getattr(self, name) for name in SUMS}
        works, taken = (
            {name: values + (other[name][-1] if name in other else 0.0) for name, values in own.items()}
            for own, other in ((self.works, last.works), (self.taken, last.taken))
        )
        return replace(self, works=works, taken=taken, **sums)

    @property
    def empty(self) -> bool:
        """Whether no energy was ever stored or exchanged: nothing happened."""
        return not (self.stored.any() or self.exchanged.any())


def joined(parts: Sequence[Ledger], kept: Sequence[bool]) -> Ledger:
    """The ledger of runs that follow each other, at the start and at the ends of those that are ``kept``."""

    def present(name: str) -> Array:
        ends = np.array([getattr(part, name)[-1] for part in parts])
        return np.append(getattr(parts[0], name)[0], ends[list(kept)])

    def summed(values: list[Array]) -> Array:
        return np.append(values[0][0], np.cumsum([each[-1] for each in values])[list(kept)])

    def by_name(name: str) -> dict[str, Array]:
        return {key: summed([getattr(part, name)[key] for part in parts]) for key in getattr(parts[0], name)}

    worst = max(parts, key=lambda part: part.worst_ratio)
    sums: dict[str, Any] = {name: summed([getattr(part, name) for part in parts]) for name in SUMS}
    sums |= {"kinetic": present("kinetic"), "strain": present("strain")}
    return replace(worst, works=by_name("works"), taken=by_name("taken"), **sums)
