"""Sampled controllers: a Python torque law called at its own period, its answer held until the next call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import PliantError
from pliant.model.inputs import Sample
from pliant.model.layout import Array
from pliant.network.attachments import Attachment, SampledLaw
from pliant.network.checks import joint_selection, positive

if TYPE_CHECKING:
    from pliant.model.contract import Model

Law = Callable[[Sample], ArrayLike]


class ControllerFailed(PliantError, RuntimeError):
    """A sampled controller raised an error, or answered with something that is no torque."""


@dataclass(frozen=True)
class SampledController:
    """``function(sample)`` gives the torques (N m; N for prismatic joints) of ``joints``, in that order.

    It is called every ``period`` s and its answer is held in between. Without ``joints`` it acts on all
    joints of the arm, in the order of their names there. Its torque adds to all others on the same joint.
    The function is not saved to file.
    """

    function: Law
    period: float
    joints: Sequence[str] | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", positive("SampledController.period", self.period, "s"))
        object.__setattr__(self, "joints", joint_selection("SampledController.joints", self.joints))

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        joints = arm.joint_names if self.joints is None else tuple(self.joints)
        name = self.name or getattr(self.function, "__name__", type(self.function).__name__)
        return (SampledLaw(CheckedLaw(name, self.period, joints, self.function)),)


@dataclass(frozen=True)
class CheckedLaw:
    """A torque law joined to an arm: its joints are known and its answers are checked."""

    name: str
    period: float
    joints: tuple[str, ...]
    function: Law

    def torque(self, sample: Sample) -> Array:
        """The finite torques of ``joints``; a single number will do for a single joint."""
        try:
            torque = np.asarray(self.function(sample), dtype=np.float64)
        except Exception as error:
            raise ControllerFailed(
                f"controller '{self.name}' failed at t = {sample.time:g} s: {type(error).__name__}: {error}."
            ) from error
        size = len(self.joints)
        if torque.shape != (size,) and not (size == 1 and torque.shape == ()):
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with an array of shape"
                f" {torque.shape}; return one torque in N m for each of {', '.join(self.joints)}."
            )
        torque = torque.reshape(size)
        if not np.isfinite(torque).all():
            joint = int(np.argmin(np.isfinite(torque)))
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with {torque[joint]} N m"
                f" for joint '{self.joints[joint]}'; return finite torques."
            )
        return torque
