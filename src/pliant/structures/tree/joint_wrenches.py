"""What joints transmit: the wrench that the parent exerts on the root of its child.

It accelerates all that the joint carries, less what gravity, loads and closed loops do there. For a part with the
spatial inertia I in the frame of its body, twist V and acceleration A of that frame, gravity counted as an upward one,

    W = I A + V x* (I V) ,      W_joint = sum over the parts behind it of W - sum of the outer wrenches behind it ,

so that joints that are fixed transmit something too, although both of their links belong to one body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InvalidInput
from pliant.model.contract import Record
from pliant.model.inputs import Inputs
from pliant.model.port import Frame
from pliant.robot.joint import BASE
from pliant.spatial.arrays import to_frame
from pliant.structures.places import Place
from pliant.structures.tree.arrays import Mechanism, new_drives
from pliant.structures.tree.columns import ACCELERATION, POSE_R, POSE_X, TWIST
from pliant.structures.tree.instant import Instants, snapshots
from pliant.structures.tree.loops import closed_links
from pliant.structures.tree.motion import Floats
from pliant.structures.tree.structure import ON_BASE
from pliant.structures.tree.system import System, load_places

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm


CHUNK = 512  # instants at a time, which bounds the memory


def joint_wrenches(arm: TreeArm, record: Record, inputs: Inputs) -> dict[str, Floats]:
    """``<joint>.wrench`` (n, 6) at the saved times in the axes of the child.

    NaN where a signal that failed during the run fails again.
    """
    robot, system, n = arm.robot, arm.system(inputs), len(record.time)
    wrenches = {f"{joint.name}.wrench": np.full((n, 6), np.nan) for joint in robot.chain_order}
    try:
        joints, loads = inputs.joint_signals(record.time), inputs.load_signals(record.time)
    except InvalidInput:
        return wrenches
    mechanism, target = _driven(system, record, inputs, joints)
    x = np.zeros((n, 2 * system.size))
    x[:, system.order_of_state] = record.states
    instants = Instants(
        np.ascontiguousarray(x[:, : system.size]),
        np.ascontiguousarray(x[:, system.size :]),
        target,
        system.loads.in_body_axes(loads),
    )
    for start in range(0, n, CHUNK):
        rows = slice(start, start + CHUNK)
        chunk = Instants(*(table[rows] for table in instants))
        behind = _Behind(system, mechanism, inputs, chunk, loads[rows])
        for joint in robot.chain_order:
            found = behind.wrench(joint.child)
            wrenches[f"{joint.name}.wrench"][start : start + len(found)] = found
    return wrenches


def _driven(system: System, record: Record, inputs: Inputs, signals: Floats) -> tuple[Mechanism, Floats]:
    """The mechanism, and what drives its coordinates (n, coordinates, 3) at the saved times."""
    prescribed = np.array(inputs.prescribed, np.bool_)
    drives, target = system.drives, np.zeros((len(signals), system.size, 3))
    if inputs.controllers or inputs.commands or inputs.servos:
        # what sampled control holds is known by its effect alone: the mean effort of the step
        drives = new_drives(system.size, drives.prescribed)
        names = [freedom.name for freedom in system.structure.freedoms]
        target[:, system.drive, 2] = np.concatenate([record.efforts[name] for name in names], axis=1)
    else:
        target[:, system.drive] = signals
    target[:, system.structure.joints[prescribed]] = signals[:, prescribed]
    return system.mechanism(drives), target


class _Behind:
    """Wrenches on links, and on all that they carry, in the world about its origin."""

    def __init__(self, system: System, mechanism: Mechanism, inputs: Inputs, instants: Instants, loads: Floats) -> None:
        self.system, self.robot = system, system.structure.robot
        seen, count = snapshots(mechanism, instants)
        self.count, self.motion = count, seen.motion[:count]
        self.on_link = {link: np.zeros((count, 6)) for link in (BASE, *(each.name for each in self.robot.links))}
        self._add_inertia()
        wrenches, given = system.loads.wrenches, system.loads.given
        for k, row in enumerate(wrenches.load):
            self.on_link[inputs.loads[given[row]].link] -= seen.load[:count, k]
        self._add_loads_on_the_base(inputs, loads[:count])
        for k, (first, second) in enumerate(closed_links(self.robot)):
            self.on_link[first] -= seen.constraint[:count, k, 0]
            self.on_link[second] -= seen.constraint[:count, k, 1]
        for joint in reversed(self.robot.chain_order):
            self.on_link[joint.parent] += self.on_link[joint.child]

    def _add_inertia(self) -> None:
        parts = self.system.structure.parts
        body = np.array([part.body + 1 for part in parts], np.int64)
        inertia = np.array([part.inertia for part in parts]).reshape(len(parts), 6, 6)
        R = self.motion[:, body, POSE_R : POSE_R + 9].reshape(self.count, len(parts), 3, 3)
        x = self.motion[:, body, POSE_X : POSE_X + 3]
        # from the twist about the world's origin to that of the body's frame, in its axes
        frame = to_frame(R, x)
        V, A = (
            np.einsum("npij,npj->npi", frame, self.motion[:, body, column : column + 6])
            for column in (TWIST, ACCELERATION)
        )
        momentum = np.einsum("pij,npj->npi", inertia, V)
        wrench = np.einsum("pij,npj->npi", inertia, A)
        wrench[..., :3] += np.cross(V[..., 3:], momentum[..., :3])
        wrench[..., 3:] += np.cross(V[..., 3:], momentum[..., 3:]) + np.cross(V[..., :3], momentum[..., :3])
        world = np.einsum("npji,npj->npi", frame, wrench)
        for k, part in enumerate(parts):
            self.on_link[part.link] += world[:, k]

    def _add_loads_on_the_base(self, inputs: Inputs, loads: Floats) -> None:
        """Loads that move nothing are none of the mechanism's, but fixed joints carry them."""
        structure = self.system.structure
        for k, load in enumerate(inputs.loads):
            for place, share in load_places(structure, load):
                if place.body == ON_BASE:
                    R, x = self.frame(place)
                    axes = np.broadcast_to(np.eye(3), R.shape) if load.frame is Frame.WORLD else R
                    self.on_link[load.link] -= _about_origin(axes, x, share * loads[:, k])

    def frame(self, place: Place) -> tuple[Floats, Floats]:
        """Rotation (rows, 3, 3) and origin (rows, 3) of a frame."""
        R = self.motion[:, place.body + 1, POSE_R : POSE_R + 9].reshape(self.count, 3, 3)
        return R @ place.rotation, self.motion[:, place.body + 1, POSE_X : POSE_X + 3] + R @ place.position

    def wrench(self, child: str) -> Floats:
        """Of the joint that carries a link, in the axes of its root."""
        R, x = self.frame(self.system.structure.link(child).root)
        force, moment = self.on_link[child][:, :3], self.on_link[child][:, 3:]
        both = np.stack([force, moment - np.cross(x, force)], axis=1)
        return np.asarray(np.einsum("nji,ncj->nci", R, both).reshape(self.count, 6))


def _about_origin(axes: Floats, x: Floats, wrench: Floats) -> Floats:
    force, moment = (np.einsum("nij,nj->ni", axes, part) for part in (wrench[:, :3], wrench[:, 3:]))
    return np.concatenate([force, moment + np.cross(x, force)], axis=1)
