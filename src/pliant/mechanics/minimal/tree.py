"""The arrays of an arm in minimal coordinates, shared by all kernels here.

An arm is a tree of rigid bodies; body i hangs on its parent by coordinate i, one scalar that turns or slides it
along an axis of its own frame. Joints of several degrees of freedom and the deflections of a field are several
such coordinates in a row, with bodies without mass between them. The frame of body i in that of its parent p is

    R = rotation_i  (rotation by q_i about own axis) ,   x = position_i + rotation_i (q_i along own axis) ,

one of the two factors being void. Parents come before their children; the parent of a root is -1, the base.

The rows of a tree are kept together, not its columns: a recursion reads one row after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

BASE_PARENT = -1

# what a coordinate does
TURN_X, TURN_Y, TURN_Z, SLIDE_X, SLIDE_Y, SLIDE_Z = range(6)

# columns of Tree.joints
PARENT, KIND, TURNED, BODY = range(4)
JOINT_COLUMNS = 4

# values of the column BODY: what the body weighs decides what is computed for it
NOTHING, POINT, RIGID = range(3)

# columns of Tree.facts, first of each group
ROTATION, POSITION, MASS, CENTER, INERTIA, ROTOR = 0, 9, 12, 13, 16, 22
FACTS_COLUMNS = 23

# places in Tree.base
BASE_ROTATION, BASE_POSITION, GRAVITY = 0, 9, 12
BASE_SIZE = 15


class Tree(NamedTuple):
    """A tree of n coordinates; `new_tree` makes one."""

    joints: Ints  # (n, 4) parent, kind, whether the placement turns, kind of body
    facts: (
        Floats  # (n, 23) placement (9 + 3), mass, centre (3), inertia (6: xx yy zz xy xz yz), rotor inertia
    )
    base: Floats  # (15,) rotation and position of the base in the world, gravity in the world

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.joints)

    @property
    def parent(self) -> Ints:
        return self.joints[:, PARENT]

    @property
    def kind(self) -> Ints:
        return self.joints[:, KIND]

    @property
    def mass(self) -> Floats:
        return self.facts[:, MASS]

    @property
    def rotor(self) -> Floats:
        return self.facts[:, ROTOR]


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
        if not BASE_PARENT <= p < i:
            raise ValueError(f"body {i} hangs on body {p}; number parents before their children, the base -1")
    z = np.zeros
    one = np.eye(3)
    turns = np.broadcast_to(one, (n, 3, 3)) if rotation is None else np.asarray(rotation, float)
    tensor = z((n, 3, 3)) if inertia is None else np.asarray(inertia, float)
    joints = np.zeros((n, JOINT_COLUMNS), np.int64)
    joints[:, PARENT] = parent
    joints[:, KIND] = kind
    joints[:, TURNED] = (turns != one).any(axis=(1, 2))
    facts = z((n, FACTS_COLUMNS))
    facts[:, ROTATION : ROTATION + 9] = turns.reshape(n, 9)
    for column, width, given in (
        (POSITION, 3, position), (MASS, 1, mass), (CENTER, 3, center), (ROTOR, 1, rotor),
    ):  # fmt: skip
        if given is not None:
            facts[:, column : column + width] = np.asarray(given, float).reshape(n, width)
    for column, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        facts[:, INERTIA + column] = tensor[:, i, j]
    joints[:, BODY] = np.where(
        tensor.any(axis=(1, 2)), RIGID, np.where(facts[:, MASS] != 0.0, POINT, NOTHING)
    )
    base = np.concatenate([np.ravel(one if base_rotation is None else base_rotation), base_position, gravity])
    return Tree(joints, facts, base.astype(float))
