"""Newton's method for a step of the energy-exact rule.

It uses  M + h/2 D + h^2/4 K  of an earlier posture, as long as that converges fast, and c of the change before. What is
then missing of the energy, less than a part CLOSED of the kinetic one, is given to the end by scaling v_1.

Torques of prescribed coordinates and multipliers must belong to the very w that is kept: where there are any, c is
found along with w. So it is where joints have friction or stops, whose slopes change too fast for old factors. A rate
that friction resists does not pass zero in one change, where friction is steepest: from there on every change falls
short of the solution, and none swings from one side to the other.

Rounding ends it too. Forces are known to their round-off r and constraints to theirs, delta, and so a change of w to

    h^2/4  r . A^-1 r  +  delta . S^-1 delta / h^2 ,      S = G A^-1 G^T ,

in the norm of kinetic energy, and the energy to |multipliers| . delta, from which c has its own: all of the motion of
an arm that hardly moves.
"""

from __future__ import annotations

import math

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import SMOOTHING, STATIC
from pliant.spatial.rows import dot6, load6, store
from pliant.structures.change_points import LOOSE
from pliant.structures.energy_ledger import EXCHANGED, STEPS
from pliant.structures.stepping import CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR
from pliant.structures.tree import columns as at
from pliant.structures.tree import forces as acting
from pliant.structures.tree import midpoint as rule
from pliant.structures.tree.arrays import JointLaws, Mechanism, RunningLedger, Signals, Step
from pliant.structures.tree.cholesky import solve
from pliant.structures.tree.clouds import END_MOVED, MOVED, START_MOVED, push_coordinates, push_links, stand
from pliant.structures.tree.motion import Floats, move_body, place_base, place_body, turn_afresh
from pliant.structures.tree.recursions import gather, own_momentum
from pliant.structures.tree.shapes import add_more_mass, expand, gather_forces, is_shaped

SAME_ENERGY = 3e-13  # part of the exchanged energy that may be missing
CLOSED = 1e-8
AGING = 1.1  # of the square of the contraction, per step in which it is not seen
WORSE, SLOW = 16.0, 1e-6  # the same that makes factors stale: against fresh ones, and at least
MOST_ITERATIONS = 30
DOUBTFUL = 1e-2  # of the square of the contraction: factors are old, or all is round-off, as in an arm at rest
LATE = 4  # iterations after which friction that falls with the rate is in the factors, and a law that changes to blame
PATIENCE = 2  # changes of w after which c is found along with w
ROUNDINGS = 16.0  # that add up in a force or a position: as many as steps over which sines are carried along


@inline_kernel
def newton_change(step: Step) -> float:
    """The change of w; returns its square in the norm of the factors."""
    solve(step.factors, step.residual, step.change)
    half, size = 0.5 * step.number[at.H], 0.0
    for i in range(step.q.shape[0]):
        size += step.change[i] * step.residual[i]
        step.change[i] *= -half
    return float(half * half * size)


@inner_kernel
def bound_change(mechanism: Mechanism, step: Step) -> float:
    """The same, and the change of the multipliers in place of the violations."""
    n, h, rows = step.q.shape[0], step.number[at.H], step.loop.shape[0]
    # with x = A^-1 r:  dw = -h/2 (x - A^-1 G^T d),  phi(q_1) + h G dw = 0
    acting.factorise_constraints(step, mechanism.drives.prescribed)
    solve(step.factors, step.residual, step.change)
    for k in range(rows):
        step.violation[k] *= -2.0 / (h * h)
        for i in range(n):
            step.violation[k] += step.G[k, i] * step.change[i]
    acting.solve_constraints(step, step.violation)
    for k in range(rows):
        for i in range(n):
            step.change[i] -= step.AG[k, i] * step.violation[k]
            step.residual[i] -= step.G[k, i] * step.violation[k]
    size = 0.0
    for i in range(n):
        size += step.change[i] * step.residual[i]
        step.change[i] *= -0.5 * h
    return float(0.25 * h * h * abs(size))


@inline_kernel
def improve(step: Step) -> None:
    for i in range(step.q.shape[0]):
        step.w[i] += step.change[i]
    for k in range(step.loop.shape[0]):
        step.loop[k] += step.violation[k]


@inline_kernel
def give_to_end(step: Step, excess: float) -> None:
    """Take what the end has too much from its kinetic energy."""
    factor = math.sqrt(1.0 - excess / step.number[at.T_END])
    for i in range(step.q.shape[0]):
        step.v_end[i] *= factor
    step.number[at.T_END] -= excess


@inner_kernel
def momentum_of(mechanism: Mechanism, moving: tuple[Floats, Floats, Floats, Floats], step: Step, p: Floats) -> None:
    """p = M v of joints q with rates v, and of the coordinates that move them; residuals are scratch."""
    q, v, place, rate = moving
    tree, shapes, motion = mechanism.tree, mechanism.shapes, step.motion_end
    own = step.joints.momentum if is_shaped(shapes) else p
    for i in range(q.shape[0]):
        pose, J = place_body(tree, i, q[i], motion)
        V = move_body(tree, i, v[i], J, motion)
        store(own_momentum(tree, i, pose, V), motion, i + 1, at.MOMENTUM)
    stand(shapes.cloud, place, rate, MOVED)
    push_links(shapes.cloud, motion)
    for i in range(q.shape[0] - 1, -1, -1):
        H = gather(tree, i, at.MOMENTUM, motion)
        own[i] = dot6(load6(motion, i + 1, at.AXIS), H) + tree.facts[i, at.ROTOR] * v[i]
    gather_forces(shapes, own, p)
    add_more_mass(shapes, rate, p)
    push_coordinates(shapes.cloud, step.residual, p)


@inner_kernel
def give_to_free_end(mechanism: Mechanism, step: Step, excess: float) -> bool:
    """The same where some velocities of the end are given: the others change. Says if they can do it."""
    given, p, doubled = mechanism.drives.prescribed, step.acceleration, 0.0
    expand(mechanism.shapes, step.v_end, step.joints.v_end)
    momentum_of(mechanism, (step.joints.q_end, step.joints.v_end, step.q_end, step.v_end), step, p)
    for i in range(step.q.shape[0]):
        doubled += 0.0 if given[i] else p[i] * step.v_end[i]
    if abs(excess) >= CLOSED * doubled:
        return False
    for i in range(step.q.shape[0]):
        if not given[i]:
            step.v_end[i] *= 1.0 - excess / doubled
    step.number[at.T_END] -= excess
    return True


@inline_kernel
def is_closed(mechanism: Mechanism, step: Step, usual: float) -> bool:
    """Whether the end has its energy to round-off, after scaling its velocities if next to nothing is missing."""
    number = step.number
    excess, exchanged = rule.imbalance(step)
    if CLOSED * number[at.T_END] <= abs(excess) <= 4.0 * rule.ROUND_OFF * rule.energy_size(number):
        rule.sharpen(mechanism.tree, mechanism.shapes, step)
        excess, exchanged = rule.imbalance(step)
    if abs(excess) < CLOSED * number[at.T_END]:
        give_to_end(step, excess)
        return True
    # the c with which this step would have closed; the next one begins with it
    number[at.CORRECTION] -= excess / rule.work_per_correction(step)
    return abs(excess) <= SAME_ENERGY * max(exchanged, usual) + 4.0 * rule.ROUND_OFF * rule.energy_size(number)


@inline_kernel
def see_contraction(number: Floats, contraction: float) -> None:
    """Remember how fast Newton's method converges, and call for new factors when it has become slow."""
    number[at.CONTRACTION] = contraction
    if number[at.FRESH] == at.UNKNOWN:
        number[at.FRESH] = contraction
    elif contraction > max(WORSE * number[at.FRESH], SLOW):
        number[at.STALE] = 1.0


@inner_kernel
def round_off(mechanism: Mechanism, step: Step) -> tuple[float, float]:
    """What rounding leaves of a change of w, squared in the norm of the factors, and of the balance of energy."""
    n, rows, h, springs = step.q.shape[0], step.loop.shape[0], step.number[at.H], mechanism.springs
    part, size = ROUNDINGS * rule.ROUND_OFF, rule.ROUND_OFF * step.number[at.TIED]
    energy = part * step.number[at.TIED]
    for i in range(n):
        force = abs(step.inertial[i]) + abs(step.condensed[i]) + abs(step.load[i]) + abs(step.drive[i])
        force += abs(step.lost_field[i]) + abs(step.lost_joint[i])
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            force += abs(springs.K[i, j]) * (abs(step.q_mid[j]) + abs(springs.rest[j]))
        for k in range(rows):
            force += abs(step.G[k, i] * step.loop[k])
        step.residual[i] = 0.0 if mechanism.drives.prescribed[i] else part * force
        energy += part * force * abs(h * step.w[i])
    solve(step.factors, step.residual, step.acceleration)
    for i in range(n):
        size += 0.25 * h * h * step.residual[i] * step.acceleration[i]
    for k in range(rows):
        if step.kept[k]:
            violation = part * acting.constraint_size(mechanism.loops, k, step)
            size += violation * violation / (h * h * step.S[k, k])
    return size, energy + size


@inline_kernel
def solve_free(mechanism: Mechanism, signals: Signals, step: Step, ledger: RunningLedger) -> int:
    """Newton's method where nothing is prescribed or closed.

    It ends with a change of w that leaves next to nothing, judged by its contraction, without another evaluation. The
    first changes take c from the step before; if they do not do, the steps are long and c is found along with w.
    """
    number, before = step.number, 0.0
    usual = ledger.sums[EXCHANGED] / max(ledger.worst[STEPS], 1.0)
    for iteration in range(MOST_ITERATIONS):
        ledger.counts[0] += 1
        rule.evaluate(mechanism, signals, step)
        if iteration >= PATIENCE:
            rule.correct(step)
        rule.balance(mechanism, step)
        size = newton_change(step)
        if not size < math.inf:
            return NOT_FINITE
        rounded = 0.0
        if iteration > 0 and size > DOUBTFUL * before:
            rounded = round_off(mechanism, step)[0]
        improve(step)
        rule.follow(mechanism, signals, step)
        scale = number[at.T_START] + number[at.T_END]
        noise = rule.ROUND_OFF * rule.energy_size(number)
        if iteration == 0:
            number[at.CONTRACTION] = min(AGING * number[at.CONTRACTION], 1.0)
        elif iteration != PATIENCE and size > max(rounded, rule.ROUND_OFF * scale * number[at.SAME_VELOCITY]):
            see_contraction(number, size / before)
        before = size
        near = number[at.CONTRACTION] * size <= number[at.SAME_VELOCITY] * number[at.SAME_VELOCITY] * scale
        near = near or (iteration > 3 and size <= noise)
        if near or iteration >= PATIENCE - 1:
            rule.measure_end(mechanism, step)
            rule.outer_forces(mechanism, signals, step)
            if near and is_closed(mechanism, step, usual):
                return CONVERGED
        if iteration > 8 and number[at.CONTRACTION] > 0.25 and size > noise:
            break
    return NOT_CONVERGED


@inner_kernel
def work_at_given_rates(mechanism: Mechanism, step: Step) -> None:
    """The inertia M (v_1 - v_0) of a prescribed coordinate works at the mean of its given rates, which is not w.

    The difference, of third order, is no defect of the rule: it would make c large where a motion starts from rest.
    """
    n = step.q.shape[0]
    for i in range(n):
        step.change[i] = step.v_end[i] - step.v[i]
    expand(mechanism.shapes, step.change, step.joints.change)
    momentum_of(mechanism, (step.joints.q_mid, step.joints.change, step.q_mid, step.change), step, step.extra)
    for i in range(n):
        missed = 0.5 * (step.v[i] + step.v_end[i]) - step.w[i]
        step.extra[i] *= missed if mechanism.drives.prescribed[i] else 0.0


@inner_kernel
def measure_constraints(mechanism: Mechanism, step: Step) -> bool:
    """Violations at the end of the step, and the energy whose rounding they have; whether they are rounding."""
    shut = True
    step.number[at.TIED] = 0.0
    acting.constraints(mechanism.loops, step.motion_end, step.violation)
    for k in range(step.loop.shape[0]):
        size = acting.constraint_size(mechanism.loops, k, step)
        step.number[at.TIED] += abs(step.loop[k]) * size
        small = abs(step.violation[k]) <= ROUNDINGS * rule.ROUND_OFF * size
        shut = shut and (small or step.rank[k, LOOSE] > 0.0)
    return shut


@inner_kernel
def leave(mechanism: Mechanism, signals: Signals, step: Step) -> tuple[bool, bool]:
    """All that a step leaves at the present w: whether the factors know the laws of joints, and loops are shut."""
    rule.evaluate(mechanism, signals, step)
    known = acting.law_forces(mechanism.springs.laws, step.q, step.w, step.number[at.H], step)
    rule.fill_gradients(mechanism, step.motion, step)
    work_at_given_rates(mechanism, step)
    rule.measure_end(mechanism, step)
    rule.sharpen(mechanism.tree, mechanism.shapes, step)
    return known, measure_constraints(mechanism, step)


@kernel
def step_residual(mechanism: Mechanism, signals: Signals, step: Step) -> float:
    """What a step from (q, v) leaves with given w, correction and multipliers: in ``residual`` and ``violation``.

    Returns by how much the work of the correction falls short of the defect of energy.
    """
    number, tree = step.number, mechanism.tree
    c = number[at.CORRECTION]
    place_base(tree, step.motion)
    place_base(tree, step.motion_end)
    for i in range(step.q.shape[0]):
        step.q_end[i], step.v_end[i] = step.q[i], step.v[i]
    expand(mechanism.shapes, step.q, step.joints.q)
    expand(mechanism.shapes, step.q, step.joints.q_end)
    stand(mechanism.shapes.cloud, step.q, step.v, START_MOVED)
    stand(mechanism.shapes.cloud, step.q, step.v, END_MOVED)
    turn_afresh(tree, step.joints.q, step.turn[0])
    turn_afresh(tree, step.joints.q, step.turn[2])
    rule.measure_end(mechanism, step)
    number[at.T_START], number[at.V_START] = number[at.T_END], number[at.V_END]
    number[at.STRAIN_START] = number[at.STRAIN_END]
    rule.follow(mechanism, signals, step)
    leave(mechanism, signals, step)
    rule.correct(step)
    lacking = (number[at.CORRECTION] - c) * rule.work_per_correction(step)
    number[at.CORRECTION] = c
    rule.balance(mechanism, step)
    return float(lacking)


@inline_kernel
def hold_at_zero(laws: JointLaws, step: Step) -> None:
    """Cut the change of a rate that friction resists at zero, unless both lie where friction is nearly linear."""
    for k in range(laws.coordinate.shape[0]):
        i, law = laws.coordinate[k], laws.friction[k]
        w = step.w[i]
        ahead = w + step.change[i]
        if law[STATIC] > 0.0 and w * ahead < 0.0 and max(abs(w), abs(ahead)) > law[SMOOTHING]:
            step.change[i] = -w


@inner_kernel
def factorise_with_falling_friction(mechanism: Mechanism, step: Step, ledger: RunningLedger, known: bool) -> bool:
    """Factors near the solution: with friction that falls with the rate, if the rest of the arm outweighs it."""
    falls = acting.add_falling_friction(mechanism.springs.laws, step.w, step.number[at.H], step)
    if known and not falls:
        return True
    definite = rule.factorise_step(mechanism, step, ledger)
    if falls:
        for k in range(step.slope.shape[0]):
            step.slope[k, at.NOW] = max(step.slope[k, at.NOW], 0.0)
        definite = definite or rule.factorise_step(mechanism, step, ledger)
    return definite


@inner_kernel
def solve_bound(mechanism: Mechanism, signals: Signals, step: Step, ledger: RunningLedger, prescribed: bool) -> int:
    """Newton's method with prescribed coordinates, loops or joint laws.

    It ends with the w at which everything was evaluated; the velocities of the end are given ones if ``prescribed``.
    """
    number, before, laws = step.number, 0.0, mechanism.springs.laws
    usual = ledger.sums[EXCHANGED] / max(ledger.worst[STEPS], 1.0)
    for iteration in range(MOST_ITERATIONS):
        ledger.counts[0] += 1
        known, shut = leave(mechanism, signals, step)
        rule.correct(step)
        rule.balance(mechanism, step)
        if iteration >= LATE:
            known = known and acting.same_laws(step)
            if not known:
                ledger.counts[3] = acting.changed_law(step)
        if not known and iteration < LATE and not rule.factorise_step(mechanism, step, ledger):
            return SINGULAR
        if iteration >= LATE and not factorise_with_falling_friction(mechanism, step, ledger, known):
            return SINGULAR
        size = bound_change(mechanism, step)
        if not size < math.inf:
            return NOT_FINITE
        scale = number[at.T_START] + number[at.T_END]
        noise = rule.ROUND_OFF * rule.energy_size(number)
        missing = 4.0 * noise
        if iteration > 3:
            rounded = round_off(mechanism, step)
            noise += rounded[0]
            missing += rounded[1]
        excess, exchanged = rule.imbalance(step)
        if size <= number[at.SAME_VELOCITY] * number[at.SAME_VELOCITY] * scale or (
            iteration > 3 and shut and size <= noise
        ):
            closed = abs(excess) <= SAME_ENERGY * max(exchanged, usual)
            if not closed and prescribed:
                closed = give_to_free_end(mechanism, step, excess)
            elif not closed and abs(excess) < CLOSED * number[at.T_END]:
                give_to_end(step, excess)
                closed = True
            if closed or abs(excess) <= missing:
                number[at.ROUNDED] = 0.0 if closed else missing
                if iteration > 3 and laws.coordinate.shape[0] > 0:
                    number[at.STALE] = 1.0
                return CONVERGED
        if iteration > 0 and size > rule.ROUND_OFF * scale * number[at.SAME_VELOCITY]:
            see_contraction(number, size / before)
        before = size
        if iteration > 8 and number[at.CONTRACTION] > 0.25 and size > noise:
            break
        hold_at_zero(laws, step)
        improve(step)
        rule.follow(mechanism, signals, step)
    return NOT_CONVERGED


@inline_kernel
def solve_step(mechanism: Mechanism, signals: Signals, step: Step, ledger: RunningLedger) -> int:
    """The step from (q, v); its end stands in q_end and v_end."""
    number = step.number
    ledger.counts[3] = -1
    prescribed = False
    for i in range(step.q.shape[0]):
        prescribed = prescribed or mechanism.drives.prescribed[i]
    free = not prescribed and step.loop.shape[0] == 0 and step.slope.shape[0] == 0
    rule.predict(step)
    rule.follow(mechanism, signals, step)
    if number[at.STALE] > 0.0 and not rule.factorise_step(mechanism, step, ledger):
        return SINGULAR
    if free:
        status = solve_free(mechanism, signals, step, ledger)
    else:
        status = solve_bound(mechanism, signals, step, ledger, prescribed)
    if status != CONVERGED:
        number[at.STALE], number[at.CONTRACTION] = 1.0, 1.0
    return status
