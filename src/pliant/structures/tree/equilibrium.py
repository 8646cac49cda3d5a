"""Equilibrium by load stepping and Newton's method on the coordinates.

Prescribed joints move at their rate: the balance is that of inverse dynamics, f = Q(q) - tau(q, v, 0), v given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.model.contract import Equilibrium
from pliant.model.inputs import Inputs
from pliant.structures.load_stepping import ITERATIONS, raise_load
from pliant.structures.tree.loops import close, constraints, in_loops, pull_slope
from pliant.structures.tree.motion import Floats, Ints
from pliant.structures.tree.system import System

if TYPE_CHECKING:
    from pliant.structures.tree.model import TreeArm

LARGEST_CHANGE = 0.3  # rad, or part of the reach, in one iteration


def find_equilibrium(
    arm: TreeArm, start: Floats, inputs: Inputs, time: float, load_steps: int, accuracy: float
) -> Equilibrium:
    """Under gravity, loads and feedforward of one time, grown from nothing in steps.

    What is elastic finds its place, and so do joints under feedback stiffness, a spring or a gear, or in a loop; all
    others keep theirs in ``start``. Stops and friction do not hold a joint, but stops push one that moves.
    """
    search = _Search(arm, start, inputs, time)
    remedy = "the arm may buckle or fall there; lower the load or take more load steps"
    found = raise_load(search, time, load_steps, accuracy, remedy)
    kept = ~np.array(inputs.prescribed, np.bool_) & ~np.isin(search.system.structure.joints, search.yielding)
    return replace(found, held=tuple(name for name, each in zip(arm.joint_names, kept) if each))


class _Search:
    def __init__(self, arm: TreeArm, start: Floats, inputs: Inputs, time: float) -> None:
        self.arm, self.system = arm, arm.system(inputs)
        system, joints = self.system, self.system.structure.joints
        self.q, _ = arm.coordinates(system, start)
        at = np.array([time])
        signals = inputs.joint_signals(at)[0]
        self.loads = inputs.load_signals(at)[0]
        self.target = system.target(inputs, signals)
        held = np.array(inputs.prescribed, np.bool_)
        self.q[joints[held]] = signals[held, 0]
        self.v, self.a = np.zeros((2, system.size))
        self.q[system.structure.size :] = self.q[joints[system.geared]]
        self.multipliers = np.zeros(len(system.loops.measure))
        if len(self.multipliers):
            self.q = close(system, self.q, joints[~held])
        else:  # what moves in a loop has no balance that lasts
            self.v[joints[held]], self.a[joints[held]] = signals[held, 1], signals[held, 2]
        self.yielding = _yielding(system)
        # weights that make turns and displacements comparable
        self.scale = np.where(system.turning, 1.0, 1.0 / arm.reach)

    def iterate(self, fraction: float, accuracy: float, most: int | None = None) -> tuple[bool, int]:
        """Newton's method at a part of the load; whether it converged, and its iterations."""
        free = self.yielding
        if not len(free):
            return True, 0
        for count in range(1, (most or ITERATIONS) + 1):
            force, stiffness = self.balance(fraction)
            try:
                change = self.change(force[free], stiffness)
            except np.linalg.LinAlgError:
                return False, count
            size = float(np.abs(change * self.scale[free]).max())
            if not np.isfinite(size):
                return False, count
            self.q[free] += change * min(1.0, LARGEST_CHANGE / max(size, 1e-300))
            if size <= max(accuracy, 1e-15):
                return True, count
        return False, count

    def change(self, force: Floats, stiffness: Floats) -> Floats:
        """Of the yielding coordinates; multipliers are found along with them."""
        system, free, rows = self.system, self.yielding, len(self.multipliers)
        if not rows:
            return np.asarray(np.linalg.solve(stiffness[np.ix_(free, free)], force))
        phi, G, _ = constraints(system, self.q)
        own = G[:, free]
        K = (stiffness - pull_slope(system, self.q, self.multipliers))[np.ix_(free, free)]
        # constraints that follow from others are left out: all multipliers that balance alike will do
        scale = np.abs(K).max() / np.abs(own).max()
        matrix = np.block([[K, -scale * own.T], [scale * own, np.zeros((rows, rows))]])
        answer = np.linalg.lstsq(matrix, np.append(force, -scale * phi), rcond=1e-12)[0]
        self.multipliers = scale * answer[len(free) :]
        return np.asarray(answer[: len(free)])

    def balance(self, fraction: float) -> tuple[Floats, Floats]:
        """Force on the coordinates and minus its derivative."""
        system = self.system
        target = self.target * [1.0, 0.0, fraction]
        force, by_position, _ = system.forces(self.q, self.v, target, fraction * self.loads)
        inertia = system.dynamics.inverse_dynamics(self.q, self.v, self.a)
        slope, _ = system.dynamics.inverse_dynamics_derivatives(self.q, self.v, self.a)
        return force - fraction * inertia, fraction * slope - by_position

    def copy(self) -> Floats:
        return self.q.copy()

    def restore(self, saved: Floats) -> None:
        self.q[:] = saved

    def state(self) -> Floats:
        return self.arm.state_of(self.system, self.q, self.v)


def _yielding(system: System) -> Ints:
    """The coordinates on which something elastic acts.

    A joint behind a gear only if the rotor is held or it has a spring.
    """
    structure = system.structure
    moving = np.zeros(system.size, np.bool_)
    moving[structure.elastic] = True
    moving[system.drives.gain[:, 0] > 0.0] = True
    for joint, freedom in zip(structure.joints, structure.freedoms):
        if freedom.law.spring:
            moving[joint] = True
    moving[in_loops(system)] = True
    for k, joint in enumerate(structure.joints[system.geared]):
        pair = [structure.size + k, int(joint)]
        moving[pair] = moving[pair].any()
    moving &= ~system.drives.prescribed
    return np.flatnonzero(moving)
