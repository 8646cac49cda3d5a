"""The element against the printed equations of [damic2006], for random deformations of one element."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import pliant as pl
from pliant.spatial.arrays import quaternion_from_rotation, rotation_from_quaternion, rotation_from_vector
from pliant.structures.nodal.instant_balance import evaluate_at, new_flow
from pliant.structures.nodal.model import PoseElementArm
from pliant.structures.nodal.posture import columns_of, unknowns_of
from tests.formulations.corotational import paper

Array = paper.Array

LENGTH = 0.5
STIFFNESS = (3e3, 2e3, 2.5e3, 4.0, 6.0, 5.0)  # shear counts for nothing in (12)
INERTIA = (0.4, 0.4, 0.4, 3e-3, 1e-3, 2e-3)
SEEDS = range(12)


@cache
def flying(axes: pl.corotational.Axes = pl.corotational.Axes.FIRST_END) -> PoseElementArm:
    """One element in free flight."""
    link = pl.FlexibleLink("link", LENGTH, pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA))
    robot = pl.Robot("one", (link,), (pl.joints.FreeJoint("free", "base", "link"),), gravity=(0.0, 0.0, 0.0))
    return pl.Corotational(elements=1, axes=axes).compile(robot)


def poses(seed: int, size: float = 0.5) -> list[tuple[Array, Array]]:
    random = np.random.default_rng(seed)
    x, R = random.normal(size=3), rotation_from_vector(random.normal(size=3))
    there = x + R @ (np.array([LENGTH, 0.0, 0.0]) + 0.2 * size * random.normal(size=3))
    return [(x, R), (there, R @ rotation_from_vector(size * random.normal(size=3)))]


def state_of(arm: PoseElementArm, ends: list[tuple[Array, Array]]) -> Array:
    state = arm.initial_state()
    nodes = arm.structure.links[0].nodes
    for node, (x, R) in zip(nodes, ends):
        arm.layout.part(state, "position")[node] = x
        arm.layout.part(state, "rotation")[node] = quaternion_from_rotation(R)
    return state


def efforts(arm: PoseElementArm, state: Array) -> tuple[Array, Array]:
    """Force and torque that hold both nodes at rest, in the world, each about its own node."""
    mechanism = arm.mechanism(arm.inputs)
    flow = new_flow(mechanism, arm.moment_of(mechanism, arm.pose_of(state)))
    unknowns = unknowns_of(columns_of(mechanism.tree), mechanism.tree, np.zeros(0, np.int64))
    evaluate_at(mechanism, unknowns, flow)
    a, b = arm.structure.links[0].nodes
    x, R = arm.layout.part(state, "position"), rotation_from_quaternion(arm.layout.part(state, "rotation"))
    wrench = flow.step.rho[b].real
    F, T = R[b] @ wrench[:3], R[b] @ wrench[3:]
    return np.concatenate([-F, -T - np.cross(x[b] - x[a], F)]), np.concatenate([F, T])


def element(ends: list[tuple[Array, Array]]) -> paper.Element:
    EA, _, _, GI, EIy, EIz = STIFFNESS
    return paper.Element(ends[0], ends[1], LENGTH, (EA, GI, EIy, EIz))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_is_that_of_equation_12(seed: int) -> None:
    ends = poses(seed)
    elastic = flying().energy(state_of(flying(), ends))[1][0]
    assert elastic == pytest.approx(element(ends).energy, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_efforts_are_those_of_equations_4_to_13(seed: int) -> None:
    """J11 to J22, Lambda and the derivatives of (12), all as printed; the demand of the project is 1e-10."""
    ends = poses(seed)
    for ours, printed in zip(efforts(flying(), state_of(flying(), ends)), element(ends).efforts):
        assert ours == pytest.approx(printed, abs=1e-11 * np.abs(printed).max())


@pytest.mark.parametrize("axes", pl.corotational.Axes)
@pytest.mark.parametrize("seed", SEEDS)
def test_efforts_are_slopes_of_the_energy(seed: int, axes: pl.corotational.Axes) -> None:
    """Central differences of fourth order in displacements and rotations of both nodes."""
    arm, ends = flying(axes), poses(seed)
    found = np.concatenate(efforts(arm, state_of(arm, ends)))
    slopes = []
    for k in range(12):
        values = []
        for width in (2e-4, 1e-4, -1e-4, -2e-4):
            moved = list(ends)
            x, R = ends[k // 6]
            step = width * np.eye(6)[k % 6]
            moved[k // 6] = (x + step[:3], rotation_from_vector(step[3:]) @ R)
            values.append(arm.energy(state_of(arm, moved))[1][0])
        slopes.append((8.0 * (values[1] - values[2]) - (values[0] - values[3])) / 12e-4)
    assert found == pytest.approx(np.array(slopes), abs=1e-8 * np.abs(found).max())


@pytest.mark.parametrize("axes", pl.corotational.Axes)
@pytest.mark.parametrize("seed", SEEDS)
def test_rigid_motion_gives_no_force_and_changes_no_energy(seed: int, axes: pl.corotational.Axes) -> None:
    """1e-14 of the stiffness times the size of the motion is the rounding of positions and directors."""
    arm, random = flying(axes), np.random.default_rng(seed)
    Q, shift = rotation_from_vector(random.normal(size=3)), random.normal(size=3)
    straight = [(np.zeros(3), np.eye(3)), (np.array([LENGTH, 0.0, 0.0]), np.eye(3))]
    bent = poses(seed)
    for ends, energy in ((straight, 0.0), (bent, arm.energy(state_of(arm, bent))[1][0])):
        moved = state_of(arm, [(shift + Q @ x, Q @ R) for x, R in ends])
        assert arm.energy(moved)[1][0] == pytest.approx(energy, rel=1e-12, abs=1e-24 * STIFFNESS[0])
        if energy == 0.0:
            assert np.abs(np.concatenate(efforts(arm, moved))).max() < 1e-14 * STIFFNESS[0] / LENGTH


@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_that_of_equations_16_to_18(seed: int) -> None:
    arm, ends, random = flying(), poses(seed), np.random.default_rng(100 + seed)
    state, nodes = state_of(arm, ends), arm.structure.links[0].nodes
    moving = []
    for node, (x, R) in zip(nodes, ends):
        v, w = random.normal(size=(2, 3))
        arm.layout.part(state, "velocity")[node], arm.layout.part(state, "spin")[node] = v, w
        moving.append((x, R, v, R @ w))
    rhoA, *_, rhoIy, rhoIz = INERTIA
    printed = paper.kinetic_energy(moving, LENGTH, np.array([rhoA, rhoIz, rhoIy]))
    assert arm.energy(state)[0][0] == pytest.approx(printed, rel=1e-13)
