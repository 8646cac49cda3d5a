"""From a robot to a tree whose elastic links move by shapes.

Equation (2) of [vidoni2018] places a point of a link by the motion of the equivalent rigid link and a small
displacement in its frame. The root of a link follows the deformed tip of the link before it, (3); here that is a tree:

    link frame -- three displacements -- mass point               for every mass point of the link
    link frame -- three displacements -- three rotations -- frame     for its nodes and its tip
    link frame -- one rotation -- rotary inertia of its sections about one axis, for three axes

and each of these joints moves by the shapes of the link, s = S q (`structures.tree.shapes`). Shapes are clamped at the
root, so that the link frame is that of the root and no pseudo-inverse of C_r, (10) and (11), is needed. Rotations of
frames are turns about x, the new y and the newest z by the elements of S q: small ones are right to first order, and
all that lies behind them is carried along as a rigid motion, whatever their size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.formulations.equivalent_rigid_link.component_modes import Basis
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody, Shaped
from pliant.formulations.equivalent_rigid_link.elements import BeamMesh
from pliant.mechanics.rigid_body import spatial_inertia
from pliant.robot import Robot
from pliant.structures.places import ORIGIN, Place
from pliant.structures.tree.assembly import ROTATIONS, TRANSLATIONS, TreeBuilder
from pliant.structures.tree.clouds import LinkCloud
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.structure import LinkPlaces, Structure, node_at

NODES = "nodes", "or choose a number of elements that puts a node there"
WORDS = ("dx", "dy", "dz", "phx", "phy", "phz")


@dataclass(frozen=True, eq=False)
class ElasticLink:
    """A link with its shapes; a beam has a mesh along its axis."""

    name: str
    body: ElasticBody
    basis: Basis
    damping: Floats  # (m, m)
    mesh: BeamMesh | None
    nodal: bool

    @cached_property
    def shaped(self) -> Shaped:
        shaped = self.body.shaped(self.basis.shapes)
        if self.nodal:
            return shaped
        # modes of the clamped body are orthogonal, but for rounding
        return shaped._replace(stiffness=np.diag((2.0 * np.pi * self.basis.frequencies) ** 2))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the coordinates."""
        if not self.nodal:
            return tuple(f"{self.name}.mode[{k}]" for k in range(1, len(self.basis.frequencies) + 1))
        whole = [f"{self.name}.dof[{k}]" for k in range(self.body.size)]
        for frame in self.body.frames:
            for dof, word in zip(frame.dofs, WORDS):
                whole[dof] = f"{self.name}.{frame.name}.{word}"
        return tuple(whole[k] for k in self.body.free)

    @property
    def stations(self) -> Floats:
        """Of the frames, metre."""
        if self.mesh is not None:
            return self.mesh.ends
        away = [frame.position - self.body.frames[0].position for frame in self.body.frames]
        return np.asarray(np.linalg.norm(away, axis=1))


@dataclass(frozen=True, eq=False)
class ShapedStructure(Structure):
    """Links that deform by shapes; ``columns`` are the coordinates of each."""

    shapes_of_joints: Floats
    elastic_links: tuple[ElasticLink, ...]
    columns: tuple[Ints, ...]
    link_clouds: tuple[LinkCloud, ...]

    @property
    def clouds(self) -> tuple[LinkCloud, ...]:
        return self.link_clouds

    @property
    def shapes(self) -> Floats:
        return self.shapes_of_joints

    @cached_property
    def more_mass(self) -> Floats:
        return self._of_links("more_mass")

    @cached_property
    def elastic_stiffness(self) -> Floats:
        return self._of_links("stiffness")

    @cached_property
    def elastic_damping(self) -> Floats:
        whole = self._of_links("damping")
        for link, own in zip(self.elastic_links, self.columns):
            whole[np.ix_(own, own)] += link.damping
        return whole

    def _of_links(self, matrix: str) -> Floats:
        whole = np.zeros((self.size, self.size))
        for link, own in zip(self.elastic_links, self.columns):
            whole[np.ix_(own, own)] = getattr(link.shaped, matrix)
        return whole

    @property
    def remedies(self) -> tuple[str, ...]:
        return ("make the joint fixed",)

    def at_station(self, link: LinkPlaces, station: float) -> Place:
        return node_at(link, station, NODES)


def assemble(robot: Robot, links: Mapping[str, ElasticLink], moving_base: bool) -> ShapedStructure:
    """The tree of a robot."""
    builder = _Builder(robot, links)
    builder.build(moving_base)
    return builder.structure()


class _Builder(TreeBuilder):
    def __init__(self, robot: Robot, links: Mapping[str, ElasticLink]) -> None:
        super().__init__(robot)
        self.elastic_links = links
        self.moved_by: list[tuple[int, Floats]] = []  # first column and numbers of each row of S
        self.columns: list[Ints] = []
        self.clouds: list[LinkCloud] = []

    def coordinate(self, name: str, kind: int, at: Place) -> Place:
        self.moved_by.append((len(self.names), np.ones(1)))
        return super().coordinate(name, kind, at)

    def displaced(self, at: Place, first: int, kinds: tuple[int, ...], shapes: Floats) -> Place:
        """A frame that moves from ``at`` by the shapes (kinds, m), the coordinates from ``first`` on."""
        for kind, shape in zip(kinds, shapes, strict=True):
            if shape.any():
                self.moved_by.append((first, shape))
                at = self.body(kind, at)
        return at

    def at_station(self, link: LinkPlaces, station: float) -> Place:
        return node_at(link, station, NODES)

    def add_flexible(self, name: str, root: Place) -> None:
        link, first = self.elastic_links[name], len(self.names)
        shaped = link.shaped
        self.names += link.names
        own = np.arange(first, len(self.names))
        self.elastic += own.tolist()
        self.columns.append(own)
        bodies = []
        for mass, position, shape in zip(shaped.mass, shaped.position, shaped.shape):
            at = self.displaced(root.moved(position), first, TRANSLATIONS, shape)
            self.carry(name, at, spatial_inertia(mass, ORIGIN, np.zeros((3, 3))))
            bodies.append(at.body)
        inertia, axes = np.linalg.eigh(shaped.spin_inertia)
        axes[:, 2] *= np.linalg.det(axes)
        turn = axes.T @ shaped.spin_shape
        for k in range(3):
            # a body that resists turns about one axis only, and so does not feel how far it has turned
            at = self.displaced(root.turned(axes), first, (ROTATIONS[k],), turn[k : k + 1])
            self.carry(name, at, spatial_inertia(0.0, ORIGIN, np.diag(inertia * (np.arange(3) == k))))
            bodies.append(at.body)
        self.add_cloud(root, first, shaped, np.array(bodies), (inertia, axes, turn))
        nodes = tuple(
            self.displaced(root.moved(frame.position), first, (*TRANSLATIONS, *ROTATIONS), shape).turned(frame.rotation)
            for frame, shape in zip(link.body.frames, shaped.frames, strict=True)
        )
        marks = link.stations
        shares = np.zeros(len(marks))
        if link.mesh is not None:
            shares = np.diff(np.concatenate([marks[:1], 0.5 * (marks[1:] + marks[:-1]), marks[-1:]]))
        self.links[name] = LinkPlaces(name, marks, nodes, shares, (), nodes[-1])

    def add_cloud(
        self, root: Place, first: int, shaped: Shaped, bodies: Ints, spin: tuple[Floats, Floats, Floats]
    ) -> None:
        """The same once more, without what is rigid with the root."""
        inertia, axes, turn = spin
        moving, turning = bodies[:-3] != root.body, bodies[-3:] != root.body
        places = root.position + shaped.position[moving] @ root.rotation.T
        shapes = np.einsum("ij,pjm->pim", root.rotation, shaped.shape[moving])
        self.clouds.append(
            LinkCloud(
                bodies[bodies != root.body], root.body, first, shaped.mass[moving], places, shapes,
                inertia * turning, root.rotation @ axes, turn,
            )
        )  # fmt: skip

    def structure(self) -> ShapedStructure:
        S = np.zeros((len(self.moved_by), len(self.names)))
        for row, (first, numbers) in enumerate(self.moved_by):
            S[row, first : first + len(numbers)] = numbers
        return ShapedStructure(
            self.robot, tuple(self.names), self.bodies(), tuple(self.freedoms), np.array(self.joints, np.int64),
            np.array(self.elastic, np.int64), np.array(self.base, np.int64), tuple(self.parts),
            tuple(self.links.values()), False, S, tuple(self.elastic_links[link] for link in self.links if
            link in self.elastic_links), tuple(self.columns), tuple(self.clouds),
        )  # fmt: skip
