"""What the steps of a run leave to the next ones: the numbers of bundles, to be kept and put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput

Memory = tuple[NDArray[Any], ...]


def numbers_of(bundle: tuple[Any, ...]) -> Memory:
    """All arrays of a bundle and of the bundles in it; of indices and marks, which may come from a file, none."""
    found: list[NDArray[Any]] = []
    _collect(bundle, found)
    return tuple(found)


def _collect(bundle: tuple[Any, ...], found: list[NDArray[Any]]) -> None:
    for each in bundle:
        if isinstance(each, np.ndarray):
            if each.dtype.kind in "fc":
                found.append(each)
        elif isinstance(each, tuple):
            _collect(each, found)


def refill(own: Sequence[NDArray[Any]], memory: Memory) -> None:
    """Copy what the arrays of another stepper of the same model held into those of this one."""
    if [(each.shape, each.dtype) for each in own] != [(each.shape, each.dtype) for each in memory]:
        raise InvalidInput("what the run remembers does not fit this model; resume it with the model that ran")
    for array, other in zip(own, memory):
        array[...] = other
