"""Structure and passivity: amounts and places of damage that was done on purpose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.errors import InvalidInput
from pliant.model.linear import LinearSystem, check_passivity, check_structure
from pliant.model.port import Causality
from tests.support.linear_systems import force_port, oscillator, random_system

PORTS = (force_port("hub"), force_port("tip", 2, Causality.FLOW_IN))


def test_sound_systems_hold_and_say_so() -> None:
    rng = np.random.default_rng(0)
    for mass in (False, True):
        report = check_structure(random_system(rng, 9, PORTS, mass=mass))
        assert report.holds, str(report)
        assert str(report).startswith("port-Hamiltonian (tolerance 1e-12)")
    assert check_structure(oscillator(2.0, 50.0, 0.3)).worst.amount == 0.0


def test_a_wrong_entry_of_J_is_found_with_its_size_and_place() -> None:
    sound = oscillator(2.0, 50.0, 0.3)
    J = sound.J.copy()
    J[0, 1] = -0.999
    report = check_structure(replace(sound, J=J))
    (finding,) = report.missed
    assert finding.demand == "J is skew"
    assert finding.amount == pytest.approx(1e-3)
    assert finding.place == "(momentum, stretch)"
    assert "J is skew: missed by 1.0e-03 at (momentum, stretch)" in str(report)


def test_a_negative_damper_is_found_whatever_the_units() -> None:
    for unit in (1.0, 1e-6):
        sound = random_system(np.random.default_rng(2), 5, PORTS, losses=8)
        change = np.diag([unit, 1.0, 1.0, 1.0, 1.0])
        R = change @ (sound.R - 2.0 * np.diag(np.eye(5)[0] * sound.R[0, 0])) @ change
        broken = replace(sound, J=change @ sound.J @ change, R=R, P=change @ sound.P, B=change @ sound.B)
        broken = replace(broken, Q=np.linalg.solve(change, np.linalg.solve(change, sound.Q.T).T))
        (finding,) = check_structure(broken).missed
        assert finding.demand == "[[R, P], [P^T, sym D]] is positive semidefinite"
        assert finding.place.startswith("x1")
        assert 0.1 < finding.amount < 1.0


def test_feedthrough_losses_without_a_place_in_R_are_found() -> None:
    sound = oscillator(2.0, 50.0, 0.0)
    (finding,) = check_structure(replace(sound, P=np.array([[0.1], [0.0]]))).missed
    assert finding.demand.startswith("[[R, P]")
    assert set(finding.place.split(", ")) == {"momentum", "mass.force"}
    assert finding.amount == pytest.approx(1.0)


def test_energies_that_are_not_energies_are_found() -> None:
    sound = oscillator(2.0, 50.0, 0.3)
    unstable = check_structure(replace(sound, Q=np.diag([0.5, -50.0])))
    assert [(each.demand, each.place) for each in unstable.missed] == [("Q^T E is positive semidefinite", "stretch")]
    crooked = check_structure(replace(sound, Q=np.array([[0.5, 1.0], [1.01, 50.0]])))
    (finding,) = crooked.missed
    # in units of sqrt(0.5 * 50) = 5 joule, next to a diagonal of one
    assert finding.demand == "Q^T E is symmetric"
    assert finding.amount == pytest.approx(0.01 / 5.0)


def resonance(gain: float, speed: float, ratio: float) -> LinearSystem:
    """1 / (s + 1) minus a narrow bump: gain 2 z w s / (s^2 + 2 z w s + w^2)."""
    A = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -(speed**2), -2.0 * ratio * speed]])
    B = np.array([[1.0], [0.0], [1.0]])
    C = np.array([[1.0, 0.0, -gain * 2.0 * ratio * speed]])
    return LinearSystem(A=A, B=B, C=C, inputs=("u",), outputs=("y",))


@pytest.mark.parametrize("ratio", [0.1, 1e-3, 1e-5])
def test_a_loss_of_passivity_in_a_narrow_band_is_measured(ratio: float) -> None:
    speed = 10.0
    lost = check_passivity(resonance(0.02, speed, ratio))
    at = resonance(0.02, speed, ratio).transfer(1j * speed)[0, 0]
    assert not lost.holds
    assert lost.frequency == pytest.approx(speed / (2.0 * np.pi), rel=2.0 * ratio)
    # the bump takes 0.02 where 1 / (s + 1) offers 1 / 101
    assert lost.amount >= (0.02 - 1.0 / 101.0) / abs(at) * 0.999
    assert str(lost).startswith("not passive, by ")
    assert check_passivity(resonance(0.9 / 101.0, speed, 1e-3)).holds


def test_port_hamiltonian_systems_are_passive() -> None:
    rng = np.random.default_rng(1)
    for losses in (0, 1, 4):
        for mass in (False, True):
            report = check_passivity(random_system(rng, 8, PORTS, losses=losses, mass=mass).state_space())
            assert report.holds, str(report)
    lossless = oscillator(2.0, 50.0, 0.0).state_space()
    assert str(check_passivity(lossless)) == "passive"


def test_a_lossless_system_with_the_wrong_sign_is_not_passive() -> None:
    """-s / (s^2 + 1) has no real part on the axis: only its residues tell."""
    sound = oscillator(1.0, 1.0, 0.0).state_space()
    wrong = replace(sound, C=-sound.C)
    assert check_passivity(wrong).amount > 0.5


def test_a_growing_pole_is_not_passive() -> None:
    report = check_passivity(oscillator(1.0, 1.0, -0.2).state_space())
    assert report.growth == pytest.approx(0.1)
    assert str(report) == "not passive: a pole grows with 0.1 1/s"


def test_passivity_needs_pairs() -> None:
    system = oscillator(1.0, 1.0, 0.0).state_space().between((), ("mass.velocity",))
    with pytest.raises(InvalidInput, match="0 inputs and 1 outputs do not pair to power"):
        check_passivity(system)
