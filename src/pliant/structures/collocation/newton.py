"""Modified Newton for the stages of one step, strains kept as independent iterates.

Multiplied by T^-1 (S = T diag(lam) T^-1) the stages decouple; with B and the stress frozen at the
factorisation every strain increment is explicit and only twists and joint rates are solved for:

    d_e = (h/lam) (rho_e + B d_V)
    [ (lam/h) M + G + Kd + (h/lam) K ] d_V = rho_V - (h/lam) d(B^T stress) rho_e

Return the two sides of every joint to equal velocity at the end of a step.

Collocation ties child roots to their parents at the stages; at the end of a step they differ by the error
of the step's polynomial. The change of least kinetic energy removes that (projected collocation keeps the
full order, [ascher1991]). Its loss, dV.M dV / 2 >= 0, is entered; so is the work of prescribed joints. Masses and
momenta pass a free joint as articulated bodies do [featherstone2008], so that links without mass need no inverse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.block_elimination import Factors, Increments
from pliant.mechanics.block_solve import push_roots, solve_tree
from pliant.mechanics.joint_kinematics import add_to_parent, adjoint_to_child, to_child
from pliant.spatial.rows import add_to, copy_to, dot6, load6, plus6, stage_row, store
from pliant.spatial.small_matrices import add_product, multiply, set_block, solve_symmetric, times
from pliant.structures.bundles import zeros_of
from pliant.structures.collocation.chain import FIXED, MOVED, Floats, Method, Stages
from pliant.structures.collocation.element import strain_rates, subtract_wrench_change
from pliant.structures.collocation.factorise import Frozen, factorise, join_links
from pliant.structures.collocation.joints import condense_rotors, hold_at_zero, renew_pivots, set_apart, turn_rotors
from pliant.structures.collocation.relation_solver import (
    Beside,
    answer_lines,
    answer_some,
    answer_velocities,
    close_velocities,
    measure_start,
    note_alone,
    solve_lines,
    take_up_forces,
)
from pliant.structures.collocation.stages import evaluate, interpolate, set_root_twist, sum_stages
from pliant.structures.relations import CLOSED
from pliant.structures.stepping import CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR

Numbers = NDArray[np.generic]

SEEN = 0.01  # part of the tolerance that loads may be off because the rotations that they follow have moved on
SLOW = 0.4  # contraction per iteration above which the factorisation is renewed
REMEMBERED = 0.03  # the least contraction of the last step that is believed of this one before it shows its own
ROUND_OFF = 1e-12  # relative increments that shrink no more are noise below this
MAX_RENEWALS = 4
LATE = 6  # iterations after which every change of a joint law counts
STALLED = 2  # iterations that gain little, below the tolerance, after which what is left is rounding
LEFT_BY_ROUNDING = 1e-8  # relative increments that rounding may leave where a stiff law acts in a short step
CIRCLING = 14  # iterations after which joint rates go slowly
LIFE = 50.0  # steps that a factorisation serves: a new one costs an iteration and may save many


class Spectrum(NamedTuple):
    """Diagonal form of S, one entry of each conjugate pair."""

    T: Numbers
    T_inverse: Numbers
    lam: Numbers
    multiplicity: Floats


class Last(NamedTuple):
    """Stage increments of the last step, for the predictor."""

    V: Floats
    e: Floats
    qd: Floats
    rd: Floats


class Control(NamedTuple):
    """Numbers that steer the iteration; ``memory`` survives from step to step."""

    displacement: float
    energy: float
    length: float
    max_iterations: int
    orient: bool
    gravity_gain: float  # relative change of the load per relative increment of the strains
    memory: Floats  # [h of the factorisation or 0, last contraction, mean energy flow, steps, its age]
    counts: NDArray[np.int64]  # [iterations, factorisations, worst node of the last increment]


class Scheme(NamedTuple):
    """How to step: the method, its diagonal form, and the numbers that steer Newton."""

    method: Method
    spectrum: Spectrum
    control: Control


class Solver(NamedTuple):
    """What Newton works with."""

    stages: Stages
    frozen: Frozen
    factors: Factors
    inc: Increments
    last: Last
    beside: Beside


@inline_kernel
def combine_stages(T, k, values, factor, parts, out):
    """Parts of out += factor sum_j T_kj values_j for (s, n, 6) arrays."""
    for j in range(values.shape[0]):
        f = factor * T[k, j]
        for a in range(values.shape[1]):
            x = stage_row(values, j, a)
            add_to(f.real, x, out[0], a)
            if parts == 2:
                add_to(f.imag, x, out[1], a)


@inline_kernel
def add_multiple(factor, x, parts, y):
    """y += factor x for the parts of two (parts, n, 6) arrays."""
    for a in range(x.shape[1]):
        u = stage_row(x, 0, a)
        add_to(factor.real, u, y[0], a)
        if parts == 2:
            v = stage_row(x, 1, a)
            add_to(-factor.imag, v, y[0], a)
            for c in range(6):
                y[1, a, c] += factor.real * v[c] + factor.imag * u[c]


@inline_kernel
def spread_increment(d, factor, parts, values, i, scales):
    """values_i += Re(factor d); returns the largest increment, scaled.

    scales: of the linear and of the angular components.
    """
    a, b = factor.real, -factor.imag
    last = parts - 1
    if last == 0:
        b = 0.0
    linear = angular = 0.0
    for n in range(d.shape[1]):
        for c in range(6):
            x = a * d[0, n, c] + b * d[last, n, c]
            values[i, n, c] += x
            if c < 3:
                linear = max(linear, abs(x))
            else:
                angular = max(angular, abs(x))
    return max(linear * scales[0], angular * scales[1])


@inner_kernel
def largest_row(values, scales):
    """Where the last increment is largest, or not a number: (row, its scaled size)."""
    where = 0
    worst = 0.0
    for a in range(values.shape[1]):
        for part in range(values.shape[0]):
            for c in range(6):
                x = abs(values[part, a, c]) * (scales[0] if c < 3 else scales[1])
                if np.isnan(x):
                    return a, np.inf
                if x > worst:
                    where = a
                    worst = x
    return where, worst


@inner_kernel
def note_worst_node(mesh, inc, h, L, counts):
    """Keep the node at which the last increment was largest, to say where a run failed."""
    node, twist = largest_row(inc.d, (h / L, h))
    point, strain = largest_row(inc.rho_e, (1.0, L))
    if strain > twist:
        p = mesh.N.shape[0]
        node = mesh.start[point // p] + point % p
    counts[2] = node


@inline_kernel
def solve_member(plant, spectrum, solver, h, k):
    """Increments inc.d, inc.d_q of member k of the spectrum, with the strains that the residuals alone ask for."""
    tree, mesh, drives = plant.chain.tree, plant.chain.mesh, plant.drives
    stages, frozen, factors, inc = solver.stages, solver.frozen, solver.factors, solver.inc
    s = stages.V.shape[0]
    parts = factors.parts[k]
    inc.rho_e[:] = 0.0
    inc.b[:] = 0.0
    combine_stages(spectrum.T_inverse, k, stages.rho_e, h / spectrum.lam[k], parts, inc.rho_e)
    for j in range(stages.qd.shape[1]):
        t = spectrum.T_inverse[k, 0] * stages.rho_q[0, j]
        for i in range(1, s):
            t += spectrum.T_inverse[k, i] * stages.rho_q[i, j]
        inc.b_q[j] = t
    if plant.joints.active.shape[0] > 0:
        condense_rotors(plant.joints, spectrum, stages, frozen, k, inc)
    for part in range(parts):
        b = inc.b[part : part + 1]
        change = inc.rho_e[part : part + 1]
        subtract_wrench_change(mesh, frozen, plant.chain.section.plain, change, b)
        push_roots(tree, factors.pose, b, inc.b_q, factors.unit[0] if part == 1 else 1.0)
    combine_stages(spectrum.T_inverse, k, stages.rho, 1.0, parts, inc.b)
    solve_tree(tree, mesh.start, factors, drives.free, k, inc)


@inline_kernel
def take_member(plant, scheme, solver, h, k):
    """The increments of member k into all stages; returns their relative size."""
    mesh, drives, spectrum = plant.chain.mesh, plant.drives, scheme.spectrum
    stages, frozen, inc = solver.stages, solver.frozen, solver.inc
    L = scheme.control.length
    parts = solver.factors.parts[k]
    worst = 0.0
    for part in range(parts):
        strain_rates(mesh, frozen.xi, inc.d[part : part + 1], 0, inc.rate[part : part + 1])
    add_multiple(h / spectrum.lam[k], inc.rate, parts, inc.rho_e)
    for i in range(stages.V.shape[0]):
        T = spectrum.multiplicity[k] * spectrum.T[i, k]
        worst = max(worst, spread_increment(inc.d, T, parts, stages.dV, i, (h / L, h)))
        worst = max(worst, spread_increment(inc.rho_e, T, parts, stages.de, i, (1.0, L)))
        for j in range(stages.qd.shape[1]):
            if drives.free[j]:
                stages.qd[i, j] += (T * inc.d_q[j]).real
    if plant.joints.active.shape[0] > 0:
        turn_rotors(plant.joints, spectrum, stages, frozen, k, inc)
    return worst


@inner_kernel
def improve_related(plant, scheme, solver, h, bent):
    """`improve` with the forces of relations and of ``bent`` laws, which tie the members together."""
    spectrum, beside = scheme.spectrum, solver.beside
    beside.r[:] = 0.0
    for k in range(spectrum.lam.shape[0]):
        solve_member(plant, spectrum, solver, h, k)
        note_alone(plant, spectrum, solver.factors, beside, solver.inc, k)
        copy_to(solver.frozen.turning, beside.turning[k])
    if not solve_lines(plant, solver.stages, beside, scheme.method, h, bent):
        return np.nan
    worst = 0.0
    for k in range(spectrum.lam.shape[0]):
        take_up_forces(spectrum, solver.factors, beside, solver.inc, k)
        copy_to(beside.turning[k], solver.frozen.turning)
        worst = max(worst, take_member(plant, scheme, solver, h, k))
    return worst


@inline_kernel
def improve(plant, scheme, solver, h, bent):
    """One Newton increment of all stages; returns its relative size. ``bent``: laws differ from stage to stage."""
    if bent or plant.relations.taken.shape[0] > 0:
        return improve_related(plant, scheme, solver, h, bent)
    worst = 0.0
    for k in range(scheme.spectrum.lam.shape[0]):
        solve_member(plant, scheme.spectrum, solver, h, k)
        worst = max(worst, take_member(plant, scheme, solver, h, k))
    return worst


@inline_kernel
def predict(method, state, stages, last):
    """Stage values extrapolated from the polynomial of the last step."""
    X = method.extrapolation
    s = X.shape[0]
    sum_stages(X, 1.0, last.V, stages.dV)
    sum_stages(X, 1.0, last.e, stages.de)
    for i in range(s):
        for a in range(state.qd.shape[0]):
            t = state.qd[a]
            for j in range(s):
                t += X[i, j] * last.qd[j, a]
            stages.qd[i, a] = t
            t = state.rotor[a, 1]
            for j in range(s):
                t += X[i, j] * last.rd[j, a]
            stages.rd[i, a] = t


@inline_kernel
def solve_stages(plant, scheme, state, solver, tables, h, noise):
    """Find the stages of one step; returns (CONVERGED or why not, energy residual of the step).

    tables: see `evaluate`; noise: rounding of the energies of the arm, which may be all that a short step leaves.
    """
    method, spectrum, control = scheme.method, scheme.spectrum, scheme.control
    stages, frozen, factors = solver.stages, solver.frozen, solver.factors
    memory = control.memory
    moving = plant.chain.tree.parent.shape[0] > 1
    lawful = plant.joints.active.shape[0] > 0
    changed = bent = answered = False
    first_bent, lines = plant.relations.taken.shape[0], solver.beside.change.shape[1]
    bending = lines > first_bent
    renewals = stalled = 0
    renew = abs(h - memory[0]) > 1e-9 * h
    if memory[4] >= LIFE and not renew:  # at the stages of the last step, before the predictor moves them
        if not factorise(plant, spectrum, frozen, factors, stages, h):
            return SINGULAR, 0.0
        memory[4] = 0.0
        control.counts[1] += 1
        renewals = 1
    predict(method, state, stages, solver.last)
    joined = False
    previous = unbalanced = np.inf
    contraction = max(memory[1], REMEMBERED)
    size = np.inf
    orient = control.orient
    for n in range(control.max_iterations * (2 if bending else 1)):  # what joints do may change often
        late, slowly = bending and n >= LATE, n >= CIRCLING
        residual, flow = evaluate(plant, method, state, stages, tables, h, orient)
        if not np.isfinite(residual + flow):
            note_worst_node(plant.chain.mesh, solver.inc, h, control.length, control.counts)
            return NOT_FINITE, residual
        limit = control.energy * max(flow, memory[2])
        if size * contraction <= control.displacement and abs(residual) <= limit:
            memory[1] = contraction
            memory[2] += (flow - memory[2]) / (memory[3] + 1.0)
            memory[3] += 1.0
            memory[4] += 1.0
            return CONVERGED, residual
        # nothing but round-off is left to gain, as the energy or a second increment shows that does not help the energy
        helps = previous == np.inf or abs(residual) < SLOW * unbalanced
        if size < ROUND_OFF and contraction > SLOW and (abs(residual) <= limit or not helps):
            return CONVERGED, residual
        unbalanced = abs(residual)
        if (
            bending
            and contraction > SLOW
            and size <= max(control.displacement, LEFT_BY_ROUNDING)
            and abs(residual) <= noise
        ):
            stalled += 1
            if stalled == STALLED:
                return CONVERGED, residual
        if renew:
            if renewals == MAX_RENEWALS:
                break
            if not factorise(plant, spectrum, frozen, factors, stages, h):
                return SINGULAR, residual
            memory[0], memory[4] = h, 0.0
            control.counts[1] += 1
            renewals += 1
            renew = False
            joined = False
            size = np.inf
            contraction = 1.0
        if lawful:
            changed = renew_pivots(plant, spectrum, solver, tables[0], h, late)
            joined = joined and not changed
        if not joined:
            if (moving or renewals > 0 or changed) and not join_links(plant, spectrum, state, stages, frozen, factors):
                return SINGULAR, residual
            if plant.relations.taken.shape[0] > 0:
                answer_lines(plant, spectrum, factors, solver.inc, solver.beside)
            joined = True
            answered = False
        if bending:
            bent = set_apart(plant.joints, solver, h, late, slowly)
            if bent and not answered:
                answer_some(plant, spectrum, factors, solver.inc, solver.beside, first_bent, lines)
                answered = True
        previous = size
        if lawful:
            copy_to(stages.qd, stages.before)
        size = improve(plant, scheme, solver, h, bent)
        if lawful:
            hold_at_zero(plant, stages, slowly)
        control.counts[0] += 1
        if not np.isfinite(size):
            note_worst_node(plant.chain.mesh, solver.inc, h, control.length, control.counts)
            return NOT_FINITE, residual
        if previous < np.inf:
            contraction = min(1.0, max(size / previous, 1e-4))
            # where laws of joints have just changed, they were the reason
            if contraction > SLOW and size > ROUND_OFF and not changed and (not bent or (late and renewals < 2)):
                renew = True
        # the loads follow the rotations only as long as that can still be seen in the answer
        orient = control.orient and size * control.gravity_gain * h * h > SEEN * control.displacement
    note_worst_node(plant.chain.mesh, solver.inc, h, control.length, control.counts)
    return NOT_CONVERGED, 0.0


class Projection(NamedTuple):
    """Scratch; changes, masses and momenta belong to nodes, the rest to links."""

    change: Floats  # (1, nodes, 6) of the velocities of end nodes
    mass: Floats  # (nodes, 6, 6) own mass and what the children add
    momentum: Floats  # (1, nodes, 6) that the nodes lack
    gap: Floats  # (links, 6) by which a root is ahead of its parent and joint
    column: Floats  # (links, 6) mass times S
    joint: Floats  # (links, 2) inertia that a free joint moves, and the momentum it lacks
    Ad: Floats  # (1, links, 6, 6)
    impulse: Floats  # (1, nodes, 6)
    work: Floats  # (2, 6, 6)


def new_projection(links: int, nodes: int) -> Projection:
    n, of_links = (1, nodes, 6), (links, 6)
    return zeros_of(Projection, n, (nodes, 6, 6), n, of_links, of_links, (links, 2), (1, links, 6, 6), n, (2, 6, 6))


@inline_kernel
def clear_node(M, n, scratch):
    """An end node before the change."""
    store((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), scratch.momentum[0], n)
    set_block(M[n], scratch.mass[n])


@inline_kernel
def seen_from_parent(tree, pose, link, V):
    """Velocity of the parent node at the root of a link, joint rate not included."""
    if tree.parent[link] < 0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return to_child(pose, link, V, tree.parent_node[link], 0)


@inline_kernel
def inform_parent(plant, pose, link, V, qd, scratch):
    """Add the mass behind a joint and the momentum that it lacks to the parent node.

    A root that is ahead by ``gap`` costs  (dV - gap) . M (dV - gap) / 2  where the parent and the joint move it by dV.
    """
    tree, drives, joints = plant.chain.tree, plant.drives, plant.joints
    mass = scratch.mass
    a, b = scratch.work[0], scratch.work[1]
    root, dof = tree.first_node[link], tree.dof[link]
    S = load6(tree.S, link)
    x = plus6(stage_row(V, 0, root), -1.0, seen_from_parent(tree, pose, link, V))
    if dof >= 0:
        x = plus6(x, -qd[dof], S)
    store(x, scratch.gap, link)
    p = plus6(stage_row(scratch.momentum, 0, root), 1.0, times(mass[root], x))
    f, MS = 0.0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if dof >= 0 and not drives.prescribed[dof]:
        MS = times(mass[root], S)
        inertia = dot6(MS, S) + joints.inertia[dof]
        lacks = dot6(p, S)
        store(MS, scratch.column, link)
        scratch.joint[link, 0], scratch.joint[link, 1] = inertia, lacks
        if inertia > 0.0:
            f = 1.0 / inertia
            p = plus6(p, -f * lacks, MS)
    if tree.parent[link] >= 0:
        set_block(mass[root], a)
        if f > 0.0:
            for i in range(6):
                for j in range(6):
                    a[i, j] -= f * MS[i] * MS[j]
        adjoint_to_child(pose, link, scratch.Ad, 0)
        Ad = scratch.Ad[0, link]
        add_to_parent(pose, link, p, scratch.momentum, tree.parent_node[link], 0)
        multiply(a, Ad, b)
        add_product(1.0, Ad.T, b, mass[tree.parent_node[link]])


@inline_kernel
def follow(plant, pose, link, V, qd, scratch):
    """Root velocity of a link and its free joint rate from the change of the parent; returns the loss in a rotor."""
    tree, drives, joints = plant.chain.tree, plant.drives, plant.joints
    root, dof = tree.first_node[link], tree.dof[link]
    loss = rate = 0.0
    if dof >= 0:
        if not drives.prescribed[dof]:
            x = seen_from_parent(tree, pose, link, scratch.change)
            inertia, lacks = scratch.joint[link, 0], scratch.joint[link, 1]
            S = load6(tree.S, link)
            if inertia > 0.0:
                change = (lacks - dot6(load6(scratch.column, link), x)) / inertia
            else:
                change = dot6(plus6(load6(scratch.gap, link), -1.0, x), S) / dot6(S, S)
            qd[dof] += change
            loss = 0.5 * joints.inertia[dof] * change * change
        rate = qd[dof]
    before = stage_row(V, 0, root)
    set_root_twist(tree, pose, link, rate, V, 0)
    store(plus6(stage_row(V, 0, root), -1.0, before), scratch.change[0], root)
    return loss


@inline_kernel
def take_impulse(M, n, scratch):
    """Impulse that changed the velocity of an end node; returns the kinetic energy of the change."""
    d = stage_row(scratch.change, 0, n)
    x = times(M[n], d)
    store(x, scratch.impulse[0], n)
    return 0.5 * dot6(x, d)


@inline_kernel
def point_energy_change(chain, element, V, scratch):
    """Change of kinetic energy of a mixed element's mass when its first node took a prescribed velocity."""
    mesh, M = chain.mesh, chain.inertia.M_point
    root = mesh.start[element]
    after = interpolate(mesh.N, V, 0, root)
    before = plus6(after, -mesh.N[0, 0], stage_row(scratch.change, 0, root))
    return 0.5 * (dot6(after, times(M[element], after)) - dot6(before, times(M[element], before)))


@inline_kernel
def enter_impulses(plant, pose, V, qd, joint_work, scratch):
    """Work of prescribed joints and of a moved base on what took up their velocities."""
    tree, drives, impulse = plant.chain.tree, plant.drives, scratch.impulse
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        x = stage_row(impulse, 0, tree.first_node[link])
        dof = tree.dof[link]
        if dof >= 0 and drives.prescribed[dof]:
            joint_work[dof] += dot6(x, load6(tree.S, link)) * qd[dof]
            if plant.chain.inertia.at_points and tree.n_elements[link] > 0:
                joint_work[dof] += point_energy_change(plant.chain, tree.first_element[link], V, scratch)
        if tree.kind[link] == MOVED:
            joint_work[drives.stiffness.shape[0]] += dot6(x, stage_row(V, 0, tree.first_node[link]))
        elif tree.parent[link] >= 0:
            add_to_parent(pose, link, x, impulse, tree.parent_node[link], 0)


@inline_kernel
def project(plant, pose, V, qd, joint_work, scratch):
    """Make V (1, nodes, 6) and the free rates consistent; returns the loss, adds the drives' work to joint_work."""
    tree, M, drives = plant.chain.tree, plant.chain.inertia.M, plant.drives
    links = tree.parent.shape[0]
    given = tree.kind[0] == MOVED
    for dof in range(drives.prescribed.shape[0]):
        given = given or drives.prescribed[dof]
    for link in range(links):
        root, tip = tree.first_node[link], tree.last_node[link]
        clear_node(M, root, scratch)
        if tip != root and tree.n_children[link] > 0:
            clear_node(M, tip, scratch)
    # children first: each parent node learns the mass behind its joints and the momentum that it lacks
    for link in range(links - 1, -1, -1):
        # a flexible link fixed to its parent has no mass at its root
        if tree.kind[link] != MOVED and (tree.kind[link] != FIXED or tree.n_elements[link] == 0):
            inform_parent(plant, pose, link, V, qd, scratch)
    # parents first: roots follow their parent and joint, tips their momentum
    loss = 0.0
    for link in range(links):
        root, tip = tree.first_node[link], tree.last_node[link]
        if tree.kind[link] == MOVED:  # it is where its table puts it
            store((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), scratch.change[0], root)
        else:
            loss += follow(plant, pose, link, V, qd, scratch)
        loss += take_impulse(M, root, scratch)
        if tip != root:
            if tree.n_children[link] > 0:
                copy_to(scratch.momentum[0, tip], scratch.change[0, tip])
                set_block(scratch.mass[tip], scratch.work[0])
                solve_symmetric(scratch.work[0], scratch.change[0, tip])
                add_to(1.0, stage_row(scratch.change, 0, tip), V[0], tip)
                loss += take_impulse(M, tip, scratch)
            else:
                store((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), scratch.impulse[0], tip)
    if plant.relations.taken.shape[0] > 0:
        loss += close_velocities(plant, pose, V, qd, scratch)
    if given:
        enter_impulses(plant, pose, V, qd, joint_work, scratch)
    return loss


@kernel
def probe_lines(plant, scheme, state, solver, tables, h):
    """What each line sees of a unit of each in a step of one stage from rest: solver.beside.S; False if singular."""
    evaluate(plant, scheme.method, state, solver.stages, tables, h, True)
    if not factorise(plant, scheme.spectrum, solver.frozen, solver.factors, solver.stages, h):
        return False
    if not join_links(plant, scheme.spectrum, state, solver.stages, solver.frozen, solver.factors):
        return False
    answer_lines(plant, scheme.spectrum, solver.factors, solver.inc, solver.beside)
    return True


@kernel
def probe_velocities(plant, state, pose, joint_work, scratch):
    """The same of an impulse, relations.fit.S; state is fitted to joints, but not to closed lines."""
    measure_start(plant.chain.tree, plant.relations, state, pose)
    lines = plant.relations.lines.law.shape[0]
    for k in range(lines):
        plant.relations.kept[1, k] = False
    project(plant, pose, state.V[None], state.qd, joint_work, scratch)
    for k in range(lines):
        plant.relations.kept[1, k] = plant.relations.lines.law[k] == CLOSED
    answer_velocities(plant, pose, state.V[None], scratch)
