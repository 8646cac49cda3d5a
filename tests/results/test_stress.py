"""Surface stress against closed forms of beam theory."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.results.stress import SurfaceStress, link_stress, surface_stress
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


ROD = pl.Circle(radius=0.008)
# Timoshenko and Goodier, Theory of Elasticity, section 109: T = k1 G theta (2a)^3 2b and tau = k G theta 2a, b/a = 2
RECTANGLE_2_TO_1 = 0.930 / 0.229


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda each: type(each).__name__)
def test_a_twisted_rod_has_shear_on_its_surface(formulation: pl.GeometricallyExact) -> None:
    """tau = T r / J of a circle, J = pi r^4 / 2; with F across it, 4/3 F / A more on one side and less on the other."""
    robot, torque = cantilever(ROD), 0.7
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, FORCE, 0.0, torque, 0.0, 0.0)))
    model = pl.connect(formulation.compile(robot), push)
    found = surface_stress(robot, model.observe(pl.equilibrium(model).state[None]).links[0])
    twist, across = torque * 2 / (np.pi * 0.008**3), 4 / 3 * FORCE / (np.pi * 0.008**2)
    expected = {"+y": twist, "-y": twist, "+z": twist - across, "-z": twist + across}
    for name, value in expected.items():
        assert np.allclose(found.shear_at(name)[0], value, rtol=1e-4), name
    bent = FORCE * LENGTH * 0.008 / ROD.moment_z  # at the root, where y meets the outline
    assert found.von_mises[0, 0] == pytest.approx(np.hypot(bent, np.sqrt(3.0) * twist), rel=1e-4)


@pytest.mark.parametrize(("height", "width", "strong"), [(0.01, 0.02, "+y"), (0.02, 0.01, "+z")])
def test_a_rectangle_is_sheared_most_at_the_middle_of_its_long_sides(height: float, width: float, strong: str) -> None:
    wrench = (0.0, 0.0, 0.0, 2.0, 0.0, 0.0)
    found = stress_of(pl.Rectangle(height=height, width=width), wrench)
    expected = RECTANGLE_2_TO_1 * 2.0 / (0.01**2 * 0.02)
    assert found.shear_at(strong)[0, 0] == pytest.approx(expected, rel=2e-3)  # three digits are printed
    assert found.von_mises[0, 0] == pytest.approx(np.sqrt(3.0) * found.shear_at(strong)[0, 0], rel=1e-12)


def test_the_sides_of_a_square_are_sheared_alike() -> None:
    """T / (0.208 a^3) of Timoshenko and Goodier; both series are different sums for the same number."""
    found = stress_of(pl.Rectangle(height=0.01, width=0.01), (0.0, 0.0, 0.0, 2.0, 0.0, 0.0))
    assert found.shear_at("+y")[0, 0] == pytest.approx(2.0 / (0.208 * 0.01**3), rel=2e-3)
    assert found.shear_at("+y")[0, 0] == pytest.approx(found.shear_at("+z")[0, 0], rel=1e-4)


@pytest.mark.parametrize(
    ("section", "part"),
    [(BAR, 1.5), (ROD, 4 / 3), (pl.Tube(outer_radius=0.01, inner_radius=0.00999), 2.0)],
    ids=["rectangle", "circle", "thin tube"],
)
def test_shear_force_acts_most_at_half_the_height(section: pl.Rectangle, part: float) -> None:
    """V Q / (I b): 3/2, 4/3 and 2 times the mean, along V on both sides."""
    found = stress_of(section, (0.0, 5.0, 3.0, 0.0, 0.0, 0.0))
    mean = 1.0 / section.area
    for name, force in (("+z", -5.0), ("-z", 5.0), ("+y", 3.0), ("-y", -3.0)):
        assert found.shear_at(name)[0, 0] == pytest.approx(part * mean * force, rel=2e-3 if part == 2.0 else 1e-12)


def test_bending_and_torsion_of_a_shaft_meet_where_bending_is_largest() -> None:
    """Bent about an oblique axis: sqrt(sigma^2 + 3 tau^2) with sigma = M r / I, tau = T r / J."""
    found = stress_of(ROD, (0.0, 0.0, 0.0, 2.0, 3.0, 4.0))
    sigma, tau = 5.0 * 0.008 / ROD.moment_z, 2.0 * 0.008 / (2.0 * ROD.moment_z)
    assert found.von_mises[0, 0] == pytest.approx(np.hypot(sigma, np.sqrt(3.0) * tau), rel=1e-12)


def stress_of(section: pl.Rectangle | pl.Circle | pl.Tube, wrench: tuple[float, ...]) -> SurfaceStress:
    """Of a link that carries a section wrench, with the strains that belong to it."""
    link = pl.FlexibleLink("upper", 1.0, section, ALUMINIUM)
    seen = fake_trajectory(outputs=3).link("upper")
    carried = np.broadcast_to(wrench, seen.wrench.shape)
    strain = carried @ np.linalg.inv(section.stiffness_of(ALUMINIUM)).T
    return link_stress(link, type(seen)(seen.name, seen.station, seen.position, seen.rotation, strain, carried))


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
