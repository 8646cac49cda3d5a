"""A linear law in discrete time with converters, one call a sample; velocity servos are laws without a memory.

    e = reference - reading ,   v = C x + D e ,   u = cut(round(v)) ,   x+ = A x + B e + anti_windup (u - v)

References, readings and outputs are rounded to the nearest multiples of their resolutions, even ones at ties, and then
cut to their limits; a resolution of 0 and a limit of infinity leave them as they are.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
POSITION, RATE, GIVEN = 0, 1, 2  # where a reading comes from


class DiscreteLaw(NamedTuple):
    """n states, m inputs, p outputs; converters as rows of resolution and limit."""

    A: Floats  # (n, n)
    B: Floats  # (n, m)
    C: Floats  # (p, n)
    D: Floats  # (p, m)
    anti_windup: Floats  # (n, p)
    source: Ints  # (m, 2) POSITION, RATE or GIVEN, and which joint
    wanted: Floats  # (m, 2) converter of references
    seen: Floats  # (m, 2) of readings from joints
    out: Floats  # (p, 2) of outputs


@inline_kernel
def converted(x: float, converter: Floats) -> float:
    """Rounded, then cut."""
    resolution, limit = float(converter[0]), float(converter[1])
    if resolution > 0.0:
        x = resolution * float(np.rint(x / resolution))
    return min(max(x, -limit), limit)


@kernel
def next_outputs(
    law: DiscreteLaw, positions: Floats, rates: Floats, readings: Floats, reference: Floats, x: Floats, u: Floats
) -> bool:
    """The outputs u (p,), and x (2, n) moved on in its first row; ``readings`` (m,) hold those that are GIVEN and go
    out as errors. False if an output is not finite."""
    n, m, p = law.A.shape[0], law.D.shape[1], law.D.shape[0]
    for k in range(m):
        where, joint = law.source[k, 0], law.source[k, 1]
        if where == POSITION:
            readings[k] = converted(positions[joint], law.seen[k])
        elif where == RATE:
            readings[k] = converted(rates[joint], law.seen[k])
        readings[k] = converted(reference[k], law.wanted[k]) - readings[k]
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += law.A[i, j] * x[0, j]
        for k in range(m):
            total += law.B[i, k] * readings[k]
        x[1, i] = total
    finite = True
    for o in range(p):
        v = 0.0
        for j in range(n):
            v += law.C[o, j] * x[0, j]
        for k in range(m):
            v += law.D[o, k] * readings[k]
        finite = finite and math.isfinite(v)
        u[o] = converted(v, law.out[o])
        for i in range(n):
            x[1, i] += law.anti_windup[i, o] * (u[o] - v)
    for i in range(n):
        x[0, i] = x[1, i]
    return finite
