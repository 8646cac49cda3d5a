"""What moves and acts at given instants: poses, twists and accelerations of all bodies, wrenches of loads and loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import kernel
from pliant.mechanics.minimal.gill import accelerate
from pliant.mechanics.minimal.loops import closure_wrenches
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.motion import WRENCH, place_base
from pliant.mechanics.minimal.passes import turn_afresh
from pliant.mechanics.minimal.recursions import inverse_dynamics
from pliant.mechanics.minimal.step_data import Account, Signals, Step, new_account, new_signals, new_step
from pliant.mechanics.minimal.tree import Floats

SEEN_COLUMNS = WRENCH  # of the motion of a tree: those before its wrenches


class Instants(NamedTuple):
    """States and inputs at some instants."""

    q: Floats  # (rows, n)
    v: Floats  # (rows, n)
    target: Floats  # (rows, n, 3) as in `Signals`
    load: Floats  # (rows, loads, 6)


class Snapshots(NamedTuple):
    """At these instants; wrenches are in the world about its origin."""

    motion: (
        Floats  # (rows, n + 1, columns) pose, Jacobian column, twist, acceleration of the base and all bodies
    )
    load: Floats  # (rows, wrenches, 6)
    closure: Floats  # (rows, closures, 2, 6) on the two bodies of each closure


class Scratch(NamedTuple):
    """Memory of one instant."""

    step: Step
    signals: Signals
    account: Account


@kernel
def see(mechanism: Mechanism, given: Instants, scratch: Scratch, seen: Snapshots) -> int:
    """Fill the snapshots; returns how many instants were seen before one at which no mass resists."""
    step, signals, loops = scratch.step, scratch.signals, mechanism.loops
    n = step.q.shape[0]
    place_base(mechanism.tree, step.motion)
    for row in range(given.q.shape[0]):
        for i in range(n):
            step.q[i], step.q_mid[i], step.w[i] = given.q[row, i], given.q[row, i], given.v[row, i]
            for k in range(3):
                signals.target[i, k] = given.target[row, i, k]
        turn_afresh(mechanism.tree, step.q, step.turn[0])
        for m in range(signals.load.shape[0]):
            for k in range(6):
                signals.load[m, k] = given.load[row, m, k]
        if not accelerate(mechanism, signals, step, scratch.account):
            return row
        inverse_dynamics(mechanism.tree, step.q_mid, step.w, step.acceleration, step.motion, step.inertial)
        for i in range(n + 1):
            for k in range(SEEN_COLUMNS):
                seen.motion[row, i, k] = step.motion[i, k]
        for m in range(step.wrench.shape[0]):
            for k in range(6):
                seen.load[row, m, k] = step.wrench[m, k]
        for m in range(step.loop.shape[0]):
            pair = closure_wrenches(loops, m, step.motion)
            for k in range(6):
                seen.closure[row, m, 0, k] = step.loop[m] * pair[0][k]
                seen.closure[row, m, 1, k] = step.loop[m] * pair[1][k]
    return int(given.q.shape[0])


def snapshots(mechanism: Mechanism, given: Instants) -> tuple[Snapshots, int]:
    """With how many of them could be taken."""
    rows, n = given.q.shape
    wrenches, closures = len(mechanism.wrenches.load), len(mechanism.loops.measure)
    loads, laws = given.load.shape[1], len(mechanism.springs.laws.coordinate)
    scratch = Scratch(new_step(n, wrenches, closures, laws), new_signals(n, loads), new_account(n, loads))
    z = np.zeros
    seen = Snapshots(z((rows, n + 1, SEEN_COLUMNS)), z((rows, wrenches, 6)), z((rows, closures, 2, 6)))
    return seen, int(see(mechanism, given, scratch, seen))
