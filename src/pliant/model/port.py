"""Power ports: where a model exchanges energy with the rest of the world."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Causality(StrEnum):
    """Which of the two port variables the world outside decides."""

    EFFORT_IN = "effort in"
    FLOW_IN = "flow in"


class Frame(StrEnum):
    """The axes in which a wrench or twist is written."""

    BODY = "body"
    WORLD = "world"
    JOINT = "joint"


@dataclass(frozen=True)
class Port:
    """A pair (effort, flow) whose product is power into the model, in watts."""

    name: str
    effort: str
    effort_unit: str
    flow: str
    flow_unit: str
    size: int
    frame: Frame
    causality: Causality
