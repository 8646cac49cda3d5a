"""Linearisations against the models themselves and against what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from tests.support.flow_map import lifted, moved, poles_of_steps

SPECTRAL = pl.GeometricallyExact(degree=2)
POSES = pl.PoseElement(2)
# adam, whose links have no mass, has a test of its own; the parallelogram closes a loop, which only pose elements carry
MASSIVE = [name for name in pl.library.names() if name != "adam"]
EVERY_ARM = [
    pytest.param(name, each, marks=pytest.mark.again if name != "parallelogram" and (k + j) % 2 else ())
    for k, name in enumerate(MASSIVE)
    for j, each in enumerate((POSES, SPECTRAL))
    if name != "parallelogram" or each is POSES
]  # every arm in one formulation, by turns; in the other one in make check
# the rubber rod folds under its weight: it is held hanging
HELD_AT = {"rubber_pendulum": -np.pi / 2}
# so soft that the round-off of its steps asks for larger differences
SIZES = {"rubber_pendulum": 1e-4}


def held_softly(arm):
    """All joints under a spring and damper about where they start."""
    start = arm.layout.part(arm.initial_state(), "joint_position")
    at = tuple(pl.motions.Hold(HELD_AT.get(arm.robot.name, float(q))) for q in start)
    return pl.connect(arm, pl.JointPD(at, stiffness=50.0, damping=0.5))


@pytest.mark.parametrize(("name", "formulation"), EVERY_ARM, ids=lambda part: str(part).partition("(")[0])
def test_every_library_arm_has_the_poles_of_its_own_steps(name, formulation):
    """At its equilibrium under gravity and soft joints, for all modes whose period is at least two steps."""
    model = held_softly(formulation.compile(pl.load(pl.library.path(name))))
    balanced = pl.equilibrium(model)
    assert balanced.ending.completed
    modes = pl.modes(model, balanced.state, count=12)
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


def test_adam_has_the_poles_of_its_own_steps():
    """Its links have no mass, so that only point masses behind rotors carry it; it is stepped by Runge-Kutta-Gill.

    Over many steps a mode exp(lambda t) is multiplied by a power of 1 + z + z^2/2 + z^3/6 + z^4/24 with z = h lambda,
    the stability polynomial of any method of four stages and order four.
    """
    links = pl.lumped.Fields(1, tuple(each for each in pl.lumped.Deflection if each is not pl.lumped.Deflection.X))
    points = pl.Lumped(links, station_inertia=pl.lumped.StationInertia.NEGLECTED)
    arm = points.compile(pl.load(pl.library.path("adam")))
    rotors = [pl.GearMotor(name, rotor_inertia=1e-4, ratio=100.0) for name in arm.joint_names]
    model = held_softly(pl.connect(arm, *rotors))
    balanced = pl.equilibrium(model)
    modes = pl.modes(model, balanced.state, count=20)
    assert balanced.ending.completed
    assert modes.small.fundamental
    rate = np.abs(modes.eigenvalue)
    # the fifth turns by 1 rad, less than the half turn beyond which a power has other roots
    until = 1 / rate[4]
    steps = int(np.ceil(2 * rate[-1] / rate[4]))
    directions = np.eye(2 * len(modes.small.M))
    after = moved(model, modes.small, directions, pl.RungeKuttaGill(step=until / steps), until)
    power = np.linalg.eigvals(np.linalg.lstsq(lifted(modes.small, directions), after, rcond=None)[0])
    for pole in modes.eigenvalue[:5]:
        z = pole * until / steps
        grown = (1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24) ** steps
        # by how much the pole would have to change
        assert np.abs(np.log(power / grown)).min() / until < 1e-6 * abs(pole), pole
