"""The discrete link against the tables and the claims of [wang2017]."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.closed_form import TimoshenkoBeam, natural_frequencies
from pliant.experiments.wang2017.beam import structure_matrix
from pliant.formulations.pseudo_spectral import (
    GaussPoints,
    GivenPoints,
    UniformPoints,
    VelocityAt,
    link_system,
    planar_link,
)
from pliant.formulations.pseudo_spectral.link import PLANAR_COUPLING, SPATIAL_COUPLING, Points, nodal_spaces
from pliant.mechanics.shape_functions import Spaces, orthonormal_spaces
from pliant.model.linear import LinearPortHamiltonian
from tests.support.beam import DISCRETE, EXACT, HALF_A_PRINTED_DIGIT, IRREGULAR, SETS, beam, frequencies
from tests.support.over import over

DEGREES = (1, 2, 3, 5, 6, 7, 12)
# Relative error of the fifth frequency by degree, from the reference values of this beam, two digits each.
FIFTH = {8: 4.4e-2, 10: 1.6e-3, 12: 2.3e-5, 14: 1.5e-7, 16: 5e-10}
# |G| from the rate at the root to that at the tip, from the exact transfer function.
TRANSFER = {1: 1.015972, 5: 1.532708, 20: 1.167443, 40: 1.263685, 100: 1.052217, 300: 1.629642}


def skewness(matrix: np.ndarray) -> float:
    return float(np.abs(matrix + matrix.T).max() / np.abs(matrix).max())


def partial_integration_error(spaces: Spaces) -> float:
    """How far the tables miss integration by parts, relative to their own size."""
    left = spaces.M @ spaces.D + spaces.D.T @ spaces.M.T
    right = np.outer(spaces.w_L, spaces.w_L) - np.outer(spaces.w_0, spaces.w_0)
    return float(np.abs(left - right).max() / max(np.abs(right).max(), np.abs(spaces.M @ spaces.D).max()))


@over(*product(DEGREES, SETS))
def test_integration_by_parts_is_exact(degree: int, points: Points) -> None:
    assert partial_integration_error(nodal_spaces(degree, points, 0.65)) < 1e-12
    assert partial_integration_error(orthonormal_spaces(degree, 0.65)) < 1e-14


@over(*product(DEGREES, SETS, VelocityAt))
def test_the_corrected_structure_matrix_is_skew(degree: int, points: Points, end: VelocityAt) -> None:
    """The demand is 1e-12; both off-diagonal blocks come from inverses of their own."""
    spaces = nodal_spaces(degree, points, 0.65)
    for coupling in (PLANAR_COUPLING, SPATIAL_COUPLING):
        assert skewness(structure_matrix(spaces, coupling, end)) < 1e-12


def test_the_printed_sign_is_wrong() -> None:
    """With the minus that (34) prints before w_L the matrix is not skew at all."""
    matrix = structure_matrix(nodal_spaces(6, GaussPoints(), 0.65), PLANAR_COUPLING)
    printed = matrix.copy()
    printed[-2:] *= -1.0
    assert skewness(matrix) < 1e-12 < 1e-3 < skewness(printed)


@over(*product(DEGREES, VelocityAt, [planar_link, link_system]))
def test_the_link_is_the_structure_matrix(
    degree: int, end: VelocityAt, system: Callable[..., LinearPortHamiltonian]
) -> None:
    """J, B and D of the link, made from one half of (34), are those of the whole matrix."""
    link = system(beam(), degree, GaussPoints(), end)
    coupling = PLANAR_COUPLING if system is planar_link else SPATIAL_COUPLING
    whole = -structure_matrix(nodal_spaces(degree, GaussPoints(), 0.65), coupling, end)
    c = len(coupling)
    half = (degree + 1) * c
    x = np.concatenate([np.arange(degree * c), half + np.arange(degree * c)])
    u = np.concatenate([degree * c + np.arange(c), half + degree * c + np.arange(c)])
    size = np.abs(whole).max()
    assert np.abs(link.J - whole[np.ix_(x, x)]).max() < 1e-13 * size
    assert np.abs(link.B - whole[np.ix_(x, u)]).max() < 1e-13 * size
    # outputs are read with the other sign than rates: f = -x' in (33)
    assert np.abs(link.D + whole[np.ix_(u, u)]).max() < 1e-13 * size


@over(*product(DEGREES))
def test_feedthrough_changes_sign_with_parity(degree: int) -> None:
    """D_I = -(-1)^N; the paper's rigid-body reading of it fits even N only."""
    D = planar_link(beam(), degree).D
    assert np.abs(D[:2, :2]).max() == 0.0
    assert np.abs(D[2:, 2:]).max() == 0.0
    assert D[:2, 2:] == pytest.approx(-((-1.0) ** degree) * np.eye(2), abs=1e-11)
    assert D[2:, :2] == pytest.approx(-D[:2, 2:].T, abs=0.0)


@pytest.mark.parametrize("degree", DISCRETE)
@pytest.mark.parametrize("points", [UniformPoints(), GaussPoints()], ids=lambda p: type(p).__name__)
def test_table_2_discrete(degree: int, points: Points) -> None:
    link = planar_link(beam(), degree, points)
    assert frequencies(link.J @ link.Q)[:5] == pytest.approx(DISCRETE[degree], abs=HALF_A_PRINTED_DIGIT)


def test_table_2_exact() -> None:
    """The fifth column: what the discrete ones tend to."""
    link = planar_link(beam(), 20)
    assert frequencies(link.J @ link.Q)[:5] == pytest.approx(EXACT, abs=HALF_A_PRINTED_DIGIT)


@pytest.mark.parametrize("degree", [6, 7, 12])
def test_the_spectrum_does_not_depend_on_points_or_causality(degree: int) -> None:
    """Demanded to 1e-8; cantilevers look the same from both ends."""
    reference = frequencies(_dynamics(degree, GaussPoints(), VelocityAt.ROOT))
    others = [*SETS, *([IRREGULAR[degree]] if degree in IRREGULAR else [])]
    for points in others:
        for end in VelocityAt:
            assert frequencies(_dynamics(degree, points, end)) == pytest.approx(reference, rel=1e-8)


@over(*product([5, 6, 12], SETS))
def test_no_numerical_damping(degree: int, points: Points) -> None:
    poles = np.linalg.eigvals(_dynamics(degree, points, VelocityAt.ROOT))
    assert np.abs(poles.real).max() < 1e-10 * np.abs(poles.imag).max()


def _dynamics(degree: int, points: Points, end: VelocityAt) -> np.ndarray:
    link = planar_link(beam(), degree, points, end)
    return link.J @ link.Q


@pytest.mark.parametrize("degree", FIFTH)
def test_the_fifth_frequency_converges_spectrally(degree: int) -> None:
    """The known error of each degree, to the two digits that are known of it; eigenvalues of the stiff matrix
    are good to 1e-10 of this frequency, which adds to the smallest."""
    link = planar_link(beam(), degree)
    exact = _exact(5)[4]
    error = abs(frequencies(link.J @ link.Q)[4] / exact - 1.0)
    assert error == pytest.approx(FIFTH[degree], rel=0.06, abs=1.5e-10)


def _exact(count: int) -> np.ndarray:
    own = beam()
    K, mass = own.stiffness(0.0)[0], own.inertia(0.0)[0]
    exact = TimoshenkoBeam(own.length, mass[1, 1], mass[5, 5], K[5, 5], K[1, 1])
    return np.asarray(natural_frequencies(exact, count))


@over(*product(TRANSFER))
def test_transfer_from_root_to_tip(hertz: int) -> None:
    """Fig. 6: rotation rate at the tip per rotation rate at the root, |G| to 1e-6."""
    gain = planar_link(beam(), 12).transfer(2j * np.pi * hertz)
    assert abs(gain[3, 1]) == pytest.approx(TRANSFER[hertz], rel=1e-6)


def test_transfer_near_the_end_of_the_band() -> None:
    """At 500 Hz degree 12 is off by 5e-5: 1.407733 instead of 1.407803."""
    gain = planar_link(beam(), 12).transfer(2j * np.pi * 500.0)
    assert abs(gain[3, 1]) == pytest.approx(1.407733, rel=1e-6)
    finer = planar_link(beam(), 16).transfer(2j * np.pi * 500.0)
    assert abs(finer[3, 1]) == pytest.approx(1.407803, rel=1e-6)


def test_six_components_fall_apart_into_known_rods() -> None:
    """Bending in both planes by the planar link, torsion and extension by the waves of a clamped-free rod."""
    own = beam()
    K, mass = own.stiffness(0.0)[0].diagonal(), own.inertia(0.0)[0].diagonal()
    whole = link_system(own, 12)
    found = frequencies(whole.J @ whole.Q)
    flat = planar_link(own, 12)
    side = planar_link(beam(section=pl.Rectangle(height=0.03, width=0.005, shear_factor=5 / 6)), 12)
    for part in (flat, side):
        for value in frequencies(part.J @ part.Q)[:6]:
            assert np.abs(found / value - 1.0).min() < 1e-8
    for component in (0, 3):
        speed = np.sqrt(K[component] / mass[component])
        for k in range(3):
            exact = (2 * k + 1) * speed / (4 * own.length)
            assert np.abs(found / exact - 1.0).min() < 1e-9


def test_coupled_sections_and_varying_ones() -> None:
    """A coupling of twist and bending keeps the structure; the planar link refuses it in a sentence."""
    K = np.diag([1e4, 4e3, 4e3, 4.0, 6.0, 5.0])
    K[3, 5] = K[5, 3] = 1.5
    coupled = pl.FlexibleLink(
        name="bar",
        length=1.0,
        section=pl.GeneralSection(stiffness=K.tolist(), inertia=(0.3, 0.3, 0.3, 3e-4, 1e-4, 2e-4)),
    )
    link = link_system(coupled, 8)
    poles = np.linalg.eigvals(link.J @ link.Q)
    assert np.abs(poles.real).max() < 1e-10 * np.abs(poles.imag).max()
    with pytest.raises(pl.InvalidInput, match="link 'bar': its section couples bending in the plane"):
        planar_link(coupled, 8)


def test_damping_is_passive_and_kelvin_voigt_exact() -> None:
    """With a time constant tau every pole is the root of s^2 + tau w^2 s + w^2: proportional damping."""
    tau = 1e-5
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.34, damping=tau)
    damped, plain = planar_link(beam(material=steel), 8), planar_link(beam(), 8)
    assert np.linalg.eigvalsh(damped.dissipation)[0] > -1e-9 * np.abs(damped.dissipation).max()
    poles = np.linalg.eigvals((damped.J - damped.R) @ damped.Q)
    for hertz in frequencies(plain.J @ plain.Q)[:4]:
        w = 2 * np.pi * hertz
        expected = complex(-0.5 * tau * w**2, w * np.sqrt(1 - (0.5 * tau * w) ** 2))
        assert np.abs(poles - expected).min() < 1e-7 * w
    viscous = planar_link(beam(viscous_damping=(0.0, 2.0, 0.0, 0.0, 0.0, 0.0)), 8)
    assert np.linalg.eigvals((viscous.J - viscous.R) @ viscous.Q).real.max() < 0.0


@pytest.mark.parametrize("end", VelocityAt)
def test_power_balance_with_damping(end: VelocityAt) -> None:
    """H' = u^T y - losses for random states and inputs."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.34, damping=1e-5)
    link = link_system(beam(material=steel, viscous_damping=(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)), 5, None, end)
    rng = np.random.default_rng(7)
    root = np.linalg.cholesky(np.linalg.inv(link.Q))
    for _ in range(20):
        x, u = root @ rng.normal(size=len(link.J)), rng.normal(size=12)
        effort = link.Q @ x
        rate = (link.J - link.R) @ effort + (link.B - link.P) @ u
        y = (link.B + link.P).T @ effort + link.D @ u
        terms = np.array([effort @ rate, -(u @ y), float(link.power_lost(x, u))])
        assert abs(terms.sum()) < 1e-12 * np.abs(effort * rate).sum()


def test_what_is_not_linear_is_refused() -> None:
    with pytest.raises(pl.InvalidInput, match=r"rest shape .* is not straight.*use GeometricallyExact"):
        planar_link(beam(rest_shape=pl.rest_shapes.Arc(angle=0.3)), 6)
    with pytest.raises(pl.InvalidInput, match="law HardeningLaw is not linear"):
        planar_link(beam(law=pl.sections.HardeningLaw(cubic=(0.0,) * 5 + (1.0,))), 6)
    with pytest.raises(pl.InvalidInput, match="3 are given for states, but the degree is 6"):
        planar_link(beam(), 6, GivenPoints((0.0, 0.3, 0.6, 1.0), (0.1, 0.5, 0.9)))
