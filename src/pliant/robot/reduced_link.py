"""Links of any shape: a body of finite elements, given by its matrices or by a mesh, with frames that carry."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from pliant.errors import InvalidInput, Problem, clip
from pliant.robot import nodal_body
from pliant.robot.axes import IDENTITY
from pliant.robot.data_file import ARRAYS, DataFile, read_numbers
from pliant.robot.declared import BadValue, Declared, Name, Part, Quantity, Quaternion, Vector3
from pliant.robot.joint import plain
from pliant.robot.link import End, Link, RigidLink
from pliant.robot.nodal_body import Array, NodalBody, Numbers
from pliant.robot.section import Material
from pliant.robot.solid_mesh import READERS, solid_of

FLAT = 1e-6  # part of the extent of a body within which nodes lie on a plane, and those of a frame on a line
WAYS = ("nodes", "plane", "node_set")


class Source(Declared, ABC):
    """Where the matrices of a link come from."""

    needs_material = False

    @abstractmethod
    def body(self, material: Material | None) -> NodalBody:
        """Nodes, masses and stiffness; raises InvalidInput with the field that is wrong."""


@contextmanager
def _of_file(field: str, path: str) -> Iterator[None]:
    """Tells field and file of what is wrong with it."""
    try:
        yield
    except BadValue as bad:
        raise InvalidInput(Problem(f"= '{clip(os.path.basename(path), 80)}' {bad.text}", (field,))) from None


@dataclass(frozen=True)
class MatrixFiles(Source, word="matrices"):
    """Files of a body free in space: Matrix Market, or NumPy arrays and archives, which hold a name for each field."""

    nodes: Annotated[str, DataFile("positions of the nodes, a row for each", ARRAYS)]
    mass: Annotated[str, DataFile("mass matrix", ARRAYS)]
    stiffness: Annotated[str, DataFile("stiffness matrix", ARRAYS)]
    triangles: Annotated[str | None, DataFile("triangles of the surface, three nodes each", ARRAYS)] = None

    def body(self, material: Material | None) -> NodalBody:
        with _of_file("nodes", self.nodes):
            nodes = _dense(read_numbers(self.nodes, "nodes"))
            if nodes.ndim != 2 or nodes.shape[1] != 3 or not len(nodes):
                raise BadValue(f"has the shape {nodes.shape}; write three coordinates for each node")
        with _of_file("stiffness", self.stiffness):
            stiffness = nodal_body.symmetric(read_numbers(self.stiffness, "stiffness"), len(nodes))
        with _of_file("mass", self.mass):
            matrix = nodal_body.symmetric(read_numbers(self.mass, "mass"), len(nodes))
            if matrix.shape != stiffness.shape:
                raise BadValue(
                    f"has {matrix.shape[0]} rows, but stiffness has {stiffness.shape[0]}; write matrices of one size"
                )
            mass, rotary = nodal_body.masses(matrix, len(nodes))
        with _of_file("stiffness", self.stiffness):
            nodal_body.refuse_impossible_stiffness(stiffness, nodes)
        return NodalBody(nodes, mass, rotary, stiffness, self._surface(len(nodes)))

    def _surface(self, nodes: int) -> Numbers:
        if self.triangles is None:
            return np.zeros((0, 3), np.int64)
        with _of_file("triangles", self.triangles):
            given = _dense(read_numbers(self.triangles, "triangles"))
            if given.ndim != 2 or given.shape[1] != 3:
                raise BadValue(f"has the shape {given.shape}; write three nodes for each triangle")
            if np.any(given != np.floor(given)) or given.min(initial=0) < 0 or given.max(initial=0) >= nodes:
                raise BadValue(f"names a node that is none of 0 to {nodes - 1}; write the numbers of nodes")
        return given.astype(np.int64)


@dataclass(frozen=True)
class MeshFile(Source, word="mesh"):
    """A mesh of tetrahedra, in metres. Linear ones become quadratic. It needs the material of the link."""

    file: Annotated[str, DataFile("mesh", tuple(READERS))]

    needs_material = True

    def body(self, material: Material | None) -> NodalBody:
        assert material is not None
        with _of_file("file", self.file):
            return solid_of(self.file, material)


@dataclass(frozen=True)
class Interface(Declared, word="interface"):
    """A frame of a link, and the nodes that move with it as one rigid body; give them in one of three ways."""

    name: Annotated[str, Name("name of the frame")]
    position: Annotated[Vector3, Quantity.vector("m", "origin (x, y, z) of the frame in the axes of the nodes")]
    rotation: Annotated[Quaternion, Quantity.quaternion("from the frame to the axes of the nodes")] = IDENTITY
    nodes: Annotated[
        Sequence[float] | None,
        Quantity("1", "numbers of the nodes, the first of the file is 0", shape=(None,), at_least=0),
    ] = None
    plane: Annotated[
        Vector3 | None, Quantity.direction("normal of a plane through the origin of the frame, for all nodes on it")
    ] = None
    node_set: Annotated[str | None, Name("name of a set of nodes of the mesh")] = None

    def conflicts(self) -> Iterator[Problem]:
        given = [way for way in WAYS if getattr(self, way) is not None]
        if not given:
            yield Problem("has no nodes; write nodes, plane or node_set", ("nodes",))
        for way in given[1:]:
            yield Problem(f"is given together with {given[0]}; write only one of {', '.join(WAYS)}", (way,))
        for i, number in enumerate(self.nodes or ()):
            if number != int(number):
                yield Problem(f"= {number:g} is no whole number; write the number of a node", ("nodes", i))

    def nodes_of(self, body: NodalBody) -> Numbers:
        """The nodes that move with the frame."""
        if self.plane is not None:
            away = (body.nodes - np.array(self.position)) @ np.array(self.plane)
            return np.flatnonzero(np.abs(away) <= FLAT * body.extent)
        if self.node_set is not None:
            if self.node_set not in body.sets:
                known = ", ".join(clip(name) for name in sorted(body.sets)[:8])
                text = f"write one of {known}" if known else "write nodes or plane"
                raise BadValue(f"= '{self.node_set}' is no set of the file; {text}")
            return body.of_points(body.sets[self.node_set])
        numbers = np.array(self.nodes, np.int64)
        count = len(body.nodes if body.numbers is None else body.numbers)
        if numbers.max() >= count:
            raise BadValue(f"names node {numbers.max()}, but the file has {count}; write 0 to {count - 1}")
        return body.of_points(numbers)


@dataclass(frozen=True)
class ReducedLink(Link, word="reduced"):
    """A body of finite elements. Its frame is the frame ``root``; ``tip`` carries the next joint.

    The files are read once, when the link is made, and the link keeps what they hold.
    """

    name: Annotated[str, Name("name of the link")]
    source: Annotated[Source, Part("source of its matrices")]
    frames: Annotated[Sequence[Interface], Part("frames of the link, among them root and tip")]
    material: Annotated[Material | None, Part("material of a mesh")] = None
    damping: Annotated[
        float, Quantity("s", "damping over stiffness, added to the damping of the material", at_least=0)
    ] = 0.0

    def conflicts(self) -> Iterator[Problem]:
        yield from [*self._problems_of_fields()] or self._problems_of_files()

    def _problems_of_fields(self) -> Iterator[Problem]:
        if (self.material is not None) != self.source.needs_material:
            needs = "is missing, but a mesh needs it; write the material of the mesh"
            text = needs if self.source.needs_material else "is not used by matrices; remove it"
            yield Problem(text, ("material",))
        elif self.material is not None and not -1.0 < self.material.poisson_ratio < 0.5:
            ratio = self.material.poisson_ratio
            yield Problem(f"has the Poisson's ratio {ratio:g}; a solid needs one below 0.5", ("material",))
        names = [frame.name for frame in self.frames]
        for end in End:
            if end not in names:
                yield Problem(f"has no frame '{end}'; write one", ("frames",))
        for i, name in enumerate(names):
            if name in names[:i]:
                yield Problem(f"= '{name}' is used twice; give each frame its own name", ("frames", i, "name"))

    def _problems_of_files(self) -> Iterator[Problem]:
        try:
            body = self.body
        except InvalidInput as invalid:
            yield from (problem.inside("source") for problem in invalid.problems)
            return
        taken = np.full(len(body.nodes), -1)
        for i, frame in enumerate(self.frames):
            way = next(way for way in WAYS if getattr(frame, way) is not None)
            try:
                own = frame.nodes_of(body)
                if wrong := _wrong_nodes(body, own, [self.frames[k].name for k in np.unique(taken[own]) if k >= 0]):
                    raise BadValue(wrong)
                taken[own] = i
            except BadValue as bad:
                yield Problem(bad.text, ("frames", i, way))

    @cached_property
    def body(self) -> NodalBody:
        """Nodes, masses and stiffness in the axes of the nodes."""
        return self.source.body(self.material)

    @cached_property
    def placed_frames(self) -> tuple[tuple[str, Array, Array, Numbers], ...]:
        """Name, position and rotation (3, 3) in the root frame, and nodes: root first, tip last."""
        order = sorted(self.frames, key=lambda frame: (frame.name == End.TIP, frame.name != End.ROOT))
        turn, origin = rotation_of(order[0].rotation), np.array(order[0].position)
        places = ((turn.T @ (np.array(f.position) - origin), turn.T @ rotation_of(f.rotation)) for f in order)
        return tuple((frame.name, *place, frame.nodes_of(self.body)) for frame, place in zip(order, places))

    @property
    def axes(self) -> Array:
        """Rotation (3, 3) from the root frame to the axes of the nodes."""
        return rotation_of(self._root.rotation)

    @cached_property
    def positions(self) -> Array:
        """Of the nodes in the root frame, (n, 3)."""
        return np.asarray((self.body.nodes - np.array(self._root.position)) @ self.axes)

    @property
    def _root(self) -> Interface:
        return next(frame for frame in self.frames if frame.name == End.ROOT)

    @property
    def stiffness_damping(self) -> float:
        """Damping over stiffness, in seconds."""
        return self.damping + (self.material.damping if self.material else 0.0)

    @property
    def length(self) -> float:
        """From root to tip, in metres."""
        return float(np.linalg.norm(self.placed_frames[-1][1]))

    @property
    def mass(self) -> float:
        """Of the link without payloads, in kilograms."""
        return float(self.body.mass.sum())

    @cached_property
    def undeformed(self) -> RigidLink:
        """The link as a body that does not deform."""
        x, mass = self.positions, self.mass
        weighed = self.body.mass[:, None] * x if self.body.mass.ndim == 1 else self.body.mass @ x
        center = weighed.sum(axis=0) / mass
        products = np.asarray(x.T @ weighed) - mass * np.outer(center, center)
        inertia = np.trace(products) * np.eye(3) - products + self.axes.T @ self.body.rotary.sum(axis=0) @ self.axes
        inertia[np.abs(inertia) <= 1e-14 * np.abs(inertia).max()] = 0.0
        _, position, _, _ = self.placed_frames[-1]
        tip = next(frame for frame in self.frames if frame.name == End.TIP)
        return RigidLink(
            self.name, plain(position), mass, _relative(self._root.rotation, tip.rotation), plain(center),
            tuple(map(plain, 0.5 * (inertia + inertia.T))),
        )  # fmt: skip


def _wrong_nodes(body: NodalBody, own: Numbers, others: list[str]) -> str:
    """What is wrong with the nodes of a frame, or nothing."""
    if not len(own):
        return "leaves the frame without a node; write nodes that belong to the body"
    if others:
        return f"shares nodes with frame '{others[0]}'; give each node to one frame"
    spread = np.linalg.svd(body.nodes[own] - body.nodes[own].mean(axis=0), compute_uv=False)
    if body.per_node == 3 and (len(own) < 3 or spread[1] <= FLAT * body.extent):
        count = f"{len(own)} node{'s' if len(own) > 1 else ''}"
        return f"gives the frame {count} on a line, which may turn about it; write three that span a plane"
    return ""


def rotation_of(quaternion: Quaternion) -> Array:
    """Matrix (3, 3) of a unit quaternion (w, x, y, z)."""
    w, x, y, z = np.array(quaternion) / np.linalg.norm(quaternion)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + 2.0 * (w * cross + cross @ cross))


def _relative(first: Quaternion, second: Quaternion) -> Quaternion:
    """conjugate(first) second."""
    a, u, b, v = first[0], -np.array(first[1:]), second[0], np.array(second[1:])
    x, y, z = plain(a * v + b * u + np.cross(u, v))
    return (float(a * b - u @ v), x, y, z)


def _dense(numbers: object) -> Array:
    return np.asarray(numbers if isinstance(numbers, np.ndarray) else numbers.toarray(), float)  # type: ignore[attr-defined]
