"""Damping of a flexible link by the joint that carries it.

A link whose root follows its joint q answers in its first mode, with the reading y of a strain or a deflection,

    y'' + omega^2 y = - participation q'' .

A servo makes q' follow its command. The command  gain y  therefore makes the right side  - participation gain y',
a damper of the ratio  gain participation / (2 omega): it needs no rate of y and no model of the link.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import Annotated

from pliant.components.fields import CoordinateName, Holds
from pliant.components.kinds import Contribution, SampledLaw
from pliant.components.sampled_controller import CheckedLaw, ControllerName, Delay, Fresh, Law, Period, SeedField
from pliant.components.sensors import Sensor
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, noise_source
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class VibrationSuppression(Declared):
    """commanded rate of ``joint`` = gain (reading - its slow part), every ``period`` and held in between.

    A positive gain damps a link whose reading is positive when its tip is ahead of a joint that rotates in the positive
    direction. The slow part, such as the sag under gravity, is a first order filter of the reading with the time
    constant ``washout``; without one the whole reading counts and a lasting strain moves the joint. A VelocityServo
    must be connected to the joint. Several of these add up, and to a PositionLoop.
    """

    joint: Annotated[str, CoordinateName("name of the joint or of its coordinate")]
    sensor: Annotated[
        Sensor, Holds("sensor of the vibration", Sensor, "write a StrainGauge(...) or DeflectionSensor(...)")
    ]
    gain: Annotated[float, Quantity("rad/s per unit of the reading", "rate per reading")]
    period: Period
    washout: Annotated[float | None, Quantity("s", "time constant of the slow part", above=0)] = None
    delay: Delay = 0.0
    seed: SeedField = 0
    name: ControllerName = None

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        name = self.name or f"suppression-{self.joint}"
        # the part of a deviation that the slow part takes in a period
        forget = 0.0 if self.washout is None else 1.0 - exp(-self.period / self.washout)
        reader = self.sensor.reader(arm)

        def started() -> Law:
            source = noise_source(self.seed, name)
            slow: float | None = None

            def rate(sample: Sample) -> float:
                nonlocal slow
                reading = reader(sample, source)
                if not forget:
                    return self.gain * reading
                slow = reading if slow is None else slow + forget * (reading - slow)
                return self.gain * (reading - slow)

            return rate

        law = CheckedLaw(name, self.period, (self.joint,), Fresh(started), self.delay, "rate", "rad/s")
        return (SampledLaw(law, commands=True),)
