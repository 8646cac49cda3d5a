"""Frequencies and mode shapes of Timoshenko beams: complete, exact, orthogonal, for every pair of ends."""

from __future__ import annotations

from itertools import product
from math import cos, cosh, inf, pi, sin, sinh, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import legendre
from scipy.linalg import eigvalsh

from pliant.experiments.closed_form import (
    CLAMPED,
    FREE,
    GUIDED,
    PINNED,
    BeamEnd,
    BeamMode,
    Motion,
    TimoshenkoBeam,
    body,
    hub,
    modes_below,
    natural_frequencies,
    natural_modes,
    rigid_motions,
)
from pliant.experiments.closed_form.timoshenko_beam import Ends, Waves
from tests.support.over import over
from tests.support.textbook import euler_bernoulli_cantilever_roots

# [wang2017] Table 1, as in test_closed_form
WANG = TimoshenkoBeam(0.65, 1.1775, 2.453125e-6, 65.625, 5 / 6 * 210e9 / 2.68 * 1.5e-4)
# [macchelli2007] Table I: so thick that its cut-off, 10.07 Hz, lies between its first two frequencies
THICK = TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)
THIN = TimoshenkoBeam(1.0, 1.0, 0.0, 1.0, inf)  # Euler-Bernoulli, in units of the beam

ENDS = {
    "clamped": CLAMPED,
    "pinned": PINNED,
    "guided": GUIDED,
    "free": FREE,
    "hub": hub(inertia=0.02, radius=0.1),
    "sprung hub": hub(inertia=0.02, radius=0.1, torsion_spring=40.0),
    "body": body(mass=0.3, inertia=0.004, offset=0.05),
    "sprung body": BeamEnd(Motion.FREE, Motion.FREE, 0.05, 0.3, 0.004, spring=500.0, torsion_spring=3.0),
}
PAIRS = list(product(ENDS, ENDS))


def galerkin_frequencies(beam: TimoshenkoBeam, root: BeamEnd, tip: BeamEnd, degree: int = 40) -> np.ndarray:
    """Frequencies in hertz, zeros first, by Legendre series for w and psi: an independent discretisation.

    It shares nothing with the waves; ends enter as energies and as a basis of admissible motions.
    """
    points, weights = legendre.leggauss(degree + 8)
    weights = 0.5 * beam.length * weights
    values = legendre.legvander(points, degree)
    slopes = np.stack([legendre.legval(points, legendre.legder(row)) for row in np.eye(degree + 1)], axis=1)
    slopes *= 2 / beam.length
    nothing = np.zeros_like(values)
    w, psi = np.hstack([values, nothing]), np.hstack([nothing, values])
    dw, dpsi = np.hstack([slopes, nothing]), np.hstack([nothing, slopes])

    def energy(field: np.ndarray, density: float) -> np.ndarray:
        return density * field.T @ (weights[:, None] * field)

    mass = energy(w, beam.mass_per_length) + energy(psi, beam.rotary_inertia_per_length)
    stiffness = energy(dw - psi, beam.shear_stiffness) + energy(dpsi, beam.bending_stiffness)
    constraints = []
    for end, at, arm in ((root, -1.0, -root.offset), (tip, 1.0, tip.offset)):
        value = legendre.legvander(np.array([at]), degree)[0]
        w_at, psi_at = np.concatenate([value, 0 * value]), np.concatenate([0 * value, value])
        for motion, row, inertia, spring in (
            (end.deflection, w_at + arm * psi_at, end.mass, end.spring),
            (end.rotation, psi_at, end.inertia, end.torsion_spring),
        ):
            if motion is Motion.HELD:
                constraints.append(row)
            mass = mass + inertia * np.outer(row, row)
            stiffness = stiffness + spring * np.outer(row, row)
    if constraints:
        basis = np.linalg.svd(np.array(constraints))[2][len(constraints) :].T
        mass, stiffness = basis.T @ mass @ basis, basis.T @ stiffness @ basis
    return np.sqrt(np.maximum(eigvalsh(stiffness, mass), 0.0)) / (2 * pi)


@over(*PAIRS)
def test_every_frequency_is_found_below_and_above_the_cut_off(root: str, tip: str) -> None:
    """A Galerkin model that converges spectrally has the same frequencies, as many, in the same order."""
    galerkin = galerkin_frequencies(THICK, ENDS[root], ENDS[tip])
    rigid = len(rigid_motions(THICK, ENDS[root], ENDS[tip]))
    exact = natural_frequencies(THICK, 12, ENDS[root], ENDS[tip])
    assert np.all(galerkin[:rigid] < 1e-3)
    np.testing.assert_allclose(exact, galerkin[rigid : rigid + 12], rtol=2e-9)
    assert np.sum(exact < THICK.cut_off) < 3 < np.sum(exact > THICK.cut_off)


def test_wang_frequencies_to_one_part_in_a_million() -> None:
    # f1..f8 of an independent computation with the data of [wang2017] Table 1
    known = [9.887293, 61.944730, 173.366256, 339.497752, 560.719583, 836.711314, 1167.131951, 1551.575661]
    np.testing.assert_allclose(natural_frequencies(WANG, 8), known, rtol=1e-6, atol=0)
    assert pytest.approx(318.02e3, abs=10) == WANG.cut_off  # same source


# Characteristic equations of Euler-Bernoulli beams in x = beta L [rao2007], written so that nothing overflows
TEXTBOOK = {
    ("clamped", "free"): lambda x: cos(x) + 1 / cosh(x),
    ("clamped", "clamped"): lambda x: cos(x) - 1 / cosh(x),
    ("free", "free"): lambda x: cos(x) - 1 / cosh(x),
    ("clamped", "pinned"): lambda x: sin(x) - cos(x) * np.tanh(x),
    ("pinned", "free"): lambda x: sin(x) - cos(x) * np.tanh(x),
    ("pinned", "pinned"): lambda x: sin(x),
    ("guided", "pinned"): lambda x: cos(x),
    ("guided", "guided"): lambda x: sin(x),
}


@pytest.mark.parametrize("pair", TEXTBOOK)
def test_euler_bernoulli_limit(pair: tuple[str, str]) -> None:
    """Without rotary inertia and shear the roots of textbooks come out to round-off, and of a slender beam nearly."""
    root, tip = ENDS[pair[0]], ENDS[pair[1]]
    x = np.sqrt(2 * pi * natural_frequencies(THIN, 30, root, tip))
    slopes = np.array([(TEXTBOOK[pair](a * (1 + 1e-6)) - TEXTBOOK[pair](a * (1 - 1e-6))) / 2e-6 for a in x])
    assert np.max(np.abs([TEXTBOOK[pair](a) for a in x] / slopes)) < 1e-14
    assert np.all(np.abs(np.diff(x) - pi) < 0.35)  # one root in every half wave
    slender = TimoshenkoBeam(1.0, 1.0, 1e-10, 1.0, 1e10)
    np.testing.assert_allclose(np.sqrt(2 * pi * natural_frequencies(slender, 30, root, tip)), x, rtol=1e-5)


def test_euler_bernoulli_with_a_body_at_the_tip() -> None:
    """1 + cos cosh + mu x (cos sinh - sin cosh) = 0 for a tip mass of mu times the beam [rao2007]."""
    mu = 0.7
    x = np.sqrt(2 * pi * natural_frequencies(THIN, 10, CLAMPED, body(mu)))
    for a in x:
        terms = 1 + cos(a) * cosh(a), mu * a * (cos(a) * sinh(a) - sin(a) * cosh(a))
        assert abs(sum(terms)) < 1e-13 * a * (cosh(a) + a * cosh(a))
    assert x[0] < euler_bernoulli_cantilever_roots(1)[0] < x[1]


def test_heavy_bodies_turn_the_beam_into_a_spring() -> None:
    # tip compliance L^3 / 3 EI + L / GA of a cantilever; a third of the beam's mass moves along at most
    stiffness = 1 / (THICK.length**3 / (3 * THICK.bending_stiffness) + THICK.length / THICK.shear_stiffness)
    mass = 1e7
    expected = sqrt(stiffness / mass) / (2 * pi)
    found = natural_frequencies(THICK, 1, CLAMPED, body(mass))[0]
    assert found == pytest.approx(expected, rel=1e-7)
    # a hub on a soft spring: the beam turns along like a rigid one
    inertia = 0.5 + THICK.mass_per_length * ((0.2 + 1) ** 3 - 0.2**3) / 3 + THICK.rotary_inertia_per_length
    found = natural_frequencies(THICK, 1, hub(0.5, 0.2, torsion_spring=1e-4))[0]
    assert found == pytest.approx(sqrt(1e-4 / inertia) / (2 * pi), rel=1e-5)


def test_bodies_beyond_round_off_are_refused() -> None:
    with pytest.raises(ValueError, match="so heavy, or springs so soft"):
        natural_frequencies(THICK, 1, CLAMPED, body(1e14))


def test_a_hub_between_nothing_and_infinity_is_pinned_and_clamped() -> None:
    pinned, clamped = natural_frequencies(THICK, 6, PINNED), natural_frequencies(THICK, 6)
    np.testing.assert_allclose(natural_frequencies(THICK, 6, hub(0.0)), pinned, rtol=1e-14)
    np.testing.assert_allclose(natural_frequencies(THICK, 6, hub(1e9)), clamped, rtol=1e-7)
    stiff = natural_frequencies(THICK, 6, hub(0.0, torsion_spring=1e12))
    np.testing.assert_allclose(stiff, clamped, rtol=1e-7)


@pytest.mark.parametrize(
    ("beam", "root", "tip"),
    [(WANG, "clamped", "free"), (THICK, "hub", "body"), (THIN, "free", "pinned"), (THICK, "clamped", "free")],
    ids=["steel", "thick on a hub", "Euler-Bernoulli", "thick"],
)
def test_high_modes_are_complete(beam: TimoshenkoBeam, root: str, tip: str) -> None:
    """Two hundred modes in rising order, as many as the count says, each a root of the end conditions."""
    ends = ENDS[root], ENDS[tip]
    frequencies = natural_frequencies(beam, 210, *ends)
    assert np.all(np.diff(frequencies) > 0)
    rigid = len(rigid_motions(beam, *ends))
    for k in (0, 1, 99, 199, 208):
        between = 0.5 * (frequencies[k] + frequencies[k + 1])
        assert modes_below(beam, between, *ends) == rigid + k + 1
    mode = natural_modes(beam, 200, *ends)[-1]
    for name, value in residuals(mode, beam, *ends).items():
        assert value < 1e-9, name


def test_density_of_high_modes() -> None:
    """Far above the cut-off both waves travel: 2 L f (sqrt(rhoA/GA) + sqrt(rhoI/EI)) modes lie below f."""
    frequency = 400 * THICK.cut_off
    expected = 2 * frequency * (sqrt(0.1 / 200) + sqrt(0.05 / 200))
    for root, tip in product((CLAMPED, PINNED, GUIDED, FREE), repeat=2):
        assert abs(modes_below(THICK, frequency, root, tip) - expected) <= 2.5


def test_pinned_beams_have_sines_on_both_branches_and_the_cut_off_itself() -> None:
    """With k = n pi / L the frequencies solve a quadratic; n = 0 on the fast branch is the cut-off."""
    A, J, EI, GA = 0.1, 0.05, 200.0, 200.0
    k2 = (np.arange(8) * pi) ** 2
    middle = 0.5 * ((EI * k2 + GA) / J + GA * k2 / A)
    spread = np.sqrt(middle**2 - EI * GA * k2**2 / (A * J))
    both = np.concatenate([middle[1:] - spread[1:], middle + spread])
    expected = np.sort(np.sqrt(both) / (2 * pi))[:8]
    np.testing.assert_allclose(natural_frequencies(THICK, 8, PINNED, PINNED), expected, rtol=1e-13)
    assert np.min(np.abs(expected - THICK.cut_off)) < 1e-12 * THICK.cut_off


def test_two_modes_of_one_frequency_are_both_found() -> None:
    """The length is chosen so that the first sine of a pinned beam has the frequency of the cut-off."""
    A, J, EI, GA = 0.1, 0.05, 200.0, 200.0
    # the travelling wave at the cut-off: k^2 = omega_c^2 (rhoI/EI + rhoA/GA)
    k = sqrt(GA / J * (J / EI + A / GA))
    double = TimoshenkoBeam(pi / k, A, J, EI, GA)
    modes = natural_modes(double, 3, PINNED, PINNED)
    np.testing.assert_allclose([mode.frequency for mode in modes[:2]], double.cut_off, rtol=1e-12)
    assert modes[2].frequency > 1.1 * double.cut_off
    np.testing.assert_allclose(gram(modes, double, PINNED, PINNED), np.eye(3), atol=1e-10)


@over(
    *(
        (offset, *pair)
        for offset in (-1e-3, -1e-8, -1e-13, 0.0, 1e-13, 1e-8, 1e-3)
        for pair in (("clamped", "free"), ("free", "body"), ("sprung hub", "pinned"))
    )
)
def test_waves_pass_through_the_cut_off(offset: float, root: str, tip: str) -> None:
    """Determinants of the end conditions change by no more than the frequency does."""
    ends = Ends(THICK, ENDS[root], ENDS[tip])
    at, near, far = (
        np.linalg.det(ends.conditions(Waves(THICK, 2j * pi * THICK.cut_off * factor))).real
        for factor in (1.0, 1.0 + offset, 1.1)
    )
    size = max(abs(at), abs(far))
    assert abs(near - at) <= 100 * size * abs(offset) + 1e-13 * size


@given(st.floats(1e-3, 1e6), st.floats(1e-6, 10.0), st.floats(1e-6, 10.0))
@settings(deadline=None, max_examples=200)
def test_waves_solve_the_equations_and_keep_their_orientation(omega: float, flexibility: float, inertia: float) -> None:
    """At any frequency and slenderness the columns obey w' = psi + Q/GA ... and their determinant is positive."""
    beam = TimoshenkoBeam(1.0, 1.0, inertia, 1.0, 1.0 / flexibility)
    waves = Waves(beam, 1j * omega)
    h = 1e-4 / max(waves.fastest, 1.0)
    z = 0.3 + h * np.arange(-2, 3)
    states = waves.states(z)
    slope = (8 * (states[3] - states[1]) - (states[4] - states[0])) / (12 * h)
    w, psi, Q, M = states[2]
    S = -(omega**2)
    expected = np.array([psi + flexibility * Q, M, S * w, -Q + inertia * S * psi])
    # where a wave passes through zero its slope is the size of its terms
    sizes = np.maximum(np.max(np.abs(states), axis=0) * max(waves.fastest, 1.0), np.abs(expected)).max(
        axis=1, keepdims=True
    )
    # differences of the fourth order, and the round-off of phases that grow with the wave number
    assert np.max(np.abs(slope - expected) / sizes) < 1e-10 * (1 + waves.fastest)
    if waves.fastest < 100:
        assert np.linalg.det(waves.states(np.array([0.5]))[0]).real > 0


def residuals(mode: BeamMode, beam: TimoshenkoBeam, root: BeamEnd, tip: BeamEnd) -> dict[str, float]:
    """How far a shape is from its end conditions, relative to its largest values.

    Rotations count beside deflections and moments: at the cut-off of a pinned beam there is nothing else.
    """
    z = np.linspace(0, beam.length, 801)  # with fewer stations the largest values can only be smaller
    scale = dict(zip(SHAPES, np.max(np.abs(mode._at(z)), axis=1), strict=True))
    found = {}
    for name, end, at, outward in (("root", root, 0.0, -1.0), ("tip", tip, beam.length, 1.0)):
        w, psi, Q, M = (float(getattr(mode, shape)(at)) for shape in SHAPES)
        arm = outward * end.offset
        y, force, moment = w + arm * psi, outward * Q, outward * M - arm * outward * Q
        omega2 = mode.angular_frequency**2
        force += (end.spring - end.mass * omega2) * y
        moment += (end.torsion_spring - end.inertia * omega2) * psi
        if end.deflection is Motion.HELD:
            found[f"{name} deflection"] = abs(y) / (scale["deflection"] + beam.length * scale["rotation"])
        else:
            size = scale["shear_force"] + end.mass * omega2 * scale["deflection"]
            found[f"{name} force"] = abs(force) / size
        if end.rotation is Motion.HELD:
            found[f"{name} rotation"] = abs(psi) / scale["rotation"]
        else:
            size = scale["bending_moment"] + beam.bending_stiffness / beam.length * scale["rotation"]
            size += abs(arm) * scale["shear_force"]
            found[f"{name} moment"] = abs(moment) / (size + end.inertia * omega2 * scale["rotation"])
    return found


SHAPES = ("deflection", "rotation", "shear_force", "bending_moment")


def gram(modes: tuple[BeamMode, ...], beam: TimoshenkoBeam, root: BeamEnd, tip: BeamEnd) -> np.ndarray:
    """Modal masses and their couplings by one Gauss rule over the whole length."""
    points, weights = legendre.leggauss(200)
    z, weights = 0.5 * beam.length * (1 + points), 0.5 * beam.length * weights
    w, psi = (np.array([getattr(mode, name)(z) for mode in modes]) for name in ("deflection", "rotation"))
    product = beam.mass_per_length * (w * weights) @ w.T + beam.rotary_inertia_per_length * (psi * weights) @ psi.T
    for end, at, arm in ((root, 0.0, -root.offset), (tip, beam.length, tip.offset)):
        turn = np.array([float(mode.rotation(at)) for mode in modes])
        point = np.array([float(mode.deflection(at)) for mode in modes]) + arm * turn
        product += end.mass * np.outer(point, point) + end.inertia * np.outer(turn, turn)
    return product


@over(*PAIRS)
def test_mode_shapes_are_orthonormal_and_meet_their_ends(root: str, tip: str) -> None:
    ends = ENDS[root], ENDS[tip]
    rigid, elastic = rigid_motions(THICK, *ends), natural_modes(THICK, 10, *ends)
    np.testing.assert_allclose(gram((*rigid, *elastic), THICK, *ends), np.eye(len(rigid) + 10), atol=1e-10)
    for mode in elastic:
        for name, value in residuals(mode, THICK, *ends).items():
            assert value < 1e-10, name


def test_potential_energy_of_a_mode_is_its_squared_frequency() -> None:
    points, weights = legendre.leggauss(120)
    z, weights = 0.5 * WANG.length * (1 + points), 0.5 * WANG.length * weights
    for mode in natural_modes(WANG, 8, ENDS["sprung hub"], ENDS["body"]):
        bending = mode.bending_moment(z) ** 2 / WANG.bending_stiffness
        energy = weights @ (bending + mode.shear_force(z) ** 2 / WANG.shear_stiffness)
        energy += 40.0 * float(mode.rotation(0.0)) ** 2
        assert energy == pytest.approx(mode.angular_frequency**2, rel=1e-10)


def test_rigid_motions() -> None:
    counted = {pair: len(rigid_motions(THICK, ENDS[pair[0]], ENDS[pair[1]])) for pair in PAIRS}
    assert counted["free", "body"] == 2
    assert {pair for pair, count in counted.items() if count == 1} >= {("hub", "free"), ("body", "pinned")}
    assert counted["clamped", "free"] == counted["sprung hub", "free"] == counted["pinned", "pinned"] == 0
    (turn,) = rigid_motions(WANG, hub(0.02, 0.1))
    z = np.linspace(0, WANG.length, 5)
    np.testing.assert_allclose(turn.deflection(z), turn.rotation(z) * (0.1 + z), rtol=1e-13)
    inertia = 0.02 + WANG.mass_per_length * (0.75**3 - 0.1**3) / 3 + WANG.rotary_inertia_per_length * WANG.length
    assert float(turn.rotation(0.0)) == pytest.approx(1 / sqrt(inertia), rel=1e-12)


@given(
    st.sampled_from(PAIRS), st.floats(-4, 1), st.floats(-6, 1), st.lists(st.floats(0.02, 0.98), min_size=3, max_size=3)
)
@settings(deadline=None, max_examples=60)
def test_the_count_agrees_with_galerkin_anywhere(
    pair: tuple[str, str], shear: float, rotary: float, where: list[float]
) -> None:
    """Over random slenderness the closed-form count between two frequencies is what a Galerkin model has."""
    beam = TimoshenkoBeam(1.0, 1.0, 10**rotary, 100.0, 100.0 / 10**shear)
    ends = ENDS[pair[0]], ENDS[pair[1]]
    reference = galerkin_frequencies(beam, *ends, degree=50)
    reference = np.where(reference < 1e-4, 0.0, reference)[:16]
    for share in where:
        k = int(share * 14)
        low, high = reference[k], reference[k + 1]
        if high - low > 1e-6 * high:
            assert modes_below(beam, low + 0.5 * (high - low), *ends) == k + 1


def test_dampers_and_wrong_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="the root of the beam has a damper"):
        natural_frequencies(THICK, 1, hub(0.1, torsion_damper=1.0))
    with pytest.raises(ValueError, match="mass of a beam end is -1"):
        body(-1.0)
    with pytest.raises(ValueError, match="offset of a beam end is inf m"):
        hub(0.1, inf)
    with pytest.raises(ValueError, match="length of a beam is 0"):
        TimoshenkoBeam(0.0, 1.0, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match="shear_stiffness of a beam is nan N"):
        TimoshenkoBeam(1.0, 1.0, 1.0, 1.0, float("nan"))
    with pytest.raises(ValueError, match="rotary_inertia_per_length of a beam is -1"):
        TimoshenkoBeam(1.0, 1.0, -1.0, 1.0, 1.0)
