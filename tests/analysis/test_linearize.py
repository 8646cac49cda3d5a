"""Linearisations against the models themselves and against what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.analysis.flow_map import poles_of_steps

SPECTRAL = pl.GeometricallyExact(degree=2)
POSES = pl.PoseElement(2)
# the links of adam have no mass, and the parallelogram closes a loop, which only pose elements carry
MASSIVE = [name for name in pl.library.names() if name != "adam"]
EVERY_ARM = [(name, POSES) for name in MASSIVE]
EVERY_ARM += [(name, SPECTRAL) for name in MASSIVE if name != "parallelogram"]
# the rubber rod folds under its weight: it is held hanging
HELD_AT = {"rubber_pendulum": -np.pi / 2}
# so soft that the round-off of its steps asks for larger differences
SIZES = {"rubber_pendulum": 1e-4}


def held_softly(arm):
    """All joints under a spring and damper about where they start."""
    start = arm.layout.part(arm.initial_state(), "joint_position")
    at = tuple(pl.Hold(HELD_AT.get(arm.robot.name, float(q))) for q in start)
    return pl.connect(arm, pl.JointPD(at, stiffness=50.0, damping=0.5))


@pytest.mark.parametrize(("name", "formulation"), EVERY_ARM, ids=lambda part: str(part).partition("(")[0])
def test_every_library_arm_has_the_poles_of_its_own_steps(name, formulation):
    """At its equilibrium under gravity and soft joints, for all modes whose period is at least two steps."""
    model = held_softly(formulation.compile(pl.load(pl.library.path(name))))
    settled = pl.equilibrium(model)
    assert settled.ending.completed
    modes = pl.modes(model, settled.state, count=12)
    assert modes.small.fundamental
    rate = np.abs(modes.eigenvalue)
    found, step = poles_of_steps(model, modes.small, 1 / rate[[2, 4, 6, 8]], SIZES.get(name, 1e-5))
    slow = modes.eigenvalue[rate < np.pi / step]
    assert len(slow) >= 3
    for pole in slow:
        assert np.abs(found - pole).min() < 1e-6 * abs(pole), pole
    # none is missing: below the last of them both sides count the same poles, pairs twice
    below = rate[: len(slow) - 1]
    swing = np.abs(modes.frequency[: len(slow) - 1]) > 1e-9 * below
    assert np.sum(np.abs(found) < 0.5 * (below[-1] + rate[len(slow) - 1])) == len(below) + np.sum(swing)
