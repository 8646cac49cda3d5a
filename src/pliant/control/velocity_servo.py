"""Sampled velocity servos between commanded rates and torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated

from pliant.components.fields import JointNames
from pliant.components.kinds import Contribution, Servo
from pliant.components.ports import chosen_or_all, for_each
from pliant.components.sampled_controller import SeedField, TachometerField
from pliant.components.sensors import Tachometer
from pliant.model.contract import Arm
from pliant.model.sampling import ServoPlace
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
        float | Sequence[float],
        Quantity(
            "N m/V", "torque of the motor per voltage K_sp", at_least=0, each="torques of the motors per voltage K_sp"
        ),
    ]
    period: Annotated[float, Quantity("s", "time between two samples", above=0)]
    sensor_gain: Annotated[
        float | Sequence[float],
        Quantity("V s/rad", "voltage per rate of the motor K_sv", above=0, each="voltages per rate of the motor K_sv"),
    ] = 1.0
    ratio: Annotated[
        float | Sequence[float],
        Quantity(
            "1", "turns of the motor for one of the joint", above=0, each="turns of the motors for one of the joint"
        ),
    ] = 1.0
    joints: Annotated[Sequence[str] | None, JointNames("names of the joints with a servo")] = None
    command_limit: Annotated[float | None, Quantity("V", "largest voltage of a command", above=0)] = None
    command_resolution: Annotated[float, Quantity("V", "voltage between two commands", at_least=0)] = 0.0
    torque_limit: Annotated[float | None, Quantity("N m", "largest torque of the motor", above=0)] = None
    tachometer: TachometerField = None
    seed: SeedField = 0

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
