"""Connecting components and changing mechanisms changes arrays, never compiled code."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.structures.nodal.step import run_steps


def test_one_compiled_version_serves_all_mechanisms_and_components() -> None:
    serial = pl.PoseElement(elements=2).compile(pl.load(pl.library.path("two_link_planar")))
    closed = pl.PoseElement(elements=3).compile(pl.load(pl.library.path("parallelogram")))
    body = pl.RigidLink("body", (0.1, 0.0, 0.0), 1.0, inertia=(0.1, 0.1, 0.1))
    ball = pl.joints.SphericalJoint(
        "ball", "base", "body", spring=pl.joints.BallSpring(1.0), friction=pl.joints.Friction(0.1)
    )
    flight = pl.joints.FreeJoint(
        "flight",
        "base",
        "body",
        initial_velocity=(1.0, 0.0, 0.0),
        spring=pl.joints.FreeSpring((10.0,) * 6),
        slide_friction=pl.joints.Friction(0.1),
        limits=pl.joints.Box((-1.0,) * 3, (1.0,) * 3, 1e3),
    )
    socket, floating = (
        pl.PoseElement().compile(pl.Robot(name="body", links=(body,), joints=(joint,)))
        for joint in (ball, flight)
    )
    tip, ground = pl.At("outer"), pl.At("base", position=(1.0, 1.0, 0.0))
    models = (
        serial,
        closed,
        pl.connect(serial, pl.SpringDamper("spring", ground, tip, 20.0, 0.5, 0.3)),
        pl.connect(serial, pl.Bushing("bushing", ground, tip, (10.0,) * 6, (0.1,) * 6)),
        pl.connect(serial, pl.Wall("wall", tip, (0.0, -0.3, 0.0), (0.0, 1.0, 0.0), 1e4, 10.0)),
        pl.connect(serial, pl.GearMotor("shoulder", rotor_inertia=1e-4, ratio=50.0)),
        pl.connect(serial, pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.1, 1.0))),
        pl.connect(serial, pl.PointWrench(tip, pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))),
        pl.connect(closed, pl.PrescribedMotion("right_drive", pl.motions.Quintic(0.0, 0.1, 1.0))),
        pl.connect(closed, pl.JointTorque("far_corner", pl.signals.Constant(1.0))),
        pl.connect(serial, pl.JointPD([pl.motions.Hold(0.1)] * 2, stiffness=50.0, damping=1.0)),
        pl.connect(
            serial, pl.DistributedWrench("outer", pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
        ),
        pl.connect(serial, pl.control.SampledController(lambda sample: np.full(2, 0.1), period=1e-3)),
        pl.connect(socket, pl.JointTorque("ball", pl.signals.Constant((1.0, 0.0, 0.0)))),
        pl.connect(floating, pl.JointTorque("flight", pl.signals.Constant((1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))),
    )
    for model in models:
        run = pl.simulate(model, until=5e-3)
        assert run.ending.completed, run.ending
        assert np.all(np.isfinite(run.states))
    assert len(run_steps.signatures) == 1
