"""First and second derivatives of lines in small body displacements of their two nodes.

Rows of twelve numbers, node a first: phi' = gradient . (V_a, V_b) with body twists. Second derivatives are complex
derivatives of the gradients, exact to round-off.

Effort of the law of each joint coordinate at one instant, and its derivatives.

The same laws as in `coordinate_law`, where they are means over a step.

Motions of a tree in relative displacements, and how they carry over to the nodes.

A node moves against its parent by the body displacement S y: one unknown for a revolute or prismatic joint, three for a
ball joint, six for an element, a free node and the base. Seen in its own frame it is displaced by

    chi = A chi_parent + S y ,     A' = -bracket(rho) A ,   rho = S y' the relative twist of the motion,

and so are virtual displacements, twists and their derivatives. In these unknowns elements have stiffness of their
own and rigid motions strain nothing, so that slow motions keep their digits beside stiff links.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.mechanics.joint_laws import SMOOTHING, STATIC, friction_force, stops_slopes
from pliant.spatial.arrays import STEP, bracket, hat, logarithm_tangent, to_frame, twist_from_pose
from pliant.structures.nodal.joint_laws import GEAR_DAMPING, GEAR_STIFFNESS, ROTOR, TORQUE_LIMIT
from pliant.structures.nodal.mechanism import (
    ALONG,
    BUSHING,
    CABLE,
    DIRECTION,
    DISTANCE,
    ELEMENT,
    FIXED,
    FREE,
    GROUND,
    REVOLUTE,
    SPRING,
    WALL,
    Coordinates,
    Floats,
    Ints,
    Lines,
    Tree,
)

Numbers = NDArray[Any]


class Pair(NamedTuple):
    """Positions and rotations of the two nodes of a line, with any number of leading axes."""

    xa: Numbers
    Ra: Numbers
    xb: Numbers
    Rb: Numbers


def displaced(pair: Pair, displacements: Floats) -> Pair:
    """Moved by imaginary body displacements (..., 12), for complex derivatives along them."""
    d = 1j * STEP * displacements
    return Pair(
        pair.xa + d[..., :3] @ pair.Ra.T,
        pair.Ra + pair.Ra @ hat(d[..., 3:6]),
        pair.xb + d[..., 6:9] @ pair.Rb.T,
        pair.Rb + pair.Rb @ hat(d[..., 9:]),
    )


def pair_of(lines: Lines, k: int, x: Floats, R: Floats) -> Pair:
    a, b = lines.node[k]
    return Pair(x[a], R[a], x[b], R[b])


def gradient(lines: Lines, k: int, pair: Pair) -> Floats:
    """Gradient (12,) of line k."""
    if lines.measure[k] >= BUSHING:
        rows: Floats = _bushing(lines, k, pair, np.zeros((1, 12)))[0].real
        return rows
    plain: Floats = _plain(lines, k, pair)
    return plain


def gradient_changes(lines: Lines, k: int, pair: Pair, displacements: Floats) -> Floats:
    """Derivatives (m, 12) of the gradient of line k along body displacements (m, 12) of its nodes."""
    bushing = lines.measure[k] >= BUSHING
    rows = (
        _bushing(lines, k, pair, displacements)
        if bushing
        else _plain(lines, k, displaced(pair, displacements))
    )
    return np.asarray(rows.imag / STEP)


def _turned(R: Numbers, v: Numbers) -> Numbers:
    """R^T v."""
    return np.asarray((np.swapaxes(R, -1, -2) @ v[..., None])[..., 0])


def _plain(lines: Lines, k: int, pair: Pair) -> Numbers:
    kind = lines.measure[k]
    (ca, cb), (da, db) = lines.point[k], lines.direction[k]
    if kind == DIRECTION:
        on_a = np.cross(da, _turned(pair.Ra, pair.Rb @ db))
        on_b = np.cross(db, _turned(pair.Rb, pair.Ra @ da))
        none = np.zeros_like(on_a)
        return np.concatenate([none, on_a, none, on_b], axis=-1)
    end = pair.xb + pair.Rb @ cb - pair.xa
    if kind == ALONG:
        place, force = _turned(pair.Ra, end), _turned(pair.Rb, pair.Ra @ da)
        d = np.broadcast_to(da, place.shape)
        return np.concatenate([-d, -np.cross(place, d), force, np.cross(cb, force)], axis=-1)
    e = np.broadcast_to(np.eye(3)[min(kind, 2)], end.shape)
    if kind == DISTANCE:
        r = end - pair.Ra @ ca
        e = r / np.sqrt(np.sum(r * r, axis=-1, keepdims=True))
    fa, fb = _turned(pair.Ra, e), _turned(pair.Rb, e)
    return np.concatenate([-fa, -np.cross(ca, fa), fb, np.cross(cb, fb)], axis=-1)


def _bushing(lines: Lines, k: int, pair: Pair, displacements: Floats) -> Numbers:
    """Row of the derivative of log(g_A^-1 g_B) of frames fixed to the nodes, moved by imaginary displacements."""
    (ca, cb), (Qa, Qb) = lines.point[k], lines.turn[k].reshape(2, 3, 3)
    Ra, Rb = pair.Ra @ Qa, pair.Rb @ Qb
    between = np.eye(4)
    between[:3, :3] = Ra.T @ Rb
    between[:3, 3] = Ra.T @ (pair.xb + pair.Rb @ cb - pair.xa - pair.Ra @ ca)
    on_a, on_b, across = to_frame(Qa, ca), to_frame(Qb, cb), to_frame(between[:3, :3], between[:3, 3])
    log = twist_from_pose(between)
    relative = displacements[:, 6:] @ on_b.T - displacements[:, :6] @ (across @ on_a).T
    moved = log + 1j * STEP * relative @ logarithm_tangent(log).T
    turned = across - 1j * STEP * bracket(relative) @ across
    row = logarithm_tangent(moved)[:, lines.measure[k] - BUSHING]
    return np.concatenate([-np.einsum("mi,mij->mj", row, turned) @ on_a, row @ on_b], axis=1)


class LineForces(NamedTuple):
    """What lines with a law do: forces (lines,), and their derivatives in phi and phi' (lines, lines)."""

    force: Floats
    stiffness: Floats
    damping: Floats


def line_forces(lines: Lines, phi: Floats, rate: Floats) -> LineForces:
    """Forces of springs, of walls that touch and of taut cables; closed lines have none here."""
    count = len(phi)
    force, stiffness, damping = np.zeros(count), np.zeros((count, count)), np.zeros((count, count))
    for k in range(count):
        law, (first, width) = lines.law[k], lines.group[k]
        span = slice(first, first + width)
        rows = lines.stiffness[k, :width], lines.damping[k, :width]
        if law == CABLE:
            rows = np.full(width, lines.stiffness[k, 0]), np.full(width, lines.damping[k, 0])
        past = phi[span] - lines.rest[span]
        value = rows[0] @ past + rows[1] @ rate[span]
        touches = law == WALL and past[0] < 0.0 and value < 0.0
        taut = law == CABLE and past.sum() > 0.0 and value > 0.0
        if law == SPRING or touches or taut:
            force[k], stiffness[k, span], damping[k, span] = value, *rows
    return LineForces(force, stiffness, damping)


class Slopes(NamedTuple):
    """Efforts on the coordinates and then on the rotors of elastic gears, with derivatives; mass is that of rotors."""

    effort: Floats
    stiffness: Floats  # minus the derivative in positions
    damping: Floats  # minus the derivative in rates
    mass: Floats
    rotors: Ints  # coordinates whose gear is elastic
    driven: Ints  # (coordinates,) the unknown on which the drive of each coordinate acts


def coordinate_slopes(laws: Coordinates, target: Floats, q: Floats, qd: Floats, motor: Floats) -> Slopes:
    """``target`` (coordinates, 3): reference position, reference rate, feedforward."""
    count = len(q)
    elastic = laws.has_motor & (laws.motor[:, GEAR_STIFFNESS] > 0.0) & ~laws.prescribed
    rotors = np.flatnonzero(elastic)
    size = count + len(rotors)
    effort, mass = np.zeros(size), np.zeros((size, size))
    K, D = np.zeros((size, size)), np.zeros((size, size))
    effort[:count] = -laws.spring * (q - laws.spring_rest) - laws.viscous * qd
    own = np.arange(count)
    K[own, own], D[own, own] = laws.spring, laws.viscous
    _add_friction(laws, qd, effort, D)
    driven = own.copy()
    driven[rotors] = count + np.arange(len(rotors))
    for c in range(count):
        force, stiffness, damping = stops_slopes(laws.stops[c], float(q[c]), float(qd[c]))
        effort[c] += force
        K[c, c] += stiffness
        D[c, c] += damping
        if laws.prescribed[c]:
            continue
        d = driven[c]
        angle, rate = (motor[c, 0], motor[c, 1]) if elastic[c] else (q[c], qd[c])
        torque = target[c, 2] - laws.gain[c] @ (angle - target[c, 0], rate - target[c, 1])
        limit = laws.motor[c, TORQUE_LIMIT] if laws.has_motor[c] else np.inf
        if abs(torque) <= limit:
            K[d, d] += laws.gain[c, 0]
            D[d, d] += laws.gain[c, 1]
        effort[d] += np.clip(torque, -limit, limit)
        if laws.has_motor[c]:
            mass[d, d] = laws.motor[c, ROTOR]
        if elastic[c]:
            k, d_gear = laws.motor[c, GEAR_STIFFNESS], laws.motor[c, GEAR_DAMPING]
            gear = k * (angle - q[c]) + d_gear * (rate - qd[c])
            effort[c] += gear
            effort[d] -= gear
            both = np.ix_((c, d), (c, d))
            opposite = np.array([[1.0, -1.0], [-1.0, 1.0]])
            K[both] += k * opposite
            D[both] += d_gear * opposite
    return Slopes(effort, K, D, mass, rotors, driven)


def _add_friction(laws: Coordinates, qd: Floats, effort: Floats, D: Floats) -> None:
    """A ball joint feels friction against the size of its spin, along the spin."""
    for c in range(len(qd)):
        law, first = laws.friction[c], laws.ball[c]
        if law[STATIC] <= 0.0 or (first >= 0 and c != first):
            continue
        if first < 0:
            force, slope = friction_force(law, float(qd[c]))
            effort[c] -= force
            D[c, c] += slope
            continue
        three = slice(first, first + 3)
        moment, steepness = friction_along(law, qd[three])
        effort[three] -= moment
        D[three, three] += steepness


def friction_along(law: Floats, rate: Floats) -> tuple[Floats, Floats]:
    """Friction (3,) against the size of a velocity, along it, and its derivative (3, 3)."""
    size, least = float(np.linalg.norm(rate)), 1e-3 * float(law[SMOOTHING])
    force, slope = friction_force(law, max(size, least))
    level = force / max(size, least)
    along = np.outer(rate, rate) / size**2 if size > least else np.zeros((3, 3))
    return level * rate, level * (np.eye(3) - along) + slope * along


class Columns(NamedTuple):
    """The unknowns of each node: where they stand, and the directions in which they move it."""

    place: tuple[slice, ...]
    S: tuple[Floats, ...]  # (6, unknowns of the node)
    total: int


class Maps(NamedTuple):
    """Matrices (nodes, 6, unknowns) from unknowns to body displacements of the nodes, and their time derivatives."""

    T: Floats
    rate: Floats
    acceleration: Floats


def columns_of(tree: Tree) -> Columns:
    """The three revolutes of a ball joint, freshly restarted, are one joint: the last has all three directions."""
    place, S, count = [], [], 0
    in_ball = np.flatnonzero(tree.restarts)
    for i in range(len(tree.parent)):
        if tree.joint_type[i] in (GROUND, FREE, ELEMENT):
            directions = np.eye(6)
        elif tree.joint_type[i] == FIXED or i in in_ball or i - 1 in in_ball:
            directions = np.zeros((6, 0))
        elif i - 2 in in_ball:
            directions = np.concatenate([np.zeros((3, 3)), tree.axis[i - 2 : i + 1].T])
        else:
            directions = np.zeros((6, 1))
            directions[3 if tree.joint_type[i] == REVOLUTE else 0 :, 0][:3] = tree.axis[i]
        place.append(slice(count, count + directions.shape[1]))
        S.append(directions)
        count += directions.shape[1]
    return Columns(tuple(place), tuple(S), count)


def to_children(tree: Tree, x: Floats, R: Floats) -> Floats:
    """The matrices A (nodes, 6, 6); zero where a node hangs on nothing."""
    parent = np.maximum(tree.parent, 0)
    back = np.swapaxes(R[parent], -1, -2)
    A = to_frame(back @ R, np.einsum("nij,nj->ni", back, x - x[parent]))
    A[tree.parent < 0] = 0.0
    return A


def maps(
    tree: Tree, columns: Columns, A: Floats, rates: Floats | None = None, accelerations: Floats | None = None
) -> Maps:
    """T and its derivatives for the rates of the unknowns and their derivatives; without them only T is filled."""
    nodes, n = len(A), columns.total
    T, T1, T2 = (np.zeros((nodes, 6, n)) for _ in range(3))
    moves = rates is not None and bool(np.any(rates))
    changes = accelerations is not None and bool(np.any(accelerations))
    for i in range(nodes):
        p, place, S = tree.parent[i], columns.place[i], columns.S[i]
        if p >= 0:
            T[i] = A[i] @ T[p]
            if moves:
                assert rates is not None
                turn = bracket(S @ rates[place])
                T1[i] = A[i] @ T1[p] - turn @ T[i]
                T2[i] = A[i] @ T2[p] - 2.0 * turn @ (A[i] @ T1[p]) + turn @ turn @ T[i]
            if changes:
                assert accelerations is not None
                if not moves:
                    T2[i] = A[i] @ T2[p]
                T2[i] -= bracket(S @ accelerations[place]) @ T[i]
        T[i][:, place] += S
    return Maps(T, T1, T2)


def gather(tree: Tree, A: Floats, wrenches: Floats) -> Floats:
    """Sum of the wrenches (nodes, 6) on each node and on all that hangs on it, in its frame."""
    total = wrenches.copy()
    for i in range(len(A) - 1, -1, -1):
        if tree.parent[i] >= 0:
            total[tree.parent[i]] += A[i].T @ total[i]
    return total
