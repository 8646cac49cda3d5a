"""Sources: joint motions, joint torques and external wrenches that are known in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.network.attachments import Attachment, Load, Prescription, Torque
from pliant.network.motions import Motion
from pliant.network.signals import Signal

if TYPE_CHECKING:
    from pliant.model.contract import Model


@dataclass(frozen=True)
class PrescribedMotion:
    """The joint named ``joint`` follows ``motion`` exactly; its drive supplies whatever torque that takes."""

    joint: str
    motion: Motion

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        return (Prescription(self.joint, self.motion),)


@dataclass(frozen=True)
class JointTorque:
    """A torque (N m; force in N for a prismatic joint) in time on the joint named ``joint``."""

    joint: str
    signal: Signal

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        return (Torque(self.joint, self.signal),)


@dataclass(frozen=True)
class TipWrench:
    """Force (N) and moment (N m), six components in time, on the tip of the link named ``link``.

    In the WORLD frame the wrench keeps its direction (a dead load), in the BODY frame it turns with the tip
    section (a follower load).
    """

    link: str
    signal: Signal
    frame: Frame = Frame.WORLD
    name: str | None = None

    def __post_init__(self) -> None:
        _check_frame("TipWrench", self.frame)

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        name = self.name or f"tip wrench on {self.link}"
        return (Load(LoadPlace(name, self.link, distributed=False, frame=self.frame), self.signal),)


@dataclass(frozen=True)
class DistributedWrench:
    """Force (N/m) and moment (N m/m) per length, six components in time, all along the link named ``link``.

    In the WORLD frame the wrench keeps its direction, in the BODY frame it turns with each section.
    """

    link: str
    signal: Signal
    frame: Frame = Frame.WORLD
    name: str | None = None

    def __post_init__(self) -> None:
        _check_frame("DistributedWrench", self.frame)

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        name = self.name or f"distributed wrench on {self.link}"
        return (Load(LoadPlace(name, self.link, distributed=True, frame=self.frame), self.signal),)


def _check_frame(component: str, frame: Frame) -> None:
    if frame is not Frame.WORLD and frame is not Frame.BODY:
        raise InvalidInput(f"{component}.frame = {frame!r} must be Frame.WORLD or Frame.BODY.")
