"""One step of the energy-exact midpoint rule.

With the mean velocity w of the step,  q_1 = q_0 + h w ,  v_1 = 2 w - v_0 ,  all at the middle posture,

    M (v_1 - v_0) / h + h(w) + g + dV/dq + K (q - rest) + D w  =  drive + loads + G^T multipliers + c M w ,

and  phi(q_1) = 0  for loops.

Without the last term this is the midpoint rule, whose energy is exact for what is quadratic only. The number c, of
second order in h, makes the change of kinetic energy and of the potentials equal the work done, in the spirit of the
discrete derivatives of [gonzalez1996]: the defect

    e = h w . (M (v_1 - v_0) / h + h(w) + g + dV/dq - G^T multipliers) - (T_1 - T_0) - (V_1 - V_0)

in  c = e / (h w . M w)  is of third order and vanishes with w, so that the force c M w stays bounded where the arm
comes to rest; below the round-off of the energies it is faded out. Prescribed coordinates have their own q_1 and v_1,
and w = (q_1 - q_0) / h; their inertia works at the mean of v_0 and v_1.

Newton's method uses  M + h/2 D + h^2/4 K  of an earlier posture, as long as that converges fast, and c of the change
before. What is then missing of the energy, less than a part CLOSED of the kinetic one, is given to the end by scaling
v_1. Torques of prescribed coordinates and multipliers must belong to the very w that is kept: where there are any, c is
found along with w. The velocities of loops are fitted to  G(q_1) v_1 = 0  after the step.
"""

from __future__ import annotations

import math

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.minimal.cholesky import factorise, solve
from pliant.mechanics.minimal.composite import fill_mass_matrix
from pliant.mechanics.minimal.condensed import (
    add_condensed_stiffness,
    condensed_energy,
    condensed_force,
)
from pliant.mechanics.minimal.fitting import closed_force, leave_out_prescribed
from pliant.mechanics.minimal.forces import drive_force, load_forces, spring_forces
from pliant.mechanics.minimal.loops import (
    closure_gradients,
    closures,
    factorise_closures,
    solve_closures,
)
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.motion import place_turned
from pliant.mechanics.minimal.passes import end_pass, follow, middle_pass, predict, sharpen
from pliant.mechanics.minimal.recursions import momentum
from pliant.mechanics.minimal.step_data import (
    CONTRACTION,
    CORRECTION,
    EXCHANGED,
    FRESH,
    LIFT_SIZE,
    LIFTED,
    REST,
    STALE,
    STRAIN_END,
    STRAIN_START,
    T_END,
    T_START,
    Account,
    H,
    Signals,
    Step,
)
from pliant.mechanics.minimal.tree import Floats, Tree

CONVERGED, NOT_CONVERGED, SINGULAR, NOT_FINITE = 0, 1, 2, 3

ROUND_OFF = 2.3e-16
FADED = (
    64.0 * ROUND_OFF
)  # part of the energies below which the kinetic energy of a step is too small to be corrected
SAME_VELOCITY = (
    1e-11  # error of the velocities that ends Newton's method, as a part in the norm of kinetic energy
)
SAME_ENERGY = 3e-13  # part of the exchanged energy that may be missing
CLOSED = 1e-8
AGING = 1.1  # of the square of the contraction, per step in which it is not seen
WORSE, SLOW = 16.0, 1e-6  # the same that makes factors stale: against fresh ones, and at least
MOST_ITERATIONS = 30
PATIENCE = 2  # changes of w after which c is found along with w
UNKNOWN = -1.0


@inner_kernel
def factorise_step(mechanism: Mechanism, step: Step, account: Account) -> bool:
    """M + h/2 D + h^2/4 K at the present middle posture, with feedback; prescribed coordinates are left out."""
    springs, drives, A, tree = mechanism.springs, mechanism.drives, step.factors, mechanism.tree
    n, half = step.q.shape[0], 0.5 * step.number[H]
    for i in range(n):
        place_turned(tree, i, step.q_mid[i], (step.turn[1, i, 0], step.turn[1, i, 1]), step.motion)
    for i in range(n):
        for j in range(n):
            step.stiffness[i, j] = 0.0
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        condensed_energy(condensed, tree, step.motion, step.q_mid, step.turn[1])
        add_condensed_stiffness(condensed, step.stiffness)
    fill_mass_matrix(tree, n, step.motion, A)
    for i in range(n):
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            damping = springs.D_field[i, j] + springs.D_joint[i, j]
            A[i, j] += half * damping + half * half * springs.K[i, j]
        for j in range(n):
            A[i, j] += half * half * step.stiffness[i, j]
        A[i, i] += half * drives.gain[i, 1] + half * half * drives.gain[i, 0]
    leave_out_prescribed(drives.prescribed, A)
    step.number[STALE], step.number[FRESH] = 0.0, UNKNOWN
    account.counts[1] += 1
    return factorise(A)


@inline_kernel
def outer_forces(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """Springs and drives at the middle."""
    spring_forces(mechanism.springs, step.q_mid, step.w, step)
    for i in range(step.q.shape[0]):
        if not mechanism.drives.prescribed[i]:
            step.drive[i] = drive_force(mechanism.drives, signals, step.held[i], i, step.q_mid[i], step.w[i])


@inline_kernel
def potential_change(number: Floats) -> float:
    """Of gravity and condensed fields."""
    return float(number[LIFTED] + (number[STRAIN_END] - number[STRAIN_START]))


@inline_kernel
def energy_size(number: Floats) -> float:
    """The sum whose round-off the energies of the step have."""
    kinetic = number[T_START] + number[T_END]
    return float(kinetic + number[LIFT_SIZE] + number[STRAIN_START] + number[STRAIN_END])


@inline_kernel
def correction_for(step: Step, energy: float) -> float:
    """The number c whose force works by ``energy`` in the step."""
    doubled = 0.0
    for i in range(step.q.shape[0]):
        doubled += step.w[i] * step.momentum[i]
    return float(energy / (step.number[H] * (doubled + FADED * energy_size(step.number)) + REST))


@inline_kernel
def correct(step: Step) -> None:
    """The number c from the defect of energy."""
    number, worked = step.number, 0.0
    for i in range(step.q.shape[0]):
        force = step.inertial[i] - step.condensed[i] - closed_force(step, i)
        worked += (step.q_end[i] - step.q[i]) * force + step.extra[i]
    change = (number[T_END] - number[T_START]) + potential_change(number)
    number[CORRECTION] = correction_for(step, worked - change)


@inline_kernel
def balance(mechanism: Mechanism, step: Step) -> None:
    """Residual of every coordinate; prescribed ones have a drive that leaves none."""
    c = step.number[CORRECTION]
    for i in range(step.q.shape[0]):
        rest = step.inertial[i] + step.elastic[i] + step.lost_field[i] + step.lost_joint[i]
        rest -= step.condensed[i] + step.load[i] + closed_force(step, i) + c * step.momentum[i]
        if mechanism.drives.prescribed[i]:
            step.drive[i] = rest
            step.residual[i] = 0.0
        else:
            step.residual[i] = rest - step.drive[i]


@inline_kernel
def newton_change(step: Step) -> float:
    """The change of w; returns its square in the norm of the factors."""
    solve(step.factors, step.residual, step.change)
    half, size = 0.5 * step.number[H], 0.0
    for i in range(step.q.shape[0]):
        size += step.change[i] * step.residual[i]
        step.change[i] *= -half
    return float(half * half * size)


@inner_kernel
def bound_change(mechanism: Mechanism, step: Step) -> float:
    """The same, and the change of the multipliers in place of the gaps."""
    n, h, rows = step.q.shape[0], step.number[H], step.loop.shape[0]
    # with x = A^-1 r:  dw = -h/2 (x - A^-1 G^T d),  phi(q_1) + h G dw = 0
    factorise_closures(step, mechanism.drives.prescribed)
    solve(step.factors, step.residual, step.change)
    for k in range(rows):
        step.gap[k] *= -2.0 / (h * h)
        for i in range(n):
            step.gap[k] += step.G[k, i] * step.change[i]
    solve_closures(step, step.gap)
    for k in range(rows):
        for i in range(n):
            step.change[i] -= step.AG[k, i] * step.gap[k]
            step.residual[i] -= step.G[k, i] * step.gap[k]
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
        step.loop[k] += step.gap[k]


@inline_kernel
def imbalance(step: Step) -> tuple[float, float]:
    """Energy that the end of the step has too much, and how much the step exchanged."""
    number = step.number
    kinetic, potential = number[T_END] - number[T_START], potential_change(number)
    excess, exchanged = kinetic + potential, abs(kinetic) + abs(potential)
    for i in range(step.q.shape[0]):
        way = step.q_end[i] - step.q[i]
        stored, supplied = way * step.elastic[i], way * (step.drive[i] + step.load[i]) + step.extra[i]
        lost = way * (step.lost_field[i] + step.lost_joint[i])
        excess += stored + lost - supplied
        exchanged += abs(stored) + abs(lost) + abs(supplied)
    return excess, exchanged


@inline_kernel
def measure_end(mechanism: Mechanism, step: Step) -> None:
    """Energies at the end of the step."""
    end_pass(mechanism.tree, step)
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        step.number[STRAIN_END] = condensed_energy(
            condensed, mechanism.tree, step.motion_end, step.q_end, step.turn[2]
        )


@inline_kernel
def evaluate(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """All forces at the present w but the correction."""
    tree = mechanism.tree
    middle_pass(tree, step)
    outer_forces(mechanism, signals, step)
    if step.wrench.shape[0] > 0:
        load_forces(tree, mechanism.wrenches, signals.load, step.motion, step.wrench, step.load)
    condensed = mechanism.condensed
    if condensed.coordinate.shape[0] > 0:
        for i in range(step.q.shape[0]):
            step.condensed[i] = 0.0
        condensed_force(condensed, tree, step.motion, step.q_mid, step.turn[1], step.condensed)


@inline_kernel
def is_closed(tree: Tree, step: Step, usual: float) -> bool:
    """Whether the end has its energy to round-off, after scaling its velocities if next to nothing is missing."""
    number = step.number
    excess, exchanged = imbalance(step)
    if CLOSED * number[T_END] <= abs(excess) <= 4.0 * ROUND_OFF * energy_size(number):
        sharpen(tree, step)
        excess, exchanged = imbalance(step)
    if abs(excess) < CLOSED * number[T_END]:
        factor = math.sqrt(1.0 - excess / number[T_END])
        for i in range(step.q.shape[0]):
            step.v_end[i] *= factor
        number[T_END] -= excess
        return True
    # the c with which this step would have closed; the next one begins with it
    number[CORRECTION] -= correction_for(step, excess)
    return abs(excess) <= SAME_ENERGY * max(exchanged, usual) + 4.0 * ROUND_OFF * energy_size(number)


@inline_kernel
def see_contraction(number: Floats, contraction: float) -> None:
    """Remember how fast Newton's method converges, and call for new factors when it has become slow."""
    number[CONTRACTION] = contraction
    if number[FRESH] == UNKNOWN:
        number[FRESH] = contraction
    elif contraction > max(WORSE * number[FRESH], SLOW):
        number[STALE] = 1.0


@inline_kernel
def solve_free(mechanism: Mechanism, signals: Signals, step: Step, account: Account) -> int:
    """Newton's method where nothing is prescribed or closed.

    It ends with a change of w that leaves next to nothing, judged by its contraction, without another evaluation. The
    first changes take c from the step before; if they do not do, the steps are long and c is found along with w.
    """
    number, before = step.number, 0.0
    usual = account.sums[EXCHANGED] / max(account.worst[2], 1.0)
    for iteration in range(MOST_ITERATIONS):
        account.counts[0] += 1
        evaluate(mechanism, signals, step)
        if iteration >= PATIENCE:
            correct(step)
        balance(mechanism, step)
        size = newton_change(step)
        if not size < math.inf:
            return NOT_FINITE
        improve(step)
        follow(mechanism, signals, step)
        scale = number[T_START] + number[T_END]
        noise = ROUND_OFF * energy_size(number)
        if iteration == 0:
            number[CONTRACTION] *= AGING
        elif iteration != PATIENCE and size > ROUND_OFF * scale * SAME_VELOCITY:
            see_contraction(number, size / before)
        before = size
        near = number[CONTRACTION] * size <= SAME_VELOCITY * SAME_VELOCITY * scale
        near = near or (iteration > 3 and size <= noise)
        if near or iteration >= PATIENCE - 1:
            measure_end(mechanism, step)
            outer_forces(mechanism, signals, step)
            if near and is_closed(mechanism.tree, step, usual):
                return CONVERGED
        if iteration > 8 and number[CONTRACTION] > 0.25 and size > noise:
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
    momentum(mechanism.tree, step.q_mid, step.change, step.motion_end, step.extra, step.residual)
    for i in range(n):
        missed = 0.5 * (step.v[i] + step.v_end[i]) - step.w[i]
        step.extra[i] *= missed if mechanism.drives.prescribed[i] else 0.0


@inner_kernel
def solve_bound(mechanism: Mechanism, signals: Signals, step: Step, account: Account) -> int:
    """Newton's method with prescribed coordinates or loops: ends with the w at which everything was evaluated."""
    number, before = step.number, 0.0
    usual = account.sums[EXCHANGED] / max(account.worst[2], 1.0)
    for iteration in range(MOST_ITERATIONS):
        account.counts[0] += 1
        evaluate(mechanism, signals, step)
        closure_gradients(mechanism.tree, mechanism.loops, step.motion, step.G)
        work_at_given_rates(mechanism, step)
        measure_end(mechanism, step)
        sharpen(mechanism.tree, step)
        correct(step)
        closures(mechanism.loops, step.motion_end, step.gap)
        balance(mechanism, step)
        size = bound_change(mechanism, step)
        if not size < math.inf:
            return NOT_FINITE
        scale = number[T_START] + number[T_END]
        noise = ROUND_OFF * energy_size(number)
        excess, exchanged = imbalance(step)
        closed = abs(excess) <= SAME_ENERGY * max(exchanged, usual) + 4.0 * noise
        if closed and (size <= SAME_VELOCITY * SAME_VELOCITY * scale or (iteration > 3 and size <= noise)):
            return CONVERGED
        if iteration > 0 and size > ROUND_OFF * scale * SAME_VELOCITY:
            see_contraction(number, size / before)
        before = size
        if iteration > 8 and number[CONTRACTION] > 0.25 and size > noise:
            break
        improve(step)
        follow(mechanism, signals, step)
    return NOT_CONVERGED


@inline_kernel
def solve_step(mechanism: Mechanism, signals: Signals, step: Step, account: Account) -> int:
    """The step from (q, v); its end stands in q_end and v_end."""
    number = step.number
    free = step.loop.shape[0] == 0
    for i in range(step.q.shape[0]):
        free = free and not mechanism.drives.prescribed[i]
    predict(step)
    follow(mechanism, signals, step)
    if number[STALE] > 0.0 and not factorise_step(mechanism, step, account):
        return SINGULAR
    if free:
        status = solve_free(mechanism, signals, step, account)
    else:
        status = solve_bound(mechanism, signals, step, account)
    if status != CONVERGED:
        number[STALE], number[CONTRACTION] = 1.0, 1.0
    return status
