"""Compiled equivalent rigid links: truncation, shapes at stations, what small deflections neglect, and who warns."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.equivalent_rigid_link import BeamElement, Interface, Modes, Nodal
from pliant.formulations.equivalent_rigid_link.model import EquivalentRigidLinkArm
from tests.support.arms import clamped, on_a_hinge, soft_link, two_links
from tests.support.lumped_arms import cantilever

FORCE = 0.4  # N, across a beam of 1 m and 9 N m^2
DEFLECTION = FORCE / (3 * 9.0)


def bent(formulation: object, force: float = FORCE) -> tuple[EquivalentRigidLinkArm, np.ndarray]:
    arm = formulation.compile(cantilever(rotary=1e-6))
    push = pl.TipWrench("beam", pl.signals.Constant((0.0, force, 0.0, 0.0, 0.0, 0.0)))
    rest = pl.equilibrium(pl.connect(arm, push))
    assert rest.ending.completed
    return arm, rest.state


@pytest.mark.parametrize("basis", [Nodal(), Modes(count=0), Modes(count=6)], ids=str)
def test_a_bent_cantilever_has_the_shape_of_euler_and_bernoulli(basis: Nodal | Modes) -> None:
    """w = δ (3 s² - s³) / 2, curvature 3 δ (1 - s), moment F (1 - s): static shapes of the tip are exact."""
    choice = pl.EquivalentRigidLink(elements=4, basis=basis, element=BeamElement.EULER_BERNOULLI)
    arm, state = bent(choice)
    (seen,) = arm.observe(state[None], stations=9).links
    s = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(seen.position[0, :, 1], DEFLECTION * (3 * s**2 - s**3) / 2, atol=1e-9 * DEFLECTION)
    np.testing.assert_allclose(seen.strain[0, :, 5], 3 * DEFLECTION * (1 - s), atol=1e-7 * DEFLECTION)
    np.testing.assert_allclose(seen.wrench[0, :, 5], FORCE * (1 - s), atol=1e-7 * FORCE)
    np.testing.assert_allclose(seen.position[0, -1], arm.tip(state)[0][0], atol=1e-12)
    np.testing.assert_allclose(seen.rotation[0, -1], arm.tip(state)[1][0], atol=1e-12)


def test_what_is_missing_is_the_shortening_of_the_beam() -> None:
    """The integral of w'² / 2 is 3 δ² / 5, and the tip of an exact link lies there."""
    arm, state = bent(pl.EquivalentRigidLink(element=BeamElement.EULER_BERNOULLI))
    missing = arm.neglected_displacement(state[None])[0]
    np.testing.assert_allclose(missing, [-0.6 * DEFLECTION**2, 0.0, 0.0], atol=1e-6 * DEFLECTION**2)
    exact, there = bent(pl.GeometricallyExact(degree=6))
    assert missing[0] == pytest.approx(exact.tip(there)[0][0, 0] - arm.tip(state)[0][0, 0], rel=1e-3)


def test_rotations_of_all_links_before_add_up_in_the_warning() -> None:
    robot = two_links((0.0, 0.0, -3.65))
    arm = pl.EquivalentRigidLink(elements=4).compile(robot)
    held = pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in arm.joint_names))
    rest = pl.equilibrium(held).state
    run = pl.simulate(held, 2e-3, pl.Gauss(order=2, step=1e-3), initial=rest)
    upper, lower = (link.rotation[0] for link in run.links)

    def turn(rotation: np.ndarray) -> float:
        return float(np.arccos(0.5 * (np.trace(rotation[0].T @ rotation[-1]) - 1.0)))

    total = turn(upper) + turn(lower)
    assert turn(upper) < 0.05 < total
    (sentence,) = run.warnings()
    assert sentence.startswith(f"elastic rotations add up to {total:.2g} rad at t = 0 s (largest strain ")
    assert "more than 0.05 rad" in sentence
    assert sentence.endswith("stiffen the links, or compile the robot with GeometricallyExact()")


def test_little_bent_arms_give_no_warning() -> None:
    arm = pl.EquivalentRigidLink(elements=4).compile(two_links((0.0, 0.0, -2.0)))
    held = pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in arm.joint_names))
    run = pl.simulate(held, 2e-3, pl.Gauss(order=2, step=1e-3), initial=pl.equilibrium(held).state)
    assert run.warnings() == []


def test_whatever_lies_behind_is_carried_as_a_rigid_body() -> None:
    """Rotations of frames are rotations, however large; to first order in a tenth of the load all is linear."""
    hand = pl.RigidLink("hand", (0.3, 0.2, 0.1), 0.1, inertia=(1e-3,) * 3)
    robot = clamped(soft_link())
    robot = pl.Robot("arm", (*robot.links, hand), (*robot.joints, pl.FixedJoint("grip", "link", "hand")))
    arm = pl.EquivalentRigidLink(elements=2).compile(robot)

    def tip(force: float) -> tuple[np.ndarray, np.ndarray]:
        push = pl.TipWrench("link", pl.signals.Constant((0.0, force, -force, 0.1 * force, 0.0, 0.0)), pl.Frame.BODY)
        state = pl.equilibrium(pl.connect(arm, push)).state
        seen = arm.observe(state[None], stations=2).links[1]
        length = np.linalg.norm(seen.position[0, -1] - seen.position[0, 0])
        assert length == pytest.approx(np.linalg.norm(hand.tip_position), rel=1e-12)
        np.testing.assert_allclose(seen.rotation[0, -1].T @ seen.rotation[0, -1], np.eye(3), atol=1e-12)
        return seen.position[0, -1] - [1.3, 0.2, 0.1], seen.rotation[0, -1]

    small, _ = tip(1e-4)
    twice, _ = tip(2e-4)
    np.testing.assert_allclose(twice, 2 * small, rtol=1e-3, atol=1e-8)
    _, large = tip(2.0)
    assert np.arccos(0.5 * (np.trace(large) - 1.0)) > 0.1


def test_truncation_tells_what_is_kept() -> None:
    robot = on_a_hinge(soft_link())
    full = pl.EquivalentRigidLink(elements=6, basis=Nodal()).compile(robot).truncation["link"]
    assert full.degrees_of_freedom == 36
    np.testing.assert_allclose(full.error, 0.0, atol=1e-9)
    np.testing.assert_allclose(full.effective_mass, 1.0, atol=1e-9)
    worst = []
    for count in (0, 4, 8):
        kept = pl.EquivalentRigidLink(elements=6, basis=Modes(count=count)).compile(robot).truncation["link"]
        assert len(kept.reduced) == 6 + count
        assert np.all(kept.error > -1e-9)  # a smaller span of shapes is stiffer
        worst.append(kept.error[:3].max())
    assert worst[0] > worst[1] > worst[2]
    free = Modes(count=6, interface=Interface.FREE)
    assert len(pl.EquivalentRigidLink(elements=6, basis=free).compile(robot).truncation["link"].reduced) == 6


def test_a_slow_swing_is_that_of_exact_links() -> None:
    """Deflections of a thousandth of the length; what is left is their square and the modes that are cut."""
    section = pl.GeneralSection(stiffness=(1e6, 4e5, 4e5, 400.0, 600.0, 500.0), inertia=(0.3,) * 3 + (3e-3, 1e-3, 2e-3))
    robot = on_a_hinge(soft_link(section=section), (0.0, 0.0, -9.81))
    paths = []
    for formulation in (pl.GeometricallyExact(degree=5), pl.EquivalentRigidLink(), pl.Rigid()):
        model = pl.connect(formulation.compile(robot), pl.PrescribedMotion("hinge", pl.motions.Quintic(0.0, 0.8, 0.6)))
        rest = pl.equilibrium(model).state
        paths.append(pl.simulate(model, 0.8, pl.Gauss(order=2, step=1e-3), initial=rest, outputs=40).tip_position)
    exact, here, rigid = paths
    deflected = np.abs(exact - rigid).max()
    assert deflected > 5e-4
    assert np.abs(here - exact).max() < 0.01 * deflected
