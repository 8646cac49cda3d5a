"""How twists and wrenches pass a joint.

The pose of a child's root in the frame of its parent node is (R, r), twelve numbers, R row by row. Then

    v_child = R^T (v + w x r) + S_v qdot ,   w_child = R^T w + S_w qdot ,

and wrenches return by the transpose. Twists and wrenches may be complex.
"""

from __future__ import annotations

from pliant.jit import inline_kernel
from pliant.spatial.rows import add_to, load3, load9, store
from pliant.spatial.so3 import exp
from pliant.spatial.vectors import add, apply, product


@inline_kernel
def place_child(rotation, position, S, link, q, pose, i):
    """pose[i, link] = constant joint pose times exp(S q); S rotates or translates, not both."""
    R, t = load9(rotation, link), (0.0, 0.0, 0.0)
    if q != 0.0:
        w = (S[link, 3] * q, S[link, 4] * q, S[link, 5] * q)
        if w[0] != 0.0 or w[1] != 0.0 or w[2] != 0.0:
            R = product(R, exp(w))
        else:
            t = apply(R, (S[link, 0] * q, S[link, 1] * q, S[link, 2] * q))
    store(R, pose[i], link)
    store(add(load3(position, link), t), pose[i], link, 9)


@inline_kernel
def to_child(pose, link, V, node, i):
    """The twist of a parent node seen at the child's root, joint rate not included; stage i of pose and V."""
    v1, v2, v3 = V[i, node, 0], V[i, node, 1], V[i, node, 2]
    w1, w2, w3 = V[i, node, 3], V[i, node, 4], V[i, node, 5]
    r1, r2, r3 = pose[i, link, 9], pose[i, link, 10], pose[i, link, 11]
    a1 = v1 + w2 * r3 - w3 * r2
    a2 = v2 + w3 * r1 - w1 * r3
    a3 = v3 + w1 * r2 - w2 * r1
    return (
        pose[i, link, 0] * a1 + pose[i, link, 3] * a2 + pose[i, link, 6] * a3,
        pose[i, link, 1] * a1 + pose[i, link, 4] * a2 + pose[i, link, 7] * a3,
        pose[i, link, 2] * a1 + pose[i, link, 5] * a2 + pose[i, link, 8] * a3,
        pose[i, link, 0] * w1 + pose[i, link, 3] * w2 + pose[i, link, 6] * w3,
        pose[i, link, 1] * w1 + pose[i, link, 4] * w2 + pose[i, link, 7] * w3,
        pose[i, link, 2] * w1 + pose[i, link, 5] * w2 + pose[i, link, 8] * w3,
    )


@inline_kernel
def add_to_parent(pose, link, wrench, F, node, i):
    """F[node] += the wrench at the child's root, moved to the parent node: the transpose of `to_child`."""
    f1, f2, f3, m1, m2, m3 = wrench
    r1, r2, r3 = pose[i, link, 9], pose[i, link, 10], pose[i, link, 11]
    a1 = pose[i, link, 0] * f1 + pose[i, link, 1] * f2 + pose[i, link, 2] * f3
    a2 = pose[i, link, 3] * f1 + pose[i, link, 4] * f2 + pose[i, link, 5] * f3
    a3 = pose[i, link, 6] * f1 + pose[i, link, 7] * f2 + pose[i, link, 8] * f3
    add_to(1.0, (a1, a2, a3), F[i], node)
    F[i, node, 3] += pose[i, link, 0] * m1 + pose[i, link, 1] * m2 + pose[i, link, 2] * m3 + r2 * a3 - r3 * a2
    F[i, node, 4] += pose[i, link, 3] * m1 + pose[i, link, 4] * m2 + pose[i, link, 5] * m3 + r3 * a1 - r1 * a3
    F[i, node, 5] += pose[i, link, 6] * m1 + pose[i, link, 7] * m2 + pose[i, link, 8] * m3 + r1 * a2 - r2 * a1


@inline_kernel
def adjoint_to_child(pose, link, Ad, i):
    """Ad[i, link] (6 x 6), the matrix of `to_child`."""
    r1, r2, r3 = pose[i, link, 9], pose[i, link, 10], pose[i, link, 11]
    for k in range(3):
        a, b, c = pose[i, link, k], pose[i, link, 3 + k], pose[i, link, 6 + k]
        store((a, b, c, c * r2 - b * r3, a * r3 - c * r1, b * r1 - a * r2), Ad[i, link], k)
        store((0.0, 0.0, 0.0, a, b, c), Ad[i, link], 3 + k)
