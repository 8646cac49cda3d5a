"""What both ends of Newton's method need: postures of a step, inverse dynamics at its middle, energies at its end."""

from __future__ import annotations

import math

from pliant.jit import inline_kernel, inner_kernel
from pliant.mechanics.minimal.mechanism import Mechanism
from pliant.mechanics.minimal.motion import (
    AXIS,
    MOMENTUM,
    WRENCH,
    dot_six,
    move_body,
    place_turned,
    put_six,
    six,
)
from pliant.mechanics.minimal.recursions import (
    accelerate_body,
    gather,
    own_energies,
    own_momentum,
    own_wrench,
)
from pliant.mechanics.minimal.step_data import KNOWN, T_END, V_END, H, Signals, Step
from pliant.mechanics.minimal.tree import BODY, KIND, NOTHING, ROTOR, SLIDE_X, Floats, Tree

SMALL_ANGLE = 0.1  # rad, half the turn of a step up to which its series is exact to round-off
EMPTY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline_kernel
def advanced(turn: tuple[float, float], angle: float) -> tuple[float, float]:
    """Sine and cosine after turning by a small angle: series to round-off, several times faster than anew."""
    x = angle * angle
    s = angle * (1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0))))
    c = 1.0 - 0.5 * x * (1.0 - x / 12.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0))))
    return (turn[0] * c + turn[1] * s, turn[1] * c - turn[0] * s)


@inline_kernel
def turn_afresh(tree: Tree, q: Floats, turn: Floats) -> None:
    """Sine and cosine of all coordinates that turn."""
    for i in range(q.shape[0]):
        if tree.joints[i, KIND] < SLIDE_X:
            turn[i, 0], turn[i, 1] = math.sin(q[i]), math.cos(q[i])


@inline_kernel
def follow(mechanism: Mechanism, signals: Signals, step: Step) -> None:
    """End, middle and acceleration of the step from its mean velocities."""
    h = step.number[H]
    for i in range(step.q.shape[0]):
        if mechanism.drives.prescribed[i]:
            step.q_end[i], step.v_end[i] = signals.end[i, 0], signals.end[i, 1]
            step.w[i] = (step.q_end[i] - step.q[i]) / h
        else:
            step.q_end[i] = step.q[i] + h * step.w[i]
            step.v_end[i] = 2.0 * step.w[i] - step.v[i]
        step.q_mid[i] = step.q[i] + 0.5 * h * step.w[i]
        step.acceleration[i] = (step.v_end[i] - step.v[i]) / h
        if mechanism.tree.joints[i, KIND] < SLIDE_X:
            angle = 0.5 * h * step.w[i]
            if abs(angle) < SMALL_ANGLE:
                half = advanced((step.turn[0, i, 0], step.turn[0, i, 1]), angle)
                whole = advanced(half, angle)
            else:
                half = (math.sin(step.q_mid[i]), math.cos(step.q_mid[i]))
                whole = (math.sin(step.q_end[i]), math.cos(step.q_end[i]))
            step.turn[1, i, 0], step.turn[1, i, 1] = half
            step.turn[2, i, 0], step.turn[2, i, 1] = whole


@inline_kernel
def predict(step: Step) -> None:
    """Mean velocities by the parabola through those of the last steps."""
    known = step.number[KNOWN]
    for i in range(step.q.shape[0]):
        a, b, c = step.past[0, i], step.past[1, i], step.past[2, i]
        if known >= 3.0:
            step.w[i] = 3.0 * (a - b) + c
        elif known >= 2.0:
            step.w[i] = 2.0 * a - b
        else:
            step.w[i] = step.v[i]


@inline_kernel
def remember(step: Step) -> None:
    for i in range(step.q.shape[0]):
        step.past[2, i], step.past[1, i], step.past[0, i] = step.past[1, i], step.past[0, i], step.w[i]
    step.number[KNOWN] = min(step.number[KNOWN] + 1.0, 3.0)


@inline_kernel
def middle_pass(tree: Tree, step: Step) -> None:
    """Inverse dynamics and momentum at the middle of the step."""
    n, motion = step.q.shape[0], step.motion
    for i in range(n):
        place_turned(tree, i, step.q_mid[i], (step.turn[1, i, 0], step.turn[1, i, 1]), motion)
        V = move_body(tree, i, step.w[i], motion)
        A = accelerate_body(tree, i, step.w[i], step.acceleration[i], motion)
        if tree.joints[i, BODY] == NOTHING:
            put_six(motion, i + 1, WRENCH, EMPTY)
            put_six(motion, i + 1, MOMENTUM, EMPTY)
        else:
            put_six(motion, i + 1, WRENCH, own_wrench(tree, i, V, A, motion))
            put_six(motion, i + 1, MOMENTUM, own_momentum(tree, i, V, motion))
    for i in range(n - 1, -1, -1):
        J, rotor = six(motion, i + 1, AXIS), tree.facts[i, ROTOR]
        step.inertial[i] = dot_six(J, gather(tree, i, WRENCH, motion)) + rotor * step.acceleration[i]
        step.momentum[i] = dot_six(J, gather(tree, i, MOMENTUM, motion)) + rotor * step.w[i]


@inner_kernel
def energies_at(tree: Tree, q: Floats, v: Floats, turn: Floats, motion: Floats) -> tuple[float, float]:
    """Kinetic energy and potential of gravity; the poses stay in ``motion``. Few arguments: a call costs by them."""
    kinetic, potential = 0.0, 0.0
    for i in range(q.shape[0]):
        place_turned(tree, i, q[i], (turn[i, 0], turn[i, 1]), motion)
        V = move_body(tree, i, v[i], motion)
        kinetic += 0.5 * tree.facts[i, ROTOR] * v[i] * v[i]
        if tree.joints[i, BODY] != NOTHING:
            own = own_energies(tree, i, V, motion)
            kinetic += own[0]
            potential += own[1]
    return kinetic, potential


@inline_kernel
def end_pass(tree: Tree, step: Step) -> None:
    """Energies at the end of the step, whose poses stay in ``motion_end``."""
    step.number[T_END], step.number[V_END] = energies_at(
        tree, step.q_end, step.v_end, step.turn[2], step.motion_end
    )
