"""Mechanisms that cannot be, or cannot move as told, are refused in one sentence that names the part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Model
from pliant.model.state import Cause
from tests.support import four_bar


def compiled(robot: pl.Robot) -> Model:
    return pl.PoseElement(elements=2).compile(robot)


def refusal(model: Model, *parts: object) -> str:
    with pytest.raises(pl.InvalidInput) as caught:
        pl.simulate(pl.connect(model, *parts), until=0.01, integrator=pl.Gauss(order=2, step=1e-3))
    sentence = str(caught.value)
    assert ";" in sentence, "it names no remedy"
    assert "\n" not in sentence
    return sentence


def test_loop_with_a_link_that_is_too_long_cannot_close() -> None:
    robot = four_bar.robot()
    long = replace(robot.links[2], tip_position=(3.0, 0.0, 0.0))
    model = compiled(replace(robot, links=(*robot.links[:2], long)))
    sentence = refusal(model)
    assert "loop 'tip' cannot close" in sentence
    assert "at any joint positions tried" in sentence


def test_prescribed_joints_that_contradict_a_loop_at_the_start() -> None:
    hold = [pl.PrescribedMotion(name, pl.motions.Hold(0.1)) for name in ("drive", "elbow", "pivot")]
    sentence = refusal(compiled(four_bar.robot()), *hold)
    assert "loop 'tip' cannot close with links at rest with drive, elbow, pivot prescribed" in sentence


def test_prescribed_joints_that_contradict_a_loop_later_end_the_run() -> None:
    coupler, rocker = four_bar.closed_form(four_bar.START)
    places = {"drive": four_bar.START, "elbow": coupler - four_bar.START, "pivot": rocker}
    still = [pl.PrescribedMotion(name, pl.motions.Hold(places[name])) for name in ("drive", "elbow")]
    moving = pl.PrescribedMotion("pivot", pl.motions.SmoothStart(0.5, 0.01, position=rocker, begin=0.01))
    model = pl.connect(compiled(four_bar.robot()), *still, moving)
    run = pl.simulate(model, until=0.05, integrator=pl.Gauss(order=2, step=1e-3))
    assert run.ending.cause is Cause.LOOP_OPENED
    assert "loop 'tip'" in str(run.ending)
    assert 0.009 <= run.ending.time < 0.015, "the loop is closed while nothing moves"


def test_two_prescribed_joints_of_a_loop_of_one_freedom() -> None:
    """A rigid four-bar has one freedom; a second motion that does not fit cannot be followed."""
    _, rocker = four_bar.closed_form(four_bar.START)
    model = pl.connect(
        compiled(four_bar.robot()),
        pl.PrescribedMotion("drive", pl.motions.Hold(four_bar.START)),
        pl.PrescribedMotion("pivot", pl.motions.SmoothStart(0.5, 0.01, position=rocker)),
    )
    run = pl.simulate(model, until=0.05, integrator=pl.Gauss(order=2, step=1e-3))
    assert not run.ending.completed
    assert run.ending.remedy


def test_joint_that_carries_nothing_heavy() -> None:
    light = pl.RigidLink("light", (0.1, 0.0, 0.0), 0.0)
    robot = four_bar.robot()
    joint = pl.RevoluteJoint("useless", "crank", "light")
    with pytest.raises(pl.InvalidInput, match="useless"):
        compiled(replace(robot, links=(*robot.links, light), joints=(*robot.joints, joint)))


@pytest.mark.parametrize("integrator", [pl.Gauss(order=4, step=1e-3), pl.GeneralizedAlpha(step=1e-3)])
def test_other_methods_than_the_midpoint_rule(integrator: object) -> None:
    model = compiled(four_bar.robot())
    with pytest.raises(pl.InvalidInput, match=r"midpoint rule.*use Gauss\(order=2\)"):
        pl.simulate(model, until=0.01, integrator=integrator)


@pytest.mark.parametrize("integrator", [pl.Gauss(order=4), pl.Radau(order=5)])
def test_a_method_that_a_substitute_does_not_take_is_refused_with_what_made_the_substitution(
    integrator: pl.Gauss | pl.Radau,
) -> None:
    """Who chose spectral links, which take any order, must read which part of the model changed that."""
    rod = pl.load(pl.library.path("macchelli_link")).links[0]
    ball = pl.Robot("rod_on_a_ball", (rod,), (pl.joints.SphericalJoint("ball", "base", rod.name),))
    to = [pl.motions.Hold(0.1)] * 3
    held = pl.JointPD(to, stiffness=20.0, damping=1.0, joints=["ball.x", "ball.y", "ball.z"])
    followed = pl.connect(pl.GeometricallyExact(degree=4).compile(ball), held)
    name = f"{type(integrator).__name__}\\(order={integrator.order}\\)"
    with pytest.raises(pl.InvalidInput, match=rf"{name}.*feedback holds joint 'ball'.*use Gauss\(order=2\)"):
        pl.simulate(followed, until=0.01, integrator=integrator)


def test_bushing_that_is_turned_over_ends_the_run() -> None:
    bushing = pl.Bushing("mount", pl.At("base"), pl.At("crank", pl.End.ROOT), (1.0,) * 6)
    run = pl.simulate(
        pl.connect(compiled(four_bar.robot()), bushing), until=2.0, integrator=pl.Gauss(order=2, step=1e-3)
    )
    assert run.ending.cause is Cause.TURNED_OVER
    assert "'mount'" in str(run.ending)
    assert run.ledger.worst_ratio < 1e-10


def test_equilibrium_of_a_contradicted_loop_says_so() -> None:
    """Joints that are all prescribed leave a loop to its start, which closes it."""
    coupler, rocker = four_bar.closed_form(four_bar.START)
    hold = [
        pl.PrescribedMotion("drive", pl.motions.Hold(four_bar.START)),
        pl.PrescribedMotion("elbow", pl.motions.Hold(coupler - four_bar.START)),
        pl.PrescribedMotion("pivot", pl.motions.Hold(rocker)),
    ]
    model = pl.connect(compiled(four_bar.robot()), *hold)
    assert pl.equilibrium(model).ending.completed
    off = model.initial_state()
    model.layout.part(off, "rotation")[-1] = (1.0, 0.0, 0.0, 0.0)
    answer = pl.equilibrium(model, start=np.array(off))
    assert answer.ending.cause is Cause.LOOP_OPENED
    assert "loop 'tip'" in str(answer.ending)
