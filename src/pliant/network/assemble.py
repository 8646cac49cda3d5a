"""From attachments to the inputs of a model: conflicts refused, constants computed beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.layout import Array
from pliant.network.attachments import Attachment, Component, Feedback, Load, Prescription, SampledLaw, Torque
from pliant.network.fields import first_repeated, merged_breaks, nearest
from pliant.network.motions import Hold, Motion
from pliant.network.signals import Constant, Signal
from pliant.robot import FlexibleLink

if TYPE_CHECKING:
    from pliant.model.contract import Model

_PROBE_TIMES = np.zeros(2)
_PROBE_TIMES.setflags(write=False)


@dataclass(frozen=True, eq=False)
class JointSignals:
    """Position, rate and acceleration, or reference and feedforward, of every joint at many times at once.

    ``constant`` (n_joints, 3) holds all that does not change in time; ``motions`` fill the first two columns
    of their joint, and the third too where the joint is ``prescribed``; ``torques`` add to the third.
    """

    constant: Array
    prescribed: tuple[bool, ...]
    motions: tuple[tuple[int, Motion], ...]
    torques: tuple[tuple[int, Signal], ...]

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for joint, motion in self.motions:
            position, rate, acceleration = motion.evaluate(times)
            signals[:, joint, 0] = position
            signals[:, joint, 1] = rate
            if self.prescribed[joint]:
                signals[:, joint, 2] = acceleration
        for joint, torque in self.torques:
            signals[:, joint, 2] += torque.evaluate(times)
        return signals


@dataclass(frozen=True, eq=False)
class LoadSignals:
    """The wrenches of all loads at many times; ``constant`` (n_loads, 6) holds those fixed in time."""

    constant: Array
    varying: tuple[tuple[int, Signal], ...]

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for load, signal in self.varying:
            signals[:, load] = signal.evaluate(times)
        return signals


def assemble(arm: Model, components: Iterable[Component]) -> Inputs:
    """The inputs that ``components`` give to ``arm``; what does not fit is refused in one sentence."""
    pairs = [(_label(component), each) for component in components for each in component.attachments(arm)]
    for label, attachment in pairs:
        _check(arm, label, attachment)
    _refuse_conflicts(arm, pairs)
    return _inputs(arm.joint_names, [attachment for _, attachment in pairs])


def driven_joints(attachment: Attachment) -> tuple[str, ...]:
    match attachment:
        case Prescription() | Feedback() | Torque():
            return (attachment.joint,)
        case SampledLaw():
            return attachment.controller.joints
        case Load():
            return ()


def _inputs(joint_names: tuple[str, ...], attachments: list[Attachment]) -> Inputs:
    n_joints = len(joint_names)
    index = {name: position for position, name in enumerate(joint_names)}
    prescriptions = [each for each in attachments if isinstance(each, Prescription)]
    feedbacks = [each for each in attachments if isinstance(each, Feedback)]
    torques = [(index[each.joint], each.signal) for each in attachments if isinstance(each, Torque)]
    loads = [each for each in attachments if isinstance(each, Load)]

    prescribed = [False] * n_joints
    stiffness, damping = [0.0] * n_joints, [0.0] * n_joints
    for prescription in prescriptions:
        prescribed[index[prescription.joint]] = True
    for feedback in feedbacks:
        stiffness[index[feedback.joint]] = feedback.stiffness
        damping[index[feedback.joint]] = feedback.damping
    motions = [(index[each.joint], each.motion) for each in prescriptions]
    motions += [(index[each.joint], each.reference) for each in feedbacks]

    constant = np.zeros((n_joints, 3))
    for joint, motion in motions:
        if isinstance(motion, Hold):
            constant[joint, 0] = motion.position
    for joint, signal in torques:
        if isinstance(signal, Constant):
            constant[joint, 2] += signal.value
    constant_loads = np.zeros((len(loads), 6))
    for row, load in enumerate(loads):
        if isinstance(load.signal, Constant):
            constant_loads[row] = load.signal.value

    varying_motions = tuple(pair for pair in motions if not isinstance(pair[1], Hold))
    varying_torques = tuple(pair for pair in torques if not isinstance(pair[1], Constant))
    varying_loads = tuple(
        (row, load.signal) for row, load in enumerate(loads) if not isinstance(load.signal, Constant)
    )
    breaks = [motion.breaks for _, motion in varying_motions]
    breaks += [signal.breaks for _, signal in (*varying_torques, *varying_loads)]
    return Inputs(
        prescribed=tuple(prescribed),
        stiffness=tuple(stiffness),
        damping=tuple(damping),
        joint_signals=JointSignals(constant, tuple(prescribed), varying_motions, varying_torques),
        loads=tuple(load.place for load in loads),
        load_signals=LoadSignals(constant_loads, varying_loads),
        breaks=merged_breaks(breaks),
        controllers=tuple(each.controller for each in attachments if isinstance(each, SampledLaw)),
    )


def _label(component: Component) -> str:
    return type(component).__name__


def _check(arm: Model, label: str, attachment: Attachment) -> None:
    for joint in driven_joints(attachment):
        _check_joint(arm, label, joint)
    match attachment:
        case Prescription():
            _check_motion(label, attachment.motion)
        case Feedback():
            _check_motion(label, attachment.reference)
        case Torque():
            _check_signal(f"{label} of joint '{attachment.joint}'", attachment.signal, (), "1 component")
        case Load():
            _check_link(arm, label, attachment.place)
            needs = "6 components (force x, y, z and moment x, y, z)"
            _check_signal(f"{label} '{attachment.place.name}'", attachment.signal, (6,), needs)


def _check_joint(arm: Model, label: str, joint: str) -> None:
    if joint in arm.joint_names:
        return
    if any(each.name == joint for each in arm.robot.joints):
        raise InvalidInput(
            f"{label}: joint '{joint}' is fixed and has no degree of freedom;"
            f" {nearest(joint, arm.joint_names)}"
        )
    raise InvalidInput(f"{label}: the arm has no joint '{joint}'; {nearest(joint, arm.joint_names)}")


def _check_link(arm: Model, label: str, place: LoadPlace) -> None:
    link = next((each for each in arm.robot.links if each.name == place.link), None)
    if link is None:
        known = [each.name for each in arm.robot.links]
        raise InvalidInput(f"{label}: the arm has no link '{place.link}'; {nearest(place.link, known)}")
    if place.distributed and not isinstance(link, FlexibleLink):
        raise InvalidInput(
            f"{label}: link '{place.link}' is rigid and has no length to spread a load along; use a TipWrench"
        )


def _check_motion(label: str, motion: Motion) -> None:
    answer: object = motion.evaluate(_PROBE_TIMES)
    if not isinstance(answer, tuple) or [np.shape(part) for part in answer] != [_PROBE_TIMES.shape] * 3:
        raise InvalidInput(
            f"{label}: {type(motion).__name__} is no motion; let its evaluate return position, rate and"
            " acceleration, each of the shape of the times"
        )


def _check_signal(label: str, signal: Signal, shape: tuple[int, ...], needs: str) -> None:
    answer: object = signal.evaluate(_PROBE_TIMES)
    if not isinstance(answer, np.ndarray) or answer.shape[:1] != _PROBE_TIMES.shape:
        raise InvalidInput(
            f"{label}: {type(signal).__name__} is no signal; let its evaluate return an array with one value,"
            " or one row of values, for each time"
        )
    if answer.shape[1:] != shape:
        has = answer.shape[1] if answer.ndim > 1 else 1
        raise InvalidInput(f"{label}: the signal must have {needs}, it has {has}")


def _refuse_conflicts(arm: Model, pairs: list[tuple[str, Attachment]]) -> None:
    for joint in arm.joint_names:
        on_joint = [(label, each) for label, each in pairs if joint in driven_joints(each)]
        prescribing = [label for label, each in on_joint if isinstance(each, Prescription)]
        torque_driving = [label for label, each in on_joint if not isinstance(each, Prescription)]
        if len(prescribing) > 1:
            raise InvalidInput(
                f"joint '{joint}' is prescribed twice; add the two motions with MotionSum or remove one"
            )
        if prescribing and torque_driving:
            raise InvalidInput(
                f"joint '{joint}' is prescribed by {prescribing[0]} and driven with torque by"
                f" {torque_driving[0]}; remove one of the two"
            )
        if sum(isinstance(each, Feedback) for _, each in on_joint) > 1:
            raise InvalidInput(f"joint '{joint}' has two feedback laws; put their gains into one JointPD")
    for name in (each.place.name for _, each in pairs if isinstance(each, Load)):
        if name in arm.joint_names:
            raise InvalidInput(f"a load is named '{name}' like a joint; give the load another name")
    _refuse_repeated("loads", [each.place.name for _, each in pairs if isinstance(each, Load)])
    _refuse_repeated(
        "controllers", [each.controller.name for _, each in pairs if isinstance(each, SampledLaw)]
    )


def _refuse_repeated(kind: str, names: list[str]) -> None:
    repeated = first_repeated(names)
    if repeated is not None:
        raise InvalidInput(f"two {kind} are named '{repeated}'; give one of them another name")
