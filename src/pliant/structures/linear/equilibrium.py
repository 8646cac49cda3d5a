"""Static equilibrium of strains, joints and rotors: one linear system, since gravity is linear about its own.

Of prescribed joints that turn, a linear model in fixed geometry knows the rate but no centrifugal force.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.model.state import Cause, Ending
from pliant.structures.linear.arrays import Floats, Mechanics, mechanics
from pliant.structures.linear.equations import load_columns

if TYPE_CHECKING:
    from pliant.structures.linear.model import PseudoSpectralArm


def find_equilibrium(arm: PseudoSpectralArm, start: Floats, inputs: Inputs, time: float) -> Equilibrium:
    """Equilibrium under gravity and the loads of one time.

    Joints under feedback stiffness or a spring come to rest; all others keep the position they have in ``start``.
    """
    own, n, joints = arm.assembly, len(arm.assembly.G), len(arm.joint_names)
    signals = inputs.joint_signals(np.array([time]))[0]
    q, rate = arm.layout.part(start, "joint_position").copy(), np.where(inputs.prescribed, signals[:, 1], 0.0)
    loads = _loads(arm, q, inputs, time)
    by_loads = np.linalg.solve(own.G[:, :n].T, loads[:n])
    by_loads = np.concatenate([by_loads, own.joint_axes.T @ (loads - own.G.T @ by_loads)])
    # forces on strains and joints are  pull - H c : with the stress of links zero for the first of them
    H, pull = np.zeros((n + joints, n + joints)), by_loads
    if own.sag is not None:
        H = own.sag.stiffness
        pull = by_loads + own.sag.pull + H @ np.concatenate([own.sag.strain, own.sag.position])
    lumped = mechanics(own, inputs)
    gears = {int(joint): float(lumped.K[n + row, n + row]) for joint, row in zip(lumped.geared, _gear_rows(lumped, n))}
    size = n + 2 * joints  # strains, joints, rotors
    A, right, held = np.zeros((size, size)), np.zeros(size), []
    A[:n, : n + joints], right[:n] = H[:n], pull[:n]
    A[:n, :n] += own.K
    lacks = np.zeros((joints, size)), np.zeros(joints)
    for k, (reference, _, feedforward) in enumerate(signals):
        stiffness, spring, gear = inputs.stiffness[k], own.joints[k].freedoms[0].law.spring, gears.get(k, 0.0)
        at, rotor = n + k, n + joints + k
        row, known = lacks[0][k], lacks[1]
        # what acts on the joint but for its gear or drive:  known - row c
        row[: n + joints], known[k] = H[at], pull[at]
        if spring:
            row[at] += spring.stiffness
            known[k] += spring.stiffness * spring.rest_position
        A[rotor, rotor], A[rotor, at] = 1.0, -1.0
        if inputs.prescribed[k]:
            A[at, at], right[at] = 1.0, reference
        elif k in gears and stiffness > 0.0:
            A[at], right[at] = row, known[k]
            A[at, at] += gear
            A[at, rotor] -= gear
            A[rotor, rotor], A[rotor, at], right[rotor] = stiffness + gear, -gear, feedforward + stiffness * reference
        elif k not in gears and (stiffness > 0.0 or spring):
            A[at], right[at] = row, known[k] + feedforward + stiffness * reference
            A[at, at] += stiffness
        else:
            held.append(k)
            A[at, at], right[at] = 1.0, q[k]
    c = np.asarray(np.linalg.solve(A, right), np.float64)
    strain, q = c[:n], c[n : n + joints]
    missing = {arm.joint_names[k]: float(signals[k, 2] + lacks[1][k] - lacks[0][k] @ c) for k in held}
    rotors = np.stack([c[n + joints :], rate], axis=1)
    rigid = np.asarray(-np.linalg.solve(own.G[:, :n], own.G @ own.joint_axes @ rate), np.float64)
    state = arm.pack(rigid[None], strain[None], q[None], rate[None], rotors[None])[0]
    completed = Ending(Cause.COMPLETED, time)
    return Equilibrium(state, 1.0, 1, completed, tuple(arm.joint_names[k] for k in held), missing)


def _gear_rows(lumped: Mechanics, strains: int) -> range:
    """Of the gears among the lumped strains, behind the springs of joints."""
    count = len(lumped.K) - strains
    return range(count - len(lumped.geared), count)


def _loads(arm: PseudoSpectralArm, q: Floats, inputs: Inputs, time: float) -> Floats:
    """Of one time, over all unknowns of the links."""
    wrenches = arm.in_body_axes(inputs, q[None], inputs.load_signals(np.array([time])))[0]
    force = np.zeros(len(arm.assembly.M))
    for place, wrench in zip(inputs.loads, wrenches):
        force += load_columns(arm.assembly, place) @ wrench
    return force


def forces_on_links(arm: PseudoSpectralArm, state: Floats, inputs: Inputs, time: float) -> Floats:
    """Of gravity and of the loads of one time, over all unknowns of the links."""
    own, q = arm.assembly, arm.layout.part(state, "joint_position")
    force = _loads(arm, q, inputs, time) + own.weight
    if own.sag is not None:
        moved = arm.strain_coefficients(state[None])[0] - own.sag.strain, q - own.sag.position
        force += own.gravity_change @ np.concatenate(moved)
    return force
