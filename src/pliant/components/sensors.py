"""Sensors: what a controller reads in place of the truth.

Noise of a normal distribution is added, the sum is rounded to the nearest multiple of the resolution and then cut to
the limit. A resolution or noise of 0 and a missing limit leave the truth as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Annotated, ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.components.fields import CoordinateName, nearest
from pliant.components.motions import POSITION_UNIT, RATE_UNIT
from pliant.errors import InvalidInput
from pliant.model.contract import Arm
from pliant.model.inputs import ORIGIN
from pliant.model.sampling import Sample, rounded
from pliant.model.schedule import slack
from pliant.model.state import Array
from pliant.robot import Across, FlexibleLink, RigidLink
from pliant.robot.declared import Choice, Declared, Name, Quantity, Vector3

__all__ = ["Accelerometer", "Axis", "DeflectionSensor", "Encoder", "Imu", "Sensor", "StrainGauge", "Tachometer"]

CURVATURE_UNIT = "1/m"

FORCE_UNIT = "m/s^2"

Noise = np.random.Generator
Reader = Callable[[Sample, Noise], float]
Readers = Callable[[Sample, Noise], float | Array]


@runtime_checkable
class Sensor(Protocol):
    """What reads a number of an arm; one that reads several says how many, ``size``.

    One that measures ``accelerations`` says so, and the last steps before each sample are done one by one.
    """

    def reader(self, arm: Arm) -> Readers:
        """The reading of a sample of one run, with noise from a source; refused where the arm has no such place."""


def size_of(sensor: Sensor) -> int:
    return int(getattr(sensor, "size", 1))


def measures_accelerations(sensors: Iterable[Sensor]) -> bool:
    return any(getattr(sensor, "accelerations", False) for sensor in sensors)


class Axis(StrEnum):
    """An axis of a section, x along the link."""

    X = "x"
    Y = "y"
    Z = "z"


def as_seen(truth: Array, noise: float, resolution: float, limit: float | None, source: Noise) -> Array:
    """The truth as a sensor gives it."""
    seen = truth + noise * source.standard_normal(np.shape(truth)) if noise > 0.0 else truth
    seen = rounded(seen, resolution) if resolution > 0.0 else seen
    return seen if limit is None else np.clip(seen, -limit, limit)


class Instrument(Declared):
    """A sensor with noise, a resolution and perhaps a limit."""

    noise: float
    resolution: float
    limit: float | None = None

    def read(self, truth: Array, source: Noise) -> Array:
        """The truth as the sensor gives it."""
        return as_seen(truth, self.noise, self.resolution, self.limit, source)


MeasuredJoint = Annotated[str | None, CoordinateName("name of the joint that is read, where one is")]
Station = Annotated[float, Quantity("1", "place of the sensor as a share of the length", at_least=0, at_most=1)]


@dataclass(frozen=True)
class Encoder(Instrument):
    """Joint positions as a controller reads them, counted at the joint; where it reads one, that of ``joint``.

    It sits on the motor: where a GearMotor has an elastic gear, a single reading is that of the rotor.
    """

    resolution: Annotated[float, Quantity(POSITION_UNIT, "position between two counts", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(POSITION_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    joint: MeasuredJoint = None

    def reader(self, arm: Arm) -> Reader:
        return partial(self._reading, _joint(self, arm))

    def _reading(self, joint: int, sample: Sample, source: Noise) -> float:
        return float(self.read(sample.motor_positions[joint], source))


@dataclass(frozen=True)
class Tachometer(Instrument):
    """Joint rates as a controller or a servo reads them, counted at the joint; where it reads one, that of ``joint``.

    It sits on the motor, as an `Encoder` does.
    """

    resolution: Annotated[float, Quantity(RATE_UNIT, "rate between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(RATE_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity(RATE_UNIT, "largest reading", above=0)] = None
    joint: MeasuredJoint = None

    def reader(self, arm: Arm) -> Reader:
        return partial(self._reading, _joint(self, arm))

    def _reading(self, joint: int, sample: Sample, source: Noise) -> float:
        return float(self.read(sample.motor_rates[joint], source))


@dataclass(frozen=True)
class StrainGauge(Instrument):
    """The curvature of a flexible link about one of its section axes, measured from its rest shape.

    A gauge on the surface stretches by this curvature times its distance from the axis of the link.
    """

    link: Annotated[str, Name("name of the flexible link")]
    about: Annotated[Across, Choice("section axis about which the curvature is read")] = Across.Z
    station: Station = 0.0
    resolution: Annotated[float, Quantity(CURVATURE_UNIT, "curvature between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(CURVATURE_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity(CURVATURE_UNIT, "largest reading", above=0)] = None

    def reader(self, arm: Arm) -> Reader:
        refuse_link("StrainGauge", arm, self.link)
        return self._reading

    def _reading(self, sample: Sample, source: Noise) -> float:
        component = 4 if self.about is Across.Y else 5
        return float(self.read(sample.strain(self.link, self.station)[component], source))


@dataclass(frozen=True)
class DeflectionSensor(Instrument):
    """How far the tip of a flexible link stands off its place at rest, along an axis of the section at its root."""

    link: Annotated[str, Name("name of the flexible link")]
    along: Annotated[Across, Choice("section axis of the root along which the tip is seen")] = Across.Y
    resolution: Annotated[float, Quantity("m", "deflection between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity("m", "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity("m", "largest reading", above=0)] = None

    def reader(self, arm: Arm) -> Reader:
        refuse_link("DeflectionSensor", arm, self.link)
        return self._reading

    def _reading(self, sample: Sample, source: Noise) -> float:
        axis = 1 if self.along is Across.Y else 2
        return float(self.read(sample.deflection(self.link)[axis], source))


@dataclass(frozen=True)
class Accelerometer(Instrument):
    """The specific force a - g of a section of a link, along one of its axes: at rest +9.81 m/s^2 along what is up.

    The acceleration a is that of the last two steps before the sample, see `Sample.acceleration`.
    """

    link: Annotated[str, Name("name of the link")]
    along: Annotated[Axis, Choice("axis of the section along which it measures")] = Axis.Y
    station: Station = 1.0
    bias: Annotated[float, Quantity(FORCE_UNIT, "reading of nothing")] = 0.0
    resolution: Annotated[float, Quantity(FORCE_UNIT, "specific force between two readings", at_least=0)] = 0.0
    noise: Annotated[float, Quantity(FORCE_UNIT, "standard deviation of the noise", at_least=0)] = 0.0
    limit: Annotated[float | None, Quantity(FORCE_UNIT, "largest reading", above=0)] = None

    accelerations: ClassVar[bool] = True

    def reader(self, arm: Arm) -> Reader:
        refuse_unknown("Accelerometer", arm, self.link)
        return self._reading

    def _reading(self, sample: Sample, source: Noise) -> float:
        axis = list(Axis).index(self.along)
        return float(self.read(sample.specific_force(self.link, self.station)[axis] + self.bias, source))


@dataclass(frozen=True)
class Imu(Declared):
    """Specific force a - g and angular rate of a section of a link, six numbers in the axes of the section.

    They are those of three accelerometers, m/s^2, and three gyroscopes, rad/s. With a ``period`` of its own the unit
    measures at the first sample of its controller after each multiple of it, and holds its readings in between.
    """

    link: Annotated[str, Name("name of the link")]
    station: Station = 1.0
    force_bias: Annotated[Vector3, Quantity.vector(FORCE_UNIT, "readings of no specific force")] = ORIGIN
    force_noise: Annotated[float, Quantity(FORCE_UNIT, "standard deviation of its noise", at_least=0)] = 0.0
    force_resolution: Annotated[float, Quantity(FORCE_UNIT, "step between two readings", at_least=0)] = 0.0
    force_limit: Annotated[float | None, Quantity(FORCE_UNIT, "largest reading", above=0)] = None
    rate_bias: Annotated[Vector3, Quantity.vector("rad/s", "readings of no angular rate")] = ORIGIN
    rate_noise: Annotated[float, Quantity("rad/s", "standard deviation of its noise", at_least=0)] = 0.0
    rate_resolution: Annotated[float, Quantity("rad/s", "step between two readings", at_least=0)] = 0.0
    rate_limit: Annotated[float | None, Quantity("rad/s", "largest reading", above=0)] = None
    period: Annotated[float | None, Quantity("s", "time between two readings of its own", above=0)] = None

    accelerations: ClassVar[bool] = True
    size: ClassVar[int] = 6

    def reader(self, arm: Arm) -> ImuReader:
        refuse_unknown("Imu", arm, self.link)
        return ImuReader(self)

    def reading(self, sample: Sample, source: Noise) -> Array:
        """The six numbers of an instant."""
        force = sample.specific_force(self.link, self.station) + self.force_bias
        rate = sample.twist(self.link, self.station)[3:] + self.rate_bias
        kinds = (
            (force, self.force_noise, self.force_resolution, self.force_limit),
            (rate, self.rate_noise, self.rate_resolution, self.rate_limit),
        )
        return np.concatenate([as_seen(*each, source) for each in kinds])


@dataclass(eq=False)
class ImuReader:
    """The unit during a run, and what it holds."""

    imu: Imu
    held: Array | None = None
    begin: float = 0.0
    count: int = 0  # of its own samples

    @property
    def memory(self) -> Array:
        """As numbers: none before the first reading."""
        return np.zeros(0) if self.held is None else np.array([self.begin, self.count, *self.held])

    @memory.setter
    def memory(self, numbers: Array) -> None:
        if len(numbers):
            self.begin, self.count, self.held = float(numbers[0]), int(numbers[1]), np.array(numbers[2:])

    def __call__(self, sample: Sample, source: Noise) -> Array:
        if self.imu.period is None:
            return self.imu.reading(sample, source)
        if self.held is None:
            self.begin = sample.time
        if self.held is None or self.begin + self.count * self.imu.period <= sample.time + slack(sample.time):
            self.count = int((sample.time + slack(sample.time) - self.begin) / self.imu.period) + 1
            self.held = self.imu.reading(sample, source)
        return self.held


def _joint(sensor: Encoder | Tachometer, arm: Arm) -> int:
    if sensor.joint is None:
        raise InvalidInput(
            f"{sensor.label}: names no joint, but one number is read; write"
            f" {sensor.label}(joint='{arm.joint_names[0]}')"
        )
    if sensor.joint not in arm.joint_names:
        raise InvalidInput(
            f"{sensor.label}: the arm has no joint '{sensor.joint}'; {nearest(sensor.joint, arm.joint_names)}"
        )
    return arm.joint_names.index(sensor.joint)


def refuse_unknown(label: str, arm: Arm, link: str) -> None:
    """Refuse a sensor on a link that the arm does not have."""
    names = [each.name for each in arm.robot.links]
    if link not in names:
        raise InvalidInput(f"{label}: the arm has no link '{link}'; {nearest(link, names)}")


def refuse_link(label: str, arm: Arm, link: str) -> None:
    """Refuse a sensor on a link that the arm does not have or that cannot bend."""
    flexible = [each.name for each in arm.robot.links if isinstance(each, FlexibleLink)]
    if link in flexible:
        return
    if link in (each.name for each in arm.robot.links):
        rigid = isinstance(arm.robot.link(link), RigidLink)
        why = "is rigid and does not bend" if rigid else "has no sections that bend"
        raise InvalidInput(f"{label}: link '{link}' {why}; {nearest(link, flexible)}")
    raise InvalidInput(f"{label}: the arm has no flexible link '{link}'; {nearest(link, flexible)}")
