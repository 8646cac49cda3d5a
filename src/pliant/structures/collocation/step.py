"""The compiled time loop, and the energy ledger of its steps: what entered by each port, was lost, is left over."""

from __future__ import annotations

from typing import NamedTuple

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.spatial.rows import copy_to, dot6, lay, load3, load6, plus3, plus6, stage_row, store
from pliant.spatial.small_matrices import applied, times
from pliant.structures.collocation.chain import FLOATING, MOVED, Floats, Ints, State
from pliant.structures.collocation.element import hardening_energy_change, hardening_stress
from pliant.structures.collocation.joints import (
    advance_rotors,
    end_of,
    enter_laws,
    joint_energies,
    numerical_loss_of_laws,
)
from pliant.structures.collocation.newton import Projection, Solver, project, solve_stages
from pliant.structures.collocation.poses import advance_frames, quaternion_of, set_poses, turned
from pliant.structures.collocation.relation_solver import follow_momentum, loop_opened, measure_end
from pliant.structures.collocation.relations import enter_relations
from pliant.structures.collocation.stages import between, body_gravity, interpolate, load_wrench, sum_stages
from pliant.structures.energy_ledger import JOINT, KINETIC, PROJECTION, ROUND_OFF, STRAIN, RunningLedger, close_step
from pliant.structures.stepping import CONVERGED, LOOP_OPENED


@inline_kernel
def behind(end, moved, a):
    """Middle of the step of row a: half of what moved back from its end."""
    return plus6(load6(end, a), -0.5, load6(moved, a))


@inline_kernel
def kinetic_change(mesh, inertia, V, moved):
    """Kinetic energy at V less that at V - moved, as a product: a difference would lose the digits of a slow start."""
    change = 0.0
    for a in range(V.shape[0]):
        change += dot6(load6(moved, a), applied(inertia.M[a], inertia.plain[a], behind(V, moved, a)))
    if inertia.at_points:
        for k in range(mesh.start.shape[0]):
            a = mesh.start[k]
            middle = between(mesh.N, behind(V, moved, a), behind(V, moved, a + 1))
            x = between(mesh.N, load6(moved, a), load6(moved, a + 1))
            change += dot6(x, times(inertia.M_point[k], middle))
    return change


@inline_kernel
def strain_change(mesh, section, e, moved):
    """Strain energy at e less that at e - moved, as a product."""
    p = mesh.N.shape[0]
    change = 0.0
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            density = dot6(load6(moved, k), applied(section.C[k], section.plain[k], behind(e, moved, k)))
            if section.hardening:
                density += hardening_energy_change(section, k, e, moved)
            change += mesh.w[g] * mesh.length[element] * density
    return change


@inline_kernel
def quadratic_loss(plant, method, stages, moved_V, moved_e):
    """What a damped method takes from kinetic and linear strain energy: that of its combination of the increments."""
    mesh, section = plant.chain.mesh, plant.chain.section
    sum_stages(method.dissipation[None], 1.0, stages.dV, moved_V)
    sum_stages(method.dissipation[None], 1.0, stages.de, moved_e)
    loss = kinetic_change(mesh, plant.chain.inertia, moved_V, moved_V)
    p = mesh.N.shape[0]
    for k in range(moved_e.shape[0]):
        x = load6(moved_e, k)
        loss += 0.5 * mesh.w[k % p] * mesh.length[k // p] * dot6(x, times(section.C[k], x))
    return loss


@inner_kernel
def hardening_loss(plant, method, stages, e, moved, h):
    """The same of hardening: work of its stress at the stages less what it stored, small and of either sign."""
    mesh, section = plant.chain.mesh, plant.chain.section
    p = mesh.N.shape[0]
    loss = 0.0
    for k in range(e.shape[0]):
        work = -hardening_energy_change(section, k, e, moved)
        for i in range(method.b.shape[0]):
            stress = hardening_stress(section, k, stage_row(stages.e, i, k))
            work += h * method.b[i] * dot6(stress, stage_row(stages.e_dot, i, k))
        loss += mesh.w[k % p] * mesh.length[k // p] * work
    return loss


@inline_kernel
def gravity_power(M, plain, V, g):
    """V . M (g, 0) of one mass, gravity in its axes."""
    return dot6(V, applied(M, plain, (g[0], g[1], g[2], 0.0, 0.0, 0.0)))


@inline_kernel
def enter_flows(plant, method, stages, load_table, h, ledger):
    """Works and losses of a step before the projection; returns (gravity, material, viscous, joint damping)."""
    mesh, section, inertia = plant.chain.mesh, plant.chain.section, plant.chain.inertia
    loads, drives = plant.loads, plant.drives
    p = mesh.N.shape[0]
    gravity = material = viscous = damping = 0.0
    falls = inertia.gravity[0] != 0.0 or inertia.gravity[1] != 0.0 or inertia.gravity[2] != 0.0
    ledger.step_joints[:] = 0.0
    ledger.step_loads[:] = 0.0
    for i in range(method.b.shape[0]):
        f = h * method.b[i]
        if falls:
            for a in range(stages.V.shape[1]):
                x = stage_row(stages.V, i, a)
                gravity += f * gravity_power(inertia.M[a], inertia.plain[a], x, load3(stages.g[i], a))
            if inertia.at_points:
                for k in range(mesh.start.shape[0]):
                    x = interpolate(mesh.N, stages.V, i, mesh.start[k])
                    g = body_gravity(inertia.gravity, stages.R_point, i, k)
                    gravity += f * gravity_power(inertia.M_point[k], False, x, g)
        if section.damped:
            for element in range(mesh.start.shape[0]):
                for g in range(p):
                    k = element * p + g
                    x = stage_row(stages.rate, i, k)
                    weight = f * mesh.w[g] * mesh.length[element]
                    material += weight * dot6(x, times(section.Cd[k], x))
        if inertia.has_viscous:
            for a in range(stages.V.shape[1]):
                x = stage_row(stages.V, i, a)
                viscous += f * dot6(x, times(inertia.viscous[a], x))
        for j in range(drives.stiffness.shape[0]):
            rate = stages.qd[i, j]
            heat = 0.0 if drives.prescribed[j] else drives.damping[j] * rate * rate
            damping += f * heat
            ledger.step_joints[j] += f * (stages.torque[i, j] * rate + heat)
        if plant.chain.tree.kind[0] == MOVED:
            # the base is the last of the joints in the ledger; what its links leave it has to balance
            x = stage_row(stages.root, i, 0)
            ledger.step_joints[drives.stiffness.shape[0]] -= f * dot6(x, load6(stages.base, i))
        for k in range(ledger.step_loads.shape[0]):
            if loads.ball[k] >= 0:
                for c in range(3):
                    ledger.step_loads[k] += f * load_table[i, k, 3 + c] * stages.qd[i, loads.ball[k] + c]
            for a in range(loads.first[k], loads.last[k] + 1):
                w = load_wrench(loads, load_table, stages.R, i, k, a)
                ledger.step_loads[k] += f * dot6(w, stage_row(stages.V, i, a))
    return gravity, material, viscous, damping


@kernel
def stored_energies(plant, state):
    """Kinetic and elastic energy: what those of links grow by from nothing, and those of joints."""
    mesh, inertia, section = plant.chain.mesh, plant.chain.inertia, plant.chain.section
    kinetic, strain = kinetic_change(mesh, inertia, state.V, state.V), strain_change(mesh, section, state.e, state.e)
    if plant.joints.active.shape[0] > 0:
        spun, stored = joint_energies(plant.joints, state.q, state.qd, state.rotor)
        return kinetic + spun, strain + stored
    return kinetic, strain


class Tables(NamedTuple):
    """What the world does at the stages (rows 0 .. s-1) and at the end (row s) of every step."""

    h: Floats  # (steps,)
    end: Floats  # (steps,) times
    joints: Floats  # (steps, s + 1, dofs, 3)
    loads: Floats  # (steps, s + 1, loads, 6)
    base: Floats  # (steps, s + 1, 13) position, quaternion and twist of a moved base; (steps, 0, 13) if it rests
    first: Ints  # (steps,) first row of the output that falls into the step
    stop: Ints  # (steps,) one past the last such row
    tau: Floats  # (rows,) where in its step a row falls, 1: at the end
    dense: Floats  # (rows, s) weights of the stage increments there
    noted: Ints  # (steps,) row of the output in which the joint rates at the end of the step are noted, < 0: none


class Output(NamedTuple):
    """States and ledgers at the saved times."""

    x: Floats  # (n, size) twists, strains, joint positions, joint rates
    sums: Floats
    joints: Floats
    loads: Floats
    torque: Floats
    root: Floats  # (n, links, 6) wrench that the parent exerts on each root, mean over the step
    force: Floats  # (n, lines) of the relations, mean over the step
    taken: Floats  # (n, lines) energy that they took since the start
    rates: Floats  # (noted, dofs) joint rates at the ends of the last steps


class Work(NamedTuple):
    """What changes during a run."""

    state: State
    solver: Solver
    ledger: RunningLedger
    projection: Projection
    moved_V: Floats  # (nodes, 6) by which twists changed in the step
    moved_e: Floats  # (points, 6) and strains
    pose: Floats  # (1, links, 12) scratch


@inline_kernel
def advance_values(method, increments, rates, state, last, moved):
    """x += sum update E, its rate where the method carries one, and the increments for the predictor."""
    start, rate = state
    sum_stages(method.update[None], 1.0, increments, moved)
    copy_to(increments, last)
    for n in range(start.size):
        start.flat[n] += moved.flat[n]
    if method.history != 0.0:
        for n in range(rate.size):
            rate.flat[n] += method.rate_gain * (rates.flat[n] - rate.flat[n])


@inline_kernel
def advance_joints(method, drives, state, stages, end_table, last):
    """Joint positions at the end of the step, and rates, which the projection corrects."""
    s = method.b.shape[0]
    for j in range(state.q.shape[0]):
        for i in range(s):
            last[i, j] = stages.qd[i, j] - state.qd[j]
        if drives.prescribed[j]:
            state.q[j] = end_table[j, 0]
            state.qd[j] = end_table[j, 1]
        else:
            if method.history != 0.0 and j < drives.stiffness.shape[0]:
                state.q_rate[j] += method.rate_gain * (stages.qd[0, j] - state.q_rate[j])
            state.q[j] = end_of(method, state.q[j], stages.q, j)
            state.qd[j] = end_of(method, state.qd[j], stages.qd, j)


@inline_kernel
def finish_step(plant, method, work, tables, k):
    """From solved stages to the state at the end of step k, with its ledger."""
    h = tables.h[k]
    s = method.b.shape[0]
    state, ledger, pose = work.state, work.ledger, work.pose
    stages, last = work.solver.stages, work.solver.last
    gravity, material, viscous, damping = enter_flows(plant, method, stages, tables.loads[k], h, ledger)
    numerical = quadratic_loss(plant, method, stages, work.moved_V, work.moved_e) if method.damped else 0.0
    spun = stored = 0.0
    if plant.joints.active.shape[0] > 0:
        spun, stored, lost = enter_laws(plant, method, state, stages, tables.joints[k], h, ledger)
        damping += lost
        if method.damped:
            numerical += numerical_loss_of_laws(plant, method, state, stages, h)
        advance_rotors(plant, method, state, stages, last.rd)
    advance_values(method, stages.dV, stages.V_dot, (state.V, state.V_rate), last.V, work.moved_V)
    advance_values(method, stages.de, stages.e_dot, (state.e, state.e_rate), last.e, work.moved_e)
    advance_joints(method, plant.drives, state, stages, tables.joints[k, s], last.qd)
    if state.turn.shape[0] > 0:
        advance_frames(plant, method, state, stages, tables.base[k])
    mesh, inertia, section = plant.chain.mesh, plant.chain.inertia, plant.chain.section
    kinetic = kinetic_change(mesh, inertia, state.V, work.moved_V)
    strain = strain_change(mesh, section, state.e, work.moved_e)
    if method.damped and section.hardening:
        numerical += hardening_loss(plant, method, stages, state.e, work.moved_e, h)
    closing = 0.0
    if plant.relations.taken.shape[0] > 0:
        kept, lost, closing = enter_relations(plant.relations, method, h)
        stored += kept
        damping += lost + closing
    flows = (gravity, material, viscous, damping, numerical)
    close_step(ledger, kinetic + spun, strain + stored, flows, tables.end[k])
    # what closing the loops took belongs to the projection, not to the joints
    ledger.sums[JOINT] -= closing
    ledger.sums[PROJECTION] += closing
    set_poses(plant.chain.tree, state.q[None], 0, state.turn, state.place, pose)
    if plant.relations.taken.shape[0] > 0:
        measure_end(plant.chain.tree, plant.relations, state.e[None], pose)
    ledger.step_joints[:] = 0.0
    loss = project(plant, pose, state.V[None], state.qd, ledger.step_joints, work.projection)
    ledger.sums[KINETIC] -= loss
    for j in range(ledger.joints.shape[0]):
        ledger.joints[j] += ledger.step_joints[j]
        ledger.sums[KINETIC] += ledger.step_joints[j]
    ledger.sums[PROJECTION] += loss


@kernel
def fit_to_base(plant, work, base):
    """Put a moved base where its table begins; the roots on it and their joints take up its velocity."""
    state = work.state
    state.q_rate[:] = 0.0
    for c in range(4):
        state.turn[0, c] = base[0, 3 + c]
    for c in range(3):
        state.place[0, c] = base[0, c]
    for c in range(6):
        state.V[0, c] = base[0, 7 + c]
    set_poses(plant.chain.tree, state.q[None], 0, state.turn, state.place, work.pose)
    project(plant, work.pose, state.V[None], state.qd, work.ledger.step_joints, work.projection)
    work.ledger.step_joints[:] = 0.0


@inner_kernel
def interpolate_rows(values, start, dense, r, x, begin):
    """x[r, begin ..] = start + sum_j dense_rj (values_j - start), the polynomial of the step."""
    count, f = start.size, dense[r, 0]
    v, a, row = values.flat, start.flat, x[r]
    for n in range(count):
        row[begin + n] = a[n] + f * (v[n] - a[n])
    for j in range(1, values.shape[0]):
        f = dense[r, j]
        for n in range(count):
            row[begin + n] += f * (v[j * count + n] - a[n])


@inner_kernel
def keep_frames(plant, state, stages, tables, x, r):
    """Rotations and positions of frames inside a step, to the end of row r."""
    tree, count = plant.chain.tree, state.turn.shape[0]
    begin = x.shape[1] - 7 * count
    for link in range(tree.parent.shape[0]):
        f, d = tree.frame[link], tree.dof[link]
        if f < 0:
            continue
        a = (0.0, 0.0, 0.0)
        b = (0.0, 0.0, 0.0)
        if d >= 0:
            for i in range(stages.q.shape[0]):
                a = plus3(a, tables.dense[r, i], load3(stages.q, i, d))
                if tree.kind[link] == FLOATING:
                    b = plus3(b, tables.dense[r, i], load3(stages.q, i, d + 3))
            for c in range(3):  # the coordinates of a ball are in its rotation
                if d + c < plant.drives.stiffness.shape[0]:
                    x[r, 6 * (state.V.shape[0] + state.e.shape[0]) + d + c] = 0.0
        shift, w = (a, b) if tree.kind[link] == FLOATING else (b, a)
        store(turned(quaternion_of(state.turn, f), w), x, r, begin + 4 * f)
        store(plus3(load3(state.place, f), 1.0, shift), x, r, begin + 4 * count + 3 * f)


@inline_kernel
def keep_inside(plant, state, stages, tables, x, r):
    """State inside a step, before it is finished, to row r."""
    strain = 6 * state.V.shape[0]
    joint = strain + 6 * state.e.shape[0]
    named = plant.drives.stiffness.shape[0]
    rate = joint + named
    interpolate_rows(stages.V, state.V, tables.dense, r, x, 0)
    interpolate_rows(stages.e, state.e, tables.dense, r, x, strain)
    for j in range(named):
        q = state.q[j]
        qd = state.qd[j]
        for i in range(stages.q.shape[0]):
            q += tables.dense[r, i] * (stages.q[i, j] - state.q[j])
            qd += tables.dense[r, i] * (stages.qd[i, j] - state.qd[j])
        x[r, joint + j] = q
        x[r, rate + j] = qd
    behind = rate + named
    frames = x.shape[1] - 7 * state.turn.shape[0]
    if frames > behind:
        for j in range(named):
            for c in range(2):
                values = stages.r if c == 0 else stages.rd
                t = state.rotor[j, c]
                for i in range(stages.q.shape[0]):
                    t += tables.dense[r, i] * (values[i, j] - state.rotor[j, c])
                x[r, behind + 2 * j + c] = t
    if state.turn.shape[0] > 0:
        keep_frames(plant, state, stages, tables, x, r)


@inline_kernel
def keep_ledger(method, stages, ledger, tau, output, r):
    """The ledger at row r, between the ends of the step linearly, and the mean efforts of the step."""
    for c in range(ledger.sums.shape[0]):
        output.sums[r, c] = ledger.before[c] + tau * (ledger.sums[c] - ledger.before[c])
    n = ledger.sums.shape[0]
    for j in range(ledger.joints.shape[0]):
        x = ledger.before[n + j]
        output.joints[r, j] = x + tau * (ledger.joints[j] - x)
    for j in range(output.torque.shape[1]):
        t = 0.0
        for i in range(method.b.shape[0]):
            t += method.b[i] * stages.torque[i, j]
        output.torque[r, j] = t
    n += ledger.joints.shape[0]
    for k in range(ledger.loads.shape[0]):
        x = ledger.before[n + k]
        output.loads[r, k] = x + tau * (ledger.loads[k] - x)
    for k in range(stages.root.shape[1]):
        for c in range(6):
            t = 0.0
            for i in range(method.b.shape[0]):
                t -= method.b[i] * stages.root[i, k, c]
            output.root[r, k, c] = t


@inner_kernel
def keep_relations(method, relations, h, tau, output, r):
    """Mean forces of the step, and the energy taken up to its part tau."""
    for k in range(relations.taken.shape[0]):
        force = taken = 0.0
        for i in range(method.b.shape[0]):
            force += method.b[i] * relations.force[i, k]
            taken += h * method.b[i] * relations.force[i, k] * relations.rate[i, k]
        output.force[r, k] = force
        output.taken[r, k] = relations.taken[k] - (1.0 - tau) * taken


@kernel
def run_steps(plant, scheme, work, tables, output):
    """Advance through the tables; returns (steps done, CONVERGED or why it stopped)."""
    state, stages, ledger = work.state, work.solver.stages, work.ledger
    for k in range(tables.h.shape[0]):
        status = CONVERGED
        signals = tables.joints[k], tables.loads[k], tables.base[k]
        for _ in range(2):
            noise = ROUND_OFF * (abs(ledger.sums[KINETIC]) + abs(ledger.sums[STRAIN]))
            status, _ = solve_stages(plant, scheme, state, work.solver, signals, tables.h[k], noise)
            if status == CONVERGED:
                break
            # after a rough step its polynomial may lead astray: once more from the state alone
            for increments in (work.solver.last.V, work.solver.last.e):
                increments[:] = 0.0
            work.solver.last.qd[:] = 0.0
            work.solver.last.rd[:] = 0.0
            scheme.control.memory[0] = 0.0
        if status != CONVERGED:
            return k, status
        first, last = tables.first[k], tables.stop[k]
        if last > first:  # the ledger at the start of the step
            lay(ledger.loads, ledger.before, lay(ledger.joints, ledger.before, lay(ledger.sums, ledger.before, 0)))
        for r in range(first, last):
            if tables.tau[r] < 1.0:
                keep_inside(plant, state, stages, tables, output.x, r)
        finish_step(plant, scheme.method, work, tables, k)
        if plant.relations.taken.shape[0] > 0:
            opened = loop_opened(plant.relations)
            if opened >= 0:
                scheme.control.counts[2] = opened
                return k, LOOP_OPENED
        if last > first:
            ledger.sums[KINETIC], ledger.sums[STRAIN] = stored_energies(plant, state)
            ledger.sums[STRAIN] += plant.relations.booked[0]
        for r in range(first, last):
            if tables.tau[r] == 1.0:
                joint = lay(state.e, output.x[r], lay(state.V, output.x[r], 0))
                named = plant.drives.stiffness.shape[0]
                joint = lay(state.qd[:named], output.x[r], lay(state.q[:named], output.x[r], joint))
                if output.x.shape[1] > joint + 7 * state.turn.shape[0]:
                    joint = lay(state.rotor[:named], output.x[r], joint)
                lay(state.place, output.x[r], lay(state.turn, output.x[r], joint))
            keep_ledger(scheme.method, stages, ledger, tables.tau[r], output, r)
            keep_relations(scheme.method, plant.relations, tables.h[k], tables.tau[r], output, r)
        if tables.noted[k] >= 0:
            lay(state.qd[: output.rates.shape[1]], output.rates[tables.noted[k]], 0)
        if plant.relations.taken.shape[0] > 0:
            follow_momentum(plant.relations, work.solver.beside)
    return tables.h.shape[0], CONVERGED
