"""What is observed of co-rotational links is what their elements measure."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.structures.nodal.observe import _inverse, deformations, poses_of
from pliant.structures.relative_pose import U


@pytest.mark.parametrize("axes", pl.corotational.Axes)
def test_deformations_of_many_states_are_those_of_the_elements(axes: pl.corotational.Axes) -> None:
    """Bent and twisted: an arm under gravity that leaves its start with a turning column."""
    robot = pl.load(pl.library.path("anthropomorphic_three_link"))
    arm = pl.Corotational(elements=4, axes=axes).compile(robot)
    states = pl.simulate(arm, until=0.05, integrator=pl.Gauss(order=2, step=1e-3), outputs=10).states
    mechanism = arm.mechanism(arm.inputs)
    own = np.array([arm.moment_of(mechanism, arm.pose_of(state)).strain[:, U : U + 6] for state in states])
    for name in ("upper_arm", "forearm"):
        nodes = arm.structure.link(name).nodes
        poses = poses_of(arm, states, nodes)
        seen = deformations(arm.structure.elements, nodes[1:], _inverse(poses[:, :-1]) @ poses[:, 1:])
        assert np.abs(own[:, nodes[1:]]).max() > 1e-8
        np.testing.assert_allclose(seen, own[:, nodes[1:]], rtol=0.0, atol=1e-14)
