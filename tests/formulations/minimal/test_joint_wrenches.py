"""What joints of rigid and lumped arms transmit: by hand, in statics, and as the other formulations say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from tests.analysis.test_moved_base import rigid_tree
from tests.support import four_bar
from tests.support.lumped_arms import WITH_TORSION, clamped, condensed, two_stations

GRAVITY = (1.0, -9.0, 2.0)
PUSH = (0.5, 0.2, 0.3, 1.0, 2.0, 0.1)


@pytest.mark.parametrize("integrator", [pl.Gauss(order=2, step=1e-3), pl.RungeKuttaGill(step=1e-3)])
def test_the_pin_of_a_pendulum_carries_what_newton_and_euler_say(integrator: object) -> None:
    """A bar that swings about z: the motion of its centre and its turn by hand, from the angle and rate of the run."""
    m, J, c = 1.5, (0.02, 0.03, 0.05), np.array([0.3, 0.1, 0.2])
    bar = pl.RigidLink("bar", (0.6, 0.0, 0.0), m, center_of_mass=tuple(c), inertia=J)
    pin = pl.RevoluteJoint("pin", "base", "bar", initial_position=0.4, initial_rate=2.0, damping=0.05)
    arm = pl.Rigid().compile(pl.Robot("pendulum", (bar,), (pin,), gravity=GRAVITY))
    run = pl.simulate(arm, until=0.5, integrator=integrator, outputs=7)
    for angle, rate, wrench in zip(run.joint_position[:, 0], run.joint_rate[:, 0], run.efforts["pin.wrench"]):
        g = np.array(
            [
                np.cos(angle) * GRAVITY[0] + np.sin(angle) * GRAVITY[1],
                np.cos(angle) * GRAVITY[1] - np.sin(angle) * GRAVITY[0],
                GRAVITY[2],
            ]
        )
        turn = np.array([0.0, 0.0, rate])
        about_pin = J[2] + m * (c[0] ** 2 + c[1] ** 2)
        spun = np.array([0.0, 0.0, (m * np.cross(c, g)[2] - 0.05 * rate) / about_pin])
        force = m * (np.cross(spun, c) + np.cross(turn, np.cross(turn, c)) - g)
        moment = np.cross(c, force) + J * spun + np.cross(turn, J * turn)
        assert wrench == pytest.approx(np.append(force, moment), abs=1e-12)
        assert wrench[5] == pytest.approx(-0.05 * rate, abs=1e-12)  # all that the pin transmits along its axis


def test_the_geometrically_exact_formulation_transmits_the_same_through_rigid_links() -> None:
    """Its wrenches are means over steps, ours by Simpson's rule. The foot is fixed, with a load of its own."""
    robot, step, count = rigid_tree(), 5e-3, 20
    parts = (
        pl.TipWrench("c", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="pull"),
        pl.TipWrench("z", pl.signals.Constant(PUSH), frame=pl.Frame.BODY, name="kick"),
        pl.JointPD(pl.motions.Hold(0.3), 40.0, 0.5, joints=["j1"]),
    )
    exact = pl.simulate(
        pl.connect(pl.GeometricallyExact().compile(robot), *parts),
        until=count * step,
        integrator=pl.Gauss(order=8, step=step),
        outputs=count,
    )
    rigid = pl.simulate(
        pl.connect(pl.Rigid().compile(robot), *parts),
        until=count * step,
        integrator=pl.RungeKuttaGill(step=0.5 * step),
        outputs=2 * count,
    )
    for joint in robot.joints:
        ours, theirs = (run.efforts[f"{joint.name}.wrench"] for run in (rigid, exact))
        mean = (ours[:-2:2] + 4.0 * ours[1::2] + ours[2::2]) / 6.0
        # Newton's method of the other formulation turns gravity no further than its own accuracy asks for
        assert mean == pytest.approx(theirs[1:], abs=1e-8 * np.abs(theirs).max()), joint.name


@pytest.mark.bounds
def test_pins_of_a_four_bar_carry_the_forces_of_its_loop() -> None:
    """Newton and Euler in the plane: pins transmit no moment, from which the force of the loop follows twice over."""
    robot, d = four_bar.robot(), 1e-3
    times = 0.2 + d * np.arange(-2, 3)
    run = pl.simulate(pl.Rigid().compile(robot), until=0.21, integrator=pl.RungeKuttaGill(step=1e-4), outputs=times)
    first = int(np.argmin(np.abs(run.time - times[0])))
    rows, now = slice(first, first + 5), first + 2

    def at_the_middle(values: np.ndarray) -> np.ndarray:
        """Second derivative by central differences of fourth order."""
        return (16.0 * (values[1] + values[3]) - values[0] - values[4] - 30.0 * values[2]) / (12.0 * d * d)

    def moment(lever: np.ndarray, force: np.ndarray) -> float:
        return float(lever[0] * force[1] - lever[1] * force[0])

    force, center, spin, pin = {}, {}, {}, {}
    for link in robot.links:
        seen = run.link(link.name)
        R, x = seen.rotation[rows, 0], seen.position[rows, 0]
        place = x + R @ np.asarray(link.center_of_mass)
        force[link.name] = link.mass * (at_the_middle(place) - robot.gravity)[:2]
        center[link.name], pin[link.name] = place[2, :2], x[2, :2]
        angle = np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0]))
        spin[link.name] = np.asarray(link.inertia)[2, 2] * at_the_middle(angle)
    end = run.link("coupler").position[now, -1, :2]
    # what the rocker exerts on the coupler, with the sign of its effect on all that hangs on each pin
    joint_types = {"crank": (("crank", "coupler"), 1.0), "coupler": (("coupler",), 1.0), "rocker": (("rocker",), -1.0)}
    needed, arms = [], []
    for link, (links, sign) in joint_types.items():
        needed.append(sum(spin[each] + moment(center[each] - pin[link], force[each]) for each in links))
        arms.append(sign * np.array([-(end - pin[link])[1], (end - pin[link])[0]]))
    loop, left, _, _ = np.linalg.lstsq(np.array(arms), np.array(needed), rcond=None)
    assert left[0] < 1e-12 * np.abs(needed).max() ** 2
    assert np.abs(loop).max() > 1.0
    for joint in robot.joints:
        links, sign = joint_types[joint.child]
        R = run.link(joint.child).rotation[now, 0, :2, :2]
        wrench = run.efforts[f"{joint.name}.wrench"][now]
        expected = R.T @ (sum(force[each] for each in links) - sign * loop)
        assert wrench[:2] == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
        assert wrench[5] == pytest.approx(0.0, abs=1e-10)


def test_joints_of_resting_lumped_arms_hold_the_weight_behind_them() -> None:
    """Bodies and points, fields bent by their weight: levers are those of the bent arm."""
    for arm in (
        clamped(condensed(two_stations(0.7, gravity=GRAVITY), WITH_TORSION)),
        clamped(pl.Lumped(3).compile(replace(pl.load(pl.library.path("two_link_planar")), gravity=GRAVITY))),
    ):
        balanced = pl.equilibrium(arm)
        run = pl.simulate(arm, until=1e-3, initial=balanced.state, integrator=pl.Gauss(order=2, step=1e-3), outputs=1)
        structure, robot = arm.arm.structure, arm.robot
        for joint in robot.joints:
            masses = [part for part in structure.parts if part.link in behind(robot, joint.child)]
            weight = sum(part.inertia[0, 0] for part in masses)
            R, x = arm.arm.bare.dynamics.poses(arm.arm.coordinates(arm.arm.bare, balanced.state)[0])
            root = structure.link(joint.child).root
            turn, origin = R[root.body] @ root.rotation, x[root.body] + R[root.body] @ root.position
            moment = sum(
                np.cross(part.inertia[0, 0] * (x[part.body] - origin) + R[part.body] @ first(part), -np.array(GRAVITY))
                for part in masses
            )
            expected = np.append(turn.T @ (-weight * np.array(GRAVITY)), turn.T @ moment)
            assert run.efforts[f"{joint.name}.wrench"][-1] == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


def behind(robot: pl.Robot, link: str) -> set[str]:
    found = {link}
    for joint in robot.chain_order:
        if joint.parent in found:
            found.add(joint.child)
    return found


def first(part: object) -> np.ndarray:
    """Mass times the centre of mass in the frame of the body."""
    S = part.inertia[3:, :3]
    return np.array([S[2, 1], S[0, 2], S[1, 0]])


def test_along_its_axis_a_servoed_joint_transmits_its_torque() -> None:
    robot = pl.load(pl.library.path("two_link_planar"))
    servo = pl.control.VelocityServo(gain=0.5, period=2e-3, joints=["shoulder"])
    loop = pl.control.PositionLoop(pl.motions.Hold(0.2), gain=3.0, period=1e-2, joints=["shoulder"])
    model = pl.connect(pl.Lumped(2).compile(robot), servo, loop)
    run = pl.simulate(model, until=0.05, integrator=pl.Gauss(order=2, step=1e-3), outputs=50)
    along = run.efforts["shoulder.wrench"][:, 5]
    assert np.abs(along).max() > 0.1
    assert along == pytest.approx(run.efforts["shoulder"][:, 0], abs=1e-10)
