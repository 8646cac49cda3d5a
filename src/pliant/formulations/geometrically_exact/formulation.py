"""Choices that compile a robot into a model: collocated links, pose elements, the mixed element of the paper."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.errors import InvalidInput, refuse_other_than_number, refuse_outside
from pliant.formulations.geometrically_exact.assembly import beyond_spectral_links, build_chain
from pliant.model.arm import (
    LAW_ENDS,
    LINEAR_LAW,
    Counts,
    Validity,
    counts_of,
    half,
    refuse_massless_links,
    refuse_other_choice,
    refuse_reduced_links,
    twice,
)
from pliant.model.rigid_links import SomeRigid
from pliant.robot import FixedJoint, FlexibleLink, Robot
from pliant.robot.joint import WholeJoint
from pliant.structures.collocation.bending import SPECTRAL_TURN
from pliant.structures.collocation.chain import Points
from pliant.structures.collocation.model import GeometricallyExactArm

if TYPE_CHECKING:
    from pliant.structures.nodal.model import PoseElementArm


HIGHEST_DEGREE = 16
USUAL_DEGREE = 5
# degree and elements of the meshes that runs choose from: where polynomials of one element converge slowly, or a link
# bends far, more elements cost less
AUTOMATIC: list[tuple[int, Counts]] = [
    *((degree, 1) for degree in (3, 4, 5, 7, 10)),
    *((6, elements) for elements in (3, 6, 12, 24)),
]
USUAL_ELEMENTS, FINER = 8, 5  # pose elements of a link, and how often they are doubled
ENOUGH_ELEMENTS = 64  # whose first frequency is 7e-5 off
POSE_TURN = 0.5  # rad of a pose element at rest
BEND_AHEAD = 2.0  # times the bend at which pose elements take over during a run
MOST_TURN = 25.0  # rad, four full turns, by which a link may bend for that: no link of an arm does by more
REST_STATIONS = 201


def rest_turn(robot: Robot, name: str) -> float:
    """Angle by which the section rotates along the unloaded link, in radians."""
    link = robot.link(name)
    assert isinstance(link, FlexibleLink)
    stations = np.linspace(0.0, link.length, REST_STATIONS)
    curvature = np.linalg.norm(link.rest_strain(stations)[:, 3:], axis=1)
    return float(np.trapezoid(curvature, stations))


# rotations of any size; the strains are those of sections that stay plane
ANY_ROTATION = Validity(LINEAR_LAW, np.inf, LAW_ENDS)


class WhenBent(StrEnum):
    """What a run does when a spectral link bends too far for its polynomials."""

    HAND_OVER = "hand over"  # it is done anew by pose elements, and says so
    STOP = "stop"


@dataclass(frozen=True, repr=False)
class GeometricallyExact(SomeRigid):
    """Spectral links: twists at degree + 1 Lobatto nodes, strains at degree Gauss points of each element.

    ``elements`` per link, one number for all or a mapping from link names. Degree 1 is a two-node element. Without a
    ``degree`` runs choose it, and the elements too, by the accuracy that they are to have; analyses take 5. A run
    in which a link bends too far for its polynomials is done anew by pose elements, unless ``when_bent`` stops it.
    Links named in ``rigid`` do not deform.
    """

    validity: ClassVar[Validity] = ANY_ROTATION
    degree: int | None = None
    elements: Counts = 1
    when_bent: WhenBent = field(default=WhenBent.HAND_OVER, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_outside("degree", self.chosen_degree, 1, HIGHEST_DEGREE, "4 to 6 serves most links")
        refuse_other_choice("GeometricallyExact", "when_bent", self.when_bent, WhenBent)

    @property
    def chosen_degree(self) -> int:
        return USUAL_DEGREE if self.degree is None else self.degree

    @property
    def automatic(self) -> bool:
        return self.degree is None

    def finer(self) -> GeometricallyExact:
        """The next choice to compare with."""
        if self.chosen_degree + 2 > HIGHEST_DEGREE:
            return replace(self, elements=twice(self.elements))
        return replace(self, degree=self.chosen_degree + 2)

    def coarser(self) -> GeometricallyExact | None:
        """The choice before this one, to compare with."""
        if self.chosen_degree > 1:
            return replace(self, degree=self.chosen_degree - 1)
        less = half(self.elements)
        return None if less is None else replace(self, elements=less)

    def meshes(self) -> tuple[GeometricallyExact, ...]:
        """Those of an accuracy, or two coarser choices and this one; the coarsest first."""
        if not self.automatic:
            return super().meshes()
        rows = AUTOMATIC if self.elements == 1 else [(degree, self.elements) for degree in (3, 4, 5, 6, 8, 11, 16)]
        own = (USUAL_DEGREE, self.elements)
        return tuple(self if row == own else replace(self, degree=row[0], elements=row[1]) for row in rows)

    def compile(self, robot: Robot) -> GeometricallyExactArm | PoseElementArm:
        """The equations of the robot; by pose elements, as a substitution, where spectral links do not carry it."""
        robot = self.taken(robot)
        refuse_reduced_links(robot, "GeometricallyExact")
        refuse_massless_links(robot, "GeometricallyExact")
        reason = beyond_spectral_links(robot) or self._bent_too_far(robot)
        if reason:
            return self.pose_elements(robot).with_substitution(f"pose elements were chosen because {reason}")
        return self.guiding(robot, ())

    def guiding(self, robot: Robot, guided: Collection[str]) -> GeometricallyExactArm:
        """Spectral links, with these ball and free joints by coordinates whose motion is prescribed."""
        points = Points.spectral(self.chosen_degree)
        chain, placed, laws = build_chain(robot, points, counts_of(robot, self.elements), guided)
        return GeometricallyExactArm(robot, self, chain, points, placed, laws, frozenset(guided))

    def carried_by(self, robot: Robot, turns: Mapping[str, float] | None = None) -> PoseElementArm | None:
        """Pose elements for what spectral links do not carry; bends that grow are followed unless users say stop, or
        they are those of a blow that no link outlives."""
        if turns is not None and (self.when_bent is WhenBent.STOP or self.degree == 1):
            return None
        if turns is not None and max(turns.values(), default=0.0) > MOST_TURN:
            return None
        return self.pose_elements(robot, turns)

    def pose_elements(self, robot: Robot, turns: Mapping[str, float] | None = None) -> PoseElementArm:
        """The robot by pose elements, at least 8, and the more the higher the degree that was asked for.

        Polynomials gain digits with their degree, pose elements with the square of their number: one for each of the
        intervals between nodes would leave most of what was asked. Where runs choose the mesh, they find its number. A
        link bent at rest, or known to bend by so many radians in ``turns``, has more: none bends by more than half a
        radian.
        """
        known = {} if turns is None else {name: BEND_AHEAD * turn for name, turn in turns.items()}
        degree, counts = self.chosen_degree, {}
        for name, count in counts_of(robot, self.elements).items():
            wanted = 0 if self.automatic else min(count * degree**2, ENOUGH_ELEMENTS)
            bent = ceil(max(rest_turn(robot, name), known.get(name, 0.0)) / POSE_TURN)
            counts[name] = max(USUAL_ELEMENTS, count * degree, wanted, bent)
        return PoseElement(counts, grows=self.automatic, rigid=self.rigid).compile(robot)

    def _bent_too_far(self, robot: Robot) -> str:
        """Which link bends too far at rest between two nodes for a polynomial to follow, or nothing.

        Degree 1 has no polynomial: who chooses that two-node element chooses its length too.
        """
        if self.degree == 1:
            return ""
        for name, count in counts_of(robot, self.elements).items():
            turn = rest_turn(robot, name) / (count * self.chosen_degree)
            if turn > SPECTRAL_TURN:
                return f"link '{name}' bends at rest by {turn:.2g} rad between two nodes of a spectral link"
        return ""


@dataclass(frozen=True, repr=False)
class PoseElement(SomeRigid):
    """Two-node elements whose nodal poses are the state: exact energy and momentum, loops, contact, large bends.

    Second order in space and time. ``elements`` per link, one number for all or a mapping from link names; without it,
    or where ``grows``, runs choose by the accuracy that they are to have, and analyses take 8. Links named in ``rigid``
    do not deform.
    """

    validity: ClassVar[Validity] = ANY_ROTATION
    elements: Counts | None = None
    grows: bool = field(default=False, repr=False)

    @property
    def counts(self) -> Counts:
        return USUAL_ELEMENTS if self.elements is None else self.elements

    @property
    def automatic(self) -> bool:
        return self.elements is None or self.grows

    def finer(self) -> PoseElement:
        """The next choice to compare with."""
        return replace(self, elements=twice(self.counts))

    def coarser(self) -> PoseElement | None:
        """The choice before this one, to compare with."""
        less = half(self.counts)
        return None if less is None else replace(self, elements=less)

    def meshes(self) -> tuple[PoseElement, ...]:
        """Coarser choices and this one; where it is automatic finer ones too."""
        row = [*super().meshes()]
        while self.automatic and len(row) < 3 + FINER:
            row.append(row[-1].finer())
        return tuple(row)

    def compile(self, robot: Robot) -> PoseElementArm:
        """The equations of the robot."""
        # loaded here: their kernels would make every start of spectral arms a quarter slower
        from pliant.structures.nodal.assembly import assemble
        from pliant.structures.nodal.model import PoseElementArm

        robot = self.taken(robot)
        refuse_reduced_links(robot, "PoseElement")
        refuse_massless_links(robot, "PoseElement")
        return PoseElementArm(robot, self, assemble(robot, counts_of(robot, self.counts)))


@dataclass(frozen=True, repr=False)
class MixedElement(SomeRigid):
    """The paper's mixed finite element [macchelli2007] with its parameter alpha, for one link on the base.

    Efforts alpha w_a + (1 - alpha) w_b, twists (1 - alpha) t_a + alpha t_b. With the base twist and the tip
    wrench as inputs alpha must be at least 1/2: below, eliminating the nodes grows like ((1-alpha)/alpha)^N. Links
    named in ``rigid`` do not deform.
    """

    validity: ClassVar[Validity] = ANY_ROTATION
    elements: int = 20
    alpha: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_other_than_number("elements", self.elements, "one number serves all links of the paper's element")
        refuse_other_than_number("alpha", self.alpha, "choose 0.5 for second order")
        if not 0.5 <= self.alpha < 1.0:
            raise InvalidInput(
                f"alpha = {self.alpha:g} must lie in [0.5, 1) because the base twist and the tip wrench are the"
                " inputs of a link; choose 0.5 for second order"
            )

    def coarser(self) -> MixedElement | None:
        """The choice before this one, to compare with."""
        return replace(self, elements=self.elements // 2) if self.elements > 1 else None

    def finer(self) -> MixedElement:
        """The next choice to compare with."""
        return replace(self, elements=2 * self.elements)

    def carried_by(self, robot: Robot, turns: Mapping[str, float] | None = None) -> None:
        """Nobody: who chooses the element of the paper keeps it."""

    def guiding(self, robot: Robot, guided: Collection[str]) -> GeometricallyExactArm:
        """The arm itself: it has no ball and no free joint."""
        return self.compile(robot)

    def compile(self, robot: Robot) -> GeometricallyExactArm:
        """The equations of the robot."""
        robot = self.taken(robot)
        refuse_reduced_links(robot, "MixedElement")
        refuse_massless_links(robot, "MixedElement")
        for joint in robot.joints:
            if isinstance(joint, WholeJoint):
                reason = beyond_spectral_links(robot) or f"joint '{joint.name}' is {joint.word}"
                raise InvalidInput(f"{reason}, which this element does not carry; use PoseElement")
            if joint.parent != "base" and not isinstance(joint, FixedJoint):
                raise InvalidInput(
                    f"joint '{joint.name}' moves against link '{joint.parent}', but the mixed element carries no mass"
                    " at its ends; use GeometricallyExact for arms of several links, or bond_graph.MixedElements"
                )
        points = Points.mixed(self.alpha)
        chain, placed, laws = build_chain(robot, points, counts_of(robot, self.elements))
        return GeometricallyExactArm(robot, self, chain, points, placed, laws)
