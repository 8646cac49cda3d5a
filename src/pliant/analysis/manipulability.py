"""How well an arm moves its tip, and how well its joints reach its vibrations, at one posture.

Manipulability [yoshikawa1985]: joint rates of norm one move the tip within an ellipsoid whose half axes are the
singular values of the Jacobian J along its left singular vectors; their product is  w = sqrt(det(J J^T)) .

Vibrations with the joints held, in normal coordinates of mass one, feel joint accelerations as

    eta'' + omega^2 eta = gain q'' ,     gain = -Phi^T M E ,

E the motion with which the arm at rest follows its joints. Measured so, a gain does not depend on the coordinates of
the model. With the joints free their torques drive the modes of the whole arm by  gain = Phi^T P^T ,  P y the joint
positions; motions that do not vibrate, rigid ones and those that fall, are none of them. A mode is out of reach where
its row is zero. Modes of one frequency are where their rows depend on each other, since the same motion or torque
drives them all; they are one space, whose axes are those in which its rows are at right angles, strongest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from pliant.analysis.kinematics import RestingTip, TipPose, forward_kinematics
from pliant.analysis.modes import conservative_modes, every_part_has_mass, massive_modes
from pliant.errors import InvalidInput
from pliant.model.contract import Arm, SecondOrder
from pliant.model.state import Array

SAME = 1e-6  # part of a frequency by which two modes may differ and still be driven as one


@dataclass(frozen=True, eq=False)
class Manipulability:
    """``measure`` w, and the ellipsoid: ``half_axes`` (k,), longest first, along columns of ``directions`` (k, k)."""

    measure: float
    half_axes: Array
    directions: Array

    @property
    def evenness(self) -> float:
        """Shortest over longest half axis: one where all directions are alike, zero in a singular posture."""
        longest = float(self.half_axes[0])
        return float(self.half_axes[-1]) / longest if longest > 0.0 else 0.0


def manipulability(tip: TipPose, rows: Sequence[int] = (0, 1, 2)) -> Manipulability:
    """Of `rigid_kinematics` or `forward_kinematics`, for the ``rows`` of the Jacobian that matter, in world axes.

    Rows 0, 1, 2 are velocities along x, y, z, rows 3, 4, 5 angular velocities about them; for an arm in the
    plane x, y ask for rows (0, 1). Rows that no joint moves make the measure zero.
    """
    chosen = list(rows)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(range(6)):
        raise InvalidInput(
            f"rows = {tuple(rows)} must be different numbers from 0 to 5; 0 to 2 are velocities, 3 to 5"
            " angular velocities"
        )
    if min(chosen) < 3 <= max(chosen):
        raise InvalidInput(
            f"rows = {tuple(rows)} mix metres and radians, whose product has no meaning; ask for each apart"
        )
    J = tip.jacobian[chosen]
    directions, values, _ = np.linalg.svd(J)
    half_axes = np.append(values, np.zeros(len(chosen) - len(values)))
    return Manipulability(float(np.prod(half_axes)), half_axes, directions)


class Drive(StrEnum):
    """What the joints decide."""

    ACCELERATION = "acceleration"
    TORQUE = "torque"


@dataclass(frozen=True, eq=False)
class VibrationControllability:
    """Modes, slowest first, and how joints drive them.

    ``frequency`` (n,) in hertz; ``gain`` (n, joints): of accelerations in sqrt(kg) m per radian, or sqrt(kg) for
    joints that translate, of torques and forces in the inverse of that. ``strength`` (n,) is the norm of each row;
    among modes of one frequency, the smallest singular value of their rows together. ``least`` of them is zero where
    a mode is out of reach of all joints.
    """

    joints: tuple[str, ...]
    frequency: Array
    gain: Array
    strength: Array
    tip: RestingTip = field(repr=False)

    @property
    def least(self) -> float:
        return float(self.strength.min())

    def smallest_singular_value(self) -> float:
        """Of all rows of ``gain`` at once: how strongly the joints push the worst mix of the modes at one instant.

        Zero where there are more modes than joints.
        """
        values = np.linalg.svd(self.gain, compute_uv=False)
        return float(values[-1]) if len(self.gain) <= self.gain.shape[1] else 0.0


def vibration_controllability(
    model: Arm,
    positions: ArrayLike,
    joints: Sequence[str] | None = None,
    count: int = 4,
    drive: Drive = Drive.ACCELERATION,
    time: float = 0.0,
) -> VibrationControllability:
    """How strongly ``joints`` act on the ``count`` slowest modes of the arm at rest at ``positions``.

    By default all joints that are not prescribed, and by their accelerations, the modes being those with the joints
    held. By torques the modes are those with the joints free under the torques that hold them. Damping plays no part.
    Modes of one frequency stay together: there are more than ``count`` where that would part them.
    """
    if count < 1:
        raise InvalidInput(f"count = {count} must be at least 1; give the number of modes wanted")
    tip = forward_kinematics(model, positions, joints, time=time)
    small, held = tip.small, tip.held
    P = small.joint_position[list(held.columns)]
    still = _left_alone(P) if drive is Drive.ACCELERATION else np.eye(P.shape[1])
    if not still.shape[1]:
        raise _nothing_vibrates(model, "held", "make a link flexible, or hold fewer")
    K = 0.5 * (small.K + small.K.T)
    inner = replace(small, M=still.T @ small.M @ still, K=still.T @ K @ still)
    frequency, shapes = _vibrations(inner)
    if not len(frequency):
        raise _nothing_vibrates(model, "free", "make a link flexible, or give a joint a spring")
    groups = _groups(frequency, count)
    frequency, shapes = frequency[: groups[-1].stop], shapes[:, : groups[-1].stop]
    shapes = still @ (shapes / np.sqrt(np.einsum("ik,ij,jk->k", shapes, inner.M, shapes)))
    gain = -shapes.T @ small.M @ tip.carried if drive is Drive.ACCELERATION else shapes.T @ P.T
    strength = np.zeros(len(gain))
    for group in groups:
        _, values, rows = np.linalg.svd(gain[group], full_matrices=False)
        gain[group] = 0.0
        gain[group][: len(values)] = values[:, None] * rows
        strength[group] = values[-1] if len(values) == group.stop - group.start else 0.0
    return VibrationControllability(held.names, frequency, gain, strength, tip)


def _vibrations(inner: SecondOrder) -> tuple[Array, Array]:
    """Frequencies above zero and their shapes, slowest first."""
    if every_part_has_mass(inner.M):
        values, vectors = conservative_modes(inner, len(inner.M))
        squares, shapes = -(values * values).real, vectors.real
    else:
        squares, shapes = massive_modes(inner.K, inner.M)
    swinging = squares > 0.0
    return np.sqrt(squares[swinging]) / (2.0 * np.pi), shapes[:, swinging]


def _left_alone(P: Array) -> Array:
    """Columns that span the motions without any of the joints; single unknowns where joints are such."""
    used = np.flatnonzero(np.abs(P).sum(axis=0))
    if len(used) == len(P):
        return np.delete(np.eye(P.shape[1]), used, axis=1)
    _, values, right = np.linalg.svd(P)
    rank = int(np.sum(values > 1e-10 * values.max(initial=0.0)))
    return np.asarray(right[rank:].T)


def _groups(frequency: Array, count: int) -> list[slice]:
    """Modes of one frequency, group by group, until there are at least ``count``."""
    groups, first = [], 0
    while first < min(count, len(frequency)):
        last = first + 1
        while last < len(frequency) and frequency[last] - frequency[first] <= SAME * frequency[first]:
            last += 1
        groups.append(slice(first, last))
        first = last
    return groups


def _nothing_vibrates(model: Arm, joints: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"nothing of robot '{model.robot.name}' vibrates with its joints {joints}; {remedy}")
