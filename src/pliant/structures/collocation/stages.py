"""Residuals of all stages of a step: what is left of the equations of motion at an iterate.

    rho_e = B(e) V - e'                                            strain points
    rho_V = ad_V^T M V - B(e)^T (C e + Cd B V) + M (g, 0) - R V + loads - M V'       nodes
    rho_q = S . rho_V(root) + torque                               joint coordinates

The residual of a root node is passed to its parent node and to its joint row.
"""

from __future__ import annotations

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_kinematics import add_to_parent, to_child
from pliant.spatial.rows import add_to, dot6, load3, load6, load9, plus6, scale6, stage_row, store
from pliant.spatial.se3 import ad_transpose, angular, join, linear
from pliant.spatial.small_matrices import applied, times
from pliant.spatial.so3 import from_quaternion
from pliant.spatial.vectors import add, apply_transpose, cross
from pliant.structures.collocation.chain import MOVED
from pliant.structures.collocation.element import hardening_stress, strain_rates, subtract_internal_wrenches
from pliant.structures.collocation.joints import set_laws
from pliant.structures.collocation.poses import carry_gravity, place_frames, rebuild_orientations, set_poses
from pliant.structures.collocation.relations import relate


@inline_kernel
def place_joints(plant, method, state, stages, tables, h):
    """Joint positions at the stages from the rates there, and child poses."""
    table, _, base = tables
    tree, drives = plant.chain.tree, plant.drives
    for i in range(method.b.shape[0]):
        for j in range(state.q.shape[0]):
            if drives.prescribed[j]:
                stages.q[i, j] = table[i, j, 0]
                stages.qd[i, j] = table[i, j, 1]
            else:
                stages.q[i, j] = state.q[j] + moved_by_rates(method, state, stages, h, i, j)
    if state.turn.shape[0] > 0:
        place_frames(plant, method, state, stages, h)
    for i in range(method.b.shape[0]):
        set_poses(tree, stages.q, i, state.turn, state.place, stages.pose)
        if base.shape[0] > 0:
            move_base(base, i, stages)


@inline_kernel
def moved_by_rates(method, state, stages, h, i, j):
    """How far a joint that is not prescribed has gone at stage i."""
    t = 0.0
    for k in range(method.b.shape[0]):
        t += method.A[i, k] * (stages.qd[k, j] - method.history * state.q_rate[j])
    return h * t


@inline_kernel
def move_base(base, i, stages):
    """Pose and twist of a moved base, the first link, at stage i."""
    store(from_quaternion((base[i, 3], base[i, 4], base[i, 5], base[i, 6])), stages.pose[i], 0)
    store(load3(base, i), stages.pose[i], 0, 9)
    store(load6(base, i, 7), stages.base, i)


@inline_kernel
def set_root_twist(tree, pose, link, rate, V, i):
    """V[root] = Ad V[parent node] + S rate."""
    x = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if tree.parent[link] >= 0:
        x = to_child(pose, link, V, tree.parent_node[link], i)
    store(plus6(x, rate, load6(tree.S, link)), V[i], tree.first_node[link])


@inline_kernel
def add_increments(start, increments, values):
    """values_i = start + increment_i."""
    count = start.size
    x, d, v = start.flat, increments.flat, values.flat  # one long loop vectorises; a reshape costs a call
    for i in range(values.shape[0]):
        at = i * count
        for n in range(count):
            v[at + n] = x[n] + d[at + n]


@inline_kernel
def sum_stages(X, h, values, out):
    """out_i = sum_j X_ij / h values_j."""
    count = values[0].size
    y, z = values.flat, out.flat
    for i in range(X.shape[0]):
        at = i * count
        f = X[i, 0] / h
        for n in range(count):
            z[at + n] = f * y[n]
        for j in range(1, X.shape[1]):
            f = X[i, j] / h
            for n in range(count):
                z[at + n] += f * y[j * count + n]


@inline_kernel
def stage_rates(method, h, increments, rate, out):
    """out_i = (1/h) sum_j S_ij increment_j + history rate."""
    sum_stages(method.S, h, increments, out)
    if method.history != 0.0:
        for i in range(out.shape[0]):
            for n in range(rate.size):
                out[i].flat[n] += method.history * rate.flat[n]


@inline_kernel
def roots_follow(tree, state, stages):
    """Twists of the roots, which their parents and joints decide, parents first, and so their increments."""
    for i in range(stages.V.shape[0]):
        for link in range(tree.parent.shape[0]):
            a, dof = tree.first_node[link], tree.dof[link]
            if tree.kind[link] == MOVED:
                store(load6(stages.base, i), stages.V[i], a)
            else:
                set_root_twist(tree, stages.pose, link, stages.qd[i, dof] if dof >= 0 else 0.0, stages.V, i)
            store(plus6(stage_row(stages.V, i, a), -1.0, load6(state.V, a)), stages.dV[i], a)


@inline_kernel
def body_gravity(gravity, R, i, k):
    return apply_transpose(load9(R[i], k), (gravity[0], gravity[1], gravity[2]))


@kernel
def inertial_wrench(M, plain, V, A, g):
    """ad_V^T M V - M (A - (g, 0)) of one mass with twist V, acceleration A and body-frame gravity g."""
    y = applied(M, plain, (A[0] - g[0], A[1] - g[1], A[2] - g[2], A[3], A[4], A[5]))
    return plus6(ad_transpose(V, applied(M, plain, V)), -1.0, y)


@inner_kernel
def add_hardening(section, method, state, stages, i):
    """Nonlinear stress of stage i, averaged over the step so that its work is the stored energy."""
    for k in range(state.e.shape[0]):
        for m in range(method.average_values.shape[0]):
            x = load6(state.e, k)
            for j in range(method.b.shape[0]):
                x = plus6(x, method.average_values[m, j], stage_row(stages.de, j, k))
            s = hardening_stress(section, k, x)
            add_to(method.average_weights[i, m], s, stages.stress[i], k)


@inline_kernel
def multiply_rows(A, plain, x, i, out):
    """out[i, k] = A[k] x[i, k] for all rows k; plain: which A[k] are diagonal."""
    for k in range(A.shape[0]):
        s = applied(A[k], plain[k], stage_row(x, i, k))
        store(s, out[i], k)


@inline_kernel
def set_stresses(section, method, state, stages, i):
    """Elastic stress of stage i, and the total stress where there is a viscous part."""
    multiply_rows(section.C, section.plain, stages.e, i, stages.stress)
    if section.hardening:
        add_hardening(section, method, state, stages, i)
    if section.damped:
        multiply_rows(section.Cd, section.plain, stages.rate, i, stages.total)
        for k in range(state.e.shape[0]):
            add_to(1.0, stage_row(stages.stress, i, k), stages.total[i], k)


@inline_kernel
def node_wrenches(inertia, stages, i):
    """Inertia and gravity at the nodes, added to rho; returns their power."""
    M, V, V_dot, rho = inertia.M, stages.V, stages.V_dot, stages.rho
    power = 0.0
    for a in range(M.shape[0]):
        x = stage_row(V, i, a)
        f = inertial_wrench(M[a], inertia.plain[a], x, stage_row(V_dot, i, a), load3(stages.g[i], a))
        power += dot6(x, f)
        add_to(1.0, f, rho[i], a)
    return power


@inner_kernel
def subtract_drag(viscous, V, i, rho):
    """External viscous damping at the nodes."""
    for a in range(viscous.shape[0]):
        r = times(viscous[a], stage_row(V, i, a))
        add_to(-1.0, r, rho[i], a)


@inline_kernel
def between(N, x, y):
    """What a mixed element makes at its strain point of 6-tuples at its two nodes."""
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return plus6(plus6(nothing, N[0, 0], x), N[0, 1], y)


@inline_kernel
def interpolate(N, V, i, first):
    """Twist at the strain point of a mixed element."""
    return between(N, stage_row(V, i, first), stage_row(V, i, first + 1))


@inner_kernel
def point_wrenches(mesh, inertia, stages, i):
    """Inertia and gravity of masses at the strain points (mixed element); returns their power."""
    M_point, gravity = inertia.M_point, inertia.gravity
    V, V_dot, R_point, rho = stages.V, stages.V_dot, stages.R_point, stages.rho
    power = 0.0
    for k in range(mesh.start.shape[0]):
        first = mesh.start[k]
        x = interpolate(mesh.N, V, i, first)
        g = body_gravity(gravity, R_point, i, k)
        f = inertial_wrench(M_point[k], False, x, interpolate(mesh.N, V_dot, i, first), g)
        power += dot6(x, f)
        add_to(mesh.N[0, 0], f, rho[i], first)
        add_to(mesh.N[0, 1], f, rho[i], first + 1)
    return power


@inline_kernel
def load_wrench(loads, table, R, i, k, a):
    """Wrench of load k on node a in stage i, in the axes of the section."""
    w = scale6(loads.weight[k, a], stage_row(table, i, k))
    if loads.world[k]:
        Q = load9(R[i], a)
        f = apply_transpose(Q, linear(w))
        w = join(f, add(apply_transpose(Q, angular(w)), cross(load3(loads.lever, k), f)))
    return w


@inner_kernel
def drive_balls(loads, table, i, rho_q):
    """Moments on ball joints, which are the torques on their three coordinates."""
    for k in range(loads.ball.shape[0]):
        if loads.ball[k] >= 0:
            for c in range(3):
                rho_q[i, loads.ball[k] + c] += table[i, k, 3 + c]


@inner_kernel
def add_loads(loads, table, R, i, rho):
    for k in range(loads.first.shape[0]):
        for a in range(loads.first[k], loads.last[k] + 1):
            f = load_wrench(loads, table, R, i, k, a)
            add_to(1.0, f, rho[i], a)


@inline_kernel
def pass_roots_on(tree, pose, rho, rho_q, root, i):
    """Root residuals to parents and joint rows, children before parents; the root rows end as zero."""
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        r = tree.first_node[link]
        x = stage_row(rho, i, r)
        store(x, root[i], link)
        rho[i, r] = 0.0
        dof = tree.dof[link]
        if dof >= 0:
            rho_q[i, dof] = dot6(x, load6(tree.S, link))
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, rho, tree.parent_node[link], i)


@inline_kernel
def apply_drives(drives, method, state, stages, table, h, i):
    """Torques of drives and laws of stage i in the joint rows; returns the energy residual per time."""
    residual = 0.0
    named = drives.stiffness.shape[0]
    for j in range(named, stages.q.shape[1]):
        residual += stages.qd[i, j] * stages.rho_q[i, j]
    for j in range(named):
        if drives.prescribed[j]:
            stages.torque[i, j] = -stages.rho_q[i, j]
            stages.rho_q[i, j] = 0.0
        else:
            torque = table[i, j, 2] - drives.damping[j] * (stages.qd[i, j] - table[i, j, 1]) + stages.law[i, j]
            if drives.stiffness[j] != 0.0:
                # a small way is added to what is ahead, not to the position, to which it would be rounded
                ahead = (state.q[j] - table[i, j, 0]) + moved_by_rates(method, state, stages, h, i, j)
                torque -= drives.stiffness[j] * ahead
            stages.torque[i, j] = torque
            stages.rho_q[i, j] += torque
            residual += stages.qd[i, j] * stages.rho_q[i, j]
    return residual


@inline_kernel
def work_of_joints(drives, method, stages, h):
    """Sum of the sizes of what drives and laws of the joints do in the step, as the ledger has it: a joint that rings
    within the step does far more and takes it back."""
    flow = 0.0
    for j in range(drives.stiffness.shape[0]):
        work = 0.0
        for i in range(method.b.shape[0]):
            work += h * method.b[i] * stages.torque[i, j] * stages.qd[i, j]
        flow += abs(work)
    return flow


@inline_kernel
def compare_strain_rates(mesh, stress, rate, e_dot, i, rho_e):
    """rho_e = rate - e_dot of stage i; returns its power against the stress, and the elastic power."""
    p = mesh.N.shape[0]
    residual = 0.0
    elastic = 0.0
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            x = 0.0
            y = 0.0
            for c in range(6):
                r = rate[i, k, c] - e_dot[i, k, c]
                rho_e[i, k, c] = r
                x += stress[i, k, c] * r
                y += stress[i, k, c] * e_dot[i, k, c]
            weight = mesh.w[g] * mesh.length[element]
            residual += weight * x
            elastic += weight * y
    return residual, elastic


@inline_kernel
def power_of(V, rho, i):
    """Sum of V . rho over all nodes of stage i."""
    power = 0.0
    for a in range(V.shape[1]):
        power += dot6(stage_row(V, i, a), stage_row(rho, i, a))
    return power


@inline_kernel
def orient_stage(plant, stages, i):
    """Gravity in the axes of the nodes, and their rotations where a load or a mass between nodes wants them."""
    tree, mesh, inertia = plant.chain.tree, plant.chain.mesh, plant.chain.inertia
    if plant.loads.first.shape[0] > 0 or inertia.at_points:
        rebuild_orientations(tree, mesh, stages.xi, stages.pose, i, stages.R, stages.R_point)
        for a in range(stages.g.shape[1]):
            store(body_gravity(inertia.gravity, stages.R, i, a), stages.g[i], a)
    else:
        carry_gravity(tree, mesh, stages.xi, stages.pose, inertia.gravity, i, stages.g)


@inline_kernel
def evaluate(plant, method, state, stages, tables, h, orient):
    """Residuals of all stages of a step; returns (energy residual, energy flow) of the step.

    tables: what the joints, the loads and a moved base (pose and twist, no rows if it rests) do at the stages.
    """
    chain, loads, drives = plant.chain, plant.loads, plant.drives
    tree, mesh, section, inertia = chain.tree, chain.mesh, chain.section, chain.inertia
    table, load_table, _ = tables
    V, rho = stages.V, stages.rho
    total = stages.total if section.damped else stages.stress
    place_joints(plant, method, state, stages, tables, h)
    add_increments(state.V, stages.dV, V)
    add_increments(state.e, stages.de, stages.e)
    roots_follow(tree, state, stages)
    stage_rates(method, h, stages.dV, state.V_rate, stages.V_dot)
    stage_rates(method, h, stages.de, state.e_rate, stages.e_dot)
    residual = 0.0
    if plant.joints.active.shape[0] > 0:
        residual = set_laws(plant, method, state, stages, table, h)
    gained = stored = 0.0
    for i in range(method.b.shape[0]):
        for k in range(state.e.shape[0]):
            store(plus6(load6(section.rest, k), 1.0, stage_row(stages.e, i, k)), stages.xi[i], k)
        rho[i] = 0.0
        strain_rates(mesh, stages.xi, V, i, stages.rate)
        if orient:
            orient_stage(plant, stages, i)
        set_stresses(section, method, state, stages, i)
        subtract_internal_wrenches(mesh, stages.xi, total, rho, i)
        kinetic = node_wrenches(inertia, stages, i)
        if inertia.at_points:
            kinetic += point_wrenches(mesh, inertia, stages, i)
        if inertia.has_viscous:
            subtract_drag(inertia.viscous, V, i, rho)
        if loads.first.shape[0] > 0:
            add_loads(loads, load_table, stages.R, i, rho)
        if plant.relations.taken.shape[0] > 0:
            stored += h * method.b[i] * relate(tree, plant.relations, stages, i)
        pass_roots_on(tree, stages.pose, rho, stages.rho_q, stages.root, i)
        if loads.first.shape[0] > 0:
            drive_balls(loads, load_table, i, stages.rho_q)
        r = apply_drives(drives, method, state, stages, table, h, i)
        x, elastic = compare_strain_rates(mesh, stages.stress, stages.rate, stages.e_dot, i, stages.rho_e)
        residual += h * method.b[i] * (r + x + power_of(V, rho, i))
        gained += h * method.b[i] * kinetic
        stored += h * method.b[i] * elastic
    return residual, work_of_joints(drives, method, stages, h) + abs(gained) + abs(stored)


@kernel
def evaluate_stages(plant, method, state, stages, tables, h):
    """`evaluate` with all rotations, for Python."""
    return evaluate(plant, method, state, stages, tables, h, True)
