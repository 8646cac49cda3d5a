"""The simulations of section IV-B: the step under PD control and the prescribed manoeuvres."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.components.connect import connect
from pliant.components.motions import BangBang, Hold, Quintic
from pliant.components.prescribed_motion import PrescribedMotion
from pliant.control import JointPD
from pliant.formulations.geometrically_exact import GeometricallyExact, MixedElement
from pliant.model.state import Array
from pliant.robot import FlexibleLink, GeneralSection, Robot, load
from pliant.simulation.integrators import Gauss
from pliant.simulation.simulate import simulate

if TYPE_CHECKING:
    from pliant.results import Trajectory

Formulation = GeometricallyExact | MixedElement

# Table I
STIFFNESS, DAMPER, TARGET = 15.0, 3.0, 1.0
# section IV-B
FINAL_ANGLE, SLOW, FAST = 2.0, 5.0, 2.5
# our choice of the paper's viscous damping: Kelvin-Voigt, damping = this time constant times stiffness
DAMPING_TIME = 2e-3
EIGHTHS = 9  # stations 0, L/8, ... L
GAMMA_X, GAMMA_Y, KAPPA_Z = 0, 1, 5
NAMES = {GAMMA_X: "q_x", GAMMA_Y: "q_y", KAPPA_Z: "q_θ"}


@dataclass(frozen=True)
class Effort:
    """How finely to compute; ``fine`` is the mesh that stands for the continuous link."""

    step: float
    fine_step: float
    link: GeometricallyExact
    fine: GeometricallyExact
    rest: float  # seconds watched after a manoeuvre


WHOLE = Effort(2e-4, 1e-4, GeometricallyExact(degree=6), GeometricallyExact(degree=8, elements=8), 1.0)
QUICK = Effort(1e-3, 5e-4, GeometricallyExact(degree=6), GeometricallyExact(degree=6, elements=6), 0.5)


@dataclass(frozen=True, eq=False)
class Seen:
    """A run with the strains (n, 6) at eighths of the length."""

    label: str
    trajectory: Trajectory
    strain: Array  # (n, 9, 6)

    @property
    def time(self) -> Array:
        return self.trajectory.time

    @property
    def angle(self) -> Array:
        return self.trajectory.joint_position[:, 0]

    def at(self, eighth: int, component: int) -> Array:
        """One strain at s = eighth L / 8 over time."""
        return self.strain[:, eighth, component]


def table_one() -> Robot:
    return load(Path(__file__).with_name("robot.yaml"))


def flexible(robot: Robot) -> FlexibleLink:
    link = robot.links[0]
    assert isinstance(link, FlexibleLink)
    return link


def with_material_damping(robot: Robot, time_constant: float) -> Robot:
    """The same link with Kelvin-Voigt damping."""
    link = flexible(robot)
    assert isinstance(link.section, GeneralSection)
    return replace(robot, links=(replace(link, section=replace(link.section, damping=time_constant)),))


def with_drag(robot: Robot, drag: float) -> Robot:
    """The same link moving through a medium that resists its translation."""
    link = flexible(robot)
    return replace(robot, links=(replace(link, viscous_damping=(drag, drag, drag, 0.0, 0.0, 0.0)),))


def respond_to_step(
    formulation: Formulation,
    step: float,
    until: float = 1.0,
    label: str = "",
    progress: Callable[[float], None] | None = None,
) -> Seen:
    """Joint under PD control whose reference is 1 rad from the start."""
    arm = formulation.compile(table_one())
    controlled = connect(arm, JointPD(Hold(TARGET), stiffness=STIFFNESS, damping=DAMPER))
    run = simulate(controlled, until, Gauss(4, step), outputs=5000, progress=progress)
    return Seen(label, run, arm.observe(run.states, EIGHTHS).links[0].strain)


def follow(
    robot: Robot, motion: Quintic | BangBang, effort: Effort, formulation: Formulation | None = None, label: str = ""
) -> Seen:
    """Joint on a prescribed motion, then held."""
    arm = (formulation or effort.link).compile(robot)
    driven = connect(arm, PrescribedMotion("shoulder", motion))
    run = simulate(driven, motion.duration + effort.rest, Gauss(4, 1e-3), outputs=6000)
    return Seen(label, run, arm.observe(run.states, EIGHTHS).links[0].strain)


def pick_and_place(duration: float) -> Quintic:
    return Quintic(0.0, FINAL_ANGLE, duration)


def step_acceleration(duration: float) -> BangBang:
    return BangBang(0.0, FINAL_ANGLE, duration)


def lag_per_acceleration(eighth: int) -> dict[int, float]:
    """Strain of a rigidly turning link per joint acceleration, from the balance of its outer part."""
    link = flexible(table_one())
    s, L = eighth * link.length / 8, link.length
    C, M = link.stiffness(s)[0], link.inertia(s)[0]
    rho, J = M[1, 1], M[5, 5]
    moment = rho * ((L**3 - s**3) / 3 - s * (L**2 - s**2) / 2) + J * (L - s)
    force = rho * (L**2 - s**2) / 2
    return {KAPPA_Z: -moment / C[5, 5], GAMMA_Y: -force / C[1, 1]}


def rotation_wave() -> tuple[float, float]:
    """Speed of a jump in curvature, and the jump that the step causes at the root (characteristics)."""
    link = flexible(table_one())
    EI, J = link.stiffness(0.0)[0, 5, 5], link.inertia(0.0)[0, 5, 5]
    impedance = np.sqrt(EI * J)
    torque = STIFFNESS * TARGET * impedance / (impedance + DAMPER)
    return float(np.sqrt(EI / J)), float(-torque / EI)
