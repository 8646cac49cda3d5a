"""A torque or force on a joint, known in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pliant.components.fields import Holds, JointName
from pliant.components.kinds import Contribution, Torque
from pliant.components.link_wrench import WRITE_SIGNAL
from pliant.components.signals import Signal
from pliant.model.contract import Arm
from pliant.robot.declared import Declared


@dataclass(frozen=True)
class JointTorque(Declared):
    """A torque (N m; a force in N for a prismatic joint) in time on one joint.

    A ball joint takes three components, a torque in the axes of the child with its opposite on the parent. A free
    joint takes six, a force and a moment in the axes of the child at its root with their opposites on the ground.
    """

    joint: JointName
    signal: Annotated[Signal, Holds("torque in time", Signal, WRITE_SIGNAL)]

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (Torque(self.joint, self.signal),)
