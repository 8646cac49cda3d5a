"""Sections: closed forms, limits and laws that hold for all dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pliant.robot as r
from pliant.errors import InvalidInput
from pliant.robot.section import Shape, cowper_tube

LENGTHS = st.floats(1e-4, 10.0)
FACTORS = st.floats(0.1, 10.0)
STEEL = r.Material(name="steel", young=210e9, density=7850, poisson=0.3, damping=2e-4)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    kind = draw(st.sampled_from(["rectangle", "circle", "tube"]))
    size = draw(LENGTHS)
    if kind == "rectangle":
        return r.Rectangle(height=size, width=draw(LENGTHS))
    if kind == "circle":
        return r.Circle(radius=size)
    return r.Tube(outer_radius=size, inner_radius=size * draw(st.floats(0.0, 0.99)))


def test_torsion_constant_of_a_square() -> None:
    # Saint-Venant's exact value, 0.140577 a^4.
    assert r.Rectangle(1, 1).torsion_constant == pytest.approx(0.140577, abs=5e-7)


@pytest.mark.parametrize(("ratio", "k1"), [(1.5, 0.196), (2, 0.229), (3, 0.263), (5, 0.291), (10, 0.312)])
def test_torsion_constants_of_the_textbook(ratio: float, k1: float) -> None:
    # Timoshenko and Goodier, Theory of Elasticity, torsion of a rectangular bar: J = k1 (2a)^3 (2b).
    assert r.Rectangle(1, ratio).torsion_constant == pytest.approx(k1 * ratio, rel=2.5e-3)


def test_torsion_constant_of_a_thin_strip() -> None:
    # Thin limit: J = b t^3 / 3 (1 - 0.630249 t / b), where 0.630249 = 192 / pi^5 * sum over odd n of n^-5.
    thickness, width = 1e-3, 1.0
    expected = width * thickness**3 / 3 * (1 - 0.630249 * thickness / width)
    assert r.Rectangle(thickness, width).torsion_constant == pytest.approx(expected, rel=1e-9)


@given(LENGTHS, LENGTHS, FACTORS)
def test_torsion_constant_laws(height: float, width: float, factor: float) -> None:
    constant = r.Rectangle(height, width).torsion_constant
    assert constant == r.Rectangle(width, height).torsion_constant
    assert r.Rectangle(height * factor, width * factor).torsion_constant == pytest.approx(
        factor**4 * constant, rel=1e-9
    )
    section = r.Rectangle(height, width)
    assert 0 < constant < section.moment_y + section.moment_z


@given(shapes())
def test_matrices_of_shapes(shape: Shape) -> None:
    stiffness, inertia = shape.stiffness_of(STEEL), shape.inertia_of(STEEL)
    for matrix in (stiffness, inertia):
        assert np.array_equal(matrix, np.diag(np.diag(matrix)))
        assert np.all(np.diag(matrix) > 0)
    assert stiffness[0, 0] / inertia[0, 0] == pytest.approx(STEEL.young / STEEL.density)
    assert inertia[3, 3] == pytest.approx(inertia[4, 4] + inertia[5, 5])
    assert np.array_equal(shape.damping_of(STEEL), STEEL.damping * stiffness)
    # No solid figure is stiffer in torsion than a circle of its area (Saint-Venant),
    # and none than its polar moment.
    disc = r.Circle(math.sqrt(shape.area / math.pi)).torsion_constant
    assert shape.torsion_constant <= disc * (1 + 1e-12) or isinstance(shape, r.Tube)
    assert shape.torsion_constant <= (shape.moment_y + shape.moment_z) * (1 + 1e-12)


@given(LENGTHS, st.floats(0.0, 0.999))
def test_tube_is_the_difference_of_two_circles(outer: float, ratio: float) -> None:
    tube, full = r.Tube(outer, ratio * outer), r.Circle(outer)
    hole = (math.pi * (ratio * outer) ** 2, math.pi * (ratio * outer) ** 4 / 4)
    assert tube.area == pytest.approx(full.area - hole[0])
    assert tube.moment_y == pytest.approx(full.moment_y - hole[1])


def test_shear_factors_of_cowper() -> None:
    # Cowper 1966: circle 6 (1 + nu) / (7 + 6 nu); thin round tube 2 (1 + nu) / (4 + 3 nu).
    assert cowper_tube(0.0, 0.3) == pytest.approx(6 * 1.3 / 8.8)
    assert cowper_tube(1.0, 0.3) == pytest.approx(2 * 1.3 / 4.9)
    assert r.Circle(0.1).shear_correction(0.3) == cowper_tube(0.0, 0.3)
    assert r.Circle(0.1, shear_factor=0.9).shear_correction(0.3) == 0.9


def test_strip_of_wang2017() -> None:
    # Constants worked out from Table 1 of [wang2017]: EI = 65.625 N m^2, kappa G A = 9.794776e6 N,
    # 1.1775 kg/m, 2.453125e-6 kg m.
    steel = r.Material(name="steel", young=210e9, density=7850, poisson=0.34)
    strip = r.Rectangle(height=0.005, width=0.03)
    assert strip.stiffness_of(steel)[5, 5] == pytest.approx(65.625, rel=1e-12)
    assert strip.stiffness_of(steel)[1, 1] == pytest.approx(9.794776e6, rel=1e-7)
    assert strip.inertia_of(steel)[1, 1] == pytest.approx(1.1775, rel=1e-12)
    assert strip.inertia_of(steel)[5, 5] == pytest.approx(2.453125e-6, rel=1e-12)


def test_shear_modulus_or_poisson_ratio() -> None:
    by_ratio = r.Material(name="a", young=2.6, density=1, poisson=0.3)
    by_modulus = r.Material(name="a", young=2.6, density=1, shear=1.0)
    assert by_ratio.shear_modulus == pytest.approx(1.0)
    assert by_modulus.poisson_ratio == pytest.approx(0.3)


def test_general_section_keeps_coupling_and_damping() -> None:
    stiffness = np.diag([4.0, 2, 2, 1, 3, 3])
    stiffness[0, 4] = stiffness[4, 0] = 0.5
    section = r.GeneralSection(stiffness, np.eye(6), damping=0.1)
    assert np.array_equal(section.stiffness_of(None), stiffness)
    assert np.array_equal(section.damping_of(None), 0.1 * stiffness)
    given_matrix = r.GeneralSection(stiffness, np.eye(6), damping=np.diag([0, 0, 0, 0, 0, 0.2]))
    assert np.array_equal(given_matrix.damping_of(None), np.diag([0, 0, 0, 0, 0, 0.2]))
    with pytest.raises(InvalidInput, match="damping = -1 s must be at least 0"):
        r.GeneralSection(stiffness, np.eye(6), damping=-1)
