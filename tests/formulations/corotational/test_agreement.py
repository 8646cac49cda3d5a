"""Co-rotational links and geometrically exact ones are the same arms, as far as their theories are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pliant as pl
from pliant.formulations.corotational import Axes, Beam, Mass

EXACT = pl.GeometricallyExact(degree=8)
# how far from four errors may fall: of the mean of both masses the leading terms cancel in part, and the next is seen
NEXT_TERM = {Mass.DIRECTOR: 0.2, Mass.LUMPED: 0.2, Mass.MEAN: 0.5}


def frequencies(formulation: pl.GeometricallyExact | pl.Corotational, name: str, count: int) -> np.ndarray:
    arm = formulation.compile(pl.load(pl.library.path(name)))
    holds = [pl.PrescribedMotion(joint, pl.motions.Hold(0.3)) for joint in arm.joint_names]
    return np.asarray(pl.modes(pl.connect(arm, *holds), count=count).frequency)


@pytest.mark.parametrize("mass", Mass, ids=lambda mass: mass.name.lower())
@pytest.mark.parametrize("name", ["steel_strip", "damic_two_link", "two_link_planar"])
def test_frequencies_of_library_arms_tend_to_the_exact_ones(name: str, mass: Mass) -> None:
    """The first three with joints held: errors fall by four when elements are halved, and what they fall to is the
    exact theory but for the next term of the error, a part (h/wavelength)^2 of the last change."""
    exact = frequencies(EXACT, name, 3)
    coarse, fine = (frequencies(pl.Corotational(n, theory=Beam.TIMOSHENKO, mass=mass), name, 3) for n in (8, 16))
    assert (coarse - exact) / (fine - exact) == pytest.approx(4.0, abs=NEXT_TERM[mass])
    assert np.abs((4.0 * fine - coarse) / 3.0 / exact - 1.0).max() < 2e-4


def test_without_shear_slender_arms_are_a_little_stiffer() -> None:
    """Links of 8 m and some centimetres: leaving out shear raises the first six frequencies by 1e-5 to 2e-4."""
    shear, none = (frequencies(pl.Corotational(8, theory=theory), "damic_two_link", 6) for theory in Beam)
    assert np.all((none / shear - 1.0 > 5e-6) & (none / shear - 1.0 < 2e-4))


def test_euler_bernoulli_cantilever_by_every_mass() -> None:
    """beta L = 1.8751041, 4.6940911 of the textbook; all masses are of second order, lumped ones from below."""
    section = pl.GeneralSection(stiffness=(1e8, 1e8, 1e8, 1e3, 1.0, 1.0), inertia=(1.0, 1.0, 1.0, 2e-8, 1e-8, 1e-8))
    link = pl.FlexibleLink("link", 1.0, section)
    robot = pl.Robot("beam", (link,), (pl.FixedJoint("clamp", "base", "link"),), gravity=(0.0, 0.0, 0.0))
    exact = np.array([1.8751041, 4.6940911]) ** 2 / (2 * math.pi)
    for mass in Mass:
        coarse, fine = (
            pl.modes(pl.Corotational(n, mass=mass).compile(robot), count=4).frequency[::2] / exact - 1.0
            for n in (8, 16)
        )
        assert coarse / fine == pytest.approx(4.0, abs=NEXT_TERM[mass])
        if mass is Mass.LUMPED:
            assert np.all(coarse < 0.0)


def test_case_1_of_damic2006_moves_as_the_exact_link() -> None:
    """The first four seconds of the two 8 m links, ten elements each: tip within 2e-3 of 16 m, and four times nearer
    with twice as many."""
    robot = pl.load(pl.library.path("damic_two_link"))
    shoulder, elbow = (joint.name for joint in robot.joints)
    moves = (
        pl.PrescribedMotion(shoulder, pl.motions.Cycloid(math.pi / 2, 0.0, 10.0)),
        pl.PrescribedMotion(elbow, pl.motions.SmoothStart(1.0, 10.0)),
    )

    def tip(formulation: pl.GeometricallyExact | pl.Corotational, order: int, step: float) -> np.ndarray:
        run = pl.simulate(
            pl.connect(formulation.compile(robot), *moves), 4.0, pl.Gauss(order=order, step=step), outputs=40
        )
        assert run.ending.completed
        return np.asarray(run.tip_position)

    exact = tip(pl.GeometricallyExact(degree=6), 4, 1e-2)
    errors = [np.abs(tip(pl.Corotational(n), 2, 4e-3) - exact).max() for n in (10, 20)]
    assert errors[0] < 2e-3 * 16.0
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("axes", Axes, ids=lambda axes: axes.name.lower())
def test_shape_strain_and_section_wrench_are_those_of_the_exact_link(axes: Axes) -> None:
    """A soft link that sags under its weight q in space, at 5 stations: second order in elements. Weight on nodes, and
    moments straight between the middles of elements, make q h^2 / 4 of the moment, 1.4 % of it for 8 elements."""
    stiffness = (1e5, 4e4, 4e4, 20.0, 30.0, 25.0)
    section = pl.GeneralSection(stiffness=stiffness, inertia=(0.5, 0.5, 0.5, 3e-3, 1e-3, 2e-3))
    link = pl.FlexibleLink("link", 1.0, section)
    robot = pl.Robot("sag", (link,), (pl.FixedJoint("clamp", "base", "link"),), gravity=(0.0, -6.0, -9.0))

    def seen(formulation: pl.GeometricallyExact | pl.Corotational) -> list[np.ndarray]:
        arm = formulation.compile(robot)
        observed = arm.observe(pl.equilibrium(arm).state, stations=5).links[0]
        return [observed.position[0], observed.strain[0, 1:4, 3:], observed.wrench[0, 1:4]]

    exact = seen(EXACT)
    for coarse, fine, right in zip(
        seen(pl.Corotational(8, theory=Beam.TIMOSHENKO, axes=axes)),
        seen(pl.Corotational(16, theory=Beam.TIMOSHENKO, axes=axes)),
        exact,
    ):
        size = np.abs(right).max()
        assert np.abs(coarse - right).max() < 1.5e-2 * size
        assert np.abs(fine - right).max() < 0.35 * np.abs(coarse - right).max()
