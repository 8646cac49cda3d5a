"""Joint laws, motors, balls, flight and moved bases on spectral links, against closed forms and pose elements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from pliant.spatial.arrays import rotation_from_quaternion

EXACT = 1e-10  # part of the energy exchanged in a step that may be missing
MASS, LENGTH, ABOUT_PIN, GRAVITY = 2.0, 0.5, 0.3 + 2.0 * 0.25, 9.81
BOB = pl.RigidLink("bob", (1.0, 0.0, 0.0), MASS, center_of_mass=(LENGTH, 0.0, 0.0), inertia=(0.1, 0.2, 0.3))
DOWN = (0.0, -GRAVITY, 0.0)


def pendulum(position: float, rate: float, **laws: object) -> pl.Robot:
    """A physical pendulum in the plane x, y."""
    pin = pl.RevoluteJoint("pin", "base", "bob", initial_position=position, initial_rate=rate, **laws)  # type: ignore[arg-type]
    return pl.Robot("pendulum", (BOB,), (pin,), gravity=DOWN)


def swung(robot: pl.Robot, until: float, order: int, step: float, *parts: object) -> pl.Trajectory:
    model = pl.connect(pl.GeometricallyExact(degree=2).compile(robot), *parts)  # type: ignore[arg-type]
    assert not model.substitution
    run = pl.simulate(model, until=until, integrator=pl.Gauss(order=order, step=step), outputs=2)
    assert run.ending.completed
    assert run.ledger.worst_ratio < EXACT
    return run


def integrated(torque: Callable[[float, float], float], start: tuple[float, float], until: float) -> np.ndarray:
    """I q'' = torque(q, q') - m g l cos q, by an explicit method of order 8 to its tightest tolerance."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        q, qd = y
        return [qd, (torque(q, qd) - MASS * GRAVITY * LENGTH * np.cos(q)) / ABOUT_PIN]

    return solve_ivp(rates, (0.0, until), start, "DOP853", rtol=2.3e-14, atol=1e-14, max_step=1e-3).y[:, -1]


def errors_over(steps: tuple[float, ...], found: Callable[[float], np.ndarray], wanted: np.ndarray) -> list[float]:
    return [float(np.abs(found(step) - wanted).max()) for step in steps]


def state_of_pin(run: pl.Trajectory) -> np.ndarray:
    return np.array([run.state("joint_position")[-1, 0], run.state("joint_rate")[-1, 0]])


def test_a_pendulum_with_spring_damping_and_friction_converges_with_order_four() -> None:
    laws = {"spring": pl.joints.JointSpring(20.0, 0.3), "damping": 0.4}
    dry = pl.joints.Friction(0.5, static=0.8, stribeck_rate=1.0, smoothing_rate=0.5)

    def torque(q: float, qd: float) -> float:
        friction = (0.5 + 0.3 * np.exp(-((qd / 1.0) ** 2))) * np.tanh(qd / 0.5)
        return -20.0 * (q - 0.3) - 0.4 * qd - friction

    wanted = integrated(torque, (0.2, 3.0), 0.4)
    robot = pendulum(0.2, 3.0, **laws, friction=dry)
    errors = errors_over((0.02, 0.01, 0.005), lambda step: state_of_pin(swung(robot, 0.4, 4, step)), wanted)
    for coarse, fine in pairwise(errors):
        assert coarse / fine > 13.0, "16 for a method of fourth order"
    assert errors[-1] < 1e-7


@pytest.mark.parametrize("damping", [0.0, 2.0], ids=["elastic", "damped"])
def test_a_stop_pushes_by_its_law_and_stores_what_it_takes(damping: float) -> None:
    """A damper makes the force jump by d v where contact begins, at some instant of a step h: d v h / (2 I) is the most
    that the rate may miss. The elastic force only bends there, and its mean over the step knows where."""
    stop, rate = pl.joints.Limits(-0.5, 0.6, 500.0, damping), 6.0

    def torque(q: float, qd: float) -> float:
        if q > 0.6:
            return -max(0.0, 500.0 * (q - 0.6) + damping * qd)
        return max(0.0, 500.0 * (-0.5 - q) - damping * qd) if q < -0.5 else 0.0

    wanted, robot = integrated(torque, (0.2, rate), 0.5), pendulum(0.2, rate, limits=stop)
    for step in (4e-3, 1e-3):
        (error,) = errors_over((step,), lambda step: state_of_pin(swung(robot, 0.5, 4, step)), wanted)
        assert error < 1e-6 + damping * rate * step / (2.0 * ABOUT_PIN)
    arm = pl.GeometricallyExact(degree=2).compile(robot)
    run = pl.simulate(arm, until=0.3, integrator=pl.Gauss(order=4, step=2e-3))
    assert run.ledger.strain.max() > 5.0, "the stop is hit"
    total = np.sum(arm.energy(run.states), axis=0)
    # the work of weight is entered at the stages: its error is that of the step
    assert total[-1] == pytest.approx(total[0] - run.ledger.joint_loss[-1], rel=1e-5)


def test_an_elastic_gear_swings_at_its_frequency_and_a_rigid_one_adds_its_rotor() -> None:
    """Rotor and joint of inertias J and I on a spring k:  w^2 = k (1/J + 1/I) .  Without gravity."""
    robot, J, k = replace(pendulum(0.0, 0.0), gravity=(0.0, 0.0, 0.0)), 1e-4 * 50.0**2, 300.0
    arm = pl.GeometricallyExact(degree=2).compile(robot)
    geared = pl.connect(arm, pl.GearMotor("pin", 1e-4, 50.0, stiffness=k))
    frequency = 2.0 * np.pi * pl.modes(geared).frequency
    assert frequency[-1] == pytest.approx(np.sqrt(k * (1.0 / J + 1.0 / ABOUT_PIN)), rel=1e-9)
    rigid = pl.connect(arm, pl.GearMotor("pin", 1e-4, 50.0), pl.JointPD(pl.motions.Hold(0.0), 40.0, 0.0))
    frequency = 2.0 * np.pi * pl.modes(rigid).frequency
    assert frequency[-1] == pytest.approx(np.sqrt(40.0 / (J + ABOUT_PIN)), rel=1e-9)
    assert [geared.substitution, rigid.substitution] == ["", ""]


def test_a_motor_within_its_limit_gives_no_more() -> None:
    """A rotor on a rigid gear at its limit T turns with T / (I + J)."""
    robot = replace(pendulum(0.0, 0.0), gravity=(0.0, 0.0, 0.0))
    motor = pl.GearMotor("pin", 1e-4, 50.0, torque_limit=0.02)
    run = swung(robot, 0.2, 4, 0.01, motor, pl.JointPD(pl.motions.Hold(5.0), 30.0, 1.0))
    assert run.state("joint_rate")[-1, 0] == pytest.approx(0.2 * 0.02 * 50.0 / (1e-4 * 50.0**2 + ABOUT_PIN), rel=1e-9)


def top(tilt: float, precession: float) -> pl.Robot:
    """A heavy symmetric top in steady precession, with the spin about its own axis that keeps it there:

    m g l = I3 (spin + p cos(tilt)) p - I1 p^2 cos(tilt) .
    """
    across, along, centre = 0.03 + 1.0 * 0.3**2, 0.05, 0.3
    spin = GRAVITY * centre / (along * precession) + (across - along) / along * precession * np.cos(tilt)
    body = pl.RigidLink("body", (0.0, 0.0, 0.5), 1.0, center_of_mass=(0.0, 0.0, centre), inertia=(0.03, 0.03, along))
    turned = (float(np.cos(tilt / 2)), float(np.sin(tilt / 2)), 0.0, 0.0)  # about x
    rate = (0.0, float(precession * np.sin(tilt)), float(precession * np.cos(tilt) + spin))
    ball = pl.joints.SphericalJoint("ball", "base", "body", initial_rotation=turned, initial_rate=rate)
    return pl.Robot("top", (body,), (ball,), gravity=(0.0, 0.0, -GRAVITY))


def test_a_heavy_top_precesses_steadily_with_order_four() -> None:
    tilt, precession, until = 0.7, 3.0, 0.3
    arm = pl.GeometricallyExact(degree=2).compile(top(tilt, precession))
    turned = precession * until
    # the axis, (0, -sin, cos) at the start, turned about the upright
    axis = np.array([np.sin(tilt) * np.sin(turned), -np.sin(tilt) * np.cos(turned), np.cos(tilt)])

    def tip(step: float) -> np.ndarray:
        run = pl.simulate(arm, until=until, integrator=pl.Gauss(order=4, step=step), outputs=2)
        # next to no energy is exchanged, beside 16 J of spin whose rounding remains
        assert np.abs(run.ledger.residual).max() < 1e-12 * run.ledger.kinetic[0]
        return np.asarray(run.tip_position[-1] / 0.5)

    errors = errors_over((0.01, 0.005, 0.0025), tip, axis)
    for coarse, fine in pairwise(errors):
        assert coarse / fine > 13.0, "16 for a method of fourth order"


def test_a_free_body_keeps_its_momentum_and_falls_on_a_parabola() -> None:
    """The linear momentum of weight, and the angular momentum about the centre of mass in the world."""
    inertia, centre = np.array([0.02, 0.03, 0.01]), np.array([0.0, 0.1, 0.3])
    body = pl.RigidLink("body", (0.0, 0.0, 0.5), 1.0, center_of_mass=tuple(centre), inertia=tuple(inertia))
    flight = pl.joints.FreeJoint(
        "flight", "base", "body", rotation=(0.8, 0.0, 0.6, 0.0), initial_rotation=(0.6, 0.8, 0.0, 0.0),
        initial_position=(0.3, 0.0, 0.1), initial_velocity=(1.0, 2.0, 3.0), initial_spin=(4.0, -2.0, 5.0),
    )  # fmt: skip
    robot = pl.Robot("flight", (body,), (flight,), gravity=(0.0, 0.0, -GRAVITY))
    arm, until = pl.GeometricallyExact(degree=2).compile(robot), 0.4

    def found(step: float) -> np.ndarray:
        run = pl.simulate(arm, until=until, integrator=pl.Gauss(order=4, step=step), outputs=2)
        assert run.ledger.worst_ratio < EXACT
        seen = arm.observe(run.states)
        R, root = seen.links[0].rotation[:, 0], seen.links[0].position[:, 0]
        V = run.state("twist")[:, -1]
        spin = np.einsum("nij,nj->ni", R, inertia * V[:, 3:])
        return np.concatenate([(root + R @ centre)[-1], spin[-1]])

    R = rotation_from_quaternion(np.array([0.8, 0.0, 0.6, 0.0])) @ rotation_from_quaternion(np.array([0.6, 0.8, 0, 0]))
    start = rotation_from_quaternion(np.array([0.8, 0.0, 0.6, 0.0])) @ [0.3, 0.0, 0.1] + R @ centre
    w = np.array([4.0, -2.0, 5.0])
    velocity = np.array([1.0, 2.0, 3.0]) + R @ np.cross(w, centre)
    wanted = start + velocity * until + 0.5 * until**2 * np.array([0.0, 0.0, -GRAVITY])
    errors = errors_over((0.02, 0.01), found, np.concatenate([wanted, R @ (inertia * w)]))
    assert errors[0] / errors[1] > 13.0, "16 for a method of fourth order"


def test_a_pendulum_on_a_shaken_base_and_the_work_of_the_base() -> None:
    """In the frame of a base that moves along x by X(t) the bob feels -m X'' at its centre of mass.

    The base gives the force  m (X'' + (l cos q)'')  along x, and the power of that force at X'.
    """
    motion, until = pl.motions.Quintic(0.0, 0.3, 0.4), 0.3

    def rates(t: float, y: np.ndarray) -> list[float]:
        _, speed, push = (float(each[0]) for each in motion.evaluate(np.array([t])))
        sine, cosine = np.sin(y[0]), np.cos(y[0])
        turn = MASS * LENGTH * (push * sine - GRAVITY * cosine) / ABOUT_PIN
        force = MASS * (push - LENGTH * (turn * sine + y[1] ** 2 * cosine))
        return [y[1], turn, force * speed]

    exact = solve_ivp(rates, (0.0, until), (0.2, 1.0, 0.0), "DOP853", rtol=2.3e-14, atol=1e-14, max_step=1e-3).y[:, -1]
    robot, moved = pendulum(0.2, 1.0), pl.BaseMotion(x=motion)

    def found(step: float) -> np.ndarray:
        run = swung(robot, until, 4, step, moved)
        return np.append(state_of_pin(run), run.ledger.works["base"][-1])

    errors = errors_over((0.02, 0.01), found, exact)
    assert errors[0] / errors[1] > 13.0, "16 for a method of fourth order"


def soft_mechanism(joint: pl.robot.Joint) -> pl.Robot:
    section = pl.GeneralSection(stiffness=6 * (60.0,), inertia=6 * (0.2,), damping=0.02)
    tool = pl.RigidLink("tool", (0.3, 0.0, 0.0), 0.4, center_of_mass=(0.15, 0.02, 0.0), inertia=(0.002, 0.003, 0.003))
    wrist = pl.joints.UniversalJoint(
        "wrist", "link", "tool", first_axis=(0.0, 0.0, 1.0), second_axis=(0.0, 1.0, 0.0),
        first=pl.joints.Coordinate(initial_rate=1.0, damping=0.05, spring=pl.joints.JointSpring(2.0)),
        second=pl.joints.Coordinate(initial_rate=-2.0, friction=pl.joints.Friction(0.05, smoothing_rate=0.5)),
    )  # fmt: skip
    links = pl.FlexibleLink("link", 1.0, section), tool
    return pl.Robot("mechanism", links, (joint, wrist), gravity=(0.0, 0.0, -GRAVITY))


FIRST = {
    "ball": pl.joints.SphericalJoint("first", "base", "link", initial_rate=(1.0, 2.0, -1.0), damping=0.1),
    "free": pl.joints.FreeJoint(
        "first", "base", "link", initial_velocity=(1.0, 0.0, 2.0), initial_spin=(1.0, 2.0, -1.0)
    ),
    "cylinder": pl.joints.CylindricalJoint("first", "base", "link", axis=(0.0, 1.0, 0.0)),
    "plane": pl.joints.PlanarJoint("first", "base", "link", normal=(0.0, 1.0, 0.0)),
}


@pytest.mark.parametrize("kind", FIRST)
def test_soft_mechanisms_move_as_those_of_refined_pose_elements(kind: str) -> None:
    """Pose elements of second order: 32 of them and steps of 0.25 ms are within 2e-4 of the reach of one metre."""
    robot, until, ends, names = soft_mechanism(FIRST[kind]), 0.05, [], []
    for formulation, gauss in (
        (pl.GeometricallyExact(degree=5), pl.Gauss(order=4, step=1e-3)),
        (pl.PoseElement(elements=32), pl.Gauss(order=2, step=2.5e-4)),
    ):
        arm = formulation.compile(robot)
        run = pl.simulate(arm, until=until, integrator=gauss, outputs=2)
        assert run.ending.completed
        assert run.ledger.worst_ratio < EXACT
        names.append(arm.joint_names)
        ends.append(run.tip_position[-1])
    assert names[0] == names[1]
    start = pl.PoseElement(2).compile(robot)
    moved = float(np.linalg.norm(ends[1] - start.tip(start.initial_state()[None])[0][0]))
    assert moved > 0.015
    assert np.abs(ends[0] - ends[1]).max() < 2e-4


RIGID = {
    "ball": (FIRST["ball"], (pl.JointTorque("first", pl.signals.Constant((0.5, 0.2, -0.3))),)),
    "free": (FIRST["free"], (pl.JointTorque("first", pl.signals.Constant((0.5, 0.2, -0.3, 0.1, 0.2, 0.3))),)),
    "gears": (
        FIRST["cylinder"],
        (
            pl.GearMotor("first.turn", 1e-4, 50.0, stiffness=300.0, damping=0.4),
            pl.JointPD(pl.motions.Hold(1.0), 30.0, 2.0, joints=["first.turn"]),
            pl.GearMotor("first.slide", 1e-4, 20.0),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RIGID)
def test_rigid_mechanisms_are_linearised_as_those_of_pose_elements(kind: str) -> None:
    """Rigid links are the same in both structures: all matrices, ports and what is held agree to rounding."""
    joint, parts = RIGID[kind]
    robot, found = soft_mechanism(joint), []
    rigid = replace(
        robot, links=(pl.RigidLink("link", (1.0, 0.0, 0.1), 1.0, center_of_mass=(0.4, 0.1, 0), inertia=(0.1, 0.2, 0.3)),
                      robot.links[1]),
    )  # fmt: skip
    for formulation in (pl.GeometricallyExact(degree=2), pl.PoseElement()):
        model = pl.connect(formulation.compile(rigid), *parts)
        found.append(model.linearise(model.initial_state(), model.inputs, 0.0))
    spectral, pose = found
    order = [[list(each.names).index(name) for name in sorted(each.names)] for each in found]
    assert sorted(spectral.names) == sorted(pose.names)
    for name in "MDK":
        one, other = (getattr(each, name)[np.ix_(at, at)] for each, at in zip(found, order))
        assert one == pytest.approx(other, abs=1e-11 * np.abs(other).max())
    assert spectral.unbalanced[order[0]] == pytest.approx(pose.unbalanced[order[1]], abs=1e-11)
    assert [each.port.name for each in spectral.ports] == [each.port.name for each in pose.ports]
    for one, other in zip(spectral.ports, pose.ports):
        assert one.rate[:, order[0]] == pytest.approx(other.rate[:, order[1]], abs=1e-12)
        assert one.shift[:, order[0]] == pytest.approx(other.shift[:, order[1]], abs=1e-11)


@pytest.mark.parametrize("kind", ["ball", "flight", "base"])
def test_states_inside_steps_are_those_of_the_motion(kind: str) -> None:
    """Frames of ball and free joints and of a moved base follow the polynomial of the step, of third order."""
    joints = {
        "ball": pl.joints.SphericalJoint("joint", "base", "bob", initial_rate=(1.0, 2.0, -0.5)),
        "flight": pl.joints.FreeJoint("joint", "base", "bob", initial_spin=(1.0, 2.0, -0.5)),
        "base": pl.RevoluteJoint("joint", "base", "bob"),
    }
    robot = pl.Robot("moved", (BOB,), (joints[kind],), gravity=DOWN)
    shaken = (pl.BaseMotion(y=pl.motions.Quintic(0.0, 0.3, 0.5)),) if kind == "base" else ()
    model = pl.connect(pl.GeometricallyExact(degree=2).compile(robot), *shaken)
    times = np.linspace(0.0, 0.5, 71)
    tips = [
        pl.simulate(model, 0.5, pl.Gauss(order=4, step=step), outputs=times).tip_position
        for step in (0.5 / 24, 0.5 / 48, 0.5 / 768)
    ]
    errors = [float(np.linalg.norm(each - tips[2], axis=1).max()) for each in tips[:2]]
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] > 6.0
