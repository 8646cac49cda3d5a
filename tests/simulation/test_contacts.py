"""Steps of searches end where contacts begin and end, and keep the order of their method there."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.components.kinds import Component
from pliant.model.continuation import Continuation
from pliant.simulation import accuracy as accurate
from pliant.simulation.contacts import Contact, contacts_of, switches
from pliant.simulation.grid import BASE_STEPS, Steps
from pliant.simulation.start import consistent_start
from pliant.simulation.trials import SearchProgress

G = 9.81
BALL = pl.Wall("floor", pl.At("link"), (0.0, -0.1, 0.0), (0.0, 1.0, 0.0), 4e3, 6.0)


def hopping(*components: Component, limits: pl.joints.Limits | None = None) -> pl.Arm:
    """A mass of 1 kg on a vertical slide, which begins at rest at the height 0 and falls."""
    block = pl.RigidLink("link", tip_position=(0.0, 0.0, 0.0), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    slide = pl.PrismaticJoint("slide", "base", "link", axis=(0.0, 1.0, 0.0), limits=limits)
    robot = pl.Robot("hopping", (block,), (slide,), gravity=(0.0, -G, 0.0))
    return pl.connect(pl.GeometricallyExact().compile(robot), *components)


class Bounce:
    """A mass of 1 kg falls by 0.1 m on a floor of stiffness k and damping c, and leaves it, by the closed form."""

    k, c, fall = 4e3, 6.0, 0.1

    def __init__(self) -> None:
        self.met, speed = math.sqrt(2.0 * self.fall / G), math.sqrt(2.0 * self.fall * G)
        self.decay, self.rest = self.c / 2.0, G / self.k
        self.frequency = math.sqrt(self.k - self.decay**2)
        # depth = rest + exp(-decay t) (a cos + b sin) with the depth 0 and the rate ``speed`` at first
        self.a, self.b = -self.rest, (speed - self.decay * self.rest) / self.frequency
        low, high = 0.5 * math.pi / self.frequency, 1.3 * math.pi / self.frequency  # deepest point, beyond the surface
        for _ in range(60):
            middle = 0.5 * (low + high)
            depth, rate = self.inside(middle)
            low, high = (middle, high) if self.k * depth + self.c * rate > 0.0 else (low, middle)
        self.left = self.met + low

    def inside(self, t: float) -> tuple[float, float]:
        """Depth and its rate so long after the floor was met."""
        a, b, w, d = self.a, self.b, self.frequency, self.decay
        c, s, e = math.cos(w * t), math.sin(w * t), math.exp(-d * t)
        return self.rest + e * (a * c + b * s), e * (w * (b * c - a * s) - d * (a * c + b * s))

    def height(self, time: float) -> float:
        """Until it falls again."""
        if time <= self.met:
            return -0.5 * G * time**2
        depth, rate = self.inside(min(time, self.left) - self.met)
        flight = max(time - self.left, 0.0)
        return -self.fall - depth - rate * flight - 0.5 * G * flight**2


@pytest.mark.parametrize("kind", ["wall", "stop"])
def test_a_contact_begins_and_ends_when_the_closed_form_says(kind: str) -> None:
    limits = pl.joints.Limits(-0.1, 1.0, stiffness=4e3, damping=6.0)
    model = hopping(BALL) if kind == "wall" else hopping(limits=limits)
    run = pl.simulate(model, 0.25, pl.Gauss(order=4, step=2.5e-4))
    found = switches(contacts_of(model), model, run.time, np.array(run.states))
    assert len(found) == 2
    assert found == pytest.approx(
        (Bounce().met, Bounce().left), abs=1e-6
    )  # s; steps of 2.5e-4 s miss the jump of the damper


def test_switches_of_a_given_motion() -> None:
    """distance = cos t without a damper: it pushes while the cosine is negative."""
    time = np.linspace(0.0, 8.0, 41)
    contact = Contact(lambda model, states: (states, states), 1.0, 0.0)
    found = contact.switches(time, np.cos(time), -np.sin(time))
    np.testing.assert_allclose(found, [0.5 * math.pi, 1.5 * math.pi, 2.5 * math.pi], atol=2e-6)  # cubics over 0.2
    assert not len(contact.switches(time, 1.0 + 0.0 * time, 0.0 * time))
    # a damper of the time 0.5 pulls where cos t - 0.5 sin t > 0: it is left at tan t = 2, before the surface
    found = replace(contact, damping=0.5).switches(time, np.cos(time), -np.sin(time))
    np.testing.assert_allclose(found[:2], [0.5 * math.pi, math.pi + math.atan(2.0)], atol=1e-4)


def test_what_is_no_contact_has_none() -> None:
    spring = pl.SpringDamper("coil", pl.At("link"), pl.At("base", position=(1.0, 0.0, 0.0)), 40.0, 0.1, 0.2)
    assert contacts_of(hopping()) == contacts_of(hopping(spring)) == contacts_of(object()) == ()
    held = pl.PrescribedMotion("slide", pl.motions.Hold(0.0))
    assert contacts_of(pl.connect(hopping(limits=pl.joints.Limits(-0.1, 1.0, 4e3)), held)) == ()


def test_a_tendon_that_becomes_slack_is_seen() -> None:
    """Led from 0.3 m above the mass to it, slack until its length is 0.35 m: after a fall of 0.05 m."""
    cord = pl.Tendon("cord", (pl.At("base", position=(0.0, 0.3, 0.0)), pl.At("link")), 50.0, rest_length=0.35)
    model = hopping(cord)
    run = pl.simulate(model, 0.2, pl.Gauss(order=4, step=5e-4))
    found = switches(contacts_of(model), model, run.time, np.array(run.states))
    assert found[0] == pytest.approx(math.sqrt(2.0 * 0.05 / 9.81), abs=1e-7)


def test_steps_end_at_switches_and_have_their_share() -> None:
    steps = Steps(np.array([0.0, 1.0]))
    assert steps.even
    assert len(steps.shares) == BASE_STEPS
    near = steps.told_apart((0.31, 0.31 + 1e-4, 1.0 - 1e-5), 4.0)
    assert near == [0.31]  # of two that a step cannot tell apart the first, and none next to the end
    part = steps.end_at(near)
    assert part == BASE_STEPS / len(steps.shares)
    grid = steps.grid(4.0)
    assert 0.31 in grid.tolist()
    assert np.diff(grid).max() <= 1.0 / (4.0 * BASE_STEPS) + 1e-12
    assert not steps.even
    assert steps.told_lengths(4.0).endswith("short where more happens")


def test_runs_through_contacts_keep_the_order_of_their_method() -> None:
    """The bounce again, against the closed form of the flight after it: with steps that end at both switches the error
    falls by the order of Gauss collocation; equal steps lose it to the jump of the damper."""
    bounce, model, until = Bounce(), hopping(BALL), 0.25
    start = consistent_start(model)
    search = accurate.Search(model, until, 1e-6, (start, False), 10, SearchProgress(None), Continuation.at(0.0))
    search.steps.end_at([bounce.met, bounce.left])

    def height(mean: float) -> float:
        record, _ = search.run(search.row(search.own), mean, False, model.inputs)
        return float(model.tip(record.states[-1:])[0][0, 1])

    answer = bounce.height(until)
    errors = [abs(height(mean) - answer) for mean in (1.0, 2.0)]
    assert errors[0] < 1e-5  # m, with 11 steps of order 6; order 6 would leave 1/64 of it with twice as many
    assert errors[1] < errors[0] / 40.0
    equal = pl.simulate(model, until, pl.Gauss(order=6, step=until / 22))
    assert abs(equal.tip_position[-1, 1] - answer) > 100.0 * errors[1]


@pytest.mark.parametrize("asked", [1e-3, 1e-5])
def test_a_search_finds_the_contacts_and_keeps_the_accuracy(asked: float) -> None:
    """Before, in and after the contact, against the closed form; the told error is not less than the true one."""
    model, bounce = hopping(BALL), Bounce()
    run = pl.simulate(model, 0.25, accuracy=asked, outputs=50)
    reach = getattr(model, "arm", model).reach
    error = np.abs(run.tip_position[:, 1] - [bounce.height(t) for t in run.time.tolist()]).max() / reach
    assert error <= asked
    assert run.error is not None
    assert run.error.reached
    assert error <= run.error.relative
    assert run.statistics["steps"] < 400


def test_walls_beside_a_ball_joint() -> None:
    """Joints without a coordinate of their own have no stops, but what they carry may meet a wall."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    rod = pl.FlexibleLink("rod", 1.0, section=pl.Circle(radius=0.004), material=steel)
    joint = pl.joints.SphericalJoint("ball", "base", "rod")
    arm = pl.GeometricallyExact().compile(pl.Robot("one", (rod,), (joint,), gravity=(0.0, -9.81, 0.0)))
    wall = pl.Wall("side", pl.At("rod"), (0.0, -5.0, 0.0), (0.0, 1.0, 0.0), 1e3)
    model = pl.connect(arm, wall)
    (contact,) = contacts_of(model)
    distance, rate = contact.distance(model, consistent_start(model)[None])
    tip = model.tip(consistent_start(model)[None])[0][0]
    assert distance[0] == pytest.approx(tip[1] + 5.0, abs=1e-12)
    assert rate[0] == pytest.approx(0.0, abs=1e-12)
