"""The experiment runs and meets its numbers; the frame, its literal equations and its spectra stand on their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.experiments.vidoni2018 import frame, literal, published, responses, run, timings
from pliant.experiments.vidoni2018.frame import FOUR, Case, Models
from pliant.experiments.vidoni2018.responses import Input, Pace
from tests.support.reproduction import Again, check_numbers_and_figures, reproduced


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Again:
    return reproduced(run, tmp_path_factory)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Models:
    return Models(tmp_path_factory.mktemp("matrices"))


def test_all_numbers_are_met_and_all_figures_written(again: Again) -> None:
    check_numbers_and_figures(run, again)


def test_all_nine_tables_are_written(again: Again) -> None:
    text = (again[0] / "tables.md").read_text()
    for number in ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"):
        assert f"## Table {number}:" in text
    # as printed: the last mode of Table II, a peak of Table IV, a mean and a reduction of Table VI
    for printed in ("25068.96", "265.5", "| 6.46 |", "99.69"):
        assert printed in text


def test_every_printed_frequency_and_peak_is_expected() -> None:
    """Counted in the paper: 12, 12 and 24 modes, 100 and 52 peaks, 22 cells of three times."""
    assert sorted(len(row) for row in published.frequencies().values()) == [12, 12, 24]
    counts = {table: sum(len(row) for row in published.peaks(table).values()) for table in ("IV", "VII")}
    assert counts == {"IV": 100, "VII": 52}
    assert [len(times) for times in timings.published().runs.values()] == [22, 22]


def test_files_of_matrices_are_the_frame_of_the_text(models: Models) -> None:
    robot = frame.robot_of(models.files[4])
    link = robot.links[0]
    assert isinstance(link, pl.ReducedLink)
    rods = 2 * frame.DENSITY * frame.SIDE**2 * frame.LENGTH
    assert link.mass == pytest.approx(rods + frame.ELBOW_MASS, rel=1e-12)
    np.testing.assert_allclose(link.undeformed.tip_position, (0.5, -0.5, 0.0), atol=1e-15)
    # hanging, rod 1 points down; 135 degrees further it points upwards
    tips = [models.arm(FOUR).tip(models.arm(FOUR).undeformed(np.array([angle])))[0] for angle in (0.0, frame.START)]
    np.testing.assert_allclose(np.ravel(tips[0]), (0.5, 0.0, -0.5), atol=1e-12)
    assert np.ravel(tips[1])[2] == pytest.approx(0.5 * np.sqrt(0.5), rel=1e-12)


def test_one_body_and_two_links_fall_alike(models: Models) -> None:
    """Their linear equations are the same; the second link turns with the first only where it is a link of its own."""
    kinds = pl.equivalent_rigid_link
    two = pl.EquivalentRigidLink(
        elements=2, basis=kinds.Nodal(), element=kinds.BeamElement.LINEAR, mass=kinds.MassMatrix.LUMPED
    ).compile(frame.two_links())
    tips = [
        pl.simulate(arm, until=0.5, integrator=pl.Gauss(order=2, step=5e-4), outputs=100).tip_position
        for arm in (models.arm(FOUR), two)
    ]
    away = np.linalg.norm(tips[0] - tips[1], axis=1).max()
    assert 1e-6 < away < 5e-4


def test_all_kept_modes_are_the_finite_elements(models: Models) -> None:
    arm = pl.EquivalentRigidLink(basis=pl.equivalent_rigid_link.Nodal()).compile(frame.robot_of(models.files[4]))
    tips = [
        pl.simulate(each, until=0.3, integrator=pl.Gauss(order=2, step=5e-4), outputs=50).tip_position
        for each in (arm, models.arm(FOUR))
    ]
    assert np.abs(tips[0] - tips[1]).max() < 1e-9


@pytest.mark.parametrize("word", [False, True])
def test_literal_equations_are_right_where_nothing_deforms_or_turns(word: bool) -> None:
    """At rest and undeformed both readings agree: the rigid pendulum's acceleration, and linear vibrations."""
    body = literal.TurningFrame.of(Case(4, 30, 8), word)
    other = literal.TurningFrame.of(Case(4, 30, 8), not word)
    state = np.zeros(6)
    state[0] = frame.START
    np.testing.assert_allclose(body.rates(state), other.rates(state), rtol=1e-12)
    state[1:3] = 1e-3, -2e-3
    assert np.abs(body.rates(state) - other.rates(state)).max() > 1e-6


def test_full_equations_have_the_energy_of_the_package(models: Models) -> None:
    body, arm = literal.TurningFrame.of(literal.CASE, False), models.arm(literal.CASE)
    run = pl.simulate(arm, until=0.1, integrator=pl.Gauss(order=2, step=1e-4), outputs=1)
    m = len(body.squares)
    # the signs of modes are open, the sum of energies is not
    energies = [sum(float(np.ravel(part)[0]) for part in arm.energy(run.states[[k]])) for k in (0, -1)]
    assert energies[1] == pytest.approx(energies[0], abs=1e-12)
    still = np.zeros(2 + 2 * m)
    rise = [body.energy(np.r_[angle, still[1:]]) for angle in (0.0, frame.START)]
    fallen = [
        sum(float(np.ravel(part)[0]) for part in arm.energy(arm.undeformed(np.array([[angle]]))))
        for angle in (0.0, frame.START)
    ]
    assert rise[1] - rise[0] == pytest.approx(fallen[1] - fallen[0], rel=1e-12)


def test_the_spectrum_takes_the_warp_of_the_midpoint_rule_back(models: Models) -> None:
    """With steps of 1 ms the line at 171.87 Hz is seen at 164 Hz; its frequency is told right all the same."""
    seen = responses.respond(models.arm(FOUR, heavy=False), Input.TORQUE, Pace(1e-3, 1))
    plain = np.fft.rfftfreq(len(seen.acceleration), 1e-3)
    band = (seen.frequency > 150.0) & (seen.frequency < 190.0)
    top = np.flatnonzero(band)[seen.amplitude[band].argmax()]
    assert seen.frequency[top] == pytest.approx(171.87, abs=1.0)
    assert plain[top] < 160.0


def test_explicit_steps_beyond_the_stability_limit_fail(models: Models) -> None:
    arm = models.arm(Case(4, 30, 14))
    step = timings.stable_step(models, Case(4, 30, 14))
    long = pl.simulate(arm, until=0.2, integrator=pl.RungeKuttaGill(step=1.3 * step), outputs=1)
    assert not long.ending.completed or np.abs(long.tip_deflection).max() > 1.0


def test_matrices_may_be_written_anywhere(tmp_path: Path) -> None:
    path = frame.write_matrices(tmp_path, 2)
    assert path.parent == tmp_path
    with np.load(path) as held:
        assert held["stiffness"].shape == held["mass"].shape == (18, 18)
        assert np.array_equal(held["mass"], np.diag(np.diag(held["mass"])))
