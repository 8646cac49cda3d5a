"""Controllers in discrete time: against exact sampled-data solutions and against the same arithmetic in Python."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy import signal as scipy_signal

import pliant as pl
from pliant.control import DiscreteCommand, DiscreteController, StateSpace
from pliant.model.sampling import Sample
from tests.contract.formulations import KINDS, Kind, swing

MASS, LENGTH, OWN = 2.0, 0.5, 0.1
INERTIA = OWN + MASS * (0.5 * LENGTH) ** 2  # about the joint, by Steiner
PERIOD = 0.01
PD = StateSpace((), (), ((),), ((30.0, 4.0),))
LEAD = StateSpace.transfer_function((60.0, -54.0), (1.0, -0.2))
EYES = (pl.sensors.Encoder(joint="hinge"), pl.sensors.Tachometer(joint="hinge"))


def bar(joints: int = 1) -> pl.Robot:
    """Rigid bars in the plane, without gravity."""
    center = (0.5 * LENGTH, 0.0, 0.0)
    link = pl.RigidLink("bar", (LENGTH, 0.0, 0.0), mass=MASS, center_of_mass=center, inertia=(OWN, OWN, OWN))
    hinge = pl.RevoluteJoint("hinge", "base", "bar", initial_position=0.3, initial_rate=-0.2)
    if joints == 1:
        return pl.Robot("bar", (link,), (hinge,), gravity=(0.0, 0.0, 0.0))
    elbow = pl.RevoluteJoint("elbow", "bar", "forearm", initial_position=0.1)
    return pl.Robot("bars", (link, replace(link, name="forearm")), (hinge, elbow), gravity=(0.0, 0.0, 0.0))


ARM = pl.Rigid().compile(bar())


def exact(system: StateSpace, eyes: int, delay: float, samples: int, target: float) -> np.ndarray:
    """Position and rate at all samples of J q'' = u, u held and late: a held torque moves a double integrator by

    q += T q' + T^2 u / 2 J ,  q' += T u / J  over any time T without approximation.
    """
    A, B, C, D = system.matrices
    x, state, rows = np.zeros(len(A)), np.array([0.3, -0.2]), []
    answers: list[float] = []
    whole, part = int(delay // PERIOD), delay % PERIOD
    for k in range(samples):
        rows.append(state.copy())
        e = np.array([target - state[0], -state[1]])[:eyes]
        answers.append(float((C @ x + D @ e)[0]))
        x = A @ x + B @ e
        for span, late in ((part, whole + 1), (PERIOD - part, whole)):
            u = answers[k - late] if k >= late else 0.0
            state = state + np.array([span * state[1] + 0.5 * span**2 * u / INERTIA, span * u / INERTIA])
    return np.array(rows)


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02])
@pytest.mark.parametrize(("system", "eyes"), [(PD, 2), (LEAD, 1)], ids=["PD", "lead"])
def test_double_integrator(system: StateSpace, eyes: int, delay: float) -> None:
    controller = DiscreteController(system, EYES[:eyes], PERIOD, references=(0.5, 0.0)[:eyes], delay=delay)
    run = pl.simulate(
        pl.connect(ARM, controller), 0.4, pl.Gauss(order=2, step=PERIOD / 4), outputs=PERIOD * np.arange(41)
    )
    wanted = exact(system, eyes, delay, 41, 0.5)
    np.testing.assert_allclose(run.joint_position[:, 0], wanted[:, 0], atol=1e-9)
    np.testing.assert_allclose(run.joint_rate[:, 0], wanted[:, 1], atol=1e-9)
    assert run.ledger.worst_ratio < 1e-10
    # all energy of the bar came through the joint
    kinetic = 0.5 * INERTIA * run.joint_rate[:, 0] ** 2
    np.testing.assert_allclose(run.ledger.works["hinge"], kinetic - kinetic[0], atol=1e-12)


LIMIT, RESOLUTION, COUNT = 1.5, 0.01, 2e-3
WINDUP = ((0.4,), (-0.1,))
FILTER = StateSpace(((0.9, 0.1), (0.0, 0.8)), ((0.2,), (1.0,)), ((3.0, 1.5),), ((8.0,),))


class InPython:
    """The same law, sum by sum."""

    def __init__(self) -> None:
        self.x = [0.0, 0.0]
        self.given: list[float] = []

    def __call__(self, sample: Sample) -> float:
        A, B, C, D = FILTER.A, FILTER.B, FILTER.C, FILTER.D
        e = 0.35 - COUNT * float(np.rint(sample.joint_positions[0] / COUNT))
        v = 0.0
        for row, x in zip(C[0], self.x):
            v += row * x
        v += D[0][0] * e
        u = min(max(RESOLUTION * float(np.rint(v / RESOLUTION)), -LIMIT), LIMIT)
        following = []
        for i in range(2):
            total = 0.0
            for j in range(2):
                total += A[i][j] * self.x[j]
            total += B[i][0] * e
            following.append(total + WINDUP[i][0] * (u - v))
        self.x = following
        self.given.append(u)
        return u


@pytest.mark.parametrize("formulation", [pl.Rigid(), pl.PoseElement(), pl.PseudoSpectral(degree=4)], ids=str)
def test_converters_saturation_and_anti_windup_bit_for_bit(formulation: pl.Rigid) -> None:
    arm = formulation.compile(bar())
    eye = pl.sensors.Encoder(resolution=COUNT, joint="hinge")
    converters = {"limit": LIMIT, "resolution": RESOLUTION, "anti_windup": WINDUP}
    law = InPython()
    parts = (
        DiscreteController(FILTER, [eye], PERIOD, references=0.35, **converters),
        pl.control.SampledController(law, PERIOD),
    )
    compiled, plain = (pl.simulate(pl.connect(arm, part), 0.6, pl.Gauss(2, 5e-3)) for part in parts)
    assert np.array_equal(compiled.states, plain.states)
    assert np.array_equal(compiled.efforts["hinge"], plain.efforts["hinge"])
    given = np.array(law.given)
    assert (np.abs(given) == LIMIT).any()
    assert (np.abs(given) < LIMIT).any()
    assert np.any(np.rint(given / RESOLUTION) * RESOLUTION == given)


def test_several_inputs_and_outputs() -> None:
    """A law of two joints is that of each joint alone where nothing is crossed; what is crossed crosses."""
    arm = pl.Rigid().compile(bar(2))
    eyes = [pl.sensors.Encoder(joint=name) for name in ("hinge", "elbow")]
    both = StateSpace.beside(LEAD, StateSpace((), (), ((),), ((20.0,),)))
    one = pl.connect(
        arm,
        DiscreteController(LEAD, eyes[:1], PERIOD, ["hinge"], 0.5, name="first"),
        DiscreteController(StateSpace((), (), ((),), ((20.0,),)), eyes[1:], PERIOD, ["elbow"], -0.2, name="second"),
    )
    other = pl.connect(arm, DiscreteController(both, eyes, PERIOD, ["hinge", "elbow"], (0.5, -0.2)))
    runs = [pl.simulate(model, 0.2, pl.Gauss(2, 5e-3)) for model in (one, other)]
    np.testing.assert_allclose(runs[0].states, runs[1].states, atol=1e-12)
    crossed = DiscreteController(StateSpace((), (), ((), ()), ((0.0, 1.0), (0.0, 0.0))), eyes, PERIOD)
    run = pl.simulate(pl.connect(arm, crossed), PERIOD, pl.Gauss(2, PERIOD))
    assert run.efforts["hinge"][1, 0] == pytest.approx(-0.1)
    assert run.efforts["elbow"][1, 0] == pytest.approx(0.0)


@pytest.mark.parametrize("method", ["tustin", "zero_order_hold"])
def test_discretisation(method: str) -> None:
    """Against SciPy, by the answers to an impulse."""
    above, below = [2.0, 3.0], [1.0, 0.5, 8.0]
    ours = getattr(StateSpace.transfer_function(above, below), method)(0.05).matrices
    named = {"tustin": "bilinear", "zero_order_hold": "zoh"}[method]
    theirs = scipy_signal.cont2discrete((above, below), 0.05, named)
    _, (wanted,) = scipy_signal.dimpulse((theirs[0].ravel(), theirs[1], 0.05), n=30)
    _, (found,) = scipy_signal.dimpulse((*ours, 0.05), n=30)
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_commands_and_moving_references() -> None:
    """A command by the error of position is a PositionLoop; a motion as reference gives position and rate."""
    servo, motion = pl.control.VelocityServo(5.0, 2e-3), pl.motions.Quintic(0.3, 0.9, 0.3)
    loop = pl.control.PositionLoop(motion, 4.0, PERIOD)
    ours = DiscreteCommand(StateSpace((), (), ((),), ((4.0,),)), EYES[:1], PERIOD, references=motion)
    runs = [pl.simulate(pl.connect(ARM, servo, each), 0.3, pl.Gauss(2, 1e-3)) for each in (loop, ours)]
    np.testing.assert_allclose(runs[0].states, runs[1].states, atol=1e-12)
    torques = DiscreteController(PD, EYES, PERIOD, references=motion)
    (law,) = pl.connect(ARM, torques).inputs.controllers
    started = law.started()
    nothing = np.zeros(1)
    for k in range(3):
        answer = started(Sample(k * PERIOD, nothing, nothing, nothing, ARM, nothing, nothing, ARM.observe))
        position, rate, _ = motion.evaluate(np.array([k * PERIOD]))
        assert answer[0] == pytest.approx(30.0 * position[0] + 4.0 * rate[0], rel=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_formulation(kind: Kind) -> None:
    """It moves every arm, and the energy ledger has its work."""
    controller = DiscreteController(LEAD, [pl.sensors.Encoder(joint="hinge")], 5e-3, references=0.5, delay=5e-3)
    run = pl.simulate(pl.connect(swing(kind), controller), 0.02, pl.Gauss(2, 1e-3), outputs=4)
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert run.ledger.works["hinge"][-1] != 0.0
    assert run.ledger.works["hinge"][1] == 0.0


def test_noise_begins_anew_and_pickles() -> None:
    eye = pl.sensors.Encoder(joint="hinge", noise=1e-2)
    model = pl.connect(ARM, DiscreteController(LEAD, [eye], PERIOD, seed=3))
    twice = [pl.simulate(each, 0.1, pl.Gauss(2, PERIOD)).states for each in (model, pickle.loads(pickle.dumps(model)))]
    assert np.array_equal(*twice)
    (law,) = model.inputs.controllers
    running, nothing = law.started(), np.zeros(1)
    sample = Sample(0.0, nothing, nothing, nothing, ARM, nothing, nothing, ARM.observe)
    running(sample)
    copied = pickle.loads(pickle.dumps(running))
    assert np.array_equal(running(sample), copied(sample))
    assert running.count == copied.count == 2


def refusals() -> list[tuple[Callable[[], object], str]]:
    hinge = pl.sensors.Encoder(joint="hinge")
    return [
        (lambda: StateSpace(((0.9,),), ((1.0,), (2.0,)), ((1.0,),), ((0.0,),)), "B has 2 rows of 1"),
        (lambda: StateSpace((), (), (), ()), "D has no entries"),
        (lambda: StateSpace.transfer_function((1.0, 0.0, 0.0), (1.0, 0.5)), "raise the degree of the denominator"),
        (lambda: StateSpace.transfer_function((1.0,), (0.0,)), "denominator is zero"),
        (lambda: DiscreteController(PD, [hinge], PERIOD), "read 1 numbers and the law takes 2"),
        (lambda: DiscreteController(LEAD, [hinge], PERIOD, references=(1.0, 2.0)), "references has 2 entries"),
        (lambda: DiscreteController(LEAD, [hinge], PERIOD, references="high"), "is no reference"),
        (lambda: DiscreteController(LEAD, [hinge], PERIOD, anti_windup=((1.0, 2.0),)), "must have 1 of 1"),
        (lambda: DiscreteController(LEAD, [hinge], 0.0), "period"),
        (lambda: pl.connect(ARM, DiscreteController(LEAD, [pl.sensors.Encoder()], PERIOD)), "names no joint"),
        (lambda: pl.connect(ARM, DiscreteController(LEAD, [replace(hinge, joint="hing")], PERIOD)), "'hinge'"),
        (lambda: pl.connect(pl.Rigid().compile(bar(2)), DiscreteController(LEAD, [hinge], PERIOD)), "1 outputs for 2"),
        (
            lambda: pl.connect(
                ARM,
                DiscreteController(LEAD, [pl.sensors.Accelerometer("bar")], PERIOD, references=pl.motions.Hold(1.0)),
            ),
            "a motion is the reference of a Accelerometer",
        ),
        (lambda: pl.linearize(pl.connect(ARM, DiscreteController(LEAD, [hinge], PERIOD))), "acts at instants"),
    ]


@pytest.mark.parametrize("case", range(len(refusals())))
def test_refused_in_a_sentence(case: int) -> None:
    make, words = refusals()[case]
    with pytest.raises(pl.InvalidInput, match=words):
        make()


def test_a_law_that_grows_without_bound_ends_the_run_as_a_value() -> None:
    wild = StateSpace(((1e20,),), ((1.0,),), ((1.0,),), ((0.0,),))
    run = pl.simulate(pl.connect(ARM, DiscreteController(wild, EYES[:1], PERIOD, limit=1.0)), 0.2, pl.Gauss(2, PERIOD))
    assert not run.ending.completed
    assert "not finite" in str(run.ending)
    assert len(run.time) > 2
