"""Tips of chosen links, in trees and in closed loops."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.frozen.arms import ball_and_rod, four_bar


def test_the_tip_of_a_four_bar_is_that_of_its_coupler() -> None:
    assert four_bar().tip_link == "coupler"


def test_so_it_is_where_the_loop_ties_the_last_link_of_a_chain_to_the_base() -> None:
    names = ("crank", "coupler", "rocker")
    links = tuple(pl.RigidLink(name, (1.0, 0.0, 0.0), 1.0, inertia=(0.1, 0.1, 0.1)) for name in names)
    joints = tuple(pl.RevoluteJoint(f"to_{b}", a, b) for a, b in zip(("base", *names), names))
    pivot = pl.joints.LoopJoint("pivot", pl.joints.LoopKind.REVOLUTE, pl.At("rocker"), pl.At("base"))
    assert pl.Robot("chain", links, joints, loops=(pivot,)).tip_link == "coupler"


def test_a_link_with_a_free_end_comes_before_those_that_a_loop_ties() -> None:
    robot = four_bar()
    handle = pl.RigidLink("handle", (0.2, 0.0, 0.0), 0.5, inertia=(0.01, 0.01, 0.01))
    joints = (pl.FixedJoint("weld", "crank", "handle"), *robot.joints)
    longer = pl.Robot("with_handle", (*robot.links, handle), joints, loops=robot.loops, gravity=robot.gravity)
    assert longer.tip_link == "handle"


@pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")
def test_tips_that_a_loop_joins_are_at_one_place() -> None:
    arm = pl.Rigid().compile(four_bar())
    run = pl.simulate(arm, 0.1, pl.Gauss(order=2, step=1e-3), outputs=10)
    assert np.allclose(run.tip_of("coupler").position, run.tip_of("rocker").position, atol=1e-9)
    # the velocity in the world is the derivative of the position
    tip = run.tip_of("crank")
    velocity = np.einsum("nij,nj->ni", tip.rotation, tip.twist[:, :3])
    assert np.allclose(velocity[1:-1], np.gradient(tip.position, run.time, axis=0)[1:-1], atol=1e-2)


@pytest.mark.filterwarnings("ignore::pliant.errors.PliantWarning")
def test_a_rigid_body_on_a_ball_joint_has_no_deflection() -> None:
    """Ball joints have no coordinates that tell how they are turned; what is rigid must stay so all the same."""
    run = pl.simulate(pl.PoseElement(elements=2).compile(ball_and_rod()), 0.02, outputs=5)
    assert np.abs(run.tip_of("hub").deflection).max() < 1e-12
    assert 1e-5 < np.abs(run.tip_deflection).max() < 0.02
