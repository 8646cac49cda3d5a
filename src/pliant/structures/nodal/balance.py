"""The impulse balance of every node and joint over a step.

    m (v1 - v0) - h m g - h F = 0 ,     R1 J w1 - R0 J w0 - h T = 0     (world, about the node)

with end velocities v1 = 2 y - v0 and w1 = 2 eta - w0: the mean velocity is the one that moves the pose. Then
y . (first) + omega . (second) is the change of kinetic energy less the work, exactly. With the centre of mass
off the node by c, v is its velocity and its balance acts at the lever (R c)mean.

Energies of a mechanism and the flows of a finished step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import STOP_STIFFNESS, stops_energy
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, scale, sub
from pliant.structures.energy_ledger import RunningLedger
from pliant.structures.nodal.element import balance_element, element_change, element_energy
from pliant.structures.nodal.joint_laws import JointFlows, enter_joint, joint_effort
from pliant.structures.nodal.mechanism import (
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    REVOLUTE,
    Bodies,
    Bools,
    Coordinates,
    Floats,
    Mechanism,
    Pose,
    Tree,
    Wrenches,
)
from pliant.structures.nodal.motion import Moment, Signals, Step
from pliant.structures.nodal.relations import energy_of_lines, enter_lines
from pliant.structures.nodal.rows import add_to, axpy, matrix, put, vector

EPSILON = 2.3e-16
EXCHANGE, SCALE, FLOOR = 0, 1, 2


class Sizes(NamedTuple):
    """Sums over a step for the stopping test."""

    sums: Floats  # energy exchanged, square of the impulses, square of their round-off


def new_sizes() -> Sizes:
    return Sizes(np.zeros(3))


@inline_kernel
def balance_body(
    bodies: Bodies, i: int, h: float, now: Pose, start: Moment, end: Moment, step: Step
) -> tuple[float, float, float]:
    """Inertia and gravity of the body on node i; returns changes of kinetic and potential energy and the size."""
    m = bodies.mass[i]
    c = apply(matrix(step.R_mean, i), vector(bodies.center, i, 0))
    g = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    eta, w0, v0 = vector(step.Y, i, 3), vector(now.w, i, 0), vector(now.v, i, 0)
    y = add(vector(step.Y, i, 0), cross(vector(step.omega, i, 0), c))
    change = scale(2.0, sub(y, v0))
    J = matrix(bodies.J, i)
    w1 = sub(scale(2.0, eta), w0)
    after = apply(matrix(end.R, i), apply(J, w1))
    before = apply(matrix(start.R, i), apply(J, w0))
    linear = scale(m, axpy(-h, g, change))
    put(step.rho, i, 0, linear)
    put(step.rho, i, 3, add(sub(after, before), cross(c, linear)))
    kinetic = m * dot(y, change) + 2.0 * dot(eta, apply(J, sub(eta, w0)))
    potential = -h * m * dot(g, y)
    return kinetic, potential, dot(after, after) + m * m * (h * h * dot(g, g) + dot(v0, v0))


@inline_kernel
def drag_body(bodies: Bodies, i: int, h: float, step: Step) -> float:
    """External viscous damping of node i; returns the loss. Both parts act on mean velocities in mean axes."""
    R = matrix(step.R_mean, i)
    u = apply_transpose(R, vector(step.Y, i, 0))
    eta = vector(step.Y, i, 3)
    d = bodies.viscous[i]
    force = (d[0] * u[0], d[1] * u[1], d[2] * u[2])
    torque = (d[3] * eta[0], d[4] * eta[1], d[5] * eta[2])
    add_to(step.rho, i, 0, h, apply(R, force))
    add_to(step.rho, i, 3, h, apply(R, torque))
    return h * (dot(force, u) + dot(torque, eta))


@kernel
def wrench_on(wrenches: Wrenches, k: int, load: Floats, R_mean: Floats) -> tuple[Vector, Vector]:
    """World force, and torque about the node, of row k."""
    i, j = wrenches.node[k], wrenches.load[k]
    R = matrix(R_mean, i)
    force = scale(wrenches.weight[k], vector(load, j, 0))
    torque = scale(wrenches.weight[k], vector(load, j, 3))
    if not wrenches.world[k]:
        axes = matrix(R_mean, wrenches.axes[k])
        force, torque = apply(axes, force), apply(axes, torque)
    return force, add(torque, cross(apply(R, vector(wrenches.point, k, 0)), force))


@inline_kernel
def balance_nodes(
    mechanism: Mechanism, signals: Signals, now: Pose, start: Moment, end: Moment, step: Step, sizes: Sizes
) -> None:
    """Balance of bodies, elements, damping and loads on every node; measures every element."""
    tree, bodies, elements = mechanism.tree, mechanism.bodies, mechanism.elements
    h = signals.h[0]
    kinetic, potential, strain, scale_2, floor_2 = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        dK, dV, size = balance_body(bodies, i, h, now, start, end, step)
        kinetic += dK
        potential += dV
        scale_2 += size
        if bodies.viscous[i, 0].real >= 0.0:
            drag_body(bodies, i, h, step)
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            work, size, rounding = balance_element(elements, tree.parent[i], i, h, start, end, step)
            strain += work
            scale_2 += size
            floor_2 += rounding
    for k in range(mechanism.wrenches.load.shape[0]):
        i = mechanism.wrenches.node[k]
        force, torque = wrench_on(mechanism.wrenches, k, signals.load, step.R_mean)
        add_to(step.rho, i, 0, -h, force)
        add_to(step.rho, i, 3, -h, torque)
        scale_2 += h * h * (dot(force, force) + dot(torque, torque))
    sizes.sums[EXCHANGE] = abs(kinetic) + abs(potential) + abs(strain)
    sizes.sums[SCALE] = scale_2
    sizes.sums[FLOOR] = floor_2 + (8.0 * EPSILON) ** 2 * scale_2


@kernel
def pass_to_parent(joint_type: int, row: float, axis: Vector, lever: Vector, i: int, p: int, rho: Floats) -> None:
    """Add what its joint transmits of the impulse of child i to its parent's, about the parent's origin.

    ``row`` is the part along the axis that the joint does not transmit: zero once balanced, but a light parent
    must not carry what a heavy child still lacks.
    """
    linear, angular = vector(rho, i, 0), vector(rho, i, 3)
    if row != 0.0:
        part = scale(-row / dot(axis, axis), axis)
        if joint_type == REVOLUTE:
            angular = add(angular, part)
        else:
            linear = add(linear, part)
    add_to(rho, p, 0, 1.0, linear)
    add_to(rho, p, 3, 1.0, add(angular, cross(lever, linear)))


@inline_kernel
def balance_joints(mechanism: Mechanism, signals: Signals, now: Pose, start: Moment, step: Step) -> None:
    """Rows of the joint coordinates; impulses of joint children added to their parents, leaves to root."""
    tree, laws = mechanism.tree, mechanism.coordinates
    h = signals.h[0]
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        if tree.joint_type[i] < FIXED:
            continue
        c = tree.coordinate[i]
        if c >= 0:
            axis = vector(step.axis, i, 0)
            along = dot(axis, vector(step.rho, i, 3 if tree.joint_type[i] == REVOLUTE else 0))
            way = (start.q[c], h * step.s[i] * step.share[i])
            effort, slope = joint_effort(laws, c, h, way, signals.target[c], (now.qd, now.motor))
            step.torque[c, 0], step.torque[c, 1] = effort, slope
            step.row[i] = along - h * effort * step.share[i]
        kept_back = step.row[i] if c >= 0 and not laws.prescribed[c] else 0.0
        pass_to_parent(
            tree.joint_type[i],
            kept_back,
            vector(step.axis, i, 0),
            vector(step.lever, i, 0),
            i,
            tree.parent[i],
            step.rho,
        )


@inline_kernel
def unbalanced(tree: Tree, prescribed: Bools, step: Step) -> tuple[float, float]:
    """Square of all that is not balanced, and the energy it amounts to: an identity for any iterate."""
    total, energy = 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == FREE or tree.joint_type[i] == ELEMENT:
            linear, angular = vector(step.rho, i, 0), vector(step.rho, i, 3)
            total += dot(linear, linear) + dot(angular, angular)
            energy += dot(linear, vector(step.Y, i, 0)) + dot(angular, vector(step.omega, i, 0))
        elif tree.coordinate[i] >= 0 and not prescribed[tree.coordinate[i]]:
            axis, p = vector(step.axis, i, 0), tree.parent[i]
            carried = vector(step.omega, p, 0)
            if tree.joint_type[i] != REVOLUTE:
                carried = add(vector(step.Y, p, 0), cross(carried, vector(step.lever, i, 0)))
            total += step.row[i] * step.row[i]
            energy += step.row[i] * (step.s[i] + dot(axis, carried) / dot(axis, axis))
    return total, energy


@kernel
def kinetic_energy(mechanism: Mechanism, now: Pose) -> float:
    """Of the bodies and of the rotors."""
    bodies, laws = mechanism.bodies, mechanism.coordinates
    total = 0.0
    for i in range(bodies.mass.shape[0]):
        v, w = vector(now.v, i, 0), vector(now.w, i, 0)
        total += 0.5 * (bodies.mass[i] * dot(v, v) + dot(w, apply(matrix(bodies.J, i), w)))
    for c in range(laws.spring.shape[0]):
        if laws.has_motor[c]:
            total += 0.5 * laws.motor[c, 0] * now.motor[c, 1] ** 2
    return total


@kernel
def joint_energy(laws: Coordinates, now: Pose) -> float:
    """Of the springs, stops and gears of the joint coordinates."""
    total = 0.0
    for c in range(laws.spring.shape[0]):
        q = now.q[c]
        total += 0.5 * laws.spring[c] * (q - laws.spring_rest[c]) ** 2
        if laws.stops[c, STOP_STIFFNESS] > 0.0:
            total += stops_energy(laws.stops[c], q)
        if laws.has_motor[c]:
            total += 0.5 * max(laws.motor[c, 1], 0.0) * (now.motor[c, 0] - q) ** 2
    return total


@kernel
def elastic_energy(mechanism: Mechanism, now: Pose, at: Moment) -> float:
    """Of elements, lines and joints."""
    tree, elements = mechanism.tree, mechanism.elements
    total = joint_energy(mechanism.coordinates, now) + energy_of_lines(mechanism.lines, at)
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            total += element_energy(elements, i, at)
    return total


@inline_kernel
def body_change(bodies: Bodies, i: int, now: Pose, step: Step) -> float:
    """Kinetic energy that body i gains in a step, as mean velocity times change of momentum."""
    center = apply(matrix(step.R_mean, i), vector(bodies.center, i, 0))
    y = add(vector(step.Y, i, 0), cross(vector(step.omega, i, 0), center))
    eta = vector(step.Y, i, 3)
    linear: float = 2.0 * bodies.mass[i] * dot(y, sub(y, vector(now.v, i, 0)))
    return linear + 2.0 * dot(eta, apply(matrix(bodies.J, i), sub(eta, vector(now.w, i, 0))))


@inline_kernel
def node_flows(
    mechanism: Mechanism, h: float, now: Pose, moments: tuple[Moment, Moment], step: Step
) -> tuple[float, float, float, float, float]:
    """Changes of kinetic energy and of the elements' energy, work of gravity, material and external viscous loss."""
    start, end = moments
    tree, bodies, elements = mechanism.tree, mechanism.bodies, mechanism.elements
    g = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    kinetic, stored, gravity, material, viscous = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        R = matrix(step.R_mean, i)
        y, omega = vector(step.Y, i, 0), vector(step.omega, i, 0)
        center = apply(R, vector(bodies.center, i, 0))
        gravity += h * bodies.mass[i] * dot(g, add(y, cross(omega, center)))
        if bodies.viscous[i, 0].real >= 0.0:
            u = apply_transpose(R, y)
            for k in range(3):
                viscous += h * bodies.viscous[i, k] * u[k] * u[k]
                viscous += h * bodies.viscous[i, 3 + k] * step.Y[i, 3 + k] ** 2
        if tree.joint_type[i] == ELEMENT:
            kept, lost = element_change(elements, i, h, start, end)
            stored += kept
            material += lost
        kinetic += body_change(bodies, i, now, step)
    return kinetic, stored, gravity, material, viscous


@inline_kernel
def port_flows(
    mechanism: Mechanism,
    signals: Signals,
    now: Pose,
    moments: tuple[Moment, Moment],
    step: Step,
    joints: JointFlows,
    ledger: RunningLedger,
) -> tuple[float, float, float]:
    """Works of drives, base and loads of a step into the ledger, rotors moved on.

    Returns the kinetic energy that rotors gained, and what joints and lines stored and lost.

    The base is the last of the ledger's joints.
    """
    start, _ = moments
    tree, laws, wrenches = mechanism.tree, mechanism.coordinates, mechanism.wrenches
    h = signals.h[0]
    base = laws.spring.shape[0]
    ledger.step_joints[base] = 0.0
    spun = 0.0
    stored, lost = enter_lines(mechanism.lines, h, start, step)
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if tree.joint_type[i] == GROUND:
            ledger.step_joints[base] += dot(vector(step.rho, i, 0), vector(step.Y, i, 0))
            ledger.step_joints[base] += dot(vector(step.rho, i, 3), vector(step.omega, i, 0))
        elif c >= 0:
            way = (start.q[c], h * step.s[i] * step.share[i])
            enter_joint(laws, c, h, way, signals.target[c], (now.qd, now.motor), joints)
            spun += joints.spun[c]
            stored += joints.stored[c]
            lost += joints.lost[c]
            ledger.step_joints[c] = step.s[i] * step.row[i] if laws.prescribed[c] else joints.work[c]
    for k in range(signals.load.shape[0]):
        ledger.step_loads[k] = 0.0
    for k in range(wrenches.load.shape[0]):
        i = wrenches.node[k]
        force, torque = wrench_on(wrenches, k, signals.load, step.R_mean)
        work = dot(force, vector(step.Y, i, 0)) + dot(torque, vector(step.omega, i, 0))
        ledger.step_loads[wrenches.load[k]] += h * work
    return spun, stored, lost
