"""Runs in pieces are one long run, to the last bit: for every formulation, whatever drives the arm."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.model.ledger import SUMS
from tests.bond_graph.systems import NONLINEAR, pendulum
from tests.contract.formulations import GAUSS, HELD, KINDS, SWING, Kind, every_formulation, swing
from tests.support import four_bar

FIRST, SECOND, UNTIL = 0.013, 0.02, 0.034


class Integral:
    """A law that remembers the sum of what it saw, as numbers that files can hold."""

    def __init__(self) -> None:
        self.memory = np.zeros(1)

    def __call__(self, sample: pl.control.Sample) -> float:
        missing = 0.5 - float(sample.joint_positions[0])
        self.memory = self.memory + missing
        return 2.0 * missing + 0.1 * float(self.memory[0]) - 0.05 * float(sample.joint_rates[0])


class Inertial:
    """A law that reads an inertial unit, which holds its readings for longer than the law's period."""

    memory = ()

    def __call__(self, sample: pl.control.Sample) -> float:
        return -1e-3 * float(sample.readings[0][5])


def counting() -> Callable[[pl.control.Sample], float]:
    """A law that remembers by a variable of the function around it."""
    asked = 0

    def law(sample: pl.control.Sample) -> float:
        nonlocal asked
        asked += 1
        return 0.01 * asked

    return law


ENCODER = pl.sensors.Encoder(resolution=1e-4, noise=1e-3)
NOISY = pl.sensors.Tachometer(noise=1e-3)


def sampled() -> tuple[object, ...]:
    """Memory, a delay longer than the period, rounding and noise."""
    return (
        pl.control.SampledController(Integral(), 3e-3, delay=4e-3, encoder=ENCODER, tachometer=NOISY),
        pl.control.SampledController(counting(), 2e-3),
    )


DRIVES: dict[str, Callable[[], tuple[object, ...]]] = {
    "free": tuple,
    "feedback": lambda: (HELD, pl.JointTorque("hinge", pl.signals.Sine(0.3, 90.0))),
    "sampled": sampled,
    "servo": lambda: (
        pl.control.VelocityServo(0.02, 2e-3, command_resolution=1e-3),
        pl.control.PositionLoop(pl.motions.Quintic(0.4, 0.5, 0.03), 5.0, 4e-3, delay=1e-3, encoder=ENCODER),
    ),
    "noisy servo": lambda: (pl.control.VelocityServo(0.02, 2e-3, tachometer=NOISY),),
    "discrete": lambda: (
        pl.control.DiscreteController(
            pl.control.StateSpace.transfer_function([0.1, -0.09], [1.0, -0.5]),
            [pl.sensors.Accelerometer("link", noise=0.1)],
            3e-3,
            ["hinge"],
            references=pl.signals.Sine(0.3, 20.0),
            delay=4e-3,
            limit=0.05,
        ),
        pl.control.SampledController(
            Inertial(), 4e-3, sensors=[pl.sensors.Imu("link", period=8e-3, rate_noise=0.01)], name="inertial"
        ),
    ),
    "motor": lambda: (pl.GearMotor("hinge", 1e-4, 10.0, stiffness=500.0, damping=0.5), HELD),
    "motion": lambda: (pl.PrescribedMotion("hinge", pl.motions.Quintic(0.4, 0.6, 0.03)),),
}


def same(whole: pl.Trajectory, *pieces: pl.Trajectory) -> None:
    """States, efforts and sums of pieces are those of the whole run at the same times."""
    for piece in pieces:
        assert piece.ending.completed
        rows = np.searchsorted(whole.time, piece.time)
        np.testing.assert_array_equal(piece.time, whole.time[rows])
        np.testing.assert_array_equal(piece.states, whole.states[rows])
        for name, effort in piece.efforts.items():
            np.testing.assert_array_equal(effort, whole.efforts[name][rows], err_msg=name)
        for name in ("kinetic", "strain", *SUMS):
            np.testing.assert_array_equal(getattr(piece.ledger, name), getattr(whole.ledger, name)[rows], err_msg=name)
        for name, work in piece.ledger.works.items():
            np.testing.assert_array_equal(work, whole.ledger.works[name][rows], err_msg=name)
    assert pieces[-1].ledger.worst_ratio == whole.ledger.worst_ratio


def three(model: pl.Model, integrator: pl.Gauss = GAUSS, scale: float = 1.0) -> tuple[pl.Trajectory, ...]:
    first = pl.simulate(model, scale * FIRST, integrator)
    second = first.resume(scale * SECOND)
    return first, second, second.resume(scale * UNTIL)


@every_formulation
@pytest.mark.parametrize("drive", DRIVES)
def test_pieces_are_one_run(kind: Kind, drive: str) -> None:
    arm, driven = swing(kind), DRIVES[drive]
    models = [pl.connect(arm, *driven()) if driven() else arm for _ in range(2)]  # laws remember across runs
    same(pl.simulate(models[0], UNTIL, GAUSS), *three(models[1]))


FRICTION = pl.joints.Friction(coulomb=0.02, static=0.03)
STOPS = pl.joints.Limits(lower=0.35, upper=0.405, stiffness=2e3, damping=5.0)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if type(kind.formulation) is not pl.PseudoSpectral], ids=str)
def test_pieces_through_friction_and_stops(kind: Kind) -> None:
    rubbing = replace(SWING.joints[0], friction=FRICTION, limits=STOPS)
    arm = kind.formulation.compile(replace(SWING, joints=(rubbing,)))
    if isinstance(kind.formulation, pl.GeometricallyExact | pl.PoseElement | pl.Corotational):
        arm = pl.connect(arm, pl.Wall("wall", pl.At("link"), (0.0, 0.0, -1e-4), (0.0, 0.0, 1.0), 1e3))
    whole = pl.simulate(arm, UNTIL, GAUSS)
    assert whole.joint_rate[:, 0].min() < 0.0 < whole.joint_rate[:, 0].max()  # it was stopped
    same(whole, *three(arm))


LOOPS = (pl.Rigid(), pl.GeometricallyExact(degree=3), pl.PoseElement(elements=2))


@pytest.mark.parametrize("formulation", LOOPS, ids=lambda each: type(each).__name__)
def test_pieces_of_a_loop(formulation: pl.Rigid) -> None:
    arm = formulation.compile(four_bar.robot())
    same(pl.simulate(arm, UNTIL, GAUSS), *three(arm))


@pytest.mark.parametrize(
    "integrator",
    [pl.Gauss(4, 1e-3), pl.Gauss(2, 1e-3, 1e-6), pl.Radau(3, 1e-3), pl.GeneralizedAlpha(1e-3)],
    ids=lambda each: type(each).__name__,
)
def test_pieces_by_other_methods(integrator: pl.Gauss) -> None:
    for kind in (KINDS[0], KINDS[4]):
        model = pl.connect(swing(kind), HELD)
        same(pl.simulate(model, UNTIL, integrator), *three(model, integrator))


def test_pieces_by_an_explicit_method() -> None:
    model = pl.connect(swing(KINDS[-1]), HELD)
    same(pl.simulate(model, UNTIL, pl.RungeKuttaGill(1e-3)), *three(model, pl.RungeKuttaGill(1e-3)))


def test_pieces_of_a_bond_graph() -> None:
    for system in (pendulum, *NONLINEAR.values()):
        model = system().graph.compile()
        same(pl.simulate(model, UNTIL, GAUSS), *three(model))


def test_pieces_at_many_times() -> None:
    """Ends that are no binary fractions, steps that leave a rest, thirty pieces."""
    model = pl.connect(swing(KINDS[-1]), HELD)
    whole = pl.simulate(model, 3.0, pl.Gauss(2, 1e-2))
    piece, pieces = pl.simulate(model, 0.1, pl.Gauss(2, 1e-2)), []
    for k in range(2, 31):
        piece = piece.resume(k / 10)
        pieces.append(piece)
    same(whole, *pieces)


@pytest.mark.parametrize("kind", [KINDS[k] for k in (0, 2, 4, 7)], ids=str)  # one of each structure
def test_a_saved_and_a_pickled_run_go_on(kind: Kind, tmp_path: Path) -> None:
    def model() -> pl.Model:
        law = pl.control.SampledController(Integral(), 3e-3, delay=4e-3, encoder=ENCODER)
        return pl.connect(swing(kind), law, *DRIVES["discrete"]())

    whole, first = pl.simulate(model(), SECOND, GAUSS), pl.simulate(model(), FIRST, GAUSS)
    first.save(tmp_path / "first.nc")
    loaded = pl.load_trajectory(tmp_path / "first.nc")
    same(whole, loaded, loaded.resume(SECOND, model=model()), pickle.loads(pickle.dumps(first)).resume(SECOND))


def test_a_run_goes_on_as_often_as_one_likes() -> None:
    """Each time with the memory that its law had when it ended."""
    model = pl.connect(swing(KINDS[-1]), *sampled())
    first = pl.simulate(model, FIRST, GAUSS)
    one, other = first.resume(SECOND), first.resume(SECOND)
    np.testing.assert_array_equal(one.states, other.states)


def test_what_a_file_does_not_hold_is_refused(tmp_path: Path) -> None:
    law = pl.connect(swing(KINDS[-1]), pl.control.SampledController(counting(), 2e-3, name="counter"))
    pl.simulate(law, FIRST, GAUSS).save(tmp_path / "run.nc")
    run = pl.load_trajectory(tmp_path / "run.nc")
    with pytest.raises(pl.InvalidInput, match="does not hold its model; resume it with model="):
        run.resume(SECOND)
    with pytest.raises(pl.InvalidInput, match="law of controller 'counter' remembers; let the law keep it as numbers"):
        run.resume(SECOND, model=law)
    with pytest.raises(pl.InvalidInput, match=r"the run had components SampledController.*, not JointPD.* the same"):
        run.resume(SECOND, model=pl.connect(swing(KINDS[-1]), HELD))
    with pytest.raises(pl.InvalidInput, match=r"the run had formulation Rigid\(.*, not Lumped\("):
        run.resume(SECOND, model=pl.connect(swing(KINDS[5]), HELD))
    other = KINDS[-1].formulation.compile(replace(SWING, gravity=(0.0, 0.0, -1.0)))
    free = pl.simulate(swing(KINDS[-1]), FIRST, GAUSS)
    with pytest.raises(pl.InvalidInput, match="the run had another robot than the model"):
        free.resume(SECOND, model=other)
    with pytest.raises(pl.InvalidInput, match=r"until = 0\.001 s must lie after the start at 0\.013 s"):
        free.resume(1e-3)
    with pytest.raises(pl.InvalidInput, match=r"but some of its times until 0\.003 s; resume the whole"):
        free.at(np.array([0, 3])).resume(SECOND)


class Failing:
    """A law that raises an error when it is asked for the seventh time, until somebody mends it."""

    def __init__(self, mended: bool) -> None:
        self.memory, self.mended = np.zeros(1), mended

    def __call__(self, sample: pl.control.Sample) -> float:
        if self.memory[0] == 6.0 and not self.mended:
            raise RuntimeError("not yet")
        self.memory = self.memory + 1.0
        return 0.01 * float(self.memory[0])


def test_a_run_goes_on_with_a_law_that_was_mended() -> None:
    def model(mended: bool) -> pl.Model:
        return pl.connect(swing(KINDS[-1]), pl.control.SampledController(Failing(mended), 2e-3))

    stopped = pl.simulate(model(False), UNTIL, GAUSS)
    assert stopped.ending.time == 0.012
    same(pl.simulate(model(True), UNTIL, GAUSS), stopped.resume(UNTIL, model=model(True)))


def always(sample: pl.control.Sample) -> float:
    return 0.1


class Interrupting:
    """A law that presses Ctrl-C once."""

    def __init__(self) -> None:
        self.memory = np.zeros(1)

    def __call__(self, sample: pl.control.Sample) -> float:
        self.memory = self.memory + 1.0
        if self.memory[0] == 5.0:
            signal.raise_signal(signal.SIGINT)
        return 0.1


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_an_interrupted_run_goes_on() -> None:
    def model(law: object) -> pl.Model:
        return pl.connect(swing(KINDS[-1]), pl.control.SampledController(law, 2e-3))

    stopped = pl.simulate(model(Interrupting()), UNTIL, GAUSS)
    assert stopped.ending.time == pytest.approx(8e-3)
    whole = pl.simulate(model(always), UNTIL, GAUSS)
    same(whole, stopped.resume(UNTIL))


def test_a_failed_run_goes_on_from_its_last_state_by_shorter_steps() -> None:
    """Sums of the ledger go on, too: what was exchanged before counts."""
    servo = pl.control.VelocityServo(0.2, 2e-3)  # so strong that it shakes the arm until that is bent too far
    failed = pl.simulate(pl.connect(swing(KINDS[1]), servo), UNTIL, GAUSS)
    assert failed.ending.cause == "an element is bent too far"
    on = failed.resume(UNTIL, pl.Gauss(2, 1e-4))
    np.testing.assert_array_equal(on.states[0], failed.states[-1])
    assert on.statistics["steps"] > 0
    for name in ("exchanged", "residual"):
        assert getattr(on.ledger, name)[0] == getattr(failed.ledger, name)[-1]
    gained = np.diff(on.ledger.stored) + np.diff(on.ledger.viscous_loss + on.ledger.joint_loss)
    lost = on.ledger.material_loss + on.ledger.projection_loss + on.ledger.numerical_loss - on.ledger.gravity
    supplied = sum(on.ledger.works.values()) + on.ledger.residual - lost
    np.testing.assert_allclose(gained, np.diff(supplied), atol=1e-12 * on.ledger.exchanged[-1])


def test_a_run_of_some_accuracy_goes_on_and_tells_its_own_error() -> None:
    model = pl.connect(swing(KINDS[0]), HELD)
    first = pl.simulate(model, 0.05, accuracy=1e-4)
    second = first.resume(0.1)
    fine = pl.simulate(model, 0.1, pl.Gauss(4, 1e-4))
    off = np.linalg.norm(second.tip_position[-1] - fine.tip_position[-1])
    assert second.error is not None
    assert first.error is not None
    assert second.error.asked == 1e-4
    assert off < 2.0 * (first.error.total + second.error.total) + 1e-9
    np.testing.assert_array_equal(second.states[0], first.states[-1])


def test_a_run_that_starts_later_sees_signals_of_that_time() -> None:
    """A torque of a ramp gives a rigid body the rate  slope (t^2 - t0^2) / 2 J ,  from rest at t0."""
    body = pl.RigidLink("body", (1.0, 0.0, 0.0), mass=1.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1, 0.15, 0.15))
    robot = pl.Robot("r", (body,), (pl.RevoluteJoint("hinge", "base", "body"),), gravity=(0.0, 0.0, 0.0))
    arm = pl.connect(pl.Rigid().compile(robot), pl.JointTorque("hinge", pl.signals.FunctionSignal(ramp)))
    run = pl.simulate(arm, 0.5, pl.Gauss(2, 1e-2), start=0.2, initial=arm.initial_state())
    np.testing.assert_allclose(run.joint_rate[:, 0], (run.time**2 - 0.2**2) / 2.0 / 0.4, atol=1e-12)
    assert run.time[0] == 0.2
    assert run.time[-1] == 0.5
    by_accuracy = pl.simulate(arm, 0.5, start=0.2)
    assert by_accuracy.joint_rate[-1, 0] == pytest.approx((0.5**2 - 0.2**2) / 0.8, rel=1e-6)
    with pytest.raises(pl.InvalidInput, match=r"start = -1 s must be finite and not negative"):
        pl.simulate(arm, 0.5, start=-1.0)


def ramp(times: np.ndarray) -> np.ndarray:
    return times


def test_a_start_that_contradicts_a_motion_of_that_time_is_refused() -> None:
    moved = pl.connect(swing(KINDS[-1]), *DRIVES["motion"]())
    with pytest.raises(
        pl.InvalidInput, match=r"position 0\.4 of joint 'hinge', whose prescribed motion begins with 0\.5"
    ):
        pl.simulate(moved, 0.03, GAUSS, start=0.015, initial=swing(KINDS[-1]).initial_state())
