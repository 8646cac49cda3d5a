"""Motors with a rotor and a gear between the drive of a joint and the joint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated

from pliant.components.fields import JointName
from pliant.components.kinds import Contribution, Motor
from pliant.errors import Problem
from pliant.model.contract import Arm
from pliant.model.inputs import MotorPlace
from pliant.robot.declared import Declared, Quantity

ROTOR = (0.0, 10.0)  # kg m^2: servo motors of 100 kW have up to 1, direct drives without a gear some more


@dataclass(frozen=True)
class GearMotor(Declared):
    """A rotor that drives a joint coordinate through a gear, which is rigid unless it has a stiffness.

    The torques of the drives on this joint act on the rotor, and a JointPD reads the rotor; both keep the units
    of the joint: the angle of the rotor divided by the ratio, its torque times the ratio. ``rotor_inertia``
    and ``torque_limit`` are those of the motor itself, ``stiffness`` and ``damping`` those of the gear as felt
    at the joint. For a coordinate that translates, the ratio is in rad/m and the gear in N/m and N s/m.
    """

    joint: JointName
    rotor_inertia: Annotated[float, Quantity("kg m^2", "inertia of the rotor about its axis", above=0, usual=ROTOR)]
    ratio: Annotated[float, Quantity("1", "turns of the rotor for one of the joint", above=0)]
    stiffness: Annotated[float | None, Quantity("N m/rad", "torque at the joint per twist of the gear", above=0)] = None
    damping: Annotated[
        float, Quantity("N m s/rad", "torque at the joint per rate of twist of the gear", at_least=0)
    ] = 0.0
    torque_limit: Annotated[float | None, Quantity("N m", "largest torque of the motor", above=0)] = None

    def conflicts(self) -> Iterator[Problem]:
        if self.stiffness is None and self.damping > 0:
            yield Problem(
                f"= {self.damping:g} N m s/rad has no effect in a rigid gear; write a stiffness in N m/rad as well",
                ("damping",),
            )

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        place = MotorPlace(
            self.joint,
            rotor_inertia=self.rotor_inertia * self.ratio**2,
            stiffness=self.stiffness or 0.0,
            damping=self.damping,
            torque_limit=inf if self.torque_limit is None else self.torque_limit * self.ratio,
        )
        return (Motor(self.joint, place),)
