"""A bracket of solid elements as the elbow of a steel arm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.equivalent_rigid_link.component_modes import basis, truncation
from pliant.formulations.equivalent_rigid_link.solid_body import reduced_body

LENGTH, HEIGHT, WIDTH, THICK = 0.12, 0.10, 0.04, 0.01
STEEL = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
Modes = pl.equivalent_rigid_link.Modes


@pytest.fixture(scope="module")
def bracket(tmp_path_factory: pytest.TempPathFactory) -> pl.ReducedLink:
    path: Path = tmp_path_factory.mktemp("bracket") / "bracket.vtu"
    pl.solids.write_bracket(path, LENGTH, HEIGHT, WIDTH, THICK)
    frames = (
        pl.solids.Interface(name="root", position=(0.0, 0.0, THICK / 2), node_set="root"),
        pl.solids.Interface(name="tip", position=(LENGTH - THICK / 2, 0.0, HEIGHT), node_set="tip"),
    )
    return pl.ReducedLink(name="elbow", source=pl.solids.MeshFile(path), material=STEEL, frames=frames)


def arm_of(bracket: pl.ReducedLink) -> pl.Robot:
    """Rod, bracket, rod; hinges at the base and behind the bracket."""
    rod = pl.Rectangle(0.02, 0.02)
    links = (pl.FlexibleLink("upper", 0.4, rod, STEEL), bracket, pl.FlexibleLink("fore", 0.3, rod, STEEL))
    joints = (
        pl.RevoluteJoint("shoulder", "base", "upper", axis=(0.0, 1.0, 0.0), initial_position=-0.6),
        pl.FixedJoint("bolts", "upper", "elbow"),
        pl.RevoluteJoint("elbow_pin", "elbow", "fore", axis=(0.0, 1.0, 0.0), initial_position=0.4),
    )
    return pl.Robot("steel_arm", links, joints, gravity=(0.0, 0.0, -9.81))


def test_ten_frequencies_of_the_reduced_bracket(bracket: pl.ReducedLink) -> None:
    """Craig-Bampton against all degrees of freedom of the same mesh, root clamped."""
    body = reduced_body(bracket)
    kept = truncation(body, basis(body, Modes(count=40), ("tip",)))
    assert len(body.free) > 3000
    assert np.abs(kept.error[:10]).max() < 1e-3


def test_rigid_body_properties(bracket: pl.ReducedLink) -> None:
    """Two boxes, by hand: mass, centre and inertia about the root."""
    inertia = reduced_body(bracket).rigid_inertia
    boxes = (  # size, centre; the root is at half the thickness
        (np.array([LENGTH, WIDTH, THICK]), np.array([LENGTH / 2, 0.0, THICK / 2])),
        (np.array([THICK, WIDTH, HEIGHT - THICK]), np.array([LENGTH - THICK / 2, 0.0, (HEIGHT + THICK) / 2])),
    )
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for size, center in boxes:
        m, c = STEEL.density * np.prod(size), center - np.array([0.0, 0.0, THICK / 2])
        mass, first = mass + m, first + m * c
        second += m * (np.diag(np.sum(size**2) - size**2) / 12.0 + (c @ c) * np.eye(3) - np.outer(c, c))
    assert inertia[0, 0] == pytest.approx(mass, rel=1e-10)
    hat = inertia[3:, :3]
    assert np.allclose([hat[2, 1], hat[0, 2], hat[1, 0]], first, rtol=0.0, atol=1e-10 * mass)
    assert np.allclose(inertia[3:, 3:], second, rtol=0.0, atol=1e-10 * np.abs(second).max())


def test_a_steel_arm_with_the_bracket_as_elbow(bracket: pl.ReducedLink) -> None:
    """It swings, keeps its energy, and moves as the rigid arm but for millimetres; its surface moves with it."""
    robot = arm_of(bracket)
    arm = pl.EquivalentRigidLink(elements=4, basis=Modes(count=4)).compile(robot)
    step = pl.Gauss(order=2, step=1e-3)
    run, rigid = (pl.simulate(each, 0.3, step, outputs=30) for each in (arm, pl.Rigid().compile(robot)))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-11
    apart = np.linalg.norm(run.tip_position - rigid.tip_position, axis=1).max()
    assert 1e-6 < apart < 2e-3
    # steps of order 2 put the swinging tip off by a part of the deflection, which is a quarter of a millimetre
    assert all("off by the steps" in each for each in run.warnings())
    triangles, nodes = arm.surface(run.states[[0, -1]], "elbow")
    assert len(triangles) > 100
    assert np.unique(triangles).max() < nodes.shape[1]
    # the root frame carries its face: distances of undeformed nodes stay, to the size of the deflection
    own = nodes - nodes.mean(axis=1, keepdims=True)
    stretched = np.linalg.norm(own[1], axis=1) - np.linalg.norm(own[0], axis=1)
    assert 0.0 < np.abs(stretched).max() < 1e-4
    with pytest.raises(pl.InvalidInput, match="no surface"):
        arm.surface(run.states[:1], "upper")
