"""The arrays of an arm in minimal coordinates, shared by all kernels here.

An arm is a tree of rigid bodies; body i follows its parent by joint i, one scalar that rotates or translates it along
an axis of its own frame. Joints of several degrees of freedom and the deflections of a field are several such scalars
in a row, with bodies without mass between them. Each is a coordinate of the arm, but where links deform by shapes: then
coordinates move several joints at once (`shapes`). The frame of body i in that of its parent
p is

    R = rotation_i  (rotation by q_i about own axis) ,   x = position_i + rotation_i (q_i along own axis) ,

one of the two factors being void. Parents come before their children; the parent of a root is -1, the base.

The rows of a tree are kept together, not its columns: a recursion reads one row after the other.

Poses, axes and twists of the bodies of a tree.

Everything is written in world axes about the world's origin, so that twists and wrenches of different bodies add
without transforms. A twist is (velocity of the body's point that passes the origin, spin), a wrench (force, moment
about the origin). The column of the Jacobian for coordinate i, its axis a through x, is

    J_i = (x x a, a)  for a turn ,      J_i = (a, 0)  for a slide ;      V_i = V_parent + J_i v_i ,

the same for all bodies behind it ([konno1996] (12) to (16) with the origin as the common point).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.jit import inline_kernel
from pliant.spatial.rows import add_to, load3, load6, load9, plus3, plus6, store
from pliant.spatial.se3 import Twist, join
from pliant.spatial.vectors import Matrix, Vector, add, apply, cross, product
from pliant.structures.tree import columns as at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


Pose = tuple[Matrix, Vector]
EMPTY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Tree(NamedTuple):
    """A tree of n coordinates; `new_tree` makes one."""

    joints: Ints  # (n, 4) parent, kind, whether the placement turns, kind of body
    facts: Floats  # (n, 23) placement (9 + 3), mass, centre (3), inertia (6: xx yy zz xy xz yz), rotor inertia
    base: Floats  # (15,) rotation and position of the base in the world, gravity in the world

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    @property
    def parent(self) -> Ints:
        return self.joints[:, at.PARENT]

    @property
    def kind(self) -> Ints:
        return self.joints[:, at.KIND]

    @property
    def mass(self) -> Floats:
        return self.facts[:, at.MASS]

    @property
    def rotor(self) -> Floats:
        return self.facts[:, at.ROTOR]


def new_tree(
    parent: Sequence[int] | Ints,
    kind: Sequence[int] | Ints,
    *,
    rotation: ArrayLike | None = None,
    position: ArrayLike | None = None,
    mass: ArrayLike | None = None,
    center: ArrayLike | None = None,
    inertia: ArrayLike | None = None,
    rotor: ArrayLike | None = None,
    base_rotation: ArrayLike | None = None,
    base_position: ArrayLike = (0.0, 0.0, 0.0),
    gravity: ArrayLike = (0.0, 0.0, 0.0),
) -> Tree:
    """A tree from its columns.

    ``rotation`` (n, 3, 3) and ``position`` (n, 3): placement of the joint frame in the parent's frame.
    ``mass`` (n,), ``center`` (n, 3) and ``inertia`` (n, 3, 3), about the centre of mass in the axes of the body.
    ``rotor`` (n,): inertia of the rotor that turns with the coordinate, as seen at the joint.
    What is left out is the identity or zero.
    """
    n = len(parent)
    for i, p in enumerate(parent):
        if not at.BASE_PARENT <= p < i:
            raise ValueError(f"body {i} has the parent {p}; number parents before their children, the base -1")
    z = np.zeros
    one = np.eye(3)
    turns = np.broadcast_to(one, (n, 3, 3)) if rotation is None else np.asarray(rotation, float)
    tensor = z((n, 3, 3)) if inertia is None else np.asarray(inertia, float)
    joints = np.zeros((n, at.JOINT_COLUMNS), np.int64)
    joints[:, at.PARENT] = parent
    joints[:, at.KIND] = kind
    joints[:, at.TURNED] = (turns != one).any(axis=(1, 2))
    facts = z((n, at.FACTS_COLUMNS))
    facts[:, at.ROTATION : at.ROTATION + 9] = turns.reshape(n, 9)
    for column, width, given in (
        (at.POSITION, 3, position), (at.MASS, 1, mass), (at.CENTER, 3, center), (at.ROTOR, 1, rotor),
    ):  # fmt: skip
        if given is not None:
            facts[:, column : column + width] = np.asarray(given, float).reshape(n, width)
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        facts[:, at.INERTIA + column] = tensor[:, i, j]
    joints[:, at.BODY] = np.where(
        tensor.any(axis=(1, 2)), at.RIGID, np.where(facts[:, at.MASS] != 0.0, at.POINT, at.NOTHING)
    )
    base = np.concatenate([np.ravel(one if base_rotation is None else base_rotation), base_position, gravity])
    return Tree(joints, facts, base.astype(float))


@inline_kernel
def place_base(tree: Tree, motion: Floats) -> None:
    """The base at rest; its acceleration upwards stands for gravity."""
    base = tree.base[None]
    store(load9(base, 0, at.BASE_ROTATION), motion, 0, at.POSE_R)
    store(load3(base, 0, at.BASE_POSITION), motion, 0, at.POSE_X)
    store(EMPTY, motion, 0, at.TWIST)
    store(EMPTY, motion, 0, at.ACCELERATION)
    add_to(-1.0, load3(base, 0, at.GRAVITY), motion, 0, at.ACCELERATION)


@inline_kernel
def place_body(tree: Tree, i: int, q: float, motion: Floats) -> tuple[Pose, Twist]:
    """Pose and Jacobian column of body i from the pose of its parent.

    They are written and also returned: what was just written in parts is slow to read as a whole.
    """
    s, c = 0.0, 1.0
    if tree.joints[i, at.KIND] < at.TRANSLATION_X:
        s, c = math.sin(q), math.cos(q)
    return place_turned(tree, i, q, (s, c), motion)


@inline_kernel
def turned_pair(a: Vector, b: Vector, turn: tuple[float, float]) -> tuple[Vector, Vector]:
    """Two axes after a turn about the third, from the first towards the second."""
    s, c = turn
    return (
        (c * a[0] + s * b[0], c * a[1] + s * b[1], c * a[2] + s * b[2]),
        (c * b[0] - s * a[0], c * b[1] - s * a[1], c * b[2] - s * a[2]),
    )


@inline_kernel
def place_turned(tree: Tree, i: int, q: float, turn: tuple[float, float], motion: Floats) -> tuple[Pose, Twist]:
    """The same with the sine and cosine of a coordinate that turns."""
    facts, own, p = tree.facts, i + 1, tree.joints[i, at.PARENT] + 1
    kind = tree.joints[i, at.KIND]
    R = load9(motion, p, at.POSE_R)
    x = add(load3(motion, p, at.POSE_X), apply(R, load3(facts, i, at.POSITION)))
    if tree.joints[i, at.TURNED] != 0:
        R = product(R, load9(facts, i, at.ROTATION))
    a, b, c = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    if kind >= at.TRANSLATION_X:
        axis = a if kind == at.TRANSLATION_X else (b if kind == at.TRANSLATION_Y else c)
        x, J = plus3(x, q, axis), join(axis, (0.0, 0.0, 0.0))
    else:
        axis = a
        if kind == at.TURN_X:
            b, c = turned_pair(b, c, turn)
        elif kind == at.TURN_Y:
            axis = b
            c, a = turned_pair(c, a, turn)
        else:
            axis = c
            a, b = turned_pair(a, b, turn)
        J = join(cross(x, axis), axis)
    store(x, motion, own, at.POSE_X)
    store(J, motion, own, at.AXIS)
    R = (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])
    store(R, motion, own, at.POSE_R)
    return (R, x), J


@inline_kernel
def place_all(tree: Tree, q: Floats, turn: Floats, motion: Floats) -> None:
    """All bodies, with the sines and cosines (n, 2) of coordinates that turn."""
    for i in range(q.shape[0]):
        place_turned(tree, i, q[i], (turn[i, 0], turn[i, 1]), motion)


@inline_kernel
def turn_afresh(tree: Tree, q: Floats, turn: Floats) -> None:
    """Sine and cosine of all coordinates that turn."""
    for i in range(q.shape[0]):
        if tree.joints[i, at.KIND] < at.TRANSLATION_X:
            turn[i, 0], turn[i, 1] = math.sin(q[i]), math.cos(q[i])


@inline_kernel
def move_body(tree: Tree, i: int, v: float, J: Twist, motion: Floats) -> Twist:
    """Twist of body i from that of its parent and its own Jacobian column J."""
    W = plus6(load6(motion, tree.joints[i, at.PARENT] + 1, at.TWIST), v, J)
    store(W, motion, i + 1, at.TWIST)
    return W


@inline_kernel
def pose_of(motion: Floats, i: int) -> Pose:
    """Pose of body i that stands."""
    return load9(motion, i + 1, at.POSE_R), load3(motion, i + 1, at.POSE_X)


@inline_kernel
def center_of(tree: Tree, i: int, pose: Pose) -> Vector:
    """Centre of mass of body i in the world."""
    return add(pose[1], apply(pose[0], load3(tree.facts, i, at.CENTER)))
