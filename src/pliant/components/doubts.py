"""What is connected and hardly meant so: numbers in other units, noise in tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from pliant.components.kinds import Component, Feedback, Motor, Prescription
from pliant.components.motions import Hold, Motion, MotionSum, MotionTable, RestToRest
from pliant.model.contract import Arm
from pliant.model.inputs import MotorPlace
from pliant.robot.declared import Declared, Quantity
from pliant.robot.joint import TURN

IN_DEGREES = 5.0  # degrees are mostly written as multiples of this, whole turns in radians never are
# Times the inertia of the whole arm, as a mass at its reach, that a rotor has seen through its gear. Gears are chosen
# for about 1, in small arms for up to some 10.
HEAVY = 1e3


def doubts(component: Component, arm: Arm) -> Iterator[str]:
    """Sentences on a component, on what it does to the joints of an arm, and on motions and signals inside it."""
    from pliant.robot.field_table import implausible

    yield from _inside(component)
    unlikely = [str(each) for each in implausible(component)] if isinstance(component, Declared) else []
    yield from unlikely
    for each in component.attachments(arm):
        if isinstance(each, Prescription | Feedback):
            motion = each.motion if isinstance(each, Prescription) else each.reference
            if arm.robot.freedom(each.joint).unit == "rad":
                yield from (f"joint '{each.joint}': {wrong}" for wrong in _degrees(motion))
        elif isinstance(each, Motor) and not unlikely:
            yield from _heavy(each.place, arm)


def _inside(part: object) -> Iterator[str]:
    """The ``doubt`` of a part and of all inside it."""
    doubt = getattr(part, "doubt", "")
    if doubt:
        yield doubt
    inner = [getattr(part, each.name) for each in fields(part)] if is_dataclass(part) else part
    if isinstance(inner, (list, tuple)) and not isinstance(part, type):
        for each in inner:
            if is_dataclass(each) or isinstance(each, tuple):
                yield from _inside(each)


def _set_points(motion: Motion) -> Iterator[float]:
    """Where a motion rests; what turns on and on has no such place."""
    match motion:
        case Hold():
            yield motion.position
        case RestToRest():
            yield from (motion.start, motion.end)
        case MotionTable(begin_rate=0.0, end_rate=0.0):
            yield from (motion.positions[0], motion.positions[-1])
        case MotionSum():
            for term in motion.terms:
                yield from _set_points(term)


def _degrees(motion: Motion) -> Iterator[str]:
    """Set points of more than a turn that look like degrees."""
    from pliant.robot.field_table import doubted

    angle = Quantity("rad", "angle", usual=TURN)
    for place in dict.fromkeys(_set_points(motion)):
        if abs(place) > TURN[1] and place % IN_DEGREES == 0.0:
            yield f"position {doubted(angle, place)}"


def _heavy(motor: MotorPlace, arm: Arm) -> Iterator[str]:
    unit, reach = arm.robot.freedom(motor.joint).unit, float(getattr(arm, "reach", 0.0))
    inertia, of_what = (arm.robot.mass * reach**2, "kg m^2") if unit == "rad" else (arm.robot.mass, "kg")
    if motor.rotor_inertia > HEAVY * inertia > 0.0:
        yield (
            f"rotor_inertia is {motor.rotor_inertia:.3g} {of_what} at the joint, by the square of the ratio, while the"
            f" whole arm has {inertia:.3g} {of_what} at its reach; write the inertia of the rotor itself in kg m^2"
        )
