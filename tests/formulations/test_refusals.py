"""Where spectral links do not carry a robot, pose elements take their place and say why; the mixed element refuses."""

from __future__ import annotations

import pytest

import pliant as pl

ROD = pl.FlexibleLink("rod", 1.0, pl.GeneralSection(stiffness=(1e3,) * 6, inertia=(1.0,) * 6))
ENDS = ("joint", "base", "rod")


@pytest.mark.parametrize(
    ("joint", "loops", "reason"),
    [
        (pl.SphericalJoint(*ENDS), (), "joint 'joint' is spherical"),
        (
            pl.RevoluteJoint(*ENDS, friction=pl.Friction(0.1)),
            (),
            "joint 'joint' has a spring, damping, friction or limits",
        ),
        (
            pl.RevoluteJoint(*ENDS),
            (pl.LoopJoint("pin", pl.LoopKind.SPHERICAL, pl.At("rod"), pl.At("base", position=(1, 0, 0))),),
            "loop joint 'pin' closes a loop",
        ),
    ],
    ids=["joint", "law", "loop"],
)
def test_beyond_spectral_links(joint: pl.RevoluteJoint, loops: tuple[pl.LoopJoint, ...], reason: str) -> None:
    robot = pl.Robot("arm", (ROD,), (joint,), loops=loops)
    arm = pl.GeometricallyExact(degree=4, elements=3).compile(robot)
    assert arm.formulation == pl.PoseElement({"rod": 12})
    assert arm.notice == f"pose elements were chosen because {reason}"
    with pytest.raises(pl.InvalidInput) as caught:
        pl.MixedElement().compile(robot)
    assert str(caught.value) == f"{reason}, which this element does not carry; use PoseElement"
