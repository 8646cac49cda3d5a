"""How twists and wrenches pass a joint.

The pose of a child's root in the frame of its parent node is (R, r), twelve numbers, R row by row. Then

    v_child = R^T (v + w x r) + S_v qdot ,   w_child = R^T w + S_w qdot ,

and wrenches return by the transpose. Twists and wrenches may be complex.
"""

from __future__ import annotations

from pliant.jit import inline_kernel
from pliant.spatial.rows import add_to, load3, load9, stage_row, store
from pliant.spatial.se3 import angular, join, linear
from pliant.spatial.so3 import exp
from pliant.spatial.vectors import add, apply, apply_transpose, product


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
    v1, v2, v3, w1, w2, w3 = stage_row(V, i, node)
    r1, r2, r3 = load3(pose[i], link, 9)
    a = (v1 + w2 * r3 - w3 * r2, v2 + w3 * r1 - w1 * r3, v3 + w1 * r2 - w2 * r1)
    R = load9(pose[i], link)
    return join(apply_transpose(R, a), apply_transpose(R, (w1, w2, w3)))


@inline_kernel
def add_to_parent(pose, link, wrench, F, node, i):
    """F[node] += the wrench at the child's root, moved to the parent node: the transpose of `to_child`."""
    R, (r1, r2, r3) = load9(pose[i], link), load3(pose[i], link, 9)
    a, b = apply(R, linear(wrench)), apply(R, angular(wrench))
    add_to(1.0, a, F[i], node)
    turned = (b[0] + r2 * a[2] - r3 * a[1], b[1] + r3 * a[0] - r1 * a[2], b[2] + r1 * a[1] - r2 * a[0])
    add_to(1.0, turned, F[i], node, 3)


@inline_kernel
def adjoint_to_child(pose, link, Ad, i):
    """Ad[i, link] (6 x 6), the matrix of `to_child`."""
    r1, r2, r3 = pose[i, link, 9], pose[i, link, 10], pose[i, link, 11]
    for k in range(3):
        a, b, c = pose[i, link, k], pose[i, link, 3 + k], pose[i, link, 6 + k]
        store((a, b, c, c * r2 - b * r3, a * r3 - c * r1, b * r1 - a * r2), Ad[i, link], k)
        store((0.0, 0.0, 0.0, a, b, c), Ad[i, link], 3 + k)
