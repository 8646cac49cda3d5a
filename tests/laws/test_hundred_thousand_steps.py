"""The energy ledger over 100 000 steps of one run, for each kind of run that keeps it exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl

STEPS, DEMAND = 100_000, 1e-10


def library_arm(name, degree):
    return pl.GeometricallyExact(degree=degree).compile(pl.load(pl.library.path(name)))


def ringing():
    """Steel strip released from a bend in both planes; nothing damps it."""
    arm = library_arm("steel_strip", 5)
    held = pl.connect(arm, pl.PrescribedMotion(arm.joint_names[0], pl.motions.Hold(0.0)))
    pull = pl.TipWrench(arm.link_names[0], pl.signals.Constant((0.0, 5.0, 3.0, 0.0, 0.1, 0.0)))
    return held, pl.equilibrium(pl.connect(held, pull)).state


def prescribed():
    arm = library_arm("damic_two_link", 4)
    inner, outer = arm.joint_names
    moves = (
        pl.PrescribedMotion(inner, pl.motions.Cycloid(1.57, 0.0, 10.0)),
        pl.PrescribedMotion(outer, pl.motions.SmoothStart(1.0, 10.0)),
    )
    return pl.connect(arm, *moves), None


def driven_and_damped():
    """A joint damper, Kelvin-Voigt damping of the material and drag of the surroundings."""
    robot = pl.load(pl.library.path("macchelli_link"))
    (link,) = robot.links
    damped = replace(link, section=replace(link.section, damping=1e-3), viscous_damping=(0.2, 0.2, 0.2, 0.0, 0.0, 1e-3))
    arm = pl.GeometricallyExact(degree=5).compile(replace(robot, links=(damped,)))
    pd = pl.JointPD(pl.motions.Hold(1.0), stiffness=15.0, damping=3.0)
    return pl.connect(arm, pd, pl.JointTorque(arm.joint_names[0], pl.signals.Sine(2.0, 1.3))), None


def falling_in_space():
    return library_arm("l_frame", 4), None


def two_free_joints():
    arm = library_arm("damic_two_link", 4)
    return arm, arm.initial_state(np.array([0.0, 0.5]), np.array([0.5, -2.0]))


@pytest.mark.parametrize("kind", [ringing, prescribed, driven_and_damped, falling_in_space, two_free_joints])
def test_every_step_is_ledgered_for(kind):
    model, start = kind()
    run = pl.simulate(model, until=STEPS * 1e-3, integrator=pl.Gauss(order=4, step=1e-3), initial=start, outputs=10)
    assert run.ending.completed, run.ending
    assert run.statistics["steps"] == STEPS
    ledger = run.ledger
    assert ledger.worst_ratio <= DEMAND
    losses = {name: getattr(ledger, name)[-1] for name in ("material_loss", "viscous_loss", "joint_loss")}
    assert all(loss > 0.0 for loss in losses.values()) is (kind is driven_and_damped), losses
    # what the ledger adds up over all steps against the energy of the last state, which knows nothing of it
    kinetic, strain, _ = model.energy(run.states[[0, -1]])
    entered = ledger.gravity[-1] + sum(work[-1] for work in ledger.works.values())
    entered -= sum(losses.values()) + ledger.projection_loss[-1]
    change = np.diff(kinetic + strain)[0]
    assert change == pytest.approx(entered, abs=DEMAND * ledger.exchanged[-1])
