"""Surface stress against closed forms of beam theory."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.results.stress import link_stress, surface_stress
from tests.support.fake_arm import fake_trajectory

LENGTH, FORCE, YOUNG = 0.8, 0.3, 70e9
ALUMINIUM = pl.Material("aluminium", young=YOUNG, density=2700.0, poisson=0.33)
BAR, PIPE = pl.Rectangle(height=0.01, width=0.02), pl.Tube(outer_radius=0.012, inner_radius=0.01)


def cantilever(section: pl.Rectangle | pl.Tube) -> pl.Robot:
    beam = pl.FlexibleLink("beam", LENGTH, section, ALUMINIUM)
    return pl.Robot("cantilever", (beam,), (pl.FixedJoint("wall", "base", "beam"),), gravity=(0, 0, 0))


FORMULATIONS = (
    pl.GeometricallyExact(degree=4),
    pl.PoseElement(elements=8),
    pl.Corotational(8),
    pl.PseudoSpectral(degree=6),
    pl.EquivalentRigidLink(elements=4),
    pl.Lumped(fields=8),
)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(("section", "half_height"), [(BAR, 0.005), (PIPE, 0.012)])
def test_a_force_at_the_tip_bends_a_cantilever(
    formulation: pl.GeometricallyExact, section: pl.Rectangle | pl.Tube, half_height: float
) -> None:
    """sigma = F (L - s) c / I, compressed on the side towards which it bends."""
    robot = cantilever(section)
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, FORCE, 0.0, 0.0, 0.0, 0.0)))
    model = pl.connect(formulation.compile(robot), push)
    beam = model.observe(pl.equilibrium(model).state[None]).links[0]
    found = surface_stress(robot, beam)
    expected = FORCE * (LENGTH - beam.station) * half_height / section.moment_z
    # a deflection of 6e-4 of the length shortens the lever and stretches the axis by some of its square
    tolerance = 1e-5 * expected.max()
    assert np.allclose(found.point("+y")[0], -expected, atol=tolerance)
    assert np.allclose(found.point("-y")[0], expected, atol=tolerance)
    assert np.allclose(found.point("+z")[0], 0.0, atol=tolerance)
    assert np.allclose(found.largest[0], expected, atol=tolerance)


def test_oblique_bending_is_largest_at_a_corner_or_on_the_radius() -> None:
    """|sigma| = E (|gamma| + b |kappa_y| + h |kappa_z|) at a corner, E (|gamma| + r |kappa|) on a circle."""
    seen = fake_trajectory(outputs=3).link("upper")
    strain = np.zeros_like(seen.strain)
    strain[..., 0], strain[..., 4], strain[..., 5] = 1e-4, 0.03, -0.04
    observed = type(seen)(seen.name, seen.station, seen.position, seen.rotation, strain, seen.wrench)
    for section, reach in ((BAR, 0.01 * 0.03 + 0.005 * 0.04), (PIPE, 0.012 * 0.05)):
        found = link_stress(pl.FlexibleLink("upper", 1.0, section, ALUMINIUM), observed)
        assert np.allclose(found.largest, YOUNG * (1e-4 + reach), rtol=1e-14)


def test_a_taper_is_known_at_every_station() -> None:
    seen = fake_trajectory(outputs=3).link("upper")
    thin = pl.Rectangle(height=0.005, width=0.02)
    found = link_stress(pl.FlexibleLink("upper", 1.0, pl.sections.Tapered(BAR, thin), ALUMINIUM), seen)
    half = 0.005 - 0.0025 * seen.station
    assert np.allclose(found.largest, YOUNG * half * np.abs(seen.strain[..., 5]), rtol=1e-12)


@pytest.mark.parametrize(("name", "words"), [("macchelli_link", "no outline"), ("hand", "not a beam")])
def test_why_there_is_none(name: str, words: str) -> None:
    run = fake_trajectory(outputs=3)
    if name == "hand":
        found = run.stress("hand")
    else:
        found = link_stress(pl.load(pl.library.path(name)).links[0], run.link("upper"))
    assert words in found.reason
    assert np.isnan(found.largest).all()
    assert np.isnan(found.at).all()
