"""What can be seen of a model: the common answer that figures, viewers, comparison and control read."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.model.layout import Array


@dataclass(frozen=True)
class LinkObservation:
    """One link at n times and m stations along its axis, root first and tip last.

    position (n, m, 3) and rotation (n, m, 3, 3) map the section frame to the world; strain (n, m, 6) is
    measured from the rest shape and wrench (n, m, 6) is the section force and moment, both in the
    section frame and ordered (linear, angular). A rigid link has zero strain and wrench.
    """

    name: str
    station: Array
    position: Array
    rotation: Array
    strain: Array
    wrench: Array


@dataclass(frozen=True)
class Observation:
    """All links, the joints and the tip at n times.

    ``tip`` is the tip of the last link of the chain. ``tip_twist`` (n, 6) is its body twist.
    """

    joint_position: Array
    joint_rate: Array
    links: tuple[LinkObservation, ...]
    tip_position: Array
    tip_rotation: Array
    tip_twist: Array

    def link(self, name: str) -> LinkObservation:
        return next(link for link in self.links if link.name == name)
