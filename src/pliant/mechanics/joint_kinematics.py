"""How twists and wrenches pass a joint.

The pose of a child's root in the frame of its parent node is (R, r), twelve numbers, R row by row. Then

    v_child = R^T (v + w x r) + S_v qdot ,   w_child = R^T w + S_w qdot ,

and wrenches return by the transpose. Twists and wrenches may be complex.
"""

from __future__ import annotations

from pliant.jit import kernel
from pliant.spatial.se3 import exp as se3_exp
from pliant.spatial.so3 import mul, rotate


@kernel
def place_child(rotation, position, S, link, q, pose):
    """pose[link] = constant joint pose times exp(S q)."""
    R = (
        rotation[link, 0],
        rotation[link, 1],
        rotation[link, 2],
        rotation[link, 3],
        rotation[link, 4],
        rotation[link, 5],
        rotation[link, 6],
        rotation[link, 7],
        rotation[link, 8],
    )
    Q, t = se3_exp((S[link, 0] * q, S[link, 1] * q, S[link, 2] * q, S[link, 3] * q, S[link, 4] * q, S[link, 5] * q))
    t = rotate(R, t)
    R = mul(R, Q)
    for i in range(9):
        pose[link, i] = R[i]
    for i in range(3):
        pose[link, 9 + i] = position[link, i] + t[i]


@kernel
def to_child(pose, link, V, node):
    """The twist of a parent node seen at the child's root, joint rate not included."""
    v1, v2, v3, w1, w2, w3 = V[node, 0], V[node, 1], V[node, 2], V[node, 3], V[node, 4], V[node, 5]
    r1, r2, r3 = pose[link, 9], pose[link, 10], pose[link, 11]
    a1 = v1 + w2 * r3 - w3 * r2
    a2 = v2 + w3 * r1 - w1 * r3
    a3 = v3 + w1 * r2 - w2 * r1
    return (
        pose[link, 0] * a1 + pose[link, 3] * a2 + pose[link, 6] * a3,
        pose[link, 1] * a1 + pose[link, 4] * a2 + pose[link, 7] * a3,
        pose[link, 2] * a1 + pose[link, 5] * a2 + pose[link, 8] * a3,
        pose[link, 0] * w1 + pose[link, 3] * w2 + pose[link, 6] * w3,
        pose[link, 1] * w1 + pose[link, 4] * w2 + pose[link, 7] * w3,
        pose[link, 2] * w1 + pose[link, 5] * w2 + pose[link, 8] * w3,
    )


@kernel
def add_to_parent(pose, link, wrench, F, node):
    """F[node] += the wrench at the child's root, moved to the parent node: the transpose of `to_child`."""
    f1, f2, f3, m1, m2, m3 = wrench
    r1, r2, r3 = pose[link, 9], pose[link, 10], pose[link, 11]
    a1 = pose[link, 0] * f1 + pose[link, 1] * f2 + pose[link, 2] * f3
    a2 = pose[link, 3] * f1 + pose[link, 4] * f2 + pose[link, 5] * f3
    a3 = pose[link, 6] * f1 + pose[link, 7] * f2 + pose[link, 8] * f3
    F[node, 0] += a1
    F[node, 1] += a2
    F[node, 2] += a3
    F[node, 3] += pose[link, 0] * m1 + pose[link, 1] * m2 + pose[link, 2] * m3 + r2 * a3 - r3 * a2
    F[node, 4] += pose[link, 3] * m1 + pose[link, 4] * m2 + pose[link, 5] * m3 + r3 * a1 - r1 * a3
    F[node, 5] += pose[link, 6] * m1 + pose[link, 7] * m2 + pose[link, 8] * m3 + r1 * a2 - r2 * a1


@kernel
def adjoint_to_child(pose, link, Ad):
    """Ad[link] (6 x 6), the matrix of `to_child`."""
    r1, r2, r3 = pose[link, 9], pose[link, 10], pose[link, 11]
    for i in range(3):
        a, b, c = pose[link, i], pose[link, 3 + i], pose[link, 6 + i]
        Ad[link, i, 0] = a
        Ad[link, i, 1] = b
        Ad[link, i, 2] = c
        Ad[link, i, 3] = c * r2 - b * r3
        Ad[link, i, 4] = a * r3 - c * r1
        Ad[link, i, 5] = b * r1 - a * r2
        Ad[link, 3 + i, 0] = 0.0
        Ad[link, 3 + i, 1] = 0.0
        Ad[link, 3 + i, 2] = 0.0
        Ad[link, 3 + i, 3] = a
        Ad[link, 3 + i, 4] = b
        Ad[link, 3 + i, 5] = c


@kernel
def dot6(x, y):
    """Scalar product of two 6-tuples, or of a 6-tuple and a row."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]
