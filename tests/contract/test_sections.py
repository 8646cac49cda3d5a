"""Single sections, as laws read them at every sample, show what the observation of the whole arm shows."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm
from pliant.model.section import ObservedSection, place_at
from tests.contract.formulations import GAUSS, HELD, KINDS, LENGTH, POINT_MASSES, Kind, every_formulation, swing

PARTS = 8
# where strains vary along a link, paths to a station and to all stations are stepped through other marks
SAME = 1e-8
PROJECTED = ("GeometricallyExact", "MixedElement", "PseudoSpectral")


def moved(arm: Arm) -> np.ndarray:
    """A state in which the link is bent and moves; masses that cannot turn need a rotor at the hinge."""
    rotor = pl.GearMotor("hinge", rotor_inertia=0.01, ratio=1.0)
    return pl.simulate(pl.connect(arm, HELD, rotor), 0.03, GAUSS, outputs=1).states[-1]


@pytest.mark.parametrize("kind", [*KINDS, POINT_MASSES], ids=str)
def test_poses_and_strains_of_stations(kind: Kind) -> None:
    arm = swing(kind)
    state = moved(arm)
    seen = arm.observe(state[None], PARTS + 1).link("link")
    sample = pl.control.Sample(0.0, state, state, state, arm, state, state, arm.observe)
    for row in (0, 1, 3, PARTS):
        section = arm.section("link", row / PARTS)
        root, turn, position, rotation = section.poses(state)
        at = row if kind.bends else {0: 0, PARTS: -1}.get(row)
        if at is None:  # rigid links are seen at their ends
            assert position == pytest.approx(root + turn[:, 0] * LENGTH * row / PARTS)
            continue
        np.testing.assert_allclose(root, seen.position[0, 0], atol=SAME)
        np.testing.assert_allclose(turn, seen.rotation[0, 0], atol=SAME)
        np.testing.assert_allclose(position, seen.position[0, at], atol=SAME)
        np.testing.assert_allclose(rotation, seen.rotation[0, at], atol=SAME)
        np.testing.assert_allclose(section.strain(state), seen.strain[0, at], atol=SAME)
        share = sample.deflection("link", row / PARTS)
        np.testing.assert_allclose(share, turn.T @ (position - root) - [LENGTH * row / PARTS, 0.0, 0.0], atol=SAME)
    x, R = sample.tip()
    np.testing.assert_allclose(x, arm.tip(state[None])[0][0], atol=SAME)
    np.testing.assert_allclose(R, arm.tip(state[None])[1][0], atol=SAME)


@every_formulation
def test_twists_are_those_with_which_loads_do_their_work(kind: Kind) -> None:
    arm = swing(kind)
    state = moved(arm)
    for station in (0.0, 1.0):
        flow = arm.load_flows(state[None], (place_at(arm, "link", station),))[0, 0]
        np.testing.assert_allclose(arm.section("link", station).twist(state), flow, atol=1e-9)


@pytest.mark.parametrize("kind", [each for each in KINDS if str(each) not in PROJECTED], ids=str)
def test_twists_are_the_rates_of_poses(kind: Kind) -> None:
    """By central differences along a run, at a node, between which velocities of elements follow straight lines.

    Where twists are unknowns beside the strains, they differ from the rates of the rebuilt shape by what
    `consistency_error` tells.
    """
    arm, step = swing(kind), 1e-5
    run = pl.simulate(
        pl.connect(arm, HELD), 0.01 + step, pl.Gauss(2, step / 2), outputs=[0.01 - step, 0.01, 0.01 + step]
    )
    before, now, after = run.states[-3:]
    section = arm.section("link", 2.0 / 3.0)
    rate = (section.poses(after)[2] - section.poses(before)[2]) / (2.0 * step)
    velocity = section.poses(now)[3] @ section.twist(now)[:3]
    np.testing.assert_allclose(velocity, rate, atol=2e-3 * np.abs(rate).max())


def test_all_of_it_by_the_observation() -> None:
    """What a structure without quick sections answers."""
    arm = swing(KINDS[0])
    state = moved(arm)
    quick, plain = arm.section("link", 0.25), ObservedSection(arm, "link", 0.25)
    for name in ("strain", "twist"):
        np.testing.assert_allclose(getattr(quick, name)(state), getattr(plain, name)(state), atol=SAME)
    for one, other in zip(quick.poses(state), plain.poses(state), strict=True):
        np.testing.assert_allclose(one, other, atol=SAME)


@pytest.mark.parametrize(
    ("link", "station", "words"),
    [("lnk", 0.5, "no link 'lnk'"), ("link", 1.5, "station = 1.5"), ("link", None, "station = None")],
)
def test_refused_in_a_sentence(link: str, station: float, words: str) -> None:
    with pytest.raises(pl.InvalidInput, match=words):
        swing(KINDS[0]).section(link, station)
