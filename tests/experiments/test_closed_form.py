"""The oracles agree with printed values and with each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pliant.experiments.closed_form import (
    PINNED,
    Rod,
    TimoshenkoBeam,
    joint_pd_poles,
    natural_frequencies,
    static_shape,
)
from tests.support.textbook import (
    bend_of_45_degrees,
    elastica_tip,
    euler_bernoulli_cantilever_frequencies,
    euler_bernoulli_cantilever_roots,
    roll_up_tip,
    shear_deformable_cantilever,
    spin_up_angle,
    spinning_extension,
    wave_frequencies,
)

# [wang2017] Table 1: 0.65 m x 30 mm x 5 mm, 7850 kg/m^3, E = 210 GPa, nu = 0.34, shear correction 5/6
AREA, INERTIA, SHEAR_MODULUS = 1.5e-4, 3.125e-10, 210e9 / 2.68
WANG = TimoshenkoBeam(0.65, 7850 * AREA, 7850 * INERTIA, 210e9 * INERTIA, 5 / 6 * SHEAR_MODULUS * AREA)
# [macchelli2007] Table I: compliances 0.005, mass 0.1 kg/m, rotary inertia 0.05 kg m, length 1 m
MACCHELLI = TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)


def test_wang_cantilever_frequencies_as_printed() -> None:
    printed = [9.8873, 61.9447, 173.3663, 339.4978, 560.7196]  # [wang2017] Table 2, exact column
    np.testing.assert_allclose(natural_frequencies(WANG, 5), printed, atol=5e-5, rtol=0)


def test_macchelli_link_frequencies() -> None:
    # an independent transfer-matrix computation with the data of [macchelli2007] Table I
    clamped = [9.82556, 17.35245, 34.16093, 46.91752, 57.0302]
    pinned = [14.17526, 29.13192, 36.71271, 54.65653]
    np.testing.assert_allclose(natural_frequencies(MACCHELLI, 5), clamped, atol=5.1e-6, rtol=0)
    np.testing.assert_allclose(natural_frequencies(MACCHELLI, 4, PINNED), pinned, atol=5.1e-6, rtol=0)


def test_macchelli_link_poles_under_joint_pd() -> None:
    # same source; gains of [macchelli2007] Sec. IV: 15 N m/rad, 3 N m s/rad
    poles = joint_pd_poles(MACCHELLI, 15.0, 3.0, 3)
    np.testing.assert_allclose(poles, [-5.9893, -42.3429, -8.3707 + 90.8121j], atol=6e-5, rtol=0)


def test_joint_pd_without_damping_interpolates_between_pinned_and_clamped() -> None:
    soft = joint_pd_poles(MACCHELLI, 1e-6, 0.0, 3)[1:].imag / (2 * math.pi)
    stiff = joint_pd_poles(MACCHELLI, 1e9, 0.0, 2).imag / (2 * math.pi)
    np.testing.assert_allclose(soft, natural_frequencies(MACCHELLI, 2, PINNED), rtol=1e-6)
    np.testing.assert_allclose(stiff, natural_frequencies(MACCHELLI, 2), rtol=1e-6)


def test_high_modes_are_found_and_none_is_missing() -> None:
    """At high frequency a Timoshenko beam carries two waves; each adds its modes at a constant rate."""
    frequencies = natural_frequencies(MACCHELLI, 20)
    assert np.all(np.diff(frequencies) > 0)
    # wave speeds sqrt(200/0.1) and sqrt(200/0.05): 2 L f (1/c1 + 1/c2) modes lie below f
    expected = 2.0 * frequencies[-1] * (math.sqrt(0.1 / 200.0) + math.sqrt(0.05 / 200.0))
    assert abs(expected - 20) < 1.5


def test_slender_beam_is_euler_bernoulli() -> None:
    slender = TimoshenkoBeam(2.0, 0.3, 0.3e-9, 5.0, 5e9)
    expected = euler_bernoulli_cantilever_frequencies(2.0, 0.3, 5.0, 6)
    np.testing.assert_allclose(natural_frequencies(slender, 6), expected, rtol=1e-6)


def test_euler_bernoulli_roots() -> None:
    # tabulated in [rao2007]
    np.testing.assert_allclose(
        euler_bernoulli_cantilever_roots(3), [1.8751041, 4.6940911, 7.8547574], atol=5.1e-8, rtol=0
    )


def test_waves_of_a_bar() -> None:
    np.testing.assert_allclose(wave_frequencies(2.0, 9.0, 1.0, 2), [3.0 / 8.0, 9.0 / 8.0])


# computed once by shooting with relative tolerance 1e-11; [mattiasson1981] agrees to its 5 digits
ELASTICA = {
    1.0: (0.0564332, 0.3017208, 0.4613519),
    2.0: (0.1606417, 0.4934575, 0.7817498),
    5.0: (0.3876284, 0.7137915, 1.2153681),
    10.0: (0.5549956, 0.8106090, 1.4302855),
}


@pytest.mark.parametrize("load", ELASTICA)
def test_elastica_as_tabulated(load: float) -> None:
    np.testing.assert_allclose(elastica_tip(load), ELASTICA[load], atol=6e-8, rtol=0)


@pytest.mark.parametrize("load", [0.01, 1.0, 10.0])
def test_elliptic_integrals_agree_with_shooting(load: float) -> None:
    """A rod a million times stiffer in extension and shear than in bending is inextensible."""
    shape = static_shape(Rod(1.0, (1e7, 1e7, 1e7, 1.0, 1.0, 1.0)), force=(0.0, load, 0.0))
    shortening, deflection, slope = elastica_tip(load)
    np.testing.assert_allclose(shape.tip, (1.0 - shortening, deflection, 0.0), atol=1e-6)
    assert math.atan2(shape.rotation[-1, 1, 0], shape.rotation[-1, 0, 0]) == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("turns", [0.25, 1.0, 2.0])
def test_roll_up_agrees_with_shooting(turns: float) -> None:
    moment = 2.0 * math.pi * turns * 3.0 / 2.0
    shape = static_shape(Rod(2.0, (1e5, 1e5, 1e5, 1.0, 1.0, 3.0)), moment=(0.0, 0.0, moment))
    np.testing.assert_allclose(shape.tip, (*roll_up_tip(2.0, moment, 3.0), 0.0), atol=1e-9)


def test_shear_deformable_cantilever() -> None:
    # independent shooting, relative tolerance 1e-11
    np.testing.assert_allclose(shear_deformable_cantilever(), (0.15097114, 0.71056860), atol=6e-9, rtol=0)


@pytest.mark.parametrize(
    ("load", "torsion_constant", "tip"),  # independent shooting, relative tolerance 1e-11
    [
        (300.0, 1 / 6, (58.77912, 22.24478, 40.19189)),
        (450.0, 1 / 6, (52.23856, 18.50818, 48.50293)),
        (600.0, 1 / 6, (47.15044, 15.68480, 53.47486)),
        (600.0, 0.141, (46.89677, 15.56033, 53.60486)),
    ],
)
def test_bend_of_45_degrees(load: float, torsion_constant: float, tip: tuple[float, float, float]) -> None:
    np.testing.assert_allclose(bend_of_45_degrees(load, torsion_constant), tip, atol=5.1e-6, rtol=0)


def test_follower_loads_turn_with_the_tip() -> None:
    rod = Rod(1.5, (500.0, 200.0, 300.0, 2.0, 3.0, 4.0), rest_curvature=(0.2, -0.1, 0.4))
    follower = static_shape(rod, follower_force=(0.3, 0.8, -0.5), follower_moment=(0.1, 0.2, 0.3))
    R = follower.rotation[-1]
    dead = static_shape(rod, force=R @ (0.3, 0.8, -0.5), moment=R @ (0.1, 0.2, 0.3))
    np.testing.assert_allclose(dead.position, follower.position, atol=1e-8)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-10)


def test_line_load_is_carried_by_the_root() -> None:
    rod = Rod(2.0, (1e5, 1e5, 1e5, 50.0, 60.0, 70.0))
    shape = static_shape(rod, load_per_length=(0.0, 0.0, -9.0))
    np.testing.assert_allclose(shape.root_force, (0.0, 0.0, -18.0), atol=1e-9)
    small = static_shape(rod, load_per_length=(0.0, 0.0, -9e-4))
    # q L^4 / 8 EI + q L^2 / 2 GA of linear theory
    assert small.tip[2] == pytest.approx(-9e-4 * (16 / (8 * 60.0) + 4 / (2 * 1e5)), rel=1e-6)


def test_strains_rebuild_the_load() -> None:
    rod = Rod(1.0, (100.0, 80.0, 90.0, 2.0, 3.0, 4.0))
    shape = static_shape(rod, force=(0.5, 0.2, -0.4), moment=(0.1, 0.0, 0.2))
    tip_wrench = np.array(rod.stiffness) * shape.strain[-1]
    R = shape.rotation[-1]
    np.testing.assert_allclose(R @ tip_wrench[:3], (0.5, 0.2, -0.4), atol=1e-8)
    np.testing.assert_allclose(R @ tip_wrench[3:], (0.1, 0.0, 0.2), atol=1e-8)


def test_spin_up() -> None:
    extension = spinning_extension(10.0, 1.2, 2.8e7, 6.0)
    assert extension.linear == pytest.approx(5.142857e-4, abs=5e-11)  # [simo1986]: rhoA w^2 L^3 / (3 EA)
    # stretched positions add the factor 1 + 2 x^2 / 5, x^2 = rhoA w^2 L^2 / EA, from the series of tan
    assert extension.exact / extension.linear == pytest.approx(1.0 + 0.4 * 1.2 * 36 * 100 / 2.8e7, rel=1e-8)
    np.testing.assert_allclose(spin_up_angle(15.0), spin_up_angle(15.0 + 1e-12), atol=1e-10)
    h = 1e-4
    ahead, behind, here = spin_up_angle(4.0 + h), spin_up_angle(4.0 - h), spin_up_angle(4.0)
    np.testing.assert_allclose((np.array(ahead) - behind)[:2] / (2 * h), here[1:], rtol=1e-7)
