"""A sampled loop around the positions of joints that have velocity servos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pliant.components import sampled_controller as sampled
from pliant.components.fields import JointNames
from pliant.components.kinds import Contribution, SampledLaw
from pliant.components.motions import Hold, Motion, Reference
from pliant.components.ports import chosen_or_all, for_each
from pliant.components.sampled_controller import CheckedLaw, Law
from pliant.components.sensors import Encoder
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, noise_source
from pliant.model.state import Array
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class PositionLoop(Declared):
    """commanded rate = gain (reference - q) + feedforward reference rate, every ``period`` and held in between.

    q is the position of the rotor, counted at the joint, where a GearMotor has an elastic gear, else that of the joint,
    as the ``encoder`` gives it. A VelocityServo must be connected to each of the ``joints``. Give one reference and one
    gain for all joints or one for each, in their order; without ``joints`` the loop acts on all that can be driven.
    """

    reference: Reference
    gain: Annotated[
        float | Sequence[float],
        Quantity("1/s", "rate per error of position", at_least=0, each="rates per error of position"),
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
        source = noise_source(self.seed, self.name)
        moving = [(k, motion) for k, motion in enumerate(self.references) if not isinstance(motion, Hold)]
        holds = [motion.position if isinstance(motion, Hold) else 0.0 for motion in self.references]
        wanted, rate = np.array(holds), np.zeros(len(holds))

        def rates(sample: Sample) -> Array:
            for k, motion in moving:
                position, speed, _ = motion.evaluate(np.array([sample.time]))
                wanted[k], rate[k] = position[0], speed[0]
            seen = self.encoder.read(sample.motor_positions[self.places], source)
            command: Array = self.gain * (wanted - seen) + self.feedforward * rate
            return command

        return rates
