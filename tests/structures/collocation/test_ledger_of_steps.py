"""Steps that exchange little energy: what Newton's method leaves unbalanced is measured by that, not by more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl


@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("stiffness", [1e2, 1e4])
def test_a_slow_start_far_from_zero(order: int, stiffness: float) -> None:
    """The shoulder stands at 1.57 rad and has gone 1e-10 rad in the first step: rounded to where it stands, its way and
    the torque of its feedback would be known to six digits."""
    robot = pl.load(pl.library.path("damic_two_link"))
    at = [robot.freedom(name).law.initial_position for name in ("shoulder", "elbow")]
    moves = [pl.motions.Quintic(begin, begin - 0.5, 0.5) for begin in at]
    arm = pl.GeometricallyExact(degree=10, elements=2).compile(robot)
    held = pl.connect(arm, pl.JointPD(moves, stiffness, 0.1, joints=["shoulder", "elbow"]))
    run = pl.simulate(held, until=20e-4, integrator=pl.Gauss(order=order, step=1e-4))
    assert run.ledger.worst_ratio < 1e-10


@pytest.mark.parametrize("order", [4, 6, 8])
def test_a_joint_that_rings_inside_the_steps(order: int) -> None:
    """The torque does hundreds of times as much work between the stages as over the step, and takes it back."""
    arm = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("steel_strip")))
    pushed = pl.connect(arm, pl.JointTorque("hub", pl.signals.Constant(30.0)))
    for step in (1e-4, 3.16e-4, 1e-3):
        run = pl.simulate(pushed, until=20 * step, integrator=pl.Gauss(order=order, step=step))
        assert run.ledger.worst_ratio < 1e-10


def test_newtons_method_goes_on_while_the_energy_gains() -> None:
    """Bending is 1e5 times softer than stretching: increments of 1e-12 still carry energy, and shrink slowly."""
    rod = pl.load(pl.library.path("macchelli_link")).links[0]
    assert isinstance(rod, pl.FlexibleLink)
    stiffness = np.array(rod.section.stiffness) * ([[1.0]] * 3 + [[1e-3]] * 3)
    section = replace(rod.section, stiffness=tuple(map(tuple, stiffness.tolist())), damping=1e-3)
    pin = pl.RevoluteJoint("pin", "base", rod.name, axis=(0.0, 0.0, 1.0))
    robot = pl.Robot("soft", (replace(rod, section=section),), (pin,), gravity=(0.0, -9.81, 0.0))
    arm = pl.GeometricallyExact(degree=3).compile(robot)
    moved = pl.BaseMotion(y=pl.motions.Quintic(0.0, -0.5, 0.3))
    model = pl.connect(arm, moved, pl.PrescribedMotion("pin", pl.motions.Hold(0.0)))
    run = pl.simulate(model, 0.3, pl.Gauss(order=2, step=1e-3))
    assert run.ledger.worst_ratio < 1e-10
