"""Frequencies and poles of linearised motion against the exact Timoshenko beam and published values."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import pliant as pl
from pliant.experiments import closed_form
from tests.support import textbook

# macchelli2007 Table I: rho, J_z, EI, kappa GA, L; exact values computed from the PDE
LINK = closed_form.TimoshenkoBeam(1.0, 0.1, 0.05, 200.0, 200.0)
LINK_CLAMPED = (9.82556, 17.35245, 34.16093, 46.91752, 57.0302)
LINK_PINNED = (14.17526, 29.13192, 36.71271, 54.65653)
LINK_CLAMPED_20 = (9.8305, 17.3681, 34.3155)
LINK_PINNED_20 = (14.1828, 29.2277, 36.8437)
# wang2017 Table 2, exact column
WANG = (9.8873, 61.9447, 173.3663, 339.4978, 560.7196)


def macchelli(formulation):
    return formulation.compile(pl.load(pl.library.path("macchelli_link")))


def in_plane(modes, low=0.5):
    """Frequencies whose motion is bending in the plane: y displacements and z rotations only."""
    other = np.abs(modes.shape[:, :, [0, 2, 3, 4]]).max(axis=(1, 2))
    return modes.frequency[(other < 1e-3) & (modes.frequency > low)]


def held(arm):
    return pl.connect(arm, *(pl.PrescribedMotion(name, pl.motions.Hold(0.0)) for name in arm.joint_names))


def test_spectral_link_has_the_exact_clamped_and_pinned_frequencies():
    arm = macchelli(pl.GeometricallyExact(degree=8, elements=2))
    assert in_plane(pl.modes(held(arm), count=40))[:5] == pytest.approx(LINK_CLAMPED, abs=1e-4)
    assert in_plane(pl.modes(arm, count=40))[:4] == pytest.approx(LINK_PINNED, abs=1e-4)
    assert in_plane(pl.modes(held(arm), count=40))[:5] == pytest.approx(
        closed_form.natural_frequencies(LINK, 5), rel=1e-6
    )


def test_mixed_element_has_the_published_frequencies_of_twenty_elements():
    arm = macchelli(pl.MixedElement(elements=20))
    assert in_plane(pl.modes(held(arm), count=40))[:3] == pytest.approx(LINK_CLAMPED_20, abs=1e-3)
    assert in_plane(pl.modes(arm, count=40))[:3] == pytest.approx(LINK_PINNED_20, abs=1e-3)


@pytest.mark.parametrize(("boundary", "count"), [("clamped", 3), ("pinned", 2)])
def test_mixed_element_of_alpha_one_half_is_of_second_order(boundary, count):
    root, known = (closed_form.CLAMPED, 5) if boundary == "clamped" else (closed_form.PINNED, 4)
    exact = closed_form.natural_frequencies(LINK, known, root)
    errors = []
    for elements in (10, 20, 40):
        arm = macchelli(pl.MixedElement(elements=elements))
        model = held(arm) if boundary == "clamped" else arm
        errors.append(in_plane(pl.modes(model, count=40))[:count] - exact[:count])
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert order == pytest.approx(2.0, abs=0.1), order


def test_mixed_element_of_another_alpha_is_of_first_order():
    """alpha = 0.7 tends to 1 from below: 0.91 to 0.99 at 80 elements on the clamped link."""
    exact = LINK_CLAMPED[0]
    errors = [in_plane(pl.modes(held(macchelli(pl.MixedElement(n, 0.7))), count=20))[0] - exact for n in (20, 40, 80)]
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.all((order > 0.9) & (order < 1.2)), order


def test_poles_of_the_link_under_joint_feedback():
    """K_P = 15, R_PD = 3: PDE poles -5.9893, -42.3429, -8.3707 +- 90.8121j; twenty mixed elements beside them."""
    pd = pl.JointPD(pl.motions.Hold(0.0), stiffness=15.0, damping=3.0)
    for formulation, poles in (
        (pl.GeometricallyExact(degree=8, elements=2), (-5.9893, -42.3429, -8.3707 + 90.8121j)),
        (pl.MixedElement(elements=20), (-5.989, -42.3455, -8.3817 + 90.8558j)),
    ):
        modes = pl.modes(pl.connect(macchelli(formulation), pd), count=12)
        for pole in poles:
            assert np.min(np.abs(modes.eigenvalue - pole)) < 1e-3, pole
    exact = closed_form.joint_pd_poles(LINK, 15.0, 3.0, 3)
    modes = pl.modes(pl.connect(macchelli(pl.GeometricallyExact(degree=8, elements=2)), pd), count=12)
    for pole in exact:
        assert np.min(np.abs(modes.eigenvalue - pole)) < 1e-5 * abs(pole)


def wang_frequencies(degree, elements, free=False):
    robot = pl.load(pl.library.path("wang_beam"))
    arm = pl.GeometricallyExact(degree=degree, elements=elements).compile(robot)
    return in_plane(pl.modes(arm if free else held(arm), count=30), low=1.0)


def wang_beam():
    link = pl.load(pl.library.path("wang_beam")).links[0]
    C, M = link.stiffness(0.0)[0], link.inertia(0.0)[0]
    return closed_form.TimoshenkoBeam(link.length, M[0, 0], M[5, 5], C[5, 5], C[1, 1])


def test_wang_beam_clamped_and_pinned_to_one_part_in_a_million():
    beam = wang_beam()
    assert closed_form.natural_frequencies(beam, 5) == pytest.approx(WANG, abs=5e-5)
    assert wang_frequencies(10, 2)[:5] == pytest.approx(closed_form.natural_frequencies(beam, 5), rel=1e-6)
    pinned = closed_form.natural_frequencies(beam, 4, closed_form.PINNED)
    assert wang_frequencies(10, 2, free=True)[:4] == pytest.approx(pinned, rel=1e-6)


@pytest.mark.parametrize(
    ("end", "degree", "counts"),
    [
        (closed_form.CLAMPED, 1, (40, 80)),
        (closed_form.CLAMPED, 2, (4, 8)),
        (closed_form.CLAMPED, 3, (2, 4)),
        (closed_form.PINNED, 1, (40, 80)),
        (closed_form.PINNED, 2, (8, 16)),
        (closed_form.PINNED, 3, (4, 8)),
    ],
)
def test_frequencies_converge_with_twice_the_degree(end, degree, counts):
    """The slope approaches 2 p from either side as meshes refine; on these it is 0.06 away at most."""
    exact = closed_form.natural_frequencies(wang_beam(), 1, end)[0]
    coarse, fine = (wang_frequencies(degree, n, end is closed_form.PINNED)[0] / exact - 1 for n in counts)
    assert np.log2(coarse / fine) == pytest.approx(2 * degree, abs=0.1)


def test_the_slender_limit_is_euler_bernoulli():
    """Slenderness 1000: within 1e-5 of beta L = 1.8751041, 4.6940911 (shear and rotary inertia are O(1e-6))."""
    EI, rho, length, radius = 2.0, 0.5, 1.0, 1e-3
    stiffness = (EI / radius**2, EI / radius**2, EI / radius**2, EI, 2 * EI, EI)  # two planes told apart
    section = pl.GeneralSection(stiffness=stiffness, inertia=(rho,) * 3 + (rho * radius**2,) * 3)
    robot = pl.Robot("beam", (pl.FlexibleLink("b", length, section),), (pl.FixedJoint("c", "base", "b"),))
    frequency = in_plane(pl.modes(pl.GeometricallyExact(degree=10).compile(robot), count=8))[:2]
    exact = textbook.euler_bernoulli_cantilever_frequencies(length, rho, EI, 2)
    assert frequency == pytest.approx(exact, rel=1e-4)
    assert frequency[0] == pytest.approx(exact[0], rel=1e-5)


def test_material_damping_gives_the_damping_ratio_of_each_mode():
    """Kelvin-Voigt time constant tau: ratio = tau omega / 2 for every mode."""
    tau = 1e-4
    steel = pl.Material("steel", young=2.1e11, density=7850.0, poisson=0.3, damping=tau)
    link = pl.FlexibleLink("b", 1.0, pl.Rectangle(height=0.005, width=0.03), steel)
    robot = pl.Robot("beam", (link,), (pl.FixedJoint("c", "base", "b"),))
    modes = pl.modes(pl.GeometricallyExact(degree=6).compile(robot), count=6)
    assert modes.damping_ratio == pytest.approx(tau * np.abs(modes.eigenvalue) / 2, rel=1e-6)


def test_gravity_stiffens_a_hanging_and_softens_a_standing_beam():
    def first(sign):
        section = pl.GeneralSection(stiffness=(1e6,) * 3 + (1.0,) * 3, inertia=(0.5,) * 3 + (1e-6,) * 3)
        robot = pl.Robot(
            "beam", (pl.FlexibleLink("b", 1.0, section),), (pl.FixedJoint("c", "base", "b"),), gravity=(sign, 0, 0)
        )
        arm = pl.GeometricallyExact(degree=7).compile(robot)
        return pl.modes(arm, pl.equilibrium(arm).state, count=1).frequency[0]

    plain = textbook.euler_bernoulli_cantilever_frequencies(1.0, 0.5, 1.0, 1)[0]
    # small-load perturbation: both shifts are equal and opposite to first order
    assert first(0.1) > plain > first(-0.1)
    assert first(0.1) + first(-0.1) == pytest.approx(2 * plain, rel=1e-4)


def test_motions_without_stiffness_are_found_once_and_hide_nothing():
    """A closed chain of four bars turns and shears freely; rounding of its equilibrium is no stiffness."""
    chain = pl.PoseElement(elements=4).compile(pl.load(pl.library.path("parallelogram")))
    at_start = pl.modes(chain, count=6).eigenvalue
    balanced = pl.modes(chain, pl.equilibrium(chain).state, count=6).eigenvalue
    assert np.all(at_start[:2] == 0.0)
    assert at_start[2].imag > 1.0
    assert balanced == pytest.approx(at_start, rel=1e-6)


def test_a_free_joint_with_damped_links_has_one_motion_at_rest():
    """Two poles at zero belong to one free turn of the whole arm."""
    given = pl.load(pl.library.path("macchelli_link"))
    section = dataclasses.replace(given.links[0].section, damping=1e-4)
    damped = dataclasses.replace(given, links=(dataclasses.replace(given.links[0], section=section),))
    found = pl.modes(pl.GeometricallyExact(degree=4).compile(damped), count=3).eigenvalue
    assert found[0] == 0.0
    assert np.all(np.abs(found[1:]) > 1.0)


CHOICES = (
    pl.GeometricallyExact(degree=5),
    pl.PseudoSpectral(degree=6),
    pl.PoseElement(6),
    pl.MixedElement(6),
    pl.Lumped(3),
    pl.EquivalentRigidLink(2, basis=pl.equivalent_rigid_link.Modes(count=2)),
)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda each: type(each).__name__)
def test_modes_are_resolved_where_their_frequency_is_near_the_exact_one(choice):
    """wang2017's beam, bending in its thin plane: a mode more than 2 % off is found out, one within 0.2 % is not.

    A finer mesh is not exact: between these two it may go either way.
    """
    robot = pl.load(pl.library.path("wang_beam"))
    coarse, fine = (pl.modes(held(each.compile(robot)), count=n) for each, n in ((choice, 8), (choice.finer(), 22)))
    doubtful, bending = coarse.unresolved(fine), [k for k in range(8) if coarse.direction(k) == "y"]
    assert len(bending) >= 3
    assert set(bending) & set(doubtful)
    for k, exact in zip(bending, WANG):
        error = abs(coarse.frequency[k] / exact - 1.0)
        assert error > 0.002 or k not in doubtful
        assert error < 0.02 or k in doubtful


def test_any_count_of_modes_is_found_where_they_come_in_pairs():
    """A round rod: every second count ends between two equal frequencies."""
    section = pl.GeneralSection(stiffness=(1e5, 4e4, 4e4, 2e4, 25, 25), inertia=(0.2,) * 3 + (2e-3, 1e-3, 1e-3))
    clamp = pl.FixedJoint("clamp", "base", "rod")
    arm = pl.PoseElement(4).compile(pl.Robot("round", (pl.FlexibleLink("rod", 0.7, section),), (clamp,)))
    every = pl.modes(arm, count=24).frequency
    assert every[1] == pytest.approx(every[0], rel=1e-9)
    for count in range(1, 24):
        assert pl.modes(arm, count=count).frequency == pytest.approx(every[:count], rel=1e-9)


def test_modes_of_one_frequency_confirm_each_other():
    """A round tube bends alike in all planes: each mesh chooses its own two."""
    nylon = pl.Material(name="nylon", young=2e9, density=1150.0, poisson=0.4)
    tube = pl.FlexibleLink("tube", 1.0, section=pl.Tube(0.02, 0.016), material=nylon)
    robot = pl.Robot("one", (tube,), (pl.FixedJoint("root", "base", "tube"),))
    coarse = pl.modes(pl.GeometricallyExact(degree=8).compile(robot), count=6)
    assert coarse.frequency[0] == pytest.approx(coarse.frequency[1], rel=1e-9)
    assert coarse.unresolved(pl.modes(pl.GeometricallyExact(degree=10).compile(robot), count=12)) == ()


def test_modes_that_the_mesh_does_not_resolve_are_said_to_be_so():
    """Of the clamped strip, whose exact fourth bending frequency is 143.6 Hz, from there on; of a rotor blade all."""
    strip = pl.GeometricallyExact(degree=5).compile(pl.load(pl.library.path("steel_strip")))
    with pytest.warns(pl.PliantWarning, match=r"^mode 5 at 156.* Hz .* a finer mesh has one at 146") as told:
        found = pl.modes(held(strip), count=6)
    assert len(told) == 1
    assert found.resolved.tolist() == [True] * 4 + [False] * 2
    assert found.frequency[3] < found.resolved_up_to < found.frequency[4]
    # shear and torsion a million times stiffer than bending hide no slow mode from the comparison
    section = pl.GeneralSection(stiffness=(1e6, 1e6, 1e6, 1e3, 1.0, 1.0), inertia=(1.0, 1.0, 1.0, 2e-8, 1e-8, 1e-8))
    blade = pl.FlexibleLink("blade", 1.0, section=section)
    robot = pl.Robot("rotor", (blade,), (pl.RevoluteJoint("hub", "base", "blade"),))
    assert pl.modes(held(pl.GeometricallyExact(degree=5).compile(robot)), count=6).resolved.all()
