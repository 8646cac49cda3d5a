"""The simulations of sections IV-C and IV-D: two links in series, and four links in a closed chain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant import library
from pliant.components.connect import connect
from pliant.components.motions import Hold, Quintic
from pliant.control import JointPD
from pliant.formulations.geometrically_exact import GeometricallyExact, PoseElement
from pliant.model.state import Array
from pliant.results import Trajectory
from pliant.robot import Robot, load
from pliant.simulation.integrators import Gauss
from pliant.simulation.simulate import simulate

Element = GeometricallyExact | PoseElement

# section IV-C: K_P of Table I; tau_D = 0.75, which we read as the time that multiplies K_P
STIFFNESS, DERIVATIVE_TIME = 15.0, 0.75
SERIAL_TARGET = (0.7, -1.0)
# section IV-D
CHAIN_STIFFNESS = 300.0
CHAIN_TARGET = (0.6, 1.0)
BASE_DRIVES = ("right_drive", "left_drive")
SIDE_DRIVES = ("right_drive", "right_corner")  # another reading of the arrows in figure 10
# seconds in which the joints come to rest
AT_REST = 10.0
FRONTS = 0.5  # seconds in which fronts run through the links, watched closely
CLOSELY, LATER = 2e-3, 2e-2  # seconds between states that are kept, at ends of steps
SMOOTH_TIME, SMOOTH_UNTIL = 1.0, 1.5  # seconds


@dataclass(frozen=True)
class Care:
    """How finely to compute."""

    step: float
    spectral: GeometricallyExact
    elements: int
    smooth_elements: tuple[int, int]  # of the pose element, to see its order
    smooth_step: float


WHOLE = Care(5e-4, GeometricallyExact(degree=6, elements=2), 20, (8, 16), 5e-4)
QUICK = Care(2e-3, GeometricallyExact(degree=6), 12, (6, 12), 1e-3)


@dataclass(frozen=True, eq=False)
class Serial:
    """Runs of the arm of two links."""

    spectral: Trajectory
    pose: Trajectory
    light: Trajectory  # the other reading of tau_D, as the damper itself
    smooth: Trajectory  # spectral links on a smooth command
    smooth_pose: dict[int, Trajectory]  # elements -> run

    @property
    def all(self) -> list[Trajectory]:
        return [self.spectral, self.pose, self.light, self.smooth, *self.smooth_pose.values()]


@dataclass(frozen=True, eq=False)
class Chain:
    """Runs of the closed chain."""

    driven: Trajectory
    finer: Trajectory  # half the step, twice the elements, for its beginning only
    gentle: Trajectory  # with the gains of the serial arm
    light: Trajectory  # the other reading of tau_D
    sideways: Trajectory  # the other reading of the arrows

    @property
    def all(self) -> list[Trajectory]:
        return [self.driven, self.finer, self.gentle, self.light, self.sideways]


def serial_arm() -> Robot:
    return load(library.path("two_link_planar"))


def closed_chain() -> Robot:
    return load(library.path("parallelogram"))


def drive(robot: Robot, element: Element, law: JointPD, step: float, until: float = AT_REST) -> Trajectory:
    """The robot under joint control, with the best method in time up to order 4 that its element takes."""
    arm = element.compile(robot)
    early, late = np.arange(0.0, FRONTS + 0.5 * CLOSELY, CLOSELY), np.arange(FRONTS + LATER, until, LATER)
    times = np.append(early, [*late, until] if until > FRONTS else [])
    return simulate(connect(arm, law), until, Gauss(min(4, arm.highest_order), step), outputs=times)


def to(target: Sequence[float], stiffness: float, damper: float, joints: Sequence[str] | None = None) -> JointPD:
    """The reference jumps to its target at the start, as in section IV-B."""
    return JointPD([Hold(angle) for angle in target], stiffness, damper, joints=joints)


def serial_runs(care: Care, report: Callable[[float], None]) -> Serial:
    robot, damper = serial_arm(), STIFFNESS * DERIVATIVE_TIME
    law = to(SERIAL_TARGET, STIFFNESS, damper)
    spectral = drive(robot, care.spectral, law, care.step)
    report(0.3)
    pose = drive(robot, PoseElement(care.elements), law, care.step)
    report(0.6)
    light = drive(robot, PoseElement(care.elements), to(SERIAL_TARGET, STIFFNESS, DERIVATIVE_TIME), care.step)
    report(0.8)
    smooth = JointPD([Quintic(0.0, angle, SMOOTH_TIME) for angle in SERIAL_TARGET], STIFFNESS, damper)

    def follow(element: Element, step: float) -> Trajectory:
        return drive(robot, element, smooth, step, SMOOTH_UNTIL)

    # steps shrink with the elements, so that the errors of both fall together
    by_elements = {
        count: follow(PoseElement(count), care.smooth_step * care.smooth_elements[0] / count)
        for count in care.smooth_elements
    }
    report(1.0)
    return Serial(spectral, pose, light, follow(care.spectral, care.smooth_step), by_elements)


def chain_runs(care: Care, report: Callable[[float], None]) -> Chain:
    robot, element = closed_chain(), PoseElement(care.elements // 2)
    law = to(CHAIN_TARGET, CHAIN_STIFFNESS, CHAIN_STIFFNESS * DERIVATIVE_TIME, BASE_DRIVES)
    driven = drive(robot, element, law, care.step)
    report(0.2)
    finer = drive(robot, PoseElement(care.elements), law, 0.5 * care.step, FRONTS)
    report(0.4)
    weak = to(CHAIN_TARGET, STIFFNESS, STIFFNESS * DERIVATIVE_TIME, BASE_DRIVES)
    gentle = drive(robot, element, weak, care.step)
    report(0.6)
    loose = to(CHAIN_TARGET, CHAIN_STIFFNESS, DERIVATIVE_TIME, BASE_DRIVES)
    light = drive(robot, element, loose, care.step)
    report(0.8)
    side = to(CHAIN_TARGET, CHAIN_STIFFNESS, CHAIN_STIFFNESS * DERIVATIVE_TIME, SIDE_DRIVES)
    sideways = drive(robot, element, side, care.step)
    report(1.0)
    return Chain(driven, finer, gentle, light, sideways)


def direction(angle: float) -> Array:
    """Unit vector in the plane of motion."""
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def largest_curvature(run: Trajectory, *links: str) -> float:
    """Of the named links or of all, at all stations and times, 1/m."""
    names = links or tuple(link.name for link in run.links)
    return max(float(np.abs(run.link(name).strain[:, :, 5]).max()) for name in names)
