"""The error of a given mesh is told in metres at the tip: against much finer meshes of the same formulation."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from benchmarks.accuracy_problems import HELD_OUT, MOTIONS, Motion
from pliant.model.error_estimate import indicated, telling_rows
from pliant.simulation.deflection_error import resolution
from pliant.simulation.mesh_error import of_given_mesh

ROBOT = pl.load(pl.library.path("steel_strip"))
SLEW = pl.PrescribedMotion("hub", pl.motions.Quintic(0.0, 1.5, 0.5))
ALL = MOTIONS | HELD_OUT
FINE, POSES = pl.GeometricallyExact(8, 2), pl.PoseElement(64)
CASES = {
    "strip, slewed": [
        (pl.GeometricallyExact(2), FINE),
        (pl.GeometricallyExact(2, 4), FINE),
        (pl.PoseElement(4), POSES),
        (pl.MixedElement(4), pl.MixedElement(64)),
        (pl.Corotational(2), pl.Corotational(32)),
        (pl.Lumped(2), pl.Lumped(40)),
        (pl.PseudoSpectral(2), pl.PseudoSpectral(10)),
        (pl.EquivalentRigidLink(2), pl.EquivalentRigidLink(16)),
    ],
    # inertia, which pose elements have at their nodes
    "strip, joint spring": [(pl.PoseElement(10), POSES), (pl.MixedElement(4), pl.MixedElement(64))],
    "rod falls": [(pl.PoseElement(4), POSES), (pl.MixedElement(8), pl.MixedElement(64))],
    "ball joint": [(pl.PoseElement(4), POSES), (pl.GeometricallyExact(3), FINE)],
    "free flight": [(pl.PoseElement(4), POSES)],
    # feedback, which bears a wrong inertia
    "two links, PD": [(pl.PoseElement(4), POSES), (pl.Corotational(2), pl.Corotational(16))],
    "L frame": [(pl.GeometricallyExact(2), FINE)],
    "universal joint": [(pl.Lumped(3), pl.Lumped(24)), (pl.EquivalentRigidLink(2), pl.EquivalentRigidLink(12))],
    # links that fold: modes alone would tell thirty times too much
    "rubber pendulum": [(pl.GeometricallyExact(3, 2), pl.GeometricallyExact(6, 10))],
}


def with_steps(motion: Motion, formulation: object) -> pl.Trajectory:
    """Steps so short, and the same for all meshes, that their error does not count."""
    model = motion.build(formulation)  # type: ignore[arg-type]
    return pl.simulate(model, motion.duration, pl.Gauss(min(4, model.highest_order), motion.duration / 1000))


@pytest.mark.parametrize(
    ("name", "mesh", "finest"), [(name, *pair) for name, pairs in CASES.items() for pair in pairs], ids=str
)
def test_the_error_of_a_mesh_is_told(name: str, mesh: object, finest: object) -> None:
    run, answer = (with_steps(ALL[name], each) for each in (mesh, finest))
    true = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    assert run.error is not None
    assert run.error.asked == 0.0
    assert 0.3 <= run.error.space / true <= 10.0
    assert run.error.total == run.error.time + run.error.space


@pytest.mark.parametrize("elements", [2, 5])
def test_the_inertia_of_masses_at_nodes_is_known(elements: int) -> None:
    """Of n equal parts of a rod, with half of the mass of each at each of its ends: a part 1 / 2 n^2 too much."""
    known = resolution(pl.PoseElement(elements).compile(ROBOT))
    assert known is not None
    inertia, off = known.inertia["hub"]
    own, finer = (1.0 + 0.5 / n**2 for n in (elements, 2 * elements))
    mass = 7850.0 * 0.03 * 0.005 * 1.0
    assert inertia == pytest.approx(mass / 3.0 * finer, rel=1e-3)
    assert off == pytest.approx(own / finer - 1.0, rel=1e-3)


def held(mesh: pl.GeometricallyExact | pl.MixedElement | pl.Rigid, robot: pl.Robot = ROBOT) -> pl.Arm:
    return pl.connect(mesh.compile(robot), SLEW)


def test_it_is_in_the_summary_and_in_the_file(tmp_path: Path) -> None:
    run = pl.simulate(held(pl.GeometricallyExact(3)), 1.0, pl.Gauss(order=4, step=1e-3))
    assert run.error is not None
    told = {line.name: line.value for line in run.summary()}
    assert told["estimated error of the tips by mesh"] == run.error.space
    assert told["estimated error of the tips by steps and mesh"] == run.error.total
    assert told["estimated error over the reach"] == run.error.relative
    assert "alone" not in str(run.error)
    run.save(tmp_path / "run.nc")
    assert pl.load_trajectory(tmp_path / "run.nc").error == run.error


def test_a_coarse_mesh_is_warned_of_once() -> None:
    for mesh in (pl.GeometricallyExact(1), pl.GeometricallyExact(2), pl.MixedElement(7)):
        run = pl.simulate(held(mesh), 1.0, pl.Gauss(order=4, step=1e-3))
        assert len([each for each in run.warnings() if "too coarse" in each]) == 1
        assert run.error is not None
        assert run.error.reached == (run.error.relative <= 1e-2)


def none_of(build: Callable[[], pl.Trajectory]) -> str:
    run = build()
    assert run.error is not None
    assert np.isnan(run.error.space)
    return str(run.error)


def test_what_is_not_known_is_said() -> None:
    """Rigid links have no mesh, a tip that a loop holds hardly moves by deflections, few rows have no frequencies."""
    bar, short = MOTIONS["four-bar"], pl.Gauss(order=4, step=2.5e-3)
    assert "by the steps alone" in none_of(lambda: pl.simulate(held(pl.Rigid()), 0.5, pl.Gauss(2, 1e-2)))
    assert "by the steps alone" in none_of(lambda: pl.simulate(bar.build(pl.GeometricallyExact(3)), 0.2, short))
    assert "by the steps alone" in none_of(lambda: pl.simulate(held(pl.GeometricallyExact(3)), 0.025, short))


def test_the_error_of_the_steps_stays_what_it_was() -> None:
    """It is that of the tip's own differences, whatever the mesh."""
    run = pl.simulate(held(pl.GeometricallyExact(3)), 1.0, pl.Gauss(order=2, step=2e-3))
    assert run.error is not None
    rows = telling_rows(run.time, 2, 2e-3)
    assert run.error.time == pytest.approx(indicated(run.time[rows], run.tip_position[rows], 2, 2e-3), rel=1e-12)


@pytest.mark.parametrize("formulation", [pl.PseudoSpectral(4), pl.GeometricallyExact(2)], ids=str)
def test_trials_do_not_tell_too_much_of_a_mesh_that_was_given(formulation: object) -> None:
    """The mesh before it is tens of times worse: by that alone 94 and 33 times the true error were told."""
    motion = MOTIONS["strip, slewed" if isinstance(formulation, pl.PseudoSpectral) else "strip, joint damper"]
    run = pl.simulate(motion.build(formulation), motion.duration, accuracy=3e-3, outputs=100)  # type: ignore[arg-type]
    finest = pl.PseudoSpectral(10) if isinstance(formulation, pl.PseudoSpectral) else FINE
    model = motion.build(finest)  # type: ignore[arg-type]
    answer = pl.simulate(model, motion.duration, pl.Gauss(min(4, model.highest_order), 2.5e-4), outputs=run.time)
    assert run.error is not None
    true = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    assert 0.3 <= run.error.total / true <= 10.0


def test_what_trials_and_modes_tell_of_a_mesh() -> None:
    assert of_given_mesh(1e-3, 1e-2) == 1e-3
    assert of_given_mesh(1e-1, 1e-3) == pytest.approx(3e-3)
    assert of_given_mesh(nan, 1e-3) == 1e-3
    assert of_given_mesh(1e-3, nan) == 1e-3
    assert np.isnan(of_given_mesh(nan, nan))
