"""Kernels are fixed, models are data: no arm, source or method makes anybody wait for a compiler again."""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.structures.collocation.step import run_steps


def some_runs():
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
            pl.DistributedWrench(
                link, pl.signals.Constant((0.0, 0.1, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY
            ),
            pl.control.SampledController(
                lambda sample: -0.1 * sample.joint_rates[1:], 2e-3, joints=[arm.joint_names[1]]
            ),
        ),
        pl.Gauss(order=8),
    )


def test_two_compiled_versions_serve_all_arms_sources_and_methods():
    for model, integrator in some_runs():
        run = pl.simulate(model, until=5e-3, integrator=integrator)
        assert run.ending.completed
        assert np.all(np.isfinite(run.states))
    # one for methods of a single stage, whose matrices are real, and one for all others
    assert len(run_steps.signatures) <= 2
