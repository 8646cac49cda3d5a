"""Walls stand in the world while the base moves: an arm on a carriage with a prescribed joint says what is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl

ROD = pl.load(pl.library.path("macchelli_link")).links[0]
BASE = pl.Base(position=(0.1, 0.2, 0.3), rotation=(np.cos(0.2), 0.0, 0.0, np.sin(0.2)))
LIGHT = pl.RigidLink("carriage", (0.0, 0.0, 0.0), 1e-9, inertia=(1e-9, 1e-9, 1e-9))
PIN = 0.02  # N m s/rad
TIP = pl.At(ROD.name)
SPRING = (20.0, 0.5, 0.4)  # stiffness, damping and rest length, from what carries the arm
FORMULATIONS = [(pl.GeometricallyExact(degree=4), 4), (pl.GeometricallyExact(degree=4), 6), (pl.PoseElement(8), 2)]


def wall(point: tuple[float, float, float], stiffness: float = 5e2, damping: float = 2.0) -> pl.Wall:
    return pl.Wall("floor", TIP, point, (0.1, 1.0, 0.05), stiffness, damping)


def arm_on(carrier: str, *before: tuple[pl.RigidLink, pl.Joint]) -> pl.Robot:
    pin = pl.RevoluteJoint("pin", carrier, ROD.name, axis=(0.0, 0.0, 1.0), damping=PIN)
    links, joints = (*(link for link, _ in before), ROD), (*(joint for _, joint in before), pin)
    return pl.Robot("arm", links, joints, gravity=(0.0, 0.0, -1.0), base=BASE)


def spring(carrier: str) -> pl.SpringDamper:
    return pl.SpringDamper("guy", pl.At(carrier, position=(0.4, 0.3, 0.1)), TIP, *SPRING)


def sliding(formulation: pl.GeometricallyExact | pl.PoseElement, *parts: pl.Wall) -> tuple[pl.Connected, pl.Connected]:
    """An arm whose base moves along y of the base, and one on a carriage that does."""
    along = np.array([-np.sin(0.4), np.cos(0.4)])  # y of the base in the world
    x, y = (pl.motions.Quintic(0.0, -0.6 * part, 0.3) for part in along)
    rail = pl.PrismaticJoint("rail", "base", "carriage", axis=(0.0, 1.0, 0.0))
    moved = formulation.compile(arm_on("base"))
    carried = formulation.compile(arm_on("carriage", (LIGHT, rail)))
    led = pl.PrescribedMotion("rail", pl.motions.Quintic(0.0, -0.6, 0.3))
    return (
        pl.connect(moved, pl.BaseMotion(x=x, y=y), spring("base"), *parts),
        pl.connect(carried, led, spring("carriage"), *parts),
    )


def turning(formulation: pl.GeometricallyExact | pl.PoseElement, *parts: pl.Wall) -> tuple[pl.Connected, pl.Connected]:
    """An arm whose base turns about z, and one on a carriage that does."""
    turn = pl.motions.Quintic(0.0, 0.7, 0.3)
    hub = pl.RevoluteJoint("hub", "base", "carriage", axis=(0.0, 0.0, 1.0))
    moved = formulation.compile(arm_on("base"))
    carried = formulation.compile(arm_on("carriage", (LIGHT, hub)))
    return (
        pl.connect(moved, pl.BaseMotion(angle=turn, axis=(0.0, 0.0, 1.0)), spring("base"), *parts),
        pl.connect(carried, pl.PrescribedMotion("hub", turn), spring("carriage"), *parts),
    )


@pytest.mark.parametrize(("formulation", "order"), FORMULATIONS)
@pytest.mark.parametrize("both", [sliding, turning])
def test_a_moved_base_beside_a_wall_is_a_carriage_that_moves(both, formulation, order):
    """The steps are the same, so they differ by what Newton's method leaves."""
    floor = wall((0.0, 0.75, 0.0))
    moved, carried = both(formulation, floor)
    carrier = "rail" if both is sliding else "hub"
    integrator = pl.Gauss(order=order, step=2e-3)
    base, joint = (pl.simulate(each, until=0.4, integrator=integrator) for each in (moved, carried))
    assert not moved.substitution
    assert moved.highest_order == (8 if order > 2 else 2)
    assert np.abs(base.efforts["floor.force"]).max() > 1.0
    np.testing.assert_allclose(base.tip_position, joint.tip_position, atol=1e-7)
    np.testing.assert_allclose(base.efforts["floor.force"], joint.efforts["floor.force"], atol=1e-4)
    np.testing.assert_allclose(base.ledger.taken["floor"], joint.ledger.taken["floor"], atol=1e-6)
    np.testing.assert_allclose(base.ledger.works["base"], joint.ledger.works[carrier], atol=1e-6)
    assert base.ledger.worst_ratio < 1e-10
    assert joint.ledger.worst_ratio < 1e-10


def test_spectral_links_and_pose_elements_agree_on_what_a_wall_does_to_a_moved_base():
    """Two formulations, of which one knows twists and strains, the other poses."""
    floor = wall((0.0, 0.7, 0.0))
    spectral = pl.simulate(
        sliding(pl.GeometricallyExact(degree=6), floor)[0],
        until=0.4,
        integrator=pl.Gauss(order=4, step=5e-4),
        outputs=400,
    )
    errors = []
    for elements, step in ((8, 1e-3), (32, 2.5e-4)):
        model = sliding(pl.PoseElement(elements), floor)[0]
        run = pl.simulate(model, until=0.4, integrator=pl.Gauss(order=2, step=step), outputs=400)
        errors.append(np.abs(run.tip_position - spectral.tip_position).max())
    assert errors[1] < 8e-4
    assert errors[1] < 0.25 * errors[0]


def test_order_while_the_wall_pushes():
    """The tip is behind the wall from the start on and stays there; waves are damped, so that the order shows."""
    section = replace(ROD.section, damping=2e-3)
    soft = replace(ROD, section=section)
    pin = pl.RevoluteJoint(
        "pin", "base", soft.name, axis=(0.0, 0.0, 1.0), damping=PIN, spring=pl.joints.JointSpring(5.0)
    )
    arm = pl.GeometricallyExact(degree=4).compile(pl.Robot("arm", (soft,), (pin,), base=BASE))
    behind = pl.Wall("floor", TIP, (0.0, 1.8, 0.0), (0.1, 1.0, 0.05), 20.0, 0.1)
    move = pl.BaseMotion(y=pl.motions.Quintic(0.0, 0.3, 0.2), angle=pl.motions.Quintic(0.0, 0.5, 0.2))
    model = pl.connect(arm, move, behind)
    runs = {n: pl.simulate(model, 0.12, pl.Gauss(order=4, step=0.12 / n), outputs=20) for n in (12, 24, 192)}
    assert all(np.all(run.efforts["floor.force"][1:] < 0.0) for run in runs.values())
    errors = [np.abs(runs[n].tip_position[-1] - runs[192].tip_position[-1]).max() for n in (12, 24)]
    assert np.log2(errors[0] / errors[1]) > 3.6
    assert max(run.ledger.worst_ratio for run in runs.values()) < 1e-10


@pytest.mark.parametrize("formulation", [pl.GeometricallyExact(degree=4), pl.PoseElement(8)])
@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")
def test_modes_behind_the_wall(formulation):
    """The wall is stiffness against the world, not against the base."""
    moved, carried = (
        (each, pl.simulate(each, 0.2, pl.Gauss(order=2, step=2e-3))) for each in sliding(formulation, wall((0, 1.0, 0)))
    )
    assert moved[1].efforts["floor.force"][-1] < -10.0
    frequencies = [pl.modes(model, run.states[-1], 4, time=0.2).frequency for model, run in (moved, carried)]
    np.testing.assert_allclose(*frequencies, rtol=1e-5)


@pytest.mark.parametrize(
    ("formulation", "parts"),
    [
        (pl.GeometricallyExact(degree=4), ()),
        (pl.GeometricallyExact(degree=4), (pl.BaseMotion(y=pl.motions.Hold(0.0)),)),
        (pl.PoseElement(8), (pl.BaseMotion(y=pl.motions.Hold(0.0)),)),
    ],
)
@pytest.mark.filterwarnings("ignore::pliant.PliantWarning")
def test_what_a_base_feels_of_a_wall(formulation, parts):
    floor = wall((0.0, 1.8, 0.0))
    rail = pl.PrismaticJoint("rail", "base", "carriage", axis=(0.0, 1.0, 0.0))
    moved = pl.connect(formulation.compile(arm_on("base")), spring("base"), floor, *parts)
    led = pl.PrescribedMotion("rail", pl.motions.Hold(0.0))
    carried = pl.connect(formulation.compile(arm_on("carriage", (LIGHT, rail))), led, spring("carriage"), floor)
    answers = [
        pl.frequency_response(model, flow, effort, [0.01, 3.0]).gain
        for model, flow, effort in ((moved, "base.twist[1]", "base.wrench[1]"), (carried, "rail.rate", "rail.force"))
    ]
    np.testing.assert_allclose(*answers, rtol=1e-5)
