"""Connecting an arm with sources and controllers gives a model again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pliant.errors import InvalidInput, clip
from pliant.model.arm_facts import model_lines
from pliant.model.contract import HandsOver, refuse_other_than_model
from pliant.model.inputs import Inputs, LoadPlace
from pliant.model.layout import Array, Layout
from pliant.model.port import Port
from pliant.network.assemble import assemble
from pliant.network.attachments import Component, Following
from pliant.network.ports import driven_joints
from pliant.robot.declared import Shown, listed

if TYPE_CHECKING:
    from pliant.model.contract import Mismatch, Model, Record, Run, SecondOrder, Settled
    from pliant.model.observation import Observation
    from pliant.robot import Robot


@runtime_checkable
class Carrying(Protocol):
    """An arm that knows who can take its place where it cannot carry some inputs."""

    def lacking(self, inputs: Inputs) -> tuple[str, ...]:
        """In words, the inputs that it does not carry."""
        ...

    def carrying(self, inputs: Inputs) -> Model:
        """The arm itself if it carries the inputs, else a model of the same robot that does."""
        ...


@runtime_checkable
class Driving(Protocol):
    """An arm whose loop, ball and free joints have coordinates where something drives them."""

    def driving(self, coordinates: Collection[str], followed: Collection[str]) -> Model:
        """The arm itself, or with these coordinates, and with references for the joints of those that are followed."""
        ...


@dataclass(frozen=True, repr=False)
class Connected(Shown):
    """An arm with everything connected to it: the arm's own equations, with inputs from the components.

    ``arm`` computes; it is the ``given`` one unless that cannot carry the components, which ``notice`` then says.
    """

    arm: Model
    components: tuple[Component, ...]
    inputs: Inputs = field(compare=False)
    given: Model = field(compare=False)
    notice: str = ""

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

    def advance(self, run: Run) -> Record:
        return self.arm.advance(run)

    def mismatch(self, record: Record) -> Mismatch:
        return self.arm.mismatch(record)

    def unbent(self, positions: Array) -> Array:
        return self.arm.unbent(positions)

    def tip(self, states: Array) -> tuple[Array, Array]:
        return self.arm.tip(states)

    def settle(self, start: Array, inputs: Inputs, time: float, load_steps: int, accuracy: float) -> Settled:
        return self.arm.settle(start, inputs, time, load_steps, accuracy)

    def small_motions(self, state: Array, inputs: Inputs, time: float) -> SecondOrder:
        return self.arm.small_motions(state, inputs, time)

    def handing_over(self, start: Array, stopped: Array) -> tuple[Connected, Array] | None:
        found = self.arm.handing_over(start, stopped) if isinstance(self.arm, HandsOver) else None
        return found and (connect(found[0], *self.components), found[1])


def _on_what(component: Component) -> str:
    """The kind of a component and its own name, or that of the joint or link it acts on."""
    names = (getattr(component, word, None) for word in ("name", "joint", "link"))
    name = next((name for name in names if isinstance(name, str)), "")
    return f"{type(component).__name__}{f' ({name})' if name else ''}"


def connect(arm: Model, *components: Component) -> Connected:
    """Join ``components`` to ``arm``; to join more later, connect the answer again.

    Refused with InvalidInput: ports the arm does not have or that exchange something else, fixed joints, feedback and
    motions in part of ball and free joints, a joint that is prescribed and also driven with torque or by a motor, or
    prescribed twice, two feedback laws or two motors on one joint, a base moved twice, signals of the wrong size,
    and equal names.
    """
    refuse_other_than_model(arm)
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
    notice = getattr(arm, "notice", "")
    if isinstance(arm, Carrying) and (carrier := arm.carrying(inputs)) is not arm:
        notice = (
            f"{carrier.formulation} computes in place of {arm.formulation}, which does not carry the"
            f" {' and the '.join(arm.lacking(inputs))}"
        )
        arm, inputs = carrier, assemble(carrier, components)
    return Connected(arm, components, inputs, given, notice)
