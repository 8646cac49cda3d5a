"""Fields and stations of a uniform beam against the continuous one: frequencies, statics, curved links."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import TimoshenkoBeam, natural_frequencies
from tests.support.lumped_arms import POINTS, cantilever
from tests.support.textbook import euler_bernoulli_cantilever_frequencies, wave_frequencies

COUNTS = (4, 8, 16)
ONE_PLANE = (pl.lumped.Deflection.Z, pl.lumped.Deflection.TURN_Y)


def first(formulation: object, count: int) -> np.ndarray:
    return pl.modes(formulation.compile(cantilever()), count=count).frequency


@pytest.mark.parametrize("inertia", list(pl.lumped.StationInertia))
def test_bending_converges_to_euler_bernoulli_with_order_two(inertia: pl.lumped.StationInertia) -> None:
    exact = euler_bernoulli_cantilever_frequencies(1.0, 0.3, 4.0, 3)
    errors = np.array(
        [
            first(pl.Lumped(pl.lumped.Fields(n, ONE_PLANE), pl.lumped.Beam.EULER_BERNOULLI, inertia), 3) / exact - 1.0
            for n in COUNTS
        ]
    )
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(np.abs(orders[-1] - 2.0) < 0.1), orders
    # the coarsest of these already knows the first frequency to a few per cent
    assert abs(errors[0, 0]) < 0.03


@pytest.mark.parametrize(("part", "index"), [(pl.lumped.Deflection.X, 0), (pl.lumped.Deflection.TURN_X, 3)])
def test_stretch_and_torsion_converge_with_order_two(part: pl.lumped.Deflection, index: int) -> None:
    stiffness, inertia = {0: (1e6, 0.3), 3: (1e3, 2e-3)}[index]
    exact = wave_frequencies(1.0, stiffness, inertia, 2)
    errors = np.array([first(pl.Lumped(pl.lumped.Fields(n, (part,))), 2) / exact - 1.0 for n in COUNTS])
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(np.abs(orders[-1] - 2.0) < 0.1), orders


def test_a_short_beam_shears() -> None:
    """Timoshenko fields against the exact frequencies of a stubby Timoshenko beam."""
    section = pl.GeneralSection(
        stiffness=(1e4, 150.0, 150.0, 50.0, 4.0, 9.0), inertia=(0.3, 0.3, 0.3, 0.04, 0.01, 0.02)
    )
    link = pl.FlexibleLink(name="beam", length=1.0, section=section)
    robot = pl.Robot(name="stub", links=(link,), joints=(pl.FixedJoint(name="root", parent="base", child="beam"),))
    beam = TimoshenkoBeam(1.0, 0.3, 0.01, 4.0, 150.0)
    exact = natural_frequencies(beam, 2)
    errors = np.array(
        [
            pl.modes(pl.Lumped(pl.lumped.Fields(n, ONE_PLANE)).compile(robot), count=2).frequency / exact - 1.0
            for n in COUNTS
        ]
    )
    orders = np.log2(errors[:-1] / errors[1:])
    assert np.all(np.abs(orders[-1] - 2.0) < 0.15), (orders, errors)


def test_end_stiffness_is_exact_however_many_fields() -> None:
    """A small tip load: P L^3 / 3 EI + P L / GA and the slope P L^2 / 2 EI, from one field or five."""
    force = 1e-6
    for count in (1, 5):
        arm = pl.Lumped(count).compile(cantilever())
        loaded = pl.connect(arm, pl.TipWrench("beam", pl.signals.Constant((0.0, force, 0.0, 0.0, 0.0, 0.0))))
        rest = pl.equilibrium(loaded)
        assert rest.ending.completed
        position, rotation = arm.tip(rest.state)
        assert position[0, 1] == pytest.approx(force / 27.0 + force / 1e6, rel=1e-9)
        assert rotation[0, 1, 0] == pytest.approx(force / 18.0, rel=1e-9)
        seen = arm.observe(rest.state, 11).link("beam")
        # the moment falls linearly to the tip, and the shape between stations is the cubic of the beam
        np.testing.assert_allclose(seen.wrench[0, :, 5], force * (1.0 - seen.station), rtol=1e-6, atol=1e-14)
        x = seen.station
        np.testing.assert_allclose(
            seen.position[0, :, 1], force * (x**2 * (3.0 - x) / 54.0 + x / 1e6), rtol=1e-6, atol=1e-18
        )


def test_large_bends_converge_to_the_elastica() -> None:
    """A moment 2 pi EI / L rolls a beam up to a circle; fields come near it with order two."""
    violations = []
    for count in (8, 16, 32):
        arm = pl.Lumped(pl.lumped.Fields(count)).compile(cantilever())
        moment = np.pi * 9.0 / 2.0  # a quarter of the way round
        bent = pl.equilibrium(pl.connect(arm, pl.TipWrench("beam", pl.signals.Constant((0.0,) * 5 + (moment,)))))
        assert bent.ending.completed
        position, _ = arm.tip(bent.state)
        radius = 9.0 / moment
        violations.append(
            np.linalg.norm(position[0] - radius * np.array([np.sin(1.0 / radius), 1.0 - np.cos(1.0 / radius), 0.0]))
        )
    orders = np.log2(np.array(violations[:-1]) / violations[1:])
    assert np.all(np.abs(orders - 2.0) < 0.2), (violations, orders)


def test_a_curved_link_bends_like_a_curved_beam() -> None:
    """Quarter circle, clamped, small radial tip force P in its plane, no shear or stretch: P pi r^3 / 4 EI."""
    radius, bending, force = 0.5, 9.0, 1e-6
    section = pl.GeneralSection(stiffness=(1e12, 1e12, 1e12, 1e3, 4.0, bending), inertia=(0.3,) * 3 + (1e-3,) * 3)
    link = pl.FlexibleLink(
        name="arc", length=0.5 * np.pi * radius, section=section, rest_shape=pl.rest_shapes.Arc(0.5 * np.pi)
    )
    robot = pl.Robot(name="arc", links=(link,), joints=(pl.FixedJoint(name="root", parent="base", child="arc"),))
    for count in (1, 3):
        arm = pl.Lumped(count).compile(robot)
        # at the tip the arc runs along y; the force along x is radial there
        rest = pl.equilibrium(
            pl.connect(arm, pl.TipWrench("arc", pl.signals.Constant((force, 0.0, 0.0, 0.0, 0.0, 0.0)))), accuracy=1e-15
        )
        moved = arm.tip(rest.state)[0][0] - [radius, radius, 0.0]
        assert moved[0] == pytest.approx(force * np.pi * radius**3 / (4.0 * bending), rel=1e-5)


def test_masses_of_points_are_those_of_the_beam() -> None:
    arm = pl.Lumped(5, station_inertia=POINTS).compile(cantilever())
    masses = [station.mass for station in arm.structure.stations]
    np.testing.assert_allclose(masses, 0.3 * np.array([0.1, 0.2, 0.2, 0.2, 0.2, 0.1]), rtol=1e-12)
