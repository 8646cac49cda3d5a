"""What a component does to one joint or link of an arm, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.model.inputs import LoadPlace, SampledController
from pliant.network.motions import Motion
from pliant.network.signals import Signal

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
class Torque:
    """A torque (force for a prismatic joint) in time on ``joint``; several of them add."""

    joint: str
    signal: Signal


@dataclass(frozen=True)
class Load:
    """An external wrench of six components in time."""

    place: LoadPlace
    signal: Signal


@dataclass(frozen=True)
class SampledLaw:
    """A torque law called at its own period; it adds to the other torques on its joints."""

    controller: SampledController


Attachment = Prescription | Feedback | Torque | Load | SampledLaw


class Component(Protocol):
    """Anything that connect can join to an arm."""

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        """What this component does to ``arm``, one entry for each joint or link it acts on."""
        ...
