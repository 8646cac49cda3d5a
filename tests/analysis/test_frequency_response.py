"""Resonances and antiresonances against closed forms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import pliant as pl

M1, M2, M3, K, C = 2.0, 0.5, 1.0, 800.0, 0.4


def two_masses(damping: float) -> pl.linear.LinearSystem:
    """Two masses on a spring and a damper, a third on a spring of its own that nothing moves."""
    A = np.zeros((6, 6))
    A[:3, 3:] = np.eye(3)
    stiffness = np.array([[K, -K, 0.0], [-K, K, 0.0], [0.0, 0.0, 300.0]])
    drag = damping * np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    mass = np.diag([M1, M2, M3])
    A[3:] = -np.linalg.solve(mass, np.hstack([stiffness, drag]))
    B = np.zeros((6, 1))
    B[3] = 1.0 / M1
    return pl.linear.LinearSystem(A=A, B=B, C=np.eye(6)[[3, 1]], inputs=("push",), outputs=("near", "far"))


@pytest.mark.parametrize("damping", [0.0, C])
def test_two_masses_resonate_against_each_other_and_one_stands_still(damping: float) -> None:
    """Poles of the reduced mass M1 M2 / (M1 + M2); the driven mass stands while the other swings alone."""
    response = pl.frequency_response(two_masses(damping), "push", "near", np.geomspace(0.1, 100.0, 50))
    (peak,), (dent,) = response.resonances, response.antiresonances
    reduced = M1 * M2 / (M1 + M2)
    for found, mass in ((peak, reduced), (dent, M2)):
        assert found.frequency == pytest.approx(np.sqrt(K / mass) / (2 * np.pi), rel=1e-9)
        assert found.damping_ratio == pytest.approx(damping / (2 * np.sqrt(K * mass)), rel=1e-6)
    if damping:
        at = pl.frequency_response(two_masses(damping), "push", "near", [peak.frequency, dent.frequency])
        assert (peak.level, dent.level) == pytest.approx(tuple(at.magnitude))
    else:
        assert (peak.level, dent.level) == (np.inf, 0.0)


def test_the_far_mass_has_no_antiresonance() -> None:
    response = pl.frequency_response(two_masses(0.0), "push", "far", np.geomspace(0.1, 100.0, 50))
    assert len(response.resonances) == 1
    assert response.antiresonances == ()


def test_zeros_of_a_beam_on_a_hub_are_the_frequencies_of_a_cantilever() -> None:
    """The torque that turns the hub vanishes where the clamped beam swings by itself: cos(b) cosh(b) = -1."""
    robot = pl.load(pl.library.path("wang_beam"))
    arm = pl.GeometricallyExact(degree=6).compile(robot)
    beam = robot.links[0]
    stiffness, mass = beam.stiffness([0.0])[0, 5, 5], beam.inertia([0.0])[0, 0, 0]
    expected = np.array([1.8751041, 4.6940911]) ** 2 * np.sqrt(stiffness / mass) / (2 * np.pi * beam.length**2)
    torque_to_rate = pl.frequency_response(arm, "hub", "hub", np.geomspace(1.0, 100.0, 10))
    found = [each.frequency for each in torque_to_rate.antiresonances]
    # shear and rotary inertia, which the closed form leaves out, lower them by some 1e-4
    assert found == pytest.approx(expected, rel=1e-3)
    # with the hub held in a given motion the same frequencies are poles
    moved = pl.frequency_response(arm, "hub.position", "tip.displacement[1]", np.geomspace(1.0, 100.0, 10))
    assert [each.frequency for each in moved.resonances] == pytest.approx(found, rel=1e-8)


def test_frequencies_that_the_mesh_does_not_resolve_are_marked() -> None:
    """The fifth mode of the clamped strip lies at 143.56 Hz; polynomials of degree 5 have it at 207 Hz."""
    arm = pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("steel_strip")))
    held = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)))
    asked = "strip.tip.wrench[1]", "tip.displacement[1]"
    with pytest.warns(
        pl.PliantWarning, match=r"up to 200 Hz are asked for, but the mesh resolves motions up to 73.1 Hz"
    ):
        response = pl.frequency_response(held, *asked, [10.0, 50.0, 143.6, 200.0])
    assert response.resolved.tolist() == [True, True, False, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pl.frequency_response(held, *asked, [10.0, 50.0]).resolved.all()
        fine = pl.connect(pl.GeometricallyExact(degree=12).compile(arm.robot), *held.components)
        better = pl.frequency_response(fine, *asked, [10.0, 50.0, 143.6, 200.0])
    assert np.allclose(better.gain[:2], response.gain[:2], rtol=0.02)
    assert abs(better.gain[2]) > 50.0 * abs(response.gain[2])
