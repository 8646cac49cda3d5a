"""Factorise the Newton matrix of every link in its own frame, and join the links.

(lam/h) M + G + R + Kd + (h/lam) K   with   G = -d(ad_V^T M V)/dV .
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.block_elimination import (
    EVERY,
    Factors,
    condense_element,
    eliminate_joints,
    finish_link,
    new_factors,
)
from pliant.spatial.rows import copy_to, load6
from pliant.spatial.se3 import angular, linear
from pliant.spatial.small_matrices import add_block, add_skew, set_block, times
from pliant.structures.collocation.chain import Chain, Floats, Ints
from pliant.structures.collocation.element import element_tangent, freeze
from pliant.structures.collocation.poses import set_poses
from pliant.structures.collocation.stages import between

Numbers = NDArray[np.generic]


class Frozen(NamedTuple):
    """What a factorisation is made at, and scratch to make it."""

    keep: Ints  # (c,) components of twists that may move: six, or the three of plane motion
    xi: Floats
    stress: Floats
    tangent: Floats
    damping: Floats  # Cd where there is damping, else no rows
    V: Floats
    q: Floats
    rate: Floats  # (dofs,) joint rates at which friction was last looked at
    slope: Floats  # (2, dofs) damping and stiffness of bent laws in the pivots
    B: Floats
    CB: Floats
    turned: Floats
    K: Floats
    Kd: Floats
    node: Numbers  # (nodes, 6, 6)
    point: Numbers  # (points or 0, 6, 6)
    pivot: Numbers  # (spectrum, dofs)
    gear: Numbers  # (spectrum, dofs, 2) what an elastic gear ties its rotor to the joint by, and the pivot of the rotor
    turning: Numbers  # (dofs,) scratch: right sides of rotors
    A: Numbers


def new_frozen(chain: Chain, n_lam: int, dtype: type, keep: tuple[int, ...] = EVERY) -> Frozen:
    nodes, points, dofs = len(chain.inertia.M), len(chain.section.C), chain.dofs
    size = len(keep) * chain.mesh.N.shape[1]
    z = np.zeros
    damping = chain.section.Cd if chain.section.damped else z((0, 6, 6))
    at_points = points if chain.inertia.at_points else 0
    fixed = (
        z((1, points, 6)),
        z((points, 6)),
        z((points, 6, 6)),
        damping,
        z((nodes, 6)),
        z((1, dofs)),
        z(dofs),
        z((2, dofs)),
    )
    scratch = z((6, size)), z((6, size)), z((6, size)), z((size, size)), z((size, size))
    numbers = ((nodes, 6, 6), (at_points, 6, 6), (n_lam, dofs), (n_lam, dofs, 2), (dofs,), (size, size))
    return Frozen(np.array(keep), *fixed, *scratch, *(z(shape, dtype) for shape in numbers))


def new_spectral_factors(chain: Chain, n_lam: int, dtype: type, keep: tuple[int, ...] = EVERY) -> Factors:
    """Room for one factorisation per member of the spectrum."""
    sizes = len(chain.tree.parent), len(chain.mesh.start), len(chain.inertia.M), chain.mesh.N.shape[0]
    return new_factors(n_lam, sizes, dtype, keep)


@inline_kernel
def add_kept(f, B, keep, A):
    """A (c, c) += f B (6, 6) in the components that are kept."""
    for i in range(keep.shape[0]):
        for j in range(keep.shape[0]):
            A[i, j] += f * B[keep[i], keep[j]]


@kernel
def add_gyroscopic(M, k, V, out):
    """out[k] -= derivative of ad_V^T M V."""
    y = times(M[k], V)
    v1, v2, v3, w1, w2, w3 = V[0], V[1], V[2], V[3], V[4], V[5]
    # ad_V^T y = (-w x f, -v x f - w x m), first y = M dV at fixed V, then V varied at fixed y
    for j in range(6):
        a1, a2, a3 = M[k, 0, j], M[k, 1, j], M[k, 2, j]
        b1, b2, b3 = M[k, 3, j], M[k, 4, j], M[k, 5, j]
        out[k, 0, j] += w2 * a3 - w3 * a2
        out[k, 1, j] += w3 * a1 - w1 * a3
        out[k, 2, j] += w1 * a2 - w2 * a1
        out[k, 3, j] += v2 * a3 - v3 * a2 + w2 * b3 - w3 * b2
        out[k, 4, j] += v3 * a1 - v1 * a3 + w3 * b1 - w1 * b3
        out[k, 5, j] += v1 * a2 - v2 * a1 + w1 * b2 - w2 * b1
    add_skew(out[k], 0, 3, -1.0, linear(y))  # dw x f in the force rows
    add_skew(out[k], 3, 0, -1.0, linear(y))  # dv x f and dw x m in the moment rows
    add_skew(out[k], 3, 3, -1.0, angular(y))


@inner_kernel
def set_mass_blocks(chain, frozen, per_time):
    """Diagonal blocks (lam/h) M + G + R of the nodes, and of the points of the mixed element."""
    inertia, mesh = chain.inertia, chain.mesh
    for a in range(inertia.M.shape[0]):
        set_block(inertia.viscous[a], frozen.node[a])
        add_block(per_time, inertia.M[a], frozen.node[a])
        add_gyroscopic(inertia.M, a, load6(frozen.V, a), frozen.node)
    if inertia.at_points:
        for k in range(inertia.M_point.shape[0]):
            frozen.point[k] = 0.0
            add_block(per_time, inertia.M_point[k], frozen.point[k])
            x = between(mesh.N, load6(frozen.V, mesh.start[k]), load6(frozen.V, mesh.start[k] + 1))
            add_gyroscopic(inertia.M_point, k, x, frozen.point)


@inner_kernel
def factorise_links(chain, frozen, factors, stiffness_gain, q):
    """Condense every link: blocks already in ``frozen`` plus stiffness_gain K + Kd; False if singular."""
    tree, mesh = chain.tree, chain.mesh
    nodes, keep, c = mesh.N.shape[1], frozen.keep, frozen.keep.shape[0]
    size = c * nodes
    A = frozen.A
    onto = factors.work[3]
    for link in range(tree.parent.shape[0]):
        root = tree.first_node[link]
        first = tree.first_element[link]
        last = first + tree.n_elements[link] - 1
        for element in range(last, first - 1, -1):
            element_tangent(mesh, element, frozen)
            for i in range(size):
                for j in range(size):
                    A[i, j] = stiffness_gain * frozen.K[i, j] + frozen.Kd[i, j]
            for a in range(1, nodes):
                add_kept(1.0, frozen.node[mesh.start[element] + a], keep, A[c * a :, c * a :])
            if frozen.point.shape[0] > 0:
                for a in range(2):
                    for b in range(2):
                        f = mesh.N[0, a] * mesh.N[0, b]
                        add_kept(f, frozen.point[element], keep, A[c * a :, c * b :])
            if element < last:
                # the shared node's own block was added with this element; only the rest of the next
                add_kept(1.0, onto, keep, A[size - c :, size - c :])
            if not condense_element(A, element, factors, q):
                return False
        set_block(frozen.node[root], factors.C0[q, link])
        if last >= first:
            add_block(1.0, onto, factors.C0[q, link])
            finish_link(tree, mesh.start, link, factors, q)
    return True


@kernel
def factorise(plant, spectrum, frozen, factors, stages, h):
    """Factorise all links at the strains and twists of the first stage for steps of length h; False if singular."""
    chain, drives = plant.chain, plant.drives
    freeze(chain.section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    copy_to(stages.V[0], frozen.V)
    for k in range(spectrum.lam.shape[0]):
        lam = spectrum.lam[k]
        factors.parts[k] = 1 if lam.imag == 0.0 else 2
        set_mass_blocks(chain, frozen, lam / h)
        if not factorise_links(chain, frozen, factors, h / lam, k):
            return False
        for j in range(drives.stiffness.shape[0]):
            frozen.pivot[k, j] = drives.damping[j] + drives.stiffness[j] * h / lam
        for n in range(plant.joints.active.shape[0]):
            frozen.pivot[k, plant.joints.active[n]] = np.nan  # laws have theirs from the iterate
    return True


@kernel
def join_links(plant, spectrum, state, stages, frozen, factors):
    """Eliminate the joints at the mean joint positions of the stages; False if singular.

    Pivots of joints are already in ``frozen``.
    """
    count = stages.q.shape[0]
    for j in range(frozen.q.shape[1]):
        t = 0.0
        for i in range(count):
            t += stages.q[i, j]
        frozen.q[0, j] = t / count
    tree = plant.chain.tree
    set_poses(tree, frozen.q, 0, state.turn, state.place, factors.pose)
    for k in range(spectrum.lam.shape[0]):
        if not eliminate_joints(tree, factors, plant.drives.free, frozen.pivot, k):
            return False
    return True
