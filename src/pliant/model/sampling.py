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
from dataclasses import dataclass, field
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


@dataclass(eq=False, slots=True)  # not frozen: that would take longer than the rest of a call
class Sample:
    """What a sampled controller may read at its sampling instant.

    ``motor_positions`` and ``motor_rates`` are those of the rotor, counted at the joint, where an elastic gear lies
    between; else those of the joint. `tip`, `deflection`, `strain` and `twist` compute one thing at one place, in some
    microseconds. ``observation(stations)`` shows all, with so many stations on every link, 2 for root and tip; however
    many controllers ask at one instant, it is computed once.
    """

    time: float
    joint_positions: Array
    joint_rates: Array
    state: Array
    model: Arm
    motor_positions: Array
    motor_rates: Array
    observation: Callable[[int], Observation]
    sections: dict[tuple[str, float], Section] = field(default_factory=dict)  # those that were asked for in the run
    readings: tuple[float | Array, ...] = ()  # of the sensors that the controller was given
    earlier: tuple[tuple[float, Array], ...] = ()  # times and states at the ends of the steps before, the last first

    def tip(self) -> tuple[Array, Array]:
        """Position (3,) and rotation (3, 3) of the tip in the world."""
        _, _, position, rotation = self._section(self.model.robot.tip_link, 1.0).poses(self.state)
        return position, rotation

    def deflection(self, link: str, station: float = 1.0) -> Array:
        """How far (3,) a section stands off its place at rest, m, in the axes of the root of its link.

        ``station`` is a share of the length, 0 at the root and 1 at the tip; so it is below.
        """
        section = self._section(link, station)
        root, turn, position, _ = section.poses(self.state)
        return np.asarray((position - root) @ turn - section.rest)

    def strain(self, link: str, station: float = 0.0) -> Array:
        """Strain (6,) of a section from the rest shape, in its axes: three of the axis, twist and two curvatures."""
        return self._section(link, station).strain(self.state)

    def twist(self, link: str, station: float = 1.0) -> Array:
        """Velocity and spin (6,) of a section in its axes, m/s and rad/s."""
        return self._section(link, station).twist(self.state)

    def acceleration(self, link: str, station: float = 1.0) -> Array:
        """Of a section (3,) in its axes, m/s^2, right before the sample: of a sensor that measures it.

        v' + spin x v, with the rate of change of the velocity v in the axes of the section by the parabola through the
        sample and the ends of the two steps before it. Torques jump at samples: where only one step lies between two of
        them it is the difference over that step, and at the first sample of a run v counts as constant.
        """
        section = self._section(link, station)
        twist = section.twist(self.state)
        slopes, times = [], [self.time]
        last = twist
        for time, state in self.earlier:
            before = section.twist(state)
            slopes.append((last - before) / (times[-1] - time))
            times.append(time)
            last = before
        rate = slopes[0] if slopes else np.zeros(6)
        if len(slopes) > 1:  # the second divided difference, times the distance to the step before
            rate = rate + (times[0] - times[1]) * (slopes[0] - slopes[1]) / (times[0] - times[2])
        return np.asarray(rate[:3] + crossed(twist[3:], twist[:3]))

    def specific_force(self, link: str, station: float = 1.0) -> Array:
        """What an accelerometer feels (3,), m/s^2: the acceleration less gravity, in the axes of the section."""
        _, _, _, rotation = self._section(link, station).poses(self.state)
        return np.asarray(self.acceleration(link, station) - self.model.robot.gravity @ rotation)

    def _section(self, link: str, station: float) -> Section:
        found = self.sections.get((link, station))
        if found is None:
            found = self.sections[link, station] = self.model.section(link, station)
        return found


def crossed(a: Array, b: Array) -> Array:
    """The cross product of two vectors, in a tenth of the time of NumPy's."""
    x, y, z = a.tolist()
    u, v, w = b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


class Section(Protocol):
    """A section of a link as one run reads it again and again: its scratch is its own, what it answers is new."""

    @property
    def rest(self) -> Array:
        """Its place (3,) in the undeformed link, in the axes of the root."""

    def poses(self, state: Array) -> tuple[Array, Array, Array, Array]:
        """Position (3,) and rotation (3, 3) of the root of the link in the world, then those of the section."""

    def strain(self, state: Array) -> Array:
        """(6,) from the rest shape; zero where the link is rigid."""

    def twist(self, state: Array) -> Array:
        """(6,) in its own axes."""


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
    @property
    def accelerations(self) -> bool:
        """Whether it reads accelerations: the two steps before each sample are then done one by one."""

    def started(self) -> Callable[[Sample], float | Array]:
        """The law of one run, with a memory of its own: one number for each of the joints, alone if there is one."""


def servos_inside(inputs: Inputs) -> tuple[ServoPlace, ...]:
    """The servos that a compiled loop may compute itself; where a sensor is noisy, none."""
    return () if any(servo.rate_noise for servo in inputs.servos) else inputs.servos
