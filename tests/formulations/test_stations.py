"""Wrenches, springs and loops at stations inside a link, against closed forms and against the link cut in two there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.robot import dump, loads
from tests.support.arms import ASIDE, INERTIA, soft_link, two_links

LENGTH, FORCE, BENDING, SHEAR = 1.0, 1e-3, 20.0, 1e5
SECTION = pl.GeneralSection(stiffness=(1e5, SHEAR, SHEAR, 20.0, BENDING, BENDING), inertia=INERTIA)
BEAM = pl.Robot("cantilever", (pl.FlexibleLink("beam", LENGTH, SECTION),), (pl.FixedJoint("root", "base", "beam"),))
Formulation = pl.GeometricallyExact | pl.MixedElement | pl.PoseElement | pl.PseudoSpectral | pl.Lumped


def tip_deflection(formulation: Formulation, station: float, frame: pl.Frame = pl.Frame.WORLD) -> float:
    """Under a small force across the beam."""
    push = pl.PointWrench(pl.At("beam", station=station), pl.signals.Constant((0.0, FORCE, 0.0, 0.0, 0.0, 0.0)), frame)
    bent = pl.connect(formulation.compile(BEAM), push)
    assert bent.arm.formulation == formulation, "nobody else computes"
    return float(bent.tip(pl.equilibrium(bent).state)[0][0, 1])


def exact_deflection(station: float) -> float:
    """Of the tip, by the beam of Timoshenko: bent up to the force, straight beyond, and sheared up to it."""
    return FORCE * station**2 * (3 * LENGTH - station) / (6 * BENDING) + FORCE * station / SHEAR


@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
@pytest.mark.parametrize("station", [0.5, 0.3])
@pytest.mark.parametrize(
    "formulation",
    [
        pl.GeometricallyExact(4),
        pl.GeometricallyExact(4, elements=2),
        pl.PseudoSpectral(6),
        pl.Lumped(fields=10),
        pl.EquivalentRigidLink(elements=10, basis=pl.equivalent_rigid_link.Nodal()),
    ],
    ids=str,
)
def test_a_cantilever_under_a_force_within_it(formulation: Formulation, station: float, frame: pl.Frame) -> None:
    # nothing is left out but the square of the slope, which is below 1e-9
    assert tip_deflection(formulation, station, frame) == pytest.approx(exact_deflection(station), rel=1e-8)


@pytest.mark.parametrize("formulation", [pl.PoseElement, pl.MixedElement])
@pytest.mark.parametrize("station", [0.5, 0.3])
def test_elements_of_second_order_come_near_it_with_the_square_of_their_length(
    formulation: type[pl.PoseElement] | type[pl.MixedElement], station: float
) -> None:
    exact = exact_deflection(station)
    violations = [tip_deflection(formulation(elements=elements), station) - exact for elements in (10, 20)]
    assert violations[0] / violations[1] == pytest.approx(4.0, rel=1e-3)
    # inside an element of length h two nodes carry the force in parts 1 - t and t; that turns it too far, by
    # F h^2 (t - t^2) / 2 EI, at most F h^2 / 8 EI, with a lever of at most L; elements before it bring F s h^2 / 12 EI
    h = LENGTH / 21
    bound = FORCE * h**2 / BENDING * (LENGTH / 8 + station / 12)
    assert abs(tip_deflection(formulation(elements=21), station) - exact) < bound


@pytest.mark.parametrize(
    "formulation", [pl.GeometricallyExact(4), pl.PoseElement(elements=5), pl.PoseElement(elements=6)], ids=str
)
@pytest.mark.parametrize("frame", [pl.Frame.WORLD, pl.Frame.BODY])
def test_the_ledger_of_a_swinging_arm_closes(formulation: Formulation, frame: pl.Frame) -> None:
    wrench = pl.signals.Sine((1.0, -2.0, 0.5, 0.02, 0.03, -0.01), 2.0, phase=0.5)
    push = pl.PointWrench(pl.At("upper", station=0.35), wrench, frame, name="push")
    arm = pl.connect(formulation.compile(two_links(ASIDE, rates=(2.0, -3.0))), push)
    run = pl.simulate(arm, 0.2, pl.Gauss(order=2, step=1e-3))
    assert run.ending.completed
    assert run.ledger.worst_ratio < 1e-10
    assert abs(run.ledger.works["push"][-1]) > 1e-3


@pytest.mark.parametrize("formulation", [pl.PoseElement, pl.Lumped], ids=lambda formulation: formulation.__name__)
def test_a_station_is_the_fixed_joint_at_which_a_link_is_cut_in_two(
    formulation: type[pl.PoseElement] | type[pl.Lumped],
) -> None:
    """Elements and fields end there, so that both are the same arm to round-off."""
    whole = pl.Robot("whole", (soft_link("link", 1.0),), (pl.RevoluteJoint("hinge", "base", "link"),), gravity=ASIDE)
    cut = pl.Robot(
        "cut",
        (soft_link("first", 0.5), soft_link("second", 0.5)),
        (pl.RevoluteJoint("hinge", "base", "first"), pl.FixedJoint("weld", "first", "second")),
        gravity=ASIDE,
    )
    push, method = (pl.signals.Sine((0.5, 2.0, -1.0, 0.0, 0.1, 0.2), 2.0, phase=0.3), pl.Gauss(order=2, step=1e-3))
    within = pl.connect(formulation(4).compile(whole), pl.PointWrench(pl.At("link", station=0.5), push))
    between = pl.connect(formulation(2).compile(cut), pl.TipWrench("first", push))
    tips = [pl.simulate(arm, 0.2, method).tip_position for arm in (within, between)]
    assert np.abs(tips[0] - tips[0][0]).max() > 0.05, "it swings"
    np.testing.assert_allclose(tips[0], tips[1], atol=1e-9)


def test_springs_act_at_the_borders_of_pose_elements() -> None:
    """A stiff spring under the middle of a cantilever carries 5/2 of a load at its tip, like a firm prop."""
    ground = pl.At("base", position=(0.5, -0.1, 0.0))
    prop = pl.SpringDamper("prop", pl.At("beam", station=0.5), ground, 1e7, 0.0, rest_length=0.1)
    arm = pl.PoseElement(elements=20).compile(BEAM)
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, -FORCE, 0.0, 0.0, 0.0, 0.0)))
    held = pl.connect(arm, prop, push)
    state = pl.equilibrium(held).state
    run = pl.simulate(held, 0.002, pl.Gauss(order=2, step=1e-3), initial=state)
    # the prop holds its point: F a^2 (3 L - a) / 6 = R a^3 / 3 with a = L/2; shear and 20 elements change less than 1 %
    assert -run.efforts["prop.force"][-1, 0] == pytest.approx(2.5 * FORCE, rel=1e-2)


def test_a_loop_pins_the_middle_of_a_link() -> None:
    middle = (0.5, 0.0, 0.0)
    pin = pl.joints.LoopJoint(
        "pin", pl.joints.LoopKind.SPHERICAL, pl.At("base", position=middle), pl.At("beam", station=0.5)
    )
    robot = loads(dump(replace(BEAM, loops=(pin,))))
    assert robot.loops == (pin,)
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, -1.0, 0.5, 0.0, 0.0, 0.0)))
    run = pl.simulate(pl.connect(pl.PoseElement(elements=4).compile(robot), push), 0.1, pl.Gauss(order=2, step=1e-3))
    seen = run.link("beam").position
    assert np.abs(seen[:, -1, 1]).max() > 1e-3, "the tip swings"
    np.testing.assert_allclose(seen[:, 10], np.tile(middle, (len(seen), 1)), atol=1e-11)  # the tenth of 20 parts


def test_a_loop_beyond_the_tip_is_refused() -> None:
    far = pl.joints.LoopJoint("pin", pl.joints.LoopKind.SPHERICAL, pl.At("base"), pl.At("beam", station=1.5))
    with pytest.raises(pl.InvalidInput, match=r"station = 1.5 m lies beyond the tip of link 'beam'; write at most 1 m"):
        replace(BEAM, loops=(far,))


@pytest.mark.parametrize(
    ("formulation", "at", "sentence"),
    [
        (
            pl.PoseElement(elements=4),
            pl.At("upper", station=0.3),
            "a frame at station = 0.3 m of link 'upper' lies inside an element; write the border 0.35 m, give"
            " the link 7 elements of PoseElement, or cut the link there in two by a fixed joint",
        ),
        (
            pl.PoseElement(elements=4),
            pl.At("upper", station=0.8),
            "SpringDamper 'cable': station = 0.8 m lies beyond the tip of link 'upper'; write at most 0.7 m",
        ),
    ],
)
def test_a_spring_where_no_node_is_is_refused(formulation: pl.PoseElement, at: pl.At, sentence: str) -> None:
    ground = pl.At("base", position=(0.0, 0.0, 1.0))
    with pytest.raises(pl.InvalidInput) as refused:
        pl.simulate(
            pl.connect(formulation.compile(two_links()), pl.SpringDamper("cable", at, ground, 1.0, 0.0, 0.1)), 0.01
        )
    assert str(refused.value) == sentence


def test_the_remedy_of_the_refusal_holds() -> None:
    cable = pl.SpringDamper(
        "cable", pl.At("upper", station=0.3), pl.At("base", position=(0.0, 0.0, 1.0)), 1.0, 0.0, 0.1
    )
    arm = pl.PoseElement(elements={"upper": 7, "lower": 4}).compile(two_links())
    assert pl.simulate(pl.connect(arm, cable), 0.01).ending.completed


def test_a_force_between_the_masses_of_a_lumped_link_is_refused() -> None:
    with pytest.raises(pl.InvalidInput) as refused:
        tip_deflection(pl.Lumped(fields=2), 0.3)
    assert str(refused.value) == (
        "station = 0.3 m of link 'beam' lies between its masses; write 0.5 m, choose fields that end there, or cut the"
        " link there in two by a fixed joint"
    )


@pytest.mark.parametrize(
    ("link", "end", "station", "sentence"),
    [
        ("base", pl.End.TIP, 0.3, "station = 0.3 m has no meaning, the base has no stations; leave one of the two out"),
        ("beam", pl.End.ROOT, 0.3, "station = 0.3 m has no meaning, end = root is another section; leave one"),
        ("beam", pl.End.TIP, -0.1, "station = -0.1 m must be at least 0"),
    ],
)
def test_stations_that_are_none(link: str, end: pl.End, station: float, sentence: str) -> None:
    with pytest.raises(pl.InvalidInput, match=sentence.replace("(", r"\(")):
        pl.At(link, end, station=station)
