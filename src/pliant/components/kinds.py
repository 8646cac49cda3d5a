"""The few general kinds of contributions that components are made of; each knows its joints, its ports and its words.

A component gives any number of these. Connecting, refusing, reporting and the structures know the kinds only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import isinf
from typing import Protocol

import numpy as np

from pliant.components.motions import Hold, Motion
from pliant.components.ports import check_frame, check_joint, port_at
from pliant.components.signals import Signal
from pliant.errors import InvalidInput
from pliant.model.contract import Arm
from pliant.model.inputs import BaseMotionSignals, LoadPlace, MotorPlace, Relation
from pliant.model.port import Frame
from pliant.model.rigid_links import off_stations
from pliant.model.sampling import SampledController, ServoPlace
from pliant.robot import At, FlexibleLink, Joint, Link, RigidLink, Robot
from pliant.robot.axes import IDENTITY
from pliant.robot.declared import Quaternion
from pliant.robot.joint import BASE, reference_name

COMPONENTS = {
    1: "1 component",
    3: "3 components (torque x, y, z)",
    6: "6 components (force x, y, z and moment x, y, z)",
}
_PROBE_TIMES = np.zeros(2)
_PROBE_TIMES.setflags(write=False)


class Component(Protocol):
    """Anything that connect can join to an arm."""

    def attachments(self, arm: Arm) -> tuple[Contribution, ...]:
        """What this component does to ``arm``, one entry for each joint or place it acts on."""


class Contribution(ABC):
    """What a component does to an arm at one place."""

    @property
    def joints(self) -> tuple[str, ...]:
        """Coordinates that it drives."""
        return ()

    @property
    def frames(self) -> tuple[At, ...]:
        """Frames of the arm that it acts on."""
        return ()

    @property
    def ports(self) -> tuple[str, ...]:
        """Through which it exchanges power with the arm."""
        return (*self.joints, *map(port_at, self.frames))

    @property
    def named(self) -> tuple[str, str] | None:
        """Its kind in one word, and its name in results and in the energy ledger, where it has one."""
        return None

    @property
    @abstractmethod
    def effect(self) -> str:
        """What it does, in few words."""

    def check(self, arm: Arm, label: str) -> None:
        """Refuse it in one sentence where ``arm`` has no place for it; ``label`` names its component."""
        for joint in self.joints:
            check_joint(arm, label, joint)
        for at in self.frames:
            check_frame(arm, label, at)

    def off_stations(self, robot: Robot) -> Contribution:
        """The same, with frames at stations of links that were made rigid written from their tips."""
        return self


@dataclass(frozen=True)
class OnJoint(Contribution, ABC):
    """What drives one coordinate, or a ball or free joint as a whole."""

    joint: str

    @property
    def joints(self) -> tuple[str, ...]:
        return (self.joint,)


@dataclass(frozen=True)
class Prescription(OnJoint):
    """``joint`` follows ``motion``, whatever torque that takes."""

    motion: Motion

    @property
    def effect(self) -> str:
        return f"follows {type(self.motion).__name__}"

    def check(self, arm: Arm, label: str) -> None:
        check_joint(arm, label, self.joint, prescribes=True)
        check_motion(f"{label} of joint '{self.joint}'", self.motion)


@dataclass(frozen=True)
class Feedback(OnJoint):
    """The torque  -stiffness (q - reference) - damping (qdot - reference rate)  on ``joint``.

    On one coordinate of a ball or free joint, a ``whole``, it pulls the child to a frame together with all others.
    """

    reference: Motion
    stiffness: float
    damping: float
    whole: bool = False

    @property
    def ports(self) -> tuple[str, ...]:
        return (reference_name(self.joint) if self.whole else self.joint,)

    @property
    def effect(self) -> str:
        reference = type(self.reference).__name__
        return f"stiffness {self.stiffness:g}, damping {self.damping:g}, reference {reference}"

    def check(self, arm: Arm, label: str) -> None:
        check_joint(arm, label, self.joint, whole=self.whole)
        check_motion(f"{label} of joint '{self.joint}'", self.reference)


@dataclass(frozen=True)
class Torque(OnJoint):
    """A torque (force for a prismatic joint) in time on ``joint``; several of them add.

    Three components on a ball joint, the six of a wrench on a free joint.
    """

    signal: Signal

    @property
    def effect(self) -> str:
        return f"torque {type(self.signal).__name__}"

    def check(self, arm: Arm, label: str) -> None:
        check_joint(arm, label, self.joint, drives_whole=True)
        size = next(port.size for port in arm.ports if port.name == self.joint)
        check_signal(f"{label} of joint '{self.joint}'", self.signal, size)


@dataclass(frozen=True)
class Load(Contribution):
    """An external wrench of six components in time, in axes that ``rotation`` rotates to those of the place."""

    place: LoadPlace
    signal: Signal
    rotation: Quaternion = IDENTITY

    @property
    def frames(self) -> tuple[At, ...]:
        return (self.place.at,)

    @property
    def ports(self) -> tuple[str, ...]:
        return (f"{self.place.link}.distributed" if self.place.distributed else port_at(self.place.at),)

    @property
    def named(self) -> tuple[str, str]:
        return "load", self.place.name

    @property
    def effect(self) -> str:
        return f"{type(self.signal).__name__} '{self.place.name}' in {self.place.frame} axes"

    def check(self, arm: Arm, label: str) -> None:
        super().check(arm, label)
        link = self.place.link
        if self.place.distributed and not isinstance(arm.robot.link(link), FlexibleLink):
            word = arm.robot.link(link).word
            raise InvalidInput(
                f"{label}: link '{link}' is {word} and has no length to spread a load along; use a TipWrench"
            )
        check_signal(f"{label} '{self.place.name}'", self.signal, 6)

    def off_stations(self, robot: Robot) -> Load:
        turns = self.place.frame is Frame.BODY
        own = replace(self.place.at, rotation=self.rotation if turns else IDENTITY)
        at = off_stations(robot, own)
        if at is own:
            return self
        place = replace(self.place, position=at.position, station=None)
        return Load(place, self.signal, at.rotation if turns else self.rotation)


@dataclass(frozen=True)
class Related(Contribution):
    """Frames that act on each other: springs, walls, cables."""

    relation: Relation

    @property
    def frames(self) -> tuple[At, ...]:
        return self.relation.frames[1:] if self.relation.in_world else self.relation.frames

    @property
    def named(self) -> tuple[str, str]:
        return self.relation.word, self.relation.name

    @property
    def effect(self) -> str:
        return ", ".join(filter(None, (f"'{self.relation.name}'", self.relation.about)))

    def check(self, arm: Arm, label: str) -> None:
        label = f"{label} '{self.relation.name}'"
        super().check(arm, label)
        links = {at.link for at in self.relation.frames}
        if len(links) == 1 and BASE not in links and isinstance(arm.robot.link(link := links.pop()), RigidLink):
            which = "first and second are both" if len(self.relation.frames) == 2 else "its frames are all"
            raise InvalidInput(f"{label}: {which} fixed to the rigid link '{link}'; put one on another part")

    def off_stations(self, robot: Robot) -> Related:
        frames = tuple(off_stations(robot, at) for at in self.relation.frames)
        return Related(replace(self.relation, frames=frames))


@dataclass(frozen=True)
class Motor(OnJoint):
    """A rotor with a gear between the drive of a joint and the joint."""

    place: MotorPlace

    @property
    def effect(self) -> str:
        place = self.place
        limit = "" if isinf(place.torque_limit) else f", limit {place.torque_limit:g}"
        gear = f"stiffness {place.stiffness:g}" if place.stiffness else "rigid gear"
        return f"at the joint inertia {place.rotor_inertia:g}, {gear}{limit}"


@dataclass(frozen=True)
class ExtraBody(Contribution):
    """Links and joints with states of their own, attached to a frame of the arm.

    They become part of the robot that is compiled, so that every formulation carries them as it carries a robot's own.
    """

    at: At
    links: tuple[Link, ...]
    added: tuple[Joint, ...]
    about: str

    @property
    def frames(self) -> tuple[At, ...]:
        return (self.at,)

    @property
    def effect(self) -> str:
        return self.about

    def off_stations(self, robot: Robot) -> ExtraBody:
        return replace(self, at=off_stations(robot, self.at))


@dataclass(frozen=True)
class BaseMove(Contribution):
    """The base moves by ``signals``, made of ``motions``, whatever wrench that takes."""

    signals: BaseMotionSignals
    motions: tuple[Motion, ...]

    @property
    def ports(self) -> tuple[str, ...]:
        return (BASE,)

    @property
    def effect(self) -> str:
        moving = [motion for motion in self.motions if not isinstance(motion, Hold)]
        return f"follows {', '.join(type(motion).__name__ for motion in moving) or 'Hold'}"

    def check(self, arm: Arm, label: str) -> None:
        for motion in self.motions:
            check_motion(label, motion)


@dataclass(frozen=True)
class SampledLaw(Contribution):
    """A law called at its own period: torques that add to all others on its joints.

    One that ``commands`` asks for joint rates, which add to the other commands that the servos of its joints see.
    """

    controller: SampledController
    commands: bool = False

    @property
    def joints(self) -> tuple[str, ...]:
        return self.controller.joints

    @property
    def effect(self) -> str:
        what = " commands the rate" if self.commands else ""
        return f"'{self.controller.name}'{what} every {self.controller.period:g} s"


@dataclass(frozen=True)
class Servo(OnJoint):
    """A sampled law inside the loop over steps that makes torques of commanded rates."""

    place: ServoPlace

    @property
    def effect(self) -> str:
        return f"at the joint gain {self.place.gain:g}, every {self.place.period:g} s"


class Telling:
    """A block in which the sentence of a function that fails names the part that it drives."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, InvalidInput):
            raise InvalidInput(f"{self.owner}: {error}") from error


def check_motion(label: str, motion: Motion) -> None:
    with Telling(label):
        answer: object = motion.evaluate(_PROBE_TIMES)
    if not isinstance(answer, tuple) or [np.shape(part) for part in answer] != [_PROBE_TIMES.shape] * 3:
        raise InvalidInput(
            f"{label}: {type(motion).__name__} is no motion; let its evaluate return position, rate and"
            " acceleration, each of the shape of the times"
        )


def check_signal(label: str, signal: Signal, size: int) -> None:
    with Telling(label):
        answer: object = signal.evaluate(_PROBE_TIMES)
    if not isinstance(answer, np.ndarray) or answer.shape[:1] != _PROBE_TIMES.shape:
        raise InvalidInput(
            f"{label}: {type(signal).__name__} is no signal; let its evaluate return an array with one value,"
            " or one row of values, for each time"
        )
    if answer.shape[1:] != (() if size == 1 else (size,)):
        has = answer.shape[1] if answer.ndim > 1 else 1
        raise InvalidInput(f"{label}: the signal must have {COMPONENTS.get(size, f'{size} components')}, it has {has}")
