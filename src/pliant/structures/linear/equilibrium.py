"""Static equilibrium: the links are statically determinate, so stresses follow from loads and strains from stresses."""

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
    at = np.array([time])
    signals = inputs.joint_signals(at)[0]
    q = arm.layout.part(start, "joint_position").copy()
    loads = arm.in_body_axes(inputs, q[None], inputs.load_signals(at))[0]
    force = own.weight.copy()
    for place, wrench in zip(inputs.loads, loads):
        force += load_columns(own, place) @ wrench
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
        elif stiffness > 0.0 or spring:
            total = stiffness + (spring.stiffness if spring else 0.0)
            pull = stiffness * reference + (spring.stiffness * spring.rest_position if spring else 0.0)
            q[k] = (feedforward + pull - wanted[k]) / total
        rotor[k, 0] = q[k]
    still = np.zeros(len(q))
    state = arm.pack(np.zeros((1, n)), strain[None], q[None], still[None], rotor[None])[0]
    return Equilibrium(state, 1.0, 1, Ending(Cause.COMPLETED, time))
