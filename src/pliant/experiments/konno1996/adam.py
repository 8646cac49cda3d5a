"""The arm ADAM of [konno1996] in any posture, its closed forms, and its drives.

Table 1 is in the robot file of the library. The paper does not print gear ratios, gains of the servo card, torsional
stiffness, posture, direction of gravity or size of the step; what stands here in capitals is our choice, and
``effects.py`` shows what each of them does to the frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import pliant as pl
from pliant.experiments.konno1996.two_station_arm import TwoStationArm
from pliant.formulations.lumped import Lumped
from pliant.formulations.lumped.model import LumpedArm
from pliant.model.contract import Arm
from pliant.model.state import Array
from pliant.robot import Joint, Link
from pliant.robot.declared import Vector3
from pliant.robot.rest_shape import Across

JOINTS = ("joint_1", "joint_2", "joint_3", "joint_4")
ROTORS = (1.63e-4, 0.99e-4, 0.99e-4, 0.15e-4)  # kg m^2, Table 1
POSITION_GAIN = 4.0  # 1/s, section 6.2
STEP, SERVO_PERIOD, CONTROL_PERIOD = 1e-4, 1e-3, 1e-2  # s, section 6.2
PUBLISHED = {"simulation": (2.865, 2.866), "experiment": (2.849, 2.950)}  # Hz, along y and z, section 6.2

GEAR_RATIO = 100.0
SERVO_SHARE = 0.5  # part of its rate that a rotor alone would lose in one sample of the servo
ELBOW = np.pi / 2
TUBE = 1.0 / 1.3  # G J / E I of a round tube with Poisson's ratio 0.3
WASHOUT = 0.5  # s, time in which a suppressing joint forgets the sag
WEIGHTLESS = (0.0, 0.0, 0.0)

# fields of the paper by link, and the deflections (46), m
FIELDS = {"upper_arm": 3, "forearm": 5}
SIGNALS = ("y3", "z3", "y5", "z5")

BENDING = (pl.lumped.Deflection.Y, pl.lumped.Deflection.Z, pl.lumped.Deflection.TURN_Y, pl.lumped.Deflection.TURN_Z)
WITH_TORSION = (*BENDING, pl.lumped.Deflection.TURN_X)


@cache
def table_one() -> pl.Robot:
    return pl.load(pl.library.path("adam"))


def closed_form(torsion: float | None) -> TwoStationArm:
    """Two massless beams and two masses; ``torsion`` is G J / E I, none for a rigid one."""
    robot = table_one()
    upper, lower = (robot.link(name) for name in ("upper_arm", "forearm"))
    assert isinstance(upper, pl.FlexibleLink)
    assert isinstance(lower, pl.FlexibleLink)
    inner, outer = (float(link.stiffness(0.0)[0][5, 5]) for link in (upper, lower))
    masses = (robot.payload("elbow").mass, robot.payload("wrist").mass)
    twist = np.inf if torsion is None else torsion * inner
    return TwoStationArm(upper.length, lower.length, inner, outer, *masses, twist)


def robot_with(elbow: float = ELBOW, torsion: float = TUBE, gravity: Vector3 | None = None) -> pl.Robot:
    """The arm of the library with another elbow angle, torsional stiffness or gravity."""
    robot = table_one()
    joints = tuple(_bent(joint, elbow) if joint.name == "joint_4" else joint for joint in robot.joints)
    links = tuple(_twisting(link, torsion) for link in robot.links)
    return replace(robot, links=links, joints=joints, gravity=robot.gravity if gravity is None else gravity)


def _bent(joint: Joint, angle: float) -> Joint:
    assert isinstance(joint, pl.RevoluteJoint)
    return replace(joint, initial_position=angle)


def _twisting(link: Link, torsion: float) -> Link:
    if not isinstance(link, pl.FlexibleLink):
        return link
    stiffness = np.diag(link.stiffness(0.0)[0]).copy()
    stiffness[3] = torsion * stiffness[5]
    return replace(link, section=pl.GeneralSection(stiffness=tuple(stiffness)))


def condensed(robot: pl.Robot, twists: bool = True) -> LumpedArm:
    """One field for each link and point masses: section 6.1 of the paper."""
    fields = pl.lumped.Fields(1, WITH_TORSION if twists else BENDING)
    return Lumped(fields, pl.lumped.Beam.EULER_BERNOULLI, pl.lumped.StationInertia.NEGLECTED).compile(robot)


def clamped(arm: Arm) -> Arm:
    """All joints held where they start."""
    start = arm.layout.part(arm.initial_state(), "joint_position")
    holds = (pl.PrescribedMotion(name, pl.motions.Hold(float(q))) for name, q in zip(arm.joint_names, start))
    model: Arm = pl.connect(arm, *holds)
    return model


@dataclass(frozen=True)
class Drives:
    """Rotors behind gears, the servo card (47) and the loop around positions."""

    ratio: float = GEAR_RATIO
    servo_share: float = SERVO_SHARE
    position_gain: float = POSITION_GAIN

    @property
    def rotors(self) -> Array:
        """Inertias of the rotors as felt at the joints, kg m^2."""
        return np.asarray(self.ratio**2 * np.array(ROTORS))

    @property
    def servo_gains(self) -> Array:
        """Torque at the joint per rate, G_r^2 K_sp K_sv, N m s/rad."""
        return self.servo_share * self.rotors / SERVO_PERIOD

    def motors(self) -> list[pl.GearMotor]:
        return [pl.GearMotor(name, inertia, self.ratio) for name, inertia in zip(JOINTS, ROTORS)]

    def servo(self) -> pl.control.VelocityServo:
        gains = tuple(float(gain) for gain in self.servo_gains)
        return pl.control.VelocityServo(gain=gains, period=SERVO_PERIOD, joints=JOINTS)

    def loop(self, reference: Array) -> pl.control.PositionLoop:
        holds = tuple(pl.motions.Hold(float(q)) for q in reference)
        return pl.control.PositionLoop(holds, self.position_gain, CONTROL_PERIOD, joints=JOINTS)

    def holding(self, error: Array) -> list[pl.JointTorque]:
        """The constant torques of servo and loop on joints that stand off their reference."""
        torques = self.position_gain * self.servo_gains * error
        return [pl.JointTorque(name, pl.signals.Constant(float(torque))) for name, torque in zip(JOINTS, torques)]

    def springs(self, reference: Array) -> pl.JointPD:
        """What servo and loop are to a joint at rest: torque per position error, and per rate."""
        holds = tuple(pl.motions.Hold(float(q)) for q in reference)
        stiffness = tuple(float(gain) for gain in self.position_gain * self.servo_gains)
        return pl.JointPD(holds, stiffness, tuple(float(gain) for gain in self.servo_gains), joints=JOINTS)


@dataclass(frozen=True)
class Damper:
    """Feeds the deflection in the plane of a joint back to the command of that joint, less its slow part."""

    joint: str
    signal: str
    gain: float  # rad/s per m

    def controller(self) -> pl.control.VibrationSuppression:
        link = next(name for name, number in FIELDS.items() if self.signal.endswith(str(number)))
        sensor = pl.sensors.DeflectionSensor(link, Across.Y if self.signal.startswith("y") else Across.Z)
        return pl.control.VibrationSuppression(self.joint, sensor, self.gain, CONTROL_PERIOD, washout=WASHOUT)


def dampers(gain: float) -> tuple[Damper, ...]:
    """Every joint against the deflection it makes; roll turns the raised forearm towards its negative y."""
    signs = (1.0, 1.0, -1.0, 1.0)
    return tuple(Damper(joint, signal, sign * gain) for joint, signal, sign in zip(JOINTS, SIGNALS, signs, strict=True))


def field_deflections(arm: LumpedArm, states: Array) -> dict[str, Array]:
    """How far the end of each field stands off the axis of its root, along y and z of the root, m."""
    seen = arm.observe(states, 2)
    found = {}
    for name, number in FIELDS.items():
        link = seen.link(name)
        across = np.einsum("ni,nij->nj", link.position[:, -1] - link.position[:, 0], link.rotation[:, 0])
        found[f"y{number}"], found[f"z{number}"] = across[:, 1], across[:, 2]
    return found
