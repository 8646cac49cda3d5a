"""pliant on the problems of this folder: the whole of ``simulate`` and the reading of the tip are timed."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Protocol

import numpy as np

import pliant as pl
from benchmarks.harness import OURS, OUTPUTS, Motion, Run, Session, best_of
from pliant.components.motions import Motion as JointMotion
from pliant.model.contract import Model

DEFAULT = pl.Gauss()
LOOSE = 1.0


@dataclass(frozen=True)
class Arm:
    """An arm of the library, the motions of its joints (none: free joints), and how long it moves."""

    name: str
    motions: tuple[JointMotion, ...]
    duration: float


class Formulation(Protocol):
    """What compiles a robot."""

    def compile(self, robot: pl.Robot) -> pl.Arm: ...


class Chosen(Protocol):
    """A formulation with its integrator, in words, and its sizes so that larger is finer."""

    @property
    def formulation(self) -> Formulation: ...
    @property
    def integrator(self) -> pl.Gauss: ...
    @property
    def fineness(self) -> tuple[float, ...]: ...
    @property
    def exact_ledger(self) -> bool: ...


@dataclass(frozen=True)
class Choice:
    """Degree and elements of every link; order, step (s) and tolerance (of the reach) of the integrator.

    The default of the energy tolerance keeps the ledger to round-off. ``LOOSE`` asks for no more than the
    displacements need, as the peers are asked.
    """

    degree: int
    elements: int
    order: int
    step: float
    tolerance: float
    energy_tolerance: float = DEFAULT.energy_tolerance

    def __str__(self) -> str:
        mesh = f"degree {self.degree} x {self.elements}"
        ledger = ", exact ledger" if self.exact_ledger else ""
        return f"{mesh}, Gauss {self.order}, step {self.step:g} s, tolerance {self.tolerance:g}{ledger}"

    @property
    def exact_ledger(self) -> bool:
        return self.energy_tolerance <= DEFAULT.energy_tolerance

    @property
    def fineness(self) -> tuple[float, ...]:
        return self.degree, self.elements, self.order, -self.step, -self.tolerance, -self.energy_tolerance

    @property
    def formulation(self) -> pl.GeometricallyExact:
        return pl.GeometricallyExact(degree=self.degree, elements=self.elements)

    @property
    def integrator(self) -> pl.Gauss:
        return pl.Gauss(self.order, self.step, self.tolerance, self.energy_tolerance)


def closed_loop(arm: Arm, formulation: Formulation) -> Model:
    model = formulation.compile(pl.load(pl.library.path(arm.name)))
    drives = [pl.PrescribedMotion(joint, motion) for joint, motion in zip(model.joint_names, arm.motions)]
    return pl.connect(model, *drives) if drives else model


def solve(arm: Arm, model: Model, choice: Chosen) -> Run:
    """The saved times are the same for every step, between steps by the polynomial of the step."""
    begin = clock.process_time()
    outputs = np.linspace(0.0, arm.duration, OUTPUTS + 1)
    trajectory = pl.simulate(model, until=arm.duration, integrator=choice.integrator, outputs=outputs)
    tip = trajectory.tip_position
    spent = clock.process_time() - begin
    cost = spent / arm.duration if trajectory.ending.completed else math.inf
    motion = Motion(trajectory.time, tip)
    return Run(OURS, str(choice), choice.fineness, cost, motion, choice.exact_ledger)


def study(arm: Arm, choices: Iterable[Chosen], session: Session) -> list[Run]:
    runs = []
    for choice in choices:
        model = closed_loop(arm, choice.formulation)
        solve(arm, model, choice)
        runs.append(best_of(partial(solve, arm, model, choice), session))
    return runs


def finest(arm: Arm, choice: Chosen) -> Motion:
    return solve(arm, closed_loop(arm, choice.formulation), choice).motion


def grid(
    meshes: Sequence[tuple[int, int]], orders: Sequence[int], steps: Sequence[float], tolerances: Sequence[float]
) -> list[Choice]:
    """All combinations of meshes (degree, elements), orders and steps with two kinds of stopping test.

    The tolerances given go with a loose ledger; the default tolerance goes with the exact ledger.
    """
    stops = [(tolerance, LOOSE) for tolerance in tolerances]
    stops.append((DEFAULT.tolerance, DEFAULT.energy_tolerance))
    return [
        Choice(degree, elements, order, step, tolerance, ledger)
        for (degree, elements), order, step, (tolerance, ledger) in product(meshes, orders, steps, stops)
    ]
