"""What a component does to one joint or link of an arm, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.model.inputs import (
    BaseMotionSignals,
    BushingPlace,
    LoadPlace,
    MotorPlace,
    SpringPlace,
    WallPlace,
)
from pliant.model.sampling import SampledController
from pliant.model.servo import ServoPlace
from pliant.network.motions import Motion
from pliant.network.signals import Signal
from pliant.robot.link import IDENTITY
from pliant.robot.quantity import Quaternion

if TYPE_CHECKING:
    from pliant.model.contract import Model


@dataclass(frozen=True)
class Prescription:
    """``joint`` follows ``motion``, whatever torque that takes."""

    joint: str
    motion: Motion


@dataclass(frozen=True)
class Feedback:
    """The torque  -stiffness (q - reference) - damping (qdot - reference rate)  on ``joint``."""

    joint: str
    reference: Motion
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Following:
    """Feedback on one coordinate of a ball or free joint; all of them together pull its child to a frame that moves."""

    joint: str
    reference: Motion
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Torque:
    """A torque (force for a prismatic joint) in time on ``joint``; several of them add.

    Three components on a ball joint, the six of a wrench on a free joint.
    """

    joint: str
    signal: Signal


@dataclass(frozen=True)
class Load:
    """An external wrench of six components in time, in axes that ``rotation`` turns to those of the place."""

    place: LoadPlace
    signal: Signal
    rotation: Quaternion = IDENTITY


@dataclass(frozen=True)
class BaseMove:
    """The base moves by ``signals``, made of ``motions``, whatever wrench that takes."""

    signals: BaseMotionSignals
    motions: tuple[Motion, ...]


@dataclass(frozen=True)
class SampledLaw:
    """A torque law called at its own period; it adds to the other torques on its joints."""

    controller: SampledController


@dataclass(frozen=True)
class CommandLaw:
    """Joint rates asked for at its own period; they add to the other commands that the servos of its joints see."""

    controller: SampledController


ForceElement = SpringPlace | BushingPlace | WallPlace
Sampled = SampledLaw | CommandLaw | ServoPlace
Attachment = (
    Prescription | Feedback | Following | Torque | Sampled | MotorPlace | Load | ForceElement | BaseMove
)


class Component(Protocol):
    """Anything that connect can join to an arm."""

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        """What this component does to ``arm``, one entry for each joint or link it acts on."""
        ...
