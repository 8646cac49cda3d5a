"""The arm of `damic_two_link` by ten co-rotational elements a link, mass by directors, at the error of that mesh."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import pliant as pl
from benchmarks import damic_two_link as arm
from benchmarks import exudyn_beam as peer
from benchmarks import ours
from benchmarks.harness import Level, Run, Session

ELEMENTS = 10  # of a link, as in the paper
FLOOR = 1.2e-3  # of a link: the mesh alone makes an error of 1.0e-3
PLANAR = (peer.Element.QUADRATIC, peer.Element.LINEAR)
SPATIAL = peer.Element.SPATIAL
COUNTS = {peer.Element.QUADRATIC: (2, 3, 4, 5), peer.Element.LINEAR: (10, 12, 14, 16), SPATIAL: (10, 12, 14, 16)}
FEW = {peer.Element.QUADRATIC: (4,), peer.Element.LINEAR: (14,), SPATIAL: (14,)}
STEPS = (4e-2, 2.5e-2, 2e-2, 1e-2, 5e-3)
# of Newton's method: as tight as converges, or as loose as still holds the error when steps are refined
TOLERANCES = ((1e-4, 1e-3), (1e-1,))


@dataclass(frozen=True)
class Choice:
    """Step (s) and tolerance (of the reach) of the integrator; by default with the exact ledger."""

    step: float
    tolerance: float
    energy_tolerance: float = ours.DEFAULT.energy_tolerance

    def __str__(self) -> str:
        ledger = ", exact ledger" if self.exact_ledger else ""
        return f"{ELEMENTS} co-rotational elements a link, step {self.step:g} s, tolerance {self.tolerance:g}{ledger}"

    @property
    def formulation(self) -> pl.Corotational:
        return pl.Corotational(elements=ELEMENTS)

    @property
    def integrator(self) -> pl.Gauss:
        return pl.Gauss(2, self.step, self.tolerance, self.energy_tolerance)

    @property
    def fineness(self) -> tuple[float, ...]:
        return -self.step, -self.tolerance, -self.energy_tolerance

    @property
    def exact_ledger(self) -> bool:
        return self.energy_tolerance <= ours.DEFAULT.energy_tolerance


def exudyn(session: Session) -> list[Run]:
    counts, steps = (FEW, (1e-2,)) if session.quick else (COUNTS, STEPS)
    choices = [
        peer.Choice(element, n, step, tolerances)
        for element, own in counts.items()
        for n, step, tolerances in product(own, steps, TOLERANCES)
    ]
    return peer.study(arm.build, arm.DURATION, choices, session)


def pliant(session: Session) -> list[Run]:
    steps = session.pick([2e-2, 1.6e-2, 1.28e-2, 1.25e-2, 1e-2, 5e-3], [1.25e-2, 1e-2])
    # Newton's method stops at a hundredth of these in every step: that of 1e-3 moves the tip by 2e-6 m
    loose = [Choice(step, tolerance, ours.LOOSE) for step, tolerance in product(steps, (3e-2, 1e-2, 1e-3, 1e-4))]
    exact = [Choice(step, ours.DEFAULT.tolerance) for step in steps]
    return ours.study(arm.ARM, [*loose, *exact], session)


PROBLEM = replace(
    arm.PROBLEM,
    name="damic_corotational",
    title="Two 8 m links by ten co-rotational elements each, against planar and spatial beams.",
    levels=(
        *(Level(FLOOR, (f"exudyn {element}",), 2.0) for element in PLANAR),
        Level(FLOOR, (f"exudyn {SPATIAL}",), 30.0),
    ),
    peers=exudyn,
    ours=pliant,
)
