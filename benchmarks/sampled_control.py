"""What sampled control costs: calls of laws and readings inside them, of servos and compiled controllers, `summary`.

Each figure is the difference of two runs over the same steps, or the time of one call: processor time, least of several
rounds by turns, so that other work on the computer counts little.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import pliant as pl
from benchmarks.harness import OwnMeasure, Session, verdict

READING, CALL, CONTROLLER, SUMMARY = 20.0, 15.0, 15.0, 5000.0  # us, demands
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
    sample.deflection("link")
    return 0.0


def strain(sample: pl.control.Sample) -> float:
    sample.strain("link", 0.25)
    return 0.0


LAWS = (empty, tip, deflection, strain)
HELD = pl.JointPD(pl.motions.Hold(0.3), stiffness=20.0, damping=2.0)


def least(calls: list[Callable[[], object]], rounds: int) -> list[float]:
    """The least processor time of each call in seconds, by turns."""
    best = [np.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return best


def _costs(formulation: object, rounds: int) -> list[float]:
    """In us: of reading tip, deflection and strain, of a call, of `summary`."""
    alone = isinstance(formulation, pl.MixedElement)  # it carries single links
    arm = formulation.compile(pl.load(pl.library.path("steel_strip" if alone else "two_link_planar")))  # type: ignore[attr-defined]
    joint = arm.joint_names[-1]
    parts = [(), *((pl.control.SampledController(law, PERIOD, joints=[joint]),) for law in LAWS)]
    models = [pl.connect(arm, HELD, *each) for each in parts]
    runs = [lambda model=model: pl.simulate(model, UNTIL, GAUSS, outputs=100) for model in models]
    without, called, *read = (1e6 * each / SAMPLES for each in least(runs, rounds))
    run = runs[0]()
    # what a trajectory works out once is worked out anew
    (told,) = least([lambda: pl.simulate(models[0], UNTIL, GAUSS, outputs=100).summary()], 1)
    begin = time.process_time()
    run.summary()
    told = time.process_time() - begin
    return [*(each - called for each in read), called - without, 1e6 * told]


def measure(session: Session) -> OwnMeasure:
    rounds = 3 if session.quick else 8
    rows = ["| formulation | tip | deflection | strain | call of a law | `summary()` |", "|---" * 6 + "|"]
    for formulation in FORMULATIONS:
        costs = _costs(formulation, rounds)
        rows.append(f"| {type(formulation).__name__} | " + " | ".join(f"{each:.1f}" for each in costs) + " |")
    return OwnMeasure.told("\n".join(["## sampled_control", "", *rows]))


if __name__ == "__main__":
    from pathlib import Path

    print(measure(Session(True, Path("."))).text)
