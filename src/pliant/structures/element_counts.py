"""How many elements the flexible links of a robot have: one number for all, or a mapping from link names."""

from __future__ import annotations

from collections.abc import Mapping

from pliant.errors import InvalidInput, refuse_outside
from pliant.robot import FlexibleLink, Robot

Counts = int | Mapping[str, int]

MOST = 10_000


def counts_of(robot: Robot, elements: Counts, others: int = 1) -> dict[str, int]:
    """Of every flexible link; those that a mapping does not name have ``others``."""
    flexible = [link.name for link in robot.links if isinstance(link, FlexibleLink)]
    if not isinstance(elements, Mapping):
        counts = dict.fromkeys(flexible, elements)
    else:
        for name in elements:
            if name not in flexible:
                raise InvalidInput(
                    f"elements: '{name}' is not a flexible link of robot '{robot.name}'; name one of {flexible}"
                )
        counts = {name: elements.get(name, others) for name in flexible}
    for name, count in counts.items():
        refuse_outside(f"elements of link '{name}'", count, 1, MOST, "choose another count")
    return counts


def twice(elements: Counts) -> Counts:
    """The next counts to compare with."""
    return {name: 2 * n for name, n in elements.items()} if isinstance(elements, Mapping) else 2 * elements
