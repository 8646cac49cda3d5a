"""Which ports of an arm a component uses, and whether they fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.errors import InvalidInput
from pliant.model.inputs import BushingPlace, LoadPlace, MotorPlace, SpringPlace, WallPlace
from pliant.model.port import Frame, Port
from pliant.model.servo import ServoPlace
from pliant.network.attachments import (
    Attachment,
    BaseMove,
    CommandLaw,
    Feedback,
    Following,
    Load,
    Prescription,
    SampledLaw,
    Torque,
)
from pliant.network.fields import nearest
from pliant.robot import At, FixedJoint, FlexibleLink, FreeJoint, Joint, RigidLink, SphericalJoint
from pliant.robot.compound_joint import reference_name
from pliant.robot.joint import BASE

if TYPE_CHECKING:
    from pliant.model.contract import Model


def drivable(arm: Model) -> tuple[str, ...]:
    """The joint coordinates that can be driven or prescribed: all but those of ball joints that are not prescribed."""
    return tuple(port.name for port in arm.ports if port.frame is Frame.JOINT)


def drivable_in_the_tree(arm: Model) -> tuple[str, ...]:
    """Those that a law for all joints drives; loop joints, which follow from them, are driven by name only.

    Coordinates of a ball or free joint are there only where its motion is prescribed.
    """
    loops = [loop.name for loop in arm.robot.loops]
    owned = ((name, name.partition(".")[0]) for name in drivable(arm))
    return tuple(name for name, owner in owned if owner not in loops and not driven_as_a_whole(arm, owner))


def described_joint(arm: Model, name: str) -> Joint | None:
    """The joint or loop joint of that name."""
    joints = (*arm.robot.joints, *(loop.joint for loop in arm.robot.loops))
    return next((joint for joint in joints if joint.name == name), None)


def driven_as_a_whole(arm: Model, name: str) -> SphericalJoint | FreeJoint | None:
    """The ball or free joint of that name, which one torque or wrench drives in all its directions."""
    joint = described_joint(arm, name)
    return joint if isinstance(joint, (SphericalJoint, FreeJoint)) else None


def is_part_of_whole(arm: Model, name: str) -> bool:
    """Whether that names a coordinate of a ball or free joint."""
    whole = driven_as_a_whole(arm, name.partition(".")[0])
    return whole is not None and name in (each.name for each in whole.guided_freedoms)


def driven_joints(attachment: Attachment) -> tuple[str, ...]:
    match attachment:
        case Prescription() | Feedback() | Following() | Torque() | MotorPlace() | ServoPlace():
            return (attachment.joint,)
        case SampledLaw() | CommandLaw():
            return attachment.controller.joints
        case _:
            return ()


def ports_used(attachment: Attachment) -> tuple[str, ...]:
    """The names of the ports through which a component exchanges power with an arm."""
    match attachment:
        case Load():
            place = attachment.place
            return (f"{place.link}.distributed" if place.distributed else _port_at(place.at),)
        case SpringPlace() | BushingPlace():
            return _port_at(attachment.first), _port_at(attachment.second)
        case WallPlace():
            return (_port_at(attachment.at),)
        case BaseMove():
            return (BASE,)
        case Following():
            return (reference_name(attachment.joint),)
        case _:
            return driven_joints(attachment)


def check_ports(arm: Model, label: str, attachment: Attachment) -> None:
    """Refuse a component whose port the arm does not have, or has with another effort and flow."""
    for joint in driven_joints(attachment):
        _check_joint(arm, label, attachment, joint)
    match attachment:
        case Load():
            _check_link(arm, label, attachment.place.link)
            _check_length(arm, label, attachment.place)
            _check_station(arm, label, attachment.place.at)
        case SpringPlace() | BushingPlace():
            for at in (attachment.first, attachment.second):
                _check_link(arm, label, at.link)
                _check_station(arm, label, at)
            _check_two_parts(arm, label, attachment)
        case WallPlace():
            _check_link(arm, label, attachment.at.link)
            _check_station(arm, label, attachment.at)
    if isinstance(attachment, Following):
        return  # its reference is there unless the joint is prescribed too, which is refused as a conflict
    names = [port.name for port in arm.ports]
    for name in ports_used(attachment):
        if name not in names:
            raise InvalidInput(f"{label}: the arm has no port '{name}'; {nearest(name, names)}")


def _port_at(at: At) -> str:
    """What sits inside a link acts through the port of its length."""
    return BASE if at.link == BASE else f"{at.link}.{at.end if at.station is None else 'distributed'}"


def _check_joint(arm: Model, label: str, attachment: Attachment, joint: str) -> None:
    known = drivable(arm)
    described = described_joint(arm, joint.partition(".")[0])
    whole = driven_as_a_whole(arm, joint.partition(".")[0])
    if joint in known and (whole is None or isinstance(attachment, Prescription)):
        return
    if isinstance(attachment, Following) and {joint, reference_name(joint)} & set(known):
        return
    if described and described not in arm.robot.joints and not _has_port(arm, described):
        raise InvalidInput(
            f"{label}: joint '{described.name}' closes a loop, and this formulation gives it no coordinate;"
            " use PoseElement, or close the loop at another joint"
        )
    if whole and whole.name == joint and isinstance(attachment, Torque):
        if joint not in (port.name for port in arm.ports):
            raise InvalidInput(f"{label}: joint '{joint}' is prescribed too; remove one of the two")
        return
    if whole:
        raise InvalidInput(_about_whole(label, whole))
    port = _port_of_part(arm, joint)
    if port is not None:
        prescribes = isinstance(attachment, Prescription)
        gives = "a rate (rad/s or m/s)" if prescribes else "a torque (N m) or force (N)"
        takes = port.flow_words if prescribes else port.effort_words
        hint = f", such as '{known[0]}'" if known else ""
        raise InvalidInput(
            f"{label}: it gives {gives}, but port '{port.name}' takes a {takes}; name a joint{hint}"
        )
    if described is None:
        raise InvalidInput(f"{label}: the arm has no joint '{joint}'; {nearest(joint, known)}")
    if isinstance(described, FixedJoint):
        raise InvalidInput(
            f"{label}: joint '{joint}' is fixed and has no degree of freedom; {nearest(joint, known)}"
        )
    raise InvalidInput(
        f"{label}: '{joint}' names no coordinate of joint '{described.name}';"
        f" write {' or '.join(described.coordinate_names)}"
    )


def _has_port(arm: Model, joint: Joint) -> bool:
    names = {joint.name, *joint.coordinate_names}
    return not joint.moves or any(port.name in names for port in arm.ports)


def _about_whole(label: str, joint: SphericalJoint | FreeJoint) -> str:
    if isinstance(joint, FreeJoint):
        return (
            f"{label}: joint '{joint.name}' is free and has no coordinate; drive it by a JointTorque of 6 components,"
            f" prescribe {joint.name}.x to {joint.name}.turn_z or put a JointPD on them, all together, or give it a"
            " spring"
        )
    return (
        f"{label}: joint '{joint.name}' is spherical, and its coordinates start anew at every step; drive it by a"
        f" JointTorque '{joint.name}' of 3 components, prescribe {joint.name}.x, {joint.name}.y and {joint.name}.z or"
        " put a JointPD on them, all together, give it a spring, or take a universal joint"
    )


def _port_of_part(arm: Model, name: str) -> Port | None:
    """The port of that name, or the tip of the link of that name."""
    ports = {port.name: port for port in arm.ports}
    return ports.get(name) or ports.get(f"{name}.tip")


def _check_link(arm: Model, label: str, link: str) -> None:
    known = [each.name for each in arm.robot.links]
    if link in known or link == BASE:
        return
    for port in arm.ports:
        if port.name.partition(".")[0] == link:
            raise InvalidInput(
                f"{label}: it gives a wrench (N, N m), but port '{port.name}' takes a {port.effort_words};"
                f" name a link, such as '{known[0]}'"
            )
    raise InvalidInput(f"{label}: the arm has no link '{link}'; {nearest(link, known)}")


def _check_length(arm: Model, label: str, place: LoadPlace) -> None:
    if place.distributed and not isinstance(arm.robot.link(place.link), FlexibleLink):
        raise InvalidInput(
            f"{label}: link '{place.link}' is rigid and has no length to spread a load along; use a TipWrench"
        )


def _check_station(arm: Model, label: str, at: At) -> None:
    if wrong := arm.robot.wrong_station(at):
        raise InvalidInput(f"{label}: station {wrong}")


def _check_two_parts(arm: Model, label: str, place: SpringPlace | BushingPlace) -> None:
    link = place.first.link
    if link == place.second.link != BASE and isinstance(arm.robot.link(link), RigidLink):
        raise InvalidInput(
            f"{label}: first and second are both fixed to the rigid link '{link}'; put one on another part"
        )
