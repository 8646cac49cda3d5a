"""What every compiled arm knows from the robot alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np

from pliant.errors import InvalidInput, clip, refuse_other_than_number, refuse_outside, tell, told_already
from pliant.model.contract import Arm
from pliant.model.inputs import Inputs
from pliant.model.port import Port, ports_of
from pliant.model.sampling import Section
from pliant.model.section import ObservedSection
from pliant.model.state import Array, ends_of
from pliant.renamed import OF_MODELS, Renamed
from pliant.robot import FlexibleLink, ReducedLink, Robot
from pliant.robot.link import MadeRigid
from pliant.robot.shown import Shown, listed

Counts = int | Mapping[str, int]

MOST_ELEMENTS = 10_000  # of a link


@dataclass(frozen=True)
class Validity:
    """How far the theory of a formulation holds.

    ``strain`` is the largest one of outer fibres, ``rotation`` (rad) the largest of a section against the root of its
    link or, where links are divided ``in_parts``, against the root of its part; both measured from the rest shape.
    ``posture`` (rad) bounds joints whose positions the equations take as those at the start. ``reason`` says what is
    lost beyond.
    """

    strain: float
    rotation: float
    reason: str
    in_parts: bool = False
    posture: float = np.inf


# Hooke's law of metals ends far below, that of rubber about here; strains count linearly in all formulations
LINEAR_LAW = 0.05
# rad: a tip rotation at which a straight cantilever is drawn in by 2 % of its deflection
LARGE_ROTATION = 0.05
LAW_ENDS = "the law of the material is linear in the strain"


def fibre_strain(stiffness: Array, strain: Array) -> Array:
    """(n,) largest strain of outer fibres of sections (m, 6, 6) with strains (n, m, 6), by stretch and by bending.

    Their distance from the axis is taken from the radius of gyration of the section.
    """
    reach = np.sqrt(3.0 * stiffness[:, [4, 5], [4, 5]] / stiffness[:, :1, 0])
    bending = (np.abs(strain[..., 4:]) * reach).sum(axis=2)
    return np.asarray((np.abs(strain[..., 0]) + bending).max(axis=1, initial=0.0))


def counts_of(robot: Robot, elements: Counts, others: int = 1) -> dict[str, int]:
    """Of every flexible link; those that a mapping does not name have ``others``."""
    flexible = [link.name for link in robot.links if isinstance(link, FlexibleLink)]
    if not isinstance(elements, Mapping):
        counts = dict.fromkeys(flexible, elements)
    else:
        for name in elements:
            if name not in flexible and not isinstance(robot.named_link(name), MadeRigid):
                raise InvalidInput(
                    f"elements: '{name}' is not a flexible link of robot '{robot.name}'; name one of {flexible}"
                )
        counts = {name: elements.get(name, others) for name in flexible}
    for name, count in counts.items():
        refuse_outside(f"elements of link '{name}'", count, 1, MOST_ELEMENTS, "choose another count")
    return counts


def twice(elements: Counts) -> Counts:
    """The next counts to compare with."""
    return {name: 2 * n for name, n in elements.items()} if isinstance(elements, Mapping) else 2 * elements


def half(elements: Counts) -> Counts | None:
    """The choice before `twice`, rounded up; None where no link has more than one."""
    many = elements.values() if isinstance(elements, Mapping) else (elements,)
    if max(many, default=1) < 2:
        return None
    return (
        {name: (n + 1) // 2 for name, n in elements.items()} if isinstance(elements, Mapping) else (elements + 1) // 2
    )


def refuse_massless_links(robot: Robot, formulation: str) -> None:
    """Refuse a robot with a flexible link that has no mass."""
    for link in robot.links:
        if isinstance(link, FlexibleLink) and link.massless:
            raise InvalidInput(
                f"link '{link.name}' has a section without inertia, which {formulation} does not carry; write its"
                " inertia per length in kg/m, kg and kg m, or use Lumped"
            )


def refuse_other_choice(owner: str, field: str, value: object, options: type[Enum]) -> None:
    """A word or a number in place of a choice would be taken for one of them in silence."""
    if not isinstance(value, options):
        names = ", ".join(f"{options.__name__}.{option.name}" for option in options)
        raise InvalidInput(f"{owner}: {field} = {clip(repr(value))} is not known; write one of {names}")


def refuse_reduced_links(robot: Robot, formulation: str) -> None:
    """Refuse a robot with a link of any shape."""
    for link in robot.links:
        if isinstance(link, ReducedLink):
            raise InvalidInput(
                f"link '{link.name}' is a ReducedLink, which {formulation} does not carry; compile with"
                " EquivalentRigidLink or Rigid"
            )


def model_lines(model: Arm) -> dict[str, str]:
    """What a model prints as."""
    blocks = [f"{block.name} {'x'.join(map(str, block.shape))}" for block in model.layout.blocks]
    return {
        "formulation": repr(model.formulation),
        "joints": listed(model.joint_names),
        "state": f"{model.layout.size} numbers ({', '.join(blocks)})",
        "substitution": getattr(model, "substitution", ""),
    }


_COMPILED: WeakKeyDictionary[ArmFacts, dict[Any, Arm]] = WeakKeyDictionary()


class ArmFacts(Shown, Renamed):
    """Names, ports and sizes."""

    old_names = OF_MODELS
    robot: Robot
    # Where another formulation computes than the one that was asked for, or something is left out.
    substitution: str = ""

    def __post_init__(self) -> None:
        tell(self.robot.doubts)

    def _shown(self) -> tuple[str, dict[str, str]]:
        model = cast(Arm, self)
        return f"{type(model.formulation).__name__} model of robot '{self.robot.name}'", model_lines(model)

    def undeformed(self, positions: Array) -> Array:
        """States (n, size) at rest with undeformed links at exactly these joint positions."""
        arm = cast(Arm, self)
        still = np.zeros(len(arm.joint_names))
        return self.moved_to(arm.initial_state(still, still), positions)

    def moved_to(self, state: Array, positions: Array) -> Array:
        """Copies (n, size) of a state at rest whose joints, and rotors with them, have these positions."""
        layout = cast(Arm, self).layout
        states = np.tile(state, (len(positions), 1))
        layout.part(states, "joint_position")[:] = positions
        if "rotor" in layout.slices:
            layout.part(states, "rotor")[..., 0] = positions
        return states

    def link_ends(self, states: Array) -> tuple[Array, Array]:
        """Positions (n, links, 2, 3) and rotations (n, links, 2, 3, 3) of the roots and tips of all links, in the order
        of the chain; several times cheaper than `observe` where a structure can do without strains."""
        return ends_of(cast(Arm, self).observe(states, 2).links)

    def section(self, link: str, station: float) -> Section:
        """A section at a share of the length of a link, for one who reads it often."""
        if link not in self.link_names:
            raise InvalidInput(f"the arm has no link '{link}'; name one of {', '.join(self.link_names)}")
        remedy = "write a share of the length, 0 at the root and 1 at the tip"
        refuse_other_than_number("station", station, remedy)
        if not 0.0 <= station <= 1.0:
            raise InvalidInput(f"station = {station:g} of link '{link}' lies outside of it; {remedy}")
        found = self.section_at(link, float(station))
        arm = cast(Arm, self)
        root, turn, position, _ = found.poses(arm.undeformed(np.zeros((1, len(arm.joint_names))))[0])
        found.rest = (position - root) @ turn
        return cast(Section, found)

    def section_at(self, link: str, station: float) -> Any:
        """The reader of a structure; ``rest`` of it is found afterwards."""
        return ObservedSection(self, link, station)

    def law_to_blame(self, joint: str, position: float) -> tuple[str, str]:
        """Of a joint whose friction or stop kept a step from converging: which of them, and what to try."""
        law = self.robot.freedom(joint).law
        stopped = law.limits is not None and not law.limits.lower < position < law.limits.upper
        if law.limits is not None and (stopped or law.friction is None):
            remedy = f"lower the stiffness of the stop, {law.limits.stiffness:g}, or take a smaller step"
            return f"the stop of joint '{joint}'", remedy
        rate = law.friction.smoothing_rate if law.friction is not None else 0.0
        remedy = f"raise the smoothing_rate of the friction, {rate:g}, or take another step"
        return f"the friction of joint '{joint}'", remedy

    @told_already()
    def by(self, formulation: Any) -> Arm:
        """The same robot by another choice; compiled once, since runs of one arm try the same meshes."""
        known = _COMPILED.setdefault(self, {})
        if formulation not in known:
            known[formulation] = cast(Arm, formulation.compile(self.robot))
        return known[formulation]

    @cached_property
    def link_names(self) -> tuple[str, ...]:
        return tuple(joint.child for joint in self.robot.chain_order)

    @cached_property
    def ports(self) -> tuple[Port, ...]:
        return ports_of(self.robot)

    @cached_property
    def inputs(self) -> Inputs:
        return Inputs.none(len(cast(Arm, self).joint_names))

    @cached_property
    def reach(self) -> float:
        """Sum of the lengths of all links, the scale of relative errors; one metre if none has a length."""
        return sum(self.robot.link(name).length for name in self.link_names) or 1.0
