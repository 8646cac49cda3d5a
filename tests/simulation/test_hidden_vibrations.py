"""Vibrations that are too fast for the steps, and that tips do not show at ends of steps.

Order 4 turns so fast a vibration by nearly a whole cycle in a step, and its ends look slow; Radau brings it to rest.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl

STEEL = pl.Material(name="steel", young=2.1e11, density=7850.0, poisson=0.3)
ALUMINIUM, CARBON = (7.0e10, 2700.0), (1.2e11, 1600.0)


def strip(material: tuple[float, float], length: float, width: float, thickness: float, **joint: object) -> pl.Robot:
    """A strip that bends easily in the plane of its hinge, under gravity along the hinge."""
    modulus, density = material
    area, shear = width * thickness, modulus / 2.6
    thin, wide = width * thickness**3 / 12.0, thickness * width**3 / 12.0
    section = pl.GeneralSection(
        stiffness=(
            modulus * area,
            shear * area / 1.2,
            shear * area / 1.2,
            4.0 * shear * thin,
            modulus * wide,
            modulus * thin,
        ),
        inertia=(density * area,) * 3 + (density * (thin + wide), density * wide, density * thin),
    )
    hinge = pl.RevoluteJoint("hinge", parent="base", child="strip", axis=(0.0, 0.0, 1.0), **joint)  # type: ignore[arg-type]
    link = pl.FlexibleLink("strip", length=length, section=section)
    return pl.Robot("strip", links=(link,), joints=(hinge,), gravity=(0.0, 0.0, -9.81))


def told_and_true(arm: pl.Arm, until: float, accuracy: float, answer: pl.Trajectory) -> tuple[float, float]:
    run = pl.simulate(arm, until, outputs=answer.time, accuracy=accuracy)
    assert run.error is not None
    off = np.linalg.norm(run.tip_position - answer.tip_position, axis=1).max()
    return run.error.relative, float(off) / run.error.scale


def fine(robot: pl.Robot, until: float, *components: pl.JointPD) -> pl.Trajectory:
    """4 000 steps of order 6 by degree 8, which 2 000 by degree 7 change by less than 2e-6 of the reach."""
    arm = pl.connect(pl.GeometricallyExact(8).compile(robot), *components)
    return pl.simulate(arm, until, pl.Gauss(6, until / 4000), outputs=np.linspace(0.0, until, 41))


@pytest.mark.parametrize("accuracy", [1e-3, 1e-4, 1e-5])
def test_what_gauss_collocation_hides_is_told(accuracy: float) -> None:
    """Gravity is let go across the plane of the move: the strip sags by 5e-5 m and swings about that at 115 Hz. A first
    run of 54 steps told 4e-6 of the reach and was 1e-4 off."""
    robot = strip(ALUMINIUM, 0.45, 0.0283, 0.0057, damping=2.2)
    drive = pl.JointPD(pl.motions.Quintic(0.0, 0.41, 0.6), 112.0, 1.24)
    arm = pl.connect(pl.GeometricallyExact().compile(robot), drive)
    told, true = told_and_true(arm, 0.936, accuracy, fine(robot, 0.936, drive))
    assert true <= accuracy
    assert 0.2 * true <= told <= 20.0 * true  # at 1e-5 runs are much better than they need be


@pytest.mark.parametrize("accuracy", [1e-2, 1e-3])
def test_what_radau_brings_to_rest_is_told(accuracy: float) -> None:
    """Friction stops the hub in 4 ms and leaves the strip swinging at 36 Hz; by 16 steps of 72 ms Radau hangs still:
    1.4e-2 off, and 3.5e-5 was told."""
    rubbing = pl.joints.Friction(0.175, smoothing_rate=0.05)
    robot = strip(CARBON, 0.272, 0.00915, 0.00189, damping=0.08, friction=rubbing, initial_rate=-3.67)
    told, true = told_and_true(pl.GeometricallyExact().compile(robot), 1.15, accuracy, fine(robot, 1.15))
    assert true <= accuracy
    assert 0.3 * true <= told <= 10.0 * true


def test_the_order_in_which_joints_are_written_changes_no_search() -> None:
    """Positions of tips come in the order of the chain, their velocities in that of the joints as they were written."""
    long, short = (
        pl.FlexibleLink(name, length, pl.Rectangle(0.003, 0.02), STEEL)
        for name, length in (("long", 0.9), ("short", 0.3))
    )
    joints = (
        pl.RevoluteJoint("shoulder", "base", "long", initial_rate=2.0),
        pl.RevoluteJoint("elbow", "long", "short", initial_rate=-5.0),
    )
    runs = [
        pl.simulate(
            pl.GeometricallyExact().compile(pl.Robot("arm", (long, short), order, gravity=(0.0, 0.0, -9.81))),
            0.5,
            outputs=10,
            accuracy=1e-4,
        )
        for order in (joints, joints[::-1])
    ]
    assert runs[0].statistics["steps"] == runs[1].statistics["steps"]
    assert runs[0].error.total == pytest.approx(runs[1].error.total, rel=1e-6)
