"""Errors of the mesh fall spectrally with the degree; two-node elements have second order."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from tests.support.arms import tumbler, two_links

UNTIL = 0.4
GAUSS = pl.Gauss(order=4, step=1e-3)
STILL = (0.0, 0.0, 0.0)


def push(times: np.ndarray) -> np.ndarray:
    """A torque that begins and ends with all its derivatives, so that no wave front hides the convergence."""
    x = np.clip(times / UNTIL, 1e-9, 1.0 - 1e-9)
    return np.asarray(np.exp(4.0 - 1.0 / (x * (1.0 - x))))


def pushed_two_links(formulation: pl.GeometricallyExact) -> Model:
    drive = pl.JointTorque("shoulder", pl.signals.FunctionSignal(lambda times: 3.0 * push(times)))
    return pl.connect(formulation.compile(two_links(STILL)), drive)


def pushed_tumbler(formulation: pl.GeometricallyExact) -> Model:
    arm = formulation.compile(tumbler(STILL, rates=(0.0, 0.0)))
    swing = pl.JointTorque("swing", pl.signals.FunctionSignal(lambda times: 1.5 * push(times)))
    return pl.connect(arm, swing, pl.JointTorque("nod", pl.signals.FunctionSignal(lambda times: -push(times))))


def path(model: Model) -> np.ndarray:
    trajectory = pl.simulate(model, UNTIL, GAUSS, outputs=50)
    assert trajectory.ending.completed, trajectory.ending
    return trajectory.tip_position


@pytest.mark.parametrize("pushed", [pushed_two_links, pushed_tumbler])
def test_spectral_convergence(pushed: object) -> None:
    """Each degree from 2 to 6 gains a factor of 5 at least, all together 2e5."""
    assert callable(pushed)
    answer = path(pushed(pl.GeometricallyExact(degree=12)))
    assert np.linalg.norm(answer[-1] - answer[0]) > 0.5  # metre: a large motion
    errors = np.array(
        [np.abs(path(pushed(pl.GeometricallyExact(degree=degree))) - answer).max() for degree in range(2, 7)]
    )
    assert np.all(errors[:-1] > 5.0 * errors[1:]), errors
    assert errors[0] > 2e5 * errors[-1], errors


def test_two_node_elements_have_second_order() -> None:
    answer = path(pushed_two_links(pl.GeometricallyExact(degree=9)))
    errors = [
        np.abs(path(pushed_two_links(pl.GeometricallyExact(1, elements=count))) - answer).max() for count in (8, 16, 32)
    ]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


def test_elements_and_degree_lead_to_the_same_answer() -> None:
    one = path(pushed_tumbler(pl.GeometricallyExact(degree=9)))
    four = path(pushed_tumbler(pl.GeometricallyExact(degree=4, elements=4)))
    np.testing.assert_allclose(four, one, atol=1e-7)
