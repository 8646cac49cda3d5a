"""What drives the joints, as written on the command line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pliant.errors import InvalidInput

if TYPE_CHECKING:
    from pliant.network import Component
    from pliant.robot import Robot

MOVE = ("angle", "duration")
PD = ("stiffness", "damping", "target")


def joint_drives(robot: Robot, moves: list[str], laws: list[str], hold: bool) -> list[Component]:
    """Prescribed moves, PD laws, and for ``hold`` the joints that neither moves nor obeys a law."""
    from pliant.control import JointPD
    from pliant.network import Hold, PrescribedMotion, Quintic

    drives: list[Component] = []
    starts = _starting_positions(robot)
    driven = set()
    for text in moves:
        joint, (angle, duration) = _parse("--move", text, MOVE)
        driven.add(joint)
        drives.append(PrescribedMotion(joint, Quintic(starts.get(joint, 0.0), angle, duration)))
    for text in laws:
        joint, (stiffness, damping, target) = _parse("--pd", text, PD)
        driven.add(joint)
        drives.append(JointPD(Hold(target), stiffness, damping, joints=[joint]))
    if hold:
        rest = (joint for joint in starts if joint not in driven)
        drives += [PrescribedMotion(joint, Hold(starts[joint])) for joint in rest]
    return drives


def _starting_positions(robot: Robot) -> dict[str, float]:
    """By coordinate, for those that can be driven; a ball joint's restart at every step."""
    from pliant.robot import SphericalJoint

    joints = (joint for joint in robot.chain_order if not isinstance(joint, SphericalJoint))
    return {freedom.name: freedom.law.initial_position for joint in joints for freedom in joint.freedoms}


def _parse(option: str, text: str, fields: tuple[str, ...]) -> tuple[str, list[float]]:
    joint, equals, rest = text.partition("=")
    words = rest.split(",")
    expected = f"write {option} joint={','.join(fields)}"
    if not joint or not equals or len(words) != len(fields):
        raise InvalidInput(f"{option} {text} does not name a joint and {len(fields)} numbers; {expected}")
    values = []
    for field, word in zip(fields, words, strict=True):
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(
                f"{option} {text} has the {field} '{word}', which is no finite number; {expected}"
            )
        values.append(value)
    return joint.strip(), values
