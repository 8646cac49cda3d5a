"""What one step holds while it is solved.

Poses at the end of a step from the mean velocities of the step, root to leaves.

    x1 = x0 + h y ,   R1 = R0 cay(h eta) ,   and then  R1 - R0 = h omega^ (R0 + R1)/2 ,  omega = R0 eta = R1 eta .

A joint child takes its velocities from its parent and its own rate s so that the joint holds exactly at both
ends: a revolute with the mean axis, omega_c = omega_p + s (R_p axis)mean; a prismatic with the mean lever.

The unknowns of a step extrapolated from the last ones: a start from which Newton's method needs two iterations.

Impulses of closed loops count as much as velocities: an old impulse on a turned frame is the largest error of all.
Backward differences of steps of equal length continue a smooth motion; where they grow with their order, as for
vibrations that the step does not resolve, the extrapolation ends with the smallest one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import copy_to, load3, load9, plus3, store
from pliant.spatial.so3 import Quaternion, from_quaternion
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, scale
from pliant.structures import relative_pose
from pliant.structures.bundles import zeros_of
from pliant.structures.nodal import corotational
from pliant.structures.nodal.codes import FIXED, GROUND, PRISMATIC, REVOLUTE
from pliant.structures.nodal.mechanism import Floats, Mechanism, Pose, Tree


class Moment(NamedTuple):
    """Poses and relative-pose data at one end of a step."""

    x: Floats  # (nodes, 3)
    x_low: Floats  # (nodes, 3)
    quaternion: Floats  # (nodes, 4)
    R: Floats  # (nodes, 9)
    strain: Floats  # (nodes, 44) deformation of every element
    q: Floats  # (coordinates,)
    phi: Floats  # (lines,)
    bushing: Floats  # (lines, 29) relative pose of every bushing, in its first row


class Step(NamedTuple):
    """The unknowns of a step and what follows from them."""

    Y: Floats  # (nodes, 6) mean velocity y of the frame's origin (world) and mean spin eta (body)
    s: Floats  # (nodes,) mean rate of the joint of the node
    impulse: Floats  # (lines,) impulses of the lines
    omega: Floats  # (nodes, 3) mean spin in the world
    R_mean: Floats  # (nodes, 9) mean of the directors, not orthogonal
    R_mid: Floats  # (nodes, 9) fixed frames of Newton's increments
    axis: Floats  # (nodes, 3) mean axis of the joint, world
    lever: Floats  # (nodes, 3) mean vector from the parent's origin to the node's, world
    share: Floats  # (nodes,) change of the joint coordinate per h s
    spun: Floats  # (nodes, 3) angular momentum of each node at the start of the step, world
    shared: Floats  # (nodes, 6) what it has of that by the spins of its neighbours, at the start and the end, own axes
    rho: Floats  # (nodes, 6) impulse balance of the nodes, world; joint children are added to parents
    row: Floats  # (nodes,) balance of the joint coordinate
    torque: Floats  # (coordinates, 2) effort on the joint and minus its derivative in the coordinate
    gradient: Floats  # (lines, 12) force and torque of a unit impulse on the nodes a and b, world
    way: Floats  # (lines,) change of every line in the step
    taken: Floats  # (lines,) energy that every line took since the start of the run


class Signals(NamedTuple):
    """What drives a step."""

    h: Floats  # (1,)
    target: Floats  # (coordinates, 3) prescribed end position, end rate | mean reference, mean rate, feedforward
    load: Floats  # (loads, 6) mean wrenches
    base: Floats  # (7,) end position and quaternion of the base, then (6,) its end velocity and spin


class Motion(NamedTuple):
    """A step while it is solved: the state before it, both of its ends, its unknowns and what drives it."""

    now: Pose
    start: Moment
    end: Moment
    step: Step
    signals: Signals


def new_moment(n: int, c: int, m: int) -> Moment:
    """Of n nodes, c coordinates and m lines."""
    widths = corotational.COLUMNS, relative_pose.COLUMNS
    return zeros_of(Moment, (n, 3), (n, 3), (n, 4), (n, 9), (n, widths[0]), c, m, (m, widths[1]))


def new_step(n: int, c: int, m: int) -> Step:
    of_nodes = ((n, 6), n, m, (n, 3), (n, 9), (n, 9), (n, 3), (n, 3), n, (n, 3), (n, 6), (n, 6), n)
    return zeros_of(Step, *of_nodes, (c, 2), (m, 12), m, m)


def new_motion(mechanism: Mechanism, now: Pose, loads: int) -> Motion:
    signals = zeros_of(Signals, 1, (len(now.q), 3), (loads, 6), 13)
    start, end = (new_moment(*mechanism.sizes) for _ in range(2))
    return Motion(now, start, end, new_step(*mechanism.sizes), signals)


def new_pose(n: int, c: int) -> Pose:
    return zeros_of(Pose, (n, 3), (n, 3), (n, 4), (n, 3), (n, 3), c, c, (c, 2))


class Factors(NamedTuple):
    """The blocks of the tangent and, after `factorise`, its factors."""

    D: Floats  # (nodes, 6, 6) diagonal blocks
    low: Floats  # (nodes, 6, 6)
    up: Floats  # (nodes, 6, 6)
    P: Floats  # (nodes, 6, 6) pivots; of free and element nodes their inverse
    U: Floats  # (nodes, 6, 6) up P of element nodes
    A: Floats  # (nodes, 6, 6) from the parent's velocities to those of a joint child
    A_row: Floats  # (nodes, 6, 6) transposed it takes impulses of a joint child to the parent
    d: Floats  # (nodes, 6) velocities of a joint child per rate of its joint
    d_row: Floats  # (nodes, 6) the joint's direction for impulses
    column: Floats  # (nodes, 6) P d of a joint
    row: Floats  # (nodes, 6) d^T P of a joint
    pivot: Floats  # (nodes,) on entry what the joint's law adds; then d^T P d with it
    work: Floats  # (5, 6, 6) scratch


class Increment(NamedTuple):
    """Right-hand side and solution of a tree solve."""

    b: Floats  # (nodes, 6)
    b_joint: Floats  # (nodes,)
    t: Floats  # (nodes, 6)
    t_joint: Floats  # (nodes,)


def new_factors(nodes: int) -> Factors:
    squares, rows = 7 * ((nodes, 6, 6),), 4 * ((nodes, 6),)
    return zeros_of(Factors, *squares, *rows, nodes, (5, 6, 6))


def new_increment(nodes: int) -> Increment:
    return zeros_of(Increment, (nodes, 6), nodes, (nodes, 6), nodes)


NO_TURN = 1e-4  # below this half angle the series of atan(z)/z is exact to round-off


@kernel
def quaternion(rows: Floats, i: int, k: int = 0) -> Quaternion:
    return (rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3])


@kernel
def cayley_turned(q: Quaternion, a: Vector) -> Quaternion:
    """q times the rotation cay(a), whose quaternion is (1, a/2) normalised."""
    x, y, z = 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]
    r0 = q[0] - q[1] * x - q[2] * y - q[3] * z
    r1 = q[0] * x + q[1] + q[2] * z - q[3] * y
    r2 = q[0] * y - q[1] * z + q[2] + q[3] * x
    r3 = q[0] * z + q[1] * y - q[2] * x + q[3]
    f = 1.0 / np.sqrt(r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3)
    return (f * r0, f * r1, f * r2, f * r3)


@kernel
def cayley_vector(q0: Quaternion, q1: Quaternion) -> Vector:
    """The a with q1 = q0 cay(a), up to sign of the quaternions."""
    w = q0[0] * q1[0] + q0[1] * q1[1] + q0[2] * q1[2] + q0[3] * q1[3]
    x = q0[0] * q1[1] - q0[1] * q1[0] - q0[2] * q1[3] + q0[3] * q1[2]
    y = q0[0] * q1[2] + q0[1] * q1[3] - q0[2] * q1[0] - q0[3] * q1[1]
    z = q0[0] * q1[3] - q0[1] * q1[2] + q0[2] * q1[1] - q0[3] * q1[0]
    return (2.0 * x / w, 2.0 * y / w, 2.0 * z / w)


@inline_kernel
def turn_joint(
    h: float, spin: Vector, axis: Vector, s: float, prescribed: bool, change: float
) -> tuple[float, float, float]:
    """Mean rate s, change of angle and their ratio, for a parent of mean spin and a start axis.

    sigma is the Cayley rate about the axis as the parent sees it.
    """
    spin2 = 1.0 + 0.25 * h * h * dot(spin, spin)
    tilt = 0.25 * h * h * dot(spin, axis)
    if prescribed:
        sigma = 2.0 * np.tan(0.5 * change) / h
        s = sigma * spin2 / (1.0 - sigma * tilt)
    else:
        sigma = s / (spin2 + s * tilt)
    z = 0.5 * h * sigma
    ratio = 1.0 - z * z / 3.0 if abs(z) < NO_TURN else np.arctan(z) / z
    if not prescribed:
        change = h * sigma * ratio
    return s, change, ratio / (spin2 + s * tilt)


@inline_kernel
def move_joint_child(mechanism: Mechanism, i: int, motion: Motion) -> None:
    """Mean velocities of a node on a joint, and the end of the joint coordinate."""
    tree, signals, start, end, step = mechanism.tree, motion.signals, motion.start, motion.end, motion.step
    h = signals.h[0]
    p, c = tree.parent[i], tree.coordinate[i]
    prescribed = c >= 0 and mechanism.coordinates.prescribed[c]
    spin = load3(step.omega, p)
    place = load3(tree.offset, i)
    y = load3(step.Y, p)
    omega = spin
    a = load3(tree.axis_parent, i)
    axis = apply(load9(step.R_mean, p), a)
    if tree.joint_type[i] == REVOLUTE:
        change = signals.target[c, 0] - start.q[c] if prescribed else 0.0
        s, change, share = turn_joint(h, spin, apply(load9(start.R, p), a), step.s[i], prescribed, change)
        step.s[i], step.share[i] = s, share
        end.q[c] = signals.target[c, 0] if prescribed else start.q[c] + change
        omega = plus3(spin, s, axis)
    elif tree.joint_type[i] == PRISMATIC:
        if prescribed:
            end.q[c] = signals.target[c, 0]
            step.s[i] = (end.q[c] - start.q[c]) / h
        else:
            end.q[c] = start.q[c] + h * step.s[i]
        step.share[i] = 1.0
        place = plus3(place, 0.5 * (start.q[c] + end.q[c]), a)
        y = plus3(y, step.s[i], axis)
    store(axis, step.axis, i)
    lever = apply(load9(step.R_mean, p), place)
    store(lever, step.lever, i)
    store(omega, step.omega, i)
    store(add(y, cross(spin, lever)), step.Y, i)
    store(apply_transpose(load9(start.R, i), omega), step.Y, i, 3)


@inline_kernel
def advance_pose(i: int, motion: Motion) -> None:
    """End pose of one node; positions carry what rounding took (two-sum), so that far from the origin and for
    many elements the strain keeps its digits."""
    h, start, end, step = motion.signals.h[0], motion.start, motion.end, motion.step
    for k in range(3):
        high, change = start.x[i, k], h * step.Y[i, k]
        total = high + change
        part = total - high
        low = start.x_low[i, k] + ((high - (total - part)) + (change - part))
        end.x[i, k] = total + low
        end.x_low[i, k] = low - (end.x[i, k] - total)
    q = cayley_turned(quaternion(start.quaternion, i), scale(h, load3(step.Y, i, 3)))
    R = from_quaternion(q)
    store(q, end.quaternion, i)
    store(R, end.R, i)
    for k in range(9):
        step.R_mean[i, k] = 0.5 * (start.R[i, k] + R[k])


@inline_kernel
def move_base(i: int, motion: Motion) -> None:
    """Mean velocities of the first node, the base, whose end pose is given; others of the kind stay in the world."""
    h, b, start, step = motion.signals.h[0], motion.signals.base, motion.start, motion.step
    if i > 0:
        step.Y[i] = 0.0
        return
    for k in range(3):
        step.Y[i, k] = ((b[k] - start.x[i, k]) - start.x_low[i, k]) / h
    turn = cayley_vector(quaternion(start.quaternion, i), (b[3], b[4], b[5], b[6]))
    store(scale(1.0 / h, turn), step.Y, i, 3)


@kernel
def move(mechanism: Mechanism, motion: Motion) -> None:
    """All end poses from the mean velocities of free and element nodes and the rates of the joints."""
    tree, start, step = mechanism.tree, motion.start, motion.step
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] >= FIXED:
            move_joint_child(mechanism, i, motion)
        else:
            if tree.joint_type[i] == GROUND:
                move_base(i, motion)
            store(apply(load9(start.R, i), load3(step.Y, i, 3)), step.omega, i)
        advance_pose(i, motion)


@kernel
def choose_mid_frames(motion: Motion) -> None:
    """Frames half a step ahead of the predicted motion, in which the tangent does not see rigid rotation."""
    h, start, step = motion.signals.h[0], motion.start, motion.step
    for i in range(step.Y.shape[0]):
        q = cayley_turned(quaternion(start.quaternion, i), scale(0.5 * h, load3(step.Y, i, 3)))
        store(from_quaternion(q), step.R_mid, i)


@kernel
def restart_ball_joints(tree: Tree, start: Moment) -> None:
    """Give the three revolutes of every ball joint fresh orthogonal axes: those of the child, angles zero.

    So a ball joint never meets the singular posture of three angles in a row.
    """
    for i in range(tree.parent.shape[0]):
        if tree.restarts[i]:
            for j in range(i, i + 2):
                store(quaternion(start.quaternion, i + 2), start.quaternion, j)
                store(load9(start.R, i + 2), start.R, j)
            R_parent = load9(start.R, tree.parent[i])
            store(apply_transpose(R_parent, apply(load9(start.R, i), load3(tree.axis, i))), tree.axis_parent, i)
            for j in range(i, i + 3):
                start.q[tree.coordinate[j]] = 0.0


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


def new_past(mechanism: Mechanism) -> Past:
    (n, c, m), kept = mechanism.sizes, REMEMBERED
    return zeros_of(Past, (kept, 6 * n), (kept, n), (kept, m), kept, 13, (c, 2))


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


@inner_kernel
def extrapolate(rows: Floats, most: int, share: float, out: Floats) -> None:
    """A share of what polynomials through the newest rows make of the next one."""
    w, numbers = WEIGHTS[best_order(rows, most)], out.flat
    for k in range(out.size):
        numbers[k] = share * (w[0] * rows[0, k] + w[1] * rows[1, k] + w[2] * rows[2, k] + w[3] * rows[3, k])


@inline_kernel
def predict(past: Past, h: float, step: Step) -> None:
    """Velocities, joint rates and impulses of a step of length h."""
    most = 0
    while most + 1 < REMEMBERED and past.steps[0] == h and past.steps[most + 1] == h:
        most += 1
    extrapolate(past.Y, most, 1.0, step.Y)
    extrapolate(past.s, most, 1.0, step.s)
    extrapolate(past.impulse, most, h / past.steps[0] if past.steps[0] > 0.0 else 0.0, step.impulse)


@inline_kernel
def remember(step: Step, h: float, past: Past) -> None:
    for n in range(REMEMBERED - 1, 0, -1):
        past.steps[n] = past.steps[n - 1]
        copy_to(past.Y[n - 1], past.Y[n])
        copy_to(past.s[n - 1], past.s[n])
        copy_to(past.impulse[n - 1], past.impulse[n])
    past.steps[0] = h
    copy_to(step.Y, past.Y[0])
    copy_to(step.s, past.s[0])
    copy_to(step.impulse, past.impulse[0])
