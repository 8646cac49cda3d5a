"""Static equilibrium by load stepping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.formulations.geometrically_exact.chain import Drives, Floats, Plant
from pliant.formulations.geometrically_exact.factorise import new_frozen, new_spectral_factors
from pliant.formulations.geometrically_exact.stage_data import new_stages
from pliant.formulations.geometrically_exact.statics import settle_once
from pliant.mechanics.factors import new_increments
from pliant.model.contract import Settled
from pliant.model.ending import Cause, Ending
from pliant.model.inputs import Inputs

if TYPE_CHECKING:
    from pliant.formulations.geometrically_exact.model import GeometricallyExactArm

ITERATIONS = 60
SMALLEST_LOAD_STEP = 1e-4


def settle(
    arm: GeometricallyExactArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Settled:
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
            regular, size = settle_once(plant, stages, frozen, factors, inc, torque, fraction * load_table)
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
            return Settled(_state(arm, good), reached, iterations, ending)
    return Settled(_state(arm, good), 1.0, iterations, Ending(Cause.COMPLETED, time))


def _state(arm: GeometricallyExactArm, good: tuple[Floats, Floats]) -> Floats:
    strain, position = good
    return arm.moving_state(strain[0], position[0], np.zeros(len(position[0])))
