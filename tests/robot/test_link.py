"""Links: rest shapes, variation along the axis and stations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import pliant.robot as r
from pliant.errors import InvalidInput

Array = NDArray[np.float64]
STEEL = r.Material(name="steel", young=210e9, density=7850, poisson=0.3)
STRIP = r.Rectangle(height=0.005, width=0.03)


def shape_of(link: r.FlexibleLink, steps: int = 2000) -> tuple[Array, Array]:
    """Positions and rotations along the rest shape, by exact steps of constant strain (midpoint)."""
    ends = np.linspace(0, link.length, steps + 1)
    width = link.length / steps
    position, rotation = np.zeros(3), np.eye(3)
    positions, rotations = [position], [rotation]
    for strain in link.rest_strain((ends[:-1] + ends[1:]) / 2):
        x, y, z = strain[3:] * width
        angle = math.hypot(x, y, z)
        hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        first = 0.5 if angle == 0 else (1 - math.cos(angle)) / angle**2
        second = 1 / 6 if angle == 0 else (angle - math.sin(angle)) / angle**3
        sine = 1.0 if angle == 0 else math.sin(angle) / angle
        position = position + rotation @ (np.eye(3) + first * hat + second * hat @ hat) @ strain[:3] * width
        rotation = rotation @ (np.eye(3) + sine * hat + first * hat @ hat)
        positions.append(position)
        rotations.append(rotation)
    return np.array(positions), np.array(rotations)


def link_with(rest_shape: r.RestShape, length: float = 2.0) -> r.FlexibleLink:
    return r.FlexibleLink("link", length, STRIP, STEEL, rest_shape=rest_shape)


def test_straight_is_the_default() -> None:
    link = r.FlexibleLink("link", 2.0, STRIP, STEEL)
    assert link.rest_shape == r.Straight()
    assert link.law == r.LinearLaw()
    assert np.array_equal(link.rest_strain([0, 1, 2]), np.tile([1, 0, 0, 0, 0, 0], (3, 1)))
    assert link.breakpoints == ()


@pytest.mark.parametrize("angle", [0.5, -math.pi, 2 * math.pi])
def test_arc_is_a_piece_of_a_circle(angle: float) -> None:
    length = 2.0
    radius = length / angle
    about_z, turns = shape_of(link_with(r.Arc(angle), length))
    expected = [radius * math.sin(angle), radius * (1 - math.cos(angle)), 0]
    assert about_z[-1] == pytest.approx(expected, abs=1e-12)
    assert turns[-1][:, 0] == pytest.approx([math.cos(angle), math.sin(angle), 0], abs=1e-12)
    about_y, _ = shape_of(link_with(r.Arc(angle, normal=r.Across.Y), length))
    expected = [radius * math.sin(angle), 0, -radius * (1 - math.cos(angle))]
    assert about_y[-1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pitch", [0.05, -0.05, 0.0])
def test_helix_winds_on_a_cylinder(pitch: float) -> None:
    radius, turns = 0.1, 3
    length = turns * math.hypot(2 * math.pi * radius, pitch)
    positions, _ = shape_of(link_with(r.Helix(radius, pitch), length))
    # The cylinder's axis passes through (0, radius, 0) and leans against the root tangent x by the slope.
    slope = math.atan2(pitch, 2 * math.pi * radius)
    along = np.array([math.sin(slope), 0, math.cos(slope)])
    offset = positions - np.array([0, radius, 0])
    distance = np.linalg.norm(offset - np.outer(offset @ along, along), axis=1)
    assert distance == pytest.approx(radius, abs=1e-9)
    assert positions[-1] @ along == pytest.approx(turns * pitch, abs=1e-9)


def test_strain_field_is_linear_between_stations_and_may_jump() -> None:
    bend = [0, 0, 0, 0, 0, 1.0]
    field = r.StrainField([0, 1, 1, 2], [[0] * 6, [0.1, 0, 0, 0, 0, 0], bend, bend])
    link = link_with(field)
    strains = link.rest_strain([0.5, np.nextafter(1, 0), 1, 1.5, 2])
    assert strains[:, 0] == pytest.approx([1.05, 1.1, 1, 1, 1])
    assert strains[:, 5] == pytest.approx([0, 0, 1, 1, 1])
    assert link.breakpoints == (1.0,)


def test_breakpoints_come_from_section_and_rest_shape() -> None:
    sections = r.Stations([0, 0.5, 0.5, 2], [STRIP, STRIP, r.Circle(0.01), r.Circle(0.01)])
    field = r.StrainField([0, 0.7, 2], np.zeros((3, 6)))
    link = r.FlexibleLink("link", 2, sections, STEEL, rest_shape=field)
    assert link.breakpoints == (0.5, 0.7)
    masses = link.inertia([0.2, 0.5, 2.0])[:, 0, 0] / STEEL.density
    assert masses == pytest.approx([1.5e-4, math.pi * 1e-4, math.pi * 1e-4])


@given(st.floats(0, 1), st.floats(1e-3, 1e-1), st.floats(1e-3, 1e-1))
def test_taper_is_linear_in_dimensions(fraction: float, root: float, tip: float) -> None:
    link = r.FlexibleLink("link", 2.0, r.Tapered(root=r.Circle(root), tip=r.Circle(tip)), STEEL)
    radius = (1 - fraction) * root + fraction * tip
    here = r.FlexibleLink("link", 2.0, r.Circle(radius), STEEL)
    assert link.stiffness(2.0 * fraction)[0] == pytest.approx(here.stiffness(0)[0], rel=1e-9)
    assert link.inertia(2.0 * fraction)[0] == pytest.approx(here.inertia(0)[0], rel=1e-9)


def test_stations_are_linear_in_matrices() -> None:
    soft, stiff = r.Circle(0.01), r.Circle(0.02)
    link = r.FlexibleLink("link", 2.0, r.Stations([0, 2], [soft, stiff]), STEEL)
    mean = 0.75 * soft.stiffness_of(STEEL) + 0.25 * stiff.stiffness_of(STEEL)
    assert link.stiffness(0.5)[0] == pytest.approx(mean)


def test_damping() -> None:
    rubber = r.Material(name="rubber", young=1e7, density=1100, poisson=0.5, damping=1e-3)
    link = r.FlexibleLink("link", 1.0, STRIP, rubber, viscous_damping=(1, 2, 3, 4, 5, 6))
    assert np.array_equal(link.material_damping([0, 1]), 1e-3 * link.stiffness([0, 1]))
    assert np.array_equal(link.viscous_damping_matrix([0, 1])[1], np.diag([1, 2, 3, 4, 5, 6]))


def test_stations_outside_the_link_are_refused() -> None:
    link = r.FlexibleLink("link", 2.0, STRIP, STEEL)
    expected = "FlexibleLink 'link': stations must lie between 0 and length = 2 m"
    for s in (-0.1, 2.1, np.nan, [[0.0]]):
        with pytest.raises(InvalidInput, match=expected):
            link.stiffness(s)
    assert link.stiffness(2.0 * (1 + 1e-12)).shape == (1, 6, 6)


def test_hardening_coefficients() -> None:
    law = r.HardeningLaw(cubic=(0, 0, 0, 0, 0, 5))
    assert law.quintic == (0.0,) * 6
    with pytest.raises(InvalidInput, match=r"cubic\[1\] = -1 N must be at least 0"):
        r.HardeningLaw(cubic=(0, -1, 0, 0, 0, 5))
