"""Equilibrium and linearisation: rest stays rest, M and K are those of the same equations."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import SecondOrder
from tests.contract.formulations import GAUSS, START, Kind, every_formulation, held, rest_of, weightless


@every_formulation
def test_an_equilibrium_stays_at_rest(kind: Kind) -> None:
    rest = rest_of(kind)
    assert rest.ending.completed
    assert rest.load == 1.0
    model = held(kind)
    assert not model.layout.part(rest.state, "joint_rate").any()
    run = pl.simulate(model, 0.02, GAUSS, initial=rest.state)
    assert np.abs(run.tip_position - run.tip_position[0]).max() < 1e-10
    assert run.ledger.kinetic.max() < 1e-18
    # gravity along the axis of the hinge leaves the spring of the joint unloaded
    assert model.layout.part(rest.state, "joint_position") == pytest.approx([START], abs=1e-9)


def small_of(kind: Kind) -> SecondOrder:
    """About rest without gravity, where the links are straight."""
    model = weightless(kind)
    return model.linearise(model.undeformed(np.array([[START]]))[0], model.inputs, 0.0)


@every_formulation
def test_mass_and_stiffness_are_symmetric_and_positive(kind: Kind) -> None:
    small = small_of(kind)
    n = len(small.names)
    assert small.fundamental
    assert small.M.shape == small.D.shape == small.K.shape == (n, n)
    assert small.joint_position.shape == (1, n)
    assert small.tip.shape == (6, n)
    for matrix in (small.M, small.D, small.K):
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-12 * np.abs(matrix).max())
    assert np.linalg.eigvalsh(small.K).min() > 0.0
    # the inertia of mixed elements lies between their nodes: one motion of all nodes has none
    for matrix in (small.M, small.D):
        assert np.linalg.eigvalsh(matrix).min() > -1e-12 * np.abs(matrix).max()
    ports = {each.port.name: each for each in small.ports}
    for name, size in (("hinge", 1), ("link.tip", 6)):
        assert ports[name].rate.shape == ports[name].shift.shape == (size, n)


@every_formulation
def test_an_arm_under_gravity_is_linearised_at_its_equilibrium(kind: Kind) -> None:
    small = held(kind).linearise(rest_of(kind).state, held(kind).inputs, 0.0)
    assert small.fundamental
    assert np.abs(small.unbalanced).max() < 1e-9 * np.abs(small.K).max()
    # gravity on rebuilt shapes leaves an error of the mesh in the symmetry of K
    np.testing.assert_allclose(small.K, small.K.T, atol=1e-3 * np.abs(small.K).max())


@every_formulation
@pytest.mark.parametrize("axis", [1, 2])
def test_the_stiffness_is_that_of_the_equilibrium(kind: Kind, axis: int) -> None:
    """Small forces at the tip, both ways: central differences of equilibria against  tip K^-1 rate^T F."""
    model, small = weightless(kind), small_of(kind)
    port = next(each for each in small.ports if each.port.name == "link.tip")
    force = np.zeros(6)
    force[axis] = 1e-3
    told = small.tip[:3] @ np.linalg.solve(small.K, port.rate.T @ force)
    start = model.undeformed(np.array([[START]]))

    def tip_under(sign: float) -> np.ndarray:
        wrench = tuple(float(sign * each) for each in force)
        push = pl.TipWrench("link", pl.signals.Constant(wrench), pl.Frame.BODY)
        pushed = pl.equilibrium(pl.connect(model, push), start=start[0])
        assert pushed.ending.completed
        position, _ = model.tip(pushed.state[None])
        return position[0]

    found = model.tip(start)[1][0].T @ (tip_under(1.0) - tip_under(-1.0)) / 2
    # what differences leave out is the square of the slope, 1e-8
    np.testing.assert_allclose(told, found, atol=1e-6 * np.abs(found).max())


@every_formulation
def test_states_of_small_deviations_are_states_of_the_model(kind: Kind) -> None:
    """The joint and the tip move as the matrices say."""
    model, small = weightless(kind), small_of(kind)
    n = len(small.names)
    y = 1e-6 * np.linspace(1.0, 0.5, n)
    zero = small.state_at(np.zeros(n), np.zeros(n))
    np.testing.assert_allclose(zero, model.undeformed(np.array([[START]]))[0], atol=1e-12)
    moved = small.state_at(y, np.zeros(n))
    turned = model.layout.part(moved, "joint_position") - model.layout.part(zero, "joint_position")
    np.testing.assert_allclose(turned, small.joint_position @ y, atol=1e-10)
    (before, after), rotation = model.tip(np.stack([zero, moved]))
    np.testing.assert_allclose(rotation[0].T @ (after - before), small.tip[:3] @ y, atol=1e-9)
