"""What equivalent rigid links do not carry is refused in one sentence with the remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import pliant as pl
from pliant.formulations.equivalent_rigid_link import ModalDamping, Modes, Rayleigh
from tests.support import four_bar
from tests.support.arms import clamped, on_a_hinge, soft_link, two_links
from tests.support.lumped_arms import massless

ERL = pl.EquivalentRigidLink
HINGED = on_a_hinge(soft_link())


def jointed(joint: object) -> pl.Robot:
    return pl.Robot(name="pendulum", links=(soft_link(),), joints=(joint,))


def said(ask: Callable[[], object]) -> str:
    with pytest.raises(pl.InvalidInput) as refused:
        ask()
    text = str(refused.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("robot", "sentence"),
    [
        (
            jointed(pl.joints.SphericalJoint("ball", "base", "link")),
            "joint 'ball' is a SphericalJoint, whose three angles have a singular posture, which EquivalentRigidLink"
            " does not carry; use a universal joint, or PoseElement",
        ),
        (
            jointed(pl.joints.FreeJoint("free", "base", "link")),
            "joint 'free' is a FreeJoint, whose three angles have a singular posture, which EquivalentRigidLink does"
            " not carry; use a universal joint, or PoseElement",
        ),
        (
            on_a_hinge(soft_link(law=pl.sections.HardeningLaw((1.0,) * 6))),
            "link 'link' has a hardening law, and finite elements here are linear; use GeometricallyExact, or write a"
            " linear law",
        ),
        (
            on_a_hinge(soft_link(viscous_damping=(0.1,) * 6)),
            "link 'link' has viscous_damping, which EquivalentRigidLink does not carry; remove it, or use"
            " GeometricallyExact",
        ),
        (
            clamped(massless("link", 1.0, 4.0, 3.0)),
            "link 'link' has a section without inertia, which EquivalentRigidLink does not carry; write its inertia per"
            " length in kg/m, kg and kg m, or use Lumped",
        ),
        (
            four_bar.robot(damping=0.1),
            "loop joint 'tip' has a spring, damping, friction or stops, which EquivalentRigidLink carries at joints of"
            " the tree only; close the loop at another joint, or use PoseElement",
        ),
    ],
)
def test_robots(robot: pl.Robot, sentence: str) -> None:
    assert said(lambda: ERL().compile(robot)) == sentence


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (
            ERL(elements={"lin": 2}),
            "elements: 'lin' is not a link of robot 'pendulum' that deforms; did you mean 'link'?",
        ),
        (
            ERL(basis={"lin": Modes(count=2)}),
            "basis: 'lin' is not a link of robot 'pendulum' that deforms; did you mean 'link'?",
        ),
        (
            ERL(elements=1, basis=Modes(count=1)),
            "Modes: mode 1 is asked for, but the body has 0 of this kind; ask for fewer, or use more elements",
        ),
        (
            ERL(basis=Modes(count=2, interfaces=("node[9]",))),
            "frame 'node[9]' is not one of the elastic body; did you mean 'node[8]'?",
        ),
    ],
)
def test_choices_that_do_not_fit_the_robot(choice: pl.EquivalentRigidLink, sentence: str) -> None:
    assert said(lambda: choice.compile(HINGED)) == sentence


@pytest.mark.parametrize(
    ("choose", "sentence"),
    [
        (
            lambda: ERL(elements=0),
            "elements of EquivalentRigidLink = 0 must lie between 1 and 200; 4 to 16 serves most links",
        ),
        (
            lambda: ERL(elements=2.5),
            "elements of EquivalentRigidLink = 2.5 is no whole number; 4 to 16 serves most links",
        ),
        (
            lambda: ERL(elements={"link": 201}),
            "elements of EquivalentRigidLink = 201 must lie between 1 and 200; 4 to 16 serves most links",
        ),
        (
            lambda: ERL(element="linear"),
            "EquivalentRigidLink: element = 'linear' is not known; write one of BeamElement.EULER_BERNOULLI,"
            " BeamElement.TIMOSHENKO, BeamElement.LINEAR",
        ),
        (
            lambda: ERL(mass="lumped"),
            "EquivalentRigidLink: mass = 'lumped' is not known; write one of MassMatrix.CONSISTENT, MassMatrix.LUMPED",
        ),
        (
            lambda: ERL(basis=6),
            "EquivalentRigidLink: basis = 6 is no choice of shapes; write Nodal() or Modes(count=...)",
        ),
        (
            lambda: ERL(basis={"link": "modes"}),
            "EquivalentRigidLink: basis = 'modes' is no choice of shapes; write Nodal() or Modes(count=...)",
        ),
        (
            lambda: ERL(damping=0.01),
            "EquivalentRigidLink: damping = 0.01 is not known; write Rayleigh(...) or ModalDamping(...)",
        ),
        (
            lambda: ERL(damping=Rayleigh(stiffness=-1e-4)),
            "stiffness of Rayleigh = -0.0001 must be finite and not be negative; write it in s",
        ),
        (
            lambda: ERL(damping=ModalDamping((0.01, float("nan")))),
            "ratio of ModalDamping = nan must be finite and not be negative; write a part of the critical damping, as"
            " 0.01",
        ),
    ],
)
def test_values(choose: Callable[[], object], sentence: str) -> None:
    assert said(choose) == sentence


def test_a_station_between_nodes() -> None:
    """Nodes are put where the robot attaches something; where a component does, the mesh is as it was compiled."""
    arm = ERL(elements=4).compile(HINGED)
    push = pl.PointWrench(pl.At("link", station=0.3), pl.signals.Constant((1.0,) * 6))
    assert said(lambda: pl.simulate(pl.connect(arm, push), 0.01)) == (
        "station = 0.3 m of link 'link' lies between its nodes; write 0.25 m, or choose a number of elements that puts"
        " a node there"
    )
    hand = pl.RigidLink("hand", (0.1, 0.0, 0.0), 0.1, inertia=(1e-4,) * 3)
    wrist = pl.FixedJoint("wrist", "link", "hand", station=0.3)
    robot = replace(HINGED, links=(*HINGED.links, hand), joints=(*HINGED.joints, wrist))
    carried = pl.connect(ERL(elements=4).compile(robot), push)
    assert pl.simulate(carried, 2e-3, pl.Gauss(order=2, step=1e-3)).ending.completed


def other_parts() -> dict[str, object]:
    tip, base = pl.At("lower"), pl.At("base", position=(0.0, 0.0, 1.0))
    return {
        "wall 'floor'": pl.Wall("floor", tip, point=(0.0, 0.0, -1.0), normal=(0.0, 0.0, 1.0), stiffness=1e4),
        "spring 'coil'": pl.SpringDamper("coil", tip, base, stiffness=10.0, damping=0.0, rest_length=1.0),
        "bushing 'pad'": pl.Bushing("pad", tip, base, stiffness=(10.0,) * 6),
        "tendon 'cable'": pl.Tendon("cable", [base, tip], 10.0),
    }


@pytest.mark.parametrize("word", other_parts())
def test_parts_between_frames(word: str) -> None:
    model = pl.connect(ERL(elements=2).compile(two_links()), other_parts()[word])
    text = said(lambda: pl.simulate(model, 0.01))
    assert text == f"the {word} is not carried by this formulation; compile the robot with PoseElement()"


def test_a_moved_base_and_other_integrators() -> None:
    arm = ERL(elements=2).compile(HINGED)
    moved = pl.connect(arm, pl.BaseMotion(x=pl.motions.Quintic(0.0, 0.1, 0.1)))
    assert "PoseElement" in said(lambda: pl.simulate(moved, 0.01))
    assert "Gauss(order=2)" in said(lambda: pl.simulate(arm, 0.01, pl.Gauss(order=4)))
