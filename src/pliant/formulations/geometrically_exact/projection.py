"""Return the two sides of every joint to equal velocity at the end of a step.

Collocation ties child roots to their parents at the stages; at the end of a step they differ by the error
of the step's polynomial. The change of least kinetic energy removes that (projected collocation keeps the
full order, [ascher1991]). Its loss, dV.M dV / 2 >= 0, is booked; so is the work of prescribed joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.chain import FIXED, Floats
from pliant.formulations.geometrically_exact.element import product, row
from pliant.formulations.geometrically_exact.stages import set_root_twist
from pliant.jit import kernel
from pliant.mechanics.block_elimination import invert, product6, times
from pliant.mechanics.joint_kinematics import add_to_parent, adjoint_to_child, dot6


class Projection(NamedTuple):
    """Scratch; mass and momentum rows belong to nodes, the rest to links."""

    V: Floats  # (nodes, 6) velocities before
    mass: Floats  # (nodes, 6, 6) own mass and what the children add
    momentum: Floats  # (nodes, 6)
    Ad: Floats  # (links, 6, 6)
    impulse: Floats  # (nodes, 6)
    work: Floats  # (3, 6, 6)


def new_projection(links: int, nodes: int) -> Projection:
    z = np.zeros
    return Projection(
        z((nodes, 6)), z((nodes, 6, 6)), z((nodes, 6)), z((links, 6, 6)), z((nodes, 6)), z((3, 6, 6))
    )


@kernel
def joint_target(tree, drives, link, mass, V, qd):
    """The rate of a joint that takes least kinetic energy from its child root, whose velocity is V."""
    S = tree.S[link]
    dof = tree.dof[link]
    if dof < 0:
        return 0.0
    if drives.prescribed[dof]:
        return qd[dof]
    MS = times(mass, (S[0], S[1], S[2], S[3], S[4], S[5]))
    inertia = dot6(MS, S)
    if inertia > 0.0:
        return dot6(MS, V) / inertia
    return dot6(V, S) / dot6(S, S)


@kernel
def project(tree, M, drives, pose, V, qd, joint_work, scratch):
    """Make V and the free rates qd consistent; returns the loss and adds the drives' work to joint_work."""
    links = tree.parent.shape[0]
    mass, momentum, impulse = scratch.mass, scratch.momentum, scratch.impulse
    a, b, c = scratch.work[0], scratch.work[1], scratch.work[2]
    for n in range(V.shape[0]):
        x = product(M, n, row(V, n))
        for i in range(6):
            scratch.V[n, i] = V[n, i]
            momentum[n, i] = x[i]
            impulse[n, i] = 0.0
            for j in range(6):
                mass[n, i, j] = M[n, i, j]
    # children first: each parent node learns the mass and momentum behind its joints
    for link in range(links - 1, -1, -1):
        parent = tree.parent_node[link]
        root = tree.first_node[link]
        flexible = tree.n_elements[link] > 0
        if not flexible and tree.n_children[link] > 0:
            settle(mass, momentum, root, V, a, b)
        if parent < 0 or (flexible and tree.kind[link] == FIXED):
            continue  # on the base, or without mass of its own
        adjoint_to_child(pose, link, scratch.Ad)
        Ad = scratch.Ad[link]
        S = tree.S[link]
        dof = tree.dof[link]
        m = mass[root]
        x = row(V, root)
        for i in range(6):
            for j in range(6):
                a[i, j] = m[i, j]
        if dof >= 0:
            if drives.prescribed[dof]:
                r = qd[dof]
                x = (x[0] - S[0] * r, x[1] - S[1] * r, x[2] - S[2] * r, x[3] - S[3] * r, x[4] - S[4] * r, x[5] - S[5] * r)
            else:
                MS = times(m, (S[0], S[1], S[2], S[3], S[4], S[5]))
                f = 1.0 / dot6(MS, S)
                for i in range(6):
                    for j in range(6):
                        a[i, j] -= f * MS[i] * MS[j]
        add_to_parent(pose, link, times(a, x), momentum, parent)
        product6(a, Ad, b)
        for i in range(6):
            for j in range(6):
                t = 0.0
                for k in range(6):
                    t += Ad[k, i] * b[k, j]
                c[i, j] = t
        for i in range(6):
            for j in range(6):
                mass[parent, i, j] += c[i, j]
    # parents first: tips settle, roots follow their parent and joint
    for link in range(links):
        root, tip = tree.first_node[link], tree.last_node[link]
        follow(tree, drives, pose, link, mass, V, qd)
        if tree.n_children[link] > 0 and tip != root:
            settle(mass, momentum, tip, V, a, b)
    loss = 0.0
    for n in range(V.shape[0]):
        d = (
            V[n, 0] - scratch.V[n, 0],
            V[n, 1] - scratch.V[n, 1],
            V[n, 2] - scratch.V[n, 2],
            V[n, 3] - scratch.V[n, 3],
            V[n, 4] - scratch.V[n, 4],
            V[n, 5] - scratch.V[n, 5],
        )
        x = product(M, n, d)
        loss += 0.5 * dot6(x, d)
        for i in range(6):
            impulse[n, i] = x[i]
    for link in range(links - 1, -1, -1):
        x = row(impulse, tree.first_node[link])
        dof = tree.dof[link]
        if dof >= 0 and drives.prescribed[dof]:
            joint_work[dof] += dot6(x, tree.S[link]) * qd[dof]
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, impulse, tree.parent_node[link])
    return loss


@kernel
def settle(mass, momentum, node, V, a, b):
    """V[node] = mass^-1 momentum."""
    for i in range(6):
        for j in range(6):
            a[i, j] = mass[node, i, j]
    invert(a, 6, b)
    x = times(b, row(momentum, node))
    for i in range(6):
        V[node, i] = x[i]


@kernel
def follow(tree, drives, pose, link, mass, V, qd):
    """Root velocity of a link and its free joint rate from the parent node's velocity."""
    root = tree.first_node[link]
    dof = tree.dof[link]
    target = row(V, root)
    set_root_twist(tree, pose, link, 0.0, V)
    x = row(V, root)
    d = (target[0] - x[0], target[1] - x[1], target[2] - x[2], target[3] - x[3], target[4] - x[4], target[5] - x[5])
    rate = joint_target(tree, drives, link, mass[root], d, qd)
    if dof >= 0:
        qd[dof] = rate
    for i in range(6):
        V[root, i] = x[i] + tree.S[link, i] * rate
