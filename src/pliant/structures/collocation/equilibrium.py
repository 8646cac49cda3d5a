"""One Newton increment towards static equilibrium.

Unknown are small body displacements chi of the nodes; the strains follow them, d_e = B(e) chi, and the
poses are rebuilt from the strains. The tangent is that of the dynamics without mass, plus the turning of
sections under loads that keep their direction in the world: d(R^T f) = R^T f x chi_w.

Static equilibrium by load stepping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.block_elimination import eliminate_joints, new_increments
from pliant.mechanics.block_solve import solve_tree
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.structures.collocation.chain import Drives, Floats, Plant, new_stages
from pliant.structures.collocation.element import freeze, product, strain_rates, subtract_internal_wrenches
from pliant.structures.collocation.factorise import factorise_links, new_frozen, new_spectral_factors
from pliant.structures.collocation.orientation import rebuild_orientations
from pliant.structures.collocation.stages import (
    add_loads,
    apply_drives,
    body_gravity,
    load_wrench,
    pass_roots_on,
    set_poses,
)

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm


@inline_kernel
def turn_with_section(block, k, force):
    """block[k] -= derivative of a wrench that keeps its direction while its section turns: f x chi_w."""
    for o in range(0, 6, 3):
        a, b, c = force[o], force[o + 1], force[o + 2]
        block[k, o, 4] += c
        block[k, o, 5] -= b
        block[k, o + 1, 3] -= c
        block[k, o + 1, 5] += a
        block[k, o + 2, 3] += b
        block[k, o + 2, 4] -= a


@inline_kernel
def weigh(M, gravity, R, block, k):
    """Wrench of gravity on mass k, whose change with the section's turning is subtracted from block[k]."""
    g = body_gravity(gravity, R, 0, k)
    a, b, c = g
    for i in range(6):
        # M (g x chi_w, 0), column by column
        block[k, i, 3] -= -M[k, i, 2] * b + M[k, i, 1] * c
        block[k, i, 4] -= M[k, i, 2] * a - M[k, i, 0] * c
        block[k, i, 5] -= -M[k, i, 1] * a + M[k, i, 0] * b
    return product(M, k, (a, b, c, 0.0, 0.0, 0.0))


@inner_kernel
def add_weights(inertia, mesh, loads, load_table, stages, frozen):
    """Weights and loads in the residual, and their stiffness in the diagonal blocks."""
    rho = stages.rho
    for a in range(inertia.M.shape[0]):
        for i in range(6):
            for j in range(6):
                frozen.node[a, i, j] = 0.0
        f = weigh(inertia.M, inertia.gravity, stages.R, frozen.node, a)
        for c in range(6):
            rho[0, a, c] += f[c]
    if inertia.at_points:
        for k in range(inertia.M_point.shape[0]):
            for i in range(6):
                for j in range(6):
                    frozen.point[k, i, j] = 0.0
            f = weigh(inertia.M_point, inertia.gravity, stages.R_point, frozen.point, k)
            for c in range(6):
                rho[0, mesh.start[k], c] += mesh.N[0, 0] * f[c]
                rho[0, mesh.start[k] + 1, c] += mesh.N[0, 1] * f[c]
    add_loads(loads, load_table, stages.R, 0, rho)
    for k in range(loads.first.shape[0]):
        if loads.world[k]:
            for a in range(loads.first[k], loads.last[k] + 1):
                turn_with_section(frozen.node, a, load_wrench(loads, load_table, stages.R, 0, k, a))


@kernel
def solve_once(plant, stages, frozen, factors, inc, table, load_table):
    """Improve strains (and free joint positions) once; returns (False if singular, size of the strain change)."""
    tree, mesh, section, inertia = plant.chain
    drives = plant.drives
    set_poses(tree, stages.q, 0, stages.pose)
    freeze(section, stages.e, 0, stages.xi, frozen.stress, frozen.tangent)
    for k in range(stages.xi.shape[1]):
        for c in range(6):
            frozen.xi[0, k, c] = stages.xi[0, k, c]
            stages.stress[0, k, c] = frozen.stress[k, c]
    rebuild_orientations(tree, mesh, stages.xi, stages.pose, 0, stages.R, stages.R_point)
    for a in range(stages.rho.shape[1]):
        for c in range(6):
            stages.rho[0, a, c] = 0.0
    subtract_internal_wrenches(mesh, stages.xi, stages.stress, stages.rho, 0)
    add_weights(inertia, mesh, plant.loads, load_table, stages, frozen)
    pass_roots_on(tree, stages.pose, stages.rho, stages.rho_q, stages.root, 0)
    apply_drives(drives, stages, table, 0)
    for j in range(stages.q.shape[1]):
        frozen.pivot[0, j] = drives.stiffness[j]
        inc.b_q[j] = stages.rho_q[0, j]
    for link in range(tree.parent.shape[0]):
        for c in range(12):
            factors.pose[0, link, c] = stages.pose[0, link, c]
    if not factorise_links(plant.chain, frozen, factors, 1.0, 0):
        return False, 0.0
    if not eliminate_joints(tree, factors, drives.free, frozen.pivot, 0):
        return False, 0.0
    for a in range(stages.rho.shape[1]):
        for c in range(6):
            inc.b[0, a, c] = stages.rho[0, a, c]
    solve_tree(tree, mesh.start, factors, drives.free, 0, inc)
    strain_rates(mesh, stages.xi, inc.d, 0, inc.rate)
    turn = 0.0
    for a in range(inc.d.shape[1]):
        for c in range(3, 6):
            turn = max(turn, abs(inc.d[0, a, c]))
    limit = min(1.0, 1.0 / max(turn, 1e-300))  # no section turns by more than about one radian at once
    size = 0.0
    for k in range(stages.e.shape[1]):
        for c in range(6):
            x = limit * inc.rate[0, k, c]
            stages.e[0, k, c] += x
            size = max(size, abs(x))
    for j in range(stages.q.shape[1]):
        if drives.free[j]:
            stages.q[0, j] += limit * inc.d_q[j]
            size = max(size, abs(limit * inc.d_q[j]))
    return True, size


ITERATIONS = 60
SMALLEST_LOAD_STEP = 1e-4


def find_equilibrium(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time, grown from nothing in steps.

    Joints under feedback stiffness settle; all others keep the position they have in ``start``.
    """
    chain = arm.chain
    dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
    stages = new_stages(1, len(chain.tree.parent), nodes, points, dofs, chain.inertia.at_points)
    stages.e[0], stages.q[0] = arm.layout.part(start, "strain"), arm.layout.part(start, "joint_position")
    stiffness = np.array(inputs.stiffness, dtype=float)
    free = (stiffness > 0.0) & ~np.array(inputs.prescribed, dtype=np.bool_)
    drives = Drives(~free, free, stiffness, np.zeros(dofs))
    table = inputs.joint_signals(np.array([time]))
    loads, load_table = arm.load_table(inputs.loads), inputs.load_signals(np.array([time]))
    frozen, factors = new_frozen(chain, 1, np.float64), new_spectral_factors(chain, 1, np.float64)
    inc = new_increments(nodes, points, dofs, np.float64)
    reached, step, iterations = 0.0, 1.0 / load_steps, 0
    good = stages.e.copy(), stages.q.copy()
    while reached < 1.0 - 1e-12:
        fraction = min(1.0, reached + step)
        inertia = chain.inertia._replace(gravity=fraction * chain.inertia.gravity)
        plant = Plant(chain._replace(inertia=inertia), loads, drives)
        torque = table.copy()
        torque[..., 2] *= fraction
        converged, previous = False, np.inf
        for _ in range(ITERATIONS):
            iterations += 1
            regular, size = solve_once(plant, stages, frozen, factors, inc, torque, fraction * load_table)
            size *= max(arm.reach, 1.0)
            if not regular or not np.isfinite(size):
                break
            if size <= accuracy or (size < 1e-10 and size >= 0.5 * previous):
                converged = True
                break
            previous = size
        if converged:
            reached, good = fraction, (stages.e.copy(), stages.q.copy())
            continue
        stages.e[:], stages.q[:] = good
        step *= 0.5
        if step < SMALLEST_LOAD_STEP:
            ending = Ending(
                Cause.NOT_CONVERGED, time, f"{reached:.3%} of the load",
                "the arm may buckle there; lower the load or take more load steps",
            )  # fmt: skip
            return Equilibrium(_state(arm, good), reached, iterations, ending)
    return Equilibrium(_state(arm, good), 1.0, iterations, Ending(Cause.COMPLETED, time))


def _state(arm: GeometricallyExactArm, good: tuple[Floats, Floats]) -> Floats:
    strain, position = good
    return arm.moving_state(strain[0], position[0], np.zeros(len(position[0])))
