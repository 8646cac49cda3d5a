"""Condensed stations against the closed forms of two massless beams, and their derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.konno1996.two_station_arm import frequencies
from tests.support.lumped_arms import ADAM, BENDING, WITH_TORSION, clamped, condensed, two_stations

ELBOWS = (0.0, 45.0, 90.0, 120.0)
# f1 in hertz from Table 1 of [konno1996] by the closed forms; in the plane, across it with rigid torsion, and with G J
# = E I / 1.3
PRINTED = {
    0.0: (2.28096, 2.28096, 2.28096),
    45.0: (2.4039, 2.5801, 2.3670),
    90.0: (2.8028, 3.5357, 2.6964),
    120.0: (3.2241, 4.2716, 3.1209),
}


@pytest.mark.parametrize("elbow", ELBOWS)
@pytest.mark.parametrize("torsion", [False, True], ids=["rigid", "tube"])
def test_frequencies_are_those_of_the_closed_forms(elbow: float, torsion: bool) -> None:
    q = np.radians(elbow)
    exact = replace(ADAM, inner_torsion=ADAM.inner_bending / 1.3) if torsion else ADAM
    expected = np.sort(np.concatenate([frequencies(*exact.in_plane(q)), frequencies(*exact.out_of_plane(q))]))
    arm = condensed(two_stations(q), WITH_TORSION if torsion else BENDING)
    found = pl.modes(clamped(arm)).frequency
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("elbow", ELBOWS)
def test_turns_that_stay_coordinates_without_mass_follow_statically(elbow: float) -> None:
    """The linearised motion needs no inertia where there is a stiffness: the same frequencies without condensation."""
    q = np.radians(elbow)
    exact = replace(ADAM, inner_torsion=ADAM.inner_bending / 1.3)
    expected = np.sort(np.concatenate([frequencies(*exact.in_plane(q)), frequencies(*exact.out_of_plane(q))]))
    arm = pl.Lumped(pl.lumped.Fields(1, WITH_TORSION), pl.lumped.Beam.EULER_BERNOULLI).compile(two_stations(q))
    found = pl.modes(clamped(arm), count=4).frequency
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("elbow", ELBOWS)
def test_closed_forms_give_the_printed_frequencies(elbow: float) -> None:
    q = np.radians(elbow)
    tube = replace(ADAM, inner_torsion=ADAM.inner_bending / 1.3)
    first = [frequencies(*each)[0] for each in (ADAM.in_plane(q), ADAM.out_of_plane(q), tube.out_of_plane(q))]
    np.testing.assert_allclose(first, PRINTED[elbow], atol=6e-5)


def test_the_stretched_stiffness() -> None:
    """K = F^-1 in N/m, from elbow and tip displacements; ours are relative, tip = elbow + own."""
    stiffness = np.linalg.inv(ADAM.in_plane(0.0)[0])
    np.testing.assert_allclose(stiffness, [[19128.105, -4851.882], [-4851.882, 1940.753]], atol=1e-3)
    blocks = condensed(two_stations(0.0)).blocks()
    assert blocks.e == ("upper.field[0].dy", "upper.field[0].dz", "lower.field[0].dy", "lower.field[0].dz")
    relative = np.array([[1.0, 0.0], [1.0, 1.0]])
    own = blocks.K[np.ix_([0, 2], [0, 2])]
    np.testing.assert_allclose(own, relative.T @ stiffness @ relative, rtol=1e-9)


@pytest.mark.bounds
def test_forces_of_condensed_fields_are_the_gradient_of_their_energy() -> None:
    """At a bent elbow between bent fields, against differences of fourth order."""
    arm = condensed(two_stations(0.9), WITH_TORSION)
    system = arm.bare
    q = np.array([0.4, 0.01, -0.02, 0.9, 0.03, 0.015])
    h = 1e-3

    def slope(i: int) -> float:
        at = [system.elastic_energy(q + step * h * np.eye(6)[i]) for step in (-2, -1, 1, 2)]
        return (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * h)

    def force(place: np.ndarray) -> np.ndarray:
        """Nothing but fields acts."""
        return system.forces(place, np.zeros(6), np.zeros((6, 3)), np.zeros((0, 6))).total

    np.testing.assert_allclose(force(q), [-slope(i) for i in range(6)], rtol=1e-8, atol=1e-9)
    assert abs(force(q)[3]) > 0.1
    K = system.elastic_stiffness(q)
    steps = [h * np.eye(6)[i] for i in range(6)]
    numeric = np.array(
        [(8.0 * (force(q - s) - force(q + s)) - force(q - 2.0 * s) + force(q + 2.0 * s)) / (12.0 * h) for s in steps]
    )
    np.testing.assert_allclose(K, K.T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(K, numeric, rtol=1e-7, atol=1e-5)
