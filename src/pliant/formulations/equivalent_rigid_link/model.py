"""A compiled arm of equivalent rigid links: joint positions and the coordinates of shapes.

What linear deflections neglect: a beam that bends grows shorter. Sections that turn by small θ(s) against the tangent t
of the undeformed link draw its tip in by the integral of  cross(θ, cross(θ, t)) / 2 .
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pliant.errors import InvalidInput
from pliant.formulations.equivalent_rigid_link.assembly import ElasticLink, ShapedStructure
from pliant.formulations.equivalent_rigid_link.component_modes import Truncation, truncation
from pliant.mechanics.shape_functions import gauss_rule
from pliant.model.arm import LARGE_ROTATION, fibre_strain
from pliant.model.contract import Consistency, Record
from pliant.model.state import LinkObservation
from pliant.robot import ReducedLink
from pliant.spatial.arrays import turned_in_order
from pliant.structures.small_deviations import without_centrifugal_stiffness
from pliant.structures.tree.model import TreeArm
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.observe import Bent, Poses, observe_rigid_link, poses_of
from pliant.structures.tree.structure import LinkPlaces

POINTS = 4  # Gauss points of an element, for what its bending neglects
TOO_BENT = (
    "bent links grow shorter and equivalent rigid links do not; bend them less, or compile the robot with"
    " GeometricallyExact()"
)


@dataclass(frozen=True, eq=False, repr=False)
class EquivalentRigidLinkArm(TreeArm):
    """States: positions and rates of the joints, coordinates of the shapes and their rates, rotors of gear motors."""

    structure: ShapedStructure
    _along: dict[tuple[str, int], tuple[Floats, ...]] = field(default_factory=dict, init=False)

    elastic_words = ("m or rad, or m sqrt(kg)", "the same per second", "coordinates of the shapes")
    too_bent = TOO_BENT

    @cached_property
    def seen_bodies(self) -> Ints:
        """Those of nodes: most others are between the joints of one."""
        return np.unique([-1, *(node.body for link in self.structure.links for node in (*link.nodes, link.tip))])

    @property
    def truncation(self) -> dict[str, Truncation]:
        """What the shapes of each elastic link keep of its finite elements, with the root clamped."""
        return {link.name: truncation(link.body, link.basis) for link in self.structure.elastic_links}

    def along(self, link: ElasticLink, stations: int) -> tuple[Floats, ...]:
        """Stations, rest poses, and displacement, strain and section wrench (s, 6, m) per coordinate of a beam."""
        known = self._along.get((link.name, stations))
        if known is None:
            assert link.mesh is not None
            marks, P = np.linspace(0.0, link.mesh.link.length, stations), link.basis.shapes
            fields = (link.mesh.displacement(marks), *link.mesh.strain(marks))
            known = (marks, link.mesh.rest_poses(marks), *(each @ P for each in fields))
            self._along[link.name, stations] = known
        return known

    def own_coordinates(self, states: Floats, link: ElasticLink) -> Floats:
        """(n, m) of one link."""
        place = [each.name for each in self.structure.elastic_links].index(link.name)
        return self.coordinates(self.bare, states)[0][:, self.structure.columns[place]]

    def observe_links(self, states: Floats, poses: Poses, stations: int) -> tuple[LinkObservation, ...]:
        elastic = {link.name: link for link in self.structure.elastic_links}
        return tuple(
            self._observe_beam(states, poses, link, elastic[link.name], stations)
            if link.name in elastic and elastic[link.name].mesh is not None
            else observe_rigid_link(self, poses, link)
            for link in self.structure.links
        )

    def bent_section(self, link: LinkPlaces, station: float) -> Bent:
        elastic = next((each for each in self.structure.elastic_links if each.name == link.name), None)
        if elastic is None or elastic.mesh is None:
            return super().bent_section(link, station)
        mark = np.array([station * elastic.mesh.link.length])
        place = [each.name for each in self.structure.elastic_links].index(link.name)
        moved, strain = np.zeros((2, 6, self.bare.size))
        columns = self.structure.columns[place]
        moved[:, columns] = elastic.mesh.displacement(mark)[0] @ elastic.basis.shapes
        strain[:, columns] = elastic.mesh.strain(mark)[0][0] @ elastic.basis.shapes
        return Bent(link.root, moved, elastic.mesh.rest_poses(mark)[0], strain)

    def _observe_beam(
        self, states: Floats, poses: Poses, link: LinkPlaces, elastic: ElasticLink, stations: int
    ) -> LinkObservation:
        q = self.own_coordinates(states, elastic)
        marks, rest, moved, strain, wrench = self.along(elastic, stations)
        x, R = poses.at(link.root)
        u = np.einsum("sim,nm->nsi", moved, q)
        position = x[:, None] + np.einsum("nij,nsj->nsi", R, rest[:, :3, 3] + u[..., :3])
        rotation = R[:, None] @ turned_in_order(u[..., 3:]) @ rest[:, :3, :3]
        seen = (np.einsum("sim,nm->nsi", each, q) for each in (strain, wrench))
        return LinkObservation(link.name, marks, position, rotation, *seen)

    def surface(self, states: Floats, name: str) -> tuple[Ints, Floats]:
        """Triangles (t, 3) and nodes (n, nodes, 3) in the world of the deformed surface of a reduced link."""
        link = self.robot.link(name)
        if not isinstance(link, ReducedLink):
            raise InvalidInput(f"link '{name}' has no surface; only reduced links have one, beams have sections")
        states = np.atleast_2d(states)
        elastic = next(each for each in self.structure.elastic_links if each.name == name)
        shapes = np.asarray(elastic.body.to_point @ elastic.basis.shapes)
        moved = (self.own_coordinates(states, elastic) @ shapes.T).reshape(len(states), -1, 3)
        x, R = poses_of(self, states).at(self.structure.link(name).root)
        return link.body.triangles, x[:, None] + np.einsum("nij,npj->npi", R, elastic.body.point_position + moved)

    def neglected_displacement(self, states: Floats) -> Floats:
        """By shortening, of the links between base and tip."""
        poses, before = poses_of(self, states), self.bare.before[self.structure.tip.body + 1]
        total = np.zeros((len(states), 3))
        for link in self.structure.elastic_links:
            places = self.structure.link(link.name)
            if link.mesh is None or not (places.tip.body == -1 or before[places.tip.body]):
                continue
            width, (at, weights) = np.diff(link.mesh.ends), gauss_rule(POINTS)
            marks = (link.mesh.ends[:-1, None] + width[:, None] * at).ravel()
            turns = link.mesh.displacement(marks)[:, 3:] @ link.basis.shapes
            tangents = link.mesh.rest_poses(marks)[:, :3, 0]
            turn = np.einsum("sim,nm->nsi", turns, self.own_coordinates(states, link))
            drawn_in = 0.5 * np.cross(turn, np.cross(turn, tangents))
            _, R = poses.at(places.root)
            total += np.einsum("nij,nsj,s->ni", R, drawn_in, (width[:, None] * weights).ravel())
        return total

    def consistency_error(self, record: Record) -> Consistency:
        return replace(super().consistency_error(record), warning=self.rotation_warning(record.time, record.states))

    def beyond_reach(self, state: Floats, turning: float) -> str:
        return super().beyond_reach(state, turning) or without_centrifugal_stiffness(turning)

    def rotation_warning(self, time: Floats, states: Floats) -> str:
        """One sentence on the first time at which elastic rotations add up to what linear deflections do not carry."""
        turned, strained = np.zeros((2, len(states)))
        on_the_way = {link.name: np.zeros(len(states)) for link in self.structure.links}
        elastic = {link.name: link for link in self.structure.elastic_links}
        for joint in self.robot.chain_order:
            before = on_the_way.get(joint.parent, np.zeros(len(states)))
            link = elastic.get(joint.child)
            inside = np.zeros((len(states), 1))
            if link is not None:
                q = self.own_coordinates(states, link)
                shapes = link.shaped.frames[:, 3:]
                inside = np.linalg.norm(np.einsum("fim,nm->nfi", shapes, q), axis=2)
                if link.mesh is not None:
                    marks, _, _, strain, _ = self.along(link, 21)
                    stiffness = link.mesh.link.stiffness(marks)
                    strained = np.maximum(strained, fibre_strain(stiffness, np.einsum("sim,nm->nsi", strain, q)))
            turned = np.maximum(turned, before + inside.max(axis=1))
            on_the_way[joint.child] = before + inside[:, -1]
        late = np.flatnonzero(turned > LARGE_ROTATION)
        if not len(late):
            return ""
        first = late[0]
        return (
            f"elastic rotations add up to {turned[first]:.2g} rad at t = {time[first]:.3g} s (largest strain"
            f" {strained[first]:.2g}) and to {turned.max():.2g} rad later, more than {LARGE_ROTATION:g} rad, where"
            " linear deflections are wrong by some percent; stiffen the links, or compile the robot with"
            " GeometricallyExact()"
        )
