"""What a run that goes on needs beside the state in which the one before ended: plain data, also for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.sampling import SampledController
from pliant.model.state import Array


@dataclass(frozen=True)
class StoredLaw:
    """A law as a file remembers it: numbers of its attribute ``memory`` and of those of its sensors, or None where
    there is none, and states of random numbers. ``lost`` says that the law remembers more than the file holds.
    """

    memory: tuple[tuple[float, ...] | None, ...]
    noise: tuple[Mapping[str, Any], ...]
    lost: bool

    @staticmethod
    def of(law: Any) -> StoredLaw:
        if isinstance(law, StoredLaw):
            return law
        own, *_ = parts = _parts(law)
        numbers = [getattr(each, "memory", None) for each in parts]
        memory = tuple(None if each is None else tuple(map(float, np.ravel(each))) for each in numbers)
        plain = own is None or (isinstance(own, FunctionType) and not own.__closure__)
        return StoredLaw(
            memory, tuple(each.bit_generator.state for each in _noise(law)), not plain and memory[0] is None
        )

    def into(self, controller: SampledController) -> Any:
        """A fresh law of the controller with this memory."""
        if self.lost:
            raise InvalidInput(
                f"the file does not hold what the law of controller '{controller.name}' remembers; let the law keep it"
                " as numbers in an attribute memory, or resume the trajectory before it is saved"
            )
        law: Any = controller.started()
        for part, numbers in zip(_parts(law), self.memory, strict=True):
            if numbers is not None:
                part.memory = np.array(numbers)
        for source, state in zip(_noise(law), self.noise, strict=True):
            source.bit_generator.state = state
        return law


def _parts(law: Any) -> tuple[Any, ...]:
    """The law itself, as users wrote it, and what reads its sensors."""
    readers = (each[1] if isinstance(each, tuple) else each for each in getattr(law, "readers", ()))
    return (getattr(law, "function", law), *readers)


def _noise(law: Any) -> tuple[np.random.Generator, ...]:
    """The sources of random numbers of a law and of what it asks."""
    every: tuple[Any, ...] = (law, getattr(law, "function", None))
    return tuple(each.source for each in every if isinstance(getattr(each, "source", None), np.random.Generator))


@dataclass(frozen=True, eq=False)
class LawMemory:
    """A sampled law when its run ended: how often it was asked, what it holds, what is on its way, and itself."""

    count: int
    value: Array
    coming: tuple[tuple[float, Array], ...]
    answers: tuple[Array, ...]
    law: Any


@dataclass(frozen=True, eq=False)
class ServoMemory:
    """Servos of one period when their run ended; ``noise`` are the states of their random numbers."""

    count: int
    torque: Array
    noise: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, eq=False)
class SamplingMemory:
    """What the sampled control of a run remembers: controllers, commands, servos of each period."""

    laws: tuple[LawMemory, ...]
    servos: tuple[ServoMemory, ...]
    earlier: tuple[tuple[float, Array], ...]  # times and states of which accelerations are found
    noted: Array  # torques at the last of these


@dataclass(frozen=True, eq=False)
class Continuation:
    """Where a run begins or can go on, and what its next step needs there beside the state.

    ``origin`` is when the first of all runs began: sampled control counts its periods from there. ``memory`` are the
    arrays of the stepper, none where the next step is to start from the state alone; ``held`` the torques of servos
    that its compiled loop computes; ``sampling`` is what all other sampled control remembers. ``integrator`` or
    ``accuracy`` is what users had chosen.
    """

    time: float = 0.0
    origin: float = 0.0
    memory: tuple[NDArray[Any], ...] = ()
    held: Array | None = None
    sampling: SamplingMemory | None = None
    integrator: Any = None
    accuracy: float | None = None

    @staticmethod
    def at(time: float) -> Continuation:
        """The first of all runs, from this time on."""
        return Continuation(time, time)


_OFFERED: dict[tuple[type, type], bool] = {}


class ByType(type(Protocol)):  # type: ignore[misc]
    """A protocol that all objects of a type offer, or none: asked once, since members are looked up one by one."""

    def __instancecheck__(cls, instance: object) -> bool:
        pair = cls, type(instance)
        if pair not in _OFFERED:
            _OFFERED[pair] = super().__instancecheck__(instance)
        return _OFFERED[pair]


@runtime_checkable
class HoldsTorques(Protocol, metaclass=ByType):
    """A stepper with servos of its own, which hold their torques between two samples."""

    @property
    def held(self) -> Array:
        """The torques themselves."""


@runtime_checkable
class Remembers(Protocol, metaclass=ByType):
    """A stepper whose steps depend on those before by more than the state, such as by factors that are still in use."""

    def memory(self) -> tuple[NDArray[Any], ...]:
        """All of it, and the sums of the ledger."""

    def recall(self, memory: tuple[NDArray[Any], ...]) -> None:
        """Go on with what the stepper of the run before remembered; counts of statistics begin anew."""
