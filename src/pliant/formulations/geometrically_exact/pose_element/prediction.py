"""The unknowns of a step extrapolated from the last ones: a start from which Newton's method needs two iterations.

Impulses of closed loops count as much as velocities: an old impulse on a turned frame is the largest error of all.
Backward differences of steps of equal length continue a smooth motion; where they grow with their order, as for
vibrations that the step does not resolve, the extrapolation ends with the smallest one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import Floats
from pliant.formulations.geometrically_exact.pose_element.step_data import Step
from pliant.jit import inline_kernel, inner_kernel

REMEMBERED = 4  # steps; a fifth saves no iteration
WEIGHTS = ((1.0, 0.0, 0.0, 0.0), (2.0, -1.0, 0.0, 0.0), (3.0, -3.0, 1.0, 0.0), (4.0, -6.0, 4.0, -1.0))


class Past(NamedTuple):
    """What the last steps found, newest first, and what was given at the start of the present one."""

    Y: Floats  # (REMEMBERED, 6 nodes)
    s: Floats  # (REMEMBERED, nodes)
    impulse: Floats  # (REMEMBERED, lines)
    steps: Floats  # (REMEMBERED,) their lengths, 0: none
    base: Floats  # (13,) of the base at the start of the step
    target: Floats  # (coordinates, 2) prescribed position and rate at the start of the step


def new_past(nodes: int, coordinates: int, lines: int) -> Past:
    z, n = np.zeros, REMEMBERED
    return Past(z((n, 6 * nodes)), z((n, nodes)), z((n, lines)), z(n), z(13), z((coordinates, 2)))


@inner_kernel
def best_order(rows: Floats, most: int) -> int:
    """Of the polynomial through the newest rows: as far as their differences shrink, and at most ``most``."""
    first, second, third = 0.0, 0.0, 0.0
    for k in range(rows.shape[1]):
        a, b, c = rows[0, k] - rows[1, k], rows[1, k] - rows[2, k], rows[2, k] - rows[3, k]
        first += a * a
        second += (a - b) ** 2
        third += (a - 2.0 * b + c) ** 2
    order = min(most, 1)
    if most > 1 and second < first:
        order = 2
    if most > 2 and third < min(first, second):
        order = 3
    return order


@inline_kernel
def extrapolated(rows: Floats, k: int, order: int) -> float:
    w = WEIGHTS[order]
    return float(w[0] * rows[0, k] + w[1] * rows[1, k] + w[2] * rows[2, k] + w[3] * rows[3, k])


@inline_kernel
def predict(past: Past, h: float, step: Step) -> None:
    """Velocities, joint rates and impulses of a step of length h."""
    most = -1
    for n in range(REMEMBERED):
        if past.steps[n] != h:
            break
        most = n
    most = max(most, 0)
    order = best_order(past.Y, most)
    for i in range(step.Y.shape[0]):
        for k in range(6):
            step.Y[i, k] = extrapolated(past.Y, 6 * i + k, order)
    order = best_order(past.s, most)
    for i in range(step.s.shape[0]):
        step.s[i] = extrapolated(past.s, i, order)
    order = best_order(past.impulse, most)
    share = h / past.steps[0] if past.steps[0] > 0.0 else 0.0
    for k in range(step.impulse.shape[0]):
        step.impulse[k] = share * extrapolated(past.impulse, k, order)


@inline_kernel
def remember(step: Step, h: float, past: Past) -> None:
    for n in range(REMEMBERED - 1, 0, -1):
        past.steps[n] = past.steps[n - 1]
        for k in range(past.Y.shape[1]):
            past.Y[n, k] = past.Y[n - 1, k]
        for i in range(past.s.shape[1]):
            past.s[n, i] = past.s[n - 1, i]
        for k in range(past.impulse.shape[1]):
            past.impulse[n, k] = past.impulse[n - 1, k]
    past.steps[0] = h
    for i in range(step.Y.shape[0]):
        for k in range(6):
            past.Y[0, 6 * i + k] = step.Y[i, k]
        past.s[0, i] = step.s[i]
    for k in range(step.impulse.shape[0]):
        past.impulse[0, k] = step.impulse[k]
