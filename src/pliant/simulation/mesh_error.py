"""How far off the mesh puts the tip of an arm in a run whose mesh was given: in metres, from what its modes tell.

Links are off by the phase of their vibrations and by static deflections (`deflection_error`). Joints that are not
prescribed swing with them, and a mesh that has masses elsewhere turns them by another inertia. Of 399 runs of motions
on which no constant was adjusted 87 % tell 0.3 to 10 times the distance to a much finer mesh (docs/accuracy.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from typing import Any

import numpy as np

from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.robot.joint import WholeJoint
from pliant.simulation.deflection_error import TOO_FEW, Bend, Changes, Resolution, changes_of

LEFT, FEWEST = 0.05, 3  # of what polynomials hardly resolve: the most that is left of it, from this degree on
SURELY = 3.0  # times what modes tell that the error of a mesh is at most, where coarser ones were compared with it
TOLD = 1.2  # times the distance to the finer mesh: of second order a third is left


def shows(model: Arm, found: Bend) -> bool:
    """Whether a run shows what its mesh does to the tip: not by few rows, and not where a loop holds the tip and a
    prescribed joint turns it, as deflections may then move it by their squares only."""
    held = {end.link for loop in model.robot.loops for end in (loop.first, loop.second)}
    return len(found.time) >= TOO_FEW and not (model.robot.tip_link in held and any(model.inputs.prescribed))


def off_by_mesh(model: Arm, found: Bend, known: Resolution) -> float:
    """How far off the mesh puts the tip, m; not a number where that cannot be told."""
    if not shows(model, found):
        return nan
    arm: Any = getattr(model, "arm", model)
    most = inf
    if hasattr(arm, "unresolved") and getattr(arm.formulation, "chosen_degree", 0) >= FEWEST:
        # modes of the undeformed arm say too much of what bends by radians
        most = LEFT * float(arm.unresolved(found.states))
    links = 0.0 if found.changes is None else _off(found, found.changes, known)
    static = known.static * found.largest
    if model.robot.loops or TOLD * (links + static) >= most:
        return min(TOLD * (links + static), most)
    joints = sum(each**2 for each in _off_by_joints(model, found, known))
    return min(TOLD * (float(np.sqrt(links**2 + joints)) + static), most)


def of_given_mesh(compared: float, by_modes: float) -> float:
    """The error of a mesh that was given, m, from trials with coarser ones, if there were any, and from modes.

    Where each mesh is a hundred times better than the one before, as with polynomials, trials tell too much.
    """
    if not by_modes < inf or not compared < inf:
        return by_modes if compared != compared else compared
    return min(compared, SURELY * by_modes)


def _off(found: Bend, seen: Changes, known: Resolution, more: Array | float = 0.0) -> float:
    """Of what changes with the phase of the links and so many radians more, m."""
    return seen.size(seen.apart(seen.phase * known.at(seen.frequency, 1.0 / found.lasts) + more))


def _off_by_joints(model: Arm, found: Bend, known: Resolution) -> Iterator[float]:
    """How far joints that are not prescribed carry the tip elsewhere, m.

    An inertia J that is off by a part p lacks the torque p J q'', which feedback of stiffness k and damping d answers
    by  p J w^2 / |k - J w^2 + i d w|  of q, at most by what a vibration of another frequency is off, p w t / 2.
    """
    inputs = model.inputs
    if inputs.controllers or inputs.commands:  # sampled control holds joints, by laws that are not known
        return
    joints = model.robot.chain_order
    rows = {joint.name: k for k, joint in enumerate(joints)}
    tip = found.ends[:, [joint.child for joint in joints].index(model.robot.tip_link), 1]
    whole = [joint.name for joint in joints if isinstance(joint, WholeJoint)]
    feedback = any(inputs.stiffness)
    wanted = inputs.joint_signals(found.time)[:, :, 0] if feedback else None
    q = model.layout.part(found.states, "joint_position")
    driven = set()
    for k, name in enumerate(model.joint_names):
        joint, stiffness = name.partition(".")[0], inputs.stiffness[k]
        if inputs.prescribed[k] or joint in whole or joint not in rows:
            driven |= {joint} if inputs.prescribed[k] or stiffness > 0.0 else set()
            continue
        turned = q[:, k] - (wanted[:, k] if wanted is not None and stiffness > 0.0 else q[0, k])
        farthest = inf
        if model.robot.freedom(name).unit == "rad":
            arm = float(np.sqrt(((tip - found.ends[:, rows[joint], 0]) ** 2).sum(axis=1).max()))
            turned, farthest = turned * arm, 2.0 * arm
        seen = changes_of(found.time, turned[:, None])
        inertia, part = known.inertia.get(name, (0.0, 0.0))
        w = 2.0 * np.pi * seen.frequency
        answer = np.full(len(w), inf)
        if stiffness > 0.0:
            held = np.abs(stiffness - inertia * w**2 + 1j * inputs.damping[k] * w)
            answer = inertia * w**2 / np.maximum(held, 1e-300)
        yield min(_off(found, seen, known, part * np.minimum(answer, 0.5 * seen.phase)), farthest)
    for joint in whole:  # which have no coordinates: by the way of the tip, but for what it begins with
        if joint not in driven:
            part = max(
                (each for name, (_, each) in known.inertia.items() if name.partition(".")[0] == joint), default=0.0
            )
            passed = (found.time - found.time[0])[:, None]
            seen = changes_of(found.time, tip - tip[0] - passed * (tip[1] - tip[0]) / passed[1])
            yield _off(found, seen, known, 0.5 * part * seen.phase)
