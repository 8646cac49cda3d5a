"""What the formulation does not model is refused in a sentence with a remedy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pliant as pl
from tests.support.beam import beam
from tests.support.rigs import PUSH, rig

COMPILED = [
    (rig(link=beam(rest_shape=pl.rest_shapes.Arc(angle=0.3))), "link 'beam': its rest shape"),
    (rig(link=beam(law=pl.sections.HardeningLaw(cubic=(0.0,) * 5 + (1.0,)))), "law HardeningLaw is not linear"),
    (
        rig(
            pl.RevoluteJoint(
                name="drive", parent="base", child="hub", limits=pl.joints.Limits(lower=-1.0, upper=1.0, stiffness=10.0)
            )
        ),
        "joint 'drive': its limits is not linear",
    ),
    (
        rig(pl.joints.SphericalJoint(name="drive", parent="base", child="hub")),  # type: ignore[arg-type]
        "joint 'drive' is a SphericalJoint",
    ),
    (pl.load(pl.library.path("parallelogram")), "closes the tree"),
]


@pytest.mark.parametrize(("robot", "words"), COMPILED, ids=[words[:20] for _, words in COMPILED])
def test_refused_when_compiled(robot: pl.Robot, words: str) -> None:
    with pytest.raises(pl.InvalidInput, match=re.escape(words)) as error:
        pl.PseudoSpectral().compile(robot)
    assert "use " in str(error.value)


CONNECTED = [
    (pl.TipWrench("beam", pl.signals.Constant(PUSH)), "load 'beam_tip_wrench' keeps its direction in the world"),
    (pl.Wall("floor", pl.At("beam"), (0.0, -0.1, 0.0), (0.0, 1.0, 0.0), 1e4), "the wall 'floor' is not carried"),
    (
        pl.GearMotor("drive", rotor_inertia=1e-5, ratio=10.0, torque_limit=1.0),
        "the motor of joint 'drive' has torque_limit = 10 N m",
    ),
]


@pytest.mark.parametrize(("component", "words"), CONNECTED, ids=[words[:20] for _, words in CONNECTED])
def test_refused_when_run(component: object, words: str) -> None:
    arm = pl.connect(pl.PseudoSpectral().compile(rig()), component)  # type: ignore[arg-type]
    with pytest.raises(pl.InvalidInput, match=re.escape(words)):
        pl.simulate(arm, until=0.01)


def test_a_world_load_on_a_prescribed_joint_turns_with_it() -> None:
    """A constant force along y of the world on an arm that was turned by a right angle pulls along the link."""
    swing = pl.PrescribedMotion("drive", pl.motions.Hold(np.pi / 2))
    load = pl.TipWrench("beam", pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    arm = pl.connect(pl.PseudoSpectral(6).compile(rig()), swing, load)
    balanced = pl.equilibrium(arm)
    strain = arm.layout.part(balanced.state, "strain")
    assert strain[:, 0] == pytest.approx(1.0 / (210e9 * 1.5e-4) * np.ones(6), rel=1e-9)
    assert np.abs(strain[:, 5]).max() < 1e-12


def test_bad_choices() -> None:
    with pytest.raises(pl.InvalidInput, match="degree = 0 must lie between 1 and 64"):
        pl.PseudoSpectral(0)
    with pytest.raises(pl.InvalidInput, match="3 are given for states, but the degree is 6"):
        pl.PseudoSpectral(6, pl.pseudo_spectral.GivenPoints((0.0, 0.3, 0.6, 1.0), (0.1, 0.5, 0.9)))
    with pytest.raises(pl.InvalidInput, match="give one more for efforts"):
        pl.pseudo_spectral.GivenPoints((0.0, 1.0), (0.1, 0.5, 0.9))
