"""Cases of pose elements: loops, all joints and their laws, springs, walls, motors, a moved base, flying links."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

import pliant as pl
from tests.frozen import arms
from tests.frozen.case import Case, case, enter, library, midpoint

POSE = pl.PoseElement
BALL = ("ball.x", "ball.y", "ball.z")
FLIGHT = ("flight.x", "flight.y", "flight.z", "flight.turn_x", "flight.turn_y", "flight.turn_z")
DRIVES = ["right_drive", "left_drive"]


def moved(robot: pl.Robot, *parts: object, until: float = 0.06, elements: int = 3, **asked: object) -> Case:
    return Case(pl.connect(POSE(elements).compile(robot), *parts), until, midpoint(), **asked)


@case
def parallelogram_under_feedback() -> Case:
    law = pl.JointPD(pl.motions.Quintic(0.0, 0.6, 0.05), stiffness=40.0, damping=2.0, joints=DRIVES)
    push = pl.TipWrench("right_outer", pl.signals.Constant((3.0, 1.0, 0.5, 0.0, 0.1, 0.0)))
    return moved(library("parallelogram"), law, push, settled=True)


@case
def parallelogram_with_motors() -> Case:
    """An elastic gear whose torque is cut, and a rigid one."""
    elastic = pl.GearMotor(
        "right_drive", rotor_inertia=2e-5, ratio=50.0, stiffness=400.0, damping=0.5, torque_limit=0.02
    )
    rigid = pl.GearMotor("left_drive", rotor_inertia=1e-5, ratio=30.0)
    law = pl.JointPD([pl.motions.Quintic(0.0, 0.6, 0.05), pl.motions.Hold(-0.2)], 100.0, 6.0, joints=DRIVES)
    return moved(library("parallelogram"), elastic, rigid, law)


@case
def parallelogram_driven_at_its_loop() -> Case:
    robot = library("parallelogram")
    corner = replace(
        robot.loop("far_corner"), friction=arms.FRICTION, limits=pl.joints.Limits(-0.02, 0.02, 50.0, 0.1), damping=0.02
    )
    parts = (
        pl.GearMotor("far_corner", 1e-5, 20.0, stiffness=300.0, damping=0.05),
        pl.JointTorque("far_corner", pl.signals.Sine(1.5, 7.0, 1.0)),
        pl.JointTorque("left_drive", pl.signals.Sine(-1.0, 11.0, 0.5)),
    )
    return moved(replace(robot, loops=(corner,)), *parts)


@case
def parallelogram_prescribed() -> Case:
    parts = [pl.PrescribedMotion(name, pl.motions.Quintic(0.0, end, 0.05)) for name, end in zip(DRIVES, (0.4, -0.2))]
    return moved(library("parallelogram"), *parts)


LOOP_DRIVES = {
    "torque": lambda: (pl.JointTorque("tip", pl.signals.Sine(3.0, 12.0, 0.5)),),
    "feedback": lambda: (pl.JointPD(pl.motions.Hold(-1.0), 20.0, 1.0, joints=["tip"]),),
    "motor": lambda: (
        pl.GearMotor("tip", 1e-4, 30.0, stiffness=400.0, damping=0.5),
        pl.JointTorque("tip", pl.signals.Sine(4.0, 11.5, 0.3)),
    ),
    "motion": lambda: (pl.PrescribedMotion("tip", pl.motions.Quintic(1.3, 1.5, 0.05)),),
}
for _drive, _parts in LOOP_DRIVES.items():
    # a motion of a bar leaves nothing to move, and so nothing to linearise
    enter(
        f"four_bar_loop_{_drive}",
        partial(lambda parts, linear: moved(arms.four_bar(), *parts(), linear=linear), _parts, _drive != "motion"),
    )


@case
def four_bar_with_laws_on_its_loop() -> Case:
    laws = {"spring": pl.joints.JointSpring(8.0, 1.2), "damping": 0.2, "friction": arms.FRICTION}
    return moved(arms.four_bar(**laws, limits=pl.joints.Limits(0.0, 1.35, 300.0, 1.0)), settled=True)


@case
def four_bar_of_flexible_bars() -> Case:
    return moved(arms.four_bar(flexible=True), pl.JointTorque("drive", pl.signals.Sine(5.0, 9.0, 0.4)))


OBEYS = pl.joints.Coordinate(
    spring=pl.joints.JointSpring(30.0, 0.1),
    damping=0.3,
    friction=pl.joints.Friction(0.4, 0.6, 0.2, 0.05),
    limits=pl.joints.Limits(-0.01, 0.02, 2e3, 5.0),
)
PLAIN = {"spring": OBEYS.spring, "damping": 0.3, "friction": OBEYS.friction, "limits": OBEYS.limits}
CONE = pl.joints.Cone(0.02, 300.0, 1.0, axis=(0.0, 1.0, 0.0))
RING_LAWS: dict[str, dict[str, object]] = {
    "revolute": PLAIN,
    "prismatic": PLAIN,
    "cylindrical": {"slide": OBEYS, "turn": OBEYS},
    "universal": {"first_turn": OBEYS, "second_turn": OBEYS},
    "planar": {"first_slide": OBEYS, "second_slide": OBEYS, "turn": OBEYS},
    "spherical": {
        "ball_spring": pl.joints.BallSpring(20.0),
        "damping": 0.2,
        "friction": pl.joints.Friction(0.4, 0.6, 0.2, 0.05),
        "cone": CONE,
    },
    "fixed": {},
}
for _kind, _laws in RING_LAWS.items():
    enter(f"ring_closed_by_{_kind}", partial(lambda k, laws: moved(arms.ring(k, **laws)), _kind, _laws))


@case
def ring_ball_under_torque() -> Case:
    return moved(arms.ring("spherical"), pl.JointTorque("last", pl.signals.Sine((6.0, -4.0, 3.0), 14.0)))


@case
def loop_within_a_link() -> Case:
    """A pin that holds the middle of a link."""
    robot = arms.on_a_hinge(arms.soft("link", 0.8))
    pin = pl.joints.LoopJoint(
        "pin", pl.joints.LoopKind.SPHERICAL, pl.At("link", station=0.4), pl.At("base", position=(0.4, 0.0, 0.0))
    )
    return moved(replace(robot, loops=(pin,)), elements=4, settled=True)


@case
def every_hinge_pose() -> Case:
    return moved(arms.every_hinge())


@case
def every_hinge_pose_driven() -> Case:
    parts = (
        pl.JointPD(
            [pl.motions.Hold(0.3), pl.motions.Hold(-0.1)], (10.0, 40.0), 0.5, joints=["cardan.first", "quill.slide"]
        ),
        pl.JointTorque("table.turn", pl.signals.Sine(0.2, 15.0)),
        pl.PrescribedMotion("rail", pl.motions.Quintic(0.0, 0.05, 0.05)),
        pl.GearMotor("pin", 1e-4, 20.0),
        pl.JointTorque("pin", pl.signals.Step(0.5, at=0.0205)),
    )
    return moved(arms.every_hinge(), *parts)


BALL_LAWS = {
    "spring": pl.joints.BallSpring(3.0, rest_rotation=arms.unit(1.0, 0.1, 0.0, 0.0)),
    "damping": 0.05,
    "friction": arms.FRICTION,
    "limits": pl.joints.Cone(0.5, 400.0, 0.5),
}


@case
def ball_free() -> Case:
    return moved(arms.ball_and_rod())


@case
def ball_with_laws() -> Case:
    return moved(arms.ball_and_rod(**BALL_LAWS), settled=True)


@case
def ball_under_torque() -> Case:
    return moved(arms.ball_and_rod(), pl.JointTorque("ball", pl.signals.Sine((0.5, -1.0, 2.0), 12.0)))


@case
def ball_under_feedback() -> Case:
    turns = [pl.motions.Quintic(0.0, 0.5, 0.05), pl.motions.Hold(0.2), pl.motions.Hold(-0.1)]
    law = pl.JointPD(turns, (20.0, 25.0, 30.0), (1.0, 0.8, 0.6), joints=BALL)
    return moved(arms.ball_and_rod(), law, settled=True)


@case
def ball_prescribed() -> Case:
    """The second turn goes through a quarter, where three turns in a row have no inverse."""
    turns = (
        pl.motions.Quintic(0.0, 1.0, 0.05),
        pl.motions.Quintic(1.2, 1.9, 0.05),
        pl.motions.Quintic(-0.3, 0.8, 0.05),
    )
    return moved(arms.ball_and_rod(), *map(pl.PrescribedMotion, BALL, turns))


@case
def flight_free() -> Case:
    return moved(arms.flying())


@case
def flight_with_laws() -> Case:
    stiffness = (80.0, 60.0, 90.0, 3.0, 4.0, 5.0)
    robot = arms.flying(
        spring=pl.joints.FreeSpring(stiffness, (0.0, 0.0, 0.1), arms.unit(1.0, 0.1, 0.0, 0.0)),
        damping=(0.5, 1.0, 1.5, 0.02, 0.01, 0.03),
        slide_friction=pl.joints.Friction(0.5, 1.0, 0.2, 0.05),
        turn_friction=pl.joints.Friction(0.05, smoothing_rate=0.2),
        limits=pl.joints.Box((-0.005,) * 3, (0.008,) * 3, 500.0, 5.0),
        cone=pl.joints.Cone(0.05, 20.0, 0.2),
    )
    return moved(robot)


@case
def flight_under_a_wrench() -> Case:
    return moved(arms.flying(), pl.JointTorque("flight", pl.signals.Sine((2.0, -1.0, 3.0, 0.1, -0.2, 0.3), 10.0)))


@case
def flight_under_feedback() -> Case:
    path = [pl.motions.Quintic(0.0, goal, 0.05) for goal in (0.02, -0.01, 0.03, 0.04, -0.05, 0.06)]
    return moved(arms.flying(), pl.JointPD(path, 400.0, 40.0, joints=FLIGHT))


@case
def flight_prescribed() -> Case:
    path = [pl.motions.Quintic(0.0, goal, 0.05) for goal in (0.02, -0.01, 0.03, 0.4, -0.5, 0.6)]
    return moved(arms.flying(), *map(pl.PrescribedMotion, FLIGHT, path))


@case
def springs_and_bushings() -> Case:
    ground = pl.At("base", position=(0.3, -0.3, 0.2))
    askew = pl.At("base", position=(0.7, 0.1, 0.1), rotation=arms.unit(1.0, 0.1, 0.2, 0.1))
    stiff, soft = (200.0, 300.0, 250.0, 2.0, 3.0, 2.5), (0.5, 0.6, 0.4, 0.01, 0.02, 0.01)
    parts = (
        pl.SpringDamper("cable", pl.At("upper"), ground, stiffness=100.0, damping=1.0, rest_length=0.3),
        pl.SpringDamper(
            "inside", pl.At("upper", station=0.35), pl.At("lower", position=(0.0, 0.02, 0.0)), 40.0, 0.2, 0.4
        ),
        pl.Bushing("mount", pl.At("upper", pl.End.TIP, position=(0.0, 0.0, 0.03)), askew, stiff, soft),
    )
    return moved(arms.two_links(), *parts, elements=4, settled=True)


def against_a_wall(formulation: object) -> Case:
    """The tip meets a floor and leaves it again."""
    arm = formulation.compile(arms.two_links(gravity=(0.0, 0.0, -9.81)))
    probe = pl.simulate(arm, 0.01, pl.Gauss(order=2, step=1e-3), outputs=1).tip_position[-1]
    floor = pl.Wall("floor", pl.At("lower"), tuple(probe.tolist()), (0.1, 0.0, 2.0), stiffness=2e3, damping=10.0)
    beside = pl.Wall("side", pl.At("lower", position=(0.0, 0.02, 0.0)), (0.0, -1.0, 0.0), (0.0, 1.0, 0.0), 1e3)
    return Case(pl.connect(arm, floor, beside), 0.06, midpoint())


enter("wall_pose", lambda: against_a_wall(pl.PoseElement(3)))
enter("wall_hands_over_from_exact", lambda: against_a_wall(pl.GeometricallyExact(3)))


@case
def resting_on_a_wall() -> Case:
    arm = POSE(4).compile(arms.clamped(arms.soft("beam"), gravity=(0.0, 0.0, -9.81)))
    floor = pl.Wall("floor", pl.At("beam"), (0.0, 0.0, -0.02), (0.0, 0.0, 1.0), stiffness=500.0, damping=1.0)
    return Case(pl.connect(arm, floor), 0.04, midpoint(), from_rest=True)


@case
def moved_base() -> Case:
    shake = pl.BaseMotion(
        x=pl.motions.Quintic(0.0, 0.1, 0.05),
        y=pl.motions.FunctionMotion(lambda t: (0.01 * np.sin(40 * t), 0.4 * np.cos(40 * t), -16.0 * np.sin(40 * t))),
        z=pl.motions.Cycloid(0.0, -0.05, 0.04),
        angle=pl.motions.SmoothStart(rate=2.0, duration=0.03),
        axis=(0.2, 0.0, 1.0),
    )
    return moved(arms.two_links(arms.DAMPED), shake, pl.JointPD(pl.motions.Hold(0.0), 10.0, 0.2))


@case
def moved_base_of_a_loop() -> Case:
    return moved(arms.four_bar(), pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.1, 0.05)))


@case
def wrenches_off_the_tip() -> Case:
    wave = pl.signals.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 20.0, phase=0.5)
    parts = (
        pl.PointWrench(pl.At("lower", position=(0.0, 0.05, 0.0)), wave, pl.Frame.BODY, name="beside"),
        pl.PointWrench(pl.At("upper", pl.End.ROOT, (0.01, 0.0, 0.02)), wave, name="at_the_root"),
    )
    return moved(arms.two_links(), *parts)


@case
def joint_laws_of_links_pose() -> Case:
    laws = {"spring": pl.joints.JointSpring(5.0, 0.3), "friction": arms.FRICTION, "damping": 0.05}
    return moved(arms.two_links(limits=pl.joints.Limits(-0.85, -0.75, 200.0, 0.5), **laws))


@case
def sampled_servo_on_an_elastic_gear_pose() -> Case:
    motor = pl.GearMotor("motor", rotor_inertia=4e-5, ratio=50.0, stiffness=500.0, damping=0.5)
    servo = pl.control.VelocityServo(0.24, 1e-3, sensor_gain=0.1, ratio=50.0, torque_limit=0.5)
    loop = pl.control.PositionLoop(pl.motions.Quintic(0.0, 0.3, 0.1), 4.0, 10e-3, feedforward=0.5, delay=1e-3)
    model = pl.connect(POSE(3).compile(arms.strip_on_a_servo()), motor, servo, loop)
    return Case(model, 0.06, midpoint(5e-4), linear=False)


@case
def bushing_turned_over() -> Case:
    bushing = pl.Bushing("mount", pl.At("base"), pl.At("crank", pl.End.ROOT), (1.0,) * 6)
    model = pl.connect(POSE().compile(arms.four_bar()), bushing, pl.JointTorque("drive", pl.signals.Constant(20.0)))
    return Case(model, 0.5, midpoint(5e-3), linear=False)


@case
def loop_opened_by_motions() -> Case:
    arm = POSE().compile(arms.four_bar())
    place = dict(zip(arm.joint_names, arm.layout.part(arm.initial_state(), "joint_position").tolist()))
    still = [pl.PrescribedMotion(name, pl.motions.Hold(place[name])) for name in ("drive", "elbow")]
    turn = pl.PrescribedMotion("pivot", pl.motions.SmoothStart(0.5, 0.01, position=place["pivot"], begin=0.01))
    return Case(pl.connect(arm, *still, turn), 0.05, midpoint(), linear=False)
