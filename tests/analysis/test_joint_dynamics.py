"""Joint dynamics of random trees against Pinocchio, and of a flexible link against the integral of its inertia."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import pliant as pl
from tests.support.trees import KINDS, Twin, random_tree, twin

TREES = [
    *[(seed, tuple(np.random.default_rng(seed).permutation(KINDS))) for seed in range(10)],
    (10, ("free", "revolute", "spherical", "universal", "fixed")),
    (11, ("spherical", "planar", "spherical", "revolute")),
    (12, ("free", "cylindrical", "fixed", "planar", "prismatic")),
]


def relative(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max() / np.abs(expected).max())


def by_pinocchio(other: Twin, v: np.ndarray) -> np.ndarray:
    """M a + bias in our rows, with a such that our accelerations are zero."""
    T, drift = other.mapping()
    return np.linalg.solve(T.T, pin.rnea(other.model, other.data, other.q, v, drift * bool(v.any())))


@pytest.mark.parametrize(("seed", "kinds"), TREES)
def test_random_trees_agree_with_pinocchio(seed: int, kinds: tuple[str, ...]) -> None:
    robot = random_tree(seed, kinds)
    other = twin(robot)
    ours = pl.kinematics.joint_dynamics(pl.PoseElement().compile(robot))
    T, drift = other.mapping()
    M = pin.crba(other.model, other.data, other.q)
    M = np.triu(M) + np.triu(M, 1).T
    expected = np.linalg.solve(T.T, np.linalg.solve(T.T, M).T)
    assert relative(ours.mass, expected) < 1e-12
    gravity = by_pinocchio(other, np.zeros_like(other.v))
    assert relative(ours.gravity, gravity) < 1e-12
    assert relative(ours.bias, by_pinocchio(other, other.v)) < 1e-12
    torque = np.random.default_rng(seed).normal(size=len(ours.names))
    their_torque = T.T @ torque
    theirs = T @ (pin.aba(other.model, other.data, other.q, other.v, their_torque) - drift)

    assert relative(ours.forward(torque), theirs) < 1e-12
    assert relative(ours.inverse(theirs), torque) < 1e-12


def test_flexible_link_has_the_inertia_of_its_rest_shape() -> None:
    """A uniform quarter circle of radius r on a pivot at its root: J = 2 m r^2 (1 - 2 / pi) about the axis across.

    The distance of the point at angle p from the root is 2 r sin(p / 2), and its mean square 2 r^2 (1 - 2 / pi).
    """
    radius, line_density, torsion = 0.5, 1.3, 0.02
    section = pl.GeneralSection(
        stiffness=(1e5, 1e4, 1e4, 50.0, 50.0, 50.0),
        inertia=(line_density, line_density, line_density, torsion, torsion, torsion),
    )
    length = 0.5 * np.pi * radius
    robot = pl.Robot(
        name="quarter",
        links=(pl.FlexibleLink("arc", length, section, rest_shape=pl.rest_shapes.Arc(0.5 * np.pi)),),
        joints=(pl.RevoluteJoint("pivot", "base", "arc", axis=(0.0, 0.0, 1.0)),),
        gravity=(0.0, -9.81, 0.0),
    )
    mass = line_density * length
    expected = 2 * mass * radius**2 * (1 - 2 / np.pi) + torsion * length
    for formulation in (pl.GeometricallyExact(), pl.PoseElement()):
        dynamics = pl.kinematics.joint_dynamics(formulation.compile(robot), position=[0.0])
        assert dynamics.mass[0, 0] == pytest.approx(expected, rel=1e-12)
        # the centre of mass of a quarter circle that leaves its root along x: x = 2 r / pi
        assert dynamics.gravity[0] == pytest.approx(9.81 * mass * 2 * radius / np.pi, rel=1e-12)
        assert dynamics.coriolis[0] == 0.0


def test_loops_and_wrong_shapes_are_refused() -> None:
    closed = pl.PoseElement().compile(pl.load(pl.library.path("parallelogram")))
    with pytest.raises(pl.InvalidInput, match=r"loop joint 'far_corner'.*remove the loop joints"):
        pl.kinematics.joint_dynamics(closed)
    arm = pl.PoseElement().compile(random_tree(0, KINDS))
    with pytest.raises(pl.InvalidInput, match=r"position has shape \(2,\).*give 9 finite numbers"):
        pl.kinematics.joint_dynamics(arm, position=[0.0, 1.0])
