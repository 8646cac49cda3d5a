"""Arms drawn by lot, each by its number: what holds of the motions of `accuracy_problems` should hold of them.

One to three links, strips of steel, aluminium, carbon and nylon, balls and hinges, springs, dampers, friction, gear
motors, drives and free motions, gravity along and across.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import pliant as pl
from benchmarks.ours import Formulation
from pliant.components.kinds import Component
from pliant.robot.joint import Joint

QUINTIC = pl.motions.Quintic
MATERIALS = ((2.05e11, 7850.0), (7.0e10, 2700.0), (1.2e11, 1600.0), (3.0e9, 1200.0))  # Pa, kg/m^3
GRAVITIES = ((0.0, 0.0, -9.81), (0.0, 0.0, -9.81), (0.0, -9.81, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Drawn:
    """An arm, what moves it, and for how long."""

    robot: pl.Robot
    components: tuple[Component, ...]
    duration: float

    def build(self, formulation: Formulation) -> pl.Arm:
        arm = formulation.compile(self.robot)
        return pl.connect(arm, *self.components) if self.components else arm


def strip(rng: np.random.Generator, name: str) -> pl.FlexibleLink:
    """One that bends easily about one axis."""
    modulus, density = MATERIALS[rng.integers(len(MATERIALS))]
    length, wide, thin = rng.uniform(0.2, 1.2), rng.uniform(0.008, 0.04), rng.uniform(0.0015, 0.006)
    thin *= 4.0 if modulus < 1e10 else 1.0
    area, shear = wide * thin, modulus / 2.6
    easy, hard = wide * thin**3 / 12.0, thin * wide**3 / 12.0
    sheared = shear * area / 1.2
    section = pl.GeneralSection(
        stiffness=(modulus * area, sheared, sheared, 4.0 * shear * easy, modulus * hard, modulus * easy),
        inertia=(density * area,) * 3 + (density * (easy + hard), density * hard, density * easy),
    )
    return pl.FlexibleLink(name, length=float(length), section=section)


def hinge(rng: np.random.Generator, name: str, parent: str, child: str) -> pl.RevoluteJoint:
    """Mostly about z, with a spring, a damper or friction now and then."""
    laws: dict[str, object] = {}
    if rng.random() < 0.25:
        laws["damping"] = float(10.0 ** rng.uniform(-3.0, 1.0))
    if rng.random() < 0.2:
        laws["spring"] = pl.joints.JointSpring(float(10.0 ** rng.uniform(0.0, 3.0)))
    if rng.random() < 0.15:
        laws["friction"] = pl.joints.Friction(coulomb=float(10.0 ** rng.uniform(-2.0, 0.0)), smoothing_rate=0.05)
    about = 2 if rng.random() < 0.7 else int(rng.integers(3))
    axis = (float(about == 0), float(about == 1), float(about == 2))
    return pl.RevoluteJoint(name, parent=parent, child=child, axis=axis, **laws)  # type: ignore[arg-type]


def drawn(number: int) -> Drawn:
    rng = np.random.default_rng(number)
    count, way, duration = int(rng.choice([1, 1, 2, 2, 3])), int(rng.integers(5)), float(rng.uniform(0.2, 1.2))
    links = tuple(strip(rng, f"link{k}") for k in range(count))
    joints: list[Joint] = []
    for k, link in enumerate(links):
        joints.append(hinge(rng, f"joint{k}", links[k - 1].name if k else "base", link.name))
    if rng.random() < 0.12:
        joints[0] = pl.SphericalJoint("joint0", parent="base", child=links[0].name)
    if way == 4:  # nothing drives it
        joints = [free(rng, joint) for joint in joints]
    gravity = GRAVITIES[rng.integers(len(GRAVITIES))]
    robot = pl.Robot(f"lot{number}", links=links, joints=tuple(joints), gravity=gravity)
    names = [joint.name for joint in joints if isinstance(joint, pl.RevoluteJoint)]
    parts: list[Component] = []
    moves = [QUINTIC(0.0, float(rng.uniform(-1.2, 1.2)), float(rng.uniform(0.4, 1.0) * duration)) for _ in names]
    if names and way < 2:
        parts = [pl.PrescribedMotion(name, move) for name, move in zip(names, moves)]
    elif names and way < 4:
        gains = float(10.0 ** rng.uniform(1.0, 3.0)), float(10.0 ** rng.uniform(-0.5, 1.0))
        parts = [pl.JointPD(moves, *gains, joints=names)]
        if way == 3:
            rotor, ratio = float(10.0 ** rng.uniform(-6.0, -4.0)), float(rng.uniform(20.0, 120.0))
            parts += [pl.GearMotor(name, rotor_inertia=rotor, ratio=ratio) for name in names]
    return Drawn(robot, tuple(parts), duration)


def free(rng: np.random.Generator, joint: Joint) -> Joint:
    """With a rate at the start."""
    if isinstance(joint, pl.SphericalJoint):
        spin = rng.uniform(-3.0, 3.0, 3)
        return replace(joint, initial_rate=(float(spin[0]), float(spin[1]), float(spin[2])))
    assert isinstance(joint, pl.RevoluteJoint)
    return replace(joint, initial_rate=float(rng.uniform(-4.0, 4.0)))
