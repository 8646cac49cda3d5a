"""A trajectory shows what the model says, once, and only when asked."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

from pliant.errors import InvalidInput
from pliant.model.contract import Model
from pliant.model.state import Array, Cause, Ending, Observation
from pliant.results import Trajectory
from pliant.robot import loads
from tests.support.fake_arm import HAND, ROBOT, UPPER, FakeArm, fake_trajectory, record_of


class CountingArm(FakeArm):
    """Notes how often and how finely the shape is asked for."""

    @cached_property
    def asked(self) -> list[int]:
        return []

    def observe(self, states: Array, stations: int = 21) -> Observation:
        self.asked.append(stations)
        return super().observe(states, stations)


def test_the_fake_arm_meets_the_contract() -> None:
    assert isinstance(FakeArm(), Model)


def test_the_shape_is_worked_out_once_and_only_when_asked() -> None:
    arm = CountingArm()
    trajectory = Trajectory.from_record(arm, record_of(arm, np.linspace(0, 2, 5)), {}, 1.0)
    assert arm.asked == []
    for _ in range(2):
        assert trajectory.tip_position.shape == (5, 3)
    assert arm.asked == [2], "the fake arm answers for its tip by looking at both ends"
    for _ in range(2):
        assert trajectory.joint_rate.shape == (5, 2)
    assert arm.asked == [2, 2]
    for _ in range(2):
        assert trajectory.link("upper").strain.shape == (5, 21, 6)
        assert trajectory.observation.tip_twist.shape == (5, 6)
    assert arm.asked == [2, 2, 21]


def test_it_prints_as_what_it_is_without_looking_at_the_shape() -> None:
    arm = CountingArm()
    choices = {"integrator": "Gauss(<Kind.A: 'a'>)"}
    trajectory = Trajectory.from_record(arm, record_of(arm, np.linspace(0, 2, 5)), choices, 1.0)
    lines = repr(trajectory).splitlines()
    assert lines[:3] == [
        "Trajectory of robot 'fake', completed at t = 2 s",
        "  time: 0 to 2 s, 5 states saved",
        "  joints: shoulder, wrist",
    ]
    assert "  integrator: Gauss(Kind.A)" in lines
    assert "<tr><th>integrator</th><td>Gauss(Kind.A)</td></tr>" in trajectory._repr_html_()
    assert arm.asked == []


def test_blocks_of_the_state_have_their_own_shape() -> None:
    trajectory = fake_trajectory()
    assert np.array_equal(trajectory.state("joints"), trajectory.joint_position)
    assert trajectory.state("curvature").shape == (101, 1)


def test_tip_deflection_is_measured_from_the_undeformed_arm() -> None:
    trajectory = fake_trajectory()
    curvature = trajectory.state("curvature")[:, 0]
    # Independent of the fake: the chord of an arc of angle b and radius 1/k, and the hand turned by b.
    bent = np.where(np.abs(curvature) < 1e-9, 1e-9, curvature)
    wrist = trajectory.joint_position[:, 1]
    arc = np.stack([np.sin(bent * UPPER) / bent - UPPER, (1 - np.cos(bent * UPPER)) / bent], axis=1)
    hand = HAND * np.stack([np.cos(bent + wrist) - np.cos(wrist), np.sin(bent + wrist) - np.sin(wrist)], axis=1)
    expected = np.linalg.norm(arc + hand, axis=1)
    assert np.linalg.norm(trajectory.tip_deflection, axis=1) == pytest.approx(expected, abs=1e-8)


def test_quaternions_turn_like_the_matrices_and_do_not_jump() -> None:
    arm = FakeArm()
    angle = np.linspace(0.0, 6 * math.pi, 200)
    record = record_of(arm, np.linspace(0.0, 2.0, 200))
    record.states[:, 0], record.states[:, 1], record.states[:, 4] = angle, 0.0, 0.0
    quaternion = Trajectory.from_record(arm, record, {}, 1.0).tip_quaternion
    # A turn by a about z is (cos a/2, 0, 0, sin a/2), followed through three whole turns.
    expected = np.stack([np.cos(angle / 2), 0 * angle, 0 * angle, np.sin(angle / 2)], axis=1)
    assert quaternion == pytest.approx(expected, abs=1e-12)


def test_an_unknown_link_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"^link 'forearm' is not in this trajectory; its links are upper, hand$"):
        fake_trajectory().link("forearm")


def test_provenance_can_rebuild_the_robot_and_names_the_choices() -> None:
    provenance = fake_trajectory().provenance
    assert loads(provenance.robot) == ROBOT
    assert provenance.choices == {"formulation": "ByHand(bends=True)", "integrator": "Gauss(order=4, step=0.001)"}
    assert set(provenance.versions) == {"pliant", "python", "numpy", "numba"}
    assert provenance.versions["numpy"] == np.__version__


def test_real_time_factor_is_simulated_over_wall_time() -> None:
    assert fake_trajectory().real_time_factor == pytest.approx(2.0 / 0.05)


def test_summary_reports_cost_and_ledger() -> None:
    lines = {line.name: line for line in fake_trajectory().summary()}
    assert lines["steps"].value == 2000
    assert lines["Newton iterations per step"].value == 2.5
    assert lines["worst energy residual of a step, relative"].value == 1e-14
    assert lines["largest tip deflection"].unit == "m"
    assert lines["ending"].value == "completed"
    assert str(lines["ending"]) == "ending: completed"
    assert str(lines["real-time factor"]) == "real-time factor: 40"
    assert str(lines["simulated time"]) == "simulated time: 2 s"


def test_summary_says_where_another_formulation_computed_than_asked() -> None:
    run = fake_trajectory()
    assert "substitution" not in {line.name for line in run.summary()}
    told = replace(run, source=replace(run.source, choices={"substitution": "strong computes in place of choosy"}))
    assert [line.value for line in told.summary() if line.name == "substitution"] == [
        "strong computes in place of choosy"
    ]


def test_all_is_well_gives_no_warning() -> None:
    assert fake_trajectory().warnings() == []


def test_an_early_end_and_an_open_ledger_are_named() -> None:
    ending = Ending(Cause.NOT_CONVERGED, 1.25, "link upper", "shorten the step")
    early, ledger = fake_trajectory(ending=ending, exact_to=3e-7).warnings()
    assert early == ("the run stopped at t = 1.25 s: Newton's method did not converge at link upper; shorten the step")
    assert ledger.startswith("the energy ledger misses 3.0e-07 of the energy exchanged in the step at t = 0.5 s")


@pytest.mark.parametrize(("factor", "warns"), [(0.9, False), (1.1, True), (math.nan, True)])
def test_a_consistency_error_above_one_percent_of_the_tip_speed_is_named(factor: float, warns: bool) -> None:
    trajectory = fake_trajectory()
    speed = np.linalg.norm(trajectory.tip_twist[:, :3], axis=1).max()
    trajectory.consistency_error.twist[:] = factor * 1e-2 * speed
    assert (
        any(
            "consistency error of tip velocity" in text and "raise the degree" in text for text in trajectory.warnings()
        )
        is warns
    )


@pytest.mark.parametrize(("factor", "warns"), [(0.9, False), (1.1, True)])
def test_a_consistency_error_above_one_percent_of_the_energy_exchanged_is_named(factor: float, warns: bool) -> None:
    trajectory = fake_trajectory()
    trajectory.consistency_error.gravity[-1] = -factor * 1e-2 * trajectory.ledger.exchanged[-1]
    assert any("consistency error of potential energy" in text for text in trajectory.warnings()) is warns
