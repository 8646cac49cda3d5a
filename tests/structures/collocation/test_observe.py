"""Many states at once are seen as one by one; shapes follow from strains."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

import pliant as pl
from pliant.mechanics.shape_functions import gauss_rule

ROBOT = pl.load(pl.library.path("two_link_planar"))


def test_long_runs_are_seen_as_their_single_states() -> None:
    """Runs of a hundred states and more take another way, which adds in the same order."""
    arm = pl.GeometricallyExact(degree=3, elements=2).compile(ROBOT)
    states = np.random.default_rng(3).normal(size=(120, arm.layout.size)) * 0.1
    whole = arm.observe(states, 7)
    for k in (0, 57, 119):
        one = arm.observe(states[k], 7)
        for link, alone in zip(whole.links, one.links, strict=True):
            for name in [field.name for field in fields(link) if field.name not in ("name", "station")]:
                np.testing.assert_array_equal(getattr(link, name)[k], getattr(alone, name)[0])


def test_rotors_of_the_undeformed_arm_stand_with_their_joints() -> None:
    arm = pl.GeometricallyExact(degree=3).compile(ROBOT)
    motors = [pl.GearMotor(name, rotor_inertia=1e-4, ratio=50.0, stiffness=200.0) for name in arm.joint_names]
    geared = pl.connect(arm, *motors)
    positions = np.array([[0.1, -0.4], [0.7, 0.2], [-1.0, 2.0]])
    states = geared.undeformed(positions)
    np.testing.assert_array_equal(geared.layout.part(states, "rotor")[..., 0], positions)
    np.testing.assert_array_equal(geared.layout.part(states, "rotor")[..., 1], 0.0)
    np.testing.assert_array_equal(geared.layout.part(states, "joint_position"), positions)
    for state, position in zip(states, positions):
        np.testing.assert_array_equal(state, geared.initial_state(position, np.zeros(2)))


@pytest.mark.parametrize("degree", [3, 5, 6, 8, 11])
def test_small_deflections_are_exact_for_polynomials_of_any_degree(degree: int) -> None:
    """y(L) = int (L - s) kappa ds  of a rod that is bent a little; Gauss points integrate that exactly."""
    rod = pl.FlexibleLink("rod", 0.8, section=pl.Circle(radius=0.01), material=pl.Material("steel", 2e11, 7850.0, 0.3))
    arm = pl.GeometricallyExact(degree).compile(pl.Robot("rod", (rod,), (pl.RevoluteJoint("pin", "base", "rod"),)))
    state = arm.initial_state()
    strain = arm.layout.part(state, "strain")
    strain[:, 5] = 1e-6 * np.random.default_rng(degree).normal(size=degree)
    points, weights = gauss_rule(degree)
    deflection = 0.8**2 * np.sum(weights * (1.0 - points) * strain[:, 5])
    (position,), _ = arm.tip(state[None])
    assert position[1] == pytest.approx(deflection, rel=1e-11)  # 1e-12 of it are of third order in the angles


@pytest.mark.bounds
def test_shapes_in_a_plane_are_those_of_space() -> None:
    """Links that bend flat take a shorter way; a curvature of 1e-300 out of the plane takes the long one."""
    arm = pl.GeometricallyExact(degree=6, elements=2).compile(ROBOT)
    state = arm.initial_state(np.array([0.3, -0.7]))
    strain = arm.layout.part(state, "strain")
    strain[:, [0, 1, 5]] = np.random.default_rng(4).normal(size=(len(strain), 3)) * [0.02, 0.02, 6.0]
    flat, space = state.copy(), state
    strain[0, 4] = 1e-300
    for plane, whole in zip(arm.tip(flat[None]), arm.tip(space[None])):
        np.testing.assert_allclose(plane, whole, rtol=0.0, atol=1e-15)
    for plane, whole in zip(arm.link_ends(flat[None]), arm.link_ends(space[None])):
        np.testing.assert_allclose(plane, whole, rtol=0.0, atol=1e-15)


@pytest.mark.bounds
def test_shapes_in_a_plane_stand_beside_others() -> None:
    """Many states are rebuilt together, as far as they bend flat; each is what it is alone, but for rounding."""
    arm = pl.GeometricallyExact(degree=3, elements=2).compile(ROBOT)
    random = np.random.default_rng(5)
    states = np.array([arm.initial_state(q) for q in random.normal(size=(75, 2))])
    strain = arm.layout.part(states, "strain")
    strain[..., [0, 1, 5]] = random.normal(size=(*strain.shape[:2], 3)) * [0.01, 0.01, 4.0]
    strain[::7, 0, 3] = 0.3
    states.flags.writeable = False
    for together, alone in zip(arm.tip(states), zip(*(arm.tip(state) for state in states)), strict=True):
        np.testing.assert_allclose(together, np.concatenate(alone), rtol=0, atol=1e-14)
