"""Coordinates that move several joints of a tree: the same laws as for joints of their own."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.structures.energy_ledger import EXCHANGED, JOINT, MATERIAL
from pliant.structures.tree.arrays import Loops, Mechanism, Wrenches, new_drives, new_mechanism, new_springs
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.shapes import Shapes, new_shapes
from tests.support.marching import March, march
from tests.support.random_trees import random_tree

JOINTS, N = 11, 6
ROUND_OFF = 2e-12  # of the energy exchanged in the worst step; the rule asks 3e-13 of Newton's method
WRENCHES = Wrenches(
    np.array([0, 1]),
    np.array([JOINTS - 1, 3]),
    np.array([[0.1, 0.2, 0.3], [0.0, -0.1, 0.0]]),
    np.array([1.0, 0.5]),
    np.array([True, False]),
)


def some_shapes(seed: int = 3) -> Shapes:
    """Two joints of their own, and four coordinates that move all others; a mass beside that of the tree."""
    rng = np.random.default_rng(seed)
    S = np.zeros((JOINTS, N))
    S[0, 0] = S[1, 1] = 1.0
    S[2:, 2:] = rng.normal(scale=0.4, size=(JOINTS - 2, N - 2))
    root = rng.normal(scale=0.2, size=(N - 2, N - 2))
    m = np.zeros((N, N))
    m[2:, 2:] = root @ root.T
    return new_shapes(S, m)


def mechanism_of(shapes: Shapes, n: int, prescribed: tuple[int, ...] = (), damped: bool = True) -> Mechanism:
    rng = np.random.default_rng(4)
    root = rng.normal(size=(n, n))
    K = 20.0 * root @ root.T / n
    springs = new_springs(n, K, 0.1 * np.ones(n), 0.02 * K if damped else None, np.full(n, 0.05 if damped else 0.0))
    drives = new_drives(n, np.isin(np.arange(n), prescribed), stiffness=3.0, damping=0.2)
    return new_mechanism(random_tree(11, JOINTS), springs, drives, WRENCHES, shapes=shapes)


def swing(mechanism: Mechanism, step: float, steps: int, explicit: bool = False) -> March:
    n, rng = mechanism.size, np.random.default_rng(5)
    q, v = 0.2 * rng.normal(size=(2, n))
    q[mechanism.drives.prescribed] = v[mechanism.drives.prescribed] = 0.0

    def joint(times: Floats) -> Floats:
        rate = 2.0 + 0.1 * np.arange(n)
        t = times[:, None] * rate
        return np.stack([0.2 * (1.0 - np.cos(t)), 0.2 * rate * np.sin(t), 0.2 * rate**2 * np.cos(t)], axis=-1)

    def load(times: Floats) -> Floats:
        return np.sin(3.0 * times[:, None, None] + np.arange(12).reshape(1, 2, 6))

    run = march(mechanism, q, v, step, steps, explicit, joint=joint, load=load, loads=2)
    assert (run.done, run.status) == (steps, 0)
    return run


@pytest.mark.parametrize("explicit", [False, True])
@pytest.mark.parametrize("prescribed", [(), (1, 4)])
def test_coordinates_that_are_joints_give_the_same_as_no_shapes(prescribed: tuple[int, ...], explicit: bool) -> None:
    own = swing(mechanism_of(new_shapes(), JOINTS, prescribed), 2e-3, 100, explicit)
    same = swing(mechanism_of(new_shapes(np.eye(JOINTS)), JOINTS, prescribed), 2e-3, 100, explicit)
    assert np.abs(own.output.x[:-1] - same.output.x[:-1]).max() < 1e-10
    assert np.abs(own.output.joints[:-1] - same.output.joints[:-1]).max() < 1e-10
    assert np.abs(own.output.loads[:-1] - same.output.loads[:-1]).max() < 1e-10


@pytest.mark.parametrize("prescribed", [(), (1, 4)])
@pytest.mark.parametrize("step", [2e-4, 5e-3, 2e-2])
def test_the_energy_of_every_step_is_complete(step: float, prescribed: tuple[int, ...]) -> None:
    run = swing(mechanism_of(some_shapes(), N, prescribed), step, 200)
    assert run.worst < ROUND_OFF
    mechanism = run.mechanism
    own, springs = TreeDynamics(mechanism.tree, mechanism.shapes), mechanism.springs

    def energy(k: int) -> float:
        away = run.q[k] - springs.rest
        return sum(own.energies(run.q[k], run.v[k])) + 0.5 * float(away @ springs.K @ away)

    works = run.output.joints[-2].sum() + run.output.loads[-2].sum()
    lost = run.sums[-1, MATERIAL] + run.sums[-1, JOINT]
    assert abs(energy(-1) - energy(0) - works + lost) < 1e-11 * run.sums[-1, EXCHANGED]


@pytest.mark.parametrize("prescribed", [(), (1, 4)])
def test_orders_in_time(prescribed: tuple[int, ...]) -> None:
    mechanism, until = mechanism_of(some_shapes(), N, prescribed), 0.32
    exact = swing(mechanism, until / 1024, 1024, explicit=True).output.x[-2]
    for explicit, order in ((False, 2.0), (True, 4.0)):
        errors = [
            np.abs(swing(mechanism, until / steps, steps, explicit).output.x[-2] - exact).max()
            for steps in (64, 128, 256)
        ]
        assert abs(np.log2(errors[1] / errors[2]) - order) < 0.2, (explicit, errors)


def test_the_equations_of_motion_follow_from_the_energies() -> None:
    """Of Lagrange: T by M, momentum and push; inverse dynamics by d/dt dT/dv - dT/dq + dV/dq, by differences."""
    tree, shapes = random_tree(11, JOINTS), some_shapes()
    own, rng = TreeDynamics(tree, shapes), np.random.default_rng(8)
    q, v, a = 0.5 * rng.normal(size=(3, N))
    M, (p, push) = own.mass_matrix(q), own.momentum(q, v)
    assert np.abs(M @ v - p).max() < 1e-12
    assert own.energies(q, v)[0] == pytest.approx(0.5 * v @ M @ v, rel=1e-13)
    h, one = 1e-5, np.eye(N)
    slope = [(sum(own.energies(q + h * e, v)) - sum(own.energies(q - h * e, v))) / (2.0 * h) for e in one]
    lifted = own.gravity(q)
    assert np.abs(np.array(slope) - push - lifted).max() < 1e-8
    ahead, behind = (own.momentum(q + s * h * v, v + s * h * a)[0] for s in (1.0, -1.0))
    assert np.abs((ahead - behind) / (2.0 * h) - push + lifted - own.inverse_dynamics(q, v, a)).max() < 1e-8
    by_q, by_v = own.inverse_dynamics_derivatives(q, v, a)
    for k, e in enumerate(one):
        for matrix, moved in ((by_q, (e, 0 * e)), (by_v, (0 * e, e))):
            both = [own.inverse_dynamics(q + s * h * moved[0], v + s * h * moved[1], a) for s in (1.0, -1.0)]
            assert np.abs((both[0] - both[1]) / (2.0 * h) - matrix[:, k]).max() < 1e-7
    forward = own.forward_dynamics(q, v, own.inverse_dynamics(q, v, a))
    assert np.abs(forward - a).max() < 1e-10


@pytest.mark.parametrize("explicit", [False, True])
def test_loops_close_and_keep_their_energy(explicit: bool) -> None:
    """A point of the last body is tied to where it is in the world, in two directions."""
    tree, shapes = random_tree(11, JOINTS), some_shapes()
    motion = TreeDynamics(tree, shapes).placed(np.zeros(N))
    loops = Loops(
        np.array([0, 1]),
        np.array([[-1, JOINTS - 1]] * 2),
        np.array([[motion[-1, 9:12] @ np.eye(3), np.zeros(3)]] * 2),
        np.zeros((2, 2, 3)),
    )
    base_rotation, base = tree.base[:9].reshape(3, 3), tree.base[9:12]
    loops.point[:, 0] = base_rotation.T @ (loops.point[:, 0] - base).T[:, 0]
    mechanism = new_mechanism(tree, new_springs(N, np.full(N, 5.0)), loops=loops, shapes=shapes)
    run = march(mechanism, np.zeros(N), 0.3 * np.ones(N), 2e-3, 200, explicit)
    assert (run.done, run.status) == (200, 0)
    own = TreeDynamics(tree, shapes)
    tied = own.poses(run.q[-1])[1][-1] - motion[-1, 9:12]
    assert np.abs(tied[:2]).max() < (1e-5 if explicit else 1e-12)
    assert np.linalg.norm(tied) > 1e-3
    if not explicit:
        assert run.worst < 5e-12
