"""The equations of motion of trees against Pinocchio, differences, and their own structure."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from numpy.typing import NDArray

from pliant.structures.tree.columns import TURN_Z
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.motion import new_tree
from tests.support.random_trees import pinocchio_model, random_state, random_tree

pytestmark = pytest.mark.bounds

TREES = [(seed, n) for seed, n in enumerate((1, 2, 5, 7, 12, 20))]


def close(ours: NDArray[np.float64], theirs: NDArray[np.float64], accuracy: float = 1e-10) -> None:
    scale = max(1.0, float(np.abs(theirs).max()))
    assert np.abs(ours - theirs).max() < accuracy * scale


@pytest.mark.parametrize(("seed", "n"), TREES)
def test_everything_equals_pinocchio(seed: int, n: int) -> None:
    tree = random_tree(seed, n)
    model = pinocchio_model(tree)
    data = model.createData()
    ours = TreeDynamics(tree)
    for k in range(5):
        q, v, a = random_state(tree, 100 * seed + k)
        M = np.array(pinocchio.crba(model, data, q))
        M = np.triu(M) + np.triu(M, 1).T
        close(ours.mass_matrix(q), M)
        close(ours.bias(q, v), pinocchio.nonLinearEffects(model, data, q, v))
        close(ours.gravity(q), pinocchio.computeGeneralizedGravity(model, data, q))
        tau = pinocchio.rnea(model, data, q, v, a)
        close(ours.inverse_dynamics(q, v, a), tau)
        close(ours.forward_dynamics(q, v, tau), a, 1e-9)  # the condition of M, up to 1e4 here, is between
        close(ours.forward_dynamics(q, v, tau), pinocchio.aba(model, data, q, v, tau))
        kinetic, potential = ours.energies(q, v)
        assert kinetic == pytest.approx(pinocchio.computeKineticEnergy(model, data, q, v), rel=1e-12)
        assert potential == pytest.approx(pinocchio.computePotentialEnergy(model, data, q), rel=1e-11)


@pytest.mark.parametrize(("seed", "n"), TREES)
def test_poses_and_jacobians_equal_pinocchio(seed: int, n: int) -> None:
    tree = random_tree(seed, n)
    model = pinocchio_model(tree)
    data = model.createData()
    q, _, _ = random_state(tree, seed)
    pinocchio.computeJointJacobians(model, data, q)
    ours = TreeDynamics(tree)
    R, x = ours.poses(q)
    for i in range(n):
        close(R[i], data.oMi[i + 1].rotation)
        close(x[i], data.oMi[i + 1].translation)
        theirs = pinocchio.getJointJacobian(model, data, i + 1, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        close(ours.jacobian(q, i), np.reshape(theirs, (6, n)))


def test_the_jacobian_of_a_point_is_its_velocity() -> None:
    tree = random_tree(3, 9)
    ours, step, point = TreeDynamics(tree), 1e-6, np.array([0.3, -0.2, 0.5])
    q, v, _ = random_state(tree, 8)
    (R0, x0), (R1, x1) = ours.poses(q - step * v), ours.poses(q + step * v)
    moved = (x1[8] + R1[8] @ point - x0[8] - R0[8] @ point) / (2 * step)
    assert np.abs(ours.jacobian(q, 8, point)[:3] @ v - moved).max() < 1e-8


@pytest.mark.parametrize(("seed", "n"), TREES)
def test_derivatives_equal_differences_and_pinocchio(seed: int, n: int) -> None:
    tree = random_tree(seed, n)
    model = pinocchio_model(tree)
    ours, step = TreeDynamics(tree), 1e-6
    q, v, a = random_state(tree, seed)
    by_position, by_velocity = ours.inverse_dynamics_derivatives(q, v, a)
    for k, e in enumerate(step * np.eye(n)):
        slope = (ours.inverse_dynamics(q + e, v, a) - ours.inverse_dynamics(q - e, v, a)) / (2 * step)
        close(by_position[:, k], slope, 1e-7)
        slope = (ours.inverse_dynamics(q, v + e, a) - ours.inverse_dynamics(q, v - e, a)) / (2 * step)
        close(by_velocity[:, k], slope, 1e-7)
    data = model.createData()
    pinocchio.computeRNEADerivatives(model, data, q, v, a)
    close(by_position, np.reshape(data.dtau_dq, (n, n)))
    close(by_velocity, np.reshape(data.dtau_dv, (n, n)))


@pytest.mark.parametrize(("seed", "n"), TREES)
def test_mass_matrices_are_symmetric_definite_and_coriolis_matrices_fit_them(seed: int, n: int) -> None:
    tree = random_tree(seed, n)
    ours = TreeDynamics(tree)
    for k in range(20):
        q, v, _ = random_state(tree, 1000 * seed + k)
        M, C = ours.mass_matrix(q), 0.5 * ours.inverse_dynamics_derivatives(q, v, 0.0 * q)[1]
        assert (M == M.T).all()
        assert np.linalg.eigvalsh(M)[0] > 0.0
        p, push = ours.momentum(q, v)
        close(p, M @ v)
        close(C @ v, ours.bias(q, v) - ours.gravity(q))
        Mdot = mass_matrix_rate(ours, q, v)
        close(C @ v, Mdot @ v - push)  # Lagrange's equation
        skew = Mdot - 2.0 * C
        close(skew, -skew.T)


def mass_matrix_rate(ours: TreeDynamics, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """By a central difference of order eight along the motion: its error and its round-off are below 1e-12 here."""
    s = 5e-3
    ahead = ((4 / 5, 1), (-1 / 5, 2), (4 / 105, 3), (-1 / 280, 4))
    return sum(
        (c / s) * (ours.mass_matrix(q + k * s * v) - ours.mass_matrix(q - k * s * v)) for c, k in ahead
    ) + np.zeros((len(q), len(q)))


def test_a_coordinate_without_mass_is_refused() -> None:
    massless = TreeDynamics(new_tree([-1], [TURN_Z]))
    with pytest.raises(ValueError, match="moves without mass"):
        massless.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1))
    with pytest.raises(ValueError, match="parents before their children"):
        new_tree([0], [TURN_Z])
