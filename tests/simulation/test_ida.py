"""IDA: tolerances honoured, constraints that hold for velocities, drift of positions and energy that is reported."""

from __future__ import annotations

import math
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.errors import InvalidInput
from pliant.model.contract import LOOSELY
from pliant.model.inputs import Inputs
from pliant.model.smooth_signals import SmoothSignals, jumps
from pliant.model.state import Cause
from pliant.simulation.ida_run import advance_by_ida, integral
from tests.support.arms import ASIDE, SOFT, clamped, on_a_hinge, soft_link, two_links

Array = np.ndarray
UNTIL, RAMP, REACH = 1.0, 3.0, 16.0
TIMES = np.linspace(0.0, UNTIL, 11)
DAMPED = replace(SOFT, damping=0.02)


def case_1(formulation: pl.PoseElement | pl.Corotational) -> pl.Model:
    """The two 8 m links of [damic2006], three times as fast as there, without damping: they bend by metres."""
    arm = formulation.compile(pl.load(pl.library.path("damic_two_link")))
    shoulder, elbow = pl.motions.Cycloid(math.pi / 2, 0.0, RAMP), pl.motions.SmoothStart(1.0, RAMP)
    return pl.connect(arm, pl.PrescribedMotion("shoulder", shoulder), pl.PrescribedMotion("elbow", elbow))


def extrapolated(model: pl.Model, step: float) -> Array:
    """Tip of the limit of short energy-exact steps, whose error has even powers of the step."""
    tips = [pl.simulate(model, UNTIL, pl.Gauss(order=2, step=step / n), outputs=TIMES).tip_position for n in (1, 2, 4)]
    once = [(4.0 * fine - coarse) / 3.0 for coarse, fine in pairwise(tips)]
    return (16.0 * once[1] - once[0]) / 15.0


def run(model: pl.Model, tolerance: float) -> pl.Trajectory:
    return pl.simulate(model, UNTIL, pl.IDA(tolerance, tolerance), outputs=TIMES)


@pytest.mark.parametrize("formulation", [pl.PoseElement(3), pl.Corotational(3)], ids=str)
def test_errors_follow_the_tolerance(formulation: pl.PoseElement | pl.Corotational) -> None:
    """Of order two, a tolerance of 1/1000 is an error of 1/100, less where steps are chosen apart.

    The error of the extrapolation is below 1e-6 m. Steps of 1e-8 in number 1000 add up to 1e-5 of the reach.
    """
    model = case_1(formulation)
    reference = extrapolated(model, 2e-3)
    runs = [run(model, tolerance) for tolerance in (1e-8, 1e-11)]
    coarse, fine = (np.abs(each.tip_position - reference).max() for each in runs)
    assert coarse < 1e-4 * REACH
    assert fine < 0.05 * coarse
    drifts = [np.abs(each.ledger.residual).max() / each.ledger.exchanged[-1] for each in runs]
    assert drifts[0] < 1e-3
    assert drifts[1] < 0.05 * drifts[0]
    for name in ("joint misalignment", "directors"):
        first, second = (each.violations[name].max() for each in runs)
        assert second < 0.1 * first < 1e-4


def test_constraints_hold_for_velocities_and_drift_for_positions() -> None:
    """The elbow: equal velocities at the ends of steps, to rounding; between them by polynomials, to the tolerance.

    The energy-exact step keeps all to rounding.
    """
    model = case_1(pl.PoseElement(3))
    by_ida, exact = run(model, 1e-8), pl.simulate(model, UNTIL, pl.Gauss(order=2, step=1e-3), outputs=TIMES)
    tip, root = 4, 5  # nodes of the two sides of the elbow, both with their centre of mass in it
    for each, between, offset, turn in ((by_ida, 1e-8, 1e-9, 1e-4), (exact, 1e-12, 1e-12, 1e-12)):
        velocity, speed = each.state("velocity"), np.abs(each.state("velocity")).max()
        apart = np.abs(velocity[:, tip] - velocity[:, root]).max(axis=1)
        assert apart[-1] < 1e-12 * speed
        assert apart.max() < between * speed
        assert each.violations["joint offset"].max() < offset
        assert each.violations["joint misalignment"].max() < turn
    assert 1e-12 < by_ida.violations["directors"].max() < 1e-4
    assert exact.violations["directors"].max() < 1e-14
    assert not by_ida.ledger.exact
    assert exact.ledger.worst_ratio < 1e-10


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8])
def test_a_rigid_arm_has_the_accuracy_that_was_asked_for(tolerance: float) -> None:
    """Order five and all unknowns controlled: against a run by a tolerance that is 1000 times tighter."""
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_position=0.5),
        pl.RevoluteJoint("elbow", "upper", "lower", initial_rate=2.0),
    )
    links = tuple(
        pl.RigidLink(name, (1.0, 0.0, 0.0), 1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
        for name in ("upper", "lower")
    )
    model = pl.PoseElement(1).compile(pl.Robot("pendulum", links, joints, gravity=(0.0, -9.81, 0.0)))
    found, finer = run(model, tolerance), run(model, 1e-3 * tolerance)
    assert np.abs(found.tip_position - finer.tip_position).max() < 100.0 * tolerance
    assert np.abs(found.joint_rate - finer.joint_rate).max() < 1000.0 * tolerance
    stored = model.energy(found.states)
    assert np.abs(found.ledger.residual).max() < 1000.0 * tolerance * np.abs(stored).max()


def test_a_damped_arm_with_a_drive_that_jumps() -> None:
    """Feedback, gravity and a torque that jumps twice, against the limit of short steps; 1e-6 is the limit's error."""
    robot = on_a_hinge(soft_link(section=DAMPED), gravity=(0.0, 0.0, -9.81))
    torque = pl.signals.SignalSum((pl.signals.Step(1.0, 0.3), pl.signals.Step(-1.0, 0.6)))
    model = pl.connect(
        pl.PoseElement(3).compile(robot),
        pl.JointPD(pl.motions.Hold(0.2), stiffness=10.0, damping=0.5),
        pl.JointTorque("hinge", torque),
    )
    assert jumps(model.inputs, np.array([0.0, 0.3, 0.6, 1.0])).tolist() == [0.0, 0.3, 0.6, 1.0]
    found = run(model, 1e-9)
    assert found.ending.completed
    assert np.abs(found.tip_position - extrapolated(model, 2e-3)).max() < 2e-6
    works, ledger = sum(found.ledger.works.values()), found.ledger
    assert np.abs(ledger.residual).max() < 1e-6 * ledger.exchanged[-1]
    assert np.abs(works).max() > 0.1 * ledger.stored.max()


def test_a_closed_loop_follows_the_tolerance() -> None:
    """The parallelogram pushed by a force that grows from zero, against the limit of steps that resolve its waves.

    Of order two, a tolerance of 1/100 is an error of 1/21; half of that is left to the choice of steps. The points that
    the loop holds together are unknowns, and multistep methods keep linear relations between unknowns: no drift.
    """
    arm = pl.PoseElement(2).compile(pl.load(pl.library.path("parallelogram")))
    grown = pl.signals.FunctionSignal(lambda t: np.outer(np.sin(2.0 * t) ** 2, (3.0, 2.0, 0.0, 0.0, 0.0, 0.0)))
    model = pl.connect(arm, pl.PointWrench(pl.At("right_outer"), grown))
    runs, reference = [run(model, tolerance) for tolerance in (1e-8, 1e-10)], extrapolated(model, 2.5e-4)
    moved = np.abs(reference - reference[0]).max()
    coarse, fine = (np.abs(each.tip_position - reference).max() for each in runs)
    assert fine < 0.1 * coarse < 1e-4 * moved
    assert all(each.violations["loops"].max() < 1e-12 for each in runs)
    drifts = [np.abs(each.ledger.residual).max() / each.ledger.exchanged[-1] for each in runs]
    assert drifts[1] < 0.1 * drifts[0] < 1e-4


def test_a_run_says_what_it_took_and_how_far_constraints_are_violated(tmp_path: Path) -> None:
    found = run(case_1(pl.PoseElement(2)), 1e-6)
    assert set(found.statistics) == {"steps", "residuals", "jacobians"}
    assert found.statistics["residuals"] >= found.statistics["steps"] >= 20.0
    lines = {line.name for line in found.summary()}
    assert {"residuals", "largest violation, joint offset", "largest violation, directors"} <= lines
    assert found.table().attrs["units"]["joint misalignment"] == "rad"
    assert found.time.tolist() == TIMES.tolist()
    found.save(tmp_path / "run.nc")
    again = pl.load_trajectory(tmp_path / "run.nc")
    assert {name: each.tolist() for name, each in again.violations.items()} == {
        name: each.tolist() for name, each in found.violations.items()
    }


def test_one_model_serves_threads_and_is_not_changed() -> None:
    model = case_1(pl.PoseElement(2))
    alone = run(model, 1e-7)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: run(model, 1e-7), range(2)))
    assert all((each.states == alone.states).all() for each in both)
    again = run(pickle.loads(pickle.dumps(model)), 1e-7)
    assert (again.states == alone.states).all()
    assert pickle.loads(pickle.dumps(pl.IDA(1e-7))) == pl.IDA(1e-7)


def test_an_interrupted_run_keeps_what_it_has() -> None:
    model = case_1(pl.PoseElement(2))

    def pressed(part: float) -> None:
        if part < 1.0:
            raise KeyboardInterrupt

    found = pl.simulate(model, 1e4, pl.IDA(1e-9, 1e-9), outputs=10**5, progress=pressed)
    assert found.ending.cause is Cause.INTERRUPTED
    assert 1 < len(found.time) < 10**5
    assert found.time[-1] == pytest.approx(found.ending.time)


def test_a_link_that_bends_too_far_ends_the_run() -> None:
    robot = clamped(soft_link(section=DAMPED))
    moment = pl.signals.Step((0.0, 0.0, 0.0, 0.0, 0.0, 1e3))
    model = pl.connect(pl.PoseElement(1).compile(robot), pl.TipWrench("link", moment, frame="body"))
    found = pl.simulate(model, UNTIL, pl.IDA(1e-6, 1e-6))
    assert found.ending.cause is Cause.TOO_BENT
    assert 0.0 < found.time[-1] < UNTIL


@dataclass(frozen=True)
class Oscillator:
    """x'' = -x as x' = v, v' = a, with a as an unknown without a rate: x = cos t. Its own model, without a band."""

    inputs: Inputs = field(default_factory=lambda: Inputs.none(0))
    controlled: Array = field(default_factory=lambda: np.array([True, True, False]))
    band: None = None
    works: tuple[str, ...] = ()

    def descriptor(self, inputs: Inputs) -> Oscillator:
        return self

    def begin(self, state: Array, span: tuple[float, float]) -> tuple[Array, Array]:
        x, v = state
        return np.array([x, v, -x]), np.array([v, -x, 0.0])

    def residual(self, t: float, y: Array, rate: Array, out: Array) -> None:
        out[:] = rate[0] - y[1], rate[1] - y[2], y[2] + y[0]

    def jacobian(self, t: float, y: Array, rate: Array, c: float, out: Array) -> None:
        out[:] = [[c, -1.0, 0.0], [0.0, c, -1.0], [1.0, 0.0, 1.0]]

    def powers(self, t: float, y: Array, rate: Array, out: Array) -> None:
        out[:] = 0.0

    def stored(self, y: Array) -> tuple[Array, Array]:
        return 0.5 * y[:, 1] ** 2, 0.5 * y[:, 0] ** 2

    def problem(self, t: float, y: Array) -> None:
        return None

    def states(self, y: Array) -> Array:
        return y[:, :2]

    def efforts(self, times: Array, y: Array, rates: Array) -> dict[str, Array]:
        return {"force": y[:, 2:]}

    def violations(self, y: Array) -> dict[str, Array]:
        return {}


@pytest.mark.parametrize("tolerance", [1e-6, 1e-8, 1e-10])
def test_an_oscillator_swings_as_long_as_it_should(tolerance: float) -> None:
    """cos t over a period and more; the errors of some hundred steps add up, and energy drifts by as much.

    The acceleration is not controlled, but bounded loosely, between steps too.
    """
    times = np.linspace(0.0, 10.0, 101)
    start, corners = np.array([1.0, 0.0]), np.array([0.0, 10.0])
    record = advance_by_ida(Oscillator(), start, pl.IDA(tolerance, tolerance), times, corners, None)
    assert record.ending.completed
    assert record.time.tolist() == times.tolist()
    assert np.abs(record.states - np.stack([np.cos(times), -np.sin(times)], axis=1)).max() < 300.0 * tolerance
    assert np.abs(record.efforts["force"][:, 0] + np.cos(times)).max() < LOOSELY * tolerance
    assert np.abs(record.ledger.residual).max() < 300.0 * tolerance


def refused(model: pl.Model) -> str:
    with pytest.raises(InvalidInput) as refusal:
        pl.simulate(model, 0.1, pl.IDA())
    return str(refusal.value)


def test_what_is_not_carried_is_refused_in_a_sentence() -> None:
    robot = two_links(ASIDE)
    assert "descriptor form, which Lumped does not offer" in refused(pl.Lumped().compile(robot))
    arm = pl.PoseElement(2).compile(robot)
    wall = pl.Wall("wall", pl.At(robot.tip_link), (0.0, 0.0, -5.0), (0.0, 0.0, 1.0), 10.0, 0.1)
    assert "'wall' acts on one side only" in refused(pl.connect(arm, wall))
    assert "motion of the base" in refused(pl.connect(arm, pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.2, 1.0))))
    link = soft_link()
    ball = pl.Robot("ball", (link,), (pl.joints.SphericalJoint("ball", "base", link.name),))
    assert "joint 'ball' is a ball" in refused(pl.PoseElement(2).compile(ball))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    assert "pip install 'pliant[sundae]'" in refused(pl.PoseElement(2).compile(two_links(ASIDE)))


def test_orders_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="order = 6 must be 1, 2, 3, 4 or 5"):
        pl.IDA(order=6)


def test_polynomials_meet_signals_and_find_jumps() -> None:
    """EXACT is 1e-13 of the size; arccos and sums of 13 terms round to 1e-14."""
    signal = SmoothSignals.of(lambda t: np.stack([np.sin(40.0 * t), np.exp(-t)], axis=1), (0.0, 3.0))
    t = np.linspace(0.0, 3.0, 1001)
    assert np.abs(signal(t) - np.stack([np.sin(40.0 * t), np.exp(-t)], axis=1)).max() < 1e-12
    inputs = case_1(pl.PoseElement(1)).inputs
    # where the motions of case 1 end only their third derivatives jump
    assert jumps(inputs, np.array([0.0, RAMP, 5.0])).tolist() == [0.0, 5.0]


def test_integrals_are_exact_for_polynomials_of_degree_five() -> None:
    """Lengths of steps that differ by 1e5 multiply rounding by as much."""
    at = np.array([0.0, 1e-6, 2e-6, 4e-6, 1e-3, 0.1, 0.15, 0.4, 0.8, 1.0])
    until = np.array([0.0, 3e-6, 0.12, 0.4, 0.95, 1.0])
    found = integral(at, np.stack([at**5, np.ones(10)], axis=1), until)
    assert found == pytest.approx(np.stack([until**6 / 6.0, until], axis=1), abs=1e-11)
