"""What the compiled loops over steps of all structures share: how a step ends, halves of steps, rows of the output."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel
from pliant.spatial.rows import copy_to

Floats = NDArray[np.float64]

# how a step ends
CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR, TOO_BENT, LOOP_OPENED, TURNED_OVER = range(7)

DEEPEST = 10  # halvings of a step before a run gives up


@inline_kernel
def next_level(level: int, done: float) -> int:
    """How often a step is halved after a part of it was solved: once less where a larger part begins."""
    return level - 1 if level > 0 and (done * 2.0 ** (level - 1)) % 1.0 == 0.0 else level


@inline_kernel
def between_samples(start: float, middle: float, end: float, tau: float) -> float:
    """Parabola through a value at the start, the middle and the end of a step."""
    return start + tau * ((4.0 * middle - 3.0 * start - end) + tau * 2.0 * (start + end - 2.0 * middle))


@inline_kernel
def keep_sums(ledger: Any, output: Any, row: int) -> None:
    """The sums of a ledger into a row of the output."""
    copy_to(ledger.sums, output.sums[row])
    copy_to(ledger.joints, output.joints[row])
    copy_to(ledger.loads, output.loads[row])


@inner_kernel
def blend(table: Floats, row: int, before: int, tau: float, span: tuple[int, int]) -> None:
    """Straight line between two rows, for the columns of ``span``."""
    for k in range(span[0], span[1]):
        table[row, k] = (1.0 - tau) * table[before, k] + tau * table[row, k]
