"""What a step of an arm in minimal coordinates holds while it is computed, and the account of a run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.mechanics.energy_account import COLUMNS
from pliant.mechanics.minimal.motion import MOTION_COLUMNS
from pliant.mechanics.minimal.tree import Bools, Floats, Ints

# columns of Step.slope
NOW, IN_FACTORS, BESIDE = 0, 1, 2

# places in Step.number: length of the step; kinetic energy, potential of gravity and energy of condensed fields at its
# start and at its end; change of the first potential and the size of what it was computed from; correction; how many
# mean velocities are known; whether the factors are stale; square of the contraction of Newton's method when last seen
# and with fresh factors; kinetic energy that fitting velocities took; multipliers times the size of their closures;
# energy that rounding leaves open
H, T_START, V_START, STRAIN_START, T_END, V_END, STRAIN_END, LIFTED, LIFT_SIZE = range(9)
CORRECTION, KNOWN, STALE, CONTRACTION, FRESH, FITTED, TIED, ROUNDED = range(9, 17)
NUMBERS = 17

UNKNOWN = -1.0  # contraction with factors that have not been tried


class Step(NamedTuple):
    """A step from (q, v) to (q_end, v_end) with the mean velocity w; all (n,) unless said."""

    q: Floats
    v: Floats
    q_end: Floats
    v_end: Floats
    q_mid: Floats
    w: Floats
    acceleration: Floats
    inertial: Floats  # inverse dynamics at the middle: inertia, gravity
    momentum: Floats  # at the middle
    elastic: Floats  # of springs
    condensed: Floats  # of condensed fields, as it pulls
    lost_field: Floats  # damping forces
    lost_joint: Floats
    drive: Floats
    extra: Floats  # work of prescribed drives beside that of ``drive`` on the way of the step
    load: Floats
    residual: Floats
    change: Floats  # of w by Newton's method
    turn: Floats  # (3, n, 2) sine and cosine of coordinates that turn, at the start, the middle and the end
    past: Floats  # (4, n) mean velocities of the last steps
    stiffness: Floats  # (n, n) of condensed fields
    factors: Floats  # (n, n)
    motion: Floats  # (n + 1, columns) at the middle
    motion_end: Floats
    number: Floats  # (17,)
    held: Floats  # (n,) torques of servos
    wrench: Floats  # (wrenches, 6) in the world about its origin, at the middle
    loop: Floats  # (closures,) multipliers
    gap: Floats  # (closures,)
    G: Floats  # (closures, n)
    AG: Floats  # (closures, n) rows of factors^-1 G^T
    S: Floats  # (closures, closures)
    kept: Bools  # (closures,) whether a closure says more than those before it
    slope: (
        Floats  # (laws, 3) of friction and stops, now and in the factors; what else is in the factors there
    )


class Account(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,)
    joints: Floats  # (n,) work of the drives
    loads: Floats  # (loads,)
    worst: (
        Floats  # (4,) largest residual ratio, its time, number of steps, J that rounding leaves of this one
    )
    counts: Ints  # (4,) iterations, factorisations, halvings, place of the last failure


class Signals(NamedTuple):
    """What drives a step, or one stage of it."""

    target: Floats  # (n, 3) prescribed: position, rate, acceleration | reference, reference rate, feedforward
    end: Floats  # (n, 2) prescribed: position and rate at the end of the step
    load: Floats  # (loads, 6)


def new_step(n: int, wrenches: int, closures: int, laws: int) -> Step:
    z = np.zeros
    motion = (n + 1, MOTION_COLUMNS)
    return Step(
        q=z(n),
        v=z(n),
        q_end=z(n),
        v_end=z(n),
        q_mid=z(n),
        w=z(n),
        acceleration=z(n),
        inertial=z(n),
        momentum=z(n),
        elastic=z(n),
        condensed=z(n),
        lost_field=z(n),
        lost_joint=z(n),
        drive=z(n),
        extra=z(n),
        load=z(n),
        residual=z(n),
        change=z(n),
        turn=z((3, n, 2)),
        past=z((4, n)),
        stiffness=z((n, n)),
        factors=z((n, n)),
        motion=z(motion),
        motion_end=z(motion),
        number=z(NUMBERS),
        held=z(n),
        wrench=z((wrenches, 6)),
        loop=z(closures),
        gap=z(closures),
        G=z((closures, n)),
        AG=z((closures, n)),
        S=z((closures, closures)),
        kept=np.ones(closures, np.bool_),
        slope=z((laws, 3)),
    )


def new_account(n: int, loads: int) -> Account:
    return Account(np.zeros(COLUMNS), np.zeros(n), np.zeros(loads), np.zeros(4), np.zeros(4, np.int64))


def new_signals(n: int, loads: int) -> Signals:
    return Signals(np.zeros((n, 3)), np.zeros((n, 2)), np.zeros((loads, 6)))
