"""Solids made without a mesher: bricks of a grid, each split into six tetrahedra."""

from __future__ import annotations

import os
from itertools import pairwise, permutations
from math import ceil

import numpy as np

from pliant.errors import InvalidInput
from pliant.robot.nodal_body import Array, Numbers
from pliant.robot.solid_mesh import solid_library
from pliant.whole_file import whole_file


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
            raise InvalidInput(
                f"{name} = {value:g} m must be greater than 0; write the {name} of the bracket in metres"
            )
    for name in ("length", "height"):
        if values[name] <= thickness:
            raise InvalidInput(
                f"{name} = {values[name]:g} m must be greater than thickness = {thickness:g} m; write so"
            )
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
