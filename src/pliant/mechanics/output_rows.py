"""Where in which step each row of the output of a run falls, and what leads there inside a step.

Between the ends of a step its polynomial goes through the start and the stages: a row at the part tau has the weights
of Lagrange there,  prod_k (tau - c_k) / (c_j - c_k) ,  k over the start and all other stages.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDING = 1e-9  # of a step: what is so near to its end is its end


class Rows(NamedTuple):
    """Rows of the output in the order of time; row 0 is the start."""

    times: Floats
    step: Ints
    tau: Floats
    dense: Floats  # (rows, stages) weights of the stages inside steps
    ends: Ints  # (steps + 1,) first row behind each step, the first of all that behind the start


@kernel
def place_rows(grid: Floats, h: Floats, nodes: Floats, rows: Rows) -> None:
    """Fill all but the times, for steps of lengths h between the times of a grid; without nodes no weights."""
    shortest, last = h[0], h.shape[0] - 1
    for k in range(h.shape[0]):
        shortest = min(shortest, h[k])
    rows.step[0], rows.tau[0], rows.ends[0] = -1, 1.0, 1
    k = 0
    for r in range(1, rows.times.shape[0]):
        time = rows.times[r]
        while k < last and grid[k + 1] < time - ROUNDING * shortest:
            rows.ends[k + 1] = r
            k += 1
        part = (time - grid[k]) / h[k]
        inside = not part > 1.0 - ROUNDING
        rows.step[r], rows.tau[r] = k, part if inside else 1.0
        for j in range(nodes.shape[0]):
            value, between = part, nodes[j]  # those of the start
            for i in range(nodes.shape[0]):
                if i != j:
                    value *= part - nodes[i]
                    between *= nodes[j] - nodes[i]
            rows.dense[r, j] = value / between if inside else 0.0
    for each in range(k, last + 1):
        rows.ends[each + 1] = rows.times.shape[0]
