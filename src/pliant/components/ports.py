"""What a component does to one joint or link of an arm, as plain data.

Which ports of an arm a component uses, and whether they fit.

Components that each fit an arm but not each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.components.fields import first_repeated, nearest
from pliant.components.motions import Motion
from pliant.components.signals import Signal
from pliant.errors import InvalidInput
from pliant.model.inputs import BaseMotionSignals, BushingPlace, LoadPlace, MotorPlace, SpringPlace, WallPlace
from pliant.model.port import Frame, Port
from pliant.model.sampling import SampledController, ServoPlace
from pliant.robot import At, FixedJoint, FlexibleLink, FreeJoint, Joint, RigidLink, SphericalJoint
from pliant.robot.declared import Quaternion
from pliant.robot.joint import BASE, reference_name
from pliant.robot.link import IDENTITY

if TYPE_CHECKING:
    from pliant.model.contract import Arm


@dataclass(frozen=True)
class Prescription:
    """``joint`` follows ``motion``, whatever torque that takes."""

    joint: str
    motion: Motion


@dataclass(frozen=True)
class Feedback:
    """The torque  -stiffness (q - reference) - damping (qdot - reference rate)  on ``joint``."""

    joint: str
    reference: Motion
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Following:
    """Feedback on one coordinate of a ball or free joint; all of them together pull its child to a frame that moves."""

    joint: str
    reference: Motion
    stiffness: float
    damping: float


@dataclass(frozen=True)
class Torque:
    """A torque (force for a prismatic joint) in time on ``joint``; several of them add.

    Three components on a ball joint, the six of a wrench on a free joint.
    """

    joint: str
    signal: Signal


@dataclass(frozen=True)
class Load:
    """An external wrench of six components in time, in axes that ``rotation`` turns to those of the place."""

    place: LoadPlace
    signal: Signal
    rotation: Quaternion = IDENTITY


@dataclass(frozen=True)
class BaseMove:
    """The base moves by ``signals``, made of ``motions``, whatever wrench that takes."""

    signals: BaseMotionSignals
    motions: tuple[Motion, ...]


@dataclass(frozen=True)
class SampledLaw:
    """A torque law called at its own period; it adds to the other torques on its joints."""

    controller: SampledController


@dataclass(frozen=True)
class CommandLaw:
    """Joint rates asked for at its own period; they add to the other commands that the servos of its joints see."""

    controller: SampledController


ForceElement = SpringPlace | BushingPlace | WallPlace
Sampled = SampledLaw | CommandLaw | ServoPlace
Attachment = (
    Prescription | Feedback | Following | Torque | Sampled | MotorPlace | Load | ForceElement | BaseMove
)


class Component(Protocol):
    """Anything that connect can join to an arm."""

    def attachments(self, arm: Arm) -> tuple[Attachment, ...]:
        """What this component does to ``arm``, one entry for each joint or link it acts on."""
        ...


def drivable(arm: Arm) -> tuple[str, ...]:
    """The joint coordinates that can be driven or prescribed: all but those of ball joints that are not prescribed."""
    return tuple(port.name for port in arm.ports if port.frame is Frame.JOINT)


def drivable_in_the_tree(arm: Arm) -> tuple[str, ...]:
    """Those that a law for all joints drives; loop joints, which follow from them, are driven by name only.

    Coordinates of a ball or free joint are there only where its motion is prescribed.
    """
    loops = [loop.name for loop in arm.robot.loops]
    owned = ((name, name.partition(".")[0]) for name in drivable(arm))
    return tuple(name for name, owner in owned if owner not in loops and not driven_as_a_whole(arm, owner))


def described_joint(arm: Arm, name: str) -> Joint | None:
    """The joint or loop joint of that name."""
    joints = (*arm.robot.joints, *(loop.joint for loop in arm.robot.loops))
    return next((joint for joint in joints if joint.name == name), None)


def driven_as_a_whole(arm: Arm, name: str) -> SphericalJoint | FreeJoint | None:
    """The ball or free joint of that name, which one torque or wrench drives in all its directions."""
    joint = described_joint(arm, name)
    return joint if isinstance(joint, (SphericalJoint, FreeJoint)) else None


def is_part_of_whole(arm: Arm, name: str) -> bool:
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


def check_ports(arm: Arm, label: str, attachment: Attachment) -> None:
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


def _check_joint(arm: Arm, label: str, attachment: Attachment, joint: str) -> None:
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


def _has_port(arm: Arm, joint: Joint) -> bool:
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


def _port_of_part(arm: Arm, name: str) -> Port | None:
    """The port of that name, or the tip of the link of that name."""
    ports = {port.name: port for port in arm.ports}
    return ports.get(name) or ports.get(f"{name}.tip")


def _check_link(arm: Arm, label: str, link: str) -> None:
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


def _check_length(arm: Arm, label: str, place: LoadPlace) -> None:
    if place.distributed and not isinstance(arm.robot.link(place.link), FlexibleLink):
        raise InvalidInput(
            f"{label}: link '{place.link}' is rigid and has no length to spread a load along; use a TipWrench"
        )


def _check_station(arm: Arm, label: str, at: At) -> None:
    if wrong := arm.robot.wrong_station(at):
        raise InvalidInput(f"{label}: station {wrong}")


def _check_two_parts(arm: Arm, label: str, place: SpringPlace | BushingPlace) -> None:
    link = place.first.link
    if link == place.second.link != BASE and isinstance(arm.robot.link(link), RigidLink):
        raise InvalidInput(
            f"{label}: first and second are both fixed to the rigid link '{link}'; put one on another part"
        )


def refuse_conflicts(arm: Arm, pairs: list[tuple[str, Attachment]]) -> None:
    """Refuse two components that claim the same thing; each attachment comes with its component's label."""
    for joint in dict.fromkeys(joint for _, each in pairs for joint in driven_joints(each)):
        _refuse_on_joint(joint, [(label, each) for label, each in pairs if joint in driven_joints(each)])
    _refuse_half(
        arm, [each.joint for _, each in pairs if isinstance(each, Prescription)], "prescribed", "Hold(0)"
    )
    following = [each.joint for _, each in pairs if isinstance(each, Following)]
    _refuse_half(arm, following, "held by feedback", "a JointPD of stiffness 0")
    attachments = [each for _, each in pairs]
    if sum(isinstance(each, BaseMove) for each in attachments) > 1:
        raise InvalidInput("the base is moved twice; put all its motions into one BaseMotion")
    _refuse_names(arm, attachments)
    controllers = [each.controller.name for each in attachments if isinstance(each, (SampledLaw, CommandLaw))]
    repeated = first_repeated(controllers)
    if repeated is not None:
        raise InvalidInput(f"two controllers are named '{repeated}'; give one of them another name")


def _refuse_half(arm: Arm, claimed: list[str], how: str, example: str) -> None:
    """The coordinates of ball and free joints are no single ones: some of them free would lock the others."""
    for name in dict.fromkeys(joint.partition(".")[0] for joint in claimed):
        whole = driven_as_a_whole(arm, name)
        missing = [each.name for each in whole.guided_freedoms if each.name not in claimed] if whole else []
        if missing:
            raise InvalidInput(
                f"joint '{name}' is {how} in part only; name {', '.join(missing)} too, for example with {example}"
            )


def _refuse_servos(joint: str, on_joint: list[tuple[str, Attachment]]) -> None:
    servos = [label for label, each in on_joint if isinstance(each, ServoPlace)]
    commands = [(label, each.controller.name) for label, each in on_joint if isinstance(each, CommandLaw)]
    if len(servos) > 1:
        raise InvalidInput(f"joint '{joint}' has two velocity servos; remove one VelocityServo")
    if commands and not servos:
        label, name = commands[0]
        raise InvalidInput(
            f"{label} '{name}' commands the rate of joint '{joint}', which has no servo; connect a VelocityServo of"
            " this joint together with it"
        )


def _refuse_on_joint(joint: str, on_joint: list[tuple[str, Attachment]]) -> None:
    prescribing = [label for label, each in on_joint if isinstance(each, Prescription)]
    motors = [label for label, each in on_joint if isinstance(each, MotorPlace)]
    driving = [label for label, each in on_joint if not isinstance(each, (Prescription, MotorPlace))]
    if len(prescribing) > 1:
        raise InvalidInput(
            f"joint '{joint}' is prescribed twice; add the two motions with MotionSum or remove one"
        )
    if prescribing and driving:
        raise InvalidInput(
            f"joint '{joint}' is prescribed by {prescribing[0]} and driven with torque by {driving[0]};"
            " remove one of the two"
        )
    if prescribing and motors:
        raise InvalidInput(
            f"joint '{joint}' is prescribed by {prescribing[0]} and turned by a {motors[0]}; remove one of"
            " the two, or let a JointPD drive the motor"
        )
    if len(motors) > 1:
        raise InvalidInput(f"joint '{joint}' has two motors; remove one GearMotor")
    _refuse_servos(joint, on_joint)
    if sum(isinstance(each, (Feedback, Following)) for _, each in on_joint) > 1:
        raise InvalidInput(f"joint '{joint}' has two feedback laws; put their gains into one JointPD")


def _refuse_names(arm: Arm, attachments: list[Attachment]) -> None:
    """Names under which the account books work must differ from each other, from joints and from the base."""
    first: dict[str, str] = {}
    for each in attachments:
        match each:
            case Load():
                kind, name = "load", each.place.name
            case SpringPlace():
                kind, name = "spring", each.name
            case BushingPlace():
                kind, name = "bushing", each.name
            case WallPlace():
                kind, name = "wall", each.name
            case _:
                continue
        if name in arm.joint_names or name == BASE or driven_as_a_whole(arm, name):
            like = "the base" if name == BASE else "a joint"
            raise InvalidInput(f"a {kind} is named '{name}' like {like}; give the {kind} another name")
        if name in first:
            both = f"two {kind}s are" if first[name] == kind else f"a {first[name]} and a {kind} are both"
            raise InvalidInput(f"{both} named '{name}'; give one of them another name")
        first[name] = kind
