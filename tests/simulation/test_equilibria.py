"""What an equilibrium says of itself: what is unbalanced, what holds it, whether it stays, how far a model reaches."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Stability
from pliant.model.state import Cause

SLENDER = 1e-3  # side of the section of a beam of length 1; shear and rotary inertia change frequencies by 1e-5
# Flapping of a uniform cantilever on a hub without radius at the speed 12, both in units of sqrt(EI / (rho A L^4)):
# A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, Vibration modes of centrifugally stiffened beams, Journal
# of Applied Mechanics 49 (1982) 197-202, Table 1
FLAPPING = (13.1702, 37.6031, 79.6145)
CARRY_TURNS = {
    "spectral": (pl.GeometricallyExact(degree=10), 2e-5),
    "mixed": (pl.MixedElement(elements=40), 6e-3),  # second order in the elements
    "pose": (pl.PoseElement(elements=40), 1e-3),
    "corotational": (pl.Corotational(elements=40), 2e-3),
    "lumped": (pl.Lumped(fields=40), 6e-3),
}


def turning(side):
    """A square beam with EI = 1, rho A = 1, L = 1 on a hub about z."""
    area, shear, twist = 12.0 / side**2, 5.0 * side**-2, 1.0
    section = pl.GeneralSection(
        stiffness=(area, shear, shear, twist, 1.0, 1.0), inertia=(1.0, 1.0, 1.0, *(side**2 / 12 * np.array([2, 1, 1])))
    )
    beam = pl.FlexibleLink(name="beam", length=1.0, section=section)
    hub = pl.RevoluteJoint(name="hub", parent="base", child="beam", axis=(0, 0, 1))
    return pl.Robot(name="turning", links=(beam,), joints=(hub,))


def test_published_frequencies_are_those_of_the_equation():
    """EI w_xxxx - (T w_x)_x = omega^2 w, T = speed^2 (1 - x^2) / 2, by polynomials that are clamped at the root."""
    x, weights = np.polynomial.legendre.leggauss(40)
    x, weights = 0.5 * (x + 1.0), 0.5 * weights
    clamp, legendre = np.polynomial.Legendre([1 / 3, 1 / 2, 1 / 6], [0, 1]), np.polynomial.Legendre
    shapes = [clamp * legendre.basis(k, [0, 1]) for k in range(12)]
    w, slope, bend = (np.array([each.deriv(n)(x) if n else each(x) for each in shapes]) for n in range(3))
    K = (bend * weights) @ bend.T + (slope * (weights * 72.0 * (1.0 - x**2))) @ slope.T
    values = np.linalg.eigvals(np.linalg.solve((w * weights) @ w.T, K))
    assert np.sqrt(np.sort(values.real)[:3]) == pytest.approx(FLAPPING, abs=5e-5)


def steel_rod(gravity=(0.0, -9.81, 0.0), angle=0.0):
    """A rod of 1 m and 1 kg on a hinge about z."""
    steel = pl.Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
    side = float(np.sqrt(1.0 / 7850.0))
    rod = pl.FlexibleLink(name="rod", length=1.0, section=pl.Rectangle(height=side, width=side), material=steel)
    pin = pl.RevoluteJoint(name="pin", parent="base", child="rod", axis=(0, 0, 1), initial_position=angle)
    return pl.Robot(name="rod_on_a_pin", links=(rod,), joints=(pin,), gravity=gravity)


def held(arm, place=0.0):
    return pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(place)) for name in arm.joint_names))


FORMULATIONS = {
    "spectral": pl.GeometricallyExact(degree=4),
    "pose": pl.PoseElement(elements=8),
    "lumped": pl.Lumped(fields=4),
    "rigid": pl.Rigid(),
    "equivalent": pl.EquivalentRigidLink(elements=2),
}


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_a_rod_on_a_free_pin_says_which_torque_is_missing(formulation):
    """Weight of 9.81 N on half of a metre, a little less for the sag; nothing holds the pin."""
    found = pl.equilibrium(formulation.compile(steel_rod()))
    assert found.held == ("pin",)
    assert found.unbalanced["pin"] == pytest.approx(-0.5 * 9.81, rel=1e-4)
    assert found.ending.cause is Cause.UNBALANCED
    assert not found.ending.completed
    assert "'pin', which lacks -4.9 N m" in str(found.ending)
    assert "PrescribedMotion or JointPD" in str(found.ending)


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_what_holds_a_rod_is_told(formulation):
    """The holding torque and the reaction of the base are those of the weight, 9.81 N at half a metre."""
    found = pl.equilibrium(held(formulation.compile(steel_rod())))
    assert found.ending.completed
    assert found.held == ()
    assert found.unbalanced == {}
    assert found.steady
    assert found.stability is Stability.STABLE
    assert found.efforts["pin"] == pytest.approx([0.5 * 9.81], rel=1e-4)
    wrench = found.efforts["base.wrench"]
    assert wrench[:3] == pytest.approx([0.0, 9.81, 0.0], abs=1e-6)
    assert wrench[3:] == pytest.approx([0.0, 0.0, found.efforts["pin"][0]], abs=1e-9)


def test_feedback_holds_with_its_own_torque():
    arm = pl.Rigid().compile(steel_rod())
    found = pl.equilibrium(pl.connect(arm, pl.JointPD(pl.motions.Hold(0.0), stiffness=100.0, damping=1.0)))
    angle = arm.layout.part(found.state, "joint_position")[0]
    assert found.ending.completed
    assert found.held == ()
    # 100 N m/rad against the weight at the angle at which it rests
    assert found.efforts["pin"] == pytest.approx([-100.0 * angle])
    assert found.efforts["pin"] == pytest.approx([0.5 * 9.81 * np.cos(angle)])


@pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS)
def test_a_rod_hangs_stably_stands_unstably_and_floats_neutrally(formulation):
    for angle, gravity, expected in (
        (-np.pi / 2, (0.0, -9.81, 0.0), Stability.STABLE),
        (np.pi / 2, (0.0, -9.81, 0.0), Stability.UNSTABLE),
        (0.3, (0.0, 0.0, 0.0), Stability.NEUTRAL),
    ):
        found = pl.equilibrium(formulation.compile(steel_rod(gravity, angle)))
        assert (found.ending.completed, found.stability) == (True, expected), angle


@pytest.mark.parametrize("name", CARRY_TURNS)
def test_modes_of_a_beam_that_turns_are_those_of_the_steady_turn(name):
    formulation, within = CARRY_TURNS[name]
    model = pl.connect(formulation.compile(turning(SLENDER)), pl.PrescribedMotion("hub", steady(12.0)))
    rates = np.abs(pl.modes(model, count=7).eigenvalue)
    for expected in FLAPPING:
        assert np.abs(rates / expected - 1.0).min() < within, (expected, rates)
    # in the plane the hub takes its square: omega^2 = flapping^2 - speed^2, from the same equations
    assert np.abs(rates / np.sqrt(FLAPPING[0] ** 2 - 144.0) - 1.0).min() < 4 * within


def steady(rate):
    return pl.motions.FunctionMotion(lambda t: (rate * t, rate + 0 * t, 0 * t))


@pytest.mark.parametrize("name", CARRY_TURNS)
def test_a_steady_turn_lasts(name):
    """The root pulls with rho A L omega^2 L / 2 = 72, and a run from there changes no strain."""
    formulation, _ = CARRY_TURNS[name]
    model = pl.connect(formulation.compile(turning(SLENDER)), pl.PrescribedMotion("hub", steady(12.0)))
    found = pl.equilibrium(model)
    assert found.ending.completed
    assert found.steady
    assert found.stability is Stability.STABLE
    # the stretch 144 / (3 EA) of the tip adds a little
    assert found.efforts["base.wrench"] == pytest.approx([-72.0, 0, 0, 0, 0, 0], abs=1e-3)
    run = pl.simulate(model, until=0.02, initial=found.state, integrator=pl.Gauss(order=2, step=1e-3))
    start, end = (run.observation.link("beam").strain[k] for k in (0, -1))
    # steps of poses have a steady turn of their own, which is bent by 0.27 (rate step)^2: a sixteenth at a fourth
    own = 0.4 * (12.0 * 1e-3) ** 2 if name in ("pose", "corotational") else 0.0
    assert end == pytest.approx(start, abs=5e-11 + own)


def test_a_turn_under_a_weight_across_it_does_not_last():
    model = pl.connect(pl.GeometricallyExact(degree=6).compile(steel_rod()), pl.PrescribedMotion("pin", steady(3.0)))
    assert not pl.equilibrium(model).steady


def test_a_state_whose_rate_contradicts_its_motion_is_refused():
    arm = pl.GeometricallyExact(degree=6).compile(turning(SLENDER))
    model = pl.connect(arm, pl.PrescribedMotion("hub", steady(12.0)))
    with pytest.raises(pl.InvalidInput, match=r"joint 'hub' moves at 0 rad/s, but its prescribed motion at 12 rad/s"):
        pl.modes(model, arm.initial_state())


def test_two_prescribed_joints_turn_alike_in_all_structures():
    """Joint torques of inverse dynamics on a two-link arm; the elbow turns too, so that the state does not last."""
    rods = tuple(dataclasses.replace(steel_rod().links[0], name=name) for name in ("upper", "fore"))
    joints = (
        pl.RevoluteJoint(name="shoulder", parent="base", child="upper", axis=(0, 0, 1)),
        pl.RevoluteJoint(name="elbow", parent="upper", child="fore", axis=(0, 0, 1), initial_position=0.7),
    )
    robot = pl.Robot(name="two", links=rods, joints=joints)
    motion = pl.motions.FunctionMotion
    drives = (
        pl.PrescribedMotion("shoulder", motion(lambda t: (2.0 * t, 2.0 + 0 * t, 0 * t))),
        pl.PrescribedMotion("elbow", motion(lambda t: (0.7 + 1.5 * t + t**2, 1.5 + 2 * t, 2.0 + 0 * t))),
    )
    torques = {}
    for name in ("spectral", "pose", "lumped"):
        # masses at nodes have too much inertia about the ends, by the square of the length of an element
        formulation = pl.PoseElement(elements=32) if name == "pose" else FORMULATIONS[name]
        found = pl.equilibrium(pl.connect(formulation.compile(robot), *drives))
        assert found.ending.completed
        assert not found.steady
        torques[name] = np.concatenate([found.efforts[each] for each in ("shoulder", "elbow")])
    rigid = pl.equilibrium(pl.connect(pl.Rigid().compile(robot), *drives))
    exact = np.concatenate([rigid.efforts[each] for each in ("shoulder", "elbow")])
    # 2 N m bend the upper rod by 7e-3 rad
    assert torques["spectral"] == pytest.approx(exact, rel=2e-2)
    assert torques["pose"] == pytest.approx(torques["spectral"], rel=1e-3)
    assert torques["lumped"] == pytest.approx(torques["spectral"], rel=1e-3)


def test_linear_deflections_warn_beyond_their_reach():
    strip = pl.load(pl.library.path("steel_strip"))
    for formulation in (pl.PseudoSpectral(), pl.EquivalentRigidLink(), pl.Lumped(fields=2)):
        arm = formulation.compile(strip)
        for force, warns in ((1.0, False), (2000.0, True)):
            pull = pl.TipWrench(arm.link_names[-1], pl.signals.Constant((0.0, force, 0.0, 0.0, 0.0, 0.0)))
            model = pl.connect(held(arm), pull)
            with warnings_of(warns) as told:
                found = pl.equilibrium(model)
            assert [str(each.message) for each in told] == list(found.warnings)
            assert not warns or "GeometricallyExact()" in found.warnings[0]


def test_linear_deflections_warn_of_turns_that_would_stiffen_them():
    for formulation in (pl.PseudoSpectral(degree=6), pl.EquivalentRigidLink(elements=4)):
        model = pl.connect(formulation.compile(turning(SLENDER)), pl.PrescribedMotion("hub", steady(12.0)))
        with pytest.warns(pl.PliantWarning, match="lack the stiffness that the centrifugal force gives them"):
            pl.equilibrium(model)


def warnings_of(some):
    import warnings

    return pytest.warns(pl.PliantWarning) if some else warnings.catch_warnings(record=True, action="always")


def test_a_mechanism_that_is_balanced_is_found_at_once():
    """No load steps: three iterations of Newton's method show it, of a free mechanism with loops too."""
    arm = pl.PoseElement(elements=4).compile(pl.load(pl.library.path("parallelogram")))
    assert pl.equilibrium(arm).iterations <= 3
    sagging = held(pl.PoseElement(elements=8).compile(steel_rod()))
    found = pl.equilibrium(sagging)
    assert pl.equilibrium(sagging, start=found.state).iterations <= 3


PLUMB = (0.5**0.5, 0.0, 0.5**0.5, 0.0)  # x down
FREE = pl.joints.FreeJoint("j", "base", "first")
BALL = pl.joints.SphericalJoint("j", "base", "first")
BRICK = {"tip_position": (1.0, 0.0, 0.0), "mass": 2.0, "center_of_mass": (0.5, 0.0, 0.0), "inertia": (0.1, 0.1, 0.1)}


def soft_link(name):
    section = pl.GeneralSection(stiffness=(1e4,) * 3 + (10.0,) * 3, inertia=(1.0,) * 3 + (2e-3, 1e-3, 1e-3))
    return pl.FlexibleLink(name, 1.0, section)


def weighing(links, *joints):
    return pl.Robot("falling", links, joints, gravity=(0.0, 0.0, -9.81))


FALLING = {  # what is missing but for the sag of links: the weight, and its torque about the joint
    "body": (weighing((pl.RigidLink("first", **BRICK),), FREE), {"j.z": -19.62, "j.turn_y": 9.81}),
    "beam": (weighing((soft_link("first"),), FREE), {"j.z": -9.81, "j.turn_y": 4.9}),
    "hinge": (
        weighing(
            (soft_link("first"), pl.RigidLink("second", **BRICK)),
            FREE,
            pl.RevoluteJoint("h", "first", "second", axis=(0, 1, 0)),
        ),
        {"j.z": -29.43, "j.turn_y": 22.2, "h": 4.2},  # the beam sags, and the body stands inclined
    ),
    "ball": (weighing((pl.RigidLink("first", **BRICK),), BALL), {"j.y": 9.81}),
    "balls": (
        weighing(
            (pl.RigidLink("first", **BRICK), soft_link("second")),
            FREE,
            pl.joints.SphericalJoint("s", "first", "second"),
        ),
        {"j.z": -29.43, "j.turn_y": 9.81 + 9.81 + 4.9, "s.y": 4.9},
    ),
}


@pytest.mark.parametrize("name", FALLING)
def test_what_falls_is_not_balanced_in_all_structures(name):
    robot, lacks = FALLING[name]
    for formulation in (pl.GeometricallyExact(degree=8), pl.PoseElement(elements=16)):
        found = pl.equilibrium(formulation.compile(robot))
        assert found.ending.cause is Cause.UNBALANCED, formulation
        assert found.unbalanced == pytest.approx(lacks, rel=0.01), formulation
        assert {type(key) for key in found.unbalanced} == {str}
        assert {key.partition(".")[0] for key in lacks} == {key.partition(".")[0] for key in found.held}
        turns = [key for key in lacks if key != "j.z"]
        assert all(f"'{key}', which lacks {found.unbalanced[key]:.3g} N m" in str(found.ending) for key in turns)


def test_a_free_beam_that_is_carried_along_its_length_is_balanced():
    """9.81 N/m up against 1 kg/m: the sum of all forces is zero, and no section carries any."""
    lift = pl.DistributedWrench("first", pl.signals.Constant((0.0, 0.0, 9.81, 0.0, 0.0, 0.0)))
    for formulation in (pl.GeometricallyExact(degree=6), pl.PoseElement(elements=8)):
        found = pl.equilibrium(pl.connect(formulation.compile(FALLING["beam"][0]), lift))
        assert found.ending.completed, formulation
        assert found.held == ("j",)


def test_a_sagging_link_on_a_plumb_hinge_is_neutral_on_every_mesh():
    """It turns about the weight's own axis: no torque answers, whatever the mesh makes of the sag."""
    soft = pl.GeneralSection(stiffness=(300, 150, 150, 3, 4, 5), inertia=(0.3, 0.3, 0.3, 0.02, 0.01, 0.02))
    robot = weighing((pl.FlexibleLink("first", 1.0, soft),), pl.RevoluteJoint("j", "base", "first", axis=(0, 0, 1)))
    for formulation in (*(pl.GeometricallyExact(degree) for degree in (4, 8, 12)), *FORMULATIONS.values()):
        assert pl.equilibrium(formulation.compile(robot)).stability is Stability.NEUTRAL, formulation


@pytest.mark.parametrize("gravity", [9.81, 1e-3])
@pytest.mark.parametrize("stiff", [1e5, 1e9])
def test_a_light_pendulum_behind_a_stiff_link_still_hangs_and_stands(stiff, gravity):
    """Its m g L / 2, down to 5e-7 N m, against EA / L up to 1e9 N/m: fifteen decades apart."""
    section = pl.GeneralSection(
        stiffness=(stiff, stiff / 2, stiff / 2, *(3 * (1e-4 * stiff,))), inertia=(*(3 * (1e-3,)), 2e-7, 1e-7, 1e-7)
    )
    links = tuple(pl.FlexibleLink(name, 1.0, section) for name in ("arm", "light"))
    for angle, expected in ((np.pi / 2, Stability.STABLE), (-np.pi / 2, Stability.UNSTABLE)):
        pin = pl.RevoluteJoint("pin", "arm", "light", axis=(0, 1, 0), initial_position=angle)
        robot = pl.Robot("light", links, (pl.FixedJoint("root", "base", "arm"), pin), gravity=(0, 0, -gravity))
        for name in ("spectral", "pose", "lumped"):
            assert pl.equilibrium(FORMULATIONS[name].compile(robot)).stability is expected, name


def test_a_standing_link_buckles_under_its_weight():
    """Where (w L^3 / EI) passes 7.837 (Greenhill)."""
    up = (0.5**0.5, 0.0, -(0.5**0.5), 0.0)
    for load, expected in ((7.7, Stability.STABLE), (7.95, Stability.UNSTABLE)):
        section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 1.0, 1.0, 1.0), inertia=(1.0, 1.0, 1.0, 2e-4, 1e-4, 1e-4))
        root = pl.FixedJoint("root", "base", "first", rotation=up)
        robot = pl.Robot("tall", (pl.FlexibleLink("first", 1.0, section),), (root,), gravity=(0, 0, -load))
        for formulation in (pl.GeometricallyExact(degree=8), pl.PoseElement(elements=32)):
            assert pl.equilibrium(formulation.compile(robot)).stability is expected, formulation


@pytest.mark.parametrize(("turn", "expected"), [(PLUMB, Stability.NEUTRAL), ((0.5**0.5, 0, -(0.5**0.5), 0), None)])
def test_a_ball_joint_lets_a_hanging_link_turn_about_itself(turn, expected):
    """Neutral where it hangs, unstable where it stands."""
    ball = pl.joints.SphericalJoint("j", "base", "first", rotation=(0.8, 0.0, 0.6, 0.0), initial_rotation=after(turn))
    robot = weighing((soft_link("first"),), ball)
    for formulation in (pl.GeometricallyExact(), pl.PoseElement(elements=8)):
        found = pl.equilibrium(formulation.compile(robot))
        assert found.ending.completed, found.ending
        assert found.stability is (expected or Stability.UNSTABLE), formulation


def after(turn):
    """The rotation about y behind that of the joint by which both together are ``turn``."""
    angle = 2 * np.arctan2(turn[2], turn[0]) - 2 * np.arctan2(0.6, 0.8)
    return (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
