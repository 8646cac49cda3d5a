"""Which ports of an arm a component may use, and whether they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.components.fields import nearest
from pliant.errors import InvalidInput
from pliant.model.contract import Arm
from pliant.model.port import Frame
from pliant.robot import At, Declared, FixedJoint, FreeJoint, Joint
from pliant.robot.joint import BASE, Role, WholeJoint, reference_name

PerJoint = float | Sequence[float]  # one value for all joints, or one for each


def drivable(arm: Arm) -> tuple[str, ...]:
    """The joint coordinates that can be driven or prescribed: all but those of ball joints that are not prescribed."""
    return tuple(port.name for port in arm.ports if port.frame is Frame.JOINT)


def chosen_or_all(arm: Arm, joints: Sequence[str] | None) -> tuple[str, ...]:
    """The joints that a law names, else all of the tree; loop joints and those of parts aside are driven by name only.

    Coordinates of a ball or free joint are there only where its motion is prescribed.
    """
    if joints is not None:
        return tuple(joints)
    left = {loop.name for loop in arm.robot.loops}
    left |= {joint.name for joint in arm.robot.joints if joint.role is Role.ASIDE}
    owned = ((name, name.partition(".")[0]) for name in drivable(arm))
    return tuple(name for name, owner in owned if owner not in left and not driven_as_a_whole(arm, owner))


def described_joint(arm: Arm, name: str) -> Joint | None:
    """The joint or loop joint of that name."""
    joints = (*arm.robot.joints, *(loop.joint for loop in arm.robot.loops))
    return next((joint for joint in joints if joint.name == name), None)


def driven_as_a_whole(arm: Arm, name: str) -> WholeJoint | None:
    """The ball or free joint of that name, which one torque or wrench drives in all its directions."""
    joint = described_joint(arm, name)
    return joint if isinstance(joint, WholeJoint) else None


def is_part_of_whole(arm: Arm, name: str) -> bool:
    """Whether that names a coordinate of a ball or free joint."""
    whole = driven_as_a_whole(arm, name.partition(".")[0])
    return whole is not None and name in (each.name for each in whole.guided_freedoms)


def port_at(at: At) -> str:
    """What sits inside a link acts through the port of its length."""
    return BASE if at.link == BASE else f"{at.link}.{at.end if at.station is None else 'distributed'}"


def check_joint(
    arm: Arm, label: str, joint: str, prescribes: bool = False, whole: bool = False, drives_whole: bool = False
) -> None:
    """Refuse a joint that the arm does not have or that takes something else.

    Only what ``prescribes`` or, on a ``whole``, feeds back takes single coordinates of ball and free joints; only what
    ``drives_whole`` takes these joints themselves.
    """
    known = drivable(arm)
    owner = joint.partition(".")[0]
    described, ball = described_joint(arm, owner), driven_as_a_whole(arm, owner)
    if joint in known and (ball is None or prescribes):
        return
    if whole and {joint, reference_name(joint)} & set(known):
        return
    if described and described not in arm.robot.joints and not _has_port(arm, described):
        raise InvalidInput(
            f"{label}: joint '{described.name}' closes a loop, and this formulation gives it no coordinate;"
            " use PoseElement, or close the loop at another joint"
        )
    ports = {port.name: port for port in arm.ports}
    if ball and ball.name == joint and drives_whole:
        if joint not in ports:
            raise InvalidInput(f"{label}: joint '{joint}' is prescribed too; remove one of the two")
        return
    if ball:
        raise InvalidInput(_about_whole(label, ball))
    port = ports.get(joint) or ports.get(f"{joint}.tip")
    if port is not None:
        gives = "a rate (rad/s or m/s)" if prescribes else "a torque (N m) or force (N)"
        takes = port.flow_words if prescribes else port.effort_words
        hint = f", such as '{known[0]}'" if known else ""
        raise InvalidInput(f"{label}: it gives {gives}, but port '{port.name}' takes a {takes}; name a joint{hint}")
    if described is None:
        raise InvalidInput(f"{label}: the arm has no joint '{joint}'; {nearest(joint, known)}")
    if isinstance(described, FixedJoint):
        raise InvalidInput(f"{label}: joint '{joint}' is fixed and has no degree of freedom; {nearest(joint, known)}")
    raise InvalidInput(
        f"{label}: '{joint}' names no coordinate of joint '{described.name}';"
        f" write {' or '.join(described.coordinate_names)}"
    )


def _has_port(arm: Arm, joint: Joint) -> bool:
    names = {joint.name, *joint.coordinate_names}
    return not joint.moves or any(port.name in names for port in arm.ports)


def _about_whole(label: str, joint: WholeJoint) -> str:
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


def check_frame(arm: Arm, label: str, at: At) -> None:
    """Refuse a frame on a link or at a station that the arm does not have."""
    known = [each.name for each in arm.robot.links]
    if at.link not in (*known, BASE):
        for port in arm.ports:
            if port.name.partition(".")[0] == at.link:
                raise InvalidInput(
                    f"{label}: it gives a wrench (N, N m), but port '{port.name}' takes a {port.effort_words};"
                    f" name a link, such as '{known[0]}'"
                )
        raise InvalidInput(f"{label}: the arm has no link '{at.link}'; {nearest(at.link, known)}")
    if wrong := arm.robot.wrong_station(at):
        raise InvalidInput(f"{label}: station {wrong}")


def for_each(part: Declared, field: str, joints: tuple[str, ...]) -> tuple[Any, ...]:
    """One value of a field for each joint; a single value serves all."""
    values = getattr(part, field)
    if not isinstance(values, Sequence):
        return (values,) * len(joints)
    if len(values) != len(joints):
        raise InvalidInput(
            f"{part.label}: {field} has {len(values)} values for {len(joints)} joints ({', '.join(joints)});"
            " give one for all or one for each"
        )
    return tuple(values)
