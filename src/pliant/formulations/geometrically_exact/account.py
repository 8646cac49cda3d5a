"""The energy account of a step: what entered by each port, what was lost, what is left over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pliant.formulations.geometrically_exact.chain import Floats
from pliant.formulations.geometrically_exact.element import product, row, stage_row, strain_energy
from pliant.formulations.geometrically_exact.stages import between, body_gravity, interpolate, load_wrench
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_kinematics import dot6

# columns of the account
KINETIC, STRAIN, GRAVITY, MATERIAL, VISCOUS, JOINT, PROJECTION, RESIDUAL, EXCHANGED = range(9)
COLUMNS = 9


class Account(NamedTuple):
    """Running sums of a run, and the worst step."""

    sums: Floats  # (9,) in the order of the columns; the first two are present values
    joints: Floats  # (dofs,) work of the drives
    loads: Floats  # (loads,)
    step_joints: Floats
    step_loads: Floats
    before: Floats  # sums, joints and loads at the start of the step
    worst: Floats  # [largest residual ratio, its time, number of steps]


def new_account(dofs: int, loads: int) -> Account:
    z = np.zeros
    return Account(z(COLUMNS), z(dofs), z(loads), z(dofs), z(loads), z(COLUMNS + dofs + loads), z(3))


@kernel
def kinetic_energy(mesh, inertia, V):
    energy = 0.0
    for a in range(V.shape[0]):
        x = row(V, a)
        energy += 0.5 * dot6(x, product(inertia.M, a, x))
    if inertia.at_points:
        for k in range(mesh.start.shape[0]):
            a = mesh.start[k]
            x = between(mesh.N, row(V, a), row(V, a + 1))
            energy += 0.5 * dot6(x, product(inertia.M_point, k, x))
    return energy


@inline_kernel
def gravity_power(M, k, V, R, i, gravity):
    """V . M (g, 0) of one mass in stage i."""
    g = body_gravity(gravity, R, i, k)
    return dot6(V, product(M, k, (g[0], g[1], g[2], 0.0, 0.0, 0.0)))


@inline_kernel
def book_flows(plant, method, stages, load_table, h, account):
    """Works and losses of a step before the projection; returns (gravity, material, viscous, joint damping)."""
    _, mesh, section, inertia = plant.chain
    loads, drives = plant.loads, plant.drives
    p = mesh.N.shape[0]
    gravity = material = viscous = damping = 0.0
    falls = inertia.gravity[0] != 0.0 or inertia.gravity[1] != 0.0 or inertia.gravity[2] != 0.0
    for j in range(account.step_joints.shape[0]):
        account.step_joints[j] = 0.0
    for k in range(account.step_loads.shape[0]):
        account.step_loads[k] = 0.0
    for i in range(method.b.shape[0]):
        f = h * method.b[i]
        if falls:
            for a in range(stages.V.shape[1]):
                x = stage_row(stages.V, i, a)
                gravity += f * gravity_power(inertia.M, a, x, stages.R, i, inertia.gravity)
            if inertia.at_points:
                for k in range(mesh.start.shape[0]):
                    x = interpolate(mesh.N, stages.V, i, mesh.start[k])
                    gravity += f * gravity_power(inertia.M_point, k, x, stages.R_point, i, inertia.gravity)
        if section.damped:
            for element in range(mesh.start.shape[0]):
                for g in range(p):
                    k = element * p + g
                    x = stage_row(stages.rate, i, k)
                    weight = f * mesh.w[g] * mesh.length[element]
                    material += weight * dot6(x, product(section.Cd, k, x))
        if inertia.has_viscous:
            for a in range(stages.V.shape[1]):
                x = stage_row(stages.V, i, a)
                viscous += f * dot6(x, product(inertia.viscous, a, x))
        for j in range(account.step_joints.shape[0]):
            rate = stages.qd[i, j]
            heat = 0.0 if drives.prescribed[j] else drives.damping[j] * rate * rate
            damping += f * heat
            account.step_joints[j] += f * (stages.torque[i, j] * rate + heat)
        for k in range(account.step_loads.shape[0]):
            for a in range(loads.first[k], loads.last[k] + 1):
                w = load_wrench(loads, load_table, stages.R, i, k, a)
                account.step_loads[k] += f * dot6(w, stage_row(stages.V, i, a))
    return gravity, material, viscous, damping


@inline_kernel
def close_step(account, kinetic, strain, flows, time):
    """Residual of a step from its energies before the projection; keeps the worst one."""
    gravity, material, viscous, damping = flows
    sums = account.sums
    change = kinetic - sums[KINETIC]
    stored = strain - sums[STRAIN]
    exchanged = abs(change) + abs(stored) + abs(gravity) + material + viscous + damping
    supplied = gravity
    for j in range(account.joints.shape[0]):
        supplied += account.step_joints[j]
        exchanged += abs(account.step_joints[j])
        account.joints[j] += account.step_joints[j]
    for k in range(account.loads.shape[0]):
        supplied += account.step_loads[k]
        exchanged += abs(account.step_loads[k])
        account.loads[k] += account.step_loads[k]
    residual = change + stored - supplied + material + viscous + damping
    sums[GRAVITY] += gravity
    sums[MATERIAL] += material
    sums[VISCOUS] += viscous
    sums[JOINT] += damping
    sums[RESIDUAL] += residual
    sums[EXCHANGED] += exchanged
    worst = account.worst
    worst[2] += 1.0
    # a stored energy is known to a few units of its last place: 1e-10 of this floor is 1e-15 of it
    scale = max(exchanged, sums[EXCHANGED] / worst[2], 1e-5 * (kinetic + strain))
    if scale > 0.0 and abs(residual) > worst[0] * scale:
        worst[0] = abs(residual) / scale
        worst[1] = time


@kernel
def stored_energies(chain, V, e):
    return kinetic_energy(chain.mesh, chain.inertia, V), strain_energy(chain.mesh, chain.section, e)
