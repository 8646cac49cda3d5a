"""The seven-joint arm of the library with ten states: stable, port-Hamiltonian, close to the full one in its band."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.model.linear import LinearPortHamiltonian

BAND = pl.linear.Band(low=0.1, high=20.0)  # holds the four lowest modes, 2.2 to 4.9 Hz; the next one is at 115 Hz


@pytest.fixture(scope="module")
def whole() -> LinearPortHamiltonian:
    """Joints under PD, links bent by gravity."""
    model = pl.PoseElement(elements=8).compile(pl.load(pl.library.path("seven_joint_two_flexible")))
    posture = [0.5 * np.pi if name == "joint_4" else 0.0 for name in model.joint_names]
    held = pl.connect(model, pl.JointPD([pl.motions.Hold(angle) for angle in posture], stiffness=2e3, damping=20.0))
    return pl.linear.port_hamiltonian(held, pl.equilibrium(held).state)


@pytest.fixture(scope="module")
def arm(whole: LinearPortHamiltonian) -> LinearPortHamiltonian:
    """Seen at the shoulder's pitch and at the hand, along the forearm."""
    return whole.with_ports("joint_2", "hand.tip[0]")


def test_ten_states_of_a_seven_joint_arm(arm: LinearPortHamiltonian) -> None:
    assert len(arm.states) > 200
    reduced = pl.linear.reduce_port_hamiltonian(arm, 10, BAND)
    small = reduced.system
    assert len(small.states) == 10
    assert pl.linear.check_structure(small).holds
    assert pl.linear.check_passivity(small.state_space()).holds
    assert np.all(small.poles.real < 0.0)
    # measured: 9e-5 of the response at every frequency of the band, 5e-5 of its peak
    assert reduced.error.worst < 5e-4
    assert reduced.error.of_peak < 2e-4
    # in this band the two ports see the modes in the plane of the arm
    frequency = np.sort(np.abs(small.poles[small.poles.imag > 0.0]))[:2]
    full = np.abs(arm.poles[arm.poles.imag > 0.0])
    assert all(np.min(np.abs(full / each - 1.0)) < 1e-4 for each in frequency)


def test_energy_and_response_in_between_are_those_of_the_arm(arm: LinearPortHamiltonian) -> None:
    reduced = pl.linear.reduce_port_hamiltonian(arm, 10, BAND)
    z = np.random.default_rng(0).standard_normal((4, 10))
    assert np.allclose(arm.energy(z @ reduced.basis.T), reduced.system.energy(z), rtol=1e-8)
    # at frequencies that were not compared
    s = 2j * np.pi * np.array([0.37, 2.9, 7.7, 18.3])
    full, small = arm.transfer(s), reduced.system.transfer(s)
    for row in range(2):
        for column in range(2):
            channel = full[:, row, column]
            assert np.max(np.abs(small[:, row, column] - channel)) < 1e-3 * np.max(np.abs(channel))


def test_the_error_falls_with_the_order(arm: LinearPortHamiltonian) -> None:
    errors = [pl.linear.reduce_port_hamiltonian(arm, order, BAND).error.worst for order in (8, 10, 12, 14)]
    assert all(later < 0.3 * earlier for earlier, later in pairwise(errors))


@pytest.mark.parametrize(
    ("ports", "order", "error"),  # measured: 2.0e-4, 1.2e-4, 3.3e-6
    [
        (("joint_1", "joint_2"), 14, 5e-4),
        (("hand.tip[0]", "hand.tip[1]", "hand.tip[2]"), 20, 5e-4),
        (tuple(f"joint_{k}" for k in range(1, 8)), 30, 1e-5),
    ],
)
def test_more_ports_need_more_states(
    whole: LinearPortHamiltonian, ports: tuple[str, ...], order: int, error: float
) -> None:
    seen = whole.with_ports(*ports)
    reduced = pl.linear.reduce_port_hamiltonian(seen, order, BAND)
    assert reduced.error.worst < error
    assert pl.linear.check_structure(reduced.system).holds
    assert np.all(reduced.system.poles.real < 0.0)
    # what ten states cannot do is said by the error, but stays stable
    few = pl.linear.reduce_port_hamiltonian(seen, 10, BAND)
    assert few.error.worst > 0.05
    assert np.all(few.system.poles.real < 0.0)
