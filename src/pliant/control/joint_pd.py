"""Proportional and derivative control of joints in continuous time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pliant.errors import InvalidInput
from pliant.network.attachments import Attachment, Feedback, Torque
from pliant.network.checks import Numbers, finite_numbers, joint_selection
from pliant.network.motions import Motion
from pliant.network.signals import Signal

if TYPE_CHECKING:
    from pliant.model.contract import Model

T = TypeVar("T")


@dataclass(frozen=True)
class JointPD:
    """torque = feedforward - stiffness (q - reference) - damping (qdot - reference rate), on each joint.

    Give one value for all ``joints`` or one for each, in their order; without ``joints`` the law acts on all
    joints of the arm. Units: stiffness N m/rad and damping N m s/rad (N/m and N s/m for a prismatic joint).
    """

    reference: Motion | Sequence[Motion]
    stiffness: Numbers
    damping: Numbers
    joints: Sequence[str] | None = None
    feedforward: Signal | Sequence[Signal] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stiffness", _gains("JointPD.stiffness", self.stiffness, "N m/rad"))
        object.__setattr__(self, "damping", _gains("JointPD.damping", self.damping, "N m s/rad"))
        object.__setattr__(self, "joints", joint_selection("JointPD.joints", self.joints))
        if isinstance(self.reference, Sequence):
            object.__setattr__(self, "reference", tuple(self.reference))
        if isinstance(self.feedforward, Sequence):
            object.__setattr__(self, "feedforward", tuple(self.feedforward))

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        joints = arm.joint_names if self.joints is None else tuple(self.joints)
        references = _for_each("reference", self.reference, joints)
        stiffnesses = _for_each("stiffness", self.stiffness, joints)
        dampings = _for_each("damping", self.damping, joints)
        feedbacks = map(Feedback, joints, references, stiffnesses, dampings)
        if self.feedforward is None:
            return tuple(feedbacks)
        return (*feedbacks, *map(Torque, joints, _for_each("feedforward", self.feedforward, joints)))


def _gains(field: str, values: Numbers, unit: str) -> float | tuple[float, ...]:
    gains = finite_numbers(field, values, unit)
    for gain in gains if isinstance(gains, tuple) else (gains,):
        if gain < 0.0:
            raise InvalidInput(f"{field} = {gain:g} {unit} must not be negative; write a gain of 0 or more.")
    return gains


def _for_each(field: str, values: T | Sequence[T], joints: tuple[str, ...]) -> tuple[T, ...]:
    """One value for each joint; a single value serves all."""
    if not isinstance(values, Sequence):
        return (values,) * len(joints)
    if len(values) != len(joints):
        raise InvalidInput(
            f"JointPD.{field} has {len(values)} values for {len(joints)} joints ({', '.join(joints)});"
            " give one for all or one for each."
        )
    return tuple(values)
