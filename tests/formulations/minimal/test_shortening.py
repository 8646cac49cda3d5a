"""What straight fields neglect: the ends of bent beams come nearer."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.lumped.model import LumpedArm
from tests.support.lumped_arms import cantilever

FORCE = 0.4  # N, across a beam of 1 m and 9 N m^2


def bent(formulation: object, force: float = FORCE) -> tuple[object, np.ndarray]:
    arm = formulation.compile(cantilever())
    rest = pl.equilibrium(pl.connect(arm, pl.TipWrench("beam", pl.signals.Constant((0.0, force, 0.0, 0.0, 0.0, 0.0)))))
    assert rest.ending.completed
    return arm, rest.state


def lack(fields: int) -> tuple[LumpedArm, np.ndarray]:
    arm, state = bent(pl.Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI))
    return arm, arm.neglected_displacement(state[None])[0]


def test_a_single_field_lacks_three_fifths_of_its_deflection_squared() -> None:
    """w = δ (3 s² - s³) / 2 for a unit length, so that the integral of w'² / 2 is 3 δ² / 5."""
    _, missing = lack(1)
    deflection = FORCE / (3 * 9.0)
    np.testing.assert_allclose(missing, [-0.6 * deflection**2, 0.0, 0.0], atol=1e-6 * deflection**2)


def test_what_is_missing_is_the_distance_to_exact_links() -> None:
    exact, there = bent(pl.GeometricallyExact(degree=6))
    for fields in (1, 2, 4):
        arm, missing = lack(fields)
        _, here = bent(pl.Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI))
        off = exact.tip(there)[0][0, 0] - arm.tip(here)[0][0, 0]
        # the next term is smaller by the square of the turn, 5e-4; shear and stretch of the exact link by their
        # flexibility against that of bending, 1e-5 over the deflection of 15 mm
        assert missing[0] == pytest.approx(off, rel=1e-3)


def test_the_consistency_error_is_the_rate_of_what_is_missing() -> None:
    """A tip that moves across by δ with the rate δ' lacks the speed 6 δ δ' / 5 L."""
    section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 1e3, 4.0, 9.0), inertia=(0.3,) * 3 + (2e-3, 1e-6, 1e-6))
    robot = pl.Robot("beam", (pl.FlexibleLink("beam", 1.0, section),), (pl.FixedJoint("root", "base", "beam"),))
    arm = pl.Lumped(pl.lumped.Fields(1, (pl.lumped.Deflection.Y,)), pl.lumped.Beam.EULER_BERNOULLI).compile(robot)
    start = np.zeros(arm.layout.size)
    arm.layout.part(start, "deflection")[:] = 0.01
    arm.layout.part(start, "deflection_rate")[:] = 0.2
    run = pl.simulate(arm, until=1e-3, initial=start, integrator=pl.Gauss(order=2, step=1e-3))
    # a field that only moves across and does not turn at its end: w = δ (3 s² - 2 s³), ∫ w'² / 2 = 3 δ² / 5 as well
    assert run.consistency_error.twist[0] == pytest.approx(6 * 0.01 * 0.2 / 5, rel=1e-6)


def test_a_rigid_arm_lacks_nothing() -> None:
    run = pl.simulate(pl.Rigid().compile(pl.load(pl.library.path("l_frame"))), until=0.1)
    assert not run.consistency_error.twist.any()
