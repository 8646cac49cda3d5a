"""Equation (40): what is left of a lumped arm without deflections is the rigid arm, and that is Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import pliant as pl
from tests.support.lumped_arms import condensed, spatial_tree, two_stations
from tests.support.trees import KINDS, random_tree, twin

TREES = [(seed, tuple(np.random.default_rng(seed).permutation(KINDS))) for seed in range(5)]


def relative(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize(("seed", "kinds"), TREES)
def test_rigid_arms_are_those_of_pinocchio(seed: int, kinds: tuple[str, ...]) -> None:
    robot = random_tree(seed, kinds)
    other, arm = twin(robot), pl.Rigid().compile(robot)
    blocks = arm.blocks()
    T, drift = other.mapping()
    M = pin.crba(other.model, other.data, other.q)
    M = np.triu(M) + np.triu(M, 1).T
    assert relative(blocks.M11, np.linalg.solve(T.T, np.linalg.solve(T.T, M).T)) < 1e-10
    still = np.zeros_like(other.v)
    gravity = np.linalg.solve(T.T, pin.rnea(other.model, other.data, other.q, still, still))
    bias = np.linalg.solve(T.T, pin.rnea(other.model, other.data, other.q, other.v, drift))
    assert relative(blocks.g1, gravity) < 1e-10
    assert relative(blocks.h1 + blocks.g1, bias) < 1e-10


def test_stations_without_deflection_are_the_rigid_arm() -> None:
    """Links keep mass, centre and inertia however many fields they have; a curved one among them."""
    robot = spatial_tree()
    rigid, lumped = pl.Rigid().compile(robot), pl.Lumped(fields=3).compile(robot)
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v = rng.normal(size=(2, len(rigid.joint_names)))
        expected, found = (arm.blocks(arm.initial_state(q, v)) for arm in (rigid, lumped))
        for name in ("M11", "h1", "g1"):
            assert relative(getattr(found, name), getattr(expected, name)) < 1e-10, name
        frozen = pl.kinematics.joint_dynamics(lumped, q, v)
        assert relative(expected.M11, frozen.mass) < 1e-10
        assert relative(expected.h1 + expected.g1, frozen.bias) < 1e-10
        np.testing.assert_allclose(
            lumped.tip(lumped.initial_state(q))[0], rigid.tip(rigid.initial_state(q))[0], atol=1e-12
        )


def test_blocks_are_the_sums_over_stations() -> None:
    """M = sum J^T R J of the paper with J of the stations, for point masses: R = m 1."""
    arm = condensed(two_stations(0.7, gravity=(0.0, -9.81, 1.0)))
    state = arm.initial_state(np.array([0.3, 0.7]), np.array([1.0, -2.0]))
    arm.layout.part(state, "deflection")[:] = 0.01, -0.02, 0.03, 0.015
    blocks = arm.blocks(state)
    total = np.zeros((6, 6))
    weight = np.zeros(6)
    for station in blocks.stations:
        J = np.hstack([station.J_theta, station.J_e])[:3]
        total += station.mass * J.T @ J
        weight -= station.mass * J.T @ np.array([0.0, -9.81, 1.0])
    np.testing.assert_allclose(np.block([[blocks.M11, blocks.M12], [blocks.M21, blocks.M22]]), total, rtol=1e-12)
    np.testing.assert_allclose(np.concatenate([blocks.g1, blocks.g2]), weight, rtol=1e-12)
    assert blocks.station("lower.station[1]").mass == 3.0


def test_internal_forces_of_a_spinning_arm() -> None:
    """Equation (41): what a field carries of the uniform link beyond it, spinning in its plane under no gravity.

    From station s on, the pull is rho omega^2 (L^2 - s^2) / 2 and the moment about z at angular acceleration alpha is
    rho alpha times the integral of x (x - s). A field ends at a station whose lump reaches half a field back.
    """
    rho, length, rate, acceleration = 0.3, 1.2, 3.0, 5.0
    section = pl.GeneralSection(stiffness=(1e4,) * 6, inertia=(rho, rho, rho, 1e-9, 1e-9, 1e-9))
    link = pl.FlexibleLink(name="link", length=length, section=section)
    robot = pl.Robot(name="spun", links=(link,), joints=(pl.RevoluteJoint(name="hub", parent="base", child="link"),))
    forces = pl.Lumped(fields=4).compile(robot).internal_forces([0.4], [rate], [acceleration])
    for k in range(4):
        node, s = 0.3 * (k + 1), 0.3 * (k + 0.5)
        pull = 0.5 * rho * rate**2 * (length**2 - s**2)
        moment = rho * acceleration * ((length**3 - s**3) / 3.0 - node * (length**2 - s**2) / 2.0)
        found = forces[f"link.field[{k}]"]
        assert found[0] == pytest.approx(pull, rel=1e-9)
        assert found[1] == pytest.approx(-0.5 * rho * acceleration * (length**2 - s**2), rel=1e-9)
        assert found[5] == pytest.approx(-moment, rel=1e-6)


def test_internal_forces_do_not_ask_which_deflections_are_coordinates() -> None:
    """A field carries what holds it straight too; of point masses all of it follows from the weight beyond."""
    robot = spatial_tree()
    motion = np.random.default_rng(1).normal(size=(3, len(pl.Rigid().compile(robot).joint_names)))
    whole, part = (
        pl.Lumped(fields).compile(robot).internal_forces(*motion)
        for fields in (2, pl.lumped.Fields(2, (pl.lumped.Deflection.Y,)))
    )
    for name, expected in whole.items():
        np.testing.assert_allclose(part[name], expected, rtol=1e-12)

    elbow, weight = 0.9, np.array([0.0, -9.81, 0.0])
    arm = condensed(two_stations(elbow, gravity=tuple(weight)))
    forces = arm.internal_forces([0.0, elbow], [0.0, 0.0], [0.0, 0.0])
    lever = 0.5 * np.array([np.cos(elbow), np.sin(elbow), 0.0])
    np.testing.assert_allclose(forces["upper.field[0]"][:3], 9.6 * weight, atol=1e-12)
    np.testing.assert_allclose(forces["upper.field[0]"][3:], np.cross(lever, 3.0 * weight), atol=1e-12)
