"""Ports of linear systems: pairs of effort and flow with their units, and who decides which; checks of matrices."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput, clip
from pliant.model.port import Causality, Pair, Port
from pliant.model.state import Array

Complex = NDArray[np.complex128]
Shape = tuple[tuple[int, int], str]  # of a matrix, and what asks for it

SINGULAR = 1e-12  # reciprocal condition below which a matrix is treated as singular: four digits are left


def keep_checked(system: Any, kind: str, shapes: dict[str, Shape], defaults: dict[str, Array]) -> None:
    """Matrices of a system as private copies, those that were not given by their defaults, and names of its states."""
    for name, (shape, meaning) in shapes.items():
        given = getattr(system, name)
        given = defaults[name] if name in defaults and not np.size(given) else given
        object.__setattr__(system, name, checked(kind, name, given, shape, meaning))
    count = shapes["E"][0][0]
    states = checked_names(kind, "state", system.states or numbered("x", count), count)
    object.__setattr__(system, "states", states)


def absent() -> Array:
    """Stands for a matrix that was not given; the system fills in its default."""
    return np.empty((0, 0))


def checked(kind: str, name: str, value: ArrayLike, shape: tuple[int, int], meaning: str) -> Array:
    """A private, read-only copy of a matrix of finite numbers with the shape that the others need."""
    array = np.array(value, dtype=float)
    if array.shape != shape:
        raise InvalidInput(
            f"{kind}: {name} has shape {array.shape}, but {meaning} need {shape}; give {name} with that shape"
        )
    if not np.all(np.isfinite(array)):
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise InvalidInput(f"{kind}: {name}[{row}, {column}] is {array[row, column]}; give finite numbers only")
    array.setflags(write=False)
    return array


def count_of(kind: str, name: str, value: ArrayLike) -> int:
    """The size of the square matrix that fixes the number of states."""
    shape = np.shape(value)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidInput(f"{kind}: {name} has shape {shape}, but must be square; give one row per state")
    return int(shape[0])


def checked_names(kind: str, what: str, names: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Names that tell all ``count`` things apart."""
    names = tuple(names)
    if len(names) != count:
        raise InvalidInput(f"{kind}: {len(names)} names of {what}s for {count} {what}s; give one name per {what}")
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(f"{kind}: the {what} name '{clip(twice[0])}' occurs twice; give every {what} its own name")
    return names


def numbered(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{k + 1}" for k in range(count))


def position(kind: str, what: str, name: str, names: tuple[str, ...]) -> int:
    """Where a name stands among ``names``."""
    if name not in names:
        raise InvalidInput(f"{kind}: there is no {what} '{clip(name)}'; choose from {', '.join(names) or 'none'}")
    return names.index(name)


def reciprocal_condition(matrix: Array) -> float:
    """Smallest over largest singular value, after rows and columns were scaled to length one."""
    if not len(matrix):
        return 1.0
    rows = np.linalg.norm(matrix, axis=1)
    scaled = matrix / np.where(rows > 0.0, rows, 1.0)[:, None]
    columns = np.linalg.norm(scaled, axis=0)
    values = np.linalg.svd(scaled / np.where(columns > 0.0, columns, 1.0), compute_uv=False)
    return float(values[-1] / values[0]) if values[0] > 0.0 else 0.0


def block_diagonal(*blocks: Array) -> Array:
    """Blocks along the diagonal, any number of them, of any shape."""
    from scipy.linalg import block_diag

    return np.asarray(block_diag(np.zeros((0, 0)), *blocks))


def is_identity(matrix: Array) -> bool:
    return bool(np.array_equal(matrix, np.eye(len(matrix))))


@dataclass(frozen=True)
class LinearPort(Pair):
    """A pair (effort, flow) of ``size`` components each, whose product is power into the system, in watts.

    With ``Causality.EFFORT_IN`` the effort is the input and the flow the output, with ``FLOW_IN`` the reverse.
    """

    size: int = 1
    causality: Causality = Causality.EFFORT_IN

    def __post_init__(self) -> None:
        if not self.name:
            raise InvalidInput("a port has an empty name; give a name that no other port of the system has")
        if self.size < 1:
            raise InvalidInput(f"port '{self.name}': size = {self.size} must be at least 1; count its components")

    @staticmethod
    def of(port: Port) -> LinearPort:
        """The same port of a linear system."""
        words = (port.effort, port.effort_unit, port.flow, port.flow_unit)
        return LinearPort(port.name, *words, port.size, port.causality)

    @property
    def takes_effort(self) -> bool:
        return self.causality is Causality.EFFORT_IN

    @property
    def input_words(self) -> str:
        return self.effort_words if self.takes_effort else self.flow_words

    @property
    def output_words(self) -> str:
        return self.flow_words if self.takes_effort else self.effort_words

    @property
    def input_names(self) -> tuple[str, ...]:
        """One name per component: ``hub.torque``, or ``tip.force[0]``, ``tip.force[1]`` ..."""
        return self.names_of(self.effort if self.takes_effort else self.flow)

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.names_of(self.flow if self.takes_effort else self.effort)

    def component(self, k: int) -> LinearPort:
        """One component as a port of its own, named ``tip[2]``.

        Of units given as a list, such as ``N, N m`` for the forces and moments of a wrench, it takes its own.
        """
        if not 0 <= k < self.size:
            raise InvalidInput(f"port '{self.name}' has components 0 to {self.size - 1}, not {k}; choose one of these")
        effort, flow = (_unit_of(units, k, self.size) for units in (self.effort_unit, self.flow_unit))
        return replace(self, name=f"{self.name}[{k}]", effort_unit=effort, flow_unit=flow, size=1)

    def names_of(self, quantity: str) -> tuple[str, ...]:
        """One name per component for any quantity of the port."""
        if self.size == 1:
            return (f"{self.name}.{quantity}",)
        return tuple(f"{self.name}.{quantity}[{k}]" for k in range(self.size))


def _unit_of(units: str, k: int, size: int) -> str:
    parts = units.split(", ")
    return parts[k * len(parts) // size] if size % len(parts) == 0 else units
