"""Links that are springs without mass: only lumped arms carry them."""

from __future__ import annotations

from pliant.errors import InvalidInput
from pliant.robot import FlexibleLink, Robot


def refuse_massless_links(robot: Robot, formulation: str) -> None:
    """Refuse a robot with a flexible link that has no mass."""
    for link in robot.links:
        if isinstance(link, FlexibleLink) and link.massless:
            raise InvalidInput(
                f"link '{link.name}' has a section without inertia, which {formulation} does not carry; write its"
                " inertia per length in kg/m, kg and kg m, or use Lumped"
            )
