"""Connecting an arm with sources and controllers gives a model again.

From contributions to the inputs of a model: conflicts refused, constants computed beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar, cast, overload, runtime_checkable

import numpy as np

from pliant.components import kinds
from pliant.components.base_motion import rotated
from pliant.components.doubts import doubts
from pliant.components.fields import first_repeated, merged_breaks, nearest, soonest_change
from pliant.components.kinds import Component, Contribution, Feedback, Load, Telling
from pliant.components.motions import Hold, Motion
from pliant.components.port_signal import PortSignal, connect_ports
from pliant.components.ports import driven_as_a_whole
from pliant.components.signals import Constant, Signal
from pliant.errors import InvalidInput, clip, tell, told_already
from pliant.model import contract
from pliant.model.arm import model_lines
from pliant.model.contract import Arm, Model, TakesSignals
from pliant.model.inputs import Inputs, LoadPlace, Measure, Relation
from pliant.model.port import Frame, Port
from pliant.model.sampling import Section
from pliant.model.state import Array, Layout, Observation
from pliant.renamed import OF_MODELS, Renamed
from pliant.robot import At, End, Robot, SphericalJoint
from pliant.robot.axes import IDENTITY
from pliant.robot.declared import Quaternion
from pliant.robot.joint import BASE
from pliant.robot.shown import Shown, listed

Kind = TypeVar("Kind", bound=Contribution)
Member = TypeVar("Member")
Timed = TypeVar("Timed", Motion, Signal)
Labelled = tuple[str, Contribution]
CLAIMED_TWICE: dict[type[Contribution], str] = {
    kinds.Prescription: "is prescribed twice; add the two motions with MotionSum or remove one",
    kinds.Motor: "has two motors; remove one GearMotor",
    kinds.Servo: "has two velocity servos; remove one VelocityServo",
    Feedback: "has two feedback laws; put their gains into one JointPD",
}


@runtime_checkable
class Carrying(Protocol):
    """An arm that knows who can take its place where it cannot carry some inputs."""

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """In words, the inputs that it does not carry."""

    def carrying(self, inputs: Inputs) -> Arm:
        """The arm itself if it carries the inputs, with states for them where it needs some, else another that does."""


@runtime_checkable
class Driving(Protocol):
    """An arm whose loop, ball and free joints have coordinates where something drives them."""

    def driving(self, coordinates: Collection[str], followed: Collection[str]) -> Arm:
        """The arm itself, or with these coordinates, and with references for the joints of those that are followed."""


class OfTheArm(Generic[Member]):
    """What a connected model has from its arm, unchanged."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Connected, owner: type) -> Member:
        return cast(Member, getattr(model.arm, self.name))


@dataclass(frozen=True, repr=False)
class Connected(Shown, Renamed):
    """An arm with everything connected to it: the arm's own equations, with inputs from the components.

    ``arm`` computes; it is the ``given`` one unless that cannot carry the components, which ``substitution`` then says.
    """

    old_names = OF_MODELS
    arm: Arm
    components: tuple[Component, ...]
    inputs: Inputs = field(compare=False)
    given: Arm = field(compare=False)
    substitution: str = ""

    def _shown(self) -> tuple[str, dict[str, str]]:
        parts = [_on_what(component) for component in self.components]
        heading = f"{type(self.formulation).__name__} model of robot '{self.robot.name}', connected"
        return heading, {"components": listed(parts) or "none", **model_lines(self)}

    robot = OfTheArm[Robot]()
    formulation = OfTheArm[object]()
    layout = OfTheArm[Layout]()
    ports = OfTheArm[tuple[Port, ...]]()
    joint_names = OfTheArm[tuple[str, ...]]()
    highest_order = OfTheArm[int]()
    initial_state = OfTheArm[Callable[..., Array]]()
    undeformed = OfTheArm[Callable[..., Array]]()
    observe = OfTheArm[Callable[..., Observation]]()
    tip = OfTheArm[Callable[..., tuple[Array, Array]]]()
    link_ends = OfTheArm[Callable[..., tuple[Array, Array]]]()
    section = OfTheArm[Callable[..., Section]]()
    load_flows = OfTheArm[Callable[..., Array]]()
    energy = OfTheArm[Callable[..., tuple[Array, Array, Array]]]()
    stepper = OfTheArm[Callable[..., contract.Stepper[Any]]]()
    equilibrium = OfTheArm[Callable[..., contract.Equilibrium]]()
    linearise = OfTheArm[Callable[..., contract.SecondOrder]]()
    consistency_error = OfTheArm[Callable[..., contract.Consistency]]()
    step_equations = OfTheArm[Callable[..., contract.StepEquations]]()
    step_unknowns = OfTheArm[Callable[..., tuple[Array, Array]]]()
    descriptor = OfTheArm[Callable[..., contract.Descriptor]]()
    violations = OfTheArm[Callable[..., dict[str, Array]]]()

    @cached_property
    def _others(self) -> dict[Any, Connected]:
        """By other choices of the formulation: runs of one model try the same meshes."""
        return {}

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Sentences on what is connected and hardly meant so."""
        return tuple(f"{_on_what(each)}: {doubt}" for each in self.components for doubt in doubts(each, self.arm))

    @told_already()
    def by(self, formulation: Any) -> Connected:
        """The same robot and components by another choice of the formulation that computes; joined once."""
        if formulation not in self._others:
            arm = self.arm.by(formulation)  # type: ignore[attr-defined]
            self._others[formulation] = replace(connect(arm, *self.components), substitution=self.substitution)
        return self._others[formulation]

    def adopt(self, other: Connected, state: Array) -> Array:
        """A state of the same robot by another choice of the same formulation, as one of this model."""
        return cast(Array, self.arm.adopt(other.arm, state))  # type: ignore[attr-defined]

    @told_already()
    def substituting(self, start: Array, stopped: Array) -> tuple[Connected, Array] | None:
        found = self.arm.substituting(start, stopped) if isinstance(self.arm, contract.Substitutes) else None
        return found and (connect(found[0], *self.components), found[1])


def _on_what(component: Component) -> str:
    """The kind of a component and its own name, or that of the joint or link it acts on."""
    names = (getattr(component, word, None) for word in ("name", "joint", "link"))
    name = next((name for name in names if isinstance(name, str)), "")
    return f"{type(component).__name__}{f' ({name})' if name else ''}"


@overload
def connect(arm: Arm, *components: Component) -> Connected: ...
@overload
def connect(arm: TakesSignals, *components: PortSignal) -> Model: ...
def connect(arm: Arm | TakesSignals, *components: Component | PortSignal) -> Connected | Model:
    """Join ``components`` to ``arm``; to join more later, connect the answer again.

    Refused with InvalidInput: ports the arm does not have or that exchange something else, fixed joints, feedback and
    motions in part of ball and free joints, a joint that is prescribed and also driven with torque or by a motor, or
    prescribed twice, two feedback laws or two motors on one joint, a base moved twice, signals of the wrong size,
    and equal names. A bond graph takes signals on its open sources, `PortSignal`.
    """
    if isinstance(arm, TakesSignals):
        return connect_ports(arm, (*getattr(arm, "components", ()), *components))
    contract.refuse_other_than_arm(arm, "components act on joints, links and frames")
    for part in components:
        if not hasattr(part, "attachments"):
            raise InvalidInput(
                f"{clip(repr(part))} is no component; connect takes an arm and components, such as JointPD(...);"
                " describe two arms as one robot"
            )
    told = arm.robot.doubts
    if isinstance(arm, Connected):
        told = (*told, *arm.doubts)
        components = (*arm.components, *components)
        arm = arm.given
    with told_already():
        connected = _joined(arm, components)
    tell(each for each in (*connected.robot.doubts, *connected.doubts) if each not in told)
    return connected


def _joined(arm: Arm, components: tuple[Component, ...]) -> Connected:
    given, arm = arm, _with_bodies(arm, components)
    if isinstance(arm, Driving):
        drives = [each for part in components for each in part.attachments(arm) if each.joints]
        followed = [each for each in drives if isinstance(each, Feedback) and each.whole]
        driven = {joint for each in drives if each not in followed for joint in each.joints}
        arm = arm.driving(driven, {each.joint for each in followed})
    inputs = assemble(arm, components)
    substitution = getattr(arm, "substitution", "")
    if isinstance(arm, Carrying) and (carrier := arm.carrying(inputs)) is not arm:
        if lacking := arm.lacking(inputs):
            substitution = (
                f"{carrier.formulation} computes in place of {arm.formulation}, which does not carry the"
                f" {' and the '.join(lacking)}"
            )
        arm, inputs = carrier, assemble(carrier, components)
    return Connected(arm, components, inputs, given, substitution)


def report(connected: Connected) -> str:
    """One line for each port in use with the components that use it, then the ports left unused."""
    contract.refuse_other_than_arm(connected, "report lists what joints, links and frames exchange")
    users: dict[str, list[str]] = {port.name: [] for port in connected.ports}
    for component in connected.components:
        for each in component.attachments(connected.arm):
            for port in dict.fromkeys(each.off_stations(connected.robot).ports):
                users[port].append(f"{type(component).__name__} ({each.effect})")
    used = [f"  {port}: {', '.join(names)}" for port, names in users.items() if names]
    unused = [port for port, names in users.items() if not names]
    lines = [f"Connections of robot '{connected.robot.name}'", *(used or ["  no component is connected"])]
    lines.append(f"  left unused: {', '.join(unused) or 'none'}")
    return "\n".join([*lines, *([f"  {connected.substitution}"] if connected.substitution else [])])


def _with_bodies(arm: Arm, components: Sequence[Component]) -> Arm:
    """The arm itself, or that of its robot with the bodies which components add; those it has already stay."""
    pairs = [(type(part).__name__, each) for part in components for each in part.attachments(arm)]
    robot = arm.robot
    for label, body in pairs:
        if isinstance(body, kinds.ExtraBody) and not set(body.links) <= set(arm.robot.links):
            body.check(arm, label)
            robot = replace(robot, links=(*robot.links, *body.links), joints=(*robot.joints, *body.added))
    if robot is arm.robot:
        return arm
    return cast(Arm, arm.formulation.compile(robot))  # type: ignore[attr-defined]


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

    @property
    def changes_within(self) -> float:
        return soonest_change(each for _, each in (*self.motions, *self.torques))

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for joint, motion in self.motions:
            with Telling(f"the motion of joint '{self.names[joint]}'"):
                position, rate, acceleration = motion.evaluate(times)
            signals[:, joint, 0], signals[:, joint, 1] = position, rate
            if self.prescribed[joint]:
                signals[:, joint, 2] = acceleration
        for joint, torque in self.torques:
            with Telling(f"the torque of joint '{self.names[joint]}'"):
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

    @property
    def changes_within(self) -> float:
        return soonest_change(each for _, each in self.varying)

    def __call__(self, times: Array) -> Array:
        signals = np.empty((len(times), *self.constant.shape))
        signals[:] = self.constant
        for load, signal in self.varying:
            with Telling(f"load '{self.names[load]}'"):
                signals[:, load] = signal.evaluate(times)
        return signals


@dataclass(frozen=True)
class TurnedWrench:
    """A wrench given in one frame and written in the axes to which ``rotation`` rotates that frame."""

    signal: Signal
    rotation: Quaternion

    @property
    def breaks(self) -> tuple[float, ...]:
        return self.signal.breaks

    @property
    def changes_within(self) -> float:
        return soonest_change((self.signal,))

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

    @property
    def changes_within(self) -> float:
        return soonest_change(self.signals)

    def evaluate(self, times: Array) -> Array:
        wrench = np.zeros((len(times), 6))
        for signal in self.signals:
            values = signal.evaluate(times)
            wrench[:, 6 - values.shape[1] :] += values
        return wrench


def assemble(arm: Arm, components: Iterable[Component]) -> Inputs:
    """The inputs that ``components`` give to ``arm``; what does not fit is refused in one sentence."""
    pairs = [(type(part).__name__, each) for part in components for each in part.attachments(arm)]
    names = [port.name for port in arm.ports]
    for label, each in pairs:
        each.check(arm, label)
        for name in each.off_stations(arm.robot).ports:
            # the reference of a ball joint is there unless the joint is prescribed too, which is a conflict
            if name not in names and not (isinstance(each, Feedback) and each.whole):
                raise InvalidInput(f"{label}: the arm has no port '{name}'; {nearest(name, names)}")
    _refuse_conflicts(arm, pairs)
    return _inputs(arm, [each.off_stations(arm.robot) for _, each in pairs])


def _of(kind: type[Kind], contributions: Iterable[Contribution]) -> list[Kind]:
    return [each for each in contributions if isinstance(each, kind)]


def _inputs(arm: Arm, contributions: list[Contribution]) -> Inputs:
    joint_names = arm.joint_names
    index = {name: position for position, name in enumerate(joint_names)}
    prescriptions, feedbacks = _of(kinds.Prescription, contributions), _of(Feedback, contributions)
    all_torques, loads = _of(kinds.Torque, contributions), _of(Load, contributions)
    torques = [(index[each.joint], each.signal) for each in all_torques if each.joint in index]
    loads += _drives_of_whole_joints(arm, [each for each in all_torques if each.joint not in index])
    wrenches = [_in_axes_of_place(load) for load in loads]
    base_moves, laws = _of(kinds.BaseMove, contributions), _of(kinds.SampledLaw, contributions)
    relations = [each.relation for each in _of(kinds.Related, contributions)]

    motions = [(index[each.joint], each.motion) for each in prescriptions]
    motions += [(index[each.ports[0]], each.reference) for each in feedbacks]
    following = {each.joint for each in prescriptions} | {each.ports[0] for each in feedbacks if each.whole}
    given = tuple(name in following for name in joint_names)
    gains_of = {each.joint: (each.stiffness, each.damping) for each in feedbacks if not each.whole}
    gains = [gains_of.get(name, (0.0, 0.0)) for name in joint_names]

    held, moving = _split(motions, Hold)
    steady, varying = _split(torques, Constant)
    fixed, varying_loads = _split(enumerate(wrenches), Constant)
    names = tuple(load.place.name for load in loads)
    # what does not change is worked out once
    constant = JointSignals(joint_names, np.zeros((len(joint_names), 3)), given, held, steady)(np.zeros(1))[0]
    constant_loads = LoadSignals(names, np.zeros((len(loads), 6)), fixed)(np.zeros(1))[0]
    breaks = [motion.breaks for _, motion in moving]
    breaks += [signal.breaks for _, signal in (*varying, *varying_loads)]
    breaks += [motion.breaks for move in base_moves for motion in move.motions]
    return Inputs(
        prescribed=given,
        stiffness=tuple(stiffness for stiffness, _ in gains),
        damping=tuple(damping for _, damping in gains),
        joint_signals=JointSignals(joint_names, constant, given, moving, varying),
        loads=tuple(load.place for load in loads),
        load_signals=LoadSignals(names, constant_loads, varying_loads),
        breaks=merged_breaks(breaks),
        controllers=tuple(law.controller for law in laws if not law.commands),
        commands=tuple(law.controller for law in laws if law.commands),
        servos=tuple(each.place for each in _of(kinds.Servo, contributions)),
        relations=(*relations, *_held(arm, [each for each in feedbacks if each.whole])),
        motors=tuple(each.place for each in _of(kinds.Motor, contributions)),
        base_motion=base_moves[0].signals if base_moves else None,
    )


def _split(pairs: Iterable[tuple[int, Timed]], constant: type) -> tuple[tuple[tuple[int, Timed], ...], ...]:
    """Those that do not change in time, and the others."""
    both = list(pairs)
    return tuple(tuple(pair for pair in both if isinstance(pair[1], constant) is fixed) for fixed in (True, False))


def _held(arm: Arm, feedbacks: list[Feedback]) -> Iterator[Relation]:
    """Between the reference frame of each ball or free joint under feedback and its child, one gain a coordinate."""
    gains = {each.joint: (each.stiffness, each.damping) for each in feedbacks}
    for name in dict.fromkeys(each.joint.partition(".")[0] for each in feedbacks):
        whole = driven_as_a_whole(arm, name)
        assert whole is not None
        own = [gains[freedom.name] for freedom in whole.guided_freedoms]
        both = np.array([(0.0, 0.0)] * (6 - len(own)) + own)  # on the rotation only of a ball
        stiffness, damping = (tuple(map(tuple, np.diag(column).tolist())) for column in both.T)
        yield Relation(f"{name}.feedback", "feedback", Measure.POSE, (), stiffness, damping, joint=name)


def _in_axes_of_place(load: Load) -> Signal:
    if load.rotation == IDENTITY:
        return load.signal
    turned = TurnedWrench(load.signal, load.rotation)
    return Constant(turned.evaluate(np.zeros(1))[0]) if isinstance(load.signal, Constant) else turned


def _drives_of_whole_joints(arm: Arm, torques: list[kinds.Torque]) -> list[Load]:
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
        place = LoadPlace(name, child.link, False, Frame.BODY, child.end, reacts_on=reaction, station=child.station)
        signals = tuple(each.signal for each in torques if each.joint == name)
        drives.append(Load(place, WholeEffort(signals), child.rotation))
    return drives


def _refuse_conflicts(arm: Arm, pairs: list[Labelled]) -> None:
    """Refuse two components that claim the same thing; each contribution comes with its component's label."""
    for joint in dict.fromkeys(joint for _, each in pairs for joint in each.joints):
        _refuse_on_joint(joint, [(label, each) for label, each in pairs if joint in each.joints])
    contributions = [each for _, each in pairs]
    prescribed = [each.joint for each in _of(kinds.Prescription, contributions)]
    _refuse_half(arm, prescribed, "prescribed", "Hold(0)")
    following = [each.joint for each in _of(Feedback, contributions) if each.whole]
    _refuse_half(arm, following, "held by feedback", "a JointPD of stiffness 0")
    moves = _of(kinds.BaseMove, contributions)
    if len(moves) > 1:
        raise InvalidInput("the base is moved twice; put all its motions into one BaseMotion")
    _refuse_names(arm, contributions)
    repeated = first_repeated([each.controller.name for each in _of(kinds.SampledLaw, contributions)])
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


def _refuse_on_joint(joint: str, on_joint: list[Labelled]) -> None:
    def labels(*kinds: type[Contribution]) -> list[str]:
        return [label for label, each in on_joint if isinstance(each, kinds)]

    for kind, twice in CLAIMED_TWICE.items():
        if len(labels(kind)) > 1:
            raise InvalidInput(f"joint '{joint}' {twice}")
    prescribing, motors = labels(kinds.Prescription), labels(kinds.Motor)
    driving = [label for label, each in on_joint if not isinstance(each, (kinds.Prescription, kinds.Motor))]
    if prescribing and driving:
        raise InvalidInput(
            f"joint '{joint}' is prescribed by {prescribing[0]} and driven with torque by {driving[0]};"
            " remove one of the two"
        )
    if prescribing and motors:
        raise InvalidInput(
            f"joint '{joint}' is prescribed by {prescribing[0]} and driven by a {motors[0]}; remove one of"
            " the two, or let a JointPD drive the motor"
        )
    for label, each in on_joint:
        if isinstance(each, kinds.SampledLaw) and each.commands and not labels(kinds.Servo):
            raise InvalidInput(
                f"{label} '{each.controller.name}' commands the rate of joint '{joint}', which has no servo; connect a"
                " VelocityServo of this joint together with it"
            )


def _refuse_names(arm: Arm, contributions: list[Contribution]) -> None:
    """Names in the energy ledger must differ from each other, from joints and from the base."""
    first: dict[str, str] = {}
    for kind, name in filter(None, (each.named for each in contributions)):
        if name in arm.joint_names or name == BASE or driven_as_a_whole(arm, name):
            like = "the base" if name == BASE else "a joint"
            raise InvalidInput(f"a {kind} is named '{name}' like {like}; give the {kind} another name")
        if name in first:
            both = f"two {kind}s are" if first[name] == kind else f"a {first[name]} and a {kind} are both"
            raise InvalidInput(f"{both} named '{name}'; give one of them another name")
        first[name] = kind
