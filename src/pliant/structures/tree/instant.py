"""An arm at given instants: forces and constraints with their exact derivatives, and what moves and acts.

A wrench W on a body, about the world's origin, has the forces Q_i = J_i . W over the way from the body to the base.
With the change dW_j of the wrench itself, and (J_j x J_i) . W = -J_i . (J_j carrying W along),

    dQ_i/dq_j = J_i . (dW_j - [j before i] J_j x* W) .

A dead load keeps its force while its point moves; one that turns with its body is carried along whole. The multiplier
of a constraint exerts two wrenches, which change with the points and directions of both bodies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import STOP_DAMPING, STOP_STIFFNESS, friction_force, stops_force
from pliant.spatial.rows import copy_to, dot6, load3, load6, scale6, store
from pliant.spatial.se3 import Twist, angular, carried_wrench, join, linear
from pliant.spatial.vectors import Vector, add, cross, scale
from pliant.structures.loop_constraints import ALONG, DIRECTION
from pliant.structures.tree import columns as at
from pliant.structures.tree import forces as acting
from pliant.structures.tree.arrays import (
    Loops,
    Mechanism,
    RunningLedger,
    Signals,
    Step,
    Wrenches,
    new_ledger,
    new_signals,
    new_step,
)
from pliant.structures.tree.flexibility import add_condensed_stiffness
from pliant.structures.tree.motion import Floats, Tree, place_all, place_base, turn_afresh
from pliant.structures.tree.recursions import inverse_dynamics, place
from pliant.structures.tree.shapes import expand
from pliant.structures.tree.step import accelerate

SEEN_COLUMNS = at.WRENCH  # of the motion of a tree: those before its wrenches
NONE = (0.0, 0.0, 0.0)


@inline_kernel
def carries(tree: Tree, j: int, body: int) -> bool:
    """Whether coordinate j moves the body."""
    i = body
    while i > j:
        i = tree.joints[i, at.PARENT]
    return i == j


@inline_kernel
def add_slopes(tree: Tree, motion: Floats, body: int, j: int, W: Twist, change: Twist, slope: Floats) -> None:
    """dQ_i/dq_j of the wrench W on a body, which changes by ``change``."""
    carried = carried_wrench(load6(motion, j + 1, at.AXIS), W)
    behind = carries(tree, j, body)
    i = body
    while i >= 0:
        behind = behind and i != j
        J = load6(motion, i + 1, at.AXIS)
        slope[i, j] += dot6(J, change)
        if behind:
            slope[i, j] -= dot6(J, carried)
        i = tree.joints[i, at.PARENT]


@inline_kernel
def shift(motion: Floats, j: int, moves: bool, x: Vector) -> Vector:
    """How a world point moves with coordinate j."""
    J = load6(motion, j + 1, at.AXIS)
    return add(linear(J), cross(angular(J), x)) if moves else NONE


@inline_kernel
def turned_by(motion: Floats, j: int, moves: bool, d: Vector) -> Vector:
    """How a direction changes with coordinate j."""
    return cross(angular(load6(motion, j + 1, at.AXIS)), d) if moves else NONE


@inner_kernel
def load_slopes(tree: Tree, wrenches: Wrenches, motion: Floats, wrench: Floats, slope: Floats) -> None:
    """Adds the derivative of `load_forces`, whose wrenches stand."""
    for k in range(wrenches.load.shape[0]):
        body, W = wrenches.body[k], load6(wrench, k)
        x = acting.point_of(motion, body, load3(wrenches.point, k))
        j = body
        while j >= 0:
            change = carried_wrench(load6(motion, j + 1, at.AXIS), W)
            if wrenches.world[k]:
                change = join(NONE, cross(shift(motion, j, True, x), linear(W)))
            add_slopes(tree, motion, body, j, W, change, slope)
            j = tree.joints[j, at.PARENT]


@inline_kernel
def wrench_changes(tree: Tree, loops: Loops, k: int, j: int, motion: Floats) -> tuple[Twist, Twist]:
    """How the wrenches of `constraint_wrenches` change with coordinate j."""
    on_a, on_b = carries(tree, j, loops.body[k, 0]), carries(tree, j, loops.body[k, 1])
    d, measure = acting.world_direction(loops, k, 0, motion), loops.measure[k]
    d_turned = turned_by(motion, j, on_a, d)
    if measure == DIRECTION:
        e = acting.world_direction(loops, k, 1, motion)
        turn = add(cross(d_turned, e), cross(d, turned_by(motion, j, on_b, e)))
        return join(NONE, turn), join(NONE, scale(-1.0, turn))
    x_b = acting.world_point(loops, k, 1, motion)
    b_moved = shift(motion, j, on_b, x_b)
    if measure == ALONG:
        moment = add(cross(b_moved, d), cross(x_b, d_turned))
        return join(scale(-1.0, d_turned), scale(-1.0, moment)), join(d_turned, moment)
    e = acting.component(measure)
    a_moved = shift(motion, j, on_a, acting.world_point(loops, k, 0, motion))
    return join(NONE, cross(e, a_moved)), join(NONE, cross(b_moved, e))


@kernel
def constraint_slopes(tree: Tree, loops: Loops, q: Floats, multipliers: Floats, motion: Floats, slope: Floats) -> None:
    """Adds the derivative of G^T multipliers in q."""
    place(tree, q, motion)
    for k in range(multipliers.shape[0]):
        W = acting.constraint_wrenches(loops, k, motion)
        for j in range(q.shape[0]):
            changes = wrench_changes(tree, loops, k, j, motion)
            for side in range(2):
                wrench, change = scale6(multipliers[k], W[side]), scale6(multipliers[k], changes[side])
                add_slopes(tree, motion, loops.body[k, side], j, wrench, change, slope)


@kernel
def constraints_at(
    tree: Tree, loops: Loops, state: tuple[Floats, Floats, Floats], motion: Floats, out: tuple[Floats, ...]
) -> None:
    """Of (q, v, a): phi (rows,), G (rows, n) and second derivatives (rows,); the last of ``out`` (n,) is scratch."""
    inverse_dynamics(tree, state[0], state[1], state[2], motion, out[3])
    acting.constraints(loops, motion, out[0])
    acting.constraint_gradients(tree, loops, motion, out[1])
    acting.constraint_accelerations(loops, motion, out[2])


@kernel
def forces_at(mechanism: Mechanism, signals: Signals, step: Step, slopes: tuple[Floats, Floats, Floats]) -> None:
    """`instant_forces` at (q_mid, w) with derivatives in positions and rates of the coordinates.

    Of condensed fields the derivative is that at constant joint positions. The last of the slopes is that of loads in
    the joints of the tree; it may be the first one where every coordinate is a joint.
    """
    by_position, by_rate, by_joint = slopes
    tree, springs, drives, laws = mechanism.tree, mechanism.springs, mechanism.drives, mechanism.springs.laws
    n = step.q.shape[0]
    place_base(tree, step.motion)
    expand(mechanism.shapes, step.q_mid, step.joints.q_mid)
    turn_afresh(tree, step.joints.q_mid, step.turn[1])
    place_all(tree, step.joints.q_mid, step.turn[1], step.motion)
    acting.instant_forces(mechanism, signals, step)
    by_position[:] = 0.0
    by_rate[:] = 0.0
    step.stiffness[:] = 0.0
    load_slopes(tree, mechanism.wrenches, step.motion, step.wrench, by_joint)
    add_condensed_stiffness(mechanism.condensed, step.stiffness)
    for i in range(n):
        for j in range(n):
            by_position[i, j] -= step.stiffness[i, j]
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            by_position[i, j] -= springs.K[i, j]
            by_rate[i, j] -= springs.D_field[i, j] + springs.D_joint[i, j]
        if not drives.prescribed[i] and abs(step.drive[i]) < drives.limit[i]:
            by_position[i, i] -= drives.gain[i, 0]
            by_rate[i, i] -= drives.gain[i, 1]
    for k in range(laws.coordinate.shape[0]):
        i, stops = laws.coordinate[k], laws.stops[k]
        by_rate[i, i] -= friction_force(laws.friction[k], step.w[i])[1]
        push, _, _ = stops_force(stops, step.q_mid[i], acting.NO_TIME * step.w[i], acting.NO_TIME)
        if stops[STOP_STIFFNESS] > 0.0 and push != 0.0:
            by_position[i, i] -= stops[STOP_STIFFNESS]
            by_rate[i, i] -= stops[STOP_DAMPING]


class Instants(NamedTuple):
    """States and inputs at some instants."""

    q: Floats  # (rows, n)
    v: Floats  # (rows, n)
    target: Floats  # (rows, n, 3) as in `Signals`
    load: Floats  # (rows, loads, 6)


class Snapshots(NamedTuple):
    """At these instants; wrenches are in the world about its origin."""

    motion: Floats  # (rows, joints + 1, columns) pose, Jacobian column, twist, acceleration of the base and all bodies
    load: Floats  # (rows, wrenches, 6)
    constraint: Floats  # (rows, constraints, 2, 6) on the two bodies of each constraint


class Scratch(NamedTuple):
    """Memory of one instant."""

    step: Step
    signals: Signals
    ledger: RunningLedger


@kernel
def see(mechanism: Mechanism, given: Instants, scratch: Scratch, seen: Snapshots) -> int:
    """Fill the snapshots; returns how many instants were seen before one at which no mass resists."""
    step, signals, loops, joints = scratch.step, scratch.signals, mechanism.loops, scratch.step.joints
    n = step.q.shape[0]
    place_base(mechanism.tree, step.motion)
    for row in range(given.q.shape[0]):
        for i in range(n):
            step.q[i], step.q_mid[i], step.w[i] = given.q[row, i], given.q[row, i], given.v[row, i]
        copy_to(given.target[row], signals.target)
        copy_to(given.load[row], signals.load)
        expand(mechanism.shapes, step.q, joints.q)
        turn_afresh(mechanism.tree, joints.q, step.turn[0])
        if not accelerate(mechanism, signals, step, scratch.ledger):
            return row
        expand(mechanism.shapes, step.acceleration, joints.acceleration)
        inverse_dynamics(mechanism.tree, joints.q_mid, joints.w, joints.acceleration, step.motion, joints.inertial)
        for i in range(joints.q.shape[0] + 1):
            for k in range(SEEN_COLUMNS):
                seen.motion[row, i, k] = step.motion[i, k]
        copy_to(step.wrench, seen.load[row])
        for m in range(step.loop.shape[0]):
            pair = acting.constraint_wrenches(loops, m, step.motion)
            for side in range(2):
                store(scale6(step.loop[m], pair[side]), seen.constraint[row, m], side)
    return int(given.q.shape[0])


def snapshots(mechanism: Mechanism, given: Instants) -> tuple[Snapshots, int]:
    """With how many of them could be taken."""
    rows, n = given.q.shape
    wrenches, closed = len(mechanism.wrenches.load), len(mechanism.loops.measure)
    loads = given.load.shape[1]
    scratch = Scratch(new_step(mechanism), new_signals(n, loads), new_ledger(n, loads))
    z = np.zeros
    seen = Snapshots(z((rows, mechanism.tree.size + 1, SEEN_COLUMNS)), z((rows, wrenches, 6)), z((rows, closed, 2, 6)))
    return seen, int(see(mechanism, given, scratch, seen))
