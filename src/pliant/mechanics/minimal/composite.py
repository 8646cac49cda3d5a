"""Inertia of everything behind a coordinate, about the world's origin, and the mass matrix.

The composite inertia of body i is ten numbers (mass, first moment, second moment) that add up along the tree. With
F_i = I_i J_i, the momentum behind coordinate i at unit rate,  M_ij = J_j . F_i  for every j on the way from i to the
base, and zero for two coordinates on different branches [featherstone2008].
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.minimal.motion import (
    AXIS,
    COMPOSITE,
    POSE_R,
    Six,
    center_of,
    dot_six,
    nine,
    place_base,
    place_body,
    six,
)
from pliant.mechanics.minimal.tree import BODY, INERTIA, MASS, NOTHING, PARENT, RIGID, ROTOR, Floats, Tree

Ten = tuple[float, float, float, float, float, float, float, float, float, float]


@inline_kernel
def turned_inertia(tree: Tree, i: int, motion: Floats) -> Six:
    """R J R^T of body i: xx yy zz xy xz yz."""
    R, J = nine(motion, i + 1, POSE_R), six(tree.facts, i, INERTIA)
    a = (
        R[0] * J[0] + R[1] * J[3] + R[2] * J[4],
        R[0] * J[3] + R[1] * J[1] + R[2] * J[5],
        R[0] * J[4] + R[1] * J[5] + R[2] * J[2],
    )
    b = (
        R[3] * J[0] + R[4] * J[3] + R[5] * J[4],
        R[3] * J[3] + R[4] * J[1] + R[5] * J[5],
        R[3] * J[4] + R[4] * J[5] + R[5] * J[2],
    )
    c = (
        R[6] * J[0] + R[7] * J[3] + R[8] * J[4],
        R[6] * J[3] + R[7] * J[1] + R[8] * J[5],
        R[6] * J[4] + R[7] * J[5] + R[8] * J[2],
    )
    return (
        a[0] * R[0] + a[1] * R[1] + a[2] * R[2],
        b[0] * R[3] + b[1] * R[4] + b[2] * R[5],
        c[0] * R[6] + c[1] * R[7] + c[2] * R[8],
        a[0] * R[3] + a[1] * R[4] + a[2] * R[5],
        a[0] * R[6] + a[1] * R[7] + a[2] * R[8],
        b[0] * R[6] + b[1] * R[7] + b[2] * R[8],
    )


@inline_kernel
def inertia_of(tree: Tree, i: int, motion: Floats) -> Ten:
    """Mass, first and second moment of body i alone."""
    if tree.joints[i, BODY] == NOTHING:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    m = tree.facts[i, MASS]
    x, y, z = center_of(tree, i, motion)
    mx, my, mz = m * x, m * y, m * z
    J = (my * y + mz * z, mx * x + mz * z, mx * x + my * y, -mx * y, -mx * z, -my * z)
    if tree.joints[i, BODY] == RIGID:
        K = turned_inertia(tree, i, motion)
        J = (J[0] + K[0], J[1] + K[1], J[2] + K[2], J[3] + K[3], J[4] + K[4], J[5] + K[5])
    return (m, mx, my, mz, J[0], J[1], J[2], J[3], J[4], J[5])


@inline_kernel
def ten(a: Floats, row: int, column: int) -> Ten:
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
        a[row, column + 9],
    )


@inline_kernel
def momentum_at(I: Ten, V: Six) -> Six:
    """The momentum of an inertia that moves with the twist V."""
    m, x, y, z = I[0], I[1], I[2], I[3]
    v1, v2, v3, w1, w2, w3 = V
    return (
        m * v1 + w2 * z - w3 * y,
        m * v2 + w3 * x - w1 * z,
        m * v3 + w1 * y - w2 * x,
        y * v3 - z * v2 + I[4] * w1 + I[7] * w2 + I[8] * w3,
        z * v1 - x * v3 + I[7] * w1 + I[5] * w2 + I[9] * w3,
        x * v2 - y * v1 + I[8] * w1 + I[9] * w2 + I[6] * w3,
    )


@inline_kernel
def gather_inertias(tree: Tree, n: int, motion: Floats) -> None:
    """Composite inertias of all bodies; poses stand already."""
    for i in range(n):
        own = inertia_of(tree, i, motion)
        for k in range(10):
            motion[i + 1, COMPOSITE + k] = own[k]
    for i in range(n - 1, -1, -1):
        p = tree.joints[i, PARENT] + 1
        if p > 0:
            for k in range(10):
                motion[p, COMPOSITE + k] += motion[i + 1, COMPOSITE + k]


@inline_kernel
def fill_mass_matrix(tree: Tree, n: int, motion: Floats, M: Floats) -> None:
    """M from poses that stand already."""
    gather_inertias(tree, n, motion)
    for i in range(n):
        for j in range(n):
            M[i, j] = 0.0
    for i in range(n):
        J = six(motion, i + 1, AXIS)
        F = momentum_at(ten(motion, i + 1, COMPOSITE), J)
        M[i, i] = dot_six(J, F) + tree.facts[i, ROTOR]
        j = tree.joints[i, PARENT]
        while j >= 0:
            M[i, j] = dot_six(six(motion, j + 1, AXIS), F)
            M[j, i] = M[i, j]
            j = tree.joints[j, PARENT]


@kernel
def mass_matrix(tree: Tree, q: Floats, motion: Floats, M: Floats) -> None:
    """M(q), symmetric."""
    n = q.shape[0]
    place_base(tree, motion)
    for i in range(n):
        place_body(tree, i, q[i], motion)
    fill_mass_matrix(tree, n, motion, M)
