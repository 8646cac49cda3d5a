"""Poses at the end of a step from the mean velocities of the step, root to leaves.

    x1 = x0 + h y ,   R1 = R0 cay(h eta) ,   and then  R1 - R0 = h omega^ (R0 + R1)/2 ,  omega = R0 eta = R1 eta .

A joint child takes its velocities from its parent and its own rate s so that the joint holds exactly at both
ends: a revolute with the mean axis, omega_c = omega_p + s (R_p axis)mean; a prismatic with the mean lever.
"""

from __future__ import annotations

import math

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    FIXED,
    GROUND,
    PRISMATIC,
    REVOLUTE,
    Bools,
    Floats,
    Tree,
)
from pliant.formulations.geometrically_exact.pose_element.relative_pose import (
    axpy,
    matrix,
    put,
    put_matrix,
    vector,
)
from pliant.formulations.geometrically_exact.pose_element.step_data import Moment, Signals, Step
from pliant.jit import inline_kernel, kernel
from pliant.spatial.so3 import Quaternion, from_quaternion
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, scale

NO_TURN = 1e-4  # below this half angle the series of atan(z)/z is exact to round-off


@kernel
def quaternion(rows: Floats, i: int) -> Quaternion:
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3])


@kernel
def cayley_turned(q: Quaternion, a: Vector) -> Quaternion:
    """q times the rotation cay(a), whose quaternion is (1, a/2) normalised."""
    x, y, z = 0.5 * a[0], 0.5 * a[1], 0.5 * a[2]
    r0 = q[0] - q[1] * x - q[2] * y - q[3] * z
    r1 = q[0] * x + q[1] + q[2] * z - q[3] * y
    r2 = q[0] * y - q[1] * z + q[2] + q[3] * x
    r3 = q[0] * z + q[1] * y - q[2] * x + q[3]
    f = 1.0 / math.sqrt(r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3)
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
        sigma = 2.0 * math.tan(0.5 * change) / h
        s = sigma * spin2 / (1.0 - sigma * tilt)
    else:
        sigma = s / (spin2 + s * tilt)
    z = 0.5 * h * sigma
    ratio = 1.0 - z * z / 3.0 if abs(z) < NO_TURN else math.atan(z) / z
    if not prescribed:
        change = h * sigma * ratio
    return s, change, ratio / (spin2 + s * tilt)


@inline_kernel
def move_joint_child(
    tree: Tree, i: int, prescribed: bool, signals: Signals, start: Moment, end: Moment, step: Step
) -> None:
    """Mean velocities of a node that hangs on its parent by a joint, and the end of the joint coordinate."""
    h = signals.h[0]
    p, c = tree.parent[i], tree.coordinate[i]
    spin = vector(step.omega, p, 0)
    place = vector(tree.offset, i, 0)
    y = vector(step.Y, p, 0)
    omega = spin
    if tree.hang[i] == REVOLUTE:
        a = vector(tree.axis_parent, i, 0)
        axis = apply(matrix(step.R_mean, p), a)
        change = signals.target[c, 0] - start.q[c] if prescribed else 0.0
        s, change, share = turn_joint(h, spin, apply(matrix(start.R, p), a), step.s[i], prescribed, change)
        step.s[i], step.share[i] = s, share
        end.q[c] = signals.target[c, 0] if prescribed else start.q[c] + change
        put(step.axis, i, 0, axis)
        omega = axpy(s, axis, spin)
    elif tree.hang[i] == PRISMATIC:
        a = vector(tree.axis_parent, i, 0)
        if prescribed:
            end.q[c] = signals.target[c, 0]
            step.s[i] = (end.q[c] - start.q[c]) / h
        else:
            end.q[c] = start.q[c] + h * step.s[i]
        step.share[i] = 1.0
        axis = apply(matrix(step.R_mean, p), a)
        put(step.axis, i, 0, axis)
        place = axpy(0.5 * (start.q[c] + end.q[c]), a, place)
        y = axpy(step.s[i], axis, y)
    lever = apply(matrix(step.R_mean, p), place)
    put(step.lever, i, 0, lever)
    put(step.omega, i, 0, omega)
    put(step.Y, i, 0, add(y, cross(spin, lever)))
    put(step.Y, i, 3, apply_transpose(matrix(start.R, i), omega))


@inline_kernel
def advance_pose(i: int, h: float, start: Moment, end: Moment, step: Step) -> None:
    """End pose of one node; positions carry what rounding took (two-sum), so that far from the origin and for
    many elements the strain keeps its digits."""
    for k in range(3):
        high, change = start.x[i, k], h * step.Y[i, k]
        total = high + change
        part = total - high
        low = start.x_low[i, k] + ((high - (total - part)) + (change - part))
        end.x[i, k] = total + low
        end.x_low[i, k] = low - (end.x[i, k] - total)
    q = cayley_turned(quaternion(start.quaternion, i), scale(h, vector(step.Y, i, 3)))
    R = from_quaternion(q)
    for k in range(4):
        end.quaternion[i, k] = q[k]
    for k in range(9):
        end.R[i, k] = R[k]
        step.R_mean[i, k] = 0.5 * (start.R[i, k] + R[k])


@inline_kernel
def move_base(i: int, signals: Signals, start: Moment, step: Step) -> None:
    """Mean velocities of a node whose end pose is given."""
    h, b = signals.h[0], signals.base
    for k in range(3):
        step.Y[i, k] = ((b[k] - start.x[i, k]) - start.x_low[i, k]) / h
    turn = cayley_vector(quaternion(start.quaternion, i), (b[3], b[4], b[5], b[6]))
    put(step.Y, i, 3, scale(1.0 / h, turn))


@kernel
def move(tree: Tree, prescribed: Bools, signals: Signals, start: Moment, end: Moment, step: Step) -> None:
    """All end poses from the mean velocities of free and element nodes and the rates of the joints."""
    h = signals.h[0]
    for i in range(tree.parent.shape[0]):
        if tree.hang[i] >= FIXED:
            c = tree.coordinate[i]
            move_joint_child(tree, i, c >= 0 and prescribed[c], signals, start, end, step)
        else:
            if tree.hang[i] == GROUND:
                move_base(i, signals, start, step)
            put(step.omega, i, 0, apply(matrix(start.R, i), vector(step.Y, i, 3)))
        advance_pose(i, h, start, end, step)


@kernel
def choose_mid_frames(h: float, start: Moment, step: Step) -> None:
    """Frames half a step ahead of the predicted motion, in which the tangent does not see rigid rotation."""
    for i in range(step.Y.shape[0]):
        q = cayley_turned(quaternion(start.quaternion, i), scale(0.5 * h, vector(step.Y, i, 3)))
        put_matrix(step.R_mid, i, from_quaternion(q))


@kernel
def restart_ball_joints(tree: Tree, start: Moment) -> None:
    """Give the three revolutes of every ball joint fresh orthogonal axes: those of the child, angles zero.

    So a ball joint never meets the singular posture of three angles in a row.
    """
    for i in range(tree.parent.shape[0]):
        if tree.restarts[i]:
            for j in range(i, i + 2):
                for k in range(4):
                    start.quaternion[j, k] = start.quaternion[i + 2, k]
                for k in range(9):
                    start.R[j, k] = start.R[i + 2, k]
            R_parent = matrix(start.R, tree.parent[i])
            put(
                tree.axis_parent,
                i,
                0,
                apply_transpose(R_parent, apply(matrix(start.R, i), vector(tree.axis, i, 0))),
            )
            for j in range(i, i + 3):
                start.q[tree.coordinate[j]] = 0.0
