"""Who acts where: the connections of a model in words."""

from __future__ import annotations

from pliant.network.assemble import driven_joints
from pliant.network.attachments import Attachment, Feedback, Load, Prescription, SampledLaw, Torque
from pliant.network.connect import Connected
from pliant.robot import FlexibleLink


def report(connected: Connected) -> str:
    """One line for each port in use with the components that use it, then the ports left unused."""
    users: dict[str, list[str]] = {place: [] for place in _places(connected)}
    for component in connected.components:
        for attachment in component.attachments(connected.arm):
            for place in _used_by(attachment):
                users[place].append(f"{type(component).__name__} ({_effect(attachment)})")
    used = [f"  {place}: {', '.join(names)}" for place, names in users.items() if names]
    unused = [place for place, names in users.items() if not names]
    return "\n".join(
        [
            f"Connections of robot '{connected.robot.name}'",
            *(used or ["  no component is connected"]),
            f"  left unused: {', '.join(unused) or 'none'}",
        ]
    )


def _places(connected: Connected) -> list[str]:
    places = [_joint(name) for name in connected.joint_names]
    for link in connected.robot.links:
        places.append(_link(link.name, distributed=False))
        if isinstance(link, FlexibleLink):
            places.append(_link(link.name, distributed=True))
    return places


def _used_by(attachment: Attachment) -> tuple[str, ...]:
    if isinstance(attachment, Load):
        return (_link(attachment.place.link, attachment.place.distributed),)
    return tuple(_joint(name) for name in driven_joints(attachment))


def _joint(name: str) -> str:
    return f"joint {name}"


def _link(name: str, distributed: bool) -> str:
    return f"along {name}" if distributed else f"tip of {name}"


def _effect(attachment: Attachment) -> str:
    match attachment:
        case Prescription():
            return f"follows {type(attachment.motion).__name__}"
        case Feedback():
            reference = type(attachment.reference).__name__
            return (
                f"stiffness {attachment.stiffness:g}, damping {attachment.damping:g}, reference {reference}"
            )
        case Torque():
            return f"torque {type(attachment.signal).__name__}"
        case Load():
            place = attachment.place
            return f"{type(attachment.signal).__name__} '{place.name}' in {place.frame} axes"
        case SampledLaw():
            return f"'{attachment.controller.name}' every {attachment.controller.period:g} s"
