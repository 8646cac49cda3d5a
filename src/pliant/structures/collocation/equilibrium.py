"""Static equilibrium by Newton's method under loads that grow in steps.

Unknown are small body displacements chi of the nodes; the strains follow them, d_e = B(e) chi, and the poses are
rebuilt from the strains. The residual is that of the dynamics at rest, its tangent that of a step without mass, plus
the turning of sections under what keeps its direction in the world: d(R^T f) = R^T f x chi_w.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.jit import kernel
from pliant.mechanics.block_elimination import eliminate_joints, new_increments
from pliant.mechanics.block_solve import solve_tree
from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.structures.collocation.chain import Drives, Floats, Plant, new_stages, new_state
from pliant.structures.collocation.element import freeze, strain_rates
from pliant.structures.collocation.factorise import factorise_links, new_frozen, new_spectral_factors
from pliant.structures.collocation.stages import evaluate_stages

if TYPE_CHECKING:
    from pliant.structures.collocation.model import GeometricallyExactArm

ITERATIONS = 60
SMALLEST_LOAD_STEP = 1e-4


@kernel
def solve_once(plant, stages, frozen, factors, inc):
    """Displacements and strain changes for residuals in ``inc``; False if singular.

    Blocks of the nodes, joint pivots and poses are already in ``frozen`` and ``factors``.
    """
    tree, mesh, section, _ = plant.chain
    freeze(section, stages.e, 0, frozen.xi, frozen.stress, frozen.tangent)
    if not factorise_links(plant.chain, frozen, factors, 1.0, 0):
        return False
    if not eliminate_joints(tree, factors, plant.drives.free, frozen.pivot, 0):
        return False
    solve_tree(tree, mesh.start, factors, plant.drives.free, 0, inc)
    strain_rates(mesh, stages.xi, inc.d, 0, inc.rate)
    return True


def find_equilibrium(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time, grown from nothing in steps.

    Joints under feedback stiffness find theirs; all others keep the position they have in ``start``.
    """
    from pliant.structures.collocation.equations import AT_AN_INSTANT, turned_wrenches

    chain = arm.chain
    dofs, points, nodes = len(arm.joint_names), len(chain.section.C), len(chain.inertia.M)
    state, links = new_state(nodes, points, dofs), len(chain.tree.parent)
    stages = new_stages(1, links, nodes, points, dofs, chain.inertia.at_points)
    state.e[:], state.q[:] = arm.layout.part(start, "strain"), arm.layout.part(start, "joint_position")
    stiffness = np.array(inputs.stiffness, dtype=float)
    free = (stiffness > 0.0) & ~np.array(inputs.prescribed, dtype=np.bool_)
    drives = Drives(~free, free, stiffness, np.zeros(dofs))
    table = inputs.joint_signals(np.array([time]))
    loads, load_table = arm.load_table(inputs.loads), inputs.load_signals(np.array([time]))
    frozen, factors = new_frozen(chain, 1, np.float64), new_spectral_factors(chain, 1, np.float64)
    inc = new_increments(nodes, points, dofs, np.float64)
    turning = slice(3, 6)

    def improve(fraction: float) -> float:
        """Improve strains and free joint positions once; returns the largest change, not finite if there is none."""
        inertia = chain.inertia._replace(gravity=fraction * chain.inertia.gravity)
        plant = Plant(chain._replace(inertia=inertia), loads, drives)
        signals, wrenches = table * [1.0, 0.0, fraction], fraction * load_table
        signals[0, ~free, 0] = state.q[~free]
        evaluate_stages(plant, AT_AN_INSTANT, state, stages, (signals, wrenches), 1.0)
        turned = turned_wrenches(plant, stages, 0, wrenches[0])
        for blocks, change in zip((frozen.node, frozen.point), turned):
            blocks[:], blocks[:, :, turning] = 0.0, -change
        frozen.pivot[0], factors.pose[:] = stiffness, stages.pose
        inc.b[:], inc.b_q[:] = stages.rho, stages.rho_q[0]
        if not solve_once(plant, stages, frozen, factors, inc):
            return np.inf
        # no section turns by more than about one radian at once
        limit = min(1.0, 1.0 / max(np.abs(inc.d[0, :, turning]).max(), 1e-300))
        state.e[:] += limit * inc.rate[0]
        state.q[free] += limit * inc.d_q[free]
        return float(limit * max(np.abs(inc.rate).max(initial=0.0), np.abs(inc.d_q[free]).max(initial=0.0)))

    reached, step, iterations = 0.0, 1.0 / load_steps, 0
    good = state.e.copy(), state.q.copy()
    while reached < 1.0 - 1e-12:
        fraction = min(1.0, reached + step)
        converged, previous = False, np.inf
        for _ in range(ITERATIONS):
            iterations += 1
            size = improve(fraction) * max(arm.reach, 1.0)
            if not np.isfinite(size):
                break
            if size <= accuracy or (size < 1e-10 and size >= 0.5 * previous):
                converged = True
                break
            previous = size
        if converged:
            reached, good = fraction, (state.e.copy(), state.q.copy())
            continue
        state.e[:], state.q[:] = good
        step *= 0.5
        if step < SMALLEST_LOAD_STEP:
            ending = Ending(
                Cause.NOT_CONVERGED, time, f"{reached:.3%} of the load",
                "the arm may buckle there; lower the load or take more load steps",
            )  # fmt: skip
            return Equilibrium(arm.moving_state(*good, np.zeros(dofs)), reached, iterations, ending)
    return Equilibrium(
        arm.moving_state(*good, np.zeros(dofs)), 1.0, iterations, Ending(Cause.COMPLETED, time)
    )
