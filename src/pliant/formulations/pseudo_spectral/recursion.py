"""The one compiled loop of the room: a constant matrix applied step after step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.jit import kernel

Floats = NDArray[np.float64]


@kernel
def march(change: Floats, increments: Floats, states: Floats) -> None:
    """states[k + 1] = states[k] + increments[k]  with  increments[k] += change^T states[k]; the first state is given.

    ``change`` is transposed so that the inner loop runs along memory. The increments hold what inputs force on each
    step when they come in and the whole when they go out: their digits survive where states are large.
    """
    n = states.shape[1]
    for k in range(increments.shape[0]):
        for j in range(n):
            x = states[k, j]
            for i in range(n):
                increments[k, i] += change[j, i] * x
        for i in range(n):
            states[k + 1, i] = states[k, i] + increments[k, i]
