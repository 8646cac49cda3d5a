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
from pliant.mechanics.joint_laws import GEAR_STIFFNESS, NO_TIME, ROTOR, along_spin, instant_effort
from pliant.spatial.arrays import STEP, pose_from_twist
from pliant.spatial.rows import add_to, copy_to, dot6, load3, load6, load9, scale6, store
from pliant.spatial.se3 import Twist, ad, ad_transpose, angular, join, linear
from pliant.spatial.vectors import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transpose,
    cross,
    dot,
    product,
    scale,
    skew,
    transpose,
)
from pliant.structures.bundles import complex_of, zeros_of
from pliant.structures.nodal.balance import wrench_on
from pliant.structures.nodal.codes import ELEMENT
from pliant.structures.nodal.coupling import shared_wrench
from pliant.structures.nodal.element import instant_wrench
from pliant.structures.nodal.mechanism import Bodies, Floats, Ints, Mechanism, Tree
from pliant.structures.nodal.motion import Moment, Step, new_moment, new_step
from pliant.structures.nodal.relations import spring_impulses
from pliant.structures.relations import CLOSED, Lines, line_gradients, measure_lines

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
        p, rho = tree.parent[i], load6(flow.rho, i)
        r, Q = load3(flow.r, i), load9(flow.turn, i)
        if p < 0:
            store(r, flow.at.x, i)
            store(Q, flow.at.R, i)
            store(rho, flow.V, i)
            store(load6(flow.rho_dot, i), flow.V_dot, i)
            continue
        R = load9(flow.at.R, p)
        store(add(load3(flow.at.x, p), apply(R, r)), flow.at.x, i)
        store(product(R, Q), flow.at.R, i)
        carried = seen_by_child(r, Q, load6(flow.V, p))
        store(carried, flow.V, i)
        add_to(1.0, rho, flow.V, i)
        store(seen_by_child(r, Q, load6(flow.V_dot, p)), flow.V_dot, i)
        add_to(-1.0, ad(rho, carried), flow.V_dot, i)
        add_to(1.0, load6(flow.rho_dot, i), flow.V_dot, i)


@inline_kernel
def seen_by_child(r: Vector, Q: Matrix, twist: Twist) -> Twist:
    """A twist of the parent in the frame of a child at the pose (r, Q)."""
    w = angular(twist)
    return join(apply_transpose(Q, add(linear(twist), cross(w, r))), apply_transpose(Q, w))


@inline_kernel
def momentum(bodies: Bodies, i: int, twist: Twist) -> Twist:
    """M times a twist of node i."""
    w, c = angular(twist), load3(bodies.center, i)
    p = scale(bodies.mass[i], add(linear(twist), cross(w, c)))
    return join(p, add(apply(load9(bodies.J, i), w), cross(c, p)))


@inline_kernel
def lacking(mechanism: Mechanism, flow: Flow) -> None:
    """Inertia, gravity, drag and loads of every node."""
    bodies, wrenches = mechanism.bodies, mechanism.wrenches
    g = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    for i in range(bodies.mass.shape[0]):
        V, weight = load6(flow.V, i), scale(bodies.mass[i], apply_transpose(load9(flow.at.R, i), g))
        store(momentum(bodies, i, load6(flow.V_dot, i)), flow.wrench, i)
        add_to(-1.0, ad_transpose(V, momentum(bodies, i, V)), flow.wrench, i)
        add_to(-1.0, join(weight, cross(load3(bodies.center, i), weight)), flow.wrench, i)
        if bodies.viscous[i, 0] >= 0.0:
            for k in range(6):
                flow.wrench[i, k] += bodies.viscous[i, k] * flow.V[i, k]
    if mechanism.elements.couples:
        for i in range(bodies.mass.shape[0]):
            if mechanism.tree.joint_type[i] == ELEMENT:
                share_inertia(mechanism, i, g, flow)
    for n in range(bodies.gripped.shape[0]):
        i = bodies.gripped[n]
        for k in range(6):
            part = 3 * (k // 3)
            flow.wrench[i, k] += along_spin(bodies.grip[n, k // 3], load3(flow.V, i, part), flow.V[i, k])[0]
    for n in range(wrenches.load.shape[0]):
        i = wrenches.node[n]
        force, torque = wrench_on(wrenches, n, flow.load, flow.at.R)
        add_world(flow, i, -1.0, force, torque)


@inline_kernel
def share_inertia(mechanism: Mechanism, i: int, g: Vector, flow: Flow) -> None:
    """Inertia and weight that node i shares with its parent."""
    elements, p, Q = mechanism.elements, mechanism.tree.parent[i], load9(flow.turn, i)
    add_to(1.0, shared_wrench(elements, i, Q, load6(flow.V, i), load6(flow.V_dot, i)), flow.wrench, p)
    back = transpose(Q)
    add_to(1.0, shared_wrench(elements, i, back, load6(flow.V, p), load6(flow.V_dot, p)), flow.wrench, i)
    for n in (p, i):
        add_to(-elements.shared[i, 0], apply_transpose(load9(flow.at.R, n), g), flow.wrench, n)


@inline_kernel
def add_world(flow: Flow, i: int, factor: float, force: Vector, torque: Vector) -> None:
    """Add a wrench given in the world to that of a node."""
    R = load9(flow.at.R, i)
    add_to(factor, apply_transpose(R, force), flow.wrench, i)
    add_to(factor, apply_transpose(R, torque), flow.wrench, i, 3)


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
            R = load9(at.R, i)
            flow.rate[k] += dot(apply_transpose(R, load3(gradient, k, 6 * side)), load3(flow.V, i))
            flow.rate[k] += dot(apply_transpose(R, load3(gradient, k, 6 * side + 3)), load3(flow.V, i, 3))


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
            force = load3(step.gradient, k, 6 * side)
            add_world(flow, lines.node[k, side], flow.force[k], force, load3(step.gradient, k, 6 * side + 3))


@inline_kernel
def gather(tree: Tree, flow: Flow) -> None:
    """Wrenches from the leaves to the root."""
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        p = tree.parent[i]
        if p >= 0:
            Q = load9(flow.turn, i)
            force = apply(Q, load3(flow.wrench, i))
            add_to(1.0, force, flow.wrench, p)
            torque = add(apply(Q, load3(flow.wrench, i, 3)), cross(load3(flow.r, i), force))
            add_to(1.0, torque, flow.wrench, p, 3)


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
            r, Q = load3(flow.r, i), load9(flow.turn, i)
            n, m = instant_wrench(mechanism.elements, i, r, Q, load6(flow.rho, i), flow.at)
            store(n, flow.step.rho, i)
            store(m, flow.step.rho, i, 3)
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
        residual[u] = dot6(load6(unknowns.direction, u), load6(flow.wrench, i))
        if tree.joint_type[i] == ELEMENT:
            residual[u] += dot6(load6(unknowns.direction, u), load6(flow.step.rho, i))
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
    d = scale6(size, load6(unknowns.direction, u))
    if order == BY_ACCELERATION:
        add_to(1.0, d, flow.rho_dot, i)
    elif order == BY_RATE:
        turning = ad(load6(flow.rho, i), d)
        add_to(1.0, d, flow.rho, i)
        add_to(1.0, turning, flow.rho_dot, i)
    else:
        Q = load9(flow.turn, i)
        add_to(1.0, apply(Q, linear(d)), flow.r, i)
        add_to(1.0, product(Q, skew(angular(d))), flow.turn, i)
        first, second = ad(load6(flow.rho, i), d), ad(load6(flow.rho_dot, i), d)
        add_to(1.0, first, flow.rho, i)
        add_to(1.0, second, flow.rho_dot, i)
        if c >= 0:
            flow.q[c] += size


@kernel
def rates_of_coordinates(unknowns: Unknowns, flow: Flow) -> None:
    """Rates and accelerations of the joint coordinates, which relative twists give."""
    for u in range(unknowns.node.shape[0]):
        i, c = unknowns.node[u], unknowns.coordinate[u]
        if i >= 0 and c >= 0:
            flow.qd[c] = dot6(load6(unknowns.direction, u), load6(flow.rho, i))
            flow.qdd[c] = dot6(load6(unknowns.direction, u), load6(flow.rho_dot, i))


@inline_kernel
def copy_motion(given: Flow, flow: Flow) -> None:
    copy_to(given.r, flow.r)
    copy_to(given.turn, flow.turn)
    copy_to(given.rho, flow.rho)
    copy_to(given.rho_dot, flow.rho_dot)
    copy_to(given.q, flow.q)
    copy_to(given.rotor, flow.rotor)
    copy_to(given.pull, flow.pull)


@kernel
def differentiate(
    mechanism: Mechanism, unknowns: Unknowns, order: int, given: Flow, flow: Flow, column: Numbers, out: Derivatives
) -> None:
    """Derivatives in all unknowns, in their rates or in their accelerations; ``flow`` and ``column`` are complex."""
    for u in range(unknowns.node.shape[0]):
        copy_motion(given, flow)
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
    n, c, m = mechanism.sizes
    parent, root = np.maximum(tree.parent, 0), tree.parent < 0
    back = np.swapaxes(R[parent], -1, -2)
    apart = (x - x[parent]) + (moment.x_low - moment.x_low[parent])
    r = np.where(root[:, None], x + moment.x_low, (back @ apart[..., None])[..., 0])
    turn = np.where(root[:, None, None], R, back @ R).reshape(-1, 9)
    at, step = complex_of(new_moment(n, c, m)), complex_of(new_step(n, c, m))
    given = ((n, 3), (n, 9), (n, 6), (n, 6), c, c, c, (c, 3), m, (c, 3), (mechanism.loads, 6))
    found = ((n, 6), (n, 6), (n, 6), (c, 2), m, m)
    blank = zeros_of(Flow, *given, 0, 0, *found, dtype=complex)
    return blank._replace(r=r.astype(complex), turn=turn.astype(complex), q=moment.q.astype(complex), at=at, step=step)


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
