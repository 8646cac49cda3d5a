"""The balance of a mechanism at one instant of its motion, in real or complex numbers.

A node moves against its parent by the relative twist rho. Seen in its own frame,

    V = A V_parent + rho ,   V' = A V_parent' - bracket(rho) A V_parent + rho' ,

and the wrenches that the nodes lack, r = M V' - bracket(V)^T M V - gravity - loads + drag + lines, are gathered from
the leaves to the root by A^T. What is left along the motions of a joint or an element is its residual. All forces are
those of a step that takes no time. An imaginary part of the given numbers, however small, carries the exact derivative
along it through all of them: so mass, damping, stiffness and constraints follow from this one balance, and relative
motions keep their digits beside stiff links, since rigid motions strain nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, kernel
from pliant.spatial.arrays import STEP, pose_from_twist
from pliant.spatial.se3 import Twist, ad, ad_transpose, join
from pliant.spatial.vectors import Matrix, Vector, add, apply, apply_transpose, cross, dot, product, scale, skew
from pliant.structures.nodal.balance import wrench_on
from pliant.structures.nodal.element import instant_wrench
from pliant.structures.nodal.joint_laws import GEAR_STIFFNESS, NO_TIME, ROTOR, along_spin, instant_effort
from pliant.structures.nodal.mechanism import CLOSED, ELEMENT, Bodies, Floats, Ints, Lines, Mechanism, Tree
from pliant.structures.nodal.motion import Moment, Step, new_moment, new_step
from pliant.structures.nodal.relations import line_gradients, measure_lines, spring_impulses
from pliant.structures.nodal.rows import add_six, add_to, dot_six, matrix, put, put_matrix, put_six, six, vector

Numbers = NDArray[Any]

BY_PLACE, BY_RATE, BY_ACCELERATION = 0, 1, 2  # what a direction changes


class Flow(NamedTuple):
    """A motion, given by relative poses and twists, and what follows from it."""

    r: Numbers  # (nodes, 3) place in the parent's frame, or in the world
    turn: Numbers  # (nodes, 9) rotation to the parent's frame, or to the world
    rho: Numbers  # (nodes, 6) twist against the parent, own frame
    rho_dot: Numbers  # (nodes, 6) its derivative
    q: Numbers  # (coordinates,)
    qd: Numbers  # (coordinates,)
    qdd: Numbers  # (coordinates,)
    rotor: Numbers  # (coordinates, 3) angle, rate and acceleration
    pull: Numbers  # (lines,) forces of closed lines
    target: Numbers  # (coordinates, 3)
    load: Numbers  # (loads, 6)
    at: Moment
    step: Step  # of no time, for the lines
    V: Numbers  # (nodes, 6)
    V_dot: Numbers  # (nodes, 6)
    wrench: Numbers  # (nodes, 6) what nodes and all that they carry lack
    effort: Numbers  # (coordinates, 2) on coordinates and on rotors of elastic gears
    force: Numbers  # (lines,)
    rate: Numbers  # (lines,)


class Unknowns(NamedTuple):
    """Relative motions, one row each; a ball joint has its three at its last node. Then rotors of elastic gears."""

    node: Ints  # -1: a rotor
    direction: Floats  # (unknowns, 6) in the node's frame
    coordinate: Ints  # of a joint or rotor, -1: none


class Derivatives(NamedTuple):
    """Of everything that linearisation asks for, one column per unknown."""

    residual: Floats  # (unknowns, unknowns)
    phi: Floats  # (lines, unknowns)
    rate: Floats  # (lines, unknowns)
    twist: Floats  # (nodes, 6, unknowns)


@kernel
def place_nodes(tree: Tree, flow: Flow) -> None:
    """Poses, twists and their derivatives from the root to the leaves."""
    for i in range(tree.parent.shape[0]):
        p, rho = tree.parent[i], six(flow.rho, i)
        r, Q = vector(flow.r, i, 0), matrix(flow.turn, i)
        if p < 0:
            put(flow.at.x, i, 0, r)
            put_matrix(flow.at.R, i, Q)
            put_six(flow.V, i, rho)
            put_six(flow.V_dot, i, six(flow.rho_dot, i))
            continue
        R = matrix(flow.at.R, p)
        put(flow.at.x, i, 0, add(vector(flow.at.x, p, 0), apply(R, r)))
        put_matrix(flow.at.R, i, product(R, Q))
        carried = seen_by_child(r, Q, six(flow.V, p))
        put_six(flow.V, i, carried)
        add_six(flow.V, i, 1.0, rho)
        put_six(flow.V_dot, i, seen_by_child(r, Q, six(flow.V_dot, p)))
        add_six(flow.V_dot, i, -1.0, ad(rho, carried))
        add_six(flow.V_dot, i, 1.0, six(flow.rho_dot, i))


@inline_kernel
def seen_by_child(r: Vector, Q: Matrix, twist: Twist) -> Twist:
    """A twist of the parent in the frame of a child at the pose (r, Q)."""
    w = (twist[3], twist[4], twist[5])
    v = add((twist[0], twist[1], twist[2]), cross(w, r))
    return join(apply_transpose(Q, v), apply_transpose(Q, w))


@inline_kernel
def momentum(bodies: Bodies, i: int, twist: Twist) -> Twist:
    """M times a twist of node i."""
    w, c = (twist[3], twist[4], twist[5]), vector(bodies.center, i, 0)
    p = scale(bodies.mass[i], add((twist[0], twist[1], twist[2]), cross(w, c)))
    return join(p, add(apply(matrix(bodies.J, i), w), cross(c, p)))


@inline_kernel
def lacking(mechanism: Mechanism, flow: Flow) -> None:
    """Inertia, gravity, drag and loads of every node."""
    bodies, wrenches = mechanism.bodies, mechanism.wrenches
    g = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    for i in range(bodies.mass.shape[0]):
        V, weight = six(flow.V, i), scale(bodies.mass[i], apply_transpose(matrix(flow.at.R, i), g))
        put_six(flow.wrench, i, momentum(bodies, i, six(flow.V_dot, i)))
        add_six(flow.wrench, i, -1.0, ad_transpose(V, momentum(bodies, i, V)))
        add_six(flow.wrench, i, -1.0, join(weight, cross(vector(bodies.center, i, 0), weight)))
        if bodies.viscous[i, 0] >= 0.0:
            for k in range(6):
                flow.wrench[i, k] += bodies.viscous[i, k] * flow.V[i, k]
    for n in range(bodies.gripped.shape[0]):
        i = bodies.gripped[n]
        for k in range(6):
            part = 3 * (k // 3)
            flow.wrench[i, k] += along_spin(bodies.grip[n, k // 3], vector(flow.V, i, part), flow.V[i, k])[0]
    for n in range(wrenches.load.shape[0]):
        i = wrenches.node[n]
        force, torque = wrench_on(wrenches, n, flow.load, flow.at.R)
        add_world(flow, i, -1.0, force, torque)


@inline_kernel
def add_world(flow: Flow, i: int, factor: float, force: Vector, torque: Vector) -> None:
    """Add a wrench given in the world to that of a node."""
    R = matrix(flow.at.R, i)
    add_to(flow.wrench, i, 0, factor, apply_transpose(R, force))
    add_to(flow.wrench, i, 3, factor, apply_transpose(R, torque))


@kernel
def measure_instant(lines: Lines, flow: Flow) -> None:
    """Values, gradients and rates of the lines for poses and twists at hand."""
    at, gradient = flow.at, flow.step.gradient
    # a second time from the angles found, so that slopes between two angles become derivatives
    for _ in range(2):
        measure_lines(lines, at.bushing, at)
    line_gradients(lines, at, at, at.R, gradient)
    for k in range(lines.measure.shape[0]):
        flow.rate[k] = 0.0
        for side in range(2):
            i = lines.node[k, side]
            R = matrix(at.R, i)
            flow.rate[k] += dot(apply_transpose(R, vector(gradient, k, 6 * side)), vector(flow.V, i, 0))
            flow.rate[k] += dot(apply_transpose(R, vector(gradient, k, 6 * side + 3)), vector(flow.V, i, 3))


@inline_kernel
def pull_of_lines(lines: Lines, flow: Flow) -> None:
    """Forces of all lines on their nodes."""
    step = flow.step
    for k in range(lines.measure.shape[0]):
        step.way[k] = NO_TIME * flow.rate[k]
    spring_impulses(lines, NO_TIME, flow.at, step)
    for k in range(lines.measure.shape[0]):
        flow.force[k] = flow.pull[k] if lines.law[k] == CLOSED else step.impulse[k] / NO_TIME
        for side in range(2):
            force = vector(step.gradient, k, 6 * side)
            add_world(flow, lines.node[k, side], flow.force[k], force, vector(step.gradient, k, 6 * side + 3))


@inline_kernel
def gather(tree: Tree, flow: Flow) -> None:
    """Wrenches from the leaves to the root."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        p = tree.parent[i]
        if p >= 0:
            Q = matrix(flow.turn, i)
            force = apply(Q, vector(flow.wrench, i, 0))
            add_to(flow.wrench, p, 0, 1.0, force)
            torque = add(apply(Q, vector(flow.wrench, i, 3)), cross(vector(flow.r, i, 0), force))
            add_to(flow.wrench, p, 3, 1.0, torque)


@kernel
def balance_at(mechanism: Mechanism, unknowns: Unknowns, flow: Flow, residual: Numbers) -> None:
    """What every unknown lacks."""
    tree, laws = mechanism.tree, mechanism.coordinates
    place_nodes(tree, flow)
    lacking(mechanism, flow)
    if mechanism.lines.measure.shape[0] > 0:
        measure_instant(mechanism.lines, flow)
        pull_of_lines(mechanism.lines, flow)
    gather(tree, flow)
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            r, Q = vector(flow.r, i, 0), matrix(flow.turn, i)
            n, m = instant_wrench(mechanism.elements, i, r, Q, six(flow.rho, i), flow.at)
            put(flow.step.rho, i, 0, n)
            put(flow.step.rho, i, 3, m)
    for c in range(laws.spring.shape[0]):
        joint, rotor = (flow.q[c], flow.qd[c]), (flow.rotor[c, 0], flow.rotor[c, 1])
        effort, turning = instant_effort(laws, c, joint, flow.qd, flow.target[c], rotor)
        if laws.has_motor[c] and not laws.prescribed[c]:
            if laws.motor[c, GEAR_STIFFNESS] > 0.0:
                turning -= laws.motor[c, ROTOR] * flow.rotor[c, 2]
            else:
                effort -= laws.motor[c, ROTOR] * flow.qdd[c]
        flow.effort[c, 0], flow.effort[c, 1] = effort, turning
    for u in range(unknowns.node.shape[0]):
        i, c = unknowns.node[u], unknowns.coordinate[u]
        if i < 0:
            residual[u] = -flow.effort[c, 1]
            continue
        residual[u] = dot_six(six(unknowns.direction, u), six(flow.wrench, i))
        if tree.joint_type[i] == ELEMENT:
            residual[u] += dot_six(six(unknowns.direction, u), six(flow.step.rho, i))
        if c >= 0:
            residual[u] -= flow.effort[c, 0]


@inline_kernel
def displace(unknowns: Unknowns, u: int, order: int, size: Any, flow: Flow) -> None:
    """Add to a motion what a change of unknown u, of its rate or of its acceleration is for pose and twists.

    With a relative pose g exp(y) the twist is rho + y' + bracket(rho) y to first order of y.
    """
    i, c = unknowns.node[u], unknowns.coordinate[u]
    if i < 0:
        flow.rotor[c, order] += size
        return
    s = six(unknowns.direction, u)
    d = (size * s[0], size * s[1], size * s[2], size * s[3], size * s[4], size * s[5])
    if order == BY_ACCELERATION:
        add_six(flow.rho_dot, i, 1.0, d)
    elif order == BY_RATE:
        turning = ad(six(flow.rho, i), d)
        add_six(flow.rho, i, 1.0, d)
        add_six(flow.rho_dot, i, 1.0, turning)
    else:
        Q = matrix(flow.turn, i)
        put(flow.r, i, 0, add(vector(flow.r, i, 0), apply(Q, (d[0], d[1], d[2]))))
        turned = product(Q, skew((d[3], d[4], d[5])))
        for k in range(9):
            flow.turn[i, k] += turned[k]
        first, second = ad(six(flow.rho, i), d), ad(six(flow.rho_dot, i), d)
        add_six(flow.rho, i, 1.0, first)
        add_six(flow.rho_dot, i, 1.0, second)
        if c >= 0:
            flow.q[c] += size


@kernel
def rates_of_coordinates(unknowns: Unknowns, flow: Flow) -> None:
    """Rates and accelerations of the joint coordinates, which relative twists give."""
    for u in range(unknowns.node.shape[0]):
        i, c = unknowns.node[u], unknowns.coordinate[u]
        if i >= 0 and c >= 0:
            flow.qd[c] = dot_six(six(unknowns.direction, u), six(flow.rho, i))
            flow.qdd[c] = dot_six(six(unknowns.direction, u), six(flow.rho_dot, i))


@inline_kernel
def copy_motion(tree: Tree, given: Flow, flow: Flow) -> None:
    for i in range(tree.parent.shape[0]):
        put(flow.r, i, 0, vector(given.r, i, 0))
        put_matrix(flow.turn, i, matrix(given.turn, i))
        put_six(flow.rho, i, six(given.rho, i))
        put_six(flow.rho_dot, i, six(given.rho_dot, i))
    for c in range(given.q.shape[0]):
        flow.q[c] = given.q[c]
        put(flow.rotor, c, 0, vector(given.rotor, c, 0))
    for k in range(given.pull.shape[0]):
        flow.pull[k] = given.pull[k]


@kernel
def differentiate(
    mechanism: Mechanism, unknowns: Unknowns, order: int, given: Flow, flow: Flow, column: Numbers, out: Derivatives
) -> None:
    """Derivatives in all unknowns, in their rates or in their accelerations; ``flow`` and ``column`` are complex."""
    for u in range(unknowns.node.shape[0]):
        copy_motion(mechanism.tree, given, flow)
        displace(unknowns, u, order, STEP * 1j, flow)
        rates_of_coordinates(unknowns, flow)
        balance_at(mechanism, unknowns, flow, column)
        for n in range(unknowns.node.shape[0]):
            out.residual[n, u] = column[n].imag / STEP
        for k in range(flow.rate.shape[0]):
            out.phi[k, u] = flow.at.phi[k].imag / STEP
            out.rate[k, u] = flow.rate[k].imag / STEP
        for i in range(flow.V.shape[0]):
            for k in range(6):
                out.twist[i, k, u] = flow.V[i, k].imag / STEP


def new_flow(mechanism: Mechanism, moment: Moment) -> Flow:
    """A mechanism at rest in the poses of a moment; all numbers are complex."""
    tree, x, R = mechanism.tree, moment.x, moment.R.reshape(-1, 3, 3)
    nodes, coordinates, lines = len(tree.parent), len(moment.q), len(moment.phi)
    parent, root = np.maximum(tree.parent, 0), tree.parent < 0
    back = np.swapaxes(R[parent], -1, -2)
    apart = (x - x[parent]) + (moment.x_low - moment.x_low[parent])
    r = np.where(root[:, None], x + moment.x_low, (back @ apart[..., None])[..., 0])
    turn = np.where(root[:, None, None], R, back @ R).reshape(-1, 9)

    def zeros(*shape: int) -> Numbers:
        return np.zeros(shape, complex)

    at, step = new_moment(nodes, coordinates, lines), new_step(nodes, coordinates, lines)
    return Flow(
        r.astype(complex),
        turn.astype(complex),
        zeros(nodes, 6),
        zeros(nodes, 6),
        moment.q.astype(complex),
        zeros(coordinates),
        zeros(coordinates),
        zeros(coordinates, 3),
        zeros(lines),
        zeros(coordinates, 3),
        zeros(int(mechanism.wrenches.load.max(initial=-1)) + 1, 6),
        Moment(*(each.astype(complex) for each in at)),
        Step(*(each.astype(complex) for each in step)),
        zeros(nodes, 6),
        zeros(nodes, 6),
        zeros(nodes, 6),
        zeros(coordinates, 2),
        zeros(lines),
        zeros(lines),
    )


def evaluate_at(mechanism: Mechanism, unknowns: Unknowns, flow: Flow) -> Floats:
    """What every unknown lacks; the rest of what follows from a motion is in ``flow``."""
    residual = np.zeros(len(unknowns.node), complex)
    rates_of_coordinates(unknowns, flow)
    balance_at(mechanism, unknowns, flow, residual)
    return residual.real


def derivatives_at(mechanism: Mechanism, unknowns: Unknowns, order: int, flow: Flow) -> Derivatives:
    """In all unknowns, their rates or their accelerations."""
    n, z = len(unknowns.node), np.zeros
    out = Derivatives(z((n, n)), z((len(flow.rate), n)), z((len(flow.rate), n)), z((len(flow.V), 6, n)))
    differentiate(mechanism, unknowns, order, flow, copied(flow), z(n, complex), out)
    return out


def displaced(flow: Flow, twists: Floats) -> Flow:
    """A copy with nodes moved against their parents by finite body displacements (nodes, 6)."""
    moved, ahead = copied(flow), pose_from_twist(twists)
    turn = moved.turn.reshape(-1, 3, 3)
    moved.r[:] += (turn @ ahead[:, :3, 3:])[..., 0]
    turn[:] = turn @ ahead[:, :3, :3]
    return moved


def copied(flow: Flow) -> Flow:
    parts: Any = (
        type(part)(*(each.copy() for each in part)) if isinstance(part, tuple) else part.copy() for part in flow
    )
    return Flow(*parts)
