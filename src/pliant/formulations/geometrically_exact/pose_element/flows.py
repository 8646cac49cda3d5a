"""Energies of a mechanism and the flows of a finished step."""

from __future__ import annotations

from pliant.formulations.geometrically_exact.energy_account import Account
from pliant.formulations.geometrically_exact.pose_element.balance import mean_stresses, wrench_on
from pliant.formulations.geometrically_exact.pose_element.coordinate_law import JointFlows, book_joint
from pliant.formulations.geometrically_exact.pose_element.line_relations import book_lines, energy_of_lines
from pliant.formulations.geometrically_exact.pose_element.mechanism import (
    ELEMENT,
    GROUND,
    Bodies,
    Coordinates,
    Elements,
    Mechanism,
    Pose,
)
from pliant.formulations.geometrically_exact.pose_element.relative_pose import CHANGE, U, matrix, vector
from pliant.formulations.geometrically_exact.pose_element.step_data import Moment, Signals, Step
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import STOP_STIFFNESS, stops_energy
from pliant.spatial.vectors import add, apply, apply_transpose, cross, dot, sub


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
        if tree.hang[i] == ELEMENT:
            length, energy = elements.length[i], 0.0
            for r in range(6):
                e = at.strain[i, U + r] / length - elements.rest[i, r]
                for k in range(6):
                    energy += e * elements.K[i, r, k] * (at.strain[i, U + k] / length - elements.rest[i, k])
            total += 0.5 * length * energy
    return total


@inline_kernel
def element_change(elements: Elements, i: int, h: float, start: Moment, end: Moment) -> tuple[float, float]:
    """Strain energy stored in an element during a step, and its material loss."""
    n, m, n_viscous, m_viscous = mean_stresses(elements, i, h, start, end)
    du, dpsi = vector(end.strain, i, CHANGE), vector(end.strain, i, CHANGE + 3)
    return dot(n, du) + dot(m, dpsi), dot(n_viscous, du) + dot(m_viscous, dpsi)


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
        if bodies.viscous[i, 0] >= 0.0:
            u = apply_transpose(R, y)
            for k in range(3):
                viscous += h * bodies.viscous[i, k] * u[k] * u[k]
                viscous += h * bodies.viscous[i, 3 + k] * step.Y[i, 3 + k] ** 2
        if tree.hang[i] == ELEMENT:
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
    account: Account,
) -> tuple[float, float, float]:
    """Works of drives, base and loads of a step into the account, rotors moved on.

    Returns the kinetic energy that rotors gained, and what joints and lines stored and lost.

    The base is the last of the account's joints.
    """
    start, _ = moments
    tree, laws, wrenches = mechanism.tree, mechanism.coordinates, mechanism.wrenches
    h = signals.h[0]
    base = laws.spring.shape[0]
    account.step_joints[base] = 0.0
    spun = 0.0
    stored, lost = book_lines(mechanism.lines, h, start, step.way)
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if tree.hang[i] == GROUND:
            account.step_joints[base] += dot(vector(step.rho, i, 0), vector(step.Y, i, 0))
            account.step_joints[base] += dot(vector(step.rho, i, 3), vector(step.omega, i, 0))
        elif c >= 0:
            way = (start.q[c], h * step.s[i] * step.share[i])
            book_joint(laws, c, h, way, signals.target[c], (now.qd, now.motor), joints)
            spun += joints.spun[c]
            stored += joints.stored[c]
            lost += joints.lost[c]
            account.step_joints[c] = step.s[i] * step.row[i] if laws.prescribed[c] else joints.work[c]
    for k in range(signals.load.shape[0]):
        account.step_loads[k] = 0.0
    for k in range(wrenches.load.shape[0]):
        i = wrenches.node[k]
        force, torque = wrench_on(wrenches, k, signals.load, step.R_mean)
        work = dot(force, vector(step.Y, i, 0)) + dot(torque, vector(step.omega, i, 0))
        account.step_loads[wrenches.load[k]] += h * work
    return spun, stored, lost
