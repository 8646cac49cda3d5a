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

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.element import stage_row, strain_rates, subtract_wrench_change
from pliant.formulations.geometrically_exact.factorise import Frozen, factorise, join_links
from pliant.formulations.geometrically_exact.stage_data import Method, Stages
from pliant.formulations.geometrically_exact.stages import evaluate
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.block_elimination import solve_tree
from pliant.mechanics.factors import Factors, Increments
from pliant.mechanics.joint_kinematics import add_to_parent, dot_row

Numbers = NDArray[np.generic]

CONVERGED, NOT_CONVERGED, NOT_FINITE, SINGULAR = 0, 1, 2, 3
SLOW = 0.3  # contraction per iteration above which the factorisation is renewed
ROUND_OFF = 1e-12  # relative increments that shrink no more are noise below this
MAX_RENEWALS = 4


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
        if size < ROUND_OFF and contraction > SLOW:
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
            if contraction > SLOW and size > ROUND_OFF:
                renew = True
        # the loads follow the rotations only as long as that can still be seen in the answer
        orient = control.orient and size * control.gravity_gain * h * h > 0.01 * control.displacement
    return NOT_CONVERGED, 0.0
