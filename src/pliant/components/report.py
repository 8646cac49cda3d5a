"""Who acts where: the connections of a model in words."""

from __future__ import annotations

from math import isinf

from pliant.components.connect import Connected
from pliant.components.motions import Hold
from pliant.components.ports import (
    Attachment,
    BaseMove,
    CommandLaw,
    Feedback,
    Following,
    Load,
    Prescription,
    SampledLaw,
    Torque,
    ports_used,
)
from pliant.model.inputs import BushingPlace, MotorPlace, SpringPlace, WallPlace
from pliant.model.sampling import ServoPlace


def report(connected: Connected) -> str:
    """One line for each port in use with the components that use it, then the ports left unused."""
    users: dict[str, list[str]] = {port.name: [] for port in connected.ports}
    for component in connected.components:
        for attachment in component.attachments(connected.arm):
            for port in ports_used(attachment):
                users[port].append(f"{type(component).__name__} ({_effect(attachment)})")
    used = [f"  {port}: {', '.join(names)}" for port, names in users.items() if names]
    unused = [port for port, names in users.items() if not names]
    return "\n".join(
        [
            f"Connections of robot '{connected.robot.name}'",
            *(used or ["  no component is connected"]),
            f"  left unused: {', '.join(unused) or 'none'}",
            *([f"  {connected.substitution}"] if connected.substitution else []),
        ]
    )


def _effect(attachment: Attachment) -> str:
    match attachment:
        case Prescription():
            return f"follows {type(attachment.motion).__name__}"
        case Feedback() | Following():
            reference = type(attachment.reference).__name__
            return (
                f"stiffness {attachment.stiffness:g}, damping {attachment.damping:g}, reference {reference}"
            )
        case Torque():
            return f"torque {type(attachment.signal).__name__}"
        case SampledLaw():
            return f"'{attachment.controller.name}' every {attachment.controller.period:g} s"
        case CommandLaw():
            return (
                f"'{attachment.controller.name}' commands the rate every {attachment.controller.period:g} s"
            )
        case ServoPlace():
            return f"at the joint gain {attachment.gain:g}, every {attachment.period:g} s"
        case MotorPlace():
            limit = "" if isinf(attachment.torque_limit) else f", limit {attachment.torque_limit:g}"
            gear = f"stiffness {attachment.stiffness:g}" if attachment.stiffness else "rigid gear"
            return f"at the joint inertia {attachment.rotor_inertia:g}, {gear}{limit}"
        case Load():
            place = attachment.place
            return f"{type(attachment.signal).__name__} '{place.name}' in {place.frame} axes"
        case SpringPlace():
            return f"'{attachment.name}', stiffness {attachment.stiffness:g}, rest length {attachment.rest_length:g}"
        case BushingPlace():
            return f"'{attachment.name}'"
        case WallPlace():
            return f"'{attachment.name}', stiffness {attachment.stiffness:g}"
        case BaseMove():
            moving = [motion for motion in attachment.motions if not isinstance(motion, Hold)]
            return f"follows {', '.join(type(motion).__name__ for motion in moving) or 'Hold'}"
