"""Where the tip of an arm is at given joint positions, and how it moves with them: undeformed, or as it sags."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pliant.analysis.held_joints import HeldJoints, checked_positions, hold
from pliant.errors import InvalidInput
from pliant.model.contract import Model, SecondOrder
from pliant.model.layout import Array
from pliant.robot.topology import nearest
from pliant.spatial.arrays import vector_from_rotation

PROBE = 1e-3  # rad or m, of differences of fourth order between undeformed postures


@dataclass(frozen=True, eq=False)
class TipPose(ABC):
    """The tip of a link with the joints ``names`` held at ``positions``.

    ``position`` (3,) and ``rotation`` (3, 3) are in the world, ``state`` is that of the whole model.
    """

    names: tuple[str, ...]
    positions: Array
    link: str
    position: Array
    rotation: Array
    state: Array = field(repr=False)
    held: HeldJoints = field(repr=False)

    @property
    @abstractmethod
    def jacobian(self) -> Array:
        """(6, joints) velocity and angular rate of the tip per joint rate, in world axes."""


@dataclass(frozen=True, eq=False)
class RigidTip(TipPose):
    """Of the undeformed arm."""

    @cached_property
    def jacobian(self) -> Array:
        """(6, joints) velocity and angular rate of the tip per joint rate, in world axes."""
        count, model = len(self.names), self.held.model
        ahead = np.array([-2.0, -1.0, 1.0, 2.0])
        weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * PROBE)
        q = model.layout.part(self.state, "joint_position")
        moved = np.tile(q, (count, 4, 1))
        for k, column in enumerate(self.held.columns):
            moved[k, :, column] += PROBE * ahead
        x, R = tip_of(model, model.unbent(moved.reshape(4 * count, -1)), self.link)
        turns = vector_from_rotation(R @ self.rotation.T)
        both = np.concatenate([x, turns], axis=1).reshape(count, 4, 6)
        return np.asarray(np.einsum("w,kwi->ik", weights, both))


@dataclass(frozen=True, eq=False)
class RestingTip(TipPose):
    """Of the arm at rest under gravity and loads."""

    @cached_property
    def small(self) -> SecondOrder:
        """Small motions with the joints free under the torques that hold them."""
        return self.held.freed(self.state)

    @cached_property
    def carried(self) -> Array:
        """(unknowns, joints) how the arm at rest follows its joints."""
        return self.held.carried(self.small)

    @cached_property
    def jacobian(self) -> Array:
        """(6, joints) change of place and turn of the resting tip per change of the joints, in world axes.

        The deflection changes with the posture, and that counts.
        """
        rows = _tip_rows(self.small, self.link, self.held.model)
        return np.asarray(np.kron(np.eye(2), self.rotation) @ rows @ self.carried)

    @cached_property
    def deflection(self) -> Array:
        """(6,) displacement and turn of the tip from where it is undeformed, in world axes."""
        q = self.held.model.layout.part(self.state, "joint_position")
        x, R = tip_of(self.held.model, self.held.model.unbent(q[None]), self.link)
        return np.concatenate([self.position - x[0], vector_from_rotation(self.rotation @ R[0].T)])


def rigid_kinematics(
    model: Model,
    positions: ArrayLike,
    joints: Sequence[str] | None = None,
    link: str | None = None,
    time: float = 0.0,
) -> RigidTip:
    """The tip of ``link`` of the undeformed arm, by default of the last link, with ``joints`` at ``positions``.

    By default all joints that are not prescribed; the others are where they start, or are prescribed at ``time``.
    """
    held = hold(model, joints, time)
    return rigid_tip(held, checked_positions(held, positions), checked_link(model, link))


def forward_kinematics(
    model: Model,
    positions: ArrayLike,
    joints: Sequence[str] | None = None,
    link: str | None = None,
    time: float = 0.0,
) -> RestingTip:
    """The tip of ``link`` of the arm at rest under gravity and the loads of ``time``, ``joints`` held at ``positions``.

    By default the tip of the last link, and all joints that are not prescribed. Feedback and motors of the held
    joints play no part.
    """
    held = hold(model, joints, time)
    return resting_tip(held, checked_positions(held, positions), checked_link(model, link), None)


def rigid_tip(held: HeldJoints, positions: Array, link: str) -> RigidTip:
    state = held.start(positions)
    x, R = tip_of(held.model, state[None], link)
    return RigidTip(held.names, positions, link, x[0], R[0], state, held)


def resting_tip(held: HeldJoints, positions: Array, link: str, near: Array | None) -> RestingTip:
    """From ``near``, a state almost at rest there, or from the undeformed arm."""
    settled = held.settle(positions, near)
    if not settled.ending.completed:
        raise InvalidInput(
            f"the arm finds no rest with its joints at {np.array2string(positions, precision=4)}: {settled.ending}"
        )
    x, R = tip_of(held.model, settled.state[None], link)
    return RestingTip(held.names, positions, link, x[0], R[0], settled.state, held)


def tip_of(model: Model, states: Array, link: str) -> tuple[Array, Array]:
    """Positions (n, 3) and rotations (n, 3, 3) of the tip of a link."""
    if link == _last(model):
        return model.tip(states)
    seen = model.observe(states, 2).link(link)
    return seen.position[:, -1], seen.rotation[:, -1]


def _tip_rows(small: SecondOrder, link: str, model: Model) -> Array:
    """Rows (6, unknowns) of the body displacement of the tip of a link."""
    if link == _last(model):
        return small.tip
    own = next(port for port in small.ports if port.port.name == f"{link}.tip")
    return own.rate if own.seen is None else own.seen


def _last(model: Model) -> str:
    return model.robot.chain_order[-1].child


def checked_link(model: Model, link: str | None) -> str:
    names = [joint.child for joint in model.robot.chain_order]
    if link is None:
        return names[-1]
    if link not in names:
        raise InvalidInput(f"robot '{model.robot.name}' has no link '{link}'; {nearest(link, names)}")
    return link
