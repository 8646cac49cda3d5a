"""Proportional and derivative control of joints in continuous time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pliant.components.fields import Holds, JointNames
from pliant.components.kinds import Contribution, Feedback, Torque
from pliant.components.motions import Reference
from pliant.components.ports import PerJoint, chosen_or_all, for_each, is_part_of_whole
from pliant.components.signals import Signal
from pliant.model.contract import Arm
from pliant.robot.declared import Declared, Quantity


@dataclass(frozen=True)
class JointPD(Declared):
    """torque = feedforward - stiffness (q - reference) - damping (qdot - reference rate), on each joint.

    Give one value for all ``joints`` or one for each, in their order; without ``joints`` the law acts on all
    joints of the arm that can be driven. For a prismatic joint the units are N/m, N s/m and N.

    On all coordinates of a ball or free joint together (``ball.x``, ``ball.y``, ``ball.z``) the references are
    rotations in a row, of a free joint after three translations. They move a frame to which the child is pulled, by the
    gradient of  stiffness e^2 / 2  with the rotation vector e from that frame to the child.
    """

    reference: Reference
    stiffness: Annotated[PerJoint, Quantity("N m/rad", "position gain", at_least=0, each="position gains")]
    damping: Annotated[PerJoint, Quantity("N m s/rad", "rate gain", at_least=0, each="rate gains")]
    joints: Annotated[Sequence[str] | None, JointNames("names of the driven joints")] = None
    feedforward: Annotated[
        Signal | Sequence[Signal] | None,
        Holds("torque to add", Signal, "write a signal, such as Constant(2.0), or a list of them", many=True),
    ] = None

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        joints = chosen_or_all(arm, self.joints)
        references = for_each(self, "reference", joints)
        stiffnesses = for_each(self, "stiffness", joints)
        dampings = for_each(self, "damping", joints)
        wholes = [is_part_of_whole(arm, joint) for joint in joints]
        feedbacks = map(Feedback, joints, references, stiffnesses, dampings, wholes)
        if self.feedforward is None:
            return tuple(feedbacks)
        return (*feedbacks, *map(Torque, joints, for_each(self, "feedforward", joints)))
