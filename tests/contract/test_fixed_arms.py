"""Arms without a moving joint: every formulation steps them, those in which nothing can move too."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.contract.formulations import KINDS, POINT_MASSES, Kind

every_formulation = pytest.mark.parametrize("kind", [*KINDS, POINT_MASSES], ids=str)
GRAVITY = (0.0, 0.0, -9.81)
POST = pl.RigidLink("post", (0.3, 0.0, 0.0), mass=1.0, center_of_mass=(0.15, 0.0, 0.0), inertia=(0.01, 0.02, 0.02))
ROD = pl.FlexibleLink(
    "rod", 0.5, pl.GeneralSection(stiffness=(1e4, 1e4, 1e4, 5.0, 5.0, 5.0), inertia=(0.2,) * 3 + (1e-3, 5e-4, 5e-4))
)
ON_BASE = pl.FixedJoint("foot", "base", "post")


@every_formulation
def test_a_post_stands(kind: Kind) -> None:
    """Nothing moves and no energy flows."""
    post = kind.formulation.compile(pl.Robot("post", (POST,), (ON_BASE,), gravity=GRAVITY))
    run = pl.simulate(post, until=0.01)
    assert run.ending.completed
    np.testing.assert_array_equal(run.tip_position, np.tile([0.3, 0.0, 0.0], (len(run.time), 1)))
    assert run.ledger.exchanged[-1] == 0.0


@every_formulation
def test_a_rod_on_a_post_sags(kind: Kind) -> None:
    """It falls as a free particle at first, g t^2 / 2 at its tip, unless it is rigid; the ledger closes."""
    arm = pl.Robot("rod", (POST, ROD), (ON_BASE, pl.FixedJoint("grip", "post", "rod")), gravity=GRAVITY)
    run = pl.simulate(kind.formulation.compile(arm), until=0.004, integrator=pl.Gauss(order=2, step=5e-4))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    fallen = 0.5 * 9.81 * 0.004**2 if kind.bends else 0.0
    # shear waves of 224 m/s bring the news of the grip after 2 ms, and it slows the tip by less than a third
    assert run.tip_position[-1, 2] == pytest.approx(-fallen, rel=0.3)
