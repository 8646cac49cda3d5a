"""Forces of springs, drives and loads on the coordinates, at one posture and velocity.

Closed loops: scalar relations between two bodies, their gradients, and velocities that fit them.

A constraint phi(q) = 0 has the gradient G_i = J_i . W_b over the way from body b to the base, less J_i . W_a over that
from a, where W is the wrench that a unit multiplier exerts, about the world's origin. A constraint that follows from
those before it makes the matrix  S = G A^-1 G^T  singular; its row is left out and its multiplier stays zero.
"""

from __future__ import annotations

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import SAME_SLOPE, STOP_STIFFNESS, friction_force, stops_energy, stops_force
from pliant.spatial.rows import dot6, load3, load6, load9, store
from pliant.spatial.se3 import Twist, angular, join, linear
from pliant.spatial.vectors import Vector, add, apply, cross, dot, scale, sub
from pliant.structures.change_points import LOOSE
from pliant.structures.loop_constraints import ALONG, DIRECTION
from pliant.structures.tree import columns as at
from pliant.structures.tree.arrays import Drives, JointLaws, Loops, Mechanism, Servos, Signals, Springs, Step, Wrenches
from pliant.structures.tree.cholesky import solve
from pliant.structures.tree.flexibility import condensed_force
from pliant.structures.tree.motion import Bools, Floats, Tree
from pliant.structures.tree.shapes import gather_forces, row_times

NO_TIME = 1e-30  # s, of a step that goes nowhere


@inline_kernel
def clipped(x: float, limit: float) -> float:
    return min(max(x, -limit), limit)


@inline_kernel
def rounded(x: float, resolution: float) -> float:
    return resolution * float(np.rint(x / resolution)) if resolution > 0.0 else x


@inline_kernel
def spring_forces(springs: Springs, q: Floats, v: Floats, step: Step) -> None:
    """Elastic and damping forces, as they resist."""
    span = springs.span
    for i in range(q.shape[0]):
        pull, field, joint = 0.0, 0.0, 0.0
        a, b, c, d = span[i, 0], span[i, 1], span[i, 2], span[i, 3]
        if b - a == 1:
            pull = springs.K[i, a] * (q[a] - springs.rest[a])
        elif b > a:
            # slices, so that the compiler knows that no index counts from the end
            row, at_q, rest = springs.K[i, a:b], q[a:b], springs.rest[a:b]
            for j in range(row.shape[0]):
                pull += row[j] * (at_q[j] - rest[j])
        if d > c:
            field, joint = row_times(springs.D_field, i, c, d, v), row_times(springs.D_joint, i, c, d, v)
        step.elastic[i] = pull
        step.lost_field[i] = field
        step.lost_joint[i] = joint


@kernel
def spring_energy(springs: Springs, q: Floats) -> float:
    """K (q - rest)^2 / 2, and that of stops."""
    energy, laws = 0.0, springs.laws
    for k in range(laws.coordinate.shape[0]):
        energy += stops_energy(laws.stops[k], q[laws.coordinate[k]])
    for i in range(q.shape[0]):
        pull = 0.0
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            pull += springs.K[i, j] * (q[j] - springs.rest[j])
        energy += 0.5 * pull * (q[i] - springs.rest[i])
    return energy


@inner_kernel
def law_forces(laws: JointLaws, q: Floats, v: Floats, h: float, step: Step) -> bool:
    """Adds friction and stops of a step of length h from q to elastic and lost forces; NO_TIME makes it an instant.

    Returns whether the factors know their slopes.
    """
    known = True
    for k in range(laws.coordinate.shape[0]):
        i = laws.coordinate[k]
        lost, steeper = friction_force(laws.friction[k], v[i])
        # where friction falls with the rate, a slope of its own would make the factors indefinite
        slope = 0.5 * h * max(steeper, 0.0)
        if laws.stops[k, STOP_STIFFNESS] > 0.0:
            push, elastic, stiffer = stops_force(laws.stops[k], q[i], h * v[i], h)
            step.elastic[i] -= elastic
            lost += elastic - push
            slope += 0.5 * h * h * stiffer
        step.lost_joint[i] += lost
        step.slope[k, at.NOW] = slope
        missing = abs(slope - step.slope[k, at.IN_FACTORS])
        known = known and missing <= SAME_SLOPE * (slope + step.slope[k, at.BESIDE])
    return known


@inner_kernel
def changed_law(step: Step) -> int:
    """The law whose slope has changed most since the factors were made."""
    worst, found = 0.0, -1
    for k in range(step.slope.shape[0]):
        now, old, beside = step.slope[k, at.NOW], step.slope[k, at.IN_FACTORS], step.slope[k, at.BESIDE]
        if abs(now - old) > worst * (now + beside):
            worst, found = abs(now - old) / (now + beside), k
    return found


@inner_kernel
def same_laws(step: Step) -> bool:
    """Whether the factors have the very slopes of all laws: where the rest of the arm gives way, less than what stands
    beside them holds a joint, and a slope that is a little off makes Newton's method creep."""
    for k in range(step.slope.shape[0]):
        now, old = step.slope[k, at.NOW], step.slope[k, at.IN_FACTORS]
        if abs(now - old) > SAME_SLOPE * max(now, abs(old)):
            return False
    return True


@inner_kernel
def add_falling_friction(laws: JointLaws, v: Floats, h: float, step: Step) -> bool:
    """Slopes of friction that falls with the rate, without which Newton's method is slow near the solution; whether
    there is any."""
    falls = False
    for k in range(laws.coordinate.shape[0]):
        _, slope = friction_force(laws.friction[k], v[laws.coordinate[k]])
        if slope < 0.0:
            step.slope[k, at.NOW] += 0.5 * h * slope
            falls = True
    return falls


@inline_kernel
def drive_force(drives: Drives, signals: Signals, held: float, i: int, q: float, v: float) -> float:
    """Of a coordinate that is not prescribed; ``held`` is what its servo holds."""
    target, gain = signals.target, drives.gain
    feedback = gain[i, 0] * (q - target[i, 0]) + gain[i, 1] * (v - target[i, 1])
    return clipped(target[i, 2] - feedback + held, drives.limit[i])


@inner_kernel
def sample_servos(servos: Servos, sampled: Bools, command: Floats, v: Floats, held: Floats, jump: Floats) -> bool:
    """Anew the torques of the servos whose instant this is, and by how much they jump; whether there was any.

    ``command`` holds a rate for each servo.
    """
    some = False
    for k in range(servos.coordinate.shape[0]):
        if sampled[k]:
            if not some:
                jump[:] = 0.0
                some = True
            i, law = servos.coordinate[k], servos.law[k]
            wanted = clipped(rounded(command[k], law[at.COMMAND_RESOLUTION]), law[at.COMMAND_LIMIT])
            seen = clipped(rounded(v[i], law[at.RATE_RESOLUTION]), law[at.RATE_LIMIT])
            torque = clipped(law[at.GAIN] * (wanted - seen), law[at.TORQUE_LIMIT])
            jump[i] = torque - held[i]
            held[i] = torque
    return some


@inline_kernel
def rotated(motion: Floats, body: int, x: Vector) -> Vector:
    return apply(load9(motion, body + 1, at.POSE_R), x)


@inline_kernel
def point_of(motion: Floats, body: int, x: Vector) -> Vector:
    """World position of a point given in the frame of a body."""
    return add(load3(motion, body + 1, at.POSE_X), rotated(motion, body, x))


@inner_kernel
def load_forces(tree: Tree, wrenches: Wrenches, load: Floats, motion: Floats, wrench: Floats, force: Floats) -> None:
    """Wrenches in the world about its origin, and their forces on the coordinates."""
    force[:] = 0.0
    for k in range(wrenches.load.shape[0]):
        body, m = wrenches.body[k], wrenches.load[k]
        f, n = scale(wrenches.weight[k], load3(load, m)), scale(wrenches.weight[k], load3(load, m, 3))
        if not wrenches.world[k]:
            f, n = rotated(motion, body, f), rotated(motion, body, n)
        W = join(f, add(n, cross(point_of(motion, body, load3(wrenches.point, k)), f)))
        store(W, wrench, k)
        i = body
        while i >= 0:
            force[i] += dot6(load6(motion, i + 1, at.AXIS), W)
            i = tree.joints[i, at.PARENT]


@inline_kernel
def instant_forces(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """All forces at (q_mid, w) but those of inertia and multipliers, with their sum in the residual; poses stand."""
    tree, drives = mechanism.tree, mechanism.drives
    spring_forces(mechanism.springs, step.q_mid, step.w, step)
    law_forces(mechanism.springs.laws, step.q_mid, step.w, NO_TIME, step)
    step.condensed[:] = 0.0
    if step.wrench.shape[0] > 0:
        load_forces(tree, mechanism.wrenches, signals.load, step.motion, step.wrench, step.joints.load)
        gather_forces(mechanism.shapes, step.joints.load, step.load)
    condensed_force(mechanism.condensed, tree, step.motion, step.q_mid, step.turn[1], step.condensed)
    for i in range(step.q.shape[0]):
        step.residual[i] = step.condensed[i] + step.load[i] - step.elastic[i]
        step.residual[i] -= step.lost_field[i] + step.lost_joint[i]
        if not drives.prescribed[i]:
            step.drive[i] = drive_force(drives, signals, step.held[i], i, step.q_mid[i], step.w[i])
            step.residual[i] += step.drive[i]


@inline_kernel
def load_power(tree: Tree, body: int, W: Twist, v: Floats, motion: Floats) -> float:
    """Power of a wrench on a body at the velocities v."""
    power, i = 0.0, body
    while i >= 0:
        power += v[i] * dot6(load6(motion, i + 1, at.AXIS), W)
        i = tree.joints[i, at.PARENT]
    return power


REDUNDANT = 1e-9  # part of a diagonal entry of S that elimination may leave of a constraint that says nothing new


@inline_kernel
def world_point(loops: Loops, k: int, side: int, motion: Floats) -> Vector:
    return point_of(motion, loops.body[k, side], load3(loops.point[k], side))


@inline_kernel
def world_direction(loops: Loops, k: int, side: int, motion: Floats) -> Vector:
    return rotated(motion, loops.body[k, side], load3(loops.direction[k], side))


@inline_kernel
def component(k: int) -> Vector:
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@inline_kernel
def constraint(loops: Loops, k: int, motion: Floats) -> float:
    """phi of constraint k."""
    measure = loops.measure[k]
    if measure == DIRECTION:
        return dot(world_direction(loops, k, 0, motion), world_direction(loops, k, 1, motion))
    violation = sub(world_point(loops, k, 1, motion), world_point(loops, k, 0, motion))
    if measure == ALONG:
        return dot(violation, world_direction(loops, k, 0, motion))
    return dot(violation, component(measure))


@inline_kernel
def constraint_wrenches(loops: Loops, k: int, motion: Floats) -> tuple[Twist, Twist]:
    """What a unit multiplier exerts on a and on b."""
    measure = loops.measure[k]
    none = (0.0, 0.0, 0.0)
    if measure == DIRECTION:
        turn = cross(world_direction(loops, k, 0, motion), world_direction(loops, k, 1, motion))
        return join(none, turn), join(none, scale(-1.0, turn))
    x_a, x_b = world_point(loops, k, 0, motion), world_point(loops, k, 1, motion)
    if measure == ALONG:
        d = world_direction(loops, k, 0, motion)
        moment = cross(x_b, d)
        # the direction turns with a: the force on a acts as if it were applied where b is
        return join(scale(-1.0, d), scale(-1.0, moment)), join(d, moment)
    e = component(measure)
    return join(scale(-1.0, e), scale(-1.0, cross(x_a, e))), join(e, cross(x_b, e))


@inline_kernel
def constraint_size(loops: Loops, k: int, step: Step) -> float:
    """Size of what constraint k was computed from: where its points lie, and how far the way there has turned."""
    size = 1.0
    if loops.measure[k] != DIRECTION:
        size = 0.0
        for side in range(2):
            x = world_point(loops, k, side, step.motion_end)
            size += abs(x[0]) + abs(x[1]) + abs(x[2])
    for i in range(step.q.shape[0]):
        size += abs(step.G[k, i]) * (1.0 + abs(step.q_end[i]))
    return size


@inner_kernel
def constraints(loops: Loops, motion: Floats, violation: Floats) -> None:
    for k in range(violation.shape[0]):
        violation[k] = constraint(loops, k, motion)


@inner_kernel
def constraint_gradients(tree: Tree, loops: Loops, motion: Floats, G: Floats) -> None:
    for k in range(G.shape[0]):
        G[k] = 0.0
        W = constraint_wrenches(loops, k, motion)
        for side in range(2):
            i = loops.body[k, side]
            while i >= 0:
                G[k, i] += dot6(load6(motion, i + 1, at.AXIS), W[side])
                i = tree.joints[i, at.PARENT]


@inline_kernel
def point_rates(motion: Floats, body: int, x: Vector) -> tuple[Vector, Vector]:
    """Velocity and acceleration of a world point of a body, gravity not counted."""
    V, A = load6(motion, body + 1, at.TWIST), load6(motion, body + 1, at.ACCELERATION)
    up = load3(motion, 0, at.ACCELERATION)
    speed = add(linear(V), cross(angular(V), x))
    rate = add(sub(linear(A), up), cross(angular(A), x))
    return speed, add(rate, cross(angular(V), speed))


@inline_kernel
def direction_rates(motion: Floats, body: int, d: Vector) -> tuple[Vector, Vector]:
    """First and second derivative of a direction fixed to a body."""
    w = angular(load6(motion, body + 1, at.TWIST))
    turned = cross(w, d)
    return turned, add(cross(angular(load6(motion, body + 1, at.ACCELERATION)), d), cross(w, turned))


@inner_kernel
def constraint_accelerations(loops: Loops, motion: Floats, out: Floats) -> None:
    """Second derivative of every constraint, from twists and accelerations of all bodies."""
    for k in range(out.shape[0]):
        measure, a, b = loops.measure[k], loops.body[k, 0], loops.body[k, 1]
        d_a = world_direction(loops, k, 0, motion)
        d1, d2 = direction_rates(motion, a, d_a)
        if measure == DIRECTION:
            d_b = world_direction(loops, k, 1, motion)
            e1, e2 = direction_rates(motion, b, d_b)
            out[k] = dot(d2, d_b) + 2.0 * dot(d1, e1) + dot(d_a, e2)
            continue
        x_a, x_b = world_point(loops, k, 0, motion), world_point(loops, k, 1, motion)
        a1, a2 = point_rates(motion, a, x_a)
        b1, b2 = point_rates(motion, b, x_b)
        if measure == ALONG:
            out[k] = dot(sub(b2, a2), d_a) + 2.0 * dot(sub(b1, a1), d1) + dot(sub(x_b, x_a), d2)
        else:
            out[k] = dot(sub(b2, a2), component(measure))


@inline_kernel
def factorise_row(step: Step, k: int) -> None:
    """Row k of S = L D L^T; a row that has nothing left is taken out."""
    S = step.S
    before = S[k, k]
    for j in range(k):
        if step.kept[j]:
            value = S[k, j]
            for m in range(j):
                if step.kept[m]:
                    value -= S[k, m] * S[j, m] * S[m, m]
            S[k, j] = value / S[j, j]
    for j in range(k):
        if step.kept[j]:
            S[k, k] -= S[k, j] * S[k, j] * S[j, j]
    step.kept[k] = S[k, k] > REDUNDANT * before and step.rank[k, LOOSE] == 0.0


@inner_kernel
def factorise_constraints(step: Step, prescribed: Bools) -> None:
    """S = G A^-1 G^T and its factors, from the factors of A; prescribed coordinates do not give way."""
    rows, n = step.G.shape
    for k in range(rows):
        for i in range(n):
            step.change[i] = 0.0 if prescribed[i] else step.G[k, i]
        solve(step.factors, step.change, step.AG[k])
    for k in range(rows):
        for j in range(rows):
            total = 0.0
            for i in range(n):
                if not prescribed[i]:
                    total += step.G[k, i] * step.AG[j, i]
            step.S[k, j] = total
    for k in range(rows):
        factorise_row(step, k)


@inner_kernel
def solve_constraints(step: Step, x: Floats) -> None:
    """Replace x by S^-1 x; entries of rows that were taken out become zero."""
    S, kept = step.S, step.kept
    rows = x.shape[0]
    for k in range(rows):
        if not kept[k]:
            x[k] = 0.0
        for j in range(k):
            if kept[k] and kept[j]:
                x[k] -= S[k, j] * x[j]
    for k in range(rows):
        if kept[k]:
            x[k] /= S[k, k]
    for k in range(rows - 1, -1, -1):
        for j in range(k + 1, rows):
            if kept[k] and kept[j]:
                x[k] -= S[j, k] * x[j]
