"""The arrays of a compiled arm and their notation, shared by all kernels of this structure.

An arm is a tree of links. Every link is attached to its parent by the joint of the same index, parents come
before children. A flexible link is a row of elements of one degree p; an element has p + 1 Lobatto nodes
with body twists V = (v, w) and p strain points with strains e = (gamma, kappa). A rigid link is one node, and so is
what lies between two coordinates of one joint: a link without mass or length. Kernels call all of them links.

States and stages of a step as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.joint_laws import Coordinates
from pliant.mechanics.shape_functions import gauss_rule, lagrange_basis, lobatto_rule
from pliant.structures.bundles import zeros_of

if TYPE_CHECKING:
    from pliant.structures.collocation.relations import Relations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# how a link is placed against its parent; a ball and a floating joint place their first link by a rotation, or a pose,
# of their own, the rest of their three or six links ride on it; a moved base follows a table
FIXED, REVOLUTE, PRISMATIC, RIDER, BALL, FLOATING, MOVED = range(7)


class Tree(NamedTuple):
    """Links and joints; one row per link."""

    first_node: Ints  # root node
    last_node: Ints  # tip node; the root again for a rigid link
    first_element: Ints
    n_elements: Ints
    parent: Ints  # link on whose end the joint sits, -1: the base
    parent_node: Ints  # node on which the joint sits, -1: the base
    n_children: Ints
    kind: Ints  # FIXED ... MOVED
    dof: Ints  # index of the joint coordinate, -1: none
    S: Floats  # (links, 6) motion subspace in the frame of the child's root
    rotation: Floats  # (links, 9) constant pose of the joint in the parent node's frame (world if base)
    position: Floats  # (links, 3)
    frame: Ints  # which rotation of the state places a BALL, FLOATING or MOVED link, -1: none


class Mesh(NamedTuple):
    """Elements and their polynomials."""

    start: Ints  # (elements,) first node
    length: Floats  # (elements,) rest length
    N: Floats  # (p, p+1) node polynomials at the strain points
    D: Floats  # (p, p+1) their derivatives on the unit interval
    w: Floats  # (p,) weights of the strain points
    moments: Floats  # (p, p, 3) over each interval between nodes of a unit element, from the strain points


class Section(NamedTuple):
    """Constitutive data at the strain points."""

    rest: Floats  # (points, 6) rest strain n-hat, tangent included
    C: Floats  # (points, 6, 6) stiffness
    Cd: Floats  # (points, 6, 6) Kelvin-Voigt damping
    cubic: Floats  # (points, 6) hardening
    quintic: Floats  # (points, 6)
    damped: bool
    hardening: bool
    plain: Bools  # (points,) C and Cd are diagonal


class Inertia(NamedTuple):
    """Masses and external viscous damping, lumped at the nodes; of the mixed element at its strain point."""

    M: Floats  # (nodes, 6, 6)
    viscous: Floats  # (nodes, 6, 6)
    M_point: Floats  # (points, 6, 6), only of the mixed element
    at_points: bool
    has_viscous: bool
    gravity: Floats  # (3,) world
    plain: Bools  # (nodes,) M is diagonal


class Chain(NamedTuple):
    """A compiled arm."""

    tree: Tree
    mesh: Mesh
    section: Section
    inertia: Inertia

    @property
    def dofs(self) -> int:
        """Coordinates of all joints, also of those that have no names."""
        return max(self.tree.dof.tolist(), default=-1) + 1  # of few links sooner found than by max()

    @property
    def frames(self) -> int:
        """Rotations that are states."""
        return max(self.tree.frame.tolist(), default=-1) + 1


class Loads(NamedTuple):
    """External wrenches: row k acts on the nodes first[k] .. last[k] with the given weights."""

    first: Ints
    last: Ints
    weight: Floats  # (loads, nodes)
    world: NDArray[np.bool_]  # given in world axes; otherwise in those of the section
    lever: Floats  # (loads, 3) from the node to the point at which a load in world axes acts, node axes
    ball: Ints  # first coordinate of the ball joint that a load drives by a moment in the axes of its child, -1: none


class Drives(NamedTuple):
    """How each joint coordinate is driven."""

    prescribed: NDArray[np.bool_]  # (dofs,)
    free: NDArray[np.bool_]  # (dofs,)
    stiffness: Floats  # of the coordinates that have names; those of floating joints come behind them and have none
    damping: Floats


class Joints(NamedTuple):
    """Laws and motors of the joint coordinates."""

    active: Ints  # coordinates that obey a law or have a motor
    bent: Ints  # free ones of them whose law bends: with friction or stops, but for the spin of ball joints
    link: Ints  # (dofs,) which link each coordinate moves
    inertia: Floats  # (dofs,) of the rotor behind a rigid gear
    laws: Coordinates


class Plant(NamedTuple):
    """An arm with what acts on it."""

    chain: Chain
    loads: Loads
    drives: Drives  # those of coordinates with a motor are among the laws
    joints: Joints
    relations: Relations


def diagonal(blocks: Floats) -> Bools:
    """Which of the blocks (n, 6, 6) are diagonal."""
    return np.asarray(~(blocks * ~np.eye(6, dtype=np.bool_)).any(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class Points:
    """The polynomials of an element on [0, 1]: nodes, strain points and where the mass sits."""

    nodes: Floats
    node_weights: Floats
    strain_points: Floats
    strain_weights: Floats
    mass_at_points: bool

    @staticmethod
    @cache
    def spectral(degree: int) -> Points:
        return Points(*lobatto_rule(degree), *gauss_rule(degree), False)

    @staticmethod
    def mixed(alpha: float) -> Points:
        """One strain point at xi = alpha, so that V there is (1 - alpha) V_a + alpha V_b."""
        ends, halves = lobatto_rule(1)
        return Points(ends, halves, np.array([alpha]), np.ones(1), True)

    @property
    def degree(self) -> int:
        return len(self.strain_points)

    @cached_property
    def _tables(self) -> tuple[Floats, Floats, Floats, Floats]:
        moments = np.array([self.moments(*mark) for mark in zip(self.nodes, np.diff(self.nodes))])
        return *lagrange_basis(self.nodes, self.strain_points), self.strain_weights, moments

    def mesh(self, start: list[int], length: list[float]) -> Mesh:
        starts, lengths = np.array(start, dtype=np.int64), np.array(length, dtype=float)
        return Mesh(starts, lengths, *(table.copy() for table in self._tables))

    @lru_cache(4096)  # noqa: B019 - few points live, and for long
    def moments(self, start: float, width: float) -> Floats:
        """Weights (p, 3) of the strains in the moments of a stretch of the unit interval, for steps after Magnus.

        They are h a, h b and h c of the quadratic  a + b s + c s^2 ,  s from -1/2 to 1/2, that is next to the strain
        on a stretch of width h [blanes2009]. Integral and first moment of the strain are those of the quadratic, so
        that small deflections are exact for polynomials of any degree.
        """
        x, weights = gauss_rule((self.degree + 3) // 2)
        values, s = lagrange_basis(self.strain_points, start + width * x)[0], x - 0.5
        b, c = 12.0 * (weights * s) @ values, 180.0 * (weights * (s * s - 1.0 / 12.0)) @ values
        return np.ascontiguousarray(width * np.array([weights @ values - c / 12.0, b, c]).T)


@dataclass(frozen=True, eq=False)
class Stationing:
    """Where the nodes and strain points of each link lie along its axis (empty for a rigid link)."""

    ends: tuple[Floats, ...]
    nodes: tuple[Floats, ...]
    points: tuple[Floats, ...]
    links: tuple[int, ...]  # which of them are the links of the robot, in the order of its chain


class State(NamedTuple):
    """The state at the start of a step, and its rate of change where the method carries one."""

    V: Floats  # (nodes, 6) body twists
    e: Floats  # (points, 6) strains
    q: Floats  # (dofs,) joint positions
    qd: Floats  # (dofs,) joint rates
    V_rate: Floats
    e_rate: Floats
    q_rate: Floats
    turn: Floats  # (frames, 4) rotations of ball and floating joints and of a moved base
    place: Floats  # (frames, 3) and positions
    rotor: Floats  # (dofs, 2) angle and rate behind elastic gears
    rotor_rate: Floats  # (dofs, 2) their rates; behind a rigid gear the second is the acceleration of the joint


class Stages(NamedTuple):
    """Iterates and residuals; the first index counts the stages."""

    dV: Floats  # (s, nodes, 6) from the start of the step: the unknowns, small and so without rounding of V
    de: Floats  # (s, points, 6)
    V: Floats
    e: Floats
    q: Floats
    qd: Floats
    pose: Floats  # (s, links, 12) child root in parent node
    R: Floats  # (s, nodes, 9)
    R_point: Floats  # (s, points or 0, 9)
    g: Floats  # (s, nodes, 3) gravity in the axes of the nodes
    xi: Floats  # (s, points, 6) total strain, rest shape included
    rate: Floats  # (s, points, 6) B V
    stress: Floats  # (s, points, 6) elastic part
    total: Floats  # (s, points, 6) elastic and viscous stress
    V_dot: Floats  # (s, nodes, 6)
    e_dot: Floats  # (s, points, 6)
    rho: Floats  # (s, nodes, 6)
    rho_e: Floats  # (s, points, 6)
    rho_q: Floats  # (s, dofs)
    root: Floats  # (s, links, 6) residual of each root before it was passed on
    torque: Floats  # (s, dofs) of drives and laws
    law: Floats  # (s, dofs) of laws and motors beside the plain drives
    r: Floats  # (s, dofs) angles of rotors behind elastic gears
    rd: Floats  # (s, dofs) their rates
    spin_up: Floats  # (s, dofs) accelerations of rotors
    rho_r: Floats  # (s, dofs) what is left of their balance
    base: Floats  # (s, 6) twist of a moved base
    before: Floats  # (s, dofs) joint rates before the last increment
    damper: Floats  # (s, dofs) slopes of bent laws in the rates, over what the pivots have of them
    spring: Floats  # (s, dofs) the same in the positions


class Method(NamedTuple):
    """The tables of a StageMethod."""

    A: Floats
    S: Floats
    b: Floats
    update: Floats
    history: float
    rate_gain: float
    extrapolation: Floats
    average_values: Floats
    average_weights: Floats
    dissipation: Floats  # (s,) weights of the increments in what a damped method takes
    damped: bool


def new_state(chain: Chain) -> State:
    n, p, dofs, frames = chain.inertia.M.shape[:2], chain.section.rest.shape, chain.dofs, chain.frames
    return zeros_of(State, n, p, dofs, dofs, n, p, dofs, (frames, 4), (frames, 3), (dofs, 2), (dofs, 2))


def new_stages(stages: int, chain: Chain) -> Stages:
    links, nodes, points, dofs = len(chain.tree.parent), len(chain.inertia.M), len(chain.section.C), chain.dofs
    at_points = chain.inertia.at_points
    at_node, at_point, joints = (nodes, 6), (points, 6), (dofs,)
    values = (at_node, at_point, at_node, at_point, joints, joints, (links, 12))
    axes = ((nodes, 9), (points if at_points else 0, 9), (nodes, 3))
    residuals = (
        *4 * (at_point,),
        at_node,
        at_point,
        at_node,
        at_point,
        joints,
        (links, 6),
        *6 * (joints,),
        (6,),
        *3 * (joints,),
    )
    return zeros_of(Stages, *((stages, *shape) for shape in (*values, *axes, *residuals)))


def on_moved_base(chain: Chain, placed: Stationing, R: Floats, r: Floats) -> tuple[Chain, Stationing]:
    """The same behind one more link without mass, a base at the pose (R, r) that a table is to move."""
    tree, mesh, section, inertia = chain

    def behind(value: int, numbers: Ints, step: int = 1) -> Ints:
        return np.append(value, numbers + step)

    rotation, position = tree.rotation.copy(), tree.position.copy()
    on_base = (tree.parent < 0) & (tree.kind != FLOATING)  # a free link stands on the world
    rotation[on_base] = (R.T @ rotation[on_base].reshape(-1, 3, 3)).reshape(-1, 9)
    position[on_base] = (position[on_base] - r) @ R
    moved = Tree(
        first_node=behind(0, tree.first_node),
        last_node=behind(0, tree.last_node),
        first_element=behind(0, tree.first_element, 0),
        n_elements=behind(0, tree.n_elements, 0),
        parent=np.append(-1, np.where(tree.parent < 0, np.where(on_base, 0, -1), tree.parent + 1)),
        parent_node=np.append(-1, np.where(tree.parent < 0, np.where(on_base, 0, -1), tree.parent_node + 1)),
        n_children=behind(int(on_base.sum()), tree.n_children, 0),
        kind=behind(MOVED, tree.kind, 0),
        dof=behind(-1, tree.dof, 0),
        S=np.concatenate([np.zeros((1, 6)), tree.S]),
        rotation=np.concatenate([np.eye(3).reshape(1, 9), rotation]),
        position=np.concatenate([np.zeros((1, 3)), position]),
        frame=np.append(0, np.where(tree.frame >= 0, tree.frame + 1, -1)),
    )
    none, nothing = np.zeros((1, 6, 6)), (np.zeros(0),)
    M, viscous = (np.concatenate([none, each]) for each in (inertia.M, inertia.viscous))
    inertia = inertia._replace(M=M, viscous=viscous, plain=np.append(True, inertia.plain))
    stations = Stationing(
        nothing + placed.ends, nothing + placed.nodes, nothing + placed.points, tuple(k + 1 for k in placed.links)
    )
    return Chain(moved, mesh._replace(start=mesh.start + 1), section, inertia), stations
