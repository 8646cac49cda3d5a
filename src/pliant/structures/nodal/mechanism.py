"""The arrays of a compiled mechanism and their notation, shared by all kernels here.

A mechanism is a tree of nodes, parents before children. A node is a frame (x, R) in the world; it is attached to
its parent by an element, by a joint, rigidly, or on nothing. One rigid body rides on each node (its mass may
be zero on nodes that a joint or nothing parts from their parent). Relations between any two nodes that are not
on the tree, closed loops, springs and walls, are *lines*: scalar functions of two frames.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.joint_laws import Coordinates
from pliant.structures.relations import Lines

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class Tree(NamedTuple):
    """How the nodes are connected; one row per node."""

    parent: Ints  # -1: none (GROUND and FREE)
    joint_type: Ints
    coordinate: Ints  # joint coordinate of REVOLUTE and PRISMATIC, -1: none
    axis: Floats  # (nodes, 3) of the joint in the node's own frame
    axis_parent: Floats  # (nodes, 3) the same axis in the parent's frame
    offset: Floats  # (nodes, 3) place of the joint in the parent's frame
    turn: Floats  # (nodes, 4) quaternion from the node's frame to the parent's when the coordinate is zero
    restarts: Bools  # first of three revolutes that make a ball joint, reset at every step


class Elements(NamedTuple):
    """The element between a node and its parent; rows of other nodes are unused."""

    kind: int
    couples: bool  # whether there is a kinetic energy of two nodes together
    length: Floats  # (nodes,)
    rest: Floats  # (nodes, 6) deformation at rest over length; of pose elements log(g_a^-1 g_b) / length
    K: Floats  # (nodes, 6, 6) stiffness; of pose elements that of the section
    C: Floats  # (nodes, 6, 6) Kelvin-Voigt damping
    shared: (
        Floats  # (nodes, 4) mass between both nodes, and that of the directors x, y, z times their square (coupling)
    )


class Bodies(NamedTuple):
    """Rigid bodies and external viscous damping on the nodes."""

    mass: Floats  # (nodes,)
    center: Floats  # (nodes, 3) centre of mass in the node's frame
    J: Floats  # (nodes, 9) inertia about the centre of mass, node axes
    viscous: Floats  # (nodes, 6) force per velocity and torque per spin, node axes
    gravity: Floats  # (3,) world
    gripped: Ints  # (grips,) nodes with dry friction against the world
    grip: Floats  # (grips, 2, 4) against speed, against spin: Coulomb, static, Stribeck rate, smoothing rate
    drag: Floats  # (grips, 6) the viscous part of each


class Wrenches(NamedTuple):
    """External wrenches: load ``load[k]`` times ``weight[k]`` on a point of a node."""

    load: Ints
    node: Ints
    point: Floats  # (rows, 3)
    weight: Floats
    world: Bools  # keeps its direction; otherwise it turns with the node ``axes``
    axes: Ints


class Mechanism(NamedTuple):
    """A compiled mechanism with what acts on it."""

    tree: Tree
    elements: Elements
    bodies: Bodies
    coordinates: Coordinates
    lines: Lines
    wrenches: Wrenches

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Nodes, joint coordinates and lines."""
        return len(self.tree.parent), len(self.coordinates.spring), len(self.lines.law)

    @property
    def loads(self) -> int:
        return int(self.wrenches.load.max(initial=-1)) + 1


class Pose(NamedTuple):
    """The state of a mechanism."""

    x: Floats  # (nodes, 3)
    x_low: Floats  # (nodes, 3) what x lost to rounding
    quaternion: Floats  # (nodes, 4)
    v: Floats  # (nodes, 3) velocity of the centre of mass of the body, world
    w: Floats  # (nodes, 3) spin, body axes
    q: Floats  # joint coordinates
    qd: Floats
    motor: Floats  # (coordinates, 2) rotor angle and rate, joint side
