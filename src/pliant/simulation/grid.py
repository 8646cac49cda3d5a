"""Where steps end: at jumps of signals and instants of sampled control, and in equal parts between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs
from pliant.model.schedule import instants
from pliant.model.state import Array


def corners(inputs: Inputs, until: float) -> Array:
    """Times at which steps must end: breaks of the signals, instants of sampled control, the end."""
    breaks = [0.0, until, *(t for t in inputs.breaks if 0.0 < t < until)]
    unique = np.unique(np.concatenate([breaks, instants(inputs, 0.0, until)]))
    apart = np.concatenate([[True], np.diff(unique) > 1e-12 * max(until, 1.0)])
    kept: Array = unique[apart]
    return kept


def step_grid(marks: Array, step: float) -> Array:
    """Equal steps of at most ``step`` between consecutive marks."""
    return divided(marks, np.maximum(1, np.ceil(np.diff(marks) / step - 1e-6)).astype(np.int64))


def divided(marks: Array, counts: NDArray[np.int64]) -> Array:
    """So many equal steps between consecutive marks."""
    last = np.cumsum(counts)
    within = np.arange(1, last[-1] + 1) - np.repeat(last - counts, counts)
    grid = np.empty(last[-1] + 1)
    grid[0] = marks[0]
    grid[1:] = np.repeat(marks[:-1], counts) + within * np.repeat(np.diff(marks) / counts, counts)
    grid[last] = marks[1:]
    return grid


def saved_times(grid: Array, outputs: int | Array, until: float) -> Array:
    """Ends of so many steps, first and last included; or the times that are wanted, with the start added."""
    if not isinstance(outputs, int):
        return wanted_times(outputs, until)
    steps = len(grid) - 1
    if steps <= outputs:
        return grid
    return np.asarray(grid[np.unique(np.round(np.linspace(0, steps, outputs + 1)).astype(np.int64))])


def wanted_times(outputs: Array, until: float) -> Array:
    """Output times with the start added, refused if they lie outside the run."""
    times = np.unique(np.append(np.asarray(outputs, dtype=float), 0.0))
    if not np.all(np.isfinite(times)) or times[0] < 0.0 or times[-1] > until * (1 + 1e-12):
        raise InvalidInput(f"outputs must be times between 0 and until = {until:g} s; correct them, or give a number")
    clipped: Array = np.minimum(times, until)
    return clipped
