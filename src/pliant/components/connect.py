"""Connecting an arm with sources and controllers gives a model again.

From attachments to the inputs of a model: conflicts refused, constants computed beforehand.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from pliant.components.base_motion import rotated
from pliant.components.fields import merged_breaks
from pliant.components.motions import Hold, Motion
from pliant.components.ports import (
    Attachment,
    BaseMove,
    CommandLaw,
    Component,
    Feedback,
    Following,
    Load,
    Prescription,
    SampledLaw,
    Torque,
    check_ports,
    driven_as_a_whole,
    driven_joints,
    refuse_conflicts,
)
from pliant.components.signals import Constant, Signal
from pliant.errors import InvalidInput, clip
from pliant.model.arm import model_lines
from pliant.model.contract import Substitutes, refuse_other_than_arm
from pliant.model.inputs import BushingPlace, HoldPlace, Inputs, LoadPlace, MotorPlace, SpringPlace, WallPlace
from pliant.model.port import Frame, Port
from pliant.model.sampling import ServoPlace
from pliant.model.state import Array, Layout
from pliant.robot import At, End, SphericalJoint
from pliant.robot.declared import Quaternion, Shown, listed
from pliant.robot.joint import reference_name
from pliant.robot.link import IDENTITY

if TYPE_CHECKING:
    from pliant.model.contract import Arm, Consistency, Equilibrium, Record, Run, SecondOrder, Stepper
    from pliant.model.state import Observation
    from pliant.robot import Robot


@runtime_checkable
class Carrying(Protocol):
    """An arm that knows who can take its place where it cannot carry some inputs."""

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """In words, the inputs that it does not carry."""
        ...

    def carrying(self, inputs: Inputs) -> Arm:
        """The arm itself if it carries the inputs, else a model of the same robot that does."""
        ...


@runtime_checkable
class Driving(Protocol):
    """An arm whose loop, ball and free joints have coordinates where something drives them."""

    def driving(self, coordinates: Collection[str], followed: Collection[str]) -> Arm:
        """The arm itself, or with these coordinates, and with references for the joints of those that are followed."""
        ...


@dataclass(frozen=True, repr=False)
class Connected(Shown):
    """An arm with everything connected to it: the arm's own equations, with inputs from the components.

    ``arm`` computes; it is the ``given`` one unless that cannot carry the components, which ``substitution`` then says.
    """

    arm: Arm
    components: tuple[Component, ...]
    inputs: Inputs = field(compare=False)
    given: Arm = field(compare=False)
    substitution: str = ""

    def _shown(self) -> tuple[str, dict[str, str]]:
        parts = [_on_what(component) for component in self.components]
        heading = f"{type(self.formulation).__name__} model of robot '{self.robot.name}', connected"
        return heading, {"components": listed(parts) or "none", **model_lines(self)}

    @property
    def robot(self) -> Robot:
        return self.arm.robot

    @property
    def formulation(self) -> object:
        return self.arm.formulation

    @property
    def layout(self) -> Layout:
        return self.arm.layout

    @property
    def ports(self) -> tuple[Port, ...]:
        return self.arm.ports

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.arm.joint_names

    @property
    def highest_order(self) -> int:
        return self.arm.highest_order

    def initial_state(
        self, position: Array | None = None, rate: Array | None = None, held: tuple[bool, ...] | None = None
    ) -> Array:
        return self.arm.initial_state(position, rate, held)

    def observe(self, states: Array, stations: int = 21) -> Observation:
        return self.arm.observe(states, stations)

    def load_flows(self, states: Array, loads: tuple[LoadPlace, ...]) -> Array:
        return self.arm.load_flows(states, loads)

    def energy(self, states: Array) -> tuple[Array, Array, Array]:
        return self.arm.energy(states)

    def stepper(self, run: Run) -> Stepper[Any]:
        return self.arm.stepper(run)

    def consistency_error(self, record: Record) -> Consistency:
        return self.arm.consistency_error(record)

    def undeformed(self, positions: Array) -> Array:
        return self.arm.undeformed(positions)

    def tip(self, states: Array) -> tuple[Array, Array]:
        return self.arm.tip(states)

    def equilibrium(
        self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float
    ) -> Equilibrium:
        return self.arm.equilibrium(start, inputs, time, load_steps, accuracy)

    def linearise(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        return self.arm.linearise(state, inputs, time)

    def substituting(self, start: Array, stopped: Array) -> tuple[Connected, Array] | None:
        found = self.arm.substituting(start, stopped) if isinstance(self.arm, Substitutes) else None
        return found and (connect(found[0], *self.components), found[1])


def _on_what(component: Component) -> str:
    """The kind of a component and its own name, or that of the joint or link it acts on."""
    names = (getattr(component, word, None) for word in ("name", "joint", "link"))
    name = next((name for name in names if isinstance(name, str)), "")
    return f"{type(component).__name__}{f' ({name})' if name else ''}"


def connect(arm: Arm, *components: Component) -> Connected:
    """Join ``components`` to ``arm``; to join more later, connect the answer again.

    Refused with InvalidInput: ports the arm does not have or that exchange something else, fixed joints, feedback and
    motions in part of ball and free joints, a joint that is prescribed and also driven with torque or by a motor, or
    prescribed twice, two feedback laws or two motors on one joint, a base moved twice, signals of the wrong size,
    and equal names.
    """
    refuse_other_than_arm(arm, "components act on joints, links and frames")
    for part in components:
        if not hasattr(part, "attachments"):
            raise InvalidInput(
                f"{clip(repr(part))} is no component; connect takes an arm and components, such as JointPD(...);"
                " two arms are one robot, joined in its description"
            )
    if isinstance(arm, Connected):
        return connect(arm.given, *arm.components, *components)
    given = arm
    if isinstance(arm, Driving):
        attachments = [each for part in components for each in part.attachments(arm)]
        followed = [each for each in attachments if isinstance(each, Following)]
        driven = {joint for each in attachments if each not in followed for joint in driven_joints(each)}
        arm = arm.driving(driven, {each.joint for each in followed})
    inputs = assemble(arm, components)
    substitution = getattr(arm, "substitution", "")
    if isinstance(arm, Carrying) and (carrier := arm.carrying(inputs)) is not arm:
        substitution = (
            f"{carrier.formulation} computes in place of {arm.formulation}, which does not carry the"
            f" {' and the '.join(arm.lacking(inputs))}"
        )
        arm, inputs = carrier, assemble(carrier, components)
    return Connected(arm, components, inputs, given, substitution)


COMPONENTS = {
    1: "1 component",
    3: "3 components (torque x, y, z)",
    6: "6 components (force x, y, z and moment x, y, z)",
}
_PROBE_TIMES = np.zeros(2)
_PROBE_TIMES.setflags(write=False)


@contextmanager
def told(owner: str) -> Iterator[None]:
    """Let the sentence of a function that fails name the part that it drives."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{owner}: {error}") from error


@dataclass(frozen=True, eq=False)
class JointSignals:
    """Position, rate and acceleration, or reference and feedforward, of every joint at many times at once.

    ``constant`` (n_joints, 3) holds all that does not change in time; ``motions`` fill the first two columns
    of their joint, and the third too where the joint is ``prescribed``; ``torques`` add to the third.
    """

    names: tuple[str, ...]
    constant: Array
    prescribed: tuple[bool, ...]
    motions: tuple[tuple[int, Motion], ...]
    torques: tuple[tuple[int, Signal], ...]

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for joint, motion in self.motions:
            with told(f"the motion of joint '{self.names[joint]}'"):
                position, rate, acceleration = motion.evaluate(times)
            signals[:, joint, 0] = position
            signals[:, joint, 1] = rate
            if self.prescribed[joint]:
                signals[:, joint, 2] = acceleration
        for joint, torque in self.torques:
            with told(f"the torque of joint '{self.names[joint]}'"):
                signals[:, joint, 2] += torque.evaluate(times)
        if not np.isfinite(signals.sum()):  # much sooner known than which
            for joint in np.flatnonzero(~np.isfinite(signals).all(axis=(0, 2)))[:1]:
                raise InvalidInput(
                    f"the motion or torque of joint '{self.names[joint]}' is not finite; let it return finite numbers"
                )
        return signals


@dataclass(frozen=True, eq=False)
class LoadSignals:
    """The wrenches of all loads at many times; ``constant`` (n_loads, 6) holds those fixed in time."""

    names: tuple[str, ...]
    constant: Array
    varying: tuple[tuple[int, Signal], ...]

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for load, signal in self.varying:
            with told(f"load '{self.names[load]}'"):
                signals[:, load] = signal.evaluate(times)
        return signals


@dataclass(frozen=True)
class TurnedWrench:
    """A wrench given in one frame and written in the axes to which ``rotation`` turns that frame."""

    signal: Signal
    rotation: Quaternion

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.signal.breaks

    def evaluate(self, times: Array) -> Array:
        wrench = self.signal.evaluate(times)
        return rotated(self.rotation, wrench.reshape(-1, 2, 3)).reshape(wrench.shape)


@dataclass(frozen=True)
class WholeEffort:
    """The wrench of all torques on a ball joint (3 components each), or of all wrenches on a free joint (6)."""

    signals: tuple[Signal, ...]

    @property
    def breaks(self) -> tuple[float, ...]:
        return merged_breaks([signal.breaks for signal in self.signals])

    def evaluate(self, times: Array) -> Array:
        wrench = np.zeros((len(times), 6))
        for signal in self.signals:
            values = signal.evaluate(times)
            wrench[:, 6 - values.shape[1] :] += values
        return wrench


def assemble(arm: Arm, components: Iterable[Component]) -> Inputs:
    """The inputs that ``components`` give to ``arm``; what does not fit is refused in one sentence."""
    pairs = [
        (_label(component, each), each) for component in components for each in component.attachments(arm)
    ]
    for label, attachment in pairs:
        _check(arm, label, attachment)
    refuse_conflicts(arm, pairs)
    return _inputs(arm, [attachment for _, attachment in pairs])


def _inputs(arm: Arm, attachments: list[Attachment]) -> Inputs:
    joint_names = arm.joint_names
    n_joints = len(joint_names)
    index = {name: position for position, name in enumerate(joint_names)}
    prescriptions = [each for each in attachments if isinstance(each, Prescription)]
    feedbacks = [each for each in attachments if isinstance(each, Feedback)]
    followings = [each for each in attachments if isinstance(each, Following)]
    all_torques = [each for each in attachments if isinstance(each, Torque)]
    torques = [(index[each.joint], each.signal) for each in all_torques if each.joint in index]
    loads = [each for each in attachments if isinstance(each, Load)]
    loads += _drives_of_whole_joints(arm, [each for each in all_torques if each.joint not in index])
    wrenches = [_in_axes_of_place(load) for load in loads]
    base_moves = [each for each in attachments if isinstance(each, BaseMove)]

    prescribed = [False] * n_joints
    stiffness, damping = [0.0] * n_joints, [0.0] * n_joints
    for prescription in prescriptions:
        prescribed[index[prescription.joint]] = True
    for following in followings:
        prescribed[index[reference_name(following.joint)]] = True
    for feedback in feedbacks:
        stiffness[index[feedback.joint]] = feedback.stiffness
        damping[index[feedback.joint]] = feedback.damping
    motions = [(index[each.joint], each.motion) for each in prescriptions]
    motions += [(index[each.joint], each.reference) for each in feedbacks]
    motions += [(index[reference_name(each.joint)], each.reference) for each in followings]

    constant = np.zeros((n_joints, 3))
    for joint, motion in motions:
        if isinstance(motion, Hold):
            constant[joint, 0] = motion.position
    for joint, signal in torques:
        if isinstance(signal, Constant):
            constant[joint, 2] += signal.value
    constant_loads = np.zeros((len(loads), 6))
    for row, wrench in enumerate(wrenches):
        if isinstance(wrench, Constant):
            constant_loads[row] = wrench.value

    varying_motions = tuple(pair for pair in motions if not isinstance(pair[1], Hold))
    varying_torques = tuple(pair for pair in torques if not isinstance(pair[1], Constant))
    varying_loads = tuple(pair for pair in enumerate(wrenches) if not isinstance(pair[1], Constant))
    breaks = [motion.breaks for _, motion in varying_motions]
    breaks += [signal.breaks for _, signal in (*varying_torques, *varying_loads)]
    breaks += [motion.breaks for move in base_moves for motion in move.motions]
    return Inputs(
        prescribed=tuple(prescribed),
        stiffness=tuple(stiffness),
        damping=tuple(damping),
        joint_signals=JointSignals(
            joint_names, constant, tuple(prescribed), varying_motions, varying_torques
        ),
        loads=tuple(load.place for load in loads),
        load_signals=LoadSignals(tuple(load.place.name for load in loads), constant_loads, varying_loads),
        breaks=merged_breaks(breaks),
        controllers=tuple(each.controller for each in attachments if isinstance(each, SampledLaw)),
        commands=tuple(each.controller for each in attachments if isinstance(each, CommandLaw)),
        servos=tuple(each for each in attachments if isinstance(each, ServoPlace)),
        springs=tuple(each for each in attachments if isinstance(each, SpringPlace)),
        bushings=tuple(each for each in attachments if isinstance(each, BushingPlace)),
        walls=tuple(each for each in attachments if isinstance(each, WallPlace)),
        motors=tuple(each for each in attachments if isinstance(each, MotorPlace)),
        holds=tuple(_holds(arm, followings)),
        base_motion=base_moves[0].signals if base_moves else None,
    )


def _holds(arm: Arm, followings: list[Following]) -> Iterator[HoldPlace]:
    gains = {each.joint: (each.stiffness, each.damping) for each in followings}
    for name in dict.fromkeys(each.joint.partition(".")[0] for each in followings):
        whole = driven_as_a_whole(arm, name)
        assert whole is not None
        stiffness, damping = zip(*(gains[freedom.name] for freedom in whole.guided_freedoms))
        yield HoldPlace(name, stiffness, damping)


def _in_axes_of_place(load: Load) -> Signal:
    if load.rotation == IDENTITY:
        return load.signal
    turned = TurnedWrench(load.signal, load.rotation)
    return Constant(turned.evaluate(np.zeros(1))[0]) if isinstance(load.signal, Constant) else turned


def _drives_of_whole_joints(arm: Arm, torques: list[Torque]) -> list[Load]:
    """One load on the child of each ball and free joint that is driven, whose torques add."""
    drives = []
    loops = {loop.name: loop for loop in arm.robot.loops}
    for name in dict.fromkeys(each.joint for each in torques):
        joint = driven_as_a_whole(arm, name)
        assert joint is not None
        parent, child = At(joint.parent), At(joint.child, End.ROOT)
        if name in loops:
            parent, child = loops[name].first, loops[name].second
        reaction = parent if isinstance(joint, SphericalJoint) else None
        place = LoadPlace(
            name, child.link, False, Frame.BODY, child.end, reacts_on=reaction, station=child.station
        )
        signals = tuple(each.signal for each in torques if each.joint == name)
        drives.append(Load(place, WholeEffort(signals), child.rotation))
    return drives


def _label(component: Component, attachment: Attachment) -> str:
    word = type(component).__name__
    if isinstance(attachment, (SpringPlace, BushingPlace, WallPlace)):
        return f"{word} '{attachment.name}'"
    return word


def _check(arm: Arm, label: str, attachment: Attachment) -> None:
    check_ports(arm, label, attachment)
    match attachment:
        case Prescription():
            _check_motion(f"{label} of joint '{attachment.joint}'", attachment.motion)
        case Feedback() | Following():
            _check_motion(f"{label} of joint '{attachment.joint}'", attachment.reference)
        case BaseMove():
            for motion in attachment.motions:
                _check_motion(label, motion)
        case Torque():
            size = next(port.size for port in arm.ports if port.name == attachment.joint)
            shape = () if size == 1 else (size,)
            _check_signal(
                f"{label} of joint '{attachment.joint}'", attachment.signal, shape, COMPONENTS[size]
            )
        case Load():
            _check_signal(f"{label} '{attachment.place.name}'", attachment.signal, (6,), COMPONENTS[6])


def _check_motion(label: str, motion: Motion) -> None:
    with told(label):
        answer: object = motion.evaluate(_PROBE_TIMES)
    if not isinstance(answer, tuple) or [np.shape(part) for part in answer] != [_PROBE_TIMES.shape] * 3:
        raise InvalidInput(
            f"{label}: {type(motion).__name__} is no motion; let its evaluate return position, rate and"
            " acceleration, each of the shape of the times"
        )


def _check_signal(label: str, signal: Signal, shape: tuple[int, ...], needs: str) -> None:
    with told(label):
        answer: object = signal.evaluate(_PROBE_TIMES)
    if not isinstance(answer, np.ndarray) or answer.shape[:1] != _PROBE_TIMES.shape:
        raise InvalidInput(
            f"{label}: {type(signal).__name__} is no signal; let its evaluate return an array with one value,"
            " or one row of values, for each time"
        )
    if answer.shape[1:] != shape:
        has = answer.shape[1] if answer.ndim > 1 else 1
        raise InvalidInput(f"{label}: the signal must have {needs}, it has {has}")
