"""Cases in minimal coordinates: lumped and rigid arms, point masses, loops, both ways to step, servos in the loop."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

import pliant as pl
from tests.frozen import arms
from tests.frozen.case import Case, case, enter, library, midpoint

BENDING = (pl.lumped.Deflection.Y, pl.lumped.Deflection.Z, pl.lumped.Deflection.TURN_Y, pl.lumped.Deflection.TURN_Z)
WITH_TORSION = (*BENDING, pl.lumped.Deflection.TURN_X)
POINTS, SLENDER = pl.lumped.StationInertia.NEGLECTED, pl.lumped.Beam.EULER_BERNOULLI
GILL = pl.RungeKuttaGill
ROOMS = {"lumped": lambda: pl.Lumped(2), "rigid": lambda: pl.Rigid()}
PUSH = (1.0, -2.0, 0.5, 0.0, 0.0, 0.0)


def condensed(deflections: tuple[pl.lumped.Deflection, ...] = BENDING) -> pl.Lumped:
    return pl.Lumped(pl.lumped.Fields(1, deflections), SLENDER, POINTS)


def rotors(*joints: str) -> list[pl.GearMotor]:
    """Rigid gears: where links have no mass, a rotor is the inertia of a joint."""
    return [pl.GearMotor(joint, rotor_inertia=2e-4, ratio=50.0) for joint in joints]


for _room in ROOMS:
    enter(
        f"every_hinge_{_room}", partial(lambda r: Case(ROOMS[r]().compile(arms.every_hinge()), 0.06, midpoint()), _room)
    )
    enter(f"branched_{_room}", partial(lambda r: Case(ROOMS[r]().compile(arms.branched()), 0.06, midpoint()), _room))
    enter(
        f"branched_{_room}_gill",
        partial(lambda r: Case(ROOMS[r]().compile(arms.branched()), 0.002, GILL(1e-5), linear=False), _room),
    )


@case
def point_masses_that_bend() -> Case:
    arm = condensed().compile(arms.point_masses())
    law = pl.JointPD([pl.motions.Hold(0.1), pl.motions.Hold(0.6)], 200.0, 5.0)
    return Case(pl.connect(arm, law, *rotors("shoulder", "elbow")), 0.1, midpoint(), settled=True)


@case
def point_masses_that_twist_under_loads() -> Case:
    arm = condensed(WITH_TORSION).compile(arms.point_masses())
    parts = (
        pl.TipWrench("lower", pl.signals.Sine(PUSH, 10.0), name="dead"),
        pl.TipWrench("upper", pl.signals.Sine(PUSH, 7.0, 0.4), frame=pl.Frame.BODY, name="follower"),
        pl.PrescribedMotion("shoulder", pl.motions.Quintic(0.0, 0.2, 0.08)),
    )
    return Case(pl.connect(arm, *parts, *rotors("elbow")), 0.1, midpoint())


@case
def point_masses_gill() -> Case:
    arm = condensed(WITH_TORSION).compile(arms.point_masses())
    return Case(pl.connect(arm, *rotors("shoulder", "elbow")), 0.02, GILL(1e-4))


@case
def point_masses_of_a_heavy_link() -> Case:
    """A link of mass, cut into point masses, with motors and friction on its joints."""
    robot = arms.two_links(friction=arms.FRICTION, limits=pl.joints.Limits(-0.85, -0.75, 200.0, 0.5))
    fields = pl.lumped.Fields(3, BENDING)
    arm = pl.Lumped(fields, station_inertia=POINTS).compile(replace(robot, payloads=()))
    motor = pl.GearMotor("shoulder", 2e-5, 50.0, torque_limit=0.03)
    parts = (motor, *rotors("elbow"), pl.JointTorque("shoulder", pl.signals.Sine(2.0, 12.0)))
    return Case(pl.connect(arm, *parts), 0.06, midpoint())


@case
def library_adam_condensed() -> Case:
    arm = pl.Lumped(pl.lumped.Fields(1, WITH_TORSION), SLENDER, POINTS).compile(library("adam"))
    start = arm.layout.part(arm.initial_state(), "joint_position")
    law = pl.JointPD([pl.motions.Hold(float(place) + 0.02) for place in start], 400.0, 20.0)
    return Case(pl.connect(arm, law, *rotors(*arm.joint_names)), 0.05, midpoint(), settled=True)


@case
def joint_fields() -> Case:
    """Soft bearings behind two joints."""
    soft = (1e4, 1e4, 1e4, 20.0, 30.0, 40.0)
    # a turn about the axis of the joint itself would move no mass between the two
    bearings = (
        pl.lumped.JointField("shoulder", soft, tuple(pl.lumped.Deflection)[:5]),
        pl.lumped.JointField("elbow", soft, (pl.lumped.Deflection.TURN_Y,)),
    )
    arm = pl.Lumped(1, joint_fields=bearings).compile(arms.two_links())
    return Case(arm, 0.06, midpoint(), settled=True)


@case
def fields_of_given_stiffness() -> Case:
    given = pl.lumped.Fields(2, WITH_TORSION, stiffness=(1e4, 300.0, 250.0, 8.0, 9.0, 7.0))
    arm = pl.Lumped({"upper": given, "lower": pl.lumped.Fields(3, BENDING)}).compile(arms.two_links())
    return Case(pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), 10.0, 0.1)), 0.06, midpoint(), settled=True)


@case
def slender_fields() -> Case:
    return Case(pl.Lumped(4, SLENDER).compile(arms.two_links(arms.DAMPED)), 0.06, midpoint())


@case
def lumped_gill() -> Case:
    arm = pl.Lumped(2).compile(arms.two_links(arms.DAMPED))
    return Case(pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), 10.0, 0.1)), 2e-3, GILL(1e-5), linear=False)


def motors(room: str) -> Case:
    """An elastic gear whose torque is cut, a rigid one, and feedback that reads rotors."""
    parts = (
        pl.GearMotor("shoulder", 2e-5, 50.0, stiffness=200.0, damping=0.2, torque_limit=0.03),
        pl.GearMotor("elbow", 1e-5, 30.0, torque_limit=0.5),
        pl.JointPD([pl.motions.Quintic(0.3, 0.6, 0.05), pl.motions.Hold(-0.5)], 50.0, 1.0),
    )
    return Case(pl.connect(ROOMS[room]().compile(arms.two_links()), *parts), 0.06, midpoint())


def rubbing(room: str) -> Case:
    laws = {"spring": pl.joints.JointSpring(5.0, 0.3), "friction": arms.FRICTION, "damping": 0.05}
    robot = arms.two_links(limits=pl.joints.Limits(-0.85, -0.75, 200.0, 0.5), **laws)
    return Case(ROOMS[room]().compile(robot), 0.06, midpoint())


def prescribed(room: str) -> Case:
    parts = (
        pl.PrescribedMotion("shoulder", pl.motions.BangBang(0.3, 0.5, 0.05)),
        pl.TipWrench("lower", pl.signals.Sine((1.0, -2.0, 0.5, 0.1, 0.0, 0.2), 10.0)),
    )
    return Case(pl.connect(ROOMS[room]().compile(arms.two_links()), *parts), 0.06, midpoint(), settled=True)


for _name, _build in {"motors": motors, "rubbing": rubbing, "prescribed": prescribed}.items():
    for _room in ROOMS:
        enter(f"{_name}_{_room}", partial(_build, _room))


@case
def friction_and_stops_gill() -> Case:
    laws = {"friction": arms.FRICTION, "limits": pl.joints.Limits(-0.85, -0.75, 200.0, 0.5)}
    return Case(pl.Rigid().compile(arms.two_links(**laws)), 0.02, GILL(2e-4))


for _kind in ("revolute", "spherical", "universal"):
    enter(
        f"four_bar_{_kind}_rigid", partial(lambda k: Case(pl.Rigid().compile(arms.four_bar(k)), 0.1, midpoint()), _kind)
    )


@case
def four_bar_held_rigid() -> Case:
    hold = pl.JointPD(pl.motions.Hold(0.8), 40.0, 1.0, joints=["drive"])
    return Case(pl.connect(pl.Rigid().compile(arms.four_bar()), hold), 0.1, midpoint(), settled=True)


@case
def four_bar_rigid_gill() -> Case:
    return Case(pl.Rigid().compile(arms.four_bar()), 0.05, GILL(1e-3))


@case
def four_bar_rigid_driven() -> Case:
    parts = (
        pl.PrescribedMotion("drive", pl.motions.Quintic(0.6, 1.2, 0.08)),
        pl.JointTorque("pivot", pl.signals.Sine(1.0, 8.0)),
    )
    return Case(pl.connect(pl.Rigid().compile(arms.four_bar()), *parts), 0.1, midpoint(), linear=False)


@case
def four_bar_lumped() -> Case:
    return Case(pl.Lumped(2).compile(arms.four_bar(flexible=True)), 0.06, midpoint())


@case
def parallelogram_lumped() -> Case:
    arm = pl.Lumped(2).compile(library("parallelogram"))
    hold = pl.JointPD(pl.motions.Hold(0.0), stiffness=15.0, damping=0.5, joints=["right_drive", "left_drive"])
    push = pl.TipWrench("right_outer", pl.signals.Constant((3.0, 1.0, 0.5, 0.0, 0.1, 0.0)))
    return Case(pl.connect(arm, hold, push), 0.06, midpoint())


@case
def loop_standing_still_lumped() -> Case:
    """At rest all motion is rounding."""
    arm = pl.Lumped(1).compile(library("parallelogram"))
    hold = pl.JointPD(pl.motions.Hold(0.0), stiffness=40.0, damping=0.0, joints=["right_drive", "left_drive"])
    push = pl.TipWrench("right_outer", pl.signals.Constant((3.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    return Case(pl.connect(arm, hold, push), 0.03, midpoint(), from_rest=True)


def three_rates(formulation: object, integrator: object, until: float = 0.06) -> Case:
    """A servo every millisecond, a position loop and a damper every ten, with noise, rounding, limits and delays."""
    servo = pl.control.VelocityServo(
        0.24,
        1e-3,
        sensor_gain=0.1,
        ratio=50.0,
        command_limit=10.0,
        command_resolution=20 / 4096,
        torque_limit=0.3,
        tachometer=pl.sensors.Tachometer(noise=1e-3, resolution=1e-4),
        seed=1,
    )
    encoder = pl.sensors.Encoder(resolution=2 * np.pi / 20000, noise=1e-5)
    loop = pl.control.PositionLoop(pl.motions.Quintic(0.0, 0.3, 0.1), 4.0, 10e-3, encoder=encoder, delay=1e-3)
    gauge = pl.sensors.StrainGauge("strip", station=0.25, noise=2e-5, resolution=1e-5, limit=1.0)
    seen = pl.sensors.DeflectionSensor("strip", noise=1e-5)
    dampers = (
        pl.control.VibrationSuppression(
            "motor", gauge, 1.0, 10e-3, washout=0.5, delay=1.5e-3, seed=2, name="by_strain"
        ),
        pl.control.VibrationSuppression("motor", seen, 2.0, 5e-3, seed=3, name="by_tip"),
    )
    model = pl.connect(formulation.compile(arms.strip_on_a_servo()), servo, loop, *dampers)
    return Case(model, until, integrator, linear=False)


def own_laws(formulation: object, integrator: object) -> Case:
    """Functions of a sample: one gives torques, one gives rates to a servo."""

    def torques(sample: pl.control.Sample) -> list[float]:
        return [-0.05 * float(sample.joint_rates[0]) + 0.1 * float(sample.joint_positions[1])]

    def rates(sample: pl.control.Sample) -> float:
        return -3.0 * (0.4 + float(sample.joint_positions[1])) - float(sample.observation(2).tip_position[0, 2])

    parts = (
        pl.control.SampledController(torques, 4e-3, joints=["shoulder"], delay=1.5e-3, name="own_torque"),
        pl.control.VelocityServo(0.01, 1e-3, joints=["elbow"]),
        pl.control.SampledCommand(rates, 5e-3, joints=["elbow"], name="own_rate"),
    )
    return Case(pl.connect(formulation.compile(arms.two_links()), *parts), 0.04, integrator, linear=False)


SAMPLED = {
    "exact": lambda: (pl.GeometricallyExact(3), pl.Gauss(4, 1e-3)),
    "pose": lambda: (pl.PoseElement(3), midpoint(1e-3)),
    "lumped": lambda: (pl.Lumped(2), midpoint(1e-3)),
    "rigid": lambda: (pl.Rigid(), midpoint(1e-3)),
}
for _room, _choice in SAMPLED.items():
    enter(f"own_laws_{_room}", partial(lambda c: own_laws(*c()), _choice))
    if _room != "rigid":
        enter(f"three_rates_{_room}", partial(lambda c: three_rates(*c()), _choice))
enter("three_rates_pseudo", lambda: three_rates(pl.PseudoSpectral(6), pl.Gauss(4, 1e-3)))
enter("three_rates_lumped_gill", lambda: three_rates(pl.Lumped(2), GILL(1e-6), 2e-4))


@case
def controller_that_fails() -> Case:
    def broken(sample: pl.control.Sample) -> float:
        if sample.time > 0.0199:
            raise ValueError("encoder lost")
        return 0.1

    brain = pl.control.SampledController(broken, 0.01, joints=["elbow"], name="brain")
    return Case(pl.connect(pl.Rigid().compile(arms.two_links()), brain), 0.05, midpoint(), linear=False)
