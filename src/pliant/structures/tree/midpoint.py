"""What both ends of Newton's method need: postures of a step, inverse dynamics at its middle, energies at its end.

Velocities that fit closed loops, with the least change of kinetic energy.

One step of the energy-exact midpoint rule.

With the mean velocity w of the step,  q_1 = q_0 + h w ,  v_1 = 2 w - v_0 ,  all at the middle posture,

    M (v_1 - v_0) / h + h(w) + g + dV/dq + K (q - rest) + D w  =  drive + loads + G^T multipliers + c M w ,

and  phi(q_1) = 0  for loops.

Without the last term this is the midpoint rule, whose energy is exact for what is quadratic only. The number c, of
second order in h, makes the change of kinetic energy and of the potentials equal the work done, in the spirit of the
discrete derivatives of [gonzalez1996]: the defect

    e = h w . (M (v_1 - v_0) / h + h(w) + g + dV/dq - G^T multipliers) - (T_1 - T_0) - (V_1 - V_0)

in  c = e / (h w . M w)  is of third order and vanishes with w, so that the force c M w stays bounded where the arm
comes to rest; below the round-off of the energies it is faded out. Prescribed coordinates have their own q_1 and v_1,
and w = (q_1 - q_0) / h; their inertia works at the mean of v_0 and v_1. Works and changes of energy are products with
h w: the difference of two positions would have lost the digits of a short way.

Dry friction acts at w. The force of a stop is the divided difference of its potential over the step, so that it stores
exactly what it gives back (`joint_laws`). The velocities of loops are fitted to  G(q_1) v_1 = 0  after the step.
"""

from __future__ import annotations

import math

from pliant.jit import inline_kernel, inner_kernel
from pliant.spatial.rows import dot6, load3, load6, load9, store
from pliant.spatial.vectors import add, apply, dot, product
from pliant.structures.change_points import LOOSE, near_change_point
from pliant.structures.energy_ledger import REST
from pliant.structures.tree import clouds, recursions
from pliant.structures.tree import columns as at
from pliant.structures.tree import forces as acting
from pliant.structures.tree import shapes as shaped
from pliant.structures.tree.arrays import Mechanism, RunningLedger, Signals, Step
from pliant.structures.tree.cholesky import factorise, solve
from pliant.structures.tree.flexibility import add_condensed_stiffness, condensed_energy, condensed_force
from pliant.structures.tree.motion import EMPTY, Bools, Floats, Tree, move_body, place_all, place_turned

# columns of the motion that hold mean, difference and way of the ends of a step
DIFFERENCE, MEAN, WAY = at.ARTICULATED, at.ARTICULATED + 9, at.ARTICULATED + 18
# a division takes as long as several products
SIXTH, TWELFTH, TWENTIETH, THIRTIETH = 1.0 / 6.0, 1.0 / 12.0, 1.0 / 20.0, 1.0 / 30.0
PART_42, PART_56, PART_72, PART_90 = 1.0 / 42.0, 1.0 / 56.0, 1.0 / 72.0, 1.0 / 90.0
NONE = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
SMALL_ANGLE = 0.1  # rad, half the turn of a step up to which its series is exact to round-off


@inline_kernel
def turned(turn: tuple[float, float], angle: float, q: float) -> tuple[float, float]:
    """Sine and cosine of q, to which ``turn`` has turned by an angle: where it is small a series, which is faster."""
    if abs(angle) >= SMALL_ANGLE:
        return (math.sin(q), math.cos(q))
    x = angle * angle
    s = angle * (1.0 - x * SIXTH * (1.0 - x * TWENTIETH * (1.0 - x * PART_42 * (1.0 - x * PART_72))))
    c = 1.0 - 0.5 * x * (1.0 - x * TWELFTH * (1.0 - x * THIRTIETH * (1.0 - x * PART_56 * (1.0 - x * PART_90))))
    return (turn[0] * c + turn[1] * s, turn[1] * c - turn[0] * s)


@inline_kernel
def follow(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """End, middle and acceleration of the step from its mean velocities."""
    h = step.number[at.H]
    per_step = 1.0 / h
    for i in range(step.q.shape[0]):
        if mechanism.drives.prescribed[i]:
            step.q_end[i], step.v_end[i] = signals.end[i, 0], signals.end[i, 1]
            step.w[i] = (step.q_end[i] - step.q[i]) / h
        else:
            step.q_end[i] = step.q[i] + h * step.w[i]
            step.v_end[i] = 2.0 * step.w[i] - step.v[i]
        step.q_mid[i] = step.q[i] + 0.5 * h * step.w[i]
        step.acceleration[i] = (step.v_end[i] - step.v[i]) * per_step
    joints, shapes = step.joints, mechanism.shapes
    if shaped.is_shaped(shapes):
        shaped.expand(shapes, step.w, joints.w)
        shaped.expand(shapes, step.acceleration, joints.acceleration)
        for i in range(joints.q.shape[0]):
            joints.q_mid[i] = joints.q[i] + 0.5 * h * joints.w[i]
            joints.q_end[i] = joints.q[i] + h * joints.w[i]
        clouds.follow_step(shapes.cloud, step.w, h)
    for i in range(joints.q.shape[0]):
        if mechanism.tree.joints[i, at.KIND] < at.TRANSLATION_X:
            angle = 0.5 * h * joints.w[i]
            half = turned((step.turn[0, i, 0], step.turn[0, i, 1]), angle, joints.q_mid[i])
            step.turn[1, i, 0], step.turn[1, i, 1] = half
            step.turn[2, i, 0], step.turn[2, i, 1] = turned(half, angle, joints.q_end[i])


@inline_kernel
def turn_along(tree: Tree, q: Floats, place: int, step: Step) -> None:
    """Sines and cosines of joints at q, which lies near the start of the step, as those of a place in it."""
    for i in range(q.shape[0]):
        if tree.joints[i, at.KIND] < at.TRANSLATION_X:
            start = (step.turn[0, i, 0], step.turn[0, i, 1])
            step.turn[place, i, 0], step.turn[place, i, 1] = turned(start, q[i] - step.joints.q[i], q[i])


@inline_kernel
def predict(step: Step) -> None:
    """Mean velocities by the cubic through those of the last steps."""
    known = step.number[at.KNOWN]
    for i in range(step.q.shape[0]):
        a, b, c = step.past[0, i], step.past[1, i], step.past[2, i]
        if known >= 4.0:
            step.w[i] = 4.0 * (a + c) - 6.0 * b - step.past[3, i]
        elif known >= 3.0:
            step.w[i] = 3.0 * (a - b) + c
        elif known >= 2.0:
            step.w[i] = 2.0 * a - b
        else:
            step.w[i] = step.v[i]


@inline_kernel
def expect_jump(step: Step) -> None:
    """Mean velocities of the past as if the torques in ``residual`` had been there: so they can be extrapolated."""
    number = step.number
    if number[at.STALE] > 0.0 or number[at.KNOWN] == 0.0:
        return
    solve(step.factors, step.residual, step.change)
    for k in range(step.past.shape[0]):
        for i in range(step.q.shape[0]):
            step.past[k, i] -= (k + 0.5) * number[at.H] * step.change[i]


@inline_kernel
def remember(step: Step) -> None:
    for i in range(step.q.shape[0]):
        a, b, c = step.past[0, i], step.past[1, i], step.past[2, i]
        step.past[0, i], step.past[1, i], step.past[2, i], step.past[3, i] = step.w[i], a, b, c
    step.number[at.KNOWN] = min(step.number[at.KNOWN] + 1.0, 4.0)


@inline_kernel
def middle_pass(tree: Tree, shapes: shaped.Shapes, step: Step) -> None:
    """Inverse dynamics and momentum at the middle of the step."""
    joints, motion = step.joints, step.motion
    n = joints.q.shape[0]
    for i in range(n):
        pose, J = place_turned(tree, i, joints.q_mid[i], (step.turn[1, i, 0], step.turn[1, i, 1]), motion)
        V = move_body(tree, i, joints.w[i], J, motion)
        A = recursions.accelerate_body(tree, i, joints.w[i], joints.acceleration[i], J, motion)
        if tree.joints[i, at.BODY] == at.NOTHING:
            store(EMPTY, motion, i + 1, at.WRENCH)
            store(EMPTY, motion, i + 1, at.MOMENTUM)
        else:
            store(recursions.own_wrench(tree, i, pose, V, A), motion, i + 1, at.WRENCH)
            store(recursions.own_momentum(tree, i, pose, V), motion, i + 1, at.MOMENTUM)
    if shaped.is_shaped(shapes):
        clouds.push_links(shapes.cloud, motion)
    for i in range(n - 1, -1, -1):
        J, rotor = load6(motion, i + 1, at.AXIS), tree.facts[i, at.ROTOR]
        joints.inertial[i] = dot6(J, recursions.gather(tree, i, at.WRENCH, motion)) + rotor * joints.acceleration[i]
        joints.momentum[i] = dot6(J, recursions.gather(tree, i, at.MOMENTUM, motion)) + rotor * joints.w[i]
    if shaped.is_shaped(shapes):
        shaped.gather_forces(shapes, joints.inertial, step.inertial)
        shaped.gather_forces(shapes, joints.momentum, step.momentum)
        shaped.add_more_mass(shapes, step.acceleration, step.inertial)
        shaped.add_more_mass(shapes, step.w, step.momentum)
        clouds.push_coordinates(shapes.cloud, step.inertial, step.momentum)


@inline_kernel
def end_pass(tree: Tree, shapes: shaped.Shapes, step: Step) -> None:
    """Energies at the end of the step, whose poses stay in ``motion_end``; joints and clouds stand there."""
    number, joints = step.number, step.joints
    if shaped.is_shaped(shapes):
        shaped.expand(shapes, step.v_end, joints.v_end)
    number[at.T_END], number[at.V_END] = recursions.energies_at(
        tree, joints.q_end, joints.v_end, step.turn[2], step.motion_end
    )
    if shaped.is_shaped(shapes):
        own = clouds.cloud_energies(tree, shapes.cloud, step.motion_end)
        number[at.T_END] += own[0] + shaped.more_energy(shapes, step.v_end)
        number[at.V_END] += own[1]
    number[at.LIFTED] = number[at.V_END] - number[at.V_START]
    number[at.LIFT_SIZE] = abs(number[at.V_END]) + abs(number[at.V_START])


@inner_kernel
def lift(tree: Tree, q: Floats, w: Floats, h: float, motion: Floats) -> float:
    """Change of the potential of gravity from q to q + h w, to round-off of the change, not of the potential.

    With means and differences of both ends,  d(R E) = dR mean(E) + mean(R) dE  and  mean(R E) = mean(R) mean(E)
    + dR dE / 4,  where the differences of sines are products. Scratch are the columns of articulated inertias.
    """
    lifted, base = 0.0, tree.base
    store(NONE, motion, 0, DIFFERENCE)
    store(load9(tree.base[None], 0, at.BASE_ROTATION), motion, 0, MEAN)
    store((0.0, 0.0, 0.0), motion, 0, WAY)
    for i in range(q.shape[0]):
        own, p, kind = i + 1, tree.joints[i, at.PARENT] + 1, tree.joints[i, at.KIND]
        D, M = load9(motion, p, DIFFERENCE), load9(motion, p, MEAN)
        way = add(load3(motion, p, WAY), apply(D, load3(tree.facts, i, at.POSITION)))
        if tree.joints[i, at.TURNED] != 0:
            D, M = product(D, load9(tree.facts, i, at.ROTATION)), product(M, load9(tree.facts, i, at.ROTATION))
        store(D, motion, own, DIFFERENCE)
        store(M, motion, own, MEAN)
        change = h * w[i]
        middle = q[i] + 0.5 * change
        if kind >= at.TRANSLATION_X:
            for r in range(3):
                entry = 3 * r + kind - at.TRANSLATION_X
                motion[own, WAY + r] = way[r]
                motion[own, WAY + r] += middle * motion[own, DIFFERENCE + entry] + change * motion[own, MEAN + entry]
        else:
            store(way, motion, own, WAY)
            half, s, c = math.sin(0.5 * change), math.sin(middle), math.cos(middle)
            cut, ds, dc = math.cos(0.5 * change), 2.0 * half * c, -2.0 * half * s
            for r in range(3):
                a, b = 3 * r + (kind + 1) % 3, 3 * r + (kind + 2) % 3
                d_a, d_b = motion[own, DIFFERENCE + a], motion[own, DIFFERENCE + b]
                m_a, m_b = motion[own, MEAN + a], motion[own, MEAN + b]
                motion[own, DIFFERENCE + a] = cut * (c * d_a + s * d_b) + dc * m_a + ds * m_b
                motion[own, DIFFERENCE + b] = cut * (c * d_b - s * d_a) + dc * m_b - ds * m_a
                motion[own, MEAN + a] = cut * (c * m_a + s * m_b) + 0.25 * (dc * d_a + ds * d_b)
                motion[own, MEAN + b] = cut * (c * m_b - s * m_a) + 0.25 * (dc * d_b - ds * d_a)
        carried = apply(load9(motion, own, DIFFERENCE), load3(tree.facts, i, at.CENTER))
        moved_by = add(load3(motion, own, WAY), carried)
        g = (base[at.GRAVITY], base[at.GRAVITY + 1], base[at.GRAVITY + 2])
        lifted -= tree.facts[i, at.MASS] * dot(moved_by, g)
    return lifted


@inline_kernel
def sharpen(tree: Tree, shapes: shaped.Shapes, step: Step) -> None:
    """The change of the potential anew, where the difference of two potentials is not good enough."""
    h, motion = step.number[at.H], step.motion_end
    step.number[at.LIFTED] = lift(tree, step.joints.q, step.joints.w, h, motion)
    if shaped.is_shaped(shapes):
        ends = (DIFFERENCE, MEAN, WAY)
        step.number[at.LIFTED] += clouds.cloud_lift(tree, shapes.cloud, h, motion, ends)
    step.number[at.LIFT_SIZE] = abs(step.number[at.LIFTED])


@inline_kernel
def leave_out_prescribed(prescribed: Bools, A: Floats) -> None:
    for i in range(prescribed.shape[0]):
        if prescribed[i]:
            A[i] = 0.0
            A[:, i] = 0.0
            A[i, i] = 1.0


@inline_kernel
def closed_force(step: Step, i: int) -> float:
    """Of the multipliers on coordinate i."""
    total = 0.0
    for k in range(step.loop.shape[0]):
        total += step.G[k, i] * step.loop[k]
    return total


@inner_kernel
def fill_mass(mechanism: Mechanism, q: Floats, motion: Floats, step: Step) -> None:
    """M of the coordinates q into the factors, from poses that stand."""
    joints, tree, shapes = step.joints, mechanism.tree, mechanism.shapes
    n = joints.q.shape[0]
    if shaped.is_shaped(shapes):
        recursions.own_inertias(tree, n, motion)
        clouds.add_cloud_inertia(shapes.cloud, q, motion)
        recursions.sum_inertias(tree, n, motion)
        recursions.fill_from_inertias(tree, n, motion, joints.M)
        shaped.gather_matrix(shapes, joints.M, joints.half, step.factors)
        clouds.add_coupling(tree, shapes.cloud, (shapes.S, shapes.span), motion, step.factors)
    else:
        recursions.fill_mass_matrix(tree, n, motion, step.factors)


@inner_kernel
def fill_gradients(mechanism: Mechanism, motion: Floats, step: Step) -> None:
    """G of all constraints, from poses that stand."""
    if shaped.is_shaped(mechanism.shapes):
        acting.constraint_gradients(mechanism.tree, mechanism.loops, motion, step.joints.G)
        for k in range(step.G.shape[0]):
            shaped.gather_forces(mechanism.shapes, step.joints.G[k], step.G[k])
    else:
        acting.constraint_gradients(mechanism.tree, mechanism.loops, motion, step.G)


@inner_kernel
def factorise_mass(mechanism: Mechanism, q: Floats, motion: Floats, step: Step, ledger: RunningLedger) -> bool:
    """Factors of M and of the constraints at q, whose poses stand; prescribed coordinates do not give way."""
    fill_mass(mechanism, q, motion, step)
    leave_out_prescribed(mechanism.drives.prescribed, step.factors)
    step.number[at.STALE] = 1.0
    ledger.counts[1] += 1
    if not factorise(step.factors):
        return False
    fill_gradients(mechanism, motion, step)
    acting.factorise_constraints(step, mechanism.drives.prescribed)
    return True


@inner_kernel
def fit_velocities(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> bool:
    """Fit v_end to the loops with the least change of kinetic energy; the loss is kept."""
    n, rows = step.q.shape[0], step.loop.shape[0]
    step.number[at.FITTED] = 0.0
    if rows == 0:
        return True
    if not factorise_mass(mechanism, step.q_end, step.motion_end, step, ledger):
        return False
    for k in range(rows):
        step.violation[k] = 0.0
        for i in range(n):
            step.violation[k] += step.G[k, i] * step.v_end[i]
    acting.solve_constraints(step, step.violation)
    for k in range(rows):
        for i in range(n):
            step.v_end[i] -= step.AG[k, i] * step.violation[k]
    clouds.stand(mechanism.shapes.cloud, step.q_end, step.v_end, clouds.END_MOVED)
    before = step.number[at.T_END]
    lifted = step.number[at.LIFTED]
    end_pass(mechanism.tree, mechanism.shapes, step)
    step.number[at.LIFTED] = lifted
    step.number[at.FITTED] = before - step.number[at.T_END]
    return True


OPEN = 1e-3  # of its size: violation of a loose constraint that is more than what momentum leaves


@inner_kernel
def follow_momentum(mechanism: Mechanism, step: Step) -> bool:
    """Loosen constraints across change points, by the factors of `fit_velocities`; False if a loose one opens."""
    for k in range(step.loop.shape[0]):
        if step.rank[k, LOOSE] > 0.0:  # else the impulses of the fit stay where they are
            acting.constraints(mechanism.loops, step.motion_end, step.violation)
            break
    for k in range(step.loop.shape[0]):
        loose = step.rank[k, LOOSE] > 0.0
        if loose and abs(step.violation[k]) > OPEN * acting.constraint_size(mechanism.loops, k, step):
            return False
        if (loose or step.kept[k]) and near_change_point(step.rank[k], step.S[k, k]):
            step.loop[k] = 0.0
    return True


ROUND_OFF = 2.3e-16
FADED = 64.0 * ROUND_OFF  # part of the energies below which the kinetic energy of a step is too small to be corrected


@inner_kernel
def factorise_step(mechanism: Mechanism, step: Step, ledger: RunningLedger) -> bool:
    """M + h/2 D + h^2/4 K at the present middle posture, with feedback; prescribed coordinates are left out."""
    springs, drives, A, tree = mechanism.springs, mechanism.drives, step.factors, mechanism.tree
    n, half = step.q.shape[0], 0.5 * step.number[at.H]
    place_all(tree, step.joints.q_mid, step.turn[1], step.motion)
    step.stiffness[:] = 0.0
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        condensed_energy(condensed, tree, step.motion, step.q_mid, step.turn[1])
        add_condensed_stiffness(condensed, step.stiffness)
    fill_mass(mechanism, step.q_mid, step.motion, step)
    for i in range(n):
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            A[i, j] += half * half * springs.K[i, j]
        for j in range(springs.span[i, 2], springs.span[i, 3]):
            A[i, j] += half * (springs.D_field[i, j] + springs.D_joint[i, j])
        for j in range(n):
            A[i, j] += half * half * step.stiffness[i, j]
        A[i, i] += half * drives.gain[i, 1] + half * half * drives.gain[i, 0]
    for k in range(step.slope.shape[0]):
        i, slope = springs.laws.coordinate[k], step.slope[k]
        slope[at.IN_FACTORS], slope[at.BESIDE] = slope[at.NOW], A[i, i]
        A[i, i] += slope[at.NOW]
    leave_out_prescribed(drives.prescribed, A)
    step.number[at.STALE], step.number[at.FRESH] = 0.0, at.UNKNOWN
    ledger.counts[1] += 1
    return factorise(A)


@inline_kernel
def outer_forces(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """Springs and drives at the middle."""
    acting.spring_forces(mechanism.springs, step.q_mid, step.w, step)
    for i in range(step.q.shape[0]):
        if not mechanism.drives.prescribed[i]:
            step.drive[i] = acting.drive_force(mechanism.drives, signals, step.held[i], i, step.q_mid[i], step.w[i])


@inline_kernel
def potential_change(number: Floats) -> float:
    """Of gravity and condensed fields."""
    return float(number[at.LIFTED] + (number[at.STRAIN_END] - number[at.STRAIN_START]))


@inline_kernel
def energy_size(number: Floats) -> float:
    """The sum whose round-off the energies of the step have."""
    kinetic = number[at.T_START] + number[at.T_END]
    return float(kinetic + number[at.LIFT_SIZE] + number[at.STRAIN_START] + number[at.STRAIN_END])


@inline_kernel
def work_per_correction(step: Step) -> float:
    """What the force of a unit number c works in the step."""
    doubled = 0.0
    for i in range(step.q.shape[0]):
        doubled += step.w[i] * step.momentum[i]
    faded = FADED * (energy_size(step.number) + step.number[at.TIED])
    return float(step.number[at.H] * (doubled + faded) + REST)


@inline_kernel
def correct(step: Step) -> None:
    """The number c from the defect of energy."""
    number, worked = step.number, 0.0
    for i in range(step.q.shape[0]):
        force = step.inertial[i] - step.condensed[i] - closed_force(step, i)
        worked += number[at.H] * step.w[i] * force + step.extra[i]
    change = (number[at.T_END] - number[at.T_START]) + potential_change(number)
    number[at.CORRECTION] = (worked - change) / work_per_correction(step)


@inline_kernel
def balance(mechanism: Mechanism, step: Step) -> None:
    """Residual of every coordinate; prescribed ones have a drive that leaves none."""
    c = step.number[at.CORRECTION]
    for i in range(step.q.shape[0]):
        rest = step.inertial[i] + step.elastic[i] + step.lost_field[i] + step.lost_joint[i]
        rest -= step.condensed[i] + step.load[i] + closed_force(step, i) + c * step.momentum[i]
        if mechanism.drives.prescribed[i]:
            step.drive[i] = rest
            step.residual[i] = 0.0
        else:
            step.residual[i] = rest - step.drive[i]


@inline_kernel
def imbalance(step: Step) -> tuple[float, float]:
    """Energy that the end of the step has too much, and how much the step exchanged."""
    number = step.number
    kinetic, potential = number[at.T_END] - number[at.T_START], potential_change(number)
    excess, exchanged = kinetic + potential, abs(kinetic) + abs(potential)
    for i in range(step.q.shape[0]):
        way = number[at.H] * step.w[i]
        stored, supplied = way * step.elastic[i], way * (step.drive[i] + step.load[i]) + step.extra[i]
        lost = way * (step.lost_field[i] + step.lost_joint[i])
        excess += stored + lost - supplied
        exchanged += abs(stored) + abs(lost) + abs(supplied)
    return excess, exchanged


@inline_kernel
def measure_end(mechanism: Mechanism, step: Step) -> None:
    """Energies at the end of the step."""
    end_pass(mechanism.tree, mechanism.shapes, step)
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        stored = condensed_energy(condensed, mechanism.tree, step.motion_end, step.q_end, step.turn[2])
        step.number[at.STRAIN_END] = stored


@inline_kernel
def evaluate(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """All forces at the present w but the correction."""
    tree = mechanism.tree
    middle_pass(tree, mechanism.shapes, step)
    outer_forces(mechanism, signals, step)
    if step.wrench.shape[0] > 0:
        acting.load_forces(tree, mechanism.wrenches, signals.load, step.motion, step.wrench, step.joints.load)
        shaped.gather_forces(mechanism.shapes, step.joints.load, step.load)
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        step.condensed[:] = 0.0
        condensed_force(condensed, tree, step.motion, step.q_mid, step.turn[1], step.condensed)
