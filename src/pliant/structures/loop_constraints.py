"""What closes a loop: the scalar constraints of loop joints, the same for all structures that carry loops.

Which of them follow from others, and joint positions at which all hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InvalidInput
from pliant.robot import LoopJoint, LoopKind

Floats = NDArray[np.float64]
Row = tuple[int, Floats, Floats]

# what a constraint measures; c are points and d directions fixed to the frames a and b
COINCIDENCE_X, COINCIDENCE_Y, COINCIDENCE_Z = 0, 1, 2  # world component of (x_b + R_b c_b) - (x_a + R_a c_a)
DIRECTION = 3  # (R_a d_a) . (R_b d_b)
ALONG = 4  # ((x_b + R_b c_b) - (x_a + R_a c_a)) . (R_a d_a)


def closing_rows(loop: LoopJoint) -> Iterator[Row]:
    """What a loop joint closes: measure, and directions in both frames."""
    axis = np.asarray(loop.axis, float) / np.linalg.norm(loop.axis)
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    one = np.cross(axis, helper) / np.linalg.norm(np.cross(axis, helper))
    across = (one, np.cross(axis, one))
    match loop.kind:
        case LoopKind.FIXED:
            yield from weld_rows()
            return
        case LoopKind.PRISMATIC | LoopKind.CYLINDRICAL:
            yield from ((ALONG, d, d) for d in across)
        case LoopKind.PLANAR:
            yield ALONG, axis, axis
        case _:
            yield from weld_rows()[:3]
    match loop.kind:
        case LoopKind.REVOLUTE | LoopKind.CYLINDRICAL | LoopKind.PLANAR:
            yield from ((DIRECTION, d, axis) for d in across)
        case LoopKind.PRISMATIC:
            yield from weld_rows()[3:]
        case LoopKind.UNIVERSAL:
            assert loop.second_axis is not None
            yield DIRECTION, axis, np.asarray(loop.second_axis, float) / np.linalg.norm(loop.second_axis)


def weld_rows() -> list[Row]:
    """Of two frames that stay together in all directions: first their origins, then their axes."""
    e, zero = np.eye(3), np.zeros(3)
    return [
        *((COINCIDENCE_X + k, zero, zero) for k in range(3)),
        *((DIRECTION, e[k], e[(k + 1) % 3]) for k in range(3)),
    ]


REDUNDANT = 1e-11  # part of a constraint that is left when those before it are taken out; round-off is below


def independent(S: Floats, closed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of the ``closed`` lines no others imply, from what each sees (lines, lines) of a unit impulse of each.

    A pivoted elimination of the symmetric part.
    """
    rows = np.flatnonzero(closed)
    A = 0.5 * (S + S.T)[np.ix_(rows, rows)]
    scale = np.sqrt(np.maximum(A.diagonal(), 1e-300))
    A = A / np.outer(scale, scale)
    # a line along which nothing can move has no answer at all
    reachable = scale > 1e-9 * scale.max()
    A[~reachable], A[:, ~reachable] = 0.0, 0.0
    kept = np.zeros(len(closed), np.bool_)
    left = list(np.flatnonzero(reachable))
    while left:
        pivot = max(left, key=lambda k: A[k, k])
        if A[pivot, pivot] < REDUNDANT:
            break
        left.remove(pivot)
        kept[rows[pivot]] = True
        A = A - np.outer(A[:, pivot], A[pivot]) / A[pivot, pivot]
    return kept


def change_point(loop: str, joints: dict[str, float]) -> tuple[str, str]:
    """Where a loop can move more than one way, by the positions of joints in rad or m, and what to do about it."""
    posture = ", ".join(f"{name} = {place:.4g}" for name, place in joints.items())
    remedy = "keep away from that posture, drive another joint through it, or make a link flexible"
    return f"loop '{loop}', which can move more than one way or none at {posture}", remedy


CLOSED_WITHIN = 1e-13  # metres and radians, the round-off of a loop of unit size
CLOSING_STEPS = 60
LARGEST_STEP = 0.3  # rad or m, of a coordinate in one iteration of closing a loop
STALLED, BETTER = 10, 0.98  # iterations without such progress end a search
RESTARTS, RESTART_SPREAD = 6, 0.5  # searches from elsewhere, so many rad or m away
PROBE = 1e-7  # rad or m, for the derivative of the constraint


def close_loops(
    open_by: Callable[[Floats], Floats],
    q: Floats,
    which: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    names: tuple[Sequence[str], Sequence[str]],
    extent: float,
) -> Floats:
    """Joint coordinates near q at which nothing is open: least changes of those that are not held (Gauss-Newton).

    ``which`` are held, and which may follow by any amount; ``names`` those of what owns each constraint and of the
    coordinates; ``extent`` the scale of positions. A search that stalls begins anew from positions beside q.
    """
    held, follows = which
    size, found = _nearest_closed(open_by, q, held, follows)
    enough = CLOSED_WITHIN * max(1.0, extent)
    random = np.random.default_rng(1)
    for _ in range(RESTARTS):
        if size <= enough or held.all():
            break
        # the search may have begun where the violation is largest, and then no direction is better than its opposite
        aside = np.where(held, q, q + RESTART_SPREAD * random.standard_normal(len(q)))
        size, found = min((size, found), _nearest_closed(open_by, aside, held, follows), key=lambda each: each[0])
    if size <= enough:
        return found
    left = np.abs(open_by(found))
    worst = int(np.argmax(left))
    fixed = [name for name, each in zip(names[1], held) if each]
    blame = f"with {', '.join(fixed)} prescribed" if fixed else "at any joint positions tried"
    raise InvalidInput(
        f"loop '{names[0][worst]}' cannot close with links at rest {blame}: {left[worst]:.3g} m or rad stay open;"
        " correct lengths and frames, or start from joint positions nearer to a closed posture"
    )


def _nearest_closed(
    open_at: Callable[[Floats], Floats], q: Floats, held: NDArray[np.bool_], follows: NDArray[np.bool_]
) -> tuple[float, Floats]:
    """Largest violation that Gauss-Newton leaves from q, and the coordinates there."""
    best, stalled = (np.inf, q), 0
    open_by = open_at(q)
    for _ in range(CLOSING_STEPS):
        size = float(np.abs(open_by).max())
        stalled = 0 if size < BETTER * best[0] else stalled + 1
        if size < best[0]:
            best = (size, q)
        elif best[0] < CLOSED_WITHIN:
            break
        if held.all() or size == 0.0 or stalled > STALLED:
            break
        slope = np.zeros((len(open_by), len(q)))
        for c in np.flatnonzero(~held):
            for sign in (1.0, -1.0):
                moved = q.copy()
                moved[c] += sign * PROBE
                slope[:, c] += sign * open_at(moved) / (2 * PROBE)
        change = least_change(slope, open_by, follows)
        largest = np.abs(change).max()
        q = q + change * min(1.0, LARGEST_STEP / max(largest, 1e-300))
        open_by = open_at(q)
    return best


def least_change(slope: Floats, open_by: Floats, follows: NDArray[np.bool_]) -> Floats:
    """Of coordinates, to close what is open; the coordinates that follow may change by any amount."""
    change = np.zeros(len(follows))
    own = slope[:, follows]
    for_tree = slope[:, ~follows]
    reached = own @ np.linalg.pinv(own, rcond=1e-8) if own.size else np.zeros((len(open_by),) * 2)
    others = np.eye(len(open_by)) - reached
    change[~follows] = -np.linalg.lstsq(others @ for_tree, others @ open_by, rcond=1e-8)[0]
    if own.size:
        left = open_by + for_tree @ change[~follows]
        change[follows] = -np.linalg.lstsq(own, left, rcond=1e-8)[0]
    return change


DEPENDENT = 1e-10  # part of a constraint left when those before it are taken out, below which it follows from them
STEEP = (0.3, 0.03, 1e-3, DEPENDENT)  # parts of their effect on constraints that followers have for themselves


def followers(rows: Floats, first: NDArray[np.bool_], rank: int) -> NDArray[np.int64]:
    """Columns on which ``rows`` have full rank, those of ``first`` before others.

    In a fixed order, so that the choice stays while a mechanism moves, and each with an effect of its own.
    """
    left = rows.copy()
    chosen: list[int] = []
    size = np.linalg.norm(rows, axis=0)
    size = np.maximum(size, 1e-6 * size.max(initial=0.0))
    order = np.concatenate([np.flatnonzero(first), np.flatnonzero(~first)])
    for part, k in ((part, int(k)) for part in STEEP for k in order):
        own = float(np.linalg.norm(left[:, k]))
        if len(chosen) < rank and k not in chosen and own > part * size[k]:
            direction = left[:, k] / own
            left -= np.outer(direction, direction @ left)
            chosen.append(k)
    return np.sort(np.array(chosen, np.int64))
