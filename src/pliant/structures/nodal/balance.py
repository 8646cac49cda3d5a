"""The impulse balance of every node and joint over a step.

    m (v1 - v0) - h m g - h F = 0 ,     R1 J w1 - R0 J w0 - h T = 0     (world, about the node)

with end velocities v1 = 2 y - v0 and w1 = 2 eta - w0: the mean velocity is the one that moves the pose. Then
y . (first) + omega . (second) is the change of kinetic energy less the work, exactly. With the centre of mass
off the node by c, v is its velocity and its balance acts at the lever (R c)mean. Inertia that two nodes share is in
`coupling`.

Energies of a mechanism and the flows of a finished step.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_laws import Coordinates, coordinate_energy
from pliant.spatial.rows import add_to, load3, load9, plus3, store
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, scale, sub
from pliant.structures.energy_ledger import RunningLedger
from pliant.structures.nodal.codes import ELEMENT, FIXED, FREE, GROUND, REVOLUTE
from pliant.structures.nodal.coupling import add_shared_momenta, balance_shared, end_spin, shared_energy
from pliant.structures.nodal.element import balance_element, element_change, element_energy, measure_ends
from pliant.structures.nodal.joint_laws import enter_joint, joint_effort
from pliant.structures.nodal.mechanism import Bodies, Bools, Floats, Mechanism, Pose, Tree, Wrenches
from pliant.structures.nodal.motion import Moment, Motion, Step
from pliant.structures.nodal.relations import enter_lines
from pliant.structures.relations import energy_of_lines

EPSILON = 2.3e-16
# sums over a step: energy exchanged, squares of the impulses and of their round-off, changes of kinetic energy and of
# the potential of gravity
EXCHANGE, SCALE, FLOOR, KINETIC_CHANGE, LIFT = range(5)
SUMS = 5


@inline_kernel
def balance_body(bodies: Bodies, shares: bool, i: int, motion: Motion) -> tuple[float, float, float]:
    """Inertia and gravity of the body on node i; returns changes of kinetic and potential energy and the size."""
    h, now, end, step = motion.signals.h[0], motion.now, motion.end, motion.step
    m = bodies.mass[i]
    c = apply(load9(step.R_mean, i), load3(bodies.center, i))
    g = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    eta, w0, v0 = load3(step.Y, i, 3), load3(now.w, i), load3(now.v, i)
    y = add(load3(step.Y, i), cross(load3(step.omega, i), c))
    change = scale(2.0, sub(y, v0))
    J = load9(bodies.J, i)
    w1 = sub(scale(2.0, eta), w0)
    momentum, kinetic = apply(J, w1), m * dot(y, change) + 2.0 * dot(eta, apply(J, sub(eta, w0)))
    if shares:
        shared = load3(step.shared, i, 3)
        momentum, kinetic = add(momentum, shared), kinetic + dot(eta, sub(shared, load3(step.shared, i)))
    after = apply(load9(end.R, i), momentum)
    linear = scale(m, plus3(change, -h, g))
    store(linear, step.rho, i)
    store(add(sub(after, load3(step.spun, i)), cross(c, linear)), step.rho, i, 3)
    potential = -h * m * dot(g, y)
    return kinetic, potential, dot(after, after) + m * m * (h * h * dot(g, g) + dot(v0, v0))


@inline_kernel
def drag_body(bodies: Bodies, i: int, h: float, step: Step) -> None:
    """External viscous damping of node i. Both parts act on mean velocities in mean axes."""
    R = load9(step.R_mean, i)
    u = apply_transpose(R, load3(step.Y, i))
    eta = load3(step.Y, i, 3)
    d = bodies.viscous[i]
    force = (d[0] * u[0], d[1] * u[1], d[2] * u[2])
    torque = (d[3] * eta[0], d[4] * eta[1], d[5] * eta[2])
    add_to(h, apply(R, force), step.rho, i)
    add_to(h, apply(R, torque), step.rho, i, 3)


@kernel
def wrench_on(wrenches: Wrenches, k: int, load: Floats, R_mean: Floats) -> tuple[Vector, Vector]:
    """World force, and torque about the node, of row k."""
    i, j = wrenches.node[k], wrenches.load[k]
    R = load9(R_mean, i)
    force = scale(wrenches.weight[k], load3(load, j))
    torque = scale(wrenches.weight[k], load3(load, j, 3))
    if not wrenches.world[k]:
        axes = load9(R_mean, wrenches.axes[k])
        force, torque = apply(axes, force), apply(axes, torque)
    return force, add(torque, cross(apply(R, load3(wrenches.point, k)), force))


@kernel
def begin_step(mechanism: Mechanism, motion: Motion) -> None:
    """What the balance knows of the start of a step, whatever its unknowns are."""
    tree, elements, now, step = mechanism.tree, mechanism.elements, motion.now, motion.step
    if elements.couples:
        step.shared[:] = 0.0
        for i in range(tree.parent.shape[0]):
            if tree.joint_type[i] == ELEMENT:
                spins = load3(now.w, tree.parent[i]), load3(now.w, i)
                add_shared_momenta(elements, tree.parent[i], i, motion.start.strain, spins, step.shared, 0)
    for i in range(tree.parent.shape[0]):
        momentum = add(apply(load9(mechanism.bodies.J, i), load3(now.w, i)), load3(step.shared, i))
        store(apply(load9(motion.start.R, i), momentum), step.spun, i)


@inline_kernel
def share_momenta(mechanism: Mechanism, motion: Motion) -> None:
    """Momenta at the end of the step that nodes have by the spins of their neighbours."""
    tree, elements, step = mechanism.tree, mechanism.elements, motion.step
    for i in range(tree.parent.shape[0]):
        store((0.0, 0.0, 0.0), step.shared, i, 3)
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            spins = end_spin(tree.parent[i], motion), end_spin(i, motion)
            add_shared_momenta(elements, tree.parent[i], i, motion.end.strain, spins, step.shared, 3)


@inline_kernel
def balance_nodes(mechanism: Mechanism, motion: Motion, sums: Floats) -> None:
    """Balance of bodies, elements, damping and loads on every node; measures every element."""
    tree, bodies, signals, step = mechanism.tree, mechanism.bodies, motion.signals, motion.step
    h = signals.h[0]
    elements, g = mechanism.elements, (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
    kinetic, potential, strain, scale_2, floor_2 = 0.0, 0.0, 0.0, 0.0, 0.0
    measure_ends(elements, tree, motion)
    if elements.couples:
        share_momenta(mechanism, motion)
    for i in range(tree.parent.shape[0]):
        dK, dV, size = balance_body(bodies, elements.couples, i, motion)
        kinetic += dK
        potential += dV
        scale_2 += size
        if bodies.viscous[i, 0].real >= 0.0:
            drag_body(bodies, i, h, step)
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            work, size, rounding, dK = balance_element(elements, tree.parent[i], i, motion)
            strain += work
            scale_2 += size
            floor_2 += rounding
            kinetic += dK
            if elements.couples:
                dK, dV = balance_shared(elements, g, tree.parent[i], i, motion)
                kinetic += dK
                potential += dV
    for k in range(mechanism.wrenches.load.shape[0]):
        i = mechanism.wrenches.node[k]
        force, torque = wrench_on(mechanism.wrenches, k, signals.load, step.R_mean)
        add_to(-h, force, step.rho, i)
        add_to(-h, torque, step.rho, i, 3)
        scale_2 += h * h * (dot(force, force) + dot(torque, torque))
    sums[EXCHANGE] = abs(kinetic) + abs(potential) + abs(strain)
    sums[SCALE] = scale_2
    sums[FLOOR] = floor_2 + (8.0 * EPSILON) ** 2 * scale_2
    sums[KINETIC_CHANGE], sums[LIFT] = kinetic, potential


@kernel
def along_joint(tree: Tree, i: int, step: Step, rho: Floats) -> float:
    """The part of the impulse of child i that acts along its joint."""
    return dot(load3(step.axis, i), load3(rho, i, 3 if tree.joint_type[i] == REVOLUTE else 0))


@kernel
def pass_to_parent(tree: Tree, i: int, row: float, step: Step, rho: Floats) -> None:
    """Add what its joint transmits of the impulse of child i to its parent's, about the parent's origin.

    ``row`` is the part along the axis that the joint does not transmit: zero once balanced, but a light parent
    must not carry what a heavy child still lacks.
    """
    linear, angular, axis, p = load3(rho, i), load3(rho, i, 3), load3(step.axis, i), tree.parent[i]
    if row != 0.0:
        part = scale(-row / dot(axis, axis), axis)
        if tree.joint_type[i] == REVOLUTE:
            angular = add(angular, part)
        else:
            linear = add(linear, part)
    add_to(1.0, linear, rho, p)
    add_to(1.0, add(angular, cross(load3(step.lever, i), linear)), rho, p, 3)


@inline_kernel
def balance_joints(mechanism: Mechanism, motion: Motion) -> None:
    """Rows of the joint coordinates; impulses of joint children added to their parents, leaves to root."""
    tree, laws, now, step = mechanism.tree, mechanism.coordinates, motion.now, motion.step
    h = motion.signals.h[0]
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        if tree.joint_type[i] < FIXED:
            continue
        c = tree.coordinate[i]
        if c >= 0:
            way = (motion.start.q[c], h * step.s[i] * step.share[i])
            effort, slope = joint_effort(laws, c, h, way, motion.signals.target[c], (now.qd, now.motor))
            step.torque[c, 0], step.torque[c, 1] = effort, slope
            step.row[i] = along_joint(tree, i, step, step.rho) - h * effort * step.share[i]
        kept_back = step.row[i] if c >= 0 and not laws.prescribed[c] else 0.0
        pass_to_parent(tree, i, kept_back, step, step.rho)


@inline_kernel
def unbalanced(tree: Tree, prescribed: Bools, step: Step) -> tuple[float, float]:
    """Square of all that is not balanced, and the energy it amounts to: an identity for any iterate."""
    total, energy = 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == FREE or tree.joint_type[i] == ELEMENT:
            linear, angular = load3(step.rho, i), load3(step.rho, i, 3)
            total += dot(linear, linear) + dot(angular, angular)
            energy += dot(linear, load3(step.Y, i)) + dot(angular, load3(step.omega, i))
        elif tree.coordinate[i] >= 0 and not prescribed[tree.coordinate[i]]:
            axis, p = load3(step.axis, i), tree.parent[i]
            carried = load3(step.omega, p)
            if tree.joint_type[i] != REVOLUTE:
                carried = add(load3(step.Y, p), cross(carried, load3(step.lever, i)))
            total += step.row[i] * step.row[i]
            energy += step.row[i] * (step.s[i] + dot(axis, carried) / dot(axis, axis))
    return total, energy


@kernel
def kinetic_energy(mechanism: Mechanism, now: Pose, at: Moment) -> float:
    """Of the bodies, of the rotors, and what nodes of elements share."""
    tree, bodies, laws = mechanism.tree, mechanism.bodies, mechanism.coordinates
    total = 0.0
    for i in range(bodies.mass.shape[0]):
        v, w = load3(now.v, i), load3(now.w, i)
        total += 0.5 * (bodies.mass[i] * dot(v, v) + dot(w, apply(load9(bodies.J, i), w)))
    for c in range(laws.spring.shape[0]):
        if laws.has_motor[c]:
            total += 0.5 * laws.motor[c, 0] * now.motor[c, 1] ** 2
    if mechanism.elements.couples:
        for i in range(tree.parent.shape[0]):
            if tree.joint_type[i] == ELEMENT:
                total += shared_energy(mechanism.elements, tree.parent[i], i, now, at)
    return total


@kernel
def joint_energy(laws: Coordinates, now: Pose) -> float:
    """Of the springs, stops and gears of the joint coordinates."""
    total = 0.0
    for c in range(laws.spring.shape[0]):
        total += coordinate_energy(laws, c, now.q[c], now.motor[c, 0])
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
def node_losses(mechanism: Mechanism, motion: Motion) -> tuple[float, float, float]:
    """Change of the elements' energy, material and external viscous loss."""
    tree, bodies, h, step = mechanism.tree, mechanism.bodies, motion.signals.h[0], motion.step
    stored, material, viscous = 0.0, 0.0, 0.0
    for i in range(tree.parent.shape[0]):
        if bodies.viscous[i, 0].real >= 0.0:
            u = apply_transpose(load9(step.R_mean, i), load3(step.Y, i))
            for k in range(3):
                viscous += h * bodies.viscous[i, k] * u[k] * u[k]
                viscous += h * bodies.viscous[i, 3 + k] * step.Y[i, 3 + k] ** 2
        if tree.joint_type[i] == ELEMENT:
            kept, lost = element_change(mechanism.elements, i, h, motion.start, motion.end)
            stored += kept
            material += lost
    return stored, material, viscous


@inline_kernel
def port_flows(mechanism: Mechanism, motion: Motion, ledger: RunningLedger) -> tuple[float, float, float]:
    """Works of drives, base and loads of a step into the ledger, rotors moved on.

    Returns the kinetic energy that rotors gained, and what joints and lines stored and lost.

    The base is the last of the ledger's joints.
    """
    tree, laws, wrenches = mechanism.tree, mechanism.coordinates, mechanism.wrenches
    now, start, step, signals = motion.now, motion.start, motion.step, motion.signals
    h = signals.h[0]
    base = laws.spring.shape[0]
    ledger.step_joints[base] = 0.0
    spun = 0.0
    stored, lost = enter_lines(mechanism.lines, h, start, step)
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if tree.joint_type[i] == GROUND:
            ledger.step_joints[base] += dot(load3(step.rho, i), load3(step.Y, i))
            ledger.step_joints[base] += dot(load3(step.rho, i, 3), load3(step.omega, i))
        elif c >= 0:
            way = (start.q[c], h * step.s[i] * step.share[i])
            work, gained, kept, taken = enter_joint(laws, c, h, way, signals.target[c], (now.qd, now.motor))
            spun += gained
            stored += kept
            lost += taken
            ledger.step_joints[c] = step.s[i] * step.row[i] if laws.prescribed[c] else work
    ledger.step_loads[:] = 0.0
    for k in range(wrenches.load.shape[0]):
        i = wrenches.node[k]
        force, torque = wrench_on(wrenches, k, signals.load, step.R_mean)
        work = dot(force, load3(step.Y, i)) + dot(torque, load3(step.omega, i))
        ledger.step_loads[wrenches.load[k]] += h * work
    return spun, stored, lost
