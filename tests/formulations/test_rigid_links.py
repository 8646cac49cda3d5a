"""Single links taken as rigid: the body they become, the rigid arm as a limit, stations on them, refusals."""

from __future__ import annotations

import pickle
from dataclasses import replace
from math import cos, pi, sin

import numpy as np
import pytest

import pliant as pl
from pliant.model.contract import Arm
from pliant.model.rigid_links import with_rigid_links
from pliant.robot import dump, loads
from pliant.robot.rest_shape import Arc
from tests.contract.formulations import Formulation
from tests.support.arms import INERTIA, STIFFNESS, soft_link

NODAL = pl.equivalent_rigid_link.Nodal()
CHAIN = pl.Robot(
    "chain",
    (soft_link("upper", 0.6), soft_link("fore", 0.4)),
    (
        pl.RevoluteJoint("shoulder", "base", "upper", initial_position=0.3, initial_rate=1.0),
        pl.RevoluteJoint("elbow", "upper", "fore", initial_position=0.8, initial_rate=-2.0),
    ),
    (pl.Payload("gripper", "fore", 0.2, (0.05, 0.0, 0.0), (1e-4, 2e-4, 2e-4)),),
    gravity=(0.0, -9.81, 0.0),
)
STEADY = pl.JointPD(pl.motions.Hold(0.2), stiffness=(30.0, 20.0), damping=0.1)
BOTH = ("upper", "fore")
EVERY: tuple[Formulation, ...] = (
    pl.GeometricallyExact(3, rigid=BOTH),
    pl.PoseElement(3, rigid=BOTH),
    pl.Corotational(3, rigid=BOTH),
    pl.Lumped(2, rigid=BOTH),
    pl.EquivalentRigidLink(2, NODAL, rigid=BOTH),
)
RIGID_FREQUENCY = 1e-9  # of its kind: matrices of some ten numbers, whose eigenvalues lie a factor 10 apart


def quarter_arc() -> pl.FlexibleLink:
    """A quarter of a circle of radius 0.5 m in the plane of x and y."""
    return replace(soft_link("bow", 0.25 * pi), rest_shape=Arc(0.5 * pi))


def test_a_quarter_circle_has_the_mass_the_centre_the_inertia_and_the_tip_of_the_textbook() -> None:
    """A thin wire: its centre lies 2 r / pi from both radii; about the circle's centre it has m r^2."""
    bow = quarter_arc()
    robot = pl.Robot("bow", (bow,), (pl.RevoluteJoint("hinge", "base", "bow"),))
    (body,) = with_rigid_links(robot, ("bow",), "test").links
    assert isinstance(body, pl.RigidLink)
    r, m = 0.5, 0.3 * 0.25 * pi  # mass per length of the soft section times the length
    middle = np.array([0.0, r, 0.0])
    center = middle + 2.0 * r / pi * np.array([1.0, -1.0, 0.0])
    assert body.mass == pytest.approx(m, rel=1e-12)
    np.testing.assert_allclose(body.center_of_mass, center, atol=1e-12)
    np.testing.assert_allclose(body.tip_position, (r, r, 0.0), atol=1e-12)
    np.testing.assert_allclose(body.tip_rotation, (cos(0.25 * pi), 0.0, 0.0, sin(0.25 * pi)), atol=1e-12)
    # about the circle's centre the wire has I_zz = m r^2, I_xx = I_yy = m r^2 / 2, I_xy = -sum x y dm = m r^2 / pi; the
    # section adds its own inertia (a, b, c) per length, turned along the arc: half of a + b in the plane, and the mean
    # of cos sin (a - b) = (a - b) / pi beside the diagonal
    a, b, c = np.array((3e-4, 1e-4, 2e-4)) * bow.length
    about = m * r**2 * np.array([[0.5, 1 / pi, 0.0], [1 / pi, 0.5, 0.0], [0.0, 0.0, 1.0]])
    about += np.array([[(a + b) / 2, (a - b) / pi, 0.0], [(a - b) / pi, (a + b) / 2, 0.0], [0.0, 0.0, c]])
    off = center - middle
    expected = about - m * (off @ off * np.eye(3) - np.outer(off, off))
    np.testing.assert_allclose(np.array(body.inertia), expected, atol=1e-12)


def test_a_cone_has_the_mass_and_the_centre_of_the_textbook() -> None:
    """A truncated cone: m = rho pi L (a^2 + a b + b^2) / 3, centre L (a^2 + 2 a b + 3 b^2) / 4 (a^2 + a b + b^2)."""
    rho, L, a, b = 2700.0, 0.8, 0.03, 0.01
    material = pl.Material("aluminium", density=rho, young=7e10, poisson=0.33)
    cone = pl.FlexibleLink("cone", L, pl.sections.Tapered(pl.Circle(a), pl.Circle(b)), material)
    robot = pl.Robot("cone", (cone,), (pl.RevoluteJoint("hinge", "base", "cone"),))
    (body,) = with_rigid_links(robot, ("cone",), "test").links
    assert isinstance(body, pl.RigidLink)
    squares = a * a + a * b + b * b
    assert body.mass == pytest.approx(rho * pi * L * squares / 3, rel=1e-9)
    assert body.center_of_mass[0] == pytest.approx(L * (a * a + 2 * a * b + 3 * b * b) / (4 * squares), rel=1e-9)


def steady_frequencies(formulation: Formulation, robot: pl.Robot = CHAIN, count: int = 2) -> np.ndarray:
    held = pl.connect(formulation.compile(robot), STEADY)
    return np.asarray(pl.modes(held, pl.equilibrium(held).state, count).frequency)


@pytest.mark.parametrize("formulation", EVERY, ids=str)
def test_all_links_rigid_have_the_modes_of_the_rigid_arm(formulation: Formulation) -> None:
    expected = steady_frequencies(pl.Rigid())
    np.testing.assert_allclose(steady_frequencies(formulation), expected, rtol=RIGID_FREQUENCY)


@pytest.mark.parametrize("formulation", [pl.MixedElement(3, rigid=("link",)), pl.PseudoSpectral(4, rigid=("link",))])
def test_one_rigid_link_on_the_base_has_the_mode_of_the_rigid_arm(formulation: Formulation) -> None:
    robot = pl.Robot("one", (soft_link("link", 0.6),), (pl.RevoluteJoint("hinge", "base", "link"),))
    law = pl.JointPD(pl.motions.Hold(0.0), stiffness=30.0, damping=0.1)
    found = [pl.modes(pl.connect(each.compile(robot), law), count=1).frequency[0] for each in (formulation, pl.Rigid())]
    assert found[0] == pytest.approx(found[1], rel=RIGID_FREQUENCY)


def angles(arm: Arm, step: float) -> np.ndarray:
    return np.asarray(pl.simulate(pl.connect(arm, STEADY), 0.2, pl.Gauss(order=2, step=step)).joint_position[-1])


@pytest.mark.parametrize("formulation", EVERY, ids=str)
def test_all_links_rigid_move_like_the_rigid_arm_to_the_square_of_the_step(formulation: Formulation) -> None:
    exact = np.asarray(
        pl.simulate(pl.connect(pl.Rigid().compile(CHAIN), STEADY), 0.2, pl.RungeKuttaGill(step=1e-4)).joint_position[-1]
    )
    coarse, fine = (np.abs(angles(formulation.compile(CHAIN), step) - exact).max() for step in (1e-3, 5e-4))
    assert coarse / fine == pytest.approx(4.0, rel=0.05)


def off_the_rigid_one(
    formulation: pl.GeometricallyExact | pl.PoseElement | pl.Corotational | pl.Lumped, factor: float
) -> np.ndarray:
    """Frequencies of the arm with an upper link so many times stiffer, less those with a rigid one."""
    stiffness = tuple(factor * value for value in STIFFNESS)
    section = pl.GeneralSection(stiffness=stiffness, inertia=INERTIA)
    stiff = replace(CHAIN, links=(soft_link("upper", 0.6, section), CHAIN.links[1]))
    off: np.ndarray = steady_frequencies(formulation, stiff) - steady_frequencies(
        replace(formulation, rigid=("upper",))
    )
    return off


@pytest.mark.parametrize("formulation", [pl.GeometricallyExact(3), pl.Corotational(3), pl.Lumped(2)], ids=str)
def test_a_link_whose_stiffness_grows_tends_to_the_rigid_one(
    formulation: pl.GeometricallyExact | pl.Corotational | pl.Lumped,
) -> None:
    """Flexibility enters linearly: ten times the stiffness leaves a tenth of the difference."""
    off = [off_the_rigid_one(formulation, factor) for factor in (1e3, 1e4)]
    np.testing.assert_allclose(off[0] / off[1], 10.0, rtol=0.01)


def test_pose_elements_of_a_stiff_link_tend_to_the_rigid_one_with_stiffness_and_mesh() -> None:
    """Half an element's mass at each end has an inertia too large by the square of its length.

    That moves the first mode, in which the upper link swings; in the second the fore link swings against it.
    """
    coarse, fine = (off_the_rigid_one(pl.PoseElement({"upper": n, "fore": 4}), 1e6) for n in (4, 8))
    assert coarse[0] / fine[0] == pytest.approx(4.0, rel=0.02)
    softer = off_the_rigid_one(pl.PoseElement({"upper": 8, "fore": 4}), 1e5)
    assert softer[1] / fine[1] == pytest.approx(10.0, rel=0.01)


def branched() -> pl.Robot:
    """A link that sits on a station of a bent one."""
    joints = (
        pl.RevoluteJoint("hinge", "base", "bow"),
        pl.RevoluteJoint("branch", "bow", "twig", position=(0.0, 0.1, 0.0), station=0.3),
    )
    return pl.Robot("tree", (quarter_arc(), soft_link("twig", 0.3)), joints, gravity=(1.0, -9.0, 3.0))


@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
def test_joints_loads_and_springs_at_stations_stay_where_they_are(frame: pl.Frame) -> None:
    """`Rigid` keeps flexible links in the robot and finds their stations itself."""
    push = pl.PointWrench(
        pl.At("bow", position=(0.0, 0.0, 0.2), rotation=(0.8, 0.0, 0.6, 0.0), station=0.45),
        pl.signals.Constant((3.0, -2.0, 1.0, 0.1, 0.2, 0.3)),
        frame,
    )
    robot = branched()
    arms = [pl.Rigid().compile(robot), pl.Lumped(2, rigid=("bow", "twig")).compile(robot)]
    states = [pl.equilibrium(pl.connect(arm, push, STEADY)).state for arm in arms]
    np.testing.assert_allclose(states[1][:2], states[0][:2], atol=1e-12)
    np.testing.assert_allclose(arms[1].tip(states[1])[0], arms[0].tip(states[0])[0], atol=1e-12)
    bridge = pl.SpringDamper(
        "bridge", pl.At("bow", station=0.45), pl.At("base"), stiffness=100.0, damping=0.0, rest_length=0.1
    )
    posed = pl.connect(pl.PoseElement(4, rigid=("bow",)).compile(robot), push, STEADY, bridge)
    assert pl.equilibrium(posed).ending.completed


def test_a_damper_at_a_station_is_compiled_with_the_rigid_link() -> None:
    robot = branched()
    tuned = pl.TunedMassDamper("tuned", pl.At("bow", station=0.45), mass=0.01, stiffness=10.0, damping=0.01)
    arm = pl.PoseElement(2, rigid=("bow",)).compile(robot)
    connected = pl.connect(arm, tuned, STEADY)
    (added,) = [joint for joint in connected.robot.joints if joint.name.startswith("tuned") and joint.parent == "bow"]
    assert added.station is None
    assert any(added.position)


def test_the_choice_prints_compares_hashes_and_travels() -> None:
    chosen = pl.PoseElement(3, rigid=("upper", "upper"))
    assert chosen == pl.PoseElement(3, rigid=("upper",)) != pl.PoseElement(3)
    assert hash(chosen) == hash(pl.PoseElement(3, rigid=("upper",)))
    assert repr(chosen) == "PoseElement(elements=3, rigid=('upper',))"
    assert repr(pl.PoseElement(3)) == "PoseElement(elements=3)"
    for each in (
        chosen,
        pl.GeometricallyExact(rigid=("upper",)),
        pl.PseudoSpectral(rigid=("upper",)),
        pl.Lumped(rigid=("upper",)),
    ):
        finer = each.finer()
        assert finer is not None
        assert finer.rigid == ("upper",)
    arm = pickle.loads(pickle.dumps(chosen.compile(CHAIN)))
    assert arm.formulation == chosen
    assert isinstance(arm.robot.link("upper"), pl.RigidLink)
    assert isinstance(arm.robot.link("fore"), pl.FlexibleLink)
    again = loads(dump(arm.robot))  # as runs keep it
    np.testing.assert_allclose(again.link("upper").mass, CHAIN.link("upper").mass, rtol=1e-12)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("upperr",), "did you mean 'upper'"),
        ("upper", "is no row of names"),
        (("stiff",), "rigid already"),
        (("wet",), "viscous_damping"),
    ],
)
def test_what_cannot_be_made_rigid_is_refused_in_a_sentence(names: tuple[str, ...], message: str) -> None:
    links = (*CHAIN.links, pl.RigidLink("stiff", (0.1, 0.0, 0.0), mass=1.0))
    wet = replace(soft_link("wet", 0.2), viscous_damping=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0))
    joints = (*CHAIN.joints, pl.FixedJoint("end", "fore", "stiff"), pl.FixedJoint("last", "stiff", "wet"))
    robot = replace(CHAIN, links=(*links, wet), joints=joints)
    with pytest.raises(pl.InvalidInput, match=message):
        pl.GeometricallyExact(rigid=names).compile(robot)
