"""The choice that compiles a robot into co-rotational links."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from pliant.errors import refuse_outside
from pliant.formulations.corotational.assembly import Axes, CorotationalElements, Mass
from pliant.model.arm import (
    LINEAR_LAW,
    MOST_ELEMENTS,
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
from pliant.robot import Robot
from pliant.structures.beam_stretch import Beam
from pliant.structures.nodal.assembly import assemble
from pliant.structures.nodal.model import PoseElementArm

ELEMENTS = 10  # of a link, two super elements of five in the paper


@dataclass(frozen=True, repr=False)
class Corotational(SomeRigid):
    """Beam elements that turn with their chord and deform little against it [damic2006].

    ``elements`` per link, one number for all or a mapping from link names. ``theory`` says whether sections shear,
    ``mass`` how nodes carry the inertia of elements. ``axes`` of an element are those of its first end in the paper,
    which is of first order where links twist whose sections bend more easily one way than the other; by default such
    arms take mean axes, which are of second order, and all others those of the paper.
    ``super_element`` elements at a time are one component of the bond graph of a link; motions do not depend on it.
    Links named in ``rigid`` do not deform.
    """

    # ends turn half of it each against the chord, where cubic shapes miss 0.2 % of its length
    validity: ClassVar[Validity] = Validity(
        LINEAR_LAW, 0.2, "deflections of an element from its chord are taken as small", in_parts=True
    )
    elements: Counts = ELEMENTS
    theory: Beam = Beam.EULER_BERNOULLI
    mass: Mass = Mass.DIRECTOR
    axes: Axes = Axes.AS_NEEDED
    super_element: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_outside("super_element", self.super_element, 1, MOST_ELEMENTS, "5 as in the paper")
        for word, choice, known in (
            ("theory", self.theory, Beam),
            ("mass", self.mass, Mass),
            ("axes", self.axes, Axes),
        ):
            refuse_other_choice("Corotational", word, choice, known)

    def finer(self) -> Corotational:
        """The next choice to compare with."""
        return replace(self, elements=twice(self.elements))

    def coarser(self) -> Corotational | None:
        """The choice before this one, to compare with."""
        less = half(self.elements)
        return None if less is None else replace(self, elements=less)

    def compile(self, robot: Robot) -> PoseElementArm:
        """The equations of the robot."""
        robot = self.taken(robot)
        refuse_reduced_links(robot, "Corotational")
        refuse_massless_links(robot, "Corotational")
        kind = CorotationalElements(self.theory, self.mass, self.axes.needed(robot))
        return PoseElementArm(robot, self, assemble(robot, counts_of(robot, self.elements, ELEMENTS), kind))
