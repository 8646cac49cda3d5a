"""Sampled controllers in a run: called at their own period, held in between, added up."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from pliant.model.sampling import Sample
from tests.support.arms import ASIDE, SLOW, two_links

SPECTRAL = pl.GeometricallyExact(degree=3)


class Counter:
    """A torque that grows by 0.1 N m with every call, and what it saw."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []

    def __call__(self, sample: Sample) -> float:
        self.samples.append(sample)
        return 0.1 * len(self.samples)

    @property
    def times(self) -> list[float]:
        return [sample.time for sample in self.samples]


def arm() -> Model:
    return SPECTRAL.compile(two_links(ASIDE))


@pytest.mark.parametrize(
    "integrator",
    [pl.Gauss(4, 1e-2), pl.Gauss(4, 7e-3), pl.Gauss(4, 0.5), pl.Gauss(2, 1e-3), None],
    ids=["10 ms", "7 ms", "longer than the period", "midpoint rule", "accuracy"],
)
def test_called_at_its_own_period(integrator: object) -> None:
    """Whatever the steps are."""
    law = Counter()
    closed = pl.connect(arm(), pl.control.SampledController(law, 0.03, joints=["elbow"]))
    trajectory = pl.simulate(closed, 0.2, integrator, outputs=10)
    assert trajectory.ending.completed, trajectory.ending
    np.testing.assert_allclose(law.times, np.arange(7) * 0.03, atol=1e-12)


def test_held_between_the_calls() -> None:
    law = Counter()
    closed = pl.connect(arm(), pl.control.SampledController(law, 0.03, joints=["elbow"]))
    trajectory = pl.simulate(closed, 0.2, pl.Gauss(4, 1e-2))
    # the effort at a time is that of the step which ends there
    calls = 1 + np.floor((trajectory.time[1:] - 1e-9) / 0.03)
    np.testing.assert_allclose(trajectory.efforts["elbow"][1:, 0], 0.1 * calls, rtol=1e-12)
    assert not trajectory.efforts["shoulder"].any()


def test_the_same_as_a_torque_in_steps() -> None:
    """Known torques that jump at the sampling times must give the same motion."""
    sampled = pl.connect(arm(), pl.control.SampledController(Counter(), 0.03, joints=["elbow"]))
    jumps = pl.signals.SignalSum([pl.signals.Step(0.1, at=0.03 * k) for k in range(7)])
    known = pl.connect(arm(), pl.JointTorque("elbow", jumps))
    states = [pl.simulate(model, 0.2, pl.Gauss(4, 1e-2)).states[-1] for model in (sampled, known)]
    np.testing.assert_allclose(states[0], states[1], rtol=1e-8, atol=1e-8)


def test_sees_the_state_of_its_instant() -> None:
    law = Counter()
    closed = pl.connect(arm(), pl.control.SampledController(law, 0.05, joints=["elbow"]))
    trajectory = pl.simulate(closed, 0.2, pl.Gauss(4, 1e-2), outputs=20)
    for sample in law.samples:
        row = int(np.argmin(np.abs(trajectory.time - sample.time)))
        assert trajectory.time[row] == pytest.approx(sample.time, abs=1e-12)
        np.testing.assert_array_equal(sample.state, trajectory.states[row])
        np.testing.assert_array_equal(sample.joint_positions, trajectory.joint_position[row])
        np.testing.assert_array_equal(sample.joint_rates, trajectory.joint_rate[row])


def test_cannot_change_the_arm_by_writing_into_its_sample() -> None:
    def vandal(sample: Sample) -> float:
        sample.joint_positions[:] = 99.0
        sample.state[:] = 99.0
        return 0.0

    touched = pl.connect(arm(), pl.control.SampledController(vandal, 0.05, joints=["elbow"]))
    untouched = pl.connect(arm(), pl.control.SampledController(lambda sample: 0.0, 0.05, joints=["elbow"]))
    ends = [pl.simulate(model, 0.2, pl.Gauss(4, 1e-2)).states[-1] for model in (touched, untouched)]
    np.testing.assert_array_equal(ends[0], ends[1])


def test_two_controllers_and_a_known_torque_add_up() -> None:
    """Each at its own period; together they are the sum of what each one holds."""
    fast, slow = Counter(), Counter()
    closed = pl.connect(
        arm(),
        pl.control.SampledController(fast, 0.02, joints=["elbow"], name="fast"),
        pl.control.SampledController(
            lambda sample: (slow(sample), -1.0), 0.05, joints=["elbow", "shoulder"], name="slow"
        ),
        pl.JointTorque("elbow", pl.signals.Constant(0.7)),
    )
    trajectory = pl.simulate(closed, 0.2, pl.Gauss(4, 1e-2))
    assert (len(fast.samples), len(slow.samples)) == (10, 4)
    before = trajectory.time[1:] - 1e-9
    held = 0.1 * (1 + np.floor(before / 0.02)) + 0.1 * (1 + np.floor(before / 0.05))
    np.testing.assert_allclose(trajectory.efforts["elbow"][1:, 0], 0.7 + held, rtol=1e-12)
    np.testing.assert_allclose(trajectory.efforts["shoulder"][1:, 0], -1.0, rtol=1e-12)
    assert trajectory.ledger.worst_ratio <= 1e-10


def test_fast_sampling_tends_to_the_continuous_law() -> None:
    """The tip under sampled PD approaches that under continuous PD in proportion to the period.

    The section is heavy in rotation: a sampled damper needs some inertia at the joint to be stable.
    """
    heavy = SPECTRAL.compile(two_links(ASIDE, section=SLOW))
    stiffness, damping = np.array([8.0, 3.0]), np.array([0.1, 0.05])
    law = pl.JointPD((pl.motions.Hold(0.3), pl.motions.Hold(-0.8)), tuple(stiffness), tuple(damping))
    answer = pl.simulate(pl.connect(heavy, law), 0.4, pl.Gauss(4, 1e-3)).tip_position[-1]

    def sampled_law(sample: Sample) -> np.ndarray:
        error = sample.joint_positions - np.array([0.3, -0.8])
        return np.asarray(-stiffness * error - damping * sample.joint_rates)

    errors = []
    for period in (4e-3, 2e-3, 1e-3):
        sampled = pl.connect(heavy, pl.control.SampledController(sampled_law, period))
        tip = pl.simulate(sampled, 0.4, pl.Gauss(4, 1e-3)).tip_position[-1]
        errors.append(float(np.linalg.norm(tip - answer)))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(orders, 1.0, atol=0.2)
