"""What the world does to a model during a run: joint drives, loads and sampled controllers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pliant.model.layout import Array
from pliant.model.port import Frame

if TYPE_CHECKING:
    from pliant.model.contract import Model


@dataclass(frozen=True)
class LoadPlace:
    """Where an external wrench acts: at the tip of a link, or spread along it (per metre)."""

    name: str
    link: str
    distributed: bool
    frame: Frame


@dataclass(frozen=True)
class Sample:
    """What a sampled controller may read at its sampling instant."""

    time: float
    joint_positions: Array
    joint_rates: Array
    state: Array
    model: Model


class SampledController(Protocol):
    """A torque law called at its own period; its answer is held until the next call."""

    @property
    def name(self) -> str: ...
    @property
    def period(self) -> float: ...
    @property
    def joints(self) -> tuple[str, ...]: ...
    def torque(self, sample: Sample) -> Array: ...


def _no_joint_signals(n_joints: int) -> Callable[[Array], Array]:
    return lambda times: np.zeros((len(times), n_joints, 3))


def _no_load_signals(times: Array) -> Array:
    return np.zeros((len(times), 0, 6))


@dataclass(frozen=True)
class Inputs:
    """All inputs of a model, as plain data and vectorised functions of time.

    ``joint_signals(times)`` has shape (n, n_joints, 3): for a prescribed joint its position, rate and
    acceleration; for any other joint the reference position, the reference rate and the feedforward
    torque of the law  torque = feedforward - stiffness (q - reference) - damping (qdot - reference rate).
    ``load_signals(times)`` has shape (n, n_loads, 6): force and moment (linear, angular) of each load.
    ``breaks`` are the times at which a signal or one of its two first derivatives jumps; steps end there.
    """

    prescribed: tuple[bool, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    joint_signals: Callable[[Array], Array]
    loads: tuple[LoadPlace, ...] = ()
    load_signals: Callable[[Array], Array] = _no_load_signals
    breaks: tuple[float, ...] = ()
    controllers: tuple[SampledController, ...] = field(default=())

    @staticmethod
    def none(n_joints: int) -> Inputs:
        """Free joints, no loads."""
        zeros = (0.0,) * n_joints
        return Inputs((False,) * n_joints, zeros, zeros, _no_joint_signals(n_joints))
