"""Linear port-Hamiltonian systems: names, energy, power balance, explicit form."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InvalidInput
from pliant.model.linear import LinearPort, LinearPortHamiltonian
from pliant.model.port import Causality
from tests.support.linear_systems import force_port, oscillator, random_system

PORTS = (force_port("hub"), force_port("tip", 2, Causality.FLOW_IN))


def test_power_through_ports_is_growth_of_energy_plus_loss() -> None:
    rng = np.random.default_rng(5)
    for mass in (False, True):
        system = random_system(rng, 9, PORTS, mass=mass)
        plain = system.state_space()
        x, u = rng.standard_normal((4, 9)), rng.standard_normal((4, 3))
        rate = np.linalg.solve(system.E, (x @ plain.A.T + u @ plain.B.T).T).T
        y = x @ plain.C.T + u @ plain.D.T
        # dH along the motion, by the exact difference of a quadratic form
        step = 1e-3
        growth = (system.energy(x + step * rate) - system.energy(x - step * rate)) / (2.0 * step)
        lost = system.power_lost(x, u)
        assert np.allclose(growth + lost, np.sum(u * y, axis=1), rtol=1e-11, atol=1e-10)
        assert np.all(lost > 0.0)


def test_explicit_form_keeps_energy_structure_and_response() -> None:
    rng = np.random.default_rng(6)
    system = random_system(rng, 8, PORTS, mass=True)
    plain = system.explicit
    assert np.array_equal(plain.E, np.eye(8))
    x = rng.standard_normal((3, 8))
    assert np.allclose(plain.energy(x), system.energy(x), rtol=1e-12)
    assert np.array_equal(plain.J, -plain.J.T)
    assert np.allclose(plain.transfer(0.4j), system.transfer(0.4j), rtol=1e-10)
    assert plain.explicit is plain


def test_inputs_are_what_the_causality_of_a_port_says() -> None:
    system = random_system(np.random.default_rng(0), 4, PORTS)
    plain = system.state_space()
    assert plain.inputs == ("hub.force", "tip.velocity[0]", "tip.velocity[1]")
    assert plain.outputs == ("hub.velocity", "tip.force[0]", "tip.force[1]")
    assert system.port("tip").input_words == "velocity (m/s)"
    assert system.port("tip").output_words == "force (N)"
    assert system.port_slices == {"hub": slice(0, 1), "tip": slice(1, 3)}
    assert system.states == ("x1", "x2", "x3", "x4")


def test_ports_can_be_left_out_and_taken_apart() -> None:
    ports = (force_port("hub"), LinearPort("tip", "wrench", "N, N m", "twist", "m/s, rad/s", 6))
    full = random_system(np.random.default_rng(3), 5, ports)
    some = full.with_ports("tip[4]", "hub")
    assert some.ports == (LinearPort("tip[4]", "wrench", "N m", "twist", "rad/s"), force_port("hub"))
    assert np.allclose(some.transfer(0.3j), full.transfer(0.3j)[np.ix_([5, 0], [5, 0])], rtol=1e-12)
    assert full.with_ports("tip", "hub").port_slices == {"tip": slice(0, 6), "hub": slice(6, 7)}
    with pytest.raises(InvalidInput, match="port 'tip' has components 0 to 5, not 6"):
        full.with_ports("tip[6]")
    with pytest.raises(InvalidInput, match="there is no port 'toe'; choose from hub, tip"):
        full.with_ports("toe")
    with pytest.raises(InvalidInput, match="there is no port 'toe'; choose from hub, tip"):
        full.with_ports("toe[0]")


def test_energy_of_an_oscillator() -> None:
    system = oscillator(2.0, 50.0, 0.1)
    assert system.energy([4.0, 0.2]) == pytest.approx(4.0**2 / (2 * 2.0) + 0.5 * 50.0 * 0.2**2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"Q": np.eye(3)}, r"Q has shape \(3, 3\), but 2 states need \(2, 2\); give Q with that shape"),
        ({"B": np.ones((2, 2))}, r"B has shape \(2, 2\), but 2 states and 1 ports with 1 components need \(2, 1\)"),
        ({"D": np.ones((2, 2))}, r"D has shape \(2, 2\), but 1 ports with 1 components need \(1, 1\)"),
        ({"J": [[0.0, np.inf], [0.0, 0.0]]}, r"J\[0, 1\] is inf; give finite numbers only"),
        ({"ports": (force_port("a"),) * 2, "B": np.zeros((2, 2))}, "the port name 'a' occurs twice"),
    ],
)
def test_wrong_matrices_are_refused_in_one_sentence(change: dict[str, object], message: str) -> None:
    given: dict[str, object] = {
        "J": np.zeros((2, 2)),
        "Q": np.eye(2),
        "B": np.zeros((2, 1)),
        "ports": (force_port("a"),),
    }
    with pytest.raises(InvalidInput, match=message):
        LinearPortHamiltonian(**(given | change))


def test_ports_without_name_or_size_are_refused() -> None:
    with pytest.raises(InvalidInput, match="empty name"):
        force_port("")
    with pytest.raises(InvalidInput, match="port 'tip': size = 0 must be at least 1"):
        LinearPort("tip", "force", "N", "velocity", "m/s", 0)


def test_explicit_form_of_constraints_is_refused_with_the_remedy() -> None:
    system = LinearPortHamiltonian(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        Q=np.eye(2),
        B=np.eye(2)[:, :1],
        ports=(force_port("a"),),
    )
    assert system.has_constraints
    with pytest.raises(InvalidInput, match="use eliminate_constraints first"):
        _ = system.explicit


def free_chain(masses: int, damping: float) -> LinearPortHamiltonian:
    """Masses in a row joined by springs and dampers, held by nothing; the place of the first is a state."""
    stretch = np.eye(masses - 1, masses, 1) - np.eye(masses - 1, masses)
    n = 2 * masses
    J, R, Q = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    J[:masses, masses : n - 1] = -stretch.T
    J[0, n - 1] = -1.0
    J -= J.T
    R[:masses, :masses] = damping * stretch.T @ stretch
    Q[:masses, :masses] = np.diag(np.linspace(1.0, 3.0, masses))
    Q[masses : n - 1, masses : n - 1] = 1e9 * np.eye(masses - 1)
    return LinearPortHamiltonian(J=J, R=R, Q=Q, B=np.eye(n)[:, :1], ports=(force_port("first"),))


@pytest.mark.parametrize("damping", [0.0, 1e3])
@pytest.mark.parametrize("masses", [2, 5, 30])
def test_a_free_arm_has_its_two_poles_of_rest_exactly_at_zero(masses: int, damping: float) -> None:
    """The place is not held and the total momentum is kept; the other squares are those of a symmetric problem."""
    system = free_chain(masses, damping)
    poles = system.poles
    assert len(poles) == 2 * masses
    assert np.array_equal(poles[:2], [0.0, 0.0])
    assert np.abs(poles[2]) > 1e2
    stretch = np.eye(masses - 1, masses, 1) - np.eye(masses - 1, masses)
    squares = np.linalg.eigvalsh(stretch @ np.diag(np.linspace(1.0, 3.0, masses)) @ stretch.T) * 1e9
    half = 0.5 * damping * squares / 1e9
    exact = np.concatenate([-half + 1j * np.sqrt(squares - half**2), -half - 1j * np.sqrt(squares - half**2)])
    assert np.allclose(np.sort_complex(poles[2:]), np.sort_complex(exact), rtol=1e-9)
    if not damping:
        assert np.all(poles.real == 0.0)
    E = np.eye(2 * masses)
    E[:masses, :masses] += 0.1 * np.random.default_rng(1).standard_normal((masses, masses))
    mixed = LinearPortHamiltonian(
        E=E,
        J=E @ system.J @ E.T,
        R=E @ system.R @ E.T,
        Q=np.linalg.solve(E.T, system.Q),
        B=E @ system.B,
        ports=system.ports,
    )
    assert np.array_equal(mixed.poles[:2], [0.0, 0.0])


def test_poles_of_matrices_without_the_structure_are_still_right() -> None:
    falling = LinearPortHamiltonian(
        J=np.array([[0.0, -1.0], [1.0, 0.0]]), Q=np.diag([1.0, -4.0]), B=np.zeros((2, 0)), ports=()
    )
    assert np.allclose(np.sort_complex(falling.poles), [-2.0, 2.0])
    damped = random_system(np.random.default_rng(8), 10, PORTS, mass=True)
    plain = np.linalg.eigvals(np.linalg.solve(damped.E, (damped.J - damped.R) @ damped.Q))
    assert np.allclose(np.sort_complex(damped.poles), np.sort_complex(plain), rtol=1e-9)
