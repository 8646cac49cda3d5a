"""Two ways of knowing the same motion stay together for as long as anybody watches.

The shape comes from the strains; nothing ties it to the twists but the equations of the mesh. So the tip
velocity of the rebuilt shape may differ from the twist at the tip, and the potential energy of the shape from
the entered work of gravity, by the error of the mesh and no more.
"""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.spatial.arrays import bracket as adjoint_of_twist
from pliant.spatial.arrays import pose_from_twist
from tests.support.arms import ASIDE, INERTIA, STIFFNESS, tumbler

# A little material damping, as any material has, keeps the motion of a soft arm to waves that a mesh resolves.
SECTION = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=1e-3)
LONG = 100.0


def tumbled(degree: int) -> pl.Trajectory:
    arm = pl.GeometricallyExact(degree=degree).compile(tumbler(ASIDE, section=SECTION))
    trajectory = pl.simulate(arm, LONG, pl.Gauss(order=4, step=2e-3, tolerance=1e-11), outputs=2000)
    assert trajectory.ending.completed, trajectory.ending
    return trajectory


@pytest.fixture(scope="module")
def tumbles() -> dict[int, pl.Trajectory]:
    return {degree: tumbled(degree) for degree in (3, 4, 5, 6, 7)}


# Without any damping the motion of a soft arm becomes chaos of ever shorter waves, which no mesh resolves. One a
# thousand times stiffer keeps to its first modes for as long as the soft one is watched.
STIFF = pl.GeneralSection(stiffness=tuple(1000.0 * c for c in STIFFNESS), inertia=INERTIA)


@pytest.fixture(scope="module")
def undamped() -> dict[int, pl.Trajectory]:
    trajectories = {}
    for degree in (1, 2, 3):
        arm = pl.GeometricallyExact(degree=degree).compile(tumbler(ASIDE, section=STIFF))
        integrator = pl.Gauss(order=6, step=5e-3, tolerance=1e-11)
        trajectories[degree] = pl.simulate(arm, LONG, integrator, outputs=2000)
        assert trajectories[degree].ending.completed, trajectories[degree].ending
    return trajectories


def worst(values: np.ndarray) -> float:
    return float(np.abs(values).max())


def mean_size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def test_the_arm_really_tumbles(tumbles: dict[int, pl.Trajectory]) -> None:
    """Over 5 m/s at the tip, over a tenth of its length of deflection, still swinging at the end."""
    trajectory = tumbles[7]
    speed = np.linalg.norm(trajectory.tip_twist[:, :3], axis=1)
    assert speed.max() > 5.0
    assert speed[-200:].max() > 1.0
    assert np.linalg.norm(trajectory.tip_deflection, axis=1).max() > 0.1
    assert np.ptp(trajectory.ledger.gravity) > 1.0


def test_consistency_error_falls_spectrally_with_the_degree(tumbles: dict[int, pl.Trajectory]) -> None:
    """From degree 3 on, a factor of five for each degree in the mean of two, until below 1e-7 of the motion."""
    twist = {degree: worst(run.consistency_error.twist) for degree, run in tumbles.items()}
    gravity = {degree: worst(run.consistency_error.gravity) for degree, run in tumbles.items()}
    for degree in (3, 4):
        assert twist[degree] > 25.0 * twist[degree + 2], twist
        assert gravity[degree] > 25.0 * gravity[degree + 2], gravity
    assert twist[4] > 125.0 * twist[7], twist
    assert gravity[4] > 125.0 * gravity[7], gravity
    assert twist[7] < 1e-5  # m/s, of 6 m/s
    assert gravity[7] < 1e-7  # J, of 1.4 J


@pytest.mark.parametrize("degree", [4, 5, 6])
def test_consistency_error_does_not_grow_in_time(tumbles: dict[int, pl.Trajectory], degree: int) -> None:
    """The second half adds nothing: what is there came with the fastest motion at the beginning."""
    run = tumbles[degree]
    half = len(run.time) // 2
    assert worst(run.consistency_error.twist[half:]) <= worst(run.consistency_error.twist[:half])
    assert worst(run.consistency_error.gravity[half:]) <= 1.2 * worst(run.consistency_error.gravity[:half])


def test_without_damping_consistency_error_falls_spectrally(undamped: dict[int, pl.Trajectory]) -> None:
    """In the mean over 100 s, in which single times are chance: what is slightly disturbed tumbles otherwise.

    Over four orders and steps in time the twist fell by 60 to 490 and by 9 to 23 from degree to degree and the
    energy, which adds up errors of either sign and so wanders, by 25 to 900 from degree 1 to 3.
    """
    assert np.linalg.norm(undamped[3].tip_twist[-200:, :3], axis=1).max() > 5.0  # nothing slowed it down
    assert worst(undamped[3].ledger.residual) < 1e-9
    twist = {degree: mean_size(run.consistency_error.twist) for degree, run in undamped.items()}
    gravity = {degree: mean_size(run.consistency_error.gravity) for degree, run in undamped.items()}
    assert twist[1] > 25.0 * twist[2], twist
    assert twist[2] > 5.0 * twist[3], twist
    assert gravity[1] > 10.0 * gravity[3], gravity
    assert twist[3] < 1e-8  # m/s, of 6 m/s
    assert gravity[3] < 1e-8  # J, of 1.8 J


def test_without_damping_consistency_error_does_not_grow(undamped: dict[int, pl.Trajectory]) -> None:
    """The last quarter is like the first three: an error of velocity that piled up would stand out."""
    for run in undamped.values():
        *before, last = np.array_split(run.consistency_error.twist, 4)
        assert mean_size(last) < 3.0 * max(mean_size(part) for part in before)


def pose_of(rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, position
    return pose


def carried_along(start: np.ndarray, twist: np.ndarray, h: float) -> np.ndarray:
    """The pose that body twists at equal distances in time lead to, to fourth order: Magnus' series over two steps."""
    pose = start
    for first, middle, last in zip(twist[:-2:2], twist[1:-1:2], twist[2::2], strict=True):
        bracket = adjoint_of_twist(first) @ last
        pose = pose @ pose_from_twist(h / 3 * (first + 4 * middle + last) + h**2 / 3 * bracket)
    return pose


def test_twists_added_up_lead_to_the_shape_and_miss_it_less_with_the_degree() -> None:
    """Two seconds of tumbling, 2000 twists of the tip integrated, against the pose that the strains give at the end.

    Degree 1 missed it by 6.7e-3 m, degree 2 by 1.7e-5 m, degree 7 by 1.2e-7 m, where the error in time begins.
    """
    missed = {}
    for degree in (1, 2, 7):
        arm = pl.GeometricallyExact(degree=degree).compile(tumbler(ASIDE, section=SECTION))
        run = pl.simulate(arm, 2.0, pl.Gauss(order=4, step=1e-3, tolerance=1e-11), outputs=2000)
        ends = [pose_of(run.tip_rotation[k], run.tip_position[k]) for k in (0, -1)]
        reached = carried_along(ends[0], run.tip_twist, 1e-3)
        missed[degree] = np.linalg.norm(reached[:3, 3] - ends[1][:3, 3])
    assert missed[1] > 100.0 * missed[2], missed
    assert missed[2] > 30.0 * missed[7], missed
    assert missed[7] < 1e-6, missed  # m, after a way of several metres


def test_a_mesh_that_is_fine_enough_warns_of_nothing(tumbles: dict[int, pl.Trajectory]) -> None:
    assert tumbles[5].warnings() == []


@pytest.mark.parametrize(("degree", "matters"), [(1, True), (8, False)])
def test_a_mesh_that_is_too_coarse_is_warned_of(degree: int, matters: bool) -> None:
    """Ten times softer: one straight-line element cannot follow, a polynomial of degree 8 can."""
    soft = pl.GeneralSection(stiffness=tuple(0.1 * c for c in STIFFNESS), inertia=INERTIA, damping=1e-3)
    arm = pl.GeometricallyExact(degree=degree).compile(tumbler(ASIDE, section=soft))
    trajectory = pl.simulate(arm, 2.0, pl.Gauss(order=4, step=2e-3))
    assert trajectory.ending.completed, trajectory.ending
    text = "\n".join(trajectory.warnings())
    assert ("consistency error of tip velocity reaches" in text) is matters
    assert ("consistency error of potential energy reaches" in text) is matters
    assert ("raise the degree or the number of elements" in text) is matters
