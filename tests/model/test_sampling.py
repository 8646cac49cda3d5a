"""When sampled control acts, in which order, and what a compiled loop that carries servos is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import DONE, Kept, Model, NewtonTolerance, Run
from pliant.model.inputs import Inputs
from pliant.model.sampling import Sample, ServoPlace
from pliant.model.schedule import instants, samples_of, ticks
from pliant.model.stage_method import gauss_collocation
from pliant.model.state import Array, Ending
from pliant.simulation.driver import drive
from pliant.structures.energy_ledger import COLUMNS
from pliant.structures.ledger import ledger_of
from tests.support.rigid_loop import rigid_arm

ARM = pl.GeometricallyExact(degree=3).compile(rigid_arm())


@dataclass
class Diary:
    """Notes when it is called; its answer is the number of the call."""

    name: str
    period: float
    delay: float = 0.0
    joints: tuple[str, ...] = ("hinge",)
    accelerations: bool = False
    times: list[float] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)

    def started(self) -> Callable[[Sample], Array]:
        def answer(sample: Sample) -> Array:
            self.times.append(sample.time)
            self.shared.append(self.name)
            return np.array([float(len(self.times))])

        return answer


def component(diary: Diary) -> pl.control.SampledController:
    return pl.control.SampledController(diary, diary.period, name=diary.name, delay=diary.delay)


@pytest.mark.parametrize(
    "integrator",
    [pl.Gauss(4, 1e-3), pl.Gauss(4, 0.7e-3), pl.Gauss(4, 0.5), None],
    ids=["1 ms", "0.7 ms", "longer than all periods", "accuracy"],
)
def test_samples_fall_on_multiples_of_their_period(integrator: object) -> None:
    """Of periods that share no multiple in the run, whatever the steps are; to the last digits of the clock."""
    slow, fast = Diary("slow", 0.03), Diary("fast", np.pi * 1e-3)
    run = pl.simulate(pl.connect(ARM, component(slow), component(fast)), 0.1, integrator, outputs=10)  # type: ignore[arg-type]
    assert run.ending.completed
    for diary in (slow, fast):
        count = int(np.ceil(0.1 / diary.period))
        np.testing.assert_allclose(diary.times, diary.period * np.arange(count), rtol=1e-14)


def test_long_runs_miss_no_sample() -> None:
    """A hundred seconds of a period that is no binary fraction: instants are those that a user would write."""
    times = ticks(0.0, 100.0, 1e-3)
    assert len(times) == 100_000
    np.testing.assert_array_equal(times, np.arange(100_000) / 1000.0)


def test_at_one_instant_the_order_is_that_of_connection_and_servos_come_last() -> None:
    notes: list[str] = []
    first, second = (Diary(name, 0.01, shared=notes) for name in ("first", "second"))
    command = Diary("command", 0.01, shared=notes)
    closed = pl.connect(
        ARM,
        pl.control.VelocityServo(2.0, 0.01),
        pl.control.SampledCommand(command, 0.01, name="command"),
        component(second),
        component(first),
    )
    run = pl.simulate(closed, 0.02, pl.Gauss(4, 0.01))
    assert notes == ["second", "first", "command"] * 2
    # torques 1 + 1, and a servo that sees the command 1 of the same instant while the joint rests
    assert run.efforts["hinge"][1, 0] == pytest.approx(2.0 + 2.0 * 1.0, rel=1e-12)


def test_a_delayed_torque_takes_effect_when_its_delay_is_over() -> None:
    """To the instant: a step ends there, though it lies between samples and steps."""
    diary = Diary("late", 0.01, delay=0.0137)
    run = pl.simulate(pl.connect(ARM, component(diary)), 0.035, pl.Gauss(4, 2e-3))
    begins = run.time[:-1]
    expected = np.maximum(0, 1 + np.floor((begins - 0.0137 + 1e-9) / 0.01))
    np.testing.assert_allclose(run.efforts["hinge"][1:, 0], expected, atol=1e-12)
    again = pl.connect(ARM, component(Diary("late", 0.01, delay=0.0137)))
    accurate = pl.simulate(again, 0.035, accuracy=1e-6, outputs=10)
    np.testing.assert_allclose(accurate.joint_rate[-1], run.joint_rate[-1], rtol=1e-9)
    for k in range(3):
        assert np.abs(run.time - (0.0137 + 0.01 * k)).min() < 1e-15


def test_equal_steps_between_unequal_instants_share_their_length() -> None:
    """So that what was factorised for one serves all: the lengths differ by round-off only."""
    inputs = replace(ARM.inputs, controllers=(Diary("late", 1e-3, delay=0.3e-3),))
    marks = np.unique(np.append(instants(inputs, 0.0, 0.1), [0.0, 0.1]))
    run = Run(ARM.initial_state(), marks, marks, inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    assert len(np.unique(np.diff(marks))) > 2
    assert len(np.unique(run.schedule.h)) == 2


class Recorder:
    """A stepper whose compiled loop carries servos; it notes what it is given."""

    def __init__(self, model: Model, run: Run) -> None:
        self.model, self.run = model, run
        self.given: list[tuple[float, float, float]] = []
        self.rate = 0.0

    def command(self, rates: Array) -> None:
        self.rate = float(rates[0])

    def start(self) -> None:
        return None

    def state_vector(self) -> Array:
        return self.run.start

    def times(self, a: int, b: int) -> Array:
        return self.run.times(a, b)

    def tables(self, a: int, b: int, joints: Array, loads: Array) -> int:
        return a

    def advance(self, tables: int, part: slice, held: Array) -> tuple[int, int]:
        self.given.append((float(self.run.grid[tables + part.start]), self.rate, float(held[0])))
        return part.stop - part.start, DONE

    def keep(self, row: int) -> None:
        raise AssertionError("it never stops")

    def stopped(self, status: int, done: int) -> Ending:
        raise AssertionError("it never stops")

    def kept(self, times: Array) -> Kept:
        ledger = ledger_of(np.zeros((len(times), COLUMNS)), {}, np.zeros(4), exact=True)
        return Kept(np.zeros((len(times), 1)), {}, ledger, {})


def recorded(noise: float, delay: float = 0.0) -> Recorder:
    """A servo of 1 ms under a command of 10 ms, with steps of 0.5 ms over 25 ms."""
    servo = ServoPlace("hinge", gain=3.0, period=1e-3, rate_noise=noise)
    inputs: Inputs = replace(ARM.inputs, commands=(Diary("command", 0.01, delay),), servos=(servo,))
    grid = 5e-4 * np.arange(51)
    run = Run(ARM.initial_state(), grid, grid, inputs, gauss_collocation(1), NewtonTolerance(1e-9, 1e-9))
    stepper = Recorder(ARM, run)
    assert drive(stepper).statistics["steps"] == 50
    return stepper


@pytest.mark.parametrize(
    ("delay", "expected"),
    [
        (0.0, [(0.0, 1.0), (0.01, 2.0), (0.02, 3.0)]),
        # commands sent at 0, 10 and 20 ms arrive 3.4 ms later, between samples of the servo
        (3.4e-3, [(0.0, 0.0), (0.004, 1.0), (0.01, 1.0), (0.014, 2.0), (0.02, 2.0), (0.024, 3.0)]),
    ],
)
def test_a_loop_that_carries_servos_is_left_for_commands_only(
    delay: float, expected: list[tuple[float, float]]
) -> None:
    stepper = recorded(0.0, delay)
    np.testing.assert_allclose([given[:2] for given in stepper.given], expected, atol=1e-12)
    assert all(held == 0.0 for _, _, held in stepper.given)
    assert samples_of(stepper.run.grid, 1e-3, 0.0).tolist() == [True, False] * 25


def test_noisy_servos_are_computed_outside() -> None:
    stepper = recorded(1e-12)
    assert len(stepper.given) == 25
    # the joint rests, so that torque = gain command, but for the noise
    np.testing.assert_allclose([held for _, _, held in stepper.given], [3.0] * 10 + [6.0] * 10 + [9.0] * 5)
