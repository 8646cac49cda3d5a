"""Transfer functions of Timoshenko beams: known values, statics, reciprocity, poles and their residues."""

from __future__ import annotations

from itertools import product
from math import inf, pi

import numpy as np
import pytest

from pliant.experiments.closed_form import (
    CLAMPED,
    FREE,
    GUIDED,
    PINNED,
    BeamEnd,
    BeamMode,
    EndSignal,
    Motion,
    TimoshenkoBeam,
    body,
    forced_response,
    hub,
    natural_modes,
    rigid_motions,
    transfer_function,
)
from tests.support.over import over

WANG = TimoshenkoBeam(0.65, 1.1775, 2.453125e-6, 65.625, 5 / 6 * 210e9 / 2.68 * 1.5e-4)
THICK = TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)

ENDS = {
    "clamped": CLAMPED,
    "pinned": PINNED,
    "guided": GUIDED,
    "free": FREE,
    "hub": hub(inertia=0.02, radius=0.1, torsion_spring=40.0),
    "body": body(mass=0.3, inertia=0.004, offset=0.05),
}
PAIRS = list(product(ENDS, ENDS))
DAMPED_LOW_AND_ABOVE_CUT_OFF = (3.0 + 40.0j, 2j * pi * 9.0, 2j * pi * 250.0)
RATES = list(EndSignal)[:4]
EFFORTS = list(EndSignal)[4:]


def ports(root: BeamEnd, tip: BeamEnd) -> list[tuple[EndSignal, EndSignal]]:
    """At each of the four coordinates: what can be imposed, and what answers."""
    motions = (root.deflection, root.rotation, tip.deflection, tip.rotation)
    return [
        (rate, effort) if motion is Motion.HELD else (effort, rate)
        for motion, rate, effort in zip(motions, RATES, EFFORTS, strict=True)
    ]


def matrix(beam: TimoshenkoBeam, s: complex, root: BeamEnd, tip: BeamEnd) -> np.ndarray:
    """Answers (rows) to imposed signals (columns) at all four coordinates."""
    pairs = ports(root, tip)
    columns = []
    for imposed, _ in pairs:
        response = forced_response(beam, imposed, s, root, tip)
        columns.append([response.at_ends(answer) for _, answer in pairs])
    return np.array(columns).T


def test_values_of_the_rotation_of_the_tip_per_rotation_of_the_root() -> None:
    # an independent computation with the data of [wang2017] Table 1; six decimals were printed
    known = {1: 1.015972, 5: 1.532708, 20: 1.167443, 40: 1.263685, 100: 1.052217, 300: 1.629642, 500: 1.407803}
    s = 2j * pi * np.array(list(known), float)
    found = transfer_function(WANG, EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_ROTATION_RATE, s)
    np.testing.assert_allclose(np.abs(found), list(known.values()), atol=1e-6, rtol=0)


def test_a_slow_force_meets_the_static_compliance() -> None:
    """L^3 / 3 EI + L / GA in deflection, L^2 / 2 EI in rotation; a moment meets L / EI."""
    L, EI, GA = THICK.length, THICK.bending_stiffness, THICK.shear_stiffness
    s = np.array([1e-4j])
    signal = EndSignal
    for imposed, seen, compliance in (
        (signal.TIP_FORCE, signal.TIP_DEFLECTION_RATE, L**3 / (3 * EI) + L / GA),
        (signal.TIP_FORCE, signal.TIP_ROTATION_RATE, L**2 / (2 * EI)),
        (signal.TIP_MOMENT, signal.TIP_DEFLECTION_RATE, L**2 / (2 * EI)),
        (signal.TIP_MOMENT, signal.TIP_ROTATION_RATE, L / EI),
    ):
        found = transfer_function(THICK, imposed, seen, s) / s
        np.testing.assert_allclose(found, compliance, rtol=1e-9)
    # the wall answers with the opposite of the load
    reaction = transfer_function(THICK, signal.TIP_FORCE, signal.ROOT_FORCE, s)
    np.testing.assert_allclose(reaction, -1.0, rtol=1e-9)
    np.testing.assert_allclose(transfer_function(THICK, signal.TIP_FORCE, signal.ROOT_MOMENT, s), -L, rtol=1e-9)


def test_at_rest_a_turned_root_turns_the_whole_beam() -> None:
    still = np.array([0j])
    turned = transfer_function(WANG, EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_ROTATION_RATE, still)
    moved = transfer_function(WANG, EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_DEFLECTION_RATE, still)
    np.testing.assert_allclose([turned[0], moved[0]], [1.0, WANG.length], rtol=1e-14)


@over(*((s, *pair) for s in DAMPED_LOW_AND_ABOVE_CUT_OFF for pair in PAIRS))
def test_reciprocity(s: complex, root: str, tip: str) -> None:
    """Efforts answer rates symmetrically, rates answer efforts symmetrically, mixed ones with opposite sign."""
    ends = ENDS[root], ENDS[tip]
    G = matrix(THICK, s, *ends)
    held = np.array([imposed.is_rate for imposed, _ in ports(*ends)])
    sign = np.where(held[:, None] == held[None, :], 1.0, -1.0)
    np.testing.assert_allclose(G, sign * G.T, rtol=1e-9, atol=1e-11 * np.max(np.abs(G)))


@over(*PAIRS)
def test_the_beam_is_passive(root: str, tip: str) -> None:
    """The power taken in by growing motions is positive, on the imaginary axis none is lost."""
    ends = ENDS[root], ENDS[tip]
    growing = matrix(THICK, 20.0 + 111.0j, *ends)
    assert np.min(np.linalg.eigvalsh(growing + growing.conj().T)) > 0.0
    steady = matrix(THICK, 111.0j, *ends)
    np.testing.assert_allclose(steady + steady.conj().T, 0.0, atol=1e-9 * np.max(np.abs(steady)))


def test_dampers_take_power() -> None:
    damped = hub(inertia=0.02, radius=0.1, torsion_damper=0.5)
    G = matrix(THICK, 111.0j, damped, FREE)
    assert np.max(np.linalg.eigvalsh(G + G.conj().T)) > 1e-3
    assert np.min(np.linalg.eigvalsh(G + G.conj().T)) > -1e-10 * np.max(np.abs(G))


def participation(mode: BeamMode, beam: TimoshenkoBeam, root: BeamEnd, tip: BeamEnd) -> np.ndarray:
    """How a mode meets the four ports: motion of free coordinates, reaction over frequency of held ones."""
    found = []
    for end, at, outward in ((root, 0.0, -1.0), (tip, beam.length, 1.0)):
        w, psi, Q, M = (
            float(shape(at)) for shape in (mode.deflection, mode.rotation, mode.shear_force, mode.bending_moment)
        )
        arm = outward * end.offset
        force, moment = outward * Q, outward * M - arm * outward * Q
        for motion, moved, effort in ((end.deflection, w + arm * psi, force), (end.rotation, psi, moment)):
            found.append(moved if motion is Motion.FREE else effort / (1j * mode.angular_frequency))
    return np.array(found)


@over(*PAIRS)
def test_residues_are_those_of_the_mode_shapes(root: str, tip: str) -> None:
    """Near its pole i omega the matrix is participation times participation over 2 (s - i omega)."""
    ends = ENDS[root], ENDS[tip]
    modes = natural_modes(THICK, 7, *ends)
    frequencies = np.array([mode.frequency for mode in modes])
    for k in (0, 2, 5):
        mode = modes[k]
        pole = 1j * mode.angular_frequency
        violation = np.min(np.abs(np.delete(frequencies, k) - frequencies[k]))
        radius = 0.3 * min(2 * pi * violation, mode.angular_frequency)
        # the next pole lies at 1 / 0.3 of the radius: what the sum leaves out is 0.3^20 of its residue
        circle = radius * np.exp(2j * pi * (np.arange(20) + 0.5) / 20)
        residue = np.mean([shift * matrix(THICK, pole + shift, *ends) for shift in circle], axis=0)
        share = participation(mode, THICK, *ends)
        held = np.array([imposed.is_rate for imposed, _ in ports(*ends)])
        # an imposed rate drives a mode by its reaction with the opposite sign
        expected = 0.5 * np.outer(share, np.where(held, -share, share))
        np.testing.assert_allclose(residue, expected, rtol=1e-8, atol=1e-9 * np.max(np.abs(expected)))


def test_modal_sum_converges_to_the_transfer_function() -> None:
    ends = hub(inertia=0.02, radius=0.1), body(mass=0.3, inertia=0.004)
    s = 30.0j
    exact = transfer_function(THICK, EndSignal.ROOT_MOMENT, EndSignal.ROOT_ROTATION_RATE, np.array([s]), *ends)[0]
    total = 0j
    for mode in (*rigid_motions(THICK, *ends), *natural_modes(THICK, 60, *ends)):
        total += s * float(mode.rotation(0.0)) ** 2 / (s * s + mode.angular_frequency**2)
    assert total == pytest.approx(exact, rel=1e-5)


def test_fields_agree_with_the_ends() -> None:
    s = 2j * pi * 75.0
    response = forced_response(WANG, EndSignal.ROOT_ROTATION_RATE, s)
    L = WANG.length
    np.testing.assert_allclose(response.rotation_rate(0.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(response.deflection_rate(np.array([0.0])), 0.0, atol=1e-14)
    np.testing.assert_allclose(response.rotation_rate(L), response.at_ends(EndSignal.TIP_ROTATION_RATE), rtol=1e-12)
    np.testing.assert_allclose(response.bending_moment(0.0), -response.at_ends(EndSignal.ROOT_MOMENT), rtol=1e-12)
    np.testing.assert_allclose(response.shear_force(0.0), -response.at_ends(EndSignal.ROOT_FORCE), rtol=1e-12)
    largest = np.max(np.abs(response.shear_force(np.linspace(0, L, 50))))
    assert abs(response.shear_force(L)) < 1e-12 * largest


def test_euler_bernoulli_compliance_at_its_driving_point() -> None:
    """For w = cosh, sinh, cos, sin of x = beta L the tip compliance is (cosh sin - sinh cos) / (x^3 (1 + cosh cos))."""
    thin = TimoshenkoBeam(1.0, 1.0, 0.0, 1.0, inf)
    x = np.array([0.3, 1.0, 2.6, 5.0, 9.0])
    s = 1j * x**2
    found = transfer_function(thin, EndSignal.TIP_FORCE, EndSignal.TIP_DEFLECTION_RATE, s) / s
    expected = (np.cosh(x) * np.sin(x) - np.sinh(x) * np.cos(x)) / (x**3 * (1 + np.cosh(x) * np.cos(x)))
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_high_frequencies_do_not_overflow() -> None:
    s = 2j * pi * np.geomspace(1e-3, 1e9, 200)
    for imposed, seen in product((EndSignal.ROOT_ROTATION_RATE, EndSignal.TIP_FORCE), EndSignal):
        found = transfer_function(WANG, imposed, seen, s)
        assert np.all(np.isfinite(found))


def test_what_an_end_decides_cannot_be_imposed() -> None:
    with pytest.raises(
        ValueError, match=r"the moment on the root cannot be imposed .* holds .*; impose the rate there"
    ):
        forced_response(WANG, EndSignal.ROOT_MOMENT, 1j)
    with pytest.raises(ValueError, match=r"the deflection rate of the tip cannot .* free; impose the effort there"):
        forced_response(WANG, EndSignal.TIP_DEFLECTION_RATE, 1j)
