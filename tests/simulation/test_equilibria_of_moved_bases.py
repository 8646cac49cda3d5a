"""Equilibria and modes on a base that moves: those of the same arm behind a joint that moves alike."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Stability
from tests.simulation.test_equilibria import FLAPPING, SLENDER, steady, turning

CARRY_BASES = {
    "spectral": (pl.GeometricallyExact(degree=10), 2e-5),
    "mixed": (pl.MixedElement(elements=40), 6e-3),  # second order in the elements
    "pose": (pl.PoseElement(elements=40), 1e-3),
    "corotational": (pl.Corotational(elements=40), 2e-3),
}
PAIR = {name: CARRY_BASES[name][0] for name in ("spectral", "pose")}
motion = pl.motions.FunctionMotion


def clamped(gravity=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0)):
    """The beam of `turning` without its hub."""
    root = pl.FixedJoint("root", "base", "beam", position=place)
    return pl.Robot("clamped", turning(0.05 if any(gravity) or any(place) else SLENDER).links, (root,), gravity=gravity)


def on_base(formulation, robot, **moves):
    return pl.connect(formulation.compile(robot), pl.BaseMotion(**moves))


def strain_lost(model, found, until=0.05):
    run = pl.simulate(model, until=until, initial=found.state, integrator=pl.Gauss(order=2, step=5e-4))
    strain = run.observation.link("beam").strain
    return np.abs(strain[-1] - strain[0]).max()


@pytest.mark.parametrize("name", CARRY_BASES)
def test_modes_of_a_beam_on_a_turning_base_are_those_of_the_steady_turn(name):
    """Published flapping at the speed 12; in the plane the turn takes its square, as behind a hub."""
    formulation, within = CARRY_BASES[name]
    model = on_base(formulation, clamped(), angle=steady(12.0))
    found = pl.equilibrium(model)
    assert found.ending.completed
    assert found.steady
    assert found.stability is Stability.STABLE
    # the root pulls with rho A L omega^2 L / 2 = 72; the stretch 144 / (3 EA) of the tip adds a little
    assert found.efforts["base.wrench"] == pytest.approx([-72.0, 0, 0, 0, 0, 0], abs=1e-3)
    for state in (None, found.state):
        rates = np.abs(pl.modes(model, state, count=7).eigenvalue)
        for expected in FLAPPING:
            assert np.abs(rates / expected - 1.0).min() < within, (expected, rates)
        assert np.abs(rates / np.sqrt(FLAPPING[0] ** 2 - 144.0) - 1.0).min() < 4 * within
    # steps of poses have a steady turn of their own, which is bent by 0.27 (rate step)^2
    own = 0.4 * (12.0 * 5e-4) ** 2 if name in ("pose", "corotational") else 0.0
    assert strain_lost(model, found, 0.02) < 1e-10 + own


@pytest.mark.parametrize("formulation", PAIR.values(), ids=PAIR)
def test_a_turning_base_is_a_turning_hub(formulation):
    """Reactions, strains and eigenvalues under weight along a skew axis, the beam beside it."""
    axis, place = np.array([0.0, 0.6, 0.8]), (0.2, 0.1, -0.1)
    robot = clamped(gravity=tuple(-9.81 * axis), place=place)
    moved = on_base(formulation, robot, angle=steady(5.0), axis=tuple(axis))
    hub = pl.RevoluteJoint("hub", "base", "disc", axis=tuple(axis))
    disc = pl.RigidLink("disc", place, 0.0)
    behind = pl.Robot("hub", (disc, *robot.links), (hub, pl.FixedJoint("root", "disc", "beam")), gravity=robot.gravity)
    turned = pl.connect(formulation.compile(behind), pl.PrescribedMotion("hub", steady(5.0)))
    one, two = pl.equilibrium(moved), pl.equilibrium(turned)
    assert (one.steady, one.stability) == (two.steady, two.stability) == (True, Stability.STABLE)
    assert one.efforts["base.wrench"] == pytest.approx(two.efforts["base.wrench"], abs=1e-8)
    strains = [model.observe(found.state).link("beam").strain for model, found in ((moved, one), (turned, two))]
    assert strains[0] == pytest.approx(strains[1], abs=1e-9)
    values = [np.abs(pl.modes(model, count=6).eigenvalue) for model in (moved, turned)]
    assert values[0] == pytest.approx(values[1], rel=1e-7)


def circle(times, ahead):
    return np.cos(5 * times + ahead), -5 * np.sin(5 * times + ahead), -25 * np.cos(5 * times + ahead)


ALONG = (0.0, 0.0, -9.81)
MOVES = {  # gravity, motions of the base, and whether the strains last
    "along": (ALONG, {"angle": steady(5.0)}, True),
    "across": ((0.0, -9.81, 0.0), {"angle": steady(5.0)}, False),
    "translates": (ALONG, {"x": steady(3.0)}, True),
    "turns and translates": (ALONG, {"angle": steady(5.0), "x": steady(3.0), "z": steady(1.0)}, True),
    "about an axis beside it": (
        ALONG,
        {"angle": steady(5.0), "x": motion(lambda t: circle(t, 0.0)), "y": motion(lambda t: circle(t, -np.pi / 2))},
        True,
    ),
    "speeds up": (ALONG, {"angle": motion(lambda t: (5 * t + t**2, 5 + 2 * t, 2 + 0 * t))}, False),
    "shakes": (ALONG, {"x": motion(lambda t: circle(t, -np.pi / 2))}, False),
}


@pytest.mark.parametrize("name", MOVES)
def test_whether_a_state_on_a_moved_base_lasts_is_what_a_run_shows(name):
    gravity, moves, lasts = MOVES[name]
    for formulation in PAIR.values():
        model = on_base(formulation, clamped(gravity, place=(0.2, 0.1, 0.0)), **moves)
        found = pl.equilibrium(model)
        assert found.ending.completed
        assert found.steady is lasts
        lost = strain_lost(model, found)
        assert lost < 2e-5 if lasts else lost > 1e-4, lost  # beside strains of about 10


@pytest.mark.parametrize("formulation", PAIR.values(), ids=PAIR)
def test_a_base_that_speeds_up_pushes_what_it_carries(formulation):
    """1 kg at half a metre under 2 m/s^2: 2 N, and in y 1 N m about the root."""
    model = on_base(formulation, clamped(), y=motion(lambda t: (t**2, 2 * t, 2 + 0 * t)))
    found = pl.equilibrium(model)
    assert not found.steady
    # the tip bends by w L^4 / 8 EI = 0.25, which brings the mass nearer
    assert found.efforts["base.wrench"][:3] == pytest.approx([0.0, 2.0, 0.0], abs=1e-6)
    assert found.efforts["base.wrench"][5] == pytest.approx(1.0, rel=0.03)


def test_what_a_bushing_ties_to_a_turning_base_turns_with_it():
    """2 kg at 0.3 m on springs of 400 N/m: m w^2 (r + u) = 400 u."""
    body = pl.RigidLink("body", (0.1, 0.0, 0.0), 2.0, inertia=(0.01, 0.01, 0.01))
    free = pl.joints.FreeJoint("free", "base", "body", position=(0.3, 0.0, 0.0))
    arm = pl.PoseElement().compile(pl.Robot("tied", (body,), (free,)))
    beside = pl.At("base", position=(0.3, 0.0, 0.0))
    bushing = pl.Bushing("mount", beside, pl.At("body", pl.End.ROOT), (400.0, 400.0, 400.0, 50.0, 50.0, 50.0))
    found = pl.equilibrium(pl.connect(arm, bushing, pl.BaseMotion(angle=steady(4.0))))
    assert found.ending.completed
    assert arm.layout.part(found.state, "position")[1, 0] == pytest.approx(0.3 / (1 - 2.0 * 16.0 / 400.0), abs=1e-9)
    assert arm.layout.part(found.state, "velocity")[1, 1] == pytest.approx(4.0 * 0.3 / (1 - 0.08), abs=1e-8)


@pytest.mark.parametrize("formulation", PAIR.values(), ids=PAIR)
def test_modes_about_a_state_that_rests_on_a_turning_base_are_refused(formulation):
    arm = formulation.compile(clamped())
    model = pl.connect(arm, pl.BaseMotion(angle=steady(12.0)))
    with pytest.raises(pl.InvalidInput, match=r"base turns at 0 rad/s, but its motion at 12 rad/s at t = 0 s; give"):
        pl.modes(model, model.initial_state())
