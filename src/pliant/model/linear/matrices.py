"""What the matrices of a linear system must be before anybody computes with them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InvalidInput, clip
from pliant.model.layout import Array

Complex = NDArray[np.complex128]

SINGULAR = 1e-12  # reciprocal condition below which a matrix is treated as singular: four digits are left


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
        raise InvalidInput(
            f"{kind}: {name}[{row}, {column}] is {array[row, column]}; give finite numbers only"
        )
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
        raise InvalidInput(
            f"{kind}: {len(names)} names of {what}s for {count} {what}s; give one name per {what}"
        )
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(
            f"{kind}: the {what} name '{clip(twice[0])}' occurs twice; give every {what} its own name"
        )
    return names


def numbered(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{k + 1}" for k in range(count))


def position(kind: str, what: str, name: str, names: tuple[str, ...]) -> int:
    """Where a name stands among ``names``."""
    if name not in names:
        raise InvalidInput(
            f"{kind}: there is no {what} '{clip(name)}'; choose from {', '.join(names) or 'none'}"
        )
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


def is_identity(matrix: Array) -> bool:
    return bool(np.array_equal(matrix, np.eye(len(matrix))))
