"""Bodies of finite elements for tests: bars as meshes, and trusses as matrices."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

import pliant.robot as r
from pliant.robot.solid_mesh import grid_mesh

Array = NDArray[np.float64]
STEEL = r.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 0.5) for z in (0.0, 0.5)])
TURNED = (0.8, 0.36, 0.48, 0.0)


def write_bar(path: Path, size: tuple[float, float, float], divisions: tuple[int, int, int]) -> None:
    """A bar along x from the origin, y and z in its middle."""
    ends = ((0.0, size[0]), (-size[1] / 2, size[1] / 2), (-size[2] / 2, size[2] / 2))
    points, cells = grid_mesh(*(np.linspace(*end, count + 1) for end, count in zip(ends, divisions)))
    meshio.Mesh(points, [("tetra", cells)]).write(path)


def bar(path: Path, length: float, material: r.Material = STEEL) -> r.ReducedLink:
    ends = (r.Interface("root", (0, 0, 0), plane=(1, 0, 0)), r.Interface("tip", (length, 0, 0), plane=(1, 0, 0)))
    return r.ReducedLink("bar", r.MeshFile(path), ends, material)


def truss(nodes: Array = CUBE) -> tuple[Array, Array]:
    """Mass and stiffness of springs between all pairs of nodes."""
    size = 3 * len(nodes)
    stiffness, mass = np.zeros((size, size)), np.zeros(len(nodes))
    for a, b in combinations(range(len(nodes)), 2):
        axis = nodes[b] - nodes[a]
        spring = 1e6 * np.outer(axis, axis) / (axis @ axis)
        for i, j, sign in ((a, a, 1), (b, b, 1), (a, b, -1), (b, a, -1)):
            stiffness[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += sign * spring
        mass[[a, b]] += 0.1
    return np.kron(np.diag(mass), np.eye(3)), stiffness


def write_truss(path: Path, **other: Array) -> None:
    mass, stiffness = truss()
    arrays: dict[str, Array] = {"nodes": CUBE, "mass": mass, "stiffness": stiffness, **other}
    np.savez(path, **arrays)  # type: ignore[arg-type]


def truss_link(path: Path, turned: bool = False) -> r.ReducedLink:
    turn = {"rotation": TURNED} if turned else {}
    ends = (
        r.Interface("root", (0, 0.25, 0.25), nodes=(0, 1, 2, 3), **turn),  # type: ignore[arg-type]
        r.Interface("tip", (1, 0.25, 0.25), nodes=(4, 5, 6, 7)),
    )
    return r.ReducedLink("truss", r.MatrixFiles(path, path, path), ends, damping=1e-4)  # type: ignore[arg-type]
