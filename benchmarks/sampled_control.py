"""What sampled control costs: calls of laws and readings inside them, of servos and compiled controllers, `summary`.

Each figure is the difference of two runs over the same steps, or the time of one call: processor time, least of several
rounds by turns, so that other work on the computer counts little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict

READING, CALL, SUMMARY = 20.0, 15.0, 5000.0  # us, demands
PERIOD, UNTIL = 1e-3, 1.0
SAMPLES = round(UNTIL / PERIOD)
GAUSS = pl.Gauss(order=2, step=PERIOD)
FORMULATIONS = (
    pl.GeometricallyExact(degree=4),
    pl.MixedElement(elements=4),
    pl.PoseElement(elements=4),
    pl.Corotational(elements=4),
    pl.PseudoSpectral(degree=4),
    pl.Lumped(fields=2),
    pl.EquivalentRigidLink(elements=2),
    pl.Rigid(),
)


def empty(sample: pl.control.Sample) -> float:
    return 0.0


def tip(sample: pl.control.Sample) -> float:
    sample.tip()
    return 0.0


def deflection(sample: pl.control.Sample) -> float:
    sample.deflection(sample.model.robot.tip_link)
    return 0.0


def strain(sample: pl.control.Sample) -> float:
    sample.strain(sample.model.robot.tip_link, 0.25)
    return 0.0


LAWS = (empty, tip, deflection, strain)
HELD = pl.JointPD(pl.motions.Hold(0.3), stiffness=5.0, damping=0.5)
SILENT = pl.control.StateSpace.transfer_function((0.0,), (1.0, -0.5))  # a law with a memory that answers nothing


def least(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least processor time of each call in seconds, by turns."""
    best = [np.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return best


def _summary(model: pl.Model, rounds: int) -> float:
    """Seconds; what a trajectory works out once is worked out anew."""
    best = np.inf
    for _ in range(rounds):
        run = pl.simulate(model, 0.1 * UNTIL, GAUSS, outputs=100)
        begin = time.process_time()
        run.summary()
        best = min(best, time.process_time() - begin)
    return best


def _costs(formulation: object, rounds: int) -> list[float]:
    """In us: of reading tip, deflection and strain, of a call, of a compiled law, of a servo, of `summary`."""
    alone = isinstance(formulation, pl.MixedElement)  # it carries single links
    robot = pl.load(pl.library.path("steel_strip" if alone else "two_link_planar"))
    arm = formulation.compile(robot)  # type: ignore[attr-defined]
    joint = arm.joint_names[-1]
    encoder = pl.sensors.Encoder(joint=joint)
    parts = [
        (),
        *((pl.control.SampledController(law, PERIOD, joints=[joint]),) for law in LAWS),
        (pl.control.DiscreteController(SILENT, [encoder], PERIOD, [joint]),),
        (pl.control.VelocityServo(0.0, PERIOD, joints=[joint]),),
    ]
    models = [pl.connect(arm, HELD, *each) for each in parts]
    runs = [partial(pl.simulate, model, UNTIL, GAUSS, outputs=100) for model in models]
    without, called, *others = (1e6 * each / SAMPLES for each in least(runs, rounds))
    read, (discrete, servo) = others[:3], others[3:]
    costs = [*(each - called for each in read), *(each - without for each in (called, discrete, servo))]
    return [*costs, 1e6 * _summary(models[0], 10)]


def measure(session: Session) -> OwnMeasure:
    rounds = 5 if session.quick else 10
    columns = ("tip", "deflection", "strain", "call of a law", "discrete controller", "servo", "`summary()`")
    rows = [f"| us | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    costs = []
    for formulation in FORMULATIONS:
        costs.append(_costs(formulation, rounds))
        rows.append(f"| {type(formulation).__name__} | " + " | ".join(f"{each:.1f}" for each in costs[-1]) + " |")
    most = np.max(costs, axis=0)
    demands = (
        (most[:3].max(), READING, "a reading"),
        (most[3], CALL, "a call"),
        (most[4:6].max(), CALL, "a compiled law"),
    )
    told = [f"{what} at most {limit:g} us, {verdict(found <= limit)}" for found, limit, what in demands]
    told.append(f"`summary()` below {SUMMARY:g} us, {verdict(most[6] < SUMMARY)}")
    return OwnMeasure.told("\n".join(["## sampled_control", "", *rows, "", f"Demands: {'; '.join(told)}."]))
