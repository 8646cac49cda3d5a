"""A parallelogram through its flat posture, where parallelogram and antiparallelogram meet.

Of equal opposite links, all angles of the parallelogram are those of the crank, in closed form. Without gravity and
losses its kinetic energy is constant, and so is the rate: crank and rocker turn, and the coupler moves on a circle,

    2 T = (2 J + m l^2) rate^2 ,

so that the angle at the end is known too. The antiparallelogram begins in the same posture, with other velocities.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl

SHORT, LONG, START, RATE, UNTIL = 0.4, 0.7, 0.5, -3.0, 0.3
END = START + RATE * UNTIL  # flat at t = 1/6 s


def link(name: str, length: float) -> pl.RigidLink:
    turned = length**2 / 12.0
    return pl.RigidLink(
        name, (length, 0.0, 0.0), 1.0, center_of_mass=(length / 2, 0.0, 0.0), inertia=(1e-3, turned, turned)
    )


def robot(tilt: float) -> pl.Robot:
    """The ground line has an angle to the x axis, so that no single coordinate says all."""
    about, far = np.array([np.cos(tilt), np.sin(tilt), 0.0]), tilt + START
    joints = (
        pl.RevoluteJoint("drive", "base", "crank", initial_position=far, initial_rate=RATE),
        pl.RevoluteJoint("elbow", "crank", "coupler", initial_position=-START, initial_rate=-RATE),
        pl.RevoluteJoint(
            "pivot", "base", "rocker", tuple((LONG * about).tolist()), initial_position=far, initial_rate=RATE
        ),
    )
    loop = pl.joints.LoopJoint("tip", pl.joints.LoopKind.REVOLUTE, pl.At("coupler"), pl.At("rocker"))
    links = (link("crank", SHORT), link("coupler", LONG), link("rocker", SHORT))
    return pl.Robot("parallelogram", links, joints, loops=(loop,), gravity=(0.0, 0.0, 0.0))


FORMULATIONS = (
    pl.Rigid(),
    pl.Lumped(fields=2),
    pl.EquivalentRigidLink(elements=2),
    pl.PoseElement(elements=2),
    pl.Corotational(elements=2),
    pl.GeometricallyExact(degree=3),
)
every_formulation = pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
STEPS = (5e-3, 2e-3, 1e-3, 7e-4, 3e-4)


@cache
def arm(formulation: pl.Rigid, tilt: float) -> pl.Arm:
    return formulation.compile(robot(tilt))


def turning(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return START + RATE * times, np.full(len(times), RATE), np.zeros(len(times))


def tilted(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angle, rate, acceleration = turning(times)
    return 0.4 + angle, rate, acceleration


def followed(run: pl.Trajectory, formulation: pl.Rigid, tilt: float) -> bool:
    """Whether it did; spectral links may stop and name the posture instead, and nothing else may happen.

    Closing behind the change point what was open takes its share of the energy; the other branch is off by 0.5 rad.
    """
    if run.ending.completed:
        np.testing.assert_allclose(run.joint_position[-1], [tilt + END, -END, tilt + END], atol=1e-4)
        return True
    assert isinstance(formulation, pl.GeometricallyExact)
    assert "loop 'tip', which can move more than one way or none at drive = " in str(run.ending)
    assert abs(run.joint_position[-1, 1]) < 1e-2
    assert "drive another joint through it, or make a link flexible" in run.ending.remedy
    return False


@every_formulation
def test_a_free_parallelogram_follows_its_momentum(formulation: pl.Rigid) -> None:
    for tilt in (0.0, 0.4):
        for step in STEPS:
            run = pl.simulate(arm(formulation, tilt), UNTIL, pl.Gauss(2, step))
            if followed(run, formulation, tilt):
                np.testing.assert_allclose(run.ledger.kinetic, run.ledger.kinetic[0], rtol=3e-4)
                assert np.abs(run.ledger.residual).max() < 1e-11 * run.ledger.kinetic[0]


@every_formulation
def test_a_driven_parallelogram_follows_its_momentum(formulation: pl.Rigid) -> None:
    for tilt, motion in ((0.0, turning), (0.4, tilted)):
        driven = pl.connect(arm(formulation, tilt), pl.PrescribedMotion("drive", pl.motions.FunctionMotion(motion)))
        for step in STEPS:
            followed(pl.simulate(driven, UNTIL, pl.Gauss(2, step)), formulation, tilt)


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PoseElement(elements=2)], ids=lambda each: type(each).__name__)
def test_a_torque_passes_the_change_point_by_inertia(formulation: pl.Rigid) -> None:
    """A torque on the crank alone: it cannot turn the rocker through the flat posture, whose inertia carries it there.

    Runs of different steps come to one motion: the work of the torque is in the energy but for what closing takes.
    """
    driven = pl.connect(arm(formulation, 0.0), pl.JointTorque("drive", pl.signals.Constant(-0.5)))
    ends = []
    for step in (2e-3, 1e-3, 5e-4):
        run = pl.simulate(driven, UNTIL, pl.Gauss(2, step))
        assert run.ending.completed
        ledger = run.ledger
        assert ledger.projection_loss[-1] < 2e-3 * ledger.kinetic[0]
        inertia = 2.0 * SHORT**2 * (1.0 / 12.0 + 0.25) + SHORT**2
        np.testing.assert_allclose(ledger.kinetic[-1], 0.5 * inertia * run.joint_rate[-1, 0] ** 2, rtol=1e-6)
        ends.append(run.joint_position[-1])
    np.testing.assert_allclose(ends[0], ends[2], atol=2e-3)
    np.testing.assert_allclose(ends[1], ends[2], atol=1e-3)


def test_a_drive_into_a_lock_still_stops() -> None:
    """A crank that is longer than its rocker cannot turn over: no branch goes on where it stretches the loop."""
    long, short = link("crank", 0.5), link("rocker", 0.2)
    joints = (
        pl.RevoluteJoint("drive", "base", "crank", initial_position=1.0),
        pl.RevoluteJoint("elbow", "crank", "coupler", initial_position=-1.0),
        pl.RevoluteJoint("pivot", "base", "rocker", (LONG, 0.0, 0.0), initial_position=1.0),
    )
    loop = pl.joints.LoopJoint("tip", pl.joints.LoopKind.REVOLUTE, pl.At("coupler"), pl.At("rocker"))
    made = pl.Robot("l", (long, link("coupler", 0.5), short), joints, loops=(loop,), gravity=(0.0, 0.0, 0.0))
    for formulation in (pl.Rigid(), pl.PoseElement(elements=1)):
        free = formulation.compile(made)
        begin = float(free.layout.part(free.initial_state(), "joint_position")[0])
        motion = pl.motions.Quintic(begin, begin + 3.0, 0.5)
        run = pl.simulate(pl.connect(free, pl.PrescribedMotion("drive", motion)), 0.5, pl.Gauss(2, 2e-3))
        assert not run.ending.completed
        assert "loop 'tip'" in str(run.ending)
