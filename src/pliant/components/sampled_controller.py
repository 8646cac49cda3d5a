"""Sampled controllers: Python laws called at their own period, their answers held until the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import isfinite
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pliant.components.fields import Holds, HoldsFunction, JointNames, Seed
from pliant.components.kinds import Contribution, SampledLaw
from pliant.components.ports import chosen_or_all
from pliant.components.sensors import Encoder, Noise, Readers, Sensor, Tachometer, measures_accelerations
from pliant.errors import PliantError
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, noise_source
from pliant.model.state import Array
from pliant.robot.declared import Declared, Name, Quantity

Law = Callable[[Sample], ArrayLike]


@runtime_checkable
class FreshLaw(Protocol):
    """A law with a memory that begins anew with every run."""

    def started(self) -> Law: ...


class ControllerFailed(PliantError, RuntimeError):
    """A sampled controller raised an error, or answered with something that is no torque or rate."""


LawField = Annotated[Law | FreshLaw, Holds("answers to samples", (Callable, FreshLaw), "write a function")]
Period = Annotated[float, Quantity("s", "time between two calls", above=0)]
Delay = Annotated[float, Quantity("s", "time from a call until its answer takes effect", at_least=0)]
EncoderField = Annotated[Encoder | None, Holds("sensor of the joint positions", Encoder, "write an Encoder(...)")]
TachometerField = Annotated[
    Tachometer | None, Holds("sensor of the joint rates", Tachometer, "write a Tachometer(...)")
]
SeedField = Annotated[int, Seed()]
ControllerName = Annotated[str | None, Name("name of the controller in messages")]


@dataclass(frozen=True)
class SampledPart(HoldsFunction, Declared):
    """A function of samples, and when and through which sensors it is asked."""

    function: LawField
    period: Period
    joints: Annotated[Sequence[str] | None, JointNames("names of the driven joints")] = None
    name: ControllerName = None
    delay: Delay = 0.0
    encoder: EncoderField = None
    tachometer: TachometerField = None
    seed: SeedField = 0
    sensors: Annotated[
        Sequence[Sensor] | None,
        Holds("sensors whose readings the sample holds", Sensor, "write a list of sensors", many=True),
    ] = None

    def _law(self, arm: Arm, answer: str, unit: str) -> CheckedLaw:
        joints = chosen_or_all(arm, self.joints)
        own_name: str = getattr(self.function, "__name__", type(self.function).__name__)
        given = self.sensors or ()
        others = tuple(given) if isinstance(given, Sequence) else (given,)
        sensors = (self.encoder, self.tachometer, self.seed, others, arm)
        return CheckedLaw(self.name or own_name, self.period, joints, self.function, self.delay, answer, unit, *sensors)


@dataclass(frozen=True)
class SampledController(SampledPart):
    """``function(sample)`` gives the torques (N m; N for prismatic joints) of ``joints``, in that order.

    It is called once every ``period``; its answer takes effect ``delay`` later and is held until the next one does.
    Without ``joints`` it acts on all joints of the arm that can be driven, in their order there. Its torque adds to all
    others on the same joint. With an ``encoder`` or a ``tachometer`` the sample holds the joint positions or rates
    as these give them; ``sample.readings`` are those of ``sensors``, in their order. An object with a method
    ``started()`` is asked for a fresh function at the beginning of every run. The function is not saved to file: a
    saved trajectory keeps what it caused, not its code.
    """

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (SampledLaw(self._law(arm, "torque", "N m")),)


@dataclass(frozen=True)
class SampledCommand(SampledPart):
    """``function(sample)`` gives the rates (rad/s; m/s for prismatic joints) that the servos of ``joints`` shall reach.

    It is called and held as a SampledController is. A VelocityServo must be connected to each of the joints; it sees
    the sum of all commands, delayed ones from its first sample after the delay on.
    """

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        return (SampledLaw(self._law(arm, "rate", "rad/s"), commands=True),)


@dataclass(frozen=True)
class CheckedLaw(HoldsFunction):
    """A law joined to an arm: its joints are known and its answers are checked."""

    name: str
    period: float
    joints: tuple[str, ...]
    function: Law | FreshLaw
    delay: float
    answer: str
    unit: str
    encoder: Encoder | None = None
    tachometer: Tachometer | None = None
    seed: int = 0
    sensors: tuple[Sensor, ...] = ()
    arm: Arm | None = None

    def __post_init__(self) -> None:
        self._readers()  # what the arm does not have is refused when it is connected

    @property
    def accelerations(self) -> bool:
        return measures_accelerations(self.sensors)

    def _readers(self) -> list[Readers]:
        return [sensor.reader(self.arm) for sensor in self.sensors] if self.arm is not None else []

    def started(self) -> Asked:
        """The law of one run: noise and memory begin anew."""
        law = self.function.started() if isinstance(self.function, FreshLaw) else self.function
        return Asked(self, law, self._readers(), noise_source(self.seed, self.name))

    def _sensed(self, law: Law, readers: list[Readers], source: Noise, sample: Sample) -> float | Array:
        """The answer to the sample as the sensors give it."""
        if readers:
            sample.readings = tuple([reader(sample, source) for reader in readers])
        if self.encoder is not None:
            sample = replace(sample, joint_positions=self.encoder.read(sample.joint_positions, source))
        if self.tachometer is not None:
            sample = replace(sample, joint_rates=self.tachometer.read(sample.joint_rates, source))
        return self._checked(law, sample)

    def _checked(self, law: Law, sample: Sample) -> float | Array:
        """Finite numbers, one for each joint; a single one will do for a single joint."""
        try:
            given = law(sample)
            if type(given) is float and len(self.joints) == 1 and isfinite(given):
                return given  # an array would take longer than the rest
            answer = np.asarray(given, dtype=np.float64)
        except Exception as error:
            raise ControllerFailed(
                f"controller '{self.name}' failed at t = {sample.time:g} s: {type(error).__name__}: {error}"
            ) from error
        size = len(self.joints)
        if answer.shape != (size,) and not (size == 1 and answer.shape == ()):
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with an array of shape"
                f" {answer.shape}; return one {self.answer} in {self.unit} for each of {', '.join(self.joints)}"
            )
        answer = answer.reshape(size)
        if not all(map(isfinite, answer.tolist())):  # of few numbers, in a fifth of the time of NumPy
            joint = int(np.argmin(np.isfinite(answer)))
            raise ControllerFailed(
                f"controller '{self.name}' answered at t = {sample.time:g} s with {answer[joint]} {self.unit}"
                f" for joint '{self.joints[joint]}'; return finite {self.answer}s"
            )
        return answer


@dataclass(frozen=True, eq=False)
class Asked:
    """A checked law during one run, with its sensors and their random numbers."""

    checked: CheckedLaw
    function: Law
    readers: list[Readers]
    source: Noise

    def __call__(self, sample: Sample) -> float | Array:
        own = self.checked
        if own.encoder is None and own.tachometer is None and not self.readers:
            return own._checked(self.function, sample)
        return own._sensed(self.function, self.readers, self.source, sample)

    def copied(self, copy: Callable[[Law], Law], memo: dict[int, Any]) -> Asked:
        """With the memory that it has now; ``copy`` copies functions with the variables that they refer to."""
        return Asked(self.checked, copy(self.function), deepcopy(self.readers, memo), deepcopy(self.source))
