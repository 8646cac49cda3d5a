"""Meshes that a run is compared with, where they do not carry what its own mesh carries."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.support.arms import on_a_hinge, soft_link


@pytest.mark.parametrize("formulation", [pl.Lumped(4), pl.EquivalentRigidLink(4)])
def test_a_coarser_mesh_that_does_not_carry_a_load_is_left_out(formulation: object) -> None:
    """A load at a quarter of the link has a node among four parts, none among two; finer ones tell the error."""
    arm = formulation.compile(on_a_hinge(soft_link()))  # type: ignore[attr-defined]
    push = pl.signals.Constant((0.0, 0.1, 0.0, 0.0, 0.0, 0.0))
    at = pl.At("link", station=0.25 * arm.robot.links[0].length)
    run = pl.simulate(pl.connect(arm, pl.PointWrench(at, push)), until=0.01, outputs=20)
    finest = formulation.finer().finer().compile(arm.robot)  # type: ignore[attr-defined]
    answer = pl.simulate(pl.connect(finest, pl.PointWrench(at, push)), 0.01, pl.Gauss(2, 1e-5), outputs=run.time)
    assert run.ending.completed
    assert run.source.model.formulation == formulation
    assert run.error is not None
    true = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    # of a part of a vibration that a force of fast modes begins, rather too much
    assert 0.3 * true < run.error.space < 30.0 * true
