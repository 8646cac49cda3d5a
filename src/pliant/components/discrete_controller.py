"""Controllers in discrete time, compiled: transfer functions and state space with delay, converters and saturation."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, cast

import numpy as np

from pliant.components import sampled_controller as sampled
from pliant.components.fields import Holds, JointNames, NumbersOrRows
from pliant.components.kinds import Contribution, SampledLaw
from pliant.components.motions import Motion
from pliant.components.ports import PerJoint, chosen_or_all, for_each
from pliant.components.sensors import Encoder, Noise, Readers, Sensor, Tachometer, measures_accelerations, size_of
from pliant.components.signals import Signal
from pliant.errors import InvalidInput, Problem, clip
from pliant.mechanics.sampled_law import GIVEN, POSITION, RATE, DiscreteLaw, next_outputs
from pliant.model.contract import Arm
from pliant.model.sampling import Sample, noise_source
from pliant.model.state import Array
from pliant.robot.declared import BadValue, Declared, Quantity

Rows = Sequence[Sequence[float]] | Array
Wanted = float | Signal | Motion
VALUE = -1  # a reference that is no motion
TOGETHER = 1024  # samples whose references are read at once


@dataclass(frozen=True)
class MatrixRows(NumbersOrRows):
    """The rows of a matrix; none where there is no state."""

    def checked(self, value: object) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 2 and not value.size:
            return ((),) * len(value)
        if isinstance(value, Sequence) and all(
            isinstance(row, (Sequence, np.ndarray)) and len(row) == 0 for row in value
        ):
            return ((),) * len(value)
        rows = super().checked(value)
        if not isinstance(rows[0], tuple):
            raise BadValue(f"= {clip(repr(value))} is no matrix; write its rows, such as [[1.0, 0.0], [0.0, 1.0]]")
        return rows


@dataclass(frozen=True)
class References(Quantity):
    """The declaration of a field that holds a number, a signal or a motion for each reading, or one for all."""

    unit: str = "unit of the reading"
    meaning: str = "what each reading is to be: numbers, signals or motions"

    def checked(self, value: object) -> Any:
        if isinstance(value, (Sequence, np.ndarray)):
            return tuple(self._fitting(each, (index,)) for index, each in enumerate(value))
        return self._fitting(value, ())

    def _fitting(self, value: object, index: tuple[int, ...]) -> Wanted:
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        largest = sys.float_info.max  # whole numbers may be larger, and are no floats then
        if number and abs(cast(float, value)) <= largest:
            return float(cast(float, value))
        if isinstance(value, (Signal, Motion)):
            return value
        raise BadValue(f"= {clip(repr(value))} is no reference; write a number, a signal or a motion", index)


def _matrix(meaning: str) -> MatrixRows:
    return MatrixRows("1", meaning)


@dataclass(frozen=True)
class StateSpace(Declared):
    """x+ = A x + B e ,  u = C x + D e : matrices by their rows, A with none where the law has no memory.

    `tustin` and `zero_order_hold` read the same matrices as those of x' = A x + B e and make them discrete.
    """

    A: Annotated[Rows, _matrix("states per state")]
    B: Annotated[Rows, _matrix("states per input")]
    C: Annotated[Rows, _matrix("outputs per state")]
    D: Annotated[Rows, _matrix("outputs per input")]

    def conflicts(self) -> Iterator[Problem]:
        n, outputs, inputs = len(self.A), len(self.D), len(self.D[0]) if len(self.D) else 0
        if not inputs:
            yield Problem("has no entries; write a row for each output, with a number for each input", ("D",))
            return
        for name, rows, columns in (("A", n, n), ("B", n, inputs), ("C", outputs, n)):
            found = getattr(self, name)
            if not n and not any(len(row) for row in found):
                continue
            shape = (len(found), len(found[0]) if len(found) else 0)
            if shape != (rows, columns):
                yield Problem(
                    f"has {shape[0]} rows of {shape[1]} and must have {rows} of {columns}: A has {n} rows, D"
                    f" {outputs} of {inputs}",
                    (name,),
                )

    @staticmethod
    def transfer_function(numerator: Sequence[float], denominator: Sequence[float]) -> StateSpace:
        """Of one input and one output, from coefficients of descending powers of z (of s, to be made discrete)."""
        above, below = (
            np.trim_zeros(np.asarray(numerator, float), "f"),
            np.trim_zeros(np.asarray(denominator, float), "f"),
        )
        if not len(below) or not np.isfinite([*above, *below]).all():
            raise InvalidInput(
                "transfer function: its denominator is zero or a coefficient is not finite; write numbers"
            )
        if len(above) > len(below):
            raise InvalidInput(
                f"transfer function: its numerator has the degree {len(above) - 1}, the denominator {len(below) - 1},"
                " so that it would need inputs of the future; raise the degree of the denominator"
            )
        n = len(below) - 1
        b = np.concatenate([np.zeros(n + 1 - len(above)), above]) / below[0]
        a = below / below[0]
        A = np.vstack([-a[1:], np.eye(n)[:-1]]) if n else np.zeros((0, 0))
        B = np.eye(n)[:, :1]
        return StateSpace.of(A, B, (b[1:] - a[1:] * b[0])[None], b[None, :1])

    @staticmethod
    def of(A: Array, B: Array, C: Array, D: Array) -> StateSpace:
        return StateSpace(*(tuple(map(tuple, each.tolist())) for each in (A, B, C, D)))

    @staticmethod
    def beside(*systems: StateSpace) -> StateSpace:
        """Several systems, each with inputs and outputs of its own."""
        from scipy.linalg import block_diag

        return StateSpace.of(
            *(block_diag(*each) for each in zip(*(system.matrices for system in systems), strict=True))
        )

    @property
    def matrices(self) -> tuple[Array, Array, Array, Array]:
        n, outputs, inputs = len(self.A), len(self.D), len(self.D[0])
        shapes = ((n, n), (n, inputs), (outputs, n), (outputs, inputs))
        A, B, C, D = (
            np.asarray(each, float).reshape(shape) for each, shape in zip((self.A, self.B, self.C, self.D), shapes)
        )
        return A, B, C, D

    def tustin(self, period: float) -> StateSpace:
        """A continuous system by the trapezoidal rule, s = 2 (z - 1) / (period (z + 1))."""
        A, B, C, D = self.matrices
        half = np.linalg.inv(np.eye(len(A)) - 0.5 * period * A)
        forced = half @ B * period
        return StateSpace.of(half @ (np.eye(len(A)) + 0.5 * period * A), forced, C @ half, D + 0.5 * C @ forced)

    def zero_order_hold(self, period: float) -> StateSpace:
        """A continuous system whose input is held from sample to sample, exactly."""
        from scipy.linalg import expm

        A, B, C, D = self.matrices
        n, m = len(A), B.shape[1]
        whole = np.zeros((n + m, n + m))
        whole[:n, :n], whole[:n, n:] = A, B
        moved = expm(period * whole)
        return StateSpace.of(moved[:n, :n], moved[:n, n:], C, D)


@dataclass(frozen=True)
class DiscreteController(Declared):
    """Torques u of ``joints`` from  e = reference - reading  by a linear law in discrete time, compiled.

    Every ``period``  v = C x + D e ;  u is v rounded to multiples of ``resolution`` and cut to +- ``limit``, takes
    effect ``delay`` later and is held until the next one does; then  x = A x + B e + anti_windup (u - v) , from zero at
    the start of a run. ``inputs`` are sensors, with noise and resolutions of their own; an `Imu` counts for six. A
    motion as reference of an `Encoder` gives its position, of a `Tachometer` its rate.
    """

    system: Annotated[StateSpace, Holds("law", StateSpace, "write a StateSpace(...)")]
    inputs: Annotated[
        Sequence[Sensor],
        Holds("sensors", Sensor, "write a list of sensors, such as [Encoder(joint='motor')]", many=True),
    ]
    period: sampled.Period
    joints: Annotated[Sequence[str] | None, JointNames("names of the driven joints")] = None
    references: Annotated[Wanted | Sequence[Wanted], References()] = 0.0
    delay: sampled.Delay = 0.0
    limit: Annotated[PerJoint | None, Quantity("N m or N", "largest output", above=0, each="largest outputs")] = None
    resolution: Annotated[
        PerJoint, Quantity("N m or N", "output between two of the converter", at_least=0, each="outputs between two")
    ] = 0.0
    anti_windup: Annotated[Rows | None, _matrix("states per output that was cut off")] = None
    seed: sampled.SeedField = 0
    name: sampled.ControllerName = None

    commands = False

    def conflicts(self) -> Iterator[Problem]:
        sensors = self.inputs if isinstance(self.inputs, tuple) else (self.inputs,)
        n, outputs, inputs = len(self.system.A), len(self.system.D), len(self.system.D[0])
        sizes = sum(map(size_of, sensors))
        if sizes != inputs:
            yield Problem(f"read {sizes} numbers and the law takes {inputs}; write a sensor for each", ("inputs",))
        if isinstance(self.references, tuple) and len(self.references) != inputs:
            yield Problem(f"has {len(self.references)} entries and the law {inputs} inputs", ("references",))
        if self.anti_windup is not None:
            shape = (len(self.anti_windup), len(self.anti_windup[0]) if len(self.anti_windup) else 0)
            if shape != (n, outputs):
                yield Problem(f"has {shape[0]} rows of {shape[1]} and must have {n} of {outputs}", ("anti_windup",))

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        joints, outputs = chosen_or_all(arm, self.joints), len(self.system.D)
        if len(joints) != outputs:
            raise InvalidInput(
                f"{self.label}: the law has {outputs} outputs for {len(joints)} joints ({', '.join(joints)}); name as"
                " many joints as D has rows"
            )
        limits = (inf,) * outputs if self.limit is None else for_each(self, "limit", joints)
        out = np.column_stack([for_each(self, "resolution", joints), limits]).astype(float)
        sensors = self.inputs if isinstance(self.inputs, tuple) else (self.inputs,)
        law = JoinedLaw(self.name or "discrete_controller", joints, self, sensors, arm, out)
        return (SampledLaw(law, commands=self.commands),)


@dataclass(frozen=True)
class DiscreteCommand(DiscreteController):
    """Rates that the servos of ``joints`` shall reach, by a linear law in discrete time: a `DiscreteController` whose
    outputs, limits and resolutions are rad/s or m/s. A VelocityServo must be connected to each of the joints."""

    commands = True


@dataclass(frozen=True, eq=False)
class JoinedLaw:
    """A discrete controller on the joints and sensors of one arm."""

    name: str
    joints: tuple[str, ...]
    part: DiscreteController
    sensors: tuple[Sensor, ...]
    arm: Arm
    out: Array

    def __post_init__(self) -> None:
        self.started()  # what the arm does not have is refused when it is connected

    @property
    def period(self) -> float:
        return self.part.period

    @property
    def delay(self) -> float:
        return self.part.delay

    @property
    def accelerations(self) -> bool:
        return measures_accelerations(self.sensors)

    def started(self) -> RunningLaw:
        """The law of one run, with a memory of its own."""
        matrices, part = self.part.system.matrices, self.part
        n, m, p = len(matrices[0]), matrices[3].shape[1], len(matrices[3])
        source, seen = np.full((m, 2), GIVEN, np.int64), np.tile([0.0, inf], (m, 1))
        readers, k = [], 0
        for sensor in self.sensors:
            reader, size = sensor.reader(self.arm), size_of(sensor)
            if isinstance(sensor, (Encoder, Tachometer)) and not sensor.noise:
                assert sensor.joint is not None
                source[k] = POSITION if isinstance(sensor, Encoder) else RATE, self.arm.joint_names.index(sensor.joint)
                seen[k] = sensor.resolution, inf if sensor.limit is None else sensor.limit
            else:
                readers.append((slice(k, k + size), reader))
            k += size
        windup = np.zeros((n, p)) if part.anti_windup is None else np.asarray(part.anti_windup, float).reshape(n, p)
        law = DiscreteLaw(*matrices, windup, source, np.tile([0.0, inf], (m, 1)), seen, self.out)
        return RunningLaw(self, law, readers, self._references(m), np.zeros((2, n)), noise_source(part.seed, self.name))

    def _references(self, count: int) -> list[tuple[int, Wanted, int]]:
        """For each input what it is to be; of a motion 0 for its position, 1 for its rate, else VALUE."""
        given = self.part.references
        wanted = given if isinstance(given, tuple) else (given,) * count
        kinds = [sensor for sensor in self.sensors for _ in range(size_of(sensor))]
        found = []
        for k, (each, sensor) in enumerate(zip(wanted, kinds, strict=True)):
            moves = not isinstance(each, float) and isinstance(each.evaluate(np.zeros(1)), tuple)
            if moves and not isinstance(sensor, (Encoder, Tachometer)):
                raise InvalidInput(
                    f"{self.part.label}: a motion is the reference of a {type(sensor).__name__}; write a number or a"
                    " signal, since motions give positions and rates of joints"
                )
            found.append((k, each, int(isinstance(sensor, Tachometer)) if moves else VALUE))
        return found


@dataclass(eq=False)
class RunningLaw:
    """A discrete controller during one run; ``x``, ``count``, ``begin``, the source of noise and the readers that hold
    something are its memory, and all of them can be pickled."""

    joined: JoinedLaw
    law: DiscreteLaw
    readers: list[tuple[slice, Readers]]
    references: list[tuple[int, Wanted, int]]
    x: Array  # (2, n), the second row is scratch
    source: Noise
    count: int = 0
    begin: float = 0.0  # s, of the first sample

    def __post_init__(self) -> None:
        m, p = self.law.D.shape[1], self.law.D.shape[0]
        self.readings, self.u = np.zeros(m), np.zeros(p)
        self.table, self.first = np.zeros((0, m)), 0
        self.varies = any(not isinstance(each, float) for _, each, _ in self.references)
        self.constant = np.array([each if isinstance(each, float) else 0.0 for _, each, _ in self.references])

    @property
    def memory(self) -> Array:
        """As numbers; that of the readers and of the noise is theirs."""
        return np.array([self.count, self.begin, *self.x[0]])

    @memory.setter
    def memory(self, numbers: Array) -> None:
        self.count, self.begin, self.x[0] = int(numbers[0]), float(numbers[1]), numbers[2:]

    def __call__(self, sample: Sample) -> Array:
        if self.count == 0:
            self.begin = sample.time
        reference = self._reference() if self.varies else self.constant
        self.count += 1
        for place, reader in self.readers:
            self.readings[place] = reader(sample, self.source)
        known = self.readings, reference, self.x, self.u
        if not next_outputs(self.law, sample.motor_positions, sample.motor_rates, *known):
            raise sampled.ControllerFailed(
                f"controller '{self.joined.name}' answered at t = {sample.time:g} s with numbers that are not finite;"
                " its memory grows without bound or a sensor gives no number: check the poles of its system"
            )
        return self.u

    def _reference(self) -> Array:
        row = self.count - self.first
        if not 0 <= row < len(self.table):
            self.first, row = self.count, 0
            times = self.begin + self.joined.period * np.arange(self.count, self.count + TOGETHER, dtype=np.float64)
            self.table = np.tile(self.constant, (TOGETHER, 1))
            for k, each, kind in self.references:
                if not isinstance(each, float):
                    answer = each.evaluate(times)
                    self.table[:, k] = answer if kind == VALUE else answer[kind]
        return np.asarray(self.table[row])
