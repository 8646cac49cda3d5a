"""Motions, energies and linear systems of classical graphs against textbooks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from tests.bond_graph.systems import LINEAR, NONLINEAR, Linear, System

ACCURACY = 1e-8  # of a motion, in parts of its largest value


def driven(system: Linear) -> Model:
    """The graph with its constant inputs."""
    model = system.graph.compile()
    ports = [port.name for port in model.ports]
    signals = [pl.PortSignal(port, pl.signals.Constant(u)) for port, u in zip(ports, system.inputs.tolist())]
    return pl.connect(model, *signals)


def extrapolated(model: Model, until: float, step: float) -> tuple[dict[str, np.ndarray], float]:
    """States at the end in the limit of short steps, and the worst residual of the ledger in any step.

    The midpoint rule has an error in even powers of the step: three extrapolations leave that of the eighth.
    """
    ends, worst = [], 0.0
    for k in range(4):
        run = pl.simulate(model, until, pl.Gauss(order=2, step=step / 2**k), outputs=1)
        assert run.ending.completed, str(run.ending)
        worst = max(worst, run.ledger.worst_ratio)
        ends.append(run.states[-1])
    power = 4.0
    while len(ends) > 1:
        ends = [(power * fine - coarse) / (power - 1.0) for coarse, fine in pairwise(ends)]
        power *= 4.0
    return {block.name: model.layout.part(ends[0], block.name) for block in model.layout.blocks}, worst


@pytest.mark.parametrize("name", LINEAR)
def test_linear_systems_move_as_their_state_space(name: str) -> None:
    system = LINEAR[name]()
    found, worst = extrapolated(driven(system), system.until, system.step)
    expected = system.exact(system.until)
    times = np.linspace(0.0, system.until, 41)
    largest = np.abs([system.exact(time) for time in times]).max(axis=0)
    for state, value, size in zip(system.states, expected, largest):
        # what never moves is measured by all that does
        assert found[state][0] == pytest.approx(value, abs=ACCURACY * max(size, 1e-6 * largest.max())), state
    assert worst < 1e-12  # the ledger closes to round-off in every step


@pytest.mark.parametrize("name", NONLINEAR)
def test_nonlinear_systems_move_as_their_closed_form(name: str) -> None:
    system: System = NONLINEAR[name]()
    found, worst = extrapolated(system.graph.compile(), system.until, system.step)
    for state, value in system.exact(system.until).items():
        size = np.abs(np.asarray(value)).max()
        np.testing.assert_allclose(found[state], value, atol=ACCURACY * size, rtol=0.0, err_msg=state)
    assert worst < 1e-11


@pytest.mark.parametrize("name", LINEAR)
def test_poles_and_transfer_functions_are_those_of_the_state_space(name: str) -> None:
    system = LINEAR[name]()
    found = pl.linearize(driven(system))
    expected = np.linalg.eigvals(system.A)
    size = np.abs(expected).max()
    free = [pole for pole in found.poles if abs(pole) > 1e-9 * size]
    wanted = [pole for pole in expected if abs(pole) > 1e-9 * size]
    assert len(free) == len(wanted)
    for pole in wanted:
        assert min(abs(np.array(free) - pole)) < 1e-10 * size
    s = 1j * size * np.array([0.05, 0.3, 1.1, 4.0]) + 0.01 * size
    n = len(system.A)
    gains = np.array([system.C @ np.linalg.solve(each * np.eye(n) - system.A, system.B) + system.D for each in s])
    largest = np.abs(gains).max(initial=1e-6)
    np.testing.assert_allclose(found.transfer(s), gains, atol=1e-10 * largest, rtol=1e-10)
