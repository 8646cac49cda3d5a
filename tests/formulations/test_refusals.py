"""Where spectral links do not carry a robot, pose elements take their place and say why; the mixed element refuses."""

from __future__ import annotations

import pytest

import pliant as pl

ROD = pl.FlexibleLink("rod", 1.0, pl.GeneralSection(stiffness=(1e3,) * 6, inertia=(1.0,) * 6))
ENDS = ("joint", "base", "rod")


@pytest.mark.parametrize(
    ("joint", "loops", "reason"),
    [
        (
            pl.joints.FreeJoint(*ENDS, slide_friction=pl.joints.Friction(0.1)),
            (),
            "joint 'joint' is free with dry friction",
        ),
        (
            pl.RevoluteJoint(*ENDS),
            (
                pl.joints.LoopJoint(
                    "pin", pl.joints.LoopKind.SPHERICAL, pl.At("rod"), pl.At("base", position=(1, 0, 0)), damping=0.1
                ),
            ),
            "loop joint 'pin' has a spring, damping, friction or limits",
        ),
    ],
    ids=["flight", "loop"],
)
def test_beyond_spectral_links(joint: pl.RevoluteJoint, loops: tuple[pl.joints.LoopJoint, ...], reason: str) -> None:
    robot = pl.Robot("arm", (ROD,), (joint,), loops=loops)
    arm = pl.GeometricallyExact(degree=4, elements=3).compile(robot)
    assert arm.formulation == pl.PoseElement({"rod": 48})
    assert arm.substitution == f"pose elements were chosen because {reason}"
    with pytest.raises(pl.InvalidInput) as caught:
        pl.MixedElement().compile(robot)
    assert str(caught.value) == f"{reason}, which this element does not carry; use PoseElement"


def test_links_that_turn_far_at_rest_get_pose_elements() -> None:
    coil = pl.FlexibleLink("coil", 1.0, ROD.section, rest_shape=pl.rest_shapes.Arc(50.0))
    robot = pl.Robot("arm", (coil,), (pl.RevoluteJoint("joint", "base", "coil"),))
    arm = pl.GeometricallyExact(degree=5).compile(robot)
    assert arm.formulation == pl.PoseElement({"coil": 100})
    assert arm.substitution == (
        "pose elements were chosen because link 'coil' bends at rest by 10 rad between two nodes of a spectral link"
    )
    fine = pl.GeometricallyExact(degree=5, elements=10).compile(robot)
    assert fine.formulation == pl.GeometricallyExact(degree=5, elements=10)
