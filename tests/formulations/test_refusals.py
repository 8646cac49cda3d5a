"""What spectral links cannot carry is refused in one sentence with its remedy, when the robot is compiled."""

from __future__ import annotations

import pytest

import pliant as pl

ROD = pl.FlexibleLink("rod", 1.0, pl.GeneralSection(stiffness=(1e3,) * 6, inertia=(1.0,) * 6))
ENDS = ("joint", "base", "rod")


@pytest.mark.parametrize(
    ("joint", "loops", "sentence"),
    [
        (
            pl.SphericalJoint(*ENDS),
            (),
            "joint 'joint' is spherical, and spectral links carry revolute, prismatic and fixed joints;"
            " build it from those with rigid links between them",
        ),
        (
            pl.RevoluteJoint(*ENDS, friction=pl.Friction(0.1)),
            (),
            "joint 'joint' has a spring, damping, friction or limits, which spectral links do not carry;"
            " remove them, or connect a JointPD that acts like the spring and the damping",
        ),
        (
            pl.RevoluteJoint(*ENDS),
            (pl.LoopJoint("pin", pl.LoopKind.SPHERICAL, pl.At("rod"), pl.At("base", position=(1, 0, 0))),),
            "loop joint 'pin' closes a loop, and spectral links carry trees only; remove the loop joint",
        ),
    ],
    ids=["joint", "law", "loop"],
)
def test_spectral_links_refuse(
    joint: pl.RevoluteJoint, loops: tuple[pl.LoopJoint, ...], sentence: str
) -> None:
    robot = pl.Robot("arm", (ROD,), (joint,), loops=loops)
    for formulation in (pl.GeometricallyExact(), pl.MixedElement()):
        with pytest.raises(pl.InvalidInput) as caught:
            formulation.compile(robot)
        assert str(caught.value) == sentence
