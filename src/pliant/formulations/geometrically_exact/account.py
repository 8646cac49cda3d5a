"""The energy account of a step: what entered by each port, what was lost, what is left over."""

from __future__ import annotations

from pliant.formulations.geometrically_exact.element import (
    hardening_energy_change,
    product,
    row,
    stage_row,
    strain_energy,
)
from pliant.formulations.geometrically_exact.orientation import load3
from pliant.formulations.geometrically_exact.stages import between, body_gravity, interpolate, load_wrench
from pliant.jit import inline_kernel, kernel
from pliant.mechanics.joint_kinematics import dot6


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
def behind(end, moved, a):
    """Middle of the step of row a: half of what moved back from its end."""
    return (
        end[a, 0] - 0.5 * moved[a, 0],
        end[a, 1] - 0.5 * moved[a, 1],
        end[a, 2] - 0.5 * moved[a, 2],
        end[a, 3] - 0.5 * moved[a, 3],
        end[a, 4] - 0.5 * moved[a, 4],
        end[a, 5] - 0.5 * moved[a, 5],
    )


@inline_kernel
def kinetic_change(mesh, inertia, V, moved):
    """Kinetic energy at V less that at V - moved, as a product: a difference would lose the digits of a slow start."""
    change = 0.0
    for a in range(V.shape[0]):
        change += dot6(row(moved, a), product(inertia.M, a, behind(V, moved, a)))
    if inertia.at_points:
        for k in range(mesh.start.shape[0]):
            a = mesh.start[k]
            middle = between(mesh.N, behind(V, moved, a), behind(V, moved, a + 1))
            x = between(mesh.N, row(moved, a), row(moved, a + 1))
            change += dot6(x, product(inertia.M_point, k, middle))
    return change


@inline_kernel
def strain_change(mesh, section, e, moved):
    """Strain energy at e less that at e - moved, as a product."""
    p = mesh.N.shape[0]
    change = 0.0
    for element in range(mesh.start.shape[0]):
        for g in range(p):
            k = element * p + g
            density = dot6(row(moved, k), product(section.C, k, behind(e, moved, k)))
            if section.hardening:
                density += hardening_energy_change(section, k, e, moved)
            change += mesh.w[g] * mesh.length[element] * density
    return change


@inline_kernel
def gravity_power(M, k, V, g):
    """V . M (g, 0) of one mass, gravity in its axes."""
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
                gravity += f * gravity_power(inertia.M, a, x, load3(stages.g, i, a))
            if inertia.at_points:
                for k in range(mesh.start.shape[0]):
                    x = interpolate(mesh.N, stages.V, i, mesh.start[k])
                    g = body_gravity(inertia.gravity, stages.R_point, i, k)
                    gravity += f * gravity_power(inertia.M_point, k, x, g)
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


@kernel
def stored_energies(chain, V, e):
    return kinetic_energy(chain.mesh, chain.inertia, V), strain_energy(chain.mesh, chain.section, e)
