"""A wrench per length of a link, known in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pliant.components.fields import Holds
from pliant.components.link_wrench import WRITE_SIGNAL, LinkWrench
from pliant.components.signals import Signal


@dataclass(frozen=True)
class DistributedWrench(LinkWrench):
    """Force (N/m) and moment (N m/m) per length in time, six components, all along a link.

    In the WORLD frame the wrench keeps its direction, in the BODY frame it rotates with each section.
    """

    distributed: ClassVar[bool] = True
    signal: Annotated[Signal, Holds("force and moment per length in time", Signal, WRITE_SIGNAL)]
