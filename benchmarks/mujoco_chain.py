"""MuJoCo: the steel strip as rigid boxes joined by hinge springs, classical Runge-Kutta.

MuJoCo has no joint with a prescribed motion, so the base hinge carries a huge armature with its
feed-forward torque, and its position and rate are set anew in each step.
"""

from __future__ import annotations

import math
import time as clock
from dataclasses import dataclass
from itertools import pairwise

import mujoco
import numpy as np

from benchmarks import steel_strip_data as strip
from benchmarks.harness import OUTPUTS, Motion, Run

ARMATURE = 1e6
NAME = "mujoco chain"
# Step times spring count squared, seconds: 0.051 blew up with 16 springs, 0.04 holds for 16 to 32.
STABLE = 0.04


@dataclass(frozen=True)
class Choice:
    """Number of springs, step in seconds."""

    springs: int
    step: float

    def __str__(self) -> str:
        return f"{self.springs} springs, RK4, step {self.step:g} s"


def largest_stable(springs: int) -> Choice:
    """The longest stable step (it shrinks with the square of the spring count) that meets the outputs."""
    output = strip.DURATION / OUTPUTS
    return Choice(springs, output / math.ceil(output * springs**2 / STABLE))


def _inertial(length: float) -> str:
    mass = strip.MASS * length
    about_x = strip.DENSITY * (strip.INERTIA_SOFT + strip.INERTIA_STIFF) * length
    about_y = strip.DENSITY * strip.INERTIA_STIFF * length + mass * length**2 / 12
    about_z = strip.DENSITY * strip.INERTIA_SOFT * length + mass * length**2 / 12
    return (
        f'<inertial pos="{length / 2:.12g} 0 0" mass="{mass:.12g}" '
        f'diaginertia="{about_x:.12g} {about_y:.12g} {about_z:.12g}"/>'
    )


def _document(choice: Choice) -> str:
    """Half a box at both ends makes the springs sit mid-cell, which is second order."""
    cell = strip.LENGTH / choice.springs
    lengths = [cell / 2, *[cell] * (choice.springs - 1), cell / 2]
    stiffness = strip.YOUNG * strip.INERTIA_SOFT / cell
    bodies = f'<body><joint name="base" axis="0 0 1" armature="{ARMATURE}"/>{_inertial(lengths[0])}'
    for before, length in pairwise(lengths):
        bodies += f'<body pos="{before:.12g} 0 0"><joint axis="0 0 1" stiffness="{stiffness:.12g}"/>'
        bodies += _inertial(length)
    tip = f'<site name="tip" pos="{lengths[-1]:.12g} 0 0"/>'
    options = f'<option timestep="{choice.step}" integrator="RK4" gravity="0 0 0"/>'
    return f"<mujoco>{options}<worldbody>{bodies}{tip}{'</body>' * len(lengths)}</worldbody></mujoco>"


def solve(choice: Choice) -> Run:
    """One slew; saving the tip is not counted, nor is tabulating the drive."""
    model = mujoco.MjModel.from_xml_string(_document(choice))
    data = mujoco.MjData(model)
    site = model.site("tip").id
    steps = round(strip.DURATION / choice.step)
    every = max(1, steps // OUTPUTS)
    start = np.arange(steps + 1) * choice.step
    angles, rates = strip.angle(start).tolist(), strip.rate(start).tolist()
    torques = (ARMATURE * strip.acceleration(start + choice.step / 2)).tolist()
    sizes = (choice.springs, -choice.step)
    times, tips, saving = [], [], 0.0
    position, velocity, applied = data.qpos, data.qvel, data.qfrc_applied
    begin = clock.process_time()
    for k in range(steps + 1):
        position[0] = angles[k]
        velocity[0] = rates[k]
        if k % every == 0:
            pause = clock.process_time()
            mujoco.mj_forward(model, data)
            times.append(k * choice.step)
            tips.append(data.site_xpos[site].copy())
            saving += clock.process_time() - pause
            if not np.isfinite(tips[-1]).all() or any(w.number for w in data.warning):
                return Run(NAME, f"{choice}: unstable", sizes, math.inf, Motion(np.array(times), np.array(tips)))
        applied[0] = torques[k]
        mujoco.mj_step(model, data)
    spent = clock.process_time() - begin - saving
    return Run(NAME, str(choice), sizes, spent / strip.DURATION, Motion(np.array(times), np.array(tips)))
