"""Prints by how much one Newton increment misses its aim: run without compiling, so that its parts can be called.

About a state at rest nothing is left out of the modified Newton matrix, so the residuals must fall by themselves
along the increment: d(residual) = -residual, row by row, in the differences of the residuals.
"""

from __future__ import annotations

import sys
from contextlib import suppress

import numpy as np

import pliant as pl
from pliant.structures.collocation import stepper as formulation
from pliant.structures.collocation.factorise import factorise, join_links
from pliant.structures.collocation.newton import improve
from pliant.structures.collocation.stages import evaluate

RANDOM = np.random.default_rng(3)
STEP = 1e-2


def spd(scale: float) -> tuple[tuple[float, ...], ...]:
    a = RANDOM.normal(size=(6, 6))
    return tuple(map(tuple, scale * (a @ a.T + 6 * np.eye(6))))


def heavy(scale: float) -> np.ndarray:
    """Coupled inertia, with the same mass along all axes."""
    inertia = np.array(spd(scale))
    inertia[:3, :3] = inertia[:3, :3].trace() * np.eye(3)
    return inertia


def arm() -> pl.Robot:
    """A driven joint, a bent coupled damped link, a joint that is held, another link, and a payload."""
    links = tuple(
        pl.FlexibleLink(
            name,
            length,
            pl.GeneralSection(stiffness=spd(3.0), inertia=heavy(0.2), damping=0.01),
            rest_shape=pl.rest_shapes.Helix(radius=0.4, pitch=0.3),
        )
        for name, length in (("first", 1.3), ("second", 0.7))
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "first", axis=(0.0, 0.6, 0.8)),
        pl.FixedJoint("elbow", "first", "second"),
    )
    return pl.Robot("bent", links, joints)


def consistency_error(stepper: formulation.Stepper, tables: formulation.Tables) -> float:
    scheme, solver, plant, state = stepper.scheme, stepper.work.solver, stepper.plant, stepper.state
    stages = solver.stages
    stages.de[:] = RANDOM.normal(scale=0.3, size=stages.de.shape[1:])
    unknowns, residuals = (stages.dV, stages.de, stages.qd), (stages.rho, stages.rho_e, stages.rho_q)

    def residual() -> np.ndarray:
        evaluate(plant, scheme.method, state, stages, (tables.joints[0], tables.loads[0], tables.base[0]), STEP, False)
        return np.concatenate([values.ravel() for values in residuals])

    before = residual()
    start = [values.copy() for values in unknowns]
    assert factorise(plant, scheme.spectrum, solver.frozen, solver.factors, stages, STEP)
    assert join_links(plant, scheme.spectrum, state, stages, solver.frozen, solver.factors)
    improve(plant, scheme, solver, STEP, False)
    increment = [values - old for values, old in zip(unknowns, start)]
    ends = []
    for side in (1e-4, -1e-4):
        for values, old, change in zip(unknowns, start, increment):
            values[:] = old + side * change
        ends.append(residual())
    slope = (ends[0] - ends[1]) / 2e-4
    return float(np.abs(slope + before).max() / np.abs(before).max())


class Looked(Exception):
    """All is seen; no step is taken, so that there is no row to read."""


def main(order: int) -> None:
    found: list[float] = []

    def advance(stepper: formulation.Stepper, tables: formulation.Tables, part: slice, held: object) -> tuple[int, int]:
        found.append(consistency_error(stepper, tables))
        raise Looked

    formulation.Stepper.advance = advance  # type: ignore[assignment, method-assign]
    model = pl.GeometricallyExact(degree=2, elements=2).compile(arm())
    driven = pl.connect(model, pl.JointPD(pl.motions.Hold(0.4), stiffness=5.0, damping=0.3))
    with suppress(Looked):
        pl.simulate(driven, until=STEP, integrator=pl.Gauss(order=order, step=STEP))
    print(found[0])


if __name__ == "__main__":
    main(int(sys.argv[1]))
