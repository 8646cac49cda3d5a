"""Runs that are asked for an accuracy: what they reach, what they tell, and what they leave alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, reference
from pliant.components.connect import Connected
from pliant.errors import InvalidInput
from pliant.model.continuation import Continuation
from pliant.model.contract import Arm, Model, Record, Run
from pliant.model.error_estimate import AT_CONTACTS, indicated, local_errors, missed_at
from pliant.model.sampling import Sample
from pliant.simulation import accuracy as accurate
from pliant.simulation import accurate_run
from pliant.simulation.law_copies import with_copied_laws
from pliant.simulation.start import consistent_start
from pliant.simulation.trials import (
    BELIEVED,
    UNKNOWN_DECAY,
    Row,
    SearchProgress,
    Trial,
    decay,
    decay_for_more_steps,
    order_seen,
)
from pliant.simulation.vibrations import seen_inside, unfollowed
from tests.support.arms import ASIDE, SLOW, two_links


def said(ask: Callable[[], object]) -> str:
    with pytest.raises(InvalidInput) as refusal:
        ask()
    return str(refusal.value)


TIMES = np.linspace(0.0, 1.0, 26)


def slewed_strip(formulation: object) -> Model:
    """A steel strip that is turned and rings."""
    arm = formulation.compile(pl.load(pl.library.path("steel_strip")))  # type: ignore[attr-defined]
    return pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 1.5, 0.5)))


def falling_arm(formulation: object) -> Model:
    """Two slow links under gravity, the elbow free."""
    arm = formulation.compile(two_links(ASIDE, section=SLOW))  # type: ignore[attr-defined]
    return pl.connect(arm, pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.3, 0.8, 1.0)))


def rubber(formulation: object) -> Model:
    """A rod so soft that it folds."""
    return formulation.compile(pl.load(pl.library.path("rubber_pendulum")))  # type: ignore[attr-defined, no-any-return]


# the answers: by finer meshes, order 6 and short steps; halving both changes them by less than a tenth of the best
PROBLEMS = {
    "strip": (slewed_strip, pl.GeometricallyExact(8), 5e-4, (1e-2, 1e-3, 1e-4, 1e-5)),
    "falling": (falling_arm, pl.GeometricallyExact(8, 4), 5e-4, (1e-2, 1e-3, 1e-4, 1e-5)),
    "rubber": (rubber, pl.GeometricallyExact(6, 12), 1e-3, (1e-2, 1e-3, 1e-4)),
}


def test_the_error_is_what_was_asked_for_and_what_is_told() -> None:
    shares = []
    for build, finest, step, accuracies in PROBLEMS.values():
        answer = pl.simulate(build(finest), 1.0, pl.Gauss(6, step), outputs=TIMES).tip_position
        for accuracy in accuracies:
            run = pl.simulate(build(pl.GeometricallyExact()), 1.0, outputs=TIMES, accuracy=accuracy)
            assert run.ending.completed
            assert run.error is not None
            true = np.linalg.norm(run.tip_position - answer, axis=1).max()
            assert true <= accuracy * run.error.scale
            shares.append(run.error.total / true)
            assert run.error.asked == accuracy
            assert run.error.reached
            assert not run.warnings()
            assert run.ledger.worst_ratio < 1e-10
    # of ten estimates nine are to lie within these factors
    assert np.mean([0.3 <= share <= 10.0 for share in shares]) >= 0.9


def test_the_mesh_is_chosen_only_where_it_was_left_open() -> None:
    rough, fine = (pl.simulate(slewed_strip(pl.GeometricallyExact()), 1.0, accuracy=each) for each in (1e-2, 1e-6))
    assert rough.provenance.choices["formulation"] != fine.provenance.choices["formulation"]
    coarse = pl.simulate(slewed_strip(pl.GeometricallyExact(degree=2)), 1.0, accuracy=1e-4)
    assert coarse.provenance.choices["formulation"] == "GeometricallyExact(degree=2, elements=1)"
    assert coarse.error is not None
    assert coarse.error.space > coarse.error.time
    (warning,) = coarse.warnings()
    assert warning.startswith("the tips may be 0.")
    assert "more than the 0.0001 asked: the mesh is too coarse" in warning


@pytest.mark.parametrize(
    "formulation",
    [
        pl.PoseElement(8),
        pl.Corotational(8),
        pl.Lumped(4),
        pl.EquivalentRigidLink(4),
        pl.PseudoSpectral(6),
        pl.MixedElement(16),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_formulation_tells_the_errors_of_its_steps_and_of_its_mesh(formulation: object) -> None:
    """Against the same formulation, finer: what it leaves out of the arm is not asked."""
    run = pl.simulate(slewed_strip(formulation), 0.6, outputs=12, accuracy=1e-2)
    assert run.error is not None
    model = slewed_strip(formulation.finer())  # type: ignore[attr-defined]
    answer = pl.simulate(model, 0.6, pl.Gauss(min(4, model.highest_order), 5e-4), outputs=run.time)
    true = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    assert run.error.time <= 1e-2
    assert 0.1 * true <= run.error.total <= 10.0 * true + 1e-6


def test_pose_elements_without_a_number_grow_until_they_serve() -> None:
    run = pl.simulate(slewed_strip(pl.PoseElement()), 0.6, outputs=12, accuracy=1e-3)
    answer = pl.simulate(slewed_strip(pl.GeometricallyExact(8)), 0.6, pl.Gauss(4, 1e-3), outputs=run.time)
    assert run.error is not None
    assert run.error.reached
    assert np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max() <= 1e-3


class Integrator:
    """A law that remembers: without `started` it goes on where it was."""

    def __init__(self) -> None:
        self.sum, self.times = 0.0, []  # type: float, list[float]

    def __call__(self, sample: Sample) -> float:
        self.times.append(sample.time)
        self.sum += 0.3 - sample.joint_positions[0]
        return 2.0 * self.sum - 3.0 * float(sample.joint_rates[0])


def of_an_outer_function() -> tuple[object, list[float]]:
    total, times = 0.0, []  # type: float, list[float]

    def law(sample: Sample) -> float:
        nonlocal total
        times.append(sample.time)
        total += 0.3 - sample.joint_positions[0]
        return 2.0 * total - 3.0 * float(sample.joint_rates[0])

    return law, times


def test_laws_with_a_memory_are_asked_in_one_run_only() -> None:
    """Trials ask copies: the run is that of a law which nobody has asked before, and its notes are those of one run."""
    arm = pl.Rigid().compile(two_links(section=SLOW))
    held = pl.PrescribedMotion("elbow", pl.motions.Hold(0.0))
    once = Integrator()
    controller = pl.control.SampledController(once, 0.02, joints=["shoulder"])
    answer = pl.simulate(pl.connect(arm, held, controller), 0.5, pl.Gauss(2, 2.5e-4), outputs=25)
    inner, times = of_an_outer_function()
    for law, notes in ((fresh := Integrator(), fresh.times), (inner, times)):
        controller = pl.control.SampledController(law, 0.02, joints=["shoulder"])  # type: ignore[arg-type]
        run = pl.simulate(pl.connect(arm, held, controller), 0.5, outputs=25, accuracy=1e-4)
        np.testing.assert_allclose(notes, np.arange(25) * 0.02, atol=1e-12)
        np.testing.assert_allclose(run.tip_position, answer.tip_position, atol=2e-4)


def test_long_steps_tell_their_error_without_being_asked() -> None:
    model = slewed_strip(pl.GeometricallyExact(5))
    answer = pl.simulate(model, 2.0, pl.Gauss(6, 1e-3), outputs=40).tip_position
    for integrator in (pl.Gauss(2, 0.05), pl.Gauss(4, 0.05), pl.Gauss(2, 0.01)):
        run = pl.simulate(model, 2.0, integrator)
        true = np.linalg.norm(run.tip_position[:: (len(run.time) - 1) // 40] - answer, axis=1).max()
        assert run.error is not None
        assert 0.3 * true <= run.error.time <= 10.0 * true
    (warning,) = pl.simulate(model, 2.0, pl.Gauss(2, 0.05), outputs=4).warnings()  # whatever is saved
    assert "the steps are too long" in warning
    assert not pl.simulate(model, 2.0, pl.Gauss(4, 2e-3)).warnings()


def test_stiff_dampers_are_left_to_a_method_that_damps() -> None:
    """A drive stops a spinning rod at once; with Gauss collocation its rate would stay for many steps."""
    strip = pl.load(pl.library.path("steel_strip"))
    spun = replace(strip, joints=(replace(strip.joints[0], initial_rate=8.0),))
    held = pl.connect(pl.GeometricallyExact().compile(spun), pl.JointPD(pl.motions.Hold(0.0), 0.0, 2e4))
    run = pl.simulate(held, 0.5, accuracy=1e-3, outputs=50)
    assert run.provenance.choices["integrator"].startswith("Radau(order=5")
    assert run.error is not None
    assert run.error.reached
    assert run.ledger.numerical_loss[-1] > 0.0
    assert run.ledger.worst_ratio < 1e-10
    assert not run.warnings()


@pytest.mark.parametrize("order", [2, 4])
def test_the_indicated_error_is_that_of_an_oscillator(order: int) -> None:
    """Steps slow a circular motion down to the angle of R(i w h) of Gauss collocation, and its last point by that."""
    step, rate, count = 0.05, 2.0, 200
    y = rate * step
    turn = 2.0 * np.arctan(y / 2.0 if order == 2 else (y / 2.0) / (1.0 - y * y / 12.0))
    angles = turn * np.arange(count + 1)
    tip = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    time = step * np.arange(count + 1)
    true = np.linalg.norm(tip[-1] - [np.cos(rate * time[-1]), np.sin(rate * time[-1]), 0.0])
    assert indicated(time, tip, order, step) == pytest.approx(true, rel=0.05)
    assert np.isnan(indicated(time**2, tip, order, step))  # times that are not evenly apart tell nothing


def moved_strip(*parts: object) -> pl.Arm:
    strip = pl.GeometricallyExact(5).compile(pl.load(pl.library.path("steel_strip")))
    return pl.connect(strip, pl.JointPD(pl.motions.Quintic(0.0, 1.0, 0.4), 60.0, 3.0), *parts)  # type: ignore[arg-type]


def told_and_true(model: pl.Arm, until: float, steps: list[pl.Gauss]) -> list[float]:
    """Told over true errors of fixed steps; the truth is the same mesh with very many."""
    times = np.linspace(0.0, until, 41)
    truth = pl.simulate(model, until, pl.Gauss(6, until / 16384), outputs=times).tip_position
    runs = [pl.simulate(model, until, each, outputs=times) for each in steps]
    return [
        run.error.time / float(np.linalg.norm(run.tip_position - truth, axis=1).max())
        for run in runs
        if run.error is not None
    ]


def test_fixed_steps_across_contacts_tell_their_error() -> None:
    """Of the order of the method alone these would be 2e-2, 1e-2 and 3e-4 of the truth."""
    wall = pl.Wall("w", pl.At("strip"), (0.0, 0.7, 0.0), (0.0, -1.0, 0.0), 3000.0, 5.0)
    found = told_and_true(moved_strip(wall), 1.0, [pl.Gauss(4, 5e-3), pl.Gauss(6, 2e-3), pl.Gauss(8, 2e-3)])
    assert len(found) == 3
    assert min(found) > 0.1
    assert max(found) < 10.0


def test_fixed_steps_of_high_order_tell_their_error() -> None:
    """Vibrations that turn by a radian in a step and more are beyond the order of the method."""
    found = told_and_true(moved_strip(), 0.8, [pl.Gauss(6, 1e-2), pl.Gauss(8, 1e-2), pl.Gauss(8, 4e-3)])
    assert len(found) == 3
    assert min(found) > 0.3
    assert max(found) < 10.0


def test_nothing_is_told_of_steps_that_let_a_joint_ring() -> None:
    strip = pl.load(pl.library.path("steel_strip"))
    robot = replace(strip, joints=(replace(strip.joints[0], initial_rate=8.0),))
    held = pl.connect(pl.GeometricallyExact(5).compile(robot), pl.JointPD(pl.motions.Hold(0.0), 0.0, 2e4))
    with pytest.warns(pl.PliantWarning, match="Radau"):
        run = pl.simulate(held, 0.1, pl.Gauss(8, 1e-3))
    assert run.error is None


@pytest.mark.parametrize("order", [6, 8])
def test_what_steps_of_high_order_resolve_is_told_by_their_order(order: int) -> None:
    """A circle in steps of 0.1 rad: its differences of order p + 1 are chords of 2 sin(0.05), each of the last."""
    time = 0.05 * np.arange(201)
    tip = np.stack([np.cos(2.0 * time), np.sin(2.0 * time), 0.0 * time], axis=1)
    chord, count = 2.0 * np.sin(0.05), 200
    constant = {6: 1.0 / 20160.0, 8: 1.0 / 5080320.0}[order]
    assert indicated(time, tip, order, 0.05) == pytest.approx(constant * count * chord ** (order + 1), rel=0.5)


def test_steps_in_which_contacts_begin_add_to_the_error() -> None:
    """At 1 m/s, stopped to 0.5 m/s: the way of a step of 10 ms, 1e-2 m, and its change, 5e-3 m, by AT_CONTACTS."""
    time = 0.01 * np.arange(101)
    tip = np.stack([np.minimum(time, 0.5) + 0.5 * np.maximum(time - 0.5, 0.0), 0.0 * time, 0.0 * time], axis=1)
    assert missed_at((), time, tip, 0.01) == 0.0
    assert missed_at((0.5,), time, tip, 0.01) == pytest.approx(AT_CONTACTS * np.sqrt(1e-2 * 5e-3))
    # rows ten steps apart show a tenth of the change at most
    rough = missed_at((0.5,), time[::10], tip[::10], 0.01)
    assert rough == pytest.approx(AT_CONTACTS * np.sqrt(1e-2 * 5e-4))


@pytest.mark.parametrize("order", [2, 4])
def test_steps_of_any_length_show_what_they_add_to_the_error(order: int) -> None:
    """Equal steps add up to `indicated`; of x = t^(p + 1) every step adds c h^(p + 1) (p + 1)!, whatever its length."""
    step, slowed = 0.05, {2: 1.0 / 12.0, 4: 1.0 / 720.0}[order]
    time = step * np.arange(41)
    tip = np.stack([np.cos(time), np.sin(2.0 * time), 0.0 * time], axis=1)
    local = local_errors(time, tip[:, None], order, np.zeros(0))
    assert local.sum() == pytest.approx(indicated(time, tip, order, step), rel=0.2)  # both ends are seen once more
    uneven = np.cumsum(np.concatenate([[0.0], np.full(12, 0.1), np.full(20, 0.02)]))
    tip = np.stack([uneven ** (order + 1), 0.0 * uneven, 0.0 * uneven], axis=1)
    added = slowed * np.diff(uneven) ** (order + 1) * math.factorial(order + 1)
    np.testing.assert_allclose(local_errors(uneven, tip[:, None], order, np.zeros(0))[:, 0], added, rtol=1e-6)
    # a jump of the velocity where a step ends is no error of the steps
    tip[12:, 1] = uneven[12:] - uneven[12]
    np.testing.assert_allclose(local_errors(uneven, tip[:, None], order, uneven[12:13])[:, 0], added, rtol=1e-6)


def test_three_runs_show_their_order() -> None:
    """Errors 3 n^(-2.5) with 10, 25 and 40 steps."""
    errors = [3.0 * n**-2.5 for n in (10, 25, 40)]
    assert order_seen(errors[0] - errors[1], errors[1] - errors[2], 0.4, 25 / 40) == pytest.approx(2.5, abs=1e-3)


def test_steps_are_short_where_a_motion_begins_with_a_jerk() -> None:
    """Gravity meets an arm at rest under stiff drives: vibrations that die out ask for short steps at first only.

    The answer is that of 4 096 steps of order 6 by degree 5: 8 192 change it by 1.1e-7 of the reach, degree 8 by 7e-6.
    """
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path("seven_joint_two_flexible")))
    law = pl.JointPD([pl.motions.Quintic(0.0, 0.4, 0.8)] * 7, 200.0, 8.0)
    times = np.linspace(0.0, 0.8, 51)
    run = pl.simulate(pl.connect(arm, law), 0.8, accuracy=1e-4, outputs=times)
    fine = pl.GeometricallyExact(5).compile(arm.robot)
    answer = pl.simulate(pl.connect(fine, law), 0.8, pl.Gauss(6, 0.8 / 4096), outputs=times)
    assert run.error is not None
    assert np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max() <= 1e-4 * run.error.scale
    shortest, longest = (float(word) for word in run.provenance.choices["steps"].split()[:3:2])
    assert longest > 5.0 * shortest


def test_the_file_keeps_the_error(tmp_path: Path) -> None:
    run = pl.simulate(slewed_strip(pl.GeometricallyExact()), 0.5, outputs=10)
    run.save(tmp_path / "run.nc")
    assert pl.load_trajectory(tmp_path / "run.nc").error == run.error
    assert {line.name for line in run.summary()} >= {"estimated error of the tips by steps", "accuracy asked"}


def test_refusals() -> None:
    model = slewed_strip(pl.GeometricallyExact())
    assert said(lambda: pl.simulate(model, 1.0, pl.Gauss(), accuracy=1e-3)).startswith("accuracy = 0.001 chooses")
    for wrong in (0.0, -1.0, 1.0, float("nan")):
        assert said(lambda wrong=wrong: pl.simulate(model, 1.0, accuracy=wrong)).endswith(  # type: ignore[misc]
            "must lie between 1e-09 and 0.3; it is the largest error of a tip over the reach of the arm, such as 1e-4"
        )
    assert "accuracy" in said(lambda: pl.simulate(model, 1.0, accuracy="high"))  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="accuracy"):
        assert pl.simulate(model, 0.1, pl.Adaptive(1e-3)).error is not None


def test_sources_that_few_steps_would_alias_are_followed_from_the_first_trial_on() -> None:
    """A force of 1002 Hz on a strip: 16 steps, or steps of 1 ms, would see a slow one."""
    arm = pl.GeometricallyExact().compile(pl.load(pl.library.path("steel_strip")))
    force = pl.TipWrench("strip", pl.signals.Sine((0.0, 3.0, 0.0, 0.0, 0.0, 0.0), 1002.0))
    model = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0)), force)
    run = pl.simulate(model, 0.1, accuracy=1e-3, outputs=20)
    assert not [each for each in run.warnings() if "changes faster" in each]
    # the answer: 32 steps of order 6 in each cycle of the force; twice as many change it by 2e-9 m
    fine = pl.connect(pl.GeometricallyExact(8).compile(arm.robot), *model.components)
    answer = pl.simulate(fine, 0.1, pl.Gauss(6, 1.0 / 1002.0 / 32.0), outputs=run.time)
    assert run.error is not None
    true = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    assert true <= 0.02 * run.error.asked  # of the reach, 1 m
    assert 0.3 <= run.error.total / true <= 10.0  # what is told of a run that nothing is compared with


def test_vibrations_that_steps_do_not_follow_are_seen_in_velocities() -> None:
    """v = A w (-1)^n with w = 2 / h is seen as 1.5 * 2 A, a slow swing as nothing: (2 sin 0.05)^6 / 64 of it."""
    step, amplitude, n = 0.01, 1e-4, np.arange(41)
    grid = step * n
    fast = along_x(amplitude * 2.0 / step * (-1.0) ** n)
    assert unfollowed(grid, fast) == pytest.approx(3.0 * amplitude)
    assert unfollowed(grid, along_x(np.cos(0.1 * n))) < 1.5 * step * 1.6e-8


def along_x(values: np.ndarray) -> np.ndarray:
    """Of one tip."""
    return np.stack([values, 0.0 * values, 0.0 * values], axis=1)[:, None]


def test_vibrations_that_ends_of_steps_hide_are_seen_inside() -> None:
    """A sine of amplitude A that turns by 10 rad in a step of 1 s, of which the polynomial of the step goes straight
    from end to end: it is off the cubic by -f (1 - f) ((1 - 2 f) (x0 - x1) + (1 - f) v0 - f v1), f = 0.2.

    What is resolved, 0.1 rad in a step, is off by f^2 (1 - f)^2 / 24 of the fourth power of that: 1.1e-7 A.
    """
    n = np.arange(41.0)

    def seen(phase: float, inside: Callable[[np.ndarray], np.ndarray], damped: bool = False) -> float:
        x, v = along_x(np.sin(phase * n)), along_x(phase * np.cos(phase * n))
        ends = (np.array([each[:-1], each[1:]]) for each in (x, v))
        return seen_inside(np.ones(40), *ends, along_x(inside(phase * n[:-1])), damped)

    def straight(at: np.ndarray) -> np.ndarray:
        return 0.8 * np.sin(at) + 0.2 * np.sin(at + 10.0)

    begin, end = 10.0 * n[:-1], 10.0 * n[1:]
    off = 0.16 * (0.6 * (np.sin(begin) - np.sin(end)) + 10.0 * (0.8 * np.cos(begin) - 0.2 * np.cos(end)))
    in_order = np.sort(np.abs(off))
    assert seen(10.0, straight) == pytest.approx(4.0 * in_order[20])
    assert seen(10.0, straight, damped=True) == pytest.approx(3.0 * in_order[-2])
    assert seen(0.1, lambda at: np.sin(at + 0.02)) < 4.0 * 1.2e-7
    # a drift that is the same in all steps, as a mesh makes it, is none
    assert seen(0.1, lambda at: np.sin(at + 0.02) + 1e-3) < 1e-6


def plainly(sample: Sample) -> float:
    return -float(sample.joint_rates[0])


def test_only_laws_with_a_memory_are_copied() -> None:
    arm = pl.Rigid().compile(two_links(section=SLOW))
    for law, copied in ((plainly, False), (Integrator(), True), (of_an_outer_function()[0], True)):
        controller = pl.control.SampledController(law, 0.02, joints=["shoulder"])  # type: ignore[arg-type]
        model = pl.connect(arm, controller)
        assert (with_copied_laws(model) is not model.inputs) == copied


def test_meshes_are_joined_to_components_once() -> None:
    model = slewed_strip(pl.GeometricallyExact())
    assert isinstance(model, Connected)
    assert model.by(pl.GeometricallyExact(3)) is model.by(pl.GeometricallyExact(3))
    assert model.by(pl.GeometricallyExact(3)) is not model.by(pl.GeometricallyExact(4))


def test_arms_are_known_by_their_type_in_any_order() -> None:
    model = slewed_strip(pl.GeometricallyExact())
    arm = model.arm  # type: ignore[attr-defined]
    assert [isinstance(each, Arm) for each in (model, arm, object(), arm, model)] == [True, True, False, True, True]


def test_a_search_whose_trials_were_all_given_up_still_runs() -> None:
    """Graded steps may be too many before one of them was tried: the trials with equal ones are forgotten then."""
    arm = pl.GeometricallyExact(degree=2).compile(pl.load(pl.library.path("steel_strip")))
    start = consistent_start(arm)
    search = accurate.Search(arm, 0.1, 1e-3, (start, False), 10, SearchProgress(None), Continuation.at(0.0))
    assert search.planned(search.own, 2.0 * accurate.MOST_STEPS) is None
    search.row(search.own)
    found = accurate_run._as_it_is(search)
    assert found.record.ending.completed
    assert found.error.time == math.inf


def test_no_run_is_done_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that is good enough is the run: with the trials before it, it is all that was computed."""
    done: list[tuple[object, int, bool]] = []
    advance = accurate.advance

    def counted(model: Model, run: Run) -> Record:
        done.append((getattr(model, "formulation", None), len(run.grid), run.trial))
        return advance(model, run)

    monkeypatch.setattr(accurate, "advance", counted)
    for build, asked in ((slewed_strip, 1e-6), (rubber, 1e-2)):
        done.clear()
        run = pl.simulate(build(pl.GeometricallyExact()), 1.0, accuracy=asked)
        assert len(done) == len(set(done)) == int(run.provenance.choices["trials"]) + 1 > 2
        assert (repr(done[-1][0]), done[-1][1]) == (run.provenance.choices["formulation"], run.statistics["steps"] + 1)


@pytest.mark.parametrize(("name", "least"), [("strip, gear motor", 1e-5), ("sampled ruler", 1e-4)])
def test_a_run_that_shows_that_it_is_good_enough_is_the_only_one(name: str, least: float) -> None:
    motion = MOTIONS[name]
    times = np.linspace(0.0, motion.duration, 26)
    # halving steps of a coarser mesh changes the answer by less than 1e-7 of the reach (benchmarks/accuracy.py)
    answer = reference(replace(motion, steps=2048), times).tip_position
    for accuracy in (each for each in (1e-2, 1e-3, 1e-4, 1e-5) if each >= least):
        model = motion.build(pl.GeometricallyExact())
        run = pl.simulate(model, motion.duration, outputs=times, accuracy=accuracy)
        assert run.error is not None
        assert run.provenance.choices["trials"] == "0"
        true = np.linalg.norm(run.tip_position - answer, axis=1).max()
        assert true <= accuracy * run.error.scale
        assert 0.3 <= run.error.total / true <= (10.0 if accuracy < 1e-3 else 20.0)  # of the mesh, rather too much
        assert run.ledger.worst_ratio < 1e-10


@pytest.mark.parametrize("name", ["strip, stop", "anthropomorphic", "rubber pendulum"])
def test_what_a_run_cannot_show_is_compared_with_others(name: str) -> None:
    """Contacts and stiff dampers hide errors from tips, and a rod may bend beyond its polynomials."""
    motion = MOTIONS[name]
    run = pl.simulate(motion.build(pl.GeometricallyExact()), motion.duration, accuracy=1e-2)
    assert int(run.provenance.choices["trials"]) > 0


def test_a_first_run_of_order_four_counts_as_a_trial_of_half_the_steps() -> None:
    start = consistent_start(model := slewed_strip(pl.GeometricallyExact()))
    search = accurate.Search(model, 1.0, 1e-4, (start, False), TIMES, SearchProgress(None), Continuation.at(0.0))
    level, mean, good = accurate_run._first(search)
    trial = search.row(level).tried[mean]
    assert trial is not None
    assert (good, search.order, trial.record) == (False, 6, None)
    assert trial.mean == mean == search.checked
    assert trial.local is not None
    assert trial.local.shape[0] == len(search.steps.grid(mean)) - 1


def test_a_trial_is_blind_if_it_lies_further_off_than_it_shows() -> None:
    tips = np.zeros((2, 1, 3))
    shows, hides = Trial(2.0, tips, 1e-3), Trial(2.0, tips, 1e-3, hidden=1e-2)
    assert (shows.suspected, hides.suspected) == (1e-3, 1e-2)
    assert shows.blind(1e-2)
    assert not shows.blind(4e-3)
    assert not hides.blind(1e-2)
    assert hides.blind(3e-2)


def test_trials_of_equal_steps_are_compared_with_unequal_ones() -> None:
    row = Row(slewed_strip(pl.GeometricallyExact()), np.zeros(0))
    row.tried = {2.0: Trial(2.0, np.zeros((2, 1, 3))), 4.0: None}
    row.change_base(0.25)
    assert not row.tried
    assert [each.mean for each in row.before(1.0)] == [0.5]
    assert not row.before(0.5)


def test_decays_are_those_from_one_mesh_to_the_next() -> None:
    assert decay([(1.0, 1)], 2) == UNKNOWN_DECAY
    assert decay([(1.0, 1), (0.3, 1)], 2) == pytest.approx(0.3)
    assert decay([(1.0, 2), (0.09, 1)], 2) == pytest.approx(0.3)  # by two meshes


# by the search of before: 2.0, 1.5 and 1.1 times what was asked
@pytest.mark.parametrize(
    ("name", "part", "asked"),
    [("seven joints, geared", 0.71, 1e-4), ("two soft links", 0.71, 1e-6), ("strip, base moved", 1.37, 1e-4)],
)
def test_other_durations_keep_what_is_asked(name: str, part: float, asked: float) -> None:
    whole = (MOTIONS | HELD_OUT)[name]
    # more steps of the reference change the answer by less than a hundredth of what is asked
    motion = replace(whole, duration=part * whole.duration, steps=2048)
    times = np.linspace(0.0, motion.duration, 51)
    answer = reference(motion, times)
    run = pl.simulate(motion.build(pl.GeometricallyExact()), motion.duration, outputs=times, accuracy=asked)
    assert run.error is not None
    tips = [np.stack([link.position[:, -1] for link in each.links]) for each in (run, answer)]
    assert np.linalg.norm(tips[0] - tips[1], axis=-1).max() <= asked * run.error.scale


def test_decays_that_were_seen_with_fewer_steps_are_believed_with_caution() -> None:
    assert decay_for_more_steps(1e-3, 2e-4) == pytest.approx(0.3)
    assert decay_for_more_steps(1e-3, 1e-9) == BELIEVED[0]
    assert decay_for_more_steps(1e-3, 1e-3) == BELIEVED[1]
