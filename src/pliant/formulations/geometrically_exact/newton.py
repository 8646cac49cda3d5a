"""Modified Newton for the stages of one step, strains kept as independent iterates.

Multiplied by T^-1 (S = T diag(lam) T^-1) the stages decouple; with B and the stress frozen at the
factorisation every strain increment is explicit and only twists and joint rates are solved for:

    d_e = (h/lam) (rho_e + B d_V)
    [ (lam/h) M + G + Kd + (h/lam) K ] d_V = rho_V - (h/lam) d(B^T stress) rho_e
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.formulations.geometrically_exact.chain import Chain, Floats
from pliant.formulations.geometrically_exact.element import (
    element_tangent,
    freeze,
    product,
    row,
    stage_row,
    strain_rates,
    subtract_wrench_change,
)
from pliant.formulations.geometrically_exact.stages import Method, Stages, evaluate, set_poses
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.block_elimination import (
    Factors,
    Increments,
    condense_element,
    eliminate_joints,
    finish_link,
    new_factors,
    solve_tree,
)
from pliant.mechanics.joint_kinematics import add_to_parent, dot_row

Numbers = NDArray[np.generic]

CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR = 0, 1, 2, 3
SLOW = 0.3  # contraction per iteration above which the factorisation is renewed
ROUND_OFF = 1e-14  # relative increments below this are noise
MAX_RENEWALS = 4


class Spectrum(NamedTuple):
    """Diagonal form of S, one entry of each conjugate pair."""

    T: Numbers
    T_inverse: Numbers
    lam: Numbers
    multiplicity: Floats


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


class Frozen(NamedTuple):
    """What a factorisation is made at, and scratch to make it."""

    xi: Floats
    stress: Floats
    tangent: Floats
    damping: Floats  # Cd where there is damping, else no rows
    V: Floats
    q: Floats
    B: Floats
    CB: Floats
    K: Floats
    Kd: Floats
    node: Numbers  # (nodes, 6, 6)
    point: Numbers  # (points or 0, 6, 6)
    pivot: Numbers  # (spectrum, dofs)
    A: Numbers


class Last(NamedTuple):
    """Stage increments of the last step, for the predictor."""

    V: Floats
    e: Floats
    qd: Floats


class Control(NamedTuple):
    """Numbers that steer the iteration; ``memory`` survives from step to step."""

    displacement: float
    energy: float
    length: float
    max_iterations: int
    orient: bool
    gravity_gain: float  # relative change of the load per relative increment of the strains
    memory: Floats  # [h of the factorisation or 0, last contraction, mean energy flow, steps]
    counts: NDArray[np.int64]  # [iterations, factorisations, worst node of the last increment]


def new_frozen(chain: Chain, n_lam: int, dtype: type) -> Frozen:
    nodes, points, dofs = len(chain.inertia.M), len(chain.section.C), int(chain.tree.dof.max(initial=-1)) + 1
    size = 6 * chain.mesh.N.shape[1]
    z = np.zeros
    return Frozen(
        xi=z((1, points, 6)),
        stress=z((points, 6)),
        tangent=z((points, 6, 6)),
        damping=chain.section.Cd if chain.section.damped else z((0, 6, 6)),
        V=z((nodes, 6)),
        q=z((1, dofs)),
        B=z((6, size)),
        CB=z((6, size)),
        K=z((size, size)),
        Kd=z((size, size)),
        node=z((nodes, 6, 6), dtype),
        point=z((points if chain.inertia.at_points else 0, 6, 6), dtype),
        pivot=z((n_lam, dofs), dtype),
        A=z((size, size), dtype),
    )


def new_spectral_factors(chain: Chain, n_lam: int, dtype: type) -> Factors:
    """Room for one factorisation per member of the spectrum."""
    links, elements = len(chain.tree.parent), len(chain.mesh.start)
    return new_factors(n_lam, links, elements, len(chain.inertia.M), chain.mesh.N.shape[0], dtype)


@kernel
def add_gyroscopic(M, k, V, out):
    """out[k] -= derivative of ad_V^T M V."""
    f1, f2, f3, m1, m2, m3 = product(M, k, V)
    v1, v2, v3, w1, w2, w3 = V[0], V[1], V[2], V[3], V[4], V[5]
    # ad_V^T y = (-w x f, -v x f - w x m), first y = M dV at fixed V, then V varied at fixed y
    for j in range(6):
        a1, a2, a3 = M[k, 0, j], M[k, 1, j], M[k, 2, j]
        b1, b2, b3 = M[k, 3, j], M[k, 4, j], M[k, 5, j]
        out[k, 0, j] += w2 * a3 - w3 * a2
        out[k, 1, j] += w3 * a1 - w1 * a3
        out[k, 2, j] += w1 * a2 - w2 * a1
        out[k, 3, j] += v2 * a3 - v3 * a2 + w2 * b3 - w3 * b2
        out[k, 4, j] += v3 * a1 - v1 * a3 + w3 * b1 - w1 * b3
        out[k, 5, j] += v1 * a2 - v2 * a1 + w1 * b2 - w2 * b1
    for o in range(0, 6, 3):  # dw x f in the force rows, dv x f in the moment rows
        out[k, o, 4 - o] += f3
        out[k, o, 5 - o] -= f2
        out[k, o + 1, 3 - o] -= f3
        out[k, o + 1, 5 - o] += f1
        out[k, o + 2, 3 - o] += f2
        out[k, o + 2, 4 - o] -= f1
    out[k, 3, 4] += m3
    out[k, 3, 5] -= m2
    out[k, 4, 3] -= m3
    out[k, 4, 5] += m1
    out[k, 5, 3] += m2
    out[k, 5, 4] -= m1


@kernel
def set_mass_blocks(chain, frozen, per_time):
    """Diagonal blocks (lam/h) M + G + R of the nodes, and of the points of the mixed element."""
    inertia, mesh = chain.inertia, chain.mesh
    for a in range(inertia.M.shape[0]):
        for i in range(6):
            for j in range(6):
                frozen.node[a, i, j] = per_time * inertia.M[a, i, j] + inertia.viscous[a, i, j]
        add_gyroscopic(inertia.M, a, row(frozen.V, a), frozen.node)
    if inertia.at_points:
        for k in range(inertia.M_point.shape[0]):
            for i in range(6):
                for j in range(6):
                    frozen.point[k, i, j] = per_time * inertia.M_point[k, i, j]
            x, y = row(frozen.V, mesh.start[k]), row(frozen.V, mesh.start[k] + 1)
            n, m = mesh.N[0, 0], mesh.N[0, 1]
            x = (
                n * x[0] + m * y[0],
                n * x[1] + m * y[1],
                n * x[2] + m * y[2],
                n * x[3] + m * y[3],
                n * x[4] + m * y[4],
                n * x[5] + m * y[5],
            )
            add_gyroscopic(inertia.M_point, k, x, frozen.point)


@kernel
def factorise_links(chain, frozen, factors, stiffness_gain, q):
    """Condense every link: blocks already in ``frozen`` plus stiffness_gain K + Kd; False if singular."""
    tree, mesh = chain.tree, chain.mesh
    nodes = mesh.N.shape[1]
    size = 6 * nodes
    A = frozen.A
    onto = factors.work[3]
    for link in range(tree.parent.shape[0]):
        root = tree.first_node[link]
        first = tree.first_element[link]
        last = first + tree.n_elements[link] - 1
        for element in range(last, first - 1, -1):
            element_tangent(mesh, element, frozen)
            for i in range(size):
                for j in range(size):
                    A[i, j] = stiffness_gain * frozen.K[i, j] + frozen.Kd[i, j]
            for a in range(1, nodes):
                for i in range(6):
                    for j in range(6):
                        A[6 * a + i, 6 * a + j] += frozen.node[mesh.start[element] + a, i, j]
            if frozen.point.shape[0] > 0:
                for a in range(2):
                    for b in range(2):
                        f = mesh.N[0, a] * mesh.N[0, b]
                        for i in range(6):
                            for j in range(6):
                                A[6 * a + i, 6 * b + j] += f * frozen.point[element, i, j]
            if element < last:
                for i in range(6):
                    for j in range(6):
                        # the shared node's own block was added with this element; only the rest of the next
                        A[size - 6 + i, size - 6 + j] += onto[i, j]
            if not condense_element(A, element, factors, q):
                return False
        for i in range(6):
            for j in range(6):
                factors.C0[q, link, i, j] = frozen.node[root, i, j]
                if last >= first:
                    factors.C0[q, link, i, j] += onto[i, j]
        if last >= first:
            finish_link(tree, mesh.start, link, factors, q)
    return True


@kernel
def factorise(plant, spectrum, frozen, factors, stages, h):
    """Factorise all links at the strains and twists of the first stage for steps of length h; False if singular."""
    chain, drives = plant.chain, plant.drives
    freeze(chain.section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    for a in range(frozen.V.shape[0]):
        for c in range(6):
            frozen.V[a, c] = stages.V[0, a, c]
    for k in range(spectrum.lam.shape[0]):
        lam = spectrum.lam[k]
        set_mass_blocks(chain, frozen, lam / h)
        if not factorise_links(chain, frozen, factors, h / lam, k):
            return False
        for j in range(drives.free.shape[0]):
            frozen.pivot[k, j] = drives.damping[j] + drives.stiffness[j] * h / lam
    return True


@kernel
def join_links(plant, spectrum, stages, frozen, factors):
    """Eliminate the joints at the mean joint positions of the stages; False if singular."""
    count = stages.q.shape[0]
    for j in range(frozen.q.shape[1]):
        t = 0.0
        for i in range(count):
            t += stages.q[i, j]
        frozen.q[0, j] = t / count
    tree = plant.chain.tree
    set_poses(tree, frozen.q, 0, factors.pose)
    for k in range(spectrum.lam.shape[0]):
        if not eliminate_joints(tree, factors, plant.drives.free, frozen.pivot, k):
            return False
    return True


@kernel
def push_roots(tree, pose, b, b_q):
    """Add root rows of b to parents and joint rows, at the poses of the factorisation."""
    for link in range(tree.parent.shape[0] - 1, -1, -1):
        r = tree.first_node[link]
        x = stage_row(b, 0, r)
        for c in range(6):
            b[0, r, c] = 0.0
        dof = tree.dof[link]
        if dof >= 0:
            b_q[dof] += dot_row(x, tree.S, link)
        if tree.parent[link] >= 0:
            add_to_parent(pose, link, x, b, tree.parent_node[link], 0)


@kernel
def combine_stages(T, k, values, factor, out):
    """out[0] += factor sum_j T_kj values_j for (s, n, 6) arrays."""
    for j in range(values.shape[0]):
        f = factor * T[k, j]
        for a in range(values.shape[1]):
            for c in range(6):
                out[0, a, c] += f * values[j, a, c]


@kernel
def spread_increment(d, factor, values, i, scales, worst):
    """values_i += Re(factor d); returns the larger of ``worst`` and the largest scaled increment, and where.

    scales: of the linear and of the angular components.
    """
    where = -1
    linear_scale, angular_scale = scales
    for a in range(d.shape[1]):
        v = 0.0
        w = 0.0
        for c in range(3):
            x = (factor * d[0, a, c]).real
            y = (factor * d[0, a, c + 3]).real
            values[i, a, c] += x
            values[i, a, c + 3] += y
            v = max(v, abs(x))
            w = max(w, abs(y))
        size = max(v * linear_scale, w * angular_scale)
        if not size <= worst:
            worst = size
            where = a
    return worst, where


@kernel
def clear(values):
    for a in range(values.shape[1]):
        for c in range(6):
            values[0, a, c] = 0.0


@inline_kernel
def improve(plant, scheme, solver, h):
    """One Newton increment of all stages; returns its relative size and notes the node where it is largest."""
    tree, mesh, drives = plant.chain.tree, plant.chain.mesh, plant.drives
    spectrum, control = scheme.spectrum, scheme.control
    stages, frozen, factors, inc = solver.stages, solver.frozen, solver.factors, solver.inc
    s = stages.V.shape[0]
    dofs = stages.qd.shape[1]
    L = control.length
    worst = 0.0
    for k in range(spectrum.lam.shape[0]):
        gain = h / spectrum.lam[k]
        clear(inc.rho_e)
        clear(inc.b)
        combine_stages(spectrum.T_inverse, k, stages.rho_e, gain, inc.rho_e)
        subtract_wrench_change(mesh, frozen.xi, frozen.stress, frozen.tangent, inc.rho_e, inc.b)
        for j in range(dofs):
            t = spectrum.T_inverse[k, 0] * stages.rho_q[0, j]
            for i in range(1, s):
                t += spectrum.T_inverse[k, i] * stages.rho_q[i, j]
            inc.b_q[j] = t
        push_roots(tree, factors.pose, inc.b, inc.b_q)
        combine_stages(spectrum.T_inverse, k, stages.rho, 1.0, inc.b)
        solve_tree(tree, mesh.start, factors, drives.free, k, inc)
        strain_rates(mesh, frozen.xi, inc.d, 0, inc.rate)
        for q in range(inc.rho_e.shape[1]):
            for c in range(6):
                inc.rho_e[0, q, c] += gain * inc.rate[0, q, c]
        for i in range(s):
            T = spectrum.multiplicity[k] * spectrum.T[i, k]
            worst, at = spread_increment(inc.d, T, stages.V, i, (h / L, h), worst)
            if at >= 0:
                control.counts[2] = at
            worst, at = spread_increment(inc.rho_e, T, stages.e, i, (1.0, L), worst)
            if at >= 0:
                p = mesh.N.shape[0]
                control.counts[2] = mesh.start[at // p] + at % p
            for j in range(dofs):
                if drives.free[j]:
                    stages.qd[i, j] += (T * inc.d_q[j]).real
    return worst


@inline_kernel
def predict(method, state, stages, last):
    """Stage values extrapolated from the polynomial of the last step."""
    X = method.extrapolation
    s = X.shape[0]
    for i in range(s):
        for a in range(state.V.shape[0]):
            for c in range(6):
                t = state.V[a, c]
                for j in range(s):
                    t += X[i, j] * last.V[j, a, c]
                stages.V[i, a, c] = t
        for a in range(state.e.shape[0]):
            for c in range(6):
                t = state.e[a, c]
                for j in range(s):
                    t += X[i, j] * last.e[j, a, c]
                stages.e[i, a, c] = t
        for a in range(state.qd.shape[0]):
            t = state.qd[a]
            for j in range(s):
                t += X[i, j] * last.qd[j, a]
            stages.qd[i, a] = t


@inline_kernel
def solve_stages(plant, scheme, state, solver, table, load_table, h):
    """Find the stages of one step; returns (CONVERGED or why not, energy residual of the step)."""
    method, spectrum, control = scheme.method, scheme.spectrum, scheme.control
    stages, frozen, factors = solver.stages, solver.frozen, solver.factors
    memory = control.memory
    predict(method, state, stages, solver.last)
    moving = plant.chain.tree.parent.shape[0] > 1
    renewals = 0
    renew = abs(h - memory[0]) > 1e-9 * h
    joined = False
    previous = np.inf
    contraction = memory[1]
    size = np.inf
    orient = control.orient
    for _ in range(control.max_iterations):
        residual, flow = evaluate(plant, method, state, stages, (table, load_table), h, orient)
        if not np.isfinite(residual + flow):
            return NOT_FINITE, residual
        limit = control.energy * max(flow, memory[2])
        if size * contraction <= control.displacement and abs(residual) <= limit:
            memory[1] = contraction
            memory[2] += (flow - memory[2]) / (memory[3] + 1.0)
            memory[3] += 1.0
            return CONVERGED, residual
        if size < ROUND_OFF and previous < 4 * ROUND_OFF:
            return CONVERGED, residual  # nothing but round-off is left to gain
        if renew:
            if renewals == MAX_RENEWALS:
                break
            if not factorise(plant, spectrum, frozen, factors, stages, h):
                return SINGULAR, residual
            memory[0] = h
            control.counts[1] += 1
            renewals += 1
            renew = False
            joined = False
            size = np.inf
            contraction = 1.0
        if not joined:
            if (moving or renewals > 0) and not join_links(plant, spectrum, stages, frozen, factors):
                return SINGULAR, residual
            joined = True
        previous = size
        size = improve(plant, scheme, solver, h)
        control.counts[0] += 1
        if not np.isfinite(size):
            return NOT_FINITE, residual
        if previous < np.inf:
            contraction = min(1.0, max(size / previous, 1e-4))
            if contraction > SLOW and size > 10 * ROUND_OFF:
                renew = True
        # the loads follow the rotations only as long as that can still be seen in the answer
        orient = control.orient and size * control.gravity_gain * h * h > 0.01 * control.displacement
    return NOT_CONVERGED, 0.0
