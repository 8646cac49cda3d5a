"""Power ports: where a model exchanges energy with the rest of the world."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pliant.robot import BASE, FlexibleLink, Freedom, FreeJoint, Joint, Robot, SphericalJoint


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
class Pair:
    """A named effort and flow."""

    name: str
    effort: str
    effort_unit: str
    flow: str
    flow_unit: str

    @property
    def effort_words(self) -> str:
        return f"{self.effort} ({self.effort_unit})"

    @property
    def flow_words(self) -> str:
        return f"{self.flow} ({self.flow_unit})"


@dataclass(frozen=True)
class Port(Pair):
    """A pair (effort, flow) whose product is power into the model, in watts."""

    size: int
    frame: Frame
    causality: Causality


def ports_of(robot: Robot) -> tuple[Port, ...]:
    """The ports of any model of a robot: joints, then ends and lengths of links, then the base.

    A joint has one port for each coordinate; a ball joint, whose coordinates start anew at every step, one for its
    spin against the parent, and a free joint one for the twist of its child.
    """
    ports = [port for joint in robot.chain_order for port in joint_ports(joint)]
    for link in (robot.link(joint.child) for joint in robot.chain_order):
        ports += [wrench_port(f"{link.name}.{end}") for end in ("root", "tip")]
        if isinstance(link, FlexibleLink):
            ports.append(spread_port(f"{link.name}.distributed"))
    return (*ports, wrench_port(BASE, causality=Causality.FLOW_IN))


def joint_ports(joint: Joint) -> tuple[Port, ...]:
    if isinstance(joint, SphericalJoint):
        return (Port(joint.name, "torque", "N m", "spin", "rad/s", 3, Frame.BODY, Causality.EFFORT_IN),)
    if isinstance(joint, FreeJoint):
        return (wrench_port(joint.name),)
    return tuple(coordinate_port(freedom) for freedom in joint.freedoms)


def coordinate_port(freedom: Freedom) -> Port:
    effort, unit, rate = ("force", "N", "m/s") if freedom.translates else ("torque", "N m", "rad/s")
    return Port(freedom.name, effort, unit, "rate", rate, 1, Frame.JOINT, Causality.EFFORT_IN)


def wrench_port(name: str, causality: Causality = Causality.EFFORT_IN, frame: Frame = Frame.BODY) -> Port:
    return Port(name, "wrench", "N, N m", "twist", "m/s, rad/s", 6, frame, causality)


def spread_port(name: str, frame: Frame = Frame.BODY) -> Port:
    """Of a wrench per length, the same all along a link, and the twist integrated along it."""
    return Port(name, "wrench", "N/m, N", "twist", "m^2/s, rad m/s", 6, frame, Causality.EFFORT_IN)
