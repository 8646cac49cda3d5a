"""The choice that compiles a robot into equivalent rigid links with small deflections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from pliant.errors import InvalidInput, clip, refuse_outside
from pliant.formulations.equivalent_rigid_link import component_modes as reduction
from pliant.formulations.equivalent_rigid_link.assembly import ElasticLink, ShapedStructure, assemble
from pliant.formulations.equivalent_rigid_link.elastic_body import ElasticBody
from pliant.formulations.equivalent_rigid_link.elements import MOST_ELEMENTS, BeamElement, BeamMesh, MassMatrix
from pliant.formulations.equivalent_rigid_link.model import EquivalentRigidLinkArm
from pliant.formulations.equivalent_rigid_link.solid_body import reduced_body
from pliant.model.arm import LARGE_ROTATION, LINEAR_LAW, Validity, half, refuse_massless_links, refuse_other_choice
from pliant.model.rigid_links import SomeRigid
from pliant.robot import FlexibleLink, ReducedLink, Robot
from pliant.robot.link import STATION_SLACK, MadeRigid
from pliant.robot.loop import parent_frame
from pliant.robot.robot import nearest
from pliant.structures.tree.assembly import refuse_beyond_trees, refuse_other_laws


@dataclass(frozen=True, repr=False)
class EquivalentRigidLink(SomeRigid):
    """Small deflections from a rigid arm that moves by any joint angles [vidoni2018].

    Flexible links are finite elements: ``elements`` for each, one number or a mapping from link names, of the kind
    ``element`` with the mass ``mass``. ``basis`` says by which shapes a link deforms: all its nodes, or component
    modes; one choice for all links or a mapping from names. ``damping`` is added to that of the material. Links named
    in ``rigid`` do not deform.
    """

    validity: ClassVar[Validity] = Validity(
        LINEAR_LAW, LARGE_ROTATION, "deflections of a link are linear, so that bent links do not grow shorter"
    )
    elements: int | Mapping[str, int] = 8
    basis: reduction.Nodal | reduction.Modes | Mapping[str, reduction.Nodal | reduction.Modes] = field(
        default_factory=lambda: reduction.Modes(count=6)
    )
    element: BeamElement = BeamElement.TIMOSHENKO
    mass: MassMatrix = MassMatrix.CONSISTENT
    damping: reduction.Rayleigh | reduction.ModalDamping | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for count in self.elements.values() if isinstance(self.elements, Mapping) else (self.elements,):
            refuse_outside("elements of EquivalentRigidLink", count, 1, MOST_ELEMENTS, "4 to 16 serves most links")
        for word, kind, kinds in (("element", self.element, BeamElement), ("mass", self.mass, MassMatrix)):
            refuse_other_choice("EquivalentRigidLink", word, kind, kinds)
        for choice in self.basis.values() if isinstance(self.basis, Mapping) else (self.basis,):
            if not isinstance(choice, (reduction.Nodal, reduction.Modes)):
                raise InvalidInput(
                    f"EquivalentRigidLink: basis = {clip(repr(choice))} is no choice of shapes; write Nodal() or"
                    " Modes(count=...)"
                )
        if self.damping is not None and not isinstance(self.damping, (reduction.Rayleigh, reduction.ModalDamping)):
            raise InvalidInput(
                f"EquivalentRigidLink: damping = {clip(repr(self.damping))} is not known; write Rayleigh(...) or"
                " ModalDamping(...)"
            )

    def __hash__(self) -> int:
        return hash((repr(self.elements), repr(self.basis), self.element, self.mass, self.damping, self.rigid))

    def finer(self) -> EquivalentRigidLink | None:
        """The next choice to compare with: twice the elements, and all shapes where they are not many."""
        twice: int | Mapping[str, int]
        if isinstance(self.elements, Mapping):
            twice = {name: 2 * count for name, count in self.elements.items()}
            most = 2 * max(self.elements.values(), default=0)
        else:
            twice = most = 2 * self.elements
        if most > MOST_ELEMENTS:
            return None
        if isinstance(self.basis, reduction.Modes) and self.basis.count is not None:
            return replace(self, elements=twice, basis=replace(self.basis, count=2 * self.basis.count))
        return replace(self, elements=twice)

    def coarser(self) -> EquivalentRigidLink | None:
        """The choice before this one, to compare with: half the elements, and half the modes where they are counted."""
        less = half(self.elements)
        if less is None:
            return None
        if isinstance(self.basis, reduction.Modes) and self.basis.count is not None:
            return replace(self, elements=less, basis=replace(self.basis, count=(self.basis.count + 1) // 2))
        return replace(self, elements=less)

    def compile(self, robot: Robot) -> EquivalentRigidLinkArm:
        """The equations of the robot."""
        robot = self.taken(robot)
        refuse_beyond_trees(robot, "EquivalentRigidLink")
        refuse_other_laws(robot, "finite elements here are linear")
        refuse_massless_links(robot, "EquivalentRigidLink")
        for given, word in ((self.elements, "elements"), (self.basis, "basis")):
            kinds = FlexibleLink if word == "elements" else (FlexibleLink, ReducedLink)
            names = [link.name for link in robot.links if isinstance(link, kinds)]
            for name in given if isinstance(given, Mapping) else ():
                if name not in names and not isinstance(robot.named_link(name), MadeRigid):
                    raise InvalidInput(
                        f"{word}: '{name}' is not a link of robot '{robot.name}' that deforms; {nearest(name, names)}"
                    )
        return EquivalentRigidLinkArm(robot, self, self.structure(robot))

    def structure(self, robot: Robot, moving_base: bool = False) -> ShapedStructure:
        """Bodies and shapes of a robot, on its base or on one that moves by six coordinates."""
        links = {}
        for link in robot.links:
            if isinstance(link, FlexibleLink):
                links[link.name] = self._shaped(link.name, *self._beam(robot, link))
            elif isinstance(link, ReducedLink):
                links[link.name] = self._shaped(link.name, reduced_body(link), (), None)
        return assemble(robot, links, moving_base)

    def _beam(self, robot: Robot, link: FlexibleLink) -> tuple[ElasticBody, tuple[str, ...], BeamMesh]:
        """Finite elements with nodes wherever something is attached to the link, the names of these, and the mesh."""
        frames = [parent_frame(joint) for joint in robot.joints]
        frames += [frame for loop in robot.loops for frame in (loop.first, loop.second)]
        stations = [float(at.station) for at in frames if at.link == link.name and at.station is not None]
        count = self.elements.get(link.name, 8) if isinstance(self.elements, Mapping) else self.elements
        mesh = BeamMesh.of(link, count, self.element, stations)
        body = mesh.body(self.mass)
        away = np.abs(mesh.ends[:, None] - np.array(stations)).min(axis=1, initial=np.inf)
        interfaces = tuple(frame.name for frame, far in zip(body.frames, away) if far <= STATION_SLACK * link.length)
        return body, interfaces, mesh

    def _shaped(self, name: str, body: ElasticBody, interfaces: tuple[str, ...], mesh: BeamMesh | None) -> ElasticLink:
        """A body with the shapes that were chosen for its link."""
        chosen = self.basis.get(name, reduction.Modes(count=6)) if isinstance(self.basis, Mapping) else self.basis
        shapes = reduction.basis(body, chosen, interfaces)
        m = shapes.shapes.shape[1]
        damping = np.zeros((m, m)) if self.damping is None else reduction.damping_matrix(body, shapes, self.damping)
        return ElasticLink(name, body, shapes, damping, mesh, isinstance(chosen, reduction.Nodal))
