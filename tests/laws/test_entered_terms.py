"""Every term of the energy ledger against an answer that does not use the ledger.

A work that is entered wrongly twice would leave no residual; here each one stands alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import pliant as pl
from tests.support.arms import ASIDE, INERTIA, STIFFNESS, clamped, on_a_hinge, soft_link, tumbler, two_links

FINE = pl.GeometricallyExact(degree=7)
# The ledger is kept at the stages of the steps, the checks look at their ends: both agree only for motions
# that the steps resolve. So nothing begins with a jump, and material damping takes what begins all the same.
CALM = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=1e-3)
GAUSS = pl.Gauss(order=4, step=5e-4)
FORCE = np.array([0.3, -0.2, 0.4])
MOMENT = np.array([0.02, 0.05, -0.04])


def every_step(model: object, until: float = 1.0) -> pl.Trajectory:
    trajectory = pl.simulate(model, until, GAUSS, outputs=round(until / GAUSS.step))
    assert trajectory.ending.completed, trajectory.ending
    return trajectory


def integral(trajectory: pl.Trajectory, power: np.ndarray) -> float:
    """Over the whole run, by the spline of fifth degree through all steps."""
    spline = make_interp_spline(trajectory.time, power, k=5)
    return float(spline.integrate(trajectory.time[0], trajectory.time[-1]))


def test_gravity_lifts_a_rigid_pendulum() -> None:
    """m g times the fall of the centre of mass, which the joint angle alone tells."""
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1,) * 3)
    trajectory = every_step(FINE.compile(on_a_hinge(body, (0.0, -9.81, 0.0))))
    angle = trajectory.joint_position[:, 0]
    np.testing.assert_allclose(trajectory.ledger.gravity, -2.0 * 9.81 * 0.5 * np.sin(angle), atol=1e-10)


def test_gravity_lifts_a_bent_link_in_space() -> None:
    """Weight times the fall of the points of the axis, from the rebuilt shape at Gauss stations."""
    trajectory = every_step(FINE.compile(tumbler()))
    link = trajectory.source.model.observe(trajectory.states, stations=41).link("link")
    heights = link.position @ np.asarray(ASIDE)
    mean = make_interp_spline(link.station, heights, k=7, axis=1).antiderivative()
    lift = INERTIA[0] * np.array(mean(link.station[-1]) - mean(0.0))
    np.testing.assert_allclose(trajectory.ledger.gravity, lift - lift[0], atol=1e-6 * np.ptp(lift))
    assert np.ptp(lift) > 1.0


def test_a_constant_torque_works_on_the_angle() -> None:
    """Torque times turn, exactly: collocation integrates the rate to the change of angle."""
    arm = FINE.compile(two_links(ASIDE, section=CALM))
    torques = (pl.JointTorque("shoulder", pl.signals.Constant(0.7)), pl.JointTorque("elbow", pl.signals.Constant(-0.2)))
    trajectory = every_step(pl.connect(arm, *torques))
    turn = trajectory.joint_position - trajectory.joint_position[0]
    np.testing.assert_allclose(trajectory.ledger.works["shoulder"], 0.7 * turn[:, 0], atol=1e-11)
    np.testing.assert_allclose(trajectory.ledger.works["elbow"], -0.2 * turn[:, 1], atol=1e-11)


def test_a_changing_torque_works_at_the_rate() -> None:
    """Time integral of the known torque times the joint rate."""
    arm = FINE.compile(two_links(ASIDE, section=CALM))
    trajectory = every_step(pl.connect(arm, pl.JointTorque("elbow", pl.signals.Sine(0.5, 1.3))))
    power = 0.5 * np.sin(2.0 * np.pi * 1.3 * trajectory.time) * trajectory.joint_rate[:, 1]
    assert trajectory.ledger.works["elbow"][-1] == pytest.approx(integral(trajectory, power), rel=1e-6)


def test_a_joint_spring_gives_back_what_it_stores() -> None:
    """Stiffness: half k times the squared distance from the reference. Damping: integral of d rate^2."""
    arm = FINE.compile(on_a_hinge(soft_link(section=CALM), ASIDE))
    trajectory = every_step(pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), stiffness=2.0, damping=0.1)))
    stored = 0.5 * 2.0 * trajectory.joint_position[:, 0] ** 2
    np.testing.assert_allclose(trajectory.ledger.works["hinge"], stored[0] - stored, atol=1e-11)
    loss = integral(trajectory, 0.1 * trajectory.joint_rate[:, 0] ** 2)
    assert trajectory.ledger.joint_loss[-1] == pytest.approx(loss, rel=1e-6)


def test_a_moving_reference_feeds_the_joint() -> None:
    """Spring, damper and feedforward together: integral of the whole law times the rate."""
    reference = pl.motions.Quintic(0.0, 1.2, 0.6)
    law = pl.JointPD(reference, stiffness=6.0, damping=0.4, feedforward=pl.signals.Sine(0.3, 1.0))
    trajectory = every_step(pl.connect(FINE.compile(on_a_hinge(soft_link(section=CALM), ASIDE)), law))
    wanted, wanted_rate, _ = reference.evaluate(trajectory.time)
    angle, rate = trajectory.joint_position[:, 0], trajectory.joint_rate[:, 0]
    torque = 0.3 * np.sin(2.0 * np.pi * trajectory.time) - 6.0 * (angle - wanted) - 0.4 * (rate - wanted_rate)
    ledger = trajectory.ledger
    given = ledger.works["hinge"][-1] - ledger.joint_loss[-1]
    assert given == pytest.approx(integral(trajectory, torque * rate), rel=1e-5)
    halfway = 0.5 * (torque[1:] + torque[:-1])
    np.testing.assert_allclose(trajectory.efforts["hinge"][1:, 0], halfway, atol=1e-3)


def test_a_prescribed_rigid_body_takes_the_torque_of_its_inertia() -> None:
    """torque = I acceleration and work = I rate^2 / 2, with I about the axis."""
    body = pl.RigidLink("body", (0.8, 0.0, 0.0), mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1,) * 3)
    motion = pl.motions.Quintic(0.0, 2.0, 1.0)
    closed = pl.connect(FINE.compile(on_a_hinge(body)), pl.PrescribedMotion("hinge", motion))
    trajectory = every_step(closed)
    inertia = 0.1 + 2.0 * 0.5**2
    _, rate, _ = motion.evaluate(trajectory.time)
    np.testing.assert_allclose(trajectory.ledger.works["hinge"], 0.5 * inertia * rate**2, atol=1e-11)
    _, _, acceleration = motion.evaluate(trajectory.time[1:] - 0.5 * GAUSS.step)
    np.testing.assert_allclose(trajectory.efforts["hinge"][1:, 0], inertia * acceleration, atol=1e-4)


def test_a_prescribed_joint_works_with_its_torque() -> None:
    """Integral of the reported torque, a mean over each step, times the mean of the known rate."""
    motion = pl.motions.Quintic(0.3, 2.0, 1.0)
    closed = pl.connect(FINE.compile(two_links(ASIDE, section=CALM)), pl.PrescribedMotion("shoulder", motion))
    trajectory = every_step(closed)
    turn = np.diff(motion.evaluate(trajectory.time)[0])
    work = np.sum(trajectory.efforts["shoulder"][1:, 0] * turn)
    assert trajectory.ledger.works["shoulder"][-1] == pytest.approx(work, rel=1e-4)


def test_prescribed_coordinates_of_pose_elements_work_with_their_efforts() -> None:
    """A slide that carries a cardan joint that carries a bendy rod; axes that turn with later ones cost order one."""
    motions = {
        "rail": pl.motions.Quintic(0.0, 0.4, 1.0),
        "cardan.first": pl.motions.Quintic(0.2, 1.4, 1.0),
        "cardan.second": pl.motions.Quintic(-0.3, 0.9, 1.0),
    }
    cart = pl.RigidLink("cart", (0.1, 0.0, 0.0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    joints = (
        pl.PrismaticJoint("rail", "base", "cart", axis=(1.0, 0.0, 0.0)),
        pl.joints.UniversalJoint("cardan", "cart", "link"),
    )
    robot = pl.Robot("crane", (cart, soft_link(section=CALM)), joints, gravity=(0.0, -9.81, 1.0))
    arm = pl.PoseElement(3).compile(robot)
    assert set(arm.joint_names) == set(motions)
    model = pl.connect(arm, *(pl.PrescribedMotion(name, motion) for name, motion in motions.items()))
    run = pl.simulate(model, until=1.0, integrator=pl.Gauss(order=2, step=1e-3), outputs=1000)
    for name, motion in motions.items():
        parts = run.efforts[name][1:, 0] * np.diff(motion.evaluate(run.time)[0])
        exchanged = np.abs(parts).sum()
        assert exchanged > 0.05
        assert run.ledger.works[name][-1] == pytest.approx(parts.sum(), abs=2e-3 * exchanged), name


@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
def test_a_tip_wrench_works_on_the_tip(frame: pl.Frame) -> None:
    """Integral of force times velocity and moment times angular rate of the tip, both in the axes given."""
    amplitude = np.concatenate([FORCE, MOMENT])
    load = pl.TipWrench("lower", pl.signals.Sine(amplitude, 0.8), frame=frame, name="pull")
    trajectory = every_step(pl.connect(FINE.compile(two_links(ASIDE, section=CALM)), load))
    twist = trajectory.tip_twist
    if frame is pl.Frame.WORLD:
        twist = np.einsum("nij,ncj->nci", trajectory.tip_rotation, twist.reshape(-1, 2, 3)).reshape(-1, 6)
    power = twist @ amplitude * np.sin(2.0 * np.pi * 0.8 * trajectory.time)
    assert trajectory.ledger.works["pull"][-1] == pytest.approx(integral(trajectory, power), rel=1e-5)


def test_a_dead_force_works_on_the_path_of_the_tip() -> None:
    """Force times displacement, whatever way the tip took."""
    load = pl.TipWrench("lower", pl.signals.Constant((*FORCE, 0.0, 0.0, 0.0)), name="pull")
    trajectory = every_step(pl.connect(FINE.compile(two_links(ASIDE, section=CALM)), load))
    path = trajectory.tip_position - trajectory.tip_position[0]
    np.testing.assert_allclose(trajectory.ledger.works["pull"], path @ FORCE, atol=1e-6)


def test_a_dead_line_load_works_on_the_axis() -> None:
    """Force per length times the mean displacement of the axis times the length."""
    arm = FINE.compile(two_links(ASIDE, section=CALM))
    signal = pl.signals.Constant((*FORCE, 0.0, 0.0, 0.0))
    trajectory = every_step(pl.connect(arm, pl.DistributedWrench("lower", signal, name="wind")), 0.6)
    link = trajectory.source.model.observe(trajectory.states[[0, -1]], stations=41).link("lower")
    along = make_interp_spline(link.station, (link.position[1] - link.position[0]) @ FORCE, k=7)
    expected = float(along.integrate(0.0, link.station[-1]))
    assert trajectory.ledger.works["wind"][-1] == pytest.approx(expected, rel=1e-5)


def test_a_following_line_load_works_on_the_axis() -> None:
    """Spin about the hinge: the tangential force per length f works f times the angle times length^2 / 2."""
    stiff = tuple(1e4 * np.array(STIFFNESS))
    robot = on_a_hinge(soft_link(section=pl.GeneralSection(stiffness=stiff, inertia=INERTIA)))
    signal = pl.signals.Constant((0.0, 0.5, 0.0, 0.0, 0.0, 0.03))
    trajectory = every_step(pl.connect(FINE.compile(robot), pl.DistributedWrench("link", signal, pl.Frame.BODY)))
    turn = trajectory.joint_position[-1, 0]
    assert turn > 1.0
    assert trajectory.ledger.works["link_distributed_wrench"][-1] == pytest.approx(turn * (0.25 + 0.03), rel=1e-3)


def damped_energy(omega: float, decay: float) -> Callable[[np.ndarray], np.ndarray]:
    """Energy over its start value of x'' + 2 decay x' + omega^2 x = 0 released from rest at x = 1."""
    fast = np.sqrt(omega**2 - decay**2)

    def energy(t: np.ndarray) -> np.ndarray:
        shrink = np.exp(-decay * t)
        position = shrink * (np.cos(fast * t) + decay / fast * np.sin(fast * t))
        rate = -shrink * omega**2 / fast * np.sin(fast * t)
        return np.asarray(position**2 + (rate / omega) ** 2)

    return energy


@pytest.mark.parametrize("inside", [True, False], ids=["material", "external"])
@pytest.mark.parametrize("component", [0, 3], ids=["stretching", "twisting"])
def test_damping_takes_what_a_damped_oscillator_loses(component: int, inside: bool) -> None:
    """The first mode of a bar in extension or torsion: shape cos(pi s / 2L), omega = pi c / 2L.

    Kelvin-Voigt damping of time constant tau has decay tau omega^2 / 2; a drag d per length has d / 2 rho.
    Extension and torsion of a straight link alone are linear in this model, at any amplitude.
    """
    omega = 0.5 * np.pi * np.sqrt(STIFFNESS[component] / INERTIA[component])
    time_constant, drag = (0.2 / omega, 0.0) if inside else (0.0, 0.2 * omega * INERTIA[component])
    section = pl.GeneralSection(stiffness=STIFFNESS, inertia=INERTIA, damping=time_constant)
    arm = FINE.compile(clamped(soft_link(section=section, viscous_damping=(drag,) * 6)))
    state = arm.initial_state()
    points = arm.placed.points[0]
    arm.layout.part(state, "strain")[:, component] = 0.1 * np.cos(0.5 * np.pi * points)
    period = 2.0 * np.pi / omega
    trajectory = pl.simulate(arm, period, pl.Gauss(4, period / 400), initial=state, outputs=50)
    start = 0.25 * STIFFNESS[component] * 0.1**2  # half the stiffness times the mean of cos^2
    expected = start * damped_energy(omega, 0.1 * omega)(trajectory.time)
    np.testing.assert_allclose(trajectory.ledger.stored, expected, rtol=1e-7)
    loss, other = trajectory.ledger.material_loss, trajectory.ledger.viscous_loss
    if not inside:
        loss, other = other, loss
    np.testing.assert_allclose(loss, start - expected, atol=1e-7 * start)
    assert not other.any()


def test_the_projection_takes_little_and_only_takes() -> None:
    """The jump it removes has the order of the step's polynomial, so its energy falls fast with the step."""
    arm = pl.GeometricallyExact(degree=4).compile(two_links(ASIDE, rates=(2.0, -3.0)))
    losses = []
    for step in (4e-3, 2e-3, 1e-3):
        ledger = pl.simulate(arm, 1.0, pl.Gauss(order=4, step=step)).ledger
        assert np.all(np.diff(ledger.projection_loss) >= 0.0)
        losses.append(ledger.projection_loss[-1])
    assert losses[0] > 10.0 * losses[1] > 100.0 * losses[2]
    assert losses[0] < 1e-5 * ledger.exchanged[-1]
