"""Sampled control: velocity servos, a loop around the positions of joints that have them, damping of flexible links.

A link whose root follows its joint q answers in its first mode, with the reading y of a strain or a deflection,

    y'' + omega^2 y = - participation q'' .

A servo makes q' follow its command. The command  gain y  therefore makes the right side  - participation gain y',
a damper of the ratio  gain participation / (2 omega): it needs no rate of y and no model of the link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pliant.components import sampled_controller as sampled
from pliant.components.fields import Holds, JointName, JointNames
from pliant.components.kinds import Contribution, SampledLaw, Servo
from pliant.components.motions import Hold, Motion, Reference
from pliant.components.ports import PerJoint, chosen_or_all, for_each
from pliant.components.sampled_controller import CheckedLaw, Law
from pliant.components.sensors import Encoder, Sensor, Tachometer
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, ServoPlace, noise_source
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class VelocityServo(Declared):
    """torque = ratio gain (V - sensor_gain ratio rate), every ``period`` and held in between [konno1996] (47).

    The voltage V = sensor_gain ratio command is what the commanded rate of the joint gives after its converter: rounded
    to multiples of ``command_resolution``, then cut to +- ``command_limit``. The commanded rate is the sum of all
    commands on the joint (PositionLoop, VibrationSuppression, SampledCommand), zero if there is none. ``gain`` and
    ``torque_limit`` are those of the motor; with ratio and sensor_gain 1 the gain is in N m s/rad of the joint. The
    rate is that of the rotor where a GearMotor has an elastic gear; its ``tachometer`` counts at the joint. Give one
    value for all ``joints`` or one for each, in their order; without ``joints`` all that can be driven have a servo.
    """

    gain: Annotated[
        PerJoint,
        Quantity(
            "N m/V", "torque of the motor per voltage K_sp", at_least=0, each="torques of the motors per voltage K_sp"
        ),
    ]
    period: Annotated[float, Quantity("s", "time between two samples", above=0)]
    sensor_gain: Annotated[
        PerJoint,
        Quantity("V s/rad", "voltage per rate of the motor K_sv", above=0, each="voltages per rate of the motor K_sv"),
    ] = 1.0
    ratio: Annotated[
        PerJoint,
        Quantity(
            "1", "turns of the motor for one of the joint", above=0, each="turns of the motors for one of the joint"
        ),
    ] = 1.0
    joints: Annotated[Sequence[str] | None, JointNames("names of the joints with a servo")] = None
    command_limit: Annotated[float | None, Quantity("V", "largest voltage of a command", above=0)] = None
    command_resolution: Annotated[float, Quantity("V", "voltage between two commands", at_least=0)] = 0.0
    torque_limit: Annotated[float | None, Quantity("N m", "largest torque of the motor", above=0)] = None
    tachometer: sampled.TachometerField = None
    seed: sampled.SeedField = 0

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        joints = chosen_or_all(arm, self.joints)
        gains = for_each(self, "gain", joints)
        sensor_gains = for_each(self, "sensor_gain", joints)
        ratios = for_each(self, "ratio", joints)
        return tuple(map(self._place, joints, gains, sensor_gains, ratios))

    def _place(self, joint: str, gain: float, sensor_gain: float, ratio: float) -> Servo:
        voltage = sensor_gain * ratio  # per rate of the joint
        meter = self.tachometer or Tachometer()
        place = ServoPlace(
            joint,
            gain=ratio * gain * voltage,
            period=self.period,
            command_limit=inf if self.command_limit is None else self.command_limit / voltage,
            command_resolution=self.command_resolution / voltage,
            rate_limit=inf if meter.limit is None else meter.limit,
            rate_resolution=meter.resolution,
            rate_noise=meter.noise,
            torque_limit=inf if self.torque_limit is None else self.torque_limit * ratio,
            seed=self.seed,
        )
        return Servo(joint, place)


@dataclass(frozen=True)
class PositionLoop(Declared):
    """commanded rate = gain (reference - q) + feedforward reference rate, every ``period`` and held in between.

    q is the position of the rotor, counted at the joint, where a GearMotor has an elastic gear, else that of the joint,
    as the ``encoder`` gives it. A VelocityServo must be connected to each of the ``joints``. Give one reference and one
    gain for all joints or one for each, in their order; without ``joints`` the loop acts on all that can be driven.
    """

    reference: Reference
    gain: Annotated[
        PerJoint, Quantity("1/s", "rate per error of position", at_least=0, each="rates per error of position")
    ]
    period: sampled.Period
    joints: Annotated[Sequence[str] | None, JointNames("names of the commanded joints")] = None
    feedforward: Annotated[float, Quantity("1", "part of the reference rate to add", at_least=0, at_most=1)] = 0.0
    encoder: sampled.EncoderField = None
    delay: sampled.Delay = 0.0
    seed: sampled.SeedField = 0
    name: sampled.ControllerName = None

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        joints = chosen_or_all(arm, self.joints)
        references, gain = for_each(self, "reference", joints), np.array(for_each(self, "gain", joints))
        places = np.array([arm.joint_names.index(name) for name in joints if name in arm.joint_names], np.intp)
        name, encoder = self.name or "position_loop", self.encoder or Encoder()
        law = PositionLaw(name, references, gain, self.feedforward, places, encoder, self.seed)
        return (SampledLaw(CheckedLaw(name, self.period, joints, law, self.delay, "rate", "rad/s"), True),)


@dataclass(frozen=True, eq=False)
class PositionLaw:
    """The loop on the joints of one arm."""

    name: str
    references: tuple[Motion, ...]
    gain: Array
    feedforward: float
    places: NDArray[np.intp]
    encoder: Encoder
    seed: int

    def started(self) -> Law:
        return PositionRates(self)


class PositionRates:
    """The loop during one run; it remembers no more than its random numbers."""

    memory: Sequence[float] = ()

    def __init__(self, law: PositionLaw) -> None:
        self.law, self.source = law, noise_source(law.seed, law.name)
        self.moving = [(k, motion) for k, motion in enumerate(law.references) if not isinstance(motion, Hold)]
        self.wanted = np.array([motion.position if isinstance(motion, Hold) else 0.0 for motion in law.references])
        self.rate = np.zeros(len(self.wanted))

    def __call__(self, sample: Sample) -> Array:
        law, wanted, rate = self.law, self.wanted, self.rate
        for k, motion in self.moving:
            position, speed, _ = motion.evaluate(np.array([sample.time]))
            wanted[k], rate[k] = position[0], speed[0]
        seen = law.encoder.read(sample.motor_positions[law.places], self.source)
        return np.asarray(law.gain * (wanted - seen) + law.feedforward * rate)


@dataclass(frozen=True)
class VibrationSuppression(Declared):
    """commanded rate of ``joint`` = gain (reading - its slow part), every ``period`` and held in between.

    A positive gain damps a link whose reading is positive when its tip is ahead of a joint that rotates in the positive
    direction. The slow part, such as the sag under gravity, is a first order filter of the reading with the time
    constant ``washout``; without one the whole reading counts and a lasting strain moves the joint. A VelocityServo
    must be connected to the joint. Several of these add up, and to a PositionLoop.
    """

    joint: JointName
    sensor: Annotated[
        Sensor, Holds("sensor of the vibration", Sensor, "write a StrainGauge(...) or DeflectionSensor(...)")
    ]
    gain: Annotated[float, Quantity("rad/s per unit of the reading", "rate per reading")]
    period: sampled.Period
    washout: Annotated[float | None, Quantity("s", "time constant of the slow part", above=0)] = None
    delay: sampled.Delay = 0.0
    seed: sampled.SeedField = 0
    name: sampled.ControllerName = None

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        name = self.name or f"suppression-{self.joint}"
        # the part of a deviation that the slow part takes in a period
        forget = 0.0 if self.washout is None else 1.0 - exp(-self.period / self.washout)
        fresh, sensors = SuppressionLaw(self.gain, forget), (self.seed, (self.sensor,), arm)
        law = CheckedLaw(name, self.period, (self.joint,), fresh, self.delay, "rate", "rad/s", None, None, *sensors)
        return (SampledLaw(law, commands=True),)


@dataclass(frozen=True)
class SuppressionLaw:
    """gain (reading - its slow part), which takes the part ``forget`` of a deviation in a period; without one gain
    reading."""

    gain: float
    forget: float

    def started(self) -> Law:
        return SuppressionRate(self)


class SuppressionRate:
    """The suppression during one run; it remembers the slow part of its reading, if it was asked before."""

    def __init__(self, law: SuppressionLaw) -> None:
        self.law, self.memory = law, ()

    memory: Sequence[float]

    def __call__(self, sample: Sample) -> float:
        gain, forget = self.law.gain, self.law.forget
        (reading,) = map(float, sample.readings)
        if not forget:
            return gain * reading
        slow = float(self.memory[0]) if len(self.memory) else reading
        slow += forget * (reading - slow)
        self.memory = (slow,)
        return gain * (reading - slow)
