"""A model is constant: eight threads that use one at once get, bit for bit, what one thread gets; and models pickle."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from tests.support.arms import ASIDE, on_a_hinge, soft_link, two_links
from tests.support.lumped_arms import WITH_TORSION, condensed, two_stations

THREADS, ROUNDS = 8, 3
Answers = list[np.ndarray]


def driven(arm: Model) -> Model:
    """Every joint under feedback, a wrench on the last tip."""
    last = arm.robot.links[-1].name
    return pl.connect(
        arm,
        pl.JointPD(pl.motions.Hold(0.1), stiffness=20.0, damping=0.5),
        pl.TipWrench(last, pl.signals.Sine((0.1, -0.2, 0.05, 0.0, 0.0, 0.0), 5.0), frame=pl.Frame.BODY),
    )


def point_masses() -> Model:
    arm = condensed(two_stations(0.7, gravity=(0.0, -9.81, 1.0)), WITH_TORSION)
    rotors = (pl.GearMotor(name, rotor_inertia=2e-4, ratio=50.0) for name in arm.joint_names)
    return pl.connect(arm, *rotors, pl.JointPD(pl.motions.Hold(0.1), stiffness=200.0, damping=5.0))


def of_two_links(formulation: object) -> Model:
    return driven(formulation.compile(two_links(ASIDE)))


def of_one_link(formulation: object) -> Model:
    return driven(formulation.compile(on_a_hinge(soft_link())))


MODELS: dict[str, Callable[[], Model]] = {
    "GeometricallyExact": partial(of_two_links, pl.GeometricallyExact(degree=2)),
    "MixedElement": partial(of_one_link, pl.MixedElement(2)),
    "PoseElement": partial(of_two_links, pl.PoseElement(2)),
    "PseudoSpectral": partial(of_one_link, pl.PseudoSpectral(3)),
    "Lumped": partial(of_two_links, pl.Lumped(2)),
    "Lumped, point masses": point_masses,
    "Rigid": partial(of_two_links, pl.Rigid()),
}


def answers(model: Model, k: int) -> Answers:
    """All that a model is asked for, about a motion of its own for each k."""
    joints = len(model.joint_names)
    start = model.initial_state(0.1 * k + 0.05 * np.arange(joints), np.full(joints, 0.2 * k))
    run = pl.simulate(model, 4e-3, pl.Gauss(order=2, step=1e-3), initial=start, outputs=4)
    seen = model.observe(run.states, 5)
    rest = pl.equilibrium(model, start=start)
    small = model.linearise(run.states[-1], model.inputs, 4e-3)
    links = [array for link in seen.links for array in (link.position, link.rotation, link.strain)]
    return [
        *(run.states, run.ledger.exchanged, seen.tip_position, seen.tip_twist, *links),
        *(*model.tip(run.states), *model.energy(run.states), rest.state, small.M, small.D, small.K),
    ]


@pytest.mark.parametrize("name", MODELS)
def test_eight_threads_get_what_one_gets(name: str) -> None:
    alone = [answers(MODELS[name](), k) for k in range(THREADS)]
    model = MODELS[name]()  # which has found none of its constants yet
    together = threading.Barrier(THREADS)

    def ask(k: int) -> list[Answers]:
        together.wait()
        return [answers(model, k) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        for expected, found in zip(alone, pool.map(ask, range(THREADS))):
            for each in found:
                for one, other in zip(expected, each, strict=True):
                    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["Lumped", "Lumped, point masses", "Rigid"])
def test_models_and_runs_pickle_after_a_run(name: str) -> None:
    model = MODELS[name]()
    expected = answers(model, 1)
    for one, other in zip(expected, answers(pickle.loads(pickle.dumps(model)), 1), strict=True):
        np.testing.assert_array_equal(one, other)
    run = pl.simulate(model, 2e-3, pl.Gauss(order=2, step=1e-3))
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again.states, run.states)
    np.testing.assert_array_equal(again.tip_position, run.tip_position)
    bare = pickle.loads(pickle.dumps(model.arm))
    np.testing.assert_array_equal(bare.tip(run.states)[0], model.arm.tip(run.states)[0])
