"""PyElastica: the steel strip as one Cosserat rod whose first element is turned by a constraint.

The rod begins half an element behind the joint so that the clamped director sits on the joint axis,
which makes the clamp second order. Its explicit step is bound by the rotary inertia of the thin section.
"""

from __future__ import annotations

import math
import time as clock
from dataclasses import dataclass
from typing import Any

import elastica as ea
import numpy as np

from benchmarks import steel_strip_data as strip
from benchmarks.harness import OUTPUTS, Array, Motion, Run, Session, kept

NAME = "pyelastica"
TIMED_STEPS = 20_000
# Just below the limit 2 / sqrt(GA / rotary inertia) = 1.0 microsecond, a whole part of an output interval.
STEP = strip.DURATION / OUTPUTS / 2200


@dataclass(frozen=True)
class Choice:
    """Number of elements, step in seconds."""

    elements: int
    step: float

    def __str__(self) -> str:
        return f"{self.elements} elements, position Verlet, step {self.step:g} s"


class _System(ea.BaseSystemCollection, ea.Constraints):
    pass


class _Clamp(ea.ConstraintBase):
    """First node and first director follow the drive."""

    def __init__(self, position: Array, directors: Array, **settings: Any) -> None:
        super().__init__(**settings)
        self._position, self._directors = np.array(position), np.array(directors)

    def constrain_values(self, system: Any, time: float) -> None:
        turned = _angle(time)
        c, s = math.cos(turned), math.sin(turned)
        rotation = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        system.position_collection[..., 0] = rotation @ self._position
        system.director_collection[..., 0] = self._directors @ rotation.T

    def constrain_rates(self, system: Any, time: float) -> None:
        rate = _rate(time)
        x = system.position_collection[..., 0]
        system.velocity_collection[..., 0] = (-rate * x[1], rate * x[0], 0.0)
        system.omega_collection[..., 0] = system.director_collection[..., 0] @ np.array([0.0, 0.0, rate])


def _angle(time: float) -> float:
    x = min(time / strip.MOVE, 1.0)
    return strip.ANGLE * x**3 * (10 - 15 * x + 6 * x * x)


def _rate(time: float) -> float:
    x = min(time / strip.MOVE, 1.0)
    return strip.ANGLE / strip.MOVE * 30 * x * x * (1 - x) ** 2


def _rod(elements: int) -> Any:
    """A straight rod along x with the strip's stiffness; directors are (z, -y, x)."""
    cell = strip.LENGTH / (elements - 0.5)
    rod = ea.CosseratRod.straight_rod(
        elements,
        np.array([-cell / 2, 0.0, 0.0]),
        np.array([1.0, 0.0, 0.0]),
        np.array([0.0, 0.0, 1.0]),
        elements * cell,
        math.sqrt(strip.AREA / math.pi),
        strip.DENSITY,
        youngs_modulus=strip.YOUNG,
        shear_modulus=strip.SHEAR,
    )
    bending = (strip.YOUNG * strip.INERTIA_SOFT, strip.YOUNG * strip.INERTIA_STIFF, strip.SHEAR * strip.TORSION)
    stretch = (5 / 6 * strip.SHEAR * strip.AREA, 5 / 6 * strip.SHEAR * strip.AREA, strip.YOUNG * strip.AREA)
    rod.bend_matrix[:] = np.diag(bending)[:, :, None]
    rod.shear_matrix[:] = np.diag(stretch)[:, :, None]
    moments = (strip.INERTIA_SOFT, strip.INERTIA_STIFF, strip.INERTIA_SOFT + strip.INERTIA_STIFF)
    inertia = strip.DENSITY * cell * np.diag(moments)
    rod.mass_second_moment_of_inertia[:] = inertia[:, :, None]
    rod.inv_mass_second_moment_of_inertia[:] = np.linalg.inv(inertia)[:, :, None]
    rod.mass[:] = strip.MASS * cell
    rod.mass[[0, -1]] *= 0.5
    return rod


def march(choice: Choice, steps: int) -> tuple[Motion, float]:
    """The first ``steps`` steps of the slew, and their CPU time without the compilation and the saving."""
    system, rod = _System(), _rod(choice.elements)
    system.append(rod)
    system.constrain(rod).using(_Clamp, constrained_position_idx=(0,), constrained_director_idx=(0,))
    system.finalize()
    stepper = ea.PositionVerlet()
    every = max(1, round(strip.DURATION / choice.step) // OUTPUTS)
    stepper.step(system, np.float64(0.0), np.float64(1e-14))
    times, tips, saving = [0.0], [rod.position_collection[:, -1].copy()], 0.0
    time, step = np.float64(0.0), np.float64(choice.step)
    begin = clock.process_time()
    for k in range(1, steps + 1):
        time = stepper.step(system, time, step)
        if k % every == 0:
            pause = clock.process_time()
            times.append(k * choice.step)
            tips.append(rod.position_collection[:, -1].copy())
            saving += clock.process_time() - pause
            if not np.isfinite(tips[-1]).all():
                break
    return Motion(np.array(times), np.array(tips)), clock.process_time() - begin - saving


def solve(choice: Choice, session: Session) -> Run:
    """The whole slew takes minutes, so its motion is kept; the cost is that of each step, timed now.

    Every step of the explicit method does the same work, which makes steps times cost per step exact.
    """
    steps = round(strip.DURATION / choice.step)
    motion = kept(session, NAME, str(choice), lambda: march(choice, steps)[0])
    per_step = min(march(choice, TIMED_STEPS)[1] for _ in range(session.repeats)) / TIMED_STEPS
    sizes = (choice.elements, -choice.step)
    return Run(NAME, str(choice), sizes, per_step * steps / strip.DURATION, motion)
