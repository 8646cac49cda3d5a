"""Is the told error of a mesh that was given true? Against much finer meshes of the same formulation and equal steps.

The constants of `simulation/mesh_error.py` were chosen on the motions of ADJUSTED, all others judge them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import pliant as pl
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, Motion
from benchmarks.harness import OwnMeasure, Session, verdict
from benchmarks.ours import Formulation
from pliant.errors import InvalidInput

ADJUSTED = (
    "strip, slewed",
    "strip, joint damper",
    "strip, joint spring",
    "strip, held and pushed",
    "strip, friction",
    "strip, tip spring",
    "strip, base moved",
    "rubber pendulum",
    "damic, two links",
    "L frame",
    "two links, PD",
    "macchelli link",
    "anthropomorphic",
    "seven joints",
)
QUICK = ("strip, slewed", "rod falls")
STEPS = 1500
FACTORS = (0.3, 10.0)
SHARE = 0.8  # of the rows that lie within the factors
MATTERS, LEAST = 1e-4, 1e-8  # of the reach: errors that matter, and those that are compared
GE, MODES = pl.GeometricallyExact, pl.equivalent_rigid_link.Modes
FAMILIES: dict[str, tuple[tuple[Formulation, ...], Formulation]] = {
    "GeometricallyExact, degree 1 to 5": ((GE(1), GE(2), GE(3), GE(5)), GE(8, 2)),
    "GeometricallyExact, degree 2, 2 and 4 elements": ((GE(2, 2), GE(2, 4)), GE(6, 6)),
    "PoseElement, 2 to 10": (tuple(map(pl.PoseElement, (2, 4, 10))), pl.PoseElement(64)),
    "MixedElement, 4 and 12": (tuple(map(pl.MixedElement, (4, 12))), pl.MixedElement(64)),
    "Corotational, 1 to 6": (tuple(map(pl.Corotational, (1, 2, 6))), pl.Corotational(32)),
    "Lumped, 2 and 5": (tuple(map(pl.Lumped, (2, 5))), pl.Lumped(40)),
    "PseudoSpectral, degree 2 to 6": (tuple(map(pl.PseudoSpectral, (2, 4, 6))), pl.PseudoSpectral(12)),
    "EquivalentRigidLink, 2 and 4": (tuple(map(pl.EquivalentRigidLink, (2, 4))), pl.EquivalentRigidLink(24)),
    "EquivalentRigidLink, 1 to 4 modes": (
        tuple(pl.EquivalentRigidLink(24, basis=MODES(count=count)) for count in (1, 2, 4)),
        pl.EquivalentRigidLink(24),
    ),
}


@dataclass(frozen=True)
class Row:
    """Errors over the reach: the distance to the finest mesh, what is told of it, and what is told of the steps."""

    motion: str
    family: str
    true: float
    told: float
    time: float

    @property
    def counts(self) -> bool:
        """Whether the distance is one of meshes, and something is told of it."""
        return self.true > LEAST and self.time <= self.true and self.told < np.inf

    @property
    def near(self) -> bool:
        return FACTORS[0] * self.true <= self.told <= FACTORS[1] * self.true


def completed(motion: Motion, formulation: Formulation) -> pl.Trajectory | None:
    """Nothing where a formulation does not carry the arm, or another takes over."""
    try:
        model = motion.build(formulation)
        steps = pl.Gauss(min(4, model.highest_order), motion.duration / STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = pl.simulate(model, motion.duration, steps)
    except InvalidInput:
        return None
    own = "substitution" not in run.provenance.choices
    return run if run.ending.completed and own else None


def study(name: str, motion: Motion, family: str) -> list[Row]:
    meshes, finest = FAMILIES[family]
    answer = completed(motion, finest)
    rows = []
    for mesh in meshes if answer is not None else ():
        run = completed(motion, mesh)
        if answer is not None and run is not None and run.error is not None:
            error, scale = run.error, run.error.scale
            true = float(np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max())
            rows.append(Row(name, family, true / scale, error.space / scale, error.time / scale))
    return rows


def counted(rows: list[Row]) -> str:
    large = [row for row in rows if row.true > MATTERS]
    low = sum(row.told < FACTORS[0] * row.true for row in large)
    return f"{sum(r.near for r in rows)} of {len(rows)} | {sum(r.near for r in large)} of {len(large)} | {low}"


def measure(session: Session) -> OwnMeasure:
    motions = MOTIONS | HELD_OUT
    rows = [
        row
        for name in session.pick(list(motions), QUICK)
        for family in FAMILIES
        for row in study(name, motions[name], family)
        if row.counts
    ]
    each = "within | of those off by more than 1e-4 | told less"
    lines = [f"| meshes | adjusted on: {each} | others: {each} |", "|---" * 7 + "|"]
    for family in (*FAMILIES, "all"):
        some = [row for row in rows if family in (row.family, "all")]
        parts = ([row for row in some if (row.motion in ADJUSTED) == adjusted] for adjusted in (True, False))
        lines.append(f"| {family} | {' | '.join(map(counted, parts))} |")
    share = sum(row.near for row in rows) / max(len(rows), 1)
    told = (
        f"{100.0 * share:.0f} % of {len(rows)} runs tell {FACTORS[0]:g} to {FACTORS[1]:g} times the error of the mesh"
    )
    return OwnMeasure.told("\n".join(["## mesh_error", "", f"{told}: {verdict(share >= SHARE)}", "", *lines]))
