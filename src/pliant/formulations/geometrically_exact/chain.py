"""The arrays of a compiled arm and their notation, shared by all kernels of this room.

An arm is a tree of links. Every link hangs on its parent by the joint of the same index, parents come
before children. A flexible link is a row of elements of one degree p; an element has p + 1 Lobatto nodes
with body twists V = (v, w) and p strain points with strains e = (gamma, kappa). A rigid link is one node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIXED, REVOLUTE, PRISMATIC = 0, 1, 2


class Tree(NamedTuple):
    """Links and joints; one row per link."""

    first_node: Ints  # root node
    last_node: Ints  # tip node; the root again for a rigid link
    first_element: Ints
    n_elements: Ints
    parent: Ints  # link on whose end the joint sits, -1: the base
    parent_node: Ints  # node on which the joint sits, -1: the base
    n_children: Ints
    kind: Ints  # FIXED, REVOLUTE, PRISMATIC
    dof: Ints  # index of the joint coordinate, -1: none
    S: Floats  # (links, 6) motion subspace in the frame of the child's root
    rotation: Floats  # (links, 9) constant pose of the joint in the parent node's frame (world if base)
    position: Floats  # (links, 3)


class Mesh(NamedTuple):
    """Elements and their polynomials."""

    start: Ints  # (elements,) first node
    length: Floats  # (elements,) rest length
    N: Floats  # (p, p+1) node polynomials at the strain points
    D: Floats  # (p, p+1) their derivatives on the unit interval
    w: Floats  # (p,) weights of the strain points
    moments: (
        Floats  # (p, p, 3) moments over each interval between nodes of a unit element, from the strain points
    )


class Section(NamedTuple):
    """Constitutive data at the strain points."""

    rest: Floats  # (points, 6) rest strain n-hat, tangent included
    C: Floats  # (points, 6, 6) stiffness
    Cd: Floats  # (points, 6, 6) Kelvin-Voigt damping
    cubic: Floats  # (points, 6) hardening
    quintic: Floats  # (points, 6)
    damped: bool
    hardening: bool


class Inertia(NamedTuple):
    """Masses and external viscous damping, lumped at the nodes; of the mixed element at its strain point."""

    M: Floats  # (nodes, 6, 6)
    viscous: Floats  # (nodes, 6, 6)
    M_point: Floats  # (points, 6, 6), only of the mixed element
    at_points: bool
    has_viscous: bool
    gravity: Floats  # (3,) world


class Chain(NamedTuple):
    """A compiled arm."""

    tree: Tree
    mesh: Mesh
    section: Section
    inertia: Inertia


class Loads(NamedTuple):
    """External wrenches: row k acts on the nodes first[k] .. last[k] with the given weights."""

    first: Ints
    last: Ints
    weight: Floats  # (loads, nodes)
    world: NDArray[np.bool_]  # given in world axes; otherwise in those of the section


class Drives(NamedTuple):
    """How each joint coordinate is driven."""

    prescribed: NDArray[np.bool_]
    free: NDArray[np.bool_]
    stiffness: Floats
    damping: Floats


class Plant(NamedTuple):
    """An arm with what acts on it."""

    chain: Chain
    loads: Loads
    drives: Drives
