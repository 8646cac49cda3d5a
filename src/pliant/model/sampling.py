"""Sampled control as plain data: what controllers read, and velocity servos.

From the start of a run on, a controller reads a Sample every ``period``; its answer takes effect ``delay`` later and is
held until the next one does. A servo makes torque of the commanded rate of one joint every ``period`` and holds it
[konno1996] (47),

    torque = gain (command - rate) ,

with the command after its converter and the rate as the sensor gives it: rounded to multiples of its resolution, then
cut to its limit. Every number is counted at the joint: gain = ratio^2 K_sp K_sv in the letters of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.model.state import Array

if TYPE_CHECKING:
    from pliant.model.contract import Arm
    from pliant.model.inputs import Inputs
    from pliant.model.state import Observation


@dataclass(frozen=True)
class ServoPlace:
    """A velocity servo on a joint coordinate; limits of inf and resolutions and noise of 0 stand for none.

    It reads the rate of the rotor, counted at the joint, where an elastic gear lies between, else that of the joint.
    """

    joint: str
    gain: float
    period: float
    command_limit: float = inf
    command_resolution: float = 0.0
    rate_limit: float = inf
    rate_resolution: float = 0.0
    rate_noise: float = 0.0
    torque_limit: float = inf
    seed: int = 0


def noise_source(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on who draws them, so that no two readers share their noise."""
    return np.random.default_rng([seed, *name.encode()])


def rounded(values: Array, resolution: Array | float) -> Array:
    """The nearest multiples of the resolution, even ones at ties; the values themselves where it is 0."""
    step = np.asarray(resolution, dtype=np.float64)
    if not step.any():
        return values
    safe = np.where(step > 0.0, step, 1.0)
    return np.asarray(np.where(step > 0.0, step * np.rint(values / safe), values))


@dataclass(frozen=True, eq=False)
class Sample:
    """What a sampled controller may read at its sampling instant.

    ``motor_positions`` and ``motor_rates`` are those of the rotor, counted at the joint, where an elastic gear lies
    between; else those of the joint. ``observation(stations)`` shows strains and shape with so many stations on every
    link, 2 for root and tip; however many controllers ask at one instant, it is computed once.
    """

    time: float
    joint_positions: Array
    joint_rates: Array
    state: Array
    model: Arm
    motor_positions: Array
    motor_rates: Array
    observation: Callable[[int], Observation]


class SampledController(Protocol):
    """A law called every ``period``; its answer takes effect after ``delay`` and is held until the next one does."""

    @property
    def name(self) -> str: ...
    @property
    def period(self) -> float: ...
    @property
    def delay(self) -> float: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def started(self) -> Callable[[Sample], Array]:
        """The law of one run, with a memory of its own: one number for each of the joints."""


def servos_inside(inputs: Inputs) -> tuple[ServoPlace, ...]:
    """The servos that a compiled loop may compute itself; where a sensor is noisy, none."""
    return () if any(servo.rate_noise for servo in inputs.servos) else inputs.servos
