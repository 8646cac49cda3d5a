"""Pseudo-spectral links about their equilibrium under gravity: closed forms, exact links, the ledger, what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.state import Cause
from pliant.structures.linear import gravity
from pliant.structures.linear.gravity import Weights
from tests.support.arms import ASIDE, SOFT, clamped, on_a_hinge, soft_link, two_links

DOWN, UP, ACROSS = (9.81, 0.0, 0.0), (-9.81, 0.0, 0.0), (0.0, -9.81, 0.0)


def held(arm):
    starts = {name: arm.robot.freedom(name).law.initial_position for name in arm.joint_names}
    return pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(at)) for name, at in starts.items()))


def both(robot, degree=10):
    return tuple(each.compile(robot) for each in (pl.PseudoSpectral(degree), pl.GeometricallyExact(degree=degree)))


def test_a_stiff_link_that_hangs_is_a_pendulum():
    stiff = pl.GeneralSection(stiffness=(1e9, 1e9, 1e9, 1e7, 1e7, 1e7), inertia=(0.3, 0.3, 0.3, 1e-8, 1e-8, 1e-8))
    arm = pl.PseudoSpectral(6).compile(on_a_hinge(soft_link("link", 1.0, stiff), DOWN))
    # a rod of length L about its end: w^2 = (m g L / 2) / (m L^2 / 3)
    assert pl.modes(arm, count=1).frequency[0] == pytest.approx(np.sqrt(1.5 * 9.81) / (2.0 * np.pi), rel=1e-6)


def test_a_column_buckles_under_the_weight_that_greenhill_found():
    """q L^3 / EI = (9/4) j^2, j the first zero of the Bessel function of order -1/3 [greenhill1881]."""
    from scipy.optimize import brentq
    from scipy.special import jv

    zero = brentq(lambda x: jv(-1.0 / 3.0, x), 1.5, 2.2)
    critical = 2.25 * zero**2
    EI, length = 5.0, 1.0
    thin = pl.GeneralSection(stiffness=(1e8, 1e8, 1e8, 4.0, 2.0 * EI, EI), inertia=(0.3, 0.3, 0.3, 1e-8, 1e-8, 1e-8))

    def square(load):
        """Of the slowest frequency, (rad/s)^2; negative where the column falls."""
        gravity = (-load * EI / (0.3 * length**3), 0.0, 0.0)
        arm = pl.PseudoSpectral(10).compile(clamped(soft_link("link", length, thin), gravity))
        small = arm.linearise(arm.initial_state(), arm.inputs, 0.0)
        return float(np.linalg.eigvalsh(small.K)[0])

    assert square(0.9 * critical) > 0.0 > square(1.1 * critical)
    # shear and stretch of stiffness 1e8 N change the load by some 1e-7
    assert brentq(square, 0.99 * critical, 1.01 * critical, xtol=1e-8) == pytest.approx(critical, rel=1e-5)


@pytest.mark.parametrize(
    "robot",
    [
        clamped(soft_link(), ACROSS),
        clamped(soft_link("link", 0.7), UP),
        on_a_hinge(soft_link(), ASIDE),
        two_links(gravity=ASIDE),
    ],
    ids=["sags", "stands", "hinge", "two links"],
)
def test_equilibrium_reactions_and_frequencies_are_those_of_exact_links(robot):
    """Soft links that sag by a tenth of their length: both theories are the same there, to the error of the mesh."""
    linear, exact = both(robot)
    here, there = pl.equilibrium(held(linear)), pl.equilibrium(held(exact))
    assert linear.tip(here.state[None])[0] == pytest.approx(exact.tip(there.state[None])[0], abs=1e-9)
    for name, effort in there.efforts.items():
        assert here.efforts[name] == pytest.approx(effort, abs=1e-8)
    pair = [pl.modes(held(arm), at.state, 6).frequency for arm, at in ((linear, here), (exact, there))]
    assert pair[0] == pytest.approx(pair[1], rel=1e-6)


def test_motions_near_the_equilibrium_differ_from_exact_ones_in_the_second_order():
    robot = on_a_hinge(soft_link(), ACROSS)
    spring = pl.JointPD(pl.motions.Hold(0.0), stiffness=8.0, damping=0.0)
    differences = []
    for size in (0.02, 0.01):
        tips = []
        for arm in both(robot, 8):
            # the feedforward holds the weight where the joint starts: the equilibrium of both is the same
            hold = pl.equilibrium(held(arm))
            torque = pl.JointTorque("hinge", pl.signals.Constant(float(hold.efforts["hinge"][0])))
            model = pl.connect(arm, spring, torque)
            push = pl.connect(
                model,
                pl.TipWrench("link", pl.signals.Constant((0.0, 10.0 * size, 0.0, 0.0, 0.0, 0.0)), frame=pl.Frame.BODY),
            )
            run = pl.simulate(push, 0.3, pl.Gauss(order=4, step=2e-3), hold.state, outputs=30)
            tips.append(run.tip_position)
        moved = np.abs(tips[1] - tips[1][0]).max()
        differences.append(np.abs(tips[0] - tips[1]).max())
        assert differences[-1] < 0.1 * moved
    assert differences[0] / differences[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("integrator", [pl.Gauss(order=2, step=2e-3), pl.Gauss(order=4, step=2e-3), pl.Radau(5, 2e-3)])
def test_the_energy_ledger_closes_with_gravity_that_turns(integrator):
    arm = pl.PseudoSpectral(5).compile(two_links(gravity=ASIDE, rates=(0.3, -0.2)))
    run = pl.simulate(arm, 0.1, integrator)
    assert run.ledger.worst_ratio < 1e-11
    # potential energy and work of gravity: the same but for what a damped method takes
    if isinstance(integrator, pl.Gauss):
        potential = arm.energy(run.states)[2]
        assert run.ledger.gravity == pytest.approx(potential[0] - potential, abs=1e-12 * np.abs(potential).max())


@pytest.mark.parametrize(("extra", "rounding"), [(8, 1e-9), (16, 1e-12)])
def test_forces_of_gravity_have_a_potential(monkeypatch, extra, rounding):
    """H from statics is symmetric, the better the more points follow the bent links."""
    monkeypatch.setattr(gravity, "EXTRA", extra)
    robot = two_links(gravity=ASIDE)
    weights = Weights(robot, 5)
    generator = np.random.default_rng(1)
    strain, q = 0.1 * generator.standard_normal(weights.strains), weights.start
    onto, pull = weights._onto_coordinates(), np.asarray(robot.gravity)
    H = onto @ weights.derivative(strain, q, pull)
    assert np.abs(H - H.T).max() < rounding * np.abs(H).max()
    # forces at two ends of a short line differ by what the derivative in its middle tells, to the third order
    step = 1e-2 * generator.standard_normal(len(H))
    path = [
        onto
        @ weights.forces((strain + t * step[: weights.strains])[None], (q + t * step[weights.strains :])[None], pull)[0]
        for t in (0.0, 0.5, 1.0)
    ]
    assert path[2] - path[0] == pytest.approx(
        onto
        @ weights.derivative(strain + 0.5 * step[: weights.strains], q + 0.5 * step[weights.strains :], pull)
        @ step,
        abs=1e-5,
    )


def test_equilibria_stay_and_their_joints_come_to_rest_under_feedback():
    arm = pl.PseudoSpectral(6).compile(two_links(gravity=ASIDE))
    model = pl.connect(arm, pl.JointPD([pl.motions.Hold(0.05)] * 2, stiffness=40.0, damping=1.0))
    found = pl.equilibrium(model)
    assert found.ending.completed
    run = pl.simulate(model, 0.05, pl.Gauss(order=4, step=1e-3), found.state)
    assert np.abs(run.tip_position - run.tip_position[0]).max() < 1e-12
    assert run.joint_position[0] != pytest.approx([0.05, 0.05], abs=1e-4)


def test_the_port_hamiltonian_form_has_the_same_poles():
    arm = pl.PseudoSpectral(5).compile(on_a_hinge(soft_link(), DOWN))
    poles = arm.linear(arm.initial_state(), arm.inputs).poles
    known = 2.0 * np.pi * pl.modes(arm, count=4).frequency
    assert np.sort(poles.imag[poles.imag > 0.0])[:4] == pytest.approx(known, rel=1e-8)


def test_an_equilibrium_that_is_not_found_is_a_sentence(monkeypatch):
    monkeypatch.setattr(gravity, "MOST_ITERATIONS", 1)
    with pytest.raises(pl.InvalidInput, match=r"no equilibrium of robot 'cantilever' under gravity = .*; use Geometr"):
        pl.PseudoSpectral(4).compile(clamped(soft_link(), ACROSS))


def test_joints_that_turn_links_against_gravity_are_named():
    turning = pl.PseudoSpectral(4).compile(on_a_hinge(soft_link(), ACROSS))
    assert turning.kept_joints == ("hinge",)
    assert "keep the geometry of the initial posture while joint 'hinge' moves" in turning.substitution
    along = pl.PseudoSpectral(4).compile(on_a_hinge(soft_link(), (0.0, 0.0, -9.81)))
    assert along.kept_joints == ()
    assert not along.substitution


def test_an_axis_along_gravity_lets_joints_turn_freely():
    """A link that sags and turns about the vertical: after half a turn it sags as before."""
    robot = on_a_hinge(soft_link("link", 1.0, SOFT), (0.0, 0.0, -9.81), rate=0.4)
    arm = pl.PseudoSpectral(5).compile(robot)
    start = pl.state_from(arm, arm, pl.equilibrium(held(pl.PseudoSpectral(5).compile(replace(robot)))).state).state
    arm.layout.part(start, "joint_rate")[:] = 0.0
    turned = start.copy()
    arm.layout.part(turned, "joint_position")[:] = np.pi
    tips = arm.tip(np.stack([start, turned]))[0]
    assert tips[1] == pytest.approx(tips[0] * [-1.0, -1.0, 1.0], abs=1e-12)
    assert arm.energy(turned[None])[2] == pytest.approx(arm.energy(start[None])[2], rel=1e-12)


@pytest.mark.parametrize("choice", [{}, {"integrator": pl.Gauss(4, 0.01)}], ids=["searched", "fixed steps"])
def test_a_link_that_stands_on_its_hinge_falls_without_bound(choice):
    """Linear equations know no end: they fall by exp(4.9 t / s), to 1e12 rad in 6 s and to 1e40 in 20 s, where nothing
    that is asked of a shape has an answer. A search took the only trial that was too coarse to fall."""
    stiff = pl.GeneralSection(stiffness=(1e9, 1e9, 1e9, 1e7, 1e7, 1e7), inertia=(0.3, 0.3, 0.3, 1e-8, 1e-8, 1e-8))
    arm = pl.PseudoSpectral().compile(on_a_hinge(soft_link("link", 0.6, stiff), UP, rate=0.1))
    with pytest.warns(pl.PliantWarning, match="the motion grows without bound at the arm; weight or feedback may"):
        run = pl.simulate(arm, 20.0, **choice)
    assert run.ending.cause is Cause.DIVERGED
    assert 5.0 < run.ending.time < 8.0
    assert np.isfinite(run.tip_position).all()
