"""A joint that moves nothing that has inertia is refused with the same sentence by whoever needs its motion.

An equilibrium needs none: forces balance without inertia.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import pliant as pl
from pliant.model.contract import Model
from tests.contract.formulations import KINDS, Kind
from tests.support.arms import soft_link

# all mass on the axis about which it turns
NEEDLE = pl.RigidLink("needle", (0.3, 0.0, 0.0), 0.5, center_of_mass=(0.15, 0.0, 0.0), inertia=(0.0, 1e-3, 1e-3))
ROBOT = pl.Robot(
    name="needle_on_an_arm",
    links=(soft_link("arm", 0.5), NEEDLE),
    joints=(
        pl.RevoluteJoint("shoulder", "base", "arm"),
        pl.RevoluteJoint("spin", "arm", "needle", axis=(1.0, 0.0, 0.0)),
    ),
)
MASSLESS = (
    "joint 'spin' moves nothing that has inertia along or about its axis; give what it carries a mass or inertia,"
    " prescribe its motion, or make the joint fixed"
)
# of minimal coordinates, where motions of several of them together may be massless
TOGETHER = (
    "'spin' can move without moving a mass; give what lies behind an inertia in kg m^2, add a GearMotor, prescribe the"
    " joint, or "
)
REMEDIES = {
    pl.Lumped: TOGETHER + "neglect station inertia (StationInertia.NEGLECTED, --point-masses)",
    pl.EquivalentRigidLink: TOGETHER + "make the joint fixed",
}
QUESTIONS: list[Callable[[Model], object]] = [
    lambda arm: pl.simulate(arm, 0.01),
    pl.modes,
    pl.linearize,
    lambda arm: pl.frequency_response(arm, "shoulder.torque", "shoulder.rate", [1.0]),
]
# mixed elements carry one link only, and the inertia of a rigid link is always that of its whole arm
KINDS_OF_TREES = [kind for kind in KINDS if not isinstance(kind.formulation, (pl.MixedElement, pl.Rigid))]


@pytest.mark.parametrize("kind", KINDS_OF_TREES, ids=str)
def test_whoever_needs_its_motion_refuses_a_joint_that_moves_no_inertia(kind: Kind) -> None:
    arm = kind.formulation.compile(ROBOT)
    for ask in QUESTIONS:
        with pytest.raises(pl.InvalidInput) as refused:
            ask(arm)
        assert str(refused.value) == REMEDIES.get(type(kind.formulation), MASSLESS)


@pytest.mark.parametrize("kind", KINDS_OF_TREES, ids=str)
def test_an_equilibrium_and_a_prescribed_joint_need_no_inertia(kind: Kind) -> None:
    arm = kind.formulation.compile(ROBOT)
    assert pl.equilibrium(arm).ending.completed
    held = pl.connect(arm, pl.PrescribedMotion("spin", pl.motions.Hold(0.0)))
    assert len(pl.modes(held, count=3).frequency) == 3
    assert pl.simulate(held, 2e-3, pl.Gauss(order=2, step=1e-3)).ending.completed


def test_the_inertia_of_mixed_elements_lies_between_their_nodes() -> None:
    robot = pl.Robot("swing", (soft_link("arm", 0.5),), (pl.RevoluteJoint("shoulder", "base", "arm"),))
    assert len(pl.modes(pl.MixedElement(elements=4).compile(robot), count=2).frequency) == 2
