"""What the world does to a model during a run, in few general kinds that structures carry or refuse.

Joint drives, loads, relations between frames, motors, a moved base and sampled laws. A component says which of them it
is made of; a structure knows the kinds and no component.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.port import Frame
from pliant.model.sampling import SampledController, ServoPlace
from pliant.model.state import Array
from pliant.robot import At, End
from pliant.robot.declared import Vector3

ORIGIN: Vector3 = (0.0, 0.0, 0.0)
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class LoadPlace:
    """Where a wrench acts: on a point of a section of a link, or spread along it (per metre).

    ``position`` is the point in the frame of that section, which lies at an end or, where a ``station`` is given, that
    far from the root; a spread load acts on the axis of the link. The drive of a ball joint is a moment on the child
    whose opposite acts on the link or the base that carries ``reacts_on``.
    """

    name: str
    link: str
    distributed: bool
    frame: Frame
    end: End = End.TIP
    position: Vector3 = ORIGIN
    reacts_on: At | None = None
    station: float | None = None

    @property
    def at(self) -> At:
        """The frame at whose origin it acts, in the axes of its section."""
        return At(self.link, self.end, self.position, station=self.station)


class Measure(StrEnum):
    """What frames are related by."""

    LENGTH = "length"  # sum of the distances between the origins of frames that follow each other
    HEIGHT = "height"  # of the origin of the second frame along an axis of the first
    POSE = "pose"  # log(first^-1 second), three lengths and three angles


class Acts(StrEnum):
    """When the law of a relation acts; on one side of its rest alone it has only one sign."""

    ALWAYS = "always"
    ABOVE = "above"  # its rest: a cable, which never pushes
    BELOW = "below"  # its rest: a wall, which never pulls


@dataclass(frozen=True)
class Relation:
    """Frames that act on each other along a measure phi with the force  stiffness (phi - rest) + damping phi'.

    Both matrices are 1 x 1, of a pose 6 x 6. Feedback on a ball or free ``joint`` relates the child to the frame of its
    reference coordinates, in place of ``frames``. ``word`` is what messages call it, ``about`` what `report` says.
    """

    name: str
    word: str
    measure: Measure
    frames: tuple[At, ...]
    stiffness: Matrix
    damping: Matrix
    rest: float = 0.0
    acts: Acts = Acts.ALWAYS
    axis: Vector3 = ORIGIN
    joint: str = ""
    about: str = ""
    in_world: bool = False  # its first frame stays there if the base moves
    from_start: bool = False  # its rest counts from the measure at the start of the robot


@dataclass(frozen=True)
class MotorPlace:
    """A rotor between the drive of a joint coordinate and the joint; every number as seen at the joint.

    With the angle r of the rotor divided by the ratio of the gear,  rotor_inertia r'' = drive - gear  and the
    joint feels  gear = stiffness (r - q) + damping (r' - q');  a stiffness of 0 stands for a rigid gear, r = q.
    The drive, feedforward and feedback together, is cut to +- ``torque_limit``, which may be infinite; its
    feedback reads r and r'.
    """

    joint: str
    rotor_inertia: float
    stiffness: float
    damping: float
    torque_limit: float


class BasePath(NamedTuple):
    """The base at n times: position (n, 3) and velocity (n, 3) in the world, quaternion (n, 4) from base to
    world, continuous in time, and spin (n, 3) in the axes of the base."""

    position: Array
    quaternion: Array
    velocity: Array
    spin: Array


class BaseMotionSignals(Protocol):
    """The prescribed motion of the base as a vectorised function of time."""

    def __call__(self, times: Array) -> BasePath: ...


def _no_joint_signals(n_joints: int, times: Array) -> Array:
    return np.zeros((len(times), n_joints, 3))


def _no_load_signals(times: Array) -> Array:
    return np.zeros((len(times), 0, 6))


@dataclass(frozen=True)
class Inputs:
    """All inputs of a model, as plain data and vectorised functions of time.

    ``joint_signals(times)`` has shape (n, n_joints, 3): for a prescribed joint its position, rate and
    acceleration; for any other joint the reference position, the reference rate and the feedforward
    torque of the law  torque = feedforward - stiffness (q - reference) - damping (qdot - reference rate).
    ``load_signals(times)`` has shape (n, n_loads, 6): force and moment (linear, angular) of each load.
    ``base_motion(times)`` replaces the pose of the robot's base; None leaves the base where it is.
    ``breaks`` are the times at which a signal or one of its two first derivatives jumps; steps end there.
    ``controllers`` answer with torques, ``commands`` with joint rates that the ``servos`` turn into torques.
    """

    prescribed: tuple[bool, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    joint_signals: Callable[[Array], Array]
    loads: tuple[LoadPlace, ...] = ()
    load_signals: Callable[[Array], Array] = _no_load_signals
    breaks: tuple[float, ...] = ()
    controllers: tuple[SampledController, ...] = ()
    commands: tuple[SampledController, ...] = ()
    servos: tuple[ServoPlace, ...] = ()
    relations: tuple[Relation, ...] = ()
    motors: tuple[MotorPlace, ...] = ()
    base_motion: BaseMotionSignals | None = None

    @staticmethod
    def none(n_joints: int) -> Inputs:
        """Free joints, no loads."""
        zeros = (0.0,) * n_joints
        return Inputs((False,) * n_joints, zeros, zeros, partial(_no_joint_signals, n_joints))


class Beyond(StrEnum):
    """Kinds of inputs beyond joint drives and loads on tips and along links, which not every formulation carries."""

    RELATION = "relation between frames"
    MOTOR = "motor"
    BASE_MOTION = "base motion"
    LOAD_OFF_THE_TIP = "load off the tip"
    LOAD_AT_A_STATION = "load at a station"


def beyond(inputs: Inputs, allowed: Collection[Beyond] = ()) -> tuple[str, ...]:
    """In words, each of the inputs that a formulation which carries only what is ``allowed`` cannot carry."""
    return tuple(words for kind, words in _beyond(inputs) if kind not in allowed)


def refuse_beyond(inputs: Inputs, allowed: Collection[Beyond], remedy: str) -> None:
    """Refuse the first of the inputs that is not ``allowed``, with the remedy."""
    for words in beyond(inputs, allowed):
        raise InvalidInput(f"the {words} is not carried by this formulation; {remedy}")


def _beyond(inputs: Inputs) -> Iterator[tuple[Beyond, str]]:
    yield from ((Beyond.RELATION, f"{each.word} '{each.name}'") for each in inputs.relations)
    yield from ((Beyond.MOTOR, f"motor of joint '{each.joint}'") for each in inputs.motors)
    if inputs.base_motion is not None:
        yield Beyond.BASE_MOTION, "motion of the base"
    for load in inputs.loads:
        if load.end is not End.TIP or load.position != ORIGIN:
            yield Beyond.LOAD_OFF_THE_TIP, f"load '{load.name}' off the tip of link '{load.link}'"
        elif load.station is not None:
            yield Beyond.LOAD_AT_A_STATION, f"load '{load.name}' at a station of link '{load.link}'"
