"""Meshes of tetrahedra: read by meshio, turned into mass and stiffness of an elastic solid by scikit-fem.

Some are made here without a mesher: bricks of a grid, each split into six tetrahedra.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from itertools import pairwise, permutations
from math import ceil
from typing import Any

import numpy as np

from pliant.errors import InvalidInput, clip, lacking
from pliant.robot.declared import BadValue
from pliant.robot.nodal_body import Array, NodalBody, Numbers
from pliant.robot.section import Material
from pliant.whole_file import whole_file

READERS = {".msh": "gmsh", ".inp": "abaqus", ".vtu": "vtu"}
MOST_TETRAHEDRA = 50_000
OTHER_SOLIDS = ("hexahedron", "wedge", "pyramid")
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))  # nodes 4 to 9 lie on them
FACES = ((0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6))  # corners seen from outside
PIECES = ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5))  # triangles of a face with six nodes


def solid_library(name: str) -> Any:
    """A library of the extra that solids need."""
    try:
        return import_module(name)
    except ImportError:
        raise lacking("a mesh file", name.partition(".")[0], "solids") from None


def solid_of(path: str, material: Material) -> NodalBody:
    """The body of a mesh file."""
    mesh = _read(path)
    points = np.asarray(mesh.points, float)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise BadValue("has points that are not three finite numbers each; write a mesh in space")
    tetrahedra = _tetrahedra(mesh, len(points))
    _refuse_inverted(points, tetrahedra)
    used, flat = np.unique(tetrahedra, return_inverse=True)
    numbers = np.full(len(points), -1)
    numbers[used] = np.arange(len(used))
    nodes, cells = points[used], np.asarray(flat, np.int64).reshape(tetrahedra.shape)
    straight = tetrahedra.shape[1] == 4
    if straight:
        nodes, cells = _quadratic(nodes, cells)
    ends = [np.stack([cells[:, a], cells[:, b], cells[:, 4 + k]], axis=1) for k, (a, b) in enumerate(EDGES)]
    mass, stiffness = _matrices(nodes, cells, straight, material)
    return NodalBody(
        nodes, mass, np.zeros((0, 3, 3)), stiffness, _surface(cells), np.concatenate(ends), numbers, _sets(mesh)
    )


def _read(path: str) -> Any:
    suffix = os.path.splitext(path)[1].lower()
    solid_library("meshio"), solid_library("skfem")
    reader = solid_library(f"meshio.{READERS[suffix]}")
    if suffix == ".inp":
        with open(path, encoding="utf-8", errors="replace") as file:
            if any(re.match(r"\s*\*\W*include\b", line, re.IGNORECASE) for line in file):
                raise BadValue("includes another file; write the whole mesh into one file")
    try:
        return reader.read(path)
    except (Exception, SystemExit) as error:  # whatever a broken file makes a foreign reader do
        reason = clip(str(error), 80) or type(error).__name__
        raise BadValue(f"cannot be read as {suffix} ({reason}); write the mesh anew") from None


def _tetrahedra(mesh: Any, points: int) -> Numbers:
    """(elements, 4 or 10) points."""
    found: dict[str, list[Numbers]] = {}
    for block in mesh.cells:
        if block.type.startswith(OTHER_SOLIDS):
            raise BadValue(f"holds elements of type {block.type}; write a mesh of tetrahedra only")
        if block.type in ("tetra", "tetra10") and len(block.data):
            found.setdefault(block.type, []).append(np.asarray(block.data, np.int64))
    if not found:
        raise BadValue("holds no tetrahedra; write a mesh of the volume, not only of its surface")
    if len(found) == 2:
        raise BadValue("holds linear and quadratic tetrahedra; write one kind")
    (blocks,) = found.values()
    cells = np.concatenate(blocks)
    if len(cells) > MOST_TETRAHEDRA:
        raise BadValue(f"holds {len(cells)} tetrahedra, more than {MOST_TETRAHEDRA}; write a coarser mesh")
    if cells.min() < 0 or cells.max() >= points:
        raise BadValue(f"has a tetrahedron at a point that is none of its {points}; write the mesh anew")
    return cells


def _refuse_inverted(points: Array, cells: Numbers) -> None:
    """By the volume spanned at each corner, of curved elements by their tangents there."""
    x = points[cells]
    least = np.full(len(cells), np.inf)
    for corner in range(4):
        tangents = []
        for k in range(4):
            far = x[:, k]
            if cells.shape[1] == 10 and k != corner:
                middle = next(4 + e for e, edge in enumerate(EDGES) if {corner, k} == {*edge})
                far = 4.0 * x[:, middle] - x[:, k]
            elif cells.shape[1] == 10:
                far = 3.0 * x[:, k]
            tangents.append(far)
        spans = np.stack([tangents[k] - tangents[0] for k in (1, 2, 3)], axis=1)
        least = np.minimum(least, np.linalg.det(spans) / np.maximum(np.linalg.norm(spans, axis=2).prod(axis=1), 1e-300))
    worst = int(np.argmin(least))
    if least[worst] <= 1e-9:
        raise BadValue(
            f"has the inverted or flat tetrahedron {worst} (counted from 0); mesh the part anew, or turn the element"
        )


def _quadratic(nodes: Array, cells: Numbers) -> tuple[Array, Numbers]:
    """Nodes with those in the middle of edges, and ten of them for each element."""
    ends = np.sort(np.stack([cells[:, edge] for edge in EDGES], axis=1).reshape(-1, 2), axis=1)
    edges, which = np.unique(ends, axis=0, return_inverse=True)
    middle = len(nodes) + which.reshape(-1, 6)
    return np.concatenate([nodes, nodes[edges].mean(axis=1)]), np.concatenate([cells, middle], axis=1)


def _matrices(nodes: Array, cells: Numbers, straight: bool, material: Material) -> tuple[Any, Any]:
    """Consistent mass (n, n) and stiffness (3 n, 3 n) of quadratic tetrahedra."""
    from scipy.sparse import coo_array

    fem, elasticity = solid_library("skfem"), solid_library("skfem.models.elasticity")
    if straight:
        corners = int(cells[:, :4].max()) + 1
        mesh = fem.MeshTet(np.ascontiguousarray(nodes[:corners].T), np.ascontiguousarray(cells[:, :4].T))
    else:
        mesh = fem.MeshTet2(np.ascontiguousarray(nodes.T), np.ascontiguousarray(cells.T))
    order = 4 if straight else 6
    scalar = fem.Basis(mesh, fem.ElementTetP2(), intorder=order)
    vector = fem.Basis(mesh, fem.ElementVector(fem.ElementTetP2()), intorder=order)
    lame = elasticity.lame_parameters(material.young, material.poisson_ratio)
    stiffness = elasticity.linear_elasticity(*lame).assemble(vector).tocoo()
    mass = fem.BilinearForm(lambda u, v, w: material.density * u * v).assemble(scalar).tocoo()
    node = np.zeros(scalar.N, np.int64)
    node[scalar.element_dofs] = cells.T
    dof = (3 * node[:, None] + np.arange(3)).ravel()
    made = (
        coo_array((each.data, (of[each.row], of[each.col])), shape=each.shape).tocsr()
        for each, of in ((mass, node), (stiffness, dof))
    )
    m, k = (0.5 * (each + each.T) for each in made)
    return m.tocsr(), k.tocsr()


def _surface(cells: Numbers) -> Numbers:
    """Triangles (t, 3) of the faces that belong to one element only, four for each, seen from outside."""
    faces = np.concatenate([cells[:, face] for face in FACES])
    _, first, count = np.unique(np.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    outer = faces[first[count == 1]]
    return np.concatenate([outer[:, piece] for piece in PIECES])


def _sets(mesh: Any) -> dict[str, Numbers]:
    """Points by the names of point sets, cell sets, physical groups, and point data that are not zero."""
    sets: dict[str, Numbers] = {}

    def add(name: str, points: Any) -> None:
        own = np.unique(np.asarray(points, np.int64))
        sets[name] = np.union1d(sets[name], own) if name in sets else own

    for name, values in mesh.point_data.items():
        if np.ndim(values) == 1:
            add(name, np.flatnonzero(values))
    for name, points in mesh.point_sets.items():
        add(name, points)
    for name, blocks in mesh.cell_sets.items():
        for block, own in zip(mesh.cells, blocks):
            if own is not None and len(own) and not name.startswith("gmsh:"):
                add(name, block.data[np.asarray(own, np.int64)].ravel())
    tags = mesh.cell_data.get("gmsh:physical", [])
    for name, group in mesh.field_data.items():
        for block, own in zip(mesh.cells, tags):
            if np.size(group) == 2 and block.dim == group[1]:
                add(name, block.data[np.asarray(own) == group[0]].ravel())
    return sets


def grid_mesh(x: Array, y: Array, z: Array, filled: Array | None = None) -> tuple[Array, Numbers]:
    """Points (n, 3) and tetrahedra (e, 4) of the bricks between these coordinates that are ``filled``, or of all."""
    sizes = np.array([len(x), len(y), len(z)])
    bricks = np.ones(sizes - 1, bool) if filled is None else np.asarray(filled, bool)
    first = np.argwhere(bricks)
    cells = []
    for path in permutations(np.eye(3, dtype=np.int64)):  # from corner to corner along three edges
        steps = np.cumsum([np.zeros(3, np.int64), *path], axis=0)
        if np.linalg.det(np.array(path, float)) < 0.0:
            steps = steps[[0, 2, 1, 3]]
        cells.append(np.ravel_multi_index(np.moveaxis(first[:, None] + steps, -1, 0), tuple(sizes)))
    used, flat = np.unique(np.concatenate(cells), return_inverse=True)
    i, j, k = np.unravel_index(used, tuple(sizes))
    return np.stack([x[i], y[j], z[k]], axis=1), flat.reshape(-1, 4)


def write_bracket(
    path: str | os.PathLike[str],
    length: float,
    height: float,
    width: float,
    thickness: float,
    size: float | None = None,
    overwrite: bool = False,
) -> None:
    """Write the mesh (.vtu) of an L-shaped bracket with the node sets ``root`` and ``tip``.

    A plate lies from the origin along x, from 0 to ``length``, another stands at its end along z, from 0 to ``height``;
    y is the middle of both. The root is the face at x = 0, the tip the face at z = height. Elements are as long as
    ``size``, or as thick as a plate.
    """
    values = {"length": length, "height": height, "width": width, "thickness": thickness}
    for name, value in {**values, "size": thickness if size is None else size}.items():
        if not 0.0 < value < np.inf:
            raise InvalidInput(f"{name} = {value:g} m of a bracket must be greater than 0; write it in metres")
    for name in ("length", "height"):
        if values[name] <= thickness:
            raise InvalidInput(f"{name} = {values[name]:g} m must exceed thickness = {thickness:g} m; write more")
    long = size or thickness

    def marks(*ends: float) -> Array:
        spans = [np.linspace(a, b, ceil((b - a) / long - 1e-9) + 1) for a, b in pairwise(ends)]
        return np.unique(np.concatenate(spans))

    x, y, z = marks(0.0, length - thickness, length), marks(-width / 2, width / 2), marks(0.0, thickness, height)
    along, up = x[:-1] >= length - thickness, z[:-1] < thickness
    points, cells = grid_mesh(x, y, z, np.repeat((along[:, None] | up)[:, None], len(y) - 1, axis=1))
    sets = {"root": points[:, 0] == 0.0, "tip": points[:, 2] == height}
    mesh = solid_library("meshio").Mesh(
        points, [("tetra", cells)], point_data={name: own.astype(np.int32) for name, own in sets.items()}
    )
    with whole_file(path, overwrite) as temporary:
        mesh.write(temporary, file_format="vtu")
