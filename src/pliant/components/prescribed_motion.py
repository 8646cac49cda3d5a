"""A joint that follows a motion known in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pliant.components.fields import Holds, JointName
from pliant.components.kinds import Contribution, Prescription
from pliant.components.motions import Motion
from pliant.model.contract import Arm
from pliant.robot.declared import Declared


@dataclass(frozen=True)
class PrescribedMotion(Declared):
    """The joint follows ``motion`` exactly; its drive supplies whatever torque that takes."""

    joint: JointName
    motion: Annotated[Motion, Holds("motion of the joint", Motion, "write a motion, such as Hold(1.0)")]

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (Prescription(self.joint, self.motion),)
