"""Plain linear systems: poles, zeros and transfer matrices against closed forms and direct solutions."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pliant.errors import InvalidInput
from pliant.model.linear import LinearSystem
from tests.support.linear_systems import force_port, oscillator, random_system

MASS, STIFFNESS, DAMPING = 2.0, 50.0, 0.3


def tied_masses() -> LinearSystem:
    """Two masses at one place by a constraint on positions: the oscillator with the sum of the masses, index 3."""
    E = np.diag([1.0, 1.0, 0.5 * MASS, 0.5 * MASS, 0.0])
    A = np.array(
        [
            [0.0, 0.0, 1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0, 0.0],
            [-STIFFNESS, 0.0, -DAMPING, 0.0, 1.0],
            [0.0, 0.0, 0.0, 0.0, -1.0],
            [1.0, -1.0, 0.0, 0.0, 0.0],
        ]
    )
    B = np.array([[0.0], [0.0], [1.0], [0.0], [0.0]])
    return LinearSystem(E=E, A=A, B=B, C=A[1:2], inputs=("force",), outputs=("velocity",))


@pytest.mark.parametrize(
    "system", [oscillator(MASS, STIFFNESS, DAMPING).state_space(), tied_masses()], ids=["states", "constraint"]
)
def test_oscillator_has_the_poles_zero_and_response_of_the_textbook(system: LinearSystem) -> None:
    poles = np.roots([MASS, DAMPING, STIFFNESS])
    assert np.allclose(np.sort_complex(system.poles), np.sort_complex(poles), rtol=1e-12, atol=0.0)
    assert np.abs(system.zeros) == pytest.approx([0.0], abs=1e-12)
    s = np.array([[0.0, 1.0j], [5.0j, -1.0 + 2.0j]])
    assert np.allclose(system.transfer(s)[..., 0, 0], s / (MASS * s**2 + DAMPING * s + STIFFNESS), rtol=1e-12)


def test_transfer_equals_the_direct_solution_also_past_one_block_of_rows() -> None:
    rng = np.random.default_rng(1)
    ports = (force_port("a", 2), force_port("b"))
    for mass in (False, True):
        system = random_system(rng, 71, ports, mass=mass).state_space()
        s = np.array([0.3j, 2.0j, 0.1 - 4.0j])
        direct = [system.C @ np.linalg.solve(at * system.E - system.A, system.B.astype(complex)) + system.D for at in s]
        assert np.allclose(system.transfer(s), direct, rtol=0.0, atol=1e-11 * np.abs(direct).max())


def test_transfer_keeps_its_digits_where_two_poles_meet() -> None:
    A = np.array([[0.0, 1.0], [0.0, 0.0]])
    system = LinearSystem(A=A, B=np.eye(2)[:, 1:], C=np.eye(2)[:1], inputs=("push",), outputs=("place",))
    s = np.array([1e-6j, 1e-3, 2.0])
    assert np.allclose(system.transfer(s)[:, 0, 0] * s**2, 1.0, rtol=1e-14)
    assert (system.transfer(0.0) == np.inf).all()


def test_at_a_pole_only_what_has_no_limit_there_is_infinite() -> None:
    """Two undamped masses at their frequencies 2 and 3 rad/s, which these numbers meet exactly; nothing joins them."""
    A = np.zeros((4, 4))
    A[0, 1], A[1, 0], A[2, 3], A[3, 2] = 2.0, -2.0, 3.0, -3.0
    B, C = np.zeros((4, 2)), np.zeros((2, 4))
    B[1, 0] = B[3, 1] = C[0, 0] = C[1, 2] = 1.0
    system = LinearSystem(A=A, B=B, C=C, inputs=("f", "g"), outputs=("x", "y"))
    gain = system.transfer([2.0j, 3.0j, 1.0j])
    exact = [[[np.inf, 0.0], [0.0, 0.6]], [[-0.4, 0.0], [0.0, np.inf]], [[2.0 / 3.0, 0.0], [0.0, 0.375]]]
    np.testing.assert_allclose(gain, exact, rtol=1e-8)


@pytest.mark.parametrize("inputs", [1, 2, 3])
def test_zeros_are_where_the_transfer_matrix_loses_rank(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    for losses in (1, 5):
        system = random_system(rng, 12, (force_port("a", inputs),), losses=losses).state_space()
        assert len(system.zeros) == 12
        for zero in system.zeros:
            values = np.linalg.svd(system.transfer(zero), compute_uv=False)
            assert values[-1] < 1e-9 * max(values[0], 1.0)


def test_a_chain_pushed_and_seen_at_one_mass_has_zeros_where_that_mass_is_clamped() -> None:
    """Masses 1, springs 1, from a wall: antiresonances are frequencies of the chain cut at the driven mass."""
    n = 6
    K = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    zero, one = np.zeros((n, n)), np.eye(n)
    A = np.block([[zero, one], [-K, zero]])
    B = np.eye(2 * n)[:, n : n + 1]
    system = LinearSystem(A=A, B=B, C=np.eye(2 * n)[:1], inputs=("push",), outputs=("place",))
    cut = np.sqrt(np.linalg.eigvalsh(K[1:, 1:]))
    assert len(system.zeros) == 2 * (n - 1)
    assert np.allclose(np.sort(np.abs(system.zeros)), np.repeat(cut, 2), rtol=1e-10)


def test_zeros_of_systems_with_more_outputs_than_inputs_are_common_ones_only() -> None:
    A = np.diag([-1.0, -2.0])
    both = LinearSystem(A=A, B=np.ones((2, 1)), C=np.eye(2), inputs=("u",), outputs=("a", "b"))
    assert len(both.zeros) == 0
    one = both.between(("u",), ("a",))
    assert np.allclose(one.zeros, [-2.0])


def test_export_to_python_control_has_the_same_response_and_names() -> None:
    system = random_system(np.random.default_rng(3), 6, (force_port("a"), force_port("tip", 2)), mass=True)
    plain = system.state_space()
    exported = plain.to_control()
    assert exported.input_labels == ["a_force", "tip_force[0]", "tip_force[1]"]
    assert exported.output_labels == ["a_velocity", "tip_velocity[0]", "tip_velocity[1]"]
    assert exported.state_labels == list(plain.states)
    assert np.allclose(exported(0.7j), system.transfer(0.7j), rtol=1e-11)


def test_missing_python_control_is_answered_with_the_name_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(InvalidInput, match=r"pip install 'pliant\[control\]'"):
        oscillator(1.0, 1.0, 0.0).state_space().to_control()


def test_matrices_are_copies_and_the_system_keeps_its_own() -> None:
    system = oscillator(MASS, STIFFNESS, DAMPING).state_space()
    E, A, B, C, D = system.matrices()
    A[0, 0] = 7.0
    assert system.A[0, 0] != 7.0
    assert (E.shape, B.shape, C.shape, D.shape) == ((2, 2), (2, 1), (1, 2), (1, 1))
    with pytest.raises(ValueError, match="read-only"):
        system.A[0, 0] = 7.0


def test_constraints_that_move_with_an_input_have_no_explicit_form_but_a_transfer_function() -> None:
    """A mass whose velocity is given: the force is its inertia times s."""
    system = LinearSystem(
        E=np.diag([MASS, 0.0]),
        A=np.array([[0.0, 1.0], [1.0, 0.0]]),
        B=np.array([[0.0], [-1.0]]),
        C=np.array([[0.0, 1.0]]),
        inputs=("velocity",),
        outputs=("force",),
    )
    assert np.allclose(system.transfer(3.0j), 3.0j * MASS)
    with pytest.raises(InvalidInput, match="derivative of that input; keep the descriptor form"):
        _ = system.poles


def test_equations_that_leave_states_open_are_refused() -> None:
    A = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    twice = LinearSystem(
        E=np.diag([1.0, 0.0, 0.0]), A=A, B=np.eye(3)[:, :1], C=np.eye(3)[:1], inputs=("u",), outputs=("y",)
    )
    with pytest.raises(InvalidInput, match="remove constraints that repeat others"):
        _ = twice.poles


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": np.zeros((2, 3))}, r"A has shape \(2, 3\), but must be square; give one row per state"),
        ({"B": np.zeros((2, 2))}, r"B has shape \(2, 2\), but 2 states and 1 inputs need \(2, 1\)"),
        ({"C": [[0.0, np.nan]]}, r"C\[0, 1\] is nan; give finite numbers only"),
        ({"states": ("p", "p")}, "the state name 'p' occurs twice; give every state its own name"),
        ({"states": ("p",)}, "1 names of states for 2 states; give one name per state"),
    ],
)
def test_wrong_matrices_are_refused_in_one_sentence(change: dict[str, object], message: str) -> None:
    given: dict[str, object] = {
        "A": np.zeros((2, 2)),
        "B": np.zeros((2, 1)),
        "C": np.zeros((1, 2)),
        "inputs": ("u",),
        "outputs": ("y",),
    }
    with pytest.raises(InvalidInput, match=message):
        LinearSystem(**(given | change))


def test_unknown_inputs_are_refused_with_those_that_exist() -> None:
    with pytest.raises(InvalidInput, match=r"no input 'push'; choose from mass\.force"):
        oscillator(1.0, 1.0, 0.0).state_space().between(("push",), ())
