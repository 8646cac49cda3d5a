"""States carried from one formulation to another: joints exact, shapes and speeds near, and back again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from tests.contract.formulations import SWING, Kind, every_formulation, run_of, swing
from tests.support.arms import SLOW, soft_link

EXACT = Kind(pl.GeometricallyExact(degree=3))


def joints(arm, state):
    return np.concatenate([arm.layout.part(state, name) for name in ("joint_position", "joint_rate")])


@every_formulation
def test_every_formulation_takes_a_motion_of_the_exact_one_with_its_joints_as_they_are(kind):
    arm, exact, moving = swing(kind), swing(EXACT), run_of(EXACT).states[-1]
    carried = pl.state_from(arm, exact, moving)
    assert joints(arm, carried.state) == pytest.approx(joints(exact, moving), abs=1e-12)
    if kind.bends:  # two or three parts of a link follow the waves of 30 ms to a tenth of the bend and of the speed
        assert carried.position < 0.1 * np.abs(run_of(EXACT).tip_deflection[-1]).max()
        assert carried.velocity < 0.1 * np.abs(run_of(EXACT).tip_twist[-1]).max()


@pytest.mark.parametrize("choice", [pl.Lumped(fields=4), pl.PoseElement(elements=4), pl.Corotational(elements=4)])
def test_what_is_lost_falls_with_the_square_of_the_mesh(choice):
    exact, moving = swing(EXACT), run_of(EXACT).states[-1]
    lost = []
    for formulation in (choice, choice.finer(), choice.finer().finer()):
        carried = pl.state_from(formulation.compile(SWING), exact, moving)
        lost.append((carried.position, carried.velocity))
    # all three are of second order: a quarter for twice the parts
    assert np.all(np.array(lost[2]) < np.array(lost[0]) / 2.0**3)


@every_formulation
def test_a_state_comes_back_from_the_formulation_that_it_was_given_to(kind):
    fine, own = swing(EXACT), swing(kind)
    motion = run_of(kind).states[-1]
    there = pl.state_from(fine, own, motion)
    back = pl.state_from(own, fine, there.state)
    shape = np.abs(own.tip(back.state[None])[0] - own.tip(motion[None])[0]).max()
    # twice the way cannot be further off than both ways together
    assert shape <= 2.0 * (there.position + back.position) + 1e-10
    assert joints(own, back.state) == pytest.approx(joints(own, motion), abs=1e-12)


def test_a_finer_mesh_of_the_same_formulation_shows_the_same_state_to_rounding():
    motion = run_of(EXACT).states[-1]
    fine = pl.GeometricallyExact(degree=5).compile(SWING)
    carried = pl.state_from(fine, swing(EXACT), motion)
    # polynomials of degree 3 are among those of degree 5; the wanted rates are differences of half the digits
    assert max(carried.position, carried.rotation) < 1e-9
    assert carried.velocity < 1e-6
    # strain energies agree; kinetic ones differ, because the mass of degree 3 stands at its four nodes
    assert fine.energy(carried.state[None])[1] == pytest.approx(swing(EXACT).energy(motion[None])[1], rel=1e-9)


def test_loops_stay_closed_and_their_joints_exact():
    robot = pl.load(pl.library.path("parallelogram"))
    exact, lumped = (each.compile(robot) for each in (pl.GeometricallyExact(degree=3), pl.Lumped(fields=2)))
    push = pl.connect(exact, pl.JointTorque(exact.joint_names[0], pl.signals.Constant(2.0)))
    run = pl.simulate(push, 0.1, pl.Gauss(order=4, step=2e-3), outputs=1)
    carried = pl.state_from(lumped, exact, run.states[-1])
    assert joints(lumped, carried.state) == pytest.approx(joints(exact, run.states[-1]), abs=1e-9)
    run = pl.simulate(lumped, 1e-4, pl.Gauss(order=2, step=1e-4), carried.state, outputs=1)
    assert all(values[0] < 1e-6 for values in run.violations.values())


def test_a_rigid_model_takes_the_joints_and_tells_the_bend_that_it_leaves_out():
    run = run_of(EXACT)
    carried = pl.state_from(pl.Rigid().compile(SWING), swing(EXACT), run.states[-1])
    assert carried.position == pytest.approx(np.linalg.norm(run.tip_deflection[-1]), rel=0.05)
    assert "m/s" in str(carried)


def test_other_robots_are_refused_in_a_sentence():
    longer = replace(SWING, links=(soft_link("link", 1.0, SLOW),))
    arm = pl.Rigid().compile(longer)
    with pytest.raises(pl.InvalidInput, match=r"'swing' and 'swing', which differ; a state is carried between"):
        pl.state_from(swing(EXACT), arm, arm.initial_state())
    with pytest.raises(pl.InvalidInput, match="this model has"):
        pl.state_from(arm, arm, np.zeros(3))
