"""Laws and motors of the joint coordinates at the stages of a step.

    effort = -k (q - rest) - d q' - friction(q') + stops(q, q') ,    behind a rigid gear  + motor - J q'' ;

an elastic gear has a rotor of angle r and rate r', its own states, and

    effort += gear ,    J r'' = motor - gear ,    gear = k (r - q) + d (r' - q') .

All but stops work with forces that are linear in q or lose what they take. The elastic force of a stop bends where
contact begins. It is averaged along the polynomial of the step as hardening is, and what is still missing of the energy
that the stop stores is made up by a multiple of q', which vanishes with the error of that average.
"""

from __future__ import annotations

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import (
    GEAR_DAMPING,
    GEAR_STIFFNESS,
    LOWER,
    NO_TIME,
    ROTOR,
    SMOOTHING,
    STATIC,
    STOP_DAMPING,
    STOP_STIFFNESS,
    TORQUE_LIMIT,
    UPPER,
    Coordinates,
    coordinate_energy,
    drive,
    friction,
    gear_torque,
    instant_effort,
    motor_torque,
    passive_effort,
    stops,
)
from pliant.spatial.arrays import STEP
from pliant.structures.collocation.chain import Floats, Joints, Tree

FALLING = 0.8  # part of what holds a joint, its own law left out, that falling friction may take from it
NOTICED = 0.1  # part of its whole pivot by which the law of a joint may change before the joints are eliminated anew


def joints_of(tree: Tree, laws: Coordinates) -> Joints:
    """Which coordinates the kernels have to ask for their laws."""
    passive = (laws.spring > 0.0) | (laws.viscous > 0.0) | (laws.friction[:, 1] > 0.0) | (laws.stops[:, 2] > 0.0)
    rigid = laws.has_motor & ~(laws.motor[:, GEAR_STIFFNESS] > 0.0)
    moving = np.flatnonzero(tree.dof >= 0)
    link, inertia = np.zeros(len(moving), np.int64), np.zeros(len(moving))
    link[tree.dof[moving]] = moving
    inertia[: len(rigid)] = np.where(rigid, laws.motor[:, ROTOR], 0.0)
    bends = ((laws.friction[:, 1] > 0.0) | (laws.stops[:, 2] > 0.0)) & (laws.ball < 0) & ~laws.prescribed
    return Joints(np.flatnonzero(passive | laws.has_motor), np.flatnonzero(bends), link, inertia, laws)


def instant_slopes(
    laws: Coordinates, c: int, q: Floats, qd: Floats, target: Floats, rotor: tuple[float, float]
) -> Floats:
    """Derivatives (2, 4) of the efforts on a coordinate and on its rotor in  q, q', r, r' ."""
    slopes = np.zeros((2, 4))
    for k in range(4):
        at = np.array([q[c], qd[c], *rotor], complex)
        at[k] += 1j * STEP
        rates = qd.astype(complex)
        rates[c] = at[1]
        both = instant_effort(laws, c, (at[0], at[1]), rates, target.astype(complex), (at[2], at[3]))
        slopes[:, k] = np.imag(both) / STEP
    return slopes


def rate_slope(laws: Coordinates, c: int, q: Floats, qd: Floats, target: Floats, other: int) -> float:
    """Derivative of the effort on a coordinate in the rate of another one of the same ball joint, or in its own."""
    rates = qd.astype(complex)
    rates[other] += 1j * STEP
    effort, _ = instant_effort(laws, c, (q[c], rates[c]), rates, target, (0.0, 0.0))
    return float(np.imag(effort) / STEP)


@inline_kernel
def has_rotor(laws, c):
    """Whether an elastic gear lies between the drive of a coordinate and its joint."""
    return laws.has_motor[c] and laws.motor[c, GEAR_STIFFNESS] > 0.0


@inline_kernel
def end_of(method, start, values, c):
    """Where the polynomial of a coordinate with these values at the stages ends."""
    x = start + 0.0 * values[0, c]
    for i in range(method.b.shape[0]):
        x += method.update[i] * (values[i, c] - start)
    return x


@inline_kernel
def below(distance):
    """The part of a distance that is negative."""
    return distance if distance.real < 0.0 else 0.0 * distance


@inline_kernel
def stop_spring(row, q):
    """Elastic force of both stops at a position."""
    return row[STOP_STIFFNESS] * (below(row[UPPER] - q) - below(q - row[LOWER]))


@inline_kernel
def stop_damper(row, q, qd):
    """What is left of the force of both stops; they never pull."""
    return stops(row, q, NO_TIME * qd, NO_TIME) - stop_spring(row, q)


@inline_kernel
def stops_stored(row, q0, q1):
    """Change of their energy between two positions, as a product."""
    low0, low1 = below(q0 - row[LOWER]), below(q1 - row[LOWER])
    high0, high1 = below(row[UPPER] - q0), below(row[UPPER] - q1)
    return 0.5 * row[STOP_STIFFNESS] * ((low1 - low0) * (low1 + low0) + (high1 - high0) * (high1 + high0))


@inner_kernel
def add_stops(row, c, method, q0, stages, h):
    """Forces of both stops at the stages, whose elastic part works by what they store."""
    s = method.b.shape[0]
    for i in range(s):
        stages.law[i, c] += stop_damper(row, stages.q[i, c], stages.qd[i, c])
    if method.average_values.shape[0] == s:  # of a method that balances no energy exactly
        for i in range(s):
            stages.law[i, c] += stop_spring(row, stages.q[i, c])
        return
    work = speed = 0.0 * stages.q[0, c]
    for m in range(method.average_values.shape[0]):
        q = q0 + 0.0 * stages.q[0, c]
        for j in range(s):
            q += method.average_values[m, j] * (stages.q[j, c] - q0)
        force = stop_spring(row, q)
        for i in range(s):
            part = method.average_weights[i, m] * force
            stages.law[i, c] += part
            work += h * method.b[i] * part * stages.qd[i, c]
    for i in range(s):
        speed += h * method.b[i] * stages.qd[i, c] * stages.qd[i, c]
    if speed.real > 0.0:
        missing = -(stops_stored(row, q0, end_of(method, q0, stages.q, c)) + work) / speed
        for i in range(s):
            stages.law[i, c] += missing * stages.qd[i, c]


@inline_kernel
def stage_rate(method, values, start, rate, i, c, h):
    """Rate of change at stage i of what begins at ``start``."""
    x = method.history * rate + 0.0 * values[0, c]
    for j in range(method.b.shape[0]):
        x += method.S[i, j] / h * (values[j, c] - start)
    return x


@inline_kernel
def add_motor(laws, c, i, target, stages):
    """A motor and its gear at stage i, in place of the drive; accelerations of joint and rotor are in ``stages``."""
    J = laws.motor[c, ROTOR]
    if has_rotor(laws, c):
        gear = gear_torque(laws, c, stages.r[i, c] - stages.q[i, c], stages.rd[i, c] - stages.qd[i, c])
        torque = motor_torque(laws, c, target, stages.r[i, c], stages.rd[i, c])
        stages.rho_r[i, c] = torque - gear - J * stages.spin_up[i, c]
        stages.law[i, c] += gear - target[2]
    else:
        torque = motor_torque(laws, c, target, stages.q[i, c], stages.qd[i, c])
        stages.law[i, c] += torque - J * stages.spin_up[i, c] - target[2]


@inline_kernel
def set_law(laws, c, method, q0, stages, table, h):
    """stages.law and stages.rho_r of coordinate c at all stages: beside the plain drive, and of its rotor."""
    for i in range(method.b.shape[0]):
        stages.law[i, c] = passive_effort(laws, c, stages.qd[i], stages.q[i, c], stages.qd[i, c])[0]
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        add_stops(laws.stops[c], c, method, q0, stages, h)
    if laws.has_motor[c]:
        for i in range(method.b.shape[0]):
            add_motor(laws, c, i, table[i, c], stages)


@kernel
def set_one_law(laws, c, method, q0, stages, table, h):
    """`set_law` for Python, of real or complex numbers."""
    set_law(laws, c, method, q0, stages, table, h)


@inner_kernel
def set_laws(plant, method, state, stages, table, h):
    """Laws and motors of all stages at the present positions and rates; returns the energy that rotors lack."""
    joints, laws = plant.joints, plant.joints.laws
    s = method.b.shape[0]
    residual = 0.0
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if laws.prescribed[c]:
            continue
        turns = has_rotor(laws, c)
        if laws.has_motor[c]:
            for i in range(s):
                if turns:
                    t = 0.0
                    for k in range(s):
                        t += method.A[i, k] * (stages.rd[k, c] - method.history * state.rotor_rate[c, 0])
                    stages.r[i, c] = state.rotor[c, 0] + h * t
                    stages.spin_up[i, c] = stage_rate(
                        method, stages.rd, state.rotor[c, 1], state.rotor_rate[c, 1], i, c, h
                    )
                else:
                    stages.spin_up[i, c] = stage_rate(method, stages.qd, state.qd[c], state.rotor_rate[c, 1], i, c, h)
        set_law(laws, c, method, state.q[c], stages, table, h)
        if turns:
            for i in range(s):
                residual += h * method.b[i] * stages.rd[i, c] * stages.rho_r[i, c]
    return residual


@inner_kernel
def hold_at_zero(plant, stages, slowly):
    """Cut changes of joint rates where friction changes its sign, unless both rates lie where it is nearly linear.

    From zero on friction bends down, and Newton's method approaches any rate from there without passing it. Friction
    that falls with the rate may lead it in circles; ``slowly``, rates go half of every long way.
    """
    laws = plant.joints.laws
    for n in range(plant.joints.active.shape[0]):
        c = plant.joints.active[n]
        law = laws.friction[c]
        if law[STATIC] > 0.0 and laws.ball[c] < 0 and not laws.prescribed[c]:
            for i in range(stages.qd.shape[0]):
                old, new = stages.before[i, c], stages.qd[i, c]
                crosses = old * new < 0.0 and max(abs(old), abs(new)) > law[SMOOTHING]
                if slowly and (crosses or abs(new - old) > law[SMOOTHING]):
                    stages.qd[i, c] = 0.5 * old if crosses else 0.5 * (old + new)
                elif crosses:
                    stages.qd[i, c] = 0.0


@inline_kernel
def law_slopes(laws, c, i, stages):
    """(damping, stiffness) of the passive law of a joint at stage i."""
    d, k = laws.viscous[c], laws.spring[c]
    if laws.friction[c, STATIC] > 0.0:
        d += friction(laws, c, stages.qd[i], stages.qd[i, c])[1]
    if laws.stops[c, STOP_STIFFNESS] > 0.0:
        q, row = stages.q[i, c], laws.stops[c]
        if q < row[LOWER] or q > row[UPPER]:
            k += row[STOP_STIFFNESS]
            if stops(row, q, NO_TIME * stages.qd[i, c], NO_TIME) != 0.0:
                d += row[STOP_DAMPING]
    return d, k


@inline_kernel
def mean_slopes(laws, c, stages, table):
    """(damping, stiffness) of the joint, then of the drive within the limit of its motor: middle of all stages."""
    low_d, low_k, low_m = np.inf, np.inf, 1.0
    high_d, high_k, high_m = 0.0, 0.0, 0.0
    turns = has_rotor(laws, c)
    for i in range(stages.q.shape[0]):
        d, k = law_slopes(laws, c, i, stages)
        d = max(d, laws.viscous[c])
        m = 1.0
        if laws.has_motor[c]:
            angle = stages.r[i, c] if turns else stages.q[i, c]
            rate = stages.rd[i, c] if turns else stages.qd[i, c]
            if abs(drive(laws.gain[c], table[i, c], angle, rate)) > laws.motor[c, TORQUE_LIMIT]:
                m = 0.0
        low_d, high_d = min(low_d, d), max(high_d, d)
        low_k, high_k = min(low_k, k), max(high_k, k)
        low_m, high_m = min(low_m, m), max(high_m, m)
    share = 0.5 * (low_m + high_m) if laws.has_motor[c] else 0.0
    return 0.5 * (low_d + high_d), 0.5 * (low_k + high_k), share * laws.gain[c, 1], share * laws.gain[c, 0]


@inline_kernel
def pivot_of(laws, drives, c, slopes, gain):
    """The pivot of a joint with the slopes of `mean_slopes`, the tie g of an elastic gear and the pivot p of its rotor.

    With gain = h/lam  p = J lam/h + kd + kp gain + g ,  g = d + k gain of the gear, and the row of the joint is left
    with g - g^2/p .
    """
    d, k, kd, kp = slopes
    pivot = drives.damping[c] + d + (drives.stiffness[c] + k) * gain
    g = p = 0.0 * gain
    if has_rotor(laws, c):
        g = laws.motor[c, GEAR_DAMPING] + laws.motor[c, GEAR_STIFFNESS] * gain
        p = laws.motor[c, ROTOR] / gain + kd + kp * gain + g
        pivot += g - g * g / p
    elif laws.has_motor[c]:
        pivot += laws.motor[c, ROTOR] / gain + kd + kp * gain
    return pivot, g, p


@inner_kernel
def renew_pivots(plant, spectrum, solver, table, h, late):
    """Pivots of the joint laws at the present iterate where they differ enough; True if some do.

    A parent that gives way leaves less of a pivot than stands there. ``late``, laws are told apart by themselves.
    """
    joints, laws, drives = plant.joints, plant.joints.laws, plant.drives
    stages, frozen, factors = solver.stages, solver.frozen, solver.factors
    changed = False
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if laws.prescribed[c]:
            continue
        d, k, kd, kp = mean_slopes(laws, c, stages, table)
        frozen.rate[c] = stages.qd[0, c]
        new = False
        for m in range(spectrum.lam.shape[0]):
            pivot, _, _ = pivot_of(laws, drives, c, (d, k, kd, kp), h / spectrum.lam[m])
            whole = abs(pivot) if late else abs(factors.kappa[m, joints.link[c]])
            new = new or not abs(pivot - frozen.pivot[m, c]) <= NOTICED * whole  # also of pivots that nobody has set
        if new:
            changed = True
            frozen.slope[0, c], frozen.slope[1, c] = d, k
            for m in range(spectrum.lam.shape[0]):
                pivot, g, p = pivot_of(laws, drives, c, (d, k, kd, kp), h / spectrum.lam[m])
                frozen.pivot[m, c] = pivot
                frozen.gear[m, c, 0] = g
                frozen.gear[m, c, 1] = p
    return changed


@inner_kernel
def set_apart(joints, solver, h, late, slowly):
    """Slopes of bent laws at the stages, over those of the pivots; True if stages differ so much that it matters.

    ``late``: see `renew_pivots`.
    """
    stages, frozen, factors = solver.stages, solver.frozen, solver.factors
    matters = False
    for n in range(joints.bent.shape[0]):
        c = joints.bent[n]
        whole = abs(factors.kappa[0, joints.link[c]])
        # where friction falls faster than the inertia holds, Newton's method would go the wrong way
        least = 0.0 if slowly else -FALLING * max(whole - frozen.slope[0, c], 0.0)
        own = frozen.slope[0, c] + h * frozen.slope[1, c] if late else whole
        for i in range(stages.q.shape[0]):
            d, k = law_slopes(joints.laws, c, i, stages)
            stages.damper[i, c], stages.spring[i, c] = max(d, least) - frozen.slope[0, c], k - frozen.slope[1, c]
            if abs(stages.damper[i, c]) + h * abs(stages.spring[i, c]) > NOTICED * own:
                matters = True
    return matters


@inline_kernel
def condense_rotors(joints, spectrum, stages, frozen, k, inc):
    """Add what the balance of rotors leaves in the rows of their joints, for member k of the spectrum."""
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if has_rotor(joints.laws, c):
            b = 0.0 * inc.b_q[c]
            for i in range(stages.rho_r.shape[0]):
                b += spectrum.T_inverse[k, i] * stages.rho_r[i, c]
            frozen.turning[c] = b
            inc.b_q[c] += frozen.gear[k, c, 0] / frozen.gear[k, c, 1] * b


@inline_kernel
def turn_rotors(joints, spectrum, stages, frozen, k, inc):
    """Increments of the rates of rotors from those of their joints."""
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if has_rotor(joints.laws, c):
            d = (frozen.turning[c] + frozen.gear[k, c, 0] * inc.d_q[c]) / frozen.gear[k, c, 1]
            for i in range(stages.rd.shape[0]):
                stages.rd[i, c] += (spectrum.multiplicity[k] * spectrum.T[i, k] * d).real


@inner_kernel
def enter_laws(plant, method, state, stages, table, h, ledger):
    """Works of the drives of coordinates with laws into the ledger.

    Returns the kinetic energy that rotors gained, and what springs, stops and gears stored and joints lost.
    """
    joints, laws, drives = plant.joints, plant.joints.laws, plant.drives
    s = method.b.shape[0]
    spun = stored = lost = 0.0
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        row, turns = laws.stops[c], has_rotor(laws, c)
        q0 = state.q[c]
        q1 = table[s, c, 0] if laws.prescribed[c] else end_of(method, q0, stages.q, c)
        kept = laws.spring[c] * (0.5 * (q0 + q1) - laws.spring_rest[c]) * (q1 - q0)
        if row[STOP_STIFFNESS] > 0.0:
            kept += stops_stored(row, q0, q1)
        taken = work = 0.0
        for i in range(s):
            f, rate = h * method.b[i], stages.qd[i, c]
            against, _ = friction(laws, c, stages.qd[i], rate)
            taken += f * (laws.viscous[c] * rate + against) * rate
            if row[STOP_STIFFNESS] > 0.0:
                taken -= f * stop_damper(row, stages.q[i, c], rate) * rate
            if laws.prescribed[c]:
                work += f * stages.torque[i, c] * rate
            elif turns:
                work += f * motor_torque(laws, c, table[i, c], stages.r[i, c], stages.rd[i, c]) * stages.rd[i, c]
                taken += f * laws.motor[c, GEAR_DAMPING] * (stages.rd[i, c] - rate) ** 2
            elif laws.has_motor[c]:
                work += f * motor_torque(laws, c, table[i, c], stages.q[i, c], rate) * rate
            else:
                work += f * (stages.torque[i, c] - stages.law[i, c] + drives.damping[c] * rate) * rate
        if laws.prescribed[c]:
            work += kept + taken
        elif turns:
            r0, rd0 = state.rotor[c, 0], state.rotor[c, 1]
            r1, rd1 = end_of(method, r0, stages.r, c), end_of(method, rd0, stages.rd, c)
            wound = (r1 - q1) - (r0 - q0)
            kept += laws.motor[c, GEAR_STIFFNESS] * (r0 - q0 + 0.5 * wound) * wound
            spun += laws.motor[c, ROTOR] * 0.5 * (rd1 + rd0) * (rd1 - rd0)
        elif laws.has_motor[c]:
            qd0 = state.qd[c]
            qd1 = end_of(method, qd0, stages.qd, c)
            spun += laws.motor[c, ROTOR] * 0.5 * (qd1 + qd0) * (qd1 - qd0)
        ledger.step_joints[c] = work
        stored += kept
        lost += taken
    return spun, stored, lost


@inline_kernel
def combined(method, start, values, c):
    """What a damped method takes the energy of: its combination of the increments of a coordinate."""
    y = 0.0
    for i in range(method.b.shape[0]):
        y += method.dissipation[i] * (values[i, c] - start)
    return y


@inner_kernel
def numerical_loss_of_laws(plant, method, state, stages, h):
    """What a damped method takes from springs, gears and rotors, and from stops, whose force it takes at the stages."""
    joints, laws = plant.joints, plant.joints.laws
    loss = 0.0
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if laws.prescribed[c]:
            continue
        q0, y = state.q[c], combined(method, state.q[c], stages.q, c)
        loss += 0.5 * laws.spring[c] * y * y
        if laws.stops[c, STOP_STIFFNESS] > 0.0:
            loss -= stops_stored(laws.stops[c], q0, end_of(method, q0, stages.q, c))
            for i in range(method.b.shape[0]):
                loss -= h * method.b[i] * stop_spring(laws.stops[c], stages.q[i, c]) * stages.qd[i, c]
        if has_rotor(laws, c):
            wound = combined(method, state.rotor[c, 0], stages.r, c) - y
            spun = combined(method, state.rotor[c, 1], stages.rd, c)
            loss += 0.5 * (laws.motor[c, GEAR_STIFFNESS] * wound * wound + laws.motor[c, ROTOR] * spun * spun)
        elif laws.has_motor[c]:
            spun = combined(method, state.qd[c], stages.qd, c)
            loss += 0.5 * laws.motor[c, ROTOR] * spun * spun
    return loss


@inner_kernel
def advance_rotors(plant, method, state, stages, last):
    """Rotors of elastic gears at the end of the step, and what methods that carry rates know of them."""
    joints, laws = plant.joints, plant.joints.laws
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        if has_rotor(laws, c):
            r, rd = state.rotor[c, 0], state.rotor[c, 1]
            for i in range(method.b.shape[0]):
                last[i, c] = stages.rd[i, c] - rd
            state.rotor[c, 0] = end_of(method, r, stages.r, c)
            state.rotor[c, 1] = end_of(method, rd, stages.rd, c)
            if method.history != 0.0:
                state.rotor_rate[c, 0] += method.rate_gain * (stages.rd[0, c] - state.rotor_rate[c, 0])
        if method.history != 0.0 and laws.has_motor[c]:
            state.rotor_rate[c, 1] += method.rate_gain * (stages.spin_up[0, c] - state.rotor_rate[c, 1])


@kernel
def joint_energies(joints, q, qd, rotor):
    """(kinetic energy of rotors, energy of springs, stops and gears) of the coordinates."""
    kinetic = stored = 0.0
    laws = joints.laws
    for n in range(joints.active.shape[0]):
        c = joints.active[n]
        stored += coordinate_energy(laws, c, q[c], rotor[c, 0] if has_rotor(laws, c) else q[c])
        if laws.has_motor[c]:
            rate = rotor[c, 1] if has_rotor(laws, c) else qd[c]
            kinetic += 0.5 * laws.motor[c, ROTOR] * rate * rate
    return kinetic, stored
