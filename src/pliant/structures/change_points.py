"""Postures in which constraints of loops lose their rank and branches of the motion meet, such as a flat parallelogram.

Of every constraint, what it says beside the others is its pivot p in the elimination of S = G M^-1 G^T. Near a change
point sqrt(p) falls in a straight line to zero, and then rises again. Within a step of it, multipliers grow beyond
bounds and Newton's method may find any of the branches. So a constraint is loose there for some steps: momentum alone
leads to the branch that velocities choose, and what the loop opens meanwhile is closed behind the change point.
"""

from __future__ import annotations

import math
from typing import Any

from pliant.jit import inline_kernel

# what is known of a constraint: its largest pivot so far; square root of the part of it that is left; by how much that
# changes in a step; whether the constraint is loose
LARGEST, LEFT, PACE, LOOSE = range(4)
RANK_COLUMNS = 4

NEAR = 0.3  # part of its largest effect below which a constraint may be about to lose it
AHEAD = 1.5  # steps before and after a change point in which a constraint is loose
FADING = 0.7  # of the pace from step to step, so that the turn of LEFT is not taken for rest


@inline_kernel
def near_change_point(rank: Any, pivot: float) -> bool:
    """Note the pivot that a constraint has at the end of a step; whether it is to be loose in the next one."""
    if rank[LARGEST] == 0.0:
        rank[LEFT] = 1.0
    rank[LARGEST] = max(rank[LARGEST], pivot)
    left = math.sqrt(max(pivot, 0.0) / rank[LARGEST])
    rank[PACE] = max(abs(left - rank[LEFT]), FADING * rank[PACE])
    rank[LEFT] = left
    loose = left < NEAR and left <= AHEAD * rank[PACE]
    rank[LOOSE] = 1.0 if loose else 0.0
    return loose
