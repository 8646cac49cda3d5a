"""The energy account over 100 000 steps of one run, for each kind of run the program promises it for."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

STEPS, DEMAND = 100_000, 1e-10


def library_arm(name, degree):
    return pl.GeometricallyExact(degree=degree).compile(pl.load(pl.library.path(name)))


def ringing():
    """Steel strip released from a bend in both planes; nothing damps it."""
    arm = library_arm("steel_strip", 5)
    held = pl.connect(arm, pl.PrescribedMotion(arm.joint_names[0], pl.Hold(0.0)))
    pull = pl.TipWrench(arm.link_names[0], pl.Constant((0.0, 5.0, 3.0, 0.0, 0.1, 0.0)))
    return held, pl.equilibrium(pl.connect(held, pull)).state


def prescribed():
    arm = library_arm("damic_two_link", 4)
    inner, outer = arm.joint_names
    moves = (
        pl.PrescribedMotion(inner, pl.Cycloid(1.57, 0.0, 10.0)),
        pl.PrescribedMotion(outer, pl.SmoothStart(1.0, 10.0)),
    )
    return pl.connect(arm, *moves), None


def driven_and_damped():
    arm = library_arm("macchelli_link", 5)
    pd = pl.JointPD(pl.Hold(1.0), stiffness=15.0, damping=3.0)
    return pl.connect(arm, pd, pl.JointTorque(arm.joint_names[0], pl.Sine(2.0, 1.3))), None


def falling_in_space():
    return library_arm("l_frame", 4), None


def two_free_joints():
    arm = library_arm("damic_two_link", 4)
    return arm, arm.initial_state(np.array([0.0, 0.5]), np.array([0.5, -2.0]))


@pytest.mark.parametrize("kind", [ringing, prescribed, driven_and_damped, falling_in_space, two_free_joints])
def test_every_step_is_accounted_for(kind):
    model, start = kind()
    run = pl.simulate(
        model, until=STEPS * 1e-3, integrator=pl.Gauss(order=4, step=1e-3), initial=start, outputs=10
    )
    assert run.ending.completed, run.ending
    assert run.statistics["steps"] == STEPS
    assert run.ledger.worst_ratio <= DEMAND
