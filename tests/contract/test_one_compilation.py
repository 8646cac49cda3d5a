"""Kernels are fixed, models are data: no arm, source or method makes anybody wait for a compiler again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import pliant as pl
from pliant.structures.collocation.step import run_steps as run_collocation
from pliant.structures.nodal.step import run_steps as run_nodal


def some_runs() -> Iterator[tuple[pl.Model, pl.Gauss | pl.GeneralizedAlpha]]:
    """Arms and methods that differ in everything a user can choose."""
    library = {name: pl.load(pl.library.path(name)) for name in pl.library.names()}
    spectral = pl.GeometricallyExact
    yield spectral(degree=1, elements=5).compile(library["steel_strip"]), pl.Gauss(order=2)
    yield spectral(degree=4).compile(library["l_frame"]), pl.Gauss(order=4)
    yield pl.MixedElement(elements=3).compile(library["macchelli_link"]), pl.Gauss(order=6)
    yield spectral(degree=2).compile(library["rubber_pendulum"]), pl.GeneralizedAlpha()
    two = spectral(degree=3, elements={"inner": 2})
    arm = two.compile(library["damic_two_link"])
    link = arm.link_names[-1]
    yield (
        pl.connect(
            arm,
            pl.PrescribedMotion(arm.joint_names[0], pl.motions.Cycloid(1.5, 0.0, 1.0)),
            pl.JointPD(pl.motions.Hold(0.1), stiffness=5.0, damping=1.0, joints=[arm.joint_names[1]]),
            pl.TipWrench(link, pl.signals.Sine((0.0, 1.0, 0.0, 0.0, 0.0, 0.0), 2.0)),
            pl.DistributedWrench(link, pl.signals.Constant((0.0, 0.1, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY),
            pl.control.SampledController(
                lambda sample: -0.1 * sample.joint_rates[1:], 2e-3, joints=[arm.joint_names[1]]
            ),
        ),
        pl.Gauss(order=8),
    )


def test_two_compiled_versions_serve_all_arms_sources_and_methods() -> None:
    for model, integrator in some_runs():
        run = pl.simulate(model, until=5e-3, integrator=integrator)
        assert run.ending.completed
        assert np.all(np.isfinite(run.states))
    # one for methods of a single stage, whose matrices are real, and one for all others
    assert len(run_collocation.entries) <= 2


def test_one_compiled_version_serves_all_mechanisms_and_components() -> None:
    """Connecting components and changing mechanisms changes arrays, never compiled code."""
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
        pl.PoseElement().compile(pl.Robot(name="body", links=(body,), joints=(joint,))) for joint in (ball, flight)
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
        pl.connect(serial, pl.DistributedWrench("outer", pl.signals.Constant((0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))),
        pl.connect(serial, pl.control.SampledController(lambda sample: np.full(2, 0.1), period=1e-3)),
        pl.connect(socket, pl.JointTorque("ball", pl.signals.Constant((1.0, 0.0, 0.0)))),
        pl.connect(floating, pl.JointTorque("flight", pl.signals.Constant((1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))),
    )
    for model in models:
        run = pl.simulate(model, until=5e-3)
        assert run.ending.completed, run.ending
        assert np.all(np.isfinite(run.states))
    assert len(run_nodal.entries) == 1
