"""A run that cannot go on ends as a value: cause, time, place, remedy, and all that was computed."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.sampling import Sample
from pliant.model.state import Cause
from tests.support.arms import ASIDE, two_links

SPECTRAL = pl.GeometricallyExact(degree=4)
GAUSS = pl.Gauss(order=4, step=1e-3)
BREAKDOWN = 0.1


def arm() -> Model:
    return SPECTRAL.compile(two_links(ASIDE, rates=(2.0, -3.0)))


def check_kept(trajectory: pl.Trajectory, end: float) -> None:
    """What was computed is there up to the end, finite, and its ledger closes."""
    assert trajectory.ending.time == pytest.approx(end, abs=1e-9)
    assert trajectory.time[-1] == pytest.approx(end, abs=1e-9)
    assert len(trajectory.states) == len(trajectory.time)
    assert np.isfinite(trajectory.states).all()
    assert np.isfinite(trajectory.tip_position).all()
    assert np.isfinite(trajectory.ledger.stored).all()
    residual = np.abs(trajectory.ledger.residual).max()
    assert residual <= 1e-10 * max(1.0, trajectory.ledger.exchanged[-1])
    assert any("the run stopped" in line for line in trajectory.warnings())


def check_not_a_number(trajectory: pl.Trajectory) -> None:
    """The ending blames a number that is none, not the step size."""
    assert trajectory.ending.cause not in (Cause.COMPLETED, Cause.STEP_TOO_SMALL, Cause.NOT_CONVERGED)
    assert trajectory.ending.place
    assert trajectory.ending.remedy
    assert "nan" in str(trajectory.ending) or "finite" in str(trajectory.ending)


def test_a_step_that_is_far_too_large() -> None:
    trajectory = pl.simulate(arm(), 5.0, pl.Gauss(order=4, step=0.2))
    ending = trajectory.ending
    assert ending.cause is Cause.NOT_CONVERGED
    assert ending.place.startswith("link '")
    assert "take a smaller step" in ending.remedy
    check_kept(trajectory, ending.time)
    assert 0.0 < ending.time < 5.0
    assert len(trajectory.time) == 1 + round(ending.time / 0.2)


def test_what_was_computed_before_the_failure_is_what_a_shorter_run_gives() -> None:
    failed = pl.simulate(arm(), 5.0, pl.Gauss(order=4, step=0.2))
    whole = pl.simulate(arm(), failed.ending.time, pl.Gauss(order=4, step=0.2))
    assert whole.ending.completed
    np.testing.assert_allclose(failed.states, whole.states, atol=1e-12)


def until_breakdown(values: object) -> pl.signals.FunctionSignal:
    """Harmless, then not a number."""
    harmless = np.asarray(values, dtype=float)

    def signal(times: np.ndarray) -> np.ndarray:
        fine = (times < BREAKDOWN + 1e-6).reshape(-1, *[1] * harmless.ndim)
        return np.where(fine, harmless, np.nan).reshape(len(times), *harmless.shape)

    return pl.signals.FunctionSignal(signal)


@pytest.mark.parametrize(
    ("component", "place"),
    [
        (pl.JointTorque("elbow", until_breakdown(0.2)), "the torque of joint 'elbow'"),
        (pl.TipWrench("upper", until_breakdown((0.1, 0.2, 0.3, 0.0, 0.0, 0.0)), name="pull"), "load 'pull'"),
        (
            pl.DistributedWrench("lower", until_breakdown((0.1, 0.2, 0.3, 0.0, 0.0, 0.0)), pl.Frame.BODY),
            "load 'lower_distributed_wrench'",
        ),
    ],
    ids=["torque", "tip wrench", "line load"],
)
def test_a_load_that_is_not_a_number(component: object, place: str) -> None:
    """It ends there and then, not at the beginning of the run, though signals are evaluated ahead of time."""
    trajectory = pl.simulate(pl.connect(arm(), component), 1.0, GAUSS, outputs=9)
    check_not_a_number(trajectory)
    check_kept(trajectory, BREAKDOWN)
    assert trajectory.ending.place.startswith(f"{place}: FunctionSignal")
    assert trajectory.ending.remedy == "let it return finite numbers"


def test_a_motion_that_is_not_a_number() -> None:
    def motion(times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        position = np.where(times < BREAKDOWN + 1e-6, 0.3, np.nan)
        return position, 0.0 * position, 0.0 * position

    closed = pl.connect(arm(), pl.PrescribedMotion("shoulder", pl.motions.FunctionMotion(motion)))
    trajectory = pl.simulate(closed, 1.0, GAUSS, outputs=9)
    check_not_a_number(trajectory)
    check_kept(trajectory, BREAKDOWN)
    assert trajectory.ending.place.startswith("the motion of joint 'shoulder': FunctionMotion")


def failing(sample: Sample) -> float:
    if sample.time > BREAKDOWN - 1e-6:
        raise ValueError("encoder lost")
    return 0.1


@pytest.mark.parametrize("integrator", [GAUSS, None], ids=["Gauss", "accuracy"])
def test_a_controller_that_raises(integrator: object) -> None:
    controller = pl.control.SampledController(failing, 0.01, joints=["elbow"], name="brain")
    trajectory = pl.simulate(pl.connect(arm(), controller), 1.0, integrator, outputs=20)
    ending = trajectory.ending
    assert ending.cause is Cause.CONTROLLER
    assert "'brain'" in ending.place
    assert "encoder lost" in ending.place
    assert ending.remedy
    check_kept(trajectory, BREAKDOWN)


def test_a_controller_that_raises_at_once_leaves_the_start() -> None:
    def broken(sample: Sample) -> float:
        raise RuntimeError("not plugged in")

    controller = pl.control.SampledController(broken, 0.01, joints=["elbow"])
    trajectory = pl.simulate(pl.connect(arm(), controller), 1.0, GAUSS)
    assert trajectory.ending.cause is Cause.CONTROLLER
    assert trajectory.time.tolist() == [0.0]
    np.testing.assert_array_equal(trajectory.states[0], arm().initial_state())
    assert trajectory.summary()


def test_a_run_of_some_accuracy_keeps_what_it_reached() -> None:
    closed = pl.connect(arm(), pl.JointTorque("elbow", until_breakdown(0.2)))
    trajectory = pl.simulate(closed, 1.0, accuracy=1e-4, outputs=20)
    check_not_a_number(trajectory)
    assert trajectory.ending.time == pytest.approx(BREAKDOWN, abs=1e-3)
    check_kept(trajectory, trajectory.ending.time)


def test_the_sentence_says_it_all() -> None:
    trajectory = pl.simulate(arm(), 5.0, pl.Gauss(order=4, step=1.0))
    sentence = str(trajectory.ending)
    assert sentence.startswith("stopped at t = 0 s: Newton's method did not converge at link '")
    assert sentence.endswith("take a smaller step, or more elements or PoseElement if the link bends strongly")
    assert trajectory.time.tolist() == [0.0]


@pytest.mark.parametrize("until", [0.0, -1.0, float("nan"), float("inf")])
def test_an_end_time_that_makes_no_sense_is_refused(until: float) -> None:
    with pytest.raises(InvalidInput, match=r"until = .* must be positive and finite"):
        pl.simulate(arm(), until)
