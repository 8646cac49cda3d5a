"""Model reduction of systems with 300 states: structure, stability, bounds, what is kept exactly."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.analysis.reduction import Band, balanced_truncation, reduce_port_hamiltonian
from pliant.components.linear_interconnection import CommonFlow, Constraints, interconnect
from pliant.errors import InvalidInput
from pliant.model.linear import (
    LinearPort,
    LinearPortHamiltonian,
    check_passivity,
    check_structure,
    eliminate_constraints,
)
from tests.support.linear_systems import force_port, free_mass, oscillator, random_system

MASSES = 150


def chain(damping: float, *, held: bool = True, both_ends: bool = False) -> LinearPortHamiltonian:
    """Masses 1 kg and springs 1e4 N/m with dampers in parallel, pushed at the right; states momentum and stretch.

    Held at its left end, mode k has the frequency (1 / 2 pi) 200 sin((2 k - 1) pi / (4 n + 2)) Hz.
    """
    n = MASSES
    stretch = np.eye(n) - np.eye(n, k=-1)
    stretch = stretch if held else stretch[1:]
    m = len(stretch)
    J = np.block([[np.zeros((n, n)), -stretch.T], [stretch, np.zeros((m, m))]])
    R = np.zeros((n + m, n + m))
    R[:n, :n] = damping * stretch.T @ stretch
    Q = np.diag(np.concatenate([np.ones(n), 1e4 * np.ones(m)]))
    ends = (n - 1, 0) if both_ends else (n - 1,)
    ports = (force_port("right"), force_port("left"))[: len(ends)]
    return LinearPortHamiltonian(J=J, R=R, Q=Q, B=np.eye(n + m)[:, ends], ports=ports)


def frequencies(count: int) -> np.ndarray:
    return 200.0 * np.sin((2.0 * np.arange(1, count + 1) - 1.0) * np.pi / (4.0 * MASSES + 2.0)) / (2.0 * np.pi)


BAND = Band(0.02, frequencies(6)[4:].mean())  # holds the five lowest modes


@pytest.mark.parametrize("damping", [30.0, 1.0])
def test_fourteen_states_carry_five_modes_of_a_lightly_damped_chain(damping: float) -> None:
    full = chain(damping)
    reduced = reduce_port_hamiltonian(full, 14, BAND)
    assert check_structure(reduced.system).holds
    assert check_passivity(reduced.system.state_space()).holds
    assert np.all(reduced.system.poles.real < 0.0)
    # 145 modes are missing: at a resonance they count little, between resonances more
    assert reduced.error.of_peak < 1e-4
    assert reduced.error.typical < 2e-3
    speeds = np.sort(np.abs(reduced.system.poles.imag))[:10:2] / (2.0 * np.pi)
    assert np.allclose(speeds, frequencies(5), rtol=2e-4)


def test_more_states_bring_the_error_down_fast() -> None:
    """The left mass hardly moves: only its own small response needs states beyond those of the modes."""
    full = chain(30.0, both_ends=True)
    errors = [reduce_port_hamiltonian(full, order, BAND).error.worst for order in (12, 18, 24)]
    assert errors[0] < 0.3
    assert errors[1] < 1e-3
    assert errors[2] < 1e-6


def test_the_reported_error_is_the_error() -> None:
    full = chain(30.0)
    reduced = reduce_port_hamiltonian(full, 12, BAND)
    k = 40
    s = 2j * np.pi * reduced.error.frequency[k]
    G, small = full.transfer(s), reduced.system.transfer(s)
    assert reduced.error.relative[k] == pytest.approx(abs(G - small)[0, 0] / abs(G)[0, 0], rel=1e-6)
    assert reduced.error.of_peak < reduced.error.typical < reduced.error.worst == reduced.error.relative.max()


def test_an_undamped_chain_stays_undamped() -> None:
    full = chain(0.0)
    with pytest.raises(InvalidInput, match=r"undamped resonance at 0\.166112 Hz.*give Band a damping such as 0\.01"):
        reduce_port_hamiltonian(full, 10, BAND)
    band = Band(BAND.low, BAND.high, damping=0.01)
    reduced = reduce_port_hamiltonian(full, 14, band)
    assert not reduced.system.R.any()
    assert np.all(reduced.system.poles.real == 0.0)
    assert reduced.error.worst < 0.05


def test_rigid_motion_is_kept_exactly() -> None:
    """A free chain answers a force far below its modes as one body: velocity = f / (s m)."""
    full = chain(30.0, held=False)
    reduced = reduce_port_hamiltonian(full, 9, BAND)
    assert reduced.system.poles[0] == 0.0
    assert np.abs(reduced.system.poles[1]) > 0.1
    s = 1e-6j
    assert np.allclose(reduced.system.transfer(s) * s * MASSES, 1.0, rtol=1e-6)
    with pytest.raises(InvalidInput, match=r"order = 0 must lie between 1 \(rigid motions are kept\) and 299"):
        reduce_port_hamiltonian(full, 0, BAND)


def test_basis_gives_states_with_the_same_energy_and_constraints_are_met() -> None:
    parts = {"chain": chain(30.0), "load": oscillator(5.0, 100.0, 1.0), "tool": free_mass(2.0)}
    junction = CommonFlow(("chain.right", "load.mass", "tool.mass"), external="push")
    full = interconnect(parts, junction, constraints=Constraints.KEPT)
    reduced = reduce_port_hamiltonian(full, 12, BAND)
    assert reduced.system.port_names == ("push",)
    z = np.random.default_rng(0).standard_normal((3, 12))
    assert np.allclose(full.energy(z @ reduced.basis.T), reduced.system.energy(z), rtol=1e-10)
    velocities = (full.Q @ reduced.basis)[[full.states.index(f"{at}") for at in ("load.momentum", "tool.momentum")]]
    assert np.allclose(velocities[0], velocities[1], rtol=0.0, atol=1e-12)
    assert eliminate_constraints(full).index == 2


def test_states_without_energy_do_not_enter() -> None:
    base = chain(30.0)
    n = len(base.states)
    J = np.zeros((n + 1, n + 1))
    J[:n, :n], J[n, 0], J[0, n] = base.J, 1.0, -1.0
    Q, R = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    Q[:n, :n], R[:n, :n] = base.Q, base.R
    with_place = LinearPortHamiltonian(J=J, R=R, Q=Q, B=np.vstack([base.B, np.zeros((1, 1))]), ports=base.ports)
    assert len(with_place.poles) == n + 1
    small = reduce_port_hamiltonian(with_place, 10, BAND)
    s = 1j * np.linspace(1.0, 5.0, 7)
    assert np.allclose(small.system.transfer(s), reduce_port_hamiltonian(base, 10, BAND).system.transfer(s), rtol=1e-6)
    assert np.allclose(small.basis[n], 0.0, atol=1e-12)


def test_feedthrough_and_coupled_losses_survive() -> None:
    ports = (force_port("a"), LinearPort("b", "torque", "N m", "rate", "rad/s"))
    full = random_system(np.random.default_rng(2), 40, ports, losses=3, mass=True)
    for order in (7, 40):
        reduced = reduce_port_hamiltonian(full, order, Band(0.01, 10.0))
        assert check_structure(reduced.system).holds
        assert np.allclose(reduced.system.D, full.D, atol=1e-14)
    assert reduced.error.worst < 1e-10


@pytest.mark.parametrize("order", [6, 10, 20])
def test_balanced_truncation_keeps_its_bound(order: int) -> None:
    full = chain(30.0)
    for system in (full, full.state_space()):
        reduced = balanced_truncation(system, order, BAND)
        assert reduced.kept == 0
        assert reduced.error.error.max() <= reduced.bound
        assert reduced.bound == pytest.approx(2.0 * reduced.hankel[order:].sum())
        assert np.all(reduced.system.poles.real < 0.0)
        assert np.allclose(reduced.projection @ reduced.basis, np.eye(order), atol=1e-8)
    # no worse than a few times the best that is possible with this many states, the next Hankel singular value
    assert reduced.error.error.max() >= 0.1 * reduced.hankel[order]


def test_hankel_singular_values_of_two_masses_by_hand() -> None:
    """1 / (s + a) has one Hankel singular value, 1 / 2a; the scale is that of the largest response in the band."""
    rates = np.array([1.0, 3.0])
    full = LinearPortHamiltonian(
        J=np.zeros((2, 2)), R=np.diag(rates), Q=np.eye(2), B=np.eye(2), ports=(force_port("a"), force_port("b"))
    )
    band = Band(0.1, 1.0)
    reduced = balanced_truncation(full, 1, band)
    peak = 1.0 / np.abs(2j * np.pi * band.low + rates)
    assert np.allclose(reduced.hankel, np.sort(1.0 / (2.0 * rates) / peak)[::-1], rtol=1e-12)


def test_poles_on_the_axis_are_split_off_and_kept() -> None:
    free = chain(30.0, held=False)
    reduced = balanced_truncation(free, 11, BAND)
    assert reduced.kept == 1
    assert np.abs(reduced.system.poles[0]) < 1e-9
    # the residue of the pole at zero; the rest of the response adds a term of order s to it
    s = 1e-6j
    assert np.allclose(reduced.system.transfer(s) * s * MASSES, 1.0, rtol=1e-5)
    assert reduced.error.error.max() <= reduced.bound
    # a lossless resonance beside the chain
    parts = {"chain": chain(30.0), "clock": oscillator(2.0, 50.0, 0.0)}
    beside = balanced_truncation(interconnect(parts), 12, Band(0.02, 0.5))
    assert beside.kept == 2
    assert np.min(np.abs(beside.system.poles - 5.0j)) < 1e-10


def test_what_balanced_truncation_cannot_do_is_refused() -> None:
    band = Band(0.02, 1.0, damping=0.01)
    with pytest.raises(
        InvalidInput, match=r"between 300 \(poles on the imaginary axis are kept\).*reduce_port_hamiltonian"
    ):
        balanced_truncation(chain(0.0), 10, band)
    with pytest.raises(InvalidInput, match=r"a pole that grows with 0\.1 1/s"):
        balanced_truncation(oscillator(1.0, 1.0, -0.2), 1, Band(0.3, 1.0))
    with pytest.raises(InvalidInput, match=r"low = 2\.0 Hz and high = 1\.0 Hz must satisfy 0 < low < high"):
        Band(2.0, 1.0)
