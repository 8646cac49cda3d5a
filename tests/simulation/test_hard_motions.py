"""Motions that Newton's method follows with difficulty: found by drawing arms by lot, each once died or was missed."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl


def link(name: str, length: float, stiffness: tuple[float, ...], inertia: tuple[float, ...]) -> pl.FlexibleLink:
    """Stiffness: tension, shear, torsion, bending about y and z; inertia: per metre, and about x, y and z."""
    tension, shear, *turning = stiffness
    mass, *about = inertia
    section = pl.GeneralSection(stiffness=(tension, shear, shear, *turning), inertia=(mass, mass, mass, *about))
    return pl.FlexibleLink(name, length, section=section)


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3])
def test_steps_with_which_a_trial_died_are_not_taken(accuracy: float) -> None:
    """A swing of two strips folds flat, where its loop hardly holds. Trials with up to four steps in a base step did
    not end, one with eight showed that four would do, and the run with four was the answer, though it died."""
    left = link("left", 0.912, (7.58e6, 2.43e6, 10.5, 684.0, 6.83), (0.292, 2.66e-5, 2.64e-5, 2.63e-7))
    right = link("right", 0.912, (6.92e6, 2.22e6, 14.4, 117.6, 9.39), (0.0922, 1.69e-6, 1.57e-6, 1.25e-7))
    bar = pl.RigidLink("bar", tip_position=(0.4566, 0.0, 0.0), mass=0.3, inertia=(1e-4, 1e-3, 1e-3))
    joints = (
        pl.RevoluteJoint("a", "base", "left", initial_position=1.2),
        pl.RevoluteJoint("c", "left", "bar", initial_position=-1.2),
        pl.RevoluteJoint("b", "base", "right", position=(0.4566, 0.0, 0.0), initial_position=1.2),
    )
    end = pl.joints.LoopJoint("end", pl.joints.LoopKind.REVOLUTE, pl.At("bar"), pl.At("right"))
    swing = pl.Robot("swing", (left, bar, right), joints, loops=(end,), gravity=(0.0, -9.81, 0.0))
    times = np.linspace(0.0, 0.895, 41)
    run = pl.simulate(pl.GeometricallyExact().compile(swing), 0.895, outputs=times, accuracy=accuracy)
    assert run.ending.completed, run.ending
    # 2 000 steps by degree 7 change it by less than 1e-6 m
    fine = pl.simulate(pl.GeometricallyExact(8).compile(swing), 0.895, pl.Gauss(6, 0.895 / 4000), outputs=times)
    assert np.linalg.norm(run.tip_position - fine.tip_position, axis=1).max() < accuracy * run.error.scale


def test_a_run_whose_steps_are_halved_again_and_again_is_not_believed() -> None:
    """The second link rolls about its own axis, where it has hardly any inertia. A first run of 32 steps took a hundred
    iterations in each and told a tenth of its error, which was 1.2 times what was asked."""
    upper = link("upper", 0.44867767, (1713286.7, 549130.4, 60.429580, 169.2592, 39.279227), (0.6853147, 8.3415e-5,
        6.7704e-5, 1.57117e-5))  # fmt: skip
    lower = link("lower", 0.9590551, (5098383.0, 1634097.1, 6.1633581, 27.869479, 4.0061828), (0.19523077, 1.2206e-6,
        1.0672e-6, 1.53407e-7))  # fmt: skip
    shoulder = pl.RevoluteJoint("shoulder", "base", "upper", initial_rate=-1.346076955533385)
    roll = pl.RevoluteJoint("roll", "upper", "lower", axis=(1.0, 0.0, 0.0), initial_rate=2.9924789423637073)
    robot = pl.Robot("rolling", (upper, lower), (shoulder, roll), gravity=(0.0, -9.81, 0.0))
    until = 1.1223039432967306
    times = np.linspace(0.0, until, 41)
    run = pl.simulate(pl.GeometricallyExact().compile(robot), until, outputs=times, accuracy=1e-2)
    fine = pl.simulate(pl.GeometricallyExact(8, 2).compile(robot), until, pl.Gauss(6, until / 4000), outputs=times)
    assert np.linalg.norm(run.tip_position - fine.tip_position, axis=1).max() < 1e-2 * run.error.scale


@pytest.mark.parametrize(("degree", "elements", "step"), [(4, 1, 1e-4), (9, 2, 2e-4), (9, 2, 1e-4)])
def test_rounding_at_a_stop_does_not_end_a_run(degree: int, elements: int, step: float) -> None:
    """In short steps rounding moves what a stiff stop holds by up to 6e-9 of the reach from one iteration to the next,
    more than the tolerance; the energy is balanced to rounding all the while."""
    strip = link("strip", 0.87, (7.83e6, 2.51e6, 6.58, 145.2, 4.28), (0.3, 5.72e-6, 5.56e-6, 1.64e-7))
    hinge = pl.RevoluteJoint("hinge", "base", "strip", limits=pl.joints.Limits(-0.28, 0.28, 6000.0, 0.2))
    robot = pl.Robot("arm", (strip,), (hinge,), gravity=(0.0, 0.0, 0.0))
    drive = pl.JointPD(pl.motions.Quintic(0.0, 0.57, 0.57), 770.0, 1.65)
    model = pl.connect(pl.GeometricallyExact(degree, elements).compile(robot), drive)
    run = pl.simulate(model, 0.7, pl.Gauss(6, step, tolerance=1e-10), outputs=10)
    assert run.ending.completed, run.ending
    assert run.ledger.worst_ratio < 1e-10
