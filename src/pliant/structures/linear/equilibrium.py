"""Static equilibrium: the links are statically determinate, so stresses follow from loads and strains from stresses.

Of prescribed joints that turn, a linear model in fixed geometry knows the rate but no centrifugal force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.structures.linear.arrays import Floats, mechanics
from pliant.structures.linear.equations import load_columns

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm


def find_equilibrium(arm: PseudoSpectralArm, start: Floats, inputs: Inputs, time: float) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time.

    Joints under feedback stiffness or a spring come to rest; all others keep the position they have in ``start``.
    """
    own, n = arm.assembly, len(arm.assembly.G)
    signals = inputs.joint_signals(np.array([time]))[0]
    q, rate = arm.layout.part(start, "joint_position").copy(), np.where(inputs.prescribed, signals[:, 1], 0.0)
    missing: dict[str, float] = {}
    held: list[str] = []
    force = forces_on_links(arm, q, inputs, time)
    stress = np.linalg.solve(own.G[:, :n].T, force[:n])
    strain = np.linalg.solve(own.K, stress)
    wanted = own.joint_axes.T @ (own.G.T @ stress - force)  # what must drive each joint
    lumped = mechanics(own, inputs)
    rotor = np.stack([q, np.zeros(len(q))], axis=1)
    gears = {int(joint): k for k, joint in enumerate(lumped.geared)}
    springs = {k: joint.freedoms[0].law.spring for k, joint in enumerate(own.joints)}
    for k, (reference, _, feedforward) in enumerate(signals):
        stiffness, spring = inputs.stiffness[k], springs[k]
        if inputs.prescribed[k]:
            q[k] = reference
        elif k in gears:
            gear = lumped.K[len(lumped.K) - len(gears) + gears[k], len(lumped.K) - len(gears) + gears[k]]
            own_stiffness, own_rest = (spring.stiffness, spring.rest_position) if spring else (0.0, 0.0)
            if stiffness > 0.0:
                # rotor: feedforward - stiffness (r - reference) = gear (r - q); joint: gear (r - q) = wanted + spring
                matrix = np.array([[stiffness + gear, -gear], [gear, -gear - own_stiffness]])
                right = [feedforward + stiffness * reference, wanted[k] - own_stiffness * own_rest]
                rotor[k, 0], q[k] = np.linalg.solve(matrix, right)
                continue
            held.append(arm.joint_names[k])
            missing[arm.joint_names[k]] = float(feedforward - wanted[k] - own_stiffness * (q[k] - own_rest))
        elif stiffness > 0.0 or spring:
            total = stiffness + (spring.stiffness if spring else 0.0)
            pull = stiffness * reference + (spring.stiffness * spring.rest_position if spring else 0.0)
            q[k] = (feedforward + pull - wanted[k]) / total
        else:
            held.append(arm.joint_names[k])
            missing[arm.joint_names[k]] = float(feedforward - wanted[k])
        rotor[k, 0] = q[k]
    rotor[:, 1] = rate
    rigid = np.asarray(-np.linalg.solve(own.G[:, :n], own.G @ own.joint_axes @ rate), np.float64)
    state = arm.pack(rigid[None], strain[None], q[None], rate[None], rotor[None])[0]
    completed = Ending(Cause.COMPLETED, time)
    return Equilibrium(state, 1.0, 1, completed, tuple(held), missing)


def forces_on_links(arm: PseudoSpectralArm, q: Floats, inputs: Inputs, time: float) -> Floats:
    """Of gravity and of the loads of one time, over all unknowns of the links."""
    loads = arm.in_body_axes(inputs, q[None], inputs.load_signals(np.array([time])))[0]
    force = arm.assembly.weight.copy()
    for place, wrench in zip(inputs.loads, loads):
        force += load_columns(arm.assembly, place) @ wrench
    return force
