"""Linearised motions that can be written down: pendulums, loops, gears, walls, friction, rotating beams."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import legendre

import pliant as pl
from pliant.experiments import closed_form
from tests.support import four_bar

G = 9.81
HANGING = -np.pi / 2


def rod(name, length, mass):
    """A thin rigid rod along x."""
    return pl.RigidLink(
        name,
        tip_position=(length, 0, 0),
        mass=mass,
        center_of_mass=(length / 2, 0, 0),
        inertia=(0.0, mass * length**2 / 12, mass * length**2 / 12),
    )


def pendulum(start, gravity=G, **joint):
    hinge = pl.RevoluteJoint("hinge", "base", "rod", initial_position=start, **joint)
    return pl.Robot("pendulum", (rod("rod", 0.8, 1.5),), (hinge,), gravity=(0, -gravity, 0))


# of a thin rod about its end: m L^2 / 3, weight at L / 2
INERTIA, TORQUE = 1.5 * 0.8**2 / 3, 1.5 * G * 0.4


@pytest.mark.parametrize("formulation", [pl.PoseElement(), pl.GeometricallyExact()])
def test_a_pendulum_swings_about_hanging_and_falls_from_standing(formulation):
    hanging = pl.modes(formulation.compile(pendulum(HANGING)))
    assert hanging.frequency == pytest.approx([np.sqrt(TORQUE / INERTIA) / (2 * np.pi)], rel=1e-12)
    standing = pl.modes(formulation.compile(pendulum(-HANGING)))
    assert standing.eigenvalue == pytest.approx([np.sqrt(TORQUE / INERTIA)], rel=1e-12)


def test_a_parallelogram_of_rigid_rods_swings_as_one_pendulum():
    """Two cranks (a, m) carry a coupler (mc) that only translates: (2 m a^2/3 + mc a^2) q'' + (m + mc) g a q = 0."""
    a, m, mc, wide = 0.5, 0.7, 1.9, 0.3
    quarter = (np.sqrt(0.5), 0, 0, np.sqrt(0.5))  # the coupler is horizontal when the cranks hang
    robot = pl.Robot(
        "swing",
        (rod("left", a, m), rod("coupler", wide, mc), rod("right", a, m)),
        (
            pl.RevoluteJoint("left_hinge", "base", "left", initial_position=HANGING),
            pl.RevoluteJoint("corner", "left", "coupler", rotation=quarter),
            pl.RevoluteJoint("right_hinge", "base", "right", position=(wide, 0, 0), initial_position=HANGING),
        ),
        gravity=(0, -G, 0),
        loops=(pl.joints.LoopJoint("pin", pl.joints.LoopKind.REVOLUTE, pl.At("coupler"), pl.At("right")),),
    )
    found = pl.modes(pl.PoseElement().compile(robot))
    expected = np.sqrt((m + mc) * G * a / ((2 / 3 * m + mc) * a**2))
    assert found.eigenvalue == pytest.approx([1j * expected], rel=1e-10)


def test_a_gear_between_rotor_and_link():
    """J r'' = -k (r - q) - d (r' - q'), I q'' = k (r - q) + d (r' - q'); the sum turns freely."""
    k, d, rotor, ratio = 90.0, 0.02, 1e-4, 50.0
    J = rotor * ratio**2
    arm = pl.PoseElement().compile(pendulum(0.0, gravity=0.0))
    motor = pl.GearMotor("hinge", rotor_inertia=rotor, ratio=ratio, stiffness=k, damping=d)
    found = pl.modes(pl.connect(arm, motor)).eigenvalue
    both = 1 / INERTIA + 1 / J
    swing = -d * both / 2 + 1j * np.sqrt(k * both - (d * both / 2) ** 2)
    assert found[0] == 0.0
    assert found[1:] == pytest.approx([swing], rel=1e-9)
    stiff = pl.GearMotor("hinge", rotor_inertia=rotor, ratio=ratio)
    hanging = pl.connect(pl.PoseElement().compile(pendulum(HANGING)), stiff)
    assert pl.modes(hanging).eigenvalue == pytest.approx([1j * np.sqrt(TORQUE / (INERTIA + J))], rel=1e-12)


def test_a_rod_that_rests_on_a_wall():
    """Depth L sin q below the wall carries half the weight: I q'' + c (L cos q)^2 q' + k (L cos q)^2 q = 0."""
    k, c, length = 3e3, 8.0, 0.8
    arm = pl.PoseElement().compile(pendulum(0.0))
    wall = pl.Wall("floor", pl.At("rod"), (0, 0, 0), (0, 1, 0), stiffness=k, damping=c)
    model = pl.connect(arm, wall)
    balanced = pl.equilibrium(model)
    q = arm.layout.part(balanced.state, "joint_position")[0]
    assert length * np.sin(q) == pytest.approx(-1.5 * G / 2 / k, rel=1e-9)
    lever = (length * np.cos(q)) ** 2
    expected = np.roots([INERTIA, c * lever, k * lever])
    assert pl.modes(model, balanced.state).eigenvalue == pytest.approx([expected[expected.imag > 0][0]], rel=1e-9)
    above = arm.initial_state(np.array([0.2]))
    small = model.linearise(above, model.inputs, 0.0)
    # not touching: only gravity, whose torque falls with the sine; the rod falls, so this is no equilibrium
    assert pytest.approx(np.array([[-TORQUE * np.sin(0.2)]]), rel=1e-12) == small.K
    assert not small.fundamental
    assert small.unbalanced == pytest.approx([-TORQUE * np.cos(0.2)], rel=1e-12)


def test_friction_stops_and_springs_of_a_joint_that_moves():
    friction = pl.joints.Friction(coulomb=0.4, static=0.7, stribeck_rate=0.3, smoothing_rate=0.01)
    limits = pl.joints.Limits(lower=-1.0, upper=0.5, stiffness=200.0, damping=1.5)
    spring = pl.joints.JointSpring(stiffness=4.0, rest_position=0.1)
    robot = pendulum(0.6, 0.0, initial_rate=0.2, friction=friction, limits=limits, spring=spring, damping=0.05)
    arm = pl.PoseElement().compile(robot)
    small = arm.linearise(arm.initial_state(), arm.inputs, 0.0)

    def effort(q, rate):
        dry = (0.4 + 0.3 * np.exp(-((rate / 0.3) ** 2))) * np.tanh(rate / 0.01)
        return -4.0 * (q - 0.1) - 0.05 * rate - dry - 200.0 * (q - 0.5) - 1.5 * rate

    h = 1e-6
    assert pytest.approx(np.array([[INERTIA]]), rel=1e-12) == small.M
    assert small.unbalanced == pytest.approx([effort(0.6, 0.2)], rel=1e-12)
    assert small.K[0, 0] == pytest.approx(-(effort(0.6 + h, 0.2) - effort(0.6 - h, 0.2)) / (2 * h), rel=1e-8)
    assert small.D[0, 0] == pytest.approx(-(effort(0.6, 0.2 + h) - effort(0.6, 0.2 - h)) / (2 * h), rel=1e-6)


def test_a_ball_joint_swings_in_two_planes_and_spins_freely():
    link = pl.RigidLink(
        "bob", tip_position=(0.8, 0, 0), mass=1.5, center_of_mass=(0.4, 0, 0), inertia=(0.01, 0.08, 0.08)
    )
    down = (np.sqrt(0.5), 0, 0, -np.sqrt(0.5))
    ball = pl.joints.SphericalJoint("ball", "base", "bob", initial_rotation=down)
    arm = pl.PoseElement().compile(pl.Robot("bob", (link,), (ball,), gravity=(0, -G, 0)))
    swing = np.sqrt(1.5 * G * 0.4 / (0.08 + 1.5 * 0.4**2))
    found = pl.modes(arm)
    assert found.eigenvalue == pytest.approx([0.0, 1j * swing, 1j * swing], rel=1e-10, abs=1e-6)
    system = pl.linearize(arm)
    gain = pl.frequency_response(system, "ball.torque[2]", "ball.spin[2]", [0.3])
    s = 2j * np.pi * 0.3
    assert gain.gain == pytest.approx([s / ((0.08 + 1.5 * 0.4**2) * (s**2 + swing**2))], rel=1e-10)


def rotating_beam_frequencies(speed, count, terms=14):
    """Flapping of a clamped inextensible beam that turns about its root (Ritz, EI = rho = L = 1), in rad/s.

    int w''^2 + speed^2 / 2 int (1 - x^2) w'^2 = omega^2 int w^2, with polynomials x^2 P_k(2 x - 1).
    """
    x, weights = legendre.leggauss(40)
    x, weights = (x + 1) / 2, weights / 2
    bases = []
    for k in range(terms):
        p = legendre.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial)
        bases.append(np.polynomial.Polynomial([0, 0, 1]) * p)
    w, w1, w2 = (np.array([b.deriv(d)(x) if d else b(x) for b in bases]) for d in (0, 1, 2))
    K = (w2 * weights) @ w2.T + speed**2 / 2 * (w1 * (weights * (1 - x**2))) @ w1.T
    return np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve((w * weights) @ w.T, K)).real))[:count]


def turning(formulation, speed):
    """A slender beam that rotates steadily about z, and its steady state by Newton's method."""
    radius = 1e-4
    section = pl.GeneralSection(stiffness=(radius**-2,) * 3 + (1.0,) * 3, inertia=(1.0,) * 3 + (radius**2,) * 3)
    joint = pl.RevoluteJoint("hub", "base", "beam")
    arm = formulation.compile(pl.Robot("beam", (pl.FlexibleLink("beam", 1.0, section),), (joint,)))
    motion = pl.motions.FunctionMotion(lambda t: (speed * t, speed + 0 * t, 0 * t))
    model = pl.connect(arm, pl.PrescribedMotion("hub", motion))
    state = model.initial_state(np.zeros(1), np.array([speed]))
    for _ in range(6):
        small = model.linearise(state, model.inputs, 0.0)
        state = small.state_at(np.linalg.solve(small.K, small.unbalanced), np.zeros(len(small.M)))
    assert np.abs(model.linearise(state, model.inputs, 0.0).unbalanced).max() < 1e-6
    return model, state


@pytest.mark.parametrize(
    ("formulation", "tolerance"), [(pl.GeometricallyExact(degree=10), 2e-5), (pl.PoseElement(40), 2e-3)]
)
def test_a_beam_that_turns_is_stiffer_and_softer_in_its_plane(formulation, tolerance):
    """Flapping by Ritz, lagging omega^2 less by speed^2; slender to 1e-6, pose elements of second order in 1/40."""
    speed = 5.0
    model, state = turning(formulation, speed)
    flap = rotating_beam_frequencies(speed, 2)
    assert flap[0] == pytest.approx(6.4495, abs=1e-4)  # the number that handbooks print for this speed
    lag = np.sqrt(flap**2 - speed**2)
    expected = np.sort(np.concatenate([flap, lag]))
    found = pl.modes(model, state, count=4)
    assert np.abs(found.eigenvalue) == pytest.approx(expected, rel=tolerance)
    assert found.damping_ratio == pytest.approx(np.zeros(4), abs=1e-6)


def test_pose_elements_have_the_exact_frequencies_to_second_order():
    beam = pl.load(pl.library.path("wang_beam")).links[0]
    C, M = beam.stiffness(0.0)[0], beam.inertia(0.0)[0]
    exact = closed_form.TimoshenkoBeam(beam.length, M[0, 0], M[5, 5], C[5, 5], C[1, 1])
    for end, held in ((closed_form.CLAMPED, True), (closed_form.PINNED, False)):
        known = closed_form.natural_frequencies(exact, 2, root=end)
        errors = []
        for elements in (20, 40, 80):
            arm = pl.PoseElement(elements).compile(pl.load(pl.library.path("wang_beam")))
            model = pl.connect(arm, pl.PrescribedMotion("hub", pl.motions.Hold(0.0))) if held else arm
            errors.append([np.abs(pl.modes(model, count=8).frequency / f - 1).min() for f in known])
        order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
        assert order == pytest.approx(2.0, abs=0.15), order


def test_a_four_bar_swings_about_where_it_comes_to_rest():
    """Its equation of one degree of freedom in closed form, differentiated at the equilibrium."""
    arm = pl.PoseElement().compile(four_bar.robot())
    balanced = pl.equilibrium(arm)
    assert balanced.ending.completed
    crank = float(arm.layout.part(balanced.state, "joint_position")[0])
    assert four_bar.acceleration(crank, 0.0) == pytest.approx(0.0, abs=1e-8)
    h = 1e-4
    slope = (four_bar.acceleration(crank + h, 0.0) - four_bar.acceleration(crank - h, 0.0)) / (2 * h)
    assert slope < 0.0
    assert pl.modes(arm, balanced.state).eigenvalue == pytest.approx([1j * np.sqrt(-slope)], rel=1e-7)


@pytest.mark.parametrize("formulation", [pl.PoseElement(40), pl.GeometricallyExact(degree=10)])
def test_a_free_joint_of_a_steel_link_has_a_pole_at_zero_exactly(formulation):
    """Beside axial modes a thousand times faster than the first bending mode."""
    arm = formulation.compile(pl.load(pl.library.path("steel_strip")))
    found = pl.modes(arm, count=2).eigenvalue
    assert found[0] == 0.0
    assert found[1].imag == pytest.approx(115.096, rel=1e-3)  # converged spectral value, degree 12
