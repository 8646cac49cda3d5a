"""What polynomials of links hardly resolve."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import legendre

import pliant as pl
from pliant.structures.collocation.bending import unresolved


@pytest.mark.parametrize(("degree", "elements"), [(3, 1), (5, 2), (8, 1)])
def test_the_highest_parts_of_the_curvature_are_found(degree: int, elements: int) -> None:
    """A curvature k P_n(x) along an element of length L, with the Legendre polynomial of degree n, gives k L^2."""
    arm = pl.GeometricallyExact(degree, elements).compile(pl.load(pl.library.path("steel_strip")))
    length = float(arm.chain.mesh.length[0])
    for part, kept in ((degree - 1, True), (degree - 2, True), (degree - 3, False)):
        states = np.stack([arm.undeformed(np.zeros((1, 1)))[0]] * 3)
        wave = legendre.Legendre.basis(part)(2.0 * arm.points.strain_points - 1.0)
        strain = np.zeros((3, elements, degree, 6))
        strain[1, -1, :, 5] = 0.7 * wave
        states[:, arm.layout.slices["strain"]] = strain.reshape(3, -1)
        assert unresolved(arm, states) == pytest.approx(0.7 * length**2 if kept else 0.0, abs=1e-12)
