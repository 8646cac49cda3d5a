"""Solids as elastic bodies, against beam theory and against what every free body obeys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.linalg import eigsh, spsolve

import pliant.robot as r
from pliant.experiments.closed_form.beam_vibration import natural_frequencies
from pliant.experiments.closed_form.timoshenko_beam import TimoshenkoBeam
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody
from pliant.formulations.equivalent_rigid_link.solid_body import reduced_body
from pliant.robot.nodal_body import rigid_motions
from pliant.robot.reduced_link import rotation_of
from tests.support.solids import CUBE, STEEL, TURNED, bar, truss, truss_link, write_bar, write_truss

LENGTH, DEPTH = 1.0, 0.05


@pytest.fixture(scope="module")
def slender(tmp_path_factory: pytest.TempPathFactory) -> r.ReducedLink:
    path = tmp_path_factory.mktemp("solids") / "bar.vtu"
    write_bar(path, (LENGTH, DEPTH, DEPTH), (20, 2, 2))
    return bar(path, LENGTH)


def refuse_resistance(body: ElasticBody) -> None:
    """A body free in space resists no rigid motion, and its frames and nodes move as they must."""
    assert np.abs(body.stiffness @ body.rigid).max() <= 1e-9 * abs(body.stiffness).max()
    points = rigid_motions(body.point_position, 3)
    assert np.abs(body.to_point @ body.rigid - points).max() <= 1e-12
    for frame in body.frames:
        assert np.allclose(body.rigid[frame.dofs], rigid_motions(frame.position[None], 6), atol=1e-15)


@pytest.mark.parametrize(("poisson", "within"), [(0.0, 5e-4), (0.3, 0.01)])  # beams do not contract at a clamp
def test_a_cantilever_bends_and_rings_as_a_timoshenko_beam(
    slender: r.ReducedLink, poisson: float, within: float
) -> None:
    material = replace(STEEL, poisson=poisson)
    body = reduced_body(replace(slender, material=material))
    free = body.free
    K, M = (matrix[free][:, free].tocsc() for matrix in (body.stiffness, body.mass))
    # Timoshenko with the shear factor of Cowper for a rectangle, 10 (1 + nu) / (12 + 11 nu)
    area, second, young, shear = DEPTH**2, DEPTH**4 / 12, STEEL.young, material.shear_modulus
    factor = 10 * (1 + poisson) / (12 + 11 * poisson)
    for axis in (1, 2):
        force = np.zeros(body.size)
        force[body.frames[-1].dofs[axis]] = 1.0
        deflection = spsolve(K, force[free])[np.searchsorted(free, body.frames[-1].dofs[axis])]
        assert deflection == pytest.approx(
            LENGTH**3 / (3 * young * second) + LENGTH / (factor * shear * area), rel=within
        )
    beam = TimoshenkoBeam(
        length=LENGTH,
        mass_per_length=STEEL.density * area,
        rotary_inertia_per_length=STEEL.density * second,
        bending_stiffness=young * second,
        shear_stiffness=factor * shear * area,
    )
    first = np.sqrt(np.sort(eigsh(K, 2, M, sigma=0.0, return_eigenvectors=False))) / (2 * np.pi)
    assert first == pytest.approx(np.full(2, natural_frequencies(beam, 1)[0]), rel=within)


def test_rigid_motions_meet_no_stiffness(slender: r.ReducedLink, tmp_path: Path) -> None:
    refuse_resistance(reduced_body(slender))
    write_truss(tmp_path / "truss.npz")
    refuse_resistance(reduced_body(truss_link(tmp_path / "truss.npz")))
    refuse_resistance(reduced_body(truss_link(tmp_path / "truss.npz", turned=True)))


def test_inertia_is_that_of_the_rigid_link(slender: r.ReducedLink, tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    for link in (slender, truss_link(tmp_path / "truss.npz", turned=True)):
        whole, rigid = reduced_body(link).rigid_inertia, link.undeformed
        assert whole[0, 0] == pytest.approx(rigid.mass, rel=1e-12)
        center = np.array([whole[5, 1] - whole[4, 2], whole[3, 2] - whole[5, 0], whole[4, 0] - whole[3, 1]]) / 2
        assert center / rigid.mass == pytest.approx(np.array(rigid.center_of_mass), abs=1e-12)


def test_frames_and_points_are_seen_from_the_root(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    link = truss_link(tmp_path / "truss.npz", turned=True)
    body, R = reduced_body(link), rotation_of(TURNED)
    assert [frame.name for frame in body.frames] == ["root", "tip"]
    assert body.frames[0].position == pytest.approx(np.zeros(3))
    assert body.frames[0].rotation == pytest.approx(np.eye(3))
    assert R @ body.frames[1].position == pytest.approx([1.0, 0.0, 0.0])
    assert R @ body.frames[1].rotation == pytest.approx(np.eye(3))
    assert body.point_position @ R.T + [0, 0.25, 0.25] == pytest.approx(CUBE)
    assert (body.damping - 1e-4 * body.stiffness).nnz == 0


def test_turned_axes_change_no_energy(tmp_path: Path) -> None:
    """Frequencies of the body clamped at its root do not depend on the axes of the root."""
    write_truss(tmp_path / "truss.npz")
    squares = []
    for turned in (False, True):
        body = reduced_body(truss_link(tmp_path / "truss.npz", turned))
        K, M = (matrix[body.free][:, body.free].toarray() for matrix in (body.stiffness, body.mass))
        squares.append(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    assert squares[1] == pytest.approx(squares[0], rel=1e-9)


def test_nodes_with_rotations(tmp_path: Path) -> None:
    """Nodes of a truss on whose rotations springs against their neighbour act; one of them is a frame."""
    mass, stiffness = truss()
    n = len(CUBE)
    moved = (6 * np.arange(n)[:, None] + np.arange(3)).ravel()
    M, K = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    M[np.ix_(moved, moved)], K[np.ix_(moved, moved)] = mass, stiffness
    tensor = np.array([[2e-3, 1e-4, 0], [1e-4, 1e-3, 0], [0, 0, 3e-3]])
    for k in range(n):
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = tensor
        if k + 1 < n:
            pair = np.r_[6 * k + 3 : 6 * k + 6, 6 * k + 9 : 6 * k + 12]
            K[np.ix_(pair, pair)] += 50.0 * np.kron([[1, -1], [-1, 1]], np.eye(3))
    write_truss(tmp_path / "spun.npz", mass=M, stiffness=K)
    link = truss_link(tmp_path / "spun.npz")
    link = replace(link, frames=(link.frames[0], r.Interface("tip", (1, 0, 0), nodes=(4,))))
    body = reduced_body(link)
    refuse_resistance(body)
    assert body.spin_inertia.shape == (n, 3, 3)
    assert body.to_spin.shape == (3 * n, body.size)
    assert np.abs(body.to_spin @ body.rigid - np.tile(np.eye(3, 6, 3), (n, 1))).max() == 0.0
    x = CUBE - [0, 0.25, 0.25]
    own = sum(0.7 * (p @ p * np.eye(3) - np.outer(p, p)) for p in x) + n * tensor
    assert body.rigid_inertia[3:, 3:] == pytest.approx(own, rel=1e-10)
    assert link.mass == pytest.approx(0.7 * n)


def test_the_deformed_surface_encloses_the_body(slender: r.ReducedLink) -> None:
    body = reduced_body(slender)
    corners = body.point_position[slender.body.triangles]
    assert np.linalg.det(corners).sum() / 6 == pytest.approx(LENGTH * DEPTH**2, rel=1e-12)
    moved = (body.to_point @ body.rigid[:, 0]).reshape(-1, 3)
    assert moved == pytest.approx(np.tile([1.0, 0.0, 0.0], (len(body.point_position), 1)))
