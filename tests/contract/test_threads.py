"""A model is constant: eight threads that use one at once get, bit for bit, what one thread gets."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm
from tests.contract.formulations import GAUSS, HELD, KINDS, POINT_MASSES, SWING, Kind
from tests.support.arms import ASIDE, SLOW, two_links

THREADS, ROUNDS = 8, 2  # in the first round constants are found, in the second they are there
Answers = list[np.ndarray]


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    """Threads take turns a thousand times more often than usual."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


def fresh(kind: Kind) -> Arm:
    """A model that has found none of its constants yet: two links where the formulation carries them."""
    one = isinstance(kind.formulation, (pl.MixedElement, pl.PseudoSpectral))
    arm = kind.formulation.compile(SWING if one else two_links(ASIDE, section=SLOW))
    rotors = (pl.GearMotor(name, rotor_inertia=2e-4, ratio=50.0) for name in arm.joint_names)
    push = pl.TipWrench(arm.robot.links[-1].name, pl.signals.Sine((0.1, -0.2, 0.05, 0.0, 0.0, 0.0), 5.0), pl.Frame.BODY)
    return pl.connect(arm, HELD, push, *(rotors if kind is POINT_MASSES else ()))


def answers(model: Arm, k: int) -> Answers:
    """All that a model is asked for, about a motion of its own for each k."""
    joints = len(model.joint_names)
    start = model.initial_state(0.1 * k + 0.05 * np.arange(joints), np.full(joints, 0.2 * k))
    run = pl.simulate(model, 4e-3, GAUSS, initial=start, outputs=4)
    seen = model.observe(run.states, 5)
    rest = pl.equilibrium(model, start=start)
    small = model.linearise(run.states[-1], model.inputs, 4e-3)
    links = [array for link in seen.links for array in (link.position, link.rotation, link.strain)]
    return [
        *(run.states, run.ledger.exchanged, seen.tip_position, seen.tip_twist, *links),
        *(*model.tip(run.states), *model.energy(run.states), rest.state, small.M, small.D, small.K),
    ]


@pytest.mark.usefixtures("impatient_threads")
@pytest.mark.parametrize("kind", [*KINDS, POINT_MASSES], ids=str)
def test_eight_threads_get_what_one_gets(kind: Kind) -> None:
    quiet, model, together = fresh(kind), fresh(kind), threading.Barrier(THREADS)
    alone = [answers(quiet, k) for k in range(THREADS)]

    def ask(k: int) -> list[Answers]:
        together.wait()
        return [answers(model, k) for _ in range(ROUNDS)]

    with ThreadPoolExecutor(THREADS) as pool:
        for expected, found in zip(alone, pool.map(ask, range(THREADS))):
            for each in found:
                for one, other in zip(expected, each, strict=True):
                    np.testing.assert_array_equal(one, other)
