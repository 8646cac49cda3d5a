"""Vibrations that the steps of a run do not follow, and what of them is seen all the same."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, nan

import numpy as np
from numpy.typing import NDArray

from pliant.model.contract import Arm, Record
from pliant.model.error_estimate import indicated
from pliant.model.inputs import LoadPlace
from pliant.model.port import Frame
from pliant.model.state import Array

STENCIL = 6  # differences of velocities that show vibrations which steps do not follow
SURELY = 1.5  # times what is seen of them
INSIDE = 0.2  # of a step: where tips are compared with what its ends say
TOLD_INSIDE = 4.0, 3.0  # times that, in the median of all steps or, of methods that damp, in few: the error
PART_OF_EIGHTH = 0.5  # of that, for order 8, whose stages stray less
STRETCH, FEW_STEPS = 12, 48  # of a run by fixed steps that are looked at, in stretches
DRIFTS = 25.0  # times its second differences that it is at most where it turns by a fifth of a radian in a step


@lru_cache(64)
def tips_of(links: tuple[str, ...]) -> tuple[LoadPlace, ...]:
    return tuple(LoadPlace("tip", name, False, Frame.BODY) for name in links)


def unfollowed(grid: Array, v: Array) -> float:
    """How large vibrations of tips with velocities ``v`` (steps + 1, tips, 3) are that are too fast for the steps, in
    metres; not a number of few steps.

    Gauss collocation with an odd number of stages turns them by nearly half a cycle in a step: the velocity v of a
    tip changes its sign from step to step, with the amplitude of the vibration times its angular frequency, which
    is 2 / h at least. Sixth differences leave 64 times that of v, and nearly nothing of what is slow.
    """
    if len(grid) < 2 * STENCIL:
        return nan
    for _ in range(STENCIL):
        v = v[1:] - v[:-1]
    swings = np.sort(np.sqrt((v * v).sum(axis=-1)) * (grid[STENCIL:] - grid[:-STENCIL])[:, None], axis=0)
    median = 0.5 * (swings[(len(swings) - 1) // 2] + swings[len(swings) // 2])
    return SURELY * float(median.max() / (STENCIL * 2.0**STENCIL))


def velocities(model: Arm, tips: tuple[LoadPlace, ...], states: Array, turns: Array) -> Array:
    """Of tips with rotations ``turns``, in world axes, m/s."""
    return np.asarray((turns @ model.load_flows(states, tips)[:, :, :3, None])[..., 0])


def forgotten(steps: int) -> int:
    """How many steps of a method that damps are not looked at, as stiff dampers come to rest in them."""
    return 1 + steps // 20


def between(begin: Array, end: Array) -> Array:
    """Instants inside steps at which tips are looked at."""
    return np.asarray(begin + INSIDE * (end - begin))


def seen_inside(widths: Array, x: Array, v: Array, inside: Array, damped: bool, left_out: int = 1) -> float:
    """Error of vibrations that steps do not follow, m, by how far tips ``inside`` of them (steps, tips, 3) lie from the
    cubics by their positions and velocities (2, steps, tips, 3) where the steps begin and end.

    Of vibrations that a step follows that is little. Faster ones are turned by more or less than a step takes: by a
    method with an even number of stages by nearly a whole cycle, so that the ends look slow, but not what is between.
    A method that damps them shows them in few steps only, of which some are left out. What a coarse mesh makes of
    velocities changes slowly from step to step, and second differences leave little of it.
    """
    if len(widths) < 5:
        return 0.0
    f, h = INSIDE, widths[:, None, None]
    cubic = (1.0 + 2.0 * f) * (1.0 - f) ** 2 * x[0] + f * f * (3.0 - 2.0 * f) * x[1]
    off = inside - cubic - h * f * (1.0 - f) * ((1.0 - f) * v[0] - f * v[1])
    bent = off[2:] - 2.0 * off[1:-1] + off[:-2]
    sizes, bends = (np.sort(np.sqrt((each * each).sum(axis=-1)), axis=0) for each in (off, bent))
    least = np.minimum(*(each[-1 - left_out if damped else len(each) // 2] for each in (sizes, DRIFTS * bends)))
    return TOLD_INSIDE[damped] * float(least.max())


@lru_cache(64)
def _stretches(steps: int) -> NDArray[np.bool_]:
    """Which of so many steps are looked at: a few stretches of them; not to be changed."""
    return np.asarray(np.arange(steps) // STRETCH % ceil(steps / FEW_STEPS) == 0)


def looked_inside(ends: NDArray[np.int64], first: int) -> NDArray[np.int64]:
    """Which of some ends of fixed steps, from a ``first`` one on, begin a step that is looked at inside; the next of
    them ends it."""
    begin = np.flatnonzero((ends[1:] == ends[:-1] + 1) & (ends[:-1] >= first))
    return begin[_stretches(len(begin))] if len(begin) else begin


def told_by_tip(model: Arm, record: Record, ends: Array, begin: NDArray[np.int64], steps: tuple[int, float]) -> float:
    """Error of a run by fixed steps of some order and length, m, by the motion of the tip at ``ends`` of steps and
    inside the steps that ``begin`` at some of these; methods of odd order damp."""
    order, step = steps
    n, at = len(ends), np.array([begin, begin + 1])
    states = record.states[record.time.searchsorted(np.append(ends, between(*ends[at])))]
    x, turns = (each[:, None] for each in model.tip(states))
    v = velocities(model, tips_of((model.robot.tip_link,)), states[:n], turns[:n])
    inside = seen_inside(ends[at[1]] - ends[at[0]], x[:n][at], v[at], x[n:], order % 2 == 1)
    return indicated(ends, x[:n, 0], order, step) + (PART_OF_EIGHTH * inside if order == 8 else inside)
