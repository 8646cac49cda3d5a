"""Motions of a tree in relative displacements, and how they carry over to the nodes.

A node moves against its parent by the body displacement S y: one unknown for a revolute or prismatic joint, three for a
ball joint, six for an element, a free node and the base. Seen in its own frame it is displaced by

    chi = A chi_parent + S y ,     A' = -bracket(rho) A ,   rho = S y' the relative twist of the motion,

and so are virtual displacements, twists and their derivatives. In these unknowns elements have stiffness of their
own and rigid motions strain nothing, so that slow motions keep their digits beside stiff links.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    REVOLUTE,
    Floats,
    Tree,
)
from pliant.mechanics.twist_matrices import bracket, to_frame


class Columns(NamedTuple):
    """The unknowns of each node: where they stand, and the directions in which they move it."""

    place: tuple[slice, ...]
    S: tuple[Floats, ...]  # (6, unknowns of the node)
    total: int


class Maps(NamedTuple):
    """Matrices (nodes, 6, unknowns) from unknowns to body displacements of the nodes, and their time derivatives."""

    T: Floats
    rate: Floats
    acceleration: Floats


def columns_of(tree: Tree) -> Columns:
    """The three revolutes of a ball joint, freshly restarted, are one joint: the last has all three directions."""
    place, S, count = [], [], 0
    in_ball = np.flatnonzero(tree.restarts)
    for i in range(len(tree.parent)):
        if tree.hang[i] in (GROUND, FREE, ELEMENT):
            directions = np.eye(6)
        elif tree.hang[i] == FIXED or i in in_ball or i - 1 in in_ball:
            directions = np.zeros((6, 0))
        elif i - 2 in in_ball:
            directions = np.concatenate([np.zeros((3, 3)), tree.axis[i - 2 : i + 1].T])
        else:
            directions = np.zeros((6, 1))
            directions[3 if tree.hang[i] == REVOLUTE else 0 :, 0][:3] = tree.axis[i]
        place.append(slice(count, count + directions.shape[1]))
        S.append(directions)
        count += directions.shape[1]
    return Columns(tuple(place), tuple(S), count)


def to_children(tree: Tree, x: Floats, R: Floats) -> Floats:
    """The matrices A (nodes, 6, 6); zero where a node hangs on nothing."""
    parent = np.maximum(tree.parent, 0)
    back = np.swapaxes(R[parent], -1, -2)
    A = to_frame(back @ R, np.einsum("nij,nj->ni", back, x - x[parent]))
    A[tree.parent < 0] = 0.0
    return A


def maps(
    tree: Tree, columns: Columns, A: Floats, rates: Floats | None = None, accelerations: Floats | None = None
) -> Maps:
    """T and its derivatives for the rates of the unknowns and their derivatives; without them only T is filled."""
    nodes, n = len(A), columns.total
    T, T1, T2 = (np.zeros((nodes, 6, n)) for _ in range(3))
    moves = rates is not None and bool(np.any(rates))
    changes = accelerations is not None and bool(np.any(accelerations))
    for i in range(nodes):
        p, place, S = tree.parent[i], columns.place[i], columns.S[i]
        if p >= 0:
            T[i] = A[i] @ T[p]
            if moves:
                assert rates is not None
                turn = bracket(S @ rates[place])
                T1[i] = A[i] @ T1[p] - turn @ T[i]
                T2[i] = A[i] @ T2[p] - 2.0 * turn @ (A[i] @ T1[p]) + turn @ turn @ T[i]
            if changes:
                assert accelerations is not None
                if not moves:
                    T2[i] = A[i] @ T2[p]
                T2[i] -= bracket(S @ accelerations[place]) @ T[i]
        T[i][:, place] += S
    return Maps(T, T1, T2)


def gather(tree: Tree, A: Floats, wrenches: Floats) -> Floats:
    """Sum of the wrenches (nodes, 6) on each node and on all that hangs on it, in its frame."""
    total = wrenches.copy()
    for i in range(len(A) - 1, -1, -1):
        if tree.parent[i] >= 0:
            total[tree.parent[i]] += A[i].T @ total[i]
    return total
