"""What lumped and rigid arms do not carry is refused in a sentence with the remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest

import pliant as pl
from tests.support import four_bar
from tests.support.arms import on_a_hinge, soft_link, two_links
from tests.support.lumped_arms import POINTS, condensed, massless, two_stations

HINGED = on_a_hinge(soft_link())


def with_joint(joint: object) -> pl.Robot:
    return pl.Robot(name="pendulum", links=(soft_link(),), joints=(joint,))


COMPILED = [
    (pl.Rigid(), four_bar.robot(damping=0.1), r"loop joint 'tip' has a spring, damping.*Rigid.*use PoseElement"),
    (
        pl.Lumped(station_inertia=POINTS),
        pl.load(pl.library.path("parallelogram")),
        r"loop joint 'far_corner' ties frames.*keep the inertia of stations",
    ),
    (
        pl.Rigid(),
        with_joint(pl.joints.SphericalJoint("ball", "base", "link")),
        r"'ball' is a SphericalJoint.*universal",
    ),
    (pl.Lumped(), with_joint(pl.joints.FreeJoint("free", "base", "link")), r"'free' is a FreeJoint.*PoseElement"),
    (pl.Lumped(), on_a_hinge(soft_link(law=pl.sections.HardeningLaw((1.0,) * 6))), r"link 'link' has a hardening law"),
    (pl.Rigid(), on_a_hinge(soft_link(viscous_damping=(0.1,) * 6)), r"link 'link' has viscous_damping"),
    (pl.Lumped({"upper": 2}), HINGED, r"fields: 'upper' is not a flexible link"),
    (pl.Lumped(joint_fields=(pl.lumped.JointField("hip", (1.0,) * 6),)), HINGED, r"JointField: 'hip' is not a joint"),
    (
        pl.Lumped(pl.lumped.Fields(1, (pl.lumped.Deflection.TURN_Z,)), station_inertia=POINTS),
        HINGED,
        r"fields of link 'link' have no displacement.*add Deflection\.Y",
    ),
    (
        pl.Lumped(joint_fields=(pl.lumped.JointField("hinge", (1.0,) * 6), pl.lumped.JointField("hinge", (2.0,) * 6))),
        HINGED,
        r"joint 'hinge' has 2 of them; give one",
    ),
    (
        pl.Lumped(pl.lumped.Fields(3, stiffness=(9.0,) * 6)),
        two_stations(0.3),
        r"link 'upper' has no mass and is one field, but Fields gives 3.*count = 1",
    ),
]


@pytest.mark.parametrize(("formulation", "robot", "words"), COMPILED)
def test_robots_are_refused(formulation: object, robot: pl.Robot, words: str) -> None:
    with pytest.raises(pl.InvalidInput, match=words):
        formulation.compile(robot)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        (lambda: pl.lumped.Fields(2.5), r"count of Fields = 2\.5 is no whole number"),
        (lambda: pl.lumped.Fields(True), r"count of Fields = True is no whole number"),
        (lambda: pl.lumped.Fields(2, ("Y",)), r"Fields: one of the deflections = 'Y' is not known.*Deflection\.Y"),
        (lambda: pl.lumped.Fields(2, pl.lumped.Deflection.Y), r"Fields: deflections = .* is not several"),
        (lambda: pl.Lumped("4"), r"count of Fields = '4' is no whole number"),
        (lambda: pl.Lumped(beam="euler"), r"Lumped: beam = 'euler' is not known.*Beam\.EULER_BERNOULLI"),
        (lambda: pl.Lumped(station_inertia=False), r"station_inertia = False.*StationInertia\.NEGLECTED"),
        (lambda: pl.Lumped(joint_fields=pl.lumped.JointField("hip", (1.0,) * 6)), r"joint_fields = .* not several"),
        (lambda: pl.lumped.field_transfer(1.0, [0.1, 0.2]), r"deflection has 2 numbers.*give six"),
        (
            lambda: pl.Rigid().compile(HINGED).internal_forces([0.0, 1.0], [0.0], [0.0]),
            r"position has shape \(2,\).*a number for each of hinge",
        ),
        (lambda: pl.Rigid().compile(HINGED).blocks().station("lin"), r"no station 'lin'.*link\.station"),
    ],
)
def test_other_kinds_of_values_are_refused(choice: object, words: str) -> None:
    with pytest.raises(pl.InvalidInput, match=words):
        choice()


def test_choices_are_refused() -> None:
    with pytest.raises(pl.InvalidInput, match=r"count of Fields = 0 must lie between 1 and 200"):
        pl.lumped.Fields(0)
    with pytest.raises(pl.InvalidInput, match=r"deflections of Fields are empty"):
        pl.lumped.Fields(2, ())
    with pytest.raises(pl.InvalidInput, match=r"stiffness of JointField 'hip' .*greater than 0"):
        pl.lumped.JointField("hip", (1.0, 1.0, 0.0, 1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    "formulation", [pl.GeometricallyExact(), pl.PoseElement(), pl.MixedElement(), pl.PseudoSpectral()]
)
def test_links_without_mass_are_for_lumped_arms(formulation: object) -> None:
    robot = pl.Robot(
        name="spring",
        links=(massless("rod", 1.0, 4.0, 3.0),),
        joints=(pl.FixedJoint(name="root", parent="base", child="rod"),),
        payloads=(pl.Payload(name="tip", link="rod", mass=1.0),),
    )
    name = type(formulation).__name__
    with pytest.raises(pl.InvalidInput, match=rf"'rod' has a section without inertia, which {name}.*use Lumped"):
        formulation.compile(robot)


def test_coordinates_that_move_no_mass_are_named() -> None:
    """Two point masses cannot tell the turn of a hinge from the bend of the beam behind it; a rotor can."""
    arm = condensed(two_stations(0.3))
    with pytest.raises(
        pl.InvalidInput, match=r"'elbow' and 'lower.field\[0\].dy' can move without moving a mass.*add a GearMotor"
    ):
        pl.simulate(arm, until=0.1)
    arm = pl.Lumped().compile(two_stations(0.3))
    with pytest.raises(pl.InvalidInput, match=r"neglect station inertia"):
        pl.simulate(arm, until=0.1)


def test_masses_off_their_station_need_the_turns_of_fields() -> None:
    robot = two_stations(0.3)
    off = replace(robot.payloads[1], center_of_mass=(0.1, 0.0, 0.0))
    with pytest.raises(pl.InvalidInput, match=r"0\.1 m from the station before it.*keep the inertia of stations"):
        condensed(replace(robot, payloads=(robot.payloads[0], off)))


def test_inputs_are_refused() -> None:
    arm = pl.Lumped(1).compile(two_links())
    wall = pl.Wall("floor", pl.At("lower"), point=(0.0, -1.0, 0.0), normal=(0.0, 1.0, 0.0), stiffness=1e4)
    with pytest.raises(pl.InvalidInput, match=r"wall 'floor' is not carried.*PoseElement"):
        pl.simulate(pl.connect(arm, wall), until=0.01)
    with pytest.raises(pl.InvalidInput, match=r"Gauss\(order=2\).*RungeKuttaGill"):
        pl.simulate(arm, until=0.01, integrator=pl.Gauss(order=4))
    exact = pl.GeometricallyExact(degree=4).compile(two_links())
    with pytest.raises(pl.InvalidInput, match=r"GeometricallyExact does not take explicit methods"):
        pl.simulate(exact, until=0.01, integrator=pl.RungeKuttaGill())


def test_moments_on_point_masses_are_refused() -> None:
    arm = condensed(two_stations(0.3))
    motors = [pl.GearMotor(name, rotor_inertia=1e-4, ratio=100.0) for name in arm.joint_names]
    twisted = pl.connect(arm, *motors, pl.TipWrench("lower", pl.signals.Constant((0.0,) * 5 + (1.0,)), name="twist"))
    with pytest.raises(pl.InvalidInput, match=r"load 'twist' has a moment.*keep the inertia of stations"):
        pl.equilibrium(twisted)
    run = pl.simulate(twisted, until=0.01)
    assert not run.ending.completed
    assert "load 'twist' has a moment" in str(run.ending)
