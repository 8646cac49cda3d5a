"""The experiment runs and meets its numbers; its path, readings and shadows stand on their own."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.damic2006 import anthropomorphic, path, run, two_links
from pliant.experiments.damic2006.anthropomorphic import CASES, PAPER, Case
from pliant.experiments.damic2006.deflection import Shadow
from pliant.experiments.damic2006.meshes import PAPER as PAPER_MESH
from pliant.experiments.damic2006.meshes import Choice, stepped
from pliant.experiments.damic2006.path import Elbow
from pliant.experiments.damic2006.two_links import INNER, LENGTH, OUTER, Reading
from tests.support.reproduction import Again, check_numbers_and_figures, reproduced

TIMES = np.linspace(0.0, 1.0, 21)
COARSE = stepped(pl.Corotational(elements=4), 5e-3)  # steps end at all outputs of case 1


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    return reproduced(run, tmp_path_factory)


@pytest.fixture(scope="module")
def coarse() -> dict[Reading, two_links.Seen]:
    return {reading: two_links.simulated(COARSE, reading) for reading in Reading}


def test_all_numbers_are_met_and_all_figures_written(again: Again) -> None:
    check_numbers_and_figures(run, again)


@pytest.mark.parametrize("elbow", Elbow)
def test_joint_angles_follow_the_path(elbow: Elbow) -> None:
    """Checked by the kinematics of the package, which knows nothing of the closed form."""
    arm = pl.Rigid().compile(anthropomorphic.robot(PAPER))
    tips = arm.tip(arm.undeformed(path.joint_path(TIMES, elbow)[:, 0].T))[0]
    np.testing.assert_allclose(tips, path.end_path(TIMES)[:, 0].T, atol=1e-14)


@pytest.mark.parametrize("curve", [path.end_path, path.joint_path])
def test_rates_and_accelerations_are_derivatives(curve: object) -> None:
    """By differences of fourth order; what they leave is of the order of step^4, and of rounding / step."""
    assert callable(curve)
    h = 1e-3
    near = [curve(TIMES + k * h) for k in (-2, -1, 1, 2)]
    slope = (near[0] - 8.0 * near[1] + 8.0 * near[2] - near[3]) / (12.0 * h)
    np.testing.assert_allclose(curve(TIMES)[:, 1], slope[:, 0], atol=1e-8)
    np.testing.assert_allclose(curve(TIMES)[:, 2], slope[:, 1], atol=1e-7)


def test_the_library_arm_starts_on_the_path() -> None:
    arm = pl.Rigid().compile(anthropomorphic.robot(PAPER))
    np.testing.assert_allclose(
        arm.tip(arm.initial_state()[None])[0][0], path.end_path(np.zeros(1))[:, 0, 0], atol=1e-12
    )


def test_arms_start_as_their_case_says() -> None:
    rate = path.joint_path(np.zeros(1))[:, 1, 0]
    for case in CASES:
        seen = anthropomorphic.simulated(stepped(pl.Rigid(), 5e-3), case)
        np.testing.assert_allclose(seen.run.joint_rate[0], rate if case.moving else 0.0, atol=1e-12)
        np.testing.assert_allclose(seen.error[0], 0.0, atol=1e-12)


def test_elements_of_the_paper_bend_as_exact_links_that_cannot_shear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the numbers of expected.yaml for bars without shear come from: a thousandfold shear stiffness."""
    given = anthropomorphic.robot

    def without_shear(case: Case) -> pl.Robot:
        robot = given(case)
        links = [_stiffened(link) if isinstance(link, pl.FlexibleLink) else link for link in robot.links]
        return replace(robot, links=tuple(links))

    bent = anthropomorphic.simulated(stepped(PAPER_MESH, 1e-4), PAPER)
    monkeypatch.setattr(anthropomorphic, "robot", without_shear)
    exact = anthropomorphic.simulated(Choice(pl.GeometricallyExact(degree=5), pl.Gauss(order=4, step=5e-5)), PAPER)
    for link, printed in (("upper_arm", (1.742e-6, 1.167e-6)), ("forearm", (1.426e-7, 1.741e-7))):
        np.testing.assert_allclose(exact.largest(link), printed, rtol=1e-3)
        np.testing.assert_allclose(bent.largest(link), exact.largest(link), rtol=5e-3)


def _stiffened(link: pl.FlexibleLink) -> pl.FlexibleLink:
    stiffness, inertia = (np.diag(each(np.zeros(1))[0]).copy() for each in (link.stiffness, link.inertia))
    stiffness[1:3] *= 1e3
    section = pl.GeneralSection(stiffness=tuple(stiffness.tolist()), inertia=tuple(inertia.tolist()))
    return replace(link, section=section, material=None)


def test_controlled_arms_pickle() -> None:
    """The reference is computed, not a table, and goes with the model all the same."""
    model = anthropomorphic.controlled(COARSE.formulation, PAPER)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.inputs.joint_signals(TIMES), model.inputs.joint_signals(TIMES))


def test_the_outer_angle_is_what_its_reading_says(coarse: dict[Reading, two_links.Seen]) -> None:
    """Against the tip section of the inner link, or against the base."""
    for reading, seen in coarse.items():
        inner, outer = (np.arctan2(link.rotation[..., 1, 0], link.rotation[..., 0, 0]) for link in seen.links)
        given = OUTER.evaluate(seen.time)[0]
        angle = outer[:, 0] - (inner[:, -1] if reading is Reading.RELATIVE else 0.0) - given
        np.testing.assert_allclose(np.exp(1j * angle), 1.0, atol=1e-9)
        np.testing.assert_allclose(inner[:, 0], INNER.evaluate(seen.time)[0], atol=1e-9)


def test_an_absolute_angle_needs_a_hinge_that_stays_closed_and_passes_no_moment(
    coarse: dict[Reading, two_links.Seen],
) -> None:
    """The inner link carries the force at its tip alone: its curvature falls to zero there, as in no relative drive."""
    seen = coarse[Reading.ABSOLUTE]
    inner, outer = seen.links
    np.testing.assert_allclose(inner.position[:, -1], outer.position[:, 0], atol=1e-12)
    at_tip = {}
    for reading, each in coarse.items():
        moment = np.abs(each.model.observe(each.run.states, stations=9).link("inner").wrench[..., 5])
        at_tip[reading] = moment[:, -1].max() / moment.max()
    assert at_tip[Reading.ABSOLUTE] < 0.02  # four elements know moments between nodes, that at the tip by extrapolation
    assert at_tip[Reading.RELATIVE] > 0.15


def test_shadows_of_the_outer_link(coarse: dict[Reading, two_links.Seen]) -> None:
    """They differ by slope and deflection of the inner link at the elbow; with an absolute angle by the latter."""
    seen = coarse[Reading.ABSOLUTE]
    np.testing.assert_allclose(seen.outer[Shadow.MOVED_ELBOW], seen.outer[Shadow.ROOT_SECTION], atol=1e-9)
    for each in coarse.values():
        apart = np.abs(each.outer[Shadow.RIGID_ARM] - each.outer[Shadow.MOVED_ELBOW])
        elbow = np.linalg.norm(each.links[0].position[:, -1] - LENGTH * _along(INNER.evaluate(each.time)[0]), axis=1)
        assert (apart <= elbow + 1e-12).all()
        assert elbow.max() == pytest.approx(np.abs(each.inner).max(), rel=1e-2)


def _along(angle: np.ndarray) -> np.ndarray:
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], axis=1)
