"""Motions whose error is asked for and told: library arms, rubber, ball joints, loops, friction, gears, samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import pliant as pl
from benchmarks.ours import Formulation
from pliant.components.kinds import Component
from pliant.model.sampling import Sample

QUINTIC = pl.motions.Quintic
SOFT = pl.GeneralSection(stiffness=(300.0, 150.0, 150.0, 3.0, 4.0, 5.0), inertia=(0.3, 0.3, 0.3, 0.02, 0.01, 0.02))


ONE = pl.GeometricallyExact(8, 2)


@dataclass(frozen=True)
class Motion:
    """What moves for how long; ``finest`` compiles the reference, which takes so many steps of order ``order``."""

    build: Callable[[Formulation], pl.Arm]
    duration: float
    finest: pl.GeometricallyExact = ONE
    steps: int = 16384
    order: int = 6


def arm(name: str, formulation: Formulation, *components: Component, **changed: object) -> pl.Arm:
    """An arm of the library, its first joint with other laws, and what is connected."""
    robot = pl.load(pl.library.path(name))
    if changed:
        robot = replace(robot, joints=(replace(robot.joints[0], **changed), *robot.joints[1:]))  # type: ignore[arg-type]
    model = formulation.compile(robot)
    return pl.connect(model, *components) if components else model


def strip(*components: Component, **changed: object) -> Callable[[Formulation], pl.Arm]:
    return lambda formulation: arm("steel_strip", formulation, *components, **changed)


def driven(name: str, angle: float, time: float, stiffness: float, damping: float) -> Callable[[Formulation], pl.Arm]:
    """All joints follow a smooth move by PD control."""

    def build(formulation: Formulation) -> pl.Arm:
        model = arm(name, formulation)
        names = [each for each in model.joint_names if "corner" not in each]
        law = pl.JointPD([QUINTIC(0.0, angle, time)] * len(names), stiffness, damping, joints=names)
        return pl.connect(model, law)

    return build


def geared(name: str, friction: float) -> Callable[[Formulation], pl.Arm]:
    """Gear motors and dry friction on all joints, under PD control."""

    def build(formulation: Formulation) -> pl.Arm:
        robot = pl.load(pl.library.path(name))
        law = pl.joints.Friction(coulomb=friction, smoothing_rate=0.02)
        robot = replace(robot, joints=tuple(replace(j, friction=law) if j.moves else j for j in robot.joints))
        model = formulation.compile(robot)
        names = model.joint_names
        motors = [pl.GearMotor(each, rotor_inertia=2e-5, ratio=80.0) for each in names]
        return pl.connect(model, *motors, pl.JointPD([QUINTIC(0.0, 0.4, 0.8)] * len(names), 200.0, 8.0))

    return build


def on(
    joint: object, link: object, gravity: tuple[float, float, float], **more: object
) -> Callable[[Formulation], pl.Arm]:
    robot = pl.Robot("one_link", links=(link,), joints=(joint,), gravity=gravity, **more)  # type: ignore[arg-type]
    return lambda formulation: formulation.compile(robot)


def soft(length: float = 1.0, name: str = "link") -> pl.FlexibleLink:
    return pl.FlexibleLink(name, length, section=SOFT)


def ruler(*parts: Component) -> Callable[[Formulation], pl.Arm]:
    """A steel ruler of 1 mm on a hub, moved by sampled laws."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3, damping=1e-5)
    link = pl.FlexibleLink("ruler", 0.5, section=pl.Rectangle(height=0.001, width=0.03), material=steel)
    hub = pl.Payload("hub", "ruler", at=pl.End.ROOT, mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    robot = pl.Robot("ruler", (link,), (pl.RevoluteJoint("motor", "base", "ruler"),), payloads=(hub,))

    return lambda formulation: pl.connect(formulation.compile(robot), *parts)


def follow(sample: Sample) -> float:
    reference = 0.8 * min(sample.time / 0.3, 1.0)
    return float(2.0 * (reference - sample.joint_positions[0]) - 0.12 * sample.joint_rates[0])


SAMPLED = pl.control.SampledController(follow, period=2e-3)
SERVO = pl.control.VelocityServo(gain=0.3, period=2e-3)
LOOP = pl.control.PositionLoop(pl.motions.Hold(0.5), gain=6.0, period=10e-3)


def damic() -> Callable[[Formulation], pl.Arm]:
    """Two links of 8 m on prescribed moves."""
    moves = [pl.PrescribedMotion(name, QUINTIC(0.0, 0.8, 4.0)) for name in ("shoulder", "elbow")]
    return lambda formulation: arm("damic_two_link", formulation, *moves)


def four_bar() -> Callable[[Formulation], pl.Arm]:
    """A stiff crank turns a flexible coupler and a rocker."""
    crank = pl.RigidLink("crank", tip_position=(0.3, 0.0, 0.0), mass=0.5, inertia=(1e-3, 4e-3, 4e-3))
    rocker = pl.RigidLink("rocker", tip_position=(0.8, 0.0, 0.0), mass=0.8, inertia=(1e-3, 5e-2, 5e-2))
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    coupler = pl.FlexibleLink("coupler", 1.0, section=pl.Rectangle(height=0.004, width=0.02), material=steel)
    pivot, pin = (pl.RevoluteJoint("pivot", "base", "crank"), pl.RevoluteJoint("pin", "crank", "coupler"))
    ground = pl.RevoluteJoint("ground", "base", "rocker", position=(1.0, 0.0, 0.0), initial_position=1.9)
    ring = pl.joints.LoopJoint("end", pl.joints.LoopKind.REVOLUTE, pl.At("coupler"), pl.At("rocker"))
    robot = pl.Robot("four_bar", (crank, coupler, rocker), (pivot, pin, ground), loops=(ring,))
    turning = pl.PrescribedMotion("pivot", QUINTIC(0.0, 1.5, 0.5))
    return lambda formulation: pl.connect(formulation.compile(robot), turning)


SLEW = pl.PrescribedMotion("hub", QUINTIC(0.0, 1.5, 0.5))
HELD = pl.PrescribedMotion("hub", pl.motions.Hold(0.0))
PD = pl.JointPD(QUINTIC(0.0, 1.0, 0.4), stiffness=60.0, damping=3.0)
KICK = pl.JointTorque("hub", pl.signals.Sine(4.0, 1.0))
DOWN, TIP = (0.0, -9.81, 0.0), pl.At("strip")
PUSH = pl.TipWrench("strip", pl.signals.Sine((0.0, 3.0, 0.0, 0.0, 0.0, 0.0), 3.0))
FINE, FOLDED = pl.GeometricallyExact(8, 3), pl.GeometricallyExact(6, 12)

MOTIONS = {
    "strip, slewed": Motion(strip(SLEW), 1.0),
    "strip, joint damper": Motion(strip(PD, damping=1e-3), 1.0),
    "strip, joint spring": Motion(strip(KICK, spring=pl.joints.JointSpring(20.0)), 1.0),
    "strip, held and pushed": Motion(strip(HELD, PUSH), 1.0),
    "strip, gear motor": Motion(strip(pl.GearMotor("hub", 1e-5, 60.0), PD), 0.8),
    "strip, elastic gear": Motion(strip(pl.GearMotor("hub", 1e-5, 60.0, stiffness=400.0, damping=0.2), PD), 0.8),
    "strip, friction": Motion(strip(PD, friction=pl.joints.Friction(coulomb=0.5, smoothing_rate=0.05)), 0.8),
    "strip, stop": Motion(strip(PD, limits=pl.joints.Limits(-1.0, 0.8, stiffness=2e3, damping=2.0)), 0.6, FOLDED),
    "ruler, servo": Motion(ruler(SERVO, LOOP), 0.5, FOLDED, 8192),
    "strip, tip spring": Motion(
        strip(HELD, PUSH, pl.SpringDamper("coil", TIP, pl.At("base", position=(1.0, 0.3, 0.0)), 40.0, 0.1, 0.2)), 0.8
    ),
    "strip, bushing": Motion(
        strip(PD, pl.Bushing("pad", TIP, pl.At("base", position=(1.0, 0.0, 0.0)), (30.0,) * 3 + (0.5,) * 3)), 0.6
    ),
    "strip, wall": Motion(strip(PD, pl.Wall("wall", TIP, (0.0, 0.5, 0.0), (0.0, -1.0, 0.0), 2e3, 5.0)), 0.6),
    "strip, base moved": Motion(strip(HELD, pl.BaseMotion(y=QUINTIC(0.0, 0.2, 0.4))), 0.8),
    "rubber pendulum": Motion(lambda f: arm("rubber_pendulum", f), 0.8, FOLDED, 8192),
    "damic, two links": Motion(damic(), 5.0),
    "L frame": Motion(lambda f: arm("l_frame", f), 0.4),
    "two links, PD": Motion(driven("two_link_planar", 0.7, 0.6, 40.0, 4.0), 1.0),
    "two links, gear motors": Motion(geared("two_link_planar", 0.05), 0.8),
    "macchelli link": Motion(driven("macchelli_link", 1.0, 0.3, 15.0, 3.0), 0.6),
    "anthropomorphic": Motion(driven("anthropomorphic_three_link", 0.5, 0.6, 2e4, 4e2), 0.8),
    "seven joints": Motion(driven("seven_joint_two_flexible", 0.4, 0.8, 200.0, 8.0), 0.8),
    "seven joints, geared": Motion(geared("seven_joint_two_flexible", 0.1), 0.8),
    "parallelogram": Motion(driven("parallelogram", 0.3, 0.5, 200.0, 8.0), 0.6),
    "four-bar": Motion(four_bar(), 0.6),
    "ball joint": Motion(on(pl.joints.SphericalJoint("ball", "base", "link"), soft(), (2.0, -6.0, -4.0)), 0.6, FINE),
    "universal joint": Motion(
        on(pl.joints.UniversalJoint("cross", "base", "link"), soft(), (2.0, -6.0, -4.0)), 0.6, FINE
    ),
    "free flight": Motion(
        on(pl.joints.FreeJoint("flight", "base", "link", initial_spin=(1.0, 2.0, 0.5)), soft(), (0.0, 0.0, -1.0)),
        0.6,
        FINE,
    ),
    "sampled ruler": Motion(ruler(SAMPLED), 0.5, FOLDED, 8192),
}


# Motions on which nothing was tuned: they judge whether what holds above holds elsewhere.
def soft_two(formulation: Formulation) -> pl.Arm:
    """Two soft links in a row, the elbow damped, falling."""
    links = soft(0.6, "upper"), soft(0.5, "lower")
    joints = pl.RevoluteJoint("shoulder", "base", "upper"), pl.RevoluteJoint("elbow", "upper", "lower", damping=0.05)
    return formulation.compile(pl.Robot("two", links, joints, gravity=(0.0, -4.0, 0.0)))  # type: ignore[return-value]


def turned(*components: Component, length: float = 0.8) -> Callable[[Formulation], pl.Arm]:
    """A round aluminium rod on a hinge, heavy at its end."""
    metal = pl.Material(name="aluminium", young=70e9, density=2700.0, poisson=0.33, damping=2e-5)
    rod = pl.FlexibleLink("rod", length, section=pl.Circle(radius=0.004), material=metal)
    mass = pl.Payload("mass", "rod", mass=0.1, inertia=(1e-5, 1e-5, 1e-5))
    robot = pl.Robot("rod", (rod,), (pl.RevoluteJoint("hinge", "base", "rod"),), payloads=(mass,), gravity=DOWN)
    return lambda formulation: (
        pl.connect(formulation.compile(robot), *components) if components else formulation.compile(robot)
    )


STOPPED = pl.JointPD(QUINTIC(0.0, 0.6, 0.3), stiffness=40.0, damping=1.5)
HELD_OUT = {
    "rod falls": Motion(turned(), 0.7),
    "rod, turned fast": Motion(turned(pl.PrescribedMotion("hinge", QUINTIC(0.0, 2.0, 0.35))), 0.9),
    "rod, servo": Motion(turned(STOPPED), 1.2),
    "rod, two moves": Motion(
        turned(
            pl.PrescribedMotion(
                "hinge", pl.motions.MotionSum((QUINTIC(0.0, 0.5, 0.3), pl.motions.Cycloid(0.0, 0.7, 0.8)))
            )
        ),
        1.0,
    ),
    "two soft links": Motion(soft_two, 0.8, FINE),
    "strip, torque": Motion(strip(pl.JointTorque("hub", pl.signals.Sine(1.5, 2.0)), damping=0.02), 0.9),
    "strip, soft friction": Motion(strip(PD, friction=pl.joints.Friction(coulomb=0.3, smoothing_rate=0.2)), 1.0),
    "strip, soft stop": Motion(
        strip(PD, limits=pl.joints.Limits(-1.0, 0.9, stiffness=300.0, damping=4.0)), 0.7, FOLDED
    ),
    "two links, fast": Motion(driven("two_link_planar", 1.2, 0.4, 60.0, 5.0), 0.7),
}


def reference(motion: Motion, times: np.ndarray) -> pl.Trajectory:
    """The same motion on the finest mesh with the shortest steps."""
    model = motion.build(motion.finest)
    integrator = pl.Gauss(min(motion.order, model.highest_order), motion.duration / motion.steps, tolerance=1e-11)
    return pl.simulate(model, motion.duration, integrator, outputs=times)
