"""Fields of components that act between two frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pliant.errors import Problem
from pliant.robot import At
from pliant.robot.declared import Name, Part
from pliant.robot.joint import BASE

ElementName = Annotated[str, Name("name of the component in results")]
FirstFrame = Annotated[At, Part("frame on one side")]
SecondFrame = Annotated[At, Part("frame on the other side")]


def same_section(first: At, second: At) -> Iterator[Problem]:
    """The problem of two frames that cannot move against each other."""
    if first.link == second.link and (first.section == second.section or first.link == BASE):
        part = "the base" if first.link == BASE else f"the {first.section} of link '{first.link}'"
        yield Problem(f"is fixed to {part} like first; put it on another part", ("second",))
