"""A wrench at the tip of a link, known in time."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.components.link_wrench import LinkWrench


@dataclass(frozen=True)
class TipWrench(LinkWrench):
    """Force (N) and moment (N m) in time, six components, on the tip of a link.

    In the WORLD frame the wrench keeps its direction (a dead load), in the BODY frame it rotates with the tip
    section (a follower load).
    """
