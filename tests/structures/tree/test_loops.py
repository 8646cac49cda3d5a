"""Closed loops of trees: gradients, rates, a four-bar against its closed form, redundant constraints."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.structures.energy_ledger import PROJECTION
from pliant.structures.loop_constraints import ALONG, COINCIDENCE_X, COINCIDENCE_Y, COINCIDENCE_Z, DIRECTION
from pliant.structures.tree.arrays import Loops, Mechanism, new_drives, new_mechanism
from pliant.structures.tree.columns import TURN_Z
from pliant.structures.tree.dynamics import TreeDynamics
from pliant.structures.tree.motion import Floats, new_tree
from tests.support import four_bar
from tests.support.marching import march
from tests.support.random_trees import random_state, random_tree

pytestmark = pytest.mark.bounds


def mechanism(prescribed: bool = False) -> Mechanism:
    """Crank and coupler against the rocker, all revolutes about z; the tips meet by a revolute: five constraints."""
    inertia = np.array([np.diag([0.6 * s, 0.6 * s, s]) for s in four_bar.SPIN])
    tree = new_tree(
        [-1, 0, -1],
        [TURN_Z] * 3,
        position=[[0.0, 0.0, 0.0], [four_bar.CRANK, 0.0, 0.0], [four_bar.GROUND, 0.0, 0.0]],
        mass=four_bar.MASS,
        center=[[x, y, 0.0] for x, y in four_bar.CENTER],
        inertia=inertia,
        gravity=(0.0, -four_bar.GRAVITY, 0.0),
    )
    tips = [[four_bar.COUPLER, 0.0, 0.0], [four_bar.ROCKER, 0.0, 0.0]]
    axes = np.zeros((5, 2, 3))
    axes[3:, 0] = [0.0, 0.0, 1.0]  # the axis of the coupler is normal to two directions of the rocker
    axes[3, 1], axes[4, 1] = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    measures = [COINCIDENCE_X, COINCIDENCE_Y, COINCIDENCE_Z, DIRECTION, DIRECTION]
    loops = Loops(np.array(measures), np.array([[1, 2]] * 5), np.array([tips] * 5), axes)
    return new_mechanism(tree, drives=new_drives(3, [prescribed, False, False]), loops=loops)


def start() -> tuple[Floats, Floats]:
    angle, first, _ = four_bar.ratios(four_bar.START)
    relative = np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    return relative @ angle, four_bar.START_RATE * relative @ first


def violations(bars: Mechanism, q: Floats) -> Floats:
    """Distance of the two tips."""
    own = TreeDynamics(bars.tree)
    tips = []
    for row in q:
        R, x = own.poses(row)
        ends = [x[k] + R[k] @ bars.loops.point[0, side] for side, k in enumerate((1, 2))]
        tips.append(np.linalg.norm(ends[1] - ends[0]))
    return np.array(tips)


@pytest.mark.parametrize("explicit", [False, True])
def test_a_four_bar_moves_as_its_closed_form(explicit: bool) -> None:
    """Redundant constraints and all: order of the rule, closed loops, energy. The closed form has errors of 1e-12."""
    bars, (q, v) = mechanism(), start()
    until, errors = 1.0, []
    wanted = four_bar.crank_motion(np.array([0.5, 1.0]))[-1]
    for steps in (400, 800):
        run = march(bars, q, v, until / steps, steps, explicit)
        assert (run.done, run.status) == (steps, 0)
        errors.append(abs(run.q[-1, 0] - wanted))
        assert violations(bars, run.q[::50]).max() < (1e-8 if explicit else 1e-11)
        assert not run.work.step.kept.all()  # in the plane some constraints say nothing new
        if not explicit:
            assert run.worst < 1e-10
            # fitting velocities takes energy of a higher order than the motion's error
            assert 0.0 <= run.sums[-1, PROJECTION] < 1e-3
    order = np.log2(errors[0] / errors[1])
    assert order > (3.7 if explicit else 1.85), errors


def test_a_driven_loop_gives_the_torque_of_the_closed_form() -> None:
    """The crank at constant rate: its torque is what the reduced equation leaves.

    Positions are of second order; torques in loops, as multipliers, of first order only, because velocities are fitted.
    """
    bars, (q, v) = mechanism(prescribed=True), start()
    rate, until, errors = four_bar.START_RATE, 0.4, []

    def signals(times: Floats) -> Floats:
        table = np.zeros((len(times), 3, 3))
        table[:, 0, 0], table[:, 0, 1] = four_bar.START + rate * times, rate
        return table

    for steps in (400, 800):
        h = until / steps
        run = march(bars, q, v, h, steps, joint=signals)
        crank = four_bar.START + rate * (until - 0.5 * h)
        # M t'' = Q - (M' t'^2 / 2 + V'), and the drive makes t'' zero
        errors.append(abs(run.output.effort[-2, 0] + reduced_force(crank, rate)))
        assert run.worst < 1e-10
    assert np.log2(errors[0] / errors[1]) > 0.95
    assert errors[-1] < 5e-3 * abs(reduced_force(crank, rate))


def reduced_force(crank: float, rate: float) -> float:
    """-(M' t'^2 / 2 + V') of the four-bar, from its free acceleration and the reduced inertia."""
    _, first, _ = four_bar.ratios(crank)
    angle, _, _ = four_bar.ratios(crank)
    inertia = 0.0
    for k in range(3):
        reach, lead = np.hypot(*four_bar.CENTER[k]), angle[k] + np.arctan2(*four_bar.CENTER[k][::-1])
        r1 = reach * first[k] * four_bar.across(lead)
        if k == 1:
            r1 = r1 + four_bar.CRANK * four_bar.across(crank)
        inertia += four_bar.MASS[k] * r1 @ r1 + four_bar.SPIN[k] * first[k] ** 2
    return float(inertia * four_bar.acceleration(crank, rate))


@pytest.mark.parametrize("explicit", [False, True])
def test_every_measure_stays_closed_in_space(explicit: bool) -> None:
    """A ball in a slot and two directions kept square, between branches of a random tree and the base."""
    tree = random_tree(9, 8)
    rng = np.random.default_rng(1)
    q, v, _ = random_state(tree, 2)
    own = TreeDynamics(tree)
    R, x = own.poses(q)
    points, directions = rng.normal(scale=0.3, size=(3, 2, 3)), rng.normal(size=(3, 2, 3))
    body = np.array([[7, 2], [5, -1], [7, 3]])
    # let the constraints hold at the start: move the second point or direction onto what is asked
    base, origin = tree.base[:9].reshape(3, 3), tree.base[9:12]
    for k, measure in enumerate((ALONG, COINCIDENCE_Y, DIRECTION)):
        a, b = body[k]
        Ra, xa = R[a], x[a]
        Rb, xb = (R[b], x[b]) if b >= 0 else (base, origin)
        if measure == DIRECTION:
            d = Ra @ directions[k, 0]
            other = np.cross(d, [0.3, -0.5, 0.8])
            directions[k, 1] = Rb.T @ other
        else:
            points[k, 1] = Rb.T @ (xa + Ra @ points[k, 0] - xb)
    loops = Loops(np.array([ALONG, COINCIDENCE_Y, DIRECTION]), body, points, directions)
    run = march(new_mechanism(tree, loops=loops), q, 0.5 * v, 1e-3, 200, explicit)
    assert run.status == 0
    for row, rate in zip(run.q[::40], run.v[::40]):
        values = measured(loops, own, row, base, origin)
        assert np.abs(values).max() < (1e-8 if explicit else 1e-11)
        ahead, behind = (measured(loops, own, row + s * rate, base, origin) for s in (1e-6, -1e-6))
        assert np.abs(ahead - behind).max() / 2e-6 < 1e-7  # G v = 0, by differences
    if not explicit:
        assert run.worst < 1e-10


def measured(loops: Loops, own: TreeDynamics, q: Floats, base: Floats, origin: Floats) -> Floats:
    """The constraints from poses, independent of the kernels."""
    R, x = own.poses(q)
    values = []
    for k, measure in enumerate(loops.measure):
        frames = [(R[b], x[b]) if b >= 0 else (base, origin) for b in loops.body[k]]
        ends = [turn @ loops.point[k, s] + place for s, (turn, place) in enumerate(frames)]
        axes = [turn @ loops.direction[k, s] for s, (turn, _) in enumerate(frames)]
        if measure == DIRECTION:
            values.append(axes[0] @ axes[1])
        elif measure == ALONG:
            values.append((ends[1] - ends[0]) @ axes[0])
        else:
            values.append((ends[1] - ends[0])[measure])
    return np.array(values)
