"""Sampled controllers: a Python torque law called at its own period, its answer held until the next call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import PliantError
from pliant.model.inputs import Sample
from pliant.model.layout import Array
from pliant.network.attachments import Attachment, SampledLaw
from pliant.network.fields import Holds, JointNames
from pliant.network.ports import drivable_in_the_tree
from pliant.robot.declared import Declared, Name
from pliant.robot.quantity import Quantity

if TYPE_CHECKING:
    from pliant.model.contract import Model

Law = Callable[[Sample], ArrayLike]


class ControllerFailed(PliantError, RuntimeError):
    """A sampled controller raised an error, or answered with something that is no torque."""


@dataclass(frozen=True)
class SampledController(Declared):
    """``function(sample)`` gives the torques (N m; N for prismatic joints) of ``joints``, in that order.

    It is called once every ``period`` and its answer is held in between. Without ``joints`` it acts on all
    joints of the arm that can be driven, in their order there. Its torque adds to all others on the same joint.
    The function is not saved to file: a saved trajectory keeps what it caused, not its code.
    """

    function: Annotated[Law, Holds("torques that answer a sample", Callable, "write a function")]
    period: Annotated[float, Quantity("s", "time between two calls", above=0)]
    joints: Annotated[Sequence[str] | None, JointNames("names of the driven joints")] = None
    name: Annotated[str | None, Name("name of the controller in messages")] = None

    def attachments(self, arm: Model) -> tuple[Attachment, ...]:
        joints = drivable_in_the_tree(arm) if self.joints is None else tuple(self.joints)
        own_name: str = getattr(self.function, "__name__", type(self.function).__name__)
        return (SampledLaw(CheckedLaw(self.name or own_name, self.period, joints, self.function)),)


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
                f"controller '{self.name}' failed at t = {sample.time:g} s: {type(error).__name__}: {error}"
            ) from error
        size = len(self.joints)
        if torque.shape != (size,) and not (size == 1 and torque.shape == ()):
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with an array of shape"
                f" {torque.shape}; return one torque in N m for each of {', '.join(self.joints)}"
            )
        torque = torque.reshape(size)
        if not np.isfinite(torque).all():
            joint = int(np.argmin(np.isfinite(torque)))
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with {torque[joint]} N m"
                f" for joint '{self.joints[joint]}'; return finite torques"
            )
        return torque
