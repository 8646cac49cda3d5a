"""Return the two sides of every joint to equal velocity at the end of a step.

Collocation ties child roots to their parents at the stages; at the end of a step they differ by the error
of the step's polynomial. The change of least kinetic energy removes that (projected collocation keeps the
full order, [ascher1991]). Its loss, dV.M dV / 2 >= 0, is booked; so is the work of prescribed joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.chain import FIXED, Floats
from pliant.formulations.geometrically_exact.element import product, row, stage_row
from pliant.formulations.geometrically_exact.stages import interpolate, set_root_twist
from pliant.jit import inline_kernel
from pliant.mechanics.joint_kinematics import add_to_parent, adjoint_to_child, dot6, dot_row
from pliant.spatial.small_matrices import multiply, multiply_transposed, solve_symmetric, times


class Projection(NamedTuple):
    """Scratch; mass and momentum rows belong to nodes, the rest to links."""

    V: Floats  # (nodes, 6) velocities before
    mass: Floats  # (nodes, 6, 6) own mass and what the children add
    momentum: Floats  # (1, nodes, 6)
    Ad: Floats  # (1, links, 6, 6)
    impulse: Floats  # (1, nodes, 6)
    work: Floats  # (3, 6, 6)


def new_projection(links: int, nodes: int) -> Projection:
    z = np.zeros
    return Projection(
        z((nodes, 6)), z((nodes, 6, 6)), z((1, nodes, 6)), z((1, links, 6, 6)), z((1, nodes, 6)), z((3, 6, 6))
    )


@inline_kernel
def joint_rate(tree, drives, link, mass, V, qd):
    """The rate of a joint that takes least kinetic energy from its child root, whose relative velocity is V."""
    dof = tree.dof[link]
    if dof < 0:
        return 0.0
    if drives.prescribed[dof]:
        return qd[dof]
    S = row(tree.S, link)
    MS = product(mass, tree.first_node[link], S)
    inertia = dot6(MS, S)
    if inertia > 0.0:
        return dot6(MS, V) / inertia
    return dot6(V, S) / dot6(S, S)


@inline_kernel
def settle(mass, momentum, node, V, a):
    """V[node] = mass^-1 momentum."""
    x = V[0, node]
    for i in range(6):
        x[i] = momentum[0, node, i]
        for j in range(6):
            a[i, j] = mass[node, i, j]
    solve_symmetric(a, x)


@inline_kernel
def follow(tree, drives, pose, link, mass, V, qd):
    """Root velocity of a link and its free joint rate from the parent node's velocity."""
    root = tree.first_node[link]
    dof = tree.dof[link]
    target = stage_row(V, 0, root)
    set_root_twist(tree, pose, link, 0.0, V, 0)
    x = stage_row(V, 0, root)
    d = (
        target[0] - x[0],
        target[1] - x[1],
        target[2] - x[2],
        target[3] - x[3],
        target[4] - x[4],
        target[5] - x[5],
    )
    rate = joint_rate(tree, drives, link, mass, d, qd)
    if dof >= 0:
        qd[dof] = rate
    for i in range(6):
        V[0, root, i] = x[i] + tree.S[link, i] * rate


@inline_kernel
def inform_parent(tree, drives, pose, link, V, qd, scratch):
    """Add the mass and momentum behind a joint to the parent node."""
    mass = scratch.mass
    a, b, c = scratch.work[0], scratch.work[1], scratch.work[2]
    parent = tree.parent_node[link]
    root = tree.first_node[link]
    dof = tree.dof[link]
    adjoint_to_child(pose, link, scratch.Ad, 0)
    Ad = scratch.Ad[0, link]
    S = row(tree.S, link)
    x = stage_row(V, 0, root)
    for i in range(6):
        for j in range(6):
            a[i, j] = mass[root, i, j]
    if dof >= 0:
        if drives.prescribed[dof]:
            r = qd[dof]
            x = (
                x[0] - S[0] * r,
                x[1] - S[1] * r,
                x[2] - S[2] * r,
                x[3] - S[3] * r,
                x[4] - S[4] * r,
                x[5] - S[5] * r,
            )
        else:
            MS = product(mass, root, S)
            f = 1.0 / dot6(MS, S)
            for i in range(6):
                for j in range(6):
                    a[i, j] -= f * MS[i] * MS[j]
    add_to_parent(pose, link, times(a, x), scratch.momentum, parent, 0)
    multiply(a, Ad, b)
    multiply_transposed(Ad, b, c)
    for i in range(6):
        for j in range(6):
            mass[parent, i, j] += c[i, j]


@inline_kernel
def remember(M, V, n, scratch):
    """Velocity, mass and momentum of an end node before the change."""
    x = product(M, n, stage_row(V, 0, n))
    for i in range(6):
        scratch.V[n, i] = V[0, n, i]
        scratch.momentum[0, n, i] = x[i]
        for j in range(6):
            scratch.mass[n, i, j] = M[n, i, j]


@inline_kernel
def take_impulse(M, V, n, scratch):
    """Impulse that changed the velocity of an end node; returns the kinetic energy of the change."""
    d = (
        V[0, n, 0] - scratch.V[n, 0],
        V[0, n, 1] - scratch.V[n, 1],
        V[0, n, 2] - scratch.V[n, 2],
        V[0, n, 3] - scratch.V[n, 3],
        V[0, n, 4] - scratch.V[n, 4],
        V[0, n, 5] - scratch.V[n, 5],
    )
    x = product(M, n, d)
    for i in range(6):
        scratch.impulse[0, n, i] = x[i]
    return 0.5 * dot6(x, d)


@inline_kernel
def point_energy_change(chain, element, V, scratch):
    """Change of kinetic energy of a mixed element's mass when its first node took a prescribed velocity."""
    mesh, M = chain.mesh, chain.inertia.M_point
    root = mesh.start[element]
    after = interpolate(mesh.N, V, 0, root)
    f = mesh.N[0, 0]
    before = (
        after[0] - f * (V[0, root, 0] - scratch.V[root, 0]),
        after[1] - f * (V[0, root, 1] - scratch.V[root, 1]),
        after[2] - f * (V[0, root, 2] - scratch.V[root, 2]),
        after[3] - f * (V[0, root, 3] - scratch.V[root, 3]),
        after[4] - f * (V[0, root, 4] - scratch.V[root, 4]),
        after[5] - f * (V[0, root, 5] - scratch.V[root, 5]),
    )
    return 0.5 * (dot6(after, product(M, element, after)) - dot6(before, product(M, element, before)))


@inline_kernel
def project(plant, pose, V, qd, joint_work, scratch):
    """Make V (1, nodes, 6) and the free rates consistent; returns the loss, adds the drives' work to joint_work."""
    tree, M, drives = plant.chain.tree, plant.chain.inertia.M, plant.drives
    links = tree.parent.shape[0]
    mass, momentum, impulse = scratch.mass, scratch.momentum, scratch.impulse
    a = scratch.work[0]
    for link in range(links):
        remember(M, V, tree.first_node[link], scratch)
        remember(M, V, tree.last_node[link], scratch)
    # children first: each parent node learns the mass and momentum behind its joints
    for link in range(links - 1, -1, -1):
        root = tree.first_node[link]
        flexible = tree.n_elements[link] > 0
        if not flexible and tree.n_children[link] > 0:
            settle(mass, momentum, root, V, a)
        # nothing to tell the base; a flexible link fixed to its parent has no mass at its root
        if tree.parent[link] >= 0 and not (flexible and tree.kind[link] == FIXED):
            inform_parent(tree, drives, pose, link, V, qd, scratch)
    # parents first: roots follow their parent and joint, tips settle
    for link in range(links):
        follow(tree, drives, pose, link, mass, V, qd)
        tip = tree.last_node[link]
        if tree.n_children[link] > 0 and tip != tree.first_node[link]:
            settle(mass, momentum, tip, V, a)
    loss = 0.0
    for link in range(links):
        loss += take_impulse(M, V, tree.first_node[link], scratch)
        if tree.last_node[link] != tree.first_node[link]:
            loss += take_impulse(M, V, tree.last_node[link], scratch)
    for link in range(links - 1, -1, -1):
        x = stage_row(impulse, 0, tree.first_node[link])
        dof = tree.dof[link]
        if dof >= 0 and drives.prescribed[dof]:
            joint_work[dof] += dot_row(x, tree.S, link) * qd[dof]
            if plant.chain.inertia.at_points and tree.n_elements[link] > 0:
                joint_work[dof] += point_energy_change(plant.chain, tree.first_element[link], V, scratch)
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, impulse, tree.parent_node[link], 0)
    return loss
