"""Sensors: what they read, how they round, cut and add noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import pliant as pl
from pliant.components.sensors import Sensor
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.sampling import Sample, noise_source, rounded
from tests.support.two_link_arm import TwoLinkArm

ARM = TwoLinkArm()
SILENT = noise_source(0, "nobody")
EI, LENGTH, FORCE = 14.175, 0.6, 2.0  # of a steel strip 30 mm by 3 mm: 210e9 * 0.03 * 0.003^3 / 12


def strip(joint: pl.RevoluteJoint | pl.FixedJoint | None = None) -> pl.Robot:
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    link = pl.FlexibleLink("strip", LENGTH, section=pl.Rectangle(height=0.003, width=0.03), material=steel)
    hinge = pl.RevoluteJoint("hinge", "base", "strip", initial_position=0.7)
    return pl.Robot(name="strip", links=(link,), joints=(joint or hinge,))


def sample_of(model: Model, state: np.ndarray) -> Sample:
    position, rate = (model.layout.part(state, name) for name in ("joint_position", "joint_rate"))
    return Sample(
        0.0, position, rate, state, model, position, rate, lambda stations: model.observe(state[None], stations)
    )


@pytest.mark.parametrize("formulation", [pl.GeometricallyExact(degree=4), pl.PseudoSpectral(degree=6)])
def test_gauge_and_deflection_of_a_loaded_cantilever(formulation: pl.GeometricallyExact | pl.PseudoSpectral) -> None:
    """Curvature F (L - s) / EI, tip F L^3 / 3 EI; shear adds 5e-5 of it to the tip, bending far 2e-5 to both.

    The joint is turned by 0.7 rad and the force is given in the axes of the tip: what is read turns with the link.
    """
    push = pl.TipWrench("strip", pl.signals.Constant((0.0, FORCE, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY)
    hold = pl.PrescribedMotion("hinge", pl.motions.Hold(0.7))
    model = pl.connect(formulation.compile(strip()), push, hold)
    balanced = pl.equilibrium(model)
    assert balanced.ending.completed
    sample = sample_of(model, balanced.state)
    for station in (0.0, 0.25, 0.05):
        gauge = pl.sensors.StrainGauge("strip", station=station).reader(model)
        expected = FORCE * LENGTH * (1 - station) / EI
        assert gauge(sample, SILENT) == pytest.approx(expected, rel=3e-3)
    sideways = pl.sensors.StrainGauge("strip", about=pl.rest_shapes.Across.Y).reader(model)
    assert sideways(sample, SILENT) == pytest.approx(0.0, abs=1e-9)
    tip = pl.sensors.DeflectionSensor("strip").reader(model)
    assert tip(sample, SILENT) == pytest.approx(FORCE * LENGTH**3 / (3 * EI), rel=3e-3)


def test_a_curved_link_at_rest_reads_nothing() -> None:
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    section = pl.Rectangle(height=0.003, width=0.03)
    bow = pl.FlexibleLink("bow", LENGTH, section=section, material=steel, rest_shape=pl.rest_shapes.Arc(0.8))
    robot = pl.Robot(name="bow", links=(bow,), joints=(pl.RevoluteJoint("hinge", "base", "bow"),))
    model = pl.GeometricallyExact(degree=4).compile(robot)
    sample = sample_of(model, model.initial_state(np.array([0.4])))
    sensors: tuple[Sensor, ...] = (pl.sensors.StrainGauge("bow", station=0.5), pl.sensors.DeflectionSensor("bow"))
    for sensor in sensors:
        assert sensor.reader(model)(sample, SILENT) == pytest.approx(0.0, abs=1e-12)


def test_rounding_takes_the_nearest_multiple_and_even_ones_at_ties() -> None:
    np.testing.assert_array_equal(rounded(np.array([0.24, 0.25, 0.75, -0.6]), 0.5), [0.0, 0.0, 1.0, -0.5])
    np.testing.assert_array_equal(rounded(np.array([0.24, 0.26]), np.array([0.0, 0.5])), [0.24, 0.5])


def test_the_limit_cuts_what_was_rounded() -> None:
    meter = pl.sensors.Tachometer(resolution=0.4, limit=1.0)
    np.testing.assert_allclose(meter.read(np.array([0.5, 0.95, 3.0, -3.0]), SILENT), [0.4, 0.8, 1.0, -1.0])


def test_noise_has_the_deviation_and_no_memory() -> None:
    """Mean, deviation and correlation of n draws within four of their standard errors."""
    encoder, n = pl.sensors.Encoder(noise=2e-3), 20_000
    source = noise_source(5, "loop")
    noise = np.array([encoder.read(np.array([0.3]), source)[0] for _ in range(n)]) - 0.3
    assert abs(noise.mean()) < 4 * 2e-3 / np.sqrt(n)
    assert abs(noise.std() - 2e-3) < 4 * 2e-3 / np.sqrt(2 * n)
    assert abs(np.corrcoef(noise[1:], noise[:-1])[0, 1]) < 4 / np.sqrt(n)
    elsewhere = noise_source(5, "other").standard_normal(n)
    assert abs(np.corrcoef(noise, elsewhere)[0, 1]) < 4 / np.sqrt(n)


def test_rounding_of_a_noisy_reading_adds_a_twelfth_of_the_step_squared() -> None:
    """The variance of the error of a fine converter is step^2 / 12."""
    step, n = 1e-2, 20_000
    noise = noise_source(1, "wide").standard_normal(n)
    error = rounded(noise, step) - noise
    assert error.std() == pytest.approx(step / np.sqrt(12), rel=4 / np.sqrt(n))
    assert np.abs(error).max() <= 0.5 * step * (1 + 1e-9)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: pl.sensors.Encoder(resolution=-1.0),
            "Encoder: resolution = -1 rad or m must be at least 0; write the position between two counts in rad or m",
        ),
        (
            lambda: pl.sensors.Tachometer().reader(ARM),
            "Tachometer: names no joint, but one number is read; write Tachometer(joint='shoulder')",
        ),
        (
            lambda: pl.sensors.StrainGauge("hand").reader(ARM),
            "StrainGauge: link 'hand' is rigid and does not bend; write one of upper, lower",
        ),
        (
            lambda: pl.sensors.DeflectionSensor("uper").reader(ARM),
            "DeflectionSensor: the arm has no flexible link 'uper'; did you mean 'upper'?",
        ),
    ],
)
def test_refusals(build: Callable[[], object], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        build()
    assert str(refused.value) == sentence
