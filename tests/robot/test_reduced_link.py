"""Links of any shape: files, frames, mass properties, and what is refused."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import meshio
import numpy as np
import pytest
import scipy.io
import scipy.sparse

import pliant as pl
import pliant.robot as r
from pliant.analysis.joint_dynamics import joint_dynamics
from pliant.errors import InvalidFile, InvalidInput
from pliant.robot import data_file, solid_mesh
from pliant.robot.reduced_link import rotation_of
from pliant.robot.solid_mesh import grid_mesh
from tests.support.solids import CUBE, STEEL, TURNED, bar, truss, truss_link, write_bar, write_truss

ROBOT = """pliant: 1
name: arm
links:
  truss:
    type: reduced
    source: {type: matrices, nodes: FILE, mass: FILE, stiffness: FILE}
    frames:
      - {name: root, position: [0, 0.25, 0.25], nodes: [0, 1, 2, 3]}
      - {name: tip, position: [1, 0.25, 0.25], plane: [1, 0, 0]}
    damping: 1e-4
joints:
  hub: {type: revolute, parent: base, child: truss}
"""
BROKEN = np.eye(24)
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


def arm_of(*links: r.Link) -> r.Robot:
    parents = ("base", *(link.name for link in links))
    joints = [r.RevoluteJoint(f"turn_{link.name}", parent, link.name) for parent, link in zip(parents, links)]
    return r.Robot("arm", links, joints, gravity=(0, -9.81, 0))


def sentence(make: Callable[[], object]) -> str:
    with pytest.raises(InvalidInput) as caught:
        make()
    (problem,) = caught.value.problems
    assert "\n" not in str(problem)
    assert ";" in problem.text
    return str(problem)


def test_a_bracket_has_the_mass_of_its_two_plates(tmp_path: Path) -> None:
    length, height, width, thick = 0.12, 0.1, 0.04, 0.01
    r.write_bracket(tmp_path / "bracket.vtu", length, height, width, thick)
    assert (tmp_path / "bracket.vtu").stat().st_size < 200_000
    root, tip = np.array([0, 0, thick / 2]), np.array([length - thick / 2, 0, height])
    ends = (r.Interface("root", tuple(root), node_set="root"), r.Interface("tip", tuple(tip), node_set="tip"))
    rigid = r.ReducedLink("bracket", r.MeshFile(tmp_path / "bracket.vtu"), ends, STEEL).undeformed
    # closed form: boxes of the plates, x from 0 to length - thick, and the upright one
    boxes = ((np.array([length - thick, width, thick]), np.array([(length - thick) / 2, 0, thick / 2])),)
    boxes += ((np.array([thick, width, height]), np.array([length - thick / 2, 0, height / 2])),)
    masses = [STEEL.density * size.prod() for size, _ in boxes]
    center = sum(m * c for m, (_, c) in zip(masses, boxes)) / sum(masses)
    inertia = np.zeros((3, 3))
    for mass, (size, middle) in zip(masses, boxes):
        own = mass * (np.diag(size**2) / 12 + np.outer(middle - center, middle - center))
        inertia += np.trace(own) * np.eye(3) - own
    assert rigid.mass == pytest.approx(sum(masses), rel=1e-10)
    assert rigid.center_of_mass == pytest.approx(center - root, abs=1e-10)
    assert np.array(rigid.inertia) == pytest.approx(inertia, rel=1e-10, abs=1e-10 * inertia.max())
    assert rigid.tip_position == pytest.approx(tip - root)


def test_curved_and_straight_elements_have_the_same_mass(tmp_path: Path) -> None:
    """Quadratic tetrahedra with nodes in the middle of straight edges are linear ones."""
    write_bar(tmp_path / "bar.vtu", (1.0, 0.2, 0.1), (3, 1, 1))
    linear = bar(tmp_path / "bar.vtu", 1.0)
    mesh = meshio.vtu.read(tmp_path / "bar.vtu")
    nodes, cells = solid_mesh._quadratic(mesh.points, mesh.cells[0].data)
    meshio.Mesh(nodes, [("tetra10", cells)]).write(tmp_path / "ten.vtu")
    ten = bar(tmp_path / "ten.vtu", 1.0)
    assert abs(ten.body.stiffness - linear.body.stiffness).max() <= 1e-9 * abs(linear.body.stiffness).max()
    assert abs(ten.body.mass - linear.body.mass).max() <= 1e-12 * abs(linear.body.mass).max()


def test_rigid_takes_it_as_the_rigid_link_of_the_same_properties(tmp_path: Path) -> None:
    write_bar(tmp_path / "bar.vtu", (0.5, 0.06, 0.04), (4, 1, 1))
    write_truss(tmp_path / "truss.npz")
    links = bar(tmp_path / "bar.vtu", 0.5), truss_link(tmp_path / "truss.npz", turned=True)
    one = pl.Rigid().compile(arm_of(*links))
    # the same by hand: a box, and eight points of 0.7 kg seen from the turned root
    size, mass = np.array([0.5, 0.06, 0.04]), 7850 * 0.5 * 0.06 * 0.04
    box = r.RigidLink(
        "bar", (0.5, 0, 0), mass, center_of_mass=(0.25, 0, 0), inertia=mass / 12 * (size @ size - size**2)
    )
    R, points = rotation_of(TURNED), CUBE - CUBE.mean(axis=0)
    inertia = 0.7 * ((points**2).sum() * np.eye(3) - points.T @ points)
    eight = r.RigidLink(
        "truss", tuple(R[0]), 5.6, (0.8, -0.36, -0.48, 0.0), center_of_mass=tuple(0.5 * R[0]), inertia=R.T @ inertia @ R
    )
    other = pl.Rigid().compile(arm_of(box, eight))
    mine, his = (arm.linearise(arm.initial_state(), arm.inputs, 0.0).M for arm in (one, other))
    assert mine == pytest.approx(his, rel=1e-10)
    mine, his = (joint_dynamics(arm, (0.3, -0.8)).mass for arm in (one, other))
    assert mine == pytest.approx(his, rel=1e-10)


@pytest.mark.parametrize(
    "formulation", [pl.Lumped(), pl.GeometricallyExact(), pl.MixedElement(), pl.PoseElement(), pl.PseudoSpectral()]
)
def test_formulations_of_beams_refuse_it(formulation: Any, tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    text = sentence(lambda: formulation.compile(arm_of(truss_link(tmp_path / "truss.npz"))))
    name = type(formulation).__name__
    assert text == (
        f"link 'truss' is a ReducedLink, which {name} does not carry; compile with EquivalentRigidLink or Rigid"
    )


def test_a_run_observes_its_ends(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    arm = pl.Rigid().compile(arm_of(truss_link(tmp_path / "truss.npz")))
    run = pl.simulate(arm, until=0.01, integrator=pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    assert run.tip_position[0] == pytest.approx([1.0, 0.0, 0.0])
    assert "type: reduced" in run.provenance.robot


def test_files_and_python_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_truss(tmp_path / "truss.npz")
    (tmp_path / "arm.yaml").write_text(ROBOT.replace("FILE", "truss.npz"))
    robot = r.load(tmp_path / "arm.yaml")
    link = truss_link(tmp_path / "truss.npz")
    assert isinstance(loaded := robot.link("truss"), r.ReducedLink)
    assert loaded.source == link.source
    assert loaded.mass == link.mass == pytest.approx(5.6)
    r.save(robot, tmp_path / "again.yaml")
    assert r.load(tmp_path / "again.yaml") == robot
    assert r.loads(r.dump(robot, tmp_path), folder=tmp_path) == robot
    monkeypatch.chdir(tmp_path)
    assert r.loads(r.dump(robot)) == robot
    kept = pickle.loads(pickle.dumps(robot))
    assert kept == robot
    assert hash(kept) == hash(robot)


def test_a_pickled_link_needs_no_file(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    text = pickle.dumps(truss_link(tmp_path / "truss.npz"))
    (tmp_path / "truss.npz").unlink()
    assert pickle.loads(text).mass == pytest.approx(5.6)


def test_all_formats_of_matrices(tmp_path: Path) -> None:
    mass, stiffness = truss()
    np.save(tmp_path / "nodes.npy", CUBE)
    scipy.io.mmwrite(tmp_path / "mass.mtx", scipy.sparse.coo_array(mass))
    scipy.io.mmwrite(tmp_path / "dense.mtx", mass)
    scipy.sparse.save_npz(tmp_path / "stiffness.npz", scipy.sparse.csr_array(stiffness))
    link = truss_link_of(tmp_path / "nodes.npy", tmp_path / "mass.mtx", tmp_path / "stiffness.npz")
    assert abs(link.body.stiffness - stiffness).max() < 1e-9
    assert truss_link_of(tmp_path / "nodes.npy", tmp_path / "dense.mtx", tmp_path / "stiffness.npz").mass == link.mass


def truss_link_of(nodes: Path, mass: Path, stiffness: Path) -> r.ReducedLink:
    ends = (r.Interface("root", (0, 0, 0), plane=(1, 0, 0)), r.Interface("tip", (1, 0, 0), plane=(1, 0, 0)))
    return r.ReducedLink("truss", r.MatrixFiles(nodes, mass, stiffness), ends)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/etc/truss.npz", "is an absolute path; write it relative to the folder of the robot file"),
        ("C:/truss.npz", "is an absolute path"),
        ("../truss.npz", "leaves the folder of the robot file; put the file there or below"),
        ("sub/../../truss.npz", "leaves the folder"),
        ("link.npz", "leaves the folder"),
        ("none.npz", "is no file that can be found; write the path"),
        ("truss.mat", "has no known format; write the path of the positions of the nodes, a row for each, which ends"),
    ],
)
def test_files_outside_of_the_folder_are_refused(path: str, words: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write_truss(tmp_path / "truss.npz")
    os.symlink(tmp_path / "truss.npz", home / "link.npz")
    (home / "arm.yaml").write_text(ROBOT.replace("nodes: FILE", f"nodes: '{path}'").replace("FILE", "t.npz"))
    write_truss(home / "t.npz")
    with pytest.raises(InvalidFile) as caught:
        r.load(home / "arm.yaml")
    first = str(caught.value.problems[0])
    assert f"arm.yaml:6:37: links.truss.source.nodes = '{path}' {words}" in first


def test_a_robot_is_saved_beside_its_files(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    (tmp_path / "other").mkdir()
    robot = arm_of(truss_link(tmp_path / "truss.npz"))
    assert "copy it there, or save the robot beside it" in sentence(
        lambda: r.save(robot, tmp_path / "other" / "a.yaml")
    )
    assert f'nodes: "{tmp_path / "truss.npz"}"' in r.dump(robot, tmp_path / "other")


def test_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_truss(tmp_path / "truss.npz")
    monkeypatch.setattr(data_file, "MOST_BYTES", 5000)
    with pytest.raises(InvalidInput, match=r"nodes = '.*truss.npz' has \d+ bytes, more than 5000; write a coarser"):
        truss_link(tmp_path / "truss.npz")
    np.savez_compressed(tmp_path / "packed.npz", nodes=np.zeros((1000, 3)))
    with pytest.raises(InvalidInput, match=r"nodes = 'packed.npz' unpacks to \d+ bytes, more than 5000; write"):
        r.MatrixFiles(*[tmp_path / "packed.npz"] * 3).body(None)  # type: ignore[arg-type]


def spoilt(name: str, **entries: float) -> dict[str, Any]:
    """One of the matrices with some entries changed; keys are 'row_column'."""
    matrix = dict(zip(("mass", "stiffness"), truss()))[name].copy()
    for key, value in entries.items():
        i, j = (int(part) for part in key.removeprefix("at_").split("_"))
        matrix[i, j] = value
    return {name: matrix}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (
            spoilt("stiffness", at_0_3=7.0),
            "source.stiffness = 'bad.npz' is not symmetric: entry (1, 4) is 7 and (4, 1) is",
        ),
        (spoilt("mass", at_0_0=float("nan")), "source.mass = 'bad.npz' holds values that are not finite; write"),
        (spoilt("mass", at_0_0=0.5), "source.mass = 'bad.npz' couples directions or is not the same along x, y and z"),
        (spoilt("mass", at_0_0=0, at_1_1=0, at_2_2=0), "source.mass = 'bad.npz' is not positive definite; write"),
        ({"stiffness": -truss()[1]}, "source.stiffness = 'bad.npz' has negative eigenvalues; write"),
        ({"stiffness": truss()[1] - 5e4 * BROKEN}, "source.stiffness = 'bad.npz' has negative eigenvalues; write"),
        ({"stiffness": truss()[1] + 5e3 * BROKEN}, "source.stiffness = 'bad.npz' resists a displacement along"),
        ({"stiffness": np.eye(27)}, "source.stiffness = 'bad.npz' has 27 rows for 8 nodes; write 3 for each node"),
        ({"mass": np.eye(48)}, "source.mass = 'bad.npz' has 48 rows, but stiffness has 24; write matrices of one size"),
        ({"mass": np.ones((24, 23))}, "source.mass = 'bad.npz' has the shape 24x23; write a square matrix"),
        ({"nodes": CUBE[:, :2]}, "source.nodes = 'bad.npz' has the shape (8, 2); write three coordinates"),
        ({"nodes": CUBE[:7]}, "source.stiffness = 'bad.npz' has 24 rows for 7 nodes; write 3 for each node"),
        ({"nodes": np.array([{}])}, "source.nodes = 'bad.npz' holds pickled objects, which could run code; write"),
        ({"nodes": np.array(["a"])}, "source.nodes = 'bad.npz' holds values of type <U1; write real numbers"),
    ],
)
def test_bad_matrices_are_refused(other: dict[str, Any], words: str, tmp_path: Path) -> None:
    write_truss(tmp_path / "bad.npz", **other)
    assert sentence(lambda: truss_link(tmp_path / "bad.npz")).startswith(f"ReducedLink 'truss': {words}")


def test_other_masses_of_six_are_refused(tmp_path: Path) -> None:
    for i, j, words in ((0, 4, "couples displacements with rotations"), (3, 9, "couples rotations of different nodes")):
        mass = np.eye(48)
        mass[i, j] = mass[j, i] = 0.1
        write_truss(tmp_path / "bad.npz", mass=mass, stiffness=np.zeros((48, 48)))
        assert words in sentence(lambda: truss_link(tmp_path / "bad.npz"))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("bad.npy", b"not an array", "holds pickled objects"),  # numpy takes what it does not know for a pickle
        ("short.npy", b"\x93NUMPY\x01\x00", "cannot be read"),
        ("bad.npz", b"PK no archive", "cannot be read"),
        ("bad.mtx", b"%%MatrixMarket matrix array real general\n9999999 9999999\n1\n", "has fewer entries than"),
        ("bad.mtx", b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", "holds complex values"),
        ("none.mtx", b"words", "cannot be read"),
    ],
)
def test_broken_files_are_refused(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    write_truss(tmp_path / "t.npz")
    (tmp_path / name).write_bytes(content)
    text = sentence(lambda: truss_link_of(tmp_path / name, tmp_path / "t.npz", tmp_path / "t.npz"))
    assert f"source.nodes = '{name}' {words}" in text


def test_a_pickle_is_not_run(tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "harmed",))

    np.save(tmp_path / "bad.npy", np.array([Harmful()], dtype=object), allow_pickle=True)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Harmful()))
    for name in ("bad.npy", "raw.npy"):
        text = sentence(lambda name=name: truss_link_of(*[tmp_path / name] * 3))  # type: ignore[misc]
        assert "holds pickled objects, which could run code; write plain numbers" in text
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    ("root", "tip", "words"),
    [
        ({}, {}, "frames has no frame 'root'; write one"),
        ({"nodes": (0, 1, 2)}, {}, "frames has no frame 'tip'; write one"),
        ({"nodes": (0, 1, 2)}, {"nodes": (2, 4, 5)}, "frames[1].nodes shares nodes with frame 'root'; give each"),
        ({"nodes": (0, 1)}, {"nodes": (4, 5, 6)}, "frames[0].nodes gives the frame 2 nodes on a line, which may"),
        ({"nodes": (0, 1, 8)}, {"nodes": (4, 5, 6)}, "frames[0].nodes names node 8, but the file has 8; write 0 to 7"),
        ({"plane": (0, 0, 1)}, {"node_set": "end"}, "frames[1].node_set = 'end' is no set of the file; write nodes"),
        ({"nodes": (0, 1, 2)}, {"plane": (1, 1, 7)}, "frames[1].plane leaves the frame without a node; write nodes"),
    ],
)
def test_bad_frames_are_refused(root: dict[str, Any], tip: dict[str, Any], words: str, tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    link = truss_link(tmp_path / "truss.npz")
    given = (("root", (0, 0, 0), root), ("tip", (3, 0, 0), tip))
    made = tuple(r.Interface(name, at, **how) for name, at, how in given if how)
    with pytest.raises(InvalidInput) as caught:
        replace(link, frames=made)
    assert str(caught.value.problems[0]).startswith(f"ReducedLink 'truss': {words}")


def test_a_frame_has_its_nodes_in_one_way() -> None:
    assert "nodes has no nodes; write nodes, plane or node_set" in sentence(lambda: r.Interface("tip", (0, 0, 0)))
    both = sentence(lambda: r.Interface("tip", (0, 0, 0), nodes=(1,), plane=(1, 0, 0)))
    assert both.endswith("plane is given together with nodes; write only one of nodes, plane, node_set")
    assert "nodes[0] = 1.5 is no whole number" in sentence(lambda: r.Interface("tip", (0, 0, 0), nodes=(1.5,)))


def test_material_belongs_to_meshes(tmp_path: Path) -> None:
    write_truss(tmp_path / "truss.npz")
    write_bar(tmp_path / "bar.vtu", (1.0, 0.1, 0.1), (1, 1, 1))
    unused = sentence(lambda: replace(truss_link(tmp_path / "truss.npz"), material=STEEL))
    assert unused.endswith("material is not used by matrices; remove it")
    assert "material is missing, but a mesh needs it" in sentence(lambda: bar(tmp_path / "bar.vtu", 1.0, None))  # type: ignore[arg-type]
    rubber = r.Material(name="rubber", young=1e6, density=1000, poisson=0.5)
    assert "a solid needs one below 0.5" in sentence(lambda: bar(tmp_path / "bar.vtu", 1.0, rubber))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([("tetra", [[0, 2, 1, 3]])], "has the inverted or flat tetrahedron 0 (counted from 0); mesh the part anew"),
        ([("triangle", [[0, 1, 2]])], "holds no tetrahedra; write a mesh of the volume"),
        ([("tetra", [[0, 1, 2, 3]]), ("pyramid", [[0, 1, 2, 3, 0]])], "holds elements of type pyramid; write"),
    ],
)
def test_bad_meshes_are_refused(cells: list[tuple[str, list[list[int]]]], words: str, tmp_path: Path) -> None:
    meshio.Mesh(TETRAHEDRON, cells).write(tmp_path / "bad.vtu")
    assert f"source.file = 'bad.vtu' {words}" in sentence(lambda: bar(tmp_path / "bad.vtu", 1.0))


def test_the_inverted_element_is_named(tmp_path: Path) -> None:
    points, cells = grid_mesh(*[np.linspace(0, 1, 3)] * 3)
    cells[17] = cells[17, [1, 0, 2, 3]]
    meshio.Mesh(points, [("tetra", cells)]).write(tmp_path / "bad.vtu")
    assert "the inverted or flat tetrahedron 17 (counted" in sentence(lambda: bar(tmp_path / "bad.vtu", 1.0))


def test_broken_meshes_and_missing_libraries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in (("bad.vtu", "<words"), ("bad.msh", "words"), ("bad.inp", "*NODE\nwords, a, b\n")):
        (tmp_path / name).write_text(text)
        assert "anew" in sentence(lambda name=name: bar(tmp_path / name, 1.0))  # type: ignore[misc]
    (tmp_path / "in.inp").write_text("*Include, input=/etc/passwd\n")
    assert "includes another file; write the whole mesh" in sentence(lambda: bar(tmp_path / "in.inp", 1.0))

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(solid_mesh, "import_module", missing)
    assert "pip install 'pliant[solids]'" in sentence(lambda: bar(tmp_path / "bad.vtu", 1.0))


@pytest.mark.parametrize("suffix", [".inp", ".msh"])
def test_sets_of_other_formats(suffix: str, tmp_path: Path) -> None:
    points, cells = grid_mesh(np.linspace(0, 1, 4), np.linspace(0, 0.2, 2), np.linspace(0, 0.2, 2))
    ends = {name: np.flatnonzero(points[:, 0] == x) for name, x in (("root", 0.0), ("tip", 1.0))}
    path = tmp_path / f"bar{suffix}"
    if suffix == ".inp":
        meshio.Mesh(points, [("tetra", cells)], point_sets=ends).write(path)
    else:  # a physical group of triangles on each end
        faces = [np.array([own[[0, 1, 2]], own[[1, 2, 3]]]) for own in ends.values()]
        tags = [np.full(len(cells), 3), np.array([1, 1, 2, 2])]
        blocks = [("tetra", cells), ("triangle", np.concatenate(faces))]
        names = {"root": np.array([1, 2]), "tip": np.array([2, 2]), "all": np.array([3, 3])}
        data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
        meshio.Mesh(points, blocks, cell_data=data, field_data=names).write(path, file_format="gmsh22")
    frames = [r.Interface(name, (x, 0, 0), node_set=name) for name, x in (("root", 0.0), ("tip", 1.0))]
    link = r.ReducedLink("bar", r.MeshFile(path), frames, STEEL)
    assert link.mass == pytest.approx(7850 * 0.04)
    assert [len(nodes) for *_, nodes in link.placed_frames] == [9, 9]  # four corners, five edges between them
