"""The equations of a mechanism of nodes in descriptor form,  0 = F(t, y, y') , as [damic2006] writes them.

Of every node its place r, two directors m and n (l = m x n), R = (m n l), and its twist V are unknowns; of every joint
the impulse mu of its force and moment in the world, its coordinate q and its rate s; of every closed line its impulse.

    r' = R v ,   m' = w_z n - w_y l ,   n' = w_x l - w_z m ,            V = (v, w) in the axes of the node
    M V' - bracket(V)^T M V - gravity - loads + drag + elements + lines = forces of joints      (`instant_balance`)
    R_i v_i = R_p (v_p + w_p x o) + s R_p a ,   o = offset + q a         translation, a of a prismatic joint
    R_i w_i = R_p w_p + s R_p a                                          (19), (20), a of a revolute joint
    q' = s ,   a . R_p^T mu' = effort  or, if it is prescribed,  s = its rate

Constraints act on velocities, so that positions drift by the error of the integration; how far is reported. Forces are
the rates of impulses, which leaves the index at one [gear1988]. All numbers are complex: imaginary parts carry exact
derivatives, and columns that meet in no row are taken at once.
"""

from __future__ import annotations

from typing import NamedTuple

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import GEAR_DAMPING, NO_TIME, ROTOR, along_spin, instant_effort, passive_effort
from pliant.spatial.arrays import STEP
from pliant.spatial.rows import add_to, load3, load6, load9, plus3, plus6, store
from pliant.spatial.se3 import angular, linear
from pliant.spatial.vectors import Vector, add, apply, apply_transpose, cross, dot, product, scale, sub, transpose
from pliant.structures.nodal.balance import wrench_on
from pliant.structures.nodal.codes import ELEMENT, PRISMATIC, REVOLUTE
from pliant.structures.nodal.element import element_change, instant_wrench
from pliant.structures.nodal.instant_balance import (
    Flow,
    Numbers,
    lacking,
    measure_instant,
    pull_of_lines,
    seen_by_child,
)
from pliant.structures.nodal.mechanism import Floats, Ints, Mechanism, Tree
from pliant.structures.relations import SPRING

# unknowns of a node: its place, two directors, its twist
M_DIRECTOR, N_DIRECTOR, TWIST, OF_NODE = 3, 6, 9, 15
# of a joint: its impulse, coordinate and rate
Q, S, OF_JOINT = 6, 7, 8
GRAVITY, MATERIAL, DRAG, JOINTS, WORKS = 0, 1, 2, 3, 4  # powers
RESIDUAL, JACOBIAN, POWERS = 0, 1, 2  # what is asked for


class Places(NamedTuple):
    """Where the unknowns stand, and which columns of the Jacobian are taken at once."""

    node: Ints  # (nodes,) first of the unknowns of each, -1: a base
    joint: Ints  # (nodes,) the same of its joint, -1: none
    rotor: Ints  # (coordinates,) angle and rate of a rotor, -1: none
    line: Ints  # (lines,) impulse of a closed line, -1: none
    color: Ints  # (colors + 1,) first of the columns of each color
    column: Ints  # (unknowns,) by color
    first: Ints  # (unknowns + 1,) first of the rows of each column
    row: Ints


class Pieces(NamedTuple):
    """Drives and loads as Chebyshev polynomials in pieces of time (`SmoothSignals`)."""

    edges: Floats
    coefficients: Floats


class Numbered(NamedTuple):
    """Unknowns, their rates and what the equations lack, (1, unknowns)."""

    y: Numbers
    rate: Numbers
    out: Numbers


class System(NamedTuple):
    """A mechanism with the places of its unknowns and the scratch of a run."""

    mechanism: Mechanism
    places: Places
    pieces: Pieces
    flow: Flow
    at: Numbered


@inline_kernel
def polynomial(pieces: Pieces, k: int, x: float, column: int) -> float:
    """Column of piece k at x between -1 and 1, by Clenshaw's recursion."""
    c, before, last = pieces.coefficients, 0.0, 0.0
    for d in range(c.shape[1] - 1, 0, -1):
        before, last = last, 2.0 * x * last - before + c[k, d, column]
    return float(x * last - before + c[k, 0, column])


@inline_kernel
def read_signals(pieces: Pieces, t: float, flow: Flow) -> None:
    """Targets and loads of an instant."""
    k, last = 0, pieces.edges.shape[0] - 1
    while last - k > 1:
        middle = (k + last) // 2
        if pieces.edges[middle] <= t:
            k = middle
        else:
            last = middle
    a, b = pieces.edges[k], pieces.edges[k + 1]
    x, column = (2.0 * t - a - b) / (b - a), 0
    for c in range(flow.target.shape[0]):
        for part in range(3):
            flow.target[c, part] = polynomial(pieces, k, x, column)
            column += 1
    for n in range(flow.load.shape[0]):
        for part in range(6):
            flow.load[n, part] = polynomial(pieces, k, x, column)
            column += 1


@inline_kernel
def place_motion(mechanism: Mechanism, places: Places, at: Numbered, flow: Flow) -> None:
    """Poses, twists and coordinates from the unknowns; rows of kinematics."""
    y, rate, out = at.y, at.rate, at.out
    for i in range(places.node.shape[0]):
        k, j, c = places.node[i], places.joint[i], mechanism.tree.coordinate[i]
        if k >= 0:
            m, n, V = load3(y, 0, k + M_DIRECTOR), load3(y, 0, k + N_DIRECTOR), load6(y, 0, k + TWIST)
            l, w = cross(m, n), angular(V)
            R = (m[0], n[0], l[0], m[1], n[1], l[1], m[2], n[2], l[2])
            store(load3(y, 0, k), flow.at.x, i)
            store(R, flow.at.R, i)
            store(V, flow.V, i)
            store(load6(rate, 0, k + TWIST), flow.V_dot, i)
            store(sub(load3(rate, 0, k), apply(R, linear(V))), out, 0, k)
            turning_m, turning_n = sub(scale(w[2], n), scale(w[1], l)), sub(scale(w[0], l), scale(w[2], m))
            store(sub(load3(rate, 0, k + M_DIRECTOR), turning_m), out, 0, k + M_DIRECTOR)
            store(sub(load3(rate, 0, k + N_DIRECTOR), turning_n), out, 0, k + N_DIRECTOR)
        if c >= 0:
            flow.q[c], flow.qd[c], flow.qdd[c] = y[0, j + Q], y[0, j + S], rate[0, j + S]
            out[0, j + Q] = rate[0, j + Q] - y[0, j + S]
    for c in range(places.rotor.shape[0]):
        k = places.rotor[c]
        if k >= 0:
            flow.rotor[c, 0], flow.rotor[c, 1], flow.rotor[c, 2] = y[0, k], y[0, k + 1], rate[0, k + 1]
            out[0, k] = rate[0, k] - y[0, k + 1]
    for k in range(places.line.shape[0]):
        if places.line[k] >= 0:
            flow.pull[k] = rate[0, places.line[k]]


@inline_kernel
def place_elements(tree: Tree, flow: Flow) -> None:
    """Poses of the ends of elements against their parents."""
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            p = tree.parent[i]
            back = transpose(load9(flow.at.R, p))
            store(apply(back, sub(load3(flow.at.x, i), load3(flow.at.x, p))), flow.r, i)
            store(product(back, load9(flow.at.R, i)), flow.turn, i)


@inline_kernel
def add_elements(mechanism: Mechanism, flow: Flow) -> None:
    """Wrenches of the elements on both of their nodes."""
    tree = mechanism.tree
    for i in range(tree.parent.shape[0]):
        if tree.joint_type[i] == ELEMENT:
            p, r, turn = tree.parent[i], load3(flow.r, i), load9(flow.turn, i)
            rho = plus6(load6(flow.V, i), -1.0, seen_by_child(r, turn, load6(flow.V, p)))
            n, m = instant_wrench(mechanism.elements, i, r, turn, rho, flow.at)
            add_to(1.0, n, flow.wrench, i)
            add_to(1.0, m, flow.wrench, i, 3)
            force, torque = apply(turn, n), apply(turn, m)
            add_to(-1.0, force, flow.wrench, p)
            add_to(-1.0, add(torque, cross(r, force)), flow.wrench, p, 3)


@inline_kernel
def add_efforts(mechanism: Mechanism, places: Places, flow: Flow, out: Numbers) -> None:
    """Efforts of all joint laws and rotors; rows of the rotors."""
    laws = mechanism.coordinates
    for c in range(laws.spring.shape[0]):
        joint, rotor = (flow.q[c], flow.qd[c]), (flow.rotor[c, 0], flow.rotor[c, 1])
        effort, turning = instant_effort(laws, c, joint, flow.qd, flow.target[c], rotor)
        flow.effort[c, 0], flow.effort[c, 1] = effort, turning
        if places.rotor[c] >= 0:
            out[0, places.rotor[c] + 1] = laws.motor[c, ROTOR] * flow.rotor[c, 2] - turning
        elif laws.has_motor[c] and not laws.prescribed[c]:
            flow.effort[c, 0] -= laws.motor[c, ROTOR] * flow.qdd[c]


@inline_kernel
def join_nodes(mechanism: Mechanism, places: Places, flow: Flow, at: Numbered) -> None:
    """What joints transmit, and rows of their velocities and efforts."""
    tree, laws, out = mechanism.tree, mechanism.coordinates, at.out
    for i in range(tree.parent.shape[0]):
        k = places.joint[i]
        if k < 0:
            continue
        p, c = tree.parent[i], tree.coordinate[i]
        R, R_parent = load9(flow.at.R, i), load9(flow.at.R, p)
        V, V_parent = load6(flow.V, i), load6(flow.V, p)
        force, torque = load3(at.rate, 0, k), load3(at.rate, 0, k + 3)
        a = load3(tree.axis_parent, i)
        axis, place = apply(R_parent, a), load3(tree.offset, i)
        if tree.joint_type[i] == PRISMATIC:
            place = plus3(place, flow.q[c], a)
        moved = apply(R_parent, add(linear(V_parent), cross(angular(V_parent), place)))
        apart = sub(apply(R, linear(V)), moved)
        turning = sub(apply(R, angular(V)), apply(R_parent, angular(V_parent)))
        if tree.joint_type[i] == PRISMATIC:
            apart = plus3(apart, -flow.qd[c], axis)
        if tree.joint_type[i] == REVOLUTE:
            turning = plus3(turning, -flow.qd[c], axis)
        store(apart, out, 0, k)
        store(turning, out, 0, k + 3)
        if c >= 0:
            if laws.prescribed[c]:
                out[0, k + S] = flow.qd[c] - flow.target[c, 1]
            else:
                out[0, k + S] = along(tree, i, axis, force, torque) - flow.effort[c, 0]
        add_to(-1.0, apply_transpose(R, force), flow.wrench, i)
        add_to(-1.0, apply_transpose(R, torque), flow.wrench, i, 3)
        carried = apply_transpose(R_parent, force)
        add_to(1.0, carried, flow.wrench, p)
        add_to(1.0, add(apply_transpose(R_parent, torque), cross(place, carried)), flow.wrench, p, 3)


@inline_kernel
def along(tree: Tree, i: int, axis: Vector, force: Vector, torque: Vector) -> float:
    """The part of a wrench along the coordinate of node i."""
    return dot(axis, torque if tree.joint_type[i] == REVOLUTE else force)


@inner_kernel
def balance(system: System) -> None:
    """What all equations lack."""
    mechanism, places, flow, at = system.mechanism, system.places, system.flow, system.at
    place_motion(mechanism, places, at, flow)
    place_elements(mechanism.tree, flow)
    lacking(mechanism, flow)
    if mechanism.lines.measure.shape[0] > 0:
        measure_instant(mechanism.lines, flow)
        pull_of_lines(mechanism.lines, flow)
    add_elements(mechanism, flow)
    add_efforts(mechanism, places, flow, at.out)
    join_nodes(mechanism, places, flow, at)
    for i in range(places.node.shape[0]):
        if places.node[i] >= 0:
            store(load6(flow.wrench, i), at.out, 0, places.node[i] + TWIST)
    for n in range(places.line.shape[0]):
        if places.line[n] >= 0:
            at.out[0, places.line[n]] = flow.rate[n]


@inline_kernel
def differentiate_all(system: System, c: float, out: Floats) -> None:
    """F_y + c F_y', column by column of the pattern."""
    places, at = system.places, system.at
    for color in range(places.color.shape[0] - 1):
        for n in range(places.color[color], places.color[color + 1]):
            k = places.column[n]
            at.y[0, k], at.rate[0, k] = at.y[0, k] + STEP * 1j, at.rate[0, k] + c * STEP * 1j
        balance(system)
        for n in range(places.color[color], places.color[color + 1]):
            k = places.column[n]
            at.y[0, k], at.rate[0, k] = at.y[0, k].real, at.rate[0, k].real
            for m in range(places.first[k], places.first[k + 1]):
                out[m] = at.out[0, places.row[m]].imag / STEP


@inline_kernel
def powers_of_nodes(mechanism: Mechanism, flow: Flow, out: Floats) -> None:
    """Gravity, drag, material and loads."""
    bodies, wrenches, tree = mechanism.bodies, mechanism.wrenches, mechanism.tree
    g, loads = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2]), out.shape[0] - flow.load.shape[0]
    for i in range(bodies.mass.shape[0]):
        V, R = load6(flow.V, i), load9(flow.at.R, i)
        v = add(linear(V), cross(angular(V), load3(bodies.center, i)))
        out[GRAVITY] += bodies.mass[i] * dot(g, apply(R, v)).real
        if bodies.viscous[i, 0] >= 0.0:
            for k in range(6):
                out[DRAG] += bodies.viscous[i, k] * V[k].real * V[k].real
        if tree.joint_type[i] == ELEMENT:
            both = add(apply(R, linear(V)), apply(load9(flow.at.R, tree.parent[i]), load3(flow.V, tree.parent[i])))
            out[GRAVITY] += mechanism.elements.shared[i, 0] * dot(g, both).real
            out[MATERIAL] += element_change(mechanism.elements, i, NO_TIME, flow.at, flow.at)[1].real / NO_TIME
    for n in range(bodies.gripped.shape[0]):
        i = bodies.gripped[n]
        for k in range(6):
            spin = load3(flow.V, i, 3 * (k // 3))
            out[DRAG] += (along_spin(bodies.grip[n, k // 3], spin, flow.V[i, k])[0] * flow.V[i, k]).real
    for n in range(wrenches.load.shape[0]):
        i = wrenches.node[n]
        force, torque = wrench_on(wrenches, n, flow.load, flow.at.R)
        R, V = load9(flow.at.R, i), load6(flow.V, i)
        work = dot(force, apply(R, linear(V))) + dot(torque, apply(R, angular(V)))
        out[loads + wrenches.load[n]] += work.real


@inline_kernel
def powers_of_all(system: System, out: Floats) -> None:
    """Of gravity, lost in the material, by drag, in joints; then of drives, of the base and of loads."""
    mechanism, places, flow, at = system.mechanism, system.places, system.flow, system.at
    tree, laws, lines = mechanism.tree, mechanism.coordinates, mechanism.lines
    for k in range(out.shape[0]):
        out[k] = 0.0
    powers_of_nodes(mechanism, flow, out)
    for i in range(tree.parent.shape[0]):
        c = tree.coordinate[i]
        if c < 0:
            continue
        rate, rotor = flow.qd[c].real, flow.rotor[c, 1].real
        passive = passive_effort(laws, c, flow.qd, flow.q[c], flow.qd[c])[0].real
        out[JOINTS] -= (passive + laws.spring[c] * (flow.q[c].real - laws.spring_rest[c])) * rate
        if laws.prescribed[c]:
            k, axis = places.joint[i], apply(load9(flow.at.R, tree.parent[i]), load3(tree.axis_parent, i))
            held = along(tree, i, axis, load3(at.rate, 0, k), load3(at.rate, 0, k + 3)).real
            out[WORKS + c] = (held - flow.effort[c, 0].real) * rate
            continue
        torque = flow.effort[c, 0].real - passive
        if places.rotor[c] >= 0:
            out[WORKS + c] = (torque + flow.effort[c, 1].real) * rotor
            out[JOINTS] += laws.motor[c, GEAR_DAMPING] * (rotor - rate) ** 2
        elif laws.has_motor[c]:
            out[WORKS + c] = (torque + laws.motor[c, ROTOR] * flow.qdd[c].real) * rate
        else:
            # the damper of the feedback is a loss in the joint; the drive pays for it
            heat = laws.gain[c, 1] * rate * rate
            out[WORKS + c] = torque * rate + heat
            out[JOINTS] += heat
    for k in range(lines.measure.shape[0]):
        if lines.law[k] == SPRING:
            first = lines.group[k, 0]
            for j in range(lines.group[k, 1]):
                out[JOINTS] += lines.damping[k, j] * flow.rate[first + j].real * flow.rate[k].real


@kernel
def evaluate(system: System, what: int, t: float, c: float, y: Floats, rate: Floats, out: Floats) -> None:
    """F (unknowns,); or F_y + c F_y' by the pattern of its columns; or powers (4 + works,)."""
    at = system.at
    for k in range(y.shape[0]):
        at.y[0, k], at.rate[0, k] = y[k], rate[k]
    read_signals(system.pieces, t, system.flow)
    if what == JACOBIAN:
        differentiate_all(system, c, out)
        return
    balance(system)
    if what == POWERS:
        powers_of_all(system, out)
        return
    for k in range(y.shape[0]):
        out[k] = at.out[0, k].real
