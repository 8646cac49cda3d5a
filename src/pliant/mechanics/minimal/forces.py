"""Forces of springs, drives and loads on the coordinates, at one posture and velocity."""

from __future__ import annotations

import numpy as np

from pliant.jit import inline_kernel, inner_kernel, kernel
from pliant.mechanics.joint_laws import STOP_STIFFNESS, friction_force, stops_energy, stops_force
from pliant.mechanics.minimal.mechanism import (
    COMMAND_LIMIT,
    COMMAND_RESOLUTION,
    GAIN,
    RATE_LIMIT,
    RATE_RESOLUTION,
    TORQUE_LIMIT,
    Drives,
    JointLaws,
    Servos,
    Springs,
    Wrenches,
)
from pliant.mechanics.minimal.motion import (
    AXIS,
    POSE_R,
    POSE_X,
    Six,
    dot_six,
    joined,
    moved,
    nine,
    put_six,
    six,
    three,
)
from pliant.mechanics.minimal.step_data import BESIDE, IN_FACTORS, NOW, H, Signals, Step
from pliant.mechanics.minimal.tree import PARENT, Bools, Floats, Tree
from pliant.spatial.vectors import Vector, apply, cross, scale

NO_TIME = 1e-30  # s, of a step that goes nowhere
SAME_SLOPE = 0.1  # part of a diagonal entry by which the slopes of friction and stops may have changed


@inline_kernel
def clipped(x: float, limit: float) -> float:
    return min(max(x, -limit), limit)


@inline_kernel
def rounded(x: float, resolution: float) -> float:
    return resolution * float(np.rint(x / resolution)) if resolution > 0.0 else x


@inline_kernel
def spring_forces(springs: Springs, q: Floats, v: Floats, step: Step) -> None:
    """Elastic and damping forces, as they resist."""
    for i in range(q.shape[0]):
        pull, field, joint = 0.0, 0.0, 0.0
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            pull += springs.K[i, j] * (q[j] - springs.rest[j])
            field += springs.D_field[i, j] * v[j]
            joint += springs.D_joint[i, j] * v[j]
        step.elastic[i] = pull
        step.lost_field[i] = field
        step.lost_joint[i] = joint


@kernel
def spring_energy(springs: Springs, q: Floats) -> float:
    """K (q - rest)^2 / 2, and that of stops."""
    energy, laws = 0.0, springs.laws
    for k in range(laws.coordinate.shape[0]):
        energy += stops_energy(laws.stops[k], q[laws.coordinate[k]])
    for i in range(q.shape[0]):
        pull = 0.0
        for j in range(springs.span[i, 0], springs.span[i, 1]):
            pull += springs.K[i, j] * (q[j] - springs.rest[j])
        energy += 0.5 * pull * (q[i] - springs.rest[i])
    return energy


@inner_kernel
def step_law_forces(laws: JointLaws, step: Step) -> bool:
    """Adds friction and stops of the step to elastic and lost forces; whether the factors know their slopes."""
    h, known = step.number[H], True
    for k in range(laws.coordinate.shape[0]):
        i = laws.coordinate[k]
        lost, steeper = friction_force(laws.friction[k], step.w[i])
        # where friction falls with the rate, a slope of its own would make the factors indefinite
        slope = 0.5 * h * max(steeper, 0.0)
        if laws.stops[k, STOP_STIFFNESS] > 0.0:
            push, elastic, stiffer = stops_force(laws.stops[k], step.q[i], h * step.w[i], h)
            step.elastic[i] -= elastic
            lost += elastic - push
            slope += 0.5 * h * h * stiffer
        step.lost_joint[i] += lost
        step.slope[k, NOW] = slope
        missing = abs(slope - step.slope[k, IN_FACTORS])
        known = known and missing <= SAME_SLOPE * (slope + step.slope[k, BESIDE])
    return known


@inner_kernel
def instant_law_forces(laws: JointLaws, q: Floats, v: Floats, step: Step) -> None:
    """The same at an instant."""
    for k in range(laws.coordinate.shape[0]):
        i = laws.coordinate[k]
        lost, _ = friction_force(laws.friction[k], v[i])
        if laws.stops[k, STOP_STIFFNESS] > 0.0:
            push, elastic, _ = stops_force(laws.stops[k], q[i], NO_TIME * v[i], NO_TIME)
            step.elastic[i] -= elastic
            lost += elastic - push
        step.lost_joint[i] += lost


@inline_kernel
def drive_force(drives: Drives, signals: Signals, held: float, i: int, q: float, v: float) -> float:
    """Of a coordinate that is not prescribed; ``held`` is what its servo holds."""
    target, gain = signals.target, drives.gain
    feedback = gain[i, 0] * (q - target[i, 0]) + gain[i, 1] * (v - target[i, 1])
    return clipped(target[i, 2] - feedback + held, drives.limit[i])


@inner_kernel
def sample_servos(
    servos: Servos, sampled: Bools, command: Floats, v: Floats, held: Floats, jump: Floats
) -> bool:
    """Anew the torques of the servos whose instant this is, and by how much they jump; whether there was any.

    ``command`` holds a rate for each servo.
    """
    some = False
    for k in range(servos.coordinate.shape[0]):
        if sampled[k]:
            if not some:
                for i in range(jump.shape[0]):
                    jump[i] = 0.0
                some = True
            i, law = servos.coordinate[k], servos.law[k]
            wanted = clipped(rounded(command[k], law[COMMAND_RESOLUTION]), law[COMMAND_LIMIT])
            seen = clipped(rounded(v[i], law[RATE_RESOLUTION]), law[RATE_LIMIT])
            torque = clipped(law[GAIN] * (wanted - seen), law[TORQUE_LIMIT])
            jump[i] = torque - held[i]
            held[i] = torque
    return some


@inline_kernel
def rotated(motion: Floats, body: int, x: Vector) -> Vector:
    return apply(nine(motion, body + 1, POSE_R), x)


@inner_kernel
def load_forces(
    tree: Tree, wrenches: Wrenches, load: Floats, motion: Floats, wrench: Floats, force: Floats
) -> None:
    """Wrenches in the world about its origin, and their forces on the coordinates."""
    for i in range(force.shape[0]):
        force[i] = 0.0
    for k in range(wrenches.load.shape[0]):
        body, m = wrenches.body[k], wrenches.load[k]
        f, n = scale(wrenches.weight[k], three(load, m, 0)), scale(wrenches.weight[k], three(load, m, 3))
        if not wrenches.world[k]:
            f, n = rotated(motion, wrenches.axes[k], f), rotated(motion, wrenches.axes[k], n)
        x = moved(three(motion, body + 1, POSE_X), 1.0, rotated(motion, body, three(wrenches.point, k, 0)))
        W = joined(f, moved(n, 1.0, cross(x, f)))
        put_six(wrench, k, 0, W)
        i = body
        while i >= 0:
            force[i] += dot_six(six(motion, i + 1, AXIS), W)
            i = tree.joints[i, PARENT]


@inline_kernel
def load_power(tree: Tree, body: int, W: Six, v: Floats, motion: Floats) -> float:
    """Power of a wrench on a body at the velocities v."""
    power, i = 0.0, body
    while i >= 0:
        power += v[i] * dot_six(six(motion, i + 1, AXIS), W)
        i = tree.joints[i, PARENT]
    return power
