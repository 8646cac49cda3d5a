"""Poses, axes and twists of the bodies of a tree.

Everything is written in world axes about the world's origin, so that twists and wrenches of different bodies add
without transforms. A twist is (velocity of the body's point that passes the origin, spin), a wrench (force, moment
about the origin). The column of the Jacobian for coordinate i, its axis a through x, is

    J_i = (x x a, a)  for a turn ,      J_i = (a, 0)  for a slide ;      V_i = V_parent + J_i v_i ,

the same for all bodies behind it ([konno1996] (12) to (16) with the origin as the common point).
"""

from __future__ import annotations

import math

from pliant.jit import inline_kernel
from pliant.mechanics.minimal.tree import (
    BASE_POSITION,
    BASE_ROTATION,
    CENTER,
    GRAVITY,
    KIND,
    PARENT,
    POSITION,
    ROTATION,
    SLIDE_X,
    TURN_X,
    TURN_Y,
    TURNED,
    Floats,
    Tree,
)
from pliant.spatial.vectors import Matrix, Vector, apply, cross, product

Six = tuple[float, float, float, float, float, float]

# Columns of the motion of a tree, an array with row 0 for the base and row i + 1 for body i; first of each group:
# pose, Jacobian column, twist, spatial acceleration, wrench, momentum, centre of mass, composite inertia
# (mass, first moment, inertia about the origin) or articulated inertia (21 of the upper triangle), its product with J
POSE_R, POSE_X, AXIS, TWIST, ACCELERATION, WRENCH, MOMENTUM, PLACE = 0, 9, 12, 18, 24, 30, 36, 42
COMPOSITE, ARTICULATED, LEVER, PIVOT = 45, 45, 66, 72
MOTION_COLUMNS = 74


@inline_kernel
def three(a: Floats, row: int, column: int) -> Vector:
    return (a[row, column], a[row, column + 1], a[row, column + 2])


@inline_kernel
def six(a: Floats, row: int, column: int) -> Six:
    return (
        a[row, column],
        a[row, column + 1],
        a[row, column + 2],
        a[row, column + 3],
        a[row, column + 4],
        a[row, column + 5],
    )


@inline_kernel
def nine(a: Floats, row: int, column: int) -> Matrix:
    return (
        a[row, column],
        a[row, column + 1],
        a[row, column + 2],
        a[row, column + 3],
        a[row, column + 4],
        a[row, column + 5],
        a[row, column + 6],
        a[row, column + 7],
        a[row, column + 8],
    )


@inline_kernel
def put_three(a: Floats, row: int, column: int, x: Vector) -> None:
    a[row, column], a[row, column + 1], a[row, column + 2] = x


@inline_kernel
def put_six(a: Floats, row: int, column: int, x: Six) -> None:
    for k in range(6):
        a[row, column + k] = x[k]


@inline_kernel
def add_six(a: Floats, row: int, column: int, x: Six) -> None:
    for k in range(6):
        a[row, column + k] += x[k]


@inline_kernel
def dot_six(x: Six, y: Six) -> float:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@inline_kernel
def joined(x: Vector, y: Vector) -> Six:
    return (x[0], x[1], x[2], y[0], y[1], y[2])


@inline_kernel
def linear(x: Six) -> Vector:
    return (x[0], x[1], x[2])


@inline_kernel
def angular(x: Six) -> Vector:
    return (x[3], x[4], x[5])


@inline_kernel
def moved(a: Vector, factor: float, b: Vector) -> Vector:
    """a + factor b."""
    return (a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2])


@inline_kernel
def cross_twists(V: Six, W: Six) -> Six:
    """Rate of a twist W that is carried along by V."""
    v, w = linear(V), angular(V)
    a, b = cross(w, linear(W)), cross(v, angular(W))
    return joined((a[0] + b[0], a[1] + b[1], a[2] + b[2]), cross(w, angular(W)))


@inline_kernel
def cross_wrench(V: Six, F: Six) -> Six:
    """Rate of a wrench F that is carried along by V."""
    v, w = linear(V), angular(V)
    a, b = cross(w, angular(F)), cross(v, linear(F))
    return joined(cross(w, linear(F)), (a[0] + b[0], a[1] + b[1], a[2] + b[2]))


@inline_kernel
def place_base(tree: Tree, motion: Floats) -> None:
    """The base at rest; its acceleration upwards stands for gravity."""
    for k in range(9):
        motion[0, POSE_R + k] = tree.base[BASE_ROTATION + k]
    for k in range(3):
        motion[0, POSE_X + k] = tree.base[BASE_POSITION + k]
        motion[0, ACCELERATION + k] = -tree.base[GRAVITY + k]
        motion[0, ACCELERATION + 3 + k] = 0.0
    for k in range(6):
        motion[0, TWIST + k] = 0.0


@inline_kernel
def place_body(tree: Tree, i: int, q: float, motion: Floats) -> None:
    """Pose and Jacobian column of body i from the pose of its parent."""
    s, c = 0.0, 1.0
    if tree.joints[i, KIND] < SLIDE_X:
        s, c = math.sin(q), math.cos(q)
    place_turned(tree, i, q, (s, c), motion)


@inline_kernel
def place_turned(tree: Tree, i: int, q: float, turn: tuple[float, float], motion: Floats) -> None:
    """The same with the sine and cosine of a coordinate that turns."""
    facts, own, p = tree.facts, i + 1, tree.joints[i, PARENT] + 1
    kind = tree.joints[i, KIND]
    R = nine(motion, p, POSE_R)
    x = moved(three(motion, p, POSE_X), 1.0, apply(R, three(facts, i, POSITION)))
    if tree.joints[i, TURNED] != 0:
        R = product(R, nine(facts, i, ROTATION))
    if kind >= SLIDE_X:
        k = kind - SLIDE_X
        for m in range(9):
            motion[own, POSE_R + m] = R[m]
        a = (motion[own, POSE_R + k], motion[own, POSE_R + 3 + k], motion[own, POSE_R + 6 + k])
        put_three(motion, own, POSE_X, moved(x, q, a))
        put_three(motion, own, AXIS, a)
        put_three(motion, own, AXIS + 3, (0.0, 0.0, 0.0))
        return
    s, c = turn
    if kind == TURN_X:
        a = (R[0], R[3], R[6])
        R = (
            R[0], c * R[1] + s * R[2], c * R[2] - s * R[1],
            R[3], c * R[4] + s * R[5], c * R[5] - s * R[4],
            R[6], c * R[7] + s * R[8], c * R[8] - s * R[7],
        )  # fmt: skip
    elif kind == TURN_Y:
        a = (R[1], R[4], R[7])
        R = (
            c * R[0] - s * R[2], R[1], c * R[2] + s * R[0],
            c * R[3] - s * R[5], R[4], c * R[5] + s * R[3],
            c * R[6] - s * R[8], R[7], c * R[8] + s * R[6],
        )  # fmt: skip
    else:
        a = (R[2], R[5], R[8])
        R = (
            c * R[0] + s * R[1], c * R[1] - s * R[0], R[2],
            c * R[3] + s * R[4], c * R[4] - s * R[3], R[5],
            c * R[6] + s * R[7], c * R[7] - s * R[6], R[8],
        )  # fmt: skip
    for k in range(9):
        motion[own, POSE_R + k] = R[k]
    put_three(motion, own, POSE_X, x)
    put_three(motion, own, AXIS, cross(x, a))
    put_three(motion, own, AXIS + 3, a)


@inline_kernel
def move_body(tree: Tree, i: int, v: float, motion: Floats) -> Six:
    """Twist of body i from that of its parent."""
    own, p = i + 1, tree.joints[i, PARENT] + 1
    V, J = six(motion, p, TWIST), six(motion, own, AXIS)
    W = (
        V[0] + v * J[0],
        V[1] + v * J[1],
        V[2] + v * J[2],
        V[3] + v * J[3],
        V[4] + v * J[4],
        V[5] + v * J[5],
    )
    put_six(motion, own, TWIST, W)
    return W


@inline_kernel
def center_of(tree: Tree, i: int, motion: Floats) -> Vector:
    """Centre of mass of body i in the world."""
    return moved(
        three(motion, i + 1, POSE_X), 1.0, apply(nine(motion, i + 1, POSE_R), three(tree.facts, i, CENTER))
    )
