"""Residuals of all stages of a step: what is left of the equations of motion at an iterate.

    rho_e = B(e) V - e'                                            strain points
    rho_V = ad_V^T M V - B(e)^T (C e + Cd B V) + M (g, 0) - R V + loads - M V'       nodes
    rho_q = S . rho_V(root) + torque                               joint coordinates

The residual of a root node is passed to its parent node and to its joint row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.element import (
    dual_ad,
    hardening_stress,
    product,
    row,
    strain_rates,
    subtract_internal_wrenches,
)
from pliant.formulations.geometrically_exact.orientation import load9, rebuild_orientations
from pliant.jit import kernel
from pliant.mechanics.joint_kinematics import add_to_parent, dot6, place_child, to_child
from pliant.spatial.so3 import rotate_back


class State(NamedTuple):
    """The state at the start of a step, and its rate of change where the method carries one."""

    V: Floats  # (nodes, 6) body twists
    e: Floats  # (points, 6) strains
    q: Floats  # (dofs,) joint positions
    qd: Floats  # (dofs,) joint rates
    V_rate: Floats
    e_rate: Floats
    q_rate: Floats


class Stages(NamedTuple):
    """Iterates and residuals; the first index counts the stages."""

    V: Floats
    e: Floats
    q: Floats
    qd: Floats
    pose: Floats  # (s, links, 12) child root in parent node
    R: Floats  # (s, nodes, 9)
    R_point: Floats  # (s, points or 0, 9)
    xi: Floats  # (s, points, 6) total strain, rest shape included
    rate: Floats  # (s, points, 6) B V
    stress: Floats  # (s, points, 6) elastic part
    total: Floats  # (points, 6) scratch: elastic and viscous stress
    rho: Floats  # (s, nodes, 6)
    rho_e: Floats  # (s, points, 6)
    rho_q: Floats  # (s, dofs)
    root: Floats  # (s, links, 6) residual of each root before it was passed on
    torque: Floats  # (s, dofs) of the drives


class Method(NamedTuple):
    """The tables of a StageMethod."""

    A: Floats
    S: Floats
    b: Floats
    update: Floats
    history: float
    rate_gain: float
    extrapolation: Floats
    average_values: Floats
    average_weights: Floats


def new_state(nodes: int, points: int, dofs: int) -> State:
    z = np.zeros
    return State(
        z((nodes, 6)), z((points, 6)), z(dofs), z(dofs), z((nodes, 6)), z((points, 6)), z(dofs)
    )


def new_stages(stages: int, links: int, nodes: int, points: int, dofs: int, at_points: bool) -> Stages:
    z = np.zeros
    s = stages
    return Stages(
        V=z((s, nodes, 6)),
        e=z((s, points, 6)),
        q=z((s, dofs)),
        qd=z((s, dofs)),
        pose=z((s, links, 12)),
        R=z((s, nodes, 9)),
        R_point=z((s, points if at_points else 0, 9)),
        xi=z((s, points, 6)),
        rate=z((s, points, 6)),
        stress=z((s, points, 6)),
        total=z((points, 6)),
        rho=z((s, nodes, 6)),
        rho_e=z((s, points, 6)),
        rho_q=z((s, dofs)),
        root=z((s, links, 6)),
        torque=z((s, dofs)),
    )


@kernel
def place_joints(tree, method, drives, state, stages, table, h):
    """Joint positions at the stages from the rates there, child poses, and root twists."""
    for i in range(method.b.shape[0]):
        for j in range(state.q.shape[0]):
            if drives.prescribed[j]:
                stages.q[i, j] = table[i, j, 0]
                stages.qd[i, j] = table[i, j, 1]
            else:
                t = 0.0
                for k in range(method.b.shape[0]):
                    t += method.A[i, k] * (stages.qd[k, j] - method.history * state.q_rate[j])
                stages.q[i, j] = state.q[j] + h * t
        set_poses(tree, stages.q[i], stages.pose[i])
        set_root_twists(tree, stages.pose[i], stages.qd[i], stages.V[i])


@kernel
def set_poses(tree, q, pose):
    for link in range(tree.parent.shape[0]):
        dof = tree.dof[link]
        place_child(tree.rotation, tree.position, tree.S, link, q[dof] if dof >= 0 else 0.0, pose)


@kernel
def set_root_twist(tree, pose, link, rate, V):
    """V[root] = Ad V[parent node] + S rate."""
    root = tree.first_node[link]
    if tree.parent[link] >= 0:
        x = to_child(pose, link, V, tree.parent_node[link])
        for c in range(6):
            V[root, c] = x[c] + tree.S[link, c] * rate
    else:
        for c in range(6):
            V[root, c] = tree.S[link, c] * rate


@kernel
def set_root_twists(tree, pose, qd, V):
    """Root twists of all links, parents before children."""
    for link in range(tree.parent.shape[0]):
        dof = tree.dof[link]
        set_root_twist(tree, pose, link, qd[dof] if dof >= 0 else 0.0, V)


@kernel
def body_gravity(gravity, R, k):
    return rotate_back(load9(R, k), (gravity[0], gravity[1], gravity[2]))


@kernel
def inertial_wrench(M, k, V, A, g):
    """ad_V^T M V - M (A - (g, 0)) of one mass with twist V, acceleration A and body-frame gravity g."""
    x = dual_ad(V, product(M, k, V))
    y = product(M, k, (A[0] - g[0], A[1] - g[1], A[2] - g[2], A[3], A[4], A[5]))
    return (x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3], x[4] - y[4], x[5] - y[5])


@kernel
def stage_rate(S, history, h, values, start, rate, i, k, c):
    """xdot of stage i: (1/h) sum_j S_ij (x_j - x_n) + history xdot_n."""
    t = 0.0
    for j in range(S.shape[0]):
        t += S[i, j] * (values[j, k, c] - start[k, c])
    return t / h + history * rate[k, c]


@kernel
def stage_rates(method, h, values, start, rate, i, k):
    S = method.S
    f = method.history
    return (
        stage_rate(S, f, h, values, start, rate, i, k, 0),
        stage_rate(S, f, h, values, start, rate, i, k, 1),
        stage_rate(S, f, h, values, start, rate, i, k, 2),
        stage_rate(S, f, h, values, start, rate, i, k, 3),
        stage_rate(S, f, h, values, start, rate, i, k, 4),
        stage_rate(S, f, h, values, start, rate, i, k, 5),
    )


@kernel
def add_hardening(section, method, state, stages, i):
    """Nonlinear stress of stage i, averaged over the step so that its work is the stored energy."""
    for k in range(state.e.shape[0]):
        for m in range(method.average_values.shape[0]):
            x = row(state.e, k)
            for j in range(method.b.shape[0]):
                f = method.average_values[m, j]
                x = (
                    x[0] + f * (stages.e[j, k, 0] - state.e[k, 0]),
                    x[1] + f * (stages.e[j, k, 1] - state.e[k, 1]),
                    x[2] + f * (stages.e[j, k, 2] - state.e[k, 2]),
                    x[3] + f * (stages.e[j, k, 3] - state.e[k, 3]),
                    x[4] + f * (stages.e[j, k, 4] - state.e[k, 4]),
                    x[5] + f * (stages.e[j, k, 5] - state.e[k, 5]),
                )
            s = hardening_stress(section, k, x)
            for c in range(6):
                stages.stress[i, k, c] += method.average_weights[i, m] * s[c]


@kernel
def set_stresses(section, method, state, stages, i):
    """Elastic stress of stage i in ``stages.stress``, with the viscous part in ``stages.total``."""
    e, stress, total = stages.e[i], stages.stress[i], stages.total
    for k in range(e.shape[0]):
        s = product(section.C, k, row(e, k))
        for c in range(6):
            stress[k, c] = s[c]
    if section.hardening:
        add_hardening(section, method, state, stages, i)
    for k in range(e.shape[0]):
        for c in range(6):
            total[k, c] = stress[k, c]
        if section.damped:
            s = product(section.Cd, k, row(stages.rate[i], k))
            for c in range(6):
                total[k, c] += s[c]


@kernel
def node_wrenches(inertia, method, state, stages, i, h, rho):
    """Inertia, gravity and external damping at the nodes; returns the kinetic power less that of gravity."""
    V = stages.V[i]
    power = 0.0
    for a in range(V.shape[0]):
        x = row(V, a)
        acceleration = stage_rates(method, h, stages.V, state.V, state.V_rate, i, a)
        f = inertial_wrench(inertia.M, a, x, acceleration, body_gravity(inertia.gravity, stages.R[i], a))
        power += dot6(x, f)
        if inertia.has_viscous:
            r = product(inertia.viscous, a, x)
            f = (f[0] - r[0], f[1] - r[1], f[2] - r[2], f[3] - r[3], f[4] - r[4], f[5] - r[5])
        for c in range(6):
            rho[a, c] += f[c]
    return power


@kernel
def interpolate(N, V, first):
    """Twist at the strain point of a mixed element."""
    x, y = N[0, 0], N[0, 1]
    return (
        x * V[first, 0] + y * V[first + 1, 0],
        x * V[first, 1] + y * V[first + 1, 1],
        x * V[first, 2] + y * V[first + 1, 2],
        x * V[first, 3] + y * V[first + 1, 3],
        x * V[first, 4] + y * V[first + 1, 4],
        x * V[first, 5] + y * V[first + 1, 5],
    )


@kernel
def point_wrenches(mesh, inertia, method, state, stages, i, h, rho):
    """The same for masses at the strain points (mixed element)."""
    power = 0.0
    for k in range(mesh.start.shape[0]):
        first = mesh.start[k]
        x = interpolate(mesh.N, stages.V[i], first)
        u = stage_rates(method, h, stages.V, state.V, state.V_rate, i, first)
        v = stage_rates(method, h, stages.V, state.V, state.V_rate, i, first + 1)
        n, m = mesh.N[0, 0], mesh.N[0, 1]
        acceleration = (
            n * u[0] + m * v[0],
            n * u[1] + m * v[1],
            n * u[2] + m * v[2],
            n * u[3] + m * v[3],
            n * u[4] + m * v[4],
            n * u[5] + m * v[5],
        )
        g = body_gravity(inertia.gravity, stages.R_point[i], k)
        f = inertial_wrench(inertia.M_point, k, x, acceleration, g)
        power += dot6(x, f)
        for c in range(6):
            rho[first, c] += n * f[c]
            rho[first + 1, c] += m * f[c]
    return power


@kernel
def load_wrench(loads, table, stages_R, k, a):
    """Wrench of load k on node a, in the axes of the section."""
    f = loads.weight[k, a]
    x, y, z = f * table[k, 0], f * table[k, 1], f * table[k, 2]
    l, m, n = f * table[k, 3], f * table[k, 4], f * table[k, 5]
    if loads.world[k]:
        R = load9(stages_R, a)
        x, y, z = rotate_back(R, (x, y, z))
        l, m, n = rotate_back(R, (l, m, n))
    return x, y, z, l, m, n


@kernel
def add_loads(loads, table, stages_R, rho):
    for k in range(loads.first.shape[0]):
        for a in range(loads.first[k], loads.last[k] + 1):
            f = load_wrench(loads, table, stages_R, k, a)
            for c in range(6):
                rho[a, c] += f[c]


@kernel
def pass_roots_on(tree, pose, rho, rho_q, root):
    """Root residuals to parents and joint rows, children before parents; the root rows end as zero."""
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        r = tree.first_node[link]
        x = row(rho, r)
        for c in range(6):
            root[link, c] = x[c]
            rho[r, c] = 0.0
        dof = tree.dof[link]
        if dof >= 0:
            rho_q[dof] = dot6(x, tree.S[link])
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, rho, tree.parent_node[link])


@kernel
def evaluate_stage(chain, loads, drives, method, state, stages, table, load_table, i, h):
    """All residuals of stage i; returns (energy residual rate, energy flow rate) of the stage."""
    tree, mesh, section, inertia = chain
    rho = stages.rho[i]
    for a in range(rho.shape[0]):
        for c in range(6):
            rho[a, c] = 0.0
    set_stresses(section, method, state, stages, i)
    subtract_internal_wrenches(mesh, stages.xi[i], stages.total, rho)
    kinetic = node_wrenches(inertia, method, state, stages, i, h, rho)
    if inertia.at_points:
        kinetic += point_wrenches(mesh, inertia, method, state, stages, i, h, rho)
    add_loads(loads, load_table, stages.R[i], rho)
    pass_roots_on(tree, stages.pose[i], rho, stages.rho_q[i], stages.root[i])

    residual = 0.0
    flow = abs(kinetic)
    for j in range(state.q.shape[0]):
        if drives.prescribed[j]:
            stages.torque[i, j] = -stages.rho_q[i, j]
            stages.rho_q[i, j] = 0.0
        else:
            torque = (
                table[i, j, 2]
                - drives.stiffness[j] * (stages.q[i, j] - table[i, j, 0])
                - drives.damping[j] * (stages.qd[i, j] - table[i, j, 1])
            )
            stages.torque[i, j] = torque
            stages.rho_q[i, j] += torque
            residual += stages.qd[i, j] * stages.rho_q[i, j]
        flow += abs(stages.torque[i, j] * stages.qd[i, j])
    for a in range(rho.shape[0]):
        for c in range(6):
            residual += stages.V[i, a, c] * rho[a, c]
    p = mesh.N.shape[0]
    elastic = 0.0
    for k in range(stages.rate.shape[1]):
        rate = stage_rates(method, h, stages.e, state.e, state.e_rate, i, k)
        weight = mesh.w[k % p] * mesh.length[k // p]
        for c in range(6):
            stages.rho_e[i, k, c] = stages.rate[i, k, c] - rate[c]
            residual += weight * stages.stress[i, k, c] * stages.rho_e[i, k, c]
            elastic += weight * stages.stress[i, k, c] * rate[c]
    return residual, flow + abs(elastic)


@kernel
def evaluate(chain, loads, drives, method, state, stages, table, load_table, h, orient):
    """Residuals of all stages of a step; returns (energy residual, energy flow) of the step."""
    tree, mesh, section, inertia = chain
    place_joints(tree, method, drives, state, stages, table, h)
    residual = 0.0
    flow = 0.0
    for i in range(method.b.shape[0]):
        xi = stages.xi[i]
        for k in range(xi.shape[0]):
            for c in range(6):
                xi[k, c] = section.rest[k, c] + stages.e[i, k, c]
        strain_rates(mesh, xi, stages.V[i], stages.rate[i])
        if orient:
            rebuild_orientations(tree, mesh, xi, stages.pose[i], stages.R[i], stages.R_point[i])
        r, f = evaluate_stage(chain, loads, drives, method, state, stages, table, load_table[i], i, h)
        residual += h * method.b[i] * r
        flow += h * method.b[i] * f
    return residual, flow
