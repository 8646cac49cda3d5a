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
and w = (q_1 - q_0) / h; their inertia works at the mean of v_0 and v_1. Works and changes of energy are products with
h w: the difference of two positions would have lost the digits of a short way.

Dry friction acts at w. The force of a stop is the divided difference of its potential over the step, so that it stores
exactly what it gives back (`joint_laws`). The velocities of loops are fitted to  G(q_1) v_1 = 0  after the step.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.energy_account import REST
from pliant.mechanics.minimal.cholesky import factorise
from pliant.mechanics.minimal.composite import fill_mass_matrix
from pliant.mechanics.minimal.condensed import (
    add_condensed_stiffness,
    condensed_energy,
    condensed_force,
)
from pliant.mechanics.minimal.fitting import closed_force, leave_out_prescribed
from pliant.mechanics.minimal.forces import drive_force, load_forces, spring_forces
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.motion import place_turned
from pliant.mechanics.minimal.passes import end_pass, middle_pass
from pliant.mechanics.minimal.step_data import (
    BESIDE,
    CORRECTION,
    FRESH,
    IN_FACTORS,
    LIFT_SIZE,
    LIFTED,
    NOW,
    STALE,
    STRAIN_END,
    STRAIN_START,
    T_END,
    T_START,
    TIED,
    UNKNOWN,
    Account,
    H,
    Signals,
    Step,
)
from pliant.mechanics.minimal.tree import Floats

CONVERGED, NOT_CONVERGED, SINGULAR, NOT_FINITE = 0, 1, 2, 3

ROUND_OFF = 2.3e-16
FADED = (
    64.0 * ROUND_OFF
)  # part of the energies below which the kinetic energy of a step is too small to be corrected


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
    for k in range(step.slope.shape[0]):
        i, slope = springs.laws.coordinate[k], step.slope[k]
        slope[IN_FACTORS], slope[BESIDE] = slope[NOW], A[i, i]
        A[i, i] += slope[NOW]
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
    faded = FADED * (energy_size(step.number) + step.number[TIED])
    return float(energy / (step.number[H] * (doubled + faded) + REST))


@inline_kernel
def correct(step: Step) -> None:
    """The number c from the defect of energy."""
    number, worked = step.number, 0.0
    for i in range(step.q.shape[0]):
        force = step.inertial[i] - step.condensed[i] - closed_force(step, i)
        worked += number[H] * step.w[i] * force + step.extra[i]
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
def imbalance(step: Step) -> tuple[float, float]:
    """Energy that the end of the step has too much, and how much the step exchanged."""
    number = step.number
    kinetic, potential = number[T_END] - number[T_START], potential_change(number)
    excess, exchanged = kinetic + potential, abs(kinetic) + abs(potential)
    for i in range(step.q.shape[0]):
        way = number[H] * step.w[i]
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
