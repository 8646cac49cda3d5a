"""Choices that compile a robot into a model: lumped and rigid arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from pliant.errors import InvalidInput, clip
from pliant.formulations.lumped.assembly import MOST_FIELDS, Fields, JointField, assemble
from pliant.formulations.lumped.fields import Beam, LumpedStructure, StationInertia
from pliant.formulations.lumped.model import LumpedArm
from pliant.model.arm import LINEAR_LAW, Validity, refuse_other_choice, refuse_reduced_links
from pliant.model.rigid_links import SomeRigid
from pliant.robot import FlexibleLink, Robot
from pliant.robot.link import MadeRigid
from pliant.robot.robot import nearest
from pliant.structures.tree.assembly import refuse_beyond_trees, refuse_other_laws

Divisions = int | Fields | Mapping[str, int | Fields]


@dataclass(frozen=True, repr=False)
class Lumped(SomeRigid):
    """Stations (masses) and fields (massless springs) after Holzer [konno1996], with large joint motions.

    ``fields`` per flexible link: one number or one `Fields` for all, or a mapping from link names. ``joint_fields`` add
    the flexibility of bearings. The fewer the fields, the smaller must be the deflection of each. Links named in
    ``rigid`` do not deform.
    """

    # a field that turns so far is drawn in by a thousandth of its length, which no field follows
    validity: ClassVar[Validity] = Validity(
        LINEAR_LAW, 0.1, "deflections of a field are linear, so that bent fields do not grow shorter", in_parts=True
    )
    fields: Divisions = 4
    beam: Beam = Beam.TIMOSHENKO
    station_inertia: StationInertia = StationInertia.KEPT
    joint_fields: tuple[JointField, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_other_choice("Lumped", "beam", self.beam, Beam)
        refuse_other_choice("Lumped", "station_inertia", self.station_inertia, StationInertia)
        if not isinstance(self.fields, Mapping):
            _fields(self.fields)
        if not isinstance(self.joint_fields, (tuple, list)):
            raise InvalidInput(
                f"Lumped: joint_fields = {type(self.joint_fields).__name__} is not several; write (JointField(...),)"
            )
        object.__setattr__(self, "joint_fields", tuple(self.joint_fields))

    def __hash__(self) -> int:
        return hash((repr(self.fields), self.beam, self.station_inertia, self.joint_fields, self.rigid))

    def finer(self) -> Lumped | None:
        """The next choice to compare with; none where the stiffness of fields is given, or they are many."""
        if not isinstance(self.fields, Mapping):
            twice = _twice(_fields(self.fields))
            return None if twice is None else replace(self, fields=twice)
        each = {name: _twice(_fields(division)) for name, division in self.fields.items()}
        whole = {name: twice for name, twice in each.items() if twice}
        return replace(self, fields=whole) if len(whole) == len(each) else None

    def coarser(self) -> Lumped | None:
        """The choice before this one, to compare with."""
        if not isinstance(self.fields, Mapping):
            less = _half(_fields(self.fields))
            return None if less is None else replace(self, fields=less)
        each = {name: _half(_fields(division)) or division for name, division in self.fields.items()}
        return replace(self, fields=each) if each != self.fields else None

    def compile(self, robot: Robot) -> LumpedArm:
        """The equations of the robot."""
        robot = self.taken(robot)
        _refuse(robot, "Lumped")
        _refuse_joint_fields(robot, self.joint_fields)
        if self.station_inertia is StationInertia.NEGLECTED:
            _refuse_without_inertia(robot)
        _refuse_massless_rows(robot, self._divisions(robot))
        return LumpedArm(robot, self, self.structure(robot))

    def structure(self, robot: Robot, moving_base: bool = False) -> LumpedStructure:
        """Stations and fields of a robot, on its base or on one that moves by six coordinates."""
        condensed = self.station_inertia is StationInertia.NEGLECTED
        divisions = self._divisions(robot)
        return assemble(robot, divisions, self.beam, condensed, self.joint_fields, moving_base)

    def _divisions(self, robot: Robot) -> dict[str, Fields]:
        flexible = [link.name for link in robot.links if isinstance(link, FlexibleLink)]
        if not isinstance(self.fields, Mapping):
            return dict.fromkeys(flexible, _fields(self.fields))
        for name in self.fields:
            if name not in flexible and not isinstance(robot.named_link(name), MadeRigid):
                raise InvalidInput(
                    f"fields: '{name}' is not a flexible link of robot '{robot.name}'; {nearest(name, flexible)}"
                )
        return {name: _fields(self.fields.get(name, Fields())) for name in flexible}


@dataclass(frozen=True)
class Rigid:
    """All links rigid, flexible ones in their rest shape: equation (40) of [konno1996], a lumped arm without fields."""

    validity: ClassVar[Validity] = Validity(0.0, 0.0, "links do not deform")

    def compile(self, robot: Robot) -> LumpedArm:
        """The equations of the robot."""
        _refuse(robot, "Rigid")
        return LumpedArm(robot, self, self.structure(robot))

    def structure(self, robot: Robot, moving_base: bool = False) -> LumpedStructure:
        """Bodies of a robot, on its base or on one that moves by six coordinates."""
        return assemble(robot, {}, Beam.TIMOSHENKO, False, (), moving_base)


def _fields(division: int | Fields) -> Fields:
    return division if isinstance(division, Fields) else Fields(division)


def _half(division: Fields) -> Fields | None:
    fixed = division.stiffness is not None or division.count < 2
    return None if fixed else replace(division, count=(division.count + 1) // 2)


def _twice(division: Fields) -> Fields | None:
    fixed = division.stiffness is not None or 2 * division.count > MOST_FIELDS
    return None if fixed else replace(division, count=2 * division.count)


def _refuse_joint_fields(robot: Robot, chosen: tuple[JointField, ...]) -> None:
    """Those of joints that are not there, and a second one on a joint."""
    names = [joint.name for joint in robot.joints]
    for each in chosen:
        if not isinstance(each, JointField):
            raise InvalidInput(f"joint_fields has {clip(each)}; write a JointField for each elastic joint")
    own = [each.joint for each in chosen]
    for name in own:
        if name not in names:
            raise InvalidInput(f"JointField: '{name}' is not a joint of robot '{robot.name}'; {nearest(name, names)}")
        if own.count(name) > 1:
            raise InvalidInput(
                f"JointField: joint '{name}' has {own.count(name)} of them; give one, whose flexibility is the sum of"
                " theirs"
            )


def _refuse_massless_rows(robot: Robot, divisions: Mapping[str, Fields]) -> None:
    """A massless link is one field: the same as several of its section, but not as several of given stiffness."""
    for name, chosen in divisions.items():
        link = robot.link(name)
        if isinstance(link, FlexibleLink) and link.massless and chosen.stiffness and chosen.count > 1:
            raise InvalidInput(
                f"link '{name}' has no mass and is one field, but Fields gives {chosen.count} of them a stiffness;"
                " write count = 1 and the stiffness of the whole link, or give the link an inertia"
            )


def _refuse(robot: Robot, formulation: str) -> None:
    """What these formulations do not model."""
    refuse_beyond_trees(robot, formulation)
    if formulation == "Lumped":
        refuse_reduced_links(robot, formulation)
        refuse_other_laws(robot, "fields are linear springs")


def _refuse_without_inertia(robot: Robot) -> None:
    """What needs the inertia of stations."""
    for link in robot.links:
        if isinstance(link, FlexibleLink) and link.material_damping([0.0, link.length]).any():
            raise InvalidInput(
                f"link '{link.name}' has material damping, which is not carried where station inertia is neglected; set"
                " it to zero, or keep the inertia of stations"
            )
    for loop in robot.loops:
        raise InvalidInput(
            f"loop joint '{loop.name}' ties frames whose rotations are no coordinates where station inertia is"
            " neglected; keep the inertia of stations"
        )
