"""Components that each fit an arm but not each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.errors import InvalidInput
from pliant.model.inputs import BushingPlace, MotorPlace, SpringPlace, WallPlace
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
)
from pliant.network.fields import first_repeated
from pliant.network.ports import driven_as_a_whole, driven_joints
from pliant.robot.joint import BASE

if TYPE_CHECKING:
    from pliant.model.contract import Model


def refuse_conflicts(arm: Model, pairs: list[tuple[str, Attachment]]) -> None:
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


def _refuse_half(arm: Model, claimed: list[str], how: str, example: str) -> None:
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


def _refuse_names(arm: Model, attachments: list[Attachment]) -> None:
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
